//! Gathers, scatters and slices at positions that are known when a program is compiled.
//!
//! `x.at[1:-1].add(u)` arrives as a scatter, `lax.dynamic_slice(x, (0, 2), …)` as a dynamic slice, at literal positions;
//! `jnp.diagonal(x)` and frames of a signal as gathers at positions that are an affine sequence, of which the values are
//! known or the expression ([`crate::sequences`]). As assignments (a read, a choice between the update and what was there,
//! an accumulation) they take part in everything that is done with assignments. All of it is exact.

use crate::indexed::joined;
use crate::live::tensors;
use crate::sequences::Sequences;
use std::collections::HashMap;
use std::sync::Arc;
use surject_index::{Affine, Fill, Guard, IndexMap, Space};
use surject_ir::{
    AccOp, Buffer, DType, FieldId, Function, GatherDims, LibOp, Region, Scalar, ScatterDims, Statement,
    StatementKind, Var, interp,
};

/// A window of fewer elements than one of so many is put where it belongs: that touches no others.
const FEW: u64 = 4;
/// Tensors with more elements are not evaluated.
const POINTS: u64 = 1024;

/// Integer tensors that depend on literals alone: the values of small ones, and affine sequences.
#[derive(Default)]
pub(crate) struct Known {
    values: HashMap<Var, Arc<Buffer>>,
    sequences: Sequences,
}

impl Known {
    /// Takes note of a statement.
    pub(crate) fn add(&mut self, f: &Function, statement: &Statement) {
        self.sequences.add(f, statement);
        let small = |space: &Space| space.points().is_some_and(|n| n <= POINTS);
        match &statement.kind {
            StatementKind::Constant { target, value } if value.len() as u64 <= POINTS => {
                self.values.insert(*target, Arc::clone(value));
            }
            StatementKind::Store { target, field } => {
                let dtype = f.ty(*target).dtype;
                let int = dtype.is_int() || dtype.is_bool();
                let known = int
                    && f.fields.reachable(&[*field]).iter().all(|&id| small(&f.fields[id].space))
                    && tensors(f, *field).iter().all(|v| self.values.contains_key(v));
                if let Some(value) = known.then(|| interp::field(f, *field, &self.values).ok()).flatten() {
                    self.values.insert(*target, Arc::new(value));
                }
            }
            _ => {}
        }
    }

    fn values(&self, var: Var) -> Option<Vec<i64>> {
        let buffer = self.values.get(&var)?;
        (0..buffer.len()).map(|i| buffer.get(i).as_i128().and_then(|v| i64::try_from(v).ok())).collect()
    }
}

/// The call as a field. `splat`: the value of a tensor that is the same everywhere.
pub(crate) fn assigned(
    f: &mut Function,
    known: &Known,
    call: (Var, &LibOp, &[Var], &[Region]),
    splat: impl Fn(Var) -> Option<Scalar>,
) -> Option<FieldId> {
    let (target, op, args, regions) = call;
    let (&operand, rest) = args.split_first()?;
    let around = f.ty(operand).space.clone();
    if around.is_empty() || f.ty(target).space.is_empty() {
        return None;
    }
    match (op, rest, regions) {
        (LibOp::DynamicSlice { sizes }, starts, []) => {
            let window = clamped(known, starts, &around, sizes)?;
            window.slice(f, operand, target)
        }
        (LibOp::Gather { dims, slice_sizes, .. }, &[indices], []) => {
            if !dims.operand_batching_dims.is_empty() {
                return None;
            }
            let out = f.ty(target).space.clone();
            let places = Places::new(f, known, indices, &out, dims)?;
            let mut offsets = dims.offset_dims.iter();
            let mut components = Vec::new();
            for (axis, (&extent, &size)) in around.sizes()?.iter().zip(slice_sizes).enumerate() {
                let most = extent.checked_sub(i64::try_from(size).ok()?)?;
                let mut place = match dims.start_index_map.iter().position(|&a| a == axis) {
                    Some(number) => places.affine(number, most)?,
                    None => Affine::fixed(out.rank(), 0),
                };
                if !dims.collapsed_slice_dims.contains(&axis) {
                    place.coeffs[*offsets.next()?] = 1;
                }
                components.push(place);
            }
            let map = IndexMap::total(out, around, components).ok()?;
            let tensor = f.tensor(operand);
            f.fields.read(map, tensor).ok()
        }
        (LibOp::DynamicUpdateSlice, [update, starts @ ..], []) => {
            let sizes: Option<Vec<u64>> =
                f.ty(*update).space.sizes()?.iter().map(|&n| u64::try_from(n).ok()).collect();
            let window = clamped(known, starts, &around, &sizes?)?;
            window.update(f, [operand, *update], None, splat(operand).is_some())
        }
        (LibOp::Scatter { dims, .. }, &[indices, updates], [join]) => {
            if !dims.input_batching_dims.is_empty() {
                return None;
            }
            window(f, known, [indices, updates], dims, &around)
                .and_then(|window| window.update(f, [operand, updates], Some(join), splat(operand).is_some()))
                .or_else(|| accumulated(f, known, ([operand, indices, updates], splat(operand)), dims, join))
        }
        _ => None,
    }
}

