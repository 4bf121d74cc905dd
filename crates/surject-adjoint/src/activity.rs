//! Which values depend on the parameters in a way that has a derivative, and which of them matter.

use std::collections::{HashMap, HashSet};
use surject_ir::uses;
use surject_ir::{
    BinaryOp, Block, DType, FieldId, FieldKind, Function, Region, Statement, StatementKind, UnaryOp, Var,
};

/// How a value depends on the parameters that are differentiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependence {
    /// It is a float or complex number that has a derivative.
    pub smooth: bool,
    /// It is an integer that holds bits of such a number.
    pub bits: bool,
}

impl Dependence {
    fn or(self, other: Dependence) -> Dependence {
        Dependence { smooth: self.smooth || other.smooth, bits: self.bits || other.bits }
    }

    /// What arrives at a result of this type: floats keep the derivative, integers the bits.
    fn kept(self, dtype: DType) -> Dependence {
        let number = dtype.is_float() || dtype.is_complex();
        Dependence { smooth: self.smooth && number, bits: self.bits && dtype.is_int() }
    }

    /// What arrives when bits are read as another type.
    fn recast(self, dtype: DType) -> Dependence {
        let any = self.smooth || self.bits;
        Dependence { smooth: any, bits: any }.kept(dtype)
    }
}

/// The dependence of every variable, and of the fields asked for so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    vars: Vec<Dependence>,
    fields: HashMap<FieldId, Dependence>,
}

impl Activity {
    /// The dependences of a function on these parameters.
    pub(crate) fn new(function: &Function, parameters: &[Var]) -> Activity {
        let mut activity =
            Activity { vars: vec![Dependence::default(); function.vars.len()], ..Activity::default() };
        for &p in parameters {
            activity.vars[p.0 as usize].smooth = true;
        }
        // Loops feed their results back: sweep until nothing changes. Dependences only grow.
        loop {
            activity.fields.clear();
            if !activity.block(function, &function.body) {
                return activity;
            }
        }
    }

    /// The dependence of a variable.
    pub(crate) fn var(&self, var: Var) -> Dependence {
        self.vars.get(var.0 as usize).copied().unwrap_or_default()
    }

    /// Says how a variable that was added since depends on the parameters.
    pub(crate) fn set(&mut self, var: Var, dependence: Dependence) {
        let at = var.0 as usize;
        if self.vars.len() <= at {
            self.vars.resize(at + 1, Dependence::default());
        }
        self.vars[at] = dependence;
    }

    /// The dependence of a field. What it reaches is computed on the way, children first.
    pub(crate) fn field(&mut self, function: &Function, root: FieldId) -> Dependence {
        if let Some(&known) = self.fields.get(&root) {
            return known;
        }
        for id in function.fields.reachable(&[root]) {
            if !self.fields.contains_key(&id) {
                let dependence = self.node(function, id);
                self.fields.insert(id, dependence);
            }
        }
        self.fields.get(&root).copied().unwrap_or_default()
    }

    /// The dependence of a field whose children are known.
    fn node(&self, function: &Function, id: FieldId) -> Dependence {
        let node = &function.fields[id];
        let of = |child: FieldId| self.fields.get(&child).copied().unwrap_or_default();
        let all = node.kind.children().fold(Dependence::default(), |d, child| d.or(of(child)));
        match &node.kind {
            FieldKind::Tensor(var) => self.var(*var),
            FieldKind::Index { .. } | FieldKind::Const(_) => Dependence::default(),
            FieldKind::Bitcast { x } => of(*x).recast(node.dtype),
            FieldKind::Select { on_true, on_false, .. } => of(*on_true).or(of(*on_false)),
            FieldKind::Unary { op, x } if is_step(*op, function.fields[*x].dtype) => Dependence::default(),
            FieldKind::Binary { op: BinaryOp::NextAfter, .. } => Dependence::default(),
            _ => all.kept(node.dtype),
        }
    }

    /// Adds to the dependence of a variable. Did it grow?
    fn grow(&mut self, var: Var, dependence: Dependence) -> bool {
        let slot = &mut self.vars[var.0 as usize];
        let grown = slot.or(dependence);
        std::mem::replace(slot, grown) != grown
    }

