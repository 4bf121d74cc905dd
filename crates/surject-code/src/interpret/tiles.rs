//! Registers for tiles (AMX): eight, each of 16 rows of 64 bytes.
//!
//! Products of bytes are exact, and their sums wrap. Those of pairs of `bf16` take subnormal factors and sums for zeros; the
//! pairs' first products are summed by themselves and so are their second ones, one after the other without rounding a product,
//! and then both sums are added to what the register has. All sums are rounded to nearest even.

use super::{Done, FaultKind, Frame, Process};
use crate::Op;
use half::bf16;

const ROWS: usize = 16;
const LINE: usize = 64;

/// Registers, once they are those of tiles.
pub(super) type Registers = Option<Box<[[u8; ROWS * LINE]; 8]>>;

impl<'m> Process<'m> {
    /// Runs an instruction of registers for tiles; `None`: it is none.
    pub(super) fn tile_instruction(&mut self, frame: &Frame<'m>, op: &Op) -> Option<Done<()>> {
        let Op::Intrinsic { name, operands, result: None } = op else { return None };
        let name = name.strip_prefix("llvm.x86.")?;
        let is_one = name.starts_with("tile") || name.starts_with("tdp") || name == "ldtilecfg";
        is_one.then(|| {
            let bits = operands.iter().map(|&(v, _)| frame.one(v)).collect::<Done<Vec<u64>>>()?;
            self.run_tile(name, &bits)
        })
    }

    fn run_tile(&mut self, name: &str, bits: &[u64]) -> Done<()> {
        let unknown = || FaultKind::Unknown(format!("the instruction `llvm.x86.{name}`"));
        match (name, bits) {
            ("ldtilecfg", &[from]) => {
                let config = self.memory.read(from, LINE)?;
                let rows = &config[48..56];
                let lines = (16..32).step_by(2).map(|at| u16::from_le_bytes([config[at], config[at + 1]]));
                let full = config[0] == 1 && rows.iter().all(|&r| usize::from(r) == ROWS);
                if !full || lines.into_iter().any(|bytes| usize::from(bytes) != LINE) {
                    return Err(FaultKind::Unknown("registers for tiles that are not full".into()));
                }
                self.tiles = Some(Box::new([[0; ROWS * LINE]; 8]));
            }
            ("tilerelease", &[]) => self.tiles = None,
            ("tilezero", &[register]) => *self.tile(register)? = [0; ROWS * LINE],
            ("tileloadd64" | "tileloaddt164", &[register, from, apart]) => {
                for row in 0..ROWS {
                    let from = from.wrapping_add(apart.wrapping_mul(row as u64));
                    let line = self.memory.read(from, LINE)?;
                    self.tile(register)?[row * LINE..][..LINE].copy_from_slice(&line);
                }
            }
            ("tilestored64", &[register, to, apart]) => {
                for row in 0..ROWS {
                    let line = self.tile(register)?[row * LINE..][..LINE].to_vec();
                    self.memory.write(to.wrapping_add(apart.wrapping_mul(row as u64)), &line)?;
                }
            }
            (_, &[sum, x, y]) => {
                let (x, y) = (*self.tile(x)?, *self.tile(y)?);
                let sum = self.tile(sum)?;
                let [left, right] = match name {
                    "tdpbf16ps" => {
                        halves(sum, &x, &y);
                        return Ok(());
                    }
                    "tdpbssd" => [true, true],
                    "tdpbsud" => [true, false],
                    "tdpbusd" => [false, true],
                    "tdpbuud" => [false, false],
                    _ => return Err(unknown()),
                };
                bytes(sum, (&x, left), (&y, right));
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// A register, which is one of tiles here.
    fn tile(&mut self, number: u64) -> Done<&mut [u8; ROWS * LINE]> {
        let missing = || FaultKind::Unknown(format!("register {number} for tiles, which is none here"));
        self.tiles.as_mut().and_then(|all| all.get_mut(number as usize)).ok_or_else(missing)
    }
}

type Tile = [u8; ROWS * LINE];

/// Four bytes of a register.
fn word(tile: &Tile, row: usize, column: usize) -> [u8; 4] {
    let at = row * LINE + 4 * column;
    [tile[at], tile[at + 1], tile[at + 2], tile[at + 3]]
}

fn set(tile: &mut Tile, row: usize, column: usize, word: [u8; 4]) {
    tile[row * LINE + 4 * column..][..4].copy_from_slice(&word);
}

/// Adds the products of integers of 8 bits, signed or not.
fn bytes(sum: &mut Tile, (x, left): (&Tile, bool), (y, right): (&Tile, bool)) {
    let of = |byte: u8, signed: bool| if signed { i32::from(byte as i8) } else { i32::from(byte) };
    for row in 0..ROWS {
        for column in 0..ROWS {
            let mut all = i32::from_le_bytes(word(sum, row, column));
            for k in 0..ROWS {
                let pairs = word(x, row, k).into_iter().zip(word(y, k, column));
                all = pairs.fold(all, |all, (x, y)| all.wrapping_add(of(x, left) * of(y, right)));
            }
            set(sum, row, column, all.to_le_bytes());
        }
    }
}

/// Adds the products of pairs of `bf16`.
fn halves(sum: &mut Tile, x: &Tile, y: &Tile) {
    let flushed = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
    let both =
        |[a, b, c, d]: [u8; 4]| [[a, b], [c, d]].map(|half| flushed(bf16::from_le_bytes(half).to_f32()));
    for row in 0..ROWS {
        for column in 0..ROWS {
            let mut sums = [0f32; 2];
            for k in 0..ROWS {
                let (x, y) = (both(word(x, row, k)), both(word(y, k, column)));
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = flushed(x[i].mul_add(y[i], *sum));
                }
            }
            let before = flushed(f32::from_le_bytes(word(sum, row, column)));
            let all = flushed(before + flushed(sums[0] + sums[1]));
            set(sum, row, column, all.to_le_bytes());
        }
    }
}
