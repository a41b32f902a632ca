//! Reads an object as a stream, with ranges ahead of the reader.

use std::collections::VecDeque;
use std::io::{self, Read};

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::failure::broken;
use super::fetch::Object;
use crate::error::{Error, Result};
use crate::wording::wording;

/// Sizes of ranges: the first suffices for what precedes the first key, later ones are four times as long each, so that reading a
/// head costs no more than the head.
const RANGES: (u64, u64) = (64 << 10, 8 << 20);
/// Number of ranges on their way or waiting, once they have their full size: 32 MiB in all.
const AHEAD: usize = 4;
/// Number of ranges before that.
const AHEAD_AT_FIRST: usize = 1;
/// Number of parts of a body without ranges that wait for the reader.
const WAITING: usize = 64;

/// Sequential reader of an object.
pub struct ObjectReader {
    object: Object,
    requests: Requests,
    ready: VecDeque<Bytes>,
    current: Bytes,
}

enum Requests {
    /// Ranges in their order; the next one begins at `next` and has `len` bytes.
    Ranges { pending: VecDeque<JoinHandle<Result<Vec<Bytes>>>>, next: u64, len: u64 },
    /// Body of a server without ranges, once asked for, and the number of bytes read of it.
    Whole { body: Option<mpsc::Receiver<Result<Bytes>>>, read: u64 },
}

impl ObjectReader {
    pub(super) fn new(object: Object) -> ObjectReader {
        let requests = if object.has_ranges {
            Requests::Ranges { pending: VecDeque::new(), next: 0, len: RANGES.0 }
        } else {
            Requests::Whole { body: None, read: 0 }
        };
        ObjectReader { object, requests, ready: VecDeque::new(), current: Bytes::new() }
    }

    /// Waits for more bytes; false at the end.
    fn next_part(&mut self) -> Result<bool> {
        let object = &self.object;
        match &mut self.requests {
            Requests::Ranges { pending, next, len } => {
                let ahead = if *len < RANGES.1 { AHEAD_AT_FIRST } else { AHEAD };
                while pending.len() < ahead && *next < object.size() {
                    let end = next.saturating_add(*len).min(object.size());
                    pending.extend(object.runtime().start_task(object.clone().range(*next..end)));
                    (*next, *len) = (end, (*len * 4).min(RANGES.1));
                }
                let Some(first) = pending.pop_front() else { return Ok(false) };
                let parts = object.runtime().wait(first).map_err(|_| ended())??;
                self.ready.extend(parts);
                Ok(true)
            }
            Requests::Whole { body, read } => {
                let parts = body.get_or_insert_with(|| start_whole(object));
                match parts.blocking_recv() {
                    Some(part) => {
                        let part = part?;
                        *read = read.saturating_add(part.len() as u64);
                        if *read > object.size() {
                            return Err(differs(*read, object.size()));
                        }
                        self.ready.push_back(part);
                        Ok(true)
                    }
                    None if *read < object.size() => Err(differs(*read, object.size())),
                    None => Ok(false),
                }
            }
        }
    }
}

/// Starts to receive a whole body.
fn start_whole(object: &Object) -> mpsc::Receiver<Result<Bytes>> {
    let (send, receive) = mpsc::channel(WAITING);
    let of_task = object.clone();
    object.runtime().start_task(async move {
        let mut body = match of_task.whole().await {
            Ok(body) => body,
            Err(error) => {
                let _ = send.send(Err(error)).await;
                return;
            }
        };
        while let Some(part) = body.next().await {
            let part = part.map_err(|error| of_task.failed_error(&error));
            let is_last = part.is_err();
            // A failed send means that nobody reads any more.
            if send.send(part).await.is_err() || is_last {
                return;
            }
        }
    });
    receive
}

fn differs(read: u64, size: u64) -> Error {
    broken(wording!(
        "the body has {read} bytes where {size} were announced, and the server sends no ranges to resume it",
        "响应体为 {read} 字节，而声明的是 {size} 字节；该服务器不支持范围请求，无法续传"
    ))
}

fn ended() -> Error {
    broken(wording!("the request was given up", "请求已中止"))
}

impl Read for ObjectReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match self.ready.pop_front() {
                Some(part) => self.current = part,
                None if self.next_part().map_err(io::Error::other)? => {}
                None => return Ok(0),
            }
        }
        let len = self.current.len().min(into.len());
        into[..len].copy_from_slice(&self.current.split_to(len));
        Ok(len)
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        if let Requests::Ranges { pending, .. } = &self.requests {
            pending.iter().for_each(JoinHandle::abort);
        }
    }
}
