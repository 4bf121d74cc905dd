//! Kernels over the same points as one kernel of several outputs.
//!
//! The moments and the weights that a training step updates, or a value and what its derivative needs, are made point
//! by point of much the same tensors. One kernel reads each of these once, computes once what the outputs share, and
//! has in a register what one output needs of another. Phases of one output, whose elements alternate, are such kernels
//! too: together they write it from its start to its end.

use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::normalise::merge;
use crate::planned::recipe::Recipe;
use crate::planned::rows;
use crate::program::fuse::{Touch, World, conflict, recipe, touch};
use crate::program::lowered::Step;
use crate::schedule::{self, RowSchedule};
use std::collections::HashMap;

/// The most outputs of a kernel, nodes of its expression, and tensors it touches: more do not fit the registers.
const OUTPUTS: usize = 4;

const NODES: usize = 80;

const TENSORS: usize = 14;

/// Where the joined kernel computes no more than this share of what the two do, that is worth registers that are kept in
/// memory: so many nodes are the most then.
const LITTLE: f64 = 0.75;

const MANY_NODES: usize = 250;

/// Joins kernels among these steps.
pub(super) fn join(mut steps: Vec<Step>, world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    /// How far ahead a kernel is looked for: what is made earlier needs its memory for longer.
    const WINDOW: usize = 5;
    let mut start = 0;
    while start < steps.len() {
        let end = steps.len().min(start + 1 + WINDOW);
        let joined = (start + 1..end).find_map(|other| {
            let at = place(&steps, start, other, world)?;
            Some((pair(&steps[start], &steps[other], world)?, other, at))
        });
        let Some((pair, other, at)) = joined else {
            start += 1;
            continue;
        };
        let step = emit(pair, [&steps[start], &steps[other]], world)?;
        steps[at] = step;
        steps.remove(if at == start { other } else { start });
    }
    Ok(steps)
}

/// Where two steps can stand next to each other: at the first or at the second.
fn place(steps: &[Step], first: usize, second: usize, world: &World<'_>) -> Option<usize> {
    let touches: Option<Vec<Touch>> = steps[first..=second].iter().map(|s| touch(s, world)).collect();
    let touches = touches?;
    let (a, rest) = touches.split_first()?;
    let (b, between) = rest.split_last()?;
    let passes = |one: &Touch| between.iter().all(|o| !conflict(one, o));
    // What is made later needs its memory for less time.
    if passes(a) {
        Some(second)
    } else if passes(b) {
        Some(first)
    } else {
        None
    }
}

/// Makes the kernel, and the step that runs it instead of two.
fn emit(pair: Pair, steps: [&Step; 2], world: &mut World<'_>) -> Result<Step, CodegenError> {
    let Pair { dag, mut outputs, schedule } = pair;
    let [Some(a), Some(b)] = steps.map(|s| touch(s, world)) else {
        return Err(CodegenError::malformed("control flow among kernels"));
    };
    for (memory, _) in a.iter().filter(|x| b.iter().any(|y| x.0 == y.0)) {
        if let Some(runs) = world.touched.get_mut(memory) {
            *runs -= 1;
        }
    }
    // What only the two needed stays in a register.
    let needed = |to: &Buf| world.kept.contains(to) || world.touched.get(to).is_none_or(|&runs| runs > 1);
    if outputs.iter().any(|o| needed(&o.to)) {
        outputs.retain(|o| needed(&o.to));
    }
    let free = schedule.order.iter().copied().collect();
    let alone = steps.iter().any(|s| recipe(s, world).is_some_and(|r| r.is_alone()));
    let mut kernel = rows::whole(dag, outputs, schedule, free);
    if alone {
        kernel = kernel.alone();
    }
    let (buffers, writes) = (kernel.buffers.clone(), kernel.writes.clone());
    let pairs = kernel.in_place.iter().flat_map(|&read| writes.iter().map(move |&to| (read, to)));
    let in_place = pairs.collect();
    let origin = steps.iter().find_map(|s| match s {
        Step::Run { origin, .. } => origin.clone(),
        _ => None,
    });
    world.kernels.push(kernel);
    Ok(Step::Run { kernel: world.kernels.len() - 1, buffers, writes, in_place, copies: false, origin })
}

