//! Parser of `[[ttl_class]]`, `[[dictionary]]`, `[[budget]]`, `[[expected]]` and `[[exempt]]`: declarations of a team about its
//! patterns.

use std::collections::HashMap;

use toml::de::DeValue;

use super::reader::{PolicyFault, PolicyReader, TomlTable, TomlValue, question, suggestion};
use crate::policy::dictionary::{DictionaryEntry, Exemption, ExpectedTypes, MemoryBudget, TtlClass};
use crate::policy::matcher::{Apart, PolicyPattern};
use crate::policy::registry;
use crate::policy::rules::ttl::missing;
use crate::policy::settings::Policy;
use crate::policy::spelling::lock_patterns;
use crate::record::Kind;
use crate::units::Bytes;

/// Maximum number of entries per list: indexes have 16 bits.
const MAX_ENTRIES: usize = u16::MAX as usize;

/// Applies the lists of a document to the preset. A TTL class replaces one of the same name in the preset, but for the keys that it is
/// of unless it says so; expected types replace those of the same pattern.
pub fn lay_over(reader: &PolicyReader<'_>, root: &TomlTable<'_>, policy: &mut Policy) -> Result<(), PolicyFault> {
    let mut places: HashMap<String, usize> =
        policy.classes.iter().enumerate().map(|(place, class)| (class.name.clone(), place)).collect();
    for (line, table) in reader.tables(root, "ttl_class")? {
        let name = reader.needed(table, "name", line)?.trim();
        let place = *places.entry(name.to_owned()).or_insert(policy.classes.len());
        let class = ttl_class(reader, table, name, line, policy.classes.get(place))?;
        match policy.classes.get_mut(place) {
            Some(known) if known.line > 0 => {
                let what = format!("TTL class {:?} is already defined in line {}", class.name, known.line);
                return Err(PolicyFault::at(line, what, "give each class a unique name"));
            }
            Some(known) => *known = class,
            None => policy.classes.push(class),
        }
    }
    excepted_classes(reader, root, &policy.classes)?;
    for (line, table) in reader.tables(root, "dictionary")? {
        let entry = entry(reader, table, line, &policy.classes, &places)?;
        policy.entries.push(entry);
    }
    for (line, table) in reader.tables(root, "budget")? {
        reader.only(table, &["pattern", "memory"])?;
        let pattern = reader.pattern(reader.needed(table, "pattern", line)?, reader.line_of(table, "pattern"))?;
        let memory = reader.budget(table, "memory")?;
        let memory = memory.ok_or_else(|| PolicyFault::at(line, "\"memory\" is missing", "add memory = \"64MB\""))?;
        policy.budgets.push(MemoryBudget { pattern, memory: Bytes(memory), line });
    }
    for (line, table) in reader.tables(root, "expected")? {
        let expected = expected(reader, table, line)?;
        // Entries of the preset come first.
        let mut preset = policy.expected.iter().take_while(|known| known.line == 0);
        if let Some(place) = preset.position(|known| known.pattern == expected.pattern) {
            policy.expected.remove(place);
        }
        policy.expected.push(expected);
    }
    for (line, table) in reader.tables(root, "exempt")? {
        policy.exemptions.push(exemption(reader, table, line)?);
    }
    check(policy)
}

fn ttl_class(
    reader: &PolicyReader<'_>,
    table: &TomlTable<'_>,
    name: &str,
    line: usize,
    replaced: Option<&TtlClass>,
) -> Result<TtlClass, PolicyFault> {
    reader.only(table, &["name", "patterns", "types", "locks", "required", "max", "jitter", "budget"])?;
    reader.filled(table, "name", "give the class a name: entries and reports use it")?;
    let (kinds, locks, patterns) = members(reader, table, replaced)?;
    if (!kinds.is_empty() || locks) && table.contains_key("budget") {
        let line = reader.line_of(table, "budget");
        let what =
            "a TTL class with \"types\" or \"locks\" cannot have a budget, which counts all keys of its patterns";
        return Err(PolicyFault::at(line, what, "use a [[budget]]"));
    }
    Ok(TtlClass {
        kinds,
        locks,
        name: name.to_owned(),
        patterns,
        required: reader.flag(table, "required")?.unwrap_or(true),
        max: match reader.span(table, "max")? {
            Some(0) => {
                let remedy = "write a time such as \"60s\", or leave it out for no limit";
                return Err(PolicyFault::at(reader.line_of(table, "max"), "\"max\" is 0", remedy));
            }
            max => max,
        },
        // Locks are not set in bulk, so that they need no offset.
        jitter: reader.span(table, "jitter")?.or(locks.then_some(0)),
        budget: reader.budget(table, "budget")?.map(Bytes),
        line,
    })
}

