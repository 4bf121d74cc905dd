//! A reduction of many elements of the result in vectors: neighbours are the lanes, and each joins its terms in their order.
//!
//! The lanes lie along the last axis that is kept, or along the one before a short one, whose elements are then joined side
//! by side. A loop runs over the innermost reduced axis, some terms at a time (a [`Piece`]). Terms of which neighbours lie some
//! apart are loaded as strided vectors, which [`strided::runs`](crate::kernels::strided::runs) makes transpositions of.

use super::super::order;
use super::super::points::{known, literal};
use super::super::scalar::ScalarFunction;
use super::super::vectors::overflow;
use super::super::{Kernels, Lowered};
use super::Reduction;
use super::merged::Merged;
use crate::kernels::expression::Tensor;
use crate::kernels::library::points::Maker;
use surject_ir::{DType, FieldKind, Scalar};
use surject_kernel::{Access, Affine, Guard, LoopKind, Place, Type, Value, Wanted};

/// Bytes of results that are reduced side by side where they lie next to each other: pieces of rows, of which the processor
/// reads whole lines in order, and chains of comparisons that do not wait for each other.
const MANY: i64 = 256;

/// Terms that are joined in one iteration where neighbours lie next to each other. (Of 4, pieces of rows that are 4 KiB apart meet
/// in the sets of a first cache: 1.15 times as long.)
const TERMS: i64 = 2;

/// Rows up to this length are loaded as a whole, and transposed.
const LONGEST: i64 = 24;

/// How results are reduced in lanes.
pub(super) struct InLanes<'a> {
    pub(super) lanes: i64,
    /// Where the results go; `None`: nobody reads one.
    pub(super) results: &'a [Option<Tensor>],
}

/// Terms `low..high` of the innermost reduced axis, `step` of them in one iteration.
struct Piece {
    step: i64,
    low: i64,
    high: i64,
}

/// Which term of an iteration, and of which vector and result of a row.
#[derive(Clone, Copy)]
struct Term {
    term: i64,
    chain: i64,
}

/// The function, and the types in which its results are carried.
struct Carried {
    function: ScalarFunction,
    types: Vec<DType>,
    /// The conditions that are known of all terms but the first.
    known: Vec<(order::NodeId, bool)>,
}

impl Carried {
    /// Positions that are only compared with each other and chosen, beside values of at most four bytes, are `i32`, so that a vector
    /// holds as many of them as of the others.
    fn of(made: &Kernels<'_>, reduction: &Reduction<'_>, function: &ScalarFunction) -> Carried {
        let mut types: Vec<DType> = reduction.operands.iter().map(|&v| made.dtype(v)).collect();
        let known = known_of_positions(made, reduction, function);
        let own = types.clone();
        let mut ordered = Vec::new();
        let mut function = function.clone();
        for (i, &dtype) in own.iter().enumerate().filter(|(_, d)| d.size() > DType::I32.size()) {
            let fits = |value: i128| value >= 0 && DType::I32.holds(value) && dtype.holds(value as i64);
            let first = literal(made.call.function, reduction.inits[i]).and_then(Scalar::as_i128);
            let last = position(made, reduction, i).map(|axis| i128::from(reduction.shape[axis] - 1));
            let all_fit = dtype.is_int() && [first, last].iter().all(|n| n.is_some_and(fits));
            match function.only_ordered(i).filter(|_| all_fit) {
                Some(nodes) => ordered.extend(nodes),
                None => return Carried { function, types, known },
            }
            types[i] = DType::I32;
        }
        ordered.into_iter().for_each(|node| function.dag.retype(node, DType::I32));
        Carried { function, types, known }
    }
}

/// The axis whose positions an operand is.
fn position(made: &Kernels<'_>, reduction: &Reduction<'_>, operand: usize) -> Option<usize> {
    match known(made.call.function, reduction.operands[operand]) {
        Some(&FieldKind::Index { axis }) => Some(axis),
        _ => None,
    }
}

