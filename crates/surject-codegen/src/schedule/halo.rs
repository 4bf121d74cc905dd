//! A tensor with a frame around it: what a window reads outside of the tensor, written out.
//!
//! A product over windows asks of each element that it reads whether it is there, and windows that overlap ask for the same one
//! again. Of small images that is most of the work. Where it costs less the tensor is stored once with a frame, as wide as the
//! windows reach: an element is there once, and no read has a condition.
//!
//! The tensor with its frame has an axis for every expression that a condition asks about, the coordinate of a window,
//! and one for every other loop of the address, or several that overlap.

use crate::Target;
use crate::expression::address::{Guard, Interval, Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::normalise::pulled::Pulled;
use surject_ir::{DType, Scalar};

/// Cycles in which an element is read and stored again, in caches, and where it comes from memory or from the nearer cache
/// of another thread.
const NEAR: f64 = 0.35;

const FAR: f64 = 1.0;

/// Cycles that an element of a window takes whose conditions are looked at.
const PACKED: f64 = 0.35;

/// Cycles of one more kernel.
const KERNEL: f64 = 6_000.0;

/// An axis of the tensor with its frame.
struct Axis {
    /// The coordinate, of which 0 is the first in the frame.
    at: Lin,
    /// The coordinates there are, and those at which there are elements.
    extent: i64,
    inside: i64,
    /// How far apart two of them lie in the tensor itself.
    stride: i64,
}

/// A tensor with a frame, and the expression that reads it.
pub(crate) struct Halo {
    /// What stores it.
    pub(crate) first: Pulled,
    /// Its elements.
    pub(crate) count: i64,
    pub(crate) dtype: DType,
    /// The expression.
    pub(crate) rest: Pulled,
}

/// A factor: a tensor, its address, the conditions, and the value where one does not hold.
struct Factor {
    buf: Buf,
    address: Lin,
    guards: Vec<Guard>,
    fill: Scalar,
}

/// Gives a product a factor without conditions, in memory of that name, if that pays. It does where windows have its elements so
/// often that storing them once costs less than asking for each.
pub(crate) fn find(pulled: &Pulled, factor: NodeId, target: &Target, to: Buf) -> Option<Halo> {
    let dag = &pulled.dag;
    let frame = Frame::new(dag, factor)?;
    let points: f64 = dag[factor].deps.loops().map(|l| dag.extent(l) as f64).product();
    let pays = PACKED * points > target.thresholds.halo_cycles * frame.cycles(target);
    if pays { frame.halo(pulled, to) } else { None }
}

/// A factor, and the axes of the tensor with its frame.
struct Frame {
    node: NodeId,
    factor: Factor,
    axes: Vec<Axis>,
    /// The elements of the tensor with its frame, and those of them that are read.
    count: i64,
    inside: i64,
    /// Bytes of an element.
    size: f64,
    dtype: DType,
}

impl Frame {
    fn new(dag: &Dag, node: NodeId) -> Option<Frame> {
        let dtype = dag[node].dtype;
        let factor = factor(dag, node)?;
        let axes = axes(dag, &factor)?;
        let product = |n: fn(&Axis) -> i64| axes.iter().try_fold(1i64, |p, a| p.checked_mul(n(a)));
        let (count, inside) = (product(|a| a.extent)?, product(|a| a.inside)?);
        let size = Elem::in_memory(dtype).size() as f64;
        (count < 1 << 30).then_some(Frame { node, factor, axes, count, inside, size, dtype })
    }

    /// The cycles in which it is stored.
    fn cycles(&self, target: &Target) -> f64 {
        let bytes = (self.count + self.inside) as f64 * self.size;
        // What the nearer caches of several threads hold together they take from each other.
        let own = target.l2_share_bytes * target.threads.max(1);
        let all = (Target::CACHE_SHARE * own) as f64;
        let in_other_caches = target.threads > 1 && (own as f64..=all).contains(&bytes);
        let near = bytes <= target.llc_share_bytes as f64 && !in_other_caches;
        self.count as f64 * if near { NEAR } else { FAR } + KERNEL
    }

    /// What stores it, and the expression that reads it.
    fn halo(&self, pulled: &Pulled, to: Buf) -> Option<Halo> {
        let Frame { node, factor, axes, count, dtype, .. } = self;
        let (node, count, dtype) = (*node, *count, *dtype);
        let mut dag = Dag::default();
        let (mut address, mut guards) = (Lin::constant(factor.address.offset), Vec::new());
        let (mut place, mut outer) = (Lin::default(), Vec::new());
        let mut weight = count;
        let mut read = Lin::default();
        for axis in axes {
            let l = dag.add_loop(axis.extent)?;
            weight /= axis.extent;
            place = place.plus(&Lin::var(l), weight)?;
            read = read.plus(&axis.at, weight)?;
            // The coordinate that the address counts from is that of the frame, less its width.
            address = address.plus(&Lin { terms: vec![(l, 1)], offset: -axis.at.offset }, axis.stride)?;
            for guard in &factor.guards {
                if let Some(&(first, by)) = guard.expr.terms.first()
                    && axis.at.coeff(first) == by
                {
                    let expr = Lin { terms: vec![(l, 1)], offset: guard.expr.offset - axis.at.offset };
                    guards.push(Guard { expr, bound: guard.bound });
                }
            }
            outer.push(l);
        }
        let inner = dag.add(Node::Load { buf: factor.buf, address, guards: guards.clone() }, dtype);
        let root = dag.add(Node::Guarded { guards, fill: factor.fill, inner }, dtype);
        let first = Pulled { dag, outer, outputs: vec![Output { to, address: place, root, join: None }] };

        let mut rest =
            Pulled { dag: pulled.dag.clone(), outer: pulled.outer.clone(), outputs: pulled.outputs.clone() };
        let load = rest.dag.add(Node::Load { buf: to, address: read, guards: Vec::new() }, dtype);
        for output in &mut rest.outputs {
            output.root = rest.dag.replaced(output.root, node, load)?;
        }
        Some(Halo { first, count, dtype, rest })
    }
}

/// A tensor that is read under conditions, in whatever order they are nested.
fn factor(dag: &Dag, node: NodeId) -> Option<Factor> {
    let (mut guards, mut fill): (Vec<Guard>, Option<Scalar>) = (Vec::new(), None);
    let mut node = node;
    while let Node::Guarded { guards: more, fill: value, inner } = &dag[node].node {
        // Different values outside would need to know which condition fails.
        if fill.is_some_and(|fill| fill != *value) {
            return None;
        }
        guards.extend(more.iter().cloned());
        fill = Some(*value);
        node = *inner;
    }
    let Node::Load { buf, address, guards: more } = &dag[node].node else { return None };
    guards.extend(more.iter().cloned());
    guards.sort();
    guards.dedup();
    Some(Factor { buf: *buf, address: address.clone(), guards, fill: fill? })
}

/// The axes, those along which coordinates lie furthest apart first. `None` where they do not make up the address, or
/// an element is at several coordinates.
fn axes(dag: &Dag, factor: &Factor) -> Option<Vec<Axis>> {
    let mut axes: Vec<Axis> = Vec::new();
    let mut left: LoopSet = factor.address.loops();
    for guard in &factor.guards {
        let terms = &guard.expr.terms;
        let &(first, by) = terms.first()?;
        let known = axes.iter_mut().find(|a| a.at.terms == *terms);
        let Interval { low, high } = Lin { terms: terms.clone(), offset: 0 }.range(&dag.extents)?;
        // Coordinates at which the condition holds.
        let from = low.max(guard.expr.offset.checked_neg()?);
        let to = high.min(guard.bound.checked_sub(guard.expr.offset)?.checked_sub(1)?);
        let inside = to.checked_sub(from)?.checked_add(1)?.max(0);
        if let Some(axis) = known {
            axis.inside = axis.inside.min(inside);
            continue;
        }
        let stride = factor.address.coeff(first) / by;
        let fits = |&(l, c): &(LoopId, i64)| {
            left.contains(l) && stride.checked_mul(c) == Some(factor.address.coeff(l))
        };
        if stride == 0 || !terms.iter().all(fits) {
            return None;
        }
        left = left.minus(guard.expr.loops());
        let at = Lin { terms: terms.clone(), offset: low.checked_neg()? };
        axes.push(Axis { at, extent: high.checked_sub(low)?.checked_add(1)?, inside, stride });
    }
    // Loops that no condition asks about, those that lie closest first; one that runs into what others reach is of the
    // same axis.
    let mut others: Vec<(LoopId, i64)> = left.loops().map(|l| (l, factor.address.coeff(l))).collect();
    others.sort_by_key(|o| (o.1.abs(), o.0));
    let mut open: Option<Axis> = None;
    for (l, c) in others {
        let reach = c.abs().checked_mul(dag.extent(l) - 1)?;
        match &mut open {
            Some(axis) if c % axis.stride == 0 && c.abs() < axis.stride.checked_mul(axis.extent)? => {
                let steps = c / axis.stride;
                let low = if steps < 0 { reach / axis.stride } else { 0 };
                axis.at = axis.at.plus(&Lin { terms: vec![(l, steps)], offset: low }, 1)?;
                axis.extent = axis.extent.checked_add(reach / axis.stride)?;
                axis.inside = axis.extent;
            }
            _ => {
                let (sign, low) = if c < 0 { (-1, dag.extent(l) - 1) } else { (1, 0) };
                let at = Lin { terms: vec![(l, sign)], offset: low };
                let (extent, stride) = (dag.extent(l), c.checked_mul(sign)?);
                axes.extend(open.replace(Axis { at, extent, inside: extent, stride }));
            }
        }
    }
    axes.extend(open);
    axes.sort_by_key(|a| std::cmp::Reverse(a.stride.abs()));
    let mut reach = 0i64;
    for axis in axes.iter().rev() {
        if axis.stride.abs() <= reach {
            return None;
        }
        reach = reach.checked_add((axis.inside - 1).max(0).checked_mul(axis.stride.abs())?)?;
    }
    Some(axes)
}
