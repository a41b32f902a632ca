//! Time since the last access, where the dump tells.

use super::spread::{Class, spread};
use crate::render::document::{Scope, Section};
use crate::render::words::{heads, known};
use crate::report::{IdleClass, Report};

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let idle = report.idle.as_ref().filter(|idle| idle.keys > 0)?;
    let lang = scope.lang;
    let title = lang.of("Time since the last access", "距上次访问的时间");
    let class = |class: &IdleClass| Class::new(known::class(&class.idle, lang).into_owned(), class.keys, class.memory);
    let classes: Vec<Class> = idle.classes.iter().map(class).collect();
    Some(spread(Section::new("idle", title), report, heads::IDLE, title, &classes, None, scope))
}
