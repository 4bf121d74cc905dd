//! The checker: every e-node against the value of its class.
//!
//! Each class gets its values from one well-founded node; every other node is evaluated from the values of its
//! children's classes and compared. A wrong rule, a wrong constructor or a wrong analysis shows at the first node
//! it built, not only in a program that happens to use it.

use crate::algebra::Graph;
use crate::compiled::compile;
use crate::error::EgraphError;
use crate::import::{Mode, import};
use crate::laws::phases;
use crate::live::live_statements;
use crate::options::Options;
use crate::saturate::{Bounds, Firing, Rules, Stop, saturate};
use crate::value::{Agreement, class_values, describe, differ, node_value};
use std::collections::{BTreeMap, HashMap};
use surject_ir::{Block, Buffer, DType, Function, Program, Scalar, Var};
use surject_rules::{Exactness, Rule, instantiate};

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Classes with a value.
    pub classes: usize,
    /// Nodes compared.
    pub nodes: usize,
    /// Nodes without a value: symbolic extents, spaces that are too large.
    pub skipped: usize,
    /// What does not agree.
    pub wrong: Vec<String>,
    /// What a search of the whole e-graph still finds where the incremental one says that it is saturated.
    pub missed: Vec<String>,
}

/// What checking a rule on generated terms found.
#[derive(Clone, Debug, Default)]
pub struct LawReport {
    /// Terms that were generated.
    pub terms: usize,
    /// Terms on which the rule fired.
    pub fired: usize,
    /// What the nodes say.
    pub check: CheckReport,
}

/// Compares every node of an e-graph with its class. Inputs of the block take their values from `args`, the others
/// small random ones.
pub fn check_egraph(
    egraph: &Graph,
    args: &HashMap<Var, Buffer>,
    seed: u64,
    agreement: impl Fn(DType) -> Agreement,
) -> CheckReport {
    let inputs = |input: u32, dtype: DType, count: u64| {
        let var = egraph.analysis.input(input).var;
        match args.get(&var) {
            Some(buffer) => (0..buffer.len()).map(|i| buffer.get(i)).collect(),
            None => random(dtype, count, seed ^ u64::from(var.0).wrapping_mul(0x9e37_79b9)),
        }
    };
    let values = class_values(egraph, &inputs);
    let mut report = CheckReport { classes: values.len(), ..CheckReport::default() };
    for class in egraph.classes() {
        let Some(data) = class.data.field() else { continue };
        for node in class.nodes.iter().filter(|n| n.is_term()) {
            let child = |c| values.get(&egraph.find(c)).cloned();
            let value = node_value(egraph, class.id, node, &child, &inputs);
            let (Some(value), Some(expected)) = (value, values.get(&class.id)) else {
                report.skipped += 1;
                continue;
            };
            report.nodes += 1;
            if let Some(at) = differ(expected, &value, agreement(data.dtype)) {
                report.wrong.push(format!(
                    "class {} ({}): `{node}` gives {:?} at {at} where the class is {:?}",
                    class.id,
                    describe(egraph, class.id),
                    value.get(at),
                    expected.get(at)
                ));
            }
        }
    }
    report
}

