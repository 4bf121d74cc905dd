//! Cholesky factors, triangular systems and Fourier transforms against their definitions.

use num_complex::Complex;
use proptest::prelude::*;
use std::f64::consts::PI;
use surject_runtime::library::{
    FftKind, TransposeA, TriangularSolve, cholesky, dtype_code, fft, surject_cholesky, surject_fft,
    surject_triangular_solve, triangular_solve,
};
use surject_runtime::{Buffer, DType, Scalar};

type C = Complex<f64>;

const TYPES: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];

/// Numbers in `[-1, 1)` with an imaginary part where the type has one.
fn random(dtype: DType, shape: &[usize], mut seed: u64) -> Buffer {
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let values: Vec<Scalar> = (0..shape.iter().product())
        .map(|_| {
            let im = if dtype.is_complex() { next() } else { 0.0 };
            Scalar::from_complex(dtype, C::new(next(), im))
        })
        .collect();
    Buffer::from_scalars(dtype, shape, &values).unwrap()
}

fn values(b: &Buffer) -> Vec<C> {
    (0..b.len()).map(|i| b.get(i).as_complex()).collect()
}

fn tolerance(dtype: DType) -> f64 {
    if dtype.part() == DType::F32 { 1e-4 } else { 1e-11 }
}

/// The product of square matrices `a b`.
fn matmul(a: &[C], b: &[C], rows: usize, n: usize, columns: usize) -> Vec<C> {
    let at = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * columns + j]).sum();
    (0..rows * columns).map(|p| at(p / columns, p % columns)).collect()
}

fn adjoint(a: &[C], n: usize) -> Vec<C> {
    (0..n * n).map(|p| a[p % n * n + p / n].conj()).collect()
}

fn near(a: &[C], b: &[C], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).norm() <= tolerance * (1.0 + y.norm()))
}

