//! Handmade reports with every section in use and hostile names.

use rdblens::internals::record::{Encoding, Kind};
use rdblens::internals::units::{Bytes, Millis};
use rdblens::report::*;

use super::{baseline, findings};

const CTIME: i64 = 1_795_231_668;
const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
const TOTAL: u64 = 1_500 * MIB;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Returns the report on a sharded shop whose second file is truncated and whose third is corrupt.
pub fn full() -> Report {
    Report { complete: false, source: damaged_source(), warnings: warnings(), ..sound() }
}

/// Returns the section on the whole server.
fn instance() -> Instance {
    let tables = Tables { main: Bytes(28 * MIB), expires: Bytes(9 * MIB), slots: Bytes(0) };
    let row = |db, keys, expiring, main| InstanceDatabase { db, keys, expiring, main: Bytes(main), expires: Bytes(0) };
    Instance {
        unknown: Unknown::default(),
        model: "redis 7.4.1, jemalloc".into(),
        keys: Bytes(TOTAL),
        correction: -61_000_000,
        tables,
        total: Bytes(TOTAL + 37 * MIB - 61_000_000),
        after_load: Some(Bytes(TOTAL + 45 * MIB - 61_000_000)),
        overhead: Overhead { main: Bytes(46 * MIB), expires: tables.expires, ..Overhead::default() },
        dataset: i64::try_from(TOTAL - 18 * MIB).unwrap_or_default() - 61_000_000,
        databases: vec![row(0, 1_200_000, 400_000, 27 * MIB), row(3, 34_567, 0, MIB)],
        outside_databases: Bytes(9 * MIB),
        used_mem: Some(Bytes(1_700 * MIB)),
        difference: Some(226 << 20),
        maxmemory: Some(Bytes(2_048 * MIB)),
    }
}

/// Returns the report on the same shop in one sound file.
pub fn sound() -> Report {
    Report {
        schema: SCHEMA.into(),
        rdblens: "0.1.0".into(),
        complete: true,
        options: Options {
            policy: "shop.toml".into(),
            selection: vec![],
            reference_time: Some(Millis(CTIME * 1000)),
            server_config: vec!["hash-max-listpack-entries 128".into()],
            inputs: Vec::new(),
            allow_same: false,
            flags: vec!["--depth 4".to_owned()],
            separators: vec![":".into()],
            top: 20,
            rows: 10,
        },
        source: Source { files: vec![file("shop.rdb", ContainerForm::Rdb, 310 * MIB)], bytes: Bytes(310 * MIB) },
        server: server(),
        instance: Some(instance()),
        totals: Totals {
            keys: 1_234_567,
            memory: Bytes(TOTAL),
            disk: Bytes(310 * MIB),
            name_bytes: Bytes(31 * MIB),
            elements: 45_678_901,
            without_ttl: Weight { keys: 812_345, memory: Bytes(1_100 * MIB) },
            fields_expire: Weight { keys: 1_234, memory: Bytes(3 * MIB) },
            expired: Weight { keys: 3_120, memory: Bytes(12 * MIB) },
            unknown: Unknown::default(),
        },
        databases: vec![database(0, 1_200_000, 1_480 * MIB), database(3, 34_567, 20 * MIB)],
        types: types(),
        big_keys: BigKeys {
            rules: BigRules { payload: Some(Bytes(MIB)), ..BigRules::default() },
            keys: 1_024,
            memory: Bytes(420 * MIB),
            expiring: 12,
            list: top_keys(),
        },
        top: Top {
            by_memory: top_keys(),
            by_length: top_keys().into_iter().filter(|row| row.kind != Kind::String).collect(),
            by_type: [Kind::String, Kind::Zset, Kind::Hash].map(top_of_type).into(),
        },
        no_ttl: NoTtl {
            keys: 812_345,
            memory: Bytes(1_100 * MIB),
            share: 812_345.0 / 1_234_567.0,
            distinct_patterns: 112,
            patterns: vec![
                weight("user:{int}:profile", 500_000, 700 * MIB, b"user:7:profile"),
                weight("rank:{date}:{*}", 12, 180 * MIB, b"rank:2026-11-20:all"),
            ],
        },
        expiry: expiry(),
        naming: naming(),
        findings: Findings { baseline: Some(baseline::baseline()), ..findings::findings() },
        prefixes: prefixes(),
        patterns: patterns(),
        idle: Some(Idle { keys: 1_234_567, classes: idle_classes(), distinct_patterns: 30, parts: cold_parts() }),
        freq: Some(Freq { keys: 3, classes: vec![freq(0, 0, 1), freq(1, 9, 0), freq(10, 255, 2)] }),
        growth: Some(baseline::growth(CTIME, 1_234_567, Bytes(TOTAL))),
        history: history(),
        slots: Some(slots()),
        streams: Some(streams()),
        hash_templates: Some(hash_templates()),
        what_if: None,
        warnings: vec![],
    }
}

