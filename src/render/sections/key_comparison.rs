//! A comparison key by key as a document.

use crate::render::document::{Block, Cell, Column, Document, Headline, Prose, Section, Table, Tile, Tone};
use crate::render::words::{heads, nouns, say};
use crate::render::{Lang, human, key_text};
use crate::report::key_comparison::{
    DifferenceCounts, KeyChange, KeyComparison, KeyDifference, KeyFacts, KeySide, KeyWeight,
};
use crate::report::known_memory;
use crate::units::Bytes;

/// Builds the document, with at most this many rows in each list.
pub(in crate::render) fn document(comparison: &KeyComparison, rows: usize, lang: Lang) -> Document {
    let sections = [
        Some(sides(comparison, lang)),
        Some(sums(comparison, lang)),
        types(comparison, lang),
        patterns(comparison, rows, lang),
        examples(comparison, rows, lang),
        notes(comparison, lang),
    ];
    Document { lang, headline: headline(comparison, lang), sections: sections.into_iter().flatten().collect() }
}

/// Returns the name of a side: that of its file, or the number of its files.
fn name(side: &KeySide, lang: Lang) -> String {
    match side.files.as_slice() {
        [_] => side.name.clone(),
        files => human::counted(files.len() as u64, nouns::FILE, lang),
    }
}

fn headline(comparison: &KeyComparison, lang: Lang) -> Headline {
    let KeyComparison { before, after, sums, .. } = comparison;
    let (differing, equal) = (human::counted(sums.differing, nouns::KEY, lang), human::count(sums.equal));
    let are = if sums.equal == 1 { "is" } else { "are" };
    let sentence = match sums.differing {
        0 => say!(lang, "No key differs; {equal} {are} equal.", "没有差异；{equal} 个 key 相同。"),
        1 => say!(lang, "{differing} differs, {equal} {are} equal.", "{differing} 有差异，{equal} 个 key 相同。"),
        _ => say!(lang, "{differing} differ, {equal} {are} equal.", "{differing} 有差异，{equal} 个 key 相同。"),
    };
    let times = [before, after].map(|side| side.taken.map_or_else(|| "–".to_owned(), |at| human::time(at.0)));
    let [old, new] = times;
    let is_dated = before.taken.is_some() || after.taken.is_some();
    let taken = is_dated.then(|| say!(lang, "snapshots of {old} and {new}", "快照时间 {old} 与 {new}").into());
    let tile = |label, keys: u64, note: String, memory: Bytes| Tile {
        label,
        figure: keys.into(),
        note: note.into(),
        memory: (memory, after.memory.max(before.memory)),
        section: "keys",
    };
    let bytes = |weight: KeyWeight| known(weight).map_or_else(String::new, |bytes| human::bytes(bytes.0));
    let [old_name, new_name] = [before, after].map(|side| key_text::text(&name(side, lang)).into_owned());
    Headline {
        problems: problems(comparison, lang),
        more_problems: 0,
        name: Err(say!(lang, "{} and {}", "{} 与 {}", old_name, new_name)),
        identity: taken.into_iter().collect(),
        size: [
            say!(lang, "{} before", "此前 {}", human::counted(before.keys, nouns::KEY, lang)).into(),
            say!(lang, "{} after", "当前 {}", human::counted(after.keys, nouns::KEY, lang)).into(),
        ],
        facts: vec![sentence.clone().into()],
        selection: None,
        answers: None,
        sentence: sentence.into(),
        tiles: vec![
            tile(lang.of("Differing keys", "有差异的 key"), sums.differing, String::new(), Bytes(0)),
            tile(lang.of("Added", "新增"), sums.added.keys, bytes(sums.added), sums.added.memory),
            tile(lang.of("Removed", "删除"), sums.removed.keys, bytes(sums.removed), sums.removed.memory),
            tile(lang.of("Value changed", "value 已变"), sums.changed, String::new(), Bytes(0)),
        ],
        trend: None,
        points: Vec::new(),
    }
}

fn notes(comparison: &KeyComparison, lang: Lang) -> Option<Section> {
    let notes: Vec<Prose> = comparison.warnings.iter().map(|it| Prose::wording(&it.wording, lang)).collect();
    let section = || Section::new("notes", lang.of("Notes", "说明"));
    (!notes.is_empty()).then(|| section().with(Block::Notes(notes, 0)))
}

