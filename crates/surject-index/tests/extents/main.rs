//! The algebra of sizes (seed 002), and which test answers which requirement of reference/extents.md, section 1.
//!
//! `ir` is `crates/surject-ir/tests/sizes.rs`; a module without a crate stands beside this file.
//!
//! | requirement | test |
//! |---|---|
//! | R01, R02 exact rank, one extent an axis | ir `every_variable_has_one_exact_extent_an_axis` |
//! | R03 three states | `ShapeExtent` has no other; kinds `the_calculus_of_kinds` |
//! | R04 expressions | text `sizes_print_as_they_are_written` (and declared sizes, which the seed does not have) |
//! | R05 the form says nothing | kinds `the_doors_to_expressions` |
//! | R06 extents in executable instructions | not yet: executables are compiled for constant sizes |
//! | R07 one list per output | ir `every_variable_has_one_exact_extent_an_axis` |
//! | R08 op-local and program-wide expressions | kinds `op_local_expressions`, `op_local_expressions_are_sound` |
//! | R09 static programs are exact constants | ir `every_variable_has_one_exact_extent_an_axis`; the snapshots of every crate |
//! | R10 no comparison on static sizes | kinds `static_sizes_ask_no_questions` (the whole corpus: not yet) |
//! | R11 exact is not constant | kinds `the_doors_to_expressions` |
//! | R12, R13 what exact and bound mean | kinds `the_calculus_is_sound`, ir `a_symbolic_program_runs_and_so_does_the_bound_one` |
//! | R14 share of unknown axes | not yet: sizes of a `Program` are exact, so there are none |
//! | R15, R16 what may use a bound, errors for the rest | kinds `the_doors_to_expressions` |
//! | R17, R18 no strengthening without evidence | kinds `a_pass_may_forget_and_needs_evidence_to_know_more`, ir `a_pass_that_strengthens_is_caught` (run after every pass: not yet) |
//! | R19, R20 truncation gives a bound | kinds `truncation` |
//! | R21, R22 exact truncation, the tag is part of the name | kinds `truncation`, `runtime_scalars` |
//! | R23, R24 meaning of the tags | ir `scalars_become_sizes_by_their_rule` |
//! | R25 stage 1 without stage 2 | kinds `truncation` |
//! | R26 to R28 payloads | not yet: library operations have constant sizes only |
//! | R29, R30 one metadata surface for AD | not yet |
//! | R31 guards record what is compared | ir `a_guard_that_fails_names_axis_and_operation` (cached gradients: not yet) |
//! | R32, R33 back ends get numbers | ir `verified_programs_are_well_formed_at_every_size` (`bind` before every back end) |
//! | R34 to R36 gather with dynamic slice sizes | not yet |
//! | R37 evaluation may fail | kinds `evaluation_fails_with_a_reason` |
//! | R38 guards, then sizes, then the run | ir `a_guard_that_fails_names_axis_and_operation` |
//! | R39 kernels for constant sizes | every back end, through `bind` |
//! | R40 to R45 transposition of scatter | not yet (the metadata: kinds `op_local_expressions`) |
//! | R46 passes declare what they need | not yet |
//! | R47 rank checks | ir `undecided_sizes_are_refused_with_the_fact_that_decides` |
//! | R48 transposition permutes | maps of a `Program` permute spaces; `surject-index/tests/build.rs` |
//! | R49, R50 broadcast and reshape need exact sizes | kinds `the_doors_to_expressions` |
//! | R51, R52 merged axes | kinds `op_local_expressions` |
//! | R53 dead code | not yet |
//! | R54 printed with the guarantee | kinds `the_doors_to_expressions` |
//! | R55 to R57, R62 AD | not yet |
//! | R58 to R60 errors name primitive, field and what was found | kinds `the_doors_to_expressions` |
//! | R61 matched by type; rule and operand | by type: kinds `the_doors_to_expressions` (rule and operand: not yet) |
//! | R63, R64 steps 1 and 2 | kinds `the_calculus_of_kinds`, `truncation` |
//! | R65 to R67 steps 3 to 5 | not yet |
//! | R68 step 6 | `crates/surject-ir/tests/bind.rs` `a_runtime_scalar_is_a_size` |
//! | R69 tests for each step | this table |
//! | R70 | kinds `truncation` |
//! | R71 | not yet |
//! | R72 | kinds `the_doors_to_expressions`, ir `a_pass_that_strengthens_is_caught` |
//! | R73 a prover, no solver | `Facts` answers questions and assigns nothing |
//! | R74 one door for all | kinds `the_doors_to_expressions` (used by every operation: not yet) |
//! | R75 static programs as before | the tests of every crate |
//! | R76, R77 one gather; who reports first | not yet |
//!
//! Section 3.5 is `queries`; section 3.3 is `random` (also the order of facts and renaming); are in
//! `queries`, A-27 is maps `maps_with_symbolic_sizes_are_decided`, A-28 is ir
//! `undecided_sizes_are_refused_with_the_fact_that_decides` and its sixth program.

mod brute;
mod kinds;
mod maps;
mod queries;
mod random;
mod text;
