//! Reductions and windows whose body is a function of its own, such as `logaddexp`.
//!
//! They are written down as what they are, a loop over the positions of the window (or of what is reduced) in row-major
//! order, each step of which joins the accumulators of all windows with one element each. The loop is differentiated as
//! any other. A cumulative window, which is the whole axis with padding in front, joins one element a step instead.

use crate::activity::Dependence;
use crate::sizes::constant_sizes;
use crate::sweep::{Result, Sweep};
use std::collections::HashMap;
use surject_index::{Affine, Fill, IndexMap, Space};
use surject_ir::interp::{Limits, run_within};
use surject_ir::{
    BinaryOp, Block, DType, FieldId, FieldKind, LibOp, Program, Region, Scalar, StatementKind, TensorType,
    Var, Window,
};

/// The windows at hand: their shape, the tensors and their initial values.
struct Windows<'a> {
    window: Window,
    /// The extents of the tensors, and of what the windows give.
    sizes: Vec<u64>,
    out: Vec<u64>,
    inputs: &'a [Var],
    inits: &'a [Var],
    body: &'a Region,
}

impl Sweep {
    /// The reverse of a reduction or of windows with a general body.
    pub(crate) fn reverse_reduction(
        &mut self,
        op: &LibOp,
        args: &[Var],
        body: &Region,
        cotangents: &[Option<FieldId>],
    ) -> Result<()> {
        let (inputs, inits) = args.split_at(args.len() / 2);
        let Some(&first) = inputs.first() else { return Ok(()) };
        let sizes = constant_sizes(&self.f.ty(first).space);
        let sizes = sizes.map_err(|(axis, size)| {
            self.needs_constant(
                format!("dimension {axis} of operand 0, which its function is run along"),
                &size,
            )
        })?;
        let rank = sizes.len();
        let (window, dropped) = match op {
            LibOp::ReduceWindow { window } => (window.clone(), Vec::new()),
            LibOp::Reduce { axes } => {
                let whole = |a: usize| if axes.contains(&a) { sizes[a] } else { 1 };
                let ones = vec![1; rank];
                let window = Window {
                    sizes: (0..rank).map(whole).collect(),
                    strides: ones.clone(),
                    base_dilations: ones.clone(),
                    window_dilations: ones,
                    padding: vec![(0, 0); rank],
                };
                (window, axes.clone())
            }
            _ => return Ok(()),
        };
        if window.base_dilations.iter().any(|&d| d != 1) {
            return Err(
                self.unsupported("windows with a general body over a tensor with holes (base dilation)")
            );
        }
        let Some(out) = windows_along(&window, &sizes) else {
            return Err(self.unsupported("windows that are larger than the tensor with its padding"));
        };
        if out.contains(&0) || window.sizes.contains(&0) {
            // Nothing is read.
            return Ok(());
        }
        let w = Windows { window, sizes, out, inputs, inits, body };
        let outer = std::mem::take(&mut self.out);
        let results = match self.cumulative_axis(&w)? {
            Some(axis) => self.scan(&w, axis)?,
            None => self.walk(&w)?,
        };
        let mut targets = Vec::new();
        for result in results {
            let field = self.without_axes(result, &dropped)?;
            targets.push(self.smooth_stored("window", field));
        }
        let statements = std::mem::replace(&mut self.out, outer);
        for (&target, cotangent) in targets.iter().zip(cotangents) {
            if let Some(c) = cotangent {
                self.contribute(target, *c);
            }
        }
        let statements = self.replayed(Block { statements, results: targets })?;
        self.out.extend(statements);
        Ok(())
    }

