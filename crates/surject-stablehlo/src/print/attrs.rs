//! Text of attributes.

use std::fmt::Write;

use super::Options;
use crate::attr::{
    Attribute, Attributes, ConvDims, DotAlgorithm, DotDims, GatherDims, OutputOperandAlias, ResultAccuracy,
    ScatterDims,
};
use crate::dense::{DenseData, DenseElements};
use crate::float;
use crate::types::ElementType;

/// More elements than this are printed as a hexadecimal blob.
const MAX_LISTED: u64 = 100;

/// Writes attributes; `dialect` is that of the operation, whose enumerations are spelled with it.
pub(super) struct AttrPrinter<'a> {
    pub options: &'a Options,
    pub dialect: &'a str,
}

// Writing to a `String` cannot fail, so the results of `write!` carry nothing.
impl AttrPrinter<'_> {
    pub fn attribute(&self, out: &mut String, attribute: &Attribute) {
        match attribute {
            Attribute::Unit => out.push_str("unit"),
            Attribute::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Attribute::Int { value, ty: ElementType::I1 } => {
                out.push_str(if *value == 0 { "false" } else { "true" })
            }
            Attribute::Int { value, ty } => _ = write!(out, "{value} : {ty}"),
            Attribute::Float { bits, ty } => _ = write!(out, "{} : {ty}", float::print(ty, *bits)),
            Attribute::String(text) => quoted(out, text.as_bytes()),
            Attribute::Bytes(bytes) => quoted(out, bytes),
            Attribute::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    separate(out, i);
                    self.item(out, item);
                }
                out.push(']');
            }
            Attribute::Dict(entries) => self.dictionary(out, entries, |_| true),
            Attribute::I64s(values) => dense_array(out, "i64", values.iter()),
            Attribute::Bools(values) => dense_array(out, "i1", values.iter()),
            Attribute::DenseArray { element, values } if element.is_float() => {
                dense_array(
                    out,
                    element.keyword(),
                    values.iter().map(|bits| float::print(element, *bits as u64)),
                );
            }
            Attribute::DenseArray { element, values } => dense_array(out, element.keyword(), values.iter()),
            Attribute::Dense(elements) => self.dense(out, elements),
            Attribute::Type(ty) => _ = write!(out, "{ty}"),
            Attribute::Symbol(path) => {
                for (i, part) in path.iter().enumerate() {
                    out.push_str(if i > 0 { "::" } else { "" });
                    symbol(out, part);
                }
            }
            Attribute::Enum { kind, value } => _ = write!(out, "#{}<{kind} {value}>", self.dialect),
            Attribute::Dot(dims) => dot(out, dims),
            Attribute::Conv(dims) => {
                out.push_str("#stablehlo.conv<");
                if !conv_dims(out, dims) {
                    raw_conv(out, dims);
                }
                out.push('>');
            }
            Attribute::Gather(dims) => gather(out, dims),
            Attribute::Scatter(dims) => scatter(out, dims),
            Attribute::ChannelHandle(c) => {
                _ = write!(out, "#stablehlo.channel_handle<handle = {}, type = {}>", c.handle, c.kind);
            }
            Attribute::OutputOperandAlias(alias) => operand_alias(out, alias),
            Attribute::ResultAccuracy(accuracy) => result_accuracy(out, accuracy),
            Attribute::DotAlgorithm(algorithm) => {
                out.push_str("#stablehlo.dot_algorithm");
                dot_algorithm(out, algorithm);
            }
            Attribute::Opaque(text) => out.push_str(text),
        }
    }

    /// An entry of a list, where the types that numbers have by themselves are left out.
    fn item(&self, out: &mut String, item: &Attribute) {
        match item {
            Attribute::Int { value, ty: ElementType::I64 } => _ = write!(out, "{value}"),
            Attribute::Float { bits, ty: ElementType::F64 } => {
                let text = float::print(&ElementType::F64, *bits);
                out.push_str(&text);
                if text.starts_with("0x") {
                    out.push_str(" : f64");
                }
            }
            other => self.attribute(out, other),
        }
    }

    /// `{a = 1, b}` of the entries whose name is wanted.
    pub fn dictionary(&self, out: &mut String, attributes: &Attributes, wanted: impl Fn(&str) -> bool) {
        out.push('{');
        for (i, (name, value)) in attributes.explicit().filter(|(name, _)| wanted(name)).enumerate() {
            separate(out, i);
            if is_identifier(name) {
                out.push_str(name)
            } else {
                quoted(out, name.as_bytes())
            }
            if *value != Attribute::Unit {
                out.push_str(" = ");
                self.attribute(out, value);
            }
        }
        out.push('}');
    }

    /// `dense<…> : T`
    pub fn dense(&self, out: &mut String, elements: &DenseElements) {
        out.push_str("dense<");
        self.elements(out, elements);
        _ = write!(out, "> : {}", elements.ty);
    }

    fn elements(&self, out: &mut String, elements: &DenseElements) {
        match &elements.data {
            _ if elements.is_empty() => {}
            DenseData::Splat(bytes) => element(out, &elements.ty.element, bytes),
            DenseData::Raw(bytes) if elements.len() > MAX_LISTED => {
                self.blob(out, &elements.ty.element, bytes)
            }
            DenseData::Raw(bytes) => {
                let shape: Vec<usize> =
                    elements.ty.shape.iter().map(|d| d.known().unwrap_or(0) as usize).collect();
                let mut chunks = bytes.chunks_exact(elements.element_bytes().max(1));
                nested(out, &shape, &mut || chunks.next().unwrap_or(&[]), &elements.ty.element);
            }
        }
    }

    fn blob(&self, out: &mut String, element: &ElementType, bytes: &[u8]) {
        out.push_str("\"0x");
        if *element == ElementType::I1 && self.options.packed_booleans {
            let packed =
                bytes.chunks(8).map(|chunk| chunk.iter().enumerate().map(|(i, b)| (b & 1) << i).sum());
            hex(out, packed);
        } else {
            // Integers below a byte are stored sign-extended, and written as their own bits.
            let mask = match element.bits() {
                Some(bits) if bits < 8 => (1u16 << bits) as u8 - 1,
                _ => 0xFF,
            };
            hex(out, bytes.iter().map(|b| b & mask));
        }
        out.push('"');
    }
}

