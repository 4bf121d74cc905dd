//! From plans back to statements: a new function whose variables are those that plans store.

use crate::algebra::Algebra;
use crate::error::EgraphError;
use crate::lang::Op;
use crate::plan::Plan;
use crate::terms::{Class, Term, Terms};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_ir::{
    AccOp, Block, FieldId, FieldKind, Function, Region, Scalar, Statement, StatementKind, TensorType,
    TypeError, Var,
};

/// The function that is being written, and how the variables of the old one are called in it.
pub struct Emitter<'a> {
    /// The old function.
    pub old: &'a Function,
    /// The new function.
    pub new: Function,
    /// Old variables and the new ones that hold their value.
    pub vars: HashMap<Var, Var>,
    names: HashSet<String>,
    copied: HashMap<FieldId, FieldId>,
}

/// A plan that is being written as statements.
pub struct Writing<'a> {
    /// The classes.
    pub terms: &'a Terms,
    /// The plan.
    pub plan: &'a Plan,
    /// Maps, spaces and inputs.
    pub algebra: &'a Algebra,
    /// Values of constant classes.
    pub constants: &'a HashMap<Class, Scalar>,
    /// Names of stored classes.
    pub names: &'a HashMap<Class, String>,
    /// Where stored classes come from.
    pub origins: &'a HashMap<Class, Arc<str>>,
    /// Classes that have a variable already.
    pub written: HashMap<Class, Var>,
    /// Fields of classes, as users see them.
    pub fields: HashMap<Class, FieldId>,
}

