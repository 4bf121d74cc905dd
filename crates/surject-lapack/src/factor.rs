//! Factorisations of dense matrices of complex `f64`, row by row: `a[i * n + j]`. Real matrices stay real in all of them but
//! [`schur`], whose form is triangular; that of [`francis`] has blocks of two.

pub(crate) mod francis;

use crate::C;
use crate::complex::{div, sqrt};

const ZERO: C = C::new(0.0, 0.0);
const ONE: C = C::new(1.0, 0.0);

/// Sweeps of Jacobi rotations and steps of QR a matrix may take; it is a defect of the matrix (NaN) if it takes more.
const SWEEPS: usize = 60;

/// Rows exchanged for the largest pivot (one-based, as LAPACK counts), the factors in one matrix, and the first column without a
/// pivot (0: none).
pub(crate) fn lu(a: &mut [C], m: usize, n: usize) -> (Vec<i64>, i64) {
    let (mut pivots, mut info) = (Vec::new(), 0);
    let size = |z: C| z.re.abs() + z.im.abs();
    for j in 0..m.min(n) {
        let pivot =
            (j..m).fold(j, |best, i| if size(a[i * n + j]) > size(a[best * n + j]) { i } else { best });
        pivots.push(pivot as i64 + 1);
        if a[pivot * n + j] == ZERO {
            if info == 0 {
                info = j as i64 + 1;
            }
            continue;
        }
        if pivot != j {
            (0..n).for_each(|k| a.swap(j * n + k, pivot * n + k));
        }
        for i in j + 1..m {
            let factor = div(a[i * n + j], a[j * n + j]);
            a[i * n + j] = factor;
            for k in j + 1..n {
                let sub = factor * a[j * n + k];
                a[i * n + k] -= sub;
            }
        }
    }
    (pivots, info)
}

/// A reflector `I - tau v v^H` with `v[0] = 1` whose adjoint takes `x` to a multiple of the first unit vector: that multiple, and
/// `tau`; the rest of `v` stands in `x`.
fn reflector(x: &mut [C]) -> (C, C) {
    let alpha = x[0];
    let rest = x[1..].iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    if rest == 0.0 && alpha.im == 0.0 {
        return (alpha, ZERO);
    }
    let beta = -libm::hypot(libm::hypot(alpha.re, alpha.im), rest).copysign(alpha.re);
    let tau = C::new((beta - alpha.re) / beta, -alpha.im / beta);
    let scale = ONE / (alpha - beta);
    x[1..].iter_mut().for_each(|z| *z *= scale);
    (C::new(beta, 0.0), tau)
}

/// `A - tau v (v^H A)` on the rows from `row` and columns from `column` on, `v` as long as there are rows.
fn reflect_left(a: &mut [C], n: usize, v: &[C], tau: C, row: usize, column: usize) {
    for j in column..n {
        let dot: C = v.iter().enumerate().map(|(i, v)| v.conj() * a[(row + i) * n + j]).sum();
        let dot = dot * tau;
        v.iter().enumerate().for_each(|(i, v)| a[(row + i) * n + j] -= v * dot);
    }
}

/// `A - tau (A v) v^H` on the columns from `column` on.
fn reflect_right(a: &mut [C], m: usize, n: usize, v: &[C], tau: C, column: usize) {
    for i in 0..m {
        let dot: C = v.iter().enumerate().map(|(k, v)| a[i * n + column + k] * v).sum();
        let dot = dot * tau;
        v.iter().enumerate().for_each(|(k, v)| a[i * n + column + k] -= dot * v.conj());
    }
}

/// The factor R above reflectors, and their `tau`.
pub(crate) fn qr(a: &mut [C], m: usize, n: usize) -> Vec<C> {
    (0..m.min(n)).map(|j| qr_column(a, m, n, j)).collect()
}

fn qr_column(a: &mut [C], m: usize, n: usize, j: usize) -> C {
    let mut v: Vec<C> = (j..m).map(|i| a[i * n + j]).collect();
    let (beta, tau) = reflector(&mut v);
    v[0] = ONE;
    reflect_left(a, n, &v, tau.conj(), j, j + 1);
    v[0] = beta;
    v.iter().enumerate().for_each(|(i, v)| a[(j + i) * n + j] = *v);
    tau
}