/// The index vectors of a gather: of each element of the batch, along these axes of the result.
struct Places {
    /// The components of all vectors, where they are known.
    values: Option<Vec<i64>>,
    /// Each component as an affine expression of the position in the result, where it is one and nothing is moved.
    sequences: Vec<Option<Affine>>,
    /// The axes of the result, their lengths, and their strides among the indices.
    batch: Vec<(usize, i64, usize)>,
    /// The stride of the components of a vector.
    stride: usize,
    out: Space,
}

impl Places {
    fn new(f: &Function, known: &Known, indices: Var, out: &Space, dims: &GatherDims) -> Option<Places> {
        let (sizes, lengths) = (f.ty(indices).space.sizes()?, out.sizes()?);
        let mut strides = vec![1usize; sizes.len() + 1];
        for axis in (0..sizes.len()).rev() {
            strides[axis] = strides[axis + 1].checked_mul(usize::try_from(sizes[axis]).ok()?)?;
        }
        // Indices without an axis for components have one of them.
        let stride = if dims.index_vector_dim < sizes.len() { strides[dims.index_vector_dim + 1] } else { 1 };
        let others = (0..sizes.len()).filter(|&a| a != dims.index_vector_dim);
        let axes = (0..out.rank()).filter(|d| !dims.offset_dims.contains(d));
        let batch: Vec<_> = axes.zip(others).map(|(d, a)| (d, lengths[d], strides[a + 1])).collect();
        let axes: Vec<usize> = batch.iter().map(|&(d, ..)| d).collect();
        let sequences = (0..dims.start_index_map.len()).map(|number| {
            known.sequences.component(f, indices, (dims.index_vector_dim, number), &axes, out.rank())
        });
        let (sequences, values) = (sequences.collect(), known.values(indices));
        Some(Places { values, sequences, batch, stride, out: out.clone() })
    }

    /// A component of the index vectors, each moved until its window lies inside, as an affine expression of the
    /// position in the result; `None` where it is none.
    fn affine(&self, number: usize, most: i64) -> Option<Affine> {
        let inside =
            |place: &&Affine| place.range(&self.out).is_some_and(|(low, high)| low >= 0 && high <= most);
        let sequence = self.sequences.get(number)?.as_ref().filter(inside).cloned();
        sequence.or_else(|| self.evaluated(number, most))
    }

    /// From the values.
    fn evaluated(&self, number: usize, most: i64) -> Option<Affine> {
        let starts = self.values.as_ref()?;
        let at = |offset: usize| Some((*starts.get(number * self.stride + offset)?).clamp(0, most));
        let first = at(0)?;
        let mut place = Affine::fixed(self.out.rank(), first);
        let mut points = vec![(0usize, first)];
        for &(d, length, stride) in &self.batch {
            let step = if length > 1 { at(stride)?.checked_sub(first)? } else { 0 };
            place.coeffs[d] = step;
            let mut all = Vec::with_capacity(points.len() * length.unsigned_abs() as usize);
            for &(offset, value) in &points {
                let line = (0..length).map(|i| (offset + i as usize * stride, value + step * i));
                all.extend(line);
            }
            points = all;
        }
        points.into_iter().all(|(offset, value)| at(offset) == Some(value)).then_some(place)
    }
}

