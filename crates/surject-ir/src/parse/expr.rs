//! Reading fields.

use super::cursor::Parsed;
use super::{Binding, Name, Parser};
use crate::print::infix;
use crate::sizes::differs;
use crate::{AccOp, BinaryOp, DType, FieldId, Scalar, TensorType, TypeError, UnaryOp, literal};
use surject_index::{Affine, Fill, Guard, IndexMap, MapError, Space};

/// Expressions may be nested this deep; what the printer writes is nested half as deep at most.
const MAX_DEPTH: usize = 64;

/// The space an expression is over, and the names of its axes.
pub(super) struct Loops {
    space: Space,
    names: Vec<String>,
}

impl Parser<'_> {
    /// What follows `=:`: the field of an assignment to a target of this type.
    pub(super) fn assignment(&mut self, ty: &TensorType) -> Parsed<FieldId> {
        let at = self.cursor.position();
        let field = match self.accumulator() {
            Some(op) => self.accumulation(op, &ty.space, 0)?,
            None => {
                let loops = self.loops()?;
                if !loops.names.is_empty() {
                    self.cursor.need(":")?;
                }
                if let Some(missing) = self.differs(&loops.space, &ty.space) {
                    let message = format!("the loops are over {}, the target is {ty}{missing}", loops.space);
                    return self.cursor.fault(at, message);
                }
                self.expression(&loops, 0, 0)?
            }
        };
        let found = self.function.fields[field].dtype;
        if found != ty.dtype {
            return self
                .cursor
                .fault(at, format!("the field has the element type {found}, the target is {ty}"));
        }
        Ok(field)
    }

    /// An operator of accumulations, if it stands before `over` or `at`.
    fn accumulator(&mut self) -> Option<AccOp> {
        let start = self.cursor.position();
        let op = match ["+", "*"].into_iter().find(|s| self.cursor.sign(s)) {
            Some(sign) => AccOp::from_name(sign),
            None => self.cursor.word().and_then(AccOp::from_name),
        };
        let op = op.filter(|_| matches!(self.cursor.peek_word(), Some("over" | "at")));
        if op.is_none() {
            self.cursor.go_back(start);
        }
        op
    }

    /// `over … at […]: EXPR`, to a target over this space.
    fn accumulation(&mut self, op: AccOp, target: &Space, depth: usize) -> Parsed<FieldId> {
        let loops = self.loops()?;
        let at = self.cursor.position();
        if !self.cursor.keyword("at") {
            return self.cursor.expected("`at`");
        }
        let components = self.components(&loops)?;
        let map = self.total(loops.space.clone(), target.clone(), components);
        let map = self.mapped(at, map)?;
        self.cursor.need(":")?;
        let of = self.expression(&loops, 0, depth)?;
        let field = self.function.fields.acc(op, map, of);
        self.typed(at, field)
    }

    /// `over i<4, j<5`, or nothing.
    fn loops(&mut self) -> Parsed<Loops> {
        let (mut extents, mut names) = (Vec::new(), Vec::<String>::new());
        if self.cursor.keyword("over") {
            loop {
                let at = self.cursor.position();
                let Some(name) = self.cursor.word() else {
                    return self.cursor.expected("the name of an axis");
                };
                if names.iter().any(|n| n == name) {
                    return self.cursor.fault(at, format!("two axes are called `{name}`"));
                }
                names.push(name.to_string());
                self.cursor.need("<")?;
                extents.push(self.cursor.extent()?);
                if !self.cursor.sign(",") {
                    break;
                }
            }
        }
        Ok(Loops { space: Space::new(extents), names })
    }

    fn components(&mut self, loops: &Loops) -> Parsed<Vec<Affine>> {
        self.cursor.need("[")?;
        self.list("]", |p| p.cursor.affine(&loops.names))
    }

    fn typed(&self, at: usize, field: Result<FieldId, TypeError>) -> Parsed<FieldId> {
        field.or_else(|error| self.cursor.fault(at, error.to_string()))
    }

    fn mapped(&self, at: usize, map: Result<IndexMap, MapError>) -> Parsed<IndexMap> {
        map.or_else(|error| self.cursor.fault(at, error.to_string()))
    }

    /// A total map under what is known of the sizes.
    fn total(&self, domain: Space, codomain: Space, components: Vec<Affine>) -> Result<IndexMap, MapError> {
        match self.function.fields.facts() {
            Some(facts) => IndexMap::total_given(domain, codomain, components, facts),
            None => IndexMap::total(domain, codomain, components),
        }
    }

    /// Where two spaces are not proven to be one: what would decide it, as the end of a message.
    fn differs(&self, a: &Space, b: &Space) -> Option<String> {
        let missing = differs(a, b, self.function.fields.facts())?;
        Some(missing.map(|fact| format!(" (`{fact}` would decide it)")).unwrap_or_default())
    }

    /// An expression whose infix operations bind at least this tightly.
    fn expression(&mut self, loops: &Loops, tight: u8, depth: usize) -> Parsed<FieldId> {
        if depth > MAX_DEPTH {
            return self.cursor.expected("an expression that is nested less deeply");
        }
        let mut left = self.operand(loops, depth)?;
        let mut limit = u8::MAX;
        loop {
            let at = self.cursor.position();
            let Some((op, sign, level)) = self.infix() else { return Ok(left) };
            if level < tight {
                return Ok(left);
            }
            if level > limit || (level == 1 && limit == 1) {
                return self.cursor.fault(at, "comparisons do not chain; use parentheses".into());
            }
            self.cursor.need(sign)?;
            let right = self.expression(loops, level + 1, depth + 1)?;
            let field = self.function.fields.binary(op, left, right);
            left = self.typed(at, field)?;
            limit = level;
        }
    }

    /// The infix operation that is next, not taken yet.
    fn infix(&mut self) -> Option<(BinaryOp, &'static str, u8)> {
        let at = self.cursor.position();
        // The longer signs first: `<=` before `<`.
        let operations =
            BinaryOp::ALL.iter().filter_map(|&op| infix(op).map(|(sign, level)| (op, sign, level)));
        let mut found = None;
        for (op, sign, level) in operations {
            if found.is_none_or(|(_, s, _): (BinaryOp, &str, u8)| s.len() < sign.len())
                && self.cursor.sign(sign)
            {
                found = Some((op, sign, level));
                self.cursor.go_back(at);
            }
        }
        found
    }

    fn operand(&mut self, loops: &Loops, depth: usize) -> Parsed<FieldId> {
        let at = self.cursor.position();
        if self.cursor.sign("(") {
            return self.parenthesis(loops, at, depth);
        }
        if let Some(value) = self.value()? {
            return Ok(self.function.fields.constant(&loops.space, value));
        }
        let word = match self.cursor.peek_word() {
            Some(word) if literal::is_reserved(word) => word,
            Some(_) => return self.access(loops, false),
            None if self.cursor.looks_at('`') => return self.access(loops, false),
            None => return self.cursor.expected("an expression"),
        };
        self.cursor.word();
        let depth = depth + 1;
        match word {
            "select" => {
                let [cond, on_true, on_false] = self.arguments(loops, depth)?;
                let field = self.function.fields.select(cond, on_true, on_false);
                self.typed(at, field)
            }
            "index" => {
                self.cursor.need("(")?;
                let name = self.cursor.word().unwrap_or_default();
                let Some(axis) = loops.names.iter().position(|n| n == name) else {
                    return self.cursor.fault(at, format!("no axis here is called `{name}`"));
                };
                self.cursor.need(")")?;
                let dtype = self.dtype()?;
                let field = self.function.fields.index(&loops.space, axis, dtype);
                self.typed(at, field)
            }
            "bitcast" => {
                let dtype = self.dtype()?;
                let [x] = self.arguments(loops, depth)?;
                let field = self.function.fields.bitcast(dtype, x);
                self.typed(at, field)
            }
            "reduce_precision" => {
                self.cursor.need("<")?;
                let exponent = self.cursor.integer()?;
                self.cursor.need(",")?;
                let mantissa = self.cursor.integer()?;
                self.cursor.need(">")?;
                let [x] = self.arguments(loops, depth)?;
                let field = self.function.fields.reduce_precision(exponent, mantissa, x);
                self.typed(at, field)
            }
            _ => {
                if let Ok(dtype) = word.parse() {
                    let [x] = self.arguments(loops, depth)?;
                    return Ok(self.function.fields.convert(dtype, x));
                }
                if let Some(op) = UnaryOp::from_name(word) {
                    let [x] = self.arguments(loops, depth)?;
                    let field = self.function.fields.unary(op, x);
                    return self.typed(at, field);
                }
                if let Some(op) = BinaryOp::from_name(word) {
                    let [x, y] = self.arguments(loops, depth)?;
                    let field = self.function.fields.binary(op, x, y);
                    return self.typed(at, field);
                }
                self.cursor.fault(at, format!("expected an expression, found the word `{word}`"))
            }
        }
    }

    /// What follows `(`: a nested accumulation, a guarded read, or a grouped expression.
    fn parenthesis(&mut self, loops: &Loops, at: usize, depth: usize) -> Parsed<FieldId> {
        if let Some(op) = self.accumulator() {
            let field = self.accumulation(op, &loops.space, depth + 1)?;
            self.cursor.need(")")?;
            return Ok(field);
        }
        let inside = self.cursor.position();
        let names_something = match self.cursor.peek_word() {
            Some(word) => !literal::is_reserved(word),
            None => self.cursor.looks_at('`'),
        };
        if names_something {
            let is_guarded = {
                // Is there a `where` after the name and its brackets?
                self.name("a field")?;
                if self.cursor.sign("[") {
                    self.list("]", |p| p.cursor.affine(&loops.names))?;
                }
                self.cursor.peek_word() == Some("where")
            };
            self.cursor.go_back(inside);
            if is_guarded {
                let field = self.access(loops, true)?;
                self.cursor.need(")")?;
                return Ok(field);
            }
        }
        self.cursor.go_back(at);
        self.cursor.need("(")?;
        let field = self.expression(loops, 0, depth + 1)?;
        self.cursor.need(")")?;
        Ok(field)
    }

    fn arguments<const N: usize>(&mut self, loops: &Loops, depth: usize) -> Parsed<[FieldId; N]> {
        let at = self.cursor.position();
        self.cursor.need("(")?;
        let args = self.list(")", |p| p.expression(loops, 0, depth))?;
        let found = args.len();
        args.try_into().or_else(|_| self.cursor.fault(at, format!("{found} operands where {N} are needed")))
    }

    /// `x`, `x[i, 2*j]`, or `x[i - 1] where 0 <= i - 1 < 3 else 0.0f32`.
    fn access(&mut self, loops: &Loops, guarded: bool) -> Parsed<FieldId> {
        let name: Name = self.name("a field")?;
        let at = name.at;
        let of = match self.look_up(&name)? {
            Binding::Var(var) => self.function.tensor(var),
            Binding::Let(field) => field,
        };
        let space = self.function.fields[of].space.clone();
        if !self.cursor.looks_at('[') {
            let differs = self.differs(&space, &loops.space);
            if guarded || differs.is_some() {
                let message = format!("`{}` is over {space}, the expression over {}", name.text, loops.space);
                let missing = differs.unwrap_or_default();
                return self
                    .cursor
                    .fault(at, format!("{message}{missing}: write positions between brackets"));
            }
            return Ok(of);
        }
        let components = self.components(loops)?;
        if !guarded {
            let map = self.total(loops.space.clone(), space, components);
            let map = self.mapped(at, map)?;
            let field = self.function.fields.read(map, of);
            return self.typed(at, field);
        }
        let mut guards = Vec::new();
        let mut word = "where";
        while self.cursor.keyword(word) {
            self.cursor.need("0")?;
            self.cursor.need("<=")?;
            let expr = self.cursor.affine(&loops.names)?;
            self.cursor.need("<")?;
            guards.push(Guard { expr, bound: self.cursor.extent()? });
            word = "and";
        }
        if !self.cursor.keyword("else") {
            return self.cursor.expected("`and` or `else`");
        }
        let fill_at = self.cursor.position();
        let Some(fill) = self.value()? else { return self.cursor.expected("a value") };
        let dtype = self.function.fields[of].dtype;
        if fill.dtype() != dtype {
            return self.cursor.fault(fill_at, format!("the fill is {}, the field {dtype}", fill.dtype()));
        }
        let map = IndexMap::partial(loops.space.clone(), space, components, guards, Fill(fill.bits()));
        let map = self.mapped(at, map)?;
        let field = self.function.fields.read(map, of);
        self.typed(at, field)
    }

    /// A value with its type, if one is next.
    fn value(&mut self) -> Parsed<Option<Scalar>> {
        let at = self.cursor.position();
        if let Some(number) = self.cursor.number() {
            let dtype = self.dtype()?;
            return match literal::number(dtype, number) {
                Some(value) => Ok(Some(value)),
                None => self.cursor.fault(at, format!("{number} is not a value of the type {dtype}")),
            };
        }
        let negative = self.cursor.sign("-");
        let Some(word) = self.cursor.peek_word() else {
            self.cursor.go_back(at);
            return Ok(None);
        };
        if let Some(dtype) = word.strip_prefix("inf_").and_then(|d| d.parse::<DType>().ok())
            && dtype.is_float()
        {
            self.cursor.word();
            let infinity = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
            return Ok(Some(Scalar::from_f64(dtype, infinity)));
        }
        if !negative {
            match word {
                "true" | "false" => {
                    self.cursor.word();
                    return Ok(Some(Scalar::bool(word == "true")));
                }
                "bits" => {
                    self.cursor.word();
                    let bits = self.bits()?;
                    let dtype = self.dtype()?;
                    return self.of_bits(at, dtype, bits).map(Some);
                }
                "c64" | "c128" => {
                    let dtype = self.dtype()?;
                    if self.cursor.looks_at('(')
                        && let Some((re, im)) = self.parts()?
                    {
                        let value = literal::complex(dtype, &re, &im);
                        return value.map_or_else(
                            || self.cursor.fault(at, "not a complex value".into()),
                            |v| Ok(Some(v)),
                        );
                    }
                }
                _ => {}
            }
        }
        self.cursor.go_back(at);
        Ok(None)
    }

    /// `(0x7fc00000)`
    fn bits(&mut self) -> Parsed<u128> {
        self.cursor.need("(")?;
        let bits = self.cursor.hexadecimal()?;
        self.cursor.need(")")?;
        Ok(bits)
    }

    fn of_bits(&mut self, at: usize, dtype: DType, bits: u128) -> Parsed<Scalar> {
        let value = Scalar::from_bits(dtype, bits);
        if value.bits() != bits {
            return self
                .cursor
                .fault(at, format!("{bits:#x} has more than the {} bits of {dtype}", dtype.bits()));
        }
        Ok(value)
    }

    /// `(1.0, -inf)`: parts without a type. `None` where something else stands between the parentheses.
    fn parts(&mut self) -> Parsed<Option<(String, String)>> {
        let part = |p: &mut Self| {
            if let Some(number) = p.cursor.number() {
                return Some(number.to_string());
            }
            let sign = if p.cursor.sign("-") { "-" } else { "" };
            p.cursor.keyword("inf").then(|| format!("{sign}inf"))
        };
        self.cursor.need("(")?;
        let Some(re) = part(self) else { return Ok(None) };
        if !self.cursor.sign(",") {
            return Ok(None);
        }
        let Some(im) = part(self) else { return self.cursor.expected("the imaginary part") };
        self.cursor.need(")")?;
        Ok(Some((re, im)))
    }

    /// A value of a known type, as an element of a literal.
    pub(super) fn element(&mut self, dtype: DType) -> Parsed<Scalar> {
        let at = self.cursor.position();
        if self.cursor.keyword("bits") {
            let bits = self.bits()?;
            return self.of_bits(at, dtype, bits);
        }
        let value = if dtype.is_bool() {
            let word = self.cursor.word();
            word.filter(|w| matches!(*w, "true" | "false")).map(|w| Scalar::bool(w == "true"))
        } else if dtype.is_complex() {
            if self.cursor.looks_at('(') {
                self.parts()?.and_then(|(re, im)| literal::complex(dtype, &re, &im))
            } else {
                None
            }
        } else if let Some(number) = self.cursor.number() {
            literal::number(dtype, number)
        } else {
            let negative = self.cursor.sign("-");
            let infinity = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
            (dtype.is_float() && self.cursor.keyword("inf")).then(|| Scalar::from_f64(dtype, infinity))
        };
        match value {
            Some(value) => Ok(value),
            None => self.cursor.fault(at, format!("expected a value of the type {dtype}")),
        }
    }
}
