//! Factors multiply to the matrix they are of.

use super::*;

/// A matrix of pseudo-random numbers between -1 and 1, real or complex.
fn matrix(m: usize, n: usize, complex: bool, seed: u64) -> Vec<C> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..m * n).map(|_| C::new(next(), if complex { next() } else { 0.0 })).collect()
}

fn product(a: &[C], b: &[C], m: usize, k: usize, n: usize) -> Vec<C> {
    (0..m * n).map(|i| (0..k).map(|l| a[i / n * k + l] * b[l * n + i % n]).sum()).collect()
}

fn adjoint(a: &[C], m: usize, n: usize) -> Vec<C> {
    (0..m * n).map(|i| a[i % m * n + i / m].conj()).collect()
}

fn near(a: &[C], b: &[C]) {
    let distance = a.iter().zip(b).map(|(x, y)| (x - y).norm_sqr()).sum::<f64>().sqrt();
    assert!(a.len() == b.len() && distance < 1e-12, "{distance}");
}

fn identity(n: usize) -> Vec<C> {
    (0..n * n).map(|i| if i / n == i % n { ONE } else { ZERO }).collect()
}

#[test]
fn factors_multiply_to_the_matrix() {
    for (seed, (m, n)) in [(1, 1), (2, 2), (3, 5), (5, 3), (6, 6), (1, 4), (4, 1)].into_iter().enumerate() {
        for complex in [false, true] {
            let a = matrix(m, n, complex, seed as u64 + 1);
            let k = m.min(n);
            let mut f = a.clone();
            let (pivots, info) = lu(&mut f, m, n);
            assert_eq!(info, 0);
            let part = |i: usize, j: usize, lower: bool| match (i == j, (i > j) == lower) {
                (true, _) if lower => ONE,
                (true, _) | (_, true) => f[i * n + j],
                _ => ZERO,
            };
            let l: Vec<C> = (0..m * k).map(|i| part(i / k, i % k, true)).collect();
            let u: Vec<C> = (0..k * n).map(|i| part(i / n, i % n, false)).collect();
            let mut permuted = a.clone();
            for (i, p) in pivots.iter().enumerate() {
                let p = *p as usize - 1;
                (0..n).for_each(|j| permuted.swap(i * n + j, p * n + j));
            }
            near(&product(&l, &u, m, k, n), &permuted);

            let mut f = a.clone();
            let taus = qr(&mut f, m, n);
            let r: Vec<C> = (0..m * n).map(|i| if i / n > i % n { ZERO } else { f[i] }).collect();
            let mut c = r.clone();
            multiply_q(&f, &taus, n, &mut c, (m, n), true, false);
            near(&c, &a);

            let (s, u, vh) = svd(&a, m, n).unwrap();
            let scaled: Vec<C> =
                (0..m * n).map(|i| if i % n < k { u[i / n * m + i % n] * s[i % n] } else { ZERO }).collect();
            near(&product(&scaled, &vh, m, n, n), &a);
            near(&product(&adjoint(&u, m, m), &u, m, m, m), &identity(m));
        }
    }
}

#[test]
fn schur_forms_are_similar_to_the_matrix() {
    for n in 1..8 {
        for complex in [false, true] {
            let a = matrix(n, n, complex, n as u64 + 40);
            let mut forms = vec![(schur(&a, n).unwrap(), 0)];
            if !complex {
                let form = francis::Form::of(&a, n).unwrap();
                let whole = |part: &[f64]| part.iter().map(|v| C::new(*v, 0.0)).collect::<Vec<C>>();
                forms.push(((whole(&form.t), whole(&form.z)), 1));
            }
            for ((t, z), below) in forms {
                let t: Vec<C> = (0..n * n).map(|i| if i / n > i % n + below { ZERO } else { t[i] }).collect();
                near(&product(&product(&z, &t, n, n, n), &adjoint(&z, n, n), n, n, n), &a);
                near(&product(&adjoint(&z, n, n), &z, n, n, n), &identity(n));
            }
            let (t, z) = schur(&a, n).unwrap();
            let v = eigenvectors(&t, &z, n, false);
            let scaled: Vec<C> = (0..n * n).map(|i| v[i] * t[i % n * n + i % n]).collect();
            near(&product(&a, &v, n, n, n), &scaled);
            let h: Vec<C> = a.iter().zip(adjoint(&a, n, n)).map(|(x, y)| x + y).collect();
            let (w, v) = hermitian(&h, n).unwrap();
            let scaled: Vec<C> = (0..n * n).map(|i| v[i] * w[i % n]).collect();
            near(&product(&h, &v, n, n, n), &scaled);
        }
    }
}

#[test]
fn tridiagonal_systems_are_solved() {
    let n = 6;
    let line = |seed| matrix(1, n, true, seed);
    let (dl, d, du, b) = (line(1), line(2), line(3), matrix(n, 2, true, 4));
    let mut x = b.clone();
    assert_eq!(tridiagonal(&dl, &d, &du, &mut x, 2), 0);
    let a: Vec<C> = (0..n * n)
        .map(|i| match (i / n, i % n) {
            (r, c) if r == c => d[r],
            (r, c) if r == c + 1 => dl[r],
            (r, c) if r + 1 == c => du[r],
            _ => ZERO,
        })
        .collect();
    near(&product(&a, &x, n, n, 2), &b);
}

/// Of real matrices: conjugate eigenvalues stand together, and vectors of both sides are those of the matrix.
#[test]
fn real_matrices_have_eigenvalues_in_pairs() {
    for n in 1..14 {
        for seed in 0..12 {
            let mut a = matrix(n, n, false, seed * 31 + n as u64);
            match seed {
                // Triangular either way, a rotation, equal eigenvalues, nothing.
                0 => (0..n * n).filter(|i| i / n > i % n).for_each(|i| a[i] = ZERO),
                1 => (0..n * n).filter(|i| i / n < i % n).for_each(|i| a[i] = ZERO),
                2 => {
                    (0..n * n).for_each(|i| a[i] = C::new(f64::from(u8::from((i / n + 1) % n == i % n)), 0.0))
                }
                3 => (0..n * n).for_each(|i| a[i] = C::new(if i / n == i % n { 2.0 } else { 0.0 }, 0.0)),
                4 => a.fill(ZERO),
                5 => a.iter_mut().for_each(|v| *v *= 1e-9),
                _ => {}
            }
            let form = francis::Form::of(&a, n).unwrap();
            let values = form.values();
            let mut k = 0;
            while k < n {
                if values[k].im == 0.0 {
                    k += 1;
                    continue;
                }
                assert!(values[k].im > 0.0 && values[k + 1] == values[k].conj(), "{values:?}");
                k += 2;
            }
            let z: Vec<C> = form.z.iter().map(|v| C::new(*v, 0.0)).collect();
            let t: Vec<C> = form.t.iter().map(|v| C::new(*v, 0.0)).collect();
            near(&product(&product(&z, &t, n, n, n), &adjoint(&z, n, n), n, n, n), &a);
            let right = form.vectors(false);
            near(
                &product(&a, &right, n, n, n),
                &(0..n * n).map(|i| right[i] * values[i % n]).collect::<Vec<_>>(),
            );
            let left = adjoint(&form.vectors(true), n, n);
            near(
                &product(&left, &a, n, n, n),
                &(0..n * n).map(|i| left[i] * values[i / n]).collect::<Vec<_>>(),
            );
        }
    }
}
