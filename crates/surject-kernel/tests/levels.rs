//! Kernels in the text form, run by the interpreter: what each level means, and what is found to be wrong.

use surject_ir::{DType, Scalar};
use surject_kernel::interpret::{Counts, Fault, FaultKind, Options, Order, Tensor, run};
use surject_kernel::{Kernel, parse, print, verify};

/// The only kernel of a text, which is well formed and prints as it reads.
fn kernel(text: &str) -> Kernel {
    let mut kernels = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(kernels.len(), 1);
    let kernel = kernels.remove(0);
    verify(&kernel).unwrap_or_else(|error| panic!("{error}"));
    let again = parse(&print(&kernel)).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    assert_eq!(again[0].renumbered(), kernel.renumbered());
    kernel
}

fn floats(count: usize) -> Tensor {
    let elements: Vec<Scalar> = (0..count).map(|i| Scalar::from_f64(DType::F32, i as f64)).collect();
    Tensor::of(&elements)
}

fn empty(count: usize) -> Tensor {
    Tensor::unwritten(DType::F32, count)
}

const ORDERS: [Order; 4] = [Order::Forward, Order::Backward, Order::Shuffled(1), Order::Shuffled(7)];

/// Runs a kernel in several orders, which must agree, and gives the last tensor as numbers.
fn all_orders(kernel: &Kernel, tensors: &[Tensor]) -> (Vec<Option<f64>>, Counts) {
    let mut results = ORDERS.iter().map(|&order| {
        let mut tensors = tensors.to_vec();
        let options = Options { order, ..Options::default() };
        let counts = run(kernel, &[], &mut tensors, &options).unwrap_or_else(|fault| panic!("{fault}"));
        let last = tensors.pop().unwrap();
        ((0..last.len()).map(|i| last.get(i).map(Scalar::as_f64)).collect::<Vec<_>>(), counts)
    });
    let first = results.next().unwrap();
    results.for_each(|other| assert_eq!(other, first));
    first
}

/// What every order finds to be wrong.
fn faults(kernel: &Kernel, tensors: &[Tensor]) -> Vec<Fault> {
    let one = |&order: &Order| {
        let options = Options { order, ..Options::default() };
        *run(kernel, &[], &mut tensors.to_vec(), &options).expect_err("there is a fault")
    };
    ORDERS.iter().map(one).collect()
}

/// A transposition through shared memory; with or without the barrier, and with rows of so many words.
fn transposition(barrier: &str, row: usize) -> Kernel {
    kernel(&format!(
        "kernel transpose(x: read f32[1024], y: write f32[1024]) {{
          for %0 = 0 to 1 parallel(block) {{
            alloc tile: shared f32[{size}]
            for %1 = 0 to 32 parallel(warp) {{
              for %2 = 0 to 32 parallel(thread) {{
                %3 = load x[32*%1 + %2] : f32
                store %3, tile[{row}*%1 + %2]
                {barrier}
                %4 = load tile[{row}*%2 + %1] : f32
                store %4, y[32*%1 + %2]
              }}
            }}
          }}
        }}",
        size = 32 * row,
    ))
}

#[test]
fn a_barrier_orders_what_threads_write_and_read() {
    let tensors = [floats(1024), empty(1024)];
    let (y, counts) = all_orders(&transposition("barrier block", 33), &tensors);
    assert!((0..1024).all(|i| y[i] == Some((i % 32 * 32 + i / 32) as f64)));
    // A warp loads and stores rows of four sectors; padded rows lie in different banks.
    assert_eq!((counts.sectors, counts.bank_conflicts, counts.barriers), (2 * 32 * 4, 0, 1));
    assert_eq!((counts.global.loaded, counts.shared.stored), (4096, 4096));
    let (_, counts) = all_orders(&transposition("barrier block", 32), &tensors);
    assert_eq!(counts.bank_conflicts, 32 * 31);
    for fault in faults(&transposition("", 33), &tensors) {
        // Whoever comes first finds nothing there, or races with who writes it later.
        assert!(matches!(fault.kind, FaultKind::Unwritten { .. } | FaultKind::Race { .. }), "{fault}");
    }
    // The threads of a warp wait for each other, other warps do not.
    for fault in faults(&transposition("barrier warp", 33), &tensors) {
        assert!(matches!(fault.kind, FaultKind::Unwritten { .. } | FaultKind::Race { .. }), "{fault}");
    }
}

