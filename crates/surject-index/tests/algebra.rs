//! Composition, inverse, factoring and fibre products against brute force.

mod common;

use common::*;
use std::collections::HashSet;
use surject_index::{Affine, Extent, Fill, IndexMap, Space};

const FILL: Fill = Fill(7);

/// `inverse.apply(d) = Some(p)` exactly when `map.apply(p) = Some(d)`.
fn check_inverse(map: &IndexMap) -> bool {
    let Some(inverse) = map.inverse(FILL) else { return false };
    assert!(well_formed(&inverse), "{map} inverse {inverse}");
    let fibres = fibres(map);
    for d in map.codomain().iter_points().unwrap() {
        let expected = fibres.get(&d).map(|f| {
            assert_eq!(f.len(), 1, "{map} has an inverse {inverse}");
            f[0].clone()
        });
        assert_eq!(inverse.apply(&d), expected, "{map} inverse {inverse} at {d:?}");
    }
    true
}

fn check_fibre(n: &IndexMap, m: &IndexMap) -> bool {
    let Some(product) = n.fibre_product(m) else { return false };
    let mut pairs = HashSet::new();
    let by_position = fibres(m);
    for (q, d) in graph(n) {
        for p in by_position.get(&d).into_iter().flatten() {
            pairs.insert((q.clone(), p.clone()));
        }
    }
    assert_eq!(product.to_q.domain(), &product.space);
    assert_eq!(product.to_p.domain(), &product.space);
    assert_eq!(product.to_q.codomain(), n.domain());
    assert_eq!(product.to_p.codomain(), m.domain());
    let mut found = HashSet::new();
    for r in product.space.iter_points().unwrap() {
        let pair = (product.to_q.apply(&r).unwrap(), product.to_p.apply(&r).unwrap());
        assert!(pairs.contains(&pair), "{n} against {m}: {product:?} has {pair:?}");
        assert!(found.insert(pair), "{n} against {m}: {product:?} repeats a pair");
    }
    assert_eq!(found.len(), pairs.len(), "{n} against {m}: {product:?}");
    true
}

#[test]
fn inverse_of_random_maps() {
    let mut rng = Rng(1);
    let mut found = 0;
    for _ in 0..60_000 {
        let domain = rng.space_with_zeros(3, 10, 4);
        let map = if rng.chance(50) {
            rng.total(&domain, 3)
        } else {
            let codomain = rng.space(3, 0, 5);
            rng.partial_into(&domain, &codomain, Fill(3))
        };
        found += check_inverse(&map) as usize;
    }
    assert!(found > 5_000, "{found}");
}

#[test]
fn inverse_of_the_usual_maps() {
    let space = Space::of(&[4, 5]);
    let transpose = IndexMap::projection(&space, &[1, 0]);
    assert_eq!(transpose.inverse(FILL).unwrap().to_string(), "(i<5, j<4) -> [j, i] in [4,5]");
    let reverse = IndexMap::reverse(&space, &[1]).unwrap();
    assert_eq!(reverse.inverse(FILL), Some(reverse.clone()));
    let write = IndexMap::total(
        Space::of(&[3]),
        space.clone(),
        vec![Affine::fixed(1, 2), Affine::strided(1, 0, 1, 1)],
    );
    let inverse = write.unwrap().inverse(FILL).unwrap();
    assert_eq!(
        inverse.to_string(),
        "(i<4, j<5) -> [j - 1] in [3] where 0 <= j - 1 < 3 and 0 <= i - 2 < 1 else 0x7"
    );
    let sum = Affine { coeffs: vec![1, 1], offset: 0 };
    let mix = IndexMap::total(space, Space::of(&[4, 8]), vec![Affine::axis(2, 0), sum]).unwrap();
    assert_eq!(
        mix.inverse(FILL).unwrap().to_string(),
        "(i<4, j<8) -> [i, -i + j] in [4,5] where 0 <= i - j + 4 < 5 else 0x7"
    );
    let stride = IndexMap::slice(&[3], &[0], &[2], &Space::of(&[6])).unwrap();
    assert_eq!(stride.inverse(FILL), None);
    let unit = IndexMap::projection(&Space::of(&[3, 1]), &[0]);
    assert_eq!(unit.inverse(FILL).unwrap().to_string(), "(i<3) -> [i, 0] in [3,1]");
    let n = Extent::input_axis(0, 0);
    let symbolic = Space::new([n, Extent::Const(3)]);
    let inverse = IndexMap::projection(&symbolic, &[1, 0]).inverse(FILL).unwrap();
    assert_eq!(inverse.to_string(), "(i<3, j<in0.0) -> [j, i] in [in0.0,3]");
}

