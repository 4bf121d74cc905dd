//! The types of library operations: what their operands must be and what they yield.

use crate::{DType, FftKind, GatherDims, LibOp, RegionType, Routine, ScatterDims, TensorType, Window};
use surject_index::{Extent, Facts, Relation, ScalarSemantics, Space};
use surject_runtime::library::{lapack_dtype, routines::Size};
use thiserror::Error;

/// Why a library operation cannot take these operands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{op}`: {reason}")]
pub struct LibOpError {
    /// The name of the operation.
    pub op: &'static str,
    /// What does not fit.
    pub reason: String,
}

/// Shorthand: an error unless a condition holds.
macro_rules! need {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err(format!($($message)*));
        }
    };
}

impl LibOp {
    /// The name in every text form.
    pub fn name(&self) -> &'static str {
        match self {
            LibOp::Gather { .. } => "gather",
            LibOp::GatherDynamicSliceSizes { .. } => "gather_dynamic_slice_sizes",
            LibOp::DynamicTruncate { .. } => "dynamic_truncate",
            LibOp::Scatter { .. } => "scatter",
            LibOp::DynamicSlice { .. } => "dynamic_slice",
            LibOp::DynamicUpdateSlice => "dynamic_update_slice",
            LibOp::Sort { .. } => "sort",
            LibOp::Reduce { .. } => "reduce",
            LibOp::ReduceWindow { .. } => "reduce_window",
            LibOp::SelectAndScatter { .. } => "select_and_scatter",
            LibOp::BitcastReshape { .. } => "bitcast_reshape",
            LibOp::Fft { .. } => "fft",
            LibOp::Cholesky { .. } => "cholesky",
            LibOp::TriangularSolve { .. } => "triangular_solve",
            LibOp::Lapack { .. } => "lapack",
            LibOp::Constraint { .. } => "sharding_constraint",
            LibOp::Devices { .. } => "devices",
        }
    }

    /// The types of the results. Operands and regions are checked on the way.
    pub fn infer(&self, args: &[TensorType], regions: &[RegionType]) -> Result<Vec<TensorType>, LibOpError> {
        self.infer_given(args, regions, &Facts::default())
    }

    /// As [`LibOp::infer`], where the sizes satisfy these facts.
    pub fn infer_given(
        &self,
        args: &[TensorType],
        regions: &[RegionType],
        facts: &Facts,
    ) -> Result<Vec<TensorType>, LibOpError> {
        self.results(args, regions, facts).map_err(|reason| LibOpError { op: self.name(), reason })
    }

    fn results(
        &self,
        args: &[TensorType],
        regions: &[RegionType],
        facts: &Facts,
    ) -> Result<Vec<TensorType>, String> {
        let needed = match self {
            LibOp::Scatter { .. }
            | LibOp::Sort { .. }
            | LibOp::Reduce { .. }
            | LibOp::ReduceWindow { .. } => 1,
            LibOp::SelectAndScatter { .. } => 2,
            _ => 0,
        };
        need!(regions.len() == needed, "it has {} regions where {needed} are needed", regions.len());
        match self {
            LibOp::Gather { dims, slice_sizes, .. } => {
                count(args, 2)?;
                let sizes: Vec<Extent> = slice_sizes.iter().copied().map(Extent::Const).collect();
                gather(dims, &sizes, &args[0], &args[1], facts).map(|t| vec![t])
            }
            LibOp::GatherDynamicSliceSizes { dims, slice_sizes, .. } => {
                count(args, 2)?;
                gather(dims, slice_sizes, &args[0], &args[1], facts).map(|t| vec![t])
            }
            LibOp::DynamicTruncate { axis, semantics, size } => {
                count(args, 2)?;
                truncate(*axis, *semantics, size, &args[0], &args[1]).map(|t| vec![t])
            }
            LibOp::Scatter { dims, .. } => scatter(dims, args, &regions[0], facts),
            LibOp::DynamicSlice { sizes } => {
                need!(!args.is_empty(), "it needs an operand");
                let operand = &args[0];
                starts(operand, &args[1..])?;
                need!(sizes.len() == operand.space.rank(), "it needs one size per axis of {operand}");
                fits(&Space::of(sizes), operand, facts)?;
                Ok(vec![TensorType::new(operand.dtype, Space::of(sizes))])
            }
            LibOp::DynamicUpdateSlice => {
                need!(args.len() >= 2, "it needs an operand and an update");
                let (operand, update) = (&args[0], &args[1]);
                starts(operand, &args[2..])?;
                need!(update.dtype == operand.dtype, "the update is {update}, the operand {operand}");
                need!(
                    update.space.rank() == operand.space.rank(),
                    "the update is {update}, the operand {operand}"
                );
                fits(&update.space, operand, facts)?;
                Ok(vec![operand.clone()])
            }
            LibOp::Sort { axis, .. } => {
                need!(!args.is_empty(), "it needs an operand");
                same_space(args)?;
                need!(*axis < args[0].space.rank(), "there is no axis {axis} in {}", args[0]);
                let pairs = args.iter().flat_map(|a| [a.dtype; 2]).collect::<Vec<_>>();
                region("the comparator", &regions[0], &pairs, &[DType::I1])?;
                Ok(args.to_vec())
            }
            LibOp::Reduce { axes } => {
                let values = fold_operands(args, &regions[0])?;
                let rank = values[0].space.rank();
                need!(axes.is_sorted_by(|a, b| a < b), "the axes {axes:?} are not in increasing order");
                need!(axes.iter().all(|&a| a < rank), "the axes {axes:?} are not all in {}", values[0]);
                let kept: Vec<usize> = (0..rank).filter(|a| !axes.contains(a)).collect();
                Ok(values.iter().map(|v| TensorType::new(v.dtype, v.space.select(&kept))).collect())
            }
            LibOp::ReduceWindow { window } => {
                let values = fold_operands(args, &regions[0])?;
                let space = windows(window, &values[0], facts)?;
                Ok(values.iter().map(|v| TensorType::new(v.dtype, space.clone())).collect())
            }
            LibOp::SelectAndScatter { window } => {
                count(args, 3)?;
                let (operand, source, d) = (&args[0], &args[1], args[0].dtype);
                let ones = |v: &[u64]| v.iter().all(|&n| n == 1);
                need!(
                    ones(&window.base_dilations) && ones(&window.window_dilations),
                    "its dilations must be 1"
                );
                let expected = TensorType::new(d, windows(window, operand, facts)?);
                let fits = source.dtype == d
                    && source.space.rank() == expected.space.rank()
                    && source
                        .space
                        .extents()
                        .iter()
                        .zip(expected.space.extents())
                        .all(|(a, b)| same_size(a, b, facts));
                need!(fits, "the source is {source} where {expected} is needed");
                need!(
                    args[2] == TensorType::scalar(d),
                    "the initial value is {} where {d}[] is needed",
                    args[2]
                );
                region("select", &regions[0], &[d; 2], &[DType::I1])?;
                region("scatter", &regions[1], &[d; 2], &[d])?;
                Ok(vec![operand.clone()])
            }
            LibOp::BitcastReshape { to } => {
                count(args, 1)?;
                bitcast(&args[0], *to).map(|t| vec![t])
            }
            LibOp::Fft { kind, lengths } => {
                count(args, 1)?;
                fft(*kind, lengths, &args[0]).map(|t| vec![t])
            }
            LibOp::Cholesky { .. } => {
                count(args, 1)?;
                square(&args[0])?;
                Ok(vec![args[0].clone()])
            }
            LibOp::TriangularSolve { left_side, .. } => {
                count(args, 2)?;
                let (a, b) = (&args[0], &args[1]);
                square(a)?;
                let rank = a.space.rank();
                let fits = a.dtype == b.dtype
                    && b.space.rank() == rank
                    && a.space.extents()[..rank - 2] == b.space.extents()[..rank - 2]
                    && b.space.extent(if *left_side { rank - 2 } else { rank - 1 })
                        == a.space.extent(rank - 1);
                need!(fits, "the right side {b} does not fit the matrix {a}");
                Ok(vec![b.clone()])
            }
            LibOp::Lapack { routine } => lapack(*routine, args, facts),
            LibOp::Devices { op } => Ok(op.results.clone()),
            LibOp::Constraint { sharding } => {
                count(args, 1)?;
                let rank = args[0].space.rank();
                need!(sharding.dims.len() == rank, "{} axes are divided of {}", sharding.dims.len(), args[0]);
                need!(sharding.is_valid(), "the sharding `{sharding}` does not fit its mesh");
                Ok(vec![args[0].clone()])
            }
        }
    }
}

