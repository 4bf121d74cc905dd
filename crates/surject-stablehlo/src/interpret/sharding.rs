//! Operations of Shardy. Constraints only say where tensors lie. A computation that is divided among the devices of a mesh runs
//! on as many simulated ones, side by side: each takes its parts of the operands along the manual axes, and the parts of the
//! results are put together.

use super::Work;
use super::error::{Error, Result};
use super::machine::{Call, Values};
use super::movement::{slice, update};
use super::value::{Budget, Tensor, Value};
use crate::sharding::{Division, TensorSharding};

impl<'m> Call<'_, 'm> {
    pub(crate) fn shardy(&mut self, short: &str) -> Values {
        match short {
            "sharding_constraint" | "reshard" | "propagation_barrier" | "data_flow_edge" => {
                Ok(std::mem::take(&mut self.args))
            }
            "sharding_group" => Ok(Vec::new()),
            "constant" => self.constant(),
            "named_computation" => {
                let args = std::mem::take(&mut self.args);
                self.block(0, args)
            }
            "manual_computation" => self.manual_computation(),
            _ => Err(Error::unsupported("a collective of the partitioner")),
        }
    }

    fn manual_computation(&mut self) -> Values {
        let unread =
            || Error::unsupported("shardings that cannot be read, or a mesh that the module does not have");
        let manual = self.machine.module.manual_computation(self.op).ok_or_else(unread)?;
        let Some(mesh) = manual.mesh() else {
            // Nothing to divide.
            let args = std::mem::take(&mut self.args);
            return self.block(0, args);
        };
        let count = mesh.size().ok_or_else(|| Error::unsupported("a mesh of no devices, or of too many"))?;
        if manual.inputs.len() != self.args.len() || manual.outputs.len() != self.op.results.len() {
            return Err(Error::invalid("shardings for another number of values"));
        }
        let division = |sharding: &TensorSharding| {
            let divided = if sharding.mesh.axes.is_empty() {
                Some(Division::whole(sharding.dims.len(), count))
            } else {
                mesh.division(&sharding.dims, &manual.axes)
            };
            divided.ok_or_else(|| Error::invalid("an axis that the mesh does not have"))
        };
        let ins = manual.inputs.iter().map(division).collect::<Result<Vec<_>>>()?;
        let outs = manual.outputs.iter().map(division).collect::<Result<Vec<_>>>()?;
        let operands = self.tensors(0..self.args.len())?;
        if count > 1 && self.machine.process.world.processes() == count {
            return self.divided_further(&operands, &ins, &outs);
        }
        let region = self.region(0)?;
        let mut row = Vec::new();
        for device in 0..count {
            let mut args = Vec::new();
            for (tensor, division) in operands.iter().zip(&ins) {
                args.push(Value::Tensor(own_part(tensor, division, device)?));
            }
            row.push((Work::Region(region), args));
        }
        let interpreter = self.machine.interpreter;
        let grid = [row];
        let world = interpreter.world(&grid)?;
        let budget = Budget::current().unwrap_or_else(|| Budget::new(u64::MAX));
        let results = interpreter.run_world(&world, &grid, &budget, self.machine.depth);
        self.machine.process.world.absorb(&world);
        let results = results?;
        let mut out = Vec::new();
        for (i, division) in outs.iter().enumerate() {
            let mut whole = Tensor::zeros(self.result_element(i)?, &self.result_shape(i)?)?;
            // Of devices that have the same part the first one counts.
            for device in (0..count).rev() {
                let part = results.get(device * outs.len() + i).and_then(Value::as_tensor);
                let part = part.ok_or_else(|| Error::invalid("a result that is no tensor"))?;
                place_part(&mut whole, part, division, device)?;
            }
            out.push(Value::Tensor(whole));
        }
        Ok(out)
    }
}

impl<'m> Call<'_, 'm> {
    /// A computation inside of another: the devices are there. Each goes on with its part of what it has, and those that differ
    /// along the axes of this computation only put their results together.
    fn divided_further(&mut self, operands: &[Tensor], ins: &[Division], outs: &[Division]) -> Values {
        let own = self.machine.process.id();
        let parts = operands.iter().zip(ins).map(|(tensor, division)| own_part(tensor, division, own));
        let args = parts.map(|part| part.map(Value::Tensor)).collect::<Result<Vec<_>>>()?;
        let results = self.block(0, args)?;
        let Some(first) = outs.first() else { return Ok(results) };
        let group: Vec<usize> =
            (0..first.group.len()).filter(|d| first.group[*d] == first.group[own]).collect();
        let all = self.machine.process.meet("manual_computation", 0, &group, results)?;
        let mut out = Vec::new();
        for (i, division) in outs.iter().enumerate() {
            let mut whole = Tensor::zeros(self.result_element(i)?, &self.result_shape(i)?)?;
            for (device, values) in group.iter().zip(&all).rev() {
                let part = values.get(i).and_then(Value::as_tensor);
                let part = part.ok_or_else(|| Error::invalid("a result that is no tensor"))?;
                place_part(&mut whole, part, division, *device)?;
            }
            out.push(Value::Tensor(whole));
        }
        Ok(out)
    }
}

/// The part of a tensor that belongs to a device.
fn own_part(tensor: &Tensor, division: &Division, device: usize) -> Result<Tensor> {
    let rank = tensor.rank();
    let mut low = vec![0i64; rank];
    let mut high: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
    for (d, (index, count)) in division.parts[device].iter().zip(&division.counts).enumerate() {
        let size = tensor.shape.get(d).filter(|n| *n % count == 0).map(|n| n / count);
        let size =
            size.ok_or_else(|| Error::invalid(format!("{count} parts of dimension {d} of {}", tensor.ty())))?;
        (low[d], high[d]) = ((index * size) as i64, ((index + 1) * size) as i64);
    }
    slice(tensor, &low, &high, &vec![1; rank], &tensor.element)
}

fn place_part(whole: &mut Tensor, part: &Tensor, division: &Division, device: usize) -> Result<()> {
    let mut start = vec![0; whole.rank()];
    let mut shape = whole.shape.clone();
    for (d, (index, count)) in
        division.parts[device].iter().zip(&division.counts).enumerate().take(shape.len())
    {
        shape[d] /= count;
        start[d] = index * shape[d];
    }
    if part.shape != shape || part.element != whole.element {
        return Err(Error::invalid(format!("{} as a part of {}", part.ty(), whole.ty())));
    }
    update(whole, part, &start)
}
