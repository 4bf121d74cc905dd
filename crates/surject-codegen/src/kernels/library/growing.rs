//! Windows that grow by one element from each to the next, on a CPU: cumulative functions.
//!
//! Each result is the one before it joined with one element more. Lines are done side by side in lanes where there are several. A line
//! that is alone is cut into pieces that lie in lanes: each is done by itself, and then joined with what came before it, for which the
//! function has to be associative.

use super::points::Maker;
use super::sliding::Joins;
use super::tasks::Share;
use super::vectors::{are_pages, overflow};
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use surject_ir::{Var, Window};
use surject_kernel::{Access, Affine, Guard, LoopKind, Mem, Place, Space, Type, Value};

/// Lines along which windows grow: an axis between those outside and those inside of it.
pub(super) struct Lines {
    outer: i64,
    length: i64,
    inner: i64,
    /// Do they begin at their end?
    from_the_end: bool,
}

/// What lies in lanes.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// So many lines that lie so far apart, among others.
    Across { count: i64, stride: i64, lanes: i64 },
    /// Pieces of a line, of so many elements.
    Pieces { piece: i64, lanes: i64 },
    /// Nothing.
    Each,
}

/// Elements that are joined one after the other, in lanes or not.
struct Run {
    /// The first one, with the lanes.
    from: Affine,
    /// From each to the next, and how many there are.
    step: i64,
    count: i64,
    lanes: i64,
    /// The lanes that are stored.
    stored: Vec<Guard>,
    /// So many elements of each lane are loaded and stored at once: where they are neighbours, they are transposed in registers, which
    /// is faster than elements one by one.
    tile: i64,
}

impl Lines {
    /// The lines, if every window has all elements of a line up to its own, or from it on.
    pub(super) fn of(window: &Window, shape: &[i64]) -> Option<Lines> {
        let along = (0..shape.len()).find(|&axis| window.sizes[axis] != 1)?;
        let (size, length) = (window.sizes[along] as i64, shape[along]);
        let padding = |axis: usize| match axis == along {
            true => [(size - 1, 0), (0, size - 1)],
            false => [(0, 0); 2],
        };
        let is_plain = |axis: usize| {
            let steps = [&window.strides, &window.base_dilations, &window.window_dilations];
            let is_whole = if axis == along { size >= length } else { window.sizes[axis] == 1 };
            is_whole
                && steps.iter().all(|step| step[axis] == 1)
                && padding(axis).contains(&window.padding[axis])
        };
        (!shape.contains(&0) && (0..shape.len()).all(is_plain)).then(|| Lines {
            outer: shape[..along].iter().product(),
            length,
            inner: shape[along + 1..].iter().product(),
            from_the_end: window.padding[along] == (0, size - 1),
        })
    }

    /// The bytes of work, a function of its own for each element of so many operands.
    pub(super) fn work(&self, operands: usize) -> Lowered<i64> {
        const STEP: i64 = 64;
        let all = self.outer.checked_mul(self.length).and_then(|n| n.checked_mul(self.inner));
        let all = all.ok_or_else(overflow)?;
        Ok(all.saturating_mul(STEP).saturating_mul(operands as i64))
    }

    /// How many parts tasks can share.
    pub(super) fn parts(&self, way: &Way) -> i64 {
        match *way {
            Way::Across { count, stride, lanes } => self.others(stride) * ((count - 1) / lanes + 1),
            Way::Pieces { .. } => self.outer,
            Way::Each => self.outer * self.inner,
        }
    }

    /// The lines that are no neighbours, where neighbours lie so far apart.
    fn others(&self, stride: i64) -> i64 {
        if stride == 1 { self.outer } else { self.inner }
    }

    /// From an element to the next one that is joined with it.
    fn step(&self) -> i64 {
        if self.from_the_end { -self.inner } else { self.inner }
    }

    /// The first element of a line that lies from here on.
    fn begin(&self, line: &Affine) -> Lowered<Affine> {
        let further = if self.from_the_end { (self.length - 1) * self.inner } else { 0 };
        line.plus(&further.into(), 1).ok_or_else(overflow)
    }

