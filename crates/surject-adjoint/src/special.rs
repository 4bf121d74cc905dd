//! The derivative of `digamma`.

use crate::sweep::{Result, Sweep};
use std::f64::consts::PI;
use surject_ir::{BinaryOp, DType, FieldId, UnaryOp};

/// The Bernoulli numbers `B₂, B₄, …`: the coefficients of the asymptotic series of the trigamma function.
const BERNOULLI: [f64; 7] =
    [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

/// The recurrence `ψ′(x) = ψ′(x + 1) + 1/x²` is used this often, which takes every `x ≥ ½` to where the series
/// has converged.
const STEPS: usize = 8;

impl Sweep {
    /// `ψ′(x)`: the recurrence, then the asymptotic series; below ½ by the reflection
    /// `ψ′(x) = π² / sin²(πx) − ψ′(1 − x)`. 16-bit floats are computed in `f32`.
    pub(crate) fn trigamma(&mut self, x: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(x);
        if matches!(dtype, DType::F16 | DType::BF16) {
            let wide = self.convert(DType::F32, x);
            let value = self.trigamma(wide)?;
            return Ok(self.convert(dtype, value));
        }
        let (half, one) = (self.number(x, 0.5), self.number(x, 1.0));
        let small = self.binary(BinaryOp::Lt, x, half)?;
        let mirrored = self.sub(one, x)?;
        let mut at = self.select(small, mirrored, x)?;
        let mut sum = self.number(x, 0.0);
        for _ in 0..STEPS {
            let square = self.mul(at, at)?;
            let term = self.div(one, square)?;
            sum = self.add(sum, term)?;
            at = self.add(at, one)?;
        }
        // 1/x + 1/(2x²) + Σ B₂ₖ / x^(2k+1)
        let inverse = self.div(one, at)?;
        let square = self.mul(inverse, inverse)?;
        let mut series = self.number(x, 0.0);
        for &coefficient in BERNOULLI.iter().rev() {
            let coefficient = self.number(x, coefficient);
            let inner = self.mul(square, series)?;
            series = self.add(coefficient, inner)?;
        }
        let tail = self.mul(square, series)?;
        let tail = self.mul(inverse, tail)?;
        let middle = self.scale(0.5, square)?;
        for part in [inverse, middle, tail] {
            sum = self.add(sum, part)?;
        }
        let angle = self.scale(PI, x)?;
        let sin = self.unary(UnaryOp::Sin, angle)?;
        let sin2 = self.mul(sin, sin)?;
        let squared_pi = self.number(x, PI * PI);
        let reflection = self.div(squared_pi, sin2)?;
        let reflected = self.sub(reflection, sum)?;
        self.select(small, reflected, sum)
    }
}
