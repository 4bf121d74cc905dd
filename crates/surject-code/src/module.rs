//! Modules.

use crate::elem::Type;
use crate::{Function, print};
use std::sync::Arc;

/// Who may call a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Other modules too.
    Public,
    /// Its module.
    Internal,
    /// Its module, which inlines it.
    Inlined,
}

/// A part of a module.
#[derive(Clone, Debug)]
pub enum Item {
    /// A function that is defined elsewhere.
    Outside {
        /// Its name.
        name: String,
        /// The types of its parameters.
        parameters: Vec<Type>,
        /// What it gives.
        result: Option<Type>,
    },
    /// A function. It gives nothing, and all that it calls is named.
    Function {
        /// The function.
        function: Arc<Function>,
        /// What it does, as text.
        text: Arc<str>,
        /// Who may call it.
        linkage: Linkage,
    },
}

impl Item {
    /// The item as MLIR reads it.
    pub fn text(&self) -> String {
        print::item(self)
    }

    /// A function of no kernel.
    pub fn function(function: Function, linkage: Linkage) -> Item {
        let text = function.text().into();
        Item::Function { function: Arc::new(function), text, linkage }
    }
}

/// A module of functions.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// In order.
    pub items: Vec<Item>,
}

impl Module {
    /// The module as MLIR reads it.
    pub fn text(&self) -> String {
        self.items.iter().map(Item::text).collect()
    }
}
