//! Rules about types and values on dumps: what breaks them and what does not, and whether the savings they predict are
//! those of the same data stored as suggested.

use std::path::{Path, PathBuf};

use rdblens::internals::analyze::{Plan, PolicySource, ReadPlan, Unwatched, analyze};
use rdblens::internals::memory::Server;
use rdblens::internals::rdb::payload::PACKED_GAIN;
use rdblens::internals::record::Kind;
use rdblens::internals::show::{Entry, Item, Value, decode_value};
use rdblens::internals::units::Bytes;
use rdblens::report::{DetailValue, Finding, Report, Severity};

use crate::common::{dumps, read_records};

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

/// Builder of a dump: format 11, one database, no checksum.
pub struct Dump(Vec<u8>);

impl Dump {
    pub fn new() -> Self {
        Dump(b"REDIS0011\xfe\x00".to_vec())
    }

    fn length(&mut self, length: usize) {
        match length {
            0..64 => self.0.push(length as u8),
            64..16_384 => self.0.extend([0x40 | (length >> 8) as u8, length as u8]),
            _ => {
                self.0.push(0x80);
                self.0.extend(u32::try_from(length).unwrap().to_be_bytes());
            }
        }
    }

    fn text(&mut self, text: impl AsRef<[u8]>) {
        self.length(text.as_ref().len());
        self.0.extend(text.as_ref());
    }

    fn value(&mut self, value_type: u8, key: &str) {
        self.0.push(value_type);
        self.text(key);
    }

    pub fn string(&mut self, key: &str, text: impl AsRef<[u8]>) {
        self.value(0, key);
        self.text(text);
    }

    /// Adds a string as servers compress it.
    fn compressed(&mut self, key: &str, text: impl AsRef<[u8]>) -> (u64, u64) {
        let block = lzf::compress(text.as_ref()).unwrap();
        self.value(0, key);
        self.0.push(0xc3);
        self.length(block.len());
        self.length(text.as_ref().len());
        self.0.extend(&block);
        (text.as_ref().len() as u64, block.len() as u64)
    }

    /// Adds a compressed string: the text once, then `times` copies of its first bytes.
    fn repeated(&mut self, key: &str, text: &str, times: usize) -> (u64, u64) {
        let length = text.len() * times;
        let mut block = vec![u8::try_from(text.len() - 1).unwrap()];
        block.extend(text.as_bytes());
        let mut left = length - text.len();
        while left >= 9 {
            let run = left.min(264);
            block.extend([0xe0, u8::try_from(run - 9).unwrap(), u8::try_from(text.len() - 1).unwrap()]);
            left -= run;
        }
        let length = length - left;
        self.value(0, key);
        self.0.push(0xc3);
        self.length(block.len());
        self.length(length);
        self.0.extend(&block);
        (length as u64, block.len() as u64)
    }

    fn hash(&mut self, key: &str, pairs: &[(String, String)]) {
        self.value(4, key);
        self.length(pairs.len());
        for (field, value) in pairs {
            self.text(field);
            self.text(value);
        }
    }

    fn set(&mut self, key: &str, members: impl ExactSizeIterator<Item = String>) {
        self.value(2, key);
        self.length(members.len());
        members.for_each(|member| self.text(member));
    }

    fn zset(&mut self, key: &str, members: usize) {
        self.value(5, key);
        self.length(members);
        for member in 0..members {
            self.text(format!("member:{member}"));
            self.0.extend((member as f64 / 2.0).to_le_bytes());
        }
    }

    /// Writes the file; returns its temporary folder, to be kept, and its path.
    pub fn write(mut self) -> (tempfile::TempDir, PathBuf) {
        self.0.push(0xff);
        self.0.extend([0; 8]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("built.rdb");
        std::fs::write(&path, self.0).unwrap();
        (folder, path)
    }
}

fn plan(policy: &str) -> Plan {
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.policy = PolicySource::Preset(policy.to_owned());
    plan.top = 100;
    plan
}

pub fn report(path: impl AsRef<Path>, policy: &str) -> Report {
    analyze(&[path], &plan(policy), &Unwatched).unwrap()
}

pub fn finding<'r>(report: &'r Report, rule: &str) -> Option<&'r Finding> {
    report.findings.list.iter().find(|finding| finding.rule == rule)
}

