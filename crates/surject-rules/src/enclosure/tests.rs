//! What is computed lies in its enclosure, on random instances of rules of every kind.

use super::{Enclosure, Format, Range, enclose};
use crate::evaluate::{Events, Functions, evaluate};
use crate::instance::{Size, Values, draw};
use crate::lower::Lowered;
use crate::parse;
use surject_ir::DType;

#[test]
fn values_lie_in_their_enclosures() {
    let files = [
        include_str!("../../tests/sound.rules"),
        include_str!("../../tests/unsound.rules"),
        include_str!("../../tests/user.rules"),
        include_str!("../../../surject-egraph/laws/laws.rules"),
    ];
    let (mut seen, mut narrow) = (0usize, 0usize);
    for source in files {
        for rule in &parse("a.rules", source).expect("the files are right").rules {
            let lowered = Lowered::new(rule).expect("the rules are right");
            for seed in 0..30 {
                let Some(instance) = draw(&lowered, seed, Size::wide(seed), Values::Wide) else { continue };
                let roots = [instance.left, instance.right];
                let Some(values) = evaluate(&instance.function, &roots, &instance.args, Functions::Known)
                else {
                    continue;
                };
                let enclosures = enclose(&instance.function, &roots, &values).expect("sizes are known");
                for (id, evaluated) in &values {
                    for (i, (&value, &events)) in evaluated.values.iter().zip(&evaluated.events).enumerate() {
                        let Enclosure::Real(range) = enclosures[id][i] else { continue };
                        let lost = Events::OVERFLOW.and(Events::FUNCTION);
                        let x = value.as_f64();
                        if events.any(lost) || !x.is_finite() {
                            continue;
                        }
                        let kind = &instance.function.fields[*id].kind;
                        assert!(range.contains(x), "{} {seed}: {x:e} in {range:?}, {kind:?}", rule.name);
                        seen += 1;
                        narrow += usize::from(range.hi - range.lo <= 1e-2 * x.abs());
                    }
                }
            }
        }
    }
    assert!(seen > 50_000, "{seen}");
    // Enclosures that say nothing would hold everything.
    assert!(narrow * 10 > seen * 9, "{narrow} of {seen}");
}

/// Exact sums have no width; others have that of their terms, not of numbers elsewhere.
#[test]
fn widths() {
    let source = "rule r rounds (sum [k] ?x[k]) => (sum [k] ?x[k])";
    let rule = &parse("a.rules", source).expect("it is right").rules[0];
    let lowered = Lowered::new(rule).expect("it is right");
    let width = |values: [f64; 4]| {
        let shape = (0..200)
            .filter_map(|seed| draw(&lowered, seed, Size::LEVELS[4], Values::Wide))
            .find(|i| i.args.len() == 1 && i.args[0].dtype() == DType::F64 && i.args[0].shape() == [4]);
        let mut instance = shape.expect("one of them has four elements");
        for (i, x) in values.into_iter().enumerate() {
            instance.args[0].set(i, surject_ir::Scalar::from_f64(DType::F64, x));
        }
        let roots = [instance.left];
        let values = evaluate(&instance.function, &roots, &instance.args, Functions::Known)
            .expect("it can be evaluated");
        let enclosures = enclose(&instance.function, &roots, &values).expect("sizes are known");
        let Enclosure::Real(Range { lo, hi }) = enclosures[&instance.left][0] else { panic!("a float") };
        hi - lo
    };
    assert_eq!(width([1.0, 2.0, 3.0, 4.0]), 0.0);
    let unit = Format::of(DType::F64).unit;
    assert!(width([0.1, 0.2, 0.3, 0.4]) < 8.0 * unit);
    assert!((1e19 * unit..1e21 * unit).contains(&width([1e20, 1.0, -1e20, 1.0])));
}
