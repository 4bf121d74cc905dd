//! Chains of a program: assignments that become one kernel, where the model says that it is faster than theirs.

use super::{Planner, ProgramError};
use crate::Gpu;
pub use crate::model::chain::Mask;
use crate::model::chain::{masked, needs, seconds};
use crate::write;
use std::collections::{HashMap, HashSet};
use surject_codegen::kernels::chain::{Chain, ChainTiles, HeadSize, Scores};
use surject_codegen::kernels::contraction::{Share, SubTile, Tiles};
use surject_codegen::kernels::expression::{Expression, Tensor, assignment};
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::lower::ChainKernels;
use surject_codegen::kernels::lower::Launch;
use surject_codegen::kernels::machine::{Machine, choose};
use surject_codegen::kernels::run::{kernel, kernel_by};
use surject_codegen::kernels::schedule::{Directive, Schedule, Schedules};
use surject_cuda::Step;
use surject_ir::{AccOp, Block, DType, FieldId, FieldKind, Function, StatementKind, TensorType, Var, uses};

/// A chain that is chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The chain.
    pub chain: Chain,
    /// What its kernels are.
    pub kernels: Chained,
    /// The modelled time of it as one kernel, where it has that form, and that of its expressions by kernels of their own.
    pub seconds: [Option<f64>; 2],
    /// Is something left out that a mask throws away?
    pub leaves_out: bool,
}

/// The kernels of a chain.
#[derive(Clone, Debug)]
pub enum Chained {
    /// One.
    One(ChainTiles),
    /// One each; the last product leaves out what a mask throws away, by these tiles.
    Apart(Tiles),
}

/// Nobody has measured a chain: the model has to see more than its own errors.
const SURE: f64 = 0.85;

/// By how much a chain has to be faster than its expressions: at all, where it has a tile of its scores at a time. Plans
/// have no tensor of their size then.
fn margin(tiles: &ChainTiles) -> f64 {
    match tiles.scores {
        Scores::All => SURE,
        Scores::Tile => 1.0,
    }
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
            let last = last.filter(|_| once(weights));
            let last = last.and_then(|(&to, &f)| Some((to, only(function, f)?)));
            let chain = |last: Option<Expression>| {
                Chain::new((first.clone(), scores), (middle.clone(), weights), last).ok()
            };
            let whole = last.and_then(|(to, last)| Some((to, chain(Some(last))?)));
            let known =
                |chain: &Chain| chain.mask().is_some_and(|tensors| is_of_literals(function, &tensors));
            let found_one = match whole {
                Some((to, chain)) => {
                    chosen(gpu, chain, &known).map(|c| (to, [Some(scores), Some(weights)], c))
                }
                None => chain(None)
                    .and_then(|c| chosen(gpu, c, &known))
                    .map(|c| (weights, [Some(scores), None], c)),
            };
            if let Some(chain) = found_one {
                taken.extend([scores, weights, chain.0]);
                found.push(chain);
                break;
            }
        }
    }
    found
}

/// The chains of a function as comments: the kernels that each replaces, its modelled time and theirs, what a machine
/// needs for it at least, and how it is cut.
pub fn described(function: &Function, gpu: &Gpu, given: &Schedules) -> Vec<String> {
    let readers = readers(function);
    let (mut work, mut said) = (vec![&function.body], Vec::new());
    while let Some(block) = work.pop() {
        work.extend(block.statements.iter().flat_map(|s| s.regions()).map(|r| &r.body));
        for (last, between, chosen) in chains(function, block, &readers, gpu, given) {
            let vars = between.into_iter().flatten().chain([last]);
            let mut names: Vec<String> = vars.map(|v| format!("{}_0", function.name_of(v))).collect();
            names.dedup();
            let us = |seconds: f64| format!("{:.2} us", seconds * 1e6);
            let time = |number: usize| chosen.seconds[number].map_or("no time".into(), us);
            let leaves_out = chosen.leaves_out;
            let cut = match &chosen.kernels {
                Chained::One(tiles) => format!("{} as one kernel, else {}: {tiles}", time(0), time(1)),
                Chained::Apart(tiles) => format!("{} apart, one kernel {}: {tiles}", time(1), time(0)),
            };
            let needs = us(needs(gpu, &chosen.chain, leaves_out));
            said.push(format!("// chain {}: needs {needs}, takes {cut}", names.join(" ")));
        }
    }
    said
}

