//! Chains: attention in one kernel gives what the interpreter gives, whatever a mask throws away.

use crate::assembler::assemble;
use crate::harness::{Collected, OnPtx, for_all};
use std::collections::HashMap;
use surject_codegen::kernels::chain::{Chain, ChainTiles, Scores};
use surject_codegen::kernels::contraction::{Share, Tiles};
use surject_codegen::kernels::expression::{Expression, Tensor as Of, assignment};
use surject_codegen::kernels::lower::ChainKernels;
use surject_codegen::kernels::lower::Launch;
use surject_codegen::kernels::run::{Executor, kernel, kernel_by};
use surject_codegen::kernels::schedule::Schedules;
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_cuda::{Session, Simulated};
use surject_gpu::Gpu;
use surject_gpu::program::chains::{Chained, Mask, chains, readers, times};
use surject_gpu::program::{compile, planned};
use surject_ir::{Buffer, DType, Function, Program, Scalar, StatementKind, Var, interp, parse};
use surject_kernel::interpret::{self, Options, Order, Tensor};

/// Attention of some heads: the type of the arguments, queries, keys, the size of a head, and the scores that are kept.
pub struct Attention {
    dtype: &'static str,
    queries: i64,
    keys: i64,
    head: i64,
    heads: i64,
    /// A condition of `q` and `t`, and what stands where it does not hold.
    mask: Option<(&'static str, &'static str)>,
    /// Are the heads behind the positions, as JAX has them?
    heads_inside: bool,
}

impl Attention {
    fn program(&self) -> Program {
        let text = self.text();
        parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn text(&self) -> String {
        let Attention { dtype, queries: q, keys: t, head: d, heads: h, .. } = *self;
        let (shape_q, shape_k, at_q, at_k, at_v) = match self.heads_inside {
            true => (format!("1,{q},{h},{d}"), format!("1,{t},{h},{d}"), "b,q,h,e", "b,t,h,e", "b,t,h,d"),
            false => (format!("1,{h},{q},{d}"), format!("1,{h},{t},{d}"), "b,h,q,e", "b,h,t,e", "b,h,t,d"),
        };
        let product = format!(
            "(+ over b<1, h<{h}, q<{q}, t<{t}, e<{d} at [b,h,q,t]: f32(x[{at_q}]) * f32(y[{at_k}])) * 0.25f32"
        );
        let scores = match self.mask {
            Some((condition, fill)) => format!("select({condition}, {product}, {fill})"),
            None => product,
        };
        let results = if self.heads_inside { "b,q,h,d" } else { "b,h,q,d" };
        let order = if self.heads_inside {
            format!("over b<1, q<{q}, h<{h}, d<{d}, t<{t}")
        } else {
            format!("over b<1, h<{h}, q<{q}, d<{d}, t<{t}")
        };
        let rows = format!("over b<1, h<{h}, q<{q}, t<{t}");
        let text = format!(
            "program p\n\nfunc main(x: {dtype}[{shape_q}], y: {dtype}[{shape_k}], v: {dtype}[{shape_k}], \
             m: i1[{q},{t}]) -> (z) {{\n  \
             s : f32[1,{h},{q},{t}] =: {rows}: {scores}\n  \
             let a : f32[1,{h},{q}] =:max {rows} at [b,h,q]: s[b,h,q,t]\n  \
             let w : f32[1,{h},{q},{t}] =: {rows}: exp(s[b,h,q,t] - a[b,h,q])\n  \
             let n : f32[1,{h},{q}] =:+ {rows} at [b,h,q]: w[b,h,q,t]\n  \
             p : {dtype}[1,{h},{q},{t}] =: {rows}: {dtype}(w[b,h,q,t] / n[b,h,q])\n  \
             z : {dtype}[{shape_q}] =: {dtype}_of\n}}\n"
        );
        let last = format!("(+ {order} at [{results}]: f32(p[b,h,q,t]) * f32(v[{at_v}]))",);
        let whole = match self.heads_inside {
            true => format!("over b<1, q<{q}, h<{h}, d<{d}: {dtype}({last})"),
            false => format!("over b<1, h<{h}, q<{q}, d<{d}: {dtype}({last})"),
        };
        text.replace(&format!("{dtype}_of"), &whole)
    }

    /// Arguments; the values of keys from one on are no numbers, or none is.
    fn args(&self, seed: u64, bad_from: i64) -> Vec<Buffer> {
        let function_shape = |keys: i64| -> Vec<usize> {
            let (t, d, h) = (keys as usize, self.head as usize, self.heads as usize);
            if self.heads_inside { vec![1, t, h, d] } else { vec![1, h, t, d] }
        };
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / (1u64 << 24) as f32 - 0.5) * 4.0
        };
        let mut tensor = |shape: Vec<usize>, bad: bool| {
            let all: usize = shape.iter().product();
            let per = self.head as usize;
            let values: Vec<f32> = (0..all)
                .map(|i| {
                    let row = i / per;
                    let key =
                        if self.heads_inside { row / self.heads as usize % shape[1] } else { row % shape[2] };
                    if bad && key as i64 >= bad_from && i % 5 == 0 {
                        [f32::NAN, f32::INFINITY][i % 2]
                    } else {
                        next()
                    }
                })
                .collect();
            let bytes: Vec<u8> = match self.dtype {
                "f32" => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
                "f16" => values
                    .iter()
                    .flat_map(|&v| (Scalar::from_f64(DType::F16, v.into()).bits() as u16).to_ne_bytes())
                    .collect(),
                _ => values.iter().flat_map(|v| ((v.to_bits() >> 16) as u16).to_ne_bytes()).collect(),
            };
            let dtype = match self.dtype {
                "f32" => DType::F32,
                "f16" => DType::F16,
                _ => DType::BF16,
            };
            Buffer::from_bytes(dtype, &shape, &bytes).unwrap()
        };
        let (q, k) = (function_shape(self.queries), function_shape(self.keys));
        let mut all = vec![tensor(q, false), tensor(k.clone(), false), tensor(k, true)];
        // A mask of its own: some keys for some queries, none for the third one.
        let mask: Vec<u8> = (0..self.queries * self.keys)
            .map(|i| u8::from(i / self.keys != 2 && (i % self.keys) * 3 < i / self.keys * 2 + 9))
            .collect();
        let shape = [self.queries as usize, self.keys as usize];
        all.push(Buffer::from_bytes(DType::I1, &shape, &mask).unwrap());
        all
    }
}

