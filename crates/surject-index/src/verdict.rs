//! Three-valued answers. *Unknown* never acts as *yes*.

/// The answer to a question about extents or maps, with what proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict<Y = (), N = ()> {
    /// It holds for every admissible run.
    Yes(Y),
    /// It fails for every admissible run.
    No(N),
    /// Not decided (or it depends on the run).
    Unknown,
}

impl<Y, N> Verdict<Y, N> {
    /// Is it certain that the answer is yes? The only question a rewrite may ask.
    pub fn is_yes(&self) -> bool {
        matches!(self, Verdict::Yes(_))
    }

    /// Is it certain that the answer is no?
    pub fn is_no(&self) -> bool {
        matches!(self, Verdict::No(_))
    }

    /// Is the question undecided?
    pub fn is_unknown(&self) -> bool {
        matches!(self, Verdict::Unknown)
    }

    /// The same answer without its evidence.
    pub fn plain(&self) -> Verdict {
        match self {
            Verdict::Yes(_) => Verdict::Yes(()),
            Verdict::No(_) => Verdict::No(()),
            Verdict::Unknown => Verdict::Unknown,
        }
    }
}

impl From<bool> for Verdict {
    fn from(value: bool) -> Verdict {
        if value { Verdict::Yes(()) } else { Verdict::No(()) }
    }
}
