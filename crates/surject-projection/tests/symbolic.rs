//! Projections over symbolic sizes against brute force: what is derived and decided once holds at every binding of the sizes that
//! satisfies the facts, and unknown is never taken for yes (seed 002; reference/extents.md, section 4.5).

mod notation;

use notation::spec;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use surject_index::{Extent, ExtentEnv, Facts, ScalarSemantics, Verdict};
use surject_projection::{
    Access, Piece, ProjectionError, Projections, derive, derive_given, injective, lacking, surjective,
};
use surject_shape::{Basis, Dim, GroundRow, GroundShape};

struct Sizes {
    n: u64,
    m: u64,
}

impl ExtentEnv for Sizes {
    fn input_axis(&self, _: usize, _: usize) -> Option<u64> {
        None
    }

    fn runtime_scalar(&self, _: usize, _: ScalarSemantics) -> Option<u64> {
        None
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        match name {
            "n" => Some(self.n),
            "m" => Some(self.m),
            _ => None,
        }
    }
}

fn facts(text: &str) -> Arc<Facts> {
    Arc::new(text.parse().unwrap())
}

fn extent(text: &str) -> Extent {
    text.parse().unwrap()
}

fn shape(sizes: &[Extent]) -> GroundShape {
    let trail = sizes.iter().map(|size| Dim::of(size.clone(), Basis::DEFAULT)).collect();
    GroundShape { output: GroundRow { lead: Vec::new(), trail }, ..GroundShape::default() }
}

/// A random operation: its spec, the sizes of all axes (operands, then the result), and of its labels.
struct Case {
    spec: String,
    shapes: Vec<Vec<Extent>>,
    labels: BTreeMap<String, Extent>,
    facts: &'static str,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// An axis over labels, and its size.
    fn axis(&mut self, labels: &BTreeMap<String, Extent>) -> (String, Extent) {
        let names: Vec<&String> = labels.keys().collect();
        let (a, b) = (self.one(&names), self.one(&names));
        let (x, y) = (labels[a].clone(), labels[b].clone());
        let less = |e: Extent| Extent::difference(e, 1.into());
        match self.below(8) {
            0 => (format!("2*{a}"), Extent::product(2.into(), x)),
            1 if a != b => {
                let (s, d) = (1 + self.below(3), 1 + self.below(2));
                let size =
                    Extent::sum(Extent::product(s.into(), less(x)), Extent::product(d.into(), less(y)));
                (format!("{s}*{a}<+{d}*{b}"), Extent::sum(size, 1.into()))
            }
            2 if a != b => (format!("{a}^{b}"), Extent::sum(x, y)),
            _ => (a.clone(), x),
        }
    }

    fn case(&mut self) -> Case {
        let mut labels = BTreeMap::new();
        for name in ["a", "b", "c", "d"] {
            labels
                .insert(name.to_string(), extent(self.one(&["n", "m", "n", "2", "3", "1", "n + 1", "2*m"])));
        }
        let operands = 1 + self.below(2);
        let mut parts = Vec::new();
        let mut shapes = Vec::new();
        for _ in 0..=operands {
            let axes: Vec<_> = (0..1 + self.below(3)).map(|_| self.axis(&labels)).collect();
            parts.push(axes.iter().map(|a| a.0.clone()).collect::<Vec<_>>().join(","));
            shapes.push(axes.into_iter().map(|a| a.1).collect());
        }
        let result = parts.pop().unwrap();
        let facts = self.one(&["", "n >= 1", "n >= 1, m >= 1", "n >= 1, m <= 2", "m == n", "n <= 1, m >= 2"]);
        Case { spec: format!("{}=>{result},", parts.join(";")), shapes, labels, facts }
    }
}

/// Where a tensor is accessed at a point, with the start of its window; `None` outside of it.
fn position(access: &Access, point: &[i64], sizes: &Sizes) -> Option<Vec<i64>> {
    let mut found = Vec::new();
    for (axis, component) in access.components().iter().enumerate() {
        let at = component.eval(point);
        let size = access.extents()[axis].eval(sizes).unwrap() as i64;
        if !(0..size).contains(&at) {
            return None;
        }
        let start = access.window().map_or(0, |w| w.starts[axis].eval(sizes).unwrap() as i64);
        found.push(start + at);
    }
    Some(found)
}

/// All points of the pieces: where they write and where they read, in one order.
fn points(pieces: &[Piece], sizes: &Sizes) -> Vec<Vec<Option<Vec<i64>>>> {
    let mut all = Vec::new();
    for piece in pieces {
        let space: Vec<u64> = piece.space.extents().iter().map(|e| e.eval(sizes).unwrap()).collect();
        for point in surject_index::Space::of(&space).iter_points().unwrap() {
            let accesses =
                std::iter::once(Some(&piece.result)).chain(piece.operands.iter().map(Option::as_ref));
            all.push(accesses.map(|a| a.and_then(|a| position(a, &point, sizes))).collect::<Vec<_>>());
        }
    }
    all.sort();
    all
}

