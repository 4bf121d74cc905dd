//! Products whose operands are brought in boxes (TMA): as plans, by a schedule; what happens without a wait; their model.

use crate::assembler::assemble;
use crate::groups::{self, with_boxes};
use crate::harness::{Collected, OnPtx, Only, collect, on_ptx};
use crate::programs::program;
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::{Machine, choose};
use surject_codegen::kernels::run::{Executor, expressions, kernels};
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::{Plan, Pooled, Session, Simulated};
use surject_gpu::Gpu;
use surject_gpu::compile;
use surject_gpu::model::model;
use surject_gpu::program::compile as plan;
use surject_gpu::write::{module, write};
use surject_ir::testing::random_args;
use surject_ir::{Program, StatementKind, interp};
use surject_kernel::interpret::{Options, Order, Tensor, run};
use surject_kernel::{Kernel, parse, verify};

fn product(sizes: [usize; 3], lies: [&str; 2]) -> Program {
    groups::product("bf16", sizes, lies, "bf16")
}

fn kernels_of(program: &Program, machine: &dyn Machine) -> Vec<Kernel> {
    let function = program.function("main").unwrap();
    let StatementKind::Store { field, .. } = function.body.statements[0].kind else { panic!("no store") };
    let made = kernels(function, field, machine, "k", &Schedules::default()).unwrap().kernels;
    made.into_iter().map(|made| made.launch.kernel).collect()
}

/// A schedule asks for them on a GPU that is not known to give right results by them; the plan says which maps its launches
/// need, keeps them when it is stored, and runs.
#[test]
fn plans_carry_maps() {
    let program = product([128, 128, 320], ["i,k", "k,j"]);
    let schedules: Schedules = "kernel y_0\ncontract i0 i1 k0 tile 64 128 64 group tma\n".parse().unwrap();
    let gpu = Gpu::named("sm_90a").unwrap();
    let made = plan(&program, "main", &gpu, &schedules).unwrap_or_else(|e| panic!("{e}"));
    let maps = &made.kernels[0].shape.maps;
    assert_eq!(maps.len(), 2, "{maps:?}");
    assert!(maps.iter().all(|m| m.swizzled && m.sizes == [64, 64]), "{maps:?}");
    let text = serde_json::to_string(&made).unwrap();
    let stored: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(stored.kernels, made.kernels);
    made.check().unwrap();
    for damage in [
        |m: &mut surject_cuda::TensorMap| m.extents[1] *= 2,
        |m: &mut surject_cuda::TensorMap| m.strides[1] += 2,
        |m: &mut surject_cuda::TensorMap| m.tensor = 9,
        |m: &mut surject_cuda::TensorMap| m.sizes.clear(),
        |m: &mut surject_cuda::TensorMap| m.sizes[0] = 0,
    ] {
        let mut damaged = made.clone();
        damage(&mut damaged.kernels[0].shape.maps[0]);
        let error = damaged.check().expect_err("a map that does not fit").to_string();
        assert!(error.contains("map"), "{error}");
    }
    let args = random_args(program.function("main").unwrap(), 5);
    let expected = interp::run(&program, "main", &args).unwrap();
    let mut session = Session::new(Pooled::new(Simulated::new(64 << 20)), made).unwrap();
    // The second time, launches are replayed.
    for _ in 0..2 {
        let found = session.run(&args).unwrap_or_else(|e| panic!("{e}"));
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
        assert!(report.passed(), "{report}");
    }
}

/// Ten turns in four stages: without a wait, a tile is read before it is there, or overwritten while it is read.
#[test]
fn kernels_without_a_wait_are_found() {
    let program = product([64, 64, 640], ["i,k", "j,k"]);
    let kernel = kernels_of(&program, &with_boxes()).remove(0);
    let text = kernel.to_string();
    let waits: Vec<&str> =
        text.lines().filter(|l| l.contains("phase_wait") || l.contains("phase_arrive")).collect();
    assert_eq!(waits.len(), 3, "{text}");
    let args = random_args(program.function("main").unwrap(), 1);
    let runs = |text: &str, order: Order| {
        let kernel = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}")).remove(0);
        verify(&kernel).unwrap_or_else(|e| panic!("{e}"));
        let mut tensors: Vec<Tensor> = args.iter().map(Tensor::of_buffer).collect();
        tensors.push(Tensor::unwritten(surject_ir::DType::BF16, 64 * 64));
        run(&kernel, &[], &mut tensors, &Options { order, ..Options::default() }).map(|_| ())
    };
    for order in [Order::Forward, Order::Backward, Order::Shuffled(3)] {
        runs(&text, order).unwrap_or_else(|e| panic!("{e}"));
        for wait in &waits {
            let without = text.replacen(&format!("{wait}\n"), "", 1);
            let fault = runs(&without, order).expect_err(wait);
            eprintln!("{order:?} without {}: {fault}", wait.trim());
        }
    }
}

