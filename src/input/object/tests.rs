//! Reading from a server that fails, lies and stalls.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use super::fault_server::{Fault, FaultServer, Served};
use super::settings::Settings;
use super::stores::Stores;
use crate::analyze::Plan;
use crate::analyze::Unwatched;
use crate::analyze::check::check;
use crate::analyze::plan::ReadPlan;
use crate::analyze::records::for_each_record;
use crate::analyze::salvage::salvage;
use crate::error::{Error, Result};
use crate::input::{Body, Input, OpenOptions};
use crate::limits::Budget;
use crate::report::CheckVerdict;

fn stores(server: &FaultServer) -> Stores {
    let endpoint = format!("http://{}", server.at);
    Stores::with_settings(Settings::of([
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("RDBLENS_REMOTE_RETRIES", "2"),
        ("RDBLENS_REMOTE_TIMEOUT", "0.3"),
    ]))
}

/// Bytes that differ everywhere, so that no part can be taken for another.
fn content(len: usize) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8).collect()
}

fn one(stores: &mut Stores, address: &str) -> Result<Input> {
    Ok(stores.resolve(address)?.remove(0))
}

fn read(input: &Input) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let object = input.object().unwrap();
    object.reader().read_to_end(&mut bytes).map_err(|error| error.downcast::<Error>().unwrap())?;
    Ok(bytes)
}

/// Reads an object of a bucket whose answers have these faults.
fn with_faults(len: usize, faults: &[Fault], forever: bool) -> (FaultServer, Result<Vec<u8>>) {
    let server = FaultServer::start();
    server.put("/b/k.rdb", Served { faults: faults.to_vec(), forever, ..Served::new(content(len)) });
    let found = one(&mut stores(&server), "s3://b/k.rdb").and_then(|input| read(&input));
    (server, found)
}

fn error(faults: &[Fault]) -> String {
    let (_, found) = with_faults(300_000, faults, true);
    let said = found.unwrap_err().to_string();
    assert!(!said.contains("hunter2") && !said.contains("AKIAEXAMPLE"), "{said}");
    said
}

#[test]
fn object_is_read_in_ranges_that_grow() {
    let (server, found) = with_faults(21 << 20, &[], false);
    assert!(found.unwrap() == content(21 << 20));
    let mut asked: Vec<u64> = server
        .log()
        .iter()
        .filter_map(|line| {
            let (from, to) = line.strip_prefix("GET /b/k.rdb bytes=")?.split_once('-')?;
            Some(to.parse::<u64>().ok()? + 1 - from.parse::<u64>().ok()?)
        })
        .collect();
    asked.sort_unstable();
    // What is left of 21 MiB after those is less than a whole range.
    assert_eq!(asked[..3], [64 << 10, 256 << 10, 1 << 20]);
    assert_eq!((asked.len(), asked.iter().sum::<u64>(), asked.last()), (6, 21 << 20, Some(&(8 << 20))));
}

#[test]
fn head_of_an_object_costs_one_small_range() {
    let server = FaultServer::start();
    server.put("/b/k.rdb", Served::new(content(1 << 20)));
    let input = one(&mut stores(&server), "s3://b/k.rdb").unwrap();
    input.object().unwrap().reader().read_exact(&mut [0; 64]).unwrap();
    assert_eq!(server.log(), ["HEAD /b/k.rdb -", "GET /b/k.rdb bytes=0-65535"]);
}

#[test]
fn passing_faults_are_overcome() {
    for faults in [
        &[Fault::Status(503, "SlowDown"), Fault::Status(500, "InternalError")][..],
        &[Fault::Cut(0), Fault::Cut(1000)],
        &[Fault::Cut(65_535)],
        &[Fault::Short(1), Fault::Short(10_000)],
        &[Fault::Silent(Duration::from_millis(600))],
    ] {
        let (_, found) = with_faults(300_000, faults, false);
        assert!(found.unwrap() == content(300_000), "{faults:?}");
    }
}

