//! Steppers: state goes round, minibatches are those of the seed, and wrong steps are refused.

use proptest::prelude::*;
use std::collections::BTreeSet;
use surject_runtime::{Buffer, DType};
use surject_train::data::{f32_buffer, f32_values, gather, one_hot, padded_batches};
use surject_train::{Layout, Order, Params, Progress, Split, State, Stepper, TrainError};

type Result<T> = std::result::Result<T, TrainError>;

fn scalar(v: f32) -> Buffer {
    f32_buffer(&[v], &[]).unwrap()
}

fn params(values: &[(&str, f32)]) -> Params {
    let mut params = Params::new();
    values.iter().for_each(|(name, v)| assert!(params.insert(*name, scalar(*v)).is_ok()));
    params
}

/// The loss is `x`, the next `w` is `w + x`, and `v` counts.
fn adding(args: &[Buffer], results: &mut Vec<Buffer>) -> Result<()> {
    let values: Vec<f32> = args.iter().map(|a| f32_values(a).map(|v| v[0])).collect::<Result<_>>()?;
    *results = vec![scalar(values[0]), scalar(values[1] + values[0]), scalar(values[2] + 1.0)];
    Ok(())
}

#[test]
fn state_goes_round() {
    let layout = Layout::in_order(1, 1, ["w", "v"]);
    let start = params(&[("v", 0.0), ("unused", 9.0), ("w", 10.0)]);
    let mut stepper = Stepper::new(adding, layout, vec![scalar(2.0)], &start).unwrap();
    stepper.step().unwrap();
    *stepper.input(0) = scalar(5.0);
    stepper.step().unwrap();
    assert_eq!(stepper.params().unwrap(), params(&[("w", 17.0), ("v", 2.0)]));
    assert_eq!((stepper.scalar(0).unwrap(), stepper.steps()), (5.0, 2));
    stepper.adopt(&start).unwrap();
    assert_eq!(stepper.params().unwrap(), params(&[("w", 10.0), ("v", 0.0)]));
}

#[test]
fn arguments_and_results_may_stand_in_any_order() {
    let state = |name: &str, argument, result| State { name: name.to_string(), argument, result };
    let layout = Layout {
        inputs: vec![2],
        state: vec![state("a", 0, None), state("b", 1, Some(0))],
        outputs: vec![1],
    };
    let step = |args: &[Buffer], results: &mut Vec<Buffer>| -> Result<()> {
        *results = vec![args[2].clone(), args[0].clone()];
        Ok(())
    };
    let start = params(&[("a", 1.0), ("b", 2.0)]);
    let mut stepper = Stepper::new(step, layout, vec![scalar(3.0)], &start).unwrap();
    stepper.step().unwrap();
    assert_eq!(stepper.params().unwrap(), params(&[("a", 1.0), ("b", 3.0)]));
    assert_eq!(stepper.scalar(0).unwrap(), 1.0);
}

#[test]
fn wrong_steps_are_refused() {
    let start = params(&[("w", 0.0)]);
    let run = |results: Vec<Buffer>| {
        let step = move |_: &[Buffer], into: &mut Vec<Buffer>| -> Result<()> {
            *into = results.clone();
            Ok(())
        };
        let mut stepper = Stepper::new(step, Layout::in_order(1, 1, ["w"]), vec![scalar(1.0)], &start)?;
        let order = Order::new(&[0], 1, 1, 0)?;
        stepper.fit(&order, &Progress::silent(), |_, _| Ok(()), |_, _| Ok(String::new()))
    };
    let refused = |results| run(results).unwrap_err().to_string();
    let mut found = vec![
        refused(vec![]),
        refused(vec![scalar(1.0)]),
        refused(vec![scalar(1.0), Buffer::zeros(DType::F32, &[2, 1])]),
        refused(vec![Buffer::zeros(DType::F32, &[2]), scalar(1.0)]),
        refused(vec![scalar(f32::NAN), scalar(1.0)]),
    ];
    let failing = |_: &[Buffer], _: &mut Vec<Buffer>| Err("the machine is on fire");
    let mut stepper = Stepper::new(failing, Layout::in_order(0, 1, ["w"]), vec![], &start).unwrap();
    found.push(stepper.step().unwrap_err().to_string());
    found.push(stepper.output(0).unwrap_err().to_string());
    let layout = |inputs: &[usize], outputs: &[usize], argument, result| Layout {
        inputs: inputs.to_vec(),
        state: vec![State { name: "w".to_string(), argument, result }],
        outputs: outputs.to_vec(),
    };
    let mut build = |layout, inputs| {
        let built = Stepper::new(adding, layout, inputs, &start);
        found.push(built.err().map(|e| e.to_string()).unwrap_or_default());
    };
    build(layout(&[0], &[0], 0, None), vec![scalar(1.0)]);
    build(layout(&[0], &[0], 2, None), vec![scalar(1.0)]);
    build(layout(&[0], &[1], 1, Some(1)), vec![scalar(1.0)]);
    build(layout(&[0], &[0], 1, Some(1)), vec![]);
    build(Layout::in_order(0, 1, ["b"]), vec![]);
    insta::assert_snapshot!(found.join("\n\n"));
}

