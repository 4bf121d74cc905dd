//! Boxes of tensors that are copied in the background (TMA), and barriers with phases (`mbarrier`).
//!
//! Facts of the PTX ISA, "cp.async.bulk.tensor", "mbarrier" and "Tensors": a tensor map is 128 bytes at a multiple of 64, here
//! a parameter of the kernel that is constant for its grid; one thread asks for a box; where it goes to begins at a multiple of
//! 128 bytes, of 1024 with the swizzle of 128 bytes, which exchanges parts of 16 bytes as operands of `wgmma` have them; its
//! bytes, those that are zero because they are outside of the tensor too, count at the barrier that it names. What a thread
//! initialises is seen by such copies after `fence.mbarrier_init` and `fence.proxy.async`. `mbarrier.try_wait` is tried again
//! until it says that the phase is over.

use super::{Done, KernelWriter, Pointer, Writer, gcd};
use surject_ir::DType;
use surject_kernel::{Affine, BoxCopy, Kernel, Mem, Op, PhaseBarrier, Phasing, Region, TensorMap};

/// Bytes at multiples of which a box begins in shared memory.
pub(super) const ALIGNMENT: i64 = 128;
/// Elements of a line of 128 bytes, and lines whose parts are exchanged.
const LINE: i64 = 64;
const LINES: i64 = 8;
/// Nanoseconds in which a thread that waits may sleep, if nothing ends the phase.
const SLEEP: i64 = 1_000_000;

/// A parameter of a kernel that describes a tensor and its boxes, behind its sizes and its tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapParameter {
    /// Which tensor of the kernel.
    pub tensor: usize,
    /// The type of its elements.
    pub dtype: DType,
    /// How it lies, and the size of a box.
    pub map: TensorMap,
    /// Are parts of 16 bytes exchanged in lines of 128?
    pub swizzled: bool,
}

/// Everything that a kernel copies in boxes.
pub(super) fn copies(kernel: &Kernel) -> Vec<&BoxCopy> {
    fn find<'k>(region: &'k Region, found: &mut Vec<&'k BoxCopy>) {
        for statement in &region.body {
            if let Op::BoxCopy(copy) = &statement.op {
                found.push(copy);
            }
            statement.op.regions().for_each(|r| find(r, found));
        }
    }
    let mut found = Vec::new();
    find(&kernel.body, &mut found);
    found
}

