//! Binding: the program of one call, in which every symbolic size is the number it has there.
//!
//! Symbolic sizes are expressions over the sizes and scalars of the arguments ([`surject_index::ExtentExpr`]). Where
//! the arguments are given they have values, and a function with these values is an ordinary one that is verified,
//! optimised and compiled like any other.

use crate::interp::{self, InterpError};
use crate::verify::VerifyError;
use crate::{
    Block, Buffer, Call, ComputedSizes, DType, Field, FieldId, FieldKind, Fields, Function, GuardError,
    LibOp, Region, StatementKind, TensorType, TypeError, Var, size_of_scalar,
};
use surject_index::{
    Affine, Extent, ExtentEnv, ExtentError, Fill, Guard, IndexMap, MapError, ScalarSemantics, Space,
};
use thiserror::Error;

/// The arguments of a call as what symbolic sizes are computed from.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a>(pub &'a [Buffer]);

impl ExtentEnv for Arguments<'_> {
    fn input_axis(&self, input: usize, axis: usize) -> Option<u64> {
        self.0.get(input)?.shape().get(axis).map(|&n| n as u64)
    }

    fn runtime_scalar(&self, input: usize, semantics: ScalarSemantics) -> Option<u64> {
        let buffer = self.0.get(input).filter(|a| a.shape().is_empty() && !a.is_empty())?;
        size_of_scalar(buffer.get(0), semantics)
    }
}

