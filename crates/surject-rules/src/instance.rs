//! Instances of rules: both sides built from fresh tensors over random small spaces.
//!
//! In index notation a name stands for one or two axes, or for none; none of them is empty, which the matcher
//! must see to. Up to two batch axes stand before them. In map notation maps are drawn from the families that
//! programs contain, and conditions and bindings are decided as in a match: the verdict must be certain.

mod build;
mod directed;
mod maps;
mod pool;
mod rng;
mod solve;
mod values;

pub(crate) use directed::plans;
pub(crate) use rng::Rng;
pub(crate) use values::simpler;

use crate::ast::{Argument, ConditionName, Rule};
use crate::lower::{Lowered, SpaceVar};
use crate::semantics::{Operation, commutative, distributes, idempotent, monotone};
use crate::typing::{Constraint, Types};
use std::collections::BTreeMap;
use std::fmt;
use surject_index::{IndexMap, Space, Verdict};
use surject_ir::{Buffer, DType, FieldId, Function, Statement, StatementKind, TensorType};

/// A kind of element type. A rule may be sound for some of them only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TypeClass {
    /// Floats.
    Float,
    /// Integers, signed or not.
    Int,
    /// `i1`
    Bool,
    /// Complex numbers.
    Complex,
}

impl TypeClass {
    /// Every class.
    pub const ALL: [TypeClass; 4] = [TypeClass::Float, TypeClass::Int, TypeClass::Bool, TypeClass::Complex];

    /// The class of a type.
    pub fn of(dtype: DType) -> TypeClass {
        match dtype {
            d if d.is_float() => TypeClass::Float,
            d if d.is_complex() => TypeClass::Complex,
            d if d.is_bool() => TypeClass::Bool,
            _ => TypeClass::Int,
        }
    }
}

impl fmt::Display for TypeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TypeClass::Float => "float",
            TypeClass::Int => "int",
            TypeClass::Bool => "bool",
            TypeClass::Complex => "complex",
        })
    }
}

/// Both sides of a rule over fresh tensors.
#[derive(Clone, Debug)]
pub struct Instance {
    /// A function that stores and yields the left side and the right side.
    pub function: Function,
    /// The left side.
    pub left: FieldId,
    /// The right side.
    pub right: FieldId,
    /// A value for each parameter of the function.
    pub args: Vec<Buffer>,
    /// The class of the element type that the rule is about: that of its first field that is not always `i1`.
    pub class: TypeClass,
    /// What names of the rule stand for, other than tensors: axes, maps, operations, numbers.
    pub meanings: Vec<String>,
    /// In index notation, what it is built from.
    pub(crate) shape: Option<Shape>,
}

/// The choices behind an instance in index notation, without the values of its fields.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The type of each place of the typing.
    pub types: Vec<DType>,
    /// The operations that operation variables stand for.
    pub ops: BTreeMap<String, Operation>,
    /// The extents of named axes.
    pub axes: BTreeMap<String, Vec<u64>>,
    /// The extents of batch axes.
    pub batch: Vec<u64>,
    /// The batch axes that each variable depends on; all of them, where it is not listed.
    pub batch_of: BTreeMap<String, Vec<usize>>,
}

/// How large an instance may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The largest extent.
    pub extent: u64,
    /// The number of axes that a name stands for.
    pub axes: u64,
    /// May a name stand for no axis?
    pub no_axis: bool,
    /// The number of batch axes.
    pub batch: u64,
    /// The rank of a space in map notation.
    pub rank: usize,
    /// May extents be 0 (in map notation)?
    pub empty: bool,
    /// May an extent be much larger than the others?
    pub long: bool,
}

impl Size {
    /// Sizes from the smallest to the usual one, and one with long axes.
    pub const LEVELS: [Size; 6] = [
        Size { extent: 1, axes: 1, no_axis: false, batch: 0, rank: 1, empty: true, long: false },
        Size { extent: 2, axes: 1, no_axis: false, batch: 0, rank: 1, empty: true, long: false },
        Size { extent: 2, axes: 1, no_axis: true, batch: 1, rank: 2, empty: true, long: false },
        Size { extent: 3, axes: 2, no_axis: true, batch: 1, rank: 2, empty: true, long: false },
        Size { extent: 4, axes: 2, no_axis: true, batch: 2, rank: 3, empty: true, long: false },
        Size { extent: 3, axes: 1, no_axis: false, batch: 0, rank: 2, empty: true, long: true },
    ];

