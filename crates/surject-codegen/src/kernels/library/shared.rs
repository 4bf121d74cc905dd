//! Blocks whose threads share lines in shared memory.

use super::Lowered;
use super::points::Maker;
use crate::kernels::expression::Tensor;
use surject_ir::BinaryOp;
use surject_kernel::{Affine, Level, LoopKind, Mem, Place, Space, Type, Value};

/// The threads of a block.
const THREADS: i64 = 256;

pub(super) fn open_threads(maker: &mut Maker<'_>) -> Value {
    maker.b.open_for(0, THREADS, 1, LoopKind::Parallel(Level::Thread), &[]).0
}

/// Runs something for every number below `most`, or below a length where that is less; each thread has some.
pub(super) fn each<'a>(
    maker: &mut Maker<'a>,
    thread: Value,
    (most, length): (i64, Option<Value>),
    f: impl FnOnce(&mut Maker<'a>, Value) -> Lowered<()>,
) -> Lowered<()> {
    let turns = (most + THREADS - 1) / THREADS;
    let (turn, _) = maker.b.open_for(0, turns, 1, LoopKind::Serial, &[]);
    let at = Affine::from(thread).plus(&turn.into(), THREADS);
    let at = at.ok_or_else(|| crate::CodegenError::overflow("a position"))?;
    let at = maker.position(at);
    let length = match length {
        None if most % THREADS == 0 => None,
        None => Some(maker.int(most)),
        length => length,
    };
    match length {
        None => f(maker, at)?,
        Some(length) => {
            let exists = maker.compare(BinaryOp::Lt, at, length);
            maker.when(exists, &[], |maker| f(maker, at).map(|()| Vec::new()))?;
        }
    }
    maker.b.close_for(&[]);
    Ok(())
}

/// Memory for a part of every tensor.
pub(super) fn buffers(maker: &mut Maker<'_>, tensors: &[Tensor], part: i64) -> Lowered<Vec<Mem>> {
    let mut all = Vec::new();
    for &tensor in tensors {
        let dtype = maker.ty(tensor)?.dtype;
        all.push(maker.b.alloc("part", dtype, part, Space::Shared));
    }
    Ok(all)
}

pub(super) fn load(maker: &mut Maker<'_>, mem: Mem, at: Value) -> Value {
    let ty = Type::scalar(maker.b.memory_type(mem));
    maker.b.load(Place { offset: Some(at), ..Place::new(mem, 0) }, ty)
}

pub(super) fn store(maker: &mut Maker<'_>, mem: Mem, at: Value, value: Value) {
    maker.b.store(Place { offset: Some(at), ..Place::new(mem, 0) }, value);
}
