//! Blocks of a document as Markdown.

use std::io::{self, Write};

use super::escape::{self, escape, paragraph};
use crate::render::document::{
    Block, Cell, Document, FindingBlock, Form, Headline, Hint, More, Name, Prose, Section, Table, TableRow, Tone,
};
use crate::render::human::ByteUnit;
use crate::render::words::{known, say};
use crate::render::{Lang, key_text, plain};

/// Writes blocks with an empty line between them.
pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    lang: Lang,
    begun: bool,
    /// Set if the last block is an item of a list.
    in_list: bool,
}

impl<'a> Writer<'a> {
    /// Returns a writer of an empty page.
    pub fn new(out: &'a mut dyn Write, lang: Lang) -> Self {
        Writer { out, lang, begun: false, in_list: false }
    }

    /// Writes a whole document.
    pub fn document(&mut self, document: &Document) -> io::Result<()> {
        self.headline(&document.headline)?;
        document.sections.iter().try_for_each(|section| self.section(section))
    }

    fn headline(&mut self, head: &Headline) -> io::Result<()> {
        const JOINT: &str = " · ";
        for problem in &head.problems {
            self.block(&format!("> **!!** {}", escape::prose(problem)))?;
        }
        self.more(head.more_problems, head.problems.len(), &More::Json)?;
        self.block(&format!("# {}", paragraph(&head.title_facts().join(JOINT))))?;
        self.block(&paragraph(&head.size_facts().join(JOINT)))?;
        if let Some(selection) = &head.selection {
            self.block(&escape::sentence(selection))?;
        }
        head.answers.iter().try_for_each(|answers| self.table(answers))
    }

    fn section(&mut self, section: &Section) -> io::Result<()> {
        if !section.is_shown(Form::Markdown) {
            return Ok(());
        }
        if !section.title.is_empty() {
            self.block(&format!("## {}", escape(&section.title.plain())))?;
        }
        for text in &section.lead {
            self.block(&escape::sentence(text))?;
        }
        section.blocks(Form::Markdown).try_for_each(|block| self.any(block))
    }

    fn any(&mut self, block: &Block) -> io::Result<()> {
        match block {
            // Tables have headings of their own, and blocks are apart anyway.
            Block::Heading(_) => Ok(()),
            Block::Paragraph(tone, text) => self.paragraph(*tone, text),
            Block::Labelled(label, text) => self.labelled(label, &escape::prose(text)),
            Block::Notes(notes, hidden) => {
                notes.iter().try_for_each(|note| self.item(note))?;
                self.more(*hidden, notes.len(), &More::Top)
            }
            Block::Fields(fields) => self.labelled(fields.label, &escape(&fields.line())),
            Block::Table(table) => self.whole_table(table),
            Block::Tree(tree) => self.table(&tree.table(self.lang)),
            Block::Findings(list) => list.iter().try_for_each(|finding| self.finding(finding)),
            Block::Hints(hints) => self.hints(hints),
            Block::Script(steps) => {
                let lines: Vec<String> =
                    steps.iter().map(|(command, effect)| format!("# {effect}\n{}", key_text::text(command))).collect();
                self.block(&format!("```sh\n{}\n```", lines.join("\n")))
            }
            // Left out by `Section::blocks`.
            Block::Split(_) | Block::Classes(_) | Block::Strip(_) => Ok(()),
        }
    }

    fn paragraph(&mut self, tone: Tone, text: &Prose) -> io::Result<()> {
        match tone {
            Tone::Plain | Tone::Faint => self.block(&escape::sentence(text)),
            Tone::Strong => self.block(&format!("### {}", escape::prose(text))),
            Tone::Warning | Tone::Alarm => self.block(&format!("**{}**", escape::prose(text))),
        }
    }

    /// Writes a text that is escaped already after its label.
    fn labelled(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.block(&format!("{} {text}", escape(label.trim())))
    }

