//! The part of LLVM's C API that turns LLVM IR into machine code in this process, with owners for its objects.
//!
//! MLIR's own execution engine is not used: it prints link errors to standard error, gives no assembly and no
//! object in memory, and compiles a second wrapper for every function. `mlir-sys` binds the core of LLVM's C
//! API only; the declarations below are those of `llvm-c/{Error,Target,TargetMachine,Orc,LLJIT}.h` and
//! `llvm-c/Transforms/PassBuilder.h` of LLVM 22, whose libraries `mlir-sys` links.

use crate::idle::Idle;
use crate::jit::LEAST;
use crate::lanes;
use crate::masks;
use crate::{MlirError, Processor, Stage};
use mlir_sys::{
    LLVMAddTargetDependentFunctionAttr, LLVMContextCreate, LLVMContextDispose, LLVMContextRef,
    LLVMContextSetDiagnosticHandler, LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDisposeMemoryBuffer,
    LLVMDisposeMessage, LLVMDisposeModule, LLVMGetBasicBlockParent, LLVMGetBufferSize, LLVMGetBufferStart,
    LLVMGetFirstBasicBlock, LLVMGetFirstFunction, LLVMGetFirstUse, LLVMGetInstructionParent,
    LLVMGetNamedFunction, LLVMGetNextFunction, LLVMGetNextUse, LLVMGetUser, LLVMMemoryBufferRef,
    LLVMModuleRef, LLVMPrintModuleToString, LLVMSetDataLayout, LLVMSetTarget, LLVMValueRef, MlirOperation,
    mlirTranslateModuleToLLVMIR,
};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::iter::successors;
use std::ptr::null_mut;
use std::sync::{Mutex, Once, PoisonError};

/// A C enum or an opaque handle of LLVM.
type Handle = *mut c_void;

#[repr(C)]
struct SymbolFlags {
    generic: u8,
    target: u8,
}

#[repr(C)]
struct SymbolPair {
    name: Handle,
    address: u64,
    flags: SymbolFlags,
}

/// `LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable`
const EXPORTED_CALLABLE: u8 = 1 | 4;
/// `LLVMRelocPIC`
const RELOC_PIC: c_int = 2;
/// `LLVMCodeModelJITDefault`
const CODE_MODEL_JIT: c_int = 1;

/// What LLVM is told about its passes. Addresses are explicit, and no loop has many: the pass that reduces their strength
/// takes a fifth of the time of a compilation, and made no kernel of the suite faster. The pass that splits copies of what
/// has just been stored in parts ends the process (22.1.8) where what is copied was a masked load.
const WORDS: &[&CStr] = &[
    c"surject",
    c"-disable-lsr",
    #[cfg(target_arch = "x86_64")]
    c"-x86-disable-avoid-SFB",
];

/// What functions are told: to begin with an aligned stack. A caller aligns it to 16 bytes, and a wider register that is
/// kept there then lies across two lines of memory, or two pages: as the stack happened to begin, kernels with many such
/// took up to 1.3 times as long.
const ATTRIBUTES: &[&CStr] = if cfg!(target_arch = "x86_64") { &[c"stackrealign"] } else { &[] };

/// The passes over LLVM IR. Code that arrives here is explicit: its vectors, its unrolling and what stands outside
/// which loop are chosen. Levels 1 and 2 therefore only clean up, which takes a tenth of the time of LLVM's
/// standard pipelines and costs a few per cent of run time at most; level 3 is the standard one, inlining included.
const fn passes(level: u8) -> &'static CStr {
    match level {
        0 => c"default<O0>",
        1 => c"always-inline,function(early-cse,simplifycfg,loop-mssa(licm))",
        2 => c"always-inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm))",
        _ => c"default<O3>",
    }
}

/// What is chosen of LLVM for a level, as text.
pub(crate) fn choices(level: u8) -> String {
    format!("{WORDS:?} {ATTRIBUTES:?} {:?} {}", passes(level), machine_level(level))
}

/// The level of machine code: that of the least is none.
const fn machine_level(level: u8) -> u8 {
    match level {
        0..=LEAST => 0,
        2 => 2,
        _ => 3,
    }
}

