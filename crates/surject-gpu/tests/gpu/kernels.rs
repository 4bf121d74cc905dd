//! Kernels in the text form, for what no strategy makes yet: what the PTX gives is what the interpreter of kernels gives.

use crate::harness::{Collected, OnPtx};
use surject_codegen::kernels::run::Executor;
use surject_gpu::Gpu;
use surject_ir::testing::{Rng, random_scalar};
use surject_ir::{DType, Scalar};
use surject_kernel::interpret::{self, Options, Tensor};
use surject_kernel::{Access, Kernel, parse, verify};

/// The kernels of this file, each with a remark. (Long, as it is a list.)
pub fn texts() -> Vec<(&'static str, String)> {
    let transposition = |row: usize| {
        format!(
            "kernel k(x: read f32[1024], y: write f32[1024]) {{
              for %0 = 0 to 1 parallel(block) {{
                alloc tile: shared f32[{}]
                for %1 = 0 to 32 parallel(warp) {{
                  for %2 = 0 to 32 parallel(thread) {{
                    %3 = load x[32*%1 + %2] : f32
                    store %3, tile[{row}*%1 + %2]
                    barrier block
                    %4 = load tile[{row}*%2 + %1] : f32
                    store %4, y[32*%1 + %2]
                  }}
                }}
              }}
            }}",
            32 * row
        )
    };
    let exchange = |source: &str, ty: &str, threads: usize| {
        format!(
            "kernel k(x: read {ty}[{n}], y: write {ty}[{n}]) {{
              for %0 = 0 to 2 parallel(block) {{
                for %1 = 0 to {threads} parallel(thread) {{
                  %2 = load x[{threads}*%0 + %1] : {ty}
                  %3 = exchange %2 {source} : {ty}
                  store %3, y[{threads}*%0 + %1]
                }}
              }}
            }}",
            n = 2 * threads
        )
    };
    let copy = |elements: usize, ty: &str| {
        format!(
            "kernel k(x: read {ty}[{n}], y: write {ty}[{n}]) {{
              for %0 = 0 to 1 parallel(block) {{
                alloc tile: shared {ty}[{n}]
                for %1 = 0 to 32 parallel(thread) {{
                  async_copy {elements}, x[{elements}*%1], tile[{elements}*%1]
                  async_commit
                  async_wait 0
                  barrier block
                  for %2 = 0 to {elements} {{
                    %3 = load tile[{last} - {elements}*%1 + %2] : {ty}
                    store %3, y[{elements}*%1 + %2]
                  }}
                }}
              }}
            }}",
            n = 32 * elements,
            last = 31 * elements
        )
    };
    let product = |dtype: &str, sum: &str, (m, n, k): (usize, usize, usize), columns: bool| {
        let (row, column) = if columns { (1, k) } else { (n, 1) };
        format!(
            "kernel k(a: read {dtype}[{}], b: read {dtype}[{}], c: write {sum}[{mn}]) {{
              for %0 = 0 to 1 parallel(block) {{
                alloc acc: shared {sum}[{mn}]
                alloc left: shared {dtype}[{}]
                for %1 = 0 to 32 parallel(thread) {{
                  %2 = splat {zero} : {sum}
                  for %3 = 0 to {mn} step 32 {{
                    store %2, acc[%3 + %1]
                  }}
                  for %4 = 0 to {} step 32 {{
                    %5 = load a[%4 + %1] : {dtype}
                    store %5, left[%4 + %1]
                  }}
                }}
                for %6 = 0 to 1 parallel(warp) {{
                  matmul ({m}, {n}, {k}) acc[0] by ({n}, 1), left[0] by ({k}, 1), b[0] by ({row}, {column})
                }}
                for %7 = 0 to 32 parallel(thread) {{
                  for %8 = 0 to {mn} step 32 {{
                    %9 = load acc[%8 + %7] : {sum}
                    store %9, c[%8 + %7]
                  }}
                }}
              }}
            }}",
            m * k,
            k * n,
            m * k,
            m * k,
            mn = m * n,
            zero = if sum.starts_with('f') { "0.0" } else { "0" },
        )
    };
    vec![
        ("a transposition through padded shared memory", transposition(33)),
        ("a transposition through shared memory", transposition(32)),
        ("neighbours", exchange("xor 1", "f32", 64)),
        ("halves of a warp", exchange("xor 16", "f64", 32)),
        ("the one below", exchange("up 1", "i32", 64)),
        ("some above", exchange("down 4", "i64", 64)),
        ("some above in a part of a warp", exchange("down 4", "f32", 40)),
        ("bytes", exchange("xor 2", "u8", 32)),
        ("halves", exchange("xor 4", "bf16", 32)),
        ("truths", exchange("xor 8", "i1", 32)),
        ("copies of 16 bytes", copy(4, "f32")),
        ("copies of 8 bytes", copy(4, "f16")),
        ("copies of 4 bytes", copy(1, "i32")),
        ("copies of 32 bytes", copy(4, "f64")),
        ("copies of one byte", copy(1, "i8")),
        ("a product of f16", product("f16", "f32", (16, 8, 16), false)),
        ("a product of f16, by columns", product("f16", "f32", (32, 16, 32), true)),
        ("a product of bf16", product("bf16", "f32", (16, 16, 32), true)),
        ("a product of i8", product("i8", "i32", (16, 8, 32), true)),
        ("a product of i8, by rows", product("i8", "i32", (16, 8, 64), false)),
        ("a product of u8", product("u8", "i32", (16, 8, 32), true)),
        ("a product of f64", product("f64", "f64", (8, 8, 8), false)),
        ("a product of f32", product("f32", "f32", (8, 8, 8), false)),
        ("a product of tf32", product("f32", "f32", (16, 8, 8), false).replace("matmul (", "matmul tf32 (")),
        (
            "a product of tf32, by columns",
            product("f32", "f32", (32, 16, 16), true).replace("matmul (", "matmul tf32 ("),
        ),
        ("a product of odd sizes", product("f16", "f32", (4, 8, 8), false)),
        (
            "a product in registers of warps",
            "kernel k(a: read f16[1024], b: read f16[512], c: write f32[512]) {
              for %0 = 0 to 1 parallel(block) {
                for %1 = 0 to 2 parallel(warp) {
                  alloc acc: register f32[256]
                  %2 = splat 0.5 : f32
                  for %3 = 0 to 256 {
                    store %2, acc[%3]
                  }
                  for %4 = 0 to 2 {
                    matmul (16, 16, 16) acc[0] by (16, 1), a[512*%1 + 16*%4] by (32, 1), b[256*%4] by (1, 16)
                  }
                  for %5 = 0 to 16 {
                    for %6 = 0 to 16 step 2 {
                      %7 = load acc[16*%5 + %6 + lane] : f32x2
                      store %7, c[256*%1 + 16*%5 + %6 + lane]
                    }
                  }
                }
              }
            }"
            .into(),
        ),
        (
            "what a block does once",
            "kernel k(x: read f32[64], y: write f32[64], z: write f32[2]) {
              for %0 = 0 to 2 parallel(block) {
                alloc own: shared f32[33]
                %1 = splat 0.5 : f32
                store %1, own[32]
                for %2 = 0 to 32 parallel(thread) {
                  %3 = load x[32*%0 + %2] : f32
                  %4 = load own[32] : f32
                  %5 = add %3, %4 : f32
                  store %5, own[%2]
                }
                %6 = load own[31] : f32
                store %6, z[%0]
                for %7 = 0 to 32 parallel(thread) {
                  %8 = load own[31 - %7] : f32
                  store %8, y[32*%0 + %7]
                }
              }
            }"
            .into(),
        ),
        (
            "rows of warps beside threads",
            "kernel k(x: read f32[96], y: write f32[96]) {
              for %0 = 0 to 1 parallel(block) {
                alloc own: shared f32[96]
                for %1 = 0 to 96 parallel(thread) {
                  %2 = load x[%1] : f32
                  store %2, own[95 - %1]
                }
                for %3 = 0 to 2 parallel(warp) {
                  for %4 = 0 to 16 parallel(thread) {
                    %5 = load own[16*%3 + %4] : f32
                    %6 = exchange %5 xor 3 : f32
                    store %6, y[16*%3 + %4]
                  }
                  for %7 = 0 to 32 parallel(thread) {
                    %8 = load own[32*%3 + %7 + 32] : f32
                    store %8, y[32*%3 + %7 + 32]
                  }
                }
              }
            }"
            .into(),
        ),
        (
            "vectors with a border",
            "kernel k(x: read f32[100], y: write f32[120]) {
              for %0 = 0 to 1 parallel(block) {
                for %1 = 0 to 30 parallel(thread) {
                  %2 = load x[4*%1 - 8 + lane] where 0 <= 4*%1 - 8 + lane < 97 else -1.0 : f32x4
                  %3 = shuffle %2, %2 [3, 2, 5, 0] : f32x4
                  store %3, y[4*%1 + lane]
                }
              }
            }"
            .into(),
        ),
        (
            "vectors with masks and strides",
            "kernel k(x: read i32[128], m: read i1[64], y: write i32[128]) {
              for %0 = 0 to 1 parallel(block) {
                for %1 = 0 to 32 parallel(thread) {
                  %2 = load m[2*%1 + lane] : i1x2
                  %3 = load x[4*%1 + 2*lane] mask %2 else 7 : i32x2
                  %4 = load x[4*%1 + 2*lane + 1] : i32x2
                  store %3, y[2*%1 + lane]
                  %5 = add %3, %4 : i32x2
                  store %5, y[2*%1 + lane + 64]
                }
              }
            }"
            .into(),
        ),
        (
            "registers and a loop that carries",
            "kernel k(x: read f32[64], y: write f32[64]) {
              for %0 = 0 to 1 parallel(block) {
                for %1 = 0 to 64 parallel(thread) {
                  alloc own: register f32[4]
                  %2 = load x[%1] : f32
                  for %3 = 0 to 4 unrolled {
                    store %2, own[%3]
                  }
                  %4 = splat 1.0 : f32
                  %5, %6 = for %7 = 0 to 5 step 2 carry(%8 = %4, %9 = %2) {
                    %10 = load own[2] : f32
                    %11 = mul %8, %10 : f32
                    %12 = fma %9, %10, %8 : f32
                    yield %11, %12
                  } : f32, f32
                  %13 = add %5, %6 : f32
                  %14 = lt %13, %4 : i1
                  %15 = if %14 {
                    yield %5
                  } else {
                    yield %6
                  } : f32
                  store %15, y[%1]
                }
              }
            }"
            .into(),
        ),
        (
            "local memory",
            "kernel k(x: read i32[64], y: write i32[64]) {
              for %0 = 0 to 1 parallel(block) {
                for %1 = 0 to 64 parallel(thread) {
                  alloc own: stack i32[8]
                  for %2 = 0 to 8 {
                    %3 = index %2 : i32
                    store %3, own[%2]
                  }
                  %4 = load x[%1] : i32
                  %5 = splat 7 : i32
                  %6 = and %4, %5 : i32
                  %7 = load own[0] offset %6 : i32
                  store %7, y[%1]
                }
              }
            }"
            .into(),
        ),
        (
            "atomic sums",
            "kernel k(x: read i32[96], y: readwrite i32[4], z: readwrite f32[1], m: readwrite u64[2]) {
              for %0 = 0 to 2 parallel(block) {
                for %1 = 0 to 48 parallel(thread) {
                  %2 = load x[48*%0 + %1] : i32
                  %3 = splat 3 : i32
                  %4 = and %2, %3 : i32
                  atomic + %2, y[0] offset %4
                  %5 = splat 1.0 : f32
                  atomic + %5, z[0]
                  %6 = convert %2 : u64
                  atomic max %6, m[0]
                  atomic min %6, m[1] where 0 <= %1 < 20
                }
              }
            }"
            .into(),
        ),
        (
            "sums of columns in lanes",
            "kernel k(x: read f32[256], y: write f32[32]) {
              for %0 = 0 to 2 parallel(block) {
                for %1 = 0 to 16 parallel(thread) {
                  %2 = load x[128*%0 + 8*%1 + lane] : f32x8
                  %3 = reduce + %2 : f32
                  store %3, y[16*%0 + %1]
                }
              }
            }"
            .into(),
        ),
        (
            "a size",
            "kernel k(%0: size, x: read f32[%0], y: write f32[%0]) {
              for %1 = 0 to %0 step 32 parallel(block) {
                for %2 = 0 to 32 parallel(thread) {
                  %3 = load x[%1 + %2] where 0 <= %1 + %2 < %0 else 0.0 : f32
                  store %3, y[%1 + %2] where 0 <= %1 + %2 < %0
                }
              }
            }"
            .into(),
        ),
        (
            "more shared memory than is static",
            "kernel k(x: read f64[8192], y: write f64[8192]) {
              for %0 = 0 to 1 parallel(block) {
                alloc a: shared f64[4096]
                alloc b: shared f64[4096]
                for %1 = 0 to 256 parallel(thread) {
                  for %2 = 0 to 4096 step 256 {
                    %3 = load x[%1 + %2] : f64
                    store %3, a[%1 + %2]
                    %4 = load x[%1 + %2 + 4096] : f64
                    store %4, b[%1 + %2]
                  }
                  barrier block
                  for %5 = 0 to 4096 step 256 {
                    %6 = load a[4095 - %1 - %5] : f64
                    store %6, y[%1 + %5]
                    %7 = load b[4095 - %1 - %5] : f64
                    store %7, y[%1 + %5 + 4096]
                  }
                }
              }
            }"
            .into(),
        ),
    ]
}

