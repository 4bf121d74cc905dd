//! The expression graph: tensors, the operations between them, and what is to be done with them.
//!
//! Every tensor is a [`Node`] with a shape in terms of the graph's solver; every use of an operator is a [`Step`], which
//! is one set of shape constraints and, once the shapes are known, one product space with one index map for each
//! tensor. A gradient is a node as well, of the shape of the tensor it belongs to.
//!
//! Building never evaluates: [`Graph::infer`] closes the shapes, [`crate::lower()`] makes a program of assignments.

mod build;
mod data;

pub(crate) use build::composition;

use crate::error::TensorError;
use crate::operator::Operator;
use crate::tensor::Tensor;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use surject_ir::DType;
use surject_notation::source::Slot;
use surject_projection::Projections;
use surject_shape::{
    DimTerm, DimVar, GroundShape, Instance, Logic, Named, Origin, Place, RowVar, Shape, Solver,
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
    /// The result is a slice that an assignment writes: what is written there is put back into the operand.
    pub written_through: bool,
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

/// Two sizes that a user said are equal, one of them a product.
pub(crate) struct SaidEqual {
    pub(crate) origin: Arc<Origin>,
    pub(crate) sides: [Side; 2],
}

/// One of them: how errors speak of it, and the size or the number that it is.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) size: Result<SizeRef, u64>,
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
    /// Dimensions that stand for products of two others.
    pub(crate) products: HashMap<DimVar, [DimTerm; 2]>,
    /// What errors about sizes look up.
    pub(crate) said_equal: Vec<SaidEqual>,
    /// The symbolic sizes of the program and what is known of them.
    pub(crate) declared: crate::declared::Declared,
    /// The element type that the conversion of random words counts for.
    pub(crate) element: DType,
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
            products: HashMap::new(),
            said_equal: Vec::new(),
            declared: crate::declared::Declared::default(),
            element: DType::F32,
            streams: 0,
            poison: None,
        })))
    }

    /// Says for which element type the graph is made, before anything is added to it; `f32` where nothing is said. How
    /// many numbers a word of random bits gives depends on it.
    pub fn set_element(&self, dtype: DType) {
        self.0.borrow_mut().element = dtype;
    }

    /// Whether two handles are one graph.
    pub fn same(&self, other: &Graph) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A fresh dimension of the graph's solver.
    pub fn fresh_dim(&self) -> DimVar {
        self.0.borrow_mut().solver.fresh_dim()
    }

    /// A dimension stands for the product of two others.
    pub(crate) fn note_product(&self, var: DimVar, factors: [DimTerm; 2]) {
        self.0.borrow_mut().products.insert(var, factors);
    }

    /// Whether a size is a product: of the axes of a row, or of two sizes.
    pub(crate) fn is_product(&self, size: SizeRef) -> bool {
        match size {
            SizeRef::Row(_) => true,
            SizeRef::Dim(var) => self.0.borrow().products.contains_key(&var),
        }
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
        closed.map_err(|error| data.refuted(error))
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
        closed.map_err(|error| data.refuted(error))?;
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
}
