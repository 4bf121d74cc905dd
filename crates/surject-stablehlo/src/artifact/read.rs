//! The operations of an artifact, and the module that they make.

use std::borrow::Cow;
use std::sync::Arc;

use super::bytes::{Bytes, Result, malformed};
use super::container::{Container, OpName, since};
use super::decode::{Decoder, Reference};
use super::legalise::to_stablehlo;
use super::vhlo;
use crate::attr::{Attribute, Attributes};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, Values, Visibility};
use crate::normalise::normalise;
use crate::parse::MAX_NESTING;
use crate::table::{Absent, OpSpec};
use crate::types::Type;

/// Which parts an operation has.
mod part {
    pub const ATTRIBUTES: u8 = 1;
    pub const RESULTS: u8 = 2;
    pub const OPERANDS: u8 = 4;
    pub const SUCCESSORS: u8 = 8;
    pub const REGIONS: u8 = 16;
    pub const USE_LISTS: u8 = 32;
    pub const PROPERTIES: u8 = 64;
}

/// Reads the module in the bytes `start..end` of a file.
pub(super) fn read(file: &[u8], start: usize, end: usize) -> Result<Module> {
    let container = Container::open(file, start, end)?;
    let kinds = container.ops.iter().map(Kind::of).collect();
    let mut reader = Reader {
        decoder: Decoder::new(&container, end - start),
        kinds,
        module: Module::default(),
        depth: 0,
        seen_module: false,
    };
    let mut ir = container.ir;
    let (ops, arguments) = ir.flagged("the number of operations")?;
    if arguments {
        return Err(ir.error("a file with arguments"));
    }
    let mut scope = Scope::default();
    for _ in 0..ir.checked(ops, 3, "operations")? {
        reader.top_level(&mut ir, &mut scope)?;
    }
    if !reader.seen_module {
        return Err(ir.error("a file without a module"));
    }
    Ok(reader.module)
}

/// What the name of an operation says.
#[derive(Clone)]
struct Kind<'b> {
    dialect: &'b str,
    name: &'b str,
    /// The row of VHLO.
    vhlo: Option<&'static vhlo::VhloOp>,
    /// The row of the table of operations of other dialects.
    spec: Option<&'static OpSpec>,
}

impl<'b> Kind<'b> {
    fn of(op: &OpName<'b>) -> Kind<'b> {
        let vhlo = (op.dialect == "vhlo").then(|| vhlo::lookup(op.name)).flatten();
        let spec = crate::table::lookup(&format!("{}.{}", op.dialect, op.name));
        Kind { dialect: op.dialect, name: op.name, vhlo, spec }
    }

    fn is(&self, dialect: &str, name: &str) -> bool {
        self.dialect == dialect && self.name == name
    }

    fn full(&self) -> String {
        format!("{}.{}", self.dialect, self.name)
    }
}

/// The values that operations can refer to by number. A region's come behind those of the regions around it.
#[derive(Default)]
struct Scope {
    values: Vec<Option<ValueId>>,
    /// The number of the next value that the innermost region defines.
    next: usize,
}

impl Scope {
    fn define(&mut self, value: ValueId, at: &Bytes<'_>) -> Result<()> {
        match self.values.get_mut(self.next) {
            Some(slot) => {
                *slot = Some(value);
                self.next += 1;
                Ok(())
            }
            None => Err(at.error("more values than the region has")),
        }
    }
}

/// An operation before it is known what it is.
struct RawOp {
    start: usize,
    kind: usize,
    attributes: Vec<(Cow<'static, str>, Attribute)>,
    results: Vec<Type>,
    operands: Values,
    location: Option<Arc<str>>,
    /// How many regions follow, and whether they are isolated from the values around them.
    regions: (usize, bool),
}

struct Reader<'b> {
    decoder: Decoder<'b>,
    kinds: Vec<Kind<'b>>,
    module: Module,
    depth: usize,
    seen_module: bool,
}

impl<'b> Reader<'b> {
    /// The module, which is the only operation of a file.
    fn top_level(&mut self, bytes: &mut Bytes<'b>, scope: &mut Scope) -> Result<()> {
        let mut raw = self.op_head(bytes, scope)?;
        let kind = &self.kinds[raw.kind];
        if !kind.is("builtin", "module") || self.seen_module {
            return Err(malformed(raw.start, format!("'{}' outside the module", kind.full())));
        }
        self.seen_module = true;
        if let Some(name) = take(&mut raw.attributes, "sym_name") {
            self.module.name = name.as_str().map(str::to_string);
        }
        self.module.attributes = dictionary(raw.attributes, raw.start)?;
        self.regions(bytes, scope, raw.regions, |reader, bytes, scope, _| {
            let blocks = reader.region_head(bytes, scope)?;
            for _ in 0..blocks {
                let (ops, arguments) = bytes.flagged("the number of operations")?;
                if arguments {
                    return Err(bytes.error("a module with arguments"));
                }
                for _ in 0..bytes.checked(ops, 3, "operations")? {
                    reader.symbol(bytes, scope)?;
                }
            }
            Ok(())
        })
    }

