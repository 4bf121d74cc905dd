//! Rows without holes that are stored column by column, as runs: what is done with the columns is done with neighbours instead,
//! and shuffles are left only where columns meet that neighbours do not have.
//!
//! `store f(a), y[3*lane]`, `store f(b), y[3*lane + 1]`, `store f(c), y[3*lane + 2]` become three stores of neighbours, of `f` of
//! three vectors: the neighbours in memory, if `a`, `b` and `c` are the columns of rows there; constants in the same order; else
//! what shuffles make of `a`, `b` and `c`.

use super::columns::{Block, ElementOf, Rows};
use super::{Cluster, Common, Writer, access, clusters, needed};
use std::collections::{HashMap, HashSet};
use surject_ir::Scalar;
use surject_kernel::{Kernel, Op, PartMut, Region, Statement, Type, Value};

/// The user of a value that is none of the statements of a region.
const OUTSIDE: usize = usize::MAX;

/// What is known of the values of a kernel, wherever they are defined.
#[derive(Default)]
pub(super) struct Known {
    /// Those that are one number in all lanes.
    constants: HashMap<Value, Scalar>,
    /// What loads them from memory that is only read.
    loads: HashMap<Value, Statement>,
}

impl Known {
    pub(super) fn of(kernel: &Kernel) -> Known {
        let mut known = Known::default();
        known.region(kernel, &kernel.body);
        known
    }

    fn region(&mut self, kernel: &Kernel, region: &Region) {
        for statement in &region.body {
            if let [result] = statement.results[..] {
                if let Some(number) = self.number(kernel, result, &statement.op) {
                    self.constants.insert(result, number);
                }
                if access(kernel, statement).is_some_and(|(common, ..)| !common.is_store) {
                    self.loads.insert(result, statement.clone());
                }
            }
            statement.op.regions().for_each(|inner| self.region(kernel, inner));
        }
    }

    /// The number that a statement makes.
    fn number(&self, kernel: &Kernel, result: Value, op: &Op) -> Option<Scalar> {
        match op {
            Op::Splat(value) => Some(*value),
            Op::Broadcast(value) => self.constants.get(value).copied(),
            Op::Index(at) => at.as_constant().map(|n| Scalar::from_i128(kernel.ty(result).dtype, n.into())),
            _ => None,
        }
    }
}

/// Puts runs in the place of the columns that a region stores, where that saves shuffles.
pub(super) fn interleaved(kernel: &mut Kernel, known: &Known, region: &mut Region, vector_bytes: usize) {
    let mut tried: HashSet<(Common, i64)> = HashSet::new();
    loop {
        let clusters = clusters(kernel, &region.body, vector_bytes);
        let untried = |c: &&Cluster| c.is_run() && !tried.contains(&c.key());
        let Some(cluster) = clusters.iter().find(untried) else { return };
        tried.insert(cluster.key());
        let attempt = Attempt::new(kernel, known, region, &clusters, cluster);
        let Some(Rewritten { at, statements, gone }) = attempt.rewritten() else { continue };
        let mut body = Vec::new();
        for (number, statement) in std::mem::take(&mut region.body).into_iter().enumerate() {
            if number == at {
                body.extend(statements.iter().cloned());
            }
            if !gone.contains(&number) {
                body.push(statement);
            }
        }
        region.body = body;
    }
}

impl Cluster {
    /// Are these the stores of whole rows, one register each?
    fn is_run(&self) -> bool {
        let rows = self.rows();
        let whole = rows.stride == rows.reach && rows.is_block() && self.lanes == self.common.ty.lanes;
        self.common.is_store && whole && self.columns.len() as i64 == rows.reach
    }

    fn key(&self) -> (Common, i64) {
        (self.common.clone(), self.columns[0].offset)
    }
}

/// What stands in the place of some statements.
struct Rewritten {
    /// The number of the statement before which it stands.
    at: usize,
    statements: Vec<Statement>,
    /// The numbers of the statements that it replaces.
    gone: HashSet<usize>,
}

/// A column that is loaded: the constant of its place, and the place without it.
#[derive(Clone)]
struct LoadedColumn {
    common: Common,
    offset: i64,
}

