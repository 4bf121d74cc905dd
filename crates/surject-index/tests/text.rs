//! Extents; what `Display` writes is read back; the normal form is the same function.

mod common;

use common::*;
use proptest::prelude::*;
use surject_index::{
    Affine, Extent, ExtentEnv, ExtentError, Fill, Guard, IndexMap, ParseError, ScalarSemantics, Space,
    axis_names,
};

struct Env;

impl ExtentEnv for Env {
    fn input_axis(&self, input: usize, axis: usize) -> Option<u64> {
        (input < 3).then_some((input * 10 + axis) as u64)
    }

    fn runtime_scalar(&self, input: usize, _: ScalarSemantics) -> Option<u64> {
        (input == 0).then_some(u64::MAX)
    }
}

fn extent() -> impl Strategy<Value = Extent> {
    let scalar = |semantics| {
        move |input| {
            Extent::Expr(std::sync::Arc::new(surject_index::ExtentExpr::RuntimeScalar { input, semantics }))
        }
    };
    let leaf = prop_oneof![
        prop_oneof![0..9u64, any::<u64>()].prop_map(Extent::Const),
        (0..4usize, 0..4usize).prop_map(|(i, a)| Extent::input_axis(i, a)),
        (0..2usize).prop_map(scalar(ScalarSemantics::IntegerSize)),
        (0..2usize).prop_map(scalar(ScalarSemantics::DynamicTruncateSize)),
    ];
    leaf.prop_recursive(5, 32, 2, |inner| {
        (0..6, inner.clone(), inner).prop_map(|(op, a, b)| match op {
            0 => Extent::sum(a, b),
            1 => Extent::difference(a, b),
            2 => Extent::product(a, b),
            3 => Extent::floor_div(a, b),
            4 => Extent::min(a, b),
            _ => Extent::max(a, b),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn extents_are_read_back(e in extent()) {
        prop_assert_eq!(e.to_string().parse::<Extent>().unwrap(), e);
    }

    #[test]
    fn lower_bounds_hold(e in extent()) {
        if let Ok(value) = e.eval(&Env) {
            prop_assert!(e.at_least() <= value, "{} is {}, at least {}", e, value, e.at_least());
        }
    }

    #[test]
    fn spaces_are_read_back(extents in proptest::collection::vec(extent(), 0..4)) {
        let space = Space::new(extents);
        prop_assert_eq!(space.to_string().parse::<Space>().unwrap(), space);
    }

    #[test]
    fn expressions_are_read_back(coeffs in proptest::collection::vec(any::<i64>(), 0..14), offset in any::<i64>()) {
        let names = axis_names(coeffs.len());
        let expr = Affine { coeffs, offset };
        let text = expr.display(&names).to_string();
        prop_assert_eq!(Affine::parse(&text, &names).unwrap(), expr);
    }

    #[test]
    fn nothing_panics_on_any_text(text in "[0-9ij()\\[\\]<>=,+*/ xinwhereands.-]{0,60}") {
        let _ = text.parse::<IndexMap>();
        let _ = text.parse::<Space>();
        let _ = text.parse::<Extent>();
    }

    #[test]
    fn nothing_overflows(
        sizes in proptest::collection::vec(prop_oneof![0..5u64, any::<u64>()], 0..4),
        numbers in proptest::collection::vec(prop_oneof![-4..4i64, any::<i64>()], 40),
    ) {
        let domain = Space::of(&sizes);
        let codomain = Space::of(&sizes[..sizes.len() / 2]);
        let mut numbers = numbers.into_iter();
        let mut affine = || Affine {
            coeffs: (0..sizes.len()).map(|_| numbers.next().unwrap_or(1)).collect(),
            offset: numbers.next().unwrap_or(0),
        };
        let components = (0..codomain.rank()).map(|_| affine()).collect();
        let guards = vec![Guard { expr: affine(), bound: Extent::Const(3) }];
        let map = IndexMap::partial(domain.clone(), codomain, components, guards, Fill(0)).unwrap();
        let _ = (map.injective(), map.surjective(), map.image(), map.inverse(Fill(0)));
        let wide = Space::of(&vec![u64::MAX; sizes.len()]);
        let components = (0..sizes.len()).map(|_| affine()).collect();
        if let Ok(total) = IndexMap::total(domain.clone(), wide.clone(), components) {
            let _ = (total.injective(), total.surjective(), total.image(), total.inverse(Fill(0)));
            let _ = (total.fibre_product(&total), total.through(&total), total.then(&total));
        }
        let _ = IndexMap::linearise(&domain);
        let _ = IndexMap::reshape(&domain, &wide);
        let _ = IndexMap::reverse(&domain, &(0..domain.rank()).collect::<Vec<_>>());
    }
}

#[test]
fn extents_fold_and_compare() {
    let c = Extent::Const;
    let n = Extent::input_axis(1, 2);
    assert_eq!(Extent::sum(c(2), c(3)), c(5));
    assert_eq!(Extent::product(c(2), c(3)), c(6));
    assert_eq!(Extent::difference(c(5), c(3)), c(2));
    assert_eq!(Extent::floor_div(c(7), c(2)), c(3));
    assert_eq!(Extent::min(c(7), c(2)), c(2));
    assert_eq!(Extent::max(c(7), c(2)), c(7));
    // What has no value is not folded.
    assert_eq!(Extent::difference(c(3), c(5)).to_string(), "3 - 5");
    assert_eq!(Extent::floor_div(c(3), c(0)).to_string(), "floordiv(3, 0)");
    assert_eq!(Extent::sum(c(u64::MAX), c(1)).as_const(), None);
    assert_eq!(Extent::sum(Extent::max(n.clone(), c(2)), c(1)).at_least(), 3);
    assert_eq!(Extent::sum(Extent::difference(n, c(2)), c(9)).at_least(), 0);
}

#[test]
fn extents_are_evaluated_in_integers() {
    let c = Extent::Const;
    let n = Extent::input_axis(1, 2); // 12
    let less = Extent::difference(n.clone(), c(20));
    assert_eq!(less.eval(&Env), Err(ExtentError::Negative("in1.2 - 20".into(), -8)));
    assert_eq!(Extent::sum(less.clone(), c(9)).eval(&Env), Ok(1));
    assert_eq!(Extent::sum(Extent::floor_div(less, c(3)), c(9)).eval(&Env), Ok(6), "floor, not truncation");
    let zero = Extent::difference(n.clone(), n.clone());
    assert!(matches!(Extent::floor_div(n.clone(), zero).eval(&Env), Err(ExtentError::DivByZero(_))));
    assert!(matches!(Extent::input_axis(7, 0).eval(&Env), Err(ExtentError::Unbound(_))));
    let huge: Extent = "size(in0)".parse().unwrap();
    let sum = Extent::sum(huge.clone(), c(1));
    assert!(matches!(sum.eval(&Env), Err(ExtentError::Overflow(_))));
    let square = Extent::product(huge.clone(), huge);
    assert!(matches!(Extent::product(square.clone(), square).eval(&Env), Err(ExtentError::Overflow(_))));
}

#[test]
fn random_maps_are_read_back() {
    let mut rng = Rng(31);
    for round in 0..20_000 {
        let (domain, codomain) = (rng.space(3, 0, 4), rng.space(3, 0, 5));
        let total = rng.total(&domain, 3);
        assert_eq!(total.to_string().parse::<IndexMap>(), Ok(total));
        let partial = rng.partial_into(&domain, &codomain, Fill(round));
        assert_eq!(partial.to_string().parse::<IndexMap>(), Ok(partial.clone()));
        let last = rng.space(2, 0, 5);
        let next = rng.partial_into(&codomain, &last, Fill(round));
        let both = partial.then(&next).unwrap();
        assert_eq!(both.to_string().parse::<IndexMap>(), Ok(both.clone()), "{both}");
    }
}

#[test]
fn texts_that_are_not_maps() {
    let map = |text: &str| text.parse::<IndexMap>();
    assert!(map(" ( b<4 ,x<3)->[ 2*x+b-1 + 1 ] in[8] ").is_ok());
    assert_eq!(map("(i<4, j<3) -> [x] in [4]"), Err(ParseError::UnknownAxis { name: "x".into() }));
    assert_eq!(map("(i<4, i<3) -> [i] in [4]"), Err(ParseError::RepeatedAxis { name: "i".into() }));
    assert!(matches!(map("(i<4) -> [i] in [3]"), Err(ParseError::Map(_))));
    assert!(matches!(map("(i<4) -> [i] in [4] x"), Err(ParseError::Expected { at: 20, .. })));
    assert!(matches!(map("(i<4) -> [i] in [3] where 0 <= i < 3"), Err(ParseError::Expected { .. })));
    assert!(matches!("99999999999999999999".parse::<Extent>(), Err(ParseError::Number { at: 0 })));
    assert!(matches!("(".repeat(100_000).parse::<Extent>(), Err(ParseError::TooDeep { .. })));
    // A guard that is missing is added.
    let made_safe = map("(i<9) -> [i] in [4] where 0 <= i - 2 < 9 else 0x0").unwrap();
    assert_eq!(made_safe.to_string(), "(i<9) -> [i] in [4] where 0 <= i - 2 < 2 else 0x0");
}

#[test]
fn the_normal_form_is_the_same_function() {
    let mut rng = Rng(32);
    for _ in 0..60_000 {
        let (domain, codomain) = (rng.space(3, 0, 5), rng.space(2, 0, 5));
        let components: Vec<Affine> = (0..codomain.rank()).map(|_| rng.affine(domain.rank(), 3, 4)).collect();
        let guards: Vec<Guard> = (0..rng.range(0, 3))
            .map(|_| {
                let bound = Extent::Const(rng.range(0, 8) as u64);
                Guard { expr: rng.affine(domain.rank(), 6, 6), bound }
            })
            .collect();
        let map =
            IndexMap::partial(domain.clone(), codomain.clone(), components.clone(), guards.clone(), Fill(5));
        let map = map.unwrap();
        let sizes = codomain.sizes().unwrap();
        for p in domain.iter_points().unwrap() {
            let position: Vec<i64> = components.iter().map(|c| c.eval(&p)).collect();
            let guarded = guards.iter().all(|g| {
                let value = g.expr.eval(&p);
                value >= 0 && (value as u64) < g.bound.as_const().unwrap()
            });
            let inside = position.iter().zip(&sizes).all(|(&x, &n)| 0 <= x && x < n);
            assert_eq!(map.apply(&p), (guarded && inside).then_some(position), "{map} at {p:?}");
        }
        assert_eq!(map.fill().is_some(), !map.guards().is_empty());
        // A normal form is its own normal form, whatever order the guards come in.
        let mut again = map.guards().to_vec();
        again.reverse();
        let parts = (map.domain().clone(), map.codomain().clone(), map.components().to_vec());
        assert_eq!(IndexMap::partial(parts.0, parts.1, parts.2, again, Fill(5)), Ok(map));
    }
}
