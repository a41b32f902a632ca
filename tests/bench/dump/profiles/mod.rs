//! What a dump is full of: one kind of load a file.

mod small;

use std::io::{Seek, Write};

use clap::ValueEnum;

use super::random::Random;
use super::{Keys, Scale};

/// What a dump is full of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// Short strings under names with an id, 60 % of them with a time to live.
    Small,
}

impl Profile {
    /// How large a dump is when nobody says.
    pub fn default_scale(self) -> Scale {
        match self {
            Profile::Small => Scale::Keys(10_000_000),
        }
    }

    pub(super) fn keys<W: Write + Seek>(self, scale: Scale, random: &mut Random) -> Box<dyn Keys<W>> {
        let _ = scale;
        match self {
            Profile::Small => Box::new(small::Small::new(random)),
        }
    }
}
