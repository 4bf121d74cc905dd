//! Chains: attention in one kernel gives what the interpreter gives, whatever a mask throws away.

use crate::assembler::assemble;
use crate::harness::{Collected, OnPtx, for_all};
use surject_codegen::kernels::chain::{Chain, ChainTiles, Scores};
use surject_codegen::kernels::contraction::{Share, SubTile};
use surject_codegen::kernels::expression::{Expression, Tensor as Of, assignment};
use surject_codegen::kernels::lower::ChainKernels;
use surject_codegen::kernels::run::{Executor, kernel};
use surject_gpu::Gpu;
use surject_gpu::program::chains::{Mask, times};
use surject_ir::{Buffer, DType, Function, Program, Scalar, StatementKind, Var, interp, parse};
use surject_kernel::interpret::{self, Options, Order, Tensor};

/// Attention of some heads: the type of the arguments, queries, keys, the size of a head, and the scores that are kept.
pub struct Attention {
    pub dtype: &'static str,
    pub queries: i64,
    pub keys: i64,
    pub head: i64,
    pub heads: i64,
    /// A condition of `q` and `t`, and what stands where it does not hold.
    pub mask: Option<(&'static str, &'static str)>,
    /// Are the heads behind the positions, as JAX has them?
    pub heads_inside: bool,
}

impl Attention {
    pub fn program(&self) -> Program {
        let text = self.text();
        parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    pub fn text(&self) -> String {
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
    pub fn args(&self, seed: u64, bad_from: i64) -> Vec<Buffer> {
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

pub fn find(function: &Function, name: &str) -> (Expression, Var) {
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

pub fn chain(program: &Program) -> Chain {
    let function = program.function("main").unwrap();
    let last = find(function, "z").0;
    Chain::new(find(function, "s"), find(function, "p"), Some(last)).unwrap_or_else(|error| panic!("{error}"))
}

pub struct Interpreted(pub Options, pub interpret::Counts);

impl Executor for Interpreted {
    fn execute(&mut self, kernel: &surject_kernel::Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        let counts = interpret::run(kernel, &[], tensors, &self.0).map_err(|e| e.to_string())?;
        self.1.add(&counts);
        Ok(())
    }
}

/// Runs the kernels of a chain; gives the result.
pub fn run(program: &Program, kernels: &ChainKernels, args: &[Buffer], on: &mut dyn Executor) -> Buffer {
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

pub fn by_threads(rows: i64) -> ChainTiles {
    ChainTiles {
        rows,
        tiles: [[64, 16], [32, 16]],
        shares: [
            Share::Thread(SubTile { rows: 8, columns: 1 }),
            Share::Thread(SubTile { rows: 8, columns: 1 }),
        ],
        scores: Scores::All,
    }
}

pub fn by_warps(rows: i64) -> ChainTiles {
    ChainTiles { rows, tiles: [[32, 16], [32, 16]], shares: [Share::Warp(16); 2], scores: Scores::All }
}

pub const CAUSAL: &str = "index(q)i32 >= index(t)i32";

/// Attention of every kind: masks by positions and by values, that leave nothing of a row, with finite and infinite
/// fills; sizes that tiles do not divide; both layouts.
pub fn all() -> Vec<(Attention, ChainTiles)> {
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

pub fn same(found: &Buffer, expected: &Buffer, what: &str) {
    same_beside(found, expected, 1.0, what)
}

/// The same where values are of this size.
pub fn same_beside(found: &Buffer, expected: &Buffer, size: f64, what: &str) {
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
pub fn all_by_tiles() -> Vec<(Attention, ChainTiles)> {
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
    let threads = |own, lanes| {
        [
            Share::Thread(SubTile { rows: own, columns: 1 }),
            Share::Thread(SubTile { rows: own, columns: lanes }),
        ]
    };
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
pub enum Special {
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
    pub fn put(self, attention: &Attention, args: &mut [Buffer]) {
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
    let tiles = ChainTiles { tiles: [[32, 16], [32, 32]], ..by_threads(32) };
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
