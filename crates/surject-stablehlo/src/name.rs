//! Names of operations: a row of the table where the operation is known, text otherwise.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::table::{OpSpec, lookup};

/// The full name of an operation, `stablehlo.add`. It knows its row of the table, which is then looked up once.
#[derive(Clone)]
pub struct OpName(Repr);

#[derive(Clone)]
enum Repr {
    Known(&'static OpSpec),
    Unknown(Arc<str>),
}

impl OpName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Known(spec) => spec.name,
            Repr::Unknown(name) => name,
        }
    }

    /// The row of the table, if the operation is known.
    pub fn spec(&self) -> Option<&'static OpSpec> {
        match self.0 {
            Repr::Known(spec) => Some(spec),
            Repr::Unknown(_) => None,
        }
    }
}

impl From<&'static OpSpec> for OpName {
    fn from(spec: &'static OpSpec) -> OpName {
        OpName(Repr::Known(spec))
    }
}

impl From<&str> for OpName {
    fn from(name: &str) -> OpName {
        OpName(lookup(name).map_or_else(|| Repr::Unknown(Arc::from(name)), Repr::Known))
    }
}

impl From<String> for OpName {
    fn from(name: String) -> OpName {
        OpName::from(name.as_str())
    }
}

impl From<Cow<'_, str>> for OpName {
    fn from(name: Cow<'_, str>) -> OpName {
        OpName::from(name.as_ref())
    }
}

impl Deref for OpName {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for OpName {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Every known operation has one row, and nothing unknown is called as one.
impl PartialEq for OpName {
    fn eq(&self, other: &OpName) -> bool {
        match (&self.0, &other.0) {
            (Repr::Known(a), Repr::Known(b)) => std::ptr::eq(*a, *b),
            (Repr::Unknown(a), Repr::Unknown(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for OpName {}

impl PartialEq<str> for OpName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for OpName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
