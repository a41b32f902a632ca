//! Recognition of distributed locks among keys that have `lock` in their names.
//!
//! The word alone does not make a lock: `iot:device:lock:7` describes the lock of a door, `user:login:lock:7` says that an account is
//! locked, `stock:lock:sku:7` counts goods that are reserved. What a key holds decides:
//!
//! - A **hash** is a lock if its fields name a holder: `uuid:thread` with a count, as Redisson writes it, or only words such as
//!   `owner`, `token`, `expire`.
//! - A **string** is a lock unless it shows something else: an object in JSON that names no holder, a text of several words, or
//!   more than 512 bytes. If `lock` is not the first segment, it may be a state or property of what stands before it: a flag that
//!   says no, a flag or number behind a word such as `login` or `device`, one without expiry behind `user`, a number behind `stock`
//!   or `seat`, one without expiry in a name with such a word, a property such as `lock:status` or `lock:screen`, one plain word
//!   without expiry that says nothing of a holder (`shop:lock:theme` is `dark`).
//!
//! As the **last** segment (`order:7:lock`) the word is mostly a property of what stands before it. Only what nobody but the holder
//! of a lock writes counts there: a string with a UUID, or a hash with a random holder and its count, as Redisson writes it; and no
//! string in the name of a thing that has a lock (`room:12:lock`).
//!
//! A value that is random, or that cannot be read, is never a reason against a lock.

use super::is_one_of;
use super::random::{has_random, has_uuid};
use crate::rdb::peek::{PeekBuffers, RawValue, ValuePart};
use crate::record::{Kind, Record};

/// Segments that name distributed locks, each with its other [spellings](crate::policy::checks).
pub const NAMES: &[&str] = &[
    "lock",
    "redlock",
    "distLock",
    "dist_lock",
    "dist-lock",
    "redisLock",
    "redis_lock",
    "redis-lock",
    "distributedLock",
    "distributed_lock",
    "distributed-lock",
];

/// Longest value of a lock, in bytes.
const LONGEST: usize = 512;
/// Bytes of a value that are searched for something random.
const EXAMINED: usize = 256;
/// Most fields of a lock, and most members of an object that names the holder of one.
const MOST_FIELDS: u64 = 8;
/// Digits of the shortest time, in seconds.
const TIME_DIGITS: usize = 10;

/// Parts of field names that name the holder of a lock.
const HOLDERS: [&[u8]; 11] =
    [b"owner", b"holder", b"token", b"client", b"thread", b"host", b"pid", b"uuid", b"request", b"instance", b"value"];

/// Parts of field names that say more about a lock.
const DETAILS: [&[u8]; 9] = [b"count", b"reentr", b"mode", b"expire", b"ttl", b"time", b"lock", b"acquired", b"lease"];

/// Segments before `lock` whose state it may be: accounts that are locked out, and things that have a lock.
const LOCKABLE: [&[u8]; 20] = [
    b"login",
    b"signin",
    b"password",
    b"pwd",
    b"passwd",
    b"captcha",
    b"sms",
    b"otp",
    b"account",
    b"acct",
    b"device",
    b"iot",
    b"door",
    b"gate",
    b"bike",
    b"vehicle",
    b"cabinet",
    b"locker",
    b"smart",
    b"hardware",
];

/// Segments of other things with a lock, whose serial number a UUID may be, and of packages, which are locked to versions.
const THINGS: [&[u8]; 20] = [
    b"room",
    b"house",
    b"home",
    b"hotel",
    b"apartment",
    b"building",
    b"floor",
    b"car",
    b"scooter",
    b"parking",
    b"box",
    b"safe",
    b"drawer",
    b"mailbox",
    b"gateway",
    b"asset",
    b"package",
    b"npm",
    b"deps",
    "门锁".as_bytes(),
];

/// Segments of people, who may be locked out until someone lets them in again. A lock that serialises their requests expires.
const PEOPLE: [&[u8]; 4] = [b"user", b"member", b"customer", b"admin"];

/// Segments of what is counted, parts of which may be locked.
const COUNTED: [&[u8]; 12] = [
    b"stock",
    b"inventory",
    b"sku",
    b"goods",
    b"seat",
    b"quota",
    b"amount",
    b"balance",
    b"credit",
    b"ticket",
    b"coupon",
    "库存".as_bytes(),
];