fn find(function: &Function, name: &str) -> (Expression, Var) {
    function
        .body
        .statements
        .iter()
        .find_map(|s| match s.kind {
            StatementKind::Store { target, field } if function.name_of(target) == name => {
                let mut made = assignment(function, field).unwrap();
                assert_eq!(made.expressions.len(), 1, "{name}");
                Some((made.expressions.remove(0), target))
            }
            _ => None,
        })
        .unwrap_or_else(|| panic!("no `{name}`"))
}

fn chain(program: &Program) -> Chain {
    let function = program.function("main").unwrap();
    let last = find(function, "z").0;
    Chain::new(find(function, "s"), find(function, "p"), Some(last)).unwrap_or_else(|error| panic!("{error}"))
}

struct Interpreted(Options, interpret::Counts);

impl Executor for Interpreted {
    fn execute(&mut self, kernel: &surject_kernel::Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        let counts = interpret::run(kernel, &[], tensors, &self.0).map_err(|e| e.to_string())?;
        self.1.add(&counts);
        Ok(())
    }
}

/// Runs the kernels of a chain; gives the result.
fn run(program: &Program, kernels: &ChainKernels, args: &[Buffer], on: &mut dyn Executor) -> Buffer {
    let function = program.function("main").unwrap();
    let gpu = Gpu::named("sm_90a").unwrap();
    let ty = function.ty(function.body.results[0]);
    let shape: Vec<usize> = ty.space.sizes().unwrap().iter().map(|&n| n as usize).collect();
    let mut target = Tensor::unwritten(ty.dtype, shape.iter().product());
    let mut temporary = kernels
        .temporaries
        .first()
        .map(|ty| Tensor::unwritten(ty.dtype, ty.space.sizes().unwrap().iter().product::<i64>() as usize));
    let mut launches = Vec::new();
    if let Some(finite) = &kernels.finite {
        launches.push(kernel(finite, &gpu, "finite").unwrap().launch);
    }
    launches.push(kernels.chain.clone());
    for launch in &launches {
        let mut tensors: Vec<Tensor> = launch
            .tensors
            .iter()
            .map(|tensor| match tensor {
                Of::Var(var) => {
                    let at = function.params.iter().position(|p| p == var).expect("a parameter");
                    Tensor::of_buffer(&args[at])
                }
                Of::Target => target.clone(),
                Of::Temporary(_) => temporary.clone().unwrap(),
            })
            .collect();
        on.execute(&launch.kernel, &mut tensors).unwrap_or_else(|error| panic!("{error}"));
        for (of, tensor) in launch.tensors.iter().zip(tensors) {
            match of {
                Of::Target => target = tensor,
                Of::Temporary(_) => temporary = Some(tensor),
                Of::Var(_) => {}
            }
        }
    }
    target.to_buffer(&shape).expect("every element is written")
}

fn by_threads(rows: i64) -> ChainTiles {
    ChainTiles {
        rows,
        tiles: [[64, 16], [32, 16]],
        shares: [Share::Thread([8, 1]), Share::Thread([8, 1])],
        scores: Scores::All,
    }
}

fn by_warps(rows: i64) -> ChainTiles {
    ChainTiles { rows, tiles: [[32, 16], [32, 16]], shares: [Share::Warp(16); 2], scores: Scores::All }
}

const CAUSAL: &str = "index(q)i32 >= index(t)i32";

