//! The structured attributes of StableHLO: `#stablehlo.dot<…>` and its kin.

use super::Parser;
use super::attrs::enumeration;
use super::cursor::Result;
use crate::attr::{
    Attribute, ChannelHandle, ConvDims, DotAlgorithm, DotDims, GatherDims, OutputOperandAlias,
    ResultAccuracy, ScatterDims,
};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::table::enum_values;
use crate::types::{ElementType, Type};

/// Which fields an attribute must have, and in which order.
#[derive(Clone, Copy, PartialEq)]
enum Fields {
    /// Any, in any order; a comma may stand behind the last.
    Optional,
    /// These, in any order.
    Required(&'static [&'static str]),
    /// These in this order, of which the first so many may be left out.
    Ordered(&'static [&'static str], usize),
}

/// Attributes with no structure here, kept as text.
const AS_TEXT: &[&str] = &[
    "bounds",
    "type_extensions",
    "replica_group_mesh_axes",
    "mesh",
    "mesh_axis",
    "axis_ref",
    "sub_axis_info",
    "ragged_dot",
];

impl<'s> Parser<'s> {
    /// The attribute `#stablehlo.NAME<…>` (or, with an empty name, `#stablehlo<KIND VALUE>`), read from `<` on;
    /// `None` without moving for names that are kept as text.
    pub(super) fn stablehlo_attribute(&mut self, name: &str, start: usize) -> Result<Option<Attribute>> {
        let attribute = match name {
            "" => return self.short_enumeration(),
            "dot" => Attribute::Dot(Box::new(self.dot_dims()?)),
            "conv" => Attribute::Conv(Box::new(self.conv_attribute()?)),
            "gather" => Attribute::Gather(Box::new(self.gather_dims()?)),
            "scatter" => Attribute::Scatter(Box::new(self.scatter_dims()?)),
            "channel_handle" => Attribute::ChannelHandle(self.channel_handle()?),
            "output_operand_alias" => Attribute::OutputOperandAlias(Box::new(self.operand_alias()?)),
            "result_accuracy" => Attribute::ResultAccuracy(Box::new(self.result_accuracy()?)),
            "dot_algorithm" => Attribute::DotAlgorithm(Box::new(self.dot_algorithm()?)),
            kind if enum_values(kind).is_some() => {
                self.c.expect("<")?;
                let value = self.c.word("the value of an enumeration")?;
                let attribute = enumeration(kind, value, Span::new(start, self.c.pos))?;
                self.c.expect(">")?;
                attribute
            }
            known if AS_TEXT.contains(&known) => return Ok(None),
            unknown => {
                let span = Span::new(start, self.c.pos);
                return Err(Diagnostic::new(
                    codes::ATTRIBUTE,
                    span,
                    format!("the attribute '{unknown}' of StableHLO is not known"),
                ));
            }
        };
        Ok(Some(attribute))
    }

    /// `<precision DEFAULT>`
    fn short_enumeration(&mut self) -> Result<Option<Attribute>> {
        let before = self.c.pos;
        self.c.expect("<")?;
        self.c.ws();
        let kind_start = self.c.pos;
        let kind = self.c.word("the kind of an enumeration")?;
        if self.c.byte() == b'<' || AS_TEXT.contains(&kind) {
            self.c.pos = before;
            return Ok(None);
        }
        if enum_values(kind).is_none() {
            let span = Span::new(kind_start, self.c.pos);
            return Err(Diagnostic::new(
                codes::ATTRIBUTE,
                span,
                format!("'{kind}' is no enumeration of StableHLO"),
            ));
        }
        self.c.ws();
        let start = self.c.pos;
        let value = self.c.word("the value of an enumeration")?;
        let attribute = enumeration(kind, value, Span::new(start, self.c.pos))?;
        self.c.expect(">")?;
        Ok(Some(attribute))
    }

