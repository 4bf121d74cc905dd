//! The reverse sweep over the statements of a block.

use crate::activity::Activity;
use crate::immune::Notes;
use crate::options::{Options, Ties};
use crate::{AdjointError, copy};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_ir::{
    Block, DType, FieldId, FieldKind, Function, SizeGuarantees, Statement, StatementKind, TensorType, Var,
};

pub(crate) type Result<T> = std::result::Result<T, AdjointError>;

/// A part of a field with this many operations is stored on its own.
const LONG: usize = 64;

/// A function under differentiation.
pub(crate) struct Sweep {
    /// The function, to whose variables and fields those of the derivative are added.
    pub(crate) f: Function,
    /// What is guaranteed of its sizes.
    pub(crate) guarantees: SizeGuarantees,
    /// What depends on the parameters.
    pub(crate) activity: Activity,
    /// Who gets the gradient of an extremum.
    pub(crate) ties: Ties,
    /// How many states of a loop are kept at a time.
    pub(crate) checkpoints: u64,
    /// The cotangents of variables, as the terms of a sum that have arrived so far.
    pub(crate) cotangents: HashMap<Var, Vec<FieldId>>,
    /// The relative cotangents of variables: terms that are multiplied with the value already (`relative.rs`).
    pub(crate) relatives: HashMap<Var, Vec<FieldId>>,
    /// What is known of cotangents beside their values (`immune.rs`).
    pub(crate) notes: Notes,
    /// The extrema that are a `clamp`.
    pub(crate) clamps: HashSet<FieldId>,
    /// The variables that the block at hand defines.
    pub(crate) local: HashSet<Var>,
    /// Where statements are added.
    pub(crate) out: Vec<Statement>,
    /// The place of the statement at hand.
    pub(crate) origin: Option<Arc<str>>,
    /// What the statement at hand is called in errors, and the variable it defines.
    subject: (String, String),
    /// The definitions that are in force, with their order.
    pub(crate) definitions: HashMap<Var, (usize, Arc<Statement>)>,
}

impl Sweep {
    pub(crate) fn new(
        f: Function,
        guarantees: SizeGuarantees,
        activity: Activity,
        options: &Options,
    ) -> Sweep {
        Sweep {
            f,
            guarantees,
            activity,
            ties: options.ties,
            checkpoints: options.checkpoints,
            cotangents: HashMap::new(),
            relatives: HashMap::new(),
            notes: Notes::default(),
            clamps: HashSet::new(),
            local: HashSet::new(),
            out: Vec::new(),
            origin: None,
            subject: Default::default(),
            definitions: HashMap::new(),
        }
    }

    /// What the statement at hand is called in errors, and the variable it defines.
    pub(crate) fn subject(&self) -> (String, String) {
        self.subject.clone()
    }

    /// An error at the statement at hand.
    pub(crate) fn unsupported(&self, detail: impl Into<String>) -> AdjointError {
        let (op, variable) = self.subject.clone();
        AdjointError::Unsupported { op, detail: detail.into(), variable, origin: self.origin.clone() }
    }

    /// An error at an operation of the statement at hand.
    pub(crate) fn unsupported_op(&self, op: &str, detail: impl Into<String>) -> AdjointError {
        let variable = self.subject.1.clone();
        AdjointError::Unsupported {
            op: op.to_string(),
            detail: detail.into(),
            variable,
            origin: self.origin.clone(),
        }
    }

    /// The variable that the statement at hand defines.
    pub(crate) fn variable(&self) -> &str {
        &self.subject.1
    }

    /// Does a derivative flow through this variable?
    pub(crate) fn smooth(&self, var: Var) -> bool {
        self.activity.var(var).smooth
    }

    /// Adds a term to the cotangent of a variable.
    pub(crate) fn contribute(&mut self, var: Var, term: FieldId) {
        if self.smooth(var) {
            self.cotangents.entry(var).or_default().push(term);
        }
    }

    /// The cotangent of a variable, complete and stored; `None` where nothing has arrived.
    pub(crate) fn take(&mut self, var: Var) -> Result<Option<FieldId>> {
        let Some(open) = self.take_open(var)? else { return Ok(None) };
        let settled = self.settled(open)?;
        if self.const_of(settled).is_some() {
            return Ok(Some(settled));
        }
        Ok(Some(self.stored_field(&self.cotangent_name(var), settled)))
    }

