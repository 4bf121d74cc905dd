//! The text of the paper. Every figure in it comes from the runs.

use super::data::{Comparison, Program, Run, below, geometric_mean, median};
use super::plot::{Bars, short};
use std::fmt::Write;

/// What is aimed at: the mean of the ratios to XLA and to the better peer, and the least ratio to each.
const MEAN_XLA: f64 = 2.0;
const MEAN_BEST: f64 = 1.3;
const LOW_XLA: f64 = 0.95;
const LOW_BEST: f64 = 0.9;
/// The least ratio with a busy processor, the share of the copy ceiling, the gain of a second start.
const LOW_BUSY: f64 = 0.9;
const COPY: f64 = 0.85;
const START: f64 = 5.0;
/// A share of the copy ceiling says something about kernels that move more than they compute: those whose text has
/// nothing but arithmetic on each element, sums, or moves. By the words of their names.
const MOVERS: [&str; 14] = [
    "sum",
    "transpose",
    "nhwc",
    "nchw",
    "moves",
    "pool",
    "layernorm",
    "rmsnorm",
    "batchnorm",
    "gate",
    "embedding",
    "bias",
    "concatenate",
    "slices",
];

/// The page.
pub fn page(comparison: &Comparison) -> String {
    let mut text = String::from("# The suite on Surject, XLA and IREE\n\n");
    introduction(&mut text, comparison);
    results(&mut text, comparison);
    misses(&mut text, comparison);
    busy(&mut text, comparison);
    compilation(&mut text, comparison);
    ceilings(&mut text, comparison);
    large(&mut text, comparison);
    memory(&mut text, comparison);
    method(&mut text, comparison);
    text
}

fn introduction(text: &mut String, comparison: &Comparison) {
    let run = &comparison.all;
    let odd = run.programs.iter().filter(|p| p.name.ends_with("_odd")).count();
    let versions: Vec<String> =
        run.peers().iter().map(|p| format!("{} ({})", title(p), run.versions[*p])).collect();
    let _ = writeln!(
        text,
        "The {} programs of `benches/suite.py`, {odd} of them second sizes that are multiples of nothing, run side by side \
         with {}. A ratio is the peer's time over Surject's: above 1 Surject is faster. Everything on this page, the text \
         with its figures included, is written from the stored runs beside it by one command:\n\n\
         ```sh\ncargo xtask compare                                             # run everything, store, write\n\
         cargo run -p surject-papers --bin xla-comparison                # write again from what is stored\n```\n",
        run.programs.len(),
        versions.join(" and ")
    );
    let revision = run.revision.as_deref().map(|r| format!(", revision {r}")).unwrap_or_default();
    let load = |l: Option<f64>| l.map_or("?".to_string(), |l| format!("{l:.2}"));
    let _ = writeln!(
        text,
        "{}{revision}; {}, {} processors, {:.0} GiB, {}. Processes that wanted a processor, over a minute, at the start and at \
         the end: {} and {} (a run by itself leaves between 1 and 3).\n",
        run.date,
        run.machine.processor,
        run.machine.processors,
        run.machine.memory_gib,
        run.machine.system,
        load(run.load[0]),
        load(run.load[1]),
    );
}

fn results(text: &mut String, comparison: &Comparison) {
    text.push_str(
        "## 1. Ratios\n\n| threads | over | programs | mean of least times | of medians | lowest | below the bar | aim: mean, bar |\n\
         |---:|---|---:|---:|---:|---:|---:|---|\n",
    );
    for run in comparison.runs() {
        for peer in subjects(run) {
            let least = run.figures(|p| Some(p.ratio(peer)?.min));
            let medians = run.figures(|p| Some(p.ratio(peer)?.median));
            let lowest =
                below(&least, f64::INFINITY).first().map_or("-".into(), |(n, v)| format!("{v:.2} (`{n}`)"));
            let (aim, bar) = bars(peer);
            let low = bar.map_or("-".to_string(), |bar| below(&least, bar).len().to_string());
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.2} | {:.2} | {lowest} | {low} | {} |",
                run.threads,
                title(peer),
                least.len(),
                geometric_mean(&least),
                geometric_mean(&medians),
                aim.zip(bar).map_or("-".to_string(), |(aim, bar)| format!("{aim}, {bar}")),
            );
        }
    }
    text.push_str(
        "\nMeans are geometric. *Least times* are the least over all rounds: other work on the machine can only add to a \
         time. Each program, the highest ratio first:\n\n",
    );
    for peer in comparison.all.peers() {
        let _ = writeln!(text, "![Ratios to {}]({peer}.svg)\n", title(peer));
    }
    text.push_str("All figures are in [`table.md`](table.md).\n\n");
}

