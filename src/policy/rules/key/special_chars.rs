//! `key.special-chars`: names have no characters that terminals, shells or logs interpret or hide.
//!
//! Measured: white space and control characters as defined by Unicode (including U+3000 and C1 controls), quotes,
//! backslashes, and invalid UTF-8 sequences. Letters of any script are allowed.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.special-chars",
    severity: Severity::Must,
    problem: Text {
        en: "space, control character, quote, backslash or invalid UTF-8 in the name",
        zh: "key 名含空白、控制字符、引号、反斜杠，或不是合法 UTF-8",
    },
    what: Text {
        en: "no space, control, quote or backslash; valid UTF-8",
        zh: "不含空白、控制字符、引号、反斜杠；须为合法 UTF-8",
    },
    why: Text {
        en: "These characters are invisible or have a special meaning in shells, logs, scripts and client libraries: a \
          name that looks right is not found, and scripts that iterate over names fail. Invalid UTF-8 usually comes \
          from a serializer that was applied to names by mistake.",
        zh: "这些字符不可见，或者在 shell、日志、脚本和客户端库中含义会变：看起来正确的 key 名查不到，遍历 key 名的脚本会出错。非 UTF-8 的字节通常来自误用于 key 名的序列化器。",
    },
    fix: Text {
        en: "encode or hash user input before it becomes part of a name, and use a plain string serializer for names",
        zh: "用户输入进入 key 名之前先编码或取哈希；key 名使用纯字符串序列化器",
    },
    params: &[],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[SampleKey::named("search:result:red-shoes")]),
    fails: RuleSample::of(&[SampleKey::named("search:result:red shoes")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(SpecialChars)))
}

/// Rejects special characters and invalid UTF-8.
#[derive(Debug, Clone, Copy)]
pub struct SpecialChars;

impl KeyRule for SpecialChars {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let specials = |text: &str| text.chars().filter(|&character| is_special(character)).count() as u64;
        let in_chunk =
            |chunk: std::str::Utf8Chunk<'_>| specials(chunk.valid()) + u64::from(!chunk.invalid().is_empty());
        let measured = key.name().utf8_chunks().map(in_chunk).sum();
        (measured > 0).then_some(Violation { measured, allowed: 0 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::Special)
    }
}

/// Returns whether the character is white space, a control character, a quote or a backslash.
pub fn is_special(character: char) -> bool {
    character.is_whitespace() || character.is_control() || matches!(character, '"' | '\'' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_bytes;

    fn specials(name: &[u8]) -> u64 {
        check_bytes(&SpecialChars, name).map_or(0, |violation| violation.measured)
    }

    #[test]
    fn white_space_controls_quotes_and_backslashes_count() {
        assert_eq!(specials(b"a b\tc\nd\re\x0bf\x0cg"), 6);
        assert_eq!(specials("a\u{a0}b\u{3000}c\u{2028}d\u{85}".as_bytes()), 4);
        assert_eq!(specials("\0\x1b\x7f\u{80}\u{9f}".as_bytes()), 5);
        assert_eq!(specials(br#"'a"b\"#), 3);
    }

    #[test]
    fn every_invalid_sequence_counts_once() {
        assert_eq!(specials(b"a\xffb\xe4\xb8"), 2);
    }

    #[test]
    fn letters_and_punctuation_are_fine() {
        assert_eq!(specials("\u{7528}\u{6237}:caf\u{e9}:{a}[b](c)_-.~|/@#$%^&*+=<>?!,;`".as_bytes()), 0);
    }
}