proptest! {
    #[test]
    fn cholesky_factors(which in 0usize..4, batch in 0usize..3, n in 0usize..9, lower: bool, seed in any::<u64>()) {
        let dtype = TYPES[which];
        // m m* + 1 is positive definite; the triangle that is not read holds garbage.
        let m = values(&random(dtype, &[batch, n, n], seed));
        let mut a = random(dtype, &[batch, n, n], seed ^ 1);
        let mut whole = Vec::new();
        for b in 0..batch {
            let m = &m[b * n * n..][..n * n];
            let mut square = matmul(m, &adjoint(m, n), n, n, n);
            (0..n).for_each(|i| square[i * n + i] += 1.0);
            for p in (0..n * n).filter(|p| if lower { p / n >= p % n } else { p / n <= p % n }) {
                a.set(b * n * n + p, Scalar::from_complex(dtype, square[p]));
            }
            whole.push(square);
        }
        let factor = cholesky(&a, lower).unwrap();
        let mut through_c = Buffer::zeros(dtype, a.shape());
        // SAFETY: the sizes are those of the buffers.
        let code = unsafe {
            surject_cholesky(dtype_code(dtype), a.as_ptr(), through_c.as_mut_ptr(), batch as i64, n as i64, lower as i64)
        };
        prop_assert_eq!(code, 0);
        prop_assert_eq!(&through_c, &factor);
        for (b, square) in whole.iter().enumerate() {
            let f = &values(&factor)[b * n * n..][..n * n];
            let star = adjoint(f, n);
            let back = if lower { matmul(f, &star, n, n, n) } else { matmul(&star, f, n, n, n) };
            prop_assert!(near(&back, square, tolerance(dtype)));
            for p in (0..n * n).filter(|p| if lower { p / n < p % n } else { p / n > p % n }) {
                prop_assert_eq!(f[p], C::new(0.0, 0.0));
            }
        }
    }

    #[test]
    fn triangular_systems(
        which in 0usize..4, batch in 0usize..3, n in 0usize..7, m in 0usize..5,
        left_side: bool, lower: bool, unit_diagonal: bool, form in 0i64..3, seed in any::<u64>(),
    ) {
        let dtype = TYPES[which];
        let transpose_a = [TransposeA::NoTranspose, TransposeA::Transpose, TransposeA::Adjoint][form as usize];
        let mut a = random(dtype, &[batch, n, n], seed);
        for p in (0..batch * n * n).filter(|p| p / n % n == p % n) {
            a.set(p, Scalar::from_complex(dtype, a.get(p).as_complex() + 3.0));
        }
        let b = random(dtype, &if left_side { [batch, n, m] } else { [batch, m, n] }, seed ^ 2);
        let system = TriangularSolve { left_side, lower, unit_diagonal, transpose_a };
        let x = triangular_solve(&a, &b, system).unwrap();
        let mut through_c = Buffer::zeros(dtype, b.shape());
        // SAFETY: the sizes are those of the buffers.
        let code = unsafe {
            surject_triangular_solve(
                dtype_code(dtype), a.as_ptr(), b.as_ptr(), through_c.as_mut_ptr(), batch as i64, n as i64, m as i64,
                left_side as i64, lower as i64, unit_diagonal as i64, form,
            )
        };
        prop_assert_eq!(code, 0);
        prop_assert_eq!(&through_c, &x);
        for k in 0..batch {
            let t: Vec<C> = values(&a)[k * n * n..][..n * n].iter().enumerate().map(|(p, &v)| {
                let (i, j) = (p / n, p % n);
                if i == j && unit_diagonal { C::new(1.0, 0.0) }
                else if i == j || (i > j) == lower { v }
                else { C::new(0.0, 0.0) }
            }).collect();
            let op = match transpose_a {
                TransposeA::NoTranspose => t,
                TransposeA::Transpose => adjoint(&t, n).iter().map(|z| z.conj()).collect(),
                TransposeA::Adjoint => adjoint(&t, n),
            };
            let (x, b) = (&values(&x)[k * n * m..][..n * m], &values(&b)[k * n * m..][..n * m]);
            let back = if left_side { matmul(&op, x, n, n, m) } else { matmul(x, &op, m, n, n) };
            prop_assert!(near(&back, b, 10.0 * tolerance(dtype)), "{:?}", system);
        }
    }

    #[test]
    fn transforms(double: bool, batch in 0usize..3, lengths in prop::collection::vec(1usize..9, 1..4), seed in any::<u64>()) {
        let (real, complex) = if double { (DType::F64, DType::C128) } else { (DType::F32, DType::C64) };
        let shape = [&[batch], &lengths[..]].concat();
        let mut half = shape.clone();
        *half.last_mut().unwrap() = shape[shape.len() - 1] / 2 + 1;
        let eps = tolerance(real);

        let signal = random(complex, &shape, seed);
        let spectrum = fft(&signal, FftKind::Fft, &lengths).unwrap();
        prop_assert!(near(&values(&spectrum), &definition(&signal, &lengths), eps));
        prop_assert_eq!(&through_c(0, complex, &signal, &spectrum, batch, &lengths), &spectrum);
        let back = fft(&spectrum, FftKind::Ifft, &lengths).unwrap();
        prop_assert!(near(&values(&back), &values(&signal), eps));
        prop_assert_eq!(&through_c(1, complex, &spectrum, &back, batch, &lengths), &back);

        let signal = random(real, &shape, seed);
        let spectrum = fft(&signal, FftKind::Rfft, &lengths).unwrap();
        prop_assert_eq!(spectrum.shape(), &half[..]);
        let n = lengths[lengths.len() - 1];
        let first: Vec<C> =
            definition(&signal, &lengths).into_iter().enumerate().filter(|(p, _)| p % n <= n / 2).map(|(_, z)| z).collect();
        prop_assert!(near(&values(&spectrum), &first, eps));
        prop_assert_eq!(&through_c(2, complex, &signal, &spectrum, batch, &lengths), &spectrum);
        let back = fft(&spectrum, FftKind::Irfft, &lengths).unwrap();
        prop_assert!(near(&values(&back), &values(&signal), eps));
        prop_assert_eq!(&through_c(3, complex, &spectrum, &back, batch, &lengths), &back);
    }
}

/// The discrete Fourier transform of every batch element, as it is defined.
fn definition(signal: &Buffer, lengths: &[usize]) -> Vec<C> {
    let (x, n) = (values(signal), lengths.iter().product::<usize>());
    let index = |mut p: usize| {
        let mut all = vec![0; lengths.len()];
        for (i, &d) in lengths.iter().enumerate().rev() {
            (all[i], p) = (p % d, p / d);
        }
        all
    };
    let turn = |p: usize, q: usize| -> f64 {
        index(p).iter().zip(index(q)).zip(lengths).map(|((&a, b), &d)| (a * b) as f64 / d as f64).sum()
    };
    (0..x.len())
        .map(|p| (0..n).map(|q| x[p / n * n + q] * C::cis(-2.0 * PI * turn(p % n, q))).sum())
        .collect()
}

/// The same transform by the C entry, into a buffer like `out`.
fn through_c(
    kind: i64,
    dtype: DType,
    input: &Buffer,
    out: &Buffer,
    batch: usize,
    lengths: &[usize],
) -> Buffer {
    let lengths: Vec<i64> = lengths.iter().map(|&d| d as i64).collect();
    let mut result = Buffer::zeros(out.dtype(), out.shape());
    let rank = lengths.len() as i64;
    // SAFETY: the sizes are those of the buffers.
    let code = unsafe {
        surject_fft(
            kind,
            dtype_code(dtype),
            input.as_ptr(),
            result.as_mut_ptr(),
            batch as i64,
            rank,
            lengths.as_ptr(),
        )
    };
    assert_eq!(code, 0);
    result
}