/// Two kernels as one.
struct Pair {
    dag: Dag,
    outputs: Vec<Output>,
    schedule: RowSchedule,
}

/// A kernel that may be joined: the names of its tensors are those of memory.
struct Part<'a> {
    dag: &'a Dag,
    outputs: &'a [Output],
    schedule: &'a RowSchedule,
    names: HashMap<Buf, Buf>,
    /// The loops over the output, that of the smallest steps first, with the number of points that a step of each
    /// passes.
    axes: Vec<(LoopId, i64)>,
    /// The distances that the steps make in the output. Its elements are all there are, or lie apart.
    strides: Vec<i64>,
}

impl Part<'_> {
    fn written(&self) -> Vec<Buf> {
        self.outputs.iter().filter_map(|o| self.names.get(&o.to).copied()).collect()
    }

    /// Where it begins to write a tensor, for every output there.
    fn offsets(&self, to: &Buf) -> Vec<i64> {
        let there = self.outputs.iter().filter(|o| self.names.get(&o.to) == Some(to));
        there.map(|o| o.address.offset).collect()
    }

    /// Is every element of its outputs written?
    fn is_dense(&self) -> bool {
        let steps = self.axes.iter().zip(&self.strides);
        steps.map(|(axis, stride)| (axis.1, stride)).all(|(points, &stride)| points == stride)
            && self.outputs.iter().all(|o| o.address.offset == 0)
    }

    /// Are the elements of another kernel those of this one, moved by the same distance?
    fn is_beside(&self, other: &Part<'_>) -> bool {
        let extents = |p: &Part<'_>| p.axes.iter().map(|a| p.dag.extent(a.0)).collect::<Vec<i64>>();
        self.strides == other.strides && extents(self) == extents(other)
    }

    /// Does an element of the output meet one that is so far from another?
    fn meets(&self, distance: i64) -> bool {
        let extents = self.axes.iter().map(|a| self.dag.extent(a.0));
        let steps = self.strides.iter().zip(extents).map(|(&stride, extent)| Along { stride, extent });
        reaches(distance, &steps.collect::<Vec<_>>())
    }

    fn reduces(&self) -> bool {
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.root).collect();
        let mut nodes = self.dag.all_reachable(&roots).into_iter();
        nodes.any(|n| matches!(self.dag[n].node, Node::Reduce { .. }))
    }
}

/// A number in terms of other loops.
fn moved(lin: &Lin, loops: &HashMap<LoopId, Lin>) -> Option<Lin> {
    lin.terms.iter().try_fold(Lin::constant(lin.offset), |sum, (l, c)| sum.plus(loops.get(l)?, *c))
}

/// An axis of an output.
#[derive(Clone, Copy, Debug)]
struct Along {
    /// The distance that a step makes.
    stride: i64,
    extent: i64,
}

/// Is a number a sum of steps, of each fewer than its extent in either direction? All of those before a step together
/// are less than it.
fn reaches(distance: i64, steps: &[Along]) -> bool {
    let Some((&Along { stride, extent }, smaller)) = steps.split_last() else { return distance == 0 };
    let least = distance.div_euclid(stride);
    [least, least + 1].iter().any(|n| n.abs() < extent && reaches(distance - n * stride, smaller))
}

