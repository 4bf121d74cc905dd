//! Gathers of what is computed: the elements that are asked for are computed where they are gathered, and no others.
//!
//! A stored value of which a gather takes a few rows, and which nothing else reads, is evaluated at the positions of the
//! gather. While its expression is built, a start that an index says is a loop over all the starts there may be. Then
//! what depends on these loops is said at run time: a load is a gather so many elements further on, a condition is a
//! comparison.

use crate::CodegenError;
use crate::expression::address::Access;
use crate::expression::address::{Guard, Lin, LoopId, LoopSet};
use crate::expression::build::Builder;
use crate::expression::compose::{box_loops, linearise, sizes};
use crate::expression::dag::{Dag, Node, NodeId, buf};
use crate::expression::gather::{Gathered, StartAxis, clamped};
use crate::expression::output::Output;
use crate::expression::uses::Uses;
use crate::materialise::store::Stores;
use crate::normalise::merge;
use crate::normalise::pulled::Pulled;
use crate::planned::kernel::Kernel;
use crate::schedule::cuts;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use surject_ir::{BinaryOp, Block, DType, FieldId, FieldKind, Function, LibOp, Scalar, StatementKind, Var};

/// An element of so many that are stored is asked for at most.
const FEW: u64 = 2;

/// A gather of what is computed.
#[derive(Clone, Debug)]
pub struct SunkGather {
    gathered: Gathered,
    /// What is gathered from, and how it is computed.
    pub operand: Var,
    pub field: FieldId,
}

/// The gathers whose operands are computed where they are gathered, by their targets.
pub fn find(
    function: &Function,
    uses: &Uses,
    excluded: &dyn Fn(Var) -> bool,
    inlined: &HashMap<Var, FieldId>,
) -> HashMap<Var, SunkGather> {
    let mut reads: HashMap<Var, usize> = HashMap::new();
    let (mut candidates, mut calls): (Vec<(Var, SunkGather)>, Vec<Var>) = (Vec::new(), Vec::new());
    let mut blocks: Vec<&Block> = vec![&function.body];
    while let Some(block) = blocks.pop() {
        let mut stores: HashMap<Var, FieldId> = HashMap::new();
        let mut all = block.results.clone();
        for statement in &block.statements {
            uses.direct(statement, &mut all);
            match &statement.kind {
                StatementKind::Store { target, field } if !excluded(*target) => {
                    stores.insert(*target, *field);
                }
                StatementKind::Call { op: LibOp::Gather { .. }, targets, args, .. } => {
                    calls.extend(targets);
                    if let (&[target], Some(gathered)) =
                        (&targets[..], Gathered::of(function, &statement.kind))
                        && let Some((&operand, &field)) = args.first().and_then(|v| stores.get_key_value(v))
                    {
                        candidates.push((target, SunkGather { gathered, operand, field }));
                    }
                }
                _ => {}
            }
            blocks.extend(statement.regions().into_iter().map(|r| &r.body));
        }
        all.into_iter().for_each(|var| *reads.entry(var).or_default() += 1);
    }
    let points = |var: Var| function.ty(var).space.points();
    let few = |sunk: &SunkGather, target: Var| match (points(target), points(sunk.operand)) {
        (Some(few), Some(all)) => few.checked_mul(FEW).is_some_and(|few| few <= all),
        _ => false,
    };
    // What is gathered itself is not there before it is.
    let there = |sunk: &SunkGather| {
        function.fields.reachable(&[sunk.field]).into_iter().all(|id| match function.fields[id].kind {
            FieldKind::Tensor(var) => !calls.contains(&var) && !excluded(var),
            _ => true,
        })
    };
    candidates
        .into_iter()
        .filter(|(target, sunk)| {
            reads.get(&sunk.operand) == Some(&1)
                && few(sunk, *target)
                && there(sunk)
                && sunk.pull(function, *target, inlined).is_some()
        })
        .collect()
}

/// A start that an index says.
struct Start {
    /// Its value, and the loop over all that it may be.
    value: NodeId,
    all: LoopId,
}

