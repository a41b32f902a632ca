//! Tests: which names and values are locks.

use super::*;
use crate::policy::testing::record;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::units::Millis;

mod proved;
mod reserved;

fn string(name: &str, value: &str, expires: bool) -> bool {
    bytes(name, value.as_bytes(), expires)
}

fn bytes(name: &str, value: &[u8], expires: bool) -> bool {
    let length = u32::try_from(value.len()).unwrap();
    let bytes = [&[0x80], &length.to_be_bytes()[..], value].concat();
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
    assert!(!is_lock("redisson_unlock_latch:{lock:order:1}:0123456789abcdef0123456789abcdef"));
}

#[test]
fn measures_lists_and_urls_are_no_locks() {
    for value in [
        "50.00",
        "0.00012",
        "1000000.00",
        "-1000000.00",
        "1.5E7",
        "15000元",
        "116.397,39.908",
        "1,2,3,4,5",
        "https://a.com/x.mp4",
        "[\"java.math.BigDecimal\",9.5]",
    ] {
        for name in ["lock:price:sku:1", "wallet:lock:1001:usdt", "bike:lock:1001:gps"] {
            assert!(!string(name, value, false) && !string(name, value, true), "{name} {value}");
        }
    }
    // A time with a fraction may be that at which the lock expires.
    assert!(string("lock:order:1", "1764150043.25", true));
}

#[test]
fn serialized_values_are_locks_as_plain_ones_are() {
    for value in ["[\"java.lang.Long\",1]", "s:1:\"1\";", "\"1\"", "\u{ac}"] {
        assert!(string("shop:lock:order:1", value, false), "{value}");
    }
    assert!(!string("user:lock:1001", "[\"java.lang.Integer\",1]", false), "a state");
    let integer = |name: &str, value: u8| {
        let class =
            b"\xac\xed\0\x05sr\0\x11java.lang.Integer\x12\xe2\xa0\xa4\xf7\x81\x878\x02\0\x01I\0\x05valuexr\0\x10\
            java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\0\0xp\0\0\0";
        bytes(name, &[&class[..], &[value]].concat(), false)
    };
    assert!(integer("mall:lock:order:1", 1) && integer("lock:order:1", 5));
    assert!(!integer("mall:user:login:lock:1", 5) && !integer("mall:stock:lock:sku:1", 12));
}

#[test]
fn short_numbers_behind_their_subject_are_no_holders() {
    for name in [
        "pwd:error:lock:1",
        "mall:pwd:error:lock:1",
        "ad:budget:lock:1",
        "wms:warehouse:lock:1",
        "mall:version:lock:1",
        "mall:optimistic:lock:order:1",
        "game:match:lock:1",
        "charger:gun:lock:1",
        "skin:lock:7",
        "prod:mall:bin:lock:x",
    ] {
        for value in ["5", "12", "100000", "-3", "2", "[\"java.lang.Integer\",5]"] {
            assert!(!string(name, value, false) && !string(name, value, true), "{name} {value}");
        }
        for value in ["1", "1700000000", "1700000000000", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f", "host-7"] {
            assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
        }
    }
    // The subject follows: the number may be that of a thread.
    for name in ["lock:order:7", "lock:7", "mall:lock:order:7", "prod:mall:lock:order:7", "{tag}:lock:x"] {
        assert!(string(name, "47", false) && string(name, "1", true), "{name}");
    }
    assert!(string("order:lock:1", "1", false) && string("mall:order:redis_lock:1", "47", false));
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
    assert!(!string("user:lock:7", "1", true) && string("shop:lock:7", "1", true) && string("lock:user:7", "1", true));
    assert!(string("shop:lock:order:7", "processing", false) && string("shop:lock:order:7", "scheduler", true));
    assert!(string("cinema:lock:screen:7", "1", true) && string("shop:lock:order:7", "OrderService", false));
    assert!(string("lock:user:7", "12", false) && string("shop:lock:order:7", "47", true));
}

