//! Panels: what is copied of a tensor or computed of a factor, and what is read of it.

use super::ends::Ends;
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Axis, Panel, PanelLoop};
use surject_ir::{BinaryOp, Scalar};
use surject_kernel::{Affine, Guard, LoopKind, Mem, Place, Space, Type, Value};

/// A panel that is filled.
pub(super) struct Filled<'a> {
    panel: &'a Panel,
    mem: Mem,
    /// The iterations of each of its loops with which it begins.
    first: Vec<Vec<Affine>>,
    /// How many scopes are open where it was filled.
    depth: usize,
}

impl Filled<'_> {
    /// Is it filled when an iteration of a loop of this name begins?
    pub(super) fn is_of(&self, name: &str) -> bool {
        self.panel.at == name
    }
}

/// Elements that are transposed.
struct Square<'a> {
    /// The loops along which neighbours lie in the tensor, and in the panel, each with its first iterations.
    loops: [(&'a PanelLoop, &'a Vec<Affine>); 2],
    /// The iterations of both with which it begins.
    at: [Affine; 2],
    /// The elements of a side, the lines that the panel has of them, and the rows that exist in the tensor.
    side: i64,
    lines: i64,
    rows: i64,
    ends: Ends,
}

/// A place of a panel, so many iterations of two of its loops further on.
fn beside(at: &Affine, loops: [(&PanelLoop, &Affine); 2]) -> Lowered<Affine> {
    let next = |at: Affine, (l, own): (&PanelLoop, &Affine)| at.plus(&l.offset(own)?, 1);
    loops.into_iter().try_fold(at.clone(), next).ok_or_else(overflow)
}

fn overflow() -> CodegenError {
    CodegenError::overflow("a panel")
}

impl<'a> Lowering<'a> {
    /// Fills the panels that an iteration of a loop of this name begins with.
    pub(super) fn fill_panels(&mut self, name: &str) -> Lowered<()> {
        let resolved = self.resolved;
        let adding = self.adding.is_some();
        let here = |p: &&Panel| p.at == name && p.of_blocks == adding;
        resolved.values.panels.iter().filter(here).try_for_each(|panel| self.fill(panel))
    }

    /// Have all panels of these blocks of terms a loop of their own over the terms of a block, which may end earlier?
    pub(super) fn fills_short_panels(&self, axis: &Axis) -> bool {
        self.resolved.values.panels.iter().all(|panel| {
            panel.loops.iter().all(|l| {
                let is_own = panel.of_blocks && l.of.len() == 1 && l.span == axis.factor;
                is_own || l.of.iter().all(|of| of.0 != axis.of)
            })
        })
    }

    fn fill(&mut self, panel: &'a Panel) -> Lowered<()> {
        let place = |of: &(_, i64)| self.places.get(&of.0).cloned().unwrap_or_default();
        let first: Vec<Vec<Affine>> = panel.loops.iter().map(|l| l.of.iter().map(place).collect()).collect();
        let dtype = self.expression.dag[panel.value].dtype;
        let mem = self.b.alloc("panel", dtype, panel.elements, Space::Stack);
        let outside = self.outside();
        let ends = self.ends_of_blocks(panel, &first)?;
        if panel.turned.is_some() {
            // Only loads are there twice: squares are many statements.
            self.copy_block(panel, (&first, ends), mem)?;
        } else {
            self.by_ends(ends, |l| {
                l.copy_block(panel, (&first, Ends::default()), mem)?;
                Ok(Vec::new())
            })?;
        }
        self.return_to(&outside);
        let depth = self.b.depth();
        self.panels.insert(panel.value, Filled { panel, mem, first, depth });
        Ok(())
    }

    /// The loops of a panel whose block here may be the last one, which has guards from here on.
    fn ends_of_blocks(&mut self, panel: &Panel, first: &[Vec<Affine>]) -> Lowered<Ends> {
        let mut ends = Ends::default();
        for (i, (l, first)) in panel.loops.iter().zip(first).enumerate() {
            let ([(of, _)], [first]) = (&l.of[..], &first[..]) else { continue };
            let is_known = self.whole.contains(*of) || self.rest.contains_key(of);
            // What is short and no vector is copied by a loop that ends earlier.
            let is_short = self.short.contains_key(of) && panel.is_along_vectors(i);
            if !self.is_cut_by_cpu(*of) || is_known && !is_short {
                continue;
            }
            let is_whole = self.is_whole(*of, first, l.span)?;
            let known = self.b.is_known(&is_whole, 1);
            if known != Some(true) {
                self.whole = self.whole.minus(std::iter::once(*of).collect());
            }
            if known.is_none() {
                ends = ends.and(&mut self.b, *of, is_whole);
            }
        }
        Ok(ends)
    }

