//! The Schur form of a real matrix and its eigenvectors, by QR steps with two shifts at a time (Francis 1961; Golub and Van Loan,
//! Matrix Computations, section 7.5). Shifts, the test for what falls apart, and the form of blocks of two are those of LAPACK for
//! matrices up to 75, and so is the order of eigenvalues: a pair of conjugate ones stands together, the one above the real axis
//! first.

use super::{C, ONE, ZERO, div, hessenberg};

/// The quasi-triangular form `T` and the orthogonal `Z` with `A = Z T Z^T`, row by row.
pub(crate) struct Form {
    pub t: Vec<f64>,
    pub z: Vec<f64>,
    n: usize,
}

/// Steps until a block falls apart, for each row.
const STEPS: usize = 30;

/// A reflector `I - tau v v^T` with `v[0] = 1` that takes `x` to a multiple of the first unit vector: that multiple and `tau`; the
/// rest of `v` stands in `x`.
fn reflector(x: &mut [f64]) -> (f64, f64) {
    let rest = x[1..].iter().fold(0.0, |norm, v| libm::hypot(norm, *v));
    if rest == 0.0 {
        return (x[0], 0.0);
    }
    let beta = -libm::hypot(x[0], rest).copysign(x[0]);
    let tau = (beta - x[0]) / beta;
    let scale = 1.0 / (x[0] - beta);
    x[1..].iter_mut().for_each(|v| *v *= scale);
    (beta, tau)
}

/// The rotation that makes a block of two `[[a, b], [c, d]]` triangular where its eigenvalues are real, and gives it equal diagonal
/// elements where they are not, or nearly equal: whether it is triangular then, cosine and sine.
fn standard(a: f64, b: f64, c: f64, d: f64) -> (bool, f64, f64) {
    if c == 0.0 {
        return (true, 1.0, 0.0);
    }
    if b == 0.0 {
        return (true, 0.0, 1.0);
    }
    if a == d && b.signum() != c.signum() {
        return (false, 1.0, 0.0);
    }
    let p = 0.5 * (a - d);
    let most = b.abs().max(c.abs());
    let least = b.abs().min(c.abs()) * b.signum() * c.signum();
    let scale = p.abs().max(most);
    let z = p / scale * p + most / scale * least;
    if z >= 4.0 * f64::EPSILON * scale {
        // Real eigenvalues.
        let z = p + (scale.sqrt() * z.sqrt()).copysign(p);
        let tau = libm::hypot(c, z);
        return (true, z / tau, c / tau);
    }
    let sigma = b + c;
    let tau = libm::hypot(sigma, 2.0 * p);
    let cos = (0.5 * (1.0 + sigma.abs() / tau)).sqrt();
    let sin = -(p / (tau * cos)) * 1f64.copysign(sigma);
    (false, cos, sin)
}

impl Form {
    /// None if the steps do not converge, or an element is not finite.
    pub(crate) fn of(a: &[C], n: usize) -> Option<Form> {
        let mut packed = a.to_vec();
        let taus = hessenberg(&mut packed, n);
        let mut form = Form { t: packed.iter().map(|v| v.re).collect(), z: vec![0.0; n * n], n };
        (0..n).for_each(|i| form.z[i * n + i] = 1.0);
        for (j, tau) in taus.iter().enumerate().rev() {
            let v: Vec<f64> = std::iter::once(1.0).chain((j + 2..n).map(|i| form.t[i * n + j])).collect();
            for column in 0..n {
                let sum: f64 = v.iter().enumerate().map(|(i, v)| v * form.z[(j + 1 + i) * n + column]).sum();
                v.iter().enumerate().for_each(|(i, v)| form.z[(j + 1 + i) * n + column] -= tau.re * v * sum);
            }
        }
        for i in 2..n {
            (0..i - 1).for_each(|j| form.t[i * n + j] = 0.0);
        }
        if !form.t.iter().all(|v| v.is_finite()) {
            return None;
        }
        let mut end = n;
        while end > 0 {
            end = form.fall_apart(end)?;
        }
        Some(form)
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.t[i * self.n + j]
    }

    /// Steps on the rows before `end` until a block of one or two at their end has fallen off; where it starts.
    fn fall_apart(&mut self, end: usize) -> Option<usize> {
        let last = end - 1;
        for step in 0..=STEPS * self.n.max(10) {
            let first = self.start_of(last);
            if first > 0 {
                let n = self.n;
                self.t[first * n + first - 1] = 0.0;
            }
            if first == last {
                return Some(first);
            }
            if first + 1 == last {
                self.make_standard(first);
                return Some(first);
            }
            let shifts = self.shifts(first, last, step + 1);
            self.step(first, last, shifts);
        }
        None
    }