impl Writer<'_> {
    /// Notes what the kernel copies in boxes; gives parameters for their maps as they are declared.
    pub(super) fn map_parameters(&mut self) -> Done<Vec<String>> {
        let mut params = Vec::new();
        for copy in copies(self.kernel) {
            let map = self.map_of(copy)?;
            if self.maps.iter().any(|(known, _)| *known == map) {
                continue;
            }
            let name = self.fresh();
            params.push(format!(
                "{name}: !llvm.ptr {{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}}"
            ));
            self.maps.push((map, name));
        }
        Ok(params)
    }

    fn map_of(&self, copy: &BoxCopy) -> Done<MapParameter> {
        let tensor = self.kernel.params.iter().position(|&p| p == copy.from);
        let tensor = tensor.ok_or("a box of what is no parameter")?;
        let dtype = self.kernel.mem(copy.from).dtype;
        let swizzled = self.layouts.contains_key(&copy.to);
        Ok(MapParameter { tensor, dtype, map: copy.map.clone(), swizzled })
    }

    /// Is it a memory that boxes are copied to?
    pub(super) fn has_boxes(&self, mem: Mem) -> bool {
        copies(self.kernel).iter().any(|copy| copy.to == mem)
    }

    pub(super) fn box_copy(&mut self, copy: &BoxCopy) -> Done<()> {
        self.check_target(copy)?;
        let map = self.map_of(copy)?;
        let known = self.maps.iter().find(|(known, _)| *known == map);
        let map = known.ok_or("a box without a map")?.1.clone();
        self.synchronise();
        let once = self.once(copy.to);
        self.only_if(once, |w| {
            let barrier = w.phase_barrier(&copy.arrives)?.name;
            let at = w.affine(&copy.to_at, 0)?;
            let to = w.address(copy.to, &at)?;
            let to = w.op(&format!("llvm.addrspacecast {to} : !llvm.ptr<3> to !llvm.ptr<7>"));
            let mut place = Vec::new();
            for at in &copy.at {
                let at = w.affine(at, 0)?;
                place.push(w.op(&format!("arith.trunci {at} : i64 to i32")));
            }
            w.line(&format!(
                "nvvm.cp.async.bulk.tensor.shared.cluster.global {to}, {map}, {barrier}, box[{}] : !llvm.ptr<7>, !llvm.ptr",
                place.join(", ")
            ));
            Ok(())
        })?;
        self.pending = [true; 2];
        Ok(())
    }

    /// Does a box lie in its memory as the machine writes it?
    fn check_target(&self, copy: &BoxCopy) -> Done<()> {
        let (memory, sizes) = (self.kernel.mem(copy.to), &copy.map.sizes);
        let lines = sizes.iter().skip(1).product::<i64>();
        let Affine { terms, offset, .. } = &copy.to_at;
        let of_terms = self.divisor(&Affine { offset: 0, lane: 0, terms: terms.clone() });
        let Some(&pitch) = self.layouts.get(&copy.to) else {
            let bytes = gcd(of_terms, *offset).saturating_mul(memory.dtype.size() as i64);
            return match copy.pitch == sizes[0] && bytes % ALIGNMENT == 0 {
                true => Ok(()),
                false => Err(format!(
                    "a box in `{}` that is not dense from a multiple of 128 bytes on",
                    memory.name
                )),
            };
        };
        // Lines as an operand of four warps has them, the first of them one of eight.
        let first = offset.rem_euclid(LINES * pitch);
        let whole = of_terms % (LINES * pitch) == 0 && first % LINE == 0 && first < pitch;
        let inside = pitch == LINE || offset.rem_euclid(LINE * pitch) / pitch + lines <= LINE;
        match sizes[0] == LINE && copy.pitch == pitch && whole && inside {
            true => Ok(()),
            false => {
                Err(format!("a box in `{}` that is not in lines of an operand of four warps", memory.name))
            }
        }
    }

    fn phase_barrier(&mut self, barrier: &PhaseBarrier) -> Done<Pointer> {
        let at = self.affine(&barrier.at, 0)?;
        Ok(Pointer { name: self.address(barrier.mem, &at)?, space: 3 })
    }

    pub(super) fn phase(&mut self, barrier: &PhaseBarrier, how: &Phasing) -> Done<()> {
        if let Phasing::Wait(parity) = how {
            let (name, ty) = (self.name(*parity)?, self.ty(*parity));
            let parity = self.cast(&name, ty, DType::I32);
            let one = self.constant("1", "i32");
            let parity = self.op(&format!("arith.andi {parity}, {one} : i32"));
            let sleep = self.constant(&SLEEP.to_string(), "i32");
            let barrier = self.phase_barrier(barrier)?.name;
            self.line(&format!(
                "nvvm.mbarrier.try_wait.parity {barrier}, {parity}, {sleep} : !llvm.ptr<3>, i32, i32"
            ));
            return Ok(());
        }
        // All threads have done what comes before.
        self.synchronise();
        let once = self.once(barrier.mem);
        self.only_if(once, |w| {
            let barrier = w.phase_barrier(barrier)?.name;
            match how {
                Phasing::Init(count) => {
                    let count = w.constant(&count.to_string(), "i32");
                    w.line(&format!("nvvm.mbarrier.init {barrier}, {count} : !llvm.ptr<3>, i32"));
                    w.line("nvvm.fence.mbarrier.init");
                    w.line("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}");
                }
                Phasing::Expect(bytes) => {
                    let bytes = w.constant(&bytes.to_string(), "i32");
                    w.line(&format!("nvvm.mbarrier.arrive.expect_tx {barrier}, {bytes} : !llvm.ptr<3>, i32"));
                }
                Phasing::Arrive => {
                    w.op(&format!("nvvm.mbarrier.arrive {barrier} : !llvm.ptr<3> -> i64"));
                }
                Phasing::Wait(_) => {}
            }
            Ok(())
        })?;
        self.pending = [true; 2];
        Ok(())
    }
}