    /// The windows position by position. Gives the accumulators.
    fn walk(&mut self, w: &Windows<'_>) -> Result<Vec<Var>> {
        let rank = w.sizes.len();
        let mut padded = Vec::new();
        for (&input, &init) in w.inputs.iter().zip(w.inits) {
            padded.push(self.padded(w, input, init)?);
        }
        let space = Space::of(&w.out);
        let steps: u64 = w.window.sizes.iter().product();
        let limit = self.i32("steps", steps.into());
        let mut inits = vec![self.i32("t", 0)];
        for &init in w.inits {
            inits.push(self.broadcast_init(init, &space)?);
        }
        let results = self.while_less(limit, &inits, |s, params| {
            let (at, accumulators) = (params[0], &params[1..]);
            let mut starts = Vec::new();
            let mut inside: u64 = steps;
            for axis in 0..rank {
                inside /= w.window.sizes[axis];
                let (size, step) = (w.window.sizes[axis], w.window.window_dilations[axis]);
                starts.push(s.arithmetic("start", |s| {
                    let t = s.f.tensor(at);
                    let (inside, size, step) =
                        (s.integer(t, inside.into()), s.integer(t, size.into()), s.integer(t, step.into()));
                    let whole = s.div(t, inside)?;
                    let place = s.binary(BinaryOp::Rem, whole, size)?;
                    s.binary(BinaryOp::Mul, place, step)
                })?);
            }
            let reach: Vec<u64> = (0..rank).map(|a| (w.out[a] - 1) * w.window.strides[a] + 1).collect();
            let mut elements = Vec::new();
            for &from in &padded {
                let args = [from].into_iter().chain(starts.iter().copied()).collect();
                let slice = s.smooth_call("slice", LibOp::DynamicSlice { sizes: reach.clone() }, args)?;
                let strides = (0..rank).map(|a| Affine::strided(rank, a, w.window.strides[a] as i64, 0));
                let map = IndexMap::total(space.clone(), Space::of(&reach), strides.collect());
                let map = s.mapped(map)?;
                let slice = s.f.tensor(slice);
                elements.push(s.read(map, slice)?);
            }
            s.joined(w.body, accumulators, &elements, &space)
        })?;
        Ok(results[1..].to_vec())
    }

    /// The axis along which windows are cumulative: the window is the axis, and it starts in padding that leaves the
    /// initial value what it is.
    fn cumulative_axis(&mut self, w: &Windows<'_>) -> Result<Option<usize>> {
        let wide: Vec<usize> = (0..w.sizes.len()).filter(|&a| w.window.sizes[a] != 1).collect();
        let &[axis] = wide.as_slice() else { return Ok(None) };
        let n = w.sizes[axis];
        let plain = (0..w.sizes.len()).all(|a| {
            let before = if a == axis { n as i64 - 1 } else { 0 };
            w.window.strides[a] == 1
                && w.window.window_dilations[a] == 1
                && w.window.padding[a] == (before, 0)
        });
        let shaped = plain && w.window.sizes[axis] == n;
        Ok((shaped && self.keeps_initial(w)?).then_some(axis))
    }

    /// Does the body join the initial values with themselves to the same?
    fn keeps_initial(&mut self, w: &Windows<'_>) -> Result<bool> {
        let mut constants = Vec::new();
        for &init in w.inits {
            let field = self.f.tensor(init);
            let Some(scalar) = self.const_of(self.origin_of(field)) else { return Ok(false) };
            constants.push(scalar);
        }
        let space = Space::scalar();
        let outer = std::mem::take(&mut self.out);
        let fields: Vec<FieldId> = constants.iter().map(|&c| self.f.fields.constant(&space, c)).collect();
        let stored: Vec<Var> = fields.iter().map(|&f| self.smooth_stored("init", f)).collect();
        let results = self.joined(w.body, &stored, &fields, &space);
        let statements = std::mem::replace(&mut self.out, outer);
        let results = results?;
        let function = crate::tidy::extract(&self.f, usize::MAX, &[], &statements, &results);
        let function = self.typed(function)?;
        let name = function.name.clone();
        let program = Program { name: String::new(), functions: vec![function] };
        let Ok(values) = run_within(&program, &name, &[], Limits { iterations: Some(1 << 16) }) else {
            return Ok(false);
        };
        Ok(values.iter().zip(&constants).all(|(v, c)| v.get(0) == *c))
    }