/// Attention of every kind: masks by positions and by values, that leave nothing of a row, with finite and infinite
/// fills; sizes that tiles do not divide; both layouts.
fn all() -> Vec<(Attention, ChainTiles)> {
    let attention = |dtype, (queries, keys, head), mask, heads_inside| Attention {
        dtype,
        queries,
        keys,
        head,
        heads: 2,
        mask,
        heads_inside,
    };
    vec![
        (attention("f32", (64, 128, 32), None, false), by_threads(32)),
        (attention("f32", (64, 64, 32), Some((CAUSAL, "-inf_f32")), false), by_threads(32)),
        (attention("f32", (64, 128, 32), Some((CAUSAL, "-1000000000.0f32")), true), by_threads(32)),
        (attention("f32", (32, 80, 16), Some(("m[q,t]", "-inf_f32")), true), by_threads(32)),
        (attention("f32", (32, 80, 16), Some(("m[q,t]", "-50.0f32")), false), by_threads(32)),
        (attention("bf16", (32, 128, 32), Some((CAUSAL, "-1000000000.0f32")), true), by_warps(32)),
        (
            attention("bf16", (64, 64, 32), Some(("m[q,t]", "-inf_f32")), false),
            ChainTiles {
                rows: 64,
                tiles: [[64, 32], [32, 32]],
                shares: [Share::Warp(16); 2],
                scores: Scores::All,
            },
        ),
    ]
}

fn same(found: &Buffer, expected: &Buffer, what: &str) {
    same_beside(found, expected, 1.0, what)
}

/// The same where values are of this size.
fn same_beside(found: &Buffer, expected: &Buffer, size: f64, what: &str) {
    let tolerance = if expected.dtype() == DType::F32 { 2e-5 } else { 2e-2 };
    let report = surject_runtime::compare::compare(found, expected, tolerance, size * tolerance);
    assert!(report.passed(), "{what}: {report}");
}

#[test]
fn chains_give_what_the_interpreter_gives() {
    for (number, (attention, tiles)) in all().into_iter().enumerate() {
        let program = attention.program();
        let chain = chain(&program);
        assert_eq!(chain.is_masked(), attention.mask.is_some(), "attention {number}");
        let kernels = chain.kernels("attention", &tiles).unwrap_or_else(|error| panic!("{number}: {error}"));
        let args = attention.args(number as u64 + 1, attention.keys * 2 / 3);
        let expected = interp::run(&program, "main", &args).unwrap();
        let mut on = Interpreted(Options::default(), interpret::Counts::default());
        let found = run(&program, &kernels, &args, &mut on);
        same(&found, &expected[0], &format!("attention {number}"));
    }
}

/// The same by tiles of scores: of threads with several rows and columns, of warps, where columns are no whole tiles, and
/// heads no powers of two.
fn all_by_tiles() -> Vec<(Attention, ChainTiles)> {
    let attention = |dtype, (queries, keys, head), mask, heads_inside| Attention {
        dtype,
        queries,
        keys,
        head,
        heads: 2,
        mask,
        heads_inside,
    };
    let by = |rows, columns, head, shares| ChainTiles {
        rows,
        tiles: [[columns, head], [head, columns]],
        shares,
        scores: Scores::Tile,
    };
    let threads = |own, lanes| [Share::Thread([own, 1]), Share::Thread([own, lanes])];
    vec![
        (attention("f32", (64, 128, 32), None, false), by(32, 32, 32, threads(8, 1))),
        (attention("f32", (128, 128, 64), Some((CAUSAL, "-inf_f32")), false), by(32, 32, 64, threads(8, 2))),
        (
            attention("f32", (64, 128, 32), Some((CAUSAL, "-1000000000.0f32")), true),
            by(64, 64, 32, threads(8, 1)),
        ),
        (attention("f32", (32, 80, 16), Some(("m[q,t]", "-inf_f32")), true), by(32, 32, 32, threads(8, 1))),
        (attention("f32", (32, 96, 24), Some(("m[q,t]", "-50.0f32")), false), by(32, 32, 32, threads(4, 1))),
        (
            attention("f32", (32, 96, 32), Some(("m[q,t]", "-1000000000.0f32")), false),
            by(32, 32, 32, threads(8, 1)),
        ),
        (
            attention("bf16", (64, 128, 32), Some((CAUSAL, "-1000000000.0f32")), true),
            by(32, 32, 32, [Share::Warp(16); 2]),
        ),
        (
            attention("bf16", (64, 64, 32), Some(("m[q,t]", "-inf_f32")), false),
            by(64, 32, 32, [Share::Warp(16); 2]),
        ),
        (attention("bf16", (64, 192, 64), None, false), by(64, 64, 64, [Share::Warp(16); 2])),
        (
            attention("f16", (64, 96, 32), Some((CAUSAL, "-inf_f32")), true),
            by(32, 32, 32, [Share::Warp(16); 2]),
        ),
        (
            attention("bf16", (32, 80, 64), Some(("m[q,t]", "-50.0f32")), false),
            by(32, 32, 64, [Share::Warp(16); 2]),
        ),
    ]
}