#[test]
fn a_race_names_both_agents() {
    let text = "kernel sum(x: read f32[64], y: readwrite f32[1]) {
      for %0 = 0 to 64 parallel(task) {
        %1 = load x[%0] : f32
        %2 = load y[0] : f32
        %3 = add %1, %2 : f32
        store %3, y[0]
      }
    }";
    let found = faults(&kernel(text), &[floats(64), floats(1)]);
    insta::assert_snapshot!(found[0], @r"
    kernel `sum`: a race on element 0 of `y` with task 0 (task 1)
      in `%2 = load y[0] : f32`
    ");
    let atomic = kernel(
        &text
            .replace("store %3, y[0]", "atomic + %1, y[0]")
            .replace("%2 = load y[0] : f32\n", "")
            .replace("%3 = add %1, %2 : f32\n", ""),
    );
    assert_eq!(all_orders(&atomic, &[floats(64), floats(1)]).0, [Some(2016.0)]);
}

/// An element that a warp reads before and behind a barrier of its own, and then writes, while another warp reads it: whoever
/// comes first, the other warp is not forgotten.
#[test]
fn readers_that_no_barrier_orders_are_kept() {
    let text = "kernel k(x: read f32[1], y: write f32[64]) {
      for %0 = 0 to 1 parallel(block) {
        alloc tile: shared f32[1]
        %1 = load x[0] : f32
        store %1, tile[0]
        for %2 = 0 to 2 parallel(warp) {
          for %3 = 0 to 1 parallel(thread) {
            %4 = index %2 : i64
            %5 = splat 0 : i64
            %6 = eq %4, %5 : i1
            %7 = load tile[0] : f32
            store %7, y[32*%2]
            if %6 {
              barrier warp
              %8 = load tile[0] : f32
              store %8, y[1]
              barrier warp
              store %1, tile[0]
            }
          }
        }
      }
    }";
    for fault in faults(&kernel(text), &[floats(1), empty(64)]) {
        assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
    }
}

/// An element to which several tasks add, and which one of them reads: whoever comes first, the others are not forgotten.
#[test]
fn atomic_operations_are_kept() {
    let text = "kernel k(x: read f32[1], y: readwrite f32[1], z: write f32[3]) {
      for %0 = 0 to 3 parallel(task) {
        %1 = load x[0] : f32
        atomic + %1, y[0]
        %2 = index %0 : i64
        %3 = splat READER : i64
        %4 = eq %2, %3 : i1
        if %4 {
          %5 = load y[0] : f32
          store %5, z[%0]
        }
      }
    }";
    for reader in 0..3 {
        let kernel = kernel(&text.replace("READER", &reader.to_string()));
        for fault in faults(&kernel, &[floats(1), floats(1), empty(3)]) {
            assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
        }
    }
}

#[test]
fn all_threads_reach_a_barrier_or_none() {
    let text = |barrier: &str| {
        format!(
            "kernel k(y: write f32[64]) {{
              for %0 = 0 to 1 parallel(block) {{
                for %1 = 0 to 64 parallel(thread) {{
                  %2 = index %1 : i64
                  %3 = splat 32 : i64
                  %4 = lt %2, %3 : i1
                  if %4 {{
                    barrier block
                  }}{barrier}
                  %5 = splat 1.0 : f32
                  store %5, y[%1]
                }}
              }}
            }}"
        )
    };
    for barrier in ["", " else {\n barrier block\n }"] {
        for fault in faults(&kernel(&text(barrier)), &[empty(64)]) {
            assert!(matches!(fault.kind, FaultKind::Divergence { .. }), "{fault}");
        }
    }
}