fn count(args: &[TensorType], expected: usize) -> Result<(), String> {
    need!(args.len() == expected, "it has {} operands where {expected} are needed", args.len());
    Ok(())
}

/// The results of a routine for operands with the same leading axes.
fn lapack(routine: Routine, args: &[TensorType], facts: &Facts) -> Result<Vec<TensorType>, String> {
    let ranks = routine.ranks();
    count(args, ranks.len())?;
    let first = &args[0];
    need!(
        matches!(first.dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128),
        "`{}` of {first}; f32, f64, c64 and c128 are supported",
        routine.name()
    );
    let mut sizes: Vec<&[Extent]> = Vec::new();
    let mut batch: Option<&[Extent]> = None;
    for (arg, &rank) in args.iter().zip(ranks) {
        let split = arg.space.rank().checked_sub(rank);
        let (own, matrix) = match split {
            Some(split) => arg.space.extents().split_at(split),
            None => return Err(format!("{arg} has no matrices of rank {rank}")),
        };
        let batch = *batch.get_or_insert(own);
        let fits = own.len() == batch.len() && own.iter().zip(batch).all(|(a, b)| same_size(a, b, facts));
        need!(fits && arg.dtype == first.dtype, "{arg} does not fit {first}");
        sizes.push(matrix);
    }
    let size = |size: &Size| match *size {
        Size::Of { operand, axis } => Ok(sizes[operand][axis].clone()),
        Size::Least if same_size(&sizes[0][0], &sizes[0][1], facts) => Ok(sizes[0][0].clone()),
        Size::Least => match (sizes[0][0].as_const(), sizes[0][1].as_const()) {
            (Some(m), Some(n)) => Ok(Extent::Const(m.min(n))),
            _ => Err(format!("`{}` of {first}, which is not known to be square", routine.name())),
        },
        Size::LessOne => match sizes[0][1].as_const() {
            Some(n) => Ok(Extent::Const(n.saturating_sub(1))),
            None => Err(format!("`{}` of {first}, whose size is not known", routine.name())),
        },
    };
    for (a, b) in routine.equal_sizes() {
        let (a, b) = (size(a)?, size(b)?);
        need!(same_size(&a, &b, facts), "`{}` of sizes {a} and {b}, which must be one", routine.name());
    }
    if matches!(routine, Routine::HouseholderProduct | Routine::MultiplyQ { .. }) {
        let reflectors = &sizes[1][0];
        let fit = sizes[0].iter().all(|n| at_most(reflectors, n, facts));
        need!(fit, "{reflectors} reflectors in {first}");
    }
    let batch = batch.unwrap_or_default();
    let results = routine.results().iter().map(|result| {
        let own = result.sizes.iter().map(&size).collect::<Result<Vec<_>, _>>()?;
        Ok(TensorType::new(lapack_dtype(result.kind, first.dtype), Space::new([batch, &own].concat())))
    });
    results.collect()
}

