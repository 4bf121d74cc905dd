//! Boxes that are copied in the background, and barriers with phases: what they give, and which faults are found.

use proptest::prelude::*;
use surject_ir::{DType, Scalar};
use surject_kernel::interpret::{FaultKind, Options, Order, Tensor, run};
use surject_kernel::{parse, print, verify};

const ORDERS: [Order; 4] = [Order::Forward, Order::Backward, Order::Shuffled(1), Order::Shuffled(2)];

fn floats(count: i64) -> Tensor {
    let elements: Vec<Scalar> = (0..count).map(|i| Scalar::from_f64(DType::F32, (i + 1) as f64)).collect();
    Tensor::of(&elements)
}

/// Two stages take turns: one warp copies eight boxes of 32 elements, two warps add one and store them. A box is free when
/// both have arrived.
const RING: &str = "kernel ring(x: read f32[256], y: write f32[256]) {
  %one = splat 1.0 : f32
  %none = splat 0 : i64
  %bit = splat 1 : i64
  %two = splat 2 : i64
  for %b = 0 to 1 parallel(block) {
    alloc tile: shared f32[64]
    alloc full: shared i64[2]
    alloc empty: shared i64[2]
    phase_init full[0], 1
    phase_init full[1], 1
    phase_init empty[0], 2
    phase_init empty[1], 2
    for %w = 0 to 3 parallel(warp) {
      %reads = holds 0 <= %w < 2 : i1
      if %reads {
        for %i = 0 to 8 {
          %n = index %i : i64
          %stage = rem %n, %two : i64
          %round = div %n, %two : i64
          %parity = and %round, %bit : i64
          phase_wait full[%stage], %parity
          for %t = 0 to 16 parallel(thread) {
            %v = load tile[32*%stage + 16*%w + %t] : f32
            %s = add %v, %one : f32
            store %s, y[32*%i + 16*%w + %t]
          }
          phase_arrive empty[%stage]
        }
      } else {
        for %i = 0 to 8 {
          %n = index %i : i64
          %stage = rem %n, %two : i64
          %round = div %n, %two : i64
          %parity = and %round, %bit : i64
          %other = xor %parity, %bit : i64
          phase_wait empty[%stage], %other
          phase_expect full[%stage], 128
          box_copy x[32*%i] of [256] box [32], tile[32*%stage] by 32, full[%stage]
        }
      }
    }
  }
}";

/// A text whose values have names, which become numbers.
fn numbered(text: &str) -> String {
    let names = [
        "%one", "%none", "%bit", "%two", "%b", "%w", "%reads", "%i", "%n", "%stage", "%round", "%parity",
        "%v", "%s", "%t", "%other",
    ];
    let mut all: Vec<(usize, &str)> = names.into_iter().enumerate().collect();
    all.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    let mut text = text.to_string();
    for (number, name) in all {
        text = text.replace(name, &format!("%{number}"));
    }
    text
}

fn outcome(text: &str, order: Order) -> Result<Vec<f64>, FaultKind> {
    let kernel = parse(&numbered(text)).unwrap_or_else(|e| panic!("{e}")).remove(0);
    verify(&kernel).unwrap_or_else(|e| panic!("{e}"));
    let mut tensors = [floats(256), Tensor::unwritten(DType::F32, 256)];
    let done = run(&kernel, &[], &mut tensors, &Options { order, ..Options::default() });
    done.map(|_| (0..256).map(|i| tensors[1].get(i).unwrap().as_f64()).collect()).map_err(|f| f.kind)
}

#[test]
fn a_ring_of_stages_passes_boxes_on() {
    let expected: Vec<f64> = (0..256).map(|i| (i + 2) as f64).collect();
    for order in ORDERS {
        assert_eq!(outcome(RING, order).unwrap(), expected, "{order:?}");
    }
    let kernel = parse(&numbered(RING)).unwrap().remove(0);
    assert_eq!(parse(&print(&kernel)).unwrap()[0].renumbered(), kernel.renumbered());
}

/// What a text without a line, or with another one, does wrong, in every order.
fn faults(line: &str, other: &str) -> Vec<FaultKind> {
    assert!(RING.contains(line), "{line}");
    ORDERS.map(|order| outcome(&RING.replacen(line, other, 1), order).expect_err(line)).to_vec()
}