/// The threads of one warp wait for each other while those of another one already wait for the whole block.
#[test]
fn warps_wait_on_their_own_while_others_wait_for_the_block() {
    let text = "kernel k(x: read f32[64], y: write f32[64]) {
      for %0 = 0 to 1 parallel(block) {
        alloc tile: shared f32[64]
        for %1 = 0 to 2 parallel(warp) {
          for %2 = 0 to 32 parallel(thread) {
            %3 = index %1 : i64
            %4 = splat 1 : i64
            %5 = eq %3, %4 : i1
            %6 = load x[32*%1 + %2] : f32
            if %5 {
              store %6, tile[32*%1 + %2]
              barrier warp
              %7 = load tile[32*%1 - %2 + 31] : f32
              barrier warp
              store %7, tile[32*%1 + %2]
            } else {
              store %6, tile[32*%1 + %2]
            }
            barrier block
            %8 = load tile[-32*%1 - %2 + 63] : f32
            store %8, y[32*%1 + %2]
          }
        }
      }
    }";
    let (y, _) = all_orders(&kernel(text), &[floats(64), empty(64)]);
    // What the second warp has turned around is turned around again.
    let expected = |i: usize| if i < 32 { 32 + i } else { 63 - i };
    assert!((0..64).all(|i| y[i] == Some(expected(i) as f64)), "{y:?}");
}

#[test]
fn threads_of_a_warp_exchange_values() {
    let text = "kernel sums(x: read f32[128], y: write f32[128]) {
      for %0 = 0 to 2 parallel(block) {
        for %1 = 0 to 64 parallel(thread) {
          %2 = load x[64*%0 + %1] : f32
          %3 = exchange %2 xor 1 : f32
          %4 = add %2, %3 : f32
          %5 = exchange %4 xor 2 : f32
          %6 = add %4, %5 : f32
          %7 = exchange %6 down 4 : f32
          %8 = add %6, %7 : f32
          store %8, y[64*%0 + %1]
        }
      }
    }";
    let (y, _) = all_orders(&kernel(text), &[floats(128), empty(128)]);
    let fours = |i: usize| (0..4).map(|j| (i / 4 * 4 + j) as f64).sum::<f64>();
    // The last threads of a warp have none below: theirs is their own.
    let expected = |i: usize| fours(i) + if i % 32 < 28 { fours(i + 4) } else { fours(i) };
    assert!((0..128).all(|i| y[i] == Some(expected(i))), "{y:?}");
    let alone = text
        .replace(
            "%3 = exchange",
            "%9 = index %1 : i64\n%10 = splat 3 : i64\n%11 = lt %9, %10 : i1\n%12 = if %11 {\n%3 = exchange",
        )
        .replace("%4 = add %2, %3 : f32\n", "%4 = add %2, %3 : f32\nyield %4\n} else {\nyield %2\n} : f32\n")
        .replace("exchange %4", "exchange %12")
        .replace("add %4", "add %12");
    for fault in faults(&kernel(&alone), &[floats(128), empty(128)]) {
        assert!(matches!(fault.kind, FaultKind::Divergence { .. }), "{fault}");
    }
}

#[test]
fn what_is_copied_in_the_background_is_there_after_a_wait() {
    let text = |wait: &str, barrier: &str| {
        format!(
            "kernel k(x: read f32[128], y: write f32[128]) {{
              for %0 = 0 to 1 parallel(block) {{
                alloc tile: shared f32[128]
                for %1 = 0 to 32 parallel(thread) {{
                  async_copy 4, x[4*%1], tile[4*%1]
                  async_commit
                  {wait}
                  {barrier}
                  %2 = load tile[124 - 4*%1] : f32
                  store %2, y[4*%1]
                  %3 = splat 0.0 : f32
                  store %3, y[4*%1 + 1]
                  store %3, y[4*%1 + 2]
                  store %3, y[4*%1 + 3]
                }}
              }}
            }}"
        )
    };
    let tensors = [floats(128), empty(128)];
    let (y, _) = all_orders(&kernel(&text("async_wait 0", "barrier block")), &tensors);
    assert!((0..32).all(|i| y[4 * i] == Some((124 - 4 * i) as f64)));
    for (wait, barrier) in [("", "barrier block"), ("async_wait 1", "barrier block"), ("async_wait 0", "")] {
        for fault in faults(&kernel(&text(wait, barrier)), &tensors) {
            assert!(matches!(fault.kind, FaultKind::Unwritten { .. } | FaultKind::Race { .. }), "{fault}");
        }
    }
    let forgotten = kernel(
        "kernel k(x: read f32[4]) {
          for %0 = 0 to 1 parallel(block) {
            alloc tile: shared f32[4]
            for %1 = 0 to 1 parallel(thread) {
              async_copy 4, x[0], tile[0]
            }
          }
        }",
    );
    assert!(faults(&forgotten, &[floats(4)]).iter().all(|f| f.kind == FaultKind::Copies));
}

