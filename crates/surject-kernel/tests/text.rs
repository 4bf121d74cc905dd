//! The text form at its edges: what it must keep, and what it must refuse.

use surject_ir::{DType, Scalar};
use surject_kernel::interpret::{FaultKind, Options, Tensor, run};
use surject_kernel::{
    Access, Affine, Builder, Kernel, LoopKind, Mem, Op, Place, Region, Space, Statement, Temporality, Type,
    parse, print, verify,
};

/// A kernel whose text is read as the same kernel.
fn keeps(kernel: &Kernel) {
    let text = print(kernel);
    let parsed = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(parsed[0], kernel.renumbered(), "{text}");
    assert_eq!(print(&parsed[0]), text);
}

/// A kernel of one statement is refused at a column of it, with this message.
fn refuses(statement: &str, column: usize, message: &str) {
    let text = format!("kernel k(x: readwrite f32[8]) {{\n{statement}\n}}");
    let error = parse(&text).expect_err(&text);
    assert_eq!((error.line, error.column, error.message.as_str()), (2, column, message), "{text}");
}

/// What goes wrong in a run of a kernel without parameters.
fn fault(body: &str) -> FaultKind {
    let kernel =
        parse(&format!("kernel k() {{\n{body}\n}}")).unwrap_or_else(|error| panic!("{error}")).remove(0);
    verify(&kernel).unwrap_or_else(|error| panic!("{error}"));
    run(&kernel, &[], &mut [], &Options::default()).expect_err(body).kind
}

#[test]
fn names_that_are_no_words_are_quoted() {
    for name in ["a b", "", "1", "back`quote", "back\\slash", "new\nline", "ünï", "kernel", "%1"] {
        let mut b = Builder::new(name);
        let x = b.parameter(name, DType::F32, 4, Access::ReadWrite);
        let value = b.load(Place::new(x, 1), Type::scalar(DType::F32));
        let tile = b.alloc(format!("{name}'s"), DType::F32, 4, Space::Stack);
        b.store(Place::new(tile, 0), value);
        keeps(&b.finish());
    }
    refuses("alloc `\\q`: stack f32[1]", 7, "``\\q`` is no part of a kernel's text");
}

#[test]
fn numbers_keep_all_of_their_bits() {
    let mut b = Builder::new("numbers");
    let n = b.size();
    let x = b.parameter("x", DType::F32, Affine::from(i64::MIN), Access::ReadWrite);
    let lowest = Affine::from(n).times(i64::MIN).unwrap();
    let lanes = Affine::lane(i64::MIN).plus(&lowest, 1).unwrap();
    b.load(Place::new(x, lanes.plus(&Affine::from(i64::MAX), 1).unwrap()), Type::vector(DType::F32, 2));
    b.effect(Op::AsyncWait(usize::MAX));
    keeps(&b.finish());
    refuses("%0 = index 9223372036854775808 : i64", 12, "this is no product of numbers and values that fits");
    refuses(
        "%0 = index -9223372036854775808 - 1 : i64",
        12,
        "a number of this expression does not fit in 64 bits",
    );
}

#[test]
fn a_fill_is_kept_without_guards_too() {
    for bits in [0x8000_0000, 0x7fa0_0001, 0x3f80_0000] {
        let mut b = Builder::new("fill");
        let x = b.parameter("x", DType::F32, 4, Access::Read);
        let fill = Scalar::from_bits(DType::F32, bits);
        let op = Op::Load { place: Place::new(x, 0), fill, temporality: Temporality::Normal };
        b.statement(op, &[Type::scalar(DType::F32)]);
        keeps(&b.finish());
    }
}

#[test]
fn a_step_that_is_refused_has_a_text() {
    let mut b = Builder::new("step");
    b.open_for(0, 4, -3, LoopKind::Serial, &[]);
    b.close_for(&[]);
    let kernel = b.finish();
    keeps(&kernel);
    assert_eq!(verify(&kernel).unwrap_err().message, "the step of a loop is positive");
}

#[test]
fn what_does_not_fit_is_refused_and_not_cut() {
    refuses(
        "%0 = splat 1.0 : f32 %1 = reduce_precision 4294967304, 10, %0 : f32",
        44,
        "expected bits of the exponent that fits in 32 bits",
    );
    refuses("%0 = splat bits(0x1ff) : u8", 12, "`bits(0x1ff)` is no element of type u8");
    refuses("%0 = splat -bits(0x1) : u8", 17, "expected `:`, found `(`");
    refuses("prefetch readwrite x[0]", 10, "expected read, soon or write, found `readwrite`");
    refuses(
        "matmul tf32 flushed (1, 1, 1) x[0] by (1, 1), x[0] by (1, 1), x[0] by (1, 1)",
        13,
        "expected `(`, found `flushed`",
    );
}

