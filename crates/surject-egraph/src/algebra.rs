//! The analysis of the e-graph: interned maps and spaces, and what is known of a class.

use crate::lang::{Node, Op};
use crate::provenance::{self, Provenance, Tags};
use egg::{Analysis, DidMerge, EGraph, Id, Justification};
use rustc_hash::FxHashMap as HashMap;
use std::hash::Hash;
use surject_index::{Component, Fill, IndexMap, Space, Verdict};
use surject_ir::range::{Range, terms};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, Var};

/// The e-graph of one block.
pub type Graph = EGraph<Node, Algebra>;

/// Restores the invariants of an e-graph. egg times this for its log by a clock that each process calibrates for a
/// millisecond, half of the time of a small program; nobody reads the log, so the clock stands still.
pub(crate) fn rebuild(graph: &mut Graph) {
    let (still, _) = quanta::Clock::mock();
    quanta::with_clock(&still, || graph.rebuild());
}

/// An interned map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MapId(pub u32);

/// An interned space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceId(pub u32);

/// A set of axes. Axes beyond the sixty-fourth are always members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Axes(u64);

/// What is known of the field that a class stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldData {
    /// Its space.
    pub space: SpaceId,
    /// Its element type.
    pub dtype: DType,
    /// Its value, where it is one value everywhere.
    pub constant: Option<Scalar>,
    /// The axes its value may really depend on.
    pub deps: Axes,
    /// Bounds and signs of its values.
    pub range: Range,
    /// The rules by which the parts of the class are equal that stood for values of their own.
    pub rests: Tags,
}

/// What is known of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// A field.
    Field(FieldData),
    /// A map.
    Map(MapId),
    /// An operation.
    Op(Op),
}

/// A variable that the block reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputInfo {
    /// The variable.
    pub var: Var,
    /// Its space.
    pub space: SpaceId,
    /// Its element type.
    pub dtype: DType,
}

/// A table of distinct values.
#[derive(Clone, Debug)]
struct Table<T> {
    items: Vec<T>,
    ids: HashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Table<T> {
        Table { items: Vec::new(), ids: HashMap::default() }
    }

    fn intern(&mut self, item: &T) -> u32 {
        if let Some(&id) = self.ids.get(item) {
            return id;
        }
        let id = self.items.len() as u32;
        self.items.push(item.clone());
        self.ids.insert(item.clone(), id);
        id
    }
}

/// A question about a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Is it injective?
    Injective,
    /// Is it surjective?
    Surjective,
    /// Is it bijective?
    Bijective,
}

/// Interned maps and spaces, the inputs of the block, and memoised functions of maps.
#[derive(Clone, Debug)]
pub struct Algebra {
    maps: Table<IndexMap>,
    spaces: Table<Space>,
    inputs: Table<InputInfo>,
    compose: HashMap<(MapId, MapId), Option<MapId>>,
    fibre: HashMap<(MapId, MapId), Option<(MapId, MapId)>>,
    inverse: HashMap<(MapId, Option<Fill>), Option<MapId>>,
    through: HashMap<(MapId, MapId), Option<MapId>>,
    answers: HashMap<(MapId, Question), Verdict>,
    /// Do constructors add what they are asked for, without a normal form? So terms are imported whose proofs or
    /// laws are to be seen.
    pub raw: bool,
    /// The classes that are new, were merged, or of which more is known, since this was last taken.
    pub dirty: Vec<Id>,
    /// Which rules what is in the e-graph rests on.
    pub provenance: Provenance,
    /// The first clash of types that a merge met: a rule equated two fields that cannot be equal.
    pub clash: Option<String>,
}

impl Default for Algebra {
    fn default() -> Algebra {
        Algebra {
            maps: Table::new(),
            spaces: Table::new(),
            inputs: Table::new(),
            compose: HashMap::default(),
            fibre: HashMap::default(),
            inverse: HashMap::default(),
            through: HashMap::default(),
            answers: HashMap::default(),
            raw: false,
            dirty: Vec::new(),
            provenance: Provenance::default(),
            clash: None,
        }
    }
}

impl Algebra {
    /// The id of a map.
    pub fn map_id(&mut self, map: &IndexMap) -> MapId {
        MapId(self.maps.intern(map))
    }

    /// An interned map.
    pub fn map(&self, id: MapId) -> &IndexMap {
        &self.maps.items[id.0 as usize]
    }

    /// The id of a space.
    pub fn space_id(&mut self, space: &Space) -> SpaceId {
        SpaceId(self.spaces.intern(space))
    }

    /// An interned space.
    pub fn space(&self, id: SpaceId) -> &Space {
        &self.spaces.items[id.0 as usize]
    }

