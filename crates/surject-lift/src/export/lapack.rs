//! Routines of LAPACK as the custom calls that XLA has on a CPU.

use super::state::Result;
use super::writer::Writer;
use std::collections::HashSet;
use surject_ir::{AccOp, Block, DType, Fields, Routine, Scalar, Var, uses};
use surject_stablehlo::lapack::{self, Part};
use surject_stablehlo::{Attribute, DenseElements, ElementType, TensorType, Type, ValueId};

/// The order of the axes from the fastest on, column by column where there are matrices.
fn layout(rank: usize, matrices: bool) -> Option<Attribute> {
    let mut order: Vec<i64> = (0..rank as i64).rev().collect();
    if matrices && rank >= 2 {
        order.swap(0, 1);
    }
    let ty = TensorType::new(&[rank as i64], ElementType::Index);
    let bytes: Vec<u8> = order.iter().flat_map(|n| n.to_le_bytes()).collect();
    DenseElements::raw(ty, bytes).map(Attribute::Dense)
}

impl Writer<'_, '_> {
    /// The results of a routine for these operands.
    pub(super) fn lapack(
        &mut self,
        routine: Routine,
        targets: &[Var],
        mut operands: Vec<ValueId>,
    ) -> Result<Vec<ValueId>> {
        let unsupported = |w: &Self, detail: &str| w.st.unsupported("lapack", detail);
        if self.st.symbolic {
            return Err(unsupported(self, "sizes that a call gives"));
        }
        let (first, types) = (self.element(operands[0]), self.var_types(targets)?);
        let rank = self.shape(operands[0]).len() - routine.ranks()[0];
        let batch: Vec<i64> = self.shape(operands[0])[..rank].to_vec();
        let parts = lapack::parts(routine, !first.is_complex());
        let part_of = |ty: &Type| match ty {
            Type::Tensor(ty) => Type::tensor(&ty.static_shape().unwrap_or_default(), ty.element.real_part()),
            other => other.clone(),
        };
        let results: Vec<Type> = parts
            .iter()
            .map(|part| match *part {
                Part::Operand(i) => self.b.ty(operands[i]).clone(),
                Part::Result(k) | Part::LessOne(k) => types[k].clone(),
                Part::Real(k) | Part::Imaginary(k) => part_of(&types[k]),
                Part::Zeros => Type::tensor(&batch, ElementType::I32),
            })
            .collect();
        let own = |ty: &Type| match ty {
            Type::Tensor(ty) => (ty.shape.len(), ty.shape.len() == rank + 2),
            _ => (0, false),
        };
        let mut given: Vec<(usize, bool)> = operands.iter().map(|&v| own(self.b.ty(v))).collect();
        if routine == Routine::PivotedQr {
            // No column has to stay in front.
            let columns = self.shape(operands[0]).last().copied().unwrap_or(0);
            let shape = [batch.as_slice(), &[columns]].concat();
            operands.push(self.splat(&shape, Scalar::zero(DType::I32))?);
            given.push((rank + 1, false));
        }
        let layouts = |all: &[(usize, bool)]| {
            all.iter().map(|&(rank, matrices)| layout(rank, matrices)).collect::<Option<Vec<_>>>()
        };
        let produced: Vec<(usize, bool)> = results.iter().map(own).collect();
        let (Some(target), Some(given), Some(produced)) =
            (lapack::target(routine, &first), layouts(&given), layouts(&produced))
        else {
            return Err(unsupported(self, "matrices of this type"));
        };
        let n = self.shape(operands[0]).last().copied().unwrap_or(0);
        let built = self
            .op("stablehlo.custom_call")
            .operands(operands)
            .attr("call_target_name", Attribute::String(target))
            .attr("backend_config", Attribute::String(String::new()))
            .attr("mhlo.backend_config", Attribute::Dict(lapack::flags(routine, n)))
            .attr("operand_layouts", Attribute::Array(given))
            .attr("result_layouts", Attribute::Array(produced))
            .results(results)
            .build();
        let found = self.done(built)?;
        let at = |part: Part| parts.iter().position(|p| *p == part).map(|i| found[i]);
        let mut values = Vec::new();
        for (k, ty) in types.iter().enumerate() {
            values.push(match (at(Part::Result(k)), at(Part::Real(k)), at(Part::Imaginary(k))) {
                (Some(value), ..) => value,
                (_, Some(re), Some(im)) => self.typed("stablehlo.complex", &[re, im], ty.clone())?,
                // The permutation, which the routine does not have.
                _ if !self.is_used(targets[k]) => self.splat(&shape_of(ty), Scalar::zero(DType::I32))?,
                _ => self.permutation(found[1], ty)?,
            });
        }
        Ok(values)
    }

