//! Sums of products by the matrix unit of a CPU, which a task uses: how they are cut, the text of that in schedules, and which
//! expressions are ones.
//!
//! ```text
//! contract i0 i1 k0 tile 32 32 by tiles task 256 128 each 1
//! ```
//!
//! A task sums 256 rows and 128 columns. It copies the right value's columns into panels first, then the left value's rows, so
//! many at once as a tile has, and multiplies tiles of 32 rows and 32 columns by [`MatrixUnit`]. `each 2`: two such blocks, one
//! after the other, are a task.

use super::{Parts, Product};
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use std::fmt;
use surject_ir::{DType, named};
use surject_kernel::Factors;

named! {
    /// What a CPU multiplies small matrices with.
    MatrixUnit {
        /// Registers for tiles of 16 rows of 64 bytes (AMX).
        Tiles = "tiles",
        /// Instructions that add the products of two neighbours to each lane (`vdpbf16ps`, `pmaddwd`).
        Dots = "dots",
    }
}

/// Terms of a sum are filled up to a multiple of so many bytes.
const LINE: i64 = 64;

/// The same of those that [`MatrixUnit::Dots`] multiplies.
const DOTS: i64 = 16;

/// Rows and columns of a register for tiles.
const SIDE: i64 = 16;

/// The most bytes of the panels of a task, and of those of columns alone.
const MOST: i64 = 3 << 18;
const MOST_COLUMNS: i64 = 1 << 19;

/// How a sum of products is cut into tiles that the matrix unit of a CPU multiplies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitTiles {
    /// The loops over rows, with commas between their names, that over columns, and that over terms which are next to each other
    /// in a panel.
    pub loops: [String; 3],
    /// Rows and columns of a tile.
    pub tile: [i64; 2],
    /// What multiplies it.
    pub unit: MatrixUnit,
    /// Rows and columns of a block.
    pub task: [i64; 2],
    /// How many blocks are a task; it divides their number.
    pub each: i64,
}

impl fmt::Display for UnitTiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([m, n], [rows, columns]) = (self.tile, self.task);
        let (loops, unit, each) = (self.loops.join(" "), self.unit, self.each);
        write!(f, "contract {loops} tile {m} {n} by {unit} task {rows} {columns} each {each}")
    }
}

impl UnitTiles {
    /// Reads what stands behind `contract`, if it is of this form.
    pub(crate) fn read(words: &[&str]) -> Option<Result<UnitTiles, Fault>> {
        let [rows, columns, terms, "tile", m, n, "by", unit, "task", high, wide, "each", each] = words else {
            return None;
        };
        let number = |word: &str| match word.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Fault::of(word, format!("`{word}` is no positive number"))),
        };
        let read = || {
            let found = MatrixUnit::from_name(unit);
            Ok(UnitTiles {
                loops: [rows, columns, terms].map(|l| l.to_string()),
                tile: [number(m)?, number(n)?],
                unit: found.ok_or_else(|| Fault::of(unit, "a CPU multiplies `by tiles` or `by dots`"))?,
                task: [number(high)?, number(wide)?],
                each: number(each)?,
            })
        };
        Some(read())
    }
}

/// How a side of a product lies in its tensor, and so how it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    /// Terms next to each other, or far apart as everything else.
    ByTerms,
    /// Rows or columns next to each other.
    ByOwn,
}

/// Tiles of a matrix unit that fit an expression.
#[derive(Clone, Debug)]
pub(crate) struct UnitProduct {
    pub(crate) parts: Parts,
    /// The loops over rows that run as one, the slowest first.
    pub(crate) rows: Vec<LoopId>,
    pub(crate) column: LoopId,
    /// The other loops of the sum, the outermost first, and that over neighbours in a panel.
    pub(crate) around: Vec<LoopId>,
    pub(crate) term: LoopId,
    pub(crate) tiles: UnitTiles,
    /// The elements of panels of rows and columns.
    pub(crate) elements: [DType; 2],
    /// The type of sums.
    pub(crate) joined: DType,
    pub(crate) lies: [Lies; 2],
    /// All terms of a panel, and those of one run of `term`.
    pub(crate) terms: i64,
    pub(crate) run: i64,
}

impl UnitProduct {
    /// How many terms are next to each other in a panel of columns.
    pub(crate) fn interleaved(&self) -> i64 {
        self.tiles.unit.interleaved(self.elements[1])
    }

    /// Does the unit take subnormal factors for zeros, which they are not?
    pub(crate) fn flushes(&self) -> bool {
        self.elements[1].is_float()
    }

    /// As what factors are multiplied by the unit.
    pub(crate) fn factors(&self) -> Factors {
        if self.flushes() { Factors::Flushed } else { Factors::Own }
    }
}

