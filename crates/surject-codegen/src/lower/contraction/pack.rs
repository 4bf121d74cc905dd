//! Evaluates a factor of a contraction into a panel ([`crate::schedule::contraction::pack`]).

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, NodeId};
use crate::lower::contraction::merge_vectors::interleave;
use crate::lower::contraction::pairs::Least;
use crate::lower::emit::{At, Bounds, Emitter, ScopeId, Val};
use crate::lower::units::{Open, close_all, decode, digits};
use crate::lower::vectors::Lanes;
use crate::machine::elem::Type;
use crate::schedule::contraction::pack::{Mode, Pack};
use crate::schedule::contraction::sizes::{elements, sum_number};
use std::ops::Deref;

/// The rows or columns of a panel: consecutive numbers from `base`, which are the digits of some loops.
pub struct Minor {
    /// The loops, outermost first.
    pub loops: Vec<LoopId>,
    /// The number of the first.
    pub base: Value,
    /// How many there are in all; beyond the end the last one is repeated.
    pub count: i64,
}

/// A panel as it is written.
pub struct Panel<'a> {
    /// The factor and the form of its panels.
    pub pack: Pack<'a>,
    /// The part of the outermost summed loop that is packed, if not all of it is.
    pub part: Option<(Value, Value)>,
    /// Where the smallest halves are kept, if the panel is to tell them.
    pub least: Option<&'a Least>,
}

impl<'a> From<Pack<'a>> for Panel<'a> {
    fn from(pack: Pack<'a>) -> Panel<'a> {
        Panel { pack, part: None, least: None }
    }
}

impl<'a> Deref for Panel<'a> {
    type Target = Pack<'a>;

    fn deref(&self) -> &Pack<'a> {
        &self.pack
    }
}

