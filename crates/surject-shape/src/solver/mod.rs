//! The solver: variable elimination over a store of bounds.
//!
//! A variable is *open* or *bound*; bound variables are substituted away. Adding a constraint propagates at once (stage 1)
//! with a work list, never by recursion. What is bound before [`Solver::close`] is forced by the constraints;
//! closing then commits what is left.

mod arithmetic;
mod choices;
mod close;
mod commit;
mod deduce;
mod dims;
mod domains;
mod explain;
mod instead;
mod lengths;
mod linear;
mod parts;
mod rank;
mod rebuild;
mod relations;
mod rows;
mod search;
mod soft;
mod symbolic;
mod totals;

use crate::constraint::{Constraint, Elems, Role};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::{Fact, Facts, Origin};
use crate::row::{GroundRow, Row, RowVar};
use relations::Relation;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What is known about how a variable closes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Flags {
    leaf: bool,
    param: bool,
    /// No axes are an error, too.
    strict: bool,
    /// The variable is the numerator of a pending number of elements: guessing it early may make that unsatisfiable.
    numerator: bool,
}

impl Flags {
    fn role(role: Role) -> Flags {
        Flags { leaf: true, param: role != Role::Leaf, strict: role == Role::Param, ..Flags::default() }
    }

    fn join(self, other: Flags) -> Flags {
        Flags {
            leaf: self.leaf || other.leaf,
            param: self.param || other.param,
            strict: self.strict || other.strict,
            numerator: self.numerator || other.numerator,
        }
    }
}

/// One dimension variable. Meaningful for the root of its class only, except for `parent`.
#[derive(Clone, Debug)]
struct DimState {
    parent: u32,
    value: Option<Dim>,
    /// Why it has its value; for an open variable, why its class is one.
    why: Fact,
    /// An atom it is below.
    upper: Option<Dim>,
    upper_why: Fact,
    above: Vec<(u32, Fact)>,
    below: Vec<(u32, Fact)>,
    at_least: u64,
    at_least_why: Fact,
    /// A size that arithmetic found, where the basis is not determined by it; else without a limit.
    at_most: u64,
    at_most_why: Fact,
    /// It is no unit, whatever its size: a valid kernel reads it.
    atom: bool,
    /// A fixed index reads it: nothing else has to determine its size.
    indexed: bool,
    flags: Flags,
    /// The terminal shape it belongs to.
    role_why: Fact,
    relations: Vec<u32>,
    /// The variable itself, whatever its class, was declared to be discardable.
    discardable: bool,
    /// The variable itself was made by the user.
    user: bool,
    /// In which closing it was bound, counted from 1.
    closed: u32,
    /// How many variables of the class were made by the user, and how many of them are discardable. Those that the solver
    /// made do not count.
    declared: u32,
    discarded: u32,
}

impl DimState {
    /// Whether it is known to be no unit: what it is below, it equals.
    fn is_atom(&self) -> bool {
        self.atom || self.at_least >= 2
    }

    /// Whether the axis may have no positions: everything it is known by is a discardable component.
    fn may_be_empty(&self) -> bool {
        self.discarded == self.declared
    }
}

/// One row variable.
#[derive(Clone, Debug)]
struct RowState {
    value: Option<Row>,
    why: Fact,
    /// Pending constraints that mention it.
    watch: Vec<u32>,
    /// Relations (numbers of elements, exact rows) that mention it.
    relations: Vec<u32>,
    /// The most axes its flanks can have, as far as is known.
    most: [u32; 2],
    most_why: Fact,
    flags: Flags,
    /// The terminal shape it belongs to.
    role_why: Fact,
    /// How many axes its ancestors were grown by.
    grown: u32,
    /// An equation gave it its axes and placed its marker, which the equation does not determine.
    loose: bool,
    /// In which closing it was bound, counted from 1.
    closed: u32,
}

const NO_LIMIT: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Equal,
    Below,
}

/// A row constraint that is not yet used up.
#[derive(Clone, Debug)]
struct Pending {
    order: Order,
    a: Row,
    b: Row,
    fact: Fact,
    done: bool,
    queued: bool,
    /// The variables it is registered with.
    watched: [Option<RowVar>; 2],
    /// Its number in the log, if it was added as it is.
    source: Option<u32>,
    /// How many axes were taken off at each edge.
    taken: [u16; 2],
}

