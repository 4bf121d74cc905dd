//! Numbers of elements and exact axes of several rows.

use super::{Order, Solver};
use crate::constraint::Elems;
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::{Row, RowVar};

impl Solver {
    fn resolve_rows(&mut self, rows: &[Row], fact: &mut Fact) -> Vec<Row> {
        rows.iter()
            .map(|row| {
                let (row, with) = self.resolve(row.clone(), *fact);
                *fact = with;
                row
            })
            .collect()
    }

    /// `elems = Π rows · Π divided_by`.
    pub(super) fn total(
        &mut self,
        elems: Elems,
        rows: &[Row],
        divided_by: &[DimTerm],
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let rows = self.resolve_rows(rows, &mut fact);
        let (mut product, mut open) = (1u64, Vec::new());
        let terms: Vec<DimTerm> = rows.iter().flat_map(Row::dims).chain(divided_by.iter().copied()).collect();
        for term in terms {
            match self.known(term, &mut fact) {
                // Symbolic sizes were looked at before.
                Ok(dim) => product = product.saturating_mul(dim.size().unwrap_or(1)),
                Err(var) => open.push(var),
            }
        }
        let open_rows: Vec<RowVar> = rows.iter().filter_map(|r| r.var).collect();
        let (number, numerator) = match elems {
            Elems::Number(n) => (Some(n), None),
            Elems::Strided { coefficient, var } => match self.known(var, &mut fact) {
                Ok(dim) => (dim.size().map(|size| coefficient.saturating_mul(size)), None),
                Err(var) => (None, Some((coefficient, var))),
            },
        };
        if let Some((coefficient, var)) = numerator {
            if open_rows.is_empty() && open.is_empty() {
                return self.numerator(coefficient, var, product, fact);
            }
            // The numerator follows from a bound of the row.
            if self.stage >= 5
                && let ([row], []) = (open_rows.as_slice(), open.as_slice())
                && let Some((bound, _)) = self.ground_bound(*row)
            {
                self.choices.commit();
                self.bind_row(*row, bound, fact)?;
                return Ok(false);
            }
            if self.stage >= 6 && !open_rows.is_empty() {
                for row in open_rows {
                    self.bind_empty(row, fact)?;
                }
            }
            return Ok(false);
        }
        let Some(number) = number else { return Ok(false) };
        if product == 0 || !number.is_multiple_of(product) {
            let text = format!("number of elements: {number} is not divisible by {product}");
            return Err(self.error(ShapeErrorKind::TotalElems, text, fact));
        }
        let left = number / product;
        match (open_rows.as_slice(), open.as_slice()) {
            ([], []) => {
                if left != 1 {
                    let text = format!("number of elements: {number} are asked for, the axes have {product}");
                    return Err(self.error(ShapeErrorKind::TotalElems, text, fact));
                }
                Ok(true)
            }
            ([], [var, same @ ..]) if same.iter().all(|v| v == var) => {
                let Some(size) = root(left, open.len()) else {
                    let text =
                        format!("number of elements: {left} is not a product of {} equal sizes", open.len());
                    return Err(self.error(ShapeErrorKind::TotalElems, text, fact));
                };
                self.sized(var.0, size, fact)?;
                Ok(false)
            }
            ([row, same @ ..], []) if self.stage >= 3 && same.iter().all(|r| r == row) => {
                // The same row several times; where the number is no power, the first guess will fail.
                self.spend(*row, root(left, open_rows.len()).unwrap_or(left), fact)
            }
            (many, _) if self.stage >= 5 && !many.is_empty() => {
                self.share_out(many, left == 1 && open.is_empty(), fact)
            }
            _ => Ok(false),
        }
    }

    /// Several rows are left: one takes what there is, and the others get no axes. In a program it is the last one that is
    /// open, for the rows stand in the order in which they are asked; elsewhere nothing says which, unless one is a leaf.
    fn share_out(&mut self, rows: &[RowVar], nothing_left: bool, fact: Fact) -> Result<bool, ShapeError> {
        let mut distinct: Vec<RowVar> = Vec::new();
        for row in rows.iter().rev() {
            if !distinct.contains(row) {
                distinct.push(*row);
            }
        }
        let mut taker = None;
        if distinct.len() == 1 {
            if self.stage < 6 {
                return Ok(false);
            }
        } else if !nothing_left {
            let is_leaf = |row: &RowVar| self.rows[row.0 as usize].flags.leaf;
            let leaves: Vec<RowVar> = distinct.iter().copied().filter(is_leaf).collect();
            let takers = match self.ordered_rows || leaves.is_empty() {
                true => distinct.clone(),
                false => leaves,
            };
            let exclusive = !self.ordered_rows && takers.len() > 1;
            taker = takers.get(self.choose(takers.len(), exclusive)).copied();
        }
        for row in distinct {
            if Some(row) != taker {
                self.bind_empty(row, fact)?;
            }
        }
        self.again();
        Ok(false)
    }

