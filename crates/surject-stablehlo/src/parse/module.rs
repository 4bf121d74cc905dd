//! The grammar of a file: a module or a list of functions, with aliases and resources around them.

use super::Parser;
use super::cursor::Result;
use crate::attr::{Attribute, Attributes};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Function, Param, Region, ResultDecl, Visibility};
use crate::types::Type;

impl<'s> Parser<'s> {
    /// The whole source.
    pub(super) fn module(&mut self) -> Result<()> {
        let mut seen_module = false;
        loop {
            match self.c.peek() {
                0 if self.c.at_end() => break,
                b'#' | b'!' => self.skip_alias_definition()?,
                b'{' if self.c.looking_at("{-#") => self.skip_resources()?,
                _ if self.at_module() => {
                    if std::mem::replace(&mut seen_module, true) || !self.module.functions.is_empty() {
                        return Err(self.c.unexpected("the end of the file: one module a file"));
                    }
                    self.module_op()?;
                }
                _ if seen_module => return Err(self.c.unexpected("the end of the file")),
                _ => self.symbol_or_recover()?,
            }
        }
        if !seen_module && self.module.functions.is_empty() && self.module.other.is_empty() {
            let span = Span::new(0, 0);
            return Err(Diagnostic::new(codes::TRUNCATED, span, "the file holds no program")
                .expected("'module { … }' or 'func.func @main(…) { … }'"));
        }
        Ok(())
    }

    /// A function or another operation at module level; after a mistake the next one.
    fn symbol_or_recover(&mut self) -> Result<()> {
        let mark = self.mark();
        match self.symbol_op() {
            Ok(()) => Ok(()),
            Err(error) => {
                if let Some(recovery) = &mut self.recovery {
                    recovery.lost_symbol = true;
                }
                self.recover(&mark, error)
            }
        }
    }

    fn at_module(&mut self) -> bool {
        matches!(self.c.peek_word(), "module" | "builtin.module") || self.c.looking_at("\"builtin.module\"")
    }

    /// `module @name attributes {…} { … }` or `"builtin.module"() <{…}> ({ … }) {…} : () -> ()`
    fn module_op(&mut self) -> Result<()> {
        if self.c.byte() == b'"' {
            self.c.raw_string()?;
            return self.generic_module();
        }
        self.c.word("'module'")?;
        if self.c.peek() == b'@' {
            self.module.name = Some(self.c.symbol()?);
        }
        if self.c.eat_word("attributes") {
            self.module.attributes = self.dictionary()?;
        }
        self.c.expect("{")?;
        while !self.c.eat("}") {
            self.symbol_or_recover()?;
        }
        self.location()?;
        Ok(())
    }

    fn generic_module(&mut self) -> Result<()> {
        self.c.expect("(")?;
        self.c.expect(")")?;
        let mut attributes = self.properties()?;
        self.c.expect("(")?;
        self.c.expect("{")?;
        if self.c.peek() == b'^' {
            self.c.pos += 1;
            self.c.suffix("the name of a block")?;
            self.c.expect(":")?;
        }
        while !self.c.eat("}") {
            self.symbol_or_recover()?;
        }
        self.c.expect(")")?;
        self.trailing_dictionary(&mut attributes)?;
        self.c.expect(":")?;
        self.function_type()?;
        self.location()?;
        if let Some(Attribute::String(name)) = attributes.remove("sym_name") {
            self.module.name = Some(name);
        }
        self.module.attributes = attributes;
        Ok(())
    }

    /// `<{…}>`, if it is next.
    fn properties(&mut self) -> Result<Attributes> {
        if !self.c.eat("<") {
            return Ok(Attributes::new());
        }
        let attributes = self.dictionary()?;
        self.c.expect(">")?;
        Ok(attributes)
    }

    fn trailing_dictionary(&mut self, into: &mut Attributes) -> Result<()> {
        if self.c.peek() == b'{' {
            let span = Span::new(self.c.pos, self.c.pos + 1);
            let more = self.dictionary()?;
            crate::normalise::merge(into, more, span)?;
        }
        Ok(())
    }

