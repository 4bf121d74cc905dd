//! Writing an artifact for a version of StableHLO.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use super::container::since;
use super::encode::Dialect;
use super::explode::{STRUCTURED, part};
use super::legalise::is_default;
use super::needs;
use super::pool::{Piece, Pieces, Pool};
use super::version::Version;
use super::vhlo::{self, VhloOp};
use crate::attr::{Attribute, Attributes};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Function, Module, Op, Region, ValueId, Visibility};
use crate::table::{Absent, OpSpec};
use crate::types::Type;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The version that an artifact is written for where none is asked for, if it has what the module uses: the first
/// since which artifacts are kept readable for years.
const USUAL: Version = Version::new(1, 0);

/// The bytes of an artifact.
pub(super) fn write(module: &Module, target: Option<Version>) -> Result<Vec<u8>> {
    let need = needs::of_module(module);
    let newest = need.as_ref().map_or(Version::MINIMUM, |n| n.version);
    let version = target.unwrap_or(USUAL.max(newest));
    if let Some(need) = need.filter(|n| n.version > version.opset()) {
        let message = format!("StableHLO {version} lacks {}", need.what);
        return Err(Diagnostic::new(codes::VERSION, need.span, message)
            .expected(format!("a version from {} on", need.version))
            .help(format!("write the artifact for version {} or a later one", need.version)));
    }
    let mut writer =
        Writer { module, pool: Pool::new(version), rows: HashMap::default(), span: Span::default() };
    let body = writer.module()?;
    Ok(writer.pool.write(&body))
}

/// Which parts an operation has; see `read`.
mod mask {
    pub const ATTRIBUTES: u8 = 1;
    pub const RESULTS: u8 = 2;
    pub const OPERANDS: u8 = 4;
    pub const REGIONS: u8 = 16;
    pub const PROPERTIES: u8 = 64;
}

/// Numbers of values.
#[derive(Default)]
struct Scope {
    numbers: HashMap<ValueId, usize, FxBuildHasher>,
    /// The number of the next value of the innermost region.
    next: usize,
    /// Past the last number of the regions around.
    end: usize,
}

impl Scope {
    fn define(&mut self, value: ValueId) {
        self.numbers.insert(value, self.next);
        self.next += 1;
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

/// Numbers of types or of values.
type Numbers = SmallVec<[usize; 4]>;

/// What stands in front of the regions of an operation.
struct Head {
    op: Piece,
    location: Option<Arc<str>>,
    attributes: Option<usize>,
    properties: Option<usize>,
    results: Numbers,
    operands: Numbers,
}

struct Writer<'m> {
    module: &'m Module,
    pool: Pool,
    /// Rows of VHLO by rows of the table.
    rows: HashMap<*const OpSpec, Option<&'static VhloOp>, FxBuildHasher>,
    span: Span,
}

impl Writer<'_> {
    /// What cannot be written.
    fn refuse(&self, what: impl std::fmt::Display) -> Diagnostic {
        let message = format!("an artifact of StableHLO {} cannot hold {what}", self.pool.version);
        Diagnostic::new(codes::UNSUPPORTED, self.span, message)
    }

    fn vhlo(&mut self, value: &Attribute, name: &str, op: &str) -> Result<usize> {
        self.pool.vhlo(value).map_err(|what| self.refuse(format!("{what}, attribute '{name}' of '{op}'")))
    }

    fn ty(&mut self, ty: &Type, dialect: Dialect) -> Result<usize> {
        self.pool.ty_of(ty, dialect).map_err(|what| self.refuse(what))
    }

    /// The operations of a file: the module alone.
    fn module(&mut self) -> Result<Pieces> {
        let module = self.module;
        let mut region = Pieces::default();
        region.varint(1);
        region.varint(0);
        let count = module.other.len() + module.functions.len();
        region.varint((count as u64) << 1);
        let mut scope = Scope::default();
        for op in &module.other {
            self.op(op, &mut scope, &mut region)?;
        }
        for function in &module.functions {
            self.function(function, &mut region)?;
        }

        let name = module.name.clone().map(Attribute::String);
        let mut attributes = module.attributes.clone();
        let mut properties = None;
        if self.pool.container() >= since::PROPERTIES {
            let mut pieces = Pieces::default();
            match &name {
                Some(name) => {
                    let id = self.pool.builtin(name).map_err(|what| self.refuse(what))?;
                    pieces.push(Piece::Optional(id));
                }
                None => pieces.varint(0),
            }
            pieces.varint(0);
            properties = Some(self.pool.property(pieces));
        } else if let Some(name) = name {
            attributes.set("sym_name", name);
        }
        let attributes = match attributes.is_empty() {
            true => None,
            false => {
                let id = self.pool.dictionary(&attributes, Dialect::Builtin);
                Some(id.map_err(|what| self.refuse(format!("{what}, of the module")))?)
            }
        };
        let op = self.pool.op("builtin", "module");
        let (results, operands) = (Numbers::new(), Numbers::new());
        let head = Head { op, location: None, attributes, properties, results, operands };
        let mut out = Pieces::default();
        out.varint(1 << 1);
        self.head(head, 1, &mut out);
        self.isolated(region, &mut out);
        Ok(out)
    }