/// What rows lie in, loaded.
struct LoadedBlock {
    common: Common,
    /// The first column, and how many there are from there to the last.
    first: i64,
    reach: i64,
    block: Block,
    /// The number of its first vector among all that there are.
    from: usize,
}

impl LoadedBlock {
    fn has(&self, column: &LoadedColumn) -> bool {
        column.common == self.common && (self.first..self.first + self.reach).contains(&column.offset)
    }
}

/// Where the elements of a column are.
enum Source<'a> {
    /// In rows, at this constant.
    Block(&'a LoadedBlock, i64),
    /// In the vector with this number, in order.
    Vector(usize),
}

impl Source<'_> {
    /// The element of a row.
    fn element(&self, row: usize) -> ElementOf {
        match self {
            Source::Block(LoadedBlock { common, first, block, from, .. }, offset) => {
                let ElementOf { vector, element } =
                    block.place(row as i64 * common.place.at.lane + offset - first);
                ElementOf { vector: vector + from, element }
            }
            &Source::Vector(vector) => ElementOf { vector, element: row },
        }
    }
}

/// The stores of some columns, and what they need.
struct Attempt<'a> {
    kernel: &'a mut Kernel,
    known: &'a Known,
    body: &'a [Statement],
    clusters: &'a [Cluster],
    stores: &'a Cluster,
    /// The statement that defines a value of the region.
    defined: HashMap<Value, usize>,
    /// The statements that only these stores need, and the stores.
    own: HashSet<usize>,
    /// Columns that are not made into runs, as others need them.
    kept: HashSet<Vec<Value>>,
    written: Vec<Statement>,
    /// The runs that are known, by their columns.
    runs: HashMap<Vec<Value>, Vec<Value>>,
}

impl<'a> Attempt<'a> {
    fn new(
        kernel: &'a mut Kernel,
        known: &'a Known,
        region: &'a Region,
        clusters: &'a [Cluster],
        stores: &'a Cluster,
    ) -> Self {
        let body = &region.body[..];
        let mut users: HashMap<Value, Vec<usize>> = HashMap::new();
        let mut defined = HashMap::new();
        for (number, statement) in body.iter().enumerate() {
            defined.extend(statement.results.iter().map(|&r| (r, number)));
            let mut inner: Vec<&Region> = statement.op.regions().collect();
            statement.op.operands().into_iter().for_each(|v| users.entry(v).or_default().push(number));
            while let Some(region) = inner.pop() {
                let operands = region.body.iter().flat_map(|s| s.op.operands());
                let used = operands.chain(region.yields.iter().copied());
                used.for_each(|v| users.entry(v).or_default().push(OUTSIDE));
                inner.extend(region.body.iter().flat_map(|s| s.op.regions()));
            }
        }
        region.yields.iter().for_each(|&v| users.entry(v).or_default().push(OUTSIDE));
        let mut own: HashSet<usize> = stores.columns.iter().map(|c| c.statement).collect();
        for (number, statement) in body[..stores.span().end].iter().enumerate().rev() {
            let all = |v: &Value| users.get(v).is_some_and(|users| users.iter().all(|u| own.contains(u)));
            let only_read = matches!(access(kernel, statement), Some((common, ..)) if !common.is_store);
            if (statement.op.is_pure() || only_read) && statement.results.iter().all(all) {
                own.insert(number);
            }
        }
        let (written, runs, kept) = (Vec::new(), HashMap::new(), HashSet::new());
        let mut attempt =
            Attempt { kernel, known, body, clusters, stores, defined, own, kept, written, runs };
        attempt.kept = attempt.kept(&attempt.columns(), &users);
        attempt
    }

    /// What is stored.
    fn columns(&self) -> Vec<Value> {
        self.stores.columns.iter().map(|c| c.value).collect()
    }

    /// The columns of a row, and the rows of a vector.
    fn sizes(&self) -> (usize, usize) {
        (self.stores.columns.len(), self.stores.lanes)
    }