    /// `<key = value, …>`; the callback reads the value of a key, or says that it does not know the key.
    fn fields(
        &mut self,
        what: &str,
        rule: Fields,
        mut read: impl FnMut(&mut Self, &str) -> Result<bool>,
    ) -> Result<()> {
        self.c.expect("<")?;
        let mut seen: Vec<&str> = Vec::new();
        while self.c.peek() != b'>' || (!seen.is_empty() && rule != Fields::Optional) {
            self.c.ws();
            let start = self.c.pos;
            let key = self.c.word("the name of a field")?;
            let span = Span::new(start, self.c.pos);
            let wrong = |message: String| Err(Diagnostic::new(codes::ATTRIBUTE, span, message));
            if seen.contains(&key) {
                return wrong(format!("{what} has the field '{key}' twice"));
            }
            self.c.expect("=")?;
            if !read(self, key)? {
                return wrong(format!("{what} has no field '{key}'"));
            }
            if let Fields::Ordered(names, _) = rule {
                let place = |key: &str| names.iter().position(|name| *name == key);
                if seen.last().is_some_and(|last| place(last) > place(key)) {
                    return wrong(format!(
                        "the field '{key}' of {what} stands behind '{}'",
                        seen[seen.len() - 1]
                    ));
                }
            }
            seen.push(key);
            // MLIR writes a comma behind the last field where those after it hold their defaults.
            if !self.c.eat(",") {
                break;
            }
        }
        if !self.c.eat(">") {
            return Err(self.c.unexpected("',' or '>'"));
        }
        let required = match rule {
            Fields::Optional => &[][..],
            Fields::Required(names) => names,
            Fields::Ordered(names, first) => &names[first..],
        };
        match required.iter().find(|name| !seen.contains(name)) {
            Some(missing) => {
                let end = Span::new(self.c.pos - 1, self.c.pos);
                Err(Diagnostic::new(codes::ATTRIBUTE, end, format!("{what} lacks its field '{missing}'")))
            }
            None => Ok(()),
        }
    }

