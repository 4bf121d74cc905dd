//! What each routine takes and gives.

use crate::factor::francis;
use crate::{C, factor};

/// A routine with its flags.
///
/// The operands are matrices, but for `tau` and diagonals, which are vectors. `info` is 0 where the routine succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Routine {
    /// `getrf`: `P A = L U`. Gives both factors in one matrix (the diagonal of `L` is 1), with which row each row was
    /// exchanged in turn (counted from 1), the row of `A` in each row of `P A` (from 0), and `info`: the first column
    /// without a pivot (from 1).
    Lu,
    /// `geqrf`: `A = Q R`. Gives `R` above the reflectors of `Q`, and `tau`.
    Qr,
    /// `geqp3`: [`Routine::Qr`] of the columns in an order of falling norms. Gives the factors, the column of `A` in each
    /// column (from 1), and `tau`.
    PivotedQr,
    /// `orgqr`: takes reflectors and `tau`, gives the first columns of `Q`.
    HouseholderProduct,
    /// `ormqr`: takes reflectors, `tau` and `C`, gives `Q C`, or `C Q` if not `left`; of `Q^H` if `adjoint`.
    MultiplyQ {
        /// Does `Q` stand to the left?
        left: bool,
        /// Is it the conjugate transpose?
        adjoint: bool,
    },
    /// `heevd`: eigenvectors in columns and ascending eigenvalues of a Hermitian matrix of which one triangle is read, and
    /// `info`.
    Eigh {
        /// Is it the lower triangle?
        lower: bool,
    },
    /// `gesdd`: descending singular values, left vectors in columns, right ones in rows (`A = U S V^H`), and `info`.
    Svd {
        /// All vectors of both spaces; otherwise as many as there are values.
        full: bool,
    },
    /// `geev`: eigenvalues, left and right eigenvectors in columns, and `info`.
    Eig,
    /// `gees`: `A = Z T Z^H`. Gives `T` (of real matrices with blocks of two), `Z`, the eigenvalues, and `info`.
    Schur,
    /// `gehrd`: the Hessenberg form above its reflectors, `tau`, and `info`.
    Hessenberg,
    /// `hetrd`: the reflectors of the tridiagonal form of a Hermitian matrix of which one triangle is read, its diagonal, what
    /// is beside it, `tau`, and `info`.
    Tridiagonal {
        /// Is it the lower triangle?
        lower: bool,
    },
    /// `gtsv`: takes the diagonals below, on and above the main one, all of one length, and right sides. Gives the solution
    /// and `info`: the first pivot that is zero (from 1).
    TridiagonalSolve,
}

/// The element type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// That of the operands.
    Number,
    /// Their real type.
    Real,
    /// Their complex type.
    Complex,
    /// `i32`
    Integer,
}

/// A size of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// That of an operand along an axis.
    Of {
        /// Which operand.
        operand: usize,
        /// Which axis of one of its matrices or vectors.
        axis: usize,
    },
    /// The smaller one of the first operand.
    Least,
    /// One less than the number of columns of the first operand, but not below 0.
    LessOne,
}

/// What one result is, for each matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultType {
    /// Its element type.
    pub kind: Kind,
    /// Its sizes: none, one, or two.
    pub sizes: &'static [Size],
}

/// An operand: a matrix of `sizes[0]` rows, or a vector.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The elements, row by row.
    pub values: &'a [C],
    /// One size or two.
    pub sizes: &'a [usize],
}

const M: Size = Size::Of { operand: 0, axis: 0 };
const N: Size = Size::Of { operand: 0, axis: 1 };
const K: Size = Size::Least;

const fn of(kind: Kind, sizes: &'static [Size]) -> ResultType {
    ResultType { kind, sizes }
}

const INFO: ResultType = of(Kind::Integer, &[]);

impl Routine {
    /// Every routine with all its flags. Its position here is the number by which compiled code calls it.
    pub const ALL: [Routine; 18] = [
        Routine::Lu,
        Routine::Qr,
        Routine::PivotedQr,
        Routine::HouseholderProduct,
        Routine::MultiplyQ { left: false, adjoint: false },
        Routine::MultiplyQ { left: false, adjoint: true },
        Routine::MultiplyQ { left: true, adjoint: false },
        Routine::MultiplyQ { left: true, adjoint: true },
        Routine::Eigh { lower: false },
        Routine::Eigh { lower: true },
        Routine::Svd { full: false },
        Routine::Svd { full: true },
        Routine::Eig,
        Routine::Schur,
        Routine::Hessenberg,
        Routine::Tridiagonal { lower: false },
        Routine::Tridiagonal { lower: true },
        Routine::TridiagonalSolve,
    ];

