//! Words for locks as parts of segments: `order_lock:7`, `orderLock:7`, `lock_order:7`, `订单锁:7`.
//!
//! Such words have many meanings, so they only select keys whose values are then looked at.

use super::place::is_lock_name;
use super::subjects::PROPERTIES;
use crate::pattern::PartKind;
use crate::pattern::name::KeyName;
use crate::pattern::plain::PlainName;
use crate::policy::content::{is_one_of, words_of};

/// A lock, as the last character of a word.
const CHINESE: &str = "锁";

/// Last byte of that character.
const LAST_OF_CHINESE: u8 = 0x81;

/// Words of several parts that have a lock in them and name something else.
const CHINESE_OTHERS: &str = "门锁 车锁 柜锁 智能锁 密码锁 指纹锁 电子锁 电磁锁 蓝牙锁 挂锁 马蹄锁 儿童锁 屏幕锁 应用锁 解锁 开锁 换锁 连锁 联锁 互锁 闭锁 \
    封锁 枷锁 时间锁";

/// Words before `lock` with which it means something else.
const BEFORE: [&[u8]; 13] = [
    b"un", b"dead", b"time", b"child", b"pad", b"air", b"wed", b"inter", b"screen", b"caps", b"num", b"yarn",
    b"version",
];

/// Words behind `lock`, besides [PROPERTIES], with which it names an attribute of a lock.
const BEHIND: [&[u8]; 17] = [
    b"id", b"no", b"uuid", b"token", b"owner", b"holder", b"record", b"records", b"log", b"logs", b"device", b"screen",
    b"time", b"queue", b"channel", b"in", b"down",
];

/// Returns whether a name may have a word for a lock in it, whatever stands around it.
#[inline]
pub fn may_have_lock_part(name: &[u8]) -> bool {
    let ends = memchr::memchr3_iter(b'k', b'K', LAST_OF_CHINESE, name);
    ends.map(|last| name.get(..=last).unwrap_or_default()).any(|text| {
        text.last_chunk::<4>().is_some_and(|word| word.eq_ignore_ascii_case(b"lock"))
            || text.ends_with(CHINESE.as_bytes())
    })
}

/// Like [`may_have_lock_part`], for plain names, by their bitmaps. A word in a compound such as `orderLock` or `order_lock` begins with a
/// capital, or is next to a mark or to the capital of another word.
#[inline]
pub fn may_have_lock_word(name: &PlainName<'_>) -> bool {
    !name.is_lower() && has_lock_in_compound(name)
}

#[inline(never)] // most plain names have lower-case letters only
fn has_lock_in_compound(name: &PlainName<'_>) -> bool {
    let others = name.others_bitmap();
    // Bits of the last letter of `lock`: from its first letter, the mark before it, and the byte behind it or behind `locks`.
    let beside = others << 3 | others << 4 | others >> 1 | others >> 2;
    let mut left = name.letter(b'k') & beside;
    while left != 0 {
        let text = name.bytes().get(..=left.trailing_zeros() as usize).unwrap_or_default();
        if text.last_chunk::<4>().is_some_and(|word| word.eq_ignore_ascii_case(b"lock")) {
            return true;
        }
        left &= left - 1;
    }
    false
}

/// Returns whether a segment of a name has a word for a lock among others.
pub fn has_lock_part(name: &KeyName<'_>) -> bool {
    let may_have = match name {
        KeyName::Plain(plain) => may_have_lock_word(plain),
        KeyName::Classified(_, pattern) => may_have_lock_part(pattern.text.as_bytes()),
    };
    may_have && name.segments().any(|(segment, kind)| kind == PartKind::Literal && is_lock_part(segment))
}

fn is_lock_part(segment: &[u8]) -> bool {
    if !may_have_lock_part(segment) || is_lock_name(segment) {
        return false;
    }
    let mut before: Option<&[u8]> = None;
    let mut words = words_of(segment).peekable();
    while let Some(word) = words.next() {
        let behind = words.peek().copied().unwrap_or_default();
        let is_another = before.is_some_and(|before| is_one_of(before, &BEFORE))
            || is_one_of(behind, &PROPERTIES)
            || is_one_of(behind, &BEHIND);
        if is_one_of(word, &[b"lock", b"locks"]) && !is_another || is_chinese(word) {
            return true;
        }
        before = Some(word);
    }
    false
}

fn is_chinese(word: &[u8]) -> bool {
    let is_other = |other: &str| word.ends_with(other.as_bytes());
    word.ends_with(CHINESE.as_bytes()) && !CHINESE_OTHERS.split_ascii_whitespace().any(is_other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::PatternBuf;
    use crate::pattern::classify::Classifier;

    proptest! {
        #[test]
        fn bitmaps_miss_no_lock(name in "([a-zA-Z]{1,3}|lock|Lock|LOCK|locks|Locks|order|[_.:-]){1,8}") {
            let (classifier, mut buffer) = (Classifier::default(), PatternBuf::default());
            let read = classifier.read(name.as_bytes(), &mut buffer);
            if let KeyName::Plain(plain) = &read {
                let has = plain.segments().any(is_lock_part);
                prop_assert!(!has || may_have_lock_word(plain), "{}", name);
            }
        }
    }

    #[test]
    fn a_lock_is_one_of_several_words() {
        for segment in [
            "order_lock",
            "orderLock",
            "lock_order",
            "order-lock",
            "LOCK_ORDER",
            "lock.order",
            "lock_key",
            "job-lock",
            "OrderLock",
            "order_lock_{int}",
            "lock_{int}",
            "locks_order",
            "order_pay_lock",
            "锁",
            "订单锁",
            "库存_锁",
            "order锁",
        ] {
            assert!(is_lock_part(segment.as_bytes()) && may_have_lock_part(segment.as_bytes()), "{segment}");
        }
        for segment in [
            "",
            "lock",
            "LOCK",
            "redis_lock",
            "block",
            "clock",
            "order_block",
            "blockchain",
            "locker",
            "unlock",
            "deadlock",
            "dead_lock",
            "unLock",
            "lock_status",
            "lockStatus",
            "lock_id",
            "lock_screen",
            "screen_lock",
            "capsLock",
            "k",
            "K",
            "门锁",
            "连锁",
            "前台智能锁",
            "锁定",
            "订单锁定",
            "更",
            "解锁",
        ] {
            assert!(!is_lock_part(segment.as_bytes()), "{segment}");
        }
    }
}
