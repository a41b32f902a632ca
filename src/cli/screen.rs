//! `--color` and `--wide`: how what people read looks.

use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};

use super::output::Output;
use crate::render::{Lang, TableOptions};

/// Whether there is colour.
#[derive(Debug, Default, Args)]
pub struct ColorArgs {
    /// When to use colour
    ///
    /// auto: on a terminal, unless NO_COLOR is set; elsewhere only if CLICOLOR_FORCE is. Nothing is told by colour alone.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto, help_heading = "Output")]
    pub color: ColorArg,
}

/// When there is colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// Where it is seen
    #[default]
    Auto,
    /// Into files and pipes, too
    Always,
    /// Nowhere
    Never,
}

impl ColorArgs {
    /// Whether what goes there has colour.
    pub fn on(&self, out: &Output) -> bool {
        match self.color {
            ColorArg::Always => true,
            ColorArg::Never => false,
            ColorArg::Auto => {
                let choice = match out {
                    Output::Stdout(_) => AutoStream::choice(&io::stdout()),
                    Output::Device(out) => AutoStream::choice(out.get_ref()),
                    Output::File(..) => ColorChoice::Never,
                };
                choice != ColorChoice::Never
            }
        }
    }
}

/// How tables look.
#[derive(Debug, Default, Args)]
pub struct ScreenArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "the names say it")]
    pub color: ColorArgs,
    /// Shorten no name, leave out no column, and break no line
    #[arg(long, help_heading = "Output")]
    pub wide: bool,
}

impl ScreenArgs {
    /// How a table looks there: as wide as a terminal and with bars, or the same everywhere. `rows` is what the user asked
    /// for, if anything.
    pub fn table(&self, out: &Output, rows: Option<usize>, lang: Lang) -> TableOptions {
        let usual = TableOptions::default();
        let terminal = out.is_terminal();
        TableOptions {
            width: if terminal { comfy_table::Table::new().width() } else { usual.width },
            wide: self.wide,
            ansi: self.color.on(out),
            bars: terminal,
            rows: rows.unwrap_or(usual.rows),
            lang,
        }
    }
}