#[test]
fn composition_of_random_maps() {
    let mut rng = Rng(2);
    for _ in 0..60_000 {
        let domain = rng.space(3, 0, 4);
        let middle = rng.space(3, 0, 5);
        let last = rng.space(2, 0, 5);
        let first = match rng.chance(50) {
            true => rng.partial_into(&domain, &middle, FILL),
            false => match rng.total_into(&domain, &middle) {
                Some(map) => map,
                None => continue,
            },
        };
        let next = rng.partial_into(&middle, &last, FILL);
        let both = first.then(&next).unwrap();
        assert!(well_formed(&both));
        for p in domain.iter_points().unwrap() {
            let expected = first.apply(&p).and_then(|d| next.apply(&d));
            assert_eq!(both.apply(&p), expected, "{first} then {next} = {both}");
        }
    }
}

#[test]
fn fibre_products_of_random_maps() {
    let mut rng = Rng(3);
    let (mut found, mut tried) = (0, 0);
    for _ in 0..60_000 {
        let p = rng.space_with_zeros(3, 5, 5);
        let q = rng.space_with_zeros(3, 5, 5);
        let m = rng.total(&p, 2);
        if let Some(n) = rng.total_into(&q, m.codomain()) {
            tried += 1;
            found += check_fibre(&n, &m) as usize;
            check_fibre(&m, &n);
        }
    }
    assert!(found * 2 > tried, "{found} of {tried}");
}

#[test]
fn fibre_products_with_projections_always_succeed_and_keep_the_axes() {
    let mut rng = Rng(4);
    for _ in 0..30_000 {
        let p = rng.space(4, 1, 4);
        let mut axes: Vec<usize> = (0..p.rank()).collect();
        for i in (1..axes.len()).rev() {
            axes.swap(i, rng.range(0, i as i64) as usize);
        }
        axes.truncate(rng.range(0, axes.len() as i64) as usize);
        let m = IndexMap::projection(&p, &axes);
        let q = rng.space(3, 1, 4);
        let Some(n) = rng.total_into(&q, m.codomain()) else { continue };
        assert!(check_fibre(&n, &m), "{n} against {m}");
        let product = n.fibre_product(&m).unwrap();
        let free = (0..p.rank()).filter(|a| !axes.contains(a) && p.extent(*a).as_const() != Some(1));
        assert_eq!(product.space, q.product(&p.select(&free.collect::<Vec<_>>())));
        assert_eq!(product.to_q, IndexMap::projection(&product.space, &(0..q.rank()).collect::<Vec<_>>()));
    }
}

#[test]
fn fibre_product_of_a_window() {
    // A convolution reads an accumulation over k along 2*o + d.
    let m = IndexMap::projection(&Space::of(&[9, 7]), &[0]);
    let window = Affine { coeffs: vec![2, 1], offset: 0 };
    let n = IndexMap::total(Space::of(&[4, 3]), Space::of(&[9]), vec![window]).unwrap();
    let product = n.fibre_product(&m).unwrap();
    assert_eq!(product.to_q.to_string(), "(i<4, j<3, k<7) -> [i, j] in [4,3]");
    assert_eq!(product.to_p.to_string(), "(i<4, j<3, k<7) -> [2*i + j, k] in [9,7]");
}

#[test]
fn fibre_product_with_symbolic_extents() {
    let (n, k) = (Extent::input_axis(0, 0), Extent::input_axis(0, 1));
    let m = IndexMap::projection(&Space::new([n.clone(), k]), &[0]);
    let read = IndexMap::projection(&Space::new([Extent::Const(2), n]), &[1]);
    let product = read.fibre_product(&m).unwrap();
    assert_eq!(product.to_p.to_string(), "(i<2, j<in0.0, k<in0.1) -> [j, k] in [in0.0,in0.1]");
    assert_eq!(m.fibre_product(&read).unwrap().space.to_string(), "[in0.0,in0.1,2]");
}

#[test]
fn through_random_maps() {
    let mut rng = Rng(5);
    let mut found = 0;
    for _ in 0..60_000 {
        let p = rng.space_with_zeros(3, 5, 4);
        let over = rng.total(&p, 3);
        let target = rng.space(2, 1, 6);
        let Some(map) = rng.total_into(&p, &target) else { continue };
        // Half of the time a map that does factor.
        let map = match rng.total_into(over.codomain(), &target) {
            Some(k) if rng.chance(50) => over.then(&k).unwrap(),
            _ => map,
        };
        match map.through(&over) {
            Some(k) => {
                found += 1;
                assert!(well_formed(&k));
                let both = over.then(&k).unwrap();
                assert_eq!(graph(&both), graph(&map), "{map} through {over} is {k}");
                // The same form too, where there are points to tell forms apart.
                assert!(p.is_empty() || both == map, "{map} through {over} is {k}");
            }
            None if brute_surjective(&over) => {
                // Affine maps that agree where `over` agrees factor unless a division is needed.
                let axes: Option<Vec<_>> = over.is_projection();
                if let Some(axes) = axes {
                    let separates = (0..p.rank())
                        .any(|a| !axes.contains(&a) && map.components().iter().any(|c| c.coeffs[a] != 0));
                    assert!(separates, "{map} through {over}");
                }
            }
            None => {}
        }
    }
    assert!(found > 2_000, "{found}");
}
