//! Types of values, and their text.

use std::fmt;
use std::sync::Arc;

use crate::quantized::QuantizedType;

/// One extent of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A known, non-negative extent.
    Static(i64),
    /// `?`
    Dynamic,
}

impl Dim {
    /// The extent where it is known.
    pub fn known(self) -> Option<i64> {
        match self {
            Dim::Static(n) => Some(n),
            Dim::Dynamic => None,
        }
    }

    /// Whether two extents may be equal at run time.
    pub fn compatible(self, other: Dim) -> bool {
        self == other || self == Dim::Dynamic || other == Dim::Dynamic
    }
}

/// Type of one element of a tensor. Signless integers are signed (`I8` is `i8`), `U8` is `ui8`, `I1` is boolean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are the names of the types
pub enum ElementType {
    I1,
    I2,
    I4,
    I8,
    I16,
    I32,
    I64,
    U2,
    U4,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    /// Only in dot algorithms.
    TF32,
    F8E3M4,
    F8E4M3,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E4M3B11FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F6E2M3FN,
    F6E3M2FN,
    F4E2M1FN,
    /// `complex<f32>`
    C64,
    /// `complex<f64>`
    C128,
    Index,
    /// `!quant.uniform<i8:f32, 0.5:-3>`, per tensor or per axis.
    Quantized(Arc<QuantizedType>),
    /// Anything else by its text, for example `i17` or a type of another dialect.
    Other(String),
}

/// Kinds of element types that operations ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementClass {
    /// `i1`
    Bool,
    /// Signed integers and `index`.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating point of any width.
    Float,
    /// Complex.
    Complex,
    /// `!quant.uniform<…>`.
    Quantized,
    /// Unknown.
    Other,
}

