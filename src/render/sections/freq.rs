//! Access counters, where the dump has them.

use super::spread::{Class, Spread, spread};
use crate::render::document::{Scope, Section};
use crate::render::words::{heads, say};
use crate::report::{FreqClass, Report};

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let freq = report.freq.as_ref().filter(|freq| freq.keys > 0)?;
    let lang = scope.lang;
    let title = lang.of("Access counter (logarithmic, decays with time)", "访问计数器（对数增长，随时间衰减）");
    let name = |from, to| if from == to { format!("{from}") } else { say!(lang, "{from} to {to}", "{from} 至 {to}") };
    let class = |class: &FreqClass| Class::new(name(class.from, class.to), class.keys, class.memory, class.unknown);
    let classes: Vec<Class> = freq.classes.iter().map(class).collect();
    let classes = Spread { heading: heads::COUNTER, label: title, classes: &classes, note: None };
    Some(spread(Section::new("freq", title), report, &classes, scope))
}
