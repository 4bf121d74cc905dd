//! The registers for tiles of this machine (AMX).

use std::sync::OnceLock;

/// What a machine multiplies in registers for tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiles {
    /// Integers of 8 bits, with sums of 32.
    pub bytes: bool,
    /// Pairs of `bf16`, with sums in `f32`.
    pub halves: bool,
}

impl Tiles {
    /// No such registers.
    pub const NONE: Tiles = Tiles { bytes: false, halves: false };
}

/// What this machine does. The system lets a process use these registers only if it asks for them, and this asks.
pub fn host() -> Tiles {
    static FOUND: OnceLock<Tiles> = OnceLock::new();
    *FOUND.get_or_init(find)
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn find() -> Tiles {
    /// The request, and the state that holds what is in the registers.
    const ASK_FOR_STATE: libc::c_int = 0x1023;
    const TILE_DATA: libc::c_ulong = 18;
    // SAFETY: the call asks for leave and changes nothing else; a system that does not know it says so.
    let granted = unsafe { libc::syscall(libc::SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) } == 0;
    if !granted || std::arch::x86_64::__cpuid(0).eax < 7 {
        return Tiles::NONE;
    }
    let has = |bit: u32| std::arch::x86_64::__cpuid_count(7, 0).edx >> bit & 1 == 1;
    let registers = has(24);
    Tiles { bytes: registers && has(25), halves: registers && has(22) }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn find() -> Tiles {
    Tiles::NONE
}
