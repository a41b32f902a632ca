//! A question of the form "and if it were another server, allocator or setting": a change of a base model.

use std::fmt;

use super::{Allocator, Model, Server, ServerConfig};
use crate::error::{Error, Result};
use crate::near;

/// How the newest server of the same family is asked about.
const NEWEST: &str = "newest";

/// What is to be different. Everything else stays as it is in the base, so that with several files each is held
/// against its own writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhatIf {
    text: String,
    server: Option<Server>,
    /// The newest server of the family instead of a named one.
    newest: bool,
    allocator: Option<Allocator>,
    /// Names and values in the order given.
    ///
    /// INVARIANT: [`ServerConfig::set`] takes each of them.
    settings: Vec<(String, String)>,
}

impl WhatIf {
    /// Reads `valkey-8.1`, `newest`, `jemalloc-q16`, `hash-max-listpack-entries=512`, or several of them with commas between.
    pub fn parse(text: &str) -> Result<WhatIf> {
        let mut what_if =
            WhatIf { text: text.trim().to_owned(), server: None, newest: false, allocator: None, settings: Vec::new() };
        for part in text.split(',').map(str::trim) {
            what_if.add(part).map_err(|error| asked(text, &error))?;
        }
        Ok(what_if)
    }

    fn add(&mut self, part: &str) -> Result<()> {
        if let Some((name, value)) = part.split_once('=') {
            let (name, value) = (name.trim(), value.trim());
            ServerConfig::default().set(name, value)?;
            self.settings.push((name.to_owned(), value.to_owned()));
            return Ok(());
        }
        if ServerConfig::knows(part) {
            return Err(Error::usage(format!("{part} has no value")).with_hint(format!("expected {part}=VALUE")));
        }
        if let Ok(allocator) = Allocator::parse(part) {
            return match self.allocator.replace(allocator) {
                None => Ok(()),
                Some(other) => Err(two_of("allocators", &other, &allocator)),
            };
        }
        if part == NEWEST {
            self.newest = true;
            return self.server.map_or(Ok(()), |other| Err(two_of("servers", &other, &part)));
        }
        let server = Server::parse(part).map_err(|_| nothing_known(part))?;
        if self.newest {
            return Err(two_of("servers", &NEWEST, &server));
        }
        match self.server.replace(server) {
            None => Ok(()),
            Some(other) => Err(two_of("servers", &other, &server)),
        }
    }

    /// Asks about the newest server of the same family.
    pub fn newest() -> WhatIf {
        WhatIf { text: NEWEST.to_owned(), server: None, newest: true, allocator: None, settings: Vec::new() }
    }

    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The base with this change.
    pub fn apply(&self, base: &Model) -> Model {
        let mut config = base.config.clone();
        for (name, value) in &self.settings {
            config.set(name, value).expect("`add` has tried every setting on a configuration");
        }
        let own = if self.newest { base.server.newest() } else { base.server };
        Model::for_server(self.server.unwrap_or(own), self.allocator.unwrap_or(base.allocator), &config)
    }
}

/// The error about one part, which says what it is a part of.
fn asked(text: &str, error: &Error) -> Error {
    Error::usage(format!("--what-if {text}: {}", error.message()))
}

fn nothing_known(part: &str) -> Error {
    let words = Allocator::ALL.map(Allocator::name).into_iter().chain([NEWEST]);
    let near = match Server::near(part) {
        Some(server) => format!("did you mean {server}? "),
        None => near::did_you_mean(&near::names(part, words)),
    };
    Error::usage(format!("{part:?} is no server, no allocator and no setting")).with_hint(format!(
        "{near}expected a server such as valkey-8.1 or newest, an allocator such as jemalloc-q16, a setting such as \
         hash-max-listpack-entries=512, or several of them with commas between"
    ))
}

fn two_of(what: &str, one: &dyn fmt::Display, other: &dyn fmt::Display) -> Error {
    Error::usage(format!("two {what} at a time: {one} and {other}")).with_hint("give --what-if once for each of them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Model {
        let mut config = ServerConfig::default();
        config.set("zset-max-listpack-entries", "64").unwrap();
        Model::for_server(Server::parse("redis-7.0").unwrap(), Allocator::JemallocQ16, &config)
    }

    fn applied(text: &str) -> String {
        WhatIf::parse(text).unwrap().apply(&base()).name()
    }

    #[test]
    fn what_is_not_named_stays_as_it_is() {
        assert_eq!(applied("valkey-8.1"), "valkey 8.1, jemalloc-q16, zset-max-listpack-entries 64");
        assert_eq!(applied("newest"), "redis 8.6, jemalloc-q16, zset-max-listpack-entries 64");
        assert!(WhatIf::parse("newest,redis-7.2").is_err() && WhatIf::parse("redis-7.2,newest").is_err());
        assert_eq!(applied("glibc"), "redis 7.0, glibc, zset-max-listpack-entries 64");
        assert_eq!(applied("zset-max-ziplist-entries=128"), "redis 7.0, jemalloc-q16");
        assert_eq!(applied("cluster-enabled=yes, zset-max-listpack-entries = 128"), {
            "redis 7.0, jemalloc-q16, cluster-enabled yes"
        });
    }

    #[test]
    fn several_changes_make_one_question() {
        assert_eq!(
            applied("jemalloc,redis-8.2.3,hash-max-listpack-entries=64,zset-max-listpack-entries=1kb"),
            "redis 8.2.3, jemalloc, hash-max-listpack-entries 64, zset-max-listpack-entries 1024"
        );
        assert_eq!(WhatIf::parse(" redis-8.2 ").unwrap().text(), "redis-8.2");
    }

    #[test]
    fn every_setting_may_be_asked_for() {
        for name in ServerConfig::names() {
            let value = match name {
                "cluster-enabled" => "yes",
                "maxmemory-policy" => "allkeys-lru",
                _ => "3",
            };
            assert!(WhatIf::parse(&format!("{name}={value}")).is_ok(), "{name}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_remedy() {
        for (text, remedy) in [
            ("", "expected a server"),
            ("mongo-4", "expected a server"),
            ("redis-8.2,", "expected a server"),
            ("redis-8.2,valkey-8.1", "give --what-if once for each"),
            ("jemalloc,glibc", "give --what-if once for each"),
            ("hash-max-listpack-entries", "expected hash-max-listpack-entries=VALUE"),
            ("hash-max-listpack-entries=many", "is a number"),
            ("appendonly=yes", "those that do: cluster-enabled"),
        ] {
            let error = WhatIf::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("--what-if ") && error.contains(remedy), "{text}: {error}");
        }
    }
}
