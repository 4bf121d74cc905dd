//! What to optimise with.

use crate::cost::CostModel;
use crate::saturate::Bounds;
use surject_rules::{Exactness, Flags, RuleFile};

/// Options of [`crate::optimise`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The laws; those that ship with the crate where none are given.
    pub laws: Option<RuleFile>,
    /// Rule files of the user, run after the laws.
    pub rules: Vec<RuleFile>,
    /// Are the rules of the user checked by interpretation before they run, where [`surject_rules::check`] has not
    /// done so? A rule that is wrong is an error then, and one that is wrong for some kinds of element types does not fire there. Only for rules known to be sound
    /// is there a reason to say no.
    pub verify_rules: bool,
    /// Names of laws and rules that are taken away.
    pub without: Vec<String>,
    /// The highest class of rules that may run. Only with [`Exactness::Overflows`] may a finite result of the program as it
    /// stands become infinite, NaN or zero, or a zero change its sign.
    pub exactness: Exactness,
    /// What the flags of laws may ask for beside: nothing, unless a caller knows that it holds.
    pub waived: Flags,
    /// Where saturation stops.
    pub bounds: Bounds,
    /// How many values of kernels the search for a plan of one block may walk. A count and not a time, so that the same
    /// program has the same plan everywhere.
    pub search_steps: usize,
    /// What things cost.
    pub cost: CostModel,
    /// Explain every stored class.
    pub explain: bool,
    /// Keep a picture of the e-graphs, as DOT text.
    pub dot: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            laws: None,
            rules: Vec::new(),
            verify_rules: true,
            without: Vec::new(),
            exactness: Exactness::Reassociates,
            waived: Flags::default(),
            bounds: Bounds::default(),
            search_steps: 20_000_000,
            cost: CostModel::default(),
            explain: false,
            dot: false,
        }
    }
}
