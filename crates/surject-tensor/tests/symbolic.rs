//! Programs with symbolic sizes (seed 002; reference/extents.md, section 4): one inference and one program for all sizes, which
//! agree with a program made for the sizes of each call.

mod support;

use support::{Output, Program, Random, buffer, values};
use surject_ir::{Buffer, DType, bind, interp};
use surject_tensor::{LowerOptions, Session, lower, report};

/// The text with numbers for its sizes, and without the declarations.
fn with_numbers(text: &str, sizes: &[(&str, u64)]) -> String {
    let text = text.replace(
        "dim(n)",
        &sizes.iter().find(|s| s.0 == "n").map_or(String::new(), |s| format!("{:.1}", s.1 as f64)),
    );
    let mut out = String::new();
    for line in text.lines().filter(|l| !l.trim().starts_with("size ") && !l.trim().starts_with("where ")) {
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            match sizes.iter().find(|(name, _)| *name == word) {
                Some((_, value)) => out += &value.to_string(),
                None => out += &word,
            }
            word.clear();
            out.push(c);
        }
        out.push('\n');
    }
    out
}

/// Runs a program made once at the sizes of a call: the arguments have the shapes of the other program.
fn run_bound(symbolic: &Program, arguments: &[Buffer]) -> Vec<Output> {
    let main = symbolic.lowered.program.function("main").unwrap();
    let bound = bind(main, arguments).unwrap_or_else(|e| panic!("{e}"));
    let program = surject_ir::Program { name: String::new(), functions: vec![bound] };
    surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}\n{}", surject_ir::print(&program)));
    let results = interp::run(&program, "main", arguments).unwrap();
    results.iter().map(|b| Output { shape: b.shape().to_vec(), values: values(b) }).collect()
}

/// Compares a program with symbolic sizes, made once, with the programs for the sizes of each call.
fn agrees(text: &str, calls: &[&[(&str, u64)]]) {
    let symbolic = Program::of(text);
    for sizes in calls {
        let fixed = Program::of(&with_numbers(text, sizes));
        let mut random = Random(11);
        let arguments: Vec<Buffer> = fixed
            .arguments()
            .into_iter()
            .map(|(_, shape, dtype)| {
                let count: usize = shape.iter().product();
                let numbers: Vec<f64> = match dtype {
                    DType::I32 => vec![1.0; count],
                    _ => (0..count).map(|_| random.within(-2.0, 2.0)).collect(),
                };
                buffer(dtype, &shape, &numbers)
            })
            .collect();
        let expected: Vec<Output> = interp::run(&fixed.lowered.program, "main", &arguments)
            .unwrap()
            .iter()
            .map(|b| Output { shape: b.shape().to_vec(), values: values(b) })
            .collect();
        let found = run_bound(&symbolic, &arguments);
        assert_eq!(found.len(), expected.len(), "{text}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.shape, expected.shape, "{sizes:?}\n{text}");
            for (a, b) in found.values.iter().zip(&expected.values) {
                let same = (a - b).abs() <= 1e-12 * (1.0 + b.abs()) || a.is_nan() && b.is_nan();
                assert!(same, "{a} for {b} at {sizes:?}\n{text}");
            }
        }
    }
}

const SMALL: &[&[(&str, u64)]] = &[
    &[("n", 1), ("m", 1)],
    &[("n", 1), ("m", 3)],
    &[("n", 4), ("m", 2)],
    &[("n", 3), ("m", 3)],
    &[("n", 7), ("m", 5)],
];

