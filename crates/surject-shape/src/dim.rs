//! Dimensions: a size with a basis, or the claim-free unit; and dimension terms.

use std::collections::HashMap;
use std::fmt;
use std::sync::{OnceLock, RwLock};

/// The tag that says what an axis means. Bases are total: an axis that was written without one has the ordinary
/// basis `default`, which is a basis like any other. Names are interned, so that a basis is a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Basis(u32);

struct Names {
    names: Vec<&'static str>,
    numbers: HashMap<&'static str, u32>,
}

fn names() -> &'static RwLock<Names> {
    static NAMES: OnceLock<RwLock<Names>> = OnceLock::new();
    NAMES.get_or_init(|| {
        RwLock::new(Names { names: vec!["default"], numbers: HashMap::from([("default", 0)]) })
    })
}

impl Basis {
    /// The basis of an axis that was written without one.
    pub const DEFAULT: Basis = Basis(0);

    /// The basis with this name.
    pub fn named(name: &str) -> Basis {
        let read = names().read().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&number) = read.numbers.get(name) {
            return Basis(number);
        }
        drop(read);
        let mut write = names().write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&number) = write.numbers.get(name) {
            return Basis(number);
        }
        let kept: &'static str = Box::leak(name.to_string().into_boxed_str());
        let number = write.names.len() as u32;
        write.names.push(kept);
        write.numbers.insert(kept, number);
        Basis(number)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        let read = names().read().unwrap_or_else(|poisoned| poisoned.into_inner());
        read.names.get(self.0 as usize).copied().unwrap_or("default")
    }
}

impl fmt::Debug for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name under which a user may write the claim-free unit as a size: `1:bcast_if_1`.
const UNIT_TAG: &str = "bcast_if_1";

/// A dimension without variables.
///
/// The order `⊑` ("broadcasts to") is flat: the unit is below everything, every dimension is below itself, and nothing
/// else is related. In particular `1` with the basis `default` is an atom: a claim that the axis is one wide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Dim {
    /// The claim-free unit `1_∅`: size one, no basis, the bottom of the order.
    Unit,
    /// A size with a basis. Size 0 only for a discarded component of a concatenation.
    Size {
        /// The number of positions.
        size: u64,
        /// What the axis means.
        basis: Basis,
    },
}

impl Dim {
    /// A size with the basis `default`.
    pub const fn new(size: u64) -> Dim {
        Dim::Size { size, basis: Basis::DEFAULT }
    }

    /// A size with a named basis; `1` with the reserved tag `bcast_if_1` is the claim-free unit.
    pub fn with_basis(size: u64, basis: &str) -> Dim {
        if size == 1 && basis == UNIT_TAG {
            return Dim::Unit;
        }
        Dim::Size { size, basis: Basis::named(basis) }
    }

    /// The number of positions.
    pub fn size(self) -> u64 {
        match self {
            Dim::Unit => 1,
            Dim::Size { size, .. } => size,
        }
    }

    /// The basis; the unit has none.
    pub fn basis(self) -> Option<Basis> {
        match self {
            Dim::Unit => None,
            Dim::Size { basis, .. } => Some(basis),
        }
    }

    /// The order: does this dimension broadcast to the other?
    pub fn broadcasts_to(self, other: Dim) -> bool {
        self == Dim::Unit || self == other
    }

    /// The greatest lower bound, which always exists.
    pub fn meet(self, other: Dim) -> Dim {
        if self == other { self } else { Dim::Unit }
    }
}

/// `3`, `4:rgb`, `unit`.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Unit => f.write_str("unit"),
            Dim::Size { size, basis: Basis::DEFAULT } => write!(f, "{size}"),
            Dim::Size { size, basis } => write!(f, "{size}:{}", basis.name()),
        }
    }
}

/// Two named bases met where one axis arises from both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BasisClash(pub Basis, pub Basis);

/// The basis of an axis made from several (the sum of a concatenation, the span of a convolution): a named basis wins
/// over `default` and over the unit; two different named bases clash.
pub fn fuse(parts: impl IntoIterator<Item = Dim>) -> Result<Basis, BasisClash> {
    let mut basis = Basis::DEFAULT;
    for part in parts {
        match part.basis() {
            Some(b) if b != Basis::DEFAULT && b.name() != UNIT_TAG => {
                if basis != Basis::DEFAULT && basis != b {
                    return Err(BasisClash(basis, b));
                }
                basis = b;
            }
            _ => {}
        }
    }
    Ok(basis)
}

/// An unknown dimension of one solver.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DimVar(pub(crate) u32);

/// A dimension term: known, or a variable. Affine and concatenated dimensions are variables with a relation
/// (see [`crate::Constraint::Affine`] and [`crate::Constraint::Concat`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DimTerm {
    /// A dimension without variables.
    Known(Dim),
    /// An unknown dimension.
    Var(DimVar),
}

impl From<Dim> for DimTerm {
    fn from(dim: Dim) -> DimTerm {
        DimTerm::Known(dim)
    }
}

impl From<DimVar> for DimTerm {
    fn from(var: DimVar) -> DimTerm {
        DimTerm::Var(var)
    }
}

impl From<u64> for DimTerm {
    fn from(size: u64) -> DimTerm {
        DimTerm::Known(Dim::new(size))
    }
}
