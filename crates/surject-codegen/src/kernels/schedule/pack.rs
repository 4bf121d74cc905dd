//! Parts of tensors that are copied into memory of their own before the loops that read them: panels.
//!
//! What the loops inside of one read of a tensor is copied when an iteration of it begins, in the order in which it is read:
//! the lanes of vectors next to each other, or else what lies next to each other in the tensor. Elements that do not exist
//! have their fill there, so that the loops inside need no guards. A factor of products that is computed has a panel of its
//! values: `pack left at L`, `pack right at L`. Loops that move alike in the tensor, as those of a window and
//! of its elements do, are one in the panel: it has what windows have in common once.

use super::{Accumulation, Axis, AxisKind, Nest};
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use surject_kernel::Affine;

/// The most bytes of a panel, which is on the stack of a thread.
const MOST: i64 = 1 << 19;

/// A loop of a panel.
#[derive(Clone, Debug)]
pub(crate) struct PanelLoop {
    /// The loops of the expression, and how far one of their steps goes in this one: several where they move alike. The
    /// first one goes by single steps.
    pub(crate) of: Vec<(LoopId, i64)>,
    /// How many of its iterations a panel has.
    pub(crate) span: i64,
    /// How many elements apart neighbours are in the panel.
    pub(crate) stride: i64,
    /// Of the loop of lanes, where a panel has several vectors of it: these lie one behind the other for all other loops.
    pub(crate) vectors: Option<PanelVectors>,
}

/// The vectors of a panel along a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelVectors {
    /// Their lanes.
    pub(crate) lanes: i64,
    /// How many elements apart those of neighbours are, divided by the lanes.
    pub(crate) stride: i64,
}

impl PanelLoop {
    /// Where an iteration is in the panel.
    pub(crate) fn offset(&self, own: &Affine) -> Option<Affine> {
        let Some(PanelVectors { lanes, stride }) = self.vectors else { return own.times(self.stride) };
        let within = Affine { offset: own.offset.rem_euclid(lanes), lane: own.lane, terms: Vec::new() };
        let first = own.plus(&within, -1)?;
        if first.terms.iter().any(|t| t.factor % lanes != 0) {
            return None;
        }
        first.times(stride)?.plus(&within, self.stride)
    }
}

/// A value that is read from a panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) value: NodeId,
    /// Is it computed, not loaded?
    pub(crate) is_computed: bool,
    /// The loop whose iterations begin with the copy.
    pub(crate) at: String,
    /// Its loops, outermost first.
    pub(crate) loops: Vec<PanelLoop>,
    pub(crate) elements: i64,
    /// How many elements are copied at once.
    pub(crate) lanes: i64,
    /// The loop, by its place among these, along which the tensor lies where the panel lies along another one: squares of
    /// so many elements are transposed in registers.
    pub(crate) turned: Option<(usize, i64)>,
    /// Is it copied for a block of terms that are accumulated?
    pub(crate) of_blocks: bool,
}

impl Panel {
    /// Do vectors that are copied lie along a loop of this number, in the tensor or in the panel?
    pub(crate) fn is_along_vectors(&self, number: usize) -> bool {
        number + 1 == self.loops.len() || self.turned.is_some_and(|(turned, _)| turned == number)
    }
}

/// The loops of a schedule, for panels.
pub(super) struct Nests<'a> {
    pub(super) nests: &'a [Nest],
    /// The loops whose last block is not whole.
    pub(super) cut: &'a [LoopId],
    pub(super) accumulations: &'a [Accumulation],
}

/// The place of a panel among the loops.
struct At<'a> {
    name: &'a str,
    /// Does it have a factor of rows? Its terms lie next to each other, as each row reads them.
    of_rows: bool,
    /// The loops over points inside of it.
    inside: &'a [Axis],
    /// The accumulation in which it is copied.
    of: Option<&'a Accumulation>,
}

