//! Rules of control flow and calls.

use super::{Checked, Result, scalar};
use crate::diagnostic::{Diagnostic, codes};
use crate::module::ValueId;
use crate::types::{Dim, ElementType, Type, TypeList};

impl Checked<'_> {
    /// Checks the selector of branches, and that every branch takes nothing and gives back the results.
    fn branches(&self, selector: ElementType) -> Result<()> {
        let index = self.operand(0)?;
        self.expect_scalar("operand 0", index)?;
        self.expect_element("operand 0", index, &selector)?;
        let results = self.result_types();
        for region in &self.op.regions {
            self.expect_params(region, &[])?;
            self.expect_returned_like(region, &results)?;
        }
        Ok(())
    }

    /// As [`Checked::expect_returned`], with dynamic extents compatible.
    fn expect_returned_like(&self, region: &crate::module::Region, wanted: &[Type]) -> Result<()> {
        let found = self.returned(region)?;
        if found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| like(a, b)) {
            return Ok(());
        }
        self.expect_returned(region, wanted)
    }

    pub(super) fn case(&self) -> Result<()> {
        self.branches(ElementType::I32)
    }

    pub(super) fn if_op(&self) -> Result<()> {
        self.branches(ElementType::I1)
    }

    pub(super) fn while_op(&self) -> Result<()> {
        let carried: Vec<Type> = (0..self.op.operands.len()).map(|i| self.operand_type(i).clone()).collect();
        let results = self.result_types();
        if carried.len() != results.len() || !carried.iter().zip(&results).all(|(a, b)| like(a, b)) {
            return Err(self
                .type_error(format!("the results have types ({})", TypeList(&results)))
                .expected(format!("those of the operands, ({})", TypeList(&carried))));
        }
        let [condition, body] = self.op.regions.as_slice() else { return Ok(()) };
        self.expect_params(condition, &carried)?;
        self.expect_params(body, &carried)?;
        self.expect_returned(condition, &[scalar(&ElementType::I1)])?;
        self.expect_returned_like(body, &carried)
    }

    pub(super) fn call(&self) -> Result<()> {
        let name = self.op.callee()?;
        let Some(function) = self.functions.get(name) else {
            let message = format!("'{}': there is no function '@{name}'", self.op.name);
            return Err(Diagnostic::new(codes::UNKNOWN_NAME, self.op.span, message));
        };
        let wanted = function.ty();
        let operands: Vec<Type> = (0..self.op.operands.len()).map(|i| self.operand_type(i).clone()).collect();
        if operands != wanted.inputs {
            return Err(self
                .error(codes::SIGNATURE, format!("'@{name}' is called with ({})", TypeList(&operands)))
                .expected(format!("({})", TypeList(&wanted.inputs))));
        }
        let results = self.result_types();
        if results != wanted.results {
            return Err(self
                .error(codes::SIGNATURE, format!("'@{name}' is called for results ({})", TypeList(&results)))
                .expected(format!("({})", TypeList(&wanted.results))));
        }
        Ok(())
    }

    /// A body that is called where it stands: as many arguments and values as operands and results, of their element
    /// types and ranks. Each device has a part of each tensor, so extents may differ.
    pub(super) fn computation(&self) -> Result<()> {
        let [body] = self.op.regions.as_slice() else { return Ok(()) };
        let Some(last) = body.terminator().filter(|op| op.name == "sdy.return") else {
            return Err(self.error(codes::OP_REGION, "its region does not end with 'sdy.return'"));
        };
        let ty = |v: &ValueId| self.module.ty(*v).clone();
        let operands: Vec<Type> = self.op.operands.iter().map(ty).collect();
        let params: Vec<Type> = body.params.iter().map(|p| p.1.clone()).collect();
        let returned: Vec<Type> = last.operands.iter().map(ty).collect();
        let parts = |inside: &[Type], outside: &[Type]| {
            inside.len() == outside.len() && inside.iter().zip(outside).all(|(a, b)| part(a, b))
        };
        if !parts(&params, &operands) {
            return Err(self
                .error(codes::OP_REGION, format!("its region takes ({})", TypeList(&params)))
                .expected(format!("parts of ({})", TypeList(&operands))));
        }
        let results = self.result_types();
        if !parts(&returned, &results) {
            return Err(self
                .error(codes::OP_REGION, format!("its region returns ({})", TypeList(&returned)))
                .expected(format!("parts of ({})", TypeList(&results))));
        }
        Ok(())
    }
}

/// Whether one type may be what a device has of another.
fn part(inside: &Type, outside: &Type) -> bool {
    match (inside, outside) {
        (Type::Tensor(a), Type::Tensor(b)) => a.element == b.element && a.rank() == b.rank(),
        _ => inside == outside,
    }
}

/// Whether two types may be the same at run time.
fn like(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Tensor(x), Type::Tensor(y)) => {
            x.element == y.element
                && x.rank() == y.rank()
                && x.shape.iter().zip(&y.shape).all(|(p, q): (&Dim, &Dim)| p.compatible(*q))
        }
        _ => a == b,
    }
}
