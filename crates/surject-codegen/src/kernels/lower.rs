//! From an expression and its schedule to a kernel.
//!
//! A reduction is evaluated in the outermost loop in which everything that it depends on is known. Every other value is
//! placed by the builder of kernels, as far outside as its operands allow. Where a split does not divide a loop, the
//! accesses of its last block have guards.

mod accumulate;
mod chain;
mod contraction;
mod divide;
mod ends;
mod jam;
mod joint;
mod keys;
mod meet;
mod pack;
mod partial;
mod parts;
mod pieces;
mod place;
mod prefetch;
mod reduce;
mod running;
mod tasks;
mod transpose;
mod triangle;
mod units;

use reduce::Reduction;

pub use chain::ChainKernels;

pub(crate) use super::expression::joined_in;
use super::expression::{Expression, Tensor};
use super::schedule::{Accumulation, Axis, AxisKind, Resolved, Schedule, ScheduleError, resolve};
use crate::CodegenError;
use crate::expression::address::{Guard, LoopId, LoopSet};
use crate::expression::compose::joining;
use crate::expression::dag::{Buf, Node, NodeId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{
    Access, Affine, Builder, Kernel, Level, LoopKind, Mem, Op, Place, Temporality, Type, Value,
};

/// A kernel, and the tensors that are its parameters, in order.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: Kernel,
    /// The tensors.
    pub tensors: Vec<Tensor>,
}

/// Why an expression has no kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The schedule does not fit.
    #[error("the schedule does not fit: {0}")]
    Schedule(#[from] ScheduleError),
    /// The expression cannot be computed.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

/// The kernel of an expression, by a schedule.
pub fn lower(name: &str, expression: &Expression, schedule: &Schedule) -> Result<Launch, LowerError> {
    let resolved = resolve(expression, schedule)?;
    let expression = resolved.scan.as_ref().map_or(expression, |scan| &scan.expression);
    let expression = resolved.values.kept.as_ref().map_or(expression, |kept| &kept.expression);
    let mut b = Builder::new(name);
    let (mut memory, mut tensors) = (BTreeMap::new(), Vec::new());
    let loads = expression.nodes().into_iter().filter_map(|n| match expression.dag[n].node {
        Node::Load { buf, .. } | Node::Gather { buf, .. } => Some(buf),
        _ => None,
    });
    let loaded: HashSet<Buf> = loads.chain(resolved.values.marks()).collect();
    for (&buf, &(tensor, dtype, elements)) in &expression.memory {
        let stored = expression.outputs.iter().filter(|o| o.to == buf);
        let joined = stored.clone().any(|o| o.join.is_some());
        let access = match (joined || loaded.contains(&buf), stored.count() > 0) {
            (true, true) => Access::ReadWrite,
            (false, true) => Access::Write,
            (true, false) => Access::Read,
            // Marks of which the schedule makes no use.
            (false, false) => continue,
        };
        memory.insert(buf, b.parameter(tensor.to_string(), dtype, elements, access));
        tensors.push(tensor);
    }
    let is_range = resolved.points.iter().any(|a| a.kind == AxisKind::Ranged);
    let range = is_range.then(|| [b.size(), b.size()]);
    let mut lowering = Lowering::new(expression, &resolved, b, memory);
    lowering.range = range;
    match (&resolved.contraction, &resolved.transpose, &resolved.scan, &resolved.multiply) {
        (Some(contraction), ..) => lowering.contraction(contraction)?,
        (None, Some(transpose), ..) => lowering.transpose(transpose)?,
        (None, None, Some(scan), _) => lowering.running(scan)?,
        (None, None, None, Some(multiply)) => lowering.by_unit(multiply)?,
        (None, None, None, None) => lowering.points(&resolved.points)?,
    }
    Ok(Launch { kernel: lowering.b.finish(), tensors })
}

/// Values that are known in a loop.
#[derive(Default)]
struct Frame {
    /// The loops that have a value from here on.
    binds: LoopSet,
    values: HashMap<NodeId, Value>,
}

struct Lowering<'a> {
    expression: &'a Expression,
    resolved: &'a Resolved,
    b: Builder,
    memory: BTreeMap<Buf, Mem>,
    /// What is known of each loop's value: the sum of the parts that are open.
    places: HashMap<LoopId, Affine>,
    /// The loop whose iterations are lanes here, and how many there are.
    lanes: Option<(LoopId, usize)>,
    /// The number of the thread, inside of the loop over threads.
    thread: Option<Value>,
    /// The number of the warp, inside of the loop over warps.
    warp: Option<Value>,
    /// The number of the task, where tasks share several loops.
    task: Option<Value>,
    /// Between which iterations a kernel of a range runs.
    range: Option<[Value; 2]>,
    frames: Vec<Frame>,
    /// The loops that are open.
    opened: Vec<LoopKind>,
    /// Where the warps of a block join what they reduce.
    shared: HashMap<NodeId, Mem>,
    /// Reductions that were joined there.
    joined: HashSet<NodeId>,
    /// Tensors of which shared memory has some rows.
    windows: HashMap<Buf, chain::Window>,
    /// What was loaded of them, where it stays in registers.
    kept: Option<HashMap<(Place, Type), Value>>,
    /// The panels that are filled here, by the loads that read them.
    panels: HashMap<NodeId, pack::Filled<'a>>,
    /// The reductions that are in memory here, in part or as a whole.
    sums: HashMap<NodeId, accumulate::InMemory<'a>>,
    /// Those to which blocks are joined here: nothing else is computed.
    adding: Option<&'a Accumulation>,
    /// Loops that are cut, and of which all iterations here exist.
    whole: LoopSet,
    /// Loops whose part here is the last one, which has so many iterations.
    rest: HashMap<LoopId, i64>,
    /// How many iterations the innermost loop has inside of a block that may be the last one.
    short: HashMap<LoopId, Value>,
    /// May loops over points be cut where conditions change, and the pieces that are open.
    is_cut: bool,
    pieces: HashMap<LoopId, Range<i64>>,
    /// The loops whose iterations here lie in a tail of results, and a position there.
    tails: Vec<(LoopId, Value)>,
}

