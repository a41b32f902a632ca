//! Tests: who is locked out, what is reserved, attributes of things, and money.

use super::string;

#[test]
fn whoever_is_locked_out_is_no_lock() {
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for (name, value) in [
        ("rate:lock:1.2.3.4", "1"),
        ("fcb:lock:hit:1.2.3.4", "1"),
        ("gw:lock:10.0.0.9", "blocked"),
        ("api:lock:ann@corp.example.com", "true"),
        ("bank:lock:ip:10.0.0.9", "1790000000"),
        ("mfa:lock:7", "1"),
        ("bank:totp:lock:7", "5"),
        ("sms:cooldown:lock:7", "1"),
    ] {
        assert!(!string(name, value, true) && !string(name, value, false), "{name} {value}");
        assert!(string(name, uuid, true), "{name}: a token");
    }
    for (name, value) in [
        ("rate:lock:usd", "1"),
        ("exam:attempt:lock:7", "1"),
        ("api:ratelimit:lock:refill:7", "1"),
        ("api:lock:user:ann@corp.example.com", "1"),
        ("svc:lock:node:10.0.0.9", "1"),
        ("gw:lock:10.0.0.9", "processing"),
        ("gw:lock:10.0.0.9", "host-7"),
        ("lock:10.0.0.9", "1"),
        ("lock:order:ann@corp.example.com", "1"),
        ("shop:lock:order:ann@corp.example.com", "1"),
        ("risk:lock:7", "1"),
        ("shop:lock:a@b", "1"),
        ("shop:lock:1.2.3", "1"),
    ] {
        assert!(string(name, value, true), "{name} {value}");
    }
}

#[test]
fn what_is_reserved_is_no_lock_in_either_language() {
    for name in [
        "rail:铺位:lock:7",
        "rail:bed:lock:7",
        "his:病床:lock:7",
        "edu:classroom:lock:7",
        "gym:locker:lock:7",
        "mall:柜子:lock:7",
    ] {
        assert!(!string(name, "u8812", true) && !string(name, "u8812", false), "{name}");
        assert!(!string(name, "1", false), "{name}");
        assert!(string(name, "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f", true), "{name}");
    }
    for name in ["food:table:lock:7", "sport:court:lock:7", "co:desk:lock:7"] {
        assert!(!string(name, "1", false) && string(name, "1", true) && string(name, "host-7", false), "{name}");
    }
    assert!(string("db:table:lock:orders", "1", false) && string("coin:spot:lock:7", "1", false));
}

#[test]
fn attributes_of_a_lock_that_is_a_thing_are_no_locks() {
    for (name, value) in [
        ("lock:7:battery", "77"),
        ("lock:7:rssi", "-67"),
        ("lock:7:name", "front door"),
        ("lock:7:pin", "482913"),
        ("lock:7:online", "1"),
        ("lock:7:8:bind", "u17"),
    ] {
        assert!(!string(name, value, false), "{name} {value}");
        assert!(string(name, "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f", false), "{name}");
        assert!(string(name, "1", true), "{name}: a lock that expires");
    }
    for name in ["lock:order:name", "lock:7:pay", "lock:name:7", "lock:name", "shop:lock:7:pay", "lock:7:battery:sync"]
    {
        assert!(string(name, "1", false), "{name}");
    }
}

#[test]
fn money_and_latches_are_no_locks() {
    for (name, value) in [
        ("wallet:lock:8", "15000000"),
        ("coin:staking:lock:88", "2500000000"),
        ("pay:escrow:lock:77", "2500000"),
        ("银行:保证金:lock:7", "123456789"),
    ] {
        assert!(!string(name, value, false) && string(name, "1", false), "{name} {value}");
        assert!(
            string(name, "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f", false) && string(name, "1700000000", false),
            "{name}"
        );
    }
    assert!(string("lock:semaphore:create:7", "42", true) && string("wallet:lock:8", "20261128030000", false));
    assert!(string("wallet:lock:order:8", "15000000", false) && string("shop:order:lock:8", "15000000", false));
    for name in ["sample:lock:countdownlatch:g1", "lock:latch:7", "job:lock:count_down_latch:7"] {
        assert!(!string(name, "3", false) && !string(name, "3", true), "{name}");
    }
}

#[test]
fn what_people_reserve_or_sign_is_no_lock() {
    for (name, value) in [
        ("hospital:number:lock:d1001", "p8812"),
        ("hospital:slot:lock:d1001", "patient:8812"),
        ("estate:house:lock:2001", "u8812"),
        ("estate:house:lock:2001", "10023456"),
        ("estate:contract:lock:1001", "signed"),
        ("estate:合同:lock:1001", "已签"),
        ("live:mic:lock:room1", "1"),
        ("live:lock:mic:room1", "1"),
    ] {
        assert!(!string(name, value, false) && !string(name, value, true), "{name} {value}");
    }
    // With an expiry, a flag may be what a holder left.
    for name in ["live:seat:lock:1001.3", "food:menu:lock:1001", "estate:contract:lock:1001"] {
        assert!(!string(name, "1", false) && string(name, "1", true), "{name}");
    }
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for value in [uuid, "host-7", "thread-17", "order-service", "processing", "1700000000123", "3f9ac1d27be04568"] {
        for name in ["estate:house:lock:2001", "hospital:number:lock:d1001", "estate:contract:lock:1001"] {
            assert!(string(name, value, true), "{name} {value}");
        }
    }
    assert!(string("order:lock:7", "u8812", true) && string("shop:lock:seat:7", "u8812", true));
    assert!(string("contract:7:lock", uuid, true) && string("seat:7:lock", uuid, true), "a token");
}

#[test]
fn who_has_what_can_be_booked_is_no_lock() {
    for value in
        ["20261101001", "202611010", "1862345678901234567", "u1862345678901234567", "13957123456", "A10023", "vip-888"]
    {
        for name in ["edu:seat:lock:a101", "ktv:room:lock:888", "ktv:包厢:lock:888", "park:spot:lock:301"] {
            assert!(!string(name, value, false), "{name} {value}");
        }
        assert!(string("shop:lock:order:7", value, false) && string("shop:order:lock:7", value, false), "{value}");
    }
    for value in ["已预订", "占用", "维修中"] {
        assert!(!string("ktv:room:lock:888", value, false) && !string("ktv:room:lock:888", value, true), "{value}");
    }
    assert!(string("shop:order:lock:7", "占用", false), "that it is held");
    assert!(!string("ktv:room:lock:888", "李雷", false) && !string("ktv:room:lock:888", "lilei", false));
    for name in ["bed", "berth", "table", "court", "venue", "spot", "床位", "泊位", "包厢", "车位", "餐桌"] {
        let name = format!("book:{name}:lock:301");
        assert!(!string(&name, "u8812", false) && !string(&name, "u8812", true), "{name}");
    }
    // Tokens, times, hosts, and other meanings of the words.
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for value in [uuid, "3f9ac1d27be04568", "1700000000", "1700000000123", "host-701", "web001", "12:7"] {
        assert!(string("ktv:room:lock:888", value, false), "{value}");
    }
    assert!(string("db:table:lock:orders", "13957123456", false) && string("coin:spot:lock:7", "1", false));
}
