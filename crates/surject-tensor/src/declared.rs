//! Declared sizes (seed 002): `size n;` is a size that every call gives a value, and `where n >= 4;` what every call checks.

use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Graph, Site, SizeRef};
use std::collections::BTreeSet;
use std::sync::Arc;
use surject_index::{Extent, ExtentExpr, Fact, Facts};
use surject_shape::{Basis, Constraint, Dim, Place};

/// The declared sizes of a graph and the facts about them.
#[derive(Clone, Default)]
pub(crate) struct Declared {
    sizes: Vec<(String, Option<Place>)>,
    facts: Vec<(Fact, Option<Place>)>,
    given: Arc<Facts>,
}

impl Declared {
    /// What is known of sizes.
    pub(crate) fn given(&self) -> &Arc<Facts> {
        &self.given
    }

    /// The facts, as they were stated.
    pub(crate) fn facts(&self) -> &[(Fact, Option<Place>)] {
        &self.facts
    }

    /// The declared names.
    pub(crate) fn sizes(&self) -> &[(String, Option<Place>)] {
        &self.sizes
    }

    /// Is this the name of a declared size?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.sizes.iter().any(|(known, _)| known == name)
    }

    /// The form that equal sizes have in common.
    pub(crate) fn tidy(&self, size: Extent) -> Extent {
        match size {
            Extent::Const(_) => size,
            size => self.given.normal(&size).and_then(|n| n.to_extent()).unwrap_or(size),
        }
    }

    /// What the facts say that a declared size is: a number, or an expression over other sizes. Shapes have that instead.
    pub(crate) fn defined(&self, name: &str) -> Option<Extent> {
        let own = Extent::symbol(name);
        let mut atoms = BTreeSet::new();
        let tidy = self.tidy(own.clone());
        tidy.atoms(&mut atoms);
        let is_other = !atoms.iter().any(|atom| Extent::Expr(atom.clone()) == own);
        is_other.then_some(tidy)
    }

    /// The names in an expression that are no declared sizes.
    fn undeclared(&self, of: &[&Extent]) -> Option<String> {
        let mut atoms = BTreeSet::new();
        of.iter().for_each(|extent| extent.atoms(&mut atoms));
        atoms.into_iter().find_map(|atom| match &*atom {
            ExtentExpr::Symbol(name) if self.has(name) => None,
            _ => Some(Extent::Expr(atom).to_string()),
        })
    }

    /// The size that an expression is, with a basis.
    ///
    /// # Errors
    /// No expression over declared sizes; one that is not certainly a size; a claim that it is one which is not known.
    pub(crate) fn dim(&self, text: &str, basis: Option<&str>) -> Result<Dim, TensorError> {
        let extent: Extent = match text.parse() {
            Ok(extent) => extent,
            Err(error) => {
                let message = format!("`{text}` is no size: {error}");
                return Err(TensorError::new(TensorErrorKind::Size, message));
            }
        };
        if let Some(name) = self.undeclared(&[&extent]) {
            return Err(not_declared(&name));
        }
        let extent = self.tidy(extent);
        if !self.given.is_size(&extent).is_yes() {
            let message =
                format!("`{extent}` may be no size: it has to be at least 0, and divisors at least 1");
            let fact = Fact::new(Extent::Const(0), surject_index::Relation::Le, extent);
            let help = format!("declare the fact that decides it: `where {};`", self.given.residual(&fact));
            return Err(TensorError::new(TensorErrorKind::Size, message).with_help(help));
        }
        let unit = basis.is_some_and(|basis| Dim::with_basis(1, basis) == Dim::Unit || basis == "*");
        if !unit {
            return Ok(Dim::of(extent, basis.map_or(Basis::DEFAULT, Basis::named)));
        }
        if self.given.same(&extent, &Extent::Const(1)).is_yes() {
            return Ok(Dim::Unit);
        }
        let message = format!("whether `{extent}` is 1 and broadcasts is not known");
        let help =
            format!("declare `where {extent} == 1;`, or leave the basis out: then it never broadcasts");
        Err(TensorError::new(TensorErrorKind::Size, message).with_help(help))
    }
}

fn not_declared(name: &str) -> TensorError {
    TensorError::new(TensorErrorKind::Unknown, format!("the size `{name}` is not declared"))
        .with_help(format!("declare it: `size {name};`"))
}

impl Graph {
    /// Declares a size.
    ///
    /// # Errors
    /// A name that expressions over sizes do not have, or that is taken.
    pub fn declare_size(&self, name: &str, place: Option<Place>) -> Result<(), TensorError> {
        let wrong = |message: String| Err(TensorError::new(TensorErrorKind::Size, message).at(place.clone()));
        let is_name = name.parse::<Extent>().is_ok_and(|e| e == Extent::symbol(name));
        if !is_name || name == "unit" || name == "_" {
            return wrong(format!("`{name}` is no name of a size"));
        }
        let mut data = self.0.borrow_mut();
        if data.declared.has(name) {
            return wrong(format!("the size `{name}` is declared already"));
        }
        data.declared.sizes.push((name.to_string(), place));
        Ok(())
    }

    /// Declares a size that a shape or a fact implies, unless it is declared.
    ///
    /// # Errors
    /// A name that expressions over sizes do not have.
    pub(crate) fn imply_size(&self, name: &str, place: Option<Place>) -> Result<(), TensorError> {
        if self.declares(name) { Ok(()) } else { self.declare_size(name, place) }
    }

    /// States a fact about declared sizes, which inference uses and every call checks.
    ///
    /// # Errors
    /// Sizes that are not declared; a fact that contradicts those before.
    pub fn state_fact(&self, fact: Fact, place: Option<Place>) -> Result<(), TensorError> {
        let mut data = self.0.borrow_mut();
        if let Some(name) = data.declared.undeclared(&[&fact.left, &fact.right]) {
            return Err(not_declared(&name).at(place));
        }
        let given = data.declared.given.and(fact.clone()).map_err(|error| {
            TensorError::new(TensorErrorKind::Size, error.to_string())
                .with_help("no call satisfies all of these facts; take one of them out")
                .at(place.clone())
        })?;
        data.solver.assume(given.clone());
        data.declared.facts.push((fact, place));
        data.declared.given = Arc::new(given);
        Ok(())
    }

    /// Is this the name of a declared size?
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.0.borrow().declared.has(name)
    }

    /// A declared size, as a size of the graph.
    ///
    /// # Errors
    /// It is not declared.
    pub fn declared_size(&self, name: &str, site: &Site) -> Result<SizeRef, TensorError> {
        let dim = self.0.borrow().declared.dim(name, None)?;
        let var = self.fresh_dim();
        self.constrain(Constraint::DimEq(var.into(), dim.into()), site)?;
        Ok(SizeRef::Dim(var))
    }
}
