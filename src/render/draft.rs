//! A report's patterns as the first draft of a data dictionary: a policy file with blanks for what no snapshot knows.
//!
//! The draft reads as a policy: patterns that a policy cannot hold, or that another of its entries covers, stand in it as
//! comments.

use std::io::{self, Write};

use super::human;
use crate::policy::Policy;
use crate::policy::file::Names;
use crate::policy::matcher::Pattern;
use crate::report::{PatternRow, Report};
use crate::units::Millis;

/// Classes of lifetimes that a draft sorts patterns into: the name, the longest time to live as policies write it, and in
/// milliseconds.
const CLASSES: [(&str, &str, u64); 5] = [
    ("minutes", "1h", 3_600_000),
    ("hours", "24h", 86_400_000),
    ("days", "7d", 7 * 86_400_000),
    ("weeks", "31d", 31 * 86_400_000),
    ("months", "366d", 366 * 86_400_000),
];

/// What a draft is made for.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// How patterns are read.
    pub names: Names<'a>,
    /// The policy that the draft is to be added to: what its dictionary has is left out, and what it has in vain is said.
    pub existing: Option<&'a Policy>,
}

impl Draft<'_> {
    /// Writes the policy file.
    pub fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.head(report, out)?;
        let mut written: Vec<Pattern> = self.known().cloned().collect();
        let mut left_out = 0;
        for row in &report.patterns.list {
            match Pattern::parse(&row.pattern, self.names.separators, self.names.classifier) {
                Err(why) => {
                    left_out += 1;
                    writeln!(out, "# {} has no entry: {}\n", quoted(&row.pattern), one_line(&why))?;
                }
                Ok(pattern) => match written.iter().position(|other| other.overlaps(&pattern)) {
                    Some(place) if place < self.known().count() => {}
                    Some(place) => {
                        left_out += 1;
                        let other = quoted(&written[place].text);
                        writeln!(out, "# {} has no entry: {other} can match the same keys\n", quoted(&row.pattern))?;
                    }
                    None => {
                        self.entry(report, row, out)?;
                        written.push(pattern);
                    }
                },
            }
        }
        let more = report.patterns.distinct.saturating_sub(report.patterns.list.len() as u64);
        if more > 0 {
            writeln!(out, "# {} lighter patterns are left out: --top takes more.", human::count(more))?;
        }
        if left_out > 0 {
            writeln!(
                out,
                "# {} found that no entry could be written for, see above.",
                human::counted(left_out, "pattern")
            )?;
        }
        Ok(())
    }

    fn known(&self) -> impl Iterator<Item = &Pattern> {
        self.existing.into_iter().flat_map(|policy| policy.entries.iter().map(|entry| &entry.pattern))
    }

    fn head(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let files: Vec<_> = report.source.files.iter().map(|file| one_line(&file.name)).collect();
        writeln!(out, "# A data dictionary, drafted from {}.", files.join(", "))?;
        writeln!(out, "# Fill in the blanks, and join or remove entries; docs/policy.md explains every line.")?;
        if let Some(fit) = report.findings.dictionary.as_ref().filter(|_| self.existing.is_some()) {
            writeln!(out, "#\n# These entries are not in {} yet.", one_line(&report.findings.policy))?;
            for unused in &fit.unused {
                writeln!(out, "# No key matches its entry {}.", quoted(unused))?;
            }
            return writeln!(out);
        }
        writeln!(out, "\nname = \"data dictionary\"\nextends = \"default\"\n")?;
        for (name, max, _) in CLASSES {
            writeln!(out, "[[ttl_class]]\nname = \"{name}\"\nmax = \"{max}\"\n")?;
        }
        writeln!(out, "[[ttl_class]]\nname = \"forever\"\nrequired = false\n")
    }

    fn entry(&self, report: &Report, row: &PatternRow, out: &mut dyn Write) -> io::Result<()> {
        let expiring = row.keys.saturating_sub(row.without_ttl.keys);
        let left = time_left(row, report.expiry.reference_time);
        let habit = match (row.without_ttl.keys, left) {
            (_, _) if expiring == 0 => "never expire".to_owned(),
            (0, None) => "all expire".to_owned(),
            (0, Some(left)) => format!("all expire, within {}", human::duration(left)),
            (_, left) => {
                let within = left.map_or(String::new(), |left| format!(", within {}", human::duration(left)));
                format!("{} expire{within}", human::share_of(expiring, row.keys))
            }
        };
        let types: Vec<_> = row.types.iter().map(|of| of.kind.name()).collect();
        let mixed = if types.len() > 1 { format!("; types {}", types.join(", ")) } else { String::new() };
        writeln!(
            out,
            "# {}, {}, mean {}; {habit}{mixed}",
            human::counted(row.keys, "key"),
            human::bytes(row.memory.0),
            human::bytes(row.mean.0),
        )?;
        writeln!(out, "[[dictionary]]\npattern = {}", quoted(&row.pattern))?;
        if let [only] = types.as_slice() {
            writeln!(out, "type = \"{only}\"")?;
        }
        let defined =
            |name: &str| self.existing.is_none_or(|policy| policy.classes.iter().any(|class| class.name == name));
        let class = class(row, left).filter(|class| defined(class)).unwrap_or_default();
        writeln!(out, "ttl = \"{class}\"\nowner = \"\"\ncontact = \"\"\nnote = \"\"\n")
    }
}

/// The class that all keys of a pattern fit, if there is one.
fn class(row: &PatternRow, left: Option<u64>) -> Option<&'static str> {
    match row.without_ttl.keys {
        keys if keys == row.keys => Some("forever"),
        0 => CLASSES.iter().find(|(_, _, max)| left.is_some_and(|left| left <= *max)).map(|(name, _, _)| *name),
        _ => None,
    }
}

/// The longest time that a key of the pattern has left.
fn time_left(row: &PatternRow, reference: Option<Millis>) -> Option<u64> {
    let left = row.last_expiry?.0.saturating_sub(reference?.0);
    Some(u64::try_from(left).unwrap_or_default())
}

/// As a TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Text that stays within a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_toml_whatever_is_in_them() {
        let text = "a\"b\\c\nd\u{7f}e";
        let document = format!("x = {}", quoted(text));
        let table: toml::Table = document.parse().unwrap();
        assert_eq!(table["x"].as_str(), Some(text));
    }
}
