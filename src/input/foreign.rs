//! Files that are often taken for snapshots: archives, Office documents, JSON reports. Each is named for what it is.

use super::archive::ARCHIVES;
use crate::error::{Error, ErrorKind};
use crate::wording::wording;

/// Bytes of a tar header up to the end of its magic.
const TAR: usize = 262;

/// Bytes of the header of a zip entry, which its name follows.
const ZIP_HEADER: usize = 30;

/// First entry of an Office document.
const OFFICE: &[u8] = b"[Content_Types].xml";

/// Bytes of a JSON document in which its schema is looked for.
const SCHEMA: usize = 64;

/// Returns the number of bytes needed to tell what a file is that begins with `magic`; `None` if it is a snapshot.
pub(super) fn needed(magic: &[u8]) -> Option<usize> {
    let known = [&b"REDIS"[..], b"VALKEY", b"VKCS", b"*", b"#TS:"];
    match magic {
        [b'{' | b'[', ..] => Some(SCHEMA),
        [] => None,
        _ if known.iter().any(|known| magic.starts_with(known)) => None,
        [b'P', b'K', ..] => Some(ZIP_HEADER + OFFICE.len()),
        _ => Some(TAR),
    }
}

/// Returns the error for a file at `place` that is no snapshot but is known; `None` if it is not known.
pub(super) fn error(magic: &[u8], place: u64) -> Option<Error> {
    let text = magic.trim_ascii_start();
    if magic.starts_with(b"PK\x03\x04") {
        return Some(zip(magic, place));
    }
    if magic.get(TAR - 5..TAR) == Some(b"ustar") {
        let what = wording!("a tar archive, not a snapshot", "tar 归档，不是快照");
        let endings = ARCHIVES.join(", ");
        return Some(Error::unsupported(place, what).with_remedy(wording!(
            "write the snapshot in it to a pipe: `tar -xOf ARCHIVE NAME.rdb | rdblens … -`; `rdblens compare` takes a whole archive \
             of nights, without --keys and as a file that ends in {endings}",
            "请从管道传入其中的快照：`tar -xOf ARCHIVE NAME.rdb | rdblens … -`；若归档中是多个时间点的快照，可直接用 `rdblens compare`（不加 \
             --keys，且须为以 {endings} 结尾的文件）"
        )));
    }
    if text.starts_with(b"{") || text.starts_with(b"[") {
        return Some(json(text, place));
    }
    None
}

fn json(text: &[u8], place: u64) -> Error {
    let head = &text[..text.len().min(SCHEMA)];
    let is = |schema: &[u8]| head.windows(schema.len()).any(|part| part == schema);
    let (what, remedy) = if is(b"\"rdblens.compare") {
        (
            wording!("not a snapshot: a stored comparison", "不是快照：已保存的对比结果"),
            wording!(
                "for another format, run `rdblens compare` again on the snapshots or their reports",
                "如需其他格式，请对快照或其报告重新执行 `rdblens compare`"
            ),
        )
    } else if is(b"\"rdblens.capacity") {
        (
            wording!("not a snapshot: a stored capacity plan", "不是快照：已保存的容量规划"),
            wording!(
                "for another format, run `rdblens capacity` again on the snapshots or their reports",
                "如需其他格式，请对快照或其报告重新执行 `rdblens capacity`"
            ),
        )
    } else {
        (
            wording!("not a snapshot: JSON", "不是快照：JSON"),
            wording!(
                "for a stored report, did you mean `rdblens render`?",
                "如果是已保存的报告，请用 `rdblens render`"
            ),
        )
    };
    Error::at(place, ErrorKind::NotASnapshot(what)).with_remedy(remedy)
}

fn zip(magic: &[u8], place: u64) -> Error {
    if magic.get(ZIP_HEADER..).is_some_and(|name| name.starts_with(OFFICE)) {
        let what = wording!(
            "not a snapshot: an Office document, such as .xlsx or .docx",
            "不是快照：Office 文档（如 .xlsx、.docx）"
        );
        return Error::at(place, ErrorKind::NotASnapshot(what));
    }
    Error::unsupported(place, wording!("a zip archive; archives are not unpacked", "zip 归档；不支持解包")).with_remedy(
        wording!(
            "write the snapshot in it to a pipe: `unzip -p ARCHIVE NAME.rdb | rdblens … -`",
            "请从管道传入其中的快照：`unzip -p ARCHIVE NAME.rdb | rdblens … -`"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_documents_and_reports_are_named_for_what_they_are() {
        let mut tar = b"shop.rdb".to_vec();
        tar.resize(TAR - 5, 0);
        tar.extend(b"ustar");
        let zip = |name: &[u8]| [&b"PK\x03\x04"[..], &[0; ZIP_HEADER - 4], name].concat();
        for (head, what) in [
            (tar.clone(), "a tar archive"),
            (tar, "as a file that ends in .tar, .tar.gz, "),
            (zip(b"shop.rdb"), "a zip archive"),
            (zip(b"[Content_Types].xml"), "an Office document"),
            (b"{\n  \"schema\"".to_vec(), "did you mean `rdblens render`?"),
            (b"{\n  \"schema\": \"rdblens.compare-keys/1\"".to_vec(), "run `rdblens compare` again"),
            (b"{\"schema\":\"rdblens.capacity/1\"".to_vec(), "run `rdblens capacity` again"),
        ] {
            let said = error(&head, 0).unwrap().to_string();
            assert!(said.contains(what), "{said}");
            assert!(needed(&head).is_none_or(|needed| needed <= head.len().max(TAR)));
        }
        assert!(error(b"hello, world", 0).is_none() && needed(b"REDIS0011").is_none());
    }
}
