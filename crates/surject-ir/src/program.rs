//! Programs: functions of statements in SSA form.

use crate::{AccOp, FieldId, FieldKind, Fields, LibOp, SizeGuard};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use surject_index::Space;
use surject_runtime::{Buffer, DType};

/// A program: functions, the first of which (or the one named `main`) is run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The name of the module it came from; may be empty.
    pub name: String,
    /// The functions. They do not call each other: a front end inlines.
    pub functions: Vec<Function>,
}

/// A function. Variables and fields are numbered per function; regions share both with the function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// The name.
    pub name: String,
    /// Every variable, by [`Var`].
    pub vars: Vec<VarInfo>,
    /// Every field, by [`FieldId`].
    pub fields: Fields,
    /// The parameters.
    pub params: Vec<Var>,
    /// What the sizes of the arguments must satisfy beside the types of the parameters.
    pub guards: Vec<SizeGuard>,
    /// The statements and the results.
    pub body: Block,
    /// The names of the variables, to find free ones.
    pub(crate) names: Names,
}

/// The names that the first `known` variables of a function have. Names that are changed later stay taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    known: usize,
}

impl Names {
    /// Takes the names of variables that were added since.
    fn learn(&mut self, vars: &[VarInfo]) {
        self.taken.extend(vars.iter().skip(self.known).map(|v| v.name.clone()));
        self.known = vars.len();
    }
}

/// A variable of a function: a stored tensor, defined once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarInfo {
    /// The name in the text form; unique in the function.
    pub name: String,
    /// The type.
    pub ty: TensorType,
}

/// An element type and an index space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// The element type.
    pub dtype: DType,
    /// The space of positions.
    pub space: Space,
}

/// Statements in order, and the variables that are the value of the block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The statements; every variable is defined before it is used.
    pub statements: Vec<Statement>,
    /// The values the block yields.
    pub results: Vec<Var>,
}

/// A block with parameters: the body of a loop, a branch, or the scalar function of a library call. It may use
/// the variables of the blocks around it.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// The parameters.
    pub params: Vec<Var>,
    /// The statements and the results.
    pub body: Block,
}

impl Region {
    /// The accumulation of one parameter and the other, if the region is that and nothing else.
    pub fn accumulation(&self, function: &Function) -> Option<AccOp> {
        let (&[a, b], &[result]) = (&self.params[..], &self.body.results[..]) else { return None };
        let [statement] = &self.body.statements[..] else { return None };
        let StatementKind::Store { target, field } = statement.kind else { return None };
        let FieldKind::Binary { op, x, y } = function.fields[field].kind else { return None };
        let tensor = |id: FieldId| match function.fields[id].kind {
            FieldKind::Tensor(var) => Some(var),
            _ => None,
        };
        let both = [tensor(x)?, tensor(y)?];
        let joins = target == result && (both == [a, b] || both == [b, a]);
        AccOp::from_binary(op).filter(|_| joins)
    }
}

/// The types of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionType {
    /// The types of the parameters.
    pub params: Vec<TensorType>,
    /// The types of the results.
    pub results: Vec<TensorType>,
}

/// A statement and where it came from.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// The place in the source it came from, as `file:line:column` or a name, where known.
    pub origin: Option<Arc<str>>,
}

/// What a statement does. Targets are defined by it.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// The assignment: every position of `target` gets the value of the field.
    Store {
        /// The variable that is defined.
        target: Var,
        /// The field, over the target's space and of its type.
        field: FieldId,
    },
    /// A literal tensor. A tensor of equal elements is a store of a constant field instead.
    Constant {
        /// The variable that is defined.
        target: Var,
        /// The elements.
        value: Arc<Buffer>,
    },
    /// A library operation.
    Call {
        /// The variables that are defined.
        targets: Vec<Var>,
        /// The operation.
        op: LibOp,
        /// The operands.
        args: Vec<Var>,
        /// The scalar functions the operation needs; they take and yield tensors of rank 0.
        regions: Vec<Region>,
    },
    /// A loop: while `cond` of the carried values yields true, they become what `body` yields.
    While {
        /// The carried values after the loop.
        targets: Vec<Var>,
        /// Their values before it.
        inits: Vec<Var>,
        /// Yields one `i1` of rank 0; its parameters have the types of `inits`.
        cond: Region,
        /// Yields the next carried values; its parameters have the types of `inits`.
        body: Region,
    },
    /// A choice: runs `branches[index]`, and the last branch when the index is out of range.
    If {
        /// The values the chosen branch yields.
        targets: Vec<Var>,
        /// An `i32` of rank 0.
        index: Var,
        /// At least one branch, without parameters.
        branches: Vec<Region>,
    },
}