    /// The stores as runs, if that takes fewer shuffles.
    fn rewritten(mut self) -> Option<Rewritten> {
        let columns = self.columns();
        let runs = match self.through(&columns) {
            Some(runs) => runs,
            None if columns.iter().any(|&c| self.load(c).is_some()) => self.collected(&columns)?,
            None => return None,
        };
        let (_, lanes) = self.sizes();
        let common = &self.stores.common;
        let first = self.stores.columns[0].offset;
        let rows = self.stores.rows();
        let mut writer = Writer { kernel: self.kernel, common, first, rows, register: 0, body: Vec::new() };
        for (number, &run) in runs.iter().enumerate() {
            writer.store((number * lanes) as i64, run, lanes);
        }
        let stores = writer.body;
        let values = stores.iter().flat_map(|s| s.op.operands()).collect();
        let statements = needed(std::mem::take(&mut self.written), values);
        // Shuffles of what is there before the region are not done again and again.
        let inside: HashSet<Value> =
            statements.iter().flat_map(|s| &s.results).chain(self.defined.keys()).copied().collect();
        let again = |s: &&Statement| {
            matches!(s.op, Op::Shuffle(..)) && s.op.operands().iter().any(|v| inside.contains(v))
        };
        if statements.iter().filter(again).count() as i64 > self.shuffles_of_columns() {
            return None;
        }
        let statements = one_by_one(statements, stores);
        let at = self.stores.span().end - 1;
        Some(Rewritten { at, gone: self.gone(&statements), statements })
    }

    /// What only the stores of columns need, where these statements stand in their place.
    fn gone(self, instead: &[Statement]) -> HashSet<usize> {
        let mut values: HashSet<Value> = instead.iter().flat_map(|s| s.op.operands()).collect();
        let mut gone = self.own;
        for (number, statement) in self.body.iter().enumerate().rev() {
            if statement.results.iter().any(|r| values.contains(r)) {
                values.extend(statement.op.operands());
                gone.remove(&number);
            }
        }
        gone
    }

    /// The shuffles that columns take which only these stores need.
    fn shuffles_of_columns(&self) -> i64 {
        let count = self.stores.columns.len() as i64;
        let own =
            |c: &&Cluster| !c.common.is_store && c.columns.iter().all(|c| self.own.contains(&c.statement));
        let loads = self.clusters.iter().filter(own).map(|c| {
            let vectors = (c.rows().block() + c.lanes as i64 - 1) / c.lanes as i64;
            c.columns.len() as i64 * (vectors - 1).max(1)
        });
        count * (count - 1) + loads.sum::<i64>()
    }

    /// The run of some columns. What the columns are made of is made into runs, where nothing else needs them.
    fn run(&mut self, columns: &[Value]) -> Option<Vec<Value>> {
        if let Some(known) = self.runs.get(columns) {
            return Some(known.clone());
        }
        let made =
            self.same(columns).or_else(|| self.through(columns)).or_else(|| self.collected(columns))?;
        self.runs.insert(columns.to_vec(), made.clone());
        Some(made)
    }

    /// The run of columns that are all the same value.
    fn same(&mut self, columns: &[Value]) -> Option<Vec<Value>> {
        let (count, lanes) = self.sizes();
        let value = columns[0];
        if columns.iter().any(|&c| c != value) {
            return None;
        }
        if self.kernel.ty(value).lanes == 1 || self.known.constants.contains_key(&value) {
            return Some(vec![value; count]);
        }
        if self.kernel.ty(value).lanes != lanes {
            return None;
        }
        let ty = self.kernel.ty(value);
        let order = |k: usize| (0..lanes).map(|lane| (k * lanes + lane) / count).collect();
        Some((0..count).map(|k| self.push(Op::Shuffle(value, value, order(k)), ty)).collect())
    }

