//! Archives, the runner and its C interface, on a device that interprets PTX.

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use surject_cuda::{Kernel, Place, Plan, Shape, Step, Tensor, TensorId, Use};
use surject_run::{Archive, Buffer, DType, DeviceName, Loaded, c};

/// `y[i] = x[i] + x[i] + c[i]` of two elements.
const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 p, .param .u64 q, .param .u64 o) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [q];
  ld.param.u64 %rd3, [o];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.b32 %r2, [%rd5];
  ld.global.b32 %r3, [%rd6];
  add.s32 %r2, %r2, %r2;
  add.s32 %r2, %r2, %r3;
  st.global.b32 [%rd7], %r2;
  ret;
}";

fn integers(values: [i32; 2]) -> Buffer {
    Buffer::from_bytes(DType::I32, &[2], &values.map(i32::to_le_bytes).concat()).expect("two elements")
}

fn plan() -> Plan {
    let tensor = |name: &str, place| Tensor { name: name.into(), dtype: DType::I32, shape: vec![2], place };
    let ids: Vec<TensorId> = (0..3).map(TensorId).collect();
    Plan {
        name: "p".into(),
        architecture: "sm_80".into(),
        tensors: vec![
            tensor("x", Place::Argument(0)),
            tensor("c", Place::Constant(0)),
            tensor("y", Place::Arena(0)),
        ],
        params: vec![ids[0]],
        results: vec![ids[2]],
        kernels: vec![Kernel {
            name: "twice".into(),
            assignment: "y".into(),
            shape: Shape { blocks: [1; 3], threads: 2, shared: 0, maps: Vec::new() },
            tensors: vec![Use::Read, Use::Read, Use::Written],
            us: None,
        }],
        calls: Vec::new(),
        host: Vec::new(),
        init: vec![],
        steps: vec![Step::Launch { kernel: 0, tensors: ids }],
        constants: vec![integers([10, 20])],
        arena_bytes: 256,
        streams: 1,
        ptx: PTX.into(),
    }
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("surject-run-{}-{name}.sjx", std::process::id()))
}

#[test]
fn an_archive_holds_the_whole_plan() {
    let path = file("whole");
    Archive::Cuda(Box::new(plan())).write(&path).unwrap();
    let Archive::Cuda(found) = Archive::read(&path).unwrap() else { panic!("it is for a GPU") };
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found.to_string(), plan().to_string());
    assert_eq!((&found.ptx, &found.constants), (&plan().ptx, &plan().constants));
    let mut loaded = Loaded::new(Archive::Cuda(found), DeviceName::Simulated).unwrap();
    assert_eq!(loaded.run(&[integers([1, 2])]).unwrap(), [integers([12, 24])]);
    let error = loaded.run(&[]).expect_err("an argument is missing");
    assert_eq!(error.to_string(), "there are 0 arguments where 1 are needed");
    let error = loaded.run(&[Buffer::zeros(DType::F32, &[2])]).expect_err("it has another type");
    assert_eq!(error.to_string(), "argument 0 is f32[2] where i32[2] is needed");
}

/// Code runs as it is, so no bit of a file may change unnoticed.
#[test]
fn damaged_archives_are_refused() {
    let (whole, path) = (Archive::Cuda(Box::new(plan())).to_bytes().expect("it is stored"), file("damaged"));
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).expect("it is written");
        assert!(Archive::read(&path).is_err(), "byte {at} of {}", whole.len());
    }
    std::fs::remove_file(&path).expect("it goes");
}

#[test]
fn plans_that_lie_are_refused() {
    let lies: [fn(&mut Plan); 6] = [
        |p| p.arena_bytes = 4,
        |p| p.constants.clear(),
        |p| p.tensors[2].shape = vec![usize::MAX, 2],
        |p| p.params.push(TensorId(9)),
        |p| p.steps.push(Step::Launch { kernel: 3, tensors: vec![] }),
        |p| p.kernels[0].shape.threads = 4096,
    ];
    for lie in lies {
        let mut plan = plan();
        lie(&mut plan);
        assert!(Archive::Cuda(Box::new(plan)).to_bytes().is_err());
    }
}