/// Returns the reasons to doubt the comparison.
fn problems(comparison: &KeyComparison, lang: Lang) -> Vec<Prose> {
    let KeyComparison { before, after, .. } = comparison;
    let mut problems: Vec<Prose> = Vec::new();
    if !before.complete {
        let said = "The old side could not be read completely: keys listed as added may exist there, too.";
        problems.push(lang.of(said, "旧侧未能完整读取：标为新增的 key 可能在旧侧也存在。").into());
    }
    if !after.complete {
        let said = "The new side could not be read completely: keys listed as removed may exist there, too.";
        problems.push(lang.of(said, "新侧未能完整读取：标为删除的 key 可能在新侧也存在。").into());
    }
    let unreadable = before.unreadable + after.unreadable;
    if unreadable > 0 {
        let keys = human::counted(unreadable, nouns::KEY, lang);
        let said = say!(
            lang,
            "The values of {keys} could not be read: run `rdblens check` to locate damage, or raise --max-memory.",
            "{keys} 的 value 无法读取：可用 rdblens check 定位损坏，或调大 --max-memory。"
        );
        problems.push(said.into());
    }
    problems
}

fn sides(comparison: &KeyComparison, lang: Lang) -> Section {
    let sides = [(lang.of("before", "此前"), &comparison.before), (lang.of("after", "当前"), &comparison.after)];
    let table = Table::of(lang.of("Sides", "对比双方"), &sides, usize::MAX)
        .tones(|(_, side)| if side.complete { Tone::Plain } else { Tone::Alarm })
        .column(Column::text(heads::NONE), |(name, _)| *name)
        .column(Column::text(heads::SNAPSHOT).shrink(16), |(_, side)| Cell::plain(&name(side, lang)))
        .column(Column::text(heads::TAKEN).spare(1), |(_, side)| side.taken.map(Cell::Time))
        .column(Column::number(heads::KEYS), |(_, side)| side.keys)
        .column(Column::number(heads::MEMORY), |(_, side)| known_memory(side.keys, side.memory))
        .column(Column::number(heads::EXPIRED), |(_, side)| Cell::nonzero(side.expired))
        .column(Column::number(heads::MORE_THAN_ONCE), |(_, side)| Cell::nonzero(side.duplicates))
        .column(Column::text(heads::NONE), |(_, side): &(&str, &KeySide)| {
            if side.complete { Cell::Blank } else { lang.of("incomplete", "不完整").into() }
        })
        .build();
    Section::new("sides", lang.of("Sides", "对比双方")).with(table.in_order())
}

/// Returns the memory of some keys; `None` if it is unknown for all of them.
fn known(weight: KeyWeight) -> Option<Bytes> {
    known_memory(weight.keys, weight.memory)
}

fn sums(comparison: &KeyComparison, lang: Lang) -> Section {
    let sums = &comparison.sums;
    let always = [
        (lang.of("equal", "相同"), sums.equal, None),
        (lang.of("added", "新增"), sums.added.keys, known(sums.added)),
        (lang.of("removed", "删除"), sums.removed.keys, known(sums.removed)),
        (word(KeyDifference::Value, lang), sums.changed, None),
        (word(KeyDifference::Expiry, lang), sums.reexpired, None),
        (word(KeyDifference::Type, lang), sums.retyped, None),
    ];
    let sometimes = [
        (word(KeyDifference::Expired, lang), sums.expired.keys, known(sums.expired)),
        (lang.of("more than once on a side", "同一侧重复"), sums.duplicate, None),
        (lang.of("value not readable", "value 无法读取"), sums.unreadable, None),
    ];
    let rows: Vec<_> = always.into_iter().chain(sometimes.into_iter().filter(|(_, keys, _)| *keys > 0)).collect();
    let all = sums.equal.saturating_add(sums.differing).saturating_add(sums.expired.keys);
    let table = Table::of(lang.of("Keys", "key"), &rows, usize::MAX)
        .column(Column::text(heads::WHAT), |(name, ..)| *name)
        .column(Column::number(heads::KEYS), |(_, keys, _)| *keys)
        .column(Column::number(heads::OF_KEYS), |(_, keys, _)| Cell::ShareOf(*keys, all))
        .column(Column::number(heads::MEMORY), |(_, _, memory)| *memory)
        .build();
    let section = Section::new("keys", lang.of("Keys", "key"));
    let growth = human::signed(sums.growth);
    let section = match sums.growth {
        0 => section,
        _ => section.lead(say!(lang, "Keys on both sides: {growth} of memory.", "两侧共有的 key：内存 {growth}。")),
    };
    section.with(table.in_order())
}

