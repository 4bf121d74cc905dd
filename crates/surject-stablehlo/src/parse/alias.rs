//! Aliases (`#map = …`, `!t = …`) and resources, which may be defined after their use.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use super::Parser;
use super::cursor::Result;
use crate::attr::Attribute;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::types::Type;

/// Definitions found by one scan of the lines of the source, made when the first alias is met.
#[derive(Default)]
pub(super) struct Aliases<'s> {
    scanned: bool,
    /// Offset of the value of each definition, by name with its sigil.
    places: HashMap<&'s str, usize, FxBuildHasher>,
    attributes: HashMap<&'s str, (Attribute, usize)>,
    types: HashMap<&'s str, (Type, usize)>,
    /// Locations by the text in their brackets.
    locations: HashMap<&'s str, Option<Arc<str>>, FxBuildHasher>,
    resources: Option<HashMap<String, &'s str>>,
    /// Nodes that came from aliases so far.
    expanded: usize,
    /// Names that are being expanded.
    active: Vec<&'s str>,
}

/// Aliases of aliases can grow exponentially; this many bytes of text, or as many as the source has,
/// are expanded at most.
const MAX_EXPANSION: usize = 1 << 20;

impl Aliases<'_> {
    /// Forgets what was being expanded when a mistake was found.
    pub(super) fn forget_active(&mut self) {
        self.active.clear();
    }
}

impl<'s> Parser<'s> {
    /// The attribute that `#name` stands for; names are given with their sigil.
    pub(super) fn attribute_alias(&mut self, name: &'s str, span: Span) -> Result<Attribute> {
        if let Some((attribute, size)) = self.aliases.attributes.get(name) {
            let (attribute, size) = (attribute.clone(), *size);
            self.expand(size, span)?;
            return Ok(attribute);
        }
        let (attribute, size) = self.at_definition(name, span, |p| p.attribute())?;
        self.aliases.attributes.insert(name, (attribute.clone(), size));
        Ok(attribute)
    }

    /// The type that `!name` stands for.
    pub(super) fn type_alias(&mut self, name: &'s str, span: Span) -> Result<Type> {
        if let Some((ty, size)) = self.aliases.types.get(name) {
            let (ty, size) = (ty.clone(), *size);
            self.expand(size, span)?;
            return Ok(ty);
        }
        let (ty, size) = self.at_definition(name, span, |p| p.ty())?;
        self.aliases.types.insert(name, (ty.clone(), size));
        Ok(ty)
    }

