//! A perceptron that learns to read digits.
//!
//! `cargo run --release --example digits_mlp -- --epochs 20 --seed 0 --out /tmp/mlp`

mod common;

use clap::Parser;
use common::digits::{Arguments, Network, train};
use std::process::ExitCode;

fn main() -> ExitCode {
    let network = Network { name: "MLP", text: include_str!("networks/mlp.sj") };
    common::conclude(train(&network, &Arguments::parse()))
}