fn types(comparison: &KeyComparison, lang: Lang) -> Option<Section> {
    let title = lang.of("Differing keys by type", "按类型统计有差异的 key");
    let table = Table::of(title, &comparison.types, usize::MAX).column(Column::text(heads::TYPE), |row| row.kind);
    let table = counts(table, |row| row.counts).build();
    (!comparison.types.is_empty()).then(|| Section::new("types", title).with(table))
}

fn patterns(comparison: &KeyComparison, rows: usize, lang: Lang) -> Option<Section> {
    let title = lang.of("Differing keys by pattern", "按模式统计有差异的 key");
    let table = Table::of(title, &comparison.patterns, rows)
        .column(Column::text(heads::PATTERN).shrink(24), |row| Cell::pattern(&row.pattern));
    let table = counts(table, |row| row.counts).build().out_of(comparison.distinct_patterns);
    (!comparison.patterns.is_empty()).then(|| Section::new("patterns", title).with(table))
}

/// Adds the columns of counts.
fn counts<'t, T>(
    table: crate::render::document::TableOf<'t, T>,
    counts: impl Fn(&T) -> DifferenceCounts,
) -> crate::render::document::TableOf<'t, T> {
    table
        .column(Column::number(heads::DIFFERING), |row| counts(row).differing)
        .column(Column::number(heads::ADDED), |row| Cell::nonzero(counts(row).added))
        .column(Column::number(heads::REMOVED), |row| Cell::nonzero(counts(row).removed))
        .column(Column::number(heads::CHANGED), |row| Cell::nonzero(counts(row).changed))
        .column(Column::number(heads::EXPIRED), |row| Cell::nonzero(counts(row).expired))
}

fn examples(comparison: &KeyComparison, rows: usize, lang: Lang) -> Option<Section> {
    let title = lang.of("Largest differing keys", "有差异的最大 key");
    fn of<T>(facts: Option<&KeyFacts>, get: impl Fn(&KeyFacts) -> Option<T>) -> Option<T> {
        facts.and_then(get)
    }
    let expiry = |facts: Option<&KeyFacts>| of(facts, |facts| facts.expires_at).map(Cell::Time);
    let all = comparison.sums.differing;
    let table = Table::of(title, &comparison.examples, rows)
        .column(Column::text(heads::DIFFERS_IN), |row| difference(row, lang))
        .column(Column::number(heads::DB), |row| Cell::Id(row.db))
        .column(Column::text(heads::KEY).shrink(16), |row| Cell::from(&row.key))
        .column(Column::text(heads::TYPE), |row| {
            row.after.as_ref().or(row.before.as_ref()).map_or(Cell::Absent, |facts| facts.kind.into())
        })
        .column(Column::number(heads::LENGTH_BEFORE).spare(2).pair(1), |row| {
            of(row.before.as_ref(), |facts| facts.length)
        })
        .column(Column::number(heads::LENGTH).spare(2).pair(1), |row| of(row.after.as_ref(), |facts| facts.length))
        .column(Column::number(heads::MEMORY_BEFORE).spare(1), |row| of(row.before.as_ref(), |facts| facts.memory))
        .column(Column::number(heads::MEMORY), |row| of(row.after.as_ref(), |facts| facts.memory))
        .column(Column::text(heads::EXPIRES_BEFORE).spare(1).pair(2), |row| expiry(row.before.as_ref()))
        .column(Column::text(heads::EXPIRES).spare(1).pair(2), |row| expiry(row.after.as_ref()))
        .build()
        .out_of(all);
    let hint = lang.of("--rows FILE.ndjson writes every differing key.", "--rows FILE.ndjson 写出每个有差异的 key。");
    let section = || Section::new("examples", title).with(table).with(Block::Paragraph(Tone::Faint, hint.into()));
    (!comparison.examples.is_empty()).then(section)
}

fn difference(change: &KeyChange, lang: Lang) -> String {
    let words: Vec<&str> = change.change.iter().map(|difference| word(*difference, lang)).collect();
    let certain = if change.certain { "" } else { "?" };
    format!("{}{certain}", words.join(lang.of(", ", "、")))
}

fn word(difference: KeyDifference, lang: Lang) -> &'static str {
    let (en, zh) = match difference {
        KeyDifference::Added => ("added", "新增"),
        KeyDifference::Removed => ("removed", "删除"),
        KeyDifference::Expired => ("expired", "已过期"),
        KeyDifference::Type => ("type changed", "类型已变"),
        KeyDifference::Value => ("value changed", "value 已变"),
        KeyDifference::Expiry => ("expiry changed", "过期时间已变"),
        KeyDifference::Duplicate => ("duplicate", "重复"),
        KeyDifference::Unreadable => ("unreadable", "无法读取"),
    };
    lang.of(en, zh)
}
