//! Result of `salvage` in lines of text.

use super::words::{nouns, say};
use super::{Lang, human, key_text};
use crate::report::{DamageExtent, DamagedRange, Salvage, Unverified};

/// Returns the lines, with at most `rows` damaged ranges.
pub fn lines(salvage: &Salvage, rows: usize, lang: Lang) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(bytes) = &salvage.restored {
        let (offset, found, restored) = (bytes.offset, &bytes.found, &bytes.restored);
        lines.push(say!(
            lang,
            "byte {offset:#x} is {found} and was {restored}: the checksum proves it, nothing is lost",
            "字节 {offset:#x} 现为 {found}，原为 {restored}：由校验和确定，没有数据丢失"
        ));
    }
    let ranges = &salvage.damaged[..rows.min(salvage.damaged.len())];
    lines.extend(ranges.iter().map(|range| damaged(range, lang)));
    let more = (salvage.damaged.len() - ranges.len()) as u64 + salvage.unlisted;
    if more > 0 {
        let places = if more == 1 { "place" } else { "places" };
        lines.push(say!(lang, "and {more} more damaged {places}", "另有 {more} 处损坏"));
    }
    lines.extend(databases(salvage, lang));
    if !salvage.proven {
        let unnoticed = "changes that leave a value readable cannot be detected";
        lines.push(lang.of(unnoticed, "若 value 被改动后仍可读，则无法发现").to_owned());
    }
    lines
}

/// Says what cannot be verified and makes a server refuse the new snapshot if it is damaged.
pub fn unverified(unverified: &Unverified, lang: Lang) -> Vec<String> {
    let mut lines = Vec::new();
    let functions = unverified.functions;
    if functions > 0 {
        let libraries = if functions == 1 { "library" } else { "libraries" };
        lines.push(say!(
            lang,
            "the code of {functions} function {libraries} cannot be verified: servers refuse the whole file if it does not compile",
            "无法验证 {functions} 个函数库的代码：若其无法编译，服务器会拒绝加载整个文件"
        ));
    }
    if !unverified.modules.is_empty() {
        let names = unverified.modules.join(", ");
        lines.push(say!(
            lang,
            "names of modules cannot be verified: servers without one of these refuse the whole file: {names}",
            "无法验证模块名称：缺少以下任一模块的服务器会拒绝加载整个文件：{names}"
        ));
    }
    lines
}

/// Says how much can be saved.
pub fn headline(salvage: &Salvage, lang: Lang) -> String {
    let keys = human::counted(salvage.keys, nouns::KEY, lang);
    let lost = human::bytes(salvage.bytes_lost.0);
    match salvage.announced {
        Some(announced_keys) => {
            let announced = human::count(announced_keys);
            let found = human::count(salvage.keys);
            let all = human::counted(announced_keys, nouns::KEY, lang);
            say!(lang, "{found} of {all}, {lost} lost", "{keys}（文件声明 {announced} 个），丢失 {lost}")
        }
        None => say!(lang, "{keys}, {lost} lost", "{keys}，丢失 {lost}"),
    }
}

fn damaged(range: &DamagedRange, lang: Lang) -> String {
    let DamagedRange { damage, start, end, db, key, keys_before, keys_behind, error } = range;
    let error = key_text::text(lang.say(&error.wording));
    let size = human::bytes(end - start);
    match (damage, key) {
        (DamageExtent::Value | DamageExtent::Duplicate, Some(key)) => {
            let key = key_text::key(&key.0);
            say!(lang, "db {db} {key} ({size}): {error}", "db {db} {key}（{size}）：{error}")
        }
        (DamageExtent::Framing | DamageExtent::Value | DamageExtent::Duplicate | DamageExtent::Other, _) => {
            let (before, behind) = (human::counted(*keys_before, nouns::KEY, lang), human::count(*keys_behind));
            let cause = if error.starts_with("byte ") { "cause, at " } else { "cause: " };
            say!(
                lang,
                "bytes {start:#x} to {end:#x} ({size}) in db {db}, {before} before and {behind} after; {cause}{error}",
                "字节 {start:#x} 至 {end:#x}（{size}），db {db}，之前 {before}，之后 {behind} 个；原因：{error}"
            )
        }
    }
}

/// Says which databases lack keys, have too many, or are uncertain.
fn databases(salvage: &Salvage, lang: Lang) -> Vec<String> {
    let mut lines = Vec::new();
    for database in &salvage.databases {
        let (db, keys) = (database.db, human::counted(database.keys, nouns::KEY, lang));
        if let Some(missing) = database.announced.and_then(|announced| announced.checked_sub(database.keys))
            && missing > 0
        {
            let missing = human::count(missing);
            lines.push(say!(lang, "db {db}: {keys}, {missing} missing", "db {db}：{keys}，缺少 {missing} 个"));
        }
        if let Some(excess) = database.announced.and_then(|announced| database.keys.checked_sub(announced))
            && excess > 0
        {
            let excess = human::count(excess);
            lines.push(say!(
                lang,
                "db {db}: {keys}, {excess} more than it announces",
                "db {db}：{keys}，比声明的多 {excess} 个"
            ));
        }
        if !database.certain {
            lines.push(say!(
                lang,
                "db {db}: uncertain, some of its keys may belong to another database whose SELECTDB is lost",
                "db {db}：不确定，部分 key 可能属于 SELECTDB 已丢失的其他数据库"
            ));
        }
    }
    lines
}
