//! Assignments over their product spaces: the loops, what reduces, and what follows from the map of the target.

use super::{AssignmentReport, LoopReport, MapReport, Names, StepReport, relations};
use crate::error::TensorError;
use crate::graph::{Action, Data, NodeId, NodeKind, Step, StepId};
use crate::lower::wanted_gradients;
use crate::operator::{Cell, Rule, Term};
use std::collections::{BTreeSet, HashSet};
use surject_index::{Affine, Extent, Verdict};
use surject_ir::DType;
use surject_notation::source::{Accumulator, Slot};
use surject_projection::{Access, Index, LoopId, Piece, Projections, injective, lacking, surjective};

/// Every step with its loops.
pub(super) fn steps(
    data: &mut Data,
    names: &Names,
    first: &FirstValues,
    dtype: DType,
) -> Result<Vec<StepReport>, TensorError> {
    let passed = passed_gradients(data);
    let mut steps = Vec::with_capacity(data.steps.len());
    for number in 0..data.steps.len() {
        let id = StepId(number as u32);
        let projections = data.projections(id)?;
        let step = &data.steps[number];
        let writer = Writer { data, names, step, projections: &projections, dtype };
        let assignments =
            step.operator.forward.iter().map(|r| writer.assignment(r)).collect::<Result<_, _>>()?;
        let gradients = if passed.contains(&step.result) {
            let wanted = |rule: &&Rule| match rule.target {
                Cell::Gradient(slot) => step.of_slot(slot).is_some_and(|t| passed.contains(&t)),
                Cell::Value(_) | Cell::Local(_) => true,
            };
            let rules = step.operator.gradient.iter().filter(wanted);
            rules.map(|r| writer.assignment(r)).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        steps.push(StepReport {
            operation: step.origin.operation.clone(),
            spec: step.origin.spec.clone(),
            place: step.origin.place.as_ref().map(ToString::to_string),
            operator: step.operator.name.clone(),
            result: names.of(step.result).to_string(),
            operands: step.operands.iter().map(|o| names.of(*o).to_string()).collect(),
            first_value: first.steps.contains(&id),
            constraints: relations::of_step(data, names, step),
            labels: relations::labels(data, step),
            product_space: writer.product_space(),
            maps: writer.maps(),
            assignments,
            gradients,
        });
    }
    Ok(steps)
}

/// What only the first values of parameters need.
#[derive(Default)]
pub(super) struct FirstValues {
    pub(super) steps: HashSet<StepId>,
    pub(super) tensors: HashSet<NodeId>,
}

pub(super) fn first_values(data: &Data) -> FirstValues {
    let below = |roots: Vec<NodeId>| {
        let mut seen = HashSet::new();
        let mut stack = roots;
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            match data.nodes[node.0 as usize].kind {
                NodeKind::Result(step) => stack.extend(&data.steps[step.0 as usize].operands),
                NodeKind::Uniform { at: Some(at), .. } => stack.push(at),
                NodeKind::Gradient(of) => stack.push(of),
                _ => {}
            }
        }
        seen
    };
    let starts = data.nodes.iter().filter_map(|node| match node.kind {
        NodeKind::Parameter { init } => Some(init),
        _ => None,
    });
    let mut starts = below(starts.collect());
    let mut roots = data.outputs.clone();
    for action in &data.actions {
        match action {
            Action::Assign(step) => roots.extend(&data.steps[step.0 as usize].operands),
            Action::Forward(node) | Action::Backprop(node) | Action::ZeroGrads(node) => roots.push(*node),
        }
    }
    // What is made from them on the side and nobody asks for: it captures a size.
    let asked = below(roots.clone());
    let is_parameter = |id: &NodeId| {
        matches!(data.nodes[id.0 as usize].kind, NodeKind::Parameter { .. } | NodeKind::Number(_))
    };
    for (number, node) in data.nodes.iter().enumerate() {
        let id = NodeId(number as u32);
        if let NodeKind::Result(step) = node.kind
            && !asked.contains(&id)
            && data.steps[step.0 as usize].operands.iter().any(|o| starts.contains(o) && !is_parameter(o))
        {
            starts.insert(id);
        }
    }
    let others = (0..data.nodes.len()).map(|number| NodeId(number as u32));
    roots.extend(others.filter(|node| !starts.contains(node)));
    let needed = below(roots);
    let mut first = FirstValues::default();
    first.steps.extend(data.first_values.values());
    for node in starts.into_iter().filter(|node| !needed.contains(node)) {
        if let NodeKind::Result(step) = data.nodes[node.0 as usize].kind {
            first.steps.insert(step);
        }
        first.tensors.insert(node);
    }
    first
}