#[test]
fn faults_of_what_does_not_exist_are_said() {
    let broken = |op: Op, results: usize| {
        let mut kernel = Kernel::new("broken");
        let results = (0..results as u32).map(surject_kernel::Value).collect();
        kernel.body.body.push(Statement { results, op });
        verify(&kernel).unwrap_err().to_string()
    };
    let found = broken(Op::Splat(Scalar::bool(true)), 1);
    assert_eq!(found, "kernel `broken`: a result has no type\n  in `%0 = splat true : ?`");
    let found = broken(Op::Alloc(Mem(3)), 0);
    assert_eq!(found, "kernel `broken`: there is no memory 3\n  in `alloc <memory 3>`");
}

#[test]
fn memory_is_made_once() {
    let mut b = Builder::new("twice");
    b.open_for(0, 2, 1, LoopKind::Serial, &[]);
    let tile = b.alloc("tile", DType::F32, 4, Space::Stack);
    b.close_for(&[]);
    let mut kernel = b.finish();
    assert_eq!(verify(&kernel), Ok(()));
    kernel.body.body.push(Statement { results: Vec::new(), op: Op::Alloc(tile) });
    assert_eq!(verify(&kernel).unwrap_err().message, "`tile` is made twice");
    let mut kernel = Kernel::new("parameters");
    let x = kernel_parameter(&mut kernel);
    kernel.params = vec![x, x];
    assert_eq!(verify(&kernel).unwrap_err().message, "`x` is two parameters");
}

fn kernel_parameter(kernel: &mut Kernel) -> Mem {
    let mut b = Builder::new("one");
    let x = b.parameter("x", DType::F32, 4, Access::Read);
    *kernel = Kernel { body: Region::default(), ..b.finish() };
    x
}

#[test]
fn no_value_has_more_lanes_than_any_machine() {
    let kernel = parse("kernel k() {\n%0 = splat 1.0 : f32x65537\n}").unwrap().remove(0);
    assert_eq!(verify(&kernel).unwrap_err().message, "no value has the type f32x65537");
}

#[test]
fn a_run_that_takes_too_much_is_given_up() {
    let Options { steps, bytes, .. } = Options::default();
    assert_eq!(fault("alloc x: stack f64[9223372036854775807]"), FaultKind::Memory(bytes));
    assert_eq!(fault("for %0 = 0 to 100000 { alloc x: stack f64[1000000] }"), FaultKind::Memory(bytes));
    let endless = "for %0 = -9223372036854775808 to 9223372036854775807 parallel(task) { }";
    assert_eq!(fault(endless), FaultKind::Steps(steps));
    let store = "alloc x: stack f32[1] %0 = splat 1.0 : f32 store %0, x[0]";
    let tile = "x[0] by (0, 0)";
    let product = format!("{store} matmul (4000000000, 4000000000, 4000000000) {tile}, {tile}, {tile}");
    assert_eq!(fault(&product), FaultKind::Steps(steps));
    let copy = format!("{store} async_copy 9223372036854775807, x[0], x[0]");
    assert_eq!(fault(&copy), FaultKind::Steps(steps));
    let far =
        "alloc x: shared f64[1] for %1 = 0 to 1 parallel(thread) { %2 = load x[9223372036854775807] : f64 }";
    let found = fault(&format!("for %0 = 0 to 1 parallel(block) {{ {far} }}"));
    assert!(matches!(found, FaultKind::OutOfBounds { .. }), "{found}");
}

#[test]
fn a_loop_ends_at_the_last_number() {
    let text = "kernel k(x: write i64[1]) {
  for %0 = 9223372036854775806 to 9223372036854775807 step 5 {
    %1 = index %0 : i64
    store %1, x[0]
  }
}";
    let kernel = parse(text).unwrap().remove(0);
    let mut tensors = [Tensor::unwritten(DType::I64, 1)];
    run(&kernel, &[], &mut tensors, &Options::default()).unwrap();
    assert_eq!(tensors[0].get(0).and_then(Scalar::as_i128), Some(i128::from(i64::MAX) - 1));
}

/// Threads are numbered from 0 on, whatever their variables are.
#[test]
fn threads_of_any_loop_form_warps() {
    let text = "kernel k(x: write i64[6]) {
  for %0 = 0 to 1 parallel(block) {
    for %1 = -9 to 3 step 2 parallel(thread) {
      %2 = index %1 : i64
      %3 = exchange %2 down 1 : i64
      %4 = exchange %3 down 18446744073709551615 : i64
      %5 = splat 2 : i64
      %6 = index %1 + 9 : i64
      %7 = div %6, %5 : i64
      store %4, x[%7]
    }
  }
}";
    let kernel = parse(text).unwrap().remove(0);
    verify(&kernel).unwrap();
    let mut tensors = [Tensor::unwritten(DType::I64, 6)];
    run(&kernel, &[], &mut tensors, &Options { warp: 4, ..Options::default() }).unwrap();
    let found: Vec<i128> = (0..6).filter_map(|i| tensors[0].get(i)?.as_i128()).collect();
    // Warps of four: the last thread of each keeps its own.
    assert_eq!(found, [-7, -5, -3, -3, 1, 1]);
}
