//! Programs in the text form, compiled and compared with the interpreter.

use crate::harness::*;
use surject_codegen::Target;
use surject_ir::{Buffer, DType, Scalar};

/// Checks a program, and that the plan for this many threads has these words.
pub fn check_text(text: &str, words: &[&str]) {
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let target = Target { threads: 2, ..Target::wide() };
    let plan = lowered(&program, "main", &target).plan.to_string();
    for word in words {
        assert!(plan.contains(word), "no `{word}` in\n{plan}");
    }
    for function in program.functions {
        check_with(function, 1e-4, None);
    }
}

#[test]
fn arithmetic_on_two_values_in_tiles() {
    for (op, body) in [
        ("+", "(x[i,k] - y[j,k]) * (x[i,k] - y[j,k])"),
        ("max", "x[i,k] + y[j,k]"),
        ("min", "x[i,k] * y[j,k]"),
        ("+", "max(x[i,k], y[j,k] * x[i,k])"),
    ] {
        for (rows, columns, sum) in [(33, 37, 41), (16, 64, 40)] {
            check_text(
                &format!(
                    "func main(x: f32[{rows},{sum}], y: f32[{columns},{sum}]) -> (z) {{\n  z : f32[{rows},{columns}] =: \
                     over i<{rows}, j<{columns}: 2.0f32 + ({op} over i<{rows}, j<{columns}, k<{sum} at [i,j]: {body})\n}}\n"
                ),
                &["kernel `product`"],
            );
        }
    }
    // The term needs a position of each side, or both sides in one leaf: no tiles, or others.
    check_text(
        "func main(x: f32[33,41], y: f32[73]) -> (z) {\n  z : f32[33,33] =: over i<33, j<33: \
         (+ over i<33, j<33, k<41 at [i,j]: x[i,k] - y[j + k] * x[j,k])\n}\n",
        &[],
    );
}

#[test]
fn large_values_made_of_little_are_not_stored() {
    check_text(
        "func main(x: f32[66,61], y: f32[69,61]) -> (z) {\n  \
         let t : f32[66,69,61] =: over i<66, j<69, k<61: x[i,k] - y[j,k]\n  \
         z : f32[66,69] =: over i<66, j<69: sqrt((+ over i<66, j<69, k<61 at [i,j]: t[i,j,k] * t[i,j,k]))\n}\n",
        &["kernel `product`"],
    );
    // Read twice, it is stored.
    check_text(
        "func main(x: f32[66,61], y: f32[69,61]) -> (z, w) {\n  \
         t : f32[66,69,61] =: over i<66, j<69, k<61: x[i,k] - y[j,k]\n  \
         z : f32[66,69] =: over i<66, j<69: sqrt((+ over i<66, j<69, k<61 at [i,j]: t[i,j,k] * t[i,j,k]))\n  \
         w : f32[61] =:+ over i<66, j<69, k<61 at [k]: t[i,j,k]\n}\n",
        &[],
    );
}

#[test]
fn few_rows_by_columns_that_do_not_fill_a_panel() {
    for (columns, sum) in [(39, 128), (30, 160), (129, 40), (64, 70)] {
        check_text(
            &format!(
                "func main(x: f32[7,{sum}], y: f32[{sum},{columns}]) -> (z) {{\n  z : f32[7,{columns}] =: over i<7, \
                 j<{columns}: (+ over i<7, j<{columns}, k<{sum} at [i,j]: x[i,k] * y[k,j]) + x[i,0]\n}}\n"
            ),
            &["kernel `product`"],
        );
    }
}

