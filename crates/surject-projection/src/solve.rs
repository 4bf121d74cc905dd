//! Solving: each class gets its index, and what is left to do is naming.
//!
//! The classes of axes are closed in two layers. *Base* classes first: a pinned class has its position (a pin beats the
//! wish to iterate), a component of a concatenation and an iterating class whose size is not one get a loop, everything
//! else is at position 0. *Derived* indices are evaluated over them then; an axis with a derived index never has a loop
//! of its own, and where an axis has two, they have to be the same one.
//!
//! Nothing is chosen on the way, so the solution is unique up to the names of loops, in whatever order the equations come.

use crate::classes::{Classes, span};
use crate::equation::{AxisId, Equation, Pin, System, Window};
use crate::error::{Place, ProjectionError};
use crate::loops::Plan;
use crate::projections::{Projections, write_affine};
use std::collections::{BTreeMap, BTreeSet};
use surject_index::Extent;

/// How many affine axes may be made of each other: an axis of a spec with many terms is a chain of so many.
const DEEPEST: usize = 16;

/// An index over the roots of classes that have a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Fixed(u64),
    External,
    /// Terms by ascending root, no coefficient zero.
    Affine {
        terms: Vec<(i64, usize)>,
        offset: i64,
    },
    /// Roots and sizes of the components.
    Concat(Vec<(usize, Extent)>),
}

impl Form {
    /// The roots it mentions.
    pub(crate) fn roots(&self) -> Vec<usize> {
        match self {
            Form::Fixed(_) | Form::External => Vec::new(),
            Form::Affine { terms, .. } => terms.iter().map(|(_, root)| *root).collect(),
            Form::Concat(parts) => parts.iter().map(|(root, _)| *root).collect(),
        }
    }
}

impl System {
    /// The product space and the index maps.
    ///
    /// # Errors
    /// A conflict between the equations; see [`ProjectionError`].
    pub fn solve(&self) -> Result<Projections, ProjectionError> {
        let classes = Classes::new(self)?;
        let closing = Closing::new(self, &classes);
        let forms = |axes: &[AxisId]| {
            axes.iter().map(|id| closing.form(classes.root(*id), DEEPEST)).collect::<Result<Vec<Form>, _>>()
        };
        let result = forms(&self.result)?;
        let operands = self.operands.iter().map(|axes| forms(axes)).collect::<Result<Vec<_>, _>>()?;
        Plan::new(self, &classes, &closing.couplings(), result, operands).projections()
    }
}

/// How the classes of a system are closed.
struct Closing<'a> {
    classes: &'a Classes<'a>,
    /// By root: the equations it is derived by.
    derived: BTreeMap<usize, Vec<&'a Equation>>,
    /// The roots that are components of a concatenation.
    components: BTreeSet<usize>,
}

