//! Rules of operations between processes. The number of processes is not part of a program, so what depends on it is
//! unknown; which groups there are is known.

use super::infer::Want;
use super::shape::{Ext, extents};
use super::{Checked, Result};
use crate::attr::Attribute;
use crate::diagnostic::codes;
use crate::types::{ElementType, TensorType};

/// Groups of processes, one a row; -1 fills up short rows.
struct Groups {
    size: i64,
    ids: Vec<i64>,
}

impl<'a> Checked<'a> {
    fn channel(&self) -> i64 {
        match self.op.attributes.get("channel_handle") {
            Some(Attribute::ChannelHandle(channel)) => channel.handle,
            _ => 0,
        }
    }

    /// Whether process ids are those of devices; that needs a channel.
    fn global_ids(&self, rule: u8) -> Result<bool> {
        let global = self.op.flag("use_global_device_ids")?;
        if global && self.channel() <= 0 {
            return Err(self
                .attr_error(format!("'use_global_device_ids' with channel {}", self.channel()))
                .expected("a channel above 0")
                .constraint(rule));
        }
        Ok(global)
    }

    /// The groups, if they are numbers: every process from 0 on once, the rows filled up only where `short`.
    fn groups(&self, unique: u8, range: u8, short: bool, all: bool) -> Result<Option<Groups>> {
        let elements = match self.op.attributes.get("replica_groups") {
            Some(Attribute::Dense(elements)) => elements,
            // Groups by the axes of a mesh.
            Some(Attribute::Opaque(_)) | None => return Ok(None),
            Some(other) => {
                return Err(self
                    .attr_error(format!("'replica_groups' is {}", other.describe()))
                    .expected("dense<…> : tensor<nxmxi64>, or the axes of a mesh"));
            }
        };
        let wrong = |message: String, rule: u8| Err(self.attr_error(message).constraint(rule));
        let ids = elements.to_i64s().filter(|_| elements.ty.element == ElementType::I64);
        let (Some(ids), [_, size]) = (ids, elements.ty.shape.as_slice()) else {
            return Err(self
                .attr_error(format!("'replica_groups' has type {}", elements.ty))
                .expected("tensor<nxmxi64>: a row for each group"));
        };
        let used: Vec<i64> = ids.iter().copied().filter(|id| !short || *id != -1).collect();
        if let Some(bad) = used.iter().find(|id| **id < 0) {
            return wrong(format!("'replica_groups' holds {bad}"), range);
        }
        self.unique(unique, "replica_groups", &used)?;
        let count = used.len() as i64;
        if all && let Some(missing) = (0..count).find(|id| !used.contains(id)) {
            return wrong(
                format!("'replica_groups' holds {count} processes, but not process {missing}"),
                range,
            );
        }
        Ok(Some(Groups { size: size.known().unwrap_or(0), ids }))
    }

    /// The size of a process group, if the program says it: where groups reach across partitions, it does not.
    fn group_size(&self, groups: &Option<Groups>, global: bool) -> Option<i64> {
        let across = self.channel() > 0 && !global;
        groups.as_ref().filter(|g| !across && !g.ids.is_empty()).map(|g| g.size)
    }

    pub(super) fn all_gather(&self) -> Result<Vec<Want>> {
        self.as_many_results()?;
        let dim = self.op.int("all_gather_dim")?;
        let global = self.global_ids(5)?;
        let groups = self.groups(2, 4, false, true)?;
        self.not_empty(&groups, global, 5)?;
        let size = self.group_size(&groups, global);
        let mut wants = Vec::new();
        for i in 0..self.op.operands.len() {
            let operand = self.operand(i)?;
            self.dims(1, "all_gather_dim", &[dim], operand.rank())?;
            let mut shape = extents(operand);
            let at = dim as usize;
            let single = shape[at];
            if single.size == Some(0) {
                return Err(self
                    .type_error(format!("operand {i} has type {operand}"))
                    .expected(format!("a size above 0 in dimension {dim}")));
            }
            shape[at] = size.map_or(Ext::ANY, |n| single.map(|s| s * i128::from(n)));
            self.multiple(6, i, at, single, true)?;
            wants.push(Want::baseline(shape, &operand.element, 6, 6));
        }
        Ok(wants)
    }