/// A small network for images: what its layers and their gradients are as assignments.
#[test]
fn layers_of_a_small_network() {
    let cases = [
        // Convolution with padding, and its weight gradient along the padded map.
        (
            "func main(x: f32[4,8,8,3], k: f32[3,3,3,16], b: f32[16]) -> (y) {\n  \
             y : f32[4,8,8,16] =: over n<4, h<8, w<8, o<16: max((+ over n<4, h<8, w<8, o<16, i<3, j<3, c<3 at [n,h,w,o]: \
             (x[n,h + i - 1,w + j - 1,c] where 0 <= h + i - 1 < 8 and 0 <= w + j - 1 < 8 else 0.0f32) * k[i,j,c,o]) + b[o], 0.0f32)\n}\n",
            "kernel `product`",
        ),
        (
            "func main(x: f32[16,8,8,6], g: f32[16,8,8,16]) -> (k) {\n  \
             k : f32[5,5,6,16] =:+ over n<16, h<8, w<8, i<5, j<5, c<6, o<16 at [i,j,c,o]: \
             (x[n,h + i - 2,w + j - 2,c] where 0 <= h + i - 2 < 8 and 0 <= w + j - 2 < 8 else 0.0f32) * g[n,h,w,o]\n}\n",
            "kernel `product`",
        ),
        // The input gradient: a push into the padded space, of which the inside is read.
        (
            "func main(g: f32[4,8,8,16], k: f32[3,3,6,16]) -> (x) {\n  \
             p : f32[4,10,10,6] =:+ over n<4, h<8, w<8, i<3, j<3, c<6, o<16 at [n,h + i,w + j,c]: g[n,h,w,o] * k[i,j,c,o]\n  \
             x : f32[4,8,8,6] =: over n<4, h<8, w<8, c<6: p[n,h + 1,w + 1,c]\n}\n",
            "kernel `product`",
        ),
        // With a stride, odd and even windows.
        (
            "func main(g: f32[8,4,4,16], k: f32[3,3,6,16]) -> (x) {\n  \
             p : f32[8,9,9,6] =:+ over n<8, h<4, w<4, i<3, j<3, c<6, o<16 at [n,2*h + i,2*w + j,c]: g[n,h,w,o] * k[i,j,c,o]\n  \
             x : f32[8,8,8,6] =: over n<8, h<8, w<8, c<6: p[n,h + 1,w + 1,c]\n}\n",
            "kernel `product`",
        ),
        // Average pooling backwards: every element gets one term.
        (
            "func main(g: f32[5,4,4,12]) -> (x) {\n  \
             x : f32[5,8,8,12] =:+ over n<5, h<4, w<4, i<2, j<2, c<12 at [n,2*h + i,2*w + j,c]: g[n,h,w,c] * 0.25f32\n}\n",
            "row",
        ),
        // Maximum pooling and its gradient by comparison.
        (
            "func main(x: f32[5,8,8,12], g: f32[5,4,4,12]) -> (m, d) {\n  \
             m : f32[5,4,4,12] =:max over n<5, h<4, w<4, c<12, i<2, j<2 at [n,h,w,c]: x[n,2*h + i,2*w + j,c]\n  \
             d : f32[5,8,8,12] =:+ over n<5, h<4, w<4, i<2, j<2, c<12 at [n,2*h + i,2*w + j,c]: \
             select(x[n,2*h + i,2*w + j,c] == m[n,h,w,c], g[n,h,w,c], 0.0f32)\n}\n",
            "row",
        ),
        // Overlapping windows with a stride, backwards.
        (
            "func main(g: f32[5,4,4,12]) -> (x) {\n  \
             x : f32[5,9,9,12] =:+ over n<5, h<4, w<4, i<3, j<3, c<12 at [n,2*h + i,2*w + j,c]: g[n,h,w,c] * 0.25f32\n}\n",
            "row",
        ),
    ];
    for (text, word) in cases {
        check_text(text, &[word]);
    }
}

/// Conditions on the last loop cut it into parts in which they are known.
#[test]
fn pieces_side_by_side() {
    // A concatenation of a padded and reversed tensor, one from an offset on, and one as it is.
    check_text(
        "func main(a: f32[5,37], b: f32[5,37]) -> (y) {\n  y : f32[5,111] =: over i<5, j<111: \
         (a[i,-j + 37] where 0 <= -j + 37 < 37 else -0.0f32) + (b[i,j - 37] where 0 <= j - 40 < 34 else -0.0f32) \
         + (a[i,j - 74] where 0 <= j - 74 < 37 else -0.0f32)\n}\n",
        &[],
    );
    check_text(
        "func main(a: f32[3,4]) -> (y, z) {\n  \
         y : f32[3,40] =: over i<3, j<40: exp((a[i,j - 17] where 0 <= j - 17 < 4 else 1.5f32))\n  \
         z : f32[40] =: over j<40: (+ over j<40, i<3 at [j]: (a[i,j - 36] where 0 <= j - 36 < 4 else 2.0f32))\n}\n",
        &[],
    );
}

