//! Values of zeros, as in bitmaps, sketches and padded records: at every offset, three zeros read as an empty string
//! under an empty name.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, name};
use super::super::writer::Writer;
use super::Keys;
use super::code;

const MIN_BYTES: u64 = 16;
const MAX_BYTES: u64 = 8 << 20;

pub struct Zeros {
    noise: Noise,
    zeros: Vec<u8>,
    written: u64,
    name: Vec<u8>,
}

impl Zeros {
    pub fn new(random: &mut Random) -> Zeros {
        Zeros { noise: Noise::new(random, 64), zeros: vec![0; 1 << 20], written: 0, name: Vec::new() }
    }

    /// Writes zeros with another byte after each `run` of them.
    fn bitmap<W: Write + Seek>(
        &mut self,
        out: &mut Writer<W>,
        random: &mut Random,
        len: u64,
        run: u64,
    ) -> io::Result<()> {
        out.length(len)?;
        let mut left = len;
        while left > 0 {
            let zeros = left.min(run);
            out.put(&self.zeros[..zeros as usize])?;
            left -= zeros;
            let other = left.min(random.between(1, 8));
            out.put(self.noise.piece(random, other as usize))?;
            left -= other;
        }
        Ok(())
    }
}

impl<W: Write + Seek> Keys<W> for Zeros {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        name(&mut self.name, "bitmap:", self.written, "");
        let expires_at = out.expiry(random, 20);
        out.key(expires_at, code::STRING, &self.name)?;
        let len = random.any_magnitude(MIN_BYTES, MAX_BYTES);
        let run = random.any_magnitude(MIN_BYTES, self.zeros.len() as u64);
        self.bitmap(out, random, len, run)
    }
}
