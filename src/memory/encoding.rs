//! In-memory encodings of values, as `OBJECT ENCODING` names them.

use std::fmt;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An in-memory encoding, as `OBJECT ENCODING` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the servers")]
pub enum Encoding {
    Int,
    Embstr,
    Raw,
    Intset,
    Listpack,
    Listpackex,
    Ziplist,
    Zipmap,
    Linkedlist,
    Quicklist,
    Hashtable,
    Skiplist,
    Stream,
    #[serde(rename = "template-listpack")]
    TemplateListpack,
    #[serde(rename = "template-array")]
    TemplateArray,
    #[serde(rename = "sliced-array")]
    Sliced,
    /// Servers answer `raw` for module values of old and `unknown` elsewhere; reports show `unknown`.
    Unknown,
}

impl Encoding {
    /// Every encoding, in the order of the enum.
    pub const ALL: [Encoding; 17] = [
        Encoding::Int,
        Encoding::Embstr,
        Encoding::Raw,
        Encoding::Intset,
        Encoding::Listpack,
        Encoding::Listpackex,
        Encoding::Ziplist,
        Encoding::Zipmap,
        Encoding::Linkedlist,
        Encoding::Quicklist,
        Encoding::Hashtable,
        Encoding::Skiplist,
        Encoding::Stream,
        Encoding::TemplateListpack,
        Encoding::TemplateArray,
        Encoding::Sliced,
        Encoding::Unknown,
    ];

    /// Returns whether a hash of this encoding shares its field names with others, so that its content may exceed its memory.
    #[inline]
    pub const fn shares_names(self) -> bool {
        matches!(self, Encoding::TemplateListpack | Encoding::TemplateArray)
    }

    /// The server's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
            Encoding::Intset => "intset",
            Encoding::Listpack => "listpack",
            Encoding::Listpackex => "listpackex",
            Encoding::Ziplist => "ziplist",
            Encoding::Zipmap => "zipmap",
            Encoding::Linkedlist => "linkedlist",
            Encoding::Quicklist => "quicklist",
            Encoding::Hashtable => "hashtable",
            Encoding::Skiplist => "skiplist",
            Encoding::Stream => "stream",
            Encoding::TemplateListpack => "template-listpack",
            Encoding::TemplateArray => "template-array",
            Encoding::Sliced => "sliced-array",
            Encoding::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