#[derive(Clone, Copy, Debug)]
enum Task {
    DimEq(DimTerm, DimTerm, Fact),
    DimLe(DimTerm, DimTerm, Fact),
    Upper(u32, Dim, Fact),
    Row(u32),
    Limit(u32),
    Relation(u32),
}

/// A set of constraints and what is known of their variables.
#[derive(Clone, Debug)]
pub struct Solver {
    dims: Vec<DimState>,
    rows: Vec<RowState>,
    pending: Vec<Pending>,
    relations: Vec<Relation>,
    facts: Facts,
    queue: VecDeque<Task>,
    stage: u8,
    failed: Option<Box<ShapeError>>,
    rank: rank::RankGraph,
    /// Variables that were open when they were last looked at.
    open_dims: Vec<u32>,
    open_rows: Vec<u32>,
    /// An equation placed a marker that the equation does not determine.
    placed_marker: bool,
    searching: bool,
    /// What was done so far: tasks of propagation, and variables looked at in closing.
    steps: u64,
    /// How many closings have succeeded.
    closings: u32,
    /// How many variables were bound so far.
    bound_count: u64,
    waiting: Vec<u32>,
    /// Inequalities over rows whose markers an equation placed wait for closing.
    exact_markers: bool,
    /// Where an equation placed a marker, there it stays.
    standing_markers: bool,
    /// The rows of a number of elements stand in the order in which they are asked to take what is left, the last one
    /// first; else their order says nothing.
    ordered_rows: bool,
    postponed: Vec<u32>,
    soft_bounds: soft::SoftBounds,
    /// Tasks are taken in the order of the size of their proofs, so that a contradiction has a short one.
    shortest: Option<Vec<u32>>,
    /// The letters of axes in specs, ascending by variable, and the letters by number.
    letters: Vec<(DimVar, u32)>,
    letter_names: Vec<Arc<str>>,
    /// The constraints that say which axes may be empty, by their numbers in the log.
    discards: Vec<u32>,
    /// What an error was about, for its explanation.
    clashed: explain::Clash,
    /// What closing has chosen so far, where the constraints leave a choice.
    choices: choices::Choices,
    /// The sizes that arithmetic leaves to open variables, as of the last look.
    domains: HashMap<u32, domains::Domain>,
    /// What is known of symbolic sizes.
    given: Arc<surject_index::Facts>,
}

/// More constraints than this are not searched exhaustively.
const SEARCH_LIMIT: usize = 256;

/// The most labels of an error before it is explained.
const LABELS: usize = 20_000;

impl Default for Solver {
    fn default() -> Solver {
        Solver::new()
    }
}

impl Solver {
    /// A solver without variables and constraints.
    pub fn new() -> Solver {
        Solver {
            dims: Vec::new(),
            rows: Vec::new(),
            pending: Vec::new(),
            relations: Vec::new(),
            facts: Facts::default(),
            queue: VecDeque::new(),
            stage: 1,
            failed: None,
            rank: rank::RankGraph::default(),
            open_dims: Vec::new(),
            open_rows: Vec::new(),
            placed_marker: false,
            searching: false,
            steps: 0,
            closings: 0,
            bound_count: 0,
            waiting: Vec::new(),
            exact_markers: false,
            standing_markers: false,
            ordered_rows: true,
            postponed: Vec::new(),
            soft_bounds: soft::SoftBounds::default(),
            shortest: None,
            letters: Vec::new(),
            letter_names: Vec::new(),
            discards: Vec::new(),
            clashed: explain::Clash::default(),
            choices: choices::Choices::default(),
            domains: HashMap::new(),
            given: Arc::new(surject_index::Facts::default()),
        }
    }

    /// A solver that takes no marker for granted before closing.
    ///
    /// An equation gives a row variable its axes but not its marker. [`Solver::new`] puts the marker where the other side
    /// has it and goes on at once; here, inequalities over such a row wait for [`Solver::close`], so that
    /// everything that is bound before is forced and every contradiction is proved.
    pub fn with_exact_markers() -> Solver {
        Solver { exact_markers: true, ..Solver::new() }
    }

    /// A solver for problems in text form: no marker is taken for granted ([`Solver::with_exact_markers`]), and the order in
    /// which rows are listed says nothing.
    pub(crate) fn for_problems() -> Solver {
        Solver { ordered_rows: false, ..Solver::with_exact_markers() }
    }

