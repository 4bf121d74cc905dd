//! Pieces: where concatenations couple loops, the operation runs once for every selection of active components.
//!
//! A tensor takes part in a selection when every loop it mentions is active, and every concatenated axis has an active
//! component. A selection means nothing where the result does not take part, or no operand does: there is no piece.

use crate::access::{Access, NoAccess, Window};
use crate::equation::tidy;
use crate::error::{Place, ProjectionError, Slot};
use crate::projections::{Index, LoopId, Part, Projections};
use std::collections::{BTreeSet, HashSet};
use surject_index::{Affine, Extent, Fact, Facts, Fill, IndexMap, Progression, Relation, Space, Verdict};

/// The most selections of an operation.
const MOST_SELECTIONS: usize = 1 << 16;

/// The most points that a decision over several pieces enumerates as its last resort.
const ENUMERATED: u64 = 1 << 20;

/// The operation on one selection of active components: a box of loops, with one access a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The space of its loops.
    pub space: Space,
    /// Its loops, one an axis of the space.
    pub loops: Vec<LoopId>,
    /// Where it writes.
    pub result: Access,
    /// Where it reads each operand; `None` for operands that do not take part.
    pub operands: Vec<Option<Access>>,
}

/// Which operands a piece needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// At least one.
    Any,
    /// All.
    All,
}

impl Projections {
    /// The pieces of an operation that takes each element from one operand, such as a block `a; b => a^b`: in each piece
    /// of coupled concatenations exactly one operand takes part. Without coupled concatenations there is one piece, and
    /// all operands take part.
    ///
    /// # Errors
    /// An ambiguous block: two operands take part in one piece. A position that does not fit.
    pub fn pieces(&self) -> Result<Vec<Piece>, ProjectionError> {
        let pieces = self.selected(Needs::Any)?;
        if !self.is_coupled() {
            return Ok(pieces);
        }
        for piece in &pieces {
            let mut present = (0..piece.operands.len()).filter(|i| piece.operands[*i].is_some());
            if let (Some(first), Some(second)) = (present.next(), present.next()) {
                let active = self.factors.iter().filter(|f| f.loops.len() > 1);
                let active = active.flat_map(|f| f.loops.iter().filter(|id| piece.loops.contains(id)));
                let names: Vec<String> = active
                    .map(|id| format!("`{}` is active", self.of(*id).map_or("?", |l| &l.name)))
                    .collect();
                let active = match names.is_empty() {
                    true => "only one component has any".to_string(),
                    false => names.join(" and "),
                };
                return Err(ProjectionError::Ambiguous {
                    first: Slot::Operand(first),
                    second: Slot::Operand(second),
                    active,
                });
            }
        }
        Ok(pieces)
    }

    /// The pieces of an operation that needs an element of every operand, such as a product: in each piece all operands
    /// take part. Without coupled concatenations the same as [`Projections::pieces`].
    ///
    /// # Errors
    /// A position that does not fit.
    pub fn joint_pieces(&self) -> Result<Vec<Piece>, ProjectionError> {
        self.selected(Needs::All)
    }

    /// Are there coupled concatenations: a concatenated axis, of several components or with positions that are not
    /// touched?
    fn is_coupled(&self) -> bool {
        self.operands.iter().chain([&self.result]).flatten().any(|index| matches!(index, Index::Concat(_)))
    }

    /// The loops whose components are coupled.
    fn coupled(&self) -> BTreeSet<LoopId> {
        let concats = self.operands.iter().chain([&self.result]).flatten();
        concats.filter(|index| matches!(index, Index::Concat(_))).flat_map(Index::loops).collect()
    }

