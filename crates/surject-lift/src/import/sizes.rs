//! What is known of sizes in a module with `?` dimensions (seed 002; reference/extents.md, section 2.4): the values of
//! integers as exact expressions over the sizes of arguments, and the facts that hold of these.
//!
//! Every `?` of an argument is a declared size, or a number where the module is imported for one call. A value that is
//! computed from sizes alone becomes no data: it is its expression ([`Value::Sizes`]), and is written out where it is
//! used as data. What also depends on data keeps an expression beside it, over names for the data (`%7.0`), in which
//! these may cancel: `(start + 4) - start` is 4.

use super::state::{Lifter, Result, Value};
use super::types;
use crate::BY_TYPE;
use crate::error::{LiftError, Place};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use surject_index::{
    Extent, ExtentEnv, ExtentExpr, Fact, Facts, Observed, Relation, ScalarSemantics, Space,
    UnsupportedDynamicShape, Verdict,
};
use surject_ir::{Buffer, Scalar, SizeGuard, TensorType, Var};
use surject_stablehlo as hlo;
use surject_stablehlo::{Attribute, Dim, Op};

/// Vectors of more integers are data.
pub(crate) const MAX_ELEMENTS: u64 = 64;

/// Sizes that are written with so many characters are looked up among those that were met.
const LONG: usize = 24;

/// So many sizes are remembered.
const MOST_SEEN: usize = 64;

/// What an import knows of sizes.
#[derive(Default)]
pub(crate) struct Sizes {
    /// Has the module a `?`? Nothing here is asked for one that has none.
    pub(crate) dynamic: bool,
    /// The shapes of the arguments, where the module is imported for one call.
    pub(crate) given: Option<Vec<TensorType>>,
    /// What holds of the sizes.
    pub(crate) facts: Facts,
    /// Expressions of integers that are data as well.
    pub(crate) beside: HashMap<hlo::ValueId, Arc<[Extent]>>,
    /// The types of results whose declared types have a `?`.
    pub(crate) types: HashMap<hlo::ValueId, TensorType>,
    /// The names of sizes that the module gives.
    names: HashSet<Arc<str>>,
    /// The data that names in expressions stand for.
    pub(crate) data: HashMap<Arc<str>, (Var, usize)>,
    /// What is known of sizes that data gives.
    pub(crate) truncated: Vec<Fact>,
    /// Sizes that were met, in the order in which they were.
    seen: Vec<Extent>,
    /// How many declared sizes have turned out to be others.
    pub(crate) merged: usize,
}

/// The elements of a small integer tensor.
pub(crate) struct Known {
    pub(crate) elements: Arc<[Extent]>,
    /// Are they more than names of data?
    pub(crate) tracked: bool,
}

/// An integer, which may be negative.
pub(crate) fn integer(value: i128) -> Option<Extent> {
    let magnitude = Extent::Const(u64::try_from(value.unsigned_abs()).ok()?);
    Some(if value < 0 { Extent::difference(Extent::Const(0), magnitude) } else { magnitude })
}

/// No size has a value here.
struct Nothing;

impl ExtentEnv for Nothing {
    fn input_axis(&self, _: usize, _: usize) -> Option<u64> {
        None
    }

    fn runtime_scalar(&self, _: usize, _: ScalarSemantics) -> Option<u64> {
        None
    }
}

/// The number that an expression without sizes is.
pub(crate) fn number(extent: &Extent) -> Option<i128> {
    extent.eval_integer(&Nothing).ok()
}

fn atoms(extents: &[Extent]) -> BTreeSet<Arc<ExtentExpr>> {
    let mut all = BTreeSet::new();
    extents.iter().for_each(|e| e.atoms(&mut all));
    all
}

pub(crate) fn is_data(atom: &ExtentExpr) -> bool {
    matches!(atom, ExtentExpr::Symbol(name) if name.starts_with('%'))
}

