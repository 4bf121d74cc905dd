//! Sums of products as tiles: which expressions are ones, and how they are cut.

pub(crate) mod boxes;
mod fit;
mod tiles;
pub(crate) mod units;

pub(crate) use fit::fit;
pub use tiles::{
    Feed, GROUP, GROUP_ROWS, GROUP_TERMS, KEPT_REGISTERS, LANE_REGISTERS, OTHER_REGISTERS, Share, SubTile,
    Tiles,
};
pub use units::{MatrixUnit, UnitFactors, UnitTiles};

use super::expression::{AccessInfo, Expression, Tensor};
use crate::expression::address::{Guard, LoopId, LoopSet};
use crate::expression::dag::{Node, NodeId};
use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::Factors;

/// The threads of a warp.
pub(crate) const WARP: i64 = 32;

/// The bytes that a thread accesses at once.
pub(crate) const WIDEST: i64 = 16;

/// A sum of products of a left and a right value: with loops over points that only one of them depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Loops of the left value.
    pub rows: Vec<String>,
    /// Loops of the right value.
    pub columns: Vec<String>,
    /// Loops of the sum.
    pub terms: Vec<String>,
}

/// A factor of a sum of products.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The operations that compute an element; 0: it is loaded as it is.
    pub operations: usize,
    /// The bytes of an element.
    pub bytes: usize,
    /// The loops that what is stored of it depends on, where it is stored first.
    pub loops: Vec<String>,
    /// What is loaded for it; of several loads that with the most loops, which is guarded if one of them is.
    pub access: AccessInfo,
}

/// A factor of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// That of the rows.
    Left,
    /// That of the columns.
    Right,
}

/// A factor that is better stored before a product is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredFactor {
    /// Which.
    pub side: Side,
    /// What lies next to each other in it.
    pub layout: Layout,
}

/// What lies next to each other in a factor that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Terms: a row or a column is one piece.
    Terms,
    /// Columns of their last loop.
    Columns,
    /// So many columns of it, which divide all, for each term: a panel.
    Panels(i64),
}

/// The parts of a sum of products.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) sum: NodeId,
    pub(crate) left: NodeId,
    pub(crate) right: NodeId,
    /// What is summed of both, where that is not their product.
    pub(crate) term: Option<NodeId>,
}

/// As what matrix units multiply factors of a type: those of `f32`, which are rounded in the expression, as
/// tf32.
pub fn factors_of_units(factors: DType) -> Factors {
    if factors == DType::F32 { Factors::Tf32 } else { Factors::Own }
}

/// Is a float of `f32` that is rounded to so many bits one of tf32?
fn is_tf32(exponent: u32, mantissa: u32) -> bool {
    (exponent, mantissa) == (8, 10)
}

/// The type in which matrix units sum products of factors.
pub fn sum_of_units(factors: DType) -> DType {
    match factors {
        DType::I8 | DType::U8 => DType::I32,
        DType::F64 => DType::F64,
        _ => DType::F32,
    }
}

/// Tiles that fit an expression.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    pub(crate) parts: Parts,
    pub(crate) loops: [LoopId; 3],
    /// The loops over rows that run as one, the slowest first: the last of them is the first of `loops`.
    pub(crate) rows: Vec<LoopId>,
    pub(crate) tiles: Tiles,
    /// How the left and the right value are brought.
    pub(crate) bring: [Bring; 2],
    /// When a sum is needed, where tiles are left out.
    pub(crate) condition: Option<Condition>,
}

/// When a sum is needed.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// Where a value holds, or where it does not.
    Value(NodeId, bool),
    /// Where guards hold.
    Guards(Vec<Guard>),
}

/// How threads bring a tile of a value into shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bring {
    /// What lies next to each other there: the terms of a row or column, or the rows or columns of a term. It is what lies
    /// next to each other in global memory too, where anything does.
    pub(crate) by_terms: bool,
    /// Elements that a thread brings at once.
    pub(crate) lanes: i64,
    /// Threads of a warp that are neighbours along what lies next to each other, and how often they go on there.
    pub(crate) along: i64,
    pub(crate) along_steps: i64,
    /// How often the warps of a block go on across it.
    pub(crate) across_steps: i64,
}

