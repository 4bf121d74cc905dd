//! How a sum of products is cut into tiles, and the text of that in schedules.

use super::WARP;
use crate::kernels::fault::Fault;
use std::fmt;

/// How a sum of products is cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The loop over rows, that over columns, and that over terms which are cut. Several loops over rows run as one,
    /// with commas between their names: the last of them fastest.
    pub loops: [String; 3],
    /// Rows, columns and terms of a tile, which a block brings into shared memory.
    pub tile: [i64; 3],
    /// Who sums what of it.
    pub share: Share,
    /// Are tiles left out where a mask throws all of their sums away?
    pub masked: bool,
}

/// What of a tile one thread or one warp has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubTile {
    /// Rows.
    pub rows: i64,
    /// Columns; those of a thread lie next to each other.
    pub columns: i64,
}

/// Who sums what of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Each thread so many rows, and columns that lie next to each other.
    Thread(SubTile),
    /// The same, with so many threads of a warp along the columns and the others along the rows, so that a warp reads less
    /// of both; tiles that can be copied as they are come in the background.
    Grid {
        /// What a thread has.
        own: SubTile,
        /// Threads along the columns.
        across: i64,
    },
    /// The matrix units of a warp so many rows and all columns; products of `f16`, `bf16` or tf32 are not rounded before
    /// they are summed, those of 8-bit integers are summed in `i32`.
    Warp(i64),
    /// The same, each warp so many rows and columns: squares read least of shared memory for their products.
    Warps(SubTile),
    /// The matrix units of four warps together 64 rows, 16 a warp, and all columns, from shared memory (`wgmma`).
    Group(Feed),
}

/// Who brings what four warps multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// Their threads copy it in the background.
    Threads,
    /// A warp beside them has boxes copied (TMA).
    Boxes,
}

impl Feed {
    /// What stands behind `group` in a schedule.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Feed::Threads => "",
            Feed::Boxes => " tma",
        }
    }
}

/// Rows of each of four warps that sum together.
pub const GROUP_ROWS: i64 = 16;
/// Terms that they sum in a turn: a line of 128 bytes of 16-bit elements.
pub const GROUP_TERMS: i64 = 64;
/// The warps that sum together.
pub const GROUP: i64 = 4;
/// Registers that threads of the same lane share: those of a quarter of a multiprocessor, which has every fourth warp.
pub const LANE_REGISTERS: i64 = 512;
/// Registers that a warp keeps which gives them away.
pub const KEPT_REGISTERS: i64 = 24;
/// Registers of a thread beside its sums: what `ptxas` asks for beside those of one instruction.
pub const OTHER_REGISTERS: i64 = 26;

impl Tiles {
    /// The loops over rows.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        self.loops[0].split(',')
    }

    /// The warps of a block: each has some rows of the tile, or some rows and columns.
    pub fn warps(&self) -> i64 {
        match self.share {
            Share::Thread(SubTile { rows, columns: _ }) | Share::Warp(rows) => self.tile[0] / rows.max(1),
            Share::Grid { own: SubTile { rows, columns: _ }, across } => {
                self.tile[0] / rows.saturating_mul(WARP / across.max(1)).max(1)
            }
            Share::Warps(SubTile { rows, columns: _ }) => self.tile[0] / rows.max(1) * self.warps_across(),
            Share::Group(_) => self.tile[0] / GROUP_ROWS,
        }
    }

    /// What a warp has.
    pub(crate) fn of_warp(&self) -> SubTile {
        let [tile_rows, columns, _] = self.tile;
        match self.share {
            Share::Warp(rows) => SubTile { rows, columns },
            Share::Warps(own) => own,
            Share::Group(_) => SubTile { rows: GROUP_ROWS, columns },
            Share::Thread(_) | Share::Grid { .. } => {
                SubTile { rows: tile_rows / self.warps().max(1), columns }
            }
        }
    }

    /// The warps of a block that have the same rows.
    pub fn warps_across(&self) -> i64 {
        match self.share {
            Share::Warps(SubTile { rows: _, columns }) => self.tile[1] / columns.max(1),
            _ => 1,
        }
    }

    /// Do threads sum products, each its own?
    pub fn is_by_threads(&self) -> bool {
        matches!(self.share, Share::Thread(_) | Share::Grid { .. })
    }

    /// The warps of a block beside those that sum: who has boxes copied. A group of four gives registers away to the others,
    /// where one warp more would leave these too few.
    pub fn warps_beside(&self) -> i64 {
        match self.share {
            Share::Group(Feed::Boxes)
                if self.group_registers() > LANE_REGISTERS / (self.warps() / GROUP + 1) =>
            {
                GROUP
            }
            Share::Group(Feed::Boxes) => 1,
            _ => 0,
        }
    }

    /// Registers of a thread that sums in a group: its sums, and what else it needs.
    pub(super) fn group_registers(&self) -> i64 {
        GROUP_ROWS * self.tile[1] / WARP + OTHER_REGISTERS
    }

    /// Reads what stands behind `contract`.
    pub(crate) fn read(words: &[&str]) -> Result<Tiles, Fault> {
        let number = |word: &str| word.parse().map_err(|_| Fault::of(word, format!("`{word}` is no number")));
        let [rows, columns, terms, "tile", m, n, k, share @ ..] = words else {
            return Err(
                "a product is `contract ROWS COLUMNS TERMS tile M N K thread M N|grid M N across T|warp M [N]|group|group tma`".into()
            );
        };
        let (share, masked) = match share {
            [share @ .., "masked"] => (share, true),
            share => (share, false),
        };
        let share = match share {
            ["thread", own, lanes] => Share::Thread(SubTile { rows: number(own)?, columns: number(lanes)? }),
            ["grid", own, lanes, "across", across] => Share::Grid {
                own: SubTile { rows: number(own)?, columns: number(lanes)? },
                across: number(across)?,
            },
            ["warp", own] => Share::Warp(number(own)?),
            ["warp", rows, columns] => {
                Share::Warps(SubTile { rows: number(rows)?, columns: number(columns)? })
            }
            ["group"] => Share::Group(Feed::Threads),
            ["group", "tma"] => Share::Group(Feed::Boxes),
            _ => {
                return Err("a tile is shared by `thread ROWS COLUMNS`, `grid ROWS COLUMNS across THREADS`, `warp ROWS`, `warp ROWS COLUMNS`, \
                            `group` or `group tma`"
                    .into());
            }
        };
        let loops = [rows, columns, terms].map(|l| l.to_string());
        Ok(Tiles { loops, tile: [number(m)?, number(n)?, number(k)?], share, masked })
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.tile;
        write!(f, "contract {} tile {m} {n} {k} ", self.loops.join(" "))?;
        match self.share {
            Share::Thread(SubTile { rows, columns }) => write!(f, "thread {rows} {columns}")?,
            Share::Grid { own: SubTile { rows, columns }, across } => {
                write!(f, "grid {rows} {columns} across {across}")?
            }
            Share::Warp(rows) => write!(f, "warp {rows}")?,
            Share::Warps(SubTile { rows, columns }) => write!(f, "warp {rows} {columns}")?,
            Share::Group(feed) => write!(f, "group{}", feed.text())?,
        }
        if self.masked { write!(f, " masked") } else { Ok(()) }
    }
}
