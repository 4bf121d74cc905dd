//! Programs for several devices, on one: constraints, computations divided among a mesh, collectives.

mod common;

use common::*;
use surject_lift::LiftError;
use surject_stablehlo::{parse, print_generic};

const CONSTRAINT: &str = r#"module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xi32> {
    %0 = stablehlo.add %x, %x : tensor<4xi32>
    %1 = sdy.sharding_constraint %0 <@empty_mesh, [{?}]> : tensor<4xi32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"y"}]> : tensor<4xi32>
    return %2 : tensor<4xi32>
  }
}"#;

/// Both forms of a module give the same results.
fn both(text: &str, args: &[surject_ir::Buffer]) -> Vec<surject_ir::Buffer> {
    let results = run(text, args);
    assert_eq!(run(&print_generic(&parse(text).unwrap()), args), results);
    results
}

#[test]
fn constraints_change_nothing() {
    let got = both(CONSTRAINT, &[i32s(&[4], &[1, 2, 3, 4])]);
    assert_eq!(to_ints(&got[0]), [2, 4, 6, 8]);
}

/// A computation on the mesh of this text, with what it divides and a sum over an axis.
fn manual(mesh: &str, processes: usize, part: &str) -> String {
    format!(
        r#"module attributes {{mhlo.num_partitions = {processes} : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <{mesh}>
  func.func public @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>) {{
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"x"}}]>] out_shardings=[<@mesh, [{{"x"}}]>, <@mesh, []>] manual_axes={{"x"}} (%a: tensor<{part}xi32>) {{
      %1 = "stablehlo.all_reduce"(%a) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}}> ({{
      ^bb0(%p: tensor<i32>, %q: tensor<i32>):
        %s = stablehlo.add %p, %q : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }}) : (tensor<{part}xi32>) -> tensor<{part}xi32>
      sdy.return %1, %c : tensor<{part}xi32>, tensor<i32>
    }} : (tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
  }}
}}"#
    )
}

#[test]
fn a_computation_on_one_device_is_its_body() {
    let got = both(&manual(r#"["x"=1]"#, 1, "4"), &[i32s(&[4], &[1, 2, 3, 4])]);
    assert_eq!((to_ints(&got[0]), to_ints(&got[1])), (vec![1, 2, 3, 4], vec![3]));
    // The other axes are not divided by it.
    let got = both(&manual(r#"["y"=2, "x"=1]"#, 2, "4"), &[i32s(&[4], &[1, 2, 3, 4])]);
    assert_eq!(to_ints(&got[0]), [1, 2, 3, 4]);
}

#[test]
fn several_devices_are_not_supported() {
    for (mesh, part) in [(r#"["x"=2]"#, "2"), (r#"["y"=1, "x"=4]"#, "1"), (r#"["z"=4]"#, "2")] {
        let text = manual(mesh, 4, part);
        surject_stablehlo::parse_and_verify(&text).unwrap_or_else(|e| panic!("{}", e.render("test", &text)));
        let error = lift(&text).map(|_| ()).expect_err("there is one device");
        assert!(matches!(error, LiftError::Unsupported { .. }) && error.exit_status() == 3, "{error}");
        assert!(error.to_string().contains("sdy.manual_computation"), "{error}");
    }
}

/// Each process only meets itself.
#[test]
fn collectives_of_one_process() {
    let body = r#"
      %g = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
      %p = "stablehlo.collective_permute"(%g) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
      %n = "stablehlo.collective_permute"(%g) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4xi32>) -> tensor<4xi32>
      %s = "stablehlo.reduce_scatter"(%p) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %t = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %t : tensor<i32>
      }) : (tensor<4xi32>) -> tensor<4xi32>
      %o = "stablehlo.all_to_all"(%s) <{concat_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 0 : i64}> : (tensor<4xi32>) -> tensor<4xi32>
      %i = stablehlo.partition_id : tensor<ui32>
      %j = stablehlo.convert %i : (tensor<ui32>) -> tensor<i32>
      return %o, %n, %j : tensor<4xi32>, tensor<4xi32>, tensor<i32>"#;
    let signature = "(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<i32>)";
    let got = run_body(signature, body, &[i32s(&[4], &[1, 2, 3, 4])]);
    let got: Vec<Vec<i64>> = got.iter().map(to_ints).collect();
    assert_eq!(got, [vec![1, 2, 3, 4], vec![0; 4], vec![0]]);
    let several = format!(
        "module attributes {{mhlo.num_partitions = 2 : i32}} {{\nfunc.func @main{signature} {{\n{}\n}}\n}}",
        body.replace("dense<0> : tensor<1x1xi64>", "dense<[[0, 1]]> : tensor<1x2xi64>")
    );
    assert_eq!(lift(&several).map(|_| ()).expect_err("two processes").exit_status(), 3);
}
