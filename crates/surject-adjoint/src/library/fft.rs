//! Fourier transforms: linear, and their own transposes but for the real ones.

use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Fill, IndexMap, Space};
use surject_ir::{BinaryOp, DType, FftKind, FieldId, LibOp, Scalar, Var};

impl Sweep {
    pub(crate) fn reverse_fft(
        &mut self,
        kind: FftKind,
        lengths: &[u64],
        operand: Var,
        c: FieldId,
    ) -> Result<()> {
        if !self.smooth(operand) {
            return Ok(());
        }
        let own = self.f.ty(operand).clone();
        let name = self.part_name();
        let transformed = |s: &mut Sweep, kind, c| -> Result<FieldId> {
            let c = s.stored(&name, c);
            let op = LibOp::Fft { kind, lengths: lengths.to_vec() };
            let result = s.call_one(&name, op, vec![c], Vec::new())?;
            Ok(s.f.tensor(result))
        };
        let term = match kind {
            // The matrix of the transform is symmetric.
            FftKind::Fft | FftKind::Ifft => transformed(self, kind, c)?,
            // The transform of the real operand, of which the first half is kept: the half is put back among zeros.
            FftKind::Rfft => {
                let rank = own.space.rank();
                let axes = (0..rank).map(|a| Affine::axis(rank, a)).collect();
                let zero = Fill(Scalar::zero(self.dtype(c)).bits());
                let map = IndexMap::partial(own.space.clone(), self.space(c), axes, Vec::new(), zero);
                let map = self.mapped(map)?;
                let whole = self.read(map, c)?;
                let back = transformed(self, FftKind::Fft, whole)?;
                self.real_part(back)?
            }
            // Every coefficient but the first and (for even lengths) the last stands for two.
            FftKind::Irfft => {
                let back = transformed(self, FftKind::Rfft, c)?;
                let conjugate = self.conj(back)?;
                let points: u64 = lengths.iter().product();
                let weight = self.weights(&own.space, lengths, self.dtype(back), points)?;
                self.mul(weight, conjugate)?
            }
        };
        self.contribute(operand, term);
        Ok(())
    }

    /// 2/N along the last axis of a half spectrum; 1/N at its first position, and at its last if the length is even.
    fn weights(&mut self, space: &Space, lengths: &[u64], dtype: DType, points: u64) -> Result<FieldId> {
        let last = space.rank() - 1;
        let index = self.f.fields.index(space, last, DType::I32);
        let index = self.typed(index)?;
        let scale = 1.0 / points as f64;
        let number = |s: &mut Sweep, value: f64| s.f.fields.constant(space, Scalar::from_f64(dtype, value));
        let (twice, once) = (number(self, 2.0 * scale), number(self, scale));
        let mut weight = twice;
        let length = lengths.last().copied().unwrap_or(1);
        let mut single = vec![0];
        if length % 2 == 0 {
            single.push(i128::from(length / 2));
        }
        for position in single {
            let position = self.integer(index, position);
            let here = self.binary(BinaryOp::Eq, index, position)?;
            weight = self.select(here, once, weight)?;
        }
        Ok(weight)
    }
}
