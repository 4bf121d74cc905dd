//! Programs in the text form, compiled and compared with the interpreter.

use crate::harness::*;
use surject_codegen::{Target, lower};

/// Checks a program, and that the plan for this many threads has these words.
fn check_text(text: &str, words: &[&str]) {
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let target = Target { threads: 2, ..Target::wide() };
    let plan = lower(&program, "main", &target).unwrap().plan.to_string();
    for word in words {
        assert!(plan.contains(word), "no `{word}` in\n{plan}");
    }
    for function in program.functions {
        check_with(function, 1e-4, None);
    }
}

#[test]
fn growing_windows_are_scans() {
    for (op, fill) in [("+", "-0.0f32"), ("max", "bits(0xff800000)f32"), ("*", "1.0f32")] {
        // Along the last axis, the first, and a middle one, with sizes that are no multiples of lanes.
        check_text(
            &format!(
                "func main(x: f32[5,37]) -> (y) {{\n  y : f32[5,37] =:{op} over i<5, j<37, k<37 at [i,j]: \
                 (x[i,j + k - 36] where 0 <= j + k - 36 < 37 else {fill})\n}}\n"
            ),
            &["scan"],
        );
        check_text(
            &format!(
                "func main(x: f32[29,83]) -> (y) {{\n  y : f32[29,83] =:{op} over i<29, j<83, k<29 at [i,j]: \
                 (x[i + k,j] where 0 <= i + k < 29 else {fill})\n}}\n"
            ),
            &["scan", "backwards"],
        );
        check_text(
            &format!(
                "func main(x: f32[3,70,21]) -> (y) {{\n  y : f32[3,70,21] =: over i<3, j<70, l<21: 2.0f32 * \
                 ({op} over i<3, j<70, l<21, k<70 at [i,j,l]: \
                 (x[i,j + k - 69,l] where 0 <= j + k - 69 < 70 else {fill})) + x[i,j,l]\n}}\n"
            ),
            &["scan"],
        );
    }
}

#[test]
fn other_windows_are_not() {
    // The window is shorter than the line, or starts earlier, or its terms depend on the output.
    for (window, first) in [(20, 19), (37, 30), (50, 49)] {
        check_text(
            &format!(
                "func main(x: f32[37]) -> (y) {{\n  y : f32[37] =:+ over j<37, k<{window} at [j]: \
                 (x[j + k - {first}] where 0 <= j + k - {first} < 37 else -0.0f32)\n}}\n"
            ),
            &[],
        );
    }
    check_text(
        "func main(x: f32[37], y: f32[37]) -> (z) {\n  z : f32[37] =:+ over j<37, k<37 at [j]: \
         (x[j + k - 36] where 0 <= j + k - 36 < 37 else -0.0f32) * y[k]\n}\n",
        &[],
    );
}