/// As [`qr`], of the columns in an order of falling norms of what is left of them; that order.
pub(crate) fn pivoted_qr(a: &mut [C], m: usize, n: usize) -> (Vec<C>, Vec<usize>) {
    let mut order: Vec<usize> = (0..n).collect();
    let mut taus = Vec::new();
    for j in 0..m.min(n) {
        let norm = |column: usize| -> f64 { (j..m).map(|i| a[i * n + column].norm_sqr()).sum() };
        let best = (j..n).fold(j, |best, column| if norm(column) > norm(best) { column } else { best });
        order.swap(j, best);
        (0..m).for_each(|i| a.swap(i * n + j, i * n + best));
        taus.push(qr_column(a, m, n, j));
    }
    (taus, order)
}

/// The vector of reflector `j` below the diagonal of `a`.
fn vector(a: &[C], m: usize, n: usize, j: usize) -> Vec<C> {
    std::iter::once(ONE).chain((j + 1..m).map(|i| a[i * n + j])).collect()
}

/// The first `n` columns of the product of the reflectors that stand in `a`.
pub(crate) fn q_of(a: &[C], taus: &[C], m: usize, n: usize) -> Vec<C> {
    let mut q: Vec<C> = (0..m * n).map(|i| if i / n == i % n { ONE } else { ZERO }).collect();
    for (j, tau) in taus.iter().enumerate().rev() {
        reflect_left(&mut q, n, &vector(a, m, n, j), *tau, j, 0);
    }
    q
}

/// `Q C`, `Q^H C`, `C Q` or `C Q^H` with the reflectors that stand in `a` (of `k` columns); `c` is `m` by `n`.
pub(crate) fn multiply_q(
    a: &[C],
    taus: &[C],
    k: usize,
    c: &mut [C],
    (m, n): (usize, usize),
    left: bool,
    adjoint: bool,
) {
    let order: Vec<usize> =
        if left != adjoint { (0..taus.len()).rev().collect() } else { (0..taus.len()).collect() };
    for j in order {
        let rows = if left { m } else { n };
        let v = vector(a, rows, k, j);
        let tau = if adjoint { taus[j].conj() } else { taus[j] };
        if left {
            reflect_left(c, n, &v, tau, j, 0);
        } else {
            reflect_right(c, m, n, &v, tau, j);
        }
    }
}

