//! Computations that are divided by hand among devices, written out for all of them: what the interpreter gives for the simulated
//! devices is what it gives for the program of one device.

use surject_stablehlo::interpret::{Value, run};
use surject_stablehlo::{Module, expand_devices, parse, parse_and_verify, print, print_generic, verify};

fn read(text: &str) -> Module {
    parse_and_verify(text).unwrap_or_else(|d| panic!("{}\n{text}", d.render("program", text)))
}

fn values(module: &Module) -> Vec<Value> {
    run(module, "main", Vec::new()).unwrap_or_else(|e| panic!("{e}\n{}", print(module)))
}

/// The module for one device; it reads back, verifies, and holds nothing of several devices.
fn expanded(module: &Module) -> Module {
    let expanded = expand_devices(module).unwrap_or_else(|d| panic!("{d}\n{}", print(module))).into_owned();
    let text = print_generic(&expanded);
    let again = parse(&text).unwrap_or_else(|d| panic!("{d}\n{text}"));
    if let Err(errors) = verify(&again) {
        panic!("{}\n{}", errors[0], print(&expanded));
    }
    for name in ["manual_computation", "all_reduce", "partition_id", "collective_permute", "SPMD"] {
        assert!(!text.contains(name), "{name}\n{text}");
    }
    again
}

/// Both give the same; the values.
fn same(text: &str) -> Vec<Value> {
    let module = read(text);
    let wanted = values(&module);
    assert_eq!(values(&expanded(&module)), wanted, "{text}");
    wanted
}

/// A computation over a mesh, of numbers 0, 1, … of this type.
fn divided(
    mesh: &str,
    axes: &str,
    [whole, from]: [&str; 2],
    [part, to]: [&str; 2],
    outs: [&str; 2],
    body: &str,
) -> String {
    format!(
        r#"module attributes {{mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}} {{
  sdy.mesh @mesh = <{mesh}>
  func.func public @main() -> tensor<{}> {{
    %x = stablehlo.iota dim = 0 : tensor<{whole}>
    %y = stablehlo.add %x, %x : tensor<{whole}>
    %0 = sdy.manual_computation(%y) in_shardings=[<@mesh, {from}>] out_shardings=[<@mesh, {to}>] manual_axes={{{axes}}} (%a: tensor<{part}>) {{
{body}
    }} : (tensor<{whole}>) -> tensor<{}>
    return %0 : tensor<{}>
  }}
  func.func private @turned(%a: tensor<2xi32>) -> tensor<2xi32> {{
    %0 = "stablehlo.collective_permute"(%a) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7]]> : tensor<7x2xi64>}}> : (tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }}
}}"#,
        outs[0], outs[0], outs[0]
    )
}

/// Over a line of eight devices, 16 numbers in parts of two; the body gives `%r`.
fn line(body: &str) -> String {
    divided(
        r#"["x"=8]"#,
        r#""x""#,
        ["16xi32", r#"[{"x"}]"#],
        ["2xi32", r#"[{"x"}]"#],
        ["16xi32", ""],
        &format!("{body}\n      sdy.return %r : tensor<2xi32>"),
    )
}

const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
const HALVES: &str =
    "replica_groups = dense<[[0, 2, 4, 6], [7, 5, 3, 1]]> : tensor<2x4xi64>, use_global_device_ids";
const ALL: &str =
    "replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids";

fn reduced(name: &str, groups: &str, more: &str, operation: &str, types: &str) -> String {
    format!(
        r#"%r = "stablehlo.{name}"(%a) <{{{CHANNEL}, {groups}{more}}}> ({{
      ^bb0(%p: tensor<i32>, %q: tensor<i32>):
        {operation}
        stablehlo.return %s : tensor<i32>
      }}) : {types}"#
    )
}

#[test]
fn sums_and_other_reductions_over_groups() {
    let pair = "(tensor<2xi32>) -> tensor<2xi32>";
    for operation in [
        "%s = stablehlo.add %p, %q : tensor<i32>",
        "%s = stablehlo.maximum %q, %p : tensor<i32>",
        "%d = stablehlo.subtract %p, %q : tensor<i32>\n        %s = stablehlo.add %d, %d : tensor<i32>",
        "%s = stablehlo.subtract %q, %p : tensor<i32>",
    ] {
        for groups in [HALVES, ALL] {
            same(&line(&reduced("all_reduce", groups, "", operation, pair)));
        }
    }
    let got = same(&line(&reduced("all_reduce", ALL, "", "%s = stablehlo.add %p, %q : tensor<i32>", pair)));
    assert_eq!(got[0].as_tensor().unwrap().to_i64s().unwrap()[..2], [112, 128]);
}