    /// The number of an input.
    pub fn input_id(&mut self, var: Var, dtype: DType, space: &Space) -> u32 {
        let space = self.space_id(space);
        self.inputs.intern(&InputInfo { var, space, dtype })
    }

    /// An input.
    pub fn input(&self, id: u32) -> &InputInfo {
        &self.inputs.items[id as usize]
    }

    /// `next ∘ first`, as in `read first (read next t)`; `None` where the two have no composite.
    pub fn compose(&mut self, first: MapId, next: MapId) -> Option<MapId> {
        if let Some(&known) = self.compose.get(&(first, next)) {
            return known;
        }
        let composite = self.map(first).then(self.map(next)).ok();
        let result = composite.map(|m| self.map_id(&m));
        self.compose.insert((first, next), result);
        result
    }

    /// The fibre product of `n : Q → D` and `m : P → D`: the maps of its box to `Q` and to `P`.
    pub fn fibre(&mut self, n: MapId, m: MapId) -> Option<(MapId, MapId)> {
        if let Some(&known) = self.fibre.get(&(n, m)) {
            return known;
        }
        let product = self.map(n).fibre_product(self.map(m));
        let result = product.map(|f| (self.map_id(&f.to_q), self.map_id(&f.to_p)));
        self.fibre.insert((n, m), result);
        result
    }

    /// The inverse of a map on its image. Without a fill only a total inverse will do.
    pub fn inverse(&mut self, map: MapId, fill: Option<Fill>) -> Option<MapId> {
        if let Some(&known) = self.inverse.get(&(map, fill)) {
            return known;
        }
        let inverse = self.map(map).inverse(fill.unwrap_or(Fill(0)));
        let result = inverse.filter(|m| fill.is_some() || m.is_total()).map(|m| self.map_id(&m));
        self.inverse.insert((map, fill), result);
        result
    }

    /// The answer to a question about a map.
    pub fn ask(&mut self, map: MapId, question: Question) -> Verdict {
        if let Some(&known) = self.answers.get(&(map, question)) {
            return known;
        }
        let m = self.map(map);
        let answer = match question {
            Question::Injective => m.injective().plain(),
            Question::Surjective => m.surjective().plain(),
            Question::Bijective => m.bijective().plain(),
        };
        self.answers.insert((map, question), answer);
        answer
    }

    /// Is the map proven bijective?
    pub fn bijective(&mut self, map: MapId) -> bool {
        self.ask(map, Question::Bijective).is_yes()
    }

    /// The factor `k` of `n` with `k ∘ m = n`.
    pub fn through(&mut self, n: MapId, m: MapId) -> Option<MapId> {
        if let Some(&known) = self.through.get(&(n, m)) {
            return known;
        }
        let factor = self.map(n).through(self.map(m));
        let result = factor.map(|k| self.map_id(&k));
        self.through.insert((n, m), result);
        result
    }

    /// The number of maps, spaces and inputs, for reports.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.maps.items.len(), self.spaces.items.len(), self.inputs.items.len())
    }
}

impl Axes {
    /// No axis (of the first sixty-four).
    pub const NONE: Axes = Axes(0);

    /// Every axis of a space that is not of extent 1.
    pub fn all(space: &Space) -> Axes {
        let axes = space.extents().iter().enumerate().filter(|(_, e)| e.as_const() != Some(1));
        axes.fold(Axes::NONE, |set, (axis, _)| set.with(axis))
    }

    /// The set with one more axis.
    pub fn with(self, axis: usize) -> Axes {
        Axes(self.0 | 1u64.checked_shl(axis as u32).unwrap_or(0))
    }

    /// Is the axis in the set?
    pub fn contains(self, axis: usize) -> bool {
        axis >= 64 || self.0 >> axis & 1 == 1
    }

    /// The axes of both sets.
    pub fn union(self, other: Axes) -> Axes {
        Axes(self.0 | other.0)
    }

    /// The axes in both sets.
    pub fn intersection(self, other: Axes) -> Axes {
        Axes(self.0 & other.0)
    }

    /// The axes in the set that are not in the other.
    pub fn without(self, other: Axes) -> Axes {
        Axes(self.0 & !other.0)
    }

    /// Is there no axis (of the first sixty-four)?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members among the first `rank` axes.
    pub fn iter(self, rank: usize) -> impl Iterator<Item = usize> {
        (0..rank).filter(move |&a| self.contains(a))
    }
}

impl Data {
    /// The field data, if the class is a field.
    pub fn field(&self) -> Option<&FieldData> {
        match self {
            Data::Field(field) => Some(field),
            _ => None,
        }
    }

    /// The map, if the class is a map.
    pub fn map(&self) -> Option<MapId> {
        match self {
            Data::Map(id) => Some(*id),
            _ => None,
        }
    }

    /// The operation, if the class is an operation.
    pub fn op(&self) -> Option<Op> {
        match self {
            Data::Op(op) => Some(*op),
            _ => None,
        }
    }
}

