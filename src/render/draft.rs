//! A report's patterns as the first draft of a data dictionary: a policy file with blanks for what no snapshot knows.
//!
//! The draft reads as a policy: patterns that a policy cannot hold, or that another of its entries covers, become
//! comments. As it is, it changes no finding: a class is a decision, so classes are only suggested, and keys that merely lack an
//! expiry are never said to live forever.

use std::io::{self, Write};

use super::key_text::{self, is_hidden};
use super::words::{nouns, say};
use super::{Lang, human};
use crate::pattern::joined::COLLAPSED;
use crate::policy::Policy;
use crate::policy::file::PatternSyntax;
use crate::policy::matcher::PolicyPattern;
use crate::report::known_memory;
use crate::report::{PatternRow, Report};
use crate::units::Millis;

/// Classes of lifetimes that a draft suggests: the name, the longest time to live as policies write it, and in milliseconds.
const CLASSES: [(&str, &str, u64); 5] = [
    ("minutes", "1h", 3_600_000),
    ("hours", "24h", 86_400_000),
    ("days", "7d", 7 * 86_400_000),
    ("weeks", "31d", 31 * 86_400_000),
    ("months", "366d", 366 * 86_400_000),
];

/// Policy that a draft is added to; its entries are left out.
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    /// A preset of this name, which the draft extends as a policy of its own.
    Preset(&'a str, Option<&'a Policy>),
    /// A file, to which the entries are appended. Those of its own that match no key are listed.
    File(&'a Policy),
}

/// Settings of a draft.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Reader of patterns.
    pub syntax: PatternSyntax<'a>,
    /// Dictionary that the draft is added to.
    pub base: Base<'a>,
    /// Maximum number of entries.
    pub most: usize,
    /// Language of the comments.
    pub lang: Lang,
}

/// Part of a draft about one pattern.
enum DraftRow {
    /// None: an entry of the policy matches the same keys.
    Known,
    /// An entry.
    Entry(PolicyPattern),
    /// A comment that says why there is no entry.
    Comment(String),
}

