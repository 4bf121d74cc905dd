//! The page of a run of `gpu.sh`: what was measured, and in so many words what was not.

use crate::shell::{Outcome, root};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Reads the JSON of a run, and writes the page and the JSON into a folder.
pub fn run(file: &Path, out: Option<&Path>) -> Outcome {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let run: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    if run["schema"] != 1 {
        return Err(format!("{}: this is no JSON of `gpu.sh`, or one of another version", file.display()));
    }
    if run["dry_run"] == true && out.is_none() {
        return Err(format!(
            "{}: this is a dry run, which measured nothing and belongs in no paper; `--out DIR` shows its page",
            file.display()
        ));
    }
    let folder = out.map_or_else(|| root().join("papers/gpu"), Path::to_path_buf);
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, text) in [("README.md", page(&run)), ("run.json", text)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    eprintln!("{} is written", folder.display());
    Ok(())
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The last line of what a command said, without help: that is the error.
fn said(text: &str) -> String {
    let is_help = |line: &&str| line.trim_start().starts_with("= help");
    text.lines().rfind(|line| !is_help(line)).unwrap_or_default().trim().to_string()
}

/// Why something was not measured, if it was not.
fn unmeasured(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("this run has no such step".into()),
        value => value.get("unmeasured").map(|why| said(&words(why))),
    }
}

/// The page.
pub fn page(run: &Value) -> String {
    let mut text = String::from("# Surject on an NVIDIA GPU\n\n");
    let gpu = run["machine"]["gpu"].as_str().unwrap_or("no GPU");
    let _ = writeln!(
        text,
        "Written by `cargo xtask gpu report` from `run.json`, which `gpu.sh` of the bundle (`cargo xtask gpu bundle`) wrote.\n\n\
         * Machine: {gpu}; {} processors; {}\n* Date: {}; {} s in all",
        run["machine"]["processors"],
        words(&run["machine"]["system"]),
        words(&run["date"]),
        run["seconds"]
    );
    if let Some(revision) = run["revision"].as_str() {
        let _ = writeln!(text, "* Commit: {revision}");
    }
    if run["dry_run"] == true {
        text.push_str("* **A dry run**: an interpreter of PTX ran small programs. Nothing was timed.\n");
    }
    calibration(&mut text, &run["calibration"]);
    for (title, key) in [("Correctness", "correctness"), ("Archives, run without the compiler", "archives")] {
        checks(&mut text, title, &run[key]);
    }
    libraries(&mut text, &run["libraries"]);
    products(&mut text, &run["products"]);
    bench(&mut text, "The suite", &run["alone"]);
    let streams = &run["one_stream"];
    if streams["one"].is_object() {
        bench(&mut text, "Programs of several streams", &streams["several"]);
        bench(&mut text, "The same on one stream", &streams["one"]);
    }
    bench(&mut text, "The suite beside XLA's GPU back end", &run["suite"]);
    // What a run cut off may be timed afterwards, and put beside it by hand.
    if run["suite_rest"].is_object() {
        bench(
            &mut text,
            "The rest of the suite beside XLA, afterwards on the same machine",
            &run["suite_rest"],
        );
    }
    bench(&mut text, "Beside PyTorch and Triton", &run["frameworks"]);
    match (unmeasured(&run["processor"]), run["processor"].as_object()) {
        (None, Some(counts)) => {
            let mut counts: Vec<_> = counts.iter().collect();
            counts.sort_by_key(|(threads, _)| threads.parse::<u32>().unwrap_or(0));
            for (threads, value) in counts {
                bench(&mut text, &format!("The processor beside XLA, {threads} threads"), value);
            }
        }
        (why, _) => {
            let _ =
                writeln!(text, "\n## The processor beside XLA\n\nUnmeasured: {}.", why.unwrap_or_default());
        }
    }
    text
}