#[test]
fn a_lock_behind_its_subject_is_told_by_what_only_a_holder_writes() {
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    let holder = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:42";
    for name in ["order:7:lock", "shop:lock", "订单:7:LOCK", "order:7:rlock"] {
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
        ("phone:lock:ringtone", "marimba-2"),
        ("app:settings:lock:user:7", "30"),
        ("app:lock:biometric", "face-id"),
        ("door:lock:serial:7", "SN-2024-0017"),
        ("hotel:lock:room:12", "4711"),
        ("user:lock:login:7", "5"),
        ("auth:lock:fail:7", "3"),
        ("shop:lock:stock:7", "120"),
        ("wallet:lock:balance:7", "100.00"),
        ("redisson_lock_token:{lock:order:1}", "57"),
    ] {
        assert!(!string(name, value, false), "{name} {value}");
    }
    assert!(!string("product:lock:7", &"x".repeat(600), true) && !string("wms:stock:lock:7", "5", true));
    assert!(!string("iot:door:lock:7", "closed", true) && !string("sys:lock:ip:7", "1", true));
    assert!(!string("pay:lock:fund:7", "99.99", true) && !string("user:lock:account:7", "1", true));
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

#[test]
fn properties_behind_the_id_of_a_lock_are_none() {
    for (name, value) in [
        ("iot:device:lock:8812:firmware", "v2.3.1"),
        ("bike:lock:8812:mac", "00:1b:44:11:3a"),
        ("parking:lock:B2-117:sn", "P-77"),
        ("iot:lock:8812:name", "前门"),
        ("app:version:lock:ios", "5.2.1"),
    ] {
        assert!(!string(name, value, false) && !string(name, value, true), "{name} {value}");
    }
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    assert!(string("iot:lock:8812:name", uuid, false), "a token");
    assert!(string("shop:lock:order:8812:name", "host-7", false), "of the name of an order");
    assert!(string("shop:lock:order:1", "10.0.0.1", false), "an address");
}

#[test]
fn locks_in_the_plural_are_told_alike() {
    assert!(
        string("shop:locks:account:1", "8d9f2c7151a34b0c9d3f6b7a1c2d3e4f", false)
            && string("locks:order:1", "1", false)
    );
    assert!(!string("user:login:locks:1", "1", false) && !string("stock:locks:sku:1", "12", false));
}

#[test]
fn flags_in_any_form_are_flags() {
    for flag in [&b"\x80\x04\x89."[..], b"\xc2", b"\0\0\0\x02\x04", "否".as_bytes(), "未解锁".as_bytes()] {
        assert!(!bytes("game:hero:lock:7", flag, false), "{}", flag.escape_ascii());
    }
    assert!(!bytes("bank:stock:lock:7", b"\x80\x04\x95\x0a\0\0\0\0\0\0\0G@)\0\0\0\0\0\0.", false), "an amount");
    assert!(bytes("shop:lock:order:7", b"\x80\x04\x88.", false));
}

#[test]
fn states_of_what_is_locked_are_no_locks() {
    for value in [
        "frozen",
        "FROZEN",
        "\"PLEDGED\"",
        "UNDER_REVIEW",
        "under_review",
        "under-review",
        "underReview",
        "UnderReview",
        "Under Review",
        "PENDING_APPROVAL",
        "理赔冻结",
        "已质押",
        "已冻结",
        "实例冻结",
        "已预定,2026-11-28 20:00",
    ] {
        for name in ["insure:policy:lock:P1", "lab:report:lock:R7", "shop:lock:order:7", "ktv:room:lock:7"] {
            assert!(!string(name, value, false), "{name} {value}");
        }
        // As a prefix, the word means locks, whatever they hold.
        assert!(string("lock:order:7", value, false), "{value}");
    }
    // What says that the lock is held, or by whom.
    for value in [
        "1",
        "true",
        "locked",
        "LOCKED",
        "IS_LOCKED",
        "LOCK_HELD",
        "PROCESSING",
        "OK",
        "锁定",
        "已锁定",
        "加锁",
        "上锁",
        "执行中",
        "order-service",
        "OrderService",
        "settle-job",
        "order_api",
        "scheduler",
        "owner_id",
        "订单服务",
        "实例-甲",
        "host-7",
        "x",
        "kXqWzPbT",
    ] {
        assert!(string("insure:policy:lock:P1", value, false), "{value}");
    }
    assert!(string("insure:policy:lock:P1", "FROZEN", true), "a holder may have left any word");
}

#[test]
fn hashes_of_a_business_are_no_locks() {
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for (name, pairs) in [
        (
            "cloud:instance:lock:i9",
            &[
                ("instance_id", "i9"),
                ("lock_reason", "financial"),
                ("lock_time", "1700000000"),
                ("expire_time", "1790000000"),
            ][..],
        ),
        ("cloud:instance:lock:i9", &[("instance_id", "i9"), ("lock_time", "1700000000")]),
        (
            "insure:policy:lock:P11",
            &[("lockType", "pledge"), ("lockTime", "2026-11-27 10:00:00"), ("requestNo", "R2026")],
        ),
        ("coin:stake:lock:1001", &[("owner", "1001"), ("lock_amount", "500"), ("unlock_time", "1790000000")]),
        ("fund:share:lock:1001", &[("client_id", "c1"), ("lock_value", "500.00"), ("expire_date", "20271127")]),
        ("fund:share:lock:1002", &[("value", "500.00")]),
        ("wms:stock:lock:sku7", &[("order1_lock_count", "3"), ("token", "x")]),
        ("wms:stock:lock:sku8", &[("value", "3"), ("lock_time", "1")]),
        ("game:equip:lock:77", &[("equip:1001", "1"), ("equip:1002", "1")]),
        ("game:equip:lock:79", &[(uuid, "1"), ("9c1f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f", "1")]),
        ("live:gift:lock:77", &[("gift:7", "3")]),
    ] {
        assert!(!hash(name, pairs), "{name} {pairs:?}");
    }
    for pairs in [
        &[("lock_owner", "order-service"), ("lockedAt", "1700000000"), ("ttl_ms", "30000")][..],
        &[("clientId", "c1"), ("threadId", "42"), ("reentrantCount", "1"), ("expireTime", "1700000000")],
        &[("holder", "ann"), ("lockedBy", "10.0.0.1"), ("lease_until", "1700000000")],
        &[("userToken", uuid), ("create_time", "1700000000")],
        &[("requestId", "r-17"), ("timestamp", "1700000000")],
        &[("value", "host-7"), ("expire", "30")],
        &[("host-7:221", "1")],
    ] {
        assert!(hash("cloud:instance:lock:i9", pairs) && hash("lock:order:7", pairs), "{pairs:?}");
    }
    for (json, is_lock) in [
        ("{\"lockType\":\"pledge\",\"requestNo\":\"R1\"}", false),
        ("{\"clientName\":\"ann\"}", false),
        ("{\"clientId\":\"c1\",\"order\":7}", true),
        ("{\"userToken\":\"8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f\"}", true),
    ] {
        assert_eq!(string("insure:policy:lock:P1", json, false), is_lock, "{json}");
    }
}

#[test]
fn what_excludes_each_other_is_no_lock() {
    for (name, value) in [
        ("edu:course:mutex:cs101", "cs102,cs103"),
        ("promo:mutex:type:7", "2"),
        ("promo:mutex:type:7", "1"),
        ("game:buff:mutex:7", "8"),
        ("iot:dlock:battery:7", "88"),
        ("promo:coupon:mutex:7", "101,102"),
    ] {
        assert!(!string(name, value, false), "{name} {value}");
    }
    // The mutex of whoever rebuilds a cache.
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for name in ["edu:course:mutex:7", "mutex:7", "shop:mutex:course:7", "cache:mutex:7", "iot:dlock:7"] {
        for value in ["1", "true", "locked", "ok", "rebuild", uuid, "1700000000"] {
            assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
        }
    }
    assert!(string("mutex:7", "8", false) && string("shop:course:redlock:7", "42", false));
    assert!(string("shop:mutex:order:7", "42", false), "the number of a thread");
}

#[test]
fn who_is_blocked_and_what_is_closed_is_no_lock() {
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for name in [
        "app:driver:lock:7",
        "app:drivers:lock:7",
        "driver:lock:7",
        "his:doctor:lock:D17",
        "mall:merchant:lock:7",
        "saas:tenant:lock:acme",
        "app:骑手:lock:7",
        "{app:rider}:lock:7",
        "hr:payroll:lock:202611",
        "hr:工资:lock:202611",
        "fin:period:lock:2026-10",
        "edu:grade:lock:2026s1",
        "game:item:lock:1",
        "游戏:道具:lock:1",
    ] {
        for flag in ["1", "true", "yes", "Y", "locked", "已锁定", "s:1:\"1\";"] {
            assert!(!string(name, flag, false), "{name} {flag}");
            assert!(string(name, flag, true), "{name} {flag}: the lock of a request");
        }
        for value in [uuid, "order-service", "processing", "host-7", "1700000000", "owner_id", "settle-job"] {
            assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
        }
    }
    // Something else is locked, by a system of that name or for somebody.
    for name in [
        "driver:lock:order:7",
        "mall:merchant:lock:settle:7",
        "hr:payroll:lock:calc:202611",
        "app:driver:lock:7:settle",
        "tenant:lock:sync",
        "shop:item:lock:1",
        "game:battle:lock:1",
        "game:lock:item:1",
        "job:payroll:redlock:202611",
    ] {
        assert!(string(name, "1", false), "{name}");
    }
}

#[test]
fn states_of_a_lock_of_any_thing_are_no_locks() {
    let states =
        ["open", "OFF", "closed", "Close", "on", "ON", "yes", "no", "1", "0", "idle", "fault", "online", "ok", "busy"];
    for name in ["ebike:lock:1", "iot:door:lock:5", "iot:valve:lock:1", "iot:阀门:lock:1", "park:garage:lock:B2"] {
        states.iter().for_each(|state| assert!(!string(name, state, false), "{name} {state}"));
        assert!(string(name, "host-7", false) && string(name, "busy", true), "{name}");
    }
    // What is shut or switched on has no holder, whatever it is.
    for state in ["open", "opened", "off", "closed", "ON"] {
        assert!(!string("scm:flow:lock:7", state, false), "{state}");
    }
    for value in ["ok", "busy", "yes", "1"] {
        assert!(string("scm:flow:lock:7", value, false), "{value}");
    }
    assert!(string("shop:lock:order:7", "on", false) && string("scm:flow:lock:7", "on", true));
}
