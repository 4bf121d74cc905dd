//! The gradient of every operator of the library against central differences in f64.

mod support;

use std::collections::BTreeSet;
use support::{Check, Random, check_gradients};
use surject_notation::source::{ItemKind, Source};
use surject_tensor::prelude;

/// The intervals in which operators are smooth; the others are tried between -2 and 2.
fn range(name: &str) -> (f64, f64) {
    match name {
        "log" | "log2" | "sqrt" | "recip" | "recip_sqrt" | "cbrt" | "lgamma" | "pow" | "div" | "mod" => {
            (0.3, 2.5)
        }
        "log1p" => (-0.6, 2.0),
        "asin" | "acos" | "atanh" | "erf_inv" => (-0.8, 0.8),
        "acosh" => (1.2, 3.0),
        "tan" => (-1.2, 1.2),
        _ => (-2.0, 2.0),
    }
}

/// Operators with a logic of their own, which have tests of their own.
const OTHERS: [&str; 3] = ["matmul", "slice", "transpose"];

fn operators() -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (_, text) in prelude::TEXTS {
        for item in Source::parse(text).unwrap().items {
            if let ItemKind::Operation(operation) = item.kind {
                let name = operation.name.text.clone();
                if !operation.gradient.is_empty() && !OTHERS.contains(&name.as_str()) {
                    found.push((name, operation.operands.len()));
                }
            }
        }
    }
    found
}

/// Shapes of the operands: equal, with axes to be broadcast, with units, with rows of all kinds.
const SHAPES: [[&str; 3]; 6] = [
    ["3", "3", "3"],
    ["2|3", "3", "2|3"],
    ["3", "2|3", "1:*|3"],
    ["2|3->1:*", "2|1:*->4", "3->4"],
    ["2,3|4->2", "4->2", "2,3|4->2"],
    ["1", "1", "1"],
];

#[test]
fn pointwise_with_broadcasting() {
    let mut checked = BTreeSet::new();
    for (name, arity) in operators() {
        let check = Check { range: range(&name), ..Check::default() };
        for shapes in SHAPES {
            let names = &["a", "b", "c"][..arity];
            let inputs: String =
                names.iter().zip(shapes).map(|(n, s)| format!("input {n}: \"{s}\"; ")).collect();
            let text = format!(
                "{inputs}input weight; let loss = ({name}({}) *. weight) ++ \"...|...->... => 0\";",
                names.join(", ")
            );
            check_gradients(&text, &check);
            checked.insert(name.clone());
        }
    }
    assert!(checked.len() > 45, "{checked:?}");
}

/// Under a spec several values meet in one position of the result, and one value is used in several.
#[test]
fn under_a_spec() {
    let specs: [(&[&str], &[&str]); 3] = [
        (
            &["ij=>i", "ij=>ji", "..b..|..r..,j => ..b..|..r..", "ii=>i", "i=>ii"],
            &["3,4", "3,4", "2|3,4", "3,3", "3"],
        ),
        (
            &["ij;jk=>ik", "ij;ij=>j", "i;j=>ij", "...|i;...|j=>...|ij"],
            &["3,4;4,2", "3,4;3,4", "3;2", "2|3;2|4"],
        ),
        (&["ij;jk;kl=>il", "ij;ij;ij=>i", "i;j;k=>ijk"], &["2,3;3,2;2,3", "2,3;2,3;2,3", "2;3;2"]),
    ];
    for (name, arity) in operators() {
        let check = Check { range: range(&name), ..Check::default() };
        let (specs, shapes) = specs[arity - 1];
        for (spec, shapes) in specs.iter().zip(shapes) {
            if *spec == "i=>ii" && matches!(name.as_str(), "max_reduce" | "min_reduce") {
                // Where nothing is written stands the neutral element, which is infinite.
                continue;
            }
            let names = &["a", "b", "c"][..arity];
            let inputs: String =
                names.iter().zip(shapes.split(';')).map(|(n, s)| format!("input {n}: \"{s}\"; ")).collect();
            let text = format!(
                "{inputs}input weight; let loss = ({name}({}, \"{spec}\") *. weight) ++ \"...|...->... => 0\";",
                names.join(", ")
            );
            check_gradients(&text, &check);
        }
    }
}

fn check(text: &str) {
    check_gradients(text, &Check::default());
}

