//! Functions of the runtime, which are called as they are.

use super::{Done, FaultKind, Process};
use crate::{Elem, Type};
use surject_runtime::library::{surject_clock, symbols};

/// The most operands of a function.
const MOST: usize = 12;

impl Process<'_> {
    /// Calls a function of the runtime.
    pub(super) fn outside(
        &mut self,
        name: &str,
        bits: &[u64],
        types: &[Type],
        result: Option<Type>,
    ) -> Done<Option<u64>> {
        if name == "surject_clock" {
            return Ok(Some(surject_clock() as u64));
        }
        let found = symbols().iter().find(|symbol| symbol.name() == name);
        let address = found.ok_or_else(|| FaultKind::NoFunction(name.to_string()))?.address();
        let all = |ty: Type| types.iter().all(|&t| t == ty);
        let (single, double) = (Elem::F32.ty(1), Elem::F64.ty(1));
        let whole = |ty: &Type| matches!(ty, Type::Pointer) || *ty == Type::I64;
        let unknown = || FaultKind::Unknown(format!("a call of `{name}` with these types"));
        // SAFETY: here and below the address is that of a function of the runtime with this name; what compiled code calls
        // by it has the signature that the types of the call say, of which these are all. Addresses are those of memory
        // of the process, whose sizes are what the code says to the function, as in compiled code.
        unsafe {
            if result == Some(single) && !types.is_empty() && all(single) {
                let of = |i: usize| f32::from_bits(bits[i] as u32);
                let value = match bits.len() {
                    1 => std::mem::transmute::<*const (), extern "C" fn(f32) -> f32>(address)(of(0)),
                    2 => std::mem::transmute::<*const (), extern "C" fn(f32, f32) -> f32>(address)(
                        of(0),
                        of(1),
                    ),
                    _ => return Err(unknown()),
                };
                return Ok(Some(u64::from(value.to_bits())));
            }
            if result == Some(double) && !types.is_empty() && all(double) {
                let of = |i: usize| f64::from_bits(bits[i]);
                let value = match bits.len() {
                    1 => std::mem::transmute::<*const (), extern "C" fn(f64) -> f64>(address)(of(0)),
                    2 => std::mem::transmute::<*const (), extern "C" fn(f64, f64) -> f64>(address)(
                        of(0),
                        of(1),
                    ),
                    _ => return Err(unknown()),
                };
                return Ok(Some(value.to_bits()));
            }
            if result != Some(Elem::I32.ty(1)) || !types.iter().all(whole) || bits.len() > MOST {
                return Err(unknown());
            }
            let mut given = [0; MOST];
            given[..bits.len()].copy_from_slice(bits);
            let [a, b, c, d, e, f, g, h, i, j, k, l] = given;
            // Operands beyond those that a function has are not looked at.
            type Whole = extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> i32;
            let status = std::mem::transmute::<*const (), Whole>(address)(a, b, c, d, e, f, g, h, i, j, k, l);
            for (&at, _) in bits.iter().zip(types).filter(|(_, ty)| **ty == Type::Pointer) {
                self.memory.written_from(at);
                // Addresses of what it writes may stand in an array.
                self.memory.written_through(at);
            }
            Ok(Some(u64::from(status as u32)))
        }
    }
}