/// Are tensors the same in every run?
fn is_of_literals(function: &Function, tensors: &[Tensor]) -> bool {
    tensors.iter().all(|tensor| match tensor {
        Tensor::Var(var) => of_literals(function, *var, &mut HashMap::new()),
        _ => false,
    })
}

/// Is a variable the same in every run?
fn of_literals(function: &Function, var: Var, known: &mut HashMap<Var, bool>) -> bool {
    if let Some(&known) = known.get(&var) {
        return known;
    }
    known.insert(var, false);
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        for statement in &block.statements {
            let found = match &statement.kind {
                StatementKind::Store { target, field } if *target == var => {
                    let all: Vec<Var> = uses::tensors(&function.fields, *field).into_iter().collect();
                    all.into_iter().all(|v| of_literals(function, v, known))
                }
                StatementKind::Constant { target, .. } if *target == var => true,
                _ => {
                    work.extend(statement.regions().iter().map(|r| &r.body));
                    continue;
                }
            };
            known.insert(var, found);
            return found;
        }
    }
    false
}

/// The kernels of a chain: one, where the model says that it is faster than those of its expressions; else, where a mask
/// is known that throws sums away, kernels which leave out what it does.
fn chosen(gpu: &Gpu, chain: Chain, known: &dyn Fn(&Chain) -> bool) -> Option<Chosen> {
    let mask = if known(&chain) { Mask::Literal } else { Mask::Other };
    let (mut separate, best) = times(gpu, &chain, mask)?;
    let last = || {
        let tiles = chain.products()[1].and_then(|last| tiles_of(gpu, last))?;
        let made = chain.listed("k", &tiles).ok()?;
        is_writable(gpu, &made.chain.kernel).then_some(tiles)
    };
    let last = if mask == Mask::Literal { last() } else { None };
    if mask == Mask::Literal && last.is_none() {
        // Kernels of their own would leave nothing out.
        separate = times(gpu, &chain, Mask::Other)?.0;
    }
    let seconds = [best.as_ref().map(|b| b.0), Some(separate)];
    if let Some((_, tiles)) = best.filter(|best| best.0 < margin(&best.1) * separate) {
        let leaves_out = mask == Mask::Literal
            && match tiles.scores {
                Scores::All => chain.is_masked(),
                Scores::Tile => chain.left_out().is_some(),
            };
        return Some(Chosen { chain, kernels: Chained::One(tiles), seconds, leaves_out });
    }
    Some(Chosen { chain, kernels: Chained::Apart(last?), seconds, leaves_out: true })
}

/// The tiles by which a machine sums products.
fn tiles_of(gpu: &Gpu, expression: &Expression) -> Option<Tiles> {
    match &choose(gpu, expression).ok()?.proposal.schedule.directives[..] {
        [Directive::Contract(tiles)] => Some(tiles.clone()),
        _ => None,
    }
}

/// The modelled time of the expressions of a chain by kernels of their own, which leave out what a mask throws away where
/// it is known, and that of its fastest cut that the machine has a form for.
pub fn times(gpu: &Gpu, chain: &Chain, mask: Mask) -> Option<(f64, Option<(f64, ChainTiles)>)> {
    let separate = |e: &Expression| Some(choose(gpu, e).ok()?.proposal.cost / gpu.clock);
    let each = chain.expressions().into_iter().map(separate).collect::<Option<Vec<f64>>>()?;
    let is_product = |number: usize| number != 1;
    let leaves_out = mask == Mask::Literal && chain.is_masked();
    let each = each.into_iter().enumerate();
    let separate: f64 = each.map(|(n, s)| if leaves_out && is_product(n) { masked(s) } else { s }).sum();
    let timed =
        cuts(chain).into_iter().filter_map(|tiles| Some((seconds(gpu, chain, &tiles, mask).ok()?, tiles)));
    let mut timed: Vec<(f64, ChainTiles)> = timed.collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some((separate, timed.into_iter().find(|(_, tiles)| has_form(gpu, chain, tiles))))
}

