//! Bars of characters: a share as a length, beside its figure.

/// Width of the longest bar that has a column of its own.
pub(super) const WIDTH: u8 = 24;

/// Returns a bar as long as `part` is of `most`, to an eighth of a column; anything above zero shows. `most` takes `columns`.
pub(super) fn bar(part: u64, most: u64, columns: u8) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || most == 0 {
        return String::new();
    }
    let eighths = u128::from(part.min(most)) * u128::from(columns) * 8 / u128::from(most);
    // At most 8 × columns, as `part` is capped above.
    let eighths = usize::try_from(eighths).unwrap_or(0).max(1);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Like [`bar`], but as a thin line, to half a column: bars of rows one below the other do not run together.
pub(super) fn line(part: u64, most: u64, columns: u8) -> String {
    if part == 0 || most == 0 {
        return String::new();
    }
    let halves = u128::from(part.min(most)) * u128::from(columns) * 2 / u128::from(most);
    let halves = usize::try_from(halves).unwrap_or(0).max(1);
    format!("{}{}", "━".repeat(halves / 2), if halves % 2 == 1 { "╸" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_never_vanish() {
        assert_eq!(bar(0, 10, 24), "");
        assert_eq!(bar(1, 1_000_000, 24), "▏");
        assert_eq!(bar(10, 10, 24), "█".repeat(24));
        assert_eq!(bar(5, 10, 24), "█".repeat(12));
        assert_eq!(bar(u64::MAX, u64::MAX, 16).chars().count(), 16);
        assert_eq!(bar(7, 0, 24), "");
        assert_eq!([0, 1, 50, 55, 100].map(|part| line(part, 100, 10)), ["", "╸", "━━━━━", "━━━━━╸", "━━━━━━━━━━"]);
    }
}
