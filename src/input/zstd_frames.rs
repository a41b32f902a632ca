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