/// Returns patterns with their number of keys, sorted.
fn patterns(finding: &Finding) -> Vec<(&str, u64)> {
    let rows = finding.patterns.iter().map(|row| (row.pattern.as_deref().unwrap_or_default(), row.keys));
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    rows
}

fn shop_patterns(rule: &str, policy: &str) -> Vec<(String, u64)> {
    let report = report(SHOP, policy);
    let found = finding(&report, rule).unwrap_or_else(|| panic!("{rule} finds nothing"));
    patterns(found).into_iter().map(|(pattern, keys)| (pattern.to_owned(), keys)).collect()
}

#[test]
fn each_standard_weighs_the_rules_its_own_way() {
    let table = [
        ("key.name-cost", ["hint", "hint", "should", "hint", "hint", "hint"]),
        ("type.json-string", ["", "", "", "should", "", ""]),
        ("type.near-compact-limit", ["", "", "hint", "hint", "", "hint"]),
        ("type.set-as-counter", ["", "hint", "", "hint", "", ""]),
        ("type.split-object", ["hint", "hint", "should", "hint", "hint", "should"]),
        ("value.compressible", ["", "should", "", "should", "", ""]),
    ];
    let presets = ["default", "service", "hzero", "platform", "strict", "aliyun"];
    let classifier = rdblens::internals::pattern::classify::Classifier::default();
    for (at, preset) in presets.into_iter().enumerate() {
        let names = rdblens::internals::policy::file::PatternSyntax { separators: b":", classifier: &classifier };
        let policy = rdblens::internals::policy::presets::load(preset, names).unwrap();
        for (rule, severities) in table {
            let setting = policy.settings.iter().find(|setting| setting.rule.meta.id == rule);
            assert_eq!(setting.map_or("", |setting| setting.severity.name()), severities[at], "{rule} in {preset}");
        }
    }
}

#[test]
fn the_shop_has_one_object_that_is_spread_over_strings() {
    let report = report(SHOP, "hzero");
    let found = finding(&report, "type.split-object").unwrap();
    assert_eq!((found.severity, patterns(found)), (Severity::Should, vec![("member:{int}", 390)]));
    let row = &found.patterns[0];
    assert_eq!(row.details["leaves"].value, DetailValue::Texts(["age", "city", "name"].map(str::to_owned).into()));
    assert_eq!((&row.details["ids"].value, row.measured, row.examples.len()), (&DetailValue::Count(130), Some(3), 3));
    assert!(row.saves.unwrap().0 > 0 && row.saves.unwrap() < row.memory, "{:?}", row.saves);
}

#[test]
fn the_shop_keeps_json_objects_in_strings() {
    let expected =
        [("cache:product:{int}", 459), ("refresh:{uuid}", 60), ("task-meta-{uuid}", 260), ("user_profile_{int}", 40)];
    assert_eq!(
        shop_patterns("type.json-string", "platform"),
        expected.map(|(pattern, keys)| (pattern.to_owned(), keys))
    );
}

#[test]
fn the_shop_could_compress_its_pages_and_reports() {
    let found = shop_patterns("value.compressible", "service");
    assert!(found.iter().any(|(pattern, _)| pattern.starts_with("cache:page:")), "{found:?}");
    // Products are short, and HyperLogLogs must stay readable for the server.
    let spared = |pattern: &str| pattern.starts_with("cache:product:") || pattern.starts_with("uv:home:");
    assert!(found.iter().all(|(pattern, _)| !spared(pattern)), "{found:?}");
}

#[test]
fn findings_are_the_same_on_any_number_of_threads() {
    let on = |threads| {
        let mut plan = plan("platform");
        plan.read.threads = threads;
        serde_json::to_string(&analyze(&[SHOP], &plan, &Unwatched).unwrap().findings).unwrap()
    };
    assert_eq!(on(1), on(4));
}

