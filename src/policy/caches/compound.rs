//! Compounds that name a cache: `goodsCache`, `goods_cache`, `MALL_CACHE`, `商品缓存`.

use crate::policy::content::{is_one_of, words_of};

/// The word in Chinese, at the end of a compound.
const CHINESE: &str = "缓存";

/// Length of the word in English.
const CACHE: usize = 5;

/// Words before it that make the segment an action or a switch: `clear_cache:7`, `enableCache:course`.
const ACTIONS: [&[u8]; 42] = [
    b"clear",
    b"clean",
    b"flush",
    b"purge",
    b"evict",
    b"invalidate",
    b"expire",
    b"delete",
    b"del",
    b"remove",
    b"drop",
    b"reset",
    b"rebuild",
    b"refresh",
    b"reload",
    b"update",
    b"sync",
    b"load",
    b"preload",
    b"warm",
    b"warmup",
    b"prewarm",
    b"preheat",
    b"init",
    b"enable",
    b"enabled",
    b"disable",
    b"disabled",
    b"use",
    b"no",
    b"not",
    b"non",
    b"is",
    b"has",
    b"without",
    b"skip",
    b"ignore",
    b"bypass",
    b"switch",
    b"hit",
    b"miss",
    b"max",
];

/// Chinese words for them, anywhere before the word.
const CHINESE_ACTIONS: [&str; 14] =
    ["清理", "清除", "清空", "刷新", "更新", "删除", "重建", "预热", "禁用", "启用", "开启", "关闭", "是否", "命中"];

/// Returns false only if a segment is no compound, by its last four bytes: every segment of every name is tested.
#[inline]
pub fn may_be_compound(segment: &[u8]) -> bool {
    // Sets the bit by which small letters differ from capitals.
    const SMALL: u32 = 0x2020_2020;
    const ENGLISH: u32 = u32::from_le_bytes(*b"ache");
    const CHINESE: u32 = u32::from_le_bytes([0x93, 0xe5, 0xad, 0x98]);
    let Some(end) = segment.last_chunk() else { return false };
    let end = u32::from_le_bytes(*end);
    end | SMALL == ENGLISH || end == CHINESE
}

/// Returns whether a segment is a compound whose last word is one for a cache, after what is cached.
pub fn is_compound(segment: &[u8]) -> bool {
    may_be_compound(segment) && before_cache(segment).is_some_and(names_cached)
}

/// Returns what stands before the word for a cache at the end of a segment.
pub fn before_cache(segment: &[u8]) -> Option<&[u8]> {
    let before = segment.strip_suffix(CHINESE.as_bytes()).or_else(|| {
        let (before, word) = segment.split_at_checked(segment.len().checked_sub(CACHE)?)?;
        let last = before.last()?;
        let is_mark = matches!(last, b'_' | b'-' | b'.');
        let is_word = match word {
            b"cache" => is_mark || !last.is_ascii(),
            b"Cache" => true,
            b"CACHE" => is_mark || !last.is_ascii_uppercase(),
            _ => false,
        };
        is_word.then_some(before)
    })?;
    Some(before).filter(|before| before.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()))
}

/// Returns whether the words before one for a cache are those of what it holds, not of what is done to it.
fn names_cached(before: &[u8]) -> bool {
    let has_action = |action: &&str| memchr::memmem::find(before, action.as_bytes()).is_some();
    !words_of(before).any(|word| is_one_of(word, &ACTIONS)) && !CHINESE_ACTIONS.iter().any(has_action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_that_of_a_cache() {
        for segment in [
            "goodsCache",
            "goods_cache",
            "goods-cache",
            "goods.cache",
            "GoodsCache",
            "MALL_CACHE",
            "goodsCACHE",
            "DBCache",
            "laravel_database_laravel_cache",
            "redis_cache",
            "商品缓存",
            "商品Cache",
            "order2_cache",
        ] {
            assert!(is_compound(segment.as_bytes()), "{segment}");
        }
        for segment in [
            "cache",
            "Cache",
            "缓存",
            "_cache",
            "apache",
            "mustache",
            "memcache",
            "cacheUser",
            "cache_user",
            "goods_caches",
            "clear_cache",
            "refreshUserCache",
            "enable-cache",
            "CACHE",
            "刷新缓存",
            "goods_cach\u{e9}",
            "",
            "ache",
        ] {
            assert!(!is_compound(segment.as_bytes()), "{segment}");
        }
    }
}
