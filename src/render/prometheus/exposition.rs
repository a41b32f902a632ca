//! Text format that Prometheus reads.
//!
//! The output is valid both as text format 0.0.4, which node_exporter's textfile collector reads, and as OpenMetrics 1.0:
//! every metric is a gauge, families are not interleaved, no sample has a timestamp, there is no empty line, and the lines
//! that only OpenMetrics defines, `# UNIT` and `# EOF`, are comments in the older format.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::render::key_text::{fit, text};
use crate::units::{Bytes, Millis};

/// Longest value of a label; longer ones lose their middle, since some servers reject more than a few hundred bytes.
const MAX_LABEL_LEN: usize = 160;

/// Metrics, collected family by family and then written.
#[derive(Debug)]
pub(super) struct Exposition {
    labels: Vec<(String, String)>,
    families: Vec<MetricFamily>,
}

/// Samples of one metric.
#[derive(Debug, Default)]
pub(super) struct MetricFamily {
    name: &'static str,
    help: &'static str,
    samples: Vec<(String, SampleValue)>,
    /// Index of each sample by its labels: a series may appear only once.
    places: HashMap<String, usize>,
    /// True if samples are not added up; see [`MetricFamily::apart`].
    stays_apart: bool,
    /// Values of the labels of such samples, before they are shortened.
    whole: HashSet<Vec<String>>,
    /// Number of such samples by their labels.
    equal: HashMap<String, u64>,
}

/// Value of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) enum SampleValue {
    /// A count or a size, exactly.
    Whole(i128),
    /// A time in seconds, or a ratio.
    Real(f64),
}

impl From<u64> for SampleValue {
    fn from(count: u64) -> SampleValue {
        SampleValue::Whole(count.into())
    }
}

impl From<i64> for SampleValue {
    fn from(count: i64) -> SampleValue {
        SampleValue::Whole(count.into())
    }
}

impl From<bool> for SampleValue {
    fn from(is_so: bool) -> SampleValue {
        SampleValue::Whole(is_so.into())
    }
}

impl From<f64> for SampleValue {
    fn from(ratio: f64) -> SampleValue {
        SampleValue::Real(ratio)
    }
}

impl From<Bytes> for SampleValue {
    fn from(bytes: Bytes) -> SampleValue {
        bytes.0.into()
    }
}

impl From<Millis> for SampleValue {
    fn from(time: Millis) -> SampleValue {
        SampleValue::Real(time.0 as f64 / 1000.0)
    }
}

impl SampleValue {
    /// Returns the value of two samples with equal labels: the sum of counts and sizes, and the first of times and ratios, whose sum
    /// says nothing.
    fn joined(self, other: SampleValue) -> SampleValue {
        match (self, other) {
            (SampleValue::Whole(one), SampleValue::Whole(other)) => SampleValue::Whole(one.saturating_add(other)),
            _ => self,
        }
    }
}

impl Exposition {
    /// Returns an empty exposition, every sample of which will carry these labels.
    pub fn new(labels: Vec<(String, String)>) -> Exposition {
        Exposition { labels, families: Vec::new() }
    }

    /// Begins the next family.
    pub fn family(&mut self, name: &'static str, help: &'static str) -> &mut MetricFamily {
        let at = self.families.len();
        self.families.push(MetricFamily { name, help, ..MetricFamily::default() });
        &mut self.families[at]
    }

    /// Adds a family whose samples differ in one label.
    pub fn each<T: AsRef<str>>(
        &mut self,
        name: &'static str,
        help: &'static str,
        label: &str,
        rows: impl IntoIterator<Item = (T, SampleValue)>,
    ) {
        self.family(name, help).each(label, rows);
    }

    /// Adds a family of a single sample, unless there is no value.
    pub fn one(&mut self, name: &'static str, help: &'static str, value: Option<impl Into<SampleValue>>) {
        if let Some(value) = value {
            self.family(name, help).sample(&[], value);
        }
    }

    /// Writes the families that have samples.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let common: Vec<String> = self.labels.iter().map(|(name, value)| label(name, value)).collect();
        let common = common.join(",");
        for family in self.families.iter().filter(|family| !family.samples.is_empty()) {
            family.write(&common, out)?;
        }
        writeln!(out, "# EOF")
    }
}

impl MetricFamily {
    /// Adds samples that differ in one label.
    pub fn each<T: AsRef<str>>(&mut self, label: &str, rows: impl IntoIterator<Item = (T, SampleValue)>) {
        for (own, value) in rows {
            self.sample(&[(label, own.as_ref())], value);
        }
    }

    /// Keeps samples apart that say nothing when they are added up, such as those of alternatives. Of equal labels the first sample counts;
    /// labels that become equal by being shortened are numbered.
    pub fn apart(&mut self) -> &mut MetricFamily {
        self.stays_apart = true;
        self
    }