/// Of random sizes, in all ways in which factors lie: what kernels give is what the interpreter gives, in two orders of agents.
#[test]
fn random_products_of_boxes_give_what_the_interpreter_gives() {
    let machine = with_boxes();
    let mut state = 11u64;
    let mut random = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut made = 0;
    for _ in 0..40 {
        let size = |random: &mut dyn FnMut(u64) -> u64, most| 8 * (1 + random(most)) as usize;
        let sizes = [size(&mut random, 20), size(&mut random, 20), size(&mut random, 24)];
        let lies = [["i,k", "k,i"][random(2) as usize], ["j,k", "k,j"][random(2) as usize]];
        let program = product(sizes, lies);
        let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
        if choose(&machine, &expression).is_err() {
            continue;
        }
        let args = random_args(program.function("main").unwrap(), random(1000));
        let expected = interp::run(&program, "main", &args).unwrap();
        for kernel in kernels_of(&program, &machine) {
            assert!(kernel.to_string().contains("box_copy"), "{kernel}");
            for order in [Order::Backward, Order::Shuffled(random(100))] {
                let mut tensors: Vec<Tensor> = args.iter().map(Tensor::of_buffer).collect();
                tensors.push(Tensor::unwritten(surject_ir::DType::BF16, sizes[0] * sizes[1]));
                run(&kernel, &[], &mut tensors, &Options { order, ..Options::default() })
                    .unwrap_or_else(|e| panic!("{e}\n{kernel}"));
                let found = tensors[2].to_buffer(&[sizes[0], sizes[1]]).expect("all is written");
                let report = surject_runtime::compare::compare(&found, &expected[0], 1e-4, 2e-2);
                assert!(report.passed(), "{report}\n{}", surject_ir::print(&program));
            }
        }
        made += 1;
    }
    assert!(made >= 20, "{made}");
}

/// A ring of two stages without products of matrices: boxes of three dimensions, beyond all ends of their tensor, which threads
/// of two warps read.
const RING: &str = "kernel ring(x: read f32[960], y: write f32[2048]) {
  %0 = splat 1.0 : f32
  %1 = splat 1 : i64
  %2 = splat 2 : i64
  for %3 = 0 to 2 parallel(block) {
    alloc tile: shared f32[256]
    alloc full: shared i64[2]
    alloc empty: shared i64[2]
    phase_init full[0], 1
    phase_init full[1], 1
    phase_init empty[0], 2
    phase_init empty[1], 2
    for %4 = 0 to 3 parallel(warp) {
      %5 = holds 0 <= %4 < 2 : i1
      if %5 {
        for %6 = 0 to 8 {
          %7 = index %6 : i64
          %8 = rem %7, %2 : i64
          %9 = div %7, %2 : i64
          phase_wait full[%8], %9
          for %10 = 0 to 32 parallel(thread) {
            %11 = load tile[128*%8 + 64*%4 + %10] : f32
            %12 = load tile[128*%8 + 64*%4 + %10 + 32] : f32
            %13 = add %11, %0 : f32
            store %13, y[1024*%3 + 128*%6 + 64*%4 + %10]
            store %12, y[1024*%3 + 128*%6 + 64*%4 + %10 + 32]
          }
          phase_arrive empty[%8]
        }
      } else {
        for %14 = 0 to 8 {
          %15 = index %14 : i64
          %16 = rem %15, %2 : i64
          %17 = div %15, %2 : i64
          %18 = xor %17, %1 : i64
          phase_wait empty[%16], %18
          phase_expect full[%16], 512
          box_copy x[4*%14 - 6, 3*%3 - 1, %14 - 2] of [17, 5 by 20, 9 by 100] box [8, 4, 4], tile[128*%16] by 8, full[%16]
        }
      }
    }
  }
}";

