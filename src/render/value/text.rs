//! Text form of a key and its value: facts about the key, an empty line, the value.
//!
//! Visible text is printed as it is, so that JSON stays readable. Everything else is quoted and escaped as keys are: text
//! with a leading quote has escapes, text without has none.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::de::IgnoredAny;

use super::broken::write_broken;
use super::document::{self, Layout};
use super::{ShownKey, id};
use crate::record::ModuleFacts;
use crate::render::words::{nouns, say};
use crate::render::{Lang, human, key_text};
use crate::show::{Group, HashField, Item, KeyFacts, Series, Stream, Value, VectorSet};

/// Greatest width that fields and scores are padded to: one long name must not push all values to the right.
const WIDEST: usize = 32;

/// Writes the key and its value for people, on a screen of this width if it is one.
///
/// Only sentences are broken into lines. Names and values have a line each, so that they can be copied and searched; a terminal
/// wraps them by itself.
pub fn write_text(key: &ShownKey<'_>, lang: Lang, screen: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let &ShownKey { found, value, omitted } = key;
    let facts = facts(key, lang);
    let widest = facts.iter().map(|(label, _)| key_text::width(label)).max().unwrap_or(0);
    for (label, fact) in facts {
        writeln!(out, "{label}{:fill$}  {fact}", "", fill = widest - key_text::width(label))?;
    }
    if let Some(facts) = &found.facts {
        write_broken(&facts.judgement, widest, lang, screen, out)?;
    }
    writeln!(out)?;
    write_value(value, lang, out)?;
    match omitted as u64 {
        0 => Ok(()),
        more => writeln!(out, "{}", say!(lang, "… {} more", "… 其余 {} 项", human::count(more))),
    }
}

/// Returns the facts about a key with their labels.
fn facts(&ShownKey { found, value, omitted }: &ShownKey<'_>, lang: Lang) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (lang.of("key", "key 名"), key_text::key(&found.key)),
        (lang.of("file", "文件"), key_text::text(&found.file).into_owned()),
        (lang.of("db", "库"), found.db.to_string()),
        (lang.of("type", "类型"), found.value_type.kind().to_string()),
    ];
    let more = found.facts.as_ref();
    facts.extend(more.map(|more| (lang.of("encoding", "编码"), more.encoding.name().to_owned())));
    facts.push((lang.of("length", "长度"), length(value, omitted, lang)));
    facts.extend(more.and_then(|more| more.elements).map(|lengths| {
        let [longest, mean] = [lengths.longest, lengths.mean].map(|of| human::counted(of.0, nouns::BYTE, lang));
        (lang.of("elements", "元素"), say!(lang, "longest {longest}, mean {mean}", "最长 {longest}，平均 {mean}"))
    }));
    facts.extend(more.map(|more| {
        let unknown = || lang.of("unknown", "未知").to_owned();
        let memory = more.memory.map_or_else(unknown, |memory| human::counted(memory.0, nouns::BYTE, lang));
        let model = key_text::text(&more.model);
        (lang.of("memory", "内存"), say!(lang, "{memory} on {model}", "{memory}（{model}）"))
    }));
    facts.extend(more.and_then(|more| module_facts(more.module?)).map(|told| (lang.of("module", "模块"), told)));
    let never = || lang.of("never", "永不过期").to_owned();
    facts.push((lang.of("expires", "过期时间"), found.expires_at.map_or_else(never, |at| human::time(at.0))));
    facts
        .extend(found.idle.map(|idle| (lang.of("idle", "空闲时间"), human::duration(idle.saturating_mul(1000), lang))));
    facts.extend(found.freq.map(|freq| (lang.of("freq", "访问计数"), freq.to_string())));
    let (disk, offset) = (human::counted(found.disk.0, nouns::BYTE, lang), found.offset);
    facts.push((lang.of("on disk", "磁盘"), say!(lang, "{disk} at byte {offset:#x}", "{disk}，自偏移 {offset:#x} 起")));
    if let Some(KeyFacts { pattern, judgement, .. }) = more {
        facts.push((lang.of("pattern", "模式"), key_text::pattern(pattern).into_owned()));
        let owner = judgement.owner.as_deref().map(key_text::text);
        let contact = judgement.contact.as_deref().map(key_text::text);
        let contact = contact.map(|contact| say!(lang, " ({contact})", "（{contact}）")).unwrap_or_default();
        facts.extend(owner.map(|owner| (lang.of("owner", "负责人"), format!("{owner}{contact}"))));
        let class = judgement.class.as_deref().map(|class| key_text::text(class).into_owned());
        facts.extend(class.map(|class| (lang.of("TTL class", "TTL 类别"), class)));
    }
    facts
}

