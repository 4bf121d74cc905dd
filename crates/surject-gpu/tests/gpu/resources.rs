//! What kernels of the suite's kinds and sizes take of a GPU: how they access memory, and, where NVIDIA's assembler is
//! installed, registers, shared memory, and the warps that a multiprocessor runs at once.

use crate::assembler::{Use, assemble};
use crate::programs::program;
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::{Machine, choose};
use surject_codegen::kernels::run::{expressions, kernels};
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::model::model;
use surject_gpu::write::{Written, module, write};
use surject_gpu::{Gpu, compile};
use surject_ir::{Program, StatementKind};
use surject_kernel::Kernel;

/// Programs that memory bounds, at the suite's sizes and at one at which a launch is nothing.
fn memory_bound(large: bool) -> Vec<(&'static str, Program)> {
    let n = if large { 32768 } else { 1024 };
    let softmax = format!(
        "let m : f32[{n}] =:max over i<{n}, k<1024 at [i]: a[i,k]\n  \
         let e : f32[{n},1024] =: over i<{n}, j<1024: exp(a[i,j] - m[i])\n  \
         let s : f32[{n}] =:+ over i<{n}, k<1024 at [i]: e[i,k]\n  \
         y : f32[{n},1024] =: over i<{n}, j<1024: e[i,j] / s[i]"
    );
    let square = format!("a: f32[{n},1024]");
    let norm = format!(
        "let m : f32[{n}] =: over i<{n}: (+ over i<{n}, k<1024 at [i]: a[i,k]) / 1024.0f32\n  \
         let d : f32[{n},1024] =: over i<{n}, j<1024: a[i,j] - m[i]\n  \
         let v : f32[{n}] =: over i<{n}: (+ over i<{n}, k<1024 at [i]: d[i,k] * d[i,k]) / 1024.0f32\n  \
         y : f32[{n},1024] =: over i<{n}, j<1024: d[i,j] / sqrt(v[i] + 0.001f32)"
    );
    vec![
        (
            "elementwise",
            program(&square, &format!("y : f32[{n},1024] =: over i<{n}, j<1024: a[i,j] * 2.0f32")),
        ),
        (
            "a bias",
            program(
                &format!("{square}, b: f32[1024]"),
                &format!("y : f32[{n},1024] =: over i<{n}, j<1024: max(a[i,j] + b[j], 0.0f32)"),
            ),
        ),
        (
            "halves",
            program(
                &format!("a: bf16[{n},2048]"),
                &format!("y : bf16[{n},2048] =: over i<{n}, j<2048: a[i,j] + 1.0bf16"),
            ),
        ),
        ("row sums", program(&square, &format!("y : f32[{n}] =:+ over i<{n}, k<1024 at [i]: a[i,k]"))),
        ("column sums", program(&square, &format!("y : f32[1024] =:+ over i<1024, k<{n} at [i]: a[k,i]"))),
        ("softmax", program(&square, &softmax)),
        ("layer norm", program(&square, &norm)),
        ("transposition", program(&square, &format!("y : f32[1024,{n}] =: over i<1024, j<{n}: a[j,i]"))),
        (
            "channels first",
            program(
                &format!("a: f32[{},56,56,64]", n / 128),
                &format!("y : f32[{0},64,56,56] =: over n<{0}, c<64, i<56, j<56: a[n,i,j,c]", n / 128),
            ),
        ),
        (
            "rows reversed",
            program(&square, &format!("y : f32[{n},1024] =: over i<{n}, j<1024: a[-i + {},j]", n - 1)),
        ),
    ]
}

/// Of the bytes of the sectors that memory-bound kernels touch, nine of ten are needed; and where a launch is nothing,
/// the model says that they take nine tenths of the bandwidth.
#[test]
fn memory_bound_kernels_are_coalesced() {
    for gpu in Gpu::ALL {
        for large in [false, true] {
            for (name, program) in memory_bound(large) {
                for (_, expression) in expressions(program.function("main").unwrap()).unwrap() {
                    let choice = choose(&gpu, &expression).unwrap();
                    let found = model(&gpu, &expression, &choice.proposal.schedule);
                    let text = format!("{name} on {} by {}: {found}", gpu.name, choice.strategy);
                    assert!(found.coalescing >= 0.9, "{text}");
                    // What is reduced in two stages is more than one kernel.
                    let whole = large && gpu.stages(&expression).is_none();
                    // By the model rows that are computed take the instructions of a machine whose memory is this fast:
                    // it counts exponentials of both passes, which LLVM computes once.
                    let is_computed = gpu.name == "sm_100" && ["softmax", "layer norm"].contains(&name);
                    let least = if is_computed { 0.65 } else { 0.9 };
                    assert!(!whole || found.memory / found.seconds >= least, "{text}");
                }
            }
        }
    }
}