fn same_space(args: &[TensorType]) -> Result<(), String> {
    match args.iter().find(|a| a.space != args[0].space) {
        Some(other) => Err(format!("the operands have different shapes: {} and {other}", args[0])),
        None => Ok(()),
    }
}

/// Is a size certainly at most an extent?
fn at_most(size: &Extent, extent: &Extent, facts: &Facts) -> bool {
    size == extent || facts.compare(size, Relation::Le, extent).is_yes()
}

/// Are two sizes certainly one?
fn same_size(a: &Extent, b: &Extent, facts: &Facts) -> bool {
    a == b || a.as_const().is_none_or(|_| b.as_const().is_none()) && facts.same(a, b).is_yes()
}

fn fits(sizes: &Space, operand: &TensorType, facts: &Facts) -> Result<(), String> {
    let inside = sizes.extents().iter().zip(operand.space.extents()).all(|(a, b)| at_most(a, b, facts));
    need!(inside, "a slice of the sizes {sizes} is not proven to fit into {operand}");
    Ok(())
}

fn starts(operand: &TensorType, starts: &[TensorType]) -> Result<(), String> {
    let rank = operand.space.rank();
    need!(starts.len() == rank, "it has {} start indices where {rank} are needed", starts.len());
    let bad = starts.iter().find(|s| !s.dtype.is_int() || s.space.rank() != 0);
    need!(bad.is_none(), "a start index is {} where an integer of rank 0 is needed", bad.unwrap_or(operand));
    Ok(())
}