impl Bring {
    /// No thread brings anything: boxes are copied.
    fn boxes(by_terms: bool) -> Bring {
        Bring { by_terms, lanes: 1, along: 1, along_steps: 1, across_steps: 1 }
    }
}

impl Contraction {
    /// The loops whose last tile is not whole.
    pub(crate) fn cut(&self, expression: &Expression) -> Vec<LoopId> {
        let extent = |l: &LoopId| expression.dag.extent(*l);
        let cut = self.loops.iter().zip(self.tiles.tile).skip(1);
        let mut cut: Vec<LoopId> = cut.filter(|&(l, by)| extent(l) % by != 0).map(|(&l, _)| l).collect();
        let rows = self.rows.iter().map(extent).fold(1, i64::saturating_mul);
        if rows % self.tiles.tile[0] != 0 {
            // What is beyond the last tile is beyond the loop that runs slowest.
            let slowest = self.rows.iter().find(|l| extent(l) != 1).or(self.rows.first());
            cut.extend(slowest);
        }
        cut
    }
}

impl Expression {
    /// Do these tiles fit, and can both be copied as they are?
    pub fn copies_tiles(&self, tiles: &Tiles) -> bool {
        fit(self, tiles).is_ok_and(|c| self.copies(&c))
    }

    /// Can tiles of both values be copied as they are: loads of elements that all exist, many at once?
    pub(crate) fn copies(&self, c: &Contraction) -> bool {
        [c.parts.left, c.parts.right].into_iter().zip(c.bring).all(|(n, b)| self.copies_side(c, n, b))
    }

    /// Can tiles of one of them?
    pub(crate) fn copies_side(&self, c: &Contraction, node: NodeId, how: Bring) -> bool {
        let plain = match &self.dag[node].node {
            Node::Load { guards, .. } => guards.is_empty(),
            _ => false,
        };
        plain && how.lanes > 1 && c.cut(self).is_empty()
    }

    /// The parts of the only reduction, if that is a sum of products.
    pub(crate) fn parts(&self) -> Option<Parts> {
        self.parts_by(&|body| match self.dag[body].node {
            Node::Binary(BinaryOp::Mul, left, right) => Some((left, right, None)),
            _ => None,
        })
    }

    /// The parts of a sum of products that each side has loops of; else those of a sum of what is computed of two loads.
    pub(crate) fn sides(&self) -> Option<Parts> {
        let of_both = |parts: &Parts| {
            let product = self.product_of(parts);
            product.is_some_and(|p| !p.rows.is_empty() && !p.columns.is_empty())
        };
        self.parts().filter(of_both).or_else(|| self.parts_by(&|body| self.pair(body)).filter(of_both))
    }

    /// The left and the right factor of a sum of products that each side has loops of.
    pub fn factors(&self) -> Option<[Factor; 2]> {
        let parts = self.sides().filter(|parts| parts.term.is_none())?;
        let factor = |value: NodeId| {
            let nodes = self.dag.all_reachable(&[value]);
            let is_loaded = |n: &NodeId| {
                matches!(self.dag[*n].node, Node::Const(_) | Node::Load { .. } | Node::Guarded { .. })
            };
            let loads: Vec<AccessInfo> = nodes.iter().filter_map(|&n| self.load_info(n)).collect();
            let guarded = loads.iter().any(|a| a.guarded);
            let access = loads.into_iter().max_by_key(|a| a.strides.len())?;
            let operations = nodes.iter().filter(|n| !is_loaded(n)).count();
            let bytes = self.dag[value].dtype.size();
            let loops = self.dag[self.unconditional(value)].deps.loops().map(|l| self.name(l)).collect();
            Some(Factor { operations, bytes, loops, access: AccessInfo { guarded, ..access } })
        };
        Some([factor(parts.left)?, factor(parts.right)?])
    }

