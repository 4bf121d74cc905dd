//! Sums in blocks.

use crate::schedules::Whole;
use surject_codegen::kernels::run::{assignments, kernels, run};
use surject_codegen::kernels::schedule::Schedules;
use surject_ir::{Buffer, DType, Scalar, parse};
use surject_kernel::interpret::Options;

/// A sum of ones and of one large number: in one accumulator all ones behind it are lost.
#[test]
fn blocks_keep_what_one_accumulator_loses() {
    let program =
        parse("program p\n\nfunc main(x: f32[600]) -> (y) {\n  y : f32[1] =:+ over i<600 at [0]: x[i]\n}\n");
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let function = program.function("main").unwrap();
    let mut x = Buffer::zeros(DType::F32, &[600]);
    (0..600)
        .for_each(|i| x.set(i, Scalar::from_f64(DType::F32, if i == 0 { f64::from(1 << 24) } else { 1.0 })));
    let sum = |schedule: &str| {
        let schedule: Schedules = format!("kernel y_0\n{schedule}").parse().unwrap();
        let args = std::slice::from_ref(&x);
        let found = run(&program, "main", args, &Whole, &Options::default(), &schedule).unwrap();
        let made = kernels(function, assignments(function)[0].1, &Whole, "y", &schedule).unwrap();
        (found.0[0].get(0).as_f64() - f64::from(1 << 24), made.kernels[0].launch.kernel.to_string())
    };
    assert_eq!(sum("").0, 0.0);
    // The blocks behind the first one have all of their ones.
    assert_eq!([sum("partial k0 by 100").0, sum("partial k0 by 90 30").0], [500.0, 570.0]);
    let (lost, kernel) = sum("split k0 by 20\npartial k0.i");
    assert_eq!(lost, 580.0);
    // Each block begins with zero, and is added to what is so far.
    assert_eq!(kernel.matches("add ").count(), 2, "{kernel}");
    insta::assert_snapshot!(sum("partial k0 by 90 30").1);
}
