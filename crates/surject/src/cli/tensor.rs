//! What `surject run` gives to a tensor program: inputs from files, positions of static indices, and state, which starts
//! as the program says.

use super::run::load;
use crate::Failure;
use crate::pipeline::{Backend, Runner, StageTimes};
use crate::tensor_source::TensorProgram;
use std::path::{Path, PathBuf};
use surject_ir::{Buffer, DType, Program, Scalar};
use surject_runtime::npy;
use surject_tensor::{NodeKind, Port};

/// Arguments of `surject run` for tensor source (`.sj`).
#[derive(Debug, clap::Args)]
pub struct TensorArguments {
    /// The position of a static index; without any, they follow the inputs as files (`.sj` only).
    #[arg(long, value_name = "NAME=K")]
    index: Vec<String>,
    /// The seed of the first values of parameters (`.sj` only).
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u32,
    /// Take state from NAME.npy in this folder, as far as it is there (`.sj` only).
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl TensorArguments {
    /// Says what belongs to tensor source only.
    pub fn refuse(&self, file: &str) -> Result<(), Failure> {
        let given = if !self.index.is_empty() {
            "--index"
        } else if self.state.is_some() {
            "--state"
        } else {
            return Ok(());
        };
        Err(Failure::bad_input(format!(
            "{file}: `{given}` is for tensor source (.sj); give every argument with `-i`"
        )))
    }

    /// The arguments of `main`: inputs, indices, state.
    pub fn arguments(
        &self,
        tensor: &TensorProgram,
        program: &Program,
        backend: Backend,
        files: &[PathBuf],
    ) -> Result<Vec<Buffer>, Failure> {
        let lowered = &tensor.lowered;
        let by_file = if self.index.is_empty() { lowered.indices.len() } else { 0 };
        let least = lowered.inputs.len() + by_file;
        let most = least + lowered.state.len();
        if files.len() != least && files.len() != most {
            return Err(Failure::bad_input(wanted(tensor, files.len(), by_file > 0)));
        }
        let mut rest = files.iter();
        let mut buffers = Vec::new();
        for (port, path) in lowered.inputs.iter().zip(&mut rest) {
            buffers.push(load_sized(path, port)?);
        }
        if by_file > 0 {
            for (port, path) in lowered.indices.iter().zip(&mut rest) {
                let buffer = load(path, &port.ty, &port.label)?;
                let position = buffer.get(0).as_f64();
                check_position(tensor, port, position)?;
                buffers.push(buffer);
            }
        } else {
            buffers.extend(self.positions(tensor)?);
        }
        if files.len() == most && most > least {
            for (port, path) in lowered.state.iter().zip(&mut rest) {
                buffers.push(load_sized(path, port)?);
            }
        } else {
            let state = self.first_state(tensor, program, backend, &buffers)?;
            buffers.extend(state);
        }
        Ok(buffers)
    }

    /// The arguments of a `main` with symbolic sizes, and the program with the sizes that they give.
    pub fn bound(
        &self,
        tensor: &TensorProgram,
        program: &Program,
        backend: Backend,
        files: &[PathBuf],
        source: &crate::Source,
    ) -> Result<(Program, Vec<Buffer>), Failure> {
        let init = program.functions.iter().filter(|f| f.name == "init").cloned().collect();
        let init = Program { name: program.name.clone(), functions: init };
        let arguments = self.arguments(tensor, &init, backend, files)?;
        let main = program.function("main").cloned().unwrap_or_default();
        let bound = surject_ir::bind(&main, &arguments)
            .map_err(|e| Failure::bad_input(format!("{}: {e}", source.name)))?;
        let functions = std::iter::once(bound).chain(init.functions).collect();
        Ok((Program { name: program.name.clone(), functions }, arguments))
    }

    /// The static indices, by name.
    fn positions(&self, tensor: &TensorProgram) -> Result<Vec<Buffer>, Failure> {
        let ports = &tensor.lowered.indices;
        let mut found: Vec<Option<i128>> = vec![None; ports.len()];
        for word in &self.index {
            let pair = word.split_once('=').and_then(|(name, k)| Some((name, k.trim().parse::<u32>().ok()?)));
            let Some((name, position)) = pair else {
                return Err(Failure::bad_input(format!(
                    "--index {word}: write `--index NAME=K` with a whole number"
                )));
            };
            let Some(at) = ports.iter().position(|p| p.label == name.trim()) else {
                let known: Vec<&str> = ports.iter().map(|p| p.label.as_str()).collect();
                return Err(Failure::bad_input(format!(
                    "--index {word}: there is no static index `{name}` (there is {})",
                    if known.is_empty() { "none".to_string() } else { known.join(", ") }
                )));
            };
            check_position(tensor, &ports[at], f64::from(position))?;
            found[at] = Some(i128::from(position));
        }
        let buffers = ports.iter().zip(found).map(|(port, position)| match position {
            Some(k) => Ok(Buffer::splat(Scalar::from_i128(DType::I32, k), &[])),
            None => Err(Failure::bad_input(format!(
                "the static index `{}` has no position\n  = help: give it with `--index {}=K`",
                port.label, port.label
            ))),
        });
        buffers.collect()
    }

    /// The state before the program runs: from files, else as `init` makes it, with the sizes that the other arguments give.
    fn first_state(
        &self,
        tensor: &TensorProgram,
        program: &Program,
        backend: Backend,
        given: &[Buffer],
    ) -> Result<Vec<Buffer>, Failure> {
        let ports = &tensor.lowered.state;
        let files: Vec<Option<PathBuf>> = ports
            .iter()
            .map(|port| Some(self.state.as_ref()?.join(file_of(port))).filter(|path| path.exists()))
            .collect();
        if files.iter().all(Option::is_some) {
            let loaded = ports.iter().zip(files.iter().flatten());
            return loaded.map(|(port, path)| load_sized(path, port)).collect();
        }
        let seed = Buffer::splat(Scalar::from_i128(DType::U32, i128::from(self.seed)), &[]);
        let mut arguments = vec![seed];
        let mut program = program.clone();
        if let Some(sizes) = tensor.lowered.sizes_of(given) {
            arguments.push(sizes);
            for init in program.functions.iter_mut().filter(|f| f.name == "init") {
                *init = surject_ir::bind(init, &arguments).map_err(Failure::bad_input)?;
            }
        }
        // The first state comes to a device from the host, wherever it was made.
        let backend = if backend == Backend::Cuda { Backend::Cpu } else { backend };
        let mut runner = Runner::new(program, "init", backend, &mut StageTimes::default())?;
        let made = runner.run(&arguments)?;
        let state = ports.iter().zip(made).zip(files).map(|((port, buffer), file)| match file {
            Some(path) => load_sized(&path, port),
            None => Ok(buffer),
        });
        state.collect()
    }
}

/// The values of a file for an input. What its symbolic sizes are is said when all are there.
fn load_sized(path: &Path, port: &Port) -> Result<Buffer, Failure> {
    if port.ty.space.extents().iter().all(|e| e.as_const().is_some()) {
        return load(path, &port.ty, &port.label);
    }
    let buffer = npy::read(path).map_err(Failure::bad_input)?;
    if buffer.dtype() == port.ty.dtype && buffer.shape().len() == port.ty.space.rank() {
        return Ok(buffer);
    }
    let shape: Vec<u64> = buffer.shape().iter().map(|n| *n as u64).collect();
    let found = surject_ir::TensorType::new(buffer.dtype(), surject_index::Space::of(&shape));
    Err(Failure::bad_input(format!(
        "{}: `{}` is {}, and the file holds {found}",
        path.display(),
        port.label,
        port.ty
    )))
}

fn check_position(tensor: &TensorProgram, port: &Port, position: f64) -> Result<(), Failure> {
    match tensor.session.graph().node(port.node).kind {
        NodeKind::Index { range } if !(0.0..range as f64).contains(&position) => {
            Err(Failure::bad_input(format!(
                "the static index `{}` is below {range}, and {position} is not among its positions",
                port.label
            )))
        }
        _ => Ok(()),
    }
}

/// What a program takes.
fn wanted(tensor: &TensorProgram, given: usize, with_indices: bool) -> String {
    let list = |ports: &[Port]| {
        ports.iter().map(|p| format!("{}: {}", p.label, p.ty)).collect::<Vec<_>>().join(", ")
    };
    let lowered = &tensor.lowered;
    let mut text = format!("`main` takes {} inputs", lowered.inputs.len());
    if !lowered.inputs.is_empty() {
        text += &format!(" ({})", list(&lowered.inputs));
    }
    if with_indices {
        text += &format!(" and {} static indices ({})", lowered.indices.len(), list(&lowered.indices));
    }
    text += &format!(", {given} given\n  = help: give each with `-i FILE.npy`, in this order");
    if with_indices {
        text += "; a static index may be given with `--index NAME=K` instead";
    }
    if !lowered.state.is_empty() {
        text += &format!(
            "\n  = note: the state ({}) starts from `--seed`, from the files of `--state`, or from files that follow",
            list(&lowered.state)
        );
    }
    text
}

/// The names of the results of `main`: outputs, then updated state.
pub fn result_names(tensor: &TensorProgram) -> Vec<String> {
    let lowered = &tensor.lowered;
    let outputs = lowered.outputs.iter().enumerate().map(|(i, p)| format!("out{i} {}", p.label));
    let updates = lowered.updates.iter().filter_map(|k| lowered.state.get(*k));
    outputs.chain(updates.map(|p| format!("state {}", p.label))).collect()
}

/// Writes updated state as NAME.npy, under the names that `--state` looks for.
pub fn save_state(tensor: &TensorProgram, folder: &Path, results: &[Buffer]) -> Result<(), Failure> {
    let lowered = &tensor.lowered;
    let updates = results.iter().skip(lowered.outputs.len()).zip(&lowered.updates);
    for (result, port) in updates.filter_map(|(result, k)| Some((result, lowered.state.get(*k)?))) {
        npy::write(folder.join(file_of(port)), result).map_err(Failure::bad_input)?;
    }
    Ok(())
}

fn file_of(port: &Port) -> String {
    npy::file_name(&port.label, port.ty.dtype)
}
