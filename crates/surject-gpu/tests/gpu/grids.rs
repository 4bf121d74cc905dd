//! Sums of products by grids of threads: by every way in which factors lie, in whole tiles and in others, with copies in the
//! background and without.

use crate::assembler::assemble;
use crate::harness::{Collected, Counting, OnPtx, on_ptx};
use crate::programs::program;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy};
use surject_codegen::kernels::run::{expressions, kernel_by, run_on};
use surject_codegen::kernels::schedule::{Schedule, Schedules};
use surject_gpu::write::{module, write};
use surject_gpu::{Gpu, compile};
use surject_ir::testing::random_args;
use surject_ir::{Program, interp};
use surject_kernel::Kernel;
use surject_kernel::interpret::{Counts, Options, Order};

/// A machine that has one schedule.
#[derive(Clone)]
pub struct By(pub Schedule);

impl Strategy for By {
    fn name(&self) -> &'static str {
        "given"
    }

    fn propose(&self, _: &Expression) -> Result<Proposal, String> {
        Ok(Proposal { schedule: self.0.clone(), cost: 1.0 })
    }
}

impl Machine for By {
    fn name(&self) -> &str {
        "given"
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        vec![Box::new(self.clone())]
    }
}

/// A product whose factors lie by rows or by columns.
pub fn product(dtype: &str, [m, n, k]: [usize; 3], [left, right]: [&str; 2]) -> Program {
    let a = if left == "i,k" { [m, k] } else { [k, m] };
    let b = if right == "j,k" { [n, k] } else { [k, n] };
    program(
        &format!("a: {dtype}[{},{}], b: {dtype}[{},{}]", a[0], a[1], b[0], b[1]),
        &format!("y : {dtype}[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: a[{left}] * b[{right}]"),
    )
}

/// Programs with their schedules, and whether tiles are copied in the background.
fn cases() -> Vec<(Program, &'static str, bool)> {
    let (ik, ki, kj, jk) = ("i,k", "k,i", "k,j", "j,k");
    let tile = |text| text;
    vec![
        (product("f32", [64, 128, 64], [ik, kj]), tile("tile 64 64 16 grid 8 4 across 8"), true),
        (product("f32", [64, 64, 48], [ki, kj]), tile("tile 64 64 16 grid 8 4 across 8"), true),
        (product("f32", [128, 64, 32], [ik, jk]), tile("tile 128 64 16 grid 8 1 across 8"), true),
        (product("f32", [64, 64, 16], [ki, jk]), tile("tile 32 64 16 grid 4 1 across 8"), true),
        (product("f32", [64, 128, 64], [ik, kj]), tile("tile 32 128 32 grid 8 4 across 16"), true),
        (product("f32", [64, 128, 64], [ik, kj]), tile("tile 32 128 16 grid 8 4 across 32"), true),
        (product("f32", [64, 32, 64], [ik, kj]), tile("tile 64 32 32 grid 4 4 across 8"), true),
        (product("f32", [64, 16, 64], [ki, kj]), tile("tile 64 16 32 grid 8 4 across 4"), true),
        (product("f32", [70, 90, 45], [ik, kj]), tile("tile 64 64 16 grid 8 4 across 8"), false),
        (product("f32", [70, 90, 45], [ki, jk]), tile("tile 64 64 16 grid 8 1 across 8"), false),
        (product("f64", [64, 64, 32], [ik, kj]), tile("tile 64 32 16 grid 4 2 across 16"), true),
        (product("bf16", [64, 64, 64], [ik, kj]), tile("tile 32 64 32 grid 4 4 across 8"), true),
        (
            program(
                "a: f32[2,8,10,16], b: f32[2,2,16,64]",
                "y : f32[2,7,9,64] =:+ over n<2, p<7, q<9, o<64, u<2, v<2, c<16 at [n,p,q,o]: \
                 a[n,p+u,q+v,c] * b[u,v,c,o]",
            ),
            "",
            false,
        ),
    ]
}

/// Sums of what is computed of two values otherwise, by both kinds of tiles.
fn pairs() -> Vec<(Program, &'static str, bool)> {
    let of = |[m, n, k]: [usize; 3], right: &str, term: &str| {
        let b = if right == "j,k" { [n, k] } else { [k, n] };
        let term = term.replace("B", &format!("b[{right}]")).replace("A", "a[i,k]");
        program(
            &format!("a: f32[{m},{k}], b: f32[{},{}]", b[0], b[1]),
            &format!(
                "let s : f32[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: {term}\n  \
                 y : f32[{m},{n}] =: over i<{m}, j<{n}: sqrt(s[i,j])"
            ),
        )
    };
    let distance = "(A - B) * (A - B)";
    vec![
        (of([64, 128, 32], "j,k", distance), "tile 64 64 16 grid 8 1 across 8", true),
        (of([64, 128, 32], "k,j", distance), "tile 64 64 16 grid 8 4 across 8", true),
        (of([70, 90, 48], "j,k", "abs(A - B) + 1.0f32"), "tile 64 64 16 grid 8 1 across 8", false),
        (of([70, 90, 48], "k,j", "max(A, B) * max(A, B)"), "tile 64 128 16 thread 8 4", false),
    ]
}