/// Returns what raising the limits saves: by the rule, and by reading again with higher limits.
fn savings(path: &Path, server: Option<Server>) -> (u64, u64, u64) {
    let mut plan = plan("hzero");
    plan.read.server = server;
    let now = analyze(&[path], &plan, &Unwatched).unwrap();
    for (setting, value) in [
        ("hash-max-listpack-entries", "1024"),
        ("zset-max-listpack-entries", "256"),
        ("set-max-listpack-entries", "256"),
        ("set-max-intset-entries", "1024"),
    ] {
        plan.read.config.set(setting, value).unwrap();
    }
    let raised = analyze(&[path], &plan, &Unwatched).unwrap();
    let found = finding(&now, "type.near-compact-limit");
    let promised = found.and_then(|found| found.saves).map_or(0, |saves| saves.0);
    let by_pattern: u64 = found.map_or(0, |found| found.patterns.iter().map(|row| row.saves.unwrap().0).sum());
    if found.is_some_and(|found| found.distinct_patterns <= 100) {
        assert_eq!(by_pattern, promised, "{}", path.display());
    }
    (found.map_or(0, |found| found.keys), promised, now.totals.memory.0 - raised.totals.memory.0)
}

#[test]
fn raising_the_limits_of_compact_collections_saves_the_predicted_memory() {
    let pairs = |count: usize| (0..count).map(|i| (format!("field:{i}"), format!("value {i}"))).collect::<Vec<_>>();
    let mut dump = Dump::new();
    dump.hash("cart:1:items", &pairs(512));
    dump.hash("cart:2:items", &pairs(513));
    dump.hash("cart:3:items", &pairs(1024));
    dump.hash("cart:4:items", &pairs(1025));
    dump.zset("rank:1:day", 128);
    dump.zset("rank:2:day", 200);
    dump.zset("rank:3:day", 257);
    dump.set("tag:1:items", (0..200usize).map(|i| format!("item-{i}")));
    dump.set("tag:2:items", (0..300usize).map(|i| format!("item-{i}")));
    dump.set("tag:3:ids", (0..700u32).map(|i| i.to_string()).collect::<Vec<_>>().into_iter());
    dump.set("tag:4:ids", (0..1100u32).map(|i| i.to_string()).collect::<Vec<_>>().into_iter());
    let (_folder, path) = dump.write();
    // Servers before 7.2 have no listpacks of text for sets.
    for (server, keys) in [("redis-5.0", 4), ("redis-6.2", 4), ("redis-7.2", 5), ("redis-8.2", 5), ("valkey-8.1", 5)] {
        let (found, promised, saved) = savings(&path, Some(Server::parse(server).unwrap()));
        assert_eq!((found, promised), (keys, saved), "{server}");
        assert!(saved > 0, "{server}");
    }
}

#[test]
fn one_value_too_long_for_the_compact_form_makes_a_table_at_any_limit() {
    let mut pairs: Vec<_> = (0..600).map(|i| (format!("field:{i}"), format!("value {i}"))).collect();
    let found = |pairs: &[(String, String)]| {
        let mut dump = Dump::new();
        dump.hash("cart:1:items", pairs);
        let (_folder, path) = dump.write();
        finding(&report(&path, "hzero"), "type.near-compact-limit").is_some()
    };
    assert!(found(&pairs));
    pairs[300].1 = "x".repeat(65);
    assert!(!found(&pairs));
}

#[test]
fn savings_match_on_dumps_of_real_servers() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
    let mut keys = 0;
    for folder in std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()) {
        let dump = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        for path in dump.filter(|path| path.extension().is_some_and(|extension| extension == "rdb")) {
            let (found, promised, saved) = savings(&path, None);
            assert_eq!(promised, saved, "{}", path.display());
            keys += found;
        }
    }
    assert!(keys > 0, "no corpus has a collection near a limit");
}

