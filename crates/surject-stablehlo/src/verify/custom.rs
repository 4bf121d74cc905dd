//! Rules of calls out of the program, composites, and streams: `custom_call`, `composite`, `infeed`, `send` and kin.

use super::infer::{Want, all_like};
use super::{Checked, Result};
use crate::attr::Attribute;
use crate::diagnostic::{Diagnostic, codes};
use crate::types::{Type, TypeList};

/// Kinds of channels.
const DEVICE_TO_DEVICE: i64 = 1;
const DEVICE_TO_HOST: i64 = 2;
const HOST_TO_DEVICE: i64 = 3;

/// The version of `custom_call` whose configuration is a dictionary.
const TYPED_FFI: i64 = 4;

impl Checked<'_> {
    pub(super) fn composite(&self) -> Result<Vec<Want>> {
        let name = self.op.string("name")?;
        if !is_namespaced(name) {
            return Err(self
                .attr_error(format!("'name' = \"{name}\""))
                .expected("a name with a namespace, for example \"my.op\"")
                .constraint(1));
        }
        self.at_least(0, "version", &[self.op.int("version").unwrap_or(0)], 0)?;
        let callee = self.op.symbol("decomposition")?;
        let Some(function) = self.functions.get(callee) else {
            let message = format!("'{}': there is no function '@{callee}'", self.op.name);
            return Err(Diagnostic::new(codes::UNKNOWN_NAME, self.op.span, message).constraint(2));
        };
        let wanted = function.ty();
        let operands = self.operand_types();
        if operands != wanted.inputs {
            return Err(self
                .error(codes::SIGNATURE, format!("'@{callee}' is called with ({})", TypeList(&operands)))
                .expected(format!("({})", TypeList(&wanted.inputs)))
                .constraint(3));
        }
        let results = self.result_types();
        if results != wanted.results && self.counts_results() {
            return Err(self
                .error(
                    codes::SIGNATURE,
                    format!("'@{callee}' is called for results ({})", TypeList(&results)),
                )
                .expected(format!("({})", TypeList(&wanted.results)))
                .constraint(4));
        }
        Ok(wanted.results.into_iter().map(|ty| Want::Like(ty, 4)).collect())
    }

    pub(super) fn custom_call(&self) -> Result<Vec<Want>> {
        self.backend_config()?;
        let layouts = ["operand_layouts", "result_layouts"].map(|name| self.op.attributes.get(name));
        match layouts {
            [None, None] => {}
            [Some(operands), Some(results)] => {
                if let Some(ty) = self.operand_types().iter().find(|ty| matches!(ty, Type::Tuple(_))) {
                    return Err(self
                        .attr_error(format!("'operand_layouts' with an operand of type {ty}"))
                        .expected("no tuples among operands with layouts"));
                }
                self.layouts("operand_layouts", operands, &self.operand_types())?;
                // Layouts of a tuple are those of its parts.
                let types = match self.result_types().as_slice() {
                    [Type::Tuple(parts)] => parts.clone(),
                    types => types.to_vec().into(),
                };
                self.layouts("result_layouts", results, &types)?;
            }
            _ => {
                return Err(self
                    .attr_error("layouts of operands or of results alone")
                    .expected("'operand_layouts' and 'result_layouts', or neither"));
            }
        }
        self.aliases()?;
        if let Some(Attribute::Array(items)) = self.op.attributes.get("called_computations") {
            for item in items {
                if let Attribute::Symbol(path) = item
                    && let [name] = path.as_slice()
                    && !self.functions.contains_key(name.as_str())
                {
                    let message = format!("'{}': there is no function '@{name}'", self.op.name);
                    return Err(Diagnostic::new(codes::UNKNOWN_NAME, self.op.span, message));
                }
            }
        }
        self.any_results()
    }

    fn backend_config(&self) -> Result<()> {
        let version = self.op.int("api_version").unwrap_or(1);
        if !(0..=TYPED_FFI).contains(&version) {
            return Err(self.attr_error(format!("'api_version' = {version}")).expected("0 to 4"));
        }
        let (fits, expected) = match self.op.attributes.get("backend_config") {
            Some(config) if version == TYPED_FFI => (matches!(config, Attribute::Dict(_)), "a dictionary"),
            Some(config) => (matches!(config, Attribute::String(_) | Attribute::Bytes(_)), "a string"),
            None => return Ok(()),
        };
        if fits {
            return Ok(());
        }
        Err(self
            .attr_error(format!("'backend_config' of version {version} is no {}", &expected[2..]))
            .expected(expected))
    }

    /// Layouts: a permutation of the dimensions of each tensor, nothing for anything else.
    fn layouts(&self, name: &str, layouts: &Attribute, types: &[Type]) -> Result<()> {
        let Attribute::Array(items) = layouts else { return Ok(()) };
        self.length(0, name, items.len(), types.len(), "values")?;
        for (item, ty) in items.iter().zip(types) {
            let order = match item {
                Attribute::Dense(elements) => elements.to_i64s(),
                Attribute::I64s(values) => Some(values.clone()),
                _ => None,
            };
            let Some(mut order) = order else {
                return Err(self
                    .attr_error(format!("'{name}' holds {}", item.describe()))
                    .expected("dense<[…]> : tensor<nxindex>"));
            };
            order.sort_unstable();
            let rank = ty.as_tensor().map_or(0, |t| t.rank());
            if !order.iter().copied().eq(0..rank as i64) {
                return Err(self
                    .attr_error(format!(
                        "'{name}' gives {ty} a layout that is no permutation of its dimensions"
                    ))
                    .expected(if rank == 0 {
                        "an empty layout".to_string()
                    } else {
                        format!("a permutation of 0 to {}", rank - 1)
                    }));
            }
        }
        Ok(())
    }

    /// Aliases: a result and an operand, or parts of them, of one type.
    fn aliases(&self) -> Result<()> {
        for alias in self.op.output_operand_aliases() {
            let wrong =
                |message: String| Err(self.attr_error(format!("'output_operand_aliases': {message}")));
            let index = alias.operand_index;
            let Some(mut from) =
                usize::try_from(index).ok().and_then(|i| self.op.operands.get(i)).map(|v| self.module.ty(*v))
            else {
                return wrong(format!("there is no operand {index}"));
            };
            for step in &alias.operand_tuple_indices {
                let part = match from {
                    Type::Tuple(parts) => usize::try_from(*step).ok().and_then(|i| parts.get(i)),
                    _ => None,
                };
                let Some(part) = part else { return wrong(format!("{from} has no element {step}")) };
                from = part;
            }
            let results = self.result_types();
            // Several results are indexed as the elements of a tuple.
            let whole = match results.as_slice() {
                [one] => one.clone(),
                many => Type::Tuple(many.to_vec().into()),
            };
            let mut to = &whole;
            for step in &alias.output_tuple_indices {
                let part = match to {
                    Type::Tuple(parts) => usize::try_from(*step).ok().and_then(|i| parts.get(i)),
                    _ => None,
                };
                let Some(part) = part else { return wrong(format!("{to} has no element {step}")) };
                to = part;
            }
            if from != to {
                return wrong(format!("the operand has type {from}, the result {to}"));
            }
        }
        Ok(())
    }

    /// Checks that the last of some types is a token and the others are tensors.
    fn payload(&self, types: &[Type], rules: (u8, u8, u8)) -> Result<()> {
        let Some((last, rest)) = types.split_last() else {
            return Err(self.type_error("no results").expected("at least a token").constraint(rules.0));
        };
        if let Some(bad) = rest.iter().find(|ty| ty.as_tensor().is_none()) {
            return Err(self
                .type_error(format!("a result has type {bad}"))
                .expected("a tensor")
                .constraint(rules.1));
        }
        if *last != Type::Token {
            return Err(self
                .type_error(format!("the last result has type {last}"))
                .expected("!stablehlo.token")
                .constraint(rules.2));
        }
        Ok(())
    }

    /// Checks that operand `i` is a token.
    fn token(&self, i: usize) -> Result<()> {
        match self.op.operands.get(i).map(|v| self.module.ty(*v)) {
            Some(Type::Token) => Ok(()),
            Some(ty) => {
                Err(self.type_error(format!("operand {i} has type {ty}")).expected("!stablehlo.token"))
            }
            None => Err(self.type_error("no token").expected("!stablehlo.token")),
        }
    }

    pub(super) fn after_all(&self) -> Result<Vec<Want>> {
        (0..self.op.operands.len()).try_for_each(|i| self.token(i))?;
        Ok(vec![Want::Like(Type::Token, 0)])
    }

    pub(super) fn infeed(&self) -> Result<Vec<Want>> {
        self.token(0)?;
        let results = self.result_types();
        self.payload(&results, (1, 2, 3))?;
        if let Some(Attribute::Array(items)) = self.op.attributes.get("layout") {
            self.length(0, "layout", items.len(), results.len() - 1, "results")?;
            for item in items {
                let Attribute::Array(order) = item else {
                    return Err(self
                        .attr_error(format!("'layout' holds {}", item.describe()))
                        .expected("arrays"));
                };
                if !order.iter().all(|i| i.as_i64().is_some()) {
                    return Err(self.attr_error("'layout' holds something else than integers"));
                }
            }
        }
        self.any_results()
    }

    /// Checks operands that are tensors with a token behind them.
    fn tensors_and_token(&self) -> Result<()> {
        let last = self.op.operands.len().saturating_sub(1);
        self.operands(0..last)?;
        self.token(last)
    }

    pub(super) fn outfeed(&self) -> Result<Vec<Want>> {
        self.tensors_and_token()?;
        Ok(vec![Want::Like(Type::Token, 0)])
    }

    /// (C1): the channel is of the kind that the transfer is.
    fn channel_kind(&self, host: i64) -> Result<()> {
        let Attribute::ChannelHandle(channel) = self.op.attribute("channel_handle")? else { return Ok(()) };
        let (wanted, name) = match (self.op.flag("is_host_transfer")?, host) {
            (false, _) => (DEVICE_TO_DEVICE, "DEVICE_TO_DEVICE"),
            (true, DEVICE_TO_HOST) => (DEVICE_TO_HOST, "DEVICE_TO_HOST"),
            (true, _) => (HOST_TO_DEVICE, "HOST_TO_DEVICE"),
        };
        if channel.kind == wanted {
            return Ok(());
        }
        Err(self
            .attr_error(format!("the channel has type {}", channel.kind))
            .expected(format!("{wanted} ({name})"))
            .constraint(1))
    }

    pub(super) fn send(&self) -> Result<Vec<Want>> {
        self.tensors_and_token()?;
        self.channel_kind(DEVICE_TO_HOST)?;
        self.source_target_pairs([0; 4])?;
        Ok(vec![Want::Like(Type::Token, 0)])
    }

    pub(super) fn recv(&self) -> Result<Vec<Want>> {
        self.token(0)?;
        self.channel_kind(HOST_TO_DEVICE)?;
        self.payload(&self.result_types(), (2, 3, 4))?;
        self.source_target_pairs([0; 4])?;
        self.any_results()
    }

    /// `async_start`: a future of what its body gives back.
    pub(super) fn async_start(&self) -> Result<Vec<Want>> {
        let body = &self.op.regions[0];
        self.params(0, body, &self.operand_types())?;
        let returned = self.returned(body)?;
        if body.ops.len() != 2 {
            return Err(self
                .region_error(format!("its region holds {} operations", body.ops.len()))
                .expected("one, and 'stablehlo.return'"));
        }
        let inner = &body.ops[0].name;
        let short = inner.strip_prefix("stablehlo.").unwrap_or(inner);
        let known = matches!(
            short,
            "all_gather"
                | "all_reduce"
                | "all_to_all"
                | "collective_broadcast"
                | "collective_permute"
                | "collective_reduce"
                | "reduce_scatter"
                | "slice"
                | "dynamic_slice"
                | "dynamic_update_slice"
                | "send"
                | "recv"
        );
        if !known {
            return Err(self
                .region_error(format!("its region holds '{inner}'"))
                .expected("a collective, a slice, 'send' or 'recv'"));
        }
        Ok(vec![Want::Like(Type::Future(returned.into()), 0)])
    }

    pub(super) fn async_done(&self) -> Result<Vec<Want>> {
        let ty = self.operand_type(0);
        let Type::Future(parts) = ty else {
            return Err(self
                .type_error(format!("the operand has type {ty}"))
                .expected("!stablehlo.future<…>"));
        };
        let results = self.result_types();
        if self.counts_results() && !all_like(&results, parts) {
            return Err(self
                .type_error(format!("the results have types ({})", TypeList(&results)))
                .expected(format!("({})", TypeList(parts))));
        }
        Ok(parts.iter().map(|ty| Want::Like(ty.clone(), 0)).collect())
    }
}

/// Whether a name is a letter and a word, a dot, and words.
fn is_namespaced(name: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    first.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        && first.bytes().all(word)
        && !rest.is_empty()
        && rest.iter().all(|part| !part.is_empty() && part.bytes().all(|b| word(b) || b == b'$'))
}
