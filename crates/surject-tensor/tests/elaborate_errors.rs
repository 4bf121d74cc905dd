//! Wrong programs, each with its whole message.

use std::fmt::Write;
use surject_tensor::{LowerOptions, Session, lower};

const PROGRAMS: &[(&str, &str)] = &[
    ("sizes that differ", "input h: \"10|16\";\ninput b: \"10\";\nlet y = h + b;"),
    ("the contracted axes differ", "input a: \"5->3\";\ninput b: \"4->6\";\nlet y = a * b;\noutput y;"),
    ("bases that differ", "input image: \"3:rgb\";\ninput shift: \"3:hsv\";\nlet y = image + shift;"),
    ("a written one does not stretch", "let y = [[1], [2]] + [[1, 2, 3], [4, 5, 6]];"),
    (
        "rows that grow for ever",
        "{ state } =+ 0.0;\nlet longer = state ++ \"..v.. => ..v..,0\";\nstate =+ longer;",
    ),
    (
        "no hidden size",
        "input x: \"10|2\";\nlet h = relu({ w1 } * x + { b1 });\nlet y = { w2, o = [1] } * h + { b2 };\noutput y;",
    ),
    ("too many axes", "input x: \"3,4\";\ninput y: \"4\";\nlet z = x ++ \"i => i\";"),
    ("a row too few", "input x: \"2|3->4\";\nlet y = x ++ \"b|o => o\";"),
    (
        "a stride that does not divide",
        "input x: \"7,7,1\";\nlet conv = conv2d(4, stride: 2)();\nlet y = conv(x);",
    ),
    ("a kernel that does not fit", "input x: \"10\";\ninput k: \"3\";\nlet y = x +* k \"2*o<+k; k => o\";"),
    (
        "pieces that do not add up",
        "input a: \"3\";\ninput b: \"2\";\ninput c: \"6\";\nlet y = ([a, b] ++^ \"a;b => a^b\") + c;",
    ),
    (
        "unlike axes of an input without a shape",
        "input x;\ninput a: \"3\";\ninput c: \"5\";\nlet s = x +* a \"i; i => i\";\nlet y = x + c;",
    ),
    ("an index beyond the axis", "input x: \"2,5\";\nlet y = x ++ \"3 i => i\";"),
    ("a slice of another size", "input xs: \"8|2\";\nindex step < 10;\nlet x = xs @| step;"),
    ("a slice by no index", "input xs: \"8|2\";\ninput i;\nlet x = xs @| i;"),
    ("an unknown name", "input x: \"3\";\nlet y = relv(x);"),
    ("a name that comes later", "let y = x + 1;\nlet x = 2;"),
    ("a coefficient without a number", "input x: \"8\";\nlet y = x ++ \"stride*i => i\";"),
    ("no padding", "input x: \"8\";\ninput k: \"3\";\nlet y = x +* k \"o+k; k => o\";"),
    ("operands too many", "input x: \"3\";\nlet y = relu(x, x);"),
    ("tensors too few", "fn mix(a, b) = a + b;\ninput x: \"3\";\nlet y = mix(x);"),
    (
        "a configuration that there is not",
        "fn dense(size)()(x) = { w, o = [size] } * x;\nlet layer = dense(width: 3)();",
    ),
    (
        "a configuration that is missing",
        "fn dense(size)()(x) = { w, o = [size] } * x;\nlet layer = dense()();",
    ),
    ("no instance", "fn dense(size)()(x) = { w, o = [size] } * x;\ninput x: \"3\";\nlet y = dense(4)(x);"),
    ("a size that is no whole number", "input x: \"3\";\nlet y = { w, o = [2.5] } * x;"),
    ("a size that is a tensor", "input n;\ninput x: \"3\";\nlet y = { w, o = [n] } * x;"),
    ("a captured name that the spec has not", "input x: \"3\";\nlet y = x ++ \"i => i\" [\"j\"];"),
    ("a size that is another", "input x: \"5,7\";\nx ++ \"ij => ji\" [\"i\", \"j\"];\nset_dim(i, 6);"),
    ("two sizes that differ", "input x: \"5,7\";\nx ++ \"ij => ji\" [\"i\", \"j\"];\nset_equal(i, j);"),
    (
        "a scale that does not hold",
        "input x: \"17,8\";\nx ++ \"ij => ji\" [\"i\", \"j\"];\nset_scale(i, j, 2);",
    ),
    (
        "a scale that does not divide",
        "input x: \"17\";\ninput z;\nx ++ \"i => i\" [\"i\"];\nz ++ \"j => j\" [\"j\"];\nset_scale(i, j, 2);",
    ),
    ("a scale by nothing", "input x: \"17,8\";\nx ++ \"ij => ji\" [\"i\", \"j\"];\nset_scale(i, j, 0);"),
    ("sizes that no spec captured", "set_equal(i, j);"),
    ("a function for a tensor", "input x: \"3\";\nlet y = x + relu;"),
    ("a tensor applied", "input x: \"3\";\ninput w: \"3->3\";\nlet y = w(x);"),
    (
        "a text for a spec",
        "fn fold(spec)()(x) = x ++ spec;\nlet f = fold(\"i to j\")();\ninput x: \"3\";\nlet y = f(x);",
    ),
    ("a parameter twice", "input x: \"3\";\nlet y = { w } * x + { w };"),
    ("an input written", "input x: \"3\";\nx =: 0.0;"),
    ("a function that applies itself", "let f = |g| g(g);\nlet y = f(f);"),
    (
        "within a function",
        "fn project(x) = x +* [[1, 2], [3, 4]] \"i; ij => j\";\ninput x: \"3\";\nlet y = project(x);",
    ),
    (
        "within the library",
        "input logits: \"10|3\";\ninput target: \"10|4\";\nlet loss = cross_entropy(logits, target);",
    ),
    ("an operator with a strange slot", "op wrong(x) { { mask } =: v1; v =: v1 }"),
    (
        "a block of two at once",
        "input a: \"3\";\ninput b: \"3\";\nlet y = [a, b] ++^ \"i;i => i^j\";\noutput y;",
    ),
    ("a reshape of what is computed", "input x: \"6\";\nlet y = reshape(x + 1, o: [2, 3]);"),
    (
        "composed where the pointwise product fits",
        "input a: \"3,4\";\ninput b: \"4\";\nlet y = a * b;\noutput y;",
    ),
    (
        "assigned by composition where the pointwise product fits",
        "input a: \"3\";\ninput b: \"3\";\n{ y } =:+ a * b ~logic:\"@\";\noutput y;",
    ),
    (
        "products that differ",
        "input x: \"2,3\";\ninput y: \"7\";\nx ++ \"..a.. => ..a..\" [\"a\"];\ny ++ \"..b.. => ..b..\" [\"b\"];\nset_equal(a, b);",
    ),
    (
        "products that differ later",
        "input x;\ninput y: \"7\";\nx ++ \"..a.. => ..a..\" [\"a\"];\ny ++ \"..b.. => ..b..\" [\"b\"];\nset_equal(a, b);\nlet z = x ++ \"i,j => j,i\" [\"i\", \"j\"];\nset_dim(i, 2);\nset_dim(j, 3);\noutput z;",
    ),
    (
        "a product that is another size",
        "input x: \"2,3,7\";\nx ++ \"ijk => ijk\" [\"i\", \"j\", \"k\"];\nset_equal(i * j, k);\noutput x;",
    ),
    (
        "a product that is another number",
        "input x: \"2,3\";\nx ++ \"ij => ij\" [\"i\", \"j\"];\nlet n = i * j;\nset_dim(n, 7);\noutput x;",
    ),
    ("a size of zero", "input x: \"3\";\nlet y = { w, o = [0] } * x;\noutput y;"),
    ("a size set to zero", "input x;\nx ++ \"i => i\" [\"i\"];\nset_dim(i, 0);"),
    ("a range of nothing", "let y = range(0);\noutput y;"),
    (
        "one place that clashes with itself",
        "fn pair(x, y) = x + y;\ninput a: \"3\";\ninput b;\ninput c: \"4\";\nlet p = pair(a, b);\nlet q = pair(b, b);\nlet r = pair(b, c);\nlet s = p + (q + r);\noutput s;",
    ),
    ("elements that do not fit", "let y = rebatch(range(10), o: [3]);\noutput y;"),
];

