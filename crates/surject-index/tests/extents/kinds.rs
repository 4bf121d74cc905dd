//! What is guaranteed of sizes: the calculus, the lattice, the doors, and the contract of passes.

use crate::brute::{Sizes, integer};
use crate::random::Rng;
use std::collections::BTreeMap;
use surject_index::{
    Evidence, Extent, ExtentError, ExtentExpr, Fact, Facts, Observed, ScalarSemantics, ShapeExtent, Verdict,
    strengthenings,
};

fn e(text: &str) -> ShapeExtent {
    ShapeExtent::Exact(text.parse().unwrap())
}

fn u(text: &str) -> ShapeExtent {
    ShapeExtent::UpperBound(text.parse().unwrap())
}

const UNKNOWN: ShapeExtent = ShapeExtent::Unknown;

fn facts(text: &str) -> Facts {
    text.parse().unwrap()
}

/// and the table of section 3.4.
#[test]
fn the_calculus_of_kinds() {
    assert_eq!(e("8").min(&UNKNOWN), u("8"));
    assert_eq!(UNKNOWN.min(&e("8")), u("8"));
    assert_eq!(UNKNOWN.min(&UNKNOWN), UNKNOWN);
    assert_eq!(e("8").difference(&u("5")), u("8"), "not 3: less may be taken away");
    assert_eq!(u("8").difference(&e("3")), u("5"));
    assert_eq!(e("8").difference(&UNKNOWN), u("8"));
    assert_eq!(UNKNOWN.difference(&e("1")), UNKNOWN);
    assert_eq!(u("5").product(&e("3")), u("15"));
    assert_eq!(UNKNOWN.product(&e("0")), e("0"));
    assert_eq!(UNKNOWN.product(&e("3")), UNKNOWN);
    assert_eq!(e("8").max(&UNKNOWN), UNKNOWN);
    assert_eq!(u("8").max(&e("9")), u("9"));
    assert_eq!(e("8").floor_div(&u("4"), 1), u("8"));
    assert_eq!(e("8").floor_div(&u("4"), 0), UNKNOWN);
    assert_eq!(u("9").floor_div(&e("2"), 0), u("4"));
    assert_eq!(u("5").sum(&e("3")), u("8"));
    assert_eq!(e("2").sum(&UNKNOWN), UNKNOWN);
    assert_eq!(e("n").sum(&e("1")), e("n + 1"));
}

/// Every entry of the table is true of sizes that satisfy the operands' statements, by enumeration.
#[test]
fn the_calculus_is_sound() {
    let kinds = [e("0"), e("2"), e("3"), u("2"), u("3"), UNKNOWN];
    let sizes = |kind: &ShapeExtent| -> Vec<u64> {
        match kind {
            ShapeExtent::Exact(n) => vec![n.as_const().unwrap()],
            ShapeExtent::UpperBound(n) => (0..=n.as_const().unwrap()).collect(),
            ShapeExtent::Unknown => (0..6).collect(),
        }
    };
    type Combine = fn(&ShapeExtent, &ShapeExtent) -> ShapeExtent;
    type Compute = fn(u64, u64) -> Option<u64>;
    let operations: [(&str, Combine, Compute); 7] = [
        ("sum", ShapeExtent::sum, |a, b| Some(a + b)),
        ("product", ShapeExtent::product, |a, b| Some(a * b)),
        ("difference", ShapeExtent::difference, |a, b| a.checked_sub(b)),
        ("min", ShapeExtent::min, |a, b| Some(a.min(b))),
        ("max", ShapeExtent::max, |a, b| Some(a.max(b))),
        ("floor_div", |a, b| a.floor_div(b, 0), |a, b| a.checked_div(b)),
        ("floor_div by 1 and more", |a, b| a.floor_div(b, 1), |a, b| (b >= 1).then(|| a / b)),
    ];
    for (name, combine, compute) in operations {
        for (left, right) in kinds.iter().flat_map(|l| kinds.iter().map(move |r| (l, r))) {
            let claim = combine(left, right);
            for (a, b) in sizes(left).into_iter().flat_map(|a| sizes(right).into_iter().map(move |b| (a, b)))
            {
                let Some(size) = compute(a, b) else { continue };
                let holds = match &claim {
                    ShapeExtent::Exact(n) => n.as_const() == Some(size),
                    // A bound that is not defined bounds a size that no run has.
                    ShapeExtent::UpperBound(n) => n.as_const().is_some_and(|n| size <= n),
                    ShapeExtent::Unknown => true,
                };
                assert!(holds, "{name} of `{left}` and `{right}` is `{claim}`, yet {a}, {b} give {size}");
            }
        }
    }
}