/// Rows of several loops, the last of which fills panels: weights of a convolution, and a transposed operand.
#[test]
fn rows_along_the_last_of_several_loops() {
    check_text(
        "func main(x: f32[5,9,8,16], g: f32[5,9,8,24]) -> (k) {\n  \
         k : f32[3,3,16,24] =:+ over i<3, j<3, c<16, o<24, n<5, h<9, w<8 at [i,j,c,o]: \
         (x[n,h + i - 1,w + j - 1,c] where 0 <= h + i - 1 < 9 and 0 <= w + j - 1 < 8 else 0.0f32) * g[n,h,w,o]\n}\n",
        &["kernel `product`"],
    );
    check_text(
        "func main(x: f32[7,6,40], g: f32[7,33]) -> (z) {\n  \
         z : f32[6,40,33] =:+ over i<6, j<40, k<33, n<7 at [i,j,k]: exp(x[n,i,j]) * g[n,k]\n}\n",
        &["kernel `product`"],
    );
}

#[test]
fn what_inner_loops_alone_say_is_computed_once() {
    // In a sum over rows, beside it, inside of a reduction of its own, and where a guard keeps it from some points.
    for value in [
        "(+ over i<400, j<60 at [i]: x[i,j] * tanh(y[j]))",
        "(max over i<400, j<60 at [i]: x[i,j] - (+ over i<400, j<60, k<33 at [i,j]: exp(z[k,j])))",
        "(+ over i<400, j<60 at [i]: (tanh(y[j - 3]) where 0 <= j - 3 < 50 else 0.0f32) * x[i,j])",
    ] {
        let value = if value.contains("where") {
            value.replace("(tanh(y[j - 3]) where", "(t[j - 3] where")
        } else {
            value.to_string()
        };
        check_text(
            &format!(
                "func main(x: f32[400,60], y: f32[60], z: f32[33,60]) -> (r) {{
  let t : f32[60] =: over j<60: tanh(y[j])
  r : f32[400] =: over i<400: {value}
}}
"
            ),
            &["temporary0"],
        );
    }
    // Nothing is gained where the value is cheap, or is there once for every row.
    for value in [
        "(+ over i<400, j<60 at [i]: x[i,j] * (y[j] + 1.0f32))",
        "(+ over i<400, j<60 at [i]: tanh(x[i,0]) * y[j])",
    ] {
        let program = format!(
            "func main(x: f32[400,60], y: f32[60]) -> (r) {{\n  r : f32[400] =: over i<400: {value}\n}}\n"
        );
        let plan =
            lower(&surject_ir::parse(&program).unwrap(), "main", &Target::wide()).unwrap().plan.to_string();
        assert!(!plan.contains("temporary"), "{plan}");
    }
}

/// A reshape between shapes that have no common refinement is read in place; of what is computed before one only the
/// elements that are read are computed.
#[test]
fn what_is_numbered_anew_is_read_in_place() {
    let text =
        |body: &str| format!("func main(x: f32[30,7,12], y: f32[30,7,12], c: i1[]) -> (z) {{\n{body}\n}}\n");
    let view = text(
        "  let t : f32[2520] =:set over i<30, j<7, k<12 at [84*i + 12*j + k]: x[i,j,k]
  z : f32[8,5,63] =: over i<8, j<5, k<63: t[315*i + 63*j + k] - t[315*i - k + 62] * 2.0f32",
    );
    let few = text(
        "  t : f32[2520] =:set over i<30, j<7, k<12 at [84*i + 12*j + k]: tanh(x[i,j,k]) * y[i,j,k]
  z : f32[6,5] =:+ over i<6, j<5, k<3 at [i,j]: t[66*i + 5*j + k]",
    );
    for text in [view, few] {
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
        assert_eq!(plan.matches("kernel_").count(), 1, "{plan}");
        check_text(&text, &[]);
    }
    // Half of the elements are read, or in another order than they are numbered in.
    let half = text(
        "  t : f32[2520] =:set over i<30, j<7, k<12 at [84*i + 12*j + k]: tanh(x[i,j,k])
  z : f32[1200] =: over i<1200: t[2*i]",
    );
    let turned = text(
        "  t : f32[2520] =:set over i<30, j<7, k<12 at [84*i + j + 7*k]: x[i,j,k]
  z : f32[8,5,63] =: over i<8, j<5, k<63: t[315*i + 63*j + k]",
    );
    for text in [half, turned] {
        check_text(&text, &["t@"]);
    }
}

