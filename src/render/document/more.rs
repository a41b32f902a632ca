//! The shortest way to the rows that a list leaves out.

use super::Prose;
use crate::render::words::say;
use crate::render::{Lang, human};
use crate::report::Options;

/// Values of `--top` that are suggested.
const TOPS: [u64; 9] = [20, 50, 100, 200, 500, 1_000, 2_000, 5_000, MAX_ROWS];

/// Most rows that `--top` takes.
const MAX_ROWS: u64 = Options::MAX_TOP as u64;

/// Flags that show the rows that a list leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum More {
    /// A larger `--top`.
    #[default]
    Top,
    /// A larger `--top`, for a list that the report cut at an unknown length.
    Open,
    /// A command that lists all keys, the best variant first: with the names of the files, then with placeholders.
    Keys(Vec<String>),
    /// JSON only.
    Json,
}

/// Says how many rows no report has room for.
fn beyond(rows: u64, lang: Lang) -> String {
    let (rows, most) = (human::count(rows), human::count(MAX_ROWS));
    say!(lang, "{rows} more than the {most} that a report lists", "另有 {rows} 项，报告最多列出 {most} 项")
}

impl More {
    /// Returns the line below a list of `shown` rows; `None` if nothing is left out.
    ///
    /// A command is taken only if the line with it `fits`, since a shortened one could not be pasted.
    pub fn line(&self, hidden: u64, shown: usize, lang: Lang, fits: impl Fn(&str) -> bool) -> Option<String> {
        // If the length of the list is unknown, the report does not have all hidden rows.
        if let Some(open) = self.next(shown) {
            return Some(say!(lang, "… more with --top {open}", "… 更多请用 --top {open}"));
        }
        if hidden == 0 {
            return None;
        }
        let with = |more: u64, what: &str| {
            let count = human::count(more);
            say!(lang, "… {count} more with {what}", "… 其余 {count} 项见 {what}")
        };
        let count = human::count(hidden);
        let keys = |command: &String| say!(lang, "… {count} more: {command}", "… 其余 {count} 项：{command}");
        match self {
            More::Top | More::Open => top(hidden, shown).map(|(top, more)| with(more, &format!("--top {top}"))),
            More::Keys(commands) => commands.iter().map(keys).find(|line| fits(line)),
            More::Json => None,
        }
        .or_else(|| match self {
            More::Top | More::Open if shown as u64 >= MAX_ROWS => Some(format!("… {}", beyond(hidden, lang))),
            _ => Some(with(hidden, "--format json")),
        })
    }
}

impl More {
    /// Returns the sentence below a list of a page, with the shortest way to what it leaves out: `hidden` rows that the report
    /// has, and `unlisted` ones that it does not have either; `None` if nothing is left out.
    pub fn sentence(&self, hidden: u64, unlisted: u64, shown: usize, lang: Lang) -> Option<Prose> {
        let all = hidden.saturating_add(unlisted);
        if let Some(open) = self.next(shown).filter(|_| unlisted == 0) {
            let json = if hidden > 0 { "--format json " } else { "" };
            return Some(say!(lang, "More with `{json}--top {open}`.", "更多请用 `{json}--top {open}`。").into());
        }
        if all == 0 {
            return None;
        }
        let with = |more: u64, what: &str| {
            let count = human::count(more);
            say!(lang, "{count} more with `{what}`.", "其余 {count} 项见 `{what}`。")
        };
        let json = || with(all, "--format json");
        let text = match self {
            // The page has all rows that it has room for, so a larger `--top` would add none.
            More::Top | More::Open if hidden > 0 && unlisted == 0 => json(),
            More::Top | More::Open => match top(all, shown) {
                Some((top, more)) if hidden > 0 => with(more, &format!("--format json --top {top}")),
                Some((top, more)) => with(more, &format!("--top {top}")),
                None => say!(lang, "{}.", "{}。", beyond(all, lang)),
            },
            More::Keys(commands) => match commands.first() {
                Some(command) => {
                    let count = human::count(all);
                    say!(lang, "{count} more: `{command}`", "其余 {count} 项：`{command}`")
                }
                None => json(),
            },
            More::Json => json(),
        };
        Some(text.into())
    }
}

