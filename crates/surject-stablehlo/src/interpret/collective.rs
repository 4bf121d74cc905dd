//! Collectives over the processes of a run. Which processes form a group follows from the groups, the channel and
//! `use_global_device_ids`, as the specification says under "Execution".

use std::sync::Arc;

use super::body::Body;
use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::{concatenate, slice};
use super::number::Scalar;
use super::reduce::promote;
use super::value::{Tensor, Value};
use crate::sharding;

/// What all processes of a group brought.
type All = Vec<Arc<Vec<Value>>>;

impl<'m> Call<'_, 'm> {
    pub(crate) fn collective(&mut self, short: &str) -> Values {
        match short {
            "replica_id" => self.process_number(self.machine.process.replica),
            "partition_id" => self.process_number(self.machine.process.partition),
            "all_gather" => {
                let group = self.group(true)?;
                let dim = self.dim("all_gather_dim")?;
                let all = self.meet(short, &group)?;
                self.each_operand(&all, |call, parts, i| concatenate(parts, dim, call.result_element(i)?))
            }
            "all_reduce" | "cross-replica-sum" => {
                let group = self.group(true)?;
                let all = self.meet(short, &group)?;
                self.each_operand(&all, |call, parts, i| call.reduced_parts(parts, i))
            }
            "collective_reduce" => {
                let group = self.group(false)?;
                let all = self.meet(short, &group)?;
                // The first process of the group has the result.
                let root = group.first() == Some(&self.machine.process.id());
                self.each_operand(&all, |call, parts, i| {
                    let result = call.reduced_parts(parts, i)?;
                    if root { Ok(result) } else { Tensor::zeros(&result.element, &result.shape) }
                })
            }
            "reduce_scatter" => {
                let group = self.group(true)?;
                let dim = self.dim("scatter_dimension")?;
                let place = self.place(&group);
                let all = self.meet(short, &group)?;
                self.each_operand(&all, |call, parts, i| {
                    let whole = call.reduced_parts(parts, i)?;
                    part(&whole, dim, place, group.len())
                })
            }
            "all_to_all" => {
                let group = self.group(false)?;
                let (split, concat) = (self.dim("split_dimension")?, self.dim("concat_dimension")?);
                let count = self.dim("split_count")?;
                if count != group.len() {
                    return Err(Error::invalid(format!("{count} parts for a group of {}", group.len())));
                }
                let place = self.place(&group);
                let all = self.meet(short, &group)?;
                self.each_operand(&all, |call, parts, i| {
                    let mine =
                        parts.iter().map(|t| part(t, split, place, count)).collect::<Result<Vec<_>>>()?;
                    concatenate(&mine, concat, call.result_element(i)?)
                })
            }
            "collective_broadcast" => self.collective_broadcast(),
            _ => self.collective_permute(),
        }
    }

    fn process_number(&self, number: usize) -> Values {
        one(Tensor::ints(self.result_element(0)?, &[], vec![number as i64])?)
    }

    fn channel(&self) -> i64 {
        sharding::channel(self.op)
    }

    /// The group of this process; empty if it is in none.
    fn group(&self, reaches: bool) -> Result<Vec<usize>> {
        let world = self.machine.process.world;
        let world = sharding::World { replicas: world.replicas, partitions: world.partitions };
        let own = self.machine.process.id();
        sharding::group(self.machine.module, self.op, world, own, reaches).map_err(Error::unsupported)
    }

    /// Position of this process in a group.
    fn place(&self, group: &[usize]) -> usize {
        let id = self.machine.process.id();
        group.iter().position(|p| *p == id).unwrap_or(0)
    }

    /// Exchanges the operands with the group.
    fn meet(&mut self, short: &str, group: &[usize]) -> Result<All> {
        if group.is_empty() {
            return Err(Error::invalid(format!("process {} is in no group", self.machine.process.id())));
        }
        let values = self.args.clone();
        let channel = self.channel();
        self.machine.process.meet(short, channel, group, values)
    }

    /// One result an operand, of the tensors that all brought as this operand.
    fn each_operand(
        &mut self,
        all: &All,
        mut combine: impl FnMut(&mut Self, &[Tensor], usize) -> Result<Tensor>,
    ) -> Values {
        let mut out = Vec::new();
        for i in 0..self.op.results.len() {
            let parts = all
                .iter()
                .map(|brought| match brought.get(i) {
                    Some(Value::Tensor(tensor)) => Ok(tensor.clone()),
                    _ => Err(Error::invalid(format!("operand {i} of another process is no tensor"))),
                })
                .collect::<Result<Vec<_>>>()?;
            out.push(Value::Tensor(combine(self, &parts, i)?));
        }
        Ok(out)
    }

    /// Elements combined by the region in the order of the group; added where there is none.
    fn reduced_parts(&mut self, parts: &[Tensor], i: usize) -> Result<Tensor> {
        let element = self.result_element(i)?.clone();
        let first = parts.first().ok_or_else(|| Error::invalid("an empty group"))?;
        if parts.iter().any(|t| t.shape != first.shape) {
            return Err(Error::invalid("operands of other shapes in other processes"));
        }
        let Some(region) = self.op.regions.first() else {
            let mut sum = first.clone();
            for part in &parts[1..] {
                let pair = [sum, part.clone()];
                let added = super::elementwise::apply_to(self, "add", &pair, &element)?;
                sum = added.ok_or_else(|| Error::unsupported("a sum of these elements"))?;
            }
            return Ok(sum);
        };
        let mut body = Body::new(self.machine, self.frame, region)?;
        let [left, right] = body.params.as_slice() else {
            return Err(Error::invalid("a region of two arguments is wanted"));
        };
        let (left, right) = (left.clone(), right.clone());
        let mut sums: Vec<Scalar> = promote(first, &left)?.scalars()?;
        for part in &parts[1..] {
            let values = promote(part, &right)?.scalars()?;
            for (sum, value) in sums.iter_mut().zip(values) {
                let result = body.call(self.machine, self.frame, &[*sum, value])?;
                *sum = *result.first().ok_or_else(|| Error::invalid("a region without a result"))?;
            }
        }
        promote(&Tensor::of_scalars(&left, &first.shape, &sums)?, &element)
    }

    /// The operand of the first process of the group, or of the one that the second operand names; zeros in processes of
    /// no group.
    fn collective_broadcast(&mut self) -> Values {
        let group = self.group(false)?;
        if group.is_empty() {
            return self.zeros();
        }
        let root = match self.args.len() {
            2 => self.tensor(1)?.int_elements()?.first().copied().unwrap_or(0),
            _ => 0,
        };
        let all = self.meet("collective_broadcast", &group)?;
        let brought = usize::try_from(root).ok().and_then(|root| all.get(root));
        let value = brought.and_then(|values| values.first().cloned());
        Ok(vec![value.ok_or_else(|| Error::invalid(format!("root {root} of a group of {}", group.len())))?])
    }

    fn zeros(&self) -> Values {
        let tensor = self.tensor(0)?;
        one(Tensor::zeros(&tensor.element, &tensor.shape)?)
    }

    /// The operand of the process that sends to this one; zeros where none does.
    fn collective_permute(&mut self) -> Values {
        let pairs = self.op.pairs("source_target_pairs")?;
        let world = self.machine.process.world;
        let across = self.channel() > 0;
        let (replica, partition) = (self.machine.process.replica, self.machine.process.partition);
        let (own, count) = match across {
            true => (partition, world.partitions),
            false => (replica, world.replicas),
        };
        let group: Vec<usize> = (0..count)
            .map(|i| match across {
                true => replica * world.partitions + i,
                false => i * world.partitions + partition,
            })
            .collect();
        // All meet, so that every sender is there.
        let all = self.meet("collective_permute", &group)?;
        match pairs.iter().find(|(_, target)| *target == own as i64) {
            None => self.zeros(),
            Some((source, _)) => {
                let brought = usize::try_from(*source).ok().and_then(|i| all.get(i));
                let value = brought.and_then(|values| values.first().cloned());
                Ok(vec![value.ok_or_else(|| Error::invalid(format!("there is no process {source}")))?])
            }
        }
    }

    /// Queues: what goes in and out, and channels between processes and to the host.
    pub(crate) fn stream(&mut self, short: &str) -> Values {
        let world = self.machine.process.world;
        match short {
            "infeed" => {
                let mut values = match world.fed()? {
                    super::world::Feed::Values(values) => values,
                    super::world::Feed::Function(name) => {
                        let function = self.machine.function(&name)?;
                        self.machine.call(function, Vec::new())?
                    }
                };
                values.push(Value::Token);
                Ok(values)
            }
            "outfeed" => {
                self.args.pop();
                world.put_out(std::mem::take(&mut self.args));
                Ok(vec![Value::Token])
            }
            "send" => {
                self.args.pop();
                let values = std::mem::take(&mut self.args);
                match self.partner(true)? {
                    Partner::Any => world.send((self.channel(), None), values),
                    Partner::Process(target) => world.send((self.channel(), Some(target)), values),
                    Partner::None => {}
                }
                Ok(vec![Value::Token])
            }
            _ => {
                let mut values = match self.partner(false)? {
                    Partner::Any => world.receive((self.channel(), None))?,
                    Partner::Process(own) => world.receive((self.channel(), Some(own)))?,
                    Partner::None => {
                        let mut zeros = Vec::new();
                        for i in 0..self.op.results.len() - 1 {
                            let (shape, element) = (self.result_shape(i)?, self.result_element(i)?);
                            zeros.push(Value::Tensor(Tensor::zeros(element, &shape)?));
                        }
                        zeros
                    }
                };
                values.push(Value::Token);
                Ok(values)
            }
        }
    }

    /// Whom `source_target_pairs` says a channel leads to: as the number of the receiving process.
    fn partner(&self, sends: bool) -> Result<Partner> {
        if !self.op.attributes.contains("source_target_pairs") {
            return Ok(Partner::Any);
        }
        let pairs = self.op.pairs("source_target_pairs")?;
        if pairs.is_empty() {
            return Ok(Partner::Any);
        }
        let world = self.machine.process.world;
        // Partitions where there are several, else replicas.
        let across = world.partitions > 1;
        let process = &self.machine.process;
        let own = if across { process.partition } else { process.replica };
        let pair = pairs.iter().find(|(source, target)| own as i64 == if sends { *source } else { *target });
        let Some((_, target)) = pair else { return Ok(Partner::None) };
        let target = usize::try_from(*target).map_err(|_| Error::invalid(format!("process {target}")))?;
        Ok(Partner::Process(if across { process.replica * world.partitions + target } else { target }))
    }
}

enum Partner {
    /// The program does not say.
    Any,
    Process(usize),
    None,
}

/// One of `count` equal parts along a dimension.
fn part(tensor: &Tensor, dim: usize, place: usize, count: usize) -> Result<Tensor> {
    let rank = tensor.rank();
    let size = tensor.shape.get(dim).filter(|n| *n % count == 0).map(|n| n / count);
    let Some(size) = size else {
        return Err(Error::invalid(format!("{count} parts of dimension {dim} of {}", tensor.ty())));
    };
    let mut low = vec![0; rank];
    let mut high: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
    (low[dim], high[dim]) = ((place * size) as i64, ((place + 1) * size) as i64);
    slice(tensor, &low, &high, &vec![1; rank], &tensor.element)
}