    /// A function, or another operation of the module.
    fn symbol(&mut self, bytes: &mut Bytes<'b>, scope: &mut Scope) -> Result<()> {
        let raw = self.op_head(bytes, scope)?;
        if self.kinds[raw.kind].is("vhlo", "func_v1") || self.kinds[raw.kind].is("func", "func") {
            let function = self.function(raw, bytes, scope)?;
            if self.module.function(&function.name).is_some() {
                let message = format!("the function '@{}' is already defined", function.name);
                return Err(Diagnostic::new(codes::REDEFINED, function.span, message));
            }
            self.module.functions.push(function);
            return Ok(());
        }
        if let Some(op) = self.op(raw, bytes, scope, false)? {
            self.module.other.push(op);
        }
        Ok(())
    }

    fn function(&mut self, mut raw: RawOp, bytes: &mut Bytes<'b>, scope: &mut Scope) -> Result<Function> {
        let start = raw.start;
        let lacks = |name: &str| malformed(start, format!("a function without its attribute '{name}'"));
        let name = match take(&mut raw.attributes, "sym_name") {
            Some(Attribute::String(name)) => name,
            _ => return Err(lacks("sym_name")),
        };
        let Some(Attribute::Type(Type::Function(ty))) = take(&mut raw.attributes, "function_type") else {
            return Err(lacks("function_type"));
        };
        let explicit = take(&mut raw.attributes, "sym_visibility");
        let visibility = match explicit.as_ref().and_then(Attribute::as_str) {
            Some("private") => Visibility::Private,
            Some("nested") => Visibility::Nested,
            _ => Visibility::Public,
        };
        let explicit_public = explicit.as_ref().and_then(Attribute::as_str) == Some("public");
        let mut arguments = dictionaries(take(&mut raw.attributes, "arg_attrs"), start)?;
        let mut results = dictionaries(take(&mut raw.attributes, "res_attrs"), start)?;
        let mut body = Region::default();
        let mut blocks = 0;
        if raw.regions.0 != 1 {
            return Err(malformed(start, format!("a function with {} regions", raw.regions.0)));
        }
        self.regions(bytes, scope, raw.regions, |reader, bytes, scope, _| {
            (body, blocks) = reader.region(bytes, scope, true)?;
            Ok(())
        })?;
        let types: Vec<&Type> = body.params.iter().map(|p| &p.1).collect();
        if blocks > 0 && types != ty.inputs.iter().collect::<Vec<_>>() {
            let message = format!("the arguments of the body of '@{name}' are not those of its type");
            return Err(malformed(start, message).expected(ty.to_string()));
        }
        let mut params = Vec::with_capacity(ty.inputs.len());
        for (i, ty) in ty.inputs.iter().cloned().enumerate() {
            let value = match body.params.get(i) {
                Some((value, _)) => *value,
                None => self.value(ty.clone()),
            };
            let attributes = arguments.get_mut(i).map(std::mem::take).unwrap_or_default();
            params.push(Param { value, ty, attributes });
        }
        body.params = params.iter().map(|p| (p.value, p.ty.clone())).collect();
        let results = ty.results.iter().cloned().enumerate().map(|(i, ty)| ResultDecl {
            ty,
            attributes: results.get_mut(i).map(std::mem::take).unwrap_or_default(),
        });
        Ok(Function {
            name,
            visibility,
            explicit_public,
            params,
            results: results.collect(),
            attributes: dictionary(raw.attributes, start)?,
            body,
            span: Span::new(start, start + 1),
            location: raw.location,
        })
    }

