//! Options of Python's functions, as the library takes them.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use rdblens::rows::{PolicyConditions, RowConditions};
use rdblens::{
    Allocator, AtDamage, Bytes, Error, Glob, InputCheck, Kind, MaskKey, Millis, NamedReport, Plan, PolicySource,
    ReadPlan, Result, Secret, Server, WhatIf, parse_regex,
};

/// Options of all functions, by name. Python's half gives each of them a value; `None` stands for the default.
#[derive(Debug, Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    db: Option<Vec<u64>>,
    types: Option<Vec<String>>,
    #[pyo3(item("match"))]
    matching: Option<Vec<String>>,
    regex: Option<Vec<String>>,
    no_expired: bool,
    limit: Option<u64>,
    at: Option<i64>,
    server: Option<String>,
    server_config: Option<Vec<(String, String)>>,
    storage_options: Option<Vec<(String, String)>>,
    allocator: Option<String>,
    separators: Option<Vec<String>>,
    salvage: bool,
    allow_same: bool,
    checksum: bool,
    mmap: bool,
    threads: usize,
    temp_dir: Option<PathBuf>,
    policy: Option<String>,
    top: Option<usize>,
    depth: Option<usize>,
    min_share: Option<f64>,
    what_if: Option<Vec<String>>,
    maxmemory: Option<u64>,
    maxmemory_policy: Option<String>,
    inspect_values: bool,
    now: Option<i64>,
    baseline: Option<PathBuf>,
    mask: bool,
    mask_key: Option<Vec<u8>>,
    patterns: Option<Vec<String>>,
    breaking: Option<Vec<String>>,
    owners: Option<Vec<String>>,
}

impl Options {
    /// Returns how inputs are read.
    pub fn read(&self) -> Result<ReadPlan> {
        let mut plan = ReadPlan::new(self.temp_dir.clone().unwrap_or_else(std::env::temp_dir));
        let (globs, regexes) = (self.matching.iter().flatten(), self.regex.iter().flatten());
        plan.selection.databases = self.db.clone().unwrap_or_default();
        plan.selection.kinds = self.types.iter().flatten().map(|name| kind(name)).collect::<Result<_>>()?;
        plan.selection.match_globs = globs.map(|glob| Glob::new(glob)).collect::<Result<_>>()?;
        plan.selection.regexes = regexes.map(|regex| parse_regex(regex)).collect::<Result<_>>()?;
        plan.selection.no_expired = self.no_expired;
        plan.limit = self.limit;
        plan.at = self.at.map(Millis);
        plan.server = self.server.as_deref().map(Server::parse).transpose()?;
        plan.allocator = self.allocator.as_deref().map(Allocator::parse).transpose()?.unwrap_or_default();
        for (name, value) in self.server_config.iter().flatten() {
            plan.config.set(name, value)?;
        }
        for (name, value) in self.storage_options.iter().flatten() {
            plan.stores.set(name, value)?;
        }
        if let Some(limit) = self.maxmemory {
            plan.config.set("maxmemory", &limit.to_string())?;
        }
        if let Some(policy) = &self.maxmemory_policy {
            plan.config.set("maxmemory-policy", policy)?;
        }
        plan.what_if = self.what_if.iter().flatten().map(|text| WhatIf::parse(text)).collect::<Result<_>>()?;
        if let Some(separators) = &self.separators {
            plan.separators.clone_from(separators);
        }
        plan.damage = if self.salvage { AtDamage::Salvage } else { AtDamage::Stop };
        plan.inputs = if self.allow_same { InputCheck::None } else { InputCheck::Shards };
        plan.checksum = self.checksum;
        plan.open.mmap = self.mmap;
        plan.threads = self.threads;
        Ok(plan)
    }

    /// Returns the plan of a report.
    pub fn report(&self) -> Result<Plan> {
        let usual = Plan::new(self.read()?);
        Ok(Plan {
            top: self.top.unwrap_or(usual.top),
            rows: self.top.unwrap_or(usual.rows),
            depth: self.depth.unwrap_or(usual.depth),
            min_share: self.min_share.unwrap_or(usual.min_share),
            policy: PolicySource::open(self.policy.as_deref().unwrap_or("default"))?,
            mask: self.mask_key(),
            inspect_values: self.inspect_values,
            now: self.now(),
            baseline: self.baseline()?.map(Arc::new),
            ..usual
        })
    }

    /// Returns the plan of rows, and the conditions on them.
    pub fn rows(&self) -> Result<(Plan, RowConditions)> {
        let mut read = self.read()?;
        if read.inputs == InputCheck::Shards {
            // Each row names its file, so rows of several nights are told apart.
            read.inputs = InputCheck::Copies;
        }
        let asks = self.policy.is_some() || self.breaking.is_some() || self.owners.is_some();
        let conditions = RowConditions {
            patterns: self.patterns.clone().unwrap_or_default(),
            policy: asks.then(|| PolicyConditions {
                breaking: self.breaking.clone(),
                owners: self.owners.clone().unwrap_or_default(),
                ..PolicyConditions::default()
            }),
        };
        let usual = if asks { "default" } else { "none" };
        let policy = PolicySource::open(self.policy.as_deref().unwrap_or(usual))?;
        let plan = Plan { policy, mask: self.mask_key(), inspect_values: self.inspect_values, ..Plan::new(read) };
        Ok((plan, conditions))
    }

    /// Returns the key for masking names, if they are to be masked.
    pub fn mask_key(&self) -> Option<MaskKey> {
        let own = || self.mask_key.as_deref().map(|key| MaskKey::Own(Secret::from_bytes(key)));
        self.mask.then(|| own().unwrap_or(MaskKey::OfSnapshot))
    }

    /// Returns the current time, for rules about the age of a snapshot.
    pub fn now(&self) -> Option<Millis> {
        self.now.map(Millis)
    }

    /// Reads the earlier report.
    pub fn baseline(&self) -> Result<Option<NamedReport>> {
        self.baseline.as_ref().map(NamedReport::open).transpose()
    }

    /// Returns the levels of the prefix tree and the least share of a prefix, where they are given.
    pub fn prefixes(&self) -> (Option<usize>, Option<f64>) {
        (self.depth, self.min_share)
    }

    /// Returns the rows of each list, and the memory limit of the server.
    pub fn comparison(&self) -> rdblens::ComparePlan {
        rdblens::ComparePlan { top: self.top.unwrap_or(Plan::USUAL_TOP), maxmemory: self.maxmemory.map(Bytes) }
    }
}

fn kind(name: &str) -> Result<Kind> {
    let names = Kind::ALL.map(Kind::name).join(", ");
    let known = Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
    known.ok_or_else(|| Error::usage(format!("no type \"{name}\"")).with_hint(format!("the types are {names}")))
}
