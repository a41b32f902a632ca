//! `rdblens --version`: what this build reads. `-V` prints the first line alone.

use std::sync::LazyLock;

use crate::memory::Server;
use crate::rdb::header;

/// Text of `--version` after the program's name.
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let newest = Server::newest_of_each().map(|server| server.line_name()).join(", ");
    format!(
        "{}\nfeatures: {}\nnewest servers: {newest}\nnewest formats: RDB {} of Redis, {} of Valkey",
        env!("CARGO_PKG_VERSION"),
        FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        header::NEWEST_REDIS,
        header::NEWEST_VALKEY
    )
});

/// Features of the crate, and whether they are compiled in.
const FEATURES: [(&str, bool); 3] =
    [("cli", true), ("parquet", cfg!(feature = "parquet")), ("remote", cfg!(feature = "remote"))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_version_names_features_and_the_newest_servers() {
        let lines: Vec<&str> = LONG.lines().collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!(lines[0], env!("CARGO_PKG_VERSION"));
        assert_eq!(lines[1].contains("parquet"), cfg!(feature = "parquet"));
        assert_eq!(lines[1].contains("remote"), cfg!(feature = "remote"));
        for server in lines[2].trim_start_matches("newest servers: ").split(", ") {
            let name = server.replace(' ', "-");
            assert!(Server::parse(&name).is_ok(), "{name}");
            let family = name.split('-').next().unwrap();
            let last = Server::names().into_iter().rfind(|other| other.starts_with(family));
            assert_eq!(last, Some(name.clone()));
        }
    }
}
