//! A peer: another compiler in a process that is kept alive between requests, and started again where it ends.

use super::machine;
use crate::Failure;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use surject_ir::Buffer;
use surject_runtime::npy;

/// A peer, in a Python process: that of `SURJECT_PYTHON`, else `.venv/bin/python`, else `python3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Against {
    /// XLA through `jaxlib`.
    Xla,
    /// IREE's compiler and run time.
    Iree,
    /// XLA through `jaxlib` on the first GPU.
    XlaGpu,
    /// PyTorch on the first GPU: as on a processor.
    TorchGpu,
    /// Kernels in Triton on the first GPU: products and softmax.
    Triton,
    /// PyTorch, eager or through `torch.compile`: the workloads of the suite that are written in it.
    Torch,
}

impl Against {
    /// The name of the back end of `peer.py`.
    pub fn name(self) -> &'static str {
        match self {
            Against::Xla => "xla",
            Against::Iree => "iree",
            Against::Torch => "torch",
            Against::XlaGpu => "xla_gpu",
            Against::TorchGpu => "torch_gpu",
            Against::Triton => "triton",
        }
    }
}

/// The files of the peers' processes.
const SCRIPTS: [(&str, &str); 8] = [
    ("peer.py", include_str!("peer.py")),
    ("peer_xla.py", include_str!("peer_xla.py")),
    ("peer_iree.py", include_str!("peer_iree.py")),
    ("peer_torch.py", include_str!("peer_torch.py")),
    ("peer_xla_gpu.py", include_str!("peer_xla_gpu.py")),
    ("peer_torch_gpu.py", include_str!("peer_torch_gpu.py")),
    ("peer_triton.py", include_str!("peer_triton.py")),
    ("torch_workloads.py", include_str!("torch_workloads.py")),
];

/// How long a peer may take to compile a program, and to run it the first time.
const PATIENCE: Duration = Duration::from_secs(150);
const RUN_PATIENCE: Duration = Duration::from_secs(10);

/// A peer process.
pub struct Peer {
    against: Against,
    threads: Option<usize>,
    folder: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

/// A program that a peer has compiled.
pub struct Loaded {
    /// From text to runnable.
    pub compile_ms: f64,
    /// How it was compiled, where there is a choice.
    pub setting: String,
    /// Bytes of arguments, results and temporaries, if the peer tells.
    pub memory: Option<u64>,
    /// How long a run took.
    pub run_ms: f64,
    /// What it computed.
    pub results: Vec<Buffer>,
}

impl Peer {
    /// A peer on so many threads, and its version.
    pub fn start(against: Against, threads: Option<usize>) -> Result<(Peer, String), Failure> {
        let name = format!("surject-bench-{}-{}", std::process::id(), against.name());
        let folder = std::env::temp_dir().join(name);
        let failed =
            |e: std::io::Error| Failure::bad_input(format!("{} cannot be started: {e}", against.name()));
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for (name, text) in SCRIPTS {
            std::fs::write(folder.join(name), text).map_err(failed)?;
        }
        let mut peer = Peer { against, threads, folder, process: None };
        let version = peer.ask("hello", PATIENCE).map_err(|message| {
            Failure::bad_input(format!(
                "{}: {message}\n`cargo xtask peers` installs the peers; `SURJECT_PYTHON` names the interpreter to use",
                against.name()
            ))
        })?;
        Ok((peer, version.join(" ")))
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.against.name()
    }

    fn spawn(&self) -> Result<Process, String> {
        let python = std::env::var_os("SURJECT_PYTHON").map(PathBuf::from).unwrap_or_else(|| {
            let own = PathBuf::from(".venv/bin/python");
            if own.exists() { own } else { PathBuf::from("python3") }
        });
        let mut command = Command::new(python);
        command.arg(self.folder.join("peer.py")).arg(self.name()).envs(machine::HEAP);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(threads) = self.threads {
            command.env("SURJECT_BENCH_THREADS", threads.to_string());
        }
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let (Some(requests), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the process has no input or output".into());
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Process { child, requests, answers })
    }

    /// The answer to a request. A process that ends, or does not answer in time, is started again with the next one.
    fn ask(&mut self, request: &str, patience: Duration) -> Result<Vec<String>, String> {
        if self.process.is_none() {
            self.process = Some(self.spawn()?);
        }
        let Some(process) = &mut self.process else { return Err("the process did not start".into()) };
        let written = writeln!(process.requests, "{request}");
        let line = match written {
            Ok(()) => process.answers.recv_timeout(patience),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let line = match line {
            Ok(line) => line,
            Err(why) => {
                self.stop();
                return Err(match why {
                    RecvTimeoutError::Timeout => format!("no answer in {} s", patience.as_secs()),
                    RecvTimeoutError::Disconnected => "the process ended".to_string(),
                });
            }
        };
        let mut words = line.split('\t').map(str::to_string);
        match words.next().as_deref() {
            Some("ok") => Ok(words.collect()),
            Some("error") => Err(words.collect::<Vec<_>>().join(": ")),
            _ => Err(format!("an answer that is not understood: {line}")),
        }
    }

    /// Compiles a program and runs it on the arguments `inN.npy` of a folder.
    pub fn load(&mut self, program: &Path, inputs: &Path) -> Result<Loaded, String> {
        clear(&self.folder);
        self.ask(&format!("load\t{}\t{}", program.display(), inputs.display()), PATIENCE)?;
        let answer = self.ask(&format!("run\t{}", self.folder.display()), RUN_PATIENCE)?;
        let word = |i: usize| answer.get(i).map(String::as_str).unwrap_or_default();
        let mut results = Vec::new();
        for i in 0..word(0).parse().unwrap_or(0) {
            let plain = self.folder.join(format!("out{i}.npy"));
            let half = self.folder.join(format!("out{i}.bf16.npy"));
            let file = if plain.exists() { plain } else { half };
            results.push(npy::read(&file).map_err(|e| e.to_string())?);
        }
        Ok(Loaded {
            compile_ms: word(1).parse().unwrap_or(0.0),
            setting: word(2).to_string(),
            memory: word(3).parse().ok(),
            run_ms: word(4).parse().unwrap_or(0.0),
            results,
        })
    }

    /// Runs the program for some seconds: samples in milliseconds.
    pub fn time(&mut self, seconds: f64) -> Result<Vec<f64>, String> {
        let answer = self.ask(&format!("time\t{seconds}"), RUN_PATIENCE)?;
        Ok(answer.iter().filter_map(|w| w.parse().ok()).collect())
    }

    fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Writes the arguments of a program where peers find them.
pub fn write_inputs(folder: &Path, inputs: &[Buffer]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::bad_input(format!("{}: {e}", folder.display())))?;
    clear(folder);
    for (i, input) in inputs.iter().enumerate() {
        let file = folder.join(npy::file_name(&format!("in{i}"), input.dtype()));
        npy::write(file, input).map_err(Failure::bad_input)?;
    }
    Ok(())
}

/// Removes the arrays of the last program.
fn clear(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|e| e == "npy") {
            // What cannot be removed is written over.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
