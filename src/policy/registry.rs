//! The list of all rules, sorted by id.

use strsim::osa_distance;

use super::rule::Rule;
use super::rules::{backup, big, db, instance, key, memory, slot, stream, ttl, type_, value};
use crate::near;

/// Every rule there is.
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
    memory::upgrade::RULE,
    memory::volatile_policy::RULE,
    slot::skew::RULE,
    stream::pending::RULE,
    stream::unbounded::RULE,
    ttl::expired_present::RULE,
    ttl::idle_forever::RULE,
    ttl::lock_missing::RULE,
    ttl::missing::RULE,
    ttl::storm::RULE,
    ttl::too_long::RULE,
    type_::json_string::RULE,
    type_::near_compact_limit::RULE,
    type_::set_as_counter::RULE,
    type_::split_object::RULE,
    value::compressible::RULE,
    value::sensitive::RULE,
];

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.meta.id == id)
}

/// Returns ids that `id` may have been meant for: all of a group if it names one, otherwise those within a few typing
/// errors, the nearest first.
pub fn suggestions(id: &str) -> Vec<&'static str> {
    let lower = id.to_ascii_lowercase();
    let group = lower.trim_end_matches('.');
    let known = || RULES.iter().map(|rule| rule.meta.id);
    let of_group: Vec<_> = known().filter(|known| known.split_once('.').is_some_and(|(own, _)| own == group)).collect();
    if !of_group.is_empty() {
        return of_group;
    }
    // A part of an id is near it, and so is what a few slips apart from it.
    let tail = |known: &str| known.split_once('.').map_or(0, |(group, _)| group.len() + 1);
    near::nearest(id, known(), |id, known| {
        osa_distance(id, known).min(osa_distance(id, &known[tail(known)..]).saturating_add(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::params::Params;

    #[test]
    fn ids_are_sorted_and_unique() {
        assert!(RULES.is_sorted_by(|a, b| a.meta.id < b.meta.id));
    }

    #[test]
    fn ids_are_the_paths_of_their_files_and_no_file_is_left_out() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/rules");
        let mut ids = Vec::new();
        for group in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
        {
            let name = group.file_name().unwrap().to_str().unwrap().trim_end_matches('_').to_owned();
            let files = std::fs::read_dir(&group).unwrap().map(|entry| entry.unwrap().path());
            let stems = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
            ids.extend(stems.filter(|stem| stem != "mod").map(|stem| format!("{name}.{}", stem.replace('_', "-"))));
        }
        ids.sort();
        assert_eq!(ids, RULES.iter().map(|rule| rule.meta.id).collect::<Vec<_>>());
    }

    #[test]
    fn every_rule_can_be_made_from_its_defaults() {
        for rule in RULES {
            (rule.build)(&Params::defaults(rule.meta.params))
                .unwrap_or_else(|error| panic!("{}: {error}", rule.meta.id));
        }
    }

    #[test]
    fn every_rule_says_in_both_languages_what_why_and_how_to_mend_it() {
        for rule in RULES.iter().map(|rule| rule.meta) {
            let texts = [rule.what, rule.why, rule.fix].into_iter().chain(rule.params.iter().map(|param| param.what));
            assert!(texts.into_iter().all(|text| !text.en.is_empty() && !text.zh.is_empty()), "{}", rule.id);
            assert!(!rule.chapters.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn slips_are_recognised() {
        assert_eq!(suggestions("key.lenght").first(), Some(&"key.length"));
        assert_eq!(suggestions("key.perfix").first(), Some(&"key.prefix"));
        assert_eq!(suggestions("prefix").first(), Some(&"key.prefix"));
        assert_eq!(suggestions("key_special_chars").first(), Some(&"key.special-chars"));
    }

    #[test]
    fn a_group_stands_for_its_rules() {
        assert!(
            suggestions("big").contains(&"big.string") && suggestions("big.").iter().all(|id| id.starts_with("big."))
        );
    }

    #[test]
    fn what_is_like_nothing_has_no_neighbours() {
        assert_eq!(suggestions("completely different"), Vec::<&str>::new());
        assert_eq!(suggestions(&"key.prefix".repeat(1000)), Vec::<&str>::new());
    }
}
