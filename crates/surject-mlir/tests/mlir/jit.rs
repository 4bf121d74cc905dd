//! Module text → machine code: the forms that the code generator relies on.

use surject_mlir::jit::{self, JitOptions};
use surject_mlir::{MlirError, Stage};

/// `exp(fma(x, x, x))` over 1024 floats, in four tasks of 256.
const PARALLEL: &str = r#"
module {
  func.func private @surject_parallel(!llvm.ptr, i64, !llvm.ptr)
  func.func @kernel(%task: i64, %pointers: !llvm.ptr) {
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
    %f = func.constant @kernel : (i64, !llvm.ptr) -> ()
    %k = builtin.unrealized_conversion_cast %f : (i64, !llvm.ptr) -> () to !llvm.ptr
    %tasks = arith.constant 4 : i64
    %two = arith.constant 2 : i64
    %pointers = llvm.alloca %two x !llvm.ptr : (i64) -> !llvm.ptr
    %a = llvm.load %args : !llvm.ptr -> !llvm.ptr
    %r = llvm.load %results : !llvm.ptr -> !llvm.ptr
    llvm.store %a, %pointers : !llvm.ptr, !llvm.ptr
    %p1 = llvm.getelementptr %pointers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %r, %p1 : !llvm.ptr, !llvm.ptr
    func.call @surject_parallel(%k, %tasks, %pointers) : (!llvm.ptr, i64, !llvm.ptr) -> ()
    return
  }
}
"#;

#[test]
fn a_kernel_runs_on_the_thread_pool() {
    for opt_level in 0..=3 {
        let module = jit::compile(PARALLEL, &JitOptions { opt_level, dump: true }).unwrap();
        eprintln!("{:?}", module.times);
        let x: Vec<f32> = (0..1024).map(|i| i as f32 / 1024.0).collect();
        let mut y = vec![0f32; 1024];
        let entry = module.entry("main").unwrap();
        unsafe { entry.call(&[x.as_ptr().cast()], &[y.as_mut_ptr().cast()], std::ptr::null_mut(), &[]) };
        for (x, y) in x.iter().zip(&y) {
            assert!((y - x.mul_add(*x, *x).exp()).abs() < 1e-5, "{x} {y}");
        }
    }
}
