//! A page of lines that all fit its width, and their emphasis.

use std::io::{self, Write};

use crate::render::key_text::{fit, width};
use crate::render::words::say;
use crate::render::wrap::wrap;
use crate::render::{Lang, TableOptions, human, markdown};

/// The emphasis of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::render) enum Tone {
    #[default]
    Plain,
    Bold,
    Faint,
    /// A finding.
    Warning,
    /// The figures themselves are in doubt.
    Alarm,
    /// The severest of findings.
    Severe,
    /// What stands out for its form: bars, placeholders.
    Accent,
}

impl Tone {
    /// The emphasis of a severity.
    pub fn of_severity(severity: &str) -> Tone {
        match severity {
            "must" => Tone::Severe,
            "should" => Tone::Warning,
            "hint" => Tone::Faint,
            _ => Tone::Plain,
        }
    }

    const fn start(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Bold => "\x1b[1m",
            Tone::Faint => "\x1b[2m",
            Tone::Warning => "\x1b[33m",
            Tone::Alarm => "\x1b[1;31m",
            Tone::Severe => "\x1b[31m",
            Tone::Accent => "\x1b[36m",
        }
    }

    /// The text with this emphasis.
    pub fn paint(self, text: &str) -> String {
        if self == Tone::Plain || text.is_empty() { text.to_owned() } else { format!("{}{text}\x1b[0m", self.start()) }
    }
}

/// An emphasis of some columns of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::render) struct Span {
    /// The first column.
    pub from: usize,
    /// The column behind the last.
    pub to: usize,
    pub tone: Tone,
}

/// What a page is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Medium {
    /// Lines of this many columns, with ANSI sequences or without.
    Terminal { ansi: bool },
    /// Blocks, see [`crate::render::markdown`].
    Markdown,
}

/// Where sections write to. Text given to it is escaped already, as for a terminal.
pub(in crate::render) struct Page<'a> {
    out: &'a mut dyn Write,
    width: usize,
    medium: Medium,
    rows: usize,
    bars: bool,
    lang: Lang,
    /// Where rules between sections end.
    margin: usize,
    begun: bool,
    /// Whether the last block of a page of Markdown is an item of a list.
    in_list: bool,
    /// Set when a table had to leave out columns.
    pub columns_left_out: bool,
}

impl<'a> Page<'a> {
    /// A page of so many columns, which looks as the options say.
    pub fn new(out: &'a mut dyn Write, width: u16, options: TableOptions) -> Self {
        let TableOptions { ansi, bars, rows, lang, .. } = options;
        let margin = usize::from(if options.wide { options.margin() } else { width });
        Page {
            out,
            width: usize::from(width),
            medium: Medium::Terminal { ansi },
            rows,
            bars,
            lang,
            margin,
            begun: false,
            in_list: false,
            columns_left_out: false,
        }
    }

    /// A page of Markdown.
    pub fn markdown(out: &'a mut dyn Write, rows: usize, lang: Lang) -> Self {
        Page {
            out,
            width: usize::MAX,
            medium: Medium::Markdown,
            rows,
            bars: false,
            lang,
            margin: 0,
            begun: false,
            in_list: false,
            columns_left_out: false,
        }
    }

    /// Whether the page is Markdown.
    pub fn is_markdown(&self) -> bool {
        self.medium == Medium::Markdown
    }

