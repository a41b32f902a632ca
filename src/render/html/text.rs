//! The head of the page: what a reader wants to know within ten seconds, in plain words.

use std::borrow::Cow;

use super::names::{Name, isolated, sentence};
use super::sections::{growth, times, what_if};
use super::view::{Prose, Section, percent, tenths};
use crate::render::table::findings::severities;
use crate::render::table::overview::{breaking, checksum, dominant_prefix, problems_of, verdict};
use crate::render::words::{nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::Report;
use crate::units::Bytes;

/// Problems that are named.
const PROBLEMS: usize = 8;

/// The head of the page.
#[derive(Debug)]
pub struct Headline {
    /// What was analyzed, as the page's title.
    pub name: Name,
    /// Which snapshot it is.
    pub identity: Vec<Prose>,
    /// What makes the figures doubtful.
    pub problems: Vec<Prose>,
    /// All in one sentence.
    pub sentence: Prose,
    /// A figure each.
    pub tiles: Vec<Tile>,
    /// What stands out.
    pub points: Vec<Point>,
}

/// One figure.
#[derive(Debug)]
pub struct Tile {
    /// What it is.
    pub label: &'static str,
    /// The figure.
    pub figure: String,
    /// What it is of, or what else is to be known.
    pub note: Prose,
    /// The length of its bar: its part of the memory.
    pub gauge: String,
    /// The section that tells more, if there is one.
    pub section: Option<Link>,
}

/// What stands out.
#[derive(Debug)]
pub struct Point {
    /// In a sentence.
    pub said: Prose,
    /// The section that tells more, if there is one.
    pub section: Option<Link>,
}

/// A section's anchor and heading.
#[derive(Debug, Clone)]
pub struct Link {
    /// Its anchor.
    pub id: &'static str,
    /// Its heading.
    pub title: Cow<'static, str>,
}

impl Headline {
    /// Of a report.
    pub fn of(report: &Report, sections: &[Section], lang: Lang) -> Headline {
        let words = Words { report, sections, lang };
        Headline {
            name: words.name(),
            identity: words.identity(),
            problems: words.problems(),
            sentence: words.sentence(),
            tiles: words.tiles(),
            points: words.points(),
        }
    }
}

struct Words<'r> {
    report: &'r Report,
    sections: &'r [Section],
    lang: Lang,
}

