//! Systems of equations that specs do not give: conflicts of derived indices, and their messages.

mod notation;

use notation::{shape, spec};
use surject_projection::{AxisId, Equation, Pin, System, Window};

/// The system of a spec. `shapes` are the operands and, last, the result.
fn system(text: &str, shapes: &[&str]) -> System {
    let (result, operands) = shapes.split_last().unwrap();
    let operands: Vec<_> = operands.iter().map(|s| shape(s)).collect();
    System::new(&spec(text), &operands, &shape(result), &Default::default()).unwrap()
}

fn axis(system: &System, operand: usize, axis: usize) -> AxisId {
    system.axes().1[operand][axis]
}

fn affine(target: AxisId, stride: u64, over: AxisId, offset: u64) -> Equation {
    Equation::Affine { target, stride, over, window: None, offset }
}

#[track_caller]
fn fails(system: &System, code: &str) -> String {
    let error = system.solve().unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    error.to_string()
}

#[test]
fn two_derivations_of_one_axis_have_to_agree() {
    // The first axis of operand 1 is `2*o` by the spec.
    let mut twice = system("2*o, k => o, k", &["6,3", "3,3"]);
    let (target, over) = (axis(&twice, 0, 0), twice.axes().0[0]);
    let other = twice.axes().0[1];
    twice.equations.push(affine(target, 2, over, 0));
    let agreed = twice.solve().unwrap();
    assert_eq!(agreed, system("2*o, k => o, k", &["6,3", "3,3"]).solve().unwrap());
    let last = twice.equations.len() - 1;
    // Another offset, and another loop of the same size.
    twice.equations[last] = affine(target, 2, over, 1);
    insta::assert_snapshot!("two_offsets", fails(&twice, "SJ0433"));
    twice.equations[last] = affine(target, 2, other, 0);
    insta::assert_snapshot!("two_loops", fails(&twice, "SJ0433"));
    // A position beside a derived index.
    twice.equations[last] = Equation::Pinned(target, Pin::Fixed(4));
    insta::assert_snapshot!("a_pin_and_a_stride", fails(&twice, "SJ0433"));
    twice.equations[last] = Equation::Pinned(target, Pin::Fixed(6));
    insta::assert_snapshot!("beyond", fails(&twice, "SJ0438"));
    // A kernel of one position adds nothing to an index without one, but its padding is part of the equation.
    let one = axis(&system("2*o, k => o, k", &["6,1", "3,1"]), 0, 1);
    let mut padded = system("2*o, k => o, k", &["6,1", "3,1"]);
    let window = Some(Window { dilation: 1, kernel: one, padded: true });
    padded.equations.push(Equation::Affine { target, stride: 2, over, window, offset: 0 });
    assert_eq!(padded.solve(), system("2*o, k => o, k", &["6,1", "3,1"]).solve());
}

#[test]
fn derived_axes_are_made_of_loops() {
    let mut nested = system("a; b, k => a^b, k", &["3", "2,10", "5,10"]);
    let (derived, target) = (nested.axes().0[0], nested.axes().0[1]);
    nested.equations.push(affine(target, 2, derived, 0));
    insta::assert_snapshot!("nested", fails(&nested, "SJ0436"));

    // An affine axis over an affine one is affine.
    let mut strided = system("2*o, k => o, k", &["6,12", "3,12"]);
    let (derived, target) = (axis(&strided, 0, 0), axis(&strided, 0, 1));
    strided.equations.push(affine(target, 2, derived, 1));
    let expected = "product space {o:3}\nlhs [o, 4*o+1]\nrhs1 [2*o, 4*o+1]\nreductions {}\n";
    assert_eq!(strided.solve().unwrap().to_string(), expected);

    let mut sliced = system("2*o, k => o, k", &["6,3", "3,3"]);
    sliced.equations.push(Equation::Pinned(sliced.axes().0[0], Pin::External));
    insta::assert_snapshot!("given_from_outside", fails(&sliced, "SJ0436"));

    let mut pinned = system("a; b => a^b", &["3", "2", "5"]);
    pinned.equations.push(Equation::Pinned(axis(&pinned, 0, 0), Pin::Fixed(1)));
    insta::assert_snapshot!("a_pinned_component", fails(&pinned, "SJ0436"));

    // An axis by itself in itself is no loop either.
    let mut own = system("i => i", &["3", "3"]);
    own.equations.push(affine(axis(&own, 0, 0), 1, axis(&own, 0, 0), 0));
    fails(&own, "SJ0436");
}