    /// One row is left for so many elements.
    fn spend(&mut self, row: RowVar, left: u64, fact: Fact) -> Result<bool, ShapeError> {
        if let Some((bound, elements)) = self.ground_bound(row)
            && elements == left
        {
            self.choices.commit();
            self.bind_row(row, bound, fact)?;
            return Ok(false);
        }
        if left == 1 {
            if self.stage >= 5 {
                self.bind_empty(row, fact)?;
            }
            return Ok(false);
        }
        let bounded = self.has_bound(row);
        if !bounded || self.stage >= 5 {
            self.choices.commit();
            let most = self.rows[row.0 as usize].most;
            let flags = self.rows[row.0 as usize].flags;
            if bounded
                && !most.contains(&super::NO_LIMIT)
                && most != [1, 0]
                && most != [0, 1]
                && self.choose(2, false) == 1
            {
                // As many axes as the bound has, if a single one does not do.
                self.bind_to_length(row.0, most, fact)?;
                return Ok(false);
            }
            let axis: DimTerm =
                if bounded { self.fresh_dim_with(flags).into() } else { DimTerm::Known(Dim::new(left)) };
            let value = if most[1] == 0 && most[0] > 0 {
                Row::new(vec![axis], None, Vec::new())
            } else {
                Row::new(Vec::new(), None, vec![axis])
            };
            self.bind_row(row, value, fact)?;
        }
        Ok(false)
    }

    fn numerator(
        &mut self,
        coefficient: u64,
        var: DimVar,
        product: u64,
        fact: Fact,
    ) -> Result<bool, ShapeError> {
        if coefficient == 0 || !product.is_multiple_of(coefficient) {
            let text = format!("shape cannot be strided: {product} elements do not divide by {coefficient}");
            return Err(self.error(ShapeErrorKind::TotalElems, text, fact));
        }
        self.sized(var.0, product / coefficient, fact)?;
        Ok(false)
    }

    /// Looks at the waiting relations again.
    pub(super) fn again(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.steps += waiting.len() as u64;
        waiting.retain(|number| !self.relations[*number as usize].done);
        for number in &waiting {
            self.wake_relation(*number);
        }
        waiting.append(&mut self.waiting);
        self.waiting = waiting;
    }

    pub(super) fn has_bound(&self, row: RowVar) -> bool {
        self.rows[row.0 as usize].watch.iter().any(|number| {
            let pending = &self.pending[*number as usize];
            !pending.done && pending.order == Order::Below && pending.a.var == Some(row)
        })
    }

    /// A closed bound of a row without unknown axes, and its number of elements.
    fn ground_bound(&self, row: RowVar) -> Option<(Row, u64)> {
        self.rows[row.0 as usize].watch.iter().find_map(|number| {
            let pending = &self.pending[*number as usize];
            if pending.done || pending.order != Order::Below || pending.a.var != Some(row) {
                return None;
            }
            let bound = self.row(&pending.b);
            if bound.var.is_some() {
                return None;
            }
            let elements = bound.dims().try_fold(1u64, |n, dim| match dim {
                DimTerm::Known(dim) => Some(n.saturating_mul(dim.size()?)),
                DimTerm::Var(_) => None,
            })?;
            Some((bound, elements))
        })
    }

    /// The rows, one after the other, have these axes.
    pub(super) fn exact(
        &mut self,
        dims: &[DimTerm],
        rows: &[Row],
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let rows = self.resolve_rows(rows, &mut fact);
        let explicit: usize = rows.iter().map(Row::explicit).sum();
        let open: Vec<usize> = (0..rows.len()).filter(|i| rows[*i].var.is_some()).collect();
        let wrong = explicit > dims.len() || (open.is_empty() && explicit != dims.len());
        if wrong {
            let text = format!("the data has {} axes, its rows have {explicit}", dims.len());
            return Err(self.error(ShapeErrorKind::RankMismatch, text, fact));
        }
        let same = open.windows(2).all(|pair| rows[pair[0]].var == rows[pair[1]].var);
        if open.len() > 1 && !same {
            if self.stage >= 3 {
                self.share_axes(dims, &rows, &open, fact)?;
            }
            return Ok(false);
        }
        let middle = (dims.len() - explicit) / open.len().max(1);
        if middle * open.len() != dims.len() - explicit {
            let text = format!("the data has {} axes, which its rows cannot share", dims.len());
            return Err(self.error(ShapeErrorKind::RankMismatch, text, fact));
        }
        let mut at = 0;
        for row in rows {
            let length = row.explicit() + if row.var.is_some() { middle } else { 0 };
            let piece = Row::closed(dims[at..at + length].iter().copied());
            at += length;
            self.equal_rows(row, piece, fact);
        }
        Ok(true)
    }

