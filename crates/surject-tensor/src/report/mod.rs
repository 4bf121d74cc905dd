//! What inference found, and why: shapes before and after closing, the constraints of every operation with their
//! origins, product spaces, index maps, and what the maps say about each assignment.
//!
//! ```
//! use surject_notation::ShapeSpec;
//! use surject_tensor::{Graph, Site, report};
//!
//! let graph = Graph::new();
//! let shape = |s: &str| ShapeSpec::parse(s).unwrap();
//! let a = graph.input("a", Some(&shape("5->3")), Site::default())?;
//! let b = graph.input("b", Some(&shape("4->5")), Site::default())?;
//! graph.output(&(&a * &b).named("c"));
//!
//! let report = report(&graph)?;
//! let step = &report.steps[0];
//! assert_eq!(report.tensors[2].shape, "4->3");
//! assert_eq!(step.constraints[0].text, "b.output ⊑ a.input");
//! assert_eq!(step.assignments[0].text, "c : f32[3,4] =:+ over o<3, i<4, k<5 at [o,i]: a[o,k] * b[k,i]");
//! assert_eq!(step.assignments[0].reduces[0].name, "k");
//! # Ok::<(), surject_tensor::TensorError>(())
//! ```
//!
//! [`Report`] prints as text; [`Report::to_json`] has the same facts under stable keys.

mod json;
mod loops;
mod names;
mod print;
mod relations;

use crate::error::TensorError;
use crate::graph::{Graph, NodeId, NodeKind};
use names::Names;
use surject_index::Extent;
use surject_ir::DType;

/// What inference found about a graph.
#[derive(Clone, Debug)]
pub struct Report {
    /// Every tensor, in the order of construction.
    pub tensors: Vec<TensorReport>,
    /// Every operation, in the order of construction.
    pub steps: Vec<StepReport>,
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct TensorReport {
    /// Its name in this report: the user's, made unique, or `t1`, `t2`, … where it has none.
    pub name: String,
    /// What it is: `input`, `parameter`, `index`, `number`, `data`, `range`, `size`, `uniform`, `result`, `assigned`,
    /// `gradient`, `local`.
    pub kind: &'static str,
    /// The text that made it, where that is not its name.
    pub text: Option<String>,
    /// Where it was written, `file:line:column`.
    pub place: Option<String>,
    /// The principal shape before closing. `a`, `b`, … are axes and `..r..`, `..s..`, … stretches of axes that are still
    /// open, the same ones everywhere in the report.
    pub before: String,
    /// The shape: `batch|input->output`.
    pub shape: String,
    /// Its axes in memory order: batch, output, input.
    pub axes: Vec<AxisReport>,
    /// What each row of axes follows from, for rows that were not written out.
    pub follows: Vec<Derivation>,
    /// Whether only the first values of parameters need it.
    pub first_value: bool,
}

/// An axis of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisReport {
    /// `batch`, `output` or `input`.
    pub row: &'static str,
    /// The number of positions; none where it is symbolic.
    pub size: Extent,
    /// What the axis means; the claim-free unit has no basis.
    pub basis: Option<&'static str>,
}

/// Something that was inferred, and the constraints it follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// What it is about: `batch`, `input` or `output` of a tensor; a label or `..row..` of a spec.
    pub subject: String,
    /// What was found.
    pub value: String,
    /// The constraints it follows from, nearest first.
    pub from: Vec<String>,
}

/// An operation: one set of constraints, one product space.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The operation as it was written.
    pub operation: String,
    /// Its spec as it was written.
    pub spec: Option<String>,
    /// Where it was written, `file:line:column`.
    pub place: Option<String>,
    /// The name of the operator.
    pub operator: String,
    /// The name of the result.
    pub result: String,
    /// The names of the operands.
    pub operands: Vec<String>,
    /// Whether only the first values of parameters need it.
    pub first_value: bool,
    /// What it says about the shapes.
    pub constraints: Vec<Relation>,
    /// The labels and row variables of its spec.
    pub labels: Vec<Derivation>,
    /// The factors of the product space. A factor of several loops runs them one after the other: the components of a
    /// concatenation.
    pub product_space: Vec<Vec<LoopReport>>,
    /// The index map of each tensor: the result first, then the operands.
    pub maps: Vec<MapReport>,
    /// What it writes going forward.
    pub assignments: Vec<AssignmentReport>,
    /// What the backward pass writes: the maps re-addressed by slot. Empty where no backward pass comes by.
    pub gradients: Vec<AssignmentReport>,
}