    fn selected(&self, needs: Needs) -> Result<Vec<Piece>, ProjectionError> {
        let count = self.factors.iter().try_fold(1usize, |n, f| n.checked_mul(f.loops.len()));
        if count.is_none_or(|n| n > MOST_SELECTIONS) {
            return Err(ProjectionError::TooLarge("the components have too many combinations".to_string()));
        }
        let coupled = self.coupled();
        let mut pieces = Vec::new();
        let mut choice = vec![0; self.factors.len()];
        loop {
            let loops: Option<Vec<LoopId>> =
                self.factors.iter().zip(&choice).map(|(f, c)| f.loops.get(*c).copied()).collect();
            // A factor without loops has no selection.
            let Some(loops) = loops else { return Ok(pieces) };
            // A component without positions contributes nothing.
            let idle = loops
                .iter()
                .any(|id| coupled.contains(id) && self.of(*id).is_none_or(|l| l.size == Extent::Const(0)));
            if !idle && let Some(piece) = self.piece(loops, needs)? {
                pieces.push(piece);
            }
            // The next selection, the last factor fastest.
            let Some(factor) = (0..choice.len()).rev().find(|&f| choice[f] + 1 < self.factors[f].loops.len())
            else {
                return Ok(pieces);
            };
            choice[factor] += 1;
            choice[factor + 1..].fill(0);
        }
    }

    fn piece(&self, loops: Vec<LoopId>, needs: Needs) -> Result<Option<Piece>, ProjectionError> {
        let space = Space::new(loops.iter().map(|id| self.length(*id)));
        let Some(result) = self.access(&self.result, &self.result_extents, &loops, &space)? else {
            return Ok(None);
        };
        let operands = self.operands.iter().zip(&self.operand_extents);
        let operands = operands.map(|(map, extents)| self.access(map, extents, &loops, &space));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let enough = match needs {
            Needs::Any => operands.is_empty() || operands.iter().any(Option::is_some),
            Needs::All => operands.iter().all(Option::is_some),
        };
        Ok(enough.then_some(Piece { space, loops, result, operands }))
    }

    /// The access of a tensor where these loops are active; `None` where it does not take part.
    fn access(
        &self,
        map: &[Index],
        extents: &[Extent],
        loops: &[LoopId],
        space: &Space,
    ) -> Result<Option<Access>, ProjectionError> {
        let too_large = || ProjectionError::TooLarge("a position does not fit in 64 bits".to_string());
        let axis_of = |id: &LoopId| loops.iter().position(|l| l == id);
        let (mut components, mut kept) = (Vec::new(), Vec::new());
        let (mut starts, mut whole) = (Vec::new(), Vec::new());
        let mut is_window = false;
        for (index, extent) in map.iter().zip(extents) {
            let component = match index {
                Index::External => continue,
                Index::Fixed(position) => {
                    Affine::fixed(space.rank(), i64::try_from(*position).map_err(|_| too_large())?)
                }
                Index::Affine { terms, offset } => {
                    let mut form = Affine::fixed(space.rank(), *offset);
                    for (c, id) in terms {
                        let Some(axis) = axis_of(id) else { return Ok(None) };
                        form.coeffs[axis] = form.coeffs[axis].checked_add(*c).ok_or_else(too_large)?;
                    }
                    form
                }
                Index::Concat(parts) => {
                    let Some((axis, start)) = self.start_of(parts, &axis_of) else { return Ok(None) };
                    match (start.as_const(), extent.as_const()) {
                        (Some(start), Some(_)) => {
                            let start = i64::try_from(start).map_err(|_| too_large())?;
                            Affine::strided(space.rank(), axis, 1, start)
                        }
                        // The start is no number, or the end of the axis is none: a window that the component fills.
                        _ => {
                            is_window = true;
                            components.push(Affine::axis(space.rank(), axis));
                            kept.push(space.extent(axis).clone());
                            starts.push(start);
                            whole.push(extent.clone());
                            continue;
                        }
                    }
                }
            };
            components.push(component);
            kept.push(extent.clone());
            starts.push(Extent::Const(0));
            whole.push(extent.clone());
        }
        let window = is_window.then_some(Window { starts, whole });
        let access = Access::new(space.clone(), components, kept, window, self.facts.clone());
        access.map(Some).map_err(|error| match error {
            NoAccess::TooLarge => too_large(),
            NoAccess::SymbolicMargin(size) => {
                ProjectionError::Dynamic { place: Place::Unnamed, field: "the margin", size }
            }
            NoAccess::Undecided(missing) => {
                let what = "whether the positions of an axis are inside".to_string();
                ProjectionError::Undecided { what, missing: *missing }
            }
        })
    }