/// Does an expression depend on data?
pub(crate) fn depends_on_data(extents: &[Extent]) -> bool {
    atoms(extents).iter().any(|a| is_data(a))
}

/// Names for the `?` of the arguments of a function, by parameter and axis: those that JAX gives its dimension variables,
/// else the parameter with the number of the axis.
fn names(module: &hlo::Module, function: &hlo::Function) -> HashMap<(usize, usize), String> {
    let position = |id: &hlo::ValueId| function.body.params.iter().position(|p| p.0 == *id);
    let mut sizes: HashMap<hlo::ValueId, (usize, usize)> = HashMap::new();
    let mut names = HashMap::new();
    let mut taken = HashSet::new();
    for op in &function.body.ops {
        if op.name == "stablehlo.get_dimension_size"
            && let (Some(param), Ok(axis), Some(result)) =
                (op.operands.first().and_then(position), op.int("dimension"), op.results.first())
            && let Ok(axis) = usize::try_from(axis)
        {
            sizes.insert(*result, (param, axis));
        }
        let callee = if op.name == "func.call" { op.callee().ok() } else { None };
        let params = callee.and_then(|name| module.function(name)).map_or(&[][..], |f| &f.params);
        for (operand, param) in op.operands.iter().zip(params) {
            if let (Some(&place), Some(Attribute::String(name))) =
                (sizes.get(operand), param.attributes.get("jax.global_constant"))
            {
                let name = name.to_string();
                if is_name(&name) && taken.insert(name.clone()) {
                    names.entry(place).or_insert(name);
                }
            }
        }
    }
    names
}

/// Integers as a literal, where they are different numbers.
pub(crate) fn literal_of(ty: &TensorType, elements: &[Extent]) -> Option<Buffer> {
    if elements.iter().all(|e| *e == elements[0]) {
        return None;
    }
    let scalar = |e: &Extent| number(e).map(|v| Scalar::from_i128(ty.dtype, v));
    let scalars: Vec<Scalar> = elements.iter().map(scalar).collect::<Option<_>>()?;
    let shape: Vec<usize> = ty.space.sizes()?.iter().map(|&n| n as usize).collect();
    Buffer::from_scalars(ty.dtype, &shape, &scalars)
}

/// Is this a name that the text of sizes can have?
fn is_name(name: &str) -> bool {
    name.parse::<Extent>().is_ok_and(|e| e == Extent::symbol(name))
}

impl Sizes {
    /// Nothing is known yet.
    pub(crate) fn new(module: &hlo::Module) -> Sizes {
        let dynamic = Sizes::are_dynamic(module) || Sizes::are_operands(module);
        Sizes { dynamic, ..Sizes::default() }
    }

    /// Notes what integers are that are data as well.
    pub(crate) fn remember(&mut self, id: hlo::ValueId, elements: Arc<[Extent]>) {
        self.beside.insert(id, elements);
    }

    /// Forgets what is known of a value.
    pub(crate) fn forget(&mut self, id: hlo::ValueId) {
        self.beside.remove(&id);
        self.types.remove(&id);
    }

    /// Lets a parameter be what its argument is.
    pub(crate) fn pass(&mut self, argument: hlo::ValueId, parameter: hlo::ValueId) {
        match self.beside.get(&argument).cloned() {
            Some(elements) => self.remember(parameter, elements),
            None => self.forget(parameter),
        }
    }
}