    /// The name with the flags, by which text forms call it.
    pub const fn name(self) -> &'static str {
        match self {
            Routine::Lu => "getrf",
            Routine::Qr => "geqrf",
            Routine::PivotedQr => "geqp3",
            Routine::HouseholderProduct => "orgqr",
            Routine::MultiplyQ { left: false, adjoint: false } => "ormqr_right",
            Routine::MultiplyQ { left: false, adjoint: true } => "ormqr_right_adjoint",
            Routine::MultiplyQ { left: true, adjoint: false } => "ormqr_left",
            Routine::MultiplyQ { left: true, adjoint: true } => "ormqr_left_adjoint",
            Routine::Eigh { lower: false } => "heevd_upper",
            Routine::Eigh { lower: true } => "heevd_lower",
            Routine::Svd { full: false } => "gesdd",
            Routine::Svd { full: true } => "gesdd_full",
            Routine::Eig => "geev",
            Routine::Schur => "gees",
            Routine::Hessenberg => "gehrd",
            Routine::Tridiagonal { lower: false } => "hetrd_upper",
            Routine::Tridiagonal { lower: true } => "hetrd_lower",
            Routine::TridiagonalSolve => "gtsv",
        }
    }

    /// The routine of this name.
    pub fn from_name(name: &str) -> Option<Routine> {
        Routine::ALL.into_iter().find(|r| r.name() == name)
    }

    /// How many axes each operand has: 2 for a matrix, 1 for a vector.
    pub const fn ranks(self) -> &'static [usize] {
        match self {
            Routine::HouseholderProduct => &[2, 1],
            Routine::MultiplyQ { .. } => &[2, 1, 2],
            Routine::TridiagonalSolve => &[1, 1, 1, 2],
            _ => &[2],
        }
    }

    /// Does it need square matrices?
    pub const fn is_square(self) -> bool {
        matches!(
            self,
            Routine::Eigh { .. }
                | Routine::Eig
                | Routine::Schur
                | Routine::Hessenberg
                | Routine::Tridiagonal { .. }
        )
    }

    /// Sizes of two operands that must be one.
    pub const fn equal_sizes(self) -> &'static [(Size, Size)] {
        const fn at(operand: usize, axis: usize) -> Size {
            Size::Of { operand, axis }
        }
        match self {
            Routine::MultiplyQ { left: true, .. } => const { &[(M, at(2, 0))] },
            Routine::MultiplyQ { left: false, .. } => const { &[(M, at(2, 1))] },
            Routine::TridiagonalSolve => {
                const { &[(at(0, 0), at(3, 0)), (at(1, 0), at(3, 0)), (at(2, 0), at(3, 0))] }
            }
            _ if self.is_square() => const { &[(M, N)] },
            _ => const { &[] },
        }
    }

    /// The types of the results.
    pub const fn results(self) -> &'static [ResultType] {
        use Kind::{Complex, Integer, Number, Real};
        const ONE_LESS: &[Size] = &[Size::LessOne];
        const RIGHT: &[Size] = &[Size::Of { operand: 2, axis: 0 }, Size::Of { operand: 2, axis: 1 }];
        const SIDES: &[Size] = &[Size::Of { operand: 3, axis: 0 }, Size::Of { operand: 3, axis: 1 }];
        match self {
            Routine::Lu => const { &[of(Number, &[M, N]), of(Integer, &[K]), of(Integer, &[M]), INFO] },
            Routine::Qr => const { &[of(Number, &[M, N]), of(Number, &[K])] },
            Routine::PivotedQr => const { &[of(Number, &[M, N]), of(Integer, &[N]), of(Number, &[K])] },
            Routine::HouseholderProduct => const { &[of(Number, &[M, N])] },
            Routine::MultiplyQ { .. } => const { &[of(Number, RIGHT)] },
            Routine::Eigh { .. } => const { &[of(Number, &[N, N]), of(Real, &[N]), INFO] },
            Routine::Svd { full: false } => {
                const { &[of(Real, &[K]), of(Number, &[M, K]), of(Number, &[K, N]), INFO] }
            }
            Routine::Svd { full: true } => {
                const { &[of(Real, &[K]), of(Number, &[M, M]), of(Number, &[N, N]), INFO] }
            }
            Routine::Eig => const { &[of(Complex, &[N]), of(Complex, &[N, N]), of(Complex, &[N, N]), INFO] },
            Routine::Schur => const { &[of(Number, &[N, N]), of(Number, &[N, N]), of(Complex, &[N]), INFO] },
            Routine::Hessenberg => const { &[of(Number, &[N, N]), of(Number, ONE_LESS), INFO] },
            Routine::Tridiagonal { .. } => {
                const { &[of(Number, &[N, N]), of(Real, &[N]), of(Real, ONE_LESS), of(Number, ONE_LESS), INFO] }
            }
            Routine::TridiagonalSolve => const { &[of(Number, SIDES), INFO] },
        }
    }

    /// The sizes of each result, for operands of these sizes; why they do not fit otherwise.
    pub fn result_sizes(self, operands: &[&[usize]]) -> Result<Vec<Vec<usize>>, String> {
        let ranks = self.ranks();
        if operands.len() != ranks.len() || operands.iter().zip(ranks).any(|(o, r)| o.len() != *r) {
            return Err(format!("operands of the sizes {operands:?}"));
        }
        let size = |size: &Size| match *size {
            Size::Of { operand, axis } => operands[operand][axis],
            Size::Least => operands[0][0].min(operands[0][1]),
            Size::LessOne => operands[0][1].saturating_sub(1),
        };
        if let Some((a, b)) = self.equal_sizes().iter().find(|(a, b)| size(a) != size(b)) {
            return Err(format!("{} and {} where one size is needed", size(a), size(b)));
        }
        let reflectors = match self {
            Routine::HouseholderProduct | Routine::MultiplyQ { .. } => operands[1][0],
            _ => 0,
        };
        if reflectors > 0 && reflectors > operands[0][0].min(operands[0][1]) {
            return Err(format!("{reflectors} reflectors in a matrix of the sizes {:?}", operands[0]));
        }
        Ok(self.results().iter().map(|r| r.sizes.iter().map(size).collect()).collect())
    }

    /// The results for one matrix, integers as numbers. `real` says that the type of the program is real.
    ///
    /// The operands have sizes that fit ([`Routine::result_sizes`]).
    pub fn run(self, real: bool, operands: &[Operand<'_>]) -> Vec<Vec<C>> {
        let a = operands[0].values;
        let (m, n) = (operands[0].sizes[0], operands[0].sizes.get(1).copied().unwrap_or(1));
        match self {
            Routine::Lu => {
                let mut factors = a.to_vec();
                let (pivots, info) = factor::lu(&mut factors, m, n);
                let mut rows: Vec<i64> = (0..m as i64).collect();
                pivots.iter().enumerate().for_each(|(j, p)| rows.swap(j, *p as usize - 1));
                vec![factors, integers(pivots), integers(rows), integers([info])]
            }
            Routine::Qr => {
                let mut factors = a.to_vec();
                let taus = factor::qr(&mut factors, m, n);
                vec![factors, taus]
            }
            Routine::PivotedQr => {
                let mut factors = a.to_vec();
                let (taus, order) = factor::pivoted_qr(&mut factors, m, n);
                vec![factors, integers(order.into_iter().map(|c| c as i64 + 1)), taus]
            }
            Routine::HouseholderProduct => vec![factor::q_of(a, operands[1].values, m, n)],
            Routine::MultiplyQ { left, adjoint } => {
                let mut c = operands[2].values.to_vec();
                let sizes = (operands[2].sizes[0], operands[2].sizes[1]);
                factor::multiply_q(a, operands[1].values, n, &mut c, sizes, left, adjoint);
                vec![c]
            }
            Routine::Eigh { lower } => eigh(a, n, lower),
            Routine::Svd { full } => svd(a, m, n, full),
            Routine::Eig => eig(a, n, real),
            Routine::Schur => schur(a, n, real),
            Routine::Hessenberg => {
                let mut form = a.to_vec();
                let taus = factor::hessenberg(&mut form, n);
                vec![form, taus, integers([0])]
            }
            Routine::Tridiagonal { lower } => tridiagonal(a, n, lower),
            Routine::TridiagonalSolve => {
                let mut x = operands[3].values.to_vec();
                let [dl, d, du] = [0, 1, 2].map(|i| operands[i].values);
                let info = factor::tridiagonal(dl, d, du, &mut x, operands[3].sizes[1]);
                vec![x, integers([info])]
            }
        }
    }
}