type Lowered<T> = Result<T, CodegenError>;

impl<'a> Lowering<'a> {
    fn new(
        expression: &'a Expression,
        resolved: &'a Resolved,
        b: Builder,
        memory: BTreeMap<Buf, Mem>,
    ) -> Lowering<'a> {
        Lowering {
            expression,
            resolved,
            b,
            memory,
            places: HashMap::new(),
            lanes: None,
            thread: None,
            warp: None,
            task: None,
            range: None,
            frames: vec![Frame::default()],
            opened: Vec::new(),
            shared: HashMap::new(),
            joined: HashSet::new(),
            windows: HashMap::new(),
            kept: None,
            panels: HashMap::new(),
            sums: HashMap::new(),
            adding: None,
            whole: LoopSet::default(),
            rest: HashMap::new(),
            short: HashMap::new(),
            is_cut: pieces::is_cut(expression, resolved),
            pieces: HashMap::new(),
            tails: Vec::new(),
        }
    }
}

impl<'a> Lowering<'a> {
    /// The loops over the points, and what is stored in them.
    fn points(&mut self, axes: &[Axis]) -> Lowered<()> {
        let shared = |a: &&Axis| matches!(a.kind, AxisKind::Parallel(Level::Task | Level::Block));
        let outer = axes.iter().take_while(shared).count();
        self.nest(axes, 0, outer)
    }

    /// The loops from one on; `outer` of all are over blocks, inside of which warps and threads stand.
    fn nest(&mut self, axes: &[Axis], i: usize, outer: usize) -> Lowered<()> {
        let (threads, warps) = (self.resolved.threads, self.resolved.warps);
        let agents = usize::from(threads.is_some()) + usize::from(warps.is_some());
        if i == outer && agents > 0 && self.thread.is_none() && self.warp.is_none() {
            self.open_agents();
            self.nest(axes, i, outer)?;
            (0..agents).for_each(|_| _ = self.b.close_for(&[]));
            return Ok(());
        }
        if (i >= outer || agents == 0) && self.adding.is_none() {
            let roots: Vec<NodeId> = self.expression.outputs.iter().map(|o| o.root).collect();
            self.reductions_known(&roots, &axes[i..])?;
        }
        if axes.get(i).is_some_and(|a| a.kind == AxisKind::Jammed) {
            return self.jammed(&axes[i..]);
        }
        let Some(axis) = axes.get(i) else {
            // What all threads or warps compute, one of them stores.
            let spread = |level: Level| axes.iter().any(|a| a.kind == AxisKind::Parallel(level));
            let same = [(self.thread, Level::Thread), (self.warp, Level::Warp)];
            let same = same.into_iter().filter_map(|(agent, level)| agent.filter(|_| !spread(level)));
            let first = |agent: Value| surject_kernel::Guard { expr: agent.into(), bound: 1.into() };
            let first: Vec<surject_kernel::Guard> = same.map(first).collect();
            if let Some(accumulation) = self.adding {
                return self.add_block(accumulation);
            }
            if first.is_empty() {
                return self.store();
            }
            let first = self.b.holds(first, 1);
            self.b.open_if(first);
            self.store()?;
            self.b.close_if(&[]);
            return Ok(());
        };
        let outside = self.outside();
        for part in self.parts_of_points(axis)? {
            let opened = self.open_part(axis, &part, &[])?;
            self.fill_panels(&axis.name)?;
            self.prefetch_chosen(axis)?;
            if self.adding.is_none() {
                self.accumulate(&axis.name, axes, i + 1)?;
            }
            self.inside(axes, i, outer)?;
            self.close_part(opened);
            self.panels.retain(|_, filled| !filled.is_of(&axis.name));
            if self.adding.is_none() {
                self.end_sums(&axis.name);
            }
            self.return_to(&outside);
        }
        Ok(())
    }

