//! Memory of the whole server, compared with what it said of itself.

use super::short::fill;
use crate::render::document::{Scope, Section};
use crate::render::words::{nouns, say};
use crate::render::{Lang, human};
use crate::report::{Instance, Overhead, Report};
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
        overhead(&instance.overhead, lang).join(lang.of(", ", "、")),
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
    let tables = instance.tables;
    let slots = (lang.of("cluster slots", "集群槽"), tables.slots);
    parts.extend(named_sizes([main_tables(tables.main, lang), expires_tables(tables.expires, lang), slots]));
    parts.join(lang.of(", ", "，"))
}

fn overhead(overhead: &Overhead, lang: Lang) -> Vec<String> {
    let &Overhead { main, expires, slots, templates } = overhead;
    let templates = (lang.of("hash templates", "hash 模板"), templates);
    named_sizes([main_tables(main, lang), expires_tables(expires, lang), ("slot-to-keys", slots), templates])
}

fn main_tables(size: Bytes, lang: Lang) -> (&'static str, Bytes) {
    (lang.of("main tables", "主哈希表"), size)
}

fn expires_tables(size: Bytes, lang: Lang) -> (&'static str, Bytes) {
    (lang.of("expires tables", "过期表"), size)
}

/// Returns the first size and those of the others that are not zero.
fn named_sizes<const N: usize>(sizes: [(&str, Bytes); N]) -> Vec<String> {
    let there = sizes.into_iter().enumerate().filter(|&(at, (_, size))| at == 0 || size > Bytes(0));
    there.map(|(_, (name, size))| format!("{name} {}", bytes(size))).collect()
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
