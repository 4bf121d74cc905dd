//! A persistent pool of threads that runs the tasks of a kernel.
//!
//! The pool is our own because rayon measurably costs too much for kernels of some microseconds: a job that is
//! handed in from outside its pool sleeps in the caller and wakes two workers. Microseconds a job, medians, two
//! threads on two cores of a shared machine (`examples/handoff.rs`; "after 200 us": the threads had gone to
//! sleep; the other columns are back to back):
//!
//! | tasks x time each | ideal | pool | rayon | pool after 200 us | rayon after 200 us |
//! |---|---|---|---|---|---|
//! | 2 x 1 us | 1 | 2.0 | 19 | 9 | 23 |
//! | 2 x 20 us | 20 | 20 | 36 | 42 | 68 |
//! | 4 x 1 us | 2 | 2.3 | 19 | 12 | 26 |
//! | 4 x 5 us | 10 | 10 | 32 | 27 | 38 |
//! | 4 x 20 us | 40 | 40 | 55 | 87 | 84 |
//! | 16 x 1 us | 8 | 8.1 | 19 | 23 | 42 |
//! | 16 x 20 us | 160 | 157 | 168 | 180 | 193 |
//!
//! So a hand-off costs at most about 1 us while the workers are awake, against rayon's 9 to 20 us. A sleeping
//! worker starts after some 20 us, which is the wake-up of a virtual processor; until then the caller works
//! alone.
//!
//! One job runs at a time. Its tasks are claimed one by one, by the caller from the first on, and from the last back by
//! every worker that is awake. Neighbouring tasks mostly touch what lies side by side, and the next job has the same
//! tensors: so each finds in its own caches what it worked on before, and yet whoever is slower does fewer. The caller
//! waits for nobody who has not claimed a task, so a worker that the system does not schedule costs nothing; one that is
//! put aside with a task in hand is soon taken to the caller's processor, and none begins a task there (`stalled`). Idle
//! workers spin for some tens of microseconds and then sleep; so does a caller whose last tasks run elsewhere. A call
//! from inside a task, and a call while another thread's job runs, runs its tasks inline, in order.
//!
//! Tasks run in the floating-point mode of their caller.
//!
//! A task is told which worker runs it ([`parallel_on`]): of the tasks that run at the same time no two have the same,
//! so that what a task needs for itself alone must be there once for every worker and not for every task.

mod stalled;

use crate::stack::WORKER;
use crate::subnormals::Mode;
use stalled::{Caller, Member, Moved};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};

/// How often an idle thread looks for work before it sleeps: some tens of microseconds. It does not yield before: a
/// process that wants its processor would get it for some milliseconds, and the next job would have one thread less.
/// Tasks of 100 µs beside a process that keeps one of two processors busy took twice as long, by medians, when idle
/// threads yielded every two microseconds (`examples/contention.rs`).
const SPINS: u32 = 2_000;

/// How often a caller looks whether its job is done before it looks whether the workers that are left run: some
/// microseconds.
const GLANCE: u32 = 250;

/// Bits of each of the two counts in [`Shared::claim`]; above them is the number of the job.
const COUNT_BITS: u32 = 15;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// The largest number of tasks claimed one by one; beyond it, one claim takes several.
const MAX_CLAIMS: usize = 1 << (COUNT_BITS - 1);

/// A value of [`Shared::claim`]: how many tasks of a job were claimed from the first on, and how many from the last back.
#[derive(Clone, Copy)]
struct Claim(u64);

impl Claim {
    fn new(job: u64) -> Claim {
        Claim(job << (2 * COUNT_BITS))
    }

    fn job(self) -> u64 {
        self.0 >> (2 * COUNT_BITS)
    }

    /// No task of the job can be claimed, however many it has.
    fn closed(self) -> Claim {
        Claim(self.0 | COUNT_MASK)
    }

    /// The tasks claimed from either end.
    fn counts(self) -> [usize; 2] {
        [self.0 & COUNT_MASK, self.0 >> COUNT_BITS & COUNT_MASK].map(|n| n as usize)
    }

    fn is_left(self, tasks: usize) -> bool {
        self.counts().iter().sum::<usize>() < tasks
    }

    /// The next task of so many for a worker, and the claim that takes it.
    fn next(self, tasks: usize, worker: usize) -> Option<(usize, Claim)> {
        let [low, high] = self.counts();
        self.is_left(tasks).then(|| match worker {
            CALLER => (low, Claim(self.0 + 1)),
            _ => (tasks - 1 - high, Claim(self.0 + (1 << COUNT_BITS))),
        })
    }
}

