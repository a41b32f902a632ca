//! Prefixes and patterns, by the rules of directories and globs.

use std::io::Read;
use std::sync::Arc;

use glob::Pattern;

use super::address::{Address, PATTERNS};
use super::fetch::{Facts, Object};
use super::list::{APPEND_ONLY, Depth, list, lists_nothing};
use super::store::Store;
use crate::error::{Error, ErrorKind, Result};
use crate::input::resolve::multi_part::{commands_only, parse_manifest};
use crate::input::resolve::shards::{SUMMARY, shard_number};
use crate::input::resolve::{ENDINGS, is_glob};
use crate::input::{Input, Location};
use crate::wording::wording;

/// Objects of a prefix by their keys, sorted.
type Entries = Vec<(String, Facts)>;

/// Returns the part of a key after its last `/`.
fn name_of(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

fn has_ending(key: &str, ending: &str) -> bool {
    let name = name_of(key);
    name.len() > ending.len() && name.ends_with(ending)
}

fn is_left_over(key: &str) -> bool {
    name_of(key).starts_with("temp-")
}

/// Returns the input for an object.
pub fn input(object: Object) -> Input {
    Input::new(object.address().to_string(), Location::Object(Box::new(object)))
}

/// Resolves an address that names an object, a prefix or a pattern.
pub fn resolve(address: Address, store: &Arc<Store>) -> Result<Vec<Input>> {
    if address.scheme.is_web() {
        if address.key.is_empty() || address.key.ends_with('/') || address.key.contains('*') {
            return Err(lists_nothing());
        }
        return Object::find(address, store)?.map(|object| vec![input(object)]);
    }
    if is_glob(&address.key) {
        return matching(&address, store);
    }
    if address.key.is_empty() || address.key.ends_with('/') {
        let inputs = folder(&address, store)?;
        return if inputs.is_empty() { Err(nothing_here()) } else { Ok(inputs) };
    }
    match Object::find(address.clone(), store)? {
        Ok(object) if has_ending(&address.key, ".manifest") => {
            let prefix = address.with_key(folder_of(&address.key).to_owned());
            let listed = list(store, &prefix, Depth::Folder, |_| true)?;
            Ok(vec![multi_part(&object, &listed.entries)?])
        }
        Ok(object) => {
            let mut inputs = vec![input(object)];
            inputs.extend(shards_of(&address, store)?);
            Ok(inputs)
        }
        Err(missing) => {
            let inputs = folder(&address.with_key(format!("{}/", address.key)), store)?;
            if inputs.is_empty() { Err(missing) } else { Ok(inputs) }
        }
    }
}

/// Returns the part of a key up to its last `/`.
fn folder_of(key: &str) -> &str {
    key.rfind('/').map_or("", |at| &key[..=at])
}

fn known(address: &Address, store: &Arc<Store>, key: String, facts: Facts) -> Result<Object> {
    Object::known(address.with_key(key), store, facts)
}

/// Returns the objects that match a pattern, or the one that has it as its name.
fn matching(address: &Address, store: &Arc<Store>) -> Result<Vec<Input>> {
    let pattern = Pattern::new(&address.key).map_err(|error| {
        Error::new(ErrorKind::Unreadable(wording!("not a valid glob: {error}", "通配符有误：{error}")))
    });
    let matches =
        |key: &str| pattern.as_ref().is_ok_and(|pattern| !is_left_over(key) && pattern.matches_with(key, PATTERNS));
    let start = address.key.find(['*', '?', '[']).unwrap_or(address.key.len());
    let (literal, rest) = address.key.split_at(start);
    let depth = if rest.contains('/') { Depth::All } else { Depth::Folder };
    let prefix = address.with_key(literal.to_owned());
    let mut found = list(store, &prefix, depth, |key| key == address.key || matches(key))?.entries;
    if found.iter().any(|(key, _)| *key == address.key) {
        found.retain(|(key, _)| *key == address.key);
    } else {
        pattern?;
    }
    if found.is_empty() {
        let nothing = ErrorKind::Unreadable(wording!("no matching object", "没有匹配的对象"));
        return Err(Error::new(nothing).with_remedy(wording!(
            "check bucket and prefix; * and ? do not match a /, ** does",
            "请检查存储桶与前缀；* 与 ? 不匹配 /，** 匹配"
        )));
    }
    found.into_iter().map(|(key, facts)| known(address, store, key, facts).map(input)).collect()
}

/// Returns the snapshots right below a prefix; if there are manifests, those that they name.
fn folder(prefix: &Address, store: &Arc<Store>) -> Result<Vec<Input>> {
    let listed = list(store, prefix, Depth::Folder, |key| !is_left_over(key))?;
    let (entries, has_append_only) = (listed.entries, listed.has_append_only);
    let manifests = entries.iter().filter(|(key, _)| has_ending(key, ".manifest"));
    let bases: Vec<Input> = manifests
        .map(|(key, facts)| multi_part(&known(prefix, store, key.clone(), facts.clone())?, &entries))
        .collect::<Result<_>>()?;
    if !bases.is_empty() {
        return Ok(bases);
    }
    let mut snapshots = entries;
    snapshots.retain(|(key, _)| ENDINGS.iter().any(|ending| has_ending(key, ending)));
    if has_append_only {
        let below = prefix.with_key(format!("{}{APPEND_ONLY}/", prefix.key));
        if snapshots.iter().any(|(key, _)| name_of(key) == "dump.rdb") {
            return Err(two_forms(prefix, &below));
        }
        if snapshots.is_empty() {
            return folder(&below, store);
        }
    }
    snapshots.into_iter().map(|(key, facts)| known(prefix, store, key, facts).map(input)).collect()
}

/// Returns the error for the directory of a server with two forms of its data, as of a local directory.
fn two_forms(prefix: &Address, below: &Address) -> Error {
    let dump = prefix.with_key(format!("{}dump.rdb", prefix.key));
    let what = ErrorKind::Unreadable(wording!(
        "{dump} and {below} are the data of one server in two forms: its keys would count twice",
        "{dump} 和 {below} 是同一服务器数据的两种形式，key 会重复计算"
    ));
    Error::new(what).with_remedy(wording!("give one of them", "请只指定其中之一"))
}

fn nothing_here() -> Error {
    let what = ErrorKind::NotASnapshot(wording!("no snapshot under this prefix", "该前缀下没有快照"));
    Error::new(what).with_remedy(wording!(
        "looked for *{} and *.manifest directly below it; use a pattern such as **/*.rdb to search deeper",
        "查找的是 *{} 和 *.manifest，不含更深的层级；可用 **/*.rdb 之类的通配符",
        ENDINGS.join(", *")
    ))
}

/// Returns the shards of a Dragonfly snapshot beside its summary.
fn shards_of(summary: &Address, store: &Arc<Store>) -> Result<Vec<Input>> {
    let Some(snapshot) = summary.key.strip_suffix(SUMMARY) else { return Ok(Vec::new()) };
    let name = name_of(snapshot);
    let is_shard = |key: &str| shard_number(name_of(key), name).is_some();
    let found = list(store, &summary.with_key(snapshot.to_owned()), Depth::Folder, is_shard)?.entries;
    found.into_iter().map(|(key, facts)| known(summary, store, key, facts).map(input)).collect()
}

/// Returns the base file that a manifest names, with the total size of the incremental files, all of which are among `entries`.
fn multi_part(manifest: &Object, entries: &Entries) -> Result<Input> {
    let address = manifest.address();
    let parsed = parse_manifest(manifest.reader().by_ref()).map_err(|error| error.in_file(&address.to_string()))?;
    let missing = |name: &str| {
        let beside = address.with_key(format!("{}{name}", folder_of(&address.key)));
        let what = ErrorKind::Unreadable(wording!("no such object", "对象不存在"));
        Error::new(what).in_file(&beside.to_string()).with_remedy(wording!(
            "the manifest names it: is the copy complete?",
            "清单文件中列有该文件：拷贝是否完整？"
        ))
    };
    let find = |name: &str| {
        let key = format!("{}{name}", folder_of(&address.key));
        let at = entries.binary_search_by(|entry| entry.0.cmp(&key)).ok();
        at.and_then(|at| entries.get(at)).ok_or_else(|| missing(name))
    };
    let base = parsed.base.filter(|base| !base.ends_with(".base.aof")).ok_or_else(|| {
        commands_only(wording!("the manifest names no snapshot, only commands", "清单文件中没有快照，只有命令"))
            .in_file(&address.to_string())
    })?;
    let (key, facts) = find(&base)?;
    let mut following = 0u64;
    for increment in &parsed.increments {
        following = following.saturating_add(find(increment)?.1.size);
    }
    let base = known(address, &manifest.store, key.clone(), facts.clone())?;
    Ok(Input { following_bytes: Some(following), multi_part: true, ..input(base) })
}
