//! A GPU by CUDA's driver, which is loaded when it is asked for.

mod libraries;
mod staging;

use crate::{
    Call, Device, DeviceError, DeviceInfo, Event, Library, Mark, Memory, Module, Recording, Scope, Shape,
    Stream, TensorMap, View,
};
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use surject_ir::DType;

/// A GPU, in a context of this process, with streams of its own.
pub struct Driver {
    info: DeviceInfo,
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// The streams that were asked for, the first one from the start.
    streams: Vec<sys::CUstream>,
    /// The one that is selected.
    stream: sys::CUstream,
    /// The stream whose recording goes on.
    recording: Option<sys::CUstream>,
    modules: HashMap<u64, Loaded>,
    /// Moments, which have a time.
    marks: HashMap<u64, sys::CUevent>,
    /// Events, which have none.
    events: HashMap<u64, (sys::CUevent, Scope)>,
    staging: staging::Staging,
    graphs: HashMap<u64, sys::CUgraphExec>,
    next: u64,
    libraries: libraries::Libraries,
}

/// A module, and those of its kernels that were launched.
struct Loaded {
    module: sys::CUmodule,
    functions: HashMap<String, sys::CUfunction>,
}

// SAFETY: the handles of the driver may be used from any thread in which the context is current, which every call
// here makes sure of first; and one thread at a time has `&mut`.
unsafe impl Send for Driver {}

/// Bytes of shared memory that a kernel has without asking for more.
const USUAL_SHARED: u32 = 48 << 10;

/// The flag of an event of a recording that others see each time it is replayed (`CU_EVENT_RECORD_EXTERNAL`,
/// `CU_EVENT_WAIT_EXTERNAL`).
const EXTERNAL: u32 = 1;

fn no_event() -> DeviceError {
    DeviceError::Driver { call: "cuEventRecord", reason: "there is no such event".into() }
}

/// Room for what the driver says of PTX that it refuses.
const LOG: usize = 8 << 10;

/// What the driver says.
fn reason(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| {
        found
            .map(|s| s.to_string_lossy().into_owned())
            .unwrap_or_else(|_| format!("error {}", error.0 as u32))
    };
    format!("{} ({})", text(error.error_string()), text(error.error_name()))
}

/// The error of a call: some are those of what was launched before, after which the context is of no use.
fn failed(call: &'static str, error: DriverError) -> DeviceError {
    // By number, as the names differ between the versions of the driver.
    match error.0 as u32 {
        46 | 100 | 214..=216 | 220 | 226 | 700 | 702 | 709 | 714..=719 | 721 => {
            DeviceError::Lost(format!("{} in {call}", reason(error)))
        }
        _ => DeviceError::Driver { call, reason: reason(error) },
    }
}

impl Driver {
    /// The first GPU that the driver knows.
    pub fn open() -> Result<Driver, DeviceError> {
        Driver::numbered(0)
    }

