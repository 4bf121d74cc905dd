//! Statements: stores, constants, library operations, loops and branches.

use super::emit::{signed, windowed};
use super::state::{Result, Scope};
use super::writer::{Writer, element};
use surject_ir as ir;
use surject_ir::{FftKind, LibOp, Statement, StatementKind, TensorType, Transpose, Var};
use surject_stablehlo::{Attribute, GatherDims, Region, ScatterDims, Type, ValueId};

fn places(list: &[usize]) -> Vec<i64> {
    list.iter().map(|&a| a as i64).collect()
}

fn gather_dims(dims: &ir::GatherDims) -> GatherDims {
    GatherDims {
        offset_dims: places(&dims.offset_dims),
        collapsed_slice_dims: places(&dims.collapsed_slice_dims),
        operand_batching_dims: places(&dims.operand_batching_dims),
        start_indices_batching_dims: places(&dims.start_indices_batching_dims),
        start_index_map: places(&dims.start_index_map),
        index_vector_dim: dims.index_vector_dim as i64,
    }
}

impl Writer<'_, '_> {
    pub(super) fn ty(&self, ty: &TensorType) -> Result<Type> {
        match self.st.symbolic {
            true => Ok(self.sized(ty.dtype, &ty.space)),
            false => Ok(Type::tensor(&self.st.sizes(&ty.space)?, element(ty.dtype))),
        }
    }

    pub(super) fn var_types(&self, vars: &[Var]) -> Result<Vec<Type>> {
        vars.iter().map(|&v| self.ty(self.st.function.ty(v))).collect()
    }

    pub(super) fn define(&mut self, var: Var, value: ValueId) {
        let depth = self.st.scopes.len() - 1;
        self.st.vars.insert(var, (value, depth));
    }

    /// The values of variables that a statement uses or a block yields.
    fn vars(&mut self, vars: &[Var]) -> Result<Vec<ValueId>> {
        vars.iter()
            .map(|&v| {
                let field = self.st.function.tensor(v);
                self.value(field)
            })
            .collect()
    }

