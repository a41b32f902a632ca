//! Words that a report holds in English, because they are part of its JSON form, as people of either language read them.
//! What is not known here is shown as it is.

use std::borrow::Cow;

use crate::render::Lang;
use crate::report::{CheckVerdict, Checksum, Fate, Severity};

/// The state of a checksum.
pub fn checksum(checksum: Checksum, lang: Lang) -> &'static str {
    let zh = match checksum {
        Checksum::Ok => "正确",
        Checksum::Mismatch => "不符",
        Checksum::NotComputed => "未计算",
        Checksum::Absent => "无",
        Checksum::Skipped => "未校验",
        Checksum::NotReached => "未读到",
    };
    lang.of(checksum.name(), zh)
}

/// The form of a file: `rdb in gzip`.
pub fn form(container: &str, lang: Lang) -> Cow<'_, str> {
    match (lang, container.split_once(" in ")) {
        (Lang::Zh, Some((plain, compression))) => format!("{plain}（{compression}）").into(),
        _ => container.into(),
    }
}

/// Who wrote a file: `redis 7.2.6`, `redis 7.0 (guessed from RDB version 10)`.
pub fn server(server: &str, lang: Lang) -> Cow<'_, str> {
    let guess = server.strip_suffix(')').and_then(|rest| rest.split_once(" (guessed from RDB version "));
    match (lang, guess) {
        (Lang::Zh, Some((server, version))) => format!("{server}（由 RDB 版本 {version} 推测）").into(),
        _ => server.into(),
    }
}

/// Word of a severity.
pub fn severity(severity: Severity, lang: Lang) -> &'static str {
    let zh = match severity {
        Severity::Must => "强制",
        Severity::Should => "推荐",
        Severity::Hint => "建议",
    };
    lang.of(severity.name(), zh)
}

/// The verdict of `rdblens check`.
pub fn verdict(word: CheckVerdict, lang: Lang) -> &'static str {
    let zh = match word {
        CheckVerdict::Ok => "完好",
        CheckVerdict::Truncated => "被截断",
        CheckVerdict::ChecksumMismatch => "校验和不符",
        CheckVerdict::Unsupported => "不支持",
        CheckVerdict::Corrupt => "已损坏",
        CheckVerdict::NotASnapshot => "不是快照",
        CheckVerdict::Unreadable => "无法读取",
    };
    lang.of(word.text(), zh)
}

/// What became of a pattern.
pub fn fate(fate: Fate, lang: Lang) -> &'static str {
    let zh = match fate {
        Fate::Grown => "增长",
        Fate::New => "新增",
        Fate::Shrunk => "缩小",
        Fate::Vanished => "消失",
        Fate::Uncertain => "未知",
    };
    lang.of(fate.name(), zh)
}

/// A class of times: `< 7 days`, `> 1 year`, `expired`, `none`.
pub fn class(name: &str, lang: Lang) -> Cow<'_, str> {
    if lang == Lang::En {
        return name.into();
    }
    match name {
        "expired" => "已过期".into(),
        "none" => "永不过期".into(),
        "unknown" => "未知".into(),
        _ => span(name).map_or(name.into(), Cow::Owned),
    }
}

/// `< 7 days` in Chinese.
fn span(name: &str) -> Option<String> {
    let (rest, unit) = name.rsplit_once(' ')?;
    let unit = match unit {
        "min" => "分钟",
        "hour" | "hours" => "小时",
        "day" | "days" => "天",
        "year" => "年",
        _ => return None,
    };
    Some(format!("{rest} {unit}"))
}