impl More {
    /// Returns the number of rows to ask for next of a list of unknown length; `None` for any other.
    fn next(&self, shown: usize) -> Option<u64> {
        TOPS.into_iter().find(|top| *top > shown as u64).filter(|_| *self == More::Open)
    }
}

/// Returns a round number of rows that shows all, or as many as possible, and how many it adds; `None` if so many are shown already.
fn top(hidden: u64, shown: usize) -> Option<(u64, u64)> {
    let shown = shown as u64;
    let all = hidden.saturating_add(shown);
    let enough = TOPS.into_iter().find(|top| *top >= all);
    let top = enough.or(TOPS.last().copied()).filter(|top| *top > shown)?;
    Some((top, all.min(top) - shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(more: &More, hidden: u64, shown: usize) -> Option<String> {
        more.line(hidden, shown, Lang::En, |line| line.len() < 50)
    }

    #[test]
    fn a_page_names_what_it_can_follow() {
        let said = |more: &More, hidden, unlisted| {
            more.sentence(hidden, unlisted, 20, Lang::En).map(|text| text.plain().into_owned())
        };
        assert_eq!(said(&More::Top, 0, 1_200).as_deref(), Some("1,200 more with `--top 2000`."));
        assert_eq!(said(&More::Top, 5, 1_200).as_deref(), Some("1,205 more with `--format json --top 2000`."));
        assert_eq!(said(&More::Top, 5, 0).as_deref(), Some("5 more with `--format json`."));
        let keys = More::Keys(vec!["rdblens keys a.rdb --breaking x".to_owned()]);
        assert_eq!(said(&keys, 3, 4).as_deref(), Some("7 more: `rdblens keys a.rdb --breaking x`"));
        assert_eq!(said(&More::Keys(Vec::new()), 1, 0).as_deref(), Some("1 more with `--format json`."));
        assert_eq!((said(&More::Top, 0, 0), said(&More::Open, 0, 0).as_deref()), (None, Some("More with `--top 50`.")));
    }

    #[test]
    fn the_shortest_way_that_fits_is_named() {
        assert_eq!(line(&More::Top, 3, 10).as_deref(), Some("… 3 more with --top 20"));
        assert_eq!(line(&More::Top, 30, 10).as_deref(), Some("… 30 more with --top 50"));
        assert_eq!(line(&More::Top, 70_000, 10).as_deref(), Some("… 9,990 more with --top 10000"));
        assert_eq!(line(&More::Top, 7, 10_000).as_deref(), Some("… 7 more than the 10,000 that a report lists"));
        assert_eq!(line(&More::Json, 7, 1).as_deref(), Some("… 7 more with --format json"));
        let keys =
            More::Keys(vec!["rdblens keys a-long-name.rdb --breaking x".to_owned(), "rdblens keys F".to_owned()]);
        assert_eq!(line(&keys, 7, 4).as_deref(), Some("… 7 more: rdblens keys F"));
        assert_eq!(line(&More::Keys(Vec::new()), 7, 4).as_deref(), Some("… 7 more with --format json"));
        assert_eq!(line(&keys, 0, 4), None);
        assert_eq!(line(&More::Open, 0, 3).as_deref(), Some("… more with --top 20"));
        assert_eq!(line(&More::Open, 7, 3).as_deref(), Some("… more with --top 20"));
        assert_eq!(line(&More::Open, 0, 10_000), None);
        assert_eq!(More::Top.line(3, 10, Lang::Zh, |_| true).as_deref(), Some("… 其余 3 项见 --top 20"));
    }
}
