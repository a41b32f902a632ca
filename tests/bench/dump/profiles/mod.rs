//! Profiles of benchmark dumps: one kind of load per file.

mod giant;
mod large;
mod mix;
mod names;
mod nested;
mod packed;
mod small;
mod tables;
mod templates;
mod wide;
mod zeros;

use std::io::{Seek, Write};

use clap::ValueEnum;

use super::random::Random;
use super::{Keys, Scale};

/// Kind of load in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// Short strings under names with an id, 60 % of them with an expiry.
    Small,
    /// Small hashes, lists, sets and sorted sets in their compact encodings, compressed.
    Packed,
    /// Hash tables, skip lists, sets and lists of hundreds to millions of elements.
    Tables,
    /// Strings of 1 KB to 1 MB, half of them compressed.
    Large,
    /// As many patterns as names: the worst case for a tree of prefixes.
    Wide,
    /// Packed and tables interleaved, half of the bytes each.
    Mix,
    /// Values that contain dumps: the worst case for guessing record boundaries.
    Nested,
    /// Values that are mostly zeros, which read as empty strings under empty names.
    Zeros,
    /// Small compact hashes, which share their field names.
    Templates,
    /// One string and one hash that make up nearly the whole file.
    Giant,
    /// Short strings under names of ten families, by the shares that servers have of them.
    MixedNames,
    /// Short strings under `user:session:18273645`.
    NameNumbers,
    /// Short strings under `user_profile_18273645`.
    NameJoined,
    /// Short strings under `u:{18273645}:fr:m:77`, with a hash tag.
    NameTags,
    /// Short strings under `order:2026-11-17:18273645`.
    NameDates,
    /// Short strings under `product:kaze:molo`.
    NameWords,
    /// Short strings under `rate:limit:ip:10.1.2.3:77`.
    NameAddresses,
    /// Short strings under `user:kaze.molo@example.com`.
    NameMails,
    /// Short strings under `session:token:` and a UUID.
    NameUuids,
    /// Short strings under `cache:page:` and 32 hexadecimal digits.
    NameDigests,
    /// Short strings under `sess:` and 24 characters of base64.
    NameTokens,
}

/// Value type codes of the format.
mod code {
    pub const STRING: u8 = 0;
    pub const SET: u8 = 2;
    pub const HASH: u8 = 4;
    pub const ZSET: u8 = 5;
    pub const INTSET: u8 = 11;
    pub const HASH_LISTPACK: u8 = 16;
    pub const ZSET_LISTPACK: u8 = 17;
    pub const QUICKLIST: u8 = 18;
    pub const SET_LISTPACK: u8 = 20;
    pub const HASH_TEMPLATE: u8 = 30;
}

impl Profile {
    /// Returns the default size of a dump.
    pub fn default_scale(self) -> Scale {
        match self {
            Profile::Small | Profile::Wide | Profile::MixedNames => Scale::Keys(10_000_000),
            _ if self.name_family().is_some() => Scale::Keys(1_000_000),
            Profile::Giant => Scale::Bytes(1_610_612_736),
            _ => Scale::Bytes(1_200_000_000),
        }
    }

    /// Returns the first version of the format with the values of this profile: listpacks came with 10, compact hashes with 15.
    pub fn first_version(self) -> u8 {
        match self {
            Profile::Packed | Profile::Tables | Profile::Mix | Profile::Nested => 10,
            Profile::Templates => 15,
            _ => 9,
        }
    }

    /// Returns the family of names of a profile that has only one.
    fn name_family(self) -> Option<names::Family> {
        match self {
            Profile::NameNumbers => Some(names::Family::Numbers),
            Profile::NameJoined => Some(names::Family::Joined),
            Profile::NameTags => Some(names::Family::Tags),
            Profile::NameDates => Some(names::Family::Dates),
            Profile::NameWords => Some(names::Family::Words),
            Profile::NameAddresses => Some(names::Family::Addresses),
            Profile::NameMails => Some(names::Family::Mails),
            Profile::NameUuids => Some(names::Family::Uuids),
            Profile::NameDigests => Some(names::Family::Digests),
            Profile::NameTokens => Some(names::Family::Tokens),
            _ => None,
        }
    }

    pub(super) fn keys<W: Write + Seek>(self, scale: Scale, random: &mut Random) -> Box<dyn Keys<W>> {
        match self {
            Profile::Small => Box::new(small::Small::new(random)),
            Profile::Packed => Box::new(packed::Packed::new(scale, random)),
            Profile::Tables => Box::new(tables::Tables::new(scale, random)),
            Profile::Large => Box::new(large::Large::new(scale, random)),
            Profile::Wide => Box::new(wide::Wide::new(random)),
            Profile::Mix => Box::new(mix::Mix::new(scale, random)),
            Profile::Nested => Box::new(nested::Nested::new(random)),
            Profile::Zeros => Box::new(zeros::Zeros::new(random)),
            Profile::Templates => Box::new(templates::Templates::new(random)),
            Profile::Giant => Box::new(giant::Giant::new(scale, random)),
            _ => Box::new(names::Names::new(self.name_family(), random)),
        }
    }
}

impl Scale {
    /// Returns `largest`, but at most this share of the requested keys or bytes. Limits pools and single keys, so that
    /// a small dump takes no time and has more than a few keys.
    fn at_most(self, largest: u64, share_of_keys: u64, share_of_bytes: u64) -> u64 {
        let share = match self {
            Scale::Keys(keys) => keys / share_of_keys,
            Scale::Bytes(bytes) => bytes / share_of_bytes,
        };
        share.clamp(1, largest)
    }
}
