//! Detection of email addresses.
//!
//! An address is a name, `@`, and a domain of at least two labels, the last of them letters. File names of that form
//! (`logo@2x.png`, `vue@next.js`) are recognised by their last label. Addresses at domains reserved for examples are nobody's.

use std::ops::Range;

use super::connection;
use crate::pattern::classify::{SegmentClass, class_of};

/// Longest name and domain, in bytes.
const MAX_NAME_LEN: usize = 64;
const MAX_DOMAIN_LEN: usize = 253;
/// Last labels of file names that could be those of countries.
const FILES: [&[u8]; 3] = [b"js", b"ts", b"gz"];
/// Schemes of addresses that look alike, those of calls and chats.
const OTHERS: [&[u8]; 3] = [b"sip:", b"sips:", b"xmpp:"];
/// Domains reserved for examples (RFC 2606), with their subdomains.
const EXAMPLES: [&[u8]; 3] = [b"example.com", b"example.net", b"example.org"];

/// Last labels of addresses of people, besides those of countries (two letters). Programs name their nodes and queues in the same form:
/// `celery@host.celery.pidbox`.
const TOPS: [&[u8]; 84] = [
    b"com",
    b"net",
    b"org",
    b"edu",
    b"gov",
    b"mil",
    b"int",
    b"info",
    b"biz",
    b"name",
    b"pro",
    b"mobi",
    b"asia",
    b"jobs",
    b"travel",
    b"coop",
    b"museum",
    b"aero",
    b"cat",
    b"tel",
    b"xyz",
    b"top",
    b"vip",
    b"club",
    b"shop",
    b"store",
    b"site",
    b"online",
    b"tech",
    b"app",
    b"dev",
    b"cloud",
    b"email",
    b"live",
    b"life",
    b"work",
    b"works",
    b"world",
    b"today",
    b"news",
    b"fun",
    b"icu",
    b"ltd",
    b"group",
    b"wang",
    b"ink",
    b"link",
    b"click",
    b"blog",
    b"wiki",
    b"space",
    b"website",
    b"team",
    b"center",
    b"company",
    b"network",
    b"systems",
    b"solutions",
    b"digital",
    b"agency",
    b"media",
    b"studio",
    b"design",
    b"art",
    b"law",
    b"bank",
    b"finance",
    b"money",
    b"health",
    b"clinic",
    b"hospital",
    b"school",
    b"academy",
    b"education",
    b"games",
    b"game",
    b"chat",
    b"social",
    b"software",
    b"services",
    b"global",
    b"ren",
    b"city",
    b"moe",
];
/// Last labels that count among bytes that are no text, where two random letters are no domain.
const USUAL_TOPS: [&[u8]; 16] = [
    b"com", b"cn", b"net", b"org", b"edu", b"gov", b"info", b"biz", b"top", b"vip", b"hk", b"tw", b"jp", b"uk", b"de",
    b"io",
];
/// Names that programs give their nodes: Celery, RabbitMQ, EMQX, VerneMQ, ejabberd, CouchDB, Riak.
const NODES: [&[u8]; 8] = [b"celery", b"rabbit", b"rabbitmq", b"emqx", b"vernemq", b"ejabberd", b"couchdb", b"riak"];
/// Digits of a time to the second: `20260204153000`.
const TIME_LEN: usize = 14;
/// Domains of ids of chats: WhatsApp.
const CHATS: [&[u8]; 3] = [b"s.whatsapp.net", b"g.us", b"c.us"];

/// Shortest name and domain there, in bytes.
const MIN_NAME_LEN: usize = 2;
const MIN_DOMAIN_LEN: usize = 5;

/// Reports all addresses in a text.
pub(super) fn scan(text: &[u8], mut see: impl FnMut(Range<usize>)) {
    let mut is_binary = None;
    for at in memchr::memchr_iter(b'@', text) {
        if let Some(range) = address(text, at)
            && (is_likely(text, &range, at) || !*is_binary.get_or_insert_with(|| is_no_text(text)))
        {
            see(range);
        }
    }
}

/// Returns whether a text is none, such as something compressed or encrypted. The character at its end may be cut.
fn is_no_text(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_err_and(|error| error.error_len().is_some())
}

