//! `value.compressible`: long strings that compress well are compressed by the client.
//!
//! Measured: size of a string in the dump, which servers compress with LZF, as share of its length; gzip or zstd in the
//! client compress better. Nothing is decompressed: both lengths precede the data. Dumps written with `rdbcompression no`
//! and elements of collections give no information. HyperLogLogs do not count, since the server interprets them; bitmaps
//! cannot be distinguished from other strings and do. The saving is the difference, before rounding by the allocator.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "value.compressible",
    severity: Severity::Should,
    problem: Text {
        en: "string of `min` bytes or more that compresses to less than `share`",
        zh: "不小于 min 字节的字符串压缩后不足 share",
    },
    what: Text {
        en: "no string of `min` bytes or more compresses to less than `share`",
        zh: "不小于 min 字节的字符串压缩后不应低于 share",
    },
    why: Text {
        en: "In memory and on the network a string takes its full length; only the dump is compressed. Text such as HTML, \
             JSON or logs compresses to a fraction of its size at little CPU cost for the clients.",
        zh: "字符串在内存和网络中按原始长度占用，只有 RDB 文件是压缩的。HTML、JSON、日志等文本可压缩到几分之一，客户端只需少量 CPU。",
    },
    fix: Text {
        en: "compress these values in the client (gzip, zstd, LZ4) and mark them so that old values remain readable",
        zh: "在客户端压缩（gzip、zstd、LZ4）后写入，并加标记以兼容旧数据",
    },
    params: &[
        ParamSpec {
            name: "min",
            what: Text { en: "shorter strings are not checked", zh: "更短的字符串不检查" },
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
    fails: RuleSample::of(&[SampleKey { disk: 900, ..SampleKey::of("cache:page:{i}", Kind::String, 5_000, 5_200) }]),
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
        breaks.then_some(Violation { measured, allowed: self.share })
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::{Record, ValueFacts};

    const RULE: CompressibleRule = CompressibleRule { min: 1024, share: 500 };

    fn check(length: u64, compressed: Option<u64>) -> Option<u64> {
        let value = ValueFacts { compressed: compressed.map(Bytes), ..ValueFacts::default() };
        let record = Record { length: Some(length), value, ..record(b"a:b") };
        check_record(&RULE, &record, &Context::default()).map(|violation| violation.measured)
    }

    #[test]
    fn strings_that_compress_below_the_share_break_it() {
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
}
