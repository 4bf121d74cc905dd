//! Vectors whose elements lie some apart in memory, as runs of neighbours: a gather costs as much as its elements do one by
//! one, and what lies between them is often needed too.
//!
//! Loads at the same place but for a constant are the columns of rows that lie `stride` elements apart, a row in each lane.
//! What lies between the first and the last column of all rows is loaded as vectors of neighbours, and shuffles put the columns
//! together (`columns`). Stores are taken apart in the same way, where they fill rows without a hole. Results are those of
//! before, and so is every element that is written; a load may read what lies between the elements of before, in memory that the
//! kernel only reads.

mod columns;
mod interleave;

use columns::Rows;
use interleave::Known;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use surject_kernel::{
    Access, Affine, Guard, Kernel, Mem, Op, Place, Region, Statement, Temporality, Type, Value,
};

/// The kernel with runs in the place of strided vectors, for a machine whose vectors have so many bytes.
pub fn runs(mut kernel: Kernel, vector_bytes: usize) -> Kernel {
    let known = Known::of(&kernel);
    let mut body = std::mem::take(&mut kernel.body);
    region(&mut kernel, &known, &mut body, vector_bytes);
    kernel.body = live(body);
    kernel.renumbered()
}

/// A region without what nobody needs any more.
fn live(mut region: Region) -> Region {
    let mut needed = HashSet::new();
    mark(&mut region, &mut needed);
    region
}

/// Drops the pure statements and the loads of a region whose results are not needed, and says what the others need.
fn mark(region: &mut Region, needed: &mut HashSet<Value>) {
    needed.extend(region.yields.iter().copied());
    let mut kept: Vec<Statement> = Vec::new();
    for mut statement in std::mem::take(&mut region.body).into_iter().rev() {
        let only_results = statement.op.is_pure() || matches!(statement.op, Op::Load { .. });
        if only_results && !statement.results.iter().any(|r| needed.contains(r)) {
            continue;
        }
        statement.op.parts_mut(&mut |part| {
            if let surject_kernel::PartMut::Region(inner) = part {
                mark(inner, needed);
            }
        });
        needed.extend(statement.op.operands());
        kept.push(statement);
    }
    kept.reverse();
    region.body = kept;
}

fn region(kernel: &mut Kernel, known: &Known, within: &mut Region, vector_bytes: usize) {
    for statement in &mut within.body {
        match &mut statement.op {
            Op::For { body, .. } => region(kernel, known, body, vector_bytes),
            Op::If { then, otherwise, .. } => {
                let both = [then, otherwise].into_iter();
                both.for_each(|inner| region(kernel, known, inner, vector_bytes));
            }
            _ => {}
        }
    }
    interleave::interleaved(kernel, known, within, vector_bytes);
    let clusters = clusters(kernel, &within.body, vector_bytes);
    if clusters.is_empty() {
        return;
    }
    let mut instead: HashMap<usize, Vec<Statement>> = HashMap::new();
    let mut gone: HashSet<usize> = HashSet::new();
    for cluster in clusters {
        gone.extend(cluster.columns.iter().map(|c| c.statement));
        let (at, written) = cluster.written(kernel);
        instead.entry(at).or_default().extend(written);
    }
    let mut body = Vec::new();
    for (number, statement) in std::mem::take(&mut within.body).into_iter().enumerate() {
        body.extend(instead.remove(&number).unwrap_or_default());
        if !gone.contains(&number) {
            body.push(statement);
        }
    }
    within.body = body;
}

/// What the columns of some rows have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Common {
    /// The first element, without its constant.
    place: Place,
    ty: Type,
    is_store: bool,
    temporality: Temporality,
}

/// A column: the constant of its place, its statement by number, and the vector.
#[derive(Clone, Copy, Debug)]
struct Column {
    offset: i64,
    statement: usize,
    value: Value,
}

/// Columns of the same rows.
struct Cluster {
    common: Common,
    /// In order, the first one first.
    columns: Vec<Column>,
    /// The lanes of a register.
    lanes: usize,
}

/// A strided access, if it can be one of a column.
fn access(kernel: &Kernel, statement: &Statement) -> Option<(Common, Value, i64)> {
    let (place, value, is_store, temporality) = match &statement.op {
        Op::Load { place, fill, temporality } if fill.bits() == 0 => {
            let only_read = kernel.mem(place.mem).access == Access::Read;
            (place, *statement.results.first().filter(|_| only_read)?, false, *temporality)
        }
        Op::Store { place, value, temporality } => (place, *value, true, *temporality),
        _ => return None,
    };
    let alone = place.offset.is_none() && place.mask.is_none() && place.at.lane.unsigned_abs() >= 2;
    // Numbers of elements are far from 64 bits then, which those of rows are multiplied to.
    let small = |n: i64| n.unsigned_abs() < 1 << 30;
    let by_row = |a: &Affine| small(a.offset) && a.times(place.at.lane).is_some();
    // Some of the lanes exist, one after the other, and their rows too.
    let simple = |g: &Guard| match g.expr.lane {
        0 => g.bound.lane == 0,
        1 => g.bound.lane == 0 && by_row(&g.expr) && by_row(&g.bound),
        _ => false,
    };
    let fits = small(place.at.lane) && place.at.offset.unsigned_abs() < 1 << 60;
    if !alone || !fits || !place.guards.iter().all(simple) {
        return None;
    }
    let offset = place.at.offset;
    let at = Affine { offset: 0, ..place.at.clone() };
    let place = Place { at, ..place.clone() };
    Some((Common { place, ty: kernel.ty(value), is_store, temporality }, value, offset))
}