/// A function of the task and the worker.
type Task<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// What workers and callers share. Everything a worker touches without holding a claimed task lives here, for
/// as long as the process.
struct Shared {
    /// A [`Claim`]. A successful compare-exchange claims a task, and proves that the
    /// fields below belong to that job, because a new job closes the counter before it writes them.
    claim: AtomicU64,
    /// Points at the caller's `Task`, valid while a claimed task of the job is not yet counted in `done`.
    task: AtomicPtr<()>,
    tasks: AtomicUsize,
    /// Workers with a number at or above this take no task of the job.
    most: AtomicUsize,
    done: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Caller,
    /// Workers with an identity at or above this leave.
    workers: AtomicUsize,
    /// The number of workers that sleep on `wake`; changed under `lock`.
    asleep: AtomicUsize,
    /// Does the caller sleep on `finished`? Changed under `lock`.
    caller_asleep: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
    finished: Condvar,
}

/// The pool: held by the caller whose job runs.
struct Pool {
    shared: Arc<Shared>,
    handles: Vec<JoinHandle<()>>,
    members: Vec<Arc<Member>>,
    moved: Moved,
}

thread_local! {
    static INSIDE_TASK: Cell<bool> = const { Cell::new(false) };
}

/// The number of threads asked for, the caller included; 0: not yet decided.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The number of threads a job runs on, the caller included: what [`set_threads`] said, else the environment
/// variable `SURJECT_THREADS` if it is a positive number, else the parallelism of the machine.
pub fn threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let asked = std::env::var("SURJECT_THREADS").ok().and_then(|v| v.trim().parse().ok());
            let count = asked
                .filter(|&n: &usize| n > 0)
                .unwrap_or_else(|| thread::available_parallelism().map_or(1, |n| n.get()));
            // A `set_threads` that came between wins.
            match THREADS.compare_exchange(0, count, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => count,
                Err(other) => other,
            }
        }
        count => count,
    }
}

/// Sets the number of threads, the caller included, from the next job on; 0 counts as 1.
pub fn set_threads(count: usize) {
    THREADS.store(count.max(1), Ordering::Relaxed);
}

/// Runs `f(0)`, …, `f(tasks - 1)`, each once, in no defined order and possibly at the same time, and returns
/// when all have ended. If one panics the others still run, and the first panic then reaches the caller.
pub fn parallel_for(tasks: usize, f: &(dyn Fn(usize) + Sync)) {
    parallel_on(tasks, usize::MAX, &|task, _| f(task));
}

/// As [`parallel_for`], on so many workers at most, the caller included (0 counts as 1): runs `f(task, worker)`. The
/// number of a worker is below theirs, and no two tasks of this call that run at the same time have the same.
pub fn parallel_on(tasks: usize, workers: usize, f: &(dyn Fn(usize, usize) + Sync)) {
    if tasks <= 1 || workers <= 1 || threads() == 1 || INSIDE_TASK.get() {
        return inline(tasks, f);
    }
    let mut pool = match pool().try_lock() {
        Ok(pool) => pool,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return inline(tasks, f),
    };
    pool.resize(threads() - 1);
    let mode = Mode::now();
    let f: Task<'_> = &|task, worker| mode.during(|| f(task, worker));
    let panic = if tasks <= MAX_CLAIMS {
        pool.run(tasks, workers, f)
    } else {
        let each = tasks.div_ceil(MAX_CLAIMS);
        pool.run(tasks.div_ceil(each), workers, &|group, worker| {
            let from = group * each;
            inline(each.min(tasks - from), &|i, _| f(from + i, worker));
        })
    };
    drop(pool);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// The number of the caller among the workers.
const CALLER: usize = 0;

/// Runs the tasks here, in order; all of them, whichever panic.
fn inline(tasks: usize, f: Task<'_>) {
    let mut first = None;
    for task in 0..tasks {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| f(task, CALLER))) {
            first.get_or_insert(panic);
        }
    }
    if let Some(panic) = first {
        resume_unwind(panic);
    }
}