impl<'m> Lifter<'m> {
    /// The type of a parameter: a `?` is a declared size, or the number that the call gives it.
    pub(crate) fn parameters(&mut self, op: &'m Op, function: &'m hlo::Function) -> Result<Vec<TensorType>> {
        let mut all = Vec::new();
        let names = names(self.module, function);
        let mut taken: HashSet<String> = names.values().cloned().collect();
        self.sizes.names = taken.iter().map(|name| Arc::from(name.as_str())).collect();
        if let Some(given) = &self.sizes.given
            && given.len() != function.body.params.len()
        {
            let detail = format!("{} arguments for {} parameters", given.len(), function.body.params.len());
            return Err(LiftError::invalid(op, detail));
        }
        for (k, (id, ty)) in function.body.params.iter().enumerate() {
            let Some(declared) = ty.as_tensor().filter(|t| t.shape.contains(&Dim::Dynamic)) else {
                all.push(types::tensor(op, ty)?);
                continue;
            };
            let dtype = types::dynamic(op, declared)?;
            if let Some(given) = self.sizes.given.as_ref().and_then(|g| g.get(k))
                && given.dtype != dtype
            {
                return Err(LiftError::invalid(op, format!("argument {k} is {given} for {declared}")));
            }
            let mut extents = Vec::new();
            for (axis, dim) in declared.shape.iter().enumerate() {
                let given = self.sizes.given.as_ref().and_then(|g| g.get(k)).map(|t| t.space.extents());
                extents.push(match (given, dim) {
                    (Some(given), _) => match given.get(axis) {
                        Some(extent) if given.len() == declared.rank() => extent.clone(),
                        _ => {
                            let detail = format!("argument {k} of rank {} for {declared}", given.len());
                            return Err(LiftError::invalid(op, detail));
                        }
                    },
                    (None, Dim::Static(n)) => Extent::Const(n.unsigned_abs()),
                    (None, Dim::Dynamic) => {
                        let mut name = names.get(&(k, axis)).cloned().unwrap_or_else(|| {
                            let own = format!("{}_{axis}", self.module.name_of(*id));
                            if is_name(&own) { own } else { format!("x{k}_{axis}") }
                        });
                        if !names.contains_key(&(k, axis)) {
                            while !taken.insert(name.clone()) {
                                name.push('_');
                            }
                        }
                        Extent::symbol(&name)
                    }
                });
            }
            let known = self.function.guards.len();
            let space = self.claim(op, &format!("argument {k}"), declared, extents)?;
            for guard in self.function.guards.iter_mut().skip(known) {
                guard.origin = Some(format!("{BY_TYPE}`{}`", self.module.name_of(*id)).into());
            }
            all.push(TensorType::new(dtype, space));
        }
        Ok(all)
    }

    /// A declared shape is a claim about what is inferred: what it says beyond that is checked by a run. Gives the shape.
    pub(crate) fn claim(
        &mut self,
        op: &Op,
        what: &str,
        declared: &hlo::TensorType,
        found: Vec<Extent>,
    ) -> Result<Space> {
        if declared.rank() != found.len() {
            let detail = format!("{what} has type {declared}, but rank {}", found.len());
            return Err(LiftError::invalid(op, detail));
        }
        let bounds = declared.bounds();
        let mut extents = Vec::new();
        for (axis, (extent, dim)) in found.into_iter().zip(&declared.shape).enumerate() {
            let field = format!("dimension {axis} of {what}");
            extents.push(match dim {
                Dim::Static(n) => {
                    let wanted = Extent::Const(n.unsigned_abs());
                    self.require_same(op, &field, &extent, &wanted)?;
                    wanted
                }
                Dim::Dynamic => {
                    if let Some(bound) = bounds.get(axis).copied().flatten() {
                        let bound = Extent::Const(bound.unsigned_abs());
                        self.require(op, &field, Fact::new(extent.clone(), Relation::Le, bound))?;
                    }
                    self.known_form(extent)
                }
            });
        }
        Ok(Space::new(extents))
    }

    /// A size as it was written before, where it is proven to be one that was met and that is shorter: shape computations
    /// say one size in many ways, and spaces are compared by what is written.
    fn known_form(&mut self, extent: Extent) -> Extent {
        if extent.as_const().is_some() || self.sizes.seen.contains(&extent) {
            return extent;
        }
        let length = extent.to_string().len();
        let is_it =
            |seen: &&Extent| seen.to_string().len() < length && self.sizes.facts.same(seen, &extent).is_yes();
        if length >= LONG
            && let Some(seen) = self.sizes.seen.iter().find(is_it)
        {
            return seen.clone();
        }
        if self.sizes.seen.len() < MOST_SEEN {
            self.sizes.seen.push(extent.clone());
        }
        extent
    }

