//! Plans on several streams of a simulated device, whose commands are done in adversarial orders: the bits are those of one
//! stream, and an event that is left out is noticed.

use surject_cuda::{
    Counts, DeviceError, HostStep, Kernel, Place, Plan, Pooled, RunError, STREAMS, Session, Shape, Simulated,
    Step, Tensor, TensorId, Use, memory,
};
use surject_ir::{Buffer, DType, parse};

const MEMORY: u64 = 1 << 20;
const ELEMENTS: usize = 8;

/// Kernels of one block of eight threads: `o = 31 a + b`, `a = 5 a + b`, `o = a[0] % 3 != 0`, `o = a[0] & 1`.
fn ptx() -> String {
    let kernel = |name: &str, params: usize, body: &str| {
        let all: Vec<String> = (0..params).map(|i| format!(".param .u64 p{i}")).collect();
        let loads: String = (0..params)
            .map(|i| format!("  ld.param.u64 %rd{i}, [p{i}];\n  add.s64 %rd{}, %rd{i}, %rd9;\n", i + 4))
            .collect();
        format!(
            ".visible .entry {name}({}) {{\n  .reg .pred %p<2>;\n  .reg .b16 %rs<2>;\n  .reg .b32 %r<9>;\n  \
             .reg .b64 %rd<10>;\n  mov.u32 %r0, %tid.x;\n  mul.wide.u32 %rd9, %r0, 4;\n{loads}{body}  ret;\n}}\n",
            all.join(", ")
        )
    };
    let mix = |factor: u32, to: usize| {
        format!(
            "  ld.global.b32 %r1, [%rd4];\n  ld.global.b32 %r2, [%rd5];\n  mul.lo.s32 %r3, %r1, {factor};\n  \
             add.s32 %r4, %r3, %r2;\n  st.global.b32 [%rd{to}], %r4;\n"
        )
    };
    let first = "  ld.global.b32 %r1, [%rd0];\n";
    [
        ".version 8.0\n.target sm_80\n.address_size 64\n".to_string(),
        kernel("mix", 3, &mix(31, 6)),
        kernel("change", 2, &mix(5, 4)),
        kernel(
            "truth",
            2,
            &format!(
                "{first}  rem.u32 %r2, %r1, 3;\n  setp.ne.s32 %p0, %r2, 0;\n  selp.b16 %rs0, 1, 0, %p0;\n  \
                 st.global.b8 [%rd1], %rs0;\n"
            ),
        ),
        kernel("index", 2, &format!("{first}  and.b32 %r2, %r1, 1;\n  st.global.b32 [%rd1], %r2;\n")),
    ]
    .concat()
}

