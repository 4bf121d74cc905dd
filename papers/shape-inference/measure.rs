//! Measures shape inference on programs of growing size and draws the growth: `cargo run --release -p surject-papers
//! --bin shape-inference` writes `time.svg`, `memory.svg` and `growth.md` beside this file.

// The same programs that the tests of the solver measure.
#[path = "../../crates/surject-shape/tests/workloads/mod.rs"]
mod workloads;

use plotters::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use workloads::{WORKLOADS, Workload};

/// The system's allocator, counting what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

impl Counting {
    fn more(bytes: usize) {
        let held = HELD.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(held, Relaxed);
    }
}

// SAFETY: every call is handed on to the system's allocator unchanged; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::more(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The processor time of this process in seconds, where the system tells it; else time on the wall.
fn processor_seconds(start: Instant) -> f64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

#[derive(Clone, Copy)]
struct Point {
    operations: usize,
    constraints: usize,
    /// Adding, closing and freeing, processor time.
    seconds: f64,
    wall: f64,
    /// The most that was held at once.
    peak: usize,
    steps: u64,
}

fn measure(workload: &Workload, operations: usize) -> Result<Point, Box<dyn Error>> {
    // Repeated for a second, since the system counts processor time in ticks.
    let (start, from) = (Instant::now(), processor_seconds(Instant::now()));
    let (mut repetitions, mut last) = (0.0, None);
    while last.is_none() || start.elapsed().as_secs_f64() < 1.0 {
        let before = HELD.load(Relaxed);
        PEAK.store(before, Relaxed);
        let mut built = (workload.build)(operations)?;
        built.solver.close()?;
        let shape = built.solver.ground_shape(&built.last).map(|s| s.to_string());
        if shape.as_deref() != Some(built.expected) {
            return Err(format!("{}: {shape:?} instead of {}", workload.name, built.expected).into());
        }
        let (constraints, steps) = (built.solver.constraints(), built.solver.steps());
        let (operations, peak) = (built.operations, PEAK.load(Relaxed) - before);
        repetitions += 1.0;
        last = Some(Point { operations, constraints, seconds: 0.0, wall: 0.0, peak, steps });
    }
    let point = last.ok_or("nothing was measured")?;
    let seconds = (processor_seconds(start) - from) / repetitions;
    Ok(Point { seconds, wall: start.elapsed().as_secs_f64() / repetitions, ..point })
}

/// The slope of the logarithms: 1 is linear.
fn exponent(points: &[Point], of: impl Fn(&Point) -> f64) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|p| ((p.constraints as f64).ln(), of(p).ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|l| l.0).sum::<f64>() / n, logs.iter().map(|l| l.1).sum::<f64>() / n);
    let over: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    over / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}

fn plot(
    path: &Path,
    title: &str,
    unit: &str,
    series: &[(&str, Vec<Point>)],
    of: fn(&Point) -> f64,
) -> Result<(), Box<dyn Error>> {
    let all = || series.iter().flat_map(|(_, points)| points);
    let values = || all().map(of);
    let low = values().fold(f64::INFINITY, f64::min) / 2.0;
    let high = values().fold(0.0, f64::max) * 2.0;
    let most = all().map(|p| p.constraints).max().unwrap_or(1) as f64 * 1.3;
    let root = SVGBackend::new(path, (800, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d((500.0..most).log_scale(), (low..high).log_scale())?;
    let label = |v: &f64| format!("{v:e}");
    chart
        .configure_mesh()
        .x_desc("constraints")
        .y_desc(unit)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .light_line_style(WHITE)
        .draw()?;
    for (i, (name, points)) in series.iter().enumerate() {
        let colour = Palette99::pick(i).to_rgba();
        let line = points.iter().map(|p| (p.constraints as f64, of(p)));
        chart
            .draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(line.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    // What linear growth looks like.
    let anchor = series.first().and_then(|(_, points)| points.first()).copied();
    if let Some(point) = anchor {
        let (x, y) = (point.constraints as f64, of(&point) / 1.6);
        let line = [(x, y), (most / 1.3, y * most / 1.3 / x)];
        chart
            .draw_series(LineSeries::new(line, BLACK.mix(0.4)))?
            .label("linear")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], BLACK.mix(0.4)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    root.present()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shape-inference");
    // Constraints from a thousand to a million; an operation gives three to eight of them.
    let most: f64 = std::env::args().nth(1).map_or(Ok(1e6), |a| a.parse())?;
    let sizes = [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6].into_iter().filter(|n| *n <= most);
    let sizes: Vec<f64> = sizes.collect();
    let mut series = Vec::new();
    let mut table = String::from(
        "| program | made of | operations | constraints | steps an operation | CPU seconds | wall seconds | MiB at most | bytes an operation | exponent of time | of memory |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for workload in &WORKLOADS {
        let probe = measure(workload, 500)?;
        let each = probe.constraints as f64 / probe.operations as f64;
        let mut points = Vec::new();
        for size in &sizes {
            let point = measure(workload, (size / each) as usize)?;
            eprintln!(
                "{} {}: {:.3} s, {} MiB",
                workload.name,
                point.constraints,
                point.seconds,
                point.peak >> 20
            );
            points.push(point);
        }
        let (time, memory) = (exponent(&points, |p| p.seconds), exponent(&points, |p| p.peak as f64));
        for (i, p) in points.iter().enumerate() {
            let slopes =
                if i + 1 == points.len() { format!("{time:.2} | {memory:.2}") } else { " | ".into() };
            writeln!(
                table,
                "| {} | {} | {} | {} | {:.1} | {:.4} | {:.4} | {:.1} | {} | {slopes} |",
                workload.name,
                if i == 0 { workload.about } else { "" },
                p.operations,
                p.constraints,
                p.steps as f64 / p.operations as f64,
                p.seconds,
                p.wall,
                p.peak as f64 / (1 << 20) as f64,
                p.peak / p.operations,
            )?;
        }
        series.push((workload.name, points));
    }
    plot(
        &folder.join("time.svg"),
        "Adding, closing and freeing",
        "processor time in seconds",
        &series,
        |p| p.seconds,
    )?;
    plot(&folder.join("memory.svg"), "Memory held at most", "bytes", &series, |p| p.peak as f64)?;
    std::fs::write(folder.join("growth.md"), &table)?;
    print!("{table}");
    Ok(())
}