impl MatrixUnit {
    /// How many terms it takes at once of elements of a type.
    pub fn interleaved(self, dtype: DType) -> i64 {
        match self {
            MatrixUnit::Tiles => 4 / dtype.size().max(1) as i64,
            MatrixUnit::Dots => 2,
        }
    }

    /// Terms are filled up to a multiple of so many.
    fn step(self, dtype: DType) -> i64 {
        match self {
            MatrixUnit::Tiles => LINE / dtype.size().max(1) as i64,
            MatrixUnit::Dots => DOTS,
        }
    }

    /// The elements in which a panel has values of a type, and that of sums.
    fn elements(self, dtype: DType) -> Option<(DType, DType)> {
        match (dtype, self) {
            (DType::BF16, _) => Some((DType::BF16, DType::F32)),
            (DType::I8 | DType::U8, MatrixUnit::Tiles) => Some((dtype, DType::I32)),
            (DType::I8 | DType::U8 | DType::I16, MatrixUnit::Dots) => Some((DType::I16, DType::I32)),
            _ => None,
        }
    }
}

/// A sum of products whose factors a matrix unit of a CPU takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitFactors {
    /// Their loops.
    pub product: Product,
    /// The types of the left and the right value.
    pub types: [DType; 2],
    /// The loops of the sum.
    pub terms: Vec<String>,
    /// Loops over rows along which the left value lies next to each other, where its terms do not.
    pub rows_beside: Vec<String>,
    /// Do the terms, rather than the rows or columns, of either lie next to each other?
    pub by_terms: [bool; 2],
}

impl Expression {
    /// The sum of products that the expression is, if a matrix unit of a CPU takes its factors.
    pub fn unit_factors(&self) -> Option<UnitFactors> {
        let parts = self.parts_of_cpu_units()?;
        let product = self.product_of(&parts)?;
        let Node::Reduce { loops, .. } = &self.dag[parts.sum].node else { return None };
        let terms: Vec<String> = loops.iter().map(|&l| self.name(l)).collect();
        // Of the terms those of the longest loop are next to each other in panels.
        let term = product.terms.iter().max_by_key(|t| self.find(t).map(|l| l.extent))?;
        let term = self.id(term)?;
        let beside = |node: NodeId, names: &[String]| -> Vec<String> {
            let of = |name: &&String| self.id(name).is_some_and(|own| self.lie_next(node, own));
            let transposed = !self.lie_next(node, term);
            names.iter().filter(|name| transposed && of(name)).cloned().collect()
        };
        let rows_beside = beside(parts.left, &product.rows);
        let by_terms = [rows_beside.is_empty(), beside(parts.right, &product.columns).is_empty()];
        let types = [parts.left, parts.right].map(|n| self.dag[n].dtype);
        Some(UnitFactors { product, types, terms, rows_beside, by_terms })
    }

    /// The parts of the expression with factors before they are converted to the type in which they are summed.
    fn parts_of_cpu_units(&self) -> Option<Parts> {
        let parts = self.parts()?;
        let own = |n: NodeId| match self.dag[n].node {
            Node::Convert(x) => match (self.dag[x].dtype, self.dag[n].dtype) {
                (DType::BF16, DType::F32) | (DType::I8 | DType::U8 | DType::I16, DType::I32) => x,
                _ => n,
            },
            _ => n,
        };
        let [left, right] = [parts.left, parts.right].map(own);
        let sum = self.dag[parts.sum].dtype;
        let fits = match [left, right].map(|n| self.dag[n].dtype) {
            [DType::BF16, DType::BF16] => matches!(sum, DType::BF16 | DType::F32),
            [DType::I8 | DType::U8 | DType::I16, DType::I8 | DType::U8 | DType::I16] => sum == DType::I32,
            _ => false,
        };
        fits.then_some(Parts { left, right, ..parts })
    }
}

