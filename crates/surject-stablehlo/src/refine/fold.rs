//! Values of operations on constant integers, as shapes are computed: exact, wrapped to the width of the type.

use crate::attr::Attribute;
use crate::dense::DenseElements;
use crate::module::Op;
use crate::types::{Dim, ElementClass, ElementType, TensorType};

/// More elements than this are no shape; such constants stay what the program says.
pub(super) const MAX_ELEMENTS: u64 = 1 << 10;

/// Integers with their type. The type of a scalar of `arith` is that of a tensor of rank 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ints {
    pub ty: TensorType,
    pub values: Vec<i128>,
}

impl Ints {
    /// Integers of a type, each wrapped to its width; none if their number is not that of its elements.
    pub fn new(ty: &TensorType, values: Vec<i128>) -> Option<Ints> {
        let whole = ty.element.is_integer() && ty.num_elements() == Some(values.len() as u64);
        let ty = TensorType { encoding: None, ..ty.clone() };
        whole.then(|| Ints { values: values.into_iter().map(|v| wrap(&ty.element, v)).collect(), ty })
    }

    /// A single integer.
    pub fn scalar(element: ElementType, value: i128) -> Ints {
        let value = wrap(&element, value);
        Ints { ty: TensorType::of(Vec::new(), element), values: vec![value] }
    }

    /// The elements of a constant, if they are few integers.
    pub fn of(elements: &DenseElements) -> Option<Ints> {
        if elements.len() > MAX_ELEMENTS {
            return None;
        }
        let values: Option<Vec<i128>> = (0..elements.len()).map(|i| elements.get_i128(i)).collect();
        Ints::new(&elements.ty, values?)
    }

    /// The elements as a constant has them.
    pub fn elements(&self) -> Option<DenseElements> {
        let width = self.ty.element.bytes()?;
        let bytes: Vec<u8> =
            self.values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width)).collect();
        DenseElements::raw(self.ty.clone(), bytes).map(DenseElements::canonical)
    }

    /// The one value.
    pub fn single(&self) -> Option<i128> {
        match self.values.as_slice() {
            [value] => Some(*value),
            _ => None,
        }
    }

    /// All values as extents and the like.
    pub fn i64s(&self) -> Option<Vec<i64>> {
        self.values.iter().map(|v| i64::try_from(*v).ok()).collect()
    }

    fn shape(&self) -> Vec<i64> {
        self.ty.shape.iter().map(|d| d.known().unwrap_or(0)).collect()
    }
}

fn bits(element: &ElementType) -> u32 {
    element.bits().unwrap_or(64).min(64)
}

fn wrap(element: &ElementType, value: i128) -> i128 {
    let bits = bits(element);
    let low = value & ((1i128 << bits) - 1);
    let negative = element.class() == ElementClass::Signed && low >> (bits - 1) & 1 == 1;
    if negative { low - (1i128 << bits) } else { low }
}