#[test]
fn cut_body_is_resumed_where_it_was_cut() {
    let (server, found) = with_faults(50_000, &[Fault::Cut(20_000)], false);
    assert!(found.unwrap() == content(50_000));
    let log = server.log();
    let resumed = log.iter().filter_map(|line| line.strip_prefix("GET /b/k.rdb bytes=")?.strip_suffix("-49999"));
    let starts: Vec<usize> = resumed.map(|from| from.parse().unwrap()).collect();
    // The server's socket may hold back the end of what was sent.
    assert!(starts.len() == 2 && starts[0] == 0 && (1..=20_000).contains(&starts[1]), "{log:?}");
}

#[test]
fn lasting_faults_are_errors_that_name_status_and_remedy() {
    for (fault, parts) in [
        (Fault::Status(503, "SlowDown"), &["s3://b/k.rdb", "HTTP 503 (SlowDown)", "RDBLENS_REMOTE_RETRIES"][..]),
        (Fault::Status(403, "AccessDenied"), &["HTTP 403 (AccessDenied): access refused", "credentials"]),
        (Fault::Status(404, "NoSuchKey"), &["HTTP 404 (NoSuchKey): no such object"]),
        (Fault::Status(400, "AuthorizationHeaderMalformed"), &["HTTP 400 (Auth", "AWS_REGION"]),
        (Fault::Replace, &["was replaced", "run it again"]),
        (Fault::Short(1), &["the response ended at byte 65535", "65536"]),
        (Fault::Long(1), &["continues after byte 65536"]),
        (Fault::OtherRange, &["invalid response"]),
        (Fault::Cut(10), &["the connection broke off", "at fault"]),
    ] {
        let said = error_named(fault);
        assert!(parts.iter().all(|part| said.contains(part)), "{fault:?}: {said}");
    }
}

/// Returns the error of opening an input, which names it.
fn error_named(fault: Fault) -> String {
    let server = FaultServer::start();
    server.put("/b/k.rdb", Served { faults: vec![fault], forever: true, ..Served::new(content(300_000)) });
    let input = one(&mut stores(&server), "s3://b/k.rdb").unwrap();
    let dir = std::env::temp_dir();
    let options = OpenOptions { mmap: true, spool_dir: dir, window: 1 << 20, budget: Budget::default(), inflaters: 1 };
    let said = input.open(&options).err().unwrap().to_string();
    assert!(!said.contains("hunter2"), "{said}");
    said
}

#[test]
fn silent_server_is_given_up() {
    let start = Instant::now();
    let said = error(&[Fault::Silent(Duration::from_secs(5))]);
    assert!(said.contains("cannot be reached") && start.elapsed() < Duration::from_secs(30), "{said}");
}

#[test]
fn object_replaced_after_it_was_found_is_an_error() {
    let server = FaultServer::start();
    server.put("/b/k.rdb", Served::new(content(1000)));
    let input = one(&mut stores(&server), "s3://b/k.rdb").unwrap();
    server.put("/b/k.rdb", Served { etag: Some("\"two\""), ..Served::new(content(1000)) });
    assert!(read(&input).unwrap_err().to_string().contains("was replaced"));
    // A plan holds size and tag only.
    let planned = |size, etag| {
        let object = stores(&server).planned("s3://b/k.rdb", Some(size), Some(etag)).unwrap();
        let mut bytes = Vec::new();
        object.reader().read_to_end(&mut bytes).map_err(|error| error.to_string())
    };
    assert!(planned(1000, "\"one\"").unwrap_err().contains("was replaced"));
    assert!(planned(999, "\"two\"").unwrap_err().contains("was replaced"));
    assert_eq!(planned(1000, "\"two\"").unwrap(), 1000);
}

#[test]
fn nothing_listens_there() {
    let mut server = FaultServer::start();
    server.at = "127.0.0.1:1".parse().unwrap();
    let said = stores(&server).resolve("s3://b/k.rdb").unwrap_err().to_string();
    assert!(said.contains("s3://b/k.rdb") && said.contains("cannot be reached") && said.contains("proxy"), "{said}");
}

