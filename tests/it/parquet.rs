//! `keys --format parquet`: the rows of NDJSON with column types, read back by an independent reader.

use crate::common::program::run_args;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rdblens::ModuleFacts;
use serde_json::{Value, json};

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

fn keys(inputs: &[&str], flags: &[&str]) -> Vec<u8> {
    let output = run_args(&[&["keys"], inputs, flags].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn reader(file: Vec<u8>) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(file)).unwrap()
}

/// Converts each row to the form of NDJSON, with null for absent fields.
fn rows(file: Vec<u8>) -> Vec<Value> {
    fn plain(field: &Field) -> Value {
        match field {
            Field::Null => Value::Null,
            Field::Short(n) => json!(n),
            Field::Long(n) | Field::TimestampMillis(n) => json!(n),
            Field::Str(text) => json!(text),
            Field::Bytes(bytes) => json!(data_encoding::BASE64.encode(bytes.data())),
            Field::ListInternal(list) => list.elements().iter().map(plain).collect(),
            other => panic!("no column is of this type: {other:?}"),
        }
    }
    reader(file)
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), plain(field))).collect())
        .collect()
}

/// Converts rows of NDJSON to the column names and null values of Parquet.
fn expected(lines: &[u8]) -> Vec<Value> {
    const OPTIONAL: [&str; 6] = ["key_bytes", "module", "fields_with_ttl", "groups", "pending", "source"];
    let facts = ["quantization", "longest_element", "mean_element"].iter().chain(&ModuleFacts::NUMBERS);
    let row = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let fields = row.as_object_mut().unwrap();
        if let Some(bytes) = fields.remove("key_base64") {
            fields.insert("key_bytes".to_owned(), bytes);
        }
        for name in OPTIONAL.iter().chain(facts.clone()) {
            fields.entry(*name).or_insert(Value::Null);
        }
        row
    };
    std::str::from_utf8(lines).unwrap().lines().map(row).collect()
}

fn compare_with_ndjson(inputs: &[&str], flags: &[&str]) -> usize {
    let lines = expected(&keys(inputs, flags));
    let columns = rows(keys(inputs, &[flags, &["--format", "parquet"]].concat()));
    assert_eq!(lines.len(), columns.len());
    for (line, row) in lines.iter().zip(&columns) {
        assert_eq!(line, row);
    }
    lines.len()
}