    /// The size of the instance of a seed: half of them have the usual one.
    pub fn of(seed: u64) -> Size {
        Size::LEVELS[[4, 1, 4, 2, 4, 3][(seed % 6) as usize]]
    }

    /// As [`Size::of`], with long axes at times.
    pub fn wide(seed: u64) -> Size {
        if seed % 13 == 12 { Size::LEVELS[5] } else { Size::of(seed) }
    }

    /// No space of an instance has more points.
    const fn points(self) -> u64 {
        if self.long { 2000 } else { 400 }
    }
}

/// Where the values of an instance come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Of ordinary size where the class of the rule is not exact: what sums of them give can be compared by the
    /// largest of them.
    Tame,
    /// Of every size.
    Wide,
}

/// An instance of a rule that has passed [`crate::check_static`], with values of ordinary size; `None` when the
/// random choices of this seed do not satisfy its conditions.
pub fn instantiate(rule: &Rule, seed: u64) -> Option<Instance> {
    let lowered = Lowered::new(rule).ok()?;
    draw(&lowered, seed, Size::of(seed), Values::Tame)
}

/// An instance of this size.
pub(crate) fn draw(lowered: &Lowered<'_>, seed: u64, size: Size, values: Values) -> Option<Instance> {
    let mut rng = Rng::new(seed);
    let (ops, types) = choose_types(lowered, &mut rng, &tried(lowered, values), None)?;
    Drawing::new(lowered, rng, size, ops, types, values).finish()
}

/// An instance of this shape, with zeros for values.
pub(crate) fn assemble(lowered: &Lowered<'_>, shape: &Shape) -> Option<Instance> {
    let known = |name: &str| shape.ops.get(name).copied();
    let ops = lowered.ops.keys().map(|&name| Some((name, known(name)?))).collect::<Option<_>>()?;
    let size = Size { long: true, ..Size::LEVELS[0] };
    let types = shape.types.clone();
    let mut drawing = Drawing::new(lowered, Rng::new(0), size, ops, types, Values::Wide);
    drawing.shape = Some(shape);
    drawing.finish()
}

/// An instance under construction.
struct Drawing<'l, 'a> {
    lowered: &'l Lowered<'a>,
    rng: Rng,
    size: Size,
    ops: BTreeMap<&'a str, Operation>,
    /// The type of each place of the typing.
    types: Vec<DType>,
    /// Which values are drawn.
    kind: Values,
    /// What is built, if it is not drawn: values are left at zero then.
    shape: Option<&'l Shape>,
    /// By class of spaces.
    spaces: BTreeMap<SpaceVar, Space>,
    maps: BTreeMap<&'a str, IndexMap>,
    fields: BTreeMap<&'a str, FieldId>,
    counts: BTreeMap<&'a str, u64>,
    /// The extents of named axes.
    axes: BTreeMap<&'a str, Vec<u64>>,
    /// The extents of batch axes.
    batch: Vec<u64>,
    /// The batch axes that each variable depends on.
    batch_of: BTreeMap<&'a str, Vec<usize>>,
    function: Function,
    meanings: Vec<String>,
}

/// The types that are tried: those whose arithmetic is exact to compare where the class of the rule is exact,
/// wide ones where it is not.
fn tried(lowered: &Lowered<'_>, values: Values) -> Vec<DType> {
    use crate::ast::Exactness;
    use DType::*;
    match (lowered.rule.class, values) {
        (Exactness::Exact, Values::Tame) => vec![F32, F32, F32, F32, F64, BF16, I32, I8, I8, U8, I1, C64],
        (Exactness::Exact, Values::Wide) => {
            vec![F32, F32, F32, F32, F64, BF16, F16, I32, I8, I8, U8, I64, U32, I1, C64]
        }
        (_, Values::Tame) => vec![F64, F64, F64, I32, I8, U8, I1, C128],
        (_, Values::Wide) => vec![F64, F64, F32, F32, F16, I32, I8, U8, I1, C128],
    }
}

