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
fn manual(mesh: &str, processes: usize, part: &str, groups: &str) -> String {
    format!(
        r#"module attributes {{mhlo.num_partitions = {processes} : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <{mesh}>
  func.func public @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>) {{
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"x"}}]>] out_shardings=[<@mesh, [{{"x"}}]>, <@mesh, []>] manual_axes={{"x"}} (%a: tensor<{part}xi32>) {{
      %1 = "stablehlo.all_reduce"(%a) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{groups}>, use_global_device_ids}}> ({{
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
    let got = both(&manual(r#"["x"=1]"#, 1, "4", "0> : tensor<1x1xi64"), &[i32s(&[4], &[1, 2, 3, 4])]);
    assert_eq!((to_ints(&got[0]), to_ints(&got[1])), (vec![1, 2, 3, 4], vec![3]));
    // The other axes are not divided by it.
    let alone = "[[0], [1]]> : tensor<2x1xi64";
    let got = both(&manual(r#"["y"=2, "x"=1]"#, 2, "4", alone), &[i32s(&[4], &[1, 2, 3, 4])]);
    assert_eq!(to_ints(&got[0]), [1, 2, 3, 4]);
}

#[test]
fn several_devices_are_written_out() {
    let two = manual(r#"["x"=2]"#, 2, "2", "[[0, 1]]> : tensor<1x2xi64");
    let got = both(&two, &[i32s(&[4], &[1, 2, 3, 4])]);
    assert_eq!((to_ints(&got[0]), to_ints(&got[1])), (vec![4, 6, 4, 6], vec![3]));
    let four = manual(r#"["y"=1, "x"=4]"#, 4, "1", "[[3, 0, 1, 2]]> : tensor<1x4xi64");
    assert_eq!(to_ints(&both(&four, &[i32s(&[4], &[1, 2, 3, 4])])[0]), [10; 4]);
    // An axis that the mesh does not have, and a device in no group.
    for wrong in [
        manual(r#"["z"=4]"#, 4, "2", "[[0, 1, 2, 3]]> : tensor<1x4xi64"),
        manual(r#"["x"=2]"#, 2, "2", "0> : tensor<1x1xi64"),
    ] {
        surject_stablehlo::parse_and_verify(&wrong)
            .unwrap_or_else(|e| panic!("{}", e.render("test", &wrong)));
        let error = lift(&wrong).map(|_| ()).expect_err("it cannot be divided");
        assert!(matches!(error, LiftError::Unsupported { .. }) && error.exit_status() == 3, "{error}");
    }
}

/// Written again, what is divided by hand is what it was, around it and inside; it runs as before.
#[test]
fn divided_computations_are_exported_as_they_are() {
    let nested = r#"module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<4x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}p1, {?}], replicated={"y"}>}) -> tensor<4x2xi32> {
    %0 = call @inner(%x) : (tensor<4x2xi32>) -> tensor<4x2xi32>
    %1 = stablehlo.add %0, %0 : tensor<4x2xi32>
    return %1 : tensor<4x2xi32>
  }
  func.func private @inner(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%a: tensor<2x2xi32>) {
      %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%b: tensor<2x1xi32>) {
        %id = stablehlo.partition_id : tensor<ui32>
        %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
        %m = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
        %s = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          %t = stablehlo.maximum %p, %q : tensor<i32>
          stablehlo.return %t : tensor<i32>
        }) : (tensor<2x1xi32>) -> tensor<2x1xi32>
        %r = stablehlo.add %s, %m : tensor<2x1xi32>
        sdy.return %r : tensor<2x1xi32>
      } : (tensor<2x2xi32>) -> tensor<2x2xi32>
      sdy.return %1 : tensor<2x2xi32>
    } : (tensor<4x2xi32>) -> tensor<4x2xi32>
    return %0 : tensor<4x2xi32>
  }
}"#;
    let args = [i32s(&[4, 2], &[1, 2, 3, 4, 5, 6, 7, 8])];
    let wanted = both(nested, &args);
    assert_eq!(to_ints(&wanted[0]), [4, 6, 8, 10, 16, 18, 20, 22]);
    let module = surject_stablehlo::parse_and_verify(nested).unwrap();
    let program = surject_lift::import_sharded(&module, &Default::default()).unwrap();
    // The program reads back from its text.
    let again = surject_ir::parse(&program.to_string()).unwrap();
    assert_eq!(again.to_string(), program.to_string());
    let text = surject_lift::export(&again).unwrap();
    for part in [
        "mhlo.num_partitions = 4",
        "\"x\":(1)2}p1",
        "replicated={\"y\"}",
        "partition_id",
        "dense<[[0, 1], [2, 3]]>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("sdy.manual_computation").count(), 2, "{text}");
    // Groups along the axes of a mesh are exported as lists of devices, which are the same groups.
    for (axes, listed) in [("y", "dense<[[0, 1], [2, 3]]>"), ("x", "dense<[[0, 2], [1, 3]]>")] {
        let by_axes = format!(
            "#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = \"{axes}\">]>"
        );
        let named = nested.replace("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", &by_axes);
        let wanted = both(&named, &args);
        let module = surject_stablehlo::parse_and_verify(&named).unwrap();
        let program = surject_lift::import_sharded(&module, &Default::default()).unwrap();
        let text = surject_lift::export(&program).unwrap();
        assert!(text.contains(listed), "{text}");
        assert_eq!(both(&text, &args), wanted);
    }
    // A result on one device of each group.
    let reduced = nested
        .replace("stablehlo.all_reduce", "stablehlo.collective_reduce")
        .replace("tensor<2x2xi64>, use_global_device_ids}", "tensor<2x2xi64>}");
    let wanted = both(&reduced, &args);
    let module = surject_stablehlo::parse_and_verify(&reduced).unwrap();
    let text =
        surject_lift::export(&surject_lift::import_sharded(&module, &Default::default()).unwrap()).unwrap();
    assert!(text.contains("collective_reduce"), "{text}");
    assert_eq!(both(&text, &args), wanted);
    assert_eq!(both(&text, &args), wanted);
    // What one device runs knows nothing of it, and says so.
    let error = surject_ir::interp::run(&again, "main", &args).expect_err("several devices").to_string();
    assert!(error.contains("several devices"), "{error}");
}

/// Annotations of older modules stay as well.
#[test]
fn shards_of_custom_calls_are_exported_as_they_are() {
    let text = r#"module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<4xi32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> (tensor<4xi32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xi32>) -> tensor<4xi32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<4xi32>) -> tensor<2xi32>
    %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2xi32>) -> tensor<2xi32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "", mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<2xi32>) -> tensor<4xi32>
    return %4 : tensor<4xi32>
  }
}"#;
    let args = [i32s(&[4], &[1, 2, 3, 4])];
    assert_eq!(to_ints(&both(text, &args)[0]), [3, 4, 1, 2]);
    let module = surject_stablehlo::parse_and_verify(text).unwrap();
    let program = surject_lift::import_sharded(&module, &Default::default()).unwrap();
    let again = surject_lift::export(&program).unwrap();
    assert!(again.contains(r#"mhlo.sharding = "{replicated}"}) {"#), "{again}");
    assert!(again.contains(r#"tensor<4xi32> {mhlo.sharding = "{devices=[2]<=[2]}"}"#), "{again}");
    assert_eq!(to_ints(&both(&again, &args)[0]), [3, 4, 1, 2]);
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
