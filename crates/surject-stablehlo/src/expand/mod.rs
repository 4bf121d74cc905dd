//! Programs of element types that few back ends have, as programs of types that all have: quantized types as integers with
//! scales, integers below 8 bits and floats below 16 as wider ones that hold the same numbers.
//!
//! Scans become loops, products in groups become products. The signature changes with the types: a quantized tensor becomes what is stored, `i4` becomes `i8`, `f8E5M2` `f32`.

mod devices;
mod narrow;
mod quantized;
mod ragged;
mod scan;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::attr::{Attribute, Attributes};
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Function, Module, Op, Region, ValueId};
use crate::name::OpName;
use crate::normalise::normalise;
use crate::types::{ElementType, TensorType, Type};
pub use devices::{expand_devices, has_shards};

type Result<T> = std::result::Result<T, Diagnostic>;

/// One of the expansions.
trait Rewrite {
    /// Whether a module holds something to expand.
    fn meets(&self, module: &Module) -> bool {
        module.values.iter().any(|v| self.element_of(&v.ty))
    }
    /// Whether a type holds an element type that is expanded.
    fn element_of(&self, ty: &Type) -> bool {
        match ty {
            Type::Tensor(tensor) => self.element(&tensor.element).is_some(),
            Type::Tuple(parts) | Type::Future(parts) => parts.iter().any(|part| self.element_of(part)),
            _ => false,
        }
    }
    /// What stands for an element type; none for types that stay.
    fn element(&self, element: &ElementType) -> Option<ElementType>;
    /// Adds what an operation becomes.
    fn op(&self, ex: &mut Expander<'_>, op: &Op) -> Result<()>;
    /// What a parameter of a function that callers outside the module see has to go through first.
    fn entry(&self, ex: &mut Expander<'_>, value: ValueId) -> Result<Option<ValueId>>;
}

/// The module without quantized types, integers below 8 bits (other than `i1`), floats below 16 bits and scans; the module
/// itself if it has none.
///
/// # Errors
/// Operations that have no meaning on the wider types, for example the bits of an `f8E5M2`.
pub fn expand(module: &Module) -> Result<Cow<'_, Module>> {
    let mut out = Cow::Borrowed(module);
    let rewrites: [&dyn Rewrite; 4] = [&scan::Scan, &ragged::Ragged, &quantized::Quantized, &narrow::Narrow];
    for rewrite in rewrites {
        if rewrite.meets(&out) {
            out = Cow::Owned(rewritten(&out, rewrite)?);
        }
    }
    Ok(out)
}

/// Does the module have an operation of this name?
fn holds(module: &Module, name: &str) -> bool {
    fn among(ops: &[Op], name: &str) -> bool {
        ops.iter().any(|op| op.name == name || op.regions.iter().any(|r| among(&r.ops, name)))
    }
    module.functions.iter().any(|f| among(&f.body.ops, name))
}

fn rewritten(module: &Module, rewrite: &dyn Rewrite) -> Result<Module> {
    let mut new = module.clone();
    for value in &mut new.values {
        value.ty = replaced(rewrite, &value.ty);
    }
    let entry = module.entry().map(|f| f.name.as_str());
    let mut ex = Expander {
        old: module,
        rewrite,
        new,
        out: Vec::new(),
        values: HashMap::new(),
        name: "func.func".into(),
        span: Span::default(),
        location: None,
    };
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let outer = function.visibility == crate::Visibility::Public || entry == Some(&function.name);
        functions.push(ex.function(function, outer)?);
    }
    ex.new.functions = functions;
    Ok(ex.new)
}

fn replaced(rewrite: &dyn Rewrite, ty: &Type) -> Type {
    match ty {
        Type::Tensor(tensor) => Type::Tensor(match rewrite.element(&tensor.element) {
            Some(element) => TensorType { element, ..(**tensor).clone() }.into(),
            None => tensor.clone(),
        }),
        Type::Tuple(parts) => Type::Tuple(parts.iter().map(|part| replaced(rewrite, part)).collect()),
        Type::Future(parts) => Type::Future(parts.iter().map(|part| replaced(rewrite, part)).collect()),
        other => other.clone(),
    }
}

/// Numbers of a constant.
enum Numbers<'a> {
    Ints(&'a [i64]),
    Floats(&'a [f64]),
}

struct Expander<'m> {
    old: &'m Module,
    rewrite: &'m dyn Rewrite,
    new: Module,
    /// The operations of the region being written.
    out: Vec<Op>,
    /// What stands for a value of the old module; itself where nothing is said.
    values: HashMap<ValueId, ValueId>,
    name: OpName,
    span: Span,
    location: Option<Arc<str>>,
}

