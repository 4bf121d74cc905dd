//! Programs that are divided by hand among several devices, as programs of one device: every operation between the borders of
//! `sdy.manual_computation`, or between `SPMDFullToShardShape` and `SPMDShardToFullShape`, is done once for each device.
//!
//! All devices go through a program side by side, operation by operation. A value stands for one value of each device; where
//! devices have the same operands, the operation is done once for all of them. Collectives are then
//! concatenations, slices and element-wise operations of their values. Loops and branches that hold a collective are shared: a
//! device whose loop has ended keeps its values while others go on.

mod collective;
mod control;
mod divide;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{Expander, Result, Rewrite};
use crate::diagnostic::Span;
use crate::module::{Function, Module, Op, Region, ValueId, Values};
use crate::sharding::HloSharding;
use crate::types::ElementType;
use crate::{Attribute, Visibility};

/// The most devices that a program is expanded for: each may have a copy of every operation.
const MOST: usize = 64;

/// The values of all devices.
type Lanes = Vec<ValueId>;

/// Nothing is rewritten operation by operation.
struct Nothing;

impl Rewrite for Nothing {
    fn element(&self, _: &ElementType) -> Option<ElementType> {
        None
    }

    fn op(&self, ex: &mut Expander<'_>, op: &Op) -> Result<()> {
        ex.keep(op)
    }

    fn entry(&self, _: &mut Expander<'_>, _: ValueId) -> Result<Option<ValueId>> {
        Ok(None)
    }
}

/// The module with every computation that is divided by hand among the devices of a mesh written out for all devices of the mesh;
/// the module itself if it has none.
///
/// # Errors
/// More devices than 64; what devices do that cannot be written out: host transfers.
pub fn expand_devices(module: &Module) -> Result<Cow<'_, Module>> {
    let divided = super::holds(module, "sdy.manual_computation");
    let shards = has_shards(module);
    if !divided && !shards {
        return Ok(Cow::Borrowed(module));
    }
    let mut made = Lockstep {
        ex: Expander {
            old: module,
            rewrite: &Nothing,
            new: module.clone(),
            out: Vec::new(),
            values: HashMap::new(),
            name: "func.func".into(),
            span: Span::default(),
            location: None,
        },
        devices: 1,
        lanes: HashMap::new(),
        depth: 0,
        shards,
        communicating: functions_with(module, communicates),
        looping: functions_with(module, is_loop),
        active: None,
        calls: Vec::new(),
        made_by: HashMap::new(),
    };
    made.devices = made.count()?;
    let entry = module.entry().map(|f| f.name.as_str());
    let mut functions = Vec::new();
    for function in &module.functions {
        let outer = function.visibility == Visibility::Public || entry == Some(&function.name);
        match made.communicating.contains(&function.name) {
            true if outer => functions.push(made.function(function)?),
            // Where it is called it is written out.
            true => {}
            false => functions.push(function.clone()),
        }
    }
    made.ex.new.functions = functions;
    Ok(Cow::Owned(made.ex.new))
}

/// Whether a module says by custom calls, as JAX did before Shardy, where devices see their parts. The interpreter does not run
/// such programs as they stand.
pub fn has_shards(module: &Module) -> bool {
    let is = |op: &Op| custom_call(op, FULL_TO_SHARD) || custom_call(op, SHARD_TO_FULL);
    module.functions.iter().any(|f| among(&f.body, &is))
}

const FULL_TO_SHARD: &str = "SPMDFullToShardShape";
const SHARD_TO_FULL: &str = "SPMDShardToFullShape";

fn custom_call(op: &Op, target: &str) -> bool {
    op.name == "stablehlo.custom_call" && op.string("call_target_name") == Ok(target)
}

fn among(region: &Region, is: &dyn Fn(&Op) -> bool) -> bool {
    region.ops.iter().any(|op| is(op) || op.regions.iter().any(|r| among(r, is)))
}

