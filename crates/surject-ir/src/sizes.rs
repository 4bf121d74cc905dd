//! Symbolic sizes of a function (seed 002): what is known of them, what a run must check, and their values in a call.
//!
//! The size of an axis is an exact expression over the axes of parameters (`in0.1`), scalar parameters (`size(in1)`) and
//! declared sizes: `n` in the type `f32[n,4]` of a parameter is the size of that axis, everywhere in the function. What
//! the types do not say stands in the guards of the function, which a run checks before anything else.

use crate::truncate::guaranteed;
use crate::{Buffer, Function, Statement, TensorType, TypeError, VarInfo};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use surject_index::{
    Extent, ExtentEnv, ExtentError, ExtentExpr, Fact, Facts, Relation, ScalarSemantics, ShapeExtent, Space,
    Strengthening, UnsatisfiableFacts, Verdict, strengthenings,
};
use thiserror::Error;

/// A fact about sizes that a run checks before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeGuard {
    /// What must hold.
    pub fact: Fact,
    /// The operation that needs it, and where it came from, where known.
    pub origin: Option<Arc<str>>,
}

/// The value of a size in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeValue {
    /// The size as it is written.
    pub size: Extent,
    /// Its value.
    pub value: u64,
    /// The parameter it comes from.
    pub parameter: String,
    /// The axis of the parameter; none for the value of a scalar.
    pub axis: Option<usize>,
}

/// Sizes that do not satisfy a guard.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct GuardError {
    /// The guard.
    pub guard: SizeGuard,
    /// The sizes it speaks of.
    pub sizes: Vec<SizeValue>,
    /// Why a side has no value.
    pub undefined: Option<ExtentError>,
}

impl fmt::Display for SizeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SizeValue { size, value, parameter, axis } = self;
        match axis {
            Some(axis) => write!(f, "`{size}` is {value} (axis {axis} of `{parameter}`)"),
            None => write!(f, "`{size}` is {value} (the value of `{parameter}`)"),
        }
    }
}

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sizes do not satisfy `{}`", self.guard.fact)?;
        if let Some(origin) = &self.guard.origin {
            write!(f, ", which {origin} needs")?;
        }
        for (i, size) in self.sizes.iter().enumerate() {
            write!(f, "{} {size}", if i == 0 { ":" } else { "," })?;
        }
        match &self.undefined {
            Some(error) => write!(f, "; {error}"),
            None => Ok(()),
        }
    }
}

/// The values of sizes in a call of a function.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function.
    pub function: &'a Function,
    /// Its arguments.
    pub arguments: &'a [Buffer],
}

impl ExtentEnv for Call<'_> {
    fn input_axis(&self, input: usize, axis: usize) -> Option<u64> {
        crate::bind::Arguments(self.arguments).input_axis(input, axis)
    }

    fn runtime_scalar(&self, input: usize, semantics: ScalarSemantics) -> Option<u64> {
        crate::bind::Arguments(self.arguments).runtime_scalar(input, semantics)
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        let (input, axis) = self.function.declaration(name)?;
        self.input_axis(input, axis)
    }
}

