//! Equality saturation over the algebra of read and acc: laws, user rules, cost, extraction.

mod algebra;
mod apply;
mod bind;
mod build;
mod calibrate;
pub mod check;
mod choose;
mod compiled;
mod conditions;
mod cost;
mod dot;
mod emit;
mod error;
mod explain;
mod import;
mod index_build;
mod index_match;
mod kernel;
mod lang;
mod laws;
mod live;
mod optimise;
mod options;
mod plan;
mod report;
mod saturate;
mod share;
mod terms;
mod value;

pub use calibrate::calibrate;
pub use cost::CostModel;
pub use error::EgraphError;
pub use laws::{LAWS, laws};
pub use optimise::{Optimised, optimise};
pub use options::Options;
pub use report::{BlockReport, PlanFigures, Report};
pub use saturate::{Bounds, PhaseStats, Stop};

/// Rule files and their parts, re-exported so that a user of the optimiser needs one import.
pub use surject_rules::{Exactness, Flags, RuleFile};
