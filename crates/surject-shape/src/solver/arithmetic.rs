//! Concatenated and affine axes: arithmetic over sizes, and what it says of bases.
//!
//! Both laws are functions. A concatenation of one component that is not empty is that component; of several it is the
//! sum of their sizes with their fused basis. An affine axis has the size of its formula and the fused basis of what it is
//! made from. Read backwards a size is determined, a basis not always: a component of `5:x = 2:x ^ v` may be
//! `3:x` or `3`, and one of size one may be the unit. Until closing such a component waits.

use super::relations::Law;
use super::{Solver, Task};
use crate::constraint::Kernel;
use crate::dim::{Basis, BasisClash, Dim, DimTerm, DimVar, fuse};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;

/// The positions that a dilated kernel spans.
fn span(dilation: u64, kernel: u64) -> u64 {
    kernel.saturating_sub(1).saturating_mul(dilation).saturating_add(1)
}

/// The positions of axes together. Symbolic sizes are the business of the laws over them.
fn number_of(parts: &[Dim]) -> u64 {
    parts.iter().filter_map(|p| p.size()).fold(0, u64::saturating_add)
}

/// The value of a concatenation.
pub(super) fn concatenated(parts: &[Dim]) -> Result<Dim, BasisClash> {
    let mut full = parts.iter().copied().filter(|p| p.size() != Some(0));
    match (full.next(), full.next()) {
        (None, _) => Ok(Dim::new(0)),
        (Some(single), None) => Ok(single),
        _ => {
            let size = number_of(parts);
            Ok(Dim::Size { size, basis: fuse(parts.iter().copied())? })
        }
    }
}

impl Solver {
    fn fused(&self, what: &str, parts: &[Dim], fact: Fact) -> Result<Basis, ShapeError> {
        fuse(parts.iter().copied()).map_err(|BasisClash(a, b)| {
            let text = format!("{what}: conflicting bases `{}` and `{}`", a.name(), b.name());
            self.error(ShapeErrorKind::BasisClash, text, fact)
        })
    }

    /// An open axis has this size, and with `others` it makes an axis of the basis `whole`.
    fn bind_part(
        &mut self,
        var: DimVar,
        size: u64,
        whole: Basis,
        others: Basis,
        fact: Fact,
    ) -> Result<(), ShapeError> {
        let named = Dim::Size { size, basis: whole };
        if others != Basis::DEFAULT && others != whole {
            return Err(self.clash(Dim::Size { size, basis: others }, named, fact));
        }
        let mut candidates = vec![named];
        if whole != Basis::DEFAULT && others == whole {
            candidates.push(Dim::new(size));
        }
        if size == 1 && (whole == Basis::DEFAULT || others == whole) {
            candidates.push(Dim::Unit);
        }
        let mut fact = fact;
        if let Some(upper) = self.dims[var.0 as usize].upper {
            let fitting: Vec<Dim> = candidates.iter().copied().filter(|c| c.broadcasts_to(upper)).collect();
            if fitting.len() < candidates.len() {
                fact = self.facts.follows(fact, self.dims[var.0 as usize].upper_why);
            }
            if fitting.is_empty() {
                return Err(self.clash(named, upper, fact));
            }
            candidates = fitting;
        }
        if self.dims[var.0 as usize].atom {
            candidates.retain(|c| *c != Dim::Unit);
        }
        if candidates.len() == 1 {
            return self.bind_dim(var.0, candidates[0], fact);
        }
        if self.stage >= 4 {
            let value = self.likeliest(var.0, candidates);
            return self.bind_dim(var.0, value, fact);
        }
        if size >= 2 {
            self.at_least(var.into(), size, fact)?;
        }
        Ok(())
    }

    /// The least size of a term.
    fn least_size(&self, term: DimTerm) -> u64 {
        match self.dim(term) {
            DimTerm::Known(dim) => dim.size().unwrap_or(0),
            DimTerm::Var(var) => {
                let state = &self.dims[var.0 as usize];
                state.at_least.max(u64::from(!state.may_be_empty()))
            }
        }
    }

