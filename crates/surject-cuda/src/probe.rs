//! What a device does at most, measured: to calibrate machine models and to say what share of it programs reach.
//!
//! Times are the device's own, so that a [simulated](crate::Simulated) one, which has none, gives an error.

use crate::{Device, DeviceError, Memory, Module, Shape, View};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Bytes read and written in a second by copies on the device.
    pub copy_bytes_per_second: f64,
    /// Microseconds of an empty kernel among many that are launched one by one.
    pub launch_us: f64,
    /// The same of kernels that are replayed from a recording.
    pub replay_us: f64,
    /// Operations in a second of fused products and sums of `f32`, two each.
    pub f32_flops: f64,
    /// The same of products of `bf16` that warps sum in `f32` (`mma.sync`).
    pub bf16_mma_sync_flops: f64,
}

/// Bytes of each of two buffers that are copied: much more than any cache holds.
const COPIED: u64 = 512 << 20;
/// Kernels of a measurement of launches.
const LAUNCHES: u32 = 256;
/// How often each thing is measured; the least counts.
const TIMES: usize = 7;
/// Threads of the blocks of kernels that compute, and blocks of each multiprocessor.
const THREADS: u32 = 256;
const BLOCKS: u32 = 8;
/// Rounds of their loops.
const ROUNDS: u32 = 2048;
/// Sums that a thread, or a warp, has at once, and how often a round adds to each.
const CHAINS: u32 = 8;
const UNROLLED: u32 = 8;

/// Measures a device.
pub fn measure(device: &mut dyn Device) -> Result<Measured, DeviceError> {
    let bytes = COPIED.min(device.info().memory / 8).max(1);
    let mut copier = Copier::new(&mut *device, bytes)?;
    let (from, to) = (copier.from, copier.to);
    let copied = least(&mut copier.device, |device| device.copy(from, to));
    let copy_bytes_per_second = 2e3 * bytes as f64 / copied?;
    drop(copier);
    let module = device.load(&ptx(ROUNDS))?;
    let measured = kernels(device, module);
    device.unload(module);
    let [launch_us, replay_us, f32_flops, bf16_mma_sync_flops] = measured?;
    Ok(Measured { copy_bytes_per_second, launch_us, replay_us, f32_flops, bf16_mma_sync_flops })
}

fn kernels(device: &mut dyn Device, module: Module) -> Result<[f64; 4], DeviceError> {
    let blocks = BLOCKS * device.info().multiprocessors.max(1);
    let bytes = u64::from(blocks * THREADS) * 4;
    let memory = device.allocate(bytes)?;
    let view = View { memory, offset: 0, bytes };
    let measured = on(device, module, view, blocks);
    device.free(memory);
    measured
}

fn on(device: &mut dyn Device, module: Module, view: View, blocks: u32) -> Result<[f64; 4], DeviceError> {
    let zeros = vec![0; view.bytes as usize];
    device.upload(view, &zeros)?;
    let small = Shape { blocks: [1; 3], threads: 32, shared: 0, maps: Vec::new() };
    let empty = |device: &mut dyn Device| {
        (0..LAUNCHES).try_for_each(|_| device.launch(module, "empty", &small, &[view]))
    };
    let launched = least(device, empty)? * 1e3 / f64::from(LAUNCHES);
    device.record()?;
    let done = empty(device);
    let recording = device.recorded();
    done?;
    let recording = recording?;
    let replayed = least(device, |device| device.replay(recording));
    device.forget(recording);
    let replayed = replayed? * 1e3 / f64::from(LAUNCHES);
    let shape = Shape { blocks: [blocks, 1, 1], threads: THREADS, shared: 0, maps: Vec::new() };
    let steps = f64::from(ROUNDS * CHAINS * UNROLLED);
    let products = 2.0 * steps * f64::from(blocks * THREADS);
    let fma = least(device, |device| device.launch(module, "products", &shape, &[view]))?;
    let warps = 2.0 * 16.0 * 8.0 * 16.0 * steps * f64::from(blocks * THREADS / 32);
    let mma = least(device, |device| device.launch(module, "matrices", &shape, &[view]))?;
    Ok([launched, replayed, products / fma * 1e3, warps / mma * 1e3])
}

/// The least milliseconds of some runs.
fn least(
    device: &mut dyn Device,
    mut run: impl FnMut(&mut dyn Device) -> Result<(), DeviceError>,
) -> Result<f64, DeviceError> {
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let from = device.mark()?;
        run(device)?;
        let to = device.mark()?;
        best = best.min(device.elapsed(from, to)?);
    }
    Ok(best)
}

/// Copies on a device, again and again: what moves as many bytes as a program.
pub struct Copier<D: Device> {
    device: D,
    from: View,
    to: View,
}

impl<D: Device> Copier<D> {
    /// Copies of so many bytes, which are read and written once each.
    pub fn new(mut device: D, bytes: u64) -> Result<Copier<D>, DeviceError> {
        let from = device.allocate(bytes)?;
        let to = device.allocate(bytes).inspect_err(|_| device.free(from))?;
        let view = |memory: Memory| View { memory, offset: 0, bytes };
        Ok(Copier { device, from: view(from), to: view(to) })
    }

