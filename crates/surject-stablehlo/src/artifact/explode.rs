//! StableHLO to VHLO: the attributes that a version of an operation has, from those in memory. Structured attributes
//! come apart, and what holds where an attribute is missing is spelled out.
//!
//! Source: the reference's `StablehloLegalizeToVhlo.cpp`.

use super::enums::API_VERSION;
use super::vhlo::VhloOp;
use crate::attr::{Attribute, ResultAccuracy};
use crate::dense::DenseElements;
use crate::module::Op;
use crate::types::{ElementType, TensorType, Type};

/// The value of an attribute of VHLO; none where the operation lacks it and nothing holds without it.
pub(super) fn part(row: &VhloOp, name: &str, op: &Op, rank: usize) -> Option<Attribute> {
    if let Some(value) = structured(row, name, op, rank) {
        return Some(value);
    }
    match op.attributes.get(name) {
        Some(value) => Some(as_vhlo(row, name, value)),
        None => default(row, name),
    }
}

/// The attributes in memory whose parts or other names VHLO has.
pub(super) const STRUCTURED: &[&str] = &[
    "dimension_numbers",
    "dot_dimension_numbers",
    "scatter_dimension_numbers",
    "channel_handle",
    "algorithm",
];

/// A part of a structured attribute.
fn structured(row: &VhloOp, name: &str, op: &Op, rank: usize) -> Option<Attribute> {
    let int = |value: i64| Some(Attribute::i64(value));
    let dimensions = |(_, value): (&str, &Attribute)| {
        matches!(value, Attribute::Conv(_) | Attribute::Dot(_) | Attribute::Gather(_) | Attribute::Scatter(_))
    };
    if op.attributes.iter().any(dimensions)
        && let Some(value) = dimensions_part(name, op, rank)
    {
        return Some(value);
    }
    let channel = || match op.attributes.get("channel_handle") {
        Some(Attribute::ChannelHandle(channel)) => *channel,
        _ => Default::default(),
    };
    match name {
        "channel_id" => int(channel().handle),
        "channel_type" => int(channel().kind),
        "use_global_device_ids" => Some(Attribute::Bool(match op.attributes.get(name) {
            Some(Attribute::Bool(value)) => *value,
            found => found.is_some(),
        })),
        "precision_config" if !op.attributes.contains(name) => {
            let default = Attribute::enumeration("precision", "DEFAULT");
            Some(Attribute::Array(vec![default.clone(), default]))
        }
        _ if row.name == "composite" && name == "composite_attributes" => {
            let none = Attribute::Dict(Default::default());
            Some(op.attributes.get(name).cloned().unwrap_or(none))
        }
        _ => None,
    }
}

