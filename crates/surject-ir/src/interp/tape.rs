//! Tapes: the part of a field that is evaluated point by point, as a straight line of steps.
//!
//! A field that is read through a map is evaluated at the position of the map; so a step belongs to a pair of a
//! field and a position, and positions are affine in the loops. Where a guard fails the step under it may be
//! evaluated at a position outside its space: loads check their positions there, and the value is not used.

use super::{InterpError, Machine};
use crate::{BinaryOp, DType, FieldId, FieldKind, Scalar, UnaryOp, Var, eval};
use std::collections::HashMap;
use std::rc::Rc;
use surject_index::Affine;

/// Tapes longer than this are cut by materialising the fields that are read.
const MAX_STEPS: usize = 1 << 14;

/// Where a load takes its elements from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// A variable.
    Var(Var),
    /// A field of the same plan that is materialised before.
    Field(FieldId),
}

/// A step writes the slot of its own number.
#[derive(Debug)]
enum Step {
    /// The slot holds a constant.
    Const,
    /// An element; zero where a check fails.
    Load {
        source: usize,
        linear: usize,
        checks: Vec<(usize, i64)>,
    },
    /// The value of an affine form.
    Index {
        form: usize,
        dtype: DType,
    },
    /// `x` where all checks hold, else the fill.
    Guard {
        x: usize,
        checks: Vec<(usize, i64)>,
        fill: Scalar,
    },
    /// Pointwise operations.
    Unary(UnaryOp, usize),
    Binary(BinaryOp, usize, usize),
    Select(usize, usize, usize),
    Convert(DType, usize),
    Bitcast(DType, usize),
    ReducePrecision(u32, u32, usize),
}

/// A compiled field over a loop nest that has at least one point.
#[derive(Debug)]
pub(super) struct Tape {
    sizes: Vec<i64>,
    /// The affine forms that the steps use, all inside `i64` for every point.
    forms: Vec<Affine>,
    form_ids: HashMap<Affine, usize>,
    steps: Vec<Step>,
    /// The slots before the first point: constants are in place.
    slots: Vec<Scalar>,
    pub(super) sources: Vec<Source>,
    /// The slot of the field that is compiled.
    root: usize,
}

/// The elements behind a source, while a tape runs.
pub(super) struct Elements<'a> {
    pub(super) dtype: DType,
    pub(super) bytes: &'a [u8],
}

/// What is done with the value at a point and the values of the forms there.
pub(super) type Each<'a> = dyn FnMut(Scalar, &[i64]) -> Result<(), InterpError> + 'a;

