//! How the report made by hand compares with an earlier one.

use rdblens::report::{Baseline, BaselineRow, BeforeRow};
use rdblens::units::Bytes;

/// Something new, something worse, and something fixed.
pub fn baseline() -> Baseline {
    let before = BeforeRow { keys: 10, memory: Bytes(20_480), measured: Some(130), allowed: Some(128) };
    let row = |pattern: Option<&str>, before| BaselineRow {
        rule: "key.length".into(),
        severity: "should".into(),
        pattern: pattern.map(str::to_owned),
        keys: 12,
        memory: Bytes(24_576),
        measured: Some(140),
        allowed: Some(128),
        before,
    };
    Baseline {
        report: "yesterday.json".into(),
        new: vec![row(Some("session:{*}"), None)],
        worse: vec![row(Some("user:{int}:feed"), Some(before))],
        fixed: vec![row(None, None)],
    }
}
