//! Names of amounts and of serial numbers, whose digits are no phone number: `file:size:7`, `used_bytes`, `"total":13900000000`,
//! `studentNo`, `受理号`.
//!
//! The last word of a name counts, ids aside. Sizes from 13 to 20 GB have the digits of a mobile number, and so have many numbers of
//! orders. A name that ends with a word for a number is that of a serial number, unless what is numbered may be a phone: a call, or an account
//! that people open by their phone number.

mod words;

use super::called::{self, name_before};
use super::{SensitiveKind, split_hump};
use crate::policy::content::is_one_of;
use words::{AMOUNTS, CHINESE};

/// Words of numbers, behind what they number.
const NUMBERS: [&[u8]; 7] = [b"no", b"id", b"num", b"number", b"sn", b"code", b"seq"];

/// Words of what has serial numbers.
const NUMBERED: [&[u8]; 25] = [
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
    b"run",
    b"job",
    b"build",
    b"workflow",
    b"pipeline",
    b"task",
    b"trace",
    b"event",
    b"message",
    b"msg",
    b"device",
];

/// More of them, which stand before a word for numbers without anything between: `studentno`.
const JOINED: [&[u8]; 10] =
    [b"student", b"emp", b"employee", b"job", b"policy", b"case", b"contract", b"ticket", b"device", b"meter"];

/// Words of what has a number of its own in the name of a key: `ci:run:19812345678:status`.
const RUNS: [&[u8]; 5] = [b"run", b"job", b"build", b"workflow", b"pipeline"];

/// Words of numbers of whatever is numbered. A number alone may be that of a phone.
const SERIALS: [&[u8]; 8] = [b"no", b"num", b"number", b"sn", b"code", b"seq", b"serial", b"imei"];
/// Words of one piece for serial numbers, in Pinyin, too: 学号, 工号, 单号, 编号, 条码.
const WHOLE_SERIALS: [&[u8]; 12] = [
    b"barcode",
    b"qrcode",
    b"zipcode",
    b"postcode",
    b"waybill",
    b"xuehao",
    b"gonghao",
    b"danhao",
    b"dingdanhao",
    b"bianhao",
    b"bianma",
    b"tiaoma",
];
const NUMBER: &[u8] = b"number";
const CHINESE_SERIALS: [&str; 6] = ["号", "编码", "代码", "条码", "条形码", "二维码"];

/// Words before those for a number that make it one of a phone, or of an account that may be named by a phone number.
const PERSONAL: [&[u8]; 30] = [
    b"call",
    b"caller",
    b"called",
    b"callee",
    b"calling",
    b"dial",
    b"sms",
    b"fax",
    b"hotline",
    b"whatsapp",
    b"wechat",
    b"login",
    b"user",
    b"member",
    b"account",
    b"acct",
    b"card",
    b"vip",
    b"customer",
    b"receiver",
    b"recipient",
    b"sender",
    b"from",
    b"to",
    b"bind",
    b"contacts",
    b"destination",
    b"line",
    b"ani",
    b"dnis",
];
const CHINESE_PERSONAL: [&str; 12] = [
    "账号",
    "帐号",
    "账户号",
    "会员号",
    "会员卡号",
    "卡号",
    "微信号",
    "用户号",
    "主叫号",
    "被叫号",
    "来电号",
    "联系号",
];

/// Longest name that is considered: that of a key may be long, but its last words say what it holds.
const MAX_NAME_LEN: usize = 128;

/// Returns whether the last words of a name, ids aside, are those of an amount or of a serial number.
pub(super) fn is_amount(name: &[u8]) -> bool {
    ends_with_word(name, true)
}

/// Returns whether the last words of a name, ids aside, are those of a serial number of whatever is numbered but phones: `studentNo`, `工号`.
pub(super) fn is_serial(name: &[u8]) -> bool {
    let end = name.get(name.len().saturating_sub(MAX_NAME_LEN)..).unwrap_or(name);
    let (last, before) = last_words(end);
    let is_number = is_one_of(last, &SERIALS) && !(before.is_empty() && last.eq_ignore_ascii_case(NUMBER));
    let ends = |words: &[&str]| words.iter().any(|word| last.ends_with(word.as_bytes()));
    let is_chinese = !last.is_ascii() && ends(&CHINESE_SERIALS) && !ends(&CHINESE_PERSONAL);
    let is_personal = is_one_of(before, &PERSONAL) || is_of_call(end);
    let is_serial = is_number && !is_personal || is_chinese || is_joined(last);
    (is_serial || is_one_of(last, &WHOLE_SERIALS)) && !called::kinds(end).has(SensitiveKind::Phone)
}

