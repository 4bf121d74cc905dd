//! The caches of this machine, as the system describes them.

use std::sync::OnceLock;

/// Bytes that one processor has of the caches for data, the nearest first; 0: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// The nearest.
    pub first: usize,
    /// The second: its share, if processors share it.
    pub second: usize,
    /// The third: its share.
    pub third: usize,
    /// All of the third, as far as the processors that are seen have it.
    pub whole_third: usize,
}

/// More of the third than this no processor has, nearly: a virtual machine is told of all of a cache, most of which
/// serves processors that it does not see.
pub const MOST: usize = 16 << 20;

/// Those of this machine; all unknown where the system does not say.
pub fn host() -> Caches {
    static FOUND: OnceLock<Caches> = OnceLock::new();
    *FOUND.get_or_init(|| {
        described(|index, what| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
            std::fs::read_to_string(path).ok()
        })
    })
}

/// The caches of a description: a number and a word for a property give its text.
fn described(read: impl Fn(usize, &str) -> Option<String>) -> Caches {
    let mut caches = Caches::default();
    for index in 0.. {
        let Some(level) = read(index, "level") else { break };
        let kind = read(index, "type").unwrap_or_default();
        let bytes = read(index, "size").as_deref().and_then(size).unwrap_or(0);
        let sharing = read(index, "shared_cpu_list").as_deref().and_then(count).unwrap_or(1).max(1);
        if kind.trim() == "Instruction" {
            continue;
        }
        match level.trim() {
            "1" => caches.first = bytes / sharing,
            "2" => caches.second = bytes / sharing,
            "3" => {
                caches.third = (bytes / sharing).min(MOST);
                caches.whole_third = bytes.min(MOST * sharing);
            }
            _ => {}
        }
    }
    caches
}

/// The bytes of a text such as `1024K`.
fn size(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// How many processors a list such as `0-3,8` names.
fn count(list: &str) -> Option<usize> {
    let each = list.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    each.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions() {
        let table = [
            ["1", "Data", "48K", "0,4"],
            ["1", "Instruction", "32K", "0"],
            ["2", "Unified", "2048K", "0,4"],
            ["3", "Unified", "36M", "0-3,4-7,9"],
        ];
        let read = |index: usize, what: &str| {
            let column = ["level", "type", "size", "shared_cpu_list"].iter().position(|w| *w == what)?;
            Some(format!("{}\n", table.get(index)?[column]))
        };
        let expected = Caches { first: 24 << 10, second: 1 << 20, third: 4 << 20, whole_third: 36 << 20 };
        assert_eq!(described(read), expected);
        assert_eq!(described(|_, _| None), Caches::default());
        let seen = |index, what: &str| {
            let row = [["level", "3"], ["size", "105M"], ["shared_cpu_list", "0-1"]];
            (index == 0).then(|| row.iter().find(|r| r[0] == what).map(|r| r[1].to_string()))?
        };
        let expected = Caches { third: 16 << 20, whole_third: 32 << 20, ..Caches::default() };
        assert_eq!(described(seen), expected);
        let odd =
            |index, what: &str| (index == 0).then(|| if what == "level" { "2" } else { "?" }.to_string());
        assert_eq!(described(odd), Caches::default());
        assert_eq!([size("512"), size("3G"), size("K"), size("")], [Some(512), Some(3 << 30), None, None]);
        assert_eq!([count("7"), count("3-1"), count("x")], [Some(1), None, None]);
    }
}