#[test]
fn boxes_without_products_are_what_the_interpreter_gives() {
    let kernel = parse(RING).unwrap_or_else(|e| panic!("{e}")).remove(0);
    verify(&kernel).unwrap_or_else(|e| panic!("{e}"));
    let x: Vec<surject_ir::Scalar> =
        (0..960).map(|i| surject_ir::Scalar::from_f64(surject_ir::DType::F32, f64::from(i))).collect();
    let fresh = || [Tensor::of(&x), Tensor::unwritten(surject_ir::DType::F32, 2048)];
    let mut expected = fresh();
    run(&kernel, &[], &mut expected, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    for order in [Order::Backward, Order::Shuffled(5)] {
        let mut found = fresh();
        run(&kernel, &[], &mut found, &Options { order, ..Options::default() })
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, expected);
    }
    let mut collected = Collected::default();
    collected.add(&kernel).unwrap();
    let text = collected.ptx("sm_90a");
    let module = surject_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let sizes = Vec::new();
    let mut executor = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes };
    let mut found = fresh();
    executor.execute(&kernel, &mut found).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found[1], expected[1]);
    for kernel in assemble(&text, "sm_90a").unwrap_or_default() {
        assert_eq!(kernel.spilled, 0, "{kernel:?}");
    }
}

/// Three groups of four warps, to which another one gives registers: in PTX, with last tiles that are cut off.
#[test]
fn warps_give_registers_away() {
    let gpu = Gpu::named("sm_90a").unwrap();
    let schedules: Schedules = "kernel y_0\ncontract i0 i1 k0 tile 192 256 64 group tma\n".parse().unwrap();
    for lies in [["i,k", "k,j"], ["i,k", "j,k"]] {
        let program = product([200, 264, 72], lies);
        let made = plan(&program, "main", &gpu, &schedules).unwrap_or_else(|e| panic!("{e}"));
        for word in
            ["setmaxnreg.inc.sync.aligned.u32 \t160", "setmaxnreg.dec.sync.aligned.u32 \t24", "m64n128k16"]
        {
            assert!(made.ptx.contains(word), "{word}\n{}", made.ptx);
        }
        let args = random_args(program.function("main").unwrap(), 5);
        let expected = interp::run(&program, "main", &args).unwrap();
        let mut session = Session::new(Pooled::new(Simulated::new(64 << 20)), made).unwrap();
        let found = session.run(&args).unwrap_or_else(|e| panic!("{e}"));
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-4, 2e-2);
        assert!(report.passed(), "{report}");
    }
    let many: Schedules = "kernel y_0\ncontract i0 i1 k0 tile 256 256 64 group tma\n".parse().unwrap();
    let refused = plan(&product([256, 256, 64], ["i,k", "j,k"]), "main", &gpu, &many).err().unwrap();
    assert!(refused.to_string().contains("more than a block has registers for"), "{refused}");
}

/// The same in PTX.
#[test]
fn ptx_without_a_wait_is_found() {
    let (machine, program) = (with_boxes(), product([64, 64, 640], ["i,k", "j,k"]));
    let args = random_args(program.function("main").unwrap(), 1);
    let mut collected = Collected::default();
    collect(&program, &args, &machine, &mut collected).expect("it is supported");
    let text = collected.ptx("sm_90a");
    let waits: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("mbarrier.try_wait") || l.contains("mbarrier.arrive.shared"))
        .collect();
    assert!(waits.len() >= 3, "{text}");
    let runs = |text: &str| {
        let module = surject_ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let sizes = Vec::new();
        let mut executor = OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            on_ptx(&program, &args, &machine, &mut executor)
        }))
    };
    assert!(runs(&text).is_ok());
    for wait in waits {
        let instead = if wait.contains("try_wait") { "setp.eq.s32 P1, 0, 0;" } else { "" };
        assert!(runs(&text.replacen(wait, instead, 1)).is_err(), "{wait}");
    }
}

