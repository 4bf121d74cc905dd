//! Whole executables as bytes: what was generated, and its machine code.

use std::sync::Arc;
use surject_codegen::{Form, KernelPlan, Lent, LoweredModule, Plan};
use surject_index::{Extent, Space};
use surject_ir::{Buffer, TensorType};
use surject_runtime::DType;

/// A module and the object files of its parts.
pub(crate) type Stored = (LoweredModule, Vec<Vec<u8>>);

/// The bytes of an executable.
pub(crate) fn write(module: &LoweredModule, objects: &[Vec<u8>]) -> Vec<u8> {
    let mut w = Writer(Vec::new());
    w.bytes(module.text.as_bytes());
    w.bytes(module.entry.as_bytes());
    w.option(module.init.as_deref(), |w, name| w.bytes(name.as_bytes()));
    for types in [&module.params, &module.results] {
        w.list(types, |w, ty| w.ty(ty.dtype, &sizes(ty)));
    }
    w.list(&module.donations, |w, d| w.option(d.as_ref(), |w, &i| w.number(i as u64)));
    w.list(&module.lent, |w, l| {
        w.number(l.result as u64);
        w.number(l.bytes);
    });
    w.number(module.arena_bytes);
    w.list(&module.constants, |w, c| {
        w.ty(c.dtype(), &c.shape().iter().map(|&n| n as u64).collect::<Vec<u64>>());
        w.bytes(c.bytes());
    });
    w.number(module.plan.arena_bytes);
    w.list(&module.plan.lines, |w, (depth, line)| {
        w.number(*depth as u64);
        w.bytes(line.name.as_bytes());
        w.list(&line.writes, |w, s| w.bytes(s.as_bytes()));
        w.list(&line.reads, |w, s| w.bytes(s.as_bytes()));
        w.number(line.bytes);
        w.number(line.estimate.to_bits());
        w.bytes(line.summary.as_bytes());
        w.option(line.origin.as_deref(), |w, s| w.bytes(s.as_bytes()));
    });
    w.list(objects, |w, o| w.bytes(o));
    w.0
}

/// The executable of some bytes; `None` if they are not those of one.
pub(crate) fn read(bytes: &[u8]) -> Option<Stored> {
    let mut r = Reader(bytes);
    let (text, entry) = (r.text()?, r.text()?);
    let init = r.option(Reader::text)?;
    let tensor = |r: &mut Reader<'_>| {
        let (dtype, sizes) = r.ty()?;
        Some(TensorType::new(dtype, Space::of(&sizes)))
    };
    let (params, results) = (r.list(tensor)?, r.list(tensor)?);
    let donations = r.list(|r| r.option(|r| usize::try_from(r.number()?).ok()))?;
    let lent = r.list(|r| Some(Lent { result: usize::try_from(r.number()?).ok()?, bytes: r.number()? }))?;
    let arena_bytes = r.number()?;
    let constants = r.list(|r| {
        let (dtype, sizes) = r.ty()?;
        let shape = sizes.into_iter().map(|n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>()?;
        Buffer::from_bytes(dtype, &shape, r.bytes()?).map(Arc::new)
    })?;
    let plan_bytes = r.number()?;
    let lines = r.list(|r| {
        let depth = usize::try_from(r.number()?).ok()?;
        let line = KernelPlan {
            name: r.text()?,
            writes: r.list(Reader::text)?,
            reads: r.list(Reader::text)?,
            bytes: r.number()?,
            estimate: f64::from_bits(r.number()?),
            measured: None,
            summary: r.text()?,
            // What was refused is asked of a lowering, not of what is stored.
            form: Form::default(),
            origin: r.option(Reader::text)?,
        };
        Some((depth, line))
    })?;
    let objects = r.list(|r| r.bytes().map(<[u8]>::to_vec))?;
    let plan = Plan { lines, arena_bytes: plan_bytes };
    let parts = Vec::new();
    let module = LoweredModule {
        text,
        parts,
        entry,
        init,
        params,
        results,
        donations,
        lent,
        arena_bytes,
        profile: None,
        constants,
        plan,
    };
    r.0.is_empty().then_some((module, objects))
}

/// The sizes of a type of an executable: there is none for symbolic ones.
fn sizes(ty: &TensorType) -> Vec<u64> {
    ty.space.extents().iter().filter_map(Extent::as_const).collect()
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, items: &[T], each: impl Fn(&mut Writer, &T)) {
        self.number(items.len() as u64);
        items.iter().for_each(|item| each(self, item));
    }

    fn option<T>(&mut self, item: Option<T>, some: impl Fn(&mut Writer, T)) {
        self.number(item.is_some().into());
        if let Some(item) = item {
            some(self, item);
        }
    }

    fn ty(&mut self, dtype: DType, sizes: &[u64]) {
        self.number(DType::ALL.iter().position(|&d| d == dtype).unwrap_or(usize::MAX) as u64);
        self.list(sizes, |w, &n| w.number(n));
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn list<T>(&mut self, each: impl Fn(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        // Every item has eight bytes at least.
        (count <= self.0.len() as u64).then(|| (0..count).map(|_| each(self)).collect())?
    }

    fn option<T>(&mut self, some: impl Fn(&mut Reader<'a>) -> Option<T>) -> Option<Option<T>> {
        match self.number()? {
            0 => Some(None),
            1 => some(self).map(Some),
            _ => None,
        }
    }

    fn ty(&mut self) -> Option<(DType, Vec<u64>)> {
        let dtype = *DType::ALL.get(usize::try_from(self.number()?).ok()?)?;
        Some((dtype, self.list(Reader::number)?))
    }
}
