//! From an assignment to kernels: what is evaluated in place, what is stored on its own first.

use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::build::{Builder, Stop, box_loops, linearise, sizes};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::gather::Gathered;
use crate::expression::output::{Output, outputs};
use crate::expression::polyphase::{self, Change, Shape};
use crate::lower::columns;
use crate::lower::recipe::Recipe;
use crate::lower::row::{self, Kernel};
use crate::materialise::sunk_gather::Drawn;
use crate::materialise::{epilogue, recomputed};
use crate::normalise::all_sums::{AllSums, Pieces};
use crate::normalise::pulled::Pulled;
use crate::normalise::{alternating, periodic};
use crate::schedule::contraction::dots::{self, Block, Dots};
use crate::schedule::contraction::{self, Contraction, Scratch, analyse};
use crate::schedule::scan::{self, Lanes};
use crate::schedule::units::{Grain, outside, units};
use crate::schedule::{self, Schedule, halo, split_reduction, term_cache, unroll_jam};
use crate::{CodegenError, Target};
use std::collections::HashMap;
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Function, TensorType, Var};

/// Makes the kernels of one function's assignments.
pub struct Stores<'a> {
    /// The function.
    pub function: &'a Function,
    /// The machine.
    pub target: &'a Target,
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
    pub drawn: HashMap<Var, Drawn>,
}

/// How often a kernel is rebuilt with one loop more before it is given up as it is.
const SPLITS: usize = 24;

impl<'a> Stores<'a> {
    /// Is a variable evaluated where it is read?
    pub fn is_evaluated(&self, var: Var) -> bool {
        self.inlined.contains_key(&var)
            || self.positions.contains_key(&var)
            || self.indices.contains_key(&var)
            || self.drawn.values().any(|drawn| drawn.operand == var)
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
        let has_tiles = |phase: &Pulled| {
            let Pulled { dag, outer, outputs } = phase.clone().merged();
            !matches!(self.contraction(&dag, &outputs, &outer, field), Choice::None)
        };
        let pulled = alternating::paired(pulled, &has_tiles);
        let pieces: Vec<_> = pulled.iter().map(|phase| self.pieces(phase)).collect();
        pieces.iter().flatten().for_each(|(_, pieces)| pieces.note(&mut sums));
        for (mut phase, pieces) in pulled.into_iter().zip(pieces) {
            kernels.extend(self.fixed(&mut phase, (pieces, &mut sums))?);
            match self.kernels(field, phase.clone())? {
                // A phase has only some of the rows that its target has: it does not run with others.
                Outcome::Kernels(more) => kernels.extend(more.into_iter().map(Kernel::alone)),
                // Nothing is sent to some of the rows alone.
                Outcome::First(inner) if inner == field => kernels.push(self.rows(phase)?.alone()),
                Outcome::First(inner) => return Ok(Outcome::First(inner)),
            }
        }
        Ok(Outcome::Kernels(kernels))
    }

