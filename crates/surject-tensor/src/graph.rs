//! The expression graph: tensors, the operations between them, and what is to be done with them.
//!
//! Every tensor is a [`Node`] with a shape in terms of the graph's solver; every use of an operator is a [`Step`], which
//! is one set of shape constraints and, once the shapes are known, one product space with one index map for each
//! tensor. A gradient is a node as well, of the shape of the tensor it belongs to.
//!
//! Building never evaluates: [`Graph::infer`] closes the shapes, [`crate::lower()`] makes a program of assignments.

use crate::error::{TensorError, TensorErrorKind};
use crate::operator::{Cell, Operator, Rule, Term};
use crate::spec::{self, Surroundings};
use crate::tensor::Tensor;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::ShapeSpec;
use surject_notation::source::{self, Slot};
use surject_projection::Projections;
use surject_shape::{
    Axis, Constraint, Dim, DimTerm, DimVar, GroundShape, Instance, Logic, Named, Origin, Place, Role, Row,
    RowVar, Shape, Solver, Template, TemplateRow, TemplateShape,
};

pub use surject_notation::spec::Kind;

/// A tensor of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// A use of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StepId(pub u32);

/// A tensor.
#[derive(Clone, Debug)]
pub struct Node {
    /// The user's name for it, or what it is.
    pub label: String,
    /// Where its values come from.
    pub kind: NodeKind,
    /// Its shape, in terms of the solver.
    pub shape: Shape,
    /// Where it was written.
    pub place: Option<Place>,
    /// The name by which errors of inference speak of it.
    pub(crate) named: Arc<Named>,
    /// Whether an operation uses it: leaves that nothing uses do not take part in inference.
    pub(crate) used: bool,
}

/// Where the values of a tensor come from.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// From outside.
    Input,
    /// A parameter: state, which starts as another tensor.
    Parameter {
        /// Its first value.
        init: NodeId,
    },
    /// A static index: a whole number below `range` that every run is given.
    Index {
        /// The number of its values.
        range: u64,
    },
    /// One number everywhere.
    Number(f64),
    /// Written out, in memory order.
    Data(Arc<Vec<f64>>),
    /// 0, 1, 2, … in memory order.
    Range,
    /// A size that inference finds, as a number.
    Size(SizeRef),
    /// Uniform random numbers in `[0, 1)`: a function of the seed, of the stream and of `at`.
    Uniform {
        /// Different streams are independent.
        stream: u32,
        /// Another number here gives other random numbers.
        at: Option<NodeId>,
    },
    /// The result of an operation.
    Result(StepId),
    /// Written by assignments. Where it is read before, it is state that starts at zero.
    Assigned,
    /// The gradient of a tensor.
    Gradient(NodeId),
    /// A tensor that an operation makes for itself.
    Local(StepId),
}

/// A size of a spec: of an axis, or of all axes of a row together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SizeRef {
    /// The size of an axis.
    Dim(DimVar),
    /// The product of the sizes of a row.
    Row(RowVar),
}

/// A use of an operator: one set of constraints, one product space.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operator.
    pub operator: Arc<Operator>,
    /// How operands and result meet.
    pub logic: Logic,
    /// The operands, by slot.
    pub operands: Vec<NodeId>,
    /// The result.
    pub result: NodeId,
    /// The tensors the operator makes for itself.
    pub locals: Vec<NodeId>,
    /// The position of a batch slice.
    pub index: Option<NodeId>,
    /// The variables of the spec.
    pub instance: Instance,
    /// Where it was written.
    pub origin: Arc<Origin>,
}

impl Step {
    /// The tensor of a slot.
    pub fn of_slot(&self, slot: Slot) -> Option<NodeId> {
        match slot {
            Slot::Lhs => Some(self.result),
            Slot::Rhs(k) => self.operands.get(usize::from(k).checked_sub(1)?).copied(),
        }
    }
}

/// What is to be done, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Run an assignment.
    Assign(StepId),
    /// Compute a tensor.
    Forward(NodeId),
    /// Compute the gradients of a tensor with respect to all it depends on.
    Backprop(NodeId),
    /// Forget the gradients of a tensor and of all it depends on.
    ZeroGrads(NodeId),
}

/// Where something is written.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The name that the user gives to the result.
    pub label: Option<String>,
    /// The text of the operation; without one, it is made from the names of the operands.
    pub text: Option<String>,
    /// The spec as it was written.
    pub spec: Option<String>,
    /// The place.
    pub place: Option<Place>,
}

impl Site {
    /// A site with a name only.
    pub fn named(label: impl Into<String>) -> Site {
        Site { label: Some(label.into()), ..Site::default() }
    }
}

