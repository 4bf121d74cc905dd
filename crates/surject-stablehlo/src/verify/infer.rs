//! Result types as they follow from operands and attributes. Every rule of the verifier says what it expects of the
//! results; the verifier compares, [`Inference`] gives it to callers.

use std::collections::HashMap;

use super::shape::{Ext, extents, fits, tensor};
use super::{Checked, Result};
use crate::attr::Attribute;
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, codes};
use crate::module::{Function, Module, Op, Region, ValueId};
use crate::table::Rule;
use crate::types::{ElementType, TensorType, Type};

/// What follows of a result.
#[derive(Clone, Debug)]
pub(super) enum Want {
    /// Nothing: the result type is part of the operation.
    Any,
    /// A type that may be known with more or fewer static extents; the number of the constraint.
    Like(Type, u8),
    /// A tensor.
    Tensor {
        /// Its shape, if it follows.
        shape: Option<Vec<Ext>>,
        /// What follows of its element type.
        element: Element,
        /// Constraints for shape and element type.
        rules: (u8, u8),
    },
}

/// What follows of an element type.
#[derive(Clone, Debug)]
pub(super) enum Element {
    /// The type.
    Is(ElementType),
    /// The type but for scales and zero points.
    Baseline(ElementType),
    /// Nothing.
    Any,
}

impl Want {
    /// A tensor with the element type but for scales and zero points.
    pub fn baseline(shape: Vec<Ext>, element: &ElementType, shape_rule: u8, element_rule: u8) -> Want {
        let element = Element::Baseline(element.clone());
        Want::Tensor { shape: Some(shape), element, rules: (shape_rule, element_rule) }
    }

    /// A tensor of exactly the element type.
    pub fn tensor(shape: Vec<Ext>, element: &ElementType, shape_rule: u8, element_rule: u8) -> Want {
        let element = Element::Is(element.clone());
        Want::Tensor { shape: Some(shape), element, rules: (shape_rule, element_rule) }
    }

    /// A tensor of which only the shape follows.
    pub fn shape(shape: Vec<Ext>, rule: u8) -> Want {
        Want::Tensor { shape: Some(shape), element: Element::Any, rules: (rule, rule) }
    }

    /// A tensor of which only the element type follows.
    pub fn element(element: &ElementType, rule: u8) -> Want {
        Want::Tensor { shape: None, element: Element::Is(element.clone()), rules: (rule, rule) }
    }

    fn ty(&self) -> Option<Type> {
        match self {
            Want::Like(ty, _) => Some(ty.clone()),
            Want::Tensor { shape: Some(shape), element: Element::Is(e) | Element::Baseline(e), .. } => {
                Some(Type::Tensor(tensor(shape, e.clone()).into()))
            }
            _ => None,
        }
    }
}

/// Whether element types are equal but for scales and zero points.
pub(super) fn same_baseline(a: &ElementType, b: &ElementType) -> bool {
    match (a.quantized(), b.quantized()) {
        (Some(x), Some(y)) => x.same_baseline(y),
        _ => a == b,
    }
}

/// Whether two types may be the same at run time.
pub(super) fn like(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Tensor(x), Type::Tensor(y)) => x.element == y.element && fits(&extents(x), &extents(y)),
        (Type::Tuple(x), Type::Tuple(y)) | (Type::Future(x), Type::Future(y)) => all_like(x, y),
        _ => a == b,
    }
}

/// As [`like`], for lists.
pub(super) fn all_like(a: &[Type], b: &[Type]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| like(x, y))
}

impl Checked<'_> {
    /// Results of which nothing follows, not even their number.
    pub(super) fn any_results(&self) -> Result<Vec<Want>> {
        if !self.counts_results() {
            return Err(self.type_error("its result types do not follow from its operands and attributes"));
        }
        Ok(vec![Want::Any; self.op.results.len()])
    }

    /// Compares the results with what follows from operands and attributes.
    pub(super) fn compare_results(&self, wants: &[Want]) -> Result<()> {
        for (i, want) in wants.iter().enumerate() {
            let Some(result) = self.op.results.get(i) else { break };
            let found = self.module.ty(*result);
            match want {
                Want::Any => {}
                Want::Like(wanted, rule) => {
                    if !like(found, wanted) {
                        return Err(self
                            .type_error(format!("result {i} has type {found}"))
                            .expected(wanted.to_string())
                            .constraint(*rule));
                    }
                }
                Want::Tensor { shape, element, rules } => {
                    let found = self.result(i)?;
                    self.compare_tensor(i, found, shape.as_deref(), element, *rules)?;
                }
            }
        }
        Ok(())
    }

    fn compare_tensor(
        &self,
        i: usize,
        found: &TensorType,
        shape: Option<&[Ext]>,
        element: &Element,
        rules: (u8, u8),
    ) -> Result<()> {
        let same_element = match element {
            Element::Is(e) => found.element == *e,
            Element::Baseline(e) => same_baseline(&found.element, e),
            Element::Any => true,
        };
        let rule = match (same_element, shape.is_none_or(|shape| fits(&extents(found), shape))) {
            (true, true) => return Ok(()),
            (false, _) => rules.1,
            (true, false) => rules.0,
        };
        let wanted_element = match element {
            Element::Is(e) | Element::Baseline(e) => e.clone(),
            Element::Any => found.element.clone(),
        };
        let wanted = tensor(&shape.map_or_else(|| extents(found), <[Ext]>::to_vec), wanted_element);
        let message = match self.op.results.len() {
            1 => format!("the result has type {found}"),
            _ => format!("result {i} has type {found}"),
        };
        Err(self.type_error(message).expected(wanted.to_string()).constraint(rule))
    }
}

