//! Reader of concatenated LZ4 frames that detects truncation.
//!
//! The underlying decoder reports the end at the end of a frame, before another frame, and if the input is truncated
//! between two blocks. These cases differ only in whether it has hit the end of the input: a complete frame has an end
//! mark, so its decoder never reads beyond it.

use std::io::{self, BufRead, Read};

use lz4_flex::frame::{Error, FrameDecoder};

use crate::wording::{Wording, wording};

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
            let read = match decoder.read(into) {
                Ok(read) => read,
                Err(error) => match failure(&error) {
                    Some(Error::SkippableFrame(len)) => {
                        let len = u64::from(*len);
                        if io::copy(&mut decoder.get_mut().take(len), &mut io::sink())? < len {
                            return Err(io::ErrorKind::UnexpectedEof.into());
                        }
                        0
                    }
                    _ => return Err(error),
                },
            };
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

/// Returns what is wrong with the frame, if the decoder says so.
fn failure(error: &io::Error) -> Option<&Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Says what is wrong with the frame; the decoder has names only.
pub(super) fn describe(error: &io::Error) -> Option<Wording> {
    Some(match failure(error)? {
        Error::WrongMagicNumber => wording!("no LZ4 frame begins here", "此处没有 LZ4 帧"),
        Error::HeaderChecksumError => wording!("the checksum of a frame header is wrong", "帧头校验和错误"),
        Error::BlockChecksumError => wording!("the checksum of a block is wrong", "块校验和错误"),
        Error::ContentChecksumError => wording!("the checksum of the content is wrong", "内容校验和错误"),
        Error::ContentLengthError { expected, actual } => wording!(
            "the frame has {actual} bytes of content, its header says {expected}",
            "帧内容为 {actual} 字节，帧头标明 {expected} 字节"
        ),
        Error::DictionaryNotSupported => wording!("the frame needs a dictionary", "该帧需要字典"),
        Error::UnsupportedVersion(_) | Error::UnsupportedBlocksize(_) | Error::ReservedBitsSet => {
            wording!("the frame header has unknown values", "帧头含有未知的值")
        }
        Error::InvalidBlockInfo | Error::BlockTooBig => {
            wording!("a block is longer than the frame header allows", "块长度超过帧头的限制")
        }
        Error::DecompressionError(_) => wording!("a block cannot be decompressed", "块无法解压"),
        _ => return None,
    })
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
    fn skippable_frames_are_passed_over() {
        let skippable = [&[0x5f, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"apart"].concat();
        let bytes = [frame(b"some", BlockSize::Max64KB), skippable, frame(b" more", BlockSize::Max64KB)].concat();
        assert_eq!(read(&bytes).unwrap(), b"some more");
        let cut = bytes.len() - frame(b" more", BlockSize::Max64KB).len();
        assert_eq!(read(&bytes[..cut]).unwrap(), b"some");
        assert_eq!(read(&bytes[..cut - 1]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn damage_is_described() {
        let bytes = frame(&(0..50_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>(), BlockSize::Max64KB);
        for (at, word) in [(6, "header"), (40, "block"), (bytes.len() - 1, "content")] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            let error = read(&damaged).unwrap_err();
            let said = describe(&error).unwrap().en;
            assert!(said.contains(word) || at == 40 && said.contains("content"), "{at}: {said}");
        }
        assert_eq!(
            describe(&read(&[&bytes[..], b"something else"].concat()).unwrap_err()).unwrap().en,
            "no LZ4 frame begins here"
        );
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