#[test]
fn wrong_programs() {
    let mut shown = String::new();
    for (title, text) in PROGRAMS {
        let mut session = Session::new("net.sj", text);
        let graph = session.graph().clone();
        let result = session.run_text().and_then(|()| lower(&graph, &LowerOptions::default()));
        let message = match result {
            Ok(_) => "no error\n".to_string(),
            Err(error) => session.render(&error),
        };
        writeln!(shown, "## {title}\n{message}").expect("text");
    }
    insta::assert_snapshot!(shown);
}

/// Texts with tokens taken away, doubled and exchanged are programs or errors.
#[test]
fn mangled_programs_do_not_panic() {
    let corpus = PROGRAMS.iter().map(|(_, text)| text.to_string()).chain(MORE.iter().map(|t| t.to_string()));
    let corpus: Vec<Vec<String>> = corpus.map(|text| tokens(&text)).collect();
    let mut seed = 7u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below.max(1)
    };
    let mut programs = 0;
    for _ in 0..ROUNDS {
        let mut text = corpus[random(corpus.len())].clone();
        for _ in 0..=random(3) {
            let other = &corpus[random(corpus.len())];
            let at = random(text.len());
            match random(3) {
                0 => drop(text.remove(at)),
                1 => text[at] = other[random(other.len())].clone(),
                _ => text.insert(at, other[random(other.len())].clone()),
            }
            if text.is_empty() {
                text.push("1".to_string());
            }
        }
        let text = text.concat();
        let shown = text.clone();
        let run = std::panic::catch_unwind(move || {
            let mut session = Session::new("mangled.sj", &text);
            let graph = session.graph().clone();
            match session.run_text().and_then(|()| lower(&graph, &LowerOptions::default())) {
                Ok(_) => true,
                Err(error) => session.render(&error).is_empty(),
            }
        });
        programs += usize::from(run.unwrap_or_else(|_| panic!("{shown}")));
    }
    assert!(programs > ROUNDS / 100, "{programs}");
}

