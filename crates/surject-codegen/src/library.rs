//! Library operations: kernels of the kernel IR ([`crate::kernels::library`]), rows, and calls of the runtime.

mod network;
mod runtime;

use crate::CodegenError;
use crate::expression::dag::{Buf, buf};
use crate::expression::gather::Gathered;
use crate::kernels::expression::Tensor;
use crate::kernels::library::Call;
use crate::kernels::native::Scheduled;
use crate::materialise::from_ir;
use crate::materialise::store::Stores;
use crate::planned::kernel::Kernel;
use surject_ir::{LibOp, Region, StatementKind, Var};

/// How many of the first operands may share memory with the results of the same position.
pub fn in_place_operands(op: &LibOp, operands: usize) -> usize {
    match op {
        LibOp::DynamicUpdateSlice => 1,
        LibOp::Scatter { .. } => operands.saturating_sub(1) / 2,
        _ => 0,
    }
}

/// The kernels of a library call. `in_place` says which results share the memory of their operands.
pub fn kernels(
    stores: &mut Stores<'_>,
    op: &LibOp,
    targets: &[Var],
    args: &[Var],
    regions: &[Region],
    in_place: &[bool],
) -> Result<Vec<Kernel>, CodegenError> {
    let function = stores.function;
    let empty = targets.iter().all(|&t| function.ty(t).space.is_empty());
    if empty {
        return Ok(Vec::new());
    }
    if let Some(sunk) = targets.first().and_then(|t| stores.sunk.get(t)).cloned() {
        return Ok(vec![stores.sunk(targets[0], &sunk)?]);
    }
    let statement = StatementKind::Call {
        op: op.clone(),
        targets: targets.to_vec(),
        args: args.to_vec(),
        regions: Vec::new(),
    };
    if let (Some(gathered), &[target]) = (Gathered::of(function, &statement), targets) {
        let gathered = gathered.computing(&stores.indices);
        return Ok(vec![stores.gather(target, &gathered)?]);
    }
    let scheduled = from_ir::strategies(stores.scheduled)?;
    let call = Call { function, op, targets, args, regions, in_place };
    let kernel = match op {
        LibOp::Devices { .. } => Err(CodegenError::unsupported(
            "what several devices do together; import the program for one device".to_string(),
        )),
        LibOp::Sort { axis, .. } => match network::sort(&call, *axis, stores.target)? {
            Some(kernel) => Ok(kernel),
            None => runtime::sort(&call, *axis, scheduled),
        },
        LibOp::BitcastReshape { .. } | LibOp::Constraint { .. } => runtime::bitcast_reshape(&call),
        LibOp::Fft { kind, lengths } => runtime::fft(&call, *kind, lengths),
        LibOp::Cholesky { lower } => runtime::cholesky(&call, *lower),
        LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
            let systems = runtime::Triangular {
                left_side: *left_side,
                lower: *lower,
                unit_diagonal: *unit_diagonal,
                transpose: *transpose,
            };
            runtime::triangular_solve(&call, &systems)
        }
        LibOp::Lapack { routine } => runtime::lapack(&call, *routine),
        LibOp::GatherDynamicSliceSizes { .. }
        | LibOp::DynamicTruncate { .. }
        | LibOp::Gather { .. }
        | LibOp::DynamicSlice { .. }
        | LibOp::DynamicUpdateSlice
        | LibOp::Scatter { .. }
        | LibOp::Reduce { .. }
        | LibOp::ReduceWindow { .. }
        | LibOp::SelectAndScatter { .. } => return of_kernel_ir(stores, &call, scheduled),
    };
    Ok(vec![kernel?])
}

/// The kernels that the kernel IR has of a library call.
fn of_kernel_ir(
    stores: &mut Stores<'_>,
    call: &Call<'_>,
    scheduled: &Scheduled,
) -> Result<Vec<Kernel>, CodegenError> {
    if let Some(reason) = call.refusal() {
        return Err(CodegenError::unsupported(reason));
    }
    let Some(&first) = call.targets.first() else { return Ok(Vec::new()) };
    let made = call.kernels(&*scheduled.machine, call.function.name_of(first))?;
    let temporaries: Vec<Buf> = made.temporaries.into_iter().map(|ty| stores.temporary(ty)).collect();
    let place = |tensor: &Tensor| match tensor {
        Tensor::Var(var) => buf(*var),
        Tensor::Target => buf(first),
        Tensor::Temporary(number) => temporaries[*number],
    };
    let in_place = if call.in_place.iter().any(|&shared| shared) { " in place" } else { "" };
    let all = made.launches.len();
    let kernel = |(number, launch)| {
        let kernel = from_ir::kernel(launch, &place, scheduled)?;
        let part = if all > 1 { format!(", {} of {all}", number + 1) } else { String::new() };
        let summary = format!("{}{in_place}{part}, tasks {}", call.op.name(), kernel.tasks);
        Ok(Kernel { summary, ..kernel })
    };
    made.launches.iter().enumerate().map(kernel).collect()
}