/// A-20 and the errors of a meeting.
#[test]
fn two_statements_of_one_axis_meet() {
    let none = Facts::default();
    let met = e("8").meet(&u("10"), &none).unwrap();
    assert_eq!((met.extent, met.guard), (e("8"), None));
    let clash = e("8").meet(&u("4"), &none).unwrap_err();
    assert_eq!(clash.to_string(), "the size `= 8` and the size `<= 4` cannot be of one axis");
    let met = e("n").meet(&e("m"), &none).unwrap();
    assert_eq!((met.extent, met.guard.unwrap().to_string()), (e("m"), "m == n".to_string()));
    let met = e("n*2").meet(&e("n + n"), &none).unwrap();
    assert_eq!(met.guard, None);
    let met = e("n").meet(&u("4"), &none).unwrap();
    assert_eq!(met.guard.unwrap().to_string(), "n <= 4");
    assert_eq!(e("n").meet(&u("4"), &facts("n <= 3")).unwrap().guard, None);
    assert!(e("n").meet(&u("4"), &facts("n >= 5")).is_err());
    assert_eq!(u("n").meet(&u("4"), &none).unwrap().extent, u("min(n, 4)"));
    assert_eq!(u("n").meet(&u("4"), &facts("n >= 4")).unwrap().extent, u("4"));
    assert_eq!(UNKNOWN.meet(&u("4"), &none).unwrap().extent, u("4"));
}

///
#[test]
fn branches_join() {
    let none = Facts::default();
    assert_eq!(e("3").join(&e("5"), &none), u("5"));
    assert_eq!(e("n").join(&e("n"), &none), e("n"));
    assert_eq!(e("n + n + n").join(&e("3*n"), &none), e("3*n"));
    assert_eq!(e("3").join(&UNKNOWN, &none), UNKNOWN);
    assert_eq!(e("n").join(&u("m"), &none), u("max(n, m)"));
    assert_eq!(e("n").join(&u("m"), &facts("n <= m")), u("m"));
}

/// R05, R11, R15, R58 to R60.
#[test]
fn the_doors_to_expressions() {
    assert!(e("n").is_exact() && !u("5").is_exact(), "a bound is no exact size, whatever its form");
    assert_eq!(u("5").bound().unwrap().as_const(), Some(5));
    assert_eq!(UNKNOWN.bound(), None);
    assert!(e("n*3").require_exact("reshape", "shape[0]").is_ok());
    let error = u("15").require_exact("reshape", "shape[0]").unwrap_err();
    assert_eq!((&*error.primitive, &*error.field), ("reshape", "shape[0]"));
    assert_eq!(error.observed, Observed::UpperBound(Extent::Const(15)));
    assert_eq!(
        error.to_string(),
        "`reshape` needs the exact size for shape[0]; only an upper bound is known: `15`"
    );
    let error = UNKNOWN.require_exact("broadcast_in_dim", "shape[1]").unwrap_err();
    assert_eq!(error.observed, Observed::Unknown);
    let error = e("n").require_constant("qr", "matrix rows").unwrap_err();
    assert_eq!(error.observed, Observed::Symbolic(Extent::symbol("n")));
    assert_eq!(error.to_string(), "`qr` needs a constant size for matrix rows; the size is symbolic: `n`");
    assert_eq!(e("4").require_constant("qr", "matrix rows"), Ok(4));
    let printed: Vec<String> = [e("4"), u("5"), UNKNOWN].iter().map(ShapeExtent::to_string).collect();
    assert_eq!(printed, ["= 4", "<= 5", "?"]);
}

