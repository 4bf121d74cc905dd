//! Building a graph: tensors from outside, parameters, operations, assignments.

use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{
    Action, Graph, Kind, NodeId, NodeKind, RowSizes, SaidEqual, Side, Site, SizeRef, Sizes, StepId,
};
use crate::operator::{Cell, Operator, Term};
use crate::spec::{self, Surroundings};
use crate::tensor::Tensor;
use std::sync::Arc;
use surject_notation::ShapeSpec;
use surject_notation::source::{self, Slot};
use surject_shape::{
    Axis, Constraint, Dim, GroundShape, Instance, Logic, Origin, Row, Shape, Template, TemplateRow,
    TemplateShape,
};

impl Graph {
    /// A tensor given from outside. Axes that the shape leaves open are inferred; sizes that it declares are declared.
    ///
    /// # Errors
    /// A shape that cannot be read as one.
    pub fn input(&self, label: &str, shape: Option<&ShapeSpec>, site: Site) -> Result<Tensor, TensorError> {
        for (size, span) in shape.iter().flat_map(|shape| shape.declared_sizes()) {
            self.imply_size(size, site.place.clone()).map_err(|error| error.spanning(span))?;
        }
        let mut data = self.0.borrow_mut();
        let data = &mut *data;
        let shape = match shape {
            Some(spec) => spec::shape_of(spec, &mut data.solver, &data.declared)?,
            None => data.solver.fresh_shape(),
        };
        let site = Site { label: Some(label.to_string()), ..site };
        let id = data.node(NodeKind::Input, shape, "input", &site);
        Ok(self.tensor(id))
    }

    /// A static index with its range.
    pub fn index(&self, label: &str, range: u64, site: Site) -> Tensor {
        let site = Site { label: Some(label.to_string()), ..site };
        self.tensor(self.0.borrow_mut().node(NodeKind::Index { range }, Shape::default(), "index", &site))
    }

    /// A number: a scalar without axes; with a basis, one output axis of size one of that basis.
    pub fn number(&self, value: f64, basis: Option<&str>, site: Site) -> Tensor {
        let output = basis.map(|b| Dim::with_basis(1, b));
        let shape = Shape::closed(&[], &[], output.as_slice());
        let label = format!("{value:?}");
        self.tensor(self.0.borrow_mut().node(NodeKind::Number(value), shape, &label, &site))
    }

    /// A number everywhere, in the shape that its uses ask for: an axis multiplied by ones is an axis summed.
    pub fn fill(&self, value: f64, site: Site) -> Tensor {
        let mut data = self.0.borrow_mut();
        let shape = data.solver.fresh_shape();
        let label = format!("{value:?}");
        self.tensor(data.node(NodeKind::Number(value), shape, &label, &site))
    }

    /// Values written out in memory order: batch, output, input axes.
    ///
    /// # Errors
    /// Another number of values than the shape has positions.
    pub fn data(&self, shape: &GroundShape, values: Vec<f64>, site: Site) -> Result<Tensor, TensorError> {
        let positions: Option<u64> = shape.in_memory_order().iter().map(|d| d.size()).product();
        if positions != Some(values.len() as u64) {
            let positions = positions.map_or_else(|| "a symbolic number of".to_string(), |n| n.to_string());
            return Err(TensorError::new(
                TensorErrorKind::Size,
                format!("the shape {shape} has {positions} positions, but there are {} values", values.len()),
            )
            .at(site.place));
        }
        let shape = Shape::closed(&shape.batch.flat(), &shape.input.flat(), &shape.output.flat());
        let kind = NodeKind::Data(Arc::new(values));
        Ok(self.tensor(self.0.borrow_mut().node(kind, shape, "literal", &site)))
    }

    /// The numbers 0, 1, 2, … in the given shape; one output axis as a rule.
    pub fn range(&self, sizes: &Sizes, site: Site) -> Tensor {
        let mut data = self.0.borrow_mut();
        let shape = data.shape_with(sizes);
        self.tensor(data.node(NodeKind::Range, shape, "range", &site))
    }

