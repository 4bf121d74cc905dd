//! Random library operations, scans, convolutions, concatenations and pads.

use super::Generator;
use crate::{
    AccOp, BinaryOp, DType, FieldId, FieldKind, GatherDims, LibOp, Scalar, ScatterDims, StatementKind,
    TensorType, Var, Window,
};
use surject_index::{Affine, Extent, Fill, IndexMap, Space};

impl Generator<'_> {
    pub(super) fn library_statement(&mut self) {
        match self.rng.below(11) {
            0 => self.gather(),
            1 => self.scatter(),
            2 => self.update_slice(),
            3 => self.select_and_scatter(),
            4 => self.sort_with(),
            5 => self.reduce_with_index(),
            6 | 7 => self.scan(),
            8 => self.convolution(),
            9 => self.concatenation(),
            _ => self.interior_pad(),
        }
    }

    /// Does the value come without any rounding, so that comparing it gives the same everywhere?
    fn is_exact(&self, field: FieldId) -> bool {
        let field = &self.f.fields[field];
        let param = matches!(field.kind, FieldKind::Tensor(var) if self.f.params.contains(&var));
        param || field.dtype.is_int() || field.dtype.is_bool()
    }

    /// A field whose comparisons are the same everywhere, if one is found soon.
    fn some_exact(&mut self) -> Option<FieldId> {
        let found: Vec<FieldId> = (0..4).map(|_| self.some()).collect();
        found.into_iter().find(|&f| self.is_exact(f))
    }

    fn call(&mut self, op: LibOp, args: Vec<Var>, regions: Vec<crate::Region>, bound: f64) {
        let types = self.f.types(&args);
        let region_types: Vec<_> = regions.iter().map(|r| self.f.region_type(r)).collect();
        let Ok(results) = op.infer(&types, &region_types) else { return };
        if results.iter().any(|t| t.space.points().is_none_or(|n| n > 2 * self.max_points())) {
            return;
        }
        let targets = self.targets(&results);
        self.push(StatementKind::Call { targets: targets.clone(), op, args, regions });
        for target in targets {
            let field = self.f.tensor(target);
            self.bounds.insert(field, bound);
        }
    }

    fn sizes(space: &Space) -> Vec<u64> {
        space.extents().iter().map(|e| e.as_const().unwrap_or(0)).collect()
    }

    /// Positions of slices of a tensor: their space, which axes they index, and the slice sizes.
    fn positions(&mut self, sizes: &[u64]) -> (Vec<u64>, Vec<usize>, Vec<u64>) {
        let indexed: Vec<usize> = (0..sizes.len()).filter(|_| self.rng.chance(1, 2)).collect();
        let slice = sizes
            .iter()
            .enumerate()
            .map(|(a, &n)| if indexed.contains(&a) { n.min(1 + self.rng.below(2) as u64) } else { n })
            .collect();
        let batch = (0..self.rng.below(3)).map(|_| self.size()).collect();
        (batch, indexed, slice)
    }

    fn gather(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let sizes = Self::sizes(&space);
        let (mut batch, indexed, slice) = self.positions(&sizes);
        let collapsed: Vec<usize> =
            indexed.iter().copied().filter(|&a| slice[a] == 1 && self.rng.chance(2, 3)).collect();
        let rank = batch.len() + sizes.len() - collapsed.len();
        let mut offset = self.rng.order(rank);
        offset.truncate(sizes.len() - collapsed.len());
        offset.sort_unstable();
        let vector = self.rng.below(batch.len() + 1);
        batch.insert(vector, indexed.len() as u64);
        let indices = self.stored(&TensorType::new(DType::I32, Space::of(&batch)));
        let dims = GatherDims {
            offset_dims: offset,
            collapsed_slice_dims: collapsed,
            start_index_map: indexed,
            index_vector_dim: vector,
            ..GatherDims::default()
        };
        let op = LibOp::Gather { dims, slice_sizes: slice, indices_are_sorted: false };
        let (args, bound) = (vec![self.store(of), indices], self.bound(of));
        let _ = dtype;
        self.call(op, args, vec![], bound);
    }

    fn scatter(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let sizes = Self::sizes(&space);
        let (mut batch, indexed, slice) = self.positions(&sizes);
        let inserted: Vec<usize> =
            indexed.iter().copied().filter(|&a| slice[a] == 1 && self.rng.chance(2, 3)).collect();
        let window: Vec<u64> = (0..sizes.len()).filter(|a| !inserted.contains(a)).map(|a| slice[a]).collect();
        let rank = batch.len() + window.len();
        let mut axes = self.rng.order(rank);
        axes.truncate(window.len());
        axes.sort_unstable();
        let (mut windows, mut batches) = (window.iter(), batch.iter());
        let updates: Vec<u64> = (0..rank)
            .filter_map(|a| if axes.contains(&a) { windows.next() } else { batches.next() })
            .copied()
            .collect();
        let points: u64 = updates.iter().product();
        if points > self.max_points() {
            return;
        }
        let update = self.stored(&TensorType::new(dtype, Space::of(&updates)));
        let vector = self.rng.below(batch.len() + 1);
        batch.insert(vector, indexed.len() as u64);
        let indices = self.stored(&TensorType::new(DType::I32, Space::of(&batch)));
        let ops: &[Option<BinaryOp>] = &[Some(BinaryOp::Add), Some(BinaryOp::Max), Some(BinaryOp::Min), None];
        let op = *self.rng.pick(ops);
        if dtype.is_complex() && matches!(op, Some(BinaryOp::Max | BinaryOp::Min)) {
            return;
        }
        let scalars = [TensorType::scalar(dtype), TensorType::scalar(dtype)];
        let join = self.region(&scalars, |g, p| match op {
            Some(op) => g.f.fields.binary(op, p[0], p[1]).map(|f| vec![g.store(f)]).unwrap_or_default(),
            None => vec![g.store(p[1])],
        });
        let dims = ScatterDims {
            update_window_dims: axes,
            inserted_window_dims: inserted,
            scatter_dims_to_operand_dims: indexed,
            index_vector_dim: vector,
            ..ScatterDims::default()
        };
        let bound = self.bound(of) + 4.0 * points as f64;
        let args = vec![self.store(of), indices, update];
        let op = LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false };
        self.call(op, args, vec![join], bound);
    }

    fn update_slice(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let update: Vec<u64> =
            Self::sizes(&space).iter().map(|&n| self.rng.below(n as usize + 1) as u64).collect();
        let update = self.stored(&TensorType::new(dtype, Space::of(&update)));
        let mut args = vec![self.store(of), update];
        for _ in 0..space.rank() {
            args.push(self.stored(&TensorType::scalar(DType::I32)));
        }
        let bound = self.bound(of).max(100.0);
        self.call(LibOp::DynamicUpdateSlice, args, vec![], bound);
    }

    fn select_and_scatter(&mut self) {
        let Some(of) = self.some_exact() else { return };
        let (dtype, space) = self.type_of(of);
        if dtype.is_complex() || dtype.is_bool() {
            return;
        }
        let rank = space.rank();
        let mut entries = |n: usize| (0..rank).map(|_| 1 + self.rng.below(n) as u64).collect::<Vec<_>>();
        let (sizes, strides) = (entries(3), entries(3));
        let padding = (0..rank).map(|_| (self.rng.below(2) as i64, self.rng.below(2) as i64)).collect();
        let ones = vec![1; rank];
        let window = Window { sizes, strides, base_dilations: ones.clone(), window_dilations: ones, padding };
        // The shape of the source is that of the windows.
        let counts: Option<Vec<u64>> = (0..rank)
            .map(|a| {
                let n = space.extent(a).as_const()? as i64 + window.padding[a].0 + window.padding[a].1;
                let room = n - window.sizes[a] as i64;
                Some(if room < 0 { 0 } else { (room / window.strides[a] as i64 + 1) as u64 })
            })
            .collect();
        let Some(counts) = counts else { return };
        let source = self.stored(&TensorType::new(dtype, Space::of(&counts)));
        let zero = self.f.fields.constant(&Space::scalar(), Scalar::zero(dtype));
        let args = vec![self.store(of), source, self.store(zero)];
        let scalars = [TensorType::scalar(dtype), TensorType::scalar(dtype)];
        let op = *self.rng.pick(&[BinaryOp::Ge, BinaryOp::Gt, BinaryOp::Le]);
        let region = |g: &mut Self, op: BinaryOp| {
            g.region(&scalars, |g, p| {
                g.f.fields.binary(op, p[0], p[1]).map(|f| vec![g.store(f)]).unwrap_or_default()
            })
        };
        let regions = vec![region(self, op), region(self, BinaryOp::Add)];
        self.call(LibOp::SelectAndScatter { window }, args, regions, 1e3);
    }

    /// A sort of keys with what belongs to them.
    fn sort_with(&mut self) {
        let Some(keys) = self.some_exact() else { return };
        let (dtype, space) = self.type_of(keys);
        if space.rank() == 0 || dtype.is_complex() {
            return;
        }
        let axis = self.rng.below(space.rank());
        let other = self.dtype();
        let values = self.stored(&TensorType::new(other, space));
        let args = vec![self.store(keys), values];
        let op = *self.rng.pick(&[BinaryOp::Lt, BinaryOp::Gt]);
        let types = [dtype, dtype, other, other].map(TensorType::scalar);
        let less = self.region(&types, |g, p| {
            g.f.fields.binary(op, p[0], p[1]).map(|f| vec![g.store(f)]).unwrap_or_default()
        });
        self.call(LibOp::Sort { axis, stable: true }, args, vec![less], 100.0);
    }

    /// The largest element and where it is.
    fn reduce_with_index(&mut self) {
        let Some(of) = self.some_exact() else { return };
        let (dtype, space) = self.type_of(of);
        let rank = space.rank();
        if rank == 0 || dtype.is_complex() || dtype.is_bool() {
            return;
        }
        let axis = self.rng.below(rank);
        let Ok(index) = self.f.fields.index(&space, axis, DType::I32) else { return };
        let least = self.f.fields.constant(&Space::scalar(), AccOp::Max.neutral(dtype));
        let zero = self.f.fields.constant(&Space::scalar(), Scalar::zero(DType::I32));
        let args = vec![self.store(of), self.store(index), self.store(least), self.store(zero)];
        let types = [dtype, DType::I32, dtype, DType::I32].map(TensorType::scalar);
        let join = self.region(&types, |g, p| {
            let fields = &mut g.f.fields;
            let kept = fields.binary(BinaryOp::Ge, p[0], p[2]);
            let both = kept.and_then(|k| Ok([fields.select(k, p[0], p[2])?, fields.select(k, p[1], p[3])?]));
            both.map(|both| both.map(|f| g.store(f)).to_vec()).unwrap_or_default()
        });
        let mut axes = vec![axis];
        axes.extend((0..rank).filter(|&a| a != axis && self.rng.chance(1, 3)));
        axes.sort_unstable();
        self.call(LibOp::Reduce { axes }, args, vec![join], 2.0);
    }

    /// A loop over the first axis of a tensor: takes a slice, makes a value of it and of what is carried, and keeps
    /// all of the values.
    fn scan(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let sizes = Self::sizes(&space);
        if sizes.is_empty() || sizes.contains(&0) {
            return;
        }
        let (count, rest) = (sizes[0], Space::of(&sizes[1..]));
        let number = TensorType::scalar(DType::I32);
        let types = [number.clone(), TensorType::new(dtype, rest.clone()), TensorType::new(dtype, space)];
        let of = self.store(of);
        let zeros = self.f.fields.constant(&types[2].space, Scalar::zero(dtype));
        let zero = self.f.fields.constant(&Space::scalar(), Scalar::zero(DType::I32));
        let inits = vec![self.store(zero), self.stored(&types[1]), self.store(zeros)];
        let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Max, BinaryOp::Sub]);
        let backwards = self.rng.chance(1, 3);
        let cond = self.region(&types, |g, p| {
            let limit = g.f.fields.constant(&Space::scalar(), Scalar::from_i128(DType::I32, count.into()));
            g.f.fields.binary(BinaryOp::Lt, p[0], limit).map(|l| vec![g.store(l)]).unwrap_or_default()
        });
        let mut one_slice = sizes;
        one_slice[0] = 1;
        let slice_space = Space::of(&one_slice);
        let body = self.region(&types, |g, p| {
            let number_of = |g: &mut Self, value: i128| {
                g.f.fields.constant(&Space::scalar(), Scalar::from_i128(DType::I32, value))
            };
            let (one, last) = (number_of(g, 1), number_of(g, i128::from(count) - 1));
            let at =
                if backwards { g.f.fields.binary(BinaryOp::Sub, last, p[0]).unwrap_or(p[0]) } else { p[0] };
            let at = g.store(at);
            let zero = number_of(g, 0);
            let zero = g.store(zero);
            let starts = |first: Vec<Var>| -> Vec<Var> {
                let more = std::iter::repeat_n(zero, rest.rank());
                first.into_iter().chain([at]).chain(more).collect()
            };
            let slice = g.targets(&[TensorType::new(dtype, slice_space.clone())]);
            let kind = StatementKind::Call {
                targets: slice.clone(),
                op: LibOp::DynamicSlice { sizes: one_slice.clone() },
                args: starts(vec![of]),
                regions: vec![],
            };
            g.push(kind);
            // Without and with the first axis.
            let drop = (0..=rest.rank()).map(|a| match a {
                0 => Affine::fixed(rest.rank(), 0),
                a => Affine::axis(rest.rank(), a - 1),
            });
            let drop = IndexMap::total(rest.clone(), slice_space.clone(), drop.collect());
            let keep: Vec<usize> = (1..=rest.rank()).collect();
            let keep = IndexMap::projection(&slice_space, &keep);
            let x = g.f.tensor(slice[0]);
            let fields = &mut g.f.fields;
            let read = drop.ok().and_then(|map| fields.read(map, x).ok());
            let next = read.and_then(|x| fields.binary(op, p[1], x).ok()).unwrap_or(p[1]);
            let next = g.store(next);
            let next_field = g.f.tensor(next);
            let update = g.f.fields.read(keep, next_field).map(|f| g.store(f));
            let counter = g.f.fields.binary(BinaryOp::Add, p[0], one).map(|f| g.store(f));
            let kept = g.f.fields[p[2]].kind.clone();
            let (Ok(update), Ok(counter), FieldKind::Tensor(kept)) = (update, counter, kept) else {
                return vec![];
            };
            let all = g.targets(&[TensorType::new(dtype, g.f.fields[p[2]].space.clone())]);
            g.push(StatementKind::Call {
                targets: all.clone(),
                op: LibOp::DynamicUpdateSlice,
                args: starts(vec![kept, update]),
                regions: vec![],
            });
            vec![counter, next, all[0]]
        });
        let defined = |r: &crate::Region, n: usize| r.body.results.len() == n;
        if op.result(dtype, dtype).is_some() && defined(&cond, 1) && defined(&body, 3) {
            let targets = self.targets(&types);
            self.push(StatementKind::While { targets, inits, cond, body });
        }
    }

    /// A convolution along one axis: strides, dilations of both sides, padding.
    fn convolution(&mut self) {
        let x = self.some();
        let (dtype, space) = self.type_of(x);
        let sizes = Self::sizes(&space);
        if sizes.is_empty() || sizes.contains(&0) || dtype.is_bool() {
            return;
        }
        let axis = self.rng.below(sizes.len());
        let (n, k) = (sizes[axis] as i64, 1 + self.rng.below(3) as i64);
        let mut step = |most: usize| 1 + self.rng.below(most) as i64;
        let (stride, dilation, low) = (step(2), step(2), step(3) - 1);
        let reach = dilation * (k - 1) + 1;
        let out = (n + low + step(2) - 1 - reach).max(0) / stride + 1;
        // The product space: the axes of the operand with the outputs in the place of the axis, new channels, and the
        // window.
        let channels = self.size().max(1);
        let mut product = sizes.clone();
        product[axis] = out as u64;
        product.extend([channels, k as u64]);
        let (rank, product) = (product.len(), Space::of(&product));
        if product.points().is_none_or(|n| n > 4 * self.max_points()) {
            return;
        }
        let components = (0..sizes.len()).map(|a| {
            if a == axis {
                let mut form = Affine::strided(rank, a, stride, -low);
                form.coeffs[rank - 1] = dilation;
                form
            } else {
                Affine::axis(rank, a)
            }
        });
        let zero = Fill(Scalar::zero(dtype).bits());
        let map = IndexMap::partial(product.clone(), space, components.collect(), vec![], zero);
        let weights = self.like(dtype, &Space::of(&[k as u64, channels]));
        let fields = &mut self.f.fields;
        let a = map.ok().and_then(|map| fields.read(map, x).ok());
        let b = fields.read(IndexMap::projection(&product, &[rank - 1, rank - 2]), weights).ok();
        let Some(term) = a.zip(b).and_then(|(a, b)| fields.binary(BinaryOp::Mul, a, b).ok()) else { return };
        // Some of the other axes are summed as well.
        let kept: Vec<usize> = (0..rank - 1).filter(|&a| a == axis || self.rng.chance(2, 3)).collect();
        let map = IndexMap::projection(&product, &kept);
        let bound = self.bound(x) * self.bound(weights) * product.points().unwrap_or(1) as f64;
        if let Ok(field) = self.f.fields.acc(AccOp::Add, map, term) {
            self.add(field, bound);
        }
    }

    /// Tensors side by side: the sum (of truths the disjunction) of partial reads.
    fn concatenation(&mut self) {
        let first = self.some();
        let (dtype, space) = self.type_of(first);
        if space.rank() == 0 {
            return;
        }
        let axis = self.rng.below(space.rank());
        let mut parts = vec![first];
        for _ in 0..1 + self.rng.below(2) {
            let mut sizes = Self::sizes(&space);
            sizes[axis] = self.size();
            parts.push(self.like(dtype, &Space::of(&sizes)));
        }
        let extent = |g: &Self, f: FieldId| g.f.fields[f].space.extent(axis).as_const().unwrap_or(0);
        let total: u64 = parts.iter().map(|&p| extent(self, p)).sum();
        let mut extents = space.extents().to_vec();
        extents[axis] = Extent::Const(total);
        let domain = Space::new(extents);
        if domain.points().is_none_or(|n| n > self.max_points()) {
            return;
        }
        let (mut sum, mut offset, mut bound) = (None, 0i64, 2.0f64);
        let fill = Fill(AccOp::Add.neutral(dtype).bits());
        for part in parts {
            let rank = domain.rank();
            let components = (0..rank).map(|a| {
                if a == axis { Affine::strided(rank, a, 1, -offset) } else { Affine::axis(rank, a) }
            });
            let of = self.f.fields[part].space.clone();
            let map = IndexMap::partial(domain.clone(), of, components.collect(), vec![], fill);
            let Some(read) = map.ok().and_then(|m| self.f.fields.read(m, part).ok()) else { return };
            offset += extent(self, part) as i64;
            bound = bound.max(self.bound(part));
            sum = match sum {
                None => Some(read),
                Some(sum) => self.f.fields.binary(BinaryOp::Add, sum, read).ok(),
            };
        }
        if let Some(sum) = sum {
            self.add(sum, bound);
        }
    }

    /// Elements set apart, with another value between them and around, or some of them cut off.
    fn interior_pad(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let rank = space.rank();
        let (mut sizes, mut components) = (Vec::new(), Vec::new());
        for a in 0..rank {
            let n = space.extent(a).as_const().unwrap_or(0) as i64;
            let step = 1 + self.rng.below(3) as i64;
            let (before, after) = (self.rng.below(3) as i64, self.rng.below(3) as i64);
            sizes.push(((n - 1).max(0) * step + 1 + before + after) as u64);
            components.push(Affine::strided(rank, a, step, before));
        }
        let target = Space::of(&sizes);
        if target.points().is_none_or(|n| n > self.max_points()) {
            return;
        }
        let Ok(map) = IndexMap::total(space.clone(), target.clone(), components) else { return };
        let truth = self.f.fields.constant(&space, Scalar::bool(true));
        let value = self.scalar(dtype);
        let around = self.f.fields.constant(&target, value);
        let fields = &mut self.f.fields;
        let spread = fields.acc(AccOp::Add, map.clone(), of);
        let inside = fields.acc(AccOp::Add, map, truth);
        let (Ok(spread), Ok(inside)) = (spread, inside) else { return };
        let Ok(padded) = fields.select(inside, spread, around) else { return };
        let bound = self.bound(of).max(2.0);
        self.add(padded, bound);
        if self.rng.chance(1, 2) {
            // Negative edges.
            let components = (0..rank).map(|a| Affine::strided(rank, a, 1, 1));
            let cut: Vec<u64> = sizes.iter().map(|&n| n.saturating_sub(2)).collect();
            let map = IndexMap::total(Space::of(&cut), target, components.collect());
            if let Some(read) = map.ok().and_then(|m| self.f.fields.read(m, padded).ok()) {
                self.add(read, bound);
            }
        }
    }
}
