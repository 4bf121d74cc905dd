//! Processes side by side: collectives, queues, and what cannot go on.

use surject_stablehlo::interpret::{ErrorKind, Interpreter, Limits, Tensor, Value};
use surject_stablehlo::{ElementType, parse};

/// Runs `@main` of the text on a grid; the integers of each process's first result.
fn grid(text: &str, replicas: usize, partitions: usize, args: &[&[i64]]) -> Result<Vec<Vec<i64>>, String> {
    let module = parse(text).map_err(|e| e.render("text", text))?;
    let mut args = args.iter();
    let rows: Vec<Vec<(&str, Vec<Value>)>> = (0..replicas)
        .map(|_| {
            let cell = |values: &[i64]| {
                let tensor = Tensor::from_i64s(ElementType::I64, &[values.len()], values).unwrap();
                vec![Value::Tensor(tensor)]
            };
            (0..partitions).map(|_| ("main", args.next().map(|v| cell(v)).unwrap_or_default())).collect()
        })
        .collect();
    let outcome = Interpreter::new(&module).run_parallel(&rows).map_err(|e| e.to_string())?;
    Ok(outcome.results.iter().map(|v| v.as_tensor().unwrap().to_i64s().unwrap()).collect())
}

const SUM: &str = "({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    })";

#[test]
fn groups_follow_the_channel() {
    let reduce = |groups: &str, extra: &str| {
        format!(
            "func.func @main(%x: tensor<1xi64>) -> tensor<1xi64> {{
               %0 = \"stablehlo.all_reduce\"(%x) <{{replica_groups = dense<{groups}>{extra}}}> {SUM} : (tensor<1xi64>) -> tensor<1xi64>
               return %0 : tensor<1xi64>
             }}"
        )
    };
    let args: &[&[i64]] = &[&[1], &[2], &[4], &[8]];
    // Of one partition the replicas.
    let text = reduce("[[0, 1]]> : tensor<1x2xi64", "");
    assert_eq!(grid(&text, 2, 2, args).unwrap(), [[5], [10], [5], [10]]);
    // With a channel all partitions of these.
    let channel = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>";
    let text = reduce("[[0, 1]]> : tensor<1x2xi64", channel);
    assert_eq!(grid(&text, 2, 2, args).unwrap(), [[15], [15], [15], [15]]);
    // By numbers of processes.
    let text = reduce("[[0, 3], [1, 2]]> : tensor<2x2xi64", &format!("{channel}, use_global_device_ids"));
    assert_eq!(grid(&text, 2, 2, args).unwrap(), [[9], [6], [6], [9]]);
}

#[test]
fn every_collective_exchanges() {
    let run = |body: &str, result: &str, args: &[&[i64]]| {
        let n = args[0].len();
        let text = format!(
            "func.func @main(%x: tensor<{n}xi64>) -> tensor<{result}xi64> {{
               %0 = {body} : (tensor<{n}xi64>) -> tensor<{result}xi64>
               return %0 : tensor<{result}xi64>
             }}"
        );
        grid(&text, args.len(), 1, args).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    let groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
    let two: &[&[i64]] = &[&[1, 2], &[3, 4]];
    let found = run(&format!("\"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, {groups}}}>"), "4", two);
    assert_eq!(found, [[1, 2, 3, 4], [1, 2, 3, 4]]);
    let found = run(&format!("\"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = 0 : i64, {groups}}}> {SUM}"), "1", two);
    assert_eq!(found, [[4], [6]]);
    let all = "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64";
    let found = run(&format!("\"stablehlo.all_to_all\"(%x) <{{{all}, {groups}}}>"), "2", two);
    assert_eq!(found, [[1, 3], [2, 4]]);
    let three: &[&[i64]] = &[&[1], &[2], &[3]];
    let pairs = "source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>";
    assert_eq!(run(&format!("\"stablehlo.collective_permute\"(%x) <{{{pairs}}}>"), "1", three), [[0], [1], [2]]);
    let from = "replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>";
    assert_eq!(run(&format!("\"stablehlo.collective_broadcast\"(%x) <{{{from}}}>"), "1", three), [[0], [3], [3]]);
    let text = "func.func @main() -> (tensor<ui32>, tensor<ui32>) {
      %0 = stablehlo.replica_id : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      return %0, %1 : tensor<ui32>, tensor<ui32>
    }";
    let ids = grid(text, 2, 2, &[]).unwrap();
    assert_eq!(ids.concat(), [0, 0, 0, 1, 1, 0, 1, 1]);
}