fn integers(values: impl IntoIterator<Item = i64>) -> Vec<C> {
    values.into_iter().map(|v| C::new(v as f64, 0.0)).collect()
}

fn nans(count: usize) -> Vec<C> {
    vec![C::new(f64::NAN, f64::NAN); count]
}

/// The whole Hermitian matrix of one triangle.
fn whole(a: &[C], n: usize, lower: bool) -> impl Fn(usize, usize) -> C {
    move |row, column| match (row == column, (row > column) == lower) {
        (true, _) => C::new(a[row * n + column].re, 0.0),
        (_, true) => a[row * n + column],
        _ => a[column * n + row].conj(),
    }
}

fn eigh(a: &[C], n: usize, lower: bool) -> Vec<Vec<C>> {
    let at = whole(a, n, lower);
    let matrix: Vec<C> = (0..n * n).map(|k| at(k / n, k % n)).collect();
    match factor::hermitian(&matrix, n) {
        Some((values, vectors)) => {
            vec![vectors, values.into_iter().map(|v| C::new(v, 0.0)).collect(), integers([0])]
        }
        None => vec![matrix, nans(n), integers([1])],
    }
}

fn svd(a: &[C], m: usize, n: usize, full: bool) -> Vec<Vec<C>> {
    let (columns, rows) = if full { (m, n) } else { (m.min(n), m.min(n)) };
    match factor::svd(a, m, n) {
        Some((values, u, vh)) => vec![
            values.into_iter().map(|v| C::new(v, 0.0)).collect(),
            (0..m * columns).map(|k| u[k / columns * m + k % columns]).collect(),
            vh[..rows * n].to_vec(),
            integers([0]),
        ],
        None => vec![nans(m.min(n)), nans(m * columns), nans(rows * n), integers([1])],
    }
}