/// Two sums along loops of one length, of which one stands further in: they do not run together.
#[test]
fn sums_at_different_depths() {
    check_text(
        "func main(x: i32[3,1]) -> (t) {
  let s : i32[2,2,3] =:xor over i<3, j<1 at [0,0,-i + 2]: x[i,j] + x[i,j]
  t : i32[5,4] =:+ over i<3, j<1, k<2, l<2 at [3*k,2*k]: x[i,0] + s[k,l,i]
}
",
        &[],
    );
}

/// Where the elements of a tensor with holes are is known when a program is loaded: the clearing and what follows. Its
/// strides are too many for positions taken apart.
#[test]
fn places_of_elements_are_known_beforehand() {
    let text = "func main(x: f32[30,20]) -> (z) {
  t : f32[146,77] =:+ over i<30, j<20 at [5*i,4*j]: x[i,j]
  m : i1[146,77] =:or over i<30, j<20 at [5*i,4*j]: true
  z : f32[148,79] =: over i<148, j<79: select((m[i - 1,j - 2] where 0 <= i - 1 < 146 and 0 <= j - 2 < 77 else false), \
                (t[i - 1,j - 2] where 0 <= i - 1 < 146 and 0 <= j - 2 < 77 else 0.0f32), 0.5f32)
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
    let load = plan.split("run").next().unwrap_or_default();
    assert_eq!((load.matches("kernel_").count(), plan.matches("kernel_").count()), (2, 5), "{plan}");
    check_text(text, &[]);
}

/// Columns that are windows next to each other are read where they lie, by one row and by several, from a tensor with a
/// frame where they reach beyond one; and so are the windows of a weight gradient, whose rows become one loop by it.
#[test]
fn windows_lie_where_they_are() {
    for (rows, n, taps, stride) in [(1, 41, 5, 1), (3, 32, 3, 1), (3, 40, 4, 2), (20, 17, 3, 1)] {
        let size = n * stride;
        let text = format!(
            "func main(x: f32[2,24,{size},{n}], w: f32[{rows},24,{taps},{taps}]) -> (y) {{
  y : f32[2,{rows},{n},{n}] =:+ over b<2, o<{rows}, i<{n}, j<{n}, c<24, k<{taps}, l<{taps} at [b,o,i,j]: \
                (x[b,c,{stride}*i + k - 1,j + l - 1] where 0 <= {stride}*i + k - 1 < {size} and 0 <= j + l - 1 < {n} \
                else 0.0f32) * w[o,c,k,l]
}}
"
        );
        check_text(&text, &[]);
    }
    for (channels, outputs, n) in [(3, 32, 30), (4, 8, 25), (5, 24, 33)] {
        let text = format!(
            "func main(x: f32[4,{n},{n},{channels}], y: f32[4,{n},{n},{outputs}]) -> (w) {{
  w : f32[3,3,{channels},{outputs}] =:+ over k<3, l<3, c<{channels}, o<{outputs}, b<4, i<{n}, j<{n} at [k,l,c,o]: \
                (x[b,i + k - 1,j + l - 1,c] where 0 <= i + k - 1 < {n} and 0 <= j + l - 1 < {n} else 0.0f32) * y[b,i,j,o]
}}
"
        );
        check_text(&text, &["kernel `product`"]);
    }
}

/// The same in a chain, where the rows are those of a part and packed, or there as a whole.
#[test]
fn windows_beside_rows_of_a_chain() {
    for (rows, terms) in [(64, 16), (48, 9)] {
        check_text(
            &format!(
                "func main(x: f32[{terms},34,34], v: f32[{rows},{terms},3,3], u: f32[{rows}]) -> (y, z) {{
  let w : f32[{rows},{terms},3,3] =: over o<{rows}, c<{terms}, k<3, l<3: exp(v[o,c,k,l]) * u[o]
  let s : f32[{rows}] =:+ over o<{rows}, c<{terms}, k<3, l<3 at [o]: w[o,c,k,l]
  let n : f32[{rows},{terms},3,3] =: over o<{rows}, c<{terms}, k<3, l<3: w[o,c,k,l] / s[o]
  y : f32[{rows},32,32] =:+ over o<{rows}, i<32, j<32, c<{terms}, k<3, l<3 at [o,i,j]: n[o,c,k,l] * x[c,i + k,j + l]
  z : f32[{rows},32,32] =: over o<{rows}, i<32, j<32: tanh(y[o,i,j])
}}
"
            ),
            &[],
        );
    }
}