    /// A solver for programs: the first equation that gives a row variable its axes places its marker as well, where the
    /// other side has it, and there it stays (as in the seeds). No solution with another marker is looked for: it would
    /// make an outer product of what a user wrote as a sum of unlike shapes.
    pub fn with_standing_markers() -> Solver {
        Solver { standing_markers: true, ..Solver::new() }
    }

    /// What is known of the symbolic sizes in constraints; before any constraint is added.
    pub fn assume(&mut self, facts: surject_index::Facts) {
        self.given = Arc::new(facts);
    }

    /// A new dimension variable.
    pub fn fresh_dim(&mut self) -> DimVar {
        let var = self.fresh_dim_with(Flags::default());
        self.dims[var.0 as usize].declared = 1;
        self.dims[var.0 as usize].user = true;
        var
    }

    /// A new row variable.
    pub fn fresh_row(&mut self) -> RowVar {
        self.fresh_row_with(Flags::default(), 0)
    }

    fn fresh_dim_with(&mut self, flags: Flags) -> DimVar {
        let number = self.dims.len() as u32;
        self.dims.push(DimState {
            parent: number,
            value: None,
            why: Fact::TRIVIAL,
            upper: None,
            upper_why: Fact::TRIVIAL,
            above: Vec::new(),
            below: Vec::new(),
            at_least: 0,
            at_least_why: Fact::TRIVIAL,
            at_most: u64::MAX,
            at_most_why: Fact::TRIVIAL,
            atom: false,
            indexed: false,
            flags,
            role_why: Fact::TRIVIAL,
            relations: Vec::new(),
            discardable: false,
            user: false,
            closed: 0,
            declared: 0,
            discarded: 0,
        });
        self.open_dims.push(number);
        DimVar(number)
    }

    fn fresh_row_with(&mut self, flags: Flags, grown: u32) -> RowVar {
        let number = self.rows.len() as u32;
        self.rows.push(RowState {
            value: None,
            why: Fact::TRIVIAL,
            watch: Vec::new(),
            relations: Vec::new(),
            most: [NO_LIMIT; 2],
            most_why: Fact::TRIVIAL,
            flags,
            role_why: Fact::TRIVIAL,
            grown,
            loose: false,
            closed: 0,
        });
        self.open_rows.push(number);
        RowVar(number)
    }

    /// Gives an axis the letter that a spec has for it, for errors to speak of it.
    pub fn name_axis(&mut self, var: DimVar, letter: &str) {
        let number = self.letter_names.iter().position(|n| &**n == letter).unwrap_or_else(|| {
            self.letter_names.push(letter.into());
            self.letter_names.len() - 1
        });
        let at = self.letters.partition_point(|(v, _)| *v < var);
        self.letters.insert(at, (var, number as u32));
    }

    /// The letter of an axis.
    fn letter(&self, dim: DimTerm) -> Option<&str> {
        let DimTerm::Var(var) = dim else { return None };
        let at = self.letters.binary_search_by_key(&var, |(v, _)| *v).ok()?;
        self.letter_names.get(self.letters[at].1 as usize).map(|n| &**n)
    }

    /// Adds a constraint and propagates it. The order in which constraints are added does not matter.
    ///
    /// # Errors
    /// A contradiction; it has the constraints it follows from. A solver that has failed stays failed.
    pub fn add(&mut self, constraint: Constraint, origin: &Arc<Origin>) -> Result<(), ShapeError> {
        if let Some(failed) = &self.failed {
            return Err((**failed).clone());
        }
        let fact = self.log_fact(&constraint, origin);
        let result = self.post(constraint, fact).and_then(|()| self.propagate());
        let result = match result {
            // The contradiction depends on where an equation placed a marker.
            Err(error) if error.guessed && !self.exact_markers && !self.searching => {
                self.queue.clear();
                match self.rebuilt() {
                    Ok(rebuilt) => {
                        *self = rebuilt;
                        Ok(())
                    }
                    Err(error) => {
                        // It is explained without guesses, too.
                        self.exact_markers = true;
                        Err(error)
                    }
                }
            }
            other => other,
        };
        self.keep_failure(result)
    }

    /// Notes a constraint; the fact that it is.
    fn log_fact(&mut self, constraint: &Constraint, origin: &Arc<Origin>) -> Fact {
        if matches!(constraint, Constraint::Discardable(_)) {
            self.discards.push(self.facts.log.len() as u32);
        }
        self.facts.added(constraint.clone(), origin)
    }

