//! Rows too short for a vector, several in one: its lanes run along the rows and from row to row at the same time.
//!
//! The rows of an image with three channels lie in memory one behind the other, so what is stored is a run. What is
//! loaded for it is a run as well, or lies in a few vectors from which the lanes are picked: with the channels reversed,
//! every pixel twice, the first pixel of each line. The run is a loop of its own, and what no address of that loop tells
//! is put together once for every vector of a block of rows.

use crate::Target;
use crate::expression::address::{Guard, Interval, Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::solve::gcd;
use crate::machine::elem::Elem;
use crate::schedule::outer_vector::LONGEST;
use crate::schedule::{cuts, node_cost};
use std::collections::BTreeSet;
use std::ops::Range;
use surject_ir::DType;

/// The longest rows, several loops along them counted as one.
const WIDEST: i64 = 64;

/// A loop of fewer steps is one along the rows, where rows are left.
const FEW: i64 = 8;

/// Vectors that a load of a block is put together of.
const CHUNKS: i64 = 48;

/// Vectors of a block; where rows allow it there are at least two, which need nothing of each other.
const VECTORS: i64 = 24;

/// How often the rows may be cut, and how many vectors of a block all nodes may be.
const CUTS: usize = 6;

const CODE: i64 = 600;

/// How short rows are done in lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Interleave {
    /// The loop over the rows.
    pub row: LoopId,
    /// The loops along a row, the last running fastest.
    pub along: Vec<LoopId>,
    /// The elements of a row, and the rows of a block.
    pub width: i64,
    /// The rows of a block.
    pub rows: i64,
    /// The lanes of a vector.
    pub lanes: usize,
    /// Where conditions on the row change: the loop over rows is cut there.
    pub cuts: Vec<i64>,
    /// How many loads are put together of vectors.
    pub picked: usize,
    /// Cycles of the kernel.
    pub cycles: f64,
}

/// What the loop over a run does not tell by itself.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    /// Elements of a tensor: those of a load.
    Load(NodeId),
    /// Positions: those of an index.
    Index(NodeId),
    /// Where conditions hold that depend on the position along a row alone.
    Inside(Vec<Guard>),
}

/// A kernel whose rows are a run.
#[derive(Debug)]
pub(crate) struct Interleaved {
    /// The expression, with that of the run beside that of the rows.
    pub(crate) dag: Dag,
    /// The outputs along the run.
    pub(crate) outputs: Vec<Output>,
    pub(crate) run: LoopId,
    /// What is put together, and the node that stands for it.
    pub(crate) leaves: Vec<(NodeId, Leaf)>,
}

/// Are the rows of a kernel short, and what it reads near by? `order` are the loops over the outputs.
pub(crate) fn find(dag: &Dag, outputs: &[Output], order: &[LoopId], target: &Target) -> Option<Interleave> {
    let every = |l: LoopId, c: i64| outputs.iter().all(|o| o.address.coeff(l) == c && o.join.is_none());
    let next = |width: i64| order.iter().copied().find(|&l| every(l, width) && dag.extent(l) > 1);
    let first = next(1).filter(|&l| dag.extent(l) <= LONGEST)?;
    let (mut along, mut width) = (vec![first], dag.extent(first));
    let mut row = next(width)?;
    while dag.extent(row) <= FEW
        && width * dag.extent(row) <= WIDEST
        && let Some(further) = next(width * dag.extent(row))
    {
        along.insert(0, row);
        width *= dag.extent(row);
        row = further;
    }
    let mut interleave =
        Interleave { row, along, width, rows: 1, lanes: 1, cuts: Vec::new(), picked: 0, cycles: 0.0 };
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let touched = interleave.touched();
    let nodes: Vec<NodeId> =
        dag.all_reachable(&roots).into_iter().filter(|&n| dag[n].deps.meets(touched)).collect();
    let widest = nodes.iter().map(|&n| Elem::of(dag[n].dtype).size()).max()?;
    let native = (target.vector_bytes / widest) as i64;
    // Rows that nearly fill their vectors are done one by one.
    let length = dag.extent(first);
    if native < 4 || 4 * length >= 3 * (length as u64).next_multiple_of(native as u64) as i64 {
        return None;
    }
    let common = gcd(native, width);
    let (rows, vectors) = (native / common, width / common);
    let more = (dag.extent(row) / rows).clamp(1, (2 + vectors - 1) / vectors);
    (interleave.rows, interleave.lanes) = (rows * more, native as usize);
    if vectors * more > VECTORS {
        return None;
    }
    let interleaved = interleave.interleaved(dag, outputs)?;
    let mut cuts = BTreeSet::new();
    let mut cycles = 0.0;
    for (_, leaf) in &interleaved.leaves {
        if let Leaf::Load(n) = leaf
            && let Node::Load { address, guards, .. } = &dag[*n].node
        {
            let picks = interleave.picks(dag, address, guards)?;
            if picks.vectors > CHUNKS {
                return None;
            }
            interleave.picked += 1;
            // What is the same in every row is put together once.
            cycles += if address.coeff(row) == 0 { 0.0 } else { (picks.vectors + picks.count) as f64 };
        }
    }
    for &n in &nodes {
        for guard in dag[n].node.guards().iter().filter(|g| g.expr.coeff(row) != 0) {
            let Range { start, end } = cuts::holds(guard, row, dag)?;
            cuts.extend([start, end]);
        }
        cycles += node_cost(dag, n).max(0.5) * (vectors * more) as f64;
    }
    cuts.retain(|&c| c > 0 && c < dag.extent(row));
    interleave.cuts = cuts.into_iter().collect();
    if interleave.cuts.len() > CUTS || nodes.len() as i64 * vectors * more > CODE {
        return None;
    }
    let points = order.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
    // What is stored counts as well.
    cycles += (vectors * more) as f64 * outputs.len() as f64;
    interleave.cycles = cycles * points / (interleave.rows * width) as f64;
    Some(interleave)
}

