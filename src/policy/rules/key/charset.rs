//! `key.charset`: names contain only characters of an allowed set.
//!
//! The set is written like a character class: characters, and ranges such as `a-z`; a `-` at the start, at the end or after
//! a range stands for itself. Several strings form one set. The configured separators are always allowed, so that they need
//! not be repeated in the set.
//!
//! Measured: characters outside the set, and invalid UTF-8 sequences.

use std::ops::RangeInclusive;

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.charset",
    severity: Severity::Must,
    problem: Text { en: "character outside the set `chars`", zh: "key 名含有 chars 以外的字符" },
    what: Text { en: "only characters of the set `chars` and separators", zh: "只含 chars 中的字符和分隔符" },
    why: Text {
        en: "A small set of characters keeps the spelling of names consistent and makes them safe to use in shells, glob \
             patterns, URLs and dashboards.",
        zh: "限定一小组字符，可使含义相同的 key 名写法一致，并能安全地用于 shell、通配符、URL 和仪表盘。",
    },
    fix: Text {
        en: "write names in characters of the set: English words or pinyin in place of another script, with words separated as the \
             standard does; encode or hash user input before it becomes part of a name",
        zh: "key 名只用字符集内的字符：中文等改用英文单词或拼音，单词按规范分隔；用户输入进入 key 名之前先编码或取哈希",
    },
    params: &[ParamSpec {
        name: "chars",
        what: Text {
            en: "the allowed characters and ranges such as a-z", zh: "允许的字符，可用 a-z 形式的范围"
        },
        default: ParamDefault::Words(&["a-z0-9:_.{}-"]),
    }],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[SampleKey::named("user:basic-info:{12345}:v1.2_b")]),
    fails: RuleSample::of(&[SampleKey::named("user:profile:12345|name")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(CharsetRule::read(params.words("chars"))?)))
}

/// Rejects a set in brackets, which are no part of the syntax: `[a-z` and `[a-z]` are regular expressions. Brackets that are allowed
/// in names stand elsewhere in the set, or alone.
fn bare(text: &str) -> Result<(), String> {
    let Some(inner) = text.strip_prefix('[').filter(|inner| !inner.is_empty() && *inner != "]") else { return Ok(()) };
    match inner.strip_suffix(']').unwrap_or(inner) {
        inner if inner.contains(']') => Ok(()),
        inner => Err(format!(
            "{text:?}: a set has no brackets around it: write {inner:?}, and to allow them in names \"[]\" besides"
        )),
    }
}

/// Set of allowed characters.
#[derive(Debug, Clone)]
pub struct CharsetRule {
    /// Allowed ASCII characters.
    ascii: [bool; 128],
    /// Ranges of allowed characters beyond ASCII.
    beyond: Vec<RangeInclusive<char>>,
}

impl CharsetRule {
    /// Parses a set; fails with a message if it is empty or a range is reversed.
    pub fn read(texts: &[String]) -> Result<CharsetRule, String> {
        let mut set = CharsetRule { ascii: [false; 128], beyond: Vec::new() };
        for text in texts {
            bare(text)?;
            let mut rest = text.chars().peekable();
            while let Some(first) = rest.next() {
                let mut ahead = rest.clone();
                let last = match (ahead.next(), ahead.next()) {
                    (Some('-'), Some(last)) => {
                        rest = ahead;
                        last
                    }
                    _ => first,
                };
                if last < first {
                    return Err(format!("the range {first}-{last} is reversed"));
                }
                set.add(first..=last);
            }
        }
        if set.beyond.is_empty() && !set.ascii.contains(&true) {
            return Err("\"chars\" is empty: every name would break the rule".to_owned());
        }
        Ok(set)
    }

    fn add(&mut self, range: RangeInclusive<char>) {
        for (byte, allowed) in (0u8..).zip(&mut self.ascii) {
            *allowed |= range.contains(&char::from(byte));
        }
        if !range.end().is_ascii() {
            self.beyond.push(range);
        }
    }

