//! What the interpreter of code finds.

use surject_code::interpret::{Fault, FaultKind, Options, Pointer, Process, RacingLoads};
use surject_code::{Builder, Elem, Function, Index, Item, Linkage, Module, Op, Symbol, Type, Value};

const I32: Type = Type::Lanes(Elem::I32, 1);

/// A function of one address.
fn function(name: &str, write: impl FnOnce(&mut Builder, Value)) -> Item {
    let (mut b, [pointer]) = Builder::new();
    write(&mut b, pointer);
    let parameters = vec![(pointer, Type::Pointer)];
    Item::function(
        Function { symbol: Symbol::Named(name.into()), parameters, body: b.finish() },
        Linkage::Public,
    )
}

/// The function of tasks, `body(task, worker, pointer)`, and the entry that runs so many of them.
fn parallel(tasks: i64, body: impl FnOnce(&mut Builder, [Value; 3])) -> Module {
    let (mut b, all) = Builder::new();
    body(&mut b, all);
    let parameters = all.into_iter().zip([Type::I64, Type::I64, Type::Pointer]).collect();
    let task = Function { symbol: Symbol::Named("task".into()), parameters, body: b.finish() };
    let entry = function("entry", |b, pointer| {
        let (f, tasks) = (b.op(Op::AddressOf(Symbol::Named("task".into()))), b.int(tasks));
        let operands = [(f, Type::Pointer), (tasks, Type::I64), (tasks, Type::I64), (pointer, Type::Pointer)];
        b.effect(Op::call(Symbol::Named("surject_parallel".into()), operands, None));
    });
    Module { items: vec![Item::function(task, Linkage::Internal), entry] }
}

/// What `entry` leaves in memory that starts as these numbers.
fn run(module: &Module, numbers: &[i32], seed: u64) -> Result<Vec<i32>, Fault> {
    let mut process = Process::new([module], Options { seed, racing_loads: RacingLoads::Fault });
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let at: Pointer = process.allocate_with("the numbers", &bytes);
    process.call("entry", &[at])?;
    let found = process.bytes(at, bytes.len()).expect("it is so large");
    Ok(found.chunks(4).map(|c| i32::from_le_bytes(c.try_into().expect("four bytes"))).collect())
}

fn element(b: &mut Builder, pointer: Value, at: Value) -> Value {
    b.op(Op::Element { pointer, index: Index::At(at), of: I32 })
}

#[test]
fn loops_carry_values() {
    let module = Module {
        items: vec![function("entry", |b, pointer| {
            let (zero, four, one) = (b.int(0), b.int(4), b.int(1));
            let start = b.splat(Elem::I32, 0, 1);
            let (variable, sum) = (b.fresh(), b.fresh());
            b.open();
            let at = element(b, pointer, variable);
            let term = b.op(Op::load(at, I32));
            let next = b.op(Op::same("arith.addi", [sum, term], I32));
            let body = b.close(vec![(next, I32)]);
            let carried = vec![surject_code::Carry { name: sum, init: start, ty: I32 }];
            let all = b.op(Op::For { variable, bounds: [zero, four, one], carried, body });
            b.effect(Op::store(all, pointer, I32));
        })],
    };
    assert_eq!(run(&module, &[1, 2, 3, -10], 0).expect("it runs"), [-4, 2, 3, -10]);
}

#[test]
fn accesses_out_of_bounds_name_the_memory() {
    let module = Module {
        items: vec![function("entry", |b, pointer| {
            let three = b.int(3);
            let at = element(b, pointer, three);
            b.op(Op::aligned_load(at, Elem::I32.ty(2), 4));
        })],
    };
    let fault = run(&module, &[0; 4], 0).expect_err("five elements are read");
    let text = fault.to_string();
    assert_eq!(
        text,
        "8 bytes at byte 12 of the numbers (16 bytes), which is out of bounds\n  in `entry`: \
         %3 = llvm.load %2 {alignment = 4 : i64} : !llvm.ptr -> vector<2xi32>"
    );
}

