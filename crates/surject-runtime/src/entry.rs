//! The entry of compiled code, which is called where it has the stack that it needs.

use crate::stack;

/// A function of compiled code: arrays of pointers to its arguments and to its results, memory for what lies between, and an
/// array of pointers to its constants.
type Function = unsafe extern "C" fn(*const *const u8, *const *mut u8, *mut u8, *const *const u8);

/// The entry of compiled code. Every call has enough stack for the memory of a kernel ([`stack::KERNEL`]), whatever is left of
/// that of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Entry(Function);

impl Entry {
    /// The entry at an address.
    ///
    /// # Safety
    /// At the address stands a function of machine code `void(const void *const *arguments, void *const *results, void *arena,
    /// const void *const *constants)`, as the code generator makes entries, as long as the entry is called.
    pub unsafe fn at(address: *const ()) -> Entry {
        // SAFETY: the caller's promise; a pointer to a function has the size of an address.
        Entry(unsafe { std::mem::transmute::<*const (), Function>(address) })
    }

    /// Runs the function.
    ///
    /// # Safety
    /// The pointers are as many, and each points to as many bytes and is aligned, as the code expects; results and arena are
    /// read and written by nobody else meanwhile.
    pub unsafe fn call(
        self,
        args: &[*const u8],
        results: &[*mut u8],
        arena: *mut u8,
        constants: &[*const u8],
    ) {
        // SAFETY: the caller's promise.
        let run = || unsafe { (self.0)(args.as_ptr(), results.as_ptr(), arena, constants.as_ptr()) };
        stack::with_enough(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums a panel as large as a kernel's on the stack.
    unsafe extern "C" fn panel(
        args: *const *const u8,
        results: *const *mut u8,
        arena: *mut u8,
        constants: *const *const u8,
    ) {
        // SAFETY: the test gives a byte of each.
        let values = unsafe { [args.read().read(), arena.read(), constants.read().read()] };
        let panel = std::hint::black_box([values[0]; stack::KERNEL]);
        let sum = panel.iter().fold(0u8, |sum, x| sum.wrapping_add(x & 1));
        // SAFETY: as above.
        unsafe { results.read().write(sum.wrapping_add(values[1]).wrapping_add(values[2])) };
    }

    #[test]
    fn a_call_on_a_small_stack_has_enough() {
        let small = std::thread::Builder::new().stack_size(128 << 10);
        let sum = small.spawn(|| {
            let (arg, mut result, mut arena, constant) = (1u8, 0u8, 2u8, 3u8);
            // SAFETY: the function is one, and gets a byte of each.
            unsafe {
                let entry = Entry::at(panel as *const ());
                entry.call(&[&raw const arg], &[&raw mut result], &raw mut arena, &[&raw const constant]);
            }
            result
        });
        let bytes = stack::KERNEL.to_le_bytes()[0];
        assert_eq!(sum.unwrap().join().unwrap(), bytes.wrapping_add(5));
    }
}
