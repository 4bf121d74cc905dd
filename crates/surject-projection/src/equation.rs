//! Projection equations: the second reading of the constraints of an operation.
//!
//! Shape inference reads the constraints as an order of sizes. Here the same constraints, of one operation on the shapes
//! that were found for it, are read as an equivalence of axes by six rules:
//!
//! 1. Two dimensions that are equal are one axis of the product space: [`Equation::Same`].
//! 2. `sub ⊑ sup` where `sub` has size one *severs*: `sub` is read at position 0, `sup` iterates by itself.
//! 3. `sub ⊑ sup` otherwise is the same as equality.
//! 4. Rows that are equal are compared axis for axis, wherever their markers are.
//! 5. `sub ⊑ sup` of rows compares the flanks at their edges; the surplus axes of `sup` iterate.
//! 6. The axes of the tensors iterate, also those without a partner. (On a pinned axis and on one of size one this asks
//!    for nothing, so the marker is set on every axis.)
//!
//! Every axis of every tensor has an identity of its own, made for this operation: two axes whose sizes are equal because
//! of something else in the program stay two axes. Sizes are global, identities local.

use crate::error::{Kind, Place, ProjectionError, Slot};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use surject_index::{Extent, Facts};
use surject_shape::{
    Constraint, DimTerm, DimVar, GroundRow, GroundShape, Instance, Logic, Row, RowVar, Shape, ShapeError,
    ShapeErrorKind, Solver,
};

/// A projection identity: one axis of one tensor of the operation, or a label of its spec.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AxisId(pub(crate) usize);

/// A position that the operation does not range over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pin {
    /// A constant position.
    Fixed(u64),
    /// Given from outside: the index of a slice.
    External,
}

/// The kernel of a strided axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The distance between two positions of the kernel.
    pub dilation: u64,
    /// The axis of the kernel.
    pub kernel: AxisId,
    /// Whether the kernel may go beyond the ends of the axis, so that it does not change its size.
    pub padded: bool,
}

/// A fact about the indices of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Equation {
    /// Two axes have one index.
    Same(AxisId, AxisId),
    /// The position of an axis is given.
    Pinned(AxisId, Pin),
    /// The axis needs a loop.
    Iterated(AxisId),
    /// The index of `target` is `stride·over + dilation·kernel + offset`, less the left margin of a padded kernel.
    Affine {
        /// The axis that is read or written.
        target: AxisId,
        /// The stride.
        stride: u64,
        /// The axis that iterates.
        over: AxisId,
        /// The kernel.
        window: Option<Window>,
        /// The offset, below the stride.
        offset: u64,
    },
    /// The index of `target` is that of the component that is active.
    Concat {
        /// The concatenated axis.
        target: AxisId,
        /// Its components.
        parts: Vec<AxisId>,
    },
}

/// What is known of an identity.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Identity {
    pub(crate) place: Place,
    pub(crate) size: Option<Extent>,
}

/// The projection equations of one operation. Their order does not matter.
#[derive(Clone, PartialEq, Debug)]
pub struct System {
    /// The equations.
    pub equations: Vec<Equation>,
    pub(crate) identities: Vec<Identity>,
    pub(crate) result: Vec<AxisId>,
    pub(crate) operands: Vec<Vec<AxisId>>,
    pub(crate) facts: Arc<Facts>,
}

impl Equation {
    /// The identities it speaks of.
    pub(crate) fn ids(&self) -> Vec<AxisId> {
        match self {
            Equation::Same(a, b) => vec![*a, *b],
            Equation::Pinned(id, _) | Equation::Iterated(id) => vec![*id],
            Equation::Affine { target, over, window, .. } => {
                [*target, *over].into_iter().chain(window.map(|w| w.kernel)).collect()
            }
            Equation::Concat { target, parts } => parts.iter().copied().chain([*target]).collect(),
        }
    }
}

impl System {
    /// The equations of an operation on these shapes. `sizes` are the sizes of the labels of its spec, as far as they are
    /// known from elsewhere.
    ///
    /// # Errors
    /// Another number of operands; rows that do not align.
    pub fn new(
        logic: &Logic,
        operands: &[GroundShape],
        result: &GroundShape,
        sizes: &BTreeMap<String, u64>,
    ) -> Result<System, ProjectionError> {
        let sizes = sizes.iter().map(|(name, size)| (name.clone(), Extent::Const(*size))).collect();
        System::given(logic, operands, result, &sizes, &Arc::default())
    }