#[test]
fn one_hash_for_each_object_saves_about_the_predicted_memory() {
    let objects: Vec<Vec<(String, String)>> = (1000..1400)
        .map(|i| {
            let name = ["tom", "alexandra", "li", "maximilian"][i % 4].repeat(1 + i % 3);
            let fields = [("age", (i % 80).to_string()), ("favor", "football".into()), ("name", name)];
            fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()
        })
        .collect();
    let (mut split, mut whole) = (Dump::new(), Dump::new());
    for (id, fields) in (1000..).zip(&objects) {
        fields.iter().for_each(|(field, value)| split.string(&format!("user:{id}:{field}"), value));
        whole.hash(&format!("user:{id}"), fields);
    }
    let ((_one, split), (_other, whole)) = (split.write(), whole.write());
    for server in ["redis-6.2", "redis-7.2", "redis-8.2", "valkey-8.1"] {
        let mut plan = plan("aliyun");
        plan.read.server = Some(Server::parse(server).unwrap());
        let before = analyze(&[&split], &plan, &Unwatched).unwrap();
        let after = analyze(&[&whole], &plan, &Unwatched).unwrap();
        assert!(finding(&after, "type.split-object").is_none());
        let found = finding(&before, "type.split-object").unwrap();
        assert_eq!((found.severity, patterns(found)), (Severity::Should, vec![("user:{int}", 1200)]));
        let (promised, saved) = (found.saves.unwrap().0, before.totals.memory.0 - after.totals.memory.0);
        assert!(promised.abs_diff(saved) * 20 <= saved, "{server}: {promised} promised, {saved} saved");
    }
}