/// Infers result types of the operations of a module.
///
/// What an operation's result type says that nothing else does (the type of `iota` or `convert`, the shape of
/// `reshape`) does not follow, and is an error. Bounds of dynamic dimensions are inferred too.
pub struct Inference<'m> {
    module: &'m Module,
    functions: HashMap<&'m str, &'m Function>,
    constants: HashMap<ValueId, &'m DenseElements>,
}

impl<'m> Inference<'m> {
    /// Makes the functions and constants of a module known.
    pub fn new(module: &'m Module) -> Inference<'m> {
        let mut functions = HashMap::new();
        let mut constants = HashMap::new();
        for function in &module.functions {
            functions.entry(function.name.as_str()).or_insert(function);
            collect(&function.body, &mut constants);
        }
        Inference { module, functions, constants }
    }

    /// The types of the results of an operation whose operands are values of the module.
    pub fn types(&self, op: &Op) -> std::result::Result<Vec<Type>, Diagnostic> {
        let checked = Checked {
            module: self.module,
            functions: &self.functions,
            constants: &self.constants,
            op,
            infers: true,
        };
        let unknown = || {
            let message =
                format!("'{}': its result types do not follow from its operands and attributes", op.name);
            Diagnostic::new(codes::OP_TYPE, op.span, message)
        };
        let spec = op.spec().filter(|spec| spec.rule != Rule::None || spec.results.max == 0);
        if !spec.is_some_and(|spec| spec.operands.allows(op.operands.len())) {
            return Err(unknown());
        }
        checked.kinds()?;
        let wants = checked.wants()?;
        let types: Option<Vec<Type>> = wants.iter().map(Want::ty).collect();
        types.ok_or_else(unknown)
    }
}

/// The types of the results of an operation, as they are declared and as they follow: every extent that is known from
/// either. An error where they contradict each other.
pub(crate) fn refined_types(
    module: &Module,
    constants: &HashMap<ValueId, &DenseElements>,
    op: &Op,
) -> std::result::Result<Vec<Type>, Diagnostic> {
    // Only calls look at functions.
    let mut functions = HashMap::new();
    if op.attributes.contains("called_computations") {
        functions.extend(module.functions.iter().map(|f| (f.name.as_str(), f)));
    }
    let checked = Checked { module, functions: &functions, constants, op, infers: false };
    let declared: Vec<Type> = checked.result_types();
    if op.spec().is_none() {
        return Ok(declared);
    }
    checked.kinds()?;
    let wants = checked.wants()?;
    let merge = |(i, declared): (usize, &Type)| {
        let found = match (wants.get(i), declared) {
            (Some(Want::Like(ty, _)), _) => ty.clone(),
            (Some(Want::Tensor { shape: Some(shape), .. }), Type::Tensor(ty)) => {
                Type::Tensor(tensor(shape, ty.element.clone()).into())
            }
            (Some(want), Type::Opaque(_)) => want.ty().unwrap_or_else(|| declared.clone()),
            _ => return Ok(declared.clone()),
        };
        crate::refine::merged(declared, &found).ok_or_else(|| {
            checked.type_error(format!("result {i} has type {declared}")).expected(found.to_string())
        })
    };
    declared.iter().enumerate().map(merge).collect()
}

fn collect<'m>(region: &'m Region, into: &mut HashMap<ValueId, &'m DenseElements>) {
    for op in &region.ops {
        if let Some((value, elements)) = constant_of(op) {
            into.insert(value, elements);
        }
        op.regions.iter().for_each(|r| collect(r, into));
    }
}

/// The value and the elements of a constant.
pub(super) fn constant_of(op: &Op) -> Option<(ValueId, &DenseElements)> {
    if !matches!(&*op.name, "stablehlo.constant" | "arith.constant") {
        return None;
    }
    match (op.results.as_slice(), op.attributes.get("value")) {
        ([value], Some(Attribute::Dense(elements))) => Some((*value, elements)),
        _ => None,
    }
}
