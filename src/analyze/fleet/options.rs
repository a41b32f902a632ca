//! Options of a run as a plan holds them.

use crate::analyze::plan::{AtDamage, BigLimits, InputCheck, Plan, PolicySource, ReadPlan, SlotCounts};
use crate::analyze::select::{Glob, Selection, parse_regex};
use crate::error::{Error, Result};
use crate::memory::{Allocator, Server, ServerConfig, WhatIf};
use crate::report::fleet::FleetOptions;

/// Returns the options of a run that its figures depend on. Fails if parts cannot know one of them.
pub fn options_of(plan: &Plan) -> Result<FleetOptions> {
    // Names every field, so that a new option cannot be left out.
    let Plan {
        read,
        top,
        rows,
        big,
        depth: _,
        min_share: _,
        policy,
        mask,
        inspect_values,
        now: _,
        baseline,
        earlier,
        files: _,
        slots,
        pattern_rows: _,
    } = plan;
    let ReadPlan {
        open: _,
        stores: _,
        selection,
        limit,
        at,
        server,
        allocator,
        config,
        what_if,
        checksum,
        damage,
        threads: _,
        division: _,
        separators,
        inputs,
        shown_as: _,
    } = read;
    let Selection { databases, kinds, match_globs, regexes, no_expired } = selection;
    let BigLimits { string_bytes, elements, memory } = big;
    if limit.is_some() {
        return Err(Error::usage("--limit counts keys in file order over all files, which parts cannot do")
            .with_hint("leave it out; --match, --type and --db select keys in each part"));
    }
    if mask.is_some() || baseline.is_some() || !earlier.is_empty() {
        return Err(Error::usage("names are masked, and earlier reports compared with, when parts are merged")
            .with_hint("give --mask, --baseline and --earlier to rdblens merge"));
    }
    let (policy, policy_text) = match policy {
        PolicySource::Preset(name) => (name.clone(), None),
        PolicySource::File { name, text } => (name.clone(), Some(text.clone())),
    };
    Ok(FleetOptions {
        policy,
        policy_text,
        databases: databases.clone(),
        types: kinds.clone(),
        match_globs: match_globs.iter().map(|glob| glob.source().to_owned()).collect(),
        regexes: regexes.iter().map(|regex| regex.as_str().to_owned()).collect(),
        no_expired: *no_expired,
        at: *at,
        server: server.map(Server::flag),
        allocator: allocator.name().to_owned(),
        server_config: config.given(),
        what_if: what_if.iter().map(|what_if| what_if.text().to_owned()).collect(),
        checksum: *checksum,
        salvage: *damage == AtDamage::Salvage,
        separators: separators.clone(),
        inputs: inputs.name().to_owned(),
        top: *top as u64,
        rows: *rows as u64,
        big_string: *string_bytes,
        big_elements: *elements,
        big_memory: *memory,
        inspect_values: *inspect_values,
        slots: *slots == SlotCounts::Always,
    })
}