/// Checks the signature of a region of scalars.
fn region(what: &str, region: &RegionType, params: &[DType], results: &[DType]) -> Result<(), String> {
    let show = |types: &[TensorType]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    let scalars = |types: &[DType]| types.iter().map(|&d| TensorType::scalar(d)).collect::<Vec<_>>();
    let (params, results) = (scalars(params), scalars(results));
    need!(
        region.params == params,
        "{what} takes ({}) where ({}) is needed",
        show(&region.params),
        show(&params)
    );
    need!(
        region.results == results,
        "{what} yields ({}) where ({}) is needed",
        show(&region.results),
        show(&results)
    );
    Ok(())
}

/// The operands of a fold: n tensors of one shape, n initial scalars, a region that joins.
fn fold_operands<'a>(args: &'a [TensorType], join: &RegionType) -> Result<&'a [TensorType], String> {
    let n = args.len() / 2;
    need!(n > 0 && args.len() == 2 * n, "it needs as many initial values as tensors, and has {}", args.len());
    let (values, inits) = args.split_at(n);
    same_space(values)?;
    let dtypes: Vec<DType> = values.iter().map(|v| v.dtype).collect();
    for (&d, init) in dtypes.iter().zip(inits) {
        need!(*init == TensorType::scalar(d), "an initial value is {init} where {d}[] is needed");
    }
    region("the region", join, &[&dtypes[..], &dtypes[..]].concat(), &dtypes)?;
    Ok(values)
}

/// How many windows there are along each axis.
fn windows(window: &Window, operand: &TensorType, facts: &Facts) -> Result<Space, String> {
    let sizes = operand.space.extents().iter().map(Extent::as_const).collect::<Option<Vec<_>>>();
    if let Some(sizes) = sizes {
        need!(operand.space.sizes().is_some(), "{operand} is too large");
        let counts = window.counts(&sizes).ok_or_else(|| format!("the window does not fit {operand}"))?;
        return Ok(Space::of(&counts));
    }
    // The axes of constant sizes and the form of the window, with some size on the others.
    let some = |e: &Extent| match e {
        Extent::Const(size) => *size,
        Extent::Expr(_) => 1 << 32,
    };
    let extents = operand.space.extents();
    let counts = window.counts(&extents.iter().map(some).collect::<Vec<_>>());
    let counts = counts.ok_or_else(|| format!("the window does not fit {operand}"))?;
    let count = |(axis, (size, count)): (usize, (&Extent, u64))| match size {
        Extent::Const(_) => Extent::Const(count),
        Extent::Expr(_) => symbolic_count(window, axis, size, facts),
    };
    Ok(Space::new(extents.iter().zip(counts).enumerate().map(count)))
}

