//! From a field to the expression of a kernel.

use crate::CodegenError;
use crate::expression::address::{Access, Guard, GuardFact, Lin, LoopId, LoopSet, Point};
use crate::expression::compose::{compose, compose_affine, linearise, sizes};
use crate::expression::dag::{Buf, Dag, Node, NodeId, Parts};
use crate::expression::gather::{Gathered, Start};
use crate::expression::polyphase::{self, Shape};
use crate::expression::renumber::{self, renumbered};
use crate::expression::solve::{Refusal, solve};
use crate::expression::stop::{Residues, Stop};
use crate::expression::{complex, inline, positions};
use std::collections::HashMap;
use surject_index::{IndexMap, Space};
use surject_ir::{AccOp, DType, FieldId, FieldKind, Function, Scalar, Var};

mod gather;

/// How the value at a point is made from the values at other points.
#[derive(Clone, Debug)]
enum Recipe {
    Leaf,
    Pointwise(Vec<Point>),
    Read {
        guards: Vec<Guard>,
        of: Point,
    },
    /// An element whose index has its components there.
    Gather(Vec<Start>),
    /// The points that reach the position, in one part for each choice of remainders of the axes that have some.
    Acc(Vec<Fibres>),
}

/// Points of an accumulation that reach a position: `guards` are those of the fibre, outside them there is no term.
#[derive(Clone, Debug)]
struct Fibres {
    free: Vec<LoopId>,
    guards: Vec<Guard>,
    of: Point,
}

/// Builds the expressions of one kernel.
pub struct Builder<'a> {
    pub(crate) function: &'a Function,
    /// Accumulations that are stored on their own, and where.
    spilled: &'a HashMap<FieldId, Buf>,
    /// Variables of rank 0 that are values and not memory.
    bound: &'a HashMap<Var, Parts>,
    /// Variables that are evaluated where they are read, and their fields.
    inlined: Option<&'a HashMap<Var, FieldId>>,
    /// Variables that are gathered where they are read.
    gathers: Option<&'a HashMap<Var, Gathered>>,
    /// Axes of accumulations that are taken apart by their remainders.
    residues: Option<&'a HashMap<(FieldId, usize), i64>>,
    /// Loops below this number may be split.
    outer: usize,
    /// The axes that each of the other loops runs through.
    axes: HashMap<LoopId, Vec<(FieldId, usize)>>,
    /// The graph.
    pub dag: Dag,
    pub(crate) accesses: Vec<Access>,
    access_ids: HashMap<Access, usize>,
    recipes: HashMap<Point, Recipe>,
    pub(crate) values: HashMap<Point, Parts>,
}