impl<'a> Emitter<'a> {
    /// A new function with the name, the parameters and the guards of the old one.
    pub fn new(old: &'a Function) -> Emitter<'a> {
        let mut emitter = Emitter {
            old,
            new: Function::new(old.name.clone()),
            vars: HashMap::new(),
            names: HashSet::new(),
            copied: HashMap::new(),
        };
        emitter.new.params = old.params.iter().map(|&p| emitter.keep(p)).collect();
        emitter.new.inherit(old);
        emitter
    }

    /// A new variable of the same name and type.
    pub fn keep(&mut self, var: Var) -> Var {
        let (name, ty) = (self.old.name_of(var).to_string(), self.old.ty(var).clone());
        let new = self.fresh(&name, ty);
        self.vars.insert(var, new);
        new
    }

    /// A new variable with a name of its own.
    pub fn fresh(&mut self, name: &str, ty: TensorType) -> Var {
        let var = Var(self.new.vars.len() as u32);
        let mut unique = name.to_string();
        let mut number = var.0;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        self.new.vars.push(surject_ir::VarInfo { name: unique, ty });
        var
    }

    /// The new name of an old variable.
    pub fn var(&self, old: Var) -> Result<Var, EgraphError> {
        self.vars
            .get(&old)
            .copied()
            .ok_or_else(|| self.error(format!("`{}` has no value", self.old.name_of(old))))
    }

    /// The new names of old variables.
    pub fn all(&self, old: &[Var]) -> Result<Vec<Var>, EgraphError> {
        old.iter().map(|&v| self.var(v)).collect()
    }

    fn error(&self, what: String) -> EgraphError {
        EgraphError::Rebuild { place: self.old.name.clone(), what }
    }

    fn typed<T>(&self, result: Result<T, TypeError>) -> Result<T, EgraphError> {
        result.map_err(|e| EgraphError::types(&self.old.name, e))
    }

    /// Writes the stores that a class needs, then its own, and returns the variable.
    pub fn store(
        &mut self,
        writing: &mut Writing<'_>,
        class: Class,
        out: &mut Vec<Statement>,
    ) -> Result<Var, EgraphError> {
        let mut stack = vec![(class, false)];
        while let Some((top, ready)) = stack.pop() {
            if writing.written.contains_key(&top) {
                continue;
            }
            if let Some(Term::Input(input)) = writing.terms.term(&writing.plan.choice, top) {
                let var = self.var(writing.algebra.input(*input).var)?;
                writing.written.insert(top, var);
                continue;
            }
            let Some(kernel) = writing.plan.kernels.get(&top) else {
                return Err(self.error(format!("class {top} has no kernel")));
            };
            if !ready {
                stack.push((top, true));
                stack.extend(kernel.reads.iter().map(|r| (r.0, false)));
                continue;
            }
            let field = self.definition(writing, top)?;
            let f = &self.new.fields[field];
            let ty = TensorType { dtype: f.dtype, space: f.space.clone() };
            let name = writing.names.get(&top).map_or("t", String::as_str);
            let target = self.fresh(name, ty);
            let origin = writing.origins.get(&top).cloned();
            out.push(Statement { kind: StatementKind::Store { target, field }, origin });
            writing.written.insert(top, target);
        }
        Ok(writing.written[&class])
    }

    /// The field that a stored class is computed by.
    fn definition(&mut self, writing: &mut Writing<'_>, class: Class) -> Result<FieldId, EgraphError> {
        let mut stack = vec![class];
        while let Some(&top) = stack.last() {
            if top != class && writing.fields.contains_key(&top) {
                stack.pop();
                continue;
            }
            if top != class
                && let Some(&var) = writing.written.get(&top)
            {
                let field = self.new.tensor(var);
                writing.fields.insert(top, field);
                stack.pop();
                continue;
            }
            let term = writing
                .terms
                .term(&writing.plan.choice, top)
                .ok_or_else(|| self.error(format!("class {top} has no term")))?;
            if let Term::Input(input) = term {
                let var = self.var(writing.algebra.input(*input).var)?;
                let field = self.new.tensor(var);
                writing.fields.insert(top, field);
                if top == class {
                    return Ok(field);
                }
                continue;
            }
            let missing: Vec<Class> =
                term.children().iter().copied().filter(|c| !writing.fields.contains_key(c)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let field = self.node(writing, top, term)?;
            if top == class {
                return Ok(field);
            }
            writing.fields.insert(top, field);
        }
        Err(self.error(format!("class {class} has no field")))
    }

    fn node(&mut self, writing: &Writing<'_>, class: Class, term: &Term) -> Result<FieldId, EgraphError> {
        let info = &writing.terms.classes[class];
        let space = writing.algebra.space(info.space).clone();
        let of = |c: &Class| writing.fields[c];
        let fields = &mut self.new.fields;
        let built = match term {
            Term::Input(_) => return Err(self.error("an input is no term".to_string())),
            Term::Const => match writing.constants.get(&class) {
                Some(value) => Ok(fields.constant(&space, *value)),
                None => return Err(self.error(format!("class {class} is not a constant"))),
            },
            Term::Index(axis) => fields.index(&space, *axis as usize, info.dtype),
            Term::Read(map, x) => fields.read(writing.algebra.map(*map).clone(), of(x)),
            Term::Acc(op, map, x) => {
                let op = op.as_acc().unwrap_or(AccOp::Set);
                fields.acc(op, writing.algebra.map(*map).clone(), of(x))
            }
            Term::Point(op, xs) => match (op, &xs[..]) {
                (Some(Op::Unary(op)), [x]) => fields.unary(*op, of(x)),
                (Some(Op::Convert(to)), [x]) => Ok(fields.convert(*to, of(x))),
                (Some(Op::Bitcast(to)), [x]) => fields.bitcast(*to, of(x)),
                (Some(Op::ReducePrecision(e, m)), [x]) => fields.reduce_precision(*e, *m, of(x)),
                (Some(Op::Binary(op)), [x, y]) => fields.binary(*op, of(x), of(y)),
                (None, [c, t, f]) => fields.select(of(c), of(t), of(f)),
                _ => return Err(self.error(format!("class {class} has an operation without its operands"))),
            },
        };
        self.typed(built)
    }

    /// A region copied as it is, over new variables.
    pub fn copy_region(&mut self, region: &Region) -> Result<Region, EgraphError> {
        let params = region.params.iter().map(|&p| self.keep(p)).collect();
        let mut statements = Vec::new();
        for statement in &region.body.statements {
            let kind = match &statement.kind {
                StatementKind::Store { target, field } => {
                    let field = self.copy_field(*field)?;
                    StatementKind::Store { target: self.keep(*target), field }
                }
                StatementKind::Constant { target, value } => {
                    StatementKind::Constant { target: self.keep(*target), value: value.clone() }
                }
                StatementKind::Call { targets, op, args, regions } => {
                    let args = self.all(args)?;
                    let regions = regions.iter().map(|r| self.copy_region(r)).collect::<Result<_, _>>()?;
                    let targets = targets.iter().map(|&t| self.keep(t)).collect();
                    StatementKind::Call { targets, op: op.clone(), args, regions }
                }
                StatementKind::While { targets, inits, cond, body } => {
                    let inits = self.all(inits)?;
                    let (cond, body) = (self.copy_region(cond)?, self.copy_region(body)?);
                    let targets = targets.iter().map(|&t| self.keep(t)).collect();
                    StatementKind::While { targets, inits, cond, body }
                }
                StatementKind::If { targets, index, branches } => {
                    let index = self.var(*index)?;
                    let branches = branches.iter().map(|r| self.copy_region(r)).collect::<Result<_, _>>()?;
                    let targets = targets.iter().map(|&t| self.keep(t)).collect();
                    StatementKind::If { targets, index, branches }
                }
            };
            statements.push(Statement { kind, origin: statement.origin.clone() });
        }
        let results = self.all(&region.body.results)?;
        Ok(Region { params, body: Block { statements, results } })
    }

    fn copy_field(&mut self, root: FieldId) -> Result<FieldId, EgraphError> {
        let mut stack = vec![root];
        while let Some(&top) = stack.last() {
            if self.copied.contains_key(&top) {
                stack.pop();
                continue;
            }
            let field = &self.old.fields[top];
            let missing: Vec<FieldId> =
                field.kind.children().filter(|c| !self.copied.contains_key(c)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let built = match field.kind {
                FieldKind::Tensor(var) => {
                    let var = self.var(var)?;
                    Ok(self.new.tensor(var))
                }
                _ => self.new.fields.again(field, |c| self.copied[&c]),
            };
            let built = self.typed(built)?;
            self.copied.insert(top, built);
        }
        Ok(self.copied[&root])
    }
}