/// Writes a dump of string keys with one-byte values; each key has metadata bytes before its record.
fn dump(folder: &Path, name: &str, keys: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> String {
    let path = folder.join(name);
    let mut out = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    out.write_all(b"REDIS0009\xfe\x00").unwrap();
    for (before, key) in keys {
        out.write_all(&before).unwrap();
        out.write_all(&[0, 0x40 | (key.len() >> 8) as u8, key.len() as u8]).unwrap();
        out.write_all(&key).unwrap();
        out.write_all(b"\x01v").unwrap();
    }
    out.write_all(&[0xFF, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    out.flush().unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn rows_are_those_of_ndjson() {
    assert_eq!(compare_with_ndjson(&[SHOP], &[]), 5_257);
    compare_with_ndjson(&[SHOP], &["--mask"]);
    compare_with_ndjson(&[SHOP, SHOP], &["--type", "stream"]);
    assert_eq!(compare_with_ndjson(&[SHOP], &["--limit", "3"]), 3);
    assert_eq!(compare_with_ndjson(&[SHOP], &["--match", "no such key"]), 0);
}

#[test]
fn rows_of_real_servers_are_those_of_ndjson() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
    let mut files = 0;
    for folder in fs::read_dir(corpus).unwrap() {
        let dump = folder.unwrap().path().join("dump.rdb");
        if dump.is_file() {
            assert!(compare_with_ndjson(&[dump.to_str().unwrap()], &[]) > 0);
            files += 1;
        }
    }
    assert!(files > 10);
}

#[test]
fn columns_have_types_and_are_compressed() {
    let reader = reader(keys(&[SHOP], &["--format", "parquet"]));
    let metadata = reader.metadata().file_metadata();
    assert_eq!(metadata.created_by(), Some(concat!("rdblens version ", env!("CARGO_PKG_VERSION"))));
    let column = |name: &str| metadata.schema_descr().columns().iter().find(|column| column.name() == name).unwrap();
    assert_eq!(column("key").logical_type_ref(), Some(&LogicalType::String));
    assert!(matches!(column("expires_at").logical_type_ref(), Some(LogicalType::Timestamp { .. })));
    assert!(column("key_bytes").logical_type_ref().is_none());
    let group = reader.metadata().row_group(0);
    assert!(group.columns().iter().all(|column| matches!(column.compression(), Compression::ZSTD(_))));
}

#[test]
fn extreme_names_and_times_are_clamped_to_the_limits_of_readers() {
    let folder = tempfile::tempdir().unwrap();
    let expires = |at: i64| [&[0xFC][..], &at.to_le_bytes()].concat();
    let path = dump(
        folder.path(),
        "odd.rdb",
        [
            (expires(i64::MAX), b"far".to_vec()),
            (expires(i64::MIN), b"long ago".to_vec()),
            (expires(1_900_000_000_000), b"\xff\x00\xfe".to_vec()),
            ([&[0xFE, 0x81][..], &(1_u64 << 63).to_be_bytes()].concat(), "键\n\"".into()),
        ],
    );
    let rows = rows(keys(&[&path], &["--format", "parquet", "--no-checksum"]));
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    let times = [json!(253_402_300_799_999_i64), json!(-62_135_596_800_000_i64), json!(1_900_000_000_000_i64)];
    assert_eq!(column("expires_at"), [&times[..], &[Value::Null]].concat());
    assert_eq!(column("key"), [json!("far"), json!("long ago"), Value::Null, json!("键\n\"")]);
    assert_eq!(column("key_bytes")[2], json!("/wD+"));
    assert_eq!(column("db"), [json!(0), json!(0), json!(0), json!(i64::MAX)]);
}

#[test]
fn labels_are_a_list_of_rules_an_owner_and_a_class() {
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/policy/shop.toml");
    let parquet = rows(keys(&[SHOP], &["--format", "parquet", "--policy", policy]));
    assert_eq!(parquet, expected(&keys(&[SHOP], &["--policy", policy])));
    let lengths: Vec<usize> = parquet.iter().map(|row| row["breaks"].as_array().unwrap().len()).collect();
    assert!([0, 1, 2].iter().all(|length| lengths.contains(length)));
    assert!(parquet.iter().any(|row| row["owner"] == "accounts" && row["class"] == "session"));
    let some = rows(keys(&[SHOP], &["--format", "parquet", "--policy", policy, "--breaking", "--limit", "700"]));
    assert_eq!(some[..], parquet.into_iter().filter(|row| row["breaks"] != json!([])).take(700).collect::<Vec<_>>());
}

#[test]
fn bytes_are_the_same_at_any_number_of_threads_and_groups_are_bounded() {
    const KEYS: usize = 300_000;
    let folder = tempfile::tempdir().unwrap();
    let path = dump(folder.path(), "many.rdb", (0..KEYS).map(|n| (vec![], format!("user:{n}:name").into_bytes())));
    let of = |threads: &str, more: &[&str]| {
        keys(&[&path], &[&["--no-checksum", "--format", "parquet", "--threads", threads][..], more].concat())
    };
    let one = of("1", &[]);
    for threads in ["2", "7"] {
        assert!(of(threads, &["--no-mmap"]) == one, "{threads} threads make another file");
    }
    let reader = reader(one);
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups.iter().sum::<i64>(), KEYS as i64);
    assert!(groups.len() > 1 && groups.iter().all(|rows| *rows < 2 * (128 << 10)), "{groups:?}");
    assert_eq!(rows(of("3", &["--limit", "200001"])).last().unwrap()["key"], "user:200000:name");
}

#[test]
fn a_file_appears_whole_and_a_closed_pipe_is_a_normal_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.parquet");
    let written = run_args(&["keys", SHOP, "--format", "parquet", "-o", path.to_str().unwrap()]);
    assert!(written.status.success() && written.stdout.is_empty());
    assert_eq!(fs::read(&path).unwrap(), keys(&[SHOP], &["--format", "parquet"]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let mut child = Command::new(env!("CARGO_BIN_EXE_rdblens"))
        .args(["keys", SHOP, "--format", "parquet"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn an_incomplete_dump_still_makes_a_file_and_has_its_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.rdb");
    fs::write(&path, b"REDIS0011\xfe\x00\x00\x01a\x01b\x00\x03key\x05val").unwrap();
    let output = run_args(&["keys", path.to_str().unwrap(), "--format", "parquet"]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(rows(output.stdout).len(), 1);
}
