//! Table of the TTL classes of a policy.

use crate::policy::Policy;
use crate::policy::dictionary::TtlClass;
use crate::policy::spelling::lock_patterns;
use crate::render::document::{Cell, Column, Table};
use crate::render::words::{heads, say};
use crate::render::{Lang, human, key_text};
use crate::units::Bytes;

/// Patterns that a row names.
const NAMED: usize = 6;

/// Returns the table of the TTL classes.
pub(super) fn table(policy: &Policy, lang: Lang) -> Table {
    let time = |time: Option<u64>| time.map(|time| Cell::words(&human::duration(time, lang)));
    Table::of("", &policy.classes, usize::MAX)
        .column(Column::text(heads::CLASS), |class| key_text::text(&class.name).into_owned())
        .column(Column::text(heads::EXPIRY), |class| {
            if class.required { lang.of("required", "必须设置") } else { lang.of("optional", "可不设置") }
        })
        .column(Column::text(heads::AT_MOST), |class| time(class.max))
        .column(Column::text(heads::JITTER), |class| time(class.jitter))
        .column(Column::text(heads::BUDGET), |class| class.budget.map(|Bytes(most)| Cell::words(&human::bytes(most))))
        .column(Column::text(heads::KEYS_OF).shrink(28).prose().spare(1), |class| keys(class, lang))
        .build()
}

/// Returns which keys are of a class.
fn keys(class: &TtlClass, lang: Lang) -> String {
    let patterns = match class.patterns.as_slice() {
        [] => lang.of("those of its dictionary entries", "数据字典中归入该类别的 key").to_owned(),
        all if class.locks && all == lock_patterns() => lang.of("named like a lock", "按名称判断为锁的 key").to_owned(),
        all => {
            let named: Vec<_> = all.iter().take(NAMED).map(|pattern| key_text::text(&pattern.text)).collect();
            let more = match all.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => say!(lang, ", {more} more", "，另有 {more} 个"),
            };
            format!("{}{more}", named.join(lang.of(", ", "、")))
        }
    };
    match class.kinds.as_slice() {
        [] => patterns,
        kinds => {
            let kinds = kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(lang.of(", ", "、"));
            say!(lang, "{patterns} ({kinds})", "{patterns}（{kinds}）")
        }
    }
}