    /// A leaf with values of the given kind, and what is known of its shape.
    pub(crate) fn terminal(&self, kind: NodeKind, sizes: &Sizes, site: Site) -> Tensor {
        let mut data = self.0.borrow_mut();
        let shape = data.shape_with(sizes);
        self.tensor(data.node(kind, shape, "constant", &site))
    }

    /// A size as a number.
    pub fn size(&self, size: SizeRef, site: Site) -> Tensor {
        let kind = NodeKind::Size(size);
        self.tensor(self.0.borrow_mut().node(kind, Shape::default(), "size", &site))
    }

    /// Uniform random numbers in `[0, 1)`, in the shape that their uses ask for where `sizes` leave it open. `at` is a
    /// number; another one gives other random numbers.
    pub fn uniform(&self, sizes: &Sizes, at: Option<&Tensor>, site: Site) -> Tensor {
        let mut data = self.0.borrow_mut();
        let shape = data.shape_with(sizes);
        let stream = data.streams;
        data.streams += 1;
        let kind = NodeKind::Uniform { stream, at: at.map(|t| t.id()) };
        self.tensor(data.node(kind, shape, "uniform", &site))
    }

    /// A parameter that starts as `init`, which broadcasts to it. Its batch row is empty unless sizes are given.
    ///
    /// # Errors
    /// A contradiction with what is known.
    pub fn parameter(
        &self,
        label: &str,
        init: &Tensor,
        sizes: &Sizes,
        site: Site,
    ) -> Result<Tensor, TensorError> {
        let id = {
            let mut data = self.0.borrow_mut();
            let mut shape = data.shape_with(sizes);
            if matches!(sizes.batch, RowSizes::Free) {
                shape.batch = Row::empty();
            }
            let site = Site { label: Some(label.to_string()), ..site.clone() };
            data.node(NodeKind::Parameter { init: init.id() }, shape, "parameter", &site)
        };
        let parameter = self.tensor(id);
        let copy =
            Operator::assignment(true, source::Accumulator::Set, Term::Cell(Cell::Value(Slot::Rhs(1))));
        let site = Site { text: Some(format!("the first value of {label}")), ..site };
        let step = self.step(&copy.shared(), Logic::Pointwise, &[init], Some(&parameter), None, &[], site)?;
        self.0.borrow_mut().first_values.insert(id, step);
        Ok(parameter)
    }

    /// A tensor that assignments write.
    pub fn assigned(&self, label: &str, sizes: &Sizes, site: Site) -> Tensor {
        let mut data = self.0.borrow_mut();
        let shape = data.shape_with(sizes);
        let site = Site { label: Some(label.to_string()), ..site };
        self.tensor(data.node(NodeKind::Assigned, shape, "assigned", &site))
    }

    /// The gradient of a tensor: what [`Graph::backprop`] computes.
    pub fn gradient(&self, of: &Tensor) -> Tensor {
        self.tensor(self.0.borrow_mut().gradient(of.id()))
    }

    /// Uses an operator. `logic` says how the operands meet; without it the operator's own logic, which is pointwise
    /// unless it says otherwise. Gives the result and the variables of the spec, for captures.
    ///
    /// # Errors
    /// Another number of operands than the operator takes; shapes that do not fit.
    pub fn apply(
        &self,
        operator: &Arc<Operator>,
        logic: Option<Logic>,
        operands: &[&Tensor],
        site: Site,
    ) -> Result<(Tensor, Instance), TensorError> {
        self.apply_sized(operator, logic, operands, &[], site)
    }

