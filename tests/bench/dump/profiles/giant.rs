//! Giant values: a string of two thirds of the file and a hash of the last third, with a few small keys around them.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, name};
use super::super::writer::Writer;
use super::small::Small;
use super::{Keys, Scale, code};

/// Small keys before each giant.
const BETWEEN: u64 = 5;
const PIECE: usize = 1 << 16;
/// Approximate size of a field with its value.
const FIELD: u64 = 60;

pub struct Giant {
    noise: Noise,
    small: Small,
    bytes: u64,
    written: u64,
    name: Vec<u8>,
}

impl Giant {
    pub fn new(scale: Scale, random: &mut Random) -> Giant {
        // If a number of keys was requested, the giants have a kilobyte per key.
        let bytes = match scale {
            Scale::Keys(keys) => keys.saturating_mul(1024),
            Scale::Bytes(bytes) => bytes,
        };
        Giant { noise: Noise::new(random, PIECE), small: Small::new(random), bytes, written: 0, name: Vec::new() }
    }

    fn string<W: Write + Seek>(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        out.key(None, code::STRING, b"export:full")?;
        let mut left = self.bytes / 3 * 2;
        out.length(left)?;
        while left > 0 {
            let len = left.min(PIECE as u64);
            out.put(self.noise.piece(random, len as usize))?;
            left -= len;
        }
        Ok(())
    }

    fn hash<W: Write + Seek>(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        out.key(None, code::HASH, b"index:full")?;
        let count = (self.bytes / 3 / FIELD).max(1);
        out.length(count)?;
        for index in 0..count {
            name(&mut self.name, "document:", index, "");
            out.text(&self.name)?;
            let len = random.between(21, 70) as usize;
            out.text(self.noise.piece(random, len))?;
        }
        Ok(())
    }
}

impl<W: Write + Seek> Keys<W> for Giant {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        match self.written {
            number if number == BETWEEN + 1 => self.string(out, random),
            number if number == 2 * BETWEEN + 2 => self.hash(out, random),
            _ => self.small.write(out, random),
        }
    }
}
