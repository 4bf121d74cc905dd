//! What an optimisation did.

use crate::algebra::Algebra;
use crate::laws::{Phase, refusal};
use crate::options::Options;
use crate::plan::Plan;
use crate::saturate::{PhaseStats, Stop};
use crate::terms::{Class, Term, Terms, points};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;
use surject_ir::{AccOp, Block, FieldId, FieldKind, Function, StatementKind, Var};
use surject_rules::{Exactness, Flags};

/// The law by which factors are taken out of sums.
pub(crate) const FACTOR: &str = "factor";
/// The same, whatever overflows.
pub(crate) const FACTOR_ANY: &str = "factor-any";
/// The law by which sums are made in parts.
pub(crate) const PARTS: &str = "acc-acc";

/// What an optimisation did to a program.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Block by block: function bodies, then the regions of their control flow.
    pub blocks: Vec<BlockReport>,
    /// The class and flags of every rule that could run.
    pub rules: BTreeMap<String, (Exactness, Flags)>,
    /// The highest class allowed.
    pub exactness: Option<Exactness>,
    /// The rules of the user that equated nothing, and why.
    pub idle: Vec<(String, String)>,
    /// The rules of the user that may not run under the options, and what would let them.
    pub refused: Vec<(String, String)>,
    /// Sums of which factors were taken out after everything else.
    pub taken_out: usize,
    /// Sums of which a part is made before they are multiplied, or that are made once for all of an axis.
    pub early: usize,
    /// Variances that are made in blocks.
    pub in_blocks: usize,
    /// Sums over windows that are made one axis after the other.
    pub taken_apart: usize,
    /// How long it took.
    pub time: Duration,
}

/// What was done to one block.
#[derive(Clone, Debug, Default)]
pub struct BlockReport {
    /// Which block.
    pub place: String,
    /// Assignments before.
    pub stores_before: usize,
    /// Bytes of the tensors they stored.
    pub bytes_before: f64,
    /// Bytes that they read and wrote, each a kernel of its own.
    pub moved_before: f64,
    /// Scalar operations that they did.
    pub flops_before: f64,
    /// What each phase did.
    pub phases: Vec<PhaseStats>,
    /// The phase whose plan was the cheapest.
    pub chosen_phase: String,
    /// What the block is now, with what was done to it after the plan was written.
    pub plan: PlanFigures,
    /// The cost of the plan that was extracted, before anything else was done.
    pub planned: f64,
    /// Kernels evaluated by the search.
    pub kernels_tried: usize,
    /// Did the search spend all it may?
    pub cut_short: bool,
    /// How many terms of the plan rest on each rule that is not exact.
    pub rests: BTreeMap<String, usize>,
    /// Explanations of the stored classes, where asked for.
    pub explanations: Vec<String>,
    /// The e-graph as DOT text, where asked for.
    pub dot: Option<String>,
}

/// The figures of a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanFigures {
    /// Assignments, which are kernels.
    pub stores: usize,
    /// Bytes of the tensors they store.
    pub stored_bytes: f64,
    /// Bytes that kernels read and write.
    pub moved_bytes: f64,
    /// Scalar operations.
    pub flops: f64,
    /// The cost under the model.
    pub cost: f64,
    /// How often each input is read: the number of kernels, and of different maps in all of them.
    pub input_reads: Vec<(String, usize, usize)>,
}

impl PlanFigures {
    /// The figures of a plan of a block of this function.
    pub fn new(terms: &Terms, plan: &Plan, algebra: &Algebra, function: &Function) -> PlanFigures {
        let bytes = |c: Class| terms.classes[c].points * terms.classes[c].dtype.size() as f64;
        let mut inputs: BTreeMap<Var, (usize, usize)> = BTreeMap::new();
        for (class, maps) in plan.kernels.values().flat_map(|k| &k.reads) {
            if let Some(Term::Input(input)) = terms.term(&plan.choice, *class) {
                let entry = inputs.entry(algebra.input(*input).var).or_default();
                *entry = (entry.0 + 1, entry.1 + maps);
            }
        }
        PlanFigures {
            stores: plan.kernels.len(),
            stored_bytes: plan.kernels.keys().map(|&c| bytes(c)).sum(),
            moved_bytes: plan.kernels.values().map(|k| k.bytes).sum(),
            flops: plan.kernels.values().map(|k| k.flops).sum(),
            cost: plan.cost(),
            input_reads: inputs
                .into_iter()
                .map(|(var, (kernels, maps))| (function.name_of(var).to_string(), kernels, maps))
                .collect(),
        }
    }
}