    /// How many GPUs the driver knows.
    pub fn count() -> Result<i32, DeviceError> {
        // SAFETY: it only tries to load the library of the driver.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceError::NoDriver("the library `libcuda.so.1` is not found".into()));
        }
        result::init().map_err(|error| match error.0 as u32 {
            100 => DeviceError::NoDevice,
            _ => DeviceError::NoDriver(reason(error)),
        })?;
        result::device::get_count().map_err(|e| failed("cuDeviceGetCount", e))
    }

    /// Is a library of NVIDIA's there, which plans use where it is?
    pub fn library(library: Library) -> Result<(), DeviceError> {
        libraries::find(library)
    }

    /// The GPU with a number, as the driver counts.
    pub fn numbered(number: i32) -> Result<Driver, DeviceError> {
        let count = Driver::count()?;
        if number >= count {
            return Err(DeviceError::NoDevice);
        }
        let device = result::device::get(number).map_err(|e| failed("cuDeviceGet", e))?;
        let info = info(device)?;
        // SAFETY: the device is one of the driver's; what is retained is released in `drop`.
        let context = unsafe { result::primary_ctx::retain(device) }
            .map_err(|e| failed("cuDevicePrimaryCtxRetain", e))?;
        // SAFETY: the context was just retained.
        let started = unsafe { result::ctx::set_current(context) }
            .map_err(|e| failed("cuCtxSetCurrent", e))
            .and_then(|()| new_stream());
        let stream = started.inspect_err(|_| {
            // SAFETY: it was retained above, and nothing else uses it.
            let _ = unsafe { result::primary_ctx::release(device) };
        })?;
        Ok(Driver {
            info,
            device,
            context,
            streams: vec![stream],
            stream,
            recording: None,
            modules: HashMap::new(),
            marks: HashMap::new(),
            events: HashMap::new(),
            staging: staging::Staging::default(),
            graphs: HashMap::new(),
            next: 0,
            libraries: libraries::Libraries::default(),
        })
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Makes the context that of this thread.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is retained until `drop`.
        unsafe { result::ctx::set_current(self.context) }.map_err(|e| failed("cuCtxSetCurrent", e))
    }

    /// A kernel of a module, ready to be launched with so much shared memory.
    fn function(&mut self, module: Module, name: &str, shared: u32) -> Result<sys::CUfunction, DeviceError> {
        let unknown = || DeviceError::NoKernel(name.to_string());
        let loaded = self.modules.get_mut(&module.0).ok_or_else(unknown)?;
        if let Some(&function) = loaded.functions.get(name) {
            return Ok(function);
        }
        let text = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(loaded.module, text) }.map_err(|error| {
            if error.0 as u32 == 500 { unknown() } else { failed("cuModuleGetFunction", error) }
        })?;
        if shared > USUAL_SHARED {
            let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function was just found.
            unsafe { result::function::set_function_attribute(function, attribute, shared as i32) }.map_err(
                |e| DeviceError::Launch(format!("{shared} bytes of shared memory: {}", reason(e))),
            )?;
        }
        loaded.functions.insert(name.to_string(), function);
        Ok(function)
    }
}

impl Driver {
    /// The map of a tensor as the driver encodes it. What lies outside of the tensor is zero.
    fn encode(&self, map: &TensorMap, args: &[View]) -> Result<sys::CUtensorMap, DeviceError> {
        let refused = |why: String| DeviceError::Launch(format!("a tensor map for TMA: {why}"));
        // `cuTensorMapEncodeTiled` is there since CUDA 12.0.
        if self.info.driver < (12, 0) {
            let (major, minor) = self.info.driver;
            return Err(refused(format!(
                "the driver is for CUDA {major}.{minor}, and maps are those of 12.0"
            )));
        }
        let view = *args.get(map.tensor as usize).ok_or_else(|| refused("of no tensor".into()))?;
        map.check(view.bytes).map_err(refused)?;
        if !address(view).is_multiple_of(TensorMap::ALIGNMENT) {
            return Err(refused(format!(
                "of a tensor that is not aligned to {} bytes",
                TensorMap::ALIGNMENT
            )));
        }
        use sys::CUtensorMapDataType_enum as Type;
        let dtype = match map.dtype {
            DType::F16 => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            DType::BF16 => Type::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            DType::F32 => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            DType::F64 => Type::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
            other => match other.size() {
                1 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT8,
                2 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT16,
                4 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT32,
                8 => Type::CU_TENSOR_MAP_DATA_TYPE_UINT64,
                _ => return Err(refused(format!("of elements of {other}"))),
            },
        };
        let swizzle = match map.swizzled {
            true => sys::CUtensorMapSwizzle_enum::CU_TENSOR_MAP_SWIZZLE_128B,
            false => sys::CUtensorMapSwizzle_enum::CU_TENSOR_MAP_SWIZZLE_NONE,
        };
        let steps = vec![1u32; map.sizes.len()];
        let mut encoded = sys::CUtensorMap { opaque: [0; 16] };
        // SAFETY: the lists have as many entries as the map has dimensions, that of strides one less, as the driver's manual
        // says; the address is that of a tensor of the launch.
        let done = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut encoded,
                dtype,
                map.extents.len() as u32,
                address(view) as *mut c_void,
                map.extents.as_ptr(),
                map.strides[1..].as_ptr(),
                map.sizes.as_ptr(),
                steps.as_ptr(),
                sys::CUtensorMapInterleave_enum::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle,
                sys::CUtensorMapL2promotion_enum::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                sys::CUtensorMapFloatOOBfill_enum::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        done.result().map_err(|error| match failed("cuTensorMapEncodeTiled", error) {
            DeviceError::Driver { reason, .. } => refused(reason),
            lost => lost,
        })?;
        Ok(encoded)
    }
}