fn schedule(expression: &Expression, tile: &str) -> Schedule {
    let product = expression.pairs().unwrap();
    let text = match tile {
        "" => format!(
            "contract {} {} {} tile 64 64 16 grid 8 4 across 8",
            product.rows.join(","),
            product.columns[0],
            product.terms.last().unwrap()
        ),
        _ => format!("contract {} {} {} {tile}", product.rows[0], product.columns[0], product.terms[0]),
    };
    let schedule: Schedule = text.parse().unwrap();
    assert_eq!(schedule.to_string().trim(), text);
    schedule
}

#[test]
fn grids_give_what_the_interpreter_gives() {
    let (mut collected, mut machines) = (Collected::default(), Vec::new());
    let mut all = cases();
    all.extend(pairs());
    for (program, tile, in_background) in &all {
        let function = program.function("main").unwrap();
        let args = random_args(function, 3);
        let expected = interp::run(program, "main", &args).unwrap();
        let (_, expression) = expressions(function).unwrap().remove(0);
        let machine = By(schedule(&expression, tile));
        for order in [Order::Forward, Order::Backward, Order::Shuffled(7)] {
            let options = Options { order, ..Options::default() };
            let mut on = Counting { options, counts: Counts::default(), kernels: Vec::new() };
            let found = run_on(program, "main", &args, &machine, &Schedules::default(), &mut on)
                .unwrap_or_else(|error| panic!("{tile}: {error}"));
            let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
            assert!(report.passed(), "{tile}: {report}");
            for kernel in &on.kernels {
                assert_eq!(kernel.to_string().contains("async_copy"), *in_background, "{tile}\n{kernel}");
                collected.add(kernel).unwrap();
            }
        }
        machines.push((machine, args, expected));
    }
    let module = surject_ptx::parse(&collected.ptx("sm_80")).unwrap_or_else(|error| panic!("{error}"));
    for ((program, tile, _), (machine, args, expected)) in all.iter().zip(&machines) {
        let mut on = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
        let found = on_ptx(program, args, machine, &mut on);
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
        assert!(report.passed(), "{tile} as PTX: {report}");
    }
}

/// What does not fit a grid says why.
#[test]
fn a_grid_has_threads_along_both() {
    let program = product("f32", [64, 64, 64], ["i,k", "k,j"]);
    let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
    for (tile, why) in [
        ("grid 8 4 across 3", "4, 8, 16 or 32 threads"),
        ("grid 8 4 across 64", "4, 8, 16 or 32 threads"),
        ("grid 8 4 across 0", "a tile has rows"),
        ("grid 32 4 across 8", "64 rows are not those of 1 to 32 warps"),
        ("grid 8 4 across 32", "the columns are multiples of 128"),
    ] {
        let text = format!("contract i0 i1 k0 tile 64 64 16 {tile}");
        let error = text.parse::<Schedule>().unwrap().check(&expression).unwrap_err().to_string();
        assert!(error.contains(why), "{tile}: {error}");
    }
}

/// Terms that do not exist are zero on both sides, of which not every term is zero.
#[test]
fn terms_that_are_no_products_fill_tiles() {
    let program = program(
        "a: f32[64,40], b: f32[64,40]",
        "y : f32[64,64] =:+ over i<64, j<64, k<40 at [i,j]: abs(a[i,k] - b[j,k])",
    );
    let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
    let text =
        |k: i64| format!("contract i0 i1 k0 tile 64 64 {k} grid 8 1 across 8").parse::<Schedule>().unwrap();
    assert!(text(8).check(&expression).is_ok());
    let error = text(16).check(&expression).unwrap_err().to_string();
    assert!(error.contains("fill tiles of 16"), "{error}");
    let units = "contract i0 i1 k0 tile 64 64 16 warp 16".parse::<Schedule>().unwrap();
    assert!(units.check(&expression).is_err());
}

/// The tiles of large products spill nothing.
#[test]
fn grids_of_large_products_spill_nothing() {
    let tiles = [
        "tile 128 64 16 grid 8 4 across 8",
        "tile 256 64 16 grid 8 4 across 8",
        "tile 128 128 16 grid 8 4 across 8",
        "tile 128 64 32 grid 16 4 across 8",
        "tile 64 64 32 grid 4 4 across 8",
    ];
    for gpu in Gpu::ALL {
        let mut written = Vec::new();
        for factors in [["i,k", "k,j"], ["k,i", "k,j"]] {
            let program = product("f32", [2048, 2048, 2048], factors);
            let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
            for tile in tiles {
                let made = kernel_by(&expression, &gpu, "k", schedule(&expression, tile)).unwrap();
                let named = Kernel { name: format!("k{}", written.len()), ..made.launch.kernel };
                written.push(write(&legal(&named).unwrap()).unwrap());
            }
        }
        let ptx = compile::ptx(&module(&written), gpu.name).unwrap_or_else(|error| panic!("{error}"));
        for kernel in assemble(&ptx, gpu.name).unwrap_or_default() {
            eprintln!("{}: {kernel:?}", gpu.name);
            assert!(kernel.spilled == 0 && kernel.registers <= 255, "{}: {kernel:?}", gpu.name);
        }
    }
}