/// Random plans.
struct Maker {
    state: u64,
    plan: Plan,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        let kernel = |name: &str, tensors: &[Use]| Kernel {
            name: name.into(),
            assignment: name.into(),
            shape: Shape { blocks: [1; 3], threads: ELEMENTS as u32, shared: 0, maps: Vec::new() },
            tensors: tensors.to_vec(),
            // Long enough that other streams are worth their events.
            us: Some(25.0),
        };
        // One thread is enough for one element.
        let single = |name: &str| Kernel {
            shape: Shape { blocks: [1; 3], threads: 1, shared: 0, maps: Vec::new() },
            ..kernel(name, &[Use::Read, Use::Written])
        };
        let sum = "program p\n\nfunc main(a: u32[8], b: u32[8]) -> (c) {\n  c : u32[8] =: over i<8: a[i] * b[7 - i] + a[i]\n}\n";
        let program = parse(sum).unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan {
            name: format!("p{seed}"),
            architecture: "sm_80".into(),
            tensors: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            kernels: vec![
                kernel("mix", &[Use::Read, Use::Read, Use::Written]),
                kernel("change", &[Use::Changed, Use::Read]),
                single("truth"),
                single("index"),
            ],
            calls: Vec::new(),
            host: vec![HostStep { operation: "sum".into(), reason: None, program }],
            init: Vec::new(),
            steps: Vec::new(),
            constants: Vec::new(),
            arena_bytes: 0,
            streams: STREAMS,
            ptx: ptx(),
        };
        Maker { state: seed.wrapping_mul(7919) + 1, plan }
    }

    fn below(&mut self, n: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % n.max(1)
    }

    fn tensor(&mut self, dtype: DType, shape: &[usize]) -> TensorId {
        let (number, shape) = (self.plan.tensors.len(), shape.to_vec());
        self.plan.tensors.push(Tensor { name: format!("t{number}"), dtype, shape, place: Place::Arena(0) });
        TensorId(number as u32)
    }

    fn fresh(&mut self) -> TensorId {
        self.tensor(DType::U32, &[ELEMENTS])
    }

    fn pick(&mut self, known: &[TensorId]) -> TensorId {
        known[self.below(known.len())]
    }

    /// Steps that add to what is known; what is changed is a tensor of the arena.
    fn list(&mut self, known: &mut Vec<TensorId>, depth: usize, length: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..length {
            let choices = if depth < 2 { 13 } else { 8 };
            let (a, b) = (self.pick(known), self.pick(known));
            match self.below(choices) {
                0..=4 => {
                    let to = self.fresh();
                    steps.push(Step::Launch { kernel: 0, tensors: vec![a, b, to] });
                    known.push(to);
                }
                5 => {
                    let to = self.fresh();
                    steps.push(Step::Copy { from: a, to });
                    known.push(to);
                }
                6 | 7 => {
                    let own: Vec<TensorId> = known
                        .iter()
                        .copied()
                        .filter(|id| matches!(self.plan.tensor(*id).place, Place::Arena(_)) && *id != b)
                        .collect();
                    if !own.is_empty() {
                        let to = self.pick(&own);
                        steps.push(Step::Launch { kernel: 1, tensors: vec![to, b] });
                    }
                }
                8 => {
                    let to = self.fresh();
                    steps.push(Step::Host { program: 0, inputs: vec![a, b], outputs: vec![to] });
                    known.push(to);
                }
                9 => {
                    let index = self.tensor(DType::I32, &[]);
                    let to = self.fresh();
                    steps.push(Step::Launch { kernel: 3, tensors: vec![a, index] });
                    let branches = (0..2)
                        .map(|_| {
                            let mut inner = known.clone();
                            let mut steps = self.list(&mut inner, depth + 1, 3);
                            steps.push(Step::Copy { from: *inner.last().unwrap(), to });
                            steps
                        })
                        .collect();
                    steps.push(Step::Choose { index, branches });
                    known.push(to);
                }
                n => {
                    // What it carries is made before it; a round ends with a change of that.
                    let carried = self.fresh();
                    steps.push(Step::Copy { from: a, to: carried });
                    known.push(carried);
                    let mut inner = known.clone();
                    let mut body = self.list(&mut inner, depth + 1, 4);
                    let last = inner.iter().rev().copied().find(|id| *id != carried).unwrap();
                    body.push(Step::Launch { kernel: 1, tensors: vec![carried, last] });
                    if n < 12 {
                        let count = if n == 10 { 2 } else { 1 + self.below(3) as u64 };
                        steps.push(Step::Repeat { count, body });
                    } else {
                        let test = self.tensor(DType::I1, &[]);
                        let condition = vec![Step::Launch { kernel: 2, tensors: vec![carried, test] }];
                        steps.push(Step::While { condition, test, body });
                    }
                }
            }
        }
        steps
    }

    /// A plan of so many steps outside of loops.
    fn plan(mut self, length: usize, depth: usize) -> Plan {
        let mut known: Vec<TensorId> = (0..3).map(|_| self.fresh()).collect();
        for (i, &param) in known.iter().enumerate() {
            self.plan.tensors[param.0 as usize].place = Place::Argument(i as u32);
        }
        self.plan.params = known.clone();
        let steps = self.list(&mut known, depth, length);
        self.plan.steps = steps;
        self.plan.results = (0..4).map(|_| self.pick(&known)).collect();
        memory::place(&mut self.plan).unwrap_or_else(|error| panic!("{error}"));
        self.plan.check().unwrap_or_else(|error| panic!("{error}"));
        self.plan
    }
}