/// Why a function cannot be bound to arguments.
#[derive(Clone, Debug, Error)]
pub enum BindError {
    /// The wrong number of arguments.
    #[error("the function takes {expected} arguments; {found} were given")]
    Count {
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An argument of another element type or rank, or with an axis of another size than its parameter asks for.
    #[error("the argument `{name}` is {found} where {expected} is needed")]
    Argument {
        /// Which parameter.
        parameter: usize,
        /// Its name.
        name: String,
        /// Its type as it is written.
        expected: TensorType,
        /// Element type and shape of the argument.
        found: TensorType,
        /// The first axis of another size and the size it should have; none where type or rank differ.
        axis: Option<(usize, u64)>,
    },
    /// A size without a value.
    #[error("{of}: {error}")]
    Extent {
        /// What has the size.
        of: String,
        /// What is wrong.
        error: ExtentError,
    },
    /// Sizes that do not satisfy a guard.
    #[error(transparent)]
    Guard(#[from] Box<GuardError>),
    /// Sizes that depend on data which could not be computed.
    #[error("a size that depends on data: {error}")]
    Computed {
        /// Why.
        error: Box<InterpError>,
    },
    /// Sizes at which an index leaves its tensor.
    #[error("with these sizes an index leaves its tensor: {0}")]
    Map(#[from] MapError),
    /// Sizes at which an expression is not well typed.
    #[error("with these sizes an expression is not well typed: {0}")]
    Type(#[from] TypeError),
    /// Sizes at which the program is not well formed.
    #[error("with these sizes: {0}")]
    Verify(#[from] VerifyError),
}

/// Whether a function has symbolic sizes, or guards on what sizes are: it must be bound before anything is made of it
/// that knows constant sizes only.
pub fn is_symbolic(function: &Function) -> bool {
    let symbolic = |extent: &Extent| extent.as_const().is_none();
    !function.guards.is_empty()
        || function.truncations().next().is_some()
        || function.vars.iter().any(|v| v.ty.space.extents().iter().any(symbolic))
        || function.fields.iter().any(|(_, field)| field.extents().any(symbolic))
}

/// The function with the sizes that these arguments give it, verified. Sizes that depend on data are computed by the
/// interpreter.
///
/// # Errors
/// Arguments that contradict the types of the parameters or each other; a size without a value; sizes at which the
/// program is not well formed.
pub fn bind(function: &Function, arguments: &[Buffer]) -> Result<Function, BindError> {
    if arguments.len() != function.params.len() {
        return Err(BindError::Count { expected: function.params.len(), found: arguments.len() });
    }
    let computed = interp::computed_sizes(function, arguments)
        .map_err(|error| BindError::Computed { error: Box::new(error) })?;
    bind_with(function, arguments, &computed)
}

/// As [`bind`], where the sizes that depend on data are known ([`interp::computed_sizes`]).
///
/// # Errors
/// As [`bind`].
pub fn bind_with(
    function: &Function,
    arguments: &[Buffer],
    computed: &ComputedSizes,
) -> Result<Function, BindError> {
    if arguments.len() != function.params.len() {
        return Err(BindError::Count { expected: function.params.len(), found: arguments.len() });
    }
    let call = Call { function, arguments };
    let sizes = Sizes { call, computed };
    for (k, (&param, argument)) in function.params.iter().zip(arguments).enumerate() {
        sizes.argument(function, k, param, argument)?;
    }
    call.check()?;
    call.check_computed(&sizes)?;
    let mut bound = function.clone();
    // They are checked; the sizes are numbers from here on.
    bound.guards.clear();
    for var in &mut bound.vars {
        var.ty.space = sizes.space(&var.ty.space, || format!("the variable `{}`", var.name))?;
    }
    let (fields, ids) = sizes.fields(&function.fields)?;
    bound.fields = fields;
    let mut body = std::mem::take(&mut bound.body);
    sizes.block(&mut body, &mut bound, &ids)?;
    bound.body = body;
    crate::verify::function(&bound)?;
    Ok(bound)
}

/// The values of symbolic sizes.
struct Sizes<'a> {
    call: Call<'a>,
    computed: &'a ComputedSizes,
}

impl ExtentEnv for Sizes<'_> {
    fn input_axis(&self, input: usize, axis: usize) -> Option<u64> {
        self.call.input_axis(input, axis)
    }

    fn runtime_scalar(&self, input: usize, semantics: ScalarSemantics) -> Option<u64> {
        self.call.runtime_scalar(input, semantics)
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        self.computed.get(name).copied().or_else(|| self.call.symbol(name))
    }
}

impl Sizes<'_> {
    /// The fields of the stores of a block become the bound ones, and the operations with symbolic sizes those without.
    /// Regions nest as deep as verified programs may.
    fn block(&self, block: &mut Block, bound: &mut Function, ids: &[FieldId]) -> Result<(), BindError> {
        for statement in &mut block.statements {
            let regions: Vec<&mut Region> = match &mut statement.kind {
                StatementKind::Store { field, .. } => {
                    *field = ids[field.0 as usize];
                    continue;
                }
                StatementKind::Constant { .. } => continue,
                StatementKind::Call { op: LibOp::DynamicTruncate { .. }, targets, args, .. } => {
                    statement.kind = first_elements(bound, targets[0], args[0])?;
                    continue;
                }
                StatementKind::Call { op, regions, .. } => {
                    if let LibOp::GatherDynamicSliceSizes { dims, slice_sizes, indices_are_sorted } = op {
                        let of = || "a slice".to_string();
                        let sizes = slice_sizes.iter().map(|e| self.extent(e, of));
                        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
                        *op = LibOp::gather(std::mem::take(dims), sizes, *indices_are_sorted);
                    }
                    regions.iter_mut().collect()
                }
                StatementKind::If { branches: regions, .. } => regions.iter_mut().collect(),
                StatementKind::While { cond, body, .. } => vec![cond, body],
            };
            for region in regions {
                self.block(&mut region.body, bound, ids)?;
            }
        }
        Ok(())
    }

    fn value(&self, extent: &Extent, of: impl Fn() -> String) -> Result<u64, BindError> {
        match extent {
            Extent::Const(value) => Ok(*value),
            Extent::Expr(_) => extent.eval(self).map_err(|error| BindError::Extent { of: of(), error }),
        }
    }

    fn extent(&self, extent: &Extent, of: impl Fn() -> String) -> Result<Extent, BindError> {
        self.value(extent, of).map(Extent::Const)
    }

    fn space(&self, space: &Space, of: impl Fn() -> String) -> Result<Space, BindError> {
        if space.sizes().is_some() {
            return Ok(space.clone());
        }
        let extents = space.extents().iter().map(|e| self.extent(e, &of));
        Ok(Space::new(extents.collect::<Result<Vec<_>, _>>()?))
    }

    /// Compares an argument with the type of its parameter.
    fn argument(
        &self,
        function: &Function,
        parameter: usize,
        param: Var,
        argument: &Buffer,
    ) -> Result<(), BindError> {
        let expected = function.ty(param).clone();
        let name = function.name_of(param).to_string();
        let shape: Vec<u64> = argument.shape().iter().map(|&n| n as u64).collect();
        let found = TensorType::new(argument.dtype(), Space::of(&shape));
        let wrong = |axis| {
            let (name, expected, found) = (name.clone(), expected.clone(), found.clone());
            Err(BindError::Argument { parameter, name, expected, found, axis })
        };
        if expected.dtype != found.dtype || expected.space.rank() != shape.len() {
            return wrong(None);
        }
        for (axis, (extent, size)) in expected.space.extents().iter().zip(&shape).enumerate() {
            let needed = self.value(extent, || format!("axis {axis} of the parameter `{name}`"))?;
            if needed != *size {
                return wrong(Some((axis, needed)));
            }
        }
        Ok(())
    }

    /// Every field with its sizes, and where each one is now.
    fn fields(&self, fields: &Fields) -> Result<(Fields, Vec<FieldId>), BindError> {
        let mut bound = Fields::default();
        let mut ids: Vec<FieldId> = Vec::with_capacity(fields.len());
        let of = || "a loop".to_string();
        for (_, field) in fields.iter() {
            let kind = match &field.kind {
                FieldKind::Read { map, of: x } => FieldKind::Read { map: self.map(map)?, of: *x },
                FieldKind::Acc { op, map, of: x } => FieldKind::Acc { op: *op, map: self.map(map)?, of: *x },
                other => other.clone(),
            };
            let dtype: DType = field.dtype;
            let field = Field { space: self.space(&field.space, of)?, dtype, kind };
            ids.push(bound.again(&field, |id| ids[id.0 as usize])?);
        }
        Ok((bound, ids))
    }

    fn map(&self, map: &IndexMap) -> Result<IndexMap, BindError> {
        let of = || "a loop".to_string();
        let (domain, codomain) = (self.space(map.domain(), of)?, self.space(map.codomain(), of)?);
        let components = map.components().to_vec();
        let guards = map
            .guards()
            .iter()
            .map(|g| Ok(Guard { expr: g.expr.clone(), bound: self.extent(&g.bound, of)? }));
        let guards = guards.collect::<Result<Vec<_>, BindError>>()?;
        Ok(match map.fill() {
            Some(Fill(bits)) => IndexMap::partial(domain, codomain, components, guards, Fill(bits))?,
            None => IndexMap::total(domain, codomain, components)?,
        })
    }
}

/// The statement that stores the first elements of a tensor, as many as the target has.
fn first_elements(bound: &mut Function, target: Var, operand: Var) -> Result<StatementKind, BindError> {
    let (domain, codomain) = (bound.ty(target).space.clone(), bound.ty(operand).space.clone());
    let rank = domain.rank();
    let map = IndexMap::total(domain, codomain, (0..rank).map(|a| Affine::axis(rank, a)).collect())?;
    let operand = bound.tensor(operand);
    let field = bound.fields.read(map, operand)?;
    Ok(StatementKind::Store { target, field })
}