impl Call<'_> {
    /// Checks the guards of the function, but for those on sizes that the data of a run gives.
    pub(crate) fn check(&self) -> Result<(), Box<GuardError>> {
        let early = |guard: &&SizeGuard| !self.is_late(guard);
        self.function.guards.iter().filter(early).try_for_each(|guard| self.check_one(guard, self))
    }

    /// Checks the guards on sizes that the data of a run gives, where it has given them.
    pub(crate) fn check_computed(&self, env: &dyn ExtentEnv) -> Result<(), Box<GuardError>> {
        let late = |guard: &&SizeGuard| self.is_late(guard);
        self.function.guards.iter().filter(late).try_for_each(|guard| self.check_one(guard, env))
    }

    fn is_late(&self, guard: &SizeGuard) -> bool {
        [&guard.fact.left, &guard.fact.right].into_iter().any(|side| self.function.mentions_computed(side))
    }

    /// Checks one guard, of the function or not, by the sizes of the arguments.
    ///
    /// # Errors
    /// It does not hold, or speaks of sizes that the arguments do not give.
    pub fn holds(&self, guard: &SizeGuard) -> Result<(), Box<GuardError>> {
        self.check_one(guard, self)
    }

    fn check_one(&self, guard: &SizeGuard, env: &dyn ExtentEnv) -> Result<(), Box<GuardError>> {
        let Fact { left, relation, right } = &guard.fact;
        let sides = left.eval_integer(env).and_then(|l| Ok((l, right.eval_integer(env)?)));
        let holds = sides.clone().map(|(left, right)| match relation {
            Relation::Eq => left == right,
            Relation::Ne => left != right,
            Relation::Le => left <= right,
            Relation::Lt => left < right,
            Relation::Divides => right.checked_rem(left).map_or(right == 0, |rest| rest == 0),
        });
        if holds == Ok(true) {
            return Ok(());
        }
        let mut atoms = BTreeSet::new();
        [left, right].iter().for_each(|side| side.atoms(&mut atoms));
        let sizes = atoms.iter().filter_map(|atom| self.value(atom)).collect();
        Err(Box::new(GuardError { guard: guard.clone(), sizes, undefined: sides.err() }))
    }

    fn value(&self, atom: &Arc<ExtentExpr>) -> Option<SizeValue> {
        let size = Extent::Expr(atom.clone());
        let value = size.eval(self).ok()?;
        let (input, axis) = match &**atom {
            ExtentExpr::InputAxis { input, axis } => (*input, Some(*axis)),
            ExtentExpr::RuntimeScalar { input, .. } => (*input, None),
            ExtentExpr::Symbol(name) => self.function.declaration(name).map(|(i, a)| (i, Some(a)))?,
            _ => return None,
        };
        let parameter = self.function.name_of(*self.function.params.get(input)?).to_string();
        Some(SizeValue { size, value, parameter, axis })
    }
}

impl Function {
    /// The position of the first parameter that declares a size of this name, and the axis of it. A parameter does not
    /// declare a size that the data of a run gives: a cotangent of a truncated result has that size.
    pub fn declaration(&self, name: &str) -> Option<(usize, usize)> {
        let found = self.params.iter().enumerate().find_map(|(input, &param)| {
            let VarInfo { ty, .. } = self.vars.get(param.0 as usize)?;
            let axis = ty.space.extents().iter().position(|extent| match extent {
                Extent::Expr(expr) => matches!(&**expr, ExtentExpr::Symbol(n) if **n == *name),
                Extent::Const(_) => false,
            })?;
            Some((input, axis))
        });
        found.filter(|_| !self.is_computed(name))
    }

    /// What holds of sizes in every run: the guards, and that the axes of the parameters have the sizes that their types
    /// say.
    ///
    /// # Errors
    /// The facts contradict each other: the function cannot be called.
    pub fn facts(&self) -> Result<Facts, UnsatisfiableFacts> {
        let mut facts: Vec<Fact> = self.guards.iter().map(|guard| guard.fact.clone()).collect();
        for (input, &param) in self.params.iter().enumerate() {
            let Some(info) = self.vars.get(param.0 as usize) else { continue };
            for (axis, extent) in info.ty.space.extents().iter().enumerate() {
                let own = Extent::input_axis(input, axis);
                if own != *extent {
                    facts.push(Fact::new(own, Relation::Eq, extent.clone()));
                }
            }
        }
        facts.extend(self.facts_of_truncations());
        Facts::of(facts)
    }

    /// Lets the fields of the function use what its guards and the types of its parameters say. A builder calls this
    /// after it has added parameters and guards, before it adds fields.
    ///
    /// # Errors
    /// As [`Function::facts`].
    pub fn assume(&mut self) -> Result<(), UnsatisfiableFacts> {
        let facts = self.facts()?;
        self.fields.assume(facts);
        Ok(())
    }