#[test]
fn an_order_never_changes() {
    let split = Split::stratified(&[0, 0, 1, 1, 1, 0, 2, 2, 0, 1, 1, 0], 0.25, 42).unwrap();
    let order = Order::new(&split.train, 4, 2, 42).unwrap();
    let batches: Vec<_> = order.epochs().collect();
    insta::assert_snapshot!(format!("{split:?}\n{batches:?}\n{:?}", order.to_buffer()));
}

#[test]
fn impossible_minibatches_are_refused() {
    let found = [
        Order::new(&[1, 2], 3, 1, 0).unwrap_err(),
        Order::new(&[1, 2], 0, 1, 0).unwrap_err(),
        Split::random(4, 1.0, 0).unwrap_err(),
        Split::random(4, f64::NAN, 0).unwrap_err(),
        padded_batches(&[1], 0).unwrap_err(),
        gather(&Buffer::zeros(DType::F32, &[2, 3]), &[0, 2]).unwrap_err(),
        gather(&scalar(1.0), &[]).unwrap_err(),
        one_hot(&[0, 3], 3).unwrap_err(),
        f32_buffer(&[1.0], &[2]).unwrap_err(),
        f32_values(&Buffer::zeros(DType::F64, &[1])).unwrap_err(),
    ];
    insta::assert_snapshot!(found.map(|e| e.to_string()).join("\n"));
}

#[test]
fn rows_are_gathered() {
    let table = f32_buffer(&[0.0, 1.0, 10.0, 11.0, 20.0, 21.0], &[3, 2]).unwrap();
    assert_eq!(
        gather(&table, &[2, 0, 2]).unwrap(),
        f32_buffer(&[20.0, 21.0, 0.0, 1.0, 20.0, 21.0], &[3, 2]).unwrap()
    );
    assert_eq!(one_hot(&[1, 0], 2).unwrap(), f32_buffer(&[0.0, 1.0, 1.0, 0.0], &[2, 2]).unwrap());
    assert_eq!(padded_batches(&[5, 6, 7], 2).unwrap(), vec![(vec![5, 6], 2), (vec![7, 7], 1)]);
}

proptest! {
    #[test]
    fn a_split_is_a_partition_with_the_share_of_each_class(labels in prop::collection::vec(0usize..5, 0..200), fraction in 0.0..0.99, seed: u64) {
        let split = Split::stratified(&labels, fraction, seed).unwrap();
        let all: BTreeSet<usize> = split.train.iter().chain(&split.test).copied().collect();
        prop_assert_eq!(split.train.len() + split.test.len(), labels.len());
        prop_assert_eq!(all, (0..labels.len()).collect::<BTreeSet<_>>());
        for class in 0..5 {
            let count = |rows: &[usize]| rows.iter().filter(|r| labels[**r] == class).count() as f64;
            let members = labels.iter().filter(|l| **l == class).count() as f64;
            prop_assert!((count(&split.test) - members * fraction).abs() <= 0.5);
        }
    }

    #[test]
    fn an_epoch_sees_a_row_at_most_once(rows in 1usize..100, batch in 1usize..20, seed: u64) {
        prop_assume!(batch <= rows);
        let order = Order::new(&(0..rows).collect::<Vec<_>>(), batch, 3, seed).unwrap();
        for epoch in order.epochs() {
            let seen: BTreeSet<usize> = epoch.iter().flatten().copied().collect();
            prop_assert_eq!(seen.len(), rows / batch * batch);
        }
        prop_assert_eq!(order.all_steps(), 3 * (rows / batch));
    }
}