    /// The same, where its mask may still have to be laid over it.
    fn take_open(&mut self, var: Var) -> Result<Option<FieldId>> {
        let Some(mut terms) = self.cotangents.remove(&var) else { return Ok(None) };
        let name = self.cotangent_name(var);
        if terms.len() > 1 {
            // Each sum is an assignment of its own; what joins them is pointwise.
            for term in &mut terms {
                if self.is_accumulated(*term) {
                    *term = self.stored_field(&name, *term);
                }
            }
        }
        let Some(sum) = self.noted_sum(&terms)? else { return Ok(None) };
        if self.const_of(sum).is_some() {
            return Ok(Some(sum));
        }
        Ok(Some(self.noted_store(&name, sum)))
    }

    /// Adds a term to the relative cotangent of a variable that takes one.
    pub(crate) fn contribute_relative(&mut self, var: Var, term: FieldId) {
        self.relatives.entry(var).or_default().push(term);
    }

    /// The relative cotangent of a variable, complete.
    fn take_relative(&mut self, var: Var) -> Result<Option<FieldId>> {
        let Some(terms) = self.relatives.remove(&var) else { return Ok(None) };
        self.noted_sum(&terms)
    }

    pub(crate) fn cotangent_name(&self, var: Var) -> String {
        format!("d_{}", self.f.name_of(var))
    }

    /// Is the field an accumulation, or one converted?
    fn is_accumulated(&self, field: FieldId) -> bool {
        match self.f.fields[field].kind {
            FieldKind::Acc { .. } => true,
            FieldKind::Convert { x } => matches!(self.f.fields[x].kind, FieldKind::Acc { .. }),
            _ => false,
        }
    }

    /// The sum of terms.
    pub(crate) fn sum(&mut self, terms: &[FieldId]) -> Result<Option<FieldId>> {
        let Some((&first, rest)) = terms.split_first() else { return Ok(None) };
        rest.iter().try_fold(first, |sum, &term| self.add(sum, term)).map(Some)
    }

    /// Differentiates a block, given the cotangents of its results. Gives the forward statements, perhaps with some
    /// added or exchanged, and the statements of the reverse sweep.
    pub(crate) fn block(&mut self, statements: Vec<Statement>) -> Result<(Vec<Statement>, Vec<Statement>)> {
        let outer = std::mem::take(&mut self.out);
        let forward = self.hoist(statements)?;
        let around = std::mem::take(&mut self.local);
        for statement in &forward {
            self.local.extend(statement.targets());
            let shared = Arc::new(statement.clone());
            for &target in statement.targets() {
                let number = self.definitions.len();
                self.definitions.insert(target, (number, shared.clone()));
            }
        }
        let mut slots: Vec<Vec<Statement>> = Vec::with_capacity(forward.len());
        for statement in forward.into_iter().rev() {
            slots.push(self.statement(statement)?);
        }
        self.local = around;
        let reverse = std::mem::replace(&mut self.out, outer);
        Ok((slots.into_iter().rev().flatten().collect(), reverse))
    }

    /// Differentiates a block that stands in a region of the reverse sweep: the forward statements are run again
    /// there, then the reverse ones.
    pub(crate) fn replayed(&mut self, block: Block) -> Result<Vec<Statement>> {
        let (mut forward, reverse) = self.block(block.statements)?;
        forward.extend(reverse);
        Ok(forward)
    }

