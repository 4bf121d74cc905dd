//! What is known of sizes in a module with `?` dimensions (seed 002; reference/extents.md, section 2.4): the values of
//! integers as exact expressions over the sizes of arguments, and the facts that hold of these.
//!
//! Every `?` of an argument is a declared size, or a number where the module is imported for one call. A value that is
//! computed from sizes alone becomes no data: it is its expression ([`Value::Sizes`]), and is written out where it is
//! used as data. What also depends on data keeps an expression beside it, over names for the data (`%7.0`), in which
//! these may cancel: `(start + 4) - start` is 4.

use super::cx::Cx;
use super::state::{Lifter, Result, Value};
use super::types;
use crate::error::{LiftError, Place};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use surject_index::{
    Affine, Extent, ExtentEnv, ExtentExpr, Fact, Facts, IndexMap, Observed, Relation, ScalarSemantics, Space,
    UnsupportedDynamicShape, Verdict,
};
use surject_ir::{BinaryOp, Buffer, DType, FieldId, Function, Scalar, SizeGuard, TensorType, TypeError, Var};
use surject_stablehlo as hlo;
use surject_stablehlo::{Attribute, Dim, Op};

/// Vectors of more integers are data.
const MAX_ELEMENTS: u64 = 64;

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
    beside: HashMap<hlo::ValueId, Arc<[Extent]>>,
    /// The types of results whose declared types have a `?`.
    pub(crate) types: HashMap<hlo::ValueId, TensorType>,
    /// The names of sizes that the module gives.
    names: HashSet<Arc<str>>,
    /// The data that names in expressions stand for.
    data: HashMap<Arc<str>, (Var, usize)>,
}

