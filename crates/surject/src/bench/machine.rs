//! What all sides of a comparison share: processors, the settings of the heap, and who else keeps a processor busy.

use crate::Failure;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// The settings of glibc's heap under which the peers are fastest: memory that was freed is kept and found again by
/// every thread, large arrays are no exception, and it comes in large pages.
pub const HEAP: [(&str, &str); 5] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_MAX_", "0"),
    ("MALLOC_TRIM_THRESHOLD_", "1099511627776"),
    ("MALLOC_TOP_PAD_", "67108864"),
    ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"),
];

/// Starts this process again with [`HEAP`], unless it has it. What cannot be started again goes on as it is.
#[cfg(target_os = "linux")]
pub fn settle_heap() {
    use std::os::unix::process::CommandExt;
    if HEAP.iter().all(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let missing = HEAP.iter().filter(|(name, _)| std::env::var_os(name).is_none());
        // Returns only if it failed.
        let _ = Command::new(program).args(std::env::args_os().skip(1)).envs(missing.copied()).exec();
    }
}

/// The settings are those of glibc.
#[cfg(not(target_os = "linux"))]
pub fn settle_heap() {}

/// A process that keeps the last processor of those that may be used busy; it ends with this value.
pub struct Busy(Child);

impl Busy {
    /// Starts it.
    pub fn start() -> Result<Busy, Failure> {
        let failed = |e| Failure::bad_input(format!("the process that keeps a processor busy: {e}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["bench", "--spin"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Busy(command.spawn().map_err(failed)?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It also ends by itself where its input does, should this process be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Keeps the last processor busy until the standard input ends.
pub fn spin() {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            keep_last();
            while !ended.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.store(true, Ordering::Relaxed);
    });
}

/// The processor, the memory in GiB, and the kernel, as far as the system tells.
pub fn describe() -> (String, f64, String) {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let after = |text: &str, key: &str| {
        let line = text.lines().find(|l| l.starts_with(key));
        line.and_then(|l| l.split_once(':')).map(|(_, v)| v.trim().to_string())
    };
    let processor =
        after(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    let memory = after(&read("/proc/meminfo"), "MemTotal")
        .and_then(|m| m.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(0.0, |kib| kib / f64::from(1 << 20));
    let kernel = read("/proc/sys/kernel/osrelease").trim().to_string();
    (processor, memory, format!("{} {kernel}", std::env::consts::OS))
}

/// How many processes want a processor, over the last minute.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// The day of a time in seconds since 1970, UTC.
pub fn date(seconds: u64) -> String {
    let (mut day, mut year) = (seconds / 86_400, 1970);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

/// The revision of the repository this runs in, if it is one.
pub fn revision() -> Option<String> {
    let output = std::process::Command::new("git").args(["rev-parse", "--short", "HEAD"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Pins this process, and the processes it starts, to the first processors of those it may use.
pub fn pin(count: usize) {
    affinity(|allowed| allowed.truncate(count.max(1)));
}

/// Pins this thread to the last processor of those it may use.
fn keep_last() {
    affinity(|allowed| drop(allowed.drain(..allowed.len().saturating_sub(1))));
}

/// Changes the processors that this thread, and what it starts, may use.
#[cfg(target_os = "linux")]
fn affinity(change: impl FnOnce(&mut Vec<usize>)) {
    unsafe extern "C" {
        fn sched_getaffinity(process: i32, bytes: usize, mask: *mut u64) -> i32;
        fn sched_setaffinity(process: i32, bytes: usize, mask: *const u64) -> i32;
    }
    let mut mask = [0u64; 16];
    // SAFETY: the mask is as long as it says, and lives through the call.
    if unsafe { sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr()) } < 0 {
        return;
    }
    let mut allowed: Vec<usize> =
        (0..64 * mask.len()).filter(|i| mask[i / 64] >> (i % 64) & 1 == 1).collect();
    change(&mut allowed);
    let mut mask = [0u64; 16];
    for i in allowed {
        mask[i / 64] |= 1 << (i % 64);
    }
    // SAFETY: as above.
    unsafe { sched_setaffinity(0, size_of_val(&mask), mask.as_ptr()) };
}

/// Pins nothing: the number of threads alone tells the sides apart from the machine.
#[cfg(not(target_os = "linux"))]
fn affinity(_: impl FnOnce(&mut Vec<usize>)) {}