/// What is known of the comparisons of positions, in a reduction along one axis, from the second term on: positions along that
/// axis only grow, and start with one that is not above the first.
fn known_of_positions(
    made: &Kernels<'_>,
    reduction: &Reduction<'_>,
    function: &ScalarFunction,
) -> Vec<(order::NodeId, bool)> {
    let &[axis] = &reduction.reduced[..] else { return Vec::new() };
    let mut found = Vec::new();
    for i in 0..reduction.operands.len() {
        let dtype = made.dtype(reduction.operands[i]);
        let first = literal(made.call.function, reduction.inits[i]).and_then(Scalar::as_i128);
        let holds = dtype.is_int() && dtype.holds(reduction.shape[axis] - 1);
        let is_along = position(made, reduction, i) == Some(axis);
        if is_along && holds && first.is_some_and(|first| first <= 0) {
            found.extend(function.while_ascending(i));
        }
    }
    found
}

/// What the vectors of one kernel have in common.
struct Vectors<'a> {
    axes: &'a Merged,
    carried: &'a Carried,
    /// The axis that lanes lie along, and the innermost one that is reduced.
    along: usize,
    inner: usize,
    lanes: i64,
    /// Vectors side by side, and results of each lane beside each other.
    beside: i64,
    row: i64,
    /// From how many bytes on operands are prefetched.
    far: i64,
}

impl Vectors<'_> {
    /// Do the terms of one result lie next to each other, and those of its neighbours not?
    fn is_square(&self) -> bool {
        self.axes.strides[self.inner] == self.row && self.axes.strides[self.along] != 1
    }

    /// The blocks of a line of so many terms, and what is left of it, which is one block.
    fn pieces(&self, length: i64) -> [Piece; 2] {
        let in_blocks = self.is_square() && self.row == 1 && !self.axes.has_short_rows;
        let block = if in_blocks {
            self.lanes
        } else {
            // Nothing is known of the first term of a block, so blocks are as even as they can be.
            let most = if self.is_square() { (LONGEST / self.row).max(1) } else { TERMS };
            let blocks = (length + most - 1) / most;
            (length + blocks - 1) / blocks.max(1)
        };
        let is_short = in_blocks && length <= LONGEST;
        let main = if is_short { 0 } else { length - length % block.max(1) };
        let rest = (length - main).max(1);
        [Piece { step: block, low: 0, high: main }, Piece { step: rest, low: main, high: length }]
    }

    /// Where vector `beside`, result `place` of its row and term `term` of an iteration lie.
    fn at(&self, at: &[Affine], beside: i64, place: i64, term: i64) -> Lowered<Vec<Affine>> {
        let mut at = at.to_vec();
        let further = |at: &mut Affine, by: i64| -> Lowered<()> {
            *at = at.plus(&by.into(), 1).ok_or_else(overflow)?;
            Ok(())
        };
        further(&mut at[self.along], beside * self.lanes)?;
        further(&mut at[self.inner], term)?;
        if self.axes.has_short_rows {
            let last = at.len() - 1;
            at[last] = place.into();
        }
        Ok(at)
    }
}