    /// What is stored of a factor of a sum of products, and the loops that it depends on as memory has them: in panels once columns are
    /// in blocks.
    pub(crate) fn factor(
        &self,
        StoredFactor { side, layout }: StoredFactor,
    ) -> Option<(NodeId, Vec<LoopId>)> {
        let parts = self.sides().filter(|parts| parts.term.is_none())?;
        let Node::Reduce { loops: terms, .. } = &self.dag[parts.sum].node else { return None };
        let (value, other) = match side {
            Side::Left => (parts.left, parts.right),
            Side::Right => (parts.right, parts.left),
        };
        let value = self.unconditional(value);
        let (own, others) = (self.dag[value].deps, self.dag[other].deps);
        let (both, alone): (Vec<LoopId>, Vec<LoopId>) =
            self.loops.iter().filter(|&&l| own.contains(l)).partition(|&&l| others.contains(l));
        let terms = terms.iter().copied().filter(|&l| own.contains(l));
        let order = match layout {
            Layout::Terms => both.into_iter().chain(alone).chain(terms).collect(),
            Layout::Columns | Layout::Panels(_) => {
                let (last, blocks) = alone.split_last()?;
                both.into_iter().chain(blocks.iter().copied()).chain(terms).chain([*last]).collect()
            }
        };
        Some((value, order))
    }

    /// A value without the conditions on it, if it depends on fewer loops then and is a load that needs none.
    fn unconditional(&self, value: NodeId) -> NodeId {
        let mut inner = value;
        while let Node::Guarded { inner: next, .. } | Node::Convert(next) = self.dag[inner].node {
            inner = next;
        }
        let deps = |n: NodeId| self.dag.points(self.dag[n].deps);
        let is_plain = matches!(&self.dag[inner].node, Node::Load { guards, .. } if guards.is_empty());
        if is_plain && deps(inner) < deps(value) { inner } else { value }
    }

