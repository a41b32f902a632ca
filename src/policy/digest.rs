//! Digests of the rules in force. Two reports that have the same digest of a rule checked it with the same settings.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::dictionary::{DictionaryEntry, TtlClass};
use super::rules::ttl::missing;
use super::settings::Policy;
use crate::record::Kind;

/// Bytes of SHA-256 that a digest consists of: settings differ by accident, not on purpose.
const LENGTH: usize = 8;

/// Returns the digest of each enabled rule.
pub fn digests(policy: &Policy) -> BTreeMap<&'static str, String> {
    let rules: BTreeSet<&'static str> = policy.settings.iter().map(|setting| setting.rule.meta.id).collect();
    rules.into_iter().filter_map(|rule| Some((rule, digest(policy, rule)?))).collect()
}

/// Returns the digest of a rule: of its severities, limits and exemptions, and of the declarations that it depends on. `None` if it is
/// not enabled.
pub fn digest(policy: &Policy, rule: &str) -> Option<String> {
    let mut facts = Facts::default();
    for setting in policy.settings.iter().filter(|setting| setting.rule.meta.id == rule) {
        facts.fact("limit", [setting.severity.name()]);
        setting.params.iter().for_each(|(name, value)| facts.fact(name, [format!("{value:?}")]));
    }
    if facts.0.is_empty() {
        return None;
    }
    for exemption in &policy.exemptions {
        if exemption.rules.is_empty() || exemption.rules.iter().any(|exempt| exempt == rule) {
            facts.fact("exempt", [&exemption.pattern.text]);
        }
    }
    declarations(policy, rule, &mut facts);
    Some(facts.digest())
}

/// Adds the declarations of a policy that a rule depends on.
fn declarations(policy: &Policy, rule: &str, to: &mut Facts) {
    let entries = &policy.entries;
    match rule {
        "key.registered" => entries.iter().for_each(|entry| to.fact("entry", registration(entry))),
        "type.expected" => {
            for expected in &policy.expected {
                let facts = [expected.pattern.text.clone(), kinds(&expected.kinds)];
                to.fact("expected", facts.into_iter().chain(expected.except.iter().cloned()));
            }
            entries.iter().filter(|entry| entry.kind.is_some()).for_each(|entry| to.fact("entry", registration(entry)));
        }
        "memory.budget" => {
            for budget in &policy.budgets {
                to.fact("budget", [budget.pattern.text.clone(), budget.memory.0.to_string()]);
            }
            let budget = |memory: Option<crate::units::Bytes>| memory.map_or_else(String::new, |it| it.0.to_string());
            for class in policy.classes.iter().filter(|class| class.budget.is_some()) {
                to.fact("class", patterns(class).chain([budget(class.budget)]));
            }
            // The keys of an entry count towards its class unless it has a budget of its own.
            for entry in entries.iter().filter(|entry| entry.budget.is_some() || class_of(policy, entry).is_some()) {
                let class = class_of(policy, entry).unwrap_or_default();
                to.fact("entry", [&*entry.pattern.text, &*budget(entry.budget), class]);
            }
        }
        // It counts owners where there are some.
        "instance.mixed" => {
            for (entry, owner) in entries.iter().filter_map(|entry| Some((entry, entry.owner.as_ref()?))) {
                to.fact("owner", [&entry.pattern.text, owner]);
            }
        }
        // It counts the keys that this rule finds.
        "memory.volatile-policy" => {
            if let Some(missing) = digest(policy, missing::ID) {
                to.fact("ttl.missing", [missing]);
            }
        }
        // Every rule about lifetimes may look at the class of a key, which its dictionary entry may name.
        _ if rule.starts_with("ttl.") => {
            policy.classes.iter().for_each(|class| to.fact("class", lifetime(class)));
            for (entry, class) in entries.iter().filter_map(|entry| Some((entry, class_of(policy, entry)?))) {
                to.fact("entry", [entry.pattern.text.as_str(), class]);
            }
        }
        _ => {}
    }
}