impl Report {
    /// An empty report of a run with these options.
    pub fn new(options: &Options, phases: &[Phase]) -> Report {
        let rules = phases.iter().flat_map(|p| &p.rules);
        Report {
            blocks: Vec::new(),
            rules: rules.map(|r| (r.name.clone(), (r.class, r.flags))).collect(),
            exactness: Some(options.exactness),
            idle: Vec::new(),
            refused: Vec::new(),
            taken_out: 0,
            early: 0,
            in_blocks: 0,
            taken_apart: 0,
            time: Duration::ZERO,
        }
    }

    /// Notes which rules of the user did nothing, and why.
    pub fn finish(&mut self, options: &Options) {
        let fired: HashSet<String> = self.firings().into_keys().map(str::to_string).collect();
        for rule in options.rules.iter().flat_map(|file| &file.rules) {
            if fired.contains(&rule.name) {
                continue;
            }
            let phases = self.blocks.iter().flat_map(|b| &b.phases);
            let matched: usize = phases.filter_map(|p| p.matches.get(&rule.name)).sum();
            let refused = refusal(rule, options, true);
            if let Some(why) = &refused {
                self.refused.push((rule.name.clone(), why.clone()));
            }
            let why = refused.unwrap_or_else(|| match matched {
                0 => "its left side never matched".to_string(),
                n => format!(
                    "matched {n} times: its conditions or types did not hold, or nothing new came of it"
                ),
            });
            self.idle.push((rule.name.clone(), why));
        }
    }

    /// Sets the figures of the blocks to those of the program as it is now: of the blocks of one function, in order.
    pub fn measure(&mut self, figures: Vec<(String, PlanFigures)>) {
        let mut blocks = self.blocks.iter_mut();
        for (place, figures) in figures {
            if let Some(block) = blocks.find(|b| b.place == place) {
                block.plan = figures;
            }
        }
    }

    /// What was done after extraction, by which law, and how often.
    pub fn passes(&self) -> Vec<(&'static str, &'static str, usize)> {
        // Where any factor may leave a sum, the passes ask for nothing else either.
        let factor = if self.rules.contains_key(FACTOR_ANY) { FACTOR_ANY } else { FACTOR };
        let all = [
            ("factors out of sums", factor, self.taken_out),
            ("sums before products", factor, self.early),
            ("variances in blocks", PARTS, self.in_blocks),
            ("windows axis by axis", PARTS, self.taken_apart),
        ];
        all.into_iter().filter(|pass| pass.2 > 0).collect()
    }

    /// How often each rule fired, over all blocks.
    pub fn firings(&self) -> BTreeMap<&str, usize> {
        let mut result = BTreeMap::new();
        for phase in self.blocks.iter().flat_map(|b| &b.phases) {
            for (rule, count) in &phase.firings {
                *result.entry(rule.as_str()).or_default() += count;
            }
        }
        result
    }

    /// Assignments before and after.
    pub fn stores(&self) -> (usize, usize) {
        (self.blocks.iter().map(|b| b.stores_before).sum(), self.blocks.iter().map(|b| b.plan.stores).sum())
    }

    /// The numerics ledger: every rule that is not exact, or waives something, and that something in the result rests on,
    /// with the number of its terms that do; then the passes after extraction, with what they did. A term rests on the
    /// rules of one derivation of it, which is enough; a rule that fired for what was not chosen is not listed.
    pub fn ledger(&self) -> Vec<(String, Exactness, Flags, usize)> {
        let mut terms: BTreeMap<&str, usize> = BTreeMap::new();
        for (rule, count) in self.blocks.iter().flat_map(|b| &b.rests) {
            *terms.entry(rule).or_default() += count;
        }
        let passes =
            self.passes().into_iter().map(|(pass, law, count)| (format!("{pass} ({law})"), law, count));
        let rules = terms.into_iter().map(|(rule, count)| (rule.to_string(), rule, count));
        let known = |(name, law, count)| {
            let &(class, flags) = self.rules.get::<str>(law)?;
            Some((name, class, flags, count))
        };
        rules.filter_map(known).chain(passes.filter_map(known)).collect()
    }
}

/// Is a rule of this class and with these flags one that the ledger lists?
pub fn is_noted(class: Exactness, flags: Flags) -> bool {
    class > Exactness::Exact || flags.zero_sign || flags.finite || flags.no_overflow
}

