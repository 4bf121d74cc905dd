//! Windows with a scalar function.
//!
//! Neighbours along the last axis of the output lie in lanes, and each is joined in the order of its window: a pooling by
//! `logaddexp` takes a twenty-fifth of the time that it takes output by output (Zen 4). Windows that grow by one element
//! an output are done in another way ([`Lines`]) where joining the initial values changes nothing, which is found out when
//! it runs.

use crate::CodegenError;
use crate::code::Value;
use crate::expression::dag::Dag;
use crate::library::folds::{flat, grouped, initial};
use crate::library::growing::Lines;
use crate::library::{Call, Writer, region, strides};
use crate::lower::emit::{At, ScopeId, Val};
use crate::lower::kernel::Kernel;
use crate::machine::elem::Elem;
use surject_ir::{DType, Window};

pub(super) fn sizes_of(window: &Window) -> Vec<i64> {
    window.sizes.iter().map(|&n| n as i64).collect()
}

/// The address of an element of a window, and whether it is in the operand. Outside, the address is 0.
pub(super) fn position(
    w: &mut Writer<'_>,
    scope: ScopeId,
    window: &Window,
    shape: &[i64],
    number: &[Value],
    element: &[Value],
) -> (Value, Value) {
    let Place { address, inside, .. } = place(w, scope, (window, shape, None), number, element);
    (or_first(w, scope, inside, address), inside)
}

/// An address, or that of the first element of all.
fn or_first(w: &mut Writer<'_>, scope: ScopeId, inside: Value, address: Value) -> Value {
    let zero = w.em.int(0);
    w.em.select(At { scope, lanes: 1 }, inside, address, zero, Elem::I64)
}

/// Where an element of a window lies.
struct Place {
    address: Value,
    /// Is it in the operand, as far as the axes say that are looked at?
    inside: Value,
    /// Its position along the axis that is not.
    free: Value,
}

fn place(
    w: &mut Writer<'_>,
    scope: ScopeId,
    (window, shape, free): (&Window, &[i64], Option<usize>),
    number: &[Value],
    element: &[Value],
) -> Place {
    let at = At { scope, lanes: 1 };
    let own = strides(shape);
    let address = w.em.int(0);
    let mut place = Place { free: address, address, inside: w.em.constant(Elem::I1, 1, 1) };
    for axis in 0..shape.len() {
        let base = window.base_dilations[axis] as i64;
        let start = w.em.int(-window.padding[axis].0);
        let value = w.scaled(scope, start, number[axis], window.strides[axis] as i64);
        let mut value = w.scaled(scope, value, element[axis], window.window_dilations[axis] as i64);
        if base != 1 {
            // A negative position stays negative: the quotient of its bits as an unsigned number may not.
            let (divisor, zero) = (w.em.int(base), w.em.int(0));
            let rest = w.arith(scope, "arith.remsi", value, divisor);
            let whole = w.em.cmpi(at, "eq", rest, zero, Elem::I64);
            place.inside = w.em.bin(at, "arith.andi", place.inside, whole, Elem::I1);
            value = w.arith(scope, "arith.divsi", value, divisor);
        }
        place.address = w.scaled(scope, place.address, value, own[axis]);
        if free == Some(axis) {
            place.free = value;
        } else {
            let holds = w.below(scope, value, shape[axis]);
            place.inside = w.em.bin(at, "arith.andi", place.inside, holds, Elem::I1);
        }
    }
    place
}

/// Outputs that lie in lanes: neighbours along an axis.
#[derive(Clone, Copy)]
struct Beside {
    axis: usize,
    lanes: i64,
    /// From lane to lane, in the operand.
    stride: i64,
    /// Do windows reach beyond the operand along the axis?
    beyond: bool,
}

