//! From an assignment to kernels: what is evaluated in place, what is stored on its own first.

use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::build::Builder;
use crate::expression::compose::{box_loops, linearise, sizes};
use crate::expression::dag::Known;
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::finite_marks::FiniteMarks;
use crate::expression::gather::Gathered;
use crate::expression::output::{Output, outputs};
use crate::expression::polyphase::{self, Change, Shape};
use crate::expression::stop::Stop;
use crate::expression::stored_tail::StoredTail;
use crate::kernels::native::Scheduled;
use crate::materialise::sunk_gather::SunkGather;
use crate::normalise::all_sums::{AllSums, Pieces};
use crate::normalise::alternating;
use crate::normalise::pulled::Pulled;
use crate::planned::columns;
use crate::planned::kernel::{Form, Kernel};
use crate::planned::rows;
use crate::schedule::refused::{Fit, Refused};
use crate::schedule::units::{Grain, outside, units};
use crate::schedule::{self, RowSchedule};
use crate::{CodegenError, Target};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{FieldId, FieldKind, Function, TensorType, Var};

/// Makes the kernels of one function's assignments.
pub struct Stores<'a> {
    /// The function.
    pub function: &'a Function,
    /// The machine.
    pub target: &'a Target,
    /// Who makes kernels by the kernel IR, and of what.
    pub scheduled: Option<&'a Scheduled>,
    /// The temporaries: accumulations that are stored on their own, and scratch memory. Their numbers follow those
    /// of the variables.
    pub temporaries: Vec<TensorType>,
    /// Variables that are evaluated where they are read, and their fields.
    pub inlined: HashMap<Var, FieldId>,
    /// Variables that are positions along an axis, which library calls do not load.
    pub positions: HashMap<Var, usize>,
    /// Indices that gathers compute, and their fields.
    pub indices: HashMap<Var, FieldId>,
    /// Gathers that are evaluated where they are read.
    pub gathers: HashMap<Var, Gathered>,
    /// Gathers that compute what they gather.
    pub sunk: HashMap<Var, SunkGather>,
    /// What is known of the tensors that kernels so far write.
    pub(crate) known: Arc<Known>,
}

/// How often a kernel is rebuilt with one loop more before it is given up as it is.
const SPLITS: usize = 24;

impl<'a> Stores<'a> {
    /// Is a variable evaluated where it is read?
    pub fn is_evaluated(&self, var: Var) -> bool {
        self.inlined.contains_key(&var)
            || self.positions.contains_key(&var)
            || self.indices.contains_key(&var)
            || self.sunk.values().any(|sunk| sunk.operand == var)
    }

    /// A new temporary.
    pub fn temporary(&mut self, ty: TensorType) -> Buf {
        self.temporaries.push(ty);
        Buf((self.function.vars.len() + self.temporaries.len() - 1) as u32)
    }

    /// The number of the next temporary.
    pub(crate) fn next(&self) -> Buf {
        Buf((self.function.vars.len() + self.temporaries.len()) as u32)
    }

    /// The kernels that store a field.
    pub fn store(&mut self, to: Buf, field: FieldId) -> Result<Vec<Kernel>, CodegenError> {
        let mut kernels = Vec::new();
        // Fields that are stored on their own come first; each entry waits for those above it.
        let mut work = vec![(to, field)];
        let mut done: HashMap<FieldId, Buf> = HashMap::new();
        while let Some(&(to, field)) = work.last() {
            match self.one(to, field, &done)? {
                Outcome::Kernels(more) => {
                    kernels.extend(more);
                    work.pop();
                    if !work.is_empty() {
                        done.insert(field, to);
                    }
                }
                Outcome::First(inner) => {
                    if work.iter().any(|w| w.1 == inner) {
                        return Err(CodegenError::malformed("an accumulation that needs itself"));
                    }
                    let data = &self.function.fields[inner];
                    let ty = TensorType::new(data.dtype, data.space.clone());
                    let buf = self.temporary(ty);
                    work.push((buf, inner));
                }
            }
        }
        Ok(kernels)
    }