    fn finding(&mut self, it: &FindingBlock) -> io::Result<()> {
        let (severity, rule, demand) =
            (known::severity(it.severity, self.lang), key_text::text(&it.rule), it.demand.plain());
        let head = say!(self.lang, "{severity} {rule}: {demand}", "{severity} {rule}：{demand}");
        self.block(&format!("### {}", escape(&head)))?;
        self.whole_table(&it.places)?;
        for detail in &it.details {
            self.item(detail)?;
        }
        self.block(&format!("→ {}", escape::prose(&it.fix)))?;
        it.source.iter().try_for_each(|source| self.block(&format!("> {}", escape::prose(source))))
    }

    fn whole_table(&mut self, table: &Table) -> io::Result<()> {
        self.table(table)?;
        for note in table.notes(Form::Markdown) {
            self.block(&paragraph(self.lang.pick(note)))?;
        }
        self.more(table.rest(), table.rows.len(), &table.more)
    }

    /// Writes a table: whole names, every column that has a figure, no emphasis.
    fn table(&mut self, table: &Table) -> io::Result<()> {
        if table.rows.is_empty() {
            return Ok(());
        }
        let columns: Vec<(usize, ByteUnit)> =
            table.shown(Form::Markdown).into_iter().map(|at| (at, plain::unit(table, at))).collect();
        let heading = |&(at, unit): &(usize, ByteUnit)| escape::cell(&plain::heading(table, at, unit, self.lang));
        let heads = columns.iter().map(heading).collect();
        let numeric: Vec<bool> = columns.iter().map(|&(at, _)| table.columns[at].numeric).collect();
        let row = |row: &TableRow| columns.iter().map(|&(at, unit)| self.cell(row, at, unit)).collect();
        let text = escape::table(heads, &numeric, table.rows.iter().map(row));
        self.block(&text)
    }

    fn cell(&self, row: &TableRow, at: usize, unit: ByteUnit) -> String {
        let text = plain::text(&row.cells[at], unit, self.lang);
        let text = if at == 0 { format!("{}{text}", "  ".repeat(row.depth)) } else { text };
        match &row.cells[at] {
            Cell::Name(Name::Key(_) | Name::Pattern(_) | Name::Plain(_)) => escape::name(&text),
            _ => escape::cell(&text),
        }
    }

    fn hints(&mut self, hints: &[Hint]) -> io::Result<()> {
        let commands: Vec<(&str, &str)> =
            hints.iter().filter_map(|hint| Some((hint.commands.first()?.as_str(), hint.answer))).collect();
        let widest = commands.iter().map(|(command, _)| key_text::width(command)).max().unwrap_or(0);
        let beside = |(command, answer): &(&str, &str)| {
            let pad = " ".repeat(widest - key_text::width(command));
            format!("{command}{pad}  # {answer}")
        };
        let lines: Vec<String> = commands.iter().map(beside).collect();
        self.block(&format!("```sh\n{}\n```", lines.join("\n")))
    }

    fn more(&mut self, hidden: u64, shown: usize, more: &More) -> io::Result<()> {
        let quoted = match more {
            // One command is enough, since nothing limits the width.
            More::Keys(commands) => More::Keys(commands.iter().take(1).map(|command| escape::name(command)).collect()),
            More::Top | More::Open | More::Json => more.clone(),
        };
        match quoted.line(hidden, shown, self.lang, |_| true) {
            Some(line) => self.block(&line),
            None => Ok(()),
        }
    }

    /// Writes a block, apart from the one before it.
    fn block(&mut self, block: &str) -> io::Result<()> {
        let gap = if self.begun { "\n" } else { "" };
        (self.begun, self.in_list) = (true, false);
        writeln!(self.out, "{gap}{block}")
    }

    /// Writes an item of a list.
    fn item(&mut self, text: &Prose) -> io::Result<()> {
        let gap = if self.begun && !self.in_list { "\n" } else { "" };
        (self.begun, self.in_list) = (true, true);
        writeln!(self.out, "{gap}- {}", escape::sentence(text))
    }
}