/// What is copied in the background is there for the thread that waits; others see it behind a barrier, and nobody may write
/// there meanwhile.
#[test]
fn copies_in_the_background_end_where_they_are_waited_for() {
    let text = |before: &str, behind: &str, reads: &str| {
        format!(
            "kernel k(x: read f32[32], y: write f32[32]) {{
              for %0 = 0 to 1 parallel(block) {{
                alloc tile: shared f32[32]
                for %1 = 0 to 32 parallel(thread) {{
                  %2 = splat 0.0 : f32
                  async_copy 1, x[%1], tile[%1]
                  async_commit
                  barrier block
                  {before}
                  async_wait 0
                  {behind}
                  %3 = load {reads} : f32
                  store %3, y[%1]
                }}
              }}
            }}"
        )
    };
    let tensors = [floats(32), empty(32)];
    let (y, _) = all_orders(&kernel(&text("", "barrier block", "tile[31 - %1]")), &tensors);
    assert!((0..32).all(|i| y[i] == Some((31 - i) as f64)));
    all_orders(&kernel(&text("", "", "tile[%1]")), &tensors);
    // Of a thread before, or of one behind, whose copy it does not know to be over.
    let before = "tile[%1 - 1] where 0 <= %1 - 1 < 32 else 0.0";
    let after = "tile[%1 + 1] where 0 <= %1 + 1 < 32 else 0.0";
    let written = "store %2, tile[31 - %1]\nbarrier block";
    let cases = [("", "", before), ("", "", after), (written, "barrier block", "tile[%1]")];
    for (waits, behind, reads) in cases {
        for fault in faults(&kernel(&text(waits, behind, reads)), &tensors) {
            assert!(matches!(fault.kind, FaultKind::Unwritten { .. } | FaultKind::Race { .. }), "{fault}");
        }
    }
}

#[test]
fn guards_and_masks_keep_accesses_inside() {
    let text = |guard: &str| {
        format!(
            "kernel k(x: read f32[10], y: write f32[16]) {{
              for %0 = 0 to 16 step 8 {{
                %1 = load x[%0 + lane]{guard} : f32x8
                store %1, y[%0 + lane]
              }}
            }}"
        )
    };
    let guarded = kernel(&text(" where 0 <= %0 + lane < 10 else -1.0"));
    let (y, _) = all_orders(&guarded, &[floats(10), empty(16)]);
    assert!((0..16).all(|i| y[i] == Some(if i < 10 { i as f64 } else { -1.0 })));
    let fault = &faults(&kernel(&text("")), &[floats(10), empty(16)])[0];
    insta::assert_snapshot!(fault, @r"
    kernel `k`: element 10 of `x`, which has 10
      in `%1 = load x[%0 + lane] : f32x8`
    ");
    let unwritten = kernel(
        "kernel k(y: write f32[2]) {\n alloc t: stack f32[2]\n %0 = load t[1] : f32\n store %0, y[0]\n }",
    );
    let fault = &faults(&unwritten, &[empty(2)])[0];
    assert_eq!(fault.kind, FaultKind::Unwritten { memory: "t".into(), element: 1 });
}

#[test]
fn what_a_thread_stores_strided_takes_more_sectors() {
    let text = |stride: usize| {
        format!(
            "kernel k(x: read f32[1024], y: write f32[32]) {{
              for %0 = 0 to 1 parallel(block) {{
                for %1 = 0 to 32 parallel(thread) {{
                  %2 = load x[{stride}*%1] : f32
                  store %2, y[%1]
                }}
              }}
            }}"
        )
    };
    for (stride, sectors) in [(1, 4), (2, 8), (8, 32), (32, 32)] {
        let (_, counts) = all_orders(&kernel(&text(stride)), &[floats(1024), empty(32)]);
        assert_eq!(counts.sectors, sectors + 4, "stride {stride}");
    }
}