/// The value of an operation whose operands are constants; none where it is not known how to compute it, or where the
/// result is not defined. `result` is the type of the result.
pub(super) fn fold(op: &Op, operands: &[&Ints], result: &TensorType) -> Option<Ints> {
    if result.num_elements()? > MAX_ELEMENTS || !result.element.is_integer() {
        return None;
    }
    let name = op.name.strip_prefix("stablehlo.").or_else(|| op.name.strip_prefix("arith."))?;
    let element = &result.element;
    let unary = |f: &dyn Fn(i128) -> i128| match operands {
        [a] => Ints::new(result, a.values.iter().map(|v| f(*v)).collect()),
        _ => None,
    };
    let binary = |f: &dyn Fn(i128, i128) -> Option<i128>| match operands {
        [a, b] if a.values.len() == b.values.len() => {
            let values: Option<Vec<i128>> = a.values.iter().zip(&b.values).map(|(x, y)| f(*x, *y)).collect();
            Ints::new(result, values?)
        }
        _ => None,
    };
    let unsigned = |v: i128| v & ((1i128 << bits(element)) - 1);
    match name {
        "add" if *element == ElementType::I1 => binary(&|a, b| Some(a | b)),
        "multiply" if *element == ElementType::I1 => binary(&|a, b| Some(a & b)),
        "add" | "addi" => binary(&|a, b| Some(a + b)),
        "subtract" | "subi" => binary(&|a, b| Some(a - b)),
        "multiply" | "muli" => binary(&|a, b| a.checked_mul(b)),
        "divide" | "divsi" | "divui" => binary(&|a, b| a.checked_div(b)),
        "remainder" | "remsi" | "remui" => binary(&|a, b| a.checked_rem(b)),
        "ceildivsi" => binary(&|a, b| (b > 0).then(|| (a + b - 1).div_euclid(b))),
        "floordivsi" => binary(&|a, b| (b > 0).then(|| a.div_euclid(b))),
        "maximum" | "maxsi" | "maxui" => binary(&|a, b| Some(a.max(b))),
        "minimum" | "minsi" | "minui" => binary(&|a, b| Some(a.min(b))),
        "and" | "andi" => binary(&|a, b| Some(a & b)),
        "or" | "ori" => binary(&|a, b| Some(a | b)),
        "xor" | "xori" => binary(&|a, b| Some(a ^ b)),
        "shift_left" => binary(&|a, b| {
            let by = u32::try_from(unsigned(b)).unwrap_or(u32::MAX);
            Some(if by < bits(element) { unsigned(a) << by } else { 0 })
        }),
        "shift_right_logical" => binary(&|a, b| {
            let by = u32::try_from(unsigned(b)).unwrap_or(u32::MAX);
            Some(if by < bits(element) { unsigned(a) >> by } else { 0 })
        }),
        "power" => binary(&|a, b| {
            let exponent = u32::try_from(b).ok().filter(|e| *e < 128)?;
            (0..exponent).try_fold(1i128, |n, _| n.checked_mul(a).map(|n| wrap(element, n)))
        }),
        "negate" => unary(&|a| -a),
        "abs" => unary(&i128::abs),
        "sign" => unary(&i128::signum),
        "not" => unary(&|a| !a),
        "convert" | "index_cast" | "index_castui" | "extsi" | "trunci" | "extui" => match operands {
            // A boolean is whether a number is not zero.
            [_] if *element == ElementType::I1 && name == "convert" => unary(&|a| i128::from(a != 0)),
            [a] if name == "extui" => {
                let mask = (1i128 << bits(&a.ty.element)) - 1;
                unary(&|a| a & mask)
            }
            _ => unary(&|a| a),
        },
        "compare" => {
            let direction = op.compare_direction().ok()?.to_string();
            binary(&|a, b| {
                Some(i128::from(match direction.as_str() {
                    "EQ" => a == b,
                    "NE" => a != b,
                    "GE" => a >= b,
                    "GT" => a > b,
                    "LE" => a <= b,
                    "LT" => a < b,
                    _ => return None,
                }))
            })
        }
        "cmpi" => {
            let predicate = op.attributes.get("predicate")?.as_i64()?;
            let [left, _] = operands else { return None };
            let mask = (1i128 << bits(&left.ty.element)) - 1;
            binary(&|a, b| {
                let (ua, ub) = (a & mask, b & mask);
                Some(i128::from(match predicate {
                    0 => a == b,
                    1 => a != b,
                    2 => a < b,
                    3 => a <= b,
                    4 => a > b,
                    5 => a >= b,
                    6 => ua < ub,
                    7 => ua <= ub,
                    8 => ua > ub,
                    9 => ua >= ub,
                    _ => return None,
                }))
            })
        }
        "select" => {
            let [p, a, b] = operands else { return None };
            let chosen = |i: usize| {
                let p = p.values.get(if p.values.len() == 1 { 0 } else { i })?;
                if *p != 0 { a.values.get(i) } else { b.values.get(i) }.copied()
            };
            let values: Option<Vec<i128>> = (0..result.num_elements()? as usize).map(chosen).collect();
            Ints::new(result, values?)
        }
        "clamp" => {
            let [low, a, high] = operands else { return None };
            let bound = |of: &Ints, i: usize| {
                of.values.get(if of.values.len() == 1 { 0 } else { i }).copied()
            };
            let value = |(i, v): (usize, &i128)| Some((*v).max(bound(low, i)?).min(bound(high, i)?));
            let values: Option<Vec<i128>> = a.values.iter().enumerate().map(value).collect();
            Ints::new(result, values?)
        }
        "reshape" => match operands {
            [a] => Ints::new(result, a.values.clone()),
            _ => None,
        },
        "concatenate" => match (op.int("dimension").ok()?, operands) {
            (0, parts) => Ints::new(result, parts.iter().flat_map(|p| p.values.clone()).collect()),
            _ => None,
        },
        "slice" => {
            let [a] = operands else { return None };
            let (starts, strides) = (op.ints("start_indices").ok()?, op.ints("strides").ok()?);
            gathered(a, result, |place| {
                place.iter().zip(starts).zip(strides).map(|((i, start), stride)| start + i * stride).collect()
            })
        }
        "broadcast_in_dim" => {
            let [a] = operands else { return None };
            let dims = op.ints("broadcast_dimensions").ok()?;
            let shape = a.shape();
            gathered(a, result, |place| {
                let index = |(d, n): (&i64, &i64)| if *n == 1 { 0 } else { place[*d as usize] };
                dims.iter().zip(&shape).map(index).collect()
            })
        }
        "transpose" => {
            let [a] = operands else { return None };
            let permutation = op.ints("permutation").ok()?;
            gathered(a, result, |place| {
                let mut index = vec![0; place.len()];
                for (i, d) in permutation.iter().enumerate() {
                    index[*d as usize] = place[i];
                }
                index
            })
        }
        "reverse" => {
            let [a] = operands else { return None };
            let (dims, shape) = (op.ints("dimensions").ok()?, a.shape());
            gathered(a, result, |place| {
                let index = |(d, i): (usize, &i64)| {
                    if dims.contains(&(d as i64)) { shape[d] - 1 - i } else { *i }
                };
                place.iter().enumerate().map(index).collect()
            })
        }
        "iota" => {
            let axis = usize::try_from(op.int("iota_dimension").ok()?).ok()?;
            let places = places(result)?;
            let values: Option<Vec<i128>> = places.iter().map(|p| p.get(axis).map(|i| i128::from(*i))).collect();
            Ints::new(result, values?)
        }
        "constant" => match op.attributes.get("value")? {
            Attribute::Dense(elements) => Ints::of(elements),
            Attribute::Int { value, ty } => Some(Ints::scalar(ty.clone(), *value)),
            Attribute::Bool(value) => Some(Ints::scalar(ElementType::I1, i128::from(*value))),
            _ => None,
        },
        _ => None,
    }
}