    /// Cumulative windows along an axis, element by element.
    fn scan(&mut self, w: &Windows<'_>, axis: usize) -> Result<Vec<Var>> {
        let rank = w.sizes.len();
        let n = w.inputs.len();
        let mut slice_sizes = w.sizes.clone();
        slice_sizes[axis] = 1;
        let space = Space::of(&slice_sizes);
        let limit = self.i32("steps", w.sizes[axis].into());
        let zero = self.i32("zero", 0);
        let mut inits = vec![self.i32("t", 0)];
        for &init in w.inits {
            inits.push(self.broadcast_init(init, &space)?);
        }
        for &input in w.inputs {
            let ty = self.f.ty(input).clone();
            let field = self.f.fields.constant(&ty.space, Scalar::zero(ty.dtype));
            inits.push(self.smooth_stored("scan", field));
        }
        let results = self.while_less(limit, &inits, |s, params| {
            let (at, accumulators, lines) = (params[0], &params[1..=n], &params[n + 1..]);
            let place = |first: &[Var]| -> Vec<Var> {
                let starts = (0..rank).map(|a| if a == axis { at } else { zero });
                first.iter().copied().chain(starts).collect()
            };
            let mut elements = Vec::new();
            for &input in w.inputs {
                let op = LibOp::DynamicSlice { sizes: slice_sizes.clone() };
                let slice = s.smooth_call("slice", op, place(&[input]))?;
                elements.push(s.f.tensor(slice));
            }
            let mut next = s.joined(w.body, accumulators, &elements, &space)?;
            for k in 0..n {
                let line = s.smooth_call("scan", LibOp::DynamicUpdateSlice, place(&[lines[k], next[k]]))?;
                next.push(line);
            }
            Ok(next)
        })?;
        Ok(results[n + 1..].to_vec())
    }

    /// Emits the body for all points of a space: the accumulators joined with elements.
    fn joined(
        &mut self,
        body: &Region,
        accumulators: &[Var],
        elements: &[FieldId],
        space: &Space,
    ) -> Result<Vec<Var>> {
        let mut vars: HashMap<Var, FieldId> = HashMap::new();
        let values = accumulators.iter().map(|&v| self.f.tensor(v)).collect::<Vec<_>>();
        vars.extend(body.params.iter().copied().zip(values.into_iter().chain(elements.iter().copied())));
        for statement in &body.body.statements {
            let StatementKind::Store { target, field } = statement.kind else {
                return Err(self.unsupported("a body with a loop, a branch or a library call"));
            };
            let lifted = self.lifted(field, &vars, space)?;
            let name = self.f.name_of(target).to_string();
            let stored = self.smooth_stored(&name, lifted);
            let tensor = self.f.tensor(stored);
            vars.insert(target, tensor);
        }
        let mut results = Vec::new();
        for &result in &body.body.results {
            let field = match vars.get(&result) {
                Some(&field) => field,
                None => self.spread_scalar(result, space)?,
            };
            results.push(self.smooth_stored("joined", field));
        }
        Ok(results)
    }

    /// A scalar field over all points of a space.
    fn lifted(&mut self, root: FieldId, vars: &HashMap<Var, FieldId>, space: &Space) -> Result<FieldId> {
        let mut known: HashMap<FieldId, FieldId> = HashMap::new();
        for id in self.f.fields.reachable(&[root]) {
            let field = self.f.fields[id].clone();
            let new = match field.kind {
                FieldKind::Tensor(var) => match vars.get(&var) {
                    Some(&field) => field,
                    None => self.spread_scalar(var, space)?,
                },
                FieldKind::Const(scalar) => self.f.fields.constant(space, scalar),
                ref kind if kind.is_pointwise() => {
                    let of = |child: FieldId| known.get(&child).copied().unwrap_or(child);
                    let again = self.f.fields.again(&field, of);
                    self.typed(again)?
                }
                _ => return Err(self.unsupported("a body that is not pointwise")),
            };
            known.insert(id, new);
        }
        Ok(known.get(&root).copied().unwrap_or(root))
    }

    /// A scalar from outside at all points of a space.
    fn spread_scalar(&mut self, var: Var, space: &Space) -> Result<FieldId> {
        let field = self.f.tensor(var);
        if let Some(scalar) = self.const_of(self.origin_of(field)) {
            return Ok(self.f.fields.constant(space, scalar));
        }
        self.read(IndexMap::projection(space, &[]), field)
    }

