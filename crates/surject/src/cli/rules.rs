//! `surject rules`: lists, checks or explains a file of rewrite rules.

use crate::Failure;
use crate::pipeline::load_rules;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `surject rules`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Lists the rules of a file with their exactness class; without a file, the laws.
    List {
        /// The rule file.
        file: Option<PathBuf>,
    },
    /// Checks scope, spaces, types, and soundness by interpretation.
    Check {
        /// The rule file.
        file: PathBuf,
    },
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    match &arguments.task {
        Task::List { file } => {
            let file = match file {
                Some(path) => load_rules(path)?,
                None => surject_egraph::laws().map_err(Failure::bad_input)?,
            };
            for rule in &file.rules {
                super::print(out, format_args!("{:<28} {} {}\n", rule.name, rule.class, rule.flags))?;
            }
            Ok(())
        }
        Task::Check { file } => {
            let rules = load_rules(file)?;
            // A rule of real numbers need not hold for integers.
            for rule in &rules.rules {
                let Some(soundness) = rule.soundness.as_ref().filter(|s| !s.unsound.is_empty()) else {
                    continue;
                };
                let words = |kinds: &[surject_rules::TypeClass]| {
                    kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                let (holds, not) = (words(&soundness.sound), words(&soundness.unsound));
                super::print(
                    out,
                    format_args!("{}: holds for {holds}; does not fire for {not}\n", rule.name),
                )?;
            }
            super::print(
                out,
                format_args!("{}: {} rules, all sound on the values tried\n", rules.name, rules.rules.len()),
            )
        }
    }
}
