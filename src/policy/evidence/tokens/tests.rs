//! Tests: which values of locks are tokens, and which are shared.

use proptest::prelude::*;

use super::*;
use crate::policy::testing::record;
use crate::rdb::peek::RawValue;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;

const NEEDS: TokenNeeds = TokenNeeds { min: 8, uuids: false };

fn add(tokens: &mut Tokens, name: &str, value: &str) {
    let bytes = [&[value.len() as u8], value.as_bytes()].concat();
    let raw = Some(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE });
    let record = Record { raw, length: Some(value.len() as u64), ..record(name.as_bytes()) };
    tokens.observe(&record, NEEDS, &mut PeekBuffers::default());
}

fn add_hash(tokens: &mut Tokens, bytes: &[u8], length: u64) {
    let raw = Some(RawValue { value_type: ValueType::Hash, bytes, templates: Templates::NONE });
    let record = Record { raw, kind: Kind::Hash, length: Some(length), ..record(b"lock:a") };
    tokens.observe(&record, NEEDS, &mut PeekBuffers::default());
}

fn numbers(tokens: &Tokens) -> Vec<u64> {
    tokens.known().iter().map(|token| token.uses.locks.keys).collect()
}

#[test]
fn short_values_are_no_tokens_and_shared_ones_are_told() {
    let mut tokens = Tokens::new(9);
    for (name, value) in
        [("a", "1"), ("b", ""), ("c", "1234567"), ("d", "12345678"), ("e", "12345678"), ("f", "abcdefgh")]
    {
        add(&mut tokens, name, value);
    }
    add(&mut tokens, "f", "abcdefgh");
    assert_eq!((tokens.missing().keys, tokens.examples().count(), tokens.cut()), (3, 3, None));
    let mut uses: Vec<_> = tokens.known().iter().map(|it| (it.uses.locks.keys, it.uses.is_shared())).collect();
    uses.sort_unstable();
    // The second holder of `abcdefgh` is the same lock on another instance.
    assert_eq!(uses, [(2, false), (2, true)]);
}

/// Returns pseudo-random hexadecimal digits.
fn random_hex(seed: u64) -> String {
    format!("{:016x}{:016x}", hash(1, &seed.to_le_bytes()), hash(2, &seed.to_le_bytes()))
}

#[test]
fn random_values_displace_no_constant() {
    let mut tokens = Tokens::new(8);
    for lock in 0..500u64 {
        add(&mut tokens, &format!("lock:{lock}"), &random_hex(lock));
        add(&mut tokens, &format!("lock:u{lock}"), &format!("8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d{lock:04x}"));
    }
    (0..3).for_each(|lock| add(&mut tokens, &format!("lock:c{lock}"), "wagon-service"));
    assert_eq!(
        (tokens.cut(), tokens.compared.keys, tokens.majority(20)),
        (Some(TokenForm::Random), 503, Majority::None)
    );
    let shared: Vec<_> = tokens.known().into_iter().filter(|token| token.uses.is_shared()).collect();
    let [token] = shared[..] else { panic!("{shared:?}") };
    assert_eq!(
        (token.uses.locks.keys, token.estimated, TokenForm::of_id(token.value)),
        (3, false, TokenForm::Constant)
    );
}

#[test]
fn sampled_locks_show_values_that_were_left_out() {
    for number in 0..40 {
        let mut tokens = Tokens::new(8);
        let constant = format!("service-{number}");
        for lock in 0..1_000 {
            add(&mut tokens, &format!("lock:a{lock}"), &format!("host-{lock}:1790000000000"));
            add(&mut tokens, &format!("lock:b{lock}"), &constant);
        }
        assert_eq!(tokens.cut(), Some(TokenForm::Constant));
        let shared: Vec<_> = tokens.known().into_iter().filter(|token| token.uses.is_shared()).collect();
        let [token] = shared[..] else { panic!("{number}: {shared:?}") };
        let keys = token.uses.locks.keys;
        assert!(if token.estimated { (400..1_600).contains(&keys) } else { keys == 1_000 }, "{number}: {token:?}");
    }
}

#[test]
fn a_random_value_is_held_by_most_locks_or_not() {
    let majority = |held: u64, others: u64, most: usize| {
        let mut tokens = Tokens::new(most);
        (0..held).for_each(|lock| add(&mut tokens, &format!("lock:a{lock}"), &random_hex(7_000_000)));
        (0..others).for_each(|lock| add(&mut tokens, &format!("lock:b{lock}"), &random_hex(lock)));
        tokens.majority(20)
    };
    assert!(matches!(majority(30, 29, 1024), Majority::Held(_)) && majority(29, 30, 1024) == Majority::None);
    assert_eq!(majority(19, 0, 1024), Majority::None);
    // Of the many others, only some are kept.
    let of = |held, others| (8..40).map(|most| majority(held, others, most)).collect::<Vec<_>>();
    assert!(of(1_900, 100).iter().all(|most| matches!(most, Majority::Held(_))));
    assert!(of(100, 1_900).iter().all(|most| *most == Majority::None));
    assert!(of(1_000, 1_001).iter().all(|most| !matches!(most, Majority::Held(_))));
}

