//! Snapshots of every stage for six programs: assignments, rewritten assignments, statistics, dialect, StableHLO.

use crate::support::{own_case, surject};

const PROGRAMS: [&str; 6] = ["mlp_forward", "softmax", "layernorm", "attention", "pooling", "recurrent_scan"];

fn snapshot(stage: &str, options: &[&str]) {
    for name in PROGRAMS {
        let case = own_case(name);
        let mut words = vec!["opt", case.program.as_str()];
        words.extend(options);
        let text = surject(&words).unwrap_or_else(|f| panic!("{name}: {f}"));
        // Origins name the file by its path on this machine.
        let folder = case.program.trim_end_matches("program.mlir");
        insta::assert_snapshot!(format!("{stage}__{name}"), without_times(&text.replace(folder, "")));
    }
}

/// Times differ from run to run: `1.5 ms` becomes `… ms`.
fn without_times(text: &str) -> String {
    let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
    let is_time =
        |i: usize| words.get(i + 1).is_some_and(|next| next.trim_end_matches([',', '\n', ' ']) == "ms");
    words.iter().enumerate().map(|(i, w)| if is_time(i) { "… " } else { w }).collect()
}

#[test]
fn assignments() {
    snapshot("1_assignments", &["--emit", "program", "--no-opt"]);
}

#[test]
fn rewritten() {
    snapshot("2_rewritten", &["--emit", "program"]);
}

#[test]
fn statistics() {
    snapshot("3_statistics", &["--stats"]);
}

#[test]
fn dialect() {
    snapshot("4_dialect", &["--emit", "dialect"]);
}

#[test]
fn stablehlo() {
    snapshot("5_stablehlo", &["--emit", "stablehlo"]);
}

/// The text forms are programs: read back, they are the same program.
#[test]
fn stages_read_back() {
    let folder = std::env::temp_dir().join(format!("surject-stages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    for name in PROGRAMS {
        let case = own_case(name);
        for (form, extension) in [("program", "program"), ("dialect", "mlir")] {
            let file = folder.join(format!("{name}.{extension}"));
            let file = file.to_str().expect("paths are text");
            surject(&["opt", &case.program, "--emit", form, "-o", file])
                .unwrap_or_else(|f| panic!("{name}: {f}"));
            let mut words =
                vec!["run", file, "--backend", "interp", "--no-opt", "--rtol", "1e-5", "--atol", "1e-5"];
            case.inputs.iter().for_each(|i| words.extend(["-i", i]));
            case.outputs.iter().for_each(|o| words.extend(["--expect", o]));
            surject(&words).unwrap_or_else(|f| panic!("{name} as {form}: {f}"));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder is ours");
}