impl Expander<'_> {
    fn function(&mut self, function: &Function, outer: bool) -> Result<Function> {
        let mut new = function.clone();
        for param in &mut new.params {
            param.ty = replaced(self.rewrite, &param.ty);
        }
        for result in &mut new.results {
            result.ty = replaced(self.rewrite, &result.ty);
        }
        new.body = self.region(&function.body, outer)?;
        Ok(new)
    }

    fn region(&mut self, region: &Region, outer: bool) -> Result<Region> {
        let around = std::mem::take(&mut self.out);
        let params = region.params.iter().map(|(id, ty)| (*id, replaced(self.rewrite, ty))).collect();
        if outer {
            for (id, _) in &region.params {
                if let Some(value) = self.rewrite.entry(self, *id)? {
                    self.values.insert(*id, value);
                }
            }
        }
        for op in &region.ops {
            self.at(op);
            self.rewrite.op(self, op)?;
        }
        Ok(Region { params, ops: std::mem::replace(&mut self.out, around) })
    }

    /// What is added from here on comes from this operation.
    fn at(&mut self, op: &Op) {
        (self.name, self.span, self.location) = (op.name.clone(), op.span, op.location.clone());
    }

    /// The operation with other types, its operands as they are now.
    fn copied(&mut self, op: &Op) -> Result<Op> {
        let mut new = op.clone();
        for operand in &mut new.operands {
            *operand = self.now(*operand);
        }
        new.regions = op.regions.iter().map(|r| self.region(r, false)).collect::<Result<_>>()?;
        self.at(op);
        Ok(new)
    }

    /// The operation, with other types.
    fn keep(&mut self, op: &Op) -> Result<()> {
        let new = self.copied(op)?;
        self.out.push(new);
        Ok(())
    }

    /// What stands for a value now.
    fn now(&self, value: ValueId) -> ValueId {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// The type that a value had.
    fn old_tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.old.tensor(value)
    }

    /// The type that a value has.
    fn tensor(&self, value: ValueId) -> Result<TensorType> {
        self.new.tensor(value).cloned().ok_or_else(|| self.refused("a value that is no tensor"))
    }

    fn refused(&self, what: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::new(codes::UNSUPPORTED, self.span, format!("'{}': {what}", self.name))
    }

    /// Adds an operation of one result.
    fn emit(
        &mut self,
        name: &'static str,
        operands: &[ValueId],
        ty: TensorType,
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Result<ValueId> {
        let mut all = Attributes::new();
        for (key, value) in attributes {
            all.set(key, value);
        }
        let mut op = Op { operands: operands.into(), attributes: all, span: self.span, ..Op::new(name) };
        op.location = self.location.clone();
        let result = self.new.new_value(Type::Tensor(ty.into()), "");
        op.results.push(result);
        let first = operands.first().map(|v| self.new.ty(*v));
        normalise(&mut op, first)?;
        self.out.push(op);
        Ok(result)
    }

    /// An operation whose result has the type of its first operand.
    fn same(&mut self, name: &'static str, operands: &[ValueId]) -> Result<ValueId> {
        let ty = self.tensor(operands[0])?;
        self.emit(name, operands, ty, Vec::new())
    }

    fn convert(&mut self, x: ValueId, element: &ElementType) -> Result<ValueId> {
        let ty = self.tensor(x)?;
        if ty.element == *element {
            return Ok(x);
        }
        self.emit("stablehlo.convert", &[x], TensorType { element: element.clone(), ..ty }, Vec::new())
    }

    /// A constant of rank 1, or of rank 0 without a count.
    fn constant(&mut self, element: &ElementType, numbers: Numbers<'_>, ranked: bool) -> Result<ValueId> {
        let width = element.bytes().unwrap_or(1);
        let bits: Vec<u64> = match numbers {
            Numbers::Ints(values) => values.iter().map(|v| *v as u64).collect(),
            Numbers::Floats(values) => {
                values.iter().map(|v| crate::float::encode(element, *v).unwrap_or(0)).collect()
            }
        };
        let shape = if ranked { vec![bits.len() as i64] } else { Vec::new() };
        let ty = TensorType::new(&shape, element.clone());
        let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()[..width].to_vec()).collect();
        let dense = DenseElements::raw(ty.clone(), bytes).ok_or_else(|| self.refused("a constant"))?;
        self.emit("stablehlo.constant", &[], ty, vec![("value", Attribute::Dense(dense.canonical()))])
    }

    fn number(&mut self, like: ValueId, value: f64) -> Result<ValueId> {
        let element = self.tensor(like)?.element;
        match element.is_float() {
            true => self.constant(&element, Numbers::Floats(&[value]), false),
            false => self.constant(&element, Numbers::Ints(&[value as i64]), false),
        }
    }

    /// `chlo.broadcast_NAME` of a tensor and a scalar, or numbers along one dimension. Works for dynamic shapes too.
    fn broadcast(
        &mut self,
        name: &'static str,
        x: ValueId,
        y: ValueId,
        dimension: Option<i64>,
    ) -> Result<ValueId> {
        let ty = self.tensor(x)?;
        let attributes = dimension.map(|d| ("broadcast_dimensions", Attribute::I64s(vec![d])));
        self.emit(name, &[x, y], ty, attributes.into_iter().collect())
    }

    /// As [`Expander::broadcast`], with one number.
    fn with_number(&mut self, name: &'static str, x: ValueId, value: f64) -> Result<ValueId> {
        let y = self.number(x, value)?;
        self.broadcast(name, x, y, None)
    }

    /// A comparison with a number.
    fn compared(&mut self, x: ValueId, direction: &'static str, y: ValueId) -> Result<ValueId> {
        let ty = TensorType { element: ElementType::I1, ..self.tensor(x)? };
        let direction = Attribute::enumeration("comparison_direction", direction);
        self.emit("chlo.broadcast_compare", &[x, y], ty, vec![("comparison_direction", direction)])
    }

    fn select(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> Result<ValueId> {
        let ty = self.tensor(x)?;
        self.emit("stablehlo.select", &[condition, x, y], ty, Vec::new())
    }

    /// `value` where the condition holds, else `x`.
    fn where_number(&mut self, condition: ValueId, value: f64, x: ValueId) -> Result<ValueId> {
        let value = self.number(x, value)?;
        let ty = self.tensor(x)?;
        self.emit("chlo.broadcast_select", &[condition, value, x], ty, Vec::new())
    }
}
