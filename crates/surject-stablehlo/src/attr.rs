//! Attributes: the values that operations carry beside their operands, normalised to typed structures.

use std::borrow::Cow;

use crate::dense::DenseElements;
use crate::types::{ElementType, Type};

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A bare key.
    Unit,
    /// `true`, `false`
    Bool(bool),
    /// `1 : i64`
    Int {
        /// The value.
        value: i128,
        /// Its type.
        ty: ElementType,
    },
    /// `2.5 : f32`
    Float {
        /// Bit pattern in the format of `ty`; read it with [`Attribute::as_f64`].
        bits: u64,
        /// Its type.
        ty: ElementType,
    },
    /// `"text"`
    String(String),
    /// A string whose bytes are not UTF-8.
    Bytes(Vec<u8>),
    /// `[a, b]`
    Array(Vec<Attribute>),
    /// `{a = 1, b}`
    Dict(Attributes),
    /// `array<i64: 1, 2>`
    I64s(Vec<i64>),
    /// `array<i1: true, false>`
    Bools(Vec<bool>),
    /// `array<T: …>` of another element type: integers as they are, floats as bit patterns.
    DenseArray {
        /// Type of an element.
        element: ElementType,
        /// Integers, or bit patterns of floats.
        values: Box<[i64]>,
    },
    /// `dense<…> : tensor<…>`
    Dense(DenseElements),
    /// A type used as an attribute.
    Type(Type),
    /// `@a` or `@a::@b`
    Symbol(Vec<String>),
    /// `#stablehlo<precision DEFAULT>` and the other enumerations.
    Enum {
        /// `precision`, `comparison_direction`, …
        kind: Cow<'static, str>,
        /// `DEFAULT`, `LT`, …
        value: Cow<'static, str>,
    },
    /// `#stablehlo.dot<…>`
    Dot(Box<DotDims>),
    /// `#stablehlo.conv<…>`
    Conv(Box<ConvDims>),
    /// `#stablehlo.gather<…>`
    Gather(Box<GatherDims>),
    /// `#stablehlo.scatter<…>`
    Scatter(Box<ScatterDims>),
    /// `#stablehlo.channel_handle<…>`
    ChannelHandle(ChannelHandle),
    /// `#stablehlo.output_operand_alias<…>`
    OutputOperandAlias(Box<OutputOperandAlias>),
    /// `#stablehlo.result_accuracy<…>`
    ResultAccuracy(Box<ResultAccuracy>),
    /// `#stablehlo.dot_algorithm<…>`
    DotAlgorithm(Box<DotAlgorithm>),
    /// Anything else, by its text: unknown dialects, `affine_map<…>`, locations, unresolved resources.
    Opaque(String),
}

impl Attribute {
    /// An enumeration attribute.
    pub fn enumeration(kind: &'static str, value: impl Into<Cow<'static, str>>) -> Attribute {
        Attribute::Enum { kind: Cow::Borrowed(kind), value: value.into() }
    }

    /// `value : i64`
    pub fn i64(value: i64) -> Attribute {
        Attribute::Int { value: value.into(), ty: ElementType::I64 }
    }

    /// `value : i32`
    pub fn i32(value: i32) -> Attribute {
        Attribute::Int { value: value.into(), ty: ElementType::I32 }
    }

    /// `@name`
    pub fn symbol(name: impl Into<String>) -> Attribute {
        Attribute::Symbol(vec![name.into()])
    }

    /// The value of a float attribute.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Attribute::Float { bits, ty } => crate::float::decode(ty, *bits),
            _ => None,
        }
    }

    /// The value of an integer attribute that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Attribute::Int { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The text of a string attribute.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Attribute::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of an enumeration.
    pub fn as_enum(&self) -> Option<&str> {
        match self {
            Attribute::Enum { value, .. } => Some(value),
            _ => None,
        }
    }

    /// An alias between a result and an operand.
    pub fn as_alias(&self) -> Option<&OutputOperandAlias> {
        match self {
            Attribute::OutputOperandAlias(alias) => Some(alias),
            _ => None,
        }
    }

    /// What the attribute is, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Attribute::Unit => "a unit attribute",
            Attribute::Bool(_) => "a boolean",
            Attribute::Int { .. } => "an integer",
            Attribute::Float { .. } => "a float",
            Attribute::String(_) | Attribute::Bytes(_) => "a string",
            Attribute::Array(_) => "an array of attributes",
            Attribute::Dict(_) => "a dictionary",
            Attribute::I64s(_) => "array<i64>",
            Attribute::Bools(_) => "array<i1>",
            Attribute::DenseArray { .. } => "a dense array",
            Attribute::Dense(_) => "dense elements",
            Attribute::Type(_) => "a type",
            Attribute::Symbol(_) => "a symbol reference",
            Attribute::Enum { .. } => "an enumeration",
            Attribute::Dot(_) => "#stablehlo.dot<…>",
            Attribute::Conv(_) => "#stablehlo.conv<…>",
            Attribute::Gather(_) => "#stablehlo.gather<…>",
            Attribute::Scatter(_) => "#stablehlo.scatter<…>",
            Attribute::ChannelHandle(_) => "#stablehlo.channel_handle<…>",
            Attribute::OutputOperandAlias(_) => "#stablehlo.output_operand_alias<…>",
            Attribute::ResultAccuracy(_) => "#stablehlo.result_accuracy<…>",
            Attribute::DotAlgorithm(_) => "#stablehlo.dot_algorithm<…>",
            Attribute::Opaque(_) => "an attribute of another dialect",
        }
    }
}