#[test]
fn composition_transposition_slices() {
    for (a, b) in
        [("3->2", "4->3"), ("2|3->2", "2|4->3"), ("3->2", "5|3"), ("2,3->4,2", "2|2,3"), ("3->2", "4->1:*")]
    {
        check(&format!(
            "input a: \"{a}\"; input b: \"{b}\"; input weight;
             let loss = ((a * b) *. weight) ++ \"...|...->... => 0\";"
        ));
    }
    for a in ["2|3->4", "3->2,2", "3"] {
        check(&format!(
            "input a: \"{a}\"; input weight; let loss = (transpose(a) *. weight) ++ \"...|...->... => 0\";"
        ));
    }
    for (at, a) in [(0.0, "3|2"), (2.0, "3,2|2"), (1.0, "3|2->2")] {
        let text = format!(
            "input a: \"{a}\"; index i < 3; input weight;
             let loss = ((a @| i) *. weight + (a @| i)) ++ \"...|...->... => 0\";"
        );
        check_gradients(&text, &Check { fixed: &[("i", &[at])], ..Check::default() });
    }
}

/// Windows that meet, overlap and leave gaps; with a stride, a dilation, and padding.
#[test]
fn windows() {
    let windows = [
        ("2*o<+k", 8, 2),
        ("o<+k", 6, 3),
        ("o=+k", 6, 3),
        ("o=+k", 6, 4),
        ("2*o<+k", 9, 3),
        ("2*o=+k", 8, 3),
        ("o<+2*k", 8, 3),
        ("o=+2*k", 7, 3),
        ("2*o<+3*k", 11, 3),
        ("3*o=+2*k", 9, 3),
        ("3*o<+k", 7, 1),
        ("o=+k", 4, 1),
        ("o<+k", 3, 3),
        ("o=+2*k", 2, 3),
        ("2*o+1", 8, 1),
    ];
    for (window, size, kernel) in windows {
        let spec = |middle: &str, result: &str| format!("...|{window}, c{middle} => ...|o, {result}");
        for sign in ["+*", "@^+"] {
            if window.contains('k') {
                check(&format!(
                    "input x: \"2|{size},2\"; input kernel: \"{kernel},2->3\"; input weight;
                     let y = x {sign} kernel \"{}\";
                     let loss = (y *. weight) ++ \"...|...->... => 0\";",
                    spec("; k, c -> d", "d")
                ));
                // Without channels; the kernel meets every channel.
                check(&format!(
                    "input x: \"{size},2\"; input kernel: \"{kernel}\"; input weight;
                     let y = x {sign} kernel \"{}\";
                     let loss = (y *. weight) ++ \"...|...->... => 0\";",
                    spec("; k", "c")
                ));
            }
        }
        for sign in ["++", "@^^"] {
            let set =
                if window.contains('k') { format!("[\"k\"]; set_dim(k, {kernel})") } else { String::new() };
            check(&format!(
                "input x: \"2|{size},2\"; input weight;
                 let y = x {sign} \"{}\" {set};
                 let loss = (y *. weight) ++ \"...|...->... => 0\";",
                spec("", "c")
            ));
        }
    }
}

/// Images: both axes, unlike strides, several channels.
#[test]
fn windows_of_images() {
    for (h, w, height, width) in
        [("2*h<+kh", "w<+kw", 7, 5), ("h=+kh", "2*w=+2*kw", 4, 6), ("3*h<+2*kh", "w=+kw", 11, 3)]
    {
        check(&format!(
            "input x: \"2|{height},{width},2\"; input kernel: \"3,3,2->2\"; input weight;
             let y = x +* kernel \"...|{h}, {w}, ..c.. ; kh, kw, ..c.. -> ..d.. => ...|h, w, ..d..\";
             let loss = (y *. weight) ++ \"...|... => 0\";"
        ));
    }
}

/// The transposed convolution: the window stands on the result.
#[test]
fn windows_of_results() {
    for (window, kernel) in [("2*o<+k", 2), ("2*o<+k", 3), ("o<+k", 3), ("3*o<+k", 2)] {
        check(&format!(
            "input x: \"2|4,2\"; input kernel: \"{kernel},2->3\"; input weight;
             let y = x +* kernel \"...|o, c; k, c -> d => ...|{window}, d\";
             let loss = (y *. weight) ++ \"...|... => 0\";"
        ));
    }
}

#[test]
fn concatenations() {
    let head =
        "input a: \"2\"; input b: \"3\"; input c: \"2\"; input m: \"2,3\"; input n: \"2,1\"; input weight; ";
    for y in [
        "[a, b] ++^ \"a; b => a^b\"",
        "[a, b, c] ++^ \"a; b; c => a^b^c\"",
        "[m, n, m] ++^ \"i,a; i,b; i,c => i, a^b^c\"",
        "[[a; c]; [c; a]]",
        "[| a; c; a |]",
        "(a, c)",
        "[m, m] ++^ \"a,j; b,j => j, a^b\"",
        "b ++^ \"1^a => a\"",
        "interleave(a, c)",
        "deinterleave_odd(interleave(a, c)) *. deinterleave_even(interleave(c, a))",
    ] {
        check(&format!("{head} let y = {y}; let loss = (y *. weight) ++ \"...|...->... => 0\";"));
    }
}

