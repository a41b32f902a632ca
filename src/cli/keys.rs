//! `rdblens keys`: writes one row per key.

use std::io::{self, IsTerminal, Write};

use rayon::ThreadPool;

use super::args::{KeysArgs, RowFormat as RowFormatArg};
use super::delivery::bom_without_csv;
use super::message::notice;
use super::output::{Outlet, Output};
use super::progress::ProgressLine;
use super::sources::{Reads, names_stdout};
use super::{ExitStatus, hints, plan, print_error, written};
use crate::analyze::first_pass::require_files;
use crate::analyze::read::feed::Feed;
use crate::analyze::read::file::InputFile;
use crate::analyze::read::reader::ReadOptions;
use crate::analyze::read::tally::Tallies;
use crate::analyze::row_filter::{NearPatterns, RowFilter, RowRoom, RowSetup};
use crate::analyze::rows::write_rows;
use crate::analyze::verdict::{FileVerdict, verdicts};
use crate::analyze::{Snapshot, pool};
use crate::error::{Error, Result};
use crate::record::Record;
use crate::render::gate::Escapes;
#[cfg(feature = "parquet")]
use crate::render::rows::{Columns, ParquetFile};
use crate::render::rows::{RecordLines, RecordRow, RowColumns, RowFormat, RowMaker};

/// Reads the inputs and writes the rows.
pub fn run(args: &KeysArgs) -> Result<ExitStatus> {
    let (plan, conditions) = plan::rows_of(plan::read(&args.read)?, &args.rows, plan::mask(&args.mask)?)?;
    let inputs = &args.read.input.inputs;
    check_format(args)?;
    // Before the inputs are opened, which would wait for the writer of a pipe.
    if plan.mask.is_some() {
        require_files(inputs, "--mask")?;
    }
    let mut out = Outlet::new(&args.output, args.sources()).open(args.output.output.as_deref())?;
    super::print_passed_over(&args.read.input);
    let bar = ProgressLine::new(args.read.input.quiet);
    let mut snapshot = Snapshot::open(inputs, &plan.read, &bar)?;
    let columns = if conditions.policy.is_some() { RowColumns::Labeled } else { RowColumns::Facts };
    let setup = RowSetup::new(inputs, &plan, conditions, &snapshot, &bar)?;
    let (masker, filter) = (setup.masker(), setup.filter()?);
    let maker = RowMaker::new(setup.classifier(), masker.as_ref());
    let reading = snapshot.reading(&plan.read);
    let sharded = snapshot.is_sharded();
    let threads = pool(plan.read.threads)?;
    let mut feed = snapshot.feed(1, &bar);
    let mut stream = RowStream {
        feed: &mut feed,
        reading,
        limit: plan.read.limit,
        bar: &bar,
        threads: &threads,
        maker,
        filter: filter.as_ref(),
        columns,
        name_files: sharded,
        written: 0,
    };
    out.set_escapes(match args.format {
        RowFormatArg::Ndjson => Escapes::Json,
        RowFormatArg::Csv | RowFormatArg::Parquet => Escapes::Text,
    });
    let (tallies, rows) = match args.format {
        RowFormatArg::Ndjson => stream.lines(RowFormat::Ndjson, &mut out),
        RowFormatArg::Csv => {
            if args.csv.bom {
                written(out.write_bom())?;
            }
            stream.lines(RowFormat::Csv, &mut out)
        }
        RowFormatArg::Parquet => stream.parquet(&mut out),
    };
    let written_rows = stream.written;
    let endings = feed.into_endings();
    let selected: u64 = tallies.values().map(|tally| tally.selected).sum();
    let asked = &args.rows.patterns;
    // Other conditions may have excluded all keys of a pattern, and a damaged file may have been cut before them.
    let explains = written_rows == 0 && !args.read.input.quiet && plan.read.limit != Some(0);
    let near = (explains && selected > 0 && !asked.is_empty()).then(|| setup.near_patterns(inputs, &plan, &bar));
    drop(bar);
    match near {
        Some(NearPatterns { known: false, near }) => hints::no_pattern(asked, &near),
        Some(NearPatterns { known: true, .. }) => {}
        None if selected == 0 => hints::no_keys(&args.read),
        None => {}
    }
    let closed = rows.is_err();
    written(rows.and_then(|()| out.finish()))?;
    if closed {
        return Ok(ExitStatus::Done);
    }
    let verdicts = verdicts(snapshot.facts, endings, tallies, reading.checksum);
    let sound = verdicts.iter().all(FileVerdict::is_sound);
    if !args.read.input.quiet {
        for verdict in &verdicts {
            verdict.fault.iter().for_each(print_error);
            verdict.damage.iter().for_each(print_error);
            verdict.warnings.iter().for_each(|warning| notice!("{}", warning.wording.en));
        }
    }
    Ok(if sound { ExitStatus::Done } else { ExitStatus::Incomplete })
}