impl SunkGather {
    /// The expression over the points of the gather; `None` where it cannot be said.
    fn pull(&self, function: &Function, target: Var, inlined: &HashMap<Var, FieldId>) -> Option<Pulled> {
        let ty = function.ty(target);
        let extents = sizes(&ty.space).ok()?;
        let (mut dag, outer, position) = box_loops(&extents).ok()?;
        let address = linearise(&extents, &position).ok()?;
        let ends: Vec<StartAxis> = self.gathered.ends().collect();
        let all: Vec<Option<LoopId>> = ends
            .iter()
            .map(|end| if end.last > 0 { dag.add_loop(end.last + 1).map(Some) } else { Some(None) })
            .collect::<Option<_>>()?;
        let (none, unbound) = (HashMap::new(), HashMap::new());
        let mut builder = Builder::new(function, &none, &unbound, dag).inlining(inlined);
        let access = Access { components: position.clone(), guards: Vec::new() };
        let mut own = self.gathered.known(&position);
        let mut starts = Vec::new();
        for ((index, &StartAxis { axis, last }), all) in
            builder.stored(&self.gathered, &access).ok()?.into_iter().zip(&ends).zip(all)
        {
            let Some(all) = all else { continue };
            own[axis] = own[axis].plus(&Lin::var(all), 1)?;
            starts.push(Start { value: clamped(&mut builder.dag, index, last, DType::I64), all });
        }
        let parts = builder.value(self.field, own).ok()?;
        if parts.im.is_some() {
            return None;
        }
        let mut new = Dag::default();
        new.extents.clone_from(&builder.dag.extents);
        let mut said = Said { from: &builder.dag, dag: new, starts: BTreeMap::new() };
        for start in &starts {
            let value = said.dag.import(&builder.dag, start.value, &|lin| Some(lin.clone()))?;
            said.starts.insert(start.all, value);
        }
        let root = said.root(parts.re)?;
        let outputs = vec![Output { to: buf(target), address, root, join: None }];
        let (dag, outputs, outer) = merge::merge(said.dag, outputs, &outer);
        Some(Pulled { dag, outer, outputs })
    }
}

fn whole(dag: &mut Dag, n: i64) -> NodeId {
    dag.constant(Scalar::from_i128(DType::I64, n.into()))
}

/// Where starts lie, those about which something is known.
type Ranges = BTreeMap<LoopId, Range<i64>>;

/// An expression with starts in place of loops.
struct Said<'a> {
    from: &'a Dag,
    dag: Dag,
    starts: BTreeMap<LoopId, NodeId>,
}

