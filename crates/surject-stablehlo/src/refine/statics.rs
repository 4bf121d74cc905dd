//! Operations that take shapes as operands, and those of other dialects that compute with shapes.

use super::fold::{Ints, extents};
use super::{merged, without};
use crate::attr::Attribute;
use crate::diagnostic::{Diagnostic, codes};
use crate::module::{Op, ValueId};
use crate::types::{Dim, ElementType, TensorType, Type};

/// Turns an operation whose shape operands are constants into its static form; the result types as far as they are
/// declared or follow from those constants.
pub(super) fn make_static<'a>(
    op: &mut Op,
    mut declared: Vec<Type>,
    ty: impl Fn(&ValueId) -> &'a Type,
    known: impl Fn(&ValueId) -> Option<&'a Ints>,
) -> Result<Vec<Type>, Diagnostic> {
    let ints = |op: &Op, i: usize| op.operands.get(i).and_then(&known).and_then(Ints::i64s);
    match op.name.as_ref() {
        "stablehlo.dynamic_broadcast_in_dim" => {
            if let Some(shape) = ints(op, 1) {
                declared[0] = shaped(op, &declared[0], &shape)?;
                op.name = "stablehlo.broadcast_in_dim".into();
                op.operands.truncate(1);
                let names = ["known_expanding_dimensions", "known_nonexpanding_dimensions"];
                op.attributes = without(&op.attributes, &names);
            }
        }
        "stablehlo.dynamic_iota" => {
            if let Some(shape) = ints(op, 0) {
                declared[0] = shaped(op, &declared[0], &shape)?;
                op.name = "stablehlo.iota".into();
                op.operands.clear();
            }
        }
        "stablehlo.dynamic_reshape" => {
            if let Some(shape) = ints(op, 1) {
                let count =
                    op.operands.first().map(&ty).and_then(Type::as_tensor).and_then(TensorType::num_elements);
                let shape = whole_shape(shape, count);
                declared[0] = shaped(op, &declared[0], &shape)?;
                if declared[0].as_tensor().is_some_and(|t| t.static_shape().is_some()) {
                    op.name = "stablehlo.reshape".into();
                    op.operands.truncate(1);
                }
            }
        }
        "stablehlo.reshape" => {
            // One extent follows from the others.
            let count =
                op.operands.first().map(&ty).and_then(Type::as_tensor).and_then(TensorType::num_elements);
            if let Type::Tensor(result) = &declared[0] {
                let shape = result.shape.iter().map(|d| d.known().unwrap_or(-1)).collect();
                let shape = whole_shape(shape, count);
                declared[0] = shaped(op, &declared[0], &shape)?;
            }
        }
        "stablehlo.bitcast_convert" => {
            // The shape of the wider type, and one more dimension that holds its parts.
            let operand = op.operands.first().map(&ty).and_then(Type::as_tensor);
            if let (Some(operand), Type::Tensor(result)) = (operand, &declared[0]) {
                let mut shape: Vec<i64> = operand.shape.iter().map(|d| d.known().unwrap_or(-1)).collect();
                match (operand.element.bits(), result.element.bits()) {
                    (Some(from), Some(to)) if from < to => drop(shape.pop()),
                    (Some(from), Some(to)) if from > to => shape.push(i64::from(from / to)),
                    _ => {}
                }
                if shape.len() == result.rank() {
                    declared[0] = shaped(op, &declared[0], &shape)?;
                }
            }
        }
        "stablehlo.dynamic_pad" => {
            if let (Some(low), Some(high), Some(interior)) = (ints(op, 2), ints(op, 3), ints(op, 4)) {
                op.name = "stablehlo.pad".into();
                op.operands.truncate(2);
                op.attributes.set("edge_padding_low", Attribute::I64s(low));
                op.attributes.set("edge_padding_high", Attribute::I64s(high));
                op.attributes.set("interior_padding", Attribute::I64s(interior));
            }
        }
        "stablehlo.real_dynamic_slice" => {
            if let (Some(start), Some(limit), Some(strides)) = (ints(op, 1), ints(op, 2), ints(op, 3)) {
                op.name = "stablehlo.slice".into();
                op.operands.truncate(1);
                op.attributes.set("start_indices", Attribute::I64s(start));
                op.attributes.set("limit_indices", Attribute::I64s(limit));
                op.attributes.set("strides", Attribute::I64s(strides));
            }
        }
        "stablehlo.dynamic_gather" => {
            if let Some(sizes) = ints(op, 2) {
                op.name = "stablehlo.gather".into();
                op.operands.truncate(2);
                op.attributes.set("slice_sizes", Attribute::I64s(sizes));
            }
        }
        "stablehlo.dynamic_conv" => {
            if let Some(padding) = ints(op, 2) {
                let pairs: Vec<(i64, i64)> =
                    padding.chunks(2).map(|p| (p[0], p.get(1).copied().unwrap_or(0))).collect();
                op.name = "stablehlo.convolution".into();
                op.operands.truncate(2);
                let elements = crate::dense::DenseElements::pairs(&pairs);
                op.attributes.set("padding", Attribute::Dense(elements));
            }
        }
        "stablehlo.custom_call" => declared = shape_operands(op, declared, ints)?,
        _ => {}
    }
    Ok(declared)
}