/// `LLVMAssemblyFile` and `LLVMObjectFile`.
#[derive(Clone, Copy)]
pub(crate) enum Output {
    Assembly = 0,
    Object = 1,
}

unsafe extern "C" {
    fn LLVMGetErrorMessage(error: Handle) -> *mut c_char;
    fn LLVMDisposeErrorMessage(message: *mut c_char);

    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetHostCPUName() -> *mut c_char;
    fn LLVMGetHostCPUFeatures() -> *mut c_char;
    fn LLVMGetTargetFromTriple(triple: *const c_char, target: *mut Handle, error: *mut *mut c_char) -> c_int;
    fn LLVMCreateTargetMachine(
        target: Handle,
        triple: *const c_char,
        cpu: *const c_char,
        features: *const c_char,
        level: c_int,
        reloc: c_int,
        code_model: c_int,
    ) -> Handle;
    fn LLVMDisposeTargetMachine(machine: Handle);
    fn LLVMCreateTargetDataLayout(machine: Handle) -> Handle;
    fn LLVMCopyStringRepOfTargetData(layout: Handle) -> *mut c_char;
    fn LLVMDisposeTargetData(layout: Handle);
    fn LLVMTargetMachineEmitToMemoryBuffer(
        machine: Handle,
        module: LLVMModuleRef,
        kind: c_int,
        error: *mut *mut c_char,
        buffer: *mut LLVMMemoryBufferRef,
    ) -> c_int;

    fn LLVMVerifyModule(module: LLVMModuleRef, action: c_int, message: *mut *mut c_char) -> c_int;
    fn LLVMParseCommandLineOptions(count: c_int, words: *const *const c_char, overview: *const c_char);
    fn LLVMCreatePassBuilderOptions() -> Handle;
    fn LLVMDisposePassBuilderOptions(options: Handle);
    fn LLVMPassBuilderOptionsSetLoopVectorization(options: Handle, on: c_int);
    fn LLVMPassBuilderOptionsSetSLPVectorization(options: Handle, on: c_int);
    fn LLVMRunPasses(
        module: LLVMModuleRef,
        passes: *const c_char,
        machine: Handle,
        options: Handle,
    ) -> Handle;

    fn LLVMOrcCreateLLJITBuilder() -> Handle;
    fn LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine: Handle) -> Handle;
    fn LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder: Handle, machines: Handle);
    fn LLVMOrcCreateLLJIT(result: *mut Handle, builder: Handle) -> Handle;
    fn LLVMOrcDisposeLLJIT(jit: Handle) -> Handle;
    fn LLVMOrcLLJITGetExecutionSession(jit: Handle) -> Handle;
    fn LLVMOrcExecutionSessionSetErrorReporter(
        session: Handle,
        report: unsafe extern "C" fn(*mut c_void, Handle),
        context: *mut c_void,
    );
    fn LLVMOrcLLJITGetMainJITDylib(jit: Handle) -> Handle;
    fn LLVMOrcLLJITMangleAndIntern(jit: Handle, name: *const c_char) -> Handle;
    fn LLVMOrcAbsoluteSymbols(pairs: *mut SymbolPair, count: usize) -> Handle;
    fn LLVMOrcJITDylibDefine(dylib: Handle, unit: Handle) -> Handle;
    fn LLVMOrcLLJITAddObjectFile(jit: Handle, dylib: Handle, object: LLVMMemoryBufferRef) -> Handle;
    fn LLVMOrcLLJITLookup(jit: Handle, result: *mut u64, name: *const c_char) -> Handle;
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn LLVMInitializeX86TargetInfo();
    fn LLVMInitializeX86Target();
    fn LLVMInitializeX86TargetMC();
    fn LLVMInitializeX86AsmPrinter();
    fn LLVMInitializeX86AsmParser();
}

#[cfg(target_arch = "aarch64")]
unsafe extern "C" {
    fn LLVMInitializeAArch64TargetInfo();
    fn LLVMInitializeAArch64Target();
    fn LLVMInitializeAArch64TargetMC();
    fn LLVMInitializeAArch64AsmPrinter();
    fn LLVMInitializeAArch64AsmParser();
}

