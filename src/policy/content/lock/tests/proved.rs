//! Tests: locks by what only a holder writes, and what is kept beside locks.

use super::*;

const UUID: &str = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
const REDISSON: &str = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:57";

fn string_by_part(name: &str, value: &str) -> bool {
    let bytes = [&[0x40, u8::try_from(value.len()).unwrap()], value.as_bytes()].concat();
    let raw = Some(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE });
    let length = Some(value.len() as u64);
    LockName::Part.may_be_lock(&Record { raw, length, ..record(name.as_bytes()) })
}

fn hash_by_part(name: &str, pairs: &[(&str, &str)]) -> bool {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let pairs_of = pairs.iter().flat_map(|(field, value)| [text(field), text(value)].concat());
    let bytes: Vec<u8> = std::iter::once(u8::try_from(pairs.len()).unwrap()).chain(pairs_of).collect();
    let raw = Some(RawValue { value_type: ValueType::Hash, bytes: &bytes, templates: Templates::NONE });
    let length = Some(pairs.len() as u64);
    LockName::Part.may_be_lock(&Record { raw, kind: Kind::Hash, length, ..record(name.as_bytes()) })
}

#[test]
fn a_part_of_a_segment_needs_proof() {
    for name in
        ["order_lock:create:1001", "mall:orderLock:create:1", "lock_order:1", "订单锁:1", "锁:订单:1", "order_lock"]
    {
        for value in [
            UUID,
            REDISSON,
            "8d9f2c7151a34b0c9d3f6b7a1c2d3e4f",
            "Zk3fJ2mQ9xL0aBcDeFgH1w==",
            "\"Zk3fJ2mQ9xL0aBcDeFgH1w\"",
        ] {
            assert!(string_by_part(name, value), "{name} {value}");
        }
        for value in [
            "1",
            "",
            "locked",
            "order-service",
            "1700000000000",
            "d41d8cd98f00b204e9800998ecf8427e",
            "7261548390215467382",
        ] {
            assert!(!string_by_part(name, value), "{name} {value}");
        }
        assert!(!string_by_part(name, &format!("{{\"id\":\"{UUID}\",\"name\":\"door\"}}")), "{name}");
        assert!(hash_by_part(name, &[(REDISSON, "1")]) && !hash_by_part(name, &[(UUID, "1")]), "{name}");
        assert!(!hash_by_part(name, &[("owner", UUID)]) && !hash_by_part(name, &[("host-7:57", "1")]), "{name}");
        let writer = format!("{REDISSON}:write");
        assert!(hash_by_part(name, &[("mode", "write"), (&writer, "1")]), "{name}");
    }
    // A serial number, but a reentrant lock has no other meaning.
    for name in ["door_lock:1", "iot:device_lock:1", "smartLock:1", "hotel:room-lock:12", "ebike:lock_key:7"] {
        assert!(!string_by_part(name, UUID) && hash_by_part(name, &[(REDISSON, "1")]), "{name}");
    }
    assert!(!LockName::Part.may_be_lock(&record(b"order_lock:1")), "what it holds is unknown");
}

#[test]
fn tokens_of_libraries_prove_a_lock_behind_its_subject() {
    for value in ["8d9f2c7151a34b0c9d3f6b7a1c2d3e4f", "Zk3fJ2mQ9xL0aBcDeFgH1w==", "kq3Zb9Qw-Lg_2vR8tLm2WA"] {
        for name in ["shop:goods:sku1:lock", "wx:token:refresh:lock", "lock"] {
            assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
        }
        assert!(!string("iot:device:7:lock", value, false), "{value}");
    }
    let java = [&b"\xac\xed\0\x05t\0\x20"[..], b"8d9f2c7151a34b0c9d3f6b7a1c2d3e4f"].concat();
    assert!(bytes("shop:goods:sku1:lock", &java, false));
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
fn names_that_mean_nothing_else_need_no_proof_behind_their_subject() {
    for name in ["job:x:y:distlock", "order:7:redis_lock", "shop:redlock", "订单:7:分布式锁", "distributed-lock"]
    {
        for value in ["order-service", UUID, "host-7", "OrderService", "1700000000", "d41d8cd98f00b204e9800998ecf8427e"]
        {
            assert!(string(name, value, false) && string(name, value, true), "{name} {value}");
        }
        // A switch, a counter or a setting of the locks.
        for value in ["1", "0", "true", "on", "", "47", "12345678", "redisson", "0.5", "https://a.com"] {
            assert!(!string(name, value, false), "{name} {value}");
        }
        assert!(hash(name, &[("owner", "order-service")]) && hash(name, &[("host-7:57", "1")]), "{name}");
    }
    assert!(!string("sys:config:redis_lock", "order-service", false));
    assert!(!hash("sys:config:redis_lock", &[("host", "10.0.0.3"), ("timeout", "30")]));
    assert!(!string("iot:7:dlock", "order-service", false) && !string("order:7:mutex", "order-service", false));
}

#[test]
fn what_is_kept_beside_locks_is_none() {
    for (name, value) in [
        ("lock:order:fencing:1", "33"),
        ("lock:order:fencing_token:1", "123456789012"),
        ("lock:ttl:order:x", "30"),
        ("lock:switch:order:x", "on"),
        ("lock:switch:order:x", "true"),
        ("lock:order:version:9", "3"),
        ("lock:order:version:9", "1"),
        ("lock:order:retryCount:9", "2"),
        ("lock:status:dev:1", "1"),
        ("lock:status:dev:1", "normal"),
        ("lock:config:order", "30"),
        ("lock:config:order", "redisson"),
        ("lock:order:expireAt:1", "1700000000000"),
        ("lock:until:order:1", "2026-11-27 10:00:00"),
        ("order:lock:fencing:1", "33"),
        ("order:lock:retry:1", "3"),
        ("order:lock:switch:sku", "on"),
        ("redis_lock:order:ttl:1", "30"),
        ("锁定:lock:版本:1", "3"),
    ] {
        assert!(!string(name, value, false), "{name} {value}");
    }
    assert!(!string("lock:order:version:9", "3", true) && !string("lock:status:dev:1", "0", true));
    assert!(!string("lock:login:user:1", "5", true) && !string("lock:account:zhangsan", "3", true));
    // Something is done to them by whoever holds the lock.
    for (name, value) in [
        ("lock:config:refresh", "1"),
        ("lock:config:refresh", "47"),
        ("lock:status:sync:1", "1"),
        ("lock:order:7", "47"),
        ("lock:login:user:1", "1"),
        ("shop:lock:config", "locked"),
        ("lock:order:countdown:1", "47"),
        ("lock:version_upgrade:1", "1"),
        ("lock:times_square:1", "47"),
    ] {
        assert!(string(name, value, true), "{name} {value}");
    }
    // Flags and names of holders with an expiry, and tokens.
    for name in ["lock:status:dev:1", "lock:order:version:9", "lock:config:order", "order:lock:retry:1"] {
        assert!(string(name, "1", true) && string(name, "host-7", true), "{name}");
        assert!(string(name, UUID, false) && string(name, "order-service", false), "{name}");
    }
}
