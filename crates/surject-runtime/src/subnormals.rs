//! What becomes of subnormal numbers: a mode of the processor, thread by thread.
//!
//! IEEE 754 has them, and the reference interpreter does. Many processors take some hundred cycles for an instruction
//! that multiplies or divides by one or results in one, which is why XLA, IREE and most run times of neural networks let
//! them be zeros. The softmax of large scores is full of them.

use std::fmt::{self, Display};
use std::str::FromStr;

/// What arithmetic on `f32` and `f64` does with numbers nearer to zero than the smallest normal one, 2⁻¹²⁶ and 2⁻¹⁰²².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subnormals {
    /// They are numbers, as in IEEE 754.
    #[default]
    Keep,
    /// As operands and as results they are zeros of the same sign, on processors that can do so (x86-64, AArch64); an
    /// absolute error of no more than the smallest normal number an operand and a result. Loads, stores, integers and
    /// conversions of halves are as ever.
    Flush,
}

impl FromStr for Subnormals {
    type Err = String;

    fn from_str(text: &str) -> Result<Subnormals, String> {
        match text {
            "keep" => Ok(Subnormals::Keep),
            "flush" => Ok(Subnormals::Flush),
            other => Err(format!("`{other}` is neither `keep` nor `flush`")),
        }
    }
}

impl Display for Subnormals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subnormals::Keep => "keep",
            Subnormals::Flush => "flush",
        })
    }
}

impl Subnormals {
    /// Runs `f` in this mode, on this thread and in the jobs that it hands to the [`pool`](crate::pool); with
    /// [`Subnormals::Keep`] the thread stays as its owner has set it.
    pub fn during<T>(self, f: impl FnOnce() -> T) -> T {
        match self {
            Subnormals::Keep => f(),
            Subnormals::Flush => Mode::now().flushing().during(f),
        }
    }
}

/// The floating-point mode of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode(control::Word);

impl Mode {
    /// That of this thread.
    pub(crate) fn now() -> Mode {
        Mode(control::read())
    }

    fn flushing(self) -> Mode {
        Mode(self.0 | control::FLUSH)
    }

    /// Runs `f` in this mode, and returns to the one before, also when `f` panics.
    pub(crate) fn during<T>(self, f: impl FnOnce() -> T) -> T {
        /// Sets the mode when it is dropped.
        struct Back(Mode);
        impl Drop for Back {
            fn drop(&mut self) {
                control::write(self.0.0);
            }
        }
        let before = Mode::now();
        if before == self {
            return f();
        }
        let _back = Back(before);
        control::write(self.0);
        f()
    }
}

/// MXCSR, without the flags that tell what has happened so far.
#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    pub type Word = u32;

    /// Results are flushed to zero, and operands taken for zeros.
    pub const FLUSH: Word = 1 << 15 | 1 << 6;
    const FLAGS: Word = 0x3f;

    pub fn read() -> Word {
        let mut word: Word = 0;
        // SAFETY: writes the control word of this thread to `word`; every x86-64 processor has it.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word & !FLAGS
    }

    pub fn write(word: Word) {
        // SAFETY: `word` is one that was read, with or without `FLUSH`: rounding and masks stay. What Rust code does
        // while subnormal numbers are flushed is what library kernels do for compiled code, which allows for it.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags, readonly)) };
    }
}

/// FPCR.
#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub type Word = u64;

    /// Operands and results are flushed to zero.
    pub const FLUSH: Word = 1 << 24;

    pub fn read() -> Word {
        let word: Word;
        // SAFETY: reads the control register of this thread.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    pub fn write(word: Word) {
        // SAFETY: `word` is one that was read, with or without `FLUSH`.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

/// Nothing can be set.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod control {
    pub type Word = u8;
    pub const FLUSH: Word = 0;

    pub fn read() -> Word {
        0
    }

    pub fn write(_: Word) {}
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::pool;
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Half of the smallest normal number.
    fn half() -> f32 {
        black_box(f32::MIN_POSITIVE) * black_box(0.5)
    }

    #[test]
    fn the_mode_ends_with_what_runs_in_it() {
        assert!(half() > 0.0);
        assert_eq!(Subnormals::Flush.during(half), 0.0);
        assert!(half() > 0.0);
        let panic = std::panic::catch_unwind(|| Subnormals::Flush.during(|| panic!("on purpose")));
        assert!(panic.is_err() && half() > 0.0);
        assert!(Subnormals::Flush.during(|| Subnormals::Keep.during(half)) == 0.0, "the owner has set it");
    }

    #[test]
    fn jobs_run_in_the_mode_of_their_caller() {
        for (mode, expected) in [(Subnormals::Flush, 0), (Subnormals::Keep, 64)] {
            let kept = AtomicU32::new(0);
            mode.during(|| {
                pool::parallel_for(64, &|_| {
                    std::thread::sleep(std::time::Duration::from_micros(50));
                    kept.fetch_add(u32::from(half() > 0.0), Ordering::Relaxed);
                });
            });
            assert_eq!(kept.into_inner(), expected, "{mode}");
        }
    }

    #[test]
    fn it_is_read_as_it_is_printed() {
        for mode in [Subnormals::Keep, Subnormals::Flush] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert!("maybe".parse::<Subnormals>().is_err());
    }
}
