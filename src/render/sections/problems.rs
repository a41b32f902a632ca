//! Reasons to doubt the figures.

use crate::render::document::{Prose, inline_visible};
use crate::render::words::{nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Checksum, Report, SourceFile};

/// Returns all reasons, the verdict on the figures first.
pub(super) fn problems(report: &Report, lang: Lang) -> (Option<Prose>, Vec<Prose>) {
    let verdict = (!report.complete).then(|| verdict(report, lang).into());
    (verdict, report.source.files.iter().flat_map(|file| problems_of(file, lang)).map(Prose::from).collect())
}

/// Says what the problems mean for the figures.
fn verdict(report: &Report, lang: Lang) -> String {
    let files = &report.source.files;
    // Not read, or in no partial report: the line about the file says which.
    let unread = files.iter().filter(|file| file.rdb_version == 0).count();
    let cut = files
        .iter()
        .any(|file| file.rdb_version != 0 && file.checksum == Checksum::NotReached && file.salvage.is_none());
    let salvaged = files.iter().any(|file| file.salvage.is_some());
    let damaged = files.iter().any(|file| file.damaged_keys > 0);
    let mut parts = Vec::new();
    if unread > 0 {
        let all = files.len();
        let be = if unread == 1 { "is" } else { "are" };
        parts.push(say!(
            lang,
            "{unread} of {all} files {be} not included in the figures",
            "{all} 个文件中有 {unread} 个未计入统计"
        ));
    }
    if cut {
        parts.push(
            lang.of("the figures cover only what was read before the damage", "统计只包含损坏位置之前读到的数据")
                .to_owned(),
        );
    }
    if salvaged {
        let text = "the figures cover all intact records, before and after the damage";
        parts.push(lang.of(text, "统计包含损坏位置前后所有完好的记录").to_owned());
    }
    if damaged {
        parts.push(
            lang.of("keys with a damaged value are not included in the figures", "value 受损的 key 未计入统计")
                .to_owned(),
        );
    }
    if parts.is_empty() {
        let damaged = "DAMAGED: everything was read, but the bytes are not those that the server wrote.";
        return lang.of(damaged, "已损坏：数据全部读完，但内容与服务器写入的不一致。").to_owned();
    }
    say!(lang, "INCOMPLETE: {}.", "不完整：{}。", parts.join(lang.of("; ", "；")))
}

/// Lists the problems of a file.
fn problems_of(file: &SourceFile, lang: Lang) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some((first, others)) = file.errors.split_first() {
        let others = match others.len() {
            0 => String::new(),
            n => say!(lang, " (and {n} more)", "（另有 {n} 处）"),
        };
        problems.push(format!("{}{others}", key_text::text(lang.say(&first.wording))));
    }
    match file.checksum {
        Checksum::Mismatch if file.errors.is_empty() => {
            let mismatch = "CHECKSUM MISMATCH: the file is not what the server wrote";
            problems.push(lang.of(mismatch, "校验和不符：文件内容与服务器写入的不一致").to_owned());
        }
        Checksum::NotReached if file.errors.is_empty() => {
            let cut = "the end of the file and its checksum were not reached";
            problems.push(lang.of(cut, "未读到文件末尾和校验和").to_owned());
        }
        Checksum::Mismatch
        | Checksum::NotReached
        | Checksum::Ok
        | Checksum::NotComputed
        | Checksum::Absent
        | Checksum::Skipped => {}
    }
    if let Some(salvage) = &file.salvage {
        let said = crate::render::salvage::headline(salvage, lang);
        problems.push(say!(lang, "salvaged: {said}", "已恢复：{said}"));
    }
    if file.damaged_keys > 0 {
        let keys = human::counted(file.damaged_keys, nouns::KEY, lang);
        problems.push(say!(lang, "{keys} with a damaged value", "{keys} 的 value 受损"));
    }
    let name = inline_visible(&key_text::text(&file.name));
    problems.into_iter().map(|problem| say!(lang, "{name}: {problem}", "{name}：{problem}")).collect()
}
