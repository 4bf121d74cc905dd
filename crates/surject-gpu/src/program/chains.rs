//! Chains of a program: assignments that become one kernel, where the model says that it is faster than theirs.

use super::{Planner, ProgramError};
use crate::Gpu;
use crate::model::chain::seconds;
use crate::write;
use std::collections::{HashMap, HashSet};
use surject_codegen::kernels::chain::{Chain, ChainKernels, ChainTiles};
use surject_codegen::kernels::contraction::Share;
use surject_codegen::kernels::expression::{Expression, assignment};
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::choose;
use surject_codegen::kernels::run::kernel;
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::Step;
use surject_ir::{Block, FieldId, Function, StatementKind, Var, uses};

/// A chain that is chosen: by which tiles, and its time in seconds beside that of its expressions apart.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The chain.
    pub chain: Chain,
    /// How it is cut.
    pub tiles: ChainTiles,
    /// Its modelled time, and that of its expressions by kernels of their own.
    pub seconds: [f64; 2],
}

/// How many statements read a variable.
pub fn readers(function: &Function) -> HashMap<Var, usize> {
    let mut all: HashMap<Var, usize> = HashMap::new();
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        let mut read = |vars: HashSet<Var>| vars.into_iter().for_each(|v| *all.entry(v).or_default() += 1);
        block.results.iter().for_each(|&v| read(HashSet::from([v])));
        for statement in &block.statements {
            read(match &statement.kind {
                StatementKind::Store { field, .. } => {
                    uses::tensors(&function.fields, *field).into_iter().collect()
                }
                StatementKind::Constant { .. } => HashSet::new(),
                StatementKind::Call { args, .. } => args.iter().copied().collect(),
                StatementKind::While { inits, .. } => inits.iter().copied().collect(),
                StatementKind::If { index, .. } => HashSet::from([*index]),
            });
            work.extend(statement.regions().iter().map(|r| &r.body));
        }
    }
    all
}

/// The only expression of an assignment.
fn only(function: &Function, field: FieldId) -> Option<Expression> {
    let made = assignment(function, field).ok()?;
    match &made.expressions[..] {
        [one] if made.temporaries.is_empty() => Some(one.clone()),
        _ => None,
    }
}

/// The chains of a block, by the last variable that each defines, with the variables between.
pub fn chains(
    function: &Function,
    block: &Block,
    readers: &HashMap<Var, usize>,
    gpu: &Gpu,
    given: &Schedules,
) -> Vec<(Var, [Option<Var>; 2], Chosen)> {
    let stores: HashMap<Var, FieldId> = block
        .statements
        .iter()
        .filter_map(|s| match s.kind {
            StatementKind::Store { target, field } => Some((target, field)),
            _ => None,
        })
        .collect();
    let once = |var: Var| readers.get(&var) == Some(&1);
    let is_given = |var: Var| given.get(&format!("{}_0", function.name_of(var))).is_some();
    let reads =
        |field: FieldId, var: Var| uses::tensors(&function.fields, field).into_iter().any(|v| v == var);
    let (mut found, mut taken) = (Vec::new(), HashSet::new());
    for statement in &block.statements {
        let StatementKind::Store { target: weights, field } = statement.kind else { continue };
        let sources: Vec<Var> = uses::tensors(&function.fields, field)
            .into_iter()
            .filter(|&v| once(v) && stores.contains_key(&v) && !taken.contains(&v))
            .collect();
        if sources.is_empty() || is_given(weights) {
            continue;
        }
        let Some(middle) = only(function, field).filter(|m| !m.reductions().is_empty()) else { continue };
        for scores in sources {
            let first =
                only(function, stores[&scores]).filter(|f| !is_given(scores) && f.product().is_some());
            let Some(first) = first else { continue };
            let last = stores.iter().find(|&(&to, &f)| to != weights && reads(f, weights) && !is_given(to));
            let whole = last.filter(|_| once(weights)).and_then(|(&to, &f)| {
                let chosen = chosen(gpu, (&first, scores), (&middle, weights), Some(only(function, f)?))?;
                Some((to, [Some(scores), Some(weights)], chosen))
            });
            let half = || {
                let chosen = chosen(gpu, (&first, scores), (&middle, weights), None)?;
                Some((weights, [Some(scores), None], chosen))
            };
            if let Some(chain) = whole.or_else(half) {
                taken.extend([scores, weights, chain.0]);
                found.push(chain);
                break;
            }
        }
    }
    found
}

