//! Loops and branches that hold collectives.

use super::super::Result;
use super::{Lanes, Lockstep};
use crate::attr::Attribute;
use crate::module::{Op, Region, ValueId};
use crate::types::{TensorType, Type};

/// Which devices have the same value: equal numbers.
type Classes = Vec<usize>;

fn classes<T: PartialEq>(lanes: &[T]) -> Classes {
    lanes.iter().map(|v| lanes.iter().position(|w| w == v).unwrap_or(0)).collect()
}

/// Devices that are together in both.
fn meet(a: &Classes, b: &Classes) -> Classes {
    classes(&a.iter().zip(b).collect::<Vec<_>>())
}

/// The first device of each class.
fn leaders(classes: &Classes) -> impl Iterator<Item = usize> + '_ {
    classes.iter().enumerate().filter(|(device, class)| device == *class).map(|(device, _)| device)
}

/// A region that was written, with its parameters: of each value one for each class.
struct Written {
    params: Vec<(ValueId, Type)>,
    /// What each parameter is on each device.
    given: Vec<Lanes>,
    ops: Vec<Op>,
    results: Vec<Lanes>,
}

impl Lockstep<'_> {
    pub(super) fn while_loop(&mut self, op: &Op) -> Result<()> {
        let [condition, body] = op.regions.as_slice() else {
            return Err(self.ex.refused("other than two regions"));
        };
        let starts = self.of_all(&op.operands);
        let mut carried: Vec<Classes> = starts.iter().map(|lanes| classes(lanes)).collect();
        // Devices are together until a turn tells them apart.
        let (go_on, turn) = loop {
            let go_on = self.condition(condition, &carried)?;
            let turn = self.written(body, &carried)?;
            let [goes] = go_on.results.as_slice() else {
                return Err(self.ex.refused("a condition of other than one value"));
            };
            if turn.results.len() != carried.len() {
                return Err(self.ex.refused("a body that gives back another number of values"));
            }
            let apart = classes(goes);
            let next: Vec<Classes> = carried
                .iter()
                .zip(&turn.results)
                .map(|(classes_now, lanes)| meet(&meet(classes_now, &classes(lanes)), &apart))
                .collect();
            if next == carried {
                break (go_on, turn);
            }
            carried = next;
        };
        self.ex.at(op);
        let alone = leaders(&classes(&go_on.results[0])).count() > 1;
        let condition = match alone {
            false => self.closed(go_on.params, go_on.ops, vec![go_on.results[0][0]]),
            true => {
                // The loop goes on while it does on any device.
                let around = std::mem::replace(&mut self.ex.out, go_on.ops);
                let mut any = None;
                for device in leaders(&classes(&go_on.results[0])).collect::<Vec<_>>() {
                    let own = go_on.results[0][device];
                    any = Some(match any {
                        None => own,
                        Some(other) => self.ex.same("stablehlo.or", &[other, own])?,
                    });
                }
                let ops = std::mem::replace(&mut self.ex.out, around);
                self.closed(go_on.params, ops, any.into_iter().collect())
            }
        };
        let body = match alone {
            false => self.closed_classes(turn, &carried),
            true => self.kept_where_ended(op, turn, &carried)?,
        };
        let mut new = Op { span: op.span, location: op.location.clone(), ..Op::new("stablehlo.while") };
        new.attributes = op.attributes.clone();
        let mut results = Vec::new();
        for ((start, classes), result) in starts.iter().zip(&carried).zip(&op.results) {
            new.operands.extend(leaders(classes).map(|device| start[device]));
            let lanes = self.spread(*result, classes);
            new.results.extend(leaders(classes).map(|device| lanes[device]));
            results.push(lanes);
        }
        new.regions = vec![condition, body];
        self.ex.out.push(new);
        self.bind(op, results)
    }

    /// The body of a loop that ends earlier on some devices than on others: these keep their values.
    fn kept_where_ended(&mut self, op: &Op, turn: Written, carried: &[Classes]) -> Result<Region> {
        let around = std::mem::replace(&mut self.ex.out, turn.ops);
        let goes = self.body(&op.regions[0], turn.given.clone())?;
        let goes = match goes.as_slice() {
            [goes] => self.masked(goes.clone())?,
            _ => return Err(self.ex.refused("a condition of other than one value")),
        };
        self.ex.at(op);
        let mut operands = Vec::new();
        for ((now, next), classes) in turn.given.iter().zip(&turn.results).zip(carried) {
            for device in leaders(classes).collect::<Vec<_>>() {
                operands.push(self.ex.select(goes[device], next[device], now[device])?);
            }
        }
        let ops = std::mem::replace(&mut self.ex.out, around);
        Ok(self.closed(turn.params, ops, operands))
    }

    /// `stablehlo.if` and `stablehlo.case`
    pub(super) fn branch(&mut self, op: &Op) -> Result<()> {
        let &[index] = op.operands.as_slice() else { return Err(self.ex.refused("other than one operand")) };
        let index = self.of(index);
        if classes(&index).iter().any(|class| *class != 0) {
            return self.taken_alone(op, &index);
        }
        let mut branches = Vec::new();
        for region in &op.regions {
            branches.push(self.written(region, &[])?);
        }
        self.ex.at(op);
        let mut given: Vec<Classes> = vec![vec![0; self.devices]; op.results.len()];
        for branch in &branches {
            if branch.results.len() != given.len() {
                return Err(self.ex.refused("a branch that gives back another number of values"));
            }
            given.iter_mut().zip(&branch.results).for_each(|(all, own)| *all = meet(all, &classes(own)));
        }
        let mut new = Op { span: op.span, location: op.location.clone(), ..Op::new(op.name.clone()) };
        new.attributes = op.attributes.clone();
        new.operands = vec![index[0]].into();
        let mut results = Vec::new();
        for (result, classes) in op.results.iter().zip(&given) {
            let lanes = self.spread(*result, classes);
            new.results.extend(leaders(classes).map(|device| lanes[device]));
            results.push(lanes);
        }
        new.regions = branches.into_iter().map(|branch| self.closed_classes(branch, &given)).collect();
        self.ex.out.push(new);
        self.bind(op, results)
    }

    /// Devices take different branches: all are computed, and each device keeps what its own gives. Operations have no effects,
    /// and those that meet in a branch all take it.
    fn taken_alone(&mut self, op: &Op, index: &Lanes) -> Result<()> {
        let Some(others) = op.regions.len().checked_sub(1) else {
            return Err(self.ex.refused("no branches"));
        };
        // What does not name a branch takes the last one; `true` is the first of two.
        let mut takes: Vec<Lanes> = Vec::new();
        for number in 0..others {
            takes.push(match op.name == "stablehlo.if" {
                true => index.clone(),
                false => {
                    let keys: Vec<_> = index.iter().map(|v| vec![*v]).collect();
                    self.each(&keys, |this, device| this.equals(index[device], number))?
                }
            });
        }
        let mut branches = Vec::new();
        for (number, region) in op.regions.iter().enumerate() {
            let around = self.active.clone();
            if others > 0 && self.loops(op) {
                self.active = Some(self.taking(&takes, number)?);
            }
            let branch = self.body(region, Vec::new());
            self.active = around;
            branches.push(branch?);
            self.ex.at(op);
        }
        let Some((last, first)) = branches.split_last() else { return Err(self.ex.refused("no branches")) };
        let mut results = Vec::new();
        for i in 0..op.results.len() {
            let of = |branch: &Vec<Lanes>, this: &Self| {
                branch
                    .get(i)
                    .cloned()
                    .ok_or_else(|| this.ex.refused("a branch that gives back too few values"))
            };
            let mut lanes = of(last, self)?;
            for (branch, takes) in first.iter().zip(&takes).rev() {
                let own = of(branch, self)?;
                let keys: Vec<_> = (0..self.devices).map(|d| vec![takes[d], own[d], lanes[d]]).collect();
                lanes = self.each(&keys, |this, d| match own[d] == lanes[d] {
                    true => Ok(own[d]),
                    false => this.ex.select(takes[d], own[d], lanes[d]),
                })?;
            }
            results.push(lanes);
        }
        self.bind(op, results)
    }

    /// The devices that take a branch, where these take the first ones: those of them that take the branch around as well.
    fn taking(&mut self, first: &[Lanes], number: usize) -> Result<Lanes> {
        let lanes = match first.get(number) {
            Some(own) => own.clone(),
            None => {
                let keys: Vec<Vec<ValueId>> =
                    (0..self.devices).map(|d| first.iter().map(|lanes| lanes[d]).collect()).collect();
                self.each(&keys, |this, device| {
                    let mut rest = keys[device].iter();
                    let mut any = *rest.next().ok_or_else(|| this.ex.refused("a single branch"))?;
                    for other in rest {
                        any = this.ex.same("stablehlo.or", &[any, *other])?;
                    }
                    this.ex.same("stablehlo.not", &[any])
                })?
            }
        };
        self.masked(lanes)
    }

    /// The conditions of the devices that are active; false on the others.
    fn masked(&mut self, conditions: Lanes) -> Result<Lanes> {
        let Some(active) = self.active.clone() else { return Ok(conditions) };
        let keys: Vec<Vec<ValueId>> = conditions.iter().zip(active).map(|(c, a)| vec![*c, a]).collect();
        self.each(&keys, |this, device| this.ex.same("stablehlo.and", &keys[device]))
    }

    /// Writes the condition of a loop, which holds on no device that is not active.
    fn condition(&mut self, region: &Region, carried: &[Classes]) -> Result<Written> {
        let mut written = self.written(region, carried)?;
        if let [goes] = written.results.as_mut_slice() {
            let around = std::mem::replace(&mut self.ex.out, written.ops);
            let masked = self.masked(std::mem::take(goes));
            written.ops = std::mem::replace(&mut self.ex.out, around);
            *goes = masked?;
        }
        Ok(written)
    }

    /// `value == number`, of a scalar integer.
    fn equals(&mut self, value: ValueId, number: usize) -> Result<ValueId> {
        let element = self.ex.tensor(value)?.element;
        let number = self.ex.constant(&element, super::super::Numbers::Ints(&[number as i64]), false)?;
        let ty = TensorType::new(&[], crate::ElementType::I1);
        let equal = Attribute::enumeration("comparison_direction", "EQ");
        let attributes = vec![("comparison_direction", equal)];
        self.ex.emit("stablehlo.compare", &[value, number], ty, attributes)
    }

    /// Writes a region with one parameter for each class of each value.
    fn written(&mut self, region: &Region, carried: &[Classes]) -> Result<Written> {
        if region.params.len() != carried.len() {
            return Err(self.ex.refused("a region with another number of parameters"));
        }
        let (mut params, mut given) = (Vec::new(), Vec::new());
        for ((param, ty), classes) in region.params.iter().zip(carried) {
            let lanes = self.spread(*param, classes);
            params.extend(leaders(classes).map(|device| (lanes[device], ty.clone())));
            given.push(lanes);
        }
        let around = std::mem::take(&mut self.ex.out);
        let results = self.body(region, given.clone());
        let ops = std::mem::replace(&mut self.ex.out, around);
        Ok(Written { params, given, ops, results: results? })
    }

    /// New values like an old one, one for each class.
    fn spread(&mut self, like: ValueId, classes: &Classes) -> Lanes {
        let mut lanes: Lanes = Vec::new();
        for (device, class) in classes.iter().enumerate() {
            let value = if *class == device { self.fresh(like) } else { lanes[*class] };
            lanes.push(value);
        }
        lanes
    }

    fn closed(&self, params: Vec<(ValueId, Type)>, mut ops: Vec<Op>, operands: Vec<ValueId>) -> Region {
        let (span, location) = (self.ex.span, self.ex.location.clone());
        ops.push(Op { operands: operands.into(), span, location, ..Op::new("stablehlo.return") });
        Region { params, ops }
    }

    fn closed_classes(&self, written: Written, given: &[Classes]) -> Region {
        let back = written.results.iter().zip(given);
        let operands =
            back.flat_map(|(lanes, classes)| leaders(classes).map(|device| lanes[device])).collect();
        self.closed(written.params, written.ops, operands)
    }
}
