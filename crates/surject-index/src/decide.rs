//! The two decisions: injective and surjective.

use crate::{IndexMap, Verdict};

/// Why a map is injective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InjectiveProof {
    /// The domain has at most one point.
    SinglePoint,
    /// No nonzero difference of two loop points is in the kernel of the components.
    NoCollision,
}

/// Two different loop points with the same position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// One point.
    pub first: Vec<i64>,
    /// The other.
    pub second: Vec<i64>,
}

/// A position that no loop point reaches, where one was found; otherwise a count shows that one exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The position.
    pub position: Option<Vec<i64>>,
}

impl IndexMap {
    /// Do different points (of the guarded domain) have different positions?
    pub fn injective(&self) -> Verdict<InjectiveProof, Collision> {
        Verdict::Unknown
    }

    /// Is every position of the codomain reached (from a point of the guarded domain)?
    pub fn surjective(&self) -> Verdict<(), Uncovered> {
        Verdict::Unknown
    }

    /// Injective, surjective and total: a mere renaming of positions.
    pub fn bijective(&self) -> Verdict {
        if !self.is_total() {
            return Verdict::No(());
        }
        match (self.injective().plain(), self.surjective().plain()) {
            (Verdict::Yes(()), Verdict::Yes(())) => Verdict::Yes(()),
            (Verdict::No(()), _) | (_, Verdict::No(())) => Verdict::No(()),
            _ => Verdict::Unknown,
        }
    }
}
