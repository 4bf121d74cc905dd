//! What a kernel computes: expressions over loops, from an assignment.

use crate::CodegenError;
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::build::Builder;
use crate::expression::complex;
use crate::expression::compose::box_loops;
use crate::expression::compose::{compose, linearise, sizes};
use crate::expression::dag::Parts;
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::{Output, outputs};
use crate::expression::polyphase::{Change, Shape};
use crate::expression::stop::Stop;
use crate::normalise::merge::merge;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use surject_ir::{AccOp, DType, FieldId, FieldKind, Function, TensorType, Var};

mod phases;
mod work;
use phases::Points;
pub use work::Registers;

/// What a tensor of an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tensor {
    /// A variable of the function.
    Var(Var),
    /// What the assignment stores.
    Target,
    /// A temporary of the assignment, by number.
    Temporary(usize),
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tensor::Var(var) => write!(f, "v{}", var.0),
            Tensor::Target => write!(f, "out"),
            Tensor::Temporary(number) => write!(f, "t{number}"),
        }
    }
}

/// What one kernel computes: for every point of some loops, values that are stored.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(crate) dag: Dag,
    /// The loops over the points, as the target has them: the last one runs along its memory.
    pub(crate) loops: Vec<LoopId>,
    pub(crate) outputs: Vec<Output>,
    /// The loops of which no two iterations store the same element.
    pub(crate) free: LoopSet,
    /// The type of the elements of each tensor, complex numbers as two, and how many there are.
    pub(crate) memory: BTreeMap<Buf, (Tensor, DType, i64)>,
}

/// An assignment as expressions, to be computed in order.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The expressions; the last ones store the target.
    pub expressions: Vec<Expression>,
    /// The types of the temporaries.
    pub temporaries: Vec<TensorType>,
}

/// A loop of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopInfo {
    /// Its name: `i0`, `i1`, … over the points, `k0`, `k1`, … in reductions.
    pub name: String,
    /// How often it runs.
    pub extent: i64,
    /// May its iterations run in any order, and at the same time?
    pub parallel: bool,
}

/// How many elements apart neighbours are said to lie where that depends on data.
pub const ANYWHERE: i64 = 1 << 32;

/// How far apart neighbours along a loop lie in a tensor that is loaded or stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stride {
    /// The tensor.
    pub tensor: Tensor,
    /// In elements.
    pub elements: i64,
    /// Is it stored?
    pub stored: bool,
}

/// A load or a store of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessInfo {
    /// The tensor.
    pub tensor: Tensor,
    /// The bytes of an element.
    pub bytes: usize,
    /// Is it stored?
    pub stored: bool,
    /// Do some of its elements not exist?
    pub guarded: bool,
    /// Does a loop of the program around the expression leave the tensor as it is? What is made of it alone is made once.
    pub invariant: bool,
    /// How many elements are accessed, each counted once.
    pub elements: f64,
    /// The loops that it depends on, and how many elements apart their neighbours lie.
    pub strides: Vec<(String, i64)>,
}

impl AccessInfo {
    /// How many elements apart neighbours along a loop lie.
    pub fn stride(&self, name: &str) -> i64 {
        self.strides.iter().find(|s| s.0 == name).map_or(0, |s| s.1)
    }
}

/// A reduction of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// Its operator.
    pub op: AccOp,
    /// The names of its loops, in the order of the program.
    pub loops: Vec<String>,
    /// The names of the loops around it that its value depends on.
    pub outer: Vec<String>,
    /// The scalar operations of all of its values, each computed once.
    pub operations: f64,
    /// Does it sum floats?
    pub sums_floats: bool,
    /// Are its terms products of floats that are summed in their own type?
    pub sums_products: bool,
    /// Does it want the largest or the smallest of floats?
    pub compares_floats: bool,
    /// What the terms have in registers, where its last loop is done in lanes.
    pub registers: Registers,
}

