//! Products of tensors. Integers wrap in the type of the result; floats are summed in `f64` and rounded once, complex
//! numbers in pairs of `f64`.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::{dims, reshape, transpose};
use super::number::{C, Class, Elements, Scalar, class, round, settle};
use super::reduce::windows;
use super::value::{Tensor, count, each_index, strides};
use crate::attr::{ConvAttrs, DotAlgorithm, DotDims, RaggedDims};
use crate::types::ElementType;

/// Sums of products of rows of one matrix and rows of the other.
fn products(a: &Elements, b: &Elements, batch: usize, m: usize, n: usize, k: usize) -> Result<Elements> {
    let each = |visit: &mut dyn FnMut(usize, usize)| {
        for i in 0..batch {
            for row in 0..m {
                for column in 0..n {
                    visit((i * m + row) * k, (i * n + column) * k);
                }
            }
        }
    };
    Ok(match (a, b) {
        (Elements::F(a), Elements::F(b)) => {
            let mut out = Vec::with_capacity(batch * m * n);
            each(&mut |x, y| out.push(a[x..x + k].iter().zip(&b[y..y + k]).map(|(x, y)| x * y).sum()));
            Elements::F(out)
        }
        (Elements::I(a), Elements::I(b)) => {
            let mut out = Vec::with_capacity(batch * m * n);
            each(&mut |x, y| {
                let pairs = a[x..x + k].iter().zip(&b[y..y + k]);
                out.push(pairs.fold(0i64, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y))));
            });
            Elements::I(out)
        }
        (Elements::C(a), Elements::C(b)) => {
            let mut out: Vec<C> = Vec::with_capacity(batch * m * n);
            each(&mut |x, y| out.push(a[x..x + k].iter().zip(&b[y..y + k]).map(|(x, y)| x * y).sum()));
            Elements::C(out)
        }
        _ => return Err(Error::invalid("operands of different kinds")),
    })
}

/// The product in the order batch, free dimensions of the left, free dimensions of the right operand.
pub(crate) fn dot_general(
    lhs: &Tensor,
    rhs: &Tensor,
    numbers: &DotDims,
    element: &ElementType,
) -> Result<Tensor> {
    let batch_l = dims(&numbers.batch_lhs, lhs.rank(), "batching dimensions")?;
    let batch_r = dims(&numbers.batch_rhs, rhs.rank(), "batching dimensions")?;
    let sum_l = dims(&numbers.contract_lhs, lhs.rank(), "contracting dimensions")?;
    let sum_r = dims(&numbers.contract_rhs, rhs.rank(), "contracting dimensions")?;
    let extents = |t: &Tensor, list: &[usize]| -> Vec<usize> { list.iter().map(|d| t.shape[*d]).collect() };
    if extents(lhs, &batch_l) != extents(rhs, &batch_r) || extents(lhs, &sum_l) != extents(rhs, &sum_r) {
        return Err(Error::invalid(format!("a product of {} and {} along other sizes", lhs.ty(), rhs.ty())));
    }
    let free = |t: &Tensor, a: &[usize], b: &[usize]| -> Vec<usize> {
        (0..t.rank()).filter(|d| !a.contains(d) && !b.contains(d)).collect()
    };
    let (free_l, free_r) = (free(lhs, &batch_l, &sum_l), free(rhs, &batch_r, &sum_r));
    let rows = |t: &Tensor, lists: [&[usize]; 3]| -> Result<Elements> {
        transpose(t, &lists.concat(), &t.element)?.elements()
    };
    let a = rows(lhs, [&batch_l, &free_l, &sum_l])?;
    let b = rows(rhs, [&batch_r, &free_r, &sum_r])?;
    let size = |shape: &[usize]| shape.iter().product::<usize>();
    let batch = extents(lhs, &batch_l);
    let (left, right) = (extents(lhs, &free_l), extents(rhs, &free_r));
    let shape = [batch.as_slice(), &left, &right].concat();
    count(&shape, element)?;
    let sums = products(&a, &b, size(&batch), size(&left), size(&right), size(&extents(lhs, &sum_l)))?;
    Tensor::of(element, &shape, &matching(sums, element)?)
}

/// Sums in the class of the result's elements.
fn matching(sums: Elements, element: &ElementType) -> Result<Elements> {
    Ok(match (sums, class(element)?) {
        // Of truth values: whether any pair holds.
        (Elements::I(sums), _) if *element == ElementType::I1 => {
            Elements::I(sums.into_iter().map(|v| i64::from(v != 0)).collect())
        }
        (Elements::I(sums), Class::F) => Elements::F(sums.into_iter().map(|v| v as f64).collect()),
        (Elements::F(sums), Class::C) => Elements::C(sums.into_iter().map(|v| C::new(v, 0.0)).collect()),
        (sums, _) => sums,
    })
}