/// The elements of a small integer tensor.
pub(crate) struct Known {
    pub(crate) elements: Arc<[Extent]>,
    /// Are they more than names of data?
    tracked: bool,
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

fn is_data(atom: &ExtentExpr) -> bool {
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
        Sizes { dynamic: Sizes::are_dynamic(module), ..Sizes::default() }
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
            let space = self.claim(op, &format!("argument {k}"), declared, extents)?;
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
                    extent
                }
            });
        }
        Ok(Space::new(extents))
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
        true
    }

    /// Takes what the guards say as facts.
    fn learn(&mut self, op: &Op) -> Result<()> {
        let facts = self.function.facts().and_then(|facts| {
            self.function.assume()?;
            Ok(facts)
        });
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

    /// A name for an integer that is data.
    fn named(&mut self, var: Var, element: usize) -> Extent {
        let name: Arc<str> = Arc::from(format!("%{}.{element}", var.0));
        self.sizes.data.insert(name.clone(), (var, element));
        Extent::Expr(Arc::new(ExtentExpr::Symbol(name)))
    }

    /// A size that is the value of a scalar parameter, or the smaller or larger one of it and others: the rule by which the
    /// value becomes a size (not below 0) changes none of these.
    fn by_scalar(&self, extent: &Extent) -> Option<Extent> {
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

    /// The value of an expression as an `i64` of rank 0.
    pub(crate) fn size_field(&mut self, op: &Op, extent: &Extent) -> Result<FieldId> {
        let mut function = std::mem::take(&mut self.function);
        let data = &self.sizes.data;
        let mut atom = |function: &mut Function, atom: &ExtentExpr| match atom {
            ExtentExpr::Symbol(name) if is_data(atom) => {
                let &(var, k) =
                    data.get(name).ok_or_else(|| LiftError::invalid(op, "a size without a value"))?;
                let field = element(function, op, var, k)?;
                Ok(Some(function.fields.convert(DType::I64, field)))
            }
            _ => Ok(None),
        };
        let field = function.size_field(extent, &mut atom);
        self.function = function;
        field.map_err(|error| match error {
            SizeError::Lift(error) => *error,
            SizeError::Type(error) => LiftError::unsupported(op, error.to_string()),
        })
    }

    /// Integers that are known as expressions, as data.
    pub(crate) fn sizes_field(&mut self, op: &Op, ty: &TensorType, elements: &[Extent]) -> Result<FieldId> {
        let mut whole: Option<FieldId> = None;
        for (k, extent) in elements.iter().enumerate() {
            let field = match number(extent) {
                Some(value) => {
                    self.function.fields.constant(&Space::scalar(), Scalar::from_i128(ty.dtype, value))
                }
                None => {
                    let field = self.size_field(op, extent)?;
                    self.function.fields.convert(ty.dtype, field)
                }
            };
            let built = self.placed(ty, k, field, whole);
            whole = Some(built.map_err(|e| LiftError::unsupported(op, e.to_string()))?);
        }
        Ok(whole.unwrap_or_else(|| self.function.fields.constant(&ty.space, Scalar::zero(ty.dtype))))
    }

    /// `field` at position `k`, `rest` elsewhere.
    fn placed(
        &mut self,
        ty: &TensorType,
        k: usize,
        field: FieldId,
        rest: Option<FieldId>,
    ) -> std::result::Result<FieldId, surject_ir::TypeError> {
        if ty.space.rank() == 0 {
            return Ok(field);
        }
        let fields = &mut self.function.fields;
        let everywhere = match fields[field].kind {
            surject_ir::FieldKind::Const(value) => fields.constant(&ty.space, value),
            _ => fields.read(IndexMap::projection(&ty.space, &[]), field)?,
        };
        let Some(rest) = rest else { return Ok(everywhere) };
        let mut index = fields.index(&ty.space, 0, DType::I64)?;
        if let Some(&[_, columns]) = ty.space.sizes().as_deref() {
            let (columns, behind) = (
                fields.constant(&ty.space, Scalar::from_i128(DType::I64, columns.into())),
                fields.index(&ty.space, 1, DType::I64)?,
            );
            let row = fields.binary(BinaryOp::Mul, index, columns)?;
            index = fields.binary(BinaryOp::Add, row, behind)?;
        }
        let here = fields.constant(&ty.space, Scalar::from_i128(DType::I64, k as i128));
        let here = fields.binary(BinaryOp::Eq, index, here)?;
        fields.select(here, everywhere, rest)
    }

    /// A statement about sizes as an `i1` of rank 0.
    pub(crate) fn condition_field(&mut self, op: &Op, facts: &[Fact]) -> Result<FieldId> {
        let unsupported = |e: surject_ir::TypeError| LiftError::unsupported(op, e.to_string());
        let mut all = self.function.fields.constant(&Space::scalar(), Scalar::bool(true));
        for (k, fact) in facts.iter().enumerate() {
            let field = match self.sizes.facts.holds(fact) {
                Verdict::Yes(()) => continue,
                Verdict::No(()) => self.function.fields.constant(&Space::scalar(), Scalar::bool(false)),
                Verdict::Unknown => {
                    let (x, y) = (self.size_field(op, &fact.left)?, self.size_field(op, &fact.right)?);
                    let operator = match fact.relation {
                        Relation::Eq => BinaryOp::Eq,
                        Relation::Ne => BinaryOp::Ne,
                        Relation::Le => BinaryOp::Le,
                        Relation::Lt => BinaryOp::Lt,
                        Relation::Divides => {
                            let rest = self.function.fields.binary(BinaryOp::Rem, y, x);
                            let zero = Scalar::from_i128(DType::I64, 0);
                            let zero = self.function.fields.constant(&Space::scalar(), zero);
                            let rest = rest.map_err(unsupported)?;
                            let field = self.function.fields.binary(BinaryOp::Eq, rest, zero);
                            all = match k {
                                0 => field.map_err(unsupported)?,
                                _ => {
                                    let field = field.map_err(unsupported)?;
                                    let both = self.function.fields.binary(BinaryOp::And, all, field);
                                    both.map_err(unsupported)?
                                }
                            };
                            continue;
                        }
                    };
                    self.function.fields.binary(operator, x, y).map_err(unsupported)?
                }
            };
            all = match k {
                0 => field,
                _ => self.function.fields.binary(BinaryOp::And, all, field).map_err(unsupported)?,
            };
        }
        Ok(all)
    }
}

/// Why a size has no value as data.
enum SizeError {
    Lift(Box<LiftError>),
    Type(TypeError),
}

impl From<TypeError> for SizeError {
    fn from(error: TypeError) -> SizeError {
        SizeError::Type(error)
    }
}

impl From<LiftError> for SizeError {
    fn from(error: LiftError) -> SizeError {
        SizeError::Lift(Box::new(error))
    }
}

/// One element of a vector (or of a scalar), of rank 0.
fn element(function: &mut Function, op: &Op, var: Var, k: usize) -> Result<FieldId> {
    let of = function.tensor(var);
    let own = function.ty(var).space.clone();
    if own.rank() == 0 {
        return Ok(of);
    }
    let mut rest = k as i64;
    let mut at = Vec::new();
    let Some(sizes) = own.sizes() else {
        return Err(LiftError::invalid(op, "a symbolic vector of sizes"));
    };
    for &size in sizes.iter().rev() {
        at.insert(0, Affine::fixed(0, rest % size.max(1)));
        rest /= size.max(1);
    }
    let map = IndexMap::total(Space::scalar(), own, at);
    let map = map.map_err(|e| LiftError::invalid(op, e.to_string()))?;
    function.fields.read(map, of).map_err(|e| LiftError::invalid(op, e.to_string()))
}

impl Cx<'_, '_> {
    /// The elements of a small integer operand, as expressions over sizes.
    pub(crate) fn known(&mut self, i: usize) -> Result<Option<Known>> {
        let value = self.value(i)?;
        let tracked = |elements: Vec<Extent>| Ok(Some(Known { elements: elements.into(), tracked: true }));
        match &value {
            Value::Sizes { elements, .. } => {
                return Ok(Some(Known { elements: elements.clone(), tracked: true }));
            }
            Value::Splat(space, scalar) if space.rank() <= 2 && is_integer(scalar.dtype()) => {
                let count = space.points().filter(|&n| n <= MAX_ELEMENTS);
                let Some((count, value)) = count.zip(scalar.as_i128().and_then(integer)) else {
                    return Ok(None);
                };
                return tracked(vec![value; count as usize]);
            }
            Value::Var(_) => {}
            _ => return Ok(None),
        }
        if let Some(elements) = self.lift.sizes.beside.get(&self.op.operands[i]) {
            return Ok(Some(Known { elements: elements.clone(), tracked: true }));
        }
        let Value::Var(var) = value else { return Ok(None) };
        let ty = self.lift.function.ty(var).clone();
        let count = ty.space.points().filter(|&n| n <= MAX_ELEMENTS && ty.space.rank() <= 2);
        let Some(count) = count.filter(|_| is_integer(ty.dtype)) else { return Ok(None) };
        let elements: Vec<Extent> = (0..count as usize).map(|k| self.lift.named(var, k)).collect();
        Ok(Some(Known { elements: elements.into(), tracked: false }))
    }

    /// What a condition says of sizes, where it is one of sizes.
    pub(crate) fn condition(&self, i: usize) -> Result<Option<Arc<[Fact]>>> {
        Ok(match self.value(i)? {
            Value::Condition(facts) => Some(facts),
            Value::Splat(space, scalar) if space.rank() == 0 && scalar.dtype() == DType::I1 => {
                Some(if scalar == Scalar::bool(true) { Arc::from([]) } else { Arc::from([never()]) })
            }
            _ => None,
        })
    }

    /// Sizes that an operand gives, exact: each is at least 0, which a run checks where it is not certain.
    pub(crate) fn sizes_of(&mut self, i: usize, field: &str) -> Result<Vec<Extent>> {
        let mut sizes = self.integers_of(i, field)?;
        for (k, size) in sizes.iter_mut().enumerate() {
            let field = format!("{field}[{k}]");
            match self.lift.by_scalar(size) {
                Some(exact) => *size = exact,
                None => return Err(self.lift.undecided(self.op, &field, size, None)),
            }
            if size.as_const().is_none() {
                let fact = Fact::new(Extent::Const(0), Relation::Le, size.clone());
                self.lift.require(self.op, &field, fact)?;
            }
        }
        Ok(sizes)
    }

    /// Integers that an operand gives, as expressions.
    pub(crate) fn integers_of(&mut self, i: usize, field: &str) -> Result<Vec<Extent>> {
        match self.known(i)? {
            Some(known) => Ok(known.elements.to_vec()),
            None => {
                let shape = UnsupportedDynamicShape {
                    primitive: self.op.name.to_string(),
                    field: field.to_string(),
                    needed: "the exact size",
                    observed: Observed::Unknown,
                };
                let place = Place::of(self.op);
                Err(LiftError::Dynamic { shape: Box::new(shape), fact: None, place })
            }
        }
    }

    /// Integers that an operand gives, which must be numbers.
    pub(crate) fn numbers_of(&mut self, i: usize, field: &str) -> Result<Vec<i64>> {
        let all = self.integers_of(i, field)?;
        let numbers = all.iter().enumerate().map(|(k, e)| {
            let value = number(e).and_then(|v| i64::try_from(v).ok());
            value.ok_or_else(|| self.lift.undecided(self.op, &format!("{field}[{k}]"), e, None))
        });
        numbers.collect()
    }
}

fn is_integer(dtype: DType) -> bool {
    dtype.is_int() && !dtype.is_bool()
}

/// Lifts an operation that computes integers from sizes alone. `false` if it is to be lifted as one on data.
pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<bool> {
    if cx.lift.mapped.is_some() || cx.op.results.len() != 1 {
        return Ok(false);
    }
    let Some(name) = cx.op.name.strip_prefix("stablehlo.") else { return Ok(false) };
    let declared = cx.lift.module.tensor(cx.op.results[0]);
    let Some(ty) = declared.filter(|t| t.rank() <= 2 && t.static_shape().is_some()) else {
        return Ok(false);
    };
    let Some(dtype) = types::dtype(&ty.element) else { return Ok(false) };
    if !is_integer(dtype) && dtype != DType::I1 {
        return Ok(false);
    }
    let ty = cx.result_type(0)?;
    let Some(count) = ty.space.points().filter(|&n| n <= MAX_ELEMENTS) else { return Ok(false) };
    if dtype == DType::I1 {
        return condition(cx, name, &ty);
    }
    let found = match name {
        "get_dimension_size" => {
            let own = cx.operand_type(0)?.space;
            let axis = cx.attr(cx.op.int("dimension"))?;
            let axis = types::axis(cx.op, axis, own.rank(), "dimension")?;
            Some((vec![own.extent(axis).clone()], true))
        }
        "constant" => literal(cx, &ty)?.map(|elements| (elements, true)),
        _ => computed(cx, name, count as usize)?,
    };
    let Some((elements, tracked)) = found else { return Ok(false) };
    let elements: Vec<Extent> = elements.into_iter().map(|e| cx.lift.tidy(e)).collect();
    // What does not fit its type is data, which wraps.
    let range = integer_range(dtype);
    let fits = |e: &Extent| number(e).is_none_or(|v| range.is_some_and(|(lo, hi)| lo <= v && v <= hi));
    if elements.len() as u64 != count || !elements.iter().all(fits) || !tracked {
        return Ok(false);
    }
    let elements: Arc<[Extent]> = elements.into();
    if depends_on_data(&elements) {
        cx.lift.sizes.beside.insert(cx.op.results[0], elements);
        return Ok(false);
    }
    if elements.is_empty() {
        cx.bind(0, Value::Splat(ty.space, Scalar::zero(dtype)))?;
        return Ok(true);
    }
    cx.bind(0, Value::Sizes { dtype, space: ty.space, elements })?;
    Ok(true)
}

/// The least and the largest number of a type.
fn integer_range(dtype: DType) -> Option<(i128, i128)> {
    let bits = Some(dtype.bits()).filter(|&b| (1..=64).contains(&b))?;
    let half = 1i128 << (bits - 1);
    Some(if dtype.is_signed_int() { (-half, half - 1) } else { (0, 2 * half - 1) })
}

fn literal(cx: &Cx<'_, '_>, ty: &TensorType) -> Result<Option<Vec<Extent>>> {
    let value = cx.attr(cx.op.dense("value"))?;
    Ok(match types::literal(cx.op, value, ty)? {
        // Equal elements are a constant wherever they are used.
        types::Literal::Splat(_) => None,
        types::Literal::Dense(buffer) => {
            (0..buffer.len()).map(|k| buffer.get(k).as_i128().and_then(integer)).collect()
        }
    })
}

/// Integers that are computed from others, and whether that is known rather than only named.
fn computed(cx: &mut Cx<'_, '_>, name: &str, count: usize) -> Result<Option<(Vec<Extent>, bool)>> {
    const MOVES: [&str; 5] = ["reshape", "concatenate", "convert", "broadcast_in_dim", "slice"];
    const ARITHMETIC: [&str; 10] = [
        "add",
        "subtract",
        "multiply",
        "divide",
        "remainder",
        "maximum",
        "minimum",
        "negate",
        "clamp",
        "sign",
    ];
    let moves = MOVES.contains(&name);
    if name == "select" {
        return chosen(cx);
    }
    if !moves && !ARITHMETIC.contains(&name) {
        return Ok(None);
    }
    let mut operands = Vec::new();
    for i in 0..cx.op.operands.len() {
        let Some(known) = cx.known(i)? else { return Ok(None) };
        operands.push(known);
    }
    let Some(first) = operands.first() else { return Ok(None) };
    let tracked = moves || operands.iter().any(|k| k.tracked);
    let elements = match name {
        "reshape" | "convert" => first.elements.to_vec(),
        "broadcast_in_dim" if first.elements.len() == 1 => vec![first.elements[0].clone(); count],
        // Which axis the elements lie along matters for matrices alone.
        "broadcast_in_dim" if first.elements.len() == count => first.elements.to_vec(),
        "broadcast_in_dim" => return Ok(None),
        "concatenate" if cx.op.int("dimension").ok() != Some(0) => return Ok(None),
        "slice" if cx.operand_type(0)?.space.rank() != 1 => return Ok(None),
        "concatenate" => operands.iter().flat_map(|k| k.elements.iter().cloned()).collect(),
        "slice" => {
            let (starts, strides) = (cx.ints("start_indices", 1)?, cx.ints("strides", 1)?);
            let at = |k: usize| starts[0].checked_add(strides[0].checked_mul(k as i64)?);
            let element = |k| at(k).and_then(|p| first.elements.get(usize::try_from(p).ok()?).cloned());
            match (0..count).map(element).collect() {
                Some(elements) => elements,
                None => return Ok(None),
            }
        }
        _ => {
            let one = |k: usize| {
                let operand = |i: usize| {
                    let elements = &operands.get(i)?.elements;
                    elements.get(if elements.len() == 1 { 0 } else { k })
                };
                arithmetic(cx.lift, name, operand(0)?, operand(1), operand(2))
            };
            match (0..count).map(one).collect() {
                Some(elements) => elements,
                None => return Ok(None),
            }
        }
    };
    Ok(Some((elements, tracked)))
}

/// `select` with a condition that is decided.
fn chosen(cx: &mut Cx<'_, '_>) -> Result<Option<(Vec<Extent>, bool)>> {
    let Some(facts) = cx.condition(0)? else { return Ok(None) };
    let side = match decided(cx.lift, &facts) {
        Some(true) => 1,
        Some(false) => 2,
        None => return either(cx, &facts),
    };
    Ok(cx.known(side)?.map(|k| (k.elements.to_vec(), k.tracked)))
}

/// A choice that depends on the sizes, as arithmetic: `b + (a - b)*[facts]`, where `[facts]` is 1 if they hold and else 0.
fn either(cx: &mut Cx<'_, '_>, facts: &[Fact]) -> Result<Option<(Vec<Extent>, bool)>> {
    let (Some(a), Some(b)) = (cx.known(1)?, cx.known(2)?) else { return Ok(None) };
    let lift = &*cx.lift;
    let (zero, one) = (Extent::Const(0), Extent::Const(1));
    let mut holds = one.clone();
    for fact in facts.iter().filter(|f| !lift.sizes.facts.holds(f).is_yes()) {
        let (up, down) = (lift.minus(&fact.right, &fact.left), lift.minus(&fact.left, &fact.right));
        let clamped = |size: &Extent| lift.smaller(&lift.larger(size, &zero), &one);
        let differs = || lift.smaller(&lift.larger(&up, &down), &one);
        let this = match fact.relation {
            Relation::Lt => clamped(&up),
            Relation::Le => clamped(&lift.plus(&up, &one)),
            Relation::Ne => differs(),
            Relation::Eq => lift.minus(&one, &differs()),
            Relation::Divides => return Ok(None),
        };
        holds = lift.times(&holds, &this);
    }
    let one = |(a, b): (&Extent, &Extent)| lift.plus(b, &lift.times(&lift.minus(a, b), &holds));
    let elements: Vec<Extent> = a.elements.iter().zip(b.elements.iter()).map(one).collect();
    Ok(Some((elements, a.tracked && b.tracked)))
}

/// One operation on integers. `None` where its result is no expression, or not certain to be this one.
fn arithmetic(
    lift: &Lifter<'_>,
    name: &str,
    a: &Extent,
    b: Option<&Extent>,
    c: Option<&Extent>,
) -> Option<Extent> {
    let zero = Extent::Const(0);
    if let (Some(x), Some(y)) = (number(a), b.and_then(number)) {
        // Division and rest truncate.
        match name {
            "divide" => return integer(x.checked_div(y)?),
            "remainder" => return integer(x.checked_rem(y)?),
            _ => {}
        }
    }
    let holds = |l: &Extent, relation, r: &Extent| lift.sizes.facts.compare(l, relation, r).is_yes();
    let divides =
        |x: &Extent, y: &Extent| holds(&zero, Relation::Le, x) && holds(&Extent::Const(1), Relation::Le, y);
    Some(match name {
        "negate" => lift.minus(&zero, a),
        "sign" => match number(a) {
            Some(value) => integer(value.signum())?,
            None if holds(&Extent::Const(1), Relation::Le, a) => Extent::Const(1),
            None if holds(&zero, Relation::Le, a) => Extent::min(a.clone(), Extent::Const(1)),
            None if holds(a, Relation::Lt, &zero) => lift.minus(&zero, &Extent::Const(1)),
            None => return None,
        },
        "add" => lift.plus(a, b?),
        "subtract" => lift.minus(a, b?),
        "multiply" => lift.times(a, b?),
        "maximum" => lift.larger(a, b?),
        "minimum" => lift.smaller(a, b?),
        "clamp" => lift.smaller(&lift.larger(b?, a), c?),
        // Below zero, division truncates towards it.
        "divide" if divides(&lift.minus(&zero, a), b?) && !divides(a, b?) => {
            lift.minus(&zero, &lift.tidy(Extent::floor_div(lift.minus(&zero, a), b?.clone())))
        }
        "remainder" if divides(&lift.minus(&zero, a), b?) && !divides(a, b?) => {
            lift.minus(&zero, &Extent::modulo(lift.minus(&zero, a), b?.clone()))
        }
        "divide" if divides(a, b?) => lift.tidy(Extent::floor_div(a.clone(), b?.clone())),
        "remainder" if divides(a, b?) => Extent::modulo(a.clone(), b?.clone()),
        _ => return None,
    })
}

/// Lifts an operation on conditions about sizes.
fn condition(cx: &mut Cx<'_, '_>, name: &str, ty: &TensorType) -> Result<bool> {
    if ty.space.rank() != 0 {
        return Ok(false);
    }
    let found = match name {
        "compare" => match (cx.condition(0)?, cx.condition(1)?) {
            (Some(a), Some(b)) => unlike(cx, &a, &b)?,
            _ => comparison(cx)?,
        },
        "and" => match (cx.condition(0)?, cx.condition(1)?) {
            (Some(a), Some(b)) => Some(a.iter().chain(b.iter()).cloned().collect()),
            _ => None,
        },
        "not" => cx.condition(0)?.and_then(|facts| opposite(cx.lift, &facts)),
        _ => None,
    };
    let Some(facts) = found else { return Ok(false) };
    cx.bind(0, Value::Condition(facts.into()))?;
    Ok(true)
}

/// What a comparison of integers says of sizes.
fn comparison(cx: &mut Cx<'_, '_>) -> Result<Option<Vec<Fact>>> {
    let (Some(a), Some(b)) = (cx.known(0)?, cx.known(1)?) else { return Ok(None) };
    let both = [a.elements[0].clone(), b.elements[0].clone()];
    if depends_on_data(&both) || !a.tracked || !b.tracked {
        return Ok(None);
    }
    let [a, b] = both;
    Ok(Some(vec![match cx.attr(cx.op.compare_direction())? {
        "EQ" => Fact::new(a, Relation::Eq, b),
        "NE" => Fact::new(a, Relation::Ne, b),
        "LE" => Fact::new(a, Relation::Le, b),
        "LT" => Fact::new(a, Relation::Lt, b),
        "GE" => Fact::new(b, Relation::Le, a),
        "GT" => Fact::new(b, Relation::Lt, a),
        _ => return Ok(None),
    }]))
}

/// Whether two conditions are equal or not, where at least one of them is decided.
fn unlike(cx: &Cx<'_, '_>, a: &[Fact], b: &[Fact]) -> Result<Option<Vec<Fact>>> {
    let same = match cx.attr(cx.op.compare_direction())? {
        "EQ" => true,
        "NE" => false,
        _ => return Ok(None),
    };
    let (other, decided) = match (decided(cx.lift, a), decided(cx.lift, b)) {
        (_, Some(b)) => (a, b),
        (Some(a), None) => (b, a),
        (None, None) => return Ok(None),
    };
    Ok(if same == decided { Some(other.to_vec()) } else { opposite(cx.lift, other) })
}

/// Whether all of these hold, if it is known.
fn decided(lift: &Lifter<'_>, facts: &[Fact]) -> Option<bool> {
    let answers: Vec<Verdict> = facts.iter().map(|f| lift.sizes.facts.holds(f)).collect();
    if answers.iter().all(|a| a.is_yes()) {
        return Some(true);
    }
    answers.contains(&Verdict::No(())).then_some(false)
}

/// The statement that not all of these hold, where one fact says it.
fn opposite(lift: &Lifter<'_>, facts: &[Fact]) -> Option<Vec<Fact>> {
    match decided(lift, facts) {
        Some(true) => return Some(vec![never()]),
        Some(false) => return Some(Vec::new()),
        None => {}
    }
    let open: Vec<&Fact> = facts.iter().filter(|f| !lift.sizes.facts.holds(f).is_yes()).collect();
    let [fact] = open[..] else { return None };
    let Fact { left, relation, right } = fact.clone();
    Some(vec![match relation {
        Relation::Eq => Fact::new(left, Relation::Ne, right),
        Relation::Ne => Fact::new(left, Relation::Eq, right),
        Relation::Le => Fact::new(right, Relation::Lt, left),
        Relation::Lt => Fact::new(right, Relation::Le, left),
        Relation::Divides => return None,
    }])
}

/// What never holds.
fn never() -> Fact {
    Fact::new(Extent::Const(0), Relation::Eq, Extent::Const(1))
}

/// Whether the condition of a loop is certain not to hold of the values that come in: its body never runs, and its sizes need
/// not make sense.
pub(super) fn never_runs<'m>(
    cx: &mut Cx<'_, 'm>,
    condition: &'m hlo::Region,
    inits: Vec<Value>,
) -> Result<bool> {
    let statements = cx.lift.statements_so_far();
    let results = cx.lift.inline(cx.op, condition, inits);
    cx.lift.take_back(statements);
    Ok(match results?.as_slice() {
        [Value::Condition(facts)] => decided(cx.lift, facts) == Some(false),
        _ => false,
    })
}