/// A dictionary from names to attributes, kept in the order of the names (as MLIR prints them).
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Cow<'static, str>,
    value: Attribute,
    /// Whether a text left it out, so that printing it again leaves it out.
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Spelled,
    Implied,
}

/// Two dictionaries are equal if they hold the same, whether or not it was spelled out.
impl PartialEq for Attributes {
    fn eq(&self, other: &Attributes) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Attributes {
    /// Gives back memory that is kept for further entries: a program holds many small dictionaries.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
    }

    /// An empty dictionary.
    pub fn new() -> Attributes {
        Attributes::default()
    }

    /// A dictionary of the entries; the name that is given twice, if one is.
    pub fn from_entries(entries: Vec<(Cow<'static, str>, Attribute)>) -> Result<Attributes, String> {
        let entry = |(name, value)| Entry { name, value, origin: Origin::Spelled };
        let mut entries: Vec<Entry> = entries.into_iter().map(entry).collect();
        entries.shrink_to_fit();
        if !entries.is_sorted_by(|a, b| a.name < b.name) {
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            if let Some(pair) = entries.windows(2).find(|pair| pair[0].name == pair[1].name) {
                return Err(pair[0].name.to_string());
            }
        }
        Ok(Attributes { entries })
    }

    /// The attribute called `name`.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.find(name).ok().map(|i| &self.entries[i].value)
    }

    /// Whether there is an attribute called `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Sets an attribute; the previous one of that name, if any.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: Attribute) -> Option<Attribute> {
        self.put(name.into(), value, Origin::Spelled)
    }

    /// Sets an attribute that the text leaves out.
    pub(crate) fn set_implied(&mut self, name: &'static str, value: Attribute) {
        self.put(Cow::Borrowed(name), value, Origin::Implied);
    }

    fn put(&mut self, name: Cow<'static, str>, value: Attribute, origin: Origin) -> Option<Attribute> {
        match self.find(&name) {
            Ok(i) => {
                let entry = &mut self.entries[i];
                entry.origin = origin;
                Some(std::mem::replace(&mut entry.value, value))
            }
            Err(i) => {
                // Most operations have one attribute.
                if self.entries.is_empty() {
                    self.entries.reserve_exact(1);
                }
                self.entries.insert(i, Entry { name, value, origin });
                None
            }
        }
    }

    /// The attributes that are spelled out, in the order of the names.
    pub(crate) fn explicit(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        let spelled = self.entries.iter().filter(|entry| entry.origin == Origin::Spelled);
        spelled.map(|entry| (entry.name.as_ref(), &entry.value))
    }

    /// The attribute called `name`, if it is spelled out.
    pub(crate) fn get_explicit(&self, name: &str) -> Option<&Attribute> {
        let entry = &self.entries[self.find(name).ok()?];
        (entry.origin == Origin::Spelled).then_some(&entry.value)
    }

    /// Spells everything out.
    pub(crate) fn spell_out(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.origin = Origin::Spelled);
    }

    /// Removes an attribute.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        self.find(name).ok().map(|i| self.entries.remove(i).value)
    }

    /// Names and attributes in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attribute)> {
        self.entries.iter().map(|entry| (entry.name.as_ref(), &entry.value))
    }

    /// Names and attributes by value.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (Cow<'static, str>, Attribute)> {
        self.entries.into_iter().map(|entry| (entry.name, entry.value))
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.name.as_ref().cmp(name))
    }
}

impl<N: Into<Cow<'static, str>>> FromIterator<(N, Attribute)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (N, Attribute)>>(iter: I) -> Attributes {
        let mut attributes = Attributes::new();
        for (name, value) in iter {
            attributes.set(name, value);
        }
        attributes
    }
}

/// Dimensions of `dot_general`: which are batched and which contracted, per operand, in pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DotDims {
    /// Batching dimensions of the left operand.
    pub batch_lhs: Vec<i64>,
    /// Batching dimensions of the right operand.
    pub batch_rhs: Vec<i64>,
    /// Contracting dimensions of the left operand.
    pub contract_lhs: Vec<i64>,
    /// Contracting dimensions of the right operand.
    pub contract_rhs: Vec<i64>,
}

/// Dimensions of `chlo.ragged_dot`: a product in groups along one dimension of the left operand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RaggedDims {
    /// Those of the product.
    pub dot: DotDims,
    /// The dimension of the left operand that falls into groups.
    pub ragged: i64,
    /// The dimension of the right operand that has a part for each group.
    pub group: Option<i64>,
}