    /// Everything of an operation in front of its regions.
    fn op_head(&mut self, bytes: &mut Bytes<'b>, scope: &Scope) -> Result<RawOp> {
        let start = bytes.offset();
        let index = bytes.varint("the name of an operation")?;
        let count = self.kinds.len();
        let kind = usize::try_from(index).ok().filter(|i| *i < count);
        let kind = kind.ok_or_else(|| malformed(start, format!("operation {index} of {count}")))?;
        let parts = bytes.byte("the parts of an operation")?;
        let location = self.decoder.location(Reference::read(bytes, "a location")?)?;
        let mut attributes = Vec::new();
        if parts & part::ATTRIBUTES != 0 {
            let reference = Reference::read(bytes, "attributes")?;
            match self.decoder.attribute(reference)? {
                Attribute::Dict(entries) => attributes.extend(entries.into_entries()),
                other => {
                    return Err(malformed(reference.at, format!("attributes that are {}", other.describe())));
                }
            }
        }
        if parts & part::PROPERTIES != 0 {
            self.properties(bytes, kind, start, &mut attributes)?;
        }
        let results = match parts & part::RESULTS != 0 {
            true => self.decoder.types(bytes)?,
            false => Vec::new(),
        };
        let mut operands = Values::new();
        if parts & part::OPERANDS != 0 {
            for _ in 0..bytes.count(1, "operands")? {
                let at = bytes.offset();
                let index = bytes.varint("an operand")?;
                let value = usize::try_from(index).ok().and_then(|i| scope.values.get(i).copied().flatten());
                operands.push(value.ok_or_else(|| {
                    malformed(at, format!("operand {index} is not defined before it is used"))
                })?);
            }
        }
        if parts & part::SUCCESSORS != 0 {
            let span = Span::new(start, bytes.offset());
            let message = format!("'{}' goes to another block", self.kinds[kind].full());
            return Err(Diagnostic::new(codes::UNSUPPORTED, span, message)
                .help("programs of StableHLO have regions of one block"));
        }
        if parts & part::USE_LISTS != 0 {
            use_lists(bytes, results.len())?;
        }
        let regions = match parts & part::REGIONS != 0 {
            true => {
                let (count, isolated) = bytes.flagged("the number of regions")?;
                (bytes.checked(count, 1, "regions")?, isolated)
            }
            false => (0, false),
        };
        Ok(RawOp { start, kind, attributes, results, operands, location, regions })
    }