impl Words<'_> {
    fn name(&self) -> Name {
        match self.report.source.files.as_slice() {
            // The folders are in the list of files.
            [file] => Name::text(file.name.rsplit('/').next().unwrap_or(&file.name)),
            files => Name { shown: human::counted(files.len() as u64, nouns::FILE, self.lang), whole: None },
        }
    }

    fn identity(&self) -> Vec<Prose> {
        let (lang, server) = (self.lang, &self.report.server);
        let mut facts = Vec::new();
        let name = format!("{} {}", server.family, server.version);
        if !name.trim().is_empty() {
            facts.push(Name::text(name.trim()).inline());
        }
        if let Some(ctime) = server.ctime {
            facts.push(say!(lang, "snapshot of {}", "快照时间 {}", human::time_of_seconds(ctime)));
        }
        facts.extend(checksum(&self.report.source.files, lang));
        facts.push(say!(lang, "{} on disk", "磁盘 {}", human::bytes(self.report.totals.disk.0)));
        if self.report.databases.len() > 1 {
            facts.push(human::counted(self.report.databases.len() as u64, nouns::DATABASE, lang));
        }
        if !self.report.options.selection.is_empty() {
            let selection = Name::text(&self.report.options.selection.join(", ")).inline();
            facts.push(say!(lang, "only the keys selected by {selection}", "只统计 {selection} 选中的 key"));
        }
        facts.into_iter().map(Prose).collect()
    }

    fn problems(&self) -> Vec<Prose> {
        let (report, lang) = (self.report, self.lang);
        let verdict = (!report.complete).then(|| verdict(report, lang));
        let problems = report.source.files.iter().flat_map(|file| problems_of(file, lang)).take(PROBLEMS);
        let problems = problems.map(|problem| isolated(&sentence(&problem)));
        verdict.into_iter().chain(problems).map(Prose).collect()
    }

    fn sentence(&self) -> Prose {
        let (totals, lang) = (&self.report.totals, self.lang);
        let (keys, memory) = (human::counted(totals.keys, nouns::KEY, lang), human::bytes(totals.memory.0));
        let forever = self.of_memory(self.report.no_ttl.memory);
        // A figure and its unit stay on one line.
        let [keys, memory, forever] = [keys, memory, forever].map(|figure| figure.replace(' ', "\u{a0}"));
        Prose(match self.report.no_ttl.memory {
            Bytes(0) => say!(lang, "{keys} take {memory} of memory.", "{keys} 共占内存 {memory}。"),
            _ => say!(
                lang,
                "{keys} take {memory} of memory; {forever} of it never expires.",
                "{keys} 共占内存 {memory}，其中 {forever} 永不过期。"
            ),
        })
    }

    fn tiles(&self) -> Vec<Tile> {
        let (report, lang) = (self.report, self.lang);
        let totals = &report.totals;
        if totals.keys == 0 {
            return Vec::new();
        }
        let mut tiles = Vec::new();
        let mut tile = |section, label, figure: String, note: String, memory: Bytes| {
            let gauge = percent(tenths(memory.0, totals.memory.0));
            tiles.push(Tile { label, figure, note: Prose(note), gauge, section: self.link(section) });
        };
        if let Some(node) = report.prefixes.tree.first().map(dominant_prefix) {
            let label = lang.of("Heaviest prefix", "最大的前缀");
            let name = key_text::fit(&Name::text(&node.prefix).shown, 24).into_owned();
            tile("prefixes", label, self.of_memory(node.memory), isolated(&name), node.memory);
        }
        let no_ttl = &report.no_ttl;
        let of_keys = say!(lang, "{} of the keys", "占 key 数 {}", human::share_of(no_ttl.keys, totals.keys));
        let label = lang.of("Memory that never expires", "永不过期的内存");
        tile("without-ttl", label, self.of_memory(no_ttl.memory), of_keys, no_ttl.memory);
        let big = &report.big_keys;
        let share = say!(lang, "{} of the memory", "占内存 {}", self.of_memory(big.memory));
        tile("big-keys", lang.of("Big keys", "大 key"), human::count(big.keys), share, big.memory);
        if !report.findings.checked.is_empty() {
            let findings = report.findings.severities.iter().fold(0u64, |sum, row| sum.saturating_add(row.findings));
            let note = match findings {
                0 => lang.of("no rule is broken", "没有违反任何规则").to_owned(),
                _ => severities(&report.findings, lang),
            };
            let memory = breaking(&report.findings).memory;
            tile("findings", lang.of("Findings", "违规"), human::count(findings), note, memory);
        }
        tiles
    }

    /// The section of that anchor, if the page has it.
    fn link(&self, id: &str) -> Option<Link> {
        let section = self.sections.iter().find(|section| section.id == id)?;
        Some(Link { id: section.id, title: section.title.clone() })
    }

    fn of_memory(&self, memory: Bytes) -> String {
        human::share_of(memory.0, self.report.totals.memory.0)
    }

    fn points(&self) -> Vec<Point> {
        let points = [
            (self.prefix(), "prefixes"),
            (self.key(), "heaviest"),
            (self.big(), "big-keys"),
            (self.no_ttl(), "without-ttl"),
            (times::soon(self.report, self.lang), "expiry"),
            (self.expired(), "expiry"),
            (self.policy(), "findings"),
            (self.growth(), "growth"),
            (self.baseline(), "baseline"),
            (self.what_if(), "what-if"),
        ];
        let said = points.into_iter().filter_map(|(point, section)| Some((point?, section)));
        said.map(|(point, section)| Point { said: Prose(point), section: self.link(section) }).collect()
    }

    fn prefix(&self) -> Option<String> {
        let node = self.report.prefixes.tree.first().map(dominant_prefix)?;
        Some(say!(
            self.lang,
            "The prefix {} is the heaviest: {} with {}, {} of the memory.",
            "前缀 {} 占用内存最多：{}，{}，占内存 {}。",
            Name::text(&node.prefix).inline(),
            human::counted(node.keys, nouns::KEY, self.lang),
            human::bytes(node.memory.0),
            self.of_memory(node.memory),
        ))
    }

    fn key(&self) -> Option<String> {
        let row = self.report.top.by_memory.first()?;
        Some(say!(
            self.lang,
            "The heaviest key is {}, a {} of {}, {} of the memory.",
            "最大的 key 是 {}（{}），{}，占内存 {}。",
            Name::key(&row.key.0).inline(),
            row.kind,
            human::bytes(row.memory.0),
            self.of_memory(row.memory),
        ))
    }

    fn big(&self) -> Option<String> {
        let (big, lang) = (&self.report.big_keys, self.lang);
        let keys = human::counted(big.expiring, nouns::KEY, lang);
        let said = say!(
            lang,
            "{keys} over the limits of size will expire by themselves, which can block the server.",
            "{keys} 超过大小限制且将自动过期，过期删除可能阻塞服务器。"
        );
        (big.expiring > 0).then_some(said)
    }

    fn no_ttl(&self) -> Option<String> {
        let row = self.report.no_ttl.patterns.first()?;
        Some(say!(
            self.lang,
            "Of the memory that never expires, {} has most: {}.",
            "永不过期的内存中，{} 最多：{}。",
            Name::text(&row.pattern).inline(),
            human::bytes(row.memory.0),
        ))
    }

    fn expired(&self) -> Option<String> {
        let (expired, lang) = (self.report.totals.expired, self.lang);
        let (keys, memory) = (human::counted(expired.keys, nouns::KEY, lang), human::bytes(expired.memory.0));
        let said = say!(
            lang,
            "{keys} with {memory} have expired and are still in memory.",
            "{keys} 已过期但仍占用内存 {memory}。"
        );
        (expired.keys > 0).then_some(said)
    }

    fn policy(&self) -> Option<String> {
        let (findings, lang) = (&self.report.findings, self.lang);
        let broken = breaking(findings);
        let policy = Name::text(&key_text::fit(&findings.policy, 40)).inline();
        let (counts, share) = (severities(findings, lang), human::share_of(broken.keys, self.report.totals.keys));
        let said = say!(
            lang,
            "The policy {policy} is broken by {share} of the keys: {counts}.",
            "{share} 的 key 违反策略 {policy}：{counts}。"
        );
        (broken.keys > 0 && !findings.list.is_empty()).then_some(said)
    }

    fn growth(&self) -> Option<String> {
        let since = self.report.growth.as_ref()?;
        Some(growth::said(self.report, since, self.lang))
    }

    fn baseline(&self) -> Option<String> {
        let baseline = self.report.findings.baseline.as_ref()?;
        let (new, worse, fixed) = (baseline.new.len(), baseline.worse.len(), baseline.fixed.len());
        let name = Name::text(&baseline.report).inline();
        Some(say!(
            self.lang,
            "Since {name}, {new} findings are new, {worse} worse and {fixed} fixed.",
            "与 {name} 相比，违规新增 {new} 项，加重 {worse} 项，已修复 {fixed} 项。"
        ))
    }

    fn what_if(&self) -> Option<String> {
        let (ask, total, share) = what_if::best(self.report.what_if.as_ref()?)?;
        let total = human::bytes(total.0);
        Some(say!(
            self.lang,
            "With {ask}, the same keys would be held in {total}, {share} less.",
            "若改用 {ask}，同样的 key 共占 {total}，减少 {share}。"
        ))
    }
}
