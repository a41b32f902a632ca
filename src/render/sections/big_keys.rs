//! Keys over the limits of size.

use super::keys::{self, LENGTH, big_are_heaviest};
use crate::record::Kind;
use crate::render::document::{Scope, Section};
use crate::render::words::{leads, nouns, say};
use crate::render::{Lang, human};
use crate::report::Report;
use crate::report::known_memory;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let big = &report.big_keys;
    if big.keys == 0 {
        return None;
    }
    let lang = scope.lang;
    let title = if big_are_heaviest(report, scope) {
        lang.of("Big keys, which are the heaviest", "大 key（也是最大的 key）")
    } else {
        lang.of("Big keys", "大 key")
    };
    let limits = leads::big(&big.rules, lang);
    let expiring = match big.expiring {
        0 => no_collection_expires(report, lang).to_owned(),
        n => say!(
            lang,
            "{} among them will expire, which can block the server",
            "其中 {} 将过期，过期删除可能阻塞服务器",
            human::counted(n, nouns::COLLECTION, lang)
        ),
    };
    let (keys_in_words, length) = (human::counted(big.keys, nouns::KEY, lang), lang.pick(LENGTH));
    let lead = match known_memory(big.keys, big.memory) {
        Some(memory) => say!(
            lang,
            "{keys_in_words} ({limits}) with {}, {} of all memory; {expiring}. {length}",
            "{keys_in_words}（{limits}），占 {}，为总内存的 {}；{expiring}。{length}",
            human::bytes(memory.0),
            human::share_of(memory.0, report.totals.memory.0),
        ),
        None => say!(
            lang,
            "{keys_in_words} ({limits}) of unknown memory; {expiring}. {length}",
            "{keys_in_words}（{limits}），内存未知；{expiring}。{length}"
        ),
    };
    let table = keys::table(title, report, &big.list, scope.rows).out_of(big.keys);
    Some(Section::new("big-keys", title).lead(lead).with(table))
}

/// Says that no collection among the big keys expires or, if all of them are strings, so. Where the list does not have all big keys, the
/// types of the snapshot decide whether there may be others.
pub(super) fn no_collection_expires(report: &Report, lang: Lang) -> &'static str {
    let (big, is_collection) = (&report.big_keys, |kind: Kind| kind != Kind::String);
    let is_cut = (big.list.len() as u64) < big.keys;
    let has_collections = big.list.iter().any(|row| is_collection(row.kind))
        || (is_cut && report.types.iter().any(|row| is_collection(row.kind)));
    if has_collections {
        lang.of("none of the collections has a TTL", "其中的集合类型均未设置过期时间")
    } else {
        lang.of("all of them strings", "均为 string")
    }
}
