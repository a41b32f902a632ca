//! A page of lines that all fit its width, and their style.

use std::io::{self, Write};

use crate::render::document::{More, Tone};
use crate::render::key_text::{self, fit, width};
use crate::render::wrap::wrap;
use crate::render::{Lang, TableOptions};
use crate::report::Severity;

/// Style of a line or a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::render) enum Style {
    #[default]
    Plain,
    Bold,
    Faint,
    /// A finding.
    Warning,
    /// Figures in doubt.
    Alarm,
    /// The severest of findings.
    Severe,
    /// Bars and placeholders.
    Accent,
}

impl Style {
    /// Returns the style of a severity.
    pub fn of_severity(severity: Severity) -> Style {
        match severity {
            Severity::Must => Style::Severe,
            Severity::Should => Style::Warning,
            Severity::Hint => Style::Faint,
        }
    }

    /// Returns the style of a tone.
    pub const fn of(tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::Plain,
            Tone::Strong => Style::Bold,
            Tone::Faint => Style::Faint,
            Tone::Warning => Style::Warning,
            Tone::Alarm => Style::Alarm,
        }
    }

    const fn start(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Bold => "\x1b[1m",
            Style::Faint => "\x1b[2m",
            Style::Warning => "\x1b[33m",
            Style::Alarm => "\x1b[1;31m",
            Style::Severe => "\x1b[31m",
            Style::Accent => "\x1b[36m",
        }
    }

    /// Returns the text in this style.
    pub fn paint(self, text: &str) -> String {
        if self == Style::Plain || text.is_empty() { text.to_owned() } else { format!("{}{text}\x1b[0m", self.start()) }
    }
}

/// Columns of a line with a style of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::render) struct Span {
    /// First column.
    pub from: usize,
    /// Column after the last.
    pub to: usize,
    pub style: Style,
}

/// Lines of limited width on their way out. Text given to it is visible already (see [`crate::render::key_text`]); what is not
/// becomes so here.
pub(in crate::render) struct TextPage<'a> {
    out: &'a mut dyn Write,
    width: usize,
    ansi: bool,
    bars: bool,
    lang: Lang,
    /// Where rules between sections end.
    margin: usize,
    begun: bool,
    /// Set when a table had to leave out columns.
    pub columns_left_out: bool,
}

impl<'a> TextPage<'a> {
    /// Returns a page of this width.
    pub fn new(out: &'a mut dyn Write, width: u16, options: TableOptions) -> Self {
        let TableOptions { ansi, bars, lang, .. } = options;
        let margin = usize::from(if options.wide { options.margin() } else { width });
        TextPage { out, width: usize::from(width), ansi, bars, lang, margin, begun: false, columns_left_out: false }
    }

    /// Returns the language of the page.
    pub fn lang(&self) -> Lang {
        self.lang
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns whether shares have bars beside them.
    pub fn has_bars(&self) -> bool {
        self.bars
    }

    /// Writes a line; a longer text loses its middle.
    pub fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.spans(style, text, &[])
    }

    /// Writes a line with parts that have a style of their own, from left to right.
    pub fn spans(&mut self, style: Style, text: &str, spans: &[Span]) -> io::Result<()> {
        self.begun = true;
        let text = key_text::text(text.trim_end());
        let text = fit(&text, self.width);
        if !self.ansi {
            return writeln!(self.out, "{text}");
        }
        let mut rest: &str = &text;
        let mut at = 0;
        let mut line = String::new();
        for span in spans {
            let (before, behind) = split_at_column(rest, span.from.saturating_sub(at));
            let (part, behind) = split_at_column(behind, span.to.saturating_sub(span.from));
            line += &style.paint(before);
            line += &span.style.paint(part);
            (rest, at) = (behind, span.to);
        }
        line += &style.paint(rest);
        writeln!(self.out, "{line}")
    }

    /// Writes an empty line, unless the page is empty.
    pub fn gap(&mut self) -> io::Result<()> {
        if self.begun { self.line(Style::Plain, "") } else { Ok(()) }
    }

    /// Writes the first line of a section, with a rule up to the margin. A title that is longer is broken between words.
    pub fn title(&mut self, title: &str) -> io::Result<()> {
        self.gap()?;
        if width(title) + 3 > self.width {
            return self.hanging(Style::Bold, "── ", title);
        }
        let rule = "─".repeat(self.margin.saturating_sub(width(title) + 4));
        let span = Span { from: 3, to: 3 + width(title), style: Style::Bold };
        self.spans(Style::Faint, &format!("── {title} {rule}"), &[span])
    }

