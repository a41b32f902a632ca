//! Sections and the blocks that they consist of.

use super::{Cell, Classes, Form, Forms, Prose, Split, Strip, Table, Tone, Tree};
use crate::render::key_text;
use crate::report::Text;
use crate::report::{Severity, Word};
use crate::units::Bytes;

/// One part of a document, under a heading.
#[derive(Debug)]
pub struct Section {
    /// Anchor of the section; unique in a document.
    pub id: &'static str,
    /// Heading; empty for a section that needs none.
    pub title: Prose,
    /// Sentences below the heading.
    pub lead: Vec<Prose>,
    /// Blocks, each with the forms that it is meant for.
    blocks: Vec<(Forms, Block)>,
}

impl Section {
    /// Returns a section with a heading and nothing below it.
    pub fn new(id: &'static str, title: impl Into<Prose>) -> Section {
        Section { id, title: title.into(), lead: Vec::new(), blocks: Vec::new() }
    }

    /// Adds a sentence below the heading.
    pub fn lead(mut self, text: impl Into<Prose>) -> Section {
        self.lead.push(text.into());
        self
    }

    /// Adds a block for every form.
    pub fn with(self, block: impl Into<Block>) -> Section {
        self.with_in(Forms::ALL, block)
    }

    /// Adds a block for some forms only.
    pub fn with_in(mut self, forms: Forms, block: impl Into<Block>) -> Section {
        self.blocks.push((forms, block.into()));
        self
    }

    /// Adds a block if there is one.
    pub fn with_some(self, block: Option<impl Into<Block>>) -> Section {
        match block {
            Some(block) => self.with(block),
            None => self,
        }
    }

    /// Returns the blocks that a form shows. The only place that leaves blocks out.
    pub fn blocks(&self, form: Form) -> impl Iterator<Item = &Block> {
        self.blocks
            .iter()
            .filter(move |(forms, block)| forms.has(form) && block.forms().has(form))
            .map(|(_, block)| block)
    }

    /// Returns whether a form has anything to show of the section.
    pub fn is_shown(&self, form: Form) -> bool {
        !self.lead.is_empty() || self.blocks(form).next().is_some()
    }
}

/// One part of a section.
#[derive(Debug)]
pub enum Block {
    /// A heading within the section; the terminal leaves a line empty instead.
    Heading(String),
    /// A paragraph.
    Paragraph(Tone, Prose),
    /// A paragraph after a word that says what it lists.
    Labelled(&'static str, Prose),
    /// Remarks, one a line, and the number of those left out.
    Notes(Vec<Prose>, u64),
    /// Names with their values.
    Fields(Fields),
    /// A table.
    Table(Table),
    /// The tree of prefixes.
    Tree(Tree),
    /// Findings, one after the other.
    Findings(Vec<FindingBlock>),
    /// Division of a whole.
    Split(Split),
    /// Columns over classes.
    Classes(Classes),
    /// Colours over a line of slots.
    Strip(Strip),
    /// Commands to run next.
    Hints(Vec<Hint>),
    /// Commands to run in this order, each with its effect. They are there whole, however narrow the page is.
    Script(Vec<(String, String)>),
}

impl Block {
    /// Returns the forms that can show a block of this kind: pictures need HTML, and commands a terminal to paste them into.
    const fn forms(&self) -> Forms {
        match self {
            Block::Split(_) | Block::Classes(_) | Block::Strip(_) => Forms::HTML,
            Block::Hints(_) => Forms::TEXT,
            Block::Heading(_)
            | Block::Paragraph(..)
            | Block::Labelled(..)
            | Block::Notes(..)
            | Block::Fields(_)
            | Block::Table(_)
            | Block::Tree(_)
            | Block::Findings(_)
            | Block::Script(_) => Forms::ALL,
        }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Block {
        Block::Table(table)
    }
}

/// Names with their values, both chosen by others.
#[derive(Debug)]
pub struct Fields {
    /// Short label.
    pub label: &'static str,
    /// Description, where there is room for it.
    pub title: String,
    /// Names and values.
    pub list: Vec<(String, String)>,
}

impl Fields {
    /// Returns all on one line: `name=value  name=value`.
    pub fn line(&self) -> String {
        let fields: Vec<String> = self.list.iter().map(|(name, value)| format!("{name}={value}")).collect();
        key_text::text(&fields.join("  ")).into_owned()
    }
}

/// One finding of the policy with the places where it was found.
#[derive(Debug)]
pub struct FindingBlock {
    /// Severity.
    pub severity: Severity,
    /// Id of the rule.
    pub rule: Word,
    /// Demand of the rule.
    pub demand: Prose,
    /// Remedy.
    pub fix: Prose,
    /// Passage of a document that demands the rule.
    pub source: Option<Prose>,
    /// Number of keys, unless the finding is not about keys.
    pub keys: Option<u64>,
    /// Memory, where it has any.
    pub memory: Option<Bytes>,
    /// Memory of all keys.
    pub whole: Bytes,
    /// Further figures with their names.
    pub figures: Vec<(Text, Cell)>,
    /// Patterns that break the rule.
    pub places: Table,
    /// Details of these places.
    pub details: Vec<Prose>,
}

/// A command that answers the reader's next question.
#[derive(Debug)]
pub struct Hint {
    /// The command, the best first: with the names of the files, then with placeholders.
    pub commands: Vec<String>,
    /// Answer in a few words.
    pub answer: &'static str,
    /// Answer if a table had to leave out columns.
    pub answer_if_cut: Option<&'static str>,
    /// Set to leave out the answer where it does not fit beside the command.
    pub brief: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_left_out_by_form() {
        let section = Section::new("s", "title")
            .with(Block::Hints(Vec::new()))
            .with(Block::Split(Split { label: String::new(), parts: Vec::new() }))
            .with_in(Forms::TEXT, Block::Heading("only here".to_owned()));
        let shown = [Form::Terminal, Form::Markdown, Form::Html].map(|form| section.blocks(form).count());
        assert_eq!(shown, [2, 2, 1]);
        assert!(!Section::new("s", "title").is_shown(Form::Html));
    }
}