    /// As [`System::new`], where sizes may be symbolic and satisfy these facts.
    ///
    /// # Errors
    /// As there.
    pub fn given(
        logic: &Logic,
        operands: &[GroundShape],
        result: &GroundShape,
        sizes: &BTreeMap<String, Extent>,
        facts: &Arc<Facts>,
    ) -> Result<System, ProjectionError> {
        let mut reader = Reader { facts: facts.clone(), ..Reader::default() };
        let (result_shape, result_axes) = reader.freshen(result, Slot::Result);
        let (operand_shapes, operand_axes): (Vec<Shape>, Vec<Vec<AxisId>>) =
            operands.iter().enumerate().map(|(i, shape)| reader.freshen(shape, Slot::Operand(i))).unzip();
        let operand_refs: Vec<&Shape> = operand_shapes.iter().collect();
        let elaboration = logic.elaborate(&mut reader.solver, &operand_refs, &result_shape)?;
        reader.name(&elaboration.instance, sizes);
        for constraint in &elaboration.constraints {
            reader.constraint(constraint)?;
        }
        for (var, position) in &elaboration.instance.pins {
            let id = reader.id((*var).into());
            reader.equations.push(Equation::Pinned(id, Pin::Fixed(*position)));
        }
        for var in &elaboration.instance.external {
            let id = reader.id((*var).into());
            reader.equations.push(Equation::Pinned(id, Pin::External));
        }
        let Reader { mut equations, identities, .. } = reader;
        equations.extend(
            result_axes.iter().chain(operand_axes.iter().flatten()).map(|id| Equation::Iterated(*id)),
        );
        Ok(System {
            equations,
            identities,
            result: result_axes,
            operands: operand_axes,
            facts: facts.clone(),
        })
    }

    /// The identities of the axes of the result and of each operand, in memory order.
    pub fn axes(&self) -> (&[AxisId], &[Vec<AxisId>]) {
        (&self.result, &self.operands)
    }

    /// What an identity of this system stands for.
    pub fn place(&self, id: AxisId) -> &Place {
        self.identities.get(id.0).map_or(&Place::Unnamed, |identity| &identity.place)
    }
}

