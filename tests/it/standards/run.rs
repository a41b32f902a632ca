//! Runs a case through the whole program and compares the rules it breaks with those of the page.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;
use tempfile::TempDir;

use super::case::{Case, Keys};
use super::page::Check;
use super::write;
use crate::common::program::{rdblens, run};

/// Rules that a run evaluated, and those that were broken: severity and id.
struct Verdict {
    checked: BTreeSet<String>,
    broken: BTreeSet<(String, String)>,
}

/// Side of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Passes,
    Fails,
}

/// Returns what is wrong with a case: rules broken that should not be, or not broken that should.
pub fn fault(preset: &str, check: &Check, case: &Case, side: Side) -> Option<String> {
    let verdict = match verdict(preset, case) {
        Ok(verdict) => verdict,
        Err(error) => return Some(format!("no report: {error}")),
    };
    let of_row = (check.severity.clone(), check.rule.clone());
    if !verdict.checked.contains(&check.rule) {
        return Some(format!("{} was not evaluated", check.rule));
    }
    let mut wanted: BTreeSet<_> = case.also.iter().cloned().collect();
    if side == Side::Fails {
        wanted.insert(of_row.clone());
    }
    // Hints are compared only if the page names them.
    let named = |broken: &&(String, String)| broken.0 != "hint" || **broken == of_row || wanted.contains(*broken);
    let broken: BTreeSet<_> = verdict.broken.iter().filter(named).cloned().collect();
    (broken != wanted).then(|| format!("breaks {broken:?} instead of {wanted:?}"))
}

fn verdict(preset: &str, case: &Case) -> Result<Verdict, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = vec!["--policy".to_owned(), policy(preset, &case.policy, &folder)];
    arguments.extend(case.flags.iter().cloned());
    if !case.earlier.is_empty() {
        let earlier = analyze(&files(&case.earlier, "earlier", &folder), &["--policy".to_owned(), "none".to_owned()])?;
        let path = folder.path().join("earlier.json");
        fs::write(&path, earlier).unwrap();
        arguments.extend(["--baseline".to_owned(), path.display().to_string()]);
    }
    let inputs = files(&case.keys, "now", &folder);
    if case.cut {
        let bytes = fs::read(&inputs[0]).unwrap();
        fs::write(&inputs[0], &bytes[..bytes.len() - 12]).unwrap();
    }
    let report: Json = serde_json::from_slice(&analyze(&inputs, &arguments)?).map_err(|error| error.to_string())?;
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let list = |name: &str| report["findings"][name].as_array().unwrap().clone();
    Ok(Verdict {
        checked: list("checked").iter().map(text).collect(),
        broken: list("list").iter().map(|finding| (text(&finding["severity"]), text(&finding["rule"]))).collect(),
    })
}

/// Returns the preset, or the path of a policy file that extends it.
fn policy(preset: &str, lines: &str, folder: &TempDir) -> String {
    if lines.is_empty() {
        return preset.to_owned();
    }
    let path = folder.path().join("team.toml");
    fs::write(&path, format!("extends = \"{preset}\"\n{lines}")).unwrap();
    path.display().to_string()
}

fn files(keys: &[Keys], name: &str, folder: &TempDir) -> Vec<String> {
    let named = write::files(keys).into_iter().enumerate();
    named
        .map(|(number, bytes)| {
            let path = folder.path().join(format!("{name}-{number}.rdb"));
            fs::write(&path, bytes).unwrap();
            path.display().to_string()
        })
        .collect()
}

/// Returns the report as JSON, or what the program says instead.
fn analyze(inputs: &[String], arguments: &[String]) -> Result<Vec<u8>, String> {
    let output = run(rdblens().arg("analyze").args(inputs).args(["--quiet", "--format", "json"]).args(arguments));
    if output.stdout.is_empty() {
        Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " "))
    } else {
        Ok(output.stdout)
    }
}