/// The elements of a constant at the places that those of the result have in it.
fn gathered(a: &Ints, result: &TensorType, index: impl Fn(&[i64]) -> Vec<i64>) -> Option<Ints> {
    let shape = a.shape();
    let at = |place: &Vec<i64>| {
        let index = index(place);
        if index.len() != shape.len() {
            return None;
        }
        let flat = index.iter().zip(&shape).try_fold(0i64, |flat, (i, n)| {
            (0..*n).contains(i).then(|| flat * n + i)
        })?;
        a.values.get(flat as usize).copied()
    };
    let values: Option<Vec<i128>> = places(result)?.iter().map(at).collect();
    Ints::new(result, values?)
}

/// The places of all elements, in row-major order.
fn places(ty: &TensorType) -> Option<Vec<Vec<i64>>> {
    let shape = ty.static_shape()?;
    let count = ty.num_elements().filter(|n| *n <= MAX_ELEMENTS)?;
    let place = |flat: u64| {
        let mut rest = flat as i64;
        let mut place = vec![0; shape.len()];
        for (slot, extent) in place.iter_mut().zip(&shape).rev() {
            *slot = rest % extent;
            rest /= extent;
        }
        place
    };
    Some((0..count).map(place).collect())
}

/// The extents of a type as a list of integers of type `ty`.
pub(super) fn extents(of: &TensorType, ty: &TensorType) -> Option<Ints> {
    let known = |dim: &Dim| dim.known().map(i128::from);
    let values: Option<Vec<i128>> = of.shape.iter().map(known).collect();
    Ints::new(ty, values?)
}