    /// An operation as far as its regions, of which there are so many.
    fn head(&mut self, head: Head, regions: usize, out: &mut Pieces) {
        let mut parts = 0;
        let mut has = |there: bool, part: u8| parts |= if there { part } else { 0 };
        has(head.attributes.is_some(), mask::ATTRIBUTES);
        has(head.properties.is_some(), mask::PROPERTIES);
        has(!head.results.is_empty(), mask::RESULTS);
        has(!head.operands.is_empty(), mask::OPERANDS);
        has(regions > 0, mask::REGIONS);
        out.push(head.op);
        out.byte(parts);
        let location = self.pool.location(head.location.as_ref());
        out.push(location);
        if let Some(id) = head.attributes {
            out.push(Piece::Attribute(id));
        }
        if let Some(id) = head.properties {
            out.varint(id as u64);
        }
        if !head.results.is_empty() {
            out.varint(head.results.len() as u64);
            head.results.iter().for_each(|id| out.push(Piece::Type(*id)));
        }
        if !head.operands.is_empty() {
            out.varint(head.operands.len() as u64);
            head.operands.iter().for_each(|number| out.varint(*number as u64));
        }
    }

    /// The one region of an operation, which sees no values from outside.
    fn isolated(&self, region: Pieces, out: &mut Pieces) {
        out.varint(1 << 1 | 1);
        match self.pool.container() >= since::ISOLATED_SECTIONS {
            true => out.push(Piece::Section(Box::new(region))),
            false => out.extend(region),
        }
    }

    fn function(&mut self, function: &Function, out: &mut Pieces) -> Result<()> {
        self.span = function.span;
        let dictionaries = |items: Vec<&Attributes>| match items.iter().all(|a| a.is_empty()) {
            true => Attribute::Array(Vec::new()),
            false => Attribute::Array(items.into_iter().cloned().map(Attribute::Dict).collect()),
        };
        let visibility = match function.visibility {
            Visibility::Private => "private",
            Visibility::Nested => "nested",
            Visibility::Public if function.explicit_public => "public",
            Visibility::Public => "",
        };
        let values = [
            dictionaries(function.params.iter().map(|p| &p.attributes).collect()),
            Attribute::Type(Type::Function(Arc::new(function.ty()))),
            dictionaries(function.results.iter().map(|r| &r.attributes).collect()),
            Attribute::String(function.name.clone()),
            Attribute::String(visibility.to_string()),
        ];
        let row = vhlo::for_version("func", self.pool.version.opset());
        let row = row.ok_or_else(|| self.refuse("functions"))?;
        let inherent = row.attributes.iter().copied().zip(values).collect();
        let (attributes, properties) = self.attributes(row, inherent, &function.attributes, "func.func")?;
        let op = self.pool.op("vhlo", "func_v1");
        let location = function.location.clone();
        let head =
            Head { op, location, attributes, properties, results: Numbers::new(), operands: Numbers::new() };
        let mut region = Pieces::default();
        match function.is_declaration() {
            true => region.varint(0),
            false => self.region(&function.body, &mut Scope::default(), &mut region)?,
        }
        self.head(head, 1, out);
        self.isolated(region, out);
        Ok(())
    }

