//! A transformer of two blocks that learns to continue a text, character by character, and writes some of its own.
//!
//! `cargo run --release --example char_transformer -- --epochs 6 --seed 0 --out /tmp/transformer`

mod common;

use clap::Parser;
use common::{Failed, Options, Step, compile, conclude, prepare};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use surject::runtime::Buffer;
use surject_train::plot::{Curve, Labels, curves};
use surject_train::{Log, Order, Progress, Random, Stepper, TrainError, data};

const STORY: &str = include_str!("data/surjection.txt");
const NET: &str = include_str!("networks/transformer.sj");

/// The characters that are seen at once.
const CONTEXT: usize = 64;
/// The pieces of text that a step sees.
const BATCH: usize = 16;
/// Pieces begin at every fifth character.
const STRIDE: usize = 5;
/// The number of different characters.
const LETTERS: usize = 48;
/// The share of the text, its end, that is held out.
const HELD_OUT: f64 = 0.1;
/// Below 1, likely characters are taken more often than their probability says.
const TEMPERATURE: f64 = 0.7;

/// Trains a transformer on a story and lets it write.
#[derive(Parser, Clone, Debug)]
struct Arguments {
    /// How often the story is seen, from each of its pieces.
    #[arg(long, default_value = "6")]
    epochs: NonZeroUsize,
    /// How many characters are written at the end.
    #[arg(long, default_value_t = 500)]
    write: usize,
    #[command(flatten)]
    common: Options,
}

fn main() -> ExitCode {
    conclude(train(&Arguments::parse()))
}

/// A text as numbers of its characters.
struct Story {
    alphabet: Vec<char>,
    text: Vec<usize>,
}

impl Story {
    fn read(text: &str) -> Result<Story, Failed> {
        let alphabet: Vec<char> = text.chars().collect::<BTreeSet<_>>().into_iter().collect();
        if alphabet.len() != LETTERS {
            return Err(
                format!("the story has {} different characters, not {LETTERS}", alphabet.len()).into()
            );
        }
        let text = text.chars().filter_map(|c| alphabet.binary_search(&c).ok()).collect();
        Ok(Story { alphabet, text })
    }

    /// The entropy of single characters, in nats: the loss of one who knows their frequencies only.
    fn entropy(&self) -> f64 {
        let mut counts = [0.0; LETTERS];
        self.text.iter().for_each(|letter| counts[*letter] += 1.0);
        let share = |n: f64| n / self.text.len() as f64;
        counts.iter().filter(|n| **n > 0.0).map(|n| -share(*n) * share(*n).ln()).sum()
    }
}