fn hex(out: &mut String, bytes: impl ExactSizeIterator<Item = u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.reserve(2 * bytes.len());
    for byte in bytes {
        out.push(DIGITS[(byte >> 4) as usize] as char);
        out.push(DIGITS[(byte & 0xF) as usize] as char);
    }
}

/// Nested lists; a rank-zero tensor is its element.
fn nested<'b>(out: &mut String, shape: &[usize], next: &mut dyn FnMut() -> &'b [u8], ty: &ElementType) {
    let Some((count, rest)) = shape.split_first() else { return element(out, ty, next()) };
    out.push('[');
    for i in 0..*count {
        separate(out, i);
        nested(out, rest, next, ty);
    }
    out.push(']');
}

fn element(out: &mut String, ty: &ElementType, bytes: &[u8]) {
    if ty.is_complex() {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        out.push('(');
        element(out, &ty.real_part(), re);
        out.push(',');
        element(out, &ty.real_part(), im);
        return out.push(')');
    }
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    if ty.is_float() {
        return out.push_str(&float::print(ty, bits));
    }
    match ty.class() {
        crate::types::ElementClass::Bool => out.push_str(if bits == 0 { "false" } else { "true" }),
        crate::types::ElementClass::Signed => {
            let shift = 64 - 8 * bytes.len() as u32;
            _ = write!(out, "{}", (bits << shift) as i64 >> shift);
        }
        _ => _ = write!(out, "{bits}"),
    }
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push_str(", ");
    }
}

fn dense_array<T: std::fmt::Display>(out: &mut String, element: &str, values: impl Iterator<Item = T>) {
    _ = write!(out, "array<{element}");
    for (i, value) in values.enumerate() {
        _ = write!(out, "{} {value}", if i == 0 { ":" } else { "," });
    }
    out.push('>');
}

/// `[1, 2]`
pub(super) fn int_list(out: &mut String, values: &[i64]) {
    _ = write!(out, "{values:?}");
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

/// `@name` or `@"any name"`
pub(super) fn symbol(out: &mut String, name: &str) {
    out.push('@');
    if is_identifier(name) { out.push_str(name) } else { quoted(out, name.as_bytes()) }
}

/// A string in quotes, everything but printable ASCII escaped as two hexadecimal digits.
pub(super) fn quoted(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            0x20..=0x7E => out.push(*byte as char),
            _ => _ = write!(out, "\\{byte:02X}"),
        }
    }
    out.push('"');
}

/// `<key = [..], …>` of the lists that are not empty, and of a last number that is not zero.
fn dims(out: &mut String, name: &str, lists: &[(&str, &Vec<i64>)], number: Option<(&str, i64)>) {
    _ = write!(out, "#stablehlo.{name}<");
    let mut count = 0;
    for (key, values) in lists.iter().filter(|(_, values)| !values.is_empty()) {
        separate(out, count);
        _ = write!(out, "{key} = {values:?}");
        count += 1;
    }
    if let Some((key, value)) = number.filter(|(_, value)| *value != 0) {
        separate(out, count);
        _ = write!(out, "{key} = {value}");
    }
    out.push('>');
}