impl Beside {
    fn of(call: &Call<'_>, window: &Window, (shape, out): (&[i64], &[i64])) -> Option<Beside> {
        /// Fewer outputs do not lie in lanes.
        const FEW: i64 = 4;
        let axis = (0..out.len()).rev().find(|&axis| out[axis] != 1)?;
        let real = call.targets.iter().all(|&t| !call.dtype(t).is_complex());
        let stride = (window.strides[axis] as i64).checked_mul(strides(shape)[axis])?;
        if !real || shape.contains(&0) || out[axis] < FEW || window.base_dilations[axis] != 1 {
            return None;
        }
        let lanes = call.beside(out[axis], out.iter().product());
        let (low, high) = window.padding[axis];
        Some(Beside { axis, lanes, stride, beyond: low > 0 || high > 0 })
    }
}

/// Are the initial values, joined with themselves, what they were?
fn stays(
    w: &mut Writer<'_>,
    join: &region::Inlined,
    inits: &[Vec<Value>],
    dtypes: &[DType],
) -> Result<Value, CodegenError> {
    let root = w.root();
    let at = At { scope: root, lanes: 1 };
    let args: Vec<Vec<Value>> = inits.iter().chain(inits).cloned().collect();
    let joined = join.apply_lanes(w, root, &args, 1)?;
    let mut all = w.em.constant(Elem::I1, 1, 1);
    for ((before, after), &dtype) in inits.iter().zip(&joined).zip(dtypes) {
        let elem = Elem::of(dtype);
        for (x, y) in before.iter().zip(after) {
            let bits = [x, y].map(|v| match elem.int() {
                int if int != elem => w.em.cast(at, "arith.bitcast", *v, elem, int),
                _ => *v,
            });
            let same = w.em.cmpi(at, "eq", bits[0], bits[1], elem.int());
            all = w.em.bin(at, "arith.andi", all, same, Elem::I1);
        }
    }
    Ok(all)
}

/// A reduction over windows.
pub fn reduce_window(call: &Call<'_>, window: &Window) -> Result<Kernel, CodegenError> {
    let n = call.targets.len();
    let (dag, join) = region::inline(call, call.region(0)?, Dag::default())?;
    let mut w = Writer::new(call, &dag);
    let dtypes: Vec<DType> = call.targets.iter().map(|&t| call.dtype(t)).collect();
    let inits = initial(&mut w, call, n, &dtypes)?;
    let (shape, out) = (call.sizes(call.arg(0)?)?, call.sizes(call.target()?)?);
    let root = w.root();
    let windows = Windows { call, window, join: &join, dtypes: &dtypes, shape: &shape, out: &out };
    let sizes = sizes_of(window);
    let Some(lines) = Lines::of(window, &shape) else {
        let tasks = windows.emit(&mut w, root, &inits, None)?;
        return call.finish(w, tasks, format!("reduce_window {sizes:?} tasks {tasks}"));
    };
    let whole = stays(&mut w, &join, &inits, &dtypes)?;
    let (yes, no) = (w.em.open(root, Vec::new(), None), w.em.open(root, Vec::new(), None));
    let truth = w.em.constant(Elem::I1, 1, 1);
    let not = w.em.bin(At { scope: root, lanes: 1 }, "arith.xori", whole, truth, Elem::I1);
    // Either way has as many tasks: the parts of the lines, or of the outputs.
    let tasks = lines.emit(&mut w, yes, (call, &join), (&inits, &dtypes))?;
    windows.emit(&mut w, no, &inits, Some(tasks))?;
    w.em.close_if(yes, whole);
    w.em.close_if(no, not);
    call.finish(w, tasks, format!("reduce_window {sizes:?} that grows, tasks {tasks}"))
}

/// Windows, and the function that joins their elements.
struct Windows<'a> {
    call: &'a Call<'a>,
    window: &'a Window,
    join: &'a region::Inlined,
    dtypes: &'a [DType],
    shape: &'a [i64],
    out: &'a [i64],
}

