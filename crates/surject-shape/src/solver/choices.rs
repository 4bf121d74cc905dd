//! Choices of closing, and the way back from them.
//!
//! Where the constraints leave a choice, closing asks for one by [`Solver::choose`]. What it takes first is its policy. When a
//! choice is refuted, closing starts again from the state before it with the last choice that has another possibility
//! changed: a run is a list of numbers, and nothing has to be undone. How often that is tried is bounded by count.

use super::Solver;
use crate::constraint::Constraint;
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::{Row, RowVar};

/// How many runs are tried.
const RUNS: usize = 600;
/// How many choices an error tells.
const TOLD: usize = 4;

/// Why the search for other choices gave nothing.
pub(super) enum Refused {
    /// No other choice was found that fits.
    Exhausted(ShapeError),
    /// The only ones that fit leave a parameter open.
    Hidden(ShapeError),
    /// Several fit that mean different things.
    Ambiguous(ShapeError),
}

/// The choices of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    /// What to take, in order; after that the first possibility each time.
    script: Vec<usize>,
    /// For each choice that was made, how many possibilities it had, and whether only one of them may have a solution.
    made: Vec<(usize, bool)>,
    /// Something was committed that the constraints do not force.
    guessed: bool,
    /// Two leaves at their bounds clash: that is the policy, and no choice.
    pub(super) leaves_clash: bool,
    /// What was chosen, in words.
    told: Vec<String>,
}

impl Choices {
    /// Whether anything was committed that the constraints do not force.
    pub(super) fn guessed(&self) -> bool {
        self.guessed
    }

    /// What is committed from here on is committed by closing.
    pub(super) fn commit(&mut self) {
        self.guessed = true;
    }

    /// A closing is over: what comes next is proved from what is bound.
    pub(super) fn forget(&mut self) {
        *self = Choices::default();
    }

    /// Whether there was a choice of which only one possibility may have a solution.
    pub(super) fn has_exclusive(&self) -> bool {
        self.made.iter().any(|(_, exclusive)| *exclusive)
    }

    /// An error of closing says what closing chose.
    pub(super) fn told_in(&self, error: ShapeError) -> ShapeError {
        if !error.guessed || error.choice.is_some() || error.kind == ShapeErrorKind::MissingHidden {
            return error;
        }
        let what = self.story().map_or_else(String::new, |story| format!(": {story}"));
        let choice = Some(format!("this depends on what closing chose{what}"));
        ShapeError { choice, ..error }
    }

    /// What was chosen, for an error.
    fn story(&self) -> Option<String> {
        let (first, more) = (self.told.iter().take(TOLD), self.told.len().saturating_sub(TOLD));
        let mut text = first.cloned().collect::<Vec<_>>().join(", ");
        if more > 0 {
            text += &format!(" and {more} more");
        }
        (!self.told.is_empty()).then_some(text)
    }
}

impl Solver {
    /// Takes one of so many possibilities: the first, unless the run says otherwise. With `exclusive`, several that have a
    /// solution are an ambiguity.
    pub(super) fn choose(&mut self, possibilities: usize, exclusive: bool) -> usize {
        self.choices.guessed = true;
        let number = self.choices.made.len();
        self.choices.made.push((possibilities, exclusive));
        self.choices.script.get(number).copied().unwrap_or(0).min(possibilities.saturating_sub(1))
    }

    /// The fact of a choice, which is told in errors.
    pub(super) fn choice_fact(&mut self, text: impl Fn(&Solver) -> String, fact: Fact) -> Fact {
        self.choices.guessed = true;
        if self.choices.told.len() <= TOLD && !self.searching {
            let text = text(self);
            self.choices.told.push(text);
        }
        fact
    }

    /// A name for an open axis, where it has one.
    fn axis_name(&self, root: u32) -> Option<String> {
        if let Some(letter) = self.letter(DimTerm::Var(DimVar(root))) {
            return Some(format!("`{letter}`"));
        }
        let of_class = |var: &DimVar| self.find_const(var.0) == root;
        if let Some((var, _)) = self.letters.iter().find(|(v, _)| of_class(v)) {
            return self.letter(DimTerm::Var(*var)).map(|l| format!("`{l}`"));
        }
        self.terminal_name(self.dims[root as usize].role_why).map(|name| format!("an axis of `{name}`"))
    }

    /// The name of the terminal tensor, row or axis that a fact declares.
    pub(super) fn terminal_name(&self, why: Fact) -> Option<String> {
        let declares = |n: &u32| {
            matches!(
                self.facts.log.get(*n as usize),
                Some((Constraint::Terminal(..) | Constraint::TerminalDim(..), _))
            )
        };
        let number = self.facts.leaves(why, 16).0.into_iter().find(declares)?;
        let origin = &self.facts.log[number as usize].1;
        Some(origin.tensors.first().map_or_else(|| origin.operation.clone(), |t| t.name.clone()))
    }