/// Segments after `lock`, before nothing but ids, that make it a property of something.
const PROPERTIES: [&[u8]; 53] = [
    b"list",
    b"lists",
    b"status",
    b"state",
    b"info",
    b"detail",
    b"details",
    b"config",
    b"conf",
    b"setting",
    b"settings",
    b"count",
    b"num",
    b"total",
    b"history",
    b"reason",
    b"flag",
    b"stats",
    b"times",
    b"period",
    b"days",
    b"until",
    b"type",
    b"amount",
    b"qty",
    b"quantity",
    b"version",
    b"mode",
    b"code",
    b"pin",
    b"level",
    b"battery",
    b"model",
    b"firmware",
    b"brand",
    b"name",
    b"title",
    b"icon",
    b"image",
    b"style",
    b"theme",
    b"skin",
    b"sound",
    b"rule",
    b"rules",
    b"policy",
    b"option",
    b"options",
    b"plan",
    "状态".as_bytes(),
    "类型".as_bytes(),
    "配置".as_bytes(),
    "原因".as_bytes(),
];

/// Segments that make one word with `lock` before them, whatever follows: settings of the screen that is shown while it is locked.
const COMPOUNDS: [&[u8]; 5] = [b"screen", b"screens", b"wallpaper", b"screensaver", "屏幕".as_bytes()];

/// Values that say that something is locked, and that it is not.
const YES: [&[u8]; 8] = [b"1", b"true", b"yes", b"on", b"y", b"locked", b"lock", b"closed"];
const NO: [&[u8]; 8] = [b"0", b"false", b"no", b"off", b"n", b"unlocked", b"unlock", b"open"];

/// Plain words that the holder of a lock leaves in place of a token.
const HELD: [&[u8]; 16] = [
    b"processing",
    b"running",
    b"executing",
    b"working",
    b"doing",
    b"pending",
    b"busy",
    b"held",
    b"acquired",
    b"ok",
    b"owner",
    b"holder",
    b"token",
    b"value",
    b"worker",
    b"main",
];

/// Returns whether a key named like a lock may be one: by its type, by what it holds, and not as a helper of a lock. Redisson keeps a key
/// for each reader of a read-write lock, which has the reader in its name and always holds 1.
pub fn may_be_lock(record: &Record<'_>) -> bool {
    let place = LockPlace::of(record.key);
    let may_hold_lock = match (record.kind, record.raw) {
        (Kind::String, Some(raw)) => string_may_be_lock(record, raw, place),
        (Kind::Hash, Some(raw)) => hash_may_be_lock(record, raw, place),
        (kind, _) => !place.is_last && matches!(kind, Kind::String | Kind::Hash),
    };
    may_hold_lock && memchr::memmem::find(record.key, b":rwlock_timeout:").is_none()
}

fn hash_may_be_lock(record: &Record<'_>, raw: RawValue<'_>, place: LockPlace) -> bool {
    if record.length.is_some_and(|length| length > MOST_FIELDS) {
        return false;
    }
    let (mut pairs, mut suits, mut names_holder) = (0, true, false);
    raw.peek(&mut PeekBuffers::default(), |part| {
        let ValuePart::Pair(field, value) = part else { return };
        pairs += 1;
        let holds = match place.is_last {
            true => has_random(beginning(field)) && is_number(value),
            false => is_holder(field) && is_number(value) || has_any(field, &HOLDERS),
        };
        names_holder |= holds;
        suits &= holds || has_any(field, &DETAILS);
    });
    pairs == 0 && !place.is_last || suits && names_holder
}

/// Returns whether a field is that of a reentrant lock: something random, or a name and the number of a thread, which no time is.
fn is_holder(field: &[u8]) -> bool {
    let thread = field.iter().rposition(|&byte| byte == b':').and_then(|at| field.get(at + 1..));
    let names_thread = thread.is_some_and(is_number) && field.iter().any(u8::is_ascii_alphabetic);
    names_thread || has_random(beginning(field))
}

