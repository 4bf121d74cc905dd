//! Statements: loops, branches, and agents that wait for each other.

use super::group::warps_through;
use super::text::Bounds;
use super::{Agent, Done, KernelWriter, Text, WARP, Writer, count, element, gcd, lanes_of};
use surject_ir::DType;
use surject_kernel::{
    Access, Affine, Factors, Level, LoopKind, MatMulSizes, Op, Part, Region, Source, Space, Statement, Team,
    Tile, Type, Value,
};

impl<'k> KernelWriter<'k> for Writer<'k> {
    fn text(&self) -> &Text<'k> {
        &self.text
    }

    fn text_mut(&mut self) -> &mut Text<'k> {
        &mut self.text
    }

    fn operation(&mut self, statement: &Statement) -> Done<()> {
        if self.loop_over_fragments(statement)? {
            return Ok(());
        }
        let Statement { results, op } = statement;
        match op {
            Op::Load { place, fill, temporality } => {
                let result = results[0];
                let value = self.load(place, self.ty(result), *fill, *temporality)?;
                self.define(result, value);
            }
            Op::Store { place, value, temporality } => self.store(place, *value, *temporality)?,
            Op::Atomic { op, place, value } => self.atomic(*op, place, *value)?,
            Op::Alloc(mem) => self.alloc(*mem)?,
            // It has no effect but on time.
            Op::Prefetch { .. } => {}
            Op::AsyncCopy { from, to, elements } => self.async_copy(from, to, *elements)?,
            Op::AsyncCommit => self.line("nvvm.cp.async.commit.group"),
            Op::AsyncWait(groups) => {
                self.line(&format!("nvvm.cp.async.wait.group {groups}"));
                if !self.layouts.is_empty() {
                    // Products by four warps read what was copied by another way.
                    self.line("llvm.inline_asm has_side_effects asm_dialect = att \"fence.proxy.async.shared::cta;\", \"\" : () -> ()");
                }
            }
            Op::BoxCopy(copy) => self.box_copy(copy)?,
            Op::Phase(barrier, how) => self.phase(barrier, how)?,
            Op::Barrier(level) => self.barrier(*level)?,
            Op::Exchange(source, value) => {
                let result = self.exchange(source, *value)?;
                self.define(results[0], result);
            }
            Op::MatMul { sizes, factors, team, acc, a, b } => {
                self.product((*sizes, *factors), *team, [acc, a, b])?;
            }
            Op::For { low, high, step, kind, inits, body } => {
                let bounds = (low, high, *step);
                match kind {
                    LoopKind::Serial => self.serial_loop(bounds, inits, body, results)?,
                    LoopKind::Unrolled => {
                        let own = body.params.first().copied();
                        self.unrolled(bounds, inits, body, results, |w, at| {
                            w.divides.extend(own.map(|own| (own, at.abs())));
                        })?;
                    }
                    LoopKind::Parallel(level) => self.parallel(*level, bounds, body)?,
                }
            }
            Op::If { condition, then, otherwise } => {
                let (before, mut after) = (self.pending, self.pending);
                let (sides, all) = ([then, otherwise], self.warps_here);
                let through = self.warp.and_then(|warp| warps_through(self.kernel, *condition, warp));
                self.warps_here = through.unwrap_or(0).clamp(0, all);
                let moved = self.registers_moved(all, sides);
                self.branch(*condition, (sides, moved), results, |w| {
                    after = std::mem::replace(&mut w.pending, before);
                    w.warps_here = 0;
                })?;
                self.warps_here = all;
                // A side may not have waited.
                self.pending = [0, 1].map(|i| before[i] || after[i] || self.pending[i]);
            }
            op => {
                let result = results[0];
                let value = self.pure(op, self.ty(result))?;
                self.define(result, value);
            }
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// A product of matrices by a warp or by four of them.
    fn product(
        &mut self,
        (sizes, factors): (MatMulSizes, Factors),
        team: Team,
        [acc, a, b]: [&Tile; 3],
    ) -> Done<()> {
        self.is_of_gpu(factors, [acc, a, b])?;
        self.synchronise();
        match team {
            Team::One => self.matmul((sizes, factors), [acc, a, b])?,
            Team::Group => {
                let sums =
                    self.fragments_of(sizes, [acc, b])?.ok_or("sums of four warps outside of registers")?;
                self.by_group(sizes, [a, b], &sums)?;
            }
        }
        self.pending = [true; 2];
        Ok(())
    }

    /// A serial loop. What an iteration does comes after what the one before did.
    fn serial_loop(
        &mut self,
        bounds: Bounds<'_>,
        inits: &[Value],
        body: &Region,
        results: &[Value],
    ) -> Done<()> {
        let (low, _, step) = bounds;
        let divisor = gcd(self.divisor(low), step);
        self.divides.extend(body.params.first().map(|&own| (own, divisor)));
        let touches = self.touches(body);
        let pending = self.pending.map(|p| p || touches);
        self.pending = pending;
        self.serial(bounds, inits, body, results)?;
        self.pending = pending;
        Ok(())
    }

    /// Does a region access memory that several agents see, and that is written?
    fn touches(&self, region: &Region) -> bool {
        region.body.iter().any(|s| {
            let mut found = false;
            s.op.parts(&mut |part| match part {
                Part::Mem(&mem) => {
                    let memory = self.kernel.mem(mem);
                    found |= match memory.space {
                        Space::Shared => true,
                        Space::Global => memory.access != Access::Read,
                        _ => false,
                    };
                }
                Part::Region(inner) => found |= self.touches(inner),
                Part::Value(_) | Part::Affine(_) => {}
            });
            found
        })
    }

    /// A barrier where an agent of several threads has not waited for them.
    pub(super) fn synchronise(&mut self) {
        let level = match self.agent {
            Agent::Thread { .. } => return,
            Agent::Block => 0,
            Agent::Warp => 1,
        };
        if self.threads == 1 || !self.pending[level] {
            return;
        }
        match level {
            0 => {
                self.line("nvvm.barrier0");
                self.pending = [false; 2];
            }
            _ => {
                let all = self.constant("-1", "i32");
                self.line(&format!("nvvm.bar.warp.sync {all} : i32"));
                self.pending[1] = false;
            }
        }
    }

    fn parallel(
        &mut self,
        level: Level,
        (low, high, step): (&Affine, &Affine, i64),
        body: &Region,
    ) -> Done<()> {
        let variable = *body.params.first().ok_or("a loop without a variable")?;
        let outside = self.agent;
        let touches = self.touches(body);
        let (number, condition) = match level {
            Level::Task => return Err("a loop over tasks, which are a CPU's".into()),
            Level::Block => {
                self.grid =
                    self.grid.checked_sub(1).ok_or("a loop over blocks that is not at the beginning")?;
                let block = self.block_number();
                (self.op(&format!("arith.extui {block} : i32 to i64")), None)
            }
            Level::Warp | Level::Thread => {
                let all =
                    count(low, high, step).ok_or("a number of threads that is known at run time only")?;
                let in_warp = outside == Agent::Warp;
                let (number, there) = match (level, in_warp) {
                    (Level::Warp, _) => (2, self.threads / WARP),
                    (_, true) => (1, WARP),
                    (_, false) => (0, self.threads),
                };
                if in_warp && all > WARP {
                    return Err(format!("a loop over {all} threads of a warp, which has {WARP}"));
                }
                self.synchronise();
                self.agent = match level {
                    Level::Warp => Agent::Warp,
                    _ => Agent::Thread { of: all, warp: in_warp },
                };
                let number = self.numbers[number].clone();
                let condition = (all != there).then(|| {
                    let all = self.index(all);
                    self.op(&format!("arith.cmpi ult, {number}, {all} : i64"))
                });
                (number, condition)
            }
        };
        let by = self.index(step);
        let scaled = match step {
            1 => number,
            _ => self.op(&format!("arith.muli {number}, {by} overflow<nsw> : i64")),
        };
        let name = match low.as_constant() {
            Some(0) => scaled,
            _ => {
                let low = self.affine(low, 0)?;
                self.op(&format!("arith.addi {low}, {scaled} overflow<nsw> : i64"))
            }
        };
        self.define(variable, name);
        self.divides.insert(variable, gcd(self.divisor(low), step));
        let around = (self.warp, self.warps_here);
        if level == Level::Warp {
            // Four warps are all there or none.
            self.warp =
                (condition.is_none() && low.as_constant() == Some(0) && step == 1).then_some(variable);
            self.warps_here = self.threads / WARP;
        }
        self.only_if(condition, |w| w.statements(&body.body))?;
        (self.warp, self.warps_here) = around;
        self.agent = outside;
        if level != Level::Block {
            self.pending = self.pending.map(|p| p || touches);
        }
        Ok(())
    }

    /// Which iteration of its loop over blocks a block is (`i32`).
    fn block_number(&mut self) -> String {
        let Some(counts) = self.linear.clone() else {
            let dimension = ["x", "y", "z"][self.grid.min(2)];
            return self.op(&format!("nvvm.read.ptx.sreg.ctaid.{dimension} : i32"));
        };
        let mut number = self.op("nvvm.read.ptx.sreg.ctaid.x : i32");
        // Without any blocks nobody runs this.
        let inner: i64 = counts[..self.grid].iter().map(|&n| n.max(1)).product();
        if inner > 1 {
            let inner = self.constant(&inner.to_string(), "i32");
            number = self.op(&format!("arith.divui {number}, {inner} : i32"));
        }
        if self.grid + 1 < counts.len() {
            let own = self.constant(&counts[self.grid].max(1).to_string(), "i32");
            number = self.op(&format!("arith.remui {number}, {own} : i32"));
        }
        number
    }

    fn barrier(&mut self, level: Level) -> Done<()> {
        let Agent::Thread { of, warp } = self.agent else {
            return Err("a barrier outside of threads".into());
        };
        match level {
            Level::Block if warp || of == self.threads => self.line("nvvm.barrier0"),
            Level::Block => {
                return Err(format!(
                    "a barrier of {of} threads in a block whose other loops have {}",
                    self.threads
                ));
            }
            _ => {
                let mask = self.members()?;
                self.line(&format!("nvvm.bar.warp.sync {mask} : i32"));
            }
        }
        Ok(())
    }

    /// The threads of this warp that run the loop, as a mask (`i32`).
    fn members(&mut self) -> Done<String> {
        let Agent::Thread { of, warp } = self.agent else {
            return Err("an exchange outside of threads".into());
        };
        let mask = |of: i64| if of >= WARP { -1 } else { (1i64 << of) - 1 };
        if warp || of <= WARP || of % WARP == 0 {
            return Ok(self.constant(&(mask(of) as i32).to_string(), "i32"));
        }
        // The last warp has fewer.
        let (all, some) =
            (self.constant("-1", "i32"), self.constant(&(mask(of % WARP) as i32).to_string(), "i32"));
        let (last, number) = (self.index(of / WARP), self.numbers[2].clone());
        let is_last = self.op(&format!("arith.cmpi eq, {number}, {last} : i64"));
        Ok(self.op(&format!("arith.select {is_last}, {some}, {all} : i32")))
    }

    /// The value of another thread of the warp.
    fn exchange(&mut self, source: &Source, value: Value) -> Done<String> {
        let Agent::Thread { of, warp } = self.agent else {
            return Err("an exchange outside of threads".into());
        };
        let mask = self.members()?;
        let (kind, offset, clamp) = match source {
            Source::Xor(bits) => ("bfly", self.constant(&bits.to_string(), "i32"), WARP - 1),
            Source::Up(by) => ("up", self.constant(&by.to_string(), "i32"), 0),
            // A part of a warp does not know where it ends.
            Source::Down(by) if of % WARP != 0 => ("idx", self.below_end(*by as i64, of, warp), WARP - 1),
            Source::Down(by) => ("down", self.constant(&by.to_string(), "i32"), WARP - 1),
            Source::Thread(thread) => {
                let (name, from) = (self.name(*thread)?, self.ty(*thread));
                ("idx", self.cast(&name, from, DType::I32), WARP - 1)
            }
        };
        let clamp = self.constant(&clamp.to_string(), "i32");
        let (name, ty) = (self.name(value)?, self.ty(value));
        let mut lanes = Vec::new();
        for lane in 0..ty.lanes {
            let own = self.lane(&name, ty, lane);
            let bits = self.words_of(&own, ty.dtype)?;
            let mut words = Vec::new();
            for word in bits {
                words.push(
                    self.op(&format!("nvvm.shfl.sync {kind} {mask}, {word}, {offset}, {clamp} : i32 -> i32")),
                );
            }
            lanes.push(self.scalar_of(&words, ty.dtype)?);
        }
        Ok(self.joined(&lanes, element(ty.dtype)))
    }

    /// The lane so many above; the own one where there is none, of so many threads of the warp or of the block.
    fn below_end(&mut self, by: i64, of: i64, warp: bool) -> String {
        let lane = self.numbers[1].clone();
        let number = if warp { lane.clone() } else { self.numbers[0].clone() };
        let (by, of, all) = (self.index(by), self.index(of), self.index(WARP));
        let above = self.op(&format!("arith.addi {lane}, {by} : i64"));
        let other = self.op(&format!("arith.addi {number}, {by} : i64"));
        let in_warp = self.op(&format!("arith.cmpi slt, {above}, {all} : i64"));
        let in_loop = self.op(&format!("arith.cmpi slt, {other}, {of} : i64"));
        let exists = self.op(&format!("arith.andi {in_warp}, {in_loop} : i1"));
        let from = self.op(&format!("arith.select {exists}, {above}, {lane} : i64"));
        self.op(&format!("arith.trunci {from} : i64 to i32"))
    }

    /// The bits of a scalar in words of 32.
    fn words_of(&mut self, name: &str, dtype: DType) -> Done<Vec<String>> {
        let e = element(dtype);
        let bits = format!("i{}", dtype.bits());
        let mut value = name.to_string();
        if dtype.is_float() {
            value = self.op(&format!("arith.bitcast {value} : {e} to {bits}"));
        }
        Ok(match dtype.bits() {
            32 => vec![value],
            64 => {
                let by = self.index(32);
                let high = self.op(&format!("arith.shrui {value}, {by} : i64"));
                [value, high].iter().map(|v| self.op(&format!("arith.trunci {v} : i64 to i32"))).collect()
            }
            _ => vec![self.op(&format!("arith.extui {value} : {bits} to i32"))],
        })
    }

    fn scalar_of(&mut self, words: &[String], dtype: DType) -> Done<String> {
        let bits = format!("i{}", dtype.bits());
        let value = match words {
            [low, high] => {
                let by = self.index(32);
                let low = self.op(&format!("arith.extui {low} : i32 to i64"));
                let high = self.op(&format!("arith.extui {high} : i32 to i64"));
                let high = self.op(&format!("arith.shli {high}, {by} : i64"));
                self.op(&format!("arith.ori {low}, {high} : i64"))
            }
            [word] if dtype.bits() == 32 => word.clone(),
            [word] => self.op(&format!("arith.trunci {word} : i32 to {bits}")),
            _ => return Err(format!("an exchange of {dtype}")),
        };
        Ok(match dtype.is_float() {
            true => self.op(&format!("arith.bitcast {value} : {bits} to {}", element(dtype))),
            false => value,
        })
    }

    /// Lanes of a type; for messages of products.
    pub(super) fn vector(&self, dtype: DType, lanes: usize) -> (Type, String) {
        (Type::vector(dtype, lanes), lanes_of(element(dtype), lanes))
    }
}
