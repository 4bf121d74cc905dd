//! Passes over kernels: strided vectors become runs, branches on one condition become one.

use std::fmt::Write;
use surject_codegen::kernels::{branches, strided};
use surject_ir::{DType, Scalar};
use surject_kernel::interpret::{self, Tensor};
use surject_kernel::{Kernel, parse, verify};

/// The only kernel of a text.
fn parsed(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0)
}

/// What a kernel makes of some numbers, in `y`.
fn result(kernel: &Kernel, dtype: DType, elements: usize, results: usize) -> Vec<u8> {
    verify(kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    let numbers: Vec<Scalar> = (0..elements).map(|i| Scalar::from_i128(dtype, i as i128 - 3)).collect();
    let mut tensors = [Tensor::of(&numbers), Tensor::unwritten(dtype, results)];
    let found = interpret::run(kernel, &[], &mut tensors, &interpret::Options::default());
    found.unwrap_or_else(|fault| panic!("{fault}\n{kernel}"));
    let written = tensors[1].to_buffer(&[results]);
    written.unwrap_or_else(|| panic!("an element is not written\n{kernel}")).bytes().to_vec()
}

/// The columns of rows that lie so many elements apart, stored as rows without holes.
struct Columns {
    dtype: DType,
    stride: i64,
    columns: i64,
    lanes: i64,
    rows: i64,
}

impl Columns {
    fn kernel(&self) -> Kernel {
        let Columns { dtype, stride, columns, lanes, rows } = self;
        let blocks = (rows + lanes - 1) / lanes;
        let guard = format!("where 0 <= {lanes}*%0 + lane < {rows}");
        let (elements, results) = (self.elements(), rows * columns);
        let mut text = format!("kernel k(x: read {dtype}[{elements}], y: write {dtype}[{results}]) {{\n");
        let _ = writeln!(text, "for %0 = 0 to {blocks} {{");
        let first = if *stride < 0 { elements - columns } else { 0 };
        let place = |by: i64, first: i64| {
            let sign = if by < 0 { "-" } else { "+" };
            format!("{first} {sign} {}*%0 {sign} {}*lane", by.abs() * lanes, by.abs())
        };
        for j in 0..*columns {
            let at = place(*stride, first + j);
            let _ = writeln!(text, "%{} = load x[{at}] {guard} else 0 : {dtype}x{lanes}", j + 1);
        }
        for j in 0..*columns {
            let _ = writeln!(text, "store %{}, y[{}] {guard}", j + 1, place(*columns, j));
        }
        text.push_str("}\n}\n");
        parsed(&text)
    }

    fn elements(&self) -> i64 {
        (self.rows - 1) * self.stride.abs() + self.columns
    }
}

/// Rows of all lengths, apart or not, backwards too, some blocks of which are not whole.
#[test]
fn strided_vectors_are_runs() {
    let mut runs = 0;
    for dtype in [DType::I8, DType::I32, DType::I64] {
        for vector_bytes in [32, 64] {
            let register = vector_bytes as i64 / dtype.size() as i64;
            for lanes in [register / 2, register, 2 * register].into_iter().filter(|l| (4..=64).contains(l)) {
                for stride in [2, 3, 5, 7, 8, 9, 10, 13, 16, 17, 40, -1, -3, -20] {
                    for columns in [1, 2, 3, stride - 1, stride, 5].map(i64::abs) {
                        let whole = 2 * lanes;
                        let rows = if stride < 0 { whole } else { whole - 3 };
                        if !(1..=stride.abs()).contains(&columns) {
                            continue;
                        }
                        let columns = Columns { dtype, stride, columns, lanes, rows };
                        let kernel = columns.kernel();
                        let made = strided::runs(kernel.clone(), vector_bytes);
                        let of = |kernel: &Kernel| {
                            let results = (rows * columns.columns) as usize;
                            result(kernel, dtype, columns.elements() as usize, results)
                        };
                        assert_eq!(of(&kernel), of(&made), "{kernel}\n{made}");
                        runs += usize::from(!made.to_string().contains("*lane"));
                    }
                }
            }
        }
    }
    assert!(runs > 200, "{runs}");
}

/// A store between the columns that touches the same memory keeps them as they are.
#[test]
fn stores_that_others_come_between_stay() {
    let text = "kernel k(x: read f32[16], y: write f32[16]) {
  %0 = load x[lane] : f32x8
  %1 = load x[lane + 8] : f32x8
  store %0, y[2*lane]
  store %0, y[lane + 4]
  store %1, y[2*lane + 1]
}
";
    let kernel = parsed(text);
    let made = strided::runs(kernel.clone(), 32);
    assert_eq!(kernel.renumbered(), made);
}

#[test]
fn branches_on_one_condition_are_one() {
    let text = "kernel k(x: read f32[32], y: write f32[24]) {
  %0 = splat 0.0 : f32
  for %1 = 0 to 8 {
    %2 = load x[4*%1] : f32
    %3 = lt %2, %0 : i1
    %5 = if %3 {
      %4 = neg %2 : f32
      yield %4
    } else {
      yield %2
    } : f32
    store %5, y[3*%1]
    %6 = load x[4*%1 + 1] : f32
    %7 = add %6, %2 : f32
    %9 = if %3 {
      yield %7
    } else {
      %8 = neg %7 : f32
      yield %8
    } : f32
    store %9, y[3*%1 + 1]
    %11 = if %3 {
      %10 = neg %9 : f32
      yield %10
    } else {
      yield %9
    } : f32
    store %11, y[3*%1 + 2]
  }
}
";
    let kernel = parsed(text);
    let made = branches::joined(kernel.clone());
    assert_eq!(result(&kernel, DType::F32, 32, 24), result(&made, DType::F32, 32, 24), "{made}");
    // The last one needs what another one gives.
    assert_eq!(made.to_string().matches("if ").count(), 2, "{made}");
}
