//! Attributes of Shardy, which are kept as text.
//!
//! Source: `bytecode.td` of Shardy.

use super::attributes::printed;
use super::bytes::{Bytes, Result, malformed};
use super::decode::{Decoder, Reference, unknown};
use crate::attr::Attribute;

/// Text in front of what stands between an attribute's brackets, and behind it, by code.
const FORMS: [(&str, &str); 17] = [
    ("#sdy<manual_axes", ">"),
    ("#sdy.mesh_axis<", ">"),
    ("#sdy.mesh", ""),
    ("#sdy.sub_axis_info<", ">"),
    ("#sdy.axis_ref<", ">"),
    ("#sdy.dimension_sharding<", ">"),
    ("#sdy.sharding", ""),
    ("#sdy.sharding_per_value<", ">"),
    ("#sdy.dim_mapping<", ">"),
    ("#sdy.tensor_mapping<", ">"),
    ("#sdy.op_sharding_rule", ""),
    ("#sdy<axis_ref_list", ">"),
    ("#sdy<list_of_axis_ref_lists", ">"),
    ("#sdy.all_to_all_param<", ">"),
    ("#sdy<all_to_all_param_list", ">"),
    ("#sdy.sharding", ""),
    ("#sdy.sharding_per_value<", ">"),
];

impl<'b> Decoder<'b> {
    /// The text of an attribute.
    pub(super) fn sdy_attribute(&mut self, bytes: &mut Bytes<'b>) -> Result<String> {
        let at = bytes.offset();
        let code = bytes.varint("an attribute")?;
        let form = usize::try_from(code).ok().and_then(|i| FORMS.get(i));
        let (before, after) =
            form.ok_or_else(|| unknown(at, &format!("attributes with code {code} of Shardy")))?;
        let inside = self.sdy_parts(code, bytes)?;
        self.spend(inside.len() as u64 / 32, at)?;
        Ok(format!("{before}{inside}{after}"))
    }

    fn sdy_parts(&mut self, code: u64, bytes: &mut Bytes<'b>) -> Result<String> {
        Ok(match code {
            0 => {
                let names: Vec<String> = self.attributes(bytes)?.iter().map(printed).collect();
                format!("{{{}}}", names.join(", "))
            }
            1 => {
                let name = self.quoted(bytes)?;
                format!("{name}={}", bytes.signed("the size of an axis")?)
            }
            2 => {
                let axes = self.sdy_list(bytes)?;
                let devices = bytes.signed_list("devices")?;
                let devices = if devices.is_empty() { String::new() } else { format!(", device_ids={devices:?}") };
                format!("<[{axes}]{devices}>")
            }
            3 => format!("({}){}", bytes.signed("a size")?, bytes.signed("a size")?),
            4 => {
                let name = self.quoted(bytes)?;
                match Reference::optional(bytes, "a part of an axis")? {
                    Some(part) => format!("{name}:{}", self.sdy_inside(part)?),
                    None => name,
                }
            }
            5 => {
                let axes = self.sdy_list(bytes)?;
                let closed = bytes.byte("a flag")? != 0;
                let (priority, given) = bytes.flagged("a priority")?;
                let open = match (closed, axes.is_empty()) {
                    (true, _) => "",
                    (false, true) => "?",
                    (false, false) => ", ?",
                };
                let priority = if given { format!("p{priority}") } else { String::new() };
                format!("{{{axes}{open}}}{priority}")
            }
            6 | 15 => {
                let reference = Reference::read(bytes, "a mesh")?;
                let mesh = match self.attribute(reference)? {
                    Attribute::Opaque(text) => text.strip_prefix("#sdy.").unwrap_or(&text).to_string(),
                    other => printed(&other),
                };
                let dimensions = self.sdy_list(bytes)?;
                let named = |name: &str, list: String| {
                    if list.is_empty() { String::new() } else { format!(", {name}={{{list}}}") }
                };
                let replicated = named("replicated", self.sdy_list(bytes)?);
                let unreduced =
                    if code == 15 { named("unreduced", self.sdy_list(bytes)?) } else { String::new() };
                format!("<{mesh}, [{dimensions}]{replicated}{unreduced}>")
            }
            7 | 16 => format!("[{}]", self.sdy_list(bytes)?),
            8 => bytes.signed_list("factors")?.into_iter().map(factor).collect(),
            9 => format!("[{}]", self.sdy_list(bytes)?),
            10 => {
                let sizes = bytes.signed_list("sizes of factors")?;
                let (operands, results) = (self.sdy_list(bytes)?, self.sdy_list(bytes)?);
                let mut text = format!("<({operands})->({results})");
                if !sizes.is_empty() {
                    let sizes: Vec<String> =
                        sizes.iter().enumerate().map(|(i, n)| format!("{}={n}", factor(i as i64))).collect();
                    text.push_str(&format!(" {{{}}}", sizes.join(", ")));
                }
                for kind in ["reduction", "need_replication", "permutation", "blocked_propagation"] {
                    let factors: Vec<String> =
                        bytes.signed_list("factors")?.into_iter().map(factor).collect();
                    if !factors.is_empty() {
                        text.push_str(&format!(" {kind}={{{}}}", factors.join(", ")));
                    }
                }
                let custom = bytes.byte("a flag")? != 0;
                text.push_str(if custom { ", custom>" } else { ">" });
                text
            }
            11 => format!("{{{}}}", self.sdy_list(bytes)?),
            12 | 14 => format!("[{}]", self.sdy_list(bytes)?),
            _ => {
                let axes = self.sdy_list(bytes)?;
                format!("{{{axes}}}: {}->{}", bytes.signed("a dimension")?, bytes.signed("a dimension")?)
            }
        })
    }

    /// The texts between the brackets of a list of attributes.
    fn sdy_list(&mut self, bytes: &mut Bytes<'b>) -> Result<String> {
        let count = bytes.count(1, "attributes")?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            let reference = Reference::read(bytes, "an attribute")?;
            items.push(self.sdy_inside(reference)?);
        }
        Ok(items.join(", "))
    }

    /// The text between the brackets of an attribute.
    fn sdy_inside(&mut self, reference: Reference) -> Result<String> {
        let Attribute::Opaque(text) = self.attribute(reference)? else {
            return Err(malformed(reference.at, "an attribute that is none of Shardy"));
        };
        let inside = FORMS.iter().find_map(|(before, after)| {
            let rest = text.strip_prefix(before)?;
            // `#sdy.mesh` is the beginning of `#sdy.mesh_axis<` too.
            rest.strip_suffix(after).filter(|_| before.ends_with('<') || !rest.starts_with(['_', '.']))
        });
        inside.map(str::to_string).ok_or_else(|| malformed(reference.at, format!("'{text}' in Shardy")))
    }

    fn quoted(&mut self, bytes: &mut Bytes<'b>) -> Result<String> {
        let name = self.string(bytes)?;
        Ok(printed(&Attribute::String(String::from_utf8_lossy(name).into_owned())))
    }
}

/// The letter of a factor: `i` to `z`, then `z_1` and so on.
fn factor(index: i64) -> String {
    match u8::try_from(index) {
        Ok(index) if index < 18 => ((b'i' + index) as char).to_string(),
        _ => format!("z_{}", index - 17),
    }
}
