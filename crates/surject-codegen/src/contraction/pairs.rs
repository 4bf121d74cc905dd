//! Products of values of few bits: several terms at once.
//!
//! Where the machine multiplies pairs of 16-bit values and adds the two products, panels hold two consecutive points
//! of a summed loop in one element; where it does so with bytes, four.
//!
//! *Integers and bytes.* What comes of 8 bits, with a zero point subtracted or not, fits into 16 bits. The sum wraps as
//! a sum of 32-bit products does, so it is the same for all values.
//!
//! *Halves.* Values that are those of a `bf16`, as such or converted to `f32`. A product of two is exact in `f32`, and
//! sums are rounded to nearest as those of `f32` are. But the instruction takes subnormal factors for zeros (so does
//! XLA), and one times a large number is not small. Panels say whether there are such factors ([`Least`]); tiles that
//! meet one multiply in `f32`. What it does with subnormal sums stays: they become zeros, an error of no more than
//! 2⁻¹²⁶ a term.

use super::Contraction;
use crate::address::LoopId;
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{Elem, Emitter, ScopeId};
use crate::{CodegenError, Target};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, eval};

/// What an element of a panel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 16-bit integers.
    Integers,
    /// Values of `bf16`.
    Halves,
    /// Integers of 8 bits: are those of the rows signed, and those of the columns?
    Bytes([bool; 2]),
}

/// A summed loop whose points are taken some at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// The loop.
    pub along: LoopId,
    /// What an element holds.
    pub kind: Kind,
}

/// Are all values of two factors bytes, signed or not?
pub(super) fn bytes(dag: &Dag, factors: [NodeId; 2]) -> Option<Kind> {
    let [rows, columns] = factors.map(|n| {
        let (low, high) = range(dag, n)?;
        let signed = low >= i8::MIN.into() && high <= i8::MAX.into();
        (signed || low >= 0 && high <= u8::MAX.into()).then_some(signed)
    });
    Some(Kind::Bytes([rows?, columns?]))
}

/// The summed loop whose points are taken in pairs, if the terms allow it.
pub(super) fn find(
    dag: &Dag,
    (op, body): (AccOp, NodeId),
    loops: &[LoopId],
    target: &Target,
) -> Option<Pairs> {
    let Node::Binary(BinaryOp::Mul, x, y) = dag[body].node else { return None };
    let small = |n: NodeId| {
        range(dag, n).is_some_and(|(low, high)| low >= i16::MIN.into() && high <= i16::MAX.into())
    };
    let kind = match dag[body].dtype {
        _ if op != AccOp::Add => return None,
        DType::I32 | DType::U32 if target.pairs && small(x) && small(y) => Kind::Integers,
        DType::BF16 | DType::F32 if target.halves && is_half(dag, x) && is_half(dag, y) => Kind::Halves,
        _ => return None,
    };
    // The longest loop leaves the least over; of those that are alike, one that both factors have next to each other.
    let near = |l: LoopId| {
        let nodes = dag.reachable(&[x, y], true);
        let near = nodes.iter().filter(|&&n| match &dag[n].node {
            Node::Load { address, .. } => address.coeff(l).abs() == 1,
            _ => false,
        });
        near.count()
    };
    let along =
        loops.iter().copied().filter(|&l| dag.extent(l) > 1).max_by_key(|&l| (dag.extent(l), near(l), l))?;
    Some(Pairs { along, kind })
}

/// Is every value that of a `bf16`?
fn is_half(dag: &Dag, root: NodeId) -> bool {
    let exact = |c: Scalar| eval::convert(c.dtype(), eval::convert(DType::BF16, c)) == c;
    let mut known: HashMap<NodeId, bool> = HashMap::new();
    for id in dag.reachable(&[root], false) {
        let at = |n: &NodeId| known.get(n).copied().unwrap_or(false);
        let half = match &dag[id].node {
            _ if dag[id].dtype == DType::BF16 => true,
            _ if dag[id].dtype != DType::F32 => false,
            Node::Const(c) => exact(*c),
            // Eight bits are as many as a `bf16` has.
            Node::Convert(x) => {
                matches!(dag[*x].dtype, DType::BF16 | DType::I1 | DType::I8 | DType::U8)
            }
            Node::Guarded { fill, inner, .. } => exact(*fill) && at(inner),
            Node::Select(_, x, y) => at(x) && at(y),
            Node::Unary(UnaryOp::Neg | UnaryOp::Abs, x) => at(x),
            Node::Binary(BinaryOp::Min | BinaryOp::Max, x, y) => at(x) && at(y),
            _ => false,
        };
        known.insert(id, half);
    }
    known.get(&root).copied().unwrap_or(false)
}

