//! Classes of axes that have one index, and the sizes of derived axes.

use crate::equation::{AxisId, Equation, Pin, System, Window};
use crate::error::{Place, ProjectionError};
use surject_shape::{ShapeError, ShapeErrorKind};

/// Union-find over the identities of a system. The root of a class is its first identity.
pub(crate) struct Classes<'a> {
    system: &'a System,
    parent: Vec<usize>,
    /// By root: the size, and the identity that gave it.
    size: Vec<Option<(u64, usize)>>,
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
        let size = system.identities.iter().enumerate().map(|(i, id)| Some((id.size?, i))).collect();
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
                (classes.pin[root], classes.size[root])
                && position >= size
            {
                return Err(ProjectionError::Beyond { place: classes.place(at), position, size });
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
    pub(crate) fn size(&self, root: usize) -> Result<u64, ProjectionError> {
        match self.size[root] {
            Some((size, _)) => Ok(size),
            None => Err(ProjectionError::UnknownSize { place: self.label(root) }),
        }
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
        if let (Some((first, i)), Some((second, j))) = (self.size[a], self.size[b])
            && first != second
        {
            let (first_place, second_place) = (self.place(i), self.place(j));
            return Err(ProjectionError::Sizes { first_place, first, second_place, second });
        }
        let (root, other) = (a.min(b), a.max(b));
        self.parent[other] = root;
        self.size[root] = self.size[root].or(self.size[other]);
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

    fn known(&self, id: AxisId) -> Option<u64> {
        self.size[self.root(id)].map(|(size, _)| size)
    }

    /// Gives a class its size; `expected` is `None` where the law has no solution. Whether it was new.
    fn resize(
        &mut self,
        id: AxisId,
        expected: Option<u64>,
        law: impl Fn() -> String,
    ) -> Result<bool, ProjectionError> {
        let root = self.root(id);
        match (self.size[root], expected) {
            (Some((found, _)), Some(size)) if found == size => Ok(false),
            (None, Some(size)) => {
                self.size[root] = Some((size, root));
                Ok(true)
            }
            (found, expected) => Err(ProjectionError::Extent {
                place: self.place(root),
                found: found.map_or_else(|| "an unknown number of".to_string(), |(n, _)| n.to_string()),
                law: law(),
                expected: expected.map_or_else(|| "no whole number".to_string(), |n| n.to_string()),
            }),
        }
    }

    fn concat_size(&mut self, target: AxisId, parts: &[AxisId]) -> Result<bool, ProjectionError> {
        let mut sum = Some(0u64);
        let mut open = Vec::new();
        for part in parts {
            match self.known(*part) {
                Some(size) => sum = sum.and_then(|s| s.checked_add(size)),
                None => open.push(*part),
            }
        }
        let Some(sum) = sum else {
            return Err(ProjectionError::TooLarge("the components of a concatenation together".to_string()));
        };
        let law = || format!("the concatenation of {} components, {sum} positions known,", parts.len());
        match (open.as_slice(), self.known(target)) {
            ([], _) => self.resize(target, Some(sum), law),
            ([part], Some(whole)) => self.resize(*part, whole.checked_sub(sum), law),
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
        let kernel = valid.and_then(|w| self.known(w.kernel));
        match (self.known(target), self.known(over), valid, kernel) {
            (_, Some(o), None, _) => {
                let size = stride.checked_mul(o).ok_or_else(too_large)?;
                self.resize(target, Some(size), || law(o, None))
            }
            (Some(n), None, None, _) => {
                let over_size = n.is_multiple_of(stride).then_some(n / stride);
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
                self.resize(target, size, || law(o, Some(k)))
            }
            (Some(n), None, Some(w), Some(k)) => {
                let room = span(k, w.dilation).filter(|_| k > 0).and_then(|span| n.checked_sub(span));
                let steps = room.filter(|room| room.is_multiple_of(stride)).map(|room| room / stride);
                self.resize(over, steps.and_then(|s| s.checked_add(1)), || {
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
                self.resize(w.kernel, size, || format!("{n} positions less stride {stride} over {o}"))
            }
            _ => Ok(false),
        }
    }
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
