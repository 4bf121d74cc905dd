//! One in-memory form for what texts write in several ways: attribute kinds of older texts, defaults left out.

use crate::attr::{Attribute, Attributes};
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::Op;
use crate::table::{Absent, AttrKind, AttrSpec, OpSpec, arity_constraint, enum_values};
use crate::types::{ElementType, TensorType, Type};

/// Checks arity, converts attributes to the kinds of the table and fills in defaults. `first` is the type of
/// the first operand.
pub(crate) fn normalise(op: &mut Op, first: Option<&Type>) -> Result<(), Diagnostic> {
    let Some(spec) = op.spec() else { return Ok(()) };
    arity(op, spec)?;
    for attribute in spec.attributes {
        match op.attributes.get(attribute.name) {
            Some(value) if matches_kind(value, attribute.kind) => {}
            Some(_) => {
                let value = op.attributes.remove(attribute.name).unwrap_or(Attribute::Unit);
                let value = convert(value, attribute, op)?;
                op.attributes.set(attribute.name, value);
            }
            None => {
                if let Some(value) = default(attribute, first, op)? {
                    op.attributes.set_implied(attribute.name, value);
                }
            }
        }
    }
    Ok(())
}

fn arity(op: &Op, spec: &OpSpec) -> Result<(), Diagnostic> {
    let counts = [
        ("operand", op.operands.len(), spec.operands),
        ("result", op.results.len(), spec.results),
        ("region", op.regions.len(), spec.regions),
    ];
    for (what, found, wanted) in counts {
        if !wanted.allows(found) {
            let message = format!("'{}' has {found} {what}{}", op.name, if found == 1 { "" } else { "s" });
            return Err(Diagnostic::new(codes::ARITY, op.span, message)
                .expected(format!("{wanted} {what}(s)"))
                .constraint(arity_constraint(&op.name, what)));
        }
    }
    Ok(())
}

/// Whether the attribute already is as the table wants it.
fn matches_kind(value: &Attribute, kind: AttrKind) -> bool {
    match (kind, value) {
        (AttrKind::Any, _)
        | (AttrKind::I64s, Attribute::I64s(_))
        | (AttrKind::Bools, Attribute::Bools(_))
        | (AttrKind::Bool, Attribute::Bool(_))
        | (AttrKind::Str, Attribute::String(_))
        | (AttrKind::Unit, Attribute::Unit | Attribute::Bool(_))
        | (AttrKind::Dense, Attribute::Dense(_) | Attribute::Opaque(_))
        | (AttrKind::Dot, Attribute::Dot(_))
        | (AttrKind::Conv, Attribute::Conv(_))
        | (AttrKind::Gather, Attribute::Gather(_))
        | (AttrKind::Scatter, Attribute::Scatter(_))
        | (AttrKind::Channel, Attribute::ChannelHandle(_))
        | (AttrKind::DotAlgorithm, Attribute::DotAlgorithm(_))
        | (AttrKind::ResultAccuracy, Attribute::ResultAccuracy(_))
        | (AttrKind::Symbol, Attribute::Symbol(_))
        | (AttrKind::Dict, Attribute::Dict(_))
        | (AttrKind::Array, Attribute::Array(_)) => true,
        // What the shape must be depends on the operation: the verifier's.
        (AttrKind::Pairs, Attribute::Dense(elements)) => elements.ty.element == ElementType::I64,
        (AttrKind::I64, Attribute::Int { ty, .. }) => *ty == ElementType::I64,
        (AttrKind::I32, Attribute::Int { ty, .. }) => *ty == ElementType::I32,
        (AttrKind::U64, Attribute::Int { ty, .. }) => *ty == ElementType::U64,
        (AttrKind::F32, Attribute::Float { ty, .. }) => *ty == ElementType::F32,
        (AttrKind::F64, Attribute::Float { ty, .. }) => *ty == ElementType::F64,
        (AttrKind::Enum(kind), Attribute::Enum { kind: found, .. }) => kind == found,
        (AttrKind::Enums(kind), Attribute::Array(items)) => {
            items.iter().all(|item| matches!(item, Attribute::Enum { kind: found, .. } if kind == found))
        }
        _ => false,
    }
}

/// What a text of another generation wrote, as the table wants it.
fn convert(value: Attribute, spec: &AttrSpec, op: &Op) -> Result<Attribute, Diagnostic> {
    let wrong = |found: &str| {
        let message = format!("attribute '{}' of '{}' is {found}", spec.name, op.name);
        Diagnostic::new(codes::ATTRIBUTE, op.span, message).expected(kind_text(spec.kind))
    };
    Ok(match (spec.kind, value) {
        (AttrKind::I64s, Attribute::Dense(elements)) if elements.ty.rank() <= 1 => {
            Attribute::I64s(elements.to_i64s().ok_or_else(|| wrong("dense elements that are no integers"))?)
        }
        (AttrKind::Bools, Attribute::Dense(elements)) => {
            let values = elements.to_i64s().ok_or_else(|| wrong("dense elements that are no booleans"))?;
            Attribute::Bools(values.into_iter().map(|v| v != 0).collect())
        }
        (AttrKind::Bools, Attribute::I64s(values)) => {
            Attribute::Bools(values.into_iter().map(|v| v != 0).collect())
        }
        (AttrKind::Pairs, Attribute::Dense(elements)) => {
            let values = elements.to_i64s().ok_or_else(|| wrong("dense elements that are no integers"))?;
            let ty = TensorType { element: ElementType::I64, ..(*elements.ty).clone() };
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let elements = DenseElements::raw(ty, bytes).ok_or_else(|| wrong("dense elements"))?;
            Attribute::Dense(elements.canonical())
        }
        // Another type than that of the table is a mistake.
        (AttrKind::I64 | AttrKind::I32, Attribute::Int { ty, .. }) => {
            return Err(wrong(&format!("an integer of type {ty}")));
        }
        (AttrKind::U64, Attribute::Int { value, .. }) => Attribute::Int { value, ty: ElementType::U64 },
        (AttrKind::F32, value @ Attribute::Float { .. }) => float(value.as_f64(), ElementType::F32),
        (AttrKind::F64, value @ Attribute::Float { .. }) => float(value.as_f64(), ElementType::F64),
        (AttrKind::Enum(kind), Attribute::String(text)) => {
            let known = enum_values(kind).and_then(|values| values.iter().find(|v| **v == text));
            Attribute::enumeration(kind, *known.ok_or_else(|| wrong(&format!("'{text}'")))?)
        }
        (_, other) => return Err(wrong(other.describe())),
    })
}