fn bindings(facts: &Facts) -> impl Iterator<Item = Sizes> + '_ {
    let all = (0..5).flat_map(|n| (0..5).map(move |m| Sizes { n, m }));
    all.filter(|sizes| {
        facts.iter().all(|fact| {
            let (l, r) = (fact.left.eval_integer(sizes).unwrap(), fact.right.eval_integer(sizes).unwrap());
            match fact.relation {
                surject_index::Relation::Eq => l == r,
                surject_index::Relation::Ne => l != r,
                surject_index::Relation::Le => l <= r,
                surject_index::Relation::Lt => l < r,
                surject_index::Relation::Divides => l != 0 && r % l == 0 || r == 0,
            }
        })
    })
}

fn derived(case: &Case) -> Result<Projections, ProjectionError> {
    let (result, operands) = case.shapes.split_last().unwrap();
    let operands: Vec<_> = operands.iter().map(|s| shape(s)).collect();
    derive_given(&spec(&case.spec), &operands, &shape(result), &case.labels, &facts(case.facts))
}

/// The same operation at one binding, by numbers alone.
fn at(case: &Case, sizes: &Sizes) -> Option<Result<Projections, ProjectionError>> {
    let number = |e: &Extent| e.eval(sizes).ok().map(Extent::Const);
    let shapes: Option<Vec<Vec<Extent>>> =
        case.shapes.iter().map(|s| s.iter().map(number).collect()).collect();
    let shapes = shapes?;
    let (result, operands) = shapes.split_last().unwrap();
    let operands: Vec<_> = operands.iter().map(|s| shape(s)).collect();
    let labels = case.labels.iter().map(|(n, e)| (n.clone(), e.eval(sizes).unwrap())).collect();
    Some(derive(&spec(&case.spec), &operands, &shape(result), &labels))
}

#[derive(Default, Debug)]
struct Counts {
    derived: usize,
    windows: usize,
    yes: usize,
    no: usize,
    unknown: usize,
    lacking: usize,
    undecided: usize,
}

fn check(case: &Case, counts: &mut Counts) {
    let what = || format!("{} of {:?}, {:?} where {}", case.spec, case.shapes, case.labels, case.facts);
    let record = match derived(case) {
        Ok(record) => record,
        Err(ProjectionError::Undecided { .. }) => {
            counts.undecided += 1;
            return;
        }
        Err(_) => return,
    };
    let pieces = record.joint_pieces().unwrap_or_else(|e| panic!("{e}: {}", what()));
    counts.derived += 1;
    counts.windows += usize::from(pieces.iter().any(|p| p.result.window().is_some()));
    let (once, all) = (injective(&pieces), surjective(&pieces, &record.result_extents));
    let known = facts(case.facts);
    // What the questions lack, as facts of their own.
    let more = |facts: &[surject_index::Fact]| {
        (!facts.is_empty()).then(|| Facts::of(known.iter().chain(facts).cloned()).unwrap())
    };
    let once_more = more(&if once.is_unknown() { lacking(&pieces, None) } else { Vec::new() });
    let all_more =
        more(&if all.is_unknown() { lacking(&pieces, Some(&record.result_extents)) } else { Vec::new() });
    counts.lacking += usize::from(once_more.is_some()) + usize::from(all_more.is_some());
    for verdict in [&once, &all] {
        match verdict {
            Verdict::Yes(()) => counts.yes += 1,
            Verdict::No(()) => counts.no += 1,
            Verdict::Unknown => counts.unknown += 1,
        }
    }
    let holds = |facts: &Option<Facts>, sizes: &Sizes| {
        facts.as_ref().is_some_and(|f| bindings(f).any(|s| s.n == sizes.n && s.m == sizes.m))
    };
    for sizes in bindings(&known) {
        let here = || format!("n={} m={}: {}", sizes.n, sizes.m, what());
        let found = points(&pieces, &sizes);
        let cells: Vec<Vec<i64>> = found.iter().filter_map(|p| p[0].clone()).collect();
        let distinct: HashSet<&Vec<i64>> = cells.iter().collect();
        let size: u64 = record.result_extents.iter().map(|e| e.eval(&sizes).unwrap()).product();
        let (is_once, is_all) = (distinct.len() == cells.len(), distinct.len() as u64 == size);
        match once {
            Verdict::Yes(()) => assert!(is_once, "injective, but not at {}", here()),
            Verdict::No(()) => assert!(!is_once, "not injective, but is at {}", here()),
            Verdict::Unknown if holds(&once_more, &sizes) => {
                assert!(is_once, "injective by {once_more:?}, but not at {}", here());
            }
            Verdict::Unknown => {}
        }
        match all {
            Verdict::Yes(()) => assert!(is_all, "surjective, but not at {}", here()),
            Verdict::No(()) => assert!(!is_all, "not surjective, but is at {}", here()),
            Verdict::Unknown if holds(&all_more, &sizes) => {
                assert!(is_all, "surjective by {all_more:?}, but not at {}", here());
            }
            Verdict::Unknown => {}
        }
        // The same points as of the operation that is made for these sizes.
        if let Some(Ok(fixed)) = at(case, &sizes)
            && let Ok(fixed) = fixed.joint_pieces()
        {
            let expected = points(&fixed, &sizes);
            assert_eq!(found, expected, "other points at {}", here());
        }
    }
}