impl Draft<'_> {
    /// Writes the policy file.
    pub fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let lang = self.lang;
        self.head(report, out)?;
        let mut written: Vec<PolicyPattern> = self.known().cloned().collect();
        let (mut left_out, mut drafted, mut lighter) = (0, 0, 0_u64);
        let is_strict = report.has_strict_patterns();
        for row in &report.patterns.list {
            let text = if is_strict { self.with_collapsed_levels(&row.pattern) } else { row.pattern.clone() };
            if drafted >= self.most {
                lighter += u64::from(!self.has_entry(&text));
                continue;
            }
            match self.draft_row(&text, &written) {
                DraftRow::Known => {}
                DraftRow::Entry(pattern) => {
                    self.entry(report, row, &text, out)?;
                    written.push(pattern);
                    drafted += 1;
                }
                DraftRow::Comment(line) => {
                    writeln!(out, "# {line}\n")?;
                    left_out += 1;
                }
            }
        }
        let more = report.unlisted_patterns() + lighter;
        if more > 0 {
            let more = human::count(more);
            let line = say!(
                lang,
                "{more} lighter patterns are left out; a larger --top includes them.",
                "另有 {more} 个较小的模式未列出，调大 --top 即可包含。"
            );
            writeln!(out, "# {line}")?;
        }
        if left_out > 0 {
            let patterns = human::counted(left_out, nouns::PATTERN, lang);
            let line =
                say!(lang, "No entry could be written for {patterns}; see above.", "{patterns}无法写成条目，见上文。");
            writeln!(out, "# {line}")?;
        }
        Ok(())
    }

    /// Returns what the draft has for a pattern, given the patterns of the policy and those `written` after them.
    fn draft_row(&self, text: &str, written: &[PolicyPattern]) -> DraftRow {
        let lang = self.lang;
        let parsed = match PolicyPattern::parse(text, self.syntax.separators, self.syntax.classifier) {
            Ok(parsed) => parsed,
            Err(why) => {
                let (pattern, why) = (quoted(text), one_line(&why));
                return DraftRow::Comment(say!(lang, "{pattern} has no entry: {why}", "{pattern} 没有条目：{why}"));
            }
        };
        match written.iter().position(|other| other.may_share(&parsed)) {
            None => DraftRow::Entry(parsed),
            Some(place) if place < self.known().count() => DraftRow::Known,
            Some(place) => {
                let (pattern, other) = (quoted(text), quoted(&written[place].text));
                DraftRow::Comment(say!(
                    lang,
                    "{pattern} has no entry: {other} can match the same keys",
                    "{pattern} 没有条目：{other} 可能匹配相同的 key"
                ))
            }
        }
    }

    fn known(&self) -> impl Iterator<Item = &PolicyPattern> {
        let policy = match self.base {
            Base::Preset(_, policy) => policy,
            Base::File(policy) => Some(policy),
        };
        policy.into_iter().flat_map(|policy| policy.entries.iter().map(|entry| &entry.pattern))
    }

    /// Returns whether an entry of the policy may match keys of the pattern.
    fn has_entry(&self, pattern: &str) -> bool {
        let pattern = PolicyPattern::parse(pattern, self.syntax.separators, self.syntax.classifier);
        pattern.is_ok_and(|pattern| self.known().any(|known| known.may_share(&pattern)))
    }

    fn head(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let files: Vec<_> = report.source.files.iter().map(|file| one_line(&file.name)).collect();
        let (lang, files) = (self.lang, files.join(self.lang.of(", ", "、")));
        writeln!(out, "# {}", say!(lang, "A data dictionary, drafted from {files}.", "数据字典草稿，来自 {files}。"))?;
        let todo = "Fill in the blanks, and join or remove entries; docs/policy.md explains every line. An entry without an owner \
                    registers nothing.";
        let todo =
            lang.of(todo, "请填写空白处，合并或删除条目；每一行的含义见 docs/policy.md。未填负责人的条目不算已登记。");
        writeln!(out, "# {todo}")?;
        let Base::Preset(preset, _) = self.base else {
            let policy = one_line(&report.findings.policy);
            let line = say!(lang, "These entries are not in {policy} yet.", "以下条目尚不在 {policy} 中。");
            writeln!(out, "#\n# {line}")?;
            let fit = report.findings.dictionary.as_ref();
            for unused in fit.map_or(&[][..], |fit| &fit.unused) {
                let unused = quoted(unused);
                let line = say!(lang, "No key matches its entry {unused}.", "没有 key 匹配该策略的条目 {unused}。");
                writeln!(out, "# {line}")?;
            }
            for incomplete in fit.map_or(&[][..], |fit| &fit.incomplete) {
                let incomplete = quoted(incomplete);
                let line =
                    say!(lang, "Its entry {incomplete} names no owner.", "该策略的条目 {incomplete} 未填负责人。");
                writeln!(out, "# {line}")?;
            }
            return writeln!(out);
        };
        writeln!(out, "\nname = \"data dictionary\"\nextends = {}\n", quoted(preset))?;
        for (name, max, _) in CLASSES {
            writeln!(out, "[[ttl_class]]\nname = \"{name}\"\nmax = \"{max}\"\n")?;
        }
        let todo = "For keys that may live forever. Drafts never use it: a missing expiry may not be intended.";
        let todo =
            lang.of(todo, "用于确需永久保存的 key。草稿不会把任何条目归入此类：未设置过期时间并不说明应当永久保存。");
        writeln!(out, "# {todo}\n[[ttl_class]]\nname = \"forever\"\nrequired = false\n")
    }

    /// Returns a pattern of a report whose levels are collapsed as a policy writes it: `{*}` stands for ids, too, and at the end for
    /// all segments that follow.
    fn with_collapsed_levels(&self, pattern: &str) -> String {
        let is_separator = |c: char| u8::try_from(c).is_ok_and(|byte| self.syntax.separators.contains(&byte));
        let mut rest = pattern.split_inclusive(is_separator).peekable();
        let mut text = String::with_capacity(pattern.len());
        while let Some(segment) = rest.next() {
            match segment.strip_prefix(COLLAPSED) {
                Some("") if rest.peek().is_none() => text.push_str("**"),
                Some(separator) if separator.chars().all(is_separator) => {
                    text.push('*');
                    text.push_str(separator);
                }
                _ => text.push_str(segment),
            }
        }
        text
    }

    fn entry(&self, report: &Report, row: &PatternRow, pattern: &str, out: &mut dyn Write) -> io::Result<()> {
        let expiring = row.keys.saturating_sub(row.without_ttl.keys);
        let left = time_left(row, report.expiry.reference_time);
        let lang = self.lang;
        let within =
            left.map_or(String::new(), |left| say!(lang, ", within {}", "，最晚 {}后", human::duration(left, lang)));
        let habit = match row.without_ttl.keys {
            _ if expiring == 0 => lang.of("never expire", "永不过期").to_owned(),
            0 => say!(lang, "all expire{within}", "全部会过期{within}"),
            _ => say!(lang, "{} expire{within}", "{} 会过期{within}", human::share_of(expiring, row.keys)),
        };
        let types: Vec<_> = row.types.iter().map(|of| of.kind.name()).collect();
        let mixed = match types.len() {
            0 | 1 => String::new(),
            _ => say!(lang, "; types {}", "；类型 {}", types.join(lang.of(", ", "、"))),
        };
        let keys = human::counted(row.keys, nouns::KEY, lang);
        let line = match known_memory(row.keys, row.memory) {
            Some(memory) => {
                let (memory, mean) = (human::bytes(memory.0), human::bytes(row.mean.0));
                say!(
                    lang,
                    "{keys}, {memory}, mean {mean}; {habit}{mixed}",
                    "{keys}，{memory}，平均 {mean}；{habit}{mixed}"
                )
            }
            None => say!(lang, "{keys}, memory unknown; {habit}{mixed}", "{keys}，内存未知；{habit}{mixed}"),
        };
        writeln!(out, "# {line}")?;
        writeln!(out, "[[dictionary]]\npattern = {}", quoted(pattern))?;
        if let [only] = types.as_slice() {
            writeln!(out, "type = \"{only}\"")?;
        }
        let defined = |name: &str| match self.base {
            Base::Preset(..) => true,
            Base::File(policy) => policy.classes.iter().any(|class| class.name == name),
        };
        let fitting = class(row, left).filter(|class| defined(class));
        let hint = fitting.map_or(String::new(), |class| say!(lang, " # fits: \"{class}\"", " # 适用：\"{class}\""));
        writeln!(out, "ttl = \"\"{hint}\nowner = \"\"\ncontact = \"\"\nnote = \"\"\n")
    }
}