    /// The language of what is written.
    pub fn lang(&self) -> Lang {
        self.lang
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether shares have bars beside them.
    pub fn has_bars(&self) -> bool {
        self.bars
    }

    /// The rows of a list that are shown.
    pub fn first<'b, T>(&self, list: &'b [T]) -> &'b [T] {
        &list[..list.len().min(self.rows)]
    }

    /// One line; a longer text loses its middle.
    pub fn line(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        self.spans(tone, text, &[])
    }

    /// One line with parts that have an emphasis of their own, from left to right.
    pub fn spans(&mut self, tone: Tone, text: &str, spans: &[Span]) -> io::Result<()> {
        self.begun = true;
        let text = fit(text.trim_end(), self.width);
        if self.medium != (Medium::Terminal { ansi: true }) {
            return writeln!(self.out, "{text}");
        }
        let mut rest: &str = &text;
        let mut at = 0;
        let mut line = String::new();
        for span in spans {
            let (before, behind) = split_at_column(rest, span.from.saturating_sub(at));
            let (part, behind) = split_at_column(behind, span.to.saturating_sub(span.from));
            line += &tone.paint(before);
            line += &span.tone.paint(part);
            (rest, at) = (behind, span.to);
        }
        line += &tone.paint(rest);
        writeln!(self.out, "{line}")
    }

    /// An empty line between what was written and what follows.
    pub fn gap(&mut self) -> io::Result<()> {
        if self.begun && !self.is_markdown() { self.line(Tone::Plain, "") } else { Ok(()) }
    }

    /// The first line of a section, with a rule up to the margin.
    pub fn title(&mut self, title: &str) -> io::Result<()> {
        if self.is_markdown() {
            return self.block(&format!("## {}", markdown::escape(title)));
        }
        self.gap()?;
        let rule = "─".repeat(self.margin.saturating_sub(width(title) + 4));
        let span = Span { from: 3, to: 3 + width(title), tone: Tone::Bold };
        self.spans(Tone::Faint, &format!("── {title} {rule}"), &[span])
    }

    /// A paragraph, broken between words.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.hanging(Tone::Plain, "", text)
    }

    /// A paragraph behind a mark; its lines after the first are indented by the mark's width.
    pub fn hanging(&mut self, tone: Tone, mark: &str, text: &str) -> io::Result<()> {
        if self.is_markdown() {
            return match (mark.trim(), tone) {
                ("", Tone::Bold) => self.block(&format!("### {}", markdown::escape(text))),
                ("", Tone::Plain) => self.block(&markdown::paragraph(text)),
                ("", Tone::Warning | Tone::Alarm) => self.block(&format!("**{}**", markdown::escape(text))),
                ("!!", _) => self.block(&format!("> **!!** {}", markdown::escape(text))),
                ("" | "-", _) => self.item(text),
                (mark, _) => self.block(&format!("{} {}", markdown::escape(mark), markdown::escape(text))),
            };
        }
        let indent = " ".repeat(width(mark));
        let mut mark = mark;
        for line in wrap(text, self.width.saturating_sub(indent.len())) {
            self.line(tone, &format!("{mark}{line}"))?;
            mark = &indent;
        }
        Ok(())
    }

    /// A paragraph whose beginning has an emphasis of its own.
    pub fn opened(&mut self, tone: Tone, opening: Span, text: &str) -> io::Result<()> {
        if self.is_markdown() {
            return self.hanging(tone, "", text);
        }
        let opening = [opening];
        let mut spans = opening.as_slice();
        for line in wrap(text, self.width) {
            self.spans(tone, &line, spans)?;
            spans = &[];
        }
        Ok(())
    }

    /// Facts side by side, broken between them only.
    pub fn facts(&mut self, tone: Tone, facts: &[String]) -> io::Result<()> {
        const JOINT: &str = " · ";
        if self.is_markdown() {
            let facts = markdown::paragraph(&facts.join(JOINT));
            return self.block(&if tone == Tone::Bold { format!("# {facts}") } else { facts });
        }
        let mut line = String::new();
        for fact in facts {
            let fact = fit(fact, self.width);
            if !line.is_empty() && width(&line) + width(JOINT) + width(&fact) > self.width {
                self.line(tone, &line)?;
                line.clear();
            }
            if !line.is_empty() {
                line.push_str(JOINT);
            }
            line.push_str(&fact);
        }
        self.line(tone, &line)
    }

    /// Says that a list goes on, if it does.
    pub fn more(&mut self, shown: usize, all: usize) -> io::Result<()> {
        match u64::try_from(all.saturating_sub(shown)).unwrap_or(u64::MAX) {
            0 => Ok(()),
            hidden => {
                let hidden = human::count(hidden);
                let text = say!(self.lang, "… {hidden} more with --format json", "… 其余 {hidden} 项见 --format json");
                if self.is_markdown() { self.block(&text) } else { self.line(Tone::Faint, &text) }
            }
        }
    }

    /// Commands, each with what it answers.
    pub fn commands(&mut self, commands: &[(String, &str)]) -> io::Result<()> {
        let widest = commands.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
        let beside = |command: &str, answer: &str| {
            let pad = " ".repeat(widest - width(command));
            format!("{command}{pad}  # {answer}")
        };
        if self.is_markdown() {
            let lines: Vec<String> = commands.iter().map(|(command, answer)| beside(command, answer)).collect();
            return self.block(&format!("```sh\n{}\n```", lines.join("\n")));
        }
        for (command, answer) in commands {
            if widest + width(answer) + 4 <= self.width {
                let comment = Span { from: widest + 2, to: usize::MAX, tone: Tone::Faint };
                self.spans(Tone::Plain, &beside(command, answer), &[comment])?;
            } else {
                self.line(Tone::Faint, &format!("# {answer}"))?;
                self.line(Tone::Plain, command)?;
            }
        }
        Ok(())
    }

    /// A table as [`markdown::table`] makes it.
    pub fn markdown_table(&mut self, table: &str) -> io::Result<()> {
        self.block(table)
    }

    /// A block of Markdown, apart from the one before it.
    fn block(&mut self, block: &str) -> io::Result<()> {
        let gap = if self.begun { "\n" } else { "" };
        (self.begun, self.in_list) = (true, false);
        writeln!(self.out, "{gap}{block}")
    }

    /// An item of a list of Markdown.
    fn item(&mut self, text: &str) -> io::Result<()> {
        let gap = if self.begun && !self.in_list { "\n" } else { "" };
        (self.begun, self.in_list) = (true, true);
        writeln!(self.out, "{gap}- {}", markdown::paragraph(text))
    }
}