    /// The statements of a block; the values it yields.
    pub(super) fn block(&mut self, block: &ir::Block) -> Result<Vec<ValueId>> {
        for statement in &block.statements {
            self.st.at(statement);
            self.statement(statement)?;
        }
        self.vars(&block.results)
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let value = self.value(*field)?;
                self.define(*target, value);
            }
            StatementKind::Constant { target, value } => {
                let value = self.literal(value)?;
                self.define(*target, value);
            }
            StatementKind::Call { targets, op, args, regions } => {
                let values = self.library(targets, op, args, regions)?;
                targets.iter().zip(values).for_each(|(&t, v)| self.define(t, v));
            }
            StatementKind::While { targets, inits, cond, body } => {
                let operands = self.vars(inits)?;
                let types = self.var_types(inits)?;
                let cond = self.scoped(cond, false)?;
                let body = self.scoped(body, false)?;
                let built = self
                    .op("stablehlo.while")
                    .operands(operands)
                    .region(cond)
                    .region(body)
                    .results(types)
                    .build();
                let values = self.done(built)?;
                targets.iter().zip(values).for_each(|(&t, v)| self.define(t, v));
            }
            StatementKind::If { targets, index, branches } => {
                let index = self.vars(&[*index])?;
                let types = self.var_types(targets)?;
                let branches =
                    branches.iter().map(|b| self.scoped(b, false)).collect::<Result<Vec<Region>>>()?;
                let op = self.op("stablehlo.case").operands(index).results(types);
                let built = branches.into_iter().fold(op, |op, b| op.region(b)).build();
                let values = self.done(built)?;
                targets.iter().zip(values).for_each(|(&t, v)| self.define(t, v));
            }
        }
        Ok(())
    }

    /// A region of the program; an isolated one uses no value from outside.
    fn scoped(&mut self, region: &ir::Region, isolated: bool) -> Result<Region> {
        let types = self.var_types(&region.params)?;
        let place = self.st.place.clone();
        self.st.scopes.push(Scope { isolated, ..Scope::default() });
        let made = self.region(&types, |w, args| {
            region.params.iter().zip(args).for_each(|(&p, &a)| w.define(p, a));
            w.block(&region.body)
        });
        self.st.scopes.pop();
        self.st.place = place;
        made
    }

    fn library(
        &mut self,
        targets: &[Var],
        op: &LibOp,
        args: &[Var],
        regions: &[ir::Region],
    ) -> Result<Vec<ValueId>> {
        let operands = self.vars(args)?;
        if let LibOp::Lapack { routine } = op {
            return self.lapack(*routine, targets, operands);
        }
        if let LibOp::DynamicTruncate { axis, semantics, size } = op {
            let made = self.truncated((*axis, *semantics, size), targets[0], &operands, args[0])?;
            return Ok(vec![made]);
        }
        if let LibOp::Devices { op } = op {
            return self.devices(op, targets, operands);
        }
        let started = self.started(op, args, regions, operands)?;
        let (mut operands, op) = (started.operands.clone(), &started.op);
        if let LibOp::GatherDynamicSliceSizes { slice_sizes, .. } = op {
            operands.push(self.slice_sizes(slice_sizes)?);
        }
        let types = self.var_types(targets)?;
        let regions = regions.iter().map(|r| self.scoped(r, true)).collect::<Result<Vec<Region>>>()?;
        let name = match op {
            LibOp::Gather { .. } => "stablehlo.gather",
            LibOp::GatherDynamicSliceSizes { .. } => "stablehlo.dynamic_gather",
            LibOp::DynamicTruncate { .. } => "stablehlo.real_dynamic_slice",
            LibOp::Scatter { .. } => "stablehlo.scatter",
            LibOp::DynamicSlice { .. } => "stablehlo.dynamic_slice",
            LibOp::DynamicUpdateSlice => "stablehlo.dynamic_update_slice",
            LibOp::Sort { .. } => "stablehlo.sort",
            LibOp::Reduce { .. } => "stablehlo.reduce",
            LibOp::ReduceWindow { .. } => "stablehlo.reduce_window",
            LibOp::SelectAndScatter { .. } => "stablehlo.select_and_scatter",
            LibOp::BitcastReshape { .. } => "stablehlo.bitcast_convert",
            LibOp::Fft { .. } => "stablehlo.fft",
            LibOp::Cholesky { .. } => "stablehlo.cholesky",
            LibOp::TriangularSolve { .. } => "stablehlo.triangular_solve",
            LibOp::Lapack { .. } => "stablehlo.custom_call",
            LibOp::Constraint { .. } => "sdy.sharding_constraint",
            LibOp::Devices { .. } => super::devices::PLACE,
        };
        let built = self.op(name).operands(operands).results(types);
        let built = regions.into_iter().fold(built, |op, r| op.region(r));
        let built = match op {
            LibOp::Gather { dims, slice_sizes, indices_are_sorted } => built
                .attr("dimension_numbers", Attribute::Gather(Box::new(gather_dims(dims))))
                .ints("slice_sizes", signed(slice_sizes))
                .attr("indices_are_sorted", Attribute::Bool(*indices_are_sorted)),
            LibOp::GatherDynamicSliceSizes { dims, indices_are_sorted, .. } => built
                .attr("dimension_numbers", Attribute::Gather(Box::new(gather_dims(dims))))
                .attr("indices_are_sorted", Attribute::Bool(*indices_are_sorted)),
            LibOp::Scatter { dims, indices_are_sorted, unique_indices } => {
                let dims = ScatterDims {
                    update_window_dims: places(&dims.update_window_dims),
                    inserted_window_dims: places(&dims.inserted_window_dims),
                    input_batching_dims: places(&dims.input_batching_dims),
                    scatter_indices_batching_dims: places(&dims.scatter_indices_batching_dims),
                    scatter_dims_to_operand_dims: places(&dims.scatter_dims_to_operand_dims),
                    index_vector_dim: dims.index_vector_dim as i64,
                };
                built
                    .attr("scatter_dimension_numbers", Attribute::Scatter(Box::new(dims)))
                    .attr("indices_are_sorted", Attribute::Bool(*indices_are_sorted))
                    .attr("unique_indices", Attribute::Bool(*unique_indices))
            }
            LibOp::DynamicSlice { sizes } => built.ints("slice_sizes", signed(sizes)),
            LibOp::DynamicUpdateSlice | LibOp::BitcastReshape { .. } | LibOp::DynamicTruncate { .. } => built,
            LibOp::Sort { axis, stable } => built
                .attr("dimension", Attribute::i64(*axis as i64))
                .attr("is_stable", Attribute::Bool(*stable)),
            LibOp::Reduce { axes } => built.ints("dimensions", places(axes)),
            LibOp::ReduceWindow { window } => windowed(built, window, true),
            LibOp::SelectAndScatter { window } => windowed(built, window, false),
            LibOp::Fft { kind, lengths } => {
                let kind = match kind {
                    FftKind::Fft => "FFT",
                    FftKind::Ifft => "IFFT",
                    FftKind::Rfft => "RFFT",
                    FftKind::Irfft => "IRFFT",
                };
                built
                    .attr("fft_type", Attribute::enumeration("fft_type", kind))
                    .ints("fft_length", signed(lengths))
            }
            LibOp::Cholesky { lower } => built.attr("lower", Attribute::Bool(*lower)),
            LibOp::Constraint { sharding } => {
                built.attr("sharding", Attribute::Opaque(super::sharding::text(sharding)))
            }
            // They are written above.
            LibOp::Lapack { .. } | LibOp::Devices { .. } => built,
            LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
                let transpose = match transpose {
                    Transpose::No => "NO_TRANSPOSE",
                    Transpose::Transpose => "TRANSPOSE",
                    Transpose::Adjoint => "ADJOINT",
                };
                built
                    .attr("left_side", Attribute::Bool(*left_side))
                    .attr("lower", Attribute::Bool(*lower))
                    .attr("unit_diagonal", Attribute::Bool(*unit_diagonal))
                    .attr("transpose_a", Attribute::enumeration("transpose", transpose))
            }
        };
        let built = built.build();
        let values = self.done(built)?;
        self.joined(&started, values.into_vec())
    }
}
