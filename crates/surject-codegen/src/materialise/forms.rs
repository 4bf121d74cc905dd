//! The form of a kernel: forms are tried in a fixed order, and the first one that fits makes the kernels.

use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::lower::columns;
use crate::lower::kernel::{Form, Kernel};
use crate::lower::recipe::Recipe;
use crate::lower::rows;
use crate::materialise::store::{Outcome, Stores};
use crate::materialise::{epilogue, recomputed};
use crate::normalise::periodic;
use crate::normalise::pulled::Pulled;
use crate::schedule::contraction::dots::{self, Block, Dots};
use crate::schedule::contraction::{self, Contraction, Scratch, analyse};
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::scan;
use crate::schedule::units::outside;
use crate::schedule::{self, Schedule, halo, split_reduction, term_cache, unroll_jam};
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, TensorType};

/// An expression that kernels are wanted for.
struct Attempt {
    field: FieldId,
    whole: Pulled,
    schedule: Schedule,
}

const ROWS_IN_LANES: &str =
    "each lane has a row: sums are made once, and what is computed from them is in lanes too";

/// What a form makes of an expression, which it may take. Refused: at most it added nodes to the graph.
type Try = fn(&mut Stores<'_>, &mut Attempt) -> Result<Outcome, Unmade>;

/// Why a form makes nothing of an expression.
enum Unmade {
    /// It does not fit.
    Refused(Refused),
    /// It fits, and its kernels cannot be made.
    Failed(CodegenError),
}

impl From<Refused> for Unmade {
    fn from(refused: Refused) -> Unmade {
        Unmade::Refused(refused)
    }
}

impl From<CodegenError> for Unmade {
    fn from(error: CodegenError) -> Unmade {
        Unmade::Failed(error)
    }
}

/// The forms and their names, in the order in which they are tried. The last one fits always.
const FORMS: [(&str, Try); 14] = [
    ("kernel of the kernel IR", |stores, attempt| stores.taken(attempt)),
    ("factor stored first", |stores, attempt| stores.factor_first(attempt)),
    ("unroll-and-jam", |stores, attempt| stores.unrolled(attempt)),
    ("scan", |stores, attempt| stores.scanned(attempt)),
    ("accumulation stored first", |stores, attempt| Ok(stores.stored_once(attempt)?)),
    ("contraction", |stores, attempt| stores.contracted(attempt)),
    ("product in parts", |stores, attempt| stores.product_in_parts(attempt)),
    ("product sent to its target", |stores, attempt| Ok(stores.pushed_product(attempt)?)),
    ("rows in lanes", |stores, attempt| stores.in_lanes(attempt)),
    ("value stored first", |stores, attempt| stores.recomputed_first(attempt)),
    ("reduction down columns", |stores, attempt| stores.down_columns(attempt)),
    ("reduction in parts", |stores, attempt| stores.split(attempt)),
    ("epilogue apart", |stores, attempt| stores.epilogue_apart(attempt)),
    ("rows", |stores, attempt| stores.in_rows(attempt)),
];

impl<'a> Stores<'a> {
    /// The kernels of an expression. That the field itself comes first means that it is better sent to its target.
    pub(crate) fn kernels(&mut self, field: FieldId, pulled: Pulled) -> Result<Outcome, CodegenError> {
        if let Some((mut rest, repeating)) = periodic::find(&pulled, self.target) {
            let mut kernels = Vec::new();
            for &value in &repeating.values {
                kernels.push(self.stored_first(&mut rest, value, &[repeating.rows, repeating.row])?.0);
            }
            let form = Form { name: "repeating values stored first", refused: Vec::new() };
            return Ok(self.kernels(field, rest.merged())?.after(kernels).of(&form));
        }
        let schedule = schedule::choose(&pulled.dag, &pulled.outputs, &pulled.outer, self.target);
        let mut attempt = Attempt { field, whole: pulled, schedule };
        let mut form = Form::default();
        for (name, make) in FORMS {
            match make(self, &mut attempt) {
                Ok(outcome) => return Ok(outcome.of(&Form { name, ..form })),
                Err(Unmade::Refused(Refused(reason))) => form.refused.push((name, reason)),
                Err(Unmade::Failed(error)) => return Err(error),
            }
        }
        Err(CodegenError::malformed("an expression that no form takes"))
    }

    /// The kernels of an expression of which one value, over these loops, is stored first.
    fn value_first(
        &mut self,
        attempt: &mut Attempt,
        value: NodeId,
        own: &[LoopId],
    ) -> Result<Outcome, CodegenError> {
        let mut rest = std::mem::take(&mut attempt.whole);
        let first = self.stored_first(&mut rest, value, own)?.0;
        Ok(self.kernels(attempt.field, rest)?.after(vec![first]))
    }

    /// What the machine's strategies take.
    fn taken(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        Ok(Outcome::Kernels(vec![self.kernel_of_ir(&attempt.whole)??]))
    }

    /// What the machine's strategies take once factors are stored.
    fn factor_first(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        Ok(Outcome::Kernels(self.product_of_stored(&attempt.whole)??))
    }

    /// Windows side by side.
    fn unrolled(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Attempt { whole, schedule, .. } = attempt;
        match unroll_jam::find(&mut whole.dag, &whole.outputs, schedule, self.target)? {
            unroll_jam::Found::Schedule(schedule) => {
                // Tasks are cut along the loops outside of the windows that are unrolled and jammed.
                let order = &schedule.order;
                let outer = order[..order.len().saturating_sub(2)].iter().chain(order.last());
                let free = outer.copied().collect();
                let Pulled { dag, outputs, .. } = std::mem::take(whole);
                let kernel = rows::whole(dag, outputs, *schedule, free, None, self.target)?;
                Ok(Outcome::Kernels(vec![kernel]))
            }
            unroll_jam::Found::First(node, lane) => {
                let mut own: Vec<LoopId> = whole.dag[node].deps.loops().collect();
                own.sort_by_key(|&l| l == lane);
                Ok(self.value_first(attempt, node, &own)?)
            }
        }
    }

    /// Windows that grow by a term: kernels of the kernel IR.
    fn scanned(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        self.scheduled.ok_or(Refused("the machine has no strategies"))?;
        let Attempt { field, whole, .. } = attempt;
        match scan::find(&mut whole.dag, &whole.outputs, &whole.outer, *field)? {
            // All sums of a short row are written out, and share their terms.
            scan::Found::Scan if self.has_rows_in_lanes(whole) => Err(Refused(ROWS_IN_LANES).into()),
            scan::Found::Scan => Ok(Outcome::Kernels(self.scan_of_ir(whole)??)),
            scan::Found::First(inner) => Ok(Outcome::First(inner)),
        }
    }

    /// Accumulations that would be made again and again are stored first.
    fn stored_once(&mut self, attempt: &mut Attempt) -> Fit<Outcome> {
        let Attempt { field, whole, schedule } = attempt;
        let repeated = self.repeated(&whole.dag, &whole.outputs, schedule, *field)?;
        need(!self.has_rows_in_lanes(whole), ROWS_IN_LANES)?;
        Ok(Outcome::First(repeated))
    }

    /// Sums of products, in tiles or in lanes.
    fn contracted(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Pulled { dag, outer, outputs } = &attempt.whole;
        match self.contraction(dag, outputs, outer, attempt.field)? {
            Choice::First(inner) => Ok(Outcome::First(inner)),
            Choice::Tiles(c, scratch) => Ok(match c.dots(dag, &outputs[0], self.target) {
                Some(dots) => self.dots(attempt, dots)?,
                None => self.in_tiles(attempt, (&c, &scratch))?,
            }),
        }
    }

    /// Sums of products in lanes.
    fn dots(&mut self, attempt: &Attempt, dots: Dots) -> Result<Outcome, CodegenError> {
        let Attempt { field, whole, schedule } = attempt;
        let sums = epilogue::find(&whole.dag, &whole.outputs, &whole.outer, schedule, self.target);
        if let Ok(sums) = sums
            && !self.has_rows_in_lanes(whole)
        {
            return self.sums_first(*field, whole.clone(), &sums);
        }
        match dots {
            Dots::Stored(factor, own) => {
                let mut rest = whole.clone();
                let sizes = dots::lines(&rest.dag, &own, factor);
                let first = self.stored_first_in(&mut rest, factor, &own, &sizes)?.0;
                Ok(self.kernels(*field, rest)?.after(vec![first]))
            }
            Dots::Ready(block) => self.blocks(&block, whole),
        }
    }

    /// Sums of products in tiles: as a vector times a matrix down its columns, behind a halo, in parts, or as they are.
    fn in_tiles(
        &mut self,
        attempt: &Attempt,
        (c, scratch): (&Contraction, &Scratch),
    ) -> Result<Outcome, CodegenError> {
        let Attempt { field, whole, schedule } = attempt;
        let (field, Pulled { dag, outer, outputs }) = (*field, whole);
        if let Some(inner) = c.vector_by_matrix(dag, self.target) {
            if inner != field {
                return Ok(Outcome::First(inner));
            }
            if let Some(kernel) = columns::kernel(dag, &outputs[0], outer, self.target)? {
                return Ok(Outcome::Kernels(vec![kernel]));
            }
        }
        let next = self.next();
        let in_place = |rest: &Pulled| {
            let Pulled { dag, outer, outputs } = rest.clone().merged();
            match self.contraction(&dag, &outputs, &outer, field) {
                Ok(Choice::Tiles(c, _)) => contraction::reads_rows_in_place(&dag, &c, self.target),
                _ => false,
            }
        };
        let halo = halo::rows(whole, c, self.target, next, &in_place)
            .or_else(|| halo::columns(whole, c, self.target, next));
        if let Some(halo) = halo {
            return self.halo(field, halo);
        }
        let shared = contraction::is_shared_by_columns(dag, c, self.target);
        let parts = split_reduction::cut_panels(dag, outputs, outer, self.target, next);
        // Where a mask ends the sum, a part does not know.
        if let Ok(parts) = parts
            && !shared
            && c.triangle.terms.is_empty()
        {
            return self.parts(field, parts, outer);
        }
        Ok(Outcome::Kernels(self.tiles(whole, (c, scratch), schedule)?))
    }

    /// A sum over the rows of a product: the parts have tiles.
    fn product_in_parts(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Pulled { dag, outer, outputs } = &attempt.whole;
        let parts = split_reduction::cut_rows(dag, outputs, outer, self.next())?;
        Ok(self.parts(attempt.field, parts, outer)?)
    }

    /// A sum of products with windows is sent to its target.
    fn pushed_product(&mut self, attempt: &mut Attempt) -> Fit<Outcome> {
        let product = self.guarded_product(&attempt.whole.dag, &attempt.whole.outputs);
        product.map(Outcome::First).ok_or(Refused("no large sum of products has windows with edges"))
    }

    /// Short rows, each in a lane: a kernel of the kernel IR, once it is decided what runs together. Together with others it
    /// would be written row by row.
    fn in_lanes(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Attempt { whole, schedule, .. } = &*attempt;
        if !self.has_rows_in_lanes(whole) {
            return Err(Refused("the machine has no short rows in lanes").into());
        }
        let Pulled { dag, outer, outputs } = whole.clone();
        let free = outside(&dag, &outputs, schedule, self.target, outer.into_iter().collect());
        let kernel = rows::whole(dag, outputs, schedule.clone(), free, None, self.target)?;
        Ok(Outcome::Kernels(vec![kernel.alone()]))
    }

    /// What would be computed again and again is stored first.
    fn recomputed_first(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Attempt { whole, schedule, .. } = &*attempt;
        let temporaries = Buf(self.function.vars.len() as u32);
        let (node, lane) = recomputed::find(&whole.dag, &whole.outputs, schedule, self.target, temporaries)?;
        // What is done in lanes lies side by side.
        let mut own: Vec<LoopId> = whole.dag[node].deps.loops().collect();
        let last = lane.or(schedule.order.last().copied());
        own.sort_by_key(|&l| last == Some(l));
        Ok(self.value_first(attempt, node, &own)?)
    }

    /// Reductions down long columns, row by row.
    fn down_columns(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Pulled { dag, outer, outputs } = &attempt.whole;
        let (_, inner) = schedule::columns::find(dag, outputs, outer, &attempt.schedule, self.target)?;
        if inner != attempt.field {
            return Ok(Outcome::First(inner));
        }
        let kernel = columns::kernel(dag, &outputs[0], outer, self.target)?;
        let pushed = Outcome::First(attempt.field);
        Ok(kernel.map_or(pushed, |kernel| Outcome::Kernels(vec![kernel])))
    }

    /// Long reductions into few elements, in parts; of several the first one is stored.
    fn split(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Attempt { field, whole: Pulled { dag, outer, outputs }, schedule } = &*attempt;
        let refused = match split_reduction::cut(dag, outputs, outer, schedule, self.target, self.next()) {
            Ok(parts) => return Ok(self.parts(*field, parts, outer)?),
            Err(refused) => refused,
        };
        let inner = split_reduction::several(dag, outputs, outer, schedule, self.target);
        Ok(inner.ok().filter(|inner| inner != field).map(Outcome::First).ok_or(refused)?)
    }

    /// Sums whose epilogue is better done in lanes.
    fn epilogue_apart(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Attempt { field, whole, schedule } = &*attempt;
        let sums = epilogue::find(&whole.dag, &whole.outputs, &whole.outer, schedule, self.target)?;
        Ok(self.sums_first(*field, whole.clone(), &sums)?)
    }

    /// Point by point, in rows.
    fn in_rows(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Pulled { mut dag, outer, mut outputs } = std::mem::take(&mut attempt.whole);
        let schedule = attempt.schedule.clone();
        let free: LoopSet = outer.iter().copied().collect();
        let mut free = outside(&dag, &outputs, &schedule, self.target, free);
        let term_cache = term_cache::term_cache(&mut dag, &mut outputs, &schedule);
        if term_cache.is_some() {
            // A row is stored twice, so one task has all of it.
            free = free.minus(schedule.order.last().copied().into_iter().collect());
        } else if let Some(block) = Block::of_rows(&dag, &outputs, &schedule, self.target) {
            return Ok(self.blocks(&block, &Pulled { dag, outer, outputs })?);
        }
        let kernel = rows::whole(dag, outputs, schedule, free, term_cache, self.target)?;
        Ok(Outcome::Kernels(vec![kernel]))
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

    /// The kernels of a contraction: those of the machine, or the emitter's with their scratch memory.
    pub(crate) fn tiles(
        &mut self,
        whole: &Pulled,
        (c, scratch): (&Contraction, &Scratch),
        schedule: &Schedule,
    ) -> Result<Vec<Kernel>, CodegenError> {
        if let Ok(kernels) = self.product_in_tiles(whole) {
            return kernels;
        }
        let (dag, output) = (&whole.dag, &whole.outputs[0]);
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
        for (dag, output, outer) in [(first, output, loops), (parts.second, parts.output, outer.to_vec())] {
            let part = Pulled { dag, outer, outputs: vec![output] };
            let Pulled { dag, outer, outputs } = &part;
            let schedule = schedule::choose(dag, outputs, outer, self.target);
            if let Ok(Choice::Tiles(c, scratch)) = self.contraction(dag, outputs, outer, field) {
                kernels.extend(self.tiles(&part, (&c, &scratch), &schedule)?);
                continue;
            }
            let free = outer.iter().copied().collect();
            // Sums of parts of the same tensors may become one kernel.
            kernels.push(rows::whole(part.dag, part.outputs, schedule, free, None, self.target)?);
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
        dag.reachable(&[output.root]).into_iter().find_map(|n| match &dag[n].node {
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
    ) -> Fit<Choice> {
        /// A sum of fewer terms is no work beside a tile.
        const FEW_TERMS: i64 = 8;
        let [output] = outputs else { return Err(Refused("there are several results")) };
        let all: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
        let direct = dag.reachable(&[output.root]);
        let mut chosen = Err(Refused("there is no reduction"));
        for id in dag.all_reachable(&[output.root]) {
            let Node::Reduce { field, .. } = &dag[id].node else { continue };
            let looked = analyse::analyse(dag, outputs, id, self.target).and_then(|c| {
                let scratch = contraction::scratch(dag, &c, self.target);
                Ok((c, scratch.ok_or(Refused("packed panels would be out of proportion"))?))
            });
            match (looked, &chosen) {
                (Ok((c, scratch)), Err(_)) if direct.contains(&id) && dag[id].deps == all => {
                    chosen = Ok(Choice::Tiles(Box::new(c), scratch));
                }
                (Ok(_), Err(_)) if *field == top => chosen = Err(Refused("several results have one sum")),
                (Ok(_), _) if *field == top => {}
                (Ok(_), _) => return Ok(Choice::First(*field)),
                (Err(refused), Err(_)) => chosen = Err(refused),
                (Err(_), Ok(_)) => {}
            }
        }
        // What each tile would sum again is there before.
        let again = |id: &NodeId| match (&chosen, &dag[*id].node) {
            (Ok(Choice::Tiles(c, _)), Node::Reduce { loops, field, .. })
                if c.node != *id && *field != top =>
            {
                let terms = loops.iter().map(|&l| dag.extent(l)).product::<i64>();
                (terms >= FEW_TERMS).then_some(*field)
            }
            _ => None,
        };
        direct.iter().find_map(again).map_or(chosen, |inner| Ok(Choice::First(inner)))
    }
}

pub(crate) enum Choice {
    /// This one, with its scratch memory.
    Tiles(Box<Contraction>, Scratch),
    /// This field must be stored first.
    First(FieldId),
}
