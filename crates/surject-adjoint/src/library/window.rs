//! `select_and_scatter`, the gradient of pooling: linear in its source.

use super::{Joined, joined};
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, FieldId, Region, Var, Window};

impl Sweep {
    /// Where the scatter is a sum and the selection an extremum, each element of the source was added at the first
    /// extremum of its window, and gets the cotangent from there. The operand only selects.
    pub(crate) fn reverse_select_and_scatter(
        &mut self,
        window: &Window,
        args: &[Var],
        regions: &[Region],
        c: FieldId,
    ) -> Result<()> {
        let (operand, source, init) = (args[0], args[1], args[2]);
        let extremum = match joined(&self.f.fields, &regions[0]) {
            Some((Joined::Op(BinaryOp::Ge), false) | (Joined::Op(BinaryOp::Le), true)) => AccOp::Max,
            Some((Joined::Op(BinaryOp::Le), false) | (Joined::Op(BinaryOp::Ge), true)) => AccOp::Min,
            _ => return Err(self.unsupported("its selection is neither `ge` nor `le`")),
        };
        if joined(&self.f.fields, &regions[1]).map(|(j, _)| j) != Some(Joined::Op(BinaryOp::Add)) {
            return Err(self.unsupported("its scatter is not a sum"));
        }
        if self.smooth(init) {
            let all = IndexMap::projection(&self.space(c), &[]);
            let sum = self.sum_along(all, c)?;
            self.contribute(init, sum);
        }
        if !self.smooth(source) {
            return Ok(());
        }
        let (own, out) = (self.f.ty(operand).clone(), self.f.ty(source).space.clone());
        let rank = own.space.rank();
        // The product space: windows, then positions in a window.
        let inside = Space::of(&window.sizes);
        let space = out.product(&inside);
        let components: Vec<Affine> = (0..rank)
            .map(|a| {
                let mut at = Affine::strided(
                    2 * rank,
                    a,
                    window.strides[a] as i64,
                    window.padding[a].0.saturating_neg(),
                );
                at.coeffs[rank + a] = 1;
                at
            })
            .collect();
        let to_out = IndexMap::projection(&space, &(0..rank).collect::<Vec<_>>());
        let outside = surject_index::Fill(extremum.neutral(own.dtype).bits());
        let map = IndexMap::partial(space.clone(), own.space.clone(), components, Vec::new(), outside);
        let map = self.mapped(map)?;
        let x = self.f.tensor(operand);
        let x = self.read(map.clone(), x)?;
        let best = self.acc(extremum, to_out.clone(), x)?;
        let best = self.stored_field(&self.part_name(), best);
        let equal = self.equals_its(&to_out, x, best)?;
        let first = self.first_of(&to_out, equal)?;
        let nothing = self.nothing(self.dtype(c));
        let c = self.read(map.with_fill(nothing), c)?;
        let chosen = self.masked(first, c)?;
        let term = self.sum_along(to_out, chosen)?;
        self.contribute(source, term);
        Ok(())
    }
}
