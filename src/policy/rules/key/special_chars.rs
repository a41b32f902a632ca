//! `key.special-chars`: names have no invisible characters, and none that begin or end a text or an escape sequence.
//!
//! Measured: white space and control characters as defined by Unicode (including U+00A0, U+3000 and C1 controls), invisible
//! characters (zero width, byte order mark, marks of direction, soft hyphen, fillers), quotes of any script and backticks,
//! backslashes (wide and small ones, too), the wide colon, which looks like the separator, invalid UTF-8 sequences, and the
//! replacement character that a program wrote in place of them. Letters of any script are allowed, and so are visible signs such as `$` and
//! `*`: the texts that allow only some of them are implemented by `key.charset`.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.special-chars",
    severity: Severity::Must,
    problem: Text {
        en: "space, invisible or control character, quote, backslash or invalid UTF-8 in the name",
        zh: "key 名含空白、不可见字符、控制字符、引号、反斜杠，或不是合法 UTF-8",
    },
    what: Text {
        en: "no space, invisible or control character, quote or backslash; valid UTF-8",
        zh: "不含空白、不可见字符、控制字符、引号、反斜杠；须为合法 UTF-8",
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

/// Returns whether the character is white space, a control character, invisible, a quote, a backslash, the wide colon or the
/// replacement character.
pub fn is_special(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '"' | '\'' | '`' | '\\' | '\u{ff3c}' | '\u{fe68}' | '\u{ff1a}' | '\u{fffd}')
        || !character.is_ascii() && (is_invisible(character) || is_quote(character))
}

/// Returns whether a character takes no space, or shows as a space that is none.
///
/// These are the characters that Unicode lets fonts ignore (`Default_Ignorable_Code_Point`), the annotation marks, the
/// mark of an object that is left out, noncharacters, and the empty Braille pattern.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character beyond ASCII is a quotation mark (`Quotation_Mark` of Unicode), an ornament of one, or the wide backtick.
fn is_quote(character: char) -> bool {
    matches!(character,
        '\u{ab}' | '\u{bb}' | '\u{2018}'..='\u{201f}' | '\u{2039}' | '\u{203a}' | '\u{275b}'..='\u{2760}' | '\u{2e42}'
        | '\u{300c}'..='\u{300f}' | '\u{301d}'..='\u{301f}' | '\u{fe41}'..='\u{fe44}' | '\u{ff02}' | '\u{ff07}' | '\u{ff40}'
        | '\u{ff62}' | '\u{ff63}' | '\u{1f676}'..='\u{1f678}')
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
        assert_eq!(specials("shop\u{ff3c}order\u{fe68}7".as_bytes()), 2);
    }

    #[test]
    fn invisible_characters_count() {
        let invisible = "\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2060}\u{2064}\u{feff}\u{202a}\u{202e}\u{2066}\u{2069}\u{ad}\
                         \u{61c}\u{180e}\u{3164}\u{115f}\u{2800}\u{fe0f}\u{e0041}\u{fff9}\u{fffc}\u{fffe}\u{ffff}";
        for character in invisible.chars() {
            assert_eq!(specials(format!("user:{character}1").as_bytes()), 1, "{}", character.escape_unicode());
        }
        let blank = "\u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";
        assert_eq!(specials(blank.as_bytes()), blank.chars().count() as u64);
    }

    #[test]
    fn quotes_of_every_kind_count() {
        let quotes = "\u{201c}\u{201d}\u{2018}\u{2019}\u{201a}\u{201e}\u{300c}\u{300d}\u{300e}\u{300f}\u{ab}\u{bb}\u{2039}\u{203a}\u{301d}\u{301e}\u{ff02}\u{ff07}\u{ff62}\u{275b}\u{275e}\u{2760}\u{1f676}\u{1f678}`";
        for character in quotes.chars() {
            assert_eq!(specials(format!("user:{character}1").as_bytes()), 1, "{}", character.escape_unicode());
        }
    }

    #[test]
    fn wide_colons_and_replacement_characters_count() {
        assert_eq!(specials("live:room:a\u{ff1a}b\u{fffd}".as_bytes()), 2);
    }

    #[test]
    fn every_invalid_sequence_counts_once() {
        assert_eq!(specials(b"a\xffb\xe4\xb8"), 2);
    }

    #[test]
    fn letters_and_punctuation_are_fine() {
        assert_eq!(specials("\u{7528}\u{6237}:caf\u{e9}:{a}[b](c)_-.~|/@#$%^&*+=<>?!,;".as_bytes()), 0);
        let others = "\u{3010}\u{3011}\u{300a}\u{300b}\u{ff08}\u{ff09}\u{ff0c}\u{3002}\u{b7}\u{2014}\u{2026}\u{1f600}\u{275a}\u{2761}\u{1f675}\u{ff41}\u{2011}\u{ff0e}";
        assert_eq!(specials(others.as_bytes()), 0);
    }
}
