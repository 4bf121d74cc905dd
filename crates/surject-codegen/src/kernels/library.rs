//! Library operations as kernels: gathers, scatters, slices at positions that are known at run time, reductions and
//! windows with functions of their own, sorts.
//!
//! Every element is computed by itself, in the order in which the interpreter does. So results are the same on every machine
//! and in every run, a scatter's too. A machine says how it runs what is independent ([`super::machine::Spread`]): on one of threads every
//! point is a thread (`points`, `shared`), on one of tasks each has a share of the work and goes through it in vectors (`tasks`,
//! `vectors`). What has no kernel here (Fourier transforms, factorisations) is left to the runtime, to libraries or the host.

mod boxes;
pub(crate) mod compare;
mod growing;
mod moves;
pub(crate) mod order;
mod points;
mod reduce;
pub(crate) mod scalar;
mod scatter;
mod select;
mod shared;
mod sliding;
mod sort;
mod tasks;
mod vectors;
mod whole;
mod windows;

use super::expression::Tensor;
use super::lower::Launch;
use super::machine::{Machine, Spread};
use super::strided;
use crate::CodegenError;
use points::Maker;
use surject_ir::{Function, LibOp, Region, Statement, StatementKind, TensorType, Var};

/// A library operation of a function.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function.
    pub function: &'a Function,
    /// The operation.
    pub op: &'a LibOp,
    /// The variables that it defines.
    pub targets: &'a [Var],
    /// Its operands.
    pub args: &'a [Var],
    /// Its scalar functions.
    pub regions: &'a [Region],
    /// Of each target: does it lie where the operand of the same position does? Where nothing is said, it does not.
    pub in_place: &'a [bool],
}

/// The kernels of a library operation, in order, and the types of its temporaries.
#[derive(Clone, Debug)]
pub struct LibraryKernels {
    /// The kernels.
    pub launches: Vec<Launch>,
    /// The types of the temporaries.
    pub temporaries: Vec<TensorType>,
}

type Lowered<T> = Result<T, CodegenError>;

impl<'a> Call<'a> {
    /// The library operation that a statement of a function calls.
    pub fn of(function: &'a Function, statement: &'a Statement) -> Option<Call<'a>> {
        match &statement.kind {
            StatementKind::Call { targets, op, args, regions } => {
                Some(Call { function, op, targets, args, regions, in_place: &[] })
            }
            _ => None,
        }
    }

    /// Why the operation has no kernels, and is left to the host; `None` where it has.
    pub fn refusal(&self) -> Option<String> {
        match self.op {
            LibOp::Gather { .. }
            | LibOp::Scatter { .. }
            | LibOp::DynamicSlice { .. }
            | LibOp::DynamicUpdateSlice
            | LibOp::Sort { .. }
            | LibOp::Reduce { .. }
            | LibOp::ReduceWindow { .. }
            | LibOp::SelectAndScatter { .. } => {}
            LibOp::GatherDynamicSliceSizes { .. } | LibOp::DynamicTruncate { .. } => {
                return Some(format!("`{}` has sizes of a call: bind them first", self.op.name()));
            }
            LibOp::BitcastReshape { .. }
            | LibOp::Fft { .. }
            | LibOp::Cholesky { .. }
            | LibOp::Lapack { .. }
            | LibOp::Constraint { .. }
            | LibOp::Devices { .. }
            | LibOp::TriangularSolve { .. } => return Some(format!("`{}` has no kernels", self.op.name())),
        }
        let symbolic = |var: &&Var| self.function.ty(**var).space.sizes().is_none();
        if let Some(&var) = self.args.iter().chain(self.targets).find(symbolic) {
            return Some(format!("`{}` has symbolic sizes", self.function.name_of(var)));
        }
        // Elements that are compared by a machine's threads have one part.
        let is_complex = |var: &Var| self.function.ty(*var).dtype.is_complex();
        if matches!(self.op, LibOp::Sort { .. }) && self.args.iter().any(is_complex) {
            return Some("a complex number in a comparator".into());
        }
        self.regions.iter().find_map(|region| scalar::refusal(self.function, region))
    }

    /// The operands that its kernels read: others they compute themselves.
    pub fn reads(&self) -> Vec<Var> {
        let computes = matches!(self.op, LibOp::Reduce { .. }) && self.refusal().is_none();
        let known = |var: &Var| computes && points::known(self.function, *var).is_some();
        self.args.iter().copied().filter(|var| !known(var)).collect()
    }

    /// The kernels of the operation for a machine, called `NAME_0`, `NAME_1`, ….
    ///
    /// Errors: an operation that [has no kernels](Call::refusal), a size that does not fit in 64 bits.
    pub fn kernels(&self, machine: &'a dyn Machine, name: &'a str) -> Lowered<LibraryKernels> {
        let mut made = self.no_kernels(machine, name);
        match self.op {
            LibOp::Gather { dims, slice_sizes, .. } => made.gather(dims, slice_sizes)?,
            LibOp::DynamicSlice { .. } => made.dynamic_slice()?,
            LibOp::DynamicUpdateSlice if self.is_in_place(0) => made.update_of_copy()?,
            LibOp::DynamicUpdateSlice => made.dynamic_update_slice()?,
            LibOp::Scatter { dims, unique_indices, .. } => made.scatter(dims, *unique_indices)?,
            LibOp::SelectAndScatter { window } => made.select_and_scatter(window)?,
            LibOp::Reduce { axes } => made.reduce(axes)?,
            LibOp::ReduceWindow { window } => made.reduce_window(window)?,
            LibOp::Sort { axis, .. } => made.sort(*axis)?,
            other => {
                let what = format!("`{}` as a kernel", other.name());
                return Err(CodegenError::unsupported(what));
            }
        }
        made.verified()
    }

    /// Does the target of a position lie where its operand does?
    fn is_in_place(&self, target: usize) -> bool {
        self.in_place.get(target).copied().unwrap_or(false)
    }

    fn no_kernels(&self, machine: &'a dyn Machine, name: &'a str) -> Kernels<'a> {
        Kernels { call: *self, machine, name, launches: Vec::new(), temporaries: Vec::new() }
    }
}

