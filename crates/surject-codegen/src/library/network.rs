//! Sorts of lines of few elements: each element is a value, and two neighbours change places where the second comes
//! before the first. Nothing of that depends on the elements, so lines are sorted side by side, as the lanes of any other
//! result.

use crate::expression::address::{Lin, LoopId};
use crate::expression::compose::sizes;
use crate::expression::compose::{box_loops, linearise, stop_is_error};
use crate::expression::dag::{Dag, Node, NodeId, buf};
use crate::expression::output::Output;
use crate::expression::uses;
use crate::kernels::library::Call;
use crate::kernels::library::order::Key;
use crate::kernels::library::scalar::ScalarFunction;
use crate::normalise::merge;
use crate::planned::kernel::Kernel;
use crate::planned::rows;
use crate::{CodegenError, Target, schedule};
use surject_ir::{BinaryOp, Var};

/// Pairs of neighbours that are looked at, at most: those of lines of sixteen elements.
const PAIRS: i64 = 120;

/// The kernel of a sort of many short lines; `None` for any other.
pub fn sort(call: &Call<'_>, axis: usize, target: &Target) -> Result<Option<Kernel>, CodegenError> {
    let (Some(&first_operand), Some(region)) = (call.args.first(), call.regions.first()) else {
        return Err(CodegenError::malformed("a sort of nothing"));
    };
    let function = call.function;
    let sizes = sizes(&function.ty(first_operand).space)?;
    let length = sizes[axis];
    let lines = sizes.iter().product::<i64>() / length.max(1);
    // What nobody reads need not be sorted.
    let read: Vec<i64> =
        call.targets.iter().map(|&v| uses::leading(function, v, axis).unwrap_or(length)).collect();
    let first = read.iter().copied().max().unwrap_or(length).min(length - 1);
    let pairs = first.saturating_mul(2 * length - 1 - first) / 2;
    let least = target.thresholds.sorted_lines.max(target.thresholds.sorted_lines_per_pair * pairs);
    let is_real = |&v: &Var| !function.ty(v).dtype.is_complex();
    if !(1..=PAIRS).contains(&pairs) || lines < least || !call.args.iter().all(is_real) {
        return Ok(None);
    }
    let less = ScalarFunction::of(function, region)?;
    if less.reads_memory() {
        return Ok(None);
    }
    let order = match less.key() {
        Some(key) => Order::Key(key),
        None => Order::Comparator(less),
    };

    let across: Vec<i64> = sizes.iter().enumerate().map(|(a, &n)| if a == axis { 1 } else { n }).collect();
    let (mut dag, loops, mut position) = stop_is_error(box_loops(&across))?;
    let mut addresses = Vec::new();
    let mut elements = Vec::new();
    for k in 0..length {
        position[axis] = Lin::constant(k);
        let address = linearise(&sizes, &position)?;
        let load = |v| Node::Load { buf: buf(v), address: address.clone(), guards: Vec::new() };
        let values = call.args.iter().map(|&v| dag.add(load(v), function.ty(v).dtype)).collect();
        elements.push(order.element(&mut dag, values)?);
        addresses.push(address);
    }

    // What comes before all others arrives at the front, then the next.
    for front in 0..first as usize {
        for k in (front + 1..elements.len()).rev() {
            order.exchange(&mut dag, &mut elements, k)?;
        }
    }
    let mut outputs = Vec::new();
    for (i, (&v, &read)) in call.targets.iter().zip(&read).enumerate() {
        for (element, address) in elements.iter().zip(&addresses).take(read as usize) {
            outputs.push(Output { to: buf(v), address: address.clone(), root: element[i], join: None });
        }
    }
    let outer: Vec<LoopId> = loops.into_iter().enumerate().filter(|l| l.0 != axis).map(|l| l.1).collect();
    let (dag, outputs, outer) = merge::merge(dag, outputs, &outer);
    let schedule = schedule::choose(&dag, &outputs, &outer, target);
    let kernel = rows::whole(dag, outputs, schedule, outer.into_iter().collect());
    Ok(Some(Kernel { summary: format!(", sorted along {axis}"), ..kernel }))
}

/// What comes before what.
enum Order {
    /// What has the smaller key, or the larger one.
    Key(Key),
    /// What the comparator says of it.
    Comparator(ScalarFunction),
}

impl Order {
    /// What an element of a line is: a value for each operand, and its key if it has one.
    fn element(&self, dag: &mut Dag, mut values: Vec<NodeId>) -> Result<Vec<NodeId>, CodegenError> {
        if let Order::Key(key) = self {
            let both: Vec<NodeId> = values.iter().flat_map(|&v| [v, v]).collect();
            values.push(key.function.added(dag, &both)?);
        }
        Ok(values)
    }

    /// Lets element `k` and the one before it change places where they have to.
    fn exchange(&self, dag: &mut Dag, elements: &mut [Vec<NodeId>], k: usize) -> Result<(), CodegenError> {
        let pairs = || elements[k].iter().zip(&elements[k - 1]);
        let both: Vec<NodeId> = pairs().flat_map(|(&b, &a)| [b, a]).collect();
        let before = match (self, &both[..]) {
            (Order::Key(key), &[.., b, a]) => {
                dag.binary(if key.descending { BinaryOp::Gt } else { BinaryOp::Lt }, b, a)
            }
            (Order::Key(..), _) => return Err(CodegenError::malformed("a sort of nothing")),
            (Order::Comparator(less), both) => less.added(dag, both)?,
        };
        let mut chosen = |x: NodeId, y: NodeId| {
            let dtype = dag[x].dtype;
            dag.add(Node::Select(before, x, y), dtype)
        };
        let low = pairs().map(|(&b, &a)| chosen(b, a)).collect();
        let high = pairs().map(|(&b, &a)| chosen(a, b)).collect();
        (elements[k - 1], elements[k]) = (low, high);
        Ok(())
    }
}
