//! Versions of StableHLO that an artifact can be written for.

use std::fmt;
use std::str::FromStr;

use crate::diagnostic::{Diagnostic, Span, codes};

/// A version of StableHLO, and so of the operations and types that an artifact may hold. Patch versions never matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

impl Version {
    /// The newest version that is written.
    pub const CURRENT: Version = Version::new(1, 20);
    /// The oldest version that is written.
    pub const MINIMUM: Version = Version::new(0, 9);

    /// Version `major.minor.0`.
    pub const fn new(major: u32, minor: u32) -> Version {
        Version { major, minor, patch: 0 }
    }

    /// The version of MLIR bytecode that readers of this version of StableHLO understand.
    pub(super) fn container(self) -> u64 {
        match (self.major, self.minor) {
            (0, ..=9) => 0,
            (0, 10 | 11) => 1,
            (0, 12 | 13) => 3,
            (0, 14) => 4,
            _ => 6,
        }
    }

    /// The same without its patch number.
    pub(super) fn opset(self) -> Version {
        Version { patch: 0, ..self }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Version, Diagnostic> {
        let wrong = |message: String| {
            Diagnostic::new(codes::VERSION, Span::default(), message)
                .expected(format!("a version from {} to {}", Version::MINIMUM, Version::CURRENT))
        };
        if text == "current" {
            return Ok(Version::CURRENT);
        }
        let text = text.strip_prefix('v').unwrap_or(text);
        let numbers: Option<Vec<u32>> = text.split('.').map(|n| n.parse().ok()).collect();
        let version = match numbers.as_deref() {
            Some([major, minor]) => Version::new(*major, *minor),
            Some([major, minor, patch]) => Version { major: *major, minor: *minor, patch: *patch },
            _ => return Err(wrong(format!("'{text}' is no version of StableHLO"))),
        };
        if version < Version::MINIMUM || version.opset() > Version::CURRENT {
            return Err(wrong(format!("artifacts of version {version} are not written")));
        }
        Ok(version)
    }
}
