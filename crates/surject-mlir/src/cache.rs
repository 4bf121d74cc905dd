//! Machine code of modules that were compiled before, found by their whole text.
//!
//! In memory it is kept for as long as the process, up to [`MOST`] bytes; on disk where the user names a folder
//! (`SURJECT_CACHE`, or [`crate::jit::JitOptions::cache`]). A file holds the text it belongs to and is compared
//! with it, so a hash that two texts share costs a compilation and nothing else; so does a file that is damaged
//! or cannot be written.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most bytes of texts and objects in memory; beyond it, all of them are dropped.
const MOST: usize = 64 << 20;

/// What an object depends on beside the text: level, processor, and this version of the pipeline.
pub(crate) struct Key<'a> {
    pub(crate) text: &'a str,
    pub(crate) level: u8,
    pub(crate) machine: &'a str,
}

impl Key<'_> {
    /// All of it as one text.
    fn whole(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        format!("surject {version} O{} {}\n{}\n{}", self.level, self.machine, crate::jit::PIPELINE, self.text)
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
    let bytes = std::fs::read(file(&folder(option)?, &whole)).ok()?;
    let object = bytes.strip_prefix(whole.as_bytes())?;
    // The last eight bytes are the length, so that a file that ends too early is noticed.
    let (object, length) = object.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*length) != object.len() as u64 {
        return None;
    }
    remember(whole, object);
    Some(object.to_vec())
}

/// Keeps the object of a module.
pub(crate) fn keep(key: &Key<'_>, option: Option<&Path>, object: &[u8]) {
    let whole = key.whole();
    if let Some(folder) = folder(option) {
        let path = file(&folder, &whole);
        let bytes = [whole.as_bytes(), object, &(object.len() as u64).to_le_bytes()].concat();
        // Written beside and moved, so that no other process sees half of it. Without a cache it still runs.
        let beside = path.with_extension(format!("{}", std::process::id()));
        let _ = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&beside, bytes))
            .and_then(|()| std::fs::rename(&beside, &path));
    }
    remember(whole, object);
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