fn misses(text: &mut String, comparison: &Comparison) {
    text.push_str("## 2. Below the bar, and not timed\n\n");
    for run in comparison.runs() {
        for peer in subjects(run) {
            let (_, Some(bar)) = bars(peer) else { continue };
            let list = below(&run.figures(|p| Some(p.ratio(peer)?.min)), bar);
            let _ = writeln!(
                text,
                "* {}, ratios to {} below {bar}: {}.",
                threads(run),
                title(peer),
                listed(&list)
            );
        }
    }
    text.push('\n');
    for run in comparison.runs() {
        let own: Vec<(&str, &str)> =
            run.programs.iter().filter_map(|p| Some((p.name.as_str(), p.error.as_deref()?))).collect();
        if own.is_empty() {
            let _ = writeln!(text, "{}: every program was timed on Surject.\n", threads(run));
        } else {
            let _ = writeln!(text, "{}, not timed:\n", threads(run));
            for (name, error) in own {
                let _ = writeln!(text, "* `{name}`: {}", one_line(error));
            }
            text.push('\n');
        }
        for peer in run.peers() {
            let failed: Vec<(&str, &str)> = run
                .programs
                .iter()
                .filter_map(|p| Some((p.name.as_str(), p.peers.get(peer)?.error.as_deref()?)))
                .collect();
            if failed.is_empty() {
                let _ = writeln!(text, "{}: {} ran all of these.\n", threads(run), title(peer));
                continue;
            }
            let _ = writeln!(
                text,
                "{}: of these, {} did not run {}, which its mean leaves out:\n",
                threads(run),
                title(peer),
                failed.len()
            );
            for (name, error) in failed {
                let _ = writeln!(text, "* `{name}`: {}", one_line(error));
            }
            text.push('\n');
        }
    }
}

fn busy(text: &mut String, comparison: &Comparison) {
    let run = &comparison.all;
    let best = run.figures(|p| Some(p.busy("best")?.median));
    if best.is_empty() {
        return;
    }
    text.push_str("## 3. With a processor kept busy by another process\n\n");
    let _ = writeln!(
        text,
        "The same programs again, while a process that does nothing but count holds the last of the {} processors. All sides \
         have as many threads as before. Ratios of medians, since the least time may be one of a moment in which the other \
         process did not run.\n\n| over | programs | mean | lowest | below {LOW_BUSY} |\n|---|---:|---:|---:|---:|",
        run.threads
    );
    for peer in subjects(run) {
        let list = run.figures(|p| Some(p.busy(peer)?.median));
        let lowest =
            below(&list, f64::INFINITY).first().map_or("-".into(), |(n, v)| format!("{v:.2} (`{n}`)"));
        let (mean, low) = (geometric_mean(&list), below(&list, LOW_BUSY).len());
        let _ = writeln!(text, "| {} | {} | {mean:.2} | {lowest} | {low} |", title(peer), list.len());
    }
    let xla = run.figures(|p| Some(p.busy("xla")?.median));
    let _ = writeln!(
        text,
        "\nBelow {LOW_BUSY} to XLA: {}.\n\n![Busy](busy.svg)\n",
        listed(&below(&xla, LOW_BUSY))
    );
}

