//! Compounds that name a cache: `goodsCache`, `goods_cache`, `MALL_CACHE`, `商品缓存`, `pagecache`, `cache_v2`.

use super::is_word;
use crate::policy::content::{is_one_of, words_of};

/// The word in Chinese, at the end of a compound.
const CHINESE: &str = "缓存";

/// Length of the word in English.
const CACHE: usize = 5;

/// Most digits of a version.
const MAX_DIGITS: usize = 3;

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

/// Words that may be written in one with the word, in small letters: `pagecache:goods:7`. Others end in other words, or name software.
const FUSED: [&[u8]; 36] = [
    b"page", b"html", b"view", b"user", b"member", b"goods", b"product", b"item", b"order", b"shop", b"data", b"db",
    b"sql", b"query", b"result", b"api", b"http", b"web", b"local", b"remote", b"redis", b"l1", b"l2", b"hot", b"list",
    b"detail", b"info", b"object", b"entity", b"file", b"image", b"img", b"token", b"session", b"search", b"my",
];

/// Returns false only if a segment is no compound, by its last bytes: every segment of every name is tested.
#[inline]
pub fn may_be_compound(segment: &[u8]) -> bool {
    match segment.last() {
        Some(b'e' | b'E' | 0x98) => ends_with_cache(segment),
        Some(b'0'..=b'9' | b'}') => without_version(segment).is_some_and(ends_with_cache),
        _ => false,
    }
}

/// Returns a segment without the version or number at its end: `cache_v2`, `goodsCache2`; `None` if it has none.
fn without_version(segment: &[u8]) -> Option<&[u8]> {
    let rest = match segment.strip_suffix(b"{int}") {
        Some(rest) => rest,
        None => {
            let digits = segment.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            segment.split_at_checked(segment.len() - digits).filter(|_| (1..=MAX_DIGITS).contains(&digits))?.0
        }
    };
    let rest = rest.strip_suffix(b"v").or_else(|| rest.strip_suffix(b"V")).unwrap_or(rest);
    let marked = [b'_', b'-', b'.'].iter().find_map(|mark| rest.strip_suffix(&[*mark]));
    Some(marked.unwrap_or(rest))
}

#[inline]
fn ends_with_cache(segment: &[u8]) -> bool {
    // Sets the bit by which small letters differ from capitals.
    const SMALL: u32 = 0x2020_2020;
    const ENGLISH: u32 = u32::from_le_bytes(*b"ache");
    const CHINESE: u32 = u32::from_le_bytes([0x93, 0xe5, 0xad, 0x98]);
    let Some(end) = segment.last_chunk() else { return false };
    let end = u32::from_le_bytes(*end);
    end | SMALL == ENGLISH || end == CHINESE
}

/// Returns whether a segment is a compound whose last word is one for a cache, after what is cached, before a version, or both.
pub fn is_compound(segment: &[u8]) -> bool {
    if !may_be_compound(segment) {
        return false;
    }
    let (bare, has_version) = without_version(segment).map_or((segment, false), |bare| (bare, true));
    has_version && is_word(bare) || before_cache(bare).is_some_and(names_cached)
}

/// Returns what stands before the word for a cache at the end of a segment.
fn before_cache(segment: &[u8]) -> Option<&[u8]> {
    let before = segment.strip_suffix(CHINESE.as_bytes()).or_else(|| {
        let (before, word) = segment.split_at_checked(segment.len().checked_sub(CACHE)?)?;
        let last = before.last()?;
        let is_mark = matches!(last, b'_' | b'-' | b'.');
        let is_word = match word {
            b"cache" => is_mark || !last.is_ascii() || is_one_of(last_word(before), &FUSED),
            b"Cache" => true,
            b"CACHE" => is_mark || !last.is_ascii_uppercase(),
            _ => false,
        };
        is_word.then_some(before)
    })?;
    Some(before).filter(|before| before.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()))
}

/// Returns the last word of a text, behind a mark.
fn last_word(text: &[u8]) -> &[u8] {
    text.rsplit(|byte| matches!(byte, b'_' | b'-' | b'.')).next().unwrap_or_default()
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
            "cache_v2",
            "cache-v2",
            "cache.v2",
            "cacheV2",
            "cache2",
            "Cache1",
            "CACHE_V2",
            "缓存2",
            "cache_v{int}",
            "cache{int}",
            "goods_cache_v2",
            "goodsCache2",
            "pagecache",
            "l2cache",
            "shop_usercache",
            "dbcache3",
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
            "cache2024",
            "v2",
            "apache2",
            "clear_cache2",
            "opcache",
            "cachev",
            "ecache",
            "{int}",
            "_v2",
            "2",
            "",
            "ache",
        ] {
            assert!(!is_compound(segment.as_bytes()), "{segment}");
        }
    }
}
