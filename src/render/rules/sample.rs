//! Example of a rule as readable lines: one for each key, then other facts.

use crate::policy::params::{ParamDefault, ParamValue};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::policy::wording::words;
use crate::record::Kind;
use crate::render::words::nouns;
use crate::render::{Lang, human, key_text};

/// Returns the lines, without indentation.
pub fn lines(sample: &RuleSample, lang: Lang) -> Vec<String> {
    let mut lines = keys(sample.keys, lang);
    let facts = &sample.facts;
    if !facts.before.is_empty() {
        lines.push(lang.of("in the earlier snapshot:", "较早的快照：").to_owned());
        lines.extend(keys(facts.before, lang).into_iter().map(|line| format!("  {line}")));
    }
    lines.extend(known(facts, lang));
    if !facts.policy.trim().is_empty() {
        lines.push(lang.of("with this in the policy:", "策略文件中另有：").to_owned());
        let policy = facts.policy.lines().filter(|line| !line.trim().is_empty());
        lines.extend(policy.map(|line| format!("  {}", line.trim_end())));
    }
    lines
}

/// Returns a line for each key: its name, padded to a column, and its facts.
fn keys(keys: &[SampleKey], lang: Lang) -> Vec<String> {
    let names: Vec<String> = keys.iter().map(name).collect();
    // One very long name must not push the facts of all others to the right.
    let widest = names.iter().map(|name| key_text::width(name)).filter(|width| *width <= 48).max().unwrap_or(0);
    let line = |(name, key): (&String, &SampleKey)| {
        let pad = " ".repeat(widest.saturating_sub(key_text::width(name)));
        format!("{name}{pad}   {}", facts_of(key, lang))
    };
    names.iter().zip(keys).map(line).collect()
}

fn name(key: &SampleKey) -> String {
    let name = if key.times == 1 { key.name.replace("{i}", "1") } else { key.name.to_owned() };
    key_text::text(&name).into_owned()
}

fn facts_of(key: &SampleKey, lang: Lang) -> String {
    let usual = SampleKey::named(key.name);
    let mut facts = vec![key.kind.name().to_owned(), length(key, lang)];
    if key.memory != usual.memory {
        facts.push(lang.of("{} of memory", "占内存 {}").replace("{}", &bytes(key.memory, lang)));
    }
    if key.disk != usual.disk && key.disk != key.memory / 2 {
        facts.push(lang.of("{} in the file", "在文件中占 {}").replace("{}", &bytes(key.disk, lang)));
    }
    facts.push(ttl(key, lang));
    if let Some(idle) = key.idle {
        facts.push(lang.of("idle for {}", "空闲 {}").replace("{}", &span(idle, lang)));
    }
    if key.pending > 0 {
        let pending = human::count(key.pending);
        facts.push(lang.of("{} pending", "{} 条未确认").replace("{}", &pending));
    }
    if key.db > 0 {
        facts.push(lang.of("database {}", "数据库 {}").replace("{}", &key.db.to_string()));
    }
    if !key.text.is_empty() {
        facts.push(key_text::text(key.text).into_owned());
    }
    let times = if key.times == 1 { String::new() } else { format!("   × {}", human::count(key.times)) };
    format!("{}{times}", facts.join(lang.of(", ", "，")))
}

fn length(key: &SampleKey, lang: Lang) -> String {
    let noun = match key.kind {
        Kind::String => return bytes(key.length, lang),
        Kind::Hash => nouns::FIELD,
        Kind::Set | Kind::Zset => nouns::MEMBER,
        Kind::Stream => nouns::MESSAGE,
        Kind::List | Kind::Module | Kind::Array => nouns::ELEMENT,
    };
    human::counted(key.length, noun, lang)
}

