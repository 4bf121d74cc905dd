//! Operations of `arith`, `shape` and `tensor` that programs with dynamic shapes hold. Numbers without a shape are tensors
//! of rank 0, shapes are tensors of integers, witnesses are tokens.

use super::dynamic::shape_of;
use super::elementwise::apply_to;
use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::number::{Int, Scalar};
use super::reduce;
use super::value::{Tensor, Value, strides};
use crate::attr::Attribute;
use crate::types::{ElementType, Type};

/// The operation of StableHLO that one of `arith` is on operands read as signed or unsigned.
fn arith(name: &str) -> Option<(&'static str, Option<bool>)> {
    Some(match name {
        "addi" | "addf" => ("add", None),
        "subi" | "subf" => ("subtract", None),
        "muli" | "mulf" => ("multiply", None),
        "divsi" => ("divide", Some(true)),
        "divui" => ("divide", Some(false)),
        "divf" => ("divide", None),
        "remsi" => ("remainder", Some(true)),
        "remui" => ("remainder", Some(false)),
        "remf" => ("remainder", None),
        "andi" => ("and", None),
        "ori" => ("or", None),
        "xori" => ("xor", None),
        "shli" => ("shift_left", None),
        "shrsi" => ("shift_right_arithmetic", None),
        "shrui" => ("shift_right_logical", None),
        "maxsi" => ("maximum", Some(true)),
        "maxui" => ("maximum", Some(false)),
        "maximumf" | "maxnumf" => ("maximum", None),
        "minsi" => ("minimum", Some(true)),
        "minui" => ("minimum", Some(false)),
        "minimumf" | "minnumf" => ("minimum", None),
        "negf" => ("negate", None),
        "select" => ("select", None),
        _ => return None,
    })
}

/// The type with or without a sign.
fn read_as(element: &ElementType, signed: bool) -> ElementType {
    use ElementType::*;
    match (element, signed) {
        (I8 | U8, true) => I8,
        (I8 | U8, false) => U8,
        (I16 | U16, true) => I16,
        (I16 | U16, false) => U16,
        (I32 | U32, true) => I32,
        (I32 | U32, false) => U32,
        (I64 | U64 | Index, true) => I64,
        (I64 | U64 | Index, false) => U64,
        (other, _) => other.clone(),
    }
}

impl Call<'_, '_> {
    pub(crate) fn foreign(&mut self) -> Values {
        let (dialect, short) = self.op.name.split_once('.').unwrap_or_default();
        match dialect {
            "arith" => self.arith(short),
            "shape" => self.shape(short),
            "tensor" => self.tensor_op(short),
            // Casts between views of one value.
            _ => {
                let args = std::mem::take(&mut self.args);
                self.cast(args)
            }
        }
    }

    /// The values as the types of the results.
    fn cast(&self, args: Vec<Value>) -> Values {
        let mut out = Vec::new();
        for (arg, result) in args.into_iter().zip(&self.op.results) {
            out.push(match (arg, self.machine.module.ty(*result)) {
                (Value::Tensor(tensor), Type::Scalar(_) | Type::Tensor(_)) => {
                    let index = self.op.results.iter().position(|v| v == result).unwrap_or(0);
                    Value::Tensor(reduce::convert(&tensor, self.result_element(index)?)?)
                }
                (other, _) => other,
            });
        }
        Ok(out)
    }

