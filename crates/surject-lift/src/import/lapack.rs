//! The routines of LAPACK that jax calls on a CPU, and the targets that it calls on a TPU for the same: operations of the
//! library, as Cholesky factors and triangular systems are.

use super::cx::Cx;
use super::state::Result;
use crate::error::LiftError;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, LibOp, Scalar, TensorType, Transpose, UnaryOp};
use surject_stablehlo::lapack::{self, Part};

/// Lifts a call; `None` if the target is no routine.
pub(super) fn lift(cx: &mut Cx<'_, '_>, target: &str) -> Option<Result<()>> {
    match lapack::routine_name(target) {
        Some("potrf") => return Some(potrf(cx)),
        Some("trsm") => return Some(trsm(cx)),
        _ => {}
    }
    let call = lapack::call(cx.lift.module, cx.op, target)?;
    Some(call.map_err(|detail| cx.unsupported(detail)).and_then(|call| routine(cx, &call)))
}

/// The shape of a result with a `?`; `None` if the target is no routine.
pub(super) fn shape(cx: &mut Cx<'_, '_>, target: &str, result: usize) -> Result<Option<Vec<Extent>>> {
    let own = |cx: &Cx<'_, '_>, i: usize| Ok::<_, LiftError>(cx.operand_type(i)?.space.extents().to_vec());
    match (lapack::routine_name(target), result) {
        (Some("potrf"), 0) => return own(cx, 0).map(Some),
        (Some("potrf"), _) => {
            let mut shape = own(cx, 0)?;
            shape.truncate(shape.len().saturating_sub(2));
            return Ok(Some(shape));
        }
        (Some("trsm"), _) => return own(cx, 1).map(Some),
        _ => {}
    }
    let Some(call) = lapack::call(cx.lift.module, cx.op, target) else { return Ok(None) };
    let call = call.map_err(|detail| cx.unsupported(detail))?;
    let args = call.operands.iter().map(|&i| cx.operand_type(i)).collect::<Result<Vec<TensorType>>>()?;
    let op = LibOp::Lapack { routine: call.routine };
    let results = op.infer_given(&args, &[], &cx.lift.sizes.facts).map_err(|e| cx.unsupported(e.reason))?;
    Ok(match call.results.get(result) {
        Some(&Part::Operand(i)) => Some(own(cx, i)?),
        Some(&(Part::Result(k) | Part::LessOne(k) | Part::Real(k) | Part::Imaginary(k))) => {
            results.get(k).map(|ty| ty.space.extents().to_vec())
        }
        Some(Part::Zeros) => results.last().map(|ty| ty.space.extents().to_vec()),
        None => None,
    })
}

fn routine(cx: &mut Cx<'_, '_>, call: &lapack::Call) -> Result<()> {
    if let Some(zero) = call.zero {
        let field = cx.field(zero)?;
        if cx.const_of(field).is_none_or(|value| value != Scalar::zero(value.dtype())) {
            return Err(cx.unsupported("columns that are to stay in front"));
        }
    }
    let args = call.operands.iter().map(|&i| cx.var(i)).collect::<Result<Vec<_>>>()?;
    let results = cx.call(LibOp::Lapack { routine: call.routine }, args, Vec::new())?;
    for (i, part) in call.results.iter().enumerate() {
        let of = |k: usize| results.get(k).copied().ok_or_else(|| cx.invalid("a result too many"));
        let field = match *part {
            Part::Operand(operand) => {
                let value = cx.value(operand)?;
                cx.bind(i, value)?;
                continue;
            }
            Part::Result(k) => {
                let var = of(k)?;
                cx.lift.function.tensor(var)
            }
            Part::LessOne(k) => {
                let var = of(k)?;
                let positions = cx.lift.function.tensor(var);
                let one = cx.number(positions, 1.0);
                cx.binary(BinaryOp::Sub, positions, one)?
            }
            Part::Real(k) | Part::Imaginary(k) => {
                let var = of(k)?;
                let values = cx.lift.function.tensor(var);
                let op = if matches!(part, Part::Real(_)) { UnaryOp::Real } else { UnaryOp::Imag };
                cx.unary(op, values)?
            }
            Part::Zeros => {
                let ty = cx.result_type(i)?;
                cx.constant(&ty.space, Scalar::zero(ty.dtype))
            }
        };
        cx.store(i, field)?;
    }
    Ok(())
}

