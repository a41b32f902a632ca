//! Section on alternatives: the models requested, and the sums over all keys under each.

use std::sync::Arc;

use super::instance::BesideKeys;
use crate::aggregate::patterns::Listed;
use crate::aggregate::what_if::WhatIfSums;
use crate::analyze::plan::ReadPlan;
use crate::analyze::read::file::InputFile;
use crate::memory::Model;
use crate::rdb::header::RdbHeader;
use crate::report::{Alternative, Instance, Warning, WarningKind, WhatIf, WhatIfBase, WhatIfPattern};
use crate::units::Bytes;

/// Describes the alternatives, before any key is read.
///
/// Each alternative is derived from each file's own model. The first file's names them all, as the base does; caveats are
/// collected from all files.
pub(in crate::analyze) fn alternatives(plan: &ReadPlan, files: &[(RdbHeader, Arc<InputFile>)]) -> Vec<Alternative> {
    let one = |(at, ask): (usize, &crate::memory::WhatIf)| {
        let models = files.iter().filter_map(|(header, file)| Some((*header, file.alternatives.get(at)?)));
        let mut caveats: Vec<Warning> = Vec::new();
        for caveat in models
            .clone()
            .flat_map(|(header, model)| model.caveats().into_iter().map(Warning::from).chain(unread(model, header)))
        {
            if !caveats.contains(&caveat) {
                caveats.push(caveat);
            }
        }
        Alternative {
            ask: ask.text().to_owned(),
            model: models.map(|(_, model)| model.name()).next().unwrap_or_default(),
            caveats,
            memory: Bytes(0),
            difference: 0,
            share: 0.0,
            correction: None,
            tables: None,
            total: None,
            total_difference: None,
            compact_hashes: None,
        }
    };
    plan.what_if.iter().enumerate().map(one).collect()
}

/// Returns a caveat if a server would refuse to load the file as it is.
fn unread(model: &Model, header: RdbHeader) -> Option<Warning> {
    let server = model.server();
    (!server.loads(&header)).then(|| {
        Warning::new(WarningKind::DoesNotLoad {
            server: server.to_string(),
            magic: header.magic().to_owned(),
            version: header.version,
        })
    })
}

/// Whole servers: the section on them, and what they take besides the keys.
pub(super) struct WholeServer<'a> {
    /// The section.
    pub instance: &'a Instance,
    /// Templates of compact hashes, beyond the shares of the keys.
    pub templates: Bytes,
    /// Memory under each alternative, with the tables.
    pub elsewhere: Vec<BesideKeys>,
}

/// Returns the section, or `None` if no alternative was requested. Tables and totals need the whole server: see
/// [`instance::section`](super::instance::section).
pub(super) fn section(
    base: String,
    mut alternatives: Vec<Alternative>,
    sums: Option<WhatIfSums>,
    patterns: Listed<WhatIfPattern>,
    whole: Option<WholeServer<'_>>,
) -> Option<WhatIf> {
    let WhatIfSums { memory, alternatives: all, types, allocated, allocated_now, unknown } = sums?;
    for (alternative, sum) in alternatives.iter_mut().zip(all) {
        alternative.memory = sum;
        alternative.difference = difference(sum, memory);
        alternative.share = if memory.0 == 0 { 0.0 } else { alternative.difference as f64 / memory.0 as f64 };
    }
    let mut base = WhatIfBase { model: base, memory, correction: None, tables: None, total: None };
    if let Some(WholeServer { instance, templates, elsewhere }) = whole {
        let allocated_now = allocated_now + templates;
        let total_now = allocated_now + instance.tables.sum();
        base.correction = Some(difference(allocated_now, memory));
        (base.tables, base.total) = (Some(instance.tables.sum()), Some(total_now));
        for ((alternative, beside), allocated) in alternatives.iter_mut().zip(elsewhere).zip(allocated) {
            let (tables, allocated) = (beside.tables, allocated + beside.templates);
            let total = allocated + tables;
            alternative.correction = Some(difference(allocated, alternative.memory));
            (alternative.tables, alternative.total) = (Some(tables), Some(total));
            alternative.total_difference = Some(difference(total, total_now));
        }
    }
    let Listed { distinct: distinct_patterns, rows: patterns } = patterns;
    Some(WhatIf { base, alternatives, types, distinct_patterns, patterns, unknown })
}

/// Returns `sum - base`, clamped.
pub(super) fn difference(sum: Bytes, base: Bytes) -> i64 {
    match sum.0.checked_sub(base.0) {
        Some(more) => i64::try_from(more).unwrap_or(i64::MAX),
        None => i64::try_from(base.0 - sum.0).map_or(i64::MIN, |less| -less),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Unknown;

    #[test]
    fn differences_have_a_sign_and_stay_in_range() {
        let of = |sum, base| difference(Bytes(sum), Bytes(base));
        assert_eq!((of(5, 7), of(7, 5), of(7, 7)), (-2, 2, 0));
        assert_eq!((of(0, u64::MAX), of(u64::MAX, 0)), (i64::MIN, i64::MAX));
        assert_eq!(of(0, 1 << 63), i64::MIN);
    }

    #[test]
    fn shares_of_nothing_are_nothing() {
        let ask = Alternative {
            ask: "glibc".to_owned(),
            model: String::new(),
            caveats: vec![],
            memory: Bytes(9),
            difference: 9,
            share: 9.0,
            correction: None,
            tables: None,
            total: None,
            total_difference: None,
            compact_hashes: None,
        };
        let sums = WhatIfSums {
            memory: Bytes(0),
            alternatives: vec![Bytes(0)],
            types: vec![],
            allocated: vec![Bytes(0)],
            allocated_now: Bytes(0),
            unknown: Unknown::default(),
        };
        let section =
            section(String::new(), vec![ask], Some(sums), Listed { distinct: 0, rows: vec![] }, None).unwrap();
        assert_eq!((section.alternatives[0].memory, section.alternatives[0].share), (Bytes(0), 0.0));
    }
}