/// The operands as the algorithm rounds them: to the precision types, unless several components stand for one element.
fn rounded(tensor: &Tensor, precision: &ElementType, components: i64) -> Result<Tensor> {
    let narrower = precision.bits() < tensor.element.bits();
    if components != 1 || !tensor.element.is_float() || !precision.is_float() || !narrower {
        return Ok(tensor.clone());
    }
    let Elements::F(values) = tensor.elements()? else { return Ok(tensor.clone()) };
    let values = values.into_iter().map(|v| round(precision, v)).collect();
    Tensor::of(&tensor.element, &tensor.shape, &Elements::F(values))
}

fn by_algorithm(lhs: &Tensor, rhs: &Tensor, algorithm: Option<&DotAlgorithm>) -> Result<(Tensor, Tensor)> {
    match algorithm {
        None => Ok((lhs.clone(), rhs.clone())),
        Some(a) => Ok((
            rounded(lhs, &a.lhs_precision_type, a.lhs_component_count)?,
            rounded(rhs, &a.rhs_precision_type, a.rhs_component_count)?,
        )),
    }
}

impl Call<'_, '_> {
    pub(crate) fn dot_general(&mut self) -> Values {
        let (lhs, rhs) = by_algorithm(self.tensor(0)?, self.tensor(1)?, self.op.dot_algorithm())?;
        self.count_products(&lhs, &rhs)?;
        let element = self.result_element(0)?;
        one(dot_general(&lhs, &rhs, self.op.dot_dims()?, element)?)
    }

    fn count_products(&mut self, lhs: &Tensor, rhs: &Tensor) -> Result<()> {
        let work = (lhs.len() as u64).saturating_add(rhs.len() as u64);
        self.machine.step(work)
    }

    /// The last dimension of the left operand against the first of the right one.
    pub(crate) fn dot(&mut self) -> Values {
        let (lhs, rhs) = (self.tensor(0)?, self.tensor(1)?);
        if lhs.rank() == 0 || rhs.rank() == 0 {
            return Err(Error::invalid("operands of rank 0"));
        }
        let numbers = DotDims {
            contract_lhs: vec![lhs.rank() as i64 - 1],
            contract_rhs: vec![0],
            ..DotDims::default()
        };
        one(dot_general(lhs, rhs, &numbers, self.result_element(0)?)?)
    }

    pub(crate) fn einsum(&mut self) -> Values {
        let element = self.result_element(0)?;
        one(einsum(self.op.string("einsum_config")?, &self.tensors(0..2)?, element)?)
    }

    pub(crate) fn unary_einsum(&mut self) -> Values {
        let element = self.result_element(0)?;
        one(einsum(self.op.string("einsum_config")?, &self.tensors(0..1)?, element)?)
    }

    pub(crate) fn convolution(&mut self) -> Values {
        let conv = self.op.conv()?;
        one(convolution(self.tensor(0)?, self.tensor(1)?, &conv, self.result_element(0)?)?)
    }

    /// As `convolution`, with the padding as an operand.
    pub(crate) fn dynamic_conv(&mut self) -> Values {
        let padding = self.tensor(2)?.int_elements()?;
        let conv = ConvAttrs {
            dims: self.op.conv_dims()?.clone(),
            strides: self.op.ints("window_strides")?.to_vec(),
            padding: padding.as_chunks::<2>().0.iter().map(|[low, high]| (*low, *high)).collect(),
            lhs_dilation: self.op.ints("lhs_dilation")?.to_vec(),
            rhs_dilation: self.op.ints("rhs_dilation")?.to_vec(),
            reversal: self.op.bools("window_reversal")?.to_vec(),
            feature_group_count: self.op.int("feature_group_count")?,
            batch_group_count: self.op.int("batch_group_count")?,
        };
        one(convolution(self.tensor(0)?, self.tensor(1)?, &conv, self.result_element(0)?)?)
    }
}

/// A sum that stays in the class of its terms.
#[derive(Clone, Copy)]
struct Sum(Scalar);

impl Sum {
    fn of(element: &ElementType) -> Result<Sum> {
        super::number::zero(element).map(Sum)
    }

    fn settled(self, element: &ElementType) -> Scalar {
        match self.0 {
            Scalar::I(v) if *element == ElementType::I1 => Scalar::I(i64::from(v != 0)),
            value => settle(element, value),
        }
    }