    /// Accumulations inside other fields are stored on their own, before: the reverse sweep needs their values and
    /// stores their cotangents. Long fields are stored in parts for the same reason: what is stored on the way back
    /// must not compute the whole of them again.
    fn hoist(&mut self, statements: Vec<Statement>) -> Result<Vec<Statement>> {
        let mut hoisted: HashMap<FieldId, FieldId> = HashMap::new();
        for statement in statements {
            let StatementKind::Store { target, field } = statement.kind else {
                self.out.push(statement);
                continue;
            };
            self.at(&statement);
            // What a product space holds is never stored.
            let product = match self.f.fields[field].kind {
                FieldKind::Acc { of, .. } => Some(self.space(of)),
                _ => None,
            };
            let mut known: HashMap<FieldId, FieldId> = HashMap::new();
            let mut sizes: HashMap<FieldId, usize> = HashMap::new();
            for id in self.f.fields.reachable(&[field]) {
                let node = self.f.fields[id].clone();
                if let Some(&part) = hoisted.get(&id).filter(|_| id != field) {
                    known.insert(id, part);
                    continue;
                }
                let new = copy::node(&mut self.f, id, &known, &HashMap::new());
                let new = self.typed(new)?;
                let inside = node.kind.children().map(|c| sizes.get(&c).copied().unwrap_or(0)).sum::<usize>();
                let sum = matches!(node.kind, FieldKind::Acc { .. });
                let long = inside >= LONG && product.as_ref() != Some(&node.space);
                if id == field || !(sum || long) || !self.is_smooth(id) {
                    known.insert(id, new);
                    sizes.insert(id, (inside + 1).min(LONG));
                    continue;
                }
                let dependence = self.activity.field(&self.f, new);
                let ty = TensorType::new(node.dtype, node.space);
                let part = self.f.var(&format!("{}_part", self.f.name_of(target)), ty);
                self.activity.set(part, dependence);
                self.emit(StatementKind::Store { target: part, field: new });
                let tensor = self.f.tensor(part);
                hoisted.insert(id, tensor);
                known.insert(id, tensor);
            }
            let field = known.get(&field).copied().unwrap_or(field);
            self.out
                .push(Statement { kind: StatementKind::Store { target, field }, origin: statement.origin });
        }
        Ok(std::mem::take(&mut self.out))
    }

    /// Makes a statement the one at hand.
    pub(crate) fn at(&mut self, statement: &Statement) {
        self.origin = statement.origin.clone();
        let op = match &statement.kind {
            StatementKind::Store { .. } => "assignment",
            StatementKind::Constant { .. } => "constant",
            StatementKind::Call { op, .. } => op.name(),
            StatementKind::While { .. } => "while",
            StatementKind::If { .. } => "if",
        };
        let variable = statement.targets().first().map(|&t| self.f.name_of(t).to_string());
        self.subject = (op.to_string(), variable.unwrap_or_default());
    }

    /// The reverse of a statement. Gives what stands in its place in the forward part.
    fn statement(&mut self, statement: Statement) -> Result<Vec<Statement>> {
        self.at(&statement);
        let arrived = |t: &Var| self.cotangents.contains_key(t) || self.relatives.contains_key(t);
        if !statement.targets().iter().any(arrived) {
            return Ok(vec![statement]);
        }
        if let StatementKind::Store { target, field } = statement.kind {
            let (whole, relative) = (self.take_open(target)?, self.take_relative(target)?);
            self.store(target, field, whole, relative)?;
            return Ok(vec![statement]);
        }
        if let StatementKind::Constant { target, .. } = &statement.kind {
            self.cotangents.remove(target);
            return Ok(vec![statement]);
        }
        match &statement.kind {
            StatementKind::While { .. } => self.reverse_while(statement),
            StatementKind::If { .. } => self.reverse_if(statement),
            _ => self.reverse_call(statement),
        }
    }

    /// The cotangents of the targets of a statement.
    pub(crate) fn take_all(&mut self, targets: &[Var]) -> Result<Vec<Option<FieldId>>> {
        targets.iter().map(|&t| self.take(t)).collect()
    }

    /// A new variable that depends on the parameters as another one does.
    pub(crate) fn var_like(&mut self, name: &str, var: Var) -> Var {
        let (ty, dependence) = (self.f.ty(var).clone(), self.activity.var(var));
        let new = self.f.var(name, ty);
        self.activity.set(new, dependence);
        new
    }

    /// A scalar `i32` constant.
    pub(crate) fn i32(&mut self, name: &str, value: i128) -> Var {
        let scalar = surject_ir::Scalar::from_i128(DType::I32, value);
        self.splat(name, &surject_index::Space::scalar(), scalar)
    }
}