    /// Opens the iterations of a loop from one on, before another one, that carries these values: what it carries inside. Lanes
    /// are no loop.
    fn open(
        &mut self,
        axis: &Axis,
        (first, end): (Affine, Affine),
        inits: &[Value],
    ) -> Lowered<Option<Vec<Value>>> {
        let kind = match axis.kind {
            AxisKind::Serial | AxisKind::Jammed => LoopKind::Serial,
            AxisKind::Unrolled => LoopKind::Unrolled,
            AxisKind::Parallel(level @ (Level::Thread | Level::Warp)) => {
                let agent = if level == Level::Thread { self.thread } else { self.warp };
                let agent = agent.ok_or_else(|| CodegenError::malformed("threads without a loop"))?;
                let own = self.part(axis, agent);
                self.bind(axis, own)?;
                return Ok(None);
            }
            AxisKind::Ranged => {
                let [first, end] =
                    self.range.ok_or_else(|| CodegenError::malformed("a range without sizes"))?;
                let (variable, carried) = self.b.open_for(first, end, 1, LoopKind::Serial, inits);
                self.opened.push(LoopKind::Serial);
                self.bind(axis, variable.into())?;
                return Ok(Some(carried));
            }
            AxisKind::Parallel(Level::Task) if self.tasks() > 1 => return self.open_task(axis),
            AxisKind::Parallel(level) => LoopKind::Parallel(level),
            AxisKind::Lanes => {
                self.lanes = Some((axis.of, self.lane_count(axis)));
                self.bind(axis, Affine::lane(1))?;
                return Ok(None);
            }
        };
        let (variable, carried) = self.b.open_for(first, end, 1, kind, inits);
        self.opened.push(kind);
        self.bind(axis, variable.into())?;
        Ok(Some(carried))
    }

    /// How many loops tasks share.
    fn tasks(&self) -> usize {
        self.resolved.points.iter().filter(|a| a.kind == AxisKind::Parallel(Level::Task)).count()
    }

    /// Opens one of several loops that tasks share. They are one loop, which the first of them opens; each has a part of its
    /// number.
    fn open_task(&mut self, axis: &Axis) -> Lowered<Option<Vec<Value>>> {
        let (task, carried) = match self.task {
            Some(task) => (task, None),
            None => {
                let mut shared =
                    self.resolved.points.iter().filter(|a| a.kind == axis.kind).map(|a| a.extent);
                let all = shared.try_fold(1i64, i64::checked_mul);
                let all = all.ok_or_else(|| CodegenError::overflow("tasks"))?;
                let kind = LoopKind::Parallel(Level::Task);
                let (task, carried) = self.b.open_for(0, all, 1, kind, &[]);
                self.opened.push(kind);
                (task, Some(carried))
            }
        };
        self.task = Some(task);
        let own = self.part(axis, task);
        self.bind(axis, own)?;
        Ok(carried)
    }

    /// The iteration of a task, a thread or a warp: its number, or a part of it where several loops over points are shared.
    fn part(&mut self, axis: &Axis, agent: Value) -> Affine {
        let together: Vec<&Axis> = self.resolved.points.iter().filter(|a| a.kind == axis.kind).collect();
        match together.iter().position(|a| a.name == axis.name) {
            Some(at) if together.len() > 1 => {
                let sizes: Vec<i64> = together.iter().map(|a| a.extent).collect();
                self.digits(&agent.into(), &sizes).swap_remove(at)
            }
            _ => agent.into(),
        }
    }

    /// Closes the loop that was opened last.
    fn close(&mut self, yields: &[Value]) -> Vec<Value> {
        self.opened.pop();
        self.b.close_for(yields)
    }

