//! Kernels over whole tensors beside those of a library operation: copies, and what tasks have accumulated by themselves joined with
//! the result. The machine's strategies schedule them.

use super::points::elements;
use super::vectors::overflow;
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId, buf};
use crate::expression::output::Output;
use crate::kernels::expression::{Expression, Tensor};
use crate::kernels::lower::lower;
use crate::kernels::machine::choose;
use surject_ir::{AccOp, DType, Var};

/// An expression over the elements of a tensor.
struct Whole {
    dag: Dag,
    element: LoopId,
    dtype: DType,
}

impl Whole {
    /// One over so many elements.
    fn of(count: i64, dtype: DType) -> Lowered<Whole> {
        let mut dag = Dag::default();
        let element =
            dag.add_loop(count).ok_or_else(|| CodegenError::malformed("an expression without a loop"))?;
        Ok(Whole { dag, element, dtype })
    }

    /// The element of a tensor that is so many behind the own one.
    fn load(&mut self, buf: Buf, behind: i64) -> Lowered<NodeId> {
        let address = Lin::var(self.element).plus(&Lin::constant(behind), 1).ok_or_else(overflow)?;
        Ok(self.dag.add(Node::Load { buf, address, guards: Vec::new() }, self.dtype))
    }
}

impl Kernels<'_> {
    /// Makes the kernels that copy tensors to where others are.
    pub(super) fn copied(&mut self, pairs: &[(Var, Var)]) -> Lowered<()> {
        for &(to, from) in pairs {
            let count = elements(&self.sizes(Tensor::Var(to))?)?;
            if count > 0 {
                let mut whole = Whole::of(count, self.call.function.ty(to).dtype.part())?;
                let value = whole.load(buf(from), 0)?;
                self.assigned(whole, to, &[value], None)?;
            }
        }
        Ok(())
    }

    /// Makes the kernel that fills a tensor with an element that is in memory.
    pub(super) fn filled(&mut self, target: Var, element: Var) -> Lowered<()> {
        let dtype = self.call.function.ty(target).dtype;
        let count = elements(&self.sizes(Tensor::Var(target))?)?;
        let parts = if dtype.is_complex() { 2 } else { 1 };
        let mut whole = Whole::of(count / parts, dtype.part())?;
        let mut values = Vec::new();
        for part in 0..parts {
            let load = Node::Load { buf: buf(element), address: Lin::constant(part), guards: Vec::new() };
            values.push(whole.dag.add(load, dtype.part()));
        }
        self.assigned(whole, target, &values, None)
    }

    /// Makes the kernel that joins parts of a temporary, some elements apart, with a target.
    pub(super) fn joined(
        &mut self,
        target: Var,
        op: AccOp,
        (from, parts, stride): (Tensor, i64, i64),
    ) -> Lowered<()> {
        let malformed = || CodegenError::malformed("parts that are not joined");
        let count = elements(&self.sizes(Tensor::Var(target))?)?;
        let mut whole = Whole::of(count, self.call.function.ty(target).dtype)?;
        let from = self.buffer(from);
        let mut value = None;
        for part in 0..parts {
            let next = whole.load(from, part.checked_mul(stride).ok_or_else(overflow)?)?;
            value = Some(match value {
                None => next,
                Some(before) => whole.dag.binary(op.binary().ok_or_else(malformed)?, before, next),
            });
        }
        self.assigned(whole, target, &[value.ok_or_else(malformed)?], Some(op))
    }

    /// Makes the kernel that assigns expressions to neighbours of a target, or joins them with what is there.
    fn assigned(
        &mut self,
        Whole { dag, element, .. }: Whole,
        to: Var,
        roots: &[NodeId],
        join: Option<AccOp>,
    ) -> Lowered<()> {
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut outputs = Vec::new();
        for (i, &root) in roots.iter().enumerate() {
            let first = Lin::default().plus(&Lin::var(element), roots.len() as i64);
            let address = first.and_then(|at| at.plus(&Lin::constant(i as i64), 1)).ok_or_else(overflow)?;
            outputs.push(Output { to: buf(to), address, root, join });
        }
        let tensor = |at: Buf| {
            let number = (at.0 as usize).checked_sub(self.call.function.vars.len());
            Ok(match number {
                Some(number) => (Tensor::Temporary(number), self.temporaries[number].clone()),
                None => (Tensor::Var(Var(at.0)), self.call.function.ty(Var(at.0)).clone()),
            })
        };
        let free = [element].into_iter().collect();
        let expression = Expression::new(dag, vec![element], outputs, free, &tensor)?;
        let schedule = choose(self.machine, &expression)?.proposal.schedule;
        let launch = lower(&name, &expression, &schedule);
        self.launches.push(launch.map_err(|error| CodegenError::malformed(format!("`{name}`: {error}")))?);
        Ok(())
    }

    /// The buffer of a tensor in expressions: temporaries come behind the variables.
    fn buffer(&self, tensor: Tensor) -> Buf {
        match tensor {
            Tensor::Var(var) => buf(var),
            Tensor::Temporary(number) => Buf((self.call.function.vars.len() + number) as u32),
            Tensor::Target => self.call.targets.first().map_or(Buf(0), |&target| buf(target)),
        }
    }
}
