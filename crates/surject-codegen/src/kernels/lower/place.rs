//! Addresses and guards of expressions as those of kernels.

use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::{Guard, Lin, LoopSet};
use crate::expression::dag::Buf;
use surject_kernel::{Affine, Place};

impl Lowering<'_> {
    /// The elements of a tensor, where the loops that they depend on are inside.
    pub(super) fn place(&self, buf: Buf, address: &Lin, guards: &[Guard], deps: LoopSet) -> Lowered<Place> {
        let mem = self.memory.get(&buf).copied();
        let mem = mem.ok_or_else(|| CodegenError::malformed("a tensor without memory"))?;
        let mut all = self.guards(guards)?;
        all.extend(self.cut(deps)?);
        let at = match self.windows.get(&buf) {
            Some(window) => self.in_window(window, address)?,
            None => self.affine(address)?,
        };
        Ok(Place { guards: all, ..Place::new(mem, at) })
    }

    /// Guards of the loops among these whose last block is not whole.
    pub(super) fn cut(&self, loops: LoopSet) -> Lowered<Vec<surject_kernel::Guard>> {
        let cut = self.resolved.cut.iter().filter(|&&l| loops.contains(l) && !self.whole.contains(l));
        let guard = |&l: &_| {
            let bound = self.expression.dag.extent(l).into();
            Ok(surject_kernel::Guard { expr: self.affine(&Lin::var(l))?, bound })
        };
        let all = cut.map(guard).collect::<Lowered<Vec<_>>>()?;
        Ok(all.into_iter().filter(|g| !self.always_holds(g)).collect())
    }

    /// Guards, but those that always hold here.
    pub(super) fn guards(&self, guards: &[Guard]) -> Lowered<Vec<surject_kernel::Guard>> {
        let guard =
            |g: &Guard| Ok(surject_kernel::Guard { expr: self.affine(&g.expr)?, bound: g.bound.into() });
        let unknown = guards.iter().filter(|g| self.fact(g) != Some(true));
        let all = unknown.map(guard).collect::<Lowered<Vec<_>>>()?;
        Ok(all.into_iter().filter(|g| !self.always_holds(g)).collect())
    }

    fn always_holds(&self, guard: &surject_kernel::Guard) -> bool {
        self.b.is_known(guard, self.lanes.map_or(1, |l| l.1)) == Some(true)
    }

    pub(super) fn affine(&self, lin: &Lin) -> Lowered<Affine> {
        let mut sum = Affine::from(lin.offset);
        for &(l, by) in &lin.terms {
            let place =
                self.places.get(&l).ok_or_else(|| CodegenError::malformed("a loop that is not open"))?;
            sum = sum.plus(place, by).ok_or_else(|| CodegenError::overflow("an address"))?;
        }
        Ok(sum)
    }
}
