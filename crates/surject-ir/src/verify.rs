//! The verifier: which programs are well formed.
//!
//! Every variable is defined once and before it is used, and what a region defines is seen only inside it; every
//! field is well typed; every statement defines variables of the types it yields. Extents may be symbolic: what is not
//! certain of them for every call is refused, with the fact that would make it certain.

mod field;

use crate::library::scalar_of;
use crate::sizes::{canonical, differs};
use crate::truncate::name_of;
use crate::{
    Block, DType, FieldId, FieldKind, Function, LibOp, LibOpError, Program, Region, RegionType, Statement,
};
use crate::{StatementKind, TensorType, TypeError, Var};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;
use surject_index::{Extent, ExtentExpr, Fact, Facts, ScalarSemantics, Space, UnsatisfiableFacts};
use thiserror::Error;

/// Regions may be nested this deep.
pub const MAX_NESTING: usize = 100;

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function.
    pub function: String,
    /// The variable that is concerned, if one is: the one a statement defines, or the one that is misused.
    pub variable: Option<String>,
    /// Where the statement came from.
    pub origin: Option<Arc<str>>,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Two functions, or two variables of one function, have one name.
    #[error("the name is used twice")]
    DuplicateName,
    /// A variable number that the function does not have.
    #[error("there is no variable number {}", .0.0)]
    NoVariable(Var),
    /// A field number that the function does not have, or a child that is not an earlier field.
    #[error("there is no field number {} here", .0.0)]
    NoField(FieldId),
    /// A second definition.
    #[error("it is defined twice")]
    DefinedTwice,
    /// A use where no definition is seen.
    #[error("it is used where it is not defined")]
    NotDefined,
    /// A field that is not well typed.
    #[error("field {field}: {error}", field = .0.0, error = .1)]
    Field(FieldId, TypeError),
    /// A field whose recorded space or type is not what it is made of.
    #[error("field {} does not have the type of what it is made of", .0.0)]
    FieldType(FieldId),
    /// A map that may leave the space it reads from, or a fill that does not fit the type.
    #[error("field {field}: the map {map} is not safe to read through", field = .0.0, map = .1)]
    UnsafeRead(FieldId, String),
    /// A type that is not the needed one.
    #[error("{what} is {found} where {expected} is needed")]
    Type {
        /// Of what.
        what: &'static str,
        /// The type found.
        found: TensorType,
        /// The type needed.
        expected: TensorType,
    },
    /// A type that may not be the needed one: the sizes decide.
    #[error(
        "{what} is {found} where {expected} is needed; `{missing}` would decide it: state it after `where`"
    )]
    UndecidedType {
        /// Of what.
        what: &'static str,
        /// The type found.
        found: TensorType,
        /// The type needed.
        expected: TensorType,
        /// The fact about sizes that is missing.
        missing: Box<Fact>,
    },
    /// A size that no parameter gives.
    #[error("the size `{0}` comes from no parameter")]
    NoSize(Extent),
    /// Two truncations that declare a size of one name.
    #[error("the size `{0}` is declared by two truncations")]
    SizeTwice(Extent),
    /// A truncation that declares a size in a loop or a branch, where it may have many values or none.
    #[error(
        "the size `{0}` is declared in a loop or a branch, where it has no one value; truncate by a scalar parameter, or outside"
    )]
    SizeInside(Extent),
    /// A use of a size before the truncation that declares it.
    #[error("the size `{0}` is used before the truncation that declares it")]
    SizeNotGiven(Extent),
    /// A truncation to a size that is not that of its scalar.
    #[error("the truncated size is `{size}`, and must be {}", truncated(.expected))]
    TruncatedSize {
        /// The size found.
        size: Extent,
        /// The size that the scalar gives, where that is a parameter.
        expected: Option<Extent>,
    },
    /// A size by a scalar of a type that its rule does not take.
    #[error("the size `{size}` needs {needed}, and the parameter is {found}")]
    ScalarSize {
        /// The size.
        size: Extent,
        /// What its rule takes.
        needed: &'static str,
        /// The type of the parameter.
        found: TensorType,
    },
    /// Guards, and sizes of parameters, that contradict each other.
    #[error(transparent)]
    Unsatisfiable(UnsatisfiableFacts),
    /// A wrong number of things.
    #[error("there are {found} {what} where {expected} are needed")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A literal that is not of the type of its variable.
    #[error("the literal is {0} where {1} is needed")]
    Literal(String, TensorType),
    /// A library operation with operands it does not take.
    #[error(transparent)]
    LibOp(LibOpError),
    /// Regions in regions beyond [`MAX_NESTING`].
    #[error("regions are nested more than {MAX_NESTING} deep")]
    TooDeep,
}