/// [`parallel_on`] for compiled code: runs `kernel(0, worker, pointers)`, …, `kernel(tasks - 1, worker, pointers)`. A
/// negative number of tasks is none, of workers one.
///
/// # Safety
/// `kernel` may be called with `pointers`, every task number and every worker number below `workers`, from any thread
/// and at the same time for different tasks and workers; it does not unwind. `pointers` stays valid until this returns.
pub unsafe extern "C" fn surject_parallel(
    kernel: unsafe extern "C" fn(i64, i64, *const *mut u8),
    tasks: i64,
    workers: i64,
    pointers: *const *mut u8,
) {
    struct Pointers(*const *mut u8);
    // SAFETY: the caller promises that the kernel may use them from any thread.
    unsafe impl Sync for Pointers {}
    let pointers = &Pointers(pointers);
    let [tasks, workers] = [tasks, workers].map(|n| usize::try_from(n).unwrap_or(0));
    parallel_on(tasks, workers, &|task, worker| {
        // SAFETY: `task` is below `tasks` and `worker` below `workers`, or 0; the rest is this function's contract.
        unsafe { kernel(task as i64, worker as i64, pointers.0) }
    });
}

fn pool() -> &'static Mutex<Pool> {
    static POOL: OnceLock<Mutex<Pool>> = OnceLock::new();
    POOL.get_or_init(|| {
        let shared = Shared {
            claim: AtomicU64::new(Claim::new(0).closed().0),
            task: AtomicPtr::new(std::ptr::null_mut()),
            tasks: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            panic: Mutex::new(None),
            caller: Caller::default(),
            workers: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            caller_asleep: AtomicBool::new(false),
            lock: Mutex::new(()),
            wake: Condvar::new(),
            finished: Condvar::new(),
        };
        Mutex::new(Pool {
            shared: Arc::new(shared),
            handles: Vec::new(),
            members: Vec::new(),
            moved: Moved::default(),
        })
    })
}

impl Pool {
    /// Starts or ends workers. Where the system refuses a thread, the pool has fewer.
    fn resize(&mut self, workers: usize) {
        if self.handles.len() == workers {
            return;
        }
        self.shared.workers.store(workers, Ordering::SeqCst);
        if self.handles.len() > workers {
            self.moved.forget();
            drop(self.shared.lock());
            self.shared.wake.notify_all();
            for handle in self.handles.drain(workers..) {
                // A worker catches the panics of tasks, so it ends in order.
                let _ = handle.join();
            }
            self.members.truncate(workers);
        }
        while self.handles.len() < workers {
            let (shared, identity) = (self.shared.clone(), self.handles.len());
            let worker = thread::Builder::new().name(format!("surject-{}", identity + 1)).stack_size(WORKER);
            let member = Arc::<Member>::default();
            let own = member.clone();
            match worker.spawn(move || shared.work(identity, &own)) {
                Ok(handle) => {
                    self.handles.push(handle);
                    self.members.push(member);
                }
                Err(_) => break,
            }
        }
    }