/// Where infinities, values that are no numbers, and the largest ones are among what is multiplied.
#[derive(Clone, Copy, Debug)]
enum Special {
    Nowhere,
    /// Rows of queries.
    Queries,
    /// Keys: columns of scores.
    Keys,
    Values,
    /// Finite ones whose sums overflow before they are divided.
    Largest,
}

const SPECIAL: [Special; 5] =
    [Special::Nowhere, Special::Queries, Special::Keys, Special::Values, Special::Largest];

impl Special {
    /// The arguments with some of these.
    fn put(self, attention: &Attention, args: &mut [Buffer]) {
        let (number, every, values): (usize, usize, &[f32]) = match self {
            Special::Nowhere => return,
            Special::Queries => {
                (0, 7 * attention.head as usize, &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY])
            }
            Special::Keys => (1, 31 * attention.head as usize, &[f32::NEG_INFINITY, f32::INFINITY, f32::NAN]),
            Special::Values => (2, 37, &[f32::INFINITY, f32::NAN, f32::NEG_INFINITY]),
            Special::Largest => (2, 2, &[1.7e38, 1.6e38, -1.5e38]),
        };
        let arg = &args[number];
        let (dtype, shape) = (arg.dtype(), arg.shape().to_vec());
        let all = shape.iter().product();
        let scalars = (0..all).map(|i| match i % every {
            3 | 1 => Scalar::from_f64(dtype, values[i / every % values.len()].into()),
            _ => arg.get(i),
        });
        let bytes: Vec<u8> = scalars.flat_map(|s| s.bits().to_le_bytes()[..dtype.size()].to_vec()).collect();
        args[number] = Buffer::from_bytes(dtype, &shape, &bytes).unwrap();
    }
}

/// Chains by tiles of scores give what the interpreter gives: in f32 within 2e-5 and in bf16, whose weights are rounded
/// before they are divided, within 2e-2, of the size of values; infinities and NaNs where it has them, and zeros.
#[test]
fn chains_by_tiles_give_what_the_interpreter_gives() {
    let all: Vec<(usize, (Attention, ChainTiles))> = all_by_tiles().into_iter().enumerate().collect();
    for_all(&all, |(number, (attention, tiles))| {
        let program = attention.program();
        let kernels =
            chain(&program).kernels("attention", tiles).unwrap_or_else(|error| panic!("{number}: {error}"));
        for (turn, special) in SPECIAL.into_iter().enumerate() {
            let mut args = attention.args(*number as u64 + 1, attention.keys);
            special.put(attention, &mut args);
            let expected = interp::run(&program, "main", &args).unwrap();
            let order = [Order::Forward, Order::Backward, Order::Shuffled(7)][turn % 3];
            let options = Options { order, ..Options::default() };
            let mut on = Interpreted(options, interpret::Counts::default());
            let found = run(&program, &kernels, &args, &mut on);
            let size = if let Special::Largest = special { 1.7e38 } else { 1.0 };
            same_beside(&found, &expected[0], size, &format!("attention {number}, special {special:?}"));
        }
    });
}

/// The kernels of all chains.
pub fn collect_all(collected: &mut Collected) -> Vec<(Attention, Program, ChainKernels)> {
    let gpu = Gpu::named("sm_90a").unwrap();
    let made = all().into_iter().chain(all_by_tiles()).map(|(attention, tiles)| {
        let program = attention.program();
        let kernels = chain(&program).kernels("attention", &tiles).unwrap_or_else(|error| panic!("{error}"));
        if let Some(finite) = &kernels.finite {
            collected.add(&kernel(finite, &gpu, "finite").unwrap().launch.kernel).unwrap();
        }
        collected.add(&kernels.chain.kernel).unwrap_or_else(|error| panic!("{error}"));
        (attention, program, kernels)
    });
    made.collect()
}

#[test]
fn chains_as_ptx_give_what_the_interpreter_gives() {
    let mut collected = Collected::default();
    let (all, whole) = (collect_all(&mut collected), all().len());
    let module = surject_ptx::parse(&collected.ptx("sm_90a")).unwrap_or_else(|error| panic!("{error}"));
    let mut on = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
    for (number, (attention, program, kernels)) in all.iter().enumerate() {
        // Those by tiles of scores come last.
        let specials = if number < whole { 1 } else { 2 };
        for special in [Special::Nowhere, Special::Queries].into_iter().take(specials) {
            let mut args = attention.args(number as u64 + 7, attention.keys / 2);
            special.put(attention, &mut args);
            let expected = interp::run(program, "main", &args).unwrap();
            let found = run(program, kernels, &args, &mut on);
            same(&found, &expected[0], &format!("attention {number} as PTX, special {special:?}"));
        }
    }
}

