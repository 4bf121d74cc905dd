//! The verifier: SSA, signatures, and the constraints that the specification puts on each operation.
//!
//! Which rule an operation has stands in its row of the [`crate::table`]. A rule checks operands and attributes and
//! says what follows for the results ([`infer`]). Every check names the constraint of the specification by its number;
//! 0 stands for what the specification says without one (kinds of types, arity). Sizes are three-valued: a dynamic
//! extent is compatible with any that its bound allows.

mod chlo;
mod collective;
mod contraction;
mod control;
mod custom;
mod dynamic;
mod elementwise;
mod indexing;
mod infer;
mod kinds;
mod library;
mod movement;
mod rules;
mod shape;
mod window;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

pub use infer::Inference;
pub(crate) use infer::refined_types;
use infer::{constant_of, same_baseline};
use shape::{Ext, extents, fits, tensor};

use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, codes};
use crate::module::{Function, Module, Op, Region, ValueId};
use crate::types::{ElementType, TensorType, Type, TypeList};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Checks a module; all errors, in the order of the text.
pub fn verify(module: &Module) -> std::result::Result<(), Vec<Diagnostic>> {
    let errors = verify_functions(module, &HashSet::new());
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The errors in a module; some of its functions may lack operations that could not be read.
pub(crate) fn verify_functions(module: &Module, partial: &HashSet<String>) -> Vec<Diagnostic> {
    let mut functions = HashMap::new();
    for function in &module.functions {
        functions.entry(function.name.as_str()).or_insert(function);
    }
    let mut verifier = Verifier {
        module,
        functions,
        constants: HashMap::new(),
        defined: vec![false; module.values.len()],
        order: Vec::new(),
        errors: Vec::new(),
        partial: false,
    };
    for function in &module.functions {
        verifier.partial = partial.contains(&function.name);
        verifier.function(function);
    }
    verifier.errors
}

/// Errors after which the verifier gives up: those that follow say little new.
const MAX_ERRORS: usize = 100;

struct Verifier<'m> {
    module: &'m Module,
    functions: HashMap<&'m str, &'m Function>,
    /// Elements of the constants so far.
    constants: HashMap<ValueId, &'m DenseElements>,
    /// Which values are defined and in scope.
    defined: Vec<bool>,
    order: Vec<ValueId>,
    errors: Vec<Diagnostic>,
    /// Whether the function at hand may lack operations, its terminators among them.
    partial: bool,
}

impl<'m> Verifier<'m> {
    fn function(&mut self, function: &'m Function) {
        let mark = self.order.len();
        for param in &function.params {
            self.define(param.value);
        }
        self.ops(&function.body.ops);
        self.close(mark);
        if function.is_declaration() || self.partial {
            return;
        }
        let declared: Vec<Type> = function.results.iter().map(|r| r.ty.clone()).collect();
        // Functions that only serve as comparators of calls end as regions do.
        let ends = |op: &&Op| matches!(&*op.name, "func.return" | "stablehlo.return");
        match function.body.terminator().filter(ends) {
            Some(op) => {
                let returned: Vec<Type> = op.operands.iter().map(|v| self.module.ty(*v).clone()).collect();
                if returned != declared {
                    let message = format!(
                        "'@{}' returns ({}), which is not its result type",
                        function.name,
                        TypeList(&returned)
                    );
                    self.errors.push(
                        Diagnostic::new(codes::SIGNATURE, op.span, message)
                            .expected(format!("({})", TypeList(&declared))),
                    );
                }
            }
            None => {
                let message = format!("the body of '@{}' does not end with 'return'", function.name);
                self.errors.push(Diagnostic::new(codes::SIGNATURE, function.span, message));
            }
        }
    }

    fn define(&mut self, value: ValueId) {
        if let Some(slot) = self.defined.get_mut(value.index()) {
            *slot = true;
            self.order.push(value);
        }
    }

    fn close(&mut self, mark: usize) {
        for value in self.order.drain(mark..) {
            self.defined[value.index()] = false;
        }
    }

    fn ops(&mut self, ops: &'m [Op]) {
        for op in ops {
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
            let undefined =
                op.operands.iter().find(|v| !self.defined.get(v.index()).copied().unwrap_or(false));
            if let Some(value) = undefined {
                let message =
                    format!("'{}' uses a value (number {}) that is not defined before it", op.name, value.0);
                self.errors.push(Diagnostic::new(codes::UNDEFINED, op.span, message));
                continue;
            }
            for region in &op.regions {
                let mark = self.order.len();
                for (value, _) in &region.params {
                    self.define(*value);
                }
                self.ops(&region.ops);
                self.close(mark);
            }
            let checked = Checked {
                module: self.module,
                functions: &self.functions,
                constants: &self.constants,
                op,
                infers: false,
            };
            // What a region gives back is not known where operations are missing.
            if (!self.partial || op.regions.is_empty())
                && let Err(error) = checked.check()
            {
                self.errors.push(error);
            }
            if let Some((value, elements)) = constant_of(op) {
                self.constants.insert(value, elements);
            }
            op.results.iter().for_each(|v| self.define(*v));
        }
    }
}

