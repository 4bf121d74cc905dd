//! Products of matrices by four warps: `wgmma` on operands in shared memory (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Multiply-Accumulate Instructions").
//!
//! The operands lie there in lines of 128 bytes, 64 elements of 16 bits: those of a row of `a` or a column of `b` along the
//! terms, or those of a term. Where a term has more than 64 elements, the first 64 of all terms of a stage come first. Of
//! eight lines that follow each other, line `j` has part `i` of 16 bytes at `i ^ j` (the swizzle of 128 bytes), so that
//! neither copies nor products meet conflicts of banks. That is a matter of addresses alone: a kernel knows nothing of it.
//!
//! One piece of assembly issues the products of a tile, and waits for them: nothing else can touch the sums in between.

use super::fragments::Fragments;
use super::{Done, KernelWriter, Writer, gcd};
use std::collections::HashMap;
use surject_codegen::kernels::contraction::{KEPT_REGISTERS, LANE_REGISTERS, OTHER_REGISTERS};
use surject_ir::DType;
use surject_kernel::{Affine, Kernel, MatMulSizes, Mem, Op, Region, Space, Statement, Team, Tile, Value};

/// Elements of a line, and terms of a tile: one line of them.
const LINE: i64 = 64;
/// Bytes of eight lines, at multiples of which operands begin.
pub(super) const LINES: i64 = 1024;
/// Terms of one instruction.
const TERMS: i64 = 16;
/// The most registers of a thread that asks for more.
const MOST_REGISTERS: i64 = 240;
/// Rows of a warp.
const ROWS: i64 = 16;

/// How the elements of an operand lie in its memory: the elements of a term, or one line of the terms of each element.
pub(super) type Layouts = HashMap<Mem, i64>;

/// The memory of operands of products by four warps, with the elements between the beginnings of lines as the kernel has
/// them.
pub(super) fn layouts(kernel: &Kernel) -> Done<Layouts> {
    fn find(region: &Region, found: &mut Vec<(Mem, i64)>) {
        for statement in &region.body {
            if let Op::MatMul { team: Team::Group, a, b, .. } = &statement.op {
                found.extend([a, b].map(|tile| (tile.mem, tile.row.max(tile.column))));
            }
            statement.op.regions().for_each(|r| find(r, found));
        }
    }
    let (mut found, mut layouts) = (Vec::new(), Layouts::new());
    find(&kernel.body, &mut found);
    for (mem, pitch) in found {
        let memory = kernel.mem(mem);
        let fits = memory.space == Space::Shared && matches!(memory.dtype, DType::F16 | DType::BF16);
        if !fits || pitch % LINE != 0 || !(pitch as u64).is_power_of_two() {
            return Err(format!(
                "`{}`, an operand of four warps that is not 16-bit floats in shared memory, in lines of 64",
                memory.name
            ));
        }
        if *layouts.entry(mem).or_insert(pitch) != pitch {
            return Err(format!("`{}`, an operand of four warps in lines of two lengths", memory.name));
        }
    }
    Ok(layouts)
}

/// How many warps, from the first one on, a condition that a kernel computes lets through.
pub(super) fn warps_through(kernel: &Kernel, condition: Value, warp: Value) -> Option<i64> {
    fn find(region: &Region, condition: Value, warp: Value) -> Option<i64> {
        region.body.iter().find_map(|statement| match &statement.op {
            Op::Holds(guards) if statement.results == [condition] => match &guards[..] {
                [guard] if guard.expr == Affine::from(warp) => guard.bound.as_constant(),
                _ => None,
            },
            op => op.regions().find_map(|region| find(region, condition, warp)),
        })
    }
    find(&kernel.body, condition, warp)
}

/// Does a region have products by four warps?
fn multiplies(region: &Region) -> bool {
    let by_group = |s: &Statement| {
        matches!(s.op, Op::MatMul { team: Team::Group, .. }) || s.op.regions().any(multiplies)
    };
    region.body.iter().any(by_group)
}

/// An operand: the number of the first element of the rows or columns of all four warps, and how it lies.
struct Operand {
    first: String,
    mem: Mem,
    /// Does a line hold elements of one term?
    by_elements: bool,
}

