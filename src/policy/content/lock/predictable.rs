//! Recognition of values that show what they are made of, nothing of which is random: a time, an address, the name of a thread, a
//! placeholder.
//!
//! Two clients of one millisecond, host or thread pool write the same. A name of a host or service shows less: it may be unique.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::str::FromStr;

use super::is_number;
use super::place::names_state;
use super::times::{is_clock, is_date, is_epoch, is_stamp};
use crate::policy::content::{is_one_of, words_of};
use crate::record::Record;
use crate::units::Millis;

/// Longest such value, in bytes.
const MAX_LEN: usize = 64;
/// Most digits of a number beside a time, such as a counter of threads.
const SHORT_NUMBER: usize = 2;

/// Names that pools give their threads, in lower case, with `#` for a number.
const THREADS: [&str; 43] = [
    "thread-#",
    "pool-#-thread-#",
    "http-nio-#-exec-#",
    "http-nio#-#-exec-#",
    "http-apr-#-exec-#",
    "http-bio-#-exec-#",
    "https-jsse-nio-#-exec-#",
    "https-openssl-nio-#-exec-#",
    "ajp-nio-#-exec-#",
    "catalina-exec-#",
    "forkjoinpool-#-worker-#",
    "forkjoinpool.commonpool-worker-#",
    "xnio-# task-#",
    "xnio-# i/o-#",
    "qtp#-#",
    "scheduling-#",
    "simpleasynctaskexecutor-#",
    "threadpooltaskexecutor-#",
    "taskexecutor-#",
    "taskscheduler-#",
    "quartzscheduler_worker-#",
    "defaultquartzscheduler_worker-#",
    "schedulerfactorybean_worker-#",
    "nioeventloopgroup-#-#",
    "reactor-http-nio-#",
    "reactor-http-epoll-#",
    "virtual-#",
    "mainthread",
    "epolleventloopgroup-#-#",
    "lettuce-nioeventloop-#-#",
    "lettuce-epolleventloop-#-#",
    "lettuce-eventexecutorloop-#-#",
    "redisson-netty-#-#",
    "redisson-timer-#-#",
    "reactor-tcp-nio-#",
    "reactor-tcp-epoll-#",
    "boundedelastic-#",
    "dubboserverhandler-#.#.#.#:#-thread-#",
    "dubboclienthandler-#.#.#.#:#-thread-#",
    "dubbo-protocol-#-thread-#",
    "consumemessagethread_#",
    "threadpoolexecutor-#_#",
    "goroutine #",
];

/// Beginnings of threads as Java and Python show them, in lower case, each with its end: `Thread[main,5,main]`, `Thread-5 (worker)`.
const SHOWN_THREADS: [(&str, &str); 3] = [("thread[", "]"), ("virtualthread[#", ""), ("thread-# (", ")")];

/// Words that stand for a token in an example or that a bug leaves, and words that may stand beside them.
const PLACEHOLDERS: [&[u8]; 18] = [
    b"undefined",
    b"object",
    b"lock",
    b"locks",
    b"locked",
    b"locking",
    b"key",
    b"value",
    b"val",
    b"token",
    b"id",
    b"uuid",
    b"request",
    b"random",
    b"unique",
    b"identifier",
    b"string",
    b"mutex",
];
const ADDITIONS: [&[u8]; 11] =
    [b"this", b"is", b"a", b"the", b"my", b"your", b"redis", b"redisson", b"distributed", b"dist", b"test"];

/// Returns whether a value is made of nothing random. Behind what may be blocked or reserved, a time or an address may say since when or
/// by whom, so it is none there.
pub fn is_predictable(value: &[u8], lock: &Record<'_>) -> bool {
    let is_made_of = || is_date(value) || is_clock(value) || has_time(value, lock.expires_at) || is_address(value);
    value.len() <= MAX_LEN && (is_thread(value) || is_placeholder(value) || is_made_of() && !names_state(lock.key))
}

/// Returns whether a value is a time, perhaps with a short number before or behind it.
fn has_time(value: &[u8], expires_at: Option<Millis>) -> bool {
    let (mut times, mut others) = (0, 0);
    for piece in value.split(|byte| b":_-".contains(byte)) {
        match is_epoch(piece, expires_at) || is_stamp(piece, expires_at) {
            true => times += 1,
            false if is_number(piece) && piece.len() <= SHORT_NUMBER => others += 1,
            false => return false,
        }
    }
    times == 1 && others <= 1
}

/// Returns whether a value is an IPv4 address, with or without a port.
fn is_address(value: &[u8]) -> bool {
    let text = std::str::from_utf8(value).unwrap_or_default();
    text.starts_with(|c: char| c.is_ascii_digit())
        && (Ipv4Addr::from_str(text).is_ok() || SocketAddrV4::from_str(text).is_ok())
}

