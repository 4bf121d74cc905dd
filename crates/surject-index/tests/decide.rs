//! Injective and surjective against brute force: every map of rank ≤ 2, a sample of rank 3, guards, zero
//! extents, symbolic extents. `examples/decide_all.rs` runs all 110 million maps.

mod common;

use common::*;
use surject_index::{Affine, Extent, Fill, IndexMap, Space, Verdict};

/// The map with these rows on its tight codomain.
fn tight(sizes: &[u64], rows: &[Vec<i64>]) -> IndexMap {
    let domain = Space::of(sizes);
    let mut extents = Vec::new();
    let mut components = Vec::new();
    for row in rows {
        let mut c = Affine { coeffs: row.clone(), offset: 0 };
        let (low, high) = c.range(&domain).unwrap();
        c.offset = -low;
        extents.push((high - low + 1) as u64);
        components.push(c);
    }
    IndexMap::total(domain, Space::of(&extents), components).unwrap()
}

/// Every answer must be right, and there must be one.
fn check(map: &IndexMap) {
    match map.injective() {
        Verdict::Yes(_) => assert!(brute_injective(map), "{map} is not injective"),
        Verdict::No(c) => {
            assert_ne!(c.first, c.second, "{map}");
            let inside = |p: &[i64]| {
                let sizes = map.domain().sizes().unwrap();
                p.iter().zip(sizes).all(|(&x, n)| 0 <= x && x < n)
            };
            assert!(inside(&c.first) && inside(&c.second), "{map} {c:?}");
            assert!(map.apply(&c.first).is_some(), "{map} {c:?}");
            assert_eq!(map.apply(&c.first), map.apply(&c.second), "{map} {c:?}");
        }
        Verdict::Unknown => panic!("{map}: injective is not decided"),
    }
    match map.surjective() {
        Verdict::Yes(()) => assert!(brute_surjective(map), "{map} is not surjective"),
        Verdict::No(u) => {
            assert!(!brute_surjective(map), "{map} is surjective");
            if let Some(position) = u.position {
                let sizes = map.codomain().sizes().unwrap();
                assert!(position.iter().zip(sizes).all(|(&x, n)| 0 <= x && x < n), "{map} {position:?}");
                assert!(!fibres(map).contains_key(&position), "{map} {position:?}");
            }
        }
        Verdict::Unknown => panic!("{map}: surjective is not decided"),
    }
    if map.bijective().is_yes() {
        assert!(map.is_total() && brute_injective(map) && brute_surjective(map));
    }
}

/// Complete up to the sign and the order of the components, which change neither answer.
#[test]
fn every_map_of_rank_two_at_most() {
    let mut maps = 0;
    for rank in 1..=2 {
        let rows: Vec<Vec<i64>> = (0..7i64.pow(rank))
            .map(|k| (0..rank).map(|j| k / 7i64.pow(j) % 7 - 3).collect::<Vec<i64>>())
            .filter(|row| row.iter().find(|&&c| c != 0).is_none_or(|&c| c > 0))
            .collect();
        for codomain_rank in 1..=3 {
            for extents in Space::of(&vec![5; rank as usize]).iter_points().unwrap() {
                let sizes: Vec<u64> = extents.iter().map(|&n| n as u64 + 1).collect();
                for choice in Space::of(&vec![rows.len() as u64; codomain_rank]).iter_points().unwrap() {
                    if choice.is_sorted() {
                        let picked: Vec<_> = choice.iter().map(|&k| rows[k as usize].clone()).collect();
                        check(&tight(&sizes, &picked));
                        maps += 1;
                    }
                }
            }
        }
    }
    assert_eq!(maps, 170 + 81_875);
}

#[test]
fn a_sample_of_rank_three() {
    let mut rng = Rng(11);
    for _ in 0..300_000 {
        let rank = rng.range(2, 3);
        let sizes: Vec<u64> = (0..rank).map(|_| rng.range(1, 5) as u64).collect();
        let rows: Vec<Vec<i64>> = (0..rng.range(1, 3))
            .map(|_| (0..rank).map(|_| if rng.chance(40) { 0 } else { rng.range(-3, 3) }).collect())
            .collect();
        check(&tight(&sizes, &rows));
    }
}

