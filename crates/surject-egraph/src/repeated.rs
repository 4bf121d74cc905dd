//! Regions that occur several times: a program that calls a function with a loop several times, as random numbers do, has
//! the loop as often, and what it becomes is found once.
//!
//! Two regions are the same when they differ in nothing but the names of variables, their own and those of outer blocks,
//! and when the same is known of these. The optimised region is then copied, over the other variables.

use crate::emit::Emitter;
use crate::report::BlockReport;
use std::collections::{BTreeMap, HashMap};
use surject_ir::{
    Block, DType, Field, FieldId, FieldKind, Function, LibOp, Region, Scalar, Statement, StatementKind,
    TensorType, Var,
};

/// Regions of fewer statements are optimised again.
const SMALL: usize = 4;

/// A part of the form of a region. Variables and fields go by the order of their first occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A kind of statement, or a variable, or how many follow.
    Number(u32),
    /// A variable that is met for the first time: its type, and its value where it is known.
    New(TensorType, Option<Scalar>),
    /// A field, of fields before it.
    Field(Field),
    /// A literal.
    Literal(DType, Vec<usize>, Vec<u8>),
    /// A library operation.
    Call(LibOp),
}

/// The form of a region, and the variables of outer blocks that it uses, in the order of their first occurrence.
pub struct Form {
    /// The form.
    pub parts: Vec<Part>,
    /// The variables of outer blocks.
    pub free: Vec<Var>,
}

/// An optimised region.
pub struct Known {
    /// In the new function.
    pub region: Region,
    /// The new variables of outer blocks, as [`Form::free`] lists the old ones.
    pub free: Vec<Var>,
    /// What was done to its blocks.
    pub reports: Vec<BlockReport>,
    /// Where it stands.
    pub place: String,
}

/// The form of a region; `None` for one that is too small to be worth it.
pub fn form(
    function: &Function,
    region: &Region,
    alias: &HashMap<Var, Var>,
    known: &BTreeMap<Var, Scalar>,
) -> Option<Form> {
    if region.body.statements.len() < SMALL {
        return None;
    }
    let mut former = Former {
        function,
        alias,
        known,
        vars: HashMap::new(),
        fields: HashMap::new(),
        form: Form { parts: Vec::new(), free: Vec::new() },
    };
    former.region(region);
    Some(former.form)
}

struct Former<'a> {
    function: &'a Function,
    alias: &'a HashMap<Var, Var>,
    known: &'a BTreeMap<Var, Scalar>,
    vars: HashMap<Var, u32>,
    fields: HashMap<FieldId, u32>,
    form: Form,
}

impl Former<'_> {
    fn number(&mut self, number: usize) {
        self.form.parts.push(Part::Number(number as u32));
    }

    fn define(&mut self, vars: &[Var]) {
        self.number(vars.len());
        for &var in vars {
            self.vars.insert(var, self.vars.len() as u32);
            self.form.parts.push(Part::New(self.function.ty(var).clone(), None));
        }
    }

    /// The number of a variable that is used.
    fn var(&mut self, var: Var) -> u32 {
        if let Some(&number) = self.vars.get(&var) {
            return number;
        }
        let outer = self.alias.get(&var).copied().unwrap_or(var);
        if let Some(&number) = self.vars.get(&outer) {
            return number;
        }
        let number = self.vars.len() as u32;
        self.vars.insert(outer, number);
        self.form.free.push(outer);
        let value = self.known.get(&outer).copied();
        self.form.parts.push(Part::New(self.function.ty(outer).clone(), value));
        number
    }

    fn uses(&mut self, vars: &[Var]) {
        self.number(vars.len());
        for &var in vars {
            let number = self.var(var);
            self.number(number as usize);
        }
    }

    fn region(&mut self, region: &Region) {
        self.define(&region.params);
        self.number(region.body.statements.len());
        for statement in &region.body.statements {
            self.statement(&statement.kind);
        }
        self.uses(&region.body.results);
    }

    fn statement(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Store { target, field } => {
                self.number(0);
                let field = self.field(*field);
                self.number(field as usize);
                self.define(&[*target]);
            }
            StatementKind::Constant { target, value } => {
                self.number(1);
                let literal = Part::Literal(value.dtype(), value.shape().to_vec(), value.bytes().to_vec());
                self.form.parts.push(literal);
                self.define(&[*target]);
            }
            StatementKind::Call { targets, op, args, regions } => {
                self.number(2);
                self.form.parts.push(Part::Call(op.clone()));
                self.uses(args);
                self.number(regions.len());
                regions.iter().for_each(|r| self.region(r));
                self.define(targets);
            }
            StatementKind::While { targets, inits, cond, body } => {
                self.number(3);
                self.uses(inits);
                self.region(cond);
                self.region(body);
                self.define(targets);
            }
            StatementKind::If { targets, index, branches } => {
                self.number(4);
                self.uses(&[*index]);
                self.number(branches.len());
                branches.iter().for_each(|r| self.region(r));
                self.define(targets);
            }
        }
    }

    /// The number of a field; the fields below it are numbered first.
    fn field(&mut self, root: FieldId) -> u32 {
        let mut stack = vec![root];
        while let Some(&top) = stack.last() {
            if self.fields.contains_key(&top) {
                stack.pop();
                continue;
            }
            let field = &self.function.fields[top];
            let missing: Vec<FieldId> =
                field.kind.children().filter(|c| !self.fields.contains_key(c)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let kind = match &field.kind {
                FieldKind::Tensor(var) => FieldKind::Tensor(Var(self.var(*var))),
                kind => with_children(kind, |c| FieldId(self.fields[&c])),
            };
            let number = self.fields.len() as u32;
            self.fields.insert(top, number);
            self.form.parts.push(Part::Field(Field { kind, ..field.clone() }));
        }
        self.fields[&root]
    }
}

