//! `rdblens keys`: writes one row per key.

use std::io::{self, IsTerminal, Write};

use super::args::{KeysArgs, RowFormat as RowFormatArg};
use super::delivery::{bom_without_csv, will_be, without_parquet};
use super::message::notice;
use super::output::{Outlet, Output};
use super::progress::ProgressLine;
use super::sources::{Reads, names_stdout};
use super::{ExitStatus, hints, plan, print_verdicts, written};
use crate::analyze::first_pass::require_files;
use crate::analyze::row_filter::NearPatterns;
use crate::analyze::verdict::FileVerdict;
use crate::error::{Error, Result};
use crate::render::escape_filter::Escapes;
#[cfg(feature = "parquet")]
use crate::render::rows::{ColumnChoice, ParquetFile};
use crate::render::rows::{RecordLines, RowColumns, RowFormat};
use crate::report::{Warning, WarningKind};
use crate::rows::{RowReader, RowsRead};

/// Reads the inputs and writes the rows.
pub fn run(args: &KeysArgs) -> Result<ExitStatus> {
    let (plan, conditions) = plan::rows_of(plan::read(&args.read)?, &args.rows, plan::mask(&args.mask)?)?;
    let inputs = &args.read.input.inputs;
    let format = format_of(args);
    check_format(args, format)?;
    // Before the inputs are opened, which would wait for the writer of a pipe.
    if plan.mask.is_some() {
        require_files(inputs, "--mask")?;
    }
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&plan.read.open);
    let mut out = outlet.open(args.output.output.as_deref())?;
    super::print_passed_over(&args.read.input);
    if let Some(warning) = wrong_ending(args).filter(|_| !args.read.input.quiet) {
        notice!("{warning}");
    }
    let bar = ProgressLine::new(args.read.input.quiet);
    let mut reader = RowReader::open(inputs, &plan, conditions, &bar)?;
    if args.read.selection.no_expired && !reader.has_reference() && !args.read.input.quiet {
        notice!("{}; --no-expired leaves out nothing", Warning::new(WarningKind::NoReferenceTime).wording.en);
    }
    let with = reader.row_columns();
    out.set_escapes(match format {
        RowFormatArg::Ndjson => Escapes::Json,
        RowFormatArg::Csv | RowFormatArg::Parquet => Escapes::Text,
    });
    let (read, rows) = match format {
        RowFormatArg::Ndjson => lines(&mut reader, RowFormat::Ndjson, with, &mut out)?,
        RowFormatArg::Csv => {
            if args.csv.bom {
                written(out.write_bom())?;
            }
            lines(&mut reader, RowFormat::Csv, with, &mut out)?
        }
        RowFormatArg::Parquet => parquet(&mut reader, with, &mut out)?,
    };
    let asked = &args.rows.patterns;
    // Other conditions may have excluded all keys of a pattern, and a damaged file may have been cut before them.
    let explains = read.rows == 0 && !args.read.input.quiet && plan.read.limit != Some(0);
    let near =
        (explains && read.selected > 0 && !asked.is_empty()).then(|| reader.setup.near_patterns(inputs, &plan, &bar));
    let passed_over = reader.setup.passed_over();
    drop(reader);
    drop(bar);
    if !args.read.input.quiet {
        hints::passed_over(&passed_over);
    }
    match near {
        Some(NearPatterns { known: false, near }) => hints::no_pattern(asked, &near),
        Some(NearPatterns { known: true, .. }) => {}
        None if read.selected == 0 => hints::no_keys(&args.read),
        None => {}
    }
    let closed = rows.is_err();
    written(rows.and_then(|()| out.finish()))?;
    if closed {
        return Ok(ExitStatus::Done);
    }
    let sound = read.verdicts.iter().all(FileVerdict::is_sound);
    print_verdicts(&read.verdicts, args.read.input.quiet);
    Ok(if sound { ExitStatus::Done } else { ExitStatus::Incomplete })
}

/// Number of keys read, and the result of writing them.
type Streamed = Result<(RowsRead, io::Result<()>)>;

fn lines(reader: &mut RowReader<'_>, format: RowFormat, with: RowColumns, out: &mut Output) -> Streamed {
    let head = out.write_all(&RecordLines::head(format, with));
    let (read, rows) = reader.lines(format, |lines| out.write_all(lines))?;
    Ok((read, head.and(rows)))
}

#[cfg(feature = "parquet")]
fn parquet(reader: &mut RowReader<'_>, with: RowColumns, out: &mut Output) -> Streamed {
    let mut file = ParquetFile::new(out, with)?;
    let (read, rows) = reader.chunks(&ColumnChoice::all(with), |columns| file.add(columns))?;
    let rows = rows.and_then(|()| reader.install(|| file.finish()));
    Ok((read, rows))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &mut RowReader<'_>, _: RowColumns, _: &mut Output) -> Streamed {
    // Unreachable: `check_format` has refused Parquet before any input was opened.
    Err(io::Error::from(io::ErrorKind::Unsupported).into())
}

/// Returns the format asked for, or else that of the output's name.
fn format_of(args: &KeysArgs) -> RowFormatArg {
    let of_name = args.output.output.as_deref().and_then(RowFormatArg::of_name);
    args.format.or(of_name).unwrap_or(RowFormatArg::Ndjson)
}

/// Says that the file will not hold what its ending promises, if so.
fn wrong_ending(args: &KeysArgs) -> Option<String> {
    let (path, format) = (args.output.output.as_deref()?, args.format?);
    let of_name = RowFormatArg::of_name(path).filter(|of_name| *of_name != format)?;
    Some(will_be(path, format.name(), of_name.name()))
}

/// Refuses a byte order mark of other forms than CSV, and Parquet if it is not compiled in or if the output is a terminal.
fn check_format(args: &KeysArgs, format: RowFormatArg) -> Result<()> {
    if args.csv.bom && format != RowFormatArg::Csv {
        return Err(bom_without_csv());
    }
    if format != RowFormatArg::Parquet {
        return Ok(());
    }
    if cfg!(not(feature = "parquet")) {
        return Err(without_parquet("--format parquet"));
    }
    let to_stdout = args.output.output.as_deref().is_none_or(names_stdout);
    if to_stdout && io::stdout().is_terminal() {
        return Err(Error::usage("--format parquet: refusing to write binary data to a terminal")
            .with_hint("write to a file with -o, or to a pipe"));
    }
    Ok(())
}