    /// Adds a sample, or joins its value with that of the one with equal labels: different names may be equal once they are shortened.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Into<SampleValue>) -> &mut MetricFamily {
        let shown: Vec<String> = labels.iter().map(|(name, value)| label(name, value)).collect();
        let (mut shown, value) = (shown.join(","), value.into());
        if self.stays_apart {
            if !self.whole.insert(labels.iter().map(|(_, own)| (*own).to_owned()).collect()) {
                return self;
            }
            shown = self.numbered(shown);
        }
        let next = self.samples.len();
        let place = *self.places.entry(shown.clone()).or_insert(next);
        match self.samples.get_mut(place) {
            Some((_, there)) => *there = there.joined(value),
            None => self.samples.push((shown, value)),
        }
        self
    }

    /// Returns labels that no sample has: these, with a number from the second time on.
    fn numbered(&mut self, labels: String) -> String {
        let number = self.equal.entry(labels.clone()).or_default();
        loop {
            *number += 1;
            let free = match *number {
                1 => labels.clone(),
                number => format!("{}~{number}\"", labels.strip_suffix('"').unwrap_or(&labels)),
            };
            if !self.places.contains_key(&free) {
                return free;
            }
        }
    }

    fn write(&self, common: &str, out: &mut dyn Write) -> io::Result<()> {
        let name = self.name;
        writeln!(out, "# HELP {name} {}", self.help)?;
        writeln!(out, "# TYPE {name} gauge")?;
        if let Some(unit) = ["bytes", "seconds"].into_iter().find(|unit| name.ends_with(unit)) {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
        for (own, value) in &self.samples {
            let labels: Vec<&str> = [common, own].into_iter().filter(|labels| !labels.is_empty()).collect();
            let labels = labels.join(",");
            let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
            match value {
                SampleValue::Whole(value) => writeln!(out, "{name}{labels} {value}")?,
                SampleValue::Real(value) => writeln!(out, "{name}{labels} {value}")?,
            }
        }
        Ok(())
    }
}

/// Formats a label. Hidden characters are escaped as on a terminal, since dashboards show labels unescaped.
fn label(name: &str, value: &str) -> String {
    let shown = text(value);
    let mut label = format!("{name}=\"");
    for c in fit(&shown, MAX_LABEL_LEN).chars() {
        match c {
            '\\' => label.push_str("\\\\"),
            '"' => label.push_str("\\\""),
            '\n' => label.push_str("\\n"),
            c => label.push(c),
        }
    }
    label.push('"');
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(exposition: &Exposition) -> String {
        let mut out = Vec::new();
        exposition.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn families_stand_together_and_empty_ones_not_at_all() {
        let mut exposition = Exposition::new(vec![("instance".into(), "a\"b".into())]);
        exposition.family("a_bytes", "Sizes.").sample(&[("x", "1\n2")], Bytes(u64::MAX)).sample(&[], Bytes(3));
        exposition.family("b", "Nothing.");
        exposition.one("c_seconds", "A time.", Some(Millis(-1_500)));
        let expected = r#"# HELP a_bytes Sizes.
# TYPE a_bytes gauge
# UNIT a_bytes bytes
a_bytes{instance="a\"b",x="1\\n2"} 18446744073709551615
a_bytes{instance="a\"b"} 3
# HELP c_seconds A time.
# TYPE c_seconds gauge
# UNIT c_seconds seconds
c_seconds{instance="a\"b"} -1.5
# EOF
"#;
        assert_eq!(written(&exposition), expected);
    }

    #[test]
    fn alternatives_are_not_added_up() {
        let mut exposition = Exposition::new(vec![]);
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(500), "b".repeat(500));
        let rows = [("x", 1u64), (&long("1"), 2), ("x", 1), (&long("2"), 3), ("x~2", 4)];
        let rows = rows.map(|(name, value)| (name.to_owned(), value.into()));
        exposition.family("sizes", "Sizes.").apart().each("ask", rows);
        let text = written(&exposition);
        let values: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once("} ")?.1)).collect();
        assert_eq!(values, ["1", "2", "3", "4"], "{text}");
        assert!(text.contains("b~2\"} 3\n"), "{text}");
    }

    #[test]
    fn no_series_is_there_twice() {
        let mut exposition = Exposition::new(vec![]);
        let long = |end: &str| format!("{}{end}{}", "a".repeat(500), "b".repeat(500));
        let family = exposition.family("keys", "Keys.");
        family.sample(&[("x", &long("1"))], 1u64).sample(&[("x", &long("2"))], 2u64);
        let text = written(&exposition);
        assert!(text.lines().count() == 4 && text.contains("} 3\n"), "{text}");
        // A sum of times is no time.
        let family = exposition.family("full_seconds", "When.");
        family.sample(&[("x", &long("1"))], Millis(2_500)).sample(&[("x", &long("2"))], Millis(1_000));
        let text = written(&exposition);
        assert!(text.contains("} 2.5\n") && !text.contains("} 1\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 200));
    }
}