/// What puts the lanes of a block together.
struct Picks {
    /// Vectors that what a block loads lies in.
    vectors: i64,
    /// How often lanes are taken from one of them.
    count: i64,
}

impl Interleave {
    /// The loops over and along rows.
    pub(crate) fn touched(&self) -> LoopSet {
        self.along.iter().copied().chain([self.row]).collect()
    }

    /// An expression whose loops over and along rows are one, the run.
    fn as_run(&self, dag: &Dag, lin: &Lin, run: LoopId) -> Option<Lin> {
        let unit = lin.coeff(*self.along.last()?);
        let mut expected = unit;
        for &l in self.along.iter().rev().chain([&self.row]) {
            if lin.coeff(l) != expected {
                return None;
            }
            expected = expected.checked_mul(dag.extent(l))?;
        }
        let mut result = self.outside(lin);
        if unit != 0 {
            result = result.plus(&Lin::var(run), unit)?;
        }
        Some(result)
    }

    /// The part of an expression that neither the rows nor the positions along them tell.
    pub(crate) fn outside(&self, lin: &Lin) -> Lin {
        let touched = self.touched();
        let terms = lin.terms.iter().copied().filter(|t| !touched.contains(t.0)).collect();
        Lin { terms, offset: lin.offset }
    }

    /// The conditions on the position along a row, and the others; `None` where one is about more than that position, or
    /// more than the row.
    pub(crate) fn sorted(&self, guards: &[Guard]) -> Option<(Vec<Guard>, Vec<Guard>)> {
        let along: LoopSet = self.along.iter().copied().collect();
        let (inside, others): (Vec<Guard>, Vec<Guard>) =
            guards.iter().cloned().partition(|g| g.expr.loops().meets(along));
        let alone = inside.iter().all(|g| g.expr.loops().minus(along) == LoopSet::default())
            && others.iter().all(|g| g.expr.coeff(self.row) == 0 || g.expr.terms.len() == 1);
        alone.then_some((inside, others))
    }

    /// The row, and the value of every loop along it, of a point of a run.
    fn point(&self, dag: &Dag, number: i64) -> (i64, Vec<(LoopId, i64)>) {
        let (mut rest, mut values) = (number, Vec::new());
        for &l in self.along.iter().rev() {
            values.push((l, rest % dag.extent(l)));
            rest /= dag.extent(l);
        }
        (rest, values)
    }

    /// What a point of a run adds to an expression; `None` where a condition on the position does not hold.
    pub(crate) fn contribution(&self, dag: &Dag, lin: &Lin, inside: &[Guard], number: i64) -> Option<i64> {
        let (row, values) = self.point(dag, number);
        let along = |lin: &Lin| values.iter().map(|&(l, value)| lin.coeff(l) * value).sum::<i64>();
        let holds = |g: &Guard| (0..g.bound).contains(&(g.expr.offset + along(&g.expr)));
        inside.iter().all(holds).then(|| lin.coeff(self.row) * row + along(lin))
    }

