//! Short rows that are moved, and arithmetic and holes beside them.

use crate::harness::*;

/// Checks a program over `n` rows of `c` elements.
fn rows(dtype: &str, n: i64, c: i64, results: &[(&str, &str)]) {
    let (names, mut body) = (results.iter().map(|r| r.0).collect::<Vec<_>>().join(", "), String::new());
    for (i, (name, text)) in results.iter().enumerate() {
        let text =
            text.replace("DT", dtype).replace("N1", &(n - 1).to_string()).replace("N2", &(n + 3).to_string());
        let text = text.replace("C1", &(c - 1).to_string()).replace("C2", &(c + 2).to_string());
        let text = text.replace("{N}", &n.to_string()).replace("{C}", &c.to_string());
        body += &format!("  {name} : {text} @ \"{i}\"\n");
    }
    let text = format!(
        "func main(x: {dtype}[5,{n},{c}], y: {dtype}[5,{n}], w: {dtype}[{c}], on: i1[5,{n}]) -> ({names}) {{\n{body}}}\n"
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(program.functions[0].clone());
}

const MOVES: &[(&str, &str)] = &[
    ("back", "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: x[b,i,-k + C1]"),
    ("flipped", "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: x[b,-i + N1,k]"),
    ("twice", "DT[5,{N},2,{C}] =: over b<5, i<{N}, j<2, k<{C}: x[b,i,k]"),
    ("each", "DT[5,{N},{C},2] =: over b<5, i<{N}, k<{C}, j<2: x[b,i,k]"),
    ("gray", "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: y[b,i]"),
];

const VALUES: &[(&str, &str)] = &[
    ("first", "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: max(x[b,i,k], x[b,0,-k + C1])"),
    ("last", "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: x[b,i,k] + x[b,i,C1] * w[k]"),
    ("chosen", "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: select(on[b,-i + N1], x[b,i,k], x[b,i,-k + C1])"),
    (
        "count",
        "i32[5,{N},{C}] =: over b<5, i<{N}, k<{C}: select(on[b,i], index(k)i32, index(i)i32 - index(k)i32)",
    ),
    ("placed", "f32[5,{N},{C}] =: over b<5, i<{N}, k<{C}: f32(index(k)i32) + f32(x[b,i,-k + C1])"),
];

/// With holes at both ends of the rows, of what runs along them, and of what is around them.
const PADS: &[(&str, &str)] = &[
    (
        "rim",
        "DT[7,N2,C2] =: over b<7, i<N2, k<C2: \
        (x[b - 1,i - 1,k - 1] where 0 <= k - 1 < {C} and 0 <= i - 1 < {N} and 0 <= b - 1 < 5 else 1DT)",
    ),
    (
        "ends",
        "DT[5,N2,{C}] =: over b<5, i<N2, k<{C}: \
        (x[b,0,k] where 0 <= i < 2 else 0DT) + (x[b,i - 2,k] where 0 <= i - 2 < {N} else 0DT) + (x[b,N1,-k + C1] where 0 <= i - N1 - 3 < 1 else 0DT)",
    ),
    (
        "some",
        "DT[5,{N},{C}] =: over b<5, i<{N}, k<{C}: \
        (x[b,i,k] where 0 <= k - 1 < {C} else 0DT) + (y[b - 1,i] where 0 <= b - 1 < 5 else 2DT)",
    ),
];

#[test]
fn moves_of_short_rows() {
    for (dtype, n, c) in [
        ("u8", 130, 3),
        ("u8", 64, 3),
        ("f32", 16, 3),
        ("f32", 53, 5),
        ("bf16", 37, 3),
        ("f64", 41, 3),
        ("i1", 150, 3),
    ] {
        rows(dtype, n, c, MOVES);
    }
    rows("f32", 1, 3, MOVES);
    rows("f32", 35, 11, MOVES);
    rows("u8", 23, 21, MOVES);
}

#[test]
fn arithmetic_beside_short_rows() {
    for (dtype, n, c) in
        [("f32", 16, 3), ("f32", 53, 5), ("bf16", 37, 3), ("i32", 41, 7), ("f64", 19, 3), ("f32", 3, 2)]
    {
        rows(dtype, n, c, VALUES);
    }
}

#[test]
fn holes_beside_short_rows() {
    for (dtype, n, c) in [("u8", 70, 3), ("f32", 16, 3), ("f32", 31, 4), ("f64", 11, 1), ("i32", 100, 2)] {
        rows(dtype, n, c, PADS);
    }
}

/// Short rows of bytes, repeated and doubled: of these shuffles LLVM 22 makes no end on some machines unless it is told
/// what is fast.
#[test]
fn doubled_bytes() {
    for (dtype, width) in [("u8", 10), ("i8", 5), ("u8", 3), ("i8", 12)] {
        let text = format!(
            "func main(x: {dtype}[12,{width}]) -> (y, z) {{
  y : {dtype}[12,4,{width}] =: over i<12, j<4, k<{width}: x[i,k] + x[i,k]
  z : {dtype}[12,4,{width}] =: over i<12, j<4, k<{width}: x[i,k] * 3{dtype}
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}
