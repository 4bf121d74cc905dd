//! Positions through index maps: composition, row-major addresses, loops over the axes of a tensor.

use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::Dag;
use crate::expression::stop::Stop;
use surject_index::{Affine, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp};

/// The row-major position of a point.
pub fn linearise(sizes: &[i64], components: &[Lin]) -> Result<Lin, CodegenError> {
    let overflow = || CodegenError::overflow("a tensor");
    let (mut address, mut stride) = (Lin::default(), 1i64);
    for (lin, &size) in components.iter().zip(sizes).rev() {
        if size != 1 {
            address = address.plus(lin, stride).ok_or_else(overflow)?;
            stride = stride.checked_mul(size).ok_or_else(overflow)?;
        }
    }
    Ok(address)
}

/// The sizes of a space.
pub fn sizes(space: &Space) -> Result<Vec<i64>, CodegenError> {
    space
        .sizes()
        .ok_or_else(|| CodegenError::unsupported(format!("the space {space}, which has a symbolic extent")))
}

/// The components of a map at a position.
pub fn compose(map: &IndexMap, position: &[Lin]) -> Result<Vec<Lin>, CodegenError> {
    map.components().iter().map(|c| compose_affine(c, position)).collect()
}

pub(crate) fn compose_affine(affine: &Affine, position: &[Lin]) -> Result<Lin, CodegenError> {
    let mut result = Lin::constant(affine.offset);
    for (&c, lin) in affine.coeffs.iter().zip(position) {
        if c != 0 {
            result = result.plus(lin, c).ok_or_else(|| CodegenError::overflow("an address"))?;
        }
    }
    Ok(result)
}

/// The operation that joins two partial results.
pub fn joining(op: AccOp) -> Result<BinaryOp, CodegenError> {
    op.binary().ok_or_else(|| CodegenError::malformed("`set` joins nothing"))
}

pub(crate) fn stop_is_error<T>(result: Result<T, Stop>) -> Result<T, CodegenError> {
    result.map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Spill(_) | Stop::Split(..) | Stop::Phase(..) => {
            CodegenError::unsupported("a tensor of more than 128 axes")
        }
    })
}

/// A loop per axis, and the position they run through.
pub fn box_loops(sizes: &[i64]) -> Result<(Dag, Vec<LoopId>, Vec<Lin>), Stop> {
    let mut dag = Dag::default();
    let (mut loops, mut position) = (Vec::new(), Vec::new());
    for &size in sizes {
        let l = dag.add_loop(size);
        let l = l.ok_or_else(|| CodegenError::unsupported("a tensor of more than 128 axes"))?;
        loops.push(l);
        position.push(if size == 1 { Lin::default() } else { Lin::var(l) });
    }
    Ok((dag, loops, position))
}
