//! The auxiliary field `slot-info`, in which Valkey writes how many keys a slot of a cluster has: slot, keys, and keys with an expiry.
//! Newer servers add more numbers.

/// Name of the field.
pub const NAME: &[u8] = b"slot-info";
/// Number of slots of a cluster, equal in every version of every server.
pub const SLOTS: u16 = 16_384;
/// Numbers that every server writes.
const NUMBERS: usize = 3;
/// Digits of the longest number of 64 bits.
const MAX_DIGITS: usize = 20;

/// Returns whether Valkey loads a file with this value: it begins with three numbers and commas between them, as `sscanf` reads them,
/// with blanks before each.
pub fn is_loaded(text: &[u8]) -> bool {
    let mut rest = text;
    (0..NUMBERS).all(|place| {
        if place > 0 {
            let Some(behind) = rest.strip_prefix(b",") else { return false };
            rest = behind;
        }
        rest = rest.trim_ascii_start();
        rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = rest.get(digits..).unwrap_or_default();
        digits > 0
    })
}

/// Returns whether a server may have written this value, which is less than it loads: numbers and commas alone, of a slot that exists.
pub fn is_written(text: &[u8]) -> bool {
    let is_number = |part: &[u8]| (1..=MAX_DIGITS).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let mut parts = text.split(|byte| *byte == b',');
    let slot = parts.next().and_then(|part| std::str::from_utf8(part).ok()?.parse::<u64>().ok());
    slot.is_some_and(|slot| slot < u64::from(SLOTS)) && parts.clone().count() + 1 >= NUMBERS && parts.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_sizes_are_at_least_three_numbers() {
        for text in ["0,1,0", "16383,1,0", "7326,1,0,0"] {
            assert!(is_written(text.as_bytes()), "{text}");
        }
        for text in ["", "1", "1,2", "x,1,1", "1;2;3", "1,2,", "1,,3", "16384,1,0", "1,2,x", "-1,1,1"] {
            assert!(!is_written(text.as_bytes()), "{text}");
        }
    }
}