    fn one(
        &mut self,
        to: Buf,
        field: FieldId,
        done: &HashMap<FieldId, Buf>,
    ) -> Result<Outcome, CodegenError> {
        let data = &self.function.fields[field];
        if data.space.is_empty() {
            return Ok(Outcome::Kernels(Vec::new()));
        }
        let mut stored = done.clone();
        stored.remove(&field);
        let mut shape = Shape::default();
        let none = vec![0; SPLITS];
        loop {
            match self.pull(to, field, &stored, &shape, &none) {
                Ok(Some(_)) if shape.instead.is_some() => return self.phases(to, field, &shape, &stored),
                Ok(Some(pulled)) => {
                    pulled.outputs.iter().for_each(|o| self.note_tails(&pulled.dag, o, &pulled.outer));
                    return match self.kernels(field, pulled)? {
                        Outcome::First(inner) if inner == field => self.push(to, field, &stored),
                        outcome => Ok(outcome),
                    };
                }
                Err(Stop::Split(l, inner)) if shape.changes.len() < SPLITS => {
                    shape.changes.push(Change::Split(l, inner));
                }
                Err(Stop::Phase(residues, inner)) if inner != field => {
                    if !shape.refine(&residues, inner) {
                        return Ok(Outcome::First(inner));
                    }
                }
                Err(Stop::Spill(inner)) if inner != field => return Ok(Outcome::First(inner)),
                Ok(None) | Err(Stop::Spill(_) | Stop::Split(..) | Stop::Phase(..)) => {
                    return match shape.instead {
                        Some(inner) => Ok(Outcome::First(inner)),
                        None => self.push(to, field, &stored),
                    };
                }
                Err(Stop::Error(error)) => return Err(error),
            }
        }
    }

    /// The kernels of a field whose positions are taken apart by their remainders.
    fn phases(
        &mut self,
        to: Buf,
        field: FieldId,
        shape: &Shape,
        stored: &HashMap<FieldId, Buf>,
    ) -> Result<Outcome, CodegenError> {
        let instead = shape.instead.unwrap_or(field);
        let mut pulled = Vec::new();
        for remainders in shape.phases() {
            match self.pull(to, field, stored, shape, &remainders) {
                Ok(Some(phase)) => pulled.push(phase),
                Ok(None) => {}
                Err(Stop::Error(error)) => return Err(error),
                Err(_) => return Ok(Outcome::First(instead)),
            }
        }
        let (mut kernels, mut sums) = (Vec::new(), AllSums::new());
        let is_product = |phase: &Pulled| {
            let Pulled { dag, outer, outputs } = phase.clone().merged();
            self.product_of(&dag, &outputs, &outer, field).is_ok()
        };
        let pulled = alternating::paired(pulled, &is_product);
        let pieces: Vec<_> = pulled.iter().map(|phase| self.pieces(phase)).collect();
        pieces.iter().flatten().for_each(|(_, pieces)| pieces.note(&mut sums));
        for (mut phase, pieces) in pulled.into_iter().zip(pieces) {
            kernels.extend(self.fixed(&mut phase, (pieces, &mut sums))?);
            match self.kernels(field, phase.clone())? {
                // A phase has only some of the rows that its target has: it does not run with others.
                Outcome::Kernels(more) => kernels.extend(more.into_iter().map(Kernel::alone)),
                // Nothing is sent to some of the rows alone.
                Outcome::First(inner) if inner == field => kernels.push(self.rows(phase).alone()),
                Outcome::First(inner) => return Ok(Outcome::First(inner)),
            }
        }
        Ok(Outcome::Kernels(kernels))
    }

    /// The kernel of an expression, point by point.
    pub(crate) fn rows(&self, Pulled { dag, outer, outputs }: Pulled) -> Kernel {
        let schedule = schedule::choose(&dag, &outputs, &outer, self.target);
        rows::whole(dag, outputs, schedule, outer.into_iter().collect())
    }

    /// Stores what a phase sums for many of its positions alike, and the sums of pieces that this is made of.
    fn fixed(
        &mut self,
        phase: &mut Pulled,
        (pieces, sums): (Vec<(NodeId, Pieces)>, &mut AllSums),
    ) -> Result<Vec<Kernel>, CodegenError> {
        let overflow = || CodegenError::overflow("an address");
        let mut kernels = Vec::new();
        for (sum, pieces) in pieces {
            let from = match sums.get(&pieces.key).and_then(|sums| sums.memory) {
                Some(from) => from,
                None => {
                    let (first, count) = pieces.sums(sums, self.next()).ok_or_else(overflow)?;
                    let ty = TensorType::new(phase.dag[sum].dtype, Space::of(&[count.unsigned_abs()]));
                    let from = self.temporary(ty);
                    kernels.push(self.down(first));
                    sums.entry(pieces.key.clone()).and_modify(|sums| sums.memory = Some(from));
                    from
                }
            };
            let read = pieces.read(&mut phase.dag, sums, from).ok_or_else(overflow)?;
            for output in &mut phase.outputs {
                output.root = phase.dag.replaced(output.root, sum, read).ok_or_else(overflow)?;
            }
        }
        for number in 0..phase.outputs.len() {
            for node in polyphase::fixed(&phase.dag, phase.outputs[number].root, &phase.outer) {
                let own: Vec<LoopId> = phase.dag[node].deps.loops().collect();
                kernels.push(self.stored_first(phase, node, &own)?.0);
            }
        }
        Ok(kernels)
    }