/// The fastest cut of a chain by the model, if it is faster than the expressions apart.
fn chosen(
    gpu: &Gpu,
    (first, scores): (&Expression, Var),
    (middle, weights): (&Expression, Var),
    last: Option<Expression>,
) -> Option<Chosen> {
    let chain = Chain::new((first.clone(), scores), (middle.clone(), weights), last).ok()?;
    let (apart, best) = times(gpu, &chain)?;
    let (time, tiles) = best.filter(|best| best.0 < apart)?;
    Some(Chosen { chain, tiles, seconds: [time, apart] })
}

/// The modelled time of the expressions of a chain by kernels of their own, and that of its fastest cut that the machine
/// has a form for.
pub fn times(gpu: &Gpu, chain: &Chain) -> Option<(f64, Option<(f64, ChainTiles)>)> {
    let apart = |e: &Expression| Some(choose(gpu, e).ok()?.proposal.cost / gpu.clock);
    let apart: f64 = chain.expressions().into_iter().map(apart).sum::<Option<f64>>()?;
    let timed = cuts(chain).into_iter().filter_map(|tiles| Some((seconds(gpu, chain, &tiles).ok()?, tiles)));
    let mut timed: Vec<(f64, ChainTiles)> = timed.collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some((apart, timed.into_iter().find(|(_, tiles)| has_form(chain, tiles))))
}

/// Does a GPU have a form for a chain?
fn has_form(chain: &Chain, tiles: &ChainTiles) -> bool {
    let Ok(kernels) = chain.kernels("k", tiles) else { return false };
    let arithmetic = legal(&kernels.chain.kernel);
    arithmetic.is_ok_and(|kernel| write::write(&kernel).is_ok())
}

/// How a chain may be cut: by matrix units where all of its products have types for them, else by threads.
pub fn cuts(chain: &Chain) -> Vec<ChainTiles> {
    let products: Vec<&Expression> = chain.products().into_iter().flatten().collect();
    let units = products.iter().all(|e| e.matrix_units().is_some());
    let by_terms = |e: &Expression| {
        let product = e.product();
        let pair = product.as_ref().and_then(|p| Some((p.terms.first()?, p.columns.first()?)));
        pair.is_some_and(|(term, column)| e.right_lies_by_terms(term, column))
    };
    let lanes = |number: usize, columns: i64| match products.get(number) {
        Some(e) if !by_terms(e) => (columns / 32).min(4),
        _ => 1,
    };
    let mut all = Vec::new();
    for rows in [32, 64, 128] {
        for first in [256, 128, 64, 32] {
            for last in [128, 64, 32] {
                for depth in [32, 16, 64] {
                    let tiles = [[first, depth], [last, depth]];
                    if units {
                        let own = if rows == 128 { 32 } else { 16 };
                        all.push(ChainTiles { rows, tiles, shares: [Share::Warp(own); 2] });
                        continue;
                    }
                    for own in [8, 4] {
                        let shares = [(0, first), (1, last)].map(|(n, c)| Share::Thread([own, lanes(n, c)]));
                        all.push(ChainTiles { rows, tiles, shares });
                    }
                }
            }
        }
    }
    all
}

impl Planner<'_> {
    /// Finds the chains of a block: what is between is not stored.
    pub(super) fn find_chains(&mut self, block: &Block) {
        for (last, between, chosen) in chains(self.function, block, &self.readers, self.gpu, self.given) {
            self.skipped.extend(between.into_iter().flatten());
            self.chains.insert(last, chosen);
        }
    }

    /// The kernels of a chain.
    pub(super) fn chain(
        &mut self,
        target: Var,
        chosen: &Chosen,
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let name = self.function.name_of(target).to_string();
        let malformed = |what: String| surject_codegen::CodegenError::Malformed { what, origin: None };
        let ChainKernels { finite, chain, temporaries } =
            chosen.chain.kernels(&format!("{name}_chain"), &chosen.tiles).map_err(malformed)?;
        let mut launches = Vec::new();
        if let Some(finite) = finite {
            launches.push(kernel(&finite, self.gpu, &format!("{name}_finite"))?.launch);
        }
        launches.push(chain);
        let forms = self.forms(launches.iter().map(|l| &l.kernel), &name).map_err(malformed)?;
        let own = self.define(target)?;
        let between = self.temporaries(&name, &temporaries)?;
        let launches = launches.iter().map(|l| &l.tensors[..]).zip(forms);
        self.launches(launches, &HashMap::new(), Some(own), &between, steps)
    }
}
