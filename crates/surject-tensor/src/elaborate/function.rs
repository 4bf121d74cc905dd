//! Functions as values: their stages, and what they took along.

use super::frame::Captured;
use super::library::LibraryFunction;
use super::owner::Owner;
use super::text::Text;
use crate::error::TensorError;
use crate::operator::Operator;
use crate::value::Value;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::Span;
use surject_notation::source::{self, Expr, Name};

/// A function: of a source, of the library, an operator, or of the host program.
#[derive(Clone)]
pub struct Function(pub(super) Rc<Callable>, u32);

pub(super) enum Callable {
    Closure(Closure),
    Lambda(Lambda),
    Operator(Arc<Operator>),
    Builtin(&'static str),
    /// Layers, each of which is to have its own `()`.
    Repeat(Vec<Function>),
    /// Functions one after the other.
    Chain(Vec<Function>),
    Host(String, Box<HostFunction>),
}

type HostFunction = dyn Fn(&[Value]) -> Result<Value, TensorError>;

/// A `fn` with the stages that were applied.
#[derive(Clone)]
pub(super) struct Closure {
    pub(super) function: Arc<source::Function>,
    pub(super) text: Arc<Text>,
    pub(super) captured: Captured,
    pub(super) stage: Stage,
}

/// How far a function is applied.
#[derive(Clone)]
pub(super) enum Stage {
    /// Not at all.
    Defined {
        /// What owns the definition: none for the library.
        owner: Option<Rc<Owner>>,
    },
    /// It has its configuration, `()` is next.
    Configured(Rc<HashMap<String, Value>>),
    /// `()` made an instance.
    Instance(Rc<HashMap<String, Value>>, Rc<Owner>),
}

/// `|x, y| …`
pub(super) struct Lambda {
    pub(super) parameters: Vec<Name>,
    pub(super) body: Expr,
    pub(super) span: Span,
    pub(super) text: Arc<Text>,
    pub(super) captured: Captured,
    pub(super) owner: Rc<Owner>,
}

impl Function {
    /// A function of the host program. The name is for errors.
    pub fn host(
        name: impl Into<String>,
        function: impl Fn(&[Value]) -> Result<Value, TensorError> + 'static,
    ) -> Function {
        Function::of(Callable::Host(name.into(), Box::new(function)))
    }

    /// An operator as a function.
    pub fn of_operator(operator: Arc<Operator>) -> Function {
        Function::of(Callable::Operator(operator))
    }

    pub(super) fn of_library(function: LibraryFunction) -> Function {
        Function::of(Callable::Closure(Closure {
            function: function.function,
            text: function.text,
            captured: Captured::default(),
            stage: Stage::Defined { owner: None },
        }))
    }

    pub(super) fn of(callable: Callable) -> Function {
        let nesting = match &callable {
            Callable::Closure(closure) => {
                let configuration = match &closure.stage {
                    Stage::Defined { .. } => None,
                    Stage::Configured(values) | Stage::Instance(values, _) => Some(values),
                };
                deepest(closure.captured.values().chain(configuration.iter().flat_map(|c| c.values())))
            }
            Callable::Lambda(lambda) => deepest(lambda.captured.values()),
            Callable::Repeat(functions) | Callable::Chain(functions) => {
                functions.iter().map(Function::nesting).max().unwrap_or(0)
            }
            Callable::Operator(_) | Callable::Builtin(_) | Callable::Host(..) => 0,
        };
        Function(Rc::new(callable), nesting + 1)
    }

    /// How deep functions are within functions.
    pub(super) fn nesting(&self) -> u32 {
        self.1
    }

    /// Its name, or what it is.
    pub fn name(&self) -> &str {
        match &*self.0 {
            Callable::Closure(closure) => &closure.function.name.text,
            Callable::Lambda(_) => "|…|",
            Callable::Operator(operator) => &operator.name,
            Callable::Builtin(name) => name,
            Callable::Repeat(_) | Callable::Chain(_) => "repeat",
            Callable::Host(name, _) => name,
        }
    }
}

fn deepest<'a>(values: impl Iterator<Item = &'a Value>) -> u32 {
    values.filter_map(|value| value.function().map(Function::nesting)).max().unwrap_or(0)
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {}", self.name())
    }
}