/// Returns whether an address is one wherever it stands.
fn is_likely(text: &[u8], range: &Range<usize>, at: usize) -> bool {
    let domain = text.get(at + 1..range.end).unwrap_or_default();
    let top = domain.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    at - range.start >= MIN_NAME_LEN && domain.len() >= MIN_DOMAIN_LEN && USUAL_TOPS.contains(&top)
}

/// Returns the address around an `@`, if there is one.
fn address(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = text.get(..at)?;
    let name = before.iter().rev().take(MAX_NAME_LEN + 1).take_while(|byte| in_name(**byte)).count();
    let behind = text.get(at + 1..)?;
    let domain = behind.iter().take(MAX_DOMAIN_LEN + 1).take_while(|byte| in_domain(**byte)).count();
    if name == 0 || name > MAX_NAME_LEN || domain > MAX_DOMAIN_LEN {
        return None;
    }
    let name = before.get(at - name..)?;
    // Trailing dots end a sentence.
    let domain = behind.get(..domain)?;
    let dots = domain.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count();
    let domain = domain.get(..domain.len() - dots)?;
    let last = domain.iter().rposition(|byte| *byte == b'.')?;
    let (host, top) = (domain.get(..last)?, domain.get(last + 1..)?);
    let is_country = top.len() == 2 && top.iter().all(u8::is_ascii_alphabetic);
    let good_top = is_country || TOPS.iter().any(|known| known.eq_ignore_ascii_case(top));
    let good_host = host
        .split(|byte| *byte == b'.')
        .all(|label| !label.is_empty() && !label.starts_with(b"-") && !label.ends_with(b"-"));
    let is_file = FILES.iter().any(|file| file.eq_ignore_ascii_case(top));
    let is_example = EXAMPLES.iter().any(|example| {
        let at = domain.len().checked_sub(example.len());
        let tail = at.and_then(|at| domain.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(example));
        tail && at.is_some_and(|at| at == 0 || domain[at - 1] == b'.')
    });
    let start = name.iter().position(u8::is_ascii_alphanumeric)?;
    // Masked, such as `z***g@163.com`: what follows the asterisks is no name.
    let is_masked = before.get(..at - name.len()).is_some_and(|before| before.ends_with(b"*"));
    let is_node = NODES.iter().any(|node| node.eq_ignore_ascii_case(name)) || is_generated(name);
    let is_chat = CHATS.iter().any(|chat| chat.eq_ignore_ascii_case(domain));
    // A principal of Kerberos: `hdfs/nn1.corp.com@CORP.COM`.
    let is_principal = before.get(..at - name.len()).is_some_and(|before| before.ends_with(b"/"))
        && !domain.iter().any(u8::is_ascii_lowercase);
    let is_remote = behind.get(domain.len()..).is_some_and(|path| is_path(name, path));
    let is_of_call = before.get(..at - name.len()).is_some_and(|before| {
        OTHERS.iter().any(|scheme| {
            let start = before.len().checked_sub(scheme.len());
            let ends = start.and_then(|start| before.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(scheme));
            ends && start.is_some_and(|start| start == 0 || !before[start - 1].is_ascii_alphanumeric())
        })
    });
    // A second @ follows: part of something else, such as the user of a URL.
    let followed = behind.get(domain.len()) == Some(&b'@');
    let is_none =
        is_file || is_example || is_masked || is_remote || is_of_call || followed || is_node || is_chat || is_principal;
    let is_none = is_none || connection::ends_user(text, at);
    (good_top && good_host && !is_none).then(|| at - name.len() + start..at + 1 + domain.len())
}

/// Returns whether a program made up the name: `gen44` of Celery, or the id of a message or an event in a calendar, with a UUID, a digest or a
/// time to the second.
fn is_generated(name: &[u8]) -> bool {
    let number = name.strip_prefix(b"gen").unwrap_or_default();
    let is_counted = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let is_uuid = std::str::from_utf8(name).is_ok_and(|name| class_of(name) == Some(SegmentClass::Uuid));
    let mut words = name.split(|byte| !byte.is_ascii_alphanumeric());
    is_counted || is_uuid || words.any(|word| is_digest(word) || is_time(word))
}

/// Returns whether a word is the hexadecimal form of a digest or UUID.
fn is_digest(word: &[u8]) -> bool {
    word.len() >= 32 && word.iter().all(u8::is_ascii_hexdigit) && word.iter().any(u8::is_ascii_digit)
}