/// One operation under check, with what its rule needs.
#[derive(Clone, Copy)]
struct Checked<'a> {
    module: &'a Module,
    functions: &'a HashMap<&'a str, &'a Function>,
    constants: &'a HashMap<ValueId, &'a DenseElements>,
    op: &'a Op,
    /// Whether result types are asked for, not checked: the operation may have no results yet.
    infers: bool,
}

impl<'a> Checked<'a> {
    fn check(&self) -> Result<()> {
        let Some(spec) = self.op.spec() else {
            // A dialect that is known has no operations but those of the table.
            return match self.op.name.split_once('.') {
                Some(("stablehlo" | "chlo" | "check" | "interpreter", _)) => {
                    Err(self.error(codes::UNKNOWN_OP, "there is no such operation"))
                }
                _ => Ok(()),
            };
        };
        for (what, found, wanted) in [
            ("operands", self.op.operands.len(), spec.operands),
            ("results", self.op.results.len(), spec.results),
            ("regions", self.op.regions.len(), spec.regions),
        ] {
            if !wanted.allows(found) {
                return Err(self
                    .error(codes::ARITY, format!("{found} {what}"))
                    .expected(format!("{wanted} {what}")));
            }
        }
        if self.is_of_one_type(spec) {
            return Ok(());
        }
        self.kinds()?;
        let wants = self.wants()?;
        self.compare_results(&wants)
    }

    /// An error that starts with the name of the operation.
    fn error(&self, code: &'static str, message: impl Display) -> Diagnostic {
        Diagnostic::new(code, self.op.span, format!("'{}': {message}", self.op.name))
    }

    fn type_error(&self, message: impl Display) -> Diagnostic {
        self.error(codes::OP_TYPE, message)
    }

    fn attr_error(&self, message: impl Display) -> Diagnostic {
        self.error(codes::OP_ATTRIBUTE, message)
    }

    fn region_error(&self, message: impl Display) -> Diagnostic {
        self.error(codes::OP_REGION, message)
    }

