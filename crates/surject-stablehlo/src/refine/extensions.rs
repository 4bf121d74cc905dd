//! Custom calls that stand for operations with shapes as operands, as JAX emits them where StableHLO has none:
//! `@stablehlo.dynamic_reduce_window`, `@stablehlo.dynamic_rng_bit_generator` and `@stablehlo.dynamic_top_k`.

use super::fold::Ints;
use super::{Env, Refiner, Result, statics};
use crate::attr::{Attribute, Attributes};
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, codes};
use crate::module::Op;
use crate::types::Type;

impl<'m> Refiner<'m> {
    /// The operation that such a call stands for, where its shape operands are constants; whether the operation is
    /// another one now.
    pub(super) fn extension(&mut self, op: &mut Op, env: &Env, declared: &mut [Type]) -> Result<bool> {
        if op.name != "stablehlo.custom_call" {
            return Ok(false);
        }
        match op.string("call_target_name") {
            Ok("stablehlo.dynamic_reduce_window") => self.reduce_window(op, env),
            Ok("stablehlo.dynamic_rng_bit_generator") => self.rng_bit_generator(op, declared),
            Ok("stablehlo.dynamic_top_k") => self.top_k(op),
            _ => Ok(false),
        }
    }

    fn ints(&self, op: &Op, i: usize) -> Option<Vec<i64>> {
        op.operands.get(i).and_then(|v| self.constants.get(v)).and_then(Ints::i64s)
    }

    /// Inputs, initial values, then dimensions, strides, two dilations and the padding of the window.
    fn reduce_window(&mut self, op: &mut Op, env: &Env) -> Result<bool> {
        let Some(count) = op.operands.len().checked_sub(5).filter(|n| n % 2 == 0) else { return Ok(false) };
        let names = ["window_dimensions", "window_strides", "base_dilations", "window_dilations"];
        let mut attributes = Attributes::new();
        for (i, name) in names.iter().enumerate() {
            let Some(values) = self.ints(op, count + i) else { return Ok(false) };
            attributes.set(*name, Attribute::I64s(values));
        }
        let Some(padding) = self.ints(op, count + 4) else { return Ok(false) };
        let pairs: Vec<(i64, i64)> = padding.chunks_exact(2).map(|p| (p[0], p[1])).collect();
        attributes.set("padding", Attribute::Dense(DenseElements::pairs(&pairs)));
        let callee = match op.attributes.get("called_computations") {
            Some(Attribute::Array(items)) => match items.as_slice() {
                [Attribute::Symbol(path)] => path.first().and_then(|name| self.old.function(name)),
                _ => None,
            },
            _ => None,
        };
        let Some(callee) = callee else {
            let message = format!("'{}' without the function that it reduces with", op.name);
            return Err(Diagnostic::new(codes::OP_ATTRIBUTE, op.span, message));
        };
        let types: Vec<Type> = callee.params.iter().map(|p| p.ty.clone()).collect();
        let mut region = self.region(&callee.body, &types, env)?;
        if let Some(end) = region.ops.last_mut() {
            end.name = "stablehlo.return".into();
        }
        op.name = "stablehlo.reduce_window".into();
        op.operands.truncate(count);
        op.attributes = attributes;
        op.regions = vec![region];
        Ok(true)
    }

    fn rng_bit_generator(&mut self, op: &mut Op, declared: &mut [Type]) -> Result<bool> {
        let (Some(shape), [_, output]) = (self.ints(op, 1), declared) else { return Ok(false) };
        *output = statics::shaped(op, output, &shape)?;
        let Some(algorithm) = op.attributes.remove("rng_algorithm") else {
            let message = format!("'{}' without 'rng_algorithm'", op.name);
            return Err(Diagnostic::new(codes::OP_ATTRIBUTE, op.span, message));
        };
        op.name = "stablehlo.rng_bit_generator".into();
        op.operands.truncate(1);
        op.attributes = [("rng_algorithm", algorithm)].into_iter().collect();
        Ok(true)
    }

    fn top_k(&mut self, op: &mut Op) -> Result<bool> {
        let Some([k]) = self.ints(op, 1).as_deref().map(|k| <[i64; 1]>::try_from(k).unwrap_or([-1])) else {
            return Ok(false);
        };
        op.name = "chlo.top_k".into();
        op.operands.truncate(1);
        op.attributes = [("k", Attribute::i64(k))].into_iter().collect();
        Ok(true)
    }
}
