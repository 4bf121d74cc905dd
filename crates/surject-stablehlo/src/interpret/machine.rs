//! One process at work: functions, regions, control flow, and which code does which operation.

use std::collections::HashMap;
use std::rc::Rc;

use super::body::Program;
use super::error::{Error, ErrorKind, Result};
use super::value::{Tensor, Value, count};
use super::world::Process;
use super::{Interpreter, elementwise};
use crate::module::{Function, Module, Op, Region, ValueId};
use crate::types::{ElementType, TensorType, Type};
use rustc_hash::FxBuildHasher;

/// The values of a call of a function. Those that nothing reads any more are gone.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    values: HashMap<ValueId, Value>,
}

impl Frame {
    pub(crate) fn get(&self, value: ValueId) -> Result<&Value> {
        self.values
            .get(&value)
            .ok_or_else(|| Error::invalid(format!("value number {} has no value", value.0)))
    }

    pub(crate) fn tensor(&self, value: ValueId) -> Result<&Tensor> {
        match self.get(value)? {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(Error::invalid(format!("a tensor is wanted where there is {}", other.describe()))),
        }
    }

    pub(crate) fn set(&mut self, value: ValueId, to: Value) {
        self.values.insert(value, to);
    }
}

/// Which values a region reads last at each of its operations; those that it never reads stand at their operation, or
/// first where they are arguments.
#[derive(Debug)]
struct Deaths {
    arguments: Vec<ValueId>,
    at: Vec<Vec<ValueId>>,
}

/// A process that runs.
pub(crate) struct Machine<'m> {
    pub(crate) module: &'m Module,
    pub(crate) interpreter: &'m Interpreter<'m>,
    pub(crate) process: Process<'m>,
    functions: HashMap<&'m str, &'m Function, FxBuildHasher>,
    programs: HashMap<*const Region, Option<Rc<Program>>>,
    deaths: HashMap<*const Region, Rc<Deaths>>,
    steps: u64,
    pub(crate) depth: usize,
    /// Words of `stablehlo.rng` that were used.
    pub(crate) random: u64,
}

impl<'m> Machine<'m> {
    pub(crate) fn new(interpreter: &'m Interpreter<'m>, process: Process<'m>, depth: usize) -> Machine<'m> {
        let module = interpreter.module;
        let functions = module.functions.iter().map(|f| (f.name.as_str(), f)).collect();
        Machine {
            module,
            interpreter,
            process,
            functions,
            programs: HashMap::new(),
            deaths: HashMap::new(),
            steps: 0,
            depth,
            random: 0,
        }
    }

    /// Counts work.
    pub(crate) fn step(&mut self, n: u64) -> Result<()> {
        self.steps = self.steps.saturating_add(n);
        if self.steps > self.interpreter.limits.steps {
            let message = format!("more than {} steps", self.interpreter.limits.steps);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(())
    }

    pub(crate) fn function(&self, name: &str) -> Result<&'m Function> {
        let function = self.functions.get(name).copied();
        function.ok_or_else(|| Error::invalid(format!("there is no function '@{name}'")))
    }

    /// Calls a function.
    pub(crate) fn call(&mut self, function: &'m Function, args: Vec<Value>) -> Result<Vec<Value>> {
        if function.is_declaration() {
            return Err(Error::unsupported(format!("'@{}' has no body", function.name)));
        }
        let mut frame = Frame::default();
        let results = self.block(&mut frame, &function.body, args)?;
        let declared = function.results.iter().map(|r| &r.ty);
        self.agree(&results, declared, "result")?;
        Ok(results)
    }

    fn agree<'t>(
        &self,
        values: &[Value],
        types: impl ExactSizeIterator<Item = &'t Type>,
        what: &str,
    ) -> Result<()> {
        if values.len() != types.len() {
            return Err(Error::invalid(format!("{} {what}s where {} are wanted", values.len(), types.len())));
        }
        for (i, (value, ty)) in values.iter().zip(types).enumerate() {
            if !value.fits(ty) {
                return Err(Error::invalid(format!("{what} {i} is {}, not {ty}", value.describe())));
            }
        }
        Ok(())
    }