impl<'a> Kernels<'a> {
    /// The kernel of a reduction in lanes.
    /// It is long because it opens and closes all loops of one kernel.
    pub(super) fn reduce_in_lanes(
        &mut self,
        reduction: &Reduction<'_>,
        function: &ScalarFunction,
        axes: &Merged,
        by: &InLanes<'_>,
    ) -> Lowered<()> {
        let carried = Carried::of(self, reduction, function);
        let mut kept = axes.kept();
        kept.truncate(kept.len() - usize::from(axes.has_short_rows));
        let out = axes.sizes(&kept);
        let (Some(&along), Some(&inner)) = (kept.last(), axes.reduced.last()) else { return Ok(()) };
        let widest = carried.types.iter().map(|d| d.size() as i64).max().unwrap_or(1);
        let beside = match axes.strides[along] {
            1 => neighbours(by.lanes, self.threads(), &out, MANY / widest) / by.lanes,
            _ => 1,
        };
        let vectors = Vectors {
            axes,
            carried: &carried,
            along,
            inner,
            lanes: by.lanes,
            beside,
            row: axes.row(),
            far: self.machine.far_bytes().of_lines,
        };
        let (length, block) = (axes.shape[along], by.lanes * beside);
        // The last block of a line ends with it: some results are computed twice.
        let mut blocks = out.clone();
        if let Some(count) = blocks.last_mut() {
            *count = (length + block - 1) / block;
        }
        let count = super::elements(&blocks)?;
        let terms: i64 = axes.sizes(&axes.reduced).iter().product();
        let operations = terms.saturating_mul(block * vectors.row * carried.types.len() as i64);
        self.shared_kernel(count, operations, |maker, number| {
            let mut at = vec![Affine::from(0); axes.shape.len()];
            for (&axis, digit) in kept.iter().zip(maker.digits(number, &blocks)?) {
                at[axis] = digit;
            }
            let own = maker.block(&at[along], length, block)?;
            at[along] = own.first.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
            let mut state = vectors.initial(maker, reduction)?;
            let (inner_axis, outer) = axes.reduced.split_last().ok_or_else(overflow)?;
            for &axis in outer {
                let (place, inside) = maker.b.open_for(0, axes.shape[axis], 1, LoopKind::Serial, &state);
                at[axis] = place.into();
                state = inside;
            }
            for piece in vectors.pieces(axes.shape[*inner_axis]) {
                if piece.low < piece.high {
                    state = vectors.piece(maker, reduction, &at, &piece, state)?;
                }
            }
            for _ in outer {
                state = maker.b.close_for(&state);
            }
            vectors.store(maker, by, &at, &own.stored, &state)
        })
    }
}