#[test]
fn pointwise_and_contractions() {
    agrees("size n, m;\ninput x: \"n|m\"; input y: \"n|m\";\nlet r = x *. y + relu(x);\noutput r;", SMALL);
    agrees("size n, m;\ninput x: \"n|m\"; input w: \"m->5\";\nlet r = w * x;\noutput r;", SMALL);
    agrees(
        "size n, m;\ninput x: \"n,m\"; input y: \"m,n\";\nlet r = x +* y \"ij;jk=>ik\";\noutput r;",
        SMALL,
    );
    agrees(
        "size n, m;\ninput x: \"n,m\";\nlet s = x ++ \"ab=>b\"; let t = x @^^ \"ab=>a\";\noutput s, t;",
        SMALL,
    );
    agrees("size n, m;\ninput x: \"n|m\"; input y: \"m\";\nlet r = x + y;\noutput r;", SMALL);
    agrees("size n, m;\ninput x: \"n|m\";\nlet s = softmax()(); let r = s(x);\noutput r;", SMALL);
}

#[test]
fn sizes_are_values() {
    agrees("size n, m;\ninput x: \"n,m\";\nlet s = x ++ \"ab=>b\"; let r = s /. dim(n);\noutput r;", SMALL);
    agrees("size n;\ninput x: \"n\";\nlet r = x ++ \"a=>a\" [\"a\"]; let q = r *. dim(a);\noutput q;", SMALL);
    agrees("size n;\ninput x: \"n\";\nlet r = x + range();\noutput r;", SMALL);
}

#[test]
fn concatenations_and_cuts() {
    agrees("size n, m;\ninput x: \"n\"; input y: \"m\";\nlet r = [x, y] ++^ \"a;b=>a^b\";\noutput r;", SMALL);
    agrees(
        "size n, m;\ninput x: \"n,3\"; input y: \"2,3\"; input z: \"m,3\";\nlet r = [x, y, z] ++^ \"a,i;b,i;c,i=>a^b^c,i\";\noutput r;",
        SMALL,
    );
}

#[test]
fn windows() {
    let calls: &[&[(&str, u64)]] = &[&[("n", 3)], &[("n", 4)], &[("n", 9)]];
    agrees(
        "size n;\nwhere n >= 3;\ninput x: \"n\"; input k: \"3\";\nlet r = x +* k \"i<+j; j => i\";\noutput r;",
        calls,
    );
    agrees(
        "size n;\nwhere n >= 3;\ninput x: \"n\"; input k: \"3\";\nlet r = x +* k \"i=+j; j => i\";\noutput r;",
        calls,
    );
    let even: &[&[(&str, u64)]] = &[&[("n", 2)], &[("n", 6)]];
    agrees(
        "size n;\nwhere n % 2 == 0, n >= 2;\ninput x: \"n\"; input k: \"2\";\nlet r = x +* k \"2*i<+j; j => i\";\noutput r;",
        even,
    );
}

#[test]
fn gradients() {
    let loss = |more: &str| {
        format!(
            "size n, m;\ninput x: \"n|m\"; input y: \"n|m\"; input w: \"m->4\";\n{more}\nlet loss = r ++ \"...|...->... => 0\";\nloss.backprop;\nlet gx = x.grad; let gy = y.grad; let gw = w.grad;\noutput gx, gy, gw, loss;"
        )
    };
    for more in [
        "let r = (w * relu(x)) *. (w * y);",
        "let s = softmax()(); let r = (w * s(x)) *. (w * y);",
        "let r = (w * (x /. dim(n))) + (w * tanh(y));",
    ] {
        agrees(&loss(more), SMALL);
    }
    agrees(
        "size n, m;\ninput x: \"n\"; input y: \"m\"; input z: \"3\";\nlet r = [x, y] ++^ \"a;b=>a^b\";\nlet q = r *. r;\nlet loss = q ++ \"a=>0\";\nloss.backprop;\nlet gx = x.grad; let gy = y.grad;\noutput gx, gy;",
        SMALL,
    );
}

#[test]
fn attention_with_symbolic_batch_and_sequence() {
    agrees(
        "size n, m;\ninput q: \"n,m|8\"; input k: \"n,m|8\"; input v: \"n,m|8\";\n\
         let scores = q +* k \"b,s|d; b,t|d => b,s|t\";\n\
         let s = softmax(\"b,s|t => b,s|\")(); let p = s(scores);\n\
         let r = p +* v \"b,s|t; b,t|d => b,s|d\";\noutput r;",
        &[&[("n", 1), ("m", 1)], &[("n", 2), ("m", 5)], &[("n", 3), ("m", 4)]],
    );
}

