//! The explanation of an error: a shortest set of constraints that is refuted, and the two axes that clash, by the names of
//! their tensors.
//!
//! Propagation keeps one proof of what it finds, which need not be a short one. So a contradiction is proved again, from
//! the constraints it came from (of a small problem from all), in the order of the size of proofs; then each constraint
//! is left out in turn, and stays out if the others are refuted without it.

use super::Solver;
use crate::constraint::{Constraint, Role};
use crate::dim::{Dim, DimTerm};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::{Fact, Named, Origin, Site, Subject};
use crate::renumber::Numbers;
use crate::row::Row;
use std::collections::HashSet;
use std::sync::Arc;

/// What an error was about.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Clash {
    /// Two dimensions that differ.
    pub(super) dims: Option<(Dim, Dim)>,
    /// The row constraint that does not hold, by its number in the log.
    pub(super) row: Option<u32>,
    pub(super) fact: Option<Fact>,
}

/// Problems up to this size are proved again from all of their constraints.
const SMALL: usize = 300;
/// Sets up to this size are made minimal.
const MINIMISED: usize = 150;
/// So many are proved again in the order of the size of proofs, which takes the square of their number.
const REPLAYED: usize = 2_000;
/// How many axes are looked at for the two that clash.
const SITES: usize = 24;
/// Of so many constraints, every choice of up to three is tried.
const EXHAUSTED: usize = 24;
/// The most labels that are shown.
const SHOWN: usize = 12;

/// Constraints that were refuted together.
struct Refutation {
    error: ShapeError,
    clash: Clash,
    /// The constraints the contradiction follows from, nearest first, by their numbers in the log of the solver that failed.
    core: Vec<u32>,
    sites: Vec<Site>,
}

impl Solver {
    /// The same error with a shortest chain of constraints and the names of what clashes.
    pub(crate) fn explain(&self, error: ShapeError) -> ShapeError {
        let mut error = error;
        let log = &self.facts.log;
        if error.guessed || error.labels.is_empty() {
            if error.kind == ShapeErrorKind::MissingHidden
                && let Some(name) = self.parameter_of(&error)
            {
                error.message =
                    error.message.replace("of a parameter", &format!("of the parameter `{name}`"));
            }
            error.shorten(SHOWN);
            return error;
        }
        let labelled: HashSet<*const Origin> = error.labels.iter().map(Arc::as_ptr).collect();
        let from_labels = |origin: &Arc<Origin>| labelled.contains(&Arc::as_ptr(origin));
        let all = (0..log.len() as u32).filter(|n| !self.discards.contains(n));
        let candidates: Vec<u32> = match log.len() <= SMALL {
            true => all.collect(),
            false => all.filter(|n| from_labels(&log[*n as usize].1)).collect(),
        };
        let Some(refutation) = self.smallest(&candidates) else {
            error.shorten(SHOWN);
            return error;
        };
        let message = self.sides(&refutation).unwrap_or_else(|| refutation.error.message.clone());
        let mut labels: Vec<Arc<Origin>> = Vec::new();
        // The constraints in the order of the text or of the program, the last one first: it met the contradiction.
        let mut numbers = refutation.core.clone();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        for number in numbers {
            let origin = &log[number as usize].1;
            if !labels.iter().any(|l| Arc::ptr_eq(l, origin) || l == origin) {
                labels.push(origin.clone());
            }
        }
        let kind = refutation.error.kind;
        let mut error = ShapeError { kind, message, labels, omitted: 0, guessed: false, choice: None };
        error.shorten(SHOWN);
        error
    }

    /// The name of the parameter that an error is about.
    fn parameter_of(&self, error: &ShapeError) -> Option<String> {
        let declares = |label: &&Arc<Origin>| {
            self.facts.log.iter().any(|(constraint, origin)| {
                matches!(constraint, Constraint::Terminal(_, role) if *role != Role::Leaf)
                    && Arc::ptr_eq(origin, label)
            })
        };
        Some(error.labels.iter().take(SHOWN).find(declares)?.tensors.first()?.name.clone())
    }

    /// The explanation of an error that some of these constraints gave; this solver has their variables only.
    pub(crate) fn explained(
        mut self,
        constraints: &[(Constraint, Arc<Origin>)],
        error: ShapeError,
    ) -> ShapeError {
        self.facts.log = constraints.to_vec();
        let discards =
            constraints.iter().enumerate().filter(|(_, (c, _))| matches!(c, Constraint::Discardable(_)));
        self.discards = discards.map(|(n, _)| n as u32).collect();
        self.explain(error)
    }