impl Vectors<'_> {
    /// The initial values in all lanes, for each vector and result of a row.
    fn initial(&self, maker: &mut Maker<'_>, reduction: &Reduction<'_>) -> Lowered<Vec<Value>> {
        let inits = reduction.inits(maker)?;
        let one = inits.into_iter().zip(&self.carried.types).map(|(value, &dtype)| {
            let value = maker.b.convert(value, dtype);
            maker.b.broadcast(value, self.lanes as usize)
        });
        let one: Vec<Value> = one.collect();
        Ok(vec![one; (self.beside * self.row) as usize].concat())
    }

    /// The loop over a piece of a line, from a state to the one after it.
    fn piece(
        &self,
        maker: &mut Maker<'_>,
        reduction: &Reduction<'_>,
        at: &[Affine],
        piece: &Piece,
        state: Vec<Value>,
    ) -> Lowered<Vec<Value>> {
        let (place, mut state) =
            maker.b.open_for(piece.low, piece.high, piece.step, LoopKind::Serial, &state);
        let mut at = at.to_vec();
        at[self.inner] = place.into();
        self.prefetch(maker, reduction, &at, piece)?;
        let n = self.carried.types.len();
        for term in 0..piece.step {
            // Of the first term nothing is known: what is carried may be the initial value.
            let known = if term > 0 { &self.carried.known[..] } else { &[] };
            // What is loaded is joined at once: more values than that would not fit into registers.
            for (chain, own) in state.chunks_exact_mut(n).enumerate() {
                let mut arguments = own.to_vec();
                for operand in 0..n {
                    let term = Term { term, chain: chain as i64 };
                    arguments.push(self.term(maker, (reduction, operand), &at, term)?);
                }
                let next = maker.applied(&self.carried.function, &arguments, known)?;
                own.copy_from_slice(&next);
            }
        }
        Ok(maker.b.close_for(&state))
    }

    /// Prefetches the terms of the next iteration where those of one are pieces of rows that come from far away: another row is often
    /// in another page, where the hardware's own prefetches stop.
    fn prefetch(
        &self,
        maker: &mut Maker<'_>,
        reduction: &Reduction<'_>,
        at: &[Affine],
        piece: &Piece,
    ) -> Lowered<()> {
        let elements = self.beside * self.lanes;
        if self.axes.strides[self.along] != 1 || self.axes.strides[self.inner] < 2 * elements {
            return Ok(());
        }
        for &var in reduction.operands {
            let size = maker.call.function.ty(var).dtype.size() as i64;
            let bytes = super::elements(&self.axes.shape)?.saturating_mul(size);
            if bytes <= self.far || known(maker.call.function, var).is_some() {
                continue;
            }
            let mem = maker.memory(Tensor::Var(var), Access::Read)?;
            for term in 0..piece.step {
                let mut next = self.at(at, 0, 0, piece.step + term)?;
                next[self.along] = next[self.along].plus(&Affine::lane(1), -1).ok_or_else(overflow)?;
                maker.prefetch(mem, &self.axes.element(&next)?, elements, Wanted::Read)?;
            }
        }
        Ok(())
    }

    /// A term of an operand, of one vector and result of a row.
    fn term(
        &self,
        maker: &mut Maker<'_>,
        (reduction, operand): (&Reduction<'_>, usize),
        at: &[Affine],
        Term { term, chain }: Term,
    ) -> Lowered<Value> {
        let (var, dtype, lanes) =
            (reduction.operands[operand], self.carried.types[operand], self.lanes as usize);
        let at = |term: i64| self.at(at, chain / self.row, chain % self.row, term);
        Ok(match known(maker.call.function, var).cloned() {
            Some(FieldKind::Const(value)) => maker.b.splat(value, lanes),
            Some(FieldKind::Index { axis }) => {
                let own = maker.call.function.ty(var).dtype;
                let integer = if dtype.is_int() { dtype } else { DType::I64 };
                let (first, here) =
                    (self.axes.position(axis, &at(0)?)?, self.axes.position(axis, &at(term)?)?);
                let further = here.plus(&first, -1).and_then(|step| step.as_constant()).unwrap_or(0);
                let first = maker.b.index(first, Type::vector(integer, lanes));
                let number = match further {
                    0 => first,
                    further => {
                        let further = maker.b.splat(Scalar::from_i128(integer, further.into()), lanes);
                        maker.add(first, further)
                    }
                };
                // A number in a type that does not hold it wraps, as the tensor of positions has it.
                if dtype.is_int() { number } else { maker.b.convert(number, own) }
            }
            _ => {
                let mem = maker.memory(Tensor::Var(var), Access::Read)?;
                let ty = Type::vector(maker.b.memory_type(mem), lanes);
                let value = maker.b.load(Place::new(mem, self.axes.element(&at(term)?)?), ty);
                maker.b.convert(value, dtype)
            }
        })
    }

    /// Stores the results of a block, of those that `stored` says.
    fn store(
        &self,
        maker: &mut Maker<'_>,
        by: &InLanes<'_>,
        at: &[Affine],
        stored: &[Guard],
        state: &[Value],
    ) -> Lowered<()> {
        let n = self.carried.types.len();
        let kept = self.axes.kept();
        let sizes = self.axes.sizes(&kept);
        for (i, tensor) in by.results.iter().enumerate() {
            let Some(tensor) = *tensor else { continue };
            let mem = maker.memory(tensor, Access::Write)?;
            for chain in 0..self.beside * self.row {
                let (beside, place) = (chain / self.row, chain % self.row);
                let at = self.at(at, beside, place, 0)?;
                let own: Vec<Affine> = kept.iter().map(|&a| at[a].clone()).collect();
                let element = super::element(&sizes, &own)?;
                let mut guards = stored.to_vec();
                for guard in &mut guards {
                    let further = (beside * self.lanes).into();
                    guard.expr = guard.expr.plus(&further, 1).ok_or_else(overflow)?;
                }
                let value = maker.b.convert(state[chain as usize * n + i], maker.b.memory_type(mem));
                maker.b.store(Place { guards, ..Place::new(mem, element) }, value);
            }
        }
        Ok(())
    }
}

/// How many results are reduced side by side, of `many` at most, where those of the last of these extents lie next to each
/// other.
fn neighbours(lanes: i64, threads: i64, out: &[i64], many: i64) -> i64 {
    let length = out.last().copied().unwrap_or(1);
    let count = |beside: i64| out.iter().product::<i64>() / length.max(1) * ((length + beside - 1) / beside);
    let mut beside = lanes;
    while 2 * beside <= many.min(length) {
        let (now, next) = (count(beside), count(2 * beside));
        // What lies in two blocks is computed twice.
        if next < threads || 16 * next > 9 * now {
            break;
        }
        beside *= 2;
    }
    beside
}
