//! Rows too short for a vector, several in one: its lanes run along the rows and from row to row at the same time.
//!
//! The rows of an image with three channels lie in memory one behind the other, so what is stored is a run. What is
//! loaded for it is a run as well, or lies in a few vectors from which the lanes are picked: with the channels reversed,
//! every pixel twice, the first pixel of each line. The run is a loop of its own, and what no address of that loop tells
//! is put together once for every vector of a block of rows.

use crate::address::{Guard, GuardFact, Lin, LoopId, LoopSet};
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{At, Elem, Emitter, ScopeId, Val};
use crate::row::{self, Row};
use crate::schedule::{Output, node_cost};
use crate::short::{LONGEST, Rows};
use crate::solve::gcd;
use crate::units::clip;
use crate::{CodegenError, Target};
use std::collections::BTreeSet;
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
pub struct Braid {
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
enum Leaf {
    /// Elements of a tensor: those of a load.
    Load(NodeId),
    /// Positions: those of an index.
    Index(NodeId),
    /// Where conditions hold that depend on the position along a row alone.
    Inside(Vec<Guard>),
}

/// A kernel whose rows are a run.
#[derive(Debug)]
pub(crate) struct Braided {
    /// The expression, with that of the run beside that of the rows.
    pub(crate) dag: Dag,
    /// The outputs along the run.
    outputs: Vec<Output>,
    run: LoopId,
    /// What is put together, and the node that stands for it.
    leaves: Vec<(NodeId, Leaf)>,
}

/// Are the rows of a kernel short, and what it reads near by? `order` are the loops over the outputs.
pub(crate) fn find(dag: &Dag, outputs: &[Output], order: &[LoopId], target: &Target) -> Option<Braid> {
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
    let mut braid = Braid { row, along, width, rows: 1, lanes: 1, cuts: Vec::new(), picked: 0, cycles: 0.0 };
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let touched = braid.touched();
    let nodes: Vec<NodeId> =
        dag.reachable(&roots, true).into_iter().filter(|&n| dag[n].deps.meets(touched)).collect();
    let widest = nodes.iter().map(|&n| Elem::of(dag[n].dtype).size()).max()?;
    let native = (target.lanes_bytes / widest) as i64;
    // Rows that nearly fill their vectors are done one by one.
    let length = dag.extent(first);
    if native < 4 || 4 * length >= 3 * (length as u64).next_multiple_of(native as u64) as i64 {
        return None;
    }
    let common = gcd(native, width);
    let (rows, vectors) = (native / common, width / common);
    let more = (dag.extent(row) / rows).clamp(1, (2 + vectors - 1) / vectors);
    (braid.rows, braid.lanes) = (rows * more, native as usize);
    if vectors * more > VECTORS {
        return None;
    }
    let braided = braid.braided(dag, outputs)?;
    let mut cuts = BTreeSet::new();
    let mut cycles = 0.0;
    for (_, leaf) in &braided.leaves {
        if let Leaf::Load(n) = leaf
            && let Node::Load { address, guards, .. } = &dag[*n].node
        {
            let (chunks, picks) = braid.picks(dag, address, guards)?;
            if chunks > CHUNKS {
                return None;
            }
            braid.picked += 1;
            // What is the same in every row is put together once.
            cycles += if address.coeff(row) == 0 { 0.0 } else { (chunks + picks) as f64 };
        }
    }
    for &n in &nodes {
        for guard in dag[n].node.guards().iter().filter(|g| g.expr.coeff(row) != 0) {
            cuts.extend(row::holds(guard, row, dag)?);
        }
        cycles += node_cost(dag, n).max(0.5) * (vectors * more) as f64;
    }
    cuts.retain(|&c| c > 0 && c < dag.extent(row));
    braid.cuts = cuts.into_iter().collect();
    if braid.cuts.len() > CUTS || nodes.len() as i64 * vectors * more > CODE {
        return None;
    }
    let points = order.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
    // What is stored counts as well.
    cycles += (vectors * more) as f64 * outputs.len() as f64;
    braid.cycles = cycles * points / (braid.rows * width) as f64;
    Some(braid)
}

impl Braid {
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
    fn outside(&self, lin: &Lin) -> Lin {
        let touched = self.touched();
        let terms = lin.terms.iter().copied().filter(|t| !touched.contains(t.0)).collect();
        Lin { terms, offset: lin.offset }
    }

