//! Elementwise operations on tensors.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::number::{Class, Elements, class};
use super::scalar::kernel::kernel;
use super::value::Tensor;
use crate::types::ElementType;

/// The elementwise operation of this name on the operands; none if it is no such operation.
pub(crate) fn apply(call: &mut Call<'_, '_>, name: &str) -> Result<Option<Tensor>> {
    let operands = call.tensors(0..call.args.len())?;
    if call.op.results.len() != 1 {
        return Ok(None);
    }
    let element = call.result_element(0)?.clone();
    apply_to(call, name, &operands, &element)
}

/// As [`apply`], to given tensors and for a given element type of the result.
pub(crate) fn apply_to(
    call: &Call<'_, '_>,
    name: &str,
    operands: &[Tensor],
    element: &ElementType,
) -> Result<Option<Tensor>> {
    let types: Vec<ElementType> = operands.iter().map(|t| t.element.clone()).collect();
    let Some(kernel) = kernel(name, call.op, &types, element)? else { return Ok(None) };
    let shape = common_shape(operands, matches!(name, "select" | "clamp"))?;
    let n = shape.iter().product();
    let elements = operands.iter().map(Tensor::elements).collect::<Result<Vec<_>>>()?;
    agree(&types, &elements, element)?;
    let result = if n == 0 { empty(element)? } else { kernel.map(&elements, n) };
    Tensor::of(element, &shape, &result).map(Some)
}

fn empty(element: &ElementType) -> Result<Elements> {
    Ok(match class(element)? {
        Class::I => Elements::I(Vec::new()),
        Class::F => Elements::F(Vec::new()),
        Class::C => Elements::C(Vec::new()),
    })
}

/// What reading gives is of the class that the function was chosen for.
fn agree(types: &[ElementType], elements: &[Elements], result: &ElementType) -> Result<()> {
    class(result)?;
    let fits = types.iter().zip(elements).all(|(ty, elements)| {
        matches!(
            (class(ty), elements),
            (Ok(Class::I), Elements::I(_)) | (Ok(Class::F), Elements::F(_)) | (Ok(Class::C), Elements::C(_))
        )
    });
    if fits { Ok(()) } else { Err(Error::unsupported("elements of these types")) }
}

/// The one shape of all operands; where it is allowed, scalars go with any.
fn common_shape(operands: &[Tensor], scalars: bool) -> Result<Vec<usize>> {
    let shape = operands
        .iter()
        .map(|t| &t.shape)
        .max_by_key(|shape| shape.len())
        .ok_or_else(|| Error::invalid("it has no operands"))?;
    match operands.iter().find(|t| t.shape != *shape && !(scalars && t.shape.is_empty())) {
        None => Ok(shape.clone()),
        Some(other) => Err(Error::invalid(format!("shapes {shape:?} and {:?}", other.shape))),
    }
}

impl Call<'_, '_> {
    /// Bits as elements of another type. Wider ones are made of the last dimension, the first of it being the lowest bits.
    pub(crate) fn bitcast_convert(&mut self) -> Values {
        let element = self.result_element(0)?.clone();
        let tensor = self.take(0)?;
        let bits = |element: &ElementType| match element.quantized() {
            Some(quantized) => Some(quantized.storage_bits as usize),
            None => element.bits().map(|bits| bits as usize),
        };
        let (Some(from), Some(to)) = (bits(&tensor.element), bits(&element)) else {
            return Err(Error::unsupported(format!("{} as bits of {element}", tensor.ty())));
        };
        let mut shape = tensor.shape.clone();
        if from == to {
            let bytes = recode(&tensor.element, &element, tensor.bytes());
            return one(match bytes {
                Some(bytes) => Tensor::raw(element, shape, bytes),
                None => tensor.with(element, shape),
            });
        }
        if from > to && from % to == 0 {
            shape.push(from / to);
        } else if to % from == 0 && shape.pop() == Some(to / from) {
        } else {
            return Err(Error::invalid(format!("{} as bits of {element}", tensor.ty())));
        }
        if from % 8 == 0 && to % 8 == 0 {
            return one(tensor.with(element, shape));
        }
        let packed = pack(tensor.bytes(), from);
        let mut bytes = unpack(&packed, to, &element);
        if to < 8 {
            // The last byte may be filled up.
            bytes.truncate(shape.iter().product());
        }
        Tensor::new(element, &shape, bytes)
            .map_or_else(|| Err(Error::invalid("bits that make no whole element")), one)
    }
}

/// Signed and unsigned integers below 8 bits differ in their upper bits.
fn recode(from: &ElementType, to: &ElementType, bytes: &[u8]) -> Option<Vec<u8>> {
    let narrow = from.bits().is_some_and(|bits| bits < 8);
    narrow.then(|| {
        let packed = pack(bytes, from.bits().unwrap_or(8) as usize);
        let mut unpacked = unpack(&packed, to.bits().unwrap_or(8) as usize, to);
        // The last byte may be filled up.
        unpacked.truncate(bytes.len());
        unpacked
    })
}

/// The bits of elements one after the other, lowest first.
fn pack(bytes: &[u8], bits: usize) -> Vec<u8> {
    if bits.is_multiple_of(8) {
        return bytes.to_vec();
    }
    let mut packed = vec![0u8; (bytes.len() * bits).div_ceil(8)];
    for (i, byte) in bytes.iter().enumerate() {
        for b in 0..bits {
            let at = i * bits + b;
            packed[at / 8] |= (byte >> b & 1) << (at % 8);
        }
    }
    packed
}

fn unpack(packed: &[u8], bits: usize, element: &ElementType) -> Vec<u8> {
    if bits.is_multiple_of(8) {
        return packed.to_vec();
    }
    let signed = super::number::Int::of(element).is_some_and(|int| int.signed);
    let count = packed.len() * 8 / bits;
    (0..count)
        .map(|i| {
            let mut byte = 0u8;
            for b in 0..bits {
                let at = i * bits + b;
                byte |= (packed[at / 8] >> (at % 8) & 1) << b;
            }
            if signed && byte >> (bits - 1) & 1 == 1 { byte | !0 << bits } else { byte }
        })
        .collect()
}