/// Eigenvalues in ascending order and eigenvectors as columns of a Hermitian matrix, by Jacobi's rotations; none if they do not
/// converge.
pub(crate) fn hermitian(a: &[C], n: usize) -> Option<(Vec<f64>, Vec<C>)> {
    let mut a = a.to_vec();
    let mut v: Vec<C> = (0..n * n).map(|i| if i / n == i % n { ONE } else { ZERO }).collect();
    let total: f64 = a.iter().map(|z| z.norm_sqr()).sum();
    if !total.is_finite() {
        return None;
    }
    for sweep in 0.. {
        let off: f64 = (0..n * n).filter(|i| i / n != i % n).map(|i| a[i].norm_sqr()).sum();
        // Below this rounding makes anew what a sweep takes away.
        let done = off <= total * 1e-32 || (sweep > 20 && off <= total * 1e-28);
        if done {
            break;
        }
        if sweep == SWEEPS {
            return None;
        }
        for p in 0..n {
            for q in p + 1..n {
                let apq = a[p * n + q];
                let size = libm::hypot(apq.re, apq.im);
                if size == 0.0 {
                    continue;
                }
                let (c, s, phase) = rotation(a[p * n + p].re, a[q * n + q].re, apq, size);
                rotate_columns(&mut a, n, n, p, q, c, s, phase);
                rotate_rows(&mut a, n, p, q, c, s, phase);
                rotate_columns(&mut v, n, n, p, q, c, s, phase);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|x, y| a[x * n + x].re.total_cmp(&a[y * n + y].re));
    let values = order.iter().map(|i| a[i * n + i].re).collect();
    let vectors = (0..n * n).map(|i| v[i / n * n + order[i % n]]).collect();
    Some((values, vectors))
}

/// Cosine, sine and phase of the rotation that makes two columns orthogonal, given their products.
fn rotation(app: f64, aqq: f64, apq: C, size: f64) -> (f64, f64, C) {
    let tau = (aqq - app) / (2.0 * size);
    let t = 1f64.copysign(tau) / (tau.abs() + libm::hypot(1.0, tau));
    let c = 1.0 / libm::hypot(1.0, t);
    (c, t * c, apq / size)
}

#[allow(clippy::too_many_arguments)]
fn rotate_columns(a: &mut [C], m: usize, n: usize, p: usize, q: usize, c: f64, s: f64, phase: C) {
    for i in 0..m {
        let (x, y) = (a[i * n + p], a[i * n + q] * phase.conj());
        (a[i * n + p], a[i * n + q]) = (x * c - y * s, x * s + y * c);
    }
}

fn rotate_rows(a: &mut [C], n: usize, p: usize, q: usize, c: f64, s: f64, phase: C) {
    for i in 0..n {
        let (x, y) = (a[p * n + i], a[q * n + i] * phase);
        (a[p * n + i], a[q * n + i]) = (x * c - y * s, x * s + y * c);
    }
}

/// Singular values in descending order, left vectors as columns (`m` by `m`) and the adjoint of the right ones (`n` by `n`), by
/// one-sided Jacobi rotations; none if they do not converge.
pub(crate) fn svd(a: &[C], m: usize, n: usize) -> Option<(Vec<f64>, Vec<C>, Vec<C>)> {
    if m < n {
        // A^H = V S U^H
        let adjoint: Vec<C> = (0..m * n).map(|i| a[i % m * n + i / m].conj()).collect();
        let (s, u, vh) = svd(&adjoint, n, m)?;
        let turned = |x: &[C], k: usize| (0..k * k).map(|i| x[i % k * k + i / k].conj()).collect();
        return Some((s, turned(&vh, m), turned(&u, n)));
    }
    let mut w = a.to_vec();
    let mut v: Vec<C> = (0..n * n).map(|i| if i / n == i % n { ONE } else { ZERO }).collect();
    if !a.iter().all(|z| z.re.is_finite() && z.im.is_finite()) {
        return None;
    }
    for sweep in 0.. {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let product =
                    |x: usize, y: usize| -> C { (0..m).map(|i| w[i * n + x].conj() * w[i * n + y]).sum() };
                let (app, aqq, apq) = (product(p, p).re, product(q, q).re, product(p, q));
                let size = libm::hypot(apq.re, apq.im);
                if size == 0.0 || size <= 1e-16 * (app * aqq).sqrt() {
                    continue;
                }
                rotated = true;
                let (c, s, phase) = rotation(app, aqq, apq, size);
                rotate_columns(&mut w, m, n, p, q, c, s, phase);
                rotate_columns(&mut v, n, n, p, q, c, s, phase);
            }
        }
        if !rotated || sweep == SWEEPS {
            break;
        }
    }
    let norm = |j: usize| (0..m).map(|i| w[i * n + j].norm_sqr()).sum::<f64>().sqrt();
    let norms: Vec<f64> = (0..n).map(norm).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|x, y| norms[*y].total_cmp(&norms[*x]));
    let values: Vec<f64> = order.iter().map(|j| norms[*j]).collect();
    let largest = values.first().copied().unwrap_or(0.0);
    let mut columns: Vec<Vec<C>> = Vec::new();
    for j in &order {
        if norms[*j] <= largest * 1e-17 * m as f64 {
            break;
        }
        columns.push((0..m).map(|i| w[i * n + j] / norms[*j]).collect());
    }
    complete(&mut columns, m);
    let u = (0..m * m).map(|i| columns[i % m][i / m]).collect();
    let vh = (0..n * n).map(|i| v[i % n * n + order[i / n]].conj()).collect();
    Some((values, u, vh))
}

/// Adds columns until there are `m` orthonormal ones.
fn complete(columns: &mut Vec<Vec<C>>, m: usize) {
    while columns.len() < m {
        let mut best: (f64, Vec<C>) = (-1.0, vec![ZERO; m]);
        for unit in 0..m {
            let mut x = vec![ZERO; m];
            x[unit] = ONE;
            for _ in 0..2 {
                for column in columns.iter() {
                    let dot: C = column.iter().zip(&x).map(|(c, x)| c.conj() * x).sum();
                    column.iter().zip(x.iter_mut()).for_each(|(c, x)| *x -= c * dot);
                }
            }
            let norm = x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            if norm > best.0 {
                best = (norm, x);
            }
            // Far enough from the others.
            if norm > 0.7 {
                break;
            }
        }
        let (norm, mut x) = best;
        x.iter_mut().for_each(|z| *z /= norm);
        columns.push(x);
    }
}

