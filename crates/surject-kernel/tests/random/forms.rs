//! What holds for every kernel and every text.

use crate::generate::{Generated, kernel};
use crate::{features, mutate};
use proptest::prelude::*;
use std::collections::BTreeSet;
use surject_kernel::interpret::{Counts, Fault, FaultKind, Options, Order, Tensor, run};
use surject_kernel::{Kernel, parse, print, verify};

/// The numbers that choose a kernel.
fn numbers() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..400)
}

/// The order of agents, and how much a run may take.
fn options(order: Order) -> Options {
    Options { order, warp: 4, steps: 50_000, bytes: 1 << 22, ..Options::default() }
}

/// A kernel from its text, which prints like that.
fn reparsed(kernel: &Kernel) -> Result<Kernel, TestCaseError> {
    let text = print(kernel);
    let mut parsed = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    prop_assert_eq!(parsed.len(), 1, "{}", text);
    let parsed = parsed.remove(0);
    prop_assert_eq!(&parsed, &kernel.renumbered(), "{}", text);
    prop_assert_eq!(&print(&parsed), &text);
    prop_assert_eq!(verify(&parsed), verify(&kernel.renumbered()), "{}", text);
    Ok(parsed)
}

type Outcome = (Result<Counts, Box<Fault>>, Vec<Tensor>);

fn ran(kernel: &Kernel, sizes: &[i64], tensors: &[Tensor], order: Order) -> Outcome {
    let mut tensors = tensors.to_vec();
    (run(kernel, sizes, &mut tensors, &options(order)), tensors)
}

/// A verified kernel runs, or ends with a fault that says what is wrong with it; and so does the one of its text.
fn runs(kernel: &Kernel, parsed: &Kernel, sizes: &[i64], tensors: &[Tensor]) -> Result<bool, TestCaseError> {
    let mut done = true;
    for order in [Order::Forward, Order::Backward, Order::Shuffled(7)] {
        let (found, written) = ran(&kernel.renumbered(), sizes, tensors, order);
        let (again, rewritten) = ran(parsed, sizes, tensors, order);
        if let Err(fault) = &found {
            done = false;
            prop_assert!(fault.kind != FaultKind::Undefined, "{}\n{}", fault, kernel);
        }
        prop_assert_eq!(&found, &again, "{}", kernel);
        prop_assert_eq!(written, rewritten, "{}", kernel);
    }
    Ok(done)
}

/// Tensors of a kernel for sizes, if they are small: zeros.
fn arguments(kernel: &Kernel) -> Option<(Vec<i64>, Vec<Tensor>)> {
    let sizes: Vec<i64> = (0..kernel.sizes.len() as i64).map(|size| size + 2).collect();
    let number = |v| kernel.sizes.iter().position(|&size| size == v).map(|at| sizes[at]);
    let tensor = |&mem| {
        let memory = kernel.mem(mem);
        let elements =
            usize::try_from(memory.elements.at(0, &number)?).ok().filter(|&count| count <= 4096)?;
        Some(Tensor::of_bytes(memory.dtype, &vec![0; elements * memory.dtype.size()]))
    };
    let tensors = kernel.params.iter().map(tensor).collect::<Option<_>>()?;
    Some((sizes, tensors))
}

/// A text that a mutation gave: it is a kernel or an error with a place, and a kernel is like others.
fn text_holds(text: &str) -> Result<(), TestCaseError> {
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let lines: Vec<&str> = text.split('\n').collect();
            prop_assert!((1..=lines.len()).contains(&error.line), "{}\n{}", error, text);
            let columns = lines[error.line - 1].chars().count() + 1;
            prop_assert!((1..=columns).contains(&error.column), "{}\n{}", error, text);
            prop_assert!(!error.message.is_empty());
            return Ok(());
        }
    };
    for kernel in parsed {
        let again = reparsed(&kernel)?;
        if verify(&kernel).is_ok()
            && let Some((sizes, tensors)) = arguments(&kernel)
        {
            runs(&kernel, &again, &sizes, &tensors)?;
        }
    }
    Ok(())
}

/// Numbers that follow from a seed, as many as a large kernel takes.
fn seeded(seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    let count = 40 + next() % 600;
    (0..count).map(|_| next()).collect()
}

#[test]
fn the_generator_makes_everything_that_there_is() {
    let (mut found, mut kernels, mut ended) = (BTreeSet::new(), 0, 0);
    for seed in 0..1500 {
        let Generated { kernel, sizes, tensors } = kernel(&seeded(seed));
        assert_eq!(verify(&kernel), Ok(()), "seed {seed}\n{kernel}");
        found.extend(features::of(&kernel));
        kernels += 1;
        ended += usize::from(ran(&kernel, &sizes, &tensors, Order::Forward).0.is_ok());
    }
    let missing: Vec<String> = features::all().difference(&found).cloned().collect();
    assert!(missing.is_empty(), "never made: {missing:?}");
    // Others end with a fault: a race, an access out of bounds.
    assert!(4 * ended > kernels, "{ended} of {kernels} kernels run to their end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn kernels_print_and_parse_and_run_the_same(numbers in numbers()) {
        let Generated { kernel, sizes, tensors } = kernel(&numbers);
        prop_assert_eq!(verify(&kernel), Ok(()), "{}", kernel);
        let parsed = reparsed(&kernel)?;
        runs(&kernel, &parsed, &sizes, &tensors)?;
    }

    #[test]
    fn kernels_that_are_broken_are_found_to_be(numbers in numbers(), places in prop::collection::vec(any::<u32>(), 4)) {
        let Generated { mut kernel, .. } = kernel(&numbers);
        mutate::damage(&mut kernel, &places);
        // Whatever it says, it says something, and prints the statement.
        let _ = verify(&kernel).map_err(|error| error.to_string());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn texts_of_which_a_token_changes_are_kernels_or_errors_with_a_place(
        numbers in prop::collection::vec(any::<u32>(), 0..200),
        replacements in prop::collection::vec(any::<u32>(), 256),
    ) {
        let text = print(&kernel(&numbers).kernel);
        for mutant in mutate::mutants(&text, &replacements) {
            text_holds(&mutant)?;
        }
        for (mutant, number) in mutate::with_numbers(&text) {
            text_holds(&mutant)?;
            if let Ok(parsed) = parse(&mutant) {
                let again = print(&parsed[0]);
                prop_assert!(mutate::has_token(&again, number), "{} is read as another number:\n{}", number, mutant);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "(kernel|[%`{}()\\[\\]\\\\<=*+,:0-9a-zé \\n-]){0,60}") {
        text_holds(&text)?;
    }
}
