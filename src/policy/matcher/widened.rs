//! Ids that look like those of a narrower class by chance, and short numbers: a declared name matches them, too.

/// Classes within a name whose ids may look like those of a wider class.
const NARROW: [&str; 2] = ["{date}", "{int}"];

/// Class of numbers, which patterns show from four digits on beside letters: `u7`, `u{int}`.
const NUMBER: &str = "{int}";

/// Most ids of a name that are taken for those of a wider class. Names with more are seldom declared, and their combinations many.
const MAX_WIDENED: usize = 4;

/// Returns the name with wider classes in place of some of its ids and short numbers, in all combinations.
pub(super) fn widened(name: &[u8]) -> Vec<Vec<u8>> {
    let (mut names, mut rest, mut ids) = (vec![Vec::with_capacity(name.len())], name, 0);
    while let Some(place) = rest.iter().position(|byte| *byte == b'{' || byte.is_ascii_digit()) {
        let (before, behind) = rest.split_at(place);
        let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let class = NARROW.iter().find(|class| behind.starts_with(class.as_bytes()));
        let (own, wider) = match class {
            Some(class) => (class.len(), wider(class.as_bytes())),
            None if digits > 0 => (digits, &[NUMBER][..]),
            None => (1, &[][..]),
        };
        let wider = if ids < MAX_WIDENED { wider } else { &[] };
        ids += usize::from(!wider.is_empty());
        let own = &behind[..own];
        names.iter_mut().for_each(|name| name.extend_from_slice(before));
        let with = |class: &[u8]| names.iter().map(|name| [name, class].concat()).collect::<Vec<_>>();
        let more: Vec<_> = wider.iter().flat_map(|class| with(class.as_bytes())).collect();
        names = with(own);
        names.extend(more);
        rest = &behind[own.len()..];
    }
    names.iter_mut().for_each(|name| name.extend_from_slice(rest));
    names.remove(0);
    names
}

/// Returns the wider classes whose ids may look like those of this class, the narrowest first.
pub(super) fn wider(class: &[u8]) -> &'static [&'static str] {
    match class {
        b"{date}" => &["{int}", "{hex}"],
        b"{int}" => &["{hex}"],
        _ => &[],
    }
}
