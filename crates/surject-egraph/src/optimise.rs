//! The whole way: each block of a program becomes an e-graph, is saturated phase by phase, planned, and written
//! back.

use crate::algebra::Algebra;
use crate::build::field;
use crate::compiled::Compiled;
use crate::contract::{Contract, checked, checked_program};
use crate::dot::dot;
use crate::early::sum_early;
use crate::emit::{Emitter, Writing};
use crate::error::EgraphError;
use crate::explain::explain;
use crate::extract::{Best, Extraction, Snapshot};
use crate::factors::take_out;
use crate::figures::figures;
use crate::import::{Imported, Mode, import, needs};
use crate::laws::{Phase, phases};
use crate::live::{levels, live_statements, sweep};
use crate::moments::in_blocks;
use crate::options::Options;
use crate::plan::{Plan, topological};
use crate::provenance::Tags;
use crate::repeated::{Known, Part, copy, form};
use crate::report::{BlockReport, FACTOR, FACTOR_ANY, PARTS, PlanFigures, Report, is_noted};
use crate::saturate::{Bounds, Firing, Rules, Stop, saturate};
use crate::spread::make_once;
use crate::terms::{Class, Term, Terms};
use crate::windows::take_apart;
use egg::Id;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use surject_ir::{Block, Function, Program, Region, Scalar, Statement, StatementKind, TypeError, Var};

/// An optimised program and what was done to get it.
#[derive(Clone, Debug)]
pub struct Optimised {
    /// The program.
    pub program: Program,
    /// What was done.
    pub report: Report,
}

/// Optimises a program: the same functions, with fewer and cheaper stores.
pub fn optimise(program: &Program, options: &Options) -> Result<Optimised, EgraphError> {
    let start = std::time::Instant::now();
    surject_ir::verify(program).map_err(|e| EgraphError::Invalid(e.to_string()))?;
    let unrolled = checked_program("unroll", program, crate::unroll::unroll)?;
    let program = unrolled.as_ref().unwrap_or(program);
    let assigned = checked_program("assign", program, crate::indexed::assign)?;
    let program = assigned.as_ref().unwrap_or(program);
    let phases = phases(options)?;
    let mut report = Report::new(options, &phases);
    // What is taken out of sums is so by these laws.
    let has = |law: &str| phases.iter().any(|p| p.rules.iter().any(|r| r.name == law));
    let (factors, any, parts) = (has(FACTOR), has(FACTOR_ANY), has(PARTS));
    let mut functions = Vec::with_capacity(program.functions.len());
    for function in &program.functions {
        let mut driver = Driver {
            options,
            phases: &phases,
            emitter: Emitter::new(function),
            known: BTreeMap::new(),
            alias: HashMap::new(),
            regions: HashMap::new(),
            report: &mut report,
            place: function.name.clone(),
        };
        let body = driver.block(&function.body)?;
        let mut new = driver.emitter.new;
        new.body = body;
        Contract::before(function)?.after("block", &new)?;
        checked("sweep", &mut new, |f| {
            let mut block = std::mem::take(&mut f.body);
            sweep(f, &mut block);
            f.body = block;
            Ok(())
        })?;
        let output = |e: TypeError| EgraphError::Output(e.to_string());
        if factors {
            report.taken_out += checked("take_out", &mut new, |f| take_out(f, any).map_err(output))?;
        }
        if parts {
            report.early += checked("make_once", &mut new, |f| make_once(f).map_err(output))?;
        }
        if factors && parts {
            report.early += checked("sum_early", &mut new, |f| sum_early(f, any).map_err(output))?;
            report.in_blocks += checked("in_blocks", &mut new, |f| in_blocks(f).map_err(output))?;
        }
        report.taken_apart += checked("take_apart", &mut new, |f| take_apart(f, parts))?;
        functions.push(new);
    }
    let program = Program { name: program.name.clone(), functions };
    surject_ir::verify(&program).map_err(|e| EgraphError::Output(e.to_string()))?;
    for function in &program.functions {
        report.measure(figures(function, &options.cost)?);
    }
    report.finish(options);
    report.time = start.elapsed();
    Ok(Optimised { program, report })
}

