//! Programs through all of it: kernels, arithmetic, MLIR, PTX; and the PTX on its interpreter.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::{Machine, Strategy};
use surject_codegen::kernels::run::{Executor, run_on};
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_gpu::compile;
use surject_gpu::write::{MapParameter, Written, module, write};
use surject_ir::interp::InterpError;
use surject_ir::{Buffer, Program};
use surject_kernel::interpret::{self, Options, Tensor};
use surject_kernel::{Kernel, verify};
use surject_ptx::{Arg, Grid};

/// A GPU that has one of its strategies and nothing else.
pub struct Only(pub Gpu, pub &'static str);

impl Machine for Only {
    fn name(&self) -> &str {
        self.0.name
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        let mut found = self.0.strategies();
        found.retain(|s| s.name() == self.1);
        found
    }
}

/// Kernels that were collected, each once, with a name of its own.
#[derive(Default)]
pub struct Collected {
    /// The text of each kernel, and the number of its name.
    numbers: HashMap<String, usize>,
    pub written: Vec<Written>,
    /// Kernels that have no form.
    pub refused: Vec<String>,
}

impl Collected {
    fn key(kernel: &Kernel) -> String {
        Kernel { name: "k".into(), ..kernel.clone() }.to_string()
    }

    /// Writes a kernel; gives whether it has a form.
    pub fn add(&mut self, kernel: &Kernel) -> Result<(), String> {
        let key = Collected::key(kernel);
        if self.numbers.contains_key(&key) {
            return Ok(());
        }
        let number = self.written.len();
        let named = Kernel { name: format!("k{number}"), ..kernel.clone() };
        let arithmetic = legal(&named).map_err(|e| e.to_string())?;
        verify(&arithmetic).map_err(|e| format!("{e}\n{arithmetic}"))?;
        let written = write(&arithmetic).map_err(|e| e.to_string())?;
        self.written.push(written);
        self.numbers.insert(key, number);
        Ok(())
    }

    /// The PTX of all kernels.
    pub fn ptx(&self, architecture: &str) -> String {
        let text = module(&self.written);
        let ptx = compile::ptx(&text, architecture).unwrap_or_else(|error| panic!("{error}"));
        // To look at.
        if let Some(file) = std::env::var_os("SURJECT_PTX_FILE") {
            std::fs::write(file, &ptx).unwrap();
        }
        ptx
    }

    fn get(&self, kernel: &Kernel) -> Option<&Written> {
        Some(&self.written[*self.numbers.get(&Collected::key(kernel))?])
    }
}

/// Interprets kernels, and collects them.
struct Collecting<'a>(&'a mut Collected);

impl Executor for Collecting<'_> {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        self.0.add(kernel)?;
        interpret::run(kernel, &[], tensors, &Options::default()).map(|_| ()).map_err(|e| e.to_string())
    }
}

/// Interprets kernels, counts what they do, and keeps them.
pub struct Counting {
    pub options: Options,
    pub counts: interpret::Counts,
    pub kernels: Vec<Kernel>,
}

impl Executor for Counting {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        let counts = interpret::run(kernel, &[], tensors, &self.options).map_err(|e| e.to_string())?;
        self.counts.add(&counts);
        self.kernels.push(kernel.clone());
        Ok(())
    }
}

/// What a function gives for every case, in their order; as many cases at once as the machine has processors.
pub fn for_all<T: Sync, R: Send>(cases: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, case)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    cases.get(number).map(|case| (number, case))
                } {
                    let result = f(case);
                    results.lock().unwrap().push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|r| r.0);
    results.into_iter().map(|r| r.1).collect()
}

/// Runs the PTX of kernels that were collected.
pub struct OnPtx<'a> {
    pub collected: &'a Collected,
    pub module: &'a surject_ptx::Module,
    pub counts: Vec<(String, surject_ptx::Counts)>,
    /// The values of sizes.
    pub sizes: Vec<i64>,
}

impl Executor for OnPtx<'_> {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        let written = self.collected.get(kernel).ok_or("a kernel that was not collected")?;
        let launch = &written.launch;
        let size = |v| kernel.sizes.iter().position(|&s| s == v).and_then(|i| self.sizes.get(i).copied());
        let blocks = launch.grid(&size).ok_or("a grid of unknown size")?;
        let grid = Grid {
            blocks: blocks.map(|b| b as u32),
            threads: launch.threads as u32,
            shared: launch.shared as usize,
        };
        let mut buffers: Vec<surject_ptx::Buffer> = tensors
            .iter()
            .map(|t| {
                let written = (0..t.len()).all(|i| t.get(i).is_some());
                if written {
                    surject_ptx::Buffer::of(t.bytes())
                } else {
                    surject_ptx::Buffer::unwritten(t.bytes().len())
                }
            })
            .collect();
        let sizes = self.sizes[..kernel.sizes.len()].iter().map(|&s| Arg::Number(s));
        let maps = launch.maps.iter().map(|map| Arg::Map(on_ptx_map(map)));
        let args: Vec<Arg> = sizes.chain((0..buffers.len()).map(Arg::Buffer)).chain(maps).collect();
        let counts = surject_ptx::run(self.module, &launch.name, &grid, &args, &mut buffers)
            .map_err(|error| format!("`{}`: {error}\n{kernel}", launch.name))?;
        self.counts.push((launch.name.clone(), counts));
        for (tensor, buffer) in tensors.iter_mut().zip(&buffers) {
            if buffer.is_written() {
                *tensor = Tensor::of_bytes(tensor.dtype(), buffer.bytes());
            }
        }
        Ok(())
    }
}

/// A map as the interpreter of PTX has it.
fn on_ptx_map(map: &MapParameter) -> surject_ptx::TensorMap {
    let bytes = |&stride: &i64| stride as u64 * map.dtype.size() as u64;
    surject_ptx::TensorMap {
        buffer: map.tensor,
        extents: map.map.extents.iter().map(|&e| e as u64).collect(),
        strides: map.map.strides.iter().map(bytes).collect(),
        sizes: map.map.sizes.iter().map(|&s| s as u32).collect(),
        swizzled: map.swizzled,
    }
}

/// Does the program stand on the kernels of a machine? Collects them. `None`: something is not supported.
pub fn collect(
    program: &Program,
    args: &[Buffer],
    machine: &dyn Machine,
    collected: &mut Collected,
) -> Option<Vec<Buffer>> {
    let given = Schedules::default();
    match run_on(program, "main", args, machine, &given, &mut Collecting(collected)) {
        Ok(results) => Some(results),
        Err(error) => {
            let mut inner = &error;
            while let InterpError::At { error, .. } = inner {
                inner = error;
            }
            let text = error.to_string();
            let no_form = text.contains("has no formula") || text.contains("atomic operation");
            assert!(
                matches!(inner, InterpError::Unsupported { .. }) || no_form,
                "{text}\n{}",
                surject_ir::print(program)
            );
            collected.refused.push(text);
            None
        }
    }
}

/// The results of a program on PTX.
pub fn on_ptx(
    program: &Program,
    args: &[Buffer],
    machine: &dyn Machine,
    executor: &mut OnPtx<'_>,
) -> Vec<Buffer> {
    run_on(program, "main", args, machine, &Schedules::default(), executor)
        .unwrap_or_else(|error| panic!("{error}\n{}", surject_ir::print(program)))
}