    /// `` `a` is 3 `` in words.
    pub(super) fn dim_is(&self, root: u32, value: Dim) -> String {
        let name = self.axis_name(root).unwrap_or_else(|| "an axis".to_string());
        match value {
            Dim::Unit => format!("{name} taken as a unit"),
            Dim::Size { size: 0, .. } => format!("{name} taken as empty"),
            value => format!("{name} taken as {value}"),
        }
    }

    /// Runs closing from this state with other choices until one succeeds. `error` is what the first run gave, `first` its
    /// choices.
    pub(super) fn search_choices(
        &self,
        rows: Option<&[Row]>,
        error: ShapeError,
        first: &Choices,
    ) -> Result<Solver, Refused> {
        let (mut runs, mut hidden) = (0, None);
        let Some((found, made)) = self.next_run(rows, first, 0, &mut runs, &mut hidden) else {
            if let Some(error) = hidden {
                return Err(Refused::Hidden(error));
            }
            let tried = match runs {
                RUNS.. => format!("; {RUNS} other choices were tried and do not fit, more are possible"),
                0 => String::new(),
                _ => "; no other choice fits".to_string(),
            };
            let choice = error.choice.clone().map(|c| c + &tried);
            return Err(Refused::Exhausted(ShapeError { choice, ..error }));
        };
        self.only(rows, &found, &made, &mut runs).map_err(Refused::Ambiguous)?;
        Ok(found)
    }

    /// Whether a run that succeeded is the only one, as far as exclusive choices go; this is the state before it.
    pub(super) fn is_only(
        &self,
        rows: Option<&[Row]>,
        found: &Solver,
        made: &Choices,
    ) -> Result<(), ShapeError> {
        self.only(rows, found, made, &mut 0)
    }

    fn only(
        &self,
        rows: Option<&[Row]>,
        found: &Solver,
        made: &Choices,
        runs: &mut usize,
    ) -> Result<(), ShapeError> {
        for number in 0..made.made.len() {
            let (possibilities, exclusive) = made.made[number];
            let taken = made.script.get(number).copied().unwrap_or(0);
            if !exclusive || taken + 1 >= possibilities {
                continue;
            }
            // Everything before the choice stays, and what comes after it is free.
            let before = Choices {
                script: padded(&made.script, number + 1),
                made: made.made[..=number].to_vec(),
                ..Choices::default()
            };
            if let Some((other, _)) = self.next_run(rows, &before, number, runs, &mut None)
                && !self.same_solution(found, &other)
            {
                let text = "the elements fit into more than one row, and nothing says which of them has them";
                let error = ShapeError::new(ShapeErrorKind::Undecided, text);
                let labels = self.facts.log.iter().filter(|(c, _)| matches!(c, Constraint::Total { .. }));
                let labels = labels.map(|(_, origin)| origin.clone()).collect();
                return Err(ShapeError { labels, guessed: true, ..error });
            }
        }
        Ok(())
    }

    /// Whether the variables of this solver have the same values in both.
    fn same_solution(&self, a: &Solver, b: &Solver) -> bool {
        (0..self.dims.len() as u32).all(|d| a.dim(DimVar(d)) == b.dim(DimVar(d)))
            && (0..self.rows.len() as u32).all(|r| a.row(RowVar(r)) == b.row(RowVar(r)))
    }

    /// The next run that succeeds after a run with these choices, with the first `kept` of them as they are.
    fn next_run(
        &self,
        rows: Option<&[Row]>,
        after: &Choices,
        kept: usize,
        runs: &mut usize,
        hidden: &mut Option<ShapeError>,
    ) -> Option<(Solver, Choices)> {
        let mut last = after.clone();
        loop {
            let script = next_script(&last, kept)?;
            if *runs >= RUNS {
                return None;
            }
            *runs += 1;
            let mut run = self.clone();
            run.choices = Choices { script, ..Choices::default() };
            let closed = run.close_once(rows);
            last = run.choices.clone();
            match closed {
                Ok(()) => return Some((run, last)),
                Err(error) if error.kind == ShapeErrorKind::MissingHidden => _ = hidden.get_or_insert(error),
                Err(_) => {}
            }
        }
    }
}

/// A script of so many numbers.
fn padded(script: &[usize], length: usize) -> Vec<usize> {
    (0..length).map(|i| script.get(i).copied().unwrap_or(0)).collect()
}

/// The last choice after the first `kept` that has another possibility is changed.
fn next_script(last: &Choices, kept: usize) -> Option<Vec<usize>> {
    let mut script = padded(&last.script, last.made.len());
    while script.len() > kept {
        let number = script.len() - 1;
        if script[number] + 1 < last.made[number].0 {
            script[number] += 1;
            return Some(script);
        }
        script.pop();
    }
    None
}
