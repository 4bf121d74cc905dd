//! Law blocks: what a paper says of a law is what ships.

use crate::blocks::{Block, Paper};
use std::collections::BTreeMap;
use surject_rules::{Exactness, Rule};

/// The laws that ship, by name.
pub fn shipped() -> Result<BTreeMap<String, Rule>, String> {
    let file = surject_egraph::laws().map_err(|e| e.to_string())?;
    Ok(file.rules.into_iter().map(|r| (r.name.clone(), r)).collect())
}

/// Checks a law block: it stands under the name of its law and is the law, letter by letter up to spaces.
pub fn check(block: &Block, laws: &BTreeMap<String, Rule>) -> Result<String, String> {
    let wrong = |what: String| format!("{}: {what}", block.place);
    let file = surject_rules::parse(&block.place, &block.text).map_err(|e| wrong(e.to_string()))?;
    let [rule] = file.rules.as_slice() else {
        return Err(wrong("a law block holds one law".to_string()));
    };
    if block.heading != rule.name {
        return Err(wrong(format!("the law `{}` stands under the heading `{}`", rule.name, block.heading)));
    }
    match laws.get(&rule.name) {
        None => Err(wrong(format!("there is no law `{}`", rule.name))),
        Some(law) if law.to_string() != rule.to_string() => {
            Err(wrong(format!("the law that ships is\n{law}and the paper has\n{rule}")))
        }
        Some(_) => Ok(rule.name.clone()),
    }
}

/// Checks that every law has a section with the law itself and an example of its class, and that nothing else does.
pub fn complete(paper: &Paper) -> Result<(), Vec<String>> {
    let laws = shipped().map_err(|e| vec![e])?;
    let mut faults = Vec::new();
    let mut seen = Vec::new();
    for block in paper.of_kind("law") {
        match check(block, &laws) {
            Ok(name) => seen.push(name),
            Err(fault) => faults.push(fault),
        }
    }
    for (name, law) in &laws {
        match seen.iter().filter(|s| *s == name).count() {
            1 => {}
            n => faults.push(format!("{}: the law `{name}` has {n} law blocks", paper.name)),
        }
        let examples = || paper.of_kind("program").filter(|b| b.heading == *name && !b.has("differs"));
        if examples().count() < 2 {
            faults.push(format!("{}: the law `{name}` has no example", paper.name));
        }
        // An exact law is shown to be exact.
        let tolerant = |b: &Block| b.has("reassociates") || b.has("rounds") || b.has("overflows");
        if law.class == Exactness::Exact
            && let Some(block) = examples().find(|b| tolerant(b))
        {
            faults.push(format!("{}: `{name}` is exact, the example is not", block.place));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