impl<'a> Closing<'a> {
    fn new(system: &'a System, classes: &'a Classes<'a>) -> Closing<'a> {
        let mut derived: BTreeMap<usize, Vec<&Equation>> = BTreeMap::new();
        let mut components = BTreeSet::new();
        for equation in &system.equations {
            let (Equation::Affine { target, .. } | Equation::Concat { target, .. }) = equation else {
                continue;
            };
            derived.entry(classes.root(*target)).or_default().push(equation);
            if let Equation::Concat { parts, .. } = equation {
                components.extend(parts.iter().map(|part| classes.root(*part)));
            }
        }
        Closing { classes, derived, components }
    }

    /// The components that the concatenations couple, as pairs of roots.
    fn couplings(&self) -> Vec<Vec<usize>> {
        let equations = self.derived.values().flatten();
        let parts = equations.filter_map(|equation| match equation {
            Equation::Concat { parts, .. } => Some(parts.iter().map(|p| self.classes.root(*p)).collect()),
            _ => None,
        });
        parts.collect()
    }

    /// The index of a class. What it is derived from may be derived itself, so many times.
    fn form(&self, root: usize, deepest: usize) -> Result<Form, ProjectionError> {
        let pinned = self.classes.pin(root).map(|pin| match pin {
            Pin::Fixed(position) => Form::Fixed(position),
            Pin::External => Form::External,
        });
        let Some(equations) = self.derived.get(&root) else {
            return match pinned {
                Some(form) => Ok(form),
                None => self.base(root),
            };
        };
        let mut agreed = pinned;
        for equation in equations {
            let form = self.derive(equation, deepest)?;
            match &agreed {
                Some(first) if *first != form => {
                    return Err(ProjectionError::TwoIndices {
                        place: self.classes.place(root),
                        first: self.describe(first),
                        second: self.describe(&form),
                    });
                }
                _ => agreed = Some(form),
            }
        }
        Ok(agreed.unwrap_or(Form::Fixed(0)))
    }

    /// The index of a base class without a pin.
    fn base(&self, root: usize) -> Result<Form, ProjectionError> {
        let size = self.classes.size(root)?;
        if self.components.contains(&root) || (self.classes.is_iterated(root) && !self.classes.is_one(&size))
        {
            return Ok(Form::Affine { terms: vec![(1, root)], offset: 0 });
        }
        Ok(Form::Fixed(0))
    }

    fn derive(&self, equation: &Equation, deepest: usize) -> Result<Form, ProjectionError> {
        match equation {
            Equation::Affine { target, stride, over, window, offset } => {
                let over = self.over(*target, *over, deepest)?;
                self.affine(*target, *stride, over, *window, *offset)
            }
            Equation::Concat { target, parts } => self.concat(*target, parts),
            _ => Ok(Form::Fixed(0)),
        }
    }

    /// What a stride goes over: a base class, or another affine axis, of which the window adds a term.
    fn over(&self, target: AxisId, over: AxisId, deepest: usize) -> Result<Form, ProjectionError> {
        let root = self.classes.root(over);
        let affine = |equation: &&Equation| matches!(equation, Equation::Affine { .. });
        match self.derived.get(&root) {
            Some(equations) if deepest > 0 && equations.iter().all(affine) => self.form(root, deepest - 1),
            _ => self.part(target, over),
        }
    }

    /// A class that a derived axis is made of: a base class.
    fn part(&self, target: AxisId, part: AxisId) -> Result<Form, ProjectionError> {
        let root = self.classes.root(part);
        if self.derived.contains_key(&root) {
            return Err(self.not_a_loop(target, part, "strided or concatenated itself"));
        }
        match self.classes.pin(root) {
            Some(Pin::External) => Err(self.not_a_loop(target, part, "given from outside")),
            Some(Pin::Fixed(position)) => Ok(Form::Fixed(position)),
            None => self.base(root),
        }
    }

    fn not_a_loop(&self, target: AxisId, part: AxisId, why: &'static str) -> ProjectionError {
        ProjectionError::NotALoop {
            place: self.classes.place(target.0),
            part: self.classes.place(part.0),
            why,
        }
    }

    /// `stride·over + dilation·kernel + offset - left`, where the left margin of a padded kernel is half of the span of
    /// the dilated kernel, rounded down: `left = ⌊((k-1)·dilation + 1) / 2⌋`. A kernel of 3 reads `oh+kh-1`, one of 3 with
    /// dilation 2 reads `oh+2*kh-2`.
    fn affine(
        &self,
        target: AxisId,
        stride: u64,
        over: Form,
        window: Option<Window>,
        offset: u64,
    ) -> Result<Form, ProjectionError> {
        let mut sum = Sum::default();
        sum.add(offset, Form::Fixed(1));
        sum.add(stride, over);
        if let Some(window) = window {
            sum.add(window.dilation, self.part(target, window.kernel)?);
            if window.padded {
                let kernel = self.classes.size(self.classes.root(window.kernel))?;
                let kernel = self.classes.tidy(kernel);
                let Some(kernel) = kernel.as_const() else {
                    let place = self.classes.place(target.0);
                    return Err(ProjectionError::Dynamic { place, field: "the left margin", size: kernel });
                };
                match span(kernel, window.dilation) {
                    Some(span) => sum.offset -= i128::from(span / 2),
                    None => sum.overflow = true,
                }
            }
        }
        sum.form().ok_or_else(|| {
            ProjectionError::TooLarge(format!("the index of {}", self.classes.place(target.0)))
        })
    }

    fn concat(&self, target: AxisId, parts: &[AxisId]) -> Result<Form, ProjectionError> {
        let mut components: Vec<(usize, Extent)> = Vec::with_capacity(parts.len());
        for part in parts {
            let root = self.classes.root(*part);
            if let Form::Fixed(_) = self.part(target, *part)? {
                return Err(self.not_a_loop(target, *part, "at a fixed position"));
            }
            if components.iter().any(|(other, _)| *other == root) {
                let (place, component) = (self.classes.place(target.0), self.classes.label(root));
                return Err(ProjectionError::RepeatedComponent { place, component });
            }
            components.push((root, self.classes.size(root)?));
        }
        Ok(Form::Concat(components))
    }

    /// An index for a message.
    fn describe(&self, form: &Form) -> String {
        let name = |root: usize| match self.classes.label(root) {
            Place::Label(name) => name,
            place => place.to_string(),
        };
        match form {
            Form::Fixed(position) => position.to_string(),
            Form::External => "the position of a slice".to_string(),
            Form::Affine { terms, offset } => {
                let names: Vec<String> = terms.iter().map(|(_, root)| name(*root)).collect();
                let terms = terms.iter().zip(&names).map(|((c, _), name)| (*c, name.as_str()));
                let mut text = String::new();
                // Writing to a string cannot fail.
                let _ = write_affine(&mut text, terms, *offset);
                text
            }
            Form::Concat(parts) => parts.iter().map(|(root, _)| name(*root)).collect::<Vec<_>>().join("^"),
        }
    }
}

/// A sum of multiples of base indices.
#[derive(Default)]
struct Sum {
    terms: BTreeMap<usize, i128>,
    offset: i128,
    overflow: bool,
}

impl Sum {
    fn add(&mut self, factor: u64, form: Form) {
        let factor = i128::from(factor);
        match form {
            Form::Fixed(position) => self.offset = self.offset.saturating_add(factor * i128::from(position)),
            Form::Affine { terms, offset } => {
                self.offset = self.offset.saturating_add(factor * i128::from(offset));
                for (c, root) in terms {
                    *self.terms.entry(root).or_default() += factor * i128::from(c);
                }
            }
            // Neither a base class nor an affine axis has one of these forms.
            Form::External | Form::Concat(_) => self.overflow = true,
        }
    }

    fn form(self) -> Option<Form> {
        if self.overflow {
            return None;
        }
        let offset = i64::try_from(self.offset).ok()?;
        let terms = self.terms.into_iter().filter(|(_, c)| *c != 0);
        let terms =
            terms.map(|(root, c)| Some((i64::try_from(c).ok()?, root))).collect::<Option<Vec<_>>>()?;
        match u64::try_from(offset) {
            Ok(position) if terms.is_empty() => Some(Form::Fixed(position)),
            _ => Some(Form::Affine { terms, offset }),
        }
    }
}
