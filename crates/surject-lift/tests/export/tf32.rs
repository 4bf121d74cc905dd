//! Products that ask for tf32.

use crate::{lift, run};
use surject_egraph::{Options, optimise};
use surject_ir::testing::random_args;
use surject_lift::export;

/// A product whose operands are computed and moved, with so many products of parts.
fn product(algorithm: &str) -> String {
    format!(
        "func.func @main(%a: tensor<24x16xf32>, %b: tensor<24x40xf32>) -> tensor<16x40xf32> {{
          %0 = stablehlo.add %b, %b : tensor<24x40xf32>
          %1 = stablehlo.dot_general %a, %0, contracting_dims = [0] x [0]{algorithm}
            : (tensor<24x16xf32>, tensor<24x40xf32>) -> tensor<16x40xf32>
          func.return %1 : tensor<16x40xf32>
        }}"
    )
}

fn algorithm(products: usize) -> String {
    format!(
        ", algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, \
         lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {products}, \
         allow_imprecise_accumulation = false>"
    )
}

/// The statements that a program stores, without the fields that it names inside of them.
fn stored(text: &str) -> usize {
    text.lines().filter(|l| l.contains(" =:") && !l.trim_start().starts_with("let ")).count()
}

/// Operands are rounded where they are read, after the e-graph too: a GPU's kernels are chosen by that. What is exported asks
/// for the same, and computes the same.
#[test]
fn tf32_is_carried_where_it_is_asked_for() {
    let twice = product(&algorithm(1)).replace("func.return %1", "%2 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [0]ALGORITHM : (tensor<24x16xf32>, tensor<16x40xf32>) -> tensor<24x40xf32>\n func.return %2");
    let twice =
        twice.replace("ALGORITHM", &algorithm(1)).replace("-> tensor<16x40xf32> {", "-> tensor<24x40xf32> {");
    let twice = twice.replace("func.return %2 : tensor<16x40xf32>", "func.return %2 : tensor<24x40xf32>");
    for (text, sums, rounded) in [(product(&algorithm(1)), 1, 2), (twice, 2, 3)] {
        let imported = lift(text.as_bytes()).unwrap();
        let optimised = optimise(&imported, &Options::default()).unwrap().program;
        let text = surject_ir::print(&optimised);
        assert_eq!(text.matches("reduce_precision<8,10>").count(), rounded, "{text}");
        assert_eq!(stored(&text), sums, "{text}");
        let args = random_args(imported.function("main").unwrap(), 3);
        let wanted = run(&imported, &args).unwrap();
        for program in [&imported, &optimised] {
            let text = export(program).unwrap();
            assert_eq!(text.matches("lhs_precision_type = tf32").count(), sums, "{text}");
            assert!(!text.contains("reduce_precision"), "{text}");
            let again = lift(text.as_bytes()).unwrap();
            for (found, wanted) in run(&again, &args).unwrap().iter().zip(&wanted) {
                assert!((0..wanted.len()).all(|i| found.get(i).bits() == wanted.get(i).bits()), "{text}");
            }
        }
    }
}

/// Without an algorithm, and with one that is as exact as `f32`, nothing is rounded.
#[test]
fn other_products_are_not_rounded() {
    for asked in [String::new(), algorithm(3)] {
        let text = surject_ir::print(&lift(product(&asked).as_bytes()).unwrap());
        assert!(!text.contains("reduce_precision"), "{text}");
    }
}