/// Returns whether a value is the name of a thread of a pool.
fn is_thread(value: &[u8]) -> bool {
    let mut name = String::with_capacity(value.len());
    for &byte in value {
        match byte {
            b'0'..=b'9' if name.ends_with('#') => {}
            b'0'..=b'9' => name.push('#'),
            _ => name.push(char::from(byte.to_ascii_lowercase())),
        }
    }
    let is_shown = |(start, end): &(&str, &str)| name.starts_with(start) && name.ends_with(end);
    THREADS.contains(&name.as_str()) || SHOWN_THREADS.iter().any(is_shown)
}

/// Returns whether a value consists of words for a token: `requestId`, `my_random_value`, `this is lock`.
fn is_placeholder(value: &[u8]) -> bool {
    let pieces = value.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    let words = pieces.flat_map(words_of);
    let mut stands_for_token = false;
    for word in words.filter(|word| !word.is_empty()) {
        let is_placeholder = is_one_of(word, &PLACEHOLDERS);
        if !is_placeholder && !is_one_of(word, &ADDITIONS) {
            return false;
        }
        stands_for_token |= is_placeholder;
    }
    stands_for_token
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;

    const EXPIRY: Millis = Millis(1_700_000_030_000);

    fn says(name: &str, value: &str, expires_at: Option<Millis>) -> bool {
        is_predictable(value.as_bytes(), &Record { expires_at, ..record(name.as_bytes()) })
    }

    #[test]
    fn times_dates_addresses_and_threads_are_not_random() {
        for value in [
            "1700000000037",
            "1:1700000000037",
            "1700000000037-12",
            "1700000000.1234567",
            "2023-11-14 22:13:20",
            "2023-11-14T22:13:20.123Z",
            "2023-11-14T22:13:20+08:00",
            "2023/11/14 22:13",
            "2023-11-14",
            "Tue Nov 14 22:13:20 UTC 2023",
            "2023年11月14日",
            "20231114221320",
            "20231114221320123",
            "20231114221320-7",
            "22:13:20",
            "Thread[main,5,main]",
            "Thread[#21,pool-1-thread-1,5,main]",
            "VirtualThread[#22]/runnable@ForkJoinPool-1-worker-1",
            "Thread-5 (worker)",
            "lettuce-nioEventLoop-4-1",
            "DubboServerHandler-10.0.0.3:20880-thread-12",
            "ThreadPoolExecutor-0_0",
            "10.0.0.3",
            "10.0.0.3:8080",
            "http-nio-8080-exec-1",
            "pool-1-thread-7",
            "Thread-12345",
            "XNIO-1 task-3",
            "undefined",
            "requestId",
            "request_id",
            "redisLock",
            "lockValue",
            "this is lock",
            "my_random_value",
            "LOCK_TOKEN",
        ] {
            for name in ["lock:order:1", "shop:lock:order:1", "shop:order:lock:1", "redis_lock:order:1"] {
                // Without an expiry, digits may be the number of an order.
                let needs_expiry = value.starts_with("20231114");
                assert!(says(name, value, Some(EXPIRY)) && says(name, value, None) != needs_expiry, "{name} {value}");
            }
        }
        assert!(says("lock:order:1", "1700000000", Some(EXPIRY)) && says("lock:order:1", "1700000000:1", Some(EXPIRY)));
    }

    #[test]
    fn what_may_be_unique_is_not_predictable() {
        for value in [
            "",
            "owner_id",
            "clientId",
            "order-service",
            "lock-holder",
            "host-7:1700000000037",
            "483920:1700000000037",
            "1700000000037483920",
            "1700000000037:1700000000038",
            "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f",
            "10.0.0.3:8080:12",
            "31@10.0.0.3",
            "10.0.0",
            "1999999999999999",
            "2023-11-14-order",
            "2023-13-14",
            "20231014221320",
            "20231114221360",
            "9700000000037",
            "1700000000123456",
            "1700000000123456789",
            "pool-1-thread-7@host-7",
            "worker-12",
            "订单服务实例",
            "-",
        ] {
            assert!(!says("lock:order:1", value, Some(EXPIRY)), "{value}");
        }
        // Any number of 32 bits.
        assert!(!says("lock:order:1", "1700000000", None) && !says("lock:order:1", "1500000000", Some(EXPIRY)));
        assert!(!says("lock:order:1", "1700000000", Some(Millis(i64::MIN))));
        // Since when somebody is locked out, or from where.
        for name in ["user:login:lock:1", "app:driver:lock:7", "ktv:room:lock:888", "lock:login:user:1", "user:lock:7"]
        {
            assert!(!says(name, "1700000000037", Some(EXPIRY)) && !says(name, "10.0.0.3", Some(EXPIRY)), "{name}");
            assert!(says(name, "pool-1-thread-7", Some(EXPIRY)), "{name}");
        }
    }
}