/// The largest tiles, in all ways in which factors lie: no spills.
#[test]
fn the_assembler_takes_the_largest_tiles() {
    let (mut written, mut names) = (Vec::new(), 0);
    for (m, n) in [(128, 256), (256, 128), (192, 256)] {
        for left in ["i,k", "k,i"] {
            for right in ["k,j", "j,k"] {
                if m == 192 && left == "k,i" {
                    // Their lines are a power of two.
                    continue;
                }
                let schedule = format!("kernel y_0\ncontract i0 i1 k0 tile {m} {n} 64 group tma\n");
                let program = product([2048, 2048, 2048], [left, right]);
                let function = program.function("main").unwrap();
                let StatementKind::Store { field, .. } = function.body.statements[0].kind else {
                    panic!("no store")
                };
                let gpu = Gpu::named("sm_90a").unwrap();
                let made = kernels(function, field, &gpu, "y", &schedule.parse().unwrap()).unwrap();
                for made in made.kernels {
                    let named = Kernel { name: format!("k{names}"), ..made.launch.kernel };
                    names += 1;
                    written.push(write(&legal(&named).unwrap()).unwrap());
                }
            }
        }
    }
    let ptx = compile::ptx(&module(&written), "sm_90a").unwrap_or_else(|error| panic!("{error}"));
    assert!(ptx.contains("m64n256k16") && ptx.contains("cp.async.bulk.tensor.2d"));
    for kernel in assemble(&ptx, "sm_90a").unwrap_or_default() {
        eprintln!("{kernel:?}");
        assert!(kernel.spilled == 0 && kernel.registers <= 224, "{kernel:?}");
    }
}

/// What is chosen for large products, and what it takes by the model.
#[test]
fn large_products_take_this_by_the_model() {
    let machine = with_boxes().0;
    let mut said = String::new();
    for n in [1024, 2048, 4096, 8192] {
        let program = product([n, n, n], ["i,k", "k,j"]);
        for (_, expression) in expressions(program.function("main").unwrap()).unwrap() {
            let choice = choose(&machine, &expression).unwrap();
            let found = model(&machine, &expression, &choice.proposal.schedule);
            said += &format!("{n}: {}: {found}\n{}", choice.strategy, choice.proposal.schedule);
        }
    }
    insta::assert_snapshot!(said);
}

/// A GPU that gives right results by them chooses them for large products; until one has, only what lost names them.
#[test]
fn they_are_chosen_where_a_device_has_confirmed_them() {
    let program = product([4096, 4096, 4096], ["i,k", "k,j"]);
    let (_, expression) = expressions(program.function("main").unwrap()).unwrap().remove(0);
    let chosen = |gpu: &Gpu| choose(gpu, &expression).unwrap();
    let confirmed = chosen(&with_boxes().0);
    assert_eq!(confirmed.strategy, "warpgroups");
    assert!(confirmed.proposal.schedule.to_string().contains("group tma"));
    let gpu = Gpu::named("sm_90a").unwrap();
    assert_eq!(chosen(&gpu).strategy, "matrix units");
    let why = Only(gpu, "warpgroups").strategies().remove(0).propose(&expression).err().unwrap();
    assert!(why.contains("no GPU has confirmed") && why.contains("group tma"), "{why}");
    let only_groups = Gpu { boxes_confirmed: false, ..with_boxes().0 };
    assert!(!chosen(&only_groups).proposal.schedule.to_string().contains("tma"));
}

/// What no map describes is refused with a reason.
#[test]
fn what_no_map_describes_is_refused() {
    let gpu = Gpu::named("sm_90a").unwrap();
    let schedules: Schedules = "kernel y_0\ncontract i0 i1 k0 tile 64 64 64 group tma\n".parse().unwrap();
    let why = |params: &str, assignment: &str| {
        plan(&program(params, assignment), "main", &gpu, &schedules)
            .err()
            .map_or(String::new(), |e| e.to_string())
    };
    let sum = |term: &str| format!("y : bf16[64,64] =:+ over i<64, j<64, k<64 at [i,j]: {term}");
    let fits = why("a: bf16[64,64], b: bf16[64,64]", &sum("a[i,k] * b[k,j]"));
    assert_eq!(fits, "");
    let odd = why("a: bf16[64,68], b: bf16[64,64]", &sum("a[i,k] * b[k,j]"));
    assert!(odd.contains("68 elements of bf16 is no multiple of 16 bytes"), "{odd}");
    let later = why("a: bf16[64,128], b: bf16[64,64]", &sum("a[i,k + 64] * b[k,j]"));
    assert!(later.contains("from a later element on"), "{later}");
    let computed = why("a: bf16[64,64], b: bf16[64,64]", &sum("max(a[i,k], 0.0bf16) * b[k,j]"));
    assert!(computed.contains("not of what is computed"), "{computed}");
}
