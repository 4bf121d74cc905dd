//! Functions: their names, what they do, and what they need.

use crate::{Op, Statement, Type, Value, print};
use std::collections::BTreeSet;

/// The name of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// A function that belongs to the kernel, which is named when the module is written.
    Own(String),
    /// Any other.
    Named(String),
}

impl Symbol {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Symbol::Own(name) | Symbol::Named(name) => name,
        }
    }

    /// Puts what stands before a name in front of it, where it is that of a function of a kernel.
    pub fn prefix(&mut self, before: &str) {
        if let Symbol::Own(own) = self {
            *own = format!("{before}_{own}");
        }
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function {
    /// Its name.
    pub symbol: Symbol,
    /// Its parameters.
    pub parameters: Vec<(Value, Type)>,
    /// What it does.
    pub body: Vec<Statement>,
}

impl Function {
    /// What it does, as MLIR reads it.
    pub fn text(&self) -> String {
        print::statements(&self.body)
    }

    /// The function with this before the names of functions that belong to its kernel, its own included.
    pub fn prefixed(mut self, before: &str) -> Function {
        self.symbol.prefix(before);
        symbols(&mut self.body, &mut |symbol| symbol.prefix(before));
        self
    }
}

/// A function of the runtime that a kernel calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// What it gives.
    pub result: Option<Type>,
}

/// Shows the names of functions that statements use, those inside of others included.
fn symbols(statements: &mut [Statement], f: &mut dyn FnMut(&mut Symbol)) {
    for statement in statements {
        match &mut statement.op {
            Op::Call { function: symbol, .. } | Op::AddressOf(symbol) => f(symbol),
            op => op.blocks_mut().into_iter().for_each(|block| symbols(&mut block.statements, f)),
        }
    }
}

/// The names of the functions that statements call, those inside of others included.
pub fn called(statements: &[Statement], names: &mut BTreeSet<String>) {
    for statement in statements {
        if let Op::Call { function: Symbol::Named(name), .. } = &statement.op {
            names.insert(name.clone());
        }
        statement.op.blocks().into_iter().for_each(|block| called(&block.statements, names));
    }
}
