//! Words that a report holds in English, because they are part of its JSON form, as people of either language read them.
//! Unknown words are shown as they are.

use std::borrow::Cow;

use crate::render::Lang;
use crate::report::{CheckVerdict, Checksum, Container, ContainerForm, Fate, FileServer, Severity};

/// The state of a checksum.
pub fn checksum(checksum: Checksum, lang: Lang) -> &'static str {
    lang.pick(checksum.text())
}

/// Words a container: `rdb in gzip`.
pub fn form(container: &Container, lang: Lang) -> String {
    let zh = match &container.form {
        ContainerForm::AofPreamble => "混合持久化的 AOF（RDB 前导）",
        ContainerForm::MultiPartAof => "多文件 AOF",
        ContainerForm::Replication => "复制流",
        ContainerForm::Unreadable => "无法读取",
        ContainerForm::Rdb | ContainerForm::Other(_) => container.form.name(),
    };
    match (lang, &container.compression) {
        (Lang::Zh, Some(compression)) => format!("{zh}（{}）", compression.name()),
        (Lang::Zh, None) => zh.to_owned(),
        (Lang::En, _) => container.to_string(),
    }
}

/// Words the server of a file: `redis 7.2.6`, `redis 7.0 (guessed from RDB version 10)`.
pub fn server(server: &FileServer, lang: Lang) -> String {
    lang.say(&server.wording()).to_owned()
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
        CheckVerdict::OverBudget => "未全部检查",
    };
    lang.of(word.text(), zh)
}

/// Fate of a pattern.
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
    use crate::report::Compression;

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
        let gzip = Container { form: ContainerForm::Rdb, compression: Some(Compression::Gzip) };
        assert_eq!((form(&gzip, Lang::En), form(&gzip, Lang::Zh)), ("rdb in gzip".into(), "rdb（gzip）".into()));
        assert_eq!(form(&ContainerForm::MultiPartAof.into(), Lang::Zh), "多文件 AOF");
        let unreadable = Container::from(ContainerForm::Unreadable);
        assert_eq!(
            (form(&unreadable, Lang::En), form(&unreadable, Lang::Zh)),
            ("unreadable".into(), "无法读取".into())
        );
        let guessed = FileServer { family: "redis".into(), version: "7.0".into(), guessed_from: Some(10) };
        assert_eq!(server(&guessed, Lang::En), "redis 7.0 (guessed from RDB version 10)");
        assert_eq!(server(&guessed, Lang::Zh), "redis 7.0（由 RDB 版本 10 推测）");
        let named = FileServer { guessed_from: None, ..guessed };
        assert_eq!(server(&named, Lang::Zh), "redis 7.0");
    }
}
