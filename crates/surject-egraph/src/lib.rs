//! Equality saturation over the algebra of `read` and `acc`: laws, user rules, cost, extraction.
//!
//! [`optimise`] takes a program apart into blocks. Each becomes one e-graph, is saturated phase by phase (first the
//! structural laws, then the optional ones, then the rules of the user, all in the same e-graph), and a plan is
//! extracted after each phase and from fewer rules; the cheapest is written back as a program. What a program stores
//! is decided by the plan: no node of the e-graph says *store*.
//!
//! * The **laws** ship as a rule file, [`LAWS`]; they can be read, taken away ([`Options::without`]) and checked.
//! * The **language** has maps, operations and constants as interned leaves; the analysis of a class is its space,
//!   element type, constant value, and the axes it really depends on.
//! * A **plan** is a term for every class, a set of stored classes, and their kernels. It is found by local search
//!   with a cost that walks the composite maps of a kernel ([`CostModel`]).
//! * The **report** says what fired, what the result rests on and waives (the numerics ledger), what is stored and moved
//!   in the end; on request it explains every stored class, with every step checked once more.
//! * The [`check`] module compares every e-node with the value of its class.
//!
//! Invariants: a rewriting happens only on a certain *yes*; two classes of different space or type are never
//! equated (an error names the rule); what is returned has passed the verifier of programs.
//!
//! ```
//! use surject_egraph::{Options, optimise};
//! use surject_index::Space;
//! use surject_ir::{DType, Function, Program, Statement, StatementKind, TensorType, UnaryOp};
//!
//! // Two stores, of which the first is only used by the second.
//! let mut f = Function::new("main");
//! let x = f.var("x", TensorType::new(DType::F32, Space::of(&[4])));
//! f.params.push(x);
//! let mut result = x;
//! for op in [UnaryOp::Exp, UnaryOp::Tanh] {
//!     let operand = f.tensor(result);
//!     let field = f.fields.unary(op, operand)?;
//!     result = f.var_for("t", field);
//!     f.body.statements.push(Statement::new(StatementKind::Store { target: result, field }));
//! }
//! f.body.results = vec![result];
//! let program = Program { name: String::new(), functions: vec![f] };
//!
//! let optimised = optimise(&program, &Options::default())?;
//! assert_eq!(optimised.report.stores(), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algebra;
mod apply;
mod bind;
mod build;
pub mod check;
mod choose;
mod compiled;
mod conditions;
mod contract;
mod cost;
mod dot;
mod early;
mod emit;
mod error;
mod explain;
mod extract;
mod factors;
mod figures;
mod import;
mod index_build;
mod index_label;
mod index_match;
mod indexed;
mod kernel;
mod lang;
mod laws;
mod live;
mod matching;
mod moments;
mod optimise;
mod options;
mod placed;
mod plan;
mod provenance;
mod repeated;
mod report;
mod saturate;
mod sequences;
mod share;
mod spread;
mod switch;
mod terms;
mod unroll;
mod value;
mod windows;

pub use cost::CostModel;
pub use error::EgraphError;
pub use laws::{LAWS, laws};
pub use optimise::{Optimised, optimise};
pub use options::Options;
pub use report::{BlockReport, PlanFigures, Report};
pub use saturate::{Bounds, PhaseStats, Stop};

/// Rule files and their parts, re-exported so that a user of the optimiser needs one import.
pub use surject_rules::{Exactness, Flags, RuleFile};