impl Panel<'_> {
    /// Writes the rows of the panel one behind the other, the terms of each in their order.
    pub fn emit_rows(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        (to, l): (Value, LoopId),
    ) -> Result<(), CodegenError> {
        let lanes = self.across_lanes(em.dag, l);
        let row = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let number = self.clamped(em, row, minor, iv);
        decode(em, row, &minor.loops, number);
        let terms = em.int(self.sum.iter().map(|&l| em.dag.extent(l)).product::<i64>());
        let start = em.arith(row, "arith.muli", iv, terms);
        let open = self.nest(em, row, Some(l));
        let outer = open.last().map_or(row, |o| o.scope);
        // The last vector ends with the loop.
        let (across, extent) = (em.open(outer, Vec::new(), None), em.dag.extent(l));
        let first = em.name();
        let last = em.int(extent - lanes as i64);
        let position = em.arith(across, "arith.minsi", first, last);
        let part = em.open(across, vec![(l, position)], Some((l, lanes)));
        let value = em.value(self.value, part)?;
        let value = em.spread(&value, self.elem, At { scope: part, lanes });
        let place = self.place(em, part, (to, 1), start);
        self.write(em, part, value, place, lanes);
        em.close_plain(part);
        let bounds = em.whole(0, extent, lanes as i64);
        em.close_loop(across, first, &bounds, &[]);
        close_all(em, open);
        let bounds = em.whole(0, self.width as i64, 1);
        em.close_loop(row, iv, &bounds, &[]);
        Ok(())
    }

    /// Writes the panel at `to`.
    pub fn emit(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        to: Value,
    ) -> Result<(), CodegenError> {
        if self.part.is_none() {
            self.fill(em, scope, to);
        }
        match self.mode(em.dag, &minor.loops) {
            Mode::Along(l, lanes) => {
                let end = em.int(minor.count - self.width as i64);
                let (rest, width) = (minor.count % self.width as i64, self.width as i64);
                let whole = em.open(scope, Vec::new(), None);
                if minor.count >= width && self.transposed {
                    self.turn(em, whole, minor, to, (l, lanes))?;
                } else if minor.count >= width {
                    self.along(em, whole, minor, to, (l, lanes), self.width)?;
                }
                if rest == 0 {
                    em.close_plain(whole);
                    return Ok(());
                }
                let inside = em.compare(scope, "sle", minor.base, end);
                em.close_if(whole, inside);
                let last = em.open(scope, Vec::new(), None);
                if self.transposed {
                    self.single(em, last, minor, to)?;
                } else {
                    self.along(em, last, minor, to, (l, lanes), rest as usize)?;
                }
                let outside = em.compare(scope, "sgt", minor.base, end);
                em.close_if(last, outside);
                Ok(())
            }
            Mode::Across(l) => self.across(em, scope, minor, to, l),
            Mode::Single => self.single(em, scope, minor, to),
        }
    }

    /// Zeros where there are no terms. Of a row the last vector is written whole: what there is of it comes after.
    pub fn fill(&self, em: &mut Emitter<'_>, scope: ScopeId, to: Value) {
        let sum: i64 = self.sum.iter().map(|&l| elements(em.dag, l, self.pairs)).product();
        if self.terms == sum {
            return;
        }
        let (width, lanes) = (self.width as i64, self.lanes as i64);
        let (first, end, step) = match self.transposed {
            true => (self.terms - lanes, width * self.terms, self.terms),
            false => (sum * width, self.terms * width, lanes),
        };
        let part = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let zero = em.constant(self.elem, 0, self.lanes);
        let to = em.element(to, iv, self.elem, part);
        self.write(em, part, zero, to, self.lanes);
        let bounds = Bounds { low: em.int(first), high: em.int(end), step: em.int(step) };
        em.close_loop(part, iv, &bounds, &[]);
    }

    /// The distance of a row or column from the first.
    fn distance(&self, em: &mut Emitter<'_>, scope: ScopeId, number: Value) -> Value {
        if !self.transposed {
            return number;
        }
        let terms = em.int(self.terms);
        em.arith(scope, "arith.muli", number, terms)
    }

    /// Opens the summed loops but one, in their order.
    fn nest(&self, em: &mut Emitter<'_>, scope: ScopeId, but: Option<LoopId>) -> Vec<Open> {
        let mut open: Vec<Open> = Vec::new();
        for &l in self.sum {
            if Some(l) == but || em.dag.extent(l) == 1 {
                continue;
            }
            let outer = open.last().map_or(scope, |o| o.scope);
            let (inner, iv) = em.open_loop(outer, l, 1);
            let (low, high) = match &self.part {
                Some((low, high)) if open.is_empty() => (*low, *high),
                _ => (em.int(0), em.int(elements(em.dag, l, self.pairs))),
            };
            open.push(Open { scope: inner, iv, bounds: Bounds { low, high, step: em.int(1) } });
        }
        open
    }

    /// The address of a value in a panel of so many values for each term.
    fn place(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (to, width): (Value, usize),
        offset: Value,
    ) -> Value {
        let factor = if self.transposed { 1 } else { width as i64 };
        let number = em.lin(&sum_number(em.dag, self.sum, self.pairs, factor), scope);
        let at = em.arith(scope, "arith.addi", number, offset);
        em.element(to, at, self.elem, scope)
    }

    fn write(&self, em: &mut Emitter<'_>, scope: ScopeId, value: Value, to: Value, lanes: usize) {
        if let Some(least) = self.least {
            least.note(em, scope, value, (self.elem, lanes));
        }
        let (ty, size) = (self.elem.ty(lanes), self.elem.size());
        em.run(scope, Op::aligned_store(value, to, ty, size));
    }

    /// The active lanes of a vector alone.
    fn write_some(&self, em: &mut Emitter<'_>, scope: ScopeId, value: Value, to: Value, part: Lanes) {
        let (ty, size) = (self.elem.ty(part.lanes), self.elem.size());
        let mask = em.first_lanes(part.active, part.lanes);
        em.run(scope, Op::MaskedStore { value, pointer: to, mask, ty, alignment: size });
    }

    /// Vectors along the rows or columns, of which so many exist; beyond them there are zeros, or nothing.
    fn along(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        to: Value,
        (l, lanes): (LoopId, usize),
        count: usize,
    ) -> Result<(), CodegenError> {
        let width = if self.tight { count } else { self.width };
        let mut vectors = Vec::new();
        for first in (0..width).step_by(lanes) {
            let distance = em.int(first as i64);
            let active = count.saturating_sub(first).min(lanes);
            let number = em.arith(scope, "arith.addi", minor.base, distance);
            let binds: Vec<(LoopId, Value)> =
                minor.loops.iter().copied().zip(digits(em, scope, &minor.loops, number)).collect();
            let known = match active {
                0 => Vec::new(),
                _ => self.known(em, scope, binds.clone(), Some((l, lanes)), active)?,
            };
            vectors.push((distance, binds, known, active));
        }
        let open = self.nest(em, scope, None);
        let inner = open.last().map_or(scope, |o| o.scope);
        for (distance, binds, known, active) in vectors {
            if active == 0 {
                let zero = em.constant(self.elem, 0, lanes);
                let place = self.place(em, inner, (to, width), distance);
                self.write(em, inner, zero, place, lanes);
                continue;
            }
            let part = em.open(inner, binds, Some((l, lanes)));
            em.activate(part, active, lanes);
            known.into_iter().for_each(|(node, value)| em.seed(part, node, value));
            let number = self.number(em.dag, &open);
            let value = self.element(em, part, number, lanes)?;
            let place = self.place(em, part, (to, width), distance);
            if self.tight && active < lanes {
                self.write_some(em, part, value, place, Lanes { active, lanes });
            } else {
                self.write(em, part, value, place, lanes);
            }
            em.close_plain(part);
        }
        close_all(em, open);
        Ok(())
    }

    /// The number of the elements of several points, of the open summed loops.
    fn number(&self, dag: &Dag, open: &[Open]) -> Option<Value> {
        let along = self.pairs?.along;
        let opened = self.sum.iter().copied().filter(|&l| dag.extent(l) != 1).position(|k| k == along)?;
        open.get(opened).map(|o| o.iv)
    }

    /// An element of the panel, or so many next to each other: the value at the point where the summed loops are, or
    /// those at the points of an element of this number.
    fn element(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        number: Option<Value>,
        lanes: usize,
    ) -> Result<Value, CodegenError> {
        let at = At { scope, lanes };
        let Some(pairs) = self.pairs else {
            let value = em.value(self.value, scope)?;
            return Ok(em.spread(&value, self.elem, at));
        };
        let l = pairs.along;
        let number = number.ok_or_else(|| CodegenError::malformed("a loop of pairs that is not open"))?;
        let (points, extent) = (pairs.points() as i64, em.dag.extent(l));
        let many = em.int(points);
        let first = em.arith(scope, "arith.muli", number, many);
        let last = em.int(extent - 1);
        let mut values = Vec::new();
        for point in 0..points {
            let distance = em.int(point);
            let mut position = em.arith(scope, "arith.addi", first, distance);
            // The last element may have fewer points.
            let mut inside = None;
            if point > 0 && extent % points != 0 {
                inside = Some(em.compare(scope, "sle", position, last));
                position = em.arith(scope, "arith.minsi", position, last);
            }
            let part = em.open(scope, vec![(l, position)], None);
            let value = em.value(self.value, part)?;
            let mut value = em.spread(&value, self.elem, At { scope: part, lanes });
            em.close_plain(part);
            if let Some(inside) = inside {
                // Beyond the end there is nothing: the other factor is multiplied by zero.
                let zero = em.constant(self.elem, 0, lanes);
                let ty = self.elem.ty(lanes);
                value = em.op(scope, Op::Select { condition: (inside, Type::I1), values: [value, zero], ty });
            }
            values.push(value);
        }
        Ok(pairs.join(em, scope, &values, lanes))
    }

    /// The values that depend on the row or column alone, computed before the summed loops.
    fn known(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        binds: Vec<(LoopId, Value)>,
        vector: Option<(LoopId, usize)>,
        active: usize,
    ) -> Result<Vec<(NodeId, Val)>, CodegenError> {
        let sum: LoopSet = self.sum.iter().copied().collect();
        let minor: LoopSet = binds.iter().map(|b| b.0).collect();
        let part = em.open(scope, binds, vector);
        em.activate(part, active, vector.map_or(1, |v| v.1));
        let mut known = Vec::new();
        for id in em.dag.reachable(&[self.value]) {
            let deps = em.dag[id].deps;
            if deps.meets(minor) && !deps.meets(sum) {
                known.push((id, em.value(id, part)?));
            }
        }
        em.close_plain(part);
        Ok(known)
    }

    /// The number of a row or column that exists.
    fn clamped(&self, em: &mut Emitter<'_>, scope: ScopeId, minor: &Minor, distance: Value) -> Value {
        let last = em.int(minor.count - 1);
        let number = em.arith(scope, "arith.addi", minor.base, distance);
        em.arith(scope, "arith.minsi", number, last)
    }

    fn across(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        to: Value,
        l: LoopId,
    ) -> Result<(), CodegenError> {
        let lanes = self.across_lanes(em.dag, l);
        // Rows are taken in groups of a power of two, the widest that divides the panel; those that are not transposed, one
        // by one.
        let group = if self.transposed { 1 } else { (1usize << self.width.trailing_zeros()).min(lanes) };
        if group < self.width {
            let part = em.open(scope, Vec::new(), None);
            let first = em.name();
            let base = em.arith(part, "arith.addi", minor.base, first);
            let distance = self.distance(em, part, first);
            let to = em.element(to, distance, self.elem, part);
            let minor = Minor { loops: minor.loops.clone(), base, count: minor.count };
            self.group(em, part, &minor, to, (l, group))?;
            let bounds = em.whole(0, self.width as i64, group as i64);
            em.close_loop(part, first, &bounds, &[]);
            return Ok(());
        }
        self.group(em, scope, minor, to, (l, group))
    }

    /// The first rows or columns of a panel, as vectors along a summed loop.
    fn group(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        to: Value,
        (l, group): (LoopId, usize),
    ) -> Result<(), CodegenError> {
        let lanes = self.across_lanes(em.dag, l);
        let mut positions = Vec::new();
        for i in 0..group {
            let distance = em.int(i as i64);
            let number = self.clamped(em, scope, minor, distance);
            let position = digits(em, scope, &minor.loops, number);
            let binds: Vec<(LoopId, Value)> = minor.loops.iter().copied().zip(position).collect();
            let known = self.known(em, scope, binds.clone(), None, 1)?;
            positions.push((binds, known));
        }
        let open = self.nest(em, scope, Some(l));
        let outer = open.last().map_or(scope, |o| o.scope);
        // The last vector ends with the loop: some values are written twice where that is not a whole number. Of
        // elements of several points there are whole ones first.
        let wide = self.points() * lanes;
        let inner = em.open(outer, Vec::new(), None);
        let (iv, extent) = (em.name(), em.dag.extent(l) / (wide / lanes) as i64);
        let bounds = em.whole(0, extent, lanes as i64);
        let position = if extent % lanes as i64 == 0 {
            iv
        } else {
            let last = em.int(extent - lanes as i64);
            em.arith(inner, "arith.minsi", iv, last)
        };
        let start = if wide == lanes {
            position
        } else {
            let points = em.int(self.points() as i64);
            em.arith(inner, "arith.muli", position, points)
        };
        em.bind(inner, l, position);
        let stride = sum_number(em.dag, self.sum, self.pairs, self.width as i64).coeff(l);
        let mut rows = Vec::new();
        for (binds, known) in &positions {
            let along = em.open(inner, vec![(l, start)], Some((l, wide)));
            let part = em.open(along, binds.clone(), None);
            known.iter().for_each(|(node, value)| em.seed(part, *node, value.clone()));
            let value: Val = em.value(self.value, part)?;
            let value = em.spread(&value, self.elem, At { scope: part, lanes: wide });
            rows.push(match self.pairs {
                Some(pairs) => pairs.neighbours(em, part, value, lanes),
                None => value,
            });
            em.close_plain(part);
            em.close_plain(along);
        }
        // A vector holds `lanes / group` points of the summed loop, `group` rows of each.
        let transposed = interleave(em, inner, rows, self.elem, lanes);
        let dense = self.transposed || stride == self.width as i64 && group == self.width;
        let pieces = if dense { 1 } else { lanes / group };
        for (i, value) in transposed.into_iter().enumerate() {
            for piece in 0..pieces {
                let width = lanes / pieces;
                let part = em.some_lanes(inner, value, (self.elem, lanes), piece * group, width);
                let offset = em.int((i * (lanes / group) + piece) as i64 * stride);
                let place = self.place(em, inner, (to, self.width), offset);
                self.write(em, inner, part, place, width);
            }
        }
        em.close_loop(inner, iv, &bounds, &[]);
        if em.dag.extent(l) % self.points() as i64 > 0 {
            let rows = positions.into_iter().map(|(binds, _)| binds);
            self.last_elements(em, outer, rows, to, l)?;
        }
        close_all(em, open);
        Ok(())
    }

    /// The elements of the last points of a loop and nothing, of rows or columns whose loops are bound so.
    fn last_elements(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows: impl Iterator<Item = Vec<(LoopId, Value)>>,
        to: Value,
        l: LoopId,
    ) -> Result<(), CodegenError> {
        let Some(pairs) = self.pairs else { return Ok(()) };
        let (points, extent) = (pairs.points() as i64, em.dag.extent(l));
        let number = em.int(extent / points);
        for (i, binds) in rows.enumerate() {
            let place = em.open(scope, vec![(l, number)], None);
            let distance = em.int(i as i64);
            let to = self.place(em, place, (to, self.width), distance);
            em.close_plain(place);
            let mut values = vec![em.constant(self.elem, 0, 1); pairs.points()];
            for (point, value) in (extent - extent % points..extent).zip(&mut values) {
                let mut binds = binds.clone();
                binds.push((l, em.int(point)));
                let part = em.open(scope, binds, None);
                let last = em.value(self.value, part)?;
                *value = em.spread(&last, self.elem, At { scope: part, lanes: 1 });
                em.close_plain(part);
            }
            let value = pairs.join(em, scope, &values, 1);
            self.write(em, scope, value, to, 1);
        }
        Ok(())
    }

    /// Vectors along the rows, as many elements of each as there are lanes: they are transposed, and stored row by row.
    /// All rows of the panel exist.
    fn turn(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        to: Value,
        (l, lanes): (LoopId, usize),
    ) -> Result<(), CodegenError> {
        let Some(along) = self.pairs.map(|pairs| pairs.along) else {
            return Err(CodegenError::malformed("rows of single values one behind the other"));
        };
        let rows = em.open(scope, Vec::new(), None);
        let first = em.name();
        let number = em.arith(rows, "arith.addi", minor.base, first);
        let binds: Vec<(LoopId, Value)> =
            minor.loops.iter().copied().zip(digits(em, rows, &minor.loops, number)).collect();
        let open = self.nest(em, rows, Some(along));
        let outer = open.last().map_or(rows, |o| o.scope);
        let (inner, iv) = (em.open(outer, Vec::new(), None), em.name());
        // The last elements end with the loop.
        let count = elements(em.dag, along, self.pairs);
        let last = em.int(count - lanes as i64);
        let position = em.arith(inner, "arith.minsi", iv, last);
        em.bind(inner, along, position);
        let mut vectors = Vec::new();
        for distance in 0..lanes {
            let part = em.open(inner, binds.clone(), Some((l, lanes)));
            let distance = em.int(distance as i64);
            let number = em.arith(part, "arith.addi", position, distance);
            vectors.push(self.element(em, part, Some(number), lanes)?);
            em.close_plain(part);
        }
        for (row, value) in interleave(em, inner, vectors, self.elem, lanes).into_iter().enumerate() {
            let distance = em.int(row as i64);
            let row = em.arith(inner, "arith.addi", first, distance);
            let distance = self.distance(em, inner, row);
            let place = self.place(em, inner, (to, self.width), distance);
            self.write(em, inner, value, place, lanes);
        }
        let bounds = |em: &mut Emitter<'_>, end: i64| Bounds {
            low: em.int(0),
            high: em.int(end),
            step: em.int(lanes as i64),
        };
        let elements = bounds(em, count);
        em.close_loop(inner, iv, &elements, &[]);
        close_all(em, open);
        let all = bounds(em, self.width as i64);
        em.close_loop(rows, first, &all, &[]);
        Ok(())
    }

    /// One value at a time.
    fn single(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        minor: &Minor,
        to: Value,
    ) -> Result<(), CodegenError> {
        let part = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let number = self.clamped(em, part, minor, iv);
        decode(em, part, &minor.loops, number);
        let open = self.nest(em, part, None);
        let inner = open.last().map_or(part, |o| o.scope);
        let number = self.number(em.dag, &open);
        let value = self.element(em, inner, number, 1)?;
        let distance = self.distance(em, inner, iv);
        let place = self.place(em, inner, (to, self.width), distance);
        self.write(em, inner, value, place, 1);
        close_all(em, open);
        let bounds = em.whole(0, self.width as i64, 1);
        em.close_loop(part, iv, &bounds, &[]);
        Ok(())
    }
}