const ROUNDS: usize = 5000;

const MORE: &[&str] = &[
    "input x: \"10|2\"; fn dense(n)()(x) = relu({ w } * x + { b = 0., o = [n] }); let net = repeat(dense, [4, 3])(); \
     let loss = (net(x) *. net(x)) ++ \"...|... => 0\"; loss.zero_grads; loss.backprop; update(loss, sgd()); output loss;",
    "input a: \"2|3->4\"; let y = a ++ \"b|...->o => o|...->b\" [\"b\", \"o\"]; set_dim(b, 2); let z = dim(b) + o; output y, z;",
    "index s < 2; let data = rebatch(range(72), o: [3, 3, 1]); let part = data @| s; let c = conv2d(4)(); output part;",
    "input x: \"3\"; let y = [[x; x]; { c }]; let t = (x, x); let b = [| x, x |]; let n = [(1, 2):q, (3, 4):q]; output y, t, b;",
    "op leak(x) { v =:+ where(v1 < 0, 0.1 * v1, v1) } grad { g1 =+ where(v1 < 0, 0.1 * g, g) } let y = leak([1, -1]); output y;",
    "input g: \"2\"; { v } =+ g *. 2.0; { u } =: v * g ~logic:\"ij\"; g.grad =: v; let w = |p, q| p - q **. 2; output v;",
];

/// Words, numbers, strings, blanks and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let class = |c: char| if c.is_alphanumeric() || c == '_' { 0 } else { 1 + u32::from(c) };
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if class(c) == 0 && last.chars().next_back().map(class) == Some(0) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}
