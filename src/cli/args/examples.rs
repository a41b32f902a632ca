//! What stands at the end of each command's help: commands to begin with, the commonest first.

/// A heading and examples, each a comment and the command below it.
macro_rules! examples {
    ($($what:literal => $command:literal),+ $(,)?) => {
        concat!("\x1b[1m\x1b[4mExamples:\x1b[0m", $("\n  # ", $what, "\n  rdblens ", $command),+)
    };
}

pub(super) const ANALYZE: &str = examples!(
    "what takes the memory and what is wrong" => "analyze dump.rdb",
    "the shards of one deployment, as one report" => "analyze '/backup/2026-11-21/*.rdb.zst'",
    "a gate for CI: exit status 1 if the standard is broken" => "analyze dump.rdb --policy strict --fail-on must",
    "the same keys on another server" => "analyze dump.rdb --what-if valkey-8.1",
    "for programs, and for `rdblens compare` later" => "analyze dump.rdb --format json -o report.json",
);

pub(super) const KEYS: &str = examples!(
    "all hashes, for a spreadsheet" => "keys dump.rdb --type hash --format csv -o hashes.csv",
    "all keys, for DuckDB or pandas" => "keys dump.rdb --format parquet -o keys.parquet",
    "names of sessions that never expire" =>
        "keys dump.rdb --match 'session:*' | jq -r 'select(.expires_at == null) | .key'",
);

pub(super) const CHECK: &str = examples!(
    "are last night's backups whole?" => "check /backup/*.rdb",
    "the same for scripts, a line of JSON per file" => "check /backup/*.rdb --format json",
);

pub(super) const COMPARE: &str = concat!(
    "An input that ends in .json is a report, anything else a dump.\n\n",
    examples!(
        "what grew since yesterday" => "compare monday.rdb tuesday.rdb",
        "when will 4 GB be used up?" => "compare monday.json tuesday.json wednesday.rdb --maxmemory 4GB",
    )
);

pub(super) const RENDER: &str = examples!(
    "a stored report on the screen, in Chinese" => "render report.json --lang zh",
    "to be shown, for a ticket and for a dashboard, in one pass" =>
        "render report.json --format html --format markdown --format prometheus -o report",
    "one of its lists, for a spreadsheet" => "render report.json --format csv --section findings -o findings.csv",
);

pub(super) const DICTIONARY: &str = examples!(
    "a first draft, to be completed by the owners" => "dictionary dump.rdb -o dictionary.toml",
    "what a dictionary lacks, and what it has in vain" => "dictionary dump.rdb --policy dictionary.toml",
);

pub(super) const SHOW: &str = examples!(
    "the value of a key" => "show dump.rdb user:17:profile",
    "a name with a byte that is no text, in database 3" => "show dump.rdb 'blob:\\xff' --db 3",
    "for programs" => "show dump.rdb user:17:profile --format json",
);

pub(super) const SCHEMA: &str = examples!(
    "to validate reports, or to make types of" => "schema report > report.schema.json",
    "the same of `rdblens compare --format json`" => "schema compare > compare.schema.json",
);

pub(super) const RULES: &str = examples!(
    "all rules, and who demands them" => "rules",
    "what a standard demands" => "rules --policy strict",
    "one rule: why, and how to fix" => "rules key.prefix --lang zh",
);

pub(super) const COMPLETIONS: &str = examples!(
    "bash" => "completions bash > ~/.local/share/bash-completion/completions/rdblens",
    "zsh, into a folder of $fpath" => "completions zsh > ~/.zfunc/_rdblens",
    "fish" => "completions fish > ~/.config/fish/completions/rdblens.fish",
);

pub(super) const MAN: &str = examples!(
    "for this user: `man rdblens-analyze` finds them" => "man ~/.local/share/man/man1",
);
