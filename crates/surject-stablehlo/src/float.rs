//! Floating point formats: bit patterns from and to values, text from and to bit patterns.

use half::{bf16, f16};

use crate::types::ElementType;

/// How a small format spells infinities and NaN.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// As IEEE 754: the largest exponent.
    Ieee,
    /// No infinity; all ones is NaN (`FN`).
    NanOnes,
    /// No infinity; the pattern of minus zero is NaN (`FNUZ`).
    NanMinusZero,
    /// Neither.
    None,
}

/// A format of 8 bits or less with a sign bit.
struct Small {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: Specials,
}

fn small(element: &ElementType) -> Option<Small> {
    use ElementType::*;
    use Specials::*;
    let (exponent, mantissa, bias, specials) = match element {
        F8E3M4 => (3, 4, 3, Ieee),
        F8E4M3 => (4, 3, 7, Ieee),
        F8E4M3FN => (4, 3, 7, NanOnes),
        F8E4M3FNUZ => (4, 3, 8, NanMinusZero),
        F8E4M3B11FNUZ => (4, 3, 11, NanMinusZero),
        F8E5M2 => (5, 2, 15, Ieee),
        F8E5M2FNUZ => (5, 2, 16, NanMinusZero),
        F6E2M3FN => (2, 3, 1, None),
        F6E3M2FN => (3, 2, 3, None),
        F4E2M1FN => (2, 1, 1, None),
        _ => return Option::None,
    };
    Some(Small { exponent, mantissa, bias, specials })
}

impl Small {
    fn bits(&self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    fn magnitude(&self, code: u64) -> f64 {
        let field = (code >> self.mantissa) as i32;
        let fraction = (code & ((1 << self.mantissa) - 1)) as f64 / f64::from(1u32 << self.mantissa);
        match field {
            0 => fraction * f64::powi(2.0, 1 - self.bias),
            _ => (1.0 + fraction) * f64::powi(2.0, field - self.bias),
        }
    }

    fn decode(&self, bits: u64) -> f64 {
        let sign_bit = 1u64 << (self.bits() - 1);
        let code = bits & (sign_bit - 1);
        let negative = bits & sign_bit != 0;
        let exponent_ones = code >> self.mantissa == (1 << self.exponent) - 1;
        let fraction = code & ((1 << self.mantissa) - 1);
        let magnitude = match self.specials {
            Specials::Ieee if exponent_ones && fraction == 0 => f64::INFINITY,
            Specials::Ieee if exponent_ones => f64::NAN,
            Specials::NanOnes if code == sign_bit - 1 => f64::NAN,
            Specials::NanMinusZero if negative && code == 0 => f64::NAN,
            _ => self.magnitude(code),
        };
        if negative { -magnitude } else { magnitude }
    }

    /// Largest code of a finite magnitude.
    fn largest(&self) -> u64 {
        let ones = (1u64 << (self.bits() - 1)) - 1;
        match self.specials {
            Specials::Ieee => ones - (1 << self.mantissa),
            Specials::NanOnes => ones - 1,
            _ => ones,
        }
    }

    /// Rounds to nearest, ties to even; too large becomes infinity, NaN, or the largest number, as the format has.
    fn encode(&self, value: f64) -> u64 {
        let sign_bit = 1u64 << (self.bits() - 1);
        let sign = if value.is_sign_negative() { sign_bit } else { 0 };
        let nan = match self.specials {
            Specials::Ieee => (sign_bit - 1) - ((1 << self.mantissa) - 1) + (1 << (self.mantissa - 1)),
            Specials::NanOnes => sign_bit - 1,
            Specials::NanMinusZero => return self.encode_unsigned_zero(value, sign, sign_bit),
            // As libraries of these formats have it: NaN becomes the zero of the other sign.
            Specials::None => sign_bit,
        };
        if value.is_nan() {
            return sign ^ nan;
        }
        let code = self.nearest(value.abs());
        sign | if code <= self.largest() {
            code
        } else if self.specials == Specials::Ieee {
            self.largest() + 1
        } else if self.specials == Specials::NanOnes {
            nan
        } else {
            self.largest()
        }
    }

    fn encode_unsigned_zero(&self, value: f64, sign: u64, nan: u64) -> u64 {
        if value.is_nan() {
            return nan;
        }
        match self.nearest(value.abs()) {
            0 => 0,
            code if code > self.largest() => nan,
            code => sign | code,
        }
    }

    /// Code nearest to a magnitude, one past the largest if it rounds beyond it.
    fn nearest(&self, magnitude: f64) -> u64 {
        let largest = self.largest();
        let (mut low, mut high) = (0u64, largest + 1);
        // The magnitudes of codes grow with the codes, and the code after the largest continues the row.
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.magnitude(middle) <= magnitude { low = middle } else { high = middle }
        }
        let (below, above) = (magnitude - self.magnitude(low), self.magnitude(high) - magnitude);
        if below < above || (below == above && low % 2 == 0) { low } else { high }
    }
}