    /// The least seconds of a copy, waited for, of those that are done within so many seconds.
    pub fn time(&mut self, seconds: f64) -> Result<f64, DeviceError> {
        let (begin, mut best) = (Instant::now(), f64::INFINITY);
        while best.is_infinite() || begin.elapsed().as_secs_f64() < seconds {
            let start = Instant::now();
            self.device.copy(self.from, self.to)?;
            self.device.synchronise()?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok(best)
    }
}

impl<D: Device> Drop for Copier<D> {
    fn drop(&mut self) {
        self.device.free(self.from.memory);
        self.device.free(self.to.memory);
    }
}

/// Kernels that do nothing, that multiply and add `f32`, and that multiply matrices of `bf16`; the last two in loops of so
/// many rounds.
pub fn ptx(rounds: u32) -> String {
    let mut text = String::from(".version 7.0\n.target sm_80\n.address_size 64\n\n");
    text.push_str(".visible .entry empty(\n.param .u64 empty_param_0\n)\n{\nret;\n}\n\n");
    // A thread's own number and its element, which all sums begin with.
    let head = |name: &str, floats: u32| {
        format!(
            ".visible .entry {name}(\n.param .u64 {name}_param_0\n)\n.reqntid {THREADS}, 1, 1\n{{\n.reg .pred %p<2>;\n\
             .reg .b32 %r<8>;\n.reg .b32 %f<{floats}>;\n.reg .b64 %rd<5>;\nld.param.b64 %rd1, [{name}_param_0];\n\
             cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
             mad.lo.s32 %r3, %r2, {THREADS}, %r1;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd2, %rd3;\n\
             ld.global.b32 %f0, [%rd4];\nmov.b32 %r4, {rounds};\n"
        )
    };
    let tail = "add.s32 %r4, %r4, -1;\nsetp.ne.s32 %p1, %r4, 0;\n@%p1 bra $L_loop;\n";
    let sum = |text: &mut String, count: u32| {
        for i in 2..=count {
            let _ = writeln!(text, "add.rn.f32 %f1, %f1, %f{i};");
        }
        text.push_str("st.global.b32 [%rd4], %f1;\nret;\n}\n\n");
    };
    text.push_str(&head("products", CHAINS + 1));
    // No two sums are the same, or they would be computed once.
    let first = |i: u32| format!("add.rn.f32 %f{i}, %f0, 0f{:08X};\n", (i as f32).to_bits());
    (1..=CHAINS).for_each(|i| text += &first(i));
    text.push_str("$L_loop:\n");
    for _ in 0..UNROLLED {
        (1..=CHAINS).for_each(|i| text += &format!("fma.rn.f32 %f{i}, %f{i}, %f0, %f0;\n"));
    }
    text.push_str(tail);
    sum(&mut text, CHAINS);
    // Each sum of a warp is four registers of every thread; what is multiplied is anything.
    text.push_str(&head("matrices", 4 * CHAINS + 1));
    (1..=4 * CHAINS).for_each(|i| text += &first(i));
    text.push_str("$L_again:\n");
    for _ in 0..UNROLLED {
        for i in 0..CHAINS {
            let four = (1..=4).map(|k| format!("%f{}", 4 * i + k)).collect::<Vec<String>>().join(", ");
            let _ = writeln!(
                text,
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{{four}}}, {{%f0, %f0, %f0, %f0}}, \
                 {{%f0, %f0}}, {{{four}}};"
            );
        }
    }
    text.push_str(&tail.replace("$L_loop", "$L_again"));
    sum(&mut text, 4 * CHAINS);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulated;

    #[test]
    fn the_kernels_run() {
        let mut device = Simulated::new(1 << 20);
        let module = device.load(&ptx(2)).unwrap();
        let bytes = u64::from(THREADS) * 4;
        let memory = device.allocate(bytes).unwrap();
        let view = View { memory, offset: 0, bytes };
        device.upload(view, &vec![0; bytes as usize]).unwrap();
        for kernel in ["empty", "products", "matrices"] {
            let threads = if kernel == "empty" { 32 } else { THREADS };
            let shape = Shape { blocks: [1; 3], threads, shared: 0, maps: Vec::new() };
            device.launch(module, kernel, &shape, &[view]).unwrap();
        }
        // To assemble.
        if let Some(file) = std::env::var_os("SURJECT_PTX_FILE") {
            std::fs::write(file, ptx(ROUNDS)).unwrap();
        }
        // Products of zeros leave 1 + 2 + … + 32, the values that the sums begin with.
        let mut found = vec![1; bytes as usize];
        device.download(view, &mut found).unwrap();
        assert!(found.chunks(4).all(|f| f32::from_le_bytes(f.try_into().unwrap()) == 528.0));
    }

    #[test]
    fn what_has_no_time_is_not_measured() {
        assert!(measure(&mut Simulated::new(1 << 20)).is_err());
    }
}