    /// Joins the elements of lines, and stores every step.
    pub(super) fn make(
        &self,
        maker: &mut Maker<'_>,
        share: Share,
        (joins, first): (&Joins<'_>, &[Value]),
        (way, widest): (Way, i64),
    ) -> Lowered<()> {
        let &Lines { length, inner, .. } = self;
        let mine = maker.open_share(share, self.parts(&way))?;
        let plus = |x: Affine, y: &Affine, by: i64| x.plus(y, by).ok_or_else(overflow);
        match way {
            Way::Across { count, stride, lanes } => {
                let blocks = (count - 1) / lanes + 1;
                let digits = maker.digits(mine, &[self.others(stride), blocks])?;
                let block = maker.block(&digits[1], count, lanes)?;
                let lane = if lanes > 1 { Affine::lane(stride) } else { 0.into() };
                let line = plus(lane, &block.first, stride)?;
                let line = plus(line, &digits[0], if stride == 1 { length * inner } else { 1 })?;
                let from = self.begin(&line)?;
                let (step, stored) = (self.step(), block.stored);
                let run = Run { from, step, count: length, lanes, stored, tile: widest };
                let first = maker.in_lanes(first, lanes);
                self.run(maker, joins, &run, &first)?;
            }
            Way::Pieces { piece, lanes } => {
                let from = self.begin(&plus(0.into(), &mine, length)?)?;
                self.pieces(maker, joins, (from, first), (piece, lanes, widest))?;
            }
            Way::Each => {
                let digits = maker.digits(mine, &[self.outer, inner])?;
                let from = self.begin(&plus(digits[1].clone(), &digits[0], length * inner)?)?;
                let (step, stored) = (self.step(), Vec::new());
                let run = Run { from, step, count: length, lanes: 1, stored, tile: 1 };
                self.run(maker, joins, &run, first)?;
            }
        }
        maker.b.close_for(&[]);
        Ok(())
    }

    /// What came before, joined with what comes next.
    fn joined(
        &self,
        maker: &mut Maker<'_>,
        joins: &Joins<'_>,
        [before, next]: [&[Value]; 2],
        lanes: i64,
    ) -> Lowered<Vec<Value>> {
        let arguments = if self.from_the_end { [next, before] } else { [before, next] };
        joins.joined(maker, &arguments.concat(), lanes)
    }

    /// Joins elements from a state on, and gives the last one.
    fn run(
        &self,
        maker: &mut Maker<'_>,
        joins: &Joins<'_>,
        run: &Run,
        state: &[Value],
    ) -> Lowered<Vec<Value>> {
        let (mut first, mut state) = (0, state.to_vec());
        if run.step.abs() == 1 && run.from.lane.abs() > 1 && run.tile > 1 {
            first = run.count / run.tile * run.tile;
            state = self.tiles(maker, joins, run, &state)?;
        }
        let (number, before) = maker.b.open_for(first, run.count, 1, LoopKind::Serial, &state);
        let at = run.from.plus(&number.into(), run.step).ok_or_else(overflow)?;
        let next = joins.elements(maker, &at, run.lanes)?;
        let values = self.joined(maker, joins, [&before, &next], run.lanes)?;
        joins.store(maker, &at, &run.stored, &values)?;
        Ok(maker.b.close_for(&values))
    }

    /// Joins the elements of whole tiles, which lie in memory of the task meanwhile.
    fn tiles(
        &self,
        maker: &mut Maker<'_>,
        joins: &Joins<'_>,
        run: &Run,
        state: &[Value],
    ) -> Lowered<Vec<Value>> {
        let &Run { tile, lanes, .. } = run;
        let mut stage = Vec::new();
        for &target in joins.targets {
            let dtype = maker.call.function.ty(target).dtype;
            stage.push(maker.b.alloc("stage", dtype, tile * lanes, Space::Stack));
        }
        let staged = |number: &Affine| Affine::lane(1).plus(number, lanes).ok_or_else(overflow);
        let (number, before) = maker.b.open_for(0, run.count / tile, 1, LoopKind::Serial, state);
        let first = run.from.plus(&number.into(), run.step * tile).ok_or_else(overflow)?;
        for element in 0..tile {
            let at = first.plus(&element.into(), run.step).ok_or_else(overflow)?;
            let to = staged(&element.into())?;
            for (&mem, value) in stage.iter().zip(joins.elements(maker, &at, lanes)?) {
                maker.b.store(Place::new(mem, to.clone()), value);
            }
        }
        let load = |maker: &mut Maker<'_>, at: &Affine| -> Vec<Value> {
            let one = |&mem: &Mem| {
                let ty = Type::vector(maker.b.memory_type(mem), lanes as usize);
                maker.b.load(Place::new(mem, at.clone()), ty)
            };
            stage.iter().map(one).collect()
        };
        let (element, carried) = maker.b.open_for(0, tile, 1, LoopKind::Serial, &before);
        let at = staged(&element.into())?;
        let next = load(maker, &at);
        let values = self.joined(maker, joins, [&carried, &next], lanes)?;
        for (&mem, &value) in stage.iter().zip(&values) {
            maker.b.store(Place::new(mem, at.clone()), value);
        }
        let after = maker.b.close_for(&values);
        for element in 0..tile {
            let at = first.plus(&element.into(), run.step).ok_or_else(overflow)?;
            let values = load(maker, &staged(&element.into())?);
            joins.store(maker, &at, &run.stored, &values)?;
        }
        Ok(maker.b.close_for(&after))
    }

