//! Machine code of modules that were compiled before, found by their whole text.
//!
//! In memory it is kept for as long as the process, up to [`MOST`] bytes; on disk where the user names a folder
//! (`SURJECT_CACHE`, or [`crate::jit::JitOptions::cache`]). A file holds the text it belongs to and is compared
//! with it, so a hash that two texts share costs a compilation and nothing else; so does a file that is damaged,
//! which a checksum tells, or cannot be written.
//!
//! Beside machine code by the text of a module, whole executables are kept by what they were made from, on disk
//! alone. Between the two stands this compiler, so their key also names the file of this process.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most bytes of texts and objects in memory; beyond it, all of them are dropped.
const MOST: usize = 64 << 20;

/// What an object depends on beside the text: level and what it stands for, processor, and this version of the
/// pipeline.
pub(crate) struct Key<'a> {
    pub(crate) text: &'a str,
    pub(crate) level: u8,
    pub(crate) machine: &'a str,
}

impl Key<'_> {
    /// All of it as one text.
    pub(crate) fn whole(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let (level, machine, text) = (self.level, self.machine, self.text);
        let choices = crate::llvm::choices(level);
        format!("surject {version} O{level} {choices} {machine}\n{}\n{text}", crate::pipelines::GENERAL)
    }
}

#[derive(Default)]
struct Memory {
    objects: HashMap<String, Arc<[u8]>>,
    bytes: usize,
}

fn memory() -> &'static Mutex<Memory> {
    static MEMORY: OnceLock<Mutex<Memory>> = OnceLock::new();
    MEMORY.get_or_init(Mutex::default)
}

/// The folder of the user: that of the option, else that of the environment.
fn folder(option: Option<&Path>) -> Option<PathBuf> {
    option
        .map(Path::to_path_buf)
        .or_else(|| std::env::var_os("SURJECT_CACHE").filter(|v| !v.is_empty()).map(PathBuf::from))
}

fn file(folder: &Path, whole: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    folder.join(format!("{:016x}-{:x}.kernel", hasher.finish(), whole.len()))
}

/// The object of a module, if it was compiled before.
pub(crate) fn find(key: &Key<'_>, option: Option<&Path>) -> Option<Vec<u8>> {
    let whole = key.whole();
    if let Some(object) = memory().lock().unwrap_or_else(PoisonError::into_inner).objects.get(&whole) {
        return Some(object.to_vec());
    }
    let object = load(&whole, &folder(option)?)?;
    remember(whole, &object);
    Some(object)
}

/// Keeps the object of a module.
pub(crate) fn keep(key: &Key<'_>, option: Option<&Path>, object: &[u8]) {
    let whole = key.whole();
    if let Some(folder) = folder(option) {
        save(&whole, &folder, object);
    }
    remember(whole, object);
}

/// The key of an executable that is made from `source` by this process, and the folder for it; `None` where there is
/// none, or where it cannot be told which compiler this is.
pub(crate) fn executable(source: &str, option: Option<&Path>) -> Option<(String, PathBuf)> {
    let folder = folder(option)?;
    let own = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let changed = own.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    Some((format!("executable {} {changed}\n{source}", own.len()), folder))
}

/// What a folder has for a key.
pub(crate) fn load(whole: &str, folder: &Path) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(file(folder, whole)).ok()?;
    let (rest, sum) = bytes.strip_prefix(whole.as_bytes())?.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*sum) != checksum(rest) {
        return None;
    }
    bytes.truncate(bytes.len() - 8);
    Some(bytes.split_off(whole.len()))
}

/// Keeps something in a folder. It is written beside and moved, so that no other process sees half of it; without a
/// cache everything still runs.
pub(crate) fn save(whole: &str, folder: &Path, content: &[u8]) {
    let path = file(folder, whole);
    let bytes = [whole.as_bytes(), content, &checksum(content).to_le_bytes()].concat();
    let beside = path.with_extension(format!("{}", std::process::id()));
    let _ = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&beside, bytes))
        .and_then(|()| std::fs::rename(&beside, &path));
}

/// A number that changes with any bit, and with the length.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Forgets what is in memory; what is on disk stays.
pub(crate) fn forget() {
    *memory().lock().unwrap_or_else(PoisonError::into_inner) = Memory::default();
}

fn remember(whole: String, object: &[u8]) {
    let mut memory = memory().lock().unwrap_or_else(PoisonError::into_inner);
    let size = whole.len() + object.len();
    if memory.bytes + size > MOST {
        *memory = Memory::default();
    }
    if memory.objects.insert(whole, object.into()).is_none() {
        memory.bytes += size;
    }
}