/// A constraint of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// `broadcasts`, `equal`, `affine`, `concatenation`, `at least` or `may be empty`.
    pub kind: &'static str,
    /// In the names of the tensors and of the spec: `b.output ⊑ a.input`.
    pub text: String,
    /// The same with what was found: `5 ⊑ 5`.
    pub values: String,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReport {
    /// The label of the spec, or a letter for the kind of its axis.
    pub name: String,
    /// It runs from 0 to below this.
    pub size: Extent,
}

/// The index map of a tensor of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapReport {
    /// The slot: `lhs`, `rhs1`, ….
    pub slot: String,
    /// The tensor.
    pub tensor: String,
    /// The index of each axis in memory order: `i`, `2*oh+kh-1`, `0`, `a^b`.
    pub axes: Vec<String>,
}

/// An assignment over the product space of its operation.
#[derive(Clone, Debug)]
pub struct AssignmentReport {
    /// As the seeds write it: `c : f32[4,6] =:+ over i<4, j<5, k<6 at [i,k]: a[i,j] * b[j,k]`.
    pub text: String,
    /// The tensor that is written.
    pub target: String,
    /// The slot whose index map addresses it.
    pub slot: String,
    /// How values that meet in one position become one: `+`, `@^`, …; empty: the value stays as it is written.
    pub accumulator: &'static str,
    /// Whether it starts from the neutral element.
    pub reset: bool,
    /// The loops that its target does not mention.
    pub reduces: Vec<LoopReport>,
    /// Whether every position of the target is written: `yes`, `no`, `unknown`.
    pub surjective: &'static str,
    /// Whether each position is written at most once.
    pub injective: &'static str,
    /// Whether the target has to be cleared before.
    pub cleared: bool,
    /// Whether values are accumulated; otherwise it is a plain write.
    pub accumulates: bool,
    /// What follows from the two, in words.
    pub why: String,
    /// Operands that are read beyond their edges.
    pub margins: Vec<String>,
}

/// Infers a graph and says what was found. The shapes before closing are those of the moment of the call.
///
/// # Errors
/// As for [`Graph::infer`]; loops that contradict each other.
pub fn report(graph: &Graph) -> Result<Report, TensorError> {
    report_as(graph, DType::F32)
}

/// [`report`] with the element type that the assignments show.
///
/// # Errors
/// As there.
pub fn report_as(graph: &Graph, dtype: DType) -> Result<Report, TensorError> {
    let (before, first) = {
        let data = graph.0.borrow();
        let first = loops::first_values(&data);
        (names::open_shapes(&data, &first.tensors), first)
    };
    graph.infer()?;
    let mut data = graph.0.borrow_mut();
    let names = Names::new(&data);
    let mut tensors = Vec::with_capacity(data.nodes.len());
    for (number, node) in data.nodes.iter().enumerate() {
        let name = names.of_number(number).to_string();
        let text =
            (name != node.label && !matches!(node.kind, NodeKind::Number(_))).then(|| node.label.clone());
        tensors.push(TensorReport {
            name,
            kind: kind(&node.kind),
            text,
            place: node.place.as_ref().map(ToString::to_string),
            before: before[number].clone(),
            shape: names::closed_shape(&data, &node.shape),
            axes: names::axes(&data, &node.shape),
            follows: relations::rows(&data, &node.shape),
            first_value: first.tensors.contains(&NodeId(number as u32)),
        });
    }
    let steps = loops::steps(&mut data, &names, &first, dtype)?;
    Ok(Report { tensors, steps })
}

fn kind(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Input => "input",
        NodeKind::Parameter { .. } => "parameter",
        NodeKind::Index { .. } => "index",
        NodeKind::Number(_) => "number",
        NodeKind::Data(_) => "data",
        NodeKind::Range => "range",
        NodeKind::Size(_) => "size",
        NodeKind::Uniform { .. } => "uniform",
        NodeKind::Result(_) => "result",
        NodeKind::Assigned => "assigned",
        NodeKind::Gradient(_) => "gradient",
        NodeKind::Local(_) => "local",
    }
}