/// Does a GPU have a form for a chain?
fn has_form(gpu: &Gpu, chain: &Chain, tiles: &ChainTiles) -> bool {
    chain.kernels("k", tiles).is_ok_and(|made| is_writable(gpu, &made.chain.kernel))
}

fn is_writable(gpu: &Gpu, kernel: &surject_kernel::Kernel) -> bool {
    let written = |kernel| write::write(&kernel).is_ok_and(|written| written.launch.shared <= gpu.shared);
    legal(kernel).is_ok_and(written)
}

/// How a chain may be cut: by matrix units where all of its products have types for them, else by threads.
pub fn cuts(chain: &Chain) -> Vec<ChainTiles> {
    let products: Vec<&Expression> = chain.products().into_iter().flatten().collect();
    // Chains have no form for tf32, which stands for `f32` here.
    let units = products.iter().all(|e| e.matrix_units().is_some_and(|factors| factors != DType::F32));
    let by_terms = |e: &Expression| {
        let product = e.product();
        let pair = product.as_ref().and_then(|p| Some((p.terms.first()?, p.columns.first()?)));
        pair.is_some_and(|(term, column)| e.right_lies_by_terms(term, column))
    };
    let lanes = |number: usize, columns: i64| match products.get(number) {
        Some(e) if !by_terms(e) => (columns / 32).min(4),
        _ => 1,
    };
    let mut all = if chain.by_tiles().is_ok() { cuts_by_tiles(chain, units, &lanes) } else { Vec::new() };
    let depths = [(16, 16), (16, 32), (16, 64), (32, 32), (32, 64), (64, 64)];
    for rows in [32, 64, 128] {
        let widths = [256, 128, 64, 32].into_iter().flat_map(|first| [128, 64, 32].map(|last| [first, last]));
        for ([first, last], depths) in widths.flat_map(|w| depths.map(|d| (w, d))) {
            let tiles = [[first, depths.0], [last, depths.1]];
            if units {
                let own = if rows == 128 { 32 } else { 16 };
                all.push(ChainTiles { rows, tiles, shares: [Share::Warp(own); 2], scores: Scores::All });
                continue;
            }
            for own in [8, 4] {
                let shares = [(0, first), (1, last)]
                    .map(|(n, c)| Share::Thread(SubTile { rows: own, columns: lanes(n, c) }));
                all.push(ChainTiles { rows, tiles, shares, scores: Scores::All });
            }
        }
    }
    all
}

/// How a chain may be cut where a block has a tile of scores at a time.
fn cuts_by_tiles(chain: &Chain, units: bool, lanes: &dyn Fn(usize, i64) -> i64) -> Vec<ChainTiles> {
    /// The longest terms and columns that a block has at once.
    const HEAD: i64 = 256;
    let Some(HeadSize { terms, columns }) = chain.head() else { return Vec::new() };
    let whole = |n: i64| (n.max(32) as u64).next_power_of_two() as i64;
    let (terms, head) = (whole(terms), whole(columns));
    if terms > HEAD || head > HEAD {
        return Vec::new();
    }
    let scores = Scores::Tile;
    let mut all = Vec::new();
    for rows in [32, 64, 128] {
        for columns in [128, 64, 32] {
            let tiles = [[columns, terms], [head, columns]];
            if units {
                all.push(ChainTiles { rows, tiles, shares: [Share::Warp(16); 2], scores });
                continue;
            }
            for own in [16, 8, 4] {
                let shares = [(0, columns), (1, head)]
                    .map(|(n, c)| Share::Thread(SubTile { rows: own, columns: lanes(n, c) }));
                all.push(ChainTiles { rows, tiles, shares, scores });
            }
        }
    }
    all
}

