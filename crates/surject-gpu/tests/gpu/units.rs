//! Sums of products by matrix units whose warps have rows and columns of a tile: by every way in which factors lie.

use crate::assembler::assemble;
use crate::grids::{By, product};
use crate::harness::{Collected, Counting, OnPtx, on_ptx};
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::run::{expressions, kernel_by, run_on};
use surject_codegen::kernels::schedule::{Schedule, Schedules};
use surject_gpu::model::model;
use surject_gpu::write::{module, write};
use surject_gpu::{Gpu, compile};
use surject_ir::testing::random_args;
use surject_ir::{Program, interp};
use surject_kernel::Kernel;
use surject_kernel::interpret::{Counts, Options, Order};

const LAYOUTS: [[&str; 2]; 4] = [["i,k", "k,j"], ["i,k", "j,k"], ["k,i", "k,j"], ["k,i", "j,k"]];

fn by(tile: &str) -> By {
    By(format!("contract i0 i1 k0 {tile}").parse().unwrap())
}

/// A sum in `i32` of products of bytes, to which something is added.
fn bytes(dtype: &str, [m, n, k]: [usize; 3], [left, right]: [&str; 2]) -> Program {
    let a = if left == "i,k" { [m, k] } else { [k, m] };
    let b = if right == "j,k" { [n, k] } else { [k, n] };
    crate::programs::program(
        &format!("a: {dtype}[{},{}], b: {dtype}[{},{}]", a[0], a[1], b[0], b[1]),
        &format!(
            "y : i32[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: \
             i32(a[{left}]) * i32(b[{right}])"
        ),
    )
}

fn cases() -> Vec<(Program, &'static str)> {
    let mut all = Vec::new();
    for layout in LAYOUTS {
        all.push((product("bf16", [128, 128, 64], layout), "tile 64 64 32 warp 32 32"));
        all.push((product("f16", [70, 90, 45], layout), "tile 64 64 16 warp 16 32"));
        all.push((product("f64", [64, 64, 32], layout), "tile 64 32 16 warp 32 16"));
        all.push((bytes("i8", [64, 128, 96], layout), "tile 64 64 32 warp 32 32"));
        all.push((bytes("u8", [70, 90, 45], layout), "tile 64 64 32 warp 16 16"));
        all.push((bytes("i8", [64, 64, 64], layout), "tile 64 64 64 warp 32"));
    }
    all
}

#[test]
fn patches_of_warps_give_what_the_interpreter_gives() {
    let (mut collected, mut machines) = (Collected::default(), Vec::new());
    let all = cases();
    for (program, tile) in &all {
        let args = random_args(program.function("main").unwrap(), 3);
        let expected = interp::run(program, "main", &args).unwrap();
        let machine = by(tile);
        for order in [Order::Forward, Order::Backward, Order::Shuffled(7)] {
            let options = Options { order, ..Options::default() };
            let mut on = Counting { options, counts: Counts::default(), kernels: Vec::new() };
            let found = run_on(program, "main", &args, &machine, &Schedules::default(), &mut on)
                .unwrap_or_else(|error| panic!("{tile}: {error}"));
            let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
            assert!(report.passed(), "{tile}: {report}");
            for kernel in &on.kernels {
                collected.add(kernel).unwrap();
            }
        }
        machines.push((machine, args, expected));
    }
    let ptx = collected.ptx("sm_80");
    assert!(ptx.contains("m16n8k32.row.col.satfinite") || ptx.contains("m16n8k32.row.col.s32.s8.s8.s32"));
    let module = surject_ptx::parse(&ptx).unwrap_or_else(|error| panic!("{error}"));
    for ((program, tile), (machine, args, expected)) in all.iter().zip(&machines) {
        let mut on = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
        let found = on_ptx(program, args, machine, &mut on);
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
        assert!(report.passed(), "{tile} as PTX: {report}\n{}", surject_ir::print(program));
        assert!(on.counts.iter().any(|c| c.1.products > 0), "{tile}: no matrix unit");
    }
}

/// What does not fit says why.
#[test]
fn a_patch_is_a_part_of_the_tile() {
    let program = product("bf16", [64, 64, 64], ["i,k", "k,j"]);
    let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
    for (share, why) in [
        ("warp 32 24", "a multiple of 16"),
        ("warp 32 0", "a tile has rows"),
        ("warp 32 -16", "a tile has rows"),
        ("warp 32 48", "64 columns are not those"),
        ("warp 24 32", "not those of 1 to 32 warps"),
        ("warp 8 32", "the rows of a warp are a multiple of 16"),
        ("warp 0 16", "a tile has rows"),
    ] {
        let schedule: Schedule = format!("contract i0 i1 k0 tile 64 64 32 {share}").parse().unwrap();
        let error = schedule.check(&expression).unwrap_err().to_string();
        assert!(error.contains(why), "{share}: {error}");
    }
}

/// The patches of large products spill nothing.
#[test]
fn patches_of_large_products_spill_nothing() {
    let tiles = [
        "tile 256 128 64 warp 64 64",
        "tile 128 256 32 warp 64 64",
        "tile 128 128 64 warp 64 64",
        "tile 128 128 64 warp 32 64",
        "tile 256 128 128 warp 64 64",
    ];
    for gpu in Gpu::ALL {
        let mut written = Vec::new();
        for layout in LAYOUTS {
            for program in [product("bf16", [2048; 3], layout), bytes("i8", [2048; 3], layout)] {
                let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
                for tile in tiles {
                    let found = kernel_by(&expression, &gpu, "k", by(tile).0);
                    let made = found.unwrap_or_else(|error| panic!("{tile}: {error}"));
                    let named = Kernel { name: format!("k{}", written.len()), ..made.launch.kernel };
                    written.push(write(&legal(&named).unwrap()).unwrap());
                }
            }
        }
        let ptx = compile::ptx(&module(&written), gpu.name).unwrap_or_else(|error| panic!("{error}"));
        if let Some(folder) = std::env::var_os("SURJECT_TEST_PTX") {
            let file = std::path::PathBuf::from(folder).join(format!("units.{}.ptx", gpu.name));
            std::fs::write(file, &ptx).unwrap();
        }
        for kernel in assemble(&ptx, gpu.name).unwrap_or_default() {
            eprintln!("{}: {kernel:?}", gpu.name);
            assert!(kernel.spilled == 0 && kernel.registers <= 255, "{}: {kernel:?}", gpu.name);
        }
    }
}

/// What is chosen for products, and what it takes by the model.
#[test]
fn large_products_are_near_the_peak_of_the_units() {
    let mut said = String::new();
    for gpu in Gpu::ALL {
        for size in [1024, 2048, 4096, 8192] {
            let layout = ["i,k", "k,j"];
            for program in [product("bf16", [size; 3], layout), bytes("i8", [size; 3], layout)] {
                let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
                let only = crate::harness::Only(gpu.clone(), "matrix units");
                let choice = surject_codegen::kernels::machine::choose(&only, &expression).unwrap();
                let schedule = choice.proposal.schedule;
                let found = model(&gpu, &expression, &schedule);
                said += &format!("{} {size}: {found}\n  {schedule}", gpu.name);
            }
        }
    }
    insta::assert_snapshot!(said);
}
