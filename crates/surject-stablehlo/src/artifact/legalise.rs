//! VHLO to StableHLO: names of operations, structured attributes from their parts, defaults left out.
//!
//! Older versions of an operation lack attributes, which then have their defaults; nothing else tells them apart.
//! Source: the reference's `VhloLegalizeToStablehlo.cpp` and `VhloToVersion.cpp`.

use std::borrow::Cow;

use super::bytes::{Result, malformed};
use super::read::take;
use super::vhlo::VhloOp;
use crate::attr::{Attribute, ChannelHandle, ConvDims, DotAlgorithm, DotDims, GatherDims, ScatterDims};
use crate::dense::DenseElements;
use crate::types::{ElementType, Type};

type Entries = Vec<(Cow<'static, str>, Attribute)>;

/// More numbers than this are no list of dimensions or the like.
const MAX_NUMBERS: u64 = 1 << 12;

/// Turns the attributes of an operation of VHLO into those of StableHLO; the name of that operation.
pub(super) fn to_stablehlo(
    row: &VhloOp,
    attributes: &mut Entries,
    function: bool,
    at: usize,
) -> Result<Cow<'static, str>> {
    for name in row.attributes {
        if !attributes.iter().any(|(n, _)| n == name) {
            return Err(malformed(at, format!("'vhlo.{}_v{}' without '{name}'", row.name, row.number)));
        }
    }
    let mut parts = Parts { attributes, row, at };
    match row.name {
        "convolution" | "dynamic_conv" => parts.convolution()?,
        "dot_general" => parts.dot_general()?,
        "gather" | "dynamic_gather" => parts.gather()?,
        "scatter" => parts.scatter()?,
        "send" | "recv" => parts.channel(true)?,
        "all_gather"
        | "all_reduce"
        | "all_to_all"
        | "collective_broadcast"
        | "collective_permute"
        | "collective_reduce"
        | "reduce_scatter" => parts.channel(false)?,
        "custom_call" => parts.symbols("called_computations")?,
        "call" => parts.symbol("callee")?,
        "composite" => parts.symbol("decomposition")?,
        _ => {}
    }
    parts.lists_are_short()?;
    attributes.retain(|(name, value)| !is_default(row.name, name, value));
    Ok(match row.name {
        "return" if function => Cow::Borrowed("func.return"),
        "call" => Cow::Borrowed("func.call"),
        name => {
            let name = format!("stablehlo.{name}");
            crate::table::lookup(&name).map_or(Cow::Owned(name), |spec| Cow::Borrowed(spec.name))
        }
    })
}

/// Whether an attribute says what holds without it.
pub(crate) fn is_default(op: &str, name: &str, value: &Attribute) -> bool {
    let empty = match value {
        Attribute::Array(items) => items.is_empty(),
        Attribute::Dict(entries) => entries.is_empty(),
        Attribute::String(text) => text.is_empty(),
        Attribute::I64s(values) => values.is_empty(),
        Attribute::Dense(elements) => elements.is_empty(),
        _ => false,
    };
    let value_is = |wanted: &str| value.as_enum() == Some(wanted);
    match (op, name) {
        (_, "use_global_device_ids" | "has_dynamic_root") => *value == Attribute::Bool(false),
        ("compare", "compare_type") => value_is("NOTYPE"),
        ("convolution" | "dynamic_conv" | "dot_general" | "dot", "precision_config") => match value {
            Attribute::Array(items) => items.iter().all(|item| item.as_enum() == Some("DEFAULT")),
            _ => false,
        },
        ("custom_call", "has_side_effect") => *value == Attribute::Bool(false),
        ("custom_call", "api_version") => value.as_i64() == Some(1),
        (
            "custom_call",
            "backend_config"
            | "called_computations"
            | "operand_layouts"
            | "result_layouts"
            | "output_operand_aliases"
            | "result_tilings",
        )
        | ("composite", "composite_attributes")
        | ("dynamic_broadcast_in_dim", "known_expanding_dimensions" | "known_nonexpanding_dimensions")
        | ("infeed", "infeed_config" | "layout")
        | ("outfeed", "outfeed_config")
        | ("send" | "recv", "source_target_pairs") => empty,
        (
            "convolution" | "dynamic_conv" | "reduce_window" | "select_and_scatter",
            "window_strides" | "lhs_dilation" | "rhs_dilation" | "base_dilations" | "window_dilations",
        ) => all_are(value, 1),
        ("convolution" | "dynamic_conv" | "reduce_window" | "select_and_scatter", "padding")
        | ("convolution" | "dynamic_conv", "window_reversal") => all_are(value, 0),
        ("gather" | "dynamic_gather" | "scatter", "indices_are_sorted")
        | ("scatter", "unique_indices")
        | ("sort", "is_stable")
        | ("cholesky", "lower")
        | ("send" | "recv", "is_host_transfer") => *value == Attribute::Bool(false),
        ("sort", "dimension") => value.as_i64() == Some(-1),
        ("composite", "version") => value.as_i64() == Some(0),
        (_, "result_accuracy") => matches!(value, Attribute::ResultAccuracy(a)
            if a.mode == "DEFAULT" && a.atol == 0.0 && a.rtol == 0.0 && a.ulps == 0),
        _ => false,
    }
}