fn names(inputs: Result<Vec<Input>>) -> Vec<String> {
    inputs.unwrap().into_iter().map(|input| input.name).collect()
}

fn bucket(keys: &[&str]) -> FaultServer {
    let server = FaultServer::start();
    for key in keys {
        server.put(&format!("/b/{key}"), Served::new(content(10)));
    }
    server
}

#[test]
fn prefixes_follow_the_rules_of_folders() {
    let server = bucket(&["n/c.rdb", "n/a.rdb.zst", "n/temp-1.rdb", "n/b.txt", "n/d/e.rdb", "nn.rdb", "n/.rdb"]);
    let expected = ["s3://b/n/a.rdb.zst", "s3://b/n/c.rdb"];
    assert_eq!(names(stores(&server).resolve("s3://b/n/")), expected);
    assert_eq!(names(stores(&server).resolve("s3://b/n")), expected);
    assert_eq!(names(stores(&server).resolve("s3://b")), ["s3://b/nn.rdb"]);
    let said = stores(&server).resolve("s3://b/none/").unwrap_err().to_string();
    assert!(said.contains("no snapshot under this prefix") && said.contains("*.rdb"), "{said}");
    let said = stores(&server).resolve("s3://b/none.rdb").unwrap_err().to_string();
    assert!(said.contains("HTTP 404: no such object"), "{said}");
}

#[test]
fn patterns_match_within_a_folder_or_through_all() {
    let keys = ["n/c.rdb", "n/a.rdb", "n/b.rdb", "n/d/e.rdb", "m/a.rdb", "n/temp-2.rdb", "n/f.rdb", "n/g.rdb"];
    let server = bucket(&keys);
    let expected = ["a", "b", "c", "f", "g"].map(|name| format!("s3://b/n/{name}.rdb"));
    assert_eq!(names(stores(&server).resolve("s3://b/n/*.rdb")), expected);
    assert_eq!(names(stores(&server).resolve("s3://b/*/a.rdb")), ["s3://b/m/a.rdb", "s3://b/n/a.rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/n/**/e.rdb")), ["s3://b/n/d/e.rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/n/[ab].rdb")), expected[..2]);
    assert!(stores(&server).resolve("s3://b/n/*.gz").unwrap_err().to_string().contains("no matching object"));
    assert!(stores(&server).resolve("https://h/*.rdb").unwrap_err().to_string().contains("does not list"));
}

#[test]
fn manifest_stands_for_its_base() {
    let server = FaultServer::start();
    let manifest = "file a.2.base.rdb seq 2 type b\nfile a.2.incr.aof seq 2 type i\n";
    server.put("/b/aof/a.manifest", Served::new(manifest.into()));
    server.put("/b/aof/a.2.base.rdb", Served::new(content(10)));
    server.put("/b/aof/a.1.base.rdb", Served::new(content(10)));
    let said = stores(&server).resolve("s3://b/aof/").unwrap_err().to_string();
    assert!(said.contains("s3://b/aof/a.2.incr.aof") && said.contains("is the copy complete?"), "{said}");
    server.put("/b/aof/a.2.incr.aof", Served::new(content(7)));
    for address in ["s3://b/aof/", "s3://b/aof/a.manifest"] {
        let inputs = stores(&server).resolve(address).unwrap();
        let facts: Vec<_> = inputs.iter().map(|it| (it.name.as_str(), it.multi_part, it.following_bytes)).collect();
        assert_eq!(facts, [("s3://b/aof/a.2.base.rdb", true, Some(7))]);
    }
}

#[test]
fn summary_stands_for_its_shards() {
    let server = bucket(&["d/a-summary.dfs", "d/a-0001.dfs", "d/a-0000.dfs", "d/ab-0000.dfs", "d/a-x.dfs"]);
    let expected = ["a-summary", "a-0000", "a-0001"].map(|name| format!("s3://b/d/{name}.dfs"));
    assert_eq!(names(stores(&server).resolve("s3://b/d/a-summary.dfs")), expected);
}