fn history() -> Vec<EarlierSnapshot> {
    let row = |days: u64, mib: u64| EarlierSnapshot {
        taken: Millis((CTIME - 86_400 * days.cast_signed()) * 1000),
        memory: Bytes(mib * MIB),
        total: Some(Bytes((mib + 120) * MIB)),
        report: format!("{days}-days-ago.json"),
    };
    vec![row(21, 980), row(14, 1_060), row(7, 1_110)]
}

fn file(name: &str, container: impl Into<Container>, bytes: u64) -> SourceFile {
    SourceFile {
        name: name.into(),
        container: container.into(),
        bytes: Bytes(bytes),
        trailing_bytes: None,
        rdb_version: 11,
        checksum: Checksum::Ok,
        keys: 1_234_567,
        keys_read: 1_234_567,
        memory: Bytes(TOTAL),
        total: None,
        ctime: Some(CTIME),
        used_mem: Some(Bytes(1_717_986_918)),
        server: Some(FileServer { family: "redis".into(), version: "7.2.6".into(), guessed_from: None }),
        errors: vec![],
        damaged_keys: 0,
        unknown: Unknown::default(),
        salvage: None,
    }
}

fn damaged_source() -> Source {
    let cut = SourceFile {
        checksum: Checksum::NotReached,
        keys: 400_000,
        keys_read: 400_000,
        memory: Bytes(480 * MIB),
        errors: vec![
            FileError {
                kind: FileErrorKind::Truncated { needed: 4096, left: 17 },
                offset: Some(100 * MIB),
                reading: Some("hash value".into()),
                wording: Wording {
                    en: "byte 0x6400000: hash value: needs 4096 bytes, 17 left".into(),
                    zh: "字节 0x6400000：hash 字段的值：需要 4096 字节，只剩 17 字节".into(),
                },
            },
            "an error of an older report".to_owned().into(),
        ],
        ..file("node-2.rdb.gz", Container { form: ContainerForm::Rdb, compression: Some(Compression::Gzip) }, 100 * MIB)
    };
    let corrupt = SourceFile {
        trailing_bytes: Some(Bytes(2 * MIB)),
        checksum: Checksum::Mismatch,
        keys: 434_567,
        keys_read: 434_569,
        memory: Bytes(520 * MIB),
        damaged_keys: 2,
        ..file("appendonlydir", ContainerForm::MultiPartAof, 110 * MIB)
    };
    let intact = SourceFile {
        keys: 400_000,
        keys_read: 400_000,
        memory: Bytes(500 * MIB),
        ..file("node-1.rdb", ContainerForm::Rdb, 100 * MIB)
    };
    Source { files: vec![intact, cut, corrupt], bytes: Bytes(310 * MIB) }
}

