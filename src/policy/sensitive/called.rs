//! Names of what holds phone numbers, numbers of identity cards, or private keys: `mobile`, `receiverPhone`, `idNo`, `privateKey`.
//!
//! A number under such a name is what the name says, whatever numbers stand beside it. The last word of a name counts, ids aside.

use super::{SensitiveKind, SensitiveKinds, split_hump};
use crate::policy::content::is_one_of;

/// Words of phones.
const PHONES: [&[u8]; 16] = [
    b"mobile",
    b"phone",
    b"tel",
    b"telephone",
    b"cellphone",
    b"cell",
    b"mobilephone",
    b"msisdn",
    b"shouji",
    b"contact",
    b"phoneno",
    b"mobileno",
    b"telno",
    b"phonenum",
    b"phonenumber",
    b"mobilenumber",
];
const CHINESE_PHONES: [&str; 6] = ["手机", "手机号", "手机号码", "电话", "电话号码", "联系方式"];

/// Words of identity cards, and those before a number and before a card.
const ID_CARDS: [&[u8]; 12] = [
    b"idcard",
    b"idcardno",
    b"idcardnum",
    b"idcardnumber",
    b"idno",
    b"idnum",
    b"idnumber",
    b"identitycard",
    b"identityno",
    b"certno",
    b"sfz",
    b"sfzh",
];
const BEFORE_NUMBER: [&[u8]; 6] = [b"id", b"idcard", b"identity", b"identitycard", b"cert", b"certificate"];
const BEFORE_CARD: [&[u8]; 2] = [b"id", b"identity"];
const CHINESE_ID_CARDS: [&str; 5] = ["身份证", "身份证号", "身份证号码", "证件号", "证件号码"];

/// Words of numbers.
const NUMBERS: [&[u8]; 3] = [b"no", b"num", b"number"];

/// Longest name that is considered.
const MAX_NAME_LEN: usize = 128;

/// Returns the kinds that the values of a name are said to be.
pub(super) fn kinds(name: &[u8]) -> SensitiveKinds {
    let end = name.get(name.len().saturating_sub(MAX_NAME_LEN)..).unwrap_or(name);
    let (rest, last) = last_word(end);
    if last.is_empty() {
        return SensitiveKinds::default(); // the common case
    }
    let (rest, before) = last_word(rest);
    let is_number = is_one_of(last, &NUMBERS);
    let is_card = |word: &[u8], rest| word.eq_ignore_ascii_case(b"card") && is_one_of(last_word(rest).1, &BEFORE_CARD);
    let ends = |words: &[&str]| !last.is_ascii() && words.iter().any(|word| last.ends_with(word.as_bytes()));
    let is_phone = is_one_of(last, &PHONES) || is_number && is_one_of(before, &PHONES) || ends(&CHINESE_PHONES);
    let is_id_card = is_one_of(last, &ID_CARDS)
        || is_number && (is_one_of(before, &BEFORE_NUMBER) || is_card(before, rest))
        || last.eq_ignore_ascii_case(b"card") && is_one_of(before, &BEFORE_CARD)
        || ends(&CHINESE_ID_CARDS);
    let kind = match (is_phone, is_id_card) {
        (true, _) => SensitiveKind::Phone,
        (_, true) => SensitiveKind::IdCard,
        _ => return SensitiveKinds::default(),
    };
    SensitiveKinds::from_iter([kind])
}

/// Splits off the last word of a name, in camel case or behind a separator, that is no id.
fn last_word(name: &[u8]) -> (&[u8], &[u8]) {
    let is_separator = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let mut rest = name;
    while !rest.is_empty() {
        let start = rest.iter().rposition(is_separator).map_or(0, |at| at + 1);
        let (before, segment) = rest.split_at(start);
        if !segment.is_empty() && !segment.iter().any(u8::is_ascii_digit) {
            let (humps, word) = split_hump(segment);
            return (&rest[..start + humps.len()], word);
        }
        rest = before.split_last().map_or(&[], |(_, before)| before);
    }
    (&[], &[])
}

