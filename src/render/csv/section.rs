//! Lists that can be written as CSV, and their columns.

use super::rows::*;
use super::sheet::Sheet;
use crate::report::Report;

/// Declares sections: name on the command line, description, columns, rows.
macro_rules! sections {
    ($report:ident; $default:ident; $($section:ident = $name:literal, $what:literal, $columns:expr, $rows:expr;)*) => {
        /// A list of the report.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum CsvSection {
            $(#[doc = $what] $section,)*
        }

        impl Default for CsvSection {
            fn default() -> CsvSection {
                CsvSection::$default
            }
        }

        impl CsvSection {
            /// All sections, the default first.
            pub const ALL: &[CsvSection] = &[$(CsvSection::$section),*];

            /// Returns the name on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(CsvSection::$section => $name,)*
                }
            }

            /// Returns the description.
            pub const fn what(self) -> &'static str {
                match self {
                    $(CsvSection::$section => $what,)*
                }
            }

            /// Returns the names of its columns.
            pub fn columns(self) -> Vec<&'static str> {
                match self {
                    $(CsvSection::$section => $columns,)*
                }
                .split(' ')
                .collect()
            }

            pub(super) fn sheet(self, $report: &Report) -> Sheet {
                let columns = self.columns();
                match self {
                    $(CsvSection::$section => Sheet::new(&columns, $rows),)*
                }
            }
        }
    };
}