#[test]
fn foreign_axes_and_zero_strides_are_refused() {
    let other = system("ij => ij", &["3,4", "3,4"]);
    let mut small = system("=> ", &[""]);
    small.equations.push(Equation::Iterated(axis(&other, 0, 1)));
    fails(&small, "SJ0411");
    assert!(small.to_string().ends_with("iterates\n"));
    let mut still = system("i, o => i, o", &["3,0", "3,0"]);
    still.equations.push(affine(axis(&still, 0, 1), 0, axis(&still, 0, 0), 0));
    fails(&still, "SJ0406");
}

#[test]
fn a_pinned_loop_is_a_constant_term() {
    let mut pinned = system("3*o<+k; k => o", &["9", "3", "3"]);
    let window = axis(&pinned, 1, 0);
    pinned.equations.push(Equation::Pinned(window, Pin::Fixed(2)));
    assert_eq!(
        pinned.solve().unwrap().to_string(),
        "product space {o:3}\nlhs [o]\nrhs1 [3*o+2]\nrhs2 [2]\nreductions {}\n"
    );
}

#[test]
fn messages_name_tensors_and_positions() {
    let message = |text: &str, shapes: &[&str]| {
        let (result, operands) = shapes.split_last().unwrap();
        let operands: Vec<_> = operands.iter().map(|s| shape(s)).collect();
        let record = surject_projection::derive(&spec(text), &operands, &shape(result), &Default::default());
        record.and_then(|r| r.pieces()).unwrap_err().to_string()
    };
    let messages = [
        message("b|i->j; j->k => b|i->k", &["7|4->5", "6->2", "7|4->2"]),
        message("2*o=+w, c => o, c", &["6,2", "3,2"]),
        message("2*o<+w; w => o", &["6", "3", "3"]),
        message("2*o => o", &["7", "3"]),
        message("a; b => a^b", &["3", "2", "6"]),
        message("a, c; b, c; b => a^b, c", &["3,4", "2,4", "2", "5,4"]),
        message("a; a; b => a^b", &["3", "3", "2", "5"]),
        message("a => a^a", &["3", "6"]),
        message("i3 => i", &["4,3", "4"]),
        message("i => i", &["3,4", "3"]),
        message("i..i.. => i", &["3,4", "3"]),
        message("0*o+k => o", &["3", "3"]),
    ];
    insta::assert_snapshot!(messages.join("\n\n"));
}

#[test]
fn equations_as_text() {
    let list = [
        system("i, 2*o=+3*k; k => o, 0", &["4,6", "3", "3,1"]),
        system("a; ..r.. => a^2, ..r..", &["3", "7", "5,7"]),
    ];
    insta::assert_snapshot!(list.map(|s| s.to_string()).join("\n"));
}

/// Too many combinations of components are refused before they are listed.
#[test]
fn pieces_are_bounded() {
    let text =
        |n: usize, glue: &str| (0..n).map(|i| format!("a{i}{glue}b{i}")).collect::<Vec<_>>().join(", ");
    let spec = format!("{} => {}", text(17, "^"), text(17, "^"));
    let sizes: Vec<(String, u64)> = (0..17).map(|i| (format!("a{i}"), 1)).collect();
    let sizes: Vec<(&str, u64)> = sizes.iter().map(|(n, s)| (n.as_str(), *s)).collect();
    let shape = vec!["2"; 17].join(",");
    let record = notation::sized(&spec, &[&shape, &shape], &sizes).unwrap();
    assert_eq!(record.pieces().unwrap_err().code(), "SJ0437");
    assert_eq!(record.surjective().unwrap_err().code(), "SJ0437");
}
