//! Panels: what is copied of a tensor, and what is read of the copy.

use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Panel, PanelLoop};
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

    fn fill(&mut self, panel: &'a Panel) -> Lowered<()> {
        let place = |of: &(_, i64)| self.places.get(&of.0).cloned().unwrap_or_default();
        let first: Vec<Vec<Affine>> = panel.loops.iter().map(|l| l.of.iter().map(place).collect()).collect();
        let dtype = self.expression.dag[panel.load].dtype;
        let mem = self.b.alloc("panel", dtype, panel.elements, Space::Stack);
        let outside = self.outside();
        // A panel has all iterations, those too that are behind the last one.
        self.whole = self.whole.minus(self.rest.keys().copied().collect());
        let alike = panel.loops.iter().filter(|l| l.of.len() > 1).flat_map(|l| &l.of);
        self.whole = self.whole.union(alike.map(|of| of.0).collect());
        let mut at = Affine::from(0);
        let outer = panel.loops.len().saturating_sub(1);
        for (l, first) in panel.loops.iter().zip(&first).take(outer) {
            let own = self.b.open_for(0, l.span, 1, LoopKind::Serial, &[]).0;
            at = self.at_panel_loop(l, first, (&own.into(), &at))?;
        }
        match panel.loops.last().zip(first.last()) {
            Some((last, first)) => self.copy_lines(panel, (last, first), (mem, &at))?,
            None => self.copy_vector(panel, (mem, at), None)?,
        }
        (0..outer).for_each(|_| _ = self.b.close_for(&[]));
        self.return_to(&outside);
        let depth = self.b.depth();
        self.panels.insert(panel.load, Filled { panel, mem, first, depth });
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
        at.plus(own, l.stride).ok_or_else(overflow)
    }

    /// Copies along the last loop of a panel: whole vectors, then what is left.
    fn copy_lines(
        &mut self,
        panel: &Panel,
        (last, first): (&PanelLoop, &[Affine]),
        (mem, at): (Mem, &Affine),
    ) -> Lowered<()> {
        let (count, left) = (last.span / panel.lanes, last.span % panel.lanes);
        if left > 0 {
            self.copy_part(panel, (last, first), (mem, at), (count.into(), Some(left)))?;
        }
        if count == 1 {
            return self.copy_part(panel, (last, first), (mem, at), (0.into(), None));
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
        let data = &self.expression.dag[panel.load];
        let Node::Load { buf, address, guards } = &data.node else {
            return Err(CodegenError::malformed("a panel of what is not loaded"));
        };
        let mut place = self.place(*buf, address, guards, data.deps)?;
        place.guards.extend(left.map(|left| Guard { expr: Affine::lane(1), bound: left.into() }));
        let value = self.b.load(place, Type::vector(data.dtype, panel.lanes as usize));
        self.b.store(Place::new(mem, at), value);
        Ok(())
    }

    /// Elements of the panel of a load.
    pub(super) fn load_of_panel(&mut self, load: NodeId, ty: Type) -> Lowered<Value> {
        let filled =
            self.panels.get(&load).ok_or_else(|| CodegenError::malformed("a panel that nobody fills"))?;
        let mut at = Affine::from(0);
        for (l, first) in filled.panel.loops.iter().zip(&filled.first) {
            for (&(of, by), first) in l.of.iter().zip(first) {
                let missing = || CodegenError::malformed("a loop that is not open");
                let own = self.places.get(&of).ok_or_else(missing)?.plus(first, -1).ok_or_else(overflow)?;
                let by = by.checked_mul(l.stride).ok_or_else(overflow)?;
                at = at.plus(&own, by).ok_or_else(overflow)?;
            }
        }
        let (mem, depth) = (filled.mem, filled.depth);
        Ok(self.b.load_settled(Place::new(mem, at), ty, depth))
    }
}
