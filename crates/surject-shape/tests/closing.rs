//! Closing: what leaves and parameters get from bounds behind strides, kernels, concatenations and numbers of elements.

use surject_shape::solve_text;

fn solved(text: &str, expected: &str) {
    let solution = solve_text("case.con", &text.replace("; ", "\n")).unwrap();
    let bindings = solution.outcome.clone().unwrap_or_else(|e| panic!("{text}\n{e}"));
    for part in expected.split("; ") {
        let (name, value) = part.split_once(" = ").unwrap();
        assert_eq!(bindings.dim(name).or(bindings.row(name)), Some(value), "{name}\n{text}\n{solution}");
    }
}

fn fails(text: &str, code: &str, part: &str) {
    let solution = solve_text("case.con", &text.replace("; ", "\n")).unwrap();
    let error = solution.outcome.as_ref().expect_err(&format!("{text}\n{solution}"));
    assert!(error.code() == code && error.to_string().contains(part), "{text}\n{error}");
}

macro_rules! cases {
    ($($id:ident $text:literal => $expected:literal;)*) => {$(
        #[test]
        fn $id() { solved($text, $expected); }
    )*};
}

macro_rules! refused {
    ($($id:ident $text:literal => $code:literal $part:literal;)*) => {$(
        #[test]
        fn $id() { fails($text, $code, $part); }
    )*};
}

refused! {
    a_parameter_behind_a_valid_kernel "param dim k; dim 6 = o<+k" => "SJ0405" "";
    a_parameter_behind_a_strided_kernel "param dim k; dim 11 = 2*o<+3*k" => "SJ0405" "";
    a_parameter_behind_a_stride "param dim i; dim i = 2*o" => "SJ0405" "";
    a_parameter_in_a_concatenation "param dim c; dim t = 3 ^ c" => "SJ0405" "";
    a_parameter_beside_an_open_part "param dim c; dim 7 = a ^ c" => "SJ0405" "";
    a_parameter_beside_a_leaf "param dim c; leaf dim a; dim 7 = a ^ c" => "SJ0405" "";
    a_parameter_in_a_total "param dim k; row ..r.. = k,o; total 12 = ..r.." => "SJ0405" "";
    a_parameter_beside_an_open_row "param dim k; total 12 = k,..r.." => "SJ0405" "";
    a_parameter_that_is_a_numerator "param dim v; total 3*v = ..r.." => "SJ0405" "";
    leaves_that_clash "leaf dim a; leaf dim b; dim a <= 3; dim b <= 5; dim a <= c; dim b <= c" => "SJ0401" "`a` takes its bound 3";
    leaves_that_clash_name_both "leaf dim a; leaf dim b; dim a <= 3; dim b <= 5; dim a <= c; dim b <= c" => "SJ0401" "`b` takes its bound 5";
    parameters_that_clash "param dim a; param dim b; dim a <= 3; dim b <= 5; dim a <= c; dim b <= c" => "SJ0401" "the parameter `b` takes its bound 5";
    rows_that_clash "leaf row ..r..; leaf row ..s..; row ..r.. <= 3; row ..s.. <= 5; row ..r.. <= ..t..; row ..s.. <= ..t.." => "SJ0401" "takes its bound 5";
    twice_itself "dim d = 2*d" => "SJ0410" "";
    itself_by_a_detour "dim d = 2*e; dim e = 3*d" => "SJ0410" "";
    itself_and_another "dim d = e ^ d" => "SJ0410" "";
    larger_than_itself "dim d = d<+k; dim k = 2" => "SJ0410" "";
    twice_itself_by_another_name "dim d = 2*e; dim e = d" => "SJ0410" "";
    a_leaf_and_a_parameter_that_clash "leaf dim a; param dim b; dim a <= 3; dim b <= 5; dim a <= c; dim b <= c" => "SJ0401" "the parameter `b` takes its bound 5";
    no_whole_number "dim 7 = a ^ a" => "SJ0407" "";
    no_whole_numbers "dim 7 = b ^ c; dim b = 2*d; dim c = 4*e" => "SJ0406" "";
    which_row_is_not_said "total 6 = ..i..; row ..i.. = ..x..; total 6 = ..x.., 1; total 4 = ..a..;..b.." => "SJ0412" "more than one row";
}