#[test]
fn what_is_read_before_it_is_waited_for_is_a_fault() {
    for fault in faults("phase_wait full[%stage], %parity", "") {
        let found = matches!(&fault, FaultKind::Race { memory, .. } | FaultKind::Unwritten { memory, .. } if memory == "tile");
        assert!(found, "{fault}");
    }
    // The phase before is over, the one that brings the tile is not.
    for fault in faults("phase_wait full[%stage], %parity", "phase_wait full[%stage], %bit") {
        assert!(!matches!(fault, FaultKind::Divergence { .. }), "{fault}");
    }
}

#[test]
fn what_is_overwritten_while_it_is_read_is_a_race() {
    for fault in faults("phase_wait empty[%stage], %other", "") {
        let found = match &fault {
            FaultKind::Race { memory, .. } => memory == "tile",
            FaultKind::Phase { barrier, .. } => barrier.starts_with("full"),
            _ => false,
        };
        assert!(found, "{fault}");
    }
    // One of two readers is not waited for.
    for fault in faults("phase_init empty[0], 2", "phase_init empty[0], 1") {
        let found = match &fault {
            FaultKind::Race { memory, .. } => memory == "tile",
            FaultKind::Phase { barrier, .. } => barrier == "empty[0]" || barrier.starts_with("full"),
            _ => false,
        };
        assert!(found, "{fault}");
    }
}

#[test]
fn phases_that_never_end_are_reported() {
    for (line, other, what) in [
        ("full[%stage], 128", "full[%stage], 132", "0 arrivals and 4 bytes at phase 0 of full[0]"),
        ("full[%stage], 128", "full[%stage], 124", "more than it waits for"),
        ("phase_init full[1], 1", "phase_init full[1], 2", "1 arrivals and 0 bytes at phase 0 of full[1]"),
        ("phase_arrive empty[%stage]", "", "2 arrivals and 0 bytes at phase 0 of empty[0]"),
        ("phase_init full[1], 1", "phase_init full[0], 1", "begins twice"),
    ] {
        for fault in faults(line, other) {
            assert!(matches!(fault, FaultKind::Phase { .. }) && fault.to_string().contains(what), "{fault}");
        }
    }
    for fault in faults("phase_init full[1], 1", "") {
        assert!(matches!(&fault, FaultKind::Unwritten { memory, .. } if memory == "full"), "{fault}");
    }
}

/// Nobody waits for the last box.
#[test]
fn a_block_does_not_end_before_its_boxes() {
    let text = "kernel k(x: read f32[32]) {
  for %0 = 0 to 1 parallel(block) {
    alloc tile: shared f32[32]
    alloc full: shared i64[1]
    phase_init full[0], 1
    for %1 = 0 to 1 parallel(warp) {
      phase_expect full[0], 128
      box_copy x[0] of [32] box [32], tile[0] by 32, full[0]
    }
  }
}";
    let kernel = parse(text).unwrap().remove(0);
    verify(&kernel).unwrap();
    let fault = run(&kernel, &[], &mut [floats(32)], &Options::default()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Copies);
}

#[test]
fn what_no_machine_copies_is_refused() {
    let message = |line: &str, other: &str| {
        assert!(RING.contains(line), "{line}");
        let text = numbered(&RING.replacen(line, other, 1));
        let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).remove(0);
        verify(&kernel).unwrap_err().to_string()
    };
    let copy = "x[32*%i] of [256] box [32], tile[32*%stage] by 32";
    for (other, what) in [
        ("x[32*%i] of [256] box [34], tile[32*%stage] by 34", "no multiple of 16 bytes"),
        ("x[32*%i] of [256] box [260], tile[32*%stage] by 260", "not 1 to 256"),
        ("x[32*%i] of [256 by 2] box [32], tile[32*%stage] by 32", "neighbours in memory"),
        ("x[32*%i, 0] of [32, 8 by 33] box [32, 1], tile[0] by 32", "no multiple of 16 bytes"),
        ("x[32*%i, 0] of [256] box [32], tile[32*%stage] by 32", "a place of 2 dimensions"),
        ("x[32*%i] of [256] box [32], tile[32*%stage] by 16", "are 16 apart"),
        ("x[0, 0, 0] of [8, 8 by 8, 8 by 64] box [256, 256, 256], tile[0] by 256", "more than 1048575 bytes"),
        ("x[32*%i] of [0] box [32], tile[32*%stage] by 32", "0 elements along a dimension"),
        // Where a box begins would be a negative number for a machine.
        ("x[32*%i] of [2147483648] box [32], tile[32*%stage] by 32", "2147483648 elements along a dimension"),
    ] {
        let found = message(copy, other);
        assert!(found.contains(what), "{found}");
    }
    let found = message("phase_arrive empty[%stage]", "store %stage, empty[%stage]");
    assert!(found.contains("nothing else uses"), "{found}");
    let found = message("alloc full: shared i64[2]", "alloc full: shared i32[2]");
    assert!(found.contains("shared memory of i64"), "{found}");
    let found = message("    phase_init full[0], 1\n", "    phase_arrive full[0]\n");
    assert!(found.contains("by a warp"), "{found}");
}