/// Is it a collective, or does it depend on the number of the device?
fn communicates(op: &Op) -> bool {
    matches!(
        &*op.name,
        "sdy.manual_computation"
            | "stablehlo.all_reduce"
            | "stablehlo.all_gather"
            | "stablehlo.all_to_all"
            | "stablehlo.reduce_scatter"
            | "stablehlo.collective_broadcast"
            | "stablehlo.collective_permute"
            | "stablehlo.collective_reduce"
            | "stablehlo.cross-replica-sum"
            | "stablehlo.partition_id"
            | "stablehlo.replica_id"
    ) || custom_call(op, FULL_TO_SHARD)
        || custom_call(op, SHARD_TO_FULL)
}

fn callee(op: &Op) -> Option<&str> {
    match &*op.name {
        "func.call" | "stablehlo.composite" => op.callee().ok(),
        _ => None,
    }
}

/// The functions that hold such an operation, or call one that does.
fn functions_with(module: &Module, is: fn(&Op) -> bool) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    loop {
        let holds = |op: &Op| is(op) || callee(op).is_some_and(|name| found.contains(name));
        let new = module.functions.iter().find(|f| !found.contains(&f.name) && among(&f.body, &holds));
        match new.map(|f| f.name.clone()) {
            Some(name) => _ = found.insert(name),
            None => return found,
        }
    }
}

fn is_loop(op: &Op) -> bool {
    op.name == "stablehlo.while"
}

struct Lockstep<'m> {
    ex: Expander<'m>,
    devices: usize,
    /// What stands for a value of the old module; itself on all devices where nothing is said.
    lanes: HashMap<ValueId, Lanes>,
    /// The number of manual computations around.
    depth: usize,
    /// Does the module say with custom calls where devices see their parts?
    shards: bool,
    /// The functions that communicate.
    communicating: HashSet<String>,
    /// The functions that loop.
    looping: HashSet<String>,
    /// In a branch that some devices take: which. Loops end at once on the others.
    active: Option<Lanes>,
    /// The functions that are being written out.
    calls: Vec<String>,
    /// Which operation made a value, of annotations.
    made_by: HashMap<ValueId, &'m Op>,
}

