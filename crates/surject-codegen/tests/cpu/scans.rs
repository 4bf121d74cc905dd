//! Windows that grow with their position, which are scans.

use crate::assignments::check_text;

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

/// Sums of few terms are scans as well, along rows and down columns.
#[test]
fn short_scans() {
    for n in [3, 5, 12] {
        for position in [format!("j + k - {}", n - 1), "j + k".to_string()] {
            let text = format!(
                "func main(x: f32[37,{n}], y: f32[{n},37]) -> (a, b) {{
  a : f32[37,{n}] =:+ over i<37, j<{n}, k<{n} at [i,j]: (x[i,{position}] where 0 <= {position} < {n} else -0.0f32)
  b : f32[{n},37] =:+ over i<37, j<{n}, k<{n} at [j,i]: (y[{position},i] where 0 <= {position} < {n} else -0.0f32)
}}
"
            );
            check_text(&text, &["scan"]);
        }
    }
}

#[test]
fn scans_beside_and_inside_of_others() {
    for (op, fill) in [("+", "-0.0f32"), ("min", "inf_f32")] {
        let sum = |at: &str, term: &str, position: &str| {
            format!(
                "({op} over i<7, j<41, k<41 at {at}: ({term}[i,{position}] where 0 <= {position} < 41 else {fill}))"
            )
        };
        let forwards = sum("[i,j]", "x", "j + k - 40");
        let reversed = sum("[i,-j + 40]", "x", "j + k - 40");
        let backwards = sum("[i,j]", "y", "j + k");
        for (value, words) in [
            // Read from the other end: one kernel.
            (format!("tanh({reversed} * 0.1f32)"), vec!["scan", "backwards"]),
            // Two of them: both are stored, or one of them is the kernel's own.
            (format!("{forwards} - {backwards} * 0.5f32"), vec!["scan", "forwards", "backwards"]),
            (format!("{reversed} + y[i,j] * {forwards}"), vec!["scan", "forwards", "backwards"]),
            // What is computed before and after it is done in lanes.
            (format!("tanh({forwards})"), vec!["scan", "lanes 16 along it"]),
            (
                forwards.replace("(x[i,j + k - 40] where", "(t[i,j + k - 40] where"),
                vec!["scan", "lanes 16 along it"],
            ),
            // Inside of another reduction, and beside one.
            ("x[i,j] + (max over i<7, j<41, l<41 at [i,j]: s[i,l])".to_string(), vec!["scan"]),
            (format!("{forwards} * (+ over i<7, j<41, l<41 at [i,j]: y[i,l])"), vec!["scan"]),
        ] {
            check_text(
                &format!(
                    "func main(x: f32[7,41], y: f32[7,41]) -> (z) {{
  let t : f32[7,41] =: over i<7, j<41: exp(y[i,j] * 0.1f32)
  let s : f32[7,41] =: over i<7, j<41: {forwards}
  z : f32[7,41] =: over i<7, j<41: {value}
}}
"
                ),
                &words,
            );
        }
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