    /// Runs a region with arguments; what it returns.
    pub(crate) fn block(
        &mut self,
        frame: &mut Frame,
        region: &'m Region,
        args: Vec<Value>,
    ) -> Result<Vec<Value>> {
        self.depth += 1;
        if self.depth > self.interpreter.limits.depth {
            let message =
                format!("more than {} calls and regions inside each other", self.interpreter.limits.depth);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let result = self.block_inside(frame, region, args);
        self.depth -= 1;
        result
    }

    fn block_inside(
        &mut self,
        frame: &mut Frame,
        region: &'m Region,
        args: Vec<Value>,
    ) -> Result<Vec<Value>> {
        // Blocks without operations take time too.
        self.step(1)?;
        self.agree(&args, region.params.iter().map(|p| &p.1), "argument")?;
        let deaths = self.deaths(region);
        for ((value, _), arg) in region.params.iter().zip(args) {
            frame.set(*value, arg);
        }
        for value in &deaths.arguments {
            frame.values.remove(value);
        }
        for (op, dead) in region.ops.iter().zip(&deaths.at) {
            let ends = matches!(&*op.name, "stablehlo.return" | "func.return" | "sdy.return");
            let args = op.operands.iter().map(|v| frame.get(*v).cloned()).collect::<Result<Vec<Value>>>();
            let args = args.map_err(|e| e.at(op))?;
            // Operands that die here belong to the operation alone, unless its regions read them.
            let early = op.regions.is_empty();
            if early {
                dead.iter().for_each(|v| drop(frame.values.remove(v)));
            }
            if ends {
                return Ok(args);
            }
            self.op(frame, op, args).map_err(|e| e.at(op))?;
            dead.iter().for_each(|v| drop(frame.values.remove(v)));
        }
        Err(Error::invalid("a region without 'return'"))
    }

    fn deaths(&mut self, region: &'m Region) -> Rc<Deaths> {
        let key: *const Region = region;
        if let Some(deaths) = self.deaths.get(&key) {
            return deaths.clone();
        }
        // Where each value that the region defines is read last.
        let mut last: HashMap<ValueId, Option<usize>> = HashMap::new();
        last.extend(region.params.iter().map(|p| (p.0, None)));
        for (i, op) in region.ops.iter().enumerate() {
            mark_uses(op, i, &mut last);
            last.extend(op.results.iter().map(|v| (*v, Some(i))));
        }
        let mut deaths = Deaths { arguments: Vec::new(), at: vec![Vec::new(); region.ops.len()] };
        for (value, at) in last {
            match at {
                None => deaths.arguments.push(value),
                Some(i) => deaths.at[i].push(value),
            }
        }
        let deaths = Rc::new(deaths);
        self.deaths.insert(key, deaths.clone());
        deaths
    }

    /// The region as a program on elements, if it is one.
    pub(crate) fn program(&mut self, region: &'m Region) -> Option<Rc<Program>> {
        let module = self.module;
        let key: *const Region = region;
        self.programs.entry(key).or_insert_with(|| Program::of(module, region).map(Rc::new)).clone()
    }

    fn op(&mut self, frame: &mut Frame, op: &'m Op, args: Vec<Value>) -> Result<()> {
        let mut work = 1;
        for value in &op.results {
            // What is known of a result's size is asked for before it is made.
            if let Some(ty) = self.module.tensor(*value)
                && let Some(shape) = ty.static_shape()
            {
                let shape: Vec<usize> = shape.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
                work += count(&shape, &ty.element)? as u64;
            }
        }
        self.step(work)?;
        let results = {
            let mut call = Call { machine: self, frame, op, args, shapes: Vec::new(), expressed: false };
            call.run()?
        };
        let types = op.results.iter().map(|v| self.module.ty(*v));
        self.agree(&results, types, "result")?;
        for (value, result) in op.results.iter().zip(results) {
            frame.set(*value, result);
        }
        Ok(())
    }
}

fn mark_uses(op: &Op, i: usize, last: &mut HashMap<ValueId, Option<usize>>) {
    for value in &op.operands {
        if let Some(at) = last.get_mut(value) {
            *at = Some(i);
        }
    }
    for inner in op.regions.iter().flat_map(|region| &region.ops) {
        mark_uses(inner, i, last);
    }
}

/// An operation that runs, with its operands.
pub(crate) struct Call<'a, 'm> {
    pub(crate) machine: &'a mut Machine<'m>,
    pub(crate) frame: &'a mut Frame,
    pub(crate) op: &'m Op,
    pub(crate) args: Vec<Value>,
    /// Shapes of results that operands say.
    pub(crate) shapes: Vec<Vec<usize>>,
    /// Whether results are to be what quantized types express.
    pub(crate) expressed: bool,
}

/// The values that an operation gives.
pub(crate) type Values = Result<Vec<Value>>;

/// One result.
pub(crate) fn one(tensor: Tensor) -> Values {
    Ok(vec![Value::Tensor(tensor)])
}

impl<'m> Call<'_, 'm> {
    /// An operand that is a tensor.
    pub(crate) fn tensor(&self, i: usize) -> Result<&Tensor> {
        match self.args.get(i) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            Some(other) => Err(Error::invalid(format!("operand {i} is {}, not a tensor", other.describe()))),
            None => Err(Error::invalid(format!("operand {i} is missing"))),
        }
    }

    /// An operand that is a tensor, taken out.
    pub(crate) fn take(&mut self, i: usize) -> Result<Tensor> {
        self.tensor(i)?;
        match std::mem::replace(&mut self.args[i], Value::Token) {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::invalid(format!("operand {i} is missing"))),
        }
    }

    /// Operands that are tensors.
    pub(crate) fn tensors(&self, range: std::ops::Range<usize>) -> Result<Vec<Tensor>> {
        range.map(|i| self.tensor(i).cloned()).collect()
    }

    /// Declared type of a result.
    pub(crate) fn result_type(&self, i: usize) -> Result<&'m TensorType> {
        let value = self.op.results.get(i).ok_or_else(|| Error::invalid(format!("result {i} is missing")))?;
        match self.machine.module.ty(*value) {
            Type::Tensor(ty) => Ok(ty),
            other => Err(Error::invalid(format!("result {i} has type {other}, not that of a tensor"))),
        }
    }

    /// Declared element type of a result.
    pub(crate) fn result_element(&self, i: usize) -> Result<&'m ElementType> {
        let value = self.op.results.get(i).ok_or_else(|| Error::invalid(format!("result {i} is missing")))?;
        match self.machine.module.ty(*value) {
            Type::Tensor(ty) => match ty.element.quantized() {
                Some(quantized) if self.expressed => Ok(&quantized.expressed),
                _ => Ok(&ty.element),
            },
            Type::Scalar(element) => Ok(element),
            other => Err(Error::invalid(format!("result {i} has type {other}, not that of a tensor"))),
        }
    }

    /// Declared shape of a result, where it is static; else the one that an operand says.
    pub(crate) fn result_shape(&self, i: usize) -> Result<Vec<usize>> {
        if let Some(shape) = self.shapes.get(i) {
            return Ok(shape.clone());
        }
        let ty = self.result_type(i)?;
        let shape = ty.static_shape().map(|shape| shape.iter().map(|n| usize::try_from(*n).ok()).collect());
        match shape.flatten() {
            Some(shape) => Ok(shape),
            None => {
                Err(Error::invalid(format!("a result of the dynamic type {ty}, whose size nothing says")))
            }
        }
    }

    pub(crate) fn region(&self, i: usize) -> Result<&'m Region> {
        self.op.regions.get(i).ok_or_else(|| Error::invalid(format!("region {i} is missing")))
    }

    /// Runs a region of the operation.
    pub(crate) fn block(&mut self, i: usize, args: Vec<Value>) -> Values {
        let region = self.region(i)?;
        self.machine.block(self.frame, region, args)
    }

    fn run(&mut self) -> Values {
        let (dialect, short) = self.op.name.split_once('.').unwrap_or(("", &self.op.name));
        match dialect {
            "stablehlo" | "mhlo" => self.stablehlo(short),
            "chlo" => self.chlo(short),
            "func" if short == "call" => {
                let function = self.machine.function(self.op.callee()?)?;
                let args = std::mem::take(&mut self.args);
                self.machine.call(function, args)
            }
            "check" => self.check(short),
            "interpreter" => self.interpreter(short),
            "sdy" => self.shardy(short),
            "arith" | "shape" | "tensor" | "builtin" => self.foreign(),
            _ => Err(Error::unsupported("no such operation here")),
        }
    }

    pub(crate) fn stablehlo(&mut self, short: &str) -> Values {
        if !self.expressed && self.meets_quantized(short) {
            return self.quantized(short);
        }
        match short {
            "constant" => self.constant(),
            "iota" => self.iota(),
            "broadcast_in_dim" => self.broadcast_in_dim(),
            "broadcast" => self.broadcast(),
            "reshape" => self.reshape(),
            "transpose" => self.transpose(),
            "reverse" => self.reverse(),
            "slice" => self.slice(),
            "pad" => self.pad(),
            "concatenate" => self.concatenate(),
            "bitcast_convert" => self.bitcast_convert(),
            "dynamic_slice" => self.dynamic_slice(),
            "dynamic_update_slice" => self.dynamic_update_slice(),
            "gather" => self.gather(),
            "dynamic_gather" => self.dynamic_gather(),
            "scatter" => self.scatter(),
            "torch_index_select" => self.torch_index_select(),
            "dot_general" => self.dot_general(),
            "dot" => self.dot(),
            "einsum" => self.einsum(),
            "unary_einsum" => self.unary_einsum(),
            "convolution" => self.convolution(),
            "dynamic_conv" => self.dynamic_conv(),
            "reduce" => self.reduce(),
            "reduce_window" => self.reduce_window(),
            "select_and_scatter" => self.select_and_scatter(),
            "map" => self.map(),
            "sort" => self.sort(),
            "fft" => self.fft(),
            "cholesky" => self.cholesky(),
            "triangular_solve" => self.triangular_solve(),
            "rng" => self.rng(),
            "rng_bit_generator" => self.rng_bit_generator(),
            "batch_norm_inference" => self.batch_norm_inference(),
            "batch_norm_training" => self.batch_norm_training(),
            "batch_norm_grad" => self.batch_norm_grad(),
            "if" => self.branch_if(),
            "case" => self.branch_case(),
            "while" => self.repeat(),
            "optimization_barrier" => Ok(std::mem::take(&mut self.args)),
            "after_all" | "create_token" => Ok(vec![Value::Token]),
            "tuple" => Ok(vec![Value::Tuple(std::mem::take(&mut self.args))]),
            "get_tuple_element" => self.tuple_element(),
            "composite" => {
                let function = self.machine.function(self.op.symbol("decomposition")?)?;
                let args = std::mem::take(&mut self.args);
                self.machine.call(function, args)
            }
            "custom_call" => self.custom_call(),
            "get_dimension_size" => self.get_dimension_size(),
            "set_dimension_size" => self.set_dimension_size(),
            "dynamic_broadcast_in_dim" => self.dynamic_broadcast_in_dim(),
            "dynamic_iota" => self.dynamic_iota(),
            "dynamic_reshape" => self.dynamic_reshape(),
            "dynamic_pad" => self.dynamic_pad(),
            "real_dynamic_slice" => self.real_dynamic_slice(),
            "uniform_quantize" => self.uniform_quantize(),
            "uniform_dequantize" => self.uniform_dequantize(),
            "all_gather"
            | "all_reduce"
            | "reduce_scatter"
            | "all_to_all"
            | "collective_broadcast"
            | "collective_permute"
            | "collective_reduce"
            | "cross-replica-sum"
            | "replica_id"
            | "partition_id" => self.collective(short),
            "infeed" | "outfeed" | "send" | "recv" => self.stream(short),
            "async_start" => {
                let args = std::mem::take(&mut self.args);
                Ok(vec![Value::Future(self.block(0, args)?)])
            }
            "async_done" => match self.args.pop() {
                Some(Value::Future(values)) => Ok(values),
                _ => Err(Error::invalid("its operand is no future")),
            },
            _ => self.elementwise(short),
        }
    }

    fn elementwise(&mut self, short: &str) -> Values {
        match elementwise::apply(self, short)? {
            Some(tensor) => one(tensor),
            None => {
                let types: Vec<String> = self.args.iter().map(Value::describe).collect();
                Err(Error::unsupported(format!("no such operation on ({})", types.join(", "))))
            }
        }
    }

    pub(crate) fn elementwise_or_unknown(&mut self, short: &str) -> Values {
        self.elementwise(short)
    }

    fn branch_if(&mut self) -> Values {
        let then = self.tensor(0)?.int()? != 0;
        self.block(usize::from(!then), Vec::new())
    }

    /// An index that no branch has means the last one.
    fn branch_case(&mut self) -> Values {
        let branches = self.op.regions.len();
        let index = self.tensor(0)?.int()?;
        let index = usize::try_from(index).ok().filter(|i| *i < branches);
        self.block(index.unwrap_or(branches.saturating_sub(1)), Vec::new())
    }

    fn repeat(&mut self) -> Values {
        let mut state = std::mem::take(&mut self.args);
        loop {
            let goes_on = self.block(0, state.clone())?;
            match goes_on.as_slice() {
                [Value::Tensor(tensor)] if tensor.int()? == 0 => return Ok(state),
                [Value::Tensor(_)] => {}
                _ => return Err(Error::invalid("a condition that is no truth value")),
            }
            drop(goes_on);
            state = self.block(1, state)?;
        }
    }

    fn tuple_element(&mut self) -> Values {
        let index = usize::try_from(self.op.int("index")?).unwrap_or(usize::MAX);
        match self.args.pop() {
            Some(Value::Tuple(mut parts)) if index < parts.len() => Ok(vec![parts.swap_remove(index)]),
            Some(other) => Err(Error::invalid(format!("no element {index} in {}", other.describe()))),
            None => Err(Error::invalid("its operand is missing")),
        }
    }
}
