//! Tiles that tasks transpose in registers: pieces of them, in each the groups of columns, and of these row by row.
//!
//! Results are vectors along one loop. What loads lie along is another one: a tile loads as many columns of it, each a few
//! elements, and no processor foresees that. So while a group is moved, what the next one loads may be prefetched into the
//! second cache, column by column of a piece, as it lies in memory. Results that go past the caches do so in whole lines:
//! where rows begin inside of lines, those of a group meet in memory of the task, and leave it from line to line. What a row
//! has of the last one stays in front of it, for the next group to complete.

use super::super::{Lowered, Lowering};
use super::Side;
use crate::CodegenError;
use crate::expression::address::LoopId;
use crate::expression::dag::Node;
use crate::kernels::transpose::{LINE, Others, Pieces, Transpose};
use surject_ir::BinaryOp;
use surject_kernel::{Affine, Guard, LoopKind, Mem, Op, Place, Space, Temporality, Type, Wanted};

fn overflow() -> CodegenError {
    CodegenError::overflow("a tile")
}

fn sum(a: &Affine, b: &Affine, factor: i64) -> Lowered<Affine> {
    a.plus(b, factor).ok_or_else(overflow)
}

/// More turns than a group has.
const TURNS: i64 = 1 << 20;

/// Where the results of a group meet.
struct Stage {
    mem: Mem,
    /// The elements of a line, and from row to row, a line of which lies in front of the row.
    line: i64,
    pitch: i64,
}

/// A piece that is open.
struct Piece<'t> {
    t: &'t Transpose,
    by: &'t Pieces,
    rows: Side,
    columns: Side,
    /// Its numbers along both.
    number: [Affine; 2],
    /// Its first row and column.
    first: [Affine; 2],
    /// Its rows of tiles that are whole.
    down: Affine,
    stage: Option<Stage>,
    /// Loops inside of tiles, and how often they run.
    inside: Vec<(LoopId, i64)>,
    /// Loops that the rows of a tile go on with.
    beside: Vec<Beside>,
}

/// A loop that the rows of a tile go on with: where it is, and how many of its iterations the tile has.
struct Beside {
    l: LoopId,
    first: Affine,
    count: i64,
}

/// A group of columns of tiles.
struct Group {
    /// Its number in the piece, and the number of those.
    number: Affine,
    count: Affine,
    /// Its first column, and the tiles that are whole.
    first: Affine,
    right: Affine,
}

/// A tile: where it begins, and how much of it there is.
struct Tile {
    row: Affine,
    column: Affine,
    rows: i64,
    is_whole: bool,
    /// The number of tiles before it in its group, where what the next group loads is prefetched.
    turn: Option<Affine>,
}