#[test]
fn addresses_are_aligned_as_the_code_says() {
    let module = Module {
        items: vec![function("entry", |b, pointer| {
            let one = b.int(1);
            let at = element(b, pointer, one);
            b.op(Op::load(at, Elem::I32.ty(2)));
        })],
    };
    let fault = run(&module, &[0; 4], 0).expect_err("it is a multiple of 4");
    assert!(matches!(fault.kind, FaultKind::Misaligned { alignment: 8, .. }), "{fault}");
}

#[test]
fn tasks_that_touch_one_element_race() {
    let own = parallel(8, |b, [task, _, pointer]| {
        let at = element(b, pointer, task);
        let old = b.op(Op::load(at, I32));
        let new = b.op(Op::same("arith.addi", [old, old], I32));
        b.effect(Op::store(new, at, I32));
    });
    let neighbours = parallel(7, |b, [task, _, pointer]| {
        let one = b.int(1);
        let next = b.op(Op::same("arith.addi", [task, one], Type::I64));
        let (at, next) = (element(b, pointer, task), element(b, pointer, next));
        let value = b.op(Op::load(next, I32));
        b.effect(Op::store(value, at, I32));
    });
    let by_worker = parallel(8, |b, [_, worker, pointer]| {
        let at = element(b, pointer, worker);
        let old = b.op(Op::load(at, I32));
        b.effect(Op::store(old, at, I32));
    });
    for seed in 0..20 {
        assert_eq!(run(&own, &[1; 8], seed).expect("each has its own"), [2; 8]);
        let fault = run(&neighbours, &[1; 8], seed).expect_err("a task reads what another writes");
        assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
        assert!(fault.to_string().contains("of the numbers"), "{fault}");
        run(&by_worker, &[1; 8], seed).expect("tasks of a worker run in order");
    }
}

/// A vector may have lanes that other tasks write, as long as nobody looks at them.
#[test]
fn racing_loads_give_random_bits() {
    let module = |lane: usize| {
        parallel(8, move |b, [task, _, pointer]| {
            let (at, two) = (element(b, pointer, task), Elem::I32.ty(2));
            let vector = b.op(Op::aligned_load(at, two, 4));
            let value = b.op(Op::Extract { vector, lane, ty: two });
            b.effect(Op::store(value, at, I32));
        })
    };
    let (own, neighbour) = (module(0), module(1));
    let differs = (0..20).filter(|&seed| {
        let options = Options { seed, racing_loads: RacingLoads::Random };
        let run = |module: &Module| {
            let mut process = Process::new([module], options);
            let at = process.allocate_with("the numbers", &[7; 36]);
            process.call("entry", &[at]).expect("no two tasks write the same");
            process.bytes(at, 36).expect("it is so large").to_vec()
        };
        assert_eq!(run(&own), [7; 36]);
        run(&neighbour) != [7; 36]
    });
    assert!(differs.count() > 15);
}

#[test]
fn what_the_interpreter_does_not_know_is_a_limit() {
    let module = Module {
        items: vec![function("entry", |b, _| {
            b.effect(Op::intrinsic("llvm.x86.rdpmc", [], None));
        })],
    };
    let fault = run(&module, &[], 0).expect_err("no counters");
    assert!(fault.is_limit() && fault.to_string().contains("`llvm.x86.rdpmc`"), "{fault}");
}

#[test]
fn divisions_by_zero_are_refused() {
    let module = Module {
        items: vec![function("entry", |b, pointer| {
            let value = b.op(Op::load(pointer, I32));
            let one = b.splat(Elem::I32, 1, 1);
            let quotient = b.op(Op::same("arith.divsi", [one, value], I32));
            b.effect(Op::store(quotient, pointer, I32));
        })],
    };
    assert_eq!(run(&module, &[-1], 0).expect("it is -1"), [-1]);
    assert_eq!(run(&module, &[0], 0).expect_err("no number").kind, FaultKind::Division);
}
