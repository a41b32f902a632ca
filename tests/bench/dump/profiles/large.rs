//! Pages, images and documents: strings of 1 KB to 1 MB.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, document, name};
use super::super::writer::{Writer, compressed};
use super::{Keys, Scale, code};

const MIN_BYTES: u64 = 1 << 10;
const MAX_BYTES: u64 = 1 << 20;
/// Number of documents, created once.
const POOL: u64 = 128;

pub struct Large {
    noise: Noise,
    documents: Vec<Vec<u8>>,
    largest: u64,
    written: u64,
    name: Vec<u8>,
}

impl Large {
    pub fn new(scale: Scale, random: &mut Random) -> Large {
        let largest = match scale {
            Scale::Keys(_) => MAX_BYTES,
            Scale::Bytes(bytes) => (bytes / 100).clamp(MIN_BYTES, MAX_BYTES),
        };
        let documents = (0..scale.at_most(POOL, 10, 100_000)).map(|_| {
            let len = random.any_magnitude(MIN_BYTES, largest) as usize;
            let mut value = Vec::new();
            compressed(&mut value, document(random, len).as_bytes());
            value
        });
        let documents = documents.collect();
        let noise = Noise::new(random, largest as usize);
        Large { noise, documents, largest, written: 0, name: Vec::new() }
    }
}

impl<W: Write + Seek> Keys<W> for Large {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        let is_document = random.percent(50);
        let prefix = if is_document { "cache:page:" } else { "thumbnail:" };
        name(&mut self.name, prefix, self.written, "");
        let expires_at = out.expiry(random, 80);
        out.key(expires_at, code::STRING, &self.name)?;
        if is_document {
            return out.put(&self.documents[random.below(self.documents.len() as u64) as usize]);
        }
        let len = random.any_magnitude(MIN_BYTES, self.largest) as usize;
        out.text(self.noise.piece(random, len))
    }
}
