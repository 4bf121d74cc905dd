//! Conversions of single elements between types, rounded once.

use super::super::error::{Error, Result};
use super::super::number::{C, Class, Int, Scalar, class, int_to_odd, settle};
use crate::types::ElementType;

/// A conversion between two element types.
#[derive(Clone, Debug)]
pub(crate) struct Convert {
    from: Class,
    from_int: Option<Int>,
    to: ElementType,
    to_class: Class,
    to_int: Option<Int>,
    /// 53 bits suffice to round an integer to the target later.
    odd: bool,
}

impl Convert {
    pub(crate) fn new(from: &ElementType, to: &ElementType) -> Result<Convert> {
        if from.quantized().is_some() || to.quantized().is_some() {
            return Err(Error::unsupported(format!("a conversion of {from} to {to}")));
        }
        let to_part = to.real_part();
        Ok(Convert {
            from: class(from)?,
            from_int: Int::of(from),
            to: to.clone(),
            to_class: class(to)?,
            to_int: Int::of(to),
            odd: to_part != ElementType::F64,
        })
    }

    /// Integers wrap, floats become the nearest integer towards zero that the type has (NaN becomes 0), the real part
    /// of a complex number counts, and everything but zero is true.
    pub(crate) fn apply(&self, value: Scalar) -> Scalar {
        let value = match (self.from, value) {
            (Class::I, Scalar::I(v)) => match self.to_class {
                Class::I if self.to == ElementType::I1 => Scalar::I(i64::from(v != 0)),
                Class::I => Scalar::I(v),
                Class::F => Scalar::F(self.float(v)),
                Class::C => Scalar::C(C::new(self.float(v), 0.0)),
            },
            (_, Scalar::C(v)) if self.to_class == Class::C => Scalar::C(v),
            (_, Scalar::C(v)) if self.to == ElementType::I1 => Scalar::I(i64::from(v.re != 0.0 || v.im != 0.0)),
            (_, value) => {
                let v = value.float();
                match self.to_class {
                    Class::I if self.to == ElementType::I1 => Scalar::I(i64::from(v != 0.0)),
                    Class::I => Scalar::I(self.to_int.map_or(0, |int| int.saturate(v))),
                    Class::F => Scalar::F(v),
                    Class::C => Scalar::C(C::new(v, 0.0)),
                }
            }
        };
        settle(&self.to, value)
    }

    fn float(&self, v: i64) -> f64 {
        let wide = self.from_int.map_or(i128::from(v), |int| int.wide(v));
        if self.odd { int_to_odd(wide) } else { wide as f64 }
    }
}

/// `reduce_precision`: the nearest value with so many bits of exponent and mantissa; beyond the largest it is infinite,
/// below the smallest normal one zero. NaN stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    /// Bits of the format of the element type.
    own_exponent: u32,
    own_mantissa: u32,
    exponent: u32,
    mantissa: u32,
}

impl Precision {
    pub(crate) fn new(element: &ElementType, exponent: i64, mantissa: i64) -> Result<Precision> {
        let (own_exponent, own_mantissa) = match element {
            ElementType::F64 => (11, 52),
            ElementType::F32 => (8, 23),
            ElementType::BF16 => (8, 7),
            ElementType::F16 => (5, 10),
            ElementType::F8E5M2 => (5, 2),
            ElementType::F8E4M3 => (4, 3),
            ElementType::F8E3M4 => (3, 4),
            other => return Err(Error::unsupported(format!("reduced precision of {other}"))),
        };
        let bits = |n: i64, least: i64| u32::try_from(n).ok().filter(|_| n >= least);
        match (bits(exponent, 1), bits(mantissa, 0)) {
            (Some(exponent), Some(mantissa)) => {
                Ok(Precision { own_exponent, own_mantissa, exponent, mantissa })
            }
            _ => Err(Error::invalid(format!("a format e{exponent}m{mantissa}"))),
        }
    }

    /// On the bits of the format.
    pub(crate) fn bits(self, bits: u64) -> u64 {
        let (e, m) = (self.own_exponent, self.own_mantissa);
        let exponents = ((1u64 << e) - 1) << m;
        let sign = bits & (1u64 << (e + m));
        let magnitude = bits & !sign;
        if magnitude > exponents {
            return bits;
        }
        let mut x = magnitude;
        if self.mantissa < m {
            let last = 1u64 << (m - self.mantissa);
            let odd = u64::from(x & last != 0);
            x = (x + (last >> 1) - 1 + odd) & !(last - 1);
        }
        if self.exponent < e {
            let bias = (1u64 << (e - 1)) - 1;
            let reduced = (1u64 << (self.exponent - 1)) - 1;
            let field = x & exponents;
            if field > (bias + reduced) << m {
                x = exponents;
            } else if field <= (bias - reduced) << m {
                x = 0;
            }
        }
        sign | x
    }
}
