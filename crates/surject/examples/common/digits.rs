//! Training a classifier of the optical digits.

use super::{Failed, Options, Step, compile, highest, log_probability, prepare, time};
use flate2::read::GzDecoder;
use serde_json::json;
use std::io::Read;
use std::num::NonZeroUsize;
use surject_train::plot::{Curve, Labels, curves};
use surject_train::{Log, Order, Params, Progress, Split, Stepper, data};

/// The images that a step sees at once.
const BATCH: usize = 64;
/// The share of each digit that is held out.
const HELD_OUT: f64 = 0.2;
const LEARNING_RATE: f64 = 0.05;
const MOMENTUM: f64 = 0.9;
const WEIGHT_DECAY: f64 = 0.001;

/// A network and how it is trained.
pub struct Network {
    /// What it is called.
    pub name: &'static str,
    /// The text: it defines `net`, a function from images `batch | height, width, channels` to logits.
    pub text: &'static str,
}

/// How long it is trained.
#[derive(clap::Parser, Clone, Debug)]
pub struct Arguments {
    /// How often every image is seen.
    #[arg(long, default_value = "20")]
    pub epochs: NonZeroUsize,
    /// Do not train: time a step for so many seconds.
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    #[command(flatten)]
    pub common: Options,
}

/// The images, as intensities from 0 to 1, and the digits they show.
struct Digits {
    images: surject::runtime::Buffer,
    targets: surject::runtime::Buffer,
    labels: Vec<usize>,
}

fn digits() -> Result<Digits, Failed> {
    let packed = &include_bytes!("../data/digits.csv.gz")[..];
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text)?;
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let numbers = line.split(',').map(str::parse).collect::<Result<Vec<u8>, _>>()?;
        let [image @ .., label] = &numbers[..] else { return Err("an empty line among the digits".into()) };
        pixels.extend(image.iter().map(|p| f32::from(*p) / 16.0));
        labels.push(usize::from(*label));
    }
    let images = data::f32_buffer(&pixels, &[labels.len(), 8, 8, 1])?;
    Ok(Digits { images, targets: data::one_hot(&labels, 10)?, labels })
}

/// Trains a network and says how many of the images held out it gets right.
pub fn train(network: &Network, arguments: &Arguments) -> Result<(), Failed> {
    let Arguments { epochs, common, .. } = arguments;
    let out = prepare(common)?;
    let digits = digits()?;
    let seed = u64::from(common.seed);
    let split = Split::stratified(&digits.labels, HELD_OUT, seed)?;
    let order = Order::new(&split.train, BATCH, epochs.get(), seed)?;

    let training = compile("training.sj", &training_text(network), common)?;
    let first = training.first_values(common.seed)?;
    let compile_ms = training.compile_ms;
    let mut training = training.stepper(&first)?;
    if let Some(seconds) = arguments.time {
        let rows = &split.train[..BATCH];
        data::gather_into(&digits.images, rows, training.input(0))?;
        data::gather_into(&digits.targets, rows, training.input(1))?;
        return time(&mut training, compile_ms, seconds);
    }

    let evaluation = compile("evaluation.sj", &evaluation_text(network), common)?;
    let names: Vec<String> = evaluation.state().map(str::to_string).collect();
    let mut evaluation = evaluation.stepper(&first)?;
    only(&first, &names)?.save(out.join("initial.safetensors"))?;
    record_settings(network, arguments, &names, &split, &order)?;

    let bar = Progress::new(order.all_steps());
    let mut log = Log::new(&["epoch", "loss", "held_out_loss", "accuracy", "step_ms"]);
    training.fit(
        &order,
        &bar,
        |training, rows| {
            data::gather_into(&digits.images, rows, training.input(0))?;
            data::gather_into(&digits.targets, rows, training.input(1))
        },
        |training, epoch| {
            evaluation.adopt(&training.params()?)?;
            let (loss, accuracy) = evaluate(&mut evaluation, &digits, &split.test)?;
            let step_ms = epoch.time.as_secs_f64() * 1e3 / order.steps() as f64;
            log.push(&[epoch.number as f64, epoch.loss, loss, accuracy, step_ms])?;
            Ok(format!("loss {:.4}, held out {:.2} %", epoch.loss, accuracy * 100.0))
        },
    )?;
    bar.finish();

    log.write(out.join("metrics.csv"))?;
    let curve = |name: &str, column: &str| Curve { name: name.into(), points: log.points("epoch", column) };
    let labels = Labels { title: network.name, x: "epoch", y: "cross entropy" };
    curves(out.join("loss.svg"), labels, &[curve("training", "loss"), curve("held out", "held_out_loss")])?;
    let labels = Labels { title: network.name, x: "epoch", y: "share of the images held out" };
    curves(out.join("accuracy.svg"), labels, &[curve("recognised", "accuracy")])?;
    training.params()?.save(out.join("trained.safetensors"))?;

    let last = |column: &str| log.column(column).and_then(|c| c.last().copied()).unwrap_or(f64::NAN);
    println!(
        "{}: {} parameters, {} images, {epochs} epochs",
        network.name,
        only(&first, &names)?.elements(),
        split.train.len()
    );
    println!("loss {:.6}, held out {:.6}", last("loss"), last("held_out_loss"));
    println!("{:.2} % of {} images held out are recognised", last("accuracy") * 100.0, split.test.len());
    println!(
        "a step takes {:.3} ms; plots, figures and parameters are in {}",
        last("step_ms"),
        out.display()
    );
    Ok(())
}

