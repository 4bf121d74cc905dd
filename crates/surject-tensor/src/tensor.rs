//! Handles of tensors, and the operators of Rust on them.

use crate::error::TensorError;
use crate::graph::{Graph, NodeId, Site};
use std::fmt;
use std::ops;

/// A tensor of a graph. Cloning gives another handle to the same tensor.
#[derive(Clone)]
pub struct Tensor {
    graph: Graph,
    id: NodeId,
}

impl Tensor {
    pub(crate) fn new(graph: Graph, id: NodeId) -> Tensor {
        Tensor { graph, id }
    }

    /// Its graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Its number in the graph.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Its name, or what it is.
    pub fn label(&self) -> String {
        self.graph.0.borrow().nodes[self.id.0 as usize].label.clone()
    }

    /// The same tensor under a name.
    pub fn named(self, label: impl Into<String>) -> Tensor {
        self.graph.0.borrow_mut().rename(self.id, label.into());
        self
    }

    /// Its gradient.
    pub fn grad(&self) -> Tensor {
        self.graph.gradient(self)
    }

    /// An operator of the library by its name, pointwise or as the operator says.
    ///
    /// # Errors
    /// An unknown operator; another number of operands; shapes that do not fit.
    pub fn apply(name: &str, operands: &[&Tensor]) -> Result<Tensor, TensorError> {
        let operator = crate::prelude::operator(name)?;
        let Some(first) = operands.first() else {
            let message = format!("`{name}` is applied to nothing");
            return Err(TensorError::new(crate::error::TensorErrorKind::Arguments, message));
        };
        Ok(first.graph.apply(&operator, None, operands, Site::default())?.0)
    }

    /// An operator where an error has to wait until the shapes are closed.
    fn operator(name: &str, operands: &[&Tensor], text: String) -> Tensor {
        let graph = operands[0].graph.clone();
        let site = Site { text: Some(text), ..Site::default() };
        let result = crate::prelude::operator(name).and_then(|o| graph.apply(&o, None, operands, site));
        match result {
            Ok((tensor, _)) => tensor,
            Err(error) => graph.poisoned(error),
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.label())?;
        match self.graph.shape(self) {
            Some(shape) => write!(f, ": {shape}"),
            None => Ok(()),
        }
    }
}

macro_rules! binary {
    ($($trait:ident $method:ident $name:literal $sign:literal;)*) => {$(
        impl ops::$trait<&Tensor> for &Tensor {
            type Output = Tensor;

            fn $method(self, other: &Tensor) -> Tensor {
                let text = format!("{} {} {}", self.label(), $sign, other.label());
                Tensor::operator($name, &[self, other], text)
            }
        }

        impl ops::$trait<Tensor> for Tensor {
            type Output = Tensor;

            fn $method(self, other: Tensor) -> Tensor {
                ops::$trait::$method(&self, &other)
            }
        }

        impl ops::$trait<&Tensor> for Tensor {
            type Output = Tensor;

            fn $method(self, other: &Tensor) -> Tensor {
                ops::$trait::$method(&self, other)
            }
        }

        impl ops::$trait<Tensor> for &Tensor {
            type Output = Tensor;

            fn $method(self, other: Tensor) -> Tensor {
                ops::$trait::$method(self, &other)
            }
        }

        impl ops::$trait<f64> for &Tensor {
            type Output = Tensor;

            fn $method(self, other: f64) -> Tensor {
                ops::$trait::$method(self, &self.graph.number(other, None, Site::default()))
            }
        }
    )*};
}

// `*` composes, as in the notation: the inputs of the left operand meet the outputs of the right one.
binary! {
    Add add "add" "+";
    Sub sub "sub" "-";
    Mul mul "matmul" "*";
    Div div "div" "/";
    Rem rem "mod" "%";
}

impl ops::Neg for &Tensor {
    type Output = Tensor;

    fn neg(self) -> Tensor {
        Tensor::operator("neg", &[self], format!("-{}", self.label()))
    }
}