/// In a block of so many nodes every rule is followed into what rests on it; in larger ones those that are not exact.
const FOLLOWED: usize = 5000;

struct Driver<'a> {
    options: &'a Options,
    phases: &'a [Phase],
    emitter: Emitter<'a>,
    /// Variables that are one value everywhere.
    known: BTreeMap<Var, Scalar>,
    /// Variables that are equal to another one.
    alias: HashMap<Var, Var>,
    /// Regions that were optimised before, by their form.
    regions: HashMap<Vec<Part>, Known>,
    report: &'a mut Report,
    place: String,
}

/// A planned block.
struct Planned {
    algebra: Algebra,
    terms: Rc<Terms>,
    plan: Plan,
    constants: HashMap<Class, Scalar>,
    names: HashMap<Class, String>,
    origins: HashMap<Class, Arc<str>>,
    /// The class of every variable the block stores and something needs.
    classes: HashMap<Var, Class>,
}

impl<'a> Driver<'a> {
    fn old(&self) -> &'a Function {
        self.emitter.old
    }

    /// A block of the old function as a block of the new one. Its parameters have new names already.
    fn block(&mut self, block: &Block) -> Result<Block, EgraphError> {
        let live: Vec<Statement> = live_statements(self.old(), block).into_iter().cloned().collect();
        let block = Block { statements: live, results: block.results.clone() };
        for statement in &block.statements {
            if let StatementKind::Constant { target, value } = &statement.kind
                && let Some(value) = splat(value)
            {
                self.known.insert(*target, value);
            }
        }
        let planned = self.plan(&block)?;
        let mut writing = Writing {
            terms: &planned.terms,
            plan: &planned.plan,
            algebra: &planned.algebra,
            constants: &planned.constants,
            names: &planned.names,
            origins: &planned.origins,
            written: HashMap::new(),
            fields: HashMap::new(),
        };
        let mut statements = Vec::new();
        for statement in &block.statements {
            if matches!(statement.kind, StatementKind::Store { .. }) {
                continue;
            }
            for var in needs(self.old(), statement) {
                self.root(&mut writing, &planned, var, &mut statements)?;
            }
            let kind = self.statement(&statement.kind)?;
            statements.push(Statement { kind, origin: statement.origin.clone() });
        }
        let mut results = Vec::with_capacity(block.results.len());
        for &var in &block.results {
            self.root(&mut writing, &planned, var, &mut statements)?;
            results.push(self.emitter.var(var)?);
        }
        Ok(Block { statements, results })
    }

    /// Makes sure that a variable of the old block exists in the new one.
    fn root(
        &mut self,
        writing: &mut Writing<'_>,
        planned: &Planned,
        var: Var,
        out: &mut Vec<Statement>,
    ) -> Result<(), EgraphError> {
        if let Some(&class) = planned.classes.get(&var) {
            let new = self.emitter.store(writing, class, out)?;
            self.emitter.vars.insert(var, new);
        }
        Ok(())
    }

    fn statement(&mut self, kind: &StatementKind) -> Result<StatementKind, EgraphError> {
        Ok(match kind {
            StatementKind::Store { .. } => {
                return Err(EgraphError::Rebuild {
                    place: self.place.clone(),
                    what: "a store is written where it is needed".to_string(),
                });
            }
            StatementKind::Constant { target, value } => {
                StatementKind::Constant { target: self.emitter.keep(*target), value: value.clone() }
            }
            StatementKind::Call { targets, op, args, regions } => {
                let args = self.emitter.all(args)?;
                let regions =
                    regions.iter().map(|r| self.emitter.copy_region(r)).collect::<Result<Vec<_>, _>>()?;
                let targets = targets.iter().map(|&t| self.emitter.keep(t)).collect();
                StatementKind::Call { targets, op: op.clone(), args, regions }
            }
            StatementKind::While { targets, inits, cond, body } => {
                let inits = self.emitter.all(inits)?;
                let cond = self.region(cond, "while condition")?;
                let body = self.region(body, "while body")?;
                let targets = targets.iter().map(|&t| self.emitter.keep(t)).collect();
                StatementKind::While { targets, inits, cond, body }
            }
            StatementKind::If { targets, index, branches } => {
                let index = self.emitter.var(*index)?;
                let branches =
                    branches.iter().map(|b| self.region(b, "branch")).collect::<Result<Vec<_>, _>>()?;
                let targets = targets.iter().map(|&t| self.emitter.keep(t)).collect();
                StatementKind::If { targets, index, branches }
            }
        })
    }

    fn region(&mut self, region: &Region, what: &str) -> Result<Region, EgraphError> {
        let outer = self.place.clone();
        self.place = format!("{outer}, {what}");
        let result = self.region_here(region);
        self.place = outer;
        result
    }

    /// A region at its place: a copy of one that is the same and was optimised before, or optimised.
    fn region_here(&mut self, region: &Region) -> Result<Region, EgraphError> {
        // Explanations and pictures are of the e-graph of their block.
        let plain = !self.options.explain && !self.options.dot;
        let form = plain.then(|| form(self.old(), region, &self.alias, &self.known)).flatten();
        let free = match &form {
            Some(form) => self.emitter.all(&form.free).ok(),
            None => None,
        };
        if let (Some(form), Some(free)) = (&form, &free)
            && let Some(known) = self.regions.get(&form.parts)
            && let Some(copy) = copy(&mut self.emitter, known, free)
        {
            for report in &known.reports {
                let place = report.place.replacen(&known.place, &self.place, 1);
                self.report.blocks.push(BlockReport { place, ..report.clone() });
            }
            return Ok(copy);
        }
        let before = self.report.blocks.len();
        let params = region.params.iter().map(|&p| self.emitter.keep(p)).collect();
        let body = self.block(&region.body)?;
        let result = Region { params, body };
        if let (Some(form), Some(free)) = (form, free) {
            let reports = self.report.blocks[before..].to_vec();
            let known = Known { region: result.clone(), free, reports, place: self.place.clone() };
            self.regions.insert(form.parts, known);
        }
        Ok(result)
    }

    /// Saturates and plans a block, keeping the cheapest plan of all phases.
    fn plan(&mut self, block: &Block) -> Result<Planned, EgraphError> {
        let options = self.options;
        let mode = if options.explain { Mode::Explained } else { Mode::Normal };
        let Imported { mut egraph, stored, roots, origins } =
            import(self.old(), block, &self.alias, &self.known, mode)?;
        let level = levels(&block.statements.iter().collect::<Vec<_>>());
        let roots: HashSet<Var> = roots.into_iter().collect();
        let root_ids: Vec<Id> = stored.iter().filter(|(v, _)| roots.contains(v)).map(|(_, id)| *id).collect();
        let mut log: Vec<Firing> = Vec::new();
        let mut report = BlockReport::new(&self.place, block, self.old());
        let most = egraph.total_size().saturating_mul(options.bounds.expansion).max(options.bounds.nodes);
        let rules = || self.phases.iter().flat_map(|p| &p.rules);
        let small = egraph.total_size() <= FOLLOWED;
        let followed = rules().filter(|r| small || is_noted(r.class, r.flags)).map(|r| r.tags);
        egraph.analysis.provenance.followed = followed.fold(Tags::NONE, Tags::and);
        let mut extraction = Extraction::new(&options.cost, options.search_steps);
        let mut snapshot: Option<Snapshot> = None;
        let mut nodes = most;
        let mut settled = false;
        for phase in self.phases {
            let bounds = Bounds { nodes: nodes.min(most), ..options.bounds };
            let before = log.len();
            let rules = Rules { all: &phase.rules, own: phase.own, settled };
            let stats = saturate(&mut egraph, &phase.name, rules, &bounds, &mut log)?;
            settled = stats.stop == Stop::Saturated;
            nodes = stats.nodes.saturating_mul(options.bounds.growth).max(1000);
            report.phases.push(stats);
            if snapshot.is_some() && log.len() == before {
                continue;
            }
            let inputs = |i: u32| level.get(&egraph.analysis.input(i).var).copied().unwrap_or(0);
            let now = Snapshot::new(&egraph, &root_ids, &stored, inputs);
            extraction.phase(&phase.name, &now, &mut egraph);
            snapshot = Some(now);
        }
        if let Some(snapshot) = &snapshot {
            let own = rules().filter(|r| r.own).map(|r| r.tags).fold(Tags::NONE, Tags::and);
            extraction.restart(snapshot, own, &mut egraph);
        }
        let Extraction { best, budget, .. } = extraction;
        let Some(Best { snapshot: Snapshot { terms, roots: classes, numbered }, plan, phase }) = best else {
            return Err(EgraphError::Rebuild {
                place: self.place.clone(),
                what: "no plan without a cycle was found".to_string(),
            });
        };
        report.chosen_phase = phase;
        report.planned = plan.cost();
        report.kernels_tried = budget.kernels;
        report.cut_short = budget.is_spent();
        report.plan = PlanFigures::new(&terms, &plan, &egraph.analysis, self.old());
        report.rests = rests(&terms, &plan, &classes, rules());
        let mut planned = Planned {
            constants: HashMap::new(),
            names: HashMap::new(),
            origins: HashMap::new(),
            classes: HashMap::new(),
            algebra: Algebra::default(),
            terms,
            plan,
        };
        for (class, info) in planned.terms.classes.iter().enumerate() {
            if let Some(value) = field(&egraph, info.id).and_then(|f| f.constant) {
                planned.constants.insert(class, value);
            }
        }
        // The e-graph may have grown since the snapshot of the plan, so its classes go by the numbers taken then.
        for (&(var, id), class) in stored.iter().zip(&numbered) {
            let Some(class) = *class else { continue };
            if let Some(origin) = origins.get(&id) {
                planned.origins.entry(class).or_insert_with(|| origin.clone());
            }
            planned.names.entry(class).or_insert_with(|| self.old().name_of(var).to_string());
            if !roots.contains(&var) {
                continue;
            }
            planned.classes.insert(var, class);
            if let Some(&value) = planned.constants.get(&class) {
                self.known.insert(var, value);
            }
            if let Some(Term::Input(input)) = planned.terms.term(&planned.plan.choice, class) {
                self.alias.insert(var, egraph.analysis.input(*input).var);
            }
        }
        if options.explain {
            let rules: Vec<&Compiled> = self.phases.iter().flat_map(|p| &p.rules).collect();
            let name = |class: Class| planned.names.get(&class).cloned();
            report.explanations = explain(&mut egraph, &planned.terms, &planned.plan, &log, &rules, name);
        }
        if options.dot {
            report.dot = Some(dot(&egraph));
        }
        self.report.blocks.push(report);
        planned.algebra = std::mem::take(&mut egraph.analysis);
        Ok(planned)
    }
}

