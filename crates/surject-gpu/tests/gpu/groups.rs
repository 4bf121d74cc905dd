//! Products by four warps together (`wgmma`), from programs to PTX on its interpreter and through the assembler.

use crate::assembler::assemble;
use crate::harness::{Collected, OnPtx, Only, collect, on_ptx};
use crate::programs::program;
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::{Machine, choose};
use surject_codegen::kernels::run::{expressions, kernels};
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_gpu::compile;
use surject_gpu::model::model;
use surject_gpu::write::{module, write};
use surject_ir::testing::random_args;
use surject_ir::{Program, StatementKind, interp};
use surject_kernel::Kernel;

/// A Hopper GPU that has nothing else.
fn hopper() -> Only {
    Only(Gpu { group_products_confirmed: true, ..Gpu::named("sm_90a").unwrap() }, "warpgroups")
}

/// A product of two types, with factors that lie by rows or by columns; what is computed of its sums follows.
pub fn product(dtype: &str, [m, n, k]: [usize; 3], [left, right]: [&str; 2], result: &str) -> Program {
    let a = if left == "i,k" { [m, k] } else { [k, m] };
    let b = if right == "j,k" { [n, k] } else { [k, n] };
    let term = match result {
        "f32" => format!("f32(a[{left}]) * f32(b[{right}])"),
        _ => format!("a[{left}] * b[{right}]"),
    };
    program(
        &format!("a: {dtype}[{},{}], b: {dtype}[{},{}]", a[0], a[1], b[0], b[1]),
        &format!("y : {result}[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: {term}"),
    )
}

fn cases() -> Vec<Program> {
    let rows = ["i,k", "j,k"];
    vec![
        product("bf16", [128, 128, 192], rows, "f32"),
        product("f16", [64, 256, 64], rows, "f16"),
        product("bf16", [64, 64, 640], ["i,k", "k,j"], "bf16"),
        product("f16", [256, 128, 128], ["k,i", "k,j"], "f32"),
        product("bf16", [128, 256, 128], ["k,i", "j,k"], "bf16"),
        product("bf16", [128, 256, 384], ["i,k", "k,j"], "f32"),
    ]
}

/// The same whose operands are brought in boxes.
pub fn with_boxes() -> Only {
    Only(Gpu { boxes_confirmed: true, ..hopper().0 }, "warpgroups")
}

/// Products by boxes: their last tiles may be cut off, and there may be further loops.
fn cases_of_boxes() -> Vec<Program> {
    let rows = ["i,k", "j,k"];
    let mut all = cases();
    all.extend([
        product("bf16", [100, 72, 200], rows, "f32"),
        product("f16", [104, 136, 72], ["k,i", "k,j"], "f16"),
        product("bf16", [128, 64, 64], rows, "bf16"),
        program(
            "a: bf16[3,72,128], b: bf16[3,128,64]",
            "y : bf16[3,72,64] =:+ over b<3, i<72, j<64, k<128 at [b,i,j]: a[b,i,k] * b[b,k,j]",
        ),
        // Two loops over rows, whose rows follow each other.
        program(
            "a: bf16[3,40,128], w: bf16[128,64]",
            "y : bf16[3,40,64] =:+ over b<3, i<40, j<64, k<128 at [b,i,j]: a[b,i,k] * w[k,j]",
        ),
        program(
            "a: bf16[64,2,128], b: bf16[2,128,64]",
            "y : bf16[64,64] =:+ over i<64, j<64, t<2, k<128 at [i,j]: a[i,t,k] * b[t,k,j]",
        ),
    ]);
    all
}

#[test]
fn products_by_four_warps_give_what_the_interpreter_gives() {
    agree(&hopper(), &cases(), false);
}

#[test]
fn products_of_boxes_give_what_the_interpreter_gives() {
    agree(&with_boxes(), &cases_of_boxes(), true);
}