    /// [`Graph::apply`] for a spec some of whose labels have a size.
    ///
    /// # Errors
    /// As there.
    pub fn apply_sized(
        &self,
        operator: &Arc<Operator>,
        logic: Option<Logic>,
        operands: &[&Tensor],
        sizes: &[(String, u64)],
        site: Site,
    ) -> Result<(Tensor, Instance), TensorError> {
        let logic = match (logic, &operator.logic) {
            (Some(logic), _) => logic,
            (None, Some(logic)) => own_logic(logic, operands.len())?,
            (None, None) => Logic::Pointwise,
        };
        let id = self.step(operator, logic, operands, None, None, sizes, site)?;
        let data = self.0.borrow();
        let step = &data.steps[id.0 as usize];
        Ok((self.tensor(step.result), step.instance.clone()))
    }

    /// The slice of the leftmost batch axis at a static index.
    ///
    /// # Errors
    /// An operand without batch axes, or of another size than the range of the index.
    pub fn slice(&self, operand: &Tensor, index: &Tensor, site: Site) -> Result<Tensor, TensorError> {
        let range = match &self.0.borrow().nodes[index.id().0 as usize].kind {
            NodeKind::Index { range } => *range,
            _ => {
                let message = format!("`{}` is not a static index", index.label());
                return Err(TensorError::new(TensorErrorKind::Sort, message)
                    .with_help("declare it: `index i < 10;`")
                    .at(site.place));
            }
        };
        let logic = Logic::BatchSlice { range: Some(range) };
        let operator = crate::prelude::operator("slice")?;
        let id = self.step(&operator, logic, &[operand], None, Some(index.id()), &[], site)?;
        Ok(self.tensor(self.0.borrow().steps[id.0 as usize].result))
    }

    /// The slice of the leftmost batch axis at a static index, as the target of an assignment: what is written there is
    /// written into the operand.
    ///
    /// # Errors
    /// As for [`Graph::slice`].
    pub fn slice_target(&self, operand: &Tensor, index: &Tensor, site: Site) -> Result<Tensor, TensorError> {
        let slice = self.slice(operand, index, site)?;
        let mut data = self.0.borrow_mut();
        if let NodeKind::Result(step) = data.nodes[slice.id().0 as usize].kind {
            data.steps[step.0 as usize].written_through = true;
        }
        drop(data);
        Ok(slice)
    }

    /// The operands one after the other along the axes that the template concatenates.
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn concat(
        &self,
        operands: &[&Tensor],
        template: Template,
        sizes: &[(String, u64)],
        site: Site,
    ) -> Result<(Tensor, Instance), TensorError> {
        if operands.is_empty() || operands.len() > usize::from(u8::MAX) {
            let message = format!("a concatenation of {} tensors; it takes 1 to 255", operands.len());
            return Err(TensorError::new(TensorErrorKind::Arguments, message).at(site.place));
        }
        let operator = Operator::concatenation(operands.len()).shared();
        self.apply_sized(&operator, Some(Logic::Spec(Arc::new(template))), operands, sizes, site)
    }