/// The smallest and the largest value of an integer.
fn range(dag: &Dag, root: NodeId) -> Option<(i64, i64)> {
    let mut ranges: HashMap<NodeId, (i64, i64)> = HashMap::new();
    for id in dag.reachable(&[root], false) {
        let own = of_type(dag[id].dtype);
        let at = |n: &NodeId| ranges.get(n).copied();
        let both = |x: &NodeId, y: &NodeId| Some((at(x)?, at(y)?));
        let join = |(a, b): ((i64, i64), (i64, i64))| (a.0.min(b.0), a.1.max(b.1));
        let found = match &dag[id].node {
            Node::Const(value) => value.as_i128().and_then(|v| i64::try_from(v).ok()).map(|v| (v, v)),
            Node::Index(lin) => lin.range(&dag.extents),
            Node::Convert(x) => at(x),
            Node::Guarded { fill, inner, .. } => {
                let fill = fill.as_i128().and_then(|v| i64::try_from(v).ok());
                fill.and_then(|v| Some(join(((v, v), at(inner)?))))
            }
            Node::Select(_, x, y) => both(x, y).map(join),
            Node::Unary(UnaryOp::Neg, x) => at(x).map(|(low, high)| (-high, -low)),
            Node::Binary(BinaryOp::Add, x, y) => both(x, y).map(|(a, b)| (a.0 + b.0, a.1 + b.1)),
            Node::Binary(BinaryOp::Sub, x, y) => both(x, y).map(|(a, b)| (a.0 - b.1, a.1 - b.0)),
            Node::Binary(BinaryOp::Min, x, y) => both(x, y).map(|(a, b)| (a.0.min(b.0), a.1.min(b.1))),
            Node::Binary(BinaryOp::Max, x, y) => both(x, y).map(|(a, b)| (a.0.max(b.0), a.1.max(b.1))),
            _ => None,
        };
        // A value that may leave its type wraps, so nothing is known of it but the type.
        let inside = |r: &(i64, i64)| own.is_some_and(|(low, high)| r.0 >= low && r.1 <= high);
        if let Some(known) = found.filter(inside).or(own) {
            ranges.insert(id, known);
        }
    }
    ranges.get(&root).copied()
}

/// The range of a type of at most 32 bits: sums of two such values are far from overflow.
fn of_type(dtype: DType) -> Option<(i64, i64)> {
    Some(match dtype {
        DType::I1 => (0, 1),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        _ => return None,
    })
}

impl Pairs {
    /// The points that an element holds.
    pub fn points(self) -> usize {
        if let Kind::Bytes(_) = self.kind { 4 } else { 2 }
    }

    /// The type of the elements of a panel.
    fn elem(self) -> Elem {
        match self.kind {
            Kind::Integers | Kind::Bytes(_) => Elem::I32,
            Kind::Halves => Elem::F32,
        }
    }

    /// Bits of panel elements as integers.
    fn bits(self, em: &mut Emitter<'_>, scope: ScopeId, value: &str, lanes: usize) -> String {
        match self.kind {
            Kind::Integers | Kind::Bytes(_) => value.to_string(),
            Kind::Halves => cast(em, scope, value, (Elem::F32, lanes), (Elem::I32, lanes)),
        }
    }

    /// The element of so many values as it holds, the first one low.
    pub fn join(self, em: &mut Emitter<'_>, scope: ScopeId, values: &[String], lanes: usize) -> String {
        let (ty, bits) = (Elem::I32.ty(lanes), 32 / self.points() as u64);
        let mut all: Option<String> = None;
        for (value, place) in values.iter().zip((0..).step_by(bits as usize)) {
            let mut value = self.bits(em, scope, value, lanes);
            if self.kind == Kind::Halves {
                // It is in the upper bits.
                let upper = em.constant(Elem::I32, bits, lanes);
                value = em.op(scope, &format!("arith.shrui {value}, {upper} : {ty}"));
            } else {
                let mask = em.constant(Elem::I32, (1 << bits) - 1, lanes);
                value = em.op(scope, &format!("arith.andi {value}, {mask} : {ty}"));
            }
            let place = em.constant(Elem::I32, place, lanes);
            let value = em.op(scope, &format!("arith.shli {value}, {place} : {ty}"));
            all = Some(match all {
                Some(all) => em.op(scope, &format!("arith.ori {all}, {value} : {ty}")),
                None => value,
            });
        }
        let all = all.unwrap_or_else(|| em.constant(Elem::I32, 0, lanes));
        cast(em, scope, &all, (Elem::I32, lanes), (self.elem(), lanes))
    }

