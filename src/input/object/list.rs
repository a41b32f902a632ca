//! Lists of objects under a prefix.

use object_store::Error as StoreError;
use object_store::list::PaginatedListOptions;

use super::address::{Address, unusable};
use super::failure::{Answer, broken};
use super::fetch::Facts;
use super::store::Store;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{MAX_LIST_PAGES, MAX_LISTED};
use crate::sorting::CompactSort;
use crate::wording::wording;

/// Folder of a server's append-only files.
pub const APPEND_ONLY: &str = "appendonlydir";

/// How far a list goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Objects whose keys have no further `/` after the prefix.
    Folder,
    /// All objects under the prefix.
    All,
}

/// Objects under a prefix.
#[derive(Debug, Default)]
pub struct Listed {
    /// The objects, sorted by key.
    pub entries: Vec<(String, Facts)>,
    /// True if there is a folder `appendonlydir` right below the prefix.
    pub has_append_only: bool,
}

/// Longest token that continues a list; the client panics on one that does not fit into a request.
const MAX_TOKEN_LEN: usize = 16_000;

/// Lists the objects whose keys begin with the key of `prefix` and satisfy `wanted`, sorted by key.
///
/// Bounded by the number of objects and pages, whatever a server sends; keys outside of the prefix are passed over.
pub fn list(store: &Store, prefix: &Address, depth: Depth, wanted: impl Fn(&str) -> bool) -> Result<Listed> {
    let Some(pages) = &store.pages else { return Err(lists_nothing()) };
    let key = Some(prefix.key.as_str()).filter(|key| !key.is_empty());
    let (mut found, mut seen, mut token) = (Vec::new(), 0usize, None);
    let mut has_append_only = false;
    for _ in 0..MAX_LIST_PAGES {
        let delimiter = (depth == Depth::Folder).then(|| "/".into());
        let options = PaginatedListOptions { delimiter, page_token: token.clone(), ..PaginatedListOptions::default() };
        let page = store.runtime.wait(pages.list_paginated(key, options));
        let page = page.map_err(|error| refused(&error, store))?;
        let append_only = format!("{}{APPEND_ONLY}", prefix.key);
        has_append_only |= page.result.common_prefixes.iter().any(|folder| folder.as_ref() == append_only);
        for meta in page.result.objects {
            let name = meta.location.as_ref();
            let is_below = name.strip_prefix(&prefix.key);
            let is_inside = is_below.is_some_and(|rest| depth == Depth::All || !rest.contains('/'));
            if is_inside && wanted(name) {
                found.push((name.to_owned(), Facts { size: meta.size, etag: meta.e_tag }));
            }
            seen += 1;
        }
        if seen > MAX_LISTED {
            return Err(too_many());
        }
        match page.page_token {
            None => {
                found.compact_sort_by(|one, other| one.0.cmp(&other.0));
                found.dedup_by(|one, other| one.0 == other.0);
                return Ok(Listed { entries: found, has_append_only });
            }
            Some(next) if token.as_ref() == Some(&next) => {
                return Err(broken(wording!("the list of objects never ends", "对象列表始终没有结束")));
            }
            Some(next) if next.len() > MAX_TOKEN_LEN => {
                return Err(broken(wording!("the list of objects cannot be continued", "对象列表无法继续")));
            }
            next => token = next,
        }
    }
    Err(too_many())
}

/// Words the failure of a list. The client refuses a list with a key that it cannot name, wanted or not.
fn refused(error: &StoreError, store: &Store) -> Error {
    if !matches!(error, StoreError::InvalidPath { .. }) {
        return Answer::of(error).error(store.scheme);
    }
    unusable(
        wording!(
            "the list has a key with control characters, an empty part, or a part . or .., which cannot be read",
            "列表中有对象键含控制字符、空段、. 段或 .. 段，无法读取"
        ),
        wording!(
            "rename that object, or give a longer prefix that does not match it",
            "请重命名该对象，或指定不匹配它的更长前缀"
        ),
    )
}

fn too_many() -> Error {
    let what = wording!("more than {MAX_LISTED} objects under this prefix", "该前缀下的对象超过 {MAX_LISTED} 个");
    Error::new(ErrorKind::Limit(what)).with_remedy(wording!("give a longer prefix", "请指定更长的前缀"))
}

/// Returns the error for a prefix or a pattern on a web server.
pub fn lists_nothing() -> Error {
    unusable(
        wording!("a web server does not list its files", "Web 服务器不列举文件"),
        wording!("name each file", "请逐个指定文件"),
    )
}
