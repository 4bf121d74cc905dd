//! Passes over kernels: strided vectors become runs, branches on one condition become one.

use std::fmt::Write;
use surject_codegen::kernels::{branches, quotients, strided};
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

/// Rows without holes, whose columns are made of columns of other rows, of constants, and of each other.
fn rows_of(seed: u64, columns: i64, stride: i64, rows: i64) -> Kernel {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let guard = format!("where 0 <= 8*%0 + lane < {rows}");
    let elements = rows * stride.abs() + columns;
    let mut text = format!("kernel k(x: read i32[{elements}], y: write i32[{}]) {{\n", rows * columns);
    let _ = writeln!(text, "for %0 = 0 to {} {{", (rows + 7) / 8);
    let first = if stride < 0 { (rows - 1) * -stride } else { 0 };
    for j in 0..columns {
        let from = below(stride.unsigned_abs()) as i64 + first;
        let sign = if stride < 0 { '-' } else { '+' };
        let by = stride.abs();
        let _ = writeln!(
            text,
            "%{} = load x[{from} {sign} {}*%0 {sign} {by}*lane] {guard} else 0 : i32x8",
            j + 1,
            8 * by
        );
        let _ = writeln!(text, "%{} = splat {} : i32x8", j + 1 + columns, below(9));
    }
    let mut known = 2 * columns;
    for _ in 0..3 {
        let [x, y] = [(); 2].map(|()| below(2) as i64 * columns);
        let [a, b] = [(); 2].map(|()| below(columns as u64) as i64);
        let before = known - columns;
        for j in 0..columns {
            // Operands in order, the same one for all columns, or those of the step before.
            let operand = |part: i64, fixed: i64, which: u64| match which {
                0 => part + j + 1,
                1 => part + fixed + 1,
                _ => before + j + 1,
            };
            let [p, q] =
                [(x, a, seed % 3), (y, b, (seed / 3 + known as u64) % 3)].map(|(p, f, w)| operand(p, f, w));
            let op = ["add", "mul", "max"][(seed / 9 % 3) as usize];
            let _ = writeln!(text, "%{} = {op} %{p}, %{q} : i32x8", known + j + 1);
        }
        known += columns;
    }
    for j in 0..columns {
        let value = known - columns + (j + seed as i64) % columns + 1;
        let _ = writeln!(text, "store %{value}, y[{}*%0 + {columns}*lane + {j}] {guard}", 8 * columns);
    }
    text.push_str("}\n}\n");
    parsed(&text)
}

#[test]
fn rows_that_are_made_of_columns_are_runs() {
    let mut runs = 0;
    for seed in 0..400 {
        for (columns, stride) in [(2, 2), (3, 3), (3, -3), (4, 5), (3, 8), (5, -6), (7, 7)] {
            for rows in [16, 13] {
                let kernel = rows_of(seed, columns, stride, rows);
                let made = strided::runs(kernel.clone(), 32);
                let elements = (rows * stride.abs() + columns) as usize;
                let of = |k: &Kernel| result(k, DType::I32, elements, (rows * columns) as usize);
                assert_eq!(of(&kernel), of(&made), "{kernel}\n{made}");
                runs += usize::from(!made.to_string().contains("*lane"));
            }
        }
    }
    assert!(runs > 3000, "{runs}");
}

/// Channels that are reversed take no more shuffles than vectors that meet, and a scale for each channel none at all.
#[test]
fn runs_save_shuffles() {
    let load = |j: i64| format!("%{} = load x[24*%0 + 3*lane + {j}] : i32x8\n", j + 1);
    let loads: String = (0..3).map(load).collect();
    let kernel = |values: [i64; 3], between: &str| {
        let store = |j: i64| format!("store %{}, y[24*%0 + 3*lane + {j}]\n", values[j as usize]);
        let stores: String = (0..3).map(store).collect();
        let text = format!(
            "kernel k(x: read i32[48], y: write i32[48]) {{\nfor %0 = 0 to 2 {{\n{loads}{between}{stores}}}\n}}\n"
        );
        strided::runs(parsed(&text), 32).to_string()
    };
    let shuffles = |kernel: &str| kernel.matches("shuffle").count();
    let reversed = kernel([3, 2, 1], "");
    assert!(shuffles(&reversed) <= 4, "{reversed}");
    let scales: String = (0..3).map(|j| format!("%{} = splat {} : i32x8\n", j + 4, j + 2)).collect();
    let scaled: String =
        (0..3).map(|j| format!("%{} = mul %{}, %{} : i32x8\n", j + 7, j + 1, j + 4)).collect();
    let scaled = kernel([7, 8, 9], &(scales + &scaled));
    assert_eq!(shuffles(&scaled), 0, "{scaled}");
}

/// Every byte divided by a constant: the same bits without a division.
#[test]
fn quotients_of_bytes_are_products() {
    let text = "kernel k(x: read u8[256], y: write f32[256]) {
  %0 = splat 3.0 : f32x16
  for %1 = 0 to 16 {
    %2 = load x[16*%1 + lane] : u8x16
    %3 = convert %2 : f32x16
    %4 = div %3, %0 : f32x16
    store %4, y[16*%1 + lane]
  }
}
";
    let kernel = parsed(text);
    let made = quotients::exact(kernel.clone());
    assert!(!made.to_string().contains("div"), "{made}");
    let of = |kernel: &Kernel| {
        let bytes: Vec<Scalar> = (0..256).map(|n| Scalar::from_i128(DType::U8, n)).collect();
        let mut tensors = [Tensor::of(&bytes), Tensor::unwritten(DType::F32, 256)];
        interpret::run(kernel, &[], &mut tensors, &interpret::Options::default()).unwrap();
        tensors[1].to_buffer(&[256]).unwrap().bytes().to_vec()
    };
    assert_eq!(of(&kernel), of(&made));
    // Integers of 32 bits have no such inverse.
    let wide = parsed(&text.replace("u8", "i32"));
    assert!(quotients::exact(wide).to_string().contains("div"));
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