/// The value of which there is a panel: a factor, or what is loaded of a tensor.
fn values(expression: &Expression, name: &str) -> Result<Vec<NodeId>, Fault> {
    let dag = &expression.dag;
    if let "left" | "right" = name {
        let sides = expression.sides().filter(|parts| parts.term.is_none());
        let sides =
            sides.ok_or_else(|| Fault::of(name, "there is not one sum of products with two sides"))?;
        let factor = if name == "left" { sides.left } else { sides.right };
        let has_sums =
            dag.all_reachable(&[factor]).iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. }));
        return match has_sums {
            true => Err(Fault::of(name, format!("the {name} factor has a reduction inside"))),
            false => Ok(vec![factor]),
        };
    }
    let named = |n: &NodeId| match dag[*n].node {
        Node::Load { buf, .. } => expression.memory.get(&buf).is_some_and(|m| m.0.to_string() == name),
        _ => false,
    };
    let loads: Vec<NodeId> = expression.nodes().into_iter().filter(named).collect();
    match loads.is_empty() {
        true => Err(Fault::of(name, format!("nothing of `{name}` is loaded"))),
        false => Ok(loads),
    }
}

/// The panels of the loads of a tensor or of a factor, filled where an iteration of a loop over points, or over blocks, begins.
pub(super) fn panels(
    expression: &Expression,
    nests: &Nests<'_>,
    tensor: &str,
    at: &str,
) -> Result<Vec<Panel>, Fault> {
    let points = &nests.nests[0].1;
    let of = nests.accumulations.iter().find(|a| a.has_inside(nests.nests, at));
    let of_blocks = of.filter(|a| a.blocks.iter().any(|b| b.name == at));
    let name = of_blocks.map_or(at, |a| a.at.as_str());
    let position = points.iter().position(|a| a.name == name);
    let position =
        position.ok_or_else(|| Fault::of(at, format!("`{at}` is no loop over points, or over blocks")))?;
    if !matches!(points[position].kind, AxisKind::Serial | AxisKind::Parallel(surject_kernel::Level::Task)) {
        return Err(Fault::of(
            at,
            format!("iterations of `{at}` do not begin one after the other, each with its copy"),
        ));
    }
    let dag = &expression.dag;
    let values = values(expression, tensor)?;
    if expression
        .outputs
        .iter()
        .any(|o| expression.memory.get(&o.to).is_some_and(|m| m.0.to_string() == tensor))
    {
        return Err(Fault::of(tensor, format!("`{tensor}` is stored, and a copy of it would be old")));
    }
    let inside = &points[position + 1..];
    let summed = |a: &Accumulation| -> Vec<NodeId> {
        a.sums.iter().flat_map(|s| dag.all_reachable(&[s.reduction])).collect()
    };
    let summed = of.map(summed).unwrap_or_default();
    let mut found = Vec::new();
    for value in values {
        let of = of.filter(|_| summed.contains(&value));
        if of.is_some() || of_blocks.is_none() {
            found.push(panel(
                expression,
                nests,
                &At { name: at, of_rows: tensor == "left", inside, of },
                value,
            )?);
        }
    }
    if found.is_empty() {
        Err(Fault::of(at, format!("no block over `{at}` loads anything of `{tensor}`")))
    } else {
        Ok(found)
    }
}

/// Where the elements of a value lie: of one that is computed, those of the load with the most loops.
fn address(dag: &Dag, value: NodeId) -> Lin {
    let addresses = dag.reachable(&[value]).into_iter().filter_map(|n| match &dag[n].node {
        Node::Load { address, .. } => Some(address),
        _ => None,
    });
    addresses.max_by_key(|a| a.loops().loops().count()).cloned().unwrap_or_default()
}

