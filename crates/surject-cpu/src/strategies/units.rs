//! Sums of products by the matrix unit of a CPU.

use super::parts;
use crate::Cpu;
use surject_codegen::kernels::contraction::{MatrixUnit, UnitFactors, UnitTiles};
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};
use surject_ir::DType;

/// Tiles of a product are multiplied by the matrix unit, from panels.
pub struct Units(pub Cpu);

/// The sizes of a product.
struct Sizes {
    /// Products of other loops.
    others: i64,
    rows: i64,
    columns: i64,
    /// The loop of the sum that lies in a panel next to each other, and the product of the others.
    run: i64,
    around: i64,
}

/// The names of the loops of rows that run as one, of columns, and of terms.
struct Loops {
    rows: Vec<String>,
    column: String,
    term: String,
}

impl Strategy for Units {
    fn name(&self) -> &'static str {
        "units"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let factors = expression.unit_factors().ok_or("no sum of products that a matrix unit takes")?;
        let units = self.units(factors.types);
        if units.is_empty() {
            let [left, right] = factors.types;
            return Err(format!("{} has no matrix unit for {left} and {right}", self.0.name));
        }
        let loops = loops(expression, &factors)?;
        let sizes = sizes(expression, &factors, &loops);
        let mut best: Option<Proposal> = None;
        let mut refused = String::new();
        for unit in units {
            for tile in self.tiles(unit) {
                let (tiles, cost) = self.cut(&factors, &loops, &sizes, (unit, tile));
                let schedule = Schedule { directives: vec![Directive::Multiply(tiles)] };
                if best.as_ref().is_some_and(|b| b.cost <= cost) {
                    continue;
                }
                match fits(expression, &schedule) {
                    Ok(()) => best = Some(Proposal { schedule, cost }),
                    Err(error) => refused = error.message,
                }
            }
        }
        best.ok_or(refused)
    }
}

/// The loops of a product that tiles are cut from.
fn loops(expression: &Expression, factors: &UnitFactors) -> Result<Loops, String> {
    let product = &factors.product;
    let next = |name: &&String| {
        let strides = expression.strides(name);
        strides.iter().any(|s| s.stored && s.elements == 1)
    };
    let column = product.columns.iter().find(next).ok_or("no columns lie next to each other")?;
    let extent = |name: &&String| expression.find(name).map_or(0, |l| l.extent);
    let term = product.terms.iter().max_by_key(extent).ok_or("no terms that both factors have")?;
    let all = &product.rows;
    let fastest = all.iter().find(|name| factors.rows_beside.contains(name));
    let rows = match fastest {
        Some(one) => vec![one.clone()],
        None => all.clone(),
    };
    if rows.is_empty() {
        return Err("there is one row".into());
    }
    Ok(Loops { rows, column: column.clone(), term: term.clone() })
}

fn sizes(expression: &Expression, factors: &UnitFactors, loops: &Loops) -> Sizes {
    let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent);
    let points = expression.loops();
    let rows: i64 = loops.rows.iter().map(extent).product();
    let columns = extent(&loops.column);
    let all: i64 = points.iter().map(|l| l.extent).fold(1, i64::saturating_mul);
    let around = factors.terms.iter().filter(|t| **t != loops.term).map(extent).product();
    Sizes { others: all / (rows * columns).max(1), rows, columns, run: extent(&loops.term), around }
}

impl Units {
    /// What multiplies factors of these types.
    fn units(&self, types: [DType; 2]) -> Vec<MatrixUnit> {
        let cpu = &self.0;
        let has = match types {
            [DType::BF16, DType::BF16] => [cpu.has_bf16_tiles, cpu.has_bf16_dot],
            [DType::I16, _] | [_, DType::I16] => [false, cpu.has_pmaddwd],
            _ => [cpu.has_byte_tiles, cpu.has_pmaddwd],
        };
        let all = [MatrixUnit::Tiles, MatrixUnit::Dots].into_iter().zip(has);
        all.filter(|(_, has)| *has).map(|(unit, _)| unit).collect()
    }

