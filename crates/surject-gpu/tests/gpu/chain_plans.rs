//! Plans with chains, and what masks leave out of products by themselves.

use crate::chains::*;
use crate::harness::{Collected, OnPtx, for_all};
use std::collections::HashMap;
use surject_codegen::kernels::chain::{ChainTiles, Scores};
use surject_codegen::kernels::contraction::{Share, Tiles};
use surject_codegen::kernels::expression::Tensor as Of;
use surject_codegen::kernels::lower::Launch;
use surject_codegen::kernels::run::{Executor, kernel, kernel_by};
use surject_codegen::kernels::schedule::Schedules;
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_cuda::{Session, Simulated};
use surject_gpu::Gpu;
use surject_gpu::program::chains::{Chained, Mask, chains, readers, times};
use surject_gpu::program::{compile, planned};
use surject_ir::{Buffer, Program, Var, interp, parse};
use surject_kernel::interpret::{self, Options, Tensor};

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
    let threads = ChainTiles { tiles: [[32, 16], [32, 32]], ..by_threads(32) };
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
        let tiles = ChainTiles { tiles: [[32, 16], [32, 32]], ..by_threads(32) };
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