/// A kind of field over other children.
fn with_children(kind: &FieldKind, of: impl Fn(FieldId) -> FieldId) -> FieldKind {
    let mut kind = kind.clone();
    match &mut kind {
        FieldKind::Tensor(_) | FieldKind::Index { .. } | FieldKind::Const(_) => {}
        FieldKind::Read { of: x, .. } | FieldKind::Acc { of: x, .. } => *x = of(*x),
        FieldKind::Unary { x, .. }
        | FieldKind::Convert { x }
        | FieldKind::Bitcast { x }
        | FieldKind::ReducePrecision { x, .. } => *x = of(*x),
        FieldKind::Binary { x, y, .. } => (*x, *y) = (of(*x), of(*y)),
        FieldKind::Select { cond, on_true, on_false } => {
            (*cond, *on_true, *on_false) = (of(*cond), of(*on_true), of(*on_false));
        }
    }
    kind
}

/// A copy of an optimised region over other variables of outer blocks; `None` where it uses others than it is known to.
pub fn copy(emitter: &mut Emitter<'_>, known: &Known, free: &[Var]) -> Option<Region> {
    let vars = known.free.iter().copied().zip(free.iter().copied()).collect();
    Copier { emitter, vars, fields: HashMap::new() }.region(&known.region)
}

struct Copier<'c, 'a> {
    emitter: &'c mut Emitter<'a>,
    vars: HashMap<Var, Var>,
    fields: HashMap<FieldId, FieldId>,
}

impl Copier<'_, '_> {
    fn define(&mut self, vars: &[Var]) -> Vec<Var> {
        let define = |&var: &Var| {
            let (name, ty) = (self.emitter.new.name_of(var).to_string(), self.emitter.new.ty(var).clone());
            let new = self.emitter.fresh(&name, ty);
            self.vars.insert(var, new);
            new
        };
        vars.iter().map(define).collect()
    }

    fn uses(&self, vars: &[Var]) -> Option<Vec<Var>> {
        vars.iter().map(|v| self.vars.get(v).copied()).collect()
    }

    fn region(&mut self, region: &Region) -> Option<Region> {
        let params = self.define(&region.params);
        let mut statements = Vec::with_capacity(region.body.statements.len());
        for statement in &region.body.statements {
            let kind = self.statement(&statement.kind)?;
            statements.push(Statement { kind, origin: statement.origin.clone() });
        }
        let results = self.uses(&region.body.results)?;
        Some(Region { params, body: Block { statements, results } })
    }

    fn statement(&mut self, kind: &StatementKind) -> Option<StatementKind> {
        Some(match kind {
            StatementKind::Store { target, field } => {
                let field = self.field(*field)?;
                StatementKind::Store { target: self.define(&[*target])[0], field }
            }
            StatementKind::Constant { target, value } => {
                StatementKind::Constant { target: self.define(&[*target])[0], value: value.clone() }
            }
            StatementKind::Call { targets, op, args, regions } => {
                let args = self.uses(args)?;
                let regions = regions.iter().map(|r| self.region(r)).collect::<Option<_>>()?;
                StatementKind::Call { targets: self.define(targets), op: op.clone(), args, regions }
            }
            StatementKind::While { targets, inits, cond, body } => {
                let inits = self.uses(inits)?;
                let (cond, body) = (self.region(cond)?, self.region(body)?);
                StatementKind::While { targets: self.define(targets), inits, cond, body }
            }
            StatementKind::If { targets, index, branches } => {
                let index = *self.vars.get(index)?;
                let branches = branches.iter().map(|r| self.region(r)).collect::<Option<_>>()?;
                StatementKind::If { targets: self.define(targets), index, branches }
            }
        })
    }

    fn field(&mut self, root: FieldId) -> Option<FieldId> {
        let mut stack = vec![root];
        while let Some(&top) = stack.last() {
            if self.fields.contains_key(&top) {
                stack.pop();
                continue;
            }
            let field = self.emitter.new.fields[top].clone();
            let missing: Vec<FieldId> =
                field.kind.children().filter(|c| !self.fields.contains_key(c)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let built = match field.kind {
                FieldKind::Tensor(var) => {
                    let var = *self.vars.get(&var)?;
                    self.emitter.new.tensor(var)
                }
                _ => self.emitter.new.fields.again(&field, |c| self.fields[&c]).ok()?,
            };
            self.fields.insert(top, built);
        }
        self.fields.get(&root).copied()
    }
}
