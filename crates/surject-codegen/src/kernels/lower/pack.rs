//! Panels: what is copied of a tensor, and what is read of the copy.

use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Axis, Panel};
use surject_kernel::{Affine, LoopKind, Mem, Place, Space, Type, Value};

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
    /// Is it filled when an iteration of a loop begins?
    pub(super) fn is_of(&self, axis: &Axis) -> bool {
        self.panel.at == axis.name
    }
}

fn overflow() -> CodegenError {
    CodegenError::overflow("a panel")
}

impl<'a> Lowering<'a> {
    /// Fills the panels that an iteration of a loop begins with.
    pub(super) fn fill_panels(&mut self, axis: &Axis) -> Lowered<()> {
        let resolved = self.resolved;
        resolved.values.panels.iter().filter(|p| p.at == axis.name).try_for_each(|panel| self.fill(panel))
    }

    fn fill(&mut self, panel: &'a Panel) -> Lowered<()> {
        let data = &self.expression.dag[panel.load];
        let Node::Load { buf, address, guards } = &data.node else {
            return Err(CodegenError::malformed("a panel of what is not loaded"));
        };
        let place = |l: &LoopId| self.places.get(l).cloned().unwrap_or_default();
        let first: Vec<Vec<Affine>> = panel.loops.iter().map(|l| l.of.iter().map(place).collect()).collect();
        let mem = self.b.alloc("panel", data.dtype, panel.elements, Space::Stack);
        let outside = self.outside();
        let lanes = panel.lanes;
        // A panel has all iterations, those too that are behind the last one.
        self.whole = self.whole.minus(self.rest.keys().copied().collect());
        let mut at = Affine::from(0);
        let mut opened = 0;
        for (i, (l, first)) in panel.loops.iter().zip(&first).enumerate() {
            let by = if i + 1 == panel.loops.len() { lanes } else { 1 };
            let mut own = Affine::from(0);
            if l.span > by {
                own = self.b.open_for(0, l.span / by, 1, LoopKind::Serial, &[]).0.into();
                own = own.times(by).ok_or_else(overflow)?;
                opened += 1;
            }
            if by > 1 {
                own = own.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
                self.lanes = Some((l.of[0], by as usize));
            }
            // The first of loops that move alike goes through all of them.
            for (number, (&of, first)) in l.of.iter().zip(first).enumerate() {
                let at = if number == 0 { first.plus(&own, 1).ok_or_else(overflow)? } else { first.clone() };
                self.set(of, at);
            }
            if l.of.len() > 1 {
                self.whole = self.whole.union(l.of.iter().copied().collect());
            }
            at = at.plus(&own, l.stride).ok_or_else(overflow)?;
        }
        let place = self.place(*buf, address, guards, data.deps)?;
        let value = self.b.load(place, Type::vector(data.dtype, lanes as usize));
        self.b.store(Place::new(mem, at), value);
        (0..opened).for_each(|_| _ = self.b.close_for(&[]));
        self.return_to(&outside);
        let depth = self.b.depth();
        self.panels.insert(panel.load, Filled { panel, mem, first, depth });
        Ok(())
    }

    /// Elements of the panel of a load.
    pub(super) fn load_of_panel(&mut self, load: NodeId, ty: Type) -> Lowered<Value> {
        let filled =
            self.panels.get(&load).ok_or_else(|| CodegenError::malformed("a panel that nobody fills"))?;
        let mut at = Affine::from(0);
        for (l, first) in filled.panel.loops.iter().zip(&filled.first) {
            for (of, first) in l.of.iter().zip(first) {
                let missing = || CodegenError::malformed("a loop that is not open");
                let own = self.places.get(of).ok_or_else(missing)?.plus(first, -1).ok_or_else(overflow)?;
                at = at.plus(&own, l.stride).ok_or_else(overflow)?;
            }
        }
        let (mem, depth) = (filled.mem, filled.depth);
        Ok(self.b.load_settled(Place::new(mem, at), ty, depth))
    }
}
