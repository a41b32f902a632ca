//! The list of all rules, sorted by id.

use super::rule::{KeyRule, Meta};
use super::rules::key;

/// The description of every rule about a key's name. The place in this list is the rule's bit in masks.
pub static KEY_RULES: [&Meta; 4] =
    [&key::empty_segment::META, &key::length::META, &key::prefix::META, &key::special_chars::META];

/// The rules that all five standards agree on, in the order of [`KEY_RULES`], with their usual limits.
pub fn default_key_rules() -> Vec<Box<dyn KeyRule>> {
    vec![
        Box::new(key::EmptySegment),
        Box::new(key::Length::default()),
        Box::new(key::Prefix),
        Box::new(key::SpecialChars),
    ]
}

/// The description of the rule with this id.
pub fn find(id: &str) -> Option<&'static Meta> {
    KEY_RULES.iter().find(|meta| meta.id == id).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{KeyView, Separators};

    #[test]
    fn ids_are_sorted_and_unique() {
        assert!(KEY_RULES.is_sorted_by(|a, b| a.id < b.id));
    }

    #[test]
    fn ids_are_the_paths_of_their_files_and_no_file_is_left_out() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/rules/key");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let names = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let mut ids: Vec<_> =
            names.filter(|name| name != "mod").map(|name| format!("key.{}", name.replace('_', "-"))).collect();
        ids.sort();
        assert_eq!(ids, KEY_RULES.map(|meta| meta.id));
    }

    #[test]
    fn the_rules_stand_in_the_order_of_their_descriptions() {
        let rules = default_key_rules();
        assert_eq!(rules.iter().map(|rule| rule.meta().id).collect::<Vec<_>>(), KEY_RULES.map(|meta| meta.id));
    }

    #[test]
    fn the_examples_of_every_rule_hold() {
        let separators = Separators::new(b":");
        for rule in default_key_rules() {
            let check = |name: &'static str| rule.check(&KeyView::new(name.as_bytes(), &separators));
            assert_eq!(check(rule.meta().passes), None, "{}", rule.meta().id);
            assert!(check(rule.meta().fails).is_some(), "{}", rule.meta().id);
        }
    }

    #[test]
    fn an_example_that_passes_one_rule_passes_all() {
        let separators = Separators::new(b":");
        for meta in KEY_RULES {
            let view = KeyView::new(meta.passes.as_bytes(), &separators);
            assert!(default_key_rules().iter().all(|rule| rule.check(&view).is_none()), "{}", meta.id);
        }
    }

    #[test]
    fn every_rule_explains_itself_by_every_standard() {
        for meta in KEY_RULES {
            let texts = [meta.what, meta.why, meta.fix, meta.passes, meta.fails];
            assert!(texts.iter().all(|text| !text.trim().is_empty()), "{}", meta.id);
            let presets: Vec<_> = meta.chapters.iter().map(|chapter| chapter.preset).collect();
            assert_eq!(presets, ["service", "hzero", "platform", "strict", "aliyun"], "{}", meta.id);
        }
    }

    #[test]
    fn a_rule_is_found_by_its_id() {
        assert_eq!(find("key.prefix").map(|meta| meta.severity.name()), Some("must"));
        assert!(find("key.none").is_none());
    }
}
