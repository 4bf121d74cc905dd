//! Whether tiles fit an expression, and why they do not.

use super::{
    Bring, Contraction, Feed, GROUP, GROUP_ROWS, GROUP_TERMS, KEPT_REGISTERS, LANE_REGISTERS, Parts, Product,
    Share, SubTile, Tiles, WARP, boxes,
};
use crate::expression::address::LoopId;
use crate::expression::dag::Node;
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use surject_ir::DType;

/// Checks tiles against an expression; an error says what does not fit.
pub(crate) fn fit(expression: &Expression, tiles: &Tiles) -> Result<Contraction, Fault> {
    let by_threads = tiles.is_by_threads();
    let parts = expression.sides().filter(|p| by_threads || p.term.is_none()).or_else(|| expression.parts());
    let parts = parts.ok_or("the expression is no sum of products over independent points")?;
    let product = expression.product_of(&parts).ok_or("the expression is no sum of products")?;
    check_loops(tiles, &product)?;
    let [m, n, k] = tiles.tile;
    let own = own_size(tiles)?;
    let parts = match tiles.share {
        Share::Thread(_) | Share::Grid { .. } => parts,
        Share::Warp(_) | Share::Group(_) => fit_units(expression, &parts, [own.rows, n, k])?,
        Share::Warps(SubTile { rows: _, columns }) => {
            let across = n.checked_div(columns).unwrap_or(0);
            if columns % 16 != 0 || across * columns != n || !(across as u64).is_power_of_two() {
                return Err(format!(
                    "{n} columns are not those of 1, 2, 4, 8 or 16 warps with {columns} each, a multiple of 16"
                ).into());
            }
            fit_units(expression, &parts, [own.rows, columns, k])?
        }
    };
    let id = |name: &str| expression.called(name).map_err(|message| Fault::of(name, message));
    let of_rows = tiles.rows().map(id).collect::<Result<Vec<LoopId>, Fault>>()?;
    let fastest = *of_rows.last().ok_or("a tile has rows")?;
    let loops = [fastest, id(&tiles.loops[1])?, id(&tiles.loops[2])?];
    let one_by_one = of_rows.len() > 1;
    // The first tile is brought before any loop begins.
    let has_terms = |l: &LoopId| expression.dag.extent(*l) > 0;
    if !matches!(&expression.dag[parts.sum].node, Node::Reduce { loops, .. } if loops.iter().all(has_terms)) {
        return Err("the sum has no terms".into());
    }
    // What is computed of two terms that do not exist is not always zero.
    if parts.term.is_some() && (tiles.masked || expression.dag.extent(loops[2]) % k != 0) {
        return Err(
            format!("terms that are no products fill tiles of {k}, and no mask leaves them out").into()
        );
    }
    // Neighbours among rows of several loops are no neighbours in memory where a loop ends.
    let bring = |value, own, size, one_by_one| {
        if tiles.share == Share::Group(Feed::Boxes) {
            return Ok(Bring::boxes(expression.lies_by_terms(value, own, loops[2])));
        }
        expression.bring(value, (own, size), (loops[2], k), tiles.warps(), one_by_one)
    };
    let bring = [bring(parts.left, loops[0], m, one_by_one)?, bring(parts.right, loops[1], n, false)?];
    if bring[1].by_terms && tiles.is_by_threads() && own.columns != 1 {
        let what = "the terms of a column lie next to each other, and its columns do not";
        return Err(format!("{what}: a thread has one column at once, not {}", own.columns).into());
    }
    let condition = match tiles.masked {
        true => Some(expression.condition().ok_or("no mask throws sums away")?),
        false => None,
    };
    let found = Contraction { parts, loops, rows: of_rows, tiles: tiles.clone(), bring, condition };
    if let Share::Group(feed) = tiles.share {
        fit_group(expression, &found, feed)?;
    }
    Ok(found)
}

