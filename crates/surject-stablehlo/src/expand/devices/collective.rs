//! Collectives, as operations on the values of all devices.

use std::collections::HashMap;

use super::super::{Numbers, Result};
use super::{Lanes, Lockstep};
use crate::attr::Attribute;
use crate::diagnostic::Diagnostic;
use crate::module::{Op, Region, ValueId};
use crate::sharding::{World, channel, group};
use crate::types::{ElementType, Type};

/// Operations of scalars that are the same on whole tensors.
const JOINS: &[&str] = &["add", "multiply", "maximum", "minimum", "and", "or", "xor"];

impl Lockstep<'_> {
    pub(super) fn collective(&mut self, op: &Op) -> Result<()> {
        let short = op.short_name();
        let results = match short {
            "partition_id" | "replica_id" => {
                let numbered =
                    (0..self.devices).map(|d| ValueId(if short == "replica_id" { 0 } else { d as u32 }));
                let keys: Vec<_> = numbered.map(|v| vec![v]).collect();
                let number = |this: &mut Self, d: usize| {
                    this.ex.constant(&ElementType::U32, Numbers::Ints(&[i64::from(keys[d][0].0)]), false)
                };
                vec![self.each(&keys, number)?]
            }
            "collective_permute" => vec![self.permuted(op)?],
            "collective_broadcast" => {
                let groups = self.groups(op, false)?;
                let operand = self.operand(op, 0)?;
                vec![groups.iter().map(|g| operand[g[0]]).collect()]
            }
            "collective_reduce" => {
                let groups = self.groups(op, false)?;
                self.each_operand(op, |this, lanes| {
                    let whole = this.reduced(op, &members(&groups, &lanes))?;
                    // The first device of a group has the result.
                    let own = |(device, group): (usize, &Vec<usize>)| match group.first() == Some(&device) {
                        true => Ok(whole[device]),
                        false => this.zeros(whole[device]),
                    };
                    groups.iter().enumerate().map(own).collect()
                })?
            }
            "all_gather" => {
                let (groups, dim) = (self.groups(op, true)?, self.dim(op, "all_gather_dim")?);
                self.each_operand(op, |this, lanes| {
                    let keys = members(&groups, &lanes);
                    this.each(&keys, |this, d| this.concatenated(&keys[d], dim))
                })?
            }
            "all_to_all" => {
                let groups = self.groups(op, false)?;
                let (split, concat) = (self.dim(op, "split_dimension")?, self.dim(op, "concat_dimension")?);
                let count = self.dim(op, "split_count")?;
                if groups.iter().any(|g| g.len() != count) {
                    return Err(self.ex.refused(format!("{count} parts for groups of another size")));
                }
                self.each_operand(op, |this, lanes| {
                    let mut made = Vec::new();
                    for (device, group) in groups.iter().enumerate() {
                        let place = place(group, device);
                        let mut mine = Vec::new();
                        for member in group {
                            mine.push(this.part_along(lanes[*member], split, (place, count))?);
                        }
                        made.push(this.concatenated(&mine, concat)?);
                    }
                    Ok(made)
                })?
            }
            "reduce_scatter" => {
                let (groups, dim) = (self.groups(op, true)?, self.dim(op, "scatter_dimension")?);
                self.each_operand(op, |this, lanes| {
                    let whole = this.reduced(op, &members(&groups, &lanes))?;
                    let mut made = Vec::new();
                    for (device, group) in groups.iter().enumerate() {
                        made.push(this.part_along(
                            whole[device],
                            dim,
                            (place(group, device), group.len()),
                        )?);
                    }
                    Ok(made)
                })?
            }
            "all_reduce" | "cross-replica-sum" => {
                let groups = self.groups(op, true)?;
                self.each_operand(op, |this, lanes| this.reduced(op, &members(&groups, &lanes)))?
            }
            _ => return Err(self.ex.refused("it is not written out for several devices")),
        };
        self.ex.at(op);
        self.bind(op, results)
    }

    fn unread(&self, error: Diagnostic) -> Diagnostic {
        self.ex.refused(error.message)
    }

    fn dim(&self, op: &Op, name: &str) -> Result<usize> {
        let value = op.int(name).map_err(|e| self.unread(e))?;
        usize::try_from(value).map_err(|_| self.ex.refused(format!("`{name}` is {value}")))
    }

    fn operand(&self, op: &Op, i: usize) -> Result<Lanes> {
        op.operands.get(i).map(|v| self.of(*v)).ok_or_else(|| self.ex.refused("too few operands"))
    }

    fn each_operand(
        &mut self,
        op: &Op,
        mut make: impl FnMut(&mut Self, Lanes) -> Result<Lanes>,
    ) -> Result<Vec<Lanes>> {
        self.of_all(&op.operands).into_iter().map(|lanes| make(self, lanes)).collect()
    }

    /// Of each device the devices it meets, itself among them.
    fn groups(&self, op: &Op, reaches: bool) -> Result<Vec<Vec<usize>>> {
        let world = World { replicas: 1, partitions: self.devices };
        let own = |device: usize| {
            let group = group(self.ex.old, op, world, device, reaches).map_err(|e| self.ex.refused(e))?;
            match group.contains(&device) && group.iter().all(|d| *d < self.devices) {
                true => Ok(group),
                false => {
                    Err(self.ex.refused(format!("device {device} is in no group of the {}", self.devices)))
                }
            }
        };
        (0..self.devices).map(own).collect()
    }

    fn part_along(&mut self, tensor: ValueId, dim: usize, part: (usize, usize)) -> Result<ValueId> {
        let rank = self.ex.tensor(tensor)?.rank();
        if dim >= rank {
            return Err(self.ex.refused(format!("dimension {dim} of a tensor of rank {rank}")));
        }
        let parts: Vec<_> = (0..rank).map(|d| if d == dim { part } else { (0, 1) }).collect();
        self.part(tensor, &parts)
    }

    /// What a device is sent; zeros where nobody sends to it.
    fn permuted(&mut self, op: &Op) -> Result<Lanes> {
        let operand = self.operand(op, 0)?;
        let pairs = op.pairs("source_target_pairs").map_err(|e| self.unread(e))?;
        // Without a channel the pairs are of replicas, of which there is one.
        let across = channel(op) > 0;
        let mut lanes = Vec::new();
        for device in 0..self.devices {
            let number = if across { device as i64 } else { 0 };
            let value = match pairs.iter().find(|(_, target)| *target == number) {
                Some((source, _)) if across => {
                    let source = usize::try_from(*source).ok().filter(|s| *s < self.devices);
                    operand[source.ok_or_else(|| self.ex.refused("a source that is no device"))?]
                }
                Some((0, _)) => operand[device],
                Some(_) => return Err(self.ex.refused("a replica that there is not")),
                None => self.zeros(operand[device])?,
            };
            lanes.push(value);
        }
        Ok(lanes)
    }

    fn zeros(&mut self, like: ValueId) -> Result<ValueId> {
        let ty = self.ex.tensor(like)?;
        let zero = vec![0; ty.element.bytes().unwrap_or(1)];
        let dense = crate::DenseElements::splat(ty.clone(), &zero);
        let dense = dense.ok_or_else(|| self.ex.refused(format!("zeros of type {ty}")))?;
        self.ex.emit("stablehlo.constant", &[], ty, vec![("value", Attribute::Dense(dense))])
    }

    /// The joined values of each group, in its order.
    fn reduced(&mut self, op: &Op, keys: &[Vec<ValueId>]) -> Result<Lanes> {
        let Some(region) = op.regions.first() else { return Err(self.ex.refused("no region")) };
        let element = region.params.first().and_then(|(_, ty)| Some(ty.as_tensor()?.element.clone()));
        let element = element.ok_or_else(|| self.ex.refused("a region without parameters"))?;
        let wanted = op.results.first().and_then(|v| Some(self.ex.old.tensor(*v)?.element.clone()));
        self.each(keys, |this, device| {
            let mut members = keys[device].iter();
            let first = *members.next().ok_or_else(|| this.ex.refused("an empty group"))?;
            let mut sum = this.ex.convert(first, &element)?;
            for member in members {
                let member = this.ex.convert(*member, &element)?;
                sum = this.joined_by(region, sum, member)?;
            }
            this.ex.convert(sum, wanted.as_ref().unwrap_or(&element))
        })
    }

    /// A region of two scalars, over whole tensors: its only operation, or else a map of it.
    fn joined_by(&mut self, region: &Region, x: ValueId, y: ValueId) -> Result<ValueId> {
        let ty = self.ex.tensor(x)?;
        let (&[(a, _), (b, _)], [.., last]) = (region.params.as_slice(), region.ops.as_slice()) else {
            return Err(self.ex.refused("a region that joins other than two values"));
        };
        let result = self.ex.new.new_value(Type::Tensor(ty.clone().into()), "");
        let simple = match region.ops.as_slice() {
            [only, _] => {
                let operands = only.operands.as_slice();
                only.regions.is_empty()
                    && only.results == last.operands
                    && (operands == [a, b] || operands == [b, a])
                    && JOINS.contains(&only.short_name())
            }
            _ => false,
        };
        let mut new = match simple {
            true => {
                let only = &region.ops[0];
                let operands = if only.operands[0] == a { vec![x, y] } else { vec![y, x] };
                Op { operands: operands.into(), ..only.clone() }
            }
            false => {
                let mut map = Op::new("stablehlo.map");
                map.operands = vec![x, y].into();
                map.attributes.set("dimensions", Attribute::I64s((0..ty.rank() as i64).collect()));
                let mut around = Op::new("stablehlo.map");
                around.regions = vec![region.clone()];
                map.regions = self.copy(&around, 0, &mut HashMap::new()).regions;
                map
            }
        };
        new.results = vec![result].into();
        (new.span, new.location) = (self.ex.span, self.ex.location.clone());
        self.ex.out.push(new);
        Ok(result)
    }
}

/// Of each device the values of those it meets.
fn members(groups: &[Vec<usize>], lanes: &Lanes) -> Vec<Vec<ValueId>> {
    groups.iter().map(|group| group.iter().map(|d| lanes[*d]).collect()).collect()
}

fn place(group: &[usize], device: usize) -> usize {
    group.iter().position(|d| *d == device).unwrap_or(0)
}