/// Returns the class that all keys of a pattern fit, if all of them expire.
fn class(row: &PatternRow, left: Option<u64>) -> Option<&'static str> {
    let left = left.filter(|_| row.without_ttl.keys == 0)?;
    CLASSES.iter().find(|(_, _, max)| left <= *max).map(|(name, _, _)| *name)
}

/// Returns the longest time that a key of the pattern has left.
fn time_left(row: &PatternRow, reference: Option<Millis>) -> Option<u64> {
    let left = row.last_expiry?.0.saturating_sub(reference?.0);
    Some(u64::try_from(left).unwrap_or_default())
}

/// Returns the text as a TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if is_hidden(c) => quoted.push_str(&toml_escape(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the escape that TOML has for a character.
fn toml_escape(c: char) -> String {
    match u32::from(c) {
        code @ ..0x1_0000 => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    }
}

/// Returns the text on one line of visible characters, so that it stays within a comment.
fn one_line(text: &str) -> String {
    key_text::text(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapsed_levels_match_ids_and_what_follows() {
        let (classifier, separators) = (Default::default(), b":/");
        let syntax = PatternSyntax { separators, classifier: &classifier };
        let draft = Draft { syntax, base: Base::Preset("default", None), most: 1, lang: Lang::En };
        for (shown, written) in [
            ("device:{*}:{int}/{*}:{*}", "device:*:{int}/*:**"),
            ("{*}", "**"),
            ("a:{*}:", "a:*:"),
            ("a:x{*}", "a:x{*}"),
            ("a:{int}", "a:{int}"),
        ] {
            assert_eq!(draft.with_collapsed_levels(shown), written);
        }
    }

    #[test]
    fn strings_are_toml_whatever_is_in_them() {
        let text = "a\"b\\c\nd\u{7f}e\u{202e}\u{200b}\u{e0001}\u{3000}";
        assert!(!quoted(text).chars().any(is_hidden));
        let document = format!("x = {}", quoted(text));
        let table: toml::Table = document.parse().unwrap();
        assert_eq!(table["x"].as_str(), Some(text));
    }
}