#[test]
fn json_objects_are_known_compressed_or_not() {
    let mut dump = Dump::new();
    dump.string("user:1:profile", r#"{"name":"tom","age":19}"#);
    dump.string("user:2:profile", "{\n  \"name\": \"tom\"\n}");
    let long = format!("{{\"names\":[{}\"tom\"]}}", "\"tom\",".repeat(100));
    dump.compressed("user:3:profile", &long);
    dump.string("user:4:profile", r#"[{"name":"tom"},{"name":"ann"}]"#);
    dump.string("user:5:profile", serde_json::to_string(r#"{"name":"tom"}"#).unwrap());
    for (name, text) in [
        ("list", "[1,2,3]"),
        ("empty", "{}"),
        ("tag", "{user:1}"),
        ("number", "12345"),
        ("text", "tom"),
        ("template", "{{name}}"),
        ("log", "{\"level\":\"info\"} GET /\n{\"level\":\"info\"}"),
        ("ini", "[INFO]\na={\"b\":1}"),
    ] {
        dump.string(&format!("user:1:{name}"), text);
        dump.compressed(&format!("user:2:{name}"), format!("{text}{}", " and so on".repeat(50)));
    }
    dump.hash("user:4:profile", &[("json".into(), r#"{"a":1}"#.into())]);
    let (_folder, path) = dump.write();
    let platform = report(&path, "platform");
    let found = finding(&platform, "type.json-string").unwrap();
    assert_eq!((found.severity, patterns(found)), (Severity::Should, vec![("user:{int}:profile", 5)]));
    assert_eq!((found.patterns[0].measured, found.patterns[0].allowed), (None, None), "there is no limit");
    // Other presets allow objects in strings: the service standard names them as its first example.
    assert!(finding(&report(&path, "service"), "type.json-string").is_none());
}

#[test]
fn large_sets_of_visitors_are_reported() {
    let mut dump = Dump::new();
    let members = |from: u32, count: u32| (from..from + count).map(|i| i.to_string()).collect::<Vec<_>>().into_iter();
    dump.set("page:home:uv", members(1, 100_001));
    dump.set("page:shop:uv", members(1, 100_000));
    dump.set("room:home:members", members(1, 100_001));
    let (_folder, path) = dump.write();
    for policy in ["service", "platform"] {
        let report = report(&path, policy);
        let found = finding(&report, "type.set-as-counter").unwrap();
        assert_eq!((found.severity, patterns(found)), (Severity::Hint, vec![("page:home:uv", 1)]));
        assert_eq!(found.saves.unwrap().0, found.memory.0 - 14_400);
    }
}

#[test]
fn values_that_the_dump_compresses_well_are_reported() {
    let mut dump = Dump::new();
    let (length, stored) = dump.repeated("page:home:html", "<li class=tile>", 300);
    dump.repeated("page:shop:short", "<li>", 250);
    dump.string("page:home:image", vec![0xee; 5_000]);
    dump.compressed("page:home:bits", [&[0; 4_000][..], b"x"].concat());
    dump.compressed("page:home:uv", [b"HYLL", &[0; 12_300][..]].concat());
    let (_folder, path) = dump.write();
    let service = report(&path, "service");
    let found = finding(&service, "value.compressible").unwrap();
    assert_eq!((found.severity, patterns(found)), (Severity::Should, vec![("page:home:html", 1)]));
    assert_eq!(found.saves.unwrap().0, length - stored);
    assert_eq!((found.patterns[0].measured, found.patterns[0].allowed), (Some(stored * 1000 / length), Some(500)));
    assert_eq!(found.patterns[0].saves, found.saves);
}

#[test]
fn long_names_of_small_values_are_reported_with_their_saving() {
    let (mut long, mut short) = (Dump::new(), Dump::new());
    for id in 1000..2000 {
        long.string(&format!("user:{id}:friends:messages:{id}"), "12");
        long.string(&format!("user:{id}:about"), "a text that is longer than its name");
        short.string(&format!("user:{id}:friends:msgs:{id}"), "a text that is longer than its name");
    }
    for id in 0..999 {
        long.string(&format!("coupon:{id}:used"), "1");
    }
    let ((_one, long), (_other, short)) = (long.write(), short.write());
    let before = report(&long, "hzero");
    let found = finding(&before, "key.name-cost").unwrap();
    assert_eq!(
        (found.severity, patterns(found)),
        (Severity::Should, vec![("user:{int}:friends:messages:{int}", 1000)])
    );
    let row = &found.patterns[0];
    assert_eq!(row.details["shortened"].value, DetailValue::Pattern("user:{int}:friends:msgs:{int}".into()));
    let saved = "user:1000:friends:messages:1000".len() - "user:1000:friends:msgs:1000".len();
    assert_eq!(row.saves.unwrap().0, 1000 * saved as u64);
    assert_eq!(
        (&row.details["name_bytes"].value, &row.details["value_bytes"].value),
        (&DetailValue::Bytes(Bytes(31_000)), &DetailValue::Bytes(Bytes(2_000)))
    );
    assert!(finding(&report(&short, "hzero"), "key.name-cost").is_none());
}

#[test]
fn the_size_of_a_value_is_that_of_its_content() {
    let mut dump = Dump::new();
    // A set of 500 short members takes some 30 KB of memory, a string of 9 KB up to 10 KB.
    dump.set("tag:a:b:set", (0..500usize).map(|i| format!("member-{i:04}")));
    dump.string("page:a:b:string", "x".repeat(10_240));
    dump.set("tag:c:d:set", (0..500usize).map(|i| format!("member-{i:014}")));
    dump.zset("rank:a:b:zset", 1_000);
    let pairs = |len: usize| (0..40).map(|i| (format!("f{i:02}"), "v".repeat(len))).collect::<Vec<_>>();
    dump.hash("user:a:b:hash", &pairs(253));
    dump.hash("user:c:d:hash", &pairs(254));
    let (_folder, path) = dump.write();
    let report = report(&path, "strict");
    let found = finding(&report, "big.total").unwrap();
    assert_eq!(
        (found.severity, patterns(found)),
        (Severity::Must, vec![("rank:a:b:zset", 1), ("tag:c:d:set", 1), ("user:c:d:hash", 1)])
    );
    // Each member: `member:` and its number, and 8 for the score.
    let zset = found.patterns.iter().find(|row| row.pattern.as_deref() == Some("rank:a:b:zset")).unwrap();
    assert_eq!((zset.measured, zset.allowed), (Some(10 + 90 * 2 + 900 * 3 + 1_000 * (7 + 8)), Some(10_240)));
    assert!(finding(&report, "big.string").is_none());
    assert_eq!(report.big_keys.keys, 3);
}

#[test]
fn hyperloglogs_break_no_rule_about_size() {
    let mut dump = Dump::new();
    let dense = [b"HYLL\0\0\0\0", &[0x5a; 12_296][..]].concat();
    dump.string("uv:home:{1}:string", &dense);
    dump.compressed("uv:home:{2}:string", &dense);
    let text = [b"HYLL", &[b'x'; 12_300][..]].concat();
    dump.string("uv:text:{1}:string", &text);
    let (_folder, path) = dump.write();
    for preset in ["default", "service", "hzero", "platform", "strict", "aliyun"] {
        let report = report(&path, preset);
        for finding in report.findings.list.iter().filter(|finding| finding.rule.starts_with("big.")) {
            assert_eq!(patterns(finding), [("uv:text:{int}:string", 1)], "{preset}: {}", finding.rule);
        }
        assert!(finding(&report, "big.string").is_some(), "{preset}");
    }
}

/// Returns the payload of a decoded value; `None` for modules.
fn payload_of(value: &Value) -> Option<u64> {
    let sum = |texts: &[Vec<u8>]| texts.iter().map(Vec::len).sum();
    let fields = |entry: &Entry| entry.fields.iter().map(|(field, value)| field.len() + value.len()).sum::<usize>();
    let item = |item: &Item| match item {
        Item::Integer(number) => number.to_string().len(),
        Item::Float(_) => 8,
        Item::Text(text) => text.len(),
    };
    let payload: usize = match value {
        Value::Text(text) => text.len(),
        Value::List(texts) | Value::Set(texts) => sum(texts),
        Value::Zset(members) => members.iter().map(|(member, _)| member.len() + 8).sum(),
        Value::Hash(pairs) => pairs.iter().map(|pair| pair.field.len() + pair.value.len()).sum(),
        Value::Stream(stream) => stream.entries.iter().map(|entry| 16 + fields(entry)).sum(),
        Value::Array(items) => items.iter().map(|(_, value)| item(value)).sum(),
        Value::Json(_) | Value::Series(_) | Value::Vectors(_) | Value::Module(..) => return None,
    };
    Some(payload as u64)
}

#[test]
fn payload_is_that_of_the_decoded_value() {
    let plan = ReadPlan::new(std::env::temp_dir());
    let mut kinds = std::collections::BTreeSet::new();
    for dump in dumps() {
        read_records(&dump, &plan, |record| {
            let raw = record.raw.unwrap();
            if let Ok(value) = decode_value(raw.value_type, raw.templates, raw.bytes, 0) {
                let payload = raw.payload().map(|payload| payload.bytes);
                assert_eq!(payload, payload_of(&value), "{}: {}", dump.display(), record.key.escape_ascii());
                kinds.insert(format!("{:?}", raw.value_type));
            }
        });
    }
    assert!(kinds.len() > 15, "{kinds:?}");
}

#[test]
fn payload_keeps_its_bounds_on_every_dump() {
    let mut plan = ReadPlan::new(std::env::temp_dir());
    let (mut packed, mut counted) = (0, 0);
    for server in [None, Some("redis-4.0"), Some("redis-6.2"), Some("valkey-9.0")] {
        plan.server = server.map(|server| Server::parse(server).unwrap());
        for dump in dumps() {
            read_records(&dump, &plan, |record| {
                let (raw, name) = (record.raw.unwrap(), record.key.escape_ascii());
                let Some(whole) = raw.payload() else { return };
                let payload = whole.bytes;
                let length = record.length.unwrap_or(0);
                assert!(payload <= raw.payload_at_most(length), "{}: {name}", dump.display());
                match record.kind {
                    Kind::String => assert_eq!(Some(payload), record.length),
                    Kind::Stream => {}
                    _ if record.encoding.shares_names() => {
                        // It is not added up where the template shows that it is small.
                        assert!(record.value.payload.is_none_or(|known| known == whole));
                    }
                    _ => {
                        let most = record.memory.0 + 2 * PACKED_GAIN * length;
                        assert!(payload <= most, "{}: {name}: {payload} of {most}", dump.display());
                    }
                }
                packed += u64::from(raw.payload_at_most(length) < u64::MAX);
                // The meter counts what it walks, and knows the longest element, too.
                if let Some(metered) = record.value.payload {
                    assert_eq!(metered, whole, "{}: {name}", dump.display());
                    counted += 1;
                }
            });
        }
    }
    assert!(packed > 1_000 && counted > 100, "{packed} {counted}");
}