    /// Runs a job of at most [`MAX_CLAIMS`] tasks; gives the first panic.
    fn run(&mut self, tasks: usize, workers: usize, f: Task<'_>) -> Option<Box<dyn Any + Send>> {
        let shared = &*self.shared;
        self.moved.free();
        shared.caller.enter(&self.members);
        // Close the counter, so that no claim of the previous job succeeds, then describe the job, then open.
        let next = Claim::new(Claim(shared.claim.load(Ordering::Relaxed)).job() + 1);
        shared.claim.store(next.closed().0, Ordering::SeqCst);
        shared.task.store((&raw const f).cast_mut().cast(), Ordering::Release);
        shared.tasks.store(tasks, Ordering::Release);
        shared.most.store(workers, Ordering::Release);
        shared.done.store(0, Ordering::Release);
        shared.claim.store(next.0, Ordering::SeqCst);

        let wanted = (tasks - 1).min(self.handles.len());
        if shared.asleep.load(Ordering::SeqCst) > 0 {
            drop(shared.lock());
            if workers <= self.handles.len() {
                // Not all may take part, and it is not known which of them one call would wake.
                shared.wake.notify_all();
            } else {
                for _ in 0..wanted {
                    shared.wake.notify_one();
                }
            }
        }
        shared.run_tasks(CALLER);
        shared.wait_until_done(tasks, &self.members, &mut self.moved);
        shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is there a task to claim for this worker?
    fn has_task(&self, worker: usize) -> bool {
        Claim(self.claim.load(Ordering::SeqCst)).is_left(self.tasks.load(Ordering::Acquire))
            && worker < self.most.load(Ordering::Acquire)
    }

    /// Claims a task for a worker: its function, its number, and how many the job has.
    fn claim(&self, worker: usize) -> Option<(*const Task<'static>, usize, usize)> {
        let mut claim = self.claim.load(Ordering::Acquire);
        loop {
            let task = self.task.load(Ordering::Acquire);
            let tasks = self.tasks.load(Ordering::Acquire);
            let (next, then) = Claim(claim).next(tasks, worker)?;
            if worker >= self.most.load(Ordering::Acquire) {
                return None;
            }
            match self.claim.compare_exchange_weak(claim, then.0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some((task.cast_const().cast(), next, tasks)),
                Err(other) => claim = other,
            }
        }
    }

    /// Runs tasks as this worker until none is left to claim; tells whether it ran any.
    fn run_tasks(&self, worker: usize) -> bool {
        let (mut ran, mut tasks) = (0, 0);
        INSIDE_TASK.set(true);
        while let Some((task, number, of)) = self.claim(worker) {
            // SAFETY: the task is claimed and not yet counted as done, so the caller is still in `run` and its
            // `f` alive.
            let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { (*task)(number, worker) }));
            if let Err(panic) = outcome {
                self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
            }
            // Claimed tasks that are not counted yet keep the job open, so all are of one job.
            (ran, tasks) = (ran + 1, of);
        }
        INSIDE_TASK.set(false);
        if ran > 0
            && self.done.fetch_add(ran, Ordering::SeqCst) + ran == tasks
            && self.caller_asleep.load(Ordering::SeqCst)
        {
            drop(self.lock());
            self.finished.notify_one();
        }
        ran > 0
    }

    /// The caller's wait for the tasks that others have claimed.
    fn wait_until_done(&self, tasks: usize, members: &[Arc<Member>], moved: &mut Moved) {
        let done = || self.done.load(Ordering::SeqCst) == tasks;
        if spin_until(GLANCE, done) {
            return;
        }
        // Workers that run are left alone, and soon done; one that does not is not waited for.
        moved.look(members);
        for _ in 1..SPINS / GLANCE {
            if spin_until(GLANCE, done) {
                return;
            }
            if moved.fetch(members) {
                break;
            }
        }
        let mut guard = self.lock();
        self.caller_asleep.store(true, Ordering::SeqCst);
        while !done() {
            guard = self.finished.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.caller_asleep.store(false, Ordering::SeqCst);
        drop(guard);
        moved.dismiss();
    }

    /// The life of a worker.
    fn work(&self, identity: usize, member: &Member) {
        member.enter();
        let worker = identity + 1;
        let leave = || identity >= self.workers.load(Ordering::SeqCst);
        // A worker that was woken for nothing sleeps on at once: it may have been put on the caller's core.
        let mut spins = true;
        loop {
            if self.has_task(worker) {
                member.leave(&self.caller);
                member.set_busy(true);
                spins |= self.run_tasks(worker);
                member.set_busy(false);
            }
            if !(spins && spin_until(SPINS, || self.has_task(worker) || leave())) {
                spins = false;
                let mut guard = self.lock();
                self.asleep.fetch_add(1, Ordering::SeqCst);
                while !self.has_task(worker) && !leave() {
                    guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
                }
                self.asleep.fetch_sub(1, Ordering::SeqCst);
            }
            if leave() {
                return;
            }
        }
    }
}

