//! Decimal digits of a score as servers from 7.2 on write them: by Grisu2 (F. Loitsch, "Printing Floating-Point Numbers
//! Quickly and Accurately with Integers", 2010).
//!
//! The digits always identify the number, but in about one number of a thousand they are not the fewest, or not the nearest of
//! that length: the interval of numbers that round to it is shrunk by the error of 64-bit arithmetic. So that lengths are exact,
//! this makes the same choices as `fpconv` where the paper leaves some: the power of ten, and `<` in fractions.

/// Digits of a number: `digits * 10^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// All digits as a number.
    pub digits: u64,
    /// Number of digits, at most 17.
    pub count: u8,
    /// Power of ten of the last digit.
    pub exponent: i32,
}

/// Exponent of the first of [`POWERS`].
const FIRST_POWER: i32 = -348;
/// Difference of the exponents of neighbours in [`POWERS`].
const POWER_STEP: i32 = 8;

/// Powers of ten, 10^-348, 10^-340 … 10^340: their upper 64 bits, rounded.
#[rustfmt::skip]
const POWERS: [u64; 87] = [
    0xFA8F_D5A0_081C_0288, 0xBAAE_E17F_A23E_BF76, 0x8B16_FB20_3055_AC76, 0xCF42_894A_5DCE_35EA,
    0x9A6B_B0AA_5565_3B2D, 0xE61A_CF03_3D1A_45DF, 0xAB70_FE17_C79A_C6CA, 0xFF77_B1FC_BEBC_DC4F,
    0xBE56_91EF_416B_D60C, 0x8DD0_1FAD_907F_FC3C, 0xD351_5C28_3155_9A83, 0x9D71_AC8F_ADA6_C9B5,
    0xEA9C_2277_23EE_8BCB, 0xAECC_4991_4078_536D, 0x823C_1279_5DB6_CE57, 0xC210_9436_4DFB_5637,
    0x9096_EA6F_3848_984F, 0xD774_85CB_2582_3AC7, 0xA086_CFCD_97BF_97F4, 0xEF34_0A98_172A_ACE5,
    0xB238_67FB_2A35_B28E, 0x84C8_D4DF_D2C6_3F3B, 0xC5DD_4427_1AD3_CDBA, 0x936B_9FCE_BB25_C996,
    0xDBAC_6C24_7D62_A584, 0xA3AB_6658_0D5F_DAF6, 0xF3E2_F893_DEC3_F126, 0xB5B5_ADA8_AAFF_80B8,
    0x8762_5F05_6C7C_4A8B, 0xC9BC_FF60_34C1_3053, 0x964E_858C_91BA_2655, 0xDFF9_7724_7029_7EBD,
    0xA6DF_BD9F_B8E5_B88F, 0xF8A9_5FCF_8874_7D94, 0xB944_7093_8FA8_9BCF, 0x8A08_F0F8_BF0F_156B,
    0xCDB0_2555_6531_31B6, 0x993F_E2C6_D07B_7FAC, 0xE45C_10C4_2A2B_3B06, 0xAA24_2499_6973_92D3,
    0xFD87_B5F2_8300_CA0E, 0xBCE5_0864_9211_1AEB, 0x8CBC_CC09_6F50_88CC, 0xD1B7_1758_E219_652C,
    0x9C40_0000_0000_0000, 0xE8D4_A510_0000_0000, 0xAD78_EBC5_AC62_0000, 0x813F_3978_F894_0984,
    0xC097_CE7B_C907_15B3, 0x8F7E_32CE_7BEA_5C70, 0xD5D2_38A4_ABE9_8068, 0x9F4F_2726_179A_2245,
    0xED63_A231_D4C4_FB27, 0xB0DE_6538_8CC8_ADA8, 0x83C7_088E_1AAB_65DB, 0xC45D_1DF9_4271_1D9A,
    0x924D_692C_A61B_E758, 0xDA01_EE64_1A70_8DEA, 0xA26D_A399_9AEF_774A, 0xF209_787B_B47D_6B85,
    0xB454_E4A1_79DD_1877, 0x865B_8692_5B9B_C5C2, 0xC835_53C5_C896_5D3D, 0x952A_B45C_FA97_A0B3,
    0xDE46_9FBD_99A0_5FE3, 0xA59B_C234_DB39_8C25, 0xF6C6_9A72_A398_9F5C, 0xB7DC_BF53_54E9_BECE,
    0x88FC_F317_F222_41E2, 0xCC20_CE9B_D35C_78A5, 0x9816_5AF3_7B21_53DF, 0xE2A0_B5DC_971F_303A,
    0xA8D9_D153_5CE3_B396, 0xFB9B_7CD9_A4A7_443C, 0xBB76_4C4C_A7A4_4410, 0x8BAB_8EEF_B640_9C1A,
    0xD01F_EF10_A657_842C, 0x9B10_A4E5_E991_3129, 0xE710_9BFB_A19C_0C9D, 0xAC28_20D9_623B_F429,
    0x8044_4B5E_7AA7_CF85, 0xBF21_E440_03AC_DD2D, 0x8E67_9C2F_5E44_FF8F, 0xD433_179D_9C8C_B841,
    0x9E19_DB92_B4E3_1BA9, 0xEB96_BF6E_BADF_77D9, 0xAF87_023B_9BF0_EE6B,
];

