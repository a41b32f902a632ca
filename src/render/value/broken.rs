//! Rules that a key breaks, as text.

use std::io::{self, Write};

use crate::policy::{BrokenRule, KeyJudgement};
use crate::render::words::{known, say};
use crate::render::wrap::wrap;
use crate::render::{Lang, human, key_text};

/// Least columns that sentences are broken at.
const NARROWEST: usize = 24;

/// Writes the rules that the key breaks, a line each, in the column of the facts.
pub(super) fn write_broken(
    judgement: &KeyJudgement,
    column: usize,
    lang: Lang,
    screen: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut label = lang.of("breaks", "违反");
    let policy = key_text::text(&judgement.policy);
    let lines: Vec<String> = match judgement.breaks.as_slice() {
        [] => vec![say!(lang, "no rule about keys of policy {policy}", "无")],
        broken => broken.iter().map(|rule| broken_line(rule, lang)).collect(),
    };
    let room = screen.map(|screen| screen.saturating_sub(column + 2)).filter(|room| *room >= NARROWEST);
    for line in lines {
        let mut indent = "";
        for line in broken_at(&line, room) {
            let fill = column.saturating_sub(key_text::width(label));
            writeln!(out, "{label}{:fill$}  {indent}{line}", "")?;
            (label, indent) = ("", "  ");
        }
    }
    Ok(())
}

/// Returns the lines of a sentence. One with a word that no line has room for stays whole.
fn broken_at(sentence: &str, room: Option<usize>) -> Vec<String> {
    let room = room.filter(|room| sentence.split(' ').all(|word| !word.is_ascii() || word.len() + 2 <= *room));
    match room {
        Some(room) if key_text::width(sentence) > room => wrap(sentence, room - 2),
        _ => vec![sentence.to_owned()],
    }
}

/// Returns a broken rule as text: severity, id, problem, figures, exemption.
fn broken_line(broken: &BrokenRule, lang: Lang) -> String {
    let severity = known::severity(broken.severity, lang);
    let problem = lang.of(&broken.problem.en, &broken.problem.zh);
    let figures = broken.figures.map(|[measured, allowed]| {
        let limit = human::limit(allowed, Some(measured), broken.unit, lang);
        [human::measured(measured, Some(allowed), broken.unit, lang), limit]
    });
    let figures = figures.map(|[measured, allowed]| {
        say!(lang, " ({measured}, allowed {allowed})", "（实测 {measured}，限值 {allowed}）")
    });
    let exempted = broken.exempted.as_deref().map(key_text::text);
    let exempted = exempted.map(|reason| say!(lang, "; exempted: {reason}", "；已豁免：{reason}"));
    let (figures, exempted) = (figures.unwrap_or_default(), exempted.unwrap_or_default());
    say!(
        lang,
        "{severity} {}: {problem}{figures}{exempted}",
        "{severity} {}：{problem}{figures}{exempted}",
        broken.rule
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples::judged;
    use super::*;

    #[test]
    fn sentences_are_broken_on_a_screen_only() {
        let facts = judged().facts.unwrap();
        let written = |screen, lang| {
            let mut out = Vec::new();
            write_broken(&facts.judgement, 9, lang, screen, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(None, Lang::En), written(Some(200), Lang::En));
        assert_eq!(written(None, Lang::En).lines().count(), 3);
        for (lang, screen) in [(Lang::En, 40), (Lang::Zh, 36)] {
            let narrow = written(Some(screen), lang);
            assert!(narrow.lines().count() > 3, "{narrow}");
            assert!(narrow.lines().all(|line| key_text::width(line) <= screen), "{narrow}");
        }
        assert_eq!(written(Some(30), Lang::En), written(None, Lang::En), "no room");
    }

    #[test]
    fn a_key_that_breaks_no_rule_says_so() {
        let judgement = KeyJudgement { breaks: Vec::new(), ..judged().facts.unwrap().judgement };
        let written = |lang| {
            let mut out = Vec::new();
            write_broken(&judgement, 9, lang, None, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(written(Lang::En).starts_with("breaks     no rule about keys of policy "));
        assert_eq!(written(Lang::Zh), "违反       无\n");
    }

    #[test]
    fn a_long_word_stays_whole() {
        let sentence = format!("exempted: {}", "x".repeat(60));
        assert_eq!(broken_at(&sentence, Some(40)), std::slice::from_ref(&sentence));
    }
}