/// The number of windows along an axis of symbolic size: none where the window does not fit.
fn symbolic_count(window: &Window, axis: usize, size: &Extent, facts: &Facts) -> Extent {
    let (sum, times) = (Extent::sum, |by: u64, x: Extent| Extent::product(Extent::Const(by), x));
    let number = |n: u64| Extent::Const(n);
    let base = window.base_dilations[axis];
    let dilated = match base {
        0 | 1 => size.clone(),
        _ => Extent::max(Extent::difference(times(base, size.clone()), number(base - 1)), number(0)),
    };
    let (low, high) = window.padding[axis];
    let padding = i128::from(low) + i128::from(high);
    let span =
        i128::from(window.sizes[axis].saturating_sub(1)) * i128::from(window.window_dilations[axis]) + 1;
    let stride = window.strides[axis].max(1);
    // One more than the steps that fit: ⌊(dilated + padding - span + stride) / stride⌋, or none.
    let shift = padding - span + i128::from(stride);
    let by = number(u64::try_from(shift.unsigned_abs()).unwrap_or(u64::MAX));
    let room = if shift < 0 { Extent::difference(dilated, by) } else { sum(dilated, by) };
    let count = Extent::floor_div(Extent::max(room, number(0)), number(stride));
    facts.normal(&count).and_then(|n| n.to_extent()).unwrap_or(count)
}

/// Checks that axes lie inside a rank and do not repeat.
fn axes(what: &str, axes: &[usize], rank: usize) -> Result<(), String> {
    need!(axes.iter().all(|&a| a < rank), "{what} {axes:?} are not all below {rank}");
    let distinct = axes.iter().enumerate().all(|(i, a)| !axes[..i].contains(a));
    need!(distinct, "{what} {axes:?} repeat an axis");
    Ok(())
}

fn disjoint(what: &str, a: &[usize], b: &[usize]) -> Result<(), String> {
    need!(!a.iter().any(|x| b.contains(x)), "{what} {a:?} and {b:?} are not disjoint");
    Ok(())
}

/// The extents of an index tensor without the axis of the index vectors, once the vectors are checked to have
/// this many components.
fn batch_extents(
    indices: &TensorType,
    index_vector_dim: usize,
    components: usize,
) -> Result<Vec<Extent>, String> {
    need!(indices.dtype.is_int(), "the indices are {indices}, not integers");
    let rank = indices.space.rank();
    need!(index_vector_dim <= rank, "there is no axis {index_vector_dim} in the indices {indices}");
    let mut extents = indices.space.extents().to_vec();
    let found = if index_vector_dim < rank { extents.remove(index_vector_dim) } else { Extent::Const(1) };
    need!(
        found.as_const() == Some(components as u64),
        "index vectors of {found} components are mapped to {components} axes"
    );
    Ok(extents)
}

/// The extents of paired batching axes must agree; the positions are those in the batch.
fn batching(
    operand: &TensorType,
    (operand_dims, index_dims): (&[usize], &[usize]),
    index_vector_dim: usize,
    batch: &[Extent],
    facts: &Facts,
) -> Result<(), String> {
    need!(
        operand_dims.len() == index_dims.len(),
        "batching axes do not pair: {operand_dims:?}, {index_dims:?}"
    );
    axes("the batching axes of the indices", index_dims, batch.len() + 1)?;
    for (&d, &i) in operand_dims.iter().zip(index_dims) {
        need!(i != index_vector_dim, "axis {i} of the indices is the index vector and cannot be batched");
        let extent = batch.get(i - (i > index_vector_dim) as usize);
        let same = extent.is_some_and(|e| same_size(e, operand.space.extent(d), facts));
        need!(same, "batching axis {d} of {operand} has another size");
    }
    Ok(())
}

/// What a rule by which scalars become sizes takes (seed 002: the conversion is never a generic cast).
pub(crate) fn scalar_of(semantics: ScalarSemantics, ty: &TensorType) -> Result<(), &'static str> {
    let (fits, needed) = match semantics {
        ScalarSemantics::DynamicTruncateSize => {
            (matches!(ty.dtype, DType::F32 | DType::F64), "an `f32` or `f64` of rank 0")
        }
        ScalarSemantics::IntegerSize => (ty.dtype.is_int(), "an integer of rank 0"),
    };
    if fits && ty.space.rank() == 0 { Ok(()) } else { Err(needed) }
}