fn server() -> Server {
    let aux = [("redis-ver", "7.2.6"), ("redis-bits", "64"), ("ctime", "1795231668"), ("used-mem", "1717986918")];
    Server {
        family: "redis".into(),
        version: "7.2.6".into(),
        guessed_from: None,
        model: "redis-7".into(),
        ctime: Some(CTIME),
        used_mem: Some(Bytes(1_717_986_918)),
        cluster: true,
        aux: aux.map(|(name, value)| AuxField { name: name.into(), value: value.into() }).into(),
        functions: 2,
        module_aux: vec!["scdtype00".into()],
    }
}

fn database(db: u64, keys: u64, memory: u64) -> Database {
    Database {
        db,
        keys,
        memory: Bytes(memory),
        disk: Bytes(memory / 5),
        with_ttl: keys / 3,
        expired: keys / 400,
        unknown: Unknown::default(),
    }
}

fn types() -> Vec<TypeRow> {
    let row = |kind, encoding: &str, keys: u64, elements, memory: u64, max| TypeRow {
        kind,
        encoding: encoding.into(),
        keys,
        elements: if kind == Kind::String { keys } else { elements },
        string_bytes: (kind == Kind::String).then_some(Bytes(elements)),
        memory: Bytes(memory),
        share: memory as f64 / TOTAL as f64,
        mean: Bytes(memory / keys),
        p50: Bytes(memory / keys / 2),
        p99: Bytes(memory / keys * 2),
        max: Bytes(max),
        unknown: Unknown::default(),
    };
    vec![
        row(Kind::Hash, "listpack", 600_000, 9_000_000, 820 * MIB, 9 * KIB),
        row(Kind::Zset, "skiplist", 14, 4_200_000, 401 * MIB, 170 * MIB),
        row(Kind::String, "raw", 400_000, 150 * MIB, 200 * MIB, 4 * MIB),
        row(Kind::Stream, "stream", 3, 1_200_000, 60 * MIB, 40 * MIB),
        row(Kind::String, "int", 234_545, 2_345_450, 17 * MIB, 72),
        row(Kind::Module, "ReJSON-RL", 5, 0, 2 * MIB, MIB),
    ]
}

fn top_keys() -> Vec<KeyRow> {
    let row = |db, key: &[u8], kind, encoding, length, memory, left: Option<i64>| KeyRow {
        db,
        key: key.into(),
        kind,
        encoding,
        length: Some(length),
        memory: Some(Bytes(memory)),
        expires_at: left.map(|left| Millis(CTIME * 1000 + left)),
        source: Some("node-1.rdb".into()),
        longest_element: (kind != Kind::String).then_some(Bytes(4 * memory / length)),
        mean_element: (kind != Kind::String).then_some(Bytes(memory / length / 2)),
        file: 0,
    };
    let mut rows = vec![
        row(0, b"rank:2026-11-20:all", Kind::Zset, Encoding::Skiplist, 2_000_000, 170 * MIB, Some(60 * MINUTE)),
        row(0, b"rank:2026-11-19:all", Kind::Zset, Encoding::Skiplist, 1_100_000, 93 * MIB, None),
        row(3, b"session\xff\xfe:\x1b[2J", Kind::Hash, Encoding::Hashtable, 210_000, 31 * MIB, Some(-DAY)),
        row(
            0,
            "商品:分类:电子产品:库存快照".as_bytes(),
            Kind::Hash,
            Encoding::Hashtable,
            80_500,
            12 * MIB,
            Some(12 * DAY),
        ),
        row(
            0,
            b"export:orders:2026-11-01T00:00:00Z:warehouse-frankfurt-12:part-000017",
            Kind::String,
            Encoding::Raw,
            4_194_302,
            4 * MIB,
            None,
        ),
        row(0, "invoice:\u{202e}fdp.exe".as_bytes(), Kind::String, Encoding::Raw, 2_000_000, 2 * MIB, None),
    ];
    rows.extend((0..6_u64).map(|i| {
        let key = format!("user:{}:feed", 1_000 + i);
        row(0, key.as_bytes(), Kind::List, Encoding::Quicklist, 9_000 - i, 900 * KIB - i, None)
    }));
    rows
}

