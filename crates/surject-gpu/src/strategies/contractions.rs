//! Sums of products by tiles.

use super::{WIDEST, proposal};
use crate::Gpu;
use crate::model::contraction;
use surject_codegen::kernels::contraction::{Feed, GROUP_TERMS, Share, SubTile, Tiles};
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::Directive;

/// Rows, columns and terms from which on there are tiles.
const TILED: i64 = 8;

/// The columns of a narrow tile.
const NARROW: i64 = 16;
/// Warps of a block, rows of a thread, columns of the tile, and threads of a warp along the columns.
const GRIDS: [(i64, i64, i64, i64); 13] = [
    (4, 8, 128, 8),
    (2, 16, 64, 8),
    (2, 8, 64, 8),
    (4, 8, 64, 8),
    (8, 8, 64, 8),
    (4, 4, 64, 8),
    (4, 4, 32, 8),
    (2, 4, 32, 8),
    (4, 2, 32, 8),
    (4, 8, 16, 4),
    (2, 8, 16, 4),
    (2, 2, 16, 4),
    (4, 4, 16, 4),
];

/// Warps of a block down and across, and rows and columns of a warp: squares of them read least of shared memory.
const PATCHES: [([i64; 2], [i64; 2]); 7] = [
    ([4, 2], [64, 64]),
    ([2, 4], [64, 64]),
    ([2, 2], [64, 64]),
    ([4, 2], [32, 64]),
    ([2, 2], [64, 32]),
    ([2, 4], [32, 32]),
    ([2, 2], [32, 32]),
];

/// Tiles of sums of products, in shared memory, summed by threads in registers or by matrix units.
pub struct Contractions {
    pub gpu: Gpu,
    pub by: By,
}

/// Who sums a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Threads, in registers.
    Threads,
    /// The matrix units of a warp.
    Units,
    /// Those of four warps together.
    Groups,
}

impl Strategy for Contractions {
    fn name(&self) -> &'static str {
        match self.by {
            By::Threads => "tiles",
            By::Units => "matrix units",
            By::Groups => "warpgroups",
        }
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let product = match self.by {
            By::Threads => expression.pairs().or_else(|| expression.product()),
            By::Units | By::Groups => expression.product(),
        };
        let product = product.ok_or("the expression is no sum of products")?;
        let factors = expression.matrix_units();
        if self.by == By::Groups && self.gpu.group_products == 0.0 {
            return Err("the machine has no products by four warps".into());
        }
        if self.by != By::Threads && factors.is_none() {
            return Err("its factors are not of one type that matrix units multiply".into());
        }
        let longest = |names: &[String]| {
            let loops = names.iter().filter_map(|name| expression.find(name));
            loops.max_by_key(|l| l.extent).filter(|l| l.extent >= TILED)
        };
        let missing = |what: &str| format!("fewer than {TILED} {what}");
        let rows = longest(&product.rows).ok_or_else(|| missing("rows"))?;
        let columns = longest(&product.columns).ok_or_else(|| missing("columns"))?;
        let terms = longest(&product.terms).ok_or_else(|| missing("terms"))?;
        // The loops over rows as one, where the longest alone would not fill its tiles: pixels of an image.
        let mut groups = vec![rows.name.clone()];
        let several = product.rows.iter().filter(|name| expression.find(name).is_some_and(|l| l.extent > 1));
        let several: Vec<String> = several.cloned().collect();
        if several.len() > 1 {
            groups.push(several.join(","));
        }
        let by_terms = expression.right_lies_by_terms(&terms.name, &columns.name);
        let shares = self.shares(expression, by_terms, columns.extent, terms.extent);
        let all = groups.iter().flat_map(|rows| shares.iter().map(move |share| (rows, share)));
        let proposals = all.filter_map(|(rows, &(tile, share))| {
            let loops = [rows.clone(), columns.name.clone(), terms.name.clone()];
            let tiles = Tiles { loops, tile, share, masked: false };
            if contraction::shared_bytes(expression, &tiles) > self.gpu.shared as f64 {
                return None;
            }
            let found = proposal(&self.gpu, expression, vec![Directive::Contract(tiles)]);
            found.schedule.check(expression).is_ok().then_some(found)
        });
        let best = proposals.min_by(|a, b| a.cost.total_cmp(&b.cost));
        let best = best.ok_or("no tile fits the expression")?;
        if self.by == By::Groups && !self.gpu.group_products_confirmed {
            let asked = best.schedule.to_string();
            return Err(format!(
                "no GPU has confirmed them yet; a schedule may ask for them: {}",
                asked.trim()
            ));
        }
        Ok(best)
    }
}