/// What the driver says of a device.
fn info(device: sys::CUdevice) -> Result<DeviceInfo, DeviceError> {
    use sys::CUdevice_attribute_enum as Attribute;
    let attribute = |which| {
        // SAFETY: the device is one of the driver's.
        let value = unsafe { result::device::get_attribute(device, which) };
        value.map(|v| v.max(0) as u32).map_err(|e| failed("cuDeviceGetAttribute", e))
    };
    let mut version = 0;
    // SAFETY: the address is that of a number.
    let driver = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
    driver.map_err(|e| failed("cuDriverGetVersion", e))?;
    let version = version.max(0) as u32;
    Ok(DeviceInfo {
        name: result::device::get_name(device).map_err(|e| failed("cuDeviceGetName", e))?,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        // SAFETY: the device is one of the driver's.
        memory: unsafe { result::device::total_mem(device) }.map_err(|e| failed("cuDeviceTotalMem", e))?
            as u64,
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?.into(),
        driver: (version / 1000, version % 1000 / 10),
    })
}

/// A stream that waits for no other one by itself.
fn new_stream() -> Result<sys::CUstream, DeviceError> {
    result::stream::create(result::stream::StreamKind::NonBlocking).map_err(|e| failed("cuStreamCreate", e))
}

fn address(view: View) -> sys::CUdeviceptr {
    view.memory.0 + view.offset
}