    /// Global ids need groups.
    fn not_empty(&self, groups: &Option<Groups>, global: bool, rule: u8) -> Result<()> {
        match groups {
            Some(groups) if global && groups.ids.is_empty() => {
                Err(self.attr_error("'use_global_device_ids' without groups").constraint(rule))
            }
            _ => Ok(()),
        }
    }

    /// Checks that dimension `at` of the result is a multiple of the size of the operand, or the other way round.
    fn multiple(&self, rule: u8, i: usize, at: usize, single: Ext, grows: bool) -> Result<()> {
        let Some(result) = self.op.results.get(i).and_then(|v| self.module.tensor(*v)) else { return Ok(()) };
        let (Some(found), Some(single)) = (result.shape.get(at).and_then(|d| d.known()), single.size) else {
            return Ok(());
        };
        let (large, small) = if grows { (found, single) } else { (single, found) };
        if small != 0 && large % small == 0 {
            return Ok(());
        }
        Err(self
            .type_error(format!("result {i} has type {result}"))
            .expected(format!("in dimension {at} a {} of {single}", if grows { "multiple" } else { "part" }))
            .constraint(rule))
    }

    /// As many results as operands.
    fn as_many_results(&self) -> Result<()> {
        let (operands, results) = (self.op.operands.len(), self.op.results.len());
        if operands == results || !self.counts_results() {
            return Ok(());
        }
        Err(self
            .error(codes::ARITY, format!("{operands} operands and {results} results"))
            .expected("as many results as operands"))
    }

    pub(super) fn all_reduce(&self) -> Result<Vec<Want>> {
        self.as_many_results()?;
        let global = self.global_ids(4)?;
        let groups = self.groups(1, 3, true, true)?;
        self.not_empty(&groups, global, 4)?;
        self.reduced((5, 6, 7))
    }

    /// Results of a reduction over processes: the shapes of the operands, the element type of the computation.
    fn reduced(&self, rules: (u8, u8, u8)) -> Result<Vec<Want>> {
        let operands = self.operands(0..self.op.operands.len())?;
        let mut wants = Vec::new();
        for operand in operands {
            let element = self.computed(rules.0, operand)?;
            wants.push(Want::tensor(extents(operand), &element, rules.1, rules.2));
        }
        Ok(wants)
    }

    fn computed(&self, rule: u8, operand: &TensorType) -> Result<ElementType> {
        match self.op.regions.first() {
            Some(region) => Ok(self.accumulators((rule, rule), region, &[operand], &[])?.remove(0)),
            None => Ok(operand.element.clone()),
        }
    }

    pub(super) fn reduce_scatter(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let dim = self.op.int("scatter_dimension")?;
        self.dims(2, "scatter_dimension", &[dim], operand.rank())?;
        let global = self.global_ids(6)?;
        let groups = self.groups(3, 5, false, true)?;
        self.not_empty(&groups, global, 6)?;
        let element = self.computed(7, operand)?;
        let mut shape = extents(operand);
        let at = dim as usize;
        let whole = shape[at];
        match self.group_size(&groups, global) {
            Some(size) => {
                if whole.size.is_some_and(|n| n % size != 0) {
                    return Err(self
                        .type_error(format!("dimension {dim} of {operand} does not divide into {size} parts"))
                        .constraint(1));
                }
                shape[at] = whole.map(|n| n / i128::from(size));
            }
            None => {
                self.multiple(8, 0, at, whole, false)?;
                shape[at] = Ext::ANY;
            }
        }
        Ok(vec![Want::tensor(shape, &element, 8, 9)])
    }