/// What is known of an element type with a keyword of its own: the keyword, the class, the bits.
type Row = (&'static str, ElementClass, u32);

/// Makes the ways from keywords to element types and from these to what is known of them.
macro_rules! elements {
    ($($name:ident $keyword:literal $class:ident $bits:literal;)*) => {
        fn of_keyword(keyword: &str) -> Option<ElementType> {
            match keyword {
                $($keyword => Some(ElementType::$name),)*
                _ => None,
            }
        }

        fn row(element: &ElementType) -> Option<Row> {
            match element {
                $(ElementType::$name => Some(($keyword, ElementClass::$class, $bits)),)*
                ElementType::Quantized(_) | ElementType::Other(_) => None,
            }
        }
    };
}

elements! {
    I1 "i1" Bool 1;
    I2 "i2" Signed 2;
    I4 "i4" Signed 4;
    I8 "i8" Signed 8;
    I16 "i16" Signed 16;
    I32 "i32" Signed 32;
    I64 "i64" Signed 64;
    U2 "ui2" Unsigned 2;
    U4 "ui4" Unsigned 4;
    U8 "ui8" Unsigned 8;
    U16 "ui16" Unsigned 16;
    U32 "ui32" Unsigned 32;
    U64 "ui64" Unsigned 64;
    F16 "f16" Float 16;
    BF16 "bf16" Float 16;
    F32 "f32" Float 32;
    F64 "f64" Float 64;
    TF32 "tf32" Float 19;
    F8E3M4 "f8E3M4" Float 8;
    F8E4M3 "f8E4M3" Float 8;
    F8E4M3FN "f8E4M3FN" Float 8;
    F8E4M3FNUZ "f8E4M3FNUZ" Float 8;
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" Float 8;
    F8E5M2 "f8E5M2" Float 8;
    F8E5M2FNUZ "f8E5M2FNUZ" Float 8;
    F8E8M0FNU "f8E8M0FNU" Float 8;
    F6E2M3FN "f6E2M3FN" Float 6;
    F6E3M2FN "f6E3M2FN" Float 6;
    F4E2M1FN "f4E2M1FN" Float 4;
    C64 "complex<f32>" Complex 64;
    C128 "complex<f64>" Complex 128;
    Index "index" Signed 64;
}

impl ElementType {
    /// The type that a keyword such as `f32` or `complex<f64>` names.
    pub fn from_keyword(keyword: &str) -> Option<ElementType> {
        // `si8` is how older text and other dialects spell a signed integer.
        let keyword = if keyword.starts_with("si") { &keyword[1..] } else { keyword };
        of_keyword(keyword)
    }

    /// The text of the type.
    pub fn keyword(&self) -> &str {
        match self {
            ElementType::Other(text) => text,
            ElementType::Quantized(quantized) => quantized.text(),
            _ => row(self).map_or("?", |row| row.0),
        }
    }

    /// What operations ask about the type.
    pub fn class(&self) -> ElementClass {
        match self {
            ElementType::Quantized(_) => ElementClass::Quantized,
            ElementType::Other(text) if text.starts_with("!quant") => ElementClass::Quantized,
            _ => row(self).map_or(ElementClass::Other, |row| row.1),
        }
    }

    /// Bits of one element in the type system (`i1` has 1, `complex<f32>` 64); `None` for unknown types.
    pub fn bits(&self) -> Option<u32> {
        row(self).map(|row| row.2)
    }

    /// Bytes of one element in [`crate::DenseElements`]: sub-byte types take a whole byte.
    pub fn bytes(&self) -> Option<usize> {
        self.bits().map(|bits| (bits as usize).div_ceil(8).next_power_of_two())
    }

    /// `i1`, signed and unsigned integers and `index`.
    pub fn is_integer(&self) -> bool {
        matches!(self.class(), ElementClass::Bool | ElementClass::Signed | ElementClass::Unsigned)
    }

    /// Floating point, not complex.
    pub fn is_float(&self) -> bool {
        self.class() == ElementClass::Float
    }

    /// Complex.
    pub fn is_complex(&self) -> bool {
        self.class() == ElementClass::Complex
    }

    /// Element type of the real part: `f32` of `complex<f32>`, the type itself of anything else.
    pub fn real_part(&self) -> ElementType {
        match self {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            other => other.clone(),
        }
    }

    /// Complex type with parts of this type.
    pub fn complex_of(&self) -> Option<ElementType> {
        match self {
            ElementType::F32 => Some(ElementType::C64),
            ElementType::F64 => Some(ElementType::C128),
            _ => None,
        }
    }

    /// The parameters of a quantized type.
    pub fn quantized(&self) -> Option<&QuantizedType> {
        match self {
            ElementType::Quantized(quantized) => Some(quantized),
            _ => None,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// `tensor<2x?xf32, encoding>`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Extents, outermost first.
    pub shape: Vec<Dim>,
    /// Type of an element.
    pub element: ElementType,
    /// Text of the encoding attribute (bounds of dynamic dimensions, sparsity), if any.
    pub encoding: Option<String>,
}

impl TensorType {
    /// A tensor of known extents.
    pub fn new(shape: &[i64], element: ElementType) -> TensorType {
        TensorType { shape: shape.iter().map(|n| Dim::Static(*n)).collect(), element, encoding: None }
    }

    /// A tensor of the given extents.
    pub fn of(shape: Vec<Dim>, element: ElementType) -> TensorType {
        TensorType { shape, element, encoding: None }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The extents, if all are known.
    pub fn static_shape(&self) -> Option<Vec<i64>> {
        self.shape.iter().map(|d| d.known()).collect()
    }

    /// The bound of each dimension that the encoding gives one (`#stablehlo.bounds<4, ?>`); as many as dimensions.
    pub fn bounds(&self) -> Vec<Option<i64>> {
        let none = vec![None; self.rank()];
        let Some(list) = self.encoding.as_deref().and_then(bounds_text) else { return none };
        let bounds: Vec<Option<i64>> = list.split(',').map(|b| b.trim().parse().ok()).collect();
        if bounds.len() == self.rank() { bounds } else { none }
    }

    /// Whether a constant of the other type may be this value at run time: the same element type, and the same shape
    /// but for dynamic extents.
    pub fn compatible(&self, constant: &TensorType) -> bool {
        self.element == constant.element
            && self.rank() == constant.rank()
            && self.shape.iter().zip(&constant.shape).all(|(a, b)| a.compatible(*b))
    }

    /// Number of elements; `None` where an extent is dynamic or the product exceeds `i64`.
    pub fn num_elements(&self) -> Option<u64> {
        if self.shape.iter().all(|d| d.known().is_some()) && self.shape.contains(&Dim::Static(0)) {
            return Some(0);
        }
        let product = self.shape.iter().try_fold(1i64, |n, d| n.checked_mul(d.known()?))?;
        u64::try_from(product).ok()
    }
}

/// What stands between the brackets of an encoding that gives bounds, in either spelling.
pub(crate) fn bounds_text(encoding: &str) -> Option<&str> {
    if let Some(rest) = encoding.strip_prefix("#stablehlo.bounds") {
        return rest.trim().strip_prefix('<')?.strip_suffix('>');
    }
    let rest = encoding.strip_prefix("#stablehlo.type_extensions")?.trim();
    let inside = rest.strip_prefix('<')?.strip_suffix('>')?.trim().strip_prefix("bounds")?;
    inside.trim().strip_prefix('=')?.trim().strip_prefix('[')?.strip_suffix(']')
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for dim in &self.shape {
            match dim {
                Dim::Static(n) => write!(f, "{n}x")?,
                Dim::Dynamic => f.write_str("?x")?,
            }
        }
        f.write_str(self.element.keyword())?;
        if let Some(encoding) = &self.encoding {
            write!(f, ", {encoding}")?;
        }
        f.write_str(">")
    }
}

/// `(A, B) -> (C, D)`
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct FunctionType {
    /// Types of the arguments.
    pub inputs: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}

/// Type of a value or of an attribute. A copy shares what the type is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `tensor<…>` with a rank.
    Tensor(Arc<TensorType>),
    /// `tuple<…>`
    Tuple(Arc<[Type]>),
    /// `!stablehlo.token`
    Token,
    /// `!stablehlo.future<…>`, what `async_start` gives.
    Future(Arc<[Type]>),
    /// `(A) -> B`
    Function(Arc<FunctionType>),
    /// A bare `i32`, `f32`, `index`: types of attributes, not of tensors.
    Scalar(ElementType),
    /// `none`
    None,
    /// Any other type by its text (`memref<…>`, `tensor<*xf32>`, unknown dialects).
    Opaque(Arc<str>),
}

impl Type {
    /// A tensor of known extents.
    pub fn tensor(shape: &[i64], element: ElementType) -> Type {
        TensorType::new(shape, element).into()
    }

    /// The tensor type, if it is one.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Type {
        Type::Tensor(Arc::new(tensor))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(tensor) => write!(f, "{tensor}"),
            Type::Tuple(parts) => write!(f, "tuple<{}>", TypeList(parts)),
            Type::Token => f.write_str("!stablehlo.token"),
            Type::Future(parts) => write!(f, "!stablehlo.future<{}>", TypeList(parts)),
            Type::Function(function) => write!(f, "{function}"),
            Type::Scalar(element) => write!(f, "{element}"),
            Type::None => f.write_str("none"),
            Type::Opaque(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for FunctionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) -> ", TypeList(&self.inputs))?;
        match self.results.as_slice() {
            [one] if !matches!(one, Type::Function(_)) => write!(f, "{one}"),
            many => write!(f, "({})", TypeList(many)),
        }
    }
}

/// Types separated by commas.
pub(crate) struct TypeList<'a>(pub &'a [Type]);

impl fmt::Display for TypeList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ty) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{ty}")?;
        }
        Ok(())
    }
}
