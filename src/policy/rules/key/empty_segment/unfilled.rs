//! Segments that stand for an id which was never filled in: missing values (`user:null`), and placeholders of formats and templates
//! (`user:%d`, `user:%!s(MISSING)`, `user:%(id)s`, `user:${id}`, `user:{user_id}`).

use crate::pattern::segment::Separators;
use crate::policy::content::{is_hump, is_one_of};

/// Segments that stand for an id that was never filled in: missing values as languages write them.
pub const UNFILLED: [&str; 9] =
    ["null", "NULL", "undefined", "nil", "NaN", "None", "(null)", "<nil>", "[object Object]"];

/// Names of ids in which nothing marks the word `id`. Other words may just end with these letters: `paid`, `grid`.
const JOINED_IDS: [&[u8]; 25] = [
    b"uid",
    b"mid",
    b"pid",
    b"tid",
    b"gid",
    b"cid",
    b"oid",
    b"sid",
    b"rid",
    b"uuid",
    b"guid",
    b"userid",
    b"openid",
    b"unionid",
    b"orderid",
    b"roomid",
    b"deviceid",
    b"tenantid",
    b"memberid",
    b"productid",
    b"goodsid",
    b"itemid",
    b"shopid",
    b"accountid",
    b"sessionid",
];

/// Letters that end a placeholder of `printf`, Go or Python, and those that may stand before one for the size of a number.
const VERBS: &[u8] = b"vdiuxXofFegscpqTtr";
const SIZES: &[u8] = b"hlLjzt";

/// Segments before `null` that say that it is what is cached.
const CACHES: [&[u8]; 5] = [b"cache", b"caches", b"cached", "缓存".as_bytes(), b"huancun"];

/// Returns the number of segments of a name, without the braces of its tag, that stand for an id that was never filled in.
pub fn unfilled(name: &[u8], separators: &Separators) -> u64 {
    let (mut count, mut before, mut segments) = (0, &b""[..], separators.split(name).peekable());
    while let Some(segment) = segments.next() {
        let is_unfilled = UNFILLED.iter().any(|word| word.as_bytes() == segment);
        let names_cached = segments.peek().is_some() && is_one_of(before, &CACHES);
        count += u64::from(is_unfilled && !names_cached);
        before = segment;
    }
    count
}

/// Returns the number of segments of a name that are placeholders of a format or a template: `%d`, `${id}`, `{user_id}`. The name is given
/// as the parts before, within and behind the braces of its hash tag, which may be those of a template.
///
/// Allocates only if there is a percent sign or another brace.
pub fn placeholders(parts: &[&[u8]; 3], separators: &Separators) -> u64 {
    let in_tag = u64::from(is_unfilled_tag(parts, |byte| separators.contains(byte)));
    if parts.iter().all(|part| memchr::memchr2(b'%', b'{', part).is_none()) {
        return in_tag;
    }
    let name = parts.concat();
    let is_place = |(at, segment): &(usize, &[u8])| is_format(segment) || *at > 0 && is_template(segment);
    in_tag + separators.split(&name).enumerate().filter(is_place).count() as u64
}

/// Returns whether what looks like the hash tag of a name is a placeholder of a template, as a whole segment: `${…}`, `#{id}`, or a word for an
/// id in braces behind another segment.
fn is_unfilled_tag(parts: &[&[u8]; 3], divides: impl Fn(u8) -> bool) -> bool {
    let [before, tag, behind] = parts;
    let ends_segment = behind.first().is_none_or(|&byte| divides(byte));
    let is_separated = |before: &[u8]| before.last().is_some_and(|&byte| divides(byte));
    let begins_segment = |before: &[u8]| before.is_empty() || is_separated(before);
    let is_place = match before.split_last() {
        Some((b'$', before)) => begins_segment(before),
        // A number behind the sign is one in a list.
        Some((b'#', before)) => begins_segment(before) && tag.first().is_some_and(u8::is_ascii_alphabetic),
        _ => names_id(tag) && is_separated(before),
    };
    !tag.is_empty() && ends_segment && is_place
}

/// Returns whether a segment is a word for an id in braces.
fn is_template(segment: &[u8]) -> bool {
    let word = segment.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    word.is_some_and(names_id)
}

/// Returns whether an identifier names an id: `id`, `user_id`, `orderId`, `openid`.
fn names_id(word: &[u8]) -> bool {
    let is_identifier = !word.first().is_some_and(u8::is_ascii_digit)
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let Some((before, last)) = word.split_last_chunk::<2>().filter(|_| is_identifier) else { return false };
    let is_marked = match before.last() {
        None | Some(b'_') => last.eq_ignore_ascii_case(b"id"),
        Some(&byte) => matches!(last, b"Id" | b"ID") && (is_hump(byte, b'I') || byte.is_ascii_digit()),
    };
    is_marked || JOINED_IDS.contains(&word)
}

/// Returns whether a segment is a placeholder of `printf`, Go or Python (`%d`, `%08d`, `%lld`, `%1$s`, `%+v`, `%(id)s`), or what Go writes
/// for an argument that is missing or wrong (`%!s(MISSING)`, `%!d(string=x)`).
fn is_format(segment: &[u8]) -> bool {
    let Some(rest) = segment.strip_prefix(b"%") else { return false };
    if let Some(rest) = rest.strip_prefix(b"!") {
        return matches!(rest, [b'(', .., b')'] | [_, b'(', .., b')']);
    }
    if let [b'(', name @ .., b')', verb] = rest {
        return !name.is_empty() && VERBS.contains(verb);
    }
    let is_flag = |byte: &u8| byte.is_ascii_digit() || b"+-#.*$".contains(byte);
    let flags = rest.iter().take_while(|byte| is_flag(byte)).count();
    match rest.split_at(flags) {
        // A character of a URL: `%2d`.
        ([digit], [verb]) if digit.is_ascii_digit() && verb.is_ascii_hexdigit() => false,
        (_, [sizes @ .., verb]) => {
            sizes.len() <= 2 && sizes.iter().all(|size| SIZES.contains(size)) && VERBS.contains(verb)
        }
        (_, []) => false,
    }
}