    /// The least and the greatest position of what a block of so many rows loads, from that of its first point;
    /// `None` inside: it loads nothing.
    pub(crate) fn reach(
        &self,
        dag: &Dag,
        address: &Lin,
        guards: &[Guard],
        rows: i64,
    ) -> Option<Option<Interval>> {
        let (inside, _) = self.sorted(guards)?;
        let all = || (0..rows * self.width).filter_map(|p| self.contribution(dag, address, &inside, p));
        Some(all().map(Interval::one).reduce(Interval::union))
    }

    /// How many vectors what a block loads lies in, and how often lanes are taken from one of them.
    fn picks(&self, dag: &Dag, address: &Lin, guards: &[Guard]) -> Option<Picks> {
        let (inside, _) = self.sorted(guards)?;
        let Some(Interval { low, high }) = self.reach(dag, address, guards, self.rows)? else {
            return Some(Picks { vectors: 0, count: 0 });
        };
        let lanes = self.lanes as i64;
        let chunk = |number: i64| Some((self.contribution(dag, address, &inside, number)? - low) / lanes);
        let all = self.rows * self.width;
        let from = |first: i64| (first..all.min(first + lanes)).filter_map(chunk).collect::<BTreeSet<i64>>();
        let count = (0..all).step_by(self.lanes).map(|first| from(first).len() as i64).sum();
        Some(Picks { vectors: (high - low) / lanes + 1, count })
    }

    /// The kernel with its run; `None` where an expression is neither one of the run nor one that can be put together.
    pub(crate) fn interleaved(&self, dag: &Dag, outputs: &[Output]) -> Option<Interleaved> {
        let mut new = dag.clone();
        let run = new.add_loop(self.width.checked_mul(dag.extent(self.row))?)?;
        let touched = self.touched();
        let mut ids: Vec<NodeId> = dag.iter().map(|(id, _)| id).collect();
        let mut leaves: Vec<(NodeId, Leaf)> = Vec::new();
        let mut stands = |new: &mut Dag, leaf: Leaf, dtype: DType| {
            let node = new.add(Node::Param(leaves.len() as u32, run), dtype);
            leaves.push((node, leaf));
            node
        };
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
        for id in dag.all_reachable(&roots) {
            let data = &dag[id];
            let at = |n: NodeId| ids[n.0 as usize];
            let as_run = |lin: &Lin| self.as_run(dag, lin, run);
            // A reduction has an order of loops of its own.
            if matches!(data.node, Node::Reduce { .. } | Node::Param(..)) {
                return None;
            }
            if !data.deps.meets(touched) {
                continue;
            }
            let made = match &data.node {
                Node::Load { buf, address, guards } => match as_run(address) {
                    Some(address) if guards.iter().all(|g| !g.expr.loops().meets(touched)) => {
                        let load = Node::Load { buf: *buf, address, guards: guards.clone() };
                        new.add(load, data.dtype)
                    }
                    _ => {
                        self.sorted(guards)?;
                        stands(&mut new, Leaf::Load(id), data.dtype)
                    }
                },
                Node::Gather { buf, address, offset, guards } => {
                    if guards.iter().any(|g| g.expr.loops().meets(touched)) {
                        return None;
                    }
                    let (address, guards) = (as_run(address)?, guards.clone());
                    let gather = Node::Gather { buf: *buf, address, offset: at(*offset), guards };
                    (!dag[*offset].deps.meets(touched)).then_some(())?;
                    new.add(gather, data.dtype)
                }
                Node::Index(lin) => match as_run(lin) {
                    Some(lin) => new.add(Node::Index(lin), data.dtype),
                    None => stands(&mut new, Leaf::Index(id), data.dtype),
                },
                Node::Guarded { guards, fill, inner } => {
                    let (inside, others) = self.sorted(guards)?;
                    let mut value = at(*inner);
                    if !others.is_empty() {
                        let guarded = Node::Guarded { guards: others, fill: *fill, inner: value };
                        value = new.add(guarded, data.dtype);
                    }
                    if !inside.is_empty() {
                        let holds = stands(&mut new, Leaf::Inside(inside), DType::I1);
                        let fill = new.constant(*fill);
                        value = new.add(Node::Select(holds, value, fill), data.dtype);
                    }
                    value
                }
                node => new.add(node.mapped(&at, &|lin| Some(lin.clone()))?, data.dtype),
            };
            ids[id.0 as usize] = made;
        }
        let mut runs = Vec::new();
        for output in outputs {
            let (address, root) = (self.as_run(dag, &output.address, run)?, ids[output.root.0 as usize]);
            runs.push(Output { address, root, ..output.clone() });
        }
        Some(Interleaved { dag: new, outputs: runs, run, leaves })
    }
}
