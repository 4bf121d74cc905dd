//! Rows and products of a chain that the kernel IR makes.

use crate::expression::dag::{Buf, Node, NodeId};
use crate::kernels::expression::Expression;
use crate::kernels::native::Parts;
use crate::kernels::schedule::{Ahead, PartLoop};
use crate::materialise::from_ir;
use crate::normalise::pulled::Pulled;
use crate::planned::kernel::Kernel;
use crate::planned::recipe::{Product, Recipe};
use crate::program::fuse::{Member, World};
use crate::schedule::columns::Columns;
use crate::schedule::prefetch::{self, Move, PrefetchWhen, When, elements_ahead};
use crate::schedule::refused::Refused;
use crate::schedule::written::{self, LINE};
use crate::{CodegenError, Target};

/// The kernel of a range of the parts of a member. `when` says how it prefetches what it reads, `alone` which tensors nothing else
/// touches in the range.
pub(super) fn rows(
    member: &Member,
    (when, alone): (PrefetchWhen<'_>, &dyn Fn(Buf) -> bool),
    world: &World<'_>,
) -> Result<Kernel, CodegenError> {
    let whole = match &*member.recipe {
        Recipe::Columns(columns) => columns.joined(),
        recipe => recipe.rows_alone().ok_or_else(|| CodegenError::malformed("a part that is not of rows"))?,
    };
    let expression = expression(&whole, world)?;
    let cut = &member.cut;
    let pieces = cut.piece.map(|(l, steps)| PartLoop { name: expression.name(l), steps });
    let loops = cut.weights.iter().map(|w| PartLoop { name: expression.name(w.0), steps: 1 }).chain(pieces);
    let alone = whole.outputs.iter().all(|o| alone(o.to));
    let parts = Parts { loops: loops.collect(), alone, ahead: ahead(&expression, alone, when, world.target) };
    let made = range(&expression, &parts, world)?;
    Ok(Kernel { cycles: world.kernels[member.kernel].cycles, ..made })
}

/// The kernel of the only part of what makes the target of a task neutral.
pub(super) fn start(columns: &Columns, world: &World<'_>) -> Result<Kernel, CodegenError> {
    let whole = columns.start()?;
    let expression = expression(&whole, world)?;
    let one = whole.outer.first().map(|&l| PartLoop { name: expression.name(l), steps: 1 });
    range(&expression, &Parts { loops: one.into_iter().collect(), alone: true, ahead: Vec::new() }, world)
}

fn expression(whole: &Pulled, world: &World<'_>) -> Result<Expression, CodegenError> {
    let ty = |at: Buf| world.types.get(at.0 as usize).cloned();
    let expression = from_ir::expression(whole, world.variables, &ty);
    expression.map_err(|Refused(reason)| CodegenError::malformed(reason))
}

/// The kernel of a range of these parts.
fn range(expression: &Expression, parts: &Parts, world: &World<'_>) -> Result<Kernel, CodegenError> {
    let scheduled = from_ir::strategies(world.scheduled)?;
    let schedule = scheduled.machine.parts_of_rows(expression, parts).map_err(CodegenError::malformed)?;
    from_ir::range(from_ir::ROWS, expression, &schedule, (world.variables, scheduled))
}

/// The kernel of a product whose tasks are ranges of so many rows, in place of that of all rows.
pub(super) fn product(
    product: &Product,
    kernel: usize,
    most: i64,
    world: &World<'_>,
) -> Result<Kernel, CodegenError> {
    let scheduled = from_ir::strategies(world.scheduled)?;
    let expression = expression(&product.whole, world)?;
    let names: Vec<String> = product.loops().into_iter().map(|l| expression.name(l)).collect();
    let schedule = scheduled.machine.ranges_of_rows(&expression, &names, most);
    let schedule = schedule.map_err(CodegenError::malformed)?;
    let made = from_ir::range("product", &expression, &schedule, (world.variables, scheduled))?;
    let whole = &world.kernels[kernel];
    Ok(Kernel { cycles: whole.cycles, in_place: whole.in_place.clone(), ..made })
}

/// What the kernel of a range prefetches. `streams` says that its results may go past the caches.
fn ahead(expression: &Expression, streams: bool, when: PrefetchWhen<'_>, target: &Target) -> Vec<Ahead> {
    let dag = &expression.dag;
    let roots: Vec<NodeId> = expression.outputs.iter().map(|o| o.root).collect();
    let streams = streams && written::leaves(dag, &expression.outputs, target);
    let mut found: Vec<Ahead> = Vec::new();
    for ((pass, buf, address), (when, again)) in prefetch::far(dag, (&roots, streams), target, when) {
        let Some(&(tensor, dtype, _)) = expression.memory.get(&buf) else { continue };
        if again || when == When::Soon && !target.prefetches {
            continue;
        }
        let reduced = pass.and_then(|pass| match &dag[pass].node {
            Node::Reduce { loops, .. } => Some(loops.as_slice()),
            _ => None,
        });
        // Innermost first.
        let loops = reduced.into_iter().flatten().rev().chain(expression.loops.iter().rev());
        let moves = loops.map(|&l| Move { stride: address.coeff(l), step: 1, extent: dag.extent(l) });
        // Rows that are read from their ends are left to the processor.
        let by = (when != When::Reversed)
            .then(|| elements_ahead(moves, (LINE, dtype.size() as i64), when, target.prefetches_next_row()));
        let within = reduced.and_then(|loops| loops.first()).map(|&l| expression.name(l));
        let soon = matches!(when, When::Rows(_)) && !target.prefetches;
        found.extend(by.flatten().map(|by| Ahead {
            tensor: tensor.to_string(),
            by,
            along: None,
            within,
            soon,
        }));
    }
    // What is close to each other is prefetched once.
    found.sort_by(|a, b| (&a.tensor, &a.within, a.by).cmp(&(&b.tensor, &b.within, b.by)));
    found.dedup_by(|a, b| (&a.tensor, &a.within) == (&b.tensor, &b.within));
    found
}
