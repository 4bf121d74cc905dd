//! Tensors that no operation computes: literals, ranges, random numbers, state.

use super::{Builder, Seed, name_of};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{NodeId, NodeKind};
use std::sync::Arc;
use surject_index::{Extent, IndexMap, Space};
use surject_ir::{
    BinaryOp, Buffer, DType, FieldId, Scalar, Statement, StatementKind, TensorType, TypeError, Var,
};

impl Builder<'_> {
    /// The first version of a tensor that no operation computes.
    pub(super) fn fetch(&mut self, node: NodeId) -> Result<Var, TensorError> {
        let known = self.data.nodes[node.0 as usize].clone();
        match known.kind {
            NodeKind::Number(value) => self.filled(node, value),
            NodeKind::Size(size) => match self.data.extent_of(size).filter(|e| e.as_const().is_none()) {
                Some(size) => {
                    let field = self.size_at(&size, &Space::scalar(), self.dtype).map_err(internal)?;
                    Ok(self.store(node, field, None))
                }
                None => {
                    let value = self.number_of(node)?.unwrap_or_default();
                    self.filled(node, value)
                }
            },
            NodeKind::Data(values) => {
                let ty = TensorType::new(self.dtype, self.space(node)?);
                let Some(sizes) = ty.space.sizes() else {
                    let message = format!("`{}` is written out and has a symbolic size", known.label);
                    return Err(TensorError::new(TensorErrorKind::Size, message).at(known.place.clone()));
                };
                let shape: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
                let scalars: Vec<Scalar> = values.iter().map(|x| Scalar::from_f64(self.dtype, *x)).collect();
                let buffer = Buffer::from_scalars(self.dtype, &shape, &scalars).ok_or_else(|| {
                    let message = format!("`{}` has another number of values than positions", known.label);
                    TensorError::new(TensorErrorKind::Size, message).at(known.place.clone())
                })?;
                let var = self.function.var(&name_of(&known.label, "literal"), ty);
                let kind = StatementKind::Constant { target: var, value: Arc::new(buffer) };
                self.function.body.statements.push(Statement { kind, origin: None });
                self.current.insert(node, var);
                Ok(var)
            }
            NodeKind::Range => {
                let space = self.space(node)?;
                let field = self.position(&space, self.dtype).map_err(internal)?;
                Ok(self.store(node, field, None))
            }
            NodeKind::Uniform { stream, at } => self.uniform(node, stream, at),
            NodeKind::Parameter { .. } | NodeKind::Assigned if self.main => {
                let port = self.port(node, self.dtype)?;
                let var = self.function.var(&name_of(&port.label, "state"), port.ty.clone());
                self.current.insert(node, var);
                self.state.push((port, var));
                Ok(var)
            }
            NodeKind::Gradient(of) => {
                let label = &self.data.nodes[of.0 as usize].label;
                let message =
                    format!("the gradient of `{label}` is read, but no backward pass computes it before");
                Err(TensorError::new(TensorErrorKind::NoGradient, message)
                    .with_help("write `loss.backprop;` before")
                    .at(known.place))
            }
            NodeKind::Input
            | NodeKind::Index { .. }
            | NodeKind::Parameter { .. }
            | NodeKind::Assigned
            | NodeKind::Local(_)
            | NodeKind::Result(_) => {
                let message = format!("`{}` is read before anything writes it", known.label);
                Err(TensorError::new(TensorErrorKind::Unwritten, message)
                    .with_help(
                        "the first value of a parameter may use numbers, sizes, random numbers and literals",
                    )
                    .at(known.place))
            }
        }
    }

    /// The number that a node is everywhere.
    pub(super) fn number_of(&self, node: NodeId) -> Result<Option<f64>, TensorError> {
        let known = &self.data.nodes[node.0 as usize];
        match known.kind {
            NodeKind::Number(value) => Ok(Some(value)),
            NodeKind::Size(size) => match self.data.size_of(size) {
                Some(value) => Ok(Some(value as f64)),
                None => {
                    let message = format!("the size `{}` is not determined", known.label);
                    Err(TensorError::new(TensorErrorKind::Size, message)
                        .with_help(
                            "use it in an operation that gives it a size, or set it: `set_dim(d, 16);`",
                        )
                        .at(known.place.clone()))
                }
            },
            _ => Ok(None),
        }
    }

    /// The number of a position in memory order.
    fn position(&mut self, space: &Space, dtype: DType) -> Result<FieldId, TypeError> {
        let mut position = None;
        let mut stride = Extent::Const(1);
        for axis in (0..space.rank()).rev() {
            let size = space.extent(axis);
            if *size != Extent::Const(1) {
                let index = self.function.fields.index(space, axis, dtype)?;
                let term = match stride.as_const() {
                    Some(1) => index,
                    Some(stride) => {
                        let by = self.function.fields.constant(space, scalar(dtype, stride.into()));
                        self.function.fields.binary(BinaryOp::Mul, index, by)?
                    }
                    None => {
                        let by = self.size_at(&stride, space, dtype)?;
                        self.function.fields.binary(BinaryOp::Mul, index, by)?
                    }
                };
                position = Some(match position {
                    None => term,
                    Some(sum) => self.function.fields.binary(BinaryOp::Add, term, sum)?,
                });
            }
            stride = Extent::product(stride, size.clone());
        }
        Ok(match position {
            Some(position) => position,
            None => self.function.fields.constant(space, scalar(dtype, 0)),
        })
    }

    /// Uniform random numbers: Threefry-2x32 with 20 rounds (Salmon et al., SC 2011). The key is the seed and the stream,
    /// the counter is the position and `at`.
    fn uniform(&mut self, node: NodeId, stream: u32, at: Option<NodeId>) -> Result<Var, TensorError> {
        let space = self.space(node)?;
        let scalar_map = |from: &Space, of: &Space| {
            let zeros = of.extents().iter().map(|_| surject_index::Affine::fixed(from.rank(), 0)).collect();
            IndexMap::total(from.clone(), of.clone(), zeros)
        };
        let low = self.position(&space, DType::U32).map_err(internal)?;
        let high = match at {
            None => self.function.fields.constant(&space, scalar(DType::U32, 0)),
            Some(at) => match self.number_of(at)? {
                Some(number) => self.function.fields.constant(&space, scalar(DType::U32, number as i128)),
                None => {
                    let var = self.current[&at];
                    let ty = self.function.ty(var).clone();
                    if ty.space.points() != Some(1) {
                        let known = &self.data.nodes[node.0 as usize];
                        let label = &self.data.nodes[at.0 as usize].label;
                        let message = format!(
                            "`{label}` has more than one element, and random numbers are drawn at a number"
                        );
                        return Err(TensorError::new(TensorErrorKind::Size, message).at(known.place.clone()));
                    }
                    let map = scalar_map(&space, &ty.space).map_err(|e| impossible(e.to_string()))?;
                    let tensor = self.function.tensor(var);
                    let field = self.function.fields.read(map, tensor).map_err(internal)?;
                    let whole = self.function.fields.convert(DType::I32, field);
                    self.function.fields.convert(DType::U32, whole)
                }
            },
        };
        let seed = match self.seed {
            Seed::Number(seed) => self.function.fields.constant(&space, scalar(DType::U32, i128::from(seed))),
            Seed::Argument(var) => {
                let map = scalar_map(&space, &Space::scalar()).map_err(|e| impossible(e.to_string()))?;
                let tensor = self.function.tensor(var);
                self.function.fields.read(map, tensor).map_err(internal)?
            }
        };
        let words = self.threefry(&space, seed, stream, [low, high]).map_err(internal)?;
        let field = self.unit_interval(&space, words).map_err(internal)?;
        Ok(self.store(node, field, None))
    }

    fn threefry(
        &mut self,
        space: &Space,
        seed: FieldId,
        stream: u32,
        counter: [FieldId; 2],
    ) -> Result<[FieldId; 2], TypeError> {
        const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
        const PARITY: u32 = 0x1BD1_1BDA;
        let fields = &mut self.function.fields;
        let word =
            |fields: &mut surject_ir::Fields, n: u32| fields.constant(space, scalar(DType::U32, n.into()));
        let stream = word(fields, stream);
        let parity = word(fields, PARITY);
        let mixed = fields.binary(BinaryOp::Xor, seed, stream)?;
        let keys = [seed, stream, fields.binary(BinaryOp::Xor, mixed, parity)?];
        let mut x = [
            fields.binary(BinaryOp::Add, counter[0], keys[0])?,
            fields.binary(BinaryOp::Add, counter[1], keys[1])?,
        ];
        for group in 0..5u32 {
            for by in ROTATIONS[group as usize % 2] {
                x[0] = fields.binary(BinaryOp::Add, x[0], x[1])?;
                let (left, right) = (word(fields, by), word(fields, 32 - by));
                let left = fields.binary(BinaryOp::Shl, x[1], left)?;
                let right = fields.binary(BinaryOp::ShrLogical, x[1], right)?;
                let rotated = fields.binary(BinaryOp::Or, left, right)?;
                x[1] = fields.binary(BinaryOp::Xor, rotated, x[0])?;
            }
            let round = word(fields, group + 1);
            x[0] = fields.binary(BinaryOp::Add, x[0], keys[(group as usize + 1) % 3])?;
            let second = fields.binary(BinaryOp::Add, keys[(group as usize + 2) % 3], round)?;
            x[1] = fields.binary(BinaryOp::Add, x[1], second)?;
        }
        Ok(x)
    }

    /// The highest bits of random words as a number in `[0, 1)`: as many bits as the significand holds, so that nothing
    /// is rounded, up to 1 least of all.
    pub(super) fn unit_interval(&mut self, space: &Space, words: [FieldId; 2]) -> Result<FieldId, TypeError> {
        let dtype = self.dtype;
        let fields = &mut self.function.fields;
        let shift = |fields: &mut surject_ir::Fields, x: FieldId, by: u32| {
            let by = fields.constant(space, scalar(DType::U32, by.into()));
            fields.binary(BinaryOp::ShrLogical, x, by)
        };
        let scale = |exponent: i32| Scalar::from_f64(dtype, 2f64.powi(exponent));
        if dtype == DType::F64 {
            let (high, low) = (shift(fields, words[0], 5)?, shift(fields, words[1], 6)?);
            let (high, low) = (fields.convert(dtype, high), fields.convert(dtype, low));
            let by = fields.constant(space, scale(26));
            let high = fields.binary(BinaryOp::Mul, high, by)?;
            let sum = fields.binary(BinaryOp::Add, high, low)?;
            let by = fields.constant(space, scale(-53));
            return fields.binary(BinaryOp::Mul, sum, by);
        }
        let bits = match dtype {
            DType::F16 => 11,
            DType::BF16 => 8,
            _ => 24,
        };
        let whole = shift(fields, words[0], 32 - bits)?;
        let whole = fields.convert(dtype, whole);
        let by = fields.constant(space, scale(-(bits as i32)));
        fields.binary(BinaryOp::Mul, whole, by)
    }
}

fn scalar(dtype: DType, value: i128) -> Scalar {
    if dtype.is_float() { Scalar::from_f64(dtype, value as f64) } else { Scalar::from_i128(dtype, value) }
}

/// Lowering builds well-typed fields; if it does not, that is said and not hidden.
pub(super) fn internal(error: TypeError) -> TensorError {
    impossible(error.to_string())
}

pub(super) fn impossible(message: String) -> TensorError {
    TensorError::new(TensorErrorKind::Unsupported, message)
}