/// The axes that a field read through a map depends on: those used by the components that matter, and by guards.
pub fn deps_through(map: &IndexMap, deps: Axes) -> Axes {
    let mut result = Axes::NONE;
    for (position, component) in map.components().iter().enumerate() {
        if deps.contains(position) {
            component.used_axes().for_each(|a| result = result.with(a));
        }
    }
    for guard in map.guards() {
        guard.expr.used_axes().for_each(|a| result = result.with(a));
    }
    result
}

/// The axes that an accumulation depends on. An output axis that is a whole loop axis of its own, on which the
/// accumulated field does not depend, is not one of them.
fn deps_of_acc(map: &IndexMap, deps: Axes) -> Axes {
    let mut result = Axes::NONE;
    for (position, component) in map.components().iter().enumerate() {
        let extent = map.codomain().extent(position);
        if extent.as_const() == Some(1) {
            continue;
        }
        let free = match component.component() {
            Component::Iter(axis) => {
                !deps.contains(axis)
                    && map.domain().extent(axis) == extent
                    && map.components().iter().filter(|c| c.coeffs[axis] != 0).count() == 1
            }
            _ => false,
        };
        if !free {
            result = result.with(position);
        }
    }
    result
}

impl Algebra {
    /// The data of a node, or `None` when it is ill-typed.
    pub fn data_of(egraph: &Graph, node: &Node) -> Option<Data> {
        let algebra = &egraph.analysis;
        let field = |id: &Id| egraph[*id].data.field();
        let op = |id: &Id| egraph[*id].data.op();
        let map = |id: &Id| egraph[*id].data.map();
        let data = match node {
            Node::Map(id) => return Some(Data::Map(*id)),
            Node::Op(op) => return Some(Data::Op(*op)),
            Node::Index(space, axis, dtype) => FieldData {
                space: *space,
                dtype: *dtype,
                constant: None,
                deps: Axes::NONE.with(*axis as usize).intersection(Axes::all(algebra.space(*space))),
                range: Range::index(*dtype, algebra.space(*space).extent(*axis as usize).as_const()),
                rests: Tags::NONE,
            },
            Node::Const(space, dtype, bits) => FieldData {
                space: *space,
                dtype: *dtype,
                constant: Some(Scalar::from_bits(*dtype, *bits)),
                deps: Axes::NONE,
                range: Range::of(Scalar::from_bits(*dtype, *bits)),
                rests: Tags::NONE,
            },
            Node::Input(id) => {
                let info = algebra.input(*id);
                let deps = Axes::all(algebra.space(info.space));
                let range = Range::any(info.dtype);
                FieldData {
                    space: info.space,
                    dtype: info.dtype,
                    constant: None,
                    deps,
                    range,
                    rests: Tags::NONE,
                }
            }
            Node::Read([m, x]) => {
                let (m, x) = (algebra.map(map(m)?), field(x)?);
                let fits = |f: Fill| Scalar::from_bits(x.dtype, f.0).bits() == f.0;
                if m.codomain() != algebra.space(x.space) || !m.fill().is_none_or(fits) {
                    return None;
                }
                let space = SpaceId(*algebra.spaces.ids.get(m.domain())?);
                let same_fill = |c: &Scalar| m.fill().is_none_or(|f| f.0 == c.bits());
                let constant = x.constant.filter(same_fill);
                let deps = if constant.is_some() { Axes::NONE } else { deps_through(m, x.deps) };
                let range = match m.fill() {
                    Some(fill) => x.range.or(Range::of(Scalar::from_bits(x.dtype, fill.0))),
                    None => x.range,
                };
                FieldData { space, dtype: x.dtype, constant, deps, range, rests: Tags::NONE }
            }
            Node::Acc([o, m, x]) => {
                let (o, along, x) = (op(o)?.as_acc()?, map(m)?, field(x)?);
                let m = algebra.map(along);
                if m.domain() != algebra.space(x.space) || !m.is_total() || !o.is_defined(x.dtype) {
                    return None;
                }
                let space = SpaceId(*algebra.spaces.ids.get(m.codomain())?);
                let constant = x.constant.filter(|_| o == AccOp::Set);
                let deps = if constant.is_some() { Axes::NONE } else { deps_of_acc(m, x.deps) };
                let onto = algebra.answers.get(&(along, Question::Surjective)).is_some_and(|v| v.is_yes());
                let range = Range::acc(o, x.dtype, x.range, terms(m), onto);
                FieldData { space, dtype: x.dtype, constant, deps, range, rests: Tags::NONE }
            }
            Node::Un([o, x]) => {
                let (o, x) = (op(o)?, field(x)?);
                let dtype = o.unary_result(x.dtype)?;
                let constant = x.constant.and_then(|x| o.eval_unary(x));
                let range = match o {
                    Op::Unary(o) => Range::unary(o, x.dtype, x.range),
                    Op::Convert(to) => Range::convert(x.dtype, to, x.range),
                    _ => Range::any(dtype),
                };
                FieldData { space: x.space, dtype, constant, deps: x.deps, range, rests: Tags::NONE }
            }
            Node::Bin([o, x, y]) => {
                let square = egraph.find(*x) == egraph.find(*y);
                let (Op::Binary(o), x, y) = (op(o)?, field(x)?, field(y)?) else { return None };
                if x.space != y.space {
                    return None;
                }
                let dtype = o.result(x.dtype, y.dtype)?;
                let constant = match (x.constant, y.constant) {
                    (Some(x), Some(y)) => surject_ir::eval::binary(o, x, y),
                    _ => None,
                };
                let range = match o {
                    BinaryOp::Mul if square => Range::square(x.dtype, x.range),
                    o => Range::binary(o, x.dtype, x.range, y.range),
                };
                FieldData {
                    space: x.space,
                    dtype,
                    constant,
                    deps: x.deps.union(y.deps),
                    range,
                    rests: Tags::NONE,
                }
            }
            Node::Sel([c, t, f]) => {
                let (c, t, f) = (field(c)?, field(t)?, field(f)?);
                if c.space != t.space || t.space != f.space || c.dtype != DType::I1 || t.dtype != f.dtype {
                    return None;
                }
                let constant = match (c.constant, t.constant, f.constant) {
                    (Some(c), t, f) => {
                        if c.is_true() {
                            t
                        } else {
                            f
                        }
                    }
                    (None, Some(t), Some(f)) if t == f => Some(t),
                    _ => None,
                };
                let deps = c.deps.union(t.deps).union(f.deps);
                let range = t.range.or(f.range);
                FieldData { space: t.space, dtype: t.dtype, constant, deps, range, rests: Tags::NONE }
            }
        };
        let data = if data.constant.is_some() { FieldData { deps: Axes::NONE, ..data } } else { data };
        Some(Data::Field(data))
    }
}

