use super::*;
use crate::aggregate::patterns::tests::record;
use crate::pattern::kept_name::MAX_EXAMPLE_LEN;

#[test]
fn facts_stay_small() {
    assert!(size_of::<PatternFacts>() <= 336, "{}", size_of::<PatternFacts>());
}

#[test]
fn kinds_are_numbered_as_listed() {
    assert!(Kind::ALL.iter().enumerate().all(|(i, &kind)| kind as usize == i));
}

#[test]
fn long_names_are_examples_only_in_part() {
    let key = format!("{}ä{}", "x".repeat(MAX_EXAMPLE_LEN - 1), "y".repeat(5000));
    let mut facts = PatternFacts::default();
    facts.observe(&record(0, key.as_bytes(), 7, None), &Judged::default());
    let shown = facts.heaviest().unwrap();
    assert_eq!(shown.key.as_text(), Some("x".repeat(MAX_EXAMPLE_LEN - 1).as_str()));
    assert_eq!(shown.key.whole_bytes(), Some(key.len() as u64));
}

#[test]
fn examples_are_the_heaviest_then_the_lowest_database_then_the_smallest_name() {
    let mut facts = PatternFacts::default();
    for (db, key, memory) in [(1, "b", 5), (0, "z", 5), (1, "a", 5), (0, "a", 4), (9, "q", 9), (0, "b", 1)] {
        facts.observe(&record(db, key.as_bytes(), memory, None), &crate::policy::testing::broken(0b100));
    }
    let names = |shown: Vec<Example>| shown.iter().map(|e| e.key.as_text().unwrap().to_string()).collect::<Vec<_>>();
    assert_eq!(names(facts.without_ttl()), ["q", "z", "a"]);
    assert_eq!(names(facts.breaking(2)), ["q", "z", "a"]);
    assert!(facts.breaking(1).is_empty());
    assert_eq!(facts.heaviest().unwrap().key.as_text(), Some("q"));
}
