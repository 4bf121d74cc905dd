//! The borders: a tensor divided among devices, and put together again.

use super::super::Result;
use super::{Lanes, Lockstep, hlo_sharding};
use crate::attr::Attribute;
use crate::module::{Op, ValueId};
use crate::sharding::{Division, HloSharding, ManualComputation, Subgroup};
use crate::types::TensorType;

impl Lockstep<'_> {
    pub(super) fn manual_computation(&self, op: &Op) -> Result<ManualComputation> {
        let read = self.ex.old.manual_computation(op);
        read.ok_or_else(|| {
            self.ex.refused("shardings that cannot be read, or a mesh that the module does not have")
        })
    }

    /// `sdy.manual_computation`
    pub(super) fn divided(&mut self, op: &Op) -> Result<()> {
        let manual = self.manual_computation(op)?;
        let [body] = op.regions.as_slice() else { return Err(self.ex.refused("no body")) };
        if manual.inputs.len() != op.operands.len() || manual.outputs.len() != op.results.len() {
            return Err(self.ex.refused("shardings for another number of values"));
        }
        let devices = self.devices;
        let mesh = manual.mesh().cloned();
        let size = mesh.as_ref().map_or(Some(1), |mesh| mesh.size());
        if size != Some(1) && size != Some(devices) {
            return Err(self.ex.refused(format!("a mesh of other than {devices} devices")));
        }
        let division = |this: &Self, dims: &[crate::ShardedDim]| match &mesh {
            Some(mesh) if mesh.size() == Some(devices) => mesh
                .division(dims, &manual.axes)
                .ok_or_else(|| this.ex.refused("an axis that the mesh does not have")),
            _ => Ok(Division::whole(dims.len(), devices)),
        };
        let mut params = Vec::new();
        for (operand, sharding) in op.operands.iter().zip(&manual.inputs) {
            let division = division(self, &sharding.dims)?;
            params.push(self.parts(*operand, &division)?);
        }
        self.depth += 1;
        let results = self.body(body, params);
        self.depth -= 1;
        self.ex.at(op);
        let mut whole = Vec::new();
        for (lanes, sharding) in results?.into_iter().zip(&manual.outputs) {
            let division = division(self, &sharding.dims)?;
            let outermost = self.depth == 0;
            whole.push(self.joined(lanes, &division, outermost)?);
        }
        self.bind(op, whole)
    }

    /// The custom call behind which devices see their parts; how the operand is divided is said before it.
    pub(super) fn full_to_shard(&mut self, op: &Op) -> Result<()> {
        let &[operand] = op.operands.as_slice() else {
            return Err(self.ex.refused("other than one operand"));
        };
        let rank = self.ex.old.tensor(operand).map_or(0, TensorType::rank);
        let said = self.made_by.get(&operand).and_then(|op| hlo_sharding(op));
        let said = said.ok_or_else(|| self.ex.refused("an operand without a sharding"))?;
        let division = said.division(rank, self.devices);
        let division =
            division.ok_or_else(|| self.ex.refused("a sharding for another rank or number of devices"))?;
        let lanes = self.parts(operand, &division)?;
        self.declared(op, &lanes)?;
        self.bind(op, vec![lanes])
    }

    /// The custom call that puts together what devices have.
    pub(super) fn shard_to_full(&mut self, op: &Op) -> Result<()> {
        let &[operand] = op.operands.as_slice() else {
            return Err(self.ex.refused("other than one operand"));
        };
        let rank = self.ex.old.tensor(operand).map_or(0, TensorType::rank);
        let said = hlo_sharding(op).ok_or_else(|| self.ex.refused("no sharding of the result"))?;
        let division = said.division(rank, self.devices);
        let division =
            division.ok_or_else(|| self.ex.refused("a sharding for another rank or number of devices"))?;
        let inner = matches!(&said, HloSharding::Manual)
            || matches!(&said, HloSharding::Tiled { subgroups, .. } if subgroups.contains(&Subgroup::Manual));
        let lanes = match &said {
            HloSharding::Manual => self.of(operand),
            _ => self.joined(self.of(operand), &division, !inner)?,
        };
        self.declared(op, &lanes)?;
        self.bind(op, vec![lanes])
    }

    /// An error where the values have not the type of the result.
    fn declared(&self, op: &Op, lanes: &Lanes) -> Result<()> {
        let wanted = op.results.first().and_then(|v| self.ex.old.tensor(*v));
        match lanes.iter().all(|v| self.ex.new.tensor(*v) == wanted) {
            true => Ok(()),
            false => Err(self.ex.refused("a result of another shape than its sharding gives")),
        }
    }

    /// Of each device the part that it has.
    fn parts(&mut self, operand: ValueId, division: &Division) -> Result<Lanes> {
        let lanes = self.of(operand);
        if division.counts.iter().all(|count| *count == 1) {
            return Ok(lanes);
        }
        // Parts are told apart by numbers beside the values they are of.
        let number =
            |parts: &[usize]| parts.iter().zip(&division.counts).fold(0, |n, (part, count)| n * count + part);
        let key = |(value, parts): (&ValueId, &Vec<usize>)| vec![*value, ValueId(number(parts) as u32)];
        let keys: Vec<_> = lanes.iter().zip(&division.parts).map(key).collect();
        self.each(&keys, |this, device| {
            let parts: Vec<(usize, usize)> =
                division.parts[device].iter().copied().zip(division.counts.iter().copied()).collect();
            this.part(lanes[device], &parts)
        })
    }

    /// One of so many equal parts along each dimension.
    pub(super) fn part(&mut self, tensor: ValueId, parts: &[(usize, usize)]) -> Result<ValueId> {
        let ty = self.ex.tensor(tensor)?;
        let Some(shape) = ty.static_shape().filter(|shape| shape.len() == parts.len()) else {
            return Err(self.ex.refused(format!("parts of {ty}")));
        };
        let (mut start, mut limit) = (Vec::new(), Vec::new());
        for (d, (size, (index, count))) in shape.iter().zip(parts).enumerate() {
            let count = *count as i64;
            if count == 0 || size % count != 0 {
                return Err(self.ex.refused(format!("{count} parts of dimension {d} of {ty}")));
            }
            start.push(size / count * *index as i64);
            limit.push(size / count * (*index as i64 + 1));
        }
        let sizes: Vec<i64> = start.iter().zip(&limit).map(|(a, b)| b - a).collect();
        let strides = vec![1; shape.len()];
        let attributes = vec![
            ("start_indices", Attribute::I64s(start)),
            ("limit_indices", Attribute::I64s(limit)),
            ("strides", Attribute::I64s(strides)),
        ];
        self.ex.emit("stablehlo.slice", &[tensor], TensorType::new(&sizes, ty.element), attributes)
    }

    /// The whole tensors of parts. `outermost`: one for all devices, that of the first.
    fn joined(&mut self, lanes: Lanes, division: &Division, outermost: bool) -> Result<Lanes> {
        let count: usize = division.counts.iter().product();
        let mut keys = Vec::new();
        for device in 0..self.devices {
            let device = if outermost { 0 } else { device };
            let mut key = Vec::new();
            for number in 0..count {
                let mut part = vec![0; division.counts.len()];
                let mut rest = number;
                for (at, size) in part.iter_mut().zip(&division.counts).rev() {
                    (*at, rest) = (rest % size, rest / size);
                }
                let source = division.source(device, &part);
                key.push(lanes[source.ok_or_else(|| self.ex.refused("a part that no device has"))?]);
            }
            keys.push(key);
        }
        self.each(&keys, |this, device| {
            let mut parts = keys[device].clone();
            for (dim, count) in division.counts.iter().enumerate().rev() {
                if *count > 1 {
                    let rows = parts.chunks(*count).map(|row| this.concatenated(row, dim));
                    parts = rows.collect::<Result<_>>()?;
                }
            }
            parts.first().copied().ok_or_else(|| this.ex.refused("no parts"))
        })
    }

    pub(super) fn concatenated(&mut self, parts: &[ValueId], dim: usize) -> Result<ValueId> {
        let &[first, ..] = parts else { return Err(self.ex.refused("no parts")) };
        let ty = self.ex.tensor(first)?;
        let shape = ty.static_shape().filter(|shape| dim < shape.len());
        let mut shape = shape.ok_or_else(|| self.ex.refused(format!("dimension {dim} of {ty}")))?;
        if parts.len() == 1 {
            return Ok(first);
        }
        shape[dim] = shape[dim].saturating_mul(parts.len() as i64);
        let attributes = vec![("dimension", Attribute::i64(dim as i64))];
        self.ex.emit("stablehlo.concatenate", parts, TensorType::new(&shape, ty.element), attributes)
    }
}