    fn operand_type(&self, i: usize) -> &'a Type {
        self.module.ty(self.op.operands[i])
    }

    fn operand_types(&self) -> Vec<Type> {
        self.op.operands.iter().map(|v| self.module.ty(*v).clone()).collect()
    }

    fn result_types(&self) -> Vec<Type> {
        self.op.results.iter().map(|v| self.module.ty(*v).clone()).collect()
    }

    /// Whether the number of results is to be checked.
    fn counts_results(&self) -> bool {
        !self.infers || !self.op.results.is_empty()
    }

    /// Tensor type of an operand.
    fn operand(&self, i: usize) -> Result<&'a TensorType> {
        let ty = self.operand_type(i);
        ty.as_tensor()
            .ok_or_else(|| self.type_error(format!("operand {i} has type {ty}")).expected("a ranked tensor"))
    }

    /// Tensor types of the operands in a range.
    fn operands(&self, range: std::ops::Range<usize>) -> Result<Vec<&'a TensorType>> {
        range.map(|i| self.operand(i)).collect()
    }

    /// Tensor type of a result.
    fn result(&self, i: usize) -> Result<&'a TensorType> {
        let Some(value) = self.op.results.get(i) else {
            return Err(self.error(codes::ARITY, "its result type does not follow from its operands"));
        };
        let ty = self.module.ty(*value);
        ty.as_tensor()
            .ok_or_else(|| self.type_error(format!("result {i} has type {ty}")).expected("a ranked tensor"))
    }

    /// The integers of an operand that is a constant.
    fn constant_operand(&self, i: usize) -> Option<Vec<i64>> {
        self.constants.get(self.op.operands.get(i)?).and_then(|elements| elements.to_i64s())
    }

    fn same_shape(&self, rule: u8, what: impl Display, found: &TensorType, shape: &[Ext]) -> Result<()> {
        if fits(&extents(found), shape) {
            return Ok(());
        }
        let wanted = tensor(shape, found.element.clone());
        Err(self.type_error(format!("{what} has type {found}")).expected(wanted.to_string()).constraint(rule))
    }

    fn same_element(
        &self,
        rule: u8,
        what: impl Display,
        found: &TensorType,
        element: &ElementType,
    ) -> Result<()> {
        if found.element == *element {
            return Ok(());
        }
        Err(self
            .type_error(format!("{what} has type {found}"))
            .expected(format!("element type {element}"))
            .constraint(rule))
    }

    /// As [`Checked::same_element`], but for scales and zero points.
    fn same_baseline(
        &self,
        rule: u8,
        what: impl Display,
        found: &TensorType,
        element: &ElementType,
    ) -> Result<()> {
        if same_baseline(&found.element, element) {
            Ok(())
        } else {
            self.same_element(rule, what, found, element)
        }
    }

    fn scalar(&self, rule: u8, what: impl Display, found: &TensorType) -> Result<()> {
        if found.rank() == 0 {
            return Ok(());
        }
        Err(self
            .type_error(format!("{what} has type {found}"))
            .expected(format!("tensor<{}>", found.element))
            .constraint(rule))
    }

    fn integer(&self, what: impl Display, found: &TensorType) -> Result<()> {
        if found.element.is_integer() && found.element != ElementType::I1 {
            return Ok(());
        }
        Err(self.type_error(format!("{what} has type {found}")).expected("an integer element type"))
    }

    /// Checks a vector of integers with an entry for each of `count` things.
    fn integer_vector(
        &self,
        rule: u8,
        what: impl Display,
        found: &TensorType,
        count: Option<usize>,
    ) -> Result<()> {
        self.integer(&what, found)?;
        if found.rank() != 1 {
            let message = format!("{what} has type {found}");
            return Err(self.type_error(message).expected("one dimension").constraint(rule));
        }
        match (count, found.shape[0].known()) {
            (_, None) => Err(self.type_error(format!("{what} has type {found}")).expected("a static shape")),
            (Some(count), Some(size)) if size != count as i64 => Err(self
                .type_error(format!("{what} has type {found}"))
                .expected(format!("{count} entries"))
                .constraint(rule)),
            _ => Ok(()),
        }
    }

    /// Checks that a list has one entry for each of `count` things.
    fn length(&self, rule: u8, name: &str, found: usize, count: usize, of: &str) -> Result<()> {
        if found == count {
            return Ok(());
        }
        let message = format!("'{name}' has {found} entries for {count} {of}");
        Err(self.attr_error(message).expected(format!("{count} entries")).constraint(rule))
    }

    /// Checks that all entries are dimensions of a tensor of rank `rank`.
    fn dims(&self, rule: u8, name: &str, dims: &[i64], rank: usize) -> Result<()> {
        match dims.iter().find(|d| **d < 0 || **d as u64 >= rank as u64) {
            None => Ok(()),
            Some(bad) => Err(self
                .attr_error(format!(
                    "'{name}' = {dims:?} holds {bad}, which is no dimension of a tensor of rank {rank}"
                ))
                .expected(if rank == 0 { "no dimensions".into() } else { format!("0 to {}", rank - 1) })
                .constraint(rule)),
        }
    }

    fn unique(&self, rule: u8, name: &str, dims: &[i64]) -> Result<()> {
        let mut sorted = dims.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            let message = format!("'{name}' = {dims:?} holds a number twice");
            return Err(self.attr_error(message).constraint(rule));
        }
        Ok(())
    }

    fn sorted(&self, rule: u8, name: &str, dims: &[i64]) -> Result<()> {
        if dims.is_sorted() {
            return Ok(());
        }
        Err(self.attr_error(format!("'{name}' = {dims:?} is not sorted")).constraint(rule))
    }

    /// Checks entries that must be positive (window sizes, strides, dilations).
    fn positive(&self, rule: u8, name: &str, values: &[i64]) -> Result<()> {
        self.at_least(rule, name, values, 1)
    }

    fn at_least(&self, rule: u8, name: &str, values: &[i64], least: i64) -> Result<()> {
        if values.iter().all(|v| *v >= least) {
            return Ok(());
        }
        Err(self.attr_error(format!("'{name}' = {values:?} holds a number below {least}")).constraint(rule))
    }

    /// Checks that a region takes the given types.
    fn params(&self, rule: u8, region: &Region, wanted: &[Type]) -> Result<()> {
        let found: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
        if infer::all_like(&found, wanted) {
            return Ok(());
        }
        Err(self
            .region_error(format!("its region takes ({})", TypeList(&found)))
            .expected(format!("({})", TypeList(wanted)))
            .constraint(rule))
    }

    /// Types that a region gives back.
    fn returned(&self, region: &Region) -> Result<Vec<Type>> {
        match region.terminator().filter(|op| op.name == "stablehlo.return") {
            Some(op) => Ok(op.operands.iter().map(|v| self.module.ty(*v).clone()).collect()),
            None => Err(self.region_error("its region does not end with 'stablehlo.return'")),
        }
    }

    /// Checks that a region gives back the given types.
    fn returns(&self, rule: u8, region: &Region, wanted: &[Type]) -> Result<()> {
        let found = self.returned(region)?;
        if infer::all_like(&found, wanted) {
            return Ok(());
        }
        let span = region.terminator().map_or(self.op.span, |op| op.span);
        let message = format!("'{}': its region returns ({})", self.op.name, TypeList(&found));
        Err(Diagnostic::new(codes::OP_REGION, span, message)
            .expected(format!("({})", TypeList(wanted)))
            .constraint(rule))
    }
}

/// `tensor<E>`
fn scalar(element: &ElementType) -> Type {
    Type::Tensor(TensorType::of(Vec::new(), element.clone()).into())
}