/// Tiles above the diagonal are neither summed nor multiplied, where values are finite; else all that weights of zero
/// meet are multiplied.
#[test]
fn what_a_causal_mask_throws_away_is_not_computed() {
    let attention = Attention {
        dtype: "f32",
        queries: 128,
        keys: 128,
        head: 32,
        heads: 2,
        mask: Some((CAUSAL, "-1000000000.0f32")),
        heads_inside: false,
    };
    let program = attention.program();
    let tiles = ChainTiles {
        rows: 32,
        tiles: [[32, 16], [32, 32]],
        shares: [Share::Thread([8, 1]), Share::Thread([8, 1])],
        scores: Scores::All,
    };
    let kernels = chain(&program).kernels("attention", &tiles).unwrap();
    let flops = |bad_from: i64| {
        let args = attention.args(3, bad_from);
        let expected = interp::run(&program, "main", &args).unwrap();
        let mut on = Interpreted(Options::default(), interpret::Counts::default());
        same(&run(&program, &kernels, &args, &mut on), &expected[0], "causal");
        on.1.flops as f64
    };
    let products = (2 * 2 * 2 * 128 * 128 * 32) as f64;
    let (finite, other) = (flops(128), flops(0));
    // Of 16 tiles of scores and of values 10 are needed; of the values all, where they are not finite.
    assert!(finite < 0.63 * products + 0.25 * products, "{finite} of {products}");
    assert!(other > finite + 0.15 * products, "{other}, {finite}");
}

/// A plan has a chain where the model says that it is faster, and nothing of the size of the scores then.
#[test]
fn plans_have_chains() {
    let attention = |queries, head, mask, dtype| Attention {
        dtype,
        queries,
        keys: queries,
        head,
        heads: 8,
        mask,
        heads_inside: true,
    };
    let gpu = Gpu::named("sm_90a").unwrap();
    let mut said = String::new();
    for (name, attention) in [
        ("causal 1024", attention(1024, 64, Some((CAUSAL, "-1000000000.0f32")), "f32")),
        ("causal 512", attention(512, 64, Some((CAUSAL, "-1000000000.0f32")), "f32")),
        ("whole 512", attention(512, 64, None, "f32")),
        ("causal bf16", attention(512, 64, Some((CAUSAL, "-1000000000.0f32")), "bf16")),
        ("causal 384", attention(384, 64, Some((CAUSAL, "-1000000000.0f32")), "f32")),
        ("whole 384", attention(384, 64, None, "f32")),
        ("whole 1024", attention(1024, 64, None, "f32")),
        ("causal 2048", attention(2048, 64, Some((CAUSAL, "-1000000000.0f32")), "f32")),
        ("whole 2048", attention(2048, 64, None, "f32")),
        ("causal bf16 2048", attention(2048, 64, Some((CAUSAL, "-1000000000.0f32")), "bf16")),
        ("whole bf16 2048", attention(2048, 64, None, "bf16")),
        ("causal 8192", attention(8192, 64, Some((CAUSAL, "-1000000000.0f32")), "f32")),
    ] {
        let program = attention.program();
        let function = program.function("main").unwrap();
        let found = chains(function, &function.body, &readers(function), &gpu, &Schedules::default());
        let plan = planned(&program, "main", &gpu, &Schedules::default()).unwrap().plan;
        let scores = (8 * attention.queries * attention.keys) as usize;
        let stored = plan.tensors.iter().any(|t| t.shape.iter().product::<usize>() == scores);
        said += &match found.first() {
            None => {
                let (apart, best) = times(&gpu, &chain(&program), Mask::Literal).unwrap();
                let best = best.map(|b| format!("{:.1} us: {}", b.0 * 1e6, b.1)).unwrap_or_default();
                format!("{name}: no chain {best} for {:.1}\n", apart * 1e6)
            }
            Some((_, _, c)) => {
                let [chain, apart] = c.seconds.map(|s| s.map_or("no".into(), |s| format!("{:.1}", s * 1e6)));
                match &c.kernels {
                    Chained::One(tiles) => format!("{name}: {chain} us for {apart}: {tiles}\n"),
                    Chained::Apart(last) => format!("{name}: {chain} us for {apart}: apart, {last}\n"),
                }
            }
        };
        let is_one = found.iter().any(|f| matches!(f.2.kernels, Chained::One(_)));
        assert_eq!(stored, !is_one, "{name}\n{plan}");
    }
    insta::assert_snapshot!(said);
}

/// The kernels of attention that leave out what masks throw away, each with what it defines: the scores, the rows, what
/// is finite, the last sums.
fn apart(program: &Program, tiles: &ChainTiles) -> Vec<(Option<Var>, Launch)> {
    let gpu = Gpu::named("sm_90a").unwrap();
    let function = program.function("main").unwrap();
    let chain = chain(program);
    let mut cut = chain.tiles(tiles).unwrap();
    let last = cut.pop().unwrap();
    let first = Tiles { masked: true, ..cut.pop().unwrap() };
    let schedule = Schedule { directives: vec![Directive::Contract(first)] };
    let (scores, of_scores) = find(function, "s");
    let (rows, of_rows) = find(function, "p");
    let made = chain.listed("products", &last).unwrap_or_else(|error| panic!("{error}"));
    vec![
        (Some(of_scores), kernel_by(&scores, &gpu, "scores", schedule).unwrap().launch),
        (Some(of_rows), kernel(&rows, &gpu, "rows").unwrap().launch),
        (None, kernel(&made.finite.unwrap(), &gpu, "finite").unwrap().launch),
        (Some(find(function, "z").1), made.chain),
    ]
}