/// Returns which keys are of a class: types, whether they must be locks, and patterns. Without patterns of its own, a class is of the
/// same keys as the one that it `replaced`; a new one of locks is of all that are named like one.
fn members(
    reader: &PolicyReader<'_>,
    table: &TomlTable<'_>,
    replaced: Option<&TtlClass>,
) -> Result<(Vec<Kind>, bool, Vec<PolicyPattern>), PolicyFault> {
    let types = reader.some_texts(table, "types", "name types, or leave it out for all")?.unwrap_or_default();
    let mut kinds = types.iter().map(|name| kind(name, reader.line_of(table, "types"))).collect::<Result<_, _>>()?;
    let mut locks = reader.flag(table, "locks")?;
    let patterns = match (reader.texts(table, "patterns")?, replaced) {
        (Some(patterns), _) => {
            let line = reader.line_of(table, "patterns");
            patterns.iter().map(|text| reader.pattern(text, line)).collect::<Result<_, _>>()?
        }
        (None, Some(replaced)) => {
            if !table.contains_key("types") {
                kinds = replaced.kinds.clone();
            }
            locks = locks.or(Some(replaced.locks));
            replaced.patterns.clone()
        }
        (None, None) if locks == Some(true) => lock_patterns(),
        (None, None) => Vec::new(),
    };
    Ok((kinds, locks.unwrap_or(false), patterns))
}

fn entry(
    reader: &PolicyReader<'_>,
    table: &TomlTable<'_>,
    line: usize,
    classes: &[TtlClass],
    places: &HashMap<String, usize>,
) -> Result<DictionaryEntry, PolicyFault> {
    reader.only(table, &["pattern", "type", "ttl", "owner", "contact", "note", "budget"])?;
    let text = |key| {
        let text = reader.text(table, key)?.map(str::trim).filter(|text| !text.is_empty());
        Ok::<_, PolicyFault>(text.map(str::to_owned))
    };
    let kind = match text("type")? {
        None => None,
        Some(name) => Some(kind(&name, reader.line_of(table, "type"))?),
    };
    let class = match text("ttl")? {
        None => None,
        Some(name) => match places.get(&name).and_then(|place| u16::try_from(*place).ok()) {
            Some(place) => Some(place),
            None => return Err(unknown_class(&name, classes, reader.line_of(table, "ttl"))),
        },
    };
    Ok(DictionaryEntry {
        pattern: reader.pattern(reader.needed(table, "pattern", line)?, reader.line_of(table, "pattern"))?,
        kind,
        class,
        owner: text("owner")?,
        contact: text("contact")?,
        note: text("note")?,
        budget: reader.budget(table, "budget")?.map(Bytes),
        line,
    })
}

fn kind(name: &str, line: usize) -> Result<Kind, PolicyFault> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = Kind::ALL.map(Kind::name);
        let hint = suggestion(name, names);
        PolicyFault::at(line, format!("{name:?} is not a type"), format!("{hint}the types are {}", names.join(", ")))
    })
}

/// Checks that the TTL classes exist that `ttl.missing` leaves to other rules.
fn excepted_classes(reader: &PolicyReader<'_>, root: &TomlTable<'_>, classes: &[TtlClass]) -> Result<(), PolicyFault> {
    let rule = root.get("rules").and_then(|rules| rules.get_ref().as_table()?.get(missing::ID));
    let limits = match rule.map(TomlValue::get_ref) {
        Some(DeValue::Array(limits)) => limits.iter().filter_map(|limit| limit.get_ref().as_table()).collect(),
        Some(DeValue::Table(limit)) => vec![limit],
        _ => Vec::new(),
    };
    let names = limits.into_iter().filter_map(|limit| limit.get("except")?.get_ref().as_array()).flatten();
    for (name, span) in names.filter_map(|name| Some((name.get_ref().as_str()?, name.span()))) {
        if classes.iter().all(|class| class.name != name) {
            return Err(unknown_class(name, classes, reader.line(&span)));
        }
    }
    Ok(())
}