    /// The conditions on the position along a row, and the others; `None` where one is about more than that position, or
    /// more than the row.
    fn sorted(&self, guards: &[Guard]) -> Option<(Vec<Guard>, Vec<Guard>)> {
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
    fn ahead(&self, dag: &Dag, lin: &Lin, inside: &[Guard], number: i64) -> Option<i64> {
        let (row, values) = self.point(dag, number);
        let along = |lin: &Lin| values.iter().map(|&(l, value)| lin.coeff(l) * value).sum::<i64>();
        let holds = |g: &Guard| (0..g.bound).contains(&(g.expr.offset + along(&g.expr)));
        inside.iter().all(holds).then(|| lin.coeff(self.row) * row + along(lin))
    }

    /// The least and the greatest position of what a block of so many rows loads, from that of its first point;
    /// `None` inside: it loads nothing.
    fn reach(&self, dag: &Dag, address: &Lin, guards: &[Guard], rows: i64) -> Option<Option<(i64, i64)>> {
        let (inside, _) = self.sorted(guards)?;
        let all = || (0..rows * self.width).filter_map(|p| self.ahead(dag, address, &inside, p));
        Some(all().min().zip(all().max()))
    }

    /// How many vectors what a block loads lies in, and how often lanes are taken from one of them.
    fn picks(&self, dag: &Dag, address: &Lin, guards: &[Guard]) -> Option<(i64, i64)> {
        let (inside, _) = self.sorted(guards)?;
        let Some((low, high)) = self.reach(dag, address, guards, self.rows)? else { return Some((0, 0)) };
        let lanes = self.lanes as i64;
        let chunk = |number: i64| Some((self.ahead(dag, address, &inside, number)? - low) / lanes);
        let all = self.rows * self.width;
        let from = |first: i64| (first..all.min(first + lanes)).filter_map(chunk).collect::<BTreeSet<i64>>();
        let picks = (0..all).step_by(self.lanes).map(|first| from(first).len() as i64).sum();
        Some(((high - low) / lanes + 1, picks))
    }

    /// The kernel with its run; `None` where an expression is neither one of the run nor one that can be put together.
    pub(crate) fn braided(&self, dag: &Dag, outputs: &[Output]) -> Option<Braided> {
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
        for id in dag.reachable(&roots, true) {
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
        Some(Braided { dag: new, outputs: runs, run, leaves })
    }
}

/// What a leaf has ready for the vectors of a block.
enum Ready {
    /// Vectors of so many elements in memory, where each begins, and what holds a lane's element.
    Chunks { scope: ScopeId, vectors: Vec<String>, width: usize, starts: Vec<i64> },
    /// Nothing that counts.
    Nothing,
    /// It is made vector by vector.
    Pattern,
}

impl Row<'_> {
    /// The loop over short rows: whole blocks, then the rows that are left.
    pub(crate) fn braid(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (braid, braided): (&Braid, &Braided),
        range: &(Option<String>, Option<String>),
        parts: Vec<(i64, i64)>,
    ) -> Result<(), CodegenError> {
        for (start, end) in parts {
            let main = end - (end - start) % braid.rows;
            for (low, high, rows) in [(start, main, braid.rows), (main, end, end - main)] {
                if low == high {
                    continue;
                }
                let bounds = clip(em, scope, range, (low, high), rows);
                let (inner, iv) = em.open_loop(scope, braid.row, 1);
                em.limit(inner, braid.row, start, end);
                self.braided_block(em, inner, (braid, braided), (&iv, rows))?;
                em.close_loop(inner, &iv, &bounds, &[]);
            }
        }
        Ok(())
    }

    /// A block of rows, vector by vector.
    fn braided_block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (braid, braided): (&Braid, &Braided),
        (first, rows): (&str, i64),
    ) -> Result<(), CodegenError> {
        let mut ready = Vec::new();
        for (_, leaf) in &braided.leaves {
            ready.push(em.ready(scope, braid, leaf, rows)?);
        }
        let width = em.int(braid.width);
        let base = em.op(scope, &format!("arith.muli {first}, {width} : i64"));
        let row = Row { outputs: &braided.outputs, schedule: self.schedule, braided: None };
        let (mut at, all) = (0, rows * braid.width);
        while at < all {
            let (lanes, active) = piece(all - at, braid.lanes as i64);
            let ahead = em.int(at);
            let place = em.op(scope, &format!("arith.addi {base}, {ahead} : i64"));
            let part = em.open(scope, vec![(braided.run, place)], Some((braided.run, lanes)));
            em.activate(part, active, lanes);
            for ((node, leaf), ready) in braided.leaves.iter().zip(&ready) {
                let ssa = em.lanes_of(part, braid, (leaf, ready), (at, at + active as i64, lanes))?;
                em.seed(part, *node, Val { ssa, lanes });
            }
            row.point(em, part)?;
            em.close_plain(part);
            at += active as i64;
        }
        Ok(())
    }
}

/// The lanes of the next vector of so many elements that are left, and how many of them there are.
fn piece(left: i64, lanes: i64) -> (usize, usize) {
    if left >= lanes {
        return (lanes as usize, lanes as usize);
    }
    let whole = 1 << left.ilog2();
    // Two vectors that are full are better than one that is not.
    let full = left.count_ones() <= 2 && whole > 1 && left - whole != 1;
    let lanes = if full { whole } else { (left as u64).next_power_of_two().max(2) as i64 };
    (lanes as usize, left.min(lanes) as usize)
}

impl Emitter<'_> {
    /// Loads what the vectors of a block of so many rows are put together of.
    fn ready(
        &mut self,
        scope: ScopeId,
        braid: &Braid,
        leaf: &Leaf,
        rows: i64,
    ) -> Result<Ready, CodegenError> {
        let Leaf::Load(load) = leaf else { return Ok(Ready::Pattern) };
        let Node::Load { buf, address, guards } = &self.dag[*load].node else { return Err(malformed()) };
        let (_, others) = braid.sorted(guards).ok_or_else(malformed)?;
        let mut first = braid.outside(address);
        if address.coeff(braid.row) != 0 {
            first = first.plus(&Lin::var(braid.row), address.coeff(braid.row)).ok_or_else(malformed)?;
        }
        // What is known of a condition is asked where the vectors are loaded: further in more may be known.
        let deps = others.iter().fold(first.loops(), |deps, g| deps.union(g.expr.loops()));
        let home = self.home(scope, deps);
        let facts: Vec<GuardFact> = others.iter().map(|g| self.fact(g, home)).collect();
        let reach = braid.reach(self.dag, address, guards, rows).ok_or_else(malformed)?;
        let Some((low, high)) = reach.filter(|_| !facts.contains(&GuardFact::Never)) else {
            return Ok(Ready::Nothing);
        };
        let open = others.into_iter().zip(facts).filter(|(_, fact)| *fact == GuardFact::Sometimes);
        let open: Vec<Guard> = open.map(|(guard, _)| guard).collect();
        let elem = Elem::in_memory(self.dag[*load].dtype);
        let (pointer, mut place) = (self.pointer(*buf)?, self.lin(&first, home));
        if !open.is_empty() {
            // Where none of it is there, what is loaded begins with the tensor ([`Emitter::held_inside`]).
            let at = At { scope: home, lanes: 1 };
            let (holds, start) = (self.predicate(&open, at).ssa, self.int(-low));
            place = self.select(at, &holds, &place, &start, Elem::I64);
        }
        let first = self.element(&pointer, &place, elem, home);
        // The last vector ends with the last element.
        let count = high - low + 1;
        let width = (braid.lanes as i64).min((count as u64).next_power_of_two().max(2) as i64);
        let starts: Vec<i64> =
            (0..(count + width - 1) / width).map(|k| (k * width).min((count - width).max(0))).collect();
        let rows = Rows { first: &first, stride: 1, reach: count, elem };
        let mut vectors = Vec::new();
        for start in &starts {
            let there = count.min(width) as usize;
            let at = At { scope: home, lanes: width as usize };
            vectors.push(if open.is_empty() {
                self.part(&rows, low + start, width as usize, there, at)
            } else {
                self.part_inside(&rows, (low + start, there), &open, at)
            });
        }
        let starts = starts.iter().map(|s| low + s).collect();
        Ok(Ready::Chunks { scope: home, vectors, width: width as usize, starts })
    }

