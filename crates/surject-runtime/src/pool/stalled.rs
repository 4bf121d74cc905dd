//! Workers that wait for a processor.
//!
//! Where other processes keep processors busy, the system may as well put a worker that wakes up on the processor of
//! the caller: both have as much to do as anything else. There the two take turns, and two threads are no faster than
//! one. So a worker that finds itself there leaves before it takes a task, and waits for its share of another
//! processor.
//!
//! Another process that keeps a processor busy gets its share of it, some milliseconds at a time. A worker that is
//! put aside with a task in hand would hold up the caller for as long, although the caller's own processor has
//! nothing to do but wait. So the caller, while it waits, looks for workers whose processor time does not grow,
//! and takes them to its own processor, which it leaves by sleeping. Afterwards they may run anywhere but there.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

/// A worker, as the caller sees it.
#[derive(Default)]
pub(super) struct Member {
    /// The thread, as the system calls it; 0 until it runs.
    thread: AtomicI32,
    /// May it hold a task?
    busy: AtomicBool,
    /// Has it left the processor of the caller, so that it may not run there?
    left: AtomicBool,
}

/// Where the caller is: how the system calls it, and the processor it was on when its job began.
#[derive(Default)]
pub(super) struct Caller {
    thread: AtomicI32,
    processor: AtomicUsize,
}

impl Member {
    /// Called by the worker itself, first of all.
    pub(super) fn enter(&self) {
        self.thread.store(system::thread(), Ordering::Release);
    }

    /// Called by the worker itself, before it takes a task: leaves the processor of the caller, if there is another.
    pub(super) fn leave(&self, caller: &Caller) {
        let Some(here) = system::processor() else { return };
        if here == caller.processor.load(Ordering::Relaxed) {
            let (own, caller) = (self.thread.load(Ordering::Relaxed), caller.thread.load(Ordering::Relaxed));
            if system::restrict(own, caller, Allowed::AllBut(here)) {
                self.left.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Says whether the worker may hold a task.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Release);
    }
}

impl Caller {
    /// Called by the caller itself, before its job begins. Workers that have left its processor may run there again if
    /// it runs elsewhere now.
    pub(super) fn enter(&self, members: &[std::sync::Arc<Member>]) {
        thread_local! {
            static THREAD: i32 = system::thread();
        }
        let Some(here) = system::processor() else { return };
        let thread = THREAD.with(|t| *t);
        self.thread.store(thread, Ordering::Relaxed);
        if self.processor.swap(here, Ordering::Relaxed) != here {
            for member in members.iter().filter(|m| m.left.swap(false, Ordering::Relaxed)) {
                system::release(member.thread.load(Ordering::Relaxed));
            }
        }
    }
}

/// Workers that were taken elsewhere.
#[derive(Default)]
pub(super) struct Moved {
    /// The processor that they were taken to, and must not stay on.
    processor: Option<usize>,
    threads: Vec<i32>,
    /// Workers that held a task when the caller looked, and the nanoseconds that they had run.
    seen: Vec<(i32, u64)>,
}

impl Moved {
    /// Notes how long the workers that hold a task have run.
    pub(super) fn look(&mut self, members: &[std::sync::Arc<Member>]) {
        self.seen.clear();
        let busy = members.iter().filter(|m| m.busy.load(Ordering::Acquire));
        self.seen.extend(busy.filter_map(|m| {
            let thread = m.thread.load(Ordering::Acquire);
            Some((thread, system::time(thread)?))
        }));
    }

    /// Takes the workers that hold a task and have not run since the caller looked, some microseconds ago, to its
    /// processor: it sleeps next if there are any.
    pub(super) fn fetch(&mut self, members: &[std::sync::Arc<Member>]) -> bool {
        let before = std::mem::take(&mut self.seen);
        self.look(members);
        let still = |&(thread, time): &(i32, u64)| {
            self.seen.iter().any(|&(t, now)| t == thread && now.saturating_sub(time) < 1_000)
        };
        let Some(here) = system::processor().filter(|_| before.iter().any(still)) else { return false };
        let mut any = false;
        for (thread, _) in before.into_iter().filter(still) {
            if system::restrict(thread, 0, Allowed::Only(here)) {
                (self.processor, any) = (Some(here), true);
                if !self.threads.contains(&thread) {
                    self.threads.push(thread);
                }
            }
        }
        any
    }

    /// Sends them away again: this processor is the caller's.
    pub(super) fn dismiss(&mut self) {
        if let Some(here) = self.processor {
            self.threads.iter().for_each(|&t| {
                system::restrict(t, 0, Allowed::AllBut(here));
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

/// The processors of its caller that a thread may run on.
#[derive(Clone, Copy)]
enum Allowed {
    Only(usize),
    AllBut(usize),
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

    /// The processors that a thread may use; 0: this thread.
    fn mask_of(thread: i32) -> Option<Mask> {
        let mut mask = Mask::default();
        // SAFETY: the mask is as long as it says.
        (unsafe { sched_getaffinity(thread, size_of_val(&mask), mask.as_mut_ptr()) } >= 0).then_some(mask)
    }

    fn set(thread: i32, mask: &Mask) -> bool {
        // SAFETY: the mask is as long as it says.
        unsafe { sched_setaffinity(thread, size_of_val(mask), mask.as_ptr()) == 0 }
    }

    /// Lets a thread run on some of the processors of the caller only, if there are such; tells whether it does.
    pub(super) fn restrict(thread: i32, caller: i32, allowed: super::Allowed) -> bool {
        let Some(mut mask) = mask_of(caller) else { return false };
        match allowed {
            super::Allowed::Only(processor) => {
                mask = Mask::default();
                mask[processor / 64] = 1 << (processor % 64);
            }
            super::Allowed::AllBut(processor) => mask[processor / 64] &= !(1 << (processor % 64)),
        }
        mask != Mask::default() && set(thread, &mask)
    }

    /// Lets a thread run where the caller may.
    pub(super) fn release(thread: i32) {
        if let Some(own) = mask_of(0) {
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
    pub(super) fn restrict(_: i32, _: i32, _: super::Allowed) -> bool {
        false
    }
    pub(super) fn release(_: i32) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Where there are two processors, a worker leaves that of the caller, and may come back when the caller is gone.
    #[test]
    fn a_worker_leaves_the_processor_of_the_caller() {
        let member = Arc::<Member>::default();
        let caller = Caller::default();
        caller.thread.store(system::thread(), Ordering::Relaxed);
        let (worker, at) = (member.clone(), &caller);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                worker.enter();
                let own = worker.thread.load(Ordering::Relaxed);
                let here = system::processor().unwrap();
                assert!(system::restrict(own, 0, Allowed::Only(here)));
                at.processor.store(here, Ordering::Relaxed);
                worker.leave(at);
                let left = worker.left.load(Ordering::Relaxed);
                assert_eq!(left, system::processor() != Some(here));
                // The caller is elsewhere now.
                at.processor.store(usize::MAX, Ordering::Relaxed);
                at.enter(std::slice::from_ref(&worker));
                assert!(!worker.left.load(Ordering::Relaxed));
            });
        });
    }
}