#[test]
fn parts_are_gathered_scattered_and_exchanged() {
    let gather = format!(
        r#"%g = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, {CHANNEL}, {HALVES}}}> : (tensor<2xi32>) -> tensor<8xi32>
      %r = stablehlo.slice %g [3:5] : (tensor<8xi32>) -> tensor<2xi32>"#
    );
    same(&line(&gather));
    let scatter = format!(
        "%g = \"stablehlo.all_gather\"(%a) <{{all_gather_dim = 0 : i64, {CHANNEL}, {HALVES}}}> : (tensor<2xi32>) -> tensor<8xi32>\n{}",
        reduced(
            "reduce_scatter",
            HALVES,
            ", scatter_dimension = 0 : i64",
            "%s = stablehlo.add %p, %q : tensor<i32>",
            "(tensor<8xi32>) -> tensor<2xi32>"
        )
        .replace("(%a)", "(%g)")
    );
    same(&line(&scatter));
    let exchange = format!(
        r#"%b = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xi32>) -> tensor<4x2xi32>
      %i = stablehlo.iota dim = 0 : tensor<4x2xi32>
      %c = stablehlo.add %b, %i : tensor<4x2xi32>
      %e = "stablehlo.all_to_all"(%c) <{{{CHANNEL}, concat_dimension = 1 : i64, replica_groups = dense<[[0, 2, 4, 6], [7, 5, 3, 1]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}}> : (tensor<4x2xi32>) -> tensor<1x8xi32>
      %f = stablehlo.reshape %e : (tensor<1x8xi32>) -> tensor<8xi32>
      %r = stablehlo.slice %f [1:3] : (tensor<8xi32>) -> tensor<2xi32>"#
    );
    same(&line(&exchange));
    let broadcast = format!(
        r#"%r = "stablehlo.collective_broadcast"(%a) <{{{CHANNEL}, replica_groups = dense<[[2, 1, 4, 6], [7, 5, 3, 0]]> : tensor<2x4xi64>}}> : (tensor<2xi32>) -> tensor<2xi32>"#
    );
    same(&line(&broadcast));
}

#[test]
fn devices_know_their_numbers_and_send_in_functions() {
    let got = same(&line(
        "      %i = stablehlo.partition_id : tensor<ui32>
      %j = stablehlo.convert %i : (tensor<ui32>) -> tensor<i32>
      %k = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %t = func.call @turned(%a) : (tensor<2xi32>) -> tensor<2xi32>
      %r = stablehlo.add %k, %t : tensor<2xi32>",
    ));
    // The first device is sent nothing.
    assert_eq!(got[0].as_tensor().unwrap().to_i64s().unwrap()[..6], [0, 0, 1, 3, 6, 8]);
}

/// A loop in which all devices sum, as long as `condition` says, over what it carries: `%n`, `%v`.
fn looped(condition: &str, groups: &str) -> String {
    line(&format!(
        r#"      %z = stablehlo.constant dense<0> : tensor<i32>
      %w:2 = stablehlo.while(%n = %z, %v = %a) : tensor<i32>, tensor<2xi32>
      cond {{
        {condition}
        stablehlo.return %go : tensor<i1>
      }} do {{
        %one = stablehlo.constant dense<1> : tensor<i32>
        %m = stablehlo.add %n, %one : tensor<i32>
        {}
        %u = stablehlo.subtract %r0, %v : tensor<2xi32>
        stablehlo.return %m, %u : tensor<i32>, tensor<2xi32>
      }}
      %r = stablehlo.add %w#1, %a : tensor<2xi32>"#,
        reduced(
            "all_reduce",
            groups,
            "",
            "%s = stablehlo.add %p, %q : tensor<i32>",
            "(tensor<2xi32>) -> tensor<2xi32>"
        )
        .replace("%r =", "%r0 =")
        .replace("(%a)", "(%v)")
    ))
}

#[test]
fn loops_that_hold_collectives_are_shared() {
    same(&looped(
        "%three = stablehlo.constant dense<3> : tensor<i32>\n        %go = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        ALL,
    ));
    // The two groups go on for different times: odd devices one turn longer.
    let apart = "%id = stablehlo.partition_id : tensor<ui32>
        %two = stablehlo.constant dense<2> : tensor<ui32>
        %odd = stablehlo.remainder %id, %two : tensor<ui32>
        %more = stablehlo.convert %odd : (tensor<ui32>) -> tensor<i32>
        %base = stablehlo.constant dense<2> : tensor<i32>
        %end = stablehlo.add %base, %more : tensor<i32>
        %go = stablehlo.compare LT, %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>";
    same(&looped(apart, HALVES));
}

#[test]
fn branches_are_shared_or_taken_alone() {
    let sum = |name: &str| {
        reduced(
            "all_reduce",
            HALVES,
            "",
            "%s = stablehlo.add %p, %q : tensor<i32>",
            "(tensor<2xi32>) -> tensor<2xi32>",
        )
        .replace("%r =", &format!("{name} ="))
    };
    for index in [
        "%i = stablehlo.constant dense<1> : tensor<i32>",
        "%id = stablehlo.partition_id : tensor<ui32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %odd = stablehlo.remainder %id, %two : tensor<ui32>
      %i = stablehlo.convert %odd : (tensor<ui32>) -> tensor<i32>",
    ] {
        same(&line(&format!(
            r#"      {index}
      %r = "stablehlo.case"(%i) ({{
        %d = stablehlo.add %a, %a : tensor<2xi32>
        stablehlo.return %d : tensor<2xi32>
      }}, {{
        {}
        stablehlo.return %e : tensor<2xi32>
      }}) : (tensor<i32>) -> tensor<2xi32>"#,
            sum("%e")
        )));
    }
}

/// Devices that do not take a branch run none of its loops, which may not end there; nor those of functions that it calls.
#[test]
fn loops_in_a_branch_of_some_devices_end_on_the_others() {
    let counted = |value: &str, limit: &str, step: &str, result: &str| {
        format!(
            r#"%zero{result} = stablehlo.constant dense<0> : tensor<i32>
        %{result}:2 = stablehlo.while(%n = %zero{result}, %v = {value}) : tensor<i32>, tensor<2xi32>
        cond {{
          %go = stablehlo.compare NE, %n, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %m = stablehlo.add %n, %one : tensor<i32>
          {step}
          stablehlo.return %m, %u : tensor<i32>, tensor<2xi32>
        }}"#
        )
    };
    let sum = reduced(
        "all_reduce",
        HALVES,
        "",
        "%s = stablehlo.add %p, %q : tensor<i32>",
        "(tensor<2xi32>) -> tensor<2xi32>",
    )
    .replace("%r =", "%u =")
    .replace("(%a)", "(%v)");
    let plain = "%u = stablehlo.add %v, %v : tensor<2xi32>";
    // Odd devices take three turns; the limit of the even ones is never reached.
    let shared = counted("%a", "%limit", &sum, "w");
    let nested =
        format!("{}\n        {}", counted("%a", "%limit", plain, "k"), counted("%k#1", "%limit", &sum, "w"));
    let called = counted("%c", "%limit", &sum, "w");
    let called = format!(
        "%c = func.call @spun(%a, %limit) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>\n        {called}"
    );
    let spun = format!(
        "  func.func private @spun(%a: tensor<2xi32>, %limit: tensor<i32>) -> tensor<2xi32> {{
        {}
    return %w#1 : tensor<2xi32>
  }}
}}",
        counted("%a", "%limit", plain, "w")
    );
    for branch in [shared, nested, called] {
        for (kind, order) in [("case", [0, 1]), ("if", [1, 0])] {
            let taken = format!("{branch}\n        stablehlo.return %w#1 : tensor<2xi32>");
            let other =
                "%d = stablehlo.add %a, %a : tensor<2xi32>\n        stablehlo.return %d : tensor<2xi32>"
                    .to_string();
            let regions = [other, taken];
            let index = match kind {
                "case" => "%i = stablehlo.convert %odd : (tensor<ui32>) -> tensor<i32>",
                _ => "%i = stablehlo.convert %odd : (tensor<ui32>) -> tensor<i1>",
            };
            let ty = if kind == "case" { "i32" } else { "i1" };
            let text = line(&format!(
                r#"      %id = stablehlo.partition_id : tensor<ui32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %odd = stablehlo.remainder %id, %two : tensor<ui32>
      %o = stablehlo.convert %odd : (tensor<ui32>) -> tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %times = stablehlo.multiply %o, %four : tensor<i32>
      %less = stablehlo.constant dense<1> : tensor<i32>
      %limit = stablehlo.subtract %times, %less : tensor<i32>
      {index}
      %r = "stablehlo.{kind}"(%i) ({{
        {}
      }}, {{
        {}
      }}) : (tensor<{ty}>) -> tensor<2xi32>"#,
                regions[order[0]], regions[order[1]]
            ));
            let text = match text.strip_suffix('}') {
                Some(text) if branch.contains("@spun") => format!("{text}{spun}"),
                _ => text,
            };
            same(&text);
        }
    }
}