    /// Elements of neighbours in a vector of so many times as many lanes.
    pub fn neighbours(self, em: &mut Emitter<'_>, scope: ScopeId, value: &str, lanes: usize) -> String {
        let many = self.points() * lanes;
        let few = if self.points() == 4 { Elem::I8 } else { Elem::I16 };
        let wide = Elem::I32.ty(many);
        let mut value = self.bits(em, scope, value, many);
        if self.kind == Kind::Halves {
            let sixteen = em.constant(Elem::I32, 16, many);
            value = em.op(scope, &format!("arith.shrui {value}, {sixteen} : {wide}"));
        }
        let narrow = em.op(scope, &format!("arith.trunci {value} : {wide} to {}", few.ty(many)));
        cast(em, scope, &narrow, (few, many), (self.elem(), lanes))
    }

    /// `into` and the sums of the products of pairs.
    pub(super) fn multiply_add(
        self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (x, y): (&str, &str),
        into: &str,
        lanes: usize,
    ) -> Result<String, CodegenError> {
        let ty = self.elem().ty(lanes);
        if let Kind::Bytes(_) = self.kind {
            return Err(CodegenError::malformed("products of bytes outside the registers for tiles"));
        }
        if self.kind == Kind::Halves {
            let pairs = format!("vector<{}xbf16>", 2 * lanes);
            let [x, y] = [x, y].map(|v| em.op(scope, &format!("vector.bitcast {v} : {ty} to {pairs}")));
            return Ok(em.op(
                scope,
                &format!(
                    "llvm.call_intrinsic \"llvm.x86.avx512bf16.dpbf16ps.{}\"({into}, {x}, {y}) : \
                     ({ty}, {pairs}, {pairs}) -> {ty}",
                    32 * lanes
                ),
            ));
        }
        let halves = Elem::I16.ty(2 * lanes);
        let [x, y] = [x, y].map(|v| cast(em, scope, v, (Elem::I32, lanes), (Elem::I16, 2 * lanes)));
        let name = match lanes {
            16 => "avx512.pmaddw.d.512",
            8 => "avx2.pmadd.wd",
            _ => "sse2.pmadd.wd",
        };
        let sum = em.op(
            scope,
            &format!("llvm.call_intrinsic \"llvm.x86.{name}\"({x}, {y}) : ({halves}, {halves}) -> {ty}"),
        );
        Ok(em.op(scope, &format!("arith.addi {into}, {sum} : {ty}")))
    }

    /// As [`Pairs::multiply_add`] of halves, with whatever factors.
    pub(super) fn multiply_add_exactly(
        self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (x, y): (&str, &str),
        into: &str,
        lanes: usize,
    ) -> String {
        let ty = Elem::I32.ty(lanes);
        let (sixteen, upper) =
            (em.constant(Elem::I32, 16, lanes), em.constant(Elem::I32, 0xffff_0000, lanes));
        let parts = [x, y].map(|v| {
            let bits = self.bits(em, scope, v, lanes);
            let first = em.op(scope, &format!("arith.shli {bits}, {sixteen} : {ty}"));
            let second = em.op(scope, &format!("arith.andi {bits}, {upper} : {ty}"));
            [first, second].map(|v| cast(em, scope, &v, (Elem::I32, lanes), (Elem::F32, lanes)))
        });
        let [[x0, x1], [y0, y1]] = parts;
        let ty = Elem::F32.ty(lanes);
        let sum = em.op(scope, &format!("math.fma {x0}, {y0}, {into} : {ty}"));
        em.op(scope, &format!("math.fma {x1}, {y1}, {sum} : {ty}"))
    }
}

fn cast(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    value: &str,
    (from, many): (Elem, usize),
    (to, lanes): (Elem, usize),
) -> String {
    if from == to {
        return value.to_string();
    }
    let name = if many > 1 && from.size() != to.size() { "vector.bitcast" } else { "arith.bitcast" };
    em.op(scope, &format!("{name} {value} : {} to {}", from.ty(many), to.ty(lanes)))
}

/// Elements behind a panel: the mark.
pub(super) const MARK: i64 = 16;

/// Where the smallest halves of what is packed are kept: 16-bit integers, as many as a vector holds.
///
/// Without its sign a subnormal half is 1 to 0x7f; the smallest of all, less one, tells whether one is there. Zero is then
/// the largest.
pub(crate) struct Least {
    pointer: String,
    lanes: usize,
}

impl Least {
    /// One of its own, for vectors of so many pairs.
    pub(super) fn new(em: &mut Emitter<'_>, lanes: usize) -> Least {
        let (root, bytes) = (em.root(), em.int(4 * MARK));
        let pointer =
            em.op(root, &format!("llvm.alloca {bytes} x i8 {{alignment = 64 : i64}} : (i64) -> !llvm.ptr"));
        Least { pointer, lanes }
    }