/// The window of the operand that the only window of updates is for.
fn window(
    f: &Function,
    known: &Known,
    [indices, updates]: [Var; 2],
    dims: &ScatterDims,
    around: &Space,
) -> Option<Window> {
    let starts = known.values(indices)?;
    one(&f.ty(updates).space, &dims.update_window_dims)?;
    let sizes = f.ty(updates).space.sizes()?;
    let mut own = dims.update_window_dims.iter();
    let mut window = Window::default();
    for axis in 0..around.rank() {
        let own = match dims.inserted_window_dims.contains(&axis) {
            true => None,
            false => Some(*own.next()?),
        };
        let start = component(&dims.scatter_dims_to_operand_dims, axis, &starts)?;
        window.axes.push((own, own.map_or(1, |d| sizes[d]), start));
    }
    Some(window)
}

/// The operand with updates accumulated at affine sequences of positions, none of them outside: what is left of a gather
/// of frames when it is differentiated. Sums of floats begin with the operand, so only that of zeros may come last.
fn accumulated(
    f: &mut Function,
    known: &Known,
    ([operand, indices, updates], splat): ([Var; 3], Option<Scalar>),
    dims: &ScatterDims,
    join: &Region,
) -> Option<FieldId> {
    let (dtype, space, from) =
        (f.ty(operand).dtype, f.ty(operand).space.clone(), f.ty(updates).space.clone());
    let op = join.accumulation(f)?;
    let exact = dtype.is_int() || dtype.is_bool() || matches!(op, AccOp::Max | AccOp::Min);
    let zeros = op == AccOp::Add && splat.is_some_and(|value| value == Scalar::zero(dtype));
    // Few updates touch few elements, and an assignment has them all.
    let many = from.points()?.checked_mul(FEW)? >= space.points()?;
    (many && (exact || zeros)).then_some(())?;
    let batch: Vec<usize> = (0..from.rank()).filter(|d| !dims.update_window_dims.contains(d)).collect();
    let mut windows = dims.update_window_dims.iter();
    let mut components = Vec::new();
    for (axis, extent) in space.sizes()?.into_iter().enumerate() {
        let mut place = Affine::fixed(from.rank(), 0);
        if let Some(number) = dims.scatter_dims_to_operand_dims.iter().position(|&a| a == axis) {
            place = known.sequences.component(
                f,
                indices,
                (dims.index_vector_dim, number),
                &batch,
                from.rank(),
            )?;
        }
        if !dims.inserted_window_dims.contains(&axis) {
            place.coeffs[*windows.next()?] = 1;
        }
        let (low, high) = place.range(&from)?;
        (low >= 0 && high < extent).then_some(())?;
        components.push(place);
    }
    let map = IndexMap::total(from, space, components).ok()?;
    let (old, new) = (f.tensor(operand), f.tensor(updates));
    let sum = f.fields.acc(op, map, new).ok()?;
    f.fields.binary(op.binary()?, old, sum).ok()
}

/// Is there one window in a tensor of windows with these axes?
fn one(all: &Space, window: &[usize]) -> Option<()> {
    let sizes = all.sizes()?;
    let others = sizes.iter().enumerate().filter(|(axis, _)| !window.contains(axis));
    others.map(|(_, &n)| n).product::<i64>().eq(&1).then_some(())
}

/// The component of an index vector that is for an axis; 0 where there is none.
fn component(axes: &[usize], axis: usize, starts: &[i64]) -> Option<i64> {
    match axes.iter().position(|&a| a == axis) {
        Some(k) => starts.get(k).copied(),
        None => Some(0),
    }
}