fn ttl(key: &SampleKey, lang: Lang) -> String {
    let Some(ttl) = key.ttl else { return lang.of("never expires", "永不过期").to_owned() };
    let left = span(ttl.unsigned_abs(), lang);
    if ttl < 0 {
        return lang.of("expired {} ago", "已过期 {}").replace("{}", &left);
    }
    let one = lang.of("expires in {}", "{}后过期").replace("{}", &left);
    if key.times == 1 {
        return one;
    }
    match key.ttl_step {
        0 => lang.of("all expire in {}", "全部在 {}后过期").replace("{}", &left),
        step => {
            let step = span(step.unsigned_abs(), lang);
            format!("{one}{}", lang.of(", each next {} later", "，其后每个依次晚 {}").replace("{}", &step))
        }
    }
}

/// Returns the lines about everything but keys.
fn known(facts: &SampleFacts, lang: Lang) -> Vec<String> {
    let mut lines = Vec::new();
    if facts.damaged {
        lines.push(lang.of("the file is truncated", "文件被截断").to_owned());
    }
    if let Some(hours) = facts.age_hours {
        let age = span(hours.saturating_mul(3600), lang);
        lines.push(lang.of("the snapshot is {} old", "快照距今 {}").replace("{}", &age));
    }
    if let Some(limit) = facts.maxmemory {
        lines.push(format!("maxmemory = {}", bytes(limit, lang)));
    }
    if let Some(policy) = facts.maxmemory_policy {
        lines.push(format!("maxmemory-policy = {policy}"));
    }
    if let Some(permille) = facts.upgraded_permille {
        let share = words(ParamDefault::Share(0), &ParamValue::Number(permille));
        let text = lang.of("a newer server would take {} of this memory", "新版本服务器只需其中 {} 的内存");
        lines.push(text.replace("{}", lang.of(&share[0], &share[1])));
    }
    if facts.sharded {
        lines.push(lang.of("each key is in a file of its own", "每个 key 在各自的文件中").to_owned());
    }
    lines
}

fn bytes(number: u64, lang: Lang) -> String {
    let [en, zh] = words(ParamDefault::Bytes(0), &ParamValue::Number(number));
    lang.of(&en, &zh).to_owned()
}

fn span(seconds: u64, lang: Lang) -> String {
    let [en, zh] = words(ParamDefault::Span(0), &ParamValue::Number(seconds.saturating_mul(1000)));
    lang.of(&en, &zh).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    static KEYS: &[SampleKey] = &[
        SampleKey::named("user:profile:12345"),
        SampleKey::of("rank:{i}", Kind::Zset, 2_000_000, 180 << 20),
        SampleKey::named("cache:{i}").times(2000, 0),
        SampleKey::named("session:{i}").times(10, 5).expiring_in(-60),
        SampleKey::named("a b\n").forever(),
    ];

    #[test]
    fn keys_read_as_a_person_would_write_them() {
        let expected = [
            "user:profile:12345   string, 10 bytes, expires in 1 hour",
            "rank:1               zset, 2,000,000 members, 180 MiB of memory, expires in 1 hour",
            "cache:{i}            string, 10 bytes, all expire in 1 hour   × 2,000",
            "session:{i}          string, 10 bytes, expired 60 seconds ago   × 10",
            "a b\\n                string, 10 bytes, never expires",
        ];
        assert_eq!(lines(&RuleSample::of(KEYS), Lang::En), expected);
    }

    #[test]
    fn what_is_known_besides_follows() {
        static BEFORE: &[SampleKey] = &[SampleKey::named("a:1")];
        let facts = SampleFacts {
            age_hours: Some(30),
            maxmemory: Some(1 << 30),
            maxmemory_policy: Some("volatile-lru"),
            policy: "[[budget]]\npattern = \"a:**\"\n",
            upgraded_permille: Some(700),
            sharded: true,
            damaged: true,
            before: BEFORE,
        };
        let shown = lines(&RuleSample::of(&[]).with(facts), Lang::Zh);
        assert_eq!(
            shown,
            [
                "较早的快照：",
                "  a:1   string，10 字节，1 小时后过期",
                "文件被截断",
                "快照距今 30 小时",
                "maxmemory = 1 GiB",
                "maxmemory-policy = volatile-lru",
                "新版本服务器只需其中 70 % 的内存",
                "每个 key 在各自的文件中",
                "策略文件中另有：",
                "  [[budget]]",
                "  pattern = \"a:**\"",
            ]
        );
    }
}
