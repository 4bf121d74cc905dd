//! Operations of Shardy. Constraints only say where tensors lie. A computation that is divided among the devices of a mesh runs
//! on as many simulated ones, side by side: each takes its parts of the operands along the manual axes, and the parts of the
//! results are put together.

use super::Work;
use super::error::{Error, Result};
use super::machine::{Call, Values};
use super::movement::{slice, update};
use super::value::{Budget, Tensor, Value};
use crate::attr::Attribute;
use crate::parse::{read_mesh, read_names, read_symbol};
use crate::sharding::Mesh;

/// Of each value, of each dimension, the axes along which it is divided, major first.
type Shardings = Vec<Vec<Vec<String>>>;

/// The text up to the bracket that closes the one it starts with, and what follows.
fn enclosed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(1..i)?, text.get(i + 1..)?));
        }
    }
    None
}

/// The mesh of a list of shardings, and what it says of each value; none for what this does not read (parts of axes).
fn read(module: &crate::Module, text: &str) -> Option<(Option<Mesh>, Shardings)> {
    let (mut list, _) = enclosed(&text[text.find('[')?..])?;
    let (mut mesh, mut values) = (None, Vec::new());
    while let Some(start) = list.find('<') {
        let (value, rest) = enclosed(&list[start..])?;
        list = rest;
        let (found, dims) = match value.strip_prefix("mesh") {
            Some(inline) => {
                let (_, dims) = enclosed(inline)?;
                (read_mesh(inline)?, dims)
            }
            None => (module.mesh(&read_symbol(value)?)?, value),
        };
        mesh = Some(found);
        let (mut dims, _) = enclosed(&dims[dims.find('[')?..])?;
        let mut axes = Vec::new();
        while let Some(start) = dims.find('{') {
            let (names, rest) = enclosed(&dims[start..])?;
            dims = rest;
            if names.contains(':') {
                return None;
            }
            axes.push(read_names(names));
        }
        values.push(axes);
    }
    Some((mesh, values))
}

/// Devices in a mesh, by their positions along its axes.
struct Devices<'a> {
    mesh: &'a Mesh,
    manual: Vec<String>,
}

impl Devices<'_> {
    fn count(&self) -> Option<usize> {
        let count = self.mesh.axes.iter().try_fold(1i64, |n, (_, size)| n.checked_mul(*size))?;
        usize::try_from(count).ok().filter(|n| *n > 0)
    }

    /// Position of a device along an axis, and how long the axis is; axes that are not manual divide nothing.
    fn position(&self, device: usize, axis: &str) -> Option<(usize, usize)> {
        if !self.manual.iter().any(|name| name == axis) {
            return Some((0, 1));
        }
        let at = self.mesh.axes.iter().position(|(name, _)| name == axis)?;
        let behind: usize = self.mesh.axes[at + 1..].iter().map(|(_, size)| *size as usize).product();
        let size = self.mesh.axes[at].1 as usize;
        Some((device / behind % size, size))
    }

    /// Which part of how many a device has of each dimension.
    fn parts(&self, device: usize, dims: &[Vec<String>]) -> Result<Vec<(usize, usize)>> {
        let part = |axes: &Vec<String>| {
            axes.iter().try_fold((0, 1), |(index, count), axis| {
                let (position, size) = self.position(device, axis)?;
                Some((index * size + position, count * size))
            })
        };
        let parts = dims.iter().map(part).collect::<Option<_>>();
        parts.ok_or_else(|| Error::invalid("an axis that the mesh does not have"))
    }
}

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
        let module = self.machine.module;
        let text = |name: &str| match self.op.attributes.get(name) {
            Some(Attribute::Opaque(text)) => Ok(text.as_str()),
            _ => Err(Error::invalid(format!("'{name}' is missing"))),
        };
        let shardings = |name: &str| {
            read(module, text(name)?).ok_or_else(|| Error::unsupported(format!("the shardings '{name}'")))
        };
        let (mesh, ins) = shardings("in_shardings")?;
        let (other, outs) = shardings("out_shardings")?;
        let Some(mesh) = mesh.or(other) else {
            // Nothing to divide.
            let args = std::mem::take(&mut self.args);
            return self.block(0, args);
        };
        let devices = Devices { mesh: &mesh, manual: read_names(text("manual_axes")?) };
        let count = devices.count().ok_or_else(|| Error::invalid("a mesh without devices"))?;
        if ins.len() != self.args.len() || outs.len() != self.op.results.len() {
            return Err(Error::invalid("shardings for another number of values"));
        }
        let operands = self.tensors(0..self.args.len())?;
        let region = self.region(0)?;
        let mut row = Vec::new();
        for device in 0..count {
            let mut args = Vec::new();
            for (tensor, dims) in operands.iter().zip(&ins) {
                args.push(Value::Tensor(own_part(tensor, &devices.parts(device, dims)?)?));
            }
            row.push((Work::Region(region), args));
        }
        let interpreter = self.machine.interpreter;
        let grid = [row];
        let world = interpreter.world(&grid)?;
        let budget = Budget::current().unwrap_or_else(|| Budget::new(u64::MAX));
        let results = interpreter.run_world(&world, &grid, &budget);
        self.machine.process.world.absorb(&world);
        let results = results?;
        let mut out = Vec::new();
        for (i, dims) in outs.iter().enumerate() {
            let mut whole = Tensor::zeros(self.result_element(i)?, &self.result_shape(i)?)?;
            for device in 0..count {
                let part = results.get(device * outs.len() + i).and_then(Value::as_tensor);
                let part = part.ok_or_else(|| Error::invalid("a result that is no tensor"))?;
                place_part(&mut whole, part, &devices.parts(device, dims)?)?;
            }
            out.push(Value::Tensor(whole));
        }
        Ok(out)
    }
}

/// The part of a tensor that belongs to a device.
fn own_part(tensor: &Tensor, parts: &[(usize, usize)]) -> Result<Tensor> {
    let rank = tensor.rank();
    let mut low = vec![0i64; rank];
    let mut high: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
    for (d, (index, count)) in parts.iter().enumerate() {
        let size = tensor.shape.get(d).filter(|n| *n % count == 0).map(|n| n / count);
        let size = size.ok_or_else(|| Error::invalid(format!("{count} parts of dimension {d} of {}", tensor.ty())))?;
        (low[d], high[d]) = ((index * size) as i64, ((index + 1) * size) as i64);
    }
    slice(tensor, &low, &high, &vec![1; rank], &tensor.element)
}

fn place_part(whole: &mut Tensor, part: &Tensor, parts: &[(usize, usize)]) -> Result<()> {
    let mut start = vec![0; whole.rank()];
    let mut shape = whole.shape.clone();
    for (d, (index, count)) in parts.iter().enumerate().take(shape.len()) {
        shape[d] /= count;
        start[d] = index * shape[d];
    }
    if part.shape != shape || part.element != whole.element {
        return Err(Error::invalid(format!("{} as a part of {}", part.ty(), whole.ty())));
    }
    update(whole, part, &start)
}