    /// Rows and columns of tiles.
    fn tiles(&self, unit: MatrixUnit) -> Vec<[i64; 2]> {
        let rows: &[i64] = match unit {
            MatrixUnit::Tiles => &[32, 16],
            // Of tiles that are as fast the rows of smaller ones stay nearer.
            MatrixUnit::Dots => &[12, 8, 16, 24, 32, 4],
        };
        [32, 16].into_iter().flat_map(|n| rows.iter().map(move |&m| [m, n])).collect()
    }

    /// Products that the unit does in a cycle.
    fn rate(&self, unit: MatrixUnit, [m, n]: [i64; 2], size: i64) -> f64 {
        /// Of registers for tiles some time goes by while they are loaded.
        const TILES: f64 = 200.0;
        match unit {
            // Four registers of sums share what is loaded.
            MatrixUnit::Tiles => TILES * 2.0 / size as f64 * (m.min(32) * n.min(32)) as f64 / 1024.0,
            MatrixUnit::Dots => {
                let lanes = self.0.vector_bytes as i64 / 4;
                let (vectors, registers) = ((n / lanes).max(1), self.0.vector_registers);
                let most = ((registers - vectors - 2) / vectors).max(1);
                let rows = (1..=most.min(m)).rev().find(|rows| m % rows == 0).unwrap_or(1);
                let loads = (rows + vectors) as f64 / (rows * vectors) as f64;
                2.0 * lanes as f64 / (0.7 + 0.6 * loads)
            }
        }
    }

    /// A product in tiles of a size: the blocks of tasks, and the cost.
    fn cut(
        &self,
        factors: &UnitFactors,
        loops: &Loops,
        sizes: &Sizes,
        (unit, tile): (MatrixUnit, [i64; 2]),
    ) -> (UnitTiles, f64) {
        /// The bytes of the columns of a task, and tasks that there are to be where there is enough to do.
        const COLUMNS: i64 = 1 << 19;
        const TASKS: i64 = 4;
        /// Products that are worth a task.
        const PRODUCTS: i64 = 1 << 21;
        /// What an element that goes to a panel costs, one of those that are transposed before, and one that is stored.
        const PACKED: f64 = 0.08;
        const TURNED: f64 = 0.25;
        const STORED: f64 = 0.25;
        let [m, n] = tile;
        let size = match (unit, factors.types[1].size() as i64) {
            (MatrixUnit::Tiles, size) => size,
            (MatrixUnit::Dots, _) => 2,
        };
        let step = if unit == MatrixUnit::Tiles { 64 / size } else { 16 };
        let terms = parts(sizes.run, step) * step * sizes.around;
        let (row_tiles, column_tiles) = (parts(sizes.rows, m), parts(sizes.columns, n));
        let most = (COLUMNS / (terms * size * n).max(1)).max(1);
        let column_blocks = parts(column_tiles, most);
        let wide = parts(column_tiles, column_blocks) * n;
        let products = row_tiles * m * column_tiles * n * terms;
        let wanted = (products.saturating_mul(sizes.others) / PRODUCTS).clamp(1, TASKS);
        let row_blocks = parts(wanted, sizes.others * column_blocks).min(row_tiles);
        let high = parts(row_tiles, row_blocks) * m;
        let blocks = sizes.others * parts(sizes.columns, wide) * parts(sizes.rows, high);
        let of_block = (high * wide).saturating_mul(terms).max(1);
        let each = (1..=(PRODUCTS / of_block).clamp(1, blocks)).rev().find(|each| blocks % each == 0);
        let tiles = UnitTiles {
            loops: [loops.rows.join(","), loops.column.clone(), loops.term.clone()],
            tile,
            unit,
            task: [high, wide],
            each: each.unwrap_or(1),
        };
        let others = sizes.others as f64;
        let packed = |by_terms: bool, turned: bool| if by_terms == turned { TURNED } else { PACKED };
        let of_rows = (sizes.rows * terms * column_blocks) as f64 * packed(factors.by_terms[0], false);
        let of_columns = (sizes.columns * terms * row_blocks) as f64 * packed(factors.by_terms[1], true);
        let stored = (sizes.rows * sizes.columns) as f64 * STORED;
        let cost = products as f64 / self.rate(unit, tile, size) + of_rows + of_columns + stored;
        (tiles, others * cost)
    }
}