/// Programs on the interpreter of kernels, on that of PTX, and through the assembler.
fn agree(machine: &Only, all: &[Program], boxes: bool) {
    let mut collected = Collected::default();
    let args: Vec<_> =
        (0..).zip(all).map(|(seed, p)| random_args(p.function("main").unwrap(), seed)).collect();
    for (program, args) in all.iter().zip(&args) {
        collect(program, args, machine, &mut collected).expect("it is supported");
    }
    let text = collected.ptx("sm_90a");
    let module = surject_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut executor =
        OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
    for (program, args) in all.iter().zip(&args) {
        let expected = interp::run(program, "main", args).unwrap();
        let found = on_ptx(program, args, machine, &mut executor);
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
        assert!(report.passed(), "{report}\n{}", surject_ir::print(program));
    }
    assert!(text.matches("wgmma.mma_async").count() >= 4 * collected.written.len());
    assert!(executor.counts.iter().all(|c| c.1.products > 0));
    assert_eq!(text.contains("cp.async.bulk.tensor"), boxes);
    if let Some(uses) = assemble(&text, "sm_90a") {
        for kernel in uses {
            assert_eq!(kernel.spilled, 0, "{kernel:?}");
            eprintln!("{kernel:?}");
        }
    }
}

/// The largest tile: 128 registers of a thread are sums.
#[test]
fn the_assembler_takes_the_largest_tile() {
    let machine = hopper();
    let (mut written, mut names) = (Vec::new(), 0);
    for left in ["i,k", "k,i"] {
        for right in ["k,j", "j,k"] {
            let program = product("bf16", [2048, 2048, 2048], [left, right], "bf16");
            let function = program.function("main").unwrap();
            let StatementKind::Store { field, .. } = function.body.statements[0].kind else {
                panic!("no store")
            };
            for made in kernels(function, field, &machine, "k", &Schedules::default()).unwrap().kernels {
                let named = Kernel { name: format!("k{names}"), ..made.launch.kernel };
                names += 1;
                written.push(write(&legal(&named).unwrap()).unwrap());
            }
        }
    }
    let ptx = compile::ptx(&module(&written), "sm_90a").unwrap_or_else(|error| panic!("{error}"));
    assert!(ptx.contains("m64n256k16"));
    for kernel in assemble(&ptx, "sm_90a").unwrap_or_default() {
        eprintln!("{kernel:?}");
        assert!(kernel.spilled == 0 && kernel.registers <= 255, "{kernel:?}");
    }
}

/// What is chosen for large products, and what it takes by the model.
#[test]
fn large_products_are_those_of_four_warps() {
    let machine = hopper().0;
    let mut said = String::new();
    for n in [1024, 2048, 4096] {
        let program = product("bf16", [n, n, n], ["i,k", "k,j"], "bf16");
        for (_, expression) in expressions(program.function("main").unwrap()).unwrap() {
            let choice = choose(&machine, &expression).unwrap();
            let found = model(&machine, &expression, &choice.proposal.schedule);
            said += &format!("{n}: {}: {found}\n{}", choice.strategy, choice.proposal.schedule);
        }
    }
    insta::assert_snapshot!(said);
}

/// Nothing is proposed where there are no such products: another machine, other types, tiles that are not whole.
#[test]
fn other_products_are_refused_with_a_reason() {
    let why = |machine: &dyn Machine, program: &Program| {
        let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
        let all = machine.strategies();
        let found = all.iter().find(|s| s.name() == "warpgroups").unwrap().propose(&expression);
        found.err().unwrap_or_default()
    };
    let rows = ["i,k", "j,k"];
    let fits = product("bf16", [128, 128, 128], rows, "f32");
    assert!(why(&Gpu::named("sm_80").unwrap(), &fits).contains("no products by four warps"));
    assert!(why(&Gpu::named("sm_100").unwrap(), &fits).contains("no products by four warps"));
    assert_eq!(why(&hopper(), &fits), "");
    let unconfirmed = why(&Gpu::named("sm_90a").unwrap(), &fits);
    assert!(unconfirmed.contains("no GPU has confirmed") && unconfirmed.contains("group"), "{unconfirmed}");
    let cut = product("bf16", [100, 128, 128], rows, "f32");
    assert!(why(&hopper(), &cut).contains("no tile fits"));
    let doubles = product("f64", [128, 128, 128], rows, "f64");
    assert!(why(&hopper(), &doubles).contains("no tile fits"));
}