/// Returns whether a name is of a call: `caller_id_number`, `Callee-ID-Number`.
fn is_of_call(name: &[u8]) -> bool {
    let is_word = |word: &[u8]| word.get(..6).is_some_and(|word| is_one_of(word, &[&b"caller"[..], b"callee"]));
    name.split(|byte| !byte.is_ascii_alphanumeric()).any(is_word)
}

/// Returns whether a word in lower case joins what is numbered with a word for numbers: `studentno`, `serialnumber`.
fn is_joined(word: &[u8]) -> bool {
    let is_numbered = |before: &[u8]| is_one_of(before, &NUMBERED) || is_one_of(before, &JOINED);
    let ends = |(before, end): (&[u8], &[u8])| is_one_of(end, &SERIALS) && is_numbered(before);
    SERIALS
        .iter()
        .any(|end| word.len().checked_sub(end.len()).and_then(|at| word.split_at_checked(at)).is_some_and(ends))
}

/// Returns the last word of a name, ids aside, and the one before it.
fn last_words(name: &[u8]) -> (&[u8], &[u8]) {
    let mut words = name.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()).rev();
    let is_word = |word: &&[u8]| !word.is_empty() && !word.iter().any(u8::is_ascii_digit);
    let Some(segment) = words.find(is_word) else { return (b"", b"") };
    let (before, last) = split_hump(segment);
    let before = if before.is_empty() { words.find(is_word).unwrap_or_default() } else { before };
    (last, split_hump(before).1)
}

/// Returns whether the last words of a name, ids aside, are those of a serial number or, if these count, of an amount.
fn ends_with_word(name: &[u8], amounts: bool) -> bool {
    let (last, before) = last_words(name.get(name.len().saturating_sub(MAX_NAME_LEN)..).unwrap_or(name));
    amounts && is_one_of(last, &AMOUNTS)
        || is_one_of(last, &NUMBERS) && is_one_of(before, &NUMBERED)
        || amounts && CHINESE.iter().any(|word| last.ends_with(word.as_bytes()))
}

/// Returns whether a text ends with the name of an amount or a serial number and the sign of its value: `{"size":`, `?total=`, `size: `,
/// `{"empNo":"`.
///
/// In the name of a key, a number behind an amount says whose it is: `balance:13812345678`, `sms:code:13812345678`. There, only serial
/// numbers of orders and the like count, and those of runs and builds.
pub(super) fn follows_amount(text: &[u8]) -> bool {
    name_before(text).is_some_and(|before| match before.is_of_key {
        true => ends_with_word(before.name, false) || is_one_of(last_words(before.name).0, &RUNS),
        false => ends_with_word(before.name, true) || is_serial(before.name),
    })
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
            "gold",
            "in_octets",
            "totalDamage",
            "live:room:heat:1001",
            "createTimestamp",
            "gmv",
            "diamonds",
            "用户积分",
            "播放时长",
            "workflow_run_id",
            "jobId",
            "llm:usage:total_tokens:7",
            "sumInsured",
        ] {
            assert!(is_amount(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "phone",
            "phoneNo",
            "mobile_no",
            "user:id",
            "size:phone",
            "total:contact",
            "sizes",
            "7",
            ":",
            "手机号",
            "goldPhone",
            "user",
        ] {
            assert!(!is_amount(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn all_numbers_but_those_of_phones_are_serial_numbers() {
        for name in [
            "studentNo",
            "student_no",
            "studentno",
            "学号",
            "empNo",
            "工号",
            "jobNumber",
            "meterNo",
            "表号",
            "sn",
            "policyNo",
            "case_no",
            "受理号",
            "流水号",
            "contractNo",
            "seqNo",
            "ticketNo:7",
            "deviceNo",
            "roomNo",
            "imei",
            "inviteCode",
            "编号",
            "案件编号",
            "no",
            "gov:acceptance:no:1",
        ] {
            assert!(is_serial(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "phoneNo",
            "mobile_no",
            "phonenumber",
            "contactNumber",
            "telNum",
            "手机号",
            "手机号码",
            "电话号码",
            "账号",
            "微信号",
            "号码",
            "number",
            "callerNumber",
            "caller_id_number",
            "Caller-Caller-ID-Number",
            "destination_number",
            "ConnectedLineNum",
            "called_no",
            "accountNo",
            "user:no:7",
            "sms:code",
            "piano",
            "studentNo:name",
            "id",
        ] {
            assert!(!is_serial(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_member_is_read_backwards() {
        for text in [
            "{\"size\":",
            "{\"size\" : \"",
            "{\\\"size\\\":",
            "a=1&total=",
            "size: ",
            "{'bytes': '",
            "order:no:",
            "{\"empNo\":\"",
            "工号: ",
            "ci:run:",
            "gh:workflow_run:",
        ] {
            assert!(follows_amount(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "size",
            "user:balance:",
            "sms:count:",
            "sms:code:",
            "login:no:",
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
