//! The kernels of a plan, each made once, in the form that a GPU has for it.

use super::Planner;
use crate::write;
use surject_codegen::kernels::legal::legal;
use surject_cuda::{Kernel, Shape, Use};
use surject_kernel::Access;

/// What a kernel does with a tensor.
fn usage(access: Access) -> Use {
    match (access.reads(), access.writes()) {
        (_, false) => Use::Read,
        (false, true) => Use::Written,
        (true, true) => Use::Changed,
    }
}

impl Planner<'_> {
    /// The numbers of kernels: all of them have a form, or an error says why one has none.
    pub(super) fn forms<'k>(
        &mut self,
        kernels: impl Iterator<Item = &'k surject_kernel::Kernel>,
        assignment: &str,
    ) -> Result<Vec<Option<u32>>, String> {
        kernels.map(|kernel| self.form(kernel, assignment)).collect()
    }

    /// Kernels take what the machine model says, in cycles.
    pub(super) fn take(&mut self, forms: &[Option<u32>], costs: impl Iterator<Item = Option<f64>>) {
        for (form, cost) in forms.iter().zip(costs) {
            if let (Some(number), Some(cost)) = (form, cost) {
                self.plan.kernels[*number as usize].us = Some(cost / self.gpu.clock * 1e6);
            }
        }
    }

    /// The number of a kernel, which is made if there is none like it; `None` where its grid has no blocks. An error says
    /// why a GPU has no form for it.
    pub(super) fn form(
        &mut self,
        kernel: &surject_kernel::Kernel,
        assignment: &str,
    ) -> Result<Option<u32>, String> {
        // What its memory is called makes no other kernel of it.
        let mut nameless = surject_kernel::Kernel { name: "k".into(), ..kernel.clone() };
        for (number, memory) in nameless.memory.iter_mut().enumerate() {
            memory.name = format!("m{number}");
        }
        let key = nameless.to_string();
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        let name = self.free_name(&kernel.name);
        let named = surject_kernel::Kernel { name: name.clone(), ..kernel.clone() };
        let arithmetic = legal(&named).map_err(|error| error.to_string())?;
        let written = write::write(&arithmetic).map_err(|error| error.to_string())?;
        let grid = written.launch.grid(&|_| None).ok_or("a grid of a size that is not known")?;
        let blocks = grid.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        if blocks[0] > i32::MAX as u32 || blocks[1] > 65_535 || blocks[2] > 65_535 {
            return Err(format!("a grid of {grid:?} blocks is larger than a GPU has"));
        }
        if written.launch.shared > self.gpu.shared {
            let (needed, most) = (written.launch.shared, self.gpu.shared);
            return Err(format!("{needed} bytes of shared memory for a block, which has {most} at most"));
        }
        let number = (!blocks.contains(&0)).then(|| {
            self.plan.kernels.push(Kernel {
                name,
                assignment: assignment.to_string(),
                shape: Shape {
                    blocks,
                    threads: written.launch.threads as u32,
                    shared: written.launch.shared as u32,
                    maps: written.launch.maps.iter().map(map_of).collect(),
                },
                tensors: kernel.params.iter().map(|&mem| usage(kernel.mem(mem).access)).collect(),
                us: None,
            });
            self.written.push(written);
            self.plan.kernels.len() as u32 - 1
        });
        self.numbers.insert(key, number);
        Ok(number)
    }

    /// A name like this one that no kernel has yet.
    fn free_name(&mut self, name: &str) -> String {
        let mut free = name.to_string();
        let mut number = 0;
        while !self.used.insert(free.clone()) {
            number += 1;
            free = format!("{name}_again{number}");
        }
        free
    }
}

/// A map of a tensor as plans have it.
fn map_of(map: &write::MapParameter) -> surject_cuda::TensorMap {
    let bytes = |&stride: &i64| stride as u64 * map.dtype.size() as u64;
    surject_cuda::TensorMap {
        tensor: map.tensor as u32,
        dtype: map.dtype,
        extents: map.map.extents.iter().map(|&extent| extent as u64).collect(),
        strides: map.map.strides.iter().map(bytes).collect(),
        sizes: map.map.sizes.iter().map(|&size| size as u32).collect(),
        swizzled: map.swizzled,
    }
}
