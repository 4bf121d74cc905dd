//! Kernels of the kernel IR as native code of this machine: an executor for programs, and what each kernel took.

use std::fmt::Write;
use std::time::{Duration, Instant};
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::run::Executor;
use surject_cpu::write::{module, write};
use surject_kernel::interpret::Tensor;
use surject_kernel::{Access, Kernel, Mem};
use surject_mlir::jit::{self, CompiledModule, JitOptions};

/// Compiles each kernel when it first runs, by the writer of `surject-cpu`.
#[derive(Default)]
pub struct NativeKernels {
    compiled: Vec<Compiled>,
    /// Are runs measured on memory that the kernel has just used?
    measures: bool,
}

/// A kernel, its code, and how long its runs took.
struct Compiled {
    kernel: Kernel,
    module: CompiledModule,
    runs: Vec<Duration>,
}

/// Bytes that are aligned to every element type.
struct Aligned(Vec<u128>);

impl Aligned {
    fn of(bytes: &[u8]) -> Aligned {
        let words = bytes.chunks(16).map(|chunk| {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            u128::from_ne_bytes(word)
        });
        Aligned(words.collect())
    }

    fn to_bytes(&self, count: usize) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).take(count).collect()
    }
}

impl NativeKernels {
    /// Forgets the times, and from now on measures kernels on memory that they have just used, as runs of whole programs
    /// on the same buffers do: a kernel that does not change what it reads runs twice, and the second time counts.
    pub fn measure(&mut self) {
        self.measures = true;
        self.compiled.iter_mut().for_each(|c| c.runs.clear());
    }

    /// Each kernel, with the least and the middle of its times.
    pub fn times(&mut self) -> String {
        let mut text = String::new();
        for Compiled { kernel, runs, .. } in &mut self.compiled {
            runs.sort_unstable();
            if let (Some(least), Some(middle)) = (runs.first(), runs.get(runs.len() / 2)) {
                let [least, middle] = [least, middle].map(|t| t.as_secs_f64() * 1e6);
                let (name, count) = (&kernel.name, runs.len());
                let _ =
                    writeln!(text, "kernel {name}: min {least:.2} us, median {middle:.2} us, {count} runs");
            }
        }
        text
    }

    fn find(&mut self, kernel: &Kernel) -> Result<usize, String> {
        if let Some(found) = self.compiled.iter().position(|c| c.kernel == *kernel) {
            return Ok(found);
        }
        let arithmetic = legal(kernel).map_err(|error| error.to_string())?;
        let text = write(&arithmetic).map_err(|error| error.to_string())?;
        let compiled = jit::compile(&module([text.as_str()]), &JitOptions::default());
        let module = compiled.map_err(|error| format!("kernel `{}`: {error}", kernel.name))?;
        self.compiled.push(Compiled { kernel: kernel.clone(), module, runs: Vec::new() });
        Ok(self.compiled.len() - 1)
    }
}

impl Executor for NativeKernels {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        if !kernel.sizes.is_empty() {
            return Err(format!("kernel `{}` has sizes that nothing gives", kernel.name));
        }
        let number = self.find(kernel)?;
        let Compiled { module, runs, .. } = &mut self.compiled[number];
        let entry = module.entry(&kernel.name).map_err(|error| error.to_string())?;
        let mut memory: Vec<Aligned> = tensors.iter().map(|t| Aligned::of(t.bytes())).collect();
        // The kernel writes to what it gets as arguments.
        let pointers: Vec<*const u8> = memory.iter_mut().map(|m| m.0.as_mut_ptr() as *const u8).collect();
        let repeats = |&mem: &Mem| kernel.mem(mem).access != Access::ReadWrite;
        let twice = self.measures && kernel.params.iter().all(repeats);
        // SAFETY: the writer's functions take the addresses of the kernel's tensors, each of its size and aligned, and
        // nothing else: there are no sizes. The verifier has checked that accesses are inside or guarded as far as that
        // is known; the interpreter of kernels finds what is not.
        let run = || unsafe { entry.call(&pointers, &[], std::ptr::null_mut(), &[]) };
        if twice {
            run();
        }
        let start = Instant::now();
        run();
        runs.push(start.elapsed());
        for ((tensor, memory), &param) in tensors.iter_mut().zip(&memory).zip(&kernel.params) {
            if kernel.mem(param).access.writes() {
                *tensor = Tensor::of_bytes(tensor.dtype(), &memory.to_bytes(tensor.bytes().len()));
            }
        }
        Ok(())
    }
}