/// The names of a finding's details, which are the rules' own, in Chinese.
const DETAILS: &[(&str, &str)] = &[
    ("alternatives", "可选方案"),
    ("bank-card", "银行卡号"),
    ("best", "最佳"),
    ("cause", "起因"),
    ("checksum", "校验和"),
    ("ctime", "快照时间"),
    ("damaged_keys", "受损 key 数"),
    ("db", "库"),
    ("earlier", "此前的报告"),
    ("email", "邮箱"),
    ("errors", "错误"),
    ("evidence", "证据"),
    ("id-card", "身份证号"),
    ("ids", "id 数"),
    ("in_window", "该窗口内过期数"),
    ("jwt", "JWT"),
    ("keys", "key 数"),
    ("keys_before", "此前 key 数"),
    ("kinds", "种类"),
    ("leaves", "末段"),
    ("maxmemory", "maxmemory"),
    ("mean", "平均"),
    ("memory", "内存"),
    ("memory_before", "此前内存"),
    ("memory_before_below", "此前内存低于"),
    ("model", "模型"),
    ("name", "名称"),
    ("name_bytes", "key 名占用"),
    ("new", "新出现"),
    ("owners", "负责人"),
    ("password", "密码"),
    ("pattern", "模式"),
    ("patterns", "模式"),
    ("phone", "手机号"),
    ("policy", "策略"),
    ("private-key", "私钥"),
    ("sampled", "采样数"),
    ("segments", "首段"),
    ("share", "占比"),
    ("share_of_keys", "key 占比"),
    ("shortened", "缩短后"),
    ("slot", "槽"),
    ("start", "起始时间"),
    ("state", "状态"),
    ("tagged_keys", "带 hash tag 的 key 数"),
    ("value_bytes", "value 占用"),
    ("window", "窗口"),
];

/// The name of a detail: `memory_before` as `memory before`, `此前内存`.
pub fn detail(name: &str, lang: Lang) -> Cow<'_, str> {
    let known = DETAILS.iter().find(|(known, _)| *known == name);
    match (lang, known) {
        (Lang::Zh, Some((_, zh))) => (*zh).into(),
        _ => name.replace('_', " ").into(),
    }
}

/// The texts of the details `cause`, `state` and `checksum` in Chinese.
const STATES: &[(&str, &str)] = &[
    ("absent", "无"),
    ("big key", "大 key"),
    ("checksum mismatch", "校验和不符"),
    ("damaged", "有损坏"),
    ("hash tag", "hash tag"),
    ("many keys", "key 过多"),
    ("mismatch", "不符"),
    ("no checksum", "没有校验和"),
    ("not computed", "未计算"),
    ("not readable to the end", "无法读到末尾"),
    ("not reached", "未读到"),
    ("ok", "正确"),
    ("skipped", "未校验"),
];

/// The text of a detail of that name; what comes from a snapshot stays as it is.
pub fn detail_value<'t>(name: &str, text: &'t str, lang: Lang) -> &'t str {
    match STATES.iter().find(|(known, _)| *known == text) {
        Some((_, zh)) if lang == Lang::Zh && matches!(name, "cause" | "state" | "checksum") => zh,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_times_are_known() {
        let zh = |name| class(name, Lang::Zh).into_owned();
        assert_eq!(
            (zh("< 10 min"), zh("< 6 hours"), zh("> 1 year")),
            ("< 10 分钟".into(), "< 6 小时".into(), "> 1 年".into())
        );
        assert_eq!((zh("none"), zh("other"), zh("a b")), ("永不过期".into(), "other".into(), "a b".into()));
        assert_eq!(class("< 10 min", Lang::En), "< 10 min");
    }

    #[test]
    fn what_surrounds_a_name_is_said_in_the_language() {
        assert_eq!(form("rdb in gzip", Lang::Zh), "rdb（gzip）");
        assert_eq!(form("multi-part-aof", Lang::Zh), "multi-part-aof");
        let guessed = "redis 7.0 (guessed from RDB version 10)";
        assert_eq!(server(guessed, Lang::Zh), "redis 7.0（由 RDB 版本 10 推测）");
        assert_eq!((server(guessed, Lang::En), server("valkey 8", Lang::Zh)), (guessed.into(), "valkey 8".into()));
    }

    #[test]
    fn details_that_are_not_known_stay_as_they_are() {
        assert_eq!(detail("memory_before", Lang::En), "memory before");
        assert_eq!(detail("memory_before", Lang::Zh), "此前内存");
        assert_eq!(detail("a_b", Lang::Zh), "a b");
        assert_eq!(detail_value("cause", "big key", Lang::Zh), "大 key");
        assert_eq!(detail_value("name", "ok", Lang::Zh), "ok", "this is a name");
    }
}
