//! Ready-made maps, reshapes and images against brute force.

mod common;

use common::*;
use std::collections::{BTreeSet, HashMap};
use surject_index::{Affine, Extent, Fill, IndexMap, MapError, Progression, ReshapePlan, ReshapeStep, Space};

#[test]
fn slices_reversals_and_broadcasts() {
    let space = Space::of(&[11, 6]);
    let slice = IndexMap::slice(&[4, 3], &[1, 2], &[3, 1], &space).unwrap();
    assert_eq!(slice.to_string(), "(i<4, j<3) -> [3*i + 1, j + 2] in [11,6]");
    assert!(matches!(
        IndexMap::slice(&[4, 5], &[1, 2], &[3, 1], &space),
        Err(MapError::OutOfRange { axis: 1, .. })
    ));
    assert!(matches!(IndexMap::slice(&[4, 5], &[1], &[3, 1], &space), Err(MapError::Arity { .. })));

    let reverse = IndexMap::reverse(&space, &[0]).unwrap();
    assert_eq!(reverse.to_string(), "(i<11, j<6) -> [-i + 10, j] in [11,6]");
    assert!(reverse.then(&reverse).unwrap().is_identity());
    assert!(IndexMap::reverse(&space, &[2]).is_err());
    let n = Extent::input_axis(0, 0);
    assert!(IndexMap::reverse(&Space::new([n.clone()]), &[0]).is_err());
    assert!(IndexMap::reverse(&Space::of(&[0]), &[0]).is_ok());

    let operand = Space::of(&[1, 6]);
    let broadcast = IndexMap::broadcast_in_dim(&Space::of(&[4, 10, 6]), &operand, &[1, 2]).unwrap();
    assert_eq!(broadcast.to_string(), "(i<4, j<10, k<6) -> [0, k] in [1,6]");
    assert_eq!(broadcast.free_axes(), [0, 1]);
    assert!(IndexMap::broadcast_in_dim(&Space::of(&[4, 10]), &operand, &[0, 1]).is_err());
    assert!(IndexMap::broadcast_in_dim(&Space::of(&[4]), &operand, &[0, 1]).is_err());
    let symbolic =
        IndexMap::broadcast_in_dim(&Space::new([Extent::Const(2), n.clone()]), &Space::new([n]), &[1]);
    assert_eq!(symbolic.unwrap().to_string(), "(i<2, j<in0.0) -> [j] in [in0.0]");
}

#[test]
fn linearisation() {
    assert_eq!(
        IndexMap::linearise(&Space::of(&[2, 1, 3, 4])).unwrap().to_string(),
        "(i<2, j<1, k<3, l<4) -> [12*i + 4*k + l] in [24]"
    );
    assert_eq!(IndexMap::linearise(&Space::scalar()).unwrap().to_string(), "() -> [0] in [1]");
    assert_eq!(IndexMap::linearise(&Space::of(&[3, 0, 2])).unwrap().codomain(), &Space::of(&[0]));
    let n = Extent::input_axis(0, 0);
    assert_eq!(
        IndexMap::linearise(&Space::new([Extent::Const(3), n])).unwrap_err(),
        MapError::SymbolicStride { axis: 0, stride: Extent::input_axis(0, 0) },
        "the stride of the outer axis is symbolic"
    );
    assert!(IndexMap::linearise(&Space::of(&[1 << 40, 1 << 40])).is_err());
}

#[test]
fn projections_are_recognised() {
    let space = Space::of(&[4, 1, 5]);
    for axes in [vec![], vec![2, 0], vec![0, 1, 2], vec![1, 2], vec![2]] {
        assert_eq!(IndexMap::projection(&space, &axes).is_projection(), Some(axes));
    }
    let twice = IndexMap::projection(&space, &[0, 0]);
    assert_eq!(twice.is_projection(), None);
    let longer = IndexMap::total(Space::of(&[3]), Space::of(&[4]), vec![Affine::axis(1, 0)]).unwrap();
    assert_eq!(longer.is_projection(), None);
}