/// Registers the code generator of this machine, once. On an architecture without one, creating a
/// [`Machine`] fails with LLVM's own message.
fn initialize() {
    static ONCE: Once = Once::new();
    // SAFETY: registration is idempotent and runs once.
    ONCE.call_once(|| unsafe {
        let words: Vec<_> = WORDS.iter().map(|word| word.as_ptr()).collect();
        LLVMParseCommandLineOptions(words.len() as c_int, words.as_ptr(), c"".as_ptr());
        #[cfg(target_arch = "x86_64")]
        {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            LLVMInitializeX86AsmParser();
        }
        #[cfg(target_arch = "aarch64")]
        {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
            LLVMInitializeAArch64AsmParser();
        }
    });
}

/// Takes a message of LLVM.
///
/// # Safety
/// `message` is null or a string that LLVM gave away.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a string that LLVM gave away is terminated, and freed by this function of LLVM only.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Turns an error of LLVM into one of ours.
///
/// # Safety
/// `error` is null (success) or an error that nobody has taken.
unsafe fn check(stage: Stage, error: Handle) -> Result<(), MlirError> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: taking the message consumes the error.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(MlirError::new(stage, text))
    }
}

/// A code generator for a processor.
pub(crate) struct Machine {
    raw: Handle,
    triple: CString,
    name: String,
    processor: Processor,
    level: u8,
    /// All the processor can do, products of `bf16` included; `None` if it has none.
    halves: Option<CString>,
}

// SAFETY: what it points at belongs to it alone, and to no thread.
unsafe impl Send for Machine {}

/// Machines of compilations that have ended.
static MACHINES: Idle<Machine> = Idle::new();

/// Where bytes are shuffled by one instruction and such shuffles count as fast, LLVM 22.1.8 does not end: of 64 bytes
/// that are shuffled and doubled it shuffles first, and doubles first, in turns. Two cheap shuffles then stay two.
const SHUFFLES: &str = ",-fast-variable-crosslane-shuffle";

/// The moves of bits of this extension, which LLVM makes of 16-bit shuffles, have no newer encoding. One takes 266 counts of
/// the time stamp between others on wide registers, and 2 by itself (Zen 3).
const OLD: &str = ",-sse4a";

impl Machine {
    /// The code generator for a processor, at an optimisation level of 0 to 3, with all it can do except
    /// its conversions from `f32` to `bf16`, which flush subnormal numbers: LLVM's integer sequence does not. Its
    /// products of `bf16` come with these conversions; only functions that ask for a product by name have them.
    pub(crate) fn of(processor: Processor, level: u8) -> Result<Machine, MlirError> {
        if let Some(machine) = MACHINES.take(|m| m.level == level && m.processor == processor) {
            return Ok(machine);
        }
        initialize();
        // SAFETY: plain calls; the strings are owned here and outlive the calls they are passed to.
        unsafe {
            let own = |message| CString::new(take_message(message)).unwrap_or_default();
            let triple = own(LLVMGetDefaultTargetTriple());
            let (cpu, mut features) = match processor {
                Processor::Host => (own(LLVMGetHostCPUName()), take_message(LLVMGetHostCPUFeatures())),
                Processor::Named(level) => {
                    (CString::new(level.cpu()).unwrap_or_default(), level.in_words_of_llvm())
                }
            };
            if features.split(',').any(|f| f == "+avx512vbmi") {
                features.push_str(SHUFFLES);
            }
            if cfg!(target_arch = "x86_64") {
                features.push_str(OLD);
            }
            let halves = features.split(',').any(|f| f == "+avx512bf16");
            let halves = halves.then(|| CString::new(features.clone()).unwrap_or_default());
            if cfg!(target_arch = "x86_64") {
                features.push_str(",-avx512bf16,-avxneconvert");
            }
            let features = CString::new(features).unwrap_or_default();
            let raw =
                machine(&triple, &cpu, &features, level).map_err(|m| MlirError::new(Stage::Codegen, m))?;
            let words = [&triple, &cpu, &features].map(|s| s.to_string_lossy().into_owned());
            Ok(Machine { raw, triple, name: words.join(" "), processor, level, halves })
        }
    }