/// Returns the kinds that the name before a value says, if the text ends with one and its sign: `{"mobile":"`, `idNo=`.
pub(super) fn kinds_before(text: &[u8]) -> SensitiveKinds {
    name_before(text).map_or_else(SensitiveKinds::default, |name| kinds(name.name))
}

/// Name before a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameBefore<'t> {
    /// The name.
    pub name: &'t [u8],
    /// True if it may be a part of the name of a key: nothing but a colon stands between.
    pub is_of_key: bool,
}

/// Returns the name that stands before a value with a sign, if the text ends with these: `{"size":`, `?total=`, `size: `.
pub(super) fn name_before(text: &[u8]) -> Option<NameBefore<'_>> {
    let text = text.get(text.len().saturating_sub(MAX_NAME_LEN)..).unwrap_or(text);
    let before_value = without_quote(text.trim_ascii_end()).trim_ascii_end();
    let (sign, named) = before_value.split_last().filter(|(sign, _)| matches!(sign, b':' | b'='))?;
    let name = without_quote(named.trim_ascii_end());
    let is_of_key = *sign == b':' && before_value.len() == text.len() && name.len() == named.len();
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let start = name.iter().rposition(|byte| !is_name(byte)).map_or(0, |at| at + 1);
    Some(NameBefore { name: name.get(start..).unwrap_or_default(), is_of_key })
}

/// Removes a quote, which may be escaped, from the end of a text.
fn without_quote(text: &[u8]) -> &[u8] {
    let Some(mut text) = text.strip_suffix(b"\"").or_else(|| text.strip_suffix(b"'")) else { return text };
    while let Some(rest) = text.strip_suffix(b"\\") {
        text = rest;
    }
    text
}

/// Returns whether a name ends with the words of a private key, digits and separators aside.
pub(super) fn is_private_key(name: &[u8]) -> bool {
    let name = name.get(name.len().saturating_sub(MAX_NAME_LEN)..).unwrap_or(name);
    let letters = name.iter().rev().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' '));
    letters.map(u8::to_ascii_lowercase).take(b"privatekey".len()).eq(b"privatekey".iter().rev().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_hold() {
        let of = |name: &str| SensitiveKind::ALL.into_iter().find(|kind| kinds(name.as_bytes()).has(*kind));
        for name in [
            "mobile",
            "phone",
            "receiverPhone",
            "contact_tel",
            "phoneNo",
            "mobile_no",
            "PHONE",
            "user:phone:7",
            "手机号",
        ] {
            assert_eq!(of(name), Some(SensitiveKind::Phone), "{name}");
        }
        for name in [
            "idNo",
            "id_no",
            "idCard",
            "id_card",
            "IDCARD",
            "userIdCard",
            "idCardNo",
            "id_card_no",
            "certNo",
            "idNumber",
            "identityCard",
            "sfzh",
            "gov:party:idno:7",
            "身份证号",
            "申请人证件号码",
        ] {
            assert_eq!(of(name), Some(SensitiveKind::IdCard), "{name}");
        }
        for name in [
            "",
            "id",
            "userId",
            "orderNo",
            "cardNo",
            "bankCard",
            "bank_card_no",
            "paidNo",
            "gridno",
            "telegram",
            "hotel",
            "phoneCount",
            "phone:ann",
            "cell_count",
            "身份",
            "7",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_read_backwards() {
        for text in ["{\"idNo\":\"", "{\"a\":1,\"idCard\" : ", "{\\\"idNo\\\":\\\"", "?id_no=", "idNo: ", "身份证号:"]
        {
            assert!(kinds_before(text.as_bytes()).has(SensitiveKind::IdCard), "{text}");
        }
        for text in ["", "idNo", "idNo ", "{\"idNo\":1,", "\"idNo\":[", ":", "\""] {
            assert!(kinds_before(text.as_bytes()).is_empty(), "{text}");
        }
    }

    #[test]
    fn private_keys_are_named() {
        for name in ["privateKey", "merchant_private_key", "rsa.private-key", "PRIVATE KEY"] {
            assert!(is_private_key(name.as_bytes()), "{name}");
        }
        for name in ["", "publicKey", "private", "privateKeyId", "rivateKey"] {
            assert!(!is_private_key(name.as_bytes()), "{name}");
        }
    }
}
