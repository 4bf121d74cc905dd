//! Addresses, and who may do what to which memory.

use super::{Checked, Verifier, fault, need};
use crate::{Affine, Guard, Level, Mem, Place, Space, Tile, Type, Value};
use surject_ir::DType;

impl Verifier<'_> {
    pub(super) fn alloc(&mut self, mem: Mem) -> Checked {
        let memory = self.kernel.mem(mem);
        need(self.ever_made.insert(mem), || format!("`{}` is made twice", memory.name))?;
        let level = self.levels.last();
        let fits = match memory.space {
            Space::Global => return fault("global memory is a parameter"),
            Space::Worker => level == Some(&Level::Task),
            Space::Shared => level == Some(&Level::Block),
            Space::Stack | Space::Register => true,
        };
        need(fits, || format!("{} memory is not made here", memory.space))?;
        self.affine(&memory.elements, 1)?;
        self.made.push((mem, self.levels.len()));
        Ok(())
    }

    pub(super) fn writes(&self, place: &Place, value: Value, how: &str) -> Checked {
        let (ty, dtype) = (self.ty(value)?, self.kernel.mem(place.mem).dtype);
        need(ty.dtype == dtype, || format!("{ty} is {how} where elements are {dtype}"))?;
        self.place(place, ty.lanes)?;
        self.writable(place.mem)
    }

    pub(super) fn readable(&self, mem: Mem) -> Checked {
        self.visible(mem)?;
        self.no_barrier(mem)?;
        let memory = self.kernel.mem(mem);
        need(memory.access.reads(), || format!("`{}` is only written", memory.name))
    }

    pub(super) fn writable(&self, mem: Mem) -> Checked {
        self.visible(mem)?;
        self.no_barrier(mem)?;
        let memory = self.kernel.mem(mem);
        need(memory.access.writes(), || format!("`{}` is only read", memory.name))
    }

    /// Does the memory exist here, and may whoever is here use it?
    pub(super) fn visible(&self, mem: Mem) -> Checked {
        let memory = self.kernel.mem(mem);
        match self.made.iter().find(|m| m.0 == mem) {
            None => fault(format!("`{}` does not exist here", memory.name)),
            Some((_, depth)) => {
                let own = matches!(memory.space, Space::Register | Space::Stack);
                need(!own || *depth == self.levels.len(), || {
                    format!("`{}` belongs to whoever is outside of this parallel loop", memory.name)
                })
            }
        }
    }

    pub(super) fn place(&self, place: &Place, lanes: usize) -> Checked {
        self.visible(place.mem)?;
        self.affine(&place.at, lanes)?;
        self.guards(&place.guards, lanes)?;
        if let Some(offset) = place.offset {
            let ty = self.ty(offset)?;
            need(ty.dtype.is_int() && [1, lanes].contains(&ty.lanes), || format!("an offset of type {ty}"))?;
        }
        if let Some(mask) = place.mask {
            let ty = self.ty(mask)?;
            need(ty == Type::vector(DType::I1, lanes), || format!("a mask of type {ty} for {lanes} lanes"))?;
        }
        Ok(())
    }

    pub(super) fn tile(&self, tile: &Tile) -> Checked {
        need(tile.interleaved > 0, || "the rows of a matrix are interleaved by 1 or more".into())?;
        self.affine(&tile.at, 1)?;
        self.readable(tile.mem)
    }

    pub(super) fn affine(&self, affine: &Affine, lanes: usize) -> Checked {
        for value in affine.values() {
            let ty = self.ty(value)?;
            need(ty == Type::index(), || format!("{value} is {ty}; addresses are of i64"))?;
        }
        need(affine.lane == 0 || lanes > 1, || "there is one lane, and `lane` in an expression".into())
    }

    pub(super) fn guards(&self, guards: &[Guard], lanes: usize) -> Checked {
        guards.iter().try_for_each(|g| {
            self.affine(&g.expr, lanes)?;
            self.affine(&g.bound, lanes)
        })
    }
}
