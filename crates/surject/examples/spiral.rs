//! A perceptron that tells the arms of a spiral apart, with plots of the points, of its decision and of its loss.
//!
//! `cargo run --release --example spiral -- --epochs 100 --seed 0 --out /tmp/spiral`

mod common;

use clap::Parser;
use common::{Failed, Options, Step, compile, conclude, prepare};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use surject_train::plot::{Curve, Labels, Points, Regions, Window, curves, scatter};
use surject_train::{Log, Order, Progress, Random, Split, Stepper, TrainError, data};

const ARMS: usize = 3;
const POINTS: usize = 900;
const BATCH: usize = 60;
const NET: &str = include_str!("networks/spiral.sj");

/// The cells of the plot of the decision.
const COLUMNS: usize = 180;
const ROWS: usize = 120;

/// Trains a classifier of points on a spiral.
#[derive(Parser, Clone, Debug)]
struct Arguments {
    /// How often every point is seen.
    #[arg(long, default_value = "100")]
    epochs: NonZeroUsize,
    #[command(flatten)]
    common: Options,
}

fn main() -> ExitCode {
    conclude(train(&Arguments::parse()))
}

/// Points along the arms, each turned by a third, with some noise in the angle.
fn spiral(seed: u64) -> Points {
    let mut random = Random::stream(seed, "spiral");
    let (mut at, mut class) = (Vec::new(), Vec::new());
    for i in 0..POINTS {
        let (arm, along) = (i % ARMS, i as f64 / POINTS as f64);
        let angle = 4.5 * along + arm as f64 * std::f64::consts::TAU / ARMS as f64 + 0.15 * random.normal();
        let radius = 0.05 + 0.95 * along;
        at.push((radius * angle.cos(), radius * angle.sin()));
        class.push(arm);
    }
    Points { at, class }
}

fn train(arguments: &Arguments) -> Result<(), Failed> {
    let Arguments { epochs, common } = arguments;
    let out = prepare(common)?;
    let seed = u64::from(common.seed);
    let points = spiral(seed);
    let window = Window { x: -1.2..1.2, y: -1.2..1.2 };
    let labels = Labels { title: "Three arms", x: "x", y: "y" };
    scatter(out.join("points.svg"), labels, &window, &points, None)?;

    let coordinates = coordinates(&points.at)?;
    let targets = data::one_hot(&points.class, ARMS)?;
    let split = Split::stratified(&points.class, 0.2, seed)?;
    let order = Order::new(&split.train, BATCH, epochs.get(), seed)?;
    let inputs = format!("input points: \"{BATCH}|2\";\ninput targets: \"{BATCH}|{ARMS}\";\n");
    let learn = "let loss = cross_entropy(net(points), targets);\nloss.backprop;\n\
                 update(loss, sgd(learning_rate: 0.05, momentum: 0.9, weight_decay: 0.0001));\noutput loss;\n";
    let training = compile("training.sj", &format!("{NET}{inputs}{learn}"), common)?;
    let first = training.first_values(common.seed)?;
    let mut training = training.stepper(&first)?;
    let inputs = format!("input points: \"{COLUMNS}|2\";\n");
    let answer = "let scores = net(points);\noutput scores;\n";
    let mut decision = compile("decision.sj", &format!("{NET}{inputs}{answer}"), common)?.stepper(&first)?;

    let bar = Progress::new(order.all_steps());
    let mut log = Log::new(&["epoch", "loss", "accuracy"]);
    training.fit(
        &order,
        &bar,
        |training, rows| {
            data::gather_into(&coordinates, rows, training.input(0))?;
            data::gather_into(&targets, rows, training.input(1))
        },
        |training, epoch| {
            decision.adopt(&training.params()?)?;
            let held_out: Vec<(f64, f64)> = split.test.iter().map(|row| points.at[*row]).collect();
            let decided = decide(&mut decision, &held_out)?;
            let right = decided.iter().zip(&split.test).filter(|(arm, row)| **arm == points.class[**row]);
            let accuracy = right.count() as f64 / held_out.len() as f64;
            log.push(&[epoch.number as f64, epoch.loss, accuracy])?;
            Ok(format!("loss {:.4}, held out {:.1} %", epoch.loss, accuracy * 100.0))
        },
    )?;
    bar.finish();

    let class = decide(&mut decision, &window.grid(COLUMNS, ROWS))?;
    let labels = Labels { title: "What the network decides", x: "x", y: "y" };
    let regions = Regions { columns: COLUMNS, class };
    scatter(out.join("decision.svg"), labels, &window, &points, Some(&regions))?;
    let labels = Labels { title: "Three arms", x: "epoch", y: "cross entropy" };
    let curve = Curve { name: "training".to_string(), points: log.points("epoch", "loss") };
    curves(out.join("loss.svg"), labels, &[curve])?;
    log.write(out.join("metrics.csv"))?;

    let last = |column: &str| log.column(column).and_then(|c| c.last().copied()).unwrap_or(f64::NAN);
    println!("{} points, {epochs} epochs, loss {:.6}", split.train.len(), last("loss"));
    println!("{:.1} % of {} points held out are told apart", last("accuracy") * 100.0, split.test.len());
    println!("plots and figures are in {}", out.display());
    Ok(())
}

fn coordinates(points: &[(f64, f64)]) -> Result<surject::runtime::Buffer, TrainError> {
    let flat: Vec<f32> = points.iter().flat_map(|(x, y)| [*x as f32, *y as f32]).collect();
    data::f32_buffer(&flat, &[points.len(), 2])
}

/// The arm with the highest score for each point.
fn decide(decision: &mut Stepper<Step>, points: &[(f64, f64)]) -> Result<Vec<usize>, TrainError> {
    let all = coordinates(points)?;
    let rows: Vec<usize> = (0..points.len()).collect();
    let mut arms = Vec::with_capacity(points.len());
    for (batch, count) in data::padded_batches(&rows, COLUMNS)? {
        data::gather_into(&all, &batch, decision.input(0))?;
        decision.step()?;
        let scores = data::f32_values(decision.output(0)?)?;
        arms.extend(scores.chunks(ARMS).take(count).map(common::highest));
    }
    Ok(arms)
}