/// R08, A-07, A-08, A-09, A-11: expressions over operands and over the sizes of the program.
#[test]
fn op_local_expressions() {
    let none = Facts::default();
    let at =
        |text: &str, operands: &[Vec<ShapeExtent>]| text.parse::<Extent>().unwrap().over(operands, &none);
    // The merge reshape of a contraction: what a run resolves by its operands, and what is known of it.
    let lhs = vec![u("5"), e("3"), e("4")];
    assert_eq!(at("in0.0*in0.1", std::slice::from_ref(&lhs)), u("15"));
    assert_eq!(at("in0.2", std::slice::from_ref(&lhs)), e("4"));
    assert_eq!(at("in0.0*in0.1", &[vec![UNKNOWN, e("3")]]), UNKNOWN);
    assert_eq!(at("in0.0*3", &[vec![e("n")]]), e("n*3"));
    assert_eq!(at("in7.0", std::slice::from_ref(&lhs)), UNKNOWN);
    // The window of a scatter's transposition is that of the updates, whatever is known of them.
    assert_eq!(at("in2.1", &[vec![], vec![], vec![e("1"), UNKNOWN]]), UNKNOWN);
    // Defect 1 of the reference: a bound of what is taken away is no bound of the difference.
    assert_eq!(at("8 - in0.0", &[vec![u("5")]]), u("8"));
    // What may be negative bounds nothing: 8 - (in0.0 - 8) is 16 where in0.0 is 0.
    assert_eq!(at("8 - (in0.0 - 8)", &[vec![u("5")]]), UNKNOWN);
    // And back.
    let local = |text: &str, operands: &[Vec<ShapeExtent>]| {
        text.parse::<Extent>().unwrap().local(operands, &none, "reshape", "shape[0]").map(|e| e.to_string())
    };
    let operands = [vec![e("n"), u("5")], vec![e("2*m")]];
    assert_eq!(local("n*(m + m) + 1", &operands), Ok("in0.0*in1.0 + 1".to_string()));
    assert_eq!(local("7", &operands), Ok("7".to_string()));
    let error = local("n + m", &operands).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`reshape` cannot resolve shape[0]: the size `m` comes from none of its operands"
    );
    assert_eq!(error.size, Extent::symbol("m"));
}

/// Whatever is known of operands, what follows for an expression over them is true of every run.
#[test]
fn op_local_expressions_are_sound() {
    let mut rng = Rng(21);
    let names = ["p", "q", "s"];
    let mut known = 0;
    for _ in 0..4000 {
        let symbolic = rng.extent(&names, 3);
        let as_input = |atom: &std::sync::Arc<ExtentExpr>| match &**atom {
            ExtentExpr::Symbol(name) => {
                Some(Extent::input_axis(names.iter().position(|n| **n == **name)?, 0))
            }
            _ => None,
        };
        let local = symbolic.replaced(&as_input);
        let operands: Vec<Vec<ShapeExtent>> = (0..3)
            .map(|_| match rng.below(4) {
                0 => vec![UNKNOWN],
                1 => vec![e(&rng.below(4).to_string())],
                _ => vec![u(&rng.below(4).to_string())],
            })
            .collect();
        let claim = local.over(&operands, &Facts::default());
        known += u32::from(claim != UNKNOWN);
        for number in 0..64u64 {
            let sizes = [number % 4, number / 4 % 4, number / 16];
            let is_admissible = operands.iter().zip(sizes).all(|(o, size)| match &o[0] {
                ShapeExtent::Exact(n) => n.as_const() == Some(size),
                ShapeExtent::UpperBound(n) => n.as_const().is_some_and(|n| size <= n),
                ShapeExtent::Unknown => true,
            });
            let env = Sizes(names.iter().zip(sizes).map(|(n, v)| (n.to_string(), v)).collect());
            let Some(value) = integer(&symbolic, &env).filter(|_| is_admissible) else { continue };
            let holds = match &claim {
                ShapeExtent::Exact(n) => integer(n, &env).is_none_or(|n| n == value),
                ShapeExtent::UpperBound(n) => integer(n, &env).is_none_or(|n| value <= n),
                ShapeExtent::Unknown => true,
            };
            assert!(holds, "`{local}` over {operands:?} is `{claim}`, yet {value} at {sizes:?}");
        }
    }
    assert!(known > 1000, "{known}");
}

/// R19, R20, R70, A-01 to A-04: what a truncation says of its result.
#[test]
fn truncation() {
    assert_eq!(e("4").truncated(None), u("4"), "the size before is no exact size");
    assert_eq!(u("4").truncated(None), u("4"));
    assert_eq!(UNKNOWN.truncated(None), UNKNOWN);
    let scalar: Extent = "truncate_size(in1)".parse().unwrap();
    assert_eq!(e("4").truncated(Some(&scalar)).to_string(), "= min(4, truncate_size(in1))");
    assert_eq!(u("4").truncated(Some(&scalar)).to_string(), "<= min(4, truncate_size(in1))");
    assert_eq!(UNKNOWN.truncated(Some(&scalar)).to_string(), "<= truncate_size(in1)");
}

