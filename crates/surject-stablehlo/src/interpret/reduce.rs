//! Reductions: of dimensions, of windows, to selected positions; and `map`.
//!
//! Elements are combined one at a time in row-major order, beginning with the initial value, in the type of the
//! region's arguments (which may be wider than the operand's).

use super::body::Body;
use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::dims;
use super::number::{Elements, Scalar, round};
use super::scalar::convert::Convert;
use super::scalar::kernel::{Function, Kernel};
use super::value::{Tensor, Value, count, each_index, strides};
use crate::attr::WindowAttrs;
use crate::module::Region;
use crate::types::ElementType;

/// The tensor with elements of another type.
pub(crate) fn promote(tensor: &Tensor, element: &ElementType) -> Result<Tensor> {
    if tensor.element == *element {
        return Ok(tensor.clone());
    }
    if tensor.element.quantized().is_some() || element.quantized().is_some() {
        return super::quantized::convert(tensor, element);
    }
    convert(tensor, element)
}

/// The conversion of every element.
pub(crate) fn convert(tensor: &Tensor, element: &ElementType) -> Result<Tensor> {
    let function = Function::Convert(Convert::new(&tensor.element, element)?);
    let kernel = Kernel { function, result: element.clone() };
    let n = tensor.len();
    let elements = [tensor.elements()?];
    Tensor::of(element, &tensor.shape, &kernel.map(&elements, n))
}

/// A window at work: for each position of the result the positions of the operand that it covers.
pub(crate) struct Window {
    shape: Vec<usize>,
    window: WindowAttrs,
    pub(crate) result: Vec<usize>,
}

impl Window {
    pub(crate) fn new(shape: &[usize], window: WindowAttrs) -> Result<Window> {
        let rank = shape.len();
        let lists = [&window.dimensions, &window.strides, &window.base_dilations, &window.window_dilations];
        if lists.iter().any(|list| list.len() != rank) || window.padding.len() != rank {
            return Err(Error::invalid(format!("a window of another rank than the shape {shape:?}")));
        }
        if lists.iter().any(|list| list.iter().any(|v| *v < 1)) {
            return Err(Error::invalid("a window with a size, stride or dilation below 1"));
        }
        let mut result = Vec::new();
        for (d, size) in shape.iter().enumerate() {
            result.push(windows(
                *size,
                window.padding[d],
                window.base_dilations[d],
                window.dimensions[d],
                window.window_dilations[d],
                window.strides[d],
            )?);
        }
        Ok(Window { shape: shape.to_vec(), window, result })
    }

    /// The positions under the window at an index, in row-major order; those of padding are left out.
    pub(crate) fn each(&self, at: &[usize], mut visit: impl FnMut(usize) -> Result<()>) -> Result<()> {
        self.each_place(at, |place| place.map_or(Ok(()), &mut visit))
    }

    /// The places under the window at an index, in row-major order; none for padding and for what dilation puts between
    /// elements.
    fn each_place(&self, at: &[usize], mut visit: impl FnMut(Option<usize>) -> Result<()>) -> Result<()> {
        let own = strides(&self.shape);
        let w = &self.window;
        // Of each dimension the offsets of what the window covers.
        let mut lines: Vec<Vec<Option<usize>>> = Vec::with_capacity(at.len());
        for d in 0..at.len() {
            let first = at[d] as i128 * i128::from(w.strides[d]) - i128::from(w.padding[d].0);
            let step = i128::from(w.base_dilations[d]);
            let place = |k: i64| {
                let position = first + i128::from(k) * i128::from(w.window_dilations[d]);
                let inside = position >= 0 && position % step == 0 && position / step < self.shape[d] as i128;
                inside.then(|| (position / step) as usize * own[d])
            };
            lines.push((0..w.dimensions[d]).map(place).collect());
        }
        let sizes: Vec<usize> = lines.iter().map(Vec::len).collect();
        each_index(&sizes, |index| visit(index.iter().zip(&lines).map(|(i, line)| line[*i]).sum()))
    }
}

/// How often a window fits.
pub(crate) fn windows(
    size: usize,
    padding: (i64, i64),
    base_dilation: i64,
    window: i64,
    window_dilation: i64,
    stride: i64,
) -> Result<usize> {
    let dilated = |n: i128, by: i64| if n == 0 { 0 } else { (n - 1) * i128::from(by) + 1 };
    let padded = dilated(size as i128, base_dilation) + i128::from(padding.0) + i128::from(padding.1);
    let covered = dilated(window.into(), window_dilation);
    let count = if padded < covered || padded <= 0 { 0 } else { (padded - covered) / i128::from(stride) + 1 };
    usize::try_from(count).map_err(|_| Error::invalid("a window over a size that is too large"))
}