fn train(arguments: &Arguments) -> Result<(), Failed> {
    let Arguments { epochs, common, write } = arguments;
    let out = prepare(common)?;
    let story = Story::read(STORY)?;
    let cut = (story.text.len() as f64 * (1.0 - HELD_OUT)) as usize;
    let (known, unknown) = story.text.split_at(cut);
    let starts: Vec<usize> = (0..known.len() - CONTEXT).step_by(STRIDE).collect();
    let order = Order::new(&starts, BATCH, epochs.get(), u64::from(common.seed))?;

    let size = |batch| format!("\"{batch}, {CONTEXT}|{LETTERS}\"");
    let inputs = format!("input text: {0};\ninput next: {0};\n", size(BATCH));
    let learn = "let loss = cross_entropy(net(text), next);\nloss.backprop;\n\
                 update(loss, adamw(learning_rate: 0.001, weight_decay: 0.5));\noutput loss;\n";
    let training = compile("training.sj", &format!("{NET}{inputs}{learn}"), common)?;
    let first = training.first_values(common.seed)?;
    let mut training = training.stepper(&first)?;
    let answer =
        format!("input text: {};\nlet scores_of_next = net(text);\noutput scores_of_next;\n", size(1));
    let mut reader = compile("reading.sj", &format!("{NET}{answer}"), common)?.stepper(&first)?;

    let entropy = story.entropy();
    let bar = Progress::new(order.all_steps());
    let mut log = Log::new(&["epoch", "loss", "held_out_loss", "step_ms"]);
    // A story is short: a network that sees it often knows it by heart. What is kept is what reads the end of it best.
    let (mut least, mut best) = (f64::INFINITY, first.clone());
    training.fit(
        &order,
        &bar,
        |training, starts| {
            show(starts.iter().flat_map(|s| &known[*s..][..CONTEXT]), training.input(0));
            show(starts.iter().flat_map(|s| &known[s + 1..][..CONTEXT]), training.input(1));
            Ok(())
        },
        |training, epoch| {
            reader.adopt(&training.params()?)?;
            let held_out = loss_on(&mut reader, unknown)?;
            if held_out < least {
                (least, best) = (held_out, training.params()?);
            }
            let step_ms = epoch.time.as_secs_f64() * 1e3 / order.steps() as f64;
            log.push(&[epoch.number as f64, epoch.loss, held_out, step_ms])?;
            Ok(format!("loss {:.3}, held out {held_out:.3}", epoch.loss))
        },
    )?;
    bar.finish();

    let curve = |name: &str, column: &str| Curve { name: name.into(), points: log.points("epoch", column) };
    let by_frequency = Curve {
        name: "frequencies only".into(),
        points: vec![(1.0, entropy), (epochs.get() as f64, entropy)],
    };
    let labels = Labels { title: "A transformer reads a story", x: "epoch", y: "cross entropy (nats)" };
    curves(
        out.join("loss.svg"),
        labels,
        &[curve("training", "loss"), curve("held out", "held_out_loss"), by_frequency],
    )?;
    log.write(out.join("metrics.csv"))?;
    best.save(out.join("trained.safetensors"))?;
    reader.adopt(&best)?;
    let written = continue_text(&mut reader, &story, "The clerk", *write, u64::from(common.seed))?;
    std::fs::write(out.join("written.txt"), &written)?;

    let last = |column: &str| log.column(column).and_then(|c| c.last().copied()).unwrap_or(f64::NAN);
    println!(
        "{} characters, {epochs} epochs, {} steps of {:.2} ms",
        known.len(),
        order.all_steps(),
        last("step_ms")
    );
    println!("loss {:.4}, held out at best {least:.4}, frequencies only {entropy:.4}", last("loss"));
    println!("plots, figures and parameters are in {}\n\n{written}", out.display());
    Ok(())
}

/// Writes letters into an input, each as a row with one 1.
fn show<'a>(letters: impl Iterator<Item = &'a usize>, into: &mut Buffer) {
    let bytes = into.bytes_mut();
    bytes.fill(0);
    for (row, letter) in bytes.chunks_exact_mut(4 * LETTERS).zip(letters) {
        row[4 * letter..][..4].copy_from_slice(&1f32.to_le_bytes());
    }
}

/// The mean loss over a text, read in pieces that do not overlap.
fn loss_on(reader: &mut Stepper<Step>, text: &[usize]) -> Result<f64, TrainError> {
    let (mut loss, mut count) = (0.0, 0.0);
    let mut start = 0;
    while start + CONTEXT < text.len() {
        show(text[start..][..CONTEXT].iter(), reader.input(0));
        reader.step()?;
        let scores = data::f32_values(reader.output(0)?)?;
        for (scores, next) in scores.chunks(LETTERS).zip(&text[start + 1..]) {
            loss -= common::log_probability(scores, *next);
            count += 1.0;
        }
        start += CONTEXT;
    }
    Ok(loss / count)
}

/// Continues a text by so many characters, each drawn by its probability.
fn continue_text(
    reader: &mut Stepper<Step>,
    story: &Story,
    begin: &str,
    length: usize,
    seed: u64,
) -> Result<String, TrainError> {
    let mut random = Random::stream(seed, "write");
    let mut text: Vec<usize> = begin.chars().filter_map(|c| story.alphabet.binary_search(&c).ok()).collect();
    for _ in 0..length {
        let seen = &text[text.len().saturating_sub(CONTEXT)..];
        show(seen.iter(), reader.input(0));
        reader.step()?;
        let scores = data::f32_values(reader.output(0)?)?;
        let scores = &scores[(seen.len() - 1) * LETTERS..][..LETTERS];
        let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights: Vec<f64> = scores.iter().map(|s| (f64::from(s - highest) / TEMPERATURE).exp()).collect();
        text.push(random.choose(&weights).unwrap_or(0));
    }
    Ok(text.iter().map(|letter| story.alphabet[*letter]).collect())
}