/// What the GPU does at most, and what the machine model says.
fn calibration(text: &mut String, value: &Value) {
    text.push_str("\n## What the GPU does at most\n\n");
    if let Some(why) = unmeasured(value) {
        let _ = writeln!(text, "Unmeasured: {why}.");
        return;
    }
    let (measured, model) = (&value["measured"], &value["model"]);
    let _ = writeln!(
        text,
        "{}, compute capability {}.{}; the model is that of {}.\n\n| | measured | model |\n|---|---:|---:|",
        words(&value["device"]),
        value["capability"][0],
        value["capability"][1],
        words(&model["name"])
    );
    let figure = |value: &Value, by: f64| value.as_f64().map_or("".into(), |v| format!("{:.2}", v / by));
    for (name, key, model_key, by) in [
        (
            "copies on the device, TB/s read and written",
            "copy_bytes_per_second",
            "copy_bytes_per_second",
            1e12,
        ),
        ("f32 products and sums, Tflop/s", "f32_flops", "f32_flops", 1e12),
        ("bf16 products by `mma.sync`, Tflop/s", "bf16_mma_sync_flops", "bf16_flops", 1e12),
        ("a launch, µs", "launch_us", "", 1.0),
        ("a replayed launch, µs", "replay_us", "", 1.0),
    ] {
        let _ =
            writeln!(text, "| {name} | {} | {} |", figure(&measured[key], by), figure(&model[model_key], by));
    }
}

/// What succeeded and what did not.
fn checks(text: &mut String, title: &str, value: &Value) {
    let _ = writeln!(text, "\n## {title}\n");
    let Some(all) = value.as_array() else {
        let _ = writeln!(text, "Unmeasured: {}.", unmeasured(value).unwrap_or_default());
        return;
    };
    let passed = all.iter().filter(|c| c["ok"] == true).count();
    let _ = writeln!(text, "{passed} of {} pass.", all.len());
    for check in all.iter().filter(|c| c["ok"] != true) {
        let detail = words(&check["detail"]);
        let _ = writeln!(text, "* `{}`: {}", words(&check["name"]), said(&detail));
    }
}

/// Fourier transforms and factorisations: by NVIDIA's libraries, and by the host with its copies.
fn libraries(text: &mut String, value: &Value) {
    if let Some(why) = unmeasured(value) {
        let _ = writeln!(text, "\n## Fourier transforms and factorisations\n\nUnmeasured: {why}.");
        return;
    }
    checks(text, "Fourier transforms and factorisations, by libraries and by the host", &value["checks"]);
    let sides = ["by_libraries", "by_host"].map(|key| &value[key]);
    if let Some(why) = sides.into_iter().find_map(unmeasured) {
        let _ = writeln!(text, "\nTheir times are unmeasured: {why}.");
        return;
    }
    text.push_str("\n| program | by libraries, ms | by the host, ms |\n|---|---:|---:|\n");
    let [by_libraries, by_host] =
        sides.map(|side| side["programs"].as_array().map_or(&[][..], Vec::as_slice));
    for program in by_libraries {
        let name = words(&program["name"]);
        let host = by_host.iter().find(|other| other["name"] == program["name"]);
        let ms = |program: Option<&Value>| match program {
            None => "no time was left".to_string(),
            Some(program) => match program.get("error") {
                Some(error) => words(error).lines().next().unwrap_or_default().to_string(),
                None => words(&program["surject"]["min_ms"]),
            },
        };
        let _ = writeln!(text, "| {name} | {} | {} |", ms(Some(program)), ms(host));
    }
}

