//! `rdblens rules`: lists and explains rules.

use std::ffi::OsStr;
use std::io::Write;

use super::args::{RulesArgs, TextFormat};
use super::output::{Outlet, escapes};
use super::sources::Reads;
use super::{ExitStatus, plan, written};
use crate::error::{Error, Result};
use crate::pattern::classify::Classifier;
use crate::pattern::segment::Separators;
use crate::policy::file::PatternSyntax;
use crate::policy::registry::{self, RULES};
use crate::policy::rule::Rule;
use crate::policy::{Policy, presets};
use crate::render::rules;

/// Lists the rules, or explains one.
pub fn run(args: &RulesArgs) -> Result<ExitStatus> {
    let rule = args.id.as_deref().map(find).transpose()?;
    let separators = Separators::new(&args.names.separators)?;
    let policy = args.policy.as_deref().map(|name| policy(name, &separators)).transpose()?;
    let presets = presets::standards()?;
    let mut out = Outlet::of(args.sources()).open(None)?;
    let table = args.screen.table(&out, None, args.lang.lang());
    out.set_escapes(escapes(args.format));
    let printed = match (args.format, rule, &policy) {
        (TextFormat::Json, ..) => {
            let rules: Vec<&Rule> = match (rule, &policy) {
                (Some(rule), _) => vec![rule],
                (None, None) => RULES.iter().collect(),
                (None, Some(policy)) => {
                    RULES.iter().filter(|rule| rules::severities(policy, rule.meta.id).is_some()).collect()
                }
            };
            let policies = policy.as_ref().map_or(&presets[..], std::slice::from_ref);
            serde_json::to_writer_pretty(&mut out, &rules::json(&rules, policies, &presets))
                .map_err(Into::into)
                .and_then(|()| out.write_all(b"\n"))
        }
        (TextFormat::Text, Some(rule), policy) => rules::explain(rule, &presets, policy.as_ref(), table, &mut out),
        (TextFormat::Text, None, Some(policy)) => rules::in_force(policy, table, &mut out),
        (TextFormat::Text, None, None) => rules::all(&presets, table, &mut out),
    };
    written(printed.and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}

fn find(id: &str) -> Result<&'static Rule> {
    registry::find(id).ok_or_else(|| {
        let near = crate::near::did_you_mean(&registry::suggestions(id));
        Error::usage(format!("unknown rule {id:?}")).with_hint(format!("{near}`rdblens rules` lists all rules"))
    })
}

fn policy(name: &OsStr, separators: &Separators) -> Result<Policy> {
    let classifier = Classifier::new(separators.clone());
    plan::policy_source(name)?.load(PatternSyntax { separators: separators.as_bytes(), classifier: &classifier })
}