    /// The numbers of the attributes of an operation of VHLO: those that it defines and the others, as the container
    /// has them.
    fn attributes(
        &mut self,
        row: &VhloOp,
        inherent: Vec<(&'static str, Attribute)>,
        others: &Attributes,
        op: &str,
    ) -> Result<(Option<usize>, Option<usize>)> {
        if self.pool.container() >= since::PROPERTIES {
            let mut pieces = Pieces::default();
            for (name, value) in &inherent {
                let id = self.vhlo(value, name, op)?;
                pieces.push(Piece::Attribute(id));
            }
            let properties = (!row.attributes.is_empty()).then(|| self.pool.property(pieces));
            return Ok((self.dictionary(others, op)?, properties));
        }
        let mut all = others.clone();
        for (name, value) in inherent {
            all.set(name, value);
        }
        Ok((self.dictionary(&all, op)?, None))
    }

    fn dictionary(&mut self, attributes: &Attributes, op: &str) -> Result<Option<usize>> {
        if attributes.is_empty() {
            return Ok(None);
        }
        let id = self.pool.dictionary(attributes, Dialect::Vhlo);
        id.map(Some).map_err(|what| self.refuse(format!("{what}, of '{op}'")))
    }

    fn region(&mut self, region: &Region, scope: &mut Scope, out: &mut Pieces) -> Result<()> {
        let outer = (scope.next, scope.end);
        let values = region.params.len() + region.ops.iter().map(defined).sum::<usize>();
        (scope.next, scope.end) = (outer.1, outer.1 + values);
        out.varint(1);
        out.varint(values as u64);
        let arguments = !region.params.is_empty();
        out.varint((operations(&region.ops) as u64) << 1 | u64::from(arguments));
        if arguments {
            out.varint(region.params.len() as u64);
            for (value, ty) in &region.params {
                let id = self.ty(ty, Dialect::Vhlo)?;
                if self.pool.container() >= since::ARGUMENT_LOCATION_FLAG {
                    out.push(Piece::Flagged(id, false));
                } else {
                    out.push(Piece::Type(id));
                    let location = self.pool.location(None);
                    out.push(location);
                }
                scope.define(*value);
            }
            if self.pool.container() >= since::USE_LISTS {
                out.byte(0);
            }
        }
        for op in &region.ops {
            self.op(op, scope, out)?;
        }
        (scope.next, scope.end) = outer;
        Ok(())
    }

    fn op(&mut self, op: &Op, scope: &mut Scope, out: &mut Pieces) -> Result<()> {
        self.span = op.span;
        let name = match op.name.split_once('.') {
            Some(("stablehlo", name)) => name,
            Some(("func", "call")) => "call",
            Some(("func", "return")) => "return",
            _ => return self.foreign(op, scope, out),
        };
        let row = self.row(op, name).ok_or_else(|| self.refuse(format!("'{}'", op.name)))?;
        let rank = op.operands.first().and_then(|v| self.module.tensor(*v)).map_or(0, |t| t.rank());
        let mut inherent = Vec::with_capacity(row.attributes.len());
        for attribute in row.attributes {
            let value = part(row, attribute, op, rank).ok_or_else(|| {
                let message = format!("'{}' lacks its attribute '{attribute}'", op.name);
                Diagnostic::new(codes::ATTRIBUTE, op.span, message)
            })?;
            inherent.push((*attribute, value));
        }
        let others = op.attributes.iter().filter(|(name, value)| {
            !row.attributes.contains(name) && !STRUCTURED.contains(name) && !is_default(row.name, name, value)
        });
        let others: Attributes = others.map(|(n, v)| (Cow::Owned(n.to_string()), v.clone())).collect();
        let (attributes, properties) = self.attributes(row, inherent, &others, &op.name)?;
        let head = Head {
            op: self.pool.vhlo_op(row),
            location: op.location.clone(),
            attributes,
            properties,
            results: self.types(&op.results, Dialect::Vhlo)?,
            operands: self.operands(op, scope)?,
        };
        op.results.iter().for_each(|value| scope.define(*value));
        self.head(head, op.regions.len(), out);
        if !op.regions.is_empty() {
            out.varint((op.regions.len() as u64) << 1);
        }
        op.regions.iter().try_for_each(|region| self.region(region, scope, out))
    }

    /// The row of VHLO for an operation, looked up by name once.
    fn row(&mut self, op: &Op, name: &str) -> Option<&'static VhloOp> {
        let version = self.pool.version.opset();
        match op.spec() {
            Some(spec) => *self.rows.entry(spec).or_insert_with(|| vhlo::for_version(name, version)),
            None => vhlo::for_version(name, version),
        }
    }

    fn types(&mut self, values: &[ValueId], dialect: Dialect) -> Result<Numbers> {
        let module = self.module;
        values.iter().map(|value| self.ty(module.ty(*value), dialect)).collect()
    }