fn run_apart(
    program: &Program,
    launches: &[(Option<Var>, Launch)],
    args: &[Buffer],
    on: &mut dyn Executor,
) -> Buffer {
    let function = program.function("main").unwrap();
    let mut known: HashMap<Option<Var>, Tensor> =
        function.params.iter().zip(args).map(|(&p, arg)| (Some(p), Tensor::of_buffer(arg))).collect();
    for (defined, launch) in launches {
        let name = |of: &Of| match of {
            Of::Var(var) => Some(*var),
            Of::Target => *defined,
            Of::Temporary(_) => None,
        };
        let tensors = launch.tensors.iter().zip(&launch.kernel.params).map(|(of, &mem)| {
            let memory = launch.kernel.mem(mem);
            let count = memory.elements.as_constant().unwrap() as usize;
            known.remove(&name(of)).unwrap_or_else(|| Tensor::unwritten(memory.dtype, count))
        });
        let mut tensors: Vec<Tensor> = tensors.collect();
        on.execute(&launch.kernel, &mut tensors).unwrap_or_else(|error| panic!("{error}"));
        known.extend(launch.tensors.iter().map(name).zip(tensors));
    }
    let result = function.body.results[0];
    let shape: Vec<usize> = function.ty(result).space.sizes().unwrap().iter().map(|&n| n as usize).collect();
    known[&Some(result)].to_buffer(&shape).expect("every element is written")
}

/// The same kernels one by one, on the interpreter of kernels and as PTX.
#[test]
fn products_leave_out_what_masks_throw_away() {
    let attention = |dtype, mask, heads_inside| Attention {
        dtype,
        queries: 64,
        keys: 128,
        head: 32,
        heads: 2,
        mask: Some(mask),
        heads_inside,
    };
    let threads = ChainTiles {
        rows: 32,
        tiles: [[32, 16], [32, 32]],
        shares: [Share::Thread([8, 1]), Share::Thread([8, 1])],
        scores: Scores::All,
    };
    let warps = ChainTiles {
        rows: 32,
        tiles: [[64, 32], [32, 32]],
        shares: [Share::Warp(16), Share::Warp(16)],
        scores: Scores::All,
    };
    let all = [
        (attention("f32", (CAUSAL, "-1000000000.0f32"), true), &threads),
        (attention("f32", (CAUSAL, "-inf_f32"), false), &threads),
        (attention("f32", ("m[q,t]", "-50.0f32"), true), &threads),
        (attention("f32", ("m[q,t]", "-inf_f32"), true), &threads),
        (attention("bf16", (CAUSAL, "-1000000000.0f32"), true), &warps),
        (attention("bf16", ("m[q,t]", "-inf_f32"), false), &warps),
    ];
    let all: Vec<(usize, &(Attention, &ChainTiles))> = all.iter().enumerate().collect();
    let made = for_all(&all, |&(number, (attention, tiles))| {
        let program = attention.program();
        let launches = apart(&program, tiles);
        for bad_from in [attention.keys, 60] {
            let args = attention.args(number as u64 + 3, bad_from);
            let expected = interp::run(&program, "main", &args).unwrap();
            let mut on = Interpreted(Options::default(), interpret::Counts::default());
            let found = run_apart(&program, &launches, &args, &mut on);
            same(&found, &expected[0], &format!("attention {number}, bad from {bad_from}"));
        }
        (number, attention, program, launches)
    });
    let mut collected = Collected::default();
    for (.., launches) in &made {
        launches.iter().for_each(|l| collected.add(&l.1.kernel).unwrap_or_else(|error| panic!("{error}")));
    }
    let module = surject_ptx::parse(&collected.ptx("sm_90a")).unwrap_or_else(|error| panic!("{error}"));
    for_all(&made, |(number, attention, program, launches)| {
        let mut on = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
        let args = attention.args(*number as u64 + 5, 70);
        let expected = interp::run(program, "main", &args).unwrap();
        let found = run_apart(program, launches, &args, &mut on);
        same(&found, &expected[0], &format!("attention {number} as PTX"));
    });
}