    /// Leaves it to another compilation, after one that went well.
    pub(crate) fn keep(self) {
        MACHINES.give(self);
    }

    /// Are masks vectors of its, without registers of their own?
    fn masks_are_vectors(&self) -> bool {
        self.name.contains("+avx2") && !self.name.contains("+avx512vl")
    }

    /// The processor and all it can do.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A code generator of LLVM, or why there is none.
///
/// # Safety
/// LLVM is initialised.
unsafe fn machine(triple: &CStr, cpu: &CStr, features: &CStr, level: u8) -> Result<Handle, String> {
    let (mut target, mut message) = (null_mut(), null_mut());
    // SAFETY: the strings outlive the calls they are passed to.
    unsafe {
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
            return Err(take_message(message));
        }
        let (triple_text, level) = (triple.as_ptr(), c_int::from(machine_level(level)));
        let (cpu, features) = (cpu.as_ptr(), features.as_ptr());
        let raw =
            LLVMCreateTargetMachine(target, triple_text, cpu, features, level, RELOC_PIC, CODE_MODEL_JIT);
        if raw.is_null() { Err(format!("no code generator for {triple:?}")) } else { Ok(raw) }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: created by `LLVMCreateTargetMachine`, disposed of once.
        unsafe { LLVMDisposeTargetMachine(self.raw) }
    }
}

/// A module of LLVM IR with its context.
pub(crate) struct LlvmModule {
    context: LLVMContextRef,
    module: LLVMModuleRef,
}

/// Products in registers for tiles, and what a processor that has them says.
const TILES: [(&str, &str); 5] = [
    ("tdpbf16ps", "+amx-bf16"),
    ("tdpbssd", "+amx-int8"),
    ("tdpbsud", "+amx-int8"),
    ("tdpbusd", "+amx-int8"),
    ("tdpbuud", "+amx-int8"),
];

impl LlvmModule {
    /// Translates a module of the `llvm` dialect, for a machine. On failure the reason has gone to the
    /// diagnostics of the MLIR context, and the result is `None`.
    ///
    /// # Safety
    /// `operation` is a live module operation.
    pub(crate) unsafe fn translate(operation: MlirOperation, machine: &Machine) -> Option<LlvmModule> {
        // SAFETY: the caller's promise; the context is fresh and owned by the result.
        unsafe {
            let context = LLVMContextCreate();
            // Remarks and warnings of the code generator would go to standard error.
            LLVMContextSetDiagnosticHandler(context, Some(ignore_diagnostic), null_mut());
            let module = mlirTranslateModuleToLLVMIR(operation, context);
            if module.is_null() {
                LLVMContextDispose(context);
                return None;
            }
            let layout = LLVMCreateTargetDataLayout(machine.raw);
            let text = LLVMCopyStringRepOfTargetData(layout);
            LLVMSetDataLayout(module, text);
            LLVMDisposeMessage(text);
            LLVMDisposeTargetData(layout);
            LLVMSetTarget(module, machine.triple.as_ptr());
            Some(LlvmModule { context, module })
        }
    }

