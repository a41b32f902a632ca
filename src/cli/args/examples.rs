//! Examples at the end of each command's long help, most common first.

/// Builds the heading and the examples; each is a comment line followed by the command.
macro_rules! examples {
    ($($what:literal => $command:literal),+ $(,)?) => {
        concat!("\x1b[1m\x1b[4mExamples:\x1b[0m", $("\n  # ", $what, "\n  rdblens ", $command),+)
    };
}

pub(super) const ANALYZE: &str = examples!(
    "report on a dump" => "analyze dump.rdb",
    "report on all shards of a deployment" => "analyze '/backup/2026-11-21/*.rdb.zst'",
    "CI gate: exit status 1 if a mandatory rule is violated" => "analyze dump.rdb --policy strict --fail-on must",
    "estimate the memory on another server" => "analyze dump.rdb --what-if valkey-8.1",
    "JSON, for scripts and for `rdblens compare`" => "analyze dump.rdb --format json -o report.json",
    "one of 16 parts of a planned report" => "analyze --partial --plan plan.json --shard 3/16 -o 3.part",
);

pub(super) const PLAN: &str = examples!(
    "plan the report on all shards of a night" => "plan '/backup/2026-11-21/*.rdb.zst' --policy platform -o plan.json",
    "the files of the plan" => "plan '*.rdb' | jq -r '.files[].name'",
);

pub(super) const MERGE: &str = examples!(
    "the report of all parts" => "merge --plan plan.json parts/1.part parts/2.part --format html -o report.html",
    "a partial report of some parts, for a tree of merges" => "merge --plan plan.json parts/1.part parts/2.part --partial -o a.part",
    "masked names, compared with the night before" =>
        "merge --plan plan.json parts/1.part --mask --baseline yesterday.json --fail-on must",
);

pub(super) const KEYS: &str = examples!(
    "export all hashes to a spreadsheet" => "keys dump.rdb --type hash -o hashes.csv",
    "export all keys for DuckDB or pandas" => "keys dump.rdb -o keys.parquet",
    "list sessions without a TTL" =>
        "keys dump.rdb --match 'session:*' | jq -r 'select(.expires_at == null) | .key'",
    "list the keys behind a finding, with the rules that they break" => "keys dump.rdb --breaking big.string --format csv",
    "list the keys of a pattern" => "keys dump.rdb --pattern 'user:{int}:profile'",
);

pub(super) const CHECK: &str = examples!(
    "verify last night's backups" => "check /backup/*.rdb",
    "one line of JSON per file, for scripts" => "check /backup/*.rdb --format json",
    "compare every key with a second, independent parser" => "check dump.rdb --second-reader",
);

pub(super) const SALVAGE: &str = concat!(
    "Exit status: 0 the input is intact and all its keys were saved, 4 it is damaged and what is intact was saved, 3 nothing can be saved.\n\n",
    examples!(
        "list what can be saved and what is missing" => "salvage damaged.rdb",
        "write the intact records to a new snapshot" => "salvage damaged.rdb -o saved.rdb",
        "what is missing as JSON, for scripts" => "salvage damaged.rdb.zst -o saved.rdb --format json",
    )
);

pub(super) const COMPARE: &str = concat!(
    "Give the oldest snapshot first, or directories of nights, whose files are grouped by shard and time. An input that ends in .json \
     is a stored report, anything else a dump.\n\n",
    examples!(
        "show growth since yesterday" => "compare monday.rdb tuesday.rdb",
        "growth and trend over all nights of a directory" => "compare /backup/nights",
        "cron gate: exit status 1 if memory grows too fast" => "compare /backup/nights --fail-on growth=20%/week,pattern=50%",
        "forecast when 4 GB are reached" => "compare monday.json tuesday.json wednesday.rdb --maxmemory 4GB",
    )
);

pub(super) const CAPACITY: &str = concat!(
    "Give one input for each server. An input that ends in .json is a stored report, anything else a dump.\n\n",
    examples!(
        "nodes that a deployment needs" => "capacity '/backup/2026-11-21/*.rdb' --node-memory 16GB",
        "nodes and cost until summer, from the growth of earlier nights" =>
            "capacity dump.rdb --node-memory 16GB --earlier monday.json --until 2027-06-30 --cost 9.5/GB-month",
        "balance a cluster over six nodes" =>
            "capacity shard-1.rdb shard-2.rdb shard-3.rdb --node-memory 16GB --nodes 6 --cluster-nodes nodes.txt",
    )
);

pub(super) const RENDER: &str = examples!(
    "show a stored report in Chinese" => "render report.json --lang zh",
    "write HTML, Markdown and Prometheus metrics at once" =>
        "render report.json --format html --format markdown --format prometheus -o report",
    "export one list to a spreadsheet" => "render report.json --format csv --section findings -o findings.csv",
);

pub(super) const DICTIONARY: &str = examples!(
    "write a first draft" => "dictionary dump.rdb -o dictionary.toml",
    "list missing and unused entries of a dictionary" => "dictionary dump.rdb --policy dictionary.toml",
);

pub(super) const SHOW: &str = examples!(
    "print the value of a key" => "show dump.rdb user:17:profile",
    "key name that is not UTF-8, in database 3" => "show dump.rdb 'blob:\\xff' --db 3",
    "print the value as JSON" => "show dump.rdb user:17:profile --json",
    "which rules the key breaks, and its first ten elements" => "show dump.rdb queue:mail --policy strict --limit 10",
);

pub(super) const SCHEMA: &str = examples!(
    "schema of `rdblens analyze --format json`" => "schema report > report.schema.json",
    "schema of `rdblens compare --format json`" => "schema compare > compare.schema.json",
);

pub(super) const RULES: &str = examples!(
    "list all rules and the presets that use them" => "rules",
    "list the rules of a preset" => "rules --policy strict",
    "explain one rule, in Chinese" => "rules key.prefix --lang zh",
);

pub(super) const COMPLETIONS: &str = examples!(
    "bash" => "completions bash > ~/.local/share/bash-completion/completions/rdblens",
    "zsh, in a directory of $fpath" => "completions zsh > ~/.zfunc/_rdblens",
    "fish" => "completions fish > ~/.config/fish/completions/rdblens.fish",
);

pub(super) const MAN: &str = examples!(
    "install for the current user; then `man rdblens-analyze`" => "man ~/.local/share/man/man1",
);
