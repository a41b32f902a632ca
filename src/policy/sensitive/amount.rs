//! Names of amounts and of serial numbers, whose digits are no phone number: `file:size:7`, `used_bytes`, `"total":13900000000`.
//!
//! The last word of a name counts, ids aside. Sizes from 13 to 20 GB have the digits of a mobile number, and so have many numbers of
//! orders.

use super::called::name_before;
use super::split_hump;
use crate::policy::content::is_one_of;

/// Words of amounts.
const AMOUNTS: [&[u8]; 30] = [
    b"size",
    b"bytes",
    b"byte",
    b"length",
    b"len",
    b"used",
    b"usage",
    b"free",
    b"available",
    b"total",
    b"sum",
    b"capacity",
    b"limit",
    b"quota",
    b"offset",
    b"position",
    b"traffic",
    b"bandwidth",
    b"flow",
    b"memory",
    b"mem",
    b"disk",
    b"storage",
    b"heap",
    b"amount",
    b"balance",
    b"price",
    b"count",
    b"volume",
    b"nanos",
];

/// Words of numbers, behind what they number.
const NUMBERS: [&[u8]; 7] = [b"no", b"id", b"num", b"number", b"sn", b"code", b"seq"];

/// Words of what has serial numbers.
const NUMBERED: [&[u8]; 14] = [
    b"order",
    b"trade",
    b"bill",
    b"invoice",
    b"batch",
    b"serial",
    b"track",
    b"tracking",
    b"waybill",
    b"express",
    b"refund",
    b"item",
    b"sku",
    b"product",
];

/// Chinese words of both kinds.
const CHINESE: [&str; 9] = ["大小", "容量", "流量", "总量", "总数", "金额", "余额", "订单号", "单号"];

/// Longest name that is considered: that of a key may be long, but its last words say what it holds.
const LONGEST: usize = 128;

/// Returns whether the last words of a name, ids aside, are those of an amount or of a serial number.
pub(super) fn is_amount(name: &[u8]) -> bool {
    ends_with_word(name, true)
}

/// Returns whether the last words of a name, ids aside, are those of a serial number or, if these count, of an amount.
fn ends_with_word(name: &[u8], amounts: bool) -> bool {
    let end = name.get(name.len().saturating_sub(LONGEST)..).unwrap_or(name);
    let mut words = end.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()).rev();
    let is_word = |word: &&[u8]| !word.is_empty() && !word.iter().any(u8::is_ascii_digit);
    let Some(segment) = words.find(is_word) else { return false };
    let (before, last) = split_hump(segment);
    let before = if before.is_empty() { words.find(is_word).unwrap_or_default() } else { before };
    amounts && is_one_of(last, &AMOUNTS)
        || is_one_of(last, &NUMBERS) && is_one_of(split_hump(before).1, &NUMBERED)
        || amounts && CHINESE.iter().any(|word| last.ends_with(word.as_bytes()))
}

/// Returns whether a text ends with the name of an amount and the sign of its value: `{"size":`, `?total=`, `size: `.
///
/// In the name of a key, a number behind an amount says whose it is: `balance:13812345678`. There, only serial numbers count.
pub(super) fn follows_amount(text: &[u8]) -> bool {
    name_before(text).is_some_and(|before| ends_with_word(before.name, !before.is_of_key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_count() {
        for name in [
            "size",
            "file:size:7",
            "used_bytes",
            "usedBytes",
            "disk:used",
            "SIZE",
            "orderNo",
            "order_no",
            "order:no:20241104",
            "sku:id",
            "文件大小",
            "订单号",
            "file:size:550e8400-e29b-41d4-a716-446655440000",
        ] {
            assert!(is_amount(name.as_bytes()), "{name}");
        }
        for name in
            ["", "phone", "phoneNo", "mobile_no", "user:id", "size:phone", "total:contact", "sizes", "7", ":", "手机号"]
        {
            assert!(!is_amount(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_member_is_read_backwards() {
        for text in
            ["{\"size\":", "{\"size\" : \"", "{\\\"size\\\":", "a=1&total=", "size: ", "{'bytes': '", "order:no:"]
        {
            assert!(follows_amount(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "size",
            "user:balance:",
            "sms:count:",
            "size ",
            "{\"phone\":",
            "{\"size\":1,\"tel\":",
            "size 7:",
            "\"",
            ":",
            "size\":[1,",
        ] {
            assert!(!follows_amount(text.as_bytes()), "{text}");
        }
    }
}
