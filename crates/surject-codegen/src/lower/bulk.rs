//! Emits long runs of one byte, or of the elements of a tensor, as `memset` and `memcpy` ([`crate::schedule::bulk`]).

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::{GuardFact, Lin, LoopId};
use crate::expression::dag::{Buf, Node, NodeId};
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::lower::row::Row;
use crate::machine::elem::Elem;
use crate::schedule::bulk::Runs;
use crate::schedule::non_temporal::size;
use surject_ir::{AccOp, BinaryOp, Scalar};

/// Bytes that are moved by one call: of more the library thinks that they are better stored past the caches.
pub(crate) const CHUNK: i64 = 1 << 16;

/// What a run consists of.
pub(crate) enum Run {
    /// This byte again and again.
    Byte(u8),
    /// The elements of a tensor from an address on.
    Of(Buf, Lin),
}

/// A value where conditions are decided.
enum Known {
    Const(Scalar),
    Load(Buf, Lin),
}

/// The value at a scope, if it is a constant or an element of a tensor as it is. A few nodes are looked at.
fn value(em: &Emitter<'_>, n: NodeId, scope: ScopeId, left: &mut usize) -> Option<Known> {
    *left = left.checked_sub(1)?;
    let facts = || em.dag[n].node.guards().iter().map(|g| em.fact(g, scope));
    let mut value = |n: NodeId| value(em, n, scope, left);
    match &em.dag[n].node {
        Node::Const(constant) => Some(Known::Const(*constant)),
        Node::Guarded { fill, .. } if facts().any(|f| f == GuardFact::Never) => Some(Known::Const(*fill)),
        node if facts().any(|f| f != GuardFact::Always) || matches!(node, Node::Gather { .. }) => None,
        Node::Guarded { inner, .. } => value(*inner),
        Node::Load { buf, address, .. } => Some(Known::Load(*buf, address.clone())),
        // Pieces that are put side by side are added up, each with the neutral element where the others are.
        Node::Binary(BinaryOp::Add, x, y) => {
            let neutral = AccOp::Add.exact_neutral(em.dag[n].dtype);
            match (value(*x)?, value(*y)?) {
                (Known::Const(c), other) | (other, Known::Const(c)) if c == neutral => Some(other),
                _ => None,
            }
        }
        Node::Select(condition, x, y) => match value(*condition)? {
            Known::Const(c) => value(if c.is_true() { *x } else { *y }),
            Known::Load(..) => None,
        },
        _ => None,
    }
}

impl Row<'_> {
    /// What a part of the last loop consists of, if it is a run that is left to the library.
    pub(crate) fn run(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        l: LoopId,
        start: i64,
        end: i64,
    ) -> Option<Run> {
        /// Nodes that are looked at.
        const MOST: usize = 64;
        let Runs { filled, moved } = self.schedule.runs;
        let [output] = self.outputs else { return None };
        let bytes = (end - start).saturating_mul(size(em.dag, output));
        let long = |least: Option<i64>| least.is_some_and(|least| bytes >= least);
        if em.term_cache.is_some() || !long(filled) && !long(moved) {
            return None;
        }
        let part = em.open(scope, vec![(l, Value::NONE)], None);
        em.limit(part, l, start, end);
        match value(em, output.root, part, &mut MOST.clone())? {
            Known::Const(constant) => {
                let size = usize::try_from(size(em.dag, output)).ok()?;
                let all = constant.bits().to_le_bytes();
                let alike = all.get(..size)?.iter().all(|&byte| byte == all[0]);
                (long(filled) && alike).then_some(Run::Byte(all[0]))
            }
            Known::Load(buf, address) => {
                (long(moved) && buf != Buf::OWN && address.coeff(l) == 1).then_some(Run::Of(buf, address))
            }
        }
    }

    /// Writes what a part of the last loop consists of.
    pub(crate) fn write_run(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (l, run): (LoopId, &Run),
        bounds: Bounds,
    ) -> Result<(), CodegenError> {
        let [output] = self.outputs else {
            return Err(CodegenError::malformed("a run that is not of one output"));
        };
        let elem = Elem::in_memory(em.dag[output.root].dtype);
        let place = |em: &mut Emitter<'_>, (buf, address): (Buf, &Lin), scope: ScopeId| {
            let (pointer, place) = (em.pointer(buf)?, em.lin(address, scope));
            Ok::<_, CodegenError>(em.element(pointer, place, elem, scope))
        };
        let bytes = |em: &mut Emitter<'_>, count: Value, scope: ScopeId| {
            let size = em.int(elem.size() as i64);
            em.arith(scope, "arith.muli", count, size)
        };
        match run {
            Run::Byte(byte) => {
                let first = em.open(scope, vec![(l, bounds.low)], None);
                let to = place(em, (output.to, &output.address), first)?;
                let zero = em.int(0);
                let count = em.arith(first, "arith.subi", bounds.high, bounds.low);
                let count = em.arith(first, "arith.maxsi", count, zero);
                let bytes = bytes(em, count, first);
                let byte = em.constant(Elem::I8, u64::from(*byte), 1);
                em.run(first, Op::Fill { to, byte, bytes });
                em.close_plain(first);
            }
            Run::Of(buf, address) => {
                let iv = em.name();
                let step = em.int(CHUNK / elem.size() as i64);
                let chunk = em.open(scope, vec![(l, iv)], None);
                let to = place(em, (output.to, &output.address), chunk)?;
                let from = place(em, (*buf, address), chunk)?;
                let left = em.arith(chunk, "arith.subi", bounds.high, iv);
                let count = em.arith(chunk, "arith.minsi", left, step);
                let bytes = bytes(em, count, chunk);
                em.run(chunk, Op::Copy { to, from, bytes });
                em.close_loop(chunk, iv, &Bounds { step, ..bounds }, &[]);
            }
        }
        Ok(())
    }
}
