//! A peer: another compiler in a process that is kept alive between requests.

use crate::Failure;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use surject_ir::Buffer;
use surject_runtime::npy;

/// A peer process.
pub struct Peer {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
}

impl Peer {
    /// XLA, on so many threads.
    pub fn xla(threads: Option<usize>) -> Result<Peer, Failure> {
        let folder = std::env::temp_dir().join(format!("surject-bench-{}", std::process::id()));
        let io = |e: std::io::Error| Failure::bad_input(format!("the peer XLA cannot be started: {e}"));
        std::fs::create_dir_all(&folder).map_err(io)?;
        let script = folder.join("xla.py");
        std::fs::write(&script, include_str!("xla.py")).map_err(io)?;
        let python = std::env::var_os("SURJECT_PYTHON").map(PathBuf::from).unwrap_or_else(|| {
            let own = PathBuf::from(".venv/bin/python");
            if own.exists() { own } else { PathBuf::from("python3") }
        });
        let mut command = Command::new(python);
        command.arg(&script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(threads) = threads {
            command.env("SURJECT_BENCH_THREADS", threads.to_string());
        }
        let mut child = command.spawn().map_err(io)?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let answers = answers.ok_or_else(|| Failure::bad_input("the peer has no output"))?;
        Ok(Peer { child, requests, answers: BufReader::new(answers), folder })
    }

    fn ask(&mut self, request: &str) -> Result<Vec<String>, Failure> {
        let ended = |_| {
            Failure::bad_input(
                "the peer process ended; is jax installed? `SURJECT_PYTHON` names the interpreter to use",
            )
        };
        if let Some(requests) = &mut self.requests {
            writeln!(requests, "{request}").map_err(ended)?;
        }
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(ended)?;
        let mut words = line.trim_end().split('\t').map(str::to_string);
        match words.next().as_deref() {
            Some("ok") => Ok(words.collect()),
            Some("error") => {
                Err(Failure::difference(format!("the peer: {}", words.next().unwrap_or_default())))
            }
            _ => Err(ended(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Compiles a program and runs it once: milliseconds of compilation, and the results.
    pub fn load(&mut self, program: &Path, inputs: &[Buffer]) -> Result<(f64, Vec<Buffer>), Failure> {
        self.clear();
        for (i, input) in inputs.iter().enumerate() {
            let file = self.folder.join(npy::file_name(&format!("in{i}"), input.dtype()));
            npy::write(file, input).map_err(Failure::bad_input)?;
        }
        let answer = self.ask(&format!("load\t{}\t{}", program.display(), self.folder.display()))?;
        let number = |i: usize| answer.get(i).and_then(|w| w.parse::<f64>().ok()).unwrap_or(0.0);
        let mut results = Vec::new();
        for i in 0..number(1) as usize {
            let plain = self.folder.join(format!("out{i}.npy"));
            let half = self.folder.join(format!("out{i}.bf16.npy"));
            let file = if plain.exists() { plain } else { half };
            results.push(npy::read(&file).map_err(Failure::bad_input)?);
        }
        Ok((number(0), results))
    }

    /// Runs the program for some seconds: samples in milliseconds.
    pub fn time(&mut self, seconds: f64) -> Result<Vec<f64>, Failure> {
        let answer = self.ask(&format!("time\t{seconds}"))?;
        Ok(answer.iter().filter_map(|w| w.parse().ok()).collect())
    }

    /// Removes inputs and results of the last program.
    fn clear(&self) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|e| e == "npy") {
                // What cannot be removed is written over.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The peer ends where its input does.
        self.requests = None;
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Pins this process, and the processes it starts, to the first processors of those it may use.
#[cfg(target_os = "linux")]
pub fn pin(count: usize) {
    unsafe extern "C" {
        fn sched_getaffinity(process: i32, bytes: usize, mask: *mut u64) -> i32;
        fn sched_setaffinity(process: i32, bytes: usize, mask: *const u64) -> i32;
    }
    let mut mask = [0u64; 16];
    // SAFETY: the mask is as long as it says, and lives through both calls.
    unsafe {
        if sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr()) < 0 {
            return;
        }
        let mut left = count;
        for word in &mut mask {
            for bit in 0..64 {
                let set = *word >> bit & 1 == 1;
                if set && left == 0 {
                    *word &= !(1 << bit);
                } else if set {
                    left -= 1;
                }
            }
        }
        sched_setaffinity(0, size_of_val(&mask), mask.as_ptr());
    }
}

/// Pins nothing: the number of threads alone tells both sides apart from the machine.
#[cfg(not(target_os = "linux"))]
pub fn pin(_: usize) {}
