//! Parses names, sizes and times as the page writes them.

/// Returns the text between backticks at the start, and what follows it.
pub fn code(text: &str) -> Option<(&str, &str)> {
    text.trim_start().strip_prefix('`')?.split_once('`')
}

/// Splits at a separator outside of backticks.
pub fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        quoted ^= byte == b'`';
        if !quoted && at >= start && text.is_char_boundary(at) && text[at..].starts_with(separator) {
            parts.push(text[start..at].trim());
            start = at + separator.len();
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// Parses a whole number with thousands separators.
pub fn number(text: &str) -> Option<u64> {
    text.trim().replace(',', "").parse().ok()
}

/// Parses a number of bytes such as `10 KB` or `5,000 B`.
pub fn bytes(text: &str) -> Option<u64> {
    let (count, unit) = text.trim().split_once(' ')?;
    let factor = match unit.trim() {
        "B" => 1,
        "KB" => 1 << 10,
        "MB" => 1 << 20,
        _ => return None,
    };
    Some(number(count)? * factor)
}

/// Parses a time span such as `90 d` or `30 s`, in milliseconds.
pub fn span(text: &str) -> Option<i64> {
    let (count, unit) = text.trim().split_once(' ')?;
    let factor = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(number(count)? as i64 * factor)
}

/// Returns the bytes of a name or value: escapes such as `\n`, `\u{200b}` and `\xff`, `{i}` for the number of the key,
/// `{uuid}` for a UUID of its own, and `{a×115}` for a repeated text.
pub fn fill(template: &str, number: u64) -> Vec<u8> {
    let mut filled = Vec::new();
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        let (piece, len) = match first {
            '\\' => escape(rest),
            '{' => placeholder(rest, number).unwrap_or((b"{".to_vec(), 1)),
            _ => (first.to_string().into_bytes(), first.len_utf8()),
        };
        filled.extend(piece);
        rest = &rest[len..];
    }
    filled
}

/// Returns the bytes of an escape and its length in the text.
fn escape(text: &str) -> (Vec<u8>, usize) {
    let hex = |digits: &str| u32::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("bad escape: {text}"));
    match text.as_bytes().get(1) {
        Some(b'n') => (b"\n".to_vec(), 2),
        Some(b'r') => (b"\r".to_vec(), 2),
        Some(b't') => (b"\t".to_vec(), 2),
        Some(b'\\') => (b"\\".to_vec(), 2),
        Some(b'|') => (b"|".to_vec(), 2),
        Some(b'x') => (vec![hex(&text[2..4]) as u8], 4),
        Some(b'u') => {
            let digits = text[3..].split('}').next().unwrap();
            let letter = char::from_u32(hex(digits)).unwrap();
            (letter.to_string().into_bytes(), digits.len() + 4)
        }
        _ => panic!("bad escape: {text}"),
    }
}

fn placeholder(text: &str, number: u64) -> Option<(Vec<u8>, usize)> {
    let inner = text[1..].split('}').next()?;
    let len = inner.len() + 2;
    let known = match (inner, inner.split_once('×')) {
        ("i", _) => number.to_string(),
        ("uuid", _) => uuid(number),
        (_, Some((piece, times))) => piece.repeat(times.parse().ok()?),
        _ => return None,
    };
    Some((known.into_bytes(), len))
}

/// Returns a random UUID that depends on the number alone.
fn uuid(number: u64) -> String {
    let (high, low) = (random(number), random(number ^ 0xABCD_EF01));
    let parts = [high >> 32, high >> 16 & 0xFFFF, high & 0xFFF | 0x4000, low >> 48 & 0x3FFF | 0x8000];
    format!("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", parts[0], parts[1], parts[2], parts[3], low & 0xFFFF_FFFF_FFFF)
}

/// Returns a random number that depends on the seed alone (SplitMix64).
pub fn random(seed: u64) -> u64 {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ state >> 31
}