/// A custom call says with `indices_of_shape_operands` which operands are the shapes of its results.
fn shape_operands(
    op: &mut Op,
    mut declared: Vec<Type>,
    ints: impl Fn(&Op, usize) -> Option<Vec<i64>>,
) -> Result<Vec<Type>, Diagnostic> {
    const NAME: &str = "indices_of_shape_operands";
    let indices = match op.attributes.get(NAME) {
        Some(Attribute::Dense(elements)) => elements.to_i64s(),
        Some(Attribute::I64s(values)) => Some(values.clone()),
        _ => return Ok(declared),
    };
    let wrong = |message: &str| {
        Diagnostic::new(codes::OP_ATTRIBUTE, op.span, format!("'{}': '{NAME}' {message}", op.name))
    };
    let indices = indices.ok_or_else(|| wrong("is no list of integers"))?;
    if indices.len() != declared.len() {
        return Err(wrong("has not one entry for each result"));
    }
    let mut shapes = Vec::with_capacity(indices.len());
    for index in &indices {
        let index = usize::try_from(*index).ok().filter(|i| *i < op.operands.len());
        match ints(op, index.ok_or_else(|| wrong("names an operand that is not there"))?) {
            Some(shape) => shapes.push(shape),
            None => return Ok(declared),
        }
    }
    for (ty, shape) in declared.iter_mut().zip(&shapes) {
        *ty = shaped(op, ty, shape)?;
    }
    let kept = |(place, _): &(usize, &ValueId)| !indices.contains(&(*place as i64));
    op.operands = op.operands.iter().enumerate().filter(kept).map(|(_, value)| *value).collect();
    op.attributes = without(&op.attributes, &[NAME]);
    // What speaks of operands by their place speaks of those that are left.
    if let Some(Attribute::Array(layouts)) = op.attributes.get("operand_layouts") {
        let kept = |(place, _): &(usize, &Attribute)| !indices.contains(&(*place as i64));
        let layouts = layouts.iter().enumerate().filter(kept).map(|(_, layout)| layout.clone()).collect();
        op.attributes.set("operand_layouts", Attribute::Array(layouts));
    }
    if let Some(Attribute::Array(aliases)) = op.attributes.get("output_operand_aliases") {
        let mut aliases = aliases.clone();
        for alias in &mut aliases {
            if let Attribute::OutputOperandAlias(alias) = alias {
                alias.operand_index -= indices.iter().filter(|i| **i < alias.operand_index).count() as i64;
            }
        }
        op.attributes.set("output_operand_aliases", Attribute::Array(aliases));
    }
    Ok(declared)
}

/// A declared type with the extents of a constant; -1 says nothing.
pub(super) fn shaped(op: &Op, declared: &Type, shape: &[i64]) -> Result<Type, Diagnostic> {
    let element = match declared {
        Type::Tensor(tensor) => tensor.element.clone(),
        Type::Opaque(text) => text
            .strip_prefix("tensor<*x")
            .and_then(|t| ElementType::from_keyword(t.trim_end_matches('>')))
            .unwrap_or(ElementType::Other(text.to_string())),
        other => ElementType::Other(other.to_string()),
    };
    let extent = |n: &i64| if *n < 0 { Dim::Dynamic } else { Dim::Static(*n) };
    let found = Type::Tensor(TensorType::of(shape.iter().map(extent).collect(), element).into());
    merged(declared, &found).ok_or_else(|| {
        let message = format!("'{}': its shape is {shape:?}, its result has type {declared}", op.name);
        Diagnostic::new(codes::OP_TYPE, op.span, message)
    })
}

/// A shape whose only unknown extent follows from the number of elements.
fn whole_shape(mut shape: Vec<i64>, count: Option<u64>) -> Vec<i64> {
    let unknown: Vec<usize> = (0..shape.len()).filter(|i| shape[*i] < 0).collect();
    if let ([at], Some(count)) = (unknown.as_slice(), count) {
        let others: Option<i64> = shape.iter().filter(|n| **n >= 0).try_fold(1i64, |p, n| p.checked_mul(*n));
        if let Some(others) = others.filter(|n| *n > 0 && count % *n as u64 == 0) {
            shape[*at] = (count / others as u64) as i64;
        }
    }
    shape
}

