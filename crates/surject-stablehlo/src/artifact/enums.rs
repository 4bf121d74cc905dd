//! Numbers of the values of enumerations in VHLO. Source: the reference's `VhloEnums.td`.

/// The kind of the attribute in memory, its code in the bytes, the values by number (empty where there is none).
pub(super) struct Numbers {
    pub kind: &'static str,
    pub code: u64,
    pub values: &'static [&'static str],
}

/// What an `api_version` of `custom_call` is called in memory on its way into an artifact.
pub(super) const API_VERSION: &str = "api_version";

const ENUMS: &[Numbers] = &[
    Numbers { kind: "comparison_direction", code: 3, values: &["EQ", "NE", "GE", "GT", "LE", "LT"] },
    Numbers {
        kind: "comparison_type",
        code: 4,
        values: &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"],
    },
    Numbers { kind: API_VERSION, code: 5, values: &["0", "1", "2", "3", "4"] },
    Numbers { kind: "fft_type", code: 7, values: &["FFT", "IFFT", "RFFT", "IRFFT"] },
    Numbers { kind: "precision", code: 11, values: &["DEFAULT", "HIGH", "HIGHEST"] },
    Numbers { kind: "rng_algorithm", code: 12, values: &["DEFAULT", "THREE_FRY", "PHILOX"] },
    Numbers { kind: "rng_distribution", code: 13, values: &["", "UNIFORM", "NORMAL"] },
    Numbers {
        kind: "transpose",
        code: 16,
        values: &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"],
    },
    Numbers { kind: "result_accuracy_mode", code: 19, values: &["DEFAULT", "HIGHEST", "TOLERANCE"] },
];

/// The enumeration with a code.
pub(super) fn by_code(code: u64) -> Option<&'static Numbers> {
    ENUMS.iter().find(|numbers| numbers.code == code)
}

/// The enumeration of a kind.
pub(super) fn by_kind(kind: &str) -> Option<&'static Numbers> {
    ENUMS.iter().find(|numbers| numbers.kind == kind)
}

impl Numbers {
    /// The value with a number.
    pub fn value(&self, number: u64) -> Option<&'static str> {
        let value = self.values.get(usize::try_from(number).ok()?)?;
        (!value.is_empty()).then_some(*value)
    }

    /// The number of a value.
    pub fn number(&self, value: &str) -> Option<u64> {
        self.values.iter().position(|v| !v.is_empty() && *v == value).map(|i| i as u64)
    }
}
