//! Maps between spaces with symbolic sizes.

use crate::brute::{Sizes, holds, integer};
use crate::random::Rng;
use surject_index::{Affine, Extent, Facts, Fill, IndexMap, Space};

fn space(text: &str) -> Space {
    text.parse().unwrap()
}

fn total(domain: &str, component: &str, extent: &str, facts: &str) -> bool {
    let domain = space(domain);
    let names = surject_index::axis_names(domain.rank());
    let component = Affine::parse(component, &names).unwrap();
    IndexMap::total_given(domain, space(extent), vec![component], &facts.parse().unwrap()).is_ok()
}

#[test]
fn reads_that_stay_inside_for_every_size() {
    // Slices, windows, strides, concatenations and merged axes.
    assert!(total("[n - 1]", "i + 1", "[n]", ""));
    assert!(total("[n - 2,3]", "i + j", "[n]", ""));
    assert!(total("[floordiv(n, 2),2]", "2*i + j", "[n]", ""));
    assert!(total("[ceildiv(n, 2)]", "2*i", "[n]", ""));
    assert!(total("[n]", "i", "[n + m]", ""));
    assert!(total("[min(n, m)]", "i", "[m]", ""));
    assert!(total("[n,3]", "3*i + j", "[3*n]", ""));
    assert!(total("[3,4]", "3 - i - j + 2", "[6]", ""));
    // What depends on the sizes needs a fact.
    assert!(!total("[n]", "i", "[m]", ""));
    assert!(total("[n]", "i", "[m]", "n <= m"));
    assert!(!total("[4]", "i", "[n]", ""));
    assert!(total("[4]", "i", "[n]", "n >= 4"));
    assert!(!total("[ceildiv(n, 2),2]", "2*i + j", "[n]", ""));
    assert!(total("[ceildiv(n, 2),2]", "2*i + j", "[n]", "mod(n, 2) == 0"));
    // And what is wrong stays wrong.
    assert!(!total("[n]", "i + 1", "[n]", "n >= 1"));
    assert!(!total("[n]", "i - 1", "[n]", ""));
}

/// A map that is proven total reads inside, at all small sizes.
#[test]
fn maps_that_are_proven_read_inside() {
    let mut rng = Rng(11);
    let names = ["n", "m"];
    let (mut proven, mut partial) = (0, 0);
    for round in 0..1500 {
        let facts: Facts = ["", "n >= 2", "n <= m", "mod(n, 2) == 0"][round % 4].parse().unwrap();
        let domain = Space::new((0..1 + rng.below(2)).map(|_| rng.extent(&names, 1)));
        let extent = rng.extent(&names, 2);
        let coeffs: Vec<i64> = (0..domain.rank()).map(|_| rng.below(4) as i64 - 1).collect();
        let component = Affine { coeffs, offset: rng.below(5) as i64 - 1 };
        let codomain = Space::new([extent.clone()]);
        let map = IndexMap::total_given(domain.clone(), codomain.clone(), vec![component.clone()], &facts);
        proven += usize::from(map.is_ok());
        let guarded =
            IndexMap::partial(domain.clone(), codomain, vec![component.clone()], Vec::new(), Fill(0));
        let without_guard = guarded.is_ok_and(|m| m.is_total());
        partial += usize::from(without_guard);
        for number in 0..25u64 {
            let sizes = Sizes([("n".to_string(), number % 5), ("m".to_string(), number / 5)].into());
            let value = |e: &Extent| integer(e, &sizes).and_then(|v| u64::try_from(v).ok());
            let Some(n) = value(&extent) else { continue };
            let Some(domain) = domain.extents().iter().map(value).collect::<Option<Vec<u64>>>() else {
                continue;
            };
            let is_admissible = facts.iter().all(|f| holds(f, &sizes) == Some(true));
            for point in Space::of(&domain).iter_points().unwrap() {
                let inside = (0..n as i64).contains(&component.eval(&point));
                assert!(inside || !(map.is_ok() && is_admissible), "{map:?} at {sizes:?}");
                assert!(inside || !without_guard, "{component:?} in {extent} at {sizes:?}");
            }
        }
    }
    assert!(proven > 200 && partial > 100, "{proven} {partial}");
}
