//! Dimensions: a size with a basis, or the claim-free unit; and dimension terms.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::{OnceLock, RwLock};
use surject_index::Extent;

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

/// A size that is no number: an exact expression over declared sizes (seed 002). These are rigid, so that the solver never
/// gives them values. Expressions are interned, so that a size is a number; equal ones are equal as expressions, and
/// what the facts of a problem say beyond that is asked of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symbolic(u32);

struct Sizes {
    extents: Vec<Extent>,
    numbers: HashMap<Extent, u32>,
}

fn sizes() -> &'static RwLock<Sizes> {
    static SIZES: OnceLock<RwLock<Sizes>> = OnceLock::new();
    SIZES.get_or_init(|| RwLock::new(Sizes { extents: Vec::new(), numbers: HashMap::new() }))
}

impl Symbolic {
    /// The size with this expression.
    pub fn of(extent: Extent) -> Symbolic {
        let mut sizes = sizes().write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&number) = sizes.numbers.get(&extent) {
            return Symbolic(number);
        }
        let number = sizes.extents.len() as u32;
        sizes.extents.push(extent.clone());
        sizes.numbers.insert(extent, number);
        Symbolic(number)
    }

    /// The expression.
    pub fn extent(self) -> Extent {
        let sizes = sizes().read().unwrap_or_else(|poisoned| poisoned.into_inner());
        sizes.extents.get(self.0 as usize).cloned().unwrap_or(Extent::Const(0))
    }
}

impl PartialOrd for Symbolic {
    fn partial_cmp(&self, other: &Symbolic) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of the expressions: the numbers depend on what was interned before.
impl Ord for Symbolic {
    fn cmp(&self, other: &Symbolic) -> Ordering {
        if self == other { Ordering::Equal } else { self.extent().cmp(&other.extent()) }
    }
}

impl fmt::Debug for Symbolic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.extent())
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
    /// A symbolic size with a basis. It never broadcasts, also where it turns out to be 1.
    Symbolic {
        /// The number of positions.
        size: Symbolic,
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

    /// A symbolic size, or the number that the expression is.
    pub fn of(extent: Extent, basis: Basis) -> Dim {
        match extent {
            Extent::Const(size) => Dim::Size { size, basis },
            extent => Dim::Symbolic { size: Symbolic::of(extent), basis },
        }
    }

    /// The number of positions; `None` where it is symbolic.
    pub fn size(self) -> Option<u64> {
        match self {
            Dim::Unit => Some(1),
            Dim::Size { size, .. } => Some(size),
            Dim::Symbolic { .. } => None,
        }
    }

    /// The number of positions as an expression.
    pub fn extent(self) -> Extent {
        match self {
            Dim::Unit => Extent::Const(1),
            Dim::Size { size, .. } => Extent::Const(size),
            Dim::Symbolic { size, .. } => size.extent(),
        }
    }

    /// The basis; the unit has none.
    pub fn basis(self) -> Option<Basis> {
        match self {
            Dim::Unit => None,
            Dim::Size { basis, .. } | Dim::Symbolic { basis, .. } => Some(basis),
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
            Dim::Symbolic { size, basis: Basis::DEFAULT } => write!(f, "{}", size.extent()),
            Dim::Symbolic { size, basis } => write!(f, "{}:{}", size.extent(), basis.name()),
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