#[test]
fn programs_run_side_by_side() {
    let text = "module {
      func.func @sender(%x: tensor<2xi64>) -> tensor<2xi64> {
        %t = stablehlo.create_token : !stablehlo.token
        %0 = \"stablehlo.send\"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false}> : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
        %1 = interpreter.probe %x, probe_id = \"sent\" : tensor<2xi64>
        return %1 : tensor<2xi64>
      }
      func.func @receiver() -> tensor<2xi64> {
        %t = stablehlo.create_token : !stablehlo.token
        %0:2 = \"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
        %1:2 = \"stablehlo.infeed\"(%0#1) <{infeed_config = \"\", layout = []}> : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
        %2 = stablehlo.add %0#0, %1#0 : tensor<2xi64>
        %3 = \"stablehlo.outfeed\"(%2, %1#1) <{outfeed_config = \"\"}> : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
        return %2 : tensor<2xi64>
      }
      func.func @feed() -> tensor<2xi64> {
        %0 = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
        return %0 : tensor<2xi64>
      }
      func.func @main() {
        %x = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
        %0:2 = \"interpreter.run_parallel\"(%x) {programs = [[@sender], [@receiver]], infeed = [@feed]} : (tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
        check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi64>
        check.expect_eq_const %0#1, dense<[11, 22]> : tensor<2xi64>
        check.expect_serialized_eq %x, probe_id = \"sent\" : tensor<2xi64>
        return
      }
    }";
    let module = parse(text).unwrap_or_else(|e| panic!("{}", e.render("text", text)));
    let outcome = Interpreter::new(&module).run("main", Vec::new()).unwrap();
    assert_eq!(outcome.outfeed[0][0].as_tensor().unwrap().to_i64s().unwrap(), [11, 22]);
    assert_eq!(outcome.probes["sent"].len(), 1);
}

#[test]
fn those_that_can_only_wait_end() {
    // Each waits for a group of which the other is not.
    let text = "module {
      func.func @main(%x: tensor<1xi64>) -> tensor<1xi64> {
        %t = stablehlo.create_token : !stablehlo.token
        %0:2 = \"stablehlo.recv\"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<1xi64>, !stablehlo.token)
        return %0#0 : tensor<1xi64>
      }
    }";
    let module = parse(text).unwrap();
    let x = Value::Tensor(Tensor::from_i64s(ElementType::I64, &[1], &[1]).unwrap());
    let cell = ("main", vec![x]);
    let error = Interpreter::new(&module).run_parallel(&[vec![cell.clone()], vec![cell]]).unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::Deadlock, Some("stablehlo.recv")));
}

