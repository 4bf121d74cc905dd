//! `custom_call`: targets of the caller, then those that JAX emits.

use super::body::Body;
use super::chlo::top_k;
use super::elementwise::apply_to;
use super::error::{Error, ErrorKind, Result};
use super::machine::{Call, Values, one};
use super::movement::{sizes, slice};
use super::number::Scalar;
use super::sort::sorted;
use super::value::{Tensor, Value};
use super::{Request, lapack};
use crate::attr::{Attribute, WindowAttrs};
use crate::module::Function;

/// Targets that only annotate: their results are their operands.
const ANNOTATIONS: &[&str] = &[
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
    "MoveToHost",
    "MoveToDevice",
];

impl<'m> Call<'_, 'm> {
    pub(crate) fn custom_call(&mut self) -> Values {
        let target = self.op.string("call_target_name")?;
        let interpreter = self.machine.interpreter;
        if let Some(compute) = interpreter.targets.get(target) {
            let results = self.op.results.iter().map(|v| self.machine.module.ty(*v)).collect();
            let request = Request { op: self.op, operands: &self.args, results };
            return compute(&request).map_err(Error::invalid);
        }
        if ANNOTATIONS.contains(&target) {
            if let (Ok(tensor), Ok(shape)) = (self.tensor(0), self.result_shape(0))
                && tensor.shape != shape
            {
                return Err(Error::unsupported(format!(
                    "a part of {}: `expand_devices` writes such programs for one device",
                    tensor.ty()
                )));
            }
            return Ok(std::mem::take(&mut self.args));
        }
        if let Some(check) = target.strip_prefix("check.") {
            return self.check_call(check);
        }
        self.take_shapes()?;
        match target {
            "stablehlo.dynamic_reduce_window" | "mhlo.dynamic_reduce_window" => {
                return self.dynamic_reduce_window();
            }
            "stablehlo.dynamic_rng_bit_generator" | "mhlo.dynamic_rng_bit_generator" => {
                let shape = sizes(&self.tensor(1)?.int_elements()?, "output_shape")?;
                self.shapes = vec![self.tensor(0)?.shape.clone(), shape];
                return self.rng_bit_generator();
            }
            "stablehlo.dynamic_top_k" | "mhlo.dynamic_top_k" => {
                let k = self.tensor(1)?.int()?;
                let index = self.result_element(1)?.clone();
                let (values, positions) = top_k(self.tensor(0)?, k, true, &index)?;
                return Ok(vec![Value::Tensor(values), Value::Tensor(positions)]);
            }
            "shape_assertion" => return self.shape_assertion(),
            "mhlo.topk" => return self.topk_call(),
            "ApproxTopK" => return self.approx_top_k(),
            _ => {}
        }
        if let Some(name) = target.strip_prefix("mhlo.").or_else(|| target.strip_prefix("chlo.")) {
            let operands = self.tensors(0..self.args.len())?;
            let element = self.result_element(0)?.clone();
            if let Some(tensor) = apply_to(self, name, &operands, &element)? {
                return one(tensor);
            }
        }
        if let Some(results) = lapack::call(self, target)? {
            return Ok(results);
        }
        Err(Error::unsupported(format!("nothing computes the target '{target}'")))
    }

    /// Takes out the operands that say the shapes of results of dynamic types: one a result.
    fn take_shapes(&mut self) -> Result<()> {
        let Some(Attribute::Dense(places)) = self.op.attributes.get("indices_of_shape_operands") else {
            return Ok(());
        };
        let places = sizes(&places.to_i64s().unwrap_or_default(), "indices_of_shape_operands")?;
        for place in &places {
            self.shapes.push(sizes(&self.tensor(*place)?.int_elements()?, "the shape of a result")?);
        }
        let mut i = 0;
        self.args.retain(|_| {
            i += 1;
            !places.contains(&(i - 1))
        });
        Ok(())
    }

    /// `reduce_window` whose window is given by operands, and whose region is a function.
    fn dynamic_reduce_window(&mut self) -> Values {
        let n = self.op.results.len();
        let lists =
            (2 * n..self.args.len()).map(|i| self.tensor(i)?.int_elements()).collect::<Result<Vec<_>>>()?;
        let [dimensions, strides, base_dilations, window_dilations, padding] = lists.as_slice() else {
            return Err(Error::invalid(format!("{} operands for {n} results", self.args.len())));
        };
        let window = WindowAttrs {
            dimensions: dimensions.clone(),
            strides: strides.clone(),
            base_dilations: base_dilations.clone(),
            window_dilations: window_dilations.clone(),
            padding: padding.as_chunks::<2>().0.iter().map(|[low, high]| (*low, *high)).collect(),
        };
        self.args.truncate(2 * n);
        let function = self.called()?;
        self.windows_reduced(&function.body, window)
    }

    /// The one function that the operation names.
    fn called(&self) -> Result<&'m Function> {
        let name = match self.op.attributes.get("called_computations") {
            Some(Attribute::Array(called)) => match called.as_slice() {
                [Attribute::Symbol(path)] => path.last(),
                _ => None,
            },
            _ => None,
        };
        self.machine.function(name.ok_or_else(|| Error::invalid("a call without its function"))?)
    }

    /// The entries of a configuration, wherever it stands.
    pub(crate) fn configuration(&self, name: &str) -> Option<&'m Attribute> {
        crate::lapack::configuration(self.op, name)
    }

    /// The first operand holds; where not, the message with the other operands at `{0}`, `{1}`, ….
    fn shape_assertion(&mut self) -> Values {
        if self.tensor(0)?.int()? != 0 {
            return Ok(Vec::new());
        }
        let mut message =
            self.op.string("error_message").unwrap_or("the assertion does not hold").to_string();
        for i in 1..self.args.len() {
            message = message.replace(&format!("{{{}}}", i - 1), &self.tensor(i)?.int()?.to_string());
        }
        Err(Error::new(ErrorKind::Assertion, message))
    }

    fn topk_call(&mut self) -> Values {
        let k = self.configuration("k").and_then(Attribute::as_i64);
        let k = k.ok_or_else(|| Error::invalid("'k' is missing"))?;
        let largest = !matches!(self.configuration("largest"), Some(Attribute::Bool(false)));
        let index = self.result_element(1)?.clone();
        let (values, positions) = top_k(self.tensor(0)?, k, largest, &index)?;
        Ok(vec![Value::Tensor(values), Value::Tensor(positions)])
    }

    /// The elements that come first in the order of a comparator. It may miss some of them; here it misses none. The operands
    /// are keys and what goes with them, then an initial value of each; the results say how many are kept.
    fn approx_top_k(&mut self) -> Values {
        let n = self.op.results.len();
        if n == 0 || self.args.len() != 2 * n {
            return Err(Error::invalid(format!("{} operands for {n} results", self.args.len())));
        }
        let function = self.called()?;
        let mut body = Body::new(self.machine, self.frame, &function.body)?;
        let tensors = self.tensors(0..n)?;
        let rank = tensors[0].rank() as i64;
        let axis = self.configuration("reduction_dim").and_then(Attribute::as_i64).unwrap_or(-1);
        let axis = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&axis) || tensors.iter().any(|t| t.shape != tensors[0].shape) {
            return Err(Error::invalid(format!("reduction_dim = {axis} of {}", tensors[0].ty())));
        }
        let mut row = vec![Scalar::I(0); 2 * n];
        let ordered = sorted(&tensors, axis as usize, |keys, a, b| {
            for (i, key) in keys.iter().enumerate() {
                (row[2 * i], row[2 * i + 1]) = (key[a], key[b]);
            }
            let answer = body.call(self.machine, self.frame, &row)?;
            Ok(answer.first().is_some_and(|v| v.int() != 0))
        })?;
        let kept = self.result_shape(0)?;
        let mut limit: Vec<i64> = tensors[0].shape.iter().map(|n| *n as i64).collect();
        limit[axis as usize] = kept.get(axis as usize).map_or(0, |n| *n as i64);
        let zeros = vec![0; limit.len()];
        let ones = vec![1; limit.len()];
        let first = |t: &Tensor| Ok(Value::Tensor(slice(t, &zeros, &limit, &ones, &t.element)?));
        ordered.iter().map(first).collect::<Result<Vec<_>>>()
    }
}
