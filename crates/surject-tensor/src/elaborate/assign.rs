//! Assignments outside of operators: each contributes its own constraints.

use super::Session;
use super::owner::Known;
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{NodeKind, Site};
use crate::operator::{Cell, Term};
use crate::tensor::Tensor;
use surject_notation::Span;
use surject_notation::source::{Assignment, BinaryOp, Define, Expr, ExprKind, Part, Slot};

impl Session {
    pub(super) fn assign(&mut self, assignment: &Assignment) -> Result<(), TensorError> {
        let span = assignment.span;
        let target = self.target(&assignment.target)?;
        let operands =
            assignment.arguments.iter().map(|e| self.tensor_expr(e)).collect::<Result<Vec<_>, _>>()?;
        let (logic, sizes, spec) = self.logic(assignment.logic.as_ref(), operands.len(), span)?;
        let cells = (1..=operands.len()).map(|k| Term::Cell(Cell::Value(Slot::Rhs(k as u8))));
        let mut cells: Vec<Term> = cells.collect();
        let value = match (assignment.primitive.name, cells.len()) {
            ("identity", 1) => cells.remove(0),
            _ => Term::Apply(assignment.primitive, cells),
        };
        let text = spec.as_ref().map(|spec| spec.text.clone());
        let site = Site { spec: text, ..self.site(span, None) };
        let operands: Vec<&Tensor> = operands.iter().collect();
        let made = self.graph.assign(
            &target,
            assignment.reset,
            assignment.accumulator,
            value,
            &operands,
            logic,
            &sizes,
            site,
        );
        let instance = made.map_err(|error| self.here(error, span))?;
        match spec {
            Some(spec) => self.bind_captures(&spec, &instance, span),
            None => Ok(()),
        }
    }

    /// What is written.
    fn target(&mut self, target: &Expr) -> Result<Tensor, TensorError> {
        let tensor = match &target.kind {
            ExprKind::Define(define) => return self.define_target(define, target.span),
            ExprKind::Part(of, Part::Grad) => return Ok(self.tensor_expr(of)?.grad()),
            ExprKind::Binary(BinaryOp::Slice, of, index) => {
                let (of, index) = (self.target(of)?, self.tensor_expr(index)?);
                let slice = self.graph.slice_target(&of, &index, self.site(target.span, None));
                return slice.map_err(|error| self.here(error, target.span));
            }
            ExprKind::Part(of, _) => self.tensor_expr(of)?,
            _ => self.tensor_expr(target)?,
        };
        match self.graph.node(tensor.id()).kind {
            NodeKind::Parameter { .. } | NodeKind::Assigned | NodeKind::Gradient(_) => Ok(tensor),
            kind => {
                let what = match kind {
                    NodeKind::Input => "an input",
                    NodeKind::Index { .. } => "a static index",
                    NodeKind::Result(_) | NodeKind::Local(_) => "the value of an expression",
                    _ => "a constant",
                };
                let message = format!("`{}` is {what}, and is not written", tensor.label());
                let help =
                    "write a parameter, a gradient, a slice of these, or a new tensor: `{ name } =: …`";
                Err(self.wrong(TensorErrorKind::Sort, target.span, message).with_help(help))
            }
        }
    }

    /// A new tensor that the assignment writes; in a layer it is one for the layer.
    fn define_target(&mut self, define: &Define, span: Span) -> Result<Tensor, TensorError> {
        if let Some(init) = &define.init {
            let message =
                format!("`{}` is written by the assignment, and has no first value", define.name.text);
            return Err(self.wrong(TensorErrorKind::Arguments, init.span, message));
        }
        let name = &define.name;
        let owner = self.frame().owner.clone();
        let tensor = match owner.known(&name.text, name.span.start) {
            Known::Here(tensor) => tensor,
            Known::Elsewhere => return Err(self.defined_twice(name)),
            Known::No => {
                let label = self.free_path(&owner.path_of(&name.text));
                let sizes = self.row_sizes(&define.rows)?;
                let tensor = self.graph.assigned(&label, &sizes, self.site(span, None));
                owner.define(&name.text, name.span.start, &tensor);
                tensor
            }
        };
        self.define(&name.text, tensor.clone().into());
        Ok(tensor)
    }
}
