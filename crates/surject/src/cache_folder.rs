//! The folder of compiled programs (`SURJECT_CACHE`): executables are kept there by what they were made from, the types of the
//! arguments among it, and only so many of them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many files are kept unless `SURJECT_CACHE_FILES` says another number.
const KEPT: usize = 1024;

/// The folder, where the user names one.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os("SURJECT_CACHE").filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// Takes the oldest files out of the folder where there are too many. Without a cache everything still runs, so what
/// cannot be read or removed stays.
pub(crate) fn keep_few(folder: &Path) {
    let kept = std::env::var("SURJECT_CACHE_FILES").ok().and_then(|n| n.parse().ok()).unwrap_or(KEPT);
    keep(folder, kept);
}

fn keep(folder: &Path, kept: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let paths = entries.flatten().map(|entry| entry.path());
    let paths: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == "kernel")).collect();
    let Some(surplus) = paths.len().checked_sub(kept.max(1)).filter(|n| *n > 0) else { return };
    let written =
        |path: &PathBuf| path.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut by_age: Vec<(SystemTime, PathBuf)> = paths.into_iter().map(|p| (written(&p), p)).collect();
    by_age.sort();
    for (_, path) in by_age.iter().take(surplus) {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_oldest_files_go_first() {
        let folder = std::env::temp_dir().join(format!("surject-cache-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let start = SystemTime::now();
        for k in 0..6u64 {
            let file = std::fs::File::create(folder.join(format!("{}.kernel", 9 - k))).expect("a file");
            file.set_modified(start + Duration::from_secs(k)).expect("a time");
        }
        std::fs::write(folder.join("notes.txt"), "not ours").expect("a file");
        keep(&folder, 3);
        let mut left: Vec<String> = std::fs::read_dir(&folder)
            .expect("a folder")
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["4.kernel", "5.kernel", "6.kernel", "notes.txt"]);
        keep(&folder, 3);
        keep(&folder.join("nothing"), 3);
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 4);
        std::fs::remove_dir_all(&folder).expect("the folder");
    }
}