    /// The kernel of an expression by the row emitter.
    fn rows(&self, Pulled { dag, outer, outputs }: Pulled) -> Result<Kernel, CodegenError> {
        let schedule = schedule::choose(&dag, &outputs, &outer, self.target);
        row::whole(dag, outputs, schedule, outer.into_iter().collect(), None, self.target)
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
                    kernels.push(self.down(first)?);
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
                kernels.push(self.apart(phase, node, &own)?.0);
            }
        }
        Ok(kernels)
    }

    /// What a phase sums for many of its positions alike, and can make of sums of pieces.
    fn pieces(&self, Pulled { dag, outer, outputs }: &Pulled) -> Vec<(NodeId, Pieces)> {
        let fixed: Vec<NodeId> = outputs.iter().flat_map(|o| polyphase::fixed(dag, o.root, outer)).collect();
        let sums = dag.reachable(&fixed, false).into_iter();
        sums.filter_map(|sum| Some((sum, Pieces::find(dag, sum, self.target)?))).collect()
    }

    /// The kernel of a reduction down columns.
    fn down(&self, pulled: Pulled) -> Result<Kernel, CodegenError> {
        let columns = match &pulled.outputs[..] {
            [output] => columns::kernel(&pulled.dag, output, &pulled.outer, self.target)?,
            _ => None,
        };
        columns.map_or_else(|| self.rows(pulled), Ok)
    }

    /// Stores a value of an expression first, over these loops: its kernel, and the load that the expression has in its
    /// place.
    fn apart(
        &mut self,
        pulled: &mut Pulled,
        node: NodeId,
        own: &[LoopId],
    ) -> Result<(Kernel, NodeId), CodegenError> {
        let sizes: Vec<i64> = own.iter().map(|&l| pulled.dag.extent(l)).collect();
        self.apart_in(pulled, node, own, &sizes)
    }

    /// The same, in memory for more elements along each loop than there are.
    fn apart_in(
        &mut self,
        pulled: &mut Pulled,
        node: NodeId,
        own: &[LoopId],
        sizes: &[i64],
    ) -> Result<(Kernel, NodeId), CodegenError> {
        let (output, load) = self.memory_of(pulled, node, own, sizes)?;
        let (dag, outputs) = (&pulled.dag, vec![output]);
        let schedule = schedule::choose(dag, &outputs, own, self.target);
        let free = own.iter().copied().collect();
        Ok((row::emit(dag, &outputs, &schedule, self.target, free, None)?, load))
    }

    /// Memory for a value of an expression: the output that goes there, and the load that the expression has in its place.
    fn memory_of(
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
        let load = dag.add(Node::Load { buf, address, guards: Vec::new() }, dtype);
        for output in &mut pulled.outputs {
            output.root =
                dag.replaced(output.root, node, load).ok_or_else(|| CodegenError::overflow("an address"))?;
        }
        Ok((stored, load))
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
        Ok(Some(Pulled { dag: builder.dag, outer, outputs }.merged()))
    }

    /// The kernels of an expression. That the field itself comes first means that it is better sent to its target.
    fn kernels(&mut self, field: FieldId, pulled: Pulled) -> Result<Outcome, CodegenError> {
        if let Some((mut rest, repeating)) = periodic::find(&pulled, self.target) {
            let mut kernels = Vec::new();
            for &value in &repeating.values {
                kernels.push(self.apart(&mut rest, value, &[repeating.rows, repeating.row])?.0);
            }
            return Ok(self.kernels(field, rest.merged())?.after(kernels));
        }
        let Pulled { mut dag, outer, mut outputs } = pulled;
        let schedule = schedule::choose(&dag, &outputs, &outer, self.target);
        match unroll_jam::find(&mut dag, &outputs, &schedule, self.target) {
            Some(unroll_jam::Found::Schedule(schedule)) => {
                // Tasks are cut along the loops outside of the windows that lie abreast.
                let order = &schedule.order;
                let outer = order[..order.len().saturating_sub(2)].iter().chain(order.last());
                let free = outer.copied().collect();
                let kernel = row::whole(dag, outputs, *schedule, free, None, self.target)?;
                return Ok(Outcome::Kernels(vec![kernel]));
            }
            Some(unroll_jam::Found::First(node, lane)) => {
                let mut own: Vec<LoopId> = dag[node].deps.loops().collect();
                own.sort_by_key(|&l| l == lane);
                let mut rest = Pulled { dag, outer, outputs };
                let first = self.apart(&mut rest, node, &own)?.0;
                return Ok(self.kernels(field, rest)?.after(vec![first]));
            }
            None => {}
        }
        match scan::find(&mut dag, &outputs, &outer, field) {
            // All sums of a short row are written out, and share their terms.
            Some(scan::Found::Scan(_)) if schedule.short.is_some() => {}
            Some(scan::Found::Scan(mut scan)) => {
                let mut rest = Pulled { dag, outer, outputs };
                let mut kernels = Vec::new();
                let lanes = scan.lanes(&rest.dag, &rest.outputs, &rest.outer);
                if lanes == Lanes::None && scan.costly(&rest.dag) {
                    let own: Vec<LoopId> = rest.dag[scan.step].deps.loops().collect();
                    let (first, load) = self.apart(&mut rest, scan.step, &own)?;
                    kernels.push(first);
                    scan.step = load;
                }
                kernels.push(crate::lower::scan::emit(
                    &rest.dag,
                    &rest.outputs,
                    &scan,
                    &schedule,
                    self.target,
                )?);
                return Ok(Outcome::Kernels(kernels));
            }
            Some(scan::Found::First(inner)) => return Ok(Outcome::First(inner)),
            None => {}
        }
        if let Some(inner) = self.repeated(&dag, &outputs, &schedule, field) {
            return Ok(Outcome::First(inner));
        }
        let free: LoopSet = outer.iter().copied().collect();
        match self.contraction(&dag, &outputs, &outer, field) {
            Choice::First(inner) => return Ok(Outcome::First(inner)),
            Choice::Tiles(c, _) if let Some(dots) = c.dots(&dag, &outputs[0], self.target) => {
                let lone = epilogue::find(&dag, &outputs, &outer, &schedule, self.target);
                let mut rest = Pulled { dag, outer, outputs };
                if let Some(sums) = lone {
                    return self.sums_first(field, rest, &sums);
                }
                let block = match dots {
                    Dots::Stored(factor, own) => {
                        let sizes = dots::lines(&rest.dag, &own, factor);
                        let first = self.apart_in(&mut rest, factor, &own, &sizes)?.0;
                        return Ok(self.kernels(field, rest)?.after(vec![first]));
                    }
                    Dots::Ready(block) => block,
                };
                return self.blocks(&block, &rest);
            }
            Choice::Tiles(c, scratch) => {
                if let Some(inner) = c.vector_by_matrix(&dag, self.target) {
                    if inner != field {
                        return Ok(Outcome::First(inner));
                    }
                    if let Some(kernel) = columns::kernel(&dag, &outputs[0], &outer, self.target)? {
                        return Ok(Outcome::Kernels(vec![kernel]));
                    }
                }
                let next = self.next();
                let whole = Pulled { dag, outer, outputs };
                let in_place = |rest: &Pulled| {
                    let Pulled { dag, outer, outputs } = rest.clone().merged();
                    match self.contraction(&dag, &outputs, &outer, field) {
                        Choice::Tiles(c, _) => contraction::reads_rows_in_place(&dag, &c, self.target),
                        _ => false,
                    }
                };
                let framed = halo::rows(&whole, &c, self.target, next, &in_place)
                    .or_else(|| halo::columns(&whole, &c, self.target, next));
                if let Some(framed) = framed {
                    return self.framed(field, framed);
                }
                let Pulled { dag, outer, outputs } = whole;
                let shared = contraction::is_shared_by_columns(&dag, &c, self.target);
                let parts = split_reduction::cut_panels(&dag, &outputs, &outer, self.target, next);
                if let Some(parts) = parts.filter(|_| !shared) {
                    return self.parts(field, parts, &outer);
                }
                return Ok(Outcome::Kernels(self.tiles(&dag, &outputs[0], (&c, &scratch), &schedule)?));
            }
            Choice::None => {}
        }
        if let Some(parts) = split_reduction::cut_rows(&dag, &outputs, &outer, self.next()) {
            return self.parts(field, parts, &outer);
        }
        if let Some(inner) = self.guarded_product(&dag, &outputs) {
            return Ok(Outcome::First(inner));
        }
        let temporaries = Buf(self.function.vars.len() as u32);
        if let Some((node, lane)) = recomputed::find(&dag, &outputs, &schedule, self.target, temporaries) {
            // What is done in lanes lies side by side.
            let mut own: Vec<LoopId> = dag[node].deps.loops().collect();
            let last = lane.or(schedule.order.last().copied());
            own.sort_by_key(|&l| last == Some(l));
            let mut rest = Pulled { dag, outer, outputs };
            let first = self.apart(&mut rest, node, &own)?.0;
            return Ok(self.kernels(field, rest)?.after(vec![first]));
        }
        match columns::find(&dag, &outputs, &outer, &schedule, self.target) {
            Some((_, inner)) if inner != field => return Ok(Outcome::First(inner)),
            Some(_) => {
                let kernel = columns::kernel(&dag, &outputs[0], &outer, self.target)?;
                return Ok(kernel.map_or(Outcome::First(field), |k| Outcome::Kernels(vec![k])));
            }
            None => {}
        }
        if let Some(parts) = split_reduction::cut(&dag, &outputs, &outer, &schedule, self.target, self.next())
        {
            return self.parts(field, parts, &outer);
        }
        if let Some(inner) = split_reduction::several(&dag, &outputs, &outer, &schedule, self.target)
            && inner != field
        {
            return Ok(Outcome::First(inner));
        }
        if let Some(sums) = epilogue::find(&dag, &outputs, &outer, &schedule, self.target) {
            return self.sums_first(field, Pulled { dag, outer, outputs }, &sums);
        }
        let mut free = outside(&dag, &outputs, &schedule, self.target, free);
        let stash = term_cache::stash(&mut dag, &mut outputs, &schedule);
        if stash.is_some() {
            // A row is stored twice, so one task has all of it.
            free = free.minus(schedule.order.last().copied().into_iter().collect());
        } else if let Some(block) = Block::of_rows(&dag, &outputs, &schedule, self.target) {
            return self.blocks(&block, &Pulled { dag, outer, outputs });
        }
        Ok(Outcome::Kernels(vec![row::whole(dag, outputs, schedule, free, stash, self.target)?]))
    }

    /// The kernels of an expression whose reductions are stored first. One that another needs comes after that.
    fn sums_first(
        &mut self,
        field: FieldId,
        mut rest: Pulled,
        sums: &[NodeId],
    ) -> Result<Outcome, CodegenError> {
        let sizes: Vec<i64> = rest.outer.iter().map(|&l| rest.dag.extent(l)).collect();
        let mut first = Pulled { outputs: Vec::new(), ..rest.clone() };
        for &sum in sums {
            first.outputs.push(self.memory_of(&mut rest, sum, &first.outer, &sizes)?.0);
        }
        let first = first.merged();
        let kernels = match &sums {
            [_] => match self.kernels(field, first)? {
                Outcome::Kernels(kernels) => kernels,
                other => return Ok(other),
            },
            _ => vec![self.rows(first)?],
        };
        Ok(self.kernels(field, rest.merged())?.after(kernels))
    }

    /// The kernels of sums in lanes, a block of them at a time.
    fn blocks(&self, block: &Block, whole: &Pulled) -> Result<Outcome, CodegenError> {
        let parts = block.parts(whole).ok_or_else(|| CodegenError::overflow("an address"))?;
        let alone = parts.len() > 1;
        let kernels = parts.into_iter().map(|part| {
            let kernel = self.rows(part)?;
            // It has only some of the rows that its target has.
            Ok(if alone { kernel.alone() } else { kernel })
        });
        Ok(Outcome::Kernels(kernels.collect::<Result<_, CodegenError>>()?))
    }

    /// The kernels of a contraction whose rows are read from a tensor with a frame.
    fn framed(&mut self, field: FieldId, framed: halo::Framed) -> Result<Outcome, CodegenError> {
        self.temporary(TensorType::new(framed.dtype, Space::of(&[framed.count.unsigned_abs()])));
        let mut merged = [framed.first, framed.rest].into_iter().map(Pulled::merged);
        let mut kernels = Vec::new();
        if let Some(first) = merged.next() {
            kernels.push(self.rows(first)?);
        }
        match merged.next() {
            Some(rest) => Ok(self.kernels(field, rest)?.after(kernels)),
            None => Ok(Outcome::Kernels(kernels)),
        }
    }

    /// The kernels of a contraction, with their scratch memory.
    pub(crate) fn tiles(
        &mut self,
        dag: &Dag,
        output: &Output,
        (c, scratch): (&Contraction, &Scratch),
        schedule: &Schedule,
    ) -> Result<Vec<Kernel>, CodegenError> {
        let bytes = |n: i64| TensorType::new(DType::U8, Space::of(&[n.unsigned_abs()]));
        let buffers = (self.temporary(bytes(scratch.columns)), self.temporary(bytes(scratch.rows)));
        let mut kernels = crate::lower::contraction::emit(dag, output, c, schedule, self.target, buffers)?;
        if let Some(tiles) = kernels.last_mut() {
            tiles.recipe = Some(Arc::new(Recipe::Tiles {
                dag: dag.clone(),
                output: output.clone(),
                contraction: c.clone(),
                schedule: schedule.clone(),
                scratch: buffers,
                whole: false,
            }));
        }
        Ok(kernels)
    }

    /// The kernels of a reduction in parts: the parts, in tiles if they are a contraction, and what is made of them.
    fn parts(
        &mut self,
        field: FieldId,
        parts: split_reduction::Parts,
        outer: &[LoopId],
    ) -> Result<Outcome, CodegenError> {
        self.temporary(TensorType::new(parts.dtype, Space::of(&[parts.count.unsigned_abs()])));
        let (first, output, loops) = parts.first;
        let mut kernels = Vec::new();
        for (dag, output, loops) in [(first, output, loops), (parts.second, parts.output, outer.to_vec())] {
            let outputs = [output];
            let schedule = schedule::choose(&dag, &outputs, &loops, self.target);
            if let Choice::Tiles(c, scratch) = self.contraction(&dag, &outputs, &loops, field) {
                kernels.extend(self.tiles(&dag, &outputs[0], (&c, &scratch), &schedule)?);
                continue;
            }
            let free = loops.iter().copied().collect();
            // Sums of parts of the same tensors may become one kernel.
            kernels.push(row::whole(dag, outputs.to_vec(), schedule, free, None, self.target)?);
        }
        Ok(Outcome::Kernels(kernels))
    }

    /// A sum of products along a map with windows, seen from its target: which terms there are depends on the
    /// position, and a zero in place of a missing one is not the same where the other factor is not finite. Sent
    /// from its own space it has no conditions, and tiles.
    fn guarded_product(&self, dag: &Dag, outputs: &[Output]) -> Option<FieldId> {
        const WORTH: f64 = 100_000.0;
        let [output] = outputs else { return None };
        let windows = |field: FieldId| match &self.function.fields[field].kind {
            FieldKind::Acc { map, .. } => {
                map.components().iter().any(|c| c.coeffs.iter().filter(|&&k| k != 0).count() > 1)
            }
            _ => false,
        };
        dag.reachable(&[output.root], false).into_iter().find_map(|n| match &dag[n].node {
            Node::Reduce { op: AccOp::Add, loops, body, field } => {
                let Node::Guarded { inner, .. } = dag[*body].node else { return None };
                let product = matches!(dag[inner].node, Node::Binary(BinaryOp::Mul, ..));
                let all = dag[n].deps.union(loops.iter().copied().collect());
                (product && dag.points(all) >= WORTH && windows(*field)).then_some(*field)
            }
            _ => None,
        })
    }

    /// The contraction that a kernel is built around, or one that must be stored first to have a kernel of its own.
    pub(crate) fn contraction(
        &self,
        dag: &Dag,
        outputs: &[Output],
        outer: &[LoopId],
        top: FieldId,
    ) -> Choice {
        /// A sum of fewer terms is no work beside a tile.
        const FEW_TERMS: i64 = 8;
        let [output] = outputs else { return Choice::None };
        let all: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
        let direct = dag.reachable(&[output.root], false);
        let mut chosen = Choice::None;
        for id in dag.reachable(&[output.root], true) {
            let Node::Reduce { field, .. } = &dag[id].node else { continue };
            let Some(c) = analyse::analyse(dag, outputs, id, self.target) else { continue };
            let Some(scratch) = contraction::scratch(dag, &c, self.target) else { continue };
            let fits = direct.contains(&id) && dag[id].deps == all;
            match chosen {
                Choice::None if fits => chosen = Choice::Tiles(Box::new(c), scratch),
                _ if *field == top => {}
                _ => return Choice::First(*field),
            }
        }
        // What each tile would sum again is there before.
        let again = |id: &NodeId| match (&chosen, &dag[*id].node) {
            (Choice::Tiles(c, _), Node::Reduce { loops, field, .. }) if c.node != *id && *field != top => {
                let terms = loops.iter().map(|&l| dag.extent(l)).product::<i64>();
                (terms >= FEW_TERMS).then_some(*field)
            }
            _ => None,
        };
        direct.iter().find_map(again).map_or(chosen, Choice::First)
    }

    /// An accumulation that would be evaluated much more often in place than on its own.
    pub(crate) fn repeated(
        &self,
        dag: &Dag,
        outputs: &[Output],
        schedule: &Schedule,
        top: FieldId,
    ) -> Option<FieldId> {
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
        let product =
            |loops: &mut dyn Iterator<Item = LoopId>| loops.map(|l| dag.extent(l) as f64).product::<f64>();
        // Every task evaluates again what stands outside of all loops that tasks are cut along, and every unit what stands
        // between them.
        let free = outside(dag, outputs, schedule, self.target, schedule.order.iter().copied().collect());
        let units = units(dag, &schedule.order, schedule, self.target, (free, &Grain::ROWS));
        let along = units.prefix.len() + usize::from(units.pieces > 1);
        let mut work: Vec<(FieldId, f64)> = Vec::new();
        for id in dag.reachable(&roots, true) {
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
        worst.map(|w| w.0)
    }
}

pub(crate) enum Choice {
    /// There is none.
    None,
    /// This one, with its scratch memory.
    Tiles(Box<Contraction>, Scratch),
    /// This field must be stored first.
    First(FieldId),
}

pub(crate) enum Outcome {
    /// The kernels.
    Kernels(Vec<Kernel>),
    /// This field must be stored first.
    First(FieldId),
}

impl Outcome {
    /// The same after other kernels.
    fn after(self, mut first: Vec<Kernel>) -> Outcome {
        match self {
            Outcome::Kernels(kernels) => {
                first.extend(kernels);
                Outcome::Kernels(first)
            }
            first => first,
        }
    }
}
