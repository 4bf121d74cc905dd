//! Module text → machine code: the forms that the code generator relies on.

use std::ffi::OsStr;
use std::process::Command;
use surject_mlir::jit::{self, CompiledModule, JitOptions};
use surject_mlir::{Part, Stage};

/// `exp(fma(x, x, x))` over 1024 floats, in four tasks of 256.
const PARALLEL: &str = r#"
module {
  func.func private @surject_parallel(!llvm.ptr, i64, i64, !llvm.ptr)
  func.func @kernel(%task: i64, %worker: i64, %pointers: !llvm.ptr) {
    %u = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = llvm.load %pointers : !llvm.ptr -> !llvm.ptr
    %dx = llvm.insertvalue %x, %u[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %mx = builtin.unrealized_conversion_cast %dx : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
    %p1 = llvm.getelementptr %pointers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %p1 : !llvm.ptr -> !llvm.ptr
    %dy = llvm.insertvalue %y, %u[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %my = builtin.unrealized_conversion_cast %dy : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
    %c16 = arith.constant 16 : index
    %c256 = arith.constant 256 : index
    %t = arith.index_cast %task : i64 to index
    %lo = arith.muli %t, %c256 : index
    %hi = arith.addi %lo, %c256 : index
    scf.for %i = %lo to %hi step %c16 {
      %v = vector.load %mx[%i] : memref<?xf32>, vector<16xf32>
      %f = vector.fma %v, %v, %v : vector<16xf32>
      %e = math.exp %f : vector<16xf32>
      vector.store %e, %my[%i] : memref<?xf32>, vector<16xf32>
    }
    return
  }
  func.func @main(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr, %constants: !llvm.ptr) {
    %f = func.constant @kernel : (i64, i64, !llvm.ptr) -> ()
    %k = builtin.unrealized_conversion_cast %f : (i64, i64, !llvm.ptr) -> () to !llvm.ptr
    %tasks = arith.constant 4 : i64
    %two = arith.constant 2 : i64
    %pointers = llvm.alloca %two x !llvm.ptr : (i64) -> !llvm.ptr
    %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
    %r = llvm.load %results : !llvm.ptr -> !llvm.ptr
    llvm.store %a, %pointers : !llvm.ptr, !llvm.ptr
    %p1 = llvm.getelementptr %pointers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %r, %p1 : !llvm.ptr, !llvm.ptr
    func.call @surject_parallel(%k, %tasks, %two, %pointers) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()
    return
  }
}
"#;

/// LLVM writes more than the lane where that is a number cut short.
#[test]
fn a_store_of_one_lane_writes_one_element() {
    for lane in [0, 2] {
        let mask: Vec<String> = (0..4).map(|i| (i == lane).to_string()).collect();
        let text = format!(
            "llvm.func @main(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr, %constants: !llvm.ptr) {{
               %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
               %y = llvm.load %results : !llvm.ptr -> !llvm.ptr
               %v = llvm.load %x {{alignment = 4 : i64}} : !llvm.ptr -> vector<4xi32>
               %t = arith.trunci %v : vector<4xi32> to vector<4xi8>
               %m = arith.constant dense<[{}]> : vector<4xi1>
               llvm.intr.masked.store %t, %y, %m {{alignment = 1 : i32}} : vector<4xi8>, vector<4xi1> into !llvm.ptr
               llvm.return
             }}",
            mask.join(", ")
        );
        for opt_level in 0..=3 {
            let module = jit::compile(&text, &JitOptions { opt_level, ..JitOptions::default() }).unwrap();
            let (x, mut y) = ([0x0101_0107i32; 4], [9u8; 8]);
            let entry = module.entry("main").unwrap();
            unsafe { entry.call(&[x.as_ptr().cast()], &[y.as_mut_ptr()], std::ptr::null_mut(), &[]) };
            let mut expected = [9u8; 8];
            expected[lane] = 7;
            assert_eq!(y, expected, "lane {lane}, level {opt_level}");
        }
    }
}