impl<'m> Call<'_, 'm> {
    /// Inputs and initial values in the types of the region's arguments.
    fn reduced(&self, body: &Body<'m>) -> Result<(Vec<Tensor>, Vec<Scalar>)> {
        let n = self.args.len() / 2;
        if n == 0 || self.args.len() != 2 * n || body.params.len() != 2 * n || self.op.results.len() != n {
            return Err(Error::invalid("inputs, initial values, results and arguments are not as many"));
        }
        let (mut inputs, mut inits) = (Vec::new(), Vec::new());
        for i in 0..n {
            inputs.push(promote(self.tensor(i)?, &body.params[n + i])?);
            let init = promote(self.tensor(n + i)?, &body.params[i])?;
            if init.len() != 1 {
                return Err(Error::invalid(format!("an initial value of type {}", init.ty())));
            }
            inits.push(init.elements()?.at(0));
        }
        if inputs.iter().any(|t| t.shape != inputs[0].shape) {
            return Err(Error::invalid("inputs of different shapes"));
        }
        Ok((inputs, inits))
    }

    /// The tensors of what the region gave, in the types of the results.
    fn gathered(&self, body: &Body<'m>, shape: &[usize], columns: Vec<Vec<Scalar>>) -> Values {
        let mut out = Vec::new();
        for (i, column) in columns.iter().enumerate() {
            let tensor = Tensor::of_scalars(&body.params[i], shape, column)?;
            out.push(Value::Tensor(promote(&tensor, self.result_element(i)?)?));
        }
        Ok(out)
    }

    pub(crate) fn reduce(&mut self) -> Values {
        let region = self.region(0)?;
        let mut body = Body::new(self.machine, self.frame, region)?;
        let (inputs, inits) = self.reduced(&body)?;
        let shape = inputs[0].shape.clone();
        let reduced = dims(self.op.ints("dimensions")?, shape.len(), "dimensions")?;
        let kept: Vec<usize> = (0..shape.len()).filter(|d| !reduced.contains(d)).collect();
        let result: Vec<usize> = kept.iter().map(|d| shape[*d]).collect();
        // Steps in the result along the dimensions of the input.
        let mut steps = vec![0; shape.len()];
        kept.iter().zip(strides(&result)).for_each(|(d, s)| steps[*d] = s);
        let n = count(&result, &body.params[0])?;
        if let (Some(function), [input], [Scalar::F(init)]) =
            (body.float_function(), inputs.as_slice(), inits.as_slice())
        {
            let Elements::F(values) = input.elements()? else {
                return Err(Error::invalid("floats are wanted"));
            };
            self.machine.step(values.len() as u64)?;
            let element = body.params[0].clone();
            let mut sums = vec![*init; n];
            let mut i = 0;
            each_index(&shape, |index| {
                let at: usize = index.iter().zip(&steps).map(|(i, s)| i * s).sum();
                sums[at] = round(&element, function(sums[at], values[i]));
                i += 1;
                Ok(())
            })?;
            let tensor = Tensor::of(&element, &result, &Elements::F(sums))?;
            return one(promote(&tensor, self.result_element(0)?)?);
        }
        let values = inputs.iter().map(Tensor::elements).collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<Vec<Scalar>> = inits.iter().map(|init| vec![*init; n]).collect();
        let count = columns.len();
        let mut row = vec![Scalar::I(0); 2 * count];
        let mut i = 0;
        each_index(&shape, |index| {
            let at: usize = index.iter().zip(&steps).map(|(i, s)| i * s).sum();
            for k in 0..count {
                row[k] = columns[k][at];
                row[count + k] = values[k].at(i);
            }
            let results = body.call(self.machine, self.frame, &row)?;
            if results.len() != count {
                return Err(Error::invalid(format!(
                    "a region of {} results for {count} inputs",
                    results.len()
                )));
            }
            columns.iter_mut().zip(results).for_each(|(column, result)| column[at] = *result);
            i += 1;
            Ok(())
        })?;
        self.gathered(&body, &result, columns)
    }

    pub(crate) fn reduce_window(&mut self) -> Values {
        let region = self.region(0)?;
        self.windows_reduced(region, self.op.window()?)
    }

    /// Of each window the reduction. Padding, and what dilation puts between elements, is the initial value: it is
    /// combined as an element is.
    pub(crate) fn windows_reduced(&mut self, region: &'m Region, window: WindowAttrs) -> Values {
        let mut body = Body::new(self.machine, self.frame, region)?;
        let (inputs, inits) = self.reduced(&body)?;
        let window = Window::new(&inputs[0].shape, window)?;
        let values = inputs.iter().map(Tensor::elements).collect::<Result<Vec<_>>>()?;
        let n = count(&window.result, &body.params[0])?;
        let mut columns: Vec<Vec<Scalar>> = inits.iter().map(|_| Vec::with_capacity(n)).collect();
        let count = columns.len();
        let mut row = vec![Scalar::I(0); 2 * count];
        each_index(&window.result, |at| {
            let mut state = inits.clone();
            if let (Some(function), [Elements::F(values)], [Scalar::F(sum)]) =
                (body.float_function(), values.as_slice(), state.as_mut_slice())
            {
                let element = &body.params[0];
                let (mut covered, init) = (0, *sum);
                window.each_place(at, |p| {
                    *sum = round(element, function(*sum, p.map_or(init, |p| values[p])));
                    covered += 1;
                    Ok(())
                })?;
                self.machine.step(covered)?;
            } else {
                window.each_place(at, |p| {
                    for k in 0..count {
                        row[k] = state[k];
                        row[count + k] = p.map_or(inits[k], |p| values[k].at(p));
                    }
                    let results = body.call(self.machine, self.frame, &row)?;
                    if results.len() != count {
                        return Err(Error::invalid(format!("a region of {} results", results.len())));
                    }
                    state.copy_from_slice(results);
                    Ok(())
                })?;
            }
            columns.iter_mut().zip(&state).for_each(|(column, value)| column.push(*value));
            Ok(())
        })?;
        self.gathered(&body, &window.result, columns)
    }

    /// Of each window the element that the first region selects against all others gets the source's element, combined by the
    /// second region.
    pub(crate) fn select_and_scatter(&mut self) -> Values {
        let select = self.region(0)?;
        let mut select = Body::new(self.machine, self.frame, select)?;
        let scatter = self.region(1)?;
        let mut scatter = Body::new(self.machine, self.frame, scatter)?;
        if select.params.len() != 2 || scatter.params.len() != 2 {
            return Err(Error::invalid("regions of two arguments are wanted"));
        }
        let operand = promote(self.tensor(0)?, &select.params[0])?;
        let source = promote(self.tensor(1)?, &scatter.params[1])?;
        let init = promote(self.tensor(2)?, &scatter.params[0])?;
        let window = Window::new(&operand.shape, self.op.window()?)?;
        if window.result != source.shape || init.len() != 1 {
            return Err(Error::invalid(format!(
                "a source of type {} where the window gives shape {:?}",
                source.ty(),
                window.result
            )));
        }
        let (values, sources) = (operand.elements()?, source.elements()?);
        let mut result = vec![init.elements()?.at(0); operand.len()];
        let mut i = 0;
        each_index(&window.result, |at| {
            let mut selected: Option<usize> = None;
            window.each(at, |p| {
                let keeps = match selected {
                    None => false,
                    Some(s) => {
                        let row = [values.at(s), values.at(p)];
                        let answer = select.call(self.machine, self.frame, &row)?;
                        answer.first().is_some_and(|v| v.int() != 0)
                    }
                };
                if !keeps {
                    selected = Some(p);
                }
                Ok(())
            })?;
            if let Some(s) = selected {
                let row = [result[s], sources.at(i)];
                let combined = scatter.call(self.machine, self.frame, &row)?;
                result[s] = *combined.first().ok_or_else(|| Error::invalid("a region without a result"))?;
            }
            i += 1;
            Ok(())
        })?;
        let tensor = Tensor::of_scalars(&scatter.params[0], &operand.shape, &result)?;
        one(promote(&tensor, self.result_element(0)?)?)
    }

    pub(crate) fn map(&mut self) -> Values {
        let region = self.region(0)?;
        let mut body = Body::new(self.machine, self.frame, region)?;
        let tensors = self.tensors(0..self.args.len())?;
        let shape = tensors.first().map(|t| t.shape.clone()).unwrap_or_default();
        if tensors.iter().any(|t| t.shape != shape) {
            return Err(Error::invalid("operands of different shapes"));
        }
        let elements = tensors.iter().map(Tensor::scalars).collect::<Result<Vec<_>>>()?;
        let n = count(&shape, self.result_element(0)?)?;
        let mut out = Vec::with_capacity(n);
        let mut row = vec![Scalar::I(0); tensors.len()];
        for i in 0..n {
            row.iter_mut().zip(&elements).for_each(|(r, e)| *r = e[i]);
            let results = body.call(self.machine, self.frame, &row)?;
            out.push(*results.first().ok_or_else(|| Error::invalid("a region without a result"))?);
        }
        one(Tensor::of_scalars(self.result_element(0)?, &shape, &out)?)
    }
}
