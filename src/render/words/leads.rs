//! Sentences below the headings of sections, shared by all forms for people.

use super::{nouns, say};
use crate::render::{Lang, human};
use crate::report::{BigRules, DictionaryFit, HashTemplates, Report, Slots, Streams};

/// Describes which keys count as big.
pub fn big(rules: &BigRules, lang: Lang) -> String {
    let memory = rules.memory.map_or_else(String::new, |memory| {
        say!(lang, ", any key over {} of memory", "，任意 key 占用内存超过 {}", human::bytes(memory.0))
    });
    let payload = rules.payload.map_or_else(String::new, |payload| {
        say!(lang, ", any value over {}", "，任意 value 总大小超过 {}", human::bytes(payload.0))
    });
    say!(
        lang,
        "strings over {}, collections over {}{payload}{memory}",
        "string 超过 {}，集合类型超过 {}{payload}{memory}",
        human::bytes(rules.string_bytes),
        human::counted(rules.elements, nouns::ELEMENT, lang),
    )
}

/// Says how many keys never expire, and their memory.
pub fn without_ttl(report: &Report, lang: Lang) -> String {
    let no_ttl = &report.no_ttl;
    if no_ttl.keys > 0 && no_ttl.memory.known().is_none() {
        return say!(
            lang,
            "{} ({}) of unknown memory never expire.",
            "{}（{}）永不过期，内存未知。",
            human::counted(no_ttl.keys, nouns::KEY, lang),
            human::share_of(no_ttl.keys, report.totals.keys),
        );
    }
    let fields_expire = match report.totals.fields_expire.keys {
        0 => String::new(),
        keys => say!(
            lang,
            " Of these keys, {} are hashes all of whose fields expire.",
            "其中 {} 个是全部字段都会过期的 hash。",
            human::count(keys)
        ),
    };
    say!(
        lang,
        "{} ({}) with {} never expire; {} of all memory.{fields_expire}",
        "{}（{}）永不过期，占 {}，为总内存的 {}。{fields_expire}",
        human::counted(no_ttl.keys, nouns::KEY, lang),
        human::share(no_ttl.share),
        human::bytes(no_ttl.memory.0),
        human::share_of(no_ttl.memory.0, report.totals.memory.0),
    )
}

/// Summarises the memory of cluster slots.
pub fn slots(slots: &Slots, lang: Lang) -> String {
    say!(
        lang,
        "{} with keys; mean {}, median {}, p99 {}, heaviest {}. {} with a hash tag.",
        "{}有 key；平均 {}，中位数 {}，p99 {}，最大 {}。{} 带哈希标签。",
        human::counted(slots.used, nouns::SLOT, lang),
        human::bytes(slots.mean.0),
        human::bytes(slots.p50.0),
        human::bytes(slots.p99.0),
        human::bytes(slots.max.0),
        human::counted(slots.tagged_keys, nouns::KEY, lang),
    )
}

/// Summarises streams, their groups and unacknowledged entries.
pub fn streams(streams: &Streams, lang: Lang) -> String {
    say!(
        lang,
        "{} with {} in {}; {}, {} not acknowledged.",
        "{}，共 {}，占 {}；{}，{}未确认。",
        human::counted(streams.keys, nouns::STREAM, lang),
        human::counted(streams.entries, nouns::MESSAGE, lang),
        human::bytes(streams.memory.0),
        human::counted(streams.groups, nouns::CONSUMER_GROUP, lang),
        human::counted(streams.pending, nouns::MESSAGE, lang),
    )
}

/// Summarises hash templates and what they save.
pub fn templates(templates: &HashTemplates, lang: Lang) -> String {
    let HashTemplates { templates: count, keys, memory, bytes, saved, list: _ } = templates;
    let size = human::bytes(saved.unsigned_abs());
    let saved = if *saved < 0 {
        say!(lang, "{} more than ordinary hashes would take", "比普通 hash 多 {}", size)
    } else {
        say!(lang, "{} less than ordinary hashes would take", "比普通 hash 少 {}", size)
    };
    say!(
        lang,
        "{} for {} in {}, {} of it the templates; {}.",
        "{}，用于 {}，占 {}（其中模板 {}）；{}。",
        human::counted(*count, nouns::HASH_TEMPLATE, lang),
        human::counted(*keys, nouns::COMPACT_HASH, lang),
        human::bytes(memory.0),
        human::bytes(bytes.0),
        saved,
    )
}

/// Summarises which keys the data dictionary covers.
pub fn dictionary(report: &Report, fit: &DictionaryFit, lang: Lang) -> String {
    let all = fit.entries.len();
    let used = all.saturating_sub(fit.unused.len());
    let entries = human::counted(all as u64, nouns::DICTIONARY_ENTRY, lang);
    let with_keys = match used {
        0 => lang.of("without keys", "无匹配的 key").to_owned(),
        used if used == all && all == 1 => lang.of("with keys", "有匹配的 key").to_owned(),
        used if used == all => lang.of("all with keys", "均有匹配的 key").to_owned(),
        used => say!(lang, "{used} of them with keys", "其中 {used} 个有匹配的 key"),
    };
    let unregistered = match fit.unregistered.keys {
        0 => lang.of("every key matches an entry", "所有 key 均有匹配的条目").to_owned(),
        keys => {
            let matches = if keys == 1 { "matches" } else { "match" };
            say!(
                lang,
                "{} ({}) with {} {matches} no entry",
                "{}（{}，占 {}）不匹配任何条目",
                human::counted(keys, nouns::KEY, lang),
                human::share_of(keys, report.totals.keys),
                human::bytes(fit.unregistered.memory.0),
            )
        }
    };
    let incomplete = match fit.incomplete.len() {
        0 => String::new(),
        1 => lang.of(" 1 entry names no owner: it registers nothing.", "1 个条目未填负责人，不算已登记。").to_owned(),
        count => say!(
            lang,
            " {count} of the entries name no owner: they register nothing.",
            "{count} 个条目未填负责人，不算已登记。"
        ),
    };
    say!(
        lang,
        "{entries}, {with_keys}; {unregistered}.{incomplete}",
        "{entries}，{with_keys}；{unregistered}。{incomplete}"
    )
}
