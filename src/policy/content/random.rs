//! Recognition of random values: UUIDs, hex, base64 and raw bytes, alone or beside other text.
//!
//! Used to acquit: a value that is both random and repeated can be the id of a client. Names of hosts and services, process
//! ids and times in milliseconds are not random.

use crate::pattern::classify::token::is_token;

/// Positions of the dashes in a UUID, and its length.
const DASHES: [usize; 4] = [8, 13, 18, 23];
const UUID: usize = 36;
/// Minimum number of characters of a random run, and of distinct ones in hex and in UUIDs.
const RUN: usize = 16;
const DISTINCT: u32 = 6;
/// Digits of a UUID, and the places of those of its version and variant.
const UUID_DIGITS: usize = 32;
const VERSION: usize = 12;
const VARIANT: usize = 16;
/// Characters of 16 bytes in base64, without padding, and those of which the last one may be.
const BASE64_OF_16_BYTES: usize = 22;
const LAST_OF_16_BYTES: &[u8] = b"AQgw";
/// Beginning and end of the host name that Alibaba Cloud gives a server, and the characters between.
const CLOUD_HOST: (&[u8], u8) = (b"iZ", b'Z');
const CLOUD_HOST_ID: std::ops::RangeInclusive<usize> = 8..=24;
/// Beginning of a serialised Java object, which is binary whatever the object says.
const JAVA: &[u8] = b"\xac\xed";

/// Returns whether a value has a UUID as its only or as one of its parts.
pub fn has_uuid(value: &[u8]) -> bool {
    value.windows(UUID).any(is_uuid)
}

/// Returns whether a value has a random part.
pub fn has_random(value: &[u8]) -> bool {
    let is_binary = std::str::from_utf8(value).is_err_and(|error| error.error_len().is_some());
    is_binary && !value.starts_with(JAVA) || has_uuid(value) || value.split(|&byte| !is_base64(byte)).any(is_random_run)
}

/// Returns whether a value is a UUID without its dashes. Of hashes, which have as many digits, one in twenty looks so.
pub fn is_bare_uuid(value: &[u8]) -> bool {
    let digit = |at: usize| value.get(at).copied().unwrap_or_default();
    value.len() == UUID_DIGITS
        && value.iter().all(u8::is_ascii_hexdigit)
        && distinct(value) > DISTINCT
        && matches!(digit(VERSION), b'1'..=b'8')
        && matches!(digit(VARIANT), b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
}

/// Returns whether a value is 16 random bytes in base64, with or without padding.
pub fn is_base64_of_16_bytes(value: &[u8]) -> bool {
    let digits = value.strip_suffix(b"==").unwrap_or(value);
    let ends_so = digits.last().is_some_and(|last| LAST_OF_16_BYTES.contains(last));
    digits.len() == BASE64_OF_16_BYTES && digits.iter().all(|&byte| is_base64(byte)) && ends_so && is_random_run(digits)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_+/".contains(&byte)
}

/// Returns whether a text of 36 characters is a UUID in its usual form.
pub fn is_uuid(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| if DASHES.contains(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.iter().enumerate().all(fits) && distinct(text) > DISTINCT
}

fn is_random_run(run: &[u8]) -> bool {
    let run = behind_cloud_host(run);
    let is_hex =
        |piece: &[u8]| piece.len() >= RUN && piece.iter().all(u8::is_ascii_hexdigit) && distinct(piece) >= DISTINCT;
    is_token(run) || run.split(|byte| !byte.is_ascii_alphanumeric()).any(is_hex) || changes_often(run)
}

/// Returns what follows the host name of a server of Alibaba Cloud, `iZ…Z`, or all of a run that does not begin with one.
fn behind_cloud_host(run: &[u8]) -> &[u8] {
    let (beginning, end) = CLOUD_HOST;
    let Some(id) = run.strip_prefix(beginning) else { return run };
    let length = id.iter().take_while(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()).count();
    match id.split_at(length) {
        (_, [last, rest @ ..]) if *last == end && CLOUD_HOST_ID.contains(&length) => rest,
        _ => run,
    }
}

/// Returns whether capitals, small letters and digits follow each other as in base64: in nine of twenty places or more.
/// Words with capitals change twice per word.
fn changes_often(run: &[u8]) -> bool {
    let class = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let letters: Vec<_> = run.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(class).collect();
    let changes = letters.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let marks = run.len() - letters.len();
    let both_cases = run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase);
    both_cases && letters.len() >= RUN && marks * 8 <= letters.len() && changes * 20 >= letters.len() * 9
}

/// Counts the distinct bytes below 128, without regard to case.
fn distinct(text: &[u8]) -> u32 {
    let bit = |byte: &u8| 1u128.checked_shl(byte.to_ascii_lowercase().into()).unwrap_or_default();
    text.iter().fold(0u128, |seen, byte| seen | bit(byte)).count_ones()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_clients_are_random() {
        for value in [
            &b"8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"[..],
            b"8D9F2C71-51A3-4B0C-9D3F-6B7A1C2D3E4F",
            b"8d9f2c7151a34b0c9d3f6b7a1c2d3e4f",
            b"\"8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f\"",
            b"worker-7:8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f:42",
            b"\xac\xed\0\x05t\0\x248d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f",
            b"{\"owner\":\"3f9ac1d27be04568\"}",
            b"c2FsdGVkX18kq3Zb9Qw7Lg==",
            b"Xq_3vR8-tLm2WzKp9dYb4A",
            b"01HV5Z8Q2M7XKJ4T9WBC3DN6PE",
            b"qWeRtYuIoPaSdFgHjKlZ",
            b"7261548390215467382",
            b"iZbp13k8s9d7f6g5h4j3Z:8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f",
            b"iZbp13k8s9d7f6g5h4j3Z-3f9ac1d27be04568",
            b"\x8f\x02\xee\x91\xc3\x04\x7a\xd5\x13\x9b\xf0\x66\x28\xb1\xfe\x4d",
        ] {
            assert!(has_random(value), "{}", value.escape_ascii());
        }
    }

    #[test]
    fn names_are_not_random() {
        for value in [
            &b""[..],
            b"order-service",
            b"order-service-7d9f8b6c5d-x2x4z",
            b"order-service-prod-shanghai-01.example.com:8080",
            b"ip-10-0-12-34.eu-west-1.compute.internal",
            b"10.0.12.134:52114",
            b"OrderServiceWorkerNode01",
            b"aB-cD-eF-gH-iJ-kL-mN-oP-qR",
            b"12345@order-service-7d9f8b6c5d",
            b"iZbp1abcdefghijklmnZ",
            b"iZ2ze8k3j7q0x5m1v9tZ:8080",
            b"31@iZbp13k8s9d7f6g5h4j3Z",
            b"iZbp13k8s9d7f6g5h4j3Z-31",
            b"3f2a9c1b7d4e",
            b"1700000000000",
            b"aaaaaaaaaaaaaaaaaaaaaaaa",
            b"00000000-0000-0000-0000-000000000001",
            b"deadbeefdeadbeef",
            b"com.example.scheduling.DistributedLockRegistry",
            b"\xac\xed\0\x05t\0\rorder-service",
            "正在处理中的订单".as_bytes(),
        ] {
            assert!(!has_random(value), "{}", value.escape_ascii());
        }
    }
}