    /// Copies all of a panel, which begins with these iterations.
    fn copy_block(&mut self, panel: &Panel, (first, ends): (&[Vec<Affine>], Ends), mem: Mem) -> Lowered<()> {
        let outside = self.outside();
        // A panel has all iterations, those too that are behind the last one.
        self.whole = self.whole.minus(self.rest.keys().copied().collect());
        // Of the lanes of the last part those that exist are copied.
        let last = panel.loops.last().filter(|l| l.of.len() == 1 && !panel.is_computed);
        let exist =
            last.and_then(|l| Some((l, *self.rest.get(&l.of[0].0)?))).filter(|(l, left)| *left < l.span);
        let exist = exist.map(|(l, left)| {
            self.whole = self.whole.union(std::iter::once(l.of[0].0).collect());
            left
        });
        let exist = exist.unwrap_or(panel.loops.last().map_or(1, |l| l.span));
        let alike = panel.loops.iter().filter(|l| l.of.len() > 1).flat_map(|l| &l.of);
        self.whole = self.whole.union(alike.map(|of| of.0).collect());
        let mut at = Affine::from(0);
        let outer = panel.loops.len().saturating_sub(1);
        let is_turned = |i: usize| panel.turned.is_some_and(|(turned, _)| turned == i);
        let mut opened = 0;
        for (_, (l, first)) in
            panel.loops.iter().zip(first).take(outer).enumerate().filter(|(i, _)| !is_turned(*i))
        {
            let short = l.of.first().and_then(|of| self.short.get(&of.0).copied());
            let span = short.map_or(l.span.into(), Affine::from);
            let own = self.b.open_for(0, span, 1, LoopKind::Serial, &[]).0;
            at = self.at_panel_loop(l, first, (&own.into(), &at))?;
            opened += 1;
        }
        match (panel.turned, panel.loops.last().zip(first.last())) {
            (Some(turned), _) => self.copy_turned(panel, turned, (first, exist, ends), (mem, &at))?,
            (None, Some((last, first))) => self.copy_lines(panel, (last, first, exist), (mem, &at))?,
            (None, None) => self.copy_vector(panel, (mem, at), None)?,
        }
        (0..opened).for_each(|_| _ = self.b.close_for(&[]));
        self.return_to(&outside);
        Ok(())
    }

    /// Says where a loop of a panel is, which began with these iterations: the place in the panel.
    fn at_panel_loop(
        &mut self,
        l: &PanelLoop,
        first: &[Affine],
        (own, at): (&Affine, &Affine),
    ) -> Lowered<Affine> {
        // The first of loops that move alike goes through all of them.
        for (number, (of, first)) in l.of.iter().zip(first).enumerate() {
            let here = if number == 0 { first.plus(own, 1).ok_or_else(overflow)? } else { first.clone() };
            self.set(of.0, here);
        }
        l.offset(own).and_then(|own| at.plus(&own, 1)).ok_or_else(overflow)
    }

    /// Copies squares that are transposed: vectors lie along one loop in the tensor, and along the last one in the panel, of
    /// which so many iterations exist.
    fn copy_turned(
        &mut self,
        panel: &Panel,
        (turned, side): (usize, i64),
        (first, exist, ends): (&[Vec<Affine>], i64, Ends),
        (mem, at): (Mem, &Affine),
    ) -> Lowered<()> {
        let missing = || CodegenError::malformed("a panel without loops");
        let last = panel.loops.len().checked_sub(1).ok_or_else(missing)?;
        let loops = [(&panel.loops[turned], &first[turned]), (&panel.loops[last], &first[last])];
        let parts = |all: i64| [(0, all / side, side), (all / side, i64::from(all % side > 0), all % side)];
        for (begin, count, rows) in parts(exist).into_iter().filter(|part| part.1 > 0) {
            let down = self.open_at(begin, count, side)?;
            for (begin, count, lines) in parts(loops[0].0.span).into_iter().filter(|part| part.1 > 0) {
                let across = self.open_at(begin, count, side)?;
                let square = Square { loops, at: [across, down.clone()], side, lines, rows, ends };
                self.copy_square(panel, &square, (mem, at))?;
                self.b.close_for(&[]);
            }
            self.b.close_for(&[]);
        }
        let filled = (exist + side - 1) / side;
        let left = panel.loops[last].span / side - filled;
        if left > 0 {
            let down = self.open_at(filled, left, side)?;
            let line = self.open_at(0, loops[0].0.span, 1)?;
            let place = beside(at, [(loops[0].0, &line), (loops[1].0, &down)]);
            self.fill_nothing(panel, (mem, place?), side)?;
            (0..2).for_each(|_| _ = self.b.close_for(&[]));
        }
        Ok(())
    }