    /// A part of what lies in memory, where conditions hold that are the same for all lanes.
    fn part_inside(
        &mut self,
        rows: &Rows<'_>,
        (ahead, there): (i64, usize),
        guards: &[Guard],
        at: At,
    ) -> String {
        let holds = self.predicate(guards, At { lanes: 1, ..at });
        let mut mask = self.spread(&holds, Elem::I1, at);
        if there < at.lanes {
            let first = self.first_lanes(there, at.lanes);
            mask = self.op(at.scope, &format!("arith.andi {mask}, {first} : {}", Elem::I1.ty(at.lanes)));
        }
        let ahead = self.int(ahead);
        let from = self.element(rows.first, &ahead, rows.elem, at.scope);
        self.neighbours(&from, Some(&mask), (rows.elem, at.lanes), at.scope)
    }

    /// A leaf at the points `from..to` of a run, in so many lanes.
    fn lanes_of(
        &mut self,
        scope: ScopeId,
        braid: &Braid,
        (leaf, ready): (&Leaf, &Ready),
        (from, to, lanes): (i64, i64, usize),
    ) -> Result<String, CodegenError> {
        let number = |lane: usize| (from + lane as i64).min(to - 1);
        match leaf {
            Leaf::Inside(guards) => {
                let none = Lin::default();
                let list: Vec<&str> = (0..lanes)
                    .map(|lane| match braid.ahead(self.dag, &none, guards, number(lane)) {
                        Some(_) => "true",
                        None => "false",
                    })
                    .collect();
                Ok(self.literal(&format!("dense<[{}]>", list.join(", ")), &Elem::I1.ty(lanes)))
            }
            Leaf::Index(node) => {
                let (dtype, dag) = (self.dag[*node].dtype, self.dag);
                let Node::Index(lin) = &dag[*node].node else { return Err(malformed()) };
                let range = lin.range(&dag.extents);
                let small =
                    range.is_some_and(|(low, high)| low >= i32::MIN.into() && high <= i32::MAX.into());
                let narrow = dtype.is_int() && dtype.size() <= 4;
                let between = if small { DType::I32 } else { DType::I64 };
                let elem = Elem::of(if narrow { dtype } else { between });
                let mut first = lin.clone();
                first.terms.retain(|t| !braid.along.contains(&t.0));
                let list: Vec<i64> =
                    (0..lanes).filter_map(|lane| braid.ahead(dag, lin, &[], number(lane))).collect();
                let ahead = self.numbers(elem, &list);
                let base = self.lin_vector(&first, elem, At { scope, lanes: 1 });
                let at = At { scope, lanes };
                let base = self.spread(&Val { ssa: base, lanes: 1 }, elem, at);
                let all = self.op(scope, &format!("arith.addi {base}, {ahead} : {}", elem.ty(lanes)));
                Ok(if narrow { all } else { self.convert(at, between, dtype, &all) })
            }
            Leaf::Load(node) => {
                let dtype = self.dag[*node].dtype;
                let Ready::Chunks { scope: home, vectors, width, starts } = ready else {
                    return Ok(self.constant(Elem::of(dtype), 0, lanes));
                };
                let dag = self.dag;
                let Node::Load { address, guards, .. } = &dag[*node].node else { return Err(malformed()) };
                let (inside, _) = braid.sorted(guards).ok_or_else(malformed)?;
                let place = |lane: usize| {
                    let position = braid.ahead(dag, address, &inside, number(lane))?;
                    let k = starts.iter().rposition(|&start| start <= position)?;
                    Some((k, (position - starts[k]) as usize))
                };
                let places: Vec<Option<(usize, usize)>> = (0..lanes).map(place).collect();
                let at = At { scope: *home, lanes };
                let raw = self.picked(vectors, *width, &places, Elem::in_memory(dtype), at);
                Ok(self.widen(dtype, raw, at))
            }
        }
    }

