//! Reading items: declarations, functions, operations, statements.

use super::assign::fits;
use super::expr::twice;
use super::scan::Parser;
use super::{
    Assignment, Body, ExprKind, Function, Item, ItemKind, Name, Number, Operation, Parameter, Source,
    SpecArgument, SpecOp,
};
use crate::{NotationError, NotationErrorKind as Wrong, ShapeSpec, Span};

impl Source {
    /// Reads a whole text.
    pub fn parse(text: &str) -> Result<Source, NotationError> {
        let mut parser = Parser::new(text)?;
        let mut items = Vec::new();
        while !parser.rest().is_empty() {
            items.push(parser.item()?);
        }
        Ok(Source { items })
    }
}

/// A statement, and whether a `;` closed it or it needs none.
struct Statement {
    item: Item,
    closed: bool,
}

impl Parser<'_> {
    /// An item of the top level, where the last `;` may be missing.
    fn item(&mut self) -> Result<Item, NotationError> {
        let Statement { item, closed } = self.statement()?;
        if closed || self.rest().is_empty() {
            return Ok(item);
        }
        Err(self.unended())
    }

    /// A statement has no `;`: what comes next is no part of it. The place is where the `;` belongs.
    fn unended(&self) -> NotationError {
        let error = NotationError::new(Wrong::Unexpected, Span::at(self.end), "the statement does not end");
        error.expecting(&["`;`", "an operator"])
    }

    /// A statement with its `;`, if there is one.
    fn statement(&mut self) -> Result<Statement, NotationError> {
        let start = self.at;
        let word = self.word().unwrap_or_default();
        // `input x` declares, `input + 1` is a value of that name.
        let declares =
            self.rest()[word.len()..].trim_start().starts_with(|c: char| c.is_alphabetic() || c == '_');
        let kind = match word {
            "let" => self.let_item()?,
            "fn" => {
                let (function, block) = self.nested(Parser::function)?;
                let item = Item { kind: ItemKind::Function(function), span: self.since(start) };
                let closed = block || self.eat(";")?;
                return Ok(Statement { item, closed });
            }
            "op" if declares => {
                let kind = ItemKind::Operation(self.operation_item()?);
                return Ok(Statement { item: Item { kind, span: self.since(start) }, closed: true });
            }
            "input" if declares => self.input()?,
            "index" if declares => self.index()?,
            "size" if declares => {
                self.advance(word.len())?;
                let mut names = vec![self.name("a size")?];
                while self.eat(",")? {
                    names.push(self.name("a size")?);
                }
                ItemKind::Sizes(names)
            }
            "where"
                if declares
                    || self.rest()[word.len()..].trim_start().starts_with(|c: char| c.is_ascii_digit()) =>
            {
                self.advance(word.len())?;
                ItemKind::Where(self.facts()?)
            }
            "output" if declares => {
                self.advance(word.len())?;
                let mut names = vec![self.name("a result")?];
                while self.eat(",")? {
                    names.push(self.name("a result")?);
                }
                ItemKind::Output(names)
            }
            _ => {
                let expr = self.expr()?;
                if self.sees_assignment() {
                    ItemKind::Assign(Box::new(self.assignment(expr)?))
                } else {
                    expr.check_value()?;
                    ItemKind::Expr(expr)
                }
            }
        };
        let item = Item { kind, span: self.since(start) };
        Ok(Statement { item, closed: self.eat(";")? })
    }

    fn let_item(&mut self) -> Result<ItemKind, NotationError> {
        self.advance(3)?;
        if self.eat("[")? {
            return self.cut_item();
        }
        let name = self.name("the name of the value")?;
        self.expect("=", "the value is missing")?;
        let value = self.expr()?;
        value.check_value()?;
        Ok(ItemKind::Let { name, value })
    }

    /// `[p, q] = x ++^ "a^b => a; b"`, after the bracket.
    fn cut_item(&mut self) -> Result<ItemKind, NotationError> {
        let names = self.names("]", "the name of a result")?;
        self.expect("=", "the value is missing")?;
        let value = self.expr()?;
        value.check_value()?;
        let results = match &value.kind {
            ExprKind::Einsum(SpecOp::Concat, operands, spec) if operands.len() == 1 => match spec {
                SpecArgument::Literal(spec, _) => Some(spec.results().count()),
                SpecArgument::Name(_) => None,
            },
            _ => {
                let message = "only a cut has several results";
                let error = NotationError::new(Wrong::Unexpected, value.span, message);
                return Err(error.with_help("write `let [p, q] = x ++^ \"a^b => a; b\";`"));
            }
        };
        match results {
            Some(count) if count != names.len() => {
                let message = format!("{} names for the {count} results of the spec", names.len());
                let error = NotationError::new(Wrong::Arity, value.span, message);
                Err(error.with_help("each result has a name; `_` is one that is not needed"))
            }
            _ => Ok(ItemKind::Cut { names, value }),
        }
    }

    fn input(&mut self) -> Result<ItemKind, NotationError> {
        self.advance("input".len())?;
        let name = self.name("the name of the input")?;
        if !self.eat(":")? {
            return Ok(ItemKind::Input { name, shape: None, facts: Vec::new() });
        }
        match self.string()? {
            Some((text, span)) => {
                let shape = Some(ShapeSpec::parse_at(text, span.start)?);
                let facts = if self.eat_word("where")? { self.facts()? } else { Vec::new() };
                Ok(ItemKind::Input { name, shape, facts })
            }
            None => Err(self.unexpected("the shape of the input is missing", &["a shape in quotes"])),
        }
    }

    /// Facts about sizes, at least one.
    fn facts(&mut self) -> Result<Vec<Name>, NotationError> {
        let mut facts = vec![self.fact()?];
        while self.eat(",")? {
            facts.push(self.fact()?);
        }
        Ok(facts)
    }

    /// A fact about sizes: the text up to the next comma outside of parentheses, or the end of the statement.
    fn fact(&mut self) -> Result<Name, NotationError> {
        let (mut depth, mut length) = (0usize, 0);
        for c in self.rest().chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => break,
                ';' | '\n' => break,
                _ => {}
            }
            length += c.len_utf8();
        }
        let text = self.rest()[..length].split("//").next().unwrap_or_default().trim_end().to_string();
        if text.is_empty() {
            return Err(self.unexpected("a fact about sizes is missing", &["a comparison, such as `n >= 4`"]));
        }
        let span = self.advance(text.len())?;
        Ok(Name { text, span })
    }

    fn index(&mut self) -> Result<ItemKind, NotationError> {
        self.advance("index".len())?;
        let name = self.name("the name of the index")?;
        self.expect("<", "the range of the index is missing")?;
        let start = self.at;
        match self.number()? {
            Some(Number::Int(range)) if range > 0 => Ok(ItemKind::Index { name, range }),
            Some(_) => {
                let message = "the range of an index is a whole number, at least 1";
                Err(NotationError::new(Wrong::Number, self.since(start), message))
            }
            None => Err(self.unexpected("the range of the index is missing", &["a whole number"])),
        }
    }

    /// A function, and whether its body is a block.
    fn function(&mut self) -> Result<(Function, bool), NotationError> {
        self.advance(2)?;
        let name = self.name("the name of the function")?;
        let mut groups: Vec<(Vec<Parameter>, Span)> = Vec::new();
        while self.sees("(") {
            let start = self.at;
            let parameters = self.parameters()?;
            groups.push((parameters, self.since(start)));
        }
        let sizes: Vec<bool> = groups.iter().map(|(group, _)| group.is_empty()).collect();
        let (config, unit, tensors) = match sizes[..] {
            [] => return Err(self.unexpected("the parameters are missing", &["`(`"])),
            [true] => (vec![], true, vec![]),
            [false] => (vec![], false, groups.remove(0).0),
            [true, false] => (vec![], true, groups.remove(1).0),
            [false, true] => (groups.remove(0).0, true, vec![]),
            [false, true, false] => {
                let tensors = groups.remove(2).0;
                (groups.remove(0).0, true, tensors)
            }
            _ => {
                let span = groups.iter().skip(1).map(|(_, span)| *span).reduce(Span::to).unwrap_or_default();
                let message = "configuration and tensors are separated by `()`";
                let error = NotationError::new(Wrong::Unexpected, span, message);
                return Err(
                    error.with_help("write `fn f(config)()(tensors)`; each of the three may be left out")
                );
            }
        };
        if let Some(parameter) = tensors.iter().find(|p| p.default.is_some()) {
            let error = NotationError::new(Wrong::Unexpected, parameter.name.span, "a tensor has no default");
            return Err(error.with_help("configuration stands before `()`: `fn f(size = 3)()(x)`"));
        }
        let tensors = tensors.into_iter().map(|p| p.name).collect::<Vec<Name>>();
        if let Some(name) = tensors.iter().find(|t| config.iter().any(|c| c.name.text == t.text)) {
            return Err(twice(name));
        }
        if self.eat("=")? {
            let result = self.expr()?;
            result.check_value()?;
            let body = Body { items: Vec::new(), result: Some(Box::new(result)) };
            return Ok((Function { name, config, unit, tensors, body }, false));
        }
        let body = self.block()?;
        Ok((Function { name, config, unit, tensors, body }, true))
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, NotationError> {
        self.advance(1)?;
        let mut parameters: Vec<Parameter> = Vec::new();
        while !self.eat(")")? {
            let name = self.name("a parameter")?;
            if parameters.iter().any(|p| p.name.text == name.text) {
                return Err(twice(&name));
            }
            let default = if self.eat("=")? { Some(self.expr()?) } else { None };
            default.iter().try_for_each(|d| d.check_value())?;
            parameters.push(Parameter { name, default });
            if !self.eat(",")? && !self.sees(")") {
                return Err(self.unexpected("the parameters do not end", &["`,`", "`)`"]));
            }
        }
        Ok(parameters)
    }

    /// `{ items result }`
    fn block(&mut self) -> Result<Body, NotationError> {
        if !self.eat("{")? {
            return Err(self.unexpected("the body of the function is missing", &["`=`", "`{`"]));
        }
        let mut items = Vec::new();
        while !self.eat("}")? {
            let Statement { item, closed } = self.statement()?;
            if let ItemKind::Input { .. }
            | ItemKind::Index { .. }
            | ItemKind::Sizes(_)
            | ItemKind::Where(_)
            | ItemKind::Output(_)
            | ItemKind::Operation(_) = item.kind
            {
                let message = "declarations stand at the top level, not in a function";
                return Err(NotationError::new(Wrong::Unexpected, item.span, message));
            }
            match item.kind {
                ItemKind::Expr(result) if !closed => {
                    self.expect("}", "the body does not end")?;
                    return Ok(Body { items, result: Some(Box::new(result)) });
                }
                kind => {
                    if !closed && !self.sees("}") {
                        return Err(self.unended());
                    }
                    items.push(Item { kind, span: item.span });
                }
            }
        }
        Ok(Body { items, result: None })
    }

    fn operation_item(&mut self) -> Result<Operation, NotationError> {
        self.advance(2)?;
        let name = self.name("the name of the operation")?;
        self.expect("(", "the operands are missing")?;
        let start = self.at;
        let operands = self.names(")", "an operand")?;
        let span = self.since(start);
        if operands.len() > 3 {
            let message = "an operation has at most three operands";
            return Err(NotationError::new(Wrong::Arity, span, message));
        }
        let start = self.at;
        let logic = self.logic()?;
        if let Some(logic) = &logic {
            fits(logic, operands.len(), "operation", self.since(start))?;
        }
        self.operands = Some(operands.len());
        let forward = self.assignments()?;
        let gradient = if self.eat_word("grad")? { self.assignments()? } else { Vec::new() };
        self.operands = None;
        Ok(Operation { name, operands, logic, forward, gradient })
    }

    /// `{ assignment; … }`
    fn assignments(&mut self) -> Result<Vec<Assignment>, NotationError> {
        self.expect("{", "the assignments are missing")?;
        let mut assignments = Vec::new();
        while !self.eat("}")? {
            let target = self.expr()?;
            if !self.sees_assignment() {
                return Err(
                    self.unexpected("an operation is made of assignments", &["`=:`", "`=+`", "`=:+`"])
                );
            }
            assignments.push(self.assignment(target)?);
            if !self.eat(";")? && !self.sees("}") {
                return Err(self.unexpected("the assignment does not end", &["`;`", "`}`", "an operator"]));
            }
        }
        Ok(assignments)
    }
}