impl BlockReport {
    /// The report of a block before anything is done.
    pub fn new(place: &str, block: &Block, function: &Function) -> BlockReport {
        let mut report = BlockReport { place: place.to_string(), ..BlockReport::default() };
        for statement in &block.statements {
            if let StatementKind::Store { target, field } = statement.kind {
                let ty = function.ty(target);
                report.stores_before += 1;
                let own = points(&ty.space) * ty.dtype.size() as f64;
                let (read, flops) = kernel_before(function, field);
                report.bytes_before += own;
                report.moved_before += own + read;
                report.flops_before += flops;
            }
        }
        report
    }
}

/// The bytes that a field reads, each tensor once, and the scalar operations it does.
fn kernel_before(function: &Function, field: FieldId) -> (f64, f64) {
    let (mut read, mut flops) = (0.0, 0.0);
    let (mut seen, mut tensors) = (HashSet::new(), HashSet::new());
    let mut stack = vec![field];
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let field = &function.fields[id];
        match &field.kind {
            FieldKind::Tensor(var) if tensors.insert(*var) => {
                read += points(&field.space) * field.dtype.size() as f64;
            }
            FieldKind::Tensor(_) | FieldKind::Read { .. } | FieldKind::Index { .. } | FieldKind::Const(_) => {
            }
            FieldKind::Acc { op: AccOp::Set, .. } => {}
            FieldKind::Acc { map, .. } => flops += points(map.domain()),
            _ => flops += points(&field.space),
        }
        stack.extend(field.kind.children());
    }
    (read, flops)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self.stores();
        writeln!(f, "assignments: {before} before, {after} after")?;
        for block in &self.blocks {
            write!(f, "{block}")?;
        }
        let firings = self.firings();
        if !firings.is_empty() {
            writeln!(f, "rules that fired:")?;
            for (rule, count) in firings {
                writeln!(f, "  {rule:<24} {count}")?;
            }
        }
        let passes = self.passes();
        if !passes.is_empty() {
            writeln!(f, "passes after extraction:")?;
            for (pass, law, count) in passes {
                writeln!(f, "  {pass:<24} {count} (by `{law}`)")?;
            }
        }
        if !self.idle.is_empty() {
            writeln!(f, "rules that did nothing:")?;
            for (rule, why) in &self.idle {
                writeln!(f, "  {rule:<24} {why}")?;
            }
        }
        let class = self.exactness.map_or("reassociates", Exactness::name);
        let ledger = self.ledger();
        writeln!(f, "numerics ledger (what the result rests on; classes up to {class}):")?;
        if ledger.is_empty() {
            writeln!(f, "  every rewriting was exact, bit for bit")?;
        }
        for (rule, class, flags, count) in ledger {
            let waived = flags.to_string();
            let waived = if waived.is_empty() { String::new() } else { format!(", waives {waived}") };
            let in_terms = if rule.ends_with(')') { "times" } else { "terms" };
            writeln!(f, "  {rule:<32} {count:>5} {in_terms}, {class}{waived}")?;
        }
        writeln!(f, "optimised in {:.1} ms", self.time.as_secs_f64() * 1e3)
    }
}

impl fmt::Display for BlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = &self.plan;
        writeln!(f, "{}:", self.place)?;
        writeln!(f, "  stores    {} before, {} after", self.stores_before, p.stores)?;
        writeln!(f, "  buffers   {} bytes before, {} bytes after", self.bytes_before, p.stored_bytes)?;
        writeln!(f, "  moved     {} bytes before, {} bytes after", self.moved_before, p.moved_bytes)?;
        writeln!(f, "  flops     {} before, {} after", self.flops_before, p.flops)?;
        let chosen = if self.chosen_phase.is_empty() { "structural" } else { &self.chosen_phase };
        writeln!(
            f,
            "  cost      {:.4e} (plan of phase {chosen}, {} kernels tried)",
            p.cost, self.kernels_tried
        )?;
        for (name, kernels, maps) in &p.input_reads {
            writeln!(f, "  reads     {name}: by {kernels} kernels, along {maps} maps")?;
        }
        for phase in &self.phases {
            let stop = match phase.stop {
                Stop::Saturated => "saturated",
                Stop::Nodes => "stopped by the bound on nodes",
                Stop::Iterations => "stopped by the bound on rounds",
                Stop::Matches => "stopped by the bound on matches",
            };
            writeln!(
                f,
                "  phase     {}: {} nodes, {} classes, {} rounds, {:.1} ms, {stop}",
                phase.name,
                phase.nodes,
                phase.classes,
                phase.iterations,
                phase.time.as_secs_f64() * 1e3
            )?;
        }
        if self.cut_short {
            writeln!(f, "  the search for a plan was stopped by the bound on steps")?;
        }
        for explanation in &self.explanations {
            writeln!(f, "{explanation}")?;
        }
        Ok(())
    }
}
