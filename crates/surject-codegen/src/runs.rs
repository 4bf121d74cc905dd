//! Long runs of one byte, and of the elements of a tensor as they lie, are left to functions of the C library.
//!
//! A store into a line that no cache has fetches the line first; these functions know instructions that claim a line
//! without. On a Zen 5 zeros that leave the caches of a core take 0.35 to 0.9 of the time of vectors that are stored, copies
//! that stay in the last cache 0.45 to 0.95; what stays nearer takes up to twice as long.

use crate::address::{Lin, LoopId};
use crate::dag::{Buf, Dag, Node, NodeId};
use crate::emit::{Bounds, Elem, Emitter, ScopeId};
use crate::row::Row;
use crate::schedule::{Output, Schedule};
use crate::stream::{size, written};
use crate::{CodegenError, Target, address::GuardFact};
use surject_ir::{AccOp, BinaryOp, Scalar};

/// Bytes of a run that is worth a call. (Rows of 4 KiB that are put beside others took up to 1.5 times as long as in vectors.)
const FILLED: i64 = 1 << 14;
const MOVED: i64 = 1 << 16;
/// The same where small programs are treated as large ones: shorter runs are still done in vectors.
const EAGER: i64 = 1 << 8;

/// Bytes that are moved by one call: of more the library thinks that they are better stored past the caches.
pub(crate) const CHUNK: i64 = 1 << 16;

/// The call that moves bytes.
pub(crate) fn copied(to: &str, from: &str, bytes: &str) -> String {
    format!(
        "\"llvm.intr.memcpy\"({to}, {from}, {bytes}) <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()"
    )
}

/// How long a run must be to be left to the library, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// One byte again and again.
    filled: Option<i64>,
    /// Elements of a tensor.
    moved: Option<i64>,
}

/// What a run consists of.
pub(crate) enum Run {
    /// This byte again and again.
    Byte(u8),
    /// The elements of a tensor from an address on.
    Of(Buf, Lin),
}

/// A value where conditions are decided.
enum Value {
    Const(Scalar),
    Load(Buf, Lin),
}

impl Runs {
    /// Those of a kernel with this schedule.
    pub(crate) fn of(dag: &Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Runs {
        let (Some(&last), [output]) = (schedule.order.last().filter(|_| schedule.is_plain()), outputs) else {
            return Runs::default();
        };
        if output.join.is_some() || output.address.coeff(last) != 1 {
            return Runs::default();
        }
        let (near, bytes) = (target.second_bytes() as f64, written(dag, outputs));
        let least = |far: bool, least: i64| if target.eager { Some(EAGER) } else { far.then_some(least) };
        Runs {
            filled: least(bytes >= near, FILLED),
            // What no cache holds is stored past them.
            moved: least(2.0 * bytes >= near && bytes <= target.last_bytes as f64, MOVED)
                .filter(|_| target.moves),
        }
    }
}

/// The value at a scope, if it is a constant or an element of a tensor as it is. A few nodes are looked at.
fn value(em: &Emitter<'_>, n: NodeId, scope: ScopeId, left: &mut usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    let facts = || em.dag[n].node.guards().iter().map(|g| em.fact(g, scope));
    let mut value = |n: NodeId| value(em, n, scope, left);
    match &em.dag[n].node {
        Node::Const(constant) => Some(Value::Const(*constant)),
        Node::Guarded { fill, .. } if facts().any(|f| f == GuardFact::Never) => Some(Value::Const(*fill)),
        node if facts().any(|f| f != GuardFact::Always) || matches!(node, Node::Gather { .. }) => None,
        Node::Guarded { inner, .. } => value(*inner),
        Node::Load { buf, address, .. } => Some(Value::Load(*buf, address.clone())),
        // Pieces that are put side by side are added up, each with the neutral element where the others are.
        Node::Binary(BinaryOp::Add, x, y) => {
            let neutral = AccOp::Add.exact_neutral(em.dag[n].dtype);
            match (value(*x)?, value(*y)?) {
                (Value::Const(c), other) | (other, Value::Const(c)) if c == neutral => Some(other),
                _ => None,
            }
        }
        Node::Select(condition, x, y) => match value(*condition)? {
            Value::Const(c) => value(if c.is_true() { *x } else { *y }),
            Value::Load(..) => None,
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
        (start, end): (i64, i64),
    ) -> Option<Run> {
        /// Nodes that are looked at.
        const MOST: usize = 64;
        let Runs { filled, moved } = self.schedule.runs;
        let [output] = self.outputs else { return None };
        let bytes = (end - start).saturating_mul(size(em.dag, output));
        let long = |least: Option<i64>| least.is_some_and(|least| bytes >= least);
        if em.stash.is_some() || !long(filled) && !long(moved) {
            return None;
        }
        let part = em.open(scope, vec![(l, String::new())], None);
        em.limit(part, l, start, end);
        match value(em, output.root, part, &mut MOST.clone())? {
            Value::Const(constant) => {
                let size = usize::try_from(size(em.dag, output)).ok()?;
                let all = constant.bits().to_le_bytes();
                let alike = all.get(..size)?.iter().all(|&byte| byte == all[0]);
                (long(filled) && alike).then_some(Run::Byte(all[0]))
            }
            Value::Load(buf, address) => {
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
            Ok::<_, CodegenError>(em.element(&pointer, &place, elem, scope))
        };
        let bytes = |em: &mut Emitter<'_>, count: &str, scope: ScopeId| {
            let size = em.int(elem.size() as i64);
            em.op(scope, &format!("arith.muli {count}, {size} : i64"))
        };
        match run {
            Run::Byte(byte) => {
                let first = em.open(scope, vec![(l, bounds.low.clone())], None);
                let to = place(em, (output.to, &output.address), first)?;
                let zero = em.int(0);
                let count = em.op(first, &format!("arith.subi {}, {} : i64", bounds.high, bounds.low));
                let count = em.op(first, &format!("arith.maxsi {count}, {zero} : i64"));
                let bytes = bytes(em, &count, first);
                let byte = em.constant(Elem::I8, u64::from(*byte), 1);
                let fill = format!(
                    "\"llvm.intr.memset\"({to}, {byte}, {bytes}) <{{isVolatile = false}}> : (!llvm.ptr, i8, i64) -> ()"
                );
                em.line(first, &fill);
                em.close_plain(first);
            }
            Run::Of(buf, address) => {
                let iv = em.name();
                let step = em.int(CHUNK / elem.size() as i64);
                let chunk = em.open(scope, vec![(l, iv.clone())], None);
                let to = place(em, (output.to, &output.address), chunk)?;
                let from = place(em, (*buf, address), chunk)?;
                let left = em.op(chunk, &format!("arith.subi {}, {iv} : i64", bounds.high));
                let count = em.op(chunk, &format!("arith.minsi {left}, {step} : i64"));
                let bytes = bytes(em, &count, chunk);
                em.line(chunk, &copied(&to, &from, &bytes));
                em.close_loop(chunk, &iv, &Bounds { step, ..bounds }, &[]);
            }
        }
        Ok(())
    }
}
