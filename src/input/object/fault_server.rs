//! HTTP/1.1 server on the loopback interface that misbehaves as told: for tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Fault of one answer about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this status and code.
    Status(u16, &'static str),
    /// Answers with this status and code, also to HEAD.
    Refused(u16, &'static str),
    /// Answers with this status and code once a range begins at this byte or later.
    From(usize, u16, &'static str),
    /// Closes the connection after so many bytes of the body.
    Cut(usize),
    /// Announces and sends so many bytes less than the range has.
    Short(usize),
    /// Sends so many bytes more than the range has.
    Long(usize),
    /// Answers with another range than the one that was asked for.
    OtherRange,
    /// Sends nothing for so long.
    Silent(Duration),
    /// Replaces the object before it answers.
    Replace,
}

/// Object of the server.
#[derive(Debug, Clone)]
pub struct Served {
    pub bytes: Vec<u8>,
    pub etag: Option<&'static str>,
    /// Faults of the answers to GET requests, the first one first; later ones are sound.
    pub faults: Vec<Fault>,
    /// Answers the faults again and again.
    pub forever: bool,
    /// False if ranges are ignored.
    pub ranges: bool,
}

impl Served {
    pub fn new(bytes: Vec<u8>) -> Served {
        Served { bytes, etag: Some("\"one\""), faults: Vec::new(), forever: false, ranges: true }
    }
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Served>,
    /// Requests as `GET /bucket/key bytes=0-9`, `PUT /bucket/key text/html`.
    log: Vec<String>,
    /// Raw answer to every list, instead of a true one.
    list: Option<String>,
}

/// A running server; ends with the tests.
#[derive(Clone)]
pub struct FaultServer {
    pub at: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl FaultServer {
    pub fn start() -> FaultServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = FaultServer { at: listener.local_addr().unwrap(), state: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(connection.unwrap()));
            }
        });
        server
    }

    /// Puts an object at a path such as `/bucket/key`.
    pub fn put(&self, path: &str, object: Served) {
        self.change(|state| state.objects.insert(path.to_owned(), object));
    }

    /// Answers lists with this text.
    pub fn answer_lists(&self, text: &str) {
        self.change(|state| state.list = Some(text.to_owned()));
    }

    /// Returns the requests so far.
    pub fn log(&self) -> Vec<String> {
        self.change(|state| state.log.clone())
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut out = stream;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let mut words = line.split_whitespace();
            let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
            let (mut range, mut if_match, mut len) = (None, None, 0);
            let mut content_type = None;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).ok()?;
                let Some((name, value)) = header.trim_end().split_once(": ") else { break };
                match name.to_ascii_lowercase().as_str() {
                    "content-type" => content_type = Some(value.to_owned()),
                    "range" => range = Some(value.to_owned()),
                    "content-length" => len = value.parse().ok()?,
                    "if-match" => if_match = Some(value.to_owned()),
                    _ => {}
                }
            }
            let shown = range.as_deref().or(content_type.as_deref()).unwrap_or("-").to_owned();
            self.change(|state| state.log.push(format!("{method} {target} {shown}")));
            let mut body = vec![0; len];
            reader.read_exact(&mut body).ok()?;
            if method == "PUT" {
                self.take(&mut out, &target, body)?;
                continue;
            }
            self.answer(&mut out, &method, &target, range.as_deref(), if_match.as_deref())?;
        }
    }

    /// Takes an object, or refuses it if the object there has a fault.
    fn take(&self, out: &mut TcpStream, target: &str, body: Vec<u8>) -> Option<()> {
        let fault = self.change(|state| state.objects.get(target).and_then(|object| object.faults.first().copied()));
        if let Some(Fault::Status(status, code)) = fault {
            let body = format!("<Error><Code>{code}</Code></Error>");
            return send(out, status, &[], body.as_bytes(), body.len());
        }
        self.put(target, Served::new(body));
        send(out, 200, &[("etag", "\"one\"")], b"", 0)
    }

    /// Returns the content of an object.
    pub fn content(&self, path: &str) -> Option<Vec<u8>> {
        self.change(|state| state.objects.get(path).map(|object| object.bytes.clone()))
    }

    fn answer(
        &self,
        out: &mut TcpStream,
        method: &str,
        target: &str,
        range: Option<&str>,
        if_match: Option<&str>,
    ) -> Option<()> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if query.contains("list-type=2") {
            let body = self.list(path, query);
            return send(out, 200, &[("content-type", "application/xml")], body.as_bytes(), body.len());
        }
        let is_get = method == "GET";
        let found = self.change(|state| {
            let object = state.objects.get_mut(path)?;
            let fault = object.faults.first().copied();
            let fault = fault.filter(|fault| is_get || matches!(fault, Fault::Refused(..)));
            if is_get && !object.forever && fault.is_some() {
                object.faults.remove(0);
            }
            if fault == Some(Fault::Replace) {
                object.etag = Some("\"two\"");
                object.bytes = object.bytes.iter().map(|byte| byte ^ 1).collect();
            }
            Some((object.clone(), fault))
        });
        let Some((object, fault)) = found else {
            let body = if is_get { "<Error><Code>NoSuchKey</Code></Error>" } else { "" };
            return send(out, 404, &[], body.as_bytes(), body.len());
        };
        let whole = object.bytes.len();
        let etag = object.etag.unwrap_or_default();
        if if_match.is_some_and(|wanted| wanted != etag) {
            return send(out, 412, &[], b"", 0);
        }
        let modified = ("last-modified", "Sun, 22 Nov 2026 01:00:00 GMT");
        let mut headers = vec![modified];
        if object.etag.is_some() {
            headers.push(("etag", etag));
        }
        let asked = range.filter(|_| object.ranges).and_then(|range| {
            let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
            Some((from.parse::<usize>().ok()?, (to.parse::<usize>().ok()? + 1).min(whole)))
        });
        let (from, to) = asked.unwrap_or((0, whole));
        if asked.is_some() && from >= whole {
            return send(out, 416, &[], b"", 0);
        }
        let shift = usize::from(fault == Some(Fault::OtherRange));
        let content_range = format!("bytes {}-{}/{whole}", from + shift, to.saturating_sub(1));
        if asked.is_some() {
            headers.push(("content-range", &content_range));
        }
        let status = if asked.is_some() { 206 } else { 200 };
        let body = object.bytes.get(from..to).unwrap_or_default();
        if !is_get {
            return match fault {
                Some(Fault::Refused(status, _)) => send(out, status, &[], b"", 0),
                _ => send(out, status, &headers, b"", body.len()),
            };
        }
        let fault = fault.filter(|fault| !matches!(fault, Fault::From(at, ..) if from < *at));
        match fault {
            Some(Fault::Status(status, code) | Fault::Refused(status, code) | Fault::From(_, status, code)) => {
                let body = format!("<Error><Code>{code}</Code><Message>hunter2</Message></Error>");
                send(out, status, &[], body.as_bytes(), body.len())
            }
            Some(Fault::Cut(len)) => {
                send(out, status, &headers, &body[..len.min(body.len())], body.len());
                None
            }
            Some(Fault::Short(len)) => {
                let short = &body[..body.len().saturating_sub(len)];
                send(out, status, &headers, short, short.len())
            }
            Some(Fault::Long(len)) => {
                let long = [body, &vec![0; len]].concat();
                send(out, status, &headers, &long, long.len())
            }
            Some(Fault::Silent(time)) => {
                thread::sleep(time);
                None
            }
            Some(Fault::OtherRange | Fault::Replace) | None => send(out, status, &headers, body, body.len()),
        }
    }

    /// Lists a bucket, two objects a page.
    fn list(&self, bucket: &str, query: &str) -> String {
        let of = |name: &str| {
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            pair.unwrap_or_default().replace("%2F", "/")
        };
        let (prefix, after, delimiter) = (of("prefix"), of("continuation-token"), of("delimiter"));
        self.change(|state| {
            if let Some(list) = &state.list {
                return list.clone();
            }
            let start = format!("{}/", bucket.trim_end_matches('/'));
            let (mut listed, mut folders) = (Vec::new(), Vec::new());
            for (path, object) in &state.objects {
                let Some(key) = path.strip_prefix(&start).filter(|key| key.starts_with(&prefix)) else { continue };
                match key[prefix.len()..].find('/').filter(|_| !delimiter.is_empty()) {
                    Some(at) => folders.push(key[..=prefix.len() + at].to_owned()),
                    None if key > after.as_str() => listed.push((key.to_owned(), object.bytes.len(), object.etag)),
                    None => {}
                }
            }
            let more = listed.len() > 2;
            listed.truncate(2);
            let mut xml = String::from("<ListBucketResult>");
            for (key, size, etag) in &listed {
                let etag = etag.unwrap_or_default().replace('"', "&quot;");
                let _ = write!(
                    xml,
                    "<Contents><Key>{key}</Key><Size>{size}</Size><ETag>{etag}</ETag>\
                     <LastModified>2026-11-22T01:00:00.000Z</LastModified></Contents>"
                );
            }
            folders.dedup();
            for folder in folders {
                let _ = write!(xml, "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
            }
            if let Some((last, ..)) = listed.last().filter(|_| more) {
                let _ = write!(xml, "<NextContinuationToken>{last}</NextContinuationToken>");
            }
            xml + "</ListBucketResult>"
        })
    }
}

/// Sends an answer that announces `len` bytes.
fn send(out: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &[u8], len: usize) -> Option<()> {
    let mut head = format!("HTTP/1.1 {status} Told\r\ncontent-length: {len}\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    out.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    out.write_all(body).ok()
}
