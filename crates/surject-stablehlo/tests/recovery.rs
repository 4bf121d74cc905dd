//! One run reports every mistake of a text, and nothing that only follows from one.

use std::path::Path;

use surject_stablehlo::{check, parse};

fn lines(text: &str) -> Vec<usize> {
    check(text).iter().map(|e| e.span.line_col(text).0).collect()
}

#[test]
fn mistakes_of_every_kind_are_reported_once() {
    let text = r#"module {
  func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
    %0 = stablehlo.ad %a, %a : tensor<2xf32>
    %1 = stablehlo.add %0, %a : tensor<2xf32>
    %2 = stablehlo.add %a, %missing : tensor<2xf32>
    %3 = "stablehlo.reduce"(%a, %a) <{
      dimensions = array<i64: 0>
    }> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.multiply %x, %x tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    %5 = stablehlo.negate %a : tensor<2xf33>
    %6 = stablehlo.negate %a : (tensor<2xf32>) -> tensor<4xf32>
    return %a : tensor<2xf32>
  }
  func.func @second(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.reshape %a : (tensor<2xf32>) -> tensor<3xf32>
    %1 = stablehlo.transpose %a, dims = [1] : (tensor<2xf32>) -> tensor<2xf32>
    %2 = func.call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>
    return %a : tensor<2xf32>
  }
  func.func @third(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a tensor<2xf32>
  }
}
"#;
    assert_eq!(lines(text), [3, 5, 10, 13, 14, 18, 19, 20, 24]);
}

#[test]
fn a_function_that_cannot_be_read_hides_no_other() {
    let text = "func.func @a(%x: tensor<f32) -> tensor<f32> {\n  return %x : tensor<f32>\n}\nfunc.func @b(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = call @a(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  %1 = stablehlo.abs %x : (tensor<2xf32>) -> tensor<3xf32>\n  return %0 : tensor<2xf32>\n}\n";
    assert_eq!(lines(text), [1, 6]);
}

#[test]
fn a_text_that_ends_too_early_is_one_mistake() {
    let text = "func.func @a(%x: tensor<f32>) -> tensor<f32> {\n  %0 = \"stablehlo.add\"(%x, %x";
    assert_eq!(lines(text), [2]);
    assert_eq!(lines("func.func @a(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n").len(), 1);
}

/// Valid texts have no mistakes, and a misspelt operation is one, wherever it stands.
#[test]
fn misspelt_operations_are_found_each() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pass");
    for file in std::fs::read_dir(folder).expect("the folder is part of the crate").flatten() {
        let text = std::fs::read_to_string(file.path()).expect("readable");
        assert_eq!(check(&text), [], "{}", file.path().display());
        let lines: Vec<&str> = text.lines().collect();
        for step in [3, 5] {
            let mut broken: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
            let mut changed = 0;
            for (i, line) in lines.iter().enumerate().filter(|(i, _)| i % step == 0) {
                // A whole operation on its line, none of whose results is used in a way that matters here.
                if line.trim_start().starts_with('%')
                    && line.contains("= stablehlo.")
                    && line.matches("stablehlo.").count() == 1
                    && !line.ends_with('{')
                    && line.contains(" : ")
                    && !line.contains("reduce(")
                {
                    broken[i] = line.replacen("= stablehlo.", "= stablehlo.no_such_", 1);
                    changed += 1;
                }
            }
            let broken = broken.join("\n");
            let errors = check(&broken);
            assert_eq!(errors.len(), changed, "{}\n{broken}\n{errors:#?}", file.path().display());
        }
    }
}

/// Any text ends in mistakes, never in a panic, and soon.
#[test]
fn mutilated_texts_end_in_mistakes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pass");
    let mut seed = 7u64;
    let mut next = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n.max(1)
    };
    for file in std::fs::read_dir(folder).expect("the folder is part of the crate").flatten() {
        let text = std::fs::read(file.path()).expect("readable");
        for _ in 0..60 {
            let mut broken = text.clone();
            for _ in 0..1 + next(4) {
                let at = next(broken.len());
                match next(3) {
                    0 => drop(broken.drain(at..(at + 1 + next(30)).min(broken.len()))),
                    1 => broken.insert(at, b"{}()[]<>%\"#!,:=\n"[next(16)]),
                    _ => broken.truncate(at + 1),
                }
            }
            let errors = check(&broken);
            // The first mistake is the one that ends a plain reading.
            if let Err(first) = parse(&broken) {
                assert!(
                    errors.iter().any(|e| e.span == first.span || e.code == first.code),
                    "{first:?}\n{errors:?}"
                );
            }
        }
    }
}

/// What stands behind an operation that returns is a mistake: nothing would run it, and what prints it could not be read.
#[test]
fn nothing_stands_behind_a_return() {
    let text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n  \
                %b = stablehlo.negate %a : tensor<2xf32>\n}\n";
    assert_eq!(lines(text), [3]);
    assert!(check(text)[0].message.contains("stands behind 'func.return'"), "{:?}", check(text));
}
