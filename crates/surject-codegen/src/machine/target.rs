//! What the generated code may assume of the machine.

use crate::machine::thresholds::Thresholds;
use surject_runtime::tiles::Tiles;

/// A machine, as far as code generation cares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Bytes of a vector register.
    pub vector_bytes: usize,
    /// Vector registers.
    pub vector_registers: usize,
    /// Threads that run tasks.
    pub threads: usize,
    /// Bytes of the nearest cache.
    pub l1_bytes: usize,
    /// Bytes of the second-level cache that one thread may count on.
    pub l2_share_bytes: usize,
    /// Bytes of the last cache that one thread may count on.
    pub llc_share_bytes: usize,
    /// Bytes of the last cache in all.
    pub llc_bytes: usize,
    /// Are the truths of lanes vectors as wide as what is compared (AVX2)? Others have registers of their own for them.
    pub masks_are_vectors: bool,
    /// Has it an instruction that multiplies pairs of 16-bit integers and adds the two products (`pmaddwd`)?
    pub has_pmaddwd: bool,
    /// How many `f32` an instruction looks up in by lanes: each lane picks one of these (`vpermps`). 0 without one.
    pub lane_permute_width: usize,
    /// Has it an instruction that multiplies pairs of `bf16` and adds the two products in `f32` (`vdpbf16ps`)?
    pub has_bf16_dot: bool,
    /// Has it registers for tiles, of which it multiplies those of bytes, or of pairs of `bf16` (AMX)?
    pub tiles: Tiles,
    /// Has it stores that go past the caches, and a fence behind them (`movntps`, `sfence`)?
    pub has_non_temporal_stores: bool,
    /// Can the cores that share a last cache write to memory with half of the bandwidth with which they read? Two threads that
    /// only write are then faster through the caches, as long as these hold about half of what they write. (A Zen 4 with
    /// 32 MiB takes 0.55 to 0.8 of the time for 48 to 64 MiB, as long for 96, and 1.3 times as long for 400; one thread takes up
    /// to twice as long.)
    pub asymmetric_writes: bool,
    /// Do prefetches of what is read or stored in order pay, because the hardware's own stop at the end of a page? (They do on
    /// Intel's: what comes from memory is there 1.1 to 1.5 times as fast. On AMD's it takes 1.1 to 1.5 times as long, but for the
    /// rows of [`Target::prefetches_rows`].)
    pub prefetches: bool,
    /// Do prefetches some pages ahead pay for what is read in order from memory, beside those of the hardware? (A Zen 5 does
    /// passes over the rows of a normalisation in 0.55 to 0.95 of the time.)
    pub prefetches_far: bool,
    /// The same only where several passes go over a row, and for the next row while another is computed, even a short one. (A
    /// Zen 3.)
    pub prefetches_rows: bool,
    /// From which size on transformations pay.
    pub thresholds: Thresholds,
}

impl Target {
    /// What a thread counts on of its second-level cache is one of so many parts.
    pub(crate) const CACHE_SHARE: usize = 4;

    /// Bytes of the second-level cache.
    pub fn l2_bytes(&self) -> usize {
        Target::CACHE_SHARE * self.l2_share_bytes
    }

    /// Is the next row that passes go over prefetched?
    pub(crate) fn prefetches_next_row(&self) -> bool {
        self.prefetches || self.prefetches_rows
    }

    /// Is a vector half of a cache line?
    pub(crate) fn has_half_line_vectors(&self) -> bool {
        self.vector_bytes == 32
    }

    /// The names of the processors that code is made for without having one.
    pub const NAMES: [&str; 3] = ["generic", "avx2", "avx512"];

    /// A processor by its name: [`Target::generic`], or one with the vectors of x86 of this name, and eight threads.
    pub fn named(name: &str) -> Option<Target> {
        let wide =
            Target { threads: 8, has_pmaddwd: true, has_non_temporal_stores: true, ..Target::generic() };
        match name {
            "generic" => Some(Target::generic()),
            "avx2" => Some(Target {
                vector_bytes: 32,
                masks_are_vectors: true,
                lane_permute_width: 8,
                prefetches_rows: true,
                ..wide
            }),
            "avx512" => Some(Target {
                vector_bytes: 64,
                vector_registers: 32,
                lane_permute_width: 16,
                has_bf16_dot: true,
                ..wide
            }),
            _ => None,
        }
    }

