use super::*;

/// Returns an entry of this type.
fn entry(name: &[u8], kind: u8, content: &[u8]) -> Vec<u8> {
    let mut header = header(name, kind, format!("{:011o}\0", content.len()).as_bytes());
    header.extend_from_slice(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

fn header(name: &[u8], kind: u8, size: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name);
    header[124..124 + size.len()].copy_from_slice(size);
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    summed(header)
}

fn summed(mut header: Vec<u8>) -> Vec<u8> {
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

fn record(name: &str, value: &str) -> Vec<u8> {
    let rest = name.len() + value.len() + 3;
    let len = (rest + 1..).find(|len| rest + len.to_string().len() == *len).unwrap();
    format!("{len} {name}={value}\n").into_bytes()
}

/// Files of a folder with their sizes, and what was passed over.
type FilesAndOthers = (Vec<(String, usize)>, Vec<String>);

/// Returns the files that an archive is unpacked to, and what is passed over.
fn unpacked(archive: &[u8]) -> Result<FilesAndOthers> {
    unpacked_within(archive, 1 << 20)
}

fn unpacked_within(archive: &[u8], temp: u64) -> Result<FilesAndOthers> {
    let root = tempfile::tempdir().unwrap();
    let (path, folder) = (root.path().join("nights.tar"), root.path().join("folder"));
    fs::write(&path, archive).unwrap();
    fs::create_dir(&folder).unwrap();
    let done = unpack(&path, &folder, Budget { temp, ..Budget::default() })?;
    let (mut files, mut folders) = (Vec::new(), vec![folder.clone()]);
    while let Some(next) = folders.pop() {
        for found in fs::read_dir(next).unwrap().map(|found| found.unwrap()) {
            let len = usize::try_from(found.metadata().unwrap().len()).unwrap();
            if found.file_type().unwrap().is_dir() {
                folders.push(found.path());
            } else {
                files.push((shown_path(found.path().strip_prefix(&folder).unwrap()), len));
            }
        }
    }
    files.sort();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2, "nothing is written beside the folder");
    Ok((files, done.passed_over.into_iter().map(|(name, reason)| format!("{name}: {}", reason.en)).collect()))
}

fn names(files: &[(String, usize)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn snapshots_and_reports_are_unpacked_and_nothing_else() {
    let archive = [
        entry(b"2026-11-17/", b'5', b""),
        entry(b"./2026-11-17/a.rdb", b'0', &[1; 700]),
        entry(b"2026-11-17/notes.txt", b'0', b"notes"),
        entry(b"2026-11-18/a.rdb.gz", 0, b"x"),
        entry(b"2026-11-18/report.json", b'0', b"{}"),
        entry(b"2026-11-17/a.rdb", b'0', b"later"),
        vec![0; 1024],
        b"whatever follows the end".to_vec(),
    ]
    .concat();
    let (files, passed_over) = unpacked(&archive).unwrap();
    assert_eq!(names(&files), ["2026-11-17/a.rdb", "2026-11-18/a.rdb.gz", "2026-11-18/report.json"]);
    assert_eq!(files[0].1, 5, "the later of two entries of one name");
    assert!(passed_over.is_empty());
}

#[test]
fn paths_that_lead_outside_and_links_are_passed_over() {
    let archive = [
        entry(b"../a.rdb", b'0', b"x"),
        entry(b"/outside/b.rdb", b'0', b"x"),
        entry(b"a/../../c.rdb", b'0', b"x"),
        entry(b"a//d.rdb", b'0', b"x"),
        entry(b"link.rdb", b'2', b""),
        entry(b"hard.rdb", b'1', b""),
        entry(b"device.rdb", b'4', b""),
        entry(b"holes.rdb", b'S', b"x"),
        entry(b"sound.rdb", b'0', b"x"),
    ]
    .concat();
    let (files, passed_over) = unpacked(&archive).unwrap();
    assert_eq!(names(&files), ["a/d.rdb", "sound.rdb"]);
    let reasons = ["leads out", "leads out", "leads out", "link", "link", "link", "holes"];
    assert_eq!(passed_over.len(), reasons.len());
    assert!(passed_over.iter().zip(reasons).all(|(said, reason)| said.contains(reason)), "{passed_over:?}");
}

#[test]
fn maps_of_sparse_files_are_passed_over() {
    let mut sparse = header(b"holes.rdb", b'S', b"00000000001\0");
    sparse[482] = 1;
    let map = |more: u8| [&[b'7'; 504][..], &[more], &[0; 7]].concat();
    let archive = [summed(sparse), map(1), map(0), [&b"x"[..], &[0; 511]].concat(), entry(b"sound.rdb", b'0', b"x")];
    let (files, passed_over) = unpacked(&archive.concat()).unwrap();
    assert_eq!((names(&files), passed_over.len()), (vec!["sound.rdb"], 1));
    assert!(unpacked(&archive[..2].concat()).is_err());
}

#[test]
fn files_in_many_folders_and_stored_attributes_are_not_unpacked() {
    let deep = |folders: usize| format!("{}x.rdb", "a/".repeat(folders));
    let archive = [
        entry(deep(10).as_bytes(), b'0', b"x"),
        entry(deep(11).as_bytes(), b'0', b"x"),
        entry(b"night/._x.rdb", b'0', b"x"),
    ];
    let (files, passed_over) = unpacked(&archive.concat()).unwrap();
    assert_eq!(names(&files), [deep(10)]);
    assert!(passed_over.len() == 1 && passed_over[0].contains("too many directories"), "{passed_over:?}");
}

#[test]
fn long_names_and_sizes_come_before_their_entry() {
    let long = format!("{}/shard.rdb", "night".repeat(40));
    let mut split = header(b"shard.rdb", b'0', b"00000000000\0");
    split[345..350].copy_from_slice(b"17-11");
    let archive = [
        entry(b"././@LongLink", b'L', format!("{long}\0").as_bytes()),
        entry(b"night", b'0', b"gnu"),
        entry(
            b"PaxHeader",
            b'x',
            &[record("mtime", "1.5"), record("path", "pax/夜.rdb"), record("size", "3")].concat(),
        ),
        header(b"short", b'0', b"00000000000\0"),
        [&b"pax"[..], &[0; 509]].concat(),
        entry(b"global", b'g', &record("comment", "x")),
        entry(b"PaxHeader", b'x', &record("GNU.sparse.major", "1")),
        entry(b"sparse.rdb", b'0', b"map"),
        summed(split),
    ]
    .concat();
    let (files, passed_over) = unpacked(&archive).unwrap();
    assert_eq!(files, [("17-11/shard.rdb".to_owned(), 0), (long, 3), ("pax/夜.rdb".to_owned(), 3)]);
    assert!(matches!(passed_over.as_slice(), [said] if said.contains("sparse.rdb")), "{passed_over:?}");
}

#[test]
fn malformed_archives_are_errors_with_an_offset() {
    let sound = entry(b"a.rdb", b'0', &[7; 600]);
    let mut wrong_sum = sound.clone();
    wrong_sum[0] = b'b';
    let binary = |size: [u8; 12]| header(b"a.rdb", b'0', &size);
    let huge = binary([0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    for (archive, kind, said) in [
        (wrong_sum, "malformed header", "0x0"),
        (sound[..1000].to_vec(), "needs", "0x"),
        (sound[..500].to_vec(), "needs", "0x0"),
        ([sound.clone(), b"rest".to_vec()].concat(), "needs", "0x600"),
        (binary([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), "malformed header", "0x0"),
        (binary([0xff; 12]), "malformed header", "0x0"),
        (header(b"a.rdb", b'0', b"9"), "malformed header", "0x0"),
        (huge, "temporary space", "--max-temp"),
        (header(b"long", b'L', b"00010000001\0"), "malformed header", "0x0"),
        (entry(b"pax", b'x', b"99 path=a\n"), "malformed header", "0x0"),
        (entry(b"pax", b'x', b"9 path=a"), "malformed header", "0x0"),
        (entry(b"notes.txt", b'0', b"x"), "no snapshot", "looked for"),
    ] {
        let error = unpacked(&archive).unwrap_err();
        let text = format!("{error} {}", error.hint().unwrap_or_default());
        assert!(text.contains(kind) && text.contains(said) && text.contains("nights.tar"), "{text}");
    }
}

#[test]
fn room_and_number_of_files_are_limited() {
    let two = [entry(b"a.rdb", b'0', &[1; 600]), entry(b"b.rdb", b'0', &[1; 600])].concat();
    assert!(unpacked_within(&two, 1200).is_ok());
    assert!(unpacked_within(&two, 1199).unwrap_err().to_string().contains("temporary space"));
    let many: Vec<u8> = (0..=MAX_FILES).flat_map(|n| entry(format!("{n}.rdb").as_bytes(), b'0', b"")).collect();
    assert!(unpacked(&many).unwrap_err().to_string().contains("more than"));
}

#[test]
fn archives_are_known_by_their_ending() {
    for (name, is) in [("a.tar", true), ("a.tgz", true), ("a.tar.zst", true), ("a.rdb.gz", false)] {
        assert_eq!(is_archive(Path::new(name)), is, "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(
        at in proptest::collection::vec((0usize..2048, proptest::num::u8::ANY), 0..6), cut in 0usize..2048,
    ) {
        let mut archive = [entry(b"PaxHeader", b'x', &record("path", "a.rdb")), entry(b"b.rdb", b'0', &[1; 600])].concat();
        for (at, byte) in at {
            if let Some(place) = archive.get_mut(at) {
                *place = byte;
            }
        }
        archive.truncate(cut);
        // Fix the checksum, or nearly all mutants would be refused by it.
        if archive.len() >= 512 {
            let head = summed(archive[..512].to_vec());
            archive[..512].copy_from_slice(&head);
        }
        let _ = unpacked(&archive);
    }
}