    fn broadcast_init(&mut self, init: Var, space: &Space) -> Result<Var> {
        let field = self.spread_scalar(init, space)?;
        Ok(self.smooth_stored("init", field))
    }

    /// A tensor with its padding, which holds the initial value.
    fn padded(&mut self, w: &Windows<'_>, input: Var, init: Var) -> Result<Var> {
        let rank = w.sizes.len();
        if w.window.padding.iter().all(|&p| p == (0, 0)) {
            return Ok(input);
        }
        let long = |a: usize| {
            let (low, high) = w.window.padding[a];
            u64::try_from(w.sizes[a] as i64 + low + high).unwrap_or(0)
        };
        let space = Space::of(&(0..rank).map(long).collect::<Vec<_>>());
        let own = self.f.ty(input).clone();
        let shifts: Vec<Affine> =
            (0..rank).map(|a| Affine::strided(rank, a, 1, -w.window.padding[a].0)).collect();
        let field = self.f.tensor(init);
        let constant = self.const_of(self.origin_of(field));
        let fill = Fill(constant.unwrap_or(Scalar::zero(own.dtype)).bits());
        let map = IndexMap::partial(space.clone(), own.space.clone(), shifts.clone(), Vec::new(), fill);
        let map = self.mapped(map)?;
        let x = self.f.tensor(input);
        let mut field = self.read(map.clone(), x)?;
        if constant.is_none() {
            let yes = self.f.fields.constant(&own.space, Scalar::from_bits(DType::I1, 1));
            let no = Fill(Scalar::zero(DType::I1).bits());
            let inside = self.f.fields.read(map.with_fill(no), yes);
            let inside = self.typed(inside)?;
            let around = self.spread_scalar(init, &space)?;
            field = self.select(inside, field, around)?;
        }
        Ok(self.smooth_stored("padded", field))
    }

    /// A tensor without axes of one element.
    fn without_axes(&mut self, var: Var, axes: &[usize]) -> Result<FieldId> {
        let field = self.f.tensor(var);
        if axes.is_empty() {
            return Ok(field);
        }
        let space = self.space(field);
        let kept: Vec<usize> = (0..space.rank()).filter(|a| !axes.contains(a)).collect();
        let small = space.select(&kept);
        let rank = kept.len();
        let place = |a: usize| match kept.iter().position(|&k| k == a) {
            Some(i) => Affine::axis(rank, i),
            None => Affine::fixed(rank, 0),
        };
        let map = IndexMap::total(small, space.clone(), (0..space.rank()).map(place).collect());
        let map = self.mapped(map)?;
        self.read(map, field)
    }

    /// Stores a field in a new variable through which a derivative may flow.
    fn smooth_stored(&mut self, name: &str, field: FieldId) -> Var {
        let ty = TensorType::new(self.dtype(field), self.space(field));
        let target = self.smooth_var(name, ty);
        self.emit(StatementKind::Store { target, field });
        target
    }

    fn smooth_var(&mut self, name: &str, ty: TensorType) -> Var {
        let smooth = ty.dtype.is_float() || ty.dtype.is_complex();
        let var = self.f.var(name, ty);
        self.activity.set(var, Dependence { smooth, bits: false });
        var
    }

    /// A library call with one result, through which a derivative may flow.
    fn smooth_call(&mut self, name: &str, op: LibOp, args: Vec<Var>) -> Result<Var> {
        let result = self.call_one(name, op, args, Vec::new())?;
        self.activity.set(result, Dependence { smooth: true, bits: false });
        Ok(result)
    }
}

/// How many windows there are along every axis.
fn windows_along(window: &Window, sizes: &[u64]) -> Option<Vec<u64>> {
    let along = |a: usize| {
        let (low, high) = window.padding[a];
        let long = i128::from(sizes[a]) + i128::from(low) + i128::from(high);
        let reach = i128::from(window.sizes[a]).checked_sub(1)? * i128::from(window.window_dilations[a]) + 1;
        if long < reach {
            return Some(0);
        }
        u64::try_from((long - reach) / i128::from(window.strides[a].max(1)) + 1).ok()
    };
    (0..sizes.len()).map(along).collect()
}
