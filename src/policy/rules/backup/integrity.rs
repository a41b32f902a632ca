//! `backup.integrity`: every file can be restored: its magic, structure and checksum hold.
//!
//! Judged is what reading came to, file by file. A file of a newer server, whose types this program does not know, has not
//! been verified either, and is named with that reason. The keys and bytes of a finding are those that could be read.

use crate::policy::Context;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, Chapter, DetailField, DetailValue, Rule, RuleMeta, Severity, SnapshotRule, Text,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::{Checksum, Report, SourceFile};

static META: RuleMeta = RuleMeta {
    id: "backup.integrity",
    severity: Severity::Must,
    problem: Text {
        en: "file damaged, cut short, or with a wrong checksum", zh: "文件损坏、不完整或校验和不符"
    },
    what: Text {
        en: "every file is read to its end, nothing in it is damaged, and its checksum is right",
        zh: "每个文件都能读到结尾，内容没有损坏，校验和正确",
    },
    why: Text {
        en: "A backup is worth what can be restored from it. A server refuses to start from a truncated or damaged snapshot, and \
             the time to learn that is not the time of need.",
        zh: "备份的价值在于能够成功恢复。服务器无法从截断或损坏的快照启动，不能等到需要恢复时才发现。",
    },
    fix: Text {
        en: "take the backup again and verify it with `rdblens check` where it is kept; look for full disks and interrupted copies",
        zh: "重新备份，并在存放处用 `rdblens check` 校验；检查磁盘是否写满、拷贝是否中断",
    },
    chapters: &[
        Chapter { preset: "platform", heading: "三、数据持久化与安全 / 备份与恢复" },
        Chapter { preset: "platform", heading: "二十 2. 恢复演练" },
    ],
    params: &[ParamSpec {
        name: "demand_checksum",
        what: Text {
            en: "whether a file without a checksum (rdbchecksum no) breaks the rule, too",
            zh: "没有校验和（rdbchecksum no）的文件是否也算违规",
        },
        default: ParamDefault::Flag(false),
    }],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:profile:{i}")]),
    fails: RuleSample::of(&[SampleKey::named("user:profile:{i}")])
        .with(SampleFacts { damaged: true, ..SampleFacts::NONE }),
};

/// The rule.
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

/// All files are whole.
#[derive(Debug, Clone, Copy)]
pub struct IntegrityRule {
    /// Whether there has to be a checksum.
    pub demand_checksum: bool,
}

impl SnapshotRule for IntegrityRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        let broken = report.source.files.iter().filter_map(|file| self.state(file).map(|state| (file, state)));
        broken
            .map(|(file, state)| Breach {
                pattern: Some(file.name.clone()),
                keys: file.keys,
                memory: file.memory,
                details: [
                    STATE.with(state.into()),
                    CHECKSUM.with(file.checksum.text().into()),
                    ERRORS.with(DetailValue::Texts(file.errors.clone())),
                    DAMAGED_KEYS.with(DetailValue::Count(file.damaged_keys)),
                ]
                .into(),
                ..Breach::default()
            })
            .collect()
    }
}

impl IntegrityRule {
    /// What is wrong with a file, in a word; `None` if nothing is.
    fn state(&self, file: &SourceFile) -> Option<Text> {
        match file.checksum {
            Checksum::Mismatch => Some(MISMATCH),
            Checksum::NotReached => Some(NOT_READABLE),
            // Known errors are of values then, or of what follows.
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
        assert_eq!(state(false, |file| file.errors.push("x".to_owned())), Some("damaged"));
        for checksum in [Checksum::Absent, Checksum::NotComputed] {
            assert_eq!(state(false, |file| file.checksum = checksum), None);
            assert_eq!(state(true, |file| file.checksum = checksum), Some("no checksum"));
        }
    }
}