/// The value of an operation that asks for a shape, if that is known.
pub(super) fn of_shape(op: &Op, operands: &[&Type], declared: &Type) -> Option<Ints> {
    let operand = operands.first()?.as_tensor();
    let axis = |name: &str| usize::try_from(op.int(name).ok()?).ok();
    match op.name.as_ref() {
        "stablehlo.get_dimension_size" => {
            let size = operand?.shape.get(axis("dimension")?)?.known()?;
            Ints::new(declared.as_tensor()?, vec![i128::from(size)])
        }
        "shape.shape_of" => {
            let operand = operand?;
            let ty = match declared {
                Type::Tensor(ty) => TensorType::new(&[operand.rank() as i64], ty.element.clone()),
                _ => TensorType::new(&[operand.rank() as i64], ElementType::Index),
            };
            extents(operand, &ty)
        }
        "shape.rank" => Some(Ints::scalar(ElementType::Index, operand?.rank() as i128)),
        _ => None,
    }
}

/// The type that an operation on constants has, its own as far as it is known.
pub(super) fn folded_type(op: &Op, known: &[&Ints], declared: &Type) -> Option<TensorType> {
    let ty = match declared {
        Type::Tensor(tensor) => (**tensor).clone(),
        Type::Scalar(element) => TensorType::of(Vec::new(), element.clone()),
        Type::Opaque(_) => TensorType::of(Vec::new(), ElementType::Index),
        _ => return None,
    };
    if ty.static_shape().is_some() {
        return Some(ty);
    }
    // The extents of elementwise operations are those of their operands, those of a concatenation add up.
    let shape = match op.name.as_ref() {
        "stablehlo.concatenate" | "shape.concat" => {
            let length: i64 = known.iter().map(|k| k.values.len() as i64).sum();
            vec![Dim::Static(length)]
        }
        "stablehlo.reshape"
        | "stablehlo.slice"
        | "stablehlo.broadcast_in_dim"
        | "stablehlo.iota"
        | "stablehlo.transpose"
        | "stablehlo.reverse" => return None,
        _ => known.iter().map(|k| k.ty.shape.clone()).max_by_key(Vec::len)?,
    };
    (shape.len() == ty.rank()).then_some(TensorType { shape, ..ty })
}

/// The value of an operation of the dialects `shape`, `tensor` and `arith` that are not elementwise.
pub(super) fn of_values(op: &Op, known: &[&Ints], ty: &TensorType) -> Option<Ints> {
    let vector = |values: Vec<i128>| {
        let element = if ty.element.is_integer() { ty.element.clone() } else { ElementType::Index };
        Ints::new(&TensorType::new(&[values.len() as i64], element), values)
    };
    let scalar = |value: i128| {
        let element = if ty.element.is_integer() { ty.element.clone() } else { ElementType::Index };
        Some(Ints::scalar(element, value))
    };
    match (op.name.as_ref(), known) {
        ("shape.num_elements", [shape]) => scalar(shape.values.iter().product()),
        ("shape.get_extent" | "tensor.extract", [shape, index]) => {
            scalar(*shape.values.get(usize::try_from(index.single()?).ok()?)?)
        }
        ("tensor.extract", [shape]) => scalar(shape.single()?),
        ("shape.concat", parts) => vector(parts.iter().flat_map(|p| p.values.clone()).collect()),
        ("shape.to_extent_tensor" | "shape.value_of" | "tensor.cast", [shape]) => {
            Ints::new(&TensorType { element: ty.element.clone(), ..shape.ty.clone() }, shape.values.clone())
        }
        ("shape.index_to_size" | "shape.size_to_index", [value]) => scalar(value.single()?),
        ("shape.from_extents" | "tensor.from_elements", parts) => {
            vector(parts.iter().map(|p| p.single()).collect::<Option<_>>()?)
        }
        ("shape.broadcast", parts) => {
            let rank = parts.iter().map(|p| p.values.len()).max()?;
            let mut shape = vec![1i128; rank];
            for part in parts {
                for (slot, extent) in shape[rank - part.values.len()..].iter_mut().zip(&part.values) {
                    match (*slot, *extent) {
                        (a, b) if a == b || b == 1 => {}
                        (1, b) => *slot = b,
                        _ => return None,
                    }
                }
            }
            vector(shape)
        }
        ("shape.const_shape", []) => match op.attributes.get("shape")? {
            Attribute::Dense(elements) => Ints::of(elements),
            _ => None,
        },
        ("arith.select", [p, a, b]) => {
            let value = if p.single()? != 0 { a } else { b };
            Some(Ints { ty: value.ty.clone(), values: value.values.clone() })
        }
        _ => None,
    }
}
