//! What a plan needs of a machine.

use crate::TensorMap;
use crate::call::{Call, Library};

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its name, as the driver says it.
    pub name: String,
    /// Its compute capability, such as (9, 0).
    pub capability: (u32, u32),
    /// Bytes of its memory.
    pub memory: u64,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block may ask for.
    pub shared: u64,
    /// The version of CUDA that the driver supports, such as (12, 4).
    pub driver: (u32, u32),
}

impl DeviceInfo {
    /// The newest of the architectures that the device runs PTX for. PTX for an architecture with a letter behind its
    /// number runs on that alone.
    pub fn architecture<'a>(&self, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        let own = 10 * self.capability.0 + self.capability.1;
        let fits = |name: &&str| {
            let number = name.strip_prefix("sm_")?;
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            let value: u32 = digits.parse().ok()?;
            let runs = if digits.len() == number.len() { value <= own } else { value == own };
            runs.then_some((value, digits.len() < number.len()))
        };
        known.into_iter().filter(|name| fits(name).is_some()).max_by_key(fits)
    }
}

/// Memory of a device, as the device numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Memory(pub u64);

/// Bytes of memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// In which memory.
    pub memory: Memory,
    /// From which byte on.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// Code that is loaded, as the device numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Module(pub u64);

/// A moment in the order of what a device does, as the device numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub u64);

/// A queue of a device, by number: what is asked for on one is done in order, and beside what is asked for on others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stream(pub u32);

/// A point in a stream that others can wait for, as the device numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(pub u64);

/// Whose streams an event orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of one recording, or of what is done at once.
    Inside,
    /// What is recorded with what is not: a recording that waits for it does so each time it is replayed, and one that
    /// signals it signals it each time.
    Across,
}

/// Launches and copies that were recorded, as the device numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording(pub u64);

/// How a kernel is launched.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shape {
    /// Blocks in each dimension, at least one.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the launch gives to each block, beside what the kernel has of its own.
    pub shared: u32,
    /// Maps of its tensors, its arguments behind these.
    #[serde(default)]
    pub maps: Vec<TensorMap>,
}

/// What went wrong on a device. The kernel and its assignment are named where the error is passed on
/// ([`crate::RunError`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The driver cannot be loaded, or does not start.
    #[error(
        "there is no CUDA driver: {0}\n  = help: install NVIDIA's driver (`surject doctor` says what is found), or run on a CPU: \
         `surject run --backend cpu`; for `surject-run`, `surject compile --target cpu:host`"
    )]
    NoDriver(String),
    /// The driver knows no device.
    #[error(
        "the CUDA driver finds no GPU\n  = help: `nvidia-smi` lists them; CUDA_VISIBLE_DEVICES may hide them"
    )]
    NoDevice,
    /// No architecture that kernels are made for runs on the device.
    #[error("kernels are made for {known}; {name} has compute capability {}.{}", capability.0, capability.1)]
    Architecture {
        /// The device.
        name: String,
        /// What it has.
        capability: (u32, u32),
        /// What there is.
        known: String,
    },
    /// There is not so much memory.
    #[error("the GPU has no {bytes} bytes of memory to give{}", free.map_or(String::new(), |f| format!("; {f} are free")))]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: u64,
        /// How many were free.
        free: Option<u64>,
    },
    /// The driver refuses the PTX.
    #[error("the driver does not load the kernels: {0}")]
    Load(String),
    /// A module without this kernel.
    #[error("the module has no kernel `{0}`")]
    NoKernel(String),
    /// A kernel is not launched.
    #[error("the launch is refused: {0}")]
    Launch(String),
    /// The device is gone, or a kernel did what takes the device away from the process. Nothing that was on it is left.
    #[error("the GPU is lost: {0}")]
    Lost(String),
    /// A library is not there.
    #[error("{library} is not there: {reason}")]
    NoLibrary {
        /// Which one.
        library: Library,
        /// What was looked for.
        reason: String,
    },
    /// A library refuses a call.
    #[error("{library} refuses {call}: {reason}")]
    Library {
        /// Which one.
        library: Library,
        /// The call.
        call: String,
        /// What it says.
        reason: String,
    },
    /// Another call of the driver failed.
    #[error("{call}: {reason}")]
    Driver {
        /// The call.
        call: &'static str,
        /// What the driver says.
        reason: String,
    },
}

/// What a plan needs of a machine. What is asked for is done in the order of its stream, which is the first one until
/// [`Device::select`] says otherwise; only [`Device::download`], [`Device::synchronise`] and [`Device::elapsed`] wait for it.
pub trait Device {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Memory, aligned to 256 bytes, that holds anything. Zero bytes are memory as well.
    fn allocate(&mut self, bytes: u64) -> Result<Memory, DeviceError>;

    /// Gives memory back, for what is asked later.
    fn free(&mut self, memory: Memory);

    /// What is asked for from here on goes to this stream.
    fn select(&mut self, stream: Stream) -> Result<(), DeviceError>;

    /// A new event, which nothing has signalled.
    fn event(&mut self, scope: Scope) -> Result<Event, DeviceError>;

    /// The event is there when all before it in the stream is done.
    fn signal(&mut self, event: Event) -> Result<(), DeviceError>;

    /// What comes behind it in the stream waits for the event, as it was signalled last; if nothing has, not at all.
    fn wait(&mut self, event: Event) -> Result<(), DeviceError>;

