//! What to optimise with.

use crate::cost::CostModel;
use crate::saturate::Bounds;
use std::time::Duration;
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
    /// The highest class of rules that may run.
    pub exactness: Exactness,
    /// What floats are taken to satisfy. A rule that asks for more does not run.
    pub waived: Flags,
    /// Where saturation stops.
    pub bounds: Bounds,
    /// How long the search for a plan of one block may take.
    pub search_time: Duration,
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
            waived: Flags { zero_sign: true, finite: true, no_overflow: true },
            bounds: Bounds::default(),
            search_time: Duration::from_secs(5),
            cost: CostModel::default(),
            explain: false,
            dot: false,
        }
    }
}