#[test]
fn large_transforms_run_in_parallel() {
    surject_runtime::pool::set_threads(3);
    let signal = random(DType::F64, &[3, 40, 500], 7);
    let spectrum = fft(&signal, FftKind::Rfft, &[40, 500]).unwrap();
    let back = fft(&spectrum, FftKind::Irfft, &[40, 500]).unwrap();
    assert!(near(&values(&back), &values(&signal), 1e-12));
}

#[test]
fn not_positive_definite_gives_nans() {
    for dtype in TYPES {
        let entries =
            [[1.0, 0.0, 0.0, 1.0], [1.0, 2.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0, 1.0]];
        let entries: Vec<Scalar> = entries.iter().flatten().map(|&v| Scalar::from_f64(dtype, v)).collect();
        let a = Buffer::from_scalars(dtype, &[4, 2, 2], &entries).unwrap();
        let l = values(&cholesky(&a, true).unwrap());
        assert_eq!(l[..4], [1.0, 0.0, 0.0, 1.0].map(|v| C::new(v, 0.0)));
        for factor in l[4..].chunks(4) {
            assert!(
                [0, 2, 3].iter().all(|&p| factor[p].is_nan()) && factor[1] == C::new(0.0, 0.0),
                "{dtype} {factor:?}"
            );
        }
    }
}

#[test]
fn a_singular_system_gives_infinities() {
    let b = Buffer::splat(Scalar::one(DType::F64), &[1, 1]);
    let system = TriangularSolve {
        left_side: true,
        lower: true,
        unit_diagonal: false,
        transpose_a: TransposeA::NoTranspose,
    };
    let x = triangular_solve(&Buffer::zeros(DType::F64, &[1, 1]), &b, system).unwrap();
    assert_eq!(x.get(0).as_f64(), f64::INFINITY);
    let message = triangular_solve(&Buffer::zeros(DType::F64, &[2, 2]), &b, system).unwrap_err().to_string();
    assert_eq!(message, "triangular_solve: shape [1, 1]: does not fit a matrix of the shape [2, 2]");
}

#[test]
fn refusals() {
    let message = |r: Result<Buffer, _>| match r {
        Ok(_) => String::new(),
        Err(e) => surject_runtime::library::LibraryError::to_string(&e),
    };
    assert_eq!(
        message(cholesky(&Buffer::zeros(DType::I32, &[2, 2]), true)),
        "cholesky: element type i32 is not supported; f32, f64, c64 and c128 are"
    );
    assert!(message(cholesky(&Buffer::zeros(DType::F32, &[2]), true)).contains("square"));
    let z = Buffer::zeros(DType::C64, &[4]);
    assert!(message(fft(&z, FftKind::Fft, &[5])).contains("[5]"));
    assert!(message(fft(&z, FftKind::Fft, &[])).contains("1 to 3"));
    assert!(message(fft(&z, FftKind::Fft, &[1, 4])).contains("1 to 3"));
    assert!(message(fft(&z, FftKind::Rfft, &[4])).contains("f32 and f64 are"));
    assert!(message(fft(&Buffer::zeros(DType::F32, &[4]), FftKind::Fft, &[4])).contains("c64 and c128 are"));
    assert!(message(fft(&Buffer::zeros(DType::C64, &[1]), FftKind::Irfft, &[usize::MAX])).contains("axes"));
    // No frequency, no signal.
    assert_eq!(fft(&Buffer::zeros(DType::C64, &[3, 1]), FftKind::Irfft, &[0]).unwrap().shape(), [3, 0]);
    let mut out = [0u8; 64];
    // SAFETY: refused before anything is touched.
    unsafe {
        let null = std::ptr::null();
        assert_eq!(surject_cholesky(0, null, out.as_mut_ptr(), 1, 1, 1), 1);
        assert_eq!(surject_cholesky(11, null, out.as_mut_ptr(), i64::MAX, i64::MAX, 1), 1);
        assert_eq!(surject_fft(7, 13, null, out.as_mut_ptr(), 1, 1, [4].as_ptr()), 1);
        assert_eq!(surject_fft(0, 13, null, out.as_mut_ptr(), -1, 1, [4].as_ptr()), 1);
        assert_eq!(surject_triangular_solve(12, null, null, out.as_mut_ptr(), 1, 1, 1, 1, 1, 0, 3), 1);
    }
}
