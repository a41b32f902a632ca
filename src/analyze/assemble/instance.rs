//! Section on the whole server: its tables, computed from counts and models.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::aggregate::instance::FileInstance;
use crate::analyze::outcome::FileOutcome;
use crate::analyze::plan::Plan;
use crate::analyze::read::file::InputFile;
use crate::memory::TableBytes;
use crate::policy::Checks;
use crate::policy::rules::ttl::missing;
use crate::report::{Instance, InstanceDatabase, Overhead, Tables, Unknown, Weight};
use crate::units::Bytes;

/// Returns the section, or `None` if only some of the keys count or there are none. `unknown` are keys without figures.
pub(super) fn section(
    plan: &Plan,
    files: &[Arc<InputFile>],
    outcomes: &[FileOutcome],
    counted: &[FileInstance],
    used_mem: Option<Bytes>,
    unknown: Unknown,
) -> Option<Instance> {
    // The tables of a server that is not known are not known either.
    if files.iter().any(|file| !file.model.is_known()) {
        return None;
    }
    let partial = plan.read.limit.is_some() || !plan.read.selection.describe().is_empty();
    if partial || counted.is_empty() {
        return None;
    }
    let mut sums = ServerSums::default();
    for server in counted {
        let file = files.iter().find(|file| file.index == server.file)?;
        sums.add(server, file, templates(outcomes, server, 0));
        sums.overhead.templates += outcomes.get(server.file).map_or(Bytes(0), |outcome| outcome.templates.reported());
    }
    let first = files.iter().find(|file| file.index == counted[0].file)?;
    Some(Instance { unknown, ..sums.finish(first.model.name(), used_mem) })
}

/// Returns the memory of keys and tables of each server, with the position of its first file with keys.
pub(super) fn totals(
    files: &[Arc<InputFile>],
    outcomes: &[FileOutcome],
    counted: &[FileInstance],
) -> Vec<(usize, Bytes)> {
    let total = |server: &FileInstance| {
        let file = files.iter().find(|file| file.index == server.file)?;
        let tables = Bytes(file.model.instance(&server.shape).tables().sum());
        Some((server.file, server.allocated + templates(outcomes, server, 0) + tables))
    };
    counted.iter().filter_map(total).collect()
}

/// Returns the keys of each file that [lack an expiry](crate::policy::Context::without_ttl), by its position. `broken` are those that
/// break `ttl.missing`.
pub(super) fn without_ttl(
    checks: &Checks,
    counted: &[FileInstance],
    broken: &BTreeMap<usize, Weight>,
) -> BTreeMap<usize, Weight> {
    if !checks.policy.settings.iter().any(|setting| setting.rule.meta.id == missing::ID) {
        return counted.iter().map(|server| (server.file, server.without_ttl)).collect();
    }
    let mut files = broken.clone();
    counted.iter().for_each(|server| files.entry(server.file).or_default().merge(server.fields_expire));
    files
}

/// Memory of a server besides its keys, for `--what-if`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BesideKeys {
    /// Tables.
    pub tables: Bytes,
    /// Templates of compact hashes, beyond the shares of the keys.
    pub templates: Bytes,
}

/// Returns what all servers take besides their keys under each alternative.
pub(super) fn elsewhere(
    files: &[Arc<InputFile>],
    outcomes: &[FileOutcome],
    counted: &[FileInstance],
) -> Vec<BesideKeys> {
    let mut sums = Vec::new();
    for server in counted {
        let Some(file) = files.iter().find(|file| file.index == server.file) else { continue };
        sums.resize(file.alternatives.len(), BesideKeys::default());
        for (at, (sum, model)) in sums.iter_mut().zip(file.alternatives.iter()).enumerate() {
            sum.tables += Bytes(model.instance(&server.shape).tables().sum());
            sum.templates += templates(outcomes, server, at + 1);
        }
    }
    sums
}

/// Returns the bytes of the templates of all servers beyond the shares of their keys.
pub(super) fn all_templates(outcomes: &[FileOutcome], counted: &[FileInstance]) -> Bytes {
    counted.iter().map(|server| templates(outcomes, server, 0)).sum()
}

/// Returns the bytes of the templates of a server beyond the shares of their keys, under the model at this position.
fn templates(outcomes: &[FileOutcome], server: &FileInstance, at: usize) -> Bytes {
    outcomes.get(server.file).map_or(Bytes(0), |outcome| outcome.templates.beyond_shares(at))
}

/// Sums over servers.
#[derive(Debug, Default)]
struct ServerSums {
    keys: Bytes,
    allocated: Bytes,
    tables: Tables,
    after_load: Bytes,
    overhead: Overhead,
    outside_databases: Bytes,
    databases: BTreeMap<u64, InstanceDatabase>,
}

impl ServerSums {
    fn add(&mut self, server: &FileInstance, file: &InputFile, templates: Bytes) {
        let memory = file.model.instance(&server.shape);
        self.keys += server.memory;
        self.allocated += server.allocated + templates;
        add(&mut self.tables, memory.tables());
        let TableBytes { main, expires, slots } = memory.overhead();
        self.overhead.main += Bytes(main);
        self.overhead.expires += Bytes(expires);
        self.overhead.slots += Bytes(slots);
        self.after_load += Bytes(memory.after_load().sum());
        self.outside_databases += Bytes(memory.late);
        for counts in &server.shape.databases {
            let row = self.databases.entry(counts.db).or_default();
            row.db = counts.db;
            row.keys += counts.keys;
            row.expiring += counts.expiring;
        }
        for database in &memory.databases {
            let row = self.databases.entry(database.db).or_default();
            row.main += Bytes(database.tables.main.saturating_add(database.tables.slots));
            row.expires += Bytes(database.tables.expires);
        }
    }

    fn finish(self, model: String, used_mem: Option<Bytes>) -> Instance {
        let total = self.allocated + self.tables.sum();
        let after_load = self.allocated + self.after_load;
        Instance {
            model,
            keys: self.keys,
            correction: beyond(self.allocated, self.keys),
            tables: self.tables,
            total,
            unknown: Unknown::default(),
            after_load: (after_load != total).then_some(after_load),
            overhead: self.overhead,
            dataset: beyond(total, self.overhead.sum()),
            databases: self.databases.into_values().collect(),
            outside_databases: self.outside_databases,
            used_mem,
            difference: used_mem.map(|used| beyond(used, total)),
            maxmemory: None,
        }
    }
}

fn add(sum: &mut Tables, more: TableBytes) {
    sum.main += Bytes(more.main);
    sum.expires += Bytes(more.expires);
    sum.slots += Bytes(more.slots);
}

fn beyond(bytes: Bytes, base: Bytes) -> i64 {
    let clamped = i128::from(bytes.0) - i128::from(base.0);
    i64::try_from(clamped).unwrap_or(if clamped < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(beyond(Bytes(3), Bytes(5)), -2);
        assert_eq!(beyond(Bytes(u64::MAX), Bytes(0)), i64::MAX);
        assert_eq!(beyond(Bytes(0), Bytes(u64::MAX)), i64::MIN);
    }
}
