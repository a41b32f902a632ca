//! Cells of tables: raw values.

use std::borrow::Cow;

use super::Range;
use crate::record::Kind;
use crate::render::key_text;
use crate::report::{Example, Key, Severity, Unit};
use crate::units::{Bytes, Millis};

/// Untrusted name or text, raw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A key.
    Key(Key),
    /// A pattern of keys, with placeholders.
    Pattern(String),
    /// A prefix, a file, an entry of a list.
    Plain(String),
    /// Words rather than a name: an owner, a remark, a model.
    Words(String),
}

impl Name {
    /// Returns the name with everything that does not show made visible.
    pub fn visible(&self) -> Cow<'_, str> {
        match self {
            Name::Key(key) => key_text::shown(key).into(),
            Name::Pattern(text) => key_text::pattern(text),
            Name::Plain(text) | Name::Words(text) => key_text::text(text),
        }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No such figure. Columns of nothing else are left out.
    Absent,
    /// Intentionally empty.
    Blank,
    /// Words in the language of the document, made visible if they come from elsewhere.
    Text(String),
    /// A name.
    Name(Name),
    /// A count.
    Count(u64),
    /// A number that identifies something.
    Id(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// A fraction of 1.
    Share(f64),
    /// One number as a part of another.
    ShareOf(u64, u64),
    /// A relative change.
    Change {
        /// Before.
        from: u64,
        /// After.
        to: u64,
    },
    /// A difference of bytes, with the figures before and after where both are known.
    Difference {
        /// Bytes more; negative if less.
        bytes: i64,
        /// Before and after.
        of: Option<(u64, u64)>,
    },
    /// A measured value of a rule, in its unit.
    Measured {
        /// The value.
        number: u64,
        /// Its limit, if there is one.
        limit: Option<u64>,
        /// Unit of both.
        unit: Option<Unit>,
    },
    /// A limit of a rule, in its unit.
    Limit {
        /// The limit.
        number: u64,
        /// The measured value beside it, if there is one.
        measured: Option<u64>,
        /// Unit of both.
        unit: Option<Unit>,
    },
    /// A severity.
    Severity(Severity),
    /// A type of values.
    Kind(Kind),
    /// A point in time.
    Time(Millis),
    /// Time until an expiry.
    Left {
        /// The expiry, if there is one.
        at: Option<Millis>,
        /// The reference time, if it is known.
        now: Option<Millis>,
    },
    /// Sizes on a scale.
    Range(Range),
    /// A bar as long as one number is of another.
    Bar(u64, u64),
}

impl Cell {
    /// Returns a cell with a pattern.
    pub fn pattern(pattern: &str) -> Cell {
        Cell::Name(Name::Pattern(pattern.to_owned()))
    }

    /// Returns a cell with a name that is neither a key nor a pattern.
    pub fn plain(name: &str) -> Cell {
        Cell::Name(Name::Plain(name.to_owned()))
    }

    /// Returns a cell with untrusted words.
    pub fn words(text: &str) -> Cell {
        Cell::Name(Name::Words(text.to_owned()))
    }

    /// Returns a cell with untrusted words, if there are any.
    pub fn maybe_words(text: Option<&str>) -> Cell {
        text.map_or(Cell::Absent, Cell::words)
    }

    /// Returns a count, or an absent cell for zero.
    pub fn nonzero(count: u64) -> Cell {
        if count > 0 { Cell::Count(count) } else { Cell::Absent }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(key_text::text(text).into_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::from(text.as_str())
    }
}

impl From<&Key> for Cell {
    fn from(key: &Key) -> Self {
        Cell::Name(Name::Key(key.clone()))
    }
}

impl From<&Example> for Cell {
    fn from(example: &Example) -> Self {
        Cell::from(&example.key)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Cell::Count(count)
    }
}

impl From<Bytes> for Cell {
    fn from(bytes: Bytes) -> Self {
        Cell::Bytes(bytes)
    }
}

impl From<Kind> for Cell {
    fn from(kind: Kind) -> Self {
        Cell::Kind(kind)
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Cell::Absent, Into::into)
    }
}
