//! Workers that hold a task while the system runs something else on their processor.
//!
//! Another process that keeps a processor busy gets its share of it, some milliseconds at a time. A worker that is
//! put aside with a task in hand would hold up the caller for as long, although the caller's own processor has
//! nothing to do but wait. So the caller, before it sleeps, looks for workers whose processor time does not grow,
//! and takes them to its own processor, which it leaves by sleeping. Afterwards they may run anywhere but there.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// A worker, as the caller sees it.
#[derive(Default)]
pub(super) struct Member {
    /// The thread, as the system calls it; 0 until it runs.
    thread: AtomicI32,
    /// May it hold a task?
    busy: AtomicBool,
}

impl Member {
    /// Called by the worker itself, first of all.
    pub(super) fn enter(&self) {
        self.thread.store(system::thread(), Ordering::Release);
    }

    /// Says whether the worker may hold a task.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Release);
    }
}

/// Workers that were taken elsewhere.
#[derive(Default)]
pub(super) struct Moved {
    /// The processor that they were taken to, and must not stay on.
    processor: Option<usize>,
    threads: Vec<i32>,
}

impl Moved {
    /// Takes the workers that hold a task and do not run to the processor of the caller, who sleeps next.
    pub(super) fn fetch(&mut self, members: &[std::sync::Arc<Member>]) {
        let busy = members.iter().filter(|m| m.busy.load(Ordering::Acquire));
        let before: Vec<(i32, u64)> = busy
            .filter_map(|m| {
                let thread = m.thread.load(Ordering::Acquire);
                Some((thread, system::time(thread)?))
            })
            .collect();
        let Some(here) = system::processor().filter(|_| !before.is_empty()) else { return };
        let start = std::time::Instant::now();
        while start.elapsed().as_nanos() < 4_000 {
            std::hint::spin_loop();
        }
        for (thread, time) in before {
            if system::time(thread).is_some_and(|now| now - time < 1_000)
                && system::restrict(thread, here, true)
            {
                self.processor = Some(here);
                if !self.threads.contains(&thread) {
                    self.threads.push(thread);
                }
            }
        }
    }

    /// Sends them away again: this processor is the caller's.
    pub(super) fn dismiss(&mut self) {
        if let Some(here) = self.processor {
            self.threads.iter().for_each(|&t| {
                system::restrict(t, here, false);
            });
        }
    }

    /// Lets them run anywhere where the caller runs elsewhere now.
    pub(super) fn free(&mut self) {
        if self.processor.is_some() && system::processor() != self.processor {
            self.forget();
        }
    }

    /// Lets them run anywhere.
    pub(super) fn forget(&mut self) {
        self.threads.drain(..).for_each(system::release);
        self.processor = None;
    }
}

#[cfg(target_os = "linux")]
mod system {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }

    type Mask = [u64; 16];

    unsafe extern "C" {
        fn gettid() -> i32;
        fn sched_getcpu() -> i32;
        fn sched_getaffinity(thread: i32, bytes: usize, mask: *mut u64) -> i32;
        fn sched_setaffinity(thread: i32, bytes: usize, mask: *const u64) -> i32;
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }

    pub(super) fn thread() -> i32 {
        // SAFETY: no arguments.
        unsafe { gettid() }
    }

    /// The processor this thread runs on.
    pub(super) fn processor() -> Option<usize> {
        // SAFETY: no arguments.
        usize::try_from(unsafe { sched_getcpu() }).ok().filter(|&p| p < 1024)
    }

    /// Nanoseconds that a thread has run.
    pub(super) fn time(thread: i32) -> Option<u64> {
        // The clock of a thread, by the kernel's encoding: its complement, then "one thread, scheduler's time".
        let clock = !thread << 3 | 6;
        let mut time = Time { seconds: 0, nanoseconds: 0 };
        // SAFETY: the structure is alive.
        let failed = thread == 0 || unsafe { clock_gettime(clock, &mut time) } != 0;
        (!failed).then_some(time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64)
    }

    fn own_mask() -> Option<Mask> {
        let mut mask = Mask::default();
        // SAFETY: the mask is as long as it says.
        (unsafe { sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr()) } >= 0).then_some(mask)
    }

    fn set(thread: i32, mask: &Mask) -> bool {
        // SAFETY: the mask is as long as it says.
        unsafe { sched_setaffinity(thread, size_of_val(mask), mask.as_ptr()) == 0 }
    }

    /// Lets a thread run on one processor only, or on those of the caller but this one, if there is another.
    pub(super) fn restrict(thread: i32, processor: usize, only: bool) -> bool {
        let Some(own) = own_mask() else { return false };
        let bit = 1u64 << (processor % 64);
        let mut mask = if only { Mask::default() } else { own };
        if only {
            mask[processor / 64] = bit;
        } else {
            mask[processor / 64] &= !bit;
        }
        set(thread, if mask == Mask::default() { &own } else { &mask })
    }

    /// Lets a thread run where the caller may.
    pub(super) fn release(thread: i32) {
        if let Some(own) = own_mask() {
            set(thread, &own);
        }
    }
}

/// Elsewhere the system is left to itself.
#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn thread() -> i32 {
        0
    }
    pub(super) fn processor() -> Option<usize> {
        None
    }
    pub(super) fn time(_: i32) -> Option<u64> {
        None
    }
    pub(super) fn restrict(_: i32, _: usize, _: bool) -> bool {
        false
    }
    pub(super) fn release(_: i32) {}
}