impl Windows<'_> {
    /// Joins the elements of each window, from the initial values on. Gives the number of tasks.
    fn emit(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        inits: &[Vec<Value>],
        tasks: Option<i64>,
    ) -> Result<i64, CodegenError> {
        let &Windows { call, window, dtypes, shape, out, .. } = self;
        let extents = sizes_of(window);
        let work = out.iter().chain(&extents).product::<i64>().saturating_mul(8 * dtypes.len() as i64);
        let beside = Beside::of(call, window, (shape, out));
        let lanes = beside.map_or(1, |b| b.lanes as usize);
        let mut blocks = out.to_vec();
        if let Some(Beside { axis, lanes, .. }) = beside {
            blocks[axis] = (out[axis] + lanes - 1) / lanes;
        }
        let (open, mut digits, tasks) = w.share_in(scope, call, &blocks, work, tasks);
        let at = At { scope: open.scope, lanes };
        let mut own = None;
        if let Some(Beside { axis, lanes, .. }) = beside {
            (digits[axis], own) = w.block_of(digits[axis], out[axis], lanes, at);
        }
        let inits: Vec<Vec<Value>> = match lanes {
            1 => inits.to_vec(),
            _ => w.spread_all(inits, dtypes, at),
        };
        let types = w.types_of(dtypes, lanes);
        let (loops, state) = w.carrying(open.scope, &extents, &types);
        let state = if extents.is_empty() { flat(&inits) } else { state };
        let inner = At { scope: loops.last().map_or(open.scope, |l| l.scope), lanes };
        let element: Vec<Value> = loops.iter().map(|l| l.iv).collect();
        let next = self.elements(w, inner, beside, (&digits, &element), &inits)?;
        let args = [grouped(&state, dtypes), next].concat();
        let results = flat(&self.join.apply_lanes(w, inner.scope, &args, lanes)?);
        let results = grouped(&w.close(loops, &flat(&inits), &types, results), dtypes);
        let to = w.address(open.scope, &digits, &strides(out));
        w.store_results(call, at, (to, 1, own), &results)?;
        w.close(vec![open], &[], &[], Vec::new());
        Ok(tasks)
    }

    /// An element of each window; outside of the operands the initial values.
    fn elements(
        &self,
        w: &mut Writer<'_>,
        at: At,
        beside: Option<Beside>,
        (number, element): (&[Value], &[Value]),
        inits: &[Vec<Value>],
    ) -> Result<Vec<Vec<Value>>, CodegenError> {
        // An empty operand has no element that could be loaded and thrown away.
        if self.shape.contains(&0) {
            return Ok(inits.to_vec());
        }
        let free = beside.filter(|b| b.beyond);
        let looked_at = (self.window, self.shape, free.map(|b| b.axis));
        let place = place(w, at.scope, looked_at, number, element);
        // Where no window reaches beyond, all lanes are inside with the first one.
        let inside = w.em.spread(&Val { ssa: place.inside, lanes: 1 }, Elem::I1, at);
        let (address, inside, mask) = match free {
            None => (or_first(w, at.scope, place.inside, place.address), inside, None),
            Some(Beside { axis, .. }) => {
                let first = w.em.spread(&Val { ssa: place.free, lanes: 1 }, Elem::I64, at);
                let steps = w.em.steps(Elem::I64, self.window.strides[axis] as i64, at.lanes);
                let own = w.em.bin(at, "arith.addi", first, steps, Elem::I64);
                let bound = w.em.integer(at, Elem::I64, self.shape[axis]);
                let holds = w.em.cmpi(at, "ult", own, bound, Elem::I64);
                let inside = w.em.bin(at, "arith.andi", inside, holds, Elem::I1);
                (place.address, inside, Some(inside))
            }
        };
        let mut elements = Vec::new();
        for ((i, &dtype), init) in self.dtypes.iter().enumerate().zip(inits) {
            let pointer = w.pointer(self.call.arg(i)?)?;
            let values = match beside {
                None => w.load(at.scope, pointer, dtype, address),
                Some(b) => {
                    vec![w.lanes_where(at, (pointer, address), dtype, (b.stride, mask))]
                }
            };
            let pick =
                |(value, init): (&Value, &Value)| w.em.select(at, inside, *value, *init, Elem::of(dtype));
            elements.push(values.iter().zip(init).map(pick).collect());
        }
        Ok(elements)
    }
}
