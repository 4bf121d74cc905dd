//! Checks of a rule file: names and scope, element types, spaces, and soundness.

mod scope;
mod types;

use crate::ast::{Rule, RuleFile};
use crate::error::RuleError;
use crate::lower::Lowered;
use crate::soundness::verify;

/// Checks names, scope, element types and spaces of every rule.
pub fn check_static(file: &RuleFile) -> Result<(), RuleError> {
    file.rules.iter().try_for_each(check_rule)
}

/// Checks every rule statically, then interprets both sides of every rule on instances ([`verify`]) and keeps what
/// that says in [`Rule::soundness`].
pub fn check(file: &mut RuleFile) -> Result<(), RuleError> {
    check_static(file)?;
    for rule in &mut file.rules {
        rule.soundness = Some(verify(rule)?);
    }
    Ok(())
}

/// The static checks of one rule.
pub(crate) fn check_rule(rule: &Rule) -> Result<(), RuleError> {
    scope::check(rule)?;
    let lowered = Lowered::new(rule)?;
    types::check(&lowered)?;
    Ok(())
}