/// Schedules say which products a mask throws away, and which loops run as one.
#[test]
fn schedules_have_masks_and_rows_of_several_loops() {
    for text in [
        "contract i0 i1 k0 tile 64 128 32 thread 8 4 masked\n",
        "contract i0,i1,i2 i3 k2 tile 128 64 16 thread 16 2\n",
        "contract i1,i2 i3 k0 tile 64 64 32 warp 16\n",
    ] {
        let schedule: Schedule = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(schedule.to_string(), text);
    }
    let program = Attention {
        dtype: "f32",
        queries: 64,
        keys: 64,
        head: 32,
        heads: 2,
        mask: None,
        heads_inside: false,
    }
    .program();
    let scores = find(program.function("main").unwrap(), "s").0;
    let loops = scores.product().unwrap();
    let fits = |rows: &str, masked: &str| {
        let (column, term) = (&loops.columns[0], &loops.terms[0]);
        let text = format!("contract {rows} {column} {term} tile 32 64 16 thread 8 1{masked}");
        text.parse::<Schedule>().unwrap().check(&scores).map_err(|error| error.message)
    };
    let row = &loops.rows[0];
    assert_eq!(fits(row, ""), Ok(()));
    assert_eq!(fits(row, " masked"), Err("no mask throws sums away".into()));
    assert!(fits(&format!("{row},{row}"), "").unwrap_err().contains("twice"));
}

/// Where something is computed of what a mask puts in the place of scores, their weights may differ.
#[test]
fn scores_that_are_thrown_away_are_one_constant() {
    let attention = Attention {
        dtype: "f32",
        queries: 64,
        keys: 64,
        head: 32,
        heads: 2,
        mask: Some(("m[q,t]", "-50.0f32")),
        heads_inside: false,
    };
    let listed = |text: &str| {
        let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let chain = chain(&program);
        let tiles = ChainTiles {
            rows: 32,
            tiles: [[32, 16], [32, 32]],
            shares: [Share::Thread([8, 1]), Share::Thread([8, 1])],
            scores: Scores::All,
        };
        let last = chain.tiles(&tiles).unwrap().pop().unwrap();
        (chain.is_masked(), chain.listed("k", &last).map(|_| ()))
    };
    let text = attention.text();
    assert_eq!(listed(&text), (true, Ok(())));
    let inside = text
        .replace("select(m[q,t]", "select(select(m[q,t]")
        .replace(", -50.0f32)", ", -50.0f32) < x[b,h,q,0], 1.0f32, 2.0f32)");
    let (masked, found) = listed(&inside);
    assert!(masked && found.unwrap_err().contains("no constant"), "{inside}");
}

/// A plan that leaves out what a causal mask throws away, on a device that interprets its PTX: of the first size that the
/// model of a small one has tiles for.
#[test]
fn plans_with_masks_give_what_the_interpreter_gives() {
    // Few multiprocessors are busy with small tiles.
    let whole = Gpu::named("sm_90a").unwrap();
    let part = 4.0 / whole.multiprocessors as f64;
    let (rate, products) = (whole.rate * part, whole.products * part);
    let gpu = Gpu { multiprocessors: 4, rate, products, ..whole };
    let all = [(2, 128, 32), (2, 128, 64), (2, 256, 32), (2, 256, 64)];
    let planned = all.into_iter().find_map(|(heads, keys, head)| {
        let mask = Some((CAUSAL, "-1000000000.0f32"));
        let attention =
            Attention { dtype: "f32", queries: keys, keys, head, heads, mask, heads_inside: true };
        let plan = planned(&attention.program(), "main", &gpu, &Schedules::default()).unwrap().plan;
        plan.kernels.iter().any(|k| k.name == "z_finite").then_some(attention)
    });
    let attention = planned.expect("a plan with tiles that are left out");
    let program = attention.program();
    let plan =
        compile(&program, "main", &gpu, &Schedules::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::new(Simulated::new(64 << 20), plan).unwrap();
    let args = attention.args(11, attention.keys - 28);
    let expected = interp::run(&program, "main", &args).unwrap();
    let found = session.run(&args).unwrap_or_else(|error| panic!("{error}"));
    same(&found[0], &expected[0], "a plan with a mask");
}

/// The tiles that plans choose take no more registers than there are.
#[test]
fn chains_by_tiles_spill_nothing() {
    let attention = |queries, head, mask: Option<&'static str>, dtype| Attention {
        dtype,
        queries,
        keys: queries,
        head,
        heads: 8,
        mask: mask.map(|fill| (CAUSAL, fill)),
        heads_inside: true,
    };
    for_all(&Gpu::ALL, |gpu| {
        let mut collected = Collected::default();
        for attention in [
            attention(1024, 64, Some("-1000000000.0f32"), "f32"),
            attention(2048, 64, None, "f32"),
            attention(2048, 128, Some("-inf_f32"), "f32"),
            attention(2048, 64, Some("-1000000000.0f32"), "bf16"),
            attention(2048, 128, None, "bf16"),
        ] {
            let chain = chain(&attention.program());
            let (_, tiles) = times(gpu, &chain, Mask::Literal).unwrap().1.expect("tiles");
            let made = chain.kernels("attention", &tiles).unwrap();
            collected.add(&made.chain.kernel).unwrap();
            let written = collected.written.last().unwrap();
            eprintln!(
                "{} {}: {tiles}, {} threads, {} bytes",
                gpu.name, attention.dtype, written.launch.threads, written.launch.shared
            );
        }
        let Some(uses) = assemble(&collected.ptx(gpu.name), gpu.name) else {
            eprintln!("skipped: `ptxas` is not installed; `cargo xtask setup` installs it");
            return;
        };
        for found in &uses {
            eprintln!("{} {found:?}", gpu.name);
            assert_eq!(found.spilled, 0, "{found:?}");
        }
    });
}

