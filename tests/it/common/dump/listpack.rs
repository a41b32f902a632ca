//! Listpacks of texts and integers.

/// Listpack under construction.
#[derive(Debug, Clone, Default)]
pub struct Listpack {
    elements: Vec<u8>,
    count: usize,
}

impl Listpack {
    /// Makes a listpack of texts.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Listpack {
        let mut pack = Listpack::default();
        for text in texts {
            pack.text(text);
        }
        pack
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Listpack {
        let len = text.len();
        let head = match len {
            0..64 => vec![0x80 | len as u8],
            64..4096 => vec![0xE0 | (len >> 8) as u8, (len & 0xFF) as u8],
            _ => [&[0xF0], &u32::try_from(len).unwrap().to_le_bytes()[..]].concat(),
        };
        self.element(&[&head, text.as_bytes()].concat())
    }

    /// Adds an integer.
    pub fn int(&mut self, number: i64) -> &mut Listpack {
        match number {
            0..128 => self.element(&[number as u8]),
            _ => self.element(&[&[0xF4], &number.to_le_bytes()[..]].concat()),
        }
    }

    /// Adds an encoded element and its length from behind.
    fn element(&mut self, bytes: &[u8]) -> &mut Listpack {
        self.elements.extend(bytes);
        let size = bytes.len();
        let steps = match size {
            0..128 => 1,
            128..16_383 => 2,
            _ => 3,
        };
        // Most significant first; all but the first are marked, since servers read them from behind.
        let back = (0..steps).map(|step| {
            let bits = (size >> (7 * (steps - 1 - step)) & 127) as u8;
            if step == 0 { bits } else { bits | 128 }
        });
        self.elements.extend(back);
        self.count += 1;
        self
    }

    /// Returns the listpack as in a file.
    pub fn bytes(&self) -> Vec<u8> {
        let total = u32::try_from(self.elements.len() + 7).unwrap();
        let count = u16::try_from(self.count).unwrap_or(u16::MAX);
        [&total.to_le_bytes()[..], &count.to_le_bytes(), &self.elements, &[0xFF]].concat()
    }
}