    /// Tensors of one shape along a new leading axis of the given kind.
    ///
    /// # Errors
    /// Shapes that differ.
    pub fn stack(
        &self,
        kind: Kind,
        basis: Option<&str>,
        items: &[&Tensor],
        site: Site,
    ) -> Result<Tensor, TensorError> {
        let row =
            |name: &str| TemplateRow { lead: Vec::new(), var: Some(name.to_string()), trail: Vec::new() };
        let mut whole = TemplateShape { batch: row("batch"), input: row("input"), output: row("output") };
        // Items without a marker are stacked to a tensor without one, as a literal of numbers is.
        let rank = self.common_rank(kind, items);
        if let Some(rank) = rank {
            let trail = (0..rank).map(|k| Axis::Label(format!("axis{k}"))).collect();
            *row_of(&mut whole, kind) = TemplateRow { lead: Vec::new(), var: None, trail };
        }
        let under = |axis: Axis| {
            let mut shape = whole.clone();
            let row = row_of(&mut shape, kind);
            match rank {
                Some(_) => row.trail.insert(0, axis),
                None => row.lead.push(axis),
            }
            shape
        };
        // Each item gets an axis to be stacked along, so that it takes part in its own component only.
        let sum = crate::prelude::operator("sum")?;
        let raised =
            Template { operands: vec![whole.clone()], result: under(Axis::Fixed(0)), ..Template::default() };
        let raised = Logic::Spec(Arc::new(raised));
        let raise = |item: &&Tensor| {
            let label = site.label.as_ref().map(|_| item.label());
            self.apply(&sum, Some(raised.clone()), &[item], Site { label, ..site.clone() }).map(|(t, _)| t)
        };
        let raised = items.iter().map(raise).collect::<Result<Vec<_>, _>>()?;
        let labels: Vec<String> = (0..items.len()).map(|i| format!("@{i}")).collect();
        let template = Template {
            operands: labels.iter().map(|label| under(Axis::Label(label.clone()))).collect(),
            // The claim-free unit of a single item would broadcast; a concatenation of one does not.
            result: under(Axis::Concat(labels.clone())),
            ..Template::default()
        };
        let sizes: Vec<(String, u64)> = labels.into_iter().map(|l| (l, 1)).collect();
        let raised: Vec<&Tensor> = raised.iter().collect();
        let (tensor, instance) = self.concat(&raised, template, &sizes, site.clone())?;
        if let Some(basis) = basis {
            let row = match kind {
                Kind::Batch => &instance.result.batch,
                Kind::Input => &instance.result.input,
                Kind::Output => &instance.result.output,
            };
            let Some(axis) = row.dims().next() else { return Ok(tensor) };
            let dim = Dim::with_basis(items.len() as u64, basis);
            self.constrain(Constraint::DimEq(axis, dim.into()), &site)?;
        }
        Ok(tensor)
    }

    /// The number of axes that a row of the items has, where those that are closed have nothing before their marker.
    fn common_rank(&self, kind: Kind, items: &[&Tensor]) -> Option<usize> {
        let data = self.0.borrow();
        let rank = |item: &&Tensor| {
            let shape = &data.nodes[item.id().0 as usize].shape;
            let row = data.solver.row(match kind {
                Kind::Batch => shape.batch.clone(),
                Kind::Input => shape.input.clone(),
                Kind::Output => shape.output.clone(),
            });
            (row.var.is_none() && row.lead.is_empty()).then_some(row.trail.len())
        };
        // The others are made alike by the operation.
        let mut known = items.iter().filter_map(rank);
        let first = known.next()?;
        known.all(|rank| rank == first).then_some(first)
    }

    /// An assignment `target = …` outside of any operator. `value` reads the operands by their slots.
    ///
    /// # Errors
    /// Shapes that do not fit.
    #[allow(clippy::too_many_arguments)] // an assignment has that many parts
    pub fn assign(
        &self,
        target: &Tensor,
        reset: bool,
        accumulator: source::Accumulator,
        value: Term,
        operands: &[&Tensor],
        logic: Logic,
        sizes: &[(String, u64)],
        site: Site,
    ) -> Result<Instance, TensorError> {
        let operator = Operator::assignment(reset, accumulator, value).shared();
        let id = self.step(&operator, logic, operands, Some(target), None, sizes, site)?;
        let mut data = self.0.borrow_mut();
        data.actions.push(Action::Assign(id));
        Ok(data.steps[id.0 as usize].instance.clone())
    }

    /// Adds something to be done.
    pub fn act(&self, action: Action) {
        self.0.borrow_mut().actions.push(action);
    }

    /// Asks for the gradients of a tensor, which should be a scalar, at this point of the program.
    pub fn backprop(&self, of: &Tensor) {
        self.act(Action::Backprop(of.id()));
    }

    /// Declares a result of the program.
    pub fn output(&self, tensor: &Tensor) {
        self.0.borrow_mut().outputs.push(tensor.id());
    }

