//! Dumps inside values: a search for record boundaries at a guessed offset finds thousands of false ones in a row.
//!
//! Half of the values are whole dumps with header and end. The others are sequences of records, indistinguishable from
//! those of the file except that no chain of true records leads to them. Some are elements of a list or values of a
//! hash.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, digits, name};
use super::super::writer::{Writer, length, string};
use super::{Keys, code};

/// Minimum number of records inside a value.
const MIN_RECORDS: u64 = 100;
const MAX_RECORDS: u64 = 20_000;

pub struct Nested {
    noise: Noise,
    written: u64,
    name: Vec<u8>,
    inner: Vec<u8>,
}

impl Nested {
    pub fn new(random: &mut Random) -> Nested {
        Nested { noise: Noise::new(random, 64), written: 0, name: Vec::new(), inner: Vec::new() }
    }

    /// Creates a value that reads as a dump, or as the inside of one.
    fn fill(&mut self, random: &mut Random) {
        self.inner.clear();
        let whole = random.percent(50);
        if whole {
            self.inner.extend_from_slice(b"REDIS0011\xFE\x00");
        }
        for index in 0..random.any_magnitude(MIN_RECORDS, MAX_RECORDS) {
            if random.percent(5) {
                self.inner.push(0xFC);
                self.inner.extend((1_800_000_000_000 + index).to_le_bytes());
            }
            self.inner.push(code::STRING);
            name(&mut self.name, "no:key:", index, "");
            string(&mut self.inner, &self.name);
            let len = random.between(1, 63) as usize;
            string(&mut self.inner, self.noise.piece(random, len));
        }
        if whole {
            self.inner.extend([0xFF, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
    }
}

impl<W: Write + Seek> Keys<W> for Nested {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        let code = [code::STRING, code::HASH, code::QUICKLIST][random.below(3) as usize];
        let elements = if code == code::STRING { 1 } else { random.between(1, 4) };
        let mut count = Vec::new();
        if code != code::STRING {
            length(&mut count, elements);
        }
        name(&mut self.name, "backup:", self.written, "");
        let expires_at = out.expiry(random, 20);
        out.key(expires_at, code, &self.name)?;
        out.put(&count)?;
        for index in 0..elements {
            self.fill(random);
            if code == code::QUICKLIST {
                // A list node that is one large element.
                out.length(1)?;
            }
            if code == code::HASH {
                self.name.clear();
                digits(&mut self.name, index);
                out.text(&self.name)?;
            }
            out.text(&self.inner)?;
        }
        Ok(())
    }
}