    /// Says where a loop is.
    fn set(&mut self, l: LoopId, at: Affine) {
        self.places.insert(l, at);
        self.frames.push(Frame { binds: std::iter::once(l).collect(), values: HashMap::new() });
    }

    fn bind(&mut self, axis: &Axis, value: Affine) -> Lowered<()> {
        let known = self.places.entry(axis.of).or_default();
        *known = known.plus(&value, axis.factor).ok_or_else(|| CodegenError::overflow("a loop"))?;
        let binds = std::iter::once(axis.of).collect();
        self.frames.push(Frame { binds, values: HashMap::new() });
        Ok(())
    }

    /// Evaluates the reductions that values need and that depend on no loop that is still to be opened.
    fn reductions_known(&mut self, roots: &[NodeId], further: &[Axis]) -> Lowered<()> {
        let dag = &self.expression.dag;
        let later: LoopSet = further.iter().map(|a| a.of).collect();
        let later = later.union(self.in_tail());
        let known = |n: &NodeId| matches!(dag[*n].node, Node::Reduce { .. }) && !dag[*n].deps.meets(later);
        let found: Vec<NodeId> = dag.reachable(roots).into_iter().filter(known).collect();
        for (i, &first) in found.iter().enumerate() {
            if self.cached(first).is_none() {
                match &self.in_one_pass(first, &found[i + 1..])[..] {
                    [] => _ = self.value(first)?,
                    others => self.reduce_together(first, others)?,
                }
            }
        }
        Ok(())
    }

    /// A value that an open loop knows. Loops outside of the one that binds what it depends on do not count: a reduction
    /// may run through a loop that is open further out.
    fn cached(&self, node: NodeId) -> Option<Value> {
        let deps = self.expression.dag[node].deps;
        for frame in self.frames.iter().rev() {
            if let Some(&value) = frame.values.get(&node) {
                return Some(value);
            }
            if frame.binds.meets(deps) {
                return None;
            }
        }
        None
    }