fn dot(out: &mut String, d: &DotDims) {
    let lists = [
        ("lhs_batching_dimensions", &d.batch_lhs),
        ("rhs_batching_dimensions", &d.batch_rhs),
        ("lhs_contracting_dimensions", &d.contract_lhs),
        ("rhs_contracting_dimensions", &d.contract_rhs),
    ];
    dims(out, "dot", &lists, None);
}

fn gather(out: &mut String, d: &GatherDims) {
    let lists = [
        ("offset_dims", &d.offset_dims),
        ("collapsed_slice_dims", &d.collapsed_slice_dims),
        ("operand_batching_dims", &d.operand_batching_dims),
        ("start_indices_batching_dims", &d.start_indices_batching_dims),
        ("start_index_map", &d.start_index_map),
    ];
    dims(out, "gather", &lists, Some(("index_vector_dim", d.index_vector_dim)));
}

fn scatter(out: &mut String, d: &ScatterDims) {
    let lists = [
        ("update_window_dims", &d.update_window_dims),
        ("inserted_window_dims", &d.inserted_window_dims),
        ("input_batching_dims", &d.input_batching_dims),
        ("scatter_indices_batching_dims", &d.scatter_indices_batching_dims),
        ("scatter_dims_to_operand_dims", &d.scatter_dims_to_operand_dims),
    ];
    dims(out, "scatter", &lists, Some(("index_vector_dim", d.index_vector_dim)));
}

fn operand_alias(out: &mut String, alias: &OutputOperandAlias) {
    _ = write!(
        out,
        "#stablehlo.output_operand_alias<output_tuple_indices = {:?}, operand_index = {}, operand_tuple_indices = {:?}>",
        alias.output_tuple_indices, alias.operand_index, alias.operand_tuple_indices
    );
}

fn result_accuracy(out: &mut String, accuracy: &ResultAccuracy) {
    out.push_str("#stablehlo.result_accuracy<");
    for (key, value) in [("atol", accuracy.atol), ("rtol", accuracy.rtol)] {
        if value != 0.0 {
            _ = write!(out, "{key} = {}, ", float::print(&ElementType::F64, value.to_bits()));
        }
    }
    if accuracy.ulps != 0 {
        _ = write!(out, "ulps = {}, ", accuracy.ulps);
    }
    _ = write!(out, "mode = #stablehlo.result_accuracy_mode<{}>>", accuracy.mode);
}

/// `<lhs_precision_type = f32, …>`
pub(super) fn dot_algorithm(out: &mut String, a: &DotAlgorithm) {
    _ = write!(
        out,
        "<lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = {}, lhs_component_count = {}, \
         rhs_component_count = {}, num_primitive_operations = {}, allow_imprecise_accumulation = {}>",
        a.lhs_precision_type,
        a.rhs_precision_type,
        a.accumulation_type,
        a.lhs_component_count,
        a.rhs_component_count,
        a.num_primitive_operations,
        a.allow_imprecise_accumulation
    );
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`; false, with nothing written, if the positions are no permutations.
pub(super) fn conv_dims(out: &mut String, d: &ConvDims) -> bool {
    let input = roles(("b", d.input_batch), ("f", d.input_feature), &d.input_spatial);
    let kernel = roles(("i", d.kernel_input_feature), ("o", d.kernel_output_feature), &d.kernel_spatial);
    let output = roles(("b", d.output_batch), ("f", d.output_feature), &d.output_spatial);
    let (Some(input), Some(kernel), Some(output)) = (input, kernel, output) else { return false };
    _ = write!(out, "[{input}]x[{kernel}]->[{output}]");
    true
}

fn roles(first: (&str, i64), second: (&str, i64), spatial: &[i64]) -> Option<String> {
    let mut slots = vec![None; spatial.len() + 2];
    let named = [(first.0.to_string(), first.1), (second.0.to_string(), second.1)];
    let numbered = spatial.iter().enumerate().map(|(i, at)| (i.to_string(), *at));
    for (label, at) in named.into_iter().chain(numbered) {
        let slot = slots.get_mut(usize::try_from(at).ok()?)?;
        if slot.replace(label).is_some() {
            return None;
        }
    }
    let labels: Option<Vec<String>> = slots.into_iter().collect();
    Some(labels?.join(", "))
}

fn raw_conv(out: &mut String, d: &ConvDims) {
    _ = write!(
        out,
        "raw input_batch_dimension = {}, input_feature_dimension = {}, input_spatial_dimensions = {:?}, \
         kernel_input_feature_dimension = {}, kernel_output_feature_dimension = {}, kernel_spatial_dimensions = {:?}, \
         output_batch_dimension = {}, output_feature_dimension = {}, output_spatial_dimensions = {:?}",
        d.input_batch,
        d.input_feature,
        d.input_spatial,
        d.kernel_input_feature,
        d.kernel_output_feature,
        d.kernel_spatial,
        d.output_batch,
        d.output_feature,
        d.output_spatial
    );
}