/// The Hessenberg form above reflectors, and their `tau`.
pub(crate) fn hessenberg(a: &mut [C], n: usize) -> Vec<C> {
    let mut taus = Vec::new();
    for j in 0..n.saturating_sub(1) {
        let mut v: Vec<C> = (j + 1..n).map(|i| a[i * n + j]).collect();
        let (beta, tau) = reflector(&mut v);
        v[0] = ONE;
        reflect_right(a, n, n, &v, tau, j + 1);
        reflect_left(a, n, &v, tau.conj(), j + 1, j + 1);
        v[0] = beta;
        v.iter().enumerate().for_each(|(i, v)| a[(j + 1 + i) * n + j] = *v);
        taus.push(tau);
    }
    taus
}

/// An upper triangular `T` and a unitary `Z` with `A = Z T Z^H`, by QR steps with Wilkinson's shifts; none if they do not converge.
pub(crate) fn schur(a: &[C], n: usize) -> Option<(Vec<C>, Vec<C>)> {
    let mut t = a.to_vec();
    let taus = hessenberg(&mut t, n);
    let mut z: Vec<C> = (0..n * n).map(|i| if i / n == i % n { ONE } else { ZERO }).collect();
    for (j, tau) in taus.iter().enumerate().rev() {
        let v: Vec<C> = std::iter::once(ONE).chain((j + 2..n).map(|i| t[i * n + j])).collect();
        reflect_left(&mut z, n, &v, *tau, j + 1, 0);
    }
    for i in 0..n {
        (0..i.saturating_sub(1)).for_each(|j| t[i * n + j] = ZERO);
    }
    let size = |z: C| z.re.abs() + z.im.abs();
    if !t.iter().all(|z| z.re.is_finite() && z.im.is_finite()) {
        return None;
    }
    let mut high = n;
    let mut steps = 0;
    while high > 1 {
        // The last block that does not fall apart.
        let mut low = high - 1;
        while low > 0 {
            let near = size(t[(low - 1) * n + low - 1]) + size(t[low * n + low]);
            if size(t[low * n + low - 1]) <= f64::EPSILON * near.max(f64::MIN_POSITIVE) {
                t[low * n + low - 1] = ZERO;
                break;
            }
            low -= 1;
        }
        if low == high - 1 {
            (high, steps) = (low, 0);
            continue;
        }
        steps += 1;
        if steps > SWEEPS {
            return None;
        }
        let shift = shift(&t, n, high - 1, steps);
        qr_step(&mut t, &mut z, n, low, high, shift);
    }
    Some((t, z))
}

/// The eigenvalue of the last block of two that is nearer to its last element; another number now and then.
fn shift(t: &[C], n: usize, last: usize, steps: usize) -> C {
    let (a, b) = (t[(last - 1) * n + last - 1], t[(last - 1) * n + last]);
    let (c, d) = (t[last * n + last - 1], t[last * n + last]);
    if steps.is_multiple_of(10) {
        return d + C::new(c.re.abs() + c.im.abs(), 0.0);
    }
    let half = (a - d) / 2.0;
    let root = sqrt(half * half + b * c);
    let (one, other) = (half + root, half - root);
    d + if one.norm_sqr() < other.norm_sqr() { one } else { other }
}