/// The panel of a value that the loops inside of one read.
fn panel(expression: &Expression, nests: &Nests<'_>, at: &At<'_>, value: NodeId) -> Result<Panel, Fault> {
    let dag = &expression.dag;
    let (address, is_computed) = (address(dag, value), !matches!(dag[value].node, Node::Load { .. }));
    let lanes = at.inside.last().filter(|a| a.kind == AxisKind::Lanes);
    let is_lanes = |l: &PanelLoop| lanes.is_some_and(|lanes| l.of[0].0 == lanes.of);
    let mut spans = spans(expression, nests, at, value)?;
    spans.sort_by_key(|s| address.coeff(s.0).unsigned_abs());
    let mut loops: Vec<PanelLoop> = Vec::new();
    for (of, span) in spans {
        let alone = lanes.is_some_and(|lanes| lanes.of == of);
        let alike = loops.iter_mut().filter(|l| !alone && !is_lanes(l) && l.of.len() == 1).find_map(|l| {
            let by = moves_alike(expression, nests.cut, value, [l.of[0].0, of]).filter(|&by| by <= l.span)?;
            Some((l, by))
        });
        match alike {
            Some((l, by)) => {
                l.span += by * (span - 1);
                l.of.push((of, by));
            }
            None => loops.push(PanelLoop { of: vec![(of, 1)], span, stride: 0, vectors: None }),
        }
    }
    // What lies next to each other stands last.
    let is_row = |l: &PanelLoop| at.of_rows && expression.loops.contains(&l.of[0].0);
    let key = |l: &PanelLoop| if is_lanes(l) { 0 } else { address.coeff(l.of[0].0).unsigned_abs().max(1) };
    loops.sort_by_key(|l| std::cmp::Reverse((is_row(l), key(l))));
    let widest = lanes.map_or(1, |l| l.extent);
    let sizes = [64, 32, 16, 8, 4, 2].into_iter().filter(|&by| by <= widest);
    let at_once = loops.last().map_or(1, |l| {
        let next = address.coeff(l.of[0].0) == 1;
        // Most of one short vector is better than several that are shorter.
        let most = if (9..=16).contains(&l.span) { 16 } else { l.span };
        let fits = |by: &i64| if next && !is_computed { *by <= most } else { l.span % by == 0 };
        sizes.clone().find(fits).unwrap_or(1)
    });
    let size = dag[value].dtype.size() as i64;
    let turned = turned(&loops, |l| address.coeff(l));
    // Of what is computed whole squares are transposed.
    let turned = turned.filter(|&(other, side)| !is_computed || loops[other].span % side == 0);
    let in_vectors = turned.is_none()
        && lanes.is_some_and(|lanes| {
            let others = || at.inside.iter().filter(|a| a.of == lanes.of && a.name != lanes.name);
            let last = loops.last().is_some_and(|l| is_lanes(l) && l.of.len() == 1 && l.span > lanes.extent);
            last && at_once == lanes.extent
                && lanes.factor == 1
                && others().all(|a| a.factor % lanes.extent == 0)
        });
    let elements = place(&mut loops, at_once, (in_vectors, turned.is_some()), size)
        .ok_or("a panel of too many elements")?;
    let bytes = elements.saturating_mul(size);
    if bytes > MOST {
        return Err(format!("a panel of {bytes} bytes; one has at most {MOST}").into());
    }
    let of_blocks = at.of.is_some();
    Ok(Panel {
        value,
        is_computed,
        at: at.name.to_string(),
        loops,
        elements,
        lanes: at_once,
        turned,
        of_blocks,
    })
}

/// Places the elements of a panel, of which so many are copied at once: how many it has, those that are only room included.
fn place(
    loops: &mut [PanelLoop],
    at_once: i64,
    (in_vectors, is_turned): (bool, bool),
    size: i64,
) -> Option<i64> {
    /// Lines that lie so far apart would meet in a cache.
    const PAGE: i64 = 2048;
    const LINE: i64 = 64;
    let Some((last, others)) = loops.split_last_mut() else { return Some(1) };
    // Whole vectors are stored, also where less of the last one exists.
    let span = (last.span + at_once - 1) / at_once * at_once;
    last.stride = 1;
    let mut elements = if in_vectors { at_once } else { span };
    let bytes = elements.saturating_mul(size);
    let meet = bytes % PAGE == 0 || is_turned && bytes % (2 * LINE) == 0;
    if !others.is_empty() && meet {
        elements += LINE / size;
    }
    for l in others.iter_mut().rev() {
        l.stride = elements;
        elements = elements.checked_mul(l.span)?;
    }
    if in_vectors {
        last.vectors = Some(PanelVectors { lanes: at_once, stride: elements / at_once });
        elements = elements.checked_mul(span / at_once)?;
    }
    Some(elements)
}

