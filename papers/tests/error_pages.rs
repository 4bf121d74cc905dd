//! The pages of error codes are complete and true.

use std::collections::BTreeSet;
use surject_papers::{Paper, errors};

fn pages() -> Vec<Paper> {
    let pages = errors::pages().unwrap();
    pages.iter().map(|(name, text)| Paper::parse(&format!("docs/errors/{name}"), text).unwrap()).collect()
}

#[test]
fn every_example_gives_its_code() {
    let faults: Vec<String> =
        pages().iter().flat_map(|p| &p.blocks).filter_map(|b| errors::check(b).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_code_of_the_sources_has_its_section_and_no_other() {
    let sections: Vec<String> = pages().iter().flat_map(errors::sections).collect();
    let documented: BTreeSet<String> = sections.iter().cloned().collect();
    assert_eq!(sections.len(), documented.len(), "a code has two sections");
    assert_eq!(documented, errors::codes_of_sources().unwrap());
}

#[test]
fn the_index_lists_every_code_and_its_links_hold() {
    let pages = errors::pages().unwrap();
    let index = &pages["README.md"];
    assert_eq!(errors::codes(index), errors::codes_of_sources().unwrap());
    for link in index.split("](").skip(1).filter_map(|l| l.split_once(')')).map(|(link, _)| link) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let page =
            Paper::parse(file, pages.get(file).unwrap_or_else(|| panic!("{link}: no such page"))).unwrap();
        let anchors = page.headings.iter().map(|h| {
            let kept: String =
                h.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -".contains(*c)).collect();
            kept.replace(' ', "-")
        });
        assert!(anchor.is_empty() || anchors.into_iter().any(|a| a == anchor), "{link}: no such section");
    }
}
