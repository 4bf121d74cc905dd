//! All numbers of `f32`, which takes a release build some minutes a function: `cargo test --release -p surject-codegen
//! --lib every_single -- --ignored --nocapture`, with `SURJECT_FUNCTIONS` for only some of them.

use super::limits::{Float, OPS, PART, faults};
use super::*;
use crate::machine::elem::Elem;

/// The distance from the exact value in units of the last place; subnormal numbers have the unit of the smallest normal
/// one. Infinite where only one of both is NaN, or infinite.
fn units(found: f32, exact: f64) -> f64 {
    match found.is_finite() && (exact as f32).is_finite() {
        true => (f64::from(found) - exact).abs() / unit(exact),
        false if found.same(exact as f32) => 0.0,
        false => f64::INFINITY,
    }
}

fn unit(exact: f64) -> f64 {
    let exponent = (exact.to_bits() >> 52 & 0x7ff).clamp(1023 - 126, 1023 + 127);
    f64::from_bits((exponent - 23) << 52)
}

/// The worst distance of a stretch of the numbers, and the faults at limits.
fn stretch(op: UnaryOp, ways: &[Way], range: std::ops::Range<u64>) -> (Vec<f64>, Vec<String>) {
    let list: Vec<f32> = range.map(|bits| f32::from_bits(bits as u32)).collect();
    let exact: Vec<f64> = list.iter().map(|&x| f64::interpreted(op, x.into())).collect();
    let expected: Vec<f32> = exact.iter().map(|&y| y as f32).collect();
    let mut worst = Vec::new();
    let mut wrong = Vec::new();
    for way in ways {
        wrong.extend(faults(op, way, &list, &expected));
        let (found, unless) = way.single(&[&list]);
        let counts = (0..list.len()).filter(|&i| unless.as_ref().is_none_or(|u| !u[i]));
        let distances = counts.filter(|&i| !expected[i].is_nan()).map(|i| units(found[i], exact[i]));
        worst.push(distances.fold(0.0, f64::max));
    }
    (worst, wrong)
}

/// Every number of `f32`, in all ways of every function.
#[test]
#[ignore = "takes minutes a function"]
fn every_single() {
    let chosen = std::env::var("SURJECT_FUNCTIONS").unwrap_or_default();
    let step = std::env::var("SURJECT_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut failed = Vec::new();
    for &op in OPS {
        if !chosen.is_empty() && !chosen.split(',').any(|name| name == op.name()) {
            continue;
        }
        // AVX2 and no tables differ in nothing but inverse roots.
        let tables = if op == UnaryOp::Rsqrt { &TABLES[..2] } else { &[TABLES[0], TABLES[2]][..] };
        let ways: Vec<Way> = tables.iter().flat_map(|&t| ways(op, Elem::F32, t)).collect();
        if ways.is_empty() {
            continue;
        }
        let parts: Vec<u64> = (0..1 << 20).step_by(step).collect();
        let (mut worst, mut wrong) = (vec![0.0; ways.len()], Vec::new());
        for part in parts {
            let (distances, faults) = stretch(op, &ways, part * PART as u64..(part + 1) * PART as u64);
            worst.iter_mut().zip(distances).for_each(|(w, d): (&mut f64, f64)| *w = w.max(d));
            wrong.extend(faults);
        }
        for (way, worst) in ways.iter().zip(&worst) {
            println!("{}: {worst:.3} units", way.name);
        }
        println!(
            "{op}: {} faults{}",
            wrong.len(),
            wrong.first().map(|w| format!(", such as {w}")).unwrap_or_default()
        );
        failed.extend(wrong);
    }
    assert!(failed.is_empty(), "{}", failed.len());
}