/// Checks that the agents of a tile divide it evenly: the rows of a warp, and the columns of a thread.
fn own_size(tiles: &Tiles) -> Result<SubTile, Fault> {
    let [m, n, k] = tiles.tile;
    // Rows of a warp or a thread, columns of a thread, and threads along the columns.
    let (rows, columns, across) = match tiles.share {
        Share::Thread(SubTile { rows, columns }) => (rows, columns, WARP),
        Share::Grid { own: SubTile { rows, columns }, across } => (rows, columns, across),
        Share::Warp(rows) => (rows, 1, WARP),
        Share::Warps(SubTile { rows, columns: _ }) => (rows, 1, WARP),
        Share::Group(_) => (GROUP_ROWS, 1, WARP),
    };
    let of_one = tiles.of_warp().columns;
    if [m, n, k, rows, columns, of_one, across].iter().any(|&x| x < 1) {
        return Err("a tile has rows, columns and terms".into());
    }
    if !(4..=WARP).contains(&across) || WARP % across != 0 {
        return Err(
            format!("4, 8, 16 or {WARP} threads of a warp stand along the columns, not {across}").into()
        );
    }
    let rows = rows.saturating_mul(WARP / across);
    if m % rows != 0 || !(1..=WARP).contains(&tiles.warps()) {
        return Err(format!("{m} rows are not those of 1 to {WARP} warps with {rows} each").into());
    }
    let of_warp = across.saturating_mul(columns);
    if n % of_warp != 0 || m % WARP != 0 || k % 4 != 0 {
        return Err(format!(
            "a tile of {m} by {n} by {k}: the columns are multiples of {of_warp}, the rows of {WARP}, the terms of 4"
        ).into());
    }
    Ok(SubTile { rows, columns })
}

/// Checks that the loops of tiles are those of their rows, columns and terms.
fn check_loops(tiles: &Tiles, product: &Product) -> Result<(), Fault> {
    let rows: Vec<&str> = tiles.rows().collect();
    check_names(&rows, [&tiles.loops[1], &tiles.loops[2]], product)
}

/// The same of the names of loops over rows, and of those over columns and terms.
pub(super) fn check_names(rows: &[&str], [column, term]: [&str; 2], product: &Product) -> Result<(), Fault> {
    let of_rows = rows.iter().map(|&name| (name, &product.rows, "only the left value depends on"));
    let others = [
        (column, &product.columns, "only the right value depends on"),
        (term, &product.terms, "the sum runs over"),
    ];
    for (i, (name, all, what)) in of_rows.chain(others).enumerate() {
        if !all.iter().any(|one| one == name) {
            return Err(Fault::of(
                name,
                format!("`{name}` is no loop that {what}; there are {}", all.join(", ")),
            ));
        }
        if rows.iter().take(i).any(|&other| other == name) {
            return Err(Fault::of(name, format!("the rows are those of `{name}` twice")));
        }
    }
    Ok(())
}

/// The parts of a sum whose factors matrix units multiply, for so many rows of a warp, columns and terms.
fn fit_units(expression: &Expression, parts: &Parts, [rows, n, k]: [i64; 3]) -> Result<Parts, Fault> {
    let units = expression.parts_of_units(parts);
    let units = units.map_err(|dtype| {
        format!(
            "matrix units multiply f16, bf16, f64, f32 that is rounded to tf32, or 8-bit integers summed in i32, of \
             one type, not {dtype}"
        )
    })?;
    let least = if expression.dag[units.left].dtype.size() == 1 { 32 } else { 16 };
    if rows % 16 != 0 || n > 8 * WARP || k % least != 0 {
        return Err(format!(
            "the rows of a warp are a multiple of 16 and the terms of {least}, not {rows} and {k}, and the columns at \
             most 256"
        ).into());
    }
    Ok(units)
}

/// Checks what four warps sum together: 16-bit floats that are copied as they are, in lines of 64.
fn fit_group(expression: &Expression, c: &Contraction, feed: Feed) -> Result<(), Fault> {
    let dtype = expression.dag[c.parts.left].dtype;
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return Err(format!("four warps together multiply f16 or bf16, not {dtype}").into());
    }
    let [m, n, k] = c.tiles.tile;
    if m % (GROUP * GROUP_ROWS) != 0 || n % GROUP_TERMS != 0 || k != GROUP_TERMS {
        return Err(format!(
            "four warps together sum 64 rows, columns by 64 and 64 terms, not {m} by {n} by {k}"
        )
        .into());
    }
    let beside = c.tiles.warps_beside();
    let kept = if beside == GROUP {
        KEPT_REGISTERS
    } else {
        beside * LANE_REGISTERS / (c.tiles.warps() / GROUP + 1)
    };
    if c.tiles.group_registers() > (LANE_REGISTERS - kept) / (c.tiles.warps() / GROUP) / 8 * 8 {
        return Err(format!("tiles of {m} by {n}, whose sums are more than a block has registers for").into());
    }
    let by_lines = |(bring, size): (&Bring, i64)| bring.by_terms || (size as u64).is_power_of_two();
    if !c.bring.iter().zip([m, n]).all(by_lines) {
        return Err("lines of rows or columns that are not a power of two".into());
    }
    if feed == Feed::Boxes && !c.tiles.masked {
        let map = |number| boxes::side_map(expression, c, number).map(drop).map_err(Fault::from);
        return [0, 1].into_iter().try_for_each(map);
    }
    if !expression.copies(c) || c.tiles.masked {
        return Err("four warps together sum what is copied as it is, in whole tiles".into());
    }
    Ok(())
}
