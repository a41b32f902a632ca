//! Memory of the whole server, compared with what it said of itself.

use super::short::fill;
use crate::render::document::{Scope, Section};
use crate::render::words::{nouns, say};
use crate::render::{Lang, human};
use crate::report::{Instance, Report, Tables};
use crate::units::Bytes;

/// Builds the section: keys, tables, and the difference to `used-mem`.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let instance = report.instance.as_ref()?;
    let mut section = Section::new("instance", scope.lang.of("Instance", "实例"));
    for sentence in sentences(report, instance, scope.lang) {
        section = section.lead(sentence);
    }
    Some(section)
}

/// Returns everything known of it, a paragraph each.
fn sentences(report: &Report, instance: &Instance, lang: Lang) -> Vec<String> {
    let (total, servers, parts) = (bytes(instance.total), servers(report, lang), parts(instance, lang));
    let mut said = vec![if instance.unknown.is_none() {
        say!(lang, "{total} in all{servers}: {parts}.", "{servers}共 {total}：{parts}。")
    } else {
        let keys = human::counted(instance.unknown.keys, nouns::KEY, lang);
        say!(
            lang,
            "At least {total} in all{servers}: {parts}; the memory of {keys} is unknown.",
            "{servers}至少共 {total}：{parts}；另有 {keys} 内存未知。"
        )
    }];
    if let Some(after_load) = instance.after_load {
        said.push(say!(
            lang,
            "{} right after loading, until tables that grew are moved.",
            "刚加载完时为 {}，直到扩容的哈希表完成迁移。",
            bytes(after_load)
        ));
    }
    said.push(say!(
        lang,
        "MEMORY STATS computes these differently: overhead of {}; dataset {}.",
        "MEMORY STATS 的算法不同：overhead 包括{}；dataset 为 {}。",
        tables(&instance.overhead, "slot-to-keys", lang).join(lang.of(", ", "、")),
        signed(instance.dataset)
    ));
    if let Some(fill) = fill(report, lang) {
        said.push(say!(lang, "{fill}.", "{fill}。"));
    }
    if let (Some(used), Some(difference)) = (instance.used_mem, instance.difference) {
        said.push(say!(lang, "used-mem was {}{}.", "used-mem 为 {}{}。", bytes(used), besides(difference, lang)));
    }
    said
}

fn bytes(bytes: Bytes) -> String {
    human::bytes(bytes.0)
}

fn signed(bytes: i64) -> String {
    let text = human::bytes(bytes.unsigned_abs());
    if bytes < 0 { format!("-{text}") } else { text }
}

fn servers(report: &Report, lang: Lang) -> String {
    match report.servers().len() {
        0 | 1 => String::new(),
        files => say!(lang, " on {files} servers", "{files} 台服务器"),
    }
}

fn parts(instance: &Instance, lang: Lang) -> String {
    let size = human::bytes(instance.correction.unsigned_abs());
    let mut parts = vec![say!(lang, "keys {} by MEMORY USAGE", "key {}（按 MEMORY USAGE）", bytes(instance.keys))];
    match instance.correction {
        0 => {}
        1.. => parts.push(say!(lang, "{size} allocated beyond that", "另有 {size} 已分配但 MEMORY USAGE 未计入")),
        _ => parts.push(say!(
            lang,
            "minus {size} that MEMORY USAGE double-counts or that is listed under tables",
            "减去其中重复计算或已列入哈希表的 {size}"
        )),
    }
    parts.extend(tables(&instance.tables, lang.of("cluster slots", "集群槽"), lang));
    parts.join(lang.of(", ", "，"))
}

fn tables(tables: &Tables, slots: &str, lang: Lang) -> Vec<String> {
    let main = (lang.of("main tables", "主哈希表"), tables.main);
    let others = [(lang.of("expires tables", "过期表"), tables.expires), (slots, tables.slots)];
    let there = others.into_iter().filter(|&(_, size)| size > Bytes(0));
    [main].into_iter().chain(there).map(|(name, size)| format!("{name} {}", bytes(size))).collect()
}

/// Explains the difference between used-mem and the sum.
fn besides(difference: i64, lang: Lang) -> String {
    let size = human::bytes(difference.unsigned_abs());
    if difference < 0 {
        return say!(
            lang,
            ", {size} less: the server that wrote the dump is another one, or had other settings or another allocator",
            "，少 {size}：写入快照的是另一种服务器，或者设置、分配器不同"
        );
    }
    say!(
        lang,
        ", {size} more: an empty server, clients, replication backlog, scripts, and spare room in values \
         and tables that a restart gives back",
        "，多 {size}：服务器启动占用、客户端、复制积压缓冲区、脚本，以及 value 和哈希表增长后留下、重启才会归还的空间"
    )
}