#[test]
fn other_languages_run_programs() {
    let path = file("c");
    Archive::Cuda(Box::new(plan())).write(&path).unwrap();
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let device = CString::new("simulated").unwrap();
    // SAFETY: the pointers are as `surject.h` says.
    unsafe {
        let nothing = c::surject_load(c"/nowhere.sjx".as_ptr(), device.as_ptr());
        assert!(nothing.is_null());
        assert!(CStr::from_ptr(c::surject_last_error()).to_str().unwrap().contains("/nowhere.sjx"));
        let program = c::surject_load(name.as_ptr(), device.as_ptr());
        assert!(!program.is_null());
        assert_eq!((c::surject_count(program, 0), c::surject_count(program, 1)), (1, 1));
        let (mut dtype, mut rank, mut sizes) = (std::ptr::null(), 0, std::ptr::null());
        assert_eq!(c::surject_type(program, 1, 0, &mut dtype, &mut rank, &mut sizes), 0);
        assert_eq!(CStr::from_ptr(dtype).to_str(), Ok("i32"));
        assert_eq!(std::slice::from_raw_parts(sizes, rank), [2]);
        assert_eq!(c::surject_type(program, 1, 7, &mut dtype, &mut rank, &mut sizes), -1);
        let (x, mut y) = ([3i32, 4], [0i32; 2]);
        let args = [x.as_ptr().cast::<c_void>()];
        let results = [y.as_mut_ptr().cast::<c_void>()];
        assert_eq!(c::surject_run(program, args.as_ptr(), results.as_ptr()), 0);
        assert_eq!(y, [16, 28]);
        c::surject_free(program);
        c::surject_free(std::ptr::null_mut());
    }
    std::fs::remove_file(&path).unwrap();
}

/// Two branches that meet: `y = 2 x + c`, `b = 2 y + c` beside `a = 2 x + x`, and `z = 2 b + a`.
fn branches() -> Plan {
    let mut plan = plan();
    let ids: Vec<TensorId> = (0..6).map(TensorId).collect();
    for (name, at) in [("a", 256), ("b", 512), ("z", 768)] {
        plan.tensors.push(Tensor { name: name.into(), place: Place::Arena(at), ..plan.tensors[2].clone() });
    }
    let launch =
        |x: usize, c: usize, y: usize| Step::Launch { kernel: 0, tensors: vec![ids[x], ids[c], ids[y]] };
    plan.steps = vec![launch(0, 1, 2), launch(0, 0, 3), launch(2, 1, 4), launch(4, 3, 5)];
    plan.results = vec![ids[5]];
    plan.arena_bytes = 1024;
    plan.streams = surject_cuda::STREAMS;
    plan
}

/// The command and the library run archives of several streams, on as many as the environment says.
#[test]
fn archives_of_several_streams_run() {
    let text = branches().to_string();
    assert!(text.contains("steps:  // on 2 streams"), "{text}");
    let path = file("streams");
    Archive::Cuda(Box::new(branches())).write(&path).unwrap();
    // x = 1, 2; y = 12, 24; a = 3, 6; b = 34, 68; z = 71, 142.
    let mut loaded = Loaded::open(&path, DeviceName::Simulated).unwrap();
    for _ in 0..3 {
        assert_eq!(loaded.run(&[integers([1, 2])]).unwrap(), [integers([71, 142])]);
    }
    let folder = std::env::temp_dir().join(format!("surject-run-{}-streams", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (input, output) = (folder.join("x.npy"), folder.join("z.npy"));
    surject_runtime::npy::write(&input, &integers([1, 2])).unwrap();
    surject_runtime::npy::write(&output, &integers([71, 142])).unwrap();
    let run = |streams: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_surject-run"));
        command.arg(&path).args(["--device", "simulated", "-i"]).arg(&input).arg("--expect").arg(&output);
        let output = command.env("SURJECT_CUDA_STREAMS", streams).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for streams in ["", "1", "2", "16"] {
        assert_eq!(run(streams), (Some(0), String::new()), "{streams}");
    }
    let (status, said) = run("many");
    assert_eq!(status, Some(3));
    assert!(said.contains("SURJECT_CUDA_STREAMS is a number from 1 to 16, not \"many\""), "{said}");
    // What a caller gives wrongly is bad input.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_surject-run"));
    let none = command.arg(&path).args(["--device", "simulated"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2), "{}", String::from_utf8_lossy(&none.stderr));
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