/// The tensors that gradients pass through in some backward pass.
fn passed_gradients(data: &Data) -> HashSet<NodeId> {
    let wanted = wanted_gradients(data, &data.actions, &data.outputs);
    let mut reached = HashSet::new();
    let mut stack: Vec<NodeId> = data
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Backprop(node) => Some(*node),
            _ => None,
        })
        .collect();
    while let Some(node) = stack.pop() {
        if wanted.passed.contains(&node)
            && reached.insert(node)
            && let NodeKind::Result(step) = data.nodes[node.0 as usize].kind
        {
            stack.extend(&data.steps[step.0 as usize].operands);
        }
    }
    reached
}

/// The words for one step.
struct Writer<'a> {
    data: &'a Data,
    names: &'a Names,
    step: &'a Step,
    projections: &'a Projections,
    dtype: DType,
}

fn access(piece: &Piece, slot: Slot) -> Option<&Access> {
    match slot {
        Slot::Lhs => Some(&piece.result),
        Slot::Rhs(k) => piece.operands.get(usize::from(k).checked_sub(1)?)?.as_ref(),
    }
}

fn slot_name(slot: Slot) -> String {
    match slot {
        Slot::Lhs => "lhs".to_string(),
        Slot::Rhs(k) => format!("rhs{k}"),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Yes(()) => "yes",
        Verdict::No(()) => "no",
        Verdict::Unknown => "unknown",
    }
}

/// The value that positions have which no point writes.
fn neutral(accumulator: Accumulator) -> &'static str {
    use Accumulator as A;
    match accumulator {
        A::Set | A::Add | A::Sub | A::Or | A::Mod => "0",
        A::Mul | A::Div | A::Pow | A::And | A::ReluGate => "1",
        A::Max => "-inf",
        A::Min => "inf",
        A::Satur01Gate => "0.5",
    }
}