/// Tensors that are used several times, and paths that stop.
#[test]
fn uses_add_up() {
    check("input x: \"3\"; let y = x *. x; let loss = (y *. x + sin(y) + x) ++ \"...|... => 0\";");
    check(
        "input x: \"3,3\"; let y = x +* x \"ij;jk=>ik\"; let loss = (y +* x \"ij;ji=>i\") ++ \"...|... => 0\";",
    );
    check("input x: \"3\"; let s = x ++ \"i=>0\"; let loss = (x *. s + s) ++ \"...|... => 0\";");
    check("input x: \"3\"; let loss = (tanh(x) *. (0.0 < x)) ++ \"...|... => 0\";");
    check("input x: \"3\"; let loss = (x **. 3 + x **. 2 + 2.0 /. (x **. 2 + 1.0)) ++ \"...|... => 0\";");
}

/// G49: ties get the gradient at every place; `stop_gradient` passes none.
#[test]
fn ties_and_stops() {
    let text = "input x: \"4\"; let y = x @^^ \"i=>0\"; let z = (stop_gradient(x) *. x) ++ \"i=>0\";
        let loss = y + z; loss.backprop; let g = x.grad; output g;";
    let found = support::run(text, &[("x", &[3.0, 1.0, 3.0, -1.0])]);
    assert_eq!(found[0].values, [1.0 + 3.0, 1.0, 1.0 + 3.0, -1.0]);
    let text = "input a: \"3\"; input b: \"3\"; let loss = max(a, b) ++ \"i=>0\"; loss.backprop;
        let g = a.grad; let h = b.grad; output g, h;";
    let found = support::run(text, &[("a", &[1.0, 2.0, 3.0]), ("b", &[1.0, 3.0, 2.0])]);
    assert_eq!((&found[0].values[..], &found[1].values[..]), (&[1.0, 0.0, 1.0][..], &[1.0, 1.0, 0.0][..]));
}

/// Random specs: rows of all kinds, repeated labels, labels that only one side has, axes of size one.
#[test]
fn random_specs() {
    let mut random = Random(11);
    let mut below = |n: u64| random.word() % n;
    const OPERATORS: [(&str, usize); 9] = [
        ("mul", 2),
        ("add", 2),
        ("tropical", 2),
        ("einsum3", 3),
        ("fma", 3),
        ("sum", 1),
        ("max_reduce", 1),
        ("tanh", 1),
        ("where", 3),
    ];
    for _ in 0..150 {
        let (operator, arity) = OPERATORS[below(9) as usize];
        let sizes: Vec<u64> = (0..4).map(|_| 1 + below(3)).collect();
        let mut used = BTreeSet::new();
        let mut shapes = Vec::new();
        for _ in 0..arity {
            let mut rows = [(String::new(), Vec::new()), Default::default(), Default::default()];
            for _ in 0..1 + below(3) {
                let label = below(4) as usize;
                used.insert(label);
                let (spec, shape): &mut (String, Vec<String>) = &mut rows[below(3) as usize];
                spec.push(['a', 'b', 'c', 'd'][label]);
                shape.push(sizes[label].to_string());
            }
            let [batch, input, output] = rows;
            let spec = format!("{}|{}->{}", batch.0, input.0, output.0);
            shapes
                .push((spec, format!("{}|{}->{}", batch.1.join(","), input.1.join(","), output.1.join(","))));
        }
        // A label twice in the result leaves positions that nothing writes, which for maxima are infinite.
        let mut result: [String; 3] = Default::default();
        for label in used {
            if below(2) == 0 {
                result[below(3) as usize].push(['a', 'b', 'c', 'd'][label]);
            }
        }
        let specs: Vec<&str> = shapes.iter().map(|(spec, _)| spec.as_str()).collect();
        let spec = format!("{}=>{}|{}->{}", specs.join(";"), result[0], result[1], result[2]);
        let names = &["x", "y", "z"][..arity];
        let inputs: String =
            names.iter().zip(&shapes).map(|(n, (_, shape))| format!("input {n}: \"{shape}\"; ")).collect();
        check(&format!(
            "{inputs}input weight; let r = {operator}({}, \"{spec}\");
             let loss = (r *. weight) ++ \"...|...->... => 0\";",
            names.join(", ")
        ));
    }
}