/// LLVM loads a register without a mask where all of it is left out.
#[test]
fn a_masked_load_takes_only_the_lanes_of_its_mask() {
    for (lanes, first, end) in [(16, 0, 6), (16, 9, 16), (32, 3, 17), (8, 2, 3), (12, 8, 11)] {
        let mask: Vec<String> = (0..lanes).map(|i| (first..end).contains(&i).to_string()).collect();
        let (mask, ty) = (mask.join(", "), format!("vector<{lanes}xf32>"));
        let text = format!(
            "llvm.func @main(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr, %constants: !llvm.ptr) {{
               %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
               %y = llvm.load %results : !llvm.ptr -> !llvm.ptr
               %n = llvm.load %x {{alignment = 4 : i64}} : !llvm.ptr -> f32
               %one = arith.constant 1.0 : f32
               %c = arith.cmpf oeq, %n, %one : f32
               %all = vector.broadcast %c : i1 to vector<{lanes}xi1>
               %some = arith.constant dense<[{mask}]> : vector<{lanes}xi1>
               %m = arith.andi %all, %some : vector<{lanes}xi1>
               %zero = arith.constant dense<0.0> : {ty}
               %v = llvm.intr.masked.load %x, %m, %zero {{alignment = 4 : i32}} : (!llvm.ptr, vector<{lanes}xi1>, {ty}) -> {ty}
               llvm.store %v, %y {{alignment = 4 : i64}} : {ty}, !llvm.ptr
               %z = llvm.getelementptr %y[{lanes}] : (!llvm.ptr) -> !llvm.ptr, f32
               llvm.intr.masked.store %v, %z, %some {{alignment = 4 : i32}} : {ty}, vector<{lanes}xi1> into !llvm.ptr
               llvm.return
             }}"
        );
        for (opt_level, number) in (0..=3).flat_map(|level| [(level, 1f32), (level, 2.0)]) {
            let module = jit::compile(&text, &JitOptions { opt_level, ..JitOptions::default() }).unwrap();
            let (x, mut y) = ([number; 32], [9f32; 64]);
            let entry = module.entry("main").unwrap();
            unsafe { entry.call(&[x.as_ptr().cast()], &[y.as_mut_ptr().cast()], std::ptr::null_mut(), &[]) };
            let one = |i: usize, otherwise| match (first..end).contains(&i) {
                true if number == 1.0 => 1.0,
                true => 0.0,
                false => otherwise,
            };
            let loaded: Vec<f32> = (0..lanes).map(|i| one(i, 0.0)).collect();
            let stored: Vec<f32> = (0..lanes).map(|i| one(i, 9.0)).collect();
            assert_eq!(y[..lanes], loaded, "{first} to {end} of {lanes}, level {opt_level}");
            assert_eq!(y[lanes..2 * lanes], stored, "{first} to {end} of {lanes}, level {opt_level}");
        }
    }
}

#[test]
fn a_kernel_runs_on_the_thread_pool() {
    for opt_level in 0..=3 {
        let module =
            jit::compile(PARALLEL, &JitOptions { opt_level, dump: true, ..JitOptions::default() }).unwrap();
        let x: Vec<f32> = (0..1024).map(|i| i as f32 / 1024.0).collect();
        let mut y = vec![0f32; 1024];
        let entry = module.entry("main").unwrap();
        unsafe { entry.call(&[x.as_ptr().cast()], &[y.as_mut_ptr().cast()], std::ptr::null_mut(), &[]) };
        for (x, y) in x.iter().zip(&y) {
            assert!((y - x.mul_add(*x, *x).exp()).abs() < 1e-5, "{x} {y}");
        }
    }
}