fn top_of_type(kind: Kind) -> TopOfType {
    TopOfType { kind, list: top_keys().into_iter().filter(|row| row.kind == kind).collect() }
}

fn example(key: &[u8], memory: u64) -> Example {
    Example { db: 0, key: key.into(), memory: Some(Bytes(memory)) }
}

fn weight(pattern: &str, keys: u64, memory: u64, key: &[u8]) -> PatternWeight {
    PatternWeight { pattern: pattern.into(), keys, memory: Bytes(memory), examples: vec![example(key, memory / keys)] }
}

fn expiry() -> Expiry {
    let class = |left: &'static str, below_ms, keys, memory: u64| ExpiryClass {
        left: left.into(),
        below_ms,
        keys,
        memory: Bytes(memory),
        unknown: Unknown::default(),
    };
    Expiry {
        reference_time: Some(Millis(CTIME * 1000)),
        classes: vec![
            class("expired", Some(0), 3_120, 12 * MIB),
            class("< 1 min", Some(MINUTE), 40, 90 * KIB),
            class("< 1 hour", Some(60 * MINUTE), 250_000, 200 * MIB),
            class("< 1 day", Some(DAY), 169_062, 187 * MIB),
            class("> 1 year", None, 0, 0),
            class("none", None, 812_345, 1_100 * MIB),
        ],
        next: Some(Millis(CTIME * 1000 + 1_500)),
        last: Some(Millis(CTIME * 1000 + 12 * DAY)),
    }
}

fn naming() -> Naming {
    let rule = |rule: &'static str, severity: Severity, [en, zh]: [&str; 2], keys, memory: u64, patterns| NamingRule {
        rule: rule.into(),
        severity,
        demand: Wording { en: en.into(), zh: zh.into() },
        keys,
        memory: Bytes(memory),
        patterns,
    };
    Naming {
        keys: 4_213,
        memory: Bytes(36 * MIB),
        rules: vec![
            rule("key.empty-segment", Severity::Must, ["no empty segment", "没有空段"], 0, 0, vec![]),
            rule(
                "key.length",
                Severity::Should,
                ["at most 128 bytes", "不超过 128 字节"],
                212,
                4 * MIB,
                vec![weight("export:{*}", 212, 4 * MIB, &[b'e'; 130])],
            ),
            rule(
                "key.prefix",
                Severity::Must,
                ["the key starts with a business segment", "key 名以业务段开头"],
                4_000,
                MIB,
                vec![weight("{int}", 3_999, MIB - 100, b"12345"), weight("counter", 1, 100, b"counter")],
            ),
            rule(
                "key.special-chars",
                Severity::Must,
                [
                    "no white space, control character, quote or backslash; valid UTF-8",
                    "不含空白、控制字符、引号和反斜杠；为合法的 UTF-8",
                ],
                1,
                31 * MIB,
                vec![weight("session\\xff\\xfe:{*}", 1, 31 * MIB, b"session\xff\xfe:\x1b[2J")],
            ),
        ],
    }
}

fn node(prefix: &str, keys: u64, memory: u64, children: Vec<PrefixNode>) -> PrefixNode {
    let segment = prefix.trim_end_matches(':').rsplit(':').next().unwrap_or_default();
    PrefixNode {
        prefix: prefix.into(),
        segment: segment.into(),
        keys,
        memory: Bytes(memory),
        share: memory as f64 / TOTAL as f64,
        disk: Bytes(memory / 5),
        elements: keys * 10,
        without_ttl: Weight { keys: keys / 3, memory: Bytes(memory / 3) },
        children,
        hidden: Hidden::default(),
        unknown: Unknown::default(),
    }
}