/// Rows of repeated bytes beside their permutations: one constant, open in other lanes each time, once kept LLVM from
/// coming to an end.
#[test]
fn repeated_bytes_beside_their_permutations() {
    for (dtype, op) in [("u8", "max"), ("i8", "min")] {
        let text = format!(
            "func main(x: {dtype}[5,3,3]) -> (t) {{
  let s : i1[5,3,3] =: over i<5, j<3, k<3: {op}(2{dtype}, x[i,j,k]) != (set over i<5, j<3, k<3 at [i,k,-j + 2]: x[i,j,k])
  t : i1[5,3,3,4,1] =: over i<5, j<3, k<3, l<4, m<1: s[i,j,k]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_on(program.functions[0].clone(), 0.0, None, &[Target { threads: 1, ..Target::wide() }]);
    }
}

/// What is sent to a diagonal is summed first: an element of 16 bits is rounded once.
#[test]
fn sums_of_halves_are_rounded_once() {
    for dtype in ["bf16", "f16", "f32"] {
        let text = format!(
            "func main(x: {dtype}[12,3,8]) -> (t) {{
  t : {dtype}[4,4,4] =:+ over i<12, j<3, k<8, l<8 at [j + 1,j,j]: x[i,j,k] + x[i,j,l]
}}
"
        );
        check_text(&text, &[]);
    }
}

/// A tensor with holes is read at positions of which every other one is a hole, whether or not their number is even,
/// whatever lies around it: the sums of the holes alone are made once.
#[test]
fn windows_over_holes_skip_them() {
    for (n, reach) in [(8, 0), (9, 0), (10, 2), (9, 2)] {
        let (holes, taps, dilation) = (2 * n - 1, reach + 1, 2);
        let size = holes + reach * dilation + 1;
        let text = format!(
            "func main(x: f32[{n},40], w: f32[{taps},40,24]) -> (z) {{
  t : f32[{holes},40] =:+ over i<{n}, c<40 at [2*i,c]: x[i,c]
  z : f32[{size},24] =:+ over i<{size}, o<24, k<{taps}, c<40 at [i,o]: \
                (t[i + {dilation}*k - {reach},c] where 0 <= i + {dilation}*k - {reach} < {holes} else 0.0f32) * w[k,c,o]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let plan = lowered(&program, "main", &Target::wide()).plan.to_string();
        assert!(!plan.contains(&format!("row [{holes} 40")), "{plan}");
        check_text(&text, &[]);
    }
}

/// Windows in one piece of memory, with a stride, and with conditions at the border.
#[test]
fn windows_with_few_columns() {
    for (dtype, zero, columns, terms) in [
        ("f32", "0.0f32", 3, 20),
        ("f32", "0.0f32", 3, 7),
        ("f32", "0.0f32", 2, 9),
        ("f32", "0.0f32", 4, 33),
        ("f64", "0.0f64", 2, 9),
        ("i32", "0i32", 3, 36),
    ] {
        for (n, step, ahead) in [(166, 1, 0), (170, 2, 0), (164, 1, 1)] {
            let points = (n + 2 * ahead - 3) / step + 1;
            let at = format!("{step}*j + k - {ahead}");
            let text = format!(
                "func main(x: {dtype}[{n},{terms}], w: {dtype}[3,{terms},{columns}]) -> (y) {{
  y : {dtype}[{points},{columns}] =:+ over j<{points}, o<{columns}, k<3, c<{terms} at [j,o]: \
                (x[{at},c] where 0 <= {at} < {n} else {zero}) * w[k,c,o]
}}
"
            );
            check_text(&text, &[]);
        }
    }
}