/// R21 to R23, A-03: the exact size of a truncation, and its tag is a part of the scalar's name.
#[test]
fn runtime_scalars() {
    let scalar =
        |semantics| Extent::Expr(std::sync::Arc::new(ExtentExpr::RuntimeScalar { input: 1, semantics }));
    let (float, integer) =
        (scalar(ScalarSemantics::DynamicTruncateSize), scalar(ScalarSemantics::IntegerSize));
    let none = Facts::default();
    assert_eq!(none.same(&float, &float), Verdict::Yes(()));
    assert_eq!(none.same(&float, &integer), Verdict::Unknown);
    let size = ShapeExtent::Exact(Extent::min(float.clone(), Extent::Const(4)));
    assert_eq!(size.to_string(), "= min(truncate_size(in1), 4)");
    let axis = ShapeExtent::UpperBound(Extent::Const(4));
    assert_eq!(size.implies(&axis, &none), Verdict::Yes(()), "stage 2 says more than stage 1");
    assert!(!axis.implies(&size, &none).is_yes());
}

/// R37, A-15, A-16.
#[test]
fn evaluation_fails_with_a_reason() {
    let at = |text: &str, n: u64| {
        let sizes = crate::brute::Sizes([("n".to_string(), n)].into());
        text.parse::<Extent>().unwrap().eval(&sizes)
    };
    assert_eq!(at("n - 5", 3), Err(ExtentError::Negative("n - 5".into(), -2)));
    assert_eq!(at("n - 5 + 5", 3), Ok(3));
    assert_eq!(at("floordiv(n, n - n)", 3), Err(ExtentError::DivByZero("floordiv(n, n - n)".into())));
    assert_eq!(at("m + n", 3), Err(ExtentError::Unbound("m".into())));
    assert!(matches!(at("n*n*n*n*n", u64::MAX), Err(ExtentError::Overflow(_))));
}

/// R10, A-31: constants are compared as integers.
#[test]
fn static_sizes_ask_no_questions() {
    let none = Facts::default();
    for (a, b) in [("3", "3"), ("3", "4"), ("0", "9")] {
        let _ = e(a).meet(&e(b), &none);
        let _ = (e(a).join(&e(b), &none), e(a).implies(&u(b), &none), e(a).sum(&e(b)).product(&e("2")));
        let (a, b) = (Extent::Const(a.parse().unwrap()), Extent::Const(b.parse().unwrap()));
        let _ = (none.same(&a, &b), none.is_positive(&a), none.is_size(&b));
    }
    assert_eq!(none.comparisons(), 0);
    let _ = none.same(&Extent::symbol("n"), &Extent::Const(3));
    assert_eq!(none.comparisons(), 1);
}

#[test]
fn facts_answer_questions() {
    let known = facts("n >= 4, n <= 64, mod(n, 4) == 0, m == 2*n");
    assert_eq!(known.bounds(&"n + 1".parse().unwrap()), (Some(5), Some(65)));
    assert_eq!(known.bounds(&"floordiv(m, 8)".parse().unwrap()), (Some(1), Some(16)));
    assert!(known.holds(&"mod(0, q) == floordiv(n - n, q - n)".parse().unwrap()).is_yes());
    assert_eq!(known.bounds(&"min(q, 5)".parse().unwrap()), (Some(0), Some(5)));
    assert_eq!(known.bounds(&"max(q, n) - min(q, 2)".parse().unwrap()), (Some(2), None));
    assert_eq!(known.bounds(&"mod(q, 7)".parse().unwrap()), (Some(0), Some(6)));
    assert!(known.holds(&"mod(m, 8) == 0".parse().unwrap()).is_yes());
    assert!(known.is_size(&"floordiv(64, n) - 1".parse().unwrap()).is_yes());
    assert_eq!(known.is_size(&"floordiv(m, n - 4)".parse().unwrap()), Verdict::Unknown);
    assert!(known.is_size(&"n - m".parse().unwrap()).is_no());
    assert!(known.holds(&"m != n".parse().unwrap()).is_yes());
    assert_eq!(known.normal(&"m".parse().unwrap()), known.normal(&"n + n".parse().unwrap()));
    assert!(facts("n != 0").is_positive(&Extent::symbol("n")).is_yes());
    // Q34: a size may be 0; Q35: a contradiction.
    assert!("b <= 0".parse::<Facts>().is_ok());
    assert!("a >= b + 1, b >= a".parse::<Facts>().is_err());
    assert!("mod(n, 2) == 0, mod(n, 2) == 1".parse::<Facts>().is_err());
    assert!("a*b >= 7, a <= 2, b <= 3".parse::<Facts>().is_err());
    // The order of facts does not matter.
    let turned = facts("m == 2*n, mod(n, 4) == 0, n <= 64, n >= 4");
    assert_eq!(known, turned);
}

