//! Reshapes without division: a row-major reshape factors into an affine read and a write along a bijection
//! (DESIGN.md section 2; `reference/egraph.md` section 8).

use crate::{Affine, Extent, Fill, IndexMap, Space};

/// How a row-major reshape from `A` to `B` is written with index maps alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapePlan {
    /// Both spaces have a common refinement: `result = acc set write (read read x)`. Both maps are bijective.
    Refined {
        /// The refined space `R`.
        space: Space,
        /// `R → A`: the identity, or mixed radix where `A` is split.
        read: IndexMap,
        /// `R → B`: the identity, or mixed radix where axes are merged.
        write: IndexMap,
    },
    /// They have none (`[2,3] → [3,2]`): `result = read unflatten (acc set flatten x)`. The flat space in
    /// between has one axis for every run of axes that the two shapes cut at the same places.
    ViaFlat {
        /// `A → F`, bijective.
        flatten: IndexMap,
        /// `B → F`, bijective.
        unflatten: IndexMap,
    },
}

/// One operation of a reshape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapeStep {
    /// `read M x`
    Read(IndexMap),
    /// `acc set M x`, for a bijective map
    Set(IndexMap),
}

/// Runs of axes, units left out, that have equally many positions on both sides and cannot be cut further.
struct Segment {
    from: Vec<usize>,
    to: Vec<usize>,
}

impl IndexMap {
    /// The row-major reshape of a tensor over `from` to a tensor over `to`. `None` when the two do not have (or
    /// are not proven to have) equally many positions. Axes of extent 1 take no part. Symbolic axes must be
    /// found again on the other side, alone or as the outermost of the axes that are split or merged.
    pub fn reshape(from: &Space, to: &Space) -> Option<ReshapePlan> {
        if from.is_empty() && to.is_empty() {
            let zeros = vec![Affine::fixed(to.rank(), 0); from.rank()];
            let read = IndexMap::assemble(to.clone(), from.clone(), zeros, Vec::new(), None);
            return Some(ReshapePlan::Refined { space: to.clone(), read, write: IndexMap::identity(to) });
        }
        if from.is_empty() || to.is_empty() {
            return None;
        }
        let segments = segments(from, to)?;
        let refined: Option<Vec<(IndexMap, IndexMap)>> =
            segments.iter().map(|s| s.refine(from, to)).collect();
        match refined {
            Some(parts) => {
                let space = Space::new(parts.iter().flat_map(|(read, _)| read.domain().extents().to_vec()));
                let reads = segments.iter().zip(&parts).map(|(s, (read, _))| (s.from.as_slice(), read));
                let read = join(&space, from, reads);
                let writes = segments.iter().zip(&parts).map(|(s, (_, write))| (s.to.as_slice(), write));
                let write = join(&space, to, writes);
                Some(ReshapePlan::Refined { space, read, write })
            }
            None => {
                let flat = |space: &Space, side: fn(&Segment) -> &[usize]| {
                    let mut extents: Vec<Extent> = Vec::new();
                    let mut components = Vec::new();
                    for segment in &segments {
                        let axes = side(segment);
                        let line = IndexMap::linearise(&space.select(axes)).ok()?;
                        let mut component = Affine::fixed(space.rank(), 0);
                        for (&axis, &c) in axes.iter().zip(&line.components()[0].coeffs) {
                            component.coeffs[axis] = c;
                        }
                        components.push(component);
                        extents.push(line.codomain().extent(0).clone());
                    }
                    IndexMap::total(space.clone(), Space::new(extents), components).ok()
                };
                let (flatten, unflatten) = (flat(from, |s| &s.from)?, flat(to, |s| &s.to)?);
                Some(ReshapePlan::ViaFlat { flatten, unflatten })
            }
        }
    }
}