/// A box by its definition: what is outside of the tensor is zero.
fn brute(tensor: &[f64], extents: &[i64], strides: &[i64], sizes: &[i64], at: &[i64]) -> Vec<f64> {
    let count: i64 = sizes.iter().product();
    let element = |number: i64| {
        let (mut rest, mut place) = (number, 0);
        for d in 0..sizes.len() {
            let own = at[d] + rest % sizes[d];
            rest /= sizes[d];
            if own < 0 || own >= extents[d] {
                return 0.0;
            }
            place += own * strides[d];
        }
        tensor[place as usize]
    };
    (0..count).map(element).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn boxes_are_what_they_are_by_definition(
        dimensions in prop::collection::vec((1i64..7, 1i64..5, -4i64..8), 1..5),
        first in (1i64..20, 1i64..4, -8i64..20),
        pad in 0i64..3,
        order in prop::sample::select(ORDERS.to_vec()),
    ) {
        // Rows are multiples of 16 bytes, dimensions dense beyond.
        let (mut extents, mut sizes, mut at) = (vec![first.0], vec![4 * first.1], vec![first.2]);
        let mut strides = vec![1, (first.0 + 3) / 4 * 4 + 4 * pad];
        for (extent, size, place) in dimensions {
            extents.push(extent);
            sizes.push(size);
            at.push(place);
            strides.push(strides.last().unwrap() * extent);
        }
        let all = strides.pop().unwrap();
        let count: i64 = sizes.iter().product();
        let (lines, pitch) = (count / sizes[0], sizes[0] + pad);
        let text = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let shape: Vec<String> = extents.iter().zip(&strides).enumerate()
            .map(|(i, (e, s))| if i == 0 { format!("{e}") } else { format!("{e} by {s}") }).collect();
        let kernel = format!("kernel k(x: read f32[{all}], y: write f32[{count}]) {{
  %0 = splat 0 : i64
  for %1 = 0 to 1 parallel(block) {{
    alloc tile: shared f32[{}]
    alloc full: shared i64[3]
    phase_init full[2], 1
    for %2 = 0 to 1 parallel(warp) {{
      phase_expect full[2], {}
      box_copy x[{}] of [{}] box [{}], tile[0] by {pitch}, full[2]
      phase_wait full[2], %0
      for %3 = 0 to {lines} {{
        for %4 = 0 to {} {{
          %5 = load tile[{pitch}*%3 + %4] : f32
          store %5, y[{}*%3 + %4]
        }}
      }}
    }}
  }}
}}", pitch * lines, 4 * count, text(&at), shape.join(", "), text(&sizes), sizes[0], sizes[0]);
        let parsed = parse(&kernel).map_err(|e| TestCaseError::fail(format!("{e}\n{kernel}")))?.remove(0);
        prop_assert!(verify(&parsed).is_ok(), "{:?}\n{kernel}", verify(&parsed));
        prop_assert_eq!(&parse(&print(&parsed)).unwrap()[0].renumbered(), &parsed.renumbered());
        let mut tensors = [floats(all), Tensor::unwritten(DType::F32, count as usize)];
        let ran = run(&parsed, &[], &mut tensors, &Options { order, ..Options::default() });
        prop_assert!(ran.is_ok(), "{}\n{kernel}", ran.unwrap_err());
        let tensor: Vec<f64> = (0..all).map(|i| (i + 1) as f64).collect();
        let expected = brute(&tensor, &extents, &strides, &sizes, &at);
        let found: Vec<f64> = (0..count as usize).map(|i| tensors[1].get(i).unwrap().as_f64()).collect();
        prop_assert_eq!(found, expected, "{}", kernel);
    }
}
