//! The form of a kernel: forms are tried in a fixed order, and the first one that fits makes the kernels.

use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::materialise::from_ir::NO_STRATEGIES;
use crate::materialise::store::{Outcome, Stores};
use crate::materialise::{epilogue, recomputed};
use crate::normalise::periodic;
use crate::normalise::pulled::Pulled;
use crate::planned::columns;
use crate::planned::kernel::{Form, Kernel};
use crate::planned::rows;
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::scan;
use crate::schedule::units::outside;
use crate::schedule::{self, RowSchedule, halo, product, split_reduction};
use surject_index::Space;
use surject_ir::{AccOp, BinaryOp, FieldId, FieldKind, TensorType};

/// An expression that kernels are wanted for.
struct Attempt {
    field: FieldId,
    whole: Pulled,
    schedule: RowSchedule,
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
const FORMS: [(&str, Try); 13] = [
    ("kernel of the kernel IR", |stores, attempt| stores.taken(attempt)),
    ("factor stored first", |stores, attempt| stores.factor_first(attempt)),
    ("scan", |stores, attempt| stores.scanned(attempt)),
    ("accumulation stored first", |stores, attempt| Ok(stores.stored_once(attempt)?)),
    ("product", |stores, attempt| stores.multiplied(attempt)),
    ("product in parts", |stores, attempt| stores.product_in_parts(attempt)),
    ("product sent to its target", |stores, attempt| Ok(stores.pushed_product(attempt)?)),
    ("value stored first", |stores, attempt| stores.recomputed_first(attempt)),
    ("rows in lanes", |stores, attempt| stores.in_lanes(attempt)),
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

    /// Windows that grow by a term: kernels of the kernel IR.
    fn scanned(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        self.scheduled.ok_or(NO_STRATEGIES)?;
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

    /// Sums of products: of factors that have a frame, in parts, or as they are.
    fn multiplied(&mut self, attempt: &mut Attempt) -> Result<Outcome, Unmade> {
        let Attempt { field, whole, .. } = &*attempt;
        let Pulled { dag, outer, outputs } = whole;
        let factors = match self.product_of(dag, outputs, outer, *field)? {
            Product::First(inner) => return Ok(Outcome::First(inner)),
            Product::Whole(factors) => factors,
        };
        let expression = self.product_expression(whole)?;
        let next = self.next();
        if let Some(halo) = factors.into_iter().find_map(|f| halo::find(whole, f, self.target, next)) {
            return Ok(self.with_halo(*field, halo)?);
        }
        if let Ok(parts) = split_reduction::cut_panels(dag, outputs, outer, self.target, next)
            && self.may_be_cut(&expression)
        {
            return Ok(self.parts(*field, parts, outer)?);
        }
        Ok(Outcome::Kernels(self.product_in_tiles(whole)??))
    }

    /// A sum over the rows of a product: the parts are products.
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
        Ok(Outcome::Kernels(vec![rows::whole(dag, outputs, schedule.clone(), free).alone()]))
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
        let kernel = columns::kernel(dag, &outputs[0], outer, self.target);
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
        let Pulled { dag, outer, outputs } = std::mem::take(&mut attempt.whole);
        let schedule = attempt.schedule.clone();
        let free = outside(&dag, &outputs, &schedule, self.target, outer.into_iter().collect());
        Ok(Outcome::Kernels(vec![rows::whole(dag, outputs, schedule, free)]))
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
            _ => vec![self.rows(first)],
        };
        Ok(self.kernels(field, rest.merged())?.after(kernels))
    }

    /// The kernels of a product one factor of which is read from a tensor with a frame.
    fn with_halo(&mut self, field: FieldId, halo: halo::Halo) -> Result<Outcome, CodegenError> {
        self.temporary(TensorType::new(halo.dtype, Space::of(&[halo.count.unsigned_abs()])));
        let first = self.rows(halo.first.merged());
        Ok(self.kernels(field, halo.rest.merged())?.after(vec![first]))
    }

    /// The kernels of a reduction in parts: the parts, which may be products, and what is made of them.
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
            let product = self.product_of(dag, outputs, outer, field);
            if let Ok(product) = product.and_then(|product| self.product_of_part(&part, &product)) {
                kernels.extend(product?);
                continue;
            }
            let schedule = schedule::choose(dag, outputs, outer, self.target);
            let free = outer.iter().copied().collect();
            // Sums of parts of the same tensors may become one kernel.
            kernels.push(rows::whole(part.dag, part.outputs, schedule, free));
        }
        Ok(Outcome::Kernels(kernels))
    }

    /// A sum of products along a map with windows, seen from its target: which terms there are depends on the
    /// position, and a zero in place of a missing one is not the same where the other factor is not finite. Sent
    /// from its own space it has no conditions, and is a product.
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

    /// The kernels of a product, if that is what an expression is as a whole.
    pub(crate) fn product_of_part(
        &mut self,
        whole: &Pulled,
        product: &Product,
    ) -> Fit<Result<Vec<Kernel>, CodegenError>> {
        match product {
            Product::Whole(_) => self.product_in_tiles(whole),
            Product::First(_) => Err(Refused("a product that it needs is stored first")),
        }
    }

    /// Is an expression a product, or what is to be stored first that it needs of one?
    pub(crate) fn product_of(
        &self,
        dag: &Dag,
        outputs: &[Output],
        outer: &[LoopId],
        top: FieldId,
    ) -> Fit<Product> {
        /// A sum of fewer terms is no work beside a product.
        const FEW_TERMS: i64 = 8;
        let [output] = outputs else { return Err(Refused("there are several results")) };
        let all: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
        let direct = dag.reachable(&[output.root]);
        let mut chosen: Fit<(NodeId, [NodeId; 2])> = Err(Refused("there is no reduction"));
        for id in dag.all_reachable(&[output.root]) {
            let Node::Reduce { field, .. } = &dag[id].node else { continue };
            match (product::factors(dag, outputs, id, self.target), &chosen) {
                (Ok(factors), Err(_)) if direct.contains(&id) && dag[id].deps == all => {
                    chosen = Ok((id, factors));
                }
                (Ok(_), Err(_)) if *field == top => chosen = Err(Refused("several results have one sum")),
                (Ok(_), _) if *field == top => {}
                (Ok(_), _) => return Ok(Product::First(*field)),
                (Err(refused), Err(_)) => chosen = Err(refused),
                (Err(_), Ok(_)) => {}
            }
        }
        let (sum, factors) = chosen?;
        // What each result would sum again is there before.
        let again = |id: &NodeId| match &dag[*id].node {
            Node::Reduce { loops, field, .. } if *id != sum && *field != top => {
                let terms = loops.iter().map(|&l| dag.extent(l)).product::<i64>();
                (terms >= FEW_TERMS).then_some(*field)
            }
            _ => None,
        };
        Ok(direct.iter().find_map(again).map_or(Product::Whole(factors), Product::First))
    }
}

/// What there is of a product.
pub(crate) enum Product {
    /// The expression is one, of these factors.
    Whole([NodeId; 2]),
    /// This field must be stored first: it is one, or would be summed for each result again.
    First(FieldId),
}
