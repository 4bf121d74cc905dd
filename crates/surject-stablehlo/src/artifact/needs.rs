//! Which version of StableHLO a module needs: the newest of those that introduced what it uses.
//!
//! Source: the log of versions in the reference's `VhloDialect.td`.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use super::legalise::is_default;
use super::types::SCALARS;
use super::version::Version;
use super::vhlo;
use crate::attr::{Attribute, Attributes};
use crate::diagnostic::Span;
use crate::module::{Module, Op, Region};
use crate::table::OpSpec;
use crate::types::{ElementType, Type};

/// A version, what needs it, and where that stands.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub version: Version,
    pub what: String,
    pub span: Span,
}

/// The newest version that something in a module needs; none where every version has all of it.
pub(super) fn of_module(module: &Module) -> Option<Need> {
    let mut needs = Needs { module, newest: None, span: Span::default(), seen: HashSet::default() };
    for function in &module.functions {
        needs.span = function.span;
        let place = || format!("of '@{}'", function.name);
        for ty in function.params.iter().map(|p| &p.ty).chain(function.results.iter().map(|r| &r.ty)) {
            needs.ty(ty, &place);
        }
        let dictionaries = function.params.iter().map(|p| &p.attributes);
        let dictionaries = dictionaries.chain(function.results.iter().map(|r| &r.attributes));
        for attributes in dictionaries.chain([&function.attributes]) {
            needs.attributes(attributes, &place);
        }
        needs.region(&function.body);
    }
    for op in &module.other {
        needs.op(op);
    }
    needs.newest
}

struct Needs<'m> {
    module: &'m Module,
    newest: Option<Need>,
    span: Span,
    /// Operations whose version is accounted for, by their rows of the table.
    seen: HashSet<*const OpSpec, FxBuildHasher>,
}

impl<'m> Needs<'m> {
    fn need(&mut self, major: u32, minor: u32, what: impl FnOnce() -> String) {
        let version = Version::new(major, minor);
        if version > Version::MINIMUM && self.newest.as_ref().is_none_or(|n| n.version < version) {
            self.newest = Some(Need { version, what: what(), span: self.span });
        }
    }

    fn region(&mut self, region: &Region) {
        region.ops.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        self.span = op.span;
        let name = op.name.as_ref();
        let attribute =
            |name: &str| op.attributes.get(name).filter(|v| !is_default(op.short_name(), name, v));
        let uses = |part: &str| format!("'{part}' of '{name}'");
        match op.name.split_once('.') {
            Some(("stablehlo", short)) => {
                if op.spec().is_none_or(|spec| self.seen.insert(spec))
                    && let Some(row) = vhlo::versions(short).first()
                {
                    self.need(row.since.major, row.since.minor, || format!("'{name}'"));
                }
                if attribute("result_accuracy").is_some() {
                    let minor = if short == "exponential" { 9 } else { 10 };
                    self.need(1, minor, || uses("result_accuracy"));
                }
                // Whatever gained something has attributes or a body.
                if !op.attributes.is_empty() || !op.regions.is_empty() {
                    self.special(op, short);
                }
            }
            Some(("func", _)) => {}
            _ => self.need(1, 11, || format!("'{name}', an operation of another dialect,")),
        }
        for (key, value) in op.attributes.iter() {
            let known = op.spec().is_some_and(|spec| spec.attribute(key).is_some());
            self.attribute(value, known, &|| uses(key));
        }
        let place = || format!("of '{name}'");
        let regions = op.regions.iter().flat_map(|r| r.params.iter().map(|p| &p.1));
        let values = op.operands.iter().chain(&op.results).map(|v| self.module.ty(*v));
        for ty in values.chain(regions) {
            self.ty(ty, &place);
        }
        op.regions.iter().for_each(|region| self.region(region));
    }