/// A number as `significand * 2^exponent`.
#[derive(Debug, Clone, Copy)]
struct Binary {
    significand: u64,
    exponent: i32,
}

impl Binary {
    /// Shifts the significand so that its uppermost bit is set.
    fn normalized(self) -> Binary {
        let shift = self.significand.leading_zeros();
        Binary { significand: self.significand << shift, exponent: self.exponent - shift.cast_signed() }
    }

    /// Returns the upper 64 bits of the product, rounded.
    fn times(self, other: Binary) -> Binary {
        let product = u128::from(self.significand) * u128::from(other.significand) + (1 << 63);
        Binary { significand: (product >> 64) as u64, exponent: self.exponent + other.exponent + 64 }
    }
}

/// Returns the smallest power of ten of the table that leaves at most 60 bits of fraction in a product with a number of this
/// exponent, and the exponent of ten; at least 32 bits are left then.
fn power(exponent: i32) -> (Binary, i32) {
    // 78913 / 2^18 is the logarithm of 2 to base 10, 217706 / 2^16 that of 10 to base 2, as exact as these exponents need.
    let bits = -61 - exponent;
    let least = ((bits * 78_913) >> 18) + i32::from(bits != 0);
    let place = usize::try_from((least - FIRST_POWER + POWER_STEP - 1) / POWER_STEP).unwrap_or(0).min(POWERS.len() - 1);
    let ten = FIRST_POWER + POWER_STEP * i32::try_from(place).unwrap_or(0);
    (Binary { significand: POWERS[place], exponent: ((ten * 217_706) >> 16) - 63 }, ten)
}

/// Returns the digits of a number, which must be finite and positive.
pub fn decimal(number: f64) -> Decimal {
    const HIDDEN: u64 = 1 << 52;
    let bits = number.to_bits();
    let (fraction, biased) = (bits & (HIDDEN - 1), bits >> 52 & 0x7FF);
    let exact = match biased {
        0 => Binary { significand: fraction.max(1), exponent: -1074 },
        _ => Binary { significand: fraction | HIDDEN, exponent: i32::try_from(biased).unwrap_or(0) - 1075 },
    };
    // Halfway to the next number, and to the one before, which is nearer if it has another exponent.
    let above = Binary { significand: (exact.significand << 1) + 1, exponent: exact.exponent - 1 }.normalized();
    let nearer = 1 + u32::from(exact.significand == HIDDEN);
    let below = (exact.significand << nearer) - 1;
    let below = Binary {
        significand: below << (exact.exponent - nearer.cast_signed() - above.exponent),
        exponent: above.exponent,
    };
    let (power, ten) = power(above.exponent);
    let (exact, above, below) = (exact.normalized().times(power), above.times(power), below.times(power));
    // One unit less on both sides, as each product may be off by one.
    let most = Binary { significand: above.significand - 1, ..above };
    let range = most.significand - (below.significand + 1);
    let (digits, count, exponent) = shortest(most, range, most.significand - exact.significand);
    Decimal { digits, count, exponent: exponent - ten }
}