    fn dot_dims(&mut self) -> Result<DotDims> {
        let mut dims = DotDims::default();
        self.fields("#stablehlo.dot", Fields::Optional, |p, key| {
            let field = match key {
                "lhs_batching_dimensions" => &mut dims.batch_lhs,
                "rhs_batching_dimensions" => &mut dims.batch_rhs,
                "lhs_contracting_dimensions" => &mut dims.contract_lhs,
                "rhs_contracting_dimensions" => &mut dims.contract_rhs,
                _ => return Ok(false),
            };
            *field = p.c.int_list()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    fn gather_dims(&mut self) -> Result<GatherDims> {
        let mut dims = GatherDims::default();
        self.fields("#stablehlo.gather", Fields::Optional, |p, key| {
            let field = match key {
                "offset_dims" => &mut dims.offset_dims,
                "collapsed_slice_dims" => &mut dims.collapsed_slice_dims,
                "operand_batching_dims" => &mut dims.operand_batching_dims,
                "start_indices_batching_dims" => &mut dims.start_indices_batching_dims,
                "start_index_map" => &mut dims.start_index_map,
                "index_vector_dim" => {
                    dims.index_vector_dim = p.c.int()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            *field = p.c.int_list()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    fn scatter_dims(&mut self) -> Result<ScatterDims> {
        let mut dims = ScatterDims::default();
        self.fields("#stablehlo.scatter", Fields::Optional, |p, key| {
            let field = match key {
                "update_window_dims" => &mut dims.update_window_dims,
                "inserted_window_dims" => &mut dims.inserted_window_dims,
                "input_batching_dims" => &mut dims.input_batching_dims,
                "scatter_indices_batching_dims" => &mut dims.scatter_indices_batching_dims,
                "scatter_dims_to_operand_dims" => &mut dims.scatter_dims_to_operand_dims,
                "index_vector_dim" => {
                    dims.index_vector_dim = p.c.int()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            *field = p.c.int_list()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    fn channel_handle(&mut self) -> Result<ChannelHandle> {
        let mut channel = ChannelHandle::default();
        self.fields("#stablehlo.channel_handle", Fields::Required(&["handle", "type"]), |p, key| {
            let field = match key {
                "handle" => &mut channel.handle,
                "type" => &mut channel.kind,
                _ => return Ok(false),
            };
            *field = p.c.int()?;
            Ok(true)
        })?;
        Ok(channel)
    }

    fn operand_alias(&mut self) -> Result<OutputOperandAlias> {
        let mut alias = OutputOperandAlias::default();
        let names = &["output_tuple_indices", "operand_index", "operand_tuple_indices"];
        self.fields("#stablehlo.output_operand_alias", Fields::Ordered(names, 0), |p, key| {
            match key {
                "output_tuple_indices" => alias.output_tuple_indices = p.c.int_list()?,
                "operand_index" => alias.operand_index = p.c.int()?,
                "operand_tuple_indices" => alias.operand_tuple_indices = p.c.int_list()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(alias)
    }

    fn result_accuracy(&mut self) -> Result<ResultAccuracy> {
        let mut accuracy = ResultAccuracy { atol: 0.0, rtol: 0.0, ulps: 0, mode: "DEFAULT".to_string() };
        let names = &["atol", "rtol", "ulps", "mode"];
        self.fields("#stablehlo.result_accuracy", Fields::Ordered(names, 3), |p, key| {
            match key {
                "atol" => accuracy.atol = p.double()?,
                "rtol" => accuracy.rtol = p.double()?,
                "ulps" => accuracy.ulps = p.c.int()?,
                "mode" => {
                    let start = p.c.pos;
                    match p.attribute()? {
                        Attribute::Enum { value, .. } => accuracy.mode = value.into_owned(),
                        _ => {
                            let span = Span::new(start, p.c.pos);
                            return Err(Diagnostic::new(
                                codes::ATTRIBUTE,
                                span,
                                "a mode that is no enumeration",
                            )
                            .expected("#stablehlo.result_accuracy_mode<DEFAULT>, <HIGHEST> or <TOLERANCE>"));
                        }
                    }
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(accuracy)
    }

    /// A number, or the bits of one in hexadecimal.
    fn double(&mut self) -> Result<f64> {
        let number = self.c.number()?;
        let attribute = super::attrs::number_of_type(&number, ElementType::F64)?;
        Ok(attribute.as_f64().unwrap_or(0.0))
    }

    /// `<lhs_precision_type = f32, …>`
    pub(super) fn dot_algorithm(&mut self) -> Result<DotAlgorithm> {
        let mut algorithm = DotAlgorithm {
            lhs_precision_type: ElementType::F32,
            rhs_precision_type: ElementType::F32,
            accumulation_type: ElementType::F32,
            lhs_component_count: 1,
            rhs_component_count: 1,
            num_primitive_operations: 1,
            allow_imprecise_accumulation: false,
        };
        let names = &[
            "lhs_precision_type",
            "rhs_precision_type",
            "accumulation_type",
            "lhs_component_count",
            "rhs_component_count",
            "num_primitive_operations",
            "allow_imprecise_accumulation",
        ];
        self.fields("a dot algorithm", Fields::Ordered(names, 0), |p, key| {
            match key {
                "lhs_precision_type" => algorithm.lhs_precision_type = p.scalar_type()?,
                "rhs_precision_type" => algorithm.rhs_precision_type = p.scalar_type()?,
                "accumulation_type" => algorithm.accumulation_type = p.scalar_type()?,
                "lhs_component_count" => algorithm.lhs_component_count = p.c.int()?,
                "rhs_component_count" => algorithm.rhs_component_count = p.c.int()?,
                "num_primitive_operations" => algorithm.num_primitive_operations = p.c.int()?,
                "allow_imprecise_accumulation" => algorithm.allow_imprecise_accumulation = p.boolean()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(algorithm)
    }

    fn scalar_type(&mut self) -> Result<ElementType> {
        self.c.ws();
        let start = self.c.pos;
        match self.ty()? {
            Type::Scalar(element) => Ok(element),
            other => {
                Err(Diagnostic::new(codes::TYPE, Span::new(start, self.c.pos), format!("the type {other}"))
                    .expected("a number type"))
            }
        }
    }

    /// `true` or `false`, also `1` or `0`.
    pub(super) fn boolean(&mut self) -> Result<bool> {
        if self.c.eat_word("true") || self.c.eat("1") {
            return Ok(true);
        }
        if self.c.eat_word("false") || self.c.eat("0") {
            return Ok(false);
        }
        Err(self.c.unexpected("'true' or 'false'"))
    }

    /// `<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>` or `<raw …>`
    fn conv_attribute(&mut self) -> Result<ConvDims> {
        self.c.expect("<")?;
        if !self.c.eat_word("raw") {
            let dims = self.conv_dims()?;
            self.c.expect(">")?;
            return Ok(dims);
        }
        // `fields` reads its own opening bracket, which stands before `raw`.
        self.raw_conv_dims()
    }

    fn raw_conv_dims(&mut self) -> Result<ConvDims> {
        let mut dims = ConvDims::default();
        loop {
            self.c.ws();
            let start = self.c.pos;
            let key = self.c.word("the name of a field")?;
            let span = Span::new(start, self.c.pos);
            self.c.expect("=")?;
            match key {
                "input_batch_dimension" => dims.input_batch = self.c.int()?,
                "input_feature_dimension" => dims.input_feature = self.c.int()?,
                "input_spatial_dimensions" => dims.input_spatial = self.c.int_list()?,
                "kernel_input_feature_dimension" => dims.kernel_input_feature = self.c.int()?,
                "kernel_output_feature_dimension" => dims.kernel_output_feature = self.c.int()?,
                "kernel_spatial_dimensions" => dims.kernel_spatial = self.c.int_list()?,
                "output_batch_dimension" => dims.output_batch = self.c.int()?,
                "output_feature_dimension" => dims.output_feature = self.c.int()?,
                "output_spatial_dimensions" => dims.output_spatial = self.c.int_list()?,
                _ => {
                    let message = format!("#stablehlo.conv has no field '{key}'");
                    return Err(Diagnostic::new(codes::ATTRIBUTE, span, message));
                }
            }
            if !self.c.eat(",") || self.c.peek() == b'>' {
                break;
            }
        }
        self.c.expect(">")?;
        Ok(dims)
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
    pub(super) fn conv_dims(&mut self) -> Result<ConvDims> {
        let (input_batch, input_feature, input_spatial) = self.conv_roles("b", "f")?;
        self.c.expect("x")?;
        let (kernel_input_feature, kernel_output_feature, kernel_spatial) = self.conv_roles("i", "o")?;
        self.c.expect("->")?;
        let (output_batch, output_feature, output_spatial) = self.conv_roles("b", "f")?;
        Ok(ConvDims {
            input_batch,
            input_feature,
            input_spatial,
            kernel_input_feature,
            kernel_output_feature,
            kernel_spatial,
            output_batch,
            output_feature,
            output_spatial,
        })
    }

    /// One list of roles: positions of the two letters, and of the spatial dimensions in their order.
    fn conv_roles(&mut self, first: &str, second: &str) -> Result<(i64, i64, Vec<i64>)> {
        self.c.ws();
        let start = self.c.pos;
        let mut position = 0;
        let (mut a, mut b) = (None, None);
        let mut spatial: Vec<(i64, i64)> = Vec::new();
        self.c.list("[", "]", |c| {
            if c.eat_word(first) && a.is_none() {
                a = Some(position);
            } else if c.eat_word(second) && b.is_none() {
                b = Some(position);
            } else {
                if !c.at_number() {
                    return Err(c.unexpected(format!(
                        "'{first}', '{second}' or the number of a spatial dimension, each once"
                    )));
                }
                spatial.push((c.int()?, position));
            }
            position += 1;
            Ok(())
        })?;
        let span = Span::new(start, self.c.pos);
        let wrong = |message: String| Diagnostic::new(codes::ATTRIBUTE, span, message);
        spatial.sort_unstable();
        if spatial.iter().zip(0..).any(|((number, _), wanted)| *number != wanted) {
            let found: Vec<i64> = spatial.iter().map(|s| s.0).collect();
            return Err(wrong(format!("the spatial dimensions {found:?} are not numbered 0, 1, …")));
        }
        let a = a.ok_or_else(|| wrong(format!("dimension '{first}' is missing")))?;
        let b = b.ok_or_else(|| wrong(format!("dimension '{second}' is missing")))?;
        Ok((a, b, spatial.into_iter().map(|s| s.1).collect()))
    }
}
