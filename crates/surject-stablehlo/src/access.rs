//! Typed access to the attributes of an operation.

use crate::attr::{
    Attribute, Attributes, ConvAttrs, ConvDims, DotAlgorithm, DotDims, GatherDims, OutputOperandAlias,
    RaggedDims, ScatterDims, WindowAttrs,
};
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, codes};
use crate::module::Op;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The integers of a field `name = [0, 1]` in the text of an attribute.
pub(crate) fn numbers_in(text: &str, name: &str) -> Vec<i64> {
    let Some(rest) = text.split_once(name).map(|(_, rest)| rest) else { return Vec::new() };
    let inside =
        rest.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(inside, _)| inside);
    inside.split(',').filter_map(|n| n.trim().parse().ok()).collect()
}

impl Op {
    /// The attribute, or an error that names the operation.
    pub fn attribute(&self, name: &str) -> Result<&Attribute> {
        self.attributes.get(name).ok_or_else(|| {
            Diagnostic::new(codes::ACCESS, self.span, format!("'{}' has no attribute '{name}'", self.name))
        })
    }

    fn typed<'a, T>(
        &'a self,
        name: &str,
        what: &str,
        read: impl Fn(&'a Attribute) -> Option<T>,
    ) -> Result<T> {
        let attribute = self.attribute(name)?;
        read(attribute).ok_or_else(|| {
            let found = attribute.describe();
            let message = format!("attribute '{name}' of '{}' is {found}", self.name);
            Diagnostic::new(codes::ACCESS, self.span, message).expected(what)
        })
    }

