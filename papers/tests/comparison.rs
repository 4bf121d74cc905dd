//! The paper on times beside XLA's and IREE's: what is written from a small stored run, and whether the paper in the
//! repository is what its own stored runs give.

use std::path::Path;
use surject_papers::comparison::{data::Comparison, data::Run, files, page};

fn stored() -> Comparison {
    Comparison::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/comparison")).unwrap()
}

#[test]
fn the_page() {
    insta::assert_snapshot!(page::page(&stored()));
}

#[test]
fn the_table() {
    insta::assert_snapshot!(page::table(&stored()));
}

#[test]
fn every_plot_that_the_page_names_is_written() {
    let files = files(&stored()).unwrap();
    let page = &files.iter().find(|(name, _)| name == "README.md").unwrap().1;
    let named = |name: &str| page.contains(&format!("]({name})"));
    for (name, text) in &files {
        assert!(name == "README.md" || named(name), "{name} is not on the page");
        assert!(!name.ends_with(".svg") || text.contains("</svg>"), "{name}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    }
    for line in page.lines().filter(|l| l.starts_with("![")) {
        let name = line.split(['(', ')']).nth(1).unwrap();
        assert!(files.iter().any(|(n, _)| n == name), "{name} is not written");
    }
}

#[test]
fn bars_are_cut_at_the_range() {
    let files = files(&stored()).unwrap();
    let plot = &files.iter().find(|(name, _)| name == "xla.svg").unwrap().1;
    // 16.7 times: inside. No bar leaves the picture.
    for x in plot.split("<rect x=\"").skip(1) {
        let x: f64 = x.split('"').next().unwrap().parse().unwrap();
        assert!((0.0..=850.0).contains(&x), "{x}");
    }
}

#[test]
fn another_format_is_refused() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/comparison/one.json"))
            .unwrap();
    assert!(Run::parse(&text).is_ok());
    let error = Run::parse(&text.replacen("\"schema\": 1", "\"schema\": 9", 1)).unwrap_err();
    assert_eq!(error, "schema 9, where 1 is known");
    assert!(Run::parse("{}").is_err());
}

/// The page is never edited by hand.
#[test]
fn the_paper_is_what_its_runs_give() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("xla-comparison");
    if !folder.join("all.json").exists() {
        return;
    }
    for (name, text) in files(&Comparison::read(&folder).unwrap()).unwrap() {
        let found = std::fs::read_to_string(folder.join(&name)).unwrap();
        assert!(
            found == text,
            "{name} is not what `cargo run -p surject-papers --bin xla-comparison` writes"
        );
    }
}