#[test]
fn hostile_lists_end() {
    let server = FaultServer::start();
    let entry = |key: &str| {
        format!("<Contents><Key>{key}</Key><Size>1</Size><LastModified>2026-11-22T01:00:00Z</LastModified></Contents>")
    };
    let endless = "<NextContinuationToken>again</NextContinuationToken>";
    server.answer_lists(&format!("<ListBucketResult>{endless}</ListBucketResult>"));
    let said = stores(&server).resolve("s3://b/n/").unwrap_err().to_string();
    assert!(said.contains("never ends"), "{said}");
    // Neither keys of other folders nor one twice.
    let keys = ["other/x.rdb", "n/a.rdb", "n/a.rdb", "n/b/c.rdb"].map(entry).concat();
    server.answer_lists(&format!("<ListBucketResult>{keys}</ListBucketResult>"));
    assert_eq!(names(stores(&server).resolve("s3://b/n/")), ["s3://b/n/a.rdb"]);
    for broken in ["<ListBucketResult><Contents>", "", "<Error><Code>NoSuchBucket</Code></Error>"] {
        server.answer_lists(broken);
        assert!(stores(&server).resolve("s3://b/n/").is_err(), "{broken}");
    }
}

#[test]
fn web_servers_are_read_with_and_without_ranges_and_tags() {
    for (ranges, etag) in [(true, Some("\"one\"")), (true, Some("W/\"one\"")), (true, None), (false, None)] {
        let server = FaultServer::start();
        server.put("/p/a b.rdb", Served::new(Vec::new()));
        server.put("/p/k.rdb", Served { ranges, etag, ..Served::new(content(500_000)) });
        let address = format!("http://{}/p/k.rdb?X-Amz-Signature=hunter2", server.at);
        let input = one(&mut stores(&server), &address).unwrap();
        assert_eq!(input.name, format!("http://{}/p/k.rdb", server.at));
        assert!(read(&input).unwrap() == content(500_000));
        assert!(server.log().iter().all(|line| line.starts_with("GET") && line.contains("?X-Amz-Signature=hunter2")));
        let faults = vec![Fault::Cut(10)];
        server.put("/p/k.rdb", Served { ranges, etag, faults, ..Served::new(content(500_000)) });
        assert_eq!(read(&input).is_ok(), ranges, "a cut body is resumed only by ranges");
    }
}

#[test]
fn errors_of_web_servers_hide_the_signature() {
    let server = FaultServer::start();
    let address = format!("http://{}/p/k.rdb?X-Amz-Signature=hunter2", server.at);
    let said = stores(&server).resolve(&address).unwrap_err().to_string();
    assert!(said.contains("HTTP 404") && !said.contains("hunter2"), "{said}");
    server
        .put("/p/k.rdb", Served { faults: vec![Fault::Status(403, "Expired")], forever: true, ..Served::new(vec![1]) });
    let said = stores(&server).resolve(&address).unwrap_err().to_string();
    assert!(said.contains("HTTP 403") && said.contains("expired") && !said.contains("hunter2"), "{said}");
}

#[test]
fn dump_in_a_store_equals_the_file() {
    let server = FaultServer::start();
    let bytes = std::fs::read(Path::new("testdata/dumps/shop.rdb")).unwrap();
    server.put("/b/shop.rdb", Served::new(bytes.clone()));
    server.put("/b/shop.rdb.zst", Served::new(zstd::encode_all(&bytes[..], 1).unwrap()));
    let options = OpenOptions {
        mmap: true,
        spool_dir: std::env::temp_dir(),
        window: 1 << 20,
        budget: Budget::default(),
        inflaters: 1,
    };
    for name in ["shop.rdb", "shop.rdb.zst"] {
        let input = one(&mut stores(&server), &format!("s3://b/{name}")).unwrap();
        let opened = input.open(&options).unwrap();
        let Body::Stream(mut window) = opened.body else { panic!("not a stream") };
        assert!(!window.fill(u64::MAX).unwrap());
        assert!(window.bytes() == bytes, "{name}");
        assert!(input.is_reopenable() && input.open_whole(&options).unwrap().failure.is_none());
    }
}