    fn operands(&self, op: &Op, scope: &Scope) -> Result<Numbers> {
        let number = |value: &ValueId| scope.numbers.get(value).copied();
        op.operands.iter().map(number).collect::<Option<_>>().ok_or_else(|| {
            let message = format!("an operand of '{}' is not defined before it", op.name);
            Diagnostic::new(codes::UNDEFINED, op.span, message)
        })
    }

    /// An operation of another dialect, which works on MLIR's own types: casts stand around it.
    fn foreign(&mut self, op: &Op, scope: &mut Scope, out: &mut Pieces) -> Result<()> {
        if !op.regions.is_empty() {
            return Err(self.refuse(format!("the regions of '{}'", op.name)));
        }
        let (dialect, short) = op.name.split_once('.').unwrap_or(("builtin", &op.name));
        let numbers = self.operands(op, scope)?;
        let types = self.types(&op.operands, Dialect::Builtin)?;
        let mut operands = Numbers::with_capacity(numbers.len());
        for (number, ty) in numbers.into_iter().zip(types) {
            operands.push(scope.number());
            self.cast(number, ty, out);
        }
        let (attributes, properties) = self.foreign_attributes(op)?;
        let results = self.types(&op.results, Dialect::Builtin)?;
        let location = op.location.clone();
        let head =
            Head { op: self.pool.op(dialect, short), location, attributes, properties, results, operands };
        self.head(head, 0, out);
        let numbers: Vec<usize> = op.results.iter().map(|_| scope.number()).collect();
        let types = self.types(&op.results, Dialect::Vhlo)?;
        for ((number, ty), value) in numbers.into_iter().zip(types).zip(&op.results) {
            scope.define(*value);
            self.cast(number, ty, out);
        }
        Ok(())
    }

    fn cast(&mut self, operand: usize, ty: usize, out: &mut Pieces) {
        let op = self.pool.op("builtin", "unrealized_conversion_cast");
        let (results, operands) = (smallvec![ty], smallvec![operand]);
        let head = Head { op, location: None, attributes: None, properties: None, results, operands };
        self.head(head, 0, out);
    }

    /// The attributes of an operation of another dialect: those of its row as properties, the others as a dictionary.
    fn foreign_attributes(&mut self, op: &Op) -> Result<(Option<usize>, Option<usize>)> {
        let Some(spec) = op.spec() else {
            return Err(self.refuse(format!("'{}', an operation that is not known", op.name)));
        };
        let mut rows: Vec<_> = spec.attributes.iter().collect();
        rows.sort_by_key(|row| row.name);
        let mut pieces = Pieces::default();
        for row in &rows {
            let id = match op.attributes.get(row.name) {
                Some(value) => Some(self.pool.builtin(value).map_err(|what| self.refuse(what))?),
                None => None,
            };
            match (id, row.absent) {
                (Some(id), Absent::Required) => pieces.push(Piece::Attribute(id)),
                (Some(id), _) => pieces.push(Piece::Optional(id)),
                (None, Absent::Required) => {
                    return Err(self.refuse(format!("'{}' without '{}'", op.name, row.name)));
                }
                (None, _) => pieces.varint(0),
            }
        }
        let properties = (!rows.is_empty()).then(|| self.pool.property(pieces));
        let others = op.attributes.iter().filter(|(name, _)| spec.attribute(name).is_none());
        let others: Attributes = others.map(|(n, v)| (Cow::Owned(n.to_string()), v.clone())).collect();
        if others.is_empty() {
            return Ok((None, properties));
        }
        let id = self.pool.dictionary(&others, Dialect::Builtin);
        Ok((Some(id.map_err(|what| self.refuse(format!("{what}, of '{}'", op.name)))?), properties))
    }
}

/// Whether an operation is written with casts around it.
fn is_foreign(op: &Op) -> bool {
    !op.name.starts_with("stablehlo.") && !matches!(op.name.as_ref(), "func.call" | "func.return")
}

/// How many values an operation defines in the artifact.
fn defined(op: &Op) -> usize {
    match is_foreign(op) {
        true => op.operands.len() + 2 * op.results.len(),
        false => op.results.len(),
    }
}

/// How many operations these are in the artifact.
fn operations(ops: &[Op]) -> usize {
    let count = |op: &Op| if is_foreign(op) { 1 + op.operands.len() + op.results.len() } else { 1 };
    ops.iter().map(count).sum()
}