fn truncate(
    axis: usize,
    semantics: ScalarSemantics,
    size: &Extent,
    operand: &TensorType,
    scalar: &TensorType,
) -> Result<TensorType, String> {
    need!(axis < operand.space.rank(), "there is no axis {axis} in {operand}");
    if let Err(needed) = scalar_of(semantics, scalar) {
        return Err(format!("its size is {scalar} where {needed} is needed"));
    }
    let mut extents = operand.space.extents().to_vec();
    extents[axis] = size.clone();
    Ok(TensorType::new(operand.dtype, Space::new(extents)))
}

fn gather(
    dims: &GatherDims,
    slice_sizes: &[Extent],
    operand: &TensorType,
    indices: &TensorType,
    facts: &Facts,
) -> Result<TensorType, String> {
    let rank = operand.space.rank();
    axes("the collapsed axes", &dims.collapsed_slice_dims, rank)?;
    axes("the batching axes", &dims.operand_batching_dims, rank)?;
    axes("the indexed axes", &dims.start_index_map, rank)?;
    disjoint("collapsed and batching axes", &dims.collapsed_slice_dims, &dims.operand_batching_dims)?;
    disjoint("indexed and batching axes", &dims.start_index_map, &dims.operand_batching_dims)?;
    need!(slice_sizes.len() == rank, "it has {} slice sizes where {rank} are needed", slice_sizes.len());
    fits(&Space::new(slice_sizes.to_vec()), operand, facts)?;
    let single = dims.collapsed_slice_dims.iter().chain(&dims.operand_batching_dims);
    for &d in single {
        need!(slice_sizes[d] == Extent::Const(1), "the slice size of the axis {d} must be 1");
    }
    let batch = batch_extents(indices, dims.index_vector_dim, dims.start_index_map.len())?;
    let (o, i) = (&dims.operand_batching_dims, &dims.start_indices_batching_dims);
    batching(operand, (o, i), dims.index_vector_dim, &batch, facts)?;
    let slice: Vec<usize> = (0..rank)
        .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d))
        .collect();
    let result_rank = batch.len() + slice.len();
    need!(
        dims.offset_dims.len() == slice.len(),
        "{} offset axes hold {} axes",
        dims.offset_dims.len(),
        slice.len()
    );
    need!(dims.offset_dims.is_sorted(), "the offset axes {:?} are not in order", dims.offset_dims);
    axes("the offset axes", &dims.offset_dims, result_rank)?;
    let (mut slice, mut batch) = (slice.into_iter(), batch.into_iter());
    let extents = (0..result_rank).filter_map(|d| {
        if dims.offset_dims.contains(&d) {
            slice.next().map(|s| slice_sizes[s].clone())
        } else {
            batch.next()
        }
    });
    Ok(TensorType::new(operand.dtype, Space::new(extents.collect::<Vec<_>>())))
}

fn scatter(
    dims: &ScatterDims,
    args: &[TensorType],
    join: &RegionType,
    facts: &Facts,
) -> Result<Vec<TensorType>, String> {
    let n = args.len() / 2;
    need!(
        n > 0 && args.len() == 2 * n + 1,
        "it needs n inputs, indices and n updates, and has {}",
        args.len()
    );
    let (inputs, indices, updates) = (&args[..n], &args[n], &args[n + 1..]);
    same_space(inputs)?;
    same_space(updates)?;
    for (input, update) in inputs.iter().zip(updates) {
        need!(input.dtype == update.dtype, "the updates {update} are not of the type of the input {input}");
    }
    let (operand, update) = (&inputs[0], &updates[0]);
    let (rank, update_rank) = (operand.space.rank(), update.space.rank());
    axes("the inserted axes", &dims.inserted_window_dims, rank)?;
    axes("the batching axes", &dims.input_batching_dims, rank)?;
    axes("the indexed axes", &dims.scatter_dims_to_operand_dims, rank)?;
    axes("the window axes", &dims.update_window_dims, update_rank)?;
    need!(
        dims.update_window_dims.is_sorted(),
        "the window axes {:?} are not in order",
        dims.update_window_dims
    );
    disjoint("inserted and batching axes", &dims.inserted_window_dims, &dims.input_batching_dims)?;
    disjoint("indexed and batching axes", &dims.scatter_dims_to_operand_dims, &dims.input_batching_dims)?;
    let batch = batch_extents(indices, dims.index_vector_dim, dims.scatter_dims_to_operand_dims.len())?;
    let (o, i) = (&dims.input_batching_dims, &dims.scatter_indices_batching_dims);
    batching(operand, (o, i), dims.index_vector_dim, &batch, facts)?;
    let window: Vec<usize> = (0..rank)
        .filter(|d| !dims.inserted_window_dims.contains(d) && !dims.input_batching_dims.contains(d))
        .collect();
    let found = dims.update_window_dims.len();
    need!(found == window.len(), "{found} window axes hold {} axes", window.len());
    for (&d, &u) in window.iter().zip(&dims.update_window_dims) {
        let fits = at_most(update.space.extent(u), operand.space.extent(d), facts);
        need!(fits, "axis {u} of the updates {update} is larger than axis {d} of {operand}");
    }
    let scatter: Vec<usize> = (0..update_rank).filter(|d| !dims.update_window_dims.contains(d)).collect();
    let same = scatter.len() == batch.len()
        && scatter.iter().zip(&batch).all(|(&d, b)| same_size(update.space.extent(d), b, facts));
    need!(same, "the updates {update} do not fit the indices {indices}");
    let dtypes: Vec<DType> = inputs.iter().map(|i| i.dtype).collect();
    region("the region", join, &[&dtypes[..], &dtypes[..]].concat(), &dtypes)?;
    Ok(inputs.to_vec())
}

