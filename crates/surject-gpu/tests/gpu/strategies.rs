//! Every strategy on its own: results, races, traffic, and what the model says.

use crate::harness::{Collected, OnPtx, collect, on_ptx};
use crate::programs::program;
use surject_codegen::kernels::machine::{Machine, Strategy, choose};
use surject_codegen::kernels::run::{expressions, run};
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_gpu::model::model;
use surject_ir::testing::random_args;
use surject_ir::{Program, interp};
use surject_kernel::interpret::{Options, Order};

/// A GPU with one of its strategies, and what every expression allows.
struct Only(Gpu, &'static str);

impl Machine for Only {
    fn name(&self) -> &str {
        self.0.name
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        let own = |s: &Box<dyn Strategy>| s.name() == self.1;
        let mut found: Vec<Box<dyn Strategy>> = self.0.strategies().into_iter().filter(own).collect();
        if found.is_empty() {
            found = self.0.strategies();
        }
        found
    }
}

/// Programs by the strategy that they are for; the sectors of global memory that a kernel may touch over those that it
/// needs, and its bank conflicts.
fn cases() -> Vec<(&'static str, &'static str, Program, f64, u64)> {
    let one = |strategy, name, params: &str, text: &str, sectors, conflicts| {
        (strategy, name, program(params, text), sectors, conflicts)
    };
    let softmax = |rows: usize, n: usize| {
        format!(
            "let m : f32[{rows}] =:max over i<{rows}, k<{n} at [i]: a[i,k]\n  \
             let e : f32[{rows},{n}] =: over i<{rows}, j<{n}: exp(a[i,j] - m[i])\n  \
             let s : f32[{rows}] =:+ over i<{rows}, k<{n} at [i]: e[i,k]\n  \
             y : f32[{rows},{n}] =: over i<{rows}, j<{n}: e[i,j] / s[i]"
        )
    };
    let product = |dtype: &str, (m, n, k): (usize, usize, usize), left: &str, right: &str| {
        format!("y : {dtype}[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: a[{left}] * b[{right}]")
    };
    vec![
        one("vectors", "elementwise f32", "a: f32[4096], b: f32[4096]", "y : f32[4096] =: over i<4096: a[i] * b[i]", 1.01, 0),
        one("vectors", "a border of vectors", "a: f32[1000]", "y : f32[1000] =: over i<1000: a[i] * 2.0f32", 1.1, 0),
        one("vectors", "elementwise bf16", "a: bf16[2048]", "y : bf16[2048] =: over i<2048: a[i] + 1.0bf16", 1.01, 0),
        one("vectors", "bytes", "a: i8[2048]", "y : i8[2048] =: over i<2048: a[i] + 1i8", 1.01, 0),
        one(
            "vectors", "a row for all rows", "a: f32[24,64], b: f32[64]",
            "y : f32[24,64] =: over i<24, j<64: a[i,j] + b[j]", 1.5, 0,
        ),
        one("points", "a transposition", "a: f32[64,64]", "y : f32[64,64] =: over i<64, j<64: a[j,i]", 5.0, 0),
        one("points", "odd rows", "a: f32[33,65]", "y : f32[33,65] =: over i<33, j<65: a[i,j] + 1.0f32", 1.5, 0),
        one("warps", "row sums", "a: f32[16,256]", "y : f32[16] =:+ over i<16, k<256 at [i]: a[i,k]", 1.1, 0),
        one("warps", "odd row sums", "a: f32[6,100]", "y : f32[6] =:+ over i<6, k<100 at [i]: a[i,k]", 1.3, 0),
        one("warps", "softmax", "a: f32[8,256]", &softmax(8, 256), 1.01, 0),
        one("warps", "softmax of odd rows", "a: f32[4,75]", &softmax(4, 75), 1.5, 0),
        one("warps", "maxima of halves", "a: f16[8,512]", "y : f16[8] =:max over i<8, k<512 at [i]: a[i,k]", 1.1, 0),
        one("blocks", "long row sums", "a: f32[3,4096]", "y : f32[3] =:+ over i<3, k<4096 at [i]: a[i,k] * a[i,k]", 1.1, 0),
        one("blocks", "long softmax", "a: f32[2,2048]", &softmax(2, 2048), 1.01, 0),
        one("blocks", "odd long rows", "a: f64[2,700]", "y : f64[2] =:+ over i<2, k<700 at [i]: a[i,k]", 1.2, 0),
        one("tiles", "product f32", "a: f32[64,64], b: f32[64,128]", &product("f32", (64, 128, 64), "i,k", "k,j"), 2.0, 100_000),
        one("tiles", "odd product", "a: f32[70,45], b: f32[45,130]", &product("f32", (70, 130, 45), "i,k", "k,j"), 4.0, 100_000),
        one("tiles", "product by columns", "a: f32[40,64], b: f32[128,40]", &product("f32", (64, 128, 40), "k,i", "j,k"), 3.0, 100_000),
        one("tiles", "product bf16", "a: bf16[64,32], b: bf16[32,128]", &product("bf16", (64, 128, 32), "i,k", "k,j"), 2.5, 100_000),
        one("tiles", "product f64", "a: f64[32,40], b: f64[40,64]", &product("f64", (32, 64, 40), "i,k", "k,j"), 3.0, 100_000),
        one(
            "tiles", "product with a bias", "a: f32[64,32], b: f32[32,64], c: f32[64]",
            "let p : f32[64,64] =:+ over i<64, j<64, k<32 at [i,j]: a[i,k] * b[k,j]\n  \
             y : f32[64,64] =: over i<64, j<64: max(p[i,j] + c[j], 0.0f32)", 3.0, 100_000,
        ),
        one(
            "tiles", "products", "a: i32[3,32,32], b: i32[3,32,64]",
            "y : i32[3,32,64] =:+ over g<3, i<32, j<64, k<32 at [g,i,j]: a[g,i,k] * b[g,k,j]", 4.0, 100_000,
        ),
    ]
}

/// In several orders of agents no race is found, and results are those of the interpreter; so are those of the PTX.
#[test]
fn every_strategy_computes_the_same() {
    let gpu = Gpu::named("sm_80").unwrap();
    let mut said = String::new();
    let mut collected = Collected::default();
    let all = cases();
    for (strategy, name, program, most, conflicts) in &all {
        let machine = Only(gpu.clone(), strategy);
        let args = random_args(program.function("main").unwrap(), 5);
        let expected = interp::run(program, "main", &args).unwrap();
        let needed: f64 = expressions(program.function("main").unwrap())
            .unwrap()
            .iter()
            .flat_map(|(_, e)| e.traffic())
            .map(|t| (t.1 / gpu.sector as f64).ceil())
            .sum();
        for order in [Order::Forward, Order::Backward, Order::Shuffled(3)] {
            let options = Options { order, ..Options::default() };
            let (found, counts) = run(program, "main", &args, &machine, &options, &Schedules::default())
                .unwrap_or_else(|error| panic!("{name} by {strategy}: {error}"));
            let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 1e-4);
            assert!(report.passed(), "{name} by {strategy}: {report}");
            let sectors = counts.sectors as f64 / needed;
            assert!(sectors <= *most, "{name} by {strategy}: {} sectors, needed are {needed}", counts.sectors);
            assert!(counts.bank_conflicts <= *conflicts, "{name}: {} conflicts", counts.bank_conflicts);
            if order == Order::Forward {
                said += &format!(
                    "{name} by {strategy}: {sectors:.2} times the sectors, {} bank conflicts, {} barriers\n",
                    counts.bank_conflicts, counts.barriers
                );
            }
        }
        assert!(collect(program, &args, &machine, &mut collected).is_some(), "{name}: {:?}", collected.refused);
    }
    let module = surject_ptx::parse(&collected.ptx(gpu.name)).unwrap_or_else(|error| panic!("{error}"));
    let mut executor = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
    for (strategy, name, program, ..) in &all {
        let args = random_args(program.function("main").unwrap(), 5);
        let expected = interp::run(program, "main", &args).unwrap();
        let found = on_ptx(program, &args, &Only(gpu.clone(), strategy), &mut executor);
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 1e-4);
        assert!(report.passed(), "{name} by {strategy} as PTX: {report}");
        // Vectors of 16 bytes are what the PTX accesses.
        if *strategy == "vectors" && !name.contains("border") {
            let counts = executor.counts.last().unwrap().1;
            let each = counts.bytes as f64 / counts.accesses as f64;
            assert!(each >= 15.9, "{name}: {each} bytes an access");
        }
    }
    insta::assert_snapshot!(said);
}

/// What is chosen for the programs that the suite of benchmarks has, and how far it is from the roof.
#[test]
fn the_model_chooses() {
    let gpu = Gpu::named("sm_80").unwrap();
    let programs = [
        ("elementwise", program("a: f32[4194304], b: f32[4194304]", "y : f32[4194304] =: over i<4194304: a[i] * b[i]")),
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