#[test]
fn output_is_written_whole_and_refusals_are_named() {
    let server = FaultServer::start();
    let target = stores(&server).target("s3://b/out/r.json").unwrap();
    assert!(target.existing().unwrap().is_none());
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &content(100_000)).unwrap();
    target.put(&mut file).unwrap();
    assert!(server.content("/b/out/r.json").unwrap() == content(100_000));
    assert_eq!(target.existing().unwrap().unwrap().object().unwrap().size(), 100_000);
    let faults = vec![Fault::Status(403, "AccessDenied")];
    server.put("/b/out/r.json", Served { faults, ..Served::new(vec![1]) });
    let said = target.put(&mut file).unwrap_err().to_string();
    assert!(said.contains("s3://b/out/r.json") && said.contains("HTTP 403 (AccessDenied)"), "{said}");
    assert_eq!(server.content("/b/out/r.json").unwrap(), [1]);
    for (name, kind) in [("r.html", "text/html; charset=utf-8"), ("r.part", "-")] {
        stores(&server).target(&format!("s3://b/out/{name}")).unwrap().put(&mut file).unwrap();
        assert!(server.log().contains(&format!("PUT /b/out/{name} {kind}")), "{:?}", server.log());
    }
    for address in ["https://h/r.json", "s3://b/out/", "s3://b", "s3://b/a//b"] {
        assert!(stores(&server).target(address).is_err(), "{address}");
    }
}

/// Returns the next of pseudorandom bytes (xorshift).
fn next_byte(state: &mut u64) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 56) as u8
}

/// Returns a dump of 300 strings, 1 MB in all, that do not compress.
fn dump() -> Vec<u8> {
    let mut dump = b"REDIS0011\xfe\x00".to_vec();
    let mut state = 1u64;
    for at in 0..300 {
        let value: Vec<u8> = (0..3500).map(|_| next_byte(&mut state)).collect();
        dump.extend(format!("\x00\x06k{at:05}").bytes());
        // The length 3500 in 14 bits.
        dump.extend([0x4d, 0xac]);
        dump.extend(value);
    }
    dump.extend(b"\xff\0\0\0\0\0\0\0\0");
    dump
}

#[test]
fn store_that_fails_in_the_middle_is_no_damage() {
    let gzip = |bytes: &[u8]| {
        let mut packed = Vec::new();
        flate2::read::GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
        packed
    };
    let middle = 500_000;
    for (fault, ranges, words) in [
        (Fault::From(300_000, 503, "SlowDown"), true, "HTTP 503 (SlowDown)"),
        (Fault::From(300_000, 403, "AccessDenied"), true, "HTTP 403 (AccessDenied)"),
        (Fault::From(300_000, 412, ""), true, "was replaced"),
        (Fault::Cut(middle), false, "broke off"),
    ] {
        let server = FaultServer::start();
        for (name, bytes) in [("d.rdb", dump()), ("d.rdb.gz", gzip(&dump()))] {
            assert!(bytes.len() > 2 * middle);
            server.put(
                &format!("/p/{name}"),
                Served { faults: vec![fault], forever: true, ranges, ..Served::new(bytes) },
            );
            let shown = format!("http://{}/p/{name}", server.at);
            let address = format!("{shown}?X-Amz-Signature=hunter2");
            let mut plan = ReadPlan::new(std::env::temp_dir());
            plan.stores.insert("RDBLENS_REMOTE_RETRIES", "0").unwrap();
            let expect = |error: String| {
                assert!(error.contains(words) && error.contains(&shown) && !error.contains("hunter2"), "{error}");
            };
            expect(for_each_record(&[&address], &plan, |_, _| {}).unwrap_err().to_string());
            let mut saved = Vec::new();
            expect(salvage(&address, &plan, Some(&mut saved)).unwrap_err().to_string());
            assert!(saved.is_empty());
            let checked = check(&[&address], &plan, &Unwatched).unwrap().remove(0);
            assert_eq!((checked.verdict, checked.is_hopeless()), (CheckVerdict::Unreadable, true));
            assert!(checked.salvage.is_none());
            let plan = Plan::new(plan);
            expect(crate::analyze::analyze(&[&address], &plan, &Unwatched).unwrap_err().to_string());
        }
    }
}

