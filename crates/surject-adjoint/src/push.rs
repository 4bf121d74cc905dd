//! The adjoint law for reads: the cotangent of what is read through `M` is `acc + M` of the cotangent.

use crate::sizes::Component;
use crate::solve;
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Fill, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, LibOp, Scalar, ScatterDims};

impl Sweep {
    /// `acc + M g` over the codomain of `M`, where `M` may be partial: what stands outside the guards is dropped.
    ///
    /// The forms, in this order: a read through the inverse, where there is one (the collapse law); an accumulation
    /// along a projection; one over the solutions of `M(p) = d` where these are few (then it can be computed wherever
    /// it is read), perhaps with the cotangent spread; and a push, into a larger space where `M` is partial, which is stored.
    pub(crate) fn push(&mut self, map: &IndexMap, g: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(g);
        if map.domain().is_empty() {
            return Ok(self.f.fields.constant(map.codomain(), Scalar::zero(dtype)));
        }
        if let Some(inverse) = map.inverse(self.nothing(dtype)) {
            return self.read(inverse, g);
        }
        if map.is_total() && map.is_projection().is_some() {
            return self.sum_along(map.clone(), g);
        }
        if let Some((to_domain, to_codomain)) = solve::solutions(map, self.nothing(dtype)) {
            let solved = self.read_solved(to_domain, g)?;
            return self.sum_along(to_codomain, solved);
        }
        if let Some((dense, product)) = self.spread(map, g)? {
            return self.push(&dense, product);
        }
        self.push_padded(map, g)
    }

    /// `read M g` for the partial map of a pull form, to be summed. Of a product of a cotangent and a factor that is
    /// defined on the whole box only the cotangent is guarded: outside it is zero, as what a convolution reads outside
    /// its operand is. A sum of products along affine maps is a contraction, one of guarded products is not.
    fn read_solved(&mut self, map: IndexMap, g: FieldId) -> Result<FieldId> {
        if let FieldKind::Binary { op: BinaryOp::Mul, x, y } = self.f.fields[g].kind
            && let FieldKind::Read { map: inner, of } = self.f.fields[y].kind.clone()
            && let Some(whole) = without_guards(&map, &inner)
        {
            let zero = Fill(Scalar::zero(self.dtype(x)).bits());
            let cotangent = self.read(map.with_fill(zero), x)?;
            let factor = self.read(whole, of)?;
            return self.mul(cotangent, factor);
        }
        self.read(map, g)
    }

    /// `acc + M g` for a total map. 16-bit floats are summed in `f32` and rounded once. A sum along anything but a
    /// projection is stored: it cannot be computed where it is read.
    pub(crate) fn sum_along(&mut self, map: IndexMap, g: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(g);
        let wide = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
        let projection = map.is_projection().is_some();
        let g = self.convert(wide, g);
        let mut sum = self.acc(AccOp::Add, map, g)?;
        if !projection {
            sum = self.stored_field(&self.part_name(), sum);
        }
        Ok(self.convert(dtype, sum))
    }

    /// Pushes into a space that has room for every component, and cuts out the codomain. What a guard drops that the
    /// components do not drop by themselves is replaced by nothing first.
    fn push_padded(&mut self, map: &IndexMap, g: FieldId) -> Result<FieldId> {
        if map.is_total() {
            return self.sum_along(map.clone(), g);
        }
        let (domain, codomain) = (map.domain(), map.codomain());
        let nothing = self.nothing(self.dtype(g));
        let bare =
            IndexMap::partial(domain.clone(), codomain.clone(), map.components().to_vec(), vec![], nothing);
        let bare = self.mapped(bare)?;
        let g = if bare.guards() == map.guards() {
            g
        } else {
            let identity: Vec<Affine> = (0..domain.rank()).map(|a| Affine::axis(domain.rank(), a)).collect();
            let guards = map.guards().to_vec();
            let guarded = IndexMap::partial(domain.clone(), domain.clone(), identity, guards, nothing);
            let guarded = self.mapped(guarded)?;
            self.read(guarded, g)?
        };
        // Every axis from the smallest to the largest position that its component or the codomain has.
        let (mut sizes, mut shifts) = (Vec::new(), Vec::new());
        for (component, extent) in map.components().iter().zip(codomain.extents()) {
            let (Some((low, high)), Some(n)) = (component.range(domain), extent.as_const()) else {
                return self.push_scattered(map, g);
            };
            let low = low.min(0);
            let high = i128::from(high).max(i128::from(n) - 1);
            sizes.push(u64::try_from(high - i128::from(low) + 1).unwrap_or(0));
            shifts.push(-low);
        }
        let padded = Space::of(&sizes);
        let shifted = map.components().iter().zip(&shifts).map(|(component, &shift)| {
            let mut component = component.clone();
            component.offset += shift;
            component
        });
        let into = self.mapped(IndexMap::total(domain.clone(), padded.clone(), shifted.collect()))?;
        let sum = self.sum_along(into, g)?;
        let sum = self.stored_field(&self.part_name(), sum);
        let rank = codomain.rank();
        let cut = (0..rank).map(|a| Affine::strided(rank, a, 1, shifts[a])).collect();
        let cut = self.mapped(IndexMap::total(codomain.clone(), padded, cut))?;
        self.read(cut, sum)
    }

