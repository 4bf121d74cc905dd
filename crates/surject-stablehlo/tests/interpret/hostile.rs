//! Programs with a number changed, verified or not, give results or errors: the interpreter never panics.

use surject_stablehlo::interpret::{Interpreter, Limits};
use surject_stablehlo::parse;

/// A generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// The runs of digits in a text.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i].is_ascii_digit() {
            let start = i;
            while i < bytes.len() && bytes[i].is_ascii_digit() {
                i += 1;
            }
            found.push(start..i);
        } else {
            i += 1;
        }
    }
    found
}

#[test]
fn changed_numbers_never_make_it_panic() {
    const CHANGES: [&str; 8] = ["0", "-1", "1", "2", "3", "7", "4294967296", "4611686018427387904"];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let limits = Limits { bytes: 16 << 20, steps: 200_000, depth: 40 };
    let mut random = Random(0x5eed);
    let (mut ran, mut panics) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "mlir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for program in text.split("// -----\n") {
            // The operation stands behind the constants.
            let body = program.rfind("stablehlo.constant").map_or(0, |_| {
                let results = program.find("%r").unwrap_or(0);
                results.saturating_sub(40)
            });
            for _ in 0..3 {
                let places: Vec<_> = numbers(program).into_iter().filter(|r| r.start >= body).collect();
                if places.is_empty() {
                    continue;
                }
                let at = places[random.below(places.len())].clone();
                let mut changed = program.to_string();
                changed.replace_range(at, CHANGES[random.below(CHANGES.len())]);
                let Ok(module) = parse(&changed) else { continue };
                let Some(function) = module.functions.last() else { continue };
                ran += 1;
                let interpreter = Interpreter::new(&module).limits(limits.clone());
                if let Err(error) = interpreter.run(&function.name, Vec::new())
                    && error.message().contains("interpreter failed")
                {
                    panics.push(changed);
                }
            }
        }
    }
    let shown: Vec<&str> = panics.iter().take(5).map(String::as_str).collect();
    assert!(ran > 500 && panics.is_empty(), "{} of {ran}:\n{}", panics.len(), shown.join("\n"));
}

#[test]
fn the_deepest_calls_fit_the_stack() {
    let text = "func.func @main() {
      %c = stablehlo.constant dense<true> : tensor<i1>
      \"stablehlo.if\"(%c) ({
        %z = stablehlo.constant dense<0> : tensor<i32>
        \"stablehlo.case\"(%z) ({
          func.call @main() : () -> ()
          stablehlo.return
        }) : (tensor<i32>) -> ()
        stablehlo.return
      }, {
        stablehlo.return
      }) : (tensor<i1>) -> ()
      return
    }";
    let module = parse(text).unwrap_or_else(|e| panic!("{}", e.render("text", text)));
    let error = Interpreter::new(&module).run("main", Vec::new()).unwrap_err();
    assert_eq!(error.kind(), surject_stablehlo::interpret::ErrorKind::Limit);
}