/// The kernels that are made so far.
struct Kernels<'a> {
    call: Call<'a>,
    machine: &'a dyn Machine,
    name: &'a str,
    launches: Vec<Launch>,
    temporaries: Vec<TensorType>,
}

impl<'a> Kernels<'a> {
    /// Makes one more kernel, over so many points.
    fn kernel(
        &mut self,
        points: i64,
        body: impl FnOnce(&mut Maker<'a>, surject_kernel::Value) -> Lowered<()>,
    ) -> Lowered<()> {
        if points == 0 {
            return Ok(());
        }
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut maker = Maker::new(self.call, &self.temporaries, name);
        let point = maker.open_points(self.machine.spread(), points)?;
        body(&mut maker, point)?;
        self.launches.push(maker.finish());
        Ok(())
    }

    /// Makes one more kernel, whose body opens its own loops.
    fn launch(&mut self, body: impl FnOnce(&mut Maker<'a>) -> Lowered<()>) -> Lowered<()> {
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut maker = Maker::new(self.call, &self.temporaries, name);
        body(&mut maker)?;
        self.launches.push(maker.finish());
        Ok(())
    }

    /// Makes one more kernel, of so many blocks.
    fn blocks(
        &mut self,
        count: i64,
        body: impl FnOnce(&mut Maker<'a>, surject_kernel::Value) -> Lowered<()>,
    ) -> Lowered<()> {
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut maker = Maker::new(self.call, &self.temporaries, name);
        let block = maker.open_blocks(count);
        body(&mut maker, block)?;
        self.launches.push(maker.finish());
        Ok(())
    }

    fn verified(mut self) -> Lowered<LibraryKernels> {
        if let (Spread::Tasks { .. }, bytes @ 1..) = (self.machine.spread(), self.machine.vector_bytes()) {
            for launch in &mut self.launches {
                launch.kernel = strided::runs(launch.kernel.clone(), bytes);
            }
        }
        for launch in &self.launches {
            let verified = surject_kernel::verify(&launch.kernel);
            verified.map_err(|error| CodegenError::malformed(error.to_string()))?;
        }
        Ok(LibraryKernels { launches: self.launches, temporaries: self.temporaries })
    }

    /// A temporary of this type.
    fn temporary(&mut self, ty: TensorType) -> Tensor {
        self.temporaries.push(ty);
        Tensor::Temporary(self.temporaries.len() - 1)
    }
}
