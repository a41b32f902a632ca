//! Bloom filters (`BFRdbLoad` and `bloom_validate_integrity` of RedisBloom).

use super::{Double, END, Grammar, Integer, Items, Part, String};
use crate::error::Result;
use crate::wording::wording;

/// Items, filters, options, growth.
const HEAD: Part = &[Integer; 4];
/// Capacity, error rate, hashes, bits per entry, bits, their logarithm, the bits, items.
const FILTER: Part = &[Integer, Double, Integer, Double, Integer, Integer, String, Integer];

/// Natural logarithm of 2, as the module has it.
#[expect(clippy::approx_constant, reason = "its last digits may decide where the module rounds up")]
const LN_2: f64 = 0.693_147_180_559_945;

/// Reader of a chain of filters.
#[derive(Debug, Default)]
pub struct Bloom {
    is_begun: bool,
    filters: u64,
}

impl Grammar for Bloom {
    fn begin(&mut self, _: u64) -> Part {
        *self = Bloom::default();
        HEAD
    }

    fn part(&mut self, items: &Items) -> Result<Part> {
        if self.is_begun {
            check_filter(items)?;
            self.filters -= 1;
        } else {
            items.expect_some(1)?;
            *self = Bloom { is_begun: true, filters: items.number(1) };
        }
        Ok(if self.filters > 0 { FILTER } else { END })
    }
}

fn check_filter(items: &Items) -> Result<()> {
    let (rate, hashes, per_entry) = (items.double(1), items.number_32(2), items.double(3));
    if rate <= 0.0 || rate >= 1.0 {
        return items.fault(1, wording!("error rate {rate} is not between 0 and 1", "误判率 {rate} 不在 0 与 1 之间"));
    }
    if f64::from(hashes) != (LN_2 * per_entry).ceil() {
        return items.fault(
            2,
            wording!(
                "{hashes} hashes for {per_entry} bits per entry",
                "每个条目 {per_entry} 位，却有 {hashes} 个哈希函数"
            ),
        );
    }
    let (bits, logarithm, len) = (items.number(4), items.number(5) & 0xff, items.number(6));
    if bits == 0 || len.checked_mul(8) != Some(bits) {
        return items.fault(6, wording!("{len} bytes for {bits} bits", "{bits} 位却有 {len} 字节"));
    }
    if logarithm > 63 || logarithm > 0 && bits < 1 << logarithm {
        return items.fault(5, wording!("2^{logarithm} bits of {bits}", "共 {bits} 位，却声明 2^{logarithm} 位"));
    }
    Ok(())
}