    /// Does a statement or a result use the variable?
    fn is_used(&self, var: Var) -> bool {
        let mut used = HashSet::new();
        add_uses(&self.st.function.fields, &self.st.function.body, &mut used);
        used.contains(&var)
    }

    /// Which row stands in each place once rows are exchanged in turn with those that `pivots` says, which count from 1.
    fn permutation(&mut self, pivots: ValueId, ty: &Type) -> Result<ValueId> {
        let (shape, steps) = (shape_of(ty), self.shape(pivots).last().copied().unwrap_or(0));
        let rank = shape.len();
        let number = |n: i64| Scalar::from_i128(DType::I32, n.into());
        let start = [self.splat(&[], number(0))?, self.iota(&shape, ElementType::I32, rank - 1)?];
        let types = vec![Type::tensor(&[], ElementType::I32), ty.clone()];
        let cond = self.region(&types, |w, args| {
            let end = w.splat(&[], number(steps))?;
            Ok(vec![w.compare("LT", DType::I32, args[0], end)?])
        })?;
        let batch: Vec<usize> = (0..rank - 1).collect();
        let body = self.region(&types, |w, args| {
            let (step, rows) = (args[0], args[1]);
            let zero = w.splat(&[], number(0))?;
            let mut starts = vec![zero; rank - 1];
            starts.push(step);
            // Of each matrix the element in place `step`, in every place.
            let one = |w: &mut Writer<'_, '_>, of: ValueId| -> Result<ValueId> {
                let mut sizes = shape.clone();
                sizes[rank - 1] = 1;
                let mut operands = vec![of];
                operands.extend(&starts);
                let built = w
                    .op("stablehlo.dynamic_slice")
                    .operands(operands)
                    .ints("slice_sizes", sizes.clone())
                    .result(Type::tensor(&sizes, ElementType::I32))
                    .value();
                let value = w.done(built)?;
                let value = w.reshape(value, &shape[..rank - 1])?;
                w.broadcast(value, &batch, &shape)
            };
            let (pivot, here) = (one(w, pivots)?, one(w, rows)?);
            let ones = w.splat(&shape, number(1))?;
            let pivot = w.same("stablehlo.subtract", &[pivot, ones])?;
            let place = w.iota(&shape, ElementType::I32, rank - 1)?;
            let at = w.broadcast(step, &[], &shape)?;
            let (there, at) =
                (w.compare("EQ", DType::I32, place, pivot)?, w.compare("EQ", DType::I32, place, at)?);
            let zeros = w.splat(&shape, number(0))?;
            let ty = w.like(rows, &shape);
            let other = w.typed("stablehlo.select", &[there, rows, zeros], ty.clone())?;
            let joining = w.joining_region(AccOp::Add, DType::I32)?;
            let built = w
                .op("stablehlo.reduce")
                .operands([other, zero])
                .ints("dimensions", vec![rank as i64 - 1])
                .region(joining)
                .result(Type::tensor(&shape[..rank - 1], ElementType::I32))
                .value();
            let other = w.done(built)?;
            let other = w.broadcast(other, &batch, &shape)?;
            let rows = w.typed("stablehlo.select", &[at, other, rows], ty.clone())?;
            let rows = w.typed("stablehlo.select", &[there, here, rows], ty)?;
            let one = w.splat(&[], number(1))?;
            Ok(vec![w.same("stablehlo.add", &[step, one])?, rows])
        })?;
        let built =
            self.op("stablehlo.while").operands(start).region(cond).region(body).results(types).build();
        Ok(self.done(built)?[1])
    }
}

fn shape_of(ty: &Type) -> Vec<i64> {
    match ty {
        Type::Tensor(ty) => ty.static_shape().unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The variables that the statements of a block use, those of its regions included.
fn add_uses(fields: &Fields, block: &Block, used: &mut HashSet<Var>) {
    used.extend(&block.results);
    for statement in &block.statements {
        uses::statement(fields, statement, used);
        statement.regions().iter().for_each(|region| add_uses(fields, &region.body, used));
    }
}