    /// The axis of the active component of a concatenation, and the position that it starts at.
    fn start_of(
        &self,
        parts: &[Part],
        axis_of: &dyn Fn(&LoopId) -> Option<usize>,
    ) -> Option<(usize, Extent)> {
        let mut start = Extent::Const(0);
        for part in parts {
            let size = match part {
                Part::Skip(size) => size.clone(),
                Part::Loop(id) => match axis_of(id) {
                    Some(axis) => return Some((axis, tidy(&self.facts, start))),
                    None => self.length(*id),
                },
            };
            start = Extent::sum(start, size);
        }
        None
    }

    fn length(&self, id: LoopId) -> Extent {
        self.of(id).map_or(Extent::Const(0), |l| l.size.clone())
    }

    /// Does each cell of the result get written by at most one point of the product space? Then nothing is ever
    /// accumulated and the accumulation is a plain write. Points that leave the result write nothing.
    ///
    /// # Errors
    /// A position that does not fit.
    pub fn injective(&self) -> Result<Verdict, ProjectionError> {
        Ok(injective(&self.selected(Needs::Any)?))
    }

    /// Does every cell of the result get written? If not, the others have to be set to the neutral element.
    ///
    /// # Errors
    /// A position that does not fit.
    pub fn surjective(&self) -> Result<Verdict, ProjectionError> {
        let axes = self.result.iter().zip(&self.result_extents);
        let kept = axes.filter(|(index, _)| **index != Index::External).map(|(_, extent)| extent.clone());
        Ok(surjective(&self.selected(Needs::Any)?, &kept.collect::<Vec<_>>()))
    }
}

/// The maps of the result, on the points that stay inside of it.
fn maps(pieces: &[Piece]) -> Vec<IndexMap> {
    pieces.iter().map(|p| p.result.read_map(Fill(0))).collect()
}

/// Do the pieces write each cell of the result at most once? For one piece exact as [`IndexMap::injective`]; several need
/// disjoint images as well.
pub fn injective(pieces: &[Piece]) -> Verdict {
    injective_given(pieces, None)
}

fn injective_given(pieces: &[Piece], facts: Option<&Facts>) -> Verdict {
    let maps = maps(pieces);
    let mut verdict = Verdict::Yes(());
    for (piece, map) in pieces.iter().zip(&maps) {
        match map.injective_given(facts.unwrap_or(piece.result.facts())).plain() {
            Verdict::Yes(()) => {}
            Verdict::No(()) => return Verdict::No(()),
            Verdict::Unknown => verdict = Verdict::Unknown,
        }
    }
    for (i, first) in maps.iter().enumerate() {
        for (j, second) in maps[..i].iter().enumerate() {
            let apart = match pieces.iter().any(is_symbolic) {
                true => symbolic_apart(&pieces[i].result, &pieces[j].result, facts),
                false => apart(first, second),
            };
            match apart {
                Some(true) => {}
                Some(false) => return Verdict::No(()),
                None => verdict = Verdict::Unknown,
            }
        }
    }
    if verdict.is_unknown()
        && let Some((cells, points)) = count(&maps)
    {
        return Verdict::from(cells as u64 == points);
    }
    verdict
}

/// Do the pieces together write every cell of a result of these sizes? For one piece exact as [`IndexMap::surjective`]; for
/// several decided by counting disjoint images, or by enumeration. Symbolic sizes are covered where windows follow on each
/// other from end to end.
pub fn surjective(pieces: &[Piece], extents: &[Extent]) -> Verdict {
    surjective_given(pieces, extents, None)
}