/// Spins for a while; tells whether the condition came true.
fn spin_until(spins: u32, condition: impl Fn() -> bool) -> bool {
    for _ in 0..spins {
        if condition() {
            return true;
        }
        std::hint::spin_loop();
    }
    condition()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// The pool is global, so the tests that set the number of threads take turns.
    static TURN: Mutex<()> = Mutex::new(());

    fn counts(tasks: usize) -> Vec<AtomicU32> {
        (0..tasks).map(|_| AtomicU32::new(0)).collect()
    }

    #[test]
    fn every_task_runs_once() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // More threads than cores: workers get descheduled with claimed tasks in hand.
        for threads in [2, 1, 7, 3] {
            set_threads(threads);
            for round in 0..400 {
                let tasks = round % 37;
                let ran = counts(tasks);
                parallel_for(tasks, &|i| {
                    ran[i].fetch_add(1, Ordering::Relaxed);
                    if i % 5 == 0 {
                        thread::yield_now();
                    }
                });
                assert!(
                    ran.iter().all(|n| n.load(Ordering::Relaxed) == 1),
                    "{threads} threads, {tasks} tasks"
                );
            }
        }
    }

    /// The caller takes tasks from the first on, workers from the last back, until they meet.
    #[test]
    fn tasks_are_claimed_from_both_ends() {
        let mut claim = Claim::new(7);
        let mut order = Vec::new();
        for worker in [CALLER, 1, 2, CALLER, 1, CALLER, 3] {
            if let Some((task, then)) = claim.next(5, worker) {
                order.push(task);
                claim = then;
            }
        }
        assert_eq!(order, [0, 4, 3, 1, 2]);
        assert_eq!(claim.job(), 7);
        let full = Claim::new(7).closed();
        assert!(full.next(MAX_CLAIMS, CALLER).is_none() && full.next(MAX_CLAIMS, 1).is_none());
        assert_eq!(full.job(), 7);
    }

    /// Tasks that run at the same time have workers of their own, whose numbers are below what was asked for.
    #[test]
    fn a_worker_runs_one_task_at_a_time() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        for threads in [2, 7, 4, 1] {
            set_threads(threads);
            for workers in [0, 1, 2, 3, 9] {
                let busy = counts(threads.max(workers));
                for round in 0..200 {
                    let ran = counts(round % 23);
                    parallel_on(round % 23, workers, &|i, worker| {
                        assert!(worker < workers.max(1) && worker < threads);
                        assert_eq!(busy[worker].fetch_add(1, Ordering::SeqCst), 0);
                        ran[i].fetch_add(1, Ordering::Relaxed);
                        if i % 3 == 0 {
                            thread::yield_now();
                        }
                        busy[worker].fetch_sub(1, Ordering::SeqCst);
                    });
                    assert!(ran.iter().all(|n| n.load(Ordering::Relaxed) == 1));
                }
            }
        }
    }

    #[test]
    fn callers_compete() {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for tasks in 0..300 {
                        let ran = counts(tasks);
                        parallel_for(tasks, &|i| {
                            ran[i].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(ran.iter().all(|n| n.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn nested_calls_run_inline() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        set_threads(3);
        let ran = counts(8 * 8);
        parallel_for(8, &|i| {
            let here = thread::current().id();
            parallel_for(8, &|j| {
                assert_eq!(thread::current().id(), here);
                ran[i * 8 + j].fetch_add(1, Ordering::Relaxed);
            });
        });
        assert!(ran.iter().all(|n| n.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        for threads in [1, 3].repeat(20) {
            set_threads(threads);
            let ran = counts(16);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                parallel_for(16, &|i| {
                    ran[i].fetch_add(1, Ordering::Relaxed);
                    if i % 4 == 1 {
                        resume_unwind(Box::new(i)); // a panic without its message on stderr
                    }
                });
            }));
            let payload = outcome.expect_err("the panic arrives");
            assert_eq!(payload.downcast_ref::<usize>().map(|i| i % 4), Some(1));
            let ran: Vec<u32> = ran.into_iter().map(AtomicU32::into_inner).collect();
            assert_eq!(ran, [1; 16], "{threads} threads");
        }
    }

    #[test]
    fn huge_task_counts_are_grouped() {
        let sum = AtomicU64::new(0);
        let tasks = MAX_CLAIMS + 3;
        parallel_for(tasks, &|i| {
            sum.fetch_add(i as u64, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), tasks as u64 * (tasks as u64 - 1) / 2);
    }

    #[test]
    fn compiled_code_calls_it() {
        unsafe extern "C" fn kernel(task: i64, worker: i64, pointers: *const *mut u8) {
            assert!((0..2).contains(&worker));
            // SAFETY: one pointer to 100 `i64`.
            unsafe { *(*pointers).cast::<i64>().add(task as usize) += task * task };
        }
        let mut out = [1i64; 100];
        let pointers = [out.as_mut_ptr().cast::<u8>()];
        // SAFETY: every task writes its own element of a live array.
        unsafe { surject_parallel(kernel, 100, 2, pointers.as_ptr()) };
        // SAFETY: no task runs.
        unsafe { surject_parallel(kernel, -1, -1, pointers.as_ptr()) };
        assert!(out.iter().enumerate().all(|(i, &v)| v == 1 + (i * i) as i64));
    }
}
