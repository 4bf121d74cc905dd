//! What the handles of a graph share, and how a step joins it.

use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Data, Node, NodeId, NodeKind, RowSizes, Site, SizeRef, Sizes, Step, StepId};
use crate::operator::{Cell, Operator, Rule};
use std::collections::BTreeMap;
use std::sync::Arc;
use surject_index::Extent;
use surject_notation::source::Slot;
use surject_projection::Projections;
use surject_shape::{Constraint, Dim, DimTerm, GroundShape, Logic, Named, Origin, Role, Row, Shape};

/// How deep products of products are looked up.
const DEEPEST_PRODUCT: usize = 16;

impl Data {
    pub(super) fn node(&mut self, kind: NodeKind, shape: Shape, what: &str, site: &Site) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let label = site.label.clone().unwrap_or_else(|| what.to_string());
        let named = Named::tensor(label.clone(), &shape);
        self.nodes.push(Node { label, kind, shape, place: site.place.clone(), named, used: false });
        id
    }

    pub(crate) fn rename(&mut self, id: NodeId, label: String) {
        let node = &mut self.nodes[id.0 as usize];
        node.named = Named::tensor(label.clone(), &node.shape);
        node.label = label;
    }

    pub(super) fn shape_with(&mut self, sizes: &Sizes) -> Shape {
        let mut row = |sizes: &RowSizes| match sizes {
            RowSizes::Free => Row::open(self.solver.fresh_row()),
            RowSizes::Sizes(dims) => Row::closed(dims.iter().copied()),
        };
        Shape { batch: row(&sizes.batch), input: row(&sizes.input), output: row(&sizes.output) }
    }

    /// The shape of a slice: that of the whole, with its marker, without the leftmost batch axis.
    pub(super) fn sliced_shape(&mut self, whole: NodeId) -> Shape {
        let mut shape = self.nodes[whole.0 as usize].shape.clone();
        let mut batch = self.solver.row(shape.batch);
        if !batch.lead.is_empty() {
            batch.lead.remove(0);
        } else if batch.var.is_none() && !batch.trail.is_empty() {
            batch.trail.remove(0);
        } else {
            batch = Row::open(self.solver.fresh_row());
        }
        shape.batch = batch;
        shape
    }

    pub(crate) fn gradient(&mut self, of: NodeId) -> NodeId {
        if let Some(id) = self.gradients.get(&of) {
            return *id;
        }
        let node = self.nodes[of.0 as usize].clone();
        let site = Site { label: Some(format!("{}.grad", node.label)), place: node.place, ..Site::default() };
        let id = self.node(NodeKind::Gradient(of), node.shape, "gradient", &site);
        self.gradients.insert(of, id);
        id
    }

    /// A leaf that is used is a terminal shape.
    pub(super) fn mark_used(&mut self, id: NodeId) -> Result<(), TensorError> {
        let node = &mut self.nodes[id.0 as usize];
        if std::mem::replace(&mut node.used, true) {
            return Ok(());
        }
        let role = match node.kind {
            NodeKind::Parameter { .. } => Role::Param,
            NodeKind::Input
            | NodeKind::Number(_)
            | NodeKind::Data(_)
            | NodeKind::Range
            | NodeKind::Uniform { .. } => Role::Leaf,
            _ => return Ok(()),
        };
        let origin = Arc::new(Origin {
            operation: node.label.clone(),
            place: node.place.clone(),
            tensors: vec![node.named.clone()],
            ..Origin::default()
        });
        let shape = node.shape.clone();
        Ok(self.solver.terminal(&shape, role, &origin)?)
    }

    #[allow(clippy::too_many_arguments)] // what a step is made of
    pub(super) fn step(
        &mut self,
        operator: &Arc<Operator>,
        logic: Logic,
        operands: &[NodeId],
        target: Option<NodeId>,
        index: Option<NodeId>,
        sizes: &[(String, u64)],
        site: Site,
    ) -> Result<StepId, TensorError> {
        let id = StepId(self.steps.len() as u32);
        let logic = match logic {
            Logic::Pointwise if operator.converts_words() => {
                Logic::Uint4x32ToPrec { coefficient: 16 / self.element.size().max(1) as u64 }
            }
            logic => logic,
        };
        let names: Vec<&str> = operands.iter().map(|o| self.nodes[o.0 as usize].label.as_str()).collect();
        let text = site.text.clone().unwrap_or_else(|| format!("{}({})", operator.name, names.join(", ")));
        let (spec, place) = (site.spec.clone(), site.place.clone());
        let first_value_of_parameter = target
            .is_some_and(|t| matches!(self.nodes[t.0 as usize].kind, NodeKind::Parameter { .. }))
            && !self.nodes[target.map_or(0, |t| t.0 as usize)].used;
        for operand in operands {
            self.mark_used(*operand)?;
        }
        let result = match target {
            Some(target) => {
                // The first value of a parameter is no use of it.
                if !first_value_of_parameter {
                    self.mark_used(target)?;
                }
                target
            }
            None => {
                let shape = match (&logic, operands) {
                    (Logic::BatchSlice { .. }, [operand]) => self.sliced_shape(*operand),
                    _ => self.solver.fresh_shape(),
                };
                let label = site.label.clone().unwrap_or_else(|| text.clone());
                let site = Site { label: Some(label), ..site };
                self.node(NodeKind::Result(id), shape, "", &site)
            }
        };
        let tensors = std::iter::once(&result)
            .chain(operands)
            .map(|n| self.nodes[n.0 as usize].named.clone())
            .collect();
        let origin = Arc::new(Origin { operation: text, spec, place, tensors });
        let shapes: Vec<Shape> = operands.iter().map(|o| self.nodes[o.0 as usize].shape.clone()).collect();
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let result_shape = self.nodes[result.0 as usize].shape.clone();
        let instance = self
            .solver
            .operation(&logic, &shapes, &result_shape, &origin)
            .map_err(|error| self.refused(error, &logic, &shapes, &result_shape, &origin))?;
        if target.is_none() && matches!(logic, Logic::Spec(_)) {
            // An equation says nothing of the marker, and a new tensor has it where the spec does.
            let node = &mut self.nodes[result.0 as usize];
            node.shape = instance.result.clone();
            node.named = Named::tensor(node.label.clone(), &node.shape);
        }
        for (label, size) in sizes {
            if let Some(var) = instance.dims.get(label) {
                let dim = if *size == 1 { Dim::Unit } else { Dim::new(*size) };
                self.solver.add(Constraint::DimEq((*var).into(), dim.into()), &origin)?;
            }
        }
        let step = Step {
            operator: operator.clone(),
            logic,
            operands: operands.to_vec(),
            result,
            locals: Vec::new(),
            index,
            written_through: false,
            instance,
            origin,
        };
        self.steps.push(step);
        for (name, slot) in operator.locals.clone() {
            let Some(like) = self.steps[id.0 as usize].of_slot(slot) else { continue };
            let shape = self.nodes[like.0 as usize].shape.clone();
            let local = self.node(NodeKind::Local(id), shape, "", &Site::named(name));
            self.steps[id.0 as usize].locals.push(local);
        }
        Ok(id)
    }

    /// The size of a dimension: its own, or the product that it stands for.
    fn dim_size(&self, dim: DimTerm, deepest: usize) -> Option<u64> {
        if let Some(known) = self.solver.ground_dim(dim) {
            return known.size();
        }
        let DimTerm::Var(var) = dim else { return None };
        let [a, b] = self.products.get(&var).filter(|_| deepest > 0)?;
        self.dim_size(*a, deepest - 1)?.checked_mul(self.dim_size(*b, deepest - 1)?)
    }

    /// The product of the factors of a size that is one.
    pub(crate) fn factors_of(&self, size: SizeRef) -> Option<u64> {
        let SizeRef::Dim(var) = size else { return None };
        let [a, b] = self.products.get(&var)?;
        self.dim_size(*a, DEEPEST_PRODUCT)?.checked_mul(self.dim_size(*b, DEEPEST_PRODUCT)?)
    }

    pub(crate) fn size_of(&self, size: SizeRef) -> Option<u64> {
        match size {
            SizeRef::Dim(var) => self.dim_size(var.into(), DEEPEST_PRODUCT),
            SizeRef::Row(row) => {
                let row = self.solver.ground_row(row)?;
                row.flat().iter().try_fold(1u64, |n, d| n.checked_mul(d.size()?))
            }
        }
    }

    /// A size as an expression, if it is known.
    pub(crate) fn extent_of(&self, size: SizeRef) -> Option<Extent> {
        let extent = match size {
            SizeRef::Dim(var) => self.dim_extent(var.into(), DEEPEST_PRODUCT)?,
            SizeRef::Row(row) => {
                let dims = self.solver.ground_row(row)?.flat();
                dims.iter().fold(Extent::Const(1), |product, dim| Extent::product(product, dim.extent()))
            }
        };
        Some(self.declared.tidy(extent))
    }

    fn dim_extent(&self, dim: DimTerm, deepest: usize) -> Option<Extent> {
        if let Some(known) = self.solver.ground_dim(dim) {
            return Some(known.extent());
        }
        let DimTerm::Var(var) = dim else { return None };
        let [a, b] = self.products.get(&var).filter(|_| deepest > 0)?;
        Some(Extent::product(self.dim_extent(*a, deepest - 1)?, self.dim_extent(*b, deepest - 1)?))
    }

    pub(crate) fn ground(&self, id: NodeId) -> Result<GroundShape, TensorError> {
        let node = &self.nodes[id.0 as usize];
        self.solver.ground_shape(&node.shape).ok_or_else(|| {
            TensorError::new(TensorErrorKind::Size, format!("the shape of `{}` is not known yet", node.label))
                .with_help("close the shapes first")
                .at(node.place.clone())
        })
    }

    pub(crate) fn projections(&mut self, id: StepId) -> Result<Arc<Projections>, TensorError> {
        if let Some(known) = self.projections.get(&id) {
            return Ok(known.clone());
        }
        let step = &self.steps[id.0 as usize];
        let result = self.ground(step.result)?;
        let operands = step.operands.iter().map(|o| self.ground(*o)).collect::<Result<Vec<_>, _>>()?;
        let sizes: BTreeMap<String, Extent> = step
            .instance
            .dims
            .iter()
            .filter_map(|(label, var)| Some((label.clone(), self.solver.ground_dim(*var)?.extent())))
            .collect();
        let given = self.declared.given();
        let projections = surject_projection::derive_given(&step.logic, &operands, &result, &sizes, given)
            .map_err(|e| self.explained_step(TensorError::from(e), step))?;
        let projections = Arc::new(projections);
        self.projections.insert(id, projections.clone());
        Ok(projections)
    }

    /// The rules of a step, with their cells as tensors.
    pub(crate) fn resolve(&mut self, id: StepId, cell: Cell) -> Result<(NodeId, Slot), TensorError> {
        let step = &self.steps[id.0 as usize];
        let missing = || {
            TensorError::new(
                TensorErrorKind::Operator,
                format!("`{}` names an operand that this use does not have", step.operator.name),
            )
            .at(step.origin.place.clone())
        };
        match cell {
            Cell::Value(slot) => Ok((step.of_slot(slot).ok_or_else(missing)?, slot)),
            Cell::Gradient(slot) => {
                let of = step.of_slot(slot).ok_or_else(missing)?;
                Ok((self.gradient(of), slot))
            }
            Cell::Local(k) => {
                let local = step.locals.get(k).copied().ok_or_else(missing)?;
                Ok((local, step.operator.locals[k].1))
            }
        }
    }

    /// What a step writes going forward.
    pub(crate) fn forward(&self, id: StepId) -> Vec<Rule> {
        self.steps[id.0 as usize].operator.forward.clone()
    }
}