type Choice<'a> = (BTreeMap<&'a str, Operation>, Vec<DType>);

/// Operations for the operation variables and types for all places, such that the conditions on them hold.
/// With `first` only such that the rule is about this type.
fn choose_types<'a>(
    lowered: &Lowered<'a>,
    rng: &mut Rng,
    list: &[DType],
    first: Option<DType>,
) -> Option<Choice<'a>> {
    let mut typing = lowered.typing.clone();
    typing.constraints.push(Constraint::Same(lowered.left.ty, lowered.right.ty));
    if let Some(first) = first {
        let place = subject(lowered);
        typing.types[place] = typing.types[place].and(Types::only(first));
    }
    // The part types of complex numbers, and `i1` of comparisons, are found beside them.
    let allowed = Types::of(|d| list.contains(&d) || d.is_bool());
    typing.types.iter_mut().for_each(|t| *t = t.and(allowed));
    typing.propagate().ok()?;
    (0..60).find_map(|_| {
        let mut typing = typing.clone();
        let mut ops = BTreeMap::new();
        for (&name, &place) in &lowered.ops {
            // Half of the time one of those that programs are made of.
            let common: Vec<Operation> =
                typing.ops[place].iter().copied().filter(|op| is_common(*op)).collect();
            let all = common.is_empty() || rng.chance(1, 2);
            let op = rng.pick(if all { &typing.ops[place] } else { &common })?;
            typing.ops[place] = vec![op];
            ops.insert(name, op);
            typing.propagate().ok()?;
        }
        let types = typing.assign(&mut |candidates| {
            let mut order: Vec<DType> = list.iter().copied().filter(|&d| candidates.contains(d)).collect();
            rng.shuffle(&mut order);
            order.extend(candidates.iter());
            order
        })?;
        let dtype = types[lowered.left.ty];
        let op = |arg: &Argument| match arg {
            Argument::Var(name, _) => ops.get(name.as_str()).copied(),
            Argument::Word(word, _) => Operation::from_word(word),
            Argument::Number(..) => None,
        };
        let holds = lowered.rule.conditions.iter().all(|condition| {
            let verdict = match (condition.name, &condition.args[..]) {
                (ConditionName::Commutative, [o]) => op(o).map(commutative),
                (ConditionName::Idempotent, [o]) => op(o).map(|o| idempotent(o, dtype)),
                (ConditionName::Monotone, [o]) => op(o).map(|o| monotone(o, dtype)),
                (ConditionName::Distributes, [t, o]) => {
                    op(t).zip(op(o)).map(|(t, o)| distributes(t, o, dtype))
                }
                _ => return true,
            };
            certain(verdict.unwrap_or(Verdict::Unknown), condition.negated)
        });
        holds.then_some((ops, types))
    })
}

fn is_common(op: Operation) -> bool {
    use surject_ir::{BinaryOp, UnaryOp};
    matches!(
        op,
        Operation::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Max)
            | Operation::Unary(UnaryOp::Neg | UnaryOp::Exp | UnaryOp::Sqrt | UnaryOp::Tanh)
    )
}

/// Does the verdict satisfy a condition?
fn certain(verdict: Verdict, negated: bool) -> bool {
    if negated { verdict.is_no() } else { verdict.is_yes() }
}

/// The place of the type that a rule is about: of its first field that is not always `i1`, or of its result.
fn subject(lowered: &Lowered<'_>) -> usize {
    let truth = Types::only(DType::I1);
    let places = lowered.fields.values().map(|(ty, _)| *ty);
    // Types that other places narrow to `i1` count as such.
    let mut typing = lowered.typing.clone();
    let _ = typing.propagate();
    let mut open = places.filter(|&ty| typing.types[ty] != truth);
    open.next().unwrap_or(lowered.left.ty)
}

impl<'l, 'a> Drawing<'l, 'a> {
    fn new(
        lowered: &'l Lowered<'a>,
        rng: Rng,
        size: Size,
        ops: BTreeMap<&'a str, Operation>,
        types: Vec<DType>,
        kind: Values,
    ) -> Drawing<'l, 'a> {
        Drawing {
            lowered,
            rng,
            size,
            ops,
            types,
            kind,
            shape: None,
            spaces: BTreeMap::new(),
            maps: BTreeMap::new(),
            fields: BTreeMap::new(),
            counts: BTreeMap::new(),
            axes: BTreeMap::new(),
            batch: Vec::new(),
            batch_of: BTreeMap::new(),
            function: Function::new("instance"),
            meanings: Vec::new(),
        }
    }