    /// This machine.
    pub fn host() -> Target {
        let mut target = Target { threads: surject_runtime::pool::threads(), ..Target::generic() };
        let caches = surject_runtime::caches::host();
        let known = |bytes: usize, otherwise| if bytes > 0 { bytes } else { otherwise };
        target.l1_bytes = known(caches.first, target.l1_bytes);
        // What is counted on is one of several things that pass through. Half of a cache of 1 MiB, or all of it, made no
        // program faster than a quarter.
        target.l2_share_bytes = known(caches.second / Target::CACHE_SHARE, target.l2_share_bytes);
        target.llc_share_bytes = known(caches.third / 2, target.llc_share_bytes);
        target.llc_bytes = known(caches.whole_third, target.llc_bytes);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            (target.vector_bytes, target.vector_registers, target.lane_permute_width) = (64, 32, 16);
            target.has_bf16_dot = is_x86_feature_detected!("avx512bf16");
            target.tiles = surject_runtime::tiles::host();
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            (target.vector_bytes, target.vector_registers, target.lane_permute_width) = (32, 16, 8);
            target.masks_are_vectors = true;
        }
        // 128-bit vectors have it everywhere; so have wider ones where they have integers at all.
        target.has_pmaddwd = cfg!(target_arch = "x86_64");
        target.has_non_temporal_stores = cfg!(target_arch = "x86_64");
        let maker = maker();
        let (intel, amd) = (&maker == b"GenuineIntel", &maker == b"AuthenticAMD");
        let zen_5 = amd && family() >= ZEN_5;
        target.prefetches = intel;
        if intel {
            // One that sees 16 processors and 300 MiB moves 64 MiB faster past that cache than through it.
            target.llc_bytes = target.llc_bytes.min(target.threads.max(2) * surject_runtime::caches::MOST);
        }
        target.prefetches_far = zen_5;
        target.prefetches_rows = amd && target.has_half_line_vectors();
        // A Zen 3 gains 1.1 to 1.4 up to 36 MB, and takes 1.1 times as long from 64 on.
        target.asymmetric_writes = amd && !zen_5 && target.vector_bytes == 64;
        #[cfg(target_arch = "aarch64")]
        {
            target.vector_registers = 32;
        }
        target
    }

    /// A machine with 128-bit vectors, 16 registers and two threads: text made for it is the same everywhere.
    pub const fn generic() -> Target {
        Target {
            vector_bytes: 16,
            vector_registers: 16,
            threads: 2,
            l1_bytes: 32 * 1024,
            l2_share_bytes: 256 * 1024,
            llc_share_bytes: 8 << 20,
            llc_bytes: 32 << 20,
            masks_are_vectors: false,
            has_pmaddwd: false,
            lane_permute_width: 0,
            has_bf16_dot: false,
            tiles: Tiles::NONE,
            has_non_temporal_stores: false,
            asymmetric_writes: false,
            prefetches: true,
            prefetches_far: false,
            prefetches_rows: false,
            thresholds: Thresholds::measured(),
        }
    }

    /// A machine as [`Target::generic`] with 512-bit vectors and 32 registers.
    pub const fn wide() -> Target {
        Target { vector_bytes: 64, vector_registers: 32, ..Target::generic() }
    }
}

/// The family of AMD's processors with this core.
const ZEN_5: u32 = 0x1a;

/// Who made the processor, in its own words.
fn maker() -> [u8; 12] {
    let mut name = [0; 12];
    #[cfg(target_arch = "x86_64")]
    {
        let named = std::arch::x86_64::__cpuid(0);
        for (part, word) in name.chunks_exact_mut(4).zip([named.ebx, named.edx, named.ecx]) {
            part.copy_from_slice(&word.to_le_bytes());
        }
    }
    name
}

/// The family of the processor; 0 where it has none.
fn family() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        let signature = std::arch::x86_64::__cpuid(1).eax;
        let (family, beyond) = (signature >> 8 & 0xf, signature >> 20 & 0xff);
        if family == 0xf { family + beyond } else { family }
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}
