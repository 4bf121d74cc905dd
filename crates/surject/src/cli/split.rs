//! Several modules in one file, separated by lines `// -----` as `mlir-opt --split-input-file` separates them.

use crate::{Failure, Source};

const MARKER: &[u8] = b"// -----";

/// Whether a line ends a module: the marker is the last thing on it. More dashes, or text behind them, are a comment.
pub(super) fn is_separator(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(MARKER)
}

/// Whether a part holds nothing but comments and blank lines: an empty module.
pub(super) fn is_blank(part: &[u8]) -> bool {
    let blank = |line: &[u8]| line.trim_ascii().is_empty() || line.trim_ascii().starts_with(b"//");
    part.split(|b| *b == b'\n').all(blank)
}

/// Parts between the separators, with their offsets, each the start of a line.
pub(super) fn parts(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut out, mut start, mut at) = (Vec::new(), 0, 0);
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if is_separator(line) {
            out.push((start, &bytes[start..at + line.trim_ascii_end().len() - MARKER.len()]));
            start = at + line.len();
        }
        at += line.len();
    }
    out.push((start, &bytes[start..]));
    out
}

/// The modules of a file that holds more than comments. Lines before a module are empty ones in it, so that messages give
/// the line in the file.
pub(super) fn sources(whole: &Source) -> Result<Vec<Source>, Failure> {
    let mut out = Vec::new();
    for (start, part) in parts(&whole.bytes).into_iter().filter(|(_, part)| !is_blank(part)) {
        let lines = whole.bytes[..start].iter().filter(|b| **b == b'\n').count();
        out.push(Source::new(whole.name.clone(), [&vec![b'\n'; lines], part].concat())?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `mlir-opt --split-input-file` (LLVM 22) takes as a separator; it wants the end of the line at once, this allows
    /// blanks and a carriage return.
    #[test]
    fn separators_are_those_of_mlir_opt() {
        for line in ["// -----\n", "  // -----\n", "return // -----\n", "// // -----\n", "// ----- \r\n"] {
            assert!(is_separator(line.as_bytes()), "{line}");
        }
        for line in ["// ----- text\n", "// ------\n", "//-----\n", "// ----\n", "// -----text\n"] {
            assert!(!is_separator(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn parts_keep_their_lines_and_what_stands_before_the_separator() {
        let text = b"module {} // -----\n// nothing\n// -----\nmodule {}\n// ----- of dashes\n";
        let found: Vec<(usize, &str)> =
            parts(text).into_iter().map(|(at, part)| (at, std::str::from_utf8(part).unwrap())).collect();
        assert_eq!(found, [(0, "module {} "), (19, "// nothing\n"), (39, "module {}\n// ----- of dashes\n")]);
        let whole = Source::new("two.mlir", text.to_vec()).unwrap();
        let sources = sources(&whole).unwrap();
        assert_eq!(sources.len(), 2);
        assert!(sources[1].bytes.starts_with(b"\n\n\nmodule {}"));
    }
}