/// Returns what is known of a module's value as text.
fn module_facts(facts: ModuleFacts) -> Option<String> {
    let numbers = ModuleFacts::NUMBERS.into_iter().zip(facts.numbers());
    let numbers = numbers.filter_map(|(name, number)| Some(format!("{name} {}", human::count(number?))));
    let quantization = facts.quantization.map(|quantization| format!("quantization {}", quantization.name()));
    let told: Vec<String> = numbers.chain(quantization).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn write_value(value: &Value, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    match value {
        Value::Text(text) => writeln!(out, "{}", document(text)),
        Value::List(elements) | Value::Set(elements) => {
            let mut number = Numbers::up_to(elements.len());
            elements.iter().try_for_each(|element| writeln!(out, "{}{}", number.next(), shown(element)))
        }
        Value::Zset(members) => write_members(members, out),
        Value::Hash(fields) => write_fields(fields, lang, out),
        Value::Stream(stream) => write_stream(stream, lang, out),
        Value::Json(document) => {
            document::write(document.text(), Layout::Indented, out)?;
            writeln!(out)
        }
        Value::Series(series) => write_series(series, lang, out),
        Value::Vectors(set) => write_vectors(set, lang, out),
        Value::Module(_, items) => {
            let mut number = Numbers::up_to(items.len());
            items.iter().try_for_each(|item| writeln!(out, "{}{}", number.next(), shown_item(item)))
        }
        Value::Array(slots) => {
            slots.iter().try_for_each(|(index, item)| writeln!(out, "[{index}] {}", shown_item(item)))
        }
    }
}

fn write_members(members: &[(Vec<u8>, f64)], out: &mut dyn Write) -> io::Result<()> {
    let mut number = Numbers::up_to(members.len());
    let width = width(members.iter().map(|(_, score)| score.to_string().len()));
    members.iter().try_for_each(|(member, score)| writeln!(out, "{}{score:>width$}  {}", number.next(), shown(member)))
}

fn write_fields(fields: &[HashField], lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let mut number = Numbers::up_to(fields.len());
    let width = width(fields.iter().map(|field| key_text::width(&shown(&field.field))));
    fields.iter().try_for_each(|field| {
        let name = shown(&field.field);
        let fill = width.saturating_sub(key_text::width(&name));
        write!(out, "{}{name}{:fill$}  {}", number.next(), "", shown(&field.value))?;
        match field.expires_at {
            Some(at) => {
                let time = human::time(at.0);
                writeln!(out, "{}", say!(lang, "  (expires {time})", "  （{time} 过期）"))
            }
            None => writeln!(out),
        }
    })
}

/// Numbering of elements, padded to one width.
struct Numbers {
    last: usize,
    width: usize,
}

impl Numbers {
    fn up_to(count: usize) -> Self {
        Numbers { last: 0, width: count.to_string().len() }
    }

    fn next(&mut self) -> String {
        self.last += 1;
        format!("{:>width$}) ", self.last, width = self.width)
    }
}

/// Returns the width of a column of texts this wide; those above [`WIDEST`] do not count.
fn width(widths: impl Iterator<Item = usize>) -> usize {
    widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
}

/// Returns bytes on one line: plain, or quoted with escapes.
fn shown(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text) => Cow::Borrowed(text),
        _ if bytes.is_empty() => Cow::Borrowed("\"\""),
        _ => Cow::Owned(format!("\"{}\"", key_text::whole(bytes))),
    }
}