    /// One sweep over a block. Did anything change?
    fn block(&mut self, function: &Function, block: &Block) -> bool {
        let mut changed = false;
        for statement in &block.statements {
            changed |= self.statement(function, statement);
        }
        changed
    }

    fn statement(&mut self, function: &Function, statement: &Statement) -> bool {
        let mut changed = false;
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let dependence = self.field(function, *field);
                changed |= self.grow(*target, dependence);
            }
            StatementKind::Constant { .. } => {}
            StatementKind::Call { targets, op, args, .. } => {
                // What the regions read from around them counts as an operand.
                let mut used: HashSet<Var> = args.iter().copied().collect();
                statement.regions().iter().for_each(|r| used.extend(uses::free(&function.fields, r)));
                let all = used.iter().fold(Dependence::default(), |d, &v| d.or(self.var(v)));
                for &target in targets {
                    let dtype = function.ty(target).dtype;
                    let recast = matches!(op, surject_ir::LibOp::BitcastReshape { .. });
                    changed |= self.grow(target, if recast { all.recast(dtype) } else { all.kept(dtype) });
                }
            }
            StatementKind::While { targets, inits, cond, body } => {
                for (k, &init) in inits.iter().enumerate() {
                    let dependence = self.var(init).or(self.var(body.body.results[k]));
                    for var in [targets[k], body.params[k], cond.params[k]] {
                        changed |= self.grow(var, dependence);
                    }
                }
                changed |= self.block(function, &cond.body);
                changed |= self.block(function, &body.body);
            }
            StatementKind::If { targets, branches, .. } => {
                for branch in branches {
                    changed |= self.block(function, &branch.body);
                    for (&target, &result) in targets.iter().zip(&branch.body.results) {
                        let dependence = self.var(result);
                        changed |= self.grow(target, dependence);
                    }
                }
            }
        }
        changed
    }

    /// The carried values of a loop whose derivatives are needed when those of `wanted` are.
    pub(crate) fn useful_carries(&self, function: &Function, body: &Region, wanted: &[usize]) -> Vec<usize> {
        let mut marks: HashSet<Var> = wanted.iter().map(|&k| body.body.results[k]).collect();
        marks.retain(|&v| self.var(v).smooth);
        loop {
            let before = marks.len();
            self.mark_block(function, &body.body, &mut marks);
            for (k, param) in body.params.iter().enumerate() {
                let result = body.body.results[k];
                if marks.contains(param) && self.var(result).smooth {
                    marks.insert(result);
                }
            }
            if marks.len() == before {
                break;
            }
        }
        let needed = |&k: &usize| {
            self.var(body.params[k]).smooth && (wanted.contains(&k) || marks.contains(&body.params[k]))
        };
        (0..body.params.len()).filter(needed).collect()
    }

    /// Marks what the marked variables depend on, from the last statement to the first.
    fn mark_block(&self, function: &Function, block: &Block, marks: &mut HashSet<Var>) {
        for statement in block.statements.iter().rev() {
            if !statement.targets().iter().any(|t| marks.contains(t)) {
                continue;
            }
            let mut used = HashSet::new();
            if let StatementKind::While { inits, .. } = &statement.kind {
                used.extend(inits);
            }
            match &statement.kind {
                // All that a loop or branch reads is taken to matter: finer marks would only save work.
                StatementKind::While { .. } | StatementKind::If { .. } => {
                    for region in statement.regions() {
                        used.extend(uses::free(&function.fields, region));
                    }
                }
                _ => uses::statement(&function.fields, statement, &mut used),
            }
            marks.extend(used.into_iter().filter(|&v| self.var(v).smooth));
        }
    }
}

/// Is the derivative of the operation zero wherever it exists?
fn is_step(op: UnaryOp, dtype: DType) -> bool {
    use UnaryOp::*;
    match op {
        Floor | Ceil | RoundEven | RoundAway | IsFinite => true,
        Sign | Imag => !dtype.is_complex(),
        _ => false,
    }
}
