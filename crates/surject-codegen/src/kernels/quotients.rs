//! Quotients of small integers by constants as products: an inverse in two parts gives the same quotient of every integer of the
//! type, and no unit divides as fast as two products are made.

use crate::kernels::inverses::inverse_parts;
use std::collections::HashMap;
use std::convert::Infallible;
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::rewrite::{Lines, rewrite};
use surject_kernel::{Kernel, Op, Statement, Value};

/// The kernel with products in the place of such quotients, for a machine that adds a product to a sum without rounding it.
pub fn exact(kernel: Kernel) -> Kernel {
    let mut known = Known::default();
    let mut rule = |lines: &mut Lines<'_>, statement: &Statement| Ok(known.product(lines, statement));
    match rewrite::<Infallible>(kernel, &mut rule) {
        Ok(kernel) => kernel,
        Err(never) => match never {},
    }
}

/// What is known of the values so far.
#[derive(Default)]
struct Known {
    /// Those that are one number in all lanes.
    numbers: HashMap<Value, Scalar>,
    /// Those of `f32` that were integers of this type.
    integers: HashMap<Value, DType>,
}

impl Known {
    /// The product in the place of a quotient.
    fn product(&mut self, lines: &mut Lines<'_>, statement: &Statement) -> Option<Value> {
        let &[result] = &statement.results[..] else { return None };
        match statement.op {
            Op::Splat(number) => _ = self.numbers.insert(result, number),
            Op::Broadcast(x) => {
                self.numbers.get(&x).copied().map(|number| self.numbers.insert(result, number));
                self.integers.get(&x).copied().map(|dtype| self.integers.insert(result, dtype));
            }
            Op::Convert(x) if lines.ty(result).dtype == DType::F32 => {
                self.integers.insert(result, lines.ty(x).dtype);
            }
            Op::Binary(BinaryOp::Div, x, by) => {
                let (integer, by) = (*self.integers.get(&x)?, self.numbers.get(&by)?.as_f64() as f32);
                let [high, low] = inverse_parts(integer, by)?.map(|part| lines.float(part.into(), x));
                let less = lines.binary(BinaryOp::Mul, x, low);
                return Some(lines.fma(x, high, less));
            }
            _ => {}
        }
        None
    }
}