impl Device for Driver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.enter()?;
        let size =
            usize::try_from(bytes.max(1)).map_err(|_| DeviceError::OutOfMemory { bytes, free: None })?;
        // SAFETY: the context is current; the driver aligns to 256 bytes.
        match unsafe { result::malloc_sync(size) } {
            Ok(pointer) => Ok(Memory(pointer)),
            Err(error) if error.0 as u32 == 2 => {
                let free = result::mem_get_info().ok().map(|(free, _)| free as u64);
                Err(DeviceError::OutOfMemory { bytes, free })
            }
            Err(error) => Err(failed("cuMemAlloc", error)),
        }
    }

    fn free(&mut self, memory: Memory) {
        if self.enter().is_ok() {
            // SAFETY: it is memory of `allocate`, given back once; the driver waits for what uses it.
            let _ = unsafe { result::free_sync(memory.0) };
        }
    }

    fn select(&mut self, stream: Stream) -> Result<(), DeviceError> {
        let number = stream.0 as usize;
        self.enter()?;
        while self.streams.len() <= number {
            self.streams.push(new_stream()?);
        }
        self.stream = self.streams[number];
        Ok(())
    }

    fn event(&mut self, scope: Scope) -> Result<Event, DeviceError> {
        self.enter()?;
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(|e| failed("cuEventCreate", e))?;
        let number = self.number();
        self.events.insert(number, (event, scope));
        Ok(Event(number))
    }

    fn signal(&mut self, event: Event) -> Result<(), DeviceError> {
        self.enter()?;
        let &(event, scope) = self.events.get(&event.0).ok_or_else(no_event)?;
        // The flag is refused outside of a recording.
        let flags = match scope {
            Scope::Across if self.recording.is_some() => EXTERNAL,
            _ => 0,
        };
        // SAFETY: the event and the stream are of this context.
        let signalled = unsafe {
            match flags {
                0 => result::event::record(event, self.stream),
                flags => sys::cuEventRecordWithFlags(event, self.stream, flags).result(),
            }
        };
        signalled.map_err(|e| failed("cuEventRecord", e))
    }

    fn wait(&mut self, event: Event) -> Result<(), DeviceError> {
        self.enter()?;
        let &(event, scope) = self.events.get(&event.0).ok_or_else(no_event)?;
        let flags = match scope {
            Scope::Across if self.recording.is_some() => EXTERNAL,
            _ => 0,
        };
        // SAFETY: as in `signal`.
        unsafe { sys::cuStreamWaitEvent(self.stream, event, flags) }
            .result()
            .map_err(|e| failed("cuStreamWaitEvent", e))
    }

    fn drop_event(&mut self, event: Event) {
        if let (Some((event, _)), Ok(())) = (self.events.remove(&event.0), self.enter()) {
            // SAFETY: it is an event of this context, and destroyed once; the driver keeps what still waits for it.
            let _ = unsafe { result::event::destroy(event) };
        }
    }

    fn upload(&mut self, to: View, bytes: &[u8]) -> Result<(), DeviceError> {
        self.enter()?;
        self.staging.upload(address(to), bytes, self.stream)
    }

    fn download(&mut self, from: View, bytes: &mut [u8]) -> Result<(), DeviceError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.enter()?;
        // SAFETY: the view lies in memory of `allocate`; the bytes stay until the stream has been waited for.
        unsafe {
            result::memcpy_dtoh_async(bytes, address(from), self.stream)
                .map_err(|e| failed("cuMemcpyDtoH", e))?;
            result::stream::synchronize(self.stream).map_err(|e| failed("cuStreamSynchronize", e))
        }
    }

    fn copy(&mut self, from: View, to: View) -> Result<(), DeviceError> {
        if from.bytes == 0 {
            return Ok(());
        }
        self.enter()?;
        // SAFETY: both views lie in memory of `allocate`.
        unsafe { result::memcpy_dtod_async(address(to), address(from), from.bytes as usize, self.stream) }
            .map_err(|e| failed("cuMemcpyDtoD", e))
    }

    fn load(&mut self, ptx: &str) -> Result<Module, DeviceError> {
        self.enter()?;
        let text = CString::new(ptx).map_err(|_| DeviceError::Load("the PTX holds a zero byte".into()))?;
        let mut log = vec![0u8; LOG];
        let mut options = [
            sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option_enum::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), LOG as *mut c_void];
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a zero; the options are two, with the values that they have in the driver's manual.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(error) = loaded.result() {
            let said = String::from_utf8_lossy(&log).trim_matches(['\0', '\n', ' ']).to_string();
            let said = said.lines().take(8).collect::<Vec<_>>().join("\n  ");
            return Err(match failed("cuModuleLoadDataEx", error) {
                DeviceError::Driver { reason, .. } => DeviceError::Load(format!("{reason}\n  {said}")),
                lost => lost,
            });
        }
        let number = self.number();
        self.modules.insert(number, Loaded { module, functions: HashMap::new() });
        Ok(Module(number))
    }

    fn unload(&mut self, module: Module) {
        if let (Some(loaded), Ok(())) = (self.modules.remove(&module.0), self.enter()) {
            // SAFETY: it is loaded, and forgotten here.
            let _ = unsafe { result::module::unload(loaded.module) };
        }
    }

    fn launch(
        &mut self,
        module: Module,
        kernel: &str,
        shape: &Shape,
        args: &[View],
    ) -> Result<(), DeviceError> {
        self.enter()?;
        let function = self.function(module, kernel, shape.shared)?;
        let mut pointers: Vec<sys::CUdeviceptr> = args.iter().map(|&view| address(view)).collect();
        let mut maps = Vec::with_capacity(shape.maps.len());
        for map in &shape.maps {
            maps.push(self.encode(map, args)?);
        }
        let mut params: Vec<*mut c_void> =
            pointers.iter_mut().map(|p| std::ptr::from_mut(p).cast()).collect();
        params.extend(maps.iter_mut().map(|map| std::ptr::from_mut(map).cast::<c_void>()));
        let [x, y, z] = shape.blocks;
        // SAFETY: the kernel takes as many pointers and maps as its plan says, of tensors of these sizes, in memory of
        // `allocate`.
        // The driver copies the arguments before it returns.
        let launched = unsafe {
            result::launch_kernel(
                function,
                (x, y, z),
                (shape.threads, 1, 1),
                shape.shared,
                self.stream,
                &mut params,
            )
        };
        launched.map_err(|error| match failed("cuLaunchKernel", error) {
            DeviceError::Driver { reason, .. } => DeviceError::Launch(reason),
            other => other,
        })
    }

    fn prepare(&mut self, call: &Call) -> Result<u64, DeviceError> {
        self.enter()?;
        self.libraries.prepare(call, self.stream)
    }

    fn call(&mut self, call: &Call, tensors: &[View]) -> Result<(), DeviceError> {
        self.enter()?;
        let addresses: Vec<sys::CUdeviceptr> = tensors.iter().map(|&view| address(view)).collect();
        let workspace = tensors.last().map_or(0, |view| view.bytes);
        self.libraries.call(call, &addresses, workspace, self.stream)
    }

    fn synchronise(&mut self) -> Result<(), DeviceError> {
        self.enter()?;
        // All are waited for, whatever one of them says.
        let mut waited = Ok(());
        for &stream in &self.streams {
            // SAFETY: the streams are those of this value.
            let done = unsafe { result::stream::synchronize(stream) };
            waited = waited.and(done.map_err(|e| failed("cuStreamSynchronize", e)));
        }
        waited
    }

    fn mark(&mut self) -> Result<Mark, DeviceError> {
        self.enter()?;
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
            .map_err(|e| failed("cuEventCreate", e))?;
        // SAFETY: both are of this context.
        unsafe { result::event::record(event, self.stream) }.map_err(|e| failed("cuEventRecord", e))?;
        let number = self.number();
        self.marks.insert(number, event);
        Ok(Mark(number))
    }

    fn elapsed(&mut self, from: Mark, to: Mark) -> Result<f64, DeviceError> {
        self.enter()?;
        let events = (self.marks.remove(&from.0), self.marks.remove(&to.0));
        let (Some(from), Some(to)) = events else {
            return Err(DeviceError::Driver { call: "cuEventElapsedTime", reason: "no such moment".into() });
        };
        // SAFETY: both events are of this context, recorded, and destroyed once, here.
        unsafe {
            let waited = result::event::synchronize(to).map_err(|e| failed("cuEventSynchronize", e));
            let time = waited
                .and_then(|()| result::event::elapsed(from, to).map_err(|e| failed("cuEventElapsedTime", e)));
            let _ = result::event::destroy(from);
            let _ = result::event::destroy(to);
            time.map(f64::from)
        }
    }

    fn record(&mut self) -> Result<(), DeviceError> {
        self.enter()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is that of this value.
        unsafe { result::stream::begin_capture(self.stream, mode) }
            .map_err(|e| failed("cuStreamBeginCapture", e))?;
        self.recording = Some(self.stream);
        Ok(())
    }

    fn recorded(&mut self) -> Result<Recording, DeviceError> {
        let nothing =
            || DeviceError::Driver { call: "cuStreamEndCapture", reason: "nothing is recorded".into() };
        let stream = self.recording.take().ok_or_else(nothing)?;
        self.enter()?;
        // SAFETY: the graph is made here, and destroyed once it is instantiated.
        let made = unsafe {
            let graph = result::stream::end_capture(stream).map_err(|e| failed("cuStreamEndCapture", e))?;
            let made = result::graph::instantiate(graph, sys::CUgraphInstantiate_flags(0));
            let _ = result::graph::destroy(graph);
            made.map_err(|e| failed("cuGraphInstantiate", e))?
        };
        let number = self.number();
        self.graphs.insert(number, made);
        Ok(Recording(number))
    }

    fn replay(&mut self, recording: Recording) -> Result<(), DeviceError> {
        self.enter()?;
        let unknown = || DeviceError::Driver { call: "cuGraphLaunch", reason: "no such recording".into() };
        let graph = *self.graphs.get(&recording.0).ok_or_else(unknown)?;
        // SAFETY: the graph is instantiated, and the stream that of this value.
        unsafe { result::graph::launch(graph, self.stream) }.map_err(|e| failed("cuGraphLaunch", e))
    }

    fn forget(&mut self, recording: Recording) {
        if let (Some(graph), Ok(())) = (self.graphs.remove(&recording.0), self.enter()) {
            // SAFETY: it is instantiated, and destroyed once.
            let _ = unsafe { result::graph::exec_destroy(graph) };
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.enter().is_err() {
            return;
        }
        // SAFETY: everything here was made by this value and is destroyed once; the context is released last.
        unsafe {
            for &stream in &self.streams {
                let _ = result::stream::synchronize(stream);
            }
            self.libraries.close();
            self.staging.close();
            for graph in self.graphs.drain().map(|(_, g)| g) {
                let _ = result::graph::exec_destroy(graph);
            }
            let events = self.events.drain().map(|(_, (event, _))| event);
            for event in events.chain(self.marks.drain().map(|(_, mark)| mark)) {
                let _ = result::event::destroy(event);
            }
            for loaded in self.modules.drain().map(|(_, m)| m) {
                let _ = result::module::unload(loaded.module);
            }
            for stream in self.streams.drain(..) {
                let _ = result::stream::destroy(stream);
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
