//! `surject bench`: statistics, ratios, tables, JSON; nothing here depends on how long something takes.

use crate::support::{root, surject};
use insta::assert_snapshot;
use surject::bench::report::{Memory, PeerTimes, Ratio, Row, Times};
use surject::bench::run::{Run, Start, Summary, geometric_mean, head, summary};

fn times(min: f64, median: f64) -> Times {
    Times { min, median, ninth: median * 2.0, count: 5 }
}

fn peer(name: &str, min: f64, busy: Option<f64>) -> PeerTimes {
    PeerTimes {
        name: name.into(),
        times: times(min, min * 1.5),
        busy: busy.map(|b| times(b, b)),
        compile_ms: 20.0,
        setting: "default".into(),
        memory: (name == "xla").then_some(3000),
        ..PeerTimes::default()
    }
}

fn refused(name: &str, why: &str) -> PeerTimes {
    PeerTimes { name: name.into(), error: Some(why.into()), ..PeerTimes::default() }
}

/// A program that takes 1 ms, with a median of 2.
fn row(name: &str, peers: Vec<PeerTimes>) -> Row {
    Row {
        name: name.into(),
        compile_ms: 10.0,
        memory: Memory { arguments: 1000, results: 500, arena: 400, constants: 100 },
        times: times(1.0, 2.0),
        busy: Some(times(2.0, 4.0)),
        least: [0.0005, 0.00025],
        peers,
        ..Row::default()
    }
}

fn rows() -> Vec<Row> {
    vec![
        row("fast", vec![peer("xla", 4.0, Some(8.0)), peer("iree", 2.0, Some(2.0))]),
        row("slow", vec![peer("xla", 0.5, Some(3.0)), peer("iree", 8.0, None)]),
        row("refused", vec![peer("xla", 2.0, None), refused("iree", "compile: no \"sort\"\nand more")]),
        Row::failed("failed".into(), "result 0 differs".into()),
    ]
}

#[test]
fn order_statistics() {
    let t = Times::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
    assert_eq!((t.min, t.median, t.count), (1.0, 3.0, 5));
    assert_eq!(t.ninth, 4.0);
    let ten: Vec<f64> = (1..=10).map(f64::from).collect();
    assert_eq!(Times::of(&ten).ninth, 9.0);
    assert_eq!(Times::of(&[]), Times::default());
    assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
    assert_eq!(geometric_mean(std::iter::empty()), 1.0);
}

#[test]
fn the_better_peer_is_the_faster_one() {
    let rows = rows();
    assert_eq!(rows[0].ratio("xla"), Some(Ratio { min: 4.0, median: 3.0 }));
    assert_eq!(rows[0].ratio("best"), Some(Ratio { min: 2.0, median: 1.5 }));
    assert_eq!(rows[1].ratio("best"), Some(Ratio { min: 0.5, median: 0.375 }));
    // A peer that was not timed is nobody's better one.
    assert_eq!(rows[2].ratio("iree"), None);
    assert_eq!(rows[2].ratio("best"), rows[2].ratio("xla"));
    assert_eq!(rows[3].ratio("best"), None);
    assert_eq!(rows[0].busy_ratio("best"), Some(Ratio { min: 1.0, median: 0.5 }));
    assert_eq!(rows[2].busy_ratio("xla"), None);
    assert_eq!(rows[0].ceiling(), (0.5, true));
}

#[test]
fn summaries_count_what_was_timed() {
    let rows = rows();
    let xla = Summary::of(&rows, "xla");
    assert_eq!(xla.count, 3);
    assert!((xla.mean_min - 4f64.cbrt()).abs() < 1e-12);
    assert_eq!(xla.low, [("slow".to_string(), 0.5)]);
    assert_eq!(xla.compile_median, Some(2.0));
    assert_eq!(xla.busy_min, Some(("slow".to_string(), 0.75)));
    let iree = Summary::of(&rows, "iree");
    assert_eq!((iree.count, iree.low.len()), (2, 0));
    assert_eq!(Summary::of(&rows, "best").busy_min, Some(("fast".to_string(), 0.5)));
}

fn run() -> Run {
    let mut run = Run::new(2, 3, 0.1, 2e11);
    run.versions = vec![("xla".into(), "jaxlib 1".into()), ("iree".into(), "IREE 2".into())];
    run.rows = rows();
    run.starts = vec![Start { name: "fast".into(), cold_ms: 100.0, warm_ms: 12.5 }];
    run
}

#[test]
fn the_table() {
    let peers = ["xla", "iree"];
    let lines: String = rows().iter().map(|r| r.line(&peers)).collect();
    assert_snapshot!(format!("{}{lines}{}", head(&run(), &peers, true), summary(&rows(), &peers)));
}

#[test]
fn the_json() {
    let text = run().json();
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["schema"], 1);
    assert_eq!(value["programs"].as_array().map(Vec::len), Some(4));
    let (programs, starts) = (&value["programs"], &value["starts"]);
    assert_snapshot!(format!("{programs:#}\n{starts:#}\n{:#}", value["summary"]));
}

/// Without a peer, on a program of the repository.
#[test]
fn a_program_alone() {
    let program = root().join("tests/programs/softmax");
    let file = std::env::temp_dir().join(format!("surject-bench-test-{}.json", std::process::id()));
    let words =
        ["bench", program.to_str().expect("text"), "--rounds", "1", "--seconds", "0", "--json", "--out"];
    let out = surject(&[&words[..], &[file.to_str().expect("text")]].concat()).expect("it runs");
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let row = &value["programs"][0];
    assert_eq!(row["name"], "softmax");
    assert!(row["surject"]["memory"]["arguments"].as_u64() > Some(0), "{row}");
    let stored: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("a file")).expect("JSON");
    assert_eq!(stored["programs"], value["programs"]);
    std::fs::remove_file(&file).expect("removed");
}

/// By a schedule, which must fit the program.
#[test]
fn a_program_by_its_schedule() {
    let program = root().join("tests/programs/softmax/program.mlir");
    let program = program.to_str().expect("text");
    let machine = ["--machine", "host"];
    let schedule =
        surject(&[&["opt", program, "--emit", "schedule"][..], &machine].concat()).expect("it has kernels");
    let file = std::env::temp_dir().join(format!("surject-bench-test-{}.schedule", std::process::id()));
    let words = ["bench", program, "--rounds", "1", "--seconds", "0", "--schedule"];
    let words = [&words[..], &[file.to_str().expect("text")]].concat();
    std::fs::write(&file, &schedule).expect("written");
    surject(&words).expect("it fits");
    std::fs::write(&file, format!("{schedule}\nkernel nothing_0\nunroll i0\n")).expect("written");
    let failure = surject(&words).expect_err("no such kernel");
    std::fs::remove_file(&file).expect("removed");
    assert_snapshot!(failure.message, @"1 of 1 programs were not timed");
}

#[test]
fn a_program_that_is_not_there_is_a_row() {
    let failure = surject(&["bench", "no/such.mlir", "--rounds", "1"]).expect_err("nothing was timed");
    assert_snapshot!(failure.message, @"1 of 1 programs were not timed");
    let folder = root().join("tests/e2e/snapshots");
    let failure = surject(&["bench", folder.to_str().expect("text")]).expect_err("no program");
    assert_eq!(failure.status, surject::Status::BadInput);
    let failure = surject(&["bench", "no_such_workload"]).expect_err("no workload");
    assert_eq!(failure.status, surject::Status::BadInput);
    assert!(failure.message.contains("no workload in"), "{}", failure.message);
}