impl<'a> Builder<'a> {
    /// A builder over some outer loops, which the graph already has.
    pub fn new(
        function: &'a Function,
        spilled: &'a HashMap<FieldId, Buf>,
        bound: &'a HashMap<Var, Parts>,
        dag: Dag,
    ) -> Builder<'a> {
        Builder {
            function,
            spilled,
            bound,
            inlined: None,
            gathers: None,
            residues: None,
            axes: HashMap::new(),
            outer: dag.extents.len(),
            dag,
            accesses: Vec::new(),
            access_ids: HashMap::new(),
            recipes: HashMap::new(),
            values: HashMap::new(),
        }
    }

    /// Evaluates these variables where they are read.
    pub fn inlining(mut self, inlined: &'a HashMap<Var, FieldId>) -> Builder<'a> {
        self.inlined = Some(inlined);
        self
    }

    /// Gathers these variables where they are read.
    pub fn gathering(mut self, gathers: &'a HashMap<Var, Gathered>) -> Builder<'a> {
        self.gathers = Some(gathers);
        self
    }

    /// Takes axes of accumulations apart by their remainders, as this shape says.
    pub fn taking_apart(mut self, shape: &'a Shape) -> Builder<'a> {
        self.residues = (!shape.moduli().is_empty()).then_some(&shape.residues);
        self
    }

    /// The value of a field at a position.
    pub fn value(&mut self, field: FieldId, components: Vec<Lin>) -> Result<Parts, Stop> {
        let root = (field, self.access(Access { components, guards: Vec::new() }));
        let mut work = vec![root];
        // Depth first without recursion: a point stays on the stack until those it needs have values.
        while let Some(&point) = work.last() {
            if self.values.contains_key(&point) {
                work.pop();
                continue;
            }
            if !self.recipes.contains_key(&point) {
                let recipe = self.recipe(point)?;
                self.recipes.insert(point, recipe);
            }
            let recipe = self.recipes[&point].clone();
            let needs: Vec<Point> = match &recipe {
                Recipe::Leaf => Vec::new(),
                Recipe::Pointwise(points) => points.clone(),
                Recipe::Read { of, .. } => vec![*of],
                Recipe::Gather(starts) => starts
                    .iter()
                    .filter_map(|start| match start {
                        Start::Computed(point) => Some(*point),
                        Start::Stored(_) => None,
                    })
                    .collect(),
                Recipe::Acc(fibres) => fibres.iter().map(|f| f.of).collect(),
            };
            let missing: Vec<Point> =
                needs.iter().copied().filter(|p| !self.values.contains_key(p)).collect();
            if missing.is_empty() {
                let parts = self.evaluate(point, &recipe)?;
                self.values.insert(point, parts);
                work.pop();
            } else {
                work.extend(missing);
            }
        }
        Ok(self.values[&root])
    }

    pub(crate) fn access(&mut self, access: Access) -> usize {
        if let Some(&id) = self.access_ids.get(&access) {
            return id;
        }
        self.accesses.push(access.clone());
        self.access_ids.insert(access, self.accesses.len() - 1);
        self.accesses.len() - 1
    }

    fn recipe(&mut self, (field, at): Point) -> Result<Recipe, Stop> {
        let node = &self.function.fields[field];
        if self.spilled.contains_key(&field) {
            return Ok(Recipe::Leaf);
        }
        Ok(match &node.kind {
            FieldKind::Tensor(var) if self.inlined.is_some_and(|i| i.contains_key(var)) => {
                let field = self.inlined.and_then(|i| i.get(var).copied()).unwrap_or(field);
                Recipe::Read { guards: Vec::new(), of: (field, at) }
            }
            FieldKind::Tensor(var) if self.gathers.is_some_and(|g| g.contains_key(var)) => {
                let access = self.accesses[at].clone();
                if !access.guards.is_empty() {
                    return Err(CodegenError::malformed("a gather that is read outside of itself").into());
                }
                match self.gathers.and_then(|g| g.get(var)) {
                    Some(gathered) => Recipe::Gather(self.starts(gathered, &access)),
                    None => Recipe::Leaf,
                }
            }
            FieldKind::Tensor(_) | FieldKind::Index { .. } | FieldKind::Const(_) => Recipe::Leaf,
            FieldKind::Read { map, of } => {
                let access = self.accesses[at].clone();
                let components = compose(map, &access.components)?;
                let mut new = Vec::new();
                for guard in map.guards() {
                    let bound = guard.bound.as_const().and_then(|n| i64::try_from(n).ok());
                    let bound =
                        bound.ok_or_else(|| CodegenError::unsupported("an extent that is not constant"))?;
                    let expr = compose_affine(&guard.expr, &access.components)?;
                    let guard = Guard { expr, bound };
                    if guard.fact(&self.dag.extents) != GuardFact::Always {
                        new.push(guard);
                    }
                }
                let guards = join(&access.guards, &new);
                Recipe::Read { guards: new, of: (*of, self.access(Access { components, guards })) }
            }
            FieldKind::Acc { map, of, .. } => {
                let domain = sizes(map.domain())?;
                if let Some(of) = renumbered(self.function, field, &|var| self.is_apart(var)) {
                    let Access { components, guards } = self.accesses[at].clone();
                    let components =
                        renumber::numbered(&domain, linearise(&sizes(&node.space)?, &components)?);
                    let access = self.access(Access { components, guards });
                    return Ok(Recipe::Read { guards: Vec::new(), of: (of, access) });
                }
                let known = self.spilled.contains_key(of);
                if !known
                    && self.is_inlined(field)
                    && self.meets_again(at, map)
                    && inline::is_costly(self.function, *of)
                {
                    return Err(Stop::Spill(*of));
                }
                let modulus = |axis: usize| self.residues?.get(&(field, axis)).copied();
                let moduli: Vec<i64> = (0..domain.len()).map(|axis| modulus(axis).unwrap_or(1)).collect();
                let mut fibres = Vec::new();
                for remainders in choices(&moduli, &domain) {
                    fibres.push(self.base_change((field, at), map, *of, &moduli, &remainders)?);
                }
                Recipe::Acc(fibres)
            }
            kind => Recipe::Pointwise(kind.children().map(|c| (c, at)).collect()),
        })
    }

    /// Do windows over a tensor with holes share the elements between them?
    fn meets_again(&self, at: usize, map: &IndexMap) -> bool {
        let components = &self.accesses[at].components;
        let loops: LoopSet = components.iter().flat_map(|lin| lin.loops().loops()).collect();
        let places: i64 = loops
            .loops()
            .filter(|l| l.0 as usize >= self.outer)
            .fold(1, |n, l| n.saturating_mul(self.dag.extent(l)));
        let steps = map.components().iter().flat_map(|c| c.coeffs.iter()).filter(|&&c| c != 0);
        places > steps.fold(1i64, |n, c| n.saturating_mul(c.saturating_abs()))
    }

    /// The points that reach a position, along every axis those whose number has a remainder.
    fn base_change(
        &mut self,
        (field, at): Point,
        map: &IndexMap,
        of: FieldId,
        moduli: &[i64],
        remainders: &[i64],
    ) -> Result<Fibres, Stop> {
        let access = self.accesses[at].clone();
        let domain = sizes(map.domain())?;
        let extents: Vec<i64> = domain
            .iter()
            .zip(moduli.iter().zip(remainders))
            .map(|(&n, (&m, &r))| (n - r + m - 1) / m)
            .collect();
        let position: Vec<Lin> = access.components.clone();
        // The unknowns: reduction loops that the position does not use, shared between accumulations.
        let mut used: Vec<LoopId> = Vec::new();
        let busy = |l: LoopId| {
            position.iter().chain(access.guards.iter().map(|g| &g.expr)).any(|lin| lin.coeff(l) != 0)
        };
        for (axis, &extent) in extents.iter().enumerate() {
            let pooled = (self.outer..self.dag.extents.len()).map(|l| LoopId(l as u8));
            let mut fitting =
                pooled.filter(|&l| self.dag.extent(l) == extent && !used.contains(&l) && !busy(l));
            let unknown = match fitting.next() {
                Some(l) => l,
                None => self.dag.add_loop(extent).ok_or(Stop::Spill(field))?,
            };
            used.push(unknown);
            let axes = self.axes.entry(unknown).or_default();
            if !axes.contains(&(field, axis)) {
                axes.push((field, axis));
            }
        }
        let overflow = || CodegenError::overflow("an address");
        let numbered = |lin: &Lin, axis: usize| {
            let scaled = if extents[axis] == 1 { Some(Lin::default()) } else { lin.times(moduli[axis]) };
            scaled.and_then(|lin| lin.plus(&Lin::constant(remainders[axis]), 1)).ok_or_else(overflow)
        };
        let mut unknowns = Vec::new();
        for (axis, &l) in used.iter().enumerate() {
            unknowns.push(numbered(&Lin::var(l), axis)?);
        }
        let left = compose(map, &unknowns)?;
        let fibre = solve(&left, &position, &used, &self.dag.extents)
            .map_err(|refusal| self.refused(refusal, field))?;
        let free: Vec<LoopId> = fibre.free.iter().copied().filter(|&l| self.dag.extent(l) != 1).collect();
        // One point reaches a position of a set, but it is not known which: it is sent from where it is.
        if !free.is_empty()
            && matches!(self.function.fields[field].kind, FieldKind::Acc { op: AccOp::Set, .. })
        {
            return Err(Stop::Spill(field));
        }
        let mut components = Vec::new();
        for (axis, lin) in fibre.axes.iter().enumerate() {
            components.push(numbered(lin, axis)?);
        }
        let guards = join(&access.guards, &fibre.guards);
        Ok(Fibres { free, guards: fibre.guards, of: (of, self.access(Access { components, guards })) })
    }

    /// What is to be done where an accumulation has no form over the loops at hand.
    fn refused(&self, refusal: Refusal, field: FieldId) -> Stop {
        let is_outer = |l: LoopId| (l.0 as usize) < self.outer;
        let FieldKind::Acc { op, .. } = self.function.fields[field].kind else { return Stop::Spill(field) };
        let dtype = self.function.fields[field].dtype;
        match refusal {
            Refusal::Split(l, inner) if is_outer(l) && !self.is_inlined(field) => Stop::Split(l, inner),
            // What is stored on its own unless its positions can be told apart is not looked for otherwise.
            Refusal::Split(l, modulus) if is_outer(l) && op != AccOp::Set && !dtype.is_complex() => {
                let none = HashMap::new();
                match inline::holes(self.function, field, self.inlined.unwrap_or(&none)) {
                    true => Stop::Phase(Residues { outer: vec![(l, modulus)], axes: Vec::new() }, field),
                    false => Stop::Spill(field),
                }
            }
            Refusal::Residues(loops, split) => {
                let mut residues = Residues::default();
                for (l, modulus) in loops {
                    if is_outer(l) {
                        residues.outer.push((l, modulus));
                    } else {
                        let axes = self.axes.get(&l).into_iter().flatten();
                        residues.axes.extend(axes.map(|&axis| (axis, modulus)));
                    }
                }
                let none = HashMap::new();
                let sparse = || inline::holes(self.function, field, self.inlined.unwrap_or(&none));
                let windows = !residues.outer.is_empty() && (!residues.axes.is_empty() || sparse());
                match split {
                    _ if windows && op != AccOp::Set && !dtype.is_complex() => Stop::Phase(residues, field),
                    Some((l, inner)) if is_outer(l) && !self.is_inlined(field) => Stop::Split(l, inner),
                    _ => Stop::Spill(field),
                }
            }
            _ => Stop::Spill(field),
        }
    }

    /// Is a tensor evaluated where it is read?
    fn is_apart(&self, var: Var) -> bool {
        self.inlined.is_some_and(|i| i.contains_key(&var))
            || self.gathers.is_some_and(|g| g.contains_key(&var))
    }

    fn is_inlined(&self, field: FieldId) -> bool {
        self.inlined.is_some_and(|inlined| inlined.values().any(|&f| f == field))
    }

    /// The value at a point, by its recipe; those of the points it needs are there. An arm for every kind of field.
    fn evaluate(&mut self, (field, at): Point, recipe: &Recipe) -> Result<Parts, Stop> {
        let data = &self.function.fields[field];
        let (dtype, access) = (data.dtype, self.accesses[at].clone());
        if let Some(&buf) = self.spilled.get(&field) {
            return Ok(self.load(buf, &data.space.clone(), dtype, &access)?);
        }
        let operand = |builder: &Builder<'_>, i: usize| match recipe {
            Recipe::Pointwise(points) => builder.values[&points[i]],
            Recipe::Read { of, .. } => builder.values[of],
            // They have no operand, or one for each part.
            Recipe::Leaf | Recipe::Gather(_) | Recipe::Acc(_) => Parts { re: NodeId(0), im: None },
        };
        Ok(match (&data.kind, recipe) {
            (FieldKind::Tensor(_) | FieldKind::Acc { .. }, Recipe::Read { .. }) => operand(self, 0),
            (FieldKind::Tensor(var), Recipe::Gather(starts)) => {
                let gathered = self.gathers.and_then(|g| g.get(var));
                let gathered = gathered.ok_or_else(|| CodegenError::malformed("a gather of nothing"))?;
                let re = self.gathered(gathered, dtype, &access.components, starts)?;
                Parts { re, im: None }
            }
            (FieldKind::Tensor(var), _) => match self.bound.get(var) {
                Some(&parts) => parts,
                None => self.load(Buf(var.0), &data.space.clone(), dtype, &access)?,
            },
            (FieldKind::Index { axis }, _) => {
                let part = self.dag.add(Node::Index(access.components[*axis].clone()), dtype.part());
                complex::real(&mut self.dag, part, dtype)
            }
            (FieldKind::Const(value), _) => complex::constant(&mut self.dag, *value),
            (FieldKind::Read { map, .. }, Recipe::Read { guards, .. }) => {
                let inner = operand(self, 0);
                let fill = Scalar::from_bits(dtype, map.fill().map_or(0, |f| f.0));
                self.guarded(inner, guards, fill)
            }
            (FieldKind::Acc { op, .. }, Recipe::Acc(fibres)) => self.accumulated(*op, field, fibres)?,
            (FieldKind::Unary { op, .. }, _) => {
                let x = operand(self, 0);
                complex::unary(&mut self.dag, *op, x, dtype)?
            }
            (FieldKind::Binary { op, .. }, _) => {
                let (x, y) = (operand(self, 0), operand(self, 1));
                match positions::binary(&mut self.dag, *op, x.re, y.re) {
                    Some(re) if (x.im, y.im) == (None, None) => Parts { re, im: None },
                    _ => complex::binary(&mut self.dag, *op, x, y)?,
                }
            }
            (FieldKind::Select { .. }, _) => {
                let (c, x, y) = (operand(self, 0).re, operand(self, 1), operand(self, 2));
                complex::zip(&mut self.dag, x, y, |dag, x, y| chosen(dag, c, x, y))
            }
            (FieldKind::Convert { .. }, _) => {
                let x = operand(self, 0);
                complex::convert(&mut self.dag, x, dtype)
            }
            (FieldKind::Bitcast { .. }, _) => {
                let x = operand(self, 0);
                if x.im.is_some() || dtype.is_complex() {
                    return Err(CodegenError::unsupported("a bitcast of complex numbers").into());
                }
                Parts { re: self.dag.add(Node::Bitcast(x.re), dtype), im: None }
            }
            (FieldKind::ReducePrecision { exponent, mantissa, .. }, _) => {
                let x = operand(self, 0).re;
                Parts { re: self.dag.add(Node::ReducePrecision(*exponent, *mantissa, x), dtype), im: None }
            }
            (FieldKind::Read { .. } | FieldKind::Acc { .. }, _) => {
                return Err(CodegenError::malformed("a recipe that does not belong to its field").into());
            }
        })
    }

    /// What points that reach a position make together.
    fn accumulated(&mut self, op: AccOp, field: FieldId, fibres: &[Fibres]) -> Result<Parts, Stop> {
        let dtype = self.function.fields[field].dtype;
        let mut parts = Vec::new();
        for fibre in fibres {
            let inner = self.values[&fibre.of];
            let body = self.guarded(inner, &fibre.guards, op.neutral(dtype));
            if fibres.len() == 1 && (self.residues.is_none() || fibre.free.is_empty()) {
                return match fibre.free.is_empty() {
                    true => Ok(complex::once(&mut self.dag, op, body)?),
                    false => self.reduce(op, &fibre.free, body, field),
                };
            }
            if body.im.is_some() {
                complex::accumulates_by_parts(op)?;
            }
            let mut sum = |x| polyphase::part(&mut self.dag, (op, &fibre.free, field), x);
            parts.push(Parts { re: sum(body.re)?, im: body.im.map(sum).transpose()? });
        }
        if let [one] = parts[..] {
            return Ok(one);
        }
        if op == AccOp::Set {
            return Ok(self.where_it_is(fibres, &parts, op.neutral(dtype)));
        }
        let mut join = |nodes: Vec<NodeId>| polyphase::joined(&mut self.dag, op, dtype.part(), &nodes);
        let re = join(parts.iter().map(|p| p.re).collect())?;
        let im: Option<Vec<NodeId>> = parts.iter().map(|p| p.im).collect();
        Ok(Parts { re, im: im.map(join).transpose()? })
    }

    fn reduce(&mut self, op: AccOp, loops: &[LoopId], body: Parts, field: FieldId) -> Result<Parts, Stop> {
        if body.im.is_some() {
            complex::accumulates_by_parts(op)?;
        }
        Ok(complex::map(&mut self.dag, body, |dag, x| polyphase::reduced(dag, (op, loops, field), x)))
    }

    /// The part whose conditions hold, of which there is one at most.
    fn where_it_is(&mut self, fibres: &[Fibres], parts: &[Parts], neutral: Scalar) -> Parts {
        let yes = complex::constant(&mut self.dag, Scalar::bool(true));
        let none = complex::constant(&mut self.dag, neutral);
        fibres.iter().zip(parts).fold(none, |others, (fibre, &part)| {
            let here = self.guarded(yes, &fibre.guards, Scalar::bool(false)).re;
            complex::zip(&mut self.dag, part, others, |dag, x, y| chosen(dag, here, x, y))
        })
    }

    fn guarded(&mut self, inner: Parts, guards: &[Guard], fill: Scalar) -> Parts {
        let never = guards.iter().any(|g| g.fact(&self.dag.extents) == GuardFact::Never);
        let fill = complex::constant(&mut self.dag, fill);
        if never {
            return fill;
        }
        if guards.is_empty() {
            return inner;
        }
        let mut guards = guards.to_vec();
        guards.sort();
        complex::zip(&mut self.dag, inner, fill, |dag, x, f| {
            let dtype = dag[x].dtype;
            let Node::Const(fill) = dag[f].node else { return x };
            if x == f { x } else { dag.add(Node::Guarded { guards: guards.clone(), fill, inner: x }, dtype) }
        })
    }

    /// Loads an element. Where the tensor has none, or a guard never holds, the value is never used.
    pub(crate) fn load(
        &mut self,
        buf: Buf,
        space: &Space,
        dtype: DType,
        access: &Access,
    ) -> Result<Parts, CodegenError> {
        let never = access.guards.iter().any(|g| g.fact(&self.dag.extents) == GuardFact::Never);
        if never || space.is_empty() {
            return Ok(complex::constant(&mut self.dag, Scalar::zero(dtype)));
        }
        let address = linearise(&sizes(space)?, &access.components)?;
        let mut guards = access.guards.clone();
        guards.sort();
        if !dtype.is_complex() {
            let re = self.dag.add(Node::Load { buf, address, guards }, dtype);
            return Ok(Parts { re, im: None });
        }
        let overflow = || CodegenError::overflow("a complex tensor");
        let re = address.times(2).ok_or_else(overflow)?;
        let im = re.plus(&Lin::constant(1), 1).ok_or_else(overflow)?;
        let part = dtype.part();
        let re = self.dag.add(Node::Load { buf, address: re, guards: guards.clone() }, part);
        let im = self.dag.add(Node::Load { buf, address: im, guards }, part);
        Ok(Parts { re, im: Some(im) })
    }
}

/// The remainders of every axis, for every choice that some point of a domain of these sizes has.
fn choices(moduli: &[i64], sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for (&modulus, &size) in moduli.iter().zip(sizes) {
        // An axis without points has one choice, which has none either.
        let count = modulus.min(size).max(1);
        all = all.iter().flat_map(|c| (0..count).map(move |r| [c.as_slice(), &[r]].concat())).collect();
    }
    all
}

/// One of two values. Where guards choose and the other one is a constant, whoever emits it knows where they hold, and
/// what is only chosen there need not be guarded by them again: the inside of a padded tensor is loaded as it is. (A load
/// with a mask is not foreseen by every processor: Zen 5 takes twice as long to copy what no cache holds.)
fn chosen(dag: &mut Dag, condition: NodeId, x: NodeId, y: NodeId) -> NodeId {
    let dtype = dag[x].dtype;
    if let (Node::Guarded { guards, fill, inner }, Node::Const(other)) = (&dag[condition].node, &dag[y].node)
        && dag[*inner].node == Node::Const(Scalar::bool(true))
        && *fill == Scalar::bool(false)
    {
        let (guards, fill) = (guards.clone(), *other);
        let inner = match &dag[x].node {
            Node::Guarded { guards: own, inner, .. } if own.iter().all(|g| guards.contains(g)) => *inner,
            _ => x,
        };
        return if inner == y { y } else { dag.add(Node::Guarded { guards, fill, inner }, dtype) };
    }
    if x == y { x } else { dag.add(Node::Select(condition, x, y), dtype) }
}

fn join(a: &[Guard], b: &[Guard]) -> Vec<Guard> {
    let mut all = a.to_vec();
    all.extend(b.iter().filter(|g| !a.contains(g)).cloned());
    all
}