/// One line an equation: ``output axis 1 of operand 1 is at 2*(the label `o`)``.
impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An axis of the spec without a name goes by that of the tensor it was aligned with.
        let aligned = |id: &AxisId| match self.place(*id) {
            Place::Unnamed => self.equations.iter().find_map(|equation| match equation {
                Equation::Same(a, b) if a == id => Some(*b),
                _ => None,
            }),
            _ => None,
        };
        let place = |id: &AxisId| self.place(aligned(id).unwrap_or(*id));
        for equation in &self.equations {
            match equation {
                Equation::Same(a, b) if aligned(a) == Some(*b) => {}
                Equation::Same(a, b) => writeln!(f, "{} is {}", place(a), place(b))?,
                Equation::Pinned(id, Pin::Fixed(position)) => writeln!(f, "{} is at {position}", place(id))?,
                Equation::Pinned(id, Pin::External) => {
                    writeln!(f, "{} is at a position given from outside", place(id))?;
                }
                Equation::Iterated(id) => writeln!(f, "{} iterates", place(id))?,
                Equation::Affine { target, stride, over, window, offset } => {
                    write!(f, "{} is at {stride}*({})", place(target), place(over))?;
                    if let Some(window) = window {
                        write!(f, " + {}*({})", window.dilation, place(&window.kernel))?;
                        f.write_str(if window.padded { ", padded" } else { "" })?;
                    }
                    writeln!(f, "{}", if *offset > 0 { format!(" + {offset}") } else { String::new() })?;
                }
                Equation::Concat { target, parts } => {
                    let parts: Vec<String> = parts.iter().map(|p| place(p).to_string()).collect();
                    writeln!(f, "{} is one of {}", place(target), parts.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

/// Turns constraints into equations.
#[derive(Default)]
struct Reader {
    /// Makes the variables of the elaboration. Nothing is added to it: the rows are ground on one side of every
    /// constraint, so aligning them is one pass.
    solver: Solver,
    ids: HashMap<DimVar, AxisId>,
    rows: HashMap<RowVar, Vec<DimTerm>>,
    names: HashMap<DimVar, (String, Option<Extent>)>,
    facts: Arc<Facts>,
    identities: Vec<Identity>,
    equations: Vec<Equation>,
}

impl Reader {
    fn identity(&mut self, place: Place, size: Option<Extent>) -> AxisId {
        let size = size.map(|size| tidy(&self.facts, size));
        self.identities.push(Identity { place, size });
        AxisId(self.identities.len() - 1)
    }

    /// A shape with a new identity for each axis.
    fn freshen(&mut self, shape: &GroundShape, slot: Slot) -> (Shape, Vec<AxisId>) {
        let mut axes = Vec::new();
        let mut row = |row: &GroundRow, kind: Kind| {
            let mut fresh = |position: usize, size: Extent| {
                let var = self.solver.fresh_dim();
                let id = self.identity(Place::Axis { slot, kind, position }, Some(size));
                self.ids.insert(var, id);
                axes.push(id);
                DimTerm::Var(var)
            };
            let lead: Vec<_> = row.lead.iter().enumerate().map(|(i, d)| fresh(i, d.extent())).collect();
            let trail =
                row.trail.iter().enumerate().map(|(i, d)| fresh(lead.len() + i, d.extent())).collect();
            Row::new(lead, None, trail)
        };
        // Memory order.
        let batch = row(&shape.batch, Kind::Batch);
        let output = row(&shape.output, Kind::Output);
        let input = row(&shape.input, Kind::Input);
        (Shape { batch, input, output }, axes)
    }

    fn name(&mut self, instance: &Instance, sizes: &BTreeMap<String, Extent>) {
        for (name, var) in &instance.dims {
            self.names.insert(*var, (name.clone(), sizes.get(name).cloned()));
        }
    }

    /// The identity of a dimension: that of an axis, of a label, or of a component that is only a size.
    fn id(&mut self, term: DimTerm) -> AxisId {
        let var = match term {
            DimTerm::Known(dim) => return self.identity(Place::Unnamed, Some(dim.extent())),
            DimTerm::Var(var) => var,
        };
        if let Some(id) = self.ids.get(&var) {
            return *id;
        }
        let id = match self.names.remove(&var) {
            Some((name, size)) => self.identity(Place::Label(name), size),
            None => self.identity(Place::Unnamed, None),
        };
        self.ids.insert(var, id);
        id
    }

    fn constraint(&mut self, constraint: &Constraint) -> Result<(), ProjectionError> {
        match constraint {
            Constraint::DimEq(a, b) => self.same(*a, *b),
            Constraint::DimLe(sub, sup) => self.below(*sub, *sup),
            Constraint::RowEq(a, b) => self.rows_equal(a, b)?,
            Constraint::RowLe(sub, sup) => self.row_below(sub, sup)?,
            Constraint::Terminal(row, _) => {
                for dim in row.dims() {
                    self.iterated(dim);
                }
            }
            Constraint::TerminalDim(dim, _) => self.iterated(*dim),
            Constraint::Affine { input, stride, over, kernel, offset } => {
                let over = self.iterated_id(*over);
                let window = kernel.map(|k| Window {
                    dilation: k.dilation,
                    kernel: self.iterated_id(k.size),
                    padded: k.padded,
                });
                let target = self.id(*input);
                self.equations.push(Equation::Affine {
                    target,
                    stride: *stride,
                    over,
                    window,
                    offset: *offset,
                });
            }
            Constraint::Concat { target, parts } => {
                let parts = parts.iter().map(|part| self.id(*part)).collect();
                let target = self.id(*target);
                self.equations.push(Equation::Concat { target, parts });
            }
            // These speak of sizes only.
            Constraint::AtLeast(..)
            | Constraint::Total { .. }
            | Constraint::Exact { .. }
            | Constraint::Discardable(_) => {}
        }
        Ok(())
    }

    fn iterated(&mut self, dim: DimTerm) {
        self.iterated_id(dim);
    }

    fn iterated_id(&mut self, dim: DimTerm) -> AxisId {
        let id = self.id(dim);
        self.equations.push(Equation::Iterated(id));
        id
    }

    /// Rule 1.
    fn same(&mut self, a: DimTerm, b: DimTerm) {
        // A size that is written out has no index.
        if let (DimTerm::Var(_), DimTerm::Var(_)) = (a, b) {
            let (a, b) = (self.id(a), self.id(b));
            self.equations.push(Equation::Same(a, b));
        }
    }

    /// Rules 2 and 3.
    fn below(&mut self, sub: DimTerm, sup: DimTerm) {
        let (a, b) = (self.id(sub), self.id(sup));
        if self.identities[a.0].size == Some(Extent::Const(1)) {
            self.equations.push(Equation::Pinned(a, Pin::Fixed(0)));
            self.equations.push(Equation::Iterated(b));
        } else {
            self.equations.push(Equation::Same(a, b));
        }
    }

    /// The axes of a row, if its variable is bound or it has none.
    fn flat(&self, row: &Row) -> Option<Vec<DimTerm>> {
        let middle = match row.var {
            None => &[][..],
            Some(var) => self.rows.get(&var)?,
        };
        Some(row.lead.iter().chain(middle).chain(&row.trail).copied().collect())
    }

    /// Rule 4.
    fn rows_equal(&mut self, a: &Row, b: &Row) -> Result<(), ProjectionError> {
        let wrong_rank = |left: usize, right: usize| {
            let row = a.dims().chain(b.dims()).find_map(|dim| self.row_of(dim)).unwrap_or_default();
            let message = format!("number of axes mismatch{row}: {left} against {right}");
            ShapeError::new(ShapeErrorKind::RankMismatch, message)
        };
        let (open, closed) = match (self.flat(a), self.flat(b)) {
            (Some(a), Some(b)) => {
                if a.len() != b.len() {
                    return Err(wrong_rank(a.len(), b.len()).into());
                }
                a.into_iter().zip(b).for_each(|(a, b)| self.same(a, b));
                return Ok(());
            }
            (None, Some(closed)) => (a, closed),
            (Some(closed), None) => (b, closed),
            (None, None) => return Err(not_ground().into()),
        };
        let (Some(var), Some(middle)) = (open.var, closed.len().checked_sub(open.explicit())) else {
            return Err(wrong_rank(open.explicit(), closed.len()).into());
        };
        let from = open.lead.len();
        let outer = open.lead.iter().zip(&closed).chain(open.trail.iter().zip(&closed[from + middle..]));
        outer.for_each(|(a, b)| self.same(*a, *b));
        self.rows.insert(var, closed[from..from + middle].to_vec());
        Ok(())
    }

    /// ` of the output of operand 1`, for an axis of a tensor.
    fn row_of(&self, dim: DimTerm) -> Option<String> {
        let DimTerm::Var(var) = dim else { return None };
        match &self.identities[self.ids.get(&var)?.0].place {
            Place::Axis { slot, kind, .. } => Some(format!(" of the {kind} of {slot}")),
            _ => None,
        }
    }

    /// Rule 5.
    fn row_below(&mut self, sub: &Row, sup: &Row) -> Result<(), ProjectionError> {
        if sub.var.is_some() || sup.var.is_some() {
            return Err(not_ground().into());
        }
        let surplus =
            (sup.lead.len().checked_sub(sub.lead.len()), sup.trail.len().checked_sub(sub.trail.len()));
        let (Some(_), Some(trail)) = surplus else {
            let message = format!(
                "too many axes: {} before and {} after the marker do not fit a row with {} and {}",
                sub.lead.len(),
                sub.trail.len(),
                sup.lead.len(),
                sup.trail.len()
            );
            return Err(ShapeError::new(ShapeErrorKind::RankMismatch, message).into());
        };
        let (front, back) = (&sup.lead[sub.lead.len()..], &sup.trail[..trail]);
        front.iter().chain(back).for_each(|dim| self.iterated(*dim));
        let pairs = sub.lead.iter().zip(&sup.lead).chain(sub.trail.iter().zip(&sup.trail[trail..]));
        pairs.for_each(|(sub, sup)| self.below(*sub, *sup));
        Ok(())
    }
}

/// A size in the form that equal sizes have in common, as far as the facts make them equal. Numbers stay as they are.
pub(crate) fn tidy(facts: &Facts, size: Extent) -> Extent {
    match size {
        Extent::Const(_) => size,
        size => facts.normal(&size).and_then(|normal| normal.to_extent()).unwrap_or(size),
    }
}

fn not_ground() -> ShapeError {
    ShapeError::new(ShapeErrorKind::Undecided, "a row of the operation has no shape to align with")
}