/// Generates digits of `most` until what is left out is within `range`, then lowers the last one towards the number, which is
/// `distance` below `most`. Returns the digits, their number and the power of ten of the last one.
fn shortest(most: Binary, range: u64, distance: u64) -> (u64, u8, i32) {
    let shift = most.exponent.unsigned_abs();
    let one = 1u64 << shift;
    let (mut whole, mut fraction) = (most.significand >> shift, most.significand & (one - 1));
    let (mut digits, mut count) = (0u64, 0u8);
    let mut push = |digit: u64| {
        if digit != 0 || count != 0 {
            digits = digits * 10 + digit;
            count += 1;
        }
    };
    // Below 2^32: at most ten digits.
    let mut unit = 1_000_000_000;
    for exponent in (0..10).rev() {
        push(whole / unit);
        whole %= unit;
        let rest = (whole << shift) + fraction;
        if rest <= range {
            return (digits - surplus(range, rest, unit << shift, distance), count, exponent);
        }
        unit /= 10;
    }
    // The range is below one here, and grows tenfold with each digit.
    let (mut range, mut distance, mut exponent) = (range, distance, 0);
    loop {
        (fraction, range, distance) = (fraction * 10, range * 10, distance * 10);
        exponent -= 1;
        push(fraction >> shift);
        fraction &= one - 1;
        if fraction < range {
            return (digits - surplus(range, fraction, one, distance), count, exponent);
        }
    }
}

/// Returns by how much the last digit can be lowered to come nearer to the number without leaving the range.
fn surplus(range: u64, mut rest: u64, unit: u64, distance: u64) -> u64 {
    let mut surplus = 0;
    while rest < distance
        && range - rest >= unit
        && (rest + unit < distance || distance - rest > rest + unit - distance)
    {
        rest += unit;
        surplus += 1;
    }
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_those_of_the_mantissas_of_numbers() {
        // Up to 10^22 doubles are exact.
        for ten in [-4i32, 4, 12, 20] {
            let place = usize::try_from((ten - FIRST_POWER) / POWER_STEP).unwrap();
            let exact = 10f64.powi(ten).to_bits() & ((1 << 52) - 1) | 1 << 52;
            assert!(POWERS[place].abs_diff(exact << 11) <= 1 << 10, "{ten}");
        }
        assert!(POWERS.iter().all(|power| power.leading_zeros() == 0));
    }

    /// As redis-server 8.2 and valkey-server 9.1 write them.
    #[test]
    fn digits_are_those_of_servers() {
        for (number, digits, exponent) in [
            (76.927_049_554_756_6, 7_692_704_955_475_659, -14),
            (0.1, 1, -1),
            (1e23, 9_999_999_999_999_999, 7),
            (5e-324, 5, -324),
            (f64::MIN_POSITIVE, 22_250_738_585_072_014, -324),
            (f64::MAX, 17_976_931_348_623_157, 292),
            (9_223_372_036_854_775_807.0, 9_223_372_036_854_776, 3),
        ] {
            let decimal = decimal(number);
            assert_eq!((decimal.digits, decimal.exponent), (digits, exponent), "{number:e}");
            assert_eq!(usize::from(decimal.count), digits.to_string().len(), "{number:e}");
        }
    }

    #[test]
    fn nearly_all_numbers_have_the_fewest_digits() {
        let mut longer = 0;
        for step in 0..20_000u32 {
            let number = f64::from(step).sqrt() + 0.1;
            let fewest = format!("{number:e}").split('e').next().unwrap().bytes().filter(u8::is_ascii_digit).count();
            longer += u32::from(usize::from(decimal(number).count) > fewest);
        }
        assert!((1..100).contains(&longer), "{longer}");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(4096))]
        #[test]
        fn digits_identify_any_number(bits in 1u64..0x7FF0_0000_0000_0000) {
            let number = f64::from_bits(bits);
            let Decimal { digits, count, exponent } = decimal(number);
            proptest::prop_assert_eq!(format!("{digits}e{exponent}").parse::<f64>().unwrap(), number);
            proptest::prop_assert_eq!(digits.to_string().len(), usize::from(count));
            proptest::prop_assert!(count <= 17);
        }
    }
}