impl Expression {
    /// An expression whose memory is these tensors, of these types.
    pub(crate) fn new(
        dag: Dag,
        loops: Vec<LoopId>,
        outputs: Vec<Output>,
        free: LoopSet,
        tensor: &dyn Fn(Buf) -> Result<(Tensor, TensorType), CodegenError>,
    ) -> Result<Expression, CodegenError> {
        let mut expression = Expression { dag, loops, outputs, free, memory: BTreeMap::new() };
        let mut used: Vec<Buf> = expression.outputs.iter().map(|o| o.to).collect();
        used.extend(expression.nodes().into_iter().filter_map(|n| match expression.dag[n].node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => Some(buf),
            _ => None,
        }));
        let marks = used.iter().filter_map(|buf| expression.dag.known.finite.get(buf)).map(|m| m.memory);
        for buf in used.iter().copied().chain(marks) {
            let (tensor, ty) = tensor(buf)?;
            let parts = if ty.dtype.is_complex() { 2 } else { 1 };
            let elements = sizes(&ty.space)?.iter().try_fold(parts, |n: i64, &size| n.checked_mul(size));
            let elements = elements.ok_or_else(|| CodegenError::overflow("a tensor"))?;
            expression.memory.insert(buf, (tensor, ty.dtype.part(), elements));
        }
        Ok(expression)
    }

    /// Has every tensor the type of what is loaded from it and stored there? Scratch memory is bytes.
    pub(crate) fn is_typed(&self) -> bool {
        let of = |buf: &Buf| self.memory.get(buf).map(|m| m.1);
        let loads = self.nodes().into_iter().all(|n| match &self.dag[n].node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => of(buf) == Some(self.dag[n].dtype),
            _ => true,
        });
        loads && self.outputs.iter().all(|o| of(&o.to) == Some(self.dag[o.root].dtype))
    }

    /// The loops over the points.
    pub fn loops(&self) -> Vec<LoopInfo> {
        self.loops.iter().map(|&l| self.info(l)).collect()
    }

    /// The variable whose elements are stored as they lie, if that is all: the target is the same bytes.
    pub fn copied(&self) -> Option<Var> {
        let [output] = &self.outputs[..] else { return None };
        let Node::Load { buf, address, guards } = &self.dag[output.root].node else { return None };
        let (&(tensor, dtype, elements), stored) = (self.memory.get(buf)?, self.memory.get(&output.to)?);
        let Tensor::Var(var) = tensor else { return None };
        let terms = |lin: &Lin| {
            lin.terms.iter().copied().filter(|t| self.dag.extent(t.0) > 1).collect::<Vec<(LoopId, i64)>>()
        };
        let as_it_lies = terms(address) == terms(&output.address) && address.offset == output.address.offset;
        let is_copy = output.join.is_none() && guards.is_empty() && as_it_lies;
        (is_copy && (dtype, elements) == (stored.1, stored.2)).then_some(var)
    }

    /// The reductions, innermost first.
    pub fn reductions(&self) -> Vec<Reduction> {
        let name = |&l: &LoopId| self.name(l);
        let found = self.nodes().into_iter().filter_map(|n| match &self.dag[n].node {
            Node::Reduce { op, loops, body, .. } => {
                let outer: Vec<LoopId> = self.dag[n].deps.loops().collect();
                let outer = outer.iter().map(name).collect();
                let terms = self.dag.points(self.dag[n].deps.union(loops.iter().copied().collect()));
                let leaf = |n: &NodeId| matches!(self.dag[*n].node, Node::Const(_) | Node::Load { .. });
                let body = self.dag.reachable(&[*body]);
                let bytes = loops.last().map_or(4, |&l| self.width(&body, l));
                let registers = Registers { values: body.len(), bytes };
                let operations = terms * (1 + body.iter().filter(|n| !leaf(n)).count()) as f64;
                let loops = loops.iter().map(name).collect();
                let (sums_products, compares_floats) = (self.sums_products(n), self.compares_floats(n));
                Some(Reduction {
                    op: *op,
                    loops,
                    outer,
                    operations,
                    sums_floats: *op == AccOp::Add && self.dag[n].dtype.is_float(),
                    sums_products,
                    compares_floats,
                    registers,
                })
            }
            _ => None,
        });
        found.collect()
    }

    /// A loop by its name.
    pub fn find(&self, name: &str) -> Option<LoopInfo> {
        self.id(name).map(|l| self.info(l))
    }

    /// How loads and stores run along a loop, those that do not depend on it left out.
    pub fn strides(&self, name: &str) -> Vec<Stride> {
        let Some(l) = self.id(name) else { return Vec::new() };
        let tensor = |buf: Buf| self.memory.get(&buf).map(|m| m.0);
        let loads = self.nodes().into_iter().filter_map(|n| match &self.dag[n].node {
            Node::Load { buf, address, .. } => Some((*buf, address.coeff(l), false)),
            Node::Gather { buf, offset, .. } if self.dag[*offset].deps.contains(l) => {
                Some((*buf, ANYWHERE, false))
            }
            Node::Gather { buf, address, .. } => Some((*buf, address.coeff(l), false)),
            _ => None,
        });
        let stores = self.outputs.iter().map(|o| (o.to, o.address.coeff(l), true));
        let all = loads.collect::<Vec<_>>().into_iter().chain(stores);
        all.filter(|s| s.1 != 0)
            .filter_map(|(buf, elements, stored)| Some(Stride { tensor: tensor(buf)?, elements, stored }))
            .collect()
    }

    /// The loads and stores.
    pub fn accesses(&self) -> Vec<AccessInfo> {
        let loads = self.nodes().into_iter().filter_map(|n| self.load_info(n));
        let store = |output: &Output| {
            Some(AccessInfo { stored: true, ..self.access_info(output.to, &output.address)? })
        };
        loads.chain(self.outputs.iter().filter_map(store)).collect()
    }

    /// That of a load.
    pub(crate) fn load_info(&self, node: NodeId) -> Option<AccessInfo> {
        match &self.dag[node].node {
            Node::Load { buf, address, guards } => {
                Some(AccessInfo { guarded: !guards.is_empty(), ..self.access_info(*buf, address)? })
            }
            Node::Gather { buf, address, offset, guards } => {
                let info = self.access_info(*buf, address)?;
                let (of_offset, deps) = (self.dag[*offset].deps, self.dag[node].deps);
                let mut strides = info.strides.clone();
                strides.retain(|s| !of_offset.loops().any(|l| self.name(l) == s.0));
                strides.extend(of_offset.loops().map(|l| (self.name(l), ANYWHERE)));
                let all = self.memory.get(buf)?.2 as f64;
                let elements = self.dag.points(deps).min(all);
                Some(AccessInfo { guarded: !guards.is_empty(), elements, strides, ..info })
            }
            _ => None,
        }
    }

    fn access_info(&self, buf: Buf, address: &Lin) -> Option<AccessInfo> {
        let &(tensor, dtype, elements) = self.memory.get(&buf)?;
        let strides = address.terms.iter().map(|&(l, by)| (self.name(l), by)).collect();
        let elements = self.dag.points(address.loops()).min(elements as f64);
        let invariant = self.dag.known.invariant.contains(&buf);
        let bytes = dtype.size();
        Some(AccessInfo { tensor, bytes, stored: false, guarded: false, invariant, elements, strides })
    }

    /// The nodes, children before parents.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.root).collect();
        self.dag.all_reachable(&roots)
    }

    /// The loops of reductions, in the order of their names.
    fn reduced(&self) -> Vec<LoopId> {
        let mut all = Vec::new();
        for n in self.nodes() {
            if let Node::Reduce { loops, .. } = &self.dag[n].node {
                loops.iter().for_each(|l| {
                    if !all.contains(l) {
                        all.push(*l)
                    }
                });
            }
        }
        all
    }

    pub(crate) fn name(&self, l: LoopId) -> String {
        match self.loops.iter().position(|&o| o == l) {
            Some(i) => format!("i{i}"),
            None => format!("k{}", self.reduced().iter().position(|&o| o == l).unwrap_or(0)),
        }
    }

    /// The loop of a name; an error says which loops there are.
    pub(crate) fn called(&self, name: &str) -> Result<LoopId, String> {
        self.id(name).ok_or_else(|| {
            let points = (0..self.loops.len()).map(|i| format!("i{i}"));
            let all: Vec<String> = points.chain((0..self.reduced().len()).map(|i| format!("k{i}"))).collect();
            format!("there is no loop `{name}` here; there are {}", all.join(", "))
        })
    }

    pub(crate) fn id(&self, name: &str) -> Option<LoopId> {
        let (all, number) = match name.strip_prefix('i') {
            Some(number) => (self.loops.clone(), number),
            None => (self.reduced(), name.strip_prefix('k')?),
        };
        all.get(number.parse::<usize>().ok()?).copied()
    }

    fn info(&self, l: LoopId) -> LoopInfo {
        let parallel = self.loops.contains(&l) && self.free.contains(l);
        LoopInfo { name: self.name(l), extent: self.dag.extent(l), parallel }
    }
}

