//! Compact hashes: small objects whose field names are in templates, as Redis 8.10 stores them.

use std::io::{self, Seek, Write};

use super::super::packed::Listpack;
use super::super::random::Random;
use super::super::text::{Noise, name, word};
use super::super::writer::{Writer, string};
use super::{Keys, code};

/// Number of templates; the first ones have most keys.
const TEMPLATES: u64 = 200;

pub struct Templates {
    noise: Noise,
    /// Number of fields, by template.
    fields: Vec<u64>,
    written: u64,
    name: Vec<u8>,
}

impl Templates {
    pub fn new(random: &mut Random) -> Templates {
        let fields = (0..TEMPLATES).map(|_| random.between(4, 12)).collect();
        Templates { noise: Noise::new(random, 64), fields, written: 0, name: Vec::new() }
    }

    /// Writes the table, before the first key.
    fn define<W: Write + Seek>(&self, out: &mut Writer<W>) -> io::Result<()> {
        for (id, &fields) in self.fields.iter().enumerate() {
            out.put(&[0xF2])?;
            out.length(id as u64)?;
            out.length(fields)?;
            for field in 0..fields {
                // Of equal length, in the order of their bytes.
                out.text(format!("field-{id:03}-{field:02}").as_bytes())?;
            }
        }
        Ok(())
    }
}

impl<W: Write + Seek> Keys<W> for Templates {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        if self.written == 0 {
            self.define(out)?;
        }
        self.written += 1;
        name(&mut self.name, "user:", self.written, ":profile");
        let expires_at = out.expiry(random, 30);
        out.key(expires_at, code::HASH_TEMPLATE, &self.name)?;
        let id = random.below(TEMPLATES).min(random.below(TEMPLATES));
        let mut listpack = Listpack::new();
        listpack.number(id as i64);
        for _ in 0..self.fields[id as usize] {
            match random.below(4) {
                0 | 1 => listpack.number(random.below(1_000_000) as i64),
                2 => listpack.text(word(random).as_bytes()),
                _ => {
                    let len = random.between(4, 20) as usize;
                    listpack.text(self.noise.piece(random, len))
                }
            };
        }
        let mut value = Vec::new();
        string(&mut value, &listpack.finish());
        out.put(&value)
    }
}