    fn add(&mut self, a: Scalar, b: Scalar) {
        self.0 = match (self.0, a, b) {
            (Scalar::I(s), Scalar::I(a), Scalar::I(b)) => Scalar::I(s.wrapping_add(a.wrapping_mul(b))),
            (Scalar::C(s), a, b) => Scalar::C(s + a.complex() * b.complex()),
            (s, a, b) => Scalar::F(s.float() + a.float() * b.float()),
        };
    }
}

/// A product of one or two tensors by names of their dimensions; `...` stands for those that have no name.
fn einsum(config: &str, tensors: &[Tensor], element: &ElementType) -> Result<Tensor> {
    let wrong = || Error::invalid(format!("the configuration \"{config}\""));
    let text: String = config.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = text.split_once("->").ok_or_else(wrong)?;
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != tensors.len() {
        return Err(wrong());
    }
    // Dimensions without a name are numbered from the last one.
    let names = |spec: &str, unnamed: usize| -> Vec<String> {
        match spec.split_once("...") {
            None => spec.chars().map(String::from).collect(),
            Some((before, after)) => before
                .chars()
                .map(String::from)
                .chain((0..unnamed).rev().map(|i| format!("#{i}")))
                .chain(after.chars().map(String::from))
                .collect(),
        }
    };
    let mut most = 0;
    let mut labels: Vec<Vec<String>> = Vec::new();
    for (spec, tensor) in inputs.iter().zip(tensors) {
        let named = spec.replace("...", "").chars().count();
        let unnamed = tensor.rank().checked_sub(named).ok_or_else(wrong)?;
        let list = names(spec, unnamed);
        if list.len() != tensor.rank() {
            return Err(wrong());
        }
        most = most.max(if spec.contains("...") { unnamed } else { 0 });
        labels.push(list);
    }
    let result = names(output, most);
    let mut all = result.clone();
    labels.iter().flatten().for_each(|l| {
        if !all.contains(l) {
            all.push(l.clone());
        }
    });
    let mut sizes = vec![1usize; all.len()];
    let at = |label: &String| all.iter().position(|l| l == label);
    for (list, tensor) in labels.iter().zip(tensors) {
        for (label, size) in list.iter().zip(&tensor.shape) {
            let i = at(label).ok_or_else(wrong)?;
            if sizes[i] == 1 {
                sizes[i] = *size;
            } else if *size != 1 && *size != sizes[i] {
                return Err(Error::invalid(format!(
                    "the dimension '{label}' has sizes {} and {size}",
                    sizes[i]
                )));
            }
        }
    }
    // Steps of each operand along each name; a size of 1 is repeated.
    let mut steps = Vec::new();
    for (list, tensor) in labels.iter().zip(tensors) {
        let mut own = vec![0; all.len()];
        for ((label, size), stride) in list.iter().zip(&tensor.shape).zip(strides(&tensor.shape)) {
            let i = at(label).ok_or_else(wrong)?;
            own[i] += if *size == 1 { 0 } else { stride };
        }
        steps.push(own);
    }
    let shape = sizes[..result.len()].to_vec();
    let values = tensors.iter().map(Tensor::elements).collect::<Result<Vec<_>>>()?;
    let unit = match class(element)? {
        Class::I => Scalar::I(1),
        _ => Scalar::F(1.0),
    };
    let mut out = Vec::with_capacity(count(&shape, element)?);
    let summed = sizes[result.len()..].to_vec();
    each_index(&shape, |index| {
        let mut sum = Sum::of(element)?;
        each_index(&summed, |inner| {
            let place =
                |own: &[usize]| -> usize { index.iter().chain(inner).zip(own).map(|(i, s)| i * s).sum() };
            let a = values[0].at(place(&steps[0]));
            let b = values.get(1).map_or(unit, |v| v.at(place(&steps[1])));
            sum.add(a, b);
            Ok(())
        })?;
        out.push(sum.settled(element));
        Ok(())
    })?;
    Tensor::of_scalars(element, &shape, &out)
}