    /// Says what a size is.
    ///
    /// # Errors
    /// A contradiction.
    pub fn set_size(&self, size: SizeRef, value: u64, site: &Site) -> Result<(), TensorError> {
        let constraint = match size {
            SizeRef::Dim(var) => Constraint::DimEq(var.into(), Dim::new(value).into()),
            SizeRef::Row(row) => Constraint::Total {
                elems: surject_shape::Elems::Number(value),
                rows: vec![Row::open(row)],
                divided_by: Vec::new(),
            },
        };
        self.constrain(constraint, site)
    }

    /// Adds a constraint of the user's.
    ///
    /// # Errors
    /// A contradiction.
    pub fn constrain(&self, constraint: Constraint, site: &Site) -> Result<(), TensorError> {
        self.constrain_said(constraint, site, None)
    }

    /// The same, for a constraint by which a user says that two sizes are equal.
    pub(crate) fn constrain_said(
        &self,
        constraint: Constraint,
        site: &Site,
        sides: Option<[Side; 2]>,
    ) -> Result<(), TensorError> {
        let origin = Arc::new(Origin {
            operation: site.text.clone().unwrap_or_else(|| "a constraint".to_string()),
            spec: site.spec.clone(),
            place: site.place.clone(),
            ..Origin::default()
        });
        let mut data = self.0.borrow_mut();
        data.said_equal.extend(sides.map(|sides| SaidEqual { origin: origin.clone(), sides }));
        let added = data.solver.add(constraint, &origin);
        added.map_err(|error| data.explained(error.into()))
    }

    #[allow(clippy::too_many_arguments)] // what a step is made of
    fn step(
        &self,
        operator: &Arc<Operator>,
        logic: Logic,
        operands: &[&Tensor],
        target: Option<&Tensor>,
        index: Option<NodeId>,
        sizes: &[(String, u64)],
        site: Site,
    ) -> Result<StepId, TensorError> {
        if let Some(other) = operands.iter().chain(&target).find(|t| !t.graph().same(self)) {
            let message = format!("`{}` belongs to another graph", other.label());
            return Err(TensorError::new(TensorErrorKind::Arguments, message).at(site.place));
        }
        if operator.arity.is_some_and(|arity| arity != operands.len()) {
            let message = format!(
                "`{}` takes {} operands, not {}",
                operator.name,
                operator.arity.unwrap_or_default(),
                operands.len()
            );
            return Err(TensorError::new(TensorErrorKind::Arguments, message).at(site.place));
        }
        let operands: Vec<NodeId> = operands.iter().map(|t| t.id()).collect();
        let place = site.place.clone();
        let mut data = self.0.borrow_mut();
        let made = data.step(operator, logic, &operands, target.map(|t| t.id()), index, sizes, site);
        made.map_err(|error| data.explained(error).at(place))
    }
}

/// The row of a kind.
fn row_of(shape: &mut TemplateShape, kind: Kind) -> &mut TemplateRow {
    match kind {
        Kind::Batch => &mut shape.batch,
        Kind::Input => &mut shape.input,
        Kind::Output => &mut shape.output,
    }
}

/// `"@"` between so many operands: the third is an addend.
pub(crate) fn composition(operands: usize) -> Logic {
    if operands == 3 { Logic::ComposeAccumulate } else { Logic::Compose }
}

/// The logic that an operator has by itself.
fn own_logic(logic: &source::Logic, operands: usize) -> Result<Logic, TensorError> {
    Ok(match logic {
        source::Logic::Pointwise => Logic::Pointwise,
        source::Logic::Compose => composition(operands),
        source::Logic::Transpose => Logic::Transpose,
        source::Logic::Spec(source::SpecArgument::Literal(spec, _)) => {
            Logic::Spec(Arc::new(spec::prepare(spec, &Surroundings::default())?.template))
        }
        source::Logic::Spec(source::SpecArgument::Name(name)) => {
            let message = format!("the spec `{}` of an operator has to be written out", name.text);
            return Err(TensorError::new(TensorErrorKind::Operator, message).spanning(name.span));
        }
    })
}