    /// Lanes that are elements of vectors of so many; lanes without a place may hold anything.
    fn picked(
        &mut self,
        vectors: &[String],
        width: usize,
        places: &[Option<(usize, usize)>],
        elem: Elem,
        at: At,
    ) -> String {
        let Some(any) = places.iter().copied().flatten().next() else {
            return self.constant(elem, 0, at.lanes);
        };
        let mut all: Vec<(usize, usize)> = places.iter().map(|p| p.unwrap_or(any)).collect();
        if all.iter().all(|p| p.0 == any.0) {
            let order: Vec<i64> = all.iter().map(|p| p.1 as i64).collect();
            if width == at.lanes && order.iter().enumerate().all(|(i, &e)| i as i64 == e) {
                return vectors[any.0].clone();
            }
            return self.shuffled((&vectors[any.0], &vectors[any.0]), &order, (elem, width), at.scope);
        }
        all.resize(width.max(at.lanes), any);
        let wide = self.collect(vectors, &all, elem, At { lanes: width, ..at });
        if width == at.lanes {
            return wide;
        }
        let order: Vec<i64> = (0..at.lanes as i64).collect();
        self.shuffled((&wide, &wide), &order, (elem, width), at.scope)
    }
}

fn malformed() -> CodegenError {
    CodegenError::malformed("short rows of something that is not loaded")
}
