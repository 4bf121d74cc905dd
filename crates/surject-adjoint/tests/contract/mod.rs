//! The contract of passes for derivatives: they have the parameters and the results of the function, and other variables of their
//! own.

use std::collections::BTreeMap;
use surject_index::{ShapeExtent, strengthenings};
use surject_ir::{Function, Program};

/// What is known of the sizes of the parameters and results that both functions have.
fn border(f: &Function, like: &Function) -> BTreeMap<String, Vec<ShapeExtent>> {
    let params = f.params[..like.params.len()].iter().enumerate();
    let results = f.body.results[..like.body.results.len()].iter().enumerate();
    let params = params.map(|(k, &var)| (format!("parameter {k}"), f.extents(var)));
    params.chain(results.map(|(k, &var)| (format!("result {k}"), f.extents(var)))).collect()
}

/// What a derivative says of sizes beyond what was known: an error.
pub fn kept(before: &Program, after: &Program) -> Result<(), String> {
    let before = before.main().ok_or("no function")?;
    let after = after.main().ok_or("no function")?;
    let facts = before.facts().map_err(|e| e.to_string())?;
    let found = strengthenings(&border(before, before), &border(after, before), &facts, &[]);
    if let Some(found) = found.first() {
        return Err(found.to_string());
    }
    let now = after.facts().map_err(|e| e.to_string())?;
    match before.guards.iter().find(|guard| !now.holds(&guard.fact).is_yes()) {
        Some(guard) => Err(format!("the guard `{}` is gone", guard.fact)),
        None => Ok(()),
    }
}