fn truncated(expected: &Option<Extent>) -> String {
    match expected {
        Some(size) => format!("`{size}`, or a name that nothing else declares"),
        None => "a name that nothing else declares: the scalar is no parameter".to_string(),
    }
}

/// The sizes and scalars in the attributes of library operations.
fn sizes_of_calls(block: &Block, into: &mut BTreeSet<Arc<ExtentExpr>>) {
    for statement in &block.statements {
        if let StatementKind::Call { op, .. } = &statement.kind {
            op.extents().iter().for_each(|extent| extent.atoms(into));
        }
        statement.regions().iter().for_each(|region| sizes_of_calls(&region.body, into));
    }
}

/// Does a truncation in a block or its regions have this size?
fn truncates_to(block: &Block, wanted: &Extent) -> bool {
    block.statements.iter().any(|statement| {
        let own = match &statement.kind {
            StatementKind::Call { op: LibOp::DynamicTruncate { size, .. }, .. } => size == wanted,
            _ => false,
        };
        own || statement.regions().iter().any(|region| truncates_to(&region.body, wanted))
    })
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        write!(f, "function `{}`", self.function)?;
        if let Some(variable) = &self.variable {
            write!(f, ", variable `{variable}`")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program.
pub fn verify(program: &Program) -> Result<(), VerifyError> {
    let mut names = HashSet::new();
    for f in &program.functions {
        if !names.insert(&f.name) {
            let problem = Box::new(Problem::DuplicateName);
            return Err(VerifyError { function: f.name.clone(), variable: None, origin: None, problem });
        }
    }
    program.functions.iter().try_for_each(function)
}

/// Checks one function.
pub fn function(function: &Function) -> Result<(), VerifyError> {
    let count = function.vars.len();
    let mut verifier = Verifier {
        function,
        facts: None,
        computed: Vec::new(),
        given: BTreeSet::new(),
        seen: vec![false; count],
        defined: vec![false; count],
        stamps: Vec::new(),
        stamp: 0,
    };
    verifier.function().map_err(|fault| VerifyError {
        function: function.name.clone(),
        variable: fault.variable.and_then(|v| function.vars.get(v.0 as usize)).map(|v| v.name.clone()),
        origin: fault.origin,
        problem: Box::new(fault.problem),
    })
}

/// An error on its way out.
struct Fault {
    variable: Option<Var>,
    origin: Option<Arc<str>>,
    problem: Problem,
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault { variable: None, origin: None, problem }
    }
}

impl Problem {
    /// The problem of a variable.
    fn of(self, var: Var) -> Fault {
        Fault { variable: Some(var), origin: None, problem: self }
    }
}

struct Verifier<'a> {
    function: &'a Function,
    /// What holds of symbolic sizes, if there are any.
    facts: Option<Facts>,
    /// The sizes that the data of a run gives, and those that it has given before the statement at hand.
    computed: Vec<Arc<str>>,
    given: BTreeSet<Arc<str>>,
    /// The variables that can be used here.
    seen: Vec<bool>,
    /// The variables that have a definition somewhere before.
    defined: Vec<bool>,
    /// For each field, the last store that reached it.
    stamps: Vec<u32>,
    stamp: u32,
}