impl Writer<'_> {
    fn loop_of(&self, id: LoopId) -> LoopReport {
        let found = self.projections.of(id);
        LoopReport {
            name: found.map_or_else(|| "?".to_string(), |l| l.name.clone()),
            size: found.map_or(Extent::Const(0), |l| l.size.clone()),
        }
    }

    fn product_space(&self) -> Vec<Vec<LoopReport>> {
        let factors = self.projections.factors.iter();
        factors.map(|f| f.loops.iter().map(|id| self.loop_of(*id)).collect()).collect()
    }

    fn slots(&self) -> Vec<Slot> {
        let operands = (1..=self.step.operands.len()).map(|k| Slot::Rhs(k as u8));
        std::iter::once(Slot::Lhs).chain(operands).collect()
    }

    fn indices(&self, slot: Slot) -> &[Index] {
        match slot {
            Slot::Lhs => &self.projections.result,
            Slot::Rhs(k) => {
                self.projections.operands.get(usize::from(k).wrapping_sub(1)).map_or(&[], Vec::as_slice)
            }
        }
    }

    /// The name of the static index that a slice is taken at.
    fn external(&self) -> &str {
        self.step.index.map_or("@", |index| self.names.of(index))
    }

    fn maps(&self) -> Vec<MapReport> {
        let map = |slot: Slot| {
            let tensor = self.step.of_slot(slot)?;
            let axes = self.indices(slot).iter().map(|index| match index {
                Index::External => self.external().to_string(),
                index => self.projections.display(index).to_string(),
            });
            Some(MapReport {
                slot: slot_name(slot),
                tensor: self.names.of(tensor).to_string(),
                axes: axes.collect(),
            })
        };
        self.slots().into_iter().filter_map(map).collect()
    }

    /// The tensor of a cell by its name, with the slot that addresses it.
    fn cell(&self, cell: Cell) -> (String, Slot) {
        let tensor = |slot| self.step.of_slot(slot).map_or("?", |node| self.names.of(node));
        match cell {
            Cell::Value(slot) => (tensor(slot).to_string(), slot),
            Cell::Gradient(slot) => (format!("{}.grad", tensor(slot)), slot),
            Cell::Local(k) => {
                let slot = self.step.operator.locals.get(k).map_or(Slot::Lhs, |(_, slot)| *slot);
                let name = self.step.locals.get(k).map_or("?", |node| self.names.of(*node));
                (name.to_string(), slot)
            }
        }
    }

    /// The number that a cell is everywhere.
    fn number(&self, cell: Cell) -> Option<String> {
        let Cell::Value(slot) = cell else { return None };
        match &self.data.nodes[self.step.of_slot(slot)?.0 as usize].kind {
            NodeKind::Number(value) => Some(number(*value)),
            NodeKind::Size(size) => self.data.extent_of(*size).map(|n| n.to_string()),
            _ => None,
        }
    }

    /// The pieces that a rule runs on: those where all that it names takes part.
    fn pieces(&self, rule: &Rule) -> Result<Vec<Piece>, TensorError> {
        let operator = &self.step.operator;
        let operands = |rule: &Rule| {
            let cells = rule.value.cells().into_iter();
            cells.filter(|c| matches!(c, Cell::Value(Slot::Rhs(_)))).collect::<HashSet<_>>().len()
        };
        let block = operator.arity.is_none_or(|n| n > 1) && operator.forward.iter().all(|r| operands(r) == 1);
        let pieces = if block { self.projections.pieces() } else { self.projections.joint_pieces() };
        let mut pieces = pieces.map_err(|e| TensorError::from(e).at(self.step.origin.place.clone()))?;
        let slots: Vec<Slot> = std::iter::once(rule.target)
            .chain(rule.value.cells())
            .filter(|cell| self.number(*cell).is_none())
            .map(|cell| self.cell(cell).1)
            .collect();
        pieces.retain(|piece| slots.iter().all(|slot| access(piece, *slot).is_some()));
        Ok(pieces)
    }

    fn assignment(&self, rule: &Rule) -> Result<AssignmentReport, TensorError> {
        let pieces = self.pieces(rule)?;
        let (target, slot) = self.cell(rule.target);
        let sign = rule.accumulator.sign();
        let active: BTreeSet<LoopId> = pieces.iter().flat_map(|p| p.loops.iter().copied()).collect();
        let written: Vec<Piece> = pieces
            .iter()
            .filter_map(|p| Some(Piece { result: access(p, slot)?.clone(), ..p.clone() }))
            .collect();
        let sizes = self.sizes(slot);
        let (injective, surjective) = (injective(&written), surjective(&written, &sizes.1));
        let accumulates = rule.accumulator != Accumulator::Set && !injective.is_yes();
        let cleared = rule.reset && !(injective.is_yes() && surjective.is_yes());
        let view = View { writer: self, pieces: &pieces };
        let mut text = format!("{target} : {}", self.ty(&sizes.0));
        text += &format!(" ={}{sign}", if rule.reset { ":" } else { "" });
        let over = self.over(&active);
        if !over.is_empty() {
            text += &format!(" over {over}");
        }
        text += &format!(" at [{}]: {}", view.index(slot).join(","), view.term(&rule.value, 0));
        let reduces = self.reduces(slot, &active);
        Ok(AssignmentReport {
            text,
            why: why(&target, rule, injective, surjective) + &self.lacking(rule, &written, &sizes.1),
            target,
            slot: slot_name(slot),
            accumulator: sign,
            reset: rule.reset,
            reduces,
            surjective: word(surjective),
            injective: word(injective),
            cleared,
            accumulates,
            margins: self.margins(rule, &pieces),
        })
    }

    /// The facts about sizes that would decide more of the map of the target.
    fn lacking(&self, rule: &Rule, written: &[Piece], sizes: &[Extent]) -> String {
        let mut text = String::new();
        let reset_only = rule.reset && rule.accumulator != Accumulator::Set;
        let questions = [
            ("surjective", Some(sizes), surjective(written, sizes)),
            ("injective", None, injective(written)),
        ];
        for (what, cover, _) in
            questions.into_iter().filter(|q| q.2.is_unknown() && !(reset_only && q.1.is_none()))
        {
            let facts: Vec<String> = lacking(written, cover).iter().map(ToString::to_string).collect();
            if !facts.is_empty() {
                text += &format!("; `{}` would make it {what}", facts.join(", "));
            }
        }
        text
    }

    /// The sizes of all axes of a slot, and of those whose position is not given from outside.
    fn sizes(&self, slot: Slot) -> (Vec<Extent>, Vec<Extent>) {
        let all = match slot {
            Slot::Lhs => self.projections.result_extents.clone(),
            Slot::Rhs(k) => {
                let operands = &self.projections.operand_extents;
                operands.get(usize::from(k).wrapping_sub(1)).cloned().unwrap_or_default()
            }
        };
        let axes = self.indices(slot).iter().zip(&all);
        let seen =
            axes.filter(|(index, _)| **index != Index::External).map(|(_, size)| size.clone()).collect();
        (all, seen)
    }

    fn ty(&self, sizes: &[Extent]) -> String {
        let sizes: Vec<String> = sizes.iter().map(Extent::to_string).collect();
        if sizes.is_empty() { self.dtype.to_string() } else { format!("{}[{}]", self.dtype, sizes.join(",")) }
    }

    /// `i<4, a<3^b<5`.
    fn over(&self, active: &BTreeSet<LoopId>) -> String {
        let factors = self.projections.factors.iter().filter_map(|factor| {
            let loops = factor.loops.iter().filter(|id| active.contains(id));
            let parts: Vec<String> =
                loops.map(|id| self.loop_of(*id)).map(|l| format!("{}<{}", l.name, l.size)).collect();
            (!parts.is_empty()).then(|| parts.join("^"))
        });
        factors.collect::<Vec<_>>().join(", ")
    }

    /// The loops that the map of a slot does not mention. Components of one factor share its fate.
    fn reduces(&self, slot: Slot, active: &BTreeSet<LoopId>) -> Vec<LoopReport> {
        let mentioned: BTreeSet<LoopId> = self.indices(slot).iter().flat_map(Index::loops).collect();
        let factors = self.projections.factors.iter();
        let free = factors.filter(|f| f.loops.iter().all(|id| !mentioned.contains(id)));
        free.flat_map(|f| &f.loops).filter(|id| active.contains(id)).map(|id| self.loop_of(*id)).collect()
    }

    fn margins(&self, rule: &Rule, pieces: &[Piece]) -> Vec<String> {
        let mut margins: Vec<String> = Vec::new();
        for cell in std::iter::once(rule.target).chain(rule.value.cells()) {
            let (name, slot) = self.cell(cell);
            if self.number(cell).is_some() {
                continue;
            }
            for access in pieces.iter().filter_map(|p| access(p, slot)).filter(|a| !a.is_total()) {
                let axes = access.before().iter().zip(access.after()).enumerate();
                for (axis, (before, after)) in axes.filter(|(_, (b, a))| **b > 0 || **a != Extent::Const(0)) {
                    let text = format!(
                        "axis {} of {name} is met up to {before} before and {after} after its positions; \
                         those points contribute nothing",
                        axis + 1
                    );
                    if !margins.contains(&text) {
                        margins.push(text);
                    }
                }
            }
        }
        margins
    }
}

