//! The C interface, as `include/surject.h` declares it.
//!
//! No function unwinds into its caller. What failed is a text that [`surject_last_error`] gives to the same thread.

use crate::loaded::Loaded;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use surject_cuda::DeviceName;
use surject_runtime::Buffer;

/// A loaded program, behind a pointer.
pub struct Program {
    loaded: Loaded,
    /// The names of the element types of the arguments and of the results, for C.
    names: [Vec<CString>; 2],
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Runs a function; `None`, and a text for the caller, where it fails or panics.
fn guarded<T>(function: impl FnOnce() -> Result<T, String>) -> Option<T> {
    let result =
        catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|_| Err("a defect of the runner".into()));
    let text = match result {
        Ok(value) => return Some(value),
        Err(text) => text.replace('\0', " "),
    };
    ERROR.with(|error| *error.borrow_mut() = CString::new(text).unwrap_or_default());
    None
}

/// Why the last call of this thread failed; it stays until the next failure.
#[unsafe(no_mangle)]
pub extern "C" fn surject_last_error() -> *const c_char {
    ERROR.with(|error| error.borrow().as_ptr())
}

/// Loads an archive; one for a GPU onto the device of a name (null: the first GPU). Null where that fails.
///
/// # Safety
/// `path` is a string, and `device` is one or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surject_load(path: *const c_char, device: *const c_char) -> *mut Program {
    let load = || {
        // SAFETY: the promise of the caller.
        let text = |p: *const c_char| unsafe { CStr::from_ptr(p) }.to_str().map_err(|e| e.to_string());
        if path.is_null() {
            return Err("there is no path".to_string());
        }
        let device = if device.is_null() { DeviceName::default() } else { text(device)?.parse()? };
        let loaded = Loaded::open(Path::new(text(path)?), device).map_err(|e| e.to_string())?;
        let names = [loaded.params(), loaded.results()]
            .map(|ports| ports.iter().map(|p| CString::new(p.dtype.as_str()).unwrap_or_default()).collect());
        Ok(Box::into_raw(Box::new(Program { loaded, names })))
    };
    guarded(load).unwrap_or(std::ptr::null_mut())
}

/// Forgets a program.
///
/// # Safety
/// It is one of [`surject_load`] and was not forgotten, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surject_free(program: *mut Program) {
    if !program.is_null() {
        // SAFETY: the promise of the caller.
        let program = unsafe { Box::from_raw(program) };
        guarded(|| {
            drop(program);
            Ok(())
        });
    }
}

/// How many arguments (`side` 0) or results (1) a program has; 0 for another side.
///
/// # Safety
/// The program is one of [`surject_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surject_count(program: *const Program, side: i32) -> usize {
    // SAFETY: the promise of the caller.
    let program = unsafe { &*program };
    ports(program, side).map_or(0, |ports| ports.len())
}

fn ports(program: &Program, side: i32) -> Option<&[crate::Port]> {
    match side {
        0 => Some(program.loaded.params()),
        1 => Some(program.loaded.results()),
        _ => None,
    }
}

/// The type of an argument or a result: the name of its elements, how many sizes there are, and these. 0, or -1 where
/// there is none of that number.
///
/// # Safety
/// The program is one of [`surject_load`]; each pointer is one to what is written there, or null. What comes back stays
/// as long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surject_type(
    program: *const Program,
    side: i32,
    number: usize,
    dtype: *mut *const c_char,
    rank: *mut usize,
    sizes: *mut *const usize,
) -> i32 {
    // SAFETY: the promise of the caller.
    let program = unsafe { &*program };
    let Some(port) = ports(program, side).and_then(|ports| ports.get(number)) else { return -1 };
    // SAFETY: the promise of the caller.
    unsafe {
        if !dtype.is_null() {
            *dtype = program.names[side as usize][number].as_ptr();
        }
        if !rank.is_null() {
            *rank = port.shape.len();
        }
        if !sizes.is_null() {
            *sizes = port.shape.as_ptr();
        }
    }
    0
}

/// Runs a program: reads the arguments and writes the results, row-major elements each. 0, or -1 where that fails.
///
/// # Safety
/// The program is one of [`surject_load`], which no other thread uses; there is a pointer for every argument and for every
/// result, to as many bytes as its type has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surject_run(
    program: *mut Program,
    args: *const *const c_void,
    results: *const *mut c_void,
) -> i32 {
    // SAFETY: the promise of the caller.
    let program = unsafe { &mut *program };
    let run = || {
        let mut buffers = Vec::new();
        for (i, port) in program.loaded.params().iter().enumerate() {
            let dtype = port.dtype().ok_or_else(|| format!("`{}` is no element type", port.dtype))?;
            let bytes = port.bytes().ok_or("an argument is larger than memory")?;
            let bytes = match bytes {
                0 => &[],
                // SAFETY: the promise of the caller.
                _ => unsafe { std::slice::from_raw_parts((*args.add(i)).cast::<u8>(), bytes) },
            };
            buffers.push(
                Buffer::from_bytes(dtype, &port.shape, bytes).ok_or("an argument does not fit in memory")?,
            );
        }
        let found = program.loaded.run(&buffers).map_err(|e| e.to_string())?;
        for (i, buffer) in found.iter().enumerate() {
            let bytes = buffer.bytes();
            if !bytes.is_empty() {
                // SAFETY: the promise of the caller.
                unsafe {
                    (*results.add(i)).cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
                };
            }
        }
        Ok(())
    };
    guarded(run).map_or(-1, |()| 0)
}