/// Q36, A-29 and section 4.4: the axis that is left over.
#[test]
fn the_axis_that_is_left_over() {
    let quotient = |total: &str, factor: &str, known: &str| {
        let (total, factor): (Extent, Extent) = (total.parse().unwrap(), factor.parse().unwrap());
        facts(known).quotient(&total, &factor).map(|e| e.to_string()).map_err(|e| e.to_string())
    };
    assert_eq!(quotient("n", "2", "mod(n, 2) == 0"), Ok("floordiv(n, 2)".to_string()));
    assert_eq!(
        quotient("n", "2", ""),
        Err("the sizes may not divide: `mod(n, 2) == 0` would decide it".into())
    );
    assert_eq!(
        quotient("2*n + 1", "2", ""),
        Err("the sizes do not divide: `mod(2*n + 1, 2) == 0` never holds".into())
    );
    assert_eq!(quotient("6*n", "4", "mod(n, 2) == 0"), Ok("floordiv(6*n, 4)".to_string()));
    assert_eq!(quotient("6*n*m", "2*n", "n >= 1"), Ok("3*m".to_string()));
    assert_eq!(quotient("n*m + m", "n + 1", ""), Ok("m".to_string()));
    assert_eq!(quotient("n*m", "n", ""), Err("the size is not determined unless `n >= 1`".into()));
    assert_eq!(quotient("12", "5", ""), Err("the sizes do not divide: `mod(12, 5) == 0` never holds".into()));
    assert_eq!(quotient("12", "4", ""), Ok("3".to_string()));
}

fn shapes(values: &[(&str, Vec<ShapeExtent>)]) -> BTreeMap<String, Vec<ShapeExtent>> {
    values.iter().map(|(name, extents)| (name.to_string(), extents.clone())).collect()
}

/// R17, R18, R51.
#[test]
fn a_pass_may_forget_and_needs_evidence_to_know_more() {
    let none = Facts::default();
    let before = shapes(&[("x", vec![e("n"), u("5")]), ("y", vec![UNKNOWN]), ("z", vec![e("2*n")])]);
    let after = |x: Vec<ShapeExtent>, y, z| {
        shapes(&[("x", x), ("y", vec![y]), ("z", vec![z]), ("new", vec![e("7")])])
    };
    // The same, weaker, and written differently.
    for kept in [
        after(vec![e("n"), u("5")], UNKNOWN, e("n + n")),
        after(vec![u("n"), u("6")], UNKNOWN, u("3*n")),
        after(vec![UNKNOWN, UNKNOWN], UNKNOWN, UNKNOWN),
    ] {
        assert_eq!(strengthenings(&before, &kept, &none, &[]), []);
    }
    // A bound taken for exact, a smaller bound, something from nothing, another size.
    for (strong, message) in [
        (
            after(vec![e("n"), e("5")], UNKNOWN, e("2*n")),
            "axis 1 of `x` was `<= 5` and became `= 5` without evidence",
        ),
        (
            after(vec![e("n"), u("4")], UNKNOWN, e("2*n")),
            "axis 1 of `x` was `<= 5` and became `<= 4` without evidence",
        ),
        (
            after(vec![e("n"), u("5")], u("9"), e("2*n")),
            "axis 0 of `y` was `?` and became `<= 9` without evidence",
        ),
        (
            after(vec![e("n"), u("5")], UNKNOWN, e("n")),
            "axis 0 of `z` was `= 2*n` and became `= n` without evidence",
        ),
        (
            after(vec![e("n")], UNKNOWN, e("2*n")),
            "the rank of `x` changed: it was [= n, <= 5] and became [= n]",
        ),
    ] {
        let found = strengthenings(&before, &strong, &none, &[]);
        assert_eq!(found.iter().map(|s| s.to_string()).collect::<Vec<_>>(), [message]);
    }
    // Facts, or a guard that was recorded, are evidence.
    let exact = after(vec![e("n"), e("5")], UNKNOWN, e("2*n"));
    let guard: Fact = "u == 5".parse().unwrap();
    let shown = |axis| [Evidence { value: "x".to_string(), axis, guard: guard.clone() }];
    assert_eq!(strengthenings(&before, &exact, &none, &shown(1)), []);
    assert_eq!(strengthenings(&before, &exact, &none, &shown(0)).len(), 1);
    let tighter = after(vec![e("4"), u("5")], UNKNOWN, e("8"));
    assert_eq!(strengthenings(&before, &tighter, &none, &[]).len(), 2);
    assert_eq!(strengthenings(&before, &tighter, &facts("n == 4"), &[]), []);
}