    /// As [`Function::assume`], with facts beside; for a builder whose body has not got yet what these come from. Gives all.
    ///
    /// # Errors
    /// As [`Function::facts`].
    pub fn assume_also(&mut self, more: &[Fact]) -> Result<Facts, UnsatisfiableFacts> {
        let mut facts = self.facts()?;
        for fact in more {
            facts = facts.and(fact.clone())?;
        }
        self.fields.assume(facts.clone());
        Ok(facts)
    }

    /// Takes the guards of another function with the same parameters, and what they say of sizes: for a pass that builds a
    /// function anew.
    pub fn inherit(&mut self, from: &Function) {
        self.guards = from.guards.clone();
        self.fields.inherit(&from.fields);
    }

    /// What is guaranteed of the sizes of a variable, axis by axis, for every run of the function: sizes that only the data
    /// of a run gives are bounded by what is truncated (seed 002). Where a front end knows only a bound of a size, it
    /// declares the size and states the bound as a guard.
    pub fn extents(&self, var: crate::Var) -> Vec<ShapeExtent> {
        let known = self.size_guarantees();
        self.ty(var).space.extents().iter().map(|e| known.of(e)).collect()
    }

    /// What is guaranteed of the sizes of the results of a statement, one list a result (seed 002: the output extents of an
    /// executable instruction).
    pub fn output_extents(&self, statement: &Statement) -> Vec<Vec<ShapeExtent>> {
        let known = self.size_guarantees();
        let of = |&var: &crate::Var| self.ty(var).space.extents().iter().map(|e| known.of(e)).collect();
        statement.targets().iter().map(of).collect()
    }
}

impl Function {
    /// What is guaranteed of the sizes that only the data of a run gives.
    pub fn size_guarantees(&self) -> SizeGuarantees {
        SizeGuarantees(self.guarantees(&Facts::default()))
    }

    /// The types of the results of a library operation on variables, by what its fields may assume of sizes.
    ///
    /// # Errors
    /// Operands that it does not take, or that do not certainly fit.
    pub fn result_types_of(
        &self,
        op: &crate::LibOp,
        args: &[crate::Var],
        regions: &[crate::RegionType],
    ) -> Result<Vec<TensorType>, crate::LibOpError> {
        let types = self.types(args);
        match self.fields.facts() {
            None => op.infer(&types, regions),
            Some(facts) => op.infer_given(&canonical(types, facts), regions, facts),
        }
    }
}

/// What is guaranteed of sizes for every run of a function ([`Function::size_guarantees`]).
#[derive(Clone, Debug, Default)]
pub struct SizeGuarantees(BTreeMap<Arc<str>, ShapeExtent>);

impl SizeGuarantees {
    /// What is guaranteed of a size.
    pub fn of(&self, extent: &Extent) -> ShapeExtent {
        guaranteed(extent, &self.0, &Facts::default())
    }
}

/// Types with symbolic sizes in one form, so that sizes that are one by the facts look like one.
pub(crate) fn canonical(types: Vec<TensorType>, facts: &Facts) -> Vec<TensorType> {
    let extent = |e: &Extent| match e {
        Extent::Const(_) => e.clone(),
        Extent::Expr(_) => facts.normal(e).and_then(|n| n.to_extent()).unwrap_or_else(|| e.clone()),
    };
    let space = |s: &Space| Space::new(s.extents().iter().map(extent));
    types.iter().map(|ty| TensorType::new(ty.dtype, space(&ty.space))).collect()
}

/// The guarantees of the sizes of every variable of a function, by name: what a pass must not strengthen.
pub fn metadata(function: &Function) -> BTreeMap<String, Vec<ShapeExtent>> {
    let known = function.size_guarantees();
    let of = |info: &VarInfo| info.ty.space.extents().iter().map(|e| known.of(e)).collect();
    function.vars.iter().map(|info| (info.name.clone(), of(info))).collect()
}

