//! What is counted of a schedule from the index maps, beside what the interpreter of kernels counts when it runs.

use crate::grids::By;
use crate::harness::Counting;
use crate::programs::program;
use surject_codegen::kernels::counts::Units;
use surject_codegen::kernels::machine::Machine;
use surject_codegen::kernels::run::{expressions, run_on};
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_ir::testing::random_args;
use surject_kernel::interpret::{Counts, Options};

/// Programs of one expression, whose loops have whole blocks by most strategies.
fn programs() -> Vec<surject_ir::Program> {
    let softmax = |rows: usize, n: usize| {
        program(
            &format!("a: f32[{rows},{n}]"),
            &format!(
                "let m : f32[{rows}] =:max over i<{rows}, k<{n} at [i]: a[i,k]\n  \
                 let e : f32[{rows},{n}] =: over i<{rows}, j<{n}: exp(a[i,j] - m[i])\n  \
                 let s : f32[{rows}] =:+ over i<{rows}, k<{n} at [i]: e[i,k]\n  \
                 y : f32[{rows},{n}] =: over i<{rows}, j<{n}: e[i,j] / s[i]"
            ),
        )
    };
    vec![
        program("a: f32[4096], b: f32[4096]", "y : f32[4096] =: over i<4096: a[i] * b[i]"),
        program("a: f32[32,128], b: f32[128]", "y : f32[32,128] =: over i<32, j<128: a[i,j] + b[j]"),
        program("a: f32[64,64]", "y : f32[64,64] =: over i<64, j<64: a[j,i]"),
        program("a: f32[256,17]", "y : f32[256,17] =: over i<256, j<17: a[i,j] * 2.0f32"),
        program("a: f32[256,9]", "y : f32[256] =:max over i<256, k<9 at [i]: a[i,k]"),
        program("a: f32[64,256]", "y : f32[256] =:+ over i<256, k<64 at [i]: a[k,i]"),
        program("a: f32[16,512]", "y : f32[16] =:+ over i<16, k<512 at [i]: a[i,k]"),
        program("a: bf16[128,8,32]", "y : bf16[128,32] =:max over i<128, j<32, k<8 at [i,j]: a[i,k,j]"),
        program(
            "a: f32[64,32], b: f32[128,32]",
            "y : f32[64,128] =:+ over i<64, j<128, k<32 at [i,j]: (a[i,k] - b[j,k]) * (a[i,k] - b[j,k])",
        ),
        program(
            "a: f32[2,18,18,64], b: f32[3,3,64]",
            "y : f32[2,16,16,64] =:+ over n<2, p<16, q<16, c<64, u<3, v<3 at [n,p,q,c]: \
             a[n,p+u,q+v,c] * b[u,v,c]",
        ),
        softmax(128, 10),
        softmax(128, 16),
        softmax(64, 256),
    ]
}

/// The sectors of all requests of warps are about those that the interpreter counts; those of blocks are no more.
#[test]
fn sectors_are_those_that_the_interpreter_counts() {
    let gpu = Gpu::named("sm_90a").unwrap();
    // The interpreter sees each load by itself.
    let units = Units { warp: gpu.warp, sector: gpu.sector, line: 128, widest: 1 };
    let (mut said, mut checked) = (String::new(), 0);
    for program in programs() {
        let function = program.function("main").unwrap();
        let (_, expression) = expressions(function).unwrap().remove(0);
        for strategy in gpu.strategies() {
            let Ok(proposal) = strategy.propose(&expression) else { continue };
            let Some(counts) = expression.counts(&proposal.schedule, units, &|_| 1.0).unwrap() else {
                continue;
            };
            if strategy.name() == "serial" {
                continue;
            }
            let args = random_args(function, 5);
            let options = Options::default();
            let mut on = Counting { options, counts: Counts::default(), kernels: Vec::new() };
            let machine = By(proposal.schedule.clone());
            run_on(&program, "main", &args, &machine, &Schedules::default(), &mut on).unwrap();
            let found = on.counts;
            let counted: f64 = counts.accesses.iter().map(|a| a.requests * a.sectors).sum();
            let text = format!(
                "{} by {}: {counted} for {}\n{}",
                function.name,
                strategy.name(),
                found.sectors,
                proposal.schedule
            );
            let ratio = counted / found.sectors as f64;
            // What stands still in an inner loop is loaded once, and counted as often as the loop runs.
            assert!((0.8..2.0).contains(&ratio), "{text}{counts:?}\n{}", on.kernels[0]);
            let of_blocks = counts.accesses.iter().map(|a| a.of_block * counts.blocks);
            for (access, of_blocks) in counts.accesses.iter().zip(of_blocks) {
                assert!(of_blocks <= 1.4 * access.requests * access.sectors, "{text}{access:?}");
            }
            said += &text;
            checked += 1;
        }
    }
    assert!(checked >= 25, "{checked}\n{said}");
}
