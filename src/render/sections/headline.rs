//! The head of the document: whether the figures can be trusted, how much there is, what dominates, what is wrong.

use super::findings::{breaking, severities};
use super::keys::big_are_heaviest;
use super::problems::problems;
use super::server::is_sized;
use super::short::FillLevel;
use super::types::HeaviestType;
use super::{big_keys, expiry, growth, trend, types, what_if};
use crate::render::document::{
    Cell, Column, Headline, Highlight, Name, Prose, Scope, Table, Tile, Tone, inline, inline_key, inline_pattern,
    inline_visible,
};
use crate::render::words::{heads, known, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::known_memory;
use crate::report::{PrefixNode, Report, Severity, SourceFile, Weight};
use crate::units::Bytes;

/// Columns of the policy's name in the table of answers; a team may give it any.
const POLICY_COLUMNS: usize = 24;

/// Builds the head of the document.
pub(super) fn headline(report: &Report, scope: &Scope) -> Headline {
    let lang = scope.lang;
    let (verdict, problems) = problems(report, lang);
    let shown = problems.len().min(scope.rows);
    let more_problems = (problems.len() - shown) as u64;
    let words = Words { report, lang, scope: *scope };
    Headline {
        problems: verdict.into_iter().chain(problems.into_iter().take(shown)).collect(),
        more_problems,
        name: words.name(),
        identity: words.identity(),
        size: words.size(),
        facts: words.facts(),
        selection: words.selection(),
        answers: (report.totals.keys > 0).then(|| words.answers()),
        sentence: words.sentence(),
        tiles: if report.totals.keys > 0 { words.tiles() } else { Vec::new() },
        trend: trend::chart(report, lang),
        points: words.points(),
    }
}

/// Returns the checksum state of all files; nothing without a file.
pub(super) fn checksum(files: &[SourceFile], lang: Lang) -> Option<String> {
    let (first, others) = files.split_first()?;
    let fact = |file: &SourceFile| known::checksum_fact(file.checksum, file.salvage.is_some(), lang);
    let checksum = fact(first);
    let varies = others.iter().any(|file| fact(file) != checksum);
    let said = || lang.of("checksum state varies by file", "各文件的校验和状态不同").to_owned();
    Some(if varies { said() } else { checksum })
}

/// Returns the deepest prefix that keys go on below and that holds half of all memory; if none does, the heaviest.
fn dominant_prefix(mut node: &PrefixNode) -> &PrefixNode {
    while let Some(child) = node.children.first().filter(|child| child.share >= 0.5 && !child.children.is_empty()) {
        node = child;
    }
    node
}

/// A row of the table of answers.
struct Answer {
    tone: Tone,
    what: String,
    which: Cell,
    keys: u64,
    memory: Bytes,
}

struct Words<'r> {
    report: &'r Report,
    lang: Lang,
    scope: Scope,
}

