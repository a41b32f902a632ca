//! Collections above the limits of their compact encodings, with hundreds to millions of elements.

use std::io::{self, Seek, Write};

use super::super::packed::Listpack;
use super::super::random::Random;
use super::super::text::{Noise, document, name, word};
use super::super::writer::{Writer, compressed};
use super::code::{HASH, QUICKLIST, SET, ZSET};
use super::{Keys, Scale};

/// Number of elements of the smallest and the largest collection.
const MIN_ELEMENTS: u64 = 600;
const MAX_ELEMENTS: u64 = 4_000_000;
/// Number of compressed values and list nodes, created once.
const POOL: u64 = 1024;
const NODES: u64 = 256;
/// Size of a list node (`list-max-listpack-size -2`).
const NODE: usize = 8000;

pub struct Tables {
    noise: Noise,
    documents: Vec<Vec<u8>>,
    nodes: Vec<Vec<u8>>,
    most: u64,
    written: u64,
    /// Buffer for the name of a key or an element.
    text: Vec<u8>,
}

impl Tables {
    pub fn new(scale: Scale, random: &mut Random) -> Tables {
        let noise = Noise::new(random, 256);
        let pool = scale.at_most(POOL, 1, 20_000);
        let documents = (0..pool).map(|_| {
            let len = random.between(60, 300) as usize;
            let mut value = Vec::new();
            compressed(&mut value, document(random, len).as_bytes());
            value
        });
        let documents = documents.collect();
        let nodes = (0..scale.at_most(NODES, 1, 100_000)).map(|_| node(random, &noise)).collect();
        // About 50 bytes per element: no collection is more than a tenth of the file.
        let most = match scale {
            Scale::Keys(keys) => keys.saturating_mul(100),
            Scale::Bytes(bytes) => bytes / 500,
        };
        Tables {
            noise,
            documents,
            nodes,
            most: most.clamp(MIN_ELEMENTS + 1, MAX_ELEMENTS),
            written: 0,
            text: Vec::new(),
        }
    }

    /// Writes the name of an element, unique within its collection.
    fn element<W: Write + Seek>(&mut self, out: &mut Writer<W>, prefix: &str, index: u64) -> io::Result<()> {
        name(&mut self.text, prefix, index.wrapping_mul(2_654_435_761) & 0xFFFF_FFFF, "");
        out.text(&self.text)
    }

    fn hash<W: Write + Seek>(&mut self, out: &mut Writer<W>, random: &mut Random, count: u64) -> io::Result<()> {
        out.length(count)?;
        for index in 0..count {
            self.element(out, "field:", index)?;
            if random.percent(20) {
                out.put(&self.documents[random.below(self.documents.len() as u64) as usize])?;
            } else {
                let len = random.between(4, 60) as usize;
                out.text(self.noise.piece(random, len))?;
            }
        }
        Ok(())
    }

    fn sorted_set<W: Write + Seek>(&mut self, out: &mut Writer<W>, random: &mut Random, count: u64) -> io::Result<()> {
        out.length(count)?;
        // Servers write the highest score first.
        let mut score = count as f64 * 1000.0;
        for index in 0..count {
            self.element(out, "player:", index)?;
            score -= random.below(1000) as f64 / 8.0;
            out.put(&score.to_le_bytes())?;
        }
        Ok(())
    }

    fn set<W: Write + Seek>(&mut self, out: &mut Writer<W>, count: u64) -> io::Result<()> {
        out.length(count)?;
        (0..count).try_for_each(|index| self.element(out, "member:", index))
    }

    fn list<W: Write + Seek>(&mut self, out: &mut Writer<W>, random: &mut Random, count: u64) -> io::Result<()> {
        let nodes = (count / 300).max(1);
        out.length(nodes)?;
        for _ in 0..nodes {
            out.length(2)?;
            out.put(&self.nodes[random.below(self.nodes.len() as u64) as usize])?;
        }
        Ok(())
    }
}

impl<W: Write + Seek> Keys<W> for Tables {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        let kinds = [(HASH, "catalog:"), (ZSET, "leaderboard:"), (SET, "followers:"), (QUICKLIST, "queue:")];
        let (code, prefix) = kinds[random.below(kinds.len() as u64) as usize];
        let count = random.long_tail(MIN_ELEMENTS, self.most);
        name(&mut self.text, prefix, self.written, "");
        let expires_at = out.expiry(random, 10);
        out.key(expires_at, code, &self.text)?;
        match code {
            HASH => self.hash(out, random, count),
            ZSET => self.sorted_set(out, random, count),
            SET => self.set(out, count),
            _ => self.list(out, random, count),
        }
    }
}

/// Creates a compressed list node.
fn node(random: &mut Random, noise: &Noise) -> Vec<u8> {
    let mut listpack = Listpack::new();
    while listpack.len() < NODE {
        if random.percent(50) {
            listpack.number(random.below(1 << 40) as i64);
        } else {
            let len = random.between(10, 40) as usize;
            listpack.text(word(random).as_bytes()).text(noise.piece(random, len));
        }
    }
    let mut value = Vec::new();
    compressed(&mut value, &listpack.finish());
    value
}