impl Tape {
    /// Compiles a field over its own space. Fields for which `is_dense` holds are loaded. `None` when the tape
    /// grows too long.
    pub(super) fn new(
        machine: &Machine<'_>,
        root: FieldId,
        is_dense: &dyn Fn(FieldId) -> bool,
        bounded: bool,
    ) -> Result<Option<Tape>, InterpError> {
        let fields = machine.fields();
        let sizes = machine.sizes(&fields[root].space)?;
        let rank = sizes.len();
        let identity: Rc<[Affine]> = (0..rank).map(|axis| Affine::axis(rank, axis)).collect();
        let mut tape = Tape {
            sizes,
            forms: Vec::new(),
            form_ids: HashMap::new(),
            steps: Vec::new(),
            slots: Vec::new(),
            sources: Vec::new(),
            root: 0,
        };
        type Key = (FieldId, Rc<[Affine]>);
        let mut done: HashMap<Key, usize> = HashMap::new();
        // A pair is visited twice: first to visit what it needs, then to emit its step.
        let root = (root, identity);
        let mut stack: Vec<Key> = vec![root.clone()];
        while let Some(key) = stack.last().cloned() {
            if done.contains_key(&key) {
                stack.pop();
                continue;
            }
            let (id, position) = (&key.0, &key.1);
            let node = &fields[*id];
            let needs: Vec<Key> = match &node.kind {
                _ if is_dense(*id) => Vec::new(),
                FieldKind::Acc { .. } => {
                    return Err(InterpError::Malformed("an accumulation inside a tape".into()));
                }
                FieldKind::Read { map, of } => {
                    let components = map.components().iter().map(|c| c.substitute(position, rank));
                    let components: Option<Rc<[Affine]>> = components.collect();
                    vec![(*of, components.ok_or_else(|| InterpError::TooLarge(map.to_string()))?)]
                }
                kind => kind.children().map(|c| (c, position.clone())).collect(),
            };
            let waiting: Vec<Key> = needs.iter().filter(|k| !done.contains_key(k)).cloned().collect();
            if !waiting.is_empty() {
                stack.extend(waiting);
                continue;
            }
            stack.pop();
            let x = |n: usize| done[&needs[n]];
            let mut value = Scalar::zero(node.dtype);
            let step = match &node.kind {
                _ if is_dense(*id) => tape.load(machine, Source::Field(*id), *id, position)?,
                FieldKind::Tensor(var) => tape.load(machine, Source::Var(*var), *id, position)?,
                FieldKind::Index { axis } => {
                    Step::Index { form: tape.form(&position[*axis])?, dtype: node.dtype }
                }
                FieldKind::Const(constant) => {
                    value = *constant;
                    Step::Const
                }
                FieldKind::Read { map, .. } if map.is_total() => {
                    done.insert(key.clone(), x(0));
                    continue;
                }
                FieldKind::Read { map, .. } => {
                    let mut checks = Vec::new();
                    for guard in map.guards() {
                        let form = guard.expr.substitute(position, rank);
                        let form = tape.form(&form.ok_or_else(|| InterpError::TooLarge(map.to_string()))?)?;
                        let bound = i64::try_from(guard.bound.eval(machine)?);
                        checks.push((form, bound.map_err(|_| InterpError::TooLarge(map.to_string()))?));
                    }
                    let fill = Scalar::from_bits(node.dtype, map.fill().map_or(0, |f| f.0));
                    Step::Guard { x: x(0), checks, fill }
                }
                FieldKind::Unary { op, .. } => Step::Unary(*op, x(0)),
                FieldKind::Binary { op, .. } => Step::Binary(*op, x(0), x(1)),
                FieldKind::Select { .. } => Step::Select(x(0), x(1), x(2)),
                FieldKind::Convert { .. } => Step::Convert(node.dtype, x(0)),
                FieldKind::Bitcast { .. } => Step::Bitcast(node.dtype, x(0)),
                FieldKind::ReducePrecision { exponent, mantissa, .. } => {
                    Step::ReducePrecision(*exponent, *mantissa, x(0))
                }
                FieldKind::Acc { .. } => continue,
            };
            done.insert(key, tape.steps.len());
            tape.steps.push(step);
            tape.slots.push(value);
            if bounded && tape.steps.len() > MAX_STEPS {
                return Ok(None);
            }
        }
        tape.root = done[&root];
        Ok(Some(tape))
    }

    /// The number of an affine form; its values must fit in `i64` over the whole loop nest.
    pub(super) fn form(&mut self, form: &Affine) -> Result<usize, InterpError> {
        if let Some(&id) = self.form_ids.get(form) {
            return Ok(id);
        }
        self.range(form).ok_or_else(|| InterpError::TooLarge("a position".into()))?;
        let id = self.forms.len();
        self.forms.push(form.clone());
        self.form_ids.insert(form.clone(), id);
        Ok(id)
    }

    /// The smallest and the largest value of a form, where both and every partial sum fit.
    fn range(&self, form: &Affine) -> Option<(i64, i64)> {
        let (mut low, mut high) = (form.offset, form.offset);
        for (&c, &n) in form.coeffs.iter().zip(&self.sizes) {
            // A row ends one step beyond its last point.
            c.checked_mul(n)?;
            let reach = c.checked_mul(n - 1)?;
            *(if reach < 0 { &mut low } else { &mut high }) =
                if reach < 0 { low.checked_add(reach)? } else { high.checked_add(reach)? };
            let step = c.checked_abs()?;
            low.checked_sub(step)?;
            high.checked_add(step)?;
        }
        Some((low, high))
    }

    /// The form of the row-major offset of a position in a tensor.
    pub(super) fn linear(&mut self, sizes: &[i64], position: &[Affine]) -> Result<usize, InterpError> {
        let too_large = || InterpError::TooLarge("a tensor".into());
        let mut linear = Affine::fixed(self.sizes.len(), 0);
        let mut stride = 1i64;
        for (&n, component) in sizes.iter().zip(position).rev() {
            linear = linear.add_scaled(component, stride).ok_or_else(too_large)?;
            stride = stride.checked_mul(n.max(1)).ok_or_else(too_large)?;
        }
        self.form(&linear)
    }