    /// What a phase sums for many of its positions alike, and can make of sums of pieces.
    fn pieces(&self, Pulled { dag, outer, outputs }: &Pulled) -> Vec<(NodeId, Pieces)> {
        let fixed: Vec<NodeId> = outputs.iter().flat_map(|o| polyphase::fixed(dag, o.root, outer)).collect();
        let sums = dag.reachable(&fixed).into_iter();
        sums.filter_map(|sum| Some((sum, Pieces::find(dag, sum, self.target)?))).collect()
    }

    /// The kernel of a reduction down columns.
    fn down(&self, pulled: Pulled) -> Kernel {
        let columns = match &pulled.outputs[..] {
            [output] => columns::kernel(&pulled.dag, output, &pulled.outer, self.target),
            _ => None,
        };
        columns.unwrap_or_else(|| self.rows(pulled))
    }

    /// Stores a value of an expression first, over these loops: its kernel, and the load that the expression has in its
    /// place.
    pub(crate) fn stored_first(
        &mut self,
        pulled: &mut Pulled,
        node: NodeId,
        own: &[LoopId],
    ) -> Result<(Kernel, NodeId), CodegenError> {
        let sizes: Vec<i64> = own.iter().map(|&l| pulled.dag.extent(l)).collect();
        self.stored_first_in(pulled, node, own, &sizes)
    }

    /// The same, in memory for more elements along each loop than there are.
    pub(crate) fn stored_first_in(
        &mut self,
        pulled: &mut Pulled,
        node: NodeId,
        own: &[LoopId],
        sizes: &[i64],
    ) -> Result<(Kernel, NodeId), CodegenError> {
        let (output, load) = self.memory_of(pulled, node, own, sizes)?;
        let part = Pulled { dag: pulled.dag.clone(), outer: own.to_vec(), outputs: vec![output] };
        Ok((self.rows_alone(&part), load))
    }

    /// Memory for a value of an expression: the output that goes there, and the load that the expression has in its place.
    pub(crate) fn memory_of(
        &mut self,
        pulled: &mut Pulled,
        node: NodeId,
        own: &[LoopId],
        sizes: &[i64],
    ) -> Result<(Output, NodeId), CodegenError> {
        let dag = &mut pulled.dag;
        let dtype = dag[node].dtype;
        let position: Vec<Lin> = own.iter().map(|&l| Lin::var(l)).collect();
        let address = linearise(sizes, &position)?;
        let count: i64 = sizes.iter().product();
        let buf = self.temporary(TensorType::new(dtype, Space::of(&[count.unsigned_abs()])));
        let stored = Output { to: buf, address: address.clone(), root: node, join: None };
        self.note_tails(dag, &stored, own);
        dag.known.clone_from(&self.known);
        let load = dag.add(Node::Load { buf, address, guards: Vec::new() }, dtype);
        for output in &mut pulled.outputs {
            output.root =
                dag.replaced(output.root, node, load).ok_or_else(|| CodegenError::overflow("an address"))?;
        }
        Ok((stored, load))
    }

    /// Forgets which tensors have marks that say where they are finite: those.
    pub(crate) fn without_marks(&mut self) -> HashMap<Buf, FiniteMarks> {
        match self.known.finite.is_empty() {
            true => HashMap::new(),
            false => std::mem::take(&mut Arc::make_mut(&mut self.known).finite),
        }
    }

    /// The tensors that have marks.
    pub(crate) fn set_marks(&mut self, finite: HashMap<Buf, FiniteMarks>) {
        if !finite.is_empty() || !self.known.finite.is_empty() {
            Arc::make_mut(&mut self.known).finite = finite;
        }
    }

    /// Says which tensors a loop around what follows leaves as they are: those that one around it left.
    pub(crate) fn set_invariant(&mut self, tensors: HashSet<Buf>) -> HashSet<Buf> {
        std::mem::replace(&mut Arc::make_mut(&mut self.known).invariant, tensors)
    }

