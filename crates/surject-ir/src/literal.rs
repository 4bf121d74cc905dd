//! The text of values and names, and its inverse: exact for every bit pattern.

use crate::{AccOp, BinaryOp, DType, Scalar, UnaryOp, eval};
use num_complex::Complex;
use std::fmt::Write;

/// Words with a meaning of their own; a variable with such a name is quoted.
const KEYWORDS: [&str; 24] = [
    "program",
    "func",
    "let",
    "over",
    "at",
    "where",
    "and",
    "else",
    "select",
    "index",
    "bitcast",
    "reduce_precision",
    "bits",
    "true",
    "false",
    "inf",
    "call",
    "constant",
    "while",
    "if",
    "region",
    "cond",
    "body",
    "branch",
];

/// Must a name be quoted in the text form?
pub(crate) fn needs_quotes(name: &str) -> bool {
    !is_plain(name) || is_reserved(name)
}

/// Is it a word of letters, digits and underscores?
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Does the word have a meaning of its own?
pub(crate) fn is_reserved(word: &str) -> bool {
    KEYWORDS.contains(&word)
        || word.starts_with("inf_")
        || word.parse::<DType>().is_ok()
        || UnaryOp::from_name(word).is_some()
        || BinaryOp::from_name(word).is_some()
        || AccOp::from_name(word).is_some()
}

/// The name as the text form has it.
pub(crate) fn name(name: &str) -> String {
    if needs_quotes(name) { quote(name, '`') } else { name.to_string() }
}

/// The name itself where it is a word of letters, digits and underscores, else between backquotes.
pub fn word(name: &str) -> String {
    if is_plain(name) { name.to_string() } else { quote(name, '`') }
}

/// The text that [`word`] put between quotation marks of this kind; `None` where it is none.
pub fn unquoted(text: &str, mark: char) -> Option<String> {
    let mut chars = text.strip_prefix(mark)?.strip_suffix(mark)?.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                escaped if escaped == mark || escaped == '\\' => escaped,
                _ => return None,
            },
            c => c,
        });
    }
    Some(plain)
}

/// A text between quotation marks of this kind.
pub(crate) fn quote(text: &str, mark: char) -> String {
    let mut quoted = String::from(mark);
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c == mark || c == '\\' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted.push(mark);
    quoted
}

/// The text of a float part: finite or infinite.
fn float(dtype: DType, value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    // The shortest text that reads back; f16 and bf16 are exact in f32.
    if dtype == DType::F64 { format!("{value:?}") } else { format!("{:?}", value as f32) }
}

fn bits(value: Scalar) -> String {
    format!("bits({:#x})", value.bits())
}

/// A value as an element of a list of a known type.
pub fn element(value: Scalar) -> String {
    let dtype = value.dtype();
    let z = value.as_complex();
    match dtype {
        DType::I1 => value.is_true().to_string(),
        d if d.is_int() => value.as_i128().unwrap_or_default().to_string(),
        _ if z.re.is_nan() || z.im.is_nan() => bits(value),
        d if d.is_complex() => format!("({}, {})", float(d.part(), z.re), float(d.part(), z.im)),
        d => float(d, z.re),
    }
}

/// A value that says its type.
pub(crate) fn typed(value: Scalar) -> String {
    let dtype = value.dtype();
    let mut text = element(value);
    match dtype {
        DType::I1 => return text,
        d if d.is_complex() && text.starts_with('(') => return format!("{d}{text}"),
        d if d.is_float() && text.ends_with("inf") => text.push_str(&format!("_{d}")),
        d => {
            let _ = write!(text, "{d}");
        }
    }
    text
}

/// The value of a number of this type; `None` if it is not one or does not fit.
pub fn number(dtype: DType, text: &str) -> Option<Scalar> {
    match dtype {
        DType::I1 => None,
        d if d.is_int() => {
            let value: i128 = text.parse().ok()?;
            Some(Scalar::from_i128(d, value)).filter(|s| s.as_i128() == Some(value))
        }
        DType::F64 => text.parse().ok().map(|v| Scalar::from_f64(dtype, v)),
        d if d.is_float() => {
            let value: f32 = text.parse().ok()?;
            Some(eval::convert(d, Scalar::from_f64(DType::F32, value.into())))
        }
        _ => None,
    }
}

/// A complex number from the texts of its parts.
pub(crate) fn complex(dtype: DType, re: &str, im: &str) -> Option<Scalar> {
    let part = |text: &str| number(dtype.part(), text).map(Scalar::as_f64);
    dtype.is_complex().then_some(())?;
    Some(Scalar::from_complex(dtype, Complex::new(part(re)?, part(im)?)))
}