#[test]
fn looser_codomains_zero_extents_and_larger_coefficients() {
    let mut rng = Rng(12);
    for _ in 0..40_000 {
        let domain = rng.space(3, 0, 5);
        check(&rng.total(&domain, 3));
        let sizes: Vec<u64> = (0..rng.range(1, 4)).map(|_| rng.range(1, 5) as u64).collect();
        let rows: Vec<Vec<i64>> =
            (0..rng.range(1, 2)).map(|_| sizes.iter().map(|_| rng.range(-20, 20)).collect()).collect();
        check(&tight(&sizes, &rows));
    }
}

#[test]
fn guarded_maps() {
    let mut rng = Rng(13);
    for _ in 0..60_000 {
        let domain = rng.space(3, 0, 5);
        let codomain = rng.space(3, 0, 5);
        check(&rng.partial_into(&domain, &codomain, Fill(0)));
    }
}

#[test]
fn larger_maps() {
    // Mixed radix of five digits, both ways round.
    let mixed = |strides: &[i64], sizes: &[u64]| tight(sizes, &[strides.to_vec()]);
    let map = mixed(&[10_000, 1_000, 100, 10, 1], &[10; 5]);
    assert!(map.bijective().is_yes());
    assert!(mixed(&[10_000, 1_000, 100, 10, 1], &[10, 10, 11, 10, 10]).injective().is_no());
    // A convolution's window, overlapping and not.
    let conv = |kernel: u64| {
        let rows =
            [vec![2, 0, 1, 0, 0, 0], vec![0, 2, 0, 1, 0, 0], vec![0, 0, 0, 0, 1, 0], vec![0, 0, 0, 0, 0, 1]];
        tight(&[56, 56, kernel, kernel, 8, 64], &rows)
    };
    assert!(conv(3).injective().is_no());
    assert!(conv(3).surjective().is_yes());
    assert!(conv(2).bijective().is_yes());
    assert!(conv(1).surjective().is_no());
    // Postage stamps.
    assert!(mixed(&[6, 10, 15], &[1000, 1000, 1000]).injective().is_no());
    assert!(mixed(&[6, 10, 15], &[5, 3, 2]).injective().is_yes());
    assert!(tight(&[4096, 4096], &[vec![1, 1], vec![1, -1]]).injective().is_yes());
    // Sizes at the end of the range.
    let huge = i64::MAX as u64;
    let map = IndexMap::identity(&Space::of(&[huge, huge]));
    assert!(map.bijective().is_yes());
    let map = IndexMap::projection(&Space::of(&[huge, huge]), &[0]);
    assert!(map.injective().is_no() && map.surjective().is_yes());
    let long = Affine { coeffs: vec![i64::MAX / 2, 1, -1], offset: 1 };
    let map = IndexMap::total(Space::of(&[2, 2, 2]), Space::of(&[huge]), vec![long]).unwrap();
    assert!(map.injective().is_no() && map.surjective().is_no());
}

#[test]
fn symbolic_extents() {
    let (n, m) = (Extent::input_axis(0, 0), Extent::input_axis(0, 1));
    let space = Space::new([n.clone(), Extent::Const(4), m]);
    assert!(IndexMap::identity(&space).bijective().is_yes());
    assert!(IndexMap::projection(&space, &[2, 0, 1]).bijective().is_yes());
    // An axis of symbolic extent that is summed over may be empty, or have one point.
    let sum = IndexMap::projection(&space, &[0, 1]);
    assert!(sum.injective().is_unknown());
    assert!(sum.surjective().is_unknown());
    // A constant one has points for certain, though they collide only where the others have any.
    let sum = IndexMap::projection(&space, &[0, 2]);
    assert!(sum.injective().is_unknown());
    assert!(sum.surjective().is_yes());
    let positive = Extent::sum(n.clone(), Extent::Const(1));
    let sum = IndexMap::projection(&Space::new([positive, Extent::Const(4)]), &[0]);
    assert!(sum.injective().is_no() && sum.surjective().is_yes());
    let flat = IndexMap::linearise(&Space::new([n, Extent::Const(3), Extent::Const(4)])).unwrap();
    assert_eq!(flat.to_string(), "(i<in0.0, j<3, k<4) -> [12*i + 4*j + k] in [in0.0*12]");
    assert!(flat.bijective().is_yes());
}
