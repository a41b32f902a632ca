//! Names that the details of findings suggest, judged by the policy that made the findings.

use rdblens::internals::policy::presets;
use rdblens::report::DetailValue;

use super::values::{Dump, finding, report};
use super::{Preset, key};

/// A suggested name keeps what the policy says of the key, and is no other pattern of the snapshot.
#[test]
fn names_that_details_suggest_break_no_rule() {
    let names = [
        "user:basic.information:1:string",
        "session:token:1",
        "counter:api:rate:user:1",
        "cache:user:information:1",
        "lock:task:processing:1",
        "queue:email:request:1",
        "hpfm:lov:description:1",
        "user:follow:list:1",
        "user:folder:limit:1",
        "usage:follow:list:1",
        "{user:profile:1}:message:count",
        "order:1:messages:state",
        "order:1:msgs:state",
        "shop:app:1:configuration:x",
    ];
    let mut dump = Dump::new();
    for (id, name) in (1000..2000).flat_map(|id| names.map(|name| (id, name))) {
        dump.string(&name.replace('1', &id.to_string()), "1");
    }
    let (_folder, path) = dump.write();
    let mut suggested = 0;
    for known in presets::PRESETS.iter().filter(|preset| preset.name != "none") {
        let preset = Preset::named(known.name);
        let report = report(&path, known.name);
        let found = finding(&report, "key.name-cost").unwrap();
        assert_eq!(found.patterns.len(), names.len());
        let mut all: Vec<String> = found.patterns.iter().map(|row| row.pattern.clone().unwrap()).collect();
        for row in &found.patterns {
            let pattern = row.pattern.as_deref().unwrap();
            let Some(DetailValue::Pattern(short)) = row.details.get("shortened").map(|detail| &detail.value) else {
                assert_eq!(row.saves, None);
                continue;
            };
            suggested += 1;
            assert!(!pattern.starts_with("user:profile:"), "patterns do not show tags: {short}");
            let broken = |name: &str| preset.broken("", &key(name.replace("{int}", "1234").as_bytes()));
            assert_eq!(broken(short), broken(pattern), "{}: {short}", known.name);
            assert_eq!(row.saves.unwrap().0, 1000 * (pattern.len() - short.len()) as u64);
            all.push(short.clone());
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "{}: {all:?}", known.name);
    }
    assert!(suggested >= 5 * (presets::PRESETS.len() - 1));
}
