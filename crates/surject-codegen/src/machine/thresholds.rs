//! From which size on a transformation pays.

/// The sizes from which transformations pay: elements, bytes, cycles of one core, and shares of caches and of time.
///
/// Code generation compares with these numbers and with nothing else. [`Thresholds::measured`] are those of every machine;
/// with [`Thresholds::least`] each transformation is done wherever it is possible at all, so that tests see it in programs that
/// are small enough to interpret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    // Normalisation.
    /// Terms of the sums of a kernel from which the parts that several of them share are summed once, in elements.
    pub shared_sum_terms: f64,
    /// The elements of such a part that are summed, at most, for each that is used.
    pub shared_sum_waste: f64,
    /// Terms that lie side by side, from which sums are done as they are.
    pub contiguous_sum_terms: i64,
    /// Elements from which values that repeat with every short row are written out for many rows.
    pub repeated_elements: i64,
    /// How often what is written out is used, at least.
    pub repeated_uses: i64,

    // What is stored.
    /// Cycles of scalar code that storing a value first must save, where it would be computed again and again.
    pub recomputed_cycles: f64,
    /// The same of elements that are picked out of others one by one.
    pub recomputed_lane_cycles: f64,
    /// The share of a kernel's cycles that must be saved by storing the sums of rows, and doing what is computed from them
    /// in lanes.
    pub epilogue_share: f64,

    // The schedule: work of threads.
    /// Cycles of a task of rows, below which it is not worth handing to another thread: about 20 µs.
    pub task_cycles: f64,

    // The schedule: products.
    /// From which size on sums of products are kernels of their own.
    pub tiles: TileThresholds,
    /// The same of 16-bit floats, which such kernels do not round term by term.
    pub half_tiles: TileThresholds,
    /// The cycles of asking whether elements of windows are there that a factor needs to be stored with a frame first, for each
    /// cycle that this takes.
    pub halo_cycles: f64,

    // The schedule: memory.
    /// Bytes of results that leave the nearest caches, in shares of the second-level cache of a thread.
    pub leaving_l2_shares: f64,
    /// Bytes of a tensor that is prefetched, in shares of the second-level cache of a thread.
    pub prefetched_l2_shares: f64,
    /// Bytes of a tensor that is far away for processors that prefetch by themselves, in last caches.
    pub prefetched_llcs: f64,
    /// Bytes of a tensor with rows read from their ends that are prefetched, in last caches.
    pub reversed_llcs: f64,

    // Library operations.
    /// Lines of a sort from which they are sorted side by side: fewer do not fill the lanes.
    pub sorted_lines: i64,
    /// The same for each pair of elements that is compared, as each is compiled.
    pub sorted_lines_per_pair: i64,

    // Programs.
    /// Bytes of memory from which a smaller plan is looked for.
    pub searched_bytes: u64,
    /// Bytes a cut member of a chain reads that may go on as it is done element by element, where more than these come from
    /// memory, in shares of the last cache. (Of 7 MB, in the last cache, a gradient in one chain took 1.05 to 1.15 times as
    /// long; of 12 MB and more, 0.5 to 0.95.)
    pub chained_llc_shares: f64,
    /// Cycles of fused kernels from which threads share them, where they shared none of them before.
    pub fused_cycles: f64,
    /// Tasks for each thread of fused kernels that were shared before, at least.
    pub fused_tasks_per_thread: f64,
    /// Cycles that fusing kernels saves, at least.
    pub fused_saving: f64,
    /// The same where threads share less than [`Thresholds::fused_cycles`].
    pub fused_saving_of_little: f64,
    /// Bytes of a value that loops carry from which memories change places: copies of fewer cost next to nothing.
    pub swapped_bytes: u64,
}

/// From which size on sums of products are kernels of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TileThresholds {
    /// Products; fewer are left to rows.
    pub products: f64,
    /// The score of a tile: the share of the products of full vectors that it does, less what storing results apart costs. A
    /// tile with no more is mostly empty.
    pub score: f64,
    /// The same for windows with few rows.
    pub window_score: f64,
}

impl Thresholds {
    /// Those that were measured.
    pub const fn measured() -> Thresholds {
        let tiles = TileThresholds { products: 4_000.0, score: 0.3, window_score: 0.06 };
        Thresholds {
            shared_sum_terms: 4096.0,
            shared_sum_waste: 16.0,
            contiguous_sum_terms: 8,
            repeated_elements: 128,
            repeated_uses: 8,

            recomputed_cycles: 200_000.0,
            recomputed_lane_cycles: 20_000.0,
            epilogue_share: 0.04,

            task_cycles: 60_000.0,

            tiles,
            half_tiles: tiles,
            halo_cycles: 1.0,

            leaving_l2_shares: 1.0,
            prefetched_l2_shares: 1.0,
            prefetched_llcs: 1.0,
            reversed_llcs: 0.5,

            sorted_lines: 64,
            sorted_lines_per_pair: 8,

            searched_bytes: 1 << 18,
            chained_llc_shares: 0.5,
            fused_cycles: 120_000.0,
            fused_tasks_per_thread: 1.0,
            fused_saving: 3_000.0,
            fused_saving_of_little: 10_000.0,
            swapped_bytes: 4096,
        }
    }

    /// Those with which each transformation is done wherever it is possible at all: slower code for small programs, for tests.
    pub const fn least() -> Thresholds {
        const MOST: f64 = f64::INFINITY;
        Thresholds {
            shared_sum_terms: 0.0,
            shared_sum_waste: MOST,
            contiguous_sum_terms: i64::MAX,
            repeated_elements: 2,
            repeated_uses: 1,

            recomputed_cycles: 0.0,
            recomputed_lane_cycles: 0.0,
            epilogue_share: -MOST,

            task_cycles: 0.0,

            tiles: TileThresholds { products: 64.0, score: 0.0, window_score: 0.0 },
            // Tests compare results, which tiles round otherwise than term by term.
            half_tiles: Thresholds::measured().half_tiles,
            halo_cycles: -MOST,

            leaving_l2_shares: 0.0,
            prefetched_l2_shares: 0.0,
            prefetched_llcs: 0.0,
            reversed_llcs: 0.0,

            sorted_lines: 1,
            sorted_lines_per_pair: 0,

            searched_bytes: 0,
            chained_llc_shares: -MOST,
            fused_cycles: 0.0,
            fused_tasks_per_thread: 0.0,
            fused_saving: -MOST,
            fused_saving_of_little: -MOST,
            swapped_bytes: 1,
        }
    }
}