    /// The attributes that belong to an operation, in the order of their names.
    fn properties(
        &mut self,
        bytes: &mut Bytes<'b>,
        kind: usize,
        start: usize,
        into: &mut Vec<(Cow<'static, str>, Attribute)>,
    ) -> Result<()> {
        let at = bytes.offset();
        let index = bytes.varint("properties")?;
        let found = usize::try_from(index).ok().and_then(|i| self.decoder.container.properties.get(i));
        let mut bytes = *found.ok_or_else(|| malformed(at, format!("properties {index}")))?;
        let kind = &self.kinds[kind];
        if let Some(row) = kind.vhlo {
            for name in row.attributes {
                let value = self.decoder.attribute(Reference::read(&mut bytes, "an attribute")?)?;
                into.push((Cow::Borrowed(name), value));
            }
        } else if kind.is("builtin", "module") {
            for name in ["sym_name", "sym_visibility"] {
                if let Some(reference) = Reference::optional(&mut bytes, "an attribute")? {
                    into.push((Cow::Borrowed(name), self.decoder.attribute(reference)?));
                }
            }
        } else if let Some(spec) = kind.spec {
            let mut attributes: Vec<_> = spec.attributes.iter().collect();
            attributes.sort_by_key(|a| a.name);
            for attribute in attributes {
                let reference = match attribute.absent {
                    Absent::Required => Some(Reference::read(&mut bytes, "an attribute")?),
                    _ => Reference::optional(&mut bytes, "an attribute")?,
                };
                if let Some(reference) = reference {
                    into.push((Cow::Borrowed(attribute.name), self.decoder.attribute(reference)?));
                }
            }
        } else {
            return Err(unknown_op(kind, start));
        }
        match bytes.left() {
            0 => Ok(()),
            left => Err(bytes.error(format!("{left} bytes behind the properties of '{}'", kind.full()))),
        }
    }

    /// Reads the regions of an operation with what reads one of them.
    fn regions(
        &mut self,
        bytes: &mut Bytes<'b>,
        scope: &mut Scope,
        (count, isolated): (usize, bool),
        mut read: impl FnMut(&mut Self, &mut Bytes<'b>, &mut Scope, usize) -> Result<()>,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let span = Span::new(bytes.offset(), bytes.offset() + 1);
            return Err(Diagnostic::new(
                codes::NESTING,
                span,
                format!("nested more than {MAX_NESTING} levels deep"),
            )
            .help("programs nest a few levels; is this file what it should be?"));
        }
        let mut section = None;
        if isolated && self.decoder.container.version >= since::ISOLATED_SECTIONS {
            let at = bytes.offset();
            let (number, body) = bytes.section()?;
            if number != super::container::section::IR {
                return Err(malformed(at, format!("section {number} where operations are")));
            }
            section = Some(body);
        }
        let mut own = Scope::default();
        let scope = if isolated { &mut own } else { scope };
        for i in 0..count {
            let (values, next) = (scope.values.len(), scope.next);
            read(self, section.as_mut().unwrap_or(bytes), scope, i)?;
            scope.values.truncate(values);
            scope.next = next;
        }
        if let Some(section) = section.filter(|s| !s.is_empty()) {
            return Err(section.error(format!("{} bytes behind a region", section.left())));
        }
        self.depth -= 1;
        Ok(())
    }

    /// The number of blocks of a region, after room is made for its values.
    fn region_head(&mut self, bytes: &mut Bytes<'b>, scope: &mut Scope) -> Result<usize> {
        let start = *bytes;
        let blocks = bytes.count(1, "blocks")?;
        if blocks == 0 {
            return Ok(0);
        }
        if blocks > 1 {
            let span = Span::new(start.offset(), bytes.offset());
            return Err(Diagnostic::new(codes::UNSUPPORTED, span, format!("a region of {blocks} blocks"))
                .help("programs of StableHLO have regions of one block"));
        }
        let values = bytes.count(1, "values")?;
        scope.next = scope.values.len();
        scope.values.resize(scope.next + values, None);
        Ok(blocks)
    }

    /// A region, and how many blocks it has.
    fn region(
        &mut self,
        bytes: &mut Bytes<'b>,
        scope: &mut Scope,
        function: bool,
    ) -> Result<(Region, usize)> {
        let blocks = self.region_head(bytes, scope)?;
        let mut region = Region::default();
        if blocks == 0 {
            return Ok((region, 0));
        }
        let (ops, arguments) = bytes.flagged("the number of operations")?;
        if arguments {
            self.arguments(bytes, scope, &mut region)?;
        }
        for _ in 0..bytes.checked(ops, 3, "operations")? {
            let raw = self.op_head(bytes, scope)?;
            if let Some(op) = self.op(raw, bytes, scope, function)? {
                region.push(op)?;
            }
        }
        Ok((region, blocks))
    }

    fn arguments(&mut self, bytes: &mut Bytes<'b>, scope: &mut Scope, region: &mut Region) -> Result<()> {
        let version = self.decoder.container.version;
        let count = bytes.count(1, "arguments")?;
        for _ in 0..count {
            let at = bytes.offset();
            let located;
            let index;
            if version >= since::ARGUMENT_LOCATION_FLAG {
                (index, located) = bytes.flagged("the type of an argument")?;
            } else {
                (index, located) = (bytes.varint("the type of an argument")?, true);
            }
            let ty = self.decoder.ty(Reference { index, at })?;
            if located {
                bytes.varint("the location of an argument")?;
            }
            let value = self.value(ty.clone());
            scope.define(value, bytes)?;
            region.params.push((value, ty));
        }
        if version >= since::USE_LISTS && bytes.byte("a flag")? != 0 {
            use_lists(bytes, count)?;
        }
        Ok(())
    }

    /// An operation in a region; none for a cast between the types of two dialects, which are one type here.
    fn op(
        &mut self,
        raw: RawOp,
        bytes: &mut Bytes<'b>,
        scope: &mut Scope,
        function: bool,
    ) -> Result<Option<Op>> {
        let kind = self.kinds[raw.kind].clone();
        if kind.is("builtin", "unrealized_conversion_cast") && raw.results.len() == raw.operands.len() {
            for (operand, ty) in raw.operands.iter().zip(&raw.results) {
                if self.module.ty(*operand) != ty {
                    return Err(malformed(
                        raw.start,
                        format!("a cast of {} to {ty}", self.module.ty(*operand)),
                    ));
                }
                scope.define(*operand, bytes)?;
            }
            return Ok(None);
        }
        let mut attributes = raw.attributes;
        let name = match kind.dialect {
            "vhlo" => {
                let row = kind.vhlo.ok_or_else(|| unknown_op(&kind, raw.start))?;
                to_stablehlo(row, &mut attributes, function, raw.start)?
            }
            _ => match kind.spec {
                Some(spec) => Cow::Borrowed(spec.name),
                None => Cow::Owned(kind.full()),
            },
        };
        let mut op = Op::new(name);
        op.operands = raw.operands;
        op.location = raw.location;
        op.attributes = dictionary(attributes, raw.start)?;
        op.results = raw.results.into_iter().map(|ty| self.value(ty)).collect();
        for result in &op.results {
            scope.define(*result, bytes)?;
        }
        let mut regions = Vec::with_capacity(raw.regions.0);
        self.regions(bytes, scope, raw.regions, |reader, bytes, scope, _| {
            regions.push(reader.region(bytes, scope, false)?.0);
            Ok(())
        })?;
        op.regions = regions;
        op.span = Span::new(raw.start, bytes.offset());
        let first = op.operands.first().map(|v| self.module.ty(*v));
        normalise(&mut op, first)?;
        Ok(Some(op))
    }

    fn value(&mut self, ty: Type) -> ValueId {
        self.module.new_value(ty, "")
    }
}

/// An operation that no version known here has.
fn unknown_op(kind: &Kind<'_>, start: usize) -> Diagnostic {
    Diagnostic::new(
        codes::UNKNOWN_OP,
        Span::new(start, start + 1),
        format!("unknown operation '{}'", kind.full()),
    )
    .help("a newer version of StableHLO may have it; write the artifact for an older one")
}

/// Orders of uses, which say nothing about the program.
fn use_lists(bytes: &mut Bytes<'_>, values: usize) -> Result<()> {
    let count = if values > 1 { bytes.count(1, "orders of uses")? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            bytes.varint("the number of a value")?;
        }
        let (length, _) = bytes.flagged("the length of an order of uses")?;
        for _ in 0..bytes.checked(length, 1, "uses")? {
            bytes.varint("a use")?;
        }
    }
    Ok(())
}

/// Removes an attribute from a list.
pub(super) fn take(attributes: &mut Vec<(Cow<'static, str>, Attribute)>, name: &str) -> Option<Attribute> {
    let at = attributes.iter().position(|(n, _)| n == name)?;
    Some(attributes.remove(at).1)
}

fn dictionary(entries: Vec<(Cow<'static, str>, Attribute)>, at: usize) -> Result<Attributes> {
    Attributes::from_entries(entries)
        .map_err(|name| malformed(at, format!("attribute '{name}' is given twice")))
}

/// The attributes of arguments or results.
fn dictionaries(attribute: Option<Attribute>, at: usize) -> Result<Vec<Attributes>> {
    let items = match attribute {
        None => return Ok(Vec::new()),
        Some(Attribute::Array(items)) => items,
        Some(other) => return Err(malformed(at, format!("attributes that are {}", other.describe()))),
    };
    let dictionary = |item| match item {
        Attribute::Dict(entries) => Ok(entries),
        other => Err(malformed(at, format!("attributes that are {}", Attribute::describe(&other)))),
    };
    items.into_iter().map(dictionary).collect()
}
