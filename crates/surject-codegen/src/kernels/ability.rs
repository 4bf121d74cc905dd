//! What the directives of schedules may ask of a machine.

use super::contraction::{Feed, MatrixUnit, Share};
use super::fault::Fault;
use super::running::{LineScan, Scanners};
use super::schedule::{Directive, Schedule};
use super::transpose::Transposers;
use surject_ir::named;
use surject_kernel::Level;

named! {
    /// What a machine may have.
    Ability {
        /// `parallel L task`.
        Tasks = "tasks",
        /// `parallel L block`.
        Blocks = "blocks",
        /// `parallel L warp`.
        Warps = "warps",
        /// `parallel L thread`, and tiles and lines that threads of a block share.
        Threads = "threads",
        /// Values in lanes.
        Vectors = "vectors",
        /// Products that are added to a sum without being rounded.
        Fma = "unrounded products (`fma`)",
        /// Panels, sums and terms that a task has in memory of its own.
        TaskMemory = "panels and sums in memory (`pack`, `accumulate`, `keep`, `epilogue`)",
        /// Iterations that run in step.
        Steps = "loops in step (`jam`)",
        /// Floats that are compared as integers.
        Keys = "floats as integers (`keys`)",
        /// Registers for tiles, which the matrix unit of a CPU multiplies.
        Tiles = "registers for tiles (`by tiles`)",
        /// Instructions of a CPU that sum products of neighbours.
        Dots = "dot products of neighbours (`by dots`)",
        /// Matrix units of warps.
        WarpProducts = "matrix units of warps (`warp`)",
        /// The same by four warps together.
        GroupProducts = "matrix units of four warps (`group`)",
        /// Boxes of tensors that are copied in the background.
        Boxes = "copies of boxes (`tma`)",
    }
}

impl Directive {
    /// What it needs of a machine, and the words that say so.
    fn needs(&self) -> Vec<(Ability, &'static str)> {
        match self {
            Directive::Split(..)
            | Directive::Order(_)
            | Directive::Unroll(_)
            | Directive::Range(_)
            | Directive::Peel(_)
            | Directive::Triangular(_)
            | Directive::Partial { .. }
            | Directive::Inverse(_)
            | Directive::NonTemporal
            | Directive::Prefetch(_) => Vec::new(),
            Directive::SerialEpilogue => vec![(Ability::TaskMemory, "epilogue")],
            Directive::Parallel(_, level) => {
                let ability = match level {
                    Level::Task => Ability::Tasks,
                    Level::Block => Ability::Blocks,
                    Level::Warp => Ability::Warps,
                    Level::Thread => Ability::Threads,
                };
                vec![(ability, level.name())]
            }
            Directive::Vectorise(_) => vec![(Ability::Vectors, "vectorise")],
            Directive::Jam(_) => vec![(Ability::Steps, "jam")],
            Directive::Fma(_) => vec![(Ability::Fma, "fma")],
            Directive::Pack { .. } => vec![(Ability::TaskMemory, "pack")],
            Directive::Accumulate { .. } => vec![(Ability::TaskMemory, "accumulate")],
            Directive::Keep { .. } => vec![(Ability::TaskMemory, "keep")],
            Directive::Keys(_) => vec![(Ability::Keys, "keys")],
            Directive::Contract(tiles) => match tiles.share {
                Share::Thread(_) => vec![(Ability::Threads, "thread")],
                Share::Grid { .. } => vec![(Ability::Threads, "grid")],
                Share::Warp(_) | Share::Warps(_) => vec![(Ability::WarpProducts, "warp")],
                Share::Group(Feed::Threads) => vec![(Ability::GroupProducts, "group")],
                Share::Group(Feed::Boxes) => {
                    vec![(Ability::GroupProducts, "group"), (Ability::Boxes, "tma")]
                }
            },
            Directive::Multiply(tiles) => match tiles.unit {
                MatrixUnit::Tiles => vec![(Ability::Tiles, tiles.unit.name())],
                MatrixUnit::Dots => vec![(Ability::Dots, tiles.unit.name())],
            },
            Directive::Transpose(tile) => match tile.by {
                Transposers::Warps(_) => vec![(Ability::Threads, "warps")],
                Transposers::Tasks(_) => vec![(Ability::Tasks, "task"), (Ability::Vectors, "task")],
            },
            Directive::Scan(running) => match running.by {
                Scanners::Threads { .. } => vec![(Ability::Threads, "threads")],
                Scanners::Lanes(LineScan { lanes, keys, .. }) => {
                    let mut needs = vec![(Ability::Tasks, "lines")];
                    needs.extend((lanes > 1).then_some((Ability::Vectors, "lanes")));
                    needs.extend(keys.then_some((Ability::Keys, "keys")));
                    needs
                }
            },
        }
    }
}

impl Schedule {
    /// The first directive that needs what a machine has not, by its number, and what it has.
    pub(crate) fn lacking(&self, machine: &str, abilities: &[Ability]) -> Result<(), (usize, Fault)> {
        for (i, directive) in self.directives.iter().enumerate() {
            if let Some((needed, word)) = directive.needs().into_iter().find(|n| !abilities.contains(&n.0)) {
                let own: Vec<&str> = abilities.iter().map(|ability| ability.name()).collect();
                let message = format!("`{machine}` has no {needed}; it has {}", own.join(", "));
                return Err((i, Fault::of(word, message)));
            }
        }
        Ok(())
    }
}