#[test]
fn parts_of_the_name_and_serialized_words_are_no_tokens() {
    let missing = |name: &str, value: &str| {
        let mut tokens = Tokens::new(9);
        add(&mut tokens, name, value);
        tokens.missing().keys == 1
    };
    assert!(missing("lock:order:20251126000001", "20251126000001") && missing("lock:shop:order", "shop:order"));
    assert!(missing("lock:a", "[\"java.lang.Long\",1]") && missing("lock:a", "s:6:\"locked\";"));
    // Nothing random in them.
    assert!(missing("lock:a", "1700000000037") && missing("lock:a", "\"2023-11-14 22:13:20\""));
    assert!(missing("lock:a", "http-nio-8080-exec-1") && missing("lock:a", "10.0.0.3:8080"));
    // The name of a host, which is the same for all of its clients.
    let LockValue::Token { form, .. } = lock_value(b"iZbp13k8s9d7f6g5h4j3Z") else { panic!() };
    assert_eq!(form, TokenForm::Constant);
    assert!(!missing("lock:a", "[\"java.lang.String\",\"host-7:12\"]"));
    // Words and states are measured in characters; what names its holder may be in Chinese.
    for value in ["加锁", "已锁定", "分布式锁", "processing", "00000000", "order-lock-10001"] {
        assert!(missing("shop:lock:order:10001", value), "{value}");
    }
    assert!(!missing("lock:order:1", "订单服务实例甲一号") && !missing("lock:order:1", "order-service"));
    // `1` and a random number, as Java serializes a `Long`.
    let long = |value: u64| {
        let class = b"\xac\xed\0\x05sr\0\x0ejava.lang.Long;\x8b\xe4\x90\xcc\x8f#\xdf\x02\0\x01J\0\x05valuexr\0\x10\
            java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\0\0xp";
        lock_value(&[&class[..], &value.to_be_bytes()].concat())
    };
    assert_eq!(long(1), LockValue::NoToken);
    let LockValue::Token { form, .. } = long(7_261_548_390_215_467_382) else { panic!() };
    assert_eq!(form, TokenForm::Random);
    // A word that Python pickles, and a UUID.
    assert_eq!(lock_value(b"\x80\x04\x8c\x06locked\x94."), LockValue::NoToken);
    let LockValue::Token { form, .. } = lock_value(b"\x80\x04\x8c\x0fdispatch-center\x94.") else { panic!() };
    assert_eq!(form, TokenForm::Constant);
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    assert!(!missing(&format!("lock:{uuid}"), uuid), "perhaps the holder is in the name");
}

fn lock_value(value: &[u8]) -> LockValue {
    let bytes = [&[0x40, u8::try_from(value.len()).unwrap()], value].concat();
    let raw = Some(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE });
    let record = Record { raw, length: Some(value.len() as u64), ..record(b"lock:a") };
    LockValue::of(&record, 8, &mut PeekBuffers::default())
}

#[test]
fn a_hash_needs_one_long_field_or_value() {
    let mut tokens = Tokens::new(9);
    add_hash(&mut tokens, b"\x01\x268d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:1\x011", 1);
    assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
    add_hash(&mut tokens, b"\x01\x0ahost-7:221\x011", 1);
    assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
    // No digit: a constant, whatever the order of the fields.
    add_hash(&mut tokens, b"\x02\x05owner\x0dorder-service\x08hostname\x011", 2);
    add_hash(&mut tokens, b"\x02\x08hostname\x011\x05owner\x0dorder-service", 2);
    assert_eq!((tokens.missing().keys, numbers(&tokens)), (0, vec![2]));
    add_hash(&mut tokens, b"\x01\x05owner\x03job", 1);
    assert_eq!(tokens.missing().keys, 1);
}

#[test]
fn the_expiry_in_a_hash_names_no_holder() {
    let mut tokens = Tokens::new(9);
    add_hash(&mut tokens, b"\x02\x05owner\x0bcore-teller\x06expire\x0a1795776000", 2);
    add_hash(&mut tokens, b"\x02\x05owner\x0bcore-teller\x06expire\x0a1795779999", 2);
    assert_eq!((tokens.missing().keys, numbers(&tokens)), (0, vec![2]));
    // Its digits do not make a token, but nothing else is compared either.
    let mut tokens = Tokens::new(9);
    add_hash(&mut tokens, b"\x02\x05owner\x03job\x06expire\x0a1795776000", 2);
    assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
    add_hash(&mut tokens, b"\x02\x05owner\x0a1795776000\x04mode\x01x", 2);
    assert_eq!((tokens.missing().keys, tokens.known().len()), (0, 0));
}

proptest! {
    #[test]
    fn splitting_and_order_do_not_matter(
        locks in proptest::collection::vec(("[a-z]{1,2}", "[a-c]{0,3}|[ab]{8}|[a-d]{9}"), 0..60), cut in 0usize..60, most in 1usize..20,
    ) {
        let sample = |locks: &[(String, String)], most| {
            let mut tokens = Tokens::new(most);
            locks.iter().for_each(|(name, value)| add(&mut tokens, name, value));
            tokens
        };
        let shown = |tokens: &Tokens| postcard::to_stdvec(tokens).unwrap();
        let (left, right) = locks.split_at(cut.min(locks.len()));
        let whole = shown(&sample(&locks, most));
        for (one, other) in [(left, right), (right, left)] {
            let mut merged = sample(one, most);
            merged.merge(sample(other, most));
            prop_assert_eq!(shown(&merged), whole.clone());
        }
        let mut later = sample(left, MAX_TOKENS);
        later.merge(sample(right, most));
        prop_assert_eq!(shown(&later), whole);
    }
}