/// What rounding to a format below 16 bits needs to know of it.
pub(crate) struct Shape {
    /// Bits behind the point.
    pub mantissa: u32,
    /// The least positive number, and the least of full precision.
    pub least: f64,
    pub least_normal: f64,
    /// The largest finite number.
    pub largest: f64,
    /// What is beyond the largest: infinity or NaN; the largest itself where it has neither.
    pub overflow: Option<f64>,
    pub nan: bool,
    pub signed_zero: bool,
    /// Whether it has a sign (else only powers of two, halves rounded upwards).
    pub signed: bool,
}

pub(crate) fn shape(element: &ElementType) -> Option<Shape> {
    if *element == ElementType::F8E8M0FNU {
        let least = f64::powi(2.0, -127);
        return Some(Shape {
            mantissa: 0,
            least,
            least_normal: least,
            largest: f64::powi(2.0, 127),
            overflow: Some(f64::NAN),
            nan: true,
            signed_zero: true,
            signed: false,
        });
    }
    let format = small(element)?;
    Some(Shape {
        mantissa: format.mantissa,
        least: format.magnitude(1),
        least_normal: format.magnitude(1 << format.mantissa),
        largest: format.magnitude(format.largest()),
        overflow: match format.specials {
            Specials::Ieee => Some(f64::INFINITY),
            Specials::None => None,
            _ => Some(f64::NAN),
        },
        nan: format.specials != Specials::None,
        signed_zero: format.specials != Specials::NanMinusZero,
        signed: true,
    })
}

/// Value of a bit pattern; `None` if the type is not a real float.
pub fn decode(element: &ElementType, bits: u64) -> Option<f64> {
    Some(match element {
        ElementType::F64 => f64::from_bits(bits),
        ElementType::F32 | ElementType::TF32 => f64::from(f32::from_bits(bits as u32)),
        ElementType::F16 => f16::from_bits(bits as u16).to_f64(),
        ElementType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        ElementType::F8E8M0FNU if bits & 0xFF == 0xFF => f64::NAN,
        ElementType::F8E8M0FNU => f64::powi(2.0, (bits & 0xFF) as i32 - 127),
        other => small(other)?.decode(bits),
    })
}

/// Bit pattern of the nearest value of the type; `None` if the type is not a real float.
pub fn encode(element: &ElementType, value: f64) -> Option<u64> {
    Some(match element {
        ElementType::F64 => value.to_bits(),
        ElementType::F32 | ElementType::TF32 => u64::from((value as f32).to_bits()),
        ElementType::F16 => u64::from(f16::from_f32(to_odd(value)).to_bits()),
        ElementType::BF16 => u64::from(bf16::from_f32(to_odd(value)).to_bits()),
        ElementType::F8E8M0FNU => power_of_two(value),
        other => small(other)?.encode(value),
    })
}

/// The exponent of the nearest power of two, halves upwards, from -127 on; all ones for what has none.
fn power_of_two(value: f64) -> u64 {
    if value.is_nan() || value <= 0.0 || value.is_infinite() {
        return 0xFF;
    }
    let field = value.to_bits() >> 51;
    // The first bit behind the point says which half.
    let exponent = (field >> 1) as i64 - 1023 + (field & 1) as i64;
    match exponent {
        128.. => 0xFF,
        _ => (exponent + 127).max(0) as u64,
    }
}

/// The value as `f32`, where it is none the neighbour whose last bit is set: what is rounded from it to 16 bits is rounded as
/// from the value itself (the conversions of `half` from `f64` drop bits that decide ties).
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || value.is_nan() || near.to_bits() & 1 == 1 {
        return near;
    }
    // The other neighbour: of even ones it is next in the row of bit patterns, away from zero or towards it.
    let away = back.abs() < value.abs();
    f32::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// Bit pattern of a decimal literal; `None` if the text is no number or the type no real float.
pub fn parse(element: &ElementType, text: &str) -> Option<u64> {
    match element {
        // Straight from the text, so that no rounding happens twice.
        ElementType::F32 => text.parse::<f32>().ok().map(|v| u64::from(v.to_bits())),
        _ => encode(element, text.parse::<f64>().ok()?),
    }
}

/// Digits that always suffice to tell two values of the type apart.
fn natural_digits(element: &ElementType) -> usize {
    let precision = match element {
        ElementType::F64 => 53,
        ElementType::F32 | ElementType::TF32 => 24,
        ElementType::F16 => 11,
        ElementType::BF16 => 8,
        ElementType::F8E8M0FNU => 1,
        other => small(other).map_or(53, |s| s.mantissa as usize + 1),
    };
    2 + precision * 59 / 196
}

/// Text of a bit pattern, as MLIR prints it: six significant digits if they read back the same, else all digits,
/// else (infinities, NaN, whole numbers too long for six digits) the bits in hexadecimal.
pub fn print(element: &ElementType, bits: u64) -> String {
    let hex = || format!("0x{bits:X}");
    let Some(value) = decode(element, bits).filter(|v| v.is_finite()) else { return hex() };
    let same = |text: &String| parse(element, text) == Some(bits);
    if value == 0.0 {
        return Some(format!("{}0.000000e+00", sign(value))).filter(same).unwrap_or_else(hex);
    }
    let (digits, exponent) = significant(value.abs(), 6);
    let short = format!("{}{}", sign(value), scientific(&digits, exponent));
    if same(&short) {
        return short;
    }
    let (digits, exponent) = significant(value.abs(), natural_digits(element));
    let long = format!("{}{}", sign(value), natural(&digits, exponent, natural_digits(element)));
    if long.contains('.') && same(&long) { long } else { hex() }
}