fn compilation(text: &mut String, comparison: &Comparison) {
    text.push_str(
        "## 4. From text to runnable\n\nOurs: reading the file, importing, optimising, generating code, MLIR and LLVM, \
         mapping the code. A peer's: from the text in memory to the loaded executable; IREE's is that of the setting that \
         runs faster.\n\n| threads | over | median ratio | lowest | highest | below 1 |\n|---:|---|---:|---:|---:|---:|\n",
    );
    for run in comparison.runs() {
        for peer in run.peers() {
            let list = run.figures(|p| p.peers.get(peer)?.ratio_compile);
            let sorted = below(&list, f64::INFINITY);
            let end = |e: Option<&(&str, f64)>| e.map_or("-".to_string(), |(n, v)| format!("{v:.2} (`{n}`)"));
            let _ = writeln!(
                text,
                "| {} | {} | {:.2} | {} | {} | {} |",
                run.threads,
                title(peer),
                median(&list),
                end(sorted.first()),
                end(sorted.last()),
                below(&list, 1.0).len(),
            );
        }
    }
    text.push_str("\n![Compilation](compile.svg)\n\n");
    let Some(starts) = comparison.starts.as_ref().filter(|s| !s.starts.is_empty()) else { return };
    let list: Vec<(&str, f64)> = starts.starts.iter().map(|s| (s.name.as_str(), s.ratio)).collect();
    let _ = writeln!(
        text,
        "A second start, in a fresh process, finds what the first left on disk (`SURJECT_CACHE`). Below {START} times faster: \
         {}.\n\n| program | first start, ms | second start, ms | ratio |\n|---|---:|---:|---:|",
        listed(&below(&list, START))
    );
    for s in &starts.starts {
        let _ = writeln!(text, "| `{}` | {:.1} | {:.1} | {:.1} |", s.name, s.cold_ms, s.warm_ms, s.ratio);
    }
    text.push('\n');
}

fn ceilings(text: &mut String, comparison: &Comparison) {
    let run = &comparison.all;
    let _ = writeln!(
        text,
        "## 5. Shares of what the machine can do\n\nMeasured in the same process: multiply-adds of `f32` in registers, {:.1} \
         Gflop/s on {} threads and {:.1} on {}; and for each program, in turn with it, a kernel that reads as many \
         bytes as its arguments have (of one that is only gathered or sliced, as these have) and writes as many as its \
         results: a copy, where these are alike. It has the same caches and the same moments, for how fast memory is \
         changes from second to second. A program's share is the least time of its sums of products, or of moving its \
         bytes once, whichever is longer, over its least time. Products of narrow types have a higher ceiling than the one \
         that is measured, and a program that computes between its first byte and its last cannot reach that of a copy.\n",
        comparison.all.flops / 1e9,
        comparison.all.threads,
        comparison.one.flops / 1e9,
        comparison.one.threads,
    );
    let compute = run.figures(|p| share(p, "multiply-add"));
    let copy = run.figures(|p| share(p, "copy").filter(|_| is_mover(p)));
    let highest = |list: &[(&str, f64)]| {
        below(list, f64::INFINITY).last().map_or("-".into(), |(n, v)| format!("{v:.2} (`{n}`)"))
    };
    let _ = writeln!(
        text,
        "* Bound by arithmetic: {} programs, median share {:.2}, highest {}.\n\
         * Of the programs that move, sum or normalise, {}: median share of the copy {:.2}, highest {}; {} are below {COPY}: {}.\n\n\
         ![Arithmetic](arithmetic.svg)\n\n![Bandwidth](bandwidth.svg)\n",
        compute.len(),
        median(&compute),
        highest(&compute),
        copy.len(),
        median(&copy),
        highest(&copy),
        below(&copy, COPY).len(),
        listed(&below(&copy, COPY)),
    );
}

