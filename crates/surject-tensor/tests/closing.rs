//! Closing in programs: what leaves and parameters get from bounds behind strides, kernels, concatenations and numbers of
//! elements, and guesses that are taken back.

use surject_tensor::{Session, Value};

fn inferred(text: &str) -> (Session, Result<(), String>) {
    let mut session = Session::new("case.sj", text);
    let result = session.run_text().and_then(|()| session.graph().infer());
    let result = result.map_err(|error| session.render(&error));
    (session, result)
}

/// The shape or the size of a name.
fn show(session: &Session, name: &str) -> String {
    let graph = session.graph();
    match session.value(name) {
        Some(Value::Tensor(tensor)) => graph.shape(&tensor).map_or_else(|| "open".into(), |s| s.to_string()),
        Some(Value::Size(size)) => graph.size_of(size.size).map_or_else(|| "open".into(), |s| s.to_string()),
        // Parameters are found by their names.
        _ => (0..graph.len() as u32)
            .map(|id| graph.tensor(surject_tensor::NodeId(id)))
            .find(|tensor| tensor.label() == name)
            .and_then(|tensor| graph.shape(&tensor))
            .map_or_else(|| "not there".into(), |s| s.to_string()),
    }
}

macro_rules! solved {
    ($($id:ident $text:literal => $expected:literal;)*) => {$(
        #[test]
        fn $id() {
            let (session, result) = inferred($text);
            result.unwrap_or_else(|e| panic!("{e}"));
            for part in $expected.split("; ") {
                let (name, shape) = part.split_once(" = ").unwrap();
                assert_eq!(show(&session, name), shape, "{name} of {}", $text);
            }
        }
    )*};
}

