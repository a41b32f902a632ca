//! A report as a document: sections of blocks with raw values, ready for any backend.
//!
//! ```text
//! Report ─► sections/* ─► Document ─► terminal, markdown, html
//!           what is shown             units, alignment, colour, escaping
//! ```
//!
//! Values in cells are raw: bytes, counts, shares, times, names. A backend decides how they look. Sentences are in the language
//! that the document was built for; names in them are marked (see [`Prose`]), so that a backend can set them apart.

mod block;
mod cell;
mod form;
mod headline;
mod more;
mod pictures;
mod prose;
mod table;
mod tree;

use super::Lang;
pub use block::{Block, Fields, FindingBlock, Hint, Section};
pub use cell::{Cell, Name};
pub use form::{Form, Forms};
pub use headline::{Headline, Highlight, Tile};
pub use more::More;
pub use pictures::{ClassBar, Classes, Range, Scale, Split, Strip, StripRange, TrendChart};
pub use prose::{Part, Prose, inline, inline_key, inline_pattern, inline_visible};
pub use table::{Column, Table, TableOf, TableRow, Tone};
pub use tree::Tree;

/// A report, ready to be written in any form.
#[derive(Debug)]
pub struct Document {
    /// Language of all text that does not come from the snapshot.
    pub lang: Lang,
    /// The answer in short.
    pub headline: Headline,
    /// Sections from top to bottom.
    pub sections: Vec<Section>,
}

/// Sizes of the lists that a document is built with. Everything else is counted as hidden.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// Language of the document.
    pub lang: Lang,
    /// Rows of a list.
    pub rows: usize,
    /// Rows of a list that is usually short and is wanted whole, such as files.
    pub many: usize,
    /// Rows of a list within a row of another, such as the patterns of a finding.
    pub inner: usize,
    /// Nodes of the prefix tree.
    pub nodes: usize,
    /// True if sections were chosen: each stands by itself, and none leaves out what another shows.
    pub apart: bool,
}

/// Patterns of each finding in a text.
const PATTERNS_OF_A_FINDING: usize = 4;

/// Nodes of the prefix tree in a text: the heaviest, wherever they are in it.
const TREE_ROWS: usize = 32;

impl Scope {
    /// Returns the scope of a text with at most this many rows a list.
    pub fn text(rows: usize, lang: Lang) -> Scope {
        Scope { lang, rows, many: usize::MAX, inner: rows.min(PATTERNS_OF_A_FINDING), nodes: TREE_ROWS, apart: false }
    }

    /// Rows of an ordinary list that are shown.
    pub fn first<'t, T>(&self, list: &'t [T]) -> &'t [T] {
        list.get(..self.rows).unwrap_or(list)
    }
}