/// The text up to a column, and the rest.
fn split_at_column(text: &str, column: usize) -> (&str, &str) {
    // Outside of ASCII the width of a text is not the sum of its characters': an emoji and its skin colour are one.
    let (mut before, mut run) = (0, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let columns = before + width(&text[run..end]);
        if columns > column {
            return text.split_at(at);
        }
        if c.is_ascii() {
            (before, run) = (columns, end);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: u16, ansi: bool, write: impl FnOnce(&mut Page<'_>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut Page::new(&mut out, width, TableOptions { ansi, ..TableOptions::default() })).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn paragraphs_break_between_words_and_hang() {
        let text = page(12, false, |page| page.hanging(Tone::Alarm, "!! ", "one two three abcdefghijklmnop"));
        assert_eq!(text, "!! one two\n   three\n   abcd…mnop\n");
    }

    #[test]
    fn facts_break_between_each_other_only() {
        let facts = ["1,234 keys", "5 MiB", "checksum ok"].map(str::to_owned);
        assert_eq!(page(20, false, |page| page.facts(Tone::Plain, &facts)), "1,234 keys · 5 MiB\nchecksum ok\n");
    }

    #[test]
    fn titles_reach_the_margin() {
        assert_eq!(page(12, false, |page| page.title("Big")), "── Big ─────\n");
        assert_eq!(width(page(60, false, |page| page.title("键")).trim_end()), 60);
    }

    #[test]
    fn parts_of_a_line_have_their_own_emphasis() {
        let span = |from, to| Span { from, to, tone: Tone::Accent };
        let line = |spans: &[Span]| page(20, true, |page| page.spans(Tone::Plain, "键a值 bars", spans));
        assert_eq!(line(&[span(0, 2), span(3, 5)]), "\x1b[36m键\x1b[0ma\x1b[36m值\x1b[0m bars\n");
        assert_eq!(line(&[span(6, 400)]), "键a值 \x1b[36mbars\x1b[0m\n");
        assert_eq!(line(&[span(400, 500)]), "键a值 bars\n");
        let emoji = page(20, true, |page| page.spans(Tone::Plain, "👍🏽 e\u{301} bars", &[span(5, 9)]));
        assert_eq!(emoji, "👍🏽 e\u{301} \x1b[36mbars\x1b[0m\n");
    }

    #[test]
    fn emphasis_takes_no_columns_and_only_where_wanted() {
        assert_eq!(page(5, true, |page| page.line(Tone::Bold, "abcdef")), "\x1b[1mab…ef\x1b[0m\n");
        assert_eq!(page(5, false, |page| page.line(Tone::Bold, "abcdef")), "ab…ef\n");
        assert_eq!(page(5, true, |page| page.line(Tone::Bold, "")), "\n");
    }
}
