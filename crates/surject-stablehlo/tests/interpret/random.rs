//! `rng_bit_generator` gives XLA's bits: what jaxlib 0.10.2 computed on a CPU.

use surject_stablehlo::interpret::{Tensor, Value, run};
use surject_stablehlo::{ElementType, parse_and_verify};

/// Algorithm, type of the result, state, new state, the result's elements (unsigned).
const KNOWN: &str = "\
PHILOX 7xui32 1,2 1,4 2100602697,2847456232,2074354647,800269529,1828267006,3135207875,3972719319
PHILOX 7xui32 1,2,3 1,4,3 4031113034,1366700262,495645701,3051723414,89414891,1917262711,278163116
PHILOX 7xui32 1,18446744073709551615,5 1,1,6 2444045480,1820157809,3691035625,462474752,1447212011,3338187558,1722582365
PHILOX 3xui64 1,2 1,4 12229731395331991369,3437131457114678231,13465615291114923006
PHILOX 2x2xui32 1,2 1,3 2100602697,2847456232,2074354647,800269529
DEFAULT 5xui8 1,2 1,4 73,232,215,217,254
DEFAULT 5xui16 1,2 1,4 42825,48104,9175,9433,9214
DEFAULT 5xi4 1,2 1,4 9,8,7,9,14
DEFAULT ui32 1,18446744073709551615,5 1,0,6 2444045480
DEFAULT 3xbf16 1,2 1,3 42825,48104,9175
THREE_FRY 7xui32 1,2 1,6 43444564,2150618427,3979645651,3745730563,1672743891,4240503393,2109414752
THREE_FRY 7xui32 7,18446744073709551615 7,3 3493762567,1599218323,3901892970,3158004665,2964889903,1334547408,407867057
THREE_FRY 3xui64 1,2 1,5 9236835810183407956,16087790271692313299,18212823393184779219
THREE_FRY 4x3xui32 1,2 1,8 43444564,3979645651,1672743891,2150618427,3745730563,4240503393,2109414752,2534981805,2868795927,618976052,3824176357,3753859121
THREE_FRY 3x5xui32 1,2 1,11 43444564,2150618427,3979645651,3745730563,1672743891,2109414752,618976052,2534981805,3824176357,2868795927,2915202000,3844842626,3159807845,3120200270,299673330
THREE_FRY 3x3xui16 1,2 1,8 59732,37587,3027,54587,20483,62049,7520,49325,23063
THREE_FRY 5xi8 1,2 1,5 84,59,211,3,211
THREE_FRY ui32 7,18446744073709551615 7,0 3493762567
THREE_FRY 2xf64 1,2 1,4 9236835810183407956,16087790271692313299
";

fn numbers(text: &str) -> Vec<u64> {
    text.split(',').map(|n| n.parse().unwrap()).collect()
}

#[test]
fn bits_are_those_of_xla() {
    for line in KNOWN.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [algorithm, ty, state, new, bits] = fields.as_slice() else { panic!("{line}") };
        let state = numbers(state);
        let k = state.len();
        let text = format!(
            "func.func @main(%s: tensor<{k}xui64>) -> (tensor<{k}xui64>, tensor<{ty}>) {{
               %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<{k}xui64>) -> (tensor<{k}xui64>, tensor<{ty}>)
               return %0, %1 : tensor<{k}xui64>, tensor<{ty}>
             }}"
        );
        let module = parse_and_verify(&text).unwrap_or_else(|e| panic!("{}", e.render("", &text)));
        let bytes = state.iter().flat_map(|v| v.to_le_bytes()).collect();
        let state = Tensor::new(ElementType::U64, &[k], bytes).unwrap();
        let results = run(&module, "main", vec![Value::Tensor(state)]).unwrap();
        let found = |i: usize| -> Vec<u64> {
            let tensor = results[i].as_tensor().unwrap();
            let wide = tensor.bytes().len() / tensor.len();
            let mask = tensor.element().bits().filter(|bits| *bits < 64).map_or(u64::MAX, |bits| (1 << bits) - 1);
            let element = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)) & mask;
            tensor.bytes().chunks_exact(wide).map(element).collect()
        };
        assert_eq!(found(0), numbers(new), "{line}");
        assert_eq!(found(1), numbers(bits), "{line}");
    }
}