/// A step as such a kernel.
fn part<'w>(step: &Step, world: &'w World<'_>) -> Option<Part<'w>> {
    // A copy may turn out to be none.
    let Step::Run { kernel, buffers, copies: false, .. } = step else { return None };
    let recipe = recipe(step, world)?;
    let Recipe::Row { dag, outputs, schedule, .. } = recipe.as_ref() else { return None };
    let (first, more) = outputs.split_first()?;
    let alike = |o: &Output| o.address.terms == first.address.terms;
    let plain = schedule.is_plain() && outputs.iter().all(|o| o.join.is_none());
    if !plain || !more.iter().all(alike) {
        return None;
    }
    let mut steps: Vec<(LoopId, i64)> = schedule.order.iter().map(|&l| (l, first.address.coeff(l))).collect();
    steps.sort_by_key(|a| a.1);
    let (mut axes, mut strides) = (Vec::new(), Vec::new());
    let (mut points, mut end) = (1i64, 1i64);
    for &(l, stride) in &steps {
        if stride < end {
            return None;
        }
        axes.push((l, points));
        strides.push(stride);
        points *= dag.extent(l);
        end = stride.checked_mul(dag.extent(l))?;
    }
    let own = &world.kernels[*kernel].buffers;
    let names = own.iter().zip(buffers).map(|(&own, &here)| (own, (world.memory)(here))).collect();
    Some(Part { dag, outputs, schedule, names, axes, strides })
}

/// Two steps as one kernel, where that is less work than both.
fn pair(a: &Step, b: &Step, world: &World<'_>) -> Option<Pair> {
    let parts = [part(a, world)?, part(b, world)?];
    let count = |p: &Part<'_>| p.axes.iter().map(|a| p.dag.extent(a.0)).product::<i64>();
    let tensors = parts.iter().map(|p| p.names.len()).sum::<usize>();
    let outputs = parts.iter().map(|p| p.outputs.len()).sum::<usize>();
    if count(&parts[0]) != count(&parts[1]) || tensors > TENSORS || outputs > OUTPUTS || !may_join(&parts) {
        return None;
    }
    let mut joined = Joined::new(&parts)?;
    for part in &parts {
        joined.add(part)?;
    }
    let Joined { dag, outputs, outer, shares, sums, .. } = joined;
    let (dag, outputs, outer) = merge::merge(dag, outputs, &outer);
    let schedule = schedule::choose(&dag, &outputs, &outer, world.target);
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let nodes = dag.all_reachable(&roots);
    let separate: f64 = parts.iter().map(|p| p.schedule.cycles).sum();
    let less = schedule.cycles <= separate;
    let most = if schedule.cycles <= LITTLE * separate { MANY_NODES } else { NODES };
    let plain = schedule.is_plain();
    // A reduction is evaluated as often as before, and in as many lanes, where the rows that it is along stay the last
    // loop. Two of them would only run one after the other, unless they are the same or run together.
    let unit = |outputs: &[Output], schedule: &RowSchedule| {
        schedule.order.last().is_none_or(|&l| outputs[0].address.coeff(l) == 1)
    };
    let in_rows = parts.iter().all(|p| unit(p.outputs, p.schedule)) && unit(&outputs, &schedule);
    let wide = |p: &Part<'_>| !p.reduces() || schedule.lanes >= p.schedule.lanes;
    let reductions = parts.iter().filter(|p| p.reduces()).count();
    let room = parts.iter().all(wide) || schedule.lanes * size_of::<f32>() >= world.target.vector_bytes;
    let alike = reductions == 2 && room && alike(&dag, &schedule, &nodes);
    let kept = reductions == 0 || (in_rows && (alike || parts.iter().all(wide) && (reductions == 1 || sums)));
    // What is done in lanes stays so.
    let lanes = schedule.lanes > 1 || parts.iter().all(|p| p.schedule.lanes == 1);
    let pays = shares && plain && lanes && less && kept && nodes.len() <= most;
    pays.then_some(Pair { dag, outputs, schedule })
}