/// An error that depends on what closing chose says so, and what that was.
#[test]
fn choices_are_told() {
    fails(
        "leaf dim a; leaf dim b; dim a <= 3; dim b <= 5; dim a <= c; dim b <= c",
        "SJ0401",
        "note: this depends on what closing chose",
    );
    let told = solve_text("case.con", "dim 7 = a ^ a").unwrap().outcome.unwrap_err();
    assert!(!told.guessed && told.choice.is_none(), "{told}");
}

/// The order of lines and of rows in a line says nothing.
#[test]
fn the_order_of_rows_says_nothing() {
    for text in ["total 6 = ..i..;..o..", "total 6 = ..o..;..i.."] {
        fails(text, "SJ0412", "more than one row");
        fails(&format!("leaf row ..i..; leaf row ..o..; {text}"), "SJ0412", "more than one row");
        for bounds in ["row ..i.. <= 3; row ..o.. <= 2", "row ..o.. <= 2; row ..i.. <= 3", "row ..i.. <= 3"] {
            solved(&format!("{text}; leaf row ..i..; leaf row ..o..; {bounds}"), "i = <>,3; o = <>,2");
        }
    }
}

cases! {
    a_leaf_behind_a_stride "leaf dim i; dim i = 2*o; dim o <= 3" => "i = 6; o = 3";
    a_leaf_behind_two_strides "leaf dim i; dim i = 2*j; dim j = 3*o; dim o <= 5" => "i = 30; j = 15; o = 5";
    a_leaf_behind_a_kernel "leaf dim i; dim i = o<+k; dim k = 3; dim o <= 3" => "i = 5; o = 3";
    a_leaf_behind_a_dilated_kernel "leaf dim i; dim i = 2*o<+3*k; dim k = 2; dim o <= 4" => "i = 10";
    a_leaf_behind_a_concatenation "leaf dim i; dim i = a ^ b; dim a <= 3; dim b <= 4" => "i = 7";
    a_leaf_behind_three_components "leaf dim i; dim i = a ^ b ^ 2; dim a <= 3; dim b <= 4" => "i = 9";
    a_leaf_of_which_a_part_is_dropped "leaf dim i; dim i = a ^ b; discard b; dim a <= 3" => "i = 3; b = 0";
    a_leaf_that_is_a_component "leaf dim a; dim t = a ^ 2; dim t <= 5" => "a = 3";
    a_leaf_over_a_stride "leaf dim o; dim i = 2*o; dim i <= 8" => "o = 4";
    a_leaf_below_a_strided_axis "leaf dim x; dim x <= c; dim c = 2*o; dim o <= 3" => "x = 6; o = 3";
    a_kernel_that_a_bound_determines "param dim k; dim 6 = o<+k; dim o <= 3" => "k = 4; o = 3";
    what_is_no_leaf_stays_small "dim i = 2*o; dim o <= 3" => "i = 2; o = unit";
    a_bound_that_does_not_fit "leaf dim a; dim a <= 3; dim 6 = a ^ b; dim b <= 5" => "a = unit; b = 5";
    one_leaf_with_two_bounds "leaf dim a; dim a <= 3; dim a <= 5" => "a = unit";
    one_parameter_with_two_bounds "param dim a; dim a <= 3; dim a <= 5" => "a = unit";
    a_coefficient "dim 600 = a ^ b ^ a; dim b = 100" => "a = 250";
    a_coefficient_of_three "dim 602 = a ^ b ^ a ^ a; dim b = 2" => "a = 200";
    a_kernel_as_wide_as_its_windows "dim 9 = o<+k; dim o = k" => "o = 5; k = 5";
    two_equations "dim 10 = a ^ b; dim a = 4*b" => "a = 8; b = 2";
    a_sum_and_a_difference "dim a = b ^ 2; dim 10 = a ^ b" => "a = 6; b = 4";
    three_equations "dim c = a ^ b; dim 900 = c ^ d; dim a = 2*b; dim d = 3*b" => "b = 150; a = 300; c = 450; d = 450";
    large_sizes "dim 1000000 = a ^ b; dim a = 3*b" => "a = 750000; b = 250000";
    a_kernel_of_one "dim d = 2*d<+k" => "d = 1";
    an_offset_with_a_kernel "dim 5 = 2*o<+k offset 1; dim k = 1" => "o = 3";
    rows_of_a_total "leaf row ..i..; leaf row ..o..; total 6 = ..i..;..o..; row ..i.. <= 3; row ..o.. <= 2" => "i = <>,3; o = <>,2";
    rows_of_a_total_turned "leaf row ..i..; leaf row ..o..; total 6 = ..o..;..i..; row ..i.. <= 3; row ..o.. <= 2" => "i = <>,3; o = <>,2";
    a_total_with_one_bound "leaf row ..i..; leaf row ..o..; total 6 = ..i..;..o..; row ..o.. <= 6" => "i = <>; o = <>,6";
    a_total_with_one_bound_turned "leaf row ..i..; leaf row ..o..; total 6 = ..o..;..i..; row ..o.. <= 6" => "i = <>; o = <>,6";
    a_total_with_a_rest "leaf row ..i..; leaf row ..o..; total 12 = ..i..;..o..; row ..o.. <= 6" => "i = <>,2; o = <>,6";
    a_total_whose_bound_does_not_divide "leaf row ..i..; leaf row ..o..; total 4 = ..i..;..o..; row ..i.. <= 3; row ..o.. <= 4" => "i = <>,unit; o = <>,4";
    the_leaf_takes_the_elements "leaf row ..o..; total 6 = ..i..;..o.." => "i = <>; o = <>,6";
    the_leaf_takes_the_elements_turned "leaf row ..o..; total 6 = ..o..;..i.." => "i = <>; o = <>,6";
    a_rotation_twice "leaf row ..x..; row ..x.. = a,..r..; row ..y.. = ..r..,a; row ..y.. = b,..s..; row ..z.. = ..s..,b; row ..z.. <= 2,3,4" => "x = 3,4,<>,2";
    a_rotation_once "leaf row ..x..; row ..x.. = a,..r..; row ..y.. = ..r..,a; row ..y.. <= 2,3,4" => "x = 4,<>,2,3";
    a_leaf_behind_nested_parts "leaf dim a; dim t = a ^ b; dim b = c ^ d; dim t <= 9; dim c = 2; dim d = 3" => "a = 4; b = 5";
    a_parameter_behind_nested_parts "param dim a; dim t = a ^ b; dim b = c ^ d; dim t <= 9; dim c = 2; dim d = 3" => "a = 4";
    a_leaf_behind_two_kernels "leaf dim x; dim x = 2*o<+k; dim k = 3; dim o = 2*p<+l; dim l = 2; dim p <= 4" => "x = 17; o = 8";
    an_axis_of_a_leaf_row "leaf row ..x..; row ..x.. = i,c; dim i = 2*o; row o,c <= 5,7" => "x = <>,10,7";
    a_numerator_that_is_a_parameter "param dim v; leaf row ..r..; total 4*v = ..r..; row ..r.. <= 3,8" => "v = 6; r = <>,3,8";
    leaves_with_one_bound "leaf dim a; leaf dim b; dim a <= 3; dim b <= 3; dim a <= c; dim b <= c" => "a = 3; b = 3; c = 3";
    three_rows_of_a_total "leaf row ..b..; leaf row ..o..; leaf row ..i..; total 24 = ..b..;..o..;..i..; row ..o.. <= 2,2; row ..i.. <= 3" => "b = <>,2; o = <>,2,2; i = <>,3";
    rows_of_exact_axes "leaf row ..b..; leaf row ..o..; leaf row ..i..; exact 2,3 = ..b..;..o..;..i..; row ..o.. <= 3" => "b = <>,2; o = <>,3; i = <>";
    a_rotation_by_two_twice "leaf row ..x..; row ..x.. = a,b,..r..; row ..y.. = ..r..,a,b; row ..y.. = c,d,..s..; row ..z.. = ..s..,c,d; row ..z.. <= 2,3,4,5,6" => "x = 3,4,5,6,<>,2";
    the_first_guess_is_taken_back "discard b; dim 5 = a ^ b; dim a <= 3" => "a = 3; b = 2";
}