    fn load(
        &mut self,
        machine: &Machine<'_>,
        source: Source,
        field: FieldId,
        position: &[Affine],
    ) -> Result<Step, InterpError> {
        let sizes = machine.sizes(&machine.fields()[field].space)?;
        let linear = self.linear(&sizes, position)?;
        let mut checks = Vec::new();
        for (component, &n) in position.iter().zip(&sizes) {
            if self.range(component).is_none_or(|(low, high)| low < 0 || high >= n) {
                checks.push((self.form(component)?, n));
            }
        }
        let number = self.sources.iter().position(|s| *s == source).unwrap_or(self.sources.len());
        if number == self.sources.len() {
            self.sources.push(source);
        }
        Ok(Step::Load { source: number, linear, checks })
    }

    /// Calls `each` with the value at every point, in row-major order, and the values of the forms there.
    pub(super) fn run(&self, sources: &[Elements<'_>], each: &mut Each<'_>) -> Result<(), InterpError> {
        let undefined = || InterpError::Malformed("an operation on a type it is not defined for".into());
        let mut slots = self.slots.clone();
        let outer = self.sizes.len().saturating_sub(1);
        let inner = self.sizes.last().copied().unwrap_or(1);
        let inner_steps: Vec<i64> =
            self.forms.iter().map(|f| f.coeffs.last().copied().unwrap_or(0)).collect();
        let mut point = vec![0i64; outer];
        let mut values = vec![0i64; self.forms.len()];
        loop {
            for (value, form) in values.iter_mut().zip(&self.forms) {
                *value = form.offset + form.coeffs.iter().zip(&point).map(|(c, p)| c * p).sum::<i64>();
            }
            for _ in 0..inner {
                for (number, step) in self.steps.iter().enumerate() {
                    slots[number] = match step {
                        Step::Const => continue,
                        Step::Load { source, linear, checks } => {
                            let elements = &sources[*source];
                            if hold(checks, &values) {
                                element(elements, values[*linear])
                            } else {
                                Scalar::zero(elements.dtype)
                            }
                        }
                        Step::Index { form, dtype } => {
                            eval::convert(*dtype, Scalar::from_i128(DType::I64, values[*form].into()))
                        }
                        Step::Guard { x, checks, fill } => {
                            if hold(checks, &values) {
                                slots[*x]
                            } else {
                                *fill
                            }
                        }
                        Step::Unary(op, x) => eval::unary(*op, slots[*x]).ok_or_else(undefined)?,
                        Step::Binary(op, x, y) => {
                            eval::binary(*op, slots[*x], slots[*y]).ok_or_else(undefined)?
                        }
                        Step::Select(c, x, y) => slots[if slots[*c].is_true() { *x } else { *y }],
                        Step::Convert(to, x) => eval::convert(*to, slots[*x]),
                        Step::Bitcast(to, x) => eval::bitcast(*to, slots[*x]).ok_or_else(undefined)?,
                        Step::ReducePrecision(e, m, x) => {
                            eval::reduce_precision(*e, *m, slots[*x]).ok_or_else(undefined)?
                        }
                    };
                }
                each(slots[self.root], &values)?;
                values.iter_mut().zip(&inner_steps).for_each(|(v, s)| *v += s);
            }
            // The next row.
            let Some(axis) = (0..outer).rev().find(|&a| point[a] + 1 < self.sizes[a]) else {
                return Ok(());
            };
            point[axis] += 1;
            point[axis + 1..].fill(0);
        }
    }
}

fn hold(checks: &[(usize, i64)], values: &[i64]) -> bool {
    checks.iter().all(|&(form, bound)| (0..bound).contains(&values[form]))
}

/// The element at an offset; zero outside, which happens only in malformed programs.
fn element(elements: &Elements<'_>, offset: i64) -> Scalar {
    let size = elements.dtype.size();
    let start = (offset as usize).wrapping_mul(size);
    match elements.bytes.get(start..start.wrapping_add(size)) {
        Some(bytes) => {
            let bits = match *bytes {
                [a] => a.into(),
                [a, b] => u16::from_le_bytes([a, b]).into(),
                [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
                [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]).into(),
                _ => return Scalar::from_bytes(elements.dtype, bytes),
            };
            Scalar::from_bits(elements.dtype, bits)
        }
        None => Scalar::zero(elements.dtype),
    }
}
