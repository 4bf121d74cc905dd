//! What directives say that leave the loops as they are: how values are computed, and where they are.

use super::accumulate::accumulation;
use super::check::Nest;
use super::keep::keep;
use super::pack::{Nests, panels};
use super::partial;
use super::place::Misfit;
use super::prefetch::{Prefetched, prefetched};
use super::triangle::triangles;
use super::{Accumulation, Axis, AxisKind, Directive, Kept, Panel, Schedule, Sums, TailTerms, Triangle};
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, NodeId};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use std::collections::{HashMap, HashSet};
use surject_kernel::Level;

/// The most bytes of all panels and sums of a kernel, which are on the stack of a thread.
const MOST_MEMORY: i64 = 3 << 18;

/// What directives say that leave the loops as they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// The reductions whose products are not rounded.
    pub(crate) fused: HashSet<NodeId>,
    /// Those that compare floats as integers.
    pub(crate) keys: HashSet<NodeId>,
    /// The loops whose iterations share inverses of divisors.
    pub(crate) inverses: LoopSet,
    /// Do results go past the caches?
    pub(crate) nontemporal: bool,
    /// Are results of iterations that run in step computed in a loop?
    pub(crate) serial_epilogue: bool,
    /// What is prefetched beside loads.
    pub(crate) prefetched: Vec<Prefetched>,
    /// The loops whose iterations in which all guards hold are by themselves.
    pub(crate) peeled: HashSet<String>,
    /// The loops of sums that begin anew for each iteration around them, and the blocks of those that have some, by their names.
    pub(crate) begun_anew: HashSet<String>,
    pub(crate) partial_sums: HashMap<String, Vec<i64>>,
    /// The values that are read from panels.
    pub(crate) panels: Vec<Panel>,
    /// The terms that are kept.
    pub(crate) kept: Option<Kept>,
    /// The reductions whose terms are taken in blocks.
    pub(crate) accumulations: Vec<Accumulation>,
    /// The loops that end at tails.
    pub(crate) triangles: Vec<Triangle>,
}

impl Values {
    /// The memory of the marks that say where factors are finite.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Buf> {
        self.triangles.iter().filter_map(|t| match &t.terms {
            TailTerms::Zero { finite: Some(mark), .. } => Some(mark.memory),
            _ => None,
        })
    }

    /// How many sums begin anew for a loop beside those of its own, one inside of the other.
    fn larger_blocks(&self, name: &str) -> i64 {
        let blocks = self.partial_sums.get(name).map_or(0, Vec::len);
        blocks as i64 + i64::from(self.begun_anew.contains(name))
    }

    /// Are panels and sums together small enough?
    fn fits(&self, expression: &Expression) -> Result<(), Fault> {
        let panels = self
            .panels
            .iter()
            .map(|p| p.elements.saturating_mul(expression.dag[p.value].dtype.size() as i64));
        let sums = self.accumulations.iter().flat_map(|a| {
            let memories = 1 + a.blocks.iter().map(|axis| self.larger_blocks(&axis.name)).sum::<i64>();
            let bytes = |s: &Sums| s.elements.saturating_mul(s.dtype.size() as i64);
            a.sums.iter().map(move |s| bytes(s).saturating_mul(memories))
        });
        let bytes = panels.chain(sums).fold(0i64, i64::saturating_add);
        if bytes > MOST_MEMORY {
            return Err(
                format!("panels and sums of {bytes} bytes; a kernel has at most {MOST_MEMORY}").into()
            );
        }
        Ok(())
    }

    /// Adds a reduction whose terms are taken in blocks.
    fn accumulate(&mut self, new: Accumulation, blocks: &str) -> Result<(), Fault> {
        let again =
            |a: &Accumulation| a.sums.iter().any(|s| new.sums.iter().any(|n| n.reduction == s.reduction));
        if self.accumulations.iter().any(again) {
            return Err(Fault::of(blocks, format!("the reduction over `{blocks}` is accumulated already")));
        }
        self.accumulations.push(new);
        Ok(())
    }
}

/// The terms that a schedule keeps, if it does.
pub(super) fn kept(expression: &Expression, schedule: &Schedule) -> Result<Option<Kept>, Misfit> {
    let mut found = None;
    for (i, directive) in schedule.directives.iter().enumerate() {
        let Directive::Keep { reduced, at } = directive else { continue };
        let fault = |fault: Fault| fault.at(i);
        if found.is_some() {
            return Err(fault("the terms of one reduction are kept at most".into()));
        }
        found = Some(keep(expression, reduced, at).map_err(fault)?);
    }
    Ok(found)
}