fn large(text: &mut String, comparison: &Comparison) {
    let Some(run) = &comparison.large else { return };
    let shares = run.figures(|p| share(p, "copy"));
    let _ = writeln!(
        text,
        "## 6. Beyond the caches\n\nPrograms whose arguments or results no cache holds, {}; they are no part of the suite. The \
         share is that of a copy that reads and writes as many bytes, past the caches where that is faster: median {:.2}; \
         below {COPY}: {}.\n",
        threads(run),
        median(&shares),
        listed(&below(&shares, COPY))
    );
    for peer in subjects(run) {
        let least = run.figures(|p| Some(p.ratio(peer)?.min));
        let low = bars(peer)
            .1
            .map_or(String::new(), |bar| format!("; below {bar}: {}", listed(&below(&least, bar))));
        let _ = writeln!(text, "* Over {}: mean {:.2}{low}.", title(peer), geometric_mean(&least));
    }
    let peers = run.peers();
    let titles: Vec<String> = peers.iter().map(|p| format!(" {} |", title(p))).collect();
    let _ = writeln!(
        text,
        "\n| program | ms |{} share |\n|---|---:|{}---:|",
        titles.concat(),
        "---:|".repeat(peers.len())
    );
    for p in &run.programs {
        let Some(own) = &p.surject else { continue };
        let ratios: Vec<String> =
            peers.iter().map(|peer| format!(" {} |", figure(p.ratio(peer).map(|r| r.min)))).collect();
        let _ = writeln!(
            text,
            "| `{}` | {:.2} |{} {} |",
            p.name,
            own.min_ms,
            ratios.concat(),
            figure(share(p, "copy"))
        );
    }
    text.push('\n');
}

fn memory(text: &mut String, comparison: &Comparison) {
    let run = &comparison.all;
    let steps: Vec<&Program> = run.programs.iter().filter(|p| p.is_step() && p.surject.is_some()).collect();
    if steps.is_empty() {
        return;
    }
    let more = run.figures(|p| p.peers.get("xla")?.ratio_memory.filter(|_| p.is_step()));
    let _ = writeln!(
        text,
        "## 7. Memory of training steps\n\nMebibytes. Ours: arguments, results, literal tensors, and the arena of intermediate \
         tensors, as the executable states them. XLA's: arguments, results and temporaries, as its executable states them \
         (aliases taken off). IREE's run time does not count what its queues allocate. Steps that need more than XLA's: {}.\n\n\
         | step | arguments | results | arena | all | XLA | ratio |\n|---|---:|---:|---:|---:|---:|---:|",
        listed(&below(&more, 1.0))
    );
    let mib = |bytes: f64| format!("{:.2}", bytes / f64::from(1 << 20));
    for p in steps {
        let Some(own) = &p.surject else { continue };
        let m = &own.memory;
        let xla = p.peers.get("xla");
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            p.name,
            mib(m.arguments),
            mib(m.results),
            mib(m.arena),
            mib(m.total()),
            xla.and_then(|x| x.memory).map_or("-".into(), mib),
            xla.and_then(|x| x.ratio_memory).map_or("-".into(), |r| format!("{r:.2}")),
        );
    }
    text.push('\n');
}