    /// A function or another operation at module level.
    fn symbol_op(&mut self) -> Result<()> {
        let generic = self.c.looking_at("\"func.func\"");
        if generic || matches!(self.c.peek_word(), "func.func" | "func") {
            let before = self.recovery.as_ref().map(|r| r.skipped);
            let function = if generic { self.generic_function()? } else { self.function()? };
            if let Some(recovery) = &mut self.recovery
                && Some(recovery.skipped) != before
            {
                recovery.broken.insert(function.name.clone());
            }
            if !self.symbols.insert(function.name.clone()) {
                let message = format!("the function '@{}' is already defined", function.name);
                return Err(Diagnostic::new(codes::REDEFINED, function.span, message));
            }
            self.module.functions.push(function);
            return Ok(());
        }
        if self.at_module() {
            let span = Span::new(self.c.pos, self.c.pos + 6);
            return Err(Diagnostic::new(codes::UNSUPPORTED, span, "a module inside a module")
                .help("move its functions into the outer module"));
        }
        if !self.c.at_end() && self.c.peek() != b'"' && self.c.byte() != b'%' && self.c.peek_word().is_empty()
        {
            return Err(self.c.unexpected("'module' or 'func.func'"));
        }
        let op = self.op()?;
        self.module.other.push(op);
        Ok(())
    }

    /// `func.func public @name(%a: T {…}) -> (U {…}) attributes {…} { … }`
    fn function(&mut self) -> Result<Function> {
        self.c.word("'func.func'")?;
        let visibility = self.c.peek_word();
        if matches!(visibility, "public" | "private" | "nested") {
            self.c.pos += visibility.len();
        }
        self.c.ws();
        let start = self.c.pos;
        let name = self.c.symbol()?;
        let span = Span::new(start, self.c.pos);
        let scope = self.names.scope();
        let params = self.params()?;
        let results = if self.c.eat("->") { self.result_decls()? } else { Vec::new() };
        let attributes = if self.c.eat_word("attributes") { self.dictionary()? } else { Attributes::new() };
        let mut body = if self.c.peek() == b'{' && !self.c.looking_at("{-#") {
            self.region(false, Vec::new())?
        } else {
            Region::default()
        };
        self.names.close(scope);
        let location = self.location()?;
        body.params = params.iter().map(|p| (p.value, p.ty.clone())).collect();
        Ok(Function {
            name,
            visibility: match visibility {
                "private" => Visibility::Private,
                "nested" => Visibility::Nested,
                _ => Visibility::Public,
            },
            explicit_public: visibility == "public",
            params,
            results,
            attributes,
            body,
            span,
            location,
        })
    }

    /// `(%a: T {…} loc(…), …)`, or only types for a declaration.
    fn params(&mut self) -> Result<Vec<Param>> {
        let mut params = Vec::new();
        self.c.expect("(")?;
        if self.c.eat(")") {
            return Ok(params);
        }
        loop {
            let value;
            let ty;
            if self.c.peek() == b'%' {
                let (name, named, span) = self.named_type()?;
                value = self.module.new_value(named.clone(), name);
                self.define(name, value, 1, span)?;
                ty = named;
            } else {
                ty = self.ty()?;
                value = self.module.new_value(ty.clone(), "");
            }
            let attributes = if self.c.peek() == b'{' { self.dictionary()? } else { Attributes::new() };
            self.location()?;
            params.push(Param { value, ty, attributes });
            if !self.c.eat(",") {
                break;
            }
        }
        if !self.c.eat(")") {
            return Err(self.c.unexpected("',' or ')'"));
        }
        Ok(params)
    }

    /// `T`, or `(T {…}, U)`
    fn result_decls(&mut self) -> Result<Vec<ResultDecl>> {
        if self.c.peek() != b'(' {
            return Ok(vec![ResultDecl { ty: self.ty()?, attributes: Attributes::new() }]);
        }
        let mut results = Vec::new();
        self.c.expect("(")?;
        if self.c.eat(")") {
            return Ok(results);
        }
        loop {
            let ty = self.ty()?;
            let attributes = if self.c.peek() == b'{' { self.dictionary()? } else { Attributes::new() };
            self.location()?;
            results.push(ResultDecl { ty, attributes });
            if !self.c.eat(",") {
                break;
            }
        }
        if !self.c.eat(")") {
            return Err(self.c.unexpected("',' or ')'"));
        }
        Ok(results)
    }

