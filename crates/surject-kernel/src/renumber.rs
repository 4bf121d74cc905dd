//! Kernels whose values and memory are numbered anew.

use crate::kernel::{Memory, PartMut, Region};
use crate::{Affine, Kernel, Mem, Op, Value};
use std::collections::HashMap;

impl Kernel {
    /// The kernel with its values and its memory numbered in the order in which they are defined, and without those that
    /// nothing defines. Two kernels that do the same in the same order are then equal.
    pub fn renumbered(&self) -> Kernel {
        let mut names = Names::default();
        self.sizes.iter().for_each(|&v| names.define(v));
        self.params.iter().for_each(|&m| names.allocate(m));
        let mut body = self.body.clone();
        names.region(&mut body);
        let mut memory: Vec<Memory> = names.memory.iter().map(|&m| self.mem(m).clone()).collect();
        memory.iter_mut().for_each(|m| m.elements = names.affine(&m.elements));
        Kernel {
            name: self.name.clone(),
            sizes: self.sizes.iter().map(|&v| names.value(v)).collect(),
            params: self.params.iter().map(|&m| names.mem(m)).collect(),
            memory,
            types: names.values.iter().map(|&v| self.ty(v)).collect(),
            body,
        }
    }
}

/// New numbers in the order of definition.
#[derive(Default)]
struct Names {
    values: Vec<Value>,
    value_numbers: HashMap<Value, Value>,
    memory: Vec<Mem>,
    mem_numbers: HashMap<Mem, Mem>,
}

impl Names {
    fn define(&mut self, value: Value) {
        self.value_numbers.insert(value, Value(self.values.len() as u32));
        self.values.push(value);
    }

    fn allocate(&mut self, mem: Mem) {
        self.mem_numbers.insert(mem, Mem(self.memory.len() as u32));
        self.memory.push(mem);
    }

    /// What nothing defines keeps its number: the verifier reports it.
    fn value(&self, value: Value) -> Value {
        self.value_numbers.get(&value).copied().unwrap_or(value)
    }

    fn mem(&self, mem: Mem) -> Mem {
        self.mem_numbers.get(&mem).copied().unwrap_or(mem)
    }

    fn affine(&self, affine: &Affine) -> Affine {
        // Renaming is one to one where everything is defined, so terms do not merge and nothing overflows.
        affine.renamed(&|v| self.value(v)).unwrap_or_else(|| affine.clone())
    }

    fn region(&mut self, region: &mut Region) {
        for param in &mut region.params {
            self.define(*param);
            *param = self.value(*param);
        }
        for statement in &mut region.body {
            if let Op::Alloc(mem) = statement.op {
                self.allocate(mem);
            }
            // Results come after the regions, as in the text form.
            statement.op.parts_mut(&mut |part| match part {
                PartMut::Value(value) => *value = self.value(*value),
                PartMut::Affine(affine) => *affine = self.affine(affine),
                PartMut::Mem(mem) => *mem = self.mem(*mem),
                PartMut::Region(region) => self.region(region),
            });
            for result in &mut statement.results {
                self.define(*result);
                *result = self.value(*result);
            }
        }
        region.yields.iter_mut().for_each(|v| *v = self.value(*v));
    }
}