/// The loop of a panel along which neighbours lie in the tensor as well, and the size of squares, if the last one is another.
fn turned(loops: &[PanelLoop], moves: impl Fn(LoopId) -> i64) -> Option<(usize, i64)> {
    /// The elements of a side: 24 shuffles transpose 64 elements, for which as many loads are slower.
    const SIDE: i64 = 8;
    let alone = |l: &PanelLoop| l.of.len() == 1;
    let (last, others) = loops.split_last()?;
    let fits = alone(last) && last.span % SIDE == 0 && !matches!(moves(last.of[0].0), -1..=1);
    let next = |l: &PanelLoop| alone(l) && l.span >= SIDE && moves(l.of[0].0) == 1;
    others.iter().position(next).filter(|_| fits).map(|at| (at, SIDE))
}

/// The loops of a load that run more than once inside of one, and how many of their iterations they have there.
fn spans(
    expression: &Expression,
    nests: &Nests<'_>,
    &At { name: at, inside, of: accumulation, .. }: &At<'_>,
    load: NodeId,
) -> Result<Vec<(LoopId, i64)>, Fault> {
    let (nests, mut all) = (nests.nests, Vec::new());
    // Of a reduction that takes its terms in blocks those of one are read.
    let reduced = |(reduction, axes): &Nest| -> Vec<Axis> {
        let axes = match accumulation.zip(*reduction) {
            Some((a, reduction)) => a.inside(reduction, axes, at),
            None => &axes[..],
        };
        axes.to_vec()
    };
    let reads = |reduction: NodeId| expression.dag.all_reachable(&[reduction]).contains(&load);
    let reading: Vec<&Nest> = nests[1..].iter().filter(|n| n.0.is_none_or(reads)).collect();
    for of in expression.dag[load].deps.loops() {
        let span = |axes: &[Axis]| axes.iter().filter(|a| a.of == of).map(|a| a.extent).product::<i64>();
        let in_points = nests[0].1.iter().any(|a| a.of == of);
        let apart = |axes: &[Axis]| {
            let parts = axes.iter().filter(|a| a.of == of);
            parts.map(|a| (a.extent - 1) * a.factor).sum::<i64>() + 1 != span(axes)
        };
        let no_neighbours = || {
            let name = expression.name(of);
            Fault::of(&name, format!("the parts of `{name}` inside of `{at}` are no neighbours"))
        };
        let over = reading.iter().filter(|n| n.1.iter().any(|a| a.of == of));
        let terms: Vec<Vec<Axis>> = over.map(|n| reduced(n)).collect();
        if accumulation.is_some() && terms.windows(2).any(|two| span(&two[0]) != span(&two[1])) {
            let name = expression.name(of);
            let message =
                format!("not all reductions over `{name}` that read the panel at `{at}` take blocks");
            return Err(Fault::of(&name, message));
        }
        if terms.iter().any(|axes| apart(axes)) {
            return Err(no_neighbours());
        }
        let reduced: Option<i64> = terms.iter().map(|axes| span(axes)).max();
        let span = match (in_points, reduced) {
            (true, Some(_)) => {
                return Err(Fault::of(
                    &expression.name(of),
                    format!("`{}` is a loop over points and of a reduction", expression.name(of)),
                ));
            }
            (true, None) => {
                if apart(inside) {
                    return Err(no_neighbours());
                }
                span(inside)
            }
            (false, reduced) => reduced.unwrap_or(1),
        };
        if span > 1 {
            all.push((of, span));
        }
    }
    Ok(all)
}

/// How many steps of a loop are one of another one, in the tensor and in all guards, if they always are: as those of a
/// window and of its elements. What lies between the first element and the last one of both is inside of the tensor then, or
/// a guard says that it is not.
fn moves_alike(
    expression: &Expression,
    cut: &[LoopId],
    load: NodeId,
    [base, other]: [LoopId; 2],
) -> Option<i64> {
    let Node::Load { address, guards, .. } = &expression.dag[load].node else { return None };
    let by = address.coeff(other).checked_div(address.coeff(base)).filter(|&by| by >= 1)?;
    let moves = std::iter::once(address).chain(guards.iter().map(|g| &g.expr));
    let alike = moves.into_iter().all(|lin| lin.coeff(base).checked_mul(by) == Some(lin.coeff(other)));
    let bounded = guards.iter().any(|g| {
        let of = g.expr.loops();
        of.contains(base) && of.contains(other) && of.loops().count() == 2
    });
    let whole = !cut.contains(&base) && !cut.contains(&other);
    (alike && (bounded || whole)).then_some(by)
}
