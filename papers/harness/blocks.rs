//! Fenced blocks of Markdown files, with the place they stand at.

use std::path::{Path, PathBuf};

/// A Markdown file and its fenced blocks.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The path from the root of the repository.
    pub name: String,
    /// The headings in order, without their marks.
    pub headings: Vec<String>,
    /// The blocks in order.
    pub blocks: Vec<Block>,
}

/// A fenced block that says what it is.
#[derive(Clone, Debug)]
pub struct Block {
    /// `file:line` of the opening fence.
    pub place: String,
    /// The first word after the fence.
    pub kind: String,
    /// The other words after the fence.
    pub words: Vec<String>,
    /// The heading the block stands under, without its marks.
    pub heading: String,
    /// What stands between the fences.
    pub text: String,
    /// Has the block before this one the same first word, and stands under the same heading?
    pub follows: bool,
}

impl Block {
    /// Is this one of the words after the fence?
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }
}

/// Every paper: the `README.md` files below the folder of this package.
pub fn papers() -> Result<Vec<Paper>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path().join("README.md"))).filter(|p| p.is_file()).collect();
    files.sort();
    files.iter().map(|path| Paper::read(path, folder)).collect()
}

impl Paper {
    fn read(path: &Path, folder: &Path) -> Result<Paper, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let short = path.strip_prefix(folder).unwrap_or(path);
        Paper::parse(&format!("papers/{}", short.display()), &text)
    }

    /// Finds the fenced blocks of a text.
    pub fn parse(name: &str, text: &str) -> Result<Paper, String> {
        let mut paper = Paper { name: name.to_string(), headings: Vec::new(), blocks: Vec::new() };
        let mut heading = String::new();
        let mut open: Option<Block> = None;
        for (number, line) in (1..).zip(text.lines()) {
            match (&mut open, line.strip_prefix("```")) {
                (Some(_), Some("")) => paper.blocks.extend(open.take()),
                (Some(block), _) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, Some(info)) => {
                    let mut words = info.split_whitespace().map(str::to_string);
                    let kind = words.next().unwrap_or_default();
                    let before = paper.blocks.last();
                    open = Some(Block {
                        place: format!("{name}:{number}"),
                        follows: before.is_some_and(|b| b.kind == kind && b.heading == heading),
                        kind,
                        words: words.collect(),
                        heading: heading.clone(),
                        text: String::new(),
                    });
                }
                (None, None) if line.starts_with('#') => {
                    heading = line.trim_start_matches('#').trim().replace('`', "");
                    paper.headings.push(heading.clone());
                }
                (None, None) => {}
            }
        }
        match open {
            Some(block) => Err(format!("{}: the block is never closed", block.place)),
            None => Ok(paper),
        }
    }

    /// The blocks of a kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |b| b.kind == kind)
    }
}