#[test]
fn what_has_no_end_or_no_room_is_an_error() {
    let run = |body: &str, limits: Limits| {
        let text = format!("func.func @main() {{\n{body}\nreturn\n}}");
        let module = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("text", &text)));
        let error = Interpreter::new(&module).limits(limits).run("main", Vec::new()).unwrap_err();
        (error.kind(), error.op().unwrap_or_default().to_string(), error.span().line_col(&text).0)
    };
    let few = Limits { bytes: 1 << 20, steps: 100_000, depth: 50 };
    let endless = "%c = stablehlo.constant dense<true> : tensor<i1>
      %0 = stablehlo.while(%i = %c) : tensor<i1>
      cond { stablehlo.return %i : tensor<i1> } do { stablehlo.return %i : tensor<i1> }";
    assert_eq!(run(endless, few.clone()).0, ErrorKind::Limit);
    let large = "%0 = stablehlo.iota dim = 0 : tensor<1000000xf64>";
    assert_eq!(run(large, few.clone()), (ErrorKind::Limit, "stablehlo.iota".into(), 2));
    let dynamic = "%s = stablehlo.constant dense<[1000000, 1000000]> : tensor<2xi64>
      %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32>";
    assert_eq!(run(dynamic, Limits::default()), (ErrorKind::Limit, "stablehlo.dynamic_iota".into(), 3));
    let recursive = "func.call @main() : () -> ()";
    assert_eq!(run(recursive, few).0, ErrorKind::Limit);
    let unknown = "stablehlo.custom_call @nobody() : () -> ()";
    assert_eq!(run(unknown, Limits::default()), (ErrorKind::Unsupported, "stablehlo.custom_call @nobody".into(), 2));
}

#[test]
fn targets_can_be_added() {
    let text = "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %0 = stablehlo.custom_call @twice(%x) {factor = 3 : i64} : (tensor<2xi64>) -> tensor<2xi64>
      return %0 : tensor<2xi64>
    }";
    let module = parse(text).unwrap();
    let x = Tensor::from_i64s(ElementType::I64, &[2], &[1, 2]).unwrap();
    let interpreter = Interpreter::new(&module).target("twice", |request| {
        let factor = request.op.int("factor").map_err(|e| e.message)?;
        let x = request.operands[0].as_tensor().ok_or("a tensor is wanted")?;
        let values: Vec<i64> = x.to_i64s().ok_or("integers are wanted")?.iter().map(|v| v * factor).collect();
        let tensor = Tensor::from_i64s(ElementType::I64, x.shape(), &values).ok_or("no tensor")?;
        Ok(vec![Value::Tensor(tensor)])
    });
    let results = interpreter.run("main", vec![Value::Tensor(x)]).unwrap().results;
    assert_eq!(results[0].as_tensor().unwrap().to_i64s().unwrap(), [3, 6]);
}

/// A computation that a mesh of four devices shares: parts go in, meet, and are put together.
#[test]
fn manual_computations_run_on_simulated_devices() {
    let text = "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
      sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
      func.func @main(%x: tensor<2x4xi64>) -> (tensor<1x4xi64>, tensor<2x4xi64>) {
        %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"x\"}, {\"y\"}]>] out_shardings=[<@mesh, [{}, {\"y\"}]>, <@mesh, [{\"x\"}, {\"y\"}]>] manual_axes={\"x\", \"y\"} (%p: tensor<1x2xi64>) {
          %1 = \"stablehlo.all_reduce\"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
          ^bb0(%a: tensor<i64>, %b: tensor<i64>):
            %s = stablehlo.add %a, %b : tensor<i64>
            stablehlo.return %s : tensor<i64>
          }) : (tensor<1x2xi64>) -> tensor<1x2xi64>
          %i = stablehlo.partition_id : tensor<ui32>
          %j = stablehlo.convert %i : (tensor<ui32>) -> tensor<i64>
          %k = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<i64>) -> tensor<1x2xi64>
          sdy.return %1, %k : tensor<1x2xi64>, tensor<1x2xi64>
        } : (tensor<2x4xi64>) -> (tensor<1x4xi64>, tensor<2x4xi64>)
        return %0#0, %0#1 : tensor<1x4xi64>, tensor<2x4xi64>
      }
    }";
    let module = parse(text).unwrap_or_else(|e| panic!("{}", e.render("text", text)));
    let x = Tensor::from_i64s(ElementType::I64, &[2, 4], &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let results = Interpreter::new(&module).run("main", vec![Value::Tensor(x)]).unwrap().results;
    let found = |i: usize| results[i].as_tensor().unwrap().to_i64s().unwrap();
    assert_eq!(found(0), [6, 8, 10, 12]);
    assert_eq!(found(1), [0, 0, 1, 1, 2, 2, 3, 3]);
}
