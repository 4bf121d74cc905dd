//! Rules of CHLO: operations that broadcast their operands, and those that StableHLO lacks.

use super::infer::{Want, all_like};
use super::shape::{Ext, extents, tensor};
use super::{Checked, Result};
use crate::access::numbers_in;
use crate::attr::Attribute;
use crate::diagnostic::codes;
use crate::table::Elements;
use crate::types::{ElementType, TensorType, Type, TypeList};

impl<'a> Checked<'a> {
    /// The shape of two operands broadcast to each other: the dimensions of the smaller one stand where
    /// `broadcast_dimensions` says, or last.
    fn broadcast_shape(&self, a: &TensorType, b: &TensorType) -> Result<Vec<Ext>> {
        let (large, small) = if a.rank() >= b.rank() { (a, b) } else { (b, a) };
        let offset = large.rank() - small.rank();
        let last: Vec<i64> = (offset..large.rank()).map(|i| i as i64).collect();
        let dims = match self.op.attributes.get("broadcast_dimensions") {
            Some(_) => self.op.ints("broadcast_dimensions")?.to_vec(),
            None => last,
        };
        self.length(
            0,
            "broadcast_dimensions",
            dims.len(),
            small.rank(),
            "dimensions of the smaller operand",
        )?;
        self.dims(0, "broadcast_dimensions", &dims, large.rank())?;
        if dims.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(self.attr_error(format!("'broadcast_dimensions' = {dims:?} is not sorted")));
        }
        let mut shape = extents(large);
        for (ext, dim) in extents(small).into_iter().zip(dims) {
            let at = &mut shape[dim as usize];
            *at = match (at.size, ext.size) {
                (Some(1), _) => ext,
                (_, Some(1)) => *at,
                // A size other than 1 is that of the result, whatever an unknown one is.
                (Some(_), None) => *at,
                (None, Some(_)) => ext,
                (Some(x), Some(y)) if x != y => {
                    return Err(self
                        .type_error(format!("{a} and {b} are broadcast to each other"))
                        .expected("equal sizes, or sizes of 1"));
                }
                (Some(_), Some(_)) => *at,
                (None, None) => Ext::ANY,
            };
        }
        Ok(shape)
    }

    pub(super) fn chlo_broadcast(&self, elements: Elements) -> Result<Vec<Want>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.element_class("operand 0", a, elements)?;
        self.same_baseline(0, "operand 1", b, &a.element)?;
        Ok(vec![Want::baseline(self.broadcast_shape(a, b)?, &a.element, 0, 0)])
    }

    pub(super) fn chlo_broadcast_compare(&self) -> Result<Vec<Want>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.same_baseline(0, "operand 1", b, &a.element)?;
        self.comparison_type(a, 0)?;
        Ok(vec![Want::tensor(self.broadcast_shape(a, b)?, &ElementType::I1, 0, 0)])
    }

    pub(super) fn chlo_broadcast_complex(&self) -> Result<Vec<Want>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.same_element(0, "operand 1", b, &a.element)?;
        match a.element.complex_of() {
            Some(element) => Ok(vec![Want::tensor(self.broadcast_shape(a, b)?, &element, 0, 0)]),
            None => {
                Err(self.type_error(format!("operand 0 has type {a}")).expected("element type f32 or f64"))
            }
        }
    }

    pub(super) fn chlo_broadcast_select(&self) -> Result<Vec<Want>> {
        let (predicate, a, b) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        self.same_element(0, "the predicate", predicate, &ElementType::I1)?;
        self.same_baseline(0, "operand 2", b, &a.element)?;
        let branches = super::shape::tensor(&self.broadcast_shape(a, b)?, a.element.clone());
        let shape = self.broadcast_shape(predicate, &branches)?;
        Ok(vec![Want::baseline(shape, &a.element, 0, 0)])
    }

    pub(super) fn constant_like(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let element = match self.op.attribute("value")? {
            Attribute::Int { ty, .. } | Attribute::Float { ty, .. } => ty.clone(),
            Attribute::Bool(_) => ElementType::I1,
            Attribute::Dense(value) => value.ty.element.clone(),
            other => {
                return Err(self
                    .attr_error(format!("'value' is {}", other.describe()))
                    .expected("a number with a type"));
            }
        };
        Ok(vec![Want::tensor(extents(operand), &element, 0, 0)])
    }

    /// `ragged_dot`: a product in groups along one dimension of the left operand.
    pub(super) fn ragged_dot(&self) -> Result<Vec<Want>> {
        let (lhs, rhs, sizes) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        self.integer("the group sizes", sizes)?;
        if sizes.element == ElementType::Index {
            return Err(self
                .type_error(format!("the group sizes have type {sizes}"))
                .expected("a type of StableHLO"));
        }
        let text = match self.op.attribute("ragged_dot_dimension_numbers")? {
            Attribute::Opaque(text) if text.starts_with("#chlo.ragged_dot<") => text,
            other => {
                return Err(self
                    .attr_error(format!("'ragged_dot_dimension_numbers' is {}", other.describe()))
                    .expected("#chlo.ragged_dot<…>"));
            }
        };
        let list = |name: &str| numbers_in(text, name);
        let (batch_l, batch_r) = (list("lhs_batching_dimensions"), list("rhs_batching_dimensions"));
        let (contract_l, contract_r) =
            (list("lhs_contracting_dimensions"), list("rhs_contracting_dimensions"));
        let (ragged, group) = (list("lhs_ragged_dimensions"), list("rhs_group_dimensions"));
        for (name, a, b) in [("batching", &batch_l, &batch_r), ("contracting", &contract_l, &contract_r)] {
            if a.len() != b.len() {
                return Err(self.attr_error(format!("the {name} dimensions {a:?} x {b:?} are not pairs")));
            }
        }
        let left = [batch_l.as_slice(), &contract_l].concat();
        let right = [batch_r.as_slice(), &contract_r, &group].concat();
        self.unique(0, "dimensions of the left operand", &left)?;
        self.unique(0, "dimensions of the right operand", &right)?;
        self.dims(0, "dimensions of the left operand", &left, lhs.rank())?;
        self.dims(0, "dimensions of the right operand", &right, rhs.rank())?;
        self.dims(0, "lhs_ragged_dimensions", &ragged, lhs.rank())?;
        let [ragged] = ragged.as_slice() else {
            return Err(self
                .attr_error(format!("'lhs_ragged_dimensions' = {ragged:?}"))
                .expected("one dimension"));
        };
        let (a, b) = (extents(lhs), extents(rhs));
        let pairs = left.iter().zip(batch_r.iter().chain(&contract_r));
        for (x, y) in pairs {
            if !a[*x as usize].fits(b[*y as usize]) {
                return Err(self
                    .type_error(format!("dimension {x} of {lhs} meets dimension {y} of {rhs}"))
                    .expected("equal sizes"));
            }
        }
        let (batched, contracted) = (batch_l.contains(ragged), contract_l.contains(ragged));
        let wanted = usize::from(!batched && !contracted);
        if group.len() != wanted {
            return Err(self
                .attr_error(format!("'rhs_group_dimensions' = {group:?} with the ragged dimension {ragged}"))
                .expected(if wanted == 1 { "one dimension" } else { "no dimension" }));
        }
        let groups = extents(sizes).last().copied();
        let Some(groups) = groups else {
            return Err(self
                .type_error(format!("the group sizes have type {sizes}"))
                .expected("at least one dimension"));
        };
        if let [dim] = group.as_slice()
            && !b[*dim as usize].fits(groups)
        {
            return Err(self
                .type_error(format!("dimension {dim} of {rhs} does not have a group for each of {sizes}"))
                .expected("equal sizes"));
        }
        let free = |shape: &[Ext], used: &[i64]| -> Vec<Ext> {
            (0..shape.len()).filter(|i| !used.contains(&(*i as i64))).map(|i| shape[i]).collect()
        };
        let mut shape: Vec<Ext> = if contracted { vec![groups] } else { Vec::new() };
        shape.extend(batch_l.iter().map(|d| a[*d as usize]));
        shape.extend(free(&a, &left));
        shape.extend(free(&b, &right));
        Ok(vec![Want::shape(shape, 0)])
    }

    /// `scan`: the body takes slices of the inputs and the carried values, and gives back slices of the outputs and the
    /// carried values.
    pub(super) fn scan(&self) -> Result<Vec<Want>> {
        let [body] = self.op.regions.as_slice() else { return self.any_results() };
        let (inputs, carried) = self.scan_counts("operandSegmentSizes", self.op.operands.len())?;
        let returned = self.returned(body)?;
        let Some(outputs) = returned.len().checked_sub(carried) else {
            return Err(self
                .region_error(format!("its region returns ({})", TypeList(&returned)))
                .expected(format!("the {carried} carried values")));
        };
        if self.counts_results()
            && self.scan_counts("resultSegmentSizes", self.op.results.len())? != (outputs, carried)
        {
            return Err(self
                .region_error(format!("its region returns ({})", TypeList(&returned)))
                .expected(format!("{} values, {carried} of them carried", self.op.results.len())));
        }
        if inputs + outputs == 0 {
            return Err(self.type_error("it has neither inputs nor outputs"));
        }
        let dimension = self.op.int("dimension")?;
        let mut size = match self.op.attributes.get("scan_dim_size") {
            Some(_) => Ext::known(self.op.int("scan_dim_size")?),
            None => Ext::ANY,
        };
        let mut taken = Vec::new();
        for (i, input) in self.operands(0..inputs)?.into_iter().enumerate() {
            self.dims(0, "dimension", &[dimension], input.rank())?;
            let mut shape = extents(input);
            let found = shape.remove(dimension as usize);
            if !size.fits(found) {
                return Err(self
                    .type_error(format!("operand {i} has type {input}"))
                    .expected(format!("as large in dimension {dimension} as the others")));
            }
            size = size.merge(found);
            taken.push(Type::Tensor(tensor(&shape, input.element.clone()).into()));
        }
        let kept = self.operand_types().split_off(inputs);
        taken.extend(kept.iter().cloned());
        self.params(0, body, &taken)?;
        let mut wants = Vec::new();
        for ty in &returned[..outputs] {
            let Type::Tensor(slice) = ty else { return self.any_results() };
            self.dims(0, "dimension", &[dimension], slice.rank() + 1)?;
            let mut shape = extents(slice);
            shape.insert(dimension as usize, size);
            wants.push(Want::tensor(shape, &slice.element, 0, 0));
        }
        if !all_like(&returned[outputs..], &kept) {
            return Err(self
                .region_error(format!("its region returns ({})", TypeList(&returned)))
                .expected(format!("({}) as its last values", TypeList(&kept))));
        }
        wants.extend(kept.into_iter().map(|ty| Want::Like(ty, 0)));
        Ok(wants)
    }

    /// How many of `all` operands or results are scanned, and how many carried.
    fn scan_counts(&self, name: &str, all: usize) -> Result<(usize, usize)> {
        match self.op.segments(name) {
            Some((scanned, carried)) if scanned.checked_add(carried) == Some(all) => Ok((scanned, carried)),
            _ => Err(self
                .error(codes::ATTRIBUTE, format!("'{}' counts no {all} values", self.op.name))
                .expected(format!("'{name} = array<i32: scanned, carried>'"))),
        }
    }
}