/// Programs of the suite whose kernels are pinned, and the least part of the warps that a multiprocessor can run which
/// each keeps there.
fn pinned() -> Vec<(&'static str, Program, f64)> {
    let product = |m: i64, n: i64, k: i64, dtype: &str, factor: &str| {
        let (a, b) = match factor {
            "" => ("a[i,k]".to_string(), "b[k,j]".to_string()),
            _ => (format!("{dtype}(a[i,k])"), format!("{dtype}(b[k,j])")),
        };
        let own = if factor.is_empty() { dtype } else { factor };
        program(
            &format!("a: {own}[{m},{k}], b: {own}[{k},{n}]"),
            &format!("y : {dtype}[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: {a} * {b}"),
        )
    };
    let mut all: Vec<(&'static str, Program, f64)> =
        memory_bound(false).into_iter().map(|(name, program)| (name, program, 0.5)).collect();
    all.extend([
        ("matmul_1024", product(1024, 1024, 1024, "f32", ""), 0.12),
        // On sm_80 three blocks of two warps, whose threads have 128 sums each.
        ("matmul_2048", product(2048, 2048, 2048, "f32", ""), 0.09),
        // Four warps, whose threads have 128 sums each.
        ("matmul_bf16", product(1024, 1024, 1024, "bf16", ""), 0.06),
        ("matmul_i8", product(1024, 1024, 1024, "i32", "i8"), 0.06),
        (
            "matmul_tf32",
            program(
                "a: f32[1024,1024], b: f32[1024,1024]",
                "y : f32[1024,1024] =:+ over i<1024, j<1024, k<1024 at [i,j]: \
                 reduce_precision<8,10>(a[i,k]) * reduce_precision<8,10>(b[k,j])",
            ),
            0.06,
        ),
        ("matmul_f64", product(512, 512, 512, "f64", ""), 0.06),
        (
            "conv3x3",
            program(
                "a: f32[8,58,58,64], b: f32[3,3,64,64]",
                "y : f32[8,56,56,64] =:+ over n<8, p<56, q<56, o<64, u<3, v<3, c<64 at [n,p,q,o]: \
                 a[n,p+u,q+v,c] * b[u,v,c,o]",
            ),
            0.09,
        ),
    ]);
    all
}

/// The part of the warps of a multiprocessor that run at once.
fn occupancy(gpu: &Gpu, found: &Use, threads: i64, dynamic: i64) -> f64 {
    let warps = (threads + 31) / 32;
    // Registers are given to warps, 256 at once; shared memory has 1 KiB of its own a block.
    let of_warp = (i64::from(found.registers) * 32 + 255) / 256 * 256;
    let by_registers = 65_536 / of_warp.max(1) / warps;
    let by_shared = (gpu.shared + 1024) / (i64::from(found.shared) + dynamic + 1024);
    let blocks = by_registers.min(by_shared).min(gpu.warps / warps).min(32);
    (blocks * warps) as f64 / gpu.warps as f64
}

/// The bytes that a kernel may spill: tiles of 256 columns do so around their loop, and are the fastest that was measured
/// for this product all the same; for sm_100 the assembler keeps a block more on a multiprocessor instead of five words.
fn spills(name: &str, gpu: &Gpu) -> u32 {
    match (name, gpu.name) {
        ("matmul_2048", _) => 256,
        ("matmul_1024", "sm_100") => 20,
        _ => 0,
    }
}

/// No kernel of these spills a register but where that is said, and each has the warps that it is listed with.
#[test]
fn kernels_of_the_suite_have_their_warps() {
    for gpu in Gpu::ALL {
        let (mut written, mut names): (Vec<Written>, Vec<(&str, f64)>) = (Vec::new(), Vec::new());
        for (name, program, least) in pinned() {
            let function = program.function("main").unwrap();
            for statement in &function.body.statements {
                let StatementKind::Store { field, .. } = statement.kind else { continue };
                for made in kernels(function, field, &gpu, "k", &Schedules::default()).unwrap().kernels {
                    let named = Kernel { name: format!("k{}", written.len()), ..made.launch.kernel };
                    written.push(write(&legal(&named).unwrap()).unwrap());
                    names.push((name, least));
                }
            }
        }
        let ptx = compile::ptx(&module(&written), gpu.name).unwrap_or_else(|error| panic!("{error}"));
        let Some(uses) = assemble(&ptx, gpu.name) else {
            eprintln!("skipped: `ptxas` is not installed; `cargo xtask setup` installs it");
            return;
        };
        assert_eq!(uses.len(), written.len());
        for (kernel, (name, least)) in written.iter().zip(&names) {
            let found = uses.iter().find(|u| u.name == kernel.launch.name).unwrap();
            let busy = occupancy(&gpu, found, kernel.launch.threads, kernel.launch.shared);
            let text =
                format!("{name} on {}: {busy:.2} of the warps, {found:?}, {:?}", gpu.name, kernel.launch);
            eprintln!("{name} on {}: {busy:.2} of the warps, {} registers", gpu.name, found.registers);
            assert!(found.spilled <= spills(name, &gpu), "{text}");
            assert!(found.registers <= 255 && busy >= *least, "{text}");
        }
    }
}