/// Checks tiles against an expression; an error says what does not fit.
pub(crate) fn fit(expression: &Expression, tiles: &UnitTiles) -> Result<UnitProduct, Fault> {
    let dag = &expression.dag;
    let parts = expression.parts_of_cpu_units().ok_or(
        "the expression is no sum of products of bf16, or of integers of 8 or 16 bits that are summed in i32, over \
         independent points",
    )?;
    let product = expression.product_of(&parts).ok_or("the expression is no sum of products")?;
    let rows: Vec<&str> = tiles.loops[0].split(',').collect();
    super::fit::check_names(&rows, [&tiles.loops[1], &tiles.loops[2]], &product)?;
    let id = |name: &str| expression.called(name).map_err(|message| Fault::of(name, message));
    let rows = rows.into_iter().map(id).collect::<Result<Vec<LoopId>, Fault>>()?;
    let (column, term) = (id(&tiles.loops[1])?, id(&tiles.loops[2])?);
    let Node::Reduce { loops, .. } = &dag[parts.sum].node else { return Err("no sum".into()) };
    let around: Vec<LoopId> = loops.iter().copied().filter(|&l| l != term).collect();
    if loops.iter().chain(&expression.loops).any(|&l| dag.extent(l) < 1) {
        return Err("the sum has no terms, or there are no sums".into());
    }
    let ([m, n], [high, wide], unit) = (tiles.tile, tiles.task, tiles.unit);
    if m % 4 != 0 || n % SIDE != 0 || m > 64 || n > 64 || unit == MatrixUnit::Tiles && m % SIDE != 0 {
        return Err(format!(
            "a tile of {m} by {n}: both are at most 64, columns a multiple of 16, and rows one of 4, or of 16 by tiles"
        ).into());
    }
    if high % m != 0 || wide % n != 0 {
        return Err(format!("a block of {high} by {wide} has no whole tiles of {m} by {n}").into());
    }
    let of = |node: NodeId| {
        let dtype = dag[node].dtype;
        unit.elements(dtype).ok_or_else(|| format!("a CPU does not multiply {dtype} by {unit}"))
    };
    let ((left, joined), (right, _)) = (of(parts.left)?, of(parts.right)?);
    let step = unit.step(right);
    let run = dag.extent(term).checked_add(step - 1).map(|run| run / step * step);
    let terms = around.iter().try_fold(run.unwrap_or(i64::MAX), |all, &l| all.checked_mul(dag.extent(l)));
    let bytes = |points: i64, dtype: DType| {
        terms.and_then(|t| t.checked_mul(points)?.checked_mul(dtype.size() as i64)).unwrap_or(i64::MAX)
    };
    let (of_rows, of_columns) = (bytes(m, left), bytes(wide, right));
    if of_columns > MOST_COLUMNS || of_rows > MOST_COLUMNS || of_rows + of_columns > MOST {
        return Err(format!(
            "panels of {of_rows} and {of_columns} bytes; one has at most {MOST_COLUMNS}, and both {MOST}"
        )
        .into());
    }
    let lies = |node: NodeId, own: LoopId, alone: bool| {
        let by_own = alone && expression.lie_next(node, own) && !expression.lie_next(node, term);
        if by_own { Lies::ByOwn } else { Lies::ByTerms }
    };
    let fastest = *rows.last().ok_or("a tile has rows")?;
    // Rows that are not those of whole squares are copied one by one, as those of several loops are.
    let lies = [lies(parts.left, fastest, rows.len() == 1 && m % SIDE == 0), lies(parts.right, column, true)];
    let found = UnitProduct {
        parts,
        column,
        around,
        term,
        tiles: tiles.clone(),
        elements: [left, right],
        joined,
        lies,
        terms: terms.unwrap_or(0),
        run: run.unwrap_or(0),
        rows,
    };
    let blocks = found.blocks(expression).iter().try_fold(1i64, |all, &n| all.checked_mul(n));
    match blocks {
        Some(blocks) if blocks % tiles.each == 0 => Ok(found),
        _ => Err(format!("{} blocks are not evenly those of tasks", tiles.each).into()),
    }
}

impl UnitProduct {
    /// The loops over points that are neither over rows nor over columns.
    pub(crate) fn others(&self, expression: &Expression) -> Vec<LoopId> {
        let is_own = |l: &LoopId| *l == self.column || self.rows.contains(l);
        expression.loops.iter().copied().filter(|l| !is_own(l)).collect()
    }

    /// All rows.
    pub(crate) fn all_rows(&self, expression: &Expression) -> i64 {
        self.rows.iter().map(|&l| expression.dag.extent(l)).fold(1, i64::saturating_mul)
    }

    /// How many blocks there are: along the other loops, the columns, and the rows.
    pub(crate) fn blocks(&self, expression: &Expression) -> Vec<i64> {
        let extent = |l: LoopId| expression.dag.extent(l);
        let mut sizes: Vec<i64> = self.others(expression).into_iter().map(extent).collect();
        let [high, wide] = self.tiles.task;
        let parts = |all: i64, by: i64| all / by + i64::from(all % by != 0);
        sizes.extend([parts(extent(self.column), wide), parts(self.all_rows(expression), high)]);
        sizes
    }

    /// The loops whose last tile or run is not whole.
    pub(crate) fn cut(&self, expression: &Expression) -> Vec<LoopId> {
        let extent = |l: LoopId| expression.dag.extent(l);
        let mut cut = Vec::new();
        if extent(self.column) % self.tiles.tile[1] != 0 {
            cut.push(self.column);
        }
        if self.lies[0] == Lies::ByOwn && self.all_rows(expression) % self.tiles.tile[0] != 0 {
            cut.extend(self.rows.last());
        }
        if self.run != extent(self.term) {
            cut.push(self.term);
        }
        cut
    }
}
