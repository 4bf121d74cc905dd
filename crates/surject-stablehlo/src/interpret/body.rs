//! Regions that take and give single elements: those of reductions, windows, scatters, sorts and maps. Where all their
//! operations are elementwise they are a list of functions on registers; others run as any region.

use std::collections::HashMap;
use std::rc::Rc;

use super::error::{Error, Result};
use super::machine::{Frame, Machine};
use super::number::Scalar;
use super::scalar::kernel::{Function, Kernel, kernel};
use super::value::{Tensor, Value};
use crate::attr::Attribute;
use crate::module::{Module, Op, Region, ValueId};
use crate::types::{ElementType, Type};

/// A region as functions on registers: arguments first, then what it takes from outside, then constants and results.
#[derive(Debug)]
pub(crate) struct Program {
    params: usize,
    captured: Vec<ValueId>,
    constants: Vec<(usize, Scalar)>,
    steps: Vec<Step>,
    outputs: Vec<usize>,
    registers: usize,
}

#[derive(Debug)]
struct Step {
    kernel: Kernel,
    args: [usize; 3],
    arity: usize,
    target: usize,
}

/// The element type of a value that is a single element.
fn scalar_type(module: &Module, value: ValueId) -> Option<ElementType> {
    match module.ty(value) {
        Type::Tensor(ty) if ty.rank() == 0 && ty.element.quantized().is_none() => Some(ty.element.clone()),
        _ => None,
    }
}

impl Program {
    /// The region as a program; none where it does more than that.
    pub(crate) fn of(module: &Module, region: &Region) -> Option<Program> {
        let mut slots: HashMap<ValueId, usize> = HashMap::new();
        for (i, (value, _)) in region.params.iter().enumerate() {
            scalar_type(module, *value)?;
            slots.insert(*value, i);
        }
        let params = region.params.len();
        let mut inside: Vec<ValueId> = region.params.iter().map(|p| p.0).collect();
        inside.extend(region.ops.iter().flat_map(|op| op.results.iter().copied()));
        let mut captured = Vec::new();
        for value in region.ops.iter().flat_map(|op| &op.operands) {
            if !inside.contains(value) && !captured.contains(value) {
                scalar_type(module, *value)?;
                slots.insert(*value, params + captured.len());
                captured.push(*value);
            }
        }
        let mut registers = params + captured.len();
        let (mut constants, mut steps) = (Vec::new(), Vec::new());
        let (last, ops) = region.ops.split_last()?;
        for op in ops {
            let [result] = op.results.as_slice() else { return None };
            let element = scalar_type(module, *result)?;
            if !op.regions.is_empty() {
                return None;
            }
            let args: Vec<usize> = op.operands.iter().map(|v| slots.get(v).copied()).collect::<Option<_>>()?;
            let constant = match &*op.name {
                "stablehlo.constant" | "chlo.constant" => match op.attributes.get("value") {
                    Some(Attribute::Dense(dense)) => Some(Tensor::from_dense(dense)?.scalars().ok()?),
                    _ => return None,
                },
                "stablehlo.broadcast_in_dim" | "stablehlo.reshape" | "stablehlo.optimization_barrier" => {
                    let [one] = args.as_slice() else { return None };
                    slots.insert(*result, *one);
                    continue;
                }
                _ => None,
            };
            let target = registers;
            registers += 1;
            slots.insert(*result, target);
            if let Some(constant) = constant {
                constants.push((target, *constant.first()?));
                continue;
            }
            let types: Vec<ElementType> =
                op.operands.iter().map(|v| scalar_type(module, *v)).collect::<Option<_>>()?;
            let kernel = kernel(elementwise_name(op)?, op, &types, &element).ok()??;
            let mut row = [0; 3];
            row.get_mut(..args.len())?.copy_from_slice(&args);
            steps.push(Step { kernel, args: row, arity: args.len(), target });
        }
        if !matches!(&*last.name, "stablehlo.return" | "func.return") {
            return None;
        }
        let outputs = last.operands.iter().map(|v| slots.get(v).copied()).collect::<Option<_>>()?;
        Some(Program { params, captured, constants, steps, outputs, registers })
    }
}