    /// Adds every element where it belongs, at positions that are data: for boxes whose sizes are those of a run.
    fn push_scattered(&mut self, map: &IndexMap, g: FieldId) -> Result<FieldId> {
        let (domain, codomain, dtype) = (map.domain().clone(), map.codomain().clone(), self.dtype(g));
        let rank = codomain.rank();
        let around = domain.product(&Space::of(&[rank as u64]));
        let outside = self.integer_over(&around, -1);
        let which = self.f.fields.index(&around, domain.rank(), DType::I32);
        let which = self.typed(which)?;
        let mut positions = outside;
        for (axis, component) in map.components().iter().enumerate() {
            let position = self.affine(component, &around)?;
            let here = self.integer(which, axis as i128);
            let here = self.binary(BinaryOp::Eq, which, here)?;
            positions = self.select(here, position, positions)?;
        }
        // Where a guard fails, the position is outside and the element is dropped.
        for guard in map.guards() {
            let value = self.affine(&guard.expr, &around)?;
            let (zero, bound) = (self.integer_over(&around, 0), Component::from(guard.bound.clone()));
            let bound = self.components(value, domain.rank(), &[bound])?;
            let above = self.binary(BinaryOp::Ge, value, zero)?;
            let below = self.binary(BinaryOp::Lt, value, bound)?;
            let inside = self.binary(BinaryOp::And, above, below)?;
            positions = self.select(inside, positions, outside)?;
        }
        let name = self.part_name();
        let wide = if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype };
        let g = self.convert(wide, g);
        let args = vec![
            self.splat(&name, &codomain, Scalar::zero(wide)),
            self.stored("positions", positions),
            self.stored(&name, g),
        ];
        let dims = ScatterDims {
            inserted_window_dims: (0..rank).collect(),
            scatter_dims_to_operand_dims: (0..rank).collect(),
            index_vector_dim: domain.rank(),
            ..ScatterDims::default()
        };
        let op = LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false };
        let join = self.join(wide, Some(BinaryOp::Add))?;
        let sum = self.call_one(&name, op, args, vec![join])?;
        let sum = self.f.tensor(sum);
        Ok(self.convert(dtype, sum))
    }

    fn integer_over(&mut self, space: &Space, value: i128) -> FieldId {
        self.f.fields.constant(space, Scalar::from_i128(DType::I64, value))
    }

    /// The value of an affine form of the first axes of a space.
    fn affine(&mut self, form: &Affine, space: &Space) -> Result<FieldId> {
        let mut sum = self.integer_over(space, form.offset.into());
        for (axis, &coefficient) in form.coeffs.iter().enumerate().filter(|(_, c)| **c != 0) {
            let index = self.f.fields.index(space, axis, DType::I64);
            let index = self.typed(index)?;
            let coefficient = self.integer(index, coefficient.into());
            let term = self.binary(BinaryOp::Mul, index, coefficient)?;
            sum = self.add(sum, term)?;
        }
        Ok(sum)
    }
}

/// The composite of a partial map and a total one, where it is defined on the whole domain all the same.
fn without_guards(map: &IndexMap, next: &IndexMap) -> Option<IndexMap> {
    if !next.is_total() {
        return None;
    }
    let rank = map.domain().rank();
    let pull = |e: &Affine| e.substitute(map.components(), rank);
    let components = next.components().iter().map(pull).collect::<Option<Vec<_>>>()?;
    IndexMap::total(map.domain().clone(), next.codomain().clone(), components).ok()
}
