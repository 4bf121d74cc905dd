//! The verifier: SSA, signatures, and the constraints that the specification puts on each operation.
//!
//! Which rule an operation has stands in its row of the [`crate::table`]. Dynamic extents are compatible with any.

mod contraction;
mod control;
mod elementwise;
mod indexing;
mod library;
mod movement;
mod window;

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, codes};
use crate::module::{Function, Module, Op, Region, ValueId};
use crate::table::Rule;
use crate::types::{Dim, ElementType, TensorType, Type, TypeList};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Checks a module; all errors, in the order of the text.
pub fn verify(module: &Module) -> std::result::Result<(), Vec<Diagnostic>> {
    let mut functions = HashMap::new();
    for function in &module.functions {
        functions.entry(function.name.as_str()).or_insert(function);
    }
    let mut verifier = Verifier {
        module,
        functions,
        defined: vec![false; module.values.len()],
        order: Vec::new(),
        errors: Vec::new(),
    };
    for function in &module.functions {
        verifier.function(function);
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// Errors after which the verifier gives up: those that follow say little new.
const MAX_ERRORS: usize = 100;

struct Verifier<'m> {
    module: &'m Module,
    functions: HashMap<&'m str, &'m Function>,
    /// Which values are defined and in scope.
    defined: Vec<bool>,
    order: Vec<ValueId>,
    errors: Vec<Diagnostic>,
}

impl<'m> Verifier<'m> {
    fn function(&mut self, function: &'m Function) {
        let mark = self.order.len();
        for param in &function.params {
            self.define(param.value);
        }
        self.ops(&function.body.ops);
        self.close(mark);
        if function.is_declaration() {
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
            let checked = Checked { module: self.module, functions: &self.functions, op };
            if let Err(error) = checked.check() {
                self.errors.push(error);
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
    op: &'a Op,
}

impl<'a> Checked<'a> {
    fn check(&self) -> Result<()> {
        let Some(spec) = self.op.spec() else { return Ok(()) };
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
        match spec.rule {
            Rule::None => Ok(()),
            Rule::Elementwise(elements) => self.elementwise(elements),
            Rule::Predicate(elements) => self.predicate(elements),
            Rule::SameShape => self.same_shape_rule(),
            Rule::Abs => self.abs(),
            Rule::RealPart => self.real_part(),
            Rule::Complex => self.complex(),
            Rule::BitcastConvert => self.bitcast_convert(),
            Rule::Compare => self.compare(),
            Rule::Select => self.select(),
            Rule::Clamp => self.clamp(),
            Rule::Map => self.map(),
            Rule::Constant => self.constant(),
            Rule::Iota => self.iota(),
            Rule::BroadcastInDim => self.broadcast_in_dim(),
            Rule::Broadcast => self.broadcast(),
            Rule::Reshape => self.reshape(),
            Rule::Transpose => self.transpose(),
            Rule::Reverse => self.reverse(),
            Rule::Slice => self.slice(),
            Rule::Concatenate => self.concatenate(),
            Rule::Pad => self.pad(),
            Rule::DynamicSlice => self.dynamic_slice(),
            Rule::DynamicUpdateSlice => self.dynamic_update_slice(),
            Rule::Gather => self.gather(),
            Rule::DynamicGather => self.dynamic_gather(),
            Rule::Scatter => self.scatter(),
            Rule::DotGeneral => self.dot_general(),
            Rule::Dot => self.dot(),
            Rule::Convolution => self.convolution(),
            Rule::Reduce => self.reduce(),
            Rule::ReduceWindow => self.reduce_window(),
            Rule::SelectAndScatter => self.select_and_scatter(),
            Rule::Sort => self.sort(),
            Rule::Fft => self.fft(),
            Rule::Cholesky => self.cholesky(),
            Rule::TriangularSolve => self.triangular_solve(),
            Rule::RngBitGenerator => self.rng_bit_generator(),
            Rule::Case => self.case(),
            Rule::If => self.if_op(),
            Rule::While => self.while_op(),
            Rule::Barrier => self.barrier(),
            Rule::Tuple => self.tuple(),
            Rule::GetTupleElement => self.get_tuple_element(),
            Rule::GetDimensionSize => self.get_dimension_size(),
            Rule::DynamicBroadcastInDim => self.dynamic_broadcast_in_dim(),
            Rule::DynamicReshape => self.dynamic_reshape(),
            Rule::DynamicIota => self.dynamic_iota(),
            Rule::Call => self.call(),
            Rule::Computation => self.computation(),
            Rule::TopK => self.top_k(),
            Rule::CheckPair => self.check_pair(),
            Rule::CheckConst => self.check_const(),
            Rule::BatchNormInference => self.batch_norm_inference(),
            Rule::BatchNormTraining => self.batch_norm_training(),
        }
    }

    /// An error that starts with the name of the operation.
    fn error(&self, code: &'static str, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::new(code, self.op.span, format!("'{}': {message}", self.op.name))
    }

    fn type_error(&self, message: impl std::fmt::Display) -> Diagnostic {
        self.error(codes::OP_TYPE, message)
    }

    fn attr_error(&self, message: impl std::fmt::Display) -> Diagnostic {
        self.error(codes::OP_ATTRIBUTE, message)
    }

    fn operand_type(&self, i: usize) -> &'a Type {
        self.module.ty(self.op.operands[i])
    }

    /// Tensor type of an operand.
    fn operand(&self, i: usize) -> Result<&'a TensorType> {
        let ty = self.operand_type(i);
        ty.as_tensor()
            .ok_or_else(|| self.type_error(format!("operand {i} has type {ty}")).expected("a ranked tensor"))
    }

    /// Tensor type of a result.
    fn result(&self, i: usize) -> Result<&'a TensorType> {
        let ty = self.module.ty(self.op.results[i]);
        ty.as_tensor()
            .ok_or_else(|| self.type_error(format!("result {i} has type {ty}")).expected("a ranked tensor"))
    }

    /// Checks a result against the type that follows from operands and attributes.
    fn expect_result(&self, i: usize, shape: &[Dim], element: &ElementType) -> Result<()> {
        let found = self.result(i)?;
        if compatible(&found.shape, shape) && found.element == *element {
            return Ok(());
        }
        let wanted = TensorType::of(shape.to_vec(), element.clone());
        Err(self.type_error(format!("the result has type {found}")).expected(wanted.to_string()))
    }

    /// Checks that a tensor has the shape of another one.
    fn expect_shape(&self, what: &str, found: &TensorType, shape: &[Dim]) -> Result<()> {
        if compatible(&found.shape, shape) {
            return Ok(());
        }
        let wanted = TensorType::of(shape.to_vec(), found.element.clone());
        Err(self.type_error(format!("{what} has type {found}")).expected(wanted.to_string()))
    }

    fn expect_element(&self, what: &str, found: &TensorType, element: &ElementType) -> Result<()> {
        if found.element == *element {
            return Ok(());
        }
        Err(self.type_error(format!("{what} has type {found}")).expected(format!("element type {element}")))
    }

    fn expect_scalar(&self, what: &str, found: &TensorType) -> Result<()> {
        if found.rank() == 0 {
            return Ok(());
        }
        Err(self
            .type_error(format!("{what} has type {found}"))
            .expected(format!("tensor<{}>", found.element)))
    }

    fn expect_integer(&self, what: &str, found: &TensorType) -> Result<()> {
        if found.element.is_integer() && found.element != ElementType::I1 {
            return Ok(());
        }
        Err(self.type_error(format!("{what} has type {found}")).expected("an integer element type"))
    }

    /// Checks that a list has one entry for each of `count` things.
    fn expect_len(&self, name: &str, found: usize, count: usize, of: &str) -> Result<()> {
        if found == count {
            return Ok(());
        }
        let message = format!("'{name}' has {found} entries for {count} {of}");
        Err(self.attr_error(message).expected(format!("{count} entries")))
    }

    /// Checks that all entries are dimensions of a tensor of rank `rank`.
    fn expect_dims(&self, name: &str, dims: &[i64], rank: usize) -> Result<()> {
        match dims.iter().find(|d| **d < 0 || **d as u64 >= rank as u64) {
            None => Ok(()),
            Some(bad) => Err(self
                .attr_error(format!(
                    "'{name}' = {dims:?} holds {bad}, which is no dimension of a tensor of rank {rank}"
                ))
                .expected(if rank == 0 { "no dimensions".into() } else { format!("0 to {}", rank - 1) })),
        }
    }

    fn expect_unique(&self, name: &str, dims: &[i64]) -> Result<()> {
        let mut sorted = dims.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.attr_error(format!("'{name}' = {dims:?} names a dimension twice")));
        }
        Ok(())
    }

    /// Checks entries that must be positive (window sizes, strides, dilations).
    fn expect_positive(&self, name: &str, values: &[i64]) -> Result<()> {
        if values.iter().all(|v| *v > 0) {
            return Ok(());
        }
        Err(self.attr_error(format!("'{name}' = {values:?} holds a number below 1")))
    }

    /// Checks that a region takes the given types.
    fn expect_params(&self, region: &Region, wanted: &[Type]) -> Result<()> {
        let found: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
        if found == wanted {
            return Ok(());
        }
        Err(self
            .error(codes::OP_REGION, format!("its region takes ({})", TypeList(&found)))
            .expected(format!("({})", TypeList(wanted))))
    }

    /// Types that a region gives back.
    fn returned(&self, region: &Region) -> Result<Vec<Type>> {
        match region.terminator().filter(|op| op.name == "stablehlo.return") {
            Some(op) => Ok(op.operands.iter().map(|v| self.module.ty(*v).clone()).collect()),
            None => Err(self.error(codes::OP_REGION, "its region does not end with 'stablehlo.return'")),
        }
    }

    /// Checks that a region gives back the given types.
    fn expect_returned(&self, region: &Region, wanted: &[Type]) -> Result<()> {
        let found = self.returned(region)?;
        if found == wanted {
            return Ok(());
        }
        let span = region.terminator().map_or(self.op.span, |op| op.span);
        let message = format!("'{}': its region returns ({})", self.op.name, TypeList(&found));
        Err(Diagnostic::new(codes::OP_REGION, span, message).expected(format!("({})", TypeList(wanted))))
    }

    fn result_types(&self) -> Vec<Type> {
        self.op.results.iter().map(|v| self.module.ty(*v).clone()).collect()
    }
}

/// Whether two shapes may be the same at run time.
fn compatible(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.compatible(*y))
}

/// `tensor<E>`
fn scalar(element: &ElementType) -> Type {
    Type::Tensor(TensorType::of(Vec::new(), element.clone()))
}

/// A whole-number result as an extent; beyond 64 bits it can equal none.
fn extent(value: i128) -> Dim {
    Dim::Static(i64::try_from(value).unwrap_or(i64::MAX))
}