    pub(super) fn concat(
        &mut self,
        number: u32,
        target: DimTerm,
        parts: &[DimTerm],
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for part in parts {
            match self.known(*part, &mut fact) {
                Ok(dim) => known.push(dim),
                Err(var) => open.push(var),
            }
        }
        let sum = number_of(&known);
        let full = known.iter().filter(|p| p.size() != Some(0)).count();
        let least: u64 = open.iter().map(|v| self.least_size((*v).into())).fold(0, u64::saturating_add);
        match (self.known(target, &mut fact), open.as_slice()) {
            (found, []) => {
                self.fused("concatenation", &known, fact)?;
                let value = concatenated(&known).unwrap_or(Dim::Unit);
                match found {
                    Err(var) => self.bind_dim(var.0, value, fact)?,
                    Ok(dim) if dim.size() != Some(sum) => {
                        let text = format!(
                            "concatenation: the components have {sum} positions together, the axis has {}",
                            dim.extent()
                        );
                        return Err(self.error(ShapeErrorKind::Concat, text, fact));
                    }
                    Ok(dim) if dim != value => return Err(self.clash(value, dim, fact)),
                    Ok(_) => {}
                }
                Ok(true)
            }
            (Ok(dim), open) => {
                let spare = dim.size().and_then(|size| size.checked_sub(sum));
                let Some(spare) = spare.filter(|s| *s >= least) else {
                    let text = format!(
                        "concatenation: the components have at least {} positions together, the axis has {}",
                        sum.saturating_add(least),
                        dim.extent()
                    );
                    return Err(self.error(ShapeErrorKind::Concat, text, fact));
                };
                let others = self.fused("concatenation", &known, fact)?;
                let [var] = open else { return Ok(false) };
                match dim {
                    _ if full == 0 => self.bind_dim(var.0, dim, fact)?,
                    _ if spare == 0 => self.bind_dim(var.0, Dim::new(0), fact)?,
                    Dim::Unit => {
                        return Err(self.clash(Dim::new(sum.saturating_add(spare)), dim, fact));
                    }
                    Dim::Size { basis, .. } | Dim::Symbolic { basis, .. } => {
                        self.bind_part(*var, spare, basis, others, fact)?
                    }
                }
                Ok(false)
            }
            (Err(var), open) => {
                if open.contains(&var) {
                    return self.own_component(var, open, sum, fact);
                }
                let size = sum.saturating_add(least);
                // Of a single component that may be all there is, nothing but its size is known.
                if size >= 2 {
                    self.at_least(var.into(), size, fact)?;
                }
                if self.stage >= 4 && self.dims[self.find_const(var.0) as usize].value.is_none() {
                    let root = self.find_const(var.0);
                    return self.cancel(number, root, parts, fact);
                }
                Ok(false)
            }
        }
    }

    /// An axis that is one of its own components: the others are empty.
    fn own_component(
        &mut self,
        var: DimVar,
        open: &[DimVar],
        sum: u64,
        fact: Fact,
    ) -> Result<bool, ShapeError> {
        let others: Vec<DimVar> = open.iter().copied().filter(|v| *v != var).collect();
        // Where it stands twice, it is empty itself.
        let twice = open.len() - others.len() > 1;
        let empty: Vec<DimVar> = if twice { open.to_vec() } else { others };
        // A problem in text form says first which axes may be empty.
        let settled = self.stage > 1 || self.exact_markers;
        if sum > 0 || (settled && empty.iter().any(|v| self.least_size((*v).into()) > 0)) {
            let text = "occurs check failed: a concatenated axis is its own component";
            return Err(ShapeError { guessed: false, ..self.error(ShapeErrorKind::Occurs, text, fact) });
        }
        if settled {
            for part in empty {
                self.queue.push_back(Task::DimEq(part.into(), Dim::new(0).into(), fact));
            }
        }
        Ok(settled)
    }

    /// Two concatenations make the same axis: what they have in common cancels.
    fn cancel(
        &mut self,
        number: u32,
        target: u32,
        parts: &[DimTerm],
        fact: Fact,
    ) -> Result<bool, ShapeError> {
        for i in 0..self.dims[target as usize].relations.len() {
            let other = self.dims[target as usize].relations[i];
            let relation = &self.relations[other as usize];
            let Law::Concat { target: DimTerm::Var(t), parts: theirs } = &relation.law else { continue };
            if other == number || relation.done || self.find_const(t.0) != target {
                continue;
            }
            let (theirs, other_fact) = (theirs.clone(), relation.fact);
            let mut right: Vec<DimTerm> = theirs.iter().map(|p| self.dim(*p)).collect();
            let mut left = Vec::new();
            let mut common = 0;
            for part in parts.iter().map(|p| self.dim(*p)) {
                match right.iter().position(|p| *p == part) {
                    Some(at) => {
                        right.swap_remove(at);
                        common += 1;
                    }
                    None => left.push(part),
                }
            }
            let fact = self.facts.follows(fact, other_fact);
            if common == 0 && left.len() > 1 && right.len() > 1 {
                continue;
            }
            match (left.as_slice(), right.as_slice()) {
                ([], []) => {}
                ([a], [b]) => self.queue.push_back(Task::DimEq(*a, *b, fact)),
                ([one], many) | (many, [one]) if !many.is_empty() => {
                    let law = Law::Concat { target: *one, parts: many.to_vec() };
                    self.post_relation(law, fact);
                }
                _ => continue,
            }
            // The other concatenation still defines the axis.
            return Ok(true);
        }
        Ok(false)
    }

    /// The numbers of known axes; symbolic ones are the business of [`Solver::symbolic_law`].
    fn numbers(dims: [Option<Dim>; 2]) -> [u64; 2] {
        dims.map(|dim| dim.and_then(Dim::size).unwrap_or(1))
    }