/// Products by four warps and of boxes, which schedules ask for: are they right, and how fast?
fn products(text: &mut String, value: &Value) {
    const TITLE: &str = "Products by four warps (wgmma), and of boxes (TMA)";
    if let Some(why) = unmeasured(value) {
        let _ = writeln!(text, "\n## {TITLE}\n\nUnmeasured: {why}.");
        return;
    }
    checks(text, TITLE, &value["checks"]);
    text.push('\n');
    for (name, what) in [("group_products", "wgmma"), ("boxes", "TMA")] {
        let said = match value["confirmed"][name].as_bool() {
            Some(true) => format!(
                "confirmed; set `{name}_confirmed: true` of `sm_90a` in `crates/surject-gpu/src/lib.rs`, and its strategies use it"
            ),
            Some(false) => "**wrong results**; only schedules may ask for it".into(),
            None => "not checked".into(),
        };
        let _ = writeln!(text, "* {what}: {said}.");
    }
    let Some(times) = value["times"].as_object().filter(|_| unmeasured(&value["times"]).is_none()) else {
        let _ = writeln!(
            text,
            "\nTheir times are unmeasured: {}.",
            unmeasured(&value["times"]).unwrap_or_default()
        );
        return;
    };
    text.push_str(
        "\n| program | without a schedule, ms | wgmma, ms | wgmma and TMA, ms |\n|---|---:|---:|---:|\n",
    );
    for (name, by) in times {
        let ms = ["none", "group", "tma"].map(|key| match &by[key]["programs"][0] {
            Value::Null => unmeasured(&by[key]).unwrap_or_default(),
            program => match program.get("error") {
                Some(error) => words(error).lines().next().unwrap_or_default().to_string(),
                None => words(&program["surject"]["min_ms"]),
            },
        });
        let _ = writeln!(text, "| {name} | {} |", ms.join(" | "));
    }
}

