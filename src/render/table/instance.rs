//! What the whole server takes, beside what it said of itself.

use std::io;

use super::page::Page;
use crate::render::human;
use crate::report::{Instance, Report, Tables};
use crate::units::Bytes;

/// Keys, tables, and what is between them and `used-mem`.
pub(super) fn instance(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let Some(instance) = &report.instance else { return Ok(()) };
    page.title("Instance")?;
    page.text(&format!("{} in all{}: {}.", bytes(instance.total), servers(report), parts(instance)))?;
    if let Some(after_load) = instance.after_load {
        page.text(&format!("{} right after loading, until tables that grew are moved.", bytes(after_load)))?;
    }
    page.text(&format!("MEMORY STATS counts {}; dataset {}.", overhead(&instance.overhead), signed(instance.dataset)))?;
    match (instance.used_mem, instance.difference) {
        (Some(used), Some(difference)) => page.text(&format!("used-mem was {}{}.", bytes(used), besides(difference))),
        _ => Ok(()),
    }
}

fn bytes(bytes: Bytes) -> String {
    human::bytes(bytes.0)
}

fn signed(bytes: i64) -> String {
    let text = human::bytes(bytes.unsigned_abs());
    if bytes < 0 { format!("-{text}") } else { text }
}

fn servers(report: &Report) -> String {
    match report.source.files.len() {
        0 | 1 => String::new(),
        files => format!(" on {files} servers"),
    }
}

fn parts(instance: &Instance) -> String {
    let size = human::bytes(instance.correction.unsigned_abs());
    let mut parts = vec![format!("keys {} by MEMORY USAGE", bytes(instance.keys))];
    match instance.correction {
        0 => {}
        1.. => parts.push(format!("{size} that the allocator gives beyond that")),
        _ => parts.push(format!("less {size} of it that is over-counting or entries of tables")),
    }
    parts.extend(tables(&instance.tables, "cluster slots"));
    parts.join(", ")
}

fn overhead(overhead: &Tables) -> String {
    format!("as overhead {}", tables(overhead, "slot-to-keys").join(", "))
}

fn tables(tables: &Tables, slots: &str) -> Vec<String> {
    let named = [("main tables", tables.main), ("expires tables", tables.expires), (slots, tables.slots)];
    let there = named.into_iter().filter(|&(name, size)| name == "main tables" || size > Bytes(0));
    there.map(|(name, size)| format!("{name} {}", bytes(size))).collect()
}

/// What used-mem holds beside what a dump tells of.
fn besides(difference: i64) -> String {
    let size = human::bytes(difference.unsigned_abs());
    if difference < 0 {
        return format!(", {size} less: the producer was another server, had other settings or another allocator");
    }
    format!(
        ", {size} more: what a server takes to start, clients, replication backlog, scripts, and room that values and \
         tables had grown into and a restart gives back"
    )
}