fn float(value: Option<f64>, ty: ElementType) -> Attribute {
    let bits = crate::float::encode(&ty, value.unwrap_or(0.0)).unwrap_or(0);
    Attribute::Float { bits, ty }
}

/// Pairs whose type keeps two columns even where there are none.
fn pairs(values: Vec<(i64, i64)>) -> DenseElements {
    DenseElements::pairs(&values)
}

/// The value that holds where the text leaves the attribute out.
fn default(spec: &AttrSpec, first: Option<&Type>, op: &Op) -> Result<Option<Attribute>, Diagnostic> {
    // Windows of convolutions have an entry for each spatial dimension, those of reductions for every dimension.
    let rank = first.and_then(|ty| ty.as_tensor()).map_or(0, TensorType::rank);
    let entries = if op.attributes.contains("dimension_numbers") { rank.saturating_sub(2) } else { rank };
    Ok(match spec.absent {
        Absent::Optional => None,
        Absent::Required => {
            let message = format!("'{}' lacks its attribute '{}'", op.name, spec.name);
            return Err(Diagnostic::new(codes::ATTRIBUTE, op.span, message).expected(format!(
                "{} = {}",
                spec.name,
                kind_text(spec.kind)
            )));
        }
        Absent::Bool(value) => Some(Attribute::Bool(value)),
        Absent::Int(value) if spec.kind == AttrKind::I32 => Some(Attribute::i32(value as i32)),
        Absent::Int(value) => Some(Attribute::i64(value)),
        Absent::Ones => Some(Attribute::I64s(vec![1; entries])),
        Absent::Falses => Some(Attribute::Bools(vec![false; entries])),
        Absent::ZeroPairs => Some(Attribute::Dense(pairs(vec![(0, 0); entries]))),
        Absent::First => match spec.kind {
            AttrKind::Enum(kind) => {
                enum_values(kind).and_then(|values| values.first()).map(|v| Attribute::enumeration(kind, *v))
            }
            _ => None,
        },
    })
}

/// The kind as an example, for messages.
pub(crate) fn kind_text(kind: AttrKind) -> String {
    match kind {
        AttrKind::I64s => "array<i64: …>".into(),
        AttrKind::Bools => "array<i1: …>".into(),
        AttrKind::I64 => "an integer, … : i64".into(),
        AttrKind::I32 => "an integer, … : i32".into(),
        AttrKind::U64 => "an integer, … : ui64".into(),
        AttrKind::Bool => "true or false".into(),
        AttrKind::F32 => "a float, … : f32".into(),
        AttrKind::F64 => "a float, … : f64".into(),
        AttrKind::Str => "a string".into(),
        AttrKind::Unit => "a unit attribute".into(),
        AttrKind::Dense => "dense<…> : tensor<…>".into(),
        AttrKind::Pairs => "dense<…> : tensor<nx2xi64>".into(),
        AttrKind::Enum(kind) => format!("#stablehlo<{kind} …>"),
        AttrKind::Enums(kind) => format!("[#stablehlo<{kind} …>, …]"),
        AttrKind::Dot => "#stablehlo.dot<…>".into(),
        AttrKind::Conv => "#stablehlo.conv<…>".into(),
        AttrKind::Gather => "#stablehlo.gather<…>".into(),
        AttrKind::Scatter => "#stablehlo.scatter<…>".into(),
        AttrKind::Channel => "#stablehlo.channel_handle<…>".into(),
        AttrKind::DotAlgorithm => "#stablehlo.dot_algorithm<…>".into(),
        AttrKind::ResultAccuracy => "#stablehlo.result_accuracy<…>".into(),
        AttrKind::Symbol => "a symbol, @…".into(),
        AttrKind::Dict => "a dictionary, {…}".into(),
        AttrKind::Array => "an array, […]".into(),
        AttrKind::Any => "a value".into(),
    }
}

/// Adds attributes to those that are already there; one given twice is an error.
pub(crate) fn merge(into: &mut Attributes, from: Attributes, span: Span) -> Result<(), Diagnostic> {
    if into.is_empty() {
        *into = from;
        return Ok(());
    }
    let entries = std::mem::take(into).into_entries().chain(from.into_entries()).collect();
    *into = Attributes::from_entries(entries).map_err(|name| {
        Diagnostic::new(codes::ATTRIBUTE, span, format!("attribute '{name}' is given twice"))
    })?;
    Ok(())
}