/// A run of `surject bench`.
fn bench(text: &mut String, title: &str, value: &Value) {
    let _ = writeln!(text, "\n## {title}\n");
    if let Some(why) = unmeasured(value) {
        let _ = writeln!(text, "Unmeasured: {why}.");
        return;
    }
    if let Some(why) = value.get("peer") {
        let _ = writeln!(text, "Without its peer: {}.\n", said(&words(why)));
    }
    let programs = value["programs"].as_array().map_or(&[][..], Vec::as_slice);
    let timed = programs.iter().filter(|p| p.get("error").is_none()).count();
    let _ = writeln!(
        text,
        "{timed} of {} programs were timed{}. Ratios are the peer's least time over ours; the share is what the limit \
         (copying as many bytes, or the multiply-adds of `f32`) takes of our time; kernels are launches, and their µs those \
         of every launch by itself.\n",
        value["asked"],
        if value["cut_off"] == true { "; the run was cut off" } else { "" }
    );
    let shares = programs.iter().filter_map(|p| p["ceiling"]["share"].as_f64()).filter(|&share| share > 0.0);
    let logs: Vec<f64> = shares.map(f64::ln).collect();
    if !logs.is_empty() {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let _ = writeln!(text, "* share of the limit: geometric mean {mean:.2} of {} programs", logs.len());
    }
    let peers: Vec<&String> = value["summary"].as_object().into_iter().flat_map(|s| s.keys()).collect();
    for peer in &peers {
        let summary = &value["summary"][*peer];
        let _ = writeln!(
            text,
            "* {peer}: geometric mean {} of {} programs (medians: {})",
            summary["mean_min"], summary["count"], summary["mean_median"]
        );
    }
    let names: Vec<&String> = peers.into_iter().filter(|p| *p != "best").collect();
    let columns: String = names.iter().map(|name| format!(" {name} |")).collect();
    let rules: String = names.iter().map(|_| "---:|").collect();
    let on_device = programs.iter().any(|p| p["launches"].is_array());
    let (more, more_rules) = if on_device { (" kernels | their µs |", "---:|---:|") } else { ("", "") };
    let _ = writeln!(text, "\n| program | ms | share |{more}{columns}\n|---|---:|---:|{more_rules}{rules}");
    for program in programs {
        if let Some(error) = program.get("error") {
            let error = words(error);
            let first = error.lines().next().unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {first} | |{} |",
                words(&program["name"]),
                " |".repeat((names.len() + 2 * usize::from(on_device)).saturating_sub(1))
            );
            continue;
        }
        let ratios: String = names
            .iter()
            .map(|name| {
                let peer = &program["peers"][*name];
                match peer.get("error") {
                    Some(_) => " refused |".to_string(),
                    None => format!(" {} |", peer["ratio"]["min"]),
                }
            })
            .collect();
        let launches = match (on_device, program["launches"].as_array()) {
            (false, _) => String::new(),
            (true, None) => " | |".to_string(),
            (true, Some(launches)) => {
                let us: f64 = launches.iter().filter_map(|launch| launch[1].as_f64()).sum();
                format!(" {} | {us:.1} |", launches.len())
            }
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} |{launches}{ratios}",
            words(&program["name"]),
            program["surject"]["min_ms"],
            program["ceiling"]["share"]
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What was not measured is said to be so, and no number stands in its place.
    #[test]
    fn a_dry_run_has_no_figures() {
        let dry = json!({ "unmeasured": "a dry run" });
        let run = json!({
            "schema": 1, "dry_run": true, "date": "2026-01-01", "seconds": 3.0,
            "machine": { "gpu": null, "processors": 2, "system": "Linux" },
            "calibration": dry, "suite": dry, "frameworks": dry, "processor": dry,
            "correctness": [{ "name": "a", "ok": true, "seconds": 1, "detail": "" },
                            { "name": "b", "ok": false, "seconds": 1, "detail": "x\nDIFFERS" }],
            "archives": dry,
            "libraries": { "checks": [{ "name": "lu_small by libraries", "ok": true, "detail": "" }],
                           "by_libraries": dry, "by_host": dry },
        });
        let page = page(&run);
        assert_eq!(page.matches("Unmeasured: a dry run.").count(), 5, "{page}");
        assert!(page.contains("Their times are unmeasured: a dry run."), "{page}");
        assert!(page.contains("1 of 2 pass.") && page.contains("* `b`: DIFFERS"), "{page}");
        assert!(!page.contains("Tflop/s"), "{page}");
    }

    #[test]
    fn libraries_stand_beside_the_host() {
        let timed = |ms: f64| {
            json!({ "programs": [{ "name": "lu", "surject": { "min_ms": ms } },
                                                   { "name": "svd", "error": "not supported\nat all" }] })
        };
        let mut value = json!({ "checks": [{ "name": "lu by the host", "ok": false, "detail": "DIFFERS" }],
                                "by_libraries": timed(1.5), "by_host": timed(30.0) });
        let text = |value: &Value| page(&json!({ "schema": 1, "libraries": value }));
        let found = text(&value);
        assert!(found.contains("0 of 1 pass.") && found.contains("* `lu by the host`: DIFFERS"), "{found}");
        assert!(found.contains("| lu | 1.5 | 30.0 |\n| svd | not supported | not supported |"), "{found}");
        value["by_host"] = json!({ "programs": [] });
        assert!(text(&value).contains("| lu | 1.5 | no time was left |"), "{}", text(&value));
    }

    #[test]
    fn products_say_what_a_device_confirms() {
        let timed = |ms: f64| json!({ "programs": [{ "name": "product", "surject": { "min_ms": ms } }] });
        let mut value = json!({
            "checks": [{ "name": "plain group", "ok": true, "detail": "" }, { "name": "cut tma", "ok": false, "detail": "DIFFERS" }],
            "confirmed": { "group_products": true, "boxes": false },
            "times": { "product_4096": { "none": timed(0.5), "group": timed(0.25), "tma": { "unmeasured": "no time" } } },
        });
        let text = |value: &Value| page(&json!({ "schema": 1, "products": value }));
        let found = text(&value);
        assert!(found.contains("1 of 2 pass.") && found.contains("* `cut tma`: DIFFERS"), "{found}");
        assert!(found.contains("* wgmma: confirmed; set `group_products_confirmed: true`"), "{found}");
        assert!(found.contains("* TMA: **wrong results**"), "{found}");
        assert!(found.contains("| product_4096 | 0.5 | 0.25 | no time |"), "{found}");
        value["confirmed"] = json!({ "group_products": null, "boxes": null });
        value["times"] = json!({ "unmeasured": "a dry run" });
        let found = text(&value);
        assert_eq!(found.matches("not checked.").count(), 2, "{found}");
        assert!(found.contains("Their times are unmeasured: a dry run."), "{found}");
    }

    #[test]
    fn errors_stand_without_their_help() {
        let detail = "in the kernel\nthe GPU is lost: gone\n  = help: start again";
        let page = page(&json!({
            "schema": 1,
            "correctness": [{ "name": "a", "ok": false, "detail": detail }],
            "archives": { "unmeasured": "there is no CUDA driver\n  = help: install one" },
        }));
        assert!(page.contains("* `a`: the GPU is lost: gone\n"), "{page}");
        assert!(page.contains("Unmeasured: there is no CUDA driver.\n"), "{page}");
    }

    /// The JSON of a run becomes a page and a copy of it; what is none, or a dry run, is refused.
    #[test]
    fn a_run_becomes_a_folder() {
        let folder = std::env::temp_dir().join(format!("surject-report-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, out) = (folder.join("gpu.json"), folder.join("out"));
        let write = |value: &Value| std::fs::write(&file, value.to_string()).unwrap();
        write(
            &json!({ "schema": 1, "dry_run": false, "revision": "0ddba11", "machine": { "gpu": "H100", "processors": 16 } }),
        );
        run(&file, Some(&out)).unwrap();
        let page = std::fs::read_to_string(out.join("README.md")).unwrap();
        assert!(
            page.contains("* Machine: H100; 16 processors") && page.contains("* Commit: 0ddba11"),
            "{page}"
        );
        assert!(page.contains("Unmeasured: this run has no such step."), "{page}");
        assert!(out.join("run.json").exists());
        write(&json!({ "schema": 2 }));
        assert!(run(&file, Some(&out)).unwrap_err().contains("another version"));
        write(&json!({ "schema": 1, "dry_run": true }));
        assert!(run(&file, None).unwrap_err().contains("this is a dry run"));
        std::fs::write(&file, "{").unwrap();
        assert!(run(&file, Some(&out)).unwrap_err().contains("gpu.json"));
        assert!(run(&folder.join("none.json"), Some(&out)).unwrap_err().contains("none.json"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn figures_are_those_of_the_run() {
        let bench = json!({
            "asked": 2, "cut_off": true,
            "summary": { "xla_gpu": { "count": 1, "mean_min": 1.5, "mean_median": 1.25 } },
            "programs": [
                { "name": "softmax", "surject": { "min_ms": 0.25 }, "ceiling": { "kind": "copy", "share": 0.5 },
                  "peers": { "xla_gpu": { "ratio": { "min": 1.5, "median": 1.25 } } } },
                { "name": "fft", "error": "not supported" },
            ],
        });
        let run = json!({
            "schema": 1, "machine": { "gpu": "H100" }, "suite": bench,
            "calibration": { "device": "H100", "capability": [9, 0], "model": { "name": "sm_90a", "f32_flops": 67e12 },
                             "measured": { "f32_flops": 50e12 } },
        });
        let page = page(&run);
        assert!(page.contains("| softmax | 0.25 | 0.5 | 1.5 |"), "{page}");
        assert!(page.contains("| fft | not supported | | |"), "{page}");
        assert!(page.contains("| f32 products and sums, Tflop/s | 50.00 | 67.00 |"), "{page}");
        assert!(page.contains("1 of 2 programs were timed; the run was cut off."), "{page}");
    }
}