/// The flags of a call, which are letters.
fn flag(cx: &Cx<'_, '_>, name: &str, letters: &str) -> Result<char> {
    lapack::letter(cx.op, name, letters).map_err(|detail| cx.unsupported(detail))
}

/// A matrix operand, in the column-major layout that LAPACK reads.
fn matrix(cx: &Cx<'_, '_>, i: usize) -> Result<TensorType> {
    let ty = cx.operand_type(i)?;
    if !(ty.dtype.is_float() || ty.dtype.is_complex()) || ty.space.rank() < 2 {
        return Err(cx.unsupported(format!("an operand of type {ty}")));
    }
    lapack::column_major(cx.lift.module, cx.op, i).map_err(|detail| cx.unsupported(detail))?;
    Ok(ty)
}

/// `potrf`: the factor in one triangle, the other triangle as it was. The second result is 0 for each matrix
/// that has a factor and 1 for the others (LAPACK says which minor fails; jax asks only whether it is 0).
fn potrf(cx: &mut Cx<'_, '_>) -> Result<()> {
    let lower = flag(cx, "uplo", "LU")? == 'L';
    let ty = matrix(cx, 0)?;
    let rank = ty.space.rank();
    let a = cx.var(0)?;
    // Only one triangle is read, as the matrix is taken to be symmetric.
    let factor = cx.call(LibOp::Cholesky { lower }, vec![a], Vec::new())?[0];
    let (a, factor) = (cx.lift.function.tensor(a), cx.lift.function.tensor(factor));
    let inside = triangle(cx, &ty.space, lower)?;
    let field = cx.select(inside, factor, a)?;
    cx.store(0, field)?;
    // A matrix without a factor has NaN on its diagonal.
    let batch: Vec<usize> = (0..rank - 2).collect();
    let own = cx.space(factor);
    let size = own.extent(rank - 1).clone();
    let points = own.select(&batch).product(&Space::new([size]));
    let mut components: Vec<usize> = batch.clone();
    components.extend([rank - 2, rank - 2]);
    let components = components.iter().map(|&a| Affine::axis(rank - 1, a)).collect();
    let map = cx.total(points.clone(), own, components)?;
    let diagonal = cx.read(map, factor)?;
    let broken = cx.binary(BinaryOp::Ne, diagonal, diagonal)?;
    let onto = IndexMap::projection(&points, &batch);
    let broken = cx.acc(AccOp::Or, onto, broken)?;
    let info = cx.convert(DType::I32, broken);
    cx.store(1, info)
}

/// `true` in the lower (or upper) triangle, diagonal included.
fn triangle(cx: &mut Cx<'_, '_>, space: &Space, lower: bool) -> Result<FieldId> {
    let rank = space.rank();
    let (row, column) = (cx.index(space, rank - 2, DType::I64)?, cx.index(space, rank - 1, DType::I64)?);
    cx.binary(if lower { BinaryOp::Ge } else { BinaryOp::Le }, row, column)
}

/// `trsm`
fn trsm(cx: &mut Cx<'_, '_>) -> Result<()> {
    let left_side = flag(cx, "side", "LR")? == 'L';
    let lower = flag(cx, "uplo", "LU")? == 'L';
    let unit_diagonal = flag(cx, "diag", "NU")? == 'U';
    let transpose = match flag(cx, "trans_x", "NTC")? {
        'N' => Transpose::No,
        'T' => Transpose::Transpose,
        _ => Transpose::Adjoint,
    };
    matrix(cx, 0)?;
    matrix(cx, 1)?;
    let args = cx.vars(0, 2)?;
    cx.library(LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose }, args, Vec::new())
}