    /// Keeps what is known of a tensor that an output fills over these loops.
    fn note_tails(&mut self, dag: &Dag, output: &Output, outer: &[LoopId]) {
        let found = StoredTail::of(dag, output, outer);
        if !found.is_empty() {
            Arc::make_mut(&mut self.known).tails.insert(output.to, found);
        }
    }

    /// The expression of a field over the loops of its space, or those positions that have some remainders. `None`:
    /// there is no such position.
    fn pull(
        &self,
        to: Buf,
        field: FieldId,
        stored: &HashMap<FieldId, Buf>,
        shape: &Shape,
        remainders: &[i64],
    ) -> Result<Option<Pulled>, Stop> {
        let space = &self.function.fields[field].space;
        let sizes = sizes(space)?;
        let (mut dag, mut outer, mut position) = box_loops(&sizes)?;
        polyphase::apply(shape, remainders, &mut dag, &mut outer, &mut position).ok_or(Stop::Spill(field))?;
        if outer.iter().any(|&l| dag.extent(l) == 0) {
            return Ok(None);
        }
        let address = linearise(&sizes, &position)?;
        let bound = HashMap::new();
        let mut builder = Builder::new(self.function, stored, &bound, dag)
            .inlining(&self.inlined)
            .gathering(&self.gathers)
            .taking_apart(shape);
        let parts = builder.value(field, position)?;
        let outputs = outputs(to, address, parts, None)?;
        let mut dag = builder.dag;
        dag.known.clone_from(&self.known);
        Ok(Some(Pulled { dag, outer, outputs }.merged()))
    }

    /// An accumulation that would be evaluated much more often in place than on its own.
    pub(crate) fn repeated(
        &self,
        dag: &Dag,
        outputs: &[Output],
        schedule: &RowSchedule,
        top: FieldId,
    ) -> Fit<FieldId> {
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
        let product =
            |loops: &mut dyn Iterator<Item = LoopId>| loops.map(|l| dag.extent(l) as f64).product::<f64>();
        // Every task evaluates again what stands outside of all loops that tasks are cut along, and every unit what stands
        // between them.
        let free = outside(dag, outputs, schedule, self.target, schedule.order.iter().copied().collect());
        let units = units(dag, &schedule.order, schedule, self.target, (free, &Grain::rows(self.target)));
        let along = units.prefix.len() + usize::from(units.pieces > 1);
        let mut work: Vec<(FieldId, f64)> = Vec::new();
        for id in dag.all_reachable(&roots) {
            let Node::Reduce { loops, field, .. } = &dag[id].node else { continue };
            let deps = dag[id].deps;
            let depth = deps.depth(&schedule.order);
            let mut outer = product(&mut schedule.order[..depth].iter().copied());
            if depth < along {
                outer = if depth == 0 { units.tasks } else { units.total } as f64;
            }
            let over: LoopSet = schedule.order.iter().copied().collect();
            let others =
                (0..dag.extents.len()).map(|l| LoopId(l as u8)).filter(|&l| deps.minus(over).contains(l));
            let points = outer * product(&mut others.into_iter()) * product(&mut loops.iter().copied());
            match work.iter_mut().find(|w| w.0 == *field) {
                Some(entry) => entry.1 += points,
                None => work.push((*field, points)),
            }
        }
        let worst = work.into_iter().find(|&(field, points)| {
            let data = &self.function.fields[field];
            let FieldKind::Acc { of, .. } = &data.kind else { return false };
            let size = |f: FieldId| self.function.fields[f].space.points().unwrap_or(u64::MAX) as f64;
            let parts = if data.dtype.is_complex() { 2.0 } else { 1.0 };
            let alone = parts * (size(*of) + size(field));
            points > 2.0 * alone + 4096.0 && (field != top || points > 8.0 * alone)
        });
        worst.map(|w| w.0).ok_or(Refused("no accumulation is evaluated much more often than on its own"))
    }
}

pub(crate) enum Outcome {
    /// The kernels.
    Kernels(Vec<Kernel>),
    /// This field must be stored first.
    First(FieldId),
}

impl Outcome {
    /// Kernels that have no form yet are of this one.
    pub(crate) fn of(mut self, form: &Form) -> Outcome {
        if let Outcome::Kernels(kernels) = &mut self {
            kernels.iter_mut().filter(|k| k.form.name.is_empty()).for_each(|k| k.form = form.clone());
        }
        self
    }

    /// The same after other kernels.
    pub(crate) fn after(self, mut first: Vec<Kernel>) -> Outcome {
        match self {
            Outcome::Kernels(kernels) => {
                first.extend(kernels);
                Outcome::Kernels(first)
            }
            first => first,
        }
    }
}
