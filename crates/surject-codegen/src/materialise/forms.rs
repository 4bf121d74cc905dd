//! The form of a kernel: those that fit are tried in order, and the first one that does is taken.

use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::lower::columns;
use crate::lower::recipe::Recipe;
use crate::lower::row::{self, Kernel};
use crate::materialise::store::Stores;
use crate::materialise::{epilogue, recomputed};
use crate::normalise::periodic;
use crate::normalise::pulled::Pulled;
use crate::schedule::contraction::dots::{self, Block, Dots};
use crate::schedule::contraction::{self, Contraction, Scratch, analyse};
use crate::schedule::scan::{self, Lanes};
use crate::schedule::units::outside;
use crate::schedule::{self, Schedule, halo, split_reduction, term_cache, unroll_jam};
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, TensorType};

impl<'a> Stores<'a> {
    /// The kernels of an expression. That the field itself comes first means that it is better sent to its target.
    pub(crate) fn kernels(&mut self, field: FieldId, pulled: Pulled) -> Result<Outcome, CodegenError> {
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
                // Tasks are cut along the loops outside of the windows that are unrolled and jammed.
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
            Some(scan::Found::Scan(_)) if schedule.outer_vector.is_some() => {}
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
                let halo = halo::rows(&whole, &c, self.target, next, &in_place)
                    .or_else(|| halo::columns(&whole, &c, self.target, next));
                if let Some(halo) = halo {
                    return self.halo(field, halo);
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
        let term_cache = term_cache::term_cache(&mut dag, &mut outputs, &schedule);
        if term_cache.is_some() {
            // A row is stored twice, so one task has all of it.
            free = free.minus(schedule.order.last().copied().into_iter().collect());
        } else if let Some(block) = Block::of_rows(&dag, &outputs, &schedule, self.target) {
            return self.blocks(&block, &Pulled { dag, outer, outputs });
        }
        Ok(Outcome::Kernels(vec![row::whole(dag, outputs, schedule, free, term_cache, self.target)?]))
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
    fn halo(&mut self, field: FieldId, halo: halo::Halo) -> Result<Outcome, CodegenError> {
        self.temporary(TensorType::new(halo.dtype, Space::of(&[halo.count.unsigned_abs()])));
        let mut merged = [halo.first, halo.rest].into_iter().map(Pulled::merged);
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