/// Returns a whole string. A JSON object or array keeps its line breaks, since nothing follows it on the page.
fn document(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_json(text) => Cow::Borrowed(text),
        _ => shown(bytes),
    }
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '['])
        && text.split(['\n', '\t']).all(|line| key_text::text(line) == line)
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns whether the text is fully visible and cannot be mistaken for a quoted one.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['"', ' ']) && !text.ends_with(' ') && key_text::text(text) == text
}

fn shown_item(item: &Item) -> Cow<'_, str> {
    match item {
        Item::Integer(number) => number.to_string().into(),
        Item::Float(number) => number.to_string().into(),
        Item::Text(text) => shown(text),
    }
}

/// Returns the length of a value of which this many elements were left out.
fn length(value: &Value, omitted: usize, lang: Lang) -> String {
    let (count, noun) = match value {
        Value::Text(text) => (text.len(), nouns::BYTE),
        Value::List(elements) => (elements.len(), nouns::ELEMENT),
        Value::Set(elements) => (elements.len(), nouns::MEMBER),
        Value::Zset(members) => (members.len(), nouns::MEMBER),
        Value::Hash(fields) => (fields.len(), nouns::FIELD),
        Value::Stream(stream) => return stream_length(stream, omitted, lang),
        Value::Json(document) => (document.members(), nouns::MEMBER),
        Value::Series(series) => (series.shown(), nouns::SAMPLE),
        Value::Vectors(set) => (set.elements.len(), nouns::ELEMENT),
        Value::Module(name, items) => {
            let name = name.map(|name| say!(lang, " of module type {name}", "，模块类型 {name}"));
            let parts = human::counted((items.len() + omitted) as u64, nouns::PART, lang);
            return format!("{parts}{}", name.unwrap_or_default());
        }
        Value::Array(slots) => (slots.len(), nouns::SLOT),
    };
    human::counted((count + omitted) as u64, noun, lang)
}

/// Writes what is set of a time series, then its samples.
fn write_series(series: &Series, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in &series.labels {
        writeln!(out, "{} {} = {}", lang.of("label", "标签"), shown(name), shown(value))?;
    }
    if series.retention > 0 {
        let time = human::duration(series.retention, lang);
        writeln!(out, "{}", say!(lang, "retention {time}", "保留 {time}"))?;
    }
    if let Some(source) = series.source.as_deref().map(shown) {
        writeln!(out, "{}", say!(lang, "compacted from {source}", "由 {source} 聚合而来"))?;
    }
    for rule in &series.rules {
        let (target, bucket) = (shown(&rule.target), human::duration(rule.bucket, lang));
        let how = rule.aggregation;
        writeln!(
            out,
            "{}",
            say!(lang, "compacted to {target}: {how} of {bucket}", "聚合到 {target}：{how}，每 {bucket}")
        )?;
    }
    let mut number = Numbers::up_to(series.shown());
    series.samples().try_for_each(|sample| writeln!(out, "{}{}  {}", number.next(), sample.time, sample.value))
}

/// Writes how a vector set was made, then its elements: name, links on each layer, attributes.
fn write_vectors(set: &VectorSet, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let links = human::count(set.most_links);
    writeln!(
        out,
        "{}",
        say!(lang, "up to {links} links a layer, twice as many on the lowest", "每层最多 {links} 条链接，最底层为两倍")
    )?;
    if let Some(dimension) = set.input_dimension.map(human::count) {
        writeln!(out, "{}", say!(lang, "reduced from {dimension} dimensions", "由 {dimension} 维降维而来"))?;
    }
    let mut number = Numbers::up_to(set.elements.len());
    let width = width(set.elements.iter().map(|element| key_text::width(&shown(&element.name))));
    set.elements.iter().try_for_each(|element| {
        let name = shown(&element.name);
        let fill = width.saturating_sub(key_text::width(&name));
        let layers: Vec<String> = element.links.iter().map(ToString::to_string).collect();
        let links = layers.join("+");
        let links = match &*links {
            "1" => lang.of("1 link", "链接 1").to_owned(),
            _ => say!(lang, "{links} links", "链接 {links}"),
        };
        write!(out, "{}{name}{:fill$}  {links}", number.next(), "")?;
        match element.attributes.as_deref().map(shown) {
            Some(attributes) => writeln!(out, "  {attributes}"),
            None => writeln!(out),
        }
    })
}

