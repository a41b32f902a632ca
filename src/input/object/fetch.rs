//! Objects and their ranges, repeated and resumed until they are whole.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use object_store::path::Path as StorePath;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStoreExt};

use super::address::{Address, MAX_KEY_LEN, too_long as too_long_key, unusable};
use super::failure::{Answer, broken, replaced};
use super::reader::ObjectReader;
use super::runtime::Runtime;
use super::store::{PAUSES, Store};
use crate::error::{Error, Result};
use crate::wording::wording;

/// Time after which a range is asked for anew, however slowly its bytes arrive.
const SLOWEST: Duration = Duration::from_secs(600);

/// Object in a store or on a web server, as it was when it was found.
#[derive(Clone)]
pub struct Object {
    address: Address,
    path: StorePath,
    pub(super) store: Arc<Store>,
    size: u64,
    etag: Option<String>,
    /// Seconds since 1970 of the last change, if the server told.
    modified: Option<i64>,
    /// False for web servers that send whole files only.
    pub(super) has_ranges: bool,
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        (&self.address, self.size, &self.etag) == (&other.address, other.size, &other.etag)
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address.hash(state);
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Clients hold credentials, queries may be signatures.
        write!(f, "Object({})", self.address)
    }
}

/// Facts about an object from a list or a plan.
#[derive(Debug, Clone)]
pub struct Facts {
    pub size: u64,
    pub etag: Option<String>,
}

/// Failed attempt at a range.
struct Failure {
    error: Error,
    /// True if another attempt may succeed.
    may_pass: bool,
}

impl Object {
    /// Returns an object whose facts are known.
    pub(super) fn known(address: Address, store: &Arc<Store>, facts: Facts) -> Result<Object> {
        let path = path_of(&address)?;
        let Facts { size, etag } = facts;
        Ok(Object { address, path, store: Arc::clone(store), size, etag, modified: None, has_ranges: true })
    }

    /// Asks a store for an object; `None` if there is none.
    pub(super) fn find(address: Address, store: &Arc<Store>) -> Result<std::result::Result<Object, Error>> {
        let path = path_of(&address)?;
        let is_web = address.scheme.is_web();
        let found = store.runtime.wait(async {
            if !is_web {
                return store.objects.head(&path).await.map(|meta| (meta, true));
            }
            // Signed addresses allow GET only.
            let first = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
            match store.objects.get_opts(&path, first).await {
                // An empty file has no first byte to send.
                Err(error) if has_no_ranges(&error) => {
                    store.objects.get_opts(&path, GetOptions::default()).await.map(|result| (result.meta, false))
                }
                result => result.map(|result| (result.meta, true)),
            }
        });
        let found = found.map_err(|error| if is_web { error } else { with_code(error, &path, store) });
        match found {
            Ok((meta, has_ranges)) => {
                let ObjectMeta { size, e_tag: etag, last_modified, .. } = meta;
                let modified = Some(last_modified.timestamp()).filter(|seconds| *seconds != 0);
                Ok(Ok(Object { address, path, store: Arc::clone(store), size, etag, modified, has_ranges }))
            }
            Err(error) => {
                let answer = Answer::of(&error);
                let error = answer.error(address.scheme).in_file(&address.to_string());
                if answer.status == Some(404) && !answer.of_credentials { Ok(Err(error)) } else { Err(error) }
            }
        }
    }

    /// Returns the address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the tag of the content.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Returns a reader of the bytes. Asks for nothing before it is read from.
    pub fn reader(&self) -> ObjectReader {
        ObjectReader::new(self.clone())
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.store.runtime
    }