/// The columns of a region that are worth being made of runs.
fn clusters(kernel: &Kernel, body: &[Statement], vector_bytes: usize) -> Vec<Cluster> {
    let mut order: Vec<Common> = Vec::new();
    let mut found: HashMap<Common, Vec<Column>> = HashMap::new();
    for (number, statement) in body.iter().enumerate() {
        if let Some((common, value, offset)) = access(kernel, statement) {
            let columns = found.entry(common.clone()).or_default();
            if columns.is_empty() {
                order.push(common);
            }
            columns.push(Column { offset, statement: number, value });
        }
    }
    let mut clusters = Vec::new();
    for common in order {
        let mut columns = found.remove(&common).unwrap_or_default();
        columns.sort_by_key(|c| c.offset);
        let register = vector_bytes / common.ty.dtype.size().max(1);
        let lanes = register.min(common.ty.lanes);
        while let Some(first) = columns.first() {
            let (first, stride) = (first.offset, common.place.at.lane.abs());
            let count = columns.partition_point(|c| c.offset - first < stride);
            let rest = columns.split_off(count);
            let cluster = Cluster { common: common.clone(), columns, lanes };
            columns = rest;
            if lanes.is_power_of_two()
                && lanes >= 4
                && common.ty.lanes.is_power_of_two()
                && cluster.pays()
                && (!common.is_store || cluster.is_free(kernel, body))
            {
                clusters.push(cluster);
            }
        }
    }
    clusters
}

impl Cluster {
    /// The rows, from the first column to the last one.
    fn rows(&self) -> Rows {
        let ends = [self.columns.first(), self.columns.last()].map(|c| c.map_or(0, |c| c.offset));
        Rows { stride: self.common.place.at.lane, reach: ends[1] - ends[0] + 1, lanes: self.lanes }
    }

    /// Are runs better than elements one by one?
    fn pays(&self) -> bool {
        let (rows, count) = (self.rows(), self.columns.len() as i64);
        let one_each = self.columns.windows(2).all(|pair| pair[0].offset < pair[1].offset);
        match self.common.is_store {
            true => one_each && count == rows.reach && rows.stores(),
            false => one_each && rows.loads(count),
        }
    }

    /// The statements from the first to the last one.
    fn span(&self) -> Range<usize> {
        let numbers = || self.columns.iter().map(|c| c.statement);
        numbers().min().unwrap_or(0)..numbers().max().map_or(0, |last| last + 1)
    }

    /// Does nothing else touch the memory of these stores between the first and the last?
    fn is_free(&self, kernel: &Kernel, body: &[Statement]) -> bool {
        let mem = self.common.place.mem;
        let own: HashSet<usize> = self.columns.iter().map(|c| c.statement).collect();
        self.span().all(|number| {
            // Other columns of the same rows, in other lanes or further on, are other elements.
            let same = access(kernel, &body[number]).is_some_and(|(common, ..)| common == self.common);
            own.contains(&number) || same || !touches(&body[number].op, mem)
        })
    }

    /// The statements in the place of the columns, and before which one they stand.
    fn written(&self, kernel: &mut Kernel) -> (usize, Vec<Statement>) {
        let Cluster { common, columns, lanes } = self;
        let (rows, registers) = (self.rows(), common.ty.lanes / lanes);
        let mut writer =
            Writer { kernel, common, first: columns[0].offset, rows, register: 0, body: Vec::new() };
        if common.is_store {
            for register in 0..registers {
                writer.register = register as i64;
                let parts = columns.iter().map(|c| writer.part(c.value, register * lanes, *lanes));
                let parts: Vec<Value> = parts.collect();
                writer.store_columns(&parts);
            }
            return (self.span().end - 1, writer.body);
        }
        let mut parts: Vec<Vec<Value>> = vec![Vec::new(); columns.len()];
        for register in 0..registers {
            writer.register = register as i64;
            let made = writer.load_columns();
            for (parts, column) in parts.iter_mut().zip(columns) {
                parts.push(made[(column.offset - columns[0].offset) as usize]);
            }
        }
        let mut names = HashMap::new();
        for (parts, column) in parts.into_iter().zip(columns) {
            names.insert(writer.beside(parts), column.value);
        }
        let written = named(needed(writer.body, names.keys().copied().collect()), &names);
        (self.span().start, written)
    }
}

/// Does an operation, or one inside of it, touch a memory?
fn touches(op: &Op, mem: Mem) -> bool {
    let mut found = false;
    op.parts(&mut |part| match part {
        surject_kernel::Part::Mem(&other) => found |= other == mem,
        surject_kernel::Part::Region(region) => found |= region.body.iter().any(|s| touches(&s.op, mem)),
        _ => {}
    });
    found
}