fn args(round: u32) -> Vec<Buffer> {
    let value =
        |i: u32| (0..ELEMENTS as u32).flat_map(move |j| (i * 77 + j * 13 + round * 5 + 1).to_le_bytes());
    (0..3)
        .map(|i| Buffer::from_bytes(DType::U32, &[ELEMENTS], &value(i).collect::<Vec<u8>>()).unwrap())
        .collect()
}

/// Three runs, on arguments that differ; loops that do not end are none.
fn runs(device: &mut Simulated, plan: &Plan) -> Result<(Vec<Vec<Buffer>>, Counts), RunError> {
    let mut session = Session::new(device, plan.clone())?;
    let all = (0..3).map(|round| session.run(&args(round))).collect::<Result<_, RunError>>()?;
    // What is late is done, and noticed, now.
    session.wait()?;
    Ok((all, session.counts()))
}

fn on_one_stream(plan: &Plan) -> Plan {
    let mut one = Plan { streams: 1, ..plan.clone() };
    memory::place(&mut one).unwrap();
    one
}

/// Does every loop that data end come to an end soon? The bits say so, so they are tried on one stream.
fn expected(plan: &Plan) -> Option<Vec<Vec<Buffer>>> {
    let mut device = Simulated::new(MEMORY);
    device.fail(surject_cuda::Operation::Launch, 2000, DeviceError::Launch("too many".into()));
    runs(&mut device, &on_one_stream(plan)).ok().map(|(all, _)| all)
}

#[test]
fn several_streams_give_the_bits_of_one() {
    let (mut tried, mut several, mut replays, mut shared) = (0, 0, 0, 0);
    for seed in 0..150 {
        let mut plan = Maker::new(seed).plan(12, 0);
        let Some(expected) = expected(&plan) else { continue };
        tried += 1;
        if seed % 3 == 0 {
            // As much memory is shared as on one stream.
            plan = Plan { streams: STREAMS, ..on_one_stream(&plan) };
            shared += usize::from(plan.to_string().contains("takes the memory of"));
        } else {
            assert!(!plan.to_string().contains("takes the memory of"), "{plan}");
        }
        several += usize::from(plan.to_string().contains("steps:  // on "));
        let devices = (0..6).map(|seed| Simulated::shuffled(MEMORY, seed)).chain([Simulated::new(MEMORY)]);
        for (n, mut device) in devices.enumerate() {
            let (found, counts) =
                runs(&mut device, &plan).unwrap_or_else(|error| panic!("{seed}, {n}: {error}\n{plan}"));
            assert_eq!(found, expected, "{seed}, {n}\n{plan}");
            replays += counts.replays;
            assert_eq!((device.held(), device.events(), device.left), ([0; 3], 0, MEMORY));
        }
    }
    assert!(
        tried > 100 && several > 90 && replays > 500 && shared > 15,
        "{tried} {several} {replays} {shared}"
    );
}

#[test]
fn a_wait_that_is_left_out_is_noticed() {
    let (mut waits, mut noticed) = (0, 0);
    for seed in 0..12 {
        let plan = Maker::new(seed).plan(10, 1);
        let Some(expected) = expected(&plan) else { continue };
        let mut whole = Simulated::new(MEMORY);
        runs(&mut whole, &plan).unwrap();
        for number in 0..whole.waits {
            for mut device in [Simulated::new(MEMORY), Simulated::shuffled(MEMORY, number as u64)] {
                device.without_wait = Some(number);
                waits += 1;
                match runs(&mut device, &plan) {
                    Err(_) => noticed += 1,
                    // What others order too: the host has waited for the runs before.
                    Ok((found, _)) => assert_eq!(found, expected, "{seed}, {number}\n{plan}"),
                }
            }
        }
    }
    assert!(waits > 500 && noticed * 5 > waits * 2, "{noticed} of {waits}");
}