/// Which dimension of input, kernel and output plays which role in a convolution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConvDims {
    /// Batch dimension of the input (`b`).
    pub input_batch: i64,
    /// Feature dimension of the input (`f`).
    pub input_feature: i64,
    /// Spatial dimensions of the input, in order.
    pub input_spatial: Vec<i64>,
    /// Input feature dimension of the kernel (`i`).
    pub kernel_input_feature: i64,
    /// Output feature dimension of the kernel (`o`).
    pub kernel_output_feature: i64,
    /// Spatial dimensions of the kernel, in order.
    pub kernel_spatial: Vec<i64>,
    /// Batch dimension of the output (`b`).
    pub output_batch: i64,
    /// Feature dimension of the output (`f`).
    pub output_feature: i64,
    /// Spatial dimensions of the output, in order.
    pub output_spatial: Vec<i64>,
}

/// A convolution's attributes together, with defaults filled in; all lists have one entry a spatial dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvAttrs {
    /// Roles of the dimensions.
    pub dims: ConvDims,
    /// Window strides.
    pub strides: Vec<i64>,
    /// Low and high padding (may be negative).
    pub padding: Vec<(i64, i64)>,
    /// Dilation of the input.
    pub lhs_dilation: Vec<i64>,
    /// Dilation of the kernel.
    pub rhs_dilation: Vec<i64>,
    /// Whether the kernel is reversed along the dimension.
    pub reversal: Vec<bool>,
    /// Number of feature groups.
    pub feature_group_count: i64,
    /// Number of batch groups.
    pub batch_group_count: i64,
}

/// A window of `reduce_window` (all fields) or `select_and_scatter` (no dilations), one entry a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowAttrs {
    /// Sizes of the window.
    pub dimensions: Vec<i64>,
    /// Steps of the window.
    pub strides: Vec<i64>,
    /// Dilation of the input.
    pub base_dilations: Vec<i64>,
    /// Dilation of the window.
    pub window_dilations: Vec<i64>,
    /// Low and high padding (may be negative).
    pub padding: Vec<(i64, i64)>,
}

/// Dimension numbers of `gather`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GatherDims {
    /// Result dimensions that hold the slice.
    pub offset_dims: Vec<i64>,
    /// Operand dimensions of slice size 1 that are dropped.
    pub collapsed_slice_dims: Vec<i64>,
    /// Operand dimensions that are batched.
    pub operand_batching_dims: Vec<i64>,
    /// Dimensions of the indices that are batched, in pairs with the former.
    pub start_indices_batching_dims: Vec<i64>,
    /// Operand dimension of each component of an index.
    pub start_index_map: Vec<i64>,
    /// Dimension of the indices that holds an index vector; the rank of the indices for scalar indices.
    pub index_vector_dim: i64,
}

/// Dimension numbers of `scatter`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScatterDims {
    /// Dimensions of the updates that hold a window.
    pub update_window_dims: Vec<i64>,
    /// Operand dimensions of window size 1 that the updates lack.
    pub inserted_window_dims: Vec<i64>,
    /// Input dimensions that are batched.
    pub input_batching_dims: Vec<i64>,
    /// Dimensions of the indices that are batched, in pairs with the former.
    pub scatter_indices_batching_dims: Vec<i64>,
    /// Operand dimension of each component of an index.
    pub scatter_dims_to_operand_dims: Vec<i64>,
    /// Dimension of the indices that holds an index vector; the rank of the indices for scalar indices.
    pub index_vector_dim: i64,
}

/// Channel of a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelHandle {
    /// Number of the channel.
    pub handle: i64,
    /// Kind of the channel.
    pub kind: i64,
}

/// A result of `custom_call` that shares the buffer of an operand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OutputOperandAlias {
    /// Path to the result in the result tuple; empty for a single result.
    pub output_tuple_indices: Vec<i64>,
    /// The operand.
    pub operand_index: i64,
    /// Path into the operand, if it is a tuple.
    pub operand_tuple_indices: Vec<i64>,
}

/// Requested accuracy of a transcendental function.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultAccuracy {
    /// Absolute tolerance.
    pub atol: f64,
    /// Relative tolerance.
    pub rtol: f64,
    /// Units in the last place.
    pub ulps: i64,
    /// `DEFAULT`, `HIGHEST` or `TOLERANCE`.
    pub mode: String,
}

/// Numerics of `dot_general`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DotAlgorithm {
    /// Type to which the left operand is rounded.
    pub lhs_precision_type: ElementType,
    /// Type to which the right operand is rounded.
    pub rhs_precision_type: ElementType,
    /// Type of the accumulator.
    pub accumulation_type: ElementType,
    /// Parts into which the left operand is split.
    pub lhs_component_count: i64,
    /// Parts into which the right operand is split.
    pub rhs_component_count: i64,
    /// Number of products.
    pub num_primitive_operations: i64,
    /// Whether the accumulator may round in between.
    pub allow_imprecise_accumulation: bool,
}