    fn finish(mut self) -> Option<Instance> {
        let lowered = self.lowered;
        let rule = lowered.rule;
        let scope = if rule.is_map_notation() {
            self.draw_maps()?;
            Vec::new()
        } else {
            self.draw_axes()
        };
        let left = self.build(&lowered.left, &scope)?;
        if !rule.conditions.iter().all(|c| self.holds(c)) {
            return None;
        }
        rule.bindings.iter().try_for_each(|b| self.bind(b))?;
        let right = self.build(&lowered.right, &scope)?;
        let fields = &self.function.fields;
        let same = fields[left].space == fields[right].space && fields[left].dtype == fields[right].dtype;
        let most = if self.shape.is_some() { u64::MAX } else { self.size.points() };
        let small = fields.iter().all(|(_, f)| f.space.points().is_some_and(|n| n <= most));
        if !same || !small {
            return None;
        }
        let args = if self.shape.is_some() { self.zeros()? } else { self.draw_values()? };
        let class = self.class();
        self.meanings.extend(self.ops.iter().map(|(name, op)| format!("?{name} = {op}")));
        self.meanings.extend(self.maps.iter().map(|(name, map)| format!("?{name} = {map}")));
        self.meanings.extend(self.counts.iter().map(|(name, count)| format!("#{name} = {count}")));
        let extents = |name: &str, extents: &[u64]| {
            let sizes: Vec<String> = extents.iter().map(u64::to_string).collect();
            let some = if sizes.is_empty() { "no axis".to_string() } else { sizes.join(" x ") };
            format!("{name}: {some}")
        };
        self.meanings.extend(self.axes.iter().map(|(name, e)| extents(name, e)));
        if !self.batch.is_empty() {
            self.meanings.push(extents("batch axes", &self.batch));
        }
        let shape = self.described();
        let mut function = self.function;
        for (name, field) in [("left", left), ("right", right)] {
            let target = function.var_for(name, field);
            function.body.statements.push(Statement::new(StatementKind::Store { target, field }));
            function.body.results.push(target);
        }
        Some(Instance { function, left, right, args, class, meanings: self.meanings, shape })
    }

    /// The class of the type that the rule is about.
    fn class(&self) -> TypeClass {
        let places = self.lowered.fields.values().map(|(ty, _)| *ty);
        let open = places.filter(|&ty| self.lowered.typing.types[ty] != Types::only(DType::I1));
        let about = open.map(|ty| TypeClass::of(self.types[ty])).find(|&c| c != TypeClass::Bool);
        about.unwrap_or_else(|| TypeClass::of(self.types[self.lowered.left.ty]))
    }

    /// What the instance is built from, in index notation.
    fn described(&self) -> Option<Shape> {
        let name = |name: &&str| name.to_string();
        (!self.lowered.rule.is_map_notation()).then(|| Shape {
            types: self.types.clone(),
            ops: self.ops.iter().map(|(n, op)| (name(n), *op)).collect(),
            axes: self.axes.iter().map(|(n, e)| (name(n), e.clone())).collect(),
            batch: self.batch.clone(),
            batch_of: self.batch_of.iter().map(|(n, a)| (name(n), a.clone())).collect(),
        })
    }

    /// A zero for every element.
    fn zeros(&self) -> Option<Vec<Buffer>> {
        let zeros = |&var| {
            let ty = self.function.ty(var);
            let shape: Option<Vec<usize>> =
                ty.space.sizes()?.iter().map(|&n| usize::try_from(n).ok()).collect();
            Some(Buffer::zeros(ty.dtype, &shape?))
        };
        self.function.params.iter().map(zeros).collect()
    }

    /// A fresh tensor.
    fn tensor(&mut self, name: &str, dtype: DType, space: Space) -> FieldId {
        let var = self.function.var(name, TensorType::new(dtype, space));
        self.function.params.push(var);
        self.function.tensor(var)
    }
}