/// The sizes of one row of a new tensor.
#[derive(Clone, Debug, Default)]
pub enum RowSizes {
    /// Inferred.
    #[default]
    Free,
    /// Exactly these axes.
    Sizes(Vec<DimTerm>),
}

/// What is known of the shape of a new tensor.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// The batch axes.
    pub batch: RowSizes,
    /// The input axes.
    pub input: RowSizes,
    /// The output axes.
    pub output: RowSizes,
}

pub(crate) struct Data {
    pub(crate) nodes: Vec<Node>,
    pub(crate) steps: Vec<Step>,
    pub(crate) solver: Solver,
    pub(crate) actions: Vec<Action>,
    pub(crate) outputs: Vec<NodeId>,
    pub(crate) gradients: HashMap<NodeId, NodeId>,
    pub(crate) projections: HashMap<StepId, Arc<Projections>>,
    /// The steps that give parameters their first values.
    pub(crate) first_values: HashMap<NodeId, StepId>,
    streams: u32,
    /// The first error of an operator that could not return it.
    poison: Option<TensorError>,
}

/// A graph of tensors. Cloning gives another handle to the same graph.
#[derive(Clone)]
pub struct Graph(pub(crate) Rc<RefCell<Data>>);

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph(Rc::new(RefCell::new(Data {
            nodes: Vec::new(),
            steps: Vec::new(),
            solver: Solver::with_standing_markers(),
            actions: Vec::new(),
            outputs: Vec::new(),
            gradients: HashMap::new(),
            projections: HashMap::new(),
            first_values: HashMap::new(),
            streams: 0,
            poison: None,
        })))
    }

    /// Whether two handles are one graph.
    pub fn same(&self, other: &Graph) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A tensor given from outside. Axes that the shape leaves open are inferred.
    ///
    /// # Errors
    /// A shape that cannot be read as one.
    pub fn input(&self, label: &str, shape: Option<&ShapeSpec>, site: Site) -> Result<Tensor, TensorError> {
        let mut data = self.0.borrow_mut();
        let shape = match shape {
            Some(spec) => spec::shape_of(spec, &mut data.solver)?,
            None => data.solver.fresh_shape(),
        };
        let site = Site { label: Some(label.to_string()), ..site };
        Ok(self.tensor(data.node(NodeKind::Input, shape, "input", &site)))
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
        let positions: u64 = shape.in_memory_order().iter().map(|d| d.size()).product();
        if positions != values.len() as u64 {
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
            (None, Some(logic)) => own_logic(logic)?,
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
        let raised = Template { operands: vec![whole.clone()], result: under(Axis::Fixed(0)) };
        let raised = Logic::Spec(Arc::new(raised));
        let raise = |item: &&Tensor| {
            let label = site.label.as_ref().map(|_| item.label());
            self.apply(&sum, Some(raised.clone()), &[item], Site { label, ..site.clone() }).map(|(t, _)| t)
        };
        let raised = items.iter().map(raise).collect::<Result<Vec<_>, _>>()?;
        let labels: Vec<String> = (0..items.len()).map(|i| format!("item{i}")).collect();
        let template = Template {
            operands: labels.iter().map(|label| under(Axis::Label(label.clone()))).collect(),
            // The claim-free unit of a single item would broadcast; a concatenation of one does not.
            result: under(Axis::Concat(labels.clone())),
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
        let origin = Arc::new(Origin {
            operation: site.text.clone().unwrap_or_else(|| "a constraint".to_string()),
            spec: site.spec.clone(),
            place: site.place.clone(),
            ..Origin::default()
        });
        let mut data = self.0.borrow_mut();
        let added = data.solver.add(constraint, &origin);
        added.map_err(|error| data.explained(error.into()))
    }

    /// A fresh dimension of the graph's solver.
    pub fn fresh_dim(&self) -> DimVar {
        self.0.borrow_mut().solver.fresh_dim()
    }

    /// Closes every shape. Tensors may be added afterwards; shapes that are closed stay.
    ///
    /// # Errors
    /// A contradiction, a parameter that nothing determines, or the first error of an operator that could not return it.
    pub fn infer(&self) -> Result<(), TensorError> {
        let mut data = self.0.borrow_mut();
        if let Some(error) = &data.poison {
            return Err(error.clone());
        }
        let roots: Vec<NodeId> = data
            .outputs
            .iter()
            .copied()
            .chain(data.actions.iter().filter_map(|a| match a {
                Action::Assign(_) => None,
                Action::Forward(n) | Action::Backprop(n) | Action::ZeroGrads(n) => Some(*n),
            }))
            .collect();
        for root in roots {
            data.mark_used(root)?;
        }
        let closed = data.solver.close();
        closed.map_err(|error| data.explained(error.into()))
    }

    /// Closes the shape of one tensor and what it depends on, and nothing else.
    ///
    /// # Errors
    /// As for [`Graph::infer`].
    pub fn finish(&self, tensor: &Tensor) -> Result<GroundShape, TensorError> {
        let mut data = self.0.borrow_mut();
        data.mark_used(tensor.id())?;
        let shape = data.nodes[tensor.id().0 as usize].shape.clone();
        let closed = data.solver.finish(&[shape.batch, shape.input, shape.output]);
        closed.map_err(|error| data.explained(error.into()))?;
        data.ground(tensor.id())
    }

    /// The shape of a tensor, as far as it is known to be one.
    pub fn shape(&self, tensor: &Tensor) -> Option<GroundShape> {
        let data = self.0.borrow();
        data.solver.ground_shape(&data.nodes[tensor.id().0 as usize].shape)
    }

    /// The value of a size, if it is known.
    pub fn size_of(&self, size: SizeRef) -> Option<u64> {
        self.0.borrow().size_of(size)
    }

    /// The product space and the index maps of a step. The shapes have to be closed.
    ///
    /// # Errors
    /// A shape that is not closed; loops that contradict each other.
    pub fn projections(&self, step: StepId) -> Result<Arc<Projections>, TensorError> {
        self.0.borrow_mut().projections(step)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.0.borrow().nodes.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of a node.
    pub fn node(&self, id: NodeId) -> Node {
        self.0.borrow().nodes[id.0 as usize].clone()
    }

    /// A copy of every step, in order.
    pub fn steps(&self) -> Vec<Step> {
        self.0.borrow().steps.clone()
    }

    /// What is to be done, in order.
    pub fn actions(&self) -> Vec<Action> {
        self.0.borrow().actions.clone()
    }

    /// The declared results.
    pub fn outputs(&self) -> Vec<Tensor> {
        self.0.borrow().outputs.iter().map(|id| self.tensor(*id)).collect()
    }

    /// The handle of a node.
    pub fn tensor(&self, id: NodeId) -> Tensor {
        Tensor::new(self.clone(), id)
    }

    /// Keeps the first error of an operator that cannot return it, and gives a tensor of an unknown shape.
    pub(crate) fn poisoned(&self, error: TensorError) -> Tensor {
        let id = {
            let mut data = self.0.borrow_mut();
            data.poison.get_or_insert(error);
            let shape = data.solver.fresh_shape();
            data.node(NodeKind::Assigned, shape, "wrong", &Site::default())
        };
        self.tensor(id)
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

/// The logic that an operator has by itself.
fn own_logic(logic: &source::Logic) -> Result<Logic, TensorError> {
    Ok(match logic {
        source::Logic::Pointwise => Logic::Pointwise,
        source::Logic::Compose => Logic::Compose,
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

impl Data {
    fn node(&mut self, kind: NodeKind, shape: Shape, what: &str, site: &Site) -> NodeId {
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

    fn shape_with(&mut self, sizes: &Sizes) -> Shape {
        let mut row = |sizes: &RowSizes| match sizes {
            RowSizes::Free => Row::open(self.solver.fresh_row()),
            RowSizes::Sizes(dims) => Row::closed(dims.iter().copied()),
        };
        Shape { batch: row(&sizes.batch), input: row(&sizes.input), output: row(&sizes.output) }
    }

    /// The shape of a slice: that of the whole, with its marker, without the leftmost batch axis.
    fn sliced_shape(&mut self, whole: NodeId) -> Shape {
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
    fn mark_used(&mut self, id: NodeId) -> Result<(), TensorError> {
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
    fn step(
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
        let instance = self.solver.operation(&logic, &shapes, &result_shape, &origin)?;
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

    pub(crate) fn size_of(&self, size: SizeRef) -> Option<u64> {
        match size {
            SizeRef::Dim(var) => self.solver.ground_dim(var).map(Dim::size),
            SizeRef::Row(row) => {
                let row = self.solver.ground_row(row)?;
                row.flat().iter().map(|d| d.size()).try_fold(1u64, |n, d| n.checked_mul(d))
            }
        }
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
        let sizes: BTreeMap<String, u64> = step
            .instance
            .dims
            .iter()
            .filter_map(|(label, var)| Some((label.clone(), self.solver.ground_dim(*var)?.size())))
            .collect();
        let projections = surject_projection::derive(&step.logic, &operands, &result, &sizes)
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