#[test]
fn restriction_and_product() {
    let mut rng = Rng(21);
    for _ in 0..20_000 {
        let (domain, codomain) = (rng.space(3, 0, 4), rng.space(2, 0, 5));
        let map = rng.partial_into(&domain, &codomain, Fill(1));
        if domain.rank() > 0 {
            let axis = rng.range(0, domain.rank() as i64 - 1) as usize;
            let size = domain.extent(axis).as_const().unwrap();
            let start = rng.range(0, size as i64) as u64;
            let count = rng.range(0, (size - start) as i64) as u64;
            let part = map.restrict(axis, start, count).unwrap();
            assert!(map.restrict(axis, start, size - start + 1).is_err());
            for p in part.domain().iter_points().unwrap() {
                let mut whole = p.clone();
                whole[axis] += start as i64;
                assert_eq!(part.apply(&p), map.apply(&whole));
            }
        }
        let domain = rng.space(2, 0, 3);
        let other = rng.total(&domain, 2);
        let product = map.product(&other).unwrap();
        for p in product.domain().iter_points().unwrap() {
            let (left, right) = p.split_at(map.domain().rank());
            let expected = map.apply(left).zip(other.apply(right)).map(|(a, b)| [a, b].concat());
            assert_eq!(product.apply(&p), expected);
        }
    }
    let a = IndexMap::partial(Space::of(&[4]), Space::of(&[2]), vec![Affine::axis(1, 0)], vec![], Fill(1))
        .unwrap();
    assert_eq!(a.product(&a.with_fill(Fill(2))), Err(MapError::FillsDiffer));
}

fn check_image(map: &IndexMap) -> bool {
    let image: BTreeSet<Vec<i64>> = graph(map).into_iter().map(|(_, d)| d).collect();
    let values =
        |axis: usize| image.iter().map(|d| d[axis]).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
    let axes: Vec<Vec<i64>> = (0..map.codomain().rank()).map(values).collect();
    let progressions = axes.iter().all(|v| v.windows(2).all(|w| w[1] - w[0] == v[1] - v[0]));
    let product: usize = axes.iter().map(Vec::len).product();
    let expected = progressions && product == image.len();
    match map.image() {
        Some(box_) => {
            assert!(expected, "{map} {box_:?}");
            for (p, v) in box_.iter().zip(axes) {
                let listed: Vec<i64> = (0..p.count as i64).map(|k| p.start + k * p.stride).collect();
                assert_eq!(listed, v, "{map} {box_:?}");
            }
            true
        }
        None => {
            assert!(!expected || map.codomain().rank() == 0, "{map}");
            false
        }
    }
}

#[test]
fn images_of_random_maps() {
    let mut rng = Rng(22);
    let mut found = 0;
    for _ in 0..40_000 {
        let (domain, codomain) = (rng.space(3, 0, 4), rng.space(3, 0, 6));
        found += check_image(&rng.total(&domain, 3)) as usize;
        check_image(&rng.partial_into(&domain, &codomain, Fill(0)));
    }
    assert!(found > 10_000, "{found}");
    let strided = IndexMap::slice(&[4], &[1], &[3], &Space::of(&[11])).unwrap();
    assert_eq!(strided.image().unwrap(), [Progression { start: 1, stride: 3, count: 4 }]);
}

type Tensor = HashMap<Vec<i64>, i64>;

/// A tensor whose elements are their row-major positions.
fn numbered(space: &Space) -> Tensor {
    space.iter_points().unwrap().zip(0..).collect()
}

fn run(steps: &[ReshapeStep], mut x: Tensor) -> Tensor {
    for step in steps {
        x = match step {
            ReshapeStep::Read(map) => graph(map).into_iter().map(|(p, d)| (p, x[&d])).collect(),
            ReshapeStep::Set(map) => {
                assert!(map.bijective().is_yes(), "{map}");
                graph(map).into_iter().map(|(p, d)| (d, x[&p])).collect()
            }
        };
    }
    x
}

/// All ordered factorisations into factors of at least 2, and some with units between.
fn shapes(count: u64) -> Vec<Vec<u64>> {
    let mut result = vec![vec![count]];
    for first in (2..count).filter(|f| count.is_multiple_of(*f)) {
        for mut rest in shapes(count / first) {
            rest.insert(0, first);
            result.push(rest);
        }
    }
    result
}

