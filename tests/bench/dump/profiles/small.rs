//! Sessions and similar keys: short strings with an id in the name.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, name};
use super::super::writer::{self, Writer};
use super::{Keys, code};

/// Multiplier of the key count: ids are unique but unordered, as from a server's hash table.
const SCATTER: u64 = 2_654_435_761;

pub struct Small {
    noise: Noise,
    written: u64,
    name: Vec<u8>,
    number: Vec<u8>,
}

impl Small {
    pub fn new(random: &mut Random) -> Small {
        Small { noise: Noise::new(random, 256), written: 0, name: Vec::new(), number: Vec::new() }
    }
}

impl<W: Write + Seek> Keys<W> for Small {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        // The factor is odd, so different counts give different ids.
        let id = self.written.wrapping_mul(SCATTER) & 0xFFF_FFFF;
        match random.below(10) {
            0 => name(&mut self.name, "cart:", id, ""),
            1 => name(&mut self.name, "order:", id, ":status"),
            2 | 3 => name(&mut self.name, "user:profile:", id, ""),
            _ => name(&mut self.name, "user:session:", id, ""),
        }
        let expires_at = out.expiry(random, 60);
        out.key(expires_at, code::STRING, &self.name)?;
        if random.percent(10) {
            self.number.clear();
            writer::number(&mut self.number, (random.next() as i32) >> (random.below(4) * 8));
            return out.put(&self.number);
        }
        let len = random.between(70, 150) as usize;
        out.text(self.noise.piece(random, len))
    }
}