/// A part of the numbers of dimensions, or of the algorithm of a product.
fn dimensions_part(name: &str, op: &Op, rank: usize) -> Option<Attribute> {
    let int = |value: i64| Some(Attribute::i64(value));
    let ints = |values: &[i64]| Some(Attribute::I64s(values.to_vec()));
    let ty = |element: &ElementType| Some(Attribute::Type(Type::Scalar(element.clone())));
    let none = || Some(Attribute::Type(Type::None));
    if let Some(Attribute::Conv(dims)) = op.attributes.get("dimension_numbers") {
        match name {
            "input_batch_dimension" => return int(dims.input_batch),
            "input_feature_dimension" => return int(dims.input_feature),
            "input_spatial_dimensions" => return ints(&dims.input_spatial),
            "kernel_input_feature_dimension" => return int(dims.kernel_input_feature),
            "kernel_output_feature_dimension" => return int(dims.kernel_output_feature),
            "kernel_spatial_dimensions" => return ints(&dims.kernel_spatial),
            "output_batch_dimension" => return int(dims.output_batch),
            "output_feature_dimension" => return int(dims.output_feature),
            "output_spatial_dimensions" => return ints(&dims.output_spatial),
            // Of the first version of `dynamic_conv`, whose operand says what counts.
            "padding" if !op.attributes.contains("padding") => {
                let pairs = vec![(0, 0); rank.saturating_sub(2)];
                return Some(Attribute::Dense(DenseElements::pairs(&pairs)));
            }
            _ => {}
        }
    }
    if let Some(Attribute::Dot(dims)) = op.attributes.get("dot_dimension_numbers") {
        match name {
            "lhs_batching_dimensions" => return ints(&dims.batch_lhs),
            "rhs_batching_dimensions" => return ints(&dims.batch_rhs),
            "lhs_contracting_dimensions" => return ints(&dims.contract_lhs),
            "rhs_contracting_dimensions" => return ints(&dims.contract_rhs),
            _ => {}
        }
        let algorithm = match op.attributes.get("algorithm") {
            Some(Attribute::DotAlgorithm(algorithm)) => Some(algorithm),
            _ => None,
        };
        match (name, algorithm) {
            ("lhs_precision_type", Some(a)) => return ty(&a.lhs_precision_type),
            ("rhs_precision_type", Some(a)) => return ty(&a.rhs_precision_type),
            ("accumulation_type", Some(a)) => return ty(&a.accumulation_type),
            ("lhs_component_count", Some(a)) => return int(a.lhs_component_count),
            ("rhs_component_count", Some(a)) => return int(a.rhs_component_count),
            ("num_primitive_operations", Some(a)) => return int(a.num_primitive_operations),
            ("allow_imprecise_accumulation", Some(a)) => {
                return Some(Attribute::Bool(a.allow_imprecise_accumulation));
            }
            (
                "lhs_precision_type"
                | "rhs_precision_type"
                | "accumulation_type"
                | "lhs_component_count"
                | "rhs_component_count"
                | "num_primitive_operations"
                | "allow_imprecise_accumulation",
                None,
            ) => return none(),
            _ => {}
        }
    }
    if let Some(Attribute::Gather(dims)) = op.attributes.get("dimension_numbers") {
        match name {
            "offset_dims" => return ints(&dims.offset_dims),
            "collapsed_slice_dims" => return ints(&dims.collapsed_slice_dims),
            "operand_batching_dims" => return ints(&dims.operand_batching_dims),
            "start_indices_batching_dims" => return ints(&dims.start_indices_batching_dims),
            "start_index_map" => return ints(&dims.start_index_map),
            "index_vector_dim" => return int(dims.index_vector_dim),
            _ => {}
        }
    }
    if let Some(Attribute::Scatter(dims)) = op.attributes.get("scatter_dimension_numbers") {
        match name {
            "update_window_dims" => return ints(&dims.update_window_dims),
            "inserted_window_dims" => return ints(&dims.inserted_window_dims),
            "input_batching_dims" => return ints(&dims.input_batching_dims),
            "scatter_indices_batching_dims" => return ints(&dims.scatter_indices_batching_dims),
            "scatter_dims_to_operand_dims" => return ints(&dims.scatter_dims_to_operand_dims),
            "index_vector_dim" => return int(dims.index_vector_dim),
            _ => {}
        }
    }
    None
}

/// An attribute as VHLO has it: symbols are strings, versions of calling conventions an enumeration.
fn as_vhlo(row: &VhloOp, name: &str, value: &Attribute) -> Attribute {
    let string = |value: &Attribute| match value {
        Attribute::Symbol(path) if path.len() == 1 => Attribute::String(path[0].clone()),
        other => other.clone(),
    };
    match (row.name, name, value) {
        ("custom_call", "api_version", Attribute::Int { value, .. }) => {
            Attribute::enumeration(API_VERSION, value.to_string())
        }
        ("custom_call", "called_computations", Attribute::Array(items)) => {
            Attribute::Array(items.iter().map(string).collect())
        }
        (_, "callee" | "decomposition", value) => string(value),
        _ => value.clone(),
    }
}

/// What holds where an attribute is missing.
fn default(row: &VhloOp, name: &str) -> Option<Attribute> {
    let text = || Attribute::String(String::new());
    let list = || Attribute::Array(Vec::new());
    Some(match (row.name, name) {
        ("compare", "compare_type") => Attribute::enumeration("comparison_type", "NOTYPE"),
        ("custom_call", "has_side_effect") => Attribute::Bool(false),
        ("custom_call", "backend_config") => text(),
        ("custom_call", "api_version") => Attribute::enumeration(API_VERSION, "1"),
        (
            "custom_call",
            "called_computations"
            | "operand_layouts"
            | "result_layouts"
            | "output_operand_aliases"
            | "result_tilings",
        ) => list(),
        ("dynamic_broadcast_in_dim", _) => Attribute::I64s(Vec::new()),
        ("infeed", "infeed_config") | ("outfeed", "outfeed_config") => text(),
        ("infeed", "layout") => list(),
        ("send" | "recv", "source_target_pairs") => {
            let ty = TensorType::new(&[0], ElementType::I64);
            Attribute::Dense(DenseElements::raw(ty, Vec::new())?)
        }
        ("collective_broadcast", "has_dynamic_root") => Attribute::Bool(false),
        (_, "result_accuracy") => Attribute::ResultAccuracy(Box::new(ResultAccuracy {
            atol: 0.0,
            rtol: 0.0,
            ulps: 0,
            mode: "DEFAULT".to_string(),
        })),
        _ => return None,
    })
}