    /// Writes a paragraph, broken between words.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.hanging(Style::Plain, "", text)
    }

    /// Writes a paragraph after a mark; its lines after the first are indented by the mark's width.
    pub fn hanging(&mut self, style: Style, mark: &str, text: &str) -> io::Result<()> {
        let indent = " ".repeat(width(mark));
        let mut mark = mark;
        for line in wrap(text, self.width.saturating_sub(indent.len())) {
            self.line(style, &format!("{mark}{line}"))?;
            mark = &indent;
        }
        Ok(())
    }

    /// Writes a paragraph whose beginning has a style of its own.
    pub fn opened(&mut self, style: Style, opening: Span, text: &str) -> io::Result<()> {
        let opening = [opening];
        let mut spans = opening.as_slice();
        for line in wrap(text, self.width) {
            self.spans(style, &line, spans)?;
            spans = &[];
        }
        Ok(())
    }

    /// Writes facts side by side, broken between them only.
    pub fn facts(&mut self, style: Style, facts: &[String]) -> io::Result<()> {
        const JOINT: &str = " · ";
        let mut line = String::new();
        for fact in facts {
            let fact = fit(fact, self.width);
            if !line.is_empty() && width(&line) + width(JOINT) + width(&fact) > self.width {
                self.line(style, &line)?;
                line.clear();
            }
            if !line.is_empty() {
                line.push_str(JOINT);
            }
            line.push_str(&fact);
        }
        self.line(style, &line)
    }

    /// Says how many rows of a list are left out below those shown, if any, and what shows them.
    pub fn more(&mut self, hidden: u64, shown: usize, more: &More) -> io::Result<()> {
        let fits = |line: &str| width(line) <= self.width;
        match more.line(hidden, shown, self.lang, fits) {
            Some(line) => self.line(Style::Faint, &line),
            None => Ok(()),
        }
    }

    /// Writes a command below its effect. It is never shortened: cut, it could not be pasted.
    pub fn step(&mut self, command: &str, effect: &str) -> io::Result<()> {
        self.line(Style::Faint, &format!("# {effect}"))?;
        writeln!(self.out, "{}", key_text::text(command))
    }

    /// Writes commands, each with what it answers.
    pub fn commands(&mut self, commands: &[(Vec<String>, &str)]) -> io::Result<()> {
        let widest = commands.iter().flat_map(|(lines, _)| lines).map(|line| width(line)).max().unwrap_or(0);
        for (lines, answer) in commands {
            let beside = lines.len() == 1 && widest + width(answer) + 4 <= self.width;
            match lines.as_slice() {
                [command] if beside && !answer.is_empty() => {
                    let pad = " ".repeat(widest - width(command));
                    let comment = Span { from: widest + 2, to: usize::MAX, style: Style::Faint };
                    self.spans(Style::Plain, &format!("{command}{pad}  # {answer}"), &[comment])?;
                }
                lines => {
                    if !answer.is_empty() {
                        self.line(Style::Faint, &format!("# {answer}"))?;
                    }
                    lines.iter().try_for_each(|line| self.line(Style::Plain, line))?;
                }
            }
        }
        Ok(())
    }
}

/// Splits a text at a column.
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

    fn page(width: u16, ansi: bool, write: impl FnOnce(&mut TextPage<'_>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut TextPage::new(&mut out, width, TableOptions { ansi, ..TableOptions::default() })).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn paragraphs_break_between_words_and_hang() {
        let text = page(12, false, |page| page.hanging(Style::Alarm, "!! ", "one two three abcdefghijklmnop"));
        assert_eq!(text, "!! one two\n   three\n   abcd…mnop\n");
    }

    #[test]
    fn facts_break_between_each_other_only() {
        let facts = ["1,234 keys", "5 MiB", "checksum ok"].map(str::to_owned);
        assert_eq!(page(20, false, |page| page.facts(Style::Plain, &facts)), "1,234 keys · 5 MiB\nchecksum ok\n");
    }

    #[test]
    fn titles_reach_the_margin() {
        assert_eq!(page(12, false, |page| page.title("Big")), "── Big ─────\n");
        assert_eq!(width(page(60, false, |page| page.title("键")).trim_end()), 60);
        assert_eq!(page(12, false, |page| page.title("Findings: 7 must")), "── Findings:\n   7 must\n");
    }

    #[test]
    fn parts_of_a_line_have_their_own_emphasis() {
        let span = |from, to| Span { from, to, style: Style::Accent };
        let line = |spans: &[Span]| page(20, true, |page| page.spans(Style::Plain, "键a值 bars", spans));
        assert_eq!(line(&[span(0, 2), span(3, 5)]), "\x1b[36m键\x1b[0ma\x1b[36m值\x1b[0m bars\n");
        assert_eq!(line(&[span(6, 400)]), "键a值 \x1b[36mbars\x1b[0m\n");
        assert_eq!(line(&[span(400, 500)]), "键a值 bars\n");
        let emoji = page(20, true, |page| page.spans(Style::Plain, "👍🏽 e\u{301} bars", &[span(5, 9)]));
        assert_eq!(emoji, "👍🏽 e\u{301} \x1b[36mbars\x1b[0m\n");
    }

    #[test]
    fn emphasis_takes_no_columns_and_only_where_wanted() {
        assert_eq!(page(5, true, |page| page.line(Style::Bold, "abcdef")), "\x1b[1mab…ef\x1b[0m\n");
        assert_eq!(page(5, false, |page| page.line(Style::Bold, "abcdef")), "ab…ef\n");
        assert_eq!(page(5, true, |page| page.line(Style::Bold, "")), "\n");
    }
}
