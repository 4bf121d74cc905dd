//! Collisions of a linear map over a box: nonzero integer vectors `d` of its kernel with `|d_j| < n_j`.
//!
//! `reference/egraph.md` section 7. Digit split first, which decides mixed radix without any search; then an
//! integer kernel basis in echelon form and a bounded enumeration of its combinations, with a step budget.

use crate::map::gcd;

/// The steps of one enumeration before it gives up.
const BUDGET: u32 = 200_000;

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// There is no collision.
    None,
    /// This difference of two points collides.
    Found(Vec<i64>),
    /// The budget is spent, a number overflowed, or an unbounded axis is in the way.
    GaveUp,
}

/// Looks for `d ≠ 0` with `rows · d = 0` and `|d_j| ≤ reach_j`; a reach of `None` is unbounded.
pub(crate) fn collision(rows: Vec<Vec<i64>>, reach: &[Option<i64>]) -> Search {
    let rank = reach.len();
    // Axes that may differ. The others have d = 0.
    let mut open: Vec<bool> = reach.iter().map(|r| *r != Some(0)).collect();
    let rows = reduce(rows, reach, &mut open);
    let mut result = Search::None;
    let mut seen = vec![false; rank];
    for start in 0..rank {
        if !open[start] || seen[start] {
            continue;
        }
        // The axes connected with this one.
        seen[start] = true;
        let mut group = vec![start];
        let mut next = 0;
        while next < group.len() {
            let axis = group[next];
            next += 1;
            for row in rows.iter().filter(|r| r[axis] != 0) {
                for other in 0..rank {
                    if row[other] != 0 && !seen[other] {
                        seen[other] = true;
                        group.push(other);
                    }
                }
            }
        }
        let found = if rows.iter().all(|r| r[start] == 0) {
            Search::Found(vec![1])
        } else {
            search_group(&rows, &mut group, reach)
        };
        match found {
            Search::None => {}
            Search::GaveUp => result = Search::GaveUp,
            Search::Found(part) => {
                let mut d = vec![0; rank];
                for (axis, value) in group.into_iter().zip(part) {
                    d[axis] = value;
                }
                return Search::Found(d);
            }
        }
    }
    result
}

/// Digit split and elimination of axes that a row of their own keeps at 0, to a fixpoint.
fn reduce(rows: Vec<Vec<i64>>, reach: &[Option<i64>], open: &mut [bool]) -> Vec<Vec<i64>> {
    let mut todo = rows;
    let mut done: Vec<Vec<i64>> = Vec::with_capacity(todo.len());
    let mut scratch = Vec::new();
    while let Some(mut row) = todo.pop() {
        let (mut used, mut last) = (0, 0);
        for (axis, c) in row.iter_mut().enumerate() {
            if !open[axis] {
                *c = 0;
            } else if *c != 0 {
                (used, last) = (used + 1, axis);
            }
        }
        match used {
            0 => {}
            1 => {
                open[last] = false;
                // Rows that use this axis must be looked at again.
                todo.extend(done.extract_if(.., |r| r[last] != 0));
            }
            _ => match split(&row, reach, &mut scratch) {
                Some((high, low)) => {
                    todo.push(high);
                    todo.push(low);
                }
                None => done.push(row),
            },
        }
    }
    done
}

/// `g·X + Y = 0` with `|Y| < g` over the differences: `X = 0` and `Y = 0`.
fn split(row: &[i64], reach: &[Option<i64>], divisors: &mut Vec<u64>) -> Option<(Vec<i64>, Vec<i64>)> {
    divisors.clear();
    divisors.extend(row.iter().map(|c| c.unsigned_abs()).filter(|&c| c > 1));
    divisors.sort_unstable_by(|a, b| b.cmp(a));
    divisors.dedup();
    let mut common = 0;
    for &divisor in divisors.iter() {
        common = gcd(common, divisor);
        for g in [divisor, common] {
            if g < 2 {
                continue;
            }
            let mut rest: u128 = 0;
            let mut terms = 0;
            for (&c, reach) in row.iter().zip(reach) {
                let c = c.unsigned_abs();
                if c % g != 0 {
                    terms += 1;
                    let Some(reach) = *reach else {
                        rest = u128::MAX;
                        break;
                    };
                    rest = rest.saturating_add(u128::from(c) * u128::from(reach.unsigned_abs()));
                }
            }
            if terms > 0 && rest < u128::from(g) {
                let part = |high: bool| {
                    row.iter().map(|&c| if (c.unsigned_abs() % g == 0) == high { c } else { 0 }).collect()
                };
                return Some((part(true), part(false)));
            }
        }
    }
    None
}