    /// A smallest set of these constraints that is refuted, as far as few are tried one by one.
    fn smallest(&self, candidates: &[u32]) -> Option<Refutation> {
        let minimal = self.minimal(candidates)?;
        let n = candidates.len();
        if n > EXHAUSTED {
            return Some(minimal);
        }
        for size in 1..minimal.core.len().min(4) {
            let mut chosen: Vec<usize> = (0..size).collect();
            loop {
                let numbers: Vec<u32> = chosen.iter().map(|i| candidates[*i]).collect();
                if self.refute(&numbers, false).is_some() {
                    return self.refute(&numbers, true).map(|found| Refutation { core: numbers, ..found });
                }
                // The next choice of so many, in the order of the alphabet.
                let Some(at) = (0..size).rev().find(|i| chosen[*i] < n - size + i) else { break };
                chosen[at] += 1;
                for i in at + 1..size {
                    chosen[i] = chosen[i - 1] + 1;
                }
            }
        }
        Some(minimal)
    }

    /// A minimal set of these constraints that is refuted.
    fn minimal(&self, candidates: &[u32]) -> Option<Refutation> {
        let first = self.refute(candidates, candidates.len() <= REPLAYED)?;
        let mut core = first.core.clone();
        if core.is_empty() || core.len() > MINIMISED {
            return Some(first);
        }
        // What is farthest from the contradiction is left out first.
        let mut at = core.len();
        while at > 0 {
            at -= 1;
            let left_out = core.remove(at);
            if self.refute(&core, false).is_none() {
                core.insert(at, left_out);
            }
        }
        core.sort_unstable();
        let last = self.refute(&core, true)?;
        Some(Refutation { core, ..last })
    }

    /// A solver with some of the constraints added and not yet propagated, and the numbers of its variables.
    fn part(&self, numbers: impl IntoIterator<Item = u32>) -> (Solver, Numbers, Result<(), ShapeError>) {
        let mut renumbered = Numbers::default();
        let constraints: Vec<(u32, Constraint)> =
            numbers.into_iter().map(|n| (n, renumbered.constraint(&self.facts.log[n as usize].0))).collect();
        // What may be empty is part of every question: without it less would hold, not more.
        let all = self.discards.iter().map(|n| (*n, self.facts.log[*n as usize].0.clone()));
        let of_these = all.filter_map(|(n, constraint)| match constraint {
            Constraint::Discardable(var) => Some((n, Constraint::Discardable(*renumbered.dims.get(&var)?))),
            _ => None,
        });
        let constraints: Vec<(u32, Constraint)> = of_these.chain(constraints).collect();
        let mut part = if self.exact_markers { Solver::with_exact_markers() } else { Solver::new() };
        part.given = self.given.clone();
        part.standing_markers = self.standing_markers;
        part.ordered_rows = self.ordered_rows;
        part.fresh_up_to(&renumbered);
        let mut posted = Ok(());
        part.facts.with_sites = true;
        for (number, constraint) in constraints {
            // An origin of its own for each, so that labels say which constraint they mean.
            let origin = Arc::new(Origin::operation(number.to_string()));
            let fact = part.facts.added(constraint.clone(), &origin);
            posted = part.post(constraint, fact);
            if posted.is_err() {
                break;
            }
        }
        (part, renumbered, posted)
    }

    /// Adds some of the constraints to a solver of their own; what it finds, if they are refuted without any choice.
    fn refute(&self, numbers: &[u32], shortest: bool) -> Option<Refutation> {
        let (mut part, _, posted) = self.part(numbers.iter().copied());
        part.shortest = shortest.then(Vec::new);
        let error = posted
            .and_then(|()| part.propagate())
            .and_then(|()| part.deduce())
            .err()
            .filter(|e| !e.guessed)?;
        let core = error.labels.iter().filter_map(|l| l.operation.parse().ok()).collect();
        let sites = part.clashed.fact.map(|fact| part.facts.leaves(fact, usize::MAX).1).unwrap_or_default();
        let outer = |n: u32| part.facts.log.get(n as usize).and_then(|l| l.1.operation.parse().ok());
        let sites =
            sites.into_iter().filter_map(|s| Some(Site { constraint: outer(s.constraint)?, ..s })).collect();
        let clash = Clash { row: part.clashed.row.and_then(outer), ..part.clashed };
        Some(Refutation { error, clash, core, sites })
    }