macro_rules! refused {
    ($($id:ident $text:literal => $($part:literal)*;)*) => {$(
        #[test]
        fn $id() {
            let (session, result) = inferred($text);
            let error = result.expect_err(&format!("y is {}", show(&session, "y")));
            for part in [$($part),*] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    )*};
}

refused! {
    a_free_kernel "input x: \"6\"; let y = x +* { k } \"o<+kh;kh=>o\"; output y;" => "SJ0405" "`k`";
    a_free_strided_kernel "input x: \"11\"; let y = x +* { k } \"2*o<+3*kh;kh=>o\"; output y;" => "SJ0405" "`k`";
    a_free_component "input x: \"3\"; let y = [x, { c }] ++^ \"a;b=>a^b\"; output y;" => "SJ0405" "`c`";
    a_free_component_of_three "input x: \"3\"; let y = [x, { c }, [1, 2]] ++^ \"a;b;c=>a^b^c\"; output y;" => "SJ0405" "`c`";
    a_parameter_beside_others "let y = { c } + [1, 2, 3]; let z = { d } + 1; output y; output z;" => "SJ0405" "`d`";
    parameters_that_clash "let p = { a }; let q = { b }; let y = p + [1, 2, 3]; let z = q + [1, 2, 3, 4, 5]; let s = p + q; output y; output z; output s;" => "SJ0401" "`a`" "3" "`b`" "5";
    inputs_that_clash "input p; input q; let y = p + [1, 2, 3]; let z = q + [1, 2, 3, 4, 5]; let s = p + q; output y; output z; output s;" => "SJ0401" "`p` takes its bound 3" "`q` takes its bound 5";
    defined_by_itself "input x; let y = x ++ \"d => d,\" [\"d\"]; let z = x ++ \"2*e => e,\" [\"e\"]; set_equal(d, e); output y; output z;" => "SJ0410";
}

solved! {
    a_pooled_leaf "input t: \"5,5,4\"; input x; let y = max_pool2d()()(x); let z = y - t; output z;" => "x = 10,10,4; y = 5,5,4; z = 5,5,4";
    a_leaf_pooled_twice "input t: \"5,5,4\"; input x; let y = max_pool2d()()(max_pool2d()()(x)); let z = y - t; output z;" => "x = 20,20,4; y = 5,5,4";
    a_leaf_pooled_by_three "input t: \"5,5,4\"; input x; let y = avg_pool2d(window_size: 3, stride: 2)()(x); let z = t - y; output z;" => "x = 11,11,4; y = 5,5,4";
    a_pooled_and_convolved_leaf "input t: \"5,5,4\"; input x: \"...|..., 3\"; let y = conv2d(4)()(max_pool2d()()(x)); let z = y - t; output z;" => "y = 5,5,4";
    a_leaf_of_windows "input x; let y = (x ++ \"o<+k=>o\" [\"k\"]) + [1, 2, 3]; set_dim(k, 3); output y;" => "x = 5; y = 3";
    a_leaf_of_dilated_windows "input x; let y = (x ++ \"2*o<+3*k=>o\" [\"k\"]) + [1, 2, 3]; set_dim(k, 2); output y;" => "x = 8; y = 3";
    a_leaf_of_two_parts "input x; let y = (x ++^ \"a^b => a,\") + [1, 2, 3]; output y;" => "x = 3; y = 3";
    a_concatenated_leaf "input x; let y = ([x, [1, 2]] ++^ \"a;b=>a^b\") + [1, 2, 3, 4, 5]; output y;" => "x = 3; y = 5";
    a_concatenated_parameter "let y = ([{ c }, [1, 2]] ++^ \"a;b=>a^b\") + [1, 2, 3, 4, 5]; output y;" => "c = 3; y = 5";
    a_kernel_from_its_use "input x: \"6\"; let y = (x +* { k } \"o<+kh;kh=>o\") + [1, 2, 3]; output y;" => "k = 4; y = 3";
    a_reshaped_constant "input w: \"6->4\"; let c = reshape(range(6)); let y = w * c; output y;" => "c = 6; y = 4";
    a_reshaped_batch "input w: \"6->4\"; let c = reshape(range(12)); let y = w * c; output y;" => "c = 2|6; y = 2|4";
    a_reshaped_matrix "input x: \"3->2\"; let c = reshape(range(6)); let y = c + x; output y;" => "c = 3->2; y = 3->2";
    a_reshaped_tensor "input x: \"2|3->2,2\"; let c = reshape(range(24)); let y = c + x; output y;" => "c = 2|3->2,2";
    a_reshaped_row "let c = reshape(range(6)); let y = c * 2; output y;" => "c = 6";
    a_rebatched_matrix "input w: \"3->4\"; let c = rebatch(range(6)); let y = w * c; output y;" => "c = 2|3; y = 2|4";
    a_wrapped_constant "input w: \"6->4\"; let c = wrap(range(6)); let y = w * c; output y;" => "c = 6; y = 4";
    a_wrapped_batch "input w: \"3->4\"; let c = wrap([[1, 2, 3], [4, 5, 6]]); let y = w * c; output y;" => "c = 2|3; y = 2|4";
    a_first_part "input x: \"5\"; let y = (x ++^ \"a^b => a,\") + [1, 2, 3]; output y;" => "y = 3";
    a_last_part "input x: \"5\"; let y = (x ++^ \"a^b => b,\") + [1, 2, 3]; output y;" => "y = 3";
    windows_from_their_use "input x: \"6\"; let y = (x ++ \"o<+k=>o\") + [1, 2, 3]; output y;" => "y = 3";
    as_wide_as_its_windows "input x: \"9\"; let y = x ++ \"o<+k=>o\" [\"o\", \"k\"]; set_equal(o, k); output y;" => "y = 5; o = 5; k = 5";
    parts_in_proportion "input x: \"9\"; let y = x ++^ \"a^b=>a,\" [\"a\", \"b\"]; set_scale(a, b, 2); output y;" => "y = 6; b = 3";
    a_coefficient "input x: \"600\"; let y = x ++^ \"a^b^a => a^b\" [\"a\", \"b\"]; set_dim(b, 100); output y;" => "a = 250";
    rotated_twice "input x; let y = x ++ \"a,..r.. => ..r..,a\"; let z = y ++ \"a,..r.. => ..r..,a\"; let w = z + fill(1, o: [2, 3, 4]); output w;" => "z = 2,3,4; x = 3,4,2";
    rotated_three_times "input x; let y = x ++ \"a,..r.. => ..r..,a\"; let z = y ++ \"a,..r.. => ..r..,a\"; let u = z ++ \"a,..r.. => ..r..,a\"; let w = u + fill(1, o: [2, 3, 4]); output w;" => "u = 2,3,4; x = 2,3,4";
    a_wrapped_matrix "input x: \"3->2\"; let c = wrap([[1, 2, 3], [4, 5, 6]]); let y = c + x; output y;" => "c = 3->2; y = 3->2";
    a_wrapped_row "let c = wrap([[1, 2, 3], [4, 5, 6]]); let y = c *. 2; output y;" => "c = 2,3";
    an_offset_with_a_kernel "input x: \"5\"; let y = x ++ \"2*o<+1+k => o\" [\"k\"]; set_dim(k, 1); output y;" => "y = 3";
    one_scalar_for_two "let s = fill(2); let y = s *. [1, 2, 3]; let z = s *. [1, 2, 3, 4]; output z;" => "z = 4";
}

/// Two leaves that cannot both be at their bounds: one gives way, however large the program is.
#[test]
fn choices_are_taken_back_in_large_programs() {
    let core = "input a; input b; let t = ([a, b] ++^ \"a;b=>a^b\") + [1, 2, 3, 4]; let u = a + [1, 2, 3]; \
                let v = b + [1, 2, 3]; output t; output u; output v; let x0 = [1, 2];";
    for steps in [0, 120] {
        let more: Vec<String> = (0..steps).map(|i| format!("let x{} = x{i} + fill({i});", i + 1)).collect();
        let text = format!("{core} {} output x{steps};", more.join(" "));
        let (session, result) = inferred(&text);
        result.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(["a", "b", "t"].map(|name| show(&session, name)), ["3", "unit", "4"], "{steps}");
    }
}
