//! `backup.integrity`: every file can be restored: magic, structure and checksum are correct.
//!
//! Uses the result of reading, file by file. Without a checksum a file is not known to be undamaged: bytes may have changed inside
//! of values, which [`analyze`](crate::analyze) does not validate. A file of a newer server with unknown types could not be verified
//! either and is reported with that reason. Keys and memory of a finding are those that could be read.

use crate::policy::Context;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::{Checksum, DetailPart, FileError, Report, SourceFile, Wording};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "backup.integrity",
    severity: Severity::Must,
    problem: Text {
        en: "file damaged, truncated, or with a wrong checksum", zh: "文件损坏、不完整或校验和不符"
    },
    what: Text {
        en: "every file is complete and undamaged, and its checksum is correct",
        zh: "每个文件都能读到结尾，内容没有损坏，校验和正确",
    },
    why: Text {
        en: "A backup is only worth something if it can be restored. Servers refuse to start from a truncated or damaged \
             snapshot, and that should not be discovered when it is needed.",
        zh: "备份的价值在于能够成功恢复。服务器无法从截断或损坏的快照启动，不能等到需要恢复时才发现。",
    },
    fix: Text {
        en: "repeat the backup and verify it with `rdblens check` where it is stored; look for full disks and interrupted copies",
        zh: "重新备份，并在存放处用 `rdblens check` 校验；检查磁盘是否写满、拷贝是否中断",
    },
    params: &[ParamSpec {
        name: "demand_checksum",
        what: Text {
            en: "whether a file without checksum (rdbchecksum no) breaks the rule, too",
            zh: "没有校验和（rdbchecksum no）的文件是否也算违规",
        },
        default: ParamDefault::Flag(false),
    }],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:profile:{i}")]),
    fails: RuleSample::of(&[SampleKey::named("user:profile:{i}")])
        .with(SampleFacts { damaged: true, ..SampleFacts::NONE }),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(IntegrityRule { demand_checksum: params.flag("demand_checksum") })))
}

const STATE: DetailField = DetailField::new("state", "state", "状态");
const CHECKSUM: DetailField = DetailField::new("checksum", "checksum", "校验和");
const ERRORS: DetailField = DetailField::new("errors", "errors", "错误");
const DAMAGED_KEYS: DetailField = DetailField::new("damaged_keys", "damaged keys", "受损 key 数");

const MISMATCH: Text = Text { en: "checksum mismatch", zh: "校验和不符" };
const NOT_READABLE: Text = Text { en: "not readable to the end", zh: "无法读到末尾" };
const DAMAGED: Text = Text { en: "damaged", zh: "有损坏" };
const NO_CHECKSUM: Text = Text { en: "no checksum", zh: "没有校验和" };

/// Demands complete and undamaged files.
#[derive(Debug, Clone, Copy)]
pub struct IntegrityRule {
    /// True if files must have a checksum.
    pub demand_checksum: bool,
}

impl SnapshotRule for IntegrityRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        let broken = report.source.files.iter().filter_map(|file| self.state(file).map(|state| (file, state)));
        broken
            .map(|(file, state)| Breach {
                pattern: Some(file.name.clone()),
                is_label: true,
                keys: file.keys,
                memory: file.memory,
                details: [
                    STATE.with(state.into()),
                    CHECKSUM.with(file.checksum.text().into()),
                    ERRORS.with(DetailValue::Parts(file.errors.iter().map(quoted).collect())),
                    DAMAGED_KEYS.with(DetailValue::Count(file.damaged_keys)),
                ]
                .into(),
                ..Breach::default()
            })
            .collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let any =
            |report: &Report, ones: &[Checksum]| report.source.files.iter().any(|file| ones.contains(&file.checksum));
        let skipped = known.lacks(Need::Checksum, |report| any(report, &[Checksum::Skipped]));
        skipped.or_else(|| {
            known.lacks(Need::StoredChecksum, |report| any(report, &[Checksum::Absent, Checksum::NotComputed]))
        })
    }

    fn is_about_files(&self) -> bool {
        true
    }
}

fn quoted(error: &FileError) -> DetailPart {
    let Wording { en, zh } = error.wording.clone();
    DetailPart { name: en, name_zh: Some(zh), ..DetailPart::default() }
}

impl IntegrityRule {
    /// Returns the problem of a file as a short phrase; `None` if it is intact.
    fn state(&self, file: &SourceFile) -> Option<Text> {
        match file.checksum {
            Checksum::Mismatch => Some(MISMATCH),
            Checksum::NotReached => Some(NOT_READABLE),
            // The framing is intact, so the errors concern single values or trailing data.
            _ if file.damaged_keys > 0 || !file.errors.is_empty() => Some(DAMAGED),
            Checksum::NotComputed | Checksum::Absent if self.demand_checksum => Some(NO_CHECKSUM),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::source_file;

    fn state(demand_checksum: bool, change: impl FnOnce(&mut SourceFile)) -> Option<&'static str> {
        let mut file = source_file(0);
        change(&mut file);
        IntegrityRule { demand_checksum }.state(&file).map(|state| state.en)
    }

    #[test]
    fn the_state_says_what_is_wrong() {
        assert_eq!(state(true, |_| ()), None);
        assert_eq!(state(false, |file| file.checksum = Checksum::Skipped), None, "the user did not want to know");
        assert_eq!(state(false, |file| file.checksum = Checksum::Mismatch), Some("checksum mismatch"));
        assert_eq!(state(false, |file| file.checksum = Checksum::NotReached), Some("not readable to the end"));
        assert_eq!(state(false, |file| file.damaged_keys = 1), Some("damaged"));
        assert_eq!(state(false, |file| file.errors.push("x".to_owned().into())), Some("damaged"));
        for checksum in [Checksum::Absent, Checksum::NotComputed] {
            assert_eq!(state(false, |file| file.checksum = checksum), None);
            assert_eq!(state(true, |file| file.checksum = checksum), Some("no checksum"));
        }
    }
}
