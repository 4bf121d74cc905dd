//! The laws that ship with the crate, and which rules a run uses.

use crate::compiled::{Compiled, compile};
use crate::error::EgraphError;
use crate::options::Options;
use std::collections::HashSet;
use surject_rules::{RuleFile, parse};

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
            let flags = rule.flags;
            let allowed = rule.class <= options.exactness
                && (!flags.zero_sign || options.waived.zero_sign)
                && (!flags.finite || options.waived.finite)
                && (!flags.no_overflow || options.waived.no_overflow);
            if !allowed || options.without.contains(&rule.name) {
                continue;
            }
            if !shipped && options.verify_rules {
                // The laws are checked by the tests of this crate; a user's rule when it is used.
                let wrong = |error| EgraphError::Rules { file: file.name.clone(), error: Box::new(error) };
                let soundness = surject_rules::verify(rule).map_err(wrong)?;
                compiled.iter_mut().for_each(|c| c.soundness = Some(soundness.clone()));
            }
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
        return Err(EgraphError::UnknownLaw(unknown.clone()));
    }
    let mut phases =
        vec![Phase { name: "structural".to_string(), rules: structural.clone(), own: 0 }];
    for (name, mut rules) in later {
        let own = rules.len();
        rules.extend(structural.iter().cloned());
        phases.push(Phase { name, rules, own });
    }
    Ok(phases)
}
