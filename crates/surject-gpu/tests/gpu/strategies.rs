//! Every strategy on its own: results, races, traffic, and what the model says.

use crate::harness::{Collected, Counting, OnPtx, for_all, on_ptx};
use crate::programs::program;
use crate::strategy_cases::{Case, cases};
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Machine, Strategy, choose};
use surject_codegen::kernels::run::{expressions, run_on};
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_gpu::model::model;
use surject_ir::interp;
use surject_ir::testing::random_args;
use surject_kernel::Kernel;
use surject_kernel::interpret::{Counts, Options, Order};

/// A GPU with one of its strategies, and what every expression allows.
struct Only(Gpu, &'static str);

impl Machine for Only {
    fn name(&self) -> &str {
        self.0.name
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        let mut found = self.0.strategies();
        found.retain(|s| s.name() == self.1);
        if found.is_empty() {
            found = self.0.strategies();
        }
        found
    }

    /// Only where every strategy is there.
    fn stages(&self, expression: &Expression) -> Option<(String, i64)> {
        if self.1 == "all" { self.0.stages(expression) } else { None }
    }
}

/// How far results may be from the interpreter's: matrix units do not round products, of which `bf16` loses some digits.
fn close(strategy: &str) -> f64 {
    if strategy == "matrix units" { 0.25 } else { 1e-4 }
}

/// A case on the interpreter of kernels in several orders of agents: its kernels, and what the first order counts.
fn in_several_orders(gpu: &Gpu, case: &Case) -> (Vec<Kernel>, String) {
    let Case { strategy, name, program, .. } = case;
    let machine = Only(gpu.clone(), strategy);
    let args = random_args(program.function("main").unwrap(), 5);
    let expected = interp::run(program, "main", &args).unwrap();
    let all = expressions(program.function("main").unwrap()).unwrap();
    let traffic = all.iter().flat_map(|(_, e)| e.traffic());
    let needed: f64 = traffic.map(|t| (t.bytes / gpu.sector as f64).ceil()).sum();
    let (mut kernels, mut said) = (Vec::new(), String::new());
    for order in [Order::Forward, Order::Backward, Order::Shuffled(3)] {
        let options = Options { order, ..Options::default() };
        let mut on = Counting { options, counts: Counts::default(), kernels: Vec::new() };
        let found = run_on(program, "main", &args, &machine, &Schedules::default(), &mut on)
            .unwrap_or_else(|error| panic!("{name} by {strategy}: {error}"));
        let counts = on.counts;
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, close(strategy));
        assert!(report.passed(), "{name} by {strategy}: {report}");
        let sectors = counts.sectors as f64 / needed;
        assert!(
            sectors <= case.sectors,
            "{name} by {strategy}: {} sectors, needed are {needed}",
            counts.sectors
        );
        assert!(counts.bank_conflicts <= case.conflicts, "{name}: {} conflicts", counts.bank_conflicts);
        if order == Order::Forward {
            kernels = on.kernels;
            said = format!(
                "{name} by {strategy}: {sectors:.2} times the sectors, {} bank conflicts, {} barriers\n",
                counts.bank_conflicts, counts.barriers
            );
        }
    }
    (kernels, said)
}

/// A case as PTX.
fn as_ptx(gpu: &Gpu, case: &Case, collected: &Collected, module: &surject_ptx::Module) {
    let Case { strategy, name, program, .. } = case;
    let mut executor = OnPtx { collected, module, counts: Vec::new(), sizes: Vec::new() };
    let args = random_args(program.function("main").unwrap(), 5);
    let expected = interp::run(program, "main", &args).unwrap();
    let found = on_ptx(program, &args, &Only(gpu.clone(), strategy), &mut executor);
    let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, close(strategy));
    assert!(report.passed(), "{name} by {strategy} as PTX: {report}");
    let products = executor.counts.iter().map(|c| c.1.products).sum::<u64>();
    assert!(*strategy != "matrix units" || products > 0, "{name}: no product by matrix units");
    // Vectors of 16 bytes are what the PTX accesses.
    if *strategy == "vectors" && !name.contains("border") {
        let counts = executor.counts.last().unwrap().1;
        let each = counts.bytes as f64 / counts.accesses as f64;
        assert!(each >= 15.9, "{name}: {each} bytes an access");
    }
}