    /// Fetches a range, asking again for what is missing.
    pub(super) async fn range(self, range: Range<u64>) -> Result<Vec<Bytes>> {
        let (mut got, mut at, mut pause) = (Vec::new(), range.start, PAUSES.0);
        let mut left = self.store.retries;
        loop {
            let attempt = self.attempt(&mut at, range.end, &mut got);
            let failure = match tokio::time::timeout(SLOWEST, attempt).await {
                Ok(Ok(())) if at == range.end => return Ok(got),
                Ok(Ok(())) => self.cut(at, range.end),
                Ok(Err(failure)) => failure,
                Err(_) => self.cut(at, range.end),
            };
            if !failure.may_pass || left == 0 {
                return Err(failure.error);
            }
            left -= 1;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn attempt(&self, at: &mut u64, end: u64, got: &mut Vec<Bytes>) -> std::result::Result<(), Failure> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(*at..end)),
            if_match: self.etag.as_deref().and_then(condition),
            ..GetOptions::default()
        };
        // A request that fails has been repeated by the client.
        let refused = |error| Failure { error: self.failed_error(&error), may_pass: false };
        let result = self.store.objects.get_opts(&self.path, options).await.map_err(refused)?;
        self.check(&result)?;
        let mut stream = result.into_stream();
        while let Some(bytes) = stream.next().await {
            let bytes = bytes.map_err(|error| self.failed(&error))?;
            let len = bytes.len() as u64;
            if len > end - *at {
                return Err(Failure { error: too_long(end), may_pass: false });
            }
            *at += len;
            got.push(bytes);
        }
        Ok(())
    }

    /// Asks for the whole object, from a server without ranges.
    pub(super) async fn whole(&self) -> Result<impl Stream<Item = object_store::Result<Bytes>> + use<>> {
        let result = self.store.objects.get_opts(&self.path, GetOptions::default()).await;
        let result = result.map_err(|error| self.failed_error(&error))?;
        self.check(&result).map_err(|failure| failure.error)?;
        Ok(result.into_stream())
    }

    /// Checks that an answer is about the object that was found.
    fn check(&self, result: &GetResult) -> std::result::Result<(), Failure> {
        let meta = &result.meta;
        let is_other = match (&self.etag, &meta.e_tag) {
            (Some(then), Some(now)) => plain_tag(then) != plain_tag(now),
            _ => self.modified.is_some_and(|then| then != meta.last_modified.timestamp()),
        };
        if is_other || meta.size != self.size {
            return Err(Failure { error: replaced(), may_pass: false });
        }
        Ok(())
    }

    pub(super) fn failed_error(&self, error: &object_store::Error) -> Error {
        self.failed(error).error
    }

    fn failed(&self, error: &object_store::Error) -> Failure {
        let answer = Answer::of(error);
        Failure { error: answer.error(self.address.scheme), may_pass: answer.may_pass() }
    }

    fn cut(&self, at: u64, end: u64) -> Failure {
        let retries = self.store.retries;
        let what = wording!(
            "the response ended at byte {at} of the object instead of {end}, also after {retries} retries",
            "响应在对象的第 {at} 字节处结束，应到第 {end} 字节；重试 {retries} 次后依然如此"
        );
        Failure { error: broken(what), may_pass: true }
    }
}

fn too_long(end: u64) -> Error {
    broken(wording!(
        "the response continues after byte {end} of the object, where it should end",
        "响应在应当结束的对象第 {end} 字节之后仍有数据"
    ))
}

/// Returns whether a server sends the whole object only, or has no byte to send.
fn has_no_ranges(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotSupported { .. }) || Answer::of(error).status == Some(416)
}

/// Asks once more for an object that was refused: answers to HEAD have no body, and so no code.
fn with_code(error: object_store::Error, path: &StorePath, store: &Store) -> object_store::Error {
    let answer = Answer::of(&error);
    if answer.of_credentials || !matches!(answer.status, Some(400 | 401 | 403)) {
        return error;
    }
    let first = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
    let again = store.runtime.wait(store.objects.get_opts(path, first)).err();
    again.filter(|again| Answer::of(again).code.is_some()).unwrap_or(error)
}

/// Returns the path of a key; keys whose names cannot be sent as they are have none.
pub(super) fn path_of(address: &Address) -> Result<StorePath> {
    let refused = || {
        let error = unusable(
            wording!(
                "a key must not be empty, begin with / or have two of them in a row, nor parts . and ..",
                "对象键不能为空、不能以 / 开头、不能有连续的 /，也不能有 . 与 .. 段"
            ),
            wording!(
                "name an object, a prefix that ends with /, or a pattern",
                "请指定对象、以 / 结尾的前缀，或通配符"
            ),
        );
        error.in_file(&address.to_string())
    };
    // Clients panic on keys that do not fit into a request, and a list may hold any.
    if !address.scheme.is_web() && address.key.len() > MAX_KEY_LEN {
        return Err(too_long_key(MAX_KEY_LEN));
    }
    let path =
        if address.scheme.is_web() { StorePath::from_url_path(&address.key) } else { StorePath::parse(&address.key) };
    let path = path.map_err(|_| refused())?;
    let is_same = address.scheme.is_web() || path.as_ref() == address.key;
    if path.as_ref().is_empty() || !is_same { Err(refused()) } else { Ok(path) }
}

/// Returns a tag without what servers write around it.
fn plain_tag(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}

/// Returns the condition that the tag is still the same. Weak tags match nothing; lists of Azure have them without quotes.
fn condition(tag: &str) -> Option<String> {
    match tag {
        _ if tag.starts_with("W/") => None,
        // Lists may hold what is no header.
        _ if !tag.bytes().all(|byte| byte.is_ascii_graphic()) => None,
        _ if tag.starts_with('"') => Some(tag.to_owned()),
        _ => Some(format!("\"{tag}\"")),
    }
}