    pub(super) fn all_to_all(&self) -> Result<Vec<Want>> {
        let (split, concat) = (self.op.int("split_dimension")?, self.op.int("concat_dimension")?);
        self.as_many_results()?;
        let count = self.op.int("split_count")?;
        self.positive(4, "split_count", &[count])?;
        let groups = self.groups(5, 7, false, true)?;
        if let Some(groups) = groups.filter(|g| !g.ids.is_empty())
            && groups.size != count
        {
            return Err(self
                .attr_error(format!("groups of {} for 'split_count' = {count}", groups.size))
                .expected("as many processes as parts")
                .constraint(8));
        }
        let mut wants = Vec::new();
        for i in 0..self.op.operands.len() {
            let operand = self.operand(i)?;
            self.dims(1, "split_dimension", &[split], operand.rank())?;
            self.dims(3, "concat_dimension", &[concat], operand.rank())?;
            let mut shape = extents(operand);
            if shape[split as usize].size.is_some_and(|n| n % count != 0) {
                return Err(self
                    .type_error(format!("dimension {split} of {operand} does not divide into {count} parts"))
                    .constraint(2));
            }
            if split != concat {
                shape[split as usize] = shape[split as usize].map(|n| n / i128::from(count));
                shape[concat as usize] = shape[concat as usize].map(|n| n * i128::from(count));
            }
            wants.push(Want::baseline(shape, &operand.element, 9, 9));
        }
        Ok(wants)
    }

    /// Results of the types of the first operands.
    fn unchanged(&self, rule: u8) -> Result<Vec<Want>> {
        let count = self.op.results.len().clamp(1, self.op.operands.len().max(1));
        let operands = self.operands(0..count)?;
        Ok(operands.iter().map(|t| Want::tensor(extents(t), &t.element, rule, rule)).collect())
    }

    pub(super) fn collective_broadcast(&self) -> Result<Vec<Want>> {
        // The root is an operand where it is not the first of its group.
        let root = self.op.attributes.get("has_dynamic_root").is_some_and(|a| *a != Attribute::Bool(false));
        if self.op.operands.len() != 1 + usize::from(root) {
            return Err(self
                .error(codes::ARITY, format!("{} operands", self.op.operands.len()))
                .expected(if root { "the operand and the root" } else { "one operand" }));
        }
        self.groups(1, 2, false, false)?;
        self.unchanged(3)
    }

    pub(super) fn collective_permute(&self) -> Result<Vec<Want>> {
        self.source_target_pairs([1, 2, 3, 4])?;
        self.unchanged(5)
    }

    /// Checks pairs of processes: their shape, sources and targets once each, no negative ones.
    pub(super) fn source_target_pairs(&self, rules: [u8; 4]) -> Result<()> {
        let Some(Attribute::Dense(elements)) = self.op.attributes.get("source_target_pairs") else {
            return Ok(());
        };
        let columns = elements.ty.shape.get(1).and_then(|d| d.known());
        let Some(values) = elements.to_i64s().filter(|_| elements.ty.rank() == 2 && columns == Some(2))
        else {
            return Err(self
                .attr_error(format!("'source_target_pairs' has type {}", elements.ty))
                .expected("tensor<nx2xi64>")
                .constraint(rules[0]));
        };
        self.at_least(rules[3], "source_target_pairs", &values, 0)?;
        let column = |c: usize| values.chunks_exact(2).map(|pair| pair[c]).collect::<Vec<_>>();
        self.unique(rules[1], "sources of source_target_pairs", &column(0))?;
        self.unique(rules[2], "targets of source_target_pairs", &column(1))
    }

    pub(super) fn collective_reduce(&self) -> Result<Vec<Want>> {
        self.groups(1, 2, false, false)?;
        self.reduced((0, 0, 0))
    }

    pub(super) fn cross_replica_sum(&self) -> Result<Vec<Want>> {
        self.groups(0, 0, true, true)?;
        self.unchanged(0)
    }
}