/// The name of the function of single elements that an operation may be.
pub(crate) fn elementwise_name(op: &Op) -> Option<&str> {
    match op.name.split_once('.')? {
        ("stablehlo", short) => Some(short),
        ("chlo", short) => Some(short.strip_prefix("broadcast_").unwrap_or(short)),
        _ => None,
    }
}

/// A region ready to be called with elements.
pub(crate) struct Body<'m> {
    region: &'m Region,
    program: Option<Rc<Program>>,
    registers: Vec<Scalar>,
    results: Vec<Scalar>,
    /// Element types of arguments.
    pub(crate) params: Vec<ElementType>,
}

impl<'m> Body<'m> {
    pub(crate) fn new(machine: &mut Machine<'m>, frame: &Frame, region: &'m Region) -> Result<Body<'m>> {
        let program = machine.program(region);
        let mut registers = Vec::new();
        if let Some(program) = &program {
            registers = vec![Scalar::I(0); program.registers];
            for (slot, value) in program.constants.iter() {
                registers[*slot] = *value;
            }
            for (i, value) in program.captured.iter().enumerate() {
                let tensor = frame.tensor(*value)?;
                registers[program.params + i] = tensor.elements()?.at(0);
            }
        }
        let params = region
            .params
            .iter()
            .map(|(_, ty)| match ty {
                Type::Tensor(ty) => Ok(ty.element.clone()),
                other => Err(Error::invalid(format!("a region with an argument of type {other}"))),
            })
            .collect::<Result<_>>()?;
        Ok(Body { region, program, registers, results: Vec::new(), params })
    }

    /// What the region gives for elements of its arguments.
    pub(crate) fn call(
        &mut self,
        machine: &mut Machine<'m>,
        frame: &mut Frame,
        args: &[Scalar],
    ) -> Result<&[Scalar]> {
        if args.len() != self.params.len() {
            return Err(Error::invalid(format!(
                "a region of {} arguments is called with {}",
                self.params.len(),
                args.len()
            )));
        }
        match &self.program {
            Some(program) => {
                machine.step(1)?;
                self.registers[..args.len()].copy_from_slice(args);
                for step in &program.steps {
                    let mut row = [Scalar::I(0); 3];
                    for (to, from) in row.iter_mut().zip(&step.args[..step.arity]) {
                        *to = self.registers[*from];
                    }
                    self.registers[step.target] = step.kernel.apply(&row[..step.arity]);
                }
                self.results.clear();
                self.results.extend(program.outputs.iter().map(|slot| self.registers[*slot]));
            }
            None => {
                let mut values = Vec::with_capacity(args.len());
                for (element, arg) in self.params.iter().zip(args) {
                    values.push(Value::Tensor(Tensor::scalar(element, *arg)?));
                }
                let results = machine.block(frame, self.region, values)?;
                self.results.clear();
                for result in results {
                    match result {
                        Value::Tensor(tensor) if tensor.len() == 1 => {
                            self.results.push(tensor.elements()?.at(0));
                        }
                        other => {
                            return Err(Error::invalid(format!("a region that gives {}", other.describe())));
                        }
                    }
                }
            }
        }
        Ok(&self.results)
    }

    /// The function of two floats that the region is, if it is one, such as a sum.
    pub(crate) fn float_function(&self) -> Option<fn(f64, f64) -> f64> {
        match self.only()?.function {
            Function::F2(f) => Some(f),
            _ => None,
        }
    }

    /// Whether the region gives its second argument.
    pub(crate) fn replaces(&self) -> bool {
        self.program.as_ref().is_some_and(|p| p.params == 2 && p.outputs == [1])
    }

    /// The one function of both arguments in order.
    fn only(&self) -> Option<&Kernel> {
        let program = self.program.as_deref()?;
        let [step] = program.steps.as_slice() else { return None };
        let plain = program.params == 2 && step.arity == 2 && step.args[..2] == [0, 1];
        (plain && program.outputs == [step.target]).then_some(&step.kernel)
    }
}
