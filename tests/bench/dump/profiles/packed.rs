//! Small objects: hashes, lists, sets and sorted sets in compact encodings, compressed where a server would.
//!
//! Values come from a pool and are reused under many names, since creating one may take longer than writing a key.

use std::io::{self, Seek, Write};

use super::super::packed::{Listpack, intset};
use super::super::random::Random;
use super::super::text::{Noise, digits, name, word};
use super::super::writer::{Writer, compressed, length};
use super::code::{self, HASH_LISTPACK, INTSET, QUICKLIST, SET_LISTPACK, ZSET_LISTPACK};
use super::{Keys, Scale};

/// Number of values created of each kind.
const POOL: u64 = 4096;

pub struct Packed {
    pools: Vec<Pool>,
    written: u64,
    name: Vec<u8>,
}

struct Pool {
    code: u8,
    prefix: &'static str,
    suffix: &'static str,
    values: Vec<Vec<u8>>,
}

impl Packed {
    pub fn new(scale: Scale, random: &mut Random) -> Packed {
        let size = scale.at_most(POOL, 50, 10_000);
        let noise = Noise::new(random, 64);
        let pools = [
            (HASH_LISTPACK, "user:", ":profile", hash as fn(&mut Random, &Noise) -> Vec<u8>),
            (HASH_LISTPACK, "product:", "", hash),
            (QUICKLIST, "timeline:", "", list),
            (INTSET, "group:", ":members", numbers),
            (SET_LISTPACK, "tags:", "", set),
            (ZSET_LISTPACK, "rank:game:", "", sorted_set),
        ];
        let pools = pools.map(|(code, prefix, suffix, make)| {
            let values = (0..size).map(|_| make(random, &noise)).collect();
            Pool { code, prefix, suffix, values }
        });
        Packed { pools: pools.into(), written: 0, name: Vec::new() }
    }
}

impl<W: Write + Seek> Keys<W> for Packed {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        let pool = loop {
            let pool = &self.pools[random.below(self.pools.len() as u64) as usize];
            if pool.code != code::SET_LISTPACK || out.has_set_listpacks() {
                break pool;
            }
        };
        self.written += 1;
        name(&mut self.name, pool.prefix, self.written, pool.suffix);
        let expires_at = out.expiry(random, 30);
        out.key(expires_at, pool.code, &self.name)?;
        out.put(&pool.values[random.below(pool.values.len() as u64) as usize])
    }
}

fn blob(listpack: Listpack) -> Vec<u8> {
    let mut value = Vec::new();
    compressed(&mut value, &listpack.finish());
    value
}

fn text<'n>(random: &mut Random, noise: &'n Noise, from: u64, to: u64) -> &'n [u8] {
    let len = random.between(from, to) as usize;
    noise.piece(random, len)
}

/// Appends a number, a word or a token.
fn element(random: &mut Random, noise: &Noise, into: &mut Listpack) {
    match random.below(4) {
        0 => into.number(random.below(1_000_000) as i64),
        1 => into.text(word(random).as_bytes()),
        _ => into.text(text(random, noise, 8, 32)),
    };
}

fn hash(random: &mut Random, noise: &Noise) -> Vec<u8> {
    let mut listpack = Listpack::new();
    let mut field = Vec::new();
    for index in 0..random.long_tail(3, 40) {
        // Each field occurs once: servers refuse dumps with duplicate fields.
        name(&mut field, word(random), index, "");
        listpack.text(&field);
        element(random, noise, &mut listpack);
    }
    blob(listpack)
}

fn list(random: &mut Random, noise: &Noise) -> Vec<u8> {
    let mut listpack = Listpack::new();
    for _ in 0..random.long_tail(2, 60) {
        element(random, noise, &mut listpack);
    }
    let mut value = Vec::new();
    length(&mut value, 1);
    length(&mut value, 2);
    value.extend(blob(listpack));
    value
}

fn numbers(random: &mut Random, _: &Noise) -> Vec<u8> {
    let largest = random.any_magnitude(1000, 1 << 40);
    let mut numbers: Vec<i64> = (0..random.long_tail(4, 128)).map(|_| random.below(largest) as i64).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut value = Vec::new();
    compressed(&mut value, &intset(&numbers));
    value
}

fn set(random: &mut Random, _: &Noise) -> Vec<u8> {
    let mut listpack = Listpack::new();
    let mut member = Vec::new();
    for index in 0..random.long_tail(3, 60) {
        name(&mut member, word(random), index, "");
        listpack.text(&member);
    }
    blob(listpack)
}

fn sorted_set(random: &mut Random, _: &Noise) -> Vec<u8> {
    let mut listpack = Listpack::new();
    let (mut member, mut score) = (Vec::new(), 0);
    for _ in 0..random.long_tail(3, 60) {
        member.clear();
        member.extend_from_slice(b"player");
        // Scores ascend strictly, so no two members are equal.
        score += random.between(1, 500);
        digits(&mut member, score * 7919);
        listpack.text(&member).number(score as i64);
    }
    blob(listpack)
}