fn surjective_given(pieces: &[Piece], extents: &[Extent], facts: Option<&Facts>) -> Verdict {
    if extents.contains(&Extent::Const(0)) {
        return Verdict::Yes(());
    }
    if pieces.iter().any(is_symbolic) || extents.iter().any(|e| e.as_const().is_none()) {
        return symbolic_surjective(pieces, facts);
    }
    let maps = maps(pieces);
    match maps.as_slice() {
        [] => return Verdict::No(()),
        [map] => return map.surjective().plain(),
        _ => {}
    }
    let cells = extents.iter().try_fold(1u64, |n, e| n.checked_mul(e.as_const()?));
    let disjoint = (0..maps.len()).all(|i| maps[..i].iter().all(|m| apart(m, &maps[i]) == Some(true)));
    if disjoint && let Some(covered) = maps.iter().map(cells_of).sum::<Option<u64>>() {
        return Verdict::from(Some(covered) == cells);
    }
    if maps.iter().any(|map| map.surjective().is_yes()) {
        return Verdict::Yes(());
    }
    match count(&maps) {
        Some((covered, _)) => Verdict::from(Some(covered as u64) == cells),
        None => Verdict::Unknown,
    }
}

/// Where sizes are symbolic and a question about pieces is not decided: facts that would make it *yes*, as few as are found.
/// `cover` asks whether all cells of these sizes are written; otherwise the question is whether each is written once.
pub fn lacking(pieces: &[Piece], cover: Option<&[Extent]>) -> Vec<Fact> {
    let Some(known) = pieces.first().map(|piece| piece.result.facts()) else { return Vec::new() };
    let ask = |facts: &Facts| match cover {
        Some(extents) => surjective_given(pieces, extents, Some(facts)),
        None => injective_given(pieces, Some(facts)),
    };
    let mut candidates: Vec<Fact> =
        pieces.iter().flat_map(|p| candidates(&p.result, cover.is_some())).collect();
    candidates.retain(|fact| known.holds(fact).is_unknown());
    candidates.sort();
    candidates.dedup();
    let with = |chosen: &[Fact]| {
        let facts = Facts::of(known.iter().chain(chosen).cloned()).ok()?;
        ask(&facts).is_yes().then_some(())
    };
    if with(&candidates).is_none() {
        return Vec::new();
    }
    // Leave out what is not needed.
    for i in (0..candidates.len()).rev() {
        let mut fewer = candidates.clone();
        fewer.remove(i);
        if with(&fewer).is_some() {
            candidates = fewer;
        }
    }
    candidates.iter().map(|fact| known.residual(fact)).collect()
}

/// Facts about the loops of an access that may be what a decision lacks.
fn candidates(access: &Access, cover: bool) -> Vec<Fact> {
    let mut found = Vec::new();
    let axes = access.space().extents().iter().enumerate().filter(|(_, size)| size.as_const().is_none());
    for (axis, size) in axes {
        if cover {
            found.push(Fact::new(Extent::Const(1), Relation::Le, size.clone()));
            continue;
        }
        let users = access.components().iter().filter(|c| c.coeffs[axis] != 0);
        let mut used = false;
        for component in users {
            used = true;
            let own = component.coeffs[axis].unsigned_abs();
            // Steps of this axis stay below one step of another.
            let others = component.coeffs.iter().enumerate().filter(|(a, c)| *a != axis && **c != 0);
            for step in others.map(|(_, c)| c.unsigned_abs()).filter(|step| *step > own) {
                found.push(Fact::new(size.clone(), Relation::Le, Extent::Const(step / own)));
            }
        }
        if !used {
            found.push(Fact::new(size.clone(), Relation::Le, Extent::Const(1)));
        }
    }
    found
}

fn is_symbolic(piece: &Piece) -> bool {
    let access = &piece.result;
    access.window().is_some()
        || access.space().extents().iter().chain(access.extents()).any(|e| e.as_const().is_none())
}

/// The positions along an axis that an access may write: from the first one to beyond the last one. Only for accesses that
/// stay inside, where that is all of the window.
fn interval(access: &Access, axis: usize) -> (Extent, Extent) {
    let size = &access.extents()[axis];
    match access.window() {
        None => (Extent::Const(0), size.clone()),
        Some(window) => {
            let start = &window.starts[axis];
            (start.clone(), Extent::sum(start.clone(), size.clone()))
        }
    }
}