fn eig(a: &[C], n: usize, real: bool) -> Vec<Vec<C>> {
    let found = match real {
        true => francis::Form::of(a, n).map(|form| (form.values(), form.vectors(true), form.vectors(false))),
        false => factor::schur(a, n).map(|(t, z)| {
            let values = (0..n).map(|k| t[k * n + k]).collect();
            (values, factor::eigenvectors(&t, &z, n, true), factor::eigenvectors(&t, &z, n, false))
        }),
    };
    match found {
        Some((values, left, right)) => vec![values, left, right, integers([0])],
        None => vec![nans(n), nans(n * n), nans(n * n), integers([1])],
    }
}

fn schur(a: &[C], n: usize, real: bool) -> Vec<Vec<C>> {
    let complex = |part: &[f64]| part.iter().map(|v| C::new(*v, 0.0)).collect::<Vec<C>>();
    let found = match real {
        true => francis::Form::of(a, n).map(|form| (complex(&form.t), complex(&form.z), form.values())),
        false => factor::schur(a, n).map(|(t, z)| {
            let values = (0..n).map(|k| t[k * n + k]).collect();
            let form = (0..n * n).map(|k| if k / n > k % n { C::new(0.0, 0.0) } else { t[k] }).collect();
            (form, z, values)
        }),
    };
    match found {
        Some((form, z, values)) => vec![form, z, values, integers([0])],
        None => vec![nans(n * n), nans(n * n), nans(n), integers([1])],
    }
}

/// By the upper triangle the matrix is reduced from its end.
fn tridiagonal(a: &[C], n: usize, lower: bool) -> Vec<Vec<C>> {
    let turn = |i: usize| if lower { i } else { n - 1 - i };
    let at = whole(a, n, lower);
    let mut work: Vec<C> = (0..n * n).map(|i| at(turn(i / n), turn(i % n))).collect();
    let mut taus = factor::hessenberg(&mut work, n);
    let mut beside: Vec<C> = (1..n).map(|i| C::new(work[i * n + i - 1].re, 0.0)).collect();
    if !lower {
        taus.reverse();
        beside.reverse();
    }
    let diagonal = (0..n).map(|i| C::new(work[turn(i) * n + turn(i)].re, 0.0)).collect();
    let form = (0..n * n).map(|i| {
        let (row, column) = (i / n, i % n);
        let mine = row == column || (row > column) == lower;
        if mine { work[turn(row) * n + turn(column)] } else { a[i] }
    });
    vec![form.collect(), diagonal, beside, taus, integers([0])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_results_fit() {
        for routine in Routine::ALL {
            assert_eq!(Routine::from_name(routine.name()), Some(routine));
            for n in 0..4 {
                let sizes: Vec<Vec<usize>> = routine.ranks().iter().map(|r| vec![n; *r]).collect();
                let sizes: Vec<&[usize]> = sizes.iter().map(Vec::as_slice).collect();
                let values = vec![C::new(0.5, 0.0); n * n];
                let operands: Vec<Operand<'_>> = sizes
                    .iter()
                    .map(|s| Operand { values: &values[..s.iter().product()], sizes: s })
                    .collect();
                let found: Vec<usize> = routine.run(true, &operands).iter().map(Vec::len).collect();
                let expected = routine.result_sizes(&sizes).unwrap();
                let expected: Vec<usize> = expected.iter().map(|s| s.iter().product()).collect();
                assert_eq!(found, expected, "{routine:?} of {n}");
            }
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(Routine::Eig.result_sizes(&[&[2, 3]]).is_err());
        assert!(Routine::Lu.result_sizes(&[&[2, 3], &[3]]).is_err());
        assert!(Routine::HouseholderProduct.result_sizes(&[&[4, 2], &[3]]).is_err());
        assert!(Routine::TridiagonalSolve.result_sizes(&[&[4], &[4], &[3], &[4, 1]]).is_err());
    }
}