/// A plan whose blocks have a tile of scores at a time, on a device that interprets its PTX.
#[test]
fn plans_by_tiles_give_what_the_interpreter_gives() {
    // Few multiprocessors are busy with small tiles.
    let whole = Gpu::named("sm_90a").unwrap();
    let part = 1.0 / whole.multiprocessors as f64;
    let (rate, products, bandwidth) = (whole.rate * part, whole.products * part, whole.bandwidth * part);
    let gpu = Gpu { multiprocessors: 1, rate, products, bandwidth, ..whole };
    for (dtype, mask) in
        [("f32", None), ("f32", Some((CAUSAL, "-1000000000.0f32"))), ("bf16", Some((CAUSAL, "-inf_f32")))]
    {
        let by_tiles = [128, 256, 512].into_iter().find_map(|keys| {
            let attention =
                Attention { dtype, queries: keys, keys, head: 32, heads: 1, mask, heads_inside: true };
            let program = attention.program();
            let function = program.function("main").unwrap();
            let found = chains(function, &function.body, &readers(function), &gpu, &Schedules::default());
            let is_tile = |c: &Chained| matches!(c, Chained::One(ChainTiles { scores: Scores::Tile, .. }));
            found.first().is_some_and(|f| is_tile(&f.2.kernels)).then_some((attention, program))
        });
        let (attention, program) = by_tiles.unwrap_or_else(|| panic!("no tiles of scores in {dtype}"));
        let plan =
            compile(&program, "main", &gpu, &Schedules::default()).unwrap_or_else(|error| panic!("{error}"));
        let mut session = Session::new(Simulated::new(64 << 20), plan).unwrap();
        for special in [Special::Nowhere, Special::Values] {
            let mut args = attention.args(11, attention.keys);
            special.put(&attention, &mut args);
            let expected = interp::run(&program, "main", &args).unwrap();
            let found = session.run(&args).unwrap_or_else(|error| panic!("{error}"));
            same(&found[0], &expected[0], &format!("a plan in {dtype}, special {special:?}"));
        }
    }
}

/// Rows that are nearly a softmax are none.
#[test]
fn other_rows_have_all_of_their_scores() {
    let attention = Attention {
        dtype: "f32",
        queries: 64,
        keys: 64,
        head: 32,
        heads: 2,
        mask: None,
        heads_inside: false,
    };
    let text = attention.text();
    let by_tiles = |text: &str| {
        let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        chain(&program).by_tiles()
    };
    assert_eq!(by_tiles(&text), Ok(()));
    for (from, to, why) in [
        ("exp(s[b,h,q,t] - a[b,h,q])", "tanh(s[b,h,q,t] - a[b,h,q])", ""),
        ("exp(s[b,h,q,t] - a[b,h,q])", "exp(a[b,h,q] - s[b,h,q,t])", ""),
        ("exp(s[b,h,q,t] - a[b,h,q])", "exp(2.0f32 * s[b,h,q,t] - a[b,h,q])", "maximum of other scores"),
        (
            "=:max over b<1, h<2, q<64, t<64 at [b,h,q]",
            "=:min over b<1, h<2, q<64, t<64 at [b,h,q]",
            "no maximum",
        ),
        ("at [b,h,q]: w[b,h,q,t]", "at [b,h,q]: w[b,h,q,t] * 0.5f32", "no sum of exponentials"),
        ("at [b,h,q]: w[b,h,q,t]", "at [b,h,q]: exp(s[b,h,q,t])", "no sum of exponentials"),
        ("at [b,h,q]: s[b,h,q,t]", "at [b,h,q]: s[b,h,q,t] + 1.0f32", "maximum of other scores"),
        ("w[b,h,q,t] / n[b,h,q]", "w[b,h,q,t] / (n[b,h,q] + 1.0f32)", "no sum"),
        ("w[b,h,q,t] / n[b,h,q]", "n[b,h,q] / w[b,h,q,t]", ""),
    ] {
        let other = text.replace(from, to);
        assert_ne!(other, text, "{from}");
        let Err(found) = by_tiles(&other) else { panic!("{other}") };
        assert!(found.contains(why), "{found}");
    }
    // What all scores are multiplied by belongs to them.
    let scaled = text
        .replace("at [b,h,q]: s[b,h,q,t]", "at [b,h,q]: s[b,h,q,t] * 0.5f32")
        .replace("exp(s[b,h,q,t] - a", "exp(s[b,h,q,t] * 0.5f32 - a");
    assert_eq!(by_tiles(&scaled), Ok(()));
}
