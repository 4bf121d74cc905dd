//! How often a loop runs, where that follows from constants: the part of the loop that decides it is run.

use crate::sweep::{Result, Sweep};
use crate::tidy;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use surject_ir::interp::{Limits, run_within};
use surject_ir::{
    BinaryOp, Block, DType, Program, Region, Scalar, Statement, StatementKind, TensorType, Var,
};

/// A loop of more iterations is not unrolled in memory.
const MOST: u64 = 1 << 20;

impl Sweep {
    /// The number of iterations of a loop; `None` where it does not follow from constants, or is too large.
    pub(crate) fn trips(&mut self, statement: &Statement) -> Result<Option<u64>> {
        let StatementKind::While { inits, cond, body, .. } = &statement.kind else { return Ok(Some(0)) };
        // What the condition depends on, through the body.
        let mut outside: HashSet<Var> = HashSet::new();
        let mut carried: BTreeSet<usize> = BTreeSet::new();
        let (condition, used) = self.needed(cond, cond.body.results.clone());
        sort_out(used, &cond.params, &mut carried, &mut outside);
        let mut steps = loop {
            let before = carried.len();
            let roots = carried.iter().map(|&k| body.body.results[k]).collect();
            let (statements, used) = self.needed(body, roots);
            sort_out(used, &body.params, &mut carried, &mut outside);
            if carried.len() == before {
                break statements;
            }
        };
        outside.extend(carried.iter().map(|&k| inits[k]));
        let Some(mut statements) = self.constants(outside) else { return Ok(None) };
        // The loop of these values only, with a counter.
        let count_type = TensorType::scalar(DType::I64);
        let outer = std::mem::take(&mut self.out);
        let space = surject_index::Space::scalar();
        let zero = self.splat("zero", &space, Scalar::zero(DType::I64));
        statements.append(&mut self.out);
        let [in_cond, in_body, after] = ["n", "n", "n"].map(|name| self.var(name, count_type.clone()));
        let (number, one) = (self.f.tensor(in_body), self.f.fields.constant(&space, Scalar::one(DType::I64)));
        let next = self.binary(BinaryOp::Add, number, one)?;
        let next = self.stored("n", next);
        steps.append(&mut self.out);
        self.out = outer;
        let pick = |vars: &[Var], last: Var| -> Vec<Var> {
            carried.iter().map(|&k| vars[k]).chain([last]).collect()
        };
        let kept = pick(inits, zero);
        let types = self.f.types(&kept[..kept.len() - 1]);
        let targets = types.into_iter().map(|ty| self.var("carried", ty)).chain([after]).collect();
        let kind = StatementKind::While {
            targets,
            inits: kept,
            cond: Region {
                params: pick(&cond.params, in_cond),
                body: Block { statements: condition, results: cond.body.results.clone() },
            },
            body: Region {
                params: pick(&body.params, in_body),
                body: Block { statements: steps, results: pick(&body.body.results, next) },
            },
        };
        statements.push(Statement::new(kind));
        // What depends on sizes that a run gives is not known here.
        let Ok(function) = tidy::extract(&self.f, usize::MAX, &[], &statements, &[after]) else {
            return Ok(None);
        };
        let name = function.name.clone();
        let program = Program { name: String::new(), functions: vec![function] };
        let limits = Limits { iterations: Some(MOST) };
        let Ok(results) = run_within(&program, &name, &[], limits) else { return Ok(None) };
        let count = results.first().map(|b| b.get(0)).and_then(Scalar::as_i128);
        Ok(count.and_then(|n| u64::try_from(n).ok()))
    }

    /// The statements of a region that these variables need, and what they need from outside.
    pub(crate) fn needed(&self, region: &Region, roots: Vec<Var>) -> (Vec<Statement>, HashSet<Var>) {
        let mut live = roots.into_iter().collect();
        let statements = tidy::live_statements(&self.f, &region.body.statements, &mut live);
        (statements, live)
    }

    /// The statements that define these variables from nothing, in order; `None` where one comes from outside.
    fn constants(&self, vars: HashSet<Var>) -> Option<Vec<Statement>> {
        let mut found: BTreeMap<usize, Arc<Statement>> = BTreeMap::new();
        let mut open: Vec<Var> = vars.into_iter().collect();
        open.sort_unstable();
        let mut seen: HashSet<Var> = open.iter().copied().collect();
        while let Some(var) = open.pop() {
            let (number, statement) = self.definitions.get(&var)?;
            let first = statement.targets().first().and_then(|t| self.definitions.get(t));
            found.insert(first.map_or(*number, |(n, _)| *n), statement.clone());
            let mut used = HashSet::new();
            surject_ir::uses::statement(&self.f.fields, statement, &mut used);
            open.extend(used.into_iter().filter(|&v| seen.insert(v)));
        }
        Some(found.into_values().map(|s| Statement::clone(&s)).collect())
    }
}

/// Parts the variables a region uses into its parameters, by position, and others.
pub(crate) fn sort_out(
    used: HashSet<Var>,
    params: &[Var],
    carried: &mut BTreeSet<usize>,
    outside: &mut HashSet<Var>,
) {
    for var in used {
        match params.iter().position(|&p| p == var) {
            Some(k) => {
                carried.insert(k);
            }
            None => {
                outside.insert(var);
            }
        }
    }
}
