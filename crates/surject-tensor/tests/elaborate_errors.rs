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