/// Two chains that meet in the last step, of three arguments.
fn chains() -> Plan {
    let mut maker = Maker::new(0);
    let ids: Vec<TensorId> = (0..8).map(|_| maker.fresh()).collect();
    for (i, &param) in ids[..3].iter().enumerate() {
        maker.plan.tensors[param.0 as usize].place = Place::Argument(i as u32);
    }
    let mix =
        |a: usize, b: usize, to: usize| Step::Launch { kernel: 0, tensors: vec![ids[a], ids[b], ids[to]] };
    let mut plan = maker.plan;
    plan.params = ids[..3].to_vec();
    plan.steps = vec![mix(0, 0, 3), mix(3, 0, 4), mix(1, 1, 5), mix(5, 2, 6), mix(4, 6, 7)];
    plan.results = vec![ids[7]];
    memory::place(&mut plan).unwrap();
    plan
}

/// Each chain has a stream, and the one that meets the other waits for its last kernel, no other.
#[test]
fn a_plan_says_what_waits_for_what_and_why() {
    let plan = chains();
    insta::assert_snapshot!(plan.to_string());
    let one = on_one_stream(&plan);
    assert!(one.arena_bytes < plan.arena_bytes, "chains that share no memory wait for nothing");
    assert!(!one.to_string().contains("stream"));
    // In memory of the first chain the second one has to come behind it.
    let shared = Plan { streams: STREAMS, ..one };
    assert!(!shared.to_string().contains("stream"), "{shared}");
}

/// The modelled time is that of the longest way through the steps: two kernels and the last one, and twice the time of an
/// event: the second chain begins after one, and the stream of the list waits for one at the end. Kernels that fill a device take it one after the other.
#[test]
fn the_modelled_time_is_that_of_the_critical_path() {
    let mut plan = chains();
    plan.kernels.iter_mut().for_each(|kernel| kernel.us = None);
    assert!(!plan.to_string().contains("modelled"), "it has no model of them");
    plan.kernels.iter_mut().for_each(|kernel| kernel.us = Some(10.0));
    assert!(plan.to_string().contains("modelled: 34.00 us; 50.00 us on one stream\n"), "{plan}");
    plan.kernels.iter_mut().for_each(|kernel| kernel.shape.blocks = [1000, 1, 1]);
    assert!(plan.to_string().contains("modelled: 50.00 us\n"), "{plan}");
}

/// In the first run of two chains everything that is waited for is needed, but the begin of the steps, before which there
/// is nothing, and what is behind the last step.
#[test]
fn each_wait_of_a_run_is_needed() {
    let run = |without: Option<usize>| {
        let mut device = Simulated::new(MEMORY);
        device.without_wait = without;
        let mut session = Session::new(&mut device, chains()).unwrap();
        let done = session.run(&args(0)).map(drop);
        drop(session);
        (done, device.waits)
    };
    let (done, waits) = run(None);
    done.unwrap();
    let said: Vec<String> = (0..waits)
        .map(|number| match run(Some(number)).0 {
            Ok(()) => "nothing".into(),
            Err(error) => error.to_string(),
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

/// Memory that a session gives back while the device is busy is that of another one at once.
#[test]
fn memory_goes_from_session_to_session() {
    for seed in 0..20 {
        let plan = Maker::new(3).plan(12, 1);
        let mut device = Pooled::new(Simulated::shuffled(MEMORY, seed));
        let expected = expected(&plan).unwrap();
        for _ in 0..3 {
            // Nobody waits for these steps.
            let mut session = Session::new(&mut device, plan.clone()).unwrap();
            session.upload(&args(1)).unwrap();
            session.go().unwrap();
            drop(session);
            let mut session = Session::new(&mut device, plan.clone()).unwrap();
            assert_eq!(session.run(&args(0)).unwrap(), expected[0]);
            // Steps on arguments that change while they run are those of their own arguments.
            session.go().unwrap();
            session.upload(&args(2)).unwrap();
            session.go().unwrap();
            assert_eq!(session.results().unwrap(), expected[2]);
        }
    }
}
