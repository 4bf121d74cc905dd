//! Matrix products: by registers for tiles (AMX), by dot products of neighbours in lanes, or by additions of products that are
//! not rounded.

use super::{Done, Writer};
use surject_codegen::code::{self, Carry, Elem, Elements, Index, Literal, Op, Type};
use surject_ir::DType;
use surject_kernel::{Factors, MatMulSizes, Op as KernelOp, Region, Tile};

/// Rows of a register for tiles, and sums of one of its rows.
const SIDE: usize = 16;

/// Bytes of a row of a register for tiles.
const LINE: usize = 64;

/// Bytes of the terms that a lane takes at once.
const WORD: usize = 4;

/// What does a matrix product.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// Registers for tiles, by this instruction.
    Tiles(&'static str),
    /// Pairs of `bf16`, by an instruction that takes subnormal ones for zeros.
    Halves,
    /// Pairs of `bf16` as `f32`, as they are.
    Exact,
    /// Pairs of 16-bit integers.
    Integers,
}

/// The rows that are summed at once, in so many vectors each.
struct Strip {
    rows: usize,
    vectors: usize,
    lanes: usize,
    sums: Elem,
}

impl Strip {
    fn ty(&self) -> Type {
        self.sums.ty(self.lanes)
    }
}

/// Where a matrix product begins: its tiles, and the numbers of their first elements.
#[derive(Clone, Copy)]
struct Operands<'a> {
    tiles: [&'a Tile; 3],
    first: [code::Value; 3],
}

fn of_bytes(of: [DType; 2]) -> Option<&'static str> {
    Some(match of {
        [DType::I8, DType::I8] => "tdpbssd",
        [DType::I8, DType::U8] => "tdpbsud",
        [DType::U8, DType::I8] => "tdpbusd",
        [DType::U8, DType::U8] => "tdpbuud",
        _ => return None,
    })
}

/// Registers for tiles above and beside each other, at most two of each, from a row and a column on.
struct Block {
    row: usize,
    column: usize,
    high: usize,
    wide: usize,
}