/// The first device of a group has the result, the others zeros.
#[test]
fn a_reduction_may_have_one_result_a_group() {
    let groups = "replica_groups = dense<[[2, 1, 4, 6], [7, 5, 3, 0]]> : tensor<2x4xi64>";
    let operation = "%s = stablehlo.add %p, %q : tensor<i32>";
    same(&line(&reduced("collective_reduce", groups, "", operation, "(tensor<2xi32>) -> tensor<2xi32>")));
}

#[test]
fn some_axes_are_divided_parts_of_axes_and_in_any_order() {
    let grid = r#"["x"=2, "y"=4]"#;
    let sum = reduced(
        "all_reduce",
        "replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids",
        "",
        "%s = stablehlo.add %p, %q : tensor<i32>",
        "(tensor<4x6xi32>) -> tensor<4x6xi32>",
    );
    let body = format!("{sum}\n      sdy.return %r : tensor<4x6xi32>");
    // Axes that are not manual divide nothing.
    for (axes, from) in [(r#""x""#, r#"[{"x", ?}, {?}]"#), (r#""x""#, r#"[{"x"}p1, {"y"}]"#)] {
        same(&divided(grid, axes, ["8x6xi32", from], ["4x6xi32", r#"[{"x"}, {}]"#], ["8x6xi32", ""], &body));
    }
    let both = r#"[{"x":(1)2}, {"y":(2)2}]"#;
    same(&divided(
        r#"["x"=2, "y"=4], device_ids=[7, 1, 2, 3, 4, 5, 6, 0]"#,
        r#""x", "y""#,
        ["8x12xi32", both],
        ["4x6xi32", both],
        ["8x12xi32", ""],
        "      sdy.return %a : tensor<4x6xi32>",
    ));
    same(&divided(
        grid,
        r#""x", "y""#,
        ["32x6xi32", r#"[{"y", "x"}, {}]"#],
        ["4x6xi32", r#"[{"x", "y"}, {}]"#],
        ["32x6xi32", ""],
        "      sdy.return %a : tensor<4x6xi32>",
    ));
}

#[test]
fn a_computation_inside_of_another_divides_what_is_left() {
    let inner = r#"      %i = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"y"} (%b: tensor<4x2xi32>) {
        %id = stablehlo.partition_id : tensor<ui32>
        %j = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
        %k = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
        %c = stablehlo.add %b, %k : tensor<4x2xi32>
        %t = stablehlo.reshape %c : (tensor<4x2xi32>) -> tensor<1x8xi32>
        sdy.return %t : tensor<1x8xi32>
      } : (tensor<4x8xi32>) -> tensor<4x8xi32>
      sdy.return %i : tensor<4x8xi32>"#;
    let text = divided(
        r#"["x"=2, "y"=4]"#,
        r#""x""#,
        ["8x8xi32", r#"[{"x"}, {}]"#],
        ["4x8xi32", r#"[{"x"}, {}]"#],
        ["8x8xi32", ""],
        inner,
    );
    let got = same(&text)[0].as_tensor().unwrap().to_i64s().unwrap();
    // Row 5 is row 1 of the second half: of device 5, whose columns are 2 and 3.
    let row: Vec<i64> = (0..8).map(|at| 2 * (4 + at / 2) + 5).collect();
    assert_eq!(got[40..48], row);
}

/// The same as annotations of older modules.
#[test]
fn shards_of_custom_calls() {
    let text = r#"module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> tensor<8x4xi32> {
    %x = stablehlo.iota dim = 1 : tensor<8x16xi32>
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x16xi32>) -> tensor<8x16xi32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<8x16xi32>) -> tensor<4x4xi32>
    %2 = call @shmap_body(%1) : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<4x4xi32>) -> tensor<4x4xi32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x4xi32>) -> tensor<8x4xi32>
    return %4 : tensor<8x4xi32>
  }
  func.func private @shmap_body(%a: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>):
      %s = stablehlo.add %p, %q : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<4x4xi32>) -> tensor<4x4xi32>
    return %1 : tensor<4x4xi32>
  }
}"#;
    let got = values(&expanded(&read(text)))[0].as_tensor().unwrap().to_i64s().unwrap();
    let row: Vec<i64> = (0..4).map(|at| (0..4).map(|k| 4 * k + at).sum()).collect();
    assert!(got.chunks(4).all(|found| found == row), "{got:?}");
    // A sharding for another number of parts than the types say.
    let wrong = text.replace("devices=[2,4]<=[8]", "devices=[4,2]<=[8]");
    let error = expand_devices(&read(&wrong)).map(|_| ()).expect_err("other parts").to_string();
    assert!(error.contains("another shape"), "{error}");
}
