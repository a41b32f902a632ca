//! Dumps built by tests: a few keys in the encodings under test.

mod listpack;
mod stream;

use listpack::Listpack;
pub use stream::Stream;

/// Time of the snapshot, in milliseconds.
pub const CTIME: i64 = 1_700_000_000_000;

/// Longest element of a compact collection, in bytes.
const COMPACT_BYTES: usize = 64;

/// Builder of a dump of version 11.
#[derive(Debug, Clone)]
pub struct Dump {
    bytes: Vec<u8>,
    db: usize,
}

/// Item of a module's value.
pub enum Item<'a> {
    Number(u8),
    Double(f64),
    Text(&'a [u8]),
}

impl Item<'_> {
    /// Returns the item as dumps have it.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Item::Number(number) => vec![2, *number],
            Item::Double(number) => [&[4][..], &number.to_le_bytes()].concat(),
            Item::Text(text) => [vec![5], string(text)].concat(),
        }
    }
}

impl Dump {
    /// Starts a dump without keys.
    pub fn new() -> Dump {
        Dump::taken(CTIME)
    }

    /// Starts a dump without keys that was taken at this time, in milliseconds.
    pub fn taken(at: i64) -> Dump {
        let mut bytes = b"REDIS0011".to_vec();
        for (name, value) in [("redis-ver", "7.2.4"), ("ctime", &(at / 1000).to_string())] {
            bytes.push(0xFA);
            bytes.extend(string(name.as_bytes()));
            bytes.extend(string(value.as_bytes()));
        }
        bytes.extend([0xFE, 0]);
        Dump { bytes, db: 0 }
    }

    /// Selects the database of the keys that follow.
    pub fn db(&mut self, db: usize) -> &mut Dump {
        if db != self.db {
            self.db = db;
            self.bytes.push(0xFE);
            self.bytes.extend(length(db));
        }
        self
    }

    /// Sets the expiry of the next key, in milliseconds since the epoch.
    pub fn expires_at(&mut self, at: i64) -> &mut Dump {
        self.bytes.push(0xFC);
        self.bytes.extend(at.to_le_bytes());
        self
    }

    /// Sets the idle time of the next key, in seconds.
    pub fn idle(&mut self, seconds: i64) -> &mut Dump {
        self.bytes.push(0xF8);
        self.bytes.extend(length(usize::try_from(seconds).unwrap()));
        self
    }

    /// Sets the access counter of the next key.
    pub fn freq(&mut self, counter: u8) -> &mut Dump {
        self.bytes.extend([0xF9, counter]);
        self
    }

