//! Dumps built by tests: a few keys in the encodings under test.

/// Builder of a dump of version 11, without a checksum.
#[derive(Debug, Clone)]
pub struct Dump(Vec<u8>);

impl Dump {
    /// Starts a dump without keys.
    pub fn new() -> Dump {
        let mut bytes = b"REDIS0011".to_vec();
        for (name, value) in [("redis-ver", "7.2.4"), ("ctime", "1700000000")] {
            bytes.push(0xFA);
            bytes.extend(string(name.as_bytes()));
            bytes.extend(string(value.as_bytes()));
        }
        bytes.extend([0xFE, 0]);
        Dump(bytes)
    }

    /// Adds a string as it is.
    pub fn string(&mut self, key: &str, value: impl AsRef<[u8]>) -> &mut Dump {
        self.key(0, key, string(value.as_ref()))
    }

    /// Adds a compressed string.
    pub fn compressed(&mut self, key: &str, value: impl AsRef<[u8]>) -> &mut Dump {
        self.key(0, key, lzf(value.as_ref()))
    }

    /// Adds a hash as a table.
    pub fn hash(&mut self, key: &str, pairs: &[(&str, &str)]) -> &mut Dump {
        let strings =
            pairs.iter().flat_map(|(field, value)| [string(field.as_bytes()), string(value.as_bytes())].concat());
        let bytes = length(pairs.len()).into_iter().chain(strings).collect();
        self.key(4, key, bytes)
    }

    /// Adds a hash as a listpack.
    pub fn hash_listpack(&mut self, key: &str, pairs: &[(&str, &str)]) -> &mut Dump {
        self.key(16, key, string(&listpack(pairs)))
    }

    /// Adds a hash as a compressed listpack.
    pub fn hash_compressed(&mut self, key: &str, pairs: &[(&str, &str)]) -> &mut Dump {
        self.key(16, key, lzf(&listpack(pairs)))
    }

    /// Adds a list in the oldest encoding.
    pub fn list(&mut self, key: &str, elements: &[&str]) -> &mut Dump {
        let strings = elements.iter().flat_map(|element| string(element.as_bytes()));
        let bytes = length(elements.len()).into_iter().chain(strings).collect();
        self.key(1, key, bytes)
    }

    /// Sets the expiry of the next key, in milliseconds.
    pub fn expires_at(&mut self, millis: i64) -> &mut Dump {
        self.0.push(0xFC);
        self.0.extend(millis.to_le_bytes());
        self
    }

    /// Sets the idle time of the next key, in seconds.
    pub fn idle(&mut self, seconds: i64) -> &mut Dump {
        self.0.push(0xF8);
        self.0.extend(length(usize::try_from(seconds).unwrap()));
        self
    }

    fn key(&mut self, value_type: u8, key: &str, value: Vec<u8>) -> &mut Dump {
        self.0.push(value_type);
        self.0.extend(string(key.as_bytes()));
        self.0.extend(value);
        self
    }

    /// Returns the whole file.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.0[..], &[0xFF], &[0; 8]].concat()
    }
}

/// Encodes a length.
fn length(len: usize) -> Vec<u8> {
    match len {
        0..64 => vec![len as u8],
        _ => [&[0x80], &u32::try_from(len).unwrap().to_be_bytes()[..]].concat(),
    }
}

fn string(text: &[u8]) -> Vec<u8> {
    [length(text.len()), text.to_vec()].concat()
}

fn lzf(text: &[u8]) -> Vec<u8> {
    let block = lzf::compress(text).expect("the text of the test compresses");
    [vec![0xC3], length(block.len()), length(text.len()), block].concat()
}

/// Encodes texts of at most 4095 bytes as a listpack.
fn listpack(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut elements = Vec::new();
    for text in pairs.iter().flat_map(|(field, value)| [field, value]) {
        let (len, start) = (text.len(), elements.len());
        match len {
            0..64 => elements.push(0x80 | len as u8),
            _ => elements.extend([0xE0 | (len >> 8) as u8, (len & 0xFF) as u8]),
        }
        elements.extend(text.as_bytes());
        let size = elements.len() - start;
        match size {
            0..128 => elements.push(size as u8),
            _ => elements.extend([(size >> 7) as u8, (size & 127) as u8 | 128]),
        }
    }
    let total = u32::try_from(elements.len() + 7).unwrap();
    let count = u16::try_from(pairs.len() * 2).unwrap();
    [&total.to_le_bytes()[..], &count.to_le_bytes(), &elements, &[0xFF]].concat()
}