    /// The run of columns that one kind of statement makes.
    fn through(&mut self, columns: &[Value]) -> Option<Vec<Value>> {
        let (count, lanes) = self.sizes();
        let ty = self.kernel.ty(columns[0]);
        if ty.lanes != lanes || columns.iter().any(|&c| self.kernel.ty(c) != ty) {
            return None;
        }
        let numbers: Option<Vec<Scalar>> =
            columns.iter().map(|c| self.known.constants.get(c).copied()).collect();
        if let Some(numbers) = numbers {
            if numbers.iter().all(|n| n.bits() == numbers[0].bits()) {
                return Some(vec![columns[0]; count]);
            }
            let run = |k: usize| (0..lanes).map(|lane| numbers[(k * lanes + lane) % count]).collect();
            return Some((0..count).map(|k| self.push(Op::Constant(run(k)), ty)).collect());
        }
        if let Some(loads) = self.loaded(columns) {
            return Some(loads);
        }
        let numbers: Vec<usize> =
            columns.iter().map(|c| self.defined.get(c).copied()).collect::<Option<_>>()?;
        if !self.is_alike(&numbers) || self.kept.contains(columns) {
            return None;
        }
        let ops: Vec<&Op> = numbers.iter().map(|&n| &self.body[n].op).collect();
        let operands: Vec<Vec<Value>> = ops.iter().map(|op| op.operands()).collect();
        let op = ops[0].clone();
        let mut runs = Vec::new();
        for i in 0..operands[0].len() {
            let columns: Vec<Value> = operands.iter().map(|all| all[i]).collect();
            runs.push(self.run(&columns)?);
        }
        let made = (0..count).map(|k| {
            let (mut op, mut next) = (op.clone(), 0);
            op.parts_mut(&mut |part| {
                if let PartMut::Value(value) = part {
                    *value = runs[next][k];
                    next += 1;
                }
            });
            self.push(op, ty)
        });
        Some(made.collect())
    }

    /// Do these statements do the same with each lane of their operands?
    fn is_alike(&self, numbers: &[usize]) -> bool {
        let first = &self.body[numbers[0]].op;
        is_elementwise(first) && numbers.iter().all(|&n| kind(&self.body[n].op) == kind(first))
    }

