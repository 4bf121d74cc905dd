//! Fourier transforms by cuFFT.

use super::{Calls, Refused};
use surject_cuda::TensorId;
use surject_cuda::call::{Call, Form, Routine};
use surject_ir::{DType, FftKind, Var};

/// The complex type with these parts.
fn complex(part: DType) -> DType {
    if part == DType::F64 { DType::C128 } else { DType::C64 }
}

impl Calls<'_, '_> {
    /// A transform of the last axes. Inverses are divided by the number of elements of a signal, which no library does.
    pub(super) fn fft(
        &mut self,
        kind: FftKind,
        lengths: &[u64],
        arg: Var,
        target: Var,
    ) -> Result<(), Refused> {
        let sizes = self.sizes(arg)?;
        let batch: u64 = sizes[..sizes.len().saturating_sub(lengths.len())].iter().product();
        let dtype = complex(self.planner.function.ty(arg).dtype.part());
        let (from, to) = (self.typed(arg)?, self.planner.get(target)?);
        let call = |form, inner| Call {
            routine: Routine::Fft { form, lengths: lengths.to_vec(), inner },
            dtype,
            batch,
        };
        match kind {
            FftKind::Fft => self.call(call(Form::Forward, 1), &[from, to]),
            FftKind::Rfft => self.call(call(Form::FromReal, 1), &[from, to]),
            FftKind::Ifft => {
                let count = batch * lengths.iter().product::<u64>();
                let unscaled = self.scratch("unscaled", dtype, count)?;
                self.call(call(Form::Inverse, 1), &[from, unscaled])?;
                let factor = scale(dtype, lengths);
                let text = format!(
                    "(a: {dtype}[{count}]) -> (y) {{\n  y : {dtype}[{count}] =: over i<{count}: complex(real(a[i]) * {factor}, \
                     imag(a[i]) * {factor})\n}}"
                );
                self.assign("scale", &text, &[unscaled], to)
            }
            FftKind::Irfft => self.real_inverse(dtype, batch, lengths, [from, to]),
        }
    }

    /// Axes but the last one by a complex transform, then that one. What the spectrum of a real signal cannot have is left
    /// out, since libraries define nothing for it, and the scale is applied there.
    fn real_inverse(
        &mut self,
        dtype: DType,
        batch: u64,
        lengths: &[u64],
        [from, to]: [TensorId; 2],
    ) -> Result<(), Refused> {
        let Some((&last, before)) = lengths.split_last() else {
            return Err(Refused::Reason("a transform of no axes".into()));
        };
        let (half, lines) = (last / 2 + 1, batch * before.iter().product::<u64>());
        let mut spectrum = from;
        if !before.is_empty() {
            spectrum = self.scratch("planes", dtype, lines * half)?;
            let routine = Routine::Fft { form: Form::Inverse, lengths: before.to_vec(), inner: half };
            self.call(Call { routine, dtype, batch }, &[from, spectrum])?;
        }
        let own = self.scratch("spectrum", dtype, lines * half)?;
        let (part, factor) = (dtype.part(), scale(dtype, lengths));
        let mut real = "index(k)i64 == 0i64".to_string();
        if last.is_multiple_of(2) {
            real = format!("select({real}, true, index(k)i64 == {}i64)", last / 2);
        }
        let text = format!(
            "(a: {dtype}[{lines},{half}]) -> (y) {{\n  y : {dtype}[{lines},{half}] =: over i<{lines}, k<{half}: \
             complex(real(a[i,k]) * {factor}, select({real}, 0.0{part}, imag(a[i,k]) * {factor}))\n}}"
        );
        self.assign("spectrum", &text, &[spectrum], own)?;
        let routine = Routine::Fft { form: Form::ToReal, lengths: vec![last], inner: 1 };
        self.call(Call { routine, dtype, batch: lines }, &[own, to])
    }
}

/// One over the number of elements of a signal, as text.
fn scale(dtype: DType, lengths: &[u64]) -> String {
    let factor = 1.0 / lengths.iter().map(|&n| n as f64).product::<f64>();
    match dtype.part() {
        DType::F32 => format!("bits({:#x})f32", (factor as f32).to_bits()),
        _ => format!("bits({:#x})f64", factor.to_bits()),
    }
}
