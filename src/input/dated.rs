//! Dates in names of files: what tells the nights of one server apart.

use std::sync::LazyLock;

use regex::Regex;

/// Splits the dates off a name: `a-2026-11-21.rdb` is `a-*.rdb` and `20261121`. A time of day behind a date goes with it.
pub fn undated(name: &str) -> (String, Vec<String>) {
    static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let (month, day) = ("(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])");
        let forms = ["-", "_", r"\.", ""].map(|between| format!("20[0-9]{{2}}{between}{month}{between}{day}"));
        Regex::new(&forms.join("|")).ok()
    });
    static TIME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[T_.-]?[0-2][0-9][:_.-]?[0-5][0-9](?:[:_.-]?[0-5][0-9])?Z?").ok());
    let starts_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (mut left, mut dates, mut rest) = (String::new(), Vec::new(), name);
    while let Some(date) = DATE.as_ref().and_then(|date| date.find(rest)) {
        let (before, after) = (&rest[..date.start()], &rest[date.end()..]);
        left.push_str(before);
        let time = TIME.as_ref().and_then(|time| time.find(after)).map_or(0, |time| time.end());
        let time = if starts_with_digit(&after[time..]) { 0 } else { time };
        rest = &after[time..];
        if before.ends_with(|c: char| c.is_ascii_digit()) || starts_with_digit(rest) {
            // Part of a longer number.
            left.push_str(date.as_str());
        } else {
            left.push('*');
            dates.push(date.as_str().replace(['-', '_', '.'], ""));
        }
    }
    left.push_str(rest);
    (left, dates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_split_off_names() {
        for (name, left, dates) in [
            ("cache-2026-11-20.rdb", "cache-*.rdb", &["20261120"][..]),
            ("cache_20261120.rdb.gz", "cache_*.rdb.gz", &["20261120"]),
            ("cache-20261120T0300Z.rdb", "cache-*.rdb", &["20261120"]),
            ("cache-2026.11.20-03-00-01.rdb", "cache-*.rdb", &["20261120"]),
            ("2026_11_20/node-1/dump.rdb", "*/node-1/dump.rdb", &["20261120"]),
            ("2026-11-20/a-20261120.rdb", "*/a-*.rdb", &["20261120", "20261120"]),
            ("cache-20261120-12345.rdb", "cache-*-12345.rdb", &["20261120"]),
            ("shard-20269999.rdb", "shard-20269999.rdb", &[]),
            ("120261120.rdb", "120261120.rdb", &[]),
            ("202611201.rdb", "202611201.rdb", &[]),
            ("dump-6379.rdb", "dump-6379.rdb", &[]),
            ("快照-2026-11-20.rdb", "快照-*.rdb", &["20261120"]),
        ] {
            let (found, of) = undated(name);
            assert_eq!(
                (found.as_str(), of.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
                (left, dates),
                "{name}"
            );
        }
    }
}