    /// Are two types certainly one?
    pub(crate) fn same_type(&self, a: &TensorType, b: &TensorType) -> bool {
        let sizes = || a.space.extents().iter().zip(b.space.extents());
        a == b
            || a.dtype == b.dtype
                && a.space.rank() == b.space.rank()
                && sizes().all(|(x, y)| self.same(x, y).is_yes())
    }

    /// Are two sizes one?
    pub(crate) fn same(&self, a: &Extent, b: &Extent) -> Verdict {
        match (a, b) {
            _ if a == b => Verdict::Yes(()),
            (Extent::Const(_), Extent::Const(_)) => Verdict::No(()),
            _ => self.sizes.facts.same(a, b),
        }
    }

    pub(crate) fn require_same(&mut self, op: &Op, field: &str, a: &Extent, b: &Extent) -> Result<()> {
        if a == b {
            return Ok(());
        }
        self.require(op, field, Fact::new(a.clone(), Relation::Eq, b.clone()))
    }

    /// What an operation needs of sizes: proven, or checked by every run from here on.
    pub(crate) fn require(&mut self, op: &Op, field: &str, fact: Fact) -> Result<()> {
        match self.sizes.facts.holds(&fact) {
            Verdict::Yes(()) => Ok(()),
            Verdict::No(()) => Err(LiftError::Sizes {
                op: op.name.to_string(),
                field: field.to_string(),
                fact: Box::new(fact),
                message: None,
                place: Place::of(op),
            }),
            Verdict::Unknown => {
                let sides = [fact.left.clone(), fact.right.clone()];
                if depends_on_data(&sides) {
                    return Err(self.undecided(op, field, &sides[0], None));
                }
                let fact = self.sizes.facts.residual(&fact);
                if self.in_region() {
                    // A loop or branch may not run at all; its needs are not those of every run.
                    return Err(self.undecided(op, field, &sides[0], Some(fact)));
                }
                if fact.relation == Relation::Eq && self.unify(&fact) {
                    return self.learn(op);
                }
                let place = self.origin(op).unwrap_or_default();
                let name = op.name.strip_prefix("stablehlo.").unwrap_or(&op.name);
                let origin = Some(Arc::from(format!("`{name}` at {place}")));
                self.function.guards.push(SizeGuard { fact, origin });
                self.learn(op)
            }
        }
    }

