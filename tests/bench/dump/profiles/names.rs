//! Short strings under names of one family, or of ten: numbers, dates, words, addresses, UUIDs, digests, tokens.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::text::{Noise, digits, spell};
use super::super::writer::Writer;
use super::{Keys, code};

/// Multiplier of the key count: ids are unique but unordered, as from a server's hash table.
const SCATTER: u64 = 2_654_435_761;

const HEX: &[u8; 16] = b"0123456789abcdef";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HOSTS: [&str; 6] = ["example.com", "qq.com", "mail.example.org", "163.com", "corp.example.net", "web.de"];

/// Family of names with one form of id.
#[derive(Debug, Clone, Copy)]
pub enum Family {
    Numbers,
    Joined,
    Tags,
    Dates,
    Words,
    Addresses,
    Mails,
    Uuids,
    Digests,
    Tokens,
}

/// Families with their shares in percent, for a realistic mix.
const SHARES: [(Family, u64); 10] = [
    (Family::Numbers, 25),
    (Family::Joined, 10),
    (Family::Tags, 8),
    (Family::Dates, 8),
    (Family::Words, 8),
    (Family::Addresses, 8),
    (Family::Mails, 4),
    (Family::Uuids, 12),
    (Family::Digests, 10),
    (Family::Tokens, 7),
];

pub struct Names {
    /// The only family, or `None` for all of them.
    family: Option<Family>,
    noise: Noise,
    written: u64,
    name: Vec<u8>,
}

impl Names {
    pub fn new(family: Option<Family>, random: &mut Random) -> Names {
        Names { family, noise: Noise::new(random, 128), written: 0, name: Vec::new() }
    }

    /// Writes the next name of a family.
    fn spell(&mut self, family: Family, random: &mut Random) {
        // The factor is odd, so different counts give different ids.
        let id = self.written.wrapping_mul(SCATTER) & 0xFFF_FFFF;
        let out = &mut self.name;
        out.clear();
        let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
        match family {
            Family::Numbers => text(&format!("user:session:{id}")),
            Family::Joined => text(&format!("user_profile_{id}")),
            Family::Tags => text(&format!("u:{{{id}}}:fr:m:{}", random.below(100_000))),
            Family::Dates => {
                let (year, month, day) = (random.between(2024, 2026), random.between(1, 12), random.between(1, 28));
                text(&format!("order:{year}-{month:02}-{day:02}:{id}"));
            }
            Family::Words => {
                text("product:");
                spell(out, random.below(4096));
                out.push(b':');
                spell(out, id);
            }
            Family::Addresses => {
                let [one, two, three, four] = mixed(self.written as u32).to_be_bytes();
                text(&format!("rate:limit:ip:{one}.{two}.{three}.{four}:"));
                digits(out, random.below(1000));
            }
            Family::Mails => {
                text("user:");
                spell(out, id);
                if random.percent(50) {
                    out.push(b'.');
                    spell(out, random.below(4096));
                }
                out.push(b'@');
                out.extend_from_slice(HOSTS[random.below(HOSTS.len() as u64) as usize].as_bytes());
            }
            Family::Uuids => {
                text("session:token:");
                let (high, low) = (random.next(), random.next());
                let uuid = [
                    high >> 32,
                    high >> 16 & 0xFFFF,
                    0x4000 | high & 0xFFF,
                    0x8000 | low >> 50,
                    low & 0xFFFF_FFFF_FFFF,
                ];
                let [one, two, three, four, five] = uuid;
                out.extend_from_slice(format!("{one:08x}-{two:04x}-{three:04x}-{four:04x}-{five:012x}").as_bytes());
            }
            Family::Digests => {
                text("cache:page:");
                characters(out, HEX, 32, random);
            }
            Family::Tokens => {
                text("sess:");
                characters(out, BASE64, 24, random);
            }
        }
    }
}

/// Returns a number that looks random: another one for each count, so that no address is written twice.
fn mixed(count: u32) -> u32 {
    let count = (count ^ count >> 16).wrapping_mul(0x85EB_CA6B);
    let count = (count ^ count >> 13).wrapping_mul(0xC2B2_AE35);
    count ^ count >> 16
}

/// Appends random characters of an alphabet whose size divides 64.
fn characters(out: &mut Vec<u8>, alphabet: &[u8], count: usize, random: &mut Random) {
    out.extend((0..count).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]));
}

impl<W: Write + Seek> Keys<W> for Names {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        self.written += 1;
        let family = self.family.unwrap_or_else(|| {
            let mut left = random.below(100);
            let found = SHARES.iter().find(|(_, share)| match left.checked_sub(*share) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            });
            found.expect("the shares make up a hundred").0
        });
        self.spell(family, random);
        let expires_at = out.expiry(random, 60);
        out.key(expires_at, code::STRING, &self.name)?;
        let len = random.between(20, 79) as usize;
        out.text(self.noise.piece(random, len))
    }
}