/// Sums over windows of the input, as the attributes say.
pub(crate) fn convolution(
    lhs: &Tensor,
    rhs: &Tensor,
    conv: &ConvAttrs,
    element: &ElementType,
) -> Result<Tensor> {
    let d = &conv.dims;
    let spatial = d.input_spatial.len();
    let role = |values: &[i64], rank: usize| dims(values, rank, "dimension numbers");
    let input = role(&[&[d.input_batch, d.input_feature], d.input_spatial.as_slice()].concat(), lhs.rank())?;
    let kernel = [&[d.kernel_output_feature, d.kernel_input_feature], d.kernel_spatial.as_slice()].concat();
    let kernel = role(&kernel, rhs.rank())?;
    let output = [&[d.output_batch, d.output_feature], d.output_spatial.as_slice()].concat();
    let output = role(&output, spatial + 2)?;
    let lists = [conv.strides.len(), conv.padding.len(), conv.lhs_dilation.len(), conv.rhs_dilation.len()];
    if lists.iter().any(|n| *n != spatial)
        || conv.reversal.len() != spatial
        || [&input, &kernel, &output].iter().any(|list| list.len() != spatial + 2)
    {
        return Err(Error::invalid(format!(
            "attributes for another number of spatial dimensions than {spatial}"
        )));
    }
    // In one order: batch, features, space; output features, input features, space.
    let lhs = transpose(lhs, &input, &lhs.element)?;
    let rhs = transpose(rhs, &kernel, &rhs.element)?;
    let (features, batches) =
        (conv.feature_group_count.max(1) as usize, conv.batch_group_count.max(1) as usize);
    let (batch, in_features) = (lhs.shape[0], lhs.shape[1]);
    let (out_features, group_features) = (rhs.shape[0], rhs.shape[1]);
    if in_features != group_features * features
        || out_features % features != 0
        || batch % batches != 0
        || out_features % batches != 0
    {
        return Err(Error::invalid(format!("groups that do not divide {} and {}", lhs.ty(), rhs.ty())));
    }
    let mut shape = vec![batch / batches, out_features];
    for s in 0..spatial {
        if conv.strides[s] < 1 || conv.lhs_dilation[s] < 1 || conv.rhs_dilation[s] < 1 {
            return Err(Error::invalid("a stride or dilation below 1"));
        }
        shape.push(windows(
            lhs.shape[s + 2],
            conv.padding[s],
            conv.lhs_dilation[s],
            rhs.shape[s + 2] as i64,
            conv.rhs_dilation[s],
            conv.strides[s],
        )?);
    }
    count(&shape, element)?;
    let (a, b) = (lhs.elements()?, rhs.elements()?);
    let (a_steps, b_steps) = (strides(&lhs.shape), strides(&rhs.shape));
    let sums = Sums { a: &a, b: &b, group_features, a_step: a_steps[1], b_step: b_steps[1] };
    let mut out = Vec::with_capacity(shape.iter().product());
    each_index(&shape, |index| {
        // Of each spatial dimension the pairs of positions in input and kernel.
        let mut pairs: Vec<Vec<(usize, usize)>> = Vec::with_capacity(spatial);
        for s in 0..spatial {
            let first = index[s + 2] as i128 * i128::from(conv.strides[s]) - i128::from(conv.padding[s].0);
            let size = rhs.shape[s + 2];
            let mut line = Vec::new();
            for k in 0..size {
                let at = first + k as i128 * i128::from(conv.rhs_dilation[s]);
                let step = i128::from(conv.lhs_dilation[s]);
                if at >= 0 && at % step == 0 && at / step < lhs.shape[s + 2] as i128 {
                    let k = if conv.reversal[s] { size - 1 - k } else { k };
                    line.push(((at / step) as usize * a_steps[s + 2], k * b_steps[s + 2]));
                }
            }
            pairs.push(line);
        }
        let out_feature = index[1];
        let feature_group = out_feature / (out_features / features);
        let batch_group = out_feature / (out_features / batches);
        let row = batch_group * (batch / batches) + index[0];
        let a_base = row * a_steps[0] + feature_group * group_features * a_steps[1];
        let b_base = out_feature * b_steps[0];
        let mut sum = Sum::of(element)?;
        let lines: Vec<usize> = pairs.iter().map(Vec::len).collect();
        each_index(&lines, |inner| {
            let (x, y) = inner
                .iter()
                .zip(&pairs)
                .fold((a_base, b_base), |(x, y), (i, line)| (x + line[*i].0, y + line[*i].1));
            sums.run(&mut sum, x, y);
            Ok(())
        })?;
        out.push(sum.settled(element));
        Ok(())
    })?;
    let result = Tensor::of_scalars(element, &shape, &out)?;
    // To the places of the dimensions in the result.
    let mut back = vec![0; output.len()];
    output.iter().enumerate().for_each(|(i, d)| back[*d] = i);
    transpose(&result, &back, element)
}

/// Sums over input features.
struct Sums<'a> {
    a: &'a Elements,
    b: &'a Elements,
    group_features: usize,
    a_step: usize,
    b_step: usize,
}

