//! Operations that slide a window: `reduce_window` and `select_and_scatter`.

use super::library::{Odometer, offset};
use super::{InterpError, Machine, first, splat};
use crate::{Buffer, Region, Scalar, Window};
use std::sync::Arc;

impl Window {
    /// The number of windows along every axis; `None` when an axis has another number of entries than the shape,
    /// a step is zero, or a size does not fit.
    pub(crate) fn counts(&self, shape: &[u64]) -> Option<Vec<u64>> {
        let rank = shape.len();
        let lengths =
            [self.sizes.len(), self.strides.len(), self.base_dilations.len(), self.window_dilations.len()];
        if lengths.iter().any(|&l| l != rank) || self.padding.len() != rank {
            return None;
        }
        let axis = |a: usize| {
            let (size, stride) = (i128::from(self.sizes[a]), i128::from(self.strides[a]));
            let (base, dilation) = (i128::from(self.base_dilations[a]), i128::from(self.window_dilations[a]));
            if size == 0 || stride == 0 || base == 0 || dilation == 0 {
                return None;
            }
            let n = i128::from(shape[a]);
            let dilated = if n == 0 { 0 } else { (n - 1).checked_mul(base)? + 1 };
            let padded = dilated + i128::from(self.padding[a].0) + i128::from(self.padding[a].1);
            let reach = (size - 1).checked_mul(dilation)? + 1;
            if padded < 0 {
                return None;
            }
            u64::try_from(if padded < reach { 0 } else { (padded - reach) / stride + 1 }).ok()
        };
        (0..rank).map(axis).collect()
    }

    /// Where an element of a window lies in the operand; `None` in the padding and in holes.
    fn position(&self, shape: &[usize], window: &[usize], element: &[usize]) -> Option<Vec<usize>> {
        let axis = |a: usize| {
            let at = window[a] as i128 * i128::from(self.strides[a])
                + element[a] as i128 * i128::from(self.window_dilations[a])
                - i128::from(self.padding[a].0);
            let base = i128::from(self.base_dilations[a]);
            let inside = at >= 0 && at % base == 0 && at / base < shape[a] as i128;
            inside.then(|| (at / base) as usize)
        };
        (0..shape.len()).map(axis).collect()
    }

    fn shape_of_windows(&self, shape: &[usize]) -> Result<Vec<usize>, InterpError> {
        let counts = self.counts(&shape.iter().map(|&n| n as u64).collect::<Vec<_>>());
        let wrong = || InterpError::Malformed("a window does not fit its operand".into());
        Ok(counts.ok_or_else(wrong)?.iter().map(|&n| n as usize).collect())
    }

    fn shape_of_elements(&self) -> Vec<usize> {
        self.sizes.iter().map(|&n| n as usize).collect()
    }
}

impl Machine<'_> {
    /// Padding and holes take part with the initial value, as the specification says.
    pub(super) fn reduce_window(
        &mut self,
        window: &Window,
        args: &[Arc<Buffer>],
        join: &Region,
    ) -> Result<Vec<Buffer>, InterpError> {
        let n = args.len() / 2;
        let shape = args[0].shape().to_vec();
        let counts = window.shape_of_windows(&shape)?;
        let missing = || InterpError::Malformed("an initial value is empty".into());
        let inits = args[n..].iter().map(|b| first(b).ok_or_else(missing)).collect::<Result<Vec<_>, _>>()?;
        let sizes: Vec<i64> = counts.iter().map(|&n| n as i64).collect();
        let mut results = inits.iter().map(|&i| splat(i, &sizes)).collect::<Result<Vec<_>, _>>()?;
        let mut windows = Odometer::new(&counts);
        let mut number = 0;
        while windows.more() {
            let mut values = inits.clone();
            let mut elements = Odometer::new(&window.shape_of_elements());
            while elements.more() {
                match window.position(&shape, &windows.at, &elements.at) {
                    Some(position) => {
                        let at = offset(&shape, &position);
                        values.extend(args[..n].iter().map(|a| a.get(at)));
                    }
                    None => values.extend(&inits),
                }
                values = self.scalars(join, &values)?;
                elements.step();
            }
            results.iter_mut().zip(values).for_each(|(r, v)| r.set(number, v));
            number += 1;
            windows.step();
        }
        Ok(results)
    }

    /// Of every window the element that is selected (padding is never selected) is joined with the source
    /// element of the window. A window that lies in the padding altogether drops its source element.
    pub(super) fn select_and_scatter(
        &mut self,
        window: &Window,
        operand: &Buffer,
        source: &Buffer,
        init: Scalar,
        select: &Region,
        scatter: &Region,
    ) -> Result<Buffer, InterpError> {
        let shape = operand.shape().to_vec();
        let sizes: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
        let mut result = splat(init, &sizes)?;
        let mut windows = Odometer::new(source.shape());
        let mut number = 0;
        while windows.more() {
            let mut selected: Option<usize> = None;
            let mut elements = Odometer::new(&window.shape_of_elements());
            while elements.more() {
                if let Some(position) = window.position(&shape, &windows.at, &elements.at) {
                    let at = offset(&shape, &position);
                    let keep = match selected {
                        Some(old) => self.question(select, &[operand.get(old), operand.get(at)])?,
                        None => false,
                    };
                    if !keep {
                        selected = Some(at);
                    }
                }
                elements.step();
            }
            if let Some(at) = selected {
                let joined = self.scalars(scatter, &[result.get(at), source.get(number)])?;
                if let Some(&value) = joined.first() {
                    result.set(at, value);
                }
            }
            number += 1;
            windows.step();
        }
        Ok(result)
    }
}