    fn keep_failure(&mut self, result: Result<(), ShapeError>) -> Result<(), ShapeError> {
        let Err(error) = result else { return Ok(()) };
        self.queue.clear();
        let error = if self.searching { error } else { self.explain(error) };
        self.failed = Some(Box::new(error.clone()));
        Err(error)
    }

    fn post(&mut self, constraint: Constraint, fact: Fact) -> Result<(), ShapeError> {
        match constraint {
            Constraint::DimEq(a, b) => self.queue.push_back(Task::DimEq(a, b, fact)),
            Constraint::DimLe(a, b) => self.queue.push_back(Task::DimLe(a, b, fact)),
            Constraint::RowEq(a, b) => self.post_row(Order::Equal, a, b, fact),
            Constraint::RowLe(a, b) => self.post_row(Order::Below, a, b, fact),
            Constraint::AtLeast(dim, size) => {
                if let DimTerm::Var(var) = dim {
                    let root = self.find(var.0);
                    self.dims[root as usize].indexed = true;
                }
                self.at_least(dim, size, fact)?;
            }
            Constraint::Terminal(row, role) => {
                let (row, _) = self.resolve(row, fact);
                self.mark_row(&row, Flags::role(role), fact);
            }
            Constraint::TerminalDim(dim, role) => self.mark_dim(dim, Flags::role(role), fact),
            Constraint::Discardable(var) => {
                if !std::mem::replace(&mut self.dims[var.0 as usize].discardable, true) {
                    let root = self.find(var.0);
                    self.dims[root as usize].discarded += 1;
                }
            }
            Constraint::Concat { target, parts } => {
                self.post_relation(relations::Law::Concat { target, parts }, fact);
            }
            Constraint::Affine { input, stride, over, kernel, offset } => {
                if stride == 0 || offset >= stride || kernel.is_some_and(|k| k.dilation == 0) {
                    return Err(self.error(
                        ShapeErrorKind::Stride,
                        format!("a stride and a dilation are at least 1 and an offset is below its stride (stride {stride}, offset {offset})"),
                        fact,
                    ));
                }
                self.post_relation(relations::Law::Affine { input, stride, over, kernel }, fact);
            }
            Constraint::Total { elems, rows, divided_by } => {
                if matches!(elems, Elems::Number(0) | Elems::Strided { coefficient: 0, .. }) {
                    let text = "a number of elements is at least 1";
                    return Err(self.error(ShapeErrorKind::TotalElems, text, fact));
                }
                self.post_relation(relations::Law::Total { elems, rows, divided_by }, fact);
            }
            Constraint::Exact { dims, rows } => {
                self.post_relation(relations::Law::Exact { dims, rows }, fact)
            }
        }
        Ok(())
    }

    fn next_task(&mut self) -> Option<Task> {
        let Some(mut known) = self.shortest.take() else { return self.queue.pop_front() };
        let weight = |task: &Task, known: &mut Vec<u32>| {
            let fact = match task {
                Task::DimEq(_, _, fact) | Task::DimLe(_, _, fact) | Task::Upper(_, _, fact) => *fact,
                Task::Row(number) => self.pending[*number as usize].fact,
                Task::Limit(var) => self.rows[*var as usize].most_why,
                Task::Relation(number) => self.relations[*number as usize].fact,
            };
            self.facts.weight(fact, known)
        };
        let weights: Vec<u32> = self.queue.iter().map(|task| weight(task, &mut known)).collect();
        let lightest = (0..weights.len()).min_by_key(|i| weights[*i]);
        self.shortest = Some(known);
        self.queue.remove(lightest?)
    }

    /// Works the queue off.
    fn propagate(&mut self) -> Result<(), ShapeError> {
        while let Some(task) = self.next_task() {
            self.steps += 1;
            match task {
                Task::DimEq(a, b, fact) => self.dim_eq(a, b, fact)?,
                Task::DimLe(a, b, fact) => self.dim_le(a, b, fact)?,
                Task::Upper(var, dim, fact) => self.add_upper(var, dim, fact)?,
                Task::Row(number) => self.row_constraint(number)?,
                Task::Limit(var) => self.pass_limit(var)?,
                Task::Relation(number) => self.relation(number)?,
            }
        }
        Ok(())
    }