    /// Where the last block that does not fall apart starts, of the rows up to `last`.
    fn start_of(&self, last: usize) -> usize {
        let small = f64::MIN_POSITIVE * (self.n as f64 / f64::EPSILON);
        let mut k = last;
        while k > 0 {
            let below = self.at(k, k - 1).abs();
            if below <= small {
                break;
            }
            let mut near = self.at(k - 1, k - 1).abs() + self.at(k, k).abs();
            if near == 0.0 {
                near += if k >= 2 { self.at(k - 1, k - 2).abs() } else { 0.0 };
                near += if k < last { self.at(k + 1, k).abs() } else { 0.0 };
            }
            if below <= f64::EPSILON * near {
                // What falls apart by the products across the diagonal as well.
                let above = self.at(k - 1, k).abs();
                let (most, least) = (below.max(above), below.min(above));
                let apart = (self.at(k - 1, k - 1) - self.at(k, k)).abs();
                let (large, little) = (self.at(k, k).abs().max(apart), self.at(k, k).abs().min(apart));
                let sum = large + most;
                if least * (most / sum) <= small.max(f64::EPSILON * (little * (large / sum))) {
                    break;
                }
            }
            k -= 1;
        }
        k
    }

    /// The two shifts, real and imaginary parts: eigenvalues of the last block of two, other numbers now and then.
    fn shifts(&self, first: usize, last: usize, step: usize) -> [(f64, f64); 2] {
        let (a, b, c, d);
        if step.is_multiple_of(20) {
            let s = self.at(last, last - 1).abs() + self.at(last - 1, last - 2).abs();
            (a, b, c) = (0.75 * s + self.at(last, last), -0.4375 * s, s);
            d = a;
        } else if step.is_multiple_of(10) {
            let s = self.at(first + 1, first).abs() + self.at(first + 2, first + 1).abs();
            (a, b, c) = (0.75 * s + self.at(first, first), -0.4375 * s, s);
            d = a;
        } else {
            (a, b) = (self.at(last - 1, last - 1), self.at(last - 1, last));
            (c, d) = (self.at(last, last - 1), self.at(last, last));
        }
        let scale = a.abs() + b.abs() + c.abs() + d.abs();
        if scale == 0.0 {
            return [(0.0, 0.0); 2];
        }
        let (a, b, c, d) = (a / scale, b / scale, c / scale, d / scale);
        let middle = (a + d) / 2.0;
        let det = (a - middle) * (d - middle) - b * c;
        let root = det.abs().sqrt();
        if det >= 0.0 {
            return [(middle * scale, root * scale), (middle * scale, -root * scale)];
        }
        let (one, other) = (middle + root, middle - root);
        let nearer = if (one - d).abs() <= (other - d).abs() { one } else { other };
        [(nearer * scale, 0.0); 2]
    }

    /// A step of QR with both shifts on rows `first` to `last`.
    fn step(&mut self, first: usize, last: usize, [one, other]: [(f64, f64); 2]) {
        let n = self.n;
        // The first column of (T - s1)(T - s2), from where it may start.
        let mut start = last - 2;
        let mut v = loop {
            let m = start;
            let below = self.at(m + 1, m);
            let scale = (self.at(m, m) - other.0).abs() + other.1.abs() + below.abs();
            let below = below / scale;
            let mut v = [
                below * self.at(m, m + 1) + (self.at(m, m) - one.0) * ((self.at(m, m) - other.0) / scale)
                    - one.1 * (other.1 / scale),
                below * (self.at(m, m) + self.at(m + 1, m + 1) - one.0 - other.0),
                below * self.at(m + 2, m + 1),
            ];
            let size: f64 = v.iter().map(|v| v.abs()).sum();
            v.iter_mut().for_each(|v| *v /= size);
            if m == first {
                break v;
            }
            let before = self.at(m, m - 1).abs();
            let around = self.at(m - 1, m - 1).abs() + self.at(m, m).abs() + self.at(m + 1, m + 1).abs();
            if before * (v[1].abs() + v[2].abs()) <= f64::EPSILON * v[0].abs() * around {
                break v;
            }
            start -= 1;
        };
        for k in start..last {
            let count = 3.min(last - k + 1);
            if k > start {
                (0..count).for_each(|i| v[i] = self.at(k + i, k - 1));
            }
            let (beta, tau) = reflector(&mut v[..count]);
            if k > start {
                self.t[k * n + k - 1] = beta;
                (1..count).for_each(|i| self.t[(k + i) * n + k - 1] = 0.0);
            } else if start > first {
                self.t[k * n + k - 1] *= 1.0 - tau;
            }
            v[0] = 1.0;
            for j in k..n {
                let sum: f64 = (0..count).map(|i| v[i] * self.at(k + i, j)).sum();
                (0..count).for_each(|i| self.t[(k + i) * n + j] -= tau * v[i] * sum);
            }
            for i in 0..=(k + 3).min(last) {
                let sum: f64 = (0..count).map(|j| v[j] * self.at(i, k + j)).sum();
                (0..count).for_each(|j| self.t[i * n + k + j] -= tau * v[j] * sum);
            }
            for i in 0..n {
                let sum: f64 = (0..count).map(|j| v[j] * self.z[i * n + k + j]).sum();
                (0..count).for_each(|j| self.z[i * n + k + j] -= tau * v[j] * sum);
            }
        }
    }