/// Enumerates the kernel of the rows on a group of axes, which it sorts. The difference found is in the order of
/// the group.
fn search_group(rows: &[Vec<i64>], group: &mut [usize], reach: &[Option<i64>]) -> Search {
    group.sort_by_key(|&a| reach[a].unwrap_or(i64::MAX));
    let system: Vec<&Vec<i64>> = rows.iter().filter(|r| group.iter().any(|&a| r[a] != 0)).collect();
    let Some(basis) = kernel(&system, group) else { return Search::GaveUp };
    if basis.is_empty() {
        return Search::None;
    }
    let Some(reach) = group.iter().map(|&a| reach[a].map(i128::from)).collect::<Option<Vec<_>>>() else {
        return Search::GaveUp;
    };
    let leading: Vec<usize> = basis.iter().filter_map(|b| b.iter().position(|&x| x != 0)).collect();
    let mut enumeration = Enumeration { basis: &basis, leading: &leading, reach: &reach, budget: BUDGET };
    match enumeration.extend(0, &vec![0; group.len()], true) {
        Some(Some(d)) => match d.into_iter().map(|x| i64::try_from(x).ok()).collect() {
            Some(d) => Search::Found(d),
            None => Search::GaveUp,
        },
        Some(None) => Search::None,
        None => Search::GaveUp,
    }
}

/// A basis of the integer kernel, in echelon form with positive leading entries. `None` on overflow.
fn kernel(rows: &[&Vec<i64>], group: &[usize]) -> Option<Vec<Vec<i128>>> {
    let (n, m) = (group.len(), rows.len());
    // One line per axis: its column of the rows, then the unit vector that it is made of.
    let mut lines: Vec<Vec<i128>> = group
        .iter()
        .enumerate()
        .map(|(index, &axis)| {
            let mut line: Vec<i128> = rows.iter().map(|r| i128::from(r[axis])).collect();
            line.resize(m + n, 0);
            line[m + index] = 1;
            line
        })
        .collect();
    let from = eliminate(&mut lines, 0, 0..m)?;
    let mut basis: Vec<Vec<i128>> = lines.drain(from..).map(|l| l[m..].to_vec()).collect();
    eliminate(&mut basis, 0, 0..n)?;
    Some(basis)
}

/// Gcd elimination on some columns from a line on; returns the number of lines used as pivots, plus `from`.
fn eliminate(lines: &mut [Vec<i128>], mut from: usize, columns: std::ops::Range<usize>) -> Option<usize> {
    for column in columns {
        loop {
            let smallest = (from..lines.len())
                .filter(|&l| lines[l][column] != 0)
                .min_by_key(|&l| lines[l][column].unsigned_abs());
            let Some(smallest) = smallest else { break };
            lines.swap(from, smallest);
            let (head, tail) = lines.split_at_mut(from + 1);
            let pivot = &mut head[from];
            if pivot[column] < 0 {
                for x in pivot.iter_mut() {
                    *x = x.checked_neg()?;
                }
            }
            let mut clean = true;
            for line in tail {
                let factor = line[column].div_euclid(pivot[column]);
                if factor != 0 {
                    for (x, &y) in line.iter_mut().zip(pivot.iter()) {
                        *x = x.checked_sub(y.checked_mul(factor)?)?;
                    }
                }
                clean &= line[column] == 0;
            }
            if clean {
                from += 1;
                break;
            }
        }
    }
    Some(from)
}

/// The combinations `Σ t_i · basis_i` inside the box, by their multipliers in order.
struct Enumeration<'a> {
    basis: &'a [Vec<i128>],
    leading: &'a [usize],
    reach: &'a [i128],
    budget: u32,
}

impl Enumeration<'_> {
    /// Adds multiples of the vectors from `index` on; `zero` while all multipliers are zero. The outer `None`
    /// says that the budget is spent.
    fn extend(&mut self, index: usize, sum: &[i128], zero: bool) -> Option<Option<Vec<i128>>> {
        let last = index + 1 == self.basis.len();
        let vector = &self.basis[index];
        let end = if last { self.reach.len() } else { self.leading[index + 1] };
        // Positions from the leading one of this vector up to that of the next are final after it.
        let (mut low, mut high) = (if zero { 0 } else { i128::MIN }, i128::MAX);
        for position in self.leading[index]..end {
            let (v, s, r) = (vector[position], sum[position], self.reach[position]);
            if v == 0 {
                if s.unsigned_abs() > r.unsigned_abs() {
                    return Some(None);
                }
                continue;
            }
            let (a, b) = (r.checked_neg()?.checked_sub(s)?, r.checked_sub(s)?);
            // a ≤ v·t ≤ b
            let (a, b, v) =
                if v < 0 { (b.checked_neg()?, a.checked_neg()?, v.checked_neg()?) } else { (a, b, v) };
            low = low.max(-(a.checked_neg()?.div_euclid(v)));
            high = high.min(b.div_euclid(v));
        }
        if low > high {
            return Some(None);
        }
        if last {
            self.budget = self.budget.checked_sub(1)?;
            // Any multiplier will do, but not zero if all are.
            let t = if !zero {
                low.max(0).min(high)
            } else if high >= 1 {
                low.max(1)
            } else {
                return Some(None);
            };
            return combine(sum, vector, t).map(Some);
        }
        let mut t = low;
        while t <= high {
            self.budget = self.budget.checked_sub(1)?;
            let next = combine(sum, vector, t)?;
            if let Some(found) = self.extend(index + 1, &next, zero && t == 0)? {
                return Some(Some(found));
            }
            t += 1;
        }
        Some(None)
    }
}

fn combine(sum: &[i128], vector: &[i128], t: i128) -> Option<Vec<i128>> {
    sum.iter().zip(vector).map(|(&s, &v)| s.checked_add(v.checked_mul(t)?)).collect()
}
