//! `stablehlo.batch_norm_*`, whose three forms the specification defines by reductions and elementwise operations.

use super::cx::Cx;
use super::state::Result;
use super::types;
use surject_index::{Affine, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, FieldId, Scalar, UnaryOp};

/// What the three forms share.
struct Norm {
    x: FieldId,
    space: Space,
    /// From the space of `x` to that of a feature vector.
    to_feature: IndexMap,
    /// The number of elements a feature has.
    count: f64,
    epsilon: f64,
}

impl Norm {
    fn new(cx: &mut Cx<'_, '_>) -> Result<Norm> {
        let x = cx.field(0)?;
        let space = cx.space(x);
        let index = cx.attr(cx.op.int("feature_index"))?;
        let axis = types::axis(cx.op, index, space.rank(), "feature_index")?;
        let epsilon = cx.attr(cx.op.float("epsilon"))?;
        if !cx.dtype(x).is_float() {
            return Err(cx.unsupported(format!("operands of type {}", cx.dtype(x))));
        }
        let to_feature = IndexMap::projection(&space, &[axis]);
        let mut count = 1.0;
        for a in (0..space.rank()).filter(|&a| a != axis) {
            let size = cx.lift.constant_size(cx.op, &format!("dimension {a}"), space.extent(a))?;
            count *= size as f64;
        }
        Ok(Norm { x, space, to_feature, count, epsilon })
    }

    /// A feature vector (an operand) at every point.
    fn feature(&self, cx: &mut Cx<'_, '_>, i: usize) -> Result<FieldId> {
        let vector = cx.field(i)?;
        cx.read(self.to_feature.clone(), vector)
    }

    fn sum(&self, cx: &mut Cx<'_, '_>, field: FieldId) -> Result<FieldId> {
        // The axes of the result come first in the product space.
        let rank = self.space.rank();
        let feature = self.to_feature.components()[0].used_axes().next();
        let Some(axis) = feature else {
            return cx.accumulate(AccOp::Add, self.to_feature.clone(), field);
        };
        let order: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&a| a != axis)).collect();
        let product = self.space.select(&order);
        let mut components = vec![Affine::fixed(rank, 0); rank];
        order.iter().enumerate().for_each(|(place, &a)| components[a] = Affine::axis(rank, place));
        let map = cx.total(product.clone(), self.space.clone(), components)?;
        let field = cx.read(map, field)?;
        cx.accumulate(AccOp::Add, IndexMap::projection(&product, &[0]), field)
    }

    fn deviation(&self, cx: &mut Cx<'_, '_>, variance: FieldId) -> Result<FieldId> {
        let epsilon = cx.number(variance, self.epsilon);
        let shifted = cx.binary(BinaryOp::Add, variance, epsilon)?;
        cx.unary(UnaryOp::Sqrt, shifted)
    }

    /// `scale · (x − mean) / √(variance + ε) + offset`, all at every point.
    fn normalise(
        &self,
        cx: &mut Cx<'_, '_>,
        [scale, offset, mean, variance]: [FieldId; 4],
    ) -> Result<FieldId> {
        let centred = cx.binary(BinaryOp::Sub, self.x, mean)?;
        let deviation = self.deviation(cx, variance)?;
        let scaled = cx.binary(BinaryOp::Mul, scale, centred)?;
        let quotient = cx.binary(BinaryOp::Div, scaled, deviation)?;
        cx.binary(BinaryOp::Add, quotient, offset)
    }
}

/// Operands: x, scale, offset, mean, variance.
pub(super) fn inference(cx: &mut Cx<'_, '_>) -> Result<()> {
    let norm = Norm::new(cx)?;
    let features = [norm.feature(cx, 1)?, norm.feature(cx, 2)?, norm.feature(cx, 3)?, norm.feature(cx, 4)?];
    let field = norm.normalise(cx, features)?;
    cx.store(0, field)
}

/// Operands: x, scale, offset. Results: the output, the mean and the variance of each feature.
pub(super) fn training(cx: &mut Cx<'_, '_>) -> Result<()> {
    let norm = Norm::new(cx)?;
    let (scale, offset) = (norm.feature(cx, 1)?, norm.feature(cx, 2)?);
    let sum = norm.sum(cx, norm.x)?;
    let count = cx.number(sum, norm.count);
    let mean = cx.binary(BinaryOp::Div, sum, count)?;
    let mean = cx.temp(mean);
    let mean_here = cx.read(norm.to_feature.clone(), mean)?;
    let centred = cx.binary(BinaryOp::Sub, norm.x, mean_here)?;
    let square = cx.binary(BinaryOp::Mul, centred, centred)?;
    let sum = norm.sum(cx, square)?;
    let variance = cx.binary(BinaryOp::Div, sum, count)?;
    let variance = cx.temp(variance);
    let variance_here = cx.read(norm.to_feature.clone(), variance)?;
    let field = norm.normalise(cx, [scale, offset, mean_here, variance_here])?;
    cx.store(0, field)?;
    cx.store(1, mean)?;
    cx.store(2, variance)
}

/// Operands: x, scale, mean, variance, the gradient of the output. Results: the gradients of x, scale, offset.
pub(super) fn gradient(cx: &mut Cx<'_, '_>) -> Result<()> {
    let norm = Norm::new(cx)?;
    let (scale, mean, variance) = (norm.feature(cx, 1)?, norm.feature(cx, 2)?, norm.feature(cx, 3)?);
    let grad = cx.field(4)?;
    let centred = cx.binary(BinaryOp::Sub, norm.x, mean)?;
    let deviation = norm.deviation(cx, variance)?;
    let normalised = cx.binary(BinaryOp::Div, centred, deviation)?;
    let products = cx.binary(BinaryOp::Mul, grad, centred)?;
    let (grad_sum, product_sum) = (norm.sum(cx, grad)?, norm.sum(cx, products)?);
    let (grad_sum, product_sum) = (cx.temp(grad_sum), cx.temp(product_sum));
    let scaled = cx.binary(BinaryOp::Mul, grad, normalised)?;
    let scale_gradient = norm.sum(cx, scaled)?;

    let dtype = cx.dtype(norm.x);
    let count = cx.constant(&norm.space, Scalar::from_f64(dtype, norm.count));
    let epsilon = cx.number(variance, norm.epsilon);
    let shifted = cx.binary(BinaryOp::Add, variance, epsilon)?;
    let here = [cx.read(norm.to_feature.clone(), grad_sum)?, cx.read(norm.to_feature.clone(), product_sum)?];
    let weighted = cx.binary(BinaryOp::Mul, grad, count)?;
    let along = cx.binary(BinaryOp::Mul, here[1], centred)?;
    let along = cx.binary(BinaryOp::Div, along, shifted)?;
    let rest = cx.binary(BinaryOp::Sub, weighted, here[0])?;
    let rest = cx.binary(BinaryOp::Sub, rest, along)?;
    let factor = cx.binary(BinaryOp::Div, scale, deviation)?;
    let factor = cx.binary(BinaryOp::Div, factor, count)?;
    let field = cx.binary(BinaryOp::Mul, factor, rest)?;
    cx.store(0, field)?;
    cx.store(1, scale_gradient)?;
    cx.store(2, grad_sum)
}
