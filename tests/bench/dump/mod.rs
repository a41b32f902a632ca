//! Large dumps that resemble those of real servers, reproducible by seed.
//!
//! A profile writes one key per call, and this module calls it until the dump is large enough. Costly parts such as
//! compressed values come from a pool that is created once, so that a dump of a gigabyte takes a few seconds.

#![allow(dead_code, reason = "two benches and the tests share this module; each uses only a part of it")]

mod packed;
mod profiles;
mod random;
mod text;
mod writer;

use std::io::{self, Seek, Write};

pub use profiles::Profile;
use random::Random;
pub use writer::Tally;
use writer::Writer;

/// Size of a dump.
#[derive(Debug, Clone, Copy)]
pub enum Scale {
    /// Number of keys.
    Keys(u64),
    /// Minimum number of bytes; the key that reaches it is the last.
    Bytes(u64),
}

/// Options of a dump besides its profile.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Size of the dump.
    pub scale: Scale,
    /// Seed of the names and values.
    pub seed: u64,
    /// Version of the format, from [`Profile::first_version`] on: 9 is that of Redis 6.2, 10 of Redis 7.0, 11 of Redis
    /// 7.2.
    pub version: u8,
    /// Creation time of the dump, in seconds since 1970. Keys expire in the thirty days after it.
    pub made_at: u64,
}

/// Source of keys.
trait Keys<W> {
    /// Writes the next key.
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()>;
}

/// Writes a dump.
pub fn write<W: Write + Seek>(profile: Profile, options: &Options, out: W) -> io::Result<Tally> {
    let mut random = Random::new(options.seed);
    let mut writer = Writer::new(out, options.version, options.made_at)?;
    let mut keys = profile.keys::<W>(options.scale, &mut random);
    let whole = |tally: Tally| match options.scale {
        Scale::Keys(keys) => tally.keys >= keys,
        Scale::Bytes(bytes) => tally.bytes >= bytes,
    };
    while !whole(writer.tally()) {
        keys.write(&mut writer, &mut random)?;
    }
    writer.finish()
}
