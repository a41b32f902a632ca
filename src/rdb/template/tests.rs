use super::*;

fn templates(bytes: &[u8]) -> Result<Templates> {
    let (mut all, mut cursor) = (Templates::default(), Cursor::new(bytes, 0));
    while cursor.left() > 0 {
        if let Defined::New(template) = all.read(&mut cursor)? {
            all.add(template);
        }
    }
    Ok(all)
}

fn names(template: &HashTemplate) -> Vec<&[u8]> {
    template.fields().collect()
}

#[test]
fn templates_are_found_by_id() {
    let all = templates(b"\x00\x02\x02id\x04body\x01\x01\x01a\x40\x64\x01\x01b").unwrap();
    assert_eq!(names(all.get(0, 0).unwrap()), [&b"id"[..], b"body"]);
    assert_eq!(names(all.get(1, 0).unwrap()), [b"a"]);
    assert_eq!(names(all.get(100, 0).unwrap()), [b"b"]);
    assert!(all.get(2, 7).unwrap_err().message().contains("not defined"));
    assert!(all.iter().all(HashTemplate::is_sorted));
}

#[test]
fn empty_and_contradicting_templates_are_damage() {
    for bytes in [&b"\x00\x00"[..], b"\x00\x01\x01a\x00\x01\x01b", b"\x00\x09\x01a", b"\xc0\x01\x01a"] {
        assert!(templates(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn values_must_be_as_many_as_fields() {
    let all = templates(b"\x00\x02\x01a\x01b").unwrap();
    let pack = |values: &[u8]| {
        let body: Vec<u8> = std::iter::once(&0).chain(values).flat_map(|&value| [value, 1]).collect();
        let size = u8::try_from(body.len() + 7).unwrap();
        [&[size, 0, 0, 0, u8::try_from(values.len() + 1).unwrap(), 0], &body[..], &[0xFF]].concat()
    };
    let read = |values: &[u8]| {
        let bytes = pack(values);
        let (template, mut rest) = TemplateNames::Shared(&all).unpack(&bytes, 0)?;
        let mut seen = Vec::new();
        template.pairs(&mut rest, 0, |field, value| seen.push((field.to_vec(), value.to_bytes())))?;
        Ok::<_, Error>(seen)
    };
    assert_eq!(read(&[7, 8]).unwrap(), [(b"a".to_vec(), b"7".to_vec()), (b"b".to_vec(), b"8".to_vec())]);
    assert!(read(&[7]).is_err() && read(&[7, 8, 9]).is_err());
}

#[test]
fn templates_of_short_names_take_memory_too() {
    let mut templates = Templates::default();
    let failed = (0..1_000_000u32).find_map(|id| {
        let operands = [&[0x80][..], &id.to_be_bytes(), &[1, 1, b'a']].concat();
        match templates.read(&mut Cursor::new(&operands, 9 * u64::from(id))) {
            Ok(Defined::New(template)) => {
                templates.add(template);
                None
            }
            other => Some((id, other.map(|_| ()))),
        }
    });
    let (templates, error) = failed.unwrap();
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Limit(_)));
    assert!((500_000..900_000).contains(&templates), "{templates}");
}