impl Writer<'_> {
    /// What does a product of these matrices.
    fn unit(&self, sizes: MatMulSizes, factors: Factors, [acc, a, b]: [&Tile; 3]) -> Done<Unit> {
        let [sum, left, right] = [acc, a, b].map(|t| self.kernel.mem(t.mem).dtype);
        let plain = acc.column == 1 && a.column == 1 && acc.interleaved == 1 && a.interleaved == 1;
        let together = b.interleaved as i64 == b.column && b.interleaved * right.size() == WORD;
        let whole = |size: usize, by: usize| size.is_multiple_of(by);
        let tiles = whole(sizes.m, SIDE) && whole(sizes.n, SIDE) && whole(sizes.k * right.size(), LINE);
        let lanes = self.cpu.vector_bytes / WORD;
        let vectors = lanes > 1 && whole(sizes.n, lanes) && whole(sizes.k, 2);
        let found = match (factors, sum, [left, right]) {
            (Factors::Flushed, DType::F32, [DType::BF16, DType::BF16]) => {
                let by_tiles = (tiles && self.cpu.has_bf16_tiles).then_some(Unit::Tiles("tdpbf16ps"));
                by_tiles.or((vectors && self.cpu.has_bf16_dot).then_some(Unit::Halves))
            }
            (Factors::Own, DType::F32, [DType::BF16, DType::BF16]) => {
                (vectors && self.cpu.has_fma).then_some(Unit::Exact)
            }
            (Factors::Own, DType::I32, [DType::I16, DType::I16]) => {
                (vectors && self.cpu.has_pmaddwd).then_some(Unit::Integers)
            }
            (Factors::Own, DType::I32, bytes) => {
                of_bytes(bytes).filter(|_| tiles && self.cpu.has_byte_tiles).map(Unit::Tiles)
            }
            _ => None,
        };
        let name = self.cpu.name;
        found.filter(|_| plain && together).ok_or_else(|| {
            let MatMulSizes { m, n, k } = sizes;
            format!(
                "a product of {m} by {n} by {k} of {left} and {right} in {sum}, as {name} has no unit for"
            )
        })
    }

    /// Does anything in a region use registers for tiles?
    fn uses_tiles(&self, region: &Region) -> bool {
        region.body.iter().any(|statement| match &statement.op {
            KernelOp::MatMul { sizes, factors, acc, a, b, .. } => {
                matches!(self.unit(*sizes, *factors, [acc, a, b]), Ok(Unit::Tiles(_)))
            }
            op => op.regions().any(|region| self.uses_tiles(region)),
        })
    }

    /// Makes registers those of tiles, if the kernel uses any.
    pub(super) fn open_tiles(&mut self) -> bool {
        if !self.uses_tiles(&self.kernel.body) {
            return false;
        }
        // All eight registers have sixteen rows of 64 bytes.
        let config = (0..LINE)
            .map(|byte| match byte {
                0 => 1,
                16..32 if byte % 2 == 0 => LINE as u64,
                48..56 => SIDE as u64,
                _ => 0,
            })
            .collect();
        let (one, bytes) = (self.b.int(1), Elem::I8.ty(LINE));
        let config = self.b.constant(Literal::new(Elem::I8, Elements::Each(config)));
        let to = self.b.at_first(Op::Alloca { count: one, of: bytes, alignment: Some(LINE) });
        self.b.effect(Op::aligned_store(config, to, bytes, LINE));
        self.b.effect(Op::intrinsic("llvm.x86.ldtilecfg", [(to, Type::Pointer)], None));
        true
    }

    /// Gives the registers back.
    pub(super) fn close_tiles(&mut self) {
        self.b.effect(Op::intrinsic("llvm.x86.tilerelease", [], None));
    }

    /// `acc += a · b`.
    pub(super) fn matmul(&mut self, sizes: MatMulSizes, factors: Factors, tiles: [&Tile; 3]) -> Done<()> {
        let unit = self.unit(sizes, factors, tiles)?;
        let [acc, a, b] = tiles;
        let first = [self.affine(&acc.at)?, self.affine(&a.at)?, self.affine(&b.at)?];
        let at = Operands { tiles, first };
        if let Unit::Tiles(instruction) = unit {
            for row in (0..sizes.m).step_by(2 * SIDE) {
                for column in (0..sizes.n).step_by(2 * SIDE) {
                    let high = (sizes.m - row).div_ceil(SIDE).min(2);
                    let wide = (sizes.n - column).div_ceil(SIDE).min(2);
                    let block = Block { row, column, high, wide };
                    self.in_registers(instruction, sizes.k, &at, &block)?;
                }
            }
            return Ok(());
        }
        self.in_strips(unit, sizes, &at)
    }

    /// The address of an element of a tile.
    fn cell(&mut self, at: &Operands<'_>, which: usize, [row, column]: [usize; 2]) -> Done<code::Value> {
        let (tile, first) = (at.tiles[which], at.first[which]);
        let offset = i64::try_from(tile.offset(row, column)).map_err(|_| "an address that overflows")?;
        let offset = self.b.int(offset);
        let place = self.b.op(Op::same("arith.addi", [first, offset], Type::I64));
        self.address(tile.mem, Index::At(place))
    }

    /// An address so many bytes further on.
    fn further(&mut self, from: code::Value, bytes: i64) -> code::Value {
        self.b.op(Op::Element { pointer: from, index: Index::Number(bytes), of: Elem::I8.ty(1) })
    }

    /// The bytes from a row of a tile, or from one group of interleaved rows, to the next.
    fn pitch(&self, tile: &Tile) -> i64 {
        tile.row.saturating_mul(self.kernel.mem(tile.mem).dtype.size() as i64)
    }

    /// A product in registers for tiles.
    fn in_registers(
        &mut self,
        instruction: &str,
        terms: usize,
        at: &Operands<'_>,
        &Block { row, column, high, wide }: &Block,
    ) -> Done<()> {
        let number = Elem::I8.ty(1);
        let run = |w: &mut Self, name: &str, operands: &[(code::Value, Type)]| {
            w.b.effect(Op::intrinsic(format!("llvm.x86.{name}"), operands, None));
        };
        // Sums are in the first registers; rows and columns in the last four.
        let registers = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| (self.b.at_first(Op::Register(n)), number));
        let [pitch, of_rows, of_columns] = at.tiles.map(|tile| self.pitch(tile));
        let [pitch, of_rows, term] = [pitch, of_rows, of_columns].map(|bytes| (self.b.int(bytes), Type::I64));
        let mut sums = Vec::new();
        for (i, j) in (0..high).flat_map(|i| (0..wide).map(move |j| (i, j))) {
            let place = self.cell(at, 0, [row + i * SIDE, column + j * SIDE])?;
            run(self, "tileloadd64", &[registers[2 * i + j], (place, Type::Pointer), pitch]);
            sums.push((registers[2 * i + j], place));
        }
        let (x, y) = (self.cell(at, 1, [row, 0])?, self.cell(at, 2, [0, column])?);
        let size = self.kernel.mem(at.tiles[1].mem).dtype.size();
        let bounds = [0, (terms * size / LINE) as i64, 1].map(|n| self.b.int(n));
        let [variable, x0, y0] = [(); 3].map(|()| self.b.fresh());
        self.b.open();
        let below = SIDE as i64 * self.pitch(at.tiles[1]);
        // What a product needs is read right before it: the first products go on while the others are read. Rows pass by
        // once, and are not to drive the columns out of the nearest cache.
        for i in 0..high {
            let x = if i == 0 { x0 } else { self.further(x0, below) };
            run(self, "tileloaddt164", &[registers[4 + i], (x, Type::Pointer), of_rows]);
            for j in 0..wide {
                if i == 0 {
                    let y = if j == 0 { y0 } else { self.further(y0, LINE as i64) };
                    run(self, "tileloadd64", &[registers[6 + j], (y, Type::Pointer), term]);
                }
                run(self, instruction, &[registers[2 * i + j], registers[4 + i], registers[6 + j]]);
            }
        }
        let next = [self.further(x0, LINE as i64), self.further(y0, SIDE as i64 * self.pitch(at.tiles[2]))];
        let body = self.b.close(next.map(|value| (value, Type::Pointer)).to_vec());
        let carried = [(x0, x), (y0, y)].map(|(name, init)| Carry { name, init, ty: Type::Pointer }).to_vec();
        let results = vec![self.b.fresh(), self.b.fresh()];
        self.b.define(results, Op::For { variable, bounds, carried, body });
        for (register, place) in sums {
            run(self, "tilestored64", &[register, (place, Type::Pointer), pitch]);
        }
        Ok(())
    }

    /// A product in vectors, some rows after the other.
    fn in_strips(&mut self, unit: Unit, sizes: MatMulSizes, at: &Operands<'_>) -> Done<()> {
        let MatMulSizes { m, n, k } = sizes;
        let lanes = self.cpu.vector_bytes / WORD;
        let vectors = n / lanes;
        // Beside sums a step needs its columns, in halves where they are added as they are, and a row.
        let columns = if unit == Unit::Exact { 2 * vectors } else { vectors };
        let registers = usize::try_from(self.cpu.vector_registers).unwrap_or(0);
        let most = (registers.saturating_sub(columns + 2) / vectors).max(1);
        let rows = (1..=most.min(m)).rev().find(|rows| m % rows == 0).unwrap_or(1);
        let sums = if unit == Unit::Integers { Elem::I32 } else { Elem::F32 };
        let strip = Strip { rows, vectors, lanes, sums };
        let bounds = [0, m as i64, rows as i64].map(|n| self.b.int(n));
        let row = self.b.fresh();
        self.b.open();
        let mut own = *at;
        for which in [0, 1] {
            let by = self.b.int(at.tiles[which].row);
            let distance = self.b.op(Op::same("arith.muli", [row, by], Type::I64));
            own.first[which] = self.b.op(Op::same("arith.addi", [at.first[which], distance], Type::I64));
        }
        self.strip(unit, &strip, k, &own)?;
        let body = self.b.close(Vec::new());
        self.b.define(Vec::new(), Op::For { variable: row, bounds, carried: Vec::new(), body });
        Ok(())
    }

    /// Some rows of a product.
    fn strip(&mut self, unit: Unit, strip: &Strip, terms: usize, at: &Operands<'_>) -> Done<()> {
        let ty = strip.ty();
        let (mut places, mut carried) = (Vec::new(), Vec::new());
        for row in 0..strip.rows {
            for vector in 0..strip.vectors {
                let place = self.cell(at, 0, [row, vector * strip.lanes])?;
                let init = self.b.op(Op::aligned_load(place, ty, WORD));
                carried.push(Carry { name: self.b.fresh(), init, ty });
                places.push(place);
            }
        }
        let bounds = [0, terms as i64 / 2, 1].map(|n| self.b.int(n));
        let pair = self.b.fresh();
        self.b.open();
        let [x, y] = [(1, 2), (2, at.tiles[2].row)].map(|(which, by)| {
            let by = self.b.int(by);
            let distance = self.b.op(Op::same("arith.muli", [pair, by], Type::I64));
            let place = self.b.op(Op::same("arith.addi", [at.first[which], distance], Type::I64));
            self.address(at.tiles[which].mem, Index::At(place))
        });
        let (x, y) = (x?, y?);
        let columns: Vec<Vec<code::Value>> = (0..strip.vectors)
            .map(|vector| {
                let from = self.further(y, (vector * strip.lanes * WORD) as i64);
                let bits = self.b.op(Op::aligned_load(from, Elem::I32.ty(strip.lanes), 2));
                self.parts(unit, bits, strip.lanes)
            })
            .collect();
        let mut next = Vec::new();
        for row in 0..strip.rows {
            let from = self.further(x, row as i64 * self.pitch(at.tiles[1]));
            let bits = self.b.op(Op::aligned_load(from, Elem::I32.ty(1), 2));
            let bits = self.broadcast(bits, Elem::I32.ty(1), strip.lanes);
            let own = self.parts(unit, bits, strip.lanes);
            for (vector, column) in columns.iter().enumerate() {
                let sum = carried[row * strip.vectors + vector].name;
                next.push((self.add_pairs(unit, strip, (&own, column), sum), ty));
            }
        }
        let body = self.b.close(next);
        let results: Vec<code::Value> = places.iter().map(|_| self.b.fresh()).collect();
        self.b.define(results.clone(), Op::For { variable: pair, bounds, carried, body });
        for (value, place) in results.into_iter().zip(places) {
            self.b.effect(Op::aligned_store(value, place, ty, WORD));
        }
        Ok(())
    }

    /// Pairs in lanes, as what they are multiplied.
    fn parts(&mut self, unit: Unit, bits: code::Value, lanes: usize) -> Vec<code::Value> {
        let words = Elem::I32.ty(lanes);
        let mut cast = |value, to| self.b.op(Op::cast("vector.bitcast", value, words, to));
        match unit {
            Unit::Halves => vec![cast(bits, Type::Bf16(2 * lanes))],
            Unit::Integers => vec![cast(bits, Elem::I16.ty(2 * lanes))],
            Unit::Exact | Unit::Tiles(_) => {
                let sixteen = self.b.splat(Elem::I32, 16, lanes);
                let upper = self.b.splat(Elem::I32, 0xffff_0000, lanes);
                let first = self.b.op(Op::same("arith.shli", [bits, sixteen], words));
                let second = self.b.op(Op::same("arith.andi", [bits, upper], words));
                let float = |value| Op::cast("arith.bitcast", value, words, Elem::F32.ty(lanes));
                [first, second].into_iter().map(|value| self.b.op(float(value))).collect()
            }
        }
    }

    /// Sums with the products of pairs added.
    fn add_pairs(
        &mut self,
        unit: Unit,
        strip: &Strip,
        (x, y): (&[code::Value], &[code::Value]),
        sum: code::Value,
    ) -> code::Value {
        let (ty, lanes) = (strip.ty(), strip.lanes);
        match unit {
            Unit::Halves => {
                let (name, pairs) =
                    (format!("llvm.x86.avx512bf16.dpbf16ps.{}", 32 * lanes), Type::Bf16(2 * lanes));
                self.b.op(Op::intrinsic(name, [(sum, ty), (x[0], pairs), (y[0], pairs)], Some(ty)))
            }
            Unit::Integers => {
                let name = match lanes {
                    16 => "llvm.x86.avx512.pmaddw.d.512",
                    8 => "llvm.x86.avx2.pmadd.wd",
                    _ => "llvm.x86.sse2.pmadd.wd",
                };
                let halves = Elem::I16.ty(2 * lanes);
                let product = self.b.op(Op::intrinsic(name, [(x[0], halves), (y[0], halves)], Some(ty)));
                self.b.op(Op::same("arith.addi", [sum, product], ty))
            }
            Unit::Exact | Unit::Tiles(_) => {
                let products = x.iter().zip(y);
                products.fold(sum, |sum, (&x, &y)| self.b.op(Op::same("math.fma", [x, y, sum], ty)))
            }
        }
    }
}