fn stream_length(stream: &Stream, omitted: usize, lang: Lang) -> String {
    let entries = human::counted((stream.entries.len() + omitted) as u64, nouns::MESSAGE, lang);
    let groups = human::counted(stream.groups.len() as u64, nouns::GROUP, lang);
    say!(lang, "{entries}, {groups}", "{entries}，{groups}")
}

fn write_stream(stream: &Stream, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    for entry in &stream.entries {
        write!(out, "{}", id(entry.id))?;
        for (field, value) in &entry.fields {
            write!(out, "  {} = {}", shown(field), shown(value))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", say!(lang, "last id {}", "最后的 id {}", id(stream.last_id)))?;
    stream.groups.iter().try_for_each(|group| write_group(group, lang, out))?;
    for producer in &stream.producers {
        let (name, ids) = (shown(&producer.name), human::counted(producer.ids.len() as u64, nouns::ID, lang));
        writeln!(out, "{}", say!(lang, "producer {name}: {ids}", "生产者 {name}：{ids}"))?;
        for (own, entry) in &producer.ids {
            let (own, entry) = (shown(own), id(*entry));
            writeln!(out, "{}", say!(lang, "  id {own}: entry {entry}", "  id {own}：消息 {entry}"))?;
        }
    }
    Ok(())
}

fn write_group(group: &Group, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let (name, last) = (shown(&group.name), id(group.last_id));
    let pending = human::count(group.pending.len() as u64);
    let line = say!(
        lang,
        "group {name}: delivered up to {last}, {pending} pending",
        "消费组 {name}：已投递至 {last}，{pending} 条未确认"
    );
    writeln!(out, "{line}")?;
    for consumer in &group.consumers {
        let (name, seen) = (shown(&consumer.name), human::time(consumer.seen_at.0));
        let pending = human::count(consumer.pending.len() as u64);
        let line = say!(
            lang,
            "  consumer {name}: seen {seen}, {pending} pending",
            "  消费者 {name}：最近交互于 {seen}，{pending} 条未确认"
        );
        writeln!(out, "{line}")?;
    }
    for pending in &group.pending {
        let (entry, last) = (id(pending.id), human::time(pending.delivered_at.0));
        let times = human::counted(pending.deliveries, nouns::TIME, lang);
        let line = say!(
            lang,
            "  pending {entry}: delivered {times}, last {last}",
            "  未确认 {entry}：投递 {times}，最近一次 {last}"
        );
        writeln!(out, "{line}")?;
    }
    let returned = |entry| say!(lang, "  returned {}", "  已退回 {}", id(entry));
    group.returned.iter().try_for_each(|entry| writeln!(out, "{}", returned(*entry)))
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::rdb::value_type::ValueType;

    fn page(value_type: ValueType, value: &Value) -> String {
        let mut out = Vec::new();
        let found = samples::found(value_type);
        write_text(&ShownKey { found: &found, value, omitted: 0 }, Lang::En, None, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_the_policy_says_is_part_of_the_head() {
        let page = |lang: Lang| {
            let mut out = Vec::new();
            let key = ShownKey { found: &samples::judged(), value: &samples::hash(), omitted: 1_000 };
            write_text(&key, lang, None, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let english = page(Lang::En);
        for line in [
            "encoding  listpack",
            "length    1,002 fields",
            "memory    1,536 bytes on redis-7.2",
            "pattern   k:{int}",
            "owner     shop (#shop)",
            "breaks    must big.total: too big (20.0 KiB, allowed 10.0 KiB)",
            "          must key.prefix: too big",
            "          must key.length: too big; exempted: old",
            "… 1,000 more",
        ] {
            assert!(english.lines().any(|shown| shown == line), "{line}:\n{english}");
        }
        let chinese = page(Lang::Zh);
        assert!(chinese.contains("强制 big.total：过大（实测 20.0 KiB，限值 10.0 KiB）"), "{chinese}");
    }

    /// Returns the text below the empty line.
    fn body(value: &Value) -> String {
        page(ValueType::String, value).split_once("\n\n").unwrap().1.to_owned()
    }

    #[test]
    fn the_head_tells_what_is_known_of_the_key() {
        let head = "key      k\\xff\nfile     a.rdb\ndb       2\ntype     zset\nlength   3 members\n\
                    expires  2033-05-18 03:33:20Z\nidle     7 seconds\non disk  1,234 bytes at byte 0x1f\n\n";
        assert!(page(ValueType::Zset2, &samples::zset()).starts_with(head));
    }

    #[test]
    fn elements_are_numbered_and_columns_aligned() {
        assert_eq!(body(&samples::zset()), "1)     1  one\n2) -10.5  half\n3)   inf  all\n");
        assert_eq!(
            body(&samples::hash()),
            "1) name       Ann 你\n2) \"\\x1b[2J\"  \"\"  (expires 2033-05-18 03:33:20Z)\n"
        );
        let ten = Value::List(vec![b"x".to_vec(); 10]);
        assert!(body(&ten).starts_with(" 1) x\n") && body(&ten).ends_with("\n10) x\n"));
        assert_eq!(body(&samples::module()), "1) -1\n2) 0.5\n3) NaN\n4) \"x\\x00\"\n");
        assert_eq!(body(&Value::Array(vec![(70, Item::Integer(3))])), "[70] 3\n");
    }

    #[test]
    fn a_vector_set_shows_links_and_attributes() {
        assert_eq!(
            body(&Value::Vectors(samples::vectors())),
            "up to 16 links a layer, twice as many on the lowest\nreduced from 30 dimensions\n\
             1) apple   12+3 links  {\"red\":true}\n2) \"\\xff\"  1 link\n"
        );
    }

    #[test]
    fn a_stream_shows_entries_groups_and_producers() {
        assert_eq!(
            body(&samples::stream()),
            "5-0  f = v\nlast id 5-0\n\
             group billing: delivered up to 5-0, 1 pending\n  consumer c1: seen 1970-01-01 00:00:02Z, 1 pending\n  \
             pending 5-0: delivered 1 time, last 1970-01-01 00:00:01Z\n  returned 4-1\n\
             producer p: 1 id\n  id own: entry 5-0\n"
        );
    }

    #[test]
    fn what_is_visible_is_shown_as_it_is_and_all_else_in_quotes() {
        for text in [r#"{"a":"\u001b"}"#, "a\\b", "用户", "cafe\u{301}", "a  b", "x…"] {
            assert_eq!(shown(text.as_bytes()), text);
        }
        for (bytes, quoted) in [
            (&b""[..], r#""""#),
            (b"\x1b[2J", r#""\x1b[2J""#),
            (b"two\nlines", r#""two\nlines""#),
            (b"\"a\"", r#""\"a\"""#),
            (b" a", r#""\x20a""#),
            (b"\xff", r#""\xff""#),
            ("\u{202e}x".as_bytes(), r#""\u{202e}x""#),
        ] {
            assert_eq!(shown(bytes), quoted);
        }
    }

    #[test]
    fn json_keeps_its_lines() {
        let json = "{\n\t\"a\": \"b\\n\"\n}\n";
        assert_eq!(document(json.as_bytes()), json);
        assert_eq!(document(b"\"a\""), r#""\"a\"""#);
        assert_eq!(document(b"{\n"), r#""{\n""#);
        assert_eq!(document("{\n\"\u{9b}2J\": 1}".as_bytes()), r#""{\n\"\u{9b}2J\": 1}""#);
    }

    proptest::proptest! {
        #[test]
        fn what_has_escapes_comes_back(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            let text = shown(&bytes);
            let back = match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(inner) if !inner.is_empty() => key_text::unescape(inner).unwrap(),
                Some(_) => Vec::new(),
                None => text.as_bytes().to_vec(),
            };
            proptest::prop_assert_eq!(back, bytes);
        }
    }
}