impl Contractions {
    /// Tiles, and who sums what of them; the first of those that take the same time is the best.
    fn shares(
        &self,
        expression: &Expression,
        by_terms: bool,
        width: i64,
        terms: i64,
    ) -> Vec<([i64; 3], Share)> {
        let mut all = Vec::new();
        if self.by == By::Groups {
            let tiles = [(128, 256), (256, 128), (192, 256), (128, 128), (64, 256), (64, 128), (64, 64)];
            // What no device has confirmed is only said.
            let only_threads = self.gpu.group_products_confirmed && !self.gpu.boxes_confirmed;
            let feeds = if only_threads { &[Feed::Threads][..] } else { &[Feed::Boxes, Feed::Threads] };
            let of = |feed: &Feed| tiles.map(|(m, n)| ([m, n, GROUP_TERMS], Share::Group(*feed)));
            return feeds.iter().flat_map(of).collect();
        }
        if self.by == By::Units {
            return units(expression.matrix_units().map_or(2, |dtype| dtype.size()), terms);
        }
        let widest = (WIDEST / expression.element_bytes() as i64).clamp(1, 4);
        for (warps, rows, lanes) in
            [(8, 16, 4), (4, 16, 4), (8, 8, 4), (4, 8, 4), (8, 8, 2), (4, 8, 2), (4, 8, 1)]
        {
            if lanes > widest {
                continue;
            }
            // Where the terms of a column lie next to each other, a thread has its columns one by one.
            let own = if by_terms { 1 } else { lanes };
            for depth in [16, 32] {
                all.push(([warps * rows, 32 * lanes, depth], Share::Thread(SubTile { rows, columns: own })));
            }
        }
        // Threads of a warp along the rows too: eight by four of them read least of shared memory for their products, and
        // fewer along the columns waste nothing where there are few columns. Of many a narrow tile brings the rows too often.
        let fit = GRIDS.into_iter().filter(|grid| grid.2 > NARROW || width <= NARROW);
        for (warps, rows, columns, across) in fit {
            let lanes = if by_terms { 1 } else { widest };
            for depth in [16, 32] {
                let share = Share::Grid { own: SubTile { rows, columns: lanes }, across };
                all.push(([warps * rows * 32 / across, columns, depth], share));
            }
        }
        // Twice as many columns: the fastest that was measured for large products of f32 (2048: 384 for 399 us).
        if widest == 4 {
            all.push((
                [128, 256, 32],
                Share::Thread(SubTile { rows: 16, columns: if by_terms { 1 } else { 4 } }),
            ));
        }
        all
    }
}

/// Tiles of matrix units, whose factors have so many bytes: bands of a tile, and patches.
fn units(bytes: usize, terms: i64) -> Vec<([i64; 3], Share)> {
    let depth = match bytes {
        8 => 16,
        4 => 32,
        _ if terms % 64 == 0 => 64,
        _ => 32,
    };
    // Sums of f64 are two registers each.
    let fits = |rows: i64, columns: i64| bytes != 8 || rows * columns <= 2048;
    let bands = [(8, 32, 128), (4, 32, 128), (8, 32, 64), (4, 32, 64), (4, 16, 64), (2, 16, 64), (2, 16, 32)];
    let bands = bands.into_iter().filter(|&(_, rows, columns)| fits(rows, columns));
    let mut all: Vec<([i64; 3], Share)> =
        bands.map(|(warps, rows, columns)| ([warps * rows, columns, depth], Share::Warp(rows))).collect();
    // Half as many terms leave room for another block, and twice as many bytes have half as many turns.
    let mut depths = vec![depth];
    depths.extend((depth == 64).then_some(32));
    depths.extend((bytes == 1 && terms % 128 == 0).then_some(128));
    for ([down, across], [rows, columns]) in PATCHES {
        if fits(rows, columns) {
            let tile = |&depth: &i64| {
                ([down * rows, across * columns, depth], Share::Warps(SubTile { rows, columns }))
            };
            all.extend(depths.iter().map(tile));
        }
    }
    all
}