impl<'m> Lockstep<'m> {
    /// The number of devices of the module.
    fn count(&mut self) -> Result<usize> {
        fn all<'m>(region: &'m Region, ops: &mut Vec<&'m Op>) {
            for op in &region.ops {
                ops.push(op);
                op.regions.iter().for_each(|r| all(r, ops));
            }
        }
        let (module, mut ops) = (self.ex.old, Vec::new());
        module.functions.iter().for_each(|f| all(&f.body, &mut ops));
        let mut count = 1;
        for op in ops {
            self.ex.at(op);
            let own = if op.name == "sdy.manual_computation" {
                let manual = self.manual_computation(op)?;
                manual.mesh().map_or(Ok(1), |mesh| mesh.size().ok_or_else(|| self.many("any")))?
            } else if custom_call(op, "Sharding") || custom_call(op, SHARD_TO_FULL) {
                op.results.iter().for_each(|v| _ = self.made_by.insert(*v, op));
                match hlo_sharding(op) {
                    Some(HloSharding::Tiled { devices, .. }) => devices.len(),
                    _ => 1,
                }
            } else {
                1
            };
            if own > MOST {
                return Err(self.many(own));
            }
            count = count.max(own);
        }
        Ok(count)
    }

    fn many(&self, count: impl std::fmt::Display) -> crate::Diagnostic {
        self.ex.refused(format!("a mesh of {count} devices; up to {MOST} are simulated"))
    }

    /// Do devices see their parts here?
    fn manual(&self) -> bool {
        self.depth > 0 || self.shards
    }

    fn function(&mut self, function: &Function) -> Result<Function> {
        let mut new = function.clone();
        self.calls = vec![function.name.clone()];
        self.lanes.clear();
        let around = std::mem::take(&mut self.ex.out);
        self.ops(&function.body.ops)?;
        new.body.ops = std::mem::replace(&mut self.ex.out, around);
        Ok(new)
    }

    fn of(&self, value: ValueId) -> Lanes {
        self.lanes.get(&value).cloned().unwrap_or_else(|| vec![value; self.devices])
    }

    fn of_all(&self, values: &[ValueId]) -> Vec<Lanes> {
        values.iter().map(|v| self.of(*v)).collect()
    }

    fn ops(&mut self, ops: &[Op]) -> Result<()> {
        ops.iter().try_for_each(|op| self.op(op))
    }

    /// Does something in these regions concern several devices?
    fn inside(&self, op: &Op) -> bool {
        let is =
            |op: &Op| communicates(op) || callee(op).is_some_and(|name| self.communicating.contains(name));
        op.regions.iter().any(|r| among(r, &is))
    }

    /// Is it a loop, or does it hold or call one?
    fn loops(&self, op: &Op) -> bool {
        let is = |op: &Op| is_loop(op) || callee(op).is_some_and(|name| self.looping.contains(name));
        is(op) || op.regions.iter().any(|r| among(r, &is))
    }

    fn op(&mut self, op: &Op) -> Result<()> {
        self.ex.at(op);
        let masked = self.active.is_some() && self.loops(op);
        match &*op.name {
            "sdy.manual_computation" => self.divided(op),
            "sdy.sharding_constraint" | "sdy.reshard" | "sdy.propagation_barrier" | "sdy.data_flow_edge"
                if self.manual() =>
            {
                self.alias(op)
            }
            "sdy.sharding_group" if self.manual() => Ok(()),
            "stablehlo.custom_call" if self.manual() && custom_call(op, "Sharding") => self.alias(op),
            "stablehlo.custom_call" if custom_call(op, FULL_TO_SHARD) => self.full_to_shard(op),
            "stablehlo.custom_call" if custom_call(op, SHARD_TO_FULL) => self.shard_to_full(op),
            "stablehlo.while" if masked || self.inside(op) => self.while_loop(op),
            "stablehlo.if" | "stablehlo.case" if masked || self.inside(op) => self.branch(op),
            "sdy.named_computation" if masked || self.inside(op) => {
                let [body] = op.regions.as_slice() else { return Err(self.ex.refused("no body")) };
                self.inlined(op, body)
            }
            "func.call" | "stablehlo.composite"
                if masked || callee(op).is_some_and(|n| self.communicating.contains(n)) =>
            {
                self.call(op)
            }
            _ if self.manual() && communicates(op) => self.collective(op),
            _ if self.inside(op) => Err(self.ex.refused("a collective inside of it")),
            _ if masked => Err(self.ex.refused("a loop inside of it, in a branch that some devices take")),
            "stablehlo.infeed" | "stablehlo.outfeed" | "stablehlo.send" | "stablehlo.recv"
                if self.manual() =>
            {
                Err(self.ex.refused("a transfer inside of a computation that is divided among devices"))
            }
            _ => self.copies(op),
        }
    }

    /// The results are the operands.
    fn alias(&mut self, op: &Op) -> Result<()> {
        if op.operands.len() != op.results.len() {
            return Err(self.ex.refused("another number of results than of operands"));
        }
        for (operand, result) in op.operands.iter().zip(&op.results) {
            self.lanes.insert(*result, self.of(*operand));
        }
        Ok(())
    }

    fn call(&mut self, op: &Op) -> Result<()> {
        let name = callee(op).unwrap_or_default();
        if self.calls.iter().any(|around| around == name) {
            return Err(self.ex.refused(format!("@{name} calls itself")));
        }
        let module = self.ex.old;
        let function = module.function(name).filter(|f| !f.is_declaration());
        let function = function.ok_or_else(|| self.ex.refused(format!("there is no body of @{name}")))?;
        self.calls.push(name.to_string());
        self.inlined(op, &function.body)?;
        self.calls.pop();
        Ok(())
    }

    /// The body with the operands as parameters, here.
    fn inlined(&mut self, op: &Op, body: &Region) -> Result<()> {
        let operands = self.of_all(&op.operands);
        let results = self.body(body, operands)?;
        self.ex.at(op);
        self.bind(op, results)
    }

    /// Writes the operations of a region here; what it gives back.
    fn body(&mut self, body: &Region, params: Vec<Lanes>) -> Result<Vec<Lanes>> {
        if params.len() != body.params.len() {
            return Err(self.ex.refused(format!(
                "{} values for a body of {} parameters",
                params.len(),
                body.params.len()
            )));
        }
        for ((param, _), lanes) in body.params.iter().zip(params) {
            self.lanes.insert(*param, lanes);
        }
        let Some((last, ops)) = body.ops.split_last() else {
            return Err(self.ex.refused("a body without operations"));
        };
        self.ops(ops)?;
        Ok(self.of_all(&last.operands))
    }

    fn bind(&mut self, op: &Op, results: Vec<Lanes>) -> Result<()> {
        if results.len() != op.results.len() {
            return Err(self.ex.refused(format!(
                "{} results where {} are given back",
                op.results.len(),
                results.len()
            )));
        }
        op.results.iter().zip(results).for_each(|(result, lanes)| _ = self.lanes.insert(*result, lanes));
        Ok(())
    }

    /// One value for each device, made once for devices with the same key.
    fn each(
        &mut self,
        keys: &[Vec<ValueId>],
        mut make: impl FnMut(&mut Self, usize) -> Result<ValueId>,
    ) -> Result<Lanes> {
        let mut made: HashMap<&[ValueId], ValueId> = HashMap::new();
        let mut lanes = Vec::with_capacity(self.devices);
        for (device, key) in keys.iter().enumerate() {
            let value = match made.get(key.as_slice()) {
                Some(value) => *value,
                None => make(self, device)?,
            };
            made.insert(key, value);
            lanes.push(value);
        }
        Ok(lanes)
    }

    /// The operation for each device; once for devices whose operands are the same.
    fn copies(&mut self, op: &Op) -> Result<()> {
        let mut used = op.operands.to_vec();
        op.regions.iter().for_each(|region| captured(region, &mut used));
        let used: Vec<Lanes> = self.of_all(&used);
        let mut made: HashMap<Vec<ValueId>, Values> = HashMap::new();
        let mut results: Vec<Lanes> = vec![Vec::with_capacity(self.devices); op.results.len()];
        for device in 0..self.devices {
            let key: Vec<ValueId> = used.iter().map(|lanes| lanes[device]).collect();
            if !made.contains_key(&key) {
                if !made.is_empty() && op.flag("has_side_effect").unwrap_or(false) {
                    return Err(self.ex.refused("a side effect that each device has"));
                }
                let copy = self.copy(op, device, &mut HashMap::new());
                made.insert(key.clone(), copy.results.clone());
                self.ex.out.push(copy);
            }
            let values = made.get(&key).map_or(&[][..], Values::as_slice);
            results.iter_mut().zip(values).for_each(|(lanes, value)| lanes.push(*value));
        }
        self.bind(op, results)
    }

    /// The operation with the values of a device, and values of its own.
    fn copy(&mut self, op: &Op, device: usize, own: &mut HashMap<ValueId, ValueId>) -> Op {
        let mut new = op.clone();
        for operand in &mut new.operands {
            *operand = match own.get(operand) {
                Some(value) => *value,
                None => self.lanes.get(operand).map_or(*operand, |lanes| lanes[device]),
            };
        }
        for result in &mut new.results {
            *result = self.renamed(*result, own);
        }
        for region in &mut new.regions {
            for (param, _) in &mut region.params {
                *param = self.renamed(*param, own);
            }
            region.ops = region.ops.iter().map(|op| self.copy(op, device, own)).collect();
        }
        new
    }

    fn renamed(&mut self, value: ValueId, own: &mut HashMap<ValueId, ValueId>) -> ValueId {
        let new = self.fresh(value);
        own.insert(value, new);
        new
    }

    /// A new value of the type of an old one.
    fn fresh(&mut self, like: ValueId) -> ValueId {
        let ty = self.ex.old.ty(like).clone();
        self.ex.new.new_value(ty, "")
    }
}

/// The values around a region that it uses.
fn captured(region: &Region, used: &mut Vec<ValueId>) {
    fn all(region: &Region, own: &mut HashSet<ValueId>, used: &mut Vec<ValueId>) {
        own.extend(region.params.iter().map(|p| p.0));
        for op in &region.ops {
            used.extend(op.operands.iter().filter(|v| !own.contains(v)));
            op.regions.iter().for_each(|r| all(r, own, used));
            own.extend(&op.results);
        }
    }
    all(region, &mut HashSet::new(), used);
}

fn hlo_sharding(op: &Op) -> Option<HloSharding> {
    match op.attributes.get("mhlo.sharding") {
        Some(Attribute::String(text)) => text.parse().ok(),
        _ => None,
    }
}