impl ReshapePlan {
    /// The plan as few operations, first to last; none when there is nothing to do. A write along a map with an
    /// affine inverse is a read, and two reads in a row are one, so splitting an axis and adding or dropping
    /// axes of extent 1 are a single [`ReshapeStep::Read`], and merging axes is a single [`ReshapeStep::Set`].
    pub fn steps(&self) -> Vec<ReshapeStep> {
        let mut steps = Vec::new();
        match self {
            ReshapePlan::Refined { read, write, .. } => {
                // Never used: the inverse is kept only when it is total.
                let fill = Fill(0);
                let inverse = write.inverse(fill).filter(IndexMap::is_total);
                match inverse.and_then(|inverse| inverse.then(read).ok()) {
                    Some(read) => steps.push(ReshapeStep::Read(read)),
                    None => {
                        steps.push(ReshapeStep::Read(read.clone()));
                        steps.push(ReshapeStep::Set(write.clone()));
                    }
                }
            }
            ReshapePlan::ViaFlat { flatten, unflatten } => {
                steps.push(ReshapeStep::Set(flatten.clone()));
                steps.push(ReshapeStep::Read(unflatten.clone()));
            }
        }
        steps.retain(|s| !matches!(s, ReshapeStep::Read(map) | ReshapeStep::Set(map) if map.is_identity()));
        steps
    }
}

/// Cuts both spaces where they agree.
fn segments(from: &Space, to: &Space) -> Option<Vec<Segment>> {
    let axes = |space: &Space| {
        let kept: Vec<usize> =
            (0..space.rank()).filter(|&a| space.extent(a).as_const() != Some(1)).rev().collect();
        kept
    };
    // The axes still to come, the next one last.
    let (mut left, mut right) = (axes(from), axes(to));
    let mut result = Vec::new();
    while let (Some(a), Some(b)) = (left.pop(), right.pop()) {
        let mut segment = Segment { from: vec![a], to: vec![b] };
        loop {
            let size = |space: &Space, axes: &[usize]| {
                let line = IndexMap::linearise(&space.select(axes)).ok()?;
                Some(line.codomain().extent(0).clone())
            };
            let (size_a, size_b) = (size(from, &segment.from)?, size(to, &segment.to)?);
            if size_a == size_b {
                break;
            }
            let grow_left = match (size_a.as_const(), size_b.as_const()) {
                (Some(a), Some(b)) => a < b,
                // The side that is a whole symbolic expression already waits for the other.
                (None, None) => merges_to(from, &segment.from, &left, &size_b),
                _ => return None,
            };
            if grow_left {
                segment.from.push(left.pop()?);
            } else {
                segment.to.push(right.pop()?);
            }
        }
        result.push(segment);
    }
    (left.is_empty() && right.is_empty()).then_some(result)
}

/// Do these axes, with some that follow, have exactly this size?
fn merges_to(space: &Space, axes: &[usize], coming: &[usize], size: &Extent) -> bool {
    let mut axes = axes.to_vec();
    coming.iter().rev().any(|&axis| {
        axes.push(axis);
        IndexMap::linearise(&space.select(&axes)).is_ok_and(|l| l.codomain().extent(0) == size)
    })
}

impl Segment {
    /// The common refinement of the two sides, as maps from it to either.
    fn refine(&self, from: &Space, to: &Space) -> Option<(IndexMap, IndexMap)> {
        let (a, b) = (from.select(&self.from), to.select(&self.to));
        let (line_a, line_b) = (IndexMap::linearise(&a).ok()?, IndexMap::linearise(&b).ok()?);
        // One axis on one side: it is split, or the others are merged.
        let onto = |line: &IndexMap, space: &Space| {
            IndexMap::assemble(
                line.domain().clone(),
                space.clone(),
                line.components().to_vec(),
                Vec::new(),
                None,
            )
        };
        if a.rank() == 1 {
            return Some((onto(&line_b, &a), IndexMap::identity(&b)));
        }
        if b.rank() == 1 {
            return Some((IndexMap::identity(&a), onto(&line_a, &b)));
        }
        let product = line_b.fibre_product(&line_a)?;
        Some((product.to_p, product.to_q))
    }
}

/// Puts maps from runs of consecutive axes of `space` together; axes of the codomain that no part ends in are 0.
fn join<'a>(
    space: &Space,
    codomain: &Space,
    parts: impl Iterator<Item = (&'a [usize], &'a IndexMap)>,
) -> IndexMap {
    let mut components = vec![Affine::fixed(space.rank(), 0); codomain.rank()];
    let mut before = 0;
    for (axes, map) in parts {
        let rank = map.domain().rank();
        for (&axis, component) in axes.iter().zip(map.components()) {
            components[axis] = component.embed(before, space.rank() - before - rank);
        }
        before += rank;
    }
    IndexMap::assemble(space.clone(), codomain.clone(), components, Vec::new(), None)
}