    /// What single operations gained.
    fn special(&mut self, op: &Op, short: &str) {
        let uses = |part: &str| format!("{part} of '{}'", op.name);
        let given = |name: &str| op.attributes.get(name).is_some_and(|v| !is_default(short, name, v));
        match short {
            "gather" | "dynamic_gather" | "scatter" => {
                let batching = match op.attributes.get("dimension_numbers") {
                    Some(Attribute::Gather(dims)) => !dims.operand_batching_dims.is_empty(),
                    _ => matches!(op.attributes.get("scatter_dimension_numbers"),
                        Some(Attribute::Scatter(dims)) if !dims.input_batching_dims.is_empty()),
                };
                if batching {
                    self.need(1, 1, || uses("batching dimensions"));
                }
            }
            "all_gather" | "all_reduce" | "all_to_all" if op.operands.len() != 1 => {
                self.need(1, 5, || uses("several operands"));
            }
            "dot_general" if given("algorithm") => self.need(1, 6, || uses("'algorithm'")),
            "send" | "recv" if given("source_target_pairs") => {
                self.need(1, 12, || uses("'source_target_pairs'"));
            }
            "composite" if !op.regions.is_empty() => self.need(1, 14, || uses("regions")),
            "custom_call" => {
                if matches!(op.attributes.get("backend_config"), Some(Attribute::Dict(_))) {
                    self.need(1, 3, || uses("a dictionary as 'backend_config'"));
                }
                if given("result_tilings") {
                    self.need(1, 18, || uses("'result_tilings'"));
                }
                let future = |v| matches!(self.module.ty(v), Type::Future(_));
                if op.operands.iter().chain(&op.results).any(|v| future(*v)) {
                    self.need(1, 17, || uses("futures"));
                }
            }
            "collective_broadcast" if given("has_dynamic_root") => {
                self.need(1, 20, || uses("'has_dynamic_root'"));
            }
            "convolution" | "dynamic_conv" if self.mixed_small_floats(op) => {
                self.need(1, 20, || uses("operands of two 8-bit float types"));
            }
            _ => {}
        }
        const REDUCTIONS: [&str; 6] =
            ["reduce", "reduce_window", "scatter", "select_and_scatter", "all_reduce", "reduce_scatter"];
        if REDUCTIONS.contains(&short) && self.promotes(op) {
            self.need(0, 17, || uses("an accumulation in a wider type"));
        }
        if let Some(Attribute::Opaque(_)) = op.attributes.get("replica_groups") {
            self.need(1, 16, || uses("'replica_groups' by the axes of a mesh"));
        }
    }

    fn element(&self, value: Option<&crate::ValueId>) -> Option<&ElementType> {
        Some(&self.module.tensor(*value?)?.element)
    }

    fn mixed_small_floats(&self, op: &Op) -> bool {
        let (a, b) = (self.element(op.operands.first()), self.element(op.operands.get(1)));
        match (a, b) {
            (Some(a), Some(b)) => a != b && a.is_float() && a.bits() == Some(8),
            _ => false,
        }
    }

    /// Whether the body of a reduction works on another element type than that of the operands.
    fn promotes(&self, op: &Op) -> bool {
        let operand = self.element(op.operands.first());
        op.regions.iter().any(|region| match region.params.first() {
            Some((_, Type::Tensor(argument))) => operand.is_some_and(|o| *o != argument.element),
            _ => false,
        })
    }

    fn attributes(&mut self, attributes: &Attributes, place: &dyn Fn() -> String) {
        for (name, value) in attributes.iter() {
            self.attribute(value, false, &|| format!("'{name}' {}", place()));
        }
    }

    /// An attribute; `known` where the operation defines it.
    fn attribute(&mut self, value: &Attribute, known: bool, what: &dyn Fn() -> String) {
        match value {
            Attribute::Unit | Attribute::Opaque(_) | Attribute::DenseArray { .. } if !known => {
                self.need(1, 11, || format!("{} as {}", what(), value.describe()));
            }
            Attribute::Array(items) => items.iter().for_each(|item| self.attribute(item, known, what)),
            Attribute::Dict(entries) => entries.iter().for_each(|(_, v)| self.attribute(v, known, what)),
            Attribute::Int { ty, .. } | Attribute::Float { ty, .. } => self.scalar(ty, what),
            Attribute::Dense(elements) => self.scalar(&elements.ty.element, what),
            Attribute::Type(ty) => self.ty(ty, what),
            _ => {}
        }
    }

    fn ty(&mut self, ty: &Type, place: &dyn Fn() -> String) {
        match ty {
            Type::Tensor(tensor) => self.scalar(&tensor.element, place),
            Type::Scalar(element) => self.scalar(element, place),
            Type::Tuple(parts) => parts.iter().for_each(|part| self.ty(part, place)),
            Type::Function(function) => {
                function.inputs.iter().chain(&function.results).for_each(|part| self.ty(part, place));
            }
            Type::Future(parts) => {
                self.need(1, 15, || format!("the type {ty} {}", place()));
                parts.iter().for_each(|part| self.ty(part, place));
            }
            Type::Opaque(text) if text.starts_with("memref") => {
                self.need(1, 13, || format!("the type {ty} {}", place()));
            }
            Type::None | Type::Token | Type::Opaque(_) => {}
        }
    }

    fn scalar(&mut self, element: &ElementType, place: &dyn Fn() -> String) {
        match element {
            ElementType::Quantized(quantized) => {
                if quantized.is_per_axis() {
                    self.need(0, 18, || format!("the type {element} {}", place()));
                }
                self.scalar(&quantized.storage, place);
                self.scalar(&quantized.expressed, place);
            }
            _ => {
                if let Some((_, _, (major, minor))) = SCALARS.iter().find(|row| row.1 == *element) {
                    self.need(*major, *minor, || format!("the type {element} {}", place()));
                }
            }
        }
    }
}
