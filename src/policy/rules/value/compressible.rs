//! `value.compressible`: long texts that compress well are compressed by the client.
//!
//! Measured: size of a string in the dump, which servers compress with LZF, as share of its length. Clients with gzip or zstd
//! save more, so the saving is a lower bound: the difference of both lengths, before rounding by the allocator. Only
//! [text](crate::policy::content::text) counts: UTF-8 without control characters in its first kilobyte. Bitmaps, HyperLogLogs
//! and formats for machines do not, since the server or other programs interpret their bytes. Elements of collections give no
//! information, nor do dumps written with `rdbcompression no`: the rule is not evaluated if no string of the dump is compressed
//! although it has texts of `min` bytes.

use crate::policy::KeyView;
use crate::policy::content::text;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, SizeTest, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "value.compressible",
    severity: Severity::Should,
    problem: Text {
        en: "text of `min` bytes or more that compresses to less than `share`",
        zh: "min 字节及以上的文本可压缩到原大小的 share 以下",
    },
    what: Text {
        en: "no text of `min` bytes or more compresses to less than `share`",
        zh: "min 字节及以上的文本压缩后不低于原大小的 share",
    },
    why: Text {
        en: "In memory and on the network a string takes its full length; only the dump is compressed. Text such as HTML, \
             JSON or logs compresses to a fraction of its size at little CPU cost for the clients.",
        zh: "string 在内存和网络中按原始长度占用，只在快照中压缩存储。HTML、JSON、日志等文本可压缩到几分之一，客户端只需少量 CPU。",
    },
    fix: Text {
        en: "compress these values in the client (gzip, zstd, LZ4) and mark them so that old values remain readable",
        zh: "在客户端压缩（gzip、zstd、LZ4）后写入，并加标记以兼容旧数据",
    },
    params: &[
        ParamSpec {
            name: "min",
            what: Text { en: "shorter strings are not checked", zh: "更短的 string 不检查" },
            default: ParamDefault::Bytes(1024),
        },
        ParamSpec {
            name: "share",
            what: Text {
                en: "minimum compressed size, as share of the length", zh: "压缩后大小占原长度的最小比例"
            },
            default: ParamDefault::Share(500),
        },
    ],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey {
        disk: 5_000,
        ..SampleKey::of("cache:thumbnail:{i}", Kind::String, 5_000, 5_200)
    }]),
    fails: RuleSample::of(&[SampleKey {
        disk: 900,
        text: "<!DOCTYPE html><html lang=\"en\"><head><title>Home</title></head>",
        ..SampleKey::of("cache:page:{i}", Kind::String, 5_000, 5_200)
    }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(CompressibleRule { min: params.number("min"), share: params.number("share") })))
}

/// Limits how far long strings compress.
#[derive(Debug, Clone, Copy)]
pub struct CompressibleRule {
    /// Minimum length of a checked string, in bytes.
    pub min: u64,
    /// Minimum compressed size, in thousandths of the length.
    pub share: u64,
}

impl KeyRule for CompressibleRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let stored = key.record.value.compressed?.0;
        let length = key.record.length.filter(|&length| length >= self.min.max(1))?;
        let breaks = u128::from(stored) * 1000 < u128::from(length) * u128::from(self.share);
        // Below `share` if the rule is violated, so it fits.
        let measured = u64::try_from(u128::from(stored) * 1000 / u128::from(length)).unwrap_or(u64::MAX);
        (breaks && text::is_text(key.record)).then_some(Violation { measured, allowed: self.share })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks(Need::CompressedSizes, |_| known.sizes_hidden)
    }

    fn text_size(&self) -> Option<u64> {
        Some(self.min)
    }

    fn estimates_saving(&self) -> bool {
        true
    }

    fn saving(&self, key: &KeyView<'_>) -> Bytes {
        let length = key.record.length.unwrap_or_default();
        Bytes(key.record.value.compressed.map_or(0, |stored| length.saturating_sub(stored.0)))
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String]
    }

    fn size_test(&self, _: Kind) -> Option<SizeTest> {
        Some(SizeTest::Length(self.min.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{broken_by, checks, facts};
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::record::ValueFacts;

    fn check_text(length: u64, compressed: Option<u64>, bytes: &[u8]) -> Option<u64> {
        let checks = checks("[rules]\n\"value.compressible\" = \"should\"\n");
        let violation = broken_by(&checks, "a:b", |record| {
            record.length = Some(length);
            let compressed = compressed.map(Bytes);
            record.value = facts(ValueFacts { compressed, ..ValueFacts::NONE });
            let bytes = [&[bytes.len() as u8], bytes].concat().leak();
            record.raw = Some(RawValue { value_type: ValueType::String, bytes, templates: Templates::NONE });
        });
        violation.map(|violation| violation.measured)
    }

    fn check(length: u64, compressed: Option<u64>) -> Option<u64> {
        check_text(length, compressed, b"text")
    }

    #[test]
    fn texts_that_compress_below_the_share_break_it() {
        assert_eq!(check(2048, Some(1023)), Some(499));
        assert_eq!(check(2048, Some(1024)), None);
        assert_eq!(check(u64::MAX, Some(u64::MAX)), None);
    }

    #[test]
    fn short_and_uncompressed_strings_pass() {
        assert_eq!(check(1023, Some(1)), None);
        assert_eq!(check(1024, Some(1)), Some(0));
        assert_eq!(check(1 << 20, None), None);
    }

    #[test]
    fn bytes_that_are_no_text_pass() {
        for bytes in [&b"\0\0\0\x80"[..], b"HYLL\x01\0\0\0", b"\x1f\x8b\x08\0", b"\xff\xff"] {
            assert_eq!(check_text(12_304, Some(900), bytes), None);
        }
    }
}