fn sign(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

/// About `count` significant digits and the power of ten of the first one, as LLVM's `APFloat::toString` finds them:
/// the exact decimal expansion is first cut (not rounded) to slightly more digits than needed, then rounded half up.
fn significant(value: f64, count: usize) -> (String, i32) {
    let (digits, exponent) = exact_digits(value);
    let needed = (count * 196).div_ceil(59);
    let removable = (significand_bits(value) as usize).saturating_sub(needed) * 59 / 196;
    let mut digits = digits.into_bytes();
    digits.truncate(digits.len().saturating_sub(removable).max(1));
    let mut exponent = exponent;
    let round_up = digits.get(count).is_some_and(|d| *d >= b'5');
    digits.truncate(count);
    if round_up {
        match digits.iter().rposition(|d| *d != b'9') {
            Some(at) => {
                digits[at] += 1;
                digits.truncate(at + 1);
            }
            None => {
                digits = vec![b'1'];
                exponent += 1;
            }
        }
    }
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits.iter().map(|d| *d as char).collect(), exponent)
}

/// All decimal digits of a positive number: of the whole number if it is one, else up to the last fraction digit.
fn exact_digits(value: f64) -> (String, i32) {
    if value.fract() == 0.0 {
        let digits = format!("{value:.0}");
        let exponent = digits.len() as i32 - 1;
        return (digits, exponent);
    }
    // No double has more than 767 significant digits.
    let exact = format!("{value:.766e}");
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    (digits.trim_end_matches('0').to_string(), exponent.parse().unwrap_or(0))
}

/// Bits of the whole number that those digits spell: the odd significand times a power of five (or of two).
fn significand_bits(value: f64) -> u32 {
    if value.fract() == 0.0 {
        return value.log2().floor() as u32 + 1;
    }
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
    let (significand, exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    let zeros = significand.trailing_zeros();
    let fives = -(exponent + zeros as i32);
    let odd = (significand >> zeros) as f64;
    (odd.log2() + f64::from(fives) * 5f64.log2()).floor() as u32 + 1
}

/// `1.500000e-01`
fn scientific(digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}.{rest:0<6}e{sign}{:02}", exponent.abs())
}

/// `0.797884583`, `9.99999974E-6`, `16777215`: plain where at most three zeros pad the digits, else scientific.
fn natural(digits: &str, exponent: i32, precision: usize) -> String {
    let count = digits.len() as i32;
    let last = exponent - (count - 1);
    let scientific = match last {
        0.. => last > 3 || count + last > precision as i32,
        _ => exponent < 0 && -exponent > 3,
    };
    if scientific {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{first}.{rest}E{sign}{}", exponent.abs());
    }
    if last >= 0 {
        return format!("{digits}{}", "0".repeat(last as usize));
    }
    if exponent >= 0 {
        let (whole, rest) = digits.split_at(exponent as usize + 1);
        return format!("{whole}.{rest}");
    }
    format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_text(value: f32) -> String {
        print(&ElementType::F32, u64::from(value.to_bits()))
    }

    #[test]
    fn prints_as_mlir_does() {
        assert_eq!(f32_text(1.0), "1.000000e+00");
        assert_eq!(f32_text(-0.0), "-0.000000e+00");
        assert_eq!(f32_text(0.044715), "4.471500e-02");
        assert_eq!(f32_text(1e-5), "9.99999974E-6");
        assert_eq!(f32_text(0.797_884_6), "0.797884583");
        assert_eq!(f32_text(-0.999_999_94), "-0.99999994");
        assert_eq!(f32_text(f32::MAX), "3.40282347E+38");
        assert_eq!(f32_text(1e-45), "1.401300e-45");
        assert_eq!(f32_text(16_777_215.0), "0x4B7FFFFF");
        assert_eq!(f32_text(f32::NEG_INFINITY), "0xFF800000");
        assert_eq!(print(&ElementType::F64, 0.1f64.to_bits()), "1.000000e-01");
        assert_eq!(print(&ElementType::F64, (1.0f64 / 3.0).to_bits()), "0.33333333333333331");
    }

    #[test]
    fn every_small_pattern_reads_back() {
        use ElementType::*;
        for ty in
            [F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN]
        {
            for bits in 0..1u64 << ty.bits().unwrap() {
                let text = print(&ty, bits);
                if !text.starts_with("0x") {
                    assert_eq!(parse(&ty, &text), Some(bits), "{ty} {bits:#x} {text}");
                }
            }
        }
        for bits in 0..=u16::MAX {
            for ty in [F16, BF16] {
                let text = print(&ty, bits.into());
                assert!(text.starts_with("0x") || parse(&ty, &text) == Some(bits.into()));
            }
        }
    }
}