sections! {
    report;
    Patterns;
    Patterns = "patterns", "The heaviest patterns.",
        "pattern keys memory share mean disk elements without_ttl_keys without_ttl_memory last_expiry types \
         example_db example_key example_key_base64 example_key_bytes example_memory unknown_keys unknown_bytes",
        report.patterns.list.iter().map(pattern);
    Totals = "totals", "Totals, one row.",
        "complete keys memory disk name_bytes elements without_ttl_keys without_ttl_memory expired_keys \
         expired_memory unknown_keys unknown_bytes",
        [totals(report)];
    Files = "files", "The input files.",
        "name container bytes trailing_bytes rdb_version checksum keys keys_read memory ctime server \
         damaged_keys errors unknown_keys unknown_bytes",
        report.source.files.iter().map(file);
    Instance = "instance", "Memory of the whole server, one row at most.",
        "model keys correction tables_main tables_expires tables_slots total after_load overhead_main \
         overhead_expires overhead_slots dataset used_mem difference overhead_templates",
        report.instance.iter().map(instance);
    Databases = "databases", "Keys and memory by database.",
        "db keys memory disk with_ttl expired unknown_keys unknown_bytes",
        report.databases.iter().map(database);
    Types = "types", "Keys and memory by type and encoding.",
        "type encoding keys elements string_bytes memory share mean p50 p99 max unknown_keys unknown_bytes",
        report.types.iter().map(type_row);
    BigKeys = "big-keys", "Big keys.",
        KEY_COLUMNS,
        report.big_keys.list.iter().map(key_row);
    Heaviest = "heaviest", "The heaviest keys.",
        KEY_COLUMNS,
        report.top.by_memory.iter().map(key_row);
    Longest = "longest", "The longest collections.",
        KEY_COLUMNS,
        report.top.by_length.iter().map(key_row);
    ByType = "by-type", "The heaviest keys of each type.",
        KEY_COLUMNS,
        report.top.by_type.iter().flat_map(|of_type| &of_type.list).map(key_row);
    NoTtl = "no-ttl", "Patterns with keys that never expire.",
        "pattern keys memory example_db example_key example_key_base64 example_key_bytes example_memory",
        report.no_ttl.patterns.iter().map(without_ttl);
    Expiry = "expiry", "Keys and memory by time to live.",
        "left below_ms keys memory unknown_keys unknown_bytes",
        report.expiry.classes.iter().map(expiry);
    Naming = "naming", "Rules about key names.",
        "rule severity keys memory demand",
        report.naming.rules.iter().map(naming);
    Prefixes = "prefixes", "The prefix tree, each node before its children.",
        "depth prefix segment keys memory share disk elements without_ttl_keys without_ttl_memory \
         unknown_keys unknown_bytes",
        prefixes(&report.prefixes.tree);
    Findings = "findings", "Violations of the policy, by rule.",
        "rule severity keys memory saves patterns unit demand fix document chapter quote",
        report.findings.list.iter().map(finding);
    FindingPatterns = "finding-patterns", "Violations of the policy, by rule and pattern.",
        "rule severity pattern owner keys memory measured allowed unit saves example_db example_key \
         example_key_base64 example_key_bytes example_memory",
        finding_patterns(report);
    Baseline = "baseline", "Changes of findings since the baseline report.",
        BASELINE_COLUMNS,
        report.findings.baseline.iter().flat_map(baseline);
    Growth = "growth", "Growth since the baseline report: in total, by type and by pattern.",
        GROWTH_COLUMNS,
        report.growth.iter().flat_map(|it| growth([it.before, it.after], &it.types, &it.patterns));
    Owners = "owners", "Owners of the data dictionary.",
        "owner contact keys memory without_ttl_keys without_ttl_memory breaking_keys breaking_memory rules",
        report.findings.by_owner.iter().map(owner);
    Dictionary = "dictionary", "Entries of the data dictionary.",
        "pattern owner contact note keys memory without_ttl_keys without_ttl_memory",
        report.findings.dictionary.iter().flat_map(|fit| &fit.entries).map(entry);
    Budgets = "budgets", "Budgets of the policy.",
        "pattern allowed keys memory unknown_keys unknown_bytes",
        report.findings.budgets.iter().map(budget);
    Exempted = "exempted", "Violations covered by exemptions.",
        "rule pattern reason keys memory",
        report.findings.exempted.iter().map(exempted);
    NotEvaluated = "not-evaluated", "Rules of the policy that were not evaluated.",
        "rule severity reason remedy flag",
        report.findings.not_evaluated.iter().map(not_evaluated);
    Idle = "idle", "Keys and memory by time since the last access.",
        "idle below_s keys memory unknown_keys unknown_bytes",
        report.idle.iter().flat_map(|idle| &idle.classes).map(idle);
    Cold = "cold", "Memory not accessed for 7, 30 and 90 days, by pattern and by owner.",
        "by name keys memory cold7_keys cold7_memory cold30_keys cold30_memory cold90_keys cold90_memory",
        report.idle.iter().flat_map(|idle| &idle.parts).map(cold_part);
    Freq = "freq", "Keys and memory by access counter (LFU).",
        "from to keys memory unknown_keys unknown_bytes",
        report.freq.iter().flat_map(|freq| &freq.classes).map(freq);
    Slots = "slots", "The heaviest cluster slots.",
        "slot keys tagged_keys memory share example_db example_key example_key_base64 example_key_bytes example_memory \
         unknown_keys unknown_bytes",
        report.slots.iter().flat_map(|slots| &slots.list).map(slot);
    SlotRanges = "slot-ranges", "All cluster slots, in ranges.",
        "first last keys memory unknown_keys unknown_bytes",
        report.slots.iter().flat_map(|slots| &slots.ranges).map(slot_range);
    Streams = "streams", "Streams.",
        "db key key_base64 entries groups pending memory",
        report.streams.iter().flat_map(|streams| &streams.list).map(stream);
    Templates = "templates", "Hash templates.",
        "names fields keys memory template saved",
        report.hash_templates.iter().flat_map(|templates| &templates.list).map(template);
    WhatIf = "what-if", "Memory on other servers, allocators or settings; the first row is the present setup.",
        "ask model memory difference share correction tables total total_difference",
        report.what_if.iter().flat_map(what_if);
    WhatIfParts = "what-if-parts", "Memory by type and pattern, a row for each alternative.",
        "part name keys memory ask memory_then",
        report.what_if.iter().flat_map(what_if_parts);
    Warnings = "warnings", "Warnings about the figures.",
        "warning",
        report.warnings.iter().map(|warning| row().text(&warning.wording.en));
}

impl CsvSection {
    /// Returns the section of that name.
    pub fn from_name(name: &str) -> Option<CsvSection> {
        CsvSection::ALL.iter().copied().find(|section| section.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_found_by_its_name_and_no_column_stands_twice() {
        for section in CsvSection::ALL {
            assert_eq!(CsvSection::from_name(section.name()), Some(*section));
            let mut columns = section.columns();
            columns.sort_unstable();
            assert!(columns.windows(2).all(|two| two[0] != two[1] && !two[0].is_empty()), "{section:?}");
        }
        assert_eq!(CsvSection::ALL.first(), Some(&CsvSection::default()));
    }
}