    /// Gives the block of two that starts at `p` its standard form.
    fn make_standard(&mut self, p: usize) {
        let n = self.n;
        let q = p + 1;
        // A second turn makes triangular what the first one finds to be a pair of real eigenvalues that are nearly equal.
        for _ in 0..2 {
            let (done, cos, sin) = standard(self.at(p, p), self.at(p, q), self.at(q, p), self.at(q, q));
            self.turn(p, cos, sin);
            if done {
                break;
            }
            let (a, b, c, d) = (self.at(p, p), self.at(p, q), self.at(q, p), self.at(q, q));
            if b != 0.0 && c != 0.0 && b.signum() != c.signum() {
                (self.t[p * n + p], self.t[q * n + q]) = (0.5 * (a + d), 0.5 * (a + d));
                return;
            }
            if b.abs() < f64::EPSILON * c.abs() {
                self.turn(p, 0.0, 1.0);
            }
        }
        self.t[q * n + p] = 0.0;
    }

    /// Turns rows and columns `p` and the next.
    fn turn(&mut self, p: usize, cos: f64, sin: f64) {
        let (n, q) = (self.n, p + 1);
        let turned = |x: f64, y: f64| (cos * x + sin * y, cos * y - sin * x);
        for j in p..n {
            (self.t[p * n + j], self.t[q * n + j]) = turned(self.t[p * n + j], self.t[q * n + j]);
        }
        for i in 0..=q {
            (self.t[i * n + p], self.t[i * n + q]) = turned(self.t[i * n + p], self.t[i * n + q]);
        }
        for row in self.z.chunks_mut(n) {
            (row[p], row[q]) = turned(row[p], row[q]);
        }
    }

    /// Does a pair of conjugate eigenvalues start here?
    fn pair(&self, k: usize) -> bool {
        k + 1 < self.n && self.at(k + 1, k) != 0.0
    }

    /// The eigenvalues in the order of the diagonal.
    pub(crate) fn values(&self) -> Vec<C> {
        let mut values: Vec<C> = (0..self.n).map(|k| C::new(self.at(k, k), 0.0)).collect();
        for k in (0..self.n).filter(|k| self.pair(*k)) {
            let part = self.at(k, k + 1).abs().sqrt() * self.at(k + 1, k).abs().sqrt();
            (values[k].im, values[k + 1].im) = (part, -part);
        }
        values
    }

