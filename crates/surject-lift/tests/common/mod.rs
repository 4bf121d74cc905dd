//! Programs from text, run by the reference interpreter.

#![allow(dead_code)] // each test file uses a part

use surject_ir::{Buffer, DType, FieldKind, Program, Scalar};
use surject_lift::{ImportOptions, LiftError, import};

/// The program of a module.
pub fn lift(text: &str) -> Result<Program, LiftError> {
    let module = surject_stablehlo::parse(text).unwrap_or_else(|d| panic!("{}", d.render("test.mlir", text)));
    import(&module, &ImportOptions { function: None, file: "test.mlir", source: text.as_bytes() })
}

/// The program of a function with this signature and body.
pub fn lift_body(signature: &str, body: &str) -> Result<Program, LiftError> {
    lift(&format!("func.func @main{signature} {{\n{body}\n}}"))
}

/// The results of the first function of a module.
pub fn run(text: &str, args: &[Buffer]) -> Vec<Buffer> {
    let program = lift(text).unwrap_or_else(|e| panic!("{}", e.diagnostic().render("test.mlir", text)));
    run_program(&program, args)
}

/// The results of the first function of a program.
pub fn run_program(program: &Program, args: &[Buffer]) -> Vec<Buffer> {
    assert_kernels(program);
    surject_ir::verify(program).unwrap_or_else(|e| panic!("{e}"));
    let name = &program.main().unwrap().name;
    surject_ir::interp::run(program, name, args).unwrap_or_else(|e| panic!("{e}"))
}

/// The results of a function with this signature and body.
pub fn run_body(signature: &str, body: &str, args: &[Buffer]) -> Vec<Buffer> {
    run(&format!("func.func @main{signature} {{\n{body}\n}}"), args)
}

/// A tensor of integers.
pub fn ints(dtype: DType, shape: &[usize], values: &[i64]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_i128(dtype, v.into())).collect();
    Buffer::from_scalars(dtype, shape, &values).unwrap()
}

/// A tensor of `i32`.
pub fn i32s(shape: &[usize], values: &[i64]) -> Buffer {
    ints(DType::I32, shape, values)
}

/// A tensor of floats.
pub fn floats(dtype: DType, shape: &[usize], values: &[f64]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect();
    Buffer::from_scalars(dtype, shape, &values).unwrap()
}

/// A tensor of `f32`.
pub fn f32s(shape: &[usize], values: &[f64]) -> Buffer {
    floats(DType::F32, shape, values)
}

/// The elements as integers.
pub fn to_ints(buffer: &Buffer) -> Vec<i64> {
    (0..buffer.len()).map(|i| buffer.get(i).as_i128().unwrap() as i64).collect()
}

/// The elements as floats.
pub fn to_floats(buffer: &Buffer) -> Vec<f64> {
    (0..buffer.len()).map(|i| buffer.get(i).as_f64()).collect()
}

/// A generator of small numbers: the same ones in every run.
pub struct Random(pub u64);

impl Random {
    /// A number in `low..=high`.
    pub fn int(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    /// A tensor of small `i32`.
    pub fn tensor(&mut self, shape: &[i64]) -> Buffer {
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let values: Vec<i64> = (0..shape.iter().product()).map(|_| self.int(-9, 9)).collect();
        i32s(&shape, &values)
    }
}

/// Every point of a box, row-major.
pub fn points(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &n in shape {
        all = all
            .into_iter()
            .flat_map(|p: Vec<i64>| (0..n).map(move |i| [p.clone(), vec![i]].concat()))
            .collect();
    }
    all
}

/// The element of a tensor of integers at a point.
pub fn at(buffer: &Buffer, point: &[i64]) -> i64 {
    let flat = buffer.shape().iter().zip(point).fold(0, |flat, (&n, &i)| flat * n + i as usize);
    buffer.get(flat).as_i128().unwrap() as i64
}

/// `2x3xi32` for a shape.
pub fn ty(shape: &[i64]) -> String {
    format!("tensor<{}i32>", shape.iter().map(|n| format!("{n}x")).collect::<String>())
}

/// An accumulation below another operation writes through a projection, so that code generation and extraction
/// can recompute it where it is read.
pub fn assert_kernels(program: &Program) {
    for function in &program.functions {
        for (_, field) in function.fields.iter() {
            for child in field.kind.children() {
                if let FieldKind::Acc { map, .. } = &function.fields[child].kind {
                    assert!(map.is_projection().is_some(), "{map} below another operation");
                }
            }
        }
    }
}
