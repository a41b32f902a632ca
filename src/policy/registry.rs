//! The list of all rules, sorted by id.

use strsim::osa_distance;

use super::params::Params;
use super::rule::{BuiltRule, Rule};
use super::rules::{self, backup, big, db, instance, key, memory, slot, stream, ttl, type_, value};
use crate::near;

/// All rules, sorted by id.
pub static RULES: &[Rule] = &[
    backup::age::RULE,
    backup::integrity::RULE,
    big::collection_hard::RULE,
    big::elements::RULE,
    big::expiring::RULE,
    big::hash_fields::RULE,
    big::string::RULE,
    big::total::RULE,
    db::multiple::RULE,
    instance::mixed::RULE,
    key::charset::RULE,
    key::empty_segment::RULE,
    key::hash_tag::RULE,
    key::length::RULE,
    key::levels::RULE,
    key::lowercase::RULE,
    key::name_cost::RULE,
    key::prefix::RULE,
    key::registered::RULE,
    key::special_chars::RULE,
    key::starts_with_letter::RULE,
    key::type_suffix::RULE,
    memory::budget::RULE,
    memory::growth::RULE,
    memory::headroom::RULE,
    memory::limit::RULE,
    memory::upgrade::RULE,
    memory::volatile_policy::RULE,
    slot::skew::RULE,
    stream::pending::RULE,
    stream::unbounded::RULE,
    ttl::expired_present::RULE,
    ttl::idle::RULE,
    ttl::idle_forever::RULE,
    ttl::lock_missing::RULE,
    ttl::missing::RULE,
    ttl::null_marker::RULE,
    ttl::storm::RULE,
    ttl::too_long::RULE,
    type_::expected::RULE,
    type_::json_string::RULE,
    type_::near_compact_limit::RULE,
    type_::set_as_counter::RULE,
    type_::split_object::RULE,
    value::compressible::RULE,
    value::lock_token::RULE,
    value::sensitive::RULE,
];

/// Returns the rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.meta.id == id)
}

/// Returns "did you mean" suggestions for an unknown id: all rules of a group if it names one, otherwise similar ids, the
/// closest first.
pub fn suggestions(id: &str) -> Vec<&'static str> {
    let lower = id.to_ascii_lowercase();
    let group = lower.trim_end_matches('.');
    let known = || RULES.iter().map(|rule| rule.meta.id);
    let of_group: Vec<_> = known().filter(|known| known.split_once('.').is_some_and(|(own, _)| own == group)).collect();
    if !of_group.is_empty() {
        return of_group;
    }
    // The part after the dot alone is compared, too: `prefix` suggests `key.prefix`.
    let tail = |known: &str| known.split_once('.').map_or(0, |(group, _)| group.len() + 1);
    near::nearest(id, known(), |id, known| {
        osa_distance(id, known).min(osa_distance(id, &known[tail(known)..]).saturating_add(1))
    })
}

/// How the keys behind a finding can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyListing {
    /// They can.
    Keys,
    /// They can, if values are inspected.
    WithValues,
    /// They can, if the earlier report is given.
    WithBaseline,
    /// The rule is about the snapshot, or unknown.
    Impossible,
}

/// Returns whether the keys behind a finding of this rule can be listed.
pub fn key_listing(id: &str) -> KeyListing {
    let built = find(id).and_then(|rule| Some((rule, (rule.build)(&Params::defaults(rule.meta.params)).ok()?)));
    match built {
        None | Some((_, BuiltRule::Snapshot(_))) => KeyListing::Impossible,
        Some((rule, _)) if rule.meta.id == rules::value::sensitive::RULE.meta.id => KeyListing::WithValues,
        Some((rule, _)) if rule.meta.id == rules::memory::growth::RULE.meta.id => KeyListing::WithBaseline,
        Some((_, BuiltRule::Key(_) | BuiltRule::Pattern(_))) => KeyListing::Keys,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_unique() {
        assert!(RULES.is_sorted_by(|a, b| a.meta.id < b.meta.id));
    }

    #[test]
    fn ids_are_paths_of_files_and_every_file_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/rules");
        let mut ids = Vec::new();
        for group in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
        {
            let name = group.file_name().unwrap().to_str().unwrap().trim_end_matches('_').to_owned();
            let paths = std::fs::read_dir(&group).unwrap().map(|entry| entry.unwrap().path());
            let stems =
                paths.filter(|path| path.is_file()).map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
            ids.extend(stems.filter(|stem| stem != "mod").map(|stem| format!("{name}.{}", stem.replace('_', "-"))));
        }
        ids.sort();
        assert_eq!(ids, RULES.iter().map(|rule| rule.meta.id).collect::<Vec<_>>());
    }

    #[test]
    fn every_rule_can_be_built_from_its_defaults() {
        for rule in RULES {
            (rule.build)(&Params::defaults(rule.meta.params))
                .unwrap_or_else(|error| panic!("{}: {error}", rule.meta.id));
        }
    }

    #[test]
    fn every_rule_has_its_texts_in_both_languages() {
        for rule in RULES.iter().map(|rule| rule.meta) {
            let texts = [rule.what, rule.why, rule.fix].into_iter().chain(rule.params.iter().map(|param| param.what));
            assert!(texts.into_iter().all(|text| !text.en.is_empty() && !text.zh.is_empty()), "{}", rule.id);
        }
    }

    #[test]
    fn typing_errors_are_recognised() {
        assert_eq!(suggestions("key.lenght").first(), Some(&"key.length"));
        assert_eq!(suggestions("key.perfix").first(), Some(&"key.prefix"));
        assert_eq!(suggestions("prefix").first(), Some(&"key.prefix"));
        assert_eq!(suggestions("key_special_chars").first(), Some(&"key.special-chars"));
    }

    #[test]
    fn a_group_suggests_all_its_rules() {
        assert!(
            suggestions("big").contains(&"big.string") && suggestions("big.").iter().all(|id| id.starts_with("big."))
        );
    }

    #[test]
    fn unrelated_names_get_no_suggestions() {
        assert_eq!(suggestions("completely different"), Vec::<&str>::new());
        assert_eq!(suggestions(&"key.prefix".repeat(1000)), Vec::<&str>::new());
    }
}