    /// Eigenvectors as columns, of length 1; the element of a complex one that is largest is real. `left`: `v^H A = w v^H`.
    pub(crate) fn vectors(&self, left: bool) -> Vec<C> {
        let (n, values) = (self.n, self.values());
        let scale = self.t.iter().fold(0.0, |norm: f64, v| libm::hypot(norm, *v));
        let least = (f64::EPSILON * scale).max(f64::MIN_POSITIVE);
        let mut out = vec![ZERO; n * n];
        let mut k = 0;
        while k < n {
            let pair = self.pair(k);
            let x = if left { self.left(k, values[k], least) } else { self.right(k, values[k], least) };
            let times = |i: usize| (0..n).map(|j| x[j] * self.z[i * n + j]).sum::<C>();
            let mut v: Vec<C> = (0..n).map(times).collect();
            let norm = v.iter().fold(0.0, |norm, z| libm::hypot(norm, libm::hypot(z.re, z.im)));
            v.iter_mut().for_each(|z| *z /= norm);
            if pair {
                let most =
                    (0..n).fold(0, |most, i| if v[i].norm_sqr() > v[most].norm_sqr() { i } else { most });
                let size = libm::hypot(v[most].re, v[most].im).copysign(v[most].re);
                let turn = v[most].conj() / size;
                v.iter_mut().for_each(|z| *z *= turn);
                v[most].im = 0.0;
            }
            for (i, v) in v.iter().enumerate() {
                out[i * n + k] = *v;
                if pair {
                    out[i * n + k + 1] = v.conj();
                }
            }
            k += if pair { 2 } else { 1 };
        }
        out
    }

    /// `(T - w) x = 0`, from the block at `k` upwards.
    fn right(&self, k: usize, w: C, least: f64) -> Vec<C> {
        let mut x = vec![ZERO; self.n];
        x[k] = ONE;
        let mut end = k + 1;
        if self.pair(k) {
            let (above, below) = (self.at(k, k + 1), self.at(k + 1, k));
            (x[k], x[k + 1]) = match above.abs() >= below.abs() {
                true => (ONE, C::new(0.0, w.im / above)),
                false => (C::new(-w.im / below, 0.0), C::new(0.0, 1.0)),
            };
            end = k + 2;
        }
        let mut i = k;
        while i > 0 {
            let rest = |row: usize, from: usize| -> C { (from..end).map(|j| x[j] * self.at(row, j)).sum() };
            if i >= 2 && self.pair(i - 2) {
                let (p, q) = (i - 2, i - 1);
                let sums = [-rest(p, i), -rest(q, i)];
                let own = [self.at(p, p), self.at(p, q), self.at(q, p), self.at(q, q)];
                (x[p], x[q]) = block_of_two(own, w, sums, least);
                i -= 2;
            } else {
                let p = i - 1;
                let sum = -rest(p, i);
                x[p] = div(sum, apart(self.at(p, p), w, least));
                i -= 1;
            }
        }
        x
    }

    /// `x^H (T - w) = 0`, from the block at `k` downwards.
    fn left(&self, k: usize, w: C, least: f64) -> Vec<C> {
        let mut x = vec![ZERO; self.n];
        x[k] = ONE;
        let mut i = k + 1;
        if self.pair(k) {
            let (above, below) = (self.at(k, k + 1), self.at(k + 1, k));
            (x[k], x[k + 1]) = match above.abs() >= below.abs() {
                true => (C::new(w.im / above, 0.0), C::new(0.0, 1.0)),
                false => (ONE, C::new(0.0, -w.im / below)),
            };
            i = k + 2;
        }
        // Of the transpose, for the conjugate.
        let w = w.conj();
        while i < self.n {
            let rest = |column: usize, to: usize| -> C { (k..to).map(|j| x[j] * self.at(j, column)).sum() };
            if self.pair(i) {
                let (p, q) = (i, i + 1);
                let sums = [-rest(p, i), -rest(q, i)];
                let own = [self.at(p, p), self.at(q, p), self.at(p, q), self.at(q, q)];
                (x[p], x[q]) = block_of_two(own, w, sums, least);
                i += 2;
            } else {
                let sum = -rest(i, i);
                x[i] = div(sum, apart(self.at(i, i), w, least));
                i += 1;
            }
        }
        x
    }
}

/// An eigenvalue less another; of equal ones what a matrix next to this one has.
fn apart(value: f64, w: C, least: f64) -> C {
    let gap = C::new(value, 0.0) - w;
    if gap.re.abs() + gap.im.abs() < least { C::new(least, 0.0) } else { gap }
}

/// Solves `[[a - w, b], [c, d - w]] x = y`.
fn block_of_two([a, b, c, d]: [f64; 4], w: C, [y0, y1]: [C; 2], least: f64) -> (C, C) {
    let (a, d) = (C::new(a, 0.0) - w, C::new(d, 0.0) - w);
    let mut det = a * d - C::new(b * c, 0.0);
    if det.re.abs() + det.im.abs() < least * least {
        det = C::new(least * least, 0.0);
    }
    (div(y0 * d - y1 * b, det), div(y1 * a - y0 * c, det))
}
