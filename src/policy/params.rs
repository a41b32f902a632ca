//! Parameters of rules that a policy can set: numbers with units, shares, lists of words.

use std::borrow::Cow;

use super::rule::Text;

/// Parameter declared by a rule.
#[derive(Debug, Clone, Copy)]
pub struct ParamSpec {
    /// Name in policies, such as `max`.
    pub name: &'static str,
    /// Meaning of the parameter.
    pub what: Text,
    /// Default value; its variant is the type of the parameter.
    pub default: ParamDefault,
}

/// Default value of a parameter, which also defines its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamDefault {
    /// Count.
    Int(u64),
    /// Bytes: `10240`, `"10KB"`.
    Bytes(u64),
    /// Time span in milliseconds: `"24h"`, `"30min"`.
    Span(u64),
    /// Share in thousandths: `0.3`, `"30%"`.
    Share(u64),
    /// Words.
    Words(&'static [&'static str]),
    /// Yes or no.
    Flag(bool),
}

impl ParamDefault {
    /// Returns the description of the type for error messages. Words of the default are the example of a list.
    pub fn expects(self) -> Cow<'static, str> {
        const EXAMPLES: usize = 2;
        let fixed = match self {
            ParamDefault::Int(_) => "a whole number",
            ParamDefault::Bytes(_) => "a number of bytes such as 10240, \"10KB\" or \"1MB\"",
            ParamDefault::Span(_) => "a time span such as \"60s\", \"30min\", \"24h\" or \"7d\"",
            ParamDefault::Share(_) => "a share such as 0.3 or \"30%\"",
            ParamDefault::Words(words) => {
                let words = words.iter().filter(|word| !word.is_empty()).take(EXAMPLES);
                let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
                return match words.as_slice() {
                    [] => "a list of words".into(),
                    words => format!("a list of words such as [{}]", words.join(", ")).into(),
                };
            }
            ParamDefault::Flag(_) => "true or false",
        };
        fixed.into()
    }

    /// Returns the default as a value.
    pub fn value(self) -> ParamValue {
        match self {
            ParamDefault::Int(number)
            | ParamDefault::Bytes(number)
            | ParamDefault::Span(number)
            | ParamDefault::Share(number) => ParamValue::Number(number),
            ParamDefault::Words(words) => ParamValue::Words(words.iter().map(|&word| word.to_owned()).collect()),
            ParamDefault::Flag(flag) => ParamValue::Flag(flag),
        }
    }
}

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamValue {
    /// Counts, bytes, milliseconds, thousandths.
    Number(u64),
    /// Words.
    Words(Vec<String>),
    /// Yes or no.
    Flag(bool),
}

/// Values of a rule's parameters: as set by a policy, or their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params(Vec<(&'static str, ParamValue)>);

impl Params {
    /// Returns the defaults of all parameters.
    pub fn defaults(specs: &[ParamSpec]) -> Params {
        Params(specs.iter().map(|spec| (spec.name, spec.default.value())).collect())
    }

    /// Sets a parameter; ignores names that the rule does not declare.
    pub fn set(&mut self, name: &str, value: ParamValue) {
        if let Some((_, old)) = self.0.iter_mut().find(|(known, _)| *known == name) {
            *old = value;
        }
    }

    /// Returns names and values in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &ParamValue)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// Returns the number `name`.
    ///
    /// # Panics
    ///
    /// If the rule does not declare such a number. A test of the registry builds every rule, so no release does.
    pub fn number(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(ParamValue::Number(number)) => *number,
            _ => unreachable!("the rule declares no number: {name}"),
        }
    }

    /// Returns the words `name`; panics like [`Params::number`].
    pub fn words(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(ParamValue::Words(words)) => words,
            _ => unreachable!("the rule declares no words: {name}"),
        }
    }

    /// Returns the words `name`, each of which is compared with whole segments; fails with a message if one can be none.
    pub fn segments(&self, name: &str) -> Result<&[String], String> {
        self.parts(name, &[':', '*'], "a segment")
    }

    /// Returns the words `name`, each of which is compared with the parts of segments between `_`, `-` and `.`; fails with a message if
    /// one can be none.
    pub fn pieces(&self, name: &str) -> Result<&[String], String> {
        self.parts(name, &[':', '*', '_', '-', '.'], "a word of a segment")
    }

    /// Returns the words `name`. One that is never found would make the rule seem kept.
    fn parts(&self, name: &str, without: &[char], what: &str) -> Result<&[String], String> {
        let words = self.words(name);
        match words.iter().find(|word| word.is_empty() || word.trim() != *word || word.contains(without)) {
            None => Ok(words),
            Some(wrong) => {
                let signs = without.iter().map(|sign| format!("`{sign}`")).collect::<Vec<_>>().join(", ");
                Err(format!("{name:?}: {wrong:?} cannot be {what}, which has no {signs} and no blank at its ends"))
            }
        }
    }

    /// Returns the flag `name`; panics like [`Params::number`].
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(ParamValue::Flag(flag)) => *flag,
            _ => unreachable!("the rule declares no flag: {name}"),
        }
    }

    fn get(&self, name: &str) -> Option<&ParamValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// Parses a number of bytes; K, M, G and T are powers of 1024.
pub fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = split(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Parses a time span into milliseconds. The unit is required.
pub fn span(text: &str) -> Option<u64> {
    let (digits, unit) = split(text);
    let factor: u64 = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_spans_have_units() {
        assert_eq!((bytes("10KB"), bytes("10240"), bytes("1 MiB")), (Some(10_240), Some(10_240), Some(1 << 20)));
        assert_eq!((span("60s"), span("30min"), span("24h")), (Some(60_000), Some(1_800_000), Some(86_400_000)));
        assert_eq!((span("60"), span("1y"), bytes("x"), bytes("99999999999999999999")), (None, None, None, None));
        assert_eq!((bytes("99999999999999G"), span("99999999999999999d")), (None, None));
    }

    #[test]
    fn a_list_is_explained_by_words_of_its_default() {
        let expects = |words| ParamDefault::Words(words).expects();
        assert_eq!(expects(&["", "NULL", "null", "nil"]), r#"a list of words such as ["NULL", "null"]"#);
        assert_eq!(
            (expects(&["a-z"]), expects(&[])),
            (r#"a list of words such as ["a-z"]"#.into(), "a list of words".into())
        );
    }
}