fn bitcast(x: &TensorType, to: DType) -> Result<TensorType, String> {
    let (from, rank) = (x.dtype, x.space.rank());
    need!(!from.is_bool() && !to.is_bool() && from.size() != to.size(), "from {from} to {to} is not defined");
    let mut extents = x.space.extents().to_vec();
    if to.size() < from.size() {
        extents.push(Extent::Const((from.size() / to.size()) as u64));
    } else {
        let ratio = (to.size() / from.size()) as u64;
        let last = extents.pop();
        let fits = last.as_ref().and_then(Extent::as_const) == Some(ratio);
        need!(rank > 0 && fits, "the last axis of {x} must have {ratio} elements to become a {to}");
    }
    Ok(TensorType::new(to, Space::new(extents)))
}

fn fft(kind: FftKind, lengths: &[u64], x: &TensorType) -> Result<TensorType, String> {
    let (rank, n) = (x.space.rank(), lengths.len());
    need!((1..=3).contains(&n) && n <= rank, "{n} axes of {x} cannot be transformed (1 to 3 can)");
    let dtype = match (kind, x.dtype) {
        (FftKind::Fft | FftKind::Ifft, DType::C64 | DType::C128) => x.dtype,
        (FftKind::Rfft, DType::F32) => DType::C64,
        (FftKind::Rfft, DType::F64) => DType::C128,
        (FftKind::Irfft, DType::C64 | DType::C128) => x.dtype.part(),
        (_, d) => return Err(format!("{kind:?} is not defined for {d}")),
    };
    let (mut input, mut output) = (lengths.to_vec(), lengths.to_vec());
    match kind {
        FftKind::Rfft => output[n - 1] = output[n - 1] / 2 + 1,
        FftKind::Irfft => input[n - 1] = input[n - 1] / 2 + 1,
        FftKind::Fft | FftKind::Ifft => {}
    }
    let (batch, axes) = x.space.extents().split_at(rank - n);
    let fits = axes.iter().map(Extent::as_const).eq(input.iter().map(|&l| Some(l)));
    need!(fits, "the last axes of {x} must be {input:?} for the lengths {lengths:?}");
    let extents = batch.iter().cloned().chain(output.into_iter().map(Extent::Const));
    Ok(TensorType::new(dtype, Space::new(extents.collect::<Vec<_>>())))
}

/// A batch of square matrices of a type that has linear algebra.
fn square(a: &TensorType) -> Result<(), String> {
    let rank = a.space.rank();
    let field = matches!(a.dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128);
    let square = rank >= 2 && a.space.extent(rank - 2) == a.space.extent(rank - 1);
    need!(field && square, "{a} is not a batch of square matrices of f32, f64, c64 or c128");
    Ok(())
}
