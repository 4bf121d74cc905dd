//! Values of the notation: what a name of a source can stand for.

use crate::elaborate::Function;
use crate::graph::SizeRef;
use crate::tensor::Tensor;
use std::rc::Rc;
use surject_notation::Spec;
use surject_notation::spec::Capture;

/// What an expression gives, and what a host program binds to a name.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing: what an action gives.
    Unit,
    /// A number of the host program; as an operand it is a scalar.
    Number(Number),
    /// A size that inference finds.
    Size(Size),
    /// The sizes of a row: numbers and sizes.
    Sizes(Rc<Vec<Value>>),
    /// A text that is not a spec.
    Text(Rc<str>),
    /// A spec with what it captures.
    Spec(Rc<SpecValue>),
    /// A tensor, or a static index.
    Tensor(Tensor),
    /// A function, a layer, or an operator.
    Function(Function),
}

/// A number of the host program.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// Its value.
    pub value: f64,
    /// Whether it is a whole number, so that it may be a size or a coefficient.
    pub whole: bool,
    /// The basis, where one is written.
    pub basis: Option<String>,
}

impl Number {
    /// The number as a size, if it is one.
    pub fn size(&self) -> Option<u64> {
        let fits = self.whole && self.value >= 0.0 && self.value < 9.007_199_254_740_992e15;
        fits.then_some(self.value as u64)
    }
}

/// A size that inference finds, under the name by which a spec captured it.
#[derive(Clone, PartialEq, Debug)]
pub struct Size {
    /// The name.
    pub name: String,
    /// The axis or the row.
    pub size: SizeRef,
}

/// A spec as a value: with what its surroundings said where it was written.
#[derive(Clone, PartialEq, Debug)]
pub struct SpecValue {
    /// The spec.
    pub spec: Spec,
    /// Its text.
    pub text: String,
    /// What it captures.
    pub captures: Vec<Capture>,
    /// The numbers that its coefficients name.
    pub numbers: Vec<(String, u64)>,
    /// Whether convolved axes without a mark are padded.
    pub padding: Option<bool>,
}

impl Value {
    /// What it is, with an article, as errors say it.
    pub fn sort(&self) -> &'static str {
        match self {
            Value::Unit => "nothing",
            Value::Number(_) => "a number",
            Value::Size(_) => "a size",
            Value::Sizes(_) => "a list of sizes",
            Value::Text(_) => "a text",
            Value::Spec(_) => "a spec",
            Value::Tensor(_) => "a tensor",
            Value::Function(_) => "a function",
        }
    }

    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The function, if it is one.
    pub fn function(&self) -> Option<&Function> {
        match self {
            Value::Function(function) => Some(function),
            _ => None,
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(tensor)
    }
}

impl From<&Tensor> for Value {
    fn from(tensor: &Tensor) -> Value {
        Value::Tensor(tensor.clone())
    }
}

impl From<Function> for Value {
    fn from(function: Function) -> Value {
        Value::Function(function)
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Value {
        value.clone()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Value {
        Value::from(u8::from(yes))
    }
}

macro_rules! numbers {
    ($whole:literal $($type:ty)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::Number(Number { value: value as f64, whole: $whole, basis: None })
            }
        }
        impl From<&$type> for Value {
            fn from(value: &$type) -> Value {
                Value::from(*value)
            }
        }
    )*};
}

numbers! { true u8 u16 u32 u64 usize i8 i16 i32 i64 isize }
numbers! { false f32 f64 }

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        Value::Sizes(Rc::new(values.into_iter().map(Into::into).collect()))
    }
}
