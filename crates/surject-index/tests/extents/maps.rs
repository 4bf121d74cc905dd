//! Maps between spaces with symbolic sizes.

use crate::brute::{Sizes, holds, integer};
use crate::random::Rng;
use surject_index::{Affine, Extent, Facts, Fill, IndexMap, Space, Verdict};

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

/// Which maps cover their target and which never collide, in three values.
#[test]
fn maps_with_symbolic_sizes_are_decided() {
    let decide = |map: &str, facts: &str| {
        let (map, facts): (IndexMap, Facts) = (map.parse().unwrap(), facts.parse().unwrap());
        (map.injective_given(&facts).plain(), map.surjective_given(&facts).plain())
    };
    let (yes, no, unknown) = (Verdict::Yes(()), Verdict::No(()), Verdict::Unknown);
    // an empty sum writes nothing, so its target must be cleared unless `n >= 1`.
    assert_eq!(decide("(i<n) -> [] in []", ""), (unknown, unknown));
    assert_eq!(decide("(i<n) -> [] in []", "n >= 1"), (unknown, yes));
    assert_eq!(decide("(i<n) -> [] in []", "n >= 2"), (no, yes));
    assert_eq!(decide("(i<n) -> [] in []", "n == 1"), (yes, yes));
    assert_eq!(decide("(i<n, j<3) -> [3*i + j] in [3*n]", ""), (yes, yes));
    assert_eq!(decide("(i<n, j<3) -> [3*i + j] in [n*3]", ""), (yes, yes));
    assert_eq!(decide("(i<2*n) -> [i] in [n + n]", ""), (yes, yes));
    // Strides that are as long as the inner axis can be, and those that are not.
    assert_eq!(decide("(i<n, j<m) -> [4*i + j] in [4*n + m]", ""), (unknown, unknown));
    assert_eq!(decide("(i<n, j<m) -> [4*i + j] in [4*n + m]", "m <= 4").0, yes);
    assert_eq!(decide("(i<n, j<m) -> [4*i + j] in [4*n + m]", "m >= 5, n >= 2").0, no);
    assert_eq!(decide("(i<n) -> [2*i] in [2*n]", "").0, yes);
}

#[test]
fn an_undecided_read_says_which_fact_decides_it() {
    let error = |domain: &str, component: &str, extent: &str| {
        let domain = space(domain);
        let component = Affine::parse(component, &surject_index::axis_names(domain.rank())).unwrap();
        IndexMap::total(domain, space(extent), vec![component]).unwrap_err().to_string()
    };
    let start = |c: &str, e: &str| format!("component 0 (`{c}`) is not proven to stay inside the extent {e}");
    assert_eq!(error("[n]", "i", "[m]"), start("i", "m") + "; that needs `n <= m`");
    assert_eq!(error("[n]", "2*i", "[m]"), start("2*i", "m") + "; that needs `2*n <= m + 1`");
    assert_eq!(error("[4]", "i", "[n]"), start("i", "n") + "; that needs `n >= 4`");
    assert_eq!(error("[n]", "4 - i", "[9]"), start("-i + 4", "9") + "; that needs `n <= 5`");
    // It never stays inside.
    assert_eq!(error("[n]", "i + 1", "[n]"), start("i + 1", "n"));
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

/// Decisions on random maps with symbolic sizes hold at all small sizes.
#[test]
fn decisions_hold_at_every_size() {
    let mut rng = Rng(12);
    let names = ["n", "m"];
    let (mut decided, mut positive) = (0, 0);
    for round in 0..1500 {
        let facts: Facts = ["", "n >= 1, m >= 1", "m <= 3", "m == 2*n"][round % 4].parse().unwrap();
        let domain = Space::new((0..1 + rng.below(2)).map(|_| rng.extent(&names, 1)));
        let codomain = Space::new((0..rng.below(3)).map(|_| rng.extent(&names, 1)));
        let coefficient = |rng: &mut Rng| [0, 1, 1, 2, 3][rng.below(5) as usize];
        let components: Vec<Affine> = (0..codomain.rank())
            .map(|_| Affine {
                coeffs: (0..domain.rank()).map(|_| coefficient(&mut rng)).collect(),
                offset: 0,
            })
            .collect();
        let Ok(map) = IndexMap::total_given(domain.clone(), codomain.clone(), components.clone(), &facts)
        else {
            continue;
        };
        let answers = (map.injective_given(&facts).plain(), map.surjective_given(&facts).plain());
        decided += usize::from(!answers.0.is_unknown()) + usize::from(!answers.1.is_unknown());
        positive += usize::from(answers.1.is_yes());
        for number in 0..25u64 {
            let sizes = Sizes([("n".to_string(), number % 5), ("m".to_string(), number / 5)].into());
            let value = |e: &Extent| integer(e, &sizes).and_then(|v| u64::try_from(v).ok());
            let of = |space: &Space| space.extents().iter().map(value).collect::<Option<Vec<u64>>>();
            let (Some(from), Some(to)) = (of(&domain), of(&codomain)) else { continue };
            if facts.iter().any(|f| holds(f, &sizes) != Some(true)) {
                continue;
            }
            let bound = IndexMap::total(Space::of(&from), Space::of(&to), components.clone()).unwrap();
            let truth = (bound.injective().plain(), bound.surjective().plain());
            for (answer, truth) in [(answers.0, truth.0), (answers.1, truth.1)] {
                assert!(answer.is_unknown() || answer == truth, "{map} under {facts} at {sizes:?}");
            }
        }
    }
    assert!(decided > 200 && positive > 50, "{decided} {positive}");
}