    /// A list of integers (`array<i64: …>`).
    pub fn ints(&self, name: &str) -> Result<&[i64]> {
        self.typed(name, "array<i64>", |a| match a {
            Attribute::I64s(values) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// A list of booleans (`array<i1: …>`).
    pub fn bools(&self, name: &str) -> Result<&[bool]> {
        self.typed(name, "array<i1>", |a| match a {
            Attribute::Bools(values) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Result<i64> {
        self.typed(name, "an integer", Attribute::as_i64)
    }

    /// A boolean; a unit attribute counts as true, absence as false.
    pub fn flag(&self, name: &str) -> Result<bool> {
        if !self.attributes.contains(name) {
            return Ok(false);
        }
        self.typed(name, "a boolean", |a| match a {
            Attribute::Bool(value) => Some(*value),
            Attribute::Unit => Some(true),
            _ => None,
        })
    }

    /// A float.
    pub fn float(&self, name: &str) -> Result<f64> {
        self.typed(name, "a float", Attribute::as_f64)
    }

    /// A string.
    pub fn string(&self, name: &str) -> Result<&str> {
        self.typed(name, "a string", Attribute::as_str)
    }

    /// A symbol, without `@`.
    pub fn symbol(&self, name: &str) -> Result<&str> {
        self.typed(name, "a symbol reference", |a| match a {
            Attribute::Symbol(path) => path.first().map(String::as_str),
            _ => None,
        })
    }

    /// A dictionary.
    pub fn dict(&self, name: &str) -> Result<&Attributes> {
        self.typed(name, "a dictionary", |a| match a {
            Attribute::Dict(entries) => Some(entries),
            _ => None,
        })
    }

    /// Dense elements, for example the `value` of a constant.
    pub fn dense(&self, name: &str) -> Result<&DenseElements> {
        self.typed(name, "dense elements", |a| match a {
            Attribute::Dense(elements) => Some(elements),
            _ => None,
        })
    }

    /// The value of an enumeration, for example `LT`.
    pub fn enumeration(&self, name: &str) -> Result<&str> {
        self.typed(name, "an enumeration", |a| match a {
            Attribute::Enum { value, .. } => Some(value.as_ref()),
            _ => None,
        })
    }

    /// Pairs of integers: low and high paddings, sources and targets.
    pub fn pairs(&self, name: &str) -> Result<Vec<(i64, i64)>> {
        let elements = self.dense(name)?;
        let values =
            elements.to_i64s().filter(|_| elements.ty.rank() == 2 && elements.ty.shape[1].known() == Some(2));
        let values = values.ok_or_else(|| {
            let message = format!("attribute '{name}' of '{}' has type {}", self.name, elements.ty);
            Diagnostic::new(codes::ACCESS, self.span, message).expected("pairs of integers, tensor<nx2xi64>")
        })?;
        Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    /// `comparison_direction` of `compare`: `EQ`, `NE`, `GE`, `GT`, `LE` or `LT`.
    pub fn compare_direction(&self) -> Result<&str> {
        self.enumeration("comparison_direction")
    }

    /// `compare_type` of `compare`, where it is given.
    pub fn compare_type(&self) -> Option<&str> {
        self.enumeration("compare_type").ok()
    }

    /// Precision of each operand of a contraction (`DEFAULT`, `HIGH`, `HIGHEST`); empty where it is not given.
    pub fn precision(&self) -> Vec<&str> {
        let Some(Attribute::Array(items)) = self.attributes.get("precision_config") else {
            return Vec::new();
        };
        items.iter().filter_map(Attribute::as_enum).collect()
    }

    /// Dimensions of `dot_general`.
    pub fn dot_dims(&self) -> Result<&DotDims> {
        self.typed("dot_dimension_numbers", "#stablehlo.dot<…>", |a| match a {
            Attribute::Dot(dims) => Some(&**dims),
            _ => None,
        })
    }

    /// Dimensions of `chlo.ragged_dot`; `None` where they cannot be read.
    pub fn ragged_dims(&self) -> Option<RaggedDims> {
        let Some(Attribute::Opaque(text)) = self.attributes.get("ragged_dot_dimension_numbers") else {
            return None;
        };
        let list = |name: &str| numbers_in(text, name);
        let dot = DotDims {
            batch_lhs: list("lhs_batching_dimensions"),
            batch_rhs: list("rhs_batching_dimensions"),
            contract_lhs: list("lhs_contracting_dimensions"),
            contract_rhs: list("rhs_contracting_dimensions"),
        };
        let ragged = list("lhs_ragged_dimensions").first().copied()?;
        Some(RaggedDims { dot, ragged, group: list("rhs_group_dimensions").first().copied() })
    }

    /// Algorithm of `dot_general`, where it is given.
    pub fn dot_algorithm(&self) -> Option<&DotAlgorithm> {
        match self.attributes.get("algorithm")? {
            Attribute::DotAlgorithm(algorithm) => Some(&**algorithm),
            _ => None,
        }
    }

    /// Roles of the dimensions of a convolution.
    pub fn conv_dims(&self) -> Result<&ConvDims> {
        self.typed("dimension_numbers", "#stablehlo.conv<…>", |a| match a {
            Attribute::Conv(dims) => Some(&**dims),
            _ => None,
        })
    }

    /// All attributes of `convolution`.
    pub fn conv(&self) -> Result<ConvAttrs> {
        Ok(ConvAttrs {
            dims: self.conv_dims()?.clone(),
            strides: self.ints("window_strides")?.to_vec(),
            padding: self.pairs("padding")?,
            lhs_dilation: self.ints("lhs_dilation")?.to_vec(),
            rhs_dilation: self.ints("rhs_dilation")?.to_vec(),
            reversal: self.bools("window_reversal")?.to_vec(),
            feature_group_count: self.int("feature_group_count")?,
            batch_group_count: self.int("batch_group_count")?,
        })
    }

    /// The window of `reduce_window` or `select_and_scatter` (whose dilations are ones).
    pub fn window(&self) -> Result<WindowAttrs> {
        let dimensions = self.ints("window_dimensions")?.to_vec();
        let ones = vec![1; dimensions.len()];
        let dilations = |name: &str| match self.attributes.contains(name) {
            true => self.ints(name).map(<[i64]>::to_vec),
            false => Ok(ones.clone()),
        };
        Ok(WindowAttrs {
            strides: self.ints("window_strides")?.to_vec(),
            base_dilations: dilations("base_dilations")?,
            window_dilations: dilations("window_dilations")?,
            padding: self.pairs("padding")?,
            dimensions,
        })
    }

    /// Dimension numbers of `gather` and `dynamic_gather`.
    pub fn gather_dims(&self) -> Result<&GatherDims> {
        self.typed("dimension_numbers", "#stablehlo.gather<…>", |a| match a {
            Attribute::Gather(dims) => Some(&**dims),
            _ => None,
        })
    }

    /// Dimension numbers of `scatter`.
    pub fn scatter_dims(&self) -> Result<&ScatterDims> {
        self.typed("scatter_dimension_numbers", "#stablehlo.scatter<…>", |a| match a {
            Attribute::Scatter(dims) => Some(&**dims),
            _ => None,
        })
    }

    /// Aliases between operands and results of `custom_call`; empty where none are given.
    pub fn output_operand_aliases(&self) -> Vec<&OutputOperandAlias> {
        let Some(Attribute::Array(items)) = self.attributes.get("output_operand_aliases") else {
            return Vec::new();
        };
        items.iter().filter_map(Attribute::as_alias).collect()
    }

    /// Name of the function that `func.call` calls, or the decomposition of `composite`.
    pub fn callee(&self) -> Result<&str> {
        self.symbol(if self.attributes.contains("callee") { "callee" } else { "decomposition" })
    }
}