    /// Which axes or which rows clash, where they have names.
    fn sides(&self, refutation: &Refutation) -> Option<String> {
        match refutation.error.kind {
            ShapeErrorKind::SizeMismatch | ShapeErrorKind::BasisClash => self.axes(refutation),
            ShapeErrorKind::RankMismatch => self.rows_of_clash(refutation),
            _ => None,
        }
    }

    /// Rows as they are known without the constraints of this origin.
    fn known_before(&self, core: &[u32], origin: &Arc<Origin>, row: &Row) -> Row {
        let others = core.iter().copied().filter(|n| !Arc::ptr_eq(&self.facts.log[*n as usize].1, origin));
        let (mut part, mut numbers, posted) = self.part(others);
        // The others hold; what they say of the row is known even if its variables are new to them.
        if posted.and_then(|()| part.propagate()).is_err() {
            return row.clone();
        }
        let row = numbers.row(row);
        part.fresh_up_to(&numbers);
        part.row(&row)
    }

    /// Makes the variables that were numbered.
    fn fresh_up_to(&mut self, numbers: &Numbers) {
        while self.dims.len() < numbers.dims.len() {
            self.fresh_dim();
        }
        while self.rows.len() < numbers.rows.len() {
            self.fresh_row();
        }
    }

    fn axes(&self, refutation: &Refutation) -> Option<String> {
        let (x, y) = refutation.clash.dims?;
        let mut sites = refutation.sites.clone();
        sites.sort_by_key(|s| std::cmp::Reverse(s.constraint));
        sites.truncate(SITES);
        let mut found: Vec<Found<'_>> = Vec::new();
        for site in sites {
            let (constraint, origin) = &self.facts.log[site.constraint as usize];
            let sides = sides_of(constraint);
            for (name, row) in names_of(origin, &sides).into_iter().zip(sides) {
                let Some((order, name)) = name else { continue };
                let known = self.known_before(&refutation.core, origin, row);
                if let Some((front, DimTerm::Known(value))) = axis_of(&known, site) {
                    let letter =
                        sides_of(constraint).into_iter().find_map(|r| self.letter(written_at(r, site)?));
                    found.push(Found { origin, order, name, site, front, value, letter });
                }
            }
        }
        let of = |value: Dim| found.iter().filter(move |f| f.value == value);
        let pairs = || of(x).flat_map(|a| of(y).map(move |b| (a, b)));
        let (a, b) = pairs().find(|(a, b)| Arc::ptr_eq(a.origin, b.origin)).or_else(|| pairs().next())?;
        let (a, b) = if b.order < a.order { (b, a) } else { (a, b) };
        // Both are counted from the same end.
        let from_end = a.front.is_none() || b.front.is_none();
        let why = if x.extent() == y.extent() { " (the bases differ)" } else { "" };
        let letter = match (a.letter, b.letter) {
            (Some(a), Some(b)) if a == b => format!("`{a}`: "),
            _ => String::new(),
        };
        let (left, right) = (a.axis(from_end), b.axis(from_end));
        Some(format!("{letter}{left} is {}, but {right} is {}{why}", a.value, b.value))
    }

    fn rows_of_clash(&self, refutation: &Refutation) -> Option<String> {
        let (constraint, origin) = self.facts.log.get(refutation.clash.row? as usize)?;
        let [a, b] = sides_of(constraint)[..] else { return None };
        let [Some((_, left)), Some((_, right))] = names_of(origin, &[a, b])[..] else { return None };
        let known = |row: &Row| show(&self.known_before(&refutation.core, origin, row));
        let verb = match constraint {
            Constraint::RowEq(..) => "are not as many as",
            _ => "do not fit into",
        };
        let (a, b) = (known(a), known(b));
        let message = &refutation.error.message;
        Some(format!("{} {verb} {}: {message}", left.row(&a), right.row(&b)))
    }
}

fn sides_of(constraint: &Constraint) -> Vec<&Row> {
    match constraint {
        Constraint::RowEq(a, b) | Constraint::RowLe(a, b) => vec![a, b],
        _ => Vec::new(),
    }
}

/// A row by its name.
#[derive(Clone, Copy)]
struct RowName<'a> {
    tensor: &'a str,
    /// `output `, or nothing for a row that is no tensor's.
    kind: &'static str,
    /// The row has no name but its text.
    by_text: bool,
}

