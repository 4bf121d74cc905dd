//! The laws that ship with the crate, and which rules a run uses.

use crate::compiled::{Compiled, compile};
use crate::error::EgraphError;
use crate::options::Options;
use crate::provenance::Tags;
use crate::report::is_noted;
use std::collections::HashSet;
use surject_rules::{Flags, Rule, RuleFile, parse};

/// The text of the law file.
pub const LAWS: &str = include_str!("../laws/laws.rules");

/// The laws that ship with the crate.
pub fn laws() -> Result<RuleFile, EgraphError> {
    let wrong = |error| EgraphError::Rules { file: "laws.rules".to_string(), error: Box::new(error) };
    parse("laws.rules", LAWS).map_err(wrong)
}

/// The rules of one phase.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Its rules, with those of the structural phase: what an optional rule builds is normalised at once.
    pub rules: Vec<Compiled>,
    /// How many of them are its own; they come first.
    pub own: usize,
}

/// Why a law (`own`: a rule of the user) may not run under these options. Who gives a rule of their own takes what its flags
/// ask for to hold.
pub fn refusal(rule: &Rule, options: &Options, own: bool) -> Option<String> {
    if options.without.contains(&rule.name) {
        return Some("it was taken away".to_string());
    }
    if rule.class > options.exactness {
        let (class, ceiling) = (rule.class.name(), options.exactness.name());
        return Some(format!(
            "its class `{class}` is above the ceiling `{ceiling}`; `--exactness {class}` lets it run"
        ));
    }
    if own {
        return None;
    }
    let (asks, waived) = (rule.flags, options.waived.or(options.exactness.waives()));
    let missing = Flags {
        zero_sign: asks.zero_sign && !waived.zero_sign,
        finite: asks.finite && !waived.finite,
        no_overflow: asks.no_overflow && !waived.no_overflow,
    };
    let missing = missing.to_string();
    (!missing.is_empty()).then(|| format!("it asks for `{missing}`, which is not waived"))
}

/// The names near to one that does not exist, the nearest first.
fn near(name: &str, known: &HashSet<String>) -> Vec<String> {
    let most = (name.chars().count() / 3).max(2);
    let mut found: Vec<(usize, &String)> = known.iter().map(|k| (distance(name, k), k)).collect();
    found.retain(|(d, k)| *d <= most || k.contains(name) && !name.is_empty());
    found.sort();
    found.into_iter().take(3).map(|(_, k)| k.clone()).collect()
}

/// How many letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The names for a message: `; is it a, b or c?`.
pub fn suggestion(near: &[String]) -> String {
    let quoted: Vec<String> = near.iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; is it {last}?"),
        Some((last, rest)) => format!("; is it {} or {last}?", rest.join(", ")),
    }
}

/// Gives every rule a number of its own, as far as they go; those that the ledger lists come first.
fn number_rules<'a>(rules: impl Iterator<Item = &'a mut Compiled>) {
    let mut rules: Vec<&mut Compiled> = rules.collect();
    let mut names: Vec<String> = Vec::new();
    for noted in [true, false] {
        for rule in rules.iter().filter(|r| is_noted(r.class, r.flags) == noted) {
            if !names.contains(&rule.name) {
                names.push(rule.name.clone());
            }
        }
    }
    for rule in &mut rules {
        let number = names.iter().position(|n| *n == rule.name);
        rule.tags = number.map_or(Tags::NONE, Tags::of);
    }
}

/// The phases of a run: the structural laws, the optional laws, the rules of the user, in this order.
pub fn phases(options: &Options) -> Result<Vec<Phase>, EgraphError> {
    let mut known: HashSet<String> = HashSet::new();
    let mut structural: Vec<Compiled> = Vec::new();
    let mut later: Vec<(String, Vec<Compiled>)> = Vec::new();
    let shipped = options.laws.clone().map_or_else(laws, Ok)?;
    for file in &options.rules {
        let wrong = |error| EgraphError::Rules { file: file.name.clone(), error: Box::new(error) };
        surject_rules::check_static(file).map_err(wrong)?;
    }
    let files = std::iter::once((&shipped, true)).chain(options.rules.iter().map(|f| (f, false)));
    for (file, shipped) in files {
        for rule in &file.rules {
            known.insert(rule.name.clone());
            let mut compiled = compile(rule)?;
            if refusal(rule, options, !shipped).is_some() {
                continue;
            }
            if !shipped && options.verify_rules {
                // The laws are checked by the tests of this crate; a user's rule when it is used.
                let wrong = |error| EgraphError::Rules { file: file.name.clone(), error: Box::new(error) };
                let soundness = match &rule.soundness {
                    Some(known) => known.clone(),
                    None => surject_rules::verify(rule).map_err(wrong)?,
                };
                compiled.iter_mut().for_each(|c| c.soundness = Some(soundness.clone()));
            }
            compiled.iter_mut().for_each(|c| c.own = !shipped);
            let phase = match (&rule.phase, shipped) {
                (Some(phase), _) => phase.clone(),
                (None, true) => {
                    structural.extend(compiled);
                    continue;
                }
                (None, false) => file.name.clone(),
            };
            match later.iter_mut().find(|(name, _)| *name == phase) {
                Some((_, rules)) => rules.extend(compiled),
                None => later.push((phase, compiled)),
            }
        }
    }
    if let Some(unknown) = options.without.iter().find(|name| !known.contains(*name)) {
        return Err(EgraphError::UnknownLaw { name: unknown.clone(), near: near(unknown, &known) });
    }
    number_rules(structural.iter_mut().chain(later.iter_mut().flat_map(|(_, rules)| rules)));
    let mut phases = vec![Phase { name: "structural".to_string(), rules: structural.clone(), own: 0 }];
    for (name, mut rules) in later {
        let own = rules.len();
        rules.extend(structural.iter().cloned());
        phases.push(Phase { name, rules, own });
    }
    Ok(phases)
}