    fn error(&self, kind: ShapeErrorKind, message: impl Into<String>, fact: Fact) -> ShapeError {
        ShapeError {
            kind,
            message: message.into(),
            labels: if self.searching { Vec::new() } else { self.facts.chain(fact, LABELS) },
            omitted: 0,
            guessed: self.choices.guessed()
                || (self.placed_marker && !self.standing_markers && (self.stage > 1 || !self.exact_markers)),
            choice: None,
        }
    }

    fn mark_dim(&mut self, dim: DimTerm, flags: Flags, fact: Fact) {
        if let DimTerm::Var(var) = dim {
            let root = self.find(var.0);
            let state = &mut self.dims[root as usize];
            let old = state.flags;
            state.flags = old.join(flags);
            if flags.leaf && (!old.leaf || state.role_why == Fact::TRIVIAL) {
                state.role_why = fact;
            }
            if flags.param && !old.param && state.value.is_none() {
                // An error about the axis shall name its tensor.
                state.why = self.facts.follows(state.why, fact);
            }
        }
    }

    fn mark_row(&mut self, row: &Row, flags: Flags, fact: Fact) {
        if !flags.leaf {
            return;
        }
        for dim in row.dims() {
            self.mark_dim(dim, flags, fact);
        }
        if let Some(var) = row.var {
            let state = &mut self.rows[var.0 as usize];
            state.flags = state.flags.join(flags);
            state.role_why = fact;
        }
    }

    /// What a dimension is known to be: its value, or the variable that stands for its class.
    pub fn dim(&self, dim: impl Into<DimTerm>) -> DimTerm {
        match dim.into() {
            DimTerm::Known(d) => DimTerm::Known(d),
            DimTerm::Var(var) => {
                let root = self.find_const(var.0);
                match self.dims[root as usize].value {
                    Some(value) => DimTerm::Known(value),
                    None => DimTerm::Var(DimVar(root)),
                }
            }
        }
    }

    /// What a row is known to be, with everything that is bound substituted.
    pub fn row(&self, row: impl Into<Row>) -> Row {
        let mut row = row.into();
        while let Some(value) = row.var.and_then(|v| self.rows[v.0 as usize].value.as_ref()) {
            row.splice(value);
        }
        for dim in row.lead.iter_mut().chain(&mut row.trail) {
            *dim = self.dim(*dim);
        }
        row
    }

    /// A dimension without variables, if it is one.
    pub fn ground_dim(&self, dim: impl Into<DimTerm>) -> Option<Dim> {
        match self.dim(dim) {
            DimTerm::Known(dim) => Some(dim),
            DimTerm::Var(_) => None,
        }
    }

    /// A row without variables, if it is one.
    pub fn ground_row(&self, row: impl Into<Row>) -> Option<GroundRow> {
        let row = self.row(row);
        if row.var.is_some() {
            return None;
        }
        let ground = |dims: &[DimTerm]| {
            dims.iter()
                .map(|d| match d {
                    DimTerm::Known(dim) => Some(*dim),
                    DimTerm::Var(_) => None,
                })
                .collect::<Option<Vec<_>>>()
        };
        Some(GroundRow { lead: ground(&row.lead)?, trail: ground(&row.trail)? })
    }

    /// How many constraints were added.
    pub fn constraints(&self) -> usize {
        self.facts.log.len()
    }

    /// How much was done so far, in tasks of propagation and variables looked at in closing: a measure of work that does
    /// not depend on the machine.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The atom an open dimension is known to be below.
    pub fn upper_bound(&self, var: DimVar) -> Option<Dim> {
        self.dims[self.find_const(var.0) as usize].upper
    }

    /// The constraints that a dimension's value (or its being one with other variables) follows from.
    pub fn why_dim(&self, var: DimVar) -> Vec<Arc<Origin>> {
        self.facts.chain(self.dims[self.find_const(var.0) as usize].why, 12)
    }

    /// The constraints that a row's value follows from.
    pub fn why_row(&self, var: RowVar) -> Vec<Arc<Origin>> {
        self.facts.chain(self.rows[var.0 as usize].why, 12)
    }
}

impl From<RowVar> for Row {
    fn from(var: RowVar) -> Row {
        Row::open(var)
    }
}

impl From<&Row> for Row {
    fn from(row: &Row) -> Row {
        row.clone()
    }
}