/// An axis with a known size.
struct Found<'a> {
    origin: &'a Arc<Origin>,
    /// The place of its tensor among those of the operation.
    order: usize,
    name: RowName<'a>,
    site: Site,
    /// Its position counted from the front, where that is known.
    front: Option<usize>,
    value: Dim,
    /// Its letter in the spec.
    letter: Option<&'a str>,
}

impl Found<'_> {
    /// ``output axis 2 of `h` ``, or ``the last output axis of `h` ``.
    fn axis(&self, from_end: bool) -> String {
        let RowName { tensor, kind, .. } = self.name;
        match (self.front, self.site.place) {
            (Some(front), _) if !(from_end && self.site.trail) => format!("{kind}axis {front} of `{tensor}`"),
            (_, 0) => format!("the last {kind}axis of `{tensor}`"),
            (_, place) => format!("{kind}axis {} from the end of `{tensor}`", place + 1),
        }
    }
}

impl RowName<'_> {
    /// ``the output axes `3,4` of `h` ``.
    fn row(&self, known: &str) -> String {
        match self.by_text {
            true => format!("the axes of `{}`", self.tensor),
            false => format!("the {}axes `{known}` of `{}`", self.kind, self.tensor),
        }
    }
}

/// The names under which an operation has the sides of a constraint, and the places of their tensors there. Rows of
/// several tensors may be alike: most operations relate rows of one kind.
fn names_of<'a>(origin: &'a Origin, sides: &[&Row]) -> Vec<Option<(usize, RowName<'a>)>> {
    let all: Vec<Vec<_>> = sides.iter().map(|row| candidates(origin, row)).collect();
    if let [left, right] = &all[..] {
        let pairs = || left.iter().flat_map(|a| right.iter().map(move |b| (*a, *b)));
        if let Some((a, b)) = pairs().find(|((i, a), (j, b))| i != j && a.kind == b.kind) {
            return vec![Some(a), Some(b)];
        }
    }
    all.into_iter().map(|names| names.first().copied()).collect()
}

/// The names that a row may have. The first tensor is the result, which is looked at last.
fn candidates<'a>(origin: &'a Origin, row: &Row) -> Vec<(usize, RowName<'a>)> {
    let tensors = origin.tensors.iter().enumerate();
    let named = tensors.clone().skip(1).chain(tensors.take(1));
    named
        .flat_map(|(order, named): (usize, &'a Arc<Named>)| {
            let rows = match &named.subject {
                Subject::Shape(s) => {
                    vec![
                        ("output ", false, &s.output),
                        ("input ", false, &s.input),
                        ("batch ", false, &s.batch),
                    ]
                }
                Subject::Row(other) => vec![("", true, other)],
                Subject::Dim(_) => Vec::new(),
            };
            let alike = rows.into_iter().filter(|(_, _, other)| *other == row);
            alike.map(move |(kind, by_text, _)| {
                (order, RowName { tensor: named.name.as_str(), kind, by_text })
            })
        })
        .collect()
}

/// What is written at a site.
fn written_at(row: &Row, site: Site) -> Option<DimTerm> {
    let place = usize::from(site.place);
    match site.trail {
        false => row.lead.get(place).or_else(|| row.trail.get(place.checked_sub(row.lead.len())?)).copied(),
        true => row.trail.len().checked_sub(place + 1).map(|at| row.trail[at]),
    }
}

/// The axis at a site: its position counted from the front, where that is known, and what it is.
fn axis_of(row: &Row, site: Site) -> Option<(Option<usize>, DimTerm)> {
    let place = usize::from(site.place);
    let dims: Vec<DimTerm> = row.dims().collect();
    let closed = row.var.is_none();
    let flank = if site.trail { row.trail.len() } else { row.lead.len() };
    if place >= if closed { dims.len() } else { flank } {
        return None;
    }
    let at = if site.trail { dims.len() - 1 - place } else { place };
    Some(((closed || !site.trail).then_some(at + 1), dims[at]))
}

/// The axes of a row as far as they are known: `3,?,..,4`.
fn show(row: &Row) -> String {
    let dim = |d: &DimTerm| match d {
        DimTerm::Known(dim) => dim.to_string(),
        DimTerm::Var(_) => "?".to_string(),
    };
    let mut parts: Vec<String> = row.lead.iter().map(dim).collect();
    if row.var.is_some() {
        parts.push("..".to_string());
    }
    parts.extend(row.trail.iter().map(dim));
    parts.join(",")
}