/// What the other directives say of values, in a nest of loops of which some are cut.
/// It is long because it is flat: one arm a directive.
pub(super) fn values(
    expression: &Expression,
    schedule: &Schedule,
    (nests, cut): (&[Nest], &[LoopId]),
) -> Result<Values, Misfit> {
    let mut found = Values::default();
    for (i, directive) in schedule.directives.iter().enumerate() {
        let Directive::Accumulate { blocks, at } = directive else { continue };
        let fault = |fault: Fault| fault.at(i);
        let new = accumulation(expression, nests, blocks, at).map_err(fault)?;
        found.accumulate(new, blocks).and_then(|()| found.fits(expression)).map_err(fault)?;
    }
    for (i, directive) in schedule.directives.iter().enumerate() {
        let fault = |fault: Fault| fault.at(i);
        let of = |word: &str, message: String| fault(Fault::of(word, message));
        let id = |name: &str| expression.called(name).map_err(|message| of(name, message));
        let over = |of: LoopId| -> Vec<NodeId> {
            nests.iter().filter(|n| n.1.iter().any(|a| a.of == of)).filter_map(|n| n.0).collect()
        };
        match directive {
            Directive::Fma(name) => {
                let mut sums = over(id(name)?);
                sums.retain(|&n| expression.sums_products(n));
                if sums.is_empty() {
                    return Err(of(
                        name,
                        format!("no reduction over `{name}` sums products of `f32` or `f64`"),
                    ));
                }
                found.fused.extend(sums);
            }
            Directive::Keys(name) => {
                let mut compared = over(id(name)?);
                compared.retain(|&n| expression.compares_floats(n));
                if compared.is_empty() {
                    return Err(of(
                        name,
                        format!("no reduction over `{name}` wants the largest or smallest float"),
                    ));
                }
                let of_gpu = |a: &&Axis| matches!(a.kind, AxisKind::Parallel(level) if level != Level::Task);
                if let Some(shared) = nests.iter().flat_map(|n| &n.1).find(of_gpu) {
                    return Err(of(
                        name,
                        format!("agents of a GPU, which compare floats, share `{}`", shared.name),
                    ));
                }
                found.keys.extend(compared);
            }
            Directive::Peel(name) => {
                let mut all = nests.iter().flat_map(|n| &n.1).filter(|a| a.name == *name).peekable();
                if all.peek().is_none() || all.any(|a| a.kind != AxisKind::Serial) {
                    let message = format!("`{name}` is no loop whose iterations run one after the other");
                    return Err(of(name, message));
                }
                found.peeled.insert(name.clone());
            }
            Directive::Triangular(name) => {
                let all = (nests, &found.accumulations[..]);
                let new = triangles(expression, all, name).map_err(fault)?;
                if found.triangles.iter().any(|t| t.name == *name) {
                    return Err(of(name, format!("`{name}` is triangular already")));
                }
                found.triangles.extend(new);
            }
            Directive::Partial { name, blocks } => {
                partial::check(expression, nests, name, blocks).map_err(fault)?;
                let is_new = match blocks.is_empty() {
                    true => found.begun_anew.insert(name.clone()),
                    false => found.partial_sums.insert(name.clone(), blocks.clone()).is_none(),
                };
                if !is_new {
                    return Err(of(name, format!("`{name}` is summed in such blocks already")));
                }
                found.fits(expression).map_err(fault)?;
            }
            Directive::Inverse(name) => {
                found.inverses = found.inverses.union(std::iter::once(id(name)?).collect());
            }
            Directive::NonTemporal => found.nontemporal = true,
            Directive::SerialEpilogue => {
                if nests[0].1.iter().all(|a| a.kind != AxisKind::Jammed) {
                    return Err(of("epilogue", "no loop over points runs in step (`jam`)".into()));
                }
                found.serial_epilogue = true;
            }
            Directive::Prefetch(ahead) => {
                found.prefetched.push(prefetched(expression, ahead).map_err(fault)?);
            }
            Directive::Pack { tensor, at } => {
                let nests = Nests { nests, cut, accumulations: &found.accumulations };
                for panel in panels(expression, &nests, tensor, at).map_err(fault)? {
                    if found.panels.iter().any(|p| p.value == panel.value) {
                        return Err(of(tensor, format!("`{tensor}` is packed already")));
                    }
                    found.panels.push(panel);
                }
                found.fits(expression).map_err(fault)?;
            }
            _ => {}
        }
    }
    for triangle in &found.triangles {
        let of = |d: &Directive| matches!(d, Directive::Triangular(name) if *name == triangle.name);
        let at = schedule.directives.iter().position(of).unwrap_or(0);
        triangle.check(expression, &nests[0].1, &found.panels).map_err(|fault| fault.at(at))?;
    }
    Ok(found)
}