    fn allows(&self, character: char, key: &KeyView<'_>) -> bool {
        match u8::try_from(character).ok().filter(u8::is_ascii) {
            Some(byte) => self.ascii[usize::from(byte)] || key.context.separators.contains(byte),
            None => self.beyond.iter().any(|range| range.contains(&character)),
        }
    }
}

impl KeyRule for CharsetRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        if key.name().is_ascii() {
            let within = |byte: &u8| self.ascii[usize::from(*byte)] || key.context.separators.contains(*byte);
            let measured = key.name().iter().filter(|byte| !within(byte)).count() as u64;
            return (measured > 0).then_some(Violation { measured, allowed: 0 });
        }
        let outside = |text: &str| text.chars().filter(|&character| !self.allows(character, key)).count() as u64;
        let in_chunk = |chunk: std::str::Utf8Chunk<'_>| outside(chunk.valid()) + u64::from(!chunk.invalid().is_empty());
        let measured = key.name().utf8_chunks().map(in_chunk).sum();
        (measured > 0).then_some(Violation { measured, allowed: 0 })
    }

    /// Returns a test of bytes, unless the set has characters beyond ASCII.
    fn name_test(&self) -> Option<NameTest> {
        let mut allowed = Box::new([false; 256]);
        allowed[..128].copy_from_slice(&self.ascii);
        self.beyond.is_empty().then_some(NameTest::Outside(allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::segment::Separators;
    use crate::policy::Context;
    use crate::policy::dictionary::Matched;
    use crate::policy::testing::{check_bytes, record};

    fn set(chars: &str) -> CharsetRule {
        CharsetRule::read(&[chars.to_owned()]).unwrap()
    }

    fn outside(chars: &str, name: &[u8]) -> u64 {
        check_bytes(&set(chars), name).map_or(0, |violation| violation.measured)
    }

    #[test]
    fn sets_consist_of_characters_and_ranges() {
        assert_eq!(outside("a-z0-9:_.{}-", b"az09:_.{}-"), 0);
        assert_eq!(outside("a-z0-9:_.{}-", b"AZ|/ "), 5);
        assert_eq!(outside("-a", b"-a"), 0);
        assert_eq!(outside("a-c-e", b"abc-e"), 0);
        assert_eq!(outside("a-c-e", b"d"), 1);
        assert_eq!(
            CharsetRule::read(&["a-c".to_owned(), "x".to_owned()]).unwrap().ascii.iter().filter(|is| **is).count(),
            4
        );
    }

    #[test]
    fn characters_beyond_ascii_count_once_and_can_be_allowed() {
        assert_eq!(outside("a-z", "a\u{4e2d}\u{6587}".as_bytes()), 2);
        assert_eq!(outside("a-z\u{4e00}-\u{9fff}", "a\u{4e2d}\u{6587}".as_bytes()), 0);
        assert_eq!(outside("a-\u{9fff}", "a\u{e9}~\u{4e2d}".as_bytes()), 0);
        assert_eq!(outside("a-z", b"a\xff\xfeb"), 2);
    }

    #[test]
    fn separators_are_in_every_set() {
        let context = Context { separators: Separators::of(b"|"), ..Context::default() };
        let record = record(b"a|b:c");
        let view = KeyView { record: &record, context: &context, matched: Matched::default() };
        assert_eq!(set("a-z").check(&view), Some(Violation { measured: 1, allowed: 0 }));
    }

    #[test]
    fn sets_that_no_name_can_satisfy_are_rejected() {
        assert!(CharsetRule::read(&["z-a".to_owned()]).unwrap_err().contains("z-a"));
        for class in ["[a-z", "[a-z]", "[a-z0-9:]"] {
            let told = CharsetRule::read(&[class.to_owned()]).unwrap_err();
            assert!(told.contains("write \"a-z") && told.contains("no brackets"), "{told}");
        }
        for brackets in ["[", "[]", "a-z[]", "]a-z["] {
            assert!(CharsetRule::read(&[brackets.to_owned()]).is_ok(), "{brackets}");
        }
        assert!(CharsetRule::read(&[String::new()]).is_err() && CharsetRule::read(&[]).is_err());
    }
}
