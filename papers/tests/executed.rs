//! Every block of every paper.

use surject_papers::{Paper, laws, maps, papers, programs};

fn report(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults\n\n{}", faults.len(), faults.join("\n\n"));
}

fn all() -> Vec<Paper> {
    let papers = papers().unwrap();
    assert!(!papers.is_empty());
    papers
}

#[test]
fn program_blocks_hold() {
    let mut checked = 0;
    let mut faults = Vec::new();
    for paper in all() {
        let blocks: Vec<_> = paper.of_kind("program").collect();
        checked += blocks.len();
        faults.extend(programs::check(&blocks));
    }
    assert!(checked > 0);
    report(faults);
}

#[test]
fn map_blocks_hold() {
    report(all().iter().flat_map(|p| p.of_kind("map")).filter_map(|b| maps::check(b).err()).collect());
}

#[test]
fn every_law_has_its_section() {
    let papers = all();
    let paper = papers.iter().find(|p| p.name.contains("pull-and-push")).unwrap();
    report(laws::complete(paper).err().unwrap_or_default());
}

#[test]
fn blocks_are_of_a_known_kind() {
    let known = ["program", "map", "law", "text", "sh"];
    let papers = all();
    let blocks = papers.iter().flat_map(|p| &p.blocks);
    report(blocks.filter(|b| !known.contains(&b.kind.as_str())).map(|b| b.place.clone()).collect());
}

/// The harness itself: what is wrong is noticed, with its place.
#[test]
fn wrong_blocks_are_found() {
    let text = "# h\n```program\nfunc f(x: f32[2]) -> (y) { y : f32[2] =: over i<2: x[i] + 1.0f32 }\n```\n\
                ```program\nfunc f(x: f32[2]) -> (y) { y : f32[2] =: over i<2: x[i] + 2.0f32 }\n```\n\
                ```map\n(i<4) -> [i] in [4]\ninjective: no\n```\n```program\nfunc f( {}\n```\n";
    let paper = Paper::parse("p.md", text).unwrap();
    let faults = programs::check(&paper.of_kind("program").collect::<Vec<_>>());
    assert!(faults[0].starts_with("p.md:2: the sides differ"), "{faults:?}");
    assert!(faults[1].starts_with("p.md:12: "), "{faults:?}");
    let fault = maps::check(paper.of_kind("map").next().unwrap()).unwrap_err();
    assert!(fault.starts_with("p.md:8: injective"), "{fault}");
    assert!(Paper::parse("p.md", "```map\n").unwrap_err().starts_with("p.md:1"));
}
