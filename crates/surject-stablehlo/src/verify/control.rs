//! Rules of control flow and calls.

use super::infer::{Want, all_like};
use super::{Checked, Result, scalar};
use crate::diagnostic::{Diagnostic, codes};
use crate::module::ValueId;
use crate::types::{ElementType, Type, TypeList};

impl Checked<'_> {
    /// Checks the selector of branches, and that every branch takes nothing and gives back the same types. `rules` are
    /// the constraints on arguments, on equal types and on results.
    fn branches(&self, selector: ElementType, rules: (u8, u8, u8)) -> Result<Vec<Want>> {
        let index = self.operand(0)?;
        self.scalar(0, "operand 0", index)?;
        self.same_element(0, "operand 0", index, &selector)?;
        let mut first: Option<Vec<Type>> = None;
        for region in &self.op.regions {
            self.params(rules.0, region, &[])?;
            let returned = self.returned(region)?;
            match &first {
                Some(first) if !all_like(&returned, first) => {
                    let span = region.terminator().map_or(self.op.span, |op| op.span);
                    let message = format!("'{}': its region returns ({})", self.op.name, TypeList(&returned));
                    return Err(Diagnostic::new(codes::OP_REGION, span, message)
                        .expected(format!("({}), as the first", TypeList(first)))
                        .constraint(rules.1));
                }
                Some(_) => {}
                None => first = Some(returned),
            }
        }
        let first = first.unwrap_or_default();
        let results = self.result_types();
        if results.len() != first.len() && self.counts_results() {
            return Err(self
                .error(codes::ARITY, format!("{} results", results.len()))
                .expected(format!("({}), what its regions return", TypeList(&first)))
                .constraint(rules.2));
        }
        // Where the branches are at fault is said at the branch.
        if self.counts_results()
            && !all_like(&results, &first)
            && let Some(region) = self.op.regions.first()
        {
            self.returns(rules.2, region, &results)?;
        }
        Ok(first.into_iter().map(|ty| Want::Like(ty, rules.2)).collect())
    }

    pub(super) fn case(&self) -> Result<Vec<Want>> {
        if self.op.regions.is_empty() {
            return Err(self.region_error("no branches").expected("at least one").constraint(1));
        }
        self.branches(ElementType::I32, (2, 3, 4))
    }

    pub(super) fn if_op(&self) -> Result<Vec<Want>> {
        self.branches(ElementType::I1, (1, 2, 3))
    }

    pub(super) fn while_op(&self) -> Result<Vec<Want>> {
        let carried = self.operand_types();
        let results = self.result_types();
        if results.len() != carried.len() && self.counts_results() {
            return Err(self
                .type_error(format!("the results have types ({})", TypeList(&results)))
                .expected(format!("those of the operands, ({})", TypeList(&carried)))
                .constraint(3));
        }
        let [condition, body] = self.op.regions.as_slice() else { return Ok(Vec::new()) };
        self.params(1, condition, &carried)?;
        self.params(2, body, &carried)?;
        self.returns(1, condition, &[scalar(&ElementType::I1)])?;
        self.returns(2, body, &carried)?;
        Ok(carried.into_iter().map(|ty| Want::Like(ty, 3)).collect())
    }

    pub(super) fn call(&self) -> Result<Vec<Want>> {
        let name = self.op.callee()?;
        let Some(function) = self.functions.get(name) else {
            let message = format!("'{}': there is no function '@{name}'", self.op.name);
            return Err(Diagnostic::new(codes::UNKNOWN_NAME, self.op.span, message));
        };
        let wanted = function.ty();
        let operands = self.operand_types();
        if operands != wanted.inputs {
            return Err(self
                .error(codes::SIGNATURE, format!("'@{name}' is called with ({})", TypeList(&operands)))
                .expected(format!("({})", TypeList(&wanted.inputs))));
        }
        let results = self.result_types();
        if results != wanted.results && self.counts_results() {
            return Err(self
                .error(codes::SIGNATURE, format!("'@{name}' is called for results ({})", TypeList(&results)))
                .expected(format!("({})", TypeList(&wanted.results))));
        }
        Ok(wanted.results.into_iter().map(|ty| Want::Like(ty, 0)).collect())
    }

    /// A body that is called where it stands: as many arguments and values as operands and results, of their element
    /// types and ranks. Each device has a part of each tensor, so extents may differ.
    pub(super) fn computation(&self) -> Result<Vec<Want>> {
        let any = self.any_results()?;
        let [body] = self.op.regions.as_slice() else { return Ok(any) };
        let Some(last) = body.terminator().filter(|op| op.name == "sdy.return") else {
            return Err(self.region_error("its region does not end with 'sdy.return'"));
        };
        let ty = |v: &ValueId| self.module.ty(*v).clone();
        let operands = self.operand_types();
        let params: Vec<Type> = body.params.iter().map(|p| p.1.clone()).collect();
        let returned: Vec<Type> = last.operands.iter().map(ty).collect();
        let parts = |inside: &[Type], outside: &[Type]| {
            inside.len() == outside.len() && inside.iter().zip(outside).all(|(a, b)| part(a, b))
        };
        if !parts(&params, &operands) {
            return Err(self
                .region_error(format!("its region takes ({})", TypeList(&params)))
                .expected(format!("parts of ({})", TypeList(&operands))));
        }
        let results = self.result_types();
        if !parts(&returned, &results) {
            return Err(self
                .region_error(format!("its region returns ({})", TypeList(&returned)))
                .expected(format!("parts of ({})", TypeList(&results))));
        }
        Ok(any)
    }
}

/// Whether one type may be what a device has of another.
fn part(inside: &Type, outside: &Type) -> bool {
    match (inside, outside) {
        (Type::Tensor(a), Type::Tensor(b)) => a.element == b.element && a.rank() == b.rank(),
        _ => inside == outside,
    }
}