/// In several orders of agents no race is found, and results are those of the interpreter; so are those of the PTX.
#[test]
fn every_strategy_computes_the_same() {
    let gpu = Gpu::named("sm_80").unwrap();
    let all = cases();
    let mut said = String::new();
    let mut collected = Collected::default();
    for (kernels, counted) in for_all(&all, |case| in_several_orders(&gpu, case)) {
        kernels.iter().for_each(|kernel| collected.add(kernel).unwrap_or_else(|error| panic!("{error}")));
        said += &counted;
    }
    let module = surject_ptx::parse(&collected.ptx(gpu.name)).unwrap_or_else(|error| panic!("{error}"));
    for_all(&all, |case| as_ptx(&gpu, case, &collected, &module));
    insta::assert_snapshot!(said);
}

/// Tiles are brought before the loop over a sum begins, so an empty one has none.
#[test]
fn an_empty_sum_has_no_tiles() {
    let gpu = Gpu::named("sm_80").unwrap();
    let tiles = |terms: usize| {
        let program = program(
            &format!("a: f32[64,{terms},16], b: f32[{terms},16,64]"),
            &format!("y : f32[64,64] =:+ over i<64, j<64, u<{terms}, k<16 at [i,j]: a[i,u,k] * b[u,k,j]"),
        );
        let all = expressions(program.function("main").unwrap()).unwrap();
        let strategy = Only(gpu.clone(), "tiles").strategies().remove(0);
        all.iter().map(|(_, expression)| strategy.propose(expression).is_ok()).collect::<Vec<bool>>()
    };
    assert_eq!(tiles(2), [true]);
    assert_eq!(tiles(0), [false]);
}

/// What is chosen for the programs that the suite of benchmarks has, and how far it is from the roof.
#[test]
fn the_model_chooses() {
    let gpu = Gpu::named("sm_80").unwrap();
    let programs = [
        (
            "elementwise",
            program("a: f32[4194304], b: f32[4194304]", "y : f32[4194304] =: over i<4194304: a[i] * b[i]"),
        ),
        ("row sums", program("a: f32[4096,1024]", "y : f32[4096] =:+ over i<4096, k<1024 at [i]: a[i,k]")),
        ("long rows", program("a: f32[256,65536]", "y : f32[256] =:+ over i<256, k<65536 at [i]: a[i,k]")),
        ("column sums", program("a: f32[4096,1024]", "y : f32[1024] =:+ over i<1024, k<4096 at [i]: a[k,i]")),
        (
            "softmax",
            program(
                "a: f32[4096,1024]",
                "let m : f32[4096] =:max over i<4096, k<1024 at [i]: a[i,k]\n  \
                 let e : f32[4096,1024] =: over i<4096, j<1024: exp(a[i,j] - m[i])\n  \
                 let s : f32[4096] =:+ over i<4096, k<1024 at [i]: e[i,k]\n  \
                 y : f32[4096,1024] =: over i<4096, j<1024: e[i,j] / s[i]",
            ),
        ),
        ("transposition", program("a: f32[2048,2048]", "y : f32[2048,2048] =: over i<2048, j<2048: a[j,i]")),
        (
            "product",
            program(
                "a: f32[1024,1024], b: f32[1024,1024]",
                "y : f32[1024,1024] =:+ over i<1024, j<1024, k<1024 at [i,j]: a[i,k] * b[k,j]",
            ),
        ),
    ];
    let mut said = String::new();
    for (name, program) in &programs {
        for (_, expression) in expressions(program.function("main").unwrap()).unwrap() {
            let choice = choose(&gpu, &expression).unwrap();
            let model = model(&gpu, &expression, &choice.proposal.schedule);
            said += &format!("{name}: {}: {model}\n{}", choice.strategy, choice.proposal.schedule);
        }
    }
    insta::assert_snapshot!(said);
}