/// `custom_call @shape_assertion`: what the program needs of the sizes, checked by every run.
pub(super) fn assertion(cx: &mut Cx<'_, '_>) -> Result<()> {
    let Some(facts) = cx.condition(0)? else {
        return Err(cx.unsupported("a `shape_assertion` on what is not known to be a condition on sizes"));
    };
    let message = assertion_message(cx)?;
    for fact in facts.iter() {
        cx.lift.require(cx.op, "the assertion", fact.clone()).map_err(|e| match e {
            LiftError::Sizes { op, field, fact, place, .. } => {
                LiftError::Sizes { op, field, fact, message: message.clone(), place }
            }
            other => other,
        })?;
    }
    Ok(())
}

/// The message of an assertion, with the numbers that are known in place of `{0}`, `{1}`, ….
fn assertion_message(cx: &mut Cx<'_, '_>) -> Result<Option<Box<str>>> {
    let Some(Attribute::String(message)) = cx.op.attributes.get("error_message") else { return Ok(None) };
    let mut message = message.to_string();
    for i in 1..cx.op.operands.len() {
        if let Some(known) = cx.known(i)?
            && let [element] = &*known.elements
        {
            message = message.replace(&format!("{{{}}}", i - 1), &element.to_string());
        }
    }
    Ok(Some(message.into()))
}
