//! Compact encodings of small collections: listpacks and intsets.
//!
//! ```text
//! listpack  bytes:u32 elements:u16 { element length-of-it-backwards }* FF
//! intset    width:u32 elements:u32 { number }*
//! ```

/// Builder of a listpack.
#[derive(Debug)]
pub struct Listpack {
    bytes: Vec<u8>,
    elements: u16,
}

const HEADER: usize = 6;

impl Listpack {
    pub fn new() -> Listpack {
        Listpack { bytes: vec![0; HEADER], elements: 0 }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a text of at most 4095 bytes that is not a number.
    pub fn text(&mut self, text: &[u8]) -> &mut Self {
        let start = self.bytes.len();
        match text.len() {
            len @ 0..64 => self.bytes.push(0x80 | len as u8),
            len => self.bytes.extend([0xE0 | (len >> 8) as u8, len as u8]),
        }
        self.bytes.extend_from_slice(text);
        self.end(start)
    }

    /// Appends an integer.
    pub fn number(&mut self, number: i64) -> &mut Self {
        let start = self.bytes.len();
        match number {
            0..128 => self.bytes.push(number as u8),
            -4096..4096 => self.bytes.extend((number as u16 & 0x1FFF | 0xC000).to_be_bytes()),
            -32_768..32_768 => self.bytes.extend([&[0xF1], &number.to_le_bytes()[..2]].concat()),
            -8_388_608..8_388_608 => self.bytes.extend([&[0xF2], &number.to_le_bytes()[..3]].concat()),
            -2_147_483_648..2_147_483_648 => self.bytes.extend([&[0xF3], &number.to_le_bytes()[..4]].concat()),
            _ => self.bytes.extend([&[0xF4], &number.to_le_bytes()[..]].concat()),
        }
        self.end(start)
    }

    /// Appends the length of the element that began at `start`, seven bits per byte, to be read backwards.
    fn end(&mut self, start: usize) -> &mut Self {
        let len = self.bytes.len() - start;
        match len {
            0..128 => self.bytes.push(len as u8),
            _ => self.bytes.extend([(len >> 7) as u8, len as u8 | 0x80]),
        }
        self.elements += 1;
        self
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0xFF);
        let total = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&total.to_le_bytes());
        self.bytes[4..HEADER].copy_from_slice(&self.elements.to_le_bytes());
        self.bytes
    }
}

/// Encodes sorted, distinct numbers as an intset.
pub fn intset(numbers: &[i64]) -> Vec<u8> {
    let fits = |bits: u32| numbers.iter().all(|number| (-(1i64 << (bits - 1))..1 << (bits - 1)).contains(number));
    let width = if fits(16) {
        2
    } else if fits(32) {
        4
    } else {
        8
    };
    let mut bytes = Vec::new();
    bytes.extend((width as u32).to_le_bytes());
    bytes.extend((numbers.len() as u32).to_le_bytes());
    numbers.iter().for_each(|number| bytes.extend(&number.to_le_bytes()[..width]));
    bytes
}