impl Planner<'_> {
    /// Finds the chains of a block: of one kernel, what is between is not stored.
    pub(super) fn find_chains(&mut self, block: &Block) {
        for (last, between, chosen) in chains(self.function, block, &self.readers, self.gpu, self.given) {
            if let Chained::One(_) = chosen.kernels {
                self.skipped.extend(between.into_iter().flatten());
            }
            self.chains.insert(last, chosen);
        }
    }

    /// The kernels that define the last variable of a chain.
    pub(super) fn chain(
        &mut self,
        target: Var,
        chosen: &Chosen,
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let name = self.function.name_of(target).to_string();
        let malformed = |what: String| surject_codegen::CodegenError::Malformed { what, origin: None };
        let made = match &chosen.kernels {
            Chained::One(tiles) => chosen.chain.kernels(&format!("{name}_chain"), tiles),
            Chained::Apart(tiles) => chosen.chain.listed(&format!("{name}_0"), tiles),
        };
        let ChainKernels { finite, chain, temporaries } = made.map_err(malformed)?;
        let mut launches = Vec::new();
        if let Some(finite) = finite {
            launches.push(kernel(&finite, self.gpu, &format!("{name}_finite"))?.launch);
        }
        launches.push(chain);
        let cost = match &chosen.kernels {
            Chained::One(_) => chosen.seconds[0].map(|seconds| seconds * self.gpu.clock),
            Chained::Apart(_) => None,
        };
        // The chain stands behind the kernel that says whether its values are finite.
        let costs: Vec<Option<f64>> = (1..launches.len()).map(|_| None).chain([cost]).collect();
        self.launch_all(target, &name, &launches, &temporaries, &costs, steps)
    }

    /// The tiles of sums of products of which a mask of literals throws some away.
    pub(super) fn masked(&self, target: Var, field: FieldId) -> Option<Tiles> {
        // Most assignments are seen to have no sum below a choice.
        let (mut sums, mut chooses) = (false, false);
        for inner in self.function.fields.reachable(&[field]) {
            match self.function.fields[inner].kind {
                FieldKind::Acc { op: AccOp::Add, .. } => sums = true,
                FieldKind::Select { .. } => chooses = true,
                _ => {}
            }
        }
        if !(sums && chooses) {
            return None;
        }
        let expression = only(self.function, field)?;
        let of_literals = is_of_literals(self.function, &expression.mask()?);
        if !of_literals || self.given.get(&format!("{}_0", self.function.name_of(target))).is_some() {
            return None;
        }
        if self.gpu.stages(&expression).is_some() {
            return None;
        }
        let tiles = Tiles { masked: true, ..tiles_of(self.gpu, &expression)? };
        let schedule = Schedule { directives: vec![Directive::Contract(tiles.clone())] };
        let made = kernel_by(&expression, self.gpu, "k", schedule).ok()?;
        is_writable(self.gpu, &made.launch.kernel).then_some(tiles)
    }

    /// The kernel of such sums.
    pub(super) fn store_masked(
        &mut self,
        target: Var,
        field: FieldId,
        tiles: Tiles,
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let name = self.function.name_of(target).to_string();
        let missing = || surject_codegen::CodegenError::Malformed {
            what: "a product that is none".into(),
            origin: None,
        };
        let expression = only(self.function, field).ok_or_else(missing)?;
        let schedule = Schedule { directives: vec![Directive::Contract(tiles)] };
        let made = kernel_by(&expression, self.gpu, &format!("{name}_0"), schedule)?;
        self.launch_all(target, &name, &[made.launch], &[], &[], steps)
    }

    fn launch_all(
        &mut self,
        target: Var,
        name: &str,
        launches: &[Launch],
        temporaries: &[TensorType],
        costs: &[Option<f64>],
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let malformed = |what: String| surject_codegen::CodegenError::Malformed { what, origin: None };
        let forms = self.forms(launches.iter().map(|l| &l.kernel), name).map_err(malformed)?;
        self.take(&forms, costs.iter().copied());
        let own = self.define(target)?;
        let between = self.temporaries(name, temporaries)?;
        let launches = launches.iter().map(|l| &l.tensors[..]).zip(forms);
        self.launches(launches, &HashMap::new(), Some(own), &between, steps)
    }
}