    /// Lets the functions that multiply pairs of `bf16` use the instructions for it. An error where the processor has
    /// none, or no registers for tiles: LLVM would end the process.
    pub(crate) fn allow_products(&self, machine: &Machine) -> Result<(), MlirError> {
        for (product, feature) in TILES {
            let name = CString::new(format!("llvm.x86.{product}")).unwrap_or_default();
            // SAFETY: the module is live.
            let used = unsafe { !LLVMGetNamedFunction(self.module, name.as_ptr()).is_null() };
            if used && !machine.name().contains(feature) {
                let message = format!("this processor has no {product}, for tiles in registers");
                return Err(MlirError::new(Stage::Codegen, message));
            }
        }
        for bits in [128, 256, 512] {
            let name = CString::new(format!("llvm.x86.avx512bf16.dpbf16ps.{bits}")).unwrap_or_default();
            // SAFETY: the module is live; the only users of an intrinsic are calls, which are inside functions.
            unsafe {
                let intrinsic = LLVMGetNamedFunction(self.module, name.as_ptr());
                let mut next = if intrinsic.is_null() { null_mut() } else { LLVMGetFirstUse(intrinsic) };
                while !next.is_null() {
                    let Some(features) = &machine.halves else {
                        let message = "this processor has no products of bf16";
                        return Err(MlirError::new(Stage::Codegen, message.to_string()));
                    };
                    let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(LLVMGetUser(next)));
                    let attribute = c"target-features".as_ptr();
                    LLVMAddTargetDependentFunctionAttr(function, attribute, features.as_ptr());
                    next = LLVMGetNextUse(next);
                }
            }
        }
        Ok(())
    }

    /// LLVM's own verifier.
    pub(crate) fn verify(&self) -> Result<(), MlirError> {
        /// `LLVMReturnStatusAction`
        const RETURN_STATUS: c_int = 2;
        let mut message = null_mut();
        // SAFETY: the module is live; the message is ours whatever the status.
        unsafe {
            let failed = LLVMVerifyModule(self.module, RETURN_STATUS, &mut message) != 0;
            let message = take_message(message);
            if failed { Err(MlirError::new(Stage::Translate, message)) } else { Ok(()) }
        }
    }

    /// Optimises the IR.
    pub(crate) fn optimize(&self, level: u8, machine: &Machine) -> Result<(), MlirError> {
        // SAFETY: module and machine are live; the options are disposed of after their last use.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopVectorization(options, (level >= 3).into());
            LLVMPassBuilderOptionsSetSLPVectorization(options, (level >= 3).into());
            let error = LLVMRunPasses(self.module, passes(level).as_ptr(), machine.raw, options);
            LLVMDisposePassBuilderOptions(options);
            check(Stage::Codegen, error)?;
            masks::take_apart(self.module, self.context, machine.masks_are_vectors());
            lanes::fill_open(self.module);
            for function in functions(self.module).filter(|&f| !LLVMGetFirstBasicBlock(f).is_null()) {
                for attribute in ATTRIBUTES {
                    LLVMAddTargetDependentFunctionAttr(function, attribute.as_ptr(), c"".as_ptr());
                }
            }
            Ok(())
        }
    }

    /// The IR as text.
    pub(crate) fn text(&self) -> String {
        // SAFETY: the module is live; the string is ours.
        unsafe { take_message(LLVMPrintModuleToString(self.module)) }
    }

    /// Machine code, as assembly or as an object file. Code generation may change the IR.
    pub(crate) fn emit(&self, machine: &Machine, output: Output) -> Result<Vec<u8>, MlirError> {
        let (mut message, mut buffer) = (null_mut(), null_mut());
        // SAFETY: module and machine are live; on success the buffer is ours, on failure the message.
        unsafe {
            let kind = output as c_int;
            if LLVMTargetMachineEmitToMemoryBuffer(machine.raw, self.module, kind, &mut message, &mut buffer)
                != 0
            {
                return Err(MlirError::new(Stage::Codegen, take_message(message)));
            }
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(bytes)
        }
    }
}

impl Drop for LlvmModule {
    fn drop(&mut self) {
        // SAFETY: both are owned, the module goes before its context.
        unsafe {
            LLVMDisposeModule(self.module);
            LLVMContextDispose(self.context);
        }
    }
}

/// The functions of a module, those without a body included.
///
/// # Safety
/// The module is live as long as they are taken.
pub(crate) unsafe fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    let some = |f: LLVMValueRef| (!f.is_null()).then_some(f);
    // SAFETY: the caller's promise; each is one of the module.
    unsafe { successors(some(LLVMGetFirstFunction(module)), move |&f| some(LLVMGetNextFunction(f))) }
}

unsafe extern "C" fn ignore_diagnostic(_: mlir_sys::LLVMDiagnosticInfoRef, _: *mut c_void) {}

/// Machine code linked into this process. Dropping it unmaps the code.
pub(crate) struct Linked {
    raw: Handle,
    /// What the linker reported besides the errors it returned. Boxed: the linker holds its address.
    reports: Box<Reports>,
}