fn prefixes() -> Prefixes {
    let ids = node(
        "user:{int}:",
        600_000,
        800 * MIB,
        vec![
            node("user:{int}:profile", 500_000, 700 * MIB, vec![]),
            node("user:{int}:feed", 100_000, 100 * MIB, vec![]),
        ],
    );
    let mut user = node("user:", 600_100, 810 * MIB, vec![ids]);
    user.hidden = Hidden { nodes: 3, keys: 100, memory: Bytes(10 * MIB) };
    let days = node("rank:{date}:", 12, 380 * MIB, vec![node("rank:{date}:{*}", 12, 380 * MIB, vec![])]);
    Prefixes {
        depth: 3,
        min_share: 0.01,
        tree: vec![user, node("rank:", 12, 380 * MIB, vec![days]), node("商品:", 900, 40 * MIB, vec![])],
        hidden: Hidden { nodes: 41, keys: 633_555, memory: Bytes(270 * MIB) },
        crowded: Weight::default(),
        first: vec![],
    }
}

fn patterns() -> Patterns {
    let row = |pattern: &str, kind, keys: u64, memory: u64, key: &[u8]| PatternRow {
        pattern: pattern.into(),
        keys,
        memory: Bytes(memory),
        share: memory as f64 / TOTAL as f64,
        mean: Bytes(memory / keys),
        disk: Bytes(memory / 5),
        elements: keys * 15,
        without_ttl: Weight { keys: keys / 2, memory: Bytes(memory / 2) },
        last_expiry: None,
        types: vec![TypeCount { kind: Kind::String, keys: 1 }, TypeCount { kind, keys: keys - 1 }],
        example: example(key, memory / keys * 3),
        unknown: Unknown::default(),
    };
    Patterns {
        distinct: 1_742,
        level_limit: 1_000,
        list: vec![
            row("user:{int}:profile", Kind::Hash, 500_000, 700 * MIB, b"user:7:profile"),
            row("rank:{date}:{*}", Kind::Zset, 12, 380 * MIB, b"rank:2026-11-20:all"),
            row("session\\xff\\xfe:{*}", Kind::Hash, 2, 31 * MIB, b"session\xff\xfe:\x1b[2J"),
        ],
    }
}

fn cold_parts() -> Vec<ColdPart> {
    let part = |by, name: Option<&str>, keys, memory: u64, steps: [(u64, u64); 3]| {
        let step = |(days, (keys, memory))| ColdStep { days, keys, memory: Bytes(memory) };
        let steps = COLD_DAYS.into_iter().zip(steps).map(step).collect();
        ColdPart { by, name: name.map(str::to_owned), keys, memory: Bytes(memory), steps }
    };
    let three = [(900_000, 640_000_000), (80_000, 64_000_000), (7, 6_400)];
    vec![
        part(ColdDivision::Pattern, Some("user:{int}:profile"), 1_000_000, 800_000_000, three),
        part(ColdDivision::Pattern, Some("<b>|`\u{1b}[31m,\"x"), 2, 2_000, [(1, 1_000), (1, 1_000), (0, 0)]),
        part(ColdDivision::Owner, Some("team <a> | b"), 1_000_000, 800_000_000, three),
        part(ColdDivision::Owner, None, 2, 2_000, [(1, 1_000), (1, 1_000), (0, 0)]),
    ]
}

fn idle_classes() -> Vec<IdleClass> {
    let class = |idle: &'static str, below_s, keys, memory: u64| IdleClass {
        idle: idle.into(),
        below_s,
        keys,
        memory: Bytes(memory),
        unknown: Unknown::default(),
    };
    vec![
        class("< 1 min", Some(60), 34_567, 40 * MIB),
        class("< 1 day", Some(86_400), 200_000, 260 * MIB),
        class("> 1 year", None, 1_000_000, 1_200 * MIB),
    ]
}

fn freq(from: u8, to: u8, keys: u64) -> FreqClass {
    FreqClass { from, to, keys, memory: Bytes(keys * 100), unknown: Unknown::default() }
}