/// No program can be written for axes without positions; one with symbolic sizes runs there as well.
#[test]
fn sizes_may_be_zero() {
    let program = Program::of(
        "size n, m;\ninput x: \"n,m\"; input y: \"m\";\n\
         let s = x ++ \"a,b=>b\"; let c = [y, s] ++^ \"a;b=>a^b\"; let t = x @^^ \"a,b=>a\";\noutput s, c, t;",
    );
    for (n, m) in [(0, 3), (2, 0), (0, 0)] {
        let arguments =
            [buffer(DType::F64, &[n, m], &vec![1.5; n * m]), buffer(DType::F64, &[m], &vec![2.5; m])];
        let found = run_bound(&program, &arguments);
        assert_eq!(found[0], Output { shape: vec![m], values: vec![1.5 * n as f64; m] });
        assert_eq!(found[1].shape, [2 * m]);
        assert_eq!(found[2], Output { shape: vec![n], values: vec![f64::NEG_INFINITY; n] });
    }
}

fn refused(text: &str) -> String {
    let mut session = Session::new("test.sj", text);
    let result = session.run_text().and_then(|()| {
        report(session.graph())?;
        lower(session.graph(), &LowerOptions::default()).map(drop)
    });
    match result {
        Ok(()) => panic!("accepted: {text}"),
        Err(error) => session.render(&error),
    }
}

#[test]
fn refusals() {
    let texts = [
        "size n, m;\ninput x: \"n\";\ninput y: \"m\";\nlet r = x + y;\noutput r;",
        "size n;\ninput x: \"n\";\ninput y: \"{n+1}\";\nlet r = x + y;\noutput r;",
        "input x: \"3\";\nwhere k >= 4;\noutput x;",
        "size n;\ninput x: \"n\";\nwhere n >= 4, n + ;\noutput x;",
        "size n;\nwhere n >= 4, n < 3;\ninput x: \"n\";\noutput x;",
        "size n;\ninput x: \"3\";\noutput x;",
        "size n, n;\ninput x: \"n\";\noutput x;",
        "size n;\ninput x: \"n\";\ninput k: \"3\";\nlet r = x +* k \"i<+j; j => i\";\noutput r;",
        "size n;\ninput x: \"n\";\nlet r = { w = 0.5, o = [3] } * x;\noutput r;",
        "size n;\ninput x: \"n:*\";\noutput x;",
        "input x: \"k:time\";\noutput x;",
        "size batch, n;\ninput x: \"batch|n\";\noutput x;",
        "size n;\ninput x: \"n\"; input y: \"n\";\n{ z } =: x * y ~logic:\"i;j=>i\";\noutput z;",
        "size n;\nwhere n >= 1;\ninput x: \"5\"; input k: \"n\";\nlet r = x +* k \"i=+j; j => i\";\noutput r;",
    ];
    let all: Vec<String> = texts.iter().map(|text| refused(text)).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn a_call_checks_the_facts() {
    let program = Program::of("size n;\nwhere n >= 4;\ninput x: \"n\";\nlet r = x + 1.0;\noutput r;");
    let main = program.lowered.program.function("main").unwrap();
    let three = buffer(DType::F64, &[3], &[0.0; 3]);
    let error = bind(main, &[three]).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"the sizes do not satisfy `n >= 4`, which `where n >= 4` at test.sj:2:7 needs: `n` is 3 (axis 0 of `x`)");
}

#[test]
fn reports_show_sizes() {
    let text =
        "size n, m;\nwhere n >= 2;\ninput x: \"n|{2*m}\"; input w: \"{2*m}->3\";\nlet r = w * x;\noutput r;";
    let mut session = Session::new("test.sj", text);
    session.run_text().unwrap_or_else(|e| panic!("{}", session.render(&e)));
    let report = report(session.graph()).unwrap();
    insta::assert_snapshot!(report.to_string());
}
