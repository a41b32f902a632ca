//! `docs/servers.md` matches the program and the test data. `UPDATE_GOLDEN=1 cargo test --test it supported::` renews it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use rdblens::internals::memory::{Allocator, Caveat, Model, Server, ServerConfig, WriterTraces};
use rdblens::internals::rdb::header::{Family, NEWEST_REDIS, NEWEST_VALKEY, RdbHeader};

use crate::common::truth::{self, Folder};

const HEAD: &str = "# Supported servers

Which snapshots are read, which memory models exist, and what each was compared with. This page is generated from the program and from
`testdata`; a test fails when it is out of date. `rdblens --version` prints the newest servers and formats of a build.
[memory-model.md](memory-model.md) has the results of the comparisons, over more dumps than the repository holds.
";

/// First version that only Valkey writes.
const FIRST_VALKEY: u32 = 80;
/// Lines whose dumps are in the corpora beside the repository alone.
const ELSEWHERE: [&str; 1] = ["valkey-9.0"];

#[test]
fn the_page_matches_the_program_and_the_test_data() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/servers.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    assert!(std::fs::read_to_string(&path).unwrap() == page, "docs/servers.md: UPDATE_GOLDEN=1 renews it");
}

/// A model without a caveat claims to be as good as the comparisons say, so there must be one.
#[test]
fn only_models_compared_with_whole_dumps_have_no_caveat() {
    let compared: BTreeSet<String> = truth::committed().iter().map(|folder| line_of(&folder.loaded_by())).collect();
    for name in Server::names() {
        let server = Server::parse(&name).unwrap();
        if caveats(server).is_empty() {
            let found = compared.contains(&name) != ELSEWHERE.contains(&name.as_str());
            assert!(found, "{name}: testdata/corpus has no dump of it, or has one now");
        }
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    page += "\n## File formats\n\n| RDB version | written by | figures, if the dump names no server |\n|---|---|---|\n";
    for (family, version) in formats() {
        let server = Server::detect(&RdbHeader { family, version }, WriterTraces::default());
        let writers = server.writers().unwrap().names();
        writeln!(page, "| {version} | {writers} | {} |", server.line_name()).unwrap();
    }
    page += "\nNewer versions are read as far as they consist of known parts.\n";
    page += "\n## Release lines\n\n";
    page += "Compared: dumps of that line in `testdata/corpus`, their keys, and for how many of them the server's `MEMORY USAGE` reply is\n\
             recorded. Every key's type, encoding, length and expiry is compared, too. Where an append-only file is all that the repository\n\
             has of a line, memory is compared with dumps outside of it; so is all of Valkey 9.0, of which the only dump (9.0.0, glibc) is not here.\n\n";
    page += "| server | newest format | memory model | compared | keys | with memory |\n|---|---:|---|---|---:|---:|\n";
    let mut folders: BTreeMap<String, Vec<Folder>> = BTreeMap::new();
    for folder in truth::committed() {
        folders.entry(line_of(&folder.loaded_by())).or_default().push(folder);
    }
    for name in Server::names() {
        let server = Server::parse(&name).unwrap();
        let folders = folders.remove(&line_of(&server)).unwrap_or_default();
        page += &row(server, &folders);
    }
    assert!(folders.is_empty(), "dumps of unknown lines: {:?}", folders.keys());
    page += "\n## Other servers\n\n";
    page += "| server | memory model | compared |\n|---|---|---|\n";
    page += "| Redis Enterprise, Redis Cloud | that of Redis of the same number; a note says so | dumps written from the sources of \
             the format (`testdata/servers`) |\n";
    page += "| Dragonfly | none, unless `--server` names a server to price keys for | dumps written from its sources (`testdata/servers`) |\n";
    page
}

fn row(server: Server, folders: &[Folder]) -> String {
    let newest = formats()
        .filter(|&(family, version)| server.loads(&RdbHeader { family, version }))
        .map(|(_, version)| version)
        .max()
        .unwrap();
    let model = match caveats(server)[..] {
        [] => "own",
        [Caveat::ServerTooOld] => "encodings; memory as Redis 4.0",
        [Caveat::ModelLittleChecked] => "own, compared with single values only",
        [Caveat::ServerTooNew] => "that of the line before",
        ref others => panic!("{server}: no word for {others:?}"),
    };
    let versions: BTreeSet<String> = folders.iter().map(|folder| folder.loaded_by().version_text()).collect();
    let versions = Vec::from_iter(versions).join(", ");
    let truths: Vec<_> = folders.iter().map(Folder::truth).collect();
    let keys: usize = truths.iter().map(BTreeMap::len).sum();
    let priced = truths.iter().flat_map(BTreeMap::values).filter(|truth| truth.memory.is_some()).count();
    let versions = match folders {
        [] if ELSEWHERE.contains(&line_of(&server).as_str()) => "outside the repository".to_owned(),
        [] => "–".to_owned(),
        _ => versions,
    };
    let dash = |number: usize| if number == 0 { "–".to_owned() } else { number.to_string() };
    format!("| {} | {newest} | {model} | {versions} | {} | {} |\n", server.line_name(), dash(keys), dash(priced))
}

fn formats() -> impl Iterator<Item = (Family, u32)> {
    let redis = (1..=NEWEST_REDIS).map(|version| (Family::Redis, version));
    redis.chain((FIRST_VALKEY..=NEWEST_VALKEY).map(|version| (Family::Valkey, version)))
}

fn line_of(server: &Server) -> String {
    let (major, minor) = server.line();
    format!("{}-{major}.{minor}", server.family.name())
}

fn caveats(server: Server) -> Vec<Caveat> {
    Model::for_server(server, Allocator::default(), &ServerConfig::default()).caveats()
}
