//! Blocks of a document as lines.

use std::io;

use super::page::{Span, Style, TextPage};
use super::table;
use crate::render::document::{Block, FindingBlock, Form, Headline, Hint, More, Section, Table};
use crate::render::key_text::{self, width};
use crate::render::words::known;
use crate::render::words::say;

/// Mark of what makes the figures doubtful.
const ALARM: &str = "!! ";

/// Writes the head of a document.
pub(super) fn headline(head: &Headline, page: &mut TextPage<'_>) -> io::Result<()> {
    for problem in &head.problems {
        page.hanging(Style::Alarm, ALARM, &problem.plain())?;
    }
    page.more(head.more_problems, head.problems.len(), &More::Json)?;
    if !head.problems.is_empty() || head.more_problems > 0 {
        page.gap()?;
    }
    page.facts(Style::Bold, &head.title_facts())?;
    page.facts(Style::Plain, &head.size_facts())?;
    if let Some(selection) = &head.selection {
        page.text(&selection.plain())?;
    }
    match &head.answers {
        Some(answers) => page.gap().and_then(|()| table::print(answers, page)),
        None => Ok(()),
    }
}

/// Writes a section, unless it has nothing to show.
pub(super) fn section(section: &Section, page: &mut TextPage<'_>) -> io::Result<()> {
    if !section.is_shown(Form::Terminal) {
        return Ok(());
    }
    if !section.title.is_empty() {
        page.title(&section.title.plain())?;
    }
    for text in &section.lead {
        page.text(&text.plain())?;
    }
    section.blocks(Form::Terminal).try_for_each(|it| block(it, page))
}

fn block(block: &Block, page: &mut TextPage<'_>) -> io::Result<()> {
    match block {
        Block::Heading(_) => page.gap(),
        Block::Paragraph(tone, text) => page.hanging(Style::of(*tone), "", &text.plain()),
        Block::Labelled(label, text) => page.hanging(Style::Plain, label, &text.plain()),
        Block::Notes(notes, hidden) => {
            notes.iter().try_for_each(|note| page.hanging(Style::Plain, "- ", &note.plain()))?;
            page.more(*hidden, notes.len(), &More::Top)
        }
        Block::Fields(fields) => page.hanging(Style::Plain, fields.label, &fields.line()),
        Block::Table(it) => whole_table(it, page),
        Block::Tree(tree) => table::print(&tree.table(page.lang()), page),
        Block::Findings(list) => list.iter().try_for_each(|it| finding(it, page)),
        Block::Hints(list) => hints(list, page),
        Block::Script(steps) => steps.iter().try_for_each(|(command, effect)| page.step(command, effect)),
        // Left out by `Section::blocks`.
        Block::Split(_) | Block::Classes(_) | Block::Strip(_) => Ok(()),
    }
}

fn whole_table(it: &Table, page: &mut TextPage<'_>) -> io::Result<()> {
    table::print(it, page)?;
    page.more(it.rest(), it.rows.len(), &it.more)
}

/// Writes one finding: its demand, where it is broken, the remedy.
fn finding(it: &FindingBlock, page: &mut TextPage<'_>) -> io::Result<()> {
    page.gap()?;
    let word = known::severity(it.severity, page.lang());
    let severity = Span { from: 0, to: width(word), style: Style::of_severity(it.severity) };
    let (severity_name, rule, demand) = (word, &it.rule, it.demand.plain());
    let head = say!(page.lang(), "{severity_name} {rule}: {demand}", "{severity_name} {rule}：{demand}");
    page.opened(Style::Bold, severity, &head)?;
    whole_table(&it.places, page)?;
    for detail in &it.details {
        page.hanging(Style::Faint, "  ", &detail.plain())?;
    }
    page.hanging(Style::Plain, "→ ", &it.fix.plain())?;
    it.source.iter().try_for_each(|source| page.hanging(Style::Faint, "§ ", &source.plain()))
}

/// Writes commands. One that fits on no few lines could not be pasted: its next variant is taken, or none.
fn hints(hints: &[Hint], page: &mut TextPage<'_>) -> io::Result<()> {
    let cut = page.columns_left_out;
    let commands: Vec<(Vec<String>, &str, bool)> = hints
        .iter()
        .filter_map(|hint| {
            let mut commands = hint.commands.iter().filter_map(|command| command_lines(command, page.width()));
            // A short report has few lines to spare, but a name instead of a placeholder is worth a second one.
            let command = commands.clone().find(|lines| !hint.brief || lines.len() <= 2).or_else(|| commands.next())?;
            let answer: &str = hint.answer_if_cut.filter(|_| cut).unwrap_or(hint.answer);
            Some((command, answer, hint.brief))
        })
        .collect();
    let widest = commands.iter().flat_map(|(lines, ..)| lines).map(|line| key_text::width(line)).max().unwrap_or(0);
    let fits = |answer: &str| widest + key_text::width(answer) + 4 <= page.width();
    let commands: Vec<(Vec<String>, &str)> = commands
        .into_iter()
        .map(|(command, answer, brief)| (command, if brief && !fits(answer) { "" } else { answer }))
        .collect();
    page.commands(&commands)
}

/// Returns the lines of a command, as a shell takes it: all but the last end with a backslash. `None` if they are too wide, or more
/// than a few.
fn command_lines(command: &str, width: usize) -> Option<Vec<String>> {
    const MAX_LINES: usize = 4;
    const CONTINUED: &str = " \\";
    const INDENT: &str = "   ";
    let mut lines = Vec::new();
    let (mut rest, mut indent) = (command, "");
    while key_text::width(indent) + key_text::width(rest) > width {
        let fits = |at: &usize| key_text::width(indent) + key_text::width(&rest[..*at]) + CONTINUED.len() <= width;
        let at = breaks(rest).into_iter().take_while(fits).last()?;
        lines.push(format!("{indent}{}{CONTINUED}", &rest[..at]));
        (rest, indent) = (&rest[at..], INDENT);
    }
    lines.push(format!("{indent}{rest}"));
    Some(lines).filter(|lines| lines.len() <= MAX_LINES)
}

/// Returns the blanks at which a command can be broken: none within quotes, and a flag stays with its value.
fn breaks(command: &str) -> Vec<usize> {
    let (mut breaks, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, c) in command.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if !is_quoted => is_escaped = true,
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => {
                let (before, behind) = (&command[start..at], &command[at..]);
                let ends_flag = behind.starts_with(" --") || !before.starts_with("--");
                // The command stays with its name.
                if ends_flag && !matches!(before, "" | "rdblens") {
                    breaks.push(at);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    breaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_commands_continue_on_the_next_line() {
        let command = "rdblens analyze dump.rdb --policy platform --maxmemory 100 --full";
        assert_eq!(command_lines(command, 80).unwrap(), [command]);
        assert_eq!(
            command_lines(command, 50).unwrap(),
            ["rdblens analyze dump.rdb --policy platform \\", "    --maxmemory 100 --full"]
        );
        assert_eq!(command_lines(command, 20), None);
        assert_eq!(
            command_lines("rdblens show a.rdb 'a --b --c'", 28).unwrap(),
            ["rdblens show a.rdb \\", "    'a --b --c'"]
        );
        assert_eq!(command_lines("rdblens show a.rdb 'a --b --c'", 14), None);
        assert_eq!(
            command_lines(r"rdblens check 'it'\''s a' b.rdb --top 5", 28).unwrap(),
            [r"rdblens check 'it'\''s a' \", "    b.rdb --top 5"]
        );
    }
}