    /// `"func.func"() <{function_type = …, sym_name = …}> ({ ^bb0(…): … }) : () -> ()`
    fn generic_function(&mut self) -> Result<Function> {
        let start = self.c.pos;
        self.c.raw_string()?;
        let span = Span::new(start, self.c.pos);
        self.c.expect("(")?;
        self.c.expect(")")?;
        let mut attributes = self.properties()?;
        self.c.expect("(")?;
        let body = self.region(true, Vec::new())?;
        self.c.expect(")")?;
        self.trailing_dictionary(&mut attributes)?;
        self.c.expect(":")?;
        self.function_type()?;
        let location = self.location()?;
        let lacks = |name: &str| {
            Diagnostic::new(codes::ATTRIBUTE, span, format!("'func.func' lacks its attribute '{name}'"))
        };
        let Some(Attribute::String(name)) = attributes.remove("sym_name") else {
            return Err(lacks("sym_name"));
        };
        let Some(Attribute::Type(Type::Function(ty))) = attributes.remove("function_type") else {
            return Err(lacks("function_type"));
        };
        let inputs: Vec<&Type> = body.params.iter().map(|p| &p.1).collect();
        if !body.ops.is_empty() && inputs != ty.inputs.iter().collect::<Vec<_>>() {
            let message = format!("the arguments of the body of '@{name}' are not those of its type");
            return Err(Diagnostic::new(codes::SIGNATURE, span, message).expected(ty.to_string()));
        }
        let explicit = attributes.remove("sym_visibility");
        let visibility = match explicit.as_ref().and_then(Attribute::as_str) {
            Some("private") => Visibility::Private,
            Some("nested") => Visibility::Nested,
            _ => Visibility::Public,
        };
        let mut arg_attributes = dictionaries(attributes.remove("arg_attrs"));
        let mut result_attributes = dictionaries(attributes.remove("res_attrs"));
        let mut params: Vec<Param> = Vec::new();
        for (i, ty) in ty.inputs.iter().enumerate() {
            let value = match body.params.get(i) {
                Some((value, _)) => *value,
                None => self.module.new_value(ty.clone(), ""),
            };
            let attributes = arg_attributes.get_mut(i).map(std::mem::take).unwrap_or_default();
            params.push(Param { value, ty: ty.clone(), attributes });
        }
        let results = ty.results.iter().enumerate();
        let results = results
            .map(|(i, ty)| ResultDecl {
                ty: ty.clone(),
                attributes: result_attributes.get_mut(i).map(std::mem::take).unwrap_or_default(),
            })
            .collect();
        let body = Region { params: params.iter().map(|p| (p.value, p.ty.clone())).collect(), ops: body.ops };
        let explicit_public = explicit.is_some() && visibility == Visibility::Public;
        Ok(Function { name, visibility, explicit_public, params, results, attributes, body, span, location })
    }

    /// An alias definition was (or will be) found by the scan for aliases; here it is only passed over.
    fn skip_alias_definition(&mut self) -> Result<()> {
        let sigil = self.c.byte();
        self.c.pos += 1;
        self.c.suffix("the name of an alias")?;
        self.c.expect("=")?;
        self.c.ws();
        if sigil == b'!' {
            self.ty()?;
        } else if self.c.peek_word() == "loc" {
            self.location()?;
        } else {
            self.attribute()?;
        }
        Ok(())
    }

    /// Resources are read when one is asked for.
    fn skip_resources(&mut self) -> Result<()> {
        self.c.pos += "{-#".len();
        loop {
            match self.c.peek() {
                b'#' if self.c.looking_at("#-}") => break self.c.pos += "#-}".len(),
                b'"' => {
                    self.c.raw_string()?;
                }
                0 if self.c.at_end() => return Err(self.c.unexpected("'#-}' to close the resources")),
                _ => {
                    self.c.pos +=
                        self.c.slice(self.c.pos, self.c.text().len()).chars().next().map_or(1, char::len_utf8)
                }
            }
        }
        Ok(())
    }
}

fn dictionaries(attribute: Option<Attribute>) -> Vec<Attributes> {
    let Some(Attribute::Array(items)) = attribute else { return Vec::new() };
    let dictionary = |item| match item {
        Attribute::Dict(entries) => entries,
        _ => Attributes::new(),
    };
    items.into_iter().map(dictionary).collect()
}
