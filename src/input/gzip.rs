//! Gzip files of many members, such as those of `bgzip`, inflated on several threads.
//!
//! Nothing in a gzip file tells where its members begin. A place that looks like the beginning of one is taken for it, and what
//! lies between two such places is inflated by a thread of its own:
//!
//! ```text
//! file ─► piece ─► thread ─► bounded channel ─┐
//!         piece ─► thread ─► bounded channel ─┼─► read in the order of the file
//!         piece ─► thread ─► bounded channel ─┘
//! ```
//!
//! A piece that does not end with a member was cut at the wrong place, is damaged or is the last of a truncated file: from its
//! beginning on everything is inflated in order.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::bufread::{GzDecoder, MultiGzDecoder};

use super::source::{fill_from, read_some};

/// Size of a piece: inflating it takes a hundred times as long as starting a thread.
const PIECE: usize = 256 << 10;
/// Maximum size of a piece; longer members are inflated in order.
const MAX_PIECE_LEN: usize = 1 << 20;
/// Size of an inflated chunk.
const CHUNK: usize = 128 << 10;
/// Chunks that a thread may be ahead of the reader.
const AHEAD: usize = 16;

/// Returns a decoder. If the first bytes show that the file has many members, as many pieces are inflated at a time.
///
/// One piece at a time takes the same path, for how many bytes precede an error depends on the buffers.
pub(super) fn decoder<'a, R: Read + Send + 'a>(mut reader: R, at_once: usize) -> Box<dyn Read + Send + 'a> {
    let mut head = vec![0; PIECE];
    let (filled, end) = fill_from(&mut reader, &mut head);
    head.truncate(filled);
    let has_more = end.is_none() && has_members(&head);
    let remaining = Remaining { reader, failure: end.and_then(io::Result::err) };
    if has_more { Box::new(Members::new(head, remaining, at_once)) } else { Box::new(in_order(head, remaining)) }
}

/// Bytes that are read already, and those behind them.
type Compressed<R> = BufReader<Chain<Cursor<Vec<u8>>, Remaining<R>>>;

/// Decoder of a whole file.
///
/// Zeros behind a member are padding, as tapes and disk images leave it; `gzip` passes over them, too.
struct InOrder<R> {
    /// `None` only while the decoder is being replaced.
    member: Option<GzDecoder<Compressed<R>>>,
}

fn in_order<R: Read>(bytes: Vec<u8>, remaining: Remaining<R>) -> InOrder<R> {
    let reader = BufReader::with_capacity(PIECE, Cursor::new(bytes).chain(remaining));
    InOrder { member: Some(GzDecoder::new(reader)) }
}

impl<R: Read> Read for InOrder<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(into)?;
            if read > 0 || into.is_empty() || is_at_end(member.get_mut())? {
                return Ok(read);
            }
            self.member = self.member.take().map(|member| GzDecoder::new(member.into_inner()));
        }
        Ok(0)
    }
}

/// Passes over zeros and returns whether nothing else is left.
fn is_at_end(reader: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = reader.fill_buf()?;
        let (len, zeros) = (bytes.len(), bytes.iter().take_while(|byte| **byte == 0).count());
        reader.consume(zeros);
        if zeros < len || len == 0 {
            return Ok(len == 0);
        }
    }
}

/// Returns whether the first bytes of a file show that it has more than one member.
fn has_members(head: &[u8]) -> bool {
    is_bgzip(head) || last_member(head).is_some()
}

/// Returns whether a header says how long its member is, as `bgzip` writes it: the member is short.
fn is_bgzip(head: &[u8]) -> bool {
    matches!(head, [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, _, _, b'B', b'C', ..] if flags & 4 != 0)
}

/// Returns the place of the last member that begins behind the first byte.
fn last_member(bytes: &[u8]) -> Option<usize> {
    let places = memchr::memmem::rfind_iter(bytes, &[0x1f, 0x8b, 8]);
    places.take_while(|&place| place > 0).find(|&place| bytes.get(place..).is_some_and(may_be_header))
}

/// Returns whether these bytes may be the header of a member: flags and compressor are known ones. One in 2³⁸ of arbitrary bytes is.
fn may_be_header(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, 8, 0..0x20, _, _, _, _, 0 | 2 | 4, 0..=13 | 255, ..])
}

/// Reader of the content of a gzip file, which inflates several pieces at once.
struct Members<R> {
    /// `None` once the rest is inflated in order.
    remaining: Option<Remaining<R>>,
    /// Pieces that are inflated at a time.
    at_once: usize,
    /// Bytes that are read and belong to no piece yet.
    rest: Vec<u8>,
    /// The file has ended.
    has_ended: bool,
    /// No further pieces are cut: the file has ended or failed, or a member is too long.
    is_cut: bool,
    pieces: VecDeque<Piece>,
    in_order: Option<InOrder<R>>,
    pool: Chunks,
}

impl<R: Read> Members<R> {
    fn new(rest: Vec<u8>, remaining: Remaining<R>, at_once: usize) -> Self {
        let (pieces, pool) = (VecDeque::new(), Chunks::default());
        let remaining = Some(remaining);
        Members {
            remaining,
            at_once: at_once.max(1),
            rest,
            has_ended: false,
            is_cut: false,
            pieces,
            in_order: None,
            pool,
        }
    }