    /// Lets a declared size be what it equals, as long as nothing but the parameters has it: their types then say so, and
    /// no guard is needed. Whether that was possible.
    fn unify(&mut self, fact: &Fact) -> bool {
        if !self.statements_are_none() || !self.function.fields.is_empty() {
            return false;
        }
        let declared = |name: &str| self.function.declaration(name);
        let candidate = |side: &Extent, other: &Extent| {
            let Extent::Expr(expr) = side else { return None };
            let ExtentExpr::Symbol(name) = &**expr else { return None };
            let place = declared(name)?;
            let inside = atoms(std::slice::from_ref(other));
            (!inside.contains(expr))
                .then(|| (self.sizes.names.contains(name), place, name.clone(), other.clone()))
        };
        let sides = [candidate(&fact.left, &fact.right), candidate(&fact.right, &fact.left)];
        // Names that the module gives stay, and else the one that is declared first.
        let chosen = sides.into_iter().flatten().max_by_key(|(named, place, ..)| (!named, *place));
        let Some((_, _, name, value)) = chosen else { return false };
        let by = |atom: &Arc<ExtentExpr>| match &**atom {
            ExtentExpr::Symbol(n) if *n == name => Some(value.clone()),
            _ => None,
        };
        let replaced = |extent: &Extent| extent.replaced(&by);
        let of_fact = |fact: &Fact| Fact::new(replaced(&fact.left), fact.relation, replaced(&fact.right));
        for var in &mut self.function.vars {
            var.ty.space = Space::new(var.ty.space.extents().iter().map(replaced));
        }
        self.function.guards.iter_mut().for_each(|g| g.fact = of_fact(&g.fact));
        for value in self.values_mut() {
            match value {
                Value::Sizes { elements, .. } => *elements = elements.iter().map(replaced).collect(),
                Value::Condition(facts) => *facts = facts.iter().map(of_fact).collect(),
                Value::Splat(space, _) => *space = Space::new(space.extents().iter().map(replaced)),
                Value::Var(_) | Value::Tuple(_) | Value::Token => {}
            }
        }
        for elements in self.sizes.beside.values_mut() {
            *elements = elements.iter().map(replaced).collect();
        }
        for ty in self.sizes.types.values_mut() {
            ty.space = Space::new(ty.space.extents().iter().map(replaced));
        }
        self.sizes.seen = self.sizes.seen.iter().map(replaced).collect();
        self.sizes.merged += 1;
        true
    }

    /// Takes back what an operation has computed and required, where nothing was computed before it; there were so many
    /// variables and guards then.
    pub(crate) fn forget_computations(&mut self, op: &Op, known: (usize, usize)) -> Result<()> {
        self.function.fields = surject_ir::Fields::default();
        self.function.vars.truncate(known.0);
        self.function.guards.truncate(known.1);
        self.take_back(0);
        self.learn(op)
    }

    /// Takes what the guards say as facts.
    pub(crate) fn learn(&mut self, op: &Op) -> Result<()> {
        let facts = self.function.assume_also(&self.sizes.truncated);
        self.sizes.facts = facts.map_err(|e| LiftError::invalid(op, e.to_string()))?;
        Ok(())
    }

    /// The error for a size that is not known well enough.
    pub(crate) fn undecided(&self, op: &Op, field: &str, found: &Extent, fact: Option<Fact>) -> LiftError {
        let data = depends_on_data(std::slice::from_ref(found));
        let observed = if data { Observed::Unknown } else { Observed::Symbolic(found.clone()) };
        let needed = match &fact {
            Some(_) => "a decision",
            None if data => "the exact size",
            None => "a constant size",
        };
        let shape = UnsupportedDynamicShape {
            primitive: op.name.to_string(),
            field: field.to_string(),
            needed,
            observed,
        };
        LiftError::Dynamic { shape: Box::new(shape), fact: fact.map(Box::new), place: Place::of(op) }
    }

    /// A size as a number.
    pub(crate) fn constant_size(&self, op: &Op, field: &str, extent: &Extent) -> Result<u64> {
        extent.as_const().ok_or_else(|| self.undecided(op, field, extent, None))
    }

    /// An expression in its normal form.
    pub(crate) fn tidy(&self, extent: Extent) -> Extent {
        if extent.as_const().is_some() {
            return extent;
        }
        if let Some(value) = number(&extent).and_then(integer) {
            return value;
        }
        let normal = self.sizes.facts.normal(&extent).and_then(|n| n.to_extent());
        let length = |e: &Extent| e.to_string().len();
        normal.filter(|n| length(n) <= length(&extent)).unwrap_or(extent)
    }

    pub(crate) fn plus(&self, a: &Extent, b: &Extent) -> Extent {
        self.tidy(Extent::sum(a.clone(), b.clone()))
    }

    pub(crate) fn minus(&self, a: &Extent, b: &Extent) -> Extent {
        self.tidy(Extent::difference(a.clone(), b.clone()))
    }

    pub(crate) fn times(&self, a: &Extent, b: &Extent) -> Extent {
        self.tidy(Extent::product(a.clone(), b.clone()))
    }