impl Words<'_> {
    fn name(&self) -> Result<Name, String> {
        match self.report.source.files.as_slice() {
            [file] => Ok(Name::Plain(file.name.clone())),
            files => Err(human::counted(files.len() as u64, nouns::FILE, self.lang)),
        }
    }

    fn identity(&self) -> Vec<Prose> {
        let server = self.report.server.wording();
        let server = self.lang.say(&server);
        let taken = |ctime| say!(self.lang, "snapshot of {}", "快照时间 {}", human::time_of_seconds(ctime)).into();
        let server = (!server.is_empty()).then(|| inline(server).into());
        server.into_iter().chain(self.report.server.ctime.map(taken)).collect()
    }

    fn size(&self) -> [Prose; 2] {
        let (totals, lang) = (&self.report.totals, self.lang);
        let memory = human::bytes(totals.memory.0);
        [
            human::counted(totals.keys, nouns::KEY, lang).into(),
            match (!is_sized(self.report), totals.unknown.is_none()) {
                (true, _) => lang.of("memory unknown", "内存未知").into(),
                (false, true) => say!(lang, "{memory} memory", "内存 {memory}").into(),
                (false, false) => say!(lang, "at least {memory} memory", "内存至少 {memory}").into(),
            },
        ]
    }

    fn facts(&self) -> Vec<Prose> {
        let (totals, lang) = (&self.report.totals, self.lang);
        let mut facts = vec![say!(lang, "{} on disk", "磁盘 {}", human::bytes(totals.disk.0))];
        if self.report.databases.len() > 1 {
            facts.push(human::counted(self.report.databases.len() as u64, nouns::DATABASE, lang));
        }
        facts.extend(checksum(&self.report.source.files, lang));
        facts.push(human::counted(totals.elements, nouns::ELEMENT, lang));
        if !totals.unknown.is_none() && is_sized(self.report) {
            let keys = human::counted(totals.unknown.keys, nouns::KEY, lang);
            facts.push(say!(lang, "{keys} of unknown memory", "{keys} 内存未知"));
        }
        facts.push(say!(lang, "{} of names", "key 名 {}", human::bytes(totals.name_bytes.0)));
        facts.into_iter().map(Prose::from).collect()
    }

    fn selection(&self) -> Option<Prose> {
        let selection = &self.report.options.selection;
        let words = inline(&selection.join(self.lang.of(", ", "、")));
        let text = say!(self.lang, "Only the keys selected by {words}.", "只统计 {words} 选中的 key。");
        (!selection.is_empty()).then(|| text.into())
    }

    fn answers(&self) -> Table {
        let answers: Vec<Answer> = self.dominant().into_iter().chain(self.wrong()).collect();
        let totals = &self.report.totals;
        Table::of("", &answers, usize::MAX)
            .tones(|row| row.tone)
            .column(Column::text(heads::WHAT), |row| row.what.as_str())
            .column(Column::text(heads::WHICH).shrink(24).prose(), |row| row.which.clone())
            .column(Column::number(heads::KEYS).spare(1), |row| row.keys)
            .column(Column::number(heads::OF_KEYS).spare(3), |row| Cell::ShareOf(row.keys, totals.keys))
            .column(Column::number(heads::MEMORY), |row| known_memory(row.keys, row.memory))
            .column(Column::number(heads::OF_MEMORY).bars().spare(2), |row| {
                known_memory(row.keys, row.memory).map(|memory| Cell::ShareOf(memory.0, totals.memory.0))
            })
            .build()
    }

    /// Lists the heaviest of each kind.
    fn dominant(&self) -> Vec<Answer> {
        let (report, lang) = (self.report, self.lang);
        let answer = |what: &str, which: Cell, keys, memory| Answer {
            tone: Tone::Plain,
            what: what.to_owned(),
            which,
            keys,
            memory,
        };
        let prefix = report.prefixes.tree.first().map(dominant_prefix).map(|node| {
            answer(lang.of("heaviest prefix", "最大的前缀"), Cell::pattern(&node.prefix), node.keys, node.memory)
        });
        let pattern = report.patterns.list.first().map(|row| {
            answer(lang.of("heaviest pattern", "最大的模式"), Cell::pattern(&row.pattern), row.keys, row.memory)
        });
        let kind = types::heaviest(&report.types).map(|HeaviestType { kind, weight, encoding }| {
            let which = match encoding {
                Some(encoding) => say!(lang, "{kind} as {}", "{kind}（{}）", key_text::text(encoding)),
                None => kind.name().to_owned(),
            };
            answer(lang.of("heaviest type", "最大的类型"), which.into(), weight.keys, weight.memory)
        });
        let key = report.top.by_memory.first().map(|row| {
            answer(lang.of("heaviest key", "最大的 key"), Cell::from(&row.key), 1, row.memory.unwrap_or_default())
        });
        [prefix, pattern, kind, key].into_iter().flatten().filter(|answer| answer.memory > Bytes(0)).collect()
    }

    /// Lists what is wrong.
    fn wrong(&self) -> Vec<Answer> {
        let (report, lang) = (self.report, self.lang);
        let answer = |what: &str, which: String, keys, memory| Answer {
            tone: Tone::Warning,
            what: what.to_owned(),
            which: which.into(),
            keys,
            memory,
        };
        let mut answers = Vec::new();
        let findings = &report.findings;
        let counts = severities(findings, lang);
        if !counts.is_empty() {
            let Weight { keys, memory } = breaking(findings);
            let what = say!(lang, "! policy {}", "! 策略 {}", key_text::text(&findings.policy));
            answers.push(answer(&key_text::fit(&what, POLICY_COLUMNS), counts, keys, memory));
        }
        let mut add = |what, which, keys, memory| {
            if keys > 0 {
                answers.push(answer(what, which, keys, memory));
            }
        };
        let big = &report.big_keys;
        let expiring = match big.expiring {
            0 => big_keys::no_collection_expires(report, lang).to_owned(),
            n => say!(lang, "{} will expire", "{} 将过期", human::counted(n, nouns::COLLECTION, lang)),
        };
        add(lang.of("! big keys", "! 大 key"), expiring, big.keys, big.memory);

        let no_ttl = &report.no_ttl;
        let pattern = no_ttl.patterns.first().map(|row| key_text::pattern(&row.pattern));
        let most = pattern.map(|pattern| say!(lang, "most in {pattern}", "主要在 {pattern}"));
        add(lang.of("! without TTL", "! 无 TTL"), most.unwrap_or_default(), no_ttl.keys, no_ttl.memory);

        let naming = &report.naming;
        let broken = naming.rules.iter().filter(|rule| rule.keys > 0).count();
        let all = human::counted(naming.rules.len() as u64, nouns::RULE, lang);
        let rules = say!(lang, "{broken} of {all} broken", "违反 {all}中的 {broken} 条");
        add(lang.of("! bad names", "! 不规范的 key 名"), rules, naming.keys, naming.memory);

        let expired = report.totals.expired;
        let still = lang.of("still in memory", "仍占用内存").to_owned();
        add(lang.of("! expired", "! 已过期"), still, expired.keys, expired.memory);
        answers
    }

    fn sentence(&self) -> Prose {
        let (totals, lang) = (&self.report.totals, self.lang);
        let (keys, memory) = (human::counted(totals.keys, nouns::KEY, lang), human::bytes(totals.memory.0));
        let forever = self.of_memory(self.report.no_ttl.memory);
        // A figure and its unit stay on one line.
        let [keys, memory, forever] = [keys, memory, forever].map(|figure| figure.replace(' ', "\u{a0}"));
        if !is_sized(self.report) {
            return say!(lang, "The memory of {keys} is unknown.", "{keys} 内存未知。").into();
        }
        if !totals.unknown.is_none() {
            return say!(self.lang, "{keys} take at least {memory} of memory.", "{keys} 至少占内存 {memory}。").into();
        }
        Prose::from(match self.report.no_ttl.memory {
            Bytes(0) => say!(lang, "{keys} take {memory} of memory.", "{keys} 共占内存 {memory}。"),
            _ => say!(
                lang,
                "{keys} take {memory} of memory; {forever} of it never expires.",
                "{keys} 共占内存 {memory}，其中 {forever} 的内存永不过期。"
            ),
        })
    }

    fn tiles(&self) -> Vec<Tile> {
        let (report, lang) = (self.report, self.lang);
        let totals = &report.totals;
        let mut tiles = Vec::new();
        if let Some(level @ FillLevel { used, limit, .. }) = FillLevel::of(report) {
            let by = level.by(lang);
            let part = if report.complete { "" } else { lang.of(", of what was read", "（仅已读部分）") };
            let label = lang.of("Fill level of maxmemory", "maxmemory 使用率");
            let left = human::bytes(limit.0.abs_diff(used.0));
            let note = if used <= limit {
                say!(lang, "{left} of {} free{by}{part}", "剩余 {left}，共 {}{by}{part}", human::bytes(limit.0))
            } else {
                say!(lang, "{left} over {}{by}{part}", "超出 {left}，上限 {}{by}{part}", human::bytes(limit.0))
            };
            tiles.push(Tile {
                label,
                figure: Cell::ShareOf(used.0, limit.0),
                note: note.into(),
                memory: (used, limit),
                section: "instance",
            });
        }
        let mut tile = |section, label, figure: Cell, note: String, memory: Bytes| {
            tiles.push(Tile { label, figure, note: note.into(), memory: (memory, totals.memory), section });
        };
        let share = |memory: Bytes| Cell::ShareOf(memory.0, totals.memory.0);
        let known = |node: &&PrefixNode| node.memory > Bytes(0);
        if let Some(node) = report.prefixes.tree.first().map(dominant_prefix).filter(known) {
            let name = Name::Plain(node.prefix.clone());
            let name = key_text::fit(&name.visible(), 24).into_owned();
            let label = lang.of("Heaviest prefix", "最大的前缀");
            tile("prefixes", label, share(node.memory), inline_visible(&name), node.memory);
        }
        let no_ttl = &report.no_ttl;
        let of_keys = say!(lang, "{} of the keys", "占 key 数 {}", human::share_of(no_ttl.keys, totals.keys));
        let label = lang.of("Memory that never expires", "永不过期的内存");
        let figure = known_memory(no_ttl.keys, no_ttl.memory).map_or(Cell::Absent, share);
        tile("without-ttl", label, figure, of_keys, no_ttl.memory);
        let big = &report.big_keys;
        let of_memory = match known_memory(big.keys, big.memory) {
            Some(memory) => say!(lang, "{} of the memory", "占内存 {}", self.of_memory(memory)),
            None => lang.of("memory unknown", "内存未知").to_owned(),
        };
        tile("big-keys", lang.of("Big keys", "大 key"), big.keys.into(), of_memory, big.memory);
        if !report.findings.checked.is_empty() {
            let findings = report.findings.severities.iter().fold(0u64, |sum, row| sum.saturating_add(row.findings));
            let note = match findings {
                0 => lang.of("no rule is broken", "没有违反任何规则").to_owned(),
                _ => severities(&report.findings, lang),
            };
            let memory = breaking(&report.findings).memory;
            tile("findings", lang.of("Findings", "违规"), findings.into(), note, memory);
        }
        tiles
    }

    fn points(&self) -> Vec<Highlight> {
        // The list of the heaviest keys is left out if the big keys are the same.
        let heaviest = if big_are_heaviest(self.report, &self.scope) { "big-keys" } else { "heaviest" };
        let points = [
            (self.prefix(), "prefixes"),
            (self.key(), heaviest),
            (self.big(), "big-keys"),
            (self.no_ttl(), "without-ttl"),
            (expiry::soon(self.report, self.lang), "expiry"),
            (self.expired(), "expiry"),
            (self.policy(), "findings"),
            (self.growth(), "growth"),
            (self.baseline(), "baseline"),
            (self.what_if(), "what-if"),
        ];
        let said = points.into_iter().filter_map(|(point, section)| Some((point?, section)));
        said.map(|(point, section)| Highlight { said: point.into(), section }).collect()
    }

    fn of_memory(&self, memory: Bytes) -> String {
        human::share_of(memory.0, self.report.totals.memory.0)
    }

    fn prefix(&self) -> Option<String> {
        let node = self.report.prefixes.tree.first().map(dominant_prefix).filter(|node| node.memory > Bytes(0))?;
        Some(say!(
            self.lang,
            "The prefix {} is the heaviest: {} with {}, {} of the memory.",
            "前缀 {} 占用内存最多：{}，{}，占内存 {}。",
            inline_pattern(&node.prefix),
            human::counted(node.keys, nouns::KEY, self.lang),
            human::bytes(node.memory.0),
            self.of_memory(node.memory),
        ))
    }

    fn key(&self) -> Option<String> {
        let row = self.report.top.by_memory.first()?;
        let memory = row.memory?;
        Some(say!(
            self.lang,
            "The heaviest key is {}, a {} of {}, {} of the memory.",
            "最大的 key 是 {}（{}），{}，占内存 {}。",
            inline_key(&row.key),
            row.kind,
            human::bytes(memory.0),
            self.of_memory(memory),
        ))
    }

    fn big(&self) -> Option<String> {
        let (big, lang) = (&self.report.big_keys, self.lang);
        let collections = human::counted(big.expiring, nouns::COLLECTION, lang);
        let said = say!(
            lang,
            "{collections} over the size limits will expire, which can block the server.",
            "{collections} 超过大小上限且将过期，过期删除可能阻塞服务器。"
        );
        (big.expiring > 0).then_some(said)
    }

    fn no_ttl(&self) -> Option<String> {
        let row = self.report.no_ttl.patterns.first().filter(|row| row.memory > Bytes(0))?;
        Some(say!(
            self.lang,
            "Of the memory that never expires, {} accounts for the most: {}.",
            "永不过期的内存中，{} 最多：{}。",
            inline_pattern(&row.pattern),
            human::bytes(row.memory.0),
        ))
    }

    fn expired(&self) -> Option<String> {
        let (expired, lang) = (self.report.totals.expired, self.lang);
        let (keys, memory) = (human::counted(expired.keys, nouns::KEY, lang), human::bytes(expired.memory.0));
        let (have, are) = if expired.keys == 1 { ("has", "is") } else { ("have", "are") };
        if known_memory(expired.keys, expired.memory).is_none() {
            return Some(say!(
                lang,
                "{keys} of unknown memory {have} expired and {are} still in memory.",
                "{keys} 已过期但仍在内存中，占用未知。"
            ));
        }
        let said = say!(
            lang,
            "{keys} with {memory} {have} expired and {are} still in memory.",
            "{keys} 已过期但仍占用内存 {memory}。"
        );
        (expired.keys > 0).then_some(said)
    }

    fn policy(&self) -> Option<String> {
        let (findings, lang) = (&self.report.findings, self.lang);
        let broken = breaking(findings);
        let policy = inline(&key_text::fit(&findings.policy, 40));
        let (counts, share) = (severities(findings, lang), human::share_of(broken.keys, self.report.totals.keys));
        let said = say!(
            lang,
            "{share} of the keys violate policy {policy}: {counts}.",
            "{share} 的 key 违反策略 {policy}：{counts}。"
        );
        (broken.keys > 0 && !findings.list.is_empty()).then_some(said)
    }

    fn growth(&self) -> Option<String> {
        let since = self.report.growth.as_ref()?;
        Some(growth::headline(self.report, since, self.lang))
    }

    fn baseline(&self) -> Option<String> {
        let baseline = self.report.findings.baseline.as_ref()?;
        let (new, worse, fixed) = (baseline.new.len(), baseline.worse.len(), baseline.fixed.len());
        let name = inline(&baseline.report);
        let findings_are = if new == 1 { "finding is" } else { "findings are" };
        let mut text = say!(
            self.lang,
            "Since {name}, {new} {findings_are} new, {worse} worse and {fixed} fixed.",
            "与 {name} 相比，违规新增 {new} 项，恶化 {worse} 项，已修复 {fixed} 项。"
        );
        let first = baseline.first_evaluated.len();
        if first > 0 {
            let are = if first == 1 { "is" } else { "are" };
            text += &say!(
                self.lang,
                " {first} {are} of rules that were not evaluated then.",
                "另有 {first} 项所属规则当时未评估。"
            );
        }
        let undecided = baseline.undecided_from(Severity::Hint).len();
        if undecided > 0 {
            let rules = if undecided == 1 { "rule" } else { "rules" };
            text +=
                &say!(self.lang, " For {undecided} {rules} this cannot be told.", "另有 {undecided} 条规则无法判断。");
        }
        Some(text)
    }

    fn what_if(&self) -> Option<String> {
        let (ask, total, share) = what_if::best(self.report.what_if.as_ref()?)?;
        let total = human::bytes(total.0);
        Some(say!(
            self.lang,
            "With {ask}, the same keys would take {total}, {share} less.",
            "若改用 {ask}，同样的 key 共占 {total}，减少 {share}。"
        ))
    }
}
