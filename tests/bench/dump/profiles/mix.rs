//! Small objects and large collections interleaved, as most servers have them.

use std::io::{self, Seek, Write};

use super::super::random::Random;
use super::super::writer::Writer;
use super::packed::Packed;
use super::tables::Tables;
use super::{Keys, Scale};

pub struct Mix {
    packed: Packed,
    tables: Tables,
    /// Bytes of tables written minus bytes of small objects.
    ahead: i64,
}

impl Mix {
    pub fn new(scale: Scale, random: &mut Random) -> Mix {
        Mix { packed: Packed::new(scale, random), tables: Tables::new(scale, random), ahead: 0 }
    }
}

impl<W: Write + Seek> Keys<W> for Mix {
    fn write(&mut self, out: &mut Writer<W>, random: &mut Random) -> io::Result<()> {
        let before = out.tally().bytes;
        let is_table = self.ahead <= 0;
        if is_table {
            self.tables.write(out, random)?;
        } else {
            self.packed.write(out, random)?;
        }
        let written = (out.tally().bytes - before) as i64;
        self.ahead += if is_table { written } else { -written };
        Ok(())
    }
}
