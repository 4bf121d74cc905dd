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

/// Both operands are rounded, in the sum after the e-graph too: a GPU's kernels are chosen by that. What is exported asks for
/// the same, and computes the same.
#[test]
fn tf32_is_carried_where_it_is_asked_for() {
    let imported = lift(product(&algorithm(1)).as_bytes()).unwrap();
    let optimised = optimise(&imported, &Options::default()).unwrap().program;
    let text = surject_ir::print(&optimised);
    let sum = text.lines().find(|l| l.contains("=:+")).unwrap();
    assert_eq!(sum.matches("reduce_precision<8,10>").count(), 2, "{text}");
    let args = random_args(imported.function("main").unwrap(), 3);
    let wanted = run(&imported, &args).unwrap();
    for program in [&imported, &optimised] {
        let text = export(program).unwrap();
        assert!(text.contains("lhs_precision_type = tf32") && !text.contains("reduce_precision"), "{text}");
        let again = lift(text.as_bytes()).unwrap();
        for (found, wanted) in run(&again, &args).unwrap().iter().zip(&wanted) {
            assert!((0..wanted.len()).all(|i| found.get(i).bits() == wanted.get(i).bits()), "{text}");
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
