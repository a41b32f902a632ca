//! `rdblens man`: manual pages generated from the help, one for the program and one for each command.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::args::{Cli, ManArgs};
use super::output::Outlet;
use super::sources::Sources;
use super::{ExitStatus, written};
use crate::error::{Error, Result};
use crate::input::{as_address, shown_path};

/// Writes the manual pages.
pub fn run(args: &ManArgs) -> Result<ExitStatus> {
    if as_address(&args.folder).is_some() {
        let name = shown_path(&args.folder);
        return Err(Error::usage(format!("{name}: manual pages are written to a directory, not to a store"))
            .with_hint("give a directory"));
    }
    fs::create_dir_all(&args.folder).map_err(|error| {
        Error::from(error).in_file(&shown_path(&args.folder)).with_hint("cannot create the directory")
    })?;
    // The command `help` makes sense only interactively, so it gets no page.
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let outlet = Outlet::of(Sources::default());
    write(&program, "rdblens", &args.folder, &outlet)?;
    for command in program.get_subcommands() {
        write(command, &format!("rdblens-{}", command.get_name()), &args.folder, &outlet)?;
    }
    Ok(ExitStatus::Done)
}

fn write(command: &Command, name: &str, folder: &Path, outlet: &Outlet) -> Result<()> {
    let page = page(command, name)?;
    let mut out = outlet.open(Some(&folder.join(format!("{name}.1"))))?;
    written(out.write_all(page.as_bytes()).and_then(|()| out.finish()))
}

fn page(command: &Command, name: &str) -> io::Result<String> {
    let man = Man::new(command.clone());
    let mut page = format!(".TH {} 1 \"\" \"rdblens {}\" rdblens\n", name.to_uppercase(), env!("CARGO_PKG_VERSION"));
    page += &section(|out| man.render_name_section(out))?;
    page += &section(|out| man.render_synopsis_section(out))?;
    page += &section(|out| man.render_description_section(out))?;
    page += &section(|out| man.render_options_section(out))?;
    if command.has_subcommands() {
        page += &section(|out| man.render_subcommands_section(out))?;
        page += &section(|out| man.render_extra_section(out))?.replace(".SH EXTRA", ".SH \"EXIT STATUS\"");
    } else {
        // `.nf` keeps the lines unbroken, so that examples can be copied.
        let examples = section(|out| man.render_extra_section(out))?;
        page += &examples.replace(".SH EXTRA\n", ".SH EXAMPLES\n.nf\n").replace("\nExamples:\n", "\n");
        page += ".fi\n";
    }
    Ok(page)
}

fn section(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    let mut section = Vec::new();
    render(&mut section)?;
    let section = String::from_utf8(section).map_err(io::Error::other)?;
    let mut ascii = String::with_capacity(section.len());
    for c in section.chars() {
        // Some man formatters do not accept UTF-8 input, hence the escapes.
        if c.is_ascii() { ascii.push(c) } else { ascii.push_str(&format!("\\[u{:04X}]", u32::from(c))) }
    }
    Ok(ascii)
}
