//! Sorts of many short lines, which are kernels of their own.

use crate::harness::*;
use crate::pointwise::special;
use surject_codegen::{Target, Thresholds};
use surject_ir::{Buffer, DType};

/// Sorts elements and their numbers along an axis by a comparator of `a`, `b` (elements) and `p`, `q` (numbers), on
/// special values, many of them the same; `first` of each line of both results are read. Gives the plan for wide
/// registers.
fn sorted(dtype: DType, shape: &[u64], axis: usize, comparator: &str, first: u64) -> String {
    let list = |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let mut leading = shape.to_vec();
    leading[axis] = first;
    let names = ["i", "j", "k"];
    let over =
        names.iter().zip(&leading).map(|(name, n)| format!("{name}<{n}")).collect::<Vec<_>>().join(", ");
    let (at, all, some) = (names[..shape.len()].join(","), list(shape), list(&leading));
    let text = format!(
        "func main(arg0: {dtype}[{all}], arg1: i32[{all}]) -> (x, y) {{
  s : {dtype}[{all}], t : i32[{all}] = call sort{{axis={axis}, stable=true}}(arg0, arg1) {{
    region(a: {dtype}[], b: {dtype}[], p: i32[], q: i32[]) -> (less) {{
      {comparator}
    }}
  }}
  x : {dtype}[{some}] =: over {over}: s[{at}]
  y : i32[{some}] =: over {over}: t[{at}]
}}
"
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let sizes: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    let mut elements = Buffer::zeros(dtype, &sizes);
    let mut numbers = Buffer::zeros(DType::I32, &sizes);
    let (values, mut next) = (special(dtype), states(1));
    for i in 0..elements.len() {
        elements.set(i, values[(next() >> 33) as usize % values.len()]);
        numbers.set(i, surject_ir::Scalar::from_i128(DType::I32, (i % 97) as i128));
    }
    let args = Some(vec![elements, numbers]);
    let eager = Target { thresholds: Thresholds::least(), ..Target::wide() };
    let targets = [Target::host(), half_lines(), Target::generic(), eager];
    check_on(program.functions[0].clone(), 0.0, args, &targets);
    lower(&program, "main", &Target::wide()).unwrap().plan.to_string()
}

const SHAPES: [(&[u64], usize); 5] =
    [(&[600, 2], 1), (&[3, 300], 0), (&[2, 5, 200], 1), (&[611, 7], 1), (&[9, 700], 0)];

#[test]
fn by_a_key() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_int() || d.is_bool()) {
        for (shape, axis) in SHAPES {
            for op in ["<", ">"] {
                let plan = sorted(dtype, shape, axis, &format!("less : i1[] =: a {op} b"), shape[axis]);
                assert!(plan.contains("sorted along"), "{dtype}: {plan}");
            }
        }
    }
    // Floats in the order of their bits: every NaN has its place.
    for (dtype, whole, bits) in [(DType::F32, "i32", 31), (DType::F64, "i64", 63)] {
        for (shape, axis) in SHAPES {
            let key = |of: &str| format!("xor({of}, shr_logical(shr_arith({of}, {bits}{whole}), 1{whole}))");
            let comparator = format!(
                "let t : {whole}[] =: bitcast {whole}(a)\n let u : {whole}[] =: bitcast {whole}(b)\n \
                 less : i1[] =: {} < {}",
                key("t"),
                key("u")
            );
            let plan = sorted(dtype, shape, axis, &comparator, shape[axis]);
            assert!(plan.contains("sorted along"), "{plan}");
        }
    }
}

#[test]
fn by_the_values_of_floats() {
    // Of what has no order a sort is some order; without it equal ones keep theirs, the two zeros included.
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for (shape, axis) in SHAPES {
            let known = |x: &str| format!("select({x} == {x}, {x}, 0{dtype})");
            let comparator = format!("less : i1[] =: {} < {}", known("a"), known("b"));
            sorted(dtype, shape, axis, &comparator, shape[axis]);
        }
    }
}

#[test]
fn by_two_values() {
    for (shape, axis) in SHAPES {
        let plan = sorted(DType::I8, shape, axis, "less : i1[] =: select(a == b, p > q, a < b)", shape[axis]);
        assert!(plan.contains("sorted along"), "{plan}");
    }
}

#[test]
fn the_first_of_a_line() {
    for first in [1, 2, 5] {
        for (shape, axis) in [(&[611u64, 7][..], 1), (&[20, 900], 0)] {
            let plan = sorted(DType::I16, shape, axis, "less : i1[] =: a > b", first);
            assert!(plan.contains("sorted along"), "{plan}");
        }
    }
}

/// Few lines, and long ones, are left to the run time.
#[test]
fn not_worth_a_kernel() {
    for (shape, axis) in [(&[6u64, 8][..], 1), (&[600, 40], 1)] {
        let plan = sorted(DType::I32, shape, axis, "less : i1[] =: a < b", shape[axis]);
        assert!(!plan.contains("sorted along"), "{plan}");
    }
}