/// The expressions of an assignment: those that a field needs stored first, then those that store it.
pub fn assignment(function: &Function, field: FieldId) -> Result<Assignment, CodegenError> {
    let target = Buf(function.vars.len() as u32);
    let data = &function.fields[field];
    let ty = TensorType::new(data.dtype, data.space.clone());
    let mut maker = Maker { function, target, ty, temporaries: Vec::new(), expressions: Vec::new() };
    // Each entry waits for those above it.
    let mut work = vec![(target, field)];
    let mut done: HashMap<FieldId, Buf> = HashMap::new();
    while let Some(&(to, field)) = work.last() {
        match maker.one(to, field, &done) {
            Ok(()) => {
                work.pop();
                done.insert(field, to);
            }
            Err(Stop::Spill(inner)) => {
                if work.iter().any(|w| w.1 == inner) {
                    return Err(CodegenError::malformed("an accumulation that needs itself"));
                }
                let data = &function.fields[inner];
                let to = maker.temporary(TensorType::new(data.dtype, data.space.clone()));
                work.push((to, inner));
            }
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Split(..) | Stop::Phase(..)) => {
                return Err(CodegenError::malformed("an accumulation that has no form"));
            }
        }
    }
    Ok(Assignment { expressions: maker.expressions, temporaries: maker.temporaries })
}

