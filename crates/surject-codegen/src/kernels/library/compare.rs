//! What a sort of the runtime asks of the program, as kernels: whether an element comes before another, or the key of
//! every element of a line.
//!
//! A kernel has its tensors in the order of its table: those of the operands, and then what it writes.

use super::order::Key;
use super::points::Maker;
use super::scalar::ScalarFunction;
use super::vectors::{Vectors, overflow, pieces, vector_at};
use super::{Call, Lowered};
use crate::CodegenError;
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Access, Affine, Kernel, LoopKind, Mem, Op, Place, Type, Value};

/// Lines of elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// How many there are.
    pub(crate) length: i64,
    /// How far apart they lie.
    pub(crate) stride: i64,
}

/// The kernel of a comparison: of every operand an element of the left side and one of the right side, and a byte that says
/// whether the left side comes first.
pub(crate) fn comparison(call: Call<'_>, less: &ScalarFunction) -> Lowered<Kernel> {
    let mut maker = Maker::new(call, &[], "less".to_string());
    let mut arguments = Vec::new();
    for (i, &operand) in call.args.iter().enumerate() {
        let parts = maker.parts(operand);
        let dtype = call.function.ty(operand).dtype.part();
        for side in ["left", "right"] {
            let mem = maker.b.parameter(format!("{side}{i}"), dtype, parts.len() as i64, Access::Read);
            for part in &parts {
                arguments.push(maker.b.load(Place::new(mem, part.number), Type::scalar(dtype)));
            }
        }
    }
    let before = maker.b.parameter("before", DType::I1, 1, Access::Write);
    let answer = maker.applied(less, &arguments, &[])?;
    let answer = answer.first().ok_or_else(|| CodegenError::malformed("a comparator without an answer"))?;
    maker.b.store(Place::new(before, 0), *answer);
    verified(maker)
}

/// The kernel that computes the keys of a line: numbers without a sign that are ordered as the elements are, of 32 bits or of 64.
/// Where elements lie next to each other, so many of them are computed side by side.
pub(crate) fn keys(call: Call<'_>, key: &Key, line: Line, lanes: i64) -> Lowered<Kernel> {
    let mut maker = Maker::new(call, &[], "keys".to_string());
    let reach = (line.length - 1).checked_mul(line.stride).and_then(|n| n.checked_add(1));
    let mut operands: Vec<(Mem, i64)> = Vec::new();
    for (i, &operand) in call.args.iter().enumerate() {
        let parts = maker.parts(operand).len() as i64;
        let elements = reach.and_then(|n| n.checked_mul(parts)).ok_or_else(overflow)?;
        let dtype = call.function.ty(operand).dtype.part();
        operands.push((maker.b.parameter(format!("line{i}"), dtype, elements, Access::Read), parts));
    }
    let wide = if key.dtype.size() == 8 { DType::U64 } else { DType::U32 };
    let to = maker.b.parameter("keys", wide, line.length, Access::Write);
    let lanes = if line.stride == 1 && operands.iter().all(|o| o.1 == 1) { lanes } else { 1 };
    for Vectors { lanes, first, count } in pieces(line.length, lanes) {
        let (vector, _) = maker.b.open_for(0, count, 1, LoopKind::Serial, &[]);
        let at = Affine::from(vector).times(lanes).and_then(|at| at.plus(&first.into(), 1));
        let at = vector_at(at.ok_or_else(overflow)?, lanes)?;
        let mut arguments = Vec::new();
        for &(mem, parts) in &operands {
            let element = at.times(line.stride).and_then(|at| at.times(parts)).ok_or_else(overflow)?;
            let mut own = Vec::new();
            for part in 0..parts {
                let place = element.plus(&part.into(), 1).ok_or_else(overflow)?;
                let ty = Type::vector(maker.b.memory_type(mem), lanes as usize);
                own.push(maker.b.load(Place::new(mem, place), ty));
            }
            // Both sides have their places; the key has only one of them.
            arguments.extend(own.iter().chain(&own));
        }
        let value = maker.applied(&key.function, &arguments, &[])?;
        let value = value.first().ok_or_else(|| CodegenError::malformed("a key without a value"))?;
        let value = ordered(&mut maker, key, *value, wide);
        maker.b.store(Place::new(to, at), value);
        maker.b.close_for(&[]);
    }
    verified(maker)
}

/// A key as a number without a sign that is ordered as the key is.
fn ordered(maker: &mut Maker<'_>, key: &Key, value: Value, wide: DType) -> Value {
    let lanes = maker.b.ty(value).lanes;
    let mut value = value;
    let unsigned = match key.dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    };
    if unsigned != key.dtype {
        value = maker.b.pure(Op::Bitcast(value), Type::vector(unsigned, lanes));
        let sign = maker.b.splat(Scalar::from_i128(unsigned, 1 << (8 * unsigned.size() - 1)), lanes);
        value = maker.b.binary(BinaryOp::Xor, value, sign);
    }
    value = maker.b.convert(value, wide);
    if key.descending {
        let all = maker.b.splat(Scalar::from_i128(wide, (1 << (8 * wide.size())) - 1), lanes);
        value = maker.b.binary(BinaryOp::Xor, value, all);
    }
    value
}

fn verified(maker: Maker<'_>) -> Lowered<Kernel> {
    let kernel = maker.b.finish();
    surject_kernel::verify(&kernel).map_err(|error| CodegenError::malformed(error.to_string()))?;
    Ok(kernel)
}