/// What follows from the map of the target.
fn why(target: &str, rule: &Rule, injective: Verdict, surjective: Verdict) -> String {
    let sign = rule.accumulator.sign();
    let zero = neutral(rule.accumulator);
    let everywhere = match surjective {
        Verdict::Yes(()) => "surjective",
        Verdict::No(()) => "not surjective",
        Verdict::Unknown => "not known to be surjective",
    };
    let once = match injective {
        Verdict::Yes(()) => "injective",
        Verdict::No(()) => "not injective",
        Verdict::Unknown => "not known to be injective",
    };
    let how = match (injective.is_yes(), rule.accumulator) {
        (true, _) if sign.is_empty() || rule.reset => {
            "each position is written once, by a plain write".to_string()
        }
        (true, _) => format!("each position is joined with what {target} holds, once, by `{sign}`"),
        (false, Accumulator::Set) => "values meet and nothing says which stays".to_string(),
        (false, _) => format!("values that meet in a position are accumulated by `{sign}`"),
    };
    let start = match (rule.reset, injective.is_yes(), surjective) {
        (false, ..) if sign.is_empty() => "positions that are not written keep their value".to_string(),
        (false, ..) => format!("{target} starts from what it holds"),
        (true, true, Verdict::Yes(())) => format!("{target} need not be cleared"),
        (true, true, _) => format!("the other positions of {target} are cleared to {zero}"),
        (true, false, _) => format!("{target} is cleared to {zero} first"),
    };
    format!("{everywhere}, {once}: {how}; {start}")
}

