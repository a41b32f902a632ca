//! Words that a report holds in English, because they are part of its JSON form, as people of either language read them.
//! What is not known here is shown as it is.

use std::borrow::Cow;

use crate::render::Lang;
use crate::report::{CheckVerdict, Checksum, Fate, Severity};

/// The state of a checksum.
pub fn checksum(checksum: Checksum, lang: Lang) -> &'static str {
    lang.pick(checksum.text())
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
}