impl Analysis<Node> for Algebra {
    type Data = Data;

    fn make(egraph: &mut Graph, node: &Node, id: Id) -> Data {
        egraph.analysis.provenance.make(id);
        // The spaces of maps are interned with the maps, so that `data_of` needs no `&mut`.
        if let Node::Map(id) = node {
            let map = egraph.analysis.map(*id).clone();
            egraph.analysis.space_id(map.domain());
            egraph.analysis.space_id(map.codomain());
        }
        // The bounds of what is accumulated depend on whether its map is onto. Other maps are not asked: it takes long for
        // those of windows.
        if let Node::Acc([_, along, _]) = node
            && let Some(map) = egraph[*along].data.map()
        {
            egraph.analysis.ask(map, Question::Surjective);
        }
        // Every node is added by a constructor of `build.rs`, which has checked that it is well typed; an
        // operation stands in for a node that is not, and no pattern accepts it as a field.
        Algebra::data_of(egraph, node).unwrap_or(Data::Op(Op::Set))
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        match (&mut *a, &b) {
            (Data::Field(x), Data::Field(y)) if x.space == y.space && x.dtype == y.dtype => {
                let (old, deps) = ((x.constant, x.deps, x.range), x.deps.intersection(y.deps));
                x.constant = x.constant.or(y.constant);
                x.range = x.range.and(y.range);
                x.deps = if x.constant.is_some() { Axes::NONE } else { deps };
                // Nothing of the classes above follows from what the merge rests on.
                x.rests = x.rests.and(y.rests).and(self.provenance.take_merging());
                let known = (x.constant, x.deps, x.range);
                DidMerge(known != old, known != (y.constant, y.deps, y.range))
            }
            (x, y) if *x == *y => DidMerge(false, false),
            (x, y) => {
                self.clash.get_or_insert_with(|| format!("{x:?} and {y:?}"));
                DidMerge(false, false)
            }
        }
    }

    fn pre_union(egraph: &Graph, a: Id, b: Id, why: &Option<Justification>) {
        provenance::before_union(egraph, a, b, why);
    }

    fn modify(egraph: &mut Graph, id: Id) {
        // Called for every new class, after every merge, and whenever more is known of a class.
        egraph.analysis.dirty.push(id);
        let Data::Field(FieldData { space, dtype, constant: Some(value), .. }) = egraph[id].data else {
            return;
        };
        let node = Node::Const(space, dtype, value.bits());
        if egraph.lookup(node.clone()).is_some_and(|known| egraph.find(known) == egraph.find(id)) {
            return;
        }
        let folded = egraph.add(node);
        provenance::fold(egraph, id, folded);
    }
}