    fn arith(&mut self, short: &str) -> Values {
        if short == "constant" {
            let element = self.result_element(0)?.clone();
            return one(match self.op.attribute("value")? {
                Attribute::Dense(dense) => {
                    Tensor::from_dense(dense).ok_or_else(|| Error::unsupported(format!("elements {}", dense.ty)))?
                }
                Attribute::Int { value, .. } => Tensor::ints(&element, &[], vec![*value as i64])?,
                Attribute::Bool(value) => Tensor::ints(&element, &[], vec![i64::from(*value)])?,
                other => match other.as_f64() {
                    Some(value) => Tensor::scalar(&element, Scalar::F(value))?,
                    None => return Err(Error::unsupported(format!("a value that is {}", other.describe()))),
                },
            });
        }
        let element = self.result_element(0)?.clone();
        let operands = self.tensors(0..self.args.len())?;
        if let Some((name, signed)) = arith(short) {
            let signed = signed.filter(|_| operands[0].element != ElementType::I1);
            let read = |t: &Tensor| match signed {
                Some(signed) => {
                    let element = read_as(&t.element, signed);
                    t.clone().with(element, t.shape.clone())
                }
                None => t.clone(),
            };
            let operands: Vec<Tensor> = operands.iter().map(read).collect();
            let computed = signed.map_or_else(|| element.clone(), |signed| read_as(&element, signed));
            let result = apply_to(self, name, &operands, &computed)?;
            let result = result.ok_or_else(|| Error::unsupported("operands of these types"))?;
            let shape = result.shape.clone();
            return one(result.with(element, shape));
        }
        match short {
            "cmpi" | "cmpf" => self.arith_compare(&operands[0], &operands[1], short == "cmpf"),
            "index_cast" | "extsi" | "trunci" | "sitofp" | "fptosi" | "fptoui" | "extf" | "truncf" => {
                // True is -1 as a signed number.
                let from = &operands[0];
                if matches!(short, "extsi" | "sitofp" | "index_cast") && from.element == ElementType::I1 {
                    let values = from.int_elements()?.into_iter().map(|v| -v).collect();
                    let wide = Tensor::ints(&ElementType::I64, &from.shape, values)?;
                    return one(reduce::convert(&wide, &element)?);
                }
                if short == "trunci" && element == ElementType::I1 {
                    let values = from.int_elements()?.into_iter().map(|v| v & 1).collect();
                    return one(Tensor::ints(&element, &from.shape, values)?);
                }
                if short == "fptoui" {
                    let unsigned = reduce::convert(from, &read_as(&element, false))?;
                    let shape = unsigned.shape.clone();
                    return one(unsigned.with(element, shape));
                }
                one(reduce::convert(from, &element)?)
            }
            "index_castui" | "extui" | "uitofp" => {
                let from = read_as(&operands[0].element, false);
                let shape = operands[0].shape.clone();
                one(reduce::convert(&operands[0].clone().with(from, shape), &element)?)
            }
            "bitcast" => self.bitcast_convert(),
            "ceildivsi" | "floordivsi" | "ceildivui" => {
                let unsigned = short == "ceildivui";
                let (a, b) = (operands[0].int_elements()?, operands[1].int_elements()?);
                let int = Int { bits: 64, signed: !unsigned };
                let mut out = Vec::new();
                for (a, b) in a.into_iter().zip(b) {
                    let (a, b) = (int.wide(a), int.wide(b));
                    if b == 0 {
                        return Err(Error::invalid("a division by zero"));
                    }
                    let floor = a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
                    let exact = floor * b == a;
                    out.push((floor + i128::from(short != "floordivsi" && !exact)) as i64);
                }
                one(Tensor::ints(&element, &operands[0].shape, out)?)
            }
            _ => Err(Error::unsupported("no such operation here")),
        }
    }