    /// The only two loads that a term is computed of, without conditions and positions, and the term.
    fn pair(&self, body: NodeId) -> Option<(NodeId, NodeId, Option<NodeId>)> {
        let (mut loads, nodes) = (Vec::new(), self.dag.all_reachable(&[body]));
        for n in nodes {
            match self.dag[n].node {
                Node::Load { .. } => loads.push(n),
                Node::Const(_) | Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_) => {
                }
                _ => return None,
            }
        }
        match loads[..] {
            [left, right] => Some((left, right, Some(body))),
            _ => None,
        }
    }

    /// The parts of the only reduction, if that is a sum of terms of two values, which a function finds.
    fn parts_by(
        &self,
        factors: &dyn Fn(NodeId) -> Option<(NodeId, NodeId, Option<NodeId>)>,
    ) -> Option<Parts> {
        let mut reductions =
            self.nodes().into_iter().filter(|&n| matches!(self.dag[n].node, Node::Reduce { .. }));
        let (sum, None) = (reductions.next()?, reductions.next()) else { return None };
        let Node::Reduce { op: AccOp::Add, body, .. } = self.dag[sum].node else { return None };
        let (left, right, term) = factors(body)?;
        // One output that is stored, each element once.
        let [output] = &self.outputs[..] else { return None };
        // Columns are what lies next to each other in it, whichever factor stands first.
        let only = |of: NodeId, other: NodeId| {
            let own = self.dag[of].deps.minus(self.dag[other].deps);
            self.loops.iter().any(|&l| own.contains(l) && output.address.coeff(l) == 1)
        };
        let transposed = only(left, right);
        let all: LoopSet = self.loops.iter().copied().collect();
        let once = self.loops.iter().all(|&l| self.free.contains(l));
        let reads_itself = self.nodes().into_iter().any(|n| match self.dag[n].node {
            Node::Load { buf, .. } => buf == output.to,
            _ => false,
        });
        let (left, right) = if transposed { (right, left) } else { (left, right) };
        (output.join.is_none()
            && once
            && !reads_itself
            && self.dag[sum].deps.minus(all) == LoopSet::default())
        .then_some(Parts { sum, left, right, term })
    }

    /// The parts of a sum of products whose factors matrix units multiply, or the type of one that they do not. Factors
    /// of 16 bits may be converted to `f32` first: the units round no product either. Those of 8 bits are converted to
    /// the `i32` in which they are summed: it wraps, and so do the units. Factors of `f32` that are rounded to tf32 the
    /// units take as they were before.
    fn parts_of_units(&self, parts: &Parts) -> Result<Parts, DType> {
        let narrow = |n: NodeId| match self.dag[n].node {
            Node::Convert(x) if self.converts_in_units(self.dag[x].dtype, self.dag[n].dtype) => x,
            _ => n,
        };
        let as_tf32 = |n: NodeId| match self.dag[n].node {
            Node::ReducePrecision(exponent, mantissa, x) if is_tf32(exponent, mantissa) => Some(x),
            _ => None,
        };
        if let (Some(left), Some(right)) = (as_tf32(parts.left), as_tf32(parts.right))
            && [left, right, parts.sum].map(|n| self.dag[n].dtype) == [DType::F32; 3]
        {
            return Ok(Parts { left, right, ..*parts });
        }
        let [left, right] = [parts.left, parts.right].map(narrow);
        let (of_left, of_right) = (self.dag[left].dtype, self.dag[right].dtype);
        if of_left != of_right {
            return Err(of_right);
        }
        let suits = match of_left {
            DType::F16 | DType::BF16 => true,
            DType::I8 | DType::U8 => self.dag[parts.sum].dtype == DType::I32,
            DType::F64 => self.dag[parts.sum].dtype == DType::F64,
            _ => false,
        };
        if suits { Ok(Parts { left, right, ..*parts }) } else { Err(of_left) }
    }

    /// Do matrix units take factors of one type for those of another?
    fn converts_in_units(&self, own: DType, to: DType) -> bool {
        match to {
            DType::F32 => matches!(own, DType::F16 | DType::BF16),
            DType::I32 => matches!(own, DType::I8 | DType::U8),
            _ => false,
        }
    }

    /// The type of the factors that matrix units multiply, if they do the expression; `f32` stands for tf32.
    pub fn matrix_units(&self) -> Option<DType> {
        let parts = self.parts_of_units(&self.parts()?).ok()?;
        Some(self.dag[parts.left].dtype)
    }

    /// Do the terms of the right value of a sum of products lie next to each other in memory, along a loop?
    pub fn right_lies_by_terms(&self, term: &str, column: &str) -> bool {
        self.sides().is_some_and(|parts| self.terms_are_neighbours(parts.right, term, column))
    }

    /// The same of the left value; several loops over rows have commas between their names.
    pub fn left_lies_by_terms(&self, term: &str, rows: &str) -> bool {
        let fastest = rows.rsplit(',').next().unwrap_or(rows);
        self.sides().is_some_and(|parts| self.terms_are_neighbours(parts.left, term, fastest))
    }

    fn terms_are_neighbours(&self, value: NodeId, term: &str, own: &str) -> bool {
        match (self.id(term), self.id(own)) {
            (Some(term), Some(own)) => self.lies_by_terms(value, own, term),
            _ => false,
        }
    }

    /// Are the loads of a value at neighbours along a loop neighbours in memory?
    fn lie_next(&self, value: NodeId, along: LoopId) -> bool {
        let nodes = self.dag.all_reachable(&[value]);
        let strides = nodes.into_iter().filter_map(|n| match &self.dag[n].node {
            Node::Load { address, .. } => Some(address.coeff(along)),
            _ => None,
        });
        let mut strides = strides.filter(|&s| s != 0).peekable();
        strides.peek().is_some() && strides.all(|s| s == 1)
    }

    fn lies_by_terms(&self, value: NodeId, own: LoopId, term: LoopId) -> bool {
        self.lie_next(value, term) && !self.lie_next(value, own)
    }

    /// How the warps of a block bring a tile of a value: `size` rows or columns along its own loop, and terms.
    fn bring(
        &self,
        value: NodeId,
        (own, size): (LoopId, i64),
        (term, terms): (LoopId, i64),
        warps: i64,
        one_by_one: bool,
    ) -> Result<Bring, String> {
        let by_terms = self.lies_by_terms(value, own, term);
        let (next, length, other) = if by_terms { (term, terms, size) } else { (own, size, terms) };
        // Several at once where rows begin at multiples of them.
        let most = (WIDEST / self.dag[value].dtype.size().max(1) as i64).max(1);
        let single = one_by_one && !by_terms;
        let whole = !single && self.lie_next(value, next) && self.dag.extent(next) % most == 0;
        let shared = |lanes: i64| {
            let slots = length / lanes;
            let along = slots.min(WARP);
            let divides = length % lanes == 0 && WARP % along == 0 && slots % along == 0;
            divides.then_some((along, slots / along))
        };
        let found = [if whole { most } else { 1 }, 1].into_iter().find_map(|l| Some((l, shared(l)?)));
        let (lanes, (along, along_steps)) =
            found.ok_or_else(|| format!("{length} neighbours are not shared evenly by {WARP} threads"))?;
        let across = warps * WARP / along;
        if other % across != 0 {
            return Err(format!("{other} times {length} elements are not shared evenly by {warps} warps"));
        }
        Ok(Bring { by_terms, lanes, along, along_steps, across_steps: other / across })
    }

    /// What picks something that needs no sum in the place of every sum: a mask.
    pub(crate) fn condition(&self) -> Option<Condition> {
        let sum = self.parts()?.sum;
        // From the root down, as long as one operand alone has the sum.
        let mut at = self.outputs.first()?.root;
        while at != sum {
            let reaches = |c: &NodeId| self.dag.reachable(&[*c]).contains(&sum);
            let mut with: Vec<NodeId> = self.dag[at].node.children().filter(reaches).collect();
            with.dedup();
            let [next] = with[..] else { return None };
            match &self.dag[at].node {
                Node::Select(c, x, y) if *c != next && x != y => {
                    return Some(Condition::Value(*c, *x == next));
                }
                Node::Guarded { guards, .. } => return Some(Condition::Guards(guards.clone())),
                _ => at = next,
            }
        }
        None
    }

    /// The constant that a mask puts in the place of sums, if it is one and nothing is computed of it.
    pub(crate) fn thrown_away(&self) -> Option<Scalar> {
        let constant = |n: NodeId| match self.dag[n].node {
            Node::Const(value) => Some(value),
            _ => None,
        };
        match &self.dag[self.outputs.first()?.root].node {
            // The choice itself: of what one further inside picks, something may be computed.
            Node::Select(c, x, y) => match self.condition()? {
                Condition::Value(own, true) if own == *c => constant(*y),
                Condition::Value(own, false) if own == *c => constant(*x),
                Condition::Value(..) | Condition::Guards(_) => None,
            },
            Node::Guarded { fill, .. } => Some(*fill),
            _ => None,
        }
    }

    /// Does a mask throw sums away, and of which tensors is it made?
    pub fn mask(&self) -> Option<Vec<Tensor>> {
        let root = match self.condition()? {
            Condition::Value(node, _) => node,
            Condition::Guards(_) => return Some(Vec::new()),
        };
        let nodes = self.dag.all_reachable(&[root]).into_iter();
        let tensors = nodes.filter_map(|n| match self.dag[n].node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => self.memory.get(&buf).map(|m| m.0),
            _ => None,
        });
        Some(tensors.collect())
    }

    /// The expression as a sum of products, if it is one.
    pub fn product(&self) -> Option<Product> {
        self.product_of(&self.parts()?)
    }

    /// The expression as a sum of terms of a left and a right value, of which threads sum tiles: their products, or what
    /// else is computed of them.
    pub fn pairs(&self) -> Option<Product> {
        self.product_of(&self.sides()?)
    }

    fn product_of(&self, parts: &Parts) -> Option<Product> {
        let (left, right) = (self.dag[parts.left].deps, self.dag[parts.right].deps);
        let names = |of: LoopSet, not: LoopSet| -> Vec<String> {
            let own = self.loops.iter().filter(|&&l| of.contains(l) && !not.contains(l));
            own.map(|&l| self.name(l)).collect()
        };
        let Node::Reduce { loops, .. } = &self.dag[parts.sum].node else { return None };
        let terms = loops.iter().filter(|&&l| left.contains(l) && right.contains(l));
        let terms = terms.map(|&l| self.name(l)).collect();
        Some(Product { rows: names(left, right), columns: names(right, left), terms })
    }
}