fn slots() -> Slots {
    let row = |slot, keys, memory: u64, key: &[u8]| SlotRow {
        slot,
        keys,
        tagged_keys: keys % 80,
        memory: Bytes(memory),
        unknown: Unknown::default(),
        share: memory as f64 / TOTAL as f64,
        example: example(key, memory / 2),
    };
    Slots {
        used: 16_000,
        tagged_keys: 52,
        mean: Bytes(96 * KIB),
        p50: Bytes(90 * KIB),
        p99: Bytes(300 * KIB),
        max: Bytes(171 * MIB),
        list: vec![row(15_495, 80, 171 * MIB, b"rank:2026-11-20:all"), row(7, 52, 94 * MIB, b"{cart}:items")],
        ranges: slot_ranges(),
        heaviest: vec![],
        weights: Vec::new(),
    }
}

/// Returns evenly filled slot ranges, with a heavy one and a gap of slots on another server.
fn slot_ranges() -> Vec<SlotRange> {
    let memory = |at: u64| match at {
        121 => 180 * MIB,
        0 => 106 * MIB,
        100..110 => 0,
        _ => 9 * MIB + at * 37 % 11 * 700 * KIB,
    };
    let range = |at: u16| SlotRange {
        first: at * 128,
        last: at * 128 + 127,
        keys: if memory(at.into()) > 0 { 9_700 + u64::from(at) % 60 } else { 0 },
        memory: Bytes(memory(at.into())),
        unknown: Unknown::default(),
    };
    (0..128).map(range).collect()
}

fn streams() -> Streams {
    let row = |key: &[u8], entries, pending, memory: u64| StreamRow {
        db: 0,
        key: key.into(),
        entries,
        groups: 2,
        pending,
        memory: Bytes(memory),
    };
    Streams {
        keys: 3,
        memory: Bytes(60 * MIB),
        entries: 1_200_000,
        groups: 6,
        pending: 88_000,
        list: vec![row(b"events:orders", 800_000, 87_999, 40 * MIB), row(b"events:mail", 400_000, 1, 20 * MIB)],
    }
}

fn hash_templates() -> HashTemplates {
    let row = |names: &[&[u8]], fields, keys, memory, saved| HashTemplateRow {
        names: names.iter().map(|&name| Key::from(name)).collect(),
        fields,
        keys,
        memory: Bytes(memory),
        bytes: Bytes(80 + 24 * fields),
        saved,
    };
    HashTemplates {
        templates: 41,
        keys: 120_007,
        memory: Bytes(9 * MIB),
        bytes: Bytes(5_000),
        saved: 4_800_000,
        list: vec![
            row(&[b"id", b"name", b"email", b"created_at"], 4, 120_000, 8 * MIB, 4_801_024),
            row(&[b"a", b"\x1b[31m\xff", b"c"], 100, 7, MIB, -1_024),
        ],
    }
}

fn warnings() -> Vec<Warning> {
    vec![
        Warning::from("the files are of different sizes".to_owned()),
        Warning::new(WarningKind::ServerGuessed {
            rdb_version: 11,
            writers: "redis 7.2, valkey 7.2–8.1".to_owned(),
            assumed: "redis 7.2".to_owned(),
        }),
        Warning::about("a.rdb", WarningKind::CommandsFollow { bytes: Bytes(4_096) }),
    ]
}

/// Returns what was saved of a file with a damaged value.
pub fn salvage() -> Salvage {
    let range = DamagedRange {
        damage: DamageExtent::Value,
        start: 4096,
        end: 8192,
        db: 0,
        key: Some(Key::from(b"user:7".as_slice())),
        keys_before: 3,
        keys_behind: 4,
        error: "a damaged value".to_owned().into(),
    };
    Salvage {
        keys: 7,
        announced: Some(8),
        bytes_lost: Bytes(4096),
        damaged: vec![range],
        databases: vec![SalvagedDatabase { db: 0, keys: 7, announced: Some(8), certain: true }],
        restored: Some(RestoredBytes { offset: 12, found: "00".into(), restored: "01".into() }),
        ..Salvage::default()
    }
}