/// How often an expression is rebuilt with one loop more.
const SPLITS: usize = 24;

struct Maker<'a> {
    function: &'a Function,
    /// The memory of the target; temporaries follow.
    target: Buf,
    ty: TensorType,
    temporaries: Vec<TensorType>,
    expressions: Vec<Expression>,
}

impl Maker<'_> {
    fn temporary(&mut self, ty: TensorType) -> Buf {
        self.temporaries.push(ty);
        Buf(self.target.0 + self.temporaries.len() as u32)
    }

    /// The expressions of a field. [`Stop::Spill`]: another one comes first.
    fn one(&mut self, to: Buf, field: FieldId, done: &HashMap<FieldId, Buf>) -> Result<(), Stop> {
        if self.function.fields[field].space.is_empty() {
            return Ok(());
        }
        match self.pulled(to, field, done) {
            // What has no form over the points of the target is sent there from where it comes from.
            Err(Stop::Spill(inner)) if inner == field => self.pushed(to, field, done),
            Err(Stop::Split(..)) => self.pushed(to, field, done),
            result => result,
        }
    }

    /// A field as an expression over the points of its space, or some of them each.
    fn pulled(&mut self, to: Buf, field: FieldId, done: &HashMap<FieldId, Buf>) -> Result<(), Stop> {
        let mut shape = Shape::default();
        loop {
            match self.at_points(to, field, done, (&shape, &[])) {
                Ok(_) if shape.instead.is_some() => return self.phases(to, field, done, &shape),
                Ok(Some(Points { dag, loops, outputs })) => {
                    let free = loops.iter().copied().collect();
                    return self.add(dag, loops, outputs, free);
                }
                Ok(None) => return Err(Stop::Spill(field)),
                Err(Stop::Split(l, inner)) if shape.changes.len() < SPLITS => {
                    shape.changes.push(Change::Split(l, inner));
                }
                // Windows over holes: the points are taken apart by the elements that they meet, or else what the windows
                // sum is stored first, or sent to its target.
                Err(Stop::Phase(residues, inner)) if inner != field => {
                    if !shape.refine(&residues, inner) {
                        return Err(Stop::Spill(inner));
                    }
                }
                Err(stop) => {
                    return Err(match (stop, shape.instead) {
                        (Stop::Error(error), _) => Stop::Error(error),
                        (Stop::Spill(inner), _) if inner != field => Stop::Spill(inner),
                        (_, Some(instead)) => Stop::Spill(instead),
                        (Stop::Phase(_, inner), None) => Stop::Spill(inner),
                        (stop, None) => stop,
                    });
                }
            }
        }
    }

    /// An accumulation in push form: its target is filled with the neutral element, then every point of the product
    /// space is joined to the element it is sent to. Elements of 16 bits are joined in `f32`, and rounded once.
    fn pushed(&mut self, to: Buf, field: FieldId, done: &HashMap<FieldId, Buf>) -> Result<(), Stop> {
        let data = &self.function.fields[field];
        let FieldKind::Acc { op, map, of } = &data.kind else {
            return Err(CodegenError::malformed("only an accumulation can be pushed").into());
        };
        let (op, map, of) = (*op, map.clone(), *of);
        let narrow = matches!(data.dtype, DType::F16 | DType::BF16) && op != AccOp::Set;
        let sums = match narrow {
            true => self.temporary(TensorType::new(DType::F32, data.space.clone())),
            false => to,
        };
        let dtype = if narrow { DType::F32 } else { data.dtype };
        let target_sizes = sizes(map.codomain())?;
        let empty = map.domain().is_empty();
        let first = self.expressions.len();
        if op != AccOp::Set || empty {
            let (mut dag, outer, position) = box_loops(&target_sizes)?;
            let address = linearise(&target_sizes, &position)?;
            let parts = complex::constant(&mut dag, op.neutral(dtype));
            let free = outer.iter().copied().collect();
            self.add(dag, outer, outputs(sums, address, parts, None)?, free)?;
        }
        if !empty {
            let sent = self.sent(sums, (op, &map, of), done, dtype);
            if let Err(stop) = sent {
                self.expressions.truncate(first);
                return Err(stop);
            }
        }
        if narrow {
            let (mut dag, outer, position) = box_loops(&target_sizes)?;
            let address = linearise(&target_sizes, &position)?;
            let load = Node::Load { buf: sums, address: address.clone(), guards: Vec::new() };
            let load = dag.add(load, DType::F32);
            let root = dag.add(Node::Convert(load), data.dtype);
            let free = outer.iter().copied().collect();
            self.add(dag, outer, outputs(to, address, Parts { re: root, im: None }, None)?, free)?;
        }
        Ok(())
    }

    /// Joins every point of a product space to the element it is sent to.
    fn sent(
        &mut self,
        to: Buf,
        (op, map, of): (AccOp, &surject_index::IndexMap, FieldId),
        done: &HashMap<FieldId, Buf>,
        dtype: DType,
    ) -> Result<(), Stop> {
        let (dag, outer, position) = box_loops(&sizes(map.domain())?)?;
        let components = compose(map, &position)?;
        let address = linearise(&sizes(map.codomain())?, &components)?;
        let bound = HashMap::new();
        let mut builder = Builder::new(self.function, done, &bound, dag);
        let parts = match builder.value(of, position) {
            Ok(parts) => parts,
            // The body is stored on its own, where its loops can be split.
            Err(Stop::Split(..)) => return Err(Stop::Spill(of)),
            Err(Stop::Phase(_, inner)) => return Err(Stop::Spill(inner)),
            Err(stop) => return Err(stop),
        };
        let mut dag = builder.dag;
        let parts = match dtype == dag[parts.re].dtype || parts.im.is_some() {
            true => parts,
            false => Parts { re: dag.add(Node::Convert(parts.re), dtype), im: None },
        };
        let injective = op == AccOp::Set || map.injective().is_yes();
        let free = if injective { outer.iter().copied().collect() } else { LoopSet::default() };
        let join = (op != AccOp::Set).then_some(op);
        self.add_as_is(dag, outer, outputs(to, address, parts, join)?, free)
    }

    /// Adds an expression; loops that run through everything as one are one.
    fn add(&mut self, dag: Dag, outer: Vec<LoopId>, outputs: Vec<Output>, free: LoopSet) -> Result<(), Stop> {
        let all = outer.iter().all(|&l| free.contains(l));
        let (mut dag, outputs, mut outer) = merge(dag, outputs, &outer);
        // One point is a loop too: schedules say of it who computes the point.
        if outer.is_empty() {
            outer.extend(dag.add_loop(1));
        }
        let free = if all { outer.iter().copied().collect() } else { free };
        self.add_as_is(dag, outer, outputs, free)
    }

    fn add_as_is(
        &mut self,
        dag: Dag,
        loops: Vec<LoopId>,
        outputs: Vec<Output>,
        free: LoopSet,
    ) -> Result<(), Stop> {
        let expression = Expression::new(dag, loops, outputs, free, &|buf| self.tensor(buf))?;
        self.expressions.push(expression);
        Ok(())
    }

    fn tensor(&self, buf: Buf) -> Result<(Tensor, TensorType), CodegenError> {
        let Some(number) = buf.0.checked_sub(self.target.0) else {
            return Ok((Tensor::Var(Var(buf.0)), self.function.ty(Var(buf.0)).clone()));
        };
        match (number as usize).checked_sub(1) {
            None => Ok((Tensor::Target, self.ty.clone())),
            Some(number) => {
                let ty = self.temporaries.get(number).cloned();
                let ty = ty.ok_or_else(|| CodegenError::malformed("a temporary that nobody made"))?;
                Ok((Tensor::Temporary(number), ty))
            }
        }
    }
}

/// The type that values are joined in: sums and products of 16-bit floats in `f32`, and rounded once.
pub(crate) fn joined_in(dtype: DType, op: AccOp) -> DType {
    let narrow = matches!(dtype, DType::F16 | DType::BF16) && matches!(op, AccOp::Add | AccOp::Mul);
    if narrow { DType::F32 } else { dtype }
}
