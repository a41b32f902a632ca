//! Large dumps that look like those of real servers, the same for the same seed.
//!
//! A profile writes one key when it is asked for one; this module asks until the dump is large enough. What is costly to make,
//! as compressed values are, comes from a pool that is made once, so that a dump of a gigabyte takes some seconds.

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

/// How large a dump is to be.
#[derive(Debug, Clone, Copy)]
pub enum Scale {
    /// So many keys.
    Keys(u64),
    /// At least so many bytes, and the key that goes beyond.
    Bytes(u64),
}

/// What a dump is made from besides its profile.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How large it is to be.
    pub scale: Scale,
    /// Another one gives other names and values.
    pub seed: u64,
    /// Version of the format, from [`Profile::first_version`] on: 9 as Redis 6.2 writes it, 10 as Redis 7.0, 11 as Redis 7.2.
    pub version: u8,
    /// When it says that it was made, in seconds since 1970. Keys expire in the thirty days after that.
    pub made_at: u64,
}

/// Something that writes one key after the other.
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
