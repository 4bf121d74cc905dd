//! Who owns the parameters that a function defines.

use crate::tensor::Tensor;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// An instance of a layer, a function without `()`, or the whole text: the owner of what is defined in it, and of the
/// layers that are made in it.
pub(crate) struct Owner {
    /// The path of names to it; empty for the whole text.
    pub(super) path: String,
    defined: RefCell<HashMap<String, Defined>>,
    children: RefCell<HashMap<Place, Rc<Owner>>>,
}

/// A tensor and where its definition stands.
struct Defined {
    at: usize,
    tensor: Tensor,
}

/// A place of a text, and what else makes a layer there another one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Which text.
    pub(super) text: usize,
    /// The first byte.
    pub(super) at: usize,
    /// The configuration.
    pub(super) configuration: String,
}

/// What an owner says about a name that is defined.
pub(super) enum Known {
    /// It is new.
    No,
    /// The same definition gave this.
    Here(Tensor),
    /// Another definition has the name.
    Elsewhere,
}

impl Owner {
    pub(super) fn new(path: String) -> Owner {
        Owner { path, defined: RefCell::default(), children: RefCell::default() }
    }

    /// The path of a name within.
    pub(super) fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_string(),
            path => format!("{path}.{name}"),
        }
    }

    /// The tensor of a name that is defined at a place.
    pub(super) fn known(&self, name: &str, at: usize) -> Known {
        match self.defined.borrow().get(name) {
            None => Known::No,
            Some(defined) if defined.at == at => Known::Here(defined.tensor.clone()),
            Some(_) => Known::Elsewhere,
        }
    }

    pub(super) fn define(&self, name: &str, at: usize, tensor: &Tensor) {
        self.defined.borrow_mut().insert(name.to_string(), Defined { at, tensor: tensor.clone() });
    }

    /// The owner of what is made at a place, made with the path that `path` gives if it is new.
    pub(super) fn child(&self, place: Place, path: impl FnOnce() -> String) -> Rc<Owner> {
        if let Some(child) = self.children.borrow().get(&place) {
            return child.clone();
        }
        let child = Rc::new(Owner::new(path()));
        self.children.borrow_mut().insert(place, child.clone());
        child
    }
}
