//! Classes of axes that have one index, and the sizes of derived axes.

use crate::equation::{AxisId, Equation, Pin, System, Window, tidy};
use crate::error::{Place, ProjectionError};
use surject_index::{Extent, Fact, NoQuotient, Relation, Verdict};
use surject_shape::{ShapeError, ShapeErrorKind};

/// Union-find over the identities of a system. The root of a class is its first identity.
pub(crate) struct Classes<'a> {
    system: &'a System,
    parent: Vec<usize>,
    /// By root: the size, and the identity that gave it.
    size: Vec<Option<(Extent, usize)>>,
    /// By root: the position that was given, and for which identity.
    pin: Vec<Option<(Pin, usize)>>,
    /// By root: whether a loop was asked for.
    iterated: Vec<bool>,
}

impl<'a> Classes<'a> {
    /// The classes of the equations, with their pins and sizes.
    pub(crate) fn new(system: &'a System) -> Result<Classes<'a>, ProjectionError> {
        let count = system.identities.len();
        system.equations.iter().try_for_each(|equation| check(equation, count))?;
        let size = system.identities.iter().enumerate().map(|(i, id)| Some((id.size.clone()?, i))).collect();
        let mut classes = Classes {
            system,
            parent: (0..count).collect(),
            size,
            pin: vec![None; count],
            iterated: vec![false; count],
        };
        for equation in &system.equations {
            if let Equation::Same(a, b) = equation {
                classes.union(*a, *b)?;
            }
        }
        for equation in &system.equations {
            match equation {
                Equation::Pinned(id, pin) => classes.pinned(*id, *pin)?,
                Equation::Iterated(id) => {
                    let root = classes.root(*id);
                    classes.iterated[root] = true;
                }
                _ => {}
            }
        }
        classes.derived_sizes()?;
        for root in 0..count {
            if let (Some((Pin::Fixed(position), at)), Some((size, _))) =
                (classes.pin[root], &classes.size[root])
            {
                let inside = Fact::new(position.into(), Relation::Lt, size.clone());
                match system.facts.holds(&inside) {
                    Verdict::Yes(()) => {}
                    Verdict::No(()) => {
                        let size = size.clone();
                        return Err(ProjectionError::Beyond { place: classes.place(at), position, size });
                    }
                    Verdict::Unknown => {
                        let what = format!("whether {} has the position {position}", classes.place(at));
                        return Err(classes.undecided(what, &inside));
                    }
                }
            }
        }
        Ok(classes)
    }

    /// The root of an identity.
    pub(crate) fn root(&self, id: AxisId) -> usize {
        let mut at = id.0;
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    /// The position that a class was given.
    pub(crate) fn pin(&self, root: usize) -> Option<Pin> {
        self.pin[root].map(|(pin, _)| pin)
    }

    /// Was a loop asked for?
    pub(crate) fn is_iterated(&self, root: usize) -> bool {
        self.iterated[root]
    }

    /// The size of a class that needs one.
    pub(crate) fn size(&self, root: usize) -> Result<Extent, ProjectionError> {
        match &self.size[root] {
            Some((size, _)) => Ok(size.clone()),
            None => Err(ProjectionError::UnknownSize { place: self.label(root) }),
        }
    }

    /// A size by what is known of it: a number where the facts make it one.
    pub(crate) fn tidy(&self, size: Extent) -> Extent {
        tidy(&self.system.facts, size)
    }

    /// Is a size one for certain?
    pub(crate) fn is_one(&self, size: &Extent) -> bool {
        self.system.facts.same(size, &Extent::Const(1)).is_yes()
    }

    fn undecided(&self, what: String, question: &Fact) -> ProjectionError {
        ProjectionError::Undecided { what, missing: self.system.facts.residual(question) }
    }

    /// What an identity stands for; where it has no name, what its class does.
    pub(crate) fn place(&self, id: usize) -> Place {
        match &self.system.identities[id].place {
            Place::Unnamed => self.system.identities[self.root(AxisId(id))].place.clone(),
            place => place.clone(),
        }
    }

    /// The label of a class, or what else it stands for.
    pub(crate) fn label(&self, root: usize) -> Place {
        let mut labels = self.system.identities.iter().enumerate().filter_map(|(i, identity)| {
            let is_label = matches!(identity.place, Place::Label(_));
            (is_label && self.root(AxisId(i)) == root).then(|| identity.place.clone())
        });
        labels.next().unwrap_or_else(|| self.place(root))
    }

    fn union(&mut self, a: AxisId, b: AxisId) -> Result<(), ProjectionError> {
        let (a, b) = (self.root(a), self.root(b));
        if let (Some((first, i)), Some((second, j))) = (&self.size[a], &self.size[b])
            && first != second
        {
            let (first_place, second_place) = (self.place(*i), self.place(*j));
            match self.system.facts.same(first, second) {
                Verdict::Yes(()) => {}
                Verdict::No(()) => {
                    let (first, second) = (first.clone(), second.clone());
                    return Err(ProjectionError::Sizes { first_place, first, second_place, second });
                }
                Verdict::Unknown => {
                    let what = format!("whether one loop can drive {first_place} and {second_place}");
                    let question = Fact::new(first.clone(), Relation::Eq, second.clone());
                    return Err(self.undecided(what, &question));
                }
            }
        }
        let (root, other) = (a.min(b), a.max(b));
        self.parent[other] = root;
        if self.size[root].is_none() {
            self.size[root] = self.size[other].clone();
        }
        Ok(())
    }

    fn pinned(&mut self, id: AxisId, pin: Pin) -> Result<(), ProjectionError> {
        let root = self.root(id);
        match self.pin[root] {
            Some((first, at)) if first != pin => {
                let text = |pin: Pin| match pin {
                    Pin::Fixed(position) => position.to_string(),
                    Pin::External => "the position of a slice".to_string(),
                };
                Err(ProjectionError::TwoPins {
                    first_place: self.place(at),
                    first: text(first),
                    second_place: self.place(id.0),
                    second: text(pin),
                })
            }
            _ => {
                self.pin[root] = Some((pin, id.0));
                Ok(())
            }
        }
    }

    /// Follows the sizes through the derived axes, both ways, and checks them.
    fn derived_sizes(&mut self) -> Result<(), ProjectionError> {
        let system = self.system;
        let mut changed = true;
        while changed {
            changed = false;
            for equation in &system.equations {
                changed |= match equation {
                    Equation::Affine { target, stride, over, window, .. } => {
                        self.affine_size(*target, *stride, *over, *window)?
                    }
                    Equation::Concat { target, parts } => self.concat_size(*target, parts)?,
                    _ => false,
                };
            }
        }
        Ok(())
    }

    fn known(&self, id: AxisId) -> Option<Extent> {
        self.size[self.root(id)].as_ref().map(|(size, _)| size.clone())
    }

    /// A size that is a number.
    fn number(&self, id: AxisId) -> Option<u64> {
        self.known(id)?.as_const()
    }

    fn is_symbolic(&self, id: AxisId) -> bool {
        self.known(id).is_some_and(|size| size.as_const().is_none())
    }

    /// Gives a class its size; `expected` is `None` where the law has no solution. Whether it was new.
    fn resize(
        &mut self,
        id: AxisId,
        expected: Option<Extent>,
        law: impl Fn() -> String,
    ) -> Result<bool, ProjectionError> {
        let root = self.root(id);
        let expected = expected.map(|size| tidy(&self.system.facts, size));
        match (&self.size[root], expected) {
            (Some((found, _)), Some(size)) if *found == size => Ok(false),
            (None, Some(size)) => {
                self.size[root] = Some((size, root));
                Ok(true)
            }
            (Some((found, _)), Some(size)) if !self.system.facts.same(found, &size).is_no() => {
                let question = Fact::new(found.clone(), Relation::Eq, size.clone());
                match self.system.facts.holds(&question) {
                    Verdict::Yes(()) => Ok(false),
                    _ => {
                        let what = format!("whether {} has the size that {} gives", self.place(root), law());
                        Err(self.undecided(what, &question))
                    }
                }
            }
            (found, expected) => Err(ProjectionError::Extent {
                place: self.place(root),
                found: found
                    .as_ref()
                    .map_or_else(|| "an unknown number of".to_string(), |(n, _)| n.to_string()),
                law: law(),
                expected: expected.map_or_else(|| "no whole number".to_string(), |n| n.to_string()),
            }),
        }
    }

    fn concat_size(&mut self, target: AxisId, parts: &[AxisId]) -> Result<bool, ProjectionError> {
        if parts.iter().chain([&target]).any(|id| self.is_symbolic(*id)) {
            return self.symbolic_concat_size(target, parts);
        }
        let mut sum = Some(0u64);
        let mut open = Vec::new();
        for part in parts {
            match self.number(*part) {
                Some(size) => sum = sum.and_then(|s| s.checked_add(size)),
                None => open.push(*part),
            }
        }
        let Some(sum) = sum else {
            return Err(ProjectionError::TooLarge("the components of a concatenation together".to_string()));
        };
        let law = || format!("the concatenation of {} components, {sum} positions known,", parts.len());
        match (open.as_slice(), self.number(target)) {
            ([], _) => self.resize(target, Some(sum.into()), law),
            ([part], Some(whole)) => self.resize(*part, whole.checked_sub(sum).map(Extent::Const), law),
            _ => Ok(false),
        }
    }

    fn affine_size(
        &mut self,
        target: AxisId,
        stride: u64,
        over: AxisId,
        window: Option<Window>,
    ) -> Result<bool, ProjectionError> {
        let valid = window.filter(|w| !w.padded);
        let ids = [Some(target), Some(over), valid.map(|w| w.kernel)];
        if ids.into_iter().flatten().any(|id| self.is_symbolic(id)) {
            return self.symbolic_affine_size(target, stride, over, valid);
        }
        let law = |over: u64, kernel: Option<u64>| match (window, kernel) {
            (Some(w), Some(k)) if !w.padded => {
                format!(
                    "stride {stride} over {over} positions with a kernel of {k}, dilation {},",
                    w.dilation
                )
            }
            _ => format!("stride {stride} over {over} positions"),
        };
        let too_large = || ProjectionError::TooLarge("the span of a strided axis".to_string());
        let kernel = valid.and_then(|w| self.number(w.kernel));
        match (self.number(target), self.number(over), valid, kernel) {
            (_, Some(o), None, _) => {
                let size = stride.checked_mul(o).ok_or_else(too_large)?;
                self.resize(target, Some(size.into()), || law(o, None))
            }
            (Some(n), None, None, _) => {
                let over_size = n.is_multiple_of(stride).then_some(Extent::Const(n / stride));
                self.resize(over, over_size, || format!("{n} positions by the stride {stride}"))
            }
            (_, Some(o), Some(w), Some(k)) => {
                // Without positions of either there is no window to span.
                let size = match o.checked_sub(1).filter(|_| k > 0) {
                    Some(steps) => {
                        let span = span(k, w.dilation).ok_or_else(too_large)?;
                        let start = stride.checked_mul(steps).ok_or_else(too_large)?;
                        Some(start.checked_add(span).ok_or_else(too_large)?)
                    }
                    None => None,
                };
                self.resize(target, size.map(Extent::Const), || law(o, Some(k)))
            }
            (Some(n), None, Some(w), Some(k)) => {
                let room = span(k, w.dilation).filter(|_| k > 0).and_then(|span| n.checked_sub(span));
                let steps = room.filter(|room| room.is_multiple_of(stride)).map(|room| room / stride);
                self.resize(over, steps.and_then(|s| s.checked_add(1)).map(Extent::Const), || {
                    format!(
                        "{n} positions by the stride {stride} with a kernel of {k}, dilation {},",
                        w.dilation
                    )
                })
            }
            (Some(n), Some(o), Some(w), None) => {
                let start = o.checked_sub(1).and_then(|steps| steps.checked_mul(stride));
                let rest = start.and_then(|start| n.checked_sub(start)?.checked_sub(1));
                let rest = rest.filter(|rest| rest.is_multiple_of(w.dilation));
                let size = rest.and_then(|rest| (rest / w.dilation).checked_add(1));
                self.resize(w.kernel, size.map(Extent::Const), || {
                    format!("{n} positions less stride {stride} over {o}")
                })
            }
            _ => Ok(false),
        }
    }
}

impl Classes<'_> {
    fn symbolic_concat_size(&mut self, target: AxisId, parts: &[AxisId]) -> Result<bool, ProjectionError> {
        let mut sum = Extent::Const(0);
        let mut open = Vec::new();
        for part in parts {
            match self.known(*part) {
                Some(size) => sum = Extent::sum(sum, size),
                None => open.push(*part),
            }
        }
        let sum = tidy(&self.system.facts, sum);
        let law = || format!("the concatenation of {} components, {sum} positions known,", parts.len());
        match (open.as_slice(), self.known(target)) {
            ([], _) => self.resize(target, Some(sum.clone()), law),
            ([part], Some(whole)) => {
                let rest = Extent::difference(whole, sum.clone());
                self.needs(&rest, 0, "a component of a concatenation")?;
                self.resize(*part, Some(rest), law)
            }
            _ => Ok(false),
        }
    }

    fn symbolic_affine_size(
        &mut self,
        target: AxisId,
        stride: u64,
        over: AxisId,
        window: Option<Window>,
    ) -> Result<bool, ProjectionError> {
        let one = || Extent::Const(1);
        let gaps = |factor: u64, size: Extent| times(factor, Extent::difference(size, one()));
        let law = || format!("stride {stride} over an axis");
        let kernel = window.map(|w| (w, self.known(w.kernel)));
        match (self.known(target), self.known(over), kernel) {
            (_, Some(o), None) => self.resize(target, Some(times(stride, o)), law),
            (Some(n), None, None) => {
                let size = self.quotient(&n, stride, over)?;
                self.resize(over, Some(size), law)
            }
            (_, Some(o), Some((w, Some(k)))) => {
                for size in [&o, &k] {
                    self.needs(size, 1, "a window over an axis")?;
                }
                let span = Extent::sum(gaps(w.dilation, k), one());
                self.resize(target, Some(Extent::sum(gaps(stride, o), span)), law)
            }
            (Some(n), None, Some((w, Some(k)))) => {
                let room = Extent::difference(Extent::difference(n, one()), gaps(w.dilation, k));
                self.needs(&room, 0, "a window that fits its axis")?;
                let steps = self.quotient(&room, stride, over)?;
                self.resize(over, Some(Extent::sum(steps, one())), law)
            }
            (Some(n), Some(o), Some((w, None))) => {
                let room = Extent::difference(Extent::difference(n, one()), gaps(stride, o));
                self.needs(&room, 0, "a window that fits its axis")?;
                let steps = self.quotient(&room, w.dilation, w.kernel)?;
                self.resize(w.kernel, Some(Extent::sum(steps, one())), law)
            }
            _ => Ok(false),
        }
    }

    /// A size that a law asks to be so large.
    fn needs(&self, size: &Extent, least: u64, what: &str) -> Result<(), ProjectionError> {
        let question = Fact::new(least.into(), Relation::Le, size.clone());
        match self.system.facts.holds(&question) {
            Verdict::Yes(()) => Ok(()),
            _ => Err(self.undecided(format!("{what} of size `{size}`"), &question)),
        }
    }

    /// The size that a divisor gives, where it divides.
    fn quotient(&self, total: &Extent, by: u64, of: AxisId) -> Result<Extent, ProjectionError> {
        let total = tidy(&self.system.facts, total.clone());
        self.system.facts.quotient(&total, &by.into()).map_err(|error| match error {
            NoQuotient::NotDivisible(_) => ProjectionError::Extent {
                place: self.place(of.0),
                found: "an unknown number of".to_string(),
                law: format!("{total} positions by {by}"),
                expected: "no whole number".to_string(),
            },
            NoQuotient::Underdetermined(missing) | NoQuotient::Undecided(missing) => {
                ProjectionError::Undecided { what: format!("the size of {}", self.place(of.0)), missing }
            }
        })
    }
}

/// The product, where a factor of 1 is none.
fn times(factor: u64, size: Extent) -> Extent {
    if factor == 1 { size } else { Extent::product(factor.into(), size) }
}

/// Is the equation one of this system, with a law that makes sense?
fn check(equation: &Equation, identities: usize) -> Result<(), ShapeError> {
    if equation.ids().iter().any(|id| id.0 >= identities) {
        let message = "an equation speaks of an axis of another operation";
        return Err(ShapeError::new(ShapeErrorKind::Spec, message));
    }
    match equation {
        Equation::Affine { stride, window, offset, .. }
            if *stride == 0 || offset >= stride || window.is_some_and(|w| w.dilation == 0) =>
        {
            let message = format!(
                "a stride and a dilation are at least 1 and an offset is below its stride (stride {stride}, offset {offset})"
            );
            Err(ShapeError::new(ShapeErrorKind::Stride, message))
        }
        _ => Ok(()),
    }
}

/// The positions that a dilated kernel spans: `(k-1)·dilation + 1`.
pub(crate) fn span(kernel: u64, dilation: u64) -> Option<u64> {
    kernel.saturating_sub(1).checked_mul(dilation)?.checked_add(1)
}