    /// That behind a panel of so many pairs, where the mark will be.
    pub(super) fn behind(
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (panel, count): (&str, i64),
        lanes: usize,
    ) -> Least {
        let to = format!("llvm.getelementptr {panel}[{count}] : (!llvm.ptr) -> !llvm.ptr, i32");
        Least { pointer: em.op(scope, &to), lanes }
    }

    fn load(&self, em: &mut Emitter<'_>, scope: ScopeId, pairs: usize) -> String {
        let ty = Elem::I16.ty(2 * pairs);
        em.op(scope, &format!("llvm.load {} {{alignment = 4 : i64}} : !llvm.ptr -> {ty}", self.pointer))
    }

    fn store(&self, em: &mut Emitter<'_>, scope: ScopeId, least: &str, pairs: usize) {
        let ty = Elem::I16.ty(2 * pairs);
        em.line(
            scope,
            &format!("llvm.store {least}, {} {{alignment = 4 : i64}} : {ty}, !llvm.ptr", self.pointer),
        );
    }

    /// Nothing is packed yet.
    pub(super) fn start(&self, em: &mut Emitter<'_>, scope: ScopeId) {
        let most = em.constant(Elem::I16, 0xffff, 2 * self.lanes);
        self.store(em, scope, &most, self.lanes);
    }

    /// So many pairs side by side are packed.
    pub(crate) fn note(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        pairs: &str,
        (elem, many): (Elem, usize),
    ) {
        let halves = Elem::I16.ty(2 * many);
        let [size, one] = [0x7fff, 1].map(|bits| em.constant(Elem::I16, bits, 2 * many));
        let bits = em.op(scope, &format!("llvm.bitcast {pairs} : {} to {halves}", elem.ty(many)));
        let size = em.op(scope, &format!("arith.andi {bits}, {size} : {halves}"));
        let below = em.op(scope, &format!("arith.subi {size}, {one} : {halves}"));
        let least = self.load(em, scope, many);
        let least = em.op(scope, &format!("arith.minui {least}, {below} : {halves}"));
        self.store(em, scope, &least, many);
    }

    /// Joins what another one has kept.
    pub(super) fn join(&self, em: &mut Emitter<'_>, scope: ScopeId, other: &Least) {
        let [x, y] = [self, other].map(|least| least.load(em, scope, self.lanes));
        let least = em.op(scope, &format!("arith.minui {x}, {y} : {}", Elem::I16.ty(2 * self.lanes)));
        self.store(em, scope, &least, self.lanes);
    }

    /// Writes behind a panel of so many pairs of halves whether one of the halves is subnormal.
    pub(super) fn mark(&self, em: &mut Emitter<'_>, scope: ScopeId, (panel, count): (&str, i64)) {
        let (least, halves) = (self.load(em, scope, self.lanes), Elem::I16.ty(2 * self.lanes));
        let least = em.op(scope, &format!("vector.reduction <minui>, {least} : {halves} into i16"));
        let subnormal = em.constant(Elem::I16, 0x7f, 1);
        let any = em.op(scope, &format!("arith.cmpi ult, {least}, {subnormal} : i16"));
        let any = em.op(scope, &format!("arith.extui {any} : i1 to i32"));
        let to =
            em.op(scope, &format!("llvm.getelementptr {panel}[{count}] : (!llvm.ptr) -> !llvm.ptr, i32"));
        em.line(scope, &format!("llvm.store {any}, {to} : i32, !llvm.ptr"));
    }
}

/// Packs a panel of so many elements, and marks it if halves may be subnormal.
pub(super) fn marked(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    c: &Contraction,
    panel: (&str, i64),
    pack: impl FnOnce(&mut Emitter<'_>, Option<&Least>) -> Result<(), CodegenError>,
) -> Result<(), CodegenError> {
    if !c.has_halves() {
        return pack(em, None);
    }
    let least = Least::new(em, c.tile.0);
    least.start(em, scope);
    pack(em, Some(&least))?;
    least.mark(em, scope, panel);
    Ok(())
}

/// Is one of two panels of so many pairs marked?
pub(super) fn is_marked(em: &mut Emitter<'_>, scope: ScopeId, panels: [(&str, i64); 2]) -> String {
    let [x, y] = panels.map(|(panel, count)| {
        let from =
            em.op(scope, &format!("llvm.getelementptr {panel}[{count}] : (!llvm.ptr) -> !llvm.ptr, i32"));
        em.op(scope, &format!("llvm.load {from} : !llvm.ptr -> i32"))
    });
    let both = em.op(scope, &format!("arith.ori {x}, {y} : i32"));
    let zero = em.constant(Elem::I32, 0, 1);
    em.op(scope, &format!("arith.cmpi ne, {both}, {zero} : i32"))
}