/// Numbers as the notation writes them.
fn number(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e15 { format!("{x}") } else { format!("{x:?}") }
}

/// Index maps and scalars where some pieces are active: with one piece the components are exact, with several they are
/// those of the operation.
struct View<'a> {
    writer: &'a Writer<'a>,
    pieces: &'a [Piece],
}

impl View<'_> {
    fn index(&self, slot: Slot) -> Vec<String> {
        let writer = self.writer;
        let single = match self.pieces {
            [piece] => access(piece, slot).map(|access| (piece, access.components().iter())),
            _ => None,
        };
        match single {
            None => {
                let show = |index: &Index| match index {
                    Index::External => writer.external().to_string(),
                    index => writer.projections.display(index).to_string(),
                };
                writer.indices(slot).iter().map(show).collect()
            }
            Some((piece, mut components)) => {
                let show = |index: &Index| match index {
                    Index::External => writer.external().to_string(),
                    _ => components.next().map_or_else(String::new, |c| self.affine(c, piece)),
                };
                writer.indices(slot).iter().map(show).collect()
            }
        }
    }

    fn affine(&self, affine: &Affine, piece: &Piece) -> String {
        let mut text = String::new();
        for (c, id) in affine.coeffs.iter().zip(&piece.loops).filter(|(c, _)| **c != 0) {
            let sign = match (text.is_empty(), *c < 0) {
                (_, true) => "-",
                (true, false) => "",
                (false, false) => "+",
            };
            let name = self.writer.loop_of(*id).name;
            text += sign;
            if c.unsigned_abs() != 1 {
                text += &format!("{}*", c.unsigned_abs());
            }
            text += &name;
        }
        match (text.is_empty(), affine.offset) {
            (true, offset) => offset.to_string(),
            (false, 0) => text,
            (false, offset) => format!("{text}{offset:+}"),
        }
    }

    /// A term with parentheses where the place binds tighter than it does.
    fn term(&self, term: &Term, place: u8) -> String {
        match term {
            Term::Number(x) => number(*x),
            Term::Cell(cell) => {
                if let Some(number) = self.writer.number(*cell) {
                    return number;
                }
                let (name, slot) = self.writer.cell(*cell);
                let index = self.index(slot);
                if index.is_empty() { name } else { format!("{name}[{}]", index.join(",")) }
            }
            Term::Apply(primitive, terms) => {
                let infix = match primitive.name {
                    "or" => Some(("||", 1)),
                    "and" => Some(("&&", 2)),
                    "lt" => Some(("<", 3)),
                    "eq" => Some(("==", 3)),
                    "ne" => Some(("!=", 3)),
                    "add" => Some(("+", 4)),
                    "sub" => Some(("-", 4)),
                    "mul" => Some(("*", 5)),
                    "div" => Some(("/", 5)),
                    "mod" => Some(("%", 5)),
                    "pow" => Some(("**", 7)),
                    _ => None,
                };
                match (infix, terms.as_slice()) {
                    (Some((sign, binds)), [a, b]) => {
                        // A chain leans to the left; comparisons and powers do not chain.
                        let left = if matches!(binds, 3 | 7) { binds + 1 } else { binds };
                        let text = format!("{} {sign} {}", self.term(a, left), self.term(b, binds + 1));
                        if binds < place { format!("({text})") } else { text }
                    }
                    (_, [a]) if primitive.name == "neg" => {
                        let text = format!("-{}", self.term(a, 6));
                        if place > 6 { format!("({text})") } else { text }
                    }
                    _ => {
                        let terms: Vec<String> = terms.iter().map(|t| self.term(t, 0)).collect();
                        format!("{}({})", primitive.name, terms.join(", "))
                    }
                }
            }
        }
    }
}