/// Whether a list has entries, all of one value.
fn all_are(value: &Attribute, wanted: i64) -> bool {
    match value {
        Attribute::I64s(values) => !values.is_empty() && values.iter().all(|v| *v == wanted),
        Attribute::Bools(values) => !values.is_empty() && values.iter().all(|v| i64::from(*v) == wanted),
        Attribute::Dense(elements) => {
            elements.is_splat() && !elements.is_empty() && elements.get_i64(0) == Some(wanted)
        }
        _ => false,
    }
}

/// The attributes of one operation.
struct Parts<'a> {
    attributes: &'a mut Entries,
    row: &'a VhloOp,
    at: usize,
}

impl Parts<'_> {
    fn find(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    fn set(&mut self, name: &'static str, value: Attribute) {
        self.attributes.push((Cow::Borrowed(name), value));
    }

    fn wrong(&self, name: &str, found: &str) -> crate::Diagnostic {
        malformed(self.at, format!("attribute '{name}' of '{}' is {found}", self.row.name))
    }

    /// Takes an integer out.
    fn int(&mut self, name: &str) -> Result<i64> {
        match take(self.attributes, name) {
            Some(value) => value.as_i64().ok_or_else(|| self.wrong(name, value.describe())),
            None => Err(self.wrong(name, "missing")),
        }
    }

    /// Takes a list of integers out; an empty one where the version of the operation has none.
    fn ints(&mut self, name: &str) -> Result<Vec<i64>> {
        match take(self.attributes, name) {
            Some(Attribute::Dense(elements)) if elements.len() <= MAX_NUMBERS => {
                elements.to_i64s().ok_or_else(|| self.wrong(name, "no list of integers"))
            }
            Some(Attribute::I64s(values)) => Ok(values),
            Some(other) => Err(self.wrong(name, other.describe())),
            None if !self.row.attributes.contains(&name) => Ok(Vec::new()),
            None => Err(self.wrong(name, "missing")),
        }
    }

    fn convolution(&mut self) -> Result<()> {
        let dims = ConvDims {
            input_batch: self.int("input_batch_dimension")?,
            input_feature: self.int("input_feature_dimension")?,
            input_spatial: self.ints("input_spatial_dimensions")?,
            kernel_input_feature: self.int("kernel_input_feature_dimension")?,
            kernel_output_feature: self.int("kernel_output_feature_dimension")?,
            kernel_spatial: self.ints("kernel_spatial_dimensions")?,
            output_batch: self.int("output_batch_dimension")?,
            output_feature: self.int("output_feature_dimension")?,
            output_spatial: self.ints("output_spatial_dimensions")?,
        };
        self.set("dimension_numbers", Attribute::Conv(Box::new(dims)));
        // The first version of `dynamic_conv` had its padding twice; the operand is what counts.
        if self.row.name == "dynamic_conv" {
            take(self.attributes, "padding");
        }
        Ok(())
    }

    fn dot_general(&mut self) -> Result<()> {
        let dims = DotDims {
            batch_lhs: self.ints("lhs_batching_dimensions")?,
            batch_rhs: self.ints("rhs_batching_dimensions")?,
            contract_lhs: self.ints("lhs_contracting_dimensions")?,
            contract_rhs: self.ints("rhs_contracting_dimensions")?,
        };
        self.set("dot_dimension_numbers", Attribute::Dot(Box::new(dims)));
        if self.row.number == 1 {
            return Ok(());
        }
        let lhs = take(self.attributes, "lhs_precision_type");
        let rhs = take(self.attributes, "rhs_precision_type");
        let accumulation = take(self.attributes, "accumulation_type");
        let counts = ["lhs_component_count", "rhs_component_count", "num_primitive_operations"];
        if let Some(Attribute::Type(Type::None)) = lhs {
            for name in counts.iter().chain(&["allow_imprecise_accumulation"]) {
                take(self.attributes, name);
            }
            return Ok(());
        }
        let element = |parts: &Self, name: &str, value: Option<Attribute>| match value {
            Some(Attribute::Type(Type::Scalar(element))) => Ok(element),
            Some(other) => Err(parts.wrong(name, other.describe())),
            None => Err(parts.wrong(name, "missing")),
        };
        let algorithm = DotAlgorithm {
            lhs_precision_type: element(self, "lhs_precision_type", lhs)?,
            rhs_precision_type: element(self, "rhs_precision_type", rhs)?,
            accumulation_type: element(self, "accumulation_type", accumulation)?,
            lhs_component_count: self.int(counts[0])?,
            rhs_component_count: self.int(counts[1])?,
            num_primitive_operations: self.int(counts[2])?,
            allow_imprecise_accumulation: take(self.attributes, "allow_imprecise_accumulation")
                == Some(Attribute::Bool(true)),
        };
        self.set("algorithm", Attribute::DotAlgorithm(Box::new(algorithm)));
        Ok(())
    }

    fn gather(&mut self) -> Result<()> {
        let dims = GatherDims {
            offset_dims: self.ints("offset_dims")?,
            collapsed_slice_dims: self.ints("collapsed_slice_dims")?,
            operand_batching_dims: self.ints("operand_batching_dims")?,
            start_indices_batching_dims: self.ints("start_indices_batching_dims")?,
            start_index_map: self.ints("start_index_map")?,
            index_vector_dim: self.int("index_vector_dim")?,
        };
        self.set("dimension_numbers", Attribute::Gather(Box::new(dims)));
        Ok(())
    }

    fn scatter(&mut self) -> Result<()> {
        let dims = ScatterDims {
            update_window_dims: self.ints("update_window_dims")?,
            inserted_window_dims: self.ints("inserted_window_dims")?,
            input_batching_dims: self.ints("input_batching_dims")?,
            scatter_indices_batching_dims: self.ints("scatter_indices_batching_dims")?,
            scatter_dims_to_operand_dims: self.ints("scatter_dims_to_operand_dims")?,
            index_vector_dim: self.int("index_vector_dim")?,
        };
        self.set("scatter_dimension_numbers", Attribute::Scatter(Box::new(dims)));
        Ok(())
    }

    /// The channel of a transfer, or that of a collective, which an artifact gives by its number alone.
    fn channel(&mut self, transfer: bool) -> Result<()> {
        let handle = self.int("channel_id")?;
        let kind = if transfer { self.int("channel_type")? } else { 0 };
        if transfer || handle != 0 {
            self.set("channel_handle", Attribute::ChannelHandle(ChannelHandle { handle, kind }));
        }
        for name in ["use_global_device_ids"] {
            if let Some(Attribute::Bool(true)) = self.find(name) {
                take(self.attributes, name);
                self.set("use_global_device_ids", Attribute::Unit);
            }
        }
        Ok(())
    }

    /// A symbol, which is a string in an artifact.
    fn symbol(&mut self, name: &'static str) -> Result<()> {
        let value = match take(self.attributes, name) {
            Some(Attribute::String(symbol)) => Attribute::symbol(symbol),
            Some(symbol @ Attribute::Symbol(_)) => symbol,
            Some(other) => return Err(self.wrong(name, other.describe())),
            None => return Err(self.wrong(name, "missing")),
        };
        self.set(name, value);
        Ok(())
    }

    fn symbols(&mut self, name: &'static str) -> Result<()> {
        let items = match take(self.attributes, name) {
            Some(Attribute::Array(items)) => items,
            Some(other) => return Err(self.wrong(name, other.describe())),
            None => return Err(self.wrong(name, "missing")),
        };
        let symbol = |item| match item {
            Attribute::String(symbol) => Attribute::symbol(symbol),
            other => other,
        };
        self.set(name, Attribute::Array(items.into_iter().map(symbol).collect()));
        Ok(())
    }

    /// Integers that become lists are as many as dimensions: a splat of millions of them is no program's.
    fn lists_are_short(&self) -> Result<()> {
        let long = |elements: &DenseElements| elements.len() > MAX_NUMBERS && elements.is_splat();
        for (name, value) in self.attributes.iter() {
            let listed = matches!(value, Attribute::Dense(e) if long(e)
                && matches!(e.ty.element, ElementType::I64 | ElementType::I1));
            if listed && self.row.attributes.contains(&name.as_ref()) && name != "value" {
                return Err(self.wrong(name, "a list of far too many numbers"));
            }
        }
        Ok(())
    }
}