/// The inputs, the network, the loss and what a step changes.
fn training_text(network: &Network) -> String {
    format!(
        "{}\ninput images: \"{BATCH}|8, 8, 1\";\ninput targets: \"{BATCH}|10\";\n\
         let loss = cross_entropy(net(images), targets);\nloss.backprop;\n\
         update(loss, sgd(learning_rate: {LEARNING_RATE}, momentum: {MOMENTUM}, weight_decay: {WEIGHT_DECAY}));\n\
         output loss;\n",
        network.text
    )
}

/// The inputs, the network and its answer.
fn evaluation_text(network: &Network) -> String {
    format!(
        "{}\ninput images: \"{BATCH}|8, 8, 1\";\nlet logits = net(images);\noutput logits;\n",
        network.text
    )
}

/// The mean loss and the share of the rows that are recognised.
fn evaluate(
    evaluation: &mut Stepper<Step>,
    digits: &Digits,
    rows: &[usize],
) -> Result<(f64, f64), surject_train::TrainError> {
    let (mut loss, mut right) = (0.0, 0);
    for (batch, count) in data::padded_batches(rows, BATCH)? {
        data::gather_into(&digits.images, &batch, evaluation.input(0))?;
        evaluation.step()?;
        let logits = data::f32_values(evaluation.output(0)?)?;
        for (scores, row) in logits.chunks(10).zip(&batch[..count]) {
            let label = digits.labels[*row];
            right += usize::from(highest(scores) == label);
            loss -= log_probability(scores, label);
        }
    }
    Ok((loss / rows.len() as f64, right as f64 / rows.len() as f64))
}

/// Leaves what another program needs to train the same network.
fn record_settings(
    network: &Network,
    arguments: &Arguments,
    parameters: &[String],
    split: &Split,
    order: &Order,
) -> Result<(), Failed> {
    let out = &arguments.common.out;
    surject::runtime::npy::write(out.join("order.npy"), &order.to_buffer())?;
    surject::runtime::npy::write(out.join("held_out.npy"), &data::rows_to_buffer(&split.test))?;
    let settings = json!({
        "network": network.name, "batch": BATCH, "epochs": arguments.epochs, "seed": arguments.common.seed,
        "learning_rate": LEARNING_RATE, "momentum": MOMENTUM, "weight_decay": WEIGHT_DECAY, "parameters": parameters,
    });
    Ok(std::fs::write(out.join("settings.json"), format!("{settings:#}\n"))?)
}

/// Some of the parameters.
fn only(params: &Params, names: &[String]) -> Result<Params, surject_train::TrainError> {
    let mut some = Params::new();
    for name in names {
        if let Some(value) = params.get(name) {
            some.insert(name, value.clone())?;
        }
    }
    Ok(some)
}
