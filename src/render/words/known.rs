//! Words that a report holds in English, because they are part of its JSON form, as people of either language read them.
//! Unknown words are shown as they are.

use super::say;
use crate::render::Lang;
use crate::report::{CheckVerdict, Checksum, Container, ContainerForm, Fate, FileServer, Severity};

/// State of the checksum of a file, in a few words. A salvaged file was read on behind its damage, to its end.
pub fn checksum(checksum: Checksum, is_salvaged: bool, lang: Lang) -> &'static str {
    match checksum {
        Checksum::NotComputed => lang.of("none (rdbchecksum no)", "无（rdbchecksum no）"),
        Checksum::NotReached if is_salvaged => lang.of("not verifiable (file is damaged)", "无法校验（文件已损坏）"),
        checksum => lang.pick(checksum.text()),
    }
}

/// State of the checksum of a file as a fact: `checksum ok`, `no checksum (rdbchecksum no)`.
pub fn checksum_fact(state: Checksum, is_salvaged: bool, lang: Lang) -> String {
    match (state, checksum(state, is_salvaged, lang)) {
        (Checksum::NotComputed, _) => lang.of("no checksum (rdbchecksum no)", "快照未写校验和").to_owned(),
        (_, checksum) => say!(lang, "checksum {checksum}", "校验和{checksum}"),
    }
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

/// A class of times: `1–7 days`, `> 1 year`, `expired`, `never`. Reports name a class by its upper end alone (`< 7 days`).
pub fn class(name: &str, lang: Lang) -> &str {
    let (en, zh) = match name {
        "expired" => ("expired", "已过期"),
        "none" => ("never", "永不过期"),
        "unknown" => ("unknown", "未知"),
        "< 1 min" => ("< 1 min", "< 1 分钟"),
        "< 10 min" => ("1–10 min", "1–10 分钟"),
        "< 1 hour" => ("10–60 min", "10–60 分钟"),
        "< 6 hours" => ("1–6 hours", "1–6 小时"),
        "< 1 day" => ("6–24 hours", "6–24 小时"),
        "< 7 days" => ("1–7 days", "1–7 天"),
        "< 30 days" => ("7–30 days", "7–30 天"),
        "< 90 days" => ("30–90 days", "30–90 天"),
        "< 1 year" => ("90–365 days", "90–365 天"),
        "> 1 year" => ("> 1 year", "> 1 年"),
        _ => return name,
    };
    lang.of(en, zh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Compression;

    #[test]
    fn classes_of_times_are_known() {
        let [en, zh] = [Lang::En, Lang::Zh].map(|lang| move |name: &'static str| class(name, lang));
        assert_eq!((zh("< 10 min"), zh("< 6 hours"), zh("> 1 year")), ("1–10 分钟", "1–6 小时", "> 1 年"));
        assert_eq!((zh("none"), zh("other"), zh("a b")), ("永不过期", "other", "a b"));
        assert_eq!((en("< 1 min"), en("< 10 min"), en("< 1 year")), ("< 1 min", "1–10 min", "90–365 days"));
        assert_eq!((en("none"), en("a b")), ("never", "a b"));
    }

    #[test]
    fn a_missing_checksum_is_told_from_one_that_cannot_be_verified() {
        let en = |state, is_salvaged| checksum_fact(state, is_salvaged, Lang::En);
        assert_eq!(
            (en(Checksum::Ok, false), en(Checksum::NotReached, false)),
            ("checksum ok".into(), "checksum not reached".into())
        );
        assert_eq!(en(Checksum::NotReached, true), "checksum not verifiable (file is damaged)");
        assert_eq!(en(Checksum::NotComputed, false), "no checksum (rdbchecksum no)");
        assert_eq!(checksum_fact(Checksum::NotComputed, false, Lang::Zh), "快照未写校验和");
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
