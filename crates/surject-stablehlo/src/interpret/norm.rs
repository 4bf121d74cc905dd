//! Batch normalisation by the formulas of the specification, in `f64`, rounded once.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::number::Elements;
use super::value::{Tensor, Value, each_index};

/// A tensor with a feature dimension.
struct Featured {
    values: Vec<f64>,
    /// The feature of each element.
    feature: Vec<usize>,
    features: usize,
    shape: Vec<usize>,
}

impl Featured {
    /// Elements that a feature has.
    fn size(&self) -> f64 {
        if self.features == 0 { 0.0 } else { (self.values.len() / self.features) as f64 }
    }

    /// Of each feature the sum of a function of position and value.
    fn sums(&self, term: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.features];
        for (i, value) in self.values.iter().enumerate() {
            sums[self.feature[i]] += term(i, *value);
        }
        sums
    }

    fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.size();
        let mean: Vec<f64> = self.sums(|_, x| x).into_iter().map(|s| s / n).collect();
        let variance = self.sums(|i, x| (x - mean[self.feature[i]]).powi(2));
        (mean, variance.into_iter().map(|s| s / n).collect())
    }
}

impl Call<'_, '_> {
    fn featured(&self) -> Result<Featured> {
        let tensor = self.tensor(0)?;
        let dim = self.dim("feature_index")?;
        let features =
            *tensor.shape.get(dim).ok_or_else(|| Error::invalid(format!("feature_index = {dim}")))?;
        let mut feature = Vec::with_capacity(tensor.len());
        each_index(&tensor.shape, |index| {
            feature.push(index[dim]);
            Ok(())
        })?;
        Ok(Featured { values: floats(tensor)?, feature, features, shape: tensor.shape.clone() })
    }

    /// An operand with one element a feature.
    fn per_feature(&self, i: usize, features: usize) -> Result<Vec<f64>> {
        let tensor = self.tensor(i)?;
        if tensor.shape != [features] {
            return Err(Error::invalid(format!("operand {i} is {} for {features} features", tensor.ty())));
        }
        floats(tensor)
    }

    fn floats_result(&self, i: usize, shape: &[usize], values: Vec<f64>) -> Result<Value> {
        Ok(Value::Tensor(Tensor::of(self.result_element(i)?, shape, &Elements::F(values))?))
    }

    fn normalised(&self, x: &Featured, mean: &[f64], variance: &[f64]) -> Result<Vec<f64>> {
        let epsilon = self.op.float("epsilon")?;
        let (scale, offset) = (self.per_feature(1, x.features)?, self.per_feature(2, x.features)?);
        let term = |i: usize| {
            let f = x.feature[i];
            scale[f] * ((x.values[i] - mean[f]) / (variance[f] + epsilon).sqrt()) + offset[f]
        };
        Ok((0..x.values.len()).map(term).collect())
    }

    pub(crate) fn batch_norm_inference(&mut self) -> Values {
        let x = self.featured()?;
        let (mean, variance) = (self.per_feature(3, x.features)?, self.per_feature(4, x.features)?);
        let values = self.normalised(&x, &mean, &variance)?;
        one(Tensor::of(self.result_element(0)?, &x.shape, &Elements::F(values))?)
    }

    pub(crate) fn batch_norm_training(&mut self) -> Values {
        let x = self.featured()?;
        let (mean, variance) = x.moments();
        let values = self.normalised(&x, &mean, &variance)?;
        let features = [x.features];
        Ok(vec![
            self.floats_result(0, &x.shape, values)?,
            self.floats_result(1, &features, mean)?,
            self.floats_result(2, &features, variance)?,
        ])
    }

    pub(crate) fn batch_norm_grad(&mut self) -> Values {
        let x = self.featured()?;
        let epsilon = self.op.float("epsilon")?;
        let scale = self.per_feature(1, x.features)?;
        let (mean, variance) = (self.per_feature(2, x.features)?, self.per_feature(3, x.features)?);
        let upstream = floats(self.tensor(4)?)?;
        if upstream.len() != x.values.len() {
            return Err(Error::invalid("the gradient of the output has another shape than the operand"));
        }
        let n = x.size();
        let centred = |i: usize| x.values[i] - mean[x.feature[i]];
        let deviation: Vec<f64> = variance.iter().map(|v| (v + epsilon).sqrt()).collect();
        let grad_offset = x.sums(|i, _| upstream[i]);
        let products = x.sums(|i, _| upstream[i] * centred(i));
        let grad_scale: Vec<f64> = products.iter().zip(&deviation).map(|(p, d)| p / d).collect();
        let grad_operand = (0..x.values.len())
            .map(|i| {
                let f = x.feature[i];
                let rest = n * upstream[i]
                    - grad_offset[f]
                    - products[f] * centred(i) / (variance[f] + epsilon);
                scale[f] / deviation[f] / n * rest
            })
            .collect();
        let features = [x.features];
        Ok(vec![
            self.floats_result(0, &x.shape, grad_operand)?,
            self.floats_result(1, &features, grad_scale)?,
            self.floats_result(2, &features, grad_offset)?,
        ])
    }
}

fn floats(tensor: &Tensor) -> Result<Vec<f64>> {
    match tensor.elements()? {
        Elements::F(values) => Ok(values),
        _ => Err(Error::unsupported(format!("normalisation of {}", tensor.ty()))),
    }
}
