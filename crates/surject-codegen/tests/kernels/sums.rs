//! Sums in blocks.

use crate::schedules::Whole;
use surject_codegen::kernels::run::{assignments, kernels, run};
use surject_codegen::kernels::schedule::Schedules;
use surject_ir::{Buffer, DType, Scalar, parse};
use surject_kernel::interpret::Options;

/// Two sums of ones and of one large number: how many ones there are in them by a schedule, and its kernel.
fn ones(schedule: &str) -> (f64, String) {
    let program = parse(
        "program p\n\nfunc main(x: f32[2,600]) -> (y) {\n  y : f32[2] =:+ over i<2, j<600 at [i]: x[i,j]\n}\n",
    );
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let function = program.function("main").unwrap();
    let mut x = Buffer::zeros(DType::F32, &[2, 600]);
    let large = f64::from(1 << 24);
    (0..1200).for_each(|i| x.set(i, Scalar::from_f64(DType::F32, if i % 600 == 0 { large } else { 1.0 })));
    let schedule: Schedules = format!("kernel y_0\n{schedule}").parse().unwrap();
    let args = std::slice::from_ref(&x);
    let found = run(&program, "main", args, &Whole, &Options::default(), &schedule).unwrap();
    let [sum, other] = [0, 1].map(|i| found.0[0].get(i).as_f64());
    assert_eq!(sum, other);
    let made = kernels(function, assignments(function)[0].1, &Whole, "y", &schedule).unwrap();
    (sum - large, made.kernels[0].launch.kernel.to_string())
}

/// In one accumulator all ones behind the large number are lost; the blocks behind the first one have all of their ones.
#[test]
fn blocks_keep_what_one_accumulator_loses() {
    let sum = |schedule: &str| ones(schedule).0;
    assert_eq!(sum(""), 0.0);
    assert_eq!([sum("partial k0 by 100"), sum("partial k0 by 90 30")], [500.0, 570.0]);
    let (lost, kernel) = ones("split k0 by 20\npartial k0.i");
    assert_eq!(lost, 580.0);
    // Each block begins with zero, and is added to what is so far.
    assert_eq!(kernel.matches("add ").count(), 2, "{kernel}");
    insta::assert_snapshot!(ones("partial k0 by 90 30").1);
}

/// The same of sums in memory, to which terms are added one by one: larger blocks have memory of their own.
#[test]
fn larger_blocks_keep_what_sums_in_memory_lose() {
    let sum = |partial: &str| ones(&format!("order i0\naccumulate k0 at i0\n{partial}")).0;
    assert_eq!([sum(""), sum("partial k0 by 100"), sum("partial k0 by 90 30")], [0.0, 500.0, 570.0]);
    let (lost, kernel) = ones("split k0 by 20\naccumulate k0.i at i0\npartial k0.i");
    assert_eq!(lost, 580.0);
    insta::assert_snapshot!(kernel);
}