/// The window of a dynamic slice, which is moved until it lies inside.
fn clamped(known: &Known, starts: &[Var], around: &Space, sizes: &[u64]) -> Option<Window> {
    let mut window = Window::default();
    for (axis, (&start, (&extent, &size))) in starts.iter().zip(around.sizes()?.iter().zip(sizes)).enumerate()
    {
        let &[start] = &known.values(start)?[..] else { return None };
        let size = i64::try_from(size).ok()?;
        window.axes.push((Some(axis), size, start.clamp(0, extent - size)));
    }
    (window.axes.len() == around.rank()).then_some(window)
}

/// A window in a tensor: of each of its axes the axis of the window, if it has one, the length, and the start.
#[derive(Default)]
struct Window {
    axes: Vec<(Option<usize>, i64, i64)>,
}

impl Window {
    /// What the window shows.
    fn slice(&self, f: &mut Function, operand: Var, target: Var) -> Option<FieldId> {
        let (out, from) = (f.ty(target).space.clone(), f.ty(operand).space.clone());
        let at = |&(axis, _, start): &(Option<usize>, i64, i64)| match axis {
            Some(d) => Affine::strided(out.rank(), d, 1, start),
            None => Affine::fixed(out.rank(), start),
        };
        let map = IndexMap::total(out.clone(), from, self.axes.iter().map(at).collect()).ok()?;
        let tensor = f.tensor(operand);
        f.fields.read(map, tensor).ok()
    }