    /// Opens a loop over parts of so many elements, from that of a number on: the first element of one.
    fn open_at(&mut self, first: i64, count: i64, by: i64) -> Lowered<Affine> {
        let (number, _) = self.b.open_for(first, first + count, 1, LoopKind::Serial, &[]);
        Affine::from(number).times(by).ok_or_else(overflow)
    }

    /// Zeros in a vector of a panel.
    fn fill_nothing(&mut self, panel: &Panel, (mem, at): (Mem, Affine), lanes: i64) -> Lowered<()> {
        let dtype = self.expression.dag[panel.value].dtype;
        let none = self.b.splat(Scalar::zero(dtype), lanes as usize);
        let at = if lanes > 1 { at.plus(&Affine::lane(1), 1).ok_or_else(overflow)? } else { at };
        self.b.store(Place::new(mem, at), none);
        Ok(())
    }

    /// Copies a square of which so many lines exist in the panel.
    fn copy_square(&mut self, panel: &Panel, square: &Square<'_>, (mem, at): (Mem, &Affine)) -> Lowered<()> {
        let &Square { loops: [(across, of_across), (down, of_down)], side, lines, rows: exist, .. } = square;
        let number = |at: &Affine, number: i64| at.plus(&number.into(), 1).ok_or_else(overflow);
        let lanes = |at: &Affine| at.plus(&Affine::lane(1), 1).ok_or_else(overflow);
        let mut rows = self.by_ends(square.ends, |l| {
            let row = |i: i64| {
                let outside = l.outside();
                l.lanes = Some((across.of[0].0, side as usize));
                l.at_panel_loop(down, of_down, (&number(&square.at[1], i)?, at))?;
                l.at_panel_loop(across, of_across, (&lanes(&square.at[0])?, at))?;
                let row = l.load_for_panel(panel, (lines < side).then_some(lines))?;
                l.return_to(&outside);
                Ok(row)
            };
            (0..exist).map(row).collect()
        })?;
        let dtype = self.expression.dag[panel.value].dtype;
        let none = self.b.splat(Scalar::zero(dtype), side as usize);
        rows.resize(side as usize, none);
        self.transpose_square(&mut rows, 1);
        for (i, column) in rows.into_iter().take(lines as usize).enumerate() {
            let own = [number(&square.at[0], i as i64)?, lanes(&square.at[1])?];
            let place = beside(at, [(across, &own[0]), (down, &own[1])])?;
            self.b.store(Place::new(mem, place), column);
        }
        Ok(())
    }

    /// Copies along the last loop of a panel, of which so many iterations exist: whole vectors, then what is left.
    fn copy_lines(
        &mut self,
        panel: &Panel,
        (last, first, exist): (&PanelLoop, &[Affine], i64),
        (mem, at): (Mem, &Affine),
    ) -> Lowered<()> {
        let (count, left) = (exist / panel.lanes, exist % panel.lanes);
        if left > 0 {
            self.copy_part(panel, (last, first), (mem, at), (count.into(), Some(left)))?;
        }
        let (filled, all) = [exist, last.span].map(|n| (n + panel.lanes - 1) / panel.lanes).into();
        if filled < all {
            let own = self.open_at(filled, all - filled, panel.lanes)?;
            let place = last.offset(&own).and_then(|own| own.plus(at, 1));
            self.fill_nothing(panel, (mem, place.ok_or_else(overflow)?), panel.lanes)?;
            self.b.close_for(&[]);
        }
        match count {
            0 => return Ok(()),
            1 => return self.copy_part(panel, (last, first), (mem, at), (0.into(), None)),
            _ => {}
        }
        let variable = self.b.open_for(0, count, 1, LoopKind::Serial, &[]).0;
        self.copy_part(panel, (last, first), (mem, at), (variable.into(), None))?;
        self.b.close_for(&[]);
        Ok(())
    }

