//! Tables in lanes, and floats times powers of two.

use surject_ir::{DType, Scalar};
use surject_kernel::interpret::{Options, Tensor, run};
use surject_kernel::{Kernel, parse, verify};

const TEXT: &str = "kernel tables(at: read i32[8], x: read f32[8], out: write f32[16]) {
  %0 = constant [10.0, 11.0, 12.0, 13.0] : f32x4
  %1 = constant [20.0, 21.0, 22.0, 23.0] : f32x4
  %2 = load at[lane] : i32x8
  %3 = lookup %0, %1, %2 : f32x8
  store %3, out[lane]
  %4 = load x[lane] : f32x8
  %5 = convert %2 : f32x8
  %6 = scale %4, %5 : f32x8
  store %6, out[lane + 8]
}
";

fn kernel(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}")).swap_remove(0)
}

#[test]
fn lanes_take_entries_and_are_scaled() {
    let kernel = kernel(TEXT);
    verify(&kernel).unwrap();
    assert_eq!(kernel.to_string(), TEXT);
    let at = [0i32, 7, 3, 4, -1, 9, -150, 200];
    let x = [1.0f32, -1.5, 0.0, f32::NAN, f32::INFINITY, 0.3, 1.0, 1.0];
    let of = |dtype, values: Vec<f64>| -> Tensor {
        let values: Vec<Scalar> = values.into_iter().map(|v| Scalar::from_f64(dtype, v)).collect();
        let buffer = surject_ir::Buffer::from_scalars(dtype, &[values.len()], &values).unwrap();
        Tensor::of_buffer(&buffer)
    };
    let mut tensors = [
        of(DType::I32, at.iter().map(|&v| v.into()).collect()),
        of(DType::F32, x.iter().map(|&v| v.into()).collect()),
        Tensor::unwritten(DType::F32, 16),
    ];
    run(&kernel, &[], &mut tensors, &Options::default()).unwrap();
    let found = tensors[2].to_buffer(&[16]).unwrap();
    let table = [10.0, 11.0, 12.0, 13.0, 20.0, 21.0, 22.0, 23.0];
    for (i, (&at, &x)) in at.iter().zip(&x).enumerate() {
        assert_eq!(found.get(i).as_f64(), table[at as usize & 7], "entry {at}");
        // 2^-150 is rounded to zero, to even; 2^200 is too large.
        let expected = (f64::from(x) * f64::from(at).exp2()) as f32;
        let scaled = found.get(8 + i).as_f64() as f32;
        assert!(scaled == expected || scaled.is_nan() && expected.is_nan(), "{x} · 2^{at} is {scaled}");
    }
}

#[test]
fn what_is_no_table_is_refused() {
    let refused = |from: &str, to: &str| verify(&kernel(&TEXT.replace(from, to))).unwrap_err().to_string();
    assert!(refused("lookup %0, %1, %2", "lookup %0, %2, %2").contains("operands of"));
    assert!(refused("lookup %0, %1, %2", "lookup %0, %1, %0").contains("number of a lane"));
    assert!(refused("scale %4, %5 : f32x8", "scale %2, %2 : i32x8").contains("is scaled"));
}
