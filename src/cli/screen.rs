//! `--color` and `--wide`: appearance of output for people.

use clap::{Args, ValueEnum};

use super::output::Output;
use crate::render::{Lang, TableOptions};

/// Flag that controls colour.
#[derive(Debug, Default, Args)]
pub struct ColorArgs {
    /// When to use colour
    ///
    /// auto uses colour on a terminal unless NO_COLOR is set, and elsewhere only if CLICOLOR_FORCE is set, but not to 0. No
    /// information is conveyed by colour alone.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto, help_heading = "Output")]
    pub color: ColorArg,
}

/// Values of `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal only
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Never
    Never,
}

impl ColorArgs {
    /// Returns true if output to `out` is coloured.
    pub fn on(&self, out: &Output) -> bool {
        match self.color {
            ColorArg::Always => true,
            ColorArg::Never => false,
            ColorArg::Auto => out.suits_colour(),
        }
    }
}

/// Flags that control the layout of tables.
#[derive(Debug, Default, Args)]
pub struct ScreenArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "the type of a flattened group documents it")]
    pub color: ColorArgs,
    /// Show full names and all columns, and do not wrap lines
    #[arg(long, help_heading = "Output")]
    pub wide: bool,
}

/// Returns the columns of the terminal that `out` is; `None` elsewhere.
pub fn width(out: &Output) -> Option<usize> {
    out.is_terminal().then(columns).flatten().map(usize::from)
}

/// Returns the columns of the terminal. Some say that they have none, which means that they do not know.
fn columns() -> Option<u16> {
    comfy_table::Table::new().width().filter(|columns| *columns > 0)
}

impl ScreenArgs {
    /// Returns the table options for `out`: terminal width and bars on a terminal, fixed width and no bars elsewhere. `rows` is
    /// the row limit if the user gave one.
    pub fn table(&self, out: &Output, rows: Option<usize>, lang: Lang) -> TableOptions {
        let usual = TableOptions::default();
        let terminal = out.is_terminal();
        TableOptions {
            width: if terminal { columns().or(usual.width) } else { usual.width },
            wide: self.wide,
            ansi: self.color.on(out),
            bars: terminal,
            rows: rows.unwrap_or(usual.rows),
            lang,
            extent: usual.extent,
        }
    }
}