    /// Cuts the rest at the last member in it; reads until there is one, or the file ends.
    fn cut(&mut self) -> Option<Vec<u8>> {
        let remaining = self.remaining.as_mut()?;
        let mut piece = None;
        while !self.is_cut && piece.is_none() {
            // At first, the rest may be long enough.
            if self.rest.len() < PIECE || last_member(&self.rest).is_none() {
                let known = self.rest.len();
                self.rest.resize(known + PIECE, 0);
                let (filled, end) = fill_from(remaining, &mut self.rest[known..]);
                self.rest.truncate(known + filled);
                self.is_cut = end.is_some() || self.rest.len() >= MAX_PIECE_LEN;
                match end {
                    Some(Ok(())) => {
                        self.has_ended = true;
                        piece = Some(self.rest.len()).filter(|len| *len > 0);
                        break;
                    }
                    Some(Err(error)) => remaining.failure = Some(error),
                    None => {}
                }
            }
            piece = last_member(&self.rest);
        }
        let rest = self.rest.split_off(piece?);
        Some(std::mem::replace(&mut self.rest, rest))
    }

    /// Inflates in order what no thread has, behind these bytes.
    fn go_on_in_order(&mut self, mut bytes: Vec<u8>) {
        bytes.append(&mut self.rest);
        self.in_order = self.remaining.take().map(|remaining| in_order(bytes, remaining));
    }

    /// Inflates the first piece again, in order, and skips what was read of it.
    fn inflate_again(&mut self, read: u64) -> io::Result<()> {
        let bytes = self.pieces.drain(..).flat_map(|piece| piece.bytes.to_vec()).collect();
        self.go_on_in_order(bytes);
        match &mut self.in_order {
            Some(decoder) => io::copy(&mut decoder.take(read), &mut io::sink()).map(|_| ()),
            None => Ok(()),
        }
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.in_order {
                return decoder.read(into);
            }
            while self.pieces.len() < self.at_once
                && let Some(bytes) = self.cut()
            {
                self.pieces.push_back(Piece::start(bytes, &self.pool)?);
            }
            let Some(piece) = self.pieces.front_mut() else {
                if self.has_ended {
                    return Ok(0);
                }
                self.go_on_in_order(Vec::new());
                continue;
            };
            match piece.read(into, &self.pool) {
                Ok(0) => drop(self.pieces.pop_front()),
                Ok(read) => return Ok(read),
                Err(NotWhole) => {
                    let read = piece.read;
                    self.inflate_again(read)?;
                }
            }
        }
    }
}

/// The bytes of the file that are not read yet, or the error that ended it.
struct Remaining<R> {
    reader: R,
    failure: Option<io::Error>,
}

impl<R: Read> Read for Remaining<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => read_some(&mut self.reader, into),
        }
    }
}

/// Members of the file, inflated by a thread.
struct Piece {
    bytes: Arc<Vec<u8>>,
    chunks: Receiver<Inflated>,
    chunk: Vec<u8>,
    taken: usize,
    len: usize,
    /// Bytes that were read of it.
    read: u64,
}

/// Message of a thread: a buffer and how much of it is inflated, or that the piece ends with a member.
enum Inflated {
    Chunk(Vec<u8>, usize),
    Ended,
}

/// The thread has ended before the piece did.
struct NotWhole;

/// Chunks that are free, and stay in the processor's caches. There are never more than threads may be ahead.
#[derive(Clone, Default)]
struct Chunks(Arc<Mutex<Vec<Vec<u8>>>>);

impl Chunks {
    fn get(&self) -> Vec<u8> {
        self.0.lock().ok().and_then(|mut free| free.pop()).unwrap_or_else(|| vec![0; CHUNK])
    }

    fn give(&self, chunk: Vec<u8>) {
        if let Ok(mut free) = self.0.lock()
            && chunk.len() == CHUNK
        {
            free.push(chunk);
        }
    }
}

impl Piece {
    fn start(bytes: Vec<u8>, pool: &Chunks) -> io::Result<Piece> {
        let (bytes, pool) = (Arc::new(bytes), pool.clone());
        let (send, chunks) = sync_channel(AHEAD);
        let given = Arc::clone(&bytes);
        thread::Builder::new().name("gzip member".to_owned()).spawn(move || inflate(&given, &send, &pool))?;
        Ok(Piece { bytes, chunks, chunk: Vec::new(), taken: 0, len: 0, read: 0 })
    }

    fn read(&mut self, into: &mut [u8], pool: &Chunks) -> Result<usize, NotWhole> {
        while self.taken == self.len {
            match self.chunks.recv() {
                Ok(Inflated::Chunk(chunk, len)) => {
                    pool.give(std::mem::replace(&mut self.chunk, chunk));
                    (self.taken, self.len) = (0, len);
                }
                Ok(Inflated::Ended) => return Ok(0),
                Err(_) => return Err(NotWhole),
            }
        }
        let len = into.len().min(self.len - self.taken);
        into[..len].copy_from_slice(&self.chunk[self.taken..self.taken + len]);
        self.taken += len;
        self.read += len as u64;
        Ok(len)
    }
}

/// Sends the content of whole members. On an error it only ends: the bytes are inflated again, which tells what is wrong.
fn inflate(bytes: &[u8], send: &SyncSender<Inflated>, pool: &Chunks) {
    let mut decoder = MultiGzDecoder::new(bytes);
    loop {
        let mut chunk = pool.get();
        let (filled, end) = fill_from(&mut decoder, &mut chunk);
        // A send error means that nobody reads any more.
        if filled > 0 && send.send(Inflated::Chunk(chunk, filled)).is_err() {
            return;
        }
        match end {
            None => {}
            Some(Ok(())) => return drop(send.send(Inflated::Ended)),
            Some(Err(_)) => return,
        }
    }
}

#[cfg(test)]
mod tests;