/// Do the points of two kernels mean the same in any order? The second may read what the first writes at the same
/// point; nothing else that one of them writes. Both may write a tensor whose other elements the other one writes.
fn may_join([a, b]: &[Part<'_>; 2]) -> bool {
    let (first, second) = (a.written(), b.written());
    let names = |p: &Part<'_>, to: &Buf| p.names.values().filter(|&t| t == to).count();
    let once = first.iter().all(|to| names(a, to) == 1) && second.iter().all(|to| names(b, to) == 1);
    let unread = second.iter().all(|to| first.contains(to) || names(a, to) == 0);
    if !once || !unread {
        return false;
    }
    if second.iter().all(|to| !first.contains(to)) {
        return a.is_dense() && b.is_dense();
    }
    let both = first.iter().all(|to| second.contains(to)) && second.iter().all(|to| first.contains(to));
    let are_disjoint = |to: &Buf| {
        let (of_a, of_b) = (a.offsets(to), b.offsets(to));
        of_a.iter().all(|x| of_b.iter().all(|y| !a.meets(y - x)))
    };
    both && a.is_beside(b) && second.iter().all(|to| !reads(a, to) && !reads(b, to) && are_disjoint(to))
}

/// Does a kernel read a tensor?
fn reads(part: &Part<'_>, tensor: &Buf) -> bool {
    let roots: Vec<NodeId> = part.outputs.iter().map(|o| o.root).collect();
    part.dag.all_reachable(&roots).iter().any(|&n| match &part.dag[n].node {
        Node::Load { buf, .. } | Node::Gather { buf, .. } => part.names.get(buf) == Some(tensor),
        _ => false,
    })
}

/// Are all reductions along the same loops, done in the same way, and is none inside another?
fn alike(dag: &Dag, schedule: &RowSchedule, nodes: &[NodeId]) -> bool {
    let reductions = nodes.iter().filter_map(|&n| match &dag[n].node {
        Node::Reduce { loops, body, .. } => Some((n, loops, *body)),
        _ => None,
    });
    let all: Vec<(NodeId, &Vec<LoopId>, NodeId)> = reductions.collect();
    let plain = |body: NodeId| {
        let inside = dag.all_reachable(&[body]);
        inside.iter().all(|&n| !matches!(dag[n].node, Node::Reduce { .. }))
    };
    all.windows(2).all(|pair| {
        let [(a, of_a, _), (b, of_b, _)] = pair else { return false };
        of_a == of_b
            && schedule.reductions.get(a) == schedule.reductions.get(b)
            && dag[*a].deps == dag[*b].deps
    }) && all.iter().all(|&(_, _, body)| plain(body))
}

/// The expression of several kernels.
struct Joined {
    dag: Dag,
    outputs: Vec<Output>,
    /// Its loops over the output with the number of points that a step of each passes, smallest first.
    axes: Vec<(LoopId, i64)>,
    outer: Vec<LoopId>,
    /// Does a kernel load or compute what one before it has at every point?
    shares: bool,
    /// Is that a reduction?
    sums: bool,
}

impl Joined {
    /// Loops that are steps of the loops of all parts.
    fn new(parts: &[Part<'_>]) -> Option<Joined> {
        let part = parts.first()?;
        let total: i64 = part.axes.iter().map(|a| part.dag.extent(a.0)).product();
        let mut strides: Vec<i64> = parts.iter().flat_map(|p| p.axes.iter().map(|a| a.1)).collect();
        strides.push(total);
        strides.sort_unstable();
        strides.dedup();
        let mut dag = Dag::default();
        let mut axes = Vec::new();
        for pair in strides.windows(2) {
            if pair[1] % pair[0] != 0 {
                return None;
            }
            let l = dag.add_loop(pair[1] / pair[0])?;
            axes.push((l, pair[0]));
        }
        let outer = axes.iter().rev().map(|a| a.0).collect();
        Some(Joined { dag, outputs: Vec::new(), axes, outer, shares: false, sums: false })
    }

    /// Adds a kernel; `None` where it needs other points of what a kernel before it writes.
    fn add(&mut self, part: &Part<'_>) -> Option<()> {
        let loops = self.loops(part)?;
        let roots: Vec<NodeId> = part.outputs.iter().map(|o| o.root).collect();
        let known = self.dag.len();
        let all = part.axes.len();
        let mut ids: HashMap<NodeId, NodeId> = HashMap::new();
        for id in part.dag.all_reachable(&roots) {
            let data = &part.dag[id];
            let node = data.node.mapped(&|x| ids.get(&x).copied().unwrap_or(x), &|lin| moved(lin, &loops))?;
            let node = match node {
                Node::Param(..) => return None,
                Node::Load { buf, address, guards } => {
                    let buf = *part.names.get(&buf)?;
                    if let Some(output) = self.outputs.iter().find(|o| o.to == buf) {
                        let here = address == output.address && guards.is_empty();
                        if !here || self.dag[output.root].dtype != data.dtype {
                            return None;
                        }
                        self.shares = true;
                        ids.insert(id, output.root);
                        continue;
                    }
                    Node::Load { buf, address, guards }
                }
                Node::Gather { buf, address, offset, guards } => {
                    let buf = *part.names.get(&buf)?;
                    if self.outputs.iter().any(|o| o.to == buf) {
                        return None;
                    }
                    Node::Gather { buf, address, offset, guards }
                }
                node => node,
            };
            let every = data.deps.loops().filter(|l| part.axes.iter().any(|a| a.0 == *l)).count() == all;
            let new = self.dag.add(node, data.dtype);
            let there = every && (new.0 as usize) < known;
            self.shares |= there;
            self.sums |= there && matches!(self.dag[new].node, Node::Reduce { .. });
            ids.insert(id, new);
        }
        for output in part.outputs {
            let (to, root) = (*part.names.get(&output.to)?, *ids.get(&output.root)?);
            let address = moved(&output.address, &loops)?;
            self.outputs.push(Output { to, address, root, join: None });
        }
        Some(())
    }

    /// The loops of a kernel in terms of those here. Loops of reductions are shared by kernels.
    fn loops(&mut self, part: &Part<'_>) -> Option<HashMap<LoopId, Lin>> {
        let mut loops = HashMap::new();
        for &(l, stride) in &part.axes {
            let end = stride * part.dag.extent(l);
            let mut sum = Lin::default();
            for &(own, at) in self.axes.iter().filter(|a| (stride..end).contains(&a.1)) {
                sum = sum.plus(&Lin::var(own), at / stride)?;
            }
            loops.insert(l, sum);
        }
        let roots: Vec<NodeId> = part.outputs.iter().map(|o| o.root).collect();
        let inner = self.axes.len();
        for id in part.dag.all_reachable(&roots) {
            let Node::Reduce { loops: along, .. } = &part.dag[id].node else { continue };
            for &l in along {
                if loops.contains_key(&l) {
                    continue;
                }
                let extent = part.dag.extent(l);
                let used = |own: LoopId| loops.values().any(|lin: &Lin| lin.coeff(own) != 0);
                let pool = (inner..self.dag.extents.len()).map(|l| LoopId(l as u8));
                let found = pool.into_iter().find(|&own| self.dag.extent(own) == extent && !used(own));
                let own = match found {
                    Some(own) => own,
                    None => self.dag.add_loop(extent)?,
                };
                loops.insert(l, Lin::var(own));
            }
        }
        Some(loops)
    }
}

#[cfg(test)]
mod tests {
    use super::{Along, reaches};

    #[test]
    fn steps_that_reach() {
        for steps in [vec![], vec![(1, 4)], vec![(1, 3), (4, 2)], vec![(2, 3), (7, 3), (30, 2)]] {
            let mut all = vec![0i64];
            let steps: Vec<Along> =
                steps.into_iter().map(|(stride, extent)| Along { stride, extent }).collect();
            for &Along { stride, extent } in &steps {
                all = (1 - extent..extent).flat_map(|n| all.iter().map(move |x| x + n * stride)).collect();
            }
            for distance in -80..80 {
                assert_eq!(reaches(distance, &steps), all.contains(&distance), "{distance} {steps:?}");
            }
        }
    }
}
