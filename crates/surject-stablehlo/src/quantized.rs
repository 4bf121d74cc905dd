//! Quantized element types: integers that stand for `(i - zero_point) * scale`.

use std::hash::{Hash, Hasher};

use crate::types::ElementType;

/// `!quant.uniform<storage<min:max>:expressed:dimension, {scale:zero_point, …}>`; per tensor without a dimension.
///
/// Two spellings of one type are equal. The text of the source is kept for printing. The constraints (C1) to (C13) of
/// the specification are the verifier's.
#[derive(Clone, Debug)]
pub struct QuantizedType {
    text: String,
    /// Type of what is stored: `i8`, or `ui8` where the text says `u8`.
    pub storage: ElementType,
    /// Bits of what is stored.
    pub storage_bits: u32,
    /// Smallest stored value.
    pub storage_min: i64,
    /// Largest stored value.
    pub storage_max: i64,
    /// Type of what is meant.
    pub expressed: ElementType,
    /// The dimension that has a scale for each index; none where one scale holds for the whole tensor.
    pub dimension: Option<i64>,
    /// Scales, one or as many as the dimension has indices.
    pub scales: Vec<f64>,
    /// Zero points, as many as scales.
    pub zero_points: Vec<i64>,
}

impl QuantizedType {
    /// The type as the source wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a dimension has scales of its own.
    pub fn is_per_axis(&self) -> bool {
        self.dimension.is_some()
    }

    /// Whether storage, expressed type and dimension are the same; scales and zero points may differ.
    pub fn same_baseline(&self, other: &QuantizedType) -> bool {
        self.same_but_dimension(other, false) && self.dimension == other.dimension
    }

    /// Whether all but the dimension (and, without `parameters`, scales and zero points) are the same.
    pub fn same_but_dimension(&self, other: &QuantizedType, parameters: bool) -> bool {
        self.storage == other.storage
            && (self.storage_min, self.storage_max) == (other.storage_min, other.storage_max)
            && self.expressed == other.expressed
            && (!parameters
                || (bits(&self.scales).eq(bits(&other.scales)) && self.zero_points == other.zero_points))
    }

    /// The type that the text spells; none for forms that are kept as text (blocks of scales), what is wrong otherwise.
    pub(crate) fn parse(text: &str) -> Result<Option<QuantizedType>, String> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let inside = compact.strip_prefix("!quant.uniform<").and_then(|rest| rest.strip_suffix('>'));
        let Some(inside) = inside else { return Ok(None) };
        let storage_end = inside.find(['<', ':']).ok_or("the expressed type is missing")?;
        let (storage_text, mut rest) = inside.split_at(storage_end);
        let (signed, width) = match storage_text.strip_prefix('u') {
            Some(rest) => (false, rest.trim_start_matches('i')),
            None => (true, storage_text.strip_prefix('i').ok_or("the storage type is no integer type")?),
        };
        let storage_bits: u32 =
            width.parse().map_err(|_| "the storage type is no integer type".to_string())?;
        if !(1..=32).contains(&storage_bits) {
            return Err(format!("the storage type has {storage_bits} bits, not 1 to 32"));
        }
        let keyword = format!("{}{storage_bits}", if signed { "i" } else { "ui" });
        let storage = ElementType::from_keyword(&keyword).unwrap_or(ElementType::Other(keyword));
        let (mut storage_min, mut storage_max) = if signed {
            (-(1i64 << (storage_bits - 1)), (1i64 << (storage_bits - 1)) - 1)
        } else {
            (0, (1i64 << storage_bits) - 1)
        };
        if let Some(range) = rest.strip_prefix('<') {
            let (range, after) = range.split_once('>').ok_or("the storage range does not end")?;
            let (min, max) = range.split_once(':').ok_or("the storage range is not 'min:max'")?;
            let bound = |text: &str| text.parse::<i64>().map_err(|_| format!("'{text}' is no storage bound"));
            let (low, high) = (bound(min)?, bound(max)?);
            if low < storage_min || high > storage_max || low >= high {
                return Err(format!(
                    "the storage range {low}:{high} is not within {storage_min}:{storage_max}"
                ));
            }
            (storage_min, storage_max) = (low, high);
            rest = after;
        }
        rest = rest.strip_prefix(':').ok_or("the expressed type is missing")?;
        let (head, parameters) = rest.split_once(',').ok_or("the scale is missing")?;
        if head.contains('{') || parameters.starts_with("{{") {
            return Ok(None);
        }
        let (expressed_text, dimension) = match head.split_once(':') {
            Some((expressed, dimension)) => {
                let dimension =
                    dimension.parse::<i64>().map_err(|_| format!("'{dimension}' is no dimension"))?;
                (expressed, Some(dimension))
            }
            None => (head, None),
        };
        let expressed = ElementType::from_keyword(expressed_text)
            .filter(ElementType::is_float)
            .ok_or_else(|| format!("the expressed type '{expressed_text}' is no float type"))?;
        let list = match (dimension, parameters.strip_prefix('{')) {
            (Some(_), Some(list)) => list.strip_suffix('}').ok_or("the list of scales does not end")?,
            (None, None) => parameters,
            (Some(_), None) => return Err("a dimension needs a list of scales, '{…}'".into()),
            (None, Some(_)) => return Err("a list of scales needs a dimension".into()),
        };
        let (mut scales, mut zero_points) = (Vec::new(), Vec::new());
        for item in list.split(',') {
            let (scale, zero_point) = item.split_once(':').unwrap_or((item, "0"));
            scales.push(scale.parse::<f64>().map_err(|_| format!("'{scale}' is no scale"))?);
            zero_points
                .push(zero_point.parse::<i64>().map_err(|_| format!("'{zero_point}' is no zero point"))?);
        }
        Ok(Some(QuantizedType {
            text: text.to_string(),
            storage,
            storage_bits,
            storage_min,
            storage_max,
            expressed,
            dimension,
            scales,
            zero_points,
        }))
    }
}

fn bits(scales: &[f64]) -> impl Iterator<Item = u64> + '_ {
    scales.iter().map(|s| s.to_bits())
}

impl PartialEq for QuantizedType {
    fn eq(&self, other: &QuantizedType) -> bool {
        self.same_but_dimension(other, true) && self.dimension == other.dimension
    }
}

impl Eq for QuantizedType {}

impl Hash for QuantizedType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.storage, self.storage_min, self.storage_max, &self.expressed, self.dimension).hash(state);
        bits(&self.scales).for_each(|b| b.hash(state));
        self.zero_points.hash(state);
    }
}
