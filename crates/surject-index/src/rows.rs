//! Integer row operations: equations `lhs · p = rhs(d)` between the axes of a domain and positions.
//!
//! A map is a system of such equations, one per component. Unimodular row operations keep its solutions, so
//! they read off inverses (`inverse.rs`) and factorisations (DESIGN.md section 2, laws *collapse* and
//! *push-pull*). Every operation is checked; an overflow is `None`.

use crate::Affine;

/// One equation.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Coefficients over the unknowns.
    pub lhs: Vec<i64>,
    /// The value, as an affine expression over the knowns.
    pub rhs: Affine,
}

impl Row {
    /// Subtracts `factor` times another row.
    pub(crate) fn reduce(&mut self, other: &Row, factor: i64) -> Option<()> {
        let factor = factor.checked_neg()?;
        for (a, &b) in self.lhs.iter_mut().zip(&other.lhs) {
            *a = a.checked_add(b.checked_mul(factor)?)?;
        }
        self.rhs = self.rhs.add_scaled(&other.rhs, factor)?;
        Some(())
    }

    /// Multiplies by -1.
    fn negate(&mut self) -> Option<()> {
        for a in &mut self.lhs {
            *a = a.checked_neg()?;
        }
        self.rhs = Affine::fixed(self.rhs.rank(), 0).add_scaled(&self.rhs, -1)?;
        Some(())
    }
}

/// Makes column `column` zero in all rows from `from` on but one (Euclid's algorithm), which moves to position
/// `from` with a positive entry. `Some(false)` when the column is zero already.
fn clear_column(rows: &mut [Row], from: usize, column: usize) -> Option<bool> {
    loop {
        let used = |r: &&usize| rows[**r].lhs[column] != 0;
        let indices: Vec<usize> = (from..rows.len()).collect();
        let Some(&pivot) = indices.iter().filter(used).min_by_key(|&&r| rows[r].lhs[column].unsigned_abs())
        else {
            return Some(false);
        };
        rows.swap(from, pivot);
        if rows[from].lhs[column] < 0 {
            rows[from].negate()?;
        }
        let (head, tail) = rows.split_at_mut(from + 1);
        let pivot = &head[from];
        let mut clean = true;
        for row in tail {
            let factor = row.lhs[column].div_euclid(pivot.lhs[column]);
            if factor != 0 {
                row.reduce(pivot, factor)?;
            }
            clean &= row.lhs[column] == 0;
        }
        if clean {
            return Some(true);
        }
    }
}

/// Brings rows into echelon form by unimodular operations. The result lists the pivots `(row, column)`, rows in
/// order, columns in ascending order; the rows after the last pivot are zero on the left.
pub(crate) fn echelon(rows: &mut [Row]) -> Option<Vec<(usize, usize)>> {
    let columns = rows.first().map_or(0, |r| r.lhs.len());
    let mut pivots = Vec::new();
    for column in 0..columns {
        if pivots.len() == rows.len() {
            break;
        }
        if clear_column(rows, pivots.len(), column)? {
            pivots.push((pivots.len(), column));
        }
    }
    Some(pivots)
}

/// Solves for every unknown over the integers: afterwards row `j` reads `p_j = rhs`, for every column `j`, and
/// the remaining rows read `0 = rhs`. `None` when some unknown is not an integer combination of the rows.
/// Rows with few unknowns are preferred, so that what is a plain axis stays one.
pub(crate) fn solve(rows: &mut [Row]) -> Option<()> {
    let columns = rows.first().map_or(0, |r| r.lhs.len());
    // The row that each column is solved by, while it is found.
    let mut solved: Vec<usize> = Vec::new();
    while solved.len() < columns {
        let from = solved.len();
        let weight = |r: &Row| r.lhs.iter().filter(|&&c| c != 0).count();
        let unit = (from..rows.len())
            .flat_map(|r| (0..columns).map(move |c| (r, c)))
            .filter(|&(r, c)| rows[r].lhs[c].unsigned_abs() == 1 && !solved.contains(&c))
            .min_by_key(|&(r, _)| weight(&rows[r]));
        let column = match unit {
            Some((row, column)) => {
                rows.swap(from, row);
                if rows[from].lhs[column] < 0 {
                    rows[from].negate()?;
                }
                column
            }
            None => {
                let column = (0..columns).find(|c| !solved.contains(c))?;
                if !clear_column(rows, from, column)? || rows[from].lhs[column] != 1 {
                    return None;
                }
                column
            }
        };
        let pivot = rows[from].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            if r != from && row.lhs[column] != 0 {
                row.reduce(&pivot, row.lhs[column])?;
            }
        }
        solved.push(column);
    }
    let mut result = Vec::with_capacity(rows.len());
    for column in 0..columns {
        let row = solved.iter().position(|&c| c == column)?;
        result.push(rows[row].clone());
    }
    result.extend(rows[columns.min(rows.len())..].iter().cloned());
    rows.clone_from_slice(&result);
    Some(())
}