/// Saturates every phase on the body of every function of a program and checks every node. Each phase that says it
/// is saturated is run once more on every class.
pub fn check_program(
    program: &Program,
    args: &[Buffer],
    options: &Options,
) -> Result<CheckReport, EgraphError> {
    let phases = phases(options)?;
    let mut total = CheckReport::default();
    for function in &program.functions {
        let statements = live_statements(function, &function.body).into_iter().cloned().collect();
        let block = Block { statements, results: function.body.results.clone() };
        let mut imported = import(function, &block, &HashMap::new(), &BTreeMap::new(), Mode::Normal)?;
        let mut log: Vec<Firing> = Vec::new();
        let mut settled = false;
        for phase in &phases {
            let rules = Rules { all: &phase.rules, own: phase.own, settled };
            let stats = saturate(&mut imported.egraph, &phase.name, rules, &options.bounds, &mut log)?;
            settled = stats.stop == Stop::Saturated;
            if settled {
                let again = Rules { settled: false, ..rules };
                let mut missed: Vec<Firing> = Vec::new();
                saturate(&mut imported.egraph, &phase.name, again, &options.bounds, &mut missed)?;
                let line = |f: &Firing| format!("phase {}: {} at class {}", phase.name, f.rule, f.from);
                total.missed.extend(missed.iter().map(line));
            }
        }
        let exact = options.exactness == Exactness::Exact;
        let args: HashMap<Var, Buffer> = function.params.iter().copied().zip(args.iter().cloned()).collect();
        let agreement = |dtype: DType| Agreement {
            tolerance: if exact { 0.0 } else { tolerance(dtype) },
            zero_sign: options.exactness.waives().zero_sign || options.waived.zero_sign,
        };
        let report = check_egraph(&imported.egraph, &args, 1, agreement);
        total.classes += report.classes;
        total.nodes += report.nodes;
        total.skipped += report.skipped;
        total.wrong.extend(report.wrong);
    }
    Ok(total)
}

/// Rounding errors of a few operations in a type, relative to the largest value of the tensor.
fn tolerance(dtype: DType) -> f64 {
    match dtype.part() {
        DType::F64 => 1e-9,
        DType::F32 => 1e-3,
        _ => 2e-1,
    }
}

/// Runs one rule alone on terms generated from its left side, with these seeds, and checks every node.
///
/// Terms on which interpretation lets the two sides differ (because of a flag of the rule) are left out.
pub fn check_law(rule: &Rule, seeds: std::ops::Range<u64>) -> Result<LawReport, EgraphError> {
    let compiled = compile(rule)?;
    let mut report = LawReport::default();
    for seed in seeds {
        let Some(instance) = instantiate(rule, seed) else { continue };
        if !surject_rules::counts_everywhere(rule, &instance) {
            continue;
        }
        report.terms += 1;
        let function = left_alone(&instance.function);
        let mut imported = import(&function, &function.body, &HashMap::new(), &BTreeMap::new(), Mode::Raw)?;
        let bounds = Bounds { nodes: 2_000, rounds: 3, ..Bounds::default() };
        let rules = Rules { all: &compiled, own: compiled.len(), settled: false };
        let mut log = Vec::new();
        saturate(&mut imported.egraph, &rule.name, rules, &bounds, &mut log)?;
        report.fired += usize::from(!log.is_empty());
        let args = function.params.iter().copied().zip(instance.args.iter().cloned()).collect();
        let exact = rule.class == Exactness::Exact;
        let agreement = |dtype: DType| Agreement {
            tolerance: if exact { 0.0 } else { tolerance(dtype) },
            zero_sign: rule.flags.zero_sign,
        };
        let check = check_egraph(&imported.egraph, &args, seed, agreement);
        report.check.classes += check.classes;
        report.check.nodes += check.nodes;
        report.check.skipped += check.skipped;
        report.check.wrong.extend(check.wrong.into_iter().map(|w| format!("seed {seed}: {w}")));
    }
    Ok(report)
}

/// The function of an instance with its first store alone: the left side.
fn left_alone(function: &Function) -> Function {
    let mut result = function.clone();
    result.body.statements.truncate(1);
    let target = result.body.statements.first().map(|s| s.targets().to_vec());
    result.body.results = target.unwrap_or_default();
    result
}

/// Small random values.
fn random(dtype: DType, count: u64, seed: u64) -> Vec<Scalar> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let inexact = dtype.is_float() || dtype.is_complex();
    let value = |unit: f64| if inexact { unit * 2.0 - 1.0 } else { (unit * 9.0).floor() - 4.0 };
    (0..count).map(|_| Scalar::from_f64(dtype, value(next()))).collect()
}
