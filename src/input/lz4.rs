//! Reader of concatenated LZ4 frames that detects truncation.
//!
//! The underlying decoder reports the end at the end of a frame, before another frame, and if the input is truncated
//! between two blocks. These cases differ only in whether it has hit the end of the input: a complete frame has an end
//! mark, so its decoder never reads beyond it.

use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder;

/// Reader of the decompressed bytes of all frames.
pub(super) struct Frames<R: BufRead> {
    /// `None` only while the decoder is being replaced.
    decoder: Option<FrameDecoder<EndNoting<R>>>,
}

/// Reader that records whether the end of the input was hit.
pub(super) struct EndNoting<R> {
    reader: R,
    met_end: bool,
}

impl<R> EndNoting<R> {
    /// Creates a reader that has not hit the end.
    pub fn new(reader: R) -> Self {
        EndNoting { reader, met_end: false }
    }

    /// Returns whether the end of the input was hit.
    pub fn met_end(&self) -> bool {
        self.met_end
    }
}

impl<R: BufRead> Read for EndNoting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.met_end |= read == 0 && !into.is_empty();
        Ok(read)
    }
}

impl<R: BufRead> Frames<R> {
    pub fn new(reader: R) -> Self {
        Frames { decoder: Some(FrameDecoder::new(EndNoting::new(reader))) }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let read = decoder.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            if decoder.get_ref().met_end {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if decoder.get_mut().reader.fill_buf()?.is_empty() {
                return Ok(0);
            }
            // Use a new decoder for each frame, so that block sizes of the previous one do not apply.
            self.decoder = self.decoder.take().map(|decoder| FrameDecoder::new(decoder.into_inner()));
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
    use std::io::Write;

    fn frame(data: &[u8], size: BlockSize) -> Vec<u8> {
        let info = FrameInfo::new().block_size(size).content_checksum(true);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Frames::new(bytes).read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn concatenated_frames_are_read() {
        let mut bytes = frame(&[1; 200_000], BlockSize::Max64KB);
        bytes.extend(frame(b"", BlockSize::Max64KB));
        bytes.extend(frame(&[2; 3], BlockSize::Max256KB));
        let all = read(&bytes).unwrap();
        assert_eq!((all.len(), all[199_999], all[200_000]), (200_003, 1, 2));
    }

    #[test]
    fn frame_cut_anywhere_is_truncated() {
        let bytes = frame(&(0..200_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>(), BlockSize::Max64KB);
        for len in (1..40).chain(bytes.len() - 40..bytes.len()).chain((40..bytes.len()).step_by(9973)) {
            assert_eq!(read(&bytes[..len]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "cut at {len}");
        }
    }

    #[test]
    fn frame_cut_between_two_blocks_is_truncated() {
        // Incompressible content is stored: header (7), then blocks of 4 + 65 536 bytes.
        let content: Vec<u8> = (0..80_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let mut encoder = FrameEncoder::with_frame_info(FrameInfo::new().block_size(BlockSize::Max64KB), Vec::new());
        encoder.write_all(&content).unwrap();
        let bytes = encoder.finish().unwrap();
        let block = u32::from_le_bytes(bytes[7..11].try_into().unwrap()) & 0x7fff_ffff;
        let end = 11 + usize::try_from(block).unwrap();
        assert!(end < bytes.len());
        assert_eq!(read(&bytes[..end]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