#[test]
fn a_warp_multiplies_matrices() {
    let text = "kernel product(x: read f32[16], y: read f32[16], z: write f32[16]) {
      for %0 = 0 to 1 parallel(block) {
        for %1 = 0 to 1 parallel(warp) {
          alloc acc: register f32[16]
          %2 = splat 0.0 : f32
          for %3 = 0 to 16 unrolled {
            store %2, acc[%3]
          }
          for %4 = 0 to 2 {
            matmul (4, 4, 2) acc[0] by (4, 1), x[2*%4] by (4, 1), y[8*%4] by (4, 1)
          }
          for %5 = 0 to 16 unrolled {
            %6 = load acc[%5] : f32
            store %6, z[%5]
          }
        }
      }
    }";
    let (z, counts) = all_orders(&kernel(text), &[floats(16), floats(16), empty(16)]);
    let expected = |i: usize, j: usize| (0..4).map(|k| (4 * i + k) as f64 * (4 * k + j) as f64).sum::<f64>();
    assert!((0..16).all(|i| z[i] == Some(expected(i / 4, i % 4))));
    assert_eq!(counts.flops, 2 * 64);
}

#[test]
fn what_is_not_well_formed_is_refused() {
    let cases = [
        ("for %0 = 0 to 4 parallel(thread) {\n }", "a loop over threads stands inside of one over blocks"),
        (
            "for %0 = 0 to 4 parallel(task) {\n for %1 = 0 to 4 parallel(block) {\n }\n }",
            "a loop over blocks inside of one over tasks",
        ),
        ("alloc t: shared f32[4]", "shared memory is not made here"),
        (
            "for %0 = 0 to 4 parallel(block) {\n barrier block\n }",
            "a barrier of a block stands inside of a loop of its threads",
        ),
        (
            "alloc t: stack f32[4]\n for %0 = 0 to 4 parallel(task) {\n %1 = splat 0.0 : f32\n store %1, t[%0]\n }",
            "`t` belongs to whoever is outside of this parallel loop",
        ),
        ("%0 = splat 0.0 : f32\n store %0, x[0]", "`x` is only read"),
        ("%0 = load y[0] : f32", "`y` is only written"),
        ("%0 = load x[0] : f64", "elements of f32 are loaded as f64"),
        ("%0 = load x[lane] : f32", "there is one lane, and `lane` in an expression"),
        ("%0 = splat 0.0 : f32\n %1 = splat 0 : i32\n %2 = add %0, %1 : f32", "operands of f32 and i32"),
        ("%0 = splat 1.0 : f32\n %1 = not %0 : f32", "`not` is not defined for f32"),
        ("%0 = splat 1.0 : f32\n %1 = exchange %0 xor 1 : f32", "only threads exchange values"),
        ("%0 = splat 1.0 : f32x4\n %1 = shuffle %0, %0 [0, 8] : f32x2", "there are 8 lanes"),
        ("%0 = splat 1.0 : f32x4\n %1 = reduce + %0 : f32x4", "the result is f32, not f32x4"),
        (
            "%0 = splat 0.0 : f32\n %1 = for %2 = 0 to 4 carry(%3 = %0) {\n yield %2\n } : f32",
            "a region yields (i64) where (f32) is expected",
        ),
        ("for %0 = 0 to 4 step 0 {\n }", "the step of a loop is positive"),
        ("%0 = splat 1 : i32\n prefetch read x[%0]", "%0 is i32; addresses are of i64"),
    ];
    for (body, message) in cases {
        let text = format!("kernel k(x: read f32[4], y: write f32[4]) {{\n{body}\n}}");
        let kernels = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let error = verify(&kernels[0]).expect_err(body);
        assert_eq!(error.message, message, "{body}");
    }
}

#[test]
fn what_does_not_parse_has_a_caret() {
    let errors: Vec<String> = [
        "kernel k() {\n  %0 = splat 1.0 : f33\n}",
        "kernel k() {\n  %0 = add %1, %1 : f32\n}",
        "kernel k() {\n  %0 = splat 300 : i8\n}",
        "kernel k(x: read f32[4]) {\n  %0 = load y[0] : f32\n}",
        "kernel k() {\n  %0 = frobnicate : f32\n}",
        "kernel k() {\n  store ?\n}",
        "kernel k() {\n  for %0 = 0 until 4 {",
    ]
    .iter()
    .map(|text| parse(text).expect_err(text).to_string())
    .collect();
    insta::assert_snapshot!(errors.join("\n"));
}