    /// Copies the vector of this number along the last loop, of which so many elements are left if not all are there.
    fn copy_part(
        &mut self,
        panel: &Panel,
        (last, first): (&PanelLoop, &[Affine]),
        (mem, at): (Mem, &Affine),
        (number, left): (Affine, Option<i64>),
    ) -> Lowered<()> {
        let outside = self.outside();
        let mut own = number.times(panel.lanes).ok_or_else(overflow)?;
        if panel.lanes > 1 {
            own = own.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
            self.lanes = Some((last.of[0].0, panel.lanes as usize));
        }
        let at = self.at_panel_loop(last, first, (&own, at))?;
        self.copy_vector(panel, (mem, at), left)?;
        self.return_to(&outside);
        Ok(())
    }

    /// Copies a vector to a place of a panel, of which so many elements are left if not all are there.
    fn copy_vector(&mut self, panel: &Panel, (mem, at): (Mem, Affine), left: Option<i64>) -> Lowered<()> {
        let value = self.load_for_panel(panel, left)?;
        self.b.store(Place::new(mem, at), value);
        Ok(())
    }

    /// What a panel has here, of which so many elements are left if not all are there.
    fn load_for_panel(&mut self, panel: &Panel, left: Option<i64>) -> Lowered<Value> {
        let data = &self.expression.dag[panel.value];
        if panel.is_computed {
            let lanes = self.lanes.map_or(1, |l| l.1);
            return self.operand(panel.value, lanes);
        }
        let Node::Load { buf, address, guards } = &data.node else {
            return Err(CodegenError::malformed("a panel of what is not loaded"));
        };
        let mut place = self.place(*buf, address, guards, data.deps)?;
        place.guards.extend(left.map(|left| Guard { expr: Affine::lane(1), bound: left.into() }));
        let lanes = self.lanes.map_or(1, |l| l.1);
        Ok(self.b.load(place, Type::vector(data.dtype, lanes)))
    }

    /// Elements of the panel of a value.
    pub(super) fn load_of_panel(&mut self, value: NodeId, ty: Type) -> Lowered<Value> {
        let filled =
            self.panels.get(&value).ok_or_else(|| CodegenError::malformed("a panel that nobody fills"))?;
        let mut places = Vec::new();
        for (l, first) in filled.panel.loops.iter().zip(&filled.first) {
            let mut all = Affine::from(0);
            for (&(of, by), first) in l.of.iter().zip(first) {
                let missing = || CodegenError::malformed("a loop that is not open");
                let own = self.places.get(&of).ok_or_else(missing)?.plus(first, -1).ok_or_else(overflow)?;
                all = all.plus(&own, by).ok_or_else(overflow)?;
            }
            places.push((l, all));
        }
        let (mem, depth) = (filled.mem, filled.depth);
        let mut at = Affine::from(0);
        for (l, own) in places {
            let offset = l.offset(&own).map_or_else(|| self.offset_of_element(l, &own), Ok)?;
            at = at.plus(&offset, 1).ok_or_else(overflow)?;
        }
        Ok(self.b.load_settled(Place::new(mem, at), ty, depth))
    }

    /// Where one element along a loop is in a panel, which has vectors of it, whatever vector that is.
    fn offset_of_element(&mut self, l: &PanelLoop, own: &Affine) -> Lowered<Affine> {
        let vectors = l.vectors.as_ref().filter(|_| own.lane == 0).ok_or_else(overflow)?;
        let (number, lanes) = (self.number(own), self.integer(vectors.lanes));
        let first = Affine::from(self.b.binary(BinaryOp::Div, number, lanes));
        let within = Affine::from(self.b.binary(BinaryOp::Rem, number, lanes));
        let first = vectors.lanes.checked_mul(vectors.stride).and_then(|by| first.times(by));
        first.and_then(|first| first.plus(&within, l.stride)).ok_or_else(overflow)
    }
}