    fn arith_compare(&self, a: &Tensor, b: &Tensor, floats: bool) -> Values {
        const INTEGER: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        let predicate = usize::try_from(self.op.int("predicate")?).unwrap_or(usize::MAX);
        let mut out = Vec::new();
        let (x, y) = (a.elements()?, b.elements()?);
        for i in 0..a.len() {
            let holds = match (x.at(i), y.at(i)) {
                (Scalar::F(x), Scalar::F(y)) if floats => {
                    let order = x.partial_cmp(&y);
                    use std::cmp::Ordering::{Equal, Greater, Less};
                    // Bits of a predicate: equal, greater, less, unordered.
                    let bit = match order {
                        Some(Equal) => 1,
                        Some(Greater) => 2,
                        Some(Less) => 4,
                        None => 8,
                    };
                    // false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true
                    const HOLDS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15];
                    HOLDS.get(predicate).is_some_and(|mask| mask & bit != 0)
                }
                (Scalar::I(x), Scalar::I(y)) if !floats => match INTEGER.get(predicate) {
                    Some(&"eq") => x == y,
                    Some(&"ne") => x != y,
                    Some(name) => {
                        let element = read_as(&a.element, name.starts_with('s'));
                        let int = Int::of(&element).unwrap_or(Int { bits: 64, signed: true });
                        let (x, y) = (int.wrap(x), int.wrap(y));
                        match &name[1..] {
                            "lt" => int.less(x, y),
                            "le" => !int.less(y, x),
                            "gt" => int.less(y, x),
                            _ => !int.less(x, y),
                        }
                    }
                    None => return Err(Error::invalid(format!("predicate {predicate}"))),
                },
                _ => return Err(Error::invalid(format!("a comparison of {} and {}", a.ty(), b.ty()))),
            };
            out.push(i64::from(holds));
        }
        one(Tensor::ints(&ElementType::I1, &a.shape, out)?)
    }

    /// Integers of an operand that is a shape.
    fn extents(&self, i: usize) -> Result<Vec<i64>> {
        self.tensor(i)?.int_elements()
    }

    /// A list of integers as the result: a tensor, or a shape of that dialect.
    fn list(&self, values: Vec<i64>) -> Values {
        let element = self.result_element(0).cloned().unwrap_or(ElementType::Index);
        one(Tensor::ints(&element, &[values.len()], values)?)
    }

    fn number(&self, value: i64) -> Values {
        let element = self.result_element(0).cloned().unwrap_or(ElementType::Index);
        one(Tensor::ints(&element, &[], vec![value])?)
    }

    fn shape(&mut self, short: &str) -> Values {
        match short {
            "const_shape" => self.list(self.op.dense("shape")?.to_i64s().unwrap_or_default()),
            "shape_of" => {
                let element = self.result_element(0).cloned().unwrap_or(ElementType::Index);
                one(shape_of(self.tensor(0)?, &element)?)
            }
            "broadcast" => {
                let mut all: Vec<i64> = Vec::new();
                for i in 0..self.args.len() {
                    let mut next = self.extents(i)?;
                    let rank = all.len().max(next.len());
                    let longer = |list: &mut Vec<i64>| {
                        list.splice(0..0, std::iter::repeat_n(1, rank - list.len()));
                    };
                    longer(&mut all);
                    longer(&mut next);
                    for (a, b) in all.iter_mut().zip(next) {
                        match (*a, b) {
                            (1, b) => *a = b,
                            (a, b) if b == 1 || a == b => {}
                            (a, b) => return Err(Error::invalid(format!("sizes {a} and {b} do not broadcast"))),
                        }
                    }
                }
                self.list(all)
            }
            "num_elements" => self.number(self.extents(0)?.iter().product()),
            "rank" => {
                let rank = match self.op.operands.first().map(|v| self.machine.module.ty(*v)) {
                    Some(Type::Tensor(_)) => self.tensor(0)?.rank(),
                    _ => self.extents(0)?.len(),
                };
                self.number(rank as i64)
            }
            "get_extent" | "dim" => {
                let list = match short {
                    "dim" => self.tensor(0)?.shape.iter().map(|n| *n as i64).collect(),
                    _ => self.extents(0)?,
                };
                let index = self.tensor(1)?.int()?;
                let size = usize::try_from(index).ok().and_then(|i| list.get(i).copied());
                self.number(size.ok_or_else(|| Error::invalid(format!("extent {index} of {list:?}")))?)
            }
            "concat" => self.list([self.extents(0)?, self.extents(1)?].concat()),
            "from_extents" => {
                let list = (0..self.args.len()).map(|i| self.tensor(i)?.int()).collect::<Result<Vec<i64>>>()?;
                self.list(list)
            }
            "to_extent_tensor" => self.list(self.extents(0)?),
            "index_to_size" | "size_to_index" | "value_of" => Ok(std::mem::take(&mut self.args)),
            "cstr_eq" => {
                let first = self.extents(0)?;
                for i in 1..self.args.len() {
                    if self.extents(i)? != first {
                        return Err(Error::invalid(format!("shapes {first:?} and {:?} differ", self.extents(i)?)));
                    }
                }
                Ok(vec![Value::Token])
            }
            "cstr_broadcastable" => {
                let lists = (0..self.args.len()).map(|i| self.extents(i)).collect::<Result<Vec<_>>>()?;
                let rank = lists.iter().map(Vec::len).max().unwrap_or(0);
                for d in 1..=rank {
                    let sizes = lists.iter().filter_map(|l| l.len().checked_sub(d).map(|i| l[i]));
                    let mut sizes: Vec<i64> = sizes.filter(|n| *n != 1).collect();
                    sizes.dedup();
                    if sizes.len() > 1 {
                        return Err(Error::invalid(format!("shapes {lists:?} do not broadcast")));
                    }
                }
                Ok(vec![Value::Token])
            }
            "assuming" => self.block(0, Vec::new()),
            _ => Err(Error::unsupported("no such operation here")),
        }
    }

    fn tensor_op(&mut self, short: &str) -> Values {
        match short {
            "cast" => Ok(std::mem::take(&mut self.args)),
            "dim" => {
                let tensor = self.tensor(0)?;
                let index = self.tensor(1)?.int()?;
                let size = usize::try_from(index).ok().and_then(|i| tensor.shape.get(i));
                let size = size.ok_or_else(|| Error::invalid(format!("dimension {index} of {}", tensor.ty())))?;
                self.number(*size as i64)
            }
            "extract" => {
                let tensor = self.tensor(0)?;
                let mut at = 0;
                for (i, (n, stride)) in tensor.shape.iter().zip(strides(&tensor.shape)).enumerate() {
                    let index = self.tensor(i + 1)?.int()?;
                    match usize::try_from(index) {
                        Ok(index) if index < *n => at += index * stride,
                        _ => return Err(Error::invalid(format!("index {index} of dimension {i} of {}", tensor.ty()))),
                    }
                }
                let wide = tensor.width();
                let bytes = tensor.bytes()[at * wide..(at + 1) * wide].to_vec();
                one(Tensor::raw(tensor.element.clone(), Vec::new(), bytes))
            }
            "from_elements" | "splat" => {
                let shape = self.result_shape(0)?;
                let element = self.result_element(0)?.clone();
                let parts = self.tensors(0..self.args.len())?;
                let n: usize = shape.iter().product();
                let bytes: Vec<u8> = match short {
                    "splat" => (0..n).flat_map(|_| parts.iter().flat_map(|t| t.bytes().to_vec())).collect(),
                    _ => parts.iter().flat_map(|t| t.bytes().to_vec()).collect(),
                };
                let tensor = Tensor::new(element, &shape, bytes);
                tensor.map_or_else(|| Err(Error::invalid("as many elements as the shape has are wanted")), one)
            }
            _ => Err(Error::unsupported("no such operation here")),
        }
    }
}