    /// Forgets an event that nothing waits for any more.
    fn drop_event(&mut self, event: Event);

    /// Bytes of the host onto the device; they may be changed afterwards.
    fn upload(&mut self, to: View, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Bytes of the device, when all before in the stream is done.
    fn download(&mut self, from: View, bytes: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies between places that do not overlap, of one size.
    fn copy(&mut self, from: View, to: View) -> Result<(), DeviceError>;

    /// Loads PTX.
    fn load(&mut self, ptx: &str) -> Result<Module, DeviceError>;

    /// Forgets code.
    fn unload(&mut self, module: Module);

    /// Launches a kernel; its arguments are the addresses of the views, and maps of them.
    fn launch(
        &mut self,
        module: Module,
        kernel: &str,
        shape: &Shape,
        args: &[View],
    ) -> Result<(), DeviceError>;

    /// Makes ready for a call of a library, and gives the bytes of its workspace. An error of the kinds
    /// [`DeviceError::NoLibrary`] and [`DeviceError::Library`] says why the device does not have the call, and the host does
    /// it.
    fn prepare(&mut self, call: &Call) -> Result<u64, DeviceError>;

    /// Does a call of a library on its operands and its workspace, which the device was made ready for.
    fn call(&mut self, call: &Call, tensors: &[View]) -> Result<(), DeviceError>;

    /// Waits for all streams.
    fn synchronise(&mut self) -> Result<(), DeviceError>;

    /// The moment in which all before in the stream is done.
    fn mark(&mut self) -> Result<Mark, DeviceError>;

    /// The milliseconds between two moments, which are then forgotten.
    fn elapsed(&mut self, from: Mark, to: Mark) -> Result<f64, DeviceError>;

    /// From here on, launches and copies are recorded and not done: those of the stream, and of the streams that wait for
    /// events which are recorded. At its end the stream has waited for all of these.
    fn record(&mut self) -> Result<(), DeviceError>;

    /// Ends a recording.
    fn recorded(&mut self) -> Result<Recording, DeviceError>;

    /// Does what was recorded, in the order of the stream as one.
    fn replay(&mut self, recording: Recording) -> Result<(), DeviceError>;

    /// Forgets a recording.
    fn forget(&mut self, recording: Recording);
}

/// What a device leaves to another one: everything but its description and its memory.
macro_rules! forward {
    ($this:ident => $device:expr) => {
        fn select(&mut $this, stream: Stream) -> Result<(), DeviceError> {
            $device.select(stream)
        }

        fn event(&mut $this, scope: Scope) -> Result<Event, DeviceError> {
            $device.event(scope)
        }

        fn signal(&mut $this, event: Event) -> Result<(), DeviceError> {
            $device.signal(event)
        }

        fn wait(&mut $this, event: Event) -> Result<(), DeviceError> {
            $device.wait(event)
        }

        fn drop_event(&mut $this, event: Event) {
            $device.drop_event(event);
        }

        fn upload(&mut $this, to: View, bytes: &[u8]) -> Result<(), DeviceError> {
            $device.upload(to, bytes)
        }

        fn download(&mut $this, from: View, bytes: &mut [u8]) -> Result<(), DeviceError> {
            $device.download(from, bytes)
        }

        fn copy(&mut $this, from: View, to: View) -> Result<(), DeviceError> {
            $device.copy(from, to)
        }

        fn load(&mut $this, ptx: &str) -> Result<Module, DeviceError> {
            $device.load(ptx)
        }

        fn unload(&mut $this, module: Module) {
            $device.unload(module);
        }

        fn launch(
            &mut $this,
            module: Module,
            kernel: &str,
            shape: &Shape,
            args: &[View],
        ) -> Result<(), DeviceError> {
            $device.launch(module, kernel, shape, args)
        }

        fn prepare(&mut $this, call: &Call) -> Result<u64, DeviceError> {
            $device.prepare(call)
        }

        fn call(&mut $this, call: &Call, tensors: &[View]) -> Result<(), DeviceError> {
            $device.call(call, tensors)
        }

        fn synchronise(&mut $this) -> Result<(), DeviceError> {
            $device.synchronise()
        }

        fn mark(&mut $this) -> Result<Mark, DeviceError> {
            $device.mark()
        }

        fn elapsed(&mut $this, from: Mark, to: Mark) -> Result<f64, DeviceError> {
            $device.elapsed(from, to)
        }

        fn record(&mut $this) -> Result<(), DeviceError> {
            $device.record()
        }

        fn recorded(&mut $this) -> Result<Recording, DeviceError> {
            $device.recorded()
        }

        fn replay(&mut $this, recording: Recording) -> Result<(), DeviceError> {
            $device.replay(recording)
        }

        fn forget(&mut $this, recording: Recording) {
            $device.forget(recording);
        }
    };
}
pub(crate) use forward;

/// A device behind a pointer is one.
macro_rules! pointer {
    ($pointer:ty) => {
        impl<D: Device + ?Sized> Device for $pointer {
            fn info(&self) -> &DeviceInfo {
                (**self).info()
            }

            fn allocate(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
                (**self).allocate(bytes)
            }

            fn free(&mut self, memory: Memory) {
                (**self).free(memory);
            }

            forward!(self => (**self));
        }
    };
}

pointer!(&mut D);
pointer!(Box<D>);