/// Returns the name of the TTL class that an entry names.
fn class_of<'p>(policy: &'p Policy, entry: &DictionaryEntry) -> Option<&'p str> {
    policy.classes.get(usize::from(entry.class?)).map(|class| class.name.as_str())
}

fn registration(entry: &DictionaryEntry) -> [String; 3] {
    let kind = entry.kind.map_or("", Kind::name);
    [entry.pattern.text.clone(), kind.to_owned(), entry.owner.is_some().to_string()]
}

fn lifetime(class: &TtlClass) -> impl Iterator<Item = String> {
    let TtlClass { name, kinds: types, locks, required, max, jitter, .. } = class;
    let limits = format!("{locks} {required} {max:?} {jitter:?}");
    [name.clone(), kinds(types), limits].into_iter().chain(patterns(class))
}

fn patterns(class: &TtlClass) -> impl Iterator<Item = String> {
    class.patterns.iter().map(|pattern| pattern.text.clone())
}

fn kinds(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" ")
}

/// Facts about one rule.
#[derive(Debug, Default)]
struct Facts(Vec<u8>);

impl Facts {
    /// Adds a fact. Lengths go before texts, so that no two lists of facts have the same bytes.
    fn fact<T: AsRef<str>>(&mut self, what: &str, texts: impl IntoIterator<Item = T>) {
        self.text(what);
        let before = self.0.len();
        texts.into_iter().for_each(|text| self.text(text.as_ref()));
        let length = self.0.len() - before;
        self.0.extend((length as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    fn digest(&self) -> String {
        HEXLOWER.encode(&Sha256::digest(&self.0)[..LENGTH])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::checks;

    const TEAM: &str = "extends = \"platform\"\n";

    /// Returns the rules whose digests are not those of the policy without an addition.
    fn changed(addition: &str) -> Vec<&'static str> {
        let [before, after] = ["", addition].map(|more| checks(&format!("{TEAM}{more}")).digests);
        let ids: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
        ids.into_iter().filter(|id| before.get(id) != after.get(id)).collect()
    }

    #[test]
    fn a_change_of_the_policy_concerns_the_rules_that_it_is_about() {
        for (addition, rules) in [
            ("", &[][..]),
            ("name = \"other\"\n", &[]),
            ("[rules.\"key.length\"]\nmax = 64\n", &["key.length"]),
            ("[rules]\n\"key.length\" = \"must\"\n", &["key.length"]),
            ("[rules]\n\"key.lowercase\" = \"must\"\n", &["key.lowercase"]),
            ("[rules]\n\"key.prefix\" = \"off\"\n", &["key.prefix"]),
            ("[rules.\"key.length\"]\nfix = \"shorten it\"\n", &[]),
            ("[[exempt]]\npattern = \"a:**\"\nrules = [\"big.string\"]\nreason = \"old\"\n", &["big.string"]),
            ("[[dictionary]]\npattern = \"a:*\"\nowner = \"me\"\n", &["instance.mixed", "key.registered"]),
            ("[[dictionary]]\npattern = \"a:*\"\nbudget = \"1MB\"\n", &["key.registered", "memory.budget"]),
            ("[[budget]]\npattern = \"a:*\"\nmemory = \"1MB\"\n", &["memory.budget"]),
            (
                "[[exempt]]\npattern = \"a:**\"\nrules = [\"ttl.missing\"]\nreason = \"old\"\n",
                &["memory.volatile-policy", "ttl.missing"],
            ),
        ] {
            assert_eq!(changed(addition), rules, "{addition}");
        }
        let class = changed("[[ttl_class]]\nname = \"mine\"\npatterns = [\"zz:**\"]\nmax = \"1h\"\n");
        let (lifetimes, others): (Vec<_>, Vec<_>) = class.into_iter().partition(|rule| rule.starts_with("ttl."));
        assert!(lifetimes.contains(&missing::ID), "{lifetimes:?}");
        assert_eq!(others, ["memory.volatile-policy"]);
    }

    #[test]
    fn rules_that_were_not_evaluated_have_a_digest_too() {
        let digests = checks(TEAM).digests;
        assert!(digests.contains_key("memory.headroom") && digests.values().all(|digest| digest.len() == 2 * LENGTH));
    }
}
