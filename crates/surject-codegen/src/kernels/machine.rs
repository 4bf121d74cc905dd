//! Strategies of a machine propose schedules; the cheapest wins.

use super::ability::Ability;
use super::expression::Expression;
use super::running::Scanned;
use super::schedule::{Schedule, ScheduleError, Schedules, resolve};
use crate::CodegenError;
use std::fmt;

/// A schedule and what it is expected to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The schedule.
    pub schedule: Schedule,
    /// An estimate, in cycles of one core or multiprocessor; only its order counts.
    pub cost: f64,
}

/// A way to schedule some kind of expression.
pub trait Strategy {
    /// Its name, in reports.
    fn name(&self) -> &'static str;

    /// A schedule, or why it has none for this expression.
    fn propose(&self, expression: &Expression) -> Result<Proposal, String>;
}

/// How a machine runs independent points that no schedule says anything of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// So many points, one after the other, are a task.
    Tasks {
        /// How many.
        points: i64,
        /// How many threads share the tasks.
        threads: i64,
    },
    /// Every point is a thread, so many of them a block.
    Threads {
        /// How many.
        block: i64,
    },
}

/// Of a tensor of more bytes it pays to prefetch what indices choose of it, and pieces of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarBytes {
    /// Where they choose lines, and pieces of rows.
    pub of_lines: i64,
    /// Where they choose elements.
    pub of_elements: i64,
}

impl FarBytes {
    /// It never pays.
    pub const NONE: FarBytes = FarBytes { of_lines: i64::MAX, of_elements: i64::MAX };
}

/// What kernels are made for.
pub trait Machine {
    /// Its name, as `--machine` takes it.
    fn name(&self) -> &str;

    /// What schedules may ask of it.
    fn abilities(&self) -> Vec<Ability> {
        Ability::ALL.to_vec()
    }

    /// Its strategies. At least one has a schedule for every expression.
    fn strategies(&self) -> Vec<Box<dyn Strategy>>;

    /// A loop of the only reduction of an expression, and into how many parts it is cut along it, which are reduced by a
    /// kernel of their own. The parts divide the loop. `None`: it is one kernel.
    fn stages(&self, _: &Expression) -> Option<(String, i64)> {
        None
    }

    /// In blocks of how many elements an expression is made that scans lines; `None`: as the reduction that it is written
    /// as, or as the machine's strategies see fit.
    fn scan_block(&self, _: &Expression, _: &Scanned) -> Option<i64> {
        None
    }

    /// How it runs the points of library operations.
    fn spread(&self) -> Spread {
        Spread::Tasks { points: 4096, threads: 1 }
    }

    /// The bytes of the vectors in which library operations are computed; 0: there are none.
    fn vector_bytes(&self) -> usize {
        0
    }

    /// From which size on library operations prefetch what indices choose of a tensor, and pieces of its rows.
    fn far_bytes(&self) -> FarBytes {
        FarBytes::NONE
    }

    /// What the machine expects of an expression by a schedule, in words.
    fn expects(&self, _: &Expression, _: &Schedule) -> Option<String> {
        None
    }
}

/// A schedule that was chosen, and why.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The strategy that proposed it.
    pub strategy: &'static str,
    /// The proposal.
    pub proposal: Proposal,
    /// The other strategies, with the reason why each lost.
    pub lost: Vec<(&'static str, String)>,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "// {}: {:.3e} cycles", self.strategy, self.proposal.cost)?;
        self.lost.iter().try_for_each(|(name, reason)| writeln!(f, "// not {name}: {reason}"))?;
        write!(f, "{}", self.proposal.schedule)
    }
}

/// Has a machine what a schedule asks for? If not, which directive asks for more, and what the machine has.
pub fn allows(machine: &dyn Machine, schedule: &Schedule) -> Result<(), ScheduleError> {
    let found = schedule.lacking(machine.name(), &machine.abilities());
    found.map_err(|(directive, fault)| schedule.error(directive, fault))
}

impl Schedules {
    /// Has a machine what all schedules ask for? If not, where one asks for more, and what the machine has.
    pub fn check_for(&self, machine: &dyn Machine) -> Result<(), ScheduleError> {
        let abilities = machine.abilities();
        self.directives_hold(|schedule| schedule.lacking(machine.name(), &abilities))
    }
}

/// The cheapest proposal of a machine for an expression. A proposal that does not fit the expression is a fault of its
/// strategy, and an error.
pub fn choose(machine: &dyn Machine, expression: &Expression) -> Result<Choice, CodegenError> {
    let mut found: Vec<(&'static str, Proposal)> = Vec::new();
    let mut lost = Vec::new();
    for strategy in machine.strategies() {
        match strategy.propose(expression) {
            Ok(proposal) => {
                let fits = allows(machine, &proposal.schedule)
                    .and_then(|()| resolve(expression, &proposal.schedule).map(drop));
                fits.map_err(|error| {
                    CodegenError::malformed(format!(
                        "a schedule of the strategy `{}`: {error}",
                        strategy.name()
                    ))
                })?;
                found.push((strategy.name(), proposal));
            }
            Err(reason) => lost.push((strategy.name(), reason)),
        }
    }
    let best = found.iter().enumerate().min_by(|a, b| a.1.1.cost.total_cmp(&b.1.1.cost)).map(|(i, _)| i);
    let Some(best) = best else {
        return Err(CodegenError::unsupported(format!(
            "an expression that `{}` has no strategy for",
            machine.name()
        )));
    };
    let (strategy, proposal) = found.remove(best);
    let dearer = |p: &Proposal| format!("{:.3e} cycles", p.cost);
    lost.splice(0..0, found.iter().map(|(name, p)| (*name, dearer(p))));
    Ok(Choice { strategy, proposal, lost })
}
