//! The reverse of a stored field: from its root to the tensors it reads.

use crate::relative::Term;
use crate::sweep::{Result, Sweep};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, UnaryOp, Var};

/// What has arrived at a field.
#[derive(Default)]
struct Arrived {
    whole: Vec<FieldId>,
    relative: Vec<FieldId>,
}

impl Sweep {
    /// Adds what a stored field contributes to the cotangents of the tensors it reads, given the cotangent of what is
    /// stored, the whole of it and what has arrived in relative form. Parents come before children: the arena is
    /// walked from the root down.
    pub(crate) fn store(
        &mut self,
        target: Var,
        root: FieldId,
        whole: Option<FieldId>,
        relative: Option<FieldId>,
    ) -> Result<()> {
        // The operand of an accumulation lives over a product space, which is never stored.
        let product = matches!(self.f.fields[root].kind, FieldKind::Acc { .. });
        let space = self.space(root);
        let mut terms: HashMap<FieldId, Arrived> = HashMap::new();
        let start = terms.entry(root).or_default();
        start.whole.extend(whole);
        start.relative.extend(relative);
        self.note_clamp(root);
        let reached = self.f.fields.reachable(&[root]);
        for id in reached.iter().rev().copied() {
            let Some(arrived) = terms.remove(&id) else { continue };
            let (whole, relative) = (self.noted_sum(&arrived.whole)?, self.noted_sum(&arrived.relative)?);
            let kind = self.f.fields[id].kind.clone();
            let shared = kind.children().filter(|&x| self.is_smooth(x)).count() > 1;
            let small = !product && self.f.fields[id].space == space;
            let once = |s: &mut Sweep, c: FieldId| {
                if shared && small && s.const_of(c).is_none() { s.noted_store(&s.part_name(), c) } else { c }
            };
            let whole = whole.map(|c| once(self, c));
            let relative = relative.map(|c| once(self, c));
            let mut passed = Vec::new();
            match kind {
                FieldKind::Tensor(var) => {
                    whole.into_iter().for_each(|c| self.contribute(var, c));
                    relative.into_iter().for_each(|c| self.contribute_relative(var, c));
                }
                FieldKind::Read { map, of } => {
                    let inside = !matches!(self.f.fields[of].kind, FieldKind::Tensor(_));
                    for (c, is_whole) in [(whole, true), (relative, false)] {
                        let Some(c) = c.filter(|_| self.is_smooth(of)) else { continue };
                        let c = self.settled(c)?;
                        let mut term = self.push(&map, c)?;
                        if inside && self.has_sum(term) {
                            term = self.stored_field(&self.part_name(), term);
                        }
                        passed.push((of, if is_whole { Term::Whole(term) } else { Term::Relative(term) }));
                    }
                }
                _ => {
                    // Where the value of the root is needed, it is there.
                    let value = if id == root { self.f.tensor(target) } else { id };
                    if let Some(c) = whole {
                        let found = self.node(id, value, c)?;
                        passed.extend(self.immune(id, c, found)?);
                    }
                    if let Some(c) = relative {
                        let found = self.relative_node(id, value, c)?;
                        passed.extend(self.immune(id, c, found)?);
                    }
                }
            }
            for (child, term) in passed {
                // A quotient passes terms on to what its divisor is the sum of, which another statement may hold.
                if reached.binary_search(&child).is_err()
                    && let FieldKind::Tensor(var) = self.f.fields[child].kind
                {
                    match term {
                        Term::Whole(c) => self.contribute(var, c),
                        Term::Relative(c) => self.contribute_relative(var, c),
                    }
                    continue;
                }
                let arrived = terms.entry(child).or_default();
                match term {
                    Term::Whole(c) => arrived.whole.push(c),
                    Term::Relative(c) => arrived.relative.push(c),
                }
            }
        }
        Ok(())
    }

    /// Is there an accumulation at the top, which is not to be computed again for every use?
    fn has_sum(&self, field: FieldId) -> bool {
        matches!(self.f.fields[field].kind, FieldKind::Acc { .. } | FieldKind::Convert { .. })
    }

