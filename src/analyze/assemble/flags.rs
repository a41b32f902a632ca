//! Flags of a run, so that commands that a report shows give the figures that it has.

use crate::analyze::plan::{AtDamage, BigLimits, MaskKey, Plan, ReadPlan};
use crate::memory::{Allocator, Server};
use crate::report::Prefixes;

/// Returns the flags that change figures, in words, but for those that a report names elsewhere: policy, selection, separators,
/// server settings, time and inputs.
pub fn flags(plan: &Plan) -> Vec<String> {
    // Names every field, so that a new option cannot be left out.
    let Plan {
        read,
        top: _,
        pattern_rows: _,
        rows: _,
        big: BigLimits { string_bytes, elements, memory },
        depth,
        min_share,
        policy: _,
        mask,
        inspect_values,
        now,
        baseline: _,
        earlier: _,
        files,
        slots: _,
    } = plan;
    let ReadPlan {
        open: _,
        stores: _,
        selection: _,
        limit: _,
        at: _,
        server,
        allocator,
        config: _,
        what_if,
        checksum,
        damage,
        threads: _,
        division: _,
        separators: _,
        inputs: _,
        shown_as: _,
    } = read;
    let mut flags = Vec::new();
    let mut add = |name: &str, value: Option<String>| flags.extend(value.map(|value| format!("--{name} {value}")));
    add("server", server.map(Server::flag));
    add("allocator", (*allocator != Allocator::default()).then(|| allocator.name().to_owned()));
    for ask in what_if.iter().filter(|ask| !ask.is_implied()) {
        add("what-if", Some(ask.text().to_owned()));
    }
    add("big-string", string_bytes.map(|limit| limit.to_string()));
    add("big-elements", elements.map(|limit| limit.to_string()));
    add("big-memory", memory.map(|limit| limit.0.to_string()));
    add("depth", (*depth != usize::from(Prefixes::USUAL_DEPTH)).then(|| depth.to_string()));
    add("min-share", (*min_share != Prefixes::USUAL_MIN_SHARE).then(|| min_share.to_string()));
    add("now", now.and_then(|now| jiff::Timestamp::from_millisecond(now.0).ok()).map(|now| now.to_string()));
    flags.extend(files.iter().cloned());
    let switches = [
        ("--salvage", *damage == AtDamage::Salvage),
        ("--no-checksum", !checksum),
        ("--inspect-values", *inspect_values),
        ("--mask", mask.is_some()),
        // The report tells nothing of the key, not even its file.
        ("--mask-key FILE", matches!(mask, Some(MaskKey::Own(_)))),
    ];
    flags.extend(switches.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned()));
    flags
}