#[test]
fn all_reshapes() {
    // Elements, reshapes of rank ≤ 3, of which via the flat axis: the figures of `reference/egraph.md` section 8.
    let measured = [(8, 16, 0), (12, 64, 24), (24, 256, 108), (36, 400, 198), (64, 256, 0), (96, 1681, 750)];
    for (count, expected, expected_flat) in measured {
        let (mut pairs, mut flat) = (0, 0);
        let all: Vec<Vec<u64>> = shapes(count).into_iter().filter(|s| s.len() <= 4).collect();
        for from in &all {
            for to in &all {
                let (a, b) = (Space::of(from), Space::of(to));
                let plan = IndexMap::reshape(&a, &b).unwrap();
                if let ReshapePlan::Refined { space, read, write } = &plan {
                    assert!(read.bijective().is_yes() && write.bijective().is_yes());
                    assert_eq!((read.domain(), write.domain()), (space, space));
                }
                assert_eq!(run(&plan.steps(), numbered(&a)), numbered(&b), "{a} to {b}: {plan:?}");
                if from.len() <= 3 && to.len() <= 3 {
                    pairs += 1;
                    flat += matches!(plan, ReshapePlan::ViaFlat { .. }) as usize;
                }
            }
        }
        assert_eq!(pairs, expected);
        assert!(flat <= expected_flat, "{count}: {flat} via the flat axis");
    }
}

#[test]
fn reshapes_with_units_and_zeros() {
    let plan = |a: &[u64], b: &[u64]| IndexMap::reshape(&Space::of(a), &Space::of(b)).unwrap();
    let text = |steps: Vec<ReshapeStep>| {
        let one = |s: &ReshapeStep| match s {
            ReshapeStep::Read(m) => format!("read {m}"),
            ReshapeStep::Set(m) => format!("set {m}"),
        };
        steps.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(text(plan(&[2, 5], &[2, 5]).steps()), "");
    assert_eq!(text(plan(&[2, 5], &[2, 5, 1]).steps()), "read (i<2, j<5, k<1) -> [i, j] in [2,5]");
    assert_eq!(text(plan(&[1, 2, 1, 5], &[2, 5]).steps()), "read (i<2, j<5) -> [0, i, 0, j] in [1,2,1,5]");
    assert_eq!(text(plan(&[], &[1, 1]).steps()), "read (i<1, j<1) -> [] in []");
    assert_eq!(text(plan(&[3, 16], &[3, 2, 8]).steps()), "read (i<3, j<2, k<8) -> [i, 8*j + k] in [3,16]");
    assert_eq!(text(plan(&[3, 2, 8], &[3, 16]).steps()), "set (i<3, j<2, k<8) -> [i, 8*j + k] in [3,16]");
    assert_eq!(
        text(plan(&[5, 2, 3], &[5, 3, 2]).steps()),
        "set (i<5, j<2, k<3) -> [i, 3*j + k] in [5,6]; read (i<5, j<3, k<2) -> [i, 2*j + k] in [5,6]"
    );
    assert_eq!(
        text(plan(&[2, 6], &[4, 3]).steps()),
        "read (i<2, j<2, k<3) -> [i, 3*j + k] in [2,6]; set (i<2, j<2, k<3) -> [2*i + j, k] in [4,3]"
    );
    for (a, b) in [(vec![2, 0], vec![0]), (vec![0, 3, 5], vec![7, 0, 2])] {
        assert_eq!(run(&plan(&a, &b).steps(), Tensor::new()), Tensor::new());
    }
    assert_eq!(IndexMap::reshape(&Space::of(&[2, 3]), &Space::of(&[7])), None);
    assert_eq!(IndexMap::reshape(&Space::of(&[0]), &Space::of(&[1])), None);
}

#[test]
fn reshapes_with_symbolic_extents() {
    let n = Extent::input_axis(0, 0);
    let c = Extent::Const;
    let steps = |a: &[Extent], b: &[Extent]| {
        let plan = IndexMap::reshape(&Space::new(a.iter().cloned()), &Space::new(b.iter().cloned()))?;
        Some(plan.steps().len())
    };
    assert_eq!(steps(&[n.clone(), c(6)], &[n.clone(), c(2), c(3)]), Some(1));
    assert_eq!(steps(&[n.clone(), c(6)], &[c(1), n.clone(), c(6)]), Some(1));
    let flat = Extent::product(n.clone(), c(6));
    assert_eq!(steps(&[n.clone(), c(2), c(3)], std::slice::from_ref(&flat)), Some(1));
    assert_eq!(steps(std::slice::from_ref(&flat), &[n.clone(), c(2), c(3)]), Some(1));
    assert_eq!(steps(&[flat.clone(), c(4)], &[n.clone(), c(6), c(2), c(2)]), Some(1));
    assert_eq!(steps(std::slice::from_ref(&n), &[c(6)]), None);
    assert_eq!(steps(std::slice::from_ref(&n), &[Extent::input_axis(0, 1)]), None);
}
