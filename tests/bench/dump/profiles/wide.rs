//! Names without ids, all different: every name is a pattern of its own until levels collapse.
//!
//! A quarter of the keys each: all on the first level; all below one name; over a thousand names with a thousand below
//! each and some below these; and over 250 names with 250 below each and many below these. The last quarter stays under the
//! limit of every level, so the tree keeps as many places as it may.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, spell};
use super::super::writer::Writer;
use super::{Keys, code};

pub struct Wide {
    noise: Noise,
    written: u64,
    name: Vec<u8>,
}

impl Wide {
    pub fn new(random: &mut Random) -> Wide {
        Wide { noise: Noise::new(random, 64), written: 0, name: Vec::new() }
    }

    /// Writes a name for the `number`th key of a quarter.
    fn spread(&mut self, quarter: u64, number: u64) {
        self.name.clear();
        let levels: &[u64] = match quarter {
            0 => &[number],
            1 => &[0, number],
            2 => &[number % 1000, number / 1000 % 1000, number / 1_000_000],
            _ => &[number % 250, number / 250 % 250, number / 62_500],
        };
        for (index, &level) in levels.iter().enumerate() {
            if index > 0 {
                self.name.push(b':');
            }
            if index == 0 {
                self.name.push(b'a' + quarter as u8);
            }
            spell(&mut self.name, level);
        }
    }
}

impl<W: Write + Seek> Keys<W> for Wide {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.spread(self.written % 4, self.written / 4);
        self.written += 1;
        let expires_at = out.expiry(random, 50);
        out.key(expires_at, code::STRING, &self.name)?;
        let len = random.between(21, 60) as usize;
        out.text(self.noise.piece(random, len))
    }
}