/// Returns a plan with these options; `how` says how files are read.
pub fn plan_of(options: &FleetOptions, how: &ReadPlan) -> Result<Plan> {
    let unknown = |what: &str, text: &str| Error::usage(format!("the plan names {what} {text:?}, which is not known"));
    let mut config = ServerConfig::default();
    for (name, value) in &options.server_config {
        config.set(name, value)?;
    }
    let allocator = Allocator::ALL.into_iter().find(|allocator| allocator.name() == options.allocator);
    let inputs = InputCheck::ALL.into_iter().find(|check| check.name() == options.inputs);
    let read = ReadPlan {
        open: how.open.clone(),
        selection: Selection {
            databases: options.databases.clone(),
            kinds: options.types.clone(),
            match_globs: options.match_globs.iter().map(|glob| Glob::new(glob)).collect::<Result<_>>()?,
            regexes: options.regexes.iter().map(|regex| parse_regex(regex)).collect::<Result<_>>()?,
            no_expired: options.no_expired,
        },
        limit: None,
        at: options.at,
        server: options.server.as_deref().map(Server::parse).transpose()?,
        allocator: allocator.ok_or_else(|| unknown("the allocator", &options.allocator))?,
        config,
        what_if: options.what_if.iter().map(|text| WhatIf::parse(text)).collect::<Result<_>>()?,
        checksum: options.checksum,
        damage: if options.salvage { AtDamage::Salvage } else { AtDamage::Stop },
        threads: how.threads,
        division: how.division,
        separators: options.separators.clone(),
        inputs: inputs.ok_or_else(|| unknown("the check of inputs", &options.inputs))?,
        stores: how.stores.clone(),
        shown_as: how.shown_as.clone(),
    };
    let policy = match &options.policy_text {
        None => PolicySource::Preset(options.policy.clone()),
        Some(text) => PolicySource::File { name: options.policy.clone(), text: text.clone() },
    };
    Ok(Plan {
        top: usize::try_from(options.top).unwrap_or(usize::MAX),
        rows: usize::try_from(options.rows).unwrap_or(usize::MAX),
        big: BigLimits { string_bytes: options.big_string, elements: options.big_elements, memory: options.big_memory },
        policy,
        inspect_values: options.inspect_values,
        slots: if options.slots { SlotCounts::Always } else { SlotCounts::IfUsed },
        ..Plan::new(read)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Kind;
    use crate::units::{Bytes, Millis};

    #[test]
    fn options_are_read_as_they_were_given() {
        let how = ReadPlan::new(std::env::temp_dir());
        let mut plan = Plan::new(how.clone());
        assert_eq!(
            options_of(&plan_of(&options_of(&plan).unwrap(), &how).unwrap()).unwrap(),
            options_of(&plan).unwrap()
        );
        plan.read.selection = Selection {
            databases: vec![0, 7],
            kinds: vec![Kind::Zset],
            match_globs: vec![Glob::new(r"a\x00[^b]*?").unwrap()],
            regexes: vec![parse_regex(r"\d+$").unwrap()],
            no_expired: true,
        };
        plan.read.at = Some(Millis(-7));
        plan.read.allocator = Allocator::Glibc;
        for (name, value) in [
            ("cluster-enabled", "no"),
            ("list-max-listpack-size", "-4"),
            ("maxmemory", "4gb"),
            ("maxmemory-policy", "allkeys-lru"),
            ("hash-max-listpack-entries", "9"),
        ] {
            plan.read.config.set(name, value).unwrap();
        }
        plan.read.what_if = vec![WhatIf::parse("valkey-8.1,jemalloc-q16").unwrap()];
        (plan.read.checksum, plan.read.damage, plan.read.inputs) = (false, AtDamage::Salvage, InputCheck::Copies);
        plan.read.separators = vec![":".to_owned(), "/".to_owned()];
        (plan.top, plan.rows, plan.slots, plan.inspect_values) = (3, 4, SlotCounts::Always, true);
        plan.big = BigLimits { string_bytes: Some(1), elements: Some(2), memory: Some(Bytes(3)) };
        plan.policy = PolicySource::File { name: "p.toml".to_owned(), text: "extends = \"default\"\n".to_owned() };
        let options = options_of(&plan).unwrap();
        let read = plan_of(&options, &how).unwrap();
        assert_eq!(options_of(&read).unwrap(), options);
        assert_eq!(read.read.config, plan.read.config);
        assert_eq!(read.read.selected(), plan.read.selected());
    }

    #[test]
    fn every_server_is_read_as_it_was_given() {
        let how = ReadPlan::new(std::env::temp_dir());
        for name in Server::names().into_iter().chain(["redis-7.2.6".to_owned()]) {
            let mut plan = Plan::new(how.clone());
            plan.read.server = Some(Server::parse(&name).unwrap());
            let read = plan_of(&options_of(&plan).unwrap(), &how).unwrap();
            assert_eq!(read.read.server, plan.read.server, "{name}");
        }
    }

    #[test]
    fn what_parts_cannot_know_is_refused() {
        let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
        plan.read.limit = Some(1);
        assert!(options_of(&plan).unwrap_err().to_string().contains("--limit"));
    }
}