type Reports = Mutex<Vec<String>>;

// SAFETY: the ORC session locks itself; code that is mapped stays where it is until the drop.
unsafe impl Send for Linked {}
// SAFETY: as above.
unsafe impl Sync for Linked {}

impl Linked {
    /// Links object files with each other, `symbols` and the dynamic symbols of this process.
    pub(crate) fn new(objects: &[&[u8]], symbols: &[(CString, *const ())]) -> Result<Linked, MlirError> {
        initialize();
        // SAFETY: every handle is used while its owner lives; the reporter's context is boxed and dropped after
        // the session (see `Drop`). The definition takes the names and the unit.
        unsafe {
            // It only links: of the machine it asks for the layout of data. Left to itself it would ask the processor
            // for all it can do, which takes longer.
            let triple = CString::new(take_message(LLVMGetDefaultTargetTriple())).unwrap_or_default();
            let plain = machine(&triple, c"", c"", 0).map_err(|m| MlirError::new(Stage::Link, m))?;
            let builder = LLVMOrcCreateLLJITBuilder();
            let machines = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(plain);
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machines);
            let mut raw = null_mut();
            check(Stage::Link, LLVMOrcCreateLLJIT(&mut raw, builder))?;
            let linked = Linked { raw, reports: Box::default() };
            LLVMOrcExecutionSessionSetErrorReporter(
                LLVMOrcLLJITGetExecutionSession(raw),
                report,
                (&raw const *linked.reports).cast_mut().cast(),
            );
            let dylib = LLVMOrcLLJITGetMainJITDylib(raw);
            let mut pairs: Vec<SymbolPair> = symbols
                .iter()
                .map(|(name, address)| SymbolPair {
                    name: LLVMOrcLLJITMangleAndIntern(raw, name.as_ptr()),
                    address: address.addr() as u64,
                    flags: SymbolFlags { generic: EXPORTED_CALLABLE, target: 0 },
                })
                .collect();
            if !pairs.is_empty() {
                let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
                check(Stage::Link, LLVMOrcJITDylibDefine(dylib, unit))?;
            }
            for object in objects {
                let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                    object.as_ptr().cast(),
                    object.len(),
                    c"surject".as_ptr(),
                );
                check(Stage::Link, LLVMOrcLLJITAddObjectFile(raw, dylib, buffer))?;
            }
            Ok(linked)
        }
    }

    /// The address of a symbol. The first look-up links the object.
    pub(crate) fn lookup(&self, name: &str) -> Result<*const (), MlirError> {
        let name = CString::new(name)
            .map_err(|_| MlirError::new(Stage::Link, "the name of a symbol holds a null byte"))?;
        let mut address = 0u64;
        // SAFETY: the session is live, the name terminated.
        let found = unsafe { check(Stage::Link, LLVMOrcLLJITLookup(self.raw, &mut address, name.as_ptr())) };
        found.map_err(|mut error| {
            // The report names the cause, the returned error only the consequence.
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            let mut causes = reports.drain(..);
            if let Some(cause) = causes.next() {
                error.notes.push(std::mem::replace(&mut error.message, cause));
                error.notes.extend(causes);
            }
            error
        })?;
        Ok(std::ptr::with_exposed_provenance(address as usize))
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: created by `LLVMOrcCreateLLJIT`, disposed of once; the reporter's context is still alive.
        let error = unsafe { LLVMOrcDisposeLLJIT(self.raw) };
        // SAFETY: the error is ours. Code that cannot be unmapped stays mapped: nothing else depends on it.
        let _ = unsafe { check(Stage::Link, error) };
    }
}

/// Collects what the linker reports.
unsafe extern "C" fn report(context: *mut c_void, error: Handle) {
    // SAFETY: the context is the `Reports` of a live `Linked`, the error is ours to take.
    unsafe {
        let reports = &*context.cast::<Reports>();
        if let Err(error) = check(Stage::Link, error) {
            reports.lock().unwrap_or_else(PoisonError::into_inner).push(error.message);
        }
    }
}