/// Returns whether a word is a time to the second or finer: `20260204153000`, `20260204T153000Z`.
fn is_time(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_of_time = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z');
    (word.starts_with(b"19") || word.starts_with(b"20")) && digits >= TIME_LEN && word.iter().all(is_of_time)
}

/// Returns whether a path on a host follows, as `scp` and git write it: `git@github.com:shop/mall.git`, `deploy@web1.corp.cn:/srv`.
fn is_path(name: &[u8], behind: &[u8]) -> bool {
    const MAX_PATH_LEN: usize = 256;
    let Some(path) = behind.strip_prefix(b":") else { return false };
    let ends = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b',' | b';');
    let path = path.get(..MAX_PATH_LEN).unwrap_or(path);
    let path = path.get(..path.iter().position(ends).unwrap_or(path.len())).unwrap_or_default();
    name == b"git" || path.starts_with(b"/") || path.starts_with(b"~") || path.ends_with(b".git")
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
}

fn in_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

#[cfg(test)]
mod tests {
    use super::super::SensitiveKind;
    use super::super::testing::found;

    #[test]
    fn addresses() {
        for text in [
            "alice@myexample.com",
            "a.b+c_d%e@mail.example.co.uk",
            "<bob@corp.cn>",
            "mail me: x@y.io.",
            "user:zhang@qq.com:cart",
            "{\"email\":\"li@163.com\"}",
            "邮箱wang@sina.cn，谢谢",
            "-x@a-b.org",
            "gossip:ann@corp.cn",
            "mailto:ann@corp.cn",
            "ann@CORP.COM",
            "ann@corp.cn:8080",
            "genevieve@corp.com",
            "li@shop.tech",
            "20260204@corp.cn",
            "deadbeef@corp.cn",
        ] {
            assert_eq!(found(text), [SensitiveKind::Email], "{text}");
        }
    }

    #[test]
    fn random_bytes_are_no_addresses() {
        let found_among = |address: &str| {
            let bytes = [b"\x93\xf1\xfb\x00", address.as_bytes(), b"\xd0\x02\xfe\x99"].concat();
            let mut found = 0;
            super::scan(&bytes, |_| found += 1);
            found
        };
        for address in ["k@y7.HF", "g@x.No", "ab@c.de", "a@bcd.com", "zk@yt.Com"] {
            assert_eq!(found_among(address), 0, "{address}");
        }
        for address in ["li@qq.com", "zhang.san@corp.com.cn"] {
            assert_eq!(found_among(address), 1, "{address}");
        }
    }

    #[test]
    fn no_addresses() {
        for text in [
            "@",
            "a@",
            "@b.com",
            "a@b",
            "a@b.c",
            "a@.com",
            "a@b..com",
            "logo@2x.png",
            "react@17.0.2",
            "vue@next.js",
            "root@localhost",
            "git@repo.git",
            "a@-b.com",
            "a@b-.com",
            "a@b.c0m",
            "a@b.com@c",
            "...@b.com",
            "@scope/name.js",
            "zhangsan@example.com",
            "a@mail.Example.ORG",
            "a@b.example",
            "z***g@163.com",
            "zh****12@mall.com.cn",
            "****5678@qq.com",
            "git@github.com:shop/mall.git",
            "ftp://ann@files.corp.cn/x",
            "sip:1001@pbx.corp.cn",
            "<SIPS:ann@pbx.corp.cn>",
            "xmpp:ann@chat.corp.cn",
            "celery@3f2a1b4c5d6e.celery.pidbox",
            "celery@web1.corp.com",
            "{\"origin\":\"gen44@web1.corp.com\"}",
            "rabbit@mq1.corp.com.cn",
            "emqx@node1.emqx.io",
            "room7@g.us",
            "org-1234@github.com:org/repo.git",
            "deploy@web1.corp.com:/srv/app",
            "hdfs/nn1.corp.com@CORP.COM",
            "a@b.pidbox",
            "550e8400-e29b-41d4-a716-446655440000@corp.cn",
            "Message-ID: <20260204153000.4711.k2@mail.corp.cn>",
            "UID:20260204T153000Z-7@corp.cn",
            "9e107d9d372bb6826bd81d3542a419d6@corp.cn",
        ] {
            assert_eq!(found(text), &[] as &[SensitiveKind], "{text}");
        }
        assert!(found(&format!("{}@b.com", "x".repeat(65))).is_empty());
        assert!(found(&format!("a@{}.com", "x".repeat(300))).is_empty());
    }
}