impl Verifier<'_> {
    fn function(&mut self) -> Result<(), Fault> {
        let mut names = HashSet::new();
        for (number, info) in self.function.vars.iter().enumerate() {
            if !names.insert(&info.name) {
                return Err(Problem::DuplicateName.of(Var(number as u32)));
            }
        }
        self.sizes()?;
        for (id, node) in self.function.fields.iter() {
            field::check(self.function, self.facts.as_ref(), id, node)?;
        }
        self.stamps = vec![0; self.function.fields.len()];
        let function = self.function;
        self.define(&function.params)?;
        self.block(&function.body, 0)
    }

    /// Checks that every symbolic size comes from a parameter, and takes what is known of them.
    fn sizes(&mut self) -> Result<(), Fault> {
        let function = self.function;
        if !crate::bind::is_symbolic(function) {
            return Ok(());
        }
        if let Some(&param) = function.params.iter().find(|p| p.0 as usize >= function.vars.len()) {
            return Err(Problem::NoVariable(param).into());
        }
        let mut atoms = BTreeSet::new();
        for info in &function.vars {
            info.ty.space.extents().iter().for_each(|extent| extent.atoms(&mut atoms));
        }
        for (_, node) in function.fields.iter() {
            node.extents().for_each(|extent| extent.atoms(&mut atoms));
        }
        for guard in &function.guards {
            guard.fact.left.atoms(&mut atoms);
            guard.fact.right.atoms(&mut atoms);
        }
        sizes_of_calls(&function.body, &mut atoms);
        self.computed = function.truncations().map(|t| t.name).collect();
        let mut names = HashSet::new();
        if let Some(twice) = self.computed.iter().find(|name| !names.insert(*name)) {
            return Err(Problem::SizeTwice(Extent::symbol(twice)).into());
        }
        let space = |input: usize| function.params.get(input).map(|&p| &function.ty(p).space);
        for atom in atoms {
            let is_given = match &*atom {
                ExtentExpr::Symbol(name) => {
                    self.computed.contains(name) || function.declaration(name).is_some()
                }
                ExtentExpr::InputAxis { input, axis } => space(*input).is_some_and(|s| *axis < s.rank()),
                ExtentExpr::RuntimeScalar { input, semantics } => {
                    if let Some(&param) = function.params.get(*input) {
                        let found = function.ty(param).clone();
                        if let Err(needed) = scalar_of(*semantics, &found) {
                            let size = Extent::Expr(atom);
                            return Err(Problem::ScalarSize { size, needed, found }.into());
                        }
                    }
                    space(*input).is_some()
                }
                _ => true,
            };
            if let ExtentExpr::Symbol(_) = &*atom
                && !is_given
                && truncates_to(&function.body, &Extent::Expr(atom.clone()))
            {
                return Err(Problem::SizeInside(Extent::Expr(atom)).into());
            }
            if !is_given {
                return Err(Problem::NoSize(Extent::Expr(atom)).into());
            }
        }
        self.facts = Some(function.facts().map_err(Problem::Unsatisfiable)?);
        Ok(())
    }

    /// The types with symbolic sizes in one form, so that sizes that are one by the facts look like one.
    fn canonical(&self, types: Vec<TensorType>) -> Vec<TensorType> {
        match &self.facts {
            Some(facts) => canonical(types, facts),
            None => types,
        }
    }

    fn define(&mut self, vars: &[Var]) -> Result<(), Fault> {
        for &var in vars {
            let slot = self.defined.get_mut(var.0 as usize).ok_or(Problem::NoVariable(var))?;
            if std::mem::replace(slot, true) {
                return Err(Problem::DefinedTwice.of(var));
            }
            self.seen[var.0 as usize] = true;
        }
        Ok(())
    }

    fn use_all(&self, vars: &[Var]) -> Result<(), Fault> {
        for &var in vars {
            match self.seen.get(var.0 as usize) {
                None => return Err(Problem::NoVariable(var).into()),
                Some(false) => return Err(Problem::NotDefined.of(var)),
                Some(true) => {}
            }
        }
        Ok(())
    }

    /// Checks statements and results. What the block defines stays visible; a region takes it back.
    fn block(&mut self, block: &Block, depth: usize) -> Result<(), Fault> {
        for statement in &block.statements {
            self.statement(statement, depth).map_err(|mut fault| {
                fault.origin = fault.origin.or_else(|| statement.origin.clone());
                fault.variable = fault.variable.or(statement.targets().first().copied());
                fault
            })?;
        }
        self.use_all(&block.results)
    }

    fn region(&mut self, region: &Region, depth: usize) -> Result<RegionType, Fault> {
        if depth >= MAX_NESTING {
            return Err(Problem::TooDeep.into());
        }
        self.define(&region.params)?;
        self.block(&region.body, depth + 1)?;
        for var in region.params.iter().chain(region.body.statements.iter().flat_map(Statement::targets)) {
            self.seen[var.0 as usize] = false;
        }
        Ok(self.function.region_type(region))
    }

    fn statement(&mut self, statement: &Statement, depth: usize) -> Result<(), Fault> {
        let function = self.function;
        if let Some(&var) = statement.targets().iter().find(|v| v.0 as usize >= function.vars.len()) {
            return Err(Problem::NoVariable(var).into());
        }
        if let StatementKind::Call { op: LibOp::DynamicTruncate { axis, semantics, size }, args, .. } =
            &statement.kind
        {
            self.truncation((*axis, *semantics), size, args, depth)?;
        }
        if !self.computed.is_empty() {
            for &var in statement.targets() {
                self.sizes_are_given(function.ty(var).space.extents())?;
            }
        }
        match &statement.kind {
            StatementKind::Store { target, field } => {
                self.store(*field)?;
                let node = &function.fields[*field];
                let found = TensorType::new(node.dtype, node.space.clone());
                self.same("the field", &found, function.ty(*target))?;
            }
            StatementKind::Constant { target, value } => {
                let expected = function.ty(*target);
                let shape: Vec<u64> = value.shape().iter().map(|&n| n as u64).collect();
                if value.dtype() != expected.dtype || Space::of(&shape) != expected.space {
                    let found = format!("{}{:?}", value.dtype(), value.shape());
                    return Err(Problem::Literal(found, expected.clone()).into());
                }
            }
            StatementKind::Call { targets, op, args, regions } => {
                self.use_all(args)?;
                let regions = regions.iter().map(|r| self.region(r, depth)).collect::<Result<Vec<_>, _>>()?;
                let args = self.canonical(function.types(args));
                let results = match &self.facts {
                    Some(facts) => op.infer_given(&args, &regions, facts),
                    None => op.infer(&args, &regions),
                };
                let results = results.map_err(Problem::LibOp)?;
                self.all_same("results", &results, &function.types(targets))?;
            }
            StatementKind::While { targets, inits, cond, body } => {
                self.use_all(inits)?;
                let carried = function.types(inits);
                self.all_same("carried values", &carried, &function.types(targets))?;
                let (cond, body) = (self.region(cond, depth)?, self.region(body, depth)?);
                self.all_same("parameters of the condition", &cond.params, &carried)?;
                self.all_same("results of the condition", &cond.results, &[TensorType::scalar(DType::I1)])?;
                self.all_same("parameters of the body", &body.params, &carried)?;
                self.all_same("results of the body", &body.results, &carried)?;
            }
            StatementKind::If { targets, index, branches } => {
                self.use_all(&[*index])?;
                self.same("the index", function.ty(*index), &TensorType::scalar(DType::I32))?;
                if branches.is_empty() {
                    return Err(Problem::Count { what: "branches", found: 0, expected: 1 }.into());
                }
                for branch in branches {
                    let branch = self.region(branch, depth)?;
                    self.all_same("parameters of a branch", &branch.params, &[])?;
                    self.all_same("results of a branch", &branch.results, &function.types(targets))?;
                }
            }
        }
        self.define(statement.targets())
    }

    /// Checks the size of a truncation: that of a parameter, exactly, or a name that it declares.
    fn truncation(
        &mut self,
        (axis, semantics): (usize, ScalarSemantics),
        size: &Extent,
        args: &[Var],
        depth: usize,
    ) -> Result<(), Fault> {
        if let Some(name) = name_of(size).filter(|name| self.computed.contains(name)) {
            if depth > 0 {
                return Err(Problem::SizeInside(size.clone()).into());
            }
            if let Some(info) = args.first().and_then(|x| self.function.vars.get(x.0 as usize)) {
                self.sizes_are_given(info.ty.space.extents())?;
            }
            self.given.insert(name.clone());
            return Ok(());
        }
        let function = self.function;
        let input = args.get(1).and_then(|scalar| function.params.iter().position(|p| p == scalar));
        let operand = args.first().and_then(|x| function.vars.get(x.0 as usize));
        let before = operand.and_then(|info| info.ty.space.extents().get(axis));
        let expected = input.zip(before).map(|(input, before)| {
            let scalar = Extent::Expr(Arc::new(ExtentExpr::RuntimeScalar { input, semantics }));
            Extent::min(scalar, before.clone())
        });
        let none = Facts::default();
        let facts = self.facts.as_ref().unwrap_or(&none);
        match expected {
            Some(expected) if facts.same(&expected, size).is_yes() => Ok(()),
            expected => Err(Problem::TruncatedSize { size: size.clone(), expected }.into()),
        }
    }

    /// Checks that the sizes that data gives are known before they are used.
    fn sizes_are_given(&self, extents: &[Extent]) -> Result<(), Problem> {
        let mut atoms = BTreeSet::new();
        extents.iter().for_each(|extent| extent.atoms(&mut atoms));
        for atom in atoms {
            if let ExtentExpr::Symbol(name) = &*atom
                && self.computed.contains(name)
                && !self.given.contains(name)
            {
                return Err(Problem::SizeNotGiven(Extent::Expr(atom)));
            }
        }
        Ok(())
    }

    /// Checks that every variable a stored field reads is seen.
    fn store(&mut self, root: FieldId) -> Result<(), Fault> {
        if root.0 as usize >= self.function.fields.len() {
            return Err(Problem::NoField(root).into());
        }
        self.stamp += 1;
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut self.stamps[id.0 as usize], self.stamp) == self.stamp {
                continue;
            }
            let kind = &self.function.fields[id].kind;
            if let FieldKind::Tensor(var) = kind {
                self.use_all(&[*var])?;
            }
            if !self.computed.is_empty() {
                let extents: Vec<Extent> = self.function.fields[id].extents().cloned().collect();
                self.sizes_are_given(&extents)?;
            }
            stack.extend(kind.children());
        }
        Ok(())
    }

    fn same(&self, what: &'static str, found: &TensorType, expected: &TensorType) -> Result<(), Problem> {
        let types = || (found.clone(), expected.clone());
        let missing = if found.dtype == expected.dtype {
            differs(&found.space, &expected.space, self.facts.as_ref())
        } else {
            Some(None)
        };
        match missing {
            None => Ok(()),
            Some(None) => {
                let (found, expected) = types();
                Err(Problem::Type { what, found, expected })
            }
            Some(Some(missing)) => {
                let (found, expected) = types();
                Err(Problem::UndecidedType { what, found, expected, missing })
            }
        }
    }

    fn all_same(
        &self,
        what: &'static str,
        found: &[TensorType],
        expected: &[TensorType],
    ) -> Result<(), Problem> {
        if found.len() != expected.len() {
            return Err(Problem::Count { what, found: found.len(), expected: expected.len() });
        }
        found.iter().zip(expected).try_for_each(|(f, e)| self.same(what, f, e))
    }
}

#[cfg(test)]
mod tests;