impl Program {
    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// The function that is run: `main`, else the first.
    pub fn main(&self) -> Option<&Function> {
        self.function("main").or_else(|| self.functions.first())
    }
}

impl Function {
    /// An empty function.
    pub fn new(name: impl Into<String>) -> Function {
        Function { name: name.into(), ..Function::default() }
    }

    /// A new variable. The name is made unique by a suffix if it is taken; an empty name becomes `v<number>`.
    pub fn var(&mut self, name: &str, ty: TensorType) -> Var {
        let var = Var(self.vars.len() as u32);
        let base = if name.is_empty() { format!("v{}", var.0) } else { name.to_string() };
        self.names.learn(&self.vars);
        // The number of the variable makes the second candidate unique unless a user chose that very name.
        let mut unique = base.clone();
        let mut suffix = var.0;
        while self.names.taken.contains(&unique) {
            unique = format!("{base}_{suffix}");
            suffix += 1;
        }
        self.vars.push(VarInfo { name: unique, ty });
        self.names.learn(&self.vars);
        var
    }

    /// The type of a variable.
    pub fn ty(&self, var: Var) -> &TensorType {
        &self.vars[var.0 as usize].ty
    }

    /// The name of a variable.
    pub fn name_of(&self, var: Var) -> &str {
        &self.vars[var.0 as usize].name
    }

    /// A variable as a field.
    pub fn tensor(&mut self, var: Var) -> FieldId {
        let TensorType { dtype, space } = self.ty(var).clone();
        self.fields.tensor(var, dtype, space)
    }

    /// A new variable with the type of a field.
    pub fn var_for(&mut self, name: &str, field: FieldId) -> Var {
        let ty = TensorType { dtype: self.fields[field].dtype, space: self.fields[field].space.clone() };
        self.var(name, ty)
    }

    /// The types of variables.
    pub fn types(&self, vars: &[Var]) -> Vec<TensorType> {
        vars.iter().map(|&v| self.ty(v).clone()).collect()
    }

    /// The types of a region of the function.
    pub fn region_type(&self, region: &Region) -> RegionType {
        RegionType { params: self.types(&region.params), results: self.types(&region.body.results) }
    }

    /// The types of the results.
    pub fn result_types(&self) -> Vec<TensorType> {
        self.body.results.iter().map(|&r| self.ty(r).clone()).collect()
    }
}

impl TensorType {
    /// A tensor of this element type over this space.
    pub fn new(dtype: DType, space: Space) -> TensorType {
        TensorType { dtype, space }
    }

    /// A tensor of rank 0.
    pub fn scalar(dtype: DType) -> TensorType {
        TensorType { dtype, space: Space::scalar() }
    }
}

impl Statement {
    /// A statement of unknown origin.
    pub fn new(kind: StatementKind) -> Statement {
        Statement { kind, origin: None }
    }

    /// The variables the statement defines.
    pub fn targets(&self) -> &[Var] {
        match &self.kind {
            StatementKind::Store { target, .. } | StatementKind::Constant { target, .. } => {
                std::slice::from_ref(target)
            }
            StatementKind::Call { targets, .. }
            | StatementKind::While { targets, .. }
            | StatementKind::If { targets, .. } => targets,
        }
    }

    /// The regions of the statement.
    pub fn regions(&self) -> Vec<&Region> {
        match &self.kind {
            StatementKind::Store { .. } | StatementKind::Constant { .. } => Vec::new(),
            StatementKind::Call { regions, .. } => regions.iter().collect(),
            StatementKind::While { cond, body, .. } => vec![cond, body],
            StatementKind::If { branches, .. } => branches.iter().collect(),
        }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.space)
    }
}