/// The only kernel of a text.
pub fn kernel(text: &str) -> Kernel {
    let mut kernels = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kernel = kernels.remove(0);
    verify(&kernel).unwrap_or_else(|error| panic!("{error}"));
    kernel
}

/// The elements of tensors: what is read or joined is random.
fn tensors(kernel: &Kernel, seed: u64, size: i64) -> Vec<Tensor> {
    let mut rng = Rng::new(seed);
    kernel
        .params
        .iter()
        .map(|&mem| {
            let memory = kernel.mem(mem);
            let elements = memory.elements.at(0, &|_| Some(size)).unwrap() as usize;
            match memory.access {
                Access::Write => Tensor::unwritten(memory.dtype, elements),
                _ => Tensor::of(&(0..elements).map(|_| element(&mut rng, memory.dtype)).collect::<Vec<_>>()),
            }
        })
        .collect()
}

fn element(rng: &mut Rng, dtype: DType) -> Scalar {
    random_scalar(rng, dtype)
}

/// Every kernel, on both machines. Products and sums differ in the last places.
#[test]
fn kernels_on_ptx_give_what_the_interpreter_gives() {
    let kernels: Vec<(&str, Kernel)> =
        texts().into_iter().map(|(name, text)| (name, kernel(&text))).collect();
    let mut collected = Collected::default();
    for (name, kernel) in &kernels {
        collected.add(kernel).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for gpu in Gpu::ALL {
        let text = collected.ptx(gpu.name);
        let module = surject_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut executor =
            OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: vec![70] };
        for (i, (name, kernel)) in kernels.iter().enumerate() {
            let size = 70;
            let sizes = vec![size; kernel.sizes.len()];
            let mut expected = tensors(kernel, i as u64, size);
            let mut found = expected.clone();
            interpret::run(kernel, &sizes, &mut expected, &Options::default())
                .unwrap_or_else(|fault| panic!("{name}: {fault}"));
            executor
                .execute(kernel, &mut found)
                .unwrap_or_else(|error| panic!("{name} on {}: {error}", gpu.name));
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                for e in 0..expected.len() {
                    let (found, expected) = (found.get(e), expected.get(e));
                    // What nothing writes stays so.
                    let Some(expected) = expected else { continue };
                    let Some(found) = found else { panic!("{name}: element {e} of {number} is not written") };
                    let close = match name.contains("product") && expected.dtype().is_float() {
                        true => {
                            let (a, b) = (found.as_f64(), expected.as_f64());
                            (a - b).abs() <= 1e-5 * b.abs().max(1.0)
                        }
                        false => found.bits() == expected.bits(),
                    };
                    assert!(
                        close,
                        "{name} on {}: element {e} of {number}: {found:?}, not {expected:?}",
                        gpu.name
                    );
                }
            }
        }
        let products = executor.counts.iter().map(|c| c.1.products).sum::<u64>();
        assert!(products >= 10, "only {products} products by matrix units");
    }
}