    /// The value of a node here: a vector where it depends on the loop that is lanes.
    fn value(&mut self, node: NodeId) -> Lowered<Value> {
        if let Some(value) = self.cached(node) {
            return Ok(value);
        }
        // What a panel has is not computed again.
        for n in self.expression.dag.reachable_but(&[node], |n| self.panels.contains_key(&n)) {
            if self.cached(n).is_none() {
                let value = self.node(n)?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.values.insert(n, value);
                }
            }
        }
        self.cached(node).ok_or_else(|| CodegenError::malformed("a value without a loop"))
    }

    fn lanes_of(&self, deps: LoopSet) -> usize {
        self.lanes.filter(|l| deps.contains(l.0)).map_or(1, |l| l.1)
    }

    /// An operand, in as many lanes as the others have.
    fn operand(&mut self, node: NodeId, lanes: usize) -> Lowered<Value> {
        let value = self.value(node)?;
        Ok(self.b.broadcast(value, lanes))
    }

    /// The value of a node where the loops are.
    /// It is long because it is flat: one arm a kind of node.
    fn node(&mut self, id: NodeId) -> Lowered<Value> {
        let expression = self.expression;
        let data = &expression.dag[id];
        let (dtype, lanes) = (data.dtype, self.lanes_of(data.deps));
        let ty = Type::vector(dtype, lanes);
        if self.panels.contains_key(&id) {
            return self.load_of_panel(id, ty);
        }
        Ok(match &data.node {
            Node::Load { guards, .. } if self.is_nowhere(guards) => self.b.splat(Scalar::zero(dtype), 1),
            Node::Load { buf, address, guards } => {
                let place = self.place(*buf, address, guards, data.deps)?;
                self.prefetch(*buf, &place, ty);
                self.load(*buf, place, ty)
            }
            Node::Index(lin) => {
                let at = self.affine(lin)?;
                let integer = if dtype.is_int() { dtype } else { DType::I64 };
                let index = self.b.index(at, ty.with(integer));
                self.b.convert(index, dtype)
            }
            Node::Const(value) => self.b.splat(*value, 1),
            Node::Guarded { guards, fill, .. } if self.is_nowhere(guards) => self.b.splat(*fill, 1),
            Node::Guarded { guards, fill, inner }
                if fill.bits() == 0 && self.is_zero_outside(guards, *inner) =>
            {
                self.operand(*inner, lanes)?
            }
            Node::Guarded { guards, fill, inner } => {
                let inner = self.operand(*inner, lanes)?;
                let guards = self.guards(guards)?;
                if guards.is_empty() {
                    return Ok(inner);
                }
                let holds = self.b.holds(guards, lanes);
                let fill = self.b.splat(*fill, lanes);
                self.b.select(holds, inner, fill)
            }
            // A float is its own real part.
            Node::Unary(UnaryOp::Real, x) if dtype.is_float() => self.value(*x)?,
            Node::Unary(op, x) => {
                let x = self.operand(*x, lanes)?;
                self.b.unary(*op, x)
            }
            Node::Binary(BinaryOp::Div, x, y) if self.resolved.values.inverses != LoopSet::default() => {
                match self.shared_quotient(id, [*x, *y], lanes)? {
                    Some(quotient) => quotient,
                    None => {
                        let (x, y) = (self.operand(*x, lanes)?, self.operand(*y, lanes)?);
                        self.b.binary(BinaryOp::Div, x, y)
                    }
                }
            }
            Node::Binary(op, x, y) => {
                let (x, y) = (self.operand(*x, lanes)?, self.operand(*y, lanes)?);
                self.b.binary(*op, x, y)
            }
            Node::Select(c, x, y) => {
                let c = self.operand(*c, lanes)?;
                let (x, y) = (self.operand(*x, lanes)?, self.operand(*y, lanes)?);
                self.b.select(c, x, y)
            }
            Node::Convert(x) => {
                let x = self.operand(*x, lanes)?;
                self.b.convert(x, dtype)
            }
            Node::Bitcast(x) => {
                let x = self.operand(*x, lanes)?;
                self.b.pure(Op::Bitcast(x), ty)
            }
            Node::ReducePrecision(exponent, mantissa, x) => {
                let x = self.operand(*x, lanes)?;
                self.b.pure(Op::ReducePrecision(*exponent, *mantissa, x), ty)
            }
            // No result of the tail depends on it.
            Node::Reduce { op, .. } if data.deps.meets(self.in_tail()) => self.b.splat(op.neutral(dtype), 1),
            Node::Reduce { .. } if self.sums.contains_key(&id) => self.load_of_sums(id)?,
            Node::Reduce { op, body, .. } => self.reduce(id, *op, *body, lanes)?,
            Node::Gather { guards, .. } if self.is_nowhere(guards) => self.b.splat(Scalar::zero(dtype), 1),
            Node::Gather { buf, address, offset, guards } => {
                let offset = Some(self.value(*offset)?);
                let place = Place { offset, ..self.place(*buf, address, guards, data.deps)? };
                self.b.load(place, ty)
            }
            Node::Param(..) => return Err(CodegenError::malformed("a parameter outside of its function")),
        })
    }

    /// Is a value zero where any of these guards fails? A load is, of its own guards.
    fn is_zero_outside(&self, guards: &[Guard], node: NodeId) -> bool {
        match &self.expression.dag[node].node {
            Node::Load { guards: own, .. } => guards.iter().all(|g| own.contains(g)),
            Node::Convert(x) => self.is_zero_outside(guards, *x),
            _ => false,
        }
    }

    /// Elements of a tensor; of a window once, where it stays in registers.
    fn load(&mut self, buf: Buf, place: Place, ty: Type) -> Value {
        let Some(kept) = self.kept.as_mut().filter(|_| self.windows.contains_key(&buf)) else {
            return self.b.load(place, ty);
        };
        let b = &mut self.b;
        *kept.entry((place, ty)).or_insert_with_key(|(place, ty)| b.load(place.clone(), *ty))
    }

    /// Stores the outputs: all values are computed before the first is stored.
    fn store(&mut self) -> Lowered<()> {
        self.store_by(match self.resolved.values.nontemporal {
            true => Temporality::NonTemporal,
            false => Temporality::Normal,
        })
    }

    /// The same, through the caches or past them.
    fn store_by(&mut self, temporality: Temporality) -> Lowered<()> {
        let outputs = &self.expression.outputs;
        let mut stores = Vec::new();
        for output in outputs {
            let points: LoopSet = self.expression.loops.iter().copied().collect();
            let lanes = self.lanes_of(points);
            let place = self.place(output.to, &output.address, &[], points)?;
            let value = self.result(output.root)?;
            let mut value = self.b.broadcast(value, lanes);
            if let Some(op) = output.join {
                let old = self.b.load(place.clone(), self.b.ty(value));
                value = self.b.binary(joining(op)?, old, value);
            }
            stores.push((place, value));
        }
        let store = |(place, value)| Op::Store { place, value, temporality };
        stores.into_iter().for_each(|stored| self.b.effect(store(stored)));
        Ok(())
    }
}
