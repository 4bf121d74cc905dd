//! The figures of a program as it is: what each of its assignments computes, reads and writes.
//!
//! The walk is that of the search for a plan ([`crate::kernel`]), so that a plan and the program that came of it, with all
//! that was done to it afterwards, are measured alike.

use crate::choose::shallowest;
use crate::cost::CostModel;
use crate::error::EgraphError;
use crate::import::{Mode, import};
use crate::kernel::Walker;
use crate::plan::Plan;
use crate::report::PlanFigures;
use crate::terms::{Class, Terms};
use egg::Id;
use std::collections::{BTreeMap, HashMap};
use surject_ir::{Block, Function, StatementKind};

/// The figures of every block of a function, with its place: the body, then the regions of its control flow, outer ones
/// first.
pub fn figures(function: &Function, model: &CostModel) -> Result<Vec<(String, PlanFigures)>, EgraphError> {
    let mut result = Vec::new();
    blocks(function, &function.body, &function.name, model, &mut result)?;
    Ok(result)
}

fn blocks(
    function: &Function,
    block: &Block,
    place: &str,
    model: &CostModel,
    result: &mut Vec<(String, PlanFigures)>,
) -> Result<(), EgraphError> {
    result.push((place.to_string(), of_block(function, block, model)?));
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::While { cond, body, .. } => {
                blocks(function, &cond.body, &format!("{place}, while condition"), model, result)?;
                blocks(function, &body.body, &format!("{place}, while body"), model, result)?;
            }
            StatementKind::If { branches, .. } => {
                for branch in branches {
                    blocks(function, &branch.body, &format!("{place}, branch"), model, result)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn of_block(function: &Function, block: &Block, model: &CostModel) -> Result<PlanFigures, EgraphError> {
    let mut imported = import(function, block, &HashMap::new(), &BTreeMap::new(), Mode::Raw)?;
    let egraph = &mut imported.egraph;
    let ids: Vec<Id> = imported.stored.iter().map(|s| s.1).collect();
    let terms = Terms::new(egraph, &ids, |_| 0);
    let choice = shallowest(&terms);
    let stores: Vec<Class> =
        ids.iter().filter_map(|&id| terms.numbers.get(&egraph.find(id)).copied()).collect();
    let mut stored = vec![false; terms.classes.len()];
    stores.iter().for_each(|&class| stored[class] = true);
    let mut trims = Default::default();
    let mut kernels = BTreeMap::new();
    for &class in &stores {
        let algebra = &mut egraph.analysis;
        let mut walker =
            Walker { terms: &terms, choice: &choice, algebra, model, trims: &mut trims, lenient: true };
        kernels.insert(class, walker.kernel(class, &stored));
    }
    let plan = Plan { choice, stored, kernels };
    let mut figures = PlanFigures::new(&terms, &plan, &egraph.analysis, function);
    // Two assignments of the same field are one class, and two assignments all the same.
    figures.stores = stores.len();
    Ok(figures)
}
