//! What a policy can set about a rule: numbers with units, shares, lists of words.

use super::rule::Text;

/// A parameter that a rule declares.
#[derive(Debug, Clone, Copy)]
pub struct ParamSpec {
    /// Its name in policies, such as `max`.
    pub name: &'static str,
    /// What it does.
    pub what: Text,
    /// What it is where no policy sets it; its variant is the parameter's type.
    pub default: ParamDefault,
}

/// A default, and with it a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamDefault {
    /// A count.
    Int(u64),
    /// Bytes: `10240`, `"10KB"`.
    Bytes(u64),
    /// A time span in milliseconds: `"24h"`, `"30min"`.
    Span(u64),
    /// A part of the whole, in thousandths: `0.3`, `"30%"`.
    Share(u64),
    /// Words.
    Words(&'static [&'static str]),
    /// Yes or no.
    Flag(bool),
}

impl ParamDefault {
    /// How the type is called in messages.
    pub const fn expects(self) -> &'static str {
        match self {
            ParamDefault::Int(_) => "a whole number",
            ParamDefault::Bytes(_) => "a number of bytes such as 10240, \"10KB\" or \"1MB\"",
            ParamDefault::Span(_) => "a time span such as \"60s\", \"30min\", \"24h\" or \"7d\"",
            ParamDefault::Share(_) => "a part of the whole such as 0.3 or \"30%\"",
            ParamDefault::Words(_) => "a list of words such as [\"uv\", \"dau\"]",
            ParamDefault::Flag(_) => "true or false",
        }
    }

    /// The value that stands for it.
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

/// A value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParamValue {
    /// Counts, bytes, milliseconds, thousandths.
    Number(u64),
    /// Words.
    Words(Vec<String>),
    /// Yes or no.
    Flag(bool),
}

/// The values of a rule's parameters: those that a policy sets, and the defaults of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params(Vec<(&'static str, ParamValue)>);

impl Params {
    /// All defaults.
    pub fn defaults(specs: &[ParamSpec]) -> Params {
        Params(specs.iter().map(|spec| (spec.name, spec.default.value())).collect())
    }

    /// Sets one that the rule declares.
    pub fn set(&mut self, name: &str, value: ParamValue) {
        if let Some((_, old)) = self.0.iter_mut().find(|(known, _)| *known == name) {
            *old = value;
        }
    }

    /// All of them, in the order declared.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &ParamValue)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// A number. The registry's tests build every rule, so a rule asks only for what it declares.
    pub fn number(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(ParamValue::Number(number)) => *number,
            _ => unreachable!("a rule reads the numbers that it declares: {name}"),
        }
    }

    /// Words.
    pub fn words(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(ParamValue::Words(words)) => words,
            _ => unreachable!("a rule reads the words that it declares: {name}"),
        }
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(ParamValue::Flag(flag)) => *flag,
            _ => unreachable!("a rule reads the flags that it declares: {name}"),
        }
    }

    fn get(&self, name: &str) -> Option<&ParamValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// Reads a number of bytes; K, M, G are powers of 1024.
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

/// Reads a time span into milliseconds. A number needs its unit.
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
}