/// What holes alone sum to is not nothing where a factor is infinite. Phases make theirs of one sum over the channels
/// for every output and tap.
#[test]
fn sums_of_holes_are_made_of_pieces() {
    let n = 7;
    let text = format!(
        "func main(x: f32[{n},48], w: f32[48,64,3]) -> (z) {{
  t : f32[{},48] =:+ over i<{n}, c<48 at [2*i,c]: x[i,c]
  z : f32[{},64] =:+ over i<{}, o<64, k<3, c<48 at [i,o]: \
                (t[i + k - 1,c] where 0 <= i + k - 1 < {} else 0.0f32) * w[c,o,-k + 2]
}}
",
        2 * n,
        2 * n,
        2 * n,
        2 * n,
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
    assert!(plan.contains("row [192/64]"), "{plan}");
    let function = program.functions[0].clone();
    let mut args: Vec<Buffer> =
        function.params.iter().enumerate().map(|(i, &p)| values(function.ty(p), i as u64 + 7)).collect();
    check_with(function.clone(), 1e-4, Some(args.clone()));
    for (at, value) in
        [(5, f32::INFINITY), (64 * 3 * 40 + 7, f32::NAN), (64 * 3 * 47 + 100, f32::NEG_INFINITY)]
    {
        args[1].set(at, Scalar::from_f64(DType::F32, value.into()));
    }
    check_with(function, 1e-4, Some(args));
}

/// A piece may be one element.
#[test]
fn pieces_of_one_element() {
    check_text(
        "func main(x: f64[6,3,2]) -> (v) {
  let t : f64[6,7] =: over i<6, j<7: tanh((min over i<6, j<3, k<2 at [j + 2*k,3*j]: x[i,j,k]))
  v : f64[2,6,7] =:max over i<3, j<2, k<7, l<6 at [j,l,k]: t[3*j + i,k] + x[l,i,j]
}
",
        &[],
    );
}

/// Columns of several loops beside rows of one, long tiles, and more done with the sum than stored: what stores tiles
/// is a function that knows all of these loops.
#[test]
fn columns_of_several_loops() {
    for (n, rows, terms, m) in [(3, 90, 130, 483), (5, 41, 200, 50), (2, 17, 300, 33)] {
        let text = format!(
            "func main(x: f32[{n},{terms},{m}], w: f32[{rows},{terms}], b: f32[{rows}]) -> (y, z) {{
  y : f32[{n},{rows},{m}] =:+ over i<{n}, o<{rows}, j<{m}, k<{terms} at [i,o,j]: w[o,k] * x[i,k,j]
  z : f32[{n},{rows},{m}] =: over i<{n}, o<{rows}, j<{m}: max((+ over i<{n}, o<{rows}, j<{m}, k<{terms} at [i,o,j]: w[o,k] * x[i,k,j]) + b[o], 0f32)
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-4, None);
    }
}

/// What is joined of no points is the neutral element, though the term is the same wherever it would be.
#[test]
fn constants_over_nothing() {
    for (dtype, one) in [("f32", "1.0f32"), ("i32", "1i32"), ("bf16", "1bf16")] {
        for op in ["min", "max", "+", "*"] {
            let text = format!(
                "func main(x: {dtype}[0,2]) -> (y, z) {{
  let t : {dtype}[2,2] =:* over i<0, j<2 at [2*i + j,-j + 1]: x[i,j]
  y : {dtype}[2] =:{op} over i<0, j<2, k<2 at [j]: x[i,j] + t[j,k]
  z : {dtype}[4] =:{op} over i<4, j<0, k<2 at [i]: {one}
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check(program.functions[0].clone());
        }
    }
}

/// A value that is worth storing by itself, and is not there at all, as nothing is summed.
#[test]
fn values_of_an_empty_sum() {
    check_text(
        "func main(x: i1[2,4,5]) -> (y) {
  let t : i1[2,4,5] =: over i<2, j<4, k<5: select(x[i,j,k], x[i,j,k], x[i,j,k])
  y : i1[3] =:xor over i<0, j<3, k<3 at [j]: t[-j + 2*k - 1,k - 1,2*i - 2*j - 1]
}
",
        &[],
    );
}

/// The gradient of the weights of a convolution, summed by all values of a loop, of which no loop is left.
#[test]
fn long_sums_are_cut_by_whole_loops() {
    let text = "func main(x: f32[26,42,41,3], y: f32[26,40,40,8]) -> (z) {
  z : f32[3,2,3,8] =:+ over a<3, b<2, c<3, o<8, n<26, h<40, w<40 at [a,b,c,o]: x[n,h + a,w + b,c] * y[n,h,w,o]
}
";
    check_text(text, &["kernel `product`"]);
}
