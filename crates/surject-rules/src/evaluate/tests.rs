//! The point-by-point evaluation against the interpreter of programs, on instances of laws and rules.

use super::{Functions, evaluate};
use crate::{instantiate, parse};
use surject_ir::{Buffer, Program, Scalar, interp, verify};

fn same(a: Scalar, b: Scalar) -> bool {
    let nan = |s: Scalar| (s.dtype().is_float() || s.dtype().is_complex()) && s.as_complex().is_nan();
    a == b || a.dtype() == b.dtype() && nan(a) && nan(b)
}

#[test]
fn agrees_with_the_interpreter() {
    let files = [
        include_str!("../../../surject-egraph/laws/laws.rules"),
        include_str!("../../tests/user.rules"),
        include_str!("../../tests/wrong.rules"),
    ];
    let (mut instances, mut elements) = (0, 0);
    for source in files {
        let file = parse("a.rules", source).expect("the files are right");
        for rule in &file.rules {
            for seed in 0..60 {
                let Some(instance) = instantiate(rule, seed) else { continue };
                let program = Program { name: String::new(), functions: vec![instance.function.clone()] };
                assert_eq!(verify(&program), Ok(()), "{} {seed}", rule.name);
                let results = interp::run(&program, "instance", &instance.args).expect("instances run");
                let sides = [instance.left, instance.right];
                let values = evaluate(&instance.function, &sides, &instance.args, Functions::Known)
                    .expect("instances can be evaluated");
                for (side, result) in [instance.left, instance.right].into_iter().zip(&results) {
                    let result: &Buffer = result;
                    let expected = &values[&side].values;
                    assert_eq!(expected.len(), result.len());
                    for (i, &value) in expected.iter().enumerate() {
                        assert!(
                            same(value, result.get(i)),
                            "{} {seed} {i}: {value:?} {:?}",
                            rule.name,
                            result.get(i)
                        );
                    }
                    elements += expected.len();
                }
                instances += 1;
            }
        }
    }
    assert!(instances > 2000 && elements > 20_000, "{instances} instances, {elements} elements");
}
