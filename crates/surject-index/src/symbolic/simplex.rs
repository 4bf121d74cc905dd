//! Whether linear inequalities over the rationals have a solution, exactly.
//!
//! The general simplex of Dutertre and de Moura (2006) with Bland's rule, which makes it terminate. Rows are integer
//! vectors; what does not fit in `i128` ends the search without an answer.

/// `constant + Σ coefficients[j]·y_j ≥ 0`
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) constant: i128,
    pub(super) coefficients: Vec<i128>,
}

/// `scale·(basic variable) = constant + Σ coefficients[j]·(j-th variable outside the basis)`, `scale > 0`
struct Basic {
    scale: i128,
    constant: i128,
    coefficients: Vec<i128>,
    variable: usize,
}

impl Basic {
    /// Divides by the common divisor.
    fn reduce(&mut self) {
        let mut g = self.scale.unsigned_abs();
        for c in self.coefficients.iter().chain([&self.constant]) {
            if g == 1 {
                return;
            }
            let (mut a, mut b) = (g, c.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            g = a;
        }
        let Ok(g) = i128::try_from(g) else { return };
        self.scale /= g;
        self.constant /= g;
        self.coefficients.iter_mut().for_each(|c| *c /= g);
    }
}

/// Is it certain that no rational point with `y_j ≥ 0` (where `j` is not free) satisfies all rows?
pub(super) fn infeasible(rows: &[Row], free: &[bool], max_pivots: usize) -> bool {
    let columns = free.len();
    // The variables are the y_j, then one slack for each row. At first the y_j are outside the basis, all zero.
    let mut outside: Vec<usize> = (0..columns).collect();
    let mut basis: Vec<Basic> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| Basic {
            scale: 1,
            constant: row.constant,
            coefficients: row.coefficients.clone(),
            variable: columns + i,
        })
        .collect();
    let is_free = |variable: usize| variable < columns && free[variable];
    for _ in 0..max_pivots {
        let violated = (0..basis.len())
            .filter(|&i| basis[i].constant < 0 && !is_free(basis[i].variable))
            .min_by_key(|&i| basis[i].variable);
        let Some(i) = violated else { return false };
        let entering = (0..columns)
            .filter(|&j| {
                let c = basis[i].coefficients[j];
                c > 0 || c < 0 && is_free(outside[j])
            })
            .min_by_key(|&j| outside[j]);
        let Some(j) = entering else { return true };
        if pivot(&mut basis, i, j).is_none() {
            return false;
        }
        std::mem::swap(&mut basis[i].variable, &mut outside[j]);
    }
    false
}

/// The basic variable of row `i` changes places with the `j`-th one outside. `None` if a number does not fit.
fn pivot(basis: &mut [Basic], i: usize, j: usize) -> Option<()> {
    // scale·b = constant + a·x + rest, so |a|·x = ±(scale·b - constant - rest).
    let row = &mut basis[i];
    let a = row.coefficients[j];
    let sign = a.signum();
    let scale = a.checked_abs()?;
    row.constant = row.constant.checked_mul(-sign)?;
    for c in &mut row.coefficients {
        *c = c.checked_mul(-sign)?;
    }
    row.coefficients[j] = row.scale.checked_mul(sign)?;
    row.scale = scale;
    row.reduce();
    let (before, rest) = basis.split_at_mut(i);
    let (row, after) = rest.split_first_mut()?;
    for other in before.iter_mut().chain(after) {
        let c = std::mem::replace(&mut other.coefficients[j], 0);
        if c == 0 {
            continue;
        }
        // scale(other)·v = … + c·x with scale(row)·x = row: multiply by scale(row).
        let join = |o: i128, r: i128| o.checked_mul(row.scale)?.checked_add(c.checked_mul(r)?);
        other.scale = other.scale.checked_mul(row.scale)?;
        other.constant = join(other.constant, row.constant)?;
        for (o, r) in other.coefficients.iter_mut().zip(&row.coefficients) {
            *o = join(*o, *r)?;
        }
        other.reduce();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(constant: i128, coefficients: &[i128]) -> Row {
        Row { constant, coefficients: coefficients.to_vec() }
    }

    #[test]
    fn contradictions_are_found() {
        let bound = [false; 2];
        // x + y ≤ 1, x ≥ 1, y ≥ 1
        assert!(infeasible(&[row(1, &[-1, -1]), row(-1, &[1, 0]), row(-1, &[0, 1])], &bound, 50));
        // x + y ≤ 2 instead
        assert!(!infeasible(&[row(2, &[-1, -1]), row(-1, &[1, 0]), row(-1, &[0, 1])], &bound, 50));
        // x ≤ -1, x free or not
        assert!(infeasible(&[row(-1, &[-1])], &[false], 50));
        assert!(!infeasible(&[row(-1, &[-1])], &[true], 50));
    }

    #[test]
    fn small_systems_agree_with_a_grid() {
        // A solution on the grid of quarters refutes; random small systems must never be called infeasible then.
        let mut state = 7u64;
        let mut next = |n: i128| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            i128::from(state >> 33) % (2 * n + 1) - n
        };
        let (mut infeasible_ones, mut solved) = (0, 0);
        for _ in 0..400 {
            let rows: Vec<Row> = (0..4).map(|_| row(next(3), &[next(2), next(2)])).collect();
            let free = [next(1) > 0, false];
            let low = if free[0] { -24 } else { 0 };
            let satisfied = (low..24).any(|x| {
                (0..24).any(|y| {
                    let value = |r: &Row| 4 * r.constant + r.coefficients[0] * x + r.coefficients[1] * y;
                    rows.iter().all(|r| value(r) >= 0)
                })
            });
            let answer = infeasible(&rows, &free, 200);
            assert!(!(satisfied && answer), "{rows:?} {free:?}");
            infeasible_ones += usize::from(answer);
            solved += usize::from(satisfied);
        }
        assert!(infeasible_ones > 50 && solved + infeasible_ones > 380, "{infeasible_ones} {solved}");
    }
}
