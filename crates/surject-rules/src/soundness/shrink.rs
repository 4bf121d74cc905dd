//! The smallest counterexample: small spaces first, then simple values.

use super::{Trial, trial};
use crate::ast::Rule;
use crate::instance::{Instance, Size, draw, simpler};
use crate::lower::Lowered;
use surject_ir::{Buffer, DType};

/// The seeds that are tried for each size.
const SEEDS: u64 = 1000;

/// The evaluations spent on simpler values.
const EVALUATIONS: usize = 3000;

/// A counterexample of the same class of element types, as small as it is found to be.
pub(super) fn smallest(rule: &Rule, found: Instance) -> Instance {
    let Ok(lowered) = Lowered::new(rule) else { return found };
    let differs = |instance: &Instance| matches!(trial(rule, instance), Trial::Differs(_));
    let weight = |instance: &Instance| {
        let elements: usize = instance.args.iter().map(Buffer::len).sum();
        let ranks: usize = instance.args.iter().map(|b| b.shape().len()).sum();
        let words: usize = instance.meanings.iter().map(String::len).sum();
        // The types that everyone knows, where they show it.
        let known = |b: &&Buffer| matches!(b.dtype(), DType::F32 | DType::F64 | DType::I32 | DType::I1);
        let rare = instance.args.len() - instance.args.iter().filter(known).count();
        (elements, ranks, rare, words)
    };
    let seeds = SEEDS * 32 / (rule.left.size() + rule.right.size()).max(32) as u64;
    let of_size = |size: &Size| {
        (0..seeds)
            .filter_map(|seed| draw(&lowered, seed, *size))
            .filter(|i| i.class == found.class && differs(i))
            .min_by_key(weight)
    };
    let mut smallest =
        Size::LEVELS.iter().find_map(of_size).filter(|i| weight(i) < weight(&found)).unwrap_or(found);
    simplify(&mut smallest, &differs);
    smallest
}

/// Replaces elements by simpler ones as long as the sides still differ.
fn simplify(instance: &mut Instance, differs: &dyn Fn(&Instance) -> bool) {
    let mut left = EVALUATIONS;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for param in 0..instance.args.len() {
            for at in 0..instance.args[param].len() {
                let value = instance.args[param].get(at);
                for candidate in simpler(value) {
                    if left == 0 {
                        return;
                    }
                    left -= 1;
                    instance.args[param].set(at, candidate);
                    if differs(instance) {
                        changed = true;
                        break;
                    }
                    instance.args[param].set(at, value);
                }
            }
        }
    }
}