    /// The columns that other columns, or other statements, need as well: what makes these stays.
    fn kept(&self, columns: &[Value], users: &HashMap<Value, Vec<usize>>) -> HashSet<Vec<Value>> {
        let stores: HashSet<usize> = self.stores.columns.iter().map(|c| c.statement).collect();
        let mut kept: HashSet<Vec<Value>> = HashSet::new();
        loop {
            // Everything that would become runs.
            let (mut made, mut work): (HashMap<Vec<Value>, Vec<usize>>, _) =
                (HashMap::new(), vec![columns.to_vec()]);
            while let Some(columns) = work.pop() {
                let numbers =
                    columns.iter().map(|c| self.defined.get(c).copied()).collect::<Option<Vec<_>>>();
                let same = columns.iter().all(|c| c == &columns[0]);
                let Some(numbers) = numbers.filter(|n| !same && self.is_alike(n)) else { continue };
                if kept.contains(&columns) || made.contains_key(&columns) {
                    continue;
                }
                let operands: Vec<Vec<Value>> = numbers.iter().map(|&n| self.body[n].op.operands()).collect();
                work.extend((0..operands[0].len()).map(|i| operands.iter().map(|all| all[i]).collect()));
                made.insert(columns, numbers);
            }
            let gone: HashSet<usize> =
                made.values().flatten().copied().chain(stores.iter().copied()).collect();
            let needed = |v: &Value| users.get(v).is_some_and(|all| all.iter().any(|u| !gone.contains(u)));
            let before = kept.len();
            kept.extend(made.into_keys().filter(|columns| columns.iter().any(needed)));
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// The run of columns that are loaded from rows in order, without a hole: neighbours.
    fn loaded(&mut self, columns: &[Value]) -> Option<Vec<Value>> {
        let (count, lanes) = self.sizes();
        let loads = columns.iter().map(|&c| self.load(c)).collect::<Option<Vec<LoadedColumn>>>()?;
        let LoadedColumn { common, offset: first } = loads[0].clone();
        let in_order = loads.iter().zip(first..).all(|(l, at)| l.common == common && l.offset == at);
        if !in_order || common.place.at.lane != count as i64 {
            return None;
        }
        let rows = Rows { stride: count as i64, reach: count as i64, lanes };
        let kernel = &mut *self.kernel;
        let mut writer = Writer { kernel, common: &common, first, rows, register: 0, body: Vec::new() };
        let made = (0..count).map(|k| writer.load((k * lanes) as i64, lanes, lanes)).collect();
        self.written.extend(writer.body);
        Some(made)
    }

    /// A column that is loaded from rows that lie close to each other.
    fn load(&self, column: Value) -> Option<LoadedColumn> {
        let (common, _, offset) = access(self.kernel, self.known.loads.get(&column)?)?;
        let rows = Rows { stride: common.place.at.lane, reach: 1, lanes: self.stores.lanes };
        let fits = common.ty.lanes == self.stores.lanes && rows.is_block();
        fits.then_some(LoadedColumn { common, offset })
    }

    /// The run of any columns, by shuffles: of what rows lie in, where columns are loaded, else of the columns.
    fn collected(&mut self, columns: &[Value]) -> Option<Vec<Value>> {
        let (count, lanes) = self.sizes();
        let ty = self.kernel.ty(columns[0]);
        if ty.lanes != lanes || columns.iter().any(|&c| self.kernel.ty(c) != ty) {
            return None;
        }
        let mut vectors: Vec<Value> = Vec::new();
        let blocks = self.blocks(columns, &mut vectors);
        let mut sources: Vec<Source<'_>> = Vec::new();
        for &column in columns {
            let load = self.load(column);
            let block = load.and_then(|l| Some((blocks.iter().find(|b| b.has(&l))?, l.offset)));
            sources.push(match block {
                Some((block, offset)) => Source::Block(block, offset),
                None => {
                    let known = vectors.iter().position(|&v| v == column);
                    let number = known.unwrap_or(vectors.len());
                    if known.is_none() {
                        vectors.push(column);
                    }
                    Source::Vector(number)
                }
            });
        }
        let places = |k: usize| -> Vec<ElementOf> {
            (k * lanes..(k + 1) * lanes).map(|e| sources[e % count].element(e / count)).collect()
        };
        let common = Common { ty, ..self.stores.common.clone() };
        let (kernel, rows) = (&mut *self.kernel, self.stores.rows());
        let mut writer = Writer { kernel, common: &common, first: 0, rows, register: 0, body: Vec::new() };
        let runs = (0..count).map(|k| writer.collect(&vectors, &places(k))).collect();
        self.written.extend(writer.body);
        Some(runs)
    }

    /// Loads what the rows lie in that some of the columns are loaded from.
    fn blocks(&mut self, columns: &[Value], vectors: &mut Vec<Value>) -> Vec<LoadedBlock> {
        let lanes = self.stores.lanes;
        let mut loads: Vec<LoadedColumn> = columns.iter().filter_map(|&c| self.load(c)).collect();
        let mut blocks = Vec::new();
        loads.sort_by_key(|l| l.offset);
        while let Some(LoadedColumn { common, offset: first }) = loads.first().cloned() {
            let stride = common.place.at.lane;
            let own = |l: &LoadedColumn| l.common == common && l.offset - first < stride.abs();
            let reach = loads.iter().filter(|l| own(l)).map(|l| l.offset - first + 1).max().unwrap_or(1);
            loads.retain(|l| !own(l));
            let rows = Rows { stride, reach, lanes };
            let kernel = &mut *self.kernel;
            let mut writer = Writer { kernel, common: &common, first, rows, register: 0, body: Vec::new() };
            let block = writer.load_block();
            self.written.extend(writer.body);
            let from = vectors.len();
            vectors.extend(&block.vectors);
            blocks.push(LoadedBlock { common, first, reach, block, from });
        }
        blocks
    }

    fn push(&mut self, op: Op, ty: Type) -> Value {
        let value = self.kernel.value(ty);
        self.written.push(Statement { results: vec![value], op });
        value
    }
}

/// Statements, and stores of what they make, each store behind what it needs: few values are kept in registers that way.
fn one_by_one(mut statements: Vec<Statement>, stores: Vec<Statement>) -> Vec<Statement> {
    let mut all = Vec::new();
    for store in stores {
        let own = needed(statements.clone(), store.op.operands().into_iter().collect());
        statements.retain(|s| !own.contains(s));
        all.extend(own);
        all.push(store);
    }
    all
}

/// Is each lane of the result made of the same lane of the operands?
fn is_elementwise(op: &Op) -> bool {
    use Op::*;
    matches!(
        op,
        Unary(..) | Binary(..) | Fma(..) | Select(..) | Convert(_) | Bitcast(_) | ReducePrecision(..)
    )
}

/// The operation without its operands.
fn kind(op: &Op) -> Op {
    let mut op = op.clone();
    op.parts_mut(&mut |part| {
        if let PartMut::Value(value) = part {
            *value = Value(0);
        }
    });
    op
}