    /// The tensor with an update in the window, which `join` makes of both.
    fn update(
        &self,
        f: &mut Function,
        [operand, update]: [Var; 2],
        join: Option<&Region>,
        splat: bool,
    ) -> Option<FieldId> {
        let [space, from] = [operand, update].map(|v| f.ty(v).space.clone());
        let (all, some) = (space.points()?, from.points()?);
        if some == 0 || (!splat && some.checked_mul(FEW)? < all) {
            return None;
        }
        let rank = space.rank();
        let mut components = vec![Affine::fixed(rank, 0); from.rank()];
        let mut guards = Vec::new();
        for (axis, &(own, length, start)) in self.axes.iter().enumerate() {
            let place = Affine::strided(rank, axis, 1, start.checked_neg()?);
            if let Some(d) = own {
                components[d] = place.clone();
            }
            if start != 0 || space.extent(axis).as_const()? != length as u64 {
                guards.push(Guard { expr: place, bound: (length as u64).into() });
            }
        }
        let old = f.tensor(operand);
        let new = f.tensor(update);
        if guards.is_empty() {
            let map = IndexMap::total(space, from, components).ok()?;
            let new = f.fields.read(map, new).ok()?;
            return joined(f, join, old, new);
        }
        let map = IndexMap::partial(space.clone(), from, components, guards.clone(), Fill(0)).ok()?;
        let new = f.fields.read(map, new).ok()?;
        let joined = joined(f, join, old, new)?;
        let truth = f.fields.constant(&space, Scalar::from_bits(DType::I1, 1));
        let here = (0..rank).map(|a| Affine::axis(rank, a)).collect();
        let inside = IndexMap::partial(space.clone(), space, here, guards, Fill(0)).ok()?;
        let inside = f.fields.read(inside, truth).ok()?;
        f.fields.select(inside, joined, old).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::indexed::assign;
    use surject_ir::{interp, testing};

    /// The rewritten program, which gives the same bits.
    fn rewritten(text: &str) -> Option<String> {
        let program = surject_ir::parse(text).unwrap();
        surject_ir::verify(&program).unwrap();
        let new = assign(&program)?;
        surject_ir::verify(&new).unwrap();
        let args = testing::random_args(program.main().unwrap(), 11);
        let run = |p: &surject_ir::Program| interp::run(p, "main", &args).unwrap();
        assert_eq!(run(&program), run(&new));
        Some(surject_ir::print(&new))
    }

    /// A scatter of one window at an index of two literals.
    fn add(starts: [i32; 2], window: [usize; 2]) -> String {
        let ([r, c], [i, j]) = (window, starts);
        format!(
            "func main(x: f32[6,7], u: f32[{r},{c}]) -> (y) {{
  place : i32[2] =: over i<2: select(index(i)i32 == 0i32, {i}i32, {j}i32)
  y : f32[6,7] = call scatter{{update_window_dims=[0,1], inserted_window_dims=[], input_batching_dims=[], \
scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0,1], index_vector_dim=0, \
indices_are_sorted=true, unique_indices=true}}(x, place, u) {{
    region(a: f32[], b: f32[]) -> (c) {{
      c : f32[] =: a + b * 2f32
    }}
  }}
}}
"
        )
    }

    #[test]
    fn the_inside_of_a_tensor() {
        insta::assert_snapshot!(rewritten(&add([1, 1], [4, 5])).unwrap());
    }

    /// Also where parts of the window, or all of it, lie outside; a small window stays a scatter.
    #[test]
    fn windows_anywhere() {
        for (starts, window) in
            [([0, 0], [6, 7]), ([3, 4], [6, 7]), ([-2, 3], [5, 5]), ([9, 0], [6, 7]), ([0, -7], [6, 7])]
        {
            assert!(rewritten(&add(starts, window)).is_some(), "{starts:?} {window:?}");
        }
        assert!(rewritten(&add([2, 2], [2, 2])).is_none());
    }

    /// A diagonal, columns backwards, pairs of rows, and no sequences.
    #[test]
    fn affine_sequences() {
        let rewritten = |shapes: [&str; 2], place: &str, [offset, collapsed, map]: [&str; 3], sizes: &str| {
            let [of, axes] = shapes;
            rewritten(&format!(
                "func main(x: f32[6,7]) -> (g) {{
  place : i32[{axes}] =: {place}
  g : f32[{of}] = call gather{{offset_dims=[{offset}], collapsed_slice_dims=[{collapsed}], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[{map}], index_vector_dim=1, slice_sizes=[{sizes}], \
indices_are_sorted=false}}(x, place)
}}
"
            ))
        };
        let diagonal = "over i<5, j<2: index(i)i32 + index(j)i32 * 2i32";
        let columns = "over i<4, j<1: 6i32 - index(i)i32 * 2i32";
        let rows = "over i<3, j<1: index(i)i32 * 2i32";
        let squares = "over i<3, j<1: index(i)i32 * index(i)i32";
        insta::assert_snapshot!(
            [
                rewritten(["5", "5,2"], diagonal, ["", "0,1", "0,1"], "1,1").unwrap(),
                rewritten(["6,4", "4,1"], columns, ["0", "1", "1"], "6,1").unwrap(),
                rewritten(["3,2,7", "3,1"], rows, ["1,2", "", "0"], "2,7").unwrap(),
            ]
            .join("\n")
        );
        // The last row is moved inside: 0, 2 and 3 are no sequence.
        assert!(rewritten(["3,3,7", "3,1"], rows, ["1,2", "", "0"], "3,7").is_none());
        assert!(rewritten(["3,7", "3,1"], squares, ["1", "0", "0"], "1,7").is_none());
    }

    /// Windows of an image: the components of the indices are sequences, which are put together.
    #[test]
    fn windows_side_by_side() {
        let text = |rows: u64| {
            format!(
                "func main(x: f32[{rows},9]) -> (g) {{
  row : i32[12,7,3,1] =: over i<12, j<7, k<3, l<1: index(i)i32 + index(k)i32
  column : i32[12,7,3,1] =: over i<12, j<7, k<3, l<1: 8i32 - index(j)i32 - index(k)i32
  place : i32[12,7,3,2] =: over i<12, j<7, k<3, l<2: (row[i,j,k,l] where 0 <= l < 1 else 0i32) + (column[i,j,k,l - 1] where 0 <= l - 1 < 1 else 0i32)
  g : f32[12,7,3] = call gather{{offset_dims=[], collapsed_slice_dims=[0,1], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[0,1], index_vector_dim=3, slice_sizes=[1,1], \
indices_are_sorted=false}}(x, place)
}}
"
            )
        };
        insta::assert_snapshot!(rewritten(&text(14)).unwrap());
        assert!(rewritten(&text(13)).is_none());
    }

    /// Frames of a signal, more of them than are evaluated; where the last ones would be moved inside, they stay a gather.
    #[test]
    fn frames() {
        let text = |signal: u64| {
            format!(
                "func main(x: f32[{signal}]) -> (g) {{
  start : i32[50] =: over i<50: index(i)i32 * 3i32
  place : i32[50,40] =: over i<50, j<40: start[i] + index(j)i32
  there : i32[50,40] =: over i<50, j<40: select(place[i,j] < 0i32, place[i,j] + {signal}i32, place[i,j])
  vector : i32[50,40,1] =: over i<50, j<40, k<1: there[i,j]
  g : f32[50,40] = call gather{{offset_dims=[], collapsed_slice_dims=[0], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=2, slice_sizes=[1], \
indices_are_sorted=false}}(x, vector)
}}
"
            )
        };
        assert!(rewritten(&text(187)).is_some_and(|text| text.contains("x[3*i + j]")));
        assert!(rewritten(&text(186)).is_none());
    }

    /// Frames added where they were taken from: exact where the sum begins with zero or nothing is rounded.
    #[test]
    fn frames_that_overlap() {
        let text = |ty: &str, zero: &str, op: &str, signal: u64| {
            format!(
                "func main(u: {ty}[50,40,2]) -> (y) {{
  old : {ty}[{signal},2] =: over i<{signal}, j<2: {zero}
  place : i32[50,40,1] =: over i<50, j<40, k<1: index(i)i32 * 3i32 + index(j)i32
  y : {ty}[{signal},2] = call scatter{{update_window_dims=[2], inserted_window_dims=[0], input_batching_dims=[], \
scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], index_vector_dim=2, indices_are_sorted=false, \
unique_indices=false}}(old, place, u) {{
    region(a: {ty}[], b: {ty}[]) -> (c) {{
      c : {ty}[] =: {op}
    }}
  }}
}}
"
            )
        };
        insta::assert_snapshot!(rewritten(&text("f32", "0f32", "a + b", 187)).unwrap());
        assert!(rewritten(&text("f32", "1f32", "max(b, a)", 200)).is_some());
        assert!(rewritten(&text("i32", "7i32", "b + a", 187)).is_some());
        assert!(rewritten(&text("f32", "1f32", "a + b", 187)).is_none(), "rounds elsewhere");
        assert!(rewritten(&text("f32", "0f32", "a + b", 186)).is_none(), "the last window is dropped");
        assert!(rewritten(&text("i32", "0i32", "a - b", 187)).is_none(), "no accumulation");
        assert!(rewritten(&text("i32", "0i32", "b", 187)).is_none(), "the last one wins");
        assert!(rewritten(&text("i32", "0i32", "a + b", 8001)).is_none(), "few updates");
    }

    /// A row that is set, and one that is taken: the index is moved until the window lies inside.
    #[test]
    fn slices_and_rows() {
        let text = |i: i32| {
            format!(
                "func main(x: f32[3,8], u: f32[1,8]) -> (y, s, g) {{
  i : i32[] =: {i}i32
  j : i32[] =: 0i32
  y : f32[3,8] = call dynamic_update_slice(x, u, i, j)
  s : f32[2,4] = call dynamic_slice{{sizes=[2,4]}}(x, i, i)
  place : i32[1] =: over a<1: {i}i32
  g : f32[8] = call gather{{offset_dims=[0], collapsed_slice_dims=[0], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=0, slice_sizes=[1,8], \
indices_are_sorted=false}}(x, place)
}}
"
            )
        };
        for i in [-3, 0, 2, 7] {
            assert!(rewritten(&text(i)).is_some());
        }
        insta::assert_snapshot!(rewritten(&text(1)).unwrap());
    }
}