    /// The name of what is stored on the way through the statement at hand.
    pub(crate) fn part_name(&self) -> String {
        format!("d_{}_part", self.variable())
    }

    /// Does a derivative flow through this field?
    pub(crate) fn is_smooth(&mut self, field: FieldId) -> bool {
        self.activity.field(&self.f, field).smooth
    }

    /// What a node other than a tensor or a read passes on to its children. `z` is its value.
    fn node(&mut self, id: FieldId, z: FieldId, c: FieldId) -> Result<Vec<(FieldId, Term)>> {
        if let Some(terms) = self.made_relative(id, z, c)? {
            return Ok(terms);
        }
        let field = self.f.fields[id].clone();
        let terms = match field.kind {
            FieldKind::Acc { op, map, of } => {
                if !self.is_smooth(of) {
                    return Ok(Vec::new());
                }
                let c = self.settled(c)?;
                let term = match op {
                    // The adjoint law.
                    AccOp::Add | AccOp::Set => self.read(map, c)?,
                    // Nothing meets: what is moved so keeps every bit.
                    AccOp::Max | AccOp::Min if map.injective().is_yes() => self.read(map, c)?,
                    AccOp::Max | AccOp::Min => self.extremum(op, z, &map, of, c)?,
                    AccOp::Mul => self.product(&map, of, c)?,
                    AccOp::And | AccOp::Or | AccOp::Xor => {
                        return Err(self.unsupported_op(op.name(), "it has no derivative"));
                    }
                };
                vec![(of, term)]
            }
            FieldKind::Unary { op, x } if self.is_smooth(x) => match self.unary_rule(op, x, z, c)? {
                Some(term) => vec![(x, term)],
                None => Vec::new(),
            },
            FieldKind::Binary { op, x, y } => {
                let mut terms = Vec::new();
                if self.is_smooth(x)
                    && let Some(term) = self.left_rule(op, x, y, z, c)?
                {
                    terms.push((x, term));
                }
                if self.is_smooth(y)
                    && let Some(term) = self.right_rule(op, x, y, z, c)?
                {
                    terms.push((y, term));
                }
                terms
            }
            FieldKind::Select { cond, on_true, on_false } => {
                let mut terms = Vec::new();
                if self.is_smooth(on_true) {
                    terms.push((on_true, self.masked(cond, c)?));
                }
                if self.is_smooth(on_false) {
                    let zero = self.number(c, 0.0);
                    terms.push((on_false, self.select(cond, zero, c)?));
                }
                terms
            }
            FieldKind::Convert { x } if self.is_smooth(x) => {
                let dtype = self.dtype(x);
                vec![(x, self.converted(dtype, c)?)]
            }
            FieldKind::ReducePrecision { exponent, mantissa, x } if self.is_smooth(x) => {
                let rounded = self.f.fields.reduce_precision(exponent, mantissa, c);
                vec![(x, self.typed(rounded)?)]
            }
            FieldKind::Bitcast { .. } => {
                return Err(
                    self.unsupported_op("bitcast", "a derivative would have to pass through the bits")
                );
            }
            _ => Vec::new(),
        };
        Ok(terms.into_iter().map(|(child, term)| (child, Term::Whole(term))).collect())
    }

    /// A cotangent as that of an operand of another floating or complex type: the transpose of the conversion.
    pub(crate) fn converted(&mut self, dtype: DType, c: FieldId) -> Result<FieldId> {
        let from = self.dtype(c);
        if dtype.is_complex() && !from.is_complex() {
            // The conversion took the real part.
            let real = self.convert(dtype.part(), c);
            let zero = self.number(real, 0.0);
            return self.binary(BinaryOp::Complex, real, zero);
        }
        if from.is_complex() && !dtype.is_complex() {
            let real = self.unary(UnaryOp::Real, c)?;
            return Ok(self.convert(dtype, real));
        }
        Ok(self.convert(dtype, c))
    }
}