fn unknown_class(name: &str, classes: &[TtlClass], line: usize) -> PolicyFault {
    let names: Vec<_> = classes.iter().map(|class| class.name.as_str()).collect();
    let known =
        if names.is_empty() { "none is defined yet".to_owned() } else { format!("defined are {}", names.join(", ")) };
    PolicyFault::at(
        line,
        format!("there is no TTL class {name:?}"),
        format!("{}add a [[ttl_class]] of that name above; {known}", suggestion(name, &names)),
    )
}

fn expected(reader: &PolicyReader<'_>, table: &TomlTable<'_>, line: usize) -> Result<ExpectedTypes, PolicyFault> {
    reader.only(table, &["pattern", "types", "except"])?;
    let types = reader.texts(table, "types")?.unwrap_or_default();
    if types.is_empty() {
        let line = if table.contains_key("types") { reader.line_of(table, "types") } else { line };
        let remedy = "add types = [\"list\", \"stream\"], or [\"any\"] to expect none";
        return Err(PolicyFault::at(line, "\"types\" is missing or empty", remedy));
    }
    let any = types.len() == 1 && types[0] == "any";
    let kinds = types.iter().filter(|_| !any).map(|name| kind(name, reader.line_of(table, "types")));
    Ok(ExpectedTypes {
        pattern: reader.pattern(reader.needed(table, "pattern", line)?, reader.line_of(table, "pattern"))?,
        kinds: kinds.collect::<Result<_, _>>()?,
        except: reader.some_texts(table, "except", "name segments, or leave it out")?.unwrap_or_default(),
        line,
    })
}

fn exemption(reader: &PolicyReader<'_>, table: &TomlTable<'_>, line: usize) -> Result<Exemption, PolicyFault> {
    reader.only(table, &["pattern", "rules", "reason"])?;
    let remedy = "name rules, or leave it out to exempt the keys from all";
    let rules = reader.some_texts(table, "rules", remedy)?.unwrap_or_default();
    if let Some(unknown) = rules.iter().find(|id| registry::find(id).is_none()) {
        let line = reader.line_of(table, "rules");
        let remedy = format!("{}`rdblens rules` lists all rules", question(&registry::suggestions(unknown)));
        return Err(PolicyFault::at(line, format!("there is no rule {unknown:?}"), remedy));
    }
    reader.filled(table, "reason", "state why these keys are exempt: reports show it")?;
    let reason = reader.needed(table, "reason", line)?;
    Ok(Exemption {
        pattern: reader.pattern(reader.needed(table, "pattern", line)?, reader.line_of(table, "pattern"))?,
        rules,
        reason: reason.to_owned(),
        line,
    })
}

/// Checks that no key can match two entries of the same list, and that lists are not too long.
fn check(policy: &Policy) -> Result<(), PolicyFault> {
    let lists = [
        policy.entries.len(),
        policy.classes.len(),
        policy.budgets.len(),
        policy.expected.len(),
        policy.exemptions.len(),
    ];
    if lists.into_iter().any(|length| length > MAX_ENTRIES) {
        return Err(PolicyFault {
            line: None,
            what: format!("a list has more than {MAX_ENTRIES} entries"),
            remedy: "combine patterns".to_owned(),
        });
    }
    let entries = policy.entries.iter().map(|entry| (&entry.pattern, entry.line));
    let classes = policy.classes.iter().flat_map(|class| class.patterns.iter().map(|pattern| (pattern, class.line)));
    let budgets = policy.budgets.iter().map(|budget| (&budget.pattern, budget.line));
    let expected = policy.expected.iter().map(|expected| (&expected.pattern, expected.line));
    apart(&entries.collect::<Vec<_>>(), "dictionary entries")?;
    apart(&classes.collect::<Vec<_>>(), "patterns of TTL classes")?;
    apart(&budgets.collect::<Vec<_>>(), "budgets")?;
    apart(&expected.collect::<Vec<_>>(), "patterns of expected types")?;
    Ok(())
}

fn apart(patterns: &[(&PolicyPattern, usize)], what: &str) -> Result<(), PolicyFault> {
    let mut apart = Apart::default();
    for (place, &(pattern, line)) in patterns.iter().enumerate() {
        let Some((other, before)) = apart.add(pattern, place).map(|other| patterns[other]) else { continue };
        let (pattern, other) = (&pattern.text, &other.text);
        let before = if before > 0 { format!("line {before}") } else { "the preset".to_owned() };
        return Err(PolicyFault::at(
            line,
            format!("{what} overlap: {pattern:?} and {other:?} of {before} can match the same key"),
            "make one of them more specific, or combine them",
        ));
    }
    Ok(())
}