impl Writer<'_> {
    /// Where an element is that a kernel has at a number.
    pub(super) fn laid_out(&mut self, mem: Mem, at: &str) -> String {
        let Some(&pitch) = self.layouts.get(&mem) else { return at.to_string() };
        let mut place = at.to_string();
        let bits = |w: &mut Self, from: &str, shift: i64, mask: i64, back: i64| {
            let (shift, mask, back) = (w.index(shift), w.index(mask), w.index(back));
            let part = w.op(&format!("arith.shrui {from}, {shift} : i64"));
            let part = w.op(&format!("arith.andi {part}, {mask} : i64"));
            w.op(&format!("arith.shli {part}, {back} : i64"))
        };
        if pitch > LINE {
            // A stage, 64 terms of it, 64 elements of each: the last two change places.
            let long = i64::from(pitch.trailing_zeros());
            let stage = bits(self, at, long + 6, i64::from(i32::MAX), long + 6);
            let block = bits(self, at, 6, pitch / LINE - 1, 12);
            let term = bits(self, at, long, LINE - 1, 6);
            let element = bits(self, at, 0, LINE - 1, 0);
            place = self.op(&format!("arith.ori {stage}, {block} : i64"));
            place = self.op(&format!("arith.ori {place}, {term} : i64"));
            place = self.op(&format!("arith.ori {place}, {element} : i64"));
        }
        let line = bits(self, &place, 6, 7, 3);
        self.op(&format!("arith.xori {place}, {line} : i64"))
    }

    /// What warps do first on both sides of a branch, where those of one side multiply and those of the other do not, in whole
    /// groups of four: the others give registers away (PTX ISA, "setmaxnreg": of four warps together, multiples of 8).
    pub(super) fn registers_moved(&mut self, all: i64, [then, otherwise]: [&Region; 2]) -> [String; 2] {
        let (multiply, others) = (self.warps_here, all - self.warps_here);
        let whole = multiply > 0 && others > 0 && multiply % 4 == 0 && others % 4 == 0;
        if !whole || !multiplies(then) || multiplies(otherwise) {
            return Default::default();
        }
        let more = (LANE_REGISTERS - KEPT_REGISTERS * others / 4) / (multiply / 4) / 8 * 8;
        self.registers = Some(LANE_REGISTERS / (all / 4) / 8 * 8);
        [
            format!("nvvm.setmaxregister increase {}", more.min(MOST_REGISTERS)),
            format!("nvvm.setmaxregister decrease {KEPT_REGISTERS}"),
        ]
    }

    /// Products by four warps, each with its rows.
    pub(super) fn by_group(&mut self, sizes: MatMulSizes, [a, b]: [&Tile; 2], sums: &Fragments) -> Done<()> {
        let (dtype, other) = (self.kernel.mem(a.mem).dtype, self.kernel.mem(b.mem).dtype);
        let n = sizes.n as i64;
        let fits = sizes.m as i64 == ROWS && n % LINE == 0 && n <= 256 && sizes.k as i64 == LINE;
        if !fits || dtype != other || sums.dtype != DType::F32 || self.warps_here % 4 != 0 {
            return Err(format!(
                "a product by four warps of {dtype} of {} by {n} by {}, where {} warps are",
                sizes.m, sizes.k, self.warps_here
            ));
        }
        let warp = self.warp.ok_or("a product by four warps outside of a loop over warps")?;
        let own = |tile: &Tile| {
            tile.at.terms.iter().filter(|t| t.values.contains(&warp)).cloned().collect::<Vec<_>>()
        };
        let rows = Affine::from(warp).times(ROWS * a.row).ok_or("a row far away")?;
        if own(a) != rows.terms || !own(b).is_empty() {
            return Err("rows of four warps that do not follow each other, or columns that differ".into());
        }
        let left = self.group_operand(a, a.row, a.column, Some(warp))?;
        let right = self.group_operand(b, b.column, b.row, None)?;
        // `ptxas` takes no instruction that needs more registers than a thread has at the beginning (C7602).
        let parts = match self.registers {
            Some(most) if n / 2 + OTHER_REGISTERS > most => 2,
            _ => 1,
        };
        let own = n / parts;
        let mut descriptors = self.descriptors(&left, 0)?;
        for part in 0..parts {
            descriptors.extend(self.descriptors(&right, part * own)?);
        }
        let steps = (LINE / TERMS) as usize;
        let count = n as usize / 2;
        let registers: Vec<String> = (0..count).map(|i| format!("${i}")).collect();
        let mut text = String::from("wgmma.fence.sync.aligned;\\0A");
        for (step, part) in (0..steps).flat_map(|step| (0..parts as usize).map(move |part| (step, part))) {
            let (x, y) = (2 * count + step, 2 * count + steps * (part + 1) + step);
            let (ta, tb) = (u8::from(left.by_elements), u8::from(right.by_elements));
            let sums = registers[part * own as usize / 2..][..own as usize / 2].join(", ");
            text += &format!(
                "wgmma.mma_async.sync.aligned.m64n{own}k16.f32.{dtype}.{dtype} {{{sums}}}, ${x}, ${y}, 1, 1, 1, {ta}, {tb};\\0A"
            );
        }
        text += "wgmma.commit_group.sync.aligned;\\0Awgmma.wait_group.sync.aligned 0;";
        let outputs = vec!["=f".to_string(); count];
        let inputs = (0..count).map(|i| i.to_string()).chain(vec!["l".to_string(); descriptors.len()]);
        let constraints: Vec<String> = outputs.into_iter().chain(inputs).collect();
        let mut operands: Vec<String> = (0..count).map(|slot| self.load_slot(sums, slot)).collect();
        operands.extend(descriptors.iter().cloned());
        let structure = format!("!llvm.struct<({})>", vec!["f32"; count].join(", "));
        let types = [vec!["f32"; count], vec!["i64"; descriptors.len()]].concat().join(", ");
        let result = self.op(&format!(
            "llvm.inline_asm has_side_effects asm_dialect = att \"{text}\", \"{}\" {} : ({types}) -> {structure}",
            constraints.join(","),
            operands.join(", ")
        ));
        for slot in 0..count {
            let value = self.op(&format!("llvm.extractvalue {result}[{slot}] : {structure}"));
            self.store_slot(sums, slot, &value);
        }
        Ok(())
    }

    fn group_operand(&mut self, tile: &Tile, own: i64, term: i64, warp: Option<Value>) -> Done<Operand> {
        let by_elements = own == 1;
        let pitch = own.max(term);
        if own.min(term) != 1 || !by_elements && pitch != LINE {
            return Err("an operand of four warps that does not lie in lines of 64".into());
        }
        // Stages and blocks of 64 rows begin at multiples of eight lines.
        let of = |v: &Value| self.divides.get(v).copied().unwrap_or(1);
        let rest = tile.at.terms.iter().filter(|t| warp.is_none_or(|w| !t.values.contains(&w)));
        let divisor = rest.fold(tile.at.offset.saturating_abs(), |all, t| {
            gcd(
                all,
                t.values.iter().fold(t.factor.saturating_abs(), |product, v| product.saturating_mul(of(v))),
            )
        });
        let stage = if by_elements { LINE * pitch } else { LINES / 2 };
        if divisor % stage != 0 {
            return Err("an operand of four warps that begins within lines".into());
        }
        let mut first = self.affine(&tile.at, 0)?;
        if warp.is_some() {
            // What the first of the four warps has.
            let (three, rows) = (self.index(3), self.index(ROWS * own));
            let number = self.numbers[2].clone();
            let below = self.op(&format!("arith.andi {number}, {three} : i64"));
            let below = self.op(&format!("arith.muli {below}, {rows} overflow<nsw> : i64"));
            first = self.op(&format!("arith.subi {first}, {below} overflow<nsw> : i64"));
        }
        Ok(Operand { first, mem: tile.mem, by_elements })
    }

    /// The descriptors of an operand for every 16 of its terms: where it begins, 64 lines from the first 64 elements of terms
    /// to the next ones, eight lines from eight to the next ones, and the swizzle of 128 bytes.
    /// From so many rows or columns of it on, a multiple of 64.
    fn descriptors(&mut self, operand: &Operand, from: i64) -> Done<Vec<String>> {
        let address = self.address(operand.mem, &operand.first)?;
        let address = self.op(&format!("llvm.ptrtoint {address} : !llvm.ptr<3> to i64"));
        let (mask, four) = (self.index(0x3ffff), self.index(4));
        let address = self.op(&format!("arith.andi {address}, {mask} : i64"));
        let address = self.op(&format!("arith.shrui {address}, {four} : i64"));
        let lines = 2 * LINE;
        // Those before have a line each, or in each term one for every 64 of them.
        let fields = (LINE * lines / 16) << 16 | (8 * lines / 16) << 32 | 1 << 62;
        let fields = fields + from * lines / 16;
        let terms = if operand.by_elements { TERMS * lines } else { 2 * TERMS };
        Ok((0..LINE / TERMS)
            .map(|step| {
                let fields = self.index(fields + step * terms / 16);
                self.op(&format!("arith.addi {address}, {fields} : i64"))
            })
            .collect())
    }
}