impl Sums<'_> {
    fn run(&self, sum: &mut Sum, x: usize, y: usize) {
        if let (Scalar::F(s), Elements::F(a), Elements::F(b)) = (&mut sum.0, self.a, self.b) {
            for i in 0..self.group_features {
                *s += a[x + i * self.a_step] * b[y + i * self.b_step];
            }
            return;
        }
        for i in 0..self.group_features {
            // Not `at`: a tensor of one element is read at its place.
            sum.add(self.a.at(x + i * self.a_step), self.b.at(y + i * self.b_step));
        }
    }
}

/// `chlo.ragged_dot`: the left operand's ragged dimension falls into groups of the given sizes, each of which meets its
/// own part of the right operand; rows past the last group are zero.
pub(crate) fn ragged_dot(
    lhs: &Tensor,
    rhs: &Tensor,
    sizes: &Tensor,
    ragged: &RaggedDims,
    element: &ElementType,
) -> Result<Tensor> {
    let along = dims(&[ragged.ragged], lhs.rank(), "ragged dimension")?[0];
    let position = |list: &[i64]| list.iter().position(|d| *d == ragged.ragged);
    let groups = *sizes.shape.last().ok_or_else(|| Error::invalid("group sizes without a dimension"))?;
    let sizes = sizes.int_elements()?;
    let batched = position(&ragged.dot.batch_lhs);
    if batched.is_some() {
        return dot_general(lhs, rhs, &ragged.dot, element);
    }
    if sizes.len() != groups {
        return Err(Error::unsupported("group sizes that differ in a batch"));
    }
    let n = lhs.shape[along] as i64;
    // Of each group the rows of the ragged dimension.
    let mut ranges = Vec::new();
    let mut start = 0i64;
    for size in &sizes {
        let end = start.saturating_add((*size).max(0)).min(n);
        ranges.push((start, end));
        start = end;
    }
    let part = |t: &Tensor, dim: usize, from: i64, to: i64| -> Result<Tensor> {
        let mut low = vec![0; t.rank()];
        let mut high: Vec<i64> = t.shape.iter().map(|n| *n as i64).collect();
        (low[dim], high[dim]) = (from, to);
        super::movement::slice(t, &low, &high, &vec![1; t.rank()], &t.element)
    };
    let mut parts = Vec::new();
    if let Some(pair) = position(&ragged.dot.contract_lhs) {
        // Each group has a product of its own.
        let other = dims(&[ragged.dot.contract_rhs[pair]], rhs.rank(), "contracting dimensions")?[0];
        for (from, to) in ranges {
            let (a, b) = (part(lhs, along, from, to)?, part(rhs, other, from, to)?);
            let product = dot_general(&a, &b, &ragged.dot, element)?;
            let shape = [&[1], product.shape.as_slice()].concat();
            parts.push(reshape(product, shape, element)?);
        }
        return super::movement::concatenate(&parts, 0, element);
    }
    let group = ragged.group.ok_or_else(|| Error::invalid("no group dimension of the right operand"))?;
    let group = dims(&[group], rhs.rank(), "group dimension")?[0];
    let inner: DotDims = {
        // Without the group dimension.
        let lower = |list: &[i64]| list.iter().map(|d| d - i64::from(*d > group as i64)).collect();
        DotDims {
            batch_rhs: lower(&ragged.dot.batch_rhs),
            contract_rhs: lower(&ragged.dot.contract_rhs),
            ..ragged.dot.clone()
        }
    };
    let mut shape = rhs.shape.clone();
    shape.remove(group);
    for (g, (from, to)) in ranges.iter().enumerate() {
        let b = reshape(part(rhs, group, g as i64, g as i64 + 1)?, shape.clone(), &rhs.element)?;
        parts.push(dot_general(&part(lhs, along, *from, *to)?, &b, &inner, element)?);
    }
    // Behind the batch, the ragged dimension stands among the free ones.
    let free = (0..along).filter(|d| {
        let d = *d as i64;
        !ragged.dot.batch_lhs.contains(&d) && !ragged.dot.contract_lhs.contains(&d)
    });
    let place = ragged.dot.batch_lhs.len() + free.count();
    let rest = part(lhs, along, start, n)?;
    let b = reshape(part(rhs, group, 0, 1)?, shape, &rhs.element)?;
    let rest = dot_general(&rest, &b, &inner, element)?;
    parts.push(Tensor::zeros(element, &rest.shape)?);
    super::movement::concatenate(&parts, place, element)
}