#[test]
fn decisions_hold_at_every_binding() {
    let mut random = Random(48);
    let mut counts = Counts::default();
    for _ in 0..1500 {
        check(&random.case(), &mut counts);
    }
    assert!(counts.derived > 300 && counts.windows > 20 && counts.yes > 100, "{counts:?}");
    assert!(counts.unknown > 50 && counts.lacking > 20, "{counts:?}");
}

fn case(spec: &str, shapes: &[&[&str]], labels: &[(&str, &str)], facts: &'static str) -> Case {
    Case {
        spec: spec.to_string(),
        shapes: shapes.iter().map(|s| s.iter().map(|e| extent(e)).collect()).collect(),
        labels: labels.iter().map(|(n, e)| (n.to_string(), extent(e))).collect(),
        facts,
    }
}

/// The case A-27: a sum over `n` elements writes its cell only where there is one.
#[test]
fn a_reduction_covers_only_where_it_has_positions() {
    let labels = &[("a", "n")];
    let sum = derived(&case("a=>", &[&["n"], &[]], labels, "")).unwrap();
    let pieces = sum.joint_pieces().unwrap();
    assert_eq!(surjective(&pieces, &[]), Verdict::Unknown);
    assert_eq!(lacking(&pieces, Some(&[]))[0].to_string(), "n >= 1");
    assert_eq!(injective(&pieces), Verdict::Unknown);
    assert_eq!(lacking(&pieces, None)[0].to_string(), "n <= 1");
    let sum = derived(&case("a=>", &[&["n"], &[]], labels, "n >= 1")).unwrap();
    assert!(surjective(&sum.joint_pieces().unwrap(), &[]).is_yes());
}

#[test]
fn an_axis_that_may_be_one_iterates() {
    let labels = &[("a", "n")];
    let copy = derived(&case("a=>a,", &[&["n"], &["n"]], labels, "")).unwrap();
    assert_eq!(copy.to_string(), "product space {a:n}\nlhs [a]\nrhs1 [a]\nreductions {}\n");
    let one = derived(&case("a=>a,", &[&["n"], &["n"]], labels, "n == 1")).unwrap();
    assert_eq!(one.to_string(), "product space {}\nlhs [0]\nrhs1 [0]\nreductions {}\n");
}

#[test]
fn what_is_not_known_is_refused_with_the_fact() {
    let undecided = |case: Case| match derived(&case) {
        Err(ProjectionError::Undecided { missing, .. }) => missing.to_string(),
        other => panic!("{other:?}"),
    };
    // One loop for two sizes.
    assert_eq!(undecided(case("a;a=>a,", &[&["n"], &["m"], &["n"]], &[], "")), "n == m");
    // A fixed position.
    assert_eq!(undecided(case("2=>", &[&["n"], &[]], &[], "")), "n >= 3");
    // A window that may not fit.
    let window = case("a<+b;b=>a,", &[&["n"], &["3"], &["n - 2"]], &[], "");
    assert_eq!(undecided(window), "n >= 3");
    // A size that is never the other.
    let never = derived(&case("a;a=>a,", &[&["n"], &["n + 1"], &["n"]], &[], ""));
    assert!(matches!(never, Err(ProjectionError::Sizes { .. })), "{never:?}");
    let margin = derived(&case("a=+b;b=>a,", &[&["5"], &["n"], &["5"]], &[], "n >= 1"));
    assert!(matches!(margin, Err(ProjectionError::Dynamic { .. })), "{margin:?}");
}

#[test]
fn components_follow_on_each_other() {
    let concat = derived(&case("a;b=>a^b", &[&["n"], &["m"], &["n + m"]], &[], "")).unwrap();
    assert_eq!(concat.to_string().lines().next(), Some("product space {a:n^b:m}"));
    let pieces = concat.pieces().unwrap();
    assert!(injective(&pieces).is_yes() && surjective(&pieces, &concat.result_extents).is_yes());
    let starts: Vec<String> =
        pieces.iter().map(|p| p.result.window().unwrap().starts[0].to_string()).collect();
    assert_eq!(starts, ["0", "n"]);
}
