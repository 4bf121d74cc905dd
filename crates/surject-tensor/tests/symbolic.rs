//! Programs with symbolic sizes (seed 002; reference/extents.md, section 4): one inference and one program for all sizes, which
//! agree with a program made for the sizes of each call.

mod support;

use support::{Output, Program, Random, buffer, values};
use surject_ir::{Buffer, DType, bind, interp};
use surject_tensor::{LowerOptions, Session, lower, report};

/// The text with numbers for its sizes, and without the declarations.
fn with_numbers(text: &str, sizes: &[(&str, u64)]) -> String {
    let mut text = text.to_string();
    for (name, value) in sizes {
        text = text.replace(&format!("dim({name})"), &format!("{:.1}", *value as f64));
    }
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
    // A margin is a number; a fact may say which.
    agrees(
        "size n;\nwhere n == 3;\ninput x: \"5\"; input k: \"n\";\nlet r = x +* k \"i=+j; j => i\";\noutput r;",
        &[&[("n", 3)]],
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

/// More programs of each kind, with their gradients: forward, and backward through a square.
#[test]
fn programs_of_every_kind_with_gradients() {
    let even: &[&[(&str, u64)]] = &[&[("n", 4), ("m", 1)], &[("n", 6), ("m", 3)], &[("n", 8), ("m", 2)]];
    let large: &[&[(&str, u64)]] = &[&[("n", 5), ("m", 1)], &[("n", 6), ("m", 4)], &[("n", 9), ("m", 3)]];
    type Case<'a> = (&'a str, &'a str, &'a str, &'a [&'a [(&'a str, u64)]]);
    let cases: [Case<'_>; 25] = [
        ("", "x \"n,m\"", "x ++ \"ab=>ba\"", SMALL),
        ("", "x \"n,n\"", "x ++ \"aa=>a\"", SMALL),
        ("", "x \"n,n,m\"", "x ++ \"aab=>b\"", SMALL),
        ("", "x \"n,\"; y \"m,\"", "x +* y \"a;b=>ab\"", SMALL),
        ("", "x \"n,m\"; y \"m,n\"", "x +* y \"ab;bc=>ca\"", SMALL),
        ("", "x \"m|n,3\"; w \"n,3->4\"", "w * x", SMALL),
        ("", "x \"n,m\"; y \"{2*n},m\"", "[x, y] ++^ \"a,i; b,i => a^b,i\"", SMALL),
        ("", "x \"n,m\"; y \"n,{m + 1}\"", "[x, y] ++^ \"i,a; i,b => i,a^b\"", SMALL),
        ("", "x \"n,\"; y \"m,\"; z \"{n + m},\"", "([x, y] ++^ \"a;b=>a^b\") *. z", SMALL),
        ("n >= 1", "x \"{n + 3},m\"; y \"n,\"", "(x ++^ \"3^j,k => j,k\") +* y \"ab;a=>ab\"", SMALL),
        ("n >= 1", "x \"{n + 3},m\"; y \"n,\"", "(x ++^ \"j^3,k => j,k\") +* y \"ab;a=>ab\"", SMALL),
        ("n >= 3", "x \"n,\"; k \"3\"", "x +* k \"i<+j; j => i\"", large),
        ("n >= 5", "x \"n,\"; k \"3\"", "x +* k \"i<+2*j; j => i\"", large),
        ("n % 2 == 0, n >= 2", "x \"n,m\"; k \"2\"", "x +* k \"2*i<+j,c; j => i,c\"", even),
        ("n % 2 == 0, n >= 2", "x \"n,\"; k \"3\"", "x +* k \"2*i=+j; j => i\"", even),
        ("", "x \"m|n,2\"; k \"3,2->4\"", "x +* k \"...|i=+j,c; j,c->d => ...|i,d\"", SMALL),
        ("n >= 2", "x \"n,m\"", "x @^^ \"i<+j,c => i,c\" [\"j\"]", even),
        ("", "x \"n,m\"", "x @^^ \"ab=>a\"", SMALL),
        ("", "x \"n|m\"", "(x - (x ++ \"b|i=>b|\") /. dim(m))", SMALL),
        ("", "x \"n|m\"; g \"m,\"", "softmax()()(x) *. g", SMALL),
        ("", "x \"n|m\"", "tanh(x) *. relu(x) + exp(x /. 4.0)", SMALL),
        ("", "x \"n|m\"", "x **. 3", SMALL),
        ("", "x \"n,m\"; y \"n,\"", "x +* y \"ab;a=>ab\"", SMALL),
        ("", "q \"n,m|4\"; k \"n,m|4\"", "relu(q +* k \"b,s|d; b,t|d => b,s|t\")", SMALL),
        ("m == n", "x \"n,\"; y \"m,\"", "x + y", &[&[("n", 3), ("m", 3)], &[("n", 1), ("m", 1)]]),
    ];
    for (facts, inputs, value, calls) in cases {
        let declared = match facts {
            "" => String::new(),
            facts => format!("where {facts};\n"),
        };
        let inputs: Vec<(&str, &str)> =
            inputs.split("; ").map(|i| i.split_once(' ').expect("a shape")).collect();
        let is_in = |size: &str| inputs.iter().any(|(_, shape)| shape.contains(size));
        let sizes = ["n", "m"].into_iter().filter(|size| is_in(size)).collect::<Vec<_>>().join(", ");
        let opened: String = inputs.iter().map(|(name, shape)| format!("input {name}: {shape};\n")).collect();
        let set = if value.contains("[\"j\"]") { "set_dim(j, 2);\n" } else { "" };
        let grads: String = inputs.iter().map(|(name, _)| format!("let g{name} = {name}.grad;\n")).collect();
        let names: String = inputs.iter().map(|(name, _)| format!(", g{name}")).collect();
        agrees(
            &format!(
                "size {sizes};\n{declared}{opened}let r = {value};\n{set}let loss = (r *. r) ++ \"...|...->... => 0\";\n\
                 loss.backprop;\n{grads}output r, loss{names};"
            ),
            calls,
        );
    }
}

/// State of symbolic sizes: `main` takes it, `init` makes its first values for the sizes of a call, and they are those of the
/// program for these sizes.
#[test]
fn state_has_the_sizes_of_a_call() {
    let texts = [
        "size n, m;\ninput x: \"m|n\";\nlet r = { w = 0.5, o = [3] } * x;\noutput r;",
        "size n, m;\ninput x: \"m|n\";\nlet r = relu({ w, o = [3] } * x + { b = 0.25 });\noutput r;",
        "size n, m;\ninput x: \"m|n\"; input y: \"m|n\";\nlet h = relu({ w1, o = [4] } * x + { b1 });\n\
         let p = { w2 } * h + { b2 };\nlet d = p - y;\nlet loss = ((d *. d) ++ \"...|... => 0\") /. dim(n);\n\
         loss.backprop;\nlet g = w1.grad; let h2 = w2.grad;\noutput loss, g, h2;",
    ];
    for text in texts {
        agrees(text, SMALL);
        let symbolic = Program::of(text);
        assert_eq!(symbolic.lowered.sizes, ["n", "m"]);
        for sizes in SMALL {
            let fixed = Program::of(&with_numbers(text, sizes));
            let shapes: Vec<(String, Vec<usize>, DType)> = fixed.arguments();
            let arguments: Vec<Buffer> = shapes
                .iter()
                .map(|(_, shape, dtype)| buffer(*dtype, shape, &vec![0.0; shape.iter().product()]))
                .collect();
            let inputs = &arguments[..symbolic.lowered.inputs.len()];
            let carrier = symbolic.lowered.sizes_of(inputs).expect("the inputs give the sizes");
            assert!(carrier.is_empty());
            let seed = Buffer::splat(surject_ir::Scalar::from_i128(DType::U32, 3), &[]);
            let init = symbolic.lowered.program.function("init").unwrap();
            let bound = bind(init, &[seed.clone(), carrier.clone()]).unwrap_or_else(|e| panic!("{e}"));
            let bound = surject_ir::Program { name: String::new(), functions: vec![bound] };
            let found = interp::run(&bound, "init", &[seed, carrier]).unwrap();
            let expected = fixed.first_values(3);
            assert_eq!(found.len(), expected.len(), "{text}");
            for (port, found) in symbolic.lowered.state.iter().zip(&found) {
                assert_eq!(values(found), expected[&port.label], "{} at {sizes:?}\n{text}", port.label);
            }
        }
    }
    // State of other sizes than those of the call is refused, and says which.
    let program = Program::of(texts[0]);
    let main = program.lowered.program.function("main").unwrap();
    let error =
        bind(main, &[buffer(DType::F64, &[2, 4], &[0.0; 8]), buffer(DType::F64, &[3, 5], &[0.0; 15])]);
    let error = error.expect_err("another size").to_string();
    assert!(error.contains("`w`") && error.contains("f64[3,n]"), "{error}");
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
        "size n, m;\ninput x: \"n\";\nlet r = { w = 0.5, o = [m] } * x;\noutput r;",
        "size n, m;\ninput x: \"n\"; input y: \"n\";\nlet r = ({ w } * x) + y;\nlet q = { v = [1, 2], i = [n] } * x;\noutput r, q;",
        "size n;\ninput x: \"n:*\";\noutput x;",
        "input x: \"k:time\";\noutput x;",
        "size batch, n;\ninput x: \"batch|n\";\noutput x;",
        "size n;\ninput x: \"n\"; input y: \"n\";\n{ z } =: x * y ~logic:\"i;j=>i\";\noutput z;",
        "size n;\nwhere n >= 1;\ninput x: \"5\"; input k: \"n\";\nlet r = x +* k \"i=+j; j => i\";\noutput r;",
    ];
    let all: Vec<String> = texts.iter().map(|text| refused(text)).collect();
    insta::assert_snapshot!(all.join("\n\n"));
}

/// `batch=b` and facts declare sizes as `size` does; the program is the same one.
#[test]
fn shapes_and_facts_declare_sizes() {
    let body = "let r = relu(x) /. dim(n) *. !.b;\noutput r;";
    let plain = format!("size b, n;\nwhere n >= 4, n % 2 == 0;\ninput x: \"b|n,64\";\n{body}");
    let expected = surject_ir::print(&Program::of(&plain).lowered.program);
    let guard = |text: String| text.split(" @ ").next().unwrap_or_default().to_string();
    let lines = |text: &str| text.lines().map(|line| guard(line.to_string())).collect::<Vec<_>>();
    for declared in [
        "input x: \"batch=b|n,64\" where n >= 4, n % 2 == 0;",
        "where n >= 4, n % 2 == 0;\ninput x: \"batch=b|n,64\";",
        "input x: \"batch=b|time=n,64\";\nwhere n >= 4, n % 2 == 0;",
        "size n;\ninput x: \"batch=b|n,channel=64\" where n >= 4, n % 2 == 0;",
    ] {
        let found = surject_ir::print(&Program::of(&format!("{declared}\n{body}")).lowered.program);
        assert_eq!(lines(&found), lines(&expected), "{declared}");
    }
    // What no fact names, in a shape without `=`, is inferred as ever: `b` is 3.
    let inferred = Program::of(
        "input x: \"b|n\" where n >= 2; input y: \"3|n\"; let r = x +* y \"b|n;b|n=>b|n\"; output r;",
    );
    let printed = surject_ir::print(&inferred.lowered.program);
    assert!(printed.contains("x: f64[3,n], y: f64[3,n]"), "{printed}");
    agrees(
        "size n, m;\ninput x: \"rows=n,m\"; input y: \"cols=m,n\";\nlet r = x +* y \"ij;jk=>ik\";\noutput r;",
        SMALL,
    );
    let texts = [
        "size n;\ninput x: \"n=m, n\";\noutput x;",
        "input x: \"b|n,64\" where k >= 2;\noutput x;",
        "input x: \"batch=b|n\" where b >= 2, b < 1;\noutput x;",
        "input x: \"time={2*k}\";\noutput x;",
        "input x: \"batch=in3\";\noutput x;",
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