fn string_may_be_lock(record: &Record<'_>, raw: RawValue<'_>, place: LockPlace) -> bool {
    if record.length.is_some_and(|length| length > LONGEST as u64) {
        return false;
    }
    let Some(value) = raw.short_string(LONGEST) else { return !place.is_last };
    let value = value.trim_ascii();
    if place.is_last && (place.of_thing || !has_uuid(value)) {
        return false;
    }
    match value {
        [b'{', members @ .., b'}'] if members.contains(&b':') => return names_holder(members),
        [b'[', .., b']'] => return has_random(beginning(value)),
        _ => {}
    }
    if !place.is_inner || has_random(beginning(value)) {
        return true;
    }
    let (is_small, says_no) = (is_number(value) && value.len() < TIME_DIGITS, is_one_of(value, &NO));
    let (is_flag, expires) = (says_no || is_one_of(value, &YES), record.expires_at.is_some());
    let is_count = is_small && !is_flag && (place.of_stock || place.of_counted && !expires);
    let can_be_locked = place.of_lockable || place.of_person && !expires;
    let is_state = says_no || (is_small || is_flag) && can_be_locked;
    let is_property = place.is_property && !(is_flag && expires) || !is_flag && !expires && is_setting(value);
    !(is_count || is_state || is_property || is_prose(value))
}

/// Returns whether a value is one plain word that says nothing of a holder.
fn is_setting(value: &[u8]) -> bool {
    let rest = value.get(1..).unwrap_or_default();
    let is_word = value.first().is_some_and(u8::is_ascii_alphabetic) && rest.iter().all(u8::is_ascii_lowercase);
    is_word && !rest.is_empty() && !is_one_of(value, &HELD)
}

/// Returns whether an object in JSON has a member that names the holder of a lock, and not many others.
fn names_holder(json: &[u8]) -> bool {
    let names = memchr::memmem::find_iter(json, b"\":");
    let mut members = 0;
    let mut holds = false;
    for end in names {
        let name = json.get(..end).unwrap_or_default();
        let start = name.iter().rposition(|&byte| byte == b'"').map_or(0, |quote| quote + 1);
        members += 1;
        holds |= has_any(name.get(start..).unwrap_or_default(), &HOLDERS);
    }
    holds && members <= MOST_FIELDS
}

/// Returns whether a text has blanks between words: a description.
fn is_prose(value: &[u8]) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let blanks = value.windows(3).filter(|three| three[1] == b' ' && letter(three.first()) && letter(three.last()));
    blanks.count() >= 2
}

fn has_any(name: &[u8], words: &[&[u8]]) -> bool {
    let name = name.get(..EXAMINED).unwrap_or(name).to_ascii_lowercase();
    words.iter().any(|word| memchr::memmem::find(&name, word).is_some())
}

fn is_number(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(u8::is_ascii_digit)
}

fn beginning(text: &[u8]) -> &[u8] {
    text.get(..EXAMINED).unwrap_or(text)
}

/// Place of the word `lock` in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LockPlace {
    /// True if a segment stands before it. As the first segment it is a prefix that the standards agree on.
    is_inner: bool,
    /// True if the segment before it names something that can be locked.
    of_lockable: bool,
    /// True if it names a person.
    of_person: bool,
    /// True if a segment names something that is counted.
    of_counted: bool,
    /// True if that is the segment before it.
    of_stock: bool,
    /// True if the segment after it names a property, and only ids or people follow.
    is_property: bool,
    /// True if no segment stands after it, but one before.
    is_last: bool,
    /// True if a segment names a thing that has a lock.
    of_thing: bool,
}