impl Said<'_> {
    fn loops(&self) -> LoopSet {
        self.starts.keys().copied().collect()
    }

    /// The ranges of starts that conditions on a start alone say, and the other conditions; `None` where one is about
    /// more than a start.
    fn sorted(&self, guards: &[Guard]) -> Option<(Ranges, Vec<Guard>)> {
        let (mut starts, mut others) = (Ranges::new(), Vec::new());
        for guard in guards {
            match &guard.expr.terms[..] {
                &[(l, _)] if self.starts.contains_key(&l) => {
                    let part = cuts::holds(guard, l, self.from)?;
                    let range = starts.entry(l).or_insert(0..self.from.extent(l));
                    *range = range.start.max(part.start)..range.end.min(part.end);
                }
                _ if !guard.expr.loops().meets(self.loops()) => others.push(guard.clone()),
                _ => return None,
            }
        }
        Some((starts, others))
    }

    fn root(&mut self, root: NodeId) -> Option<NodeId> {
        let mut ids: HashMap<NodeId, NodeId> = HashMap::new();
        for id in self.from.all_reachable(&[root]) {
            let data = &self.from[id];
            let at = |n: NodeId| ids.get(&n).copied().unwrap_or(n);
            let made = match &data.node {
                Node::Load { buf, address, guards } if data.deps.meets(self.loops()) => {
                    let (ranges, guards) = self.sorted(guards)?;
                    if ranges.values().any(Range::is_empty) {
                        self.dag.constant(Scalar::zero(data.dtype))
                    } else {
                        let (address, offset) = self.further(address, &ranges)?;
                        self.dag.add(Node::Gather { buf: *buf, address, guards, offset }, data.dtype)
                    }
                }
                Node::Index(lin) if data.deps.meets(self.loops()) => {
                    let (rest, further) = self.further(lin, &Ranges::new())?;
                    let rest = self.dag.add(Node::Index(rest), DType::I64);
                    let sum = self.dag.binary(BinaryOp::Add, rest, further);
                    if data.dtype == DType::I64 { sum } else { self.dag.add(Node::Convert(sum), data.dtype) }
                }
                Node::Guarded { guards, fill, inner } => {
                    let (ranges, guards) = self.sorted(guards)?;
                    let mut value = at(*inner);
                    if !guards.is_empty() {
                        let guarded = Node::Guarded { guards, fill: *fill, inner: value };
                        value = self.dag.add(guarded, data.dtype);
                    }
                    for (l, range) in ranges {
                        let holds = self.inside(l, range.start, range.end)?;
                        let fill = self.dag.constant(*fill);
                        value = self.dag.add(Node::Select(holds, value, fill), data.dtype);
                    }
                    value
                }
                Node::Reduce { .. } | Node::Param(..) | Node::Gather { .. } => return None,
                node => self.dag.add(node.mapped(&at, &|lin| Some(lin.clone()))?, data.dtype),
            };
            ids.insert(id, made);
        }
        ids.get(&root).copied()
    }

    /// Is a start in a range?
    fn inside(&mut self, l: LoopId, low: i64, end: i64) -> Option<NodeId> {
        let start = *self.starts.get(&l)?;
        let (first, end) = (whole(&mut self.dag, low), whole(&mut self.dag, end));
        let above = self.dag.binary(BinaryOp::Ge, start, first);
        let below = self.dag.binary(BinaryOp::Lt, start, end);
        Some(self.dag.binary(BinaryOp::And, above, below))
    }

    /// An expression as one without starts, at least of what it may be, and what is added to it at run time, where the
    /// starts are in these ranges.
    fn further(&mut self, lin: &Lin, ranges: &Ranges) -> Option<(Lin, NodeId)> {
        let (mut rest, mut sum) = (lin.clone(), None);
        rest.terms.retain(|t| !self.starts.contains_key(&t.0));
        for &(l, c) in lin.terms.iter().filter(|t| self.starts.contains_key(&t.0)) {
            let range = ranges.get(&l).cloned().unwrap_or(0..self.from.extent(l));
            let (low, high) = (range.start, range.end - 1);
            let mut start = *self.starts.get(&l)?;
            if low > 0 {
                let low = whole(&mut self.dag, low);
                start = self.dag.binary(BinaryOp::Max, start, low);
            }
            if high < self.from.extent(l) - 1 {
                let high = whole(&mut self.dag, high);
                start = self.dag.binary(BinaryOp::Min, start, high);
            }
            let least = if c > 0 { low } else { high };
            rest.offset = rest.offset.checked_add(c.checked_mul(least)?)?;
            let (least, c) = (whole(&mut self.dag, least), whole(&mut self.dag, c));
            let steps = self.dag.binary(BinaryOp::Sub, start, least);
            let term = self.dag.binary(BinaryOp::Mul, steps, c);
            sum = Some(match sum {
                Some(sum) => self.dag.binary(BinaryOp::Add, sum, term),
                None => term,
            });
        }
        let sum = sum.unwrap_or_else(|| whole(&mut self.dag, 0));
        Some((rest, sum))
    }
}

impl Stores<'_> {
    /// The kernel of a gather that computes what it gathers.
    pub(crate) fn sunk(&mut self, target: Var, sunk: &SunkGather) -> Result<Kernel, CodegenError> {
        let pulled = sunk.pull(self.function, target, &self.inlined);
        Ok(self.gathered(pulled.ok_or_else(|| CodegenError::malformed("a gather of what cannot be said"))?))
    }
}