    /// The larger one, where it is not known which that is.
    pub(crate) fn larger(&self, a: &Extent, b: &Extent) -> Extent {
        if self.sizes.facts.compare(a, Relation::Le, b).is_yes() {
            return b.clone();
        }
        if self.sizes.facts.compare(b, Relation::Le, a).is_yes() {
            return a.clone();
        }
        Extent::max(a.clone(), b.clone())
    }

    pub(crate) fn smaller(&self, a: &Extent, b: &Extent) -> Extent {
        if self.sizes.facts.compare(a, Relation::Le, b).is_yes() {
            return a.clone();
        }
        if self.sizes.facts.compare(b, Relation::Le, a).is_yes() {
            return b.clone();
        }
        Extent::min(a.clone(), b.clone())
    }

    /// `⌊a / b⌋` for a positive constant.
    pub(crate) fn floor(&self, a: &Extent, b: i64) -> Extent {
        self.tidy(Extent::floor_div(a.clone(), Extent::Const(b.max(1).unsigned_abs())))
    }

    /// The size of an axis whose elements stand `step` apart.
    pub(crate) fn spread(&self, extent: &Extent, step: i64) -> Extent {
        if step <= 1 {
            return extent.clone();
        }
        let one = Extent::Const(1);
        let gaps = self.times(&self.minus(extent, &one), &Extent::Const(step.unsigned_abs()));
        self.larger(&self.plus(&gaps, &one), &Extent::Const(0))
    }

    /// The number of windows of this reach that lie `stride` apart in an axis of this padded size.
    pub(crate) fn windows(&self, padded: &Extent, reach: &Extent, stride: i64) -> Extent {
        let count = self.plus(&self.floor(&self.minus(padded, reach), stride), &Extent::Const(1));
        self.larger(&count, &Extent::Const(0))
    }

    /// A size that nothing declares yet.
    pub(crate) fn new_size(&mut self, base: &str) -> Extent {
        let taken = |name: &Extent| {
            let text = name.to_string();
            self.function.declaration(&text).is_some() || self.sizes.truncated.iter().any(|f| f.left == *name)
        };
        let mut number = 0;
        loop {
            let name = Extent::symbol(&format!("{base}{number}"));
            if !taken(&name) {
                return name;
            }
            number += 1;
        }
    }

    /// A name for an integer that is data.
    pub(crate) fn named(&mut self, var: Var, element: usize) -> Extent {
        let name: Arc<str> = Arc::from(format!("%{}.{element}", var.0));
        self.sizes.data.insert(name.clone(), (var, element));
        Extent::Expr(Arc::new(ExtentExpr::Symbol(name)))
    }

    /// A size that is the value of a scalar parameter, or the smaller or larger one of it and others: the rule by which the
    /// value becomes a size (not below 0) changes none of these.
    pub(crate) fn by_scalar(&self, extent: &Extent) -> Option<Extent> {
        let Extent::Expr(expr) = extent else { return Some(extent.clone()) };
        match &**expr {
            ExtentExpr::Min(a, b) => Some(Extent::min(self.by_scalar(a)?, self.by_scalar(b)?)),
            ExtentExpr::Max(a, b) => Some(Extent::max(self.by_scalar(a)?, self.by_scalar(b)?)),
            ExtentExpr::Symbol(name) if is_data(expr) => {
                let (var, _) = *self.sizes.data.get(name)?;
                let scalar = self.function.ty(var).space.rank() == 0 && self.sizes.given.is_none();
                let input = self.function.params.iter().position(|&p| p == var).filter(|_| scalar)?;
                let semantics = ScalarSemantics::IntegerSize;
                Some(Extent::Expr(Arc::new(ExtentExpr::RuntimeScalar { input, semantics })))
            }
            _ => (!depends_on_data(std::slice::from_ref(extent))).then(|| extent.clone()),
        }
    }
}