    /// The text of the attribute that `#name` stands for.
    pub(super) fn alias_text(&mut self, name: &'s str, span: Span) -> Result<&'s str> {
        self.at_definition(name, span, |p| {
            p.c.ws();
            let start = p.c.pos;
            p.attribute()?;
            Ok(p.c.slice(start, p.c.pos))
        })
        .map(|(text, _)| text)
    }

    /// The text of a location, `#loc7` replaced by its definition where there is one; none for one that says nothing.
    pub(super) fn location_text(&mut self, text: &'s str) -> Option<Arc<str>> {
        if let Some(known) = self.aliases.locations.get(text) {
            return known.clone();
        }
        let trimmed = text.trim();
        let said = match trimmed.starts_with('#') {
            true => self.resolved_location(trimmed),
            false => trimmed,
        };
        let said = (said.trim() != "unknown").then(|| Arc::from(said));
        self.aliases.locations.insert(text, said.clone());
        said
    }

    fn resolved_location(&mut self, text: &'s str) -> &'s str {
        self.scan();
        match self.aliases.places.get(text) {
            Some(place) => {
                let saved = std::mem::replace(&mut self.c.pos, *place);
                let body = if self.c.eat_word("loc") && self.c.byte() == b'(' {
                    self.c.balanced().ok()
                } else {
                    None
                };
                self.c.pos = saved;
                body.map_or(text, |b| &b[1..b.len() - 1])
            }
            None => text,
        }
    }

    /// Reads something at the definition of an alias; with the size of its text, nested aliases counted in full.
    fn at_definition<T>(
        &mut self,
        name: &'s str,
        span: Span,
        read: impl FnOnce(&mut Parser<'s>) -> Result<T>,
    ) -> Result<(T, usize)> {
        self.scan();
        let unknown = |message: String| Diagnostic::new(codes::UNKNOWN_NAME, span, message);
        let Some(place) = self.aliases.places.get(name).copied() else {
            return Err(unknown(format!("the alias '{name}' is not defined"))
                .help(format!("define it on a line of its own, '{name} = …', before or after the module")));
        };
        if self.aliases.active.contains(&name) {
            return Err(unknown(format!("the alias '{name}' is defined by itself")));
        }
        let before = self.aliases.expanded;
        let saved = std::mem::replace(&mut self.c.pos, place);
        self.aliases.active.push(name);
        self.enter()?;
        let value = read(self)?;
        self.leave();
        self.aliases.active.pop();
        let length = self.c.pos - place;
        self.c.pos = saved;
        self.expand(length, span)?;
        Ok((value, self.aliases.expanded - before))
    }

    fn expand(&mut self, size: usize, span: Span) -> Result<()> {
        self.aliases.expanded = self.aliases.expanded.saturating_add(size);
        if self.aliases.expanded > MAX_EXPANSION.max(self.c.text().len()) {
            return Err(Diagnostic::new(codes::HUGE, span, "aliases of aliases expand without bounds"));
        }
        Ok(())
    }

    /// Finds all lines `#name = …` and `!name = …`. Such a line can be nothing else: strings do not span lines.
    fn scan(&mut self) {
        if std::mem::replace(&mut self.aliases.scanned, true) {
            return;
        }
        let text = self.c.text();
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
        for end in ends {
            let line = text[start..end].trim_ascii_start();
            if line.starts_with(['#', '!'])
                && let Some((name, _)) = line.split_once('=')
            {
                let name = name.trim_end();
                let plain =
                    name[1..].bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-'));
                if plain && name.len() > 1 {
                    let at = end - line.len() + line.find('=').unwrap_or(0) + 1;
                    self.aliases.places.entry(name).or_insert(at);
                }
            }
            start = end + 1;
        }
    }

    /// The hexadecimal text of a resource, `0x…` with its alignment in front.
    pub(super) fn resource(&mut self, key: &str, span: Span) -> Result<&'s str> {
        if self.aliases.resources.is_none() {
            let found = match self.c.text().rfind("{-#") {
                Some(at) => {
                    let saved = std::mem::replace(&mut self.c.pos, at);
                    let found = self.resources();
                    self.c.pos = saved;
                    found?
                }
                None => HashMap::new(),
            };
            self.aliases.resources = Some(found);
        }
        self.aliases.resources.as_ref().and_then(|r| r.get(key)).copied().ok_or_else(|| {
            Diagnostic::new(codes::UNKNOWN_NAME, span, format!("the resource '{key}' is not in this file"))
                .help("its data belongs into '{-# dialect_resources: { builtin: { … } } #-}' at the end of the file")
        })
    }

    /// `{-# dialect_resources: { builtin: { key: "0x…", … } }, external_resources: {…} #-}`
    fn resources(&mut self) -> Result<HashMap<String, &'s str>> {
        let mut found = HashMap::new();
        self.c.expect("{-#")?;
        while !self.c.eat("#-}") {
            let section = self.c.word("a section of resources")?;
            self.c.expect(":")?;
            if section != "dialect_resources" {
                self.c.ws();
                self.c.balanced()?;
                self.c.eat(",");
                continue;
            }
            self.c.expect("{")?;
            while !self.c.eat("}") {
                self.c.word("the name of a dialect")?;
                self.c.expect(":")?;
                self.c.expect("{")?;
                while !self.c.eat("}") {
                    let key = self.resource_key()?;
                    self.c.expect(":")?;
                    found.insert(key, self.c.raw_string()?);
                    self.c.eat(",");
                }
                self.c.eat(",");
            }
            self.c.eat(",");
        }
        Ok(found)
    }

    /// The key of a resource: a word or a string.
    pub(super) fn resource_key(&mut self) -> Result<String> {
        if self.c.peek() == b'"' {
            return Ok(String::from_utf8_lossy(&self.c.string()?).into_owned());
        }
        self.c.ws();
        self.c.suffix("the key of a resource").map(str::to_string)
    }
}