impl LockPlace {
    fn of(name: &[u8]) -> LockPlace {
        let segments = || {
            let pieces = name.split(|byte| matches!(byte, b':' | b'/' | b'|' | b'#'));
            pieces
                .map(|piece| piece.strip_prefix(b"{").unwrap_or(piece))
                .map(|piece| piece.strip_suffix(b"}").unwrap_or(piece))
        };
        let mut before: Option<&[u8]> = None;
        let mut rest = segments();
        while let Some(segment) = rest.next() {
            if segment.eq_ignore_ascii_case(b"lock")
                && let Some(after) = rest.next()
            {
                let Some(before) = before else { return LockPlace::default() };
                let follows = |segment: &[u8]| segment.iter().any(u8::is_ascii_digit) || is_one_of(segment, &PEOPLE);
                return LockPlace {
                    is_inner: true,
                    of_lockable: is_one_of(before, &LOCKABLE),
                    of_person: is_one_of(before, &PEOPLE),
                    of_counted: segments().any(|segment| is_one_of(segment, &COUNTED)),
                    of_stock: is_one_of(before, &COUNTED),
                    is_property: is_one_of(after, &COMPOUNDS) || is_one_of(after, &PROPERTIES) && rest.all(follows),
                    ..LockPlace::default()
                };
            }
            if is_lock_name(segment) && rest.clone().next().is_some() {
                return LockPlace::default();
            }
            before = Some(segment);
        }
        let of_thing = |segment: &[u8]| is_one_of(segment, &LOCKABLE) || is_one_of(segment, &THINGS);
        match before {
            Some(last) if is_lock_name(last) => {
                LockPlace { is_last: true, of_thing: segments().any(of_thing), ..LockPlace::default() }
            }
            _ => LockPlace::default(),
        }
    }
}

