//! The lengths of the flanks of row variables, enumerated for the search: all axes together ascending, so that the shortest
//! rows come first.

use crate::constraint::Constraint;
use crate::origin::Origin;
use crate::row::{Row, RowVar};
use std::sync::Arc;

/// The most axes that the row variables have together.
const MOST_AXES: usize = 14;
/// How many partial choices are looked at.
const BUDGET: usize = 400_000;

/// A side of a condition: the flanks that are written out, and the variable by its position.
#[derive(Clone, Copy, Debug)]
struct Side {
    written: [usize; 2],
    var: Option<usize>,
}

#[derive(Clone, Debug)]
enum Condition {
    /// Each flank of the first fits into that of the second.
    Below(Side, Side),
    /// The same number of axes.
    Equal(Side, Side),
    /// So many axes together.
    Together(Vec<Side>, usize),
}

/// The row variables of a problem and what is said of their lengths.
pub(super) struct Lengths {
    vars: Vec<RowVar>,
    /// For each number of variables that have lengths, the conditions that can be looked at then.
    ready: Vec<Vec<Condition>>,
    most: usize,
    bound: usize,
    budget: usize,
    sum: usize,
    /// The current choice; a prefix while backtracking.
    choice: Vec<[usize; 2]>,
    started: bool,
}

/// The rows of a constraint.
pub(super) fn rows_of(constraint: &Constraint) -> Vec<&Row> {
    match constraint {
        Constraint::RowEq(a, b) | Constraint::RowLe(a, b) => vec![a, b],
        Constraint::Total { rows, .. } | Constraint::Exact { rows, .. } => rows.iter().collect(),
        Constraint::Terminal(row, _) => vec![row],
        _ => Vec::new(),
    }
}

impl Lengths {
    pub(super) fn new(log: &[(Constraint, Arc<Origin>)]) -> Lengths {
        let mut vars: Vec<RowVar> = Vec::new();
        let mut explicit = 0;
        for (constraint, _) in log {
            for row in rows_of(constraint) {
                explicit += row.explicit();
                if let Some(var) = row.var
                    && !vars.contains(&var)
                {
                    vars.push(var);
                }
            }
            // What is written elsewhere may have to stand in the rows; a number of elements needs an axis.
            match constraint {
                Constraint::Exact { dims, .. } => explicit += dims.len(),
                Constraint::Total { rows, .. } => explicit += rows.len(),
                _ => {}
            }
        }
        let side = |row: &Row| Side {
            written: [row.lead.len(), row.trail.len()],
            var: row.var.and_then(|v| vars.iter().position(|x| *x == v)),
        };
        let mut ready: Vec<Vec<Condition>> = vec![Vec::new(); vars.len() + 1];
        for (constraint, _) in log {
            let condition = match constraint {
                Constraint::RowEq(a, b) => Condition::Equal(side(a), side(b)),
                Constraint::RowLe(a, b) => Condition::Below(side(a), side(b)),
                Constraint::Exact { dims, rows } => {
                    Condition::Together(rows.iter().map(side).collect(), dims.len())
                }
                _ => continue,
            };
            let sides = rows_of(constraint);
            let last = sides.iter().filter_map(|r| side(r).var).map(|p| p + 1).max().unwrap_or(0);
            ready[last].push(condition);
        }
        // A row that an equation makes longer than everything that is written out repeats what is written in others.
        let bound = explicit * vars.len().max(1);
        let most = if vars.is_empty() { 0 } else { bound.min(MOST_AXES) };
        Lengths { vars, ready, most, bound, budget: BUDGET, sum: 0, choice: Vec::new(), started: false }
    }

    /// Whether every choice was looked at.
    pub(super) fn complete(&self) -> bool {
        self.budget > 0 && (self.vars.is_empty() || self.most >= self.bound)
    }

    fn holds(&self) -> bool {
        let length = |side: &Side| {
            let inner = side.var.map_or([0, 0], |v| self.choice[v]);
            [side.written[0] + inner[0], side.written[1] + inner[1]]
        };
        self.ready[self.choice.len()].iter().all(|condition| match condition {
            Condition::Below(a, b) => {
                let (a, b) = (length(a), length(b));
                a[0] <= b[0] && a[1] <= b[1]
            }
            Condition::Equal(a, b) => {
                let (a, b) = (length(a), length(b));
                a[0] + a[1] == b[0] + b[1]
            }
            Condition::Together(sides, n) => {
                sides.iter().map(|s| length(s).iter().sum::<usize>()).sum::<usize>() == *n
            }
        })
    }

    fn used(&self) -> usize {
        self.choice.iter().flatten().sum()
    }

    /// The next choice of lengths for all variables.
    pub(super) fn next(&mut self) -> Option<Vec<(RowVar, [usize; 2])>> {
        let mut fits = if self.started { self.advance()? } else { self.holds() };
        self.started = true;
        if self.vars.is_empty() {
            // There is one choice, and it was given out when `started` was not set.
            return (fits && self.sum == 0 && std::mem::replace(&mut self.sum, 1) == 0).then(Vec::new);
        }
        loop {
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return None;
            }
            if fits && self.choice.len() == self.vars.len() {
                let choice = self.vars.iter().copied().zip(self.choice.iter().copied());
                return Some(choice.collect());
            }
            if fits {
                // The last variable takes what is left.
                let rest = self.sum - self.used();
                let rank = if self.choice.len() + 1 == self.vars.len() { rest } else { 0 };
                self.choice.push([0, rank]);
                fits = self.holds();
            } else {
                fits = self.advance()?;
            }
        }
    }

    /// The next value of the deepest variable that has one; whether the conditions hold then.
    fn advance(&mut self) -> Option<bool> {
        loop {
            let Some([lead, trail]) = self.choice.pop() else {
                if self.sum == self.most || self.vars.is_empty() {
                    return None;
                }
                self.sum += 1;
                // With no variable chosen, the conditions without variables hold or there is nothing to find.
                return self.holds().then_some(true);
            };
            if trail > 0 {
                self.choice.push([lead + 1, trail - 1]);
            } else if self.choice.len() + 1 < self.vars.len() && lead < self.sum - self.used() {
                self.choice.push([0, lead + 1]);
            } else {
                continue;
            }
            return Some(self.holds());
        }
    }
}
