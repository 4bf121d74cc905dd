//! Kernels of the kernel IR as native code: the same bits as on the interpreter of kernels.

use crate::suite::programs;
use surject::bench::inputs;
use surject::ir::testing::{Options as Kinds, random_args, random_program_with};
use surject::ir::{Buffer, Program};
use surject::native_kernels::NativeKernels;
use surject::{OptimiseOptions, Source, optimise};
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::run::{Executor, run_on};
use surject_codegen::kernels::schedule::Schedules;
use surject_kernel::Kernel;
use surject_kernel::interpret::{self, Options, Tensor};

/// Runs every kernel both ways, and refuses what differs.
#[derive(Default)]
struct Both(NativeKernels);

impl Executor for Both {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        let mut expected = tensors.to_vec();
        let arithmetic = legal(kernel).map_err(|e| e.to_string())?;
        interpret::run(&arithmetic, &[], &mut expected, &Options::default()).map_err(|e| e.to_string())?;
        self.0.execute(kernel, tensors)?;
        for ((found, expected), &param) in tensors.iter_mut().zip(expected).zip(&kernel.params) {
            let elements = 0..expected.len();
            let differs = |i: &usize| {
                let (a, b) = (found.get(*i), expected.get(*i));
                let nan = |x: Option<surject::ir::Scalar>| {
                    x.is_some_and(|x| x.dtype().is_float() && x.as_f64().is_nan())
                };
                b.is_some() && a.map(|a| a.bits()) != b.map(|b| b.bits()) && !(nan(a) && nan(b))
            };
            if let Some(i) = elements.into_iter().find(differs) {
                let name = &kernel.mem(param).name;
                let (a, b) = (found.get(i), expected.get(i));
                return Err(format!("element {i} of `{name}` is {a:?}, not {b:?}, in\n{kernel}"));
            }
            // What the kernel left out stays unwritten.
            *found = expected;
        }
        Ok(())
    }
}

/// What is wrong with the native kernels of a program.
fn fault(program: &Program, args: &[Buffer], machine: &str) -> Option<String> {
    let function = &program.main().expect("a function").name;
    let machine = surject::machine_named(machine).expect("the machine is known");
    run_on(program, function, args, &*machine, &Schedules::default(), &mut Both::default())
        .err()
        .map(|e| e.to_string())
}

#[test]
fn native_kernels_of_the_suite() {
    let mut failures = Vec::new();
    for folder in programs() {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let source = Source::load(&folder.join("program.mlir")).unwrap_or_else(|f| panic!("{name}: {f}"));
        let program = source.program(None).unwrap_or_else(|f| panic!("{name}: {f}"));
        let program =
            optimise(&program, &OptimiseOptions::default()).unwrap_or_else(|f| panic!("{name}: {f}")).program;
        let args = inputs(program.main().expect("a function"), Some(&folder))
            .unwrap_or_else(|f| panic!("{name}: {f}"));
        failures.extend(fault(&program, &args, "avx2").map(|fault| format!("{name}: {fault}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn native_kernels_of_random_programs() {
    let mut failures = Vec::new();
    for seed in 0..120 {
        let program = random_program_with(seed, 12, &Kinds::everything());
        let Some(function) = program.main() else { continue };
        let args = random_args(function, seed);
        if surject::ir::interp::run(&program, &function.name, &args).is_err() {
            continue;
        }
        let machine = ["generic", "avx2", "avx512"][seed as usize % 3];
        let found = fault(&program, &args, machine);
        // Some operations have no formula; the interpreter of kernels knows them. Some assignments have no kernels.
        let refused =
            |fault: &String| fault.contains("has no formula") || fault.contains("is not supported here");
        let found = found.filter(|fault| !refused(fault));
        failures.extend(found.map(|fault| format!("{seed} on {machine}: {fault}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