    /// Adds a string as it is.
    pub fn string(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Dump {
        self.key(0, key, string(value.as_ref()))
    }

    /// Adds a compressed string.
    pub fn compressed(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Dump {
        self.key(0, key, lzf(value.as_ref()))
    }

    /// Adds a string as servers do: compressed if that makes it shorter.
    pub fn stored(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Dump {
        let value = value.as_ref();
        let shorter = lzf::compress(value).is_ok_and(|block| value.len() > 20 && block.len() + 4 < value.len());
        if shorter { self.compressed(key, value) } else { self.string(key, value) }
    }

    /// Adds a module value of strings; the module has a name of nine characters and an encoding version.
    pub fn module(&mut self, key: impl AsRef<[u8]>, module: (&str, u64), strings: &[&str]) -> &mut Dump {
        let items = strings.iter().flat_map(|text| Item::Text(text.as_bytes()).bytes()).collect();
        self.module_of(key, module, items)
    }

    /// Adds a module value of items: see [`Item::bytes`].
    pub fn module_of(&mut self, key: impl AsRef<[u8]>, (name, version): (&str, u64), items: Vec<u8>) -> &mut Dump {
        const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let id = name.chars().fold(0, |id, letter| id << 6 | ALPHABET.find(letter).unwrap() as u64) << 10 | version;
        let bytes = [0x81].into_iter().chain(id.to_be_bytes()).chain(items).chain([0]).collect();
        self.key(7, key, bytes)
    }

    /// Adds a hash as a table.
    pub fn hash(&mut self, key: impl AsRef<[u8]>, pairs: &[(&str, &str)]) -> &mut Dump {
        let strings =
            pairs.iter().flat_map(|(field, value)| [string(field.as_bytes()), string(value.as_bytes())].concat());
        let bytes = length(pairs.len()).into_iter().chain(strings).collect();
        self.key(4, key, bytes)
    }

    /// Adds a hash as a listpack.
    pub fn hash_listpack(&mut self, key: impl AsRef<[u8]>, pairs: &[(&str, &str)]) -> &mut Dump {
        self.key(16, key, string(&Listpack::of(flat(pairs)).bytes()))
    }

    /// Adds a hash as a compressed listpack.
    pub fn hash_compressed(&mut self, key: impl AsRef<[u8]>, pairs: &[(&str, &str)]) -> &mut Dump {
        self.key(16, key, lzf(&Listpack::of(flat(pairs)).bytes()))
    }

    /// Adds a hash as a server with default limits stores it.
    pub fn hash_stored(&mut self, key: impl AsRef<[u8]>, pairs: &[(&str, &str)]) -> &mut Dump {
        let compact = pairs.len() <= 512 && flat(pairs).all(|text| text.len() <= COMPACT_BYTES);
        if compact { self.hash_listpack(key, pairs) } else { self.hash(key, pairs) }
    }

    /// Adds a list as a quicklist: listpacks of at most 8 KiB, longer elements on their own.
    pub fn list(&mut self, key: impl AsRef<[u8]>, elements: &[impl AsRef<str>]) -> &mut Dump {
        let mut nodes = Vec::new();
        let mut rest = elements;
        while let Some(first) = rest.first() {
            let mut room = 8_000_usize;
            let packed = rest.iter().take_while(|text| {
                let fits = text.as_ref().len() + 6 <= room;
                room = room.saturating_sub(text.as_ref().len() + 6);
                fits
            });
            let count = packed.count();
            match count {
                0 => nodes.push([length(1), string(first.as_ref().as_bytes())].concat()),
                _ => {
                    let pack = Listpack::of(rest[..count].iter().map(AsRef::as_ref));
                    nodes.push([length(2), string(&pack.bytes())].concat());
                }
            }
            rest = &rest[count.max(1)..];
        }
        self.key(18, key, [length(nodes.len()), nodes.concat()].concat())
    }

    /// Adds a list as a quicklist with one compressed listpack.
    pub fn list_compressed(&mut self, key: impl AsRef<[u8]>, elements: &[&str]) -> &mut Dump {
        self.key(18, key, [vec![1, 2], lzf(&Listpack::of(elements.iter().copied()).bytes())].concat())
    }

    /// Adds a set of integers as an intset; they must ascend.
    pub fn intset(&mut self, key: impl AsRef<[u8]>, members: &[i64]) -> &mut Dump {
        let count = u32::try_from(members.len()).unwrap();
        let numbers: Vec<u8> = members.iter().flat_map(|member| member.to_le_bytes()).collect();
        self.key(11, key, string(&[&8u32.to_le_bytes()[..], &count.to_le_bytes(), &numbers].concat()))
    }

    /// Adds a set as a server with default limits stores it.
    pub fn set(&mut self, key: impl AsRef<[u8]>, members: &[impl AsRef<str>]) -> &mut Dump {
        if members.len() <= 128 && members.iter().all(|text| text.as_ref().len() <= COMPACT_BYTES) {
            return self.key(20, key, string(&Listpack::of(members.iter().map(AsRef::as_ref)).bytes()));
        }
        self.set_table(key, members)
    }

    /// Adds a set as a table, as servers before 7.2 do, whatever its size.
    pub fn set_table(&mut self, key: impl AsRef<[u8]>, members: &[impl AsRef<str>]) -> &mut Dump {
        let strings = members.iter().flat_map(|text| string(text.as_ref().as_bytes()));
        self.key(2, key, length(members.len()).into_iter().chain(strings).collect())
    }

    /// Adds a sorted set as a server with default limits stores it; the scores are 1, 2, 3 and so on.
    pub fn zset(&mut self, key: impl AsRef<[u8]>, members: &[impl AsRef<str>]) -> &mut Dump {
        if members.len() <= 128 && members.iter().all(|text| text.as_ref().len() <= COMPACT_BYTES) {
            let mut pack = Listpack::default();
            for (member, score) in members.iter().zip(1..) {
                pack.text(member.as_ref()).int(score);
            }
            return self.key(17, key, string(&pack.bytes()));
        }
        let pairs = members.iter().zip(1..).flat_map(|(text, score)| {
            [string(text.as_ref().as_bytes()), f64::from(score).to_le_bytes().to_vec()].concat()
        });
        self.key(5, key, length(members.len()).into_iter().chain(pairs).collect())
    }

    /// Adds a stream.
    pub fn stream(&mut self, key: impl AsRef<[u8]>, stream: &Stream) -> &mut Dump {
        self.key(21, key, stream.bytes())
    }

    /// Adds a stream of one node, without groups; all entries have the fields of the first.
    pub fn stream_of(&mut self, key: impl AsRef<[u8]>, entries: &[&[(&str, &str)]]) -> &mut Dump {
        self.key(15, key, stream::node_of(entries))
    }

    fn key(&mut self, value_type: u8, key: impl AsRef<[u8]>, value: Vec<u8>) -> &mut Dump {
        self.bytes.push(value_type);
        self.bytes.extend(string(key.as_ref()));
        self.bytes.extend(value);
        self
    }

    /// Returns the whole file.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.bytes[..], &[0xFF], &[0; 8]].concat()
    }

    /// Returns the dump with its checksum.
    pub fn sealed(&self) -> Vec<u8> {
        let bytes = [&self.bytes[..], &[0xFF]].concat();
        let checksum = crc_fast::checksum(crc_fast::CrcAlgorithm::Crc64Redis, &bytes);
        [&bytes[..], &checksum.to_le_bytes()].concat()
    }
}

fn flat<'t>(pairs: &'t [(&'t str, &'t str)]) -> impl Iterator<Item = &'t str> {
    pairs.iter().flat_map(|(field, value)| [*field, *value])
}

/// Encodes a length.
fn length(len: usize) -> Vec<u8> {
    match len {
        0..64 => vec![len as u8],
        64..0x1_0000_0000 => [&[0x80], &u32::try_from(len).unwrap().to_be_bytes()[..]].concat(),
        _ => [&[0x81], &(len as u64).to_be_bytes()[..]].concat(),
    }
}

fn string(text: &[u8]) -> Vec<u8> {
    [length(text.len()), text.to_vec()].concat()
}

fn lzf(text: &[u8]) -> Vec<u8> {
    let block = lzf::compress(text).expect("the text of the test compresses");
    [vec![0xC3], length(block.len()), length(text.len()), block].concat()
}