/// Returns whether a segment is one of the usual [`NAMES`] of locks, in whatever case.
pub fn is_lock_name(segment: &[u8]) -> bool {
    NAMES.iter().any(|name| segment.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::units::Millis;

    fn string(name: &str, value: &str, expires: bool) -> bool {
        let length = u32::try_from(value.len()).unwrap();
        let bytes = [&[0x80], &length.to_be_bytes()[..], value.as_bytes()].concat();
        let raw = Some(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE });
        let expires_at = expires.then_some(Millis(30_000));
        may_be_lock(&Record { raw, length: Some(u64::from(length)), expires_at, ..record(name.as_bytes()) })
    }

    fn hash(name: &str, pairs: &[(&str, &str)]) -> bool {
        let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        let pairs_of = pairs.iter().flat_map(|(field, value)| [text(field), text(value)].concat());
        let bytes: Vec<u8> = std::iter::once(u8::try_from(pairs.len()).unwrap()).chain(pairs_of).collect();
        let raw = Some(RawValue { value_type: ValueType::Hash, bytes: &bytes, templates: Templates::NONE });
        may_be_lock(&Record { raw, kind: Kind::Hash, length: Some(pairs.len() as u64), ..record(name.as_bytes()) })
    }

    #[test]
    fn helpers_of_a_lock_are_no_locks() {
        let is_lock = |name: &str| may_be_lock(&record(name.as_bytes()));
        assert!(is_lock("lock:order:1") && is_lock("lock:rwlock_timeout"));
        assert!(!is_lock("{mall:lock:rw:1}:8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:31:rwlock_timeout:1"));
    }

    #[test]
    fn strings_are_locks_whatever_their_token_is() {
        for value in [
            "1",
            "",
            "locked",
            "order-service",
            "12345678901234567890",
            "1700000000",
            "42",
            "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f",
            "2024-11-04 12:00:00",
            "{\"owner\":\"3f9ac1d27be04568\",\"at\":1700000000}",
            "处理中",
            "{}",
        ] {
            for name in ["lock:order:7", "shop:lock:order:7", "{tag}:lock:x", "{lock:order}:7"] {
                assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
            }
        }
        let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
        for name in ["user:lock:7", "shop:lock:list", "user:login:lock:7"] {
            assert!(string(name, uuid, true) && string(name, uuid, false), "{name}");
        }
        assert!(string("shop:lock:config", "1", true) && string("shop:lock:stock:7", "1", false));
        assert!(
            string("shop:order:lock:7", "1", true)
                && string("shop:stock:lock:7", "1", true)
                && string("lock:7", "0", false)
        );
        // The lock that never expires.
        assert!(string("order:lock:7", "1", false) && string("job:lock:daily", "locked", false));
        assert!(string("user:lock:7", "1", true));
        assert!(string("shop:lock:order:7", "processing", false) && string("shop:lock:order:7", "scheduler", true));
        assert!(string("cinema:lock:screen:7", "1", true) && string("shop:lock:order:7", "OrderService", false));
        assert!(string("lock:user:7", "12", false) && string("shop:lock:order:7", "47", true));
    }

    #[test]
    fn names_of_distributed_locks_need_no_other_evidence() {
        for name in ["distlock:order:7", "redis_lock:7", "shop:RedisLock:stock:7", "app:distributed-lock:7", "redlock:7"] {
            for value in ["1", "order-service", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"] {
                assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
            }
        }
        assert!(!string("redis_lock:7", "{\"name\":\"door lock\",\"price\":12}", false));
    }

    #[test]
    fn a_lock_behind_its_subject_is_told_by_what_only_a_holder_writes() {
        let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
        let holder = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:42";
        for name in ["order:7:lock", "shop:lock", "订单:7:LOCK", "order:7:redis_lock"] {
            assert!(string(name, uuid, false) && string(name, holder, true), "{name}");
            assert!(hash(name, &[(holder, "1")]), "{name}");
            for value in ["1", "", "true", "order-service", "d41d8cd98f00b204e9800998ecf8427e", "1700000000", "ann"] {
                assert!(!string(name, value, false) && !string(name, value, true), "{name} {value}");
            }
            for pairs in [&[("owner", "ann")][..], &[("08:30", "1")], &[("host-7:221", "1")]] {
                assert!(!hash(name, pairs), "{name} {pairs:?}");
            }
            assert!(!may_be_lock(&record(name.as_bytes())), "{name}");
        }
        for name in ["room:12:lock", "iot:device:7:lock", "公寓:门锁:lock", "npm:left-pad:lock"] {
            assert!(!string(name, uuid, false), "{name}");
        }
        assert!(!string("order:7:lock", &format!("{{\"order\":\"{uuid}\",\"price\":1}}"), false));
        assert!(string("order:7:lock", &format!("{{\"owner\":\"{uuid}\"}}"), false));
    }

    #[test]
    fn strings_that_show_something_else_are_none() {
        for (name, value) in [
            ("product:lock:7", "{\"name\":\"door lock\",\"price\":12}"),
            ("lock:7", "{\"name\":\"door lock\",\"price\":12}"),
            ("product:lock:7", "[{\"name\":\"door lock\"}]"),
            ("product:lock:7", "door lock of brushed steel"),
            ("user:lock:7", "1"),
            ("user:login:lock:ann", "5"),
            ("iot:device:lock:7", "true"),
            ("stock:lock:sku:7", "12"),
            ("acct:lock:list", "1,2,3,4,5,6"),
            ("game:lock:config", "on"),
            ("user:lock:status:7", "1"),
            ("chat:room:lock:7", "0"),
            ("shop:lock:order:7", "false"),
            ("shop:seat:lock:7", "1007"),
            ("fund:lock:period:7", "20241104-20251104"),
            ("shop:lock:screen:7", "wallpaper-3"),
            ("shop:lock:screen:7", "pattern"),
            ("shop:lock:screen:7", "1"),
            ("app:lock:screen:user:7", "3"),
            ("app:lock:theme:user:7", "dark-blue"),
            ("game:lock:chest:7", "Gold"),
            ("app:lock:gesture", "face"),
        ] {
            assert!(!string(name, value, false), "{name} {value}");
        }
        assert!(!string("product:lock:7", &"x".repeat(600), true) && !string("wms:stock:lock:7", "5", true));
        assert!(!string("iot:door:lock:7", "closed", true));
    }

    #[test]
    fn hashes_are_locks_if_they_name_a_holder() {
        for pairs in [
            &[("8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:1", "1")][..],
            &[("mode", "write"), ("8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:1:write", "1"), ("host-7:221", "2")],
            &[("host-7:221", "1")],
            &[("8d9f2c7151a34b0c9d3f6b7a1c2d3e4f", "1")],
            &[("owner", "order-service"), ("hostname", "1")],
            &[("lockOwner", "a"), ("expireAt", "1700000000"), ("count", "1")],
        ] {
            assert!(hash("iot:lock:7", pairs) && hash("lock:7", pairs), "{pairs:?}");
        }
        for pairs in [
            &[("name", "door"), ("battery", "88")][..],
            &[("name", "door"), ("owner", "ann")],
            &[("sn", "8d9f2c7151a34b0c9d3f6b7a1c2d3e4f")],
            &[("status", "1")],
            &[("count", "1"), ("time", "2")],
            &[("08:30", "1"), ("22:00", "0")],
        ] {
            assert!(!hash("iot:lock:7", pairs) && !hash("lock:7", pairs), "{pairs:?}");
        }
    }
}