    /// Several rows are left for the axes: those with a bound take as many as it has, and of the others one takes the rest:
    /// of batch, output and input the output row, else the last one. Without any bound that is the business of stage 5.
    fn share_axes(
        &mut self,
        dims: &[DimTerm],
        rows: &[Row],
        open: &[usize],
        fact: Fact,
    ) -> Result<(), ShapeError> {
        let vars: Vec<RowVar> = open.iter().filter_map(|i| rows[*i].var).collect();
        self.begin_soft_bounds();
        let most: Vec<Option<usize>> = vars
            .iter()
            .map(|var| self.length_of_bound(var.0).map(|[lead, trail]| (lead + trail) as usize))
            .collect();
        if self.stage < 5 && most.iter().all(Option::is_none) {
            return Ok(());
        }
        let taker = if rows.len() == 3 && open.contains(&1) { 1 } else { open[open.len() - 1] };
        let spare = dims.len() - rows.iter().map(Row::explicit).sum::<usize>();
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for limit in &most {
            let longer = |lengths: &Vec<usize>| {
                let left = spare - lengths.iter().sum::<usize>();
                (0..=limit.map_or(left, |m| m.min(left)))
                    .map(|n| lengths.iter().copied().chain([n]).collect())
                    .collect::<Vec<Vec<usize>>>()
            };
            all = all.iter().flat_map(longer).take(SHARES).collect();
        }
        all.retain(|lengths| lengths.iter().sum::<usize>() == spare);
        let of = |lengths: &[usize], i: usize| open.iter().position(|o| *o == i).map_or(0, |at| lengths[at]);
        all.sort_by_key(|lengths| {
            let bounded: usize = lengths.iter().zip(&most).filter(|(_, m)| m.is_some()).map(|(n, _)| n).sum();
            let fits =
                self.pieces(dims, rows, |i| of(lengths, i)).all(|(row, piece)| self.may_be(row, piece));
            (!fits, std::cmp::Reverse(bounded), std::cmp::Reverse(of(lengths, taker)))
        });
        let chosen = self.choose(all.len(), false);
        let Some(lengths) = all.get(chosen) else { return Ok(()) };
        let pieces: Vec<(Row, Row)> = self
            .pieces(dims, rows, |i| of(lengths, i))
            .map(|(row, piece)| (row.clone(), Row::closed(piece.iter().copied())))
            .collect();
        for (row, piece) in pieces {
            if let (Some(var), true) = (row.var, piece.explicit() == row.explicit()) {
                self.bind_empty(var, fact)?;
            }
            self.equal_rows(row, piece, fact);
        }
        self.again();
        Ok(())
    }

    /// The rows with their pieces of the axes, if the open ones have these lengths.
    fn pieces<'a>(
        &self,
        dims: &'a [DimTerm],
        rows: &'a [Row],
        length: impl Fn(usize) -> usize,
    ) -> impl Iterator<Item = (&'a Row, &'a [DimTerm])> {
        let mut at = 0;
        rows.iter().enumerate().map(move |(i, row)| {
            let from = at;
            at += row.explicit() + if row.var.is_some() { length(i) } else { 0 };
            (row, &dims[from.min(dims.len())..at.min(dims.len())])
        })
    }

    /// Whether a row may have these axes, as far as its bounds are known: they are compared from the end.
    fn may_be(&self, row: &Row, piece: &[DimTerm]) -> bool {
        let Some(var) = row.var else { return true };
        let inner = &piece[row.lead.len().min(piece.len())..piece.len().saturating_sub(row.trail.len())];
        self.rows[var.0 as usize].watch.iter().all(|number| {
            let pending = &self.pending[*number as usize];
            if pending.done || pending.order != Order::Below || pending.a.var != Some(var) {
                return true;
            }
            let bound = self.row(&pending.b);
            let pairs = inner.iter().rev().zip(bound.trail.iter().rev());
            pairs.into_iter().all(|(a, b)| match (self.dim(*a), b) {
                (DimTerm::Known(a), DimTerm::Known(b)) => a.broadcasts_to(*b),
                _ => true,
            })
        })
    }
}

/// The most ways to share axes out that are looked at.
const SHARES: usize = 256;

/// The number whose `power`-th power this is.
fn root(number: u64, power: usize) -> Option<u64> {
    let power = u32::try_from(power).ok()?;
    if power <= 1 {
        return Some(number);
    }
    let guess = (number as f64).powf(1.0 / f64::from(power)).round() as u64;
    (guess.saturating_sub(1)..=guess.saturating_add(1)).find(|r| r.checked_pow(power) == Some(number))
}