/// Compiles `func.func @main` with this body, in which `%x` and `%y` are a one-dimensional memref of `from` and one
/// of `to`, and runs it.
fn run<A: Copy, B: Copy + Default>(from: &str, to: &str, body: &str, x: &[A], len: usize) -> Vec<B> {
    let descriptor = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>";
    let text = format!(
        r#"
func.func @main(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr, %constants: !llvm.ptr) {{
  %u = llvm.mlir.poison : {descriptor}
  %px = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %dx = llvm.insertvalue %px, %u[1] : {descriptor}
  %x = builtin.unrealized_conversion_cast %dx : {descriptor} to memref<?x{from}>
  %py = llvm.load %results : !llvm.ptr -> !llvm.ptr
  %dy = llvm.insertvalue %py, %u[1] : {descriptor}
  %y = builtin.unrealized_conversion_cast %dy : {descriptor} to memref<?x{to}>
  %c0 = arith.constant 0 : index
  {body}
  return
}}"#
    );
    let module = jit::compile(&text, &JitOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut y = vec![B::default(); len];
    call(&module, x, &mut y);
    y
}

fn call<A, B>(module: &CompiledModule, x: &[A], y: &mut [B]) {
    let entry = module.entry("main").unwrap_or_else(|e| panic!("{e}"));
    // SAFETY: the modules of these tests read `x` and write `y` inside their lengths.
    unsafe { entry.call(&[x.as_ptr().cast()], &[y.as_mut_ptr().cast()], std::ptr::null_mut(), &[]) };
}

/// Applies one line, `%r = …` from a vector `%v` of 8 elements.
fn map8<A: Copy, B: Copy + Default>(from: &str, to: &str, line: &str, x: &[A; 8]) -> Vec<B> {
    let body = format!(
        "%v = vector.load %x[%c0] : memref<?x{from}>, vector<8x{from}>
         {line}
         vector.store %r, %y[%c0] : memref<?x{to}>, vector<8x{to}>"
    );
    run(from, to, &body, x, 8)
}

#[test]
fn a_transposition_of_a_block_is_shuffles() {
    let body = "
      %s = llvm.insertvalue %px, %us[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
      %xs = builtin.unrealized_conversion_cast %s : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<16x16xf32>
      %t = llvm.insertvalue %py, %us[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
      %ys = builtin.unrealized_conversion_cast %t : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<16x16xf32>
      %pad = arith.constant 0.0 : f32
      %v = vector.transfer_read %xs[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x16xf32>, vector<16x16xf32>
      %r = vector.transpose %v, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
      vector.transfer_write %r, %ys[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>";
    let body = format!(
        "%us = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>{body}"
    );
    let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let y: Vec<f32> = run("f32", "f32", &body, &x, 256);
    for i in 0..16 {
        for j in 0..16 {
            assert_eq!(y[16 * i + j], x[16 * j + i]);
        }
    }
}

#[test]
fn an_edge_is_masked() {
    // Three of eight elements exist; the others are read as the pad and not written.
    let body = "
      %n = arith.constant 3 : index
      %m = vector.create_mask %n : vector<8xi1>
      %p = arith.constant dense<7.0> : vector<8xf32>
      %v = vector.maskedload %x[%c0], %m, %p : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      %s = vector.reduction <add>, %v : vector<8xf32> into f32
      %b = vector.broadcast %s : f32 to vector<8xf32>
      vector.maskedstore %y[%c0], %m, %b : memref<?xf32>, vector<8xi1>, vector<8xf32>";
    assert_eq!(run::<f32, f32>("f32", "f32", body, &[1.0, 2.0, 3.0], 5), [41.0, 41.0, 41.0, 0.0, 0.0]);
}

#[test]
fn a_gather_reads_through_indices() {
    let body = "
      %i = arith.constant dense<[3, 0, 2, 1]> : vector<4xindex>
      %m = arith.constant dense<true> : vector<4xi1>
      %p = arith.constant dense<0.0> : vector<4xf32>
      %v = vector.gather %x[%c0] [%i], %m, %p : memref<?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      vector.store %v, %y[%c0] : memref<?xf32>, vector<4xf32>";
    assert_eq!(run::<f32, f32>("f32", "f32", body, &[0.0, 1.0, 2.0, 3.0], 4), [3.0, 0.0, 2.0, 1.0]);
}

#[test]
fn booleans_are_bytes() {
    let line = "%z = arith.constant dense<0.0> : vector<8xf32>
        %b = arith.cmpf ogt, %v, %z : vector<8xf32>
        %r = arith.extui %b : vector<8xi1> to vector<8xi8>";
    let y: Vec<u8> = map8("f32", "i8", line, &[1.0f32, -1.0, f32::NAN, 0.0, 2.0, -0.0, 3.0, -4.0]);
    assert_eq!(y, [1, 0, 0, 0, 1, 0, 1, 0]);
}

#[test]
fn bf16_conversions_round_to_nearest_even_and_keep_subnormals() {
    let x = [1.0f32, 1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0, 1e-40, -1e-40, f32::INFINITY, 3.4e38, 1e-45];
    let y: Vec<u16> = map8("f32", "bf16", "%r = arith.truncf %v : vector<8xf32> to vector<8xbf16>", &x);
    let expected: Vec<u16> = x.iter().map(|&v| half::bf16::from_f32(v).to_bits()).collect();
    assert_eq!(y, expected);
    let bits = [0x3f80u16, 0x0001, 0x8001, 0x7f80, 0x4049, 0x0080, 0x007f, 0xc000];
    let y: Vec<f32> = map8("bf16", "f32", "%r = arith.extf %v : vector<8xbf16> to vector<8xf32>", &bits);
    assert_eq!(y, bits.map(|b| half::bf16::from_bits(b).to_f32()));
    let y: Vec<u16> = map8("bf16", "bf16", "%r = arith.addf %v, %v : vector<8xbf16>", &bits);
    assert_eq!(y, bits.map(|b| half::bf16::from_f32(2.0 * half::bf16::from_bits(b).to_f32()).to_bits()));
    let x = [1.0f64, 1.00390625, 1.01171875, 1e-40, -1e-40, f64::INFINITY, 1e39, 1.00390625000001];
    let y: Vec<u16> = map8("f64", "bf16", "%r = arith.truncf %v : vector<8xf64> to vector<8xbf16>", &x);
    assert_eq!(y, [0x3f80, 0x3f80, 0x3f82, 0x0001, 0x8001, 0x7f80, 0x7f80, 0x3f81]);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn products_of_bf16_are_an_instruction_or_an_error() {
    let line = "%pairs = vector.shuffle %v, %v [0, 1, 2, 3, 4, 5, 6, 7] : vector<8xbf16>, vector<8xbf16>
        %zero = arith.constant dense<0.0> : vector<4xf32>
        %sums = llvm.call_intrinsic \"llvm.x86.avx512bf16.dpbf16ps.128\"(%zero, %v, %pairs) :
          (vector<4xf32>, vector<8xbf16>, vector<8xbf16>) -> vector<4xf32>
        %r = vector.shuffle %sums, %sums [0, 1, 2, 3, 0, 1, 2, 3] : vector<4xf32>, vector<4xf32>";
    let bits = [1.0f32, 2.0, 3.0, -4.0, 0.5, 0.0, 100.0, 1.0].map(|x| half::bf16::from_f32(x).to_bits());
    if is_x86_feature_detected!("avx512bf16") && is_x86_feature_detected!("avx512vl") {
        let y: Vec<f32> = map8("bf16", "f32", line, &bits);
        assert_eq!(y, [5.0, 25.0, 0.25, 10001.0, 5.0, 25.0, 0.25, 10001.0]);
    } else {
        let text = "llvm.func @f(%v: vector<8xbf16>, %zero: vector<4xf32>) -> vector<4xf32> {
               %s = llvm.call_intrinsic \"llvm.x86.avx512bf16.dpbf16ps.128\"(%zero, %v, %v) :
                 (vector<4xf32>, vector<8xbf16>, vector<8xbf16>) -> vector<4xf32>
               llvm.return %s : vector<4xf32>
             }";
        assert!(jit::compile(text, &JitOptions::default()).is_err());
    }
}

#[test]
fn f16_conversions_round_once() {
    let x = [1.0f64, 1.00048828125, 1.00048828125001, 65520.0, 65519.9, 5e-8, 1e-30, -2.5];
    let y: Vec<u16> = map8("f64", "f16", "%r = arith.truncf %v : vector<8xf64> to vector<8xf16>", &x);
    assert_eq!(y, [0x3c00, 0x3c00, 0x3c01, 0x7c00, 0x7bff, 0x0001, 0x0000, 0xc100]);
    let x = [1.0f32, 1.0004883, 65520.0, 65519.9, 6e-8, 1e-30, -2.5, f32::NAN];
    let y: Vec<u16> = map8("f32", "f16", "%r = arith.truncf %v : vector<8xf32> to vector<8xf16>", &x);
    assert_eq!(y[..7], [0x3c00, 0x3c00, 0x7c00, 0x7bff, 0x0001, 0x0000, 0xc100]);
    assert!(half::f16::from_bits(y[7]).is_nan());
    let bits = [0x3c00u16, 0x0001, 0x8001, 0x7c00, 0x4248, 0x0400, 0x03ff, 0xc000];
    let y: Vec<f64> = map8("f16", "f64", "%r = arith.extf %v : vector<8xf16> to vector<8xf64>", &bits);
    assert_eq!(y, bits.map(|b| half::f16::from_bits(b).to_f64()));
    let y: Vec<u16> = map8("f16", "f16", "%r = arith.mulf %v, %v : vector<8xf16>", &bits);
    let square = |b| half::f16::from_f64(half::f16::from_bits(b).to_f64().powi(2)).to_bits();
    assert_eq!(y, bits.map(square));
}

/// A line of MLIR and the function it computes.
type Case = (&'static str, fn(f64) -> f64);

/// Every function of `math` that a code generator may leave to the C library resolves, in `f32` and `f64`.
#[test]
fn math_functions_resolve() {
    let cases: [Case; 28] = [
        ("math.exp %v", f64::exp),
        ("math.expm1 %v", f64::exp_m1),
        ("math.exp2 %v", f64::exp2),
        ("math.log %v", f64::ln),
        ("math.log1p %v", f64::ln_1p),
        ("math.log2 %v", f64::log2),
        ("math.sqrt %v", f64::sqrt),
        ("math.rsqrt %v", |x| 1.0 / x.sqrt()),
        ("math.cbrt %v", f64::cbrt),
        ("math.sin %v", f64::sin),
        ("math.cos %v", f64::cos),
        ("math.tan %v", f64::tan),
        ("math.asin %v", f64::asin),
        ("math.acos %v", f64::acos),
        ("math.atan %v", f64::atan),
        ("math.atan2 %v, %v", |x| x.atan2(x)),
        ("math.sinh %v", f64::sinh),
        ("math.cosh %v", f64::cosh),
        ("math.tanh %v", f64::tanh),
        ("math.asinh %v", f64::asinh),
        ("math.atanh %v", f64::atanh),
        ("math.floor %v", f64::floor),
        ("math.ceil %v", f64::ceil),
        ("math.round %v", f64::round),
        ("math.roundeven %v", f64::round_ties_even),
        ("math.powf %v, %v", |x| x.powf(x)),
        ("arith.remf %v, %v", |x| x % x),
        ("math.copysign %v, %v", |x| x),
    ];
    let x = [0.1f64, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    for (line, function) in cases {
        let y: Vec<f64> = map8("f64", "f64", &format!("%r = {line} : vector<8xf64>"), &x);
        let x32 = x.map(|v| v as f32);
        let y32: Vec<f32> = map8("f32", "f32", &format!("%r = {line} : vector<8xf32>"), &x32);
        for i in 0..8 {
            let expected = function(x[i]);
            assert!((y[i] - expected).abs() <= 1e-14 * expected.abs(), "{line} of {}: {}", x[i], y[i]);
            let expected = function(x32[i].into());
            assert!(
                (f64::from(y32[i]) - expected).abs() <= 1e-6 * expected.abs(),
                "{line} of {}: {}",
                x[i],
                y32[i]
            );
        }
    }
    for special in ["math.erf", "math.erfc", "math.acosh"] {
        let _: Vec<f64> = map8("f64", "f64", &format!("%r = {special} %v : vector<8xf64>"), &x);
        let _: Vec<f32> = map8("f32", "f32", &format!("%r = {special} %v : vector<8xf32>"), &[1.5; 8]);
    }
}

#[test]
fn nan_and_signed_zero_survive_max() {
    let line = "%z = arith.constant dense<-0.0> : vector<8xf32>
        %r = arith.maximumf %v, %z : vector<8xf32>";
    let y: Vec<f32> = map8("f32", "f32", line, &[1.0, f32::NAN, 0.0, -0.0, -1.0, f32::INFINITY, -3.0, 2.0]);
    assert!(y[1].is_nan());
    assert_eq!((y[2].to_bits(), y[3].to_bits(), y[4].to_bits()), (0, 1 << 31, 1 << 31));
}

#[test]
fn complex_numbers_multiply() {
    let body = "
      %c1 = arith.constant 1 : index
      %a = memref.load %x[%c0] : memref<?xf32>
      %b = memref.load %x[%c1] : memref<?xf32>
      %c = complex.create %a, %b : complex<f32>
      %d = complex.mul %c, %c : complex<f32>
      %re = complex.re %d : complex<f32>
      %im = complex.im %d : complex<f32>
      memref.store %re, %y[%c0] : memref<?xf32>
      memref.store %im, %y[%c1] : memref<?xf32>";
    assert_eq!(run::<f32, f32>("f32", "f32", body, &[1.0, 2.0], 2), [-3.0, 4.0]);
}

#[test]
fn a_loop_carries_accumulators() {
    let body = "
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant dense<0.0> : vector<8xf32>
      %s = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (vector<8xf32>) {
        %a = memref.load %x[%k] : memref<?xf32>
        %ab = vector.broadcast %a : f32 to vector<8xf32>
        %b = vector.load %x[%c0] : memref<?xf32>, vector<8xf32>
        %f = vector.fma %ab, %b, %acc : vector<8xf32>
        scf.yield %f : vector<8xf32>
      }
      vector.store %s, %y[%c0] : memref<?xf32>, vector<8xf32>";
    let y: Vec<f32> = run("f32", "f32", body, &[1f32, 2., 3., 4., 5., 6., 7., 8.], 8);
    assert_eq!(y, [36., 72., 108., 144., 180., 216., 252., 288.]);
}

fn error(text: &str) -> surject_mlir::MlirError {
    match jit::compile(text, &JitOptions::default()) {
        Ok(module) => module.entry("main").err().expect("an error"),
        Err(error) => error,
    }
}

#[test]
fn a_syntax_error_has_a_place() {
    let e = error("func.func @main() {\n  %a = arith.addi %b : i32\n  return\n}");
    assert_eq!(e.stage, Stage::Parse);
    insta::assert_snapshot!(e);
}

#[test]
fn a_verifier_error_has_a_place() {
    let e = error("func.func @main(%a: f32) -> f32 {\n  %r = arith.addi %a, %a : f32\n  return %r : f32\n}");
    insta::assert_snapshot!(e);
}

#[test]
fn a_leftover_operation_is_named() {
    let e = error("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}");
    insta::assert_snapshot!(e);
}

#[test]
fn an_unknown_symbol_is_a_link_error() {
    let e =
        error("func.func private @missing()\nfunc.func @main() {\n  call @missing() : () -> ()\n  return\n}");
    assert_eq!(e.stage, Stage::Link);
    insta::assert_snapshot!(e);
}

#[test]
fn a_null_byte_is_refused() {
    insta::assert_snapshot!(error("module {\n \0}"));
}

/// Runs the tests of errors in another process and looks at its standard error.
#[test]
fn nothing_is_printed_to_standard_error() {
    let tests = ["syntax_error", "verifier_error", "leftover_operation", "unknown_symbol", "null_byte"];
    let output = Command::new(std::env::current_exe().unwrap())
        .args(tests)
        .arg("--nocapture")
        .env("INSTA_OUTPUT", OsStr::new("none"))
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("5 passed"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_dump_has_ir_and_assembly() {
    let module =
        jit::compile(PARALLEL, &JitOptions { opt_level: 3, dump: true, ..JitOptions::default() }).unwrap();
    assert!(module.llvm_ir.as_ref().unwrap().contains("define void @main(ptr"));
    assert!(module.assembly.as_ref().unwrap().contains("main:"));
    assert!(module.objects().iter().all(|o| o.starts_with(b"\x7fELF")) || cfg!(not(target_os = "linux")));
    assert!(jit::llvm_dialect(PARALLEL).unwrap().contains("llvm.func @kernel"));
    assert!(module.lookup("kernel").is_some() && module.lookup("nothing").is_none());
}

/// More vectors than there are registers, all loaded before the first is stored: some are kept on the stack.
#[test]
#[cfg(target_arch = "x86_64")]
fn registers_are_kept_in_whole_lines() {
    if !is_x86_feature_detected!("avx2") {
        return;
    }
    let mut body = String::new();
    for (i, operation) in (0..40).map(|i| (i, "load")).chain((0..40).rev().map(|i| (i, "store"))) {
        let from = if operation == "load" { "%x" } else { "%y" };
        body.push_str(&format!(
            "%{operation}{i} = llvm.getelementptr {from}[{}] : (!llvm.ptr) -> !llvm.ptr, f32\n",
            16 * i
        ));
        body.push_str(&match operation {
            "load" => format!("%v{i} = llvm.load %load{i} : !llvm.ptr -> vector<16xf32>\n"),
            _ => format!("llvm.store %v{i}, %store{i} : vector<16xf32>, !llvm.ptr\n"),
        });
    }
    let text = format!("llvm.func @main(%x: !llvm.ptr, %y: !llvm.ptr) {{\n{body}llvm.return\n}}");
    let module = jit::compile(&text, &JitOptions { dump: true, ..JitOptions::default() }).unwrap();
    let assembly = module.assembly.unwrap();
    assert!(assembly.contains("%rsp), %"), "nothing is on the stack:\n{assembly}");
    assert!(assembly.lines().any(|l| l.contains("andq") && l.contains("%rsp")), "{assembly}");
}

#[test]
fn parts_call_each_other() {
    let parts = [
        "llvm.func @second(i64) -> i64\nllvm.func @first(%x: i64) -> i64 {\n\
         %y = llvm.call @second(%x) : (i64) -> i64\nllvm.return %y : i64\n}",
        "llvm.func @second(%x: i64) -> i64 {\n%y = arith.addi %x, %x : i64\nllvm.return %y : i64\n}",
    ];
    let [one, other] = parts.map(Part::hot);
    // The other with the least effort.
    let parts = [one, Part { cold: true, ..other }];
    let module = jit::compile_parts(&parts, &JitOptions { dump: true, ..JitOptions::default() }).unwrap();
    let address = module.lookup("first").unwrap();
    let first: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(address) };
    assert_eq!(first(21), 42);
    assert_eq!(module.objects().len(), 2);
    assert_eq!(module.llvm_ir.unwrap().matches("define").count(), 2);
    let wrong = [parts[0].clone(), Part::hot("llvm.func @second(")];
    let wrong = jit::compile_parts(&wrong, &JitOptions::default());
    assert_eq!(wrong.err().unwrap().stage, Stage::Parse);
    assert!(jit::compile_parts(&[], &JitOptions::default()).unwrap().lookup("first").is_none());
    let missing = jit::compile_parts(&parts[..1], &JitOptions::default()).unwrap();
    assert!(missing.entry("first").is_err());
}

#[test]
fn modules_compile_side_by_side() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let module = jit::compile(PARALLEL, &JitOptions::default()).unwrap();
                    let (x, mut y) = (vec![0.5f32; 1024], vec![0f32; 1024]);
                    call(&module, &x, &mut y);
                    assert!((y[1023] - 0.75f32.exp()).abs() < 1e-5);
                }
            });
        }
    });
}

/// Compiles [`PARALLEL`] in a folder of compiled modules; was it found there?
fn found_in(folder: &std::path::Path) -> bool {
    let options = JitOptions { cache: Some(folder.to_path_buf()), ..JitOptions::default() };
    let compiled = jit::compile(PARALLEL, &options).unwrap();
    assert!(compiled.lookup("main").is_some());
    compiled.times.codegen.is_zero()
}

/// Run by [`compiled_modules_are_found_again`] in processes of their own.
#[test]
fn a_process_with_a_folder() {
    let Some(folder) = std::env::var_os("SURJECT_TEST_CACHE") else { return };
    let expected = std::env::var_os("SURJECT_TEST_FOUND").is_some();
    assert_eq!(found_in(folder.as_ref()), expected);
    assert!(found_in(folder.as_ref()), "in memory at least");
}

#[test]
fn compiled_modules_are_found_again() {
    let folder = std::env::temp_dir().join(format!("surject-cache-{}", std::process::id()));
    let process = |found: bool| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "jit::a_process_with_a_folder"]).env("SURJECT_TEST_CACHE", &folder);
        if found {
            command.env("SURJECT_TEST_FOUND", "1");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    };
    process(false);
    process(true);
    // A damaged file is as good as none.
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    }
    process(false);
    process(true);
    std::fs::remove_dir_all(&folder).unwrap();
}
