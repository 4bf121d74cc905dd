//! Gathers of what is computed.

use crate::harness::*;
use surject_codegen::Target;
use surject_ir::{Buffer, DType, Function, Program, Scalar};

const ROWS: &str = "call gather{offset_dims=[1], collapsed_slice_dims=[0], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=1, slice_sizes=[1,40], indices_are_sorted=false}";
const COLUMNS: &str = "call gather{offset_dims=[0], collapsed_slice_dims=[1], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[1], index_vector_dim=1, slice_sizes=[100,1], indices_are_sorted=false}";
const BOXES: &str = "call gather{offset_dims=[1,2], collapsed_slice_dims=[], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[1,0], index_vector_dim=1, slice_sizes=[3,9], indices_are_sorted=false}";
const POINTS: &str = "call gather{offset_dims=[], collapsed_slice_dims=[0,1], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[0,1], index_vector_dim=1, slice_sizes=[1,1], indices_are_sorted=false}";
const EACH: &str = "call gather{offset_dims=[], collapsed_slice_dims=[1], operand_batching_dims=[0], \
start_indices_batching_dims=[0], start_index_map=[1], index_vector_dim=1, slice_sizes=[1,1], indices_are_sorted=false}";

/// What is gathered from, over `i<100, j<40`.
const COMPUTED: &[&str] = &[
    "exp(x[i + 1,2*j + 3])",
    "x[-i + 101,-j + 89] * w[j]",
    "(x[i - 3,j - 1] where 0 <= i - 3 < 90 and 0 <= j - 1 < 37 else 2f32)",
    "(x[i,j] where 0 <= i < 60 else -0f32) + (x[-i + 99,j] where 0 <= i - 60 < 40 else -0f32)",
    "f32(index(i)i32) * 0.5f32 + f32(index(j)i32) - w[j]",
    "(x[5*i - 11,j] where 0 <= 5*i - 11 < 83 else 1f32)",
    "(x[i,2*j - 7] where 0 <= 2*j - 7 < 50 else 0f32) + (w[i] where 0 <= i < 40 else 3f32)",
];

fn program(computed: &str, gather: &str, index: &str, indices: &str, out: &str) -> Function {
    let text = format!(
        "func main(x: f32[102,90], w: f32[40], ids: {index}[{indices}]) -> (y) {{
  t : f32[100,40] =: over i<100, j<40: {computed}
  y : f32[{out}] = {gather}(t, ids)
}}
"
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    program.functions[0].clone()
}

/// With indices inside, at the ends, and beyond them.
fn checked(f: Function, index: DType) {
    let mut args: Vec<Buffer> = (0..3).map(|i| values(f.ty(f.params[i]), i as u64 + 3)).collect();
    for i in 0..args[2].len() {
        let at = [0, 1, 2, 3, 4, 37, 38, 39, 41, 59, 60, 61, 92, 93, 99, 100, 120, -1, -60][i * 7 % 19];
        let at = if index.is_signed_int() { at } else { i128::abs(at) };
        args[2].set(i, Scalar::from_i128(index, at));
    }
    check_with(f, 1e-5, Some(args));
}

#[test]
fn what_is_gathered_is_computed_there() {
    for computed in COMPUTED {
        checked(program(computed, ROWS, "i32", "21,1", "21,40"), DType::I32);
        checked(program(computed, ROWS, "u64", "50,1", "50,40"), DType::U64);
        checked(program(computed, COLUMNS, "i8", "11,1", "100,11"), DType::I8);
        checked(program(computed, BOXES, "i64", "23,2", "23,3,9"), DType::I64);
        checked(program(computed, POINTS, "i32", "1900,2", "1900"), DType::I32);
        checked(program(computed, EACH, "i32", "100,1", "100"), DType::I32);
    }
}

/// What something else needs as well is stored, and so is what most is asked of.
#[test]
fn gathers_in_plans() {
    let plan = |f: Function| {
        let program = Program { name: String::new(), functions: vec![f] };
        lower(&program, "main", &Target::wide()).unwrap().plan.to_string()
    };
    let few = program(COMPUTED[0], ROWS, "i32", "21,1", "21,40");
    let many = program(COMPUTED[0], ROWS, "i32", "51,1", "51,40");
    let mut twice = few.clone();
    let stored = twice.body.statements[0].targets()[0];
    twice.body.results.push(stored);
    insta::assert_snapshot!(format!("few\n{}\nmany\n{}\ntwice\n{}", plan(few), plan(many), plan(twice)));
}
