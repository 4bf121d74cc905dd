//! `--backend spec`: StableHLO on the interpreter of its own crate, as the specification says.

use crate::progress::stage;
use crate::{Failure, Source};
use std::path::{Path, PathBuf};
use surject_ir::{Buffer, DType};
use surject_runtime::npy;
use surject_stablehlo::interpret::{Error, ErrorKind, Interpreter, Tensor, Value};
use surject_stablehlo::{ElementType, Function, Module, Op, Type};

/// What runs: a module, and which of its functions.
pub(super) struct Prepared {
    module: Module,
    function: String,
    args: Vec<Value>,
}

/// Reads a program and its inputs.
pub(super) fn prepare(
    source: &Source,
    function: Option<&str>,
    inputs: &[PathBuf],
) -> Result<Prepared, Failure> {
    let Some(mut module) = source.stablehlo()? else {
        return Err(Failure::bad_input(format!(
            "{}: only StableHLO runs on the back end `spec`\n  = help: `--backend interp` runs programs of every form",
            source.name
        )));
    };
    if surject_stablehlo::has_shards(&module) {
        let expanded = surject_stablehlo::expand_devices(&module);
        let expanded = expanded.map_err(|d| Failure::unsupported(d.render(&source.name, &source.bytes)))?;
        module = expanded.into_owned();
    }
    let entry = match function {
        Some(name) => module.function(name),
        None => module.entry(),
    };
    let Some(entry) = entry else {
        let wanted = function.map_or("any function".into(), |name| format!("the function `{name}`"));
        return Err(Failure::bad_input(format!("{} does not have {wanted}", source.name)));
    };
    if entry.params.len() != inputs.len() {
        let types: Vec<String> = entry.params.iter().map(|p| p.ty.to_string()).collect();
        return Err(Failure::bad_input(format!(
            "`{}` takes {} inputs ({}), {} given\n  = help: give each with `-i FILE.npy`, in this order",
            entry.name,
            types.len(),
            types.join(", "),
            inputs.len()
        )));
    }
    let mut args = Vec::new();
    for (path, param) in inputs.iter().zip(&entry.params) {
        args.push(Value::Tensor(load(path, &param.ty)?));
    }
    let function = entry.name.clone();
    Ok(Prepared { module, function, args })
}

/// Runs a program; its results, those of tuples one after the other, without tokens.
pub(super) fn run(source: &Source, prepared: &Prepared) -> Result<Vec<Buffer>, Failure> {
    let interpreter = Interpreter::new(&prepared.module);
    let run = || interpreter.run(&prepared.function, prepared.args.clone());
    let (outcome, _) = stage("running", run);
    let outcome = outcome.map_err(|error| failure(source, &error))?;
    let mut out = Vec::new();
    for value in &outcome.results {
        flatten(value, &mut out)?;
    }
    Ok(out)
}

fn failure(source: &Source, error: &Error) -> Failure {
    let message = error.diagnostic().render(&source.name, &source.bytes);
    match error.kind() {
        ErrorKind::Unsupported => Failure::unsupported(message),
        ErrorKind::Check => Failure::difference(message),
        _ => Failure::bad_input(message),
    }
}

/// The input of a file. Elements that files do not have are given by their bits as `uint8`, or by their values: as `int8`,
/// `float32` or `float64`.
fn load(path: &Path, ty: &Type) -> Result<Tensor, Failure> {
    let buffer = npy::read(path).map_err(Failure::bad_input)?;
    let wrong = |found: &str| {
        Failure::bad_input(format!("{}: the input is {ty}, the file holds {found}", path.display()))
    };
    let wanted = match ty {
        Type::Tensor(tensor) => &tensor.element,
        Type::Scalar(element) => element,
        _ => return Err(wrong("an array")),
    };
    let given = surject_lift::element(buffer.dtype());
    let shape = buffer.shape().to_vec();
    let plain = Tensor::new(given.clone(), &shape, buffer.bytes().to_vec());
    let plain = plain.ok_or_else(|| wrong("something else"))?;
    let tensor = match &given {
        _ if given == *wanted => Some(plain.clone()),
        ElementType::F32 | ElementType::F64 if wanted.is_float() => {
            plain.to_f64s().and_then(|values| Tensor::from_f64s(wanted.clone(), &shape, &values))
        }
        ElementType::I8 | ElementType::U8 if wanted.is_integer() && wanted.bits().is_some_and(|b| b < 8) => {
            plain.to_i64s().and_then(|values| Tensor::from_i64s(wanted.clone(), &shape, &values))
        }
        ElementType::I8 | ElementType::U8 if wanted.bits().is_none_or(|bits| bits <= 8) => {
            Tensor::new(wanted.clone(), &shape, plain.bytes().to_vec())
        }
        _ if *wanted == ElementType::Index && given == ElementType::I64 => {
            Tensor::new(ElementType::Index, &shape, plain.bytes().to_vec())
        }
        _ => None,
    };
    tensor.ok_or_else(|| wrong(&plain.ty().to_string()))
}

/// The tensors of a value as buffers; elements that buffers do not have as wider ones of the same value, quantized ones as
/// what is stored.
fn flatten(value: &Value, out: &mut Vec<Buffer>) -> Result<(), Failure> {
    match value {
        Value::Tensor(tensor) => {
            let buffer = buffer(tensor);
            out.push(buffer.ok_or_else(|| Failure::unsupported(format!("results of type {}", tensor.ty())))?);
        }
        Value::Tuple(parts) | Value::Future(parts) => {
            for part in parts {
                flatten(part, out)?;
            }
        }
        Value::Token => {}
    }
    Ok(())
}

fn buffer(tensor: &Tensor) -> Option<Buffer> {
    let own = DType::ALL.into_iter().find(|dtype| surject_lift::element(*dtype) == *tensor.element());
    if let Some(dtype) = own {
        return Buffer::from_bytes(dtype, tensor.shape(), tensor.bytes());
    }
    if tensor.element().is_float() {
        let values = tensor.to_f64s()?;
        let bytes: Vec<u8> = values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
        return Buffer::from_bytes(DType::F32, tensor.shape(), &bytes);
    }
    let values = tensor.to_i64s()?;
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Buffer::from_bytes(DType::I64, tensor.shape(), &bytes)
}

/// The functions of a module that check themselves, each with what its run came to.
pub(super) fn checks(source: &Source, module: &Module) -> Vec<(String, Result<(), Failure>)> {
    let run = |function: &Function| Interpreter::new(module).run(&function.name, Vec::new());
    let functions = module.functions.iter().filter(|f| checks_itself(f));
    functions.map(|f| (f.name.clone(), run(f).map(drop).map_err(|e| failure(source, &e)))).collect()
}

/// Whether a function without parameters holds a check.
fn checks_itself(function: &Function) -> bool {
    fn holds(op: &Op) -> bool {
        let target = op.string("call_target_name").unwrap_or_default();
        op.name.starts_with("check.")
            || target.starts_with("check.")
            || op.regions.iter().flat_map(|r| &r.ops).any(holds)
    }
    function.params.is_empty() && function.body.ops.iter().any(holds)
}