/// Writer of rows, from the feed of records to the output.
struct RowStream<'s, 'f, 'p> {
    feed: &'s mut Feed<'f>,
    reading: ReadOptions<'p>,
    limit: Option<u64>,
    bar: &'s ProgressLine,
    threads: &'s ThreadPool,
    maker: RowMaker<'p>,
    filter: Option<&'p RowFilter<'p>>,
    columns: RowColumns,
    /// True if rows contain the name of their file.
    name_files: bool,
    /// Rows written so far.
    written: u64,
}

/// Tallies of each file, and the result of writing the rows.
type Streamed = (Tallies, io::Result<()>);

impl RowStream<'_, '_, '_> {
    fn lines(&mut self, format: RowFormat, out: &mut Output) -> Streamed {
        let head = out.write_all(&RecordLines::head(format, self.columns));
        let push = |lines: &mut RecordLines, row: &RecordRow<'_>| lines.push(row, format);
        let (tallies, rows) = self.write(push, |lines, count| out.write_all(lines.first(count)));
        (tallies, head.and(rows))
    }

    #[cfg(feature = "parquet")]
    fn parquet(&mut self, out: &mut Output) -> Streamed {
        let mut file = match ParquetFile::new(out, self.columns) {
            Ok(file) => file,
            Err(error) => return (Tallies::new(), Err(error)),
        };
        let (tallies, rows) = self.write(Columns::push, |columns, count| file.add(columns, count));
        (tallies, rows.and_then(|()| self.threads.install(|| file.finish())))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(&mut self, _: &mut Output) -> Streamed {
        // Unreachable: `check_format` has refused Parquet before any input was opened.
        (Tallies::new(), Err(io::ErrorKind::Unsupported.into()))
    }

    fn write<T: Default + Send>(
        &mut self,
        push: impl Fn(&mut T, &RecordRow<'_>) + Sync,
        mut out: impl FnMut(T, usize) -> io::Result<()> + Send,
    ) -> Streamed {
        let (maker, filter, name_files) = (self.maker, self.filter, self.name_files);
        let row = |record: &Record<'_>, file: &InputFile, room: &mut RowRoom, rows: &mut T| {
            match filter {
                None => maker.classify(record, &mut room.pattern),
                Some(filter) if !filter.takes(record, room) => return false,
                Some(_) => {}
            }
            let (source, labels) =
                (name_files.then_some(file.name.as_str()), filter.and_then(|filter| filter.labels(room)));
            maker.row(record, &room.pattern, source, labels, |row| push(rows, row));
            true
        };
        let (feed, reading, limit, bar) = (&mut *self.feed, self.reading, self.limit, self.bar);
        let written = &mut self.written;
        let counted = |rows: T, count: usize| {
            *written += count as u64;
            out(rows, count)
        };
        self.threads.install(|| write_rows(feed, reading, limit, bar, row, counted))
    }
}

/// Refuses a byte order mark of other forms than CSV, and Parquet if it is not compiled in or if the output is a terminal.
fn check_format(args: &KeysArgs) -> Result<()> {
    if args.csv.bom && args.format != RowFormatArg::Csv {
        return Err(bom_without_csv());
    }
    if args.format != RowFormatArg::Parquet {
        return Ok(());
    }
    if cfg!(not(feature = "parquet")) {
        return Err(Error::usage("--format parquet: rdblens was built without the feature `parquet`")
            .with_hint("rebuild with the default features"));
    }
    let to_stdout = args.output.output.as_deref().is_none_or(names_stdout);
    if to_stdout && io::stdout().is_terminal() {
        return Err(Error::usage("--format parquet: refusing to write binary data to a terminal")
            .with_hint("write to a file with -o, or to a pipe"));
    }
    Ok(())
}
