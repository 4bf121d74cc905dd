//! A convolutional network that learns to read digits.
//!
//! `cargo run --release --example digits_lenet -- --epochs 20 --seed 0 --out /tmp/lenet`

mod common;

use clap::Parser;
use common::digits::{Arguments, Network, train};
use std::process::ExitCode;

fn main() -> ExitCode {
    let network = Network { name: "LeNet", text: include_str!("networks/lenet.sj") };
    common::conclude(train(&network, &Arguments::parse()))
}
