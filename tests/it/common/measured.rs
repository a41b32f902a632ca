//! Tables of docs/memory-model.md: share of keys whose memory is exact, by dump, and by server and encoding.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Measurements on one dump.
pub struct MeasuredDump {
    /// Name of the folder.
    pub name: String,
    /// Family and release line of the server that loaded it.
    pub server: String,
    /// Number of keys.
    pub keys: usize,
    /// Keys with a deterministic figure and how many of those are exact, by type and encoding.
    pub exact: BTreeMap<String, (usize, usize)>,
    /// Relative error of the sum over all other keys.
    pub drift: f64,
    /// True if the allocator's figures are random.
    pub approximate: bool,
}

/// Measurements on all dumps, by name.
#[derive(Default)]
pub struct Tables {
    dumps: Vec<MeasuredDump>,
}

/// Returns the share of hits; 1 for no keys.
pub fn share((keys, hits): (usize, usize)) -> f64 {
    if keys == 0 { 1.0 } else { hits as f64 / keys as f64 }
}

fn sum<'a>(cells: impl IntoIterator<Item = &'a (usize, usize)>) -> (usize, usize) {
    cells.into_iter().fold((0, 0), |(keys, hits), (k, h)| (keys + k, hits + h))
}

/// Returns a cell: exact keys (if not all are), and all with a deterministic figure.
fn cell(exact: Option<&(usize, usize)>) -> String {
    match exact {
        Some((keys, hits)) if keys == hits => format!(" {keys} |"),
        Some((keys, hits)) => format!(" {hits}/{keys} |"),
        None => " |".to_owned(),
    }
}

impl Tables {
    /// Adds a dump.
    pub fn add(&mut self, dump: MeasuredDump) {
        self.dumps.push(dump);
    }

    /// Returns a table with one row per dump.
    pub fn by_dump(&self) -> String {
        let mut table =
            "| dump | keys | not random | exact | random, sum | inexact |\n|---|---|---|---|---|---|\n".to_owned();
        for dump in &self.dumps {
            let exact = sum(dump.exact.values());
            if exact.0 == 0 {
                continue;
            }
            let missed = dump.exact.iter().filter(|(_, (keys, hits))| keys != hits);
            let missed: Vec<String> =
                missed.map(|(kind, (keys, hits))| format!("{kind} {}/{keys}", keys - hits)).collect();
            let (name, keys, fixed) = (&dump.name, dump.keys, exact.0);
            let (hit, lots) = (share(exact) * 100.0, dump.drift * 100.0);
            writeln!(table, "| {name} | {keys} | {fixed} | {hit:.2} % | {lots:.2} % | {} |", missed.join(", "))
                .unwrap();
        }
        table
    }

    /// Returns a table with one row per type and encoding and one column per server: exact keys (if not all are), and
    /// all with a deterministic figure.
    pub fn by_server(&self) -> String {
        let mut cells: BTreeMap<&str, BTreeMap<&str, (usize, usize)>> = BTreeMap::new();
        let mut servers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for dump in self.dumps.iter().filter(|dump| !dump.approximate) {
            for (kind, exact) in &dump.exact {
                let cell = cells.entry(kind).or_default().entry(&dump.server).or_default();
                *cell = sum([&*cell, exact]);
                let column = servers.entry(&dump.server).or_default();
                *column = sum([&*column, exact]);
            }
        }
        let mut table = "| encoding |".to_owned();
        servers.keys().for_each(|server| write!(table, " {server} |").unwrap());
        table.push_str("\n|---|");
        servers.keys().for_each(|_| table.push_str("---|"));
        for (kind, row) in &cells {
            write!(table, "\n| {kind} |").unwrap();
            for server in servers.keys() {
                table.push_str(&cell(row.get(server)));
            }
        }
        table.push_str("\n| all |");
        servers.values().for_each(|exact| write!(table, " {:.2} % |", share(*exact) * 100.0).unwrap());
        table.push('\n');
        table
    }

    /// Returns a table with one row per dump and one column per type and encoding, in the cells of [`Tables::by_server`].
    pub fn by_dump_and_encoding(&self) -> String {
        let kinds: BTreeSet<&str> = self.dumps.iter().flat_map(|dump| dump.exact.keys()).map(String::as_str).collect();
        let mut table = "| dump |".to_owned();
        kinds.iter().for_each(|kind| write!(table, " {kind} |").unwrap());
        table.push_str("\n|---|");
        kinds.iter().for_each(|_| table.push_str("---|"));
        for dump in self.dumps.iter().filter(|dump| !dump.exact.is_empty()) {
            write!(table, "\n| {} |", dump.name).unwrap();
            kinds.iter().for_each(|&kind| table.push_str(&cell(dump.exact.get(kind))));
        }
        table.push('\n');
        table
    }

    /// Compares the tables with those in the document if they are of the same dumps, or renews them there.
    pub fn compare_with_document(&self) {
        let path = document();
        let text = std::fs::read_to_string(&path).unwrap();
        let (by_dump, by_server) = (self.by_dump(), self.by_server());
        let renewed = replaced(&replaced(&text, "by dump", &by_dump), "by server", &by_server);
        let (there, here) = (names(between(&text, "by dump")), names(&by_dump));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            if here.is_superset(&there) {
                std::fs::write(path, renewed).unwrap();
            }
        } else if here == there {
            assert!(text == renewed, "docs/memory-model.md shows other figures: renew it with UPDATE_GOLDEN=1");
        }
    }
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/memory-model.md")
}

/// Returns the first column of a table.
fn names(table: &str) -> BTreeSet<&str> {
    table.lines().skip(2).filter_map(|line| line.split('|').nth(1)).map(str::trim).collect()
}

fn marks(name: &str) -> (String, String) {
    (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"))
}

fn between<'t>(text: &'t str, name: &str) -> &'t str {
    let (begin, end) = marks(name);
    let start = text.find(&begin).expect("the document has the mark") + begin.len();
    let len = text[start..].find(&end).expect("the document has the end mark");
    &text[start..start + len]
}

fn replaced(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = marks(name);
    text.replace(&format!("{begin}{}{end}", between(text, name)), &format!("{begin}{table}{end}"))
}