/// How many terms of a plan rest on each rule that is not exact.
fn rests<'a>(
    terms: &Terms,
    plan: &Plan,
    roots: &[Class],
    rules: impl Iterator<Item = &'a Compiled>,
) -> BTreeMap<String, usize> {
    let reached = topological(terms, &plan.choice, roots).unwrap_or_default();
    let of = |class: &Class| {
        let info = &terms.classes[*class];
        let own = plan.choice[*class].and_then(|place| info.tags.get(place)).copied();
        own.unwrap_or_default().and(info.rests)
    };
    let tags: Vec<Tags> = reached.iter().map(of).filter(|t| !t.is_empty()).collect();
    let mut result = BTreeMap::new();
    for rule in rules.filter(|r| is_noted(r.class, r.flags)) {
        let count = tags.iter().filter(|t| t.meets(rule.tags)).count();
        if count > 0 {
            result.insert(rule.name.clone(), count);
        }
    }
    result
}

/// The value of a tensor of equal elements.
fn splat(value: &surject_ir::Buffer) -> Option<Scalar> {
    if value.is_empty() {
        return None;
    }
    let size = value.dtype().size();
    let bytes = value.bytes();
    let first = &bytes[..size];
    bytes.chunks_exact(size).all(|c| c == first).then(|| value.get(0))
}