/// Are the windows of two accesses certainly disjoint? Never a certain *no*.
fn symbolic_apart(first: &Access, second: &Access, facts: Option<&Facts>) -> Option<bool> {
    let facts = facts.unwrap_or(first.facts());
    let axes = first.extents().len().min(second.extents().len());
    let apart = (0..axes).any(|axis| {
        let (a, b) = (interval(first, axis), interval(second, axis));
        facts.compare(&a.1, Relation::Le, &b.0).is_yes() || facts.compare(&b.1, Relation::Le, &a.0).is_yes()
    });
    apart.then_some(true)
}

fn symbolic_surjective(pieces: &[Piece], facts: Option<&Facts>) -> Verdict {
    let covers = |piece: &Piece| {
        let facts = facts.unwrap_or(piece.result.facts());
        piece.result.read_map(Fill(0)).surjective_given(facts).plain()
    };
    match pieces {
        // Whether the result has a cell is not known.
        [] => Verdict::Unknown,
        [piece] if piece.result.window().is_none() => covers(piece),
        _ => {
            let whole = pieces.iter().any(|p| p.result.window().is_none() && covers(p).is_yes());
            if whole || follow_on(pieces, facts) && pieces.iter().all(|p| covers(p).is_yes()) {
                Verdict::Yes(())
            } else {
                Verdict::Unknown
            }
        }
    }
}

/// Do the windows follow on each other along one axis, from one end to the other, and fill all others?
fn follow_on(pieces: &[Piece], facts: Option<&Facts>) -> bool {
    let Some(first) = pieces.first() else { return false };
    let facts = facts.unwrap_or(first.result.facts());
    let same = |a: &Extent, b: &Extent| facts.same(a, b).is_yes();
    let rank = first.result.extents().len();
    (0..rank).any(|along| {
        let mut next = Extent::Const(0);
        for piece in pieces {
            let access = &piece.result;
            let Some(window) = access.window() else { return false };
            let fills = (0..rank).all(|axis| {
                axis == along
                    || same(&window.starts[axis], &Extent::Const(0))
                        && same(&window.whole[axis], &access.extents()[axis])
            });
            if !fills || !same(&next, &window.starts[along]) {
                return false;
            }
            next = interval(access, along).1;
        }
        let whole = first.result.window().map(|w| &w.whole[along]);
        whole.is_some_and(|whole| same(&next, whole))
    })
}

/// The number of cells that a map reaches, where its image is a box of progressions.
fn cells_of(map: &IndexMap) -> Option<u64> {
    map.image()?.iter().try_fold(1u64, |n, p| n.checked_mul(p.count))
}

/// Are the images of two maps disjoint?
fn apart(first: &IndexMap, second: &IndexMap) -> Option<bool> {
    let (a, b) = (first.image()?, second.image()?);
    if a.iter().chain(&b).any(|p| p.count == 0) {
        return Some(true);
    }
    // Boxes are disjoint when they are on one axis.
    let mut verdict = Some(false);
    for (p, q) in a.iter().zip(&b) {
        let last = |p: &Progression| i128::from(p.start) + i128::from(p.stride) * (i128::from(p.count) - 1);
        let (low, high) = (i128::from(p.start.max(q.start)), last(p).min(last(q)));
        if low > high {
            return Some(true);
        }
        if p.stride != q.stride && p.count > 1 && q.count > 1 {
            verdict = None;
            continue;
        }
        // `low` is the start of one of them: the other one either has it, or nothing in common with it.
        let has = |p: &Progression| (low - i128::from(p.start)) % i128::from(p.stride) == 0;
        if !has(p) || !has(q) {
            return Some(true);
        }
    }
    verdict
}

/// The number of cells reached and of points that reach one, by enumeration.
fn count(maps: &[IndexMap]) -> Option<(usize, u64)> {
    let total = maps.iter().try_fold(0u64, |n, m| n.checked_add(m.domain().points()?))?;
    if total > ENUMERATED {
        return None;
    }
    let mut cells = HashSet::new();
    let mut points = 0;
    for map in maps {
        for cell in map.domain().iter_points()?.filter_map(|p| map.apply(&p)) {
            cells.insert(cell);
            points += 1;
        }
    }
    Some((cells.len(), points))
}
