//! The pretty forms, mirroring those of the parser. A form returns `None` where it cannot express an operation,
//! which is then printed generically.

use std::fmt::Write;

use super::attrs::{conv_dims, dot_algorithm, int_list, quoted, symbol};
use super::{Header, Printer};
use crate::attr::Attribute;
use crate::module::{Op, Region};
use crate::table::{AttrKind, Form, OpSpec, Types};
use crate::types::{ElementType, TensorType, Type, TypeList};

impl Printer<'_> {
    /// What follows the name of the operation.
    pub(super) fn form(&mut self, op: &Op, spec: &'static OpSpec) -> Option<()> {
        match spec.form {
            Form::Generic => return None,
            Form::Listed { labels, types, parenthesised } => {
                self.listed(op, spec, labels, types, parenthesised)?
            }
            Form::Constant => self.constant(op)?,
            Form::Compare => self.compare(op)?,
            Form::Select => self.select(op)?,
            Form::Complex => self.complex(op)?,
            Form::ReducePrecision => self.reduce_precision(op)?,
            Form::Slice => self.slice(op)?,
            Form::DotGeneral => self.dot_general(op)?,
            Form::Convolution => self.convolution(op)?,
            Form::Reduce => self.reduce(op)?,
            Form::While => self.while_op(op)?,
            Form::Scan => self.scan_op(op)?,
            Form::Tuple => {
                let ([result], parts) = (op.results.as_slice(), self.types_of(&op.operands)) else {
                    return None;
                };
                let ty = Type::Tuple(parts.into());
                if *self.module.ty(*result) != ty {
                    return None;
                }
                self.spaced_operands(op);
                self.rest(op, &[]);
                _ = write!(self.out, " : {ty}");
            }
            Form::GetTupleElement => {
                _ = write!(self.out, " ");
                self.operands(&op.operands);
                _ = write!(self.out, "[{}]", op.int("index").ok()?);
                self.rest(op, &["index"]);
                self.functional(op);
            }
            Form::Barrier => self.barrier(op)?,
            Form::CustomCall => {
                self.out.push(' ');
                symbol(&mut self.out, op.string("call_target_name").ok()?);
                self.arguments(op);
                self.rest(op, &["call_target_name"]);
                self.functional(op);
            }
            Form::Composite => self.composite(op)?,
            Form::Call => {
                self.out.push(' ');
                self.attribute("func", op.attributes.get("callee")?);
                self.arguments(op);
                self.rest(op, &["callee"]);
                self.functional(op);
            }
            Form::Return => {
                self.rest(op, &[]);
                if !op.operands.is_empty() {
                    self.spaced_operands(op);
                    _ = write!(self.out, " : {}", TypeList(&self.types_of(&op.operands)));
                }
            }
            Form::CheckConst => self.check_const(op)?,
            Form::Mesh => self.mesh(op)?,
            Form::Sharded { before, after } => self.sharded(op, before, after)?,
            Form::Computation { pieces } => self.computation(op, pieces)?,
        }
        Some(())
    }

    fn spaced_operands(&mut self, op: &Op) {
        if !op.operands.is_empty() {
            self.out.push(' ');
            self.operands(&op.operands);
        }
    }

    /// `(%a, %b)`
    pub(super) fn arguments(&mut self, op: &Op) {
        self.out.push('(');
        self.operands(&op.operands);
        self.out.push(')');
    }

    /// ` {…}` of the attributes that the form has not shown.
    pub(super) fn rest(&mut self, op: &Op, shown: &[&str]) {
        if op.attributes.explicit().any(|(name, _)| !shown.contains(&name)) {
            self.out.push(' ');
            let dialect = op.name.split('.').next().unwrap_or("");
            self.dictionary(dialect, &op.attributes, |name| !shown.contains(&name));
        }
    }

    fn listed(
        &mut self,
        op: &Op,
        spec: &'static OpSpec,
        labels: &'static [(&'static str, &'static str)],
        types: Types,
        parenthesised: bool,
    ) -> Option<()> {
        if parenthesised {
            self.out.push('(');
            self.operands(&op.operands);
        } else {
            self.spaced_operands(op);
        }
        let mut first = op.operands.is_empty();
        for (label, name) in labels {
            let Some(value) = op.attributes.get_explicit(name) else { continue };
            self.out.push_str(if std::mem::take(&mut first) { " " } else { ", " });
            _ = write!(self.out, "{label} = ");
            self.bare_value(spec.attribute(name)?.kind, value)?;
        }
        if parenthesised {
            self.out.push(')');
        }
        let shown: Vec<&str> = labels.iter().map(|(_, name)| *name).collect();
        self.rest(op, &shown);
        self.types(op, types)
    }

    pub(super) fn types(&mut self, op: &Op, types: Types) -> Option<()> {
        match types {
            Types::Functional => self.functional(op),
            Types::Same => {
                let mut all = op.operands.iter().chain(&op.results).map(|v| self.module.ty(*v));
                let first = all.next()?;
                if op.results.len() == 1 && all.all(|ty| ty == first) {
                    _ = write!(self.out, " : {first}");
                } else {
                    self.functional(op);
                }
            }
            Types::Arrow => {
                _ = write!(self.out, " : {} -> ", TypeList(&self.types_of(&op.operands)));
                self.result_types(&self.types_of(&op.results));
            }
            Types::Operand | Types::Operands => {
                let inputs = self.types_of(&op.operands);
                let same = types == Types::Operand && inputs.iter().all(|ty| *ty == inputs[0]);
                let shown = if same { &inputs[..1] } else { &inputs[..] };
                _ = write!(self.out, " : {}", TypeList(shown));
            }
        }
        Some(())
    }

    /// An attribute's value without the type that its kind implies.
    fn bare_value(&mut self, kind: AttrKind, value: &Attribute) -> Option<()> {
        match (kind, value) {
            (AttrKind::I64s, Attribute::I64s(values)) => int_list(&mut self.out, values),
            (AttrKind::I64 | AttrKind::I32 | AttrKind::U64, Attribute::Int { value, .. }) => {
                _ = write!(self.out, "{value}");
            }
            (AttrKind::F64, Attribute::Float { bits, ty }) => {
                self.out.push_str(&crate::float::print(ty, *bits))
            }
            (AttrKind::Enum(_), Attribute::Enum { value, .. }) => self.out.push_str(value),
            (AttrKind::Enums(_), value) => self.enumerations(value)?,
            (_, value) => self.attribute("stablehlo", value),
        }
        Some(())
    }

    /// `[DEFAULT, HIGHEST]`
    fn enumerations(&mut self, value: &Attribute) -> Option<()> {
        let Attribute::Array(items) = value else { return None };
        self.out.push('[');
        for (i, item) in items.iter().enumerate() {
            let Attribute::Enum { value, .. } = item else { return None };
            self.comma(i);
            self.out.push_str(value);
        }
        self.out.push(']');
        Some(())
    }

    fn constant(&mut self, op: &Op) -> Option<()> {
        let [result] = op.results.as_slice() else { return None };
        let value = op.attributes.get("value")?;
        match value {
            Attribute::Dense(elements) if self.module.tensor(*result) == Some(&elements.ty) => {
                self.rest(op, &["value"]);
                self.out.push(' ');
                self.attribute("stablehlo", value);
            }
            Attribute::Opaque(text) if text.starts_with("dense") => {
                self.rest(op, &["value"]);
                _ = write!(self.out, " {text}");
            }
            _ => {
                self.out.push_str("() <{value = ");
                self.attribute("stablehlo", value);
                self.out.push_str("}>");
                self.rest(op, &["value"]);
                self.functional(op);
            }
        }
        Some(())
    }

    fn compare(&mut self, op: &Op) -> Option<()> {
        _ = write!(self.out, " {}, ", op.compare_direction().ok()?);
        self.operands(&op.operands);
        if op.attributes.contains("compare_type") {
            _ = write!(self.out, ", {}", op.compare_type()?);
        }
        self.rest(op, &["comparison_direction", "compare_type"]);
        self.functional(op);
        Some(())
    }

    fn select(&mut self, op: &Op) -> Option<()> {
        let ([predicate, a, b], [result]) = (op.operands.as_slice(), op.results.as_slice()) else {
            return None;
        };
        self.spaced_operands(op);
        self.rest(op, &[]);
        let ty = self.module.ty(*result);
        if self.module.ty(*a) == ty && self.module.ty(*b) == ty {
            _ = write!(self.out, " : {}, {ty}", self.module.ty(*predicate));
        } else {
            self.functional(op);
        }
        Some(())
    }

    fn complex(&mut self, op: &Op) -> Option<()> {
        let [result] = op.results.as_slice() else { return None };
        self.spaced_operands(op);
        self.rest(op, &[]);
        let derived = self
            .module
            .tensor(*result)
            .map(|t| Type::Tensor(TensorType { element: t.element.real_part(), ..t.clone() }.into()));
        if op.operands.iter().all(|v| Some(self.module.ty(*v)) == derived.as_ref()) {
            _ = write!(self.out, " : {}", self.module.ty(*result));
        } else {
            self.functional(op);
        }
        Some(())
    }

    fn reduce_precision(&mut self, op: &Op) -> Option<()> {
        self.spaced_operands(op);
        let (exponent, mantissa) = (op.int("exponent_bits").ok()?, op.int("mantissa_bits").ok()?);
        if exponent < 0 || mantissa < 0 {
            return None;
        }
        _ = write!(self.out, ", format = e{exponent}m{mantissa}");
        self.rest(op, &["exponent_bits", "mantissa_bits"]);
        self.types(op, Types::Same)
    }

    fn slice(&mut self, op: &Op) -> Option<()> {
        let (starts, limits, strides) =
            (op.ints("start_indices").ok()?, op.ints("limit_indices").ok()?, op.ints("strides").ok()?);
        if starts.len() != limits.len() || starts.len() != strides.len() {
            return None;
        }
        self.spaced_operands(op);
        self.out.push_str(" [");
        for (i, ((start, limit), stride)) in starts.iter().zip(limits).zip(strides).enumerate() {
            self.comma(i);
            _ = write!(self.out, "{start}:{limit}");
            if *stride != 1 {
                _ = write!(self.out, ":{stride}");
            }
        }
        self.out.push(']');
        self.rest(op, &["start_indices", "limit_indices", "strides"]);
        self.functional(op);
        Some(())
    }

    fn dot_general(&mut self, op: &Op) -> Option<()> {
        let dims = op.dot_dims().ok()?;
        self.spaced_operands(op);
        if !dims.batch_lhs.is_empty() || !dims.batch_rhs.is_empty() {
            _ = write!(self.out, ", batching_dims = {:?} x {:?}", dims.batch_lhs, dims.batch_rhs);
        }
        _ = write!(self.out, ", contracting_dims = {:?} x {:?}", dims.contract_lhs, dims.contract_rhs);
        if let Some(precision) = op.attributes.get("precision_config") {
            self.out.push_str(", precision = ");
            self.enumerations(precision)?;
        }
        if op.attributes.contains("algorithm") {
            self.out.push_str(", algorithm = ");
            dot_algorithm(&mut self.out, op.dot_algorithm()?);
        }
        self.rest(op, &["dot_dimension_numbers", "precision_config", "algorithm"]);
        self.functional(op);
        Some(())
    }

    fn convolution(&mut self, op: &Op) -> Option<()> {
        let conv = op.conv().ok()?;
        self.arguments(op);
        self.out.push_str(" dim_numbers = ");
        if !conv_dims(&mut self.out, &conv.dims) {
            return None;
        }
        let pads: Vec<[i64; 2]> = conv.padding.iter().map(|(low, high)| [*low, *high]).collect();
        let parts = [
            ("window_strides", format!("stride = {:?}", conv.strides)),
            ("padding", format!("pad = {pads:?}")),
            ("lhs_dilation", format!("lhs_dilate = {:?}", conv.lhs_dilation)),
            ("rhs_dilation", format!("rhs_dilate = {:?}", conv.rhs_dilation)),
            ("window_reversal", format!("reverse = {:?}", conv.reversal)),
        ];
        let said = parts.into_iter().filter(|(name, _)| op.attributes.get_explicit(name).is_some());
        let said: Vec<String> = said.map(|(_, text)| text).collect();
        _ = write!(self.out, ", window = {{{}}}", said.join(", "));
        let shown = [
            "dimension_numbers",
            "window_strides",
            "padding",
            "lhs_dilation",
            "rhs_dilation",
            "window_reversal",
        ];
        self.rest(op, &shown);
        self.functional(op);
        Some(())
    }

    fn reduce(&mut self, op: &Op) -> Option<()> {
        let count = op.operands.len() / 2;
        let [region] = op.regions.as_slice() else { return None };
        if count == 0 || op.operands.len() != 2 * count || region.params.len() != 2 * count {
            return None;
        }
        for i in 0..count {
            self.comma(i);
            let (input, init) = (op.operands[i], op.operands[count + i]);
            _ = write!(self.out, "(%{} init: %{})", self.names.get(input), self.names.get(init));
        }
        let applied = self.applied(op, region);
        if let Some(name) = applied {
            _ = write!(self.out, " applies {name}");
        }
        _ = write!(self.out, " across dimensions = {:?}", op.ints("dimensions").ok()?);
        self.rest(op, &["dimensions"]);
        self.functional(op);
        if applied.is_none() {
            self.out.push('\n');
            self.line_start();
            self.out.push_str(" reducer");
            for i in 0..count {
                let ((a, ta), (b, tb)) = (&region.params[i], &region.params[count + i]);
                let (a, b) = (self.names.get(*a), self.names.get(*b));
                let space = if i > 0 { " " } else { "" };
                _ = write!(self.out, "{space}(%{a}: {ta}, %{b}: {tb})");
            }
            self.out.push_str("  ");
            self.region(region, Header::None, false);
        }
        Some(())
    }

    /// The operation that a reduction of one input applies, where its body is just that: a commutative operation on
    /// both arguments in order, of the scalar type of the input, whose result is returned.
    fn applied<'o>(&self, op: &Op, region: &'o Region) -> Option<&'o str> {
        const COMMUTATIVE: [&str; 7] = [
            "stablehlo.add",
            "stablehlo.and",
            "stablehlo.maximum",
            "stablehlo.minimum",
            "stablehlo.multiply",
            "stablehlo.or",
            "stablehlo.xor",
        ];
        let ([a, b], [combine, give_back]) = (region.params.as_slice(), region.ops.as_slice()) else {
            return None;
        };
        let element = self.module.tensor(*op.operands.first()?)?.element.clone();
        let scalar = Type::Tensor(TensorType { shape: Vec::new(), element, encoding: None }.into());
        let [result] = combine.results.as_slice() else { return None };
        let fits = COMMUTATIVE.contains(&combine.name.as_ref())
            && combine.attributes.is_empty()
            && combine.operands == [a.0, b.0].into()
            && give_back.name == "stablehlo.return"
            && give_back.attributes.is_empty()
            && give_back.operands == [*result].into()
            && a.1 == scalar
            && b.1 == scalar
            && *self.module.ty(*result) == scalar;
        fits.then_some(combine.name.as_ref())
    }

    fn while_op(&mut self, op: &Op) -> Option<()> {
        let [condition, body] = op.regions.as_slice() else { return None };
        let count = op.operands.len();
        let types = self.types_of(&op.operands);
        let fits = |region: &Region| {
            region.params.len() == count
                && region.params.iter().zip(&types).all(|((_, ty), wanted)| ty == wanted)
        };
        if !fits(condition) || !fits(body) || self.types_of(&op.results) != types {
            return None;
        }
        self.out.push('(');
        for (i, ((argument, _), initial)) in condition.params.iter().zip(&op.operands).enumerate() {
            self.comma(i);
            _ = write!(self.out, "%{} = %{}", self.names.get(*argument), self.names.get(*initial));
        }
        self.out.push(')');
        if count > 0 {
            _ = write!(self.out, " : {}", TypeList(&types));
        }
        if !op.attributes.is_empty() {
            self.out.push_str(" attributes");
            self.rest(op, &[]);
        }
        self.out.push('\n');
        self.line_start();
        self.out.push_str("cond ");
        self.region(condition, Header::None, false);
        self.out.push_str(" do ");
        self.region(body, Header::None, false);
        Some(())
    }

    fn scan_op(&mut self, op: &Op) -> Option<()> {
        let [body] = op.regions.as_slice() else { return None };
        let (inputs, carried) = op.segments("operandSegmentSizes")?;
        if inputs + carried != op.operands.len()
            || op.segments("resultSegmentSizes")? != (op.results.len().checked_sub(carried)?, carried)
        {
            return None;
        }
        let Attribute::Int { value, ty: ElementType::I64 } = op.attributes.get("dimension")? else {
            return None;
        };
        self.out.push('(');
        self.operands(&op.operands[..inputs]);
        self.out.push_str(") inits (");
        self.operands(&op.operands[inputs..]);
        _ = write!(self.out, ") dimension={value}");
        let shown = ["dimension", "operandSegmentSizes", "resultSegmentSizes"];
        if op.attributes.explicit().any(|(name, _)| !shown.contains(&name)) {
            self.out.push_str(" attributes");
            self.rest(op, &shown);
        }
        self.out.push(' ');
        self.region(body, Header::Block, false);
        self.functional(op);
        Some(())
    }

    fn barrier(&mut self, op: &Op) -> Option<()> {
        self.rest(op, &[]);
        let types = self.types_of(&op.operands);
        if self.types_of(&op.results) != types {
            return None;
        }
        if op.operands.is_empty() {
            self.out.push_str("()");
        } else {
            self.spaced_operands(op);
            _ = write!(self.out, " : {}", TypeList(&types));
        }
        Some(())
    }

    fn composite(&mut self, op: &Op) -> Option<()> {
        if !op.regions.is_empty() {
            return None;
        }
        self.out.push(' ');
        quoted(&mut self.out, op.string("name").ok()?.as_bytes());
        self.spaced_operands(op);
        // The version is left out where it is the default.
        let shown: &[&str] = if op.int("version").ok() == Some(0) { &["name", "version"] } else { &["name"] };
        self.rest(op, shown);
        self.functional(op);
        Some(())
    }

    fn check_const(&mut self, op: &Op) -> Option<()> {
        if let Attribute::Dense(value) = op.attributes.get("value")? {
            let operand = self.module.tensor(*op.operands.first()?)?;
            if !operand.compatible(&value.ty) {
                return None;
            }
        }
        self.spaced_operands(op);
        self.out.push_str(", ");
        self.attribute("stablehlo", op.attributes.get("value")?);
        if let Some(tolerance) = op.attributes.get("tolerance") {
            self.out.push_str(", tolerance = ");
            self.bare_value(AttrKind::F64, tolerance)?;
        }
        self.rest(op, &["value", "tolerance"]);
        Some(())
    }
}