/// The statements without those whose results nobody needs.
fn needed(statements: Vec<Statement>, mut values: HashSet<Value>) -> Vec<Statement> {
    let mut kept: Vec<Statement> = Vec::new();
    for statement in statements.into_iter().rev() {
        if statement.results.iter().any(|r| values.contains(r)) {
            values.extend(statement.op.operands());
            kept.push(statement);
        }
    }
    kept.reverse();
    kept
}

/// The statements with other names for some results.
fn named(mut statements: Vec<Statement>, names: &HashMap<Value, Value>) -> Vec<Statement> {
    let name = |v: &mut Value| *v = names.get(v).copied().unwrap_or(*v);
    for statement in &mut statements {
        statement.results.iter_mut().for_each(name);
        statement.op.parts_mut(&mut |part| {
            if let surject_kernel::PartMut::Value(value) = part {
                name(value);
            }
        });
    }
    statements
}

/// Writes what stands in the place of columns.
struct Writer<'k> {
    kernel: &'k mut Kernel,
    common: &'k Common,
    /// The constant of the first column.
    first: i64,
    rows: Rows,
    /// The number of the register of which rows are done.
    register: i64,
    body: Vec<Statement>,
}

impl Writer<'_> {
    fn push(&mut self, op: Op, lanes: usize) -> Value {
        let value = self.kernel.value(Type { lanes, ..self.common.ty });
        self.body.push(Statement { results: vec![value], op });
        value
    }

    /// Lanes of two values.
    fn pick(&mut self, a: Value, b: Value, order: Vec<usize>) -> Value {
        let lanes = order.len();
        self.push(Op::Shuffle(a, b, order), lanes)
    }

    /// So many lanes from one on.
    fn part(&mut self, value: Value, from: usize, count: usize) -> Value {
        match self.kernel.ty(value).lanes == count {
            true => value,
            false => self.pick(value, value, (from..from + count).collect()),
        }
    }

    /// Vectors of one type, as many as a power of two, one behind the other.
    fn beside(&mut self, mut parts: Vec<Value>) -> Value {
        while parts.len() > 1 {
            let lanes = self.kernel.ty(parts[0]).lanes;
            let pairs = parts.chunks_exact(2);
            parts = pairs.map(|pair| self.pick(pair[0], pair[1], (0..2 * lanes).collect())).collect();
        }
        parts[0]
    }

    /// The neighbours from an element of the first row on, of which the first in so many lanes exist.
    fn neighbours(&self, start: i64, width: usize, there: usize) -> Place {
        let Rows { stride, reach, lanes } = self.rows;
        let Place { mem, at, guards, .. } = &self.common.place;
        let row = self.register * lanes as i64;
        let here = Affine { lane: 1, offset: self.first + row * stride + start, ..at.clone() };
        let mut all: Vec<Guard> = Vec::new();
        for Guard { expr, bound } in guards {
            if expr.lane == 0 {
                all.push(Guard { expr: expr.clone(), bound: bound.clone() });
                continue;
            }
            // Row `l` of a block has the elements from `stride * l` on, `reach` of them; backwards, those that are as far from
            // its end.
            let first = Affine { lane: 0, offset: expr.offset + row, ..expr.clone() };
            let (size, before) = (stride.abs(), start - self.rows.begin());
            let rows = match stride > 0 {
                true => Some(first),
                false => bound.plus(&first, -1).and_then(|rows| rows.plus(&Affine::from(lanes as i64), -1)),
            };
            let element = rows.and_then(|r| r.times(size));
            let element = element.map(|e| Affine { lane: 1, offset: e.offset + before, ..e });
            let end = bound.times(size).map(|e| Affine { offset: e.offset - (size - reach), ..e });
            if let (Some(expr), Some(bound)) = (element, end) {
                let first = Affine { lane: 0, ..expr.clone() }.as_constant().zip(bound.as_constant());
                let always = |(first, bound): (i64, i64)| first >= 0 && first + width as i64 <= bound;
                if !first.is_some_and(always) {
                    all.push(Guard { expr, bound });
                }
            }
        }
        if there < width {
            all.push(Guard { expr: Affine::lane(1), bound: (there as i64).into() });
        }
        Place { guards: all, ..Place::new(*mem, here) }
    }

    /// Loads some neighbours.
    fn load(&mut self, start: i64, width: usize, there: usize) -> Value {
        let place = self.neighbours(start, width, there);
        let fill = surject_ir::Scalar::zero(self.common.ty.dtype);
        self.push(Op::Load { place, fill, temporality: self.common.temporality }, width)
    }

    /// Stores some neighbours.
    fn store(&mut self, start: i64, value: Value, there: usize) {
        let width = self.kernel.ty(value).lanes;
        let place = self.neighbours(start, width, there);
        let op = Op::Store { place, value, temporality: self.common.temporality };
        self.body.push(Statement { results: Vec::new(), op });
    }
}