fn method(text: &mut String, comparison: &Comparison) {
    let run = &comparison.all;
    let tiled = run
        .programs
        .iter()
        .filter(|p| {
            p.peers.get("iree").and_then(|i| i.setting.as_deref()).is_some_and(|s| s.contains("tiling"))
        })
        .count();
    let _ = writeln!(
        text,
        "## 8. Method\n\n\
         * One process a side, pinned to the same processors, with as many threads. The sides take turns: {} rounds of {} s \
         each (at least three calls, unless they take four times as long), and who is first changes. Our side calls the \
         compiled program on arguments and results in place; XLA's executable is called directly, without the dispatch of \
         `jit`, and allocates its results; IREE's function is invoked on a list that is made once, and allocates its results. \
         A call returns when all results are there. Some microseconds of Python are in the peers' times.\n\
         * Before anything is timed, results are compared: to 1e-4 relative (2e-2 for 16-bit floats) with 3e-5 of the largest \
         value. A program whose results differ from every peer's is not timed; a peer whose results differ from ours and from \
         another peer's is listed.\n\
         * A peer that needs more than a second for a run is timed once; one that does not end in 10 s is listed.",
        run.rounds, run.seconds
    );
    if let Some(heap) = &run.heap {
        let _ = writeln!(
            text,
            "* Peers in their fast state: all sides, ours too, run under `{heap}`. Without it, results above 32 MiB come from \
             fresh pages in every call, which multiplies XLA's time for some programs. XLA runs a program on the calling thread \
             (`jax_cpu_enable_async_dispatch` off), which saves a thread's wake-up. IREE has one worker pinned to each processor; \
             programs are compiled at `O3` for the host, those with a contraction also with data tiling, and the setting that runs \
             faster in a trial is taken: data tiling for {tiled} programs. How each choice was made is in \
             [`benches/README.md`](../../benches/README.md)."
        );
    }
    if run.subnormals.as_deref() == Some("flush") {
        text.push_str(
            "* All sides flush subnormal numbers to zero: the peers always do, and Surject, which keeps them otherwise \
             (`--subnormals`), here as well.\n",
        );
    }
    text.push_str(
        "* The runs are stored beside this page: `all.json`, `one.json`, `large.json` and `starts.json`, in the format that\n  \
         `crates/surject/src/bench/run.rs` documents.\n",
    );
}

/// The table of every program.
pub fn table(comparison: &Comparison) -> String {
    let mut text =
        String::from("# Every program\n\nLeast times in milliseconds; ratios are the peer's over ours.\n");
    for run in comparison.runs() {
        let peers = run.peers();
        let _ = write!(text, "\n## {}\n\n| program | ms | median |", threads(run));
        for peer in &peers {
            let _ = write!(text, " {0}, ms | ratio | of medians | busy | compile |", title(peer));
        }
        let _ = write!(
            text,
            " share | compile, ms |\n|---|---:|---:|{}---:|---:|\n",
            "---:|".repeat(5 * peers.len())
        );
        for p in &run.programs {
            let Some(own) = &p.surject else { continue };
            let _ = write!(text, "| `{}` | {:.4} | {:.4} |", p.name, own.min_ms, own.median_ms);
            for peer in &peers {
                let side = p.peers.get(*peer);
                let ratio = p.ratio(peer);
                let _ = write!(
                    text,
                    " {} | {} | {} | {} | {} |",
                    side.and_then(|s| s.min_ms).map_or("-".to_string(), |v| format!("{v:.4}")),
                    figure(ratio.map(|r| r.min)),
                    figure(ratio.map(|r| r.median)),
                    figure(p.busy(peer).map(|r| r.median)),
                    figure(side.and_then(|s| s.ratio_compile)),
                );
            }
            let share = p.ceiling.as_ref().map_or("-".to_string(), |c| {
                format!("{:.2} {}", c.share, if c.kind == "copy" { "b" } else { "f" })
            });
            let _ = writeln!(text, " {share} | {:.1} |", own.compile_ms);
        }
    }
    text.push_str("\n`share`: of the ceiling of arithmetic (`f`) or of a copy (`b`).\n");
    text
}