impl Lowering<'_> {
    /// Tasks of so many pieces of tiles, each in registers.
    pub(super) fn transpose_in_registers(&mut self, t: &Transpose, by: &Pieces) -> Lowered<()> {
        let expression = self.expression;
        let extent = |l: LoopId| expression.dag.extent(l);
        let [a, b] = t.tile.tile;
        let rows = Side { extent: t.others.rows(&expression.dag, t.across), tile: b, piece: by.tiles[0] };
        let columns = Side { extent: extent(t.along), tile: a, piece: by.tiles[1] };
        let Others { outer, near, inside, .. } = &t.others;
        let mut sizes: Vec<i64> = outer.iter().map(|&l| extent(l)).collect();
        sizes.extend([rows.pieces(), columns.pieces()]);
        sizes.extend(near.iter().map(|&l| extent(l) / t.others.in_tile(l)));
        let opened = self.open_tasks(&sizes, by.each)?;
        let (before, behind) = opened.digits.split_at(outer.len());
        let [down, right, of_near @ ..] = behind else {
            return Err(CodegenError::malformed("a transposition without pieces"));
        };
        let [down, right] = [down, right].map(Affine::clone);
        outer.iter().zip(before).for_each(|(&l, digit)| self.set(l, digit.clone()));
        let mut beside: Vec<Beside> = Vec::new();
        for (&l, digit) in near.iter().zip(of_near) {
            let count = t.others.in_tile(l);
            let first = digit.times(count).ok_or_else(overflow)?;
            self.set(l, first.clone());
            beside.push(Beside { l, first, count });
        }
        let place = |l: LoopId| t.others.beside.iter().position(|b| b.0 == l);
        beside.retain(|b| place(b.l).is_some());
        beside.sort_by_key(|b| place(b.l));
        inside.iter().for_each(|&l| self.set(l, 0.into()));
        let inside: Vec<(LoopId, i64)> = inside.iter().map(|&l| (l, extent(l))).collect();
        let first = [
            down.times(rows.step()?).ok_or_else(overflow)?,
            right.times(columns.step()?).ok_or_else(overflow)?,
        ];
        let stage = by.staged.then(|| self.stage(t, by)).transpose()?;
        let above = down.times(rows.piece).ok_or_else(overflow)?;
        let whole = match rows.left() {
            0 => self.fewer(rows.piece, rows.whole(), &above)?,
            _ => self.least(rows.piece, rows.whole(), &above)?,
        };
        let number = [down, right];
        let piece = Piece { t, by, rows, columns, number, first, down: whole, stage, inside, beside };
        self.groups(&piece)?;
        self.close_tasks(opened);
        Ok(())
    }

    /// Memory for the results of a group.
    fn stage(&mut self, t: &Transpose, by: &Pieces) -> Lowered<Stage> {
        let [output] = &self.expression.outputs[..] else {
            return Err(CodegenError::malformed("a transposition of several results"));
        };
        let dtype = self.expression.dag[output.root].dtype;
        let [a, b] = t.tile.tile;
        let line = LINE / dtype.size() as i64;
        let pitch = by.group.checked_mul(a).and_then(|n| n.checked_add(line)).ok_or_else(overflow)?;
        let elements = by.tiles[0].checked_mul(b).and_then(|n| n.checked_mul(pitch)).ok_or_else(overflow)?;
        let mem = self.b.alloc("stage", dtype, elements, Space::Stack);
        Ok(Stage { mem, line, pitch })
    }

    /// So many, or as many as there are of all behind so many others, which are fewer than all.
    fn fewer(&mut self, most: i64, all: i64, before: &Affine) -> Lowered<Affine> {
        match all % most == 0
            && before.offset % most == 0
            && before.terms.iter().all(|t| t.factor % most == 0)
        {
            true => Ok(most.into()),
            false => self.least(most, all, before),
        }
    }

    /// The same where others may be all there are.
    fn least(&mut self, most: i64, all: i64, before: &Affine) -> Lowered<Affine> {
        let left = sum(&all.into(), before, -1)?;
        if let Some(left) = left.as_constant() {
            return Ok(left.clamp(0, most).into());
        }
        let (left, most) = (self.number(&left), self.integer(most));
        Ok(self.b.binary(BinaryOp::Min, left, most).into())
    }

    /// Opens what is done where a guard holds; `false`: it always does.
    fn open_where(&mut self, guard: Guard) -> bool {
        if self.b.is_known(&guard, 1) == Some(true) {
            return false;
        }
        let holds = self.b.holds(vec![guard], 1);
        self.b.open_if(holds);
        true
    }

    fn close_where(&mut self, is_open: bool) {
        if is_open {
            self.b.close_if(&[]);
        }
    }

    /// Opens a loop of so many iterations.
    fn open_times(&mut self, times: &Affine) -> Affine {
        self.b.open_for(0, times.clone(), 1, LoopKind::Serial, &[]).0.into()
    }

    /// The groups of a piece.
    fn groups(&mut self, piece: &Piece<'_>) -> Lowered<()> {
        let Piece { by, columns, number, first, .. } = piece;
        let all = (columns.tiles() + by.group - 1) / by.group;
        let of_piece = columns.piece / by.group;
        let before = number[1].times(of_piece).ok_or_else(overflow)?;
        // A last group may have the last columns alone.
        let count = match columns.pieces() {
            1 => all.into(),
            _ => self.fewer(of_piece, all, &before)?,
        };
        let group = self.open_times(&count);
        let wide = by.group.checked_mul(columns.tile).ok_or_else(overflow)?;
        let begin = sum(&first[1], &group, wide)?;
        let tiles = sum(&before, &group, 1)?.times(by.group).ok_or_else(overflow)?;
        let right = match columns.whole() % by.group == 0 && columns.left() == 0 {
            true => by.group.into(),
            false => self.least(by.group, columns.whole(), &tiles)?,
        };
        let group = Group { number: group, count, first: begin, right };
        self.tiles(piece, &group)?;
        let last_rows = self.has_last_rows(piece)?;
        if columns.left() > 0 {
            // This is the last group of all.
            let beyond = sum(&tiles, &(by.group - 1 - columns.whole()).into(), 1)?;
            let is_open = self.open_where(Guard { expr: beyond, bound: by.group.into() });
            let column = Affine::from(columns.whole() * columns.tile);
            if piece.rows.whole() > 0 {
                let row = self.open_times(&piece.down);
                let row = sum(&piece.first[0], &row, piece.rows.tile)?;
                let (column, rows) = (column.clone(), piece.rows.tile);
                self.piece_tile(piece, &group, &Tile { row, column, rows, is_whole: false, turn: None })?;
                self.b.close_for(&[]);
            }
            if let Some(guard) = &last_rows {
                let inside = self.open_where(guard.clone());
                let (row, rows) = (Affine::from(piece.rows.whole() * piece.rows.tile), piece.rows.left());
                self.piece_tile(piece, &group, &Tile { row, column, rows, is_whole: false, turn: None })?;
                self.close_where(inside);
            }
            self.close_where(is_open);
        }
        if let Some(stage) = &piece.stage {
            self.leave(piece, &group, stage)?;
        }
        self.b.close_for(&[]);
        Ok(())
    }

    /// Where a piece has the last rows, which are no whole tile, if there are such.
    fn has_last_rows(&mut self, piece: &Piece<'_>) -> Lowered<Option<Guard>> {
        let rows = &piece.rows;
        let expr = sum(&piece.number[0], &(1 - rows.pieces()).into(), 1)?;
        Ok((rows.left() > 0).then(|| Guard { expr, bound: 1.into() }))
    }

    /// The tiles of a group whose columns are whole.
    fn tiles(&mut self, piece: &Piece<'_>, group: &Group) -> Lowered<()> {
        let Piece { rows, columns, .. } = piece;
        if columns.whole() == 0 {
            return Ok(());
        }
        if rows.whole() > 0 {
            self.whole_tiles(piece, group)?;
        }
        if let Some(guard) = self.has_last_rows(piece)? {
            let is_open = self.open_where(guard);
            let column = self.open_times(&group.right);
            let column = sum(&group.first, &column, columns.tile)?;
            let row = Affine::from(rows.whole() * rows.tile);
            let rows = rows.left();
            self.piece_tile(piece, group, &Tile { row, column, rows, is_whole: true, turn: None })?;
            self.b.close_for(&[]);
            self.close_where(is_open);
        }
        Ok(())
    }

    /// Those of them whose rows are whole too.
    fn whole_tiles(&mut self, piece: &Piece<'_>, group: &Group) -> Lowered<()> {
        let Piece { by, rows, columns, first, down, .. } = piece;
        // Where results meet, what is loaded is done column by column, as it lies in memory.
        let (row, column) = match by.staged {
            false => (self.open_times(down), self.open_times(&group.right)),
            true => {
                let column = self.open_times(&group.right);
                (self.open_times(down), column)
            }
        };
        let is_ahead = by.ahead && !by.staged;
        let turn =
            is_ahead.then(|| row.times(by.group).and_then(|n| n.plus(&column, 1)).ok_or_else(overflow));
        let tile = Tile {
            row: sum(&first[0], &row, rows.tile)?,
            column: sum(&group.first, &column, columns.tile)?,
            rows: rows.tile,
            is_whole: true,
            turn: turn.transpose()?,
        };
        self.piece_tile(piece, group, &tile)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The points of a tile: results are vectors along `along`. What lies along `across` is a column of as many rows, which
    /// [`strided`](crate::kernels::strided) loads as they lie and transposes.
    fn piece_tile(&mut self, piece: &Piece<'_>, group: &Group, tile: &Tile) -> Lowered<()> {
        let Piece { t, by, rows, columns, .. } = piece;
        let outside = self.outside();
        let next = match &tile.turn {
            Some(turn) => self.next_lines(piece, group, turn, rows.tile * columns.tile)?,
            None if by.ahead && by.staged && tile.is_whole => self.lines_beside(piece, tile)?,
            None => Vec::new(),
        };
        let temporality = if by.past { Temporality::NonTemporal } else { Temporality::Normal };
        self.whole = self.whole.union(std::iter::once(t.across).collect());
        if tile.is_whole {
            self.whole = self.whole.union(std::iter::once(t.along).collect());
        }
        for number in 0..tile.rows {
            self.lanes = Some((t.along, columns.tile as usize));
            self.set_row(piece, &tile.row, number)?;
            self.set(t.along, sum(&tile.column, &Affine::lane(1), 1)?);
            let of_row = next.iter().skip(number as usize).step_by(rows.tile as usize);
            of_row.for_each(|op| self.b.effect(op.clone()));
            match &piece.stage {
                None if !piece.inside.is_empty() => self.store_inside(&piece.inside)?,
                None => self.store_by(temporality)?,
                Some(stage) => {
                    let row = sum(&sum(&tile.row, &number.into(), 1)?, &piece.first[0], -1)?;
                    let column = sum(&tile.column, &group.first, -1)?;
                    self.put_on_stage(stage, &row, &column)?;
                }
            }
            self.frames.truncate(outside.depth());
        }
        self.return_to(&outside);
        Ok(())
    }

    /// A row of a tile that begins with another one: rows of several loops begin with the first.
    fn set_row(&mut self, piece: &Piece<'_>, first: &Affine, number: i64) -> Lowered<()> {
        let across = piece.t.across;
        if piece.beside.is_empty() {
            self.set(across, sum(first, &number.into(), 1)?);
            return Ok(());
        }
        let extent = self.expression.dag.extent(across);
        self.set(across, (number % extent).into());
        let mut rest = number / extent;
        for Beside { l, first, count } in &piece.beside {
            self.set(*l, sum(first, &(rest % count).into(), 1)?);
            rest /= count;
        }
        Ok(())
    }

    /// Stores the results of all iterations inside of a tile: those of a vector have those of others between them.
    fn store_inside(&mut self, loops: &[(LoopId, i64)]) -> Lowered<()> {
        let sizes: Vec<i64> = loops.iter().map(|l| l.1).collect();
        for number in 0..sizes.iter().product() {
            let depth = self.frames.len();
            let mut rest = number;
            for &(l, extent) in loops.iter().rev() {
                self.set(l, (rest % extent).into());
                rest /= extent;
            }
            self.store()?;
            self.frames.truncate(depth);
        }
        Ok(())
    }

    /// Stores results where those of a group meet.
    fn put_on_stage(&mut self, stage: &Stage, row: &Affine, column: &Affine) -> Lowered<()> {
        let Some((along, lanes)) = self.lanes else {
            return Err(CodegenError::malformed("a tile without lanes"));
        };
        let root = self.expression.outputs.first().map(|o| o.root);
        let root = root.ok_or_else(|| CodegenError::malformed("a transposition without a result"))?;
        let value = self.operand(root, lanes)?;
        let at = sum(&sum(&stage.line.into(), row, stage.pitch)?, column, 1)?;
        let at = sum(&at, &Affine::lane(1), 1)?;
        let guards = self.cut(std::iter::once(along).collect())?;
        self.b.store(Place { guards, ..Place::new(stage.mem, at) }, value);
        Ok(())
    }

    /// The rows of a group leave where they met, from line to line.
    fn leave(&mut self, piece: &Piece<'_>, group: &Group, stage: &Stage) -> Lowered<()> {
        let Piece { t, by, rows, columns, .. } = piece;
        let outside = self.outside();
        let before = piece.first[0].clone();
        let count = self.fewer(rows.step()?, rows.extent, &before)?;
        let row = self.rows_of_turns(piece, group, &count)?;
        self.set(t.across, sum(&before, &row, 1)?);
        self.set(t.along, group.first.clone());
        let Some(output) = self.expression.outputs.first() else {
            return Err(CodegenError::malformed("a transposition without a result"));
        };
        let to = self.place(output.to, &output.address, &[], Default::default())?;
        // Tensors begin with a line: where they do not, nothing goes past the caches.
        let (begin, last) = (self.number(&to.at), self.integer(stage.line - 1));
        let within = Affine::from(self.b.binary(BinaryOp::And, begin, last));
        let from = sum(&sum(&stage.line.into(), &row, stage.pitch)?, &within, -1)?;
        let to = Place { at: sum(&to.at, &within, -1)?, ..to };
        let column = sum(&group.first, &within, -1)?;
        let lines = by.group * columns.tile / stage.line;
        let inner =
            Guard { expr: sum(&group.number, &(-1).into(), 1)?, bound: sum(&group.count, &(-2).into(), 1)? };
        let inner = self.b.holds(vec![inner], 1);
        self.b.open_if(inner);
        for line in 0..lines {
            self.move_line(stage, &from, &to, &(line * stage.line).into(), Vec::new(), by.past)?;
        }
        self.b.open_else(&[]);
        self.prefetch_ends(piece, group)?;
        // At an end of rows lines are there in part. The last group has nothing to leave to another one.
        let is_last =
            Guard { expr: sum(&group.number, &sum(&1.into(), &group.count, -1)?, 1)?, bound: 1.into() };
        let is_last = self.b.holds(vec![is_last], 1);
        let [all, most] = [lines, lines + 1].map(|n| self.integer(n));
        let count = self.b.select(is_last, most, all);
        let line = self.open_times(&count.into());
        let line = line.times(stage.line).ok_or_else(overflow)?;
        let at = sum(&column, &line, 1)?;
        let whole = Guard { expr: at.clone(), bound: (columns.extent + 1 - stage.line).into() };
        let whole = self.b.holds(vec![whole], 1);
        self.b.open_if(whole);
        self.move_line(stage, &from, &to, &line, Vec::new(), by.past)?;
        self.b.open_else(&[]);
        let part = Guard { expr: sum(&at, &Affine::lane(1), 1)?, bound: columns.extent.into() };
        self.move_line(stage, &from, &to, &line, vec![part], false)?;
        self.b.close_if(&[]);
        self.b.close_for(&[]);
        self.b.close_if(&[]);
        self.keep(group, stage, &row, lines)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        self.return_to(&outside);
        Ok(())
    }

    /// Prefetches what is stored of a line at an end of a row a few rows further on: such a line goes through the caches, and
    /// what is stored behind it would wait.
    fn prefetch_ends(&mut self, piece: &Piece<'_>, group: &Group) -> Lowered<()> {
        /// So many rows further on.
        const FURTHER: i64 = 8;
        let Piece { t, columns, .. } = piece;
        let Some(output) = self.expression.outputs.first() else { return Ok(()) };
        let is_first = Guard { expr: group.number.clone(), bound: 1.into() };
        let is_first = self.b.holds(vec![is_first], 1);
        let [begin, end] = [0, columns.extent - 1].map(|n| self.integer(n));
        let end = self.b.select(is_first, begin, end);
        let outside = self.outside();
        self.set(t.along, end.into());
        let place = self.place(output.to, &output.address, &[], Default::default())?;
        self.return_to(&outside);
        let further = output.address.coeff(t.across).saturating_mul(FURTHER);
        let at = sum(&place.at, &further.into(), 1)?;
        self.b.effect(Op::Prefetch { mem: place.mem, at, wanted: Wanted::Write });
        Ok(())
    }

    /// Opens loops over so many rows of a group: those of a turn have as many elements as a tile, and with each turn some of
    /// what the next group loads may come.
    fn rows_of_turns(&mut self, piece: &Piece<'_>, group: &Group, rows: &Affine) -> Lowered<Affine> {
        let Piece { by, rows: Side { tile, .. }, columns, .. } = piece;
        let each = (tile / by.group).max(1);
        let of_turns = self.digits(&sum(rows, &(each - 1).into(), 1)?, &[TURNS, each]);
        let turn = self.open_times(&of_turns[0]);
        if by.ahead {
            let next = self.next_lines(piece, group, &turn, each * by.group * columns.tile)?;
            next.into_iter().for_each(|op| self.b.effect(op));
        }
        let begin = turn.times(each).ok_or_else(overflow)?;
        let (left, each) = (self.number(&sum(rows, &begin, -1)?), self.integer(each));
        let count = self.b.binary(BinaryOp::Min, left, each);
        let row = self.open_times(&count.into());
        sum(&begin, &row, 1)
    }

    /// Moves a line, or the part of it that is there.
    fn move_line(
        &mut self,
        stage: &Stage,
        from: &Affine,
        to: &Place,
        by: &Affine,
        guards: Vec<Guard>,
        past: bool,
    ) -> Lowered<()> {
        let ty = Type::vector(self.b.memory_type(stage.mem), stage.line as usize);
        let at = |begin: &Affine| sum(&sum(begin, by, 1)?, &Affine::lane(1), 1);
        let from = Place { guards: guards.clone(), ..Place::new(stage.mem, at(from)?) };
        let value = self.b.load(from, ty);
        let place = Place { guards, ..Place::new(to.mem, at(&to.at)?) };
        let temporality = if past { Temporality::NonTemporal } else { Temporality::Normal };
        self.b.effect(Op::Store { place, value, temporality });
        Ok(())
    }

    /// The last line of a row stays in front of it, if there is another group.
    fn keep(&mut self, group: &Group, stage: &Stage, row: &Affine, lines: i64) -> Lowered<()> {
        let further = Guard { expr: group.number.clone(), bound: sum(&group.count, &(-1).into(), 1)? };
        let further = self.b.holds(vec![further], 1);
        self.b.open_if(further);
        let front = sum(&Affine::lane(1), row, stage.pitch)?;
        let ty = Type::vector(self.b.memory_type(stage.mem), stage.line as usize);
        let last = sum(&front, &(lines * stage.line).into(), 1)?;
        let value = self.b.load(Place::new(stage.mem, last), ty);
        self.b.store(Place::new(stage.mem, front), value);
        self.b.close_if(&[]);
        Ok(())
    }

    /// The lines of the tile beside one, which are prefetched once more: some of the many of a group do not come.
    fn lines_beside(&mut self, piece: &Piece<'_>, tile: &Tile) -> Lowered<Vec<Op>> {
        let Piece { t, columns, .. } = piece;
        let (mut prefetched, outside) = (Vec::new(), self.outside());
        for &load in &t.loads {
            let Node::Load { buf, address, .. } = &self.expression.dag[load].node else { continue };
            if address.coeff(t.across) != 1 {
                continue;
            }
            self.set(t.across, tile.row.clone());
            for number in columns.tile..2 * columns.tile {
                self.set(t.along, sum(&tile.column, &number.into(), 1)?);
                let place = self.place(*buf, address, &[], Default::default())?;
                prefetched.push(Op::Prefetch { mem: place.mem, at: place.at, wanted: Wanted::Soon });
            }
        }
        self.return_to(&outside);
        Ok(prefetched)
    }

    /// What is prefetched of the next group at a turn of this one, of which there is one for so many elements: as many lines
    /// of each load, column by column of a piece, as they lie in memory.
    fn next_lines(
        &mut self,
        piece: &Piece<'_>,
        group: &Group,
        turn: &Affine,
        elements: i64,
    ) -> Lowered<Vec<Op>> {
        let Piece { t, by, rows, columns, first, .. } = piece;
        let expression = self.expression;
        // Behind the last group comes the first one of the next rows.
        let width = by.group.checked_mul(columns.tile).ok_or_else(overflow)?;
        let further = Guard { expr: group.number.clone(), bound: sum(&group.count, &(-1).into(), 1)? };
        let further = self.b.holds(vec![further], 1);
        let [beside, here, begin, below] = [
            sum(&group.first, &width.into(), 1)?,
            first[0].clone(),
            first[1].clone(),
            sum(&first[0], &rows.step()?.into(), 1)?,
        ]
        .map(|at| self.number(&at));
        let column = Affine::from(self.b.select(further, beside, begin));
        let row = Affine::from(self.b.select(further, here, below));
        let (mut prefetched, outside) = (Vec::new(), self.outside());
        for &load in &t.loads {
            let Node::Load { buf, address, .. } = &expression.dag[load].node else { continue };
            if address.coeff(t.across) != 1 {
                continue;
            }
            let size = expression.dag[load].dtype.size() as i64;
            let whole = address.coeff(t.along).saturating_mul(size) % LINE == 0;
            let bytes = rows.step()?.min(rows.extent).saturating_mul(size);
            let lines = (bytes + LINE - 1) / LINE + i64::from(!whole);
            // A column takes some turns, or a turn some columns.
            let block = (elements * size / LINE).max(1);
            let turns = (lines / block).max(1);
            let (share, some) = ((lines + turns - 1) / turns, (block + lines - 1) / lines);
            let digits = self.digits(turn, &[TURNS, turns]);
            for number in 0..some {
                let at = sum(&sum(&column, &digits[0], some)?, &number.into(), 1)?;
                self.set(t.along, at);
                self.set(t.across, sum(&row, &digits[1], share.saturating_mul(LINE) / size)?);
                let place = self.place(*buf, address, &[], Default::default())?;
                for line in 0..share {
                    let at = sum(&place.at, &(line * LINE / size).into(), 1)?;
                    prefetched.push(Op::Prefetch { mem: place.mem, at, wanted: Wanted::Soon });
                }
            }
        }
        self.return_to(&outside);
        Ok(prefetched)
    }
}