    pub(super) fn affine(
        &mut self,
        input: DimTerm,
        stride: u64,
        over: DimTerm,
        kernel: Option<Kernel>,
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let window = kernel.filter(|k| !k.padded).map(|k| (k.dilation, k.size));
        if stride == 1 && window.is_none() {
            self.queue.push_back(Task::DimEq(input, over, fact));
            return Ok(true);
        }
        // The least sizes before anything is known of them: an upper estimate of nothing, a lower one of the axis.
        let (least_over, least_kernel) =
            (self.least_size(over).max(1), window.map_or(1, |(_, k)| self.least_size(k).max(1)));
        let size_of = |over: u64, kernel: u64| match window {
            None => stride.saturating_mul(over),
            Some((dilation, _)) => stride.saturating_mul(over - 1).saturating_add(span(dilation, kernel)),
        };
        let over = self.known(over, &mut fact);
        let kernel = window.map(|(dilation, k)| (dilation, self.known(k, &mut fact)));
        let known: Vec<Dim> = [over.ok(), kernel.and_then(|k| k.1.ok())].into_iter().flatten().collect();
        let basis = self.fused("convolution", &known, fact)?;
        let input = match (self.known(input, &mut fact), over, kernel) {
            (Err(var), Ok(o), None) => {
                let [o, _] = Solver::numbers([Some(o), None]);
                let value = Dim::Size { size: size_of(o, 1), basis };
                self.bind_dim(var.0, value, fact)?;
                return Ok(true);
            }
            (Err(var), Ok(o), Some((_, Ok(k)))) => {
                let [o, k] = Solver::numbers([Some(o), Some(k)]);
                let value = Dim::Size { size: size_of(o, k), basis };
                self.bind_dim(var.0, value, fact)?;
                return Ok(true);
            }
            (Err(var), ..) => {
                let least = size_of(least_over, least_kernel);
                if least >= 2 {
                    self.at_least(var.into(), least, fact)?;
                }
                return Ok(false);
            }
            (Ok(input), ..) => input,
        };
        let Dim::Size { size, basis: whole } = input else {
            let made = Dim::Size { size: size_of(least_over, least_kernel), basis };
            return Err(self.clash(made, input, fact));
        };
        if basis != Basis::DEFAULT && basis != whole {
            return Err(self.clash(Dim::Size { size, basis }, input, fact));
        }
        match (over, kernel) {
            (Ok(o), None | Some((_, Ok(_)))) => {
                let [o, k] = Solver::numbers([Some(o), kernel.and_then(|k| k.1.ok())]);
                let made = Dim::Size { size: size_of(o, k), basis };
                if made != input {
                    return Err(self.clash(made, input, fact));
                }
                Ok(true)
            }
            (Err(var), None) => self.strided(var, size, size, stride, whole, basis, fact),
            (Err(var), Some((dilation, Ok(k)))) => {
                let [k, _] = Solver::numbers([Some(k), None]);
                let spans = span(dilation, k);
                let Some(room) = size.checked_sub(spans) else {
                    let text = format!("the kernel spans {spans} positions of an axis of {size}");
                    return Err(self.error(ShapeErrorKind::Stride, text, fact));
                };
                if !room.is_multiple_of(stride) {
                    let text = format!(
                        "incompatible stride: {size} positions less the {spans} of the kernel leave {room}, which the stride {stride} does not divide"
                    );
                    return Err(self.error(ShapeErrorKind::Stride, text, fact));
                }
                self.strided(var, room.saturating_add(stride), size, stride, whole, basis, fact)
            }
            (Ok(o), Some((dilation, Err(var)))) => {
                let [o, _] = Solver::numbers([Some(o), None]);
                let reach = size_of(o, 1);
                match size.checked_sub(reach).filter(|room| room.is_multiple_of(dilation)) {
                    Some(room) => self.bind_part(var, room / dilation + 1, whole, basis, fact)?,
                    None => {
                        let text = format!(
                            "cannot infer the kernel: {reach} positions are read from an axis of {size}"
                        );
                        return Err(self.error(ShapeErrorKind::Stride, text, fact));
                    }
                }
                Ok(false)
            }
            (Err(_), Some((_, Err(_)))) => {
                if size < size_of(least_over, least_kernel) {
                    let least = size_of(least_over, least_kernel);
                    let text = format!("at least {least} positions are read from an axis of {size}");
                    return Err(self.error(ShapeErrorKind::Stride, text, fact));
                }
                Ok(false)
            }
        }
    }

    /// `stride · var = positions`.
    #[allow(clippy::too_many_arguments)]
    fn strided(
        &mut self,
        var: DimVar,
        positions: u64,
        size: u64,
        stride: u64,
        whole: Basis,
        others: Basis,
        fact: Fact,
    ) -> Result<bool, ShapeError> {
        if !positions.is_multiple_of(stride) {
            let text = format!("incompatible stride: {size} positions do not divide by the stride {stride}");
            return Err(self.error(ShapeErrorKind::Stride, text, fact));
        }
        self.bind_part(var, positions / stride, whole, others, fact)?;
        Ok(false)
    }
}