/// The plots, by file name.
pub fn plots(comparison: &Comparison) -> Vec<(String, Bars)> {
    let mut plots = Vec::new();
    let names = comparison.runs().map(threads);
    for peer in comparison.all.peers() {
        let other = |name: &str| find(&comparison.one, name).and_then(|p| Some(p.ratio(peer)?.min));
        let rows = sorted(&comparison.all, |p| Some(p.ratio(peer)?.min));
        let rows = rows.into_iter().map(|(n, v)| (n.to_string(), vec![Some(v), other(n)])).collect();
        plots.push((
            format!("{peer}.svg"),
            ratios(&format!("{}'s least time over ours", title(peer)), names.to_vec(), rows),
        ));
    }
    let peers = comparison.all.peers();
    let series: Vec<String> = peers.iter().map(|p| title(p).to_string()).collect();
    let rows = |of: &dyn Fn(&Program, &str) -> Option<f64>| -> Vec<(String, Vec<Option<f64>>)> {
        let first = peers.first().copied().unwrap_or_default();
        let list = sorted(&comparison.all, |p| of(p, first));
        list.iter()
            .map(|(n, _)| {
                let p = find(&comparison.all, n);
                (n.to_string(), peers.iter().map(|peer| p.and_then(|p| of(p, peer))).collect())
            })
            .collect()
    };
    let busy = rows(&|p, peer| Some(p.busy(peer)?.median));
    if !busy.is_empty() {
        plots.push((
            "busy.svg".into(),
            ratios("Medians with a busy processor, over ours", series.clone(), busy),
        ));
    }
    let compile = rows(&|p, peer| p.peers.get(peer)?.ratio_compile);
    plots.push(("compile.svg".into(), ratios("Time from text to runnable, over ours", series, compile)));
    for (file, kind, text) in [
        ("arithmetic.svg", "multiply-add", "Share of the multiply-adds that registers allow"),
        ("bandwidth.svg", "copy", "Share of the bandwidth of a copy"),
    ] {
        let of = |p: &Program| share(p, kind).filter(|_| kind != "copy" || is_mover(p));
        let other = |name: &str| find(&comparison.one, name).and_then(of);
        let rows =
            sorted(&comparison.all, of).into_iter().map(|(n, v)| (n.to_string(), vec![Some(v), other(n)]));
        plots.push((
            file.into(),
            Bars {
                title: text.into(),
                series: names.to_vec(),
                rows: rows.collect(),
                range: (0.0, 1.5),
                origin: 0.0,
                logarithmic: false,
                marks: vec![0.0, 0.25, 0.5, COPY, 1.0, 1.5],
            },
        ));
    }
    plots
}

fn ratios(title: &str, series: Vec<String>, rows: Vec<(String, Vec<Option<f64>>)>) -> Bars {
    Bars {
        title: title.into(),
        series,
        rows,
        range: (0.25, 64.0),
        origin: 1.0,
        logarithmic: true,
        marks: vec![0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0],
    }
}

fn find<'a>(run: &'a Run, name: &str) -> Option<&'a Program> {
    run.programs.iter().find(|p| p.name == name)
}

/// Programs with a figure, the highest first.
fn sorted(run: &Run, of: impl Fn(&Program) -> Option<f64>) -> Vec<(&str, f64)> {
    let mut list = below(&run.figures(of), f64::INFINITY);
    list.reverse();
    list
}

fn share(program: &Program, kind: &str) -> Option<f64> {
    program.ceiling.as_ref().filter(|c| c.kind == kind).map(|c| c.share)
}

fn is_mover(program: &Program) -> bool {
    program.name.split('_').any(|word| MOVERS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit())))
}

/// The peers of a run, and the better of them where there are several.
fn subjects(run: &Run) -> Vec<&str> {
    let mut names = run.peers();
    if names.len() > 1 {
        names.push("best");
    }
    names
}

fn title(peer: &str) -> &str {
    match peer {
        "xla" => "XLA",
        "iree" => "IREE",
        "best" => "the better of both",
        other => other,
    }
}

/// What is aimed at: a mean, and a least ratio.
fn bars(peer: &str) -> (Option<f64>, Option<f64>) {
    match peer {
        "xla" => (Some(MEAN_XLA), Some(LOW_XLA)),
        "best" => (Some(MEAN_BEST), Some(LOW_BEST)),
        _ => (None, None),
    }
}

fn threads(run: &Run) -> String {
    format!("{} thread{}", run.threads, if run.threads == 1 { "" } else { "s" })
}

/// A figure of a table.
fn figure(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |v| format!("{v:.2}"))
}

/// Names with their figures.
fn listed(list: &[(&str, f64)]) -> String {
    if list.is_empty() {
        return "none".into();
    }
    list.iter().map(|(n, v)| format!("`{n}` {}", short(*v))).collect::<Vec<_>>().join(", ")
}

fn one_line(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    if line.chars().count() <= 160 {
        line
    } else {
        format!("{}…", line.chars().take(160).collect::<String>())
    }
}