/// What is known of the sizes of a function before a pass (seed 002, "Compiler Pass Contract").
#[derive(Clone, Debug)]
pub struct SizeContract {
    metadata: BTreeMap<String, Vec<ShapeExtent>>,
    facts: Facts,
    guards: Vec<SizeGuard>,
}

impl SizeContract {
    /// What is known of the sizes of a function.
    ///
    /// # Errors
    /// Its guards contradict each other.
    pub fn of(function: &Function) -> Result<SizeContract, UnsatisfiableFacts> {
        let (metadata, facts) = (metadata(function), function.facts()?);
        Ok(SizeContract { metadata, facts, guards: function.guards.clone() })
    }

    /// What the function that a pass made says about sizes without evidence: statements about the variables that both have
    /// which are stronger than before, or other, and guards that are gone. Empty for a pass that keeps the contract.
    pub fn violations(&self, after: &Function) -> Vec<Violation> {
        let mut found: Vec<Violation> = strengthenings(&self.metadata, &metadata(after), &self.facts, &[])
            .into_iter()
            .map(Violation::Strengthening)
            .collect();
        // What held before must still be checked, unless what is checked now implies it.
        match after.facts() {
            Err(_) => found.extend(after.guards.iter().cloned().map(Violation::Contradiction)),
            Ok(now) => {
                let lost = self.guards.iter().filter(|guard| !now.holds(&guard.fact).is_yes());
                found.extend(lost.cloned().map(Violation::LostGuard));
            }
        }
        found
    }
}

/// [`SizeContract::violations`] of a pass that made `after` of `before`.
///
/// # Errors
/// The guards of the function before the pass contradict each other.
pub fn pass_violations(before: &Function, after: &Function) -> Result<Vec<Violation>, UnsatisfiableFacts> {
    Ok(SizeContract::of(before)?.violations(after))
}

/// A breach of the contract of passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A statement about a size without evidence.
    Strengthening(Strengthening),
    /// A guard that a run does not check any more.
    LostGuard(SizeGuard),
    /// A guard among guards that no sizes satisfy.
    Contradiction(SizeGuard),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Strengthening(strengthening) => strengthening.fmt(f),
            Violation::LostGuard(guard) => write!(f, "the guard `{}` is gone", guard.fact),
            Violation::Contradiction(guard) => {
                write!(f, "the guard `{}` stands among guards that no sizes satisfy", guard.fact)
            }
        }
    }
}

/// Checks that two spaces are one, structurally or by the facts.
pub(crate) fn same_space(
    what: &'static str,
    found: &Space,
    expected: &Space,
    facts: Option<&Facts>,
) -> Result<(), TypeError> {
    if found == expected {
        return Ok(());
    }
    let spaces = || (found.clone(), expected.clone());
    match differs(found, expected, facts) {
        None => Ok(()),
        Some(None) => {
            let (found, expected) = spaces();
            Err(TypeError::Spaces { what, found, expected })
        }
        Some(Some(missing)) => {
            let (found, expected) = spaces();
            Err(TypeError::Undecided { what, found, expected, missing })
        }
    }
}

/// Whether two spaces are not proven to be one: with the fact that is missing where they may be, without where they
/// never are.
pub(crate) fn differs(a: &Space, b: &Space, facts: Option<&Facts>) -> Option<Option<Box<Fact>>> {
    if a == b {
        return None;
    }
    let is_symbolic = |s: &Space| s.extents().iter().any(|e| e.as_const().is_none());
    if a.rank() != b.rank() || !is_symbolic(a) && !is_symbolic(b) {
        return Some(None);
    }
    let none = Facts::default();
    let facts = facts.unwrap_or(&none);
    let mut missing = None;
    for (x, y) in a.extents().iter().zip(b.extents()) {
        match facts.same(x, y) {
            Verdict::Yes(()) => {}
            Verdict::No(()) => return Some(None),
            Verdict::Unknown if missing.is_none() => {
                missing = Some(Box::new(facts.residual(&Fact::new(x.clone(), Relation::Eq, y.clone()))));
            }
            Verdict::Unknown => {}
        }
    }
    missing.map(Some)
}
