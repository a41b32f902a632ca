//! Reader of concatenated zstd frames that passes on all that was decompressed before an error.
//!
//! The decoder forgets what it wrote in a call that fails. It is given no more input than it asks for, which ends with a block, so
//! that a damaged block or checksum fails in a call of its own.

use std::io::{self, BufRead, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// Reader of the decompressed bytes of all frames.
pub(super) struct Frames<R> {
    reader: R,
    decoder: Decoder<'static>,
    /// Input that the decoder wants next; 0 between two frames.
    wanted: usize,
    /// True if the decoder may have output for which there was no room.
    has_more: bool,
}

impl<R: BufRead> Frames<R> {
    /// Creates a reader whose frames may have windows up to this size, which the decoder allocates.
    pub fn new(reader: R, window_log: u32) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(window_log))?;
        Ok(Frames { reader, decoder, wanted: 0, has_more: false })
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            let input: &[u8] = if self.has_more { &[] } else { self.reader.fill_buf()? };
            if input.is_empty() && !self.has_more {
                return if self.wanted == 0 { Ok(0) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            let piece = input.get(..self.wanted.max(1)).unwrap_or(input);
            let (mut source, room) = (InBuffer::around(piece), into.len());
            let mut target = OutBuffer::around(&mut *into);
            let wanted = self.decoder.run(&mut source, &mut target)?;
            let (taken, written) = (source.pos(), target.pos());
            self.reader.consume(taken);
            self.has_more = written == room;
            if taken > 0 || written > 0 {
                self.wanted = wanted;
            }
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;

    fn frame(data: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    /// Text that takes several blocks.
    fn text() -> Vec<u8> {
        (0u32..60_000).flat_map(|number| format!("{};", number.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    /// Reads pieces of this size, from a buffer that holds few bytes, until the end or an error.
    fn read(bytes: &[u8], piece: usize) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut frames = Frames::new(BufReader::with_capacity(1000, bytes), 27).unwrap();
        let (mut content, mut room) = (Vec::new(), vec![0; piece]);
        loop {
            match frames.read(&mut room) {
                Ok(0) => return (content, None),
                Ok(read) => content.extend_from_slice(&room[..read]),
                Err(error) => return (content, Some(error.kind())),
            }
        }
    }

    const PIECES: [usize; 4] = [7, 1000, 128 << 10, 1 << 20];

    #[test]
    fn frames_follow_each_other() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let bytes = [skippable.clone(), frame(&text()), frame(b""), skippable, frame(b"end")].concat();
        for piece in PIECES {
            let (content, error) = read(&bytes, piece);
            assert!(content == [&text()[..], b"end"].concat() && error.is_none(), "{piece}");
        }
        assert_eq!(read(b"", 10), (Vec::new(), None));
    }

    #[test]
    fn what_precedes_a_false_checksum_is_read() {
        let mut bytes = frame(&text());
        *bytes.last_mut().unwrap() ^= 1;
        for piece in PIECES {
            let (content, error) = read(&bytes, piece);
            assert!(content == text() && error.is_some(), "{piece}");
        }
    }

    #[test]
    fn a_truncated_frame_ends_early() {
        let bytes = frame(&text());
        for cut in [1, 3, 4, 5, 100, bytes.len() / 2, bytes.len() - 4, bytes.len() - 1] {
            for piece in PIECES {
                let (content, error) = read(&bytes[..cut], piece);
                assert!(text().starts_with(&content), "{cut}");
                assert_eq!(error, Some(io::ErrorKind::UnexpectedEof), "{cut} {piece}");
            }
        }
    }
}