    /// A line in pieces, so many elements each, in so many lanes. What is left is joined element by element.
    fn pieces(
        &self,
        maker: &mut Maker<'_>,
        joins: &Joins<'_>,
        (from, first): (Affine, &[Value]),
        (piece, lanes, widest): (i64, i64, i64),
    ) -> Lowered<()> {
        let step = self.step();
        let plus = |x: &Affine, y: &Affine, by: i64| x.plus(y, by).ok_or_else(overflow);
        let begins = plus(&from, &Affine::lane(step), piece)?;
        let begin = joins.elements(maker, &begins, lanes)?;
        joins.store(maker, &begins, &[], &begin)?;
        let second = plus(&begins, &step.into(), 1)?;
        let run = Run { from: second, step, count: piece - 1, lanes, stored: Vec::new(), tile: widest };
        self.run(maker, joins, &run, &begin)?;
        // What came before a piece, as scalars; the elements of the piece in the order of memory.
        let (number, before) = maker.b.open_for(0, lanes, 1, LoopKind::Serial, first);
        let own = plus(&from, &number.into(), step * piece)?;
        let low = if self.from_the_end { plus(&own, &(1 - piece).into(), 1)? } else { own.clone() };
        let (part, _) = maker.b.open_for(0, piece / widest, 1, LoopKind::Serial, &[]);
        let at = plus(&plus(&low, &part.into(), widest)?, &Affine::lane(1), 1)?;
        let values = joins.results(maker, &at, widest)?;
        let before = maker.in_lanes(&before, widest);
        let values = self.joined(maker, joins, [&before, &values], widest)?;
        joins.store(maker, &at, &[], &values)?;
        maker.b.close_for(&[]);
        let last = plus(&own, &(step * (piece - 1)).into(), 1)?;
        let last = joins.results(maker, &last, 1)?;
        let before = maker.b.close_for(&last);
        let rest = plus(&from, &(step * piece * lanes).into(), 1)?;
        let count = self.length - piece * lanes;
        let run = Run { from: rest, step, count, lanes: 1, stored: Vec::new(), tile: 1 };
        self.run(maker, joins, &run, &before)?;
        Ok(())
    }
}

impl Joins<'_> {
    /// Elements of the operands.
    fn elements(&self, maker: &mut Maker<'_>, at: &Affine, lanes: i64) -> Lowered<Vec<Value>> {
        loaded(maker, (self.operands, Access::Read), at, lanes)
    }

    /// Elements of the results, which are stored already.
    fn results(&self, maker: &mut Maker<'_>, at: &Affine, lanes: i64) -> Lowered<Vec<Value>> {
        loaded(maker, (self.targets, Access::ReadWrite), at, lanes)
    }
}

/// Elements of variables.
fn loaded(
    maker: &mut Maker<'_>,
    (vars, access): (&[Var], Access),
    at: &Affine,
    lanes: i64,
) -> Lowered<Vec<Value>> {
    let mut values = Vec::new();
    for &var in vars {
        let mem = maker.memory(Tensor::Var(var), access)?;
        let ty = Type::vector(maker.b.memory_type(mem), lanes as usize);
        values.push(maker.b.load(Place::new(mem, at.clone()), ty));
    }
    Ok(values)
}

impl Kernels<'_> {
    /// What of some lines lies in lanes.
    pub(super) fn way(&self, lines: &Lines) -> Way {
        /// Fewer lines do not lie in lanes, side by side and far apart.
        const FEW: [i64; 2] = [4, 8];
        /// Shorter lines are not cut into pieces, nor into so many that these are shorter.
        const SHORT: i64 = 256;
        const PIECE: i64 = 64;
        /// Pieces in several registers do not wait for each other.
        const REGISTERS: i64 = 4;
        let &Lines { outer, length, inner, .. } = lines;
        let widest = self.widest();
        if widest < 2 {
            return Way::Each;
        }
        if inner == 1 && outer < widest && length >= SHORT {
            let wide = REGISTERS * widest;
            let lanes = if length >= PIECE * wide { wide } else { widest };
            let size = self.call.targets.iter().map(|&t| self.call.function.ty(t).dtype.size()).max();
            let mut piece = length / lanes / widest * widest;
            if are_pages(piece * size.unwrap_or(1) as i64) {
                piece -= widest;
            }
            if piece > 0 {
                return Way::Pieces { piece, lanes };
            }
        }
        let (count, stride, others, few) = match inner >= FEW[0] {
            true => (inner, 1, outer, FEW[0]),
            false => (outer, length * inner, inner, FEW[1]),
        };
        match count < few {
            true => Way::Each,
            false => Way::Across { count, stride, lanes: self.beside(count, count * others) },
        }
    }
}