#[test]
fn codes_of_refused_objects_are_found_out() {
    for (fault, words) in [
        (Fault::Refused(400, "ExpiredToken"), ["HTTP 400 (ExpiredToken)", "get new credentials"]),
        (Fault::Refused(403, "RequestTimeTooSkewed"), ["HTTP 403 (RequestTimeTooSkewed)", "set the clock"]),
    ] {
        let server = FaultServer::start();
        server.put("/b/k.rdb", Served { faults: vec![fault], forever: true, ..Served::new(content(10)) });
        let said = stores(&server).resolve("s3://b/k.rdb").unwrap_err().to_string();
        assert!(words.iter().all(|word| said.contains(word)) && !said.contains("hunter2"), "{said}");
    }
}

#[test]
fn name_with_the_signs_of_a_pattern_is_tried_first() {
    let server = bucket(&["n/a[1].rdb", "n/a1.rdb", "n/b[.rdb", "n/c*.rdb", "n/c1.rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/n/a[1].rdb")), ["s3://b/n/a[1].rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/n/a[0-9].rdb")), ["s3://b/n/a1.rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/n/b[.rdb")), ["s3://b/n/b[.rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/n/c*.rdb")), ["s3://b/n/c*.rdb"]);
    assert!(stores(&server).resolve("s3://b/n/b[x.rdb").unwrap_err().to_string().contains("not a valid glob"));
}

#[test]
fn directory_of_a_server_is_read_in_one_form() {
    let server =
        bucket(&["d/dump.rdb", "d/appendonlydir/a.rdb", "e/appendonlydir/a.rdb", "f/x.rdb", "f/appendonlydir/a"]);
    let said = stores(&server).resolve("s3://b/d/").unwrap_err().to_string();
    assert!(said.contains("s3://b/d/dump.rdb and s3://b/d/appendonlydir/ are the data of one server"), "{said}");
    assert_eq!(names(stores(&server).resolve("s3://b/e/")), ["s3://b/e/appendonlydir/a.rdb"]);
    assert_eq!(names(stores(&server).resolve("s3://b/f/")), ["s3://b/f/x.rdb"]);
}

#[test]
fn lists_of_keys_that_cannot_be_asked_for_are_errors() {
    let server = FaultServer::start();
    let long = "k".repeat(70_000);
    let next = format!("<NextContinuationToken>{long}</NextContinuationToken>");
    let entry = |key: &str| {
        format!("<Contents><Key>{key}</Key><Size>1</Size><LastModified>2026-11-22T01:00:00Z</LastModified></Contents>")
    };
    for (list, words) in [
        (entry("n/a&#9;b.rdb"), "control characters"),
        (entry(&format!("n/{long}.rdb")), "more than 4096 bytes"),
        (next, "cannot be continued"),
    ] {
        server.answer_lists(&format!("<ListBucketResult>{list}</ListBucketResult>"));
        let said = stores(&server).resolve("s3://b/n/").unwrap_err().to_string();
        assert!(said.contains(words) && said.len() < 500, "{said}");
    }
}

#[test]
fn empty_file_on_a_web_server_is_said_to_be_empty() {
    let server = FaultServer::start();
    server.put("/p/k.rdb", Served::new(Vec::new()));
    let input = one(&mut stores(&server), &format!("http://{}/p/k.rdb", server.at)).unwrap();
    let dir = std::env::temp_dir();
    let options = OpenOptions { mmap: true, spool_dir: dir, window: 1 << 20, budget: Budget::default(), inflaters: 1 };
    let said = input.open(&options).err().unwrap().to_string();
    assert!(said.contains("empty") && !said.contains("416"), "{said}");
}