/// `T - shift = Q R`, `T = R Q + shift` on the rows and columns `low..high`, by Givens rotations.
fn qr_step(t: &mut [C], z: &mut [C], n: usize, low: usize, high: usize, shift: C) {
    (low..high).for_each(|i| t[i * n + i] -= shift);
    let mut rotations = Vec::new();
    for k in low..high - 1 {
        let (x, y) = (t[k * n + k], t[(k + 1) * n + k]);
        let norm = (x.norm_sqr() + y.norm_sqr()).sqrt();
        let (c, s) = if norm == 0.0 { (ONE, ZERO) } else { (x / norm, y / norm) };
        for j in k..n {
            let (a, b) = (t[k * n + j], t[(k + 1) * n + j]);
            t[k * n + j] = c.conj() * a + s.conj() * b;
            t[(k + 1) * n + j] = c * b - s * a;
        }
        rotations.push((c, s));
    }
    for (k, (c, s)) in (low..).zip(rotations) {
        let columns = |m: &mut [C], rows: usize| {
            for i in 0..rows {
                let (a, b) = (m[i * n + k], m[i * n + k + 1]);
                m[i * n + k] = a * c + b * s;
                m[i * n + k + 1] = b * c.conj() - a * s.conj();
            }
        };
        columns(t, (k + 2).min(high));
        columns(z, n);
    }
    (low..high).for_each(|i| t[i * n + i] += shift);
}

/// Right (or left) eigenvectors of `Z T Z^H` as columns of length 1 whose largest part is real.
pub(crate) fn eigenvectors(t: &[C], z: &[C], n: usize, left: bool) -> Vec<C> {
    let mut out = vec![ZERO; n * n];
    let scale: f64 = t.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    let least = (f64::EPSILON * scale).max(f64::MIN_POSITIVE);
    for k in 0..n {
        let value = t[k * n + k];
        let mut x = vec![ZERO; n];
        x[k] = ONE;
        let apart = |i: usize| {
            let gap = t[i * n + i] - value;
            // Equal eigenvalues: the vector of a matrix next to this one.
            if gap.norm_sqr().sqrt() < least { C::new(least, 0.0) } else { gap }
        };
        if left {
            for i in k + 1..n {
                let sum: C = (k..i).map(|j| t[j * n + i].conj() * x[j]).sum();
                x[i] = -sum / apart(i).conj();
            }
        } else {
            for i in (0..k).rev() {
                let sum: C = (i + 1..=k).map(|j| t[i * n + j] * x[j]).sum();
                x[i] = -sum / apart(i);
            }
        }
        let mut v: Vec<C> = (0..n).map(|i| (0..n).map(|j| z[i * n + j] * x[j]).sum()).collect();
        let norm = v.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let largest = v.iter().copied().fold(ZERO, |a, b| if b.norm_sqr() > a.norm_sqr() { b } else { a });
        let phase = largest / libm::hypot(largest.re, largest.im);
        v.iter_mut().for_each(|z| *z = *z / norm * phase.conj());
        v.iter().enumerate().for_each(|(i, v)| out[i * n + k] = *v);
    }
    out
}

/// Solves a tridiagonal system with `m` right sides in place, by elimination with exchanges of neighbouring rows; the first
/// pivot that is zero (0: none).
pub(crate) fn tridiagonal(dl: &[C], d: &[C], du: &[C], b: &mut [C], m: usize) -> i64 {
    let n = d.len();
    // Of each row the diagonal and the two elements behind it.
    let mut rows: Vec<[C; 3]> = (0..n).map(|i| [d[i], if i + 1 < n { du[i] } else { ZERO }, ZERO]).collect();
    let size = |z: C| z.re.abs() + z.im.abs();
    for i in 0..n.saturating_sub(1) {
        let mut next = [dl[i + 1], rows[i + 1][0], rows[i + 1][1]];
        if size(next[0]) > size(rows[i][0]) {
            std::mem::swap(&mut rows[i], &mut next);
            (0..m).for_each(|k| b.swap(i * m + k, (i + 1) * m + k));
        }
        if rows[i][0] == ZERO {
            return i as i64 + 1;
        }
        let factor = div(next[0], rows[i][0]);
        rows[i + 1] = [next[1] - factor * rows[i][1], next[2] - factor * rows[i][2], ZERO];
        for k in 0..m {
            let sub = factor * b[i * m + k];
            b[(i + 1) * m + k] -= sub;
        }
    }
    if n > 0 && rows[n - 1][0] == ZERO {
        return n as i64;
    }
    for i in (0..n).rev() {
        for k in 0..m {
            let mut rest = b[i * m + k];
            for step in 1..=2 {
                if i + step < n {
                    rest -= rows[i][step] * b[(i + step) * m + k];
                }
            }
            b[i * m + k] = div(rest, rows[i][0]);
        }
    }
    0
}

#[cfg(test)]
mod tests;
