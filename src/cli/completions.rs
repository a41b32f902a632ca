//! `rdblens completions`: completion scripts for shells. Values that the parser checks later complete, too: presets, servers,
//! allocators and rules; so do the values after a comma.

use std::io::Write;
use std::ops::Range;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::args::{Cli, CompletionsArgs};
use super::output::Outlet;
use super::sources::Sources;
use super::{ExitStatus, written};
use crate::error::Result;
use crate::memory::{Allocator, Server};
use crate::policy::{presets, registry};

/// Prints the completion script.
pub fn run(args: &CompletionsArgs) -> Result<ExitStatus> {
    let mut out = Outlet::of(Sources::default()).open(None)?;
    written(out.write_all(script(args.shell).as_bytes()).and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut program = with_values();
    clap_complete::generate(shell, &mut program, "rdblens", &mut script);
    let script = beside_files(&String::from_utf8_lossy(&script), shell);
    let mut script =
        program.get_subcommands().flat_map(lists).fold(script, |script, list| list.complete(&script, shell));
    if shell == Shell::Fish {
        program.get_subcommands().filter_map(fish_arguments).for_each(|line| script.push_str(&line));
    }
    script
}

/// A flag whose value is a list of names, which the generators complete as if it were a single one.
struct ListFlag {
    command: String,
    flag: String,
    separator: char,
    values: Vec<PossibleValue>,
}

/// Returns the flags of a command that take lists of names.
fn lists(command: &Command) -> impl Iterator<Item = ListFlag> {
    command.get_arguments().filter_map(|argument| {
        let values = argument.get_possible_values();
        let (separator, flag) = (argument.get_value_delimiter()?, argument.get_long()?.to_owned());
        (!values.is_empty()).then(|| ListFlag { command: command.get_name().to_owned(), flag, separator, values })
    })
}

impl ListFlag {
    /// Lets the script complete the names after a separator, too.
    fn complete(&self, script: &str, shell: Shell) -> String {
        let ListFlag { command, flag, separator, .. } = self;
        let names: Vec<&str> = self.values.iter().map(PossibleValue::get_name).collect();
        let names = names.join(" ");
        match shell {
            Shell::Bash => {
                let last = format!("${{cur##*{separator}}}");
                let list = format!("compgen -P \"${{cur%\"{last}\"}}\" -W \"{names}\" -- \"{last}\"");
                script.replace(&format!("compgen -W \"{names}\" -- \"${{cur}}\""), &list)
            }
            Shell::Zsh => self.zsh_definition(script).map_or_else(
                || script.to_owned(),
                |at| format!("{}{}{}", &script[..at.start], self.zsh_list(&script[at.clone()]), &script[at.end..]),
            ),
            Shell::Fish => {
                let list = format!("(__fish_complete_list {separator} \"for name in {names}; echo \\$name; end\")");
                let after = format!("and string match -q '*{separator}*' -- (commandline -t)");
                let condition = format!("__fish_rdblens_using_subcommand {command}; {after}");
                format!("{script}complete -c rdblens -n \"{condition}\" -l {flag} -r -f -a '{list}'\n")
            }
            _ => script.to_owned(),
        }
    }

    /// Finds the definition of the flag among those of its command: in quotes, at the start of a line.
    fn zsh_definition(&self, script: &str) -> Option<Range<usize>> {
        let find = |from: usize, what: &str| Some(from + script.get(from..)?.find(what)?);
        let command = find(0, &format!("({})\n_arguments ", self.command))?;
        let end = find(command, "&& ret=0")?;
        let flag = find(command, &format!("\n'*--{}=[", self.flag)).filter(|flag| *flag < end)?;
        Some(flag..find(flag, "' \\\n")? + 1)
    }

    /// Returns the definition of the flag for zsh with a list in place of one name.
    fn zsh_list(&self, definition: &str) -> String {
        let start = definition.find("]:").and_then(|from| Some(from + definition[from..].find(":(")?));
        let Some((start, end)) = start.zip(definition.rfind(")'")).filter(|(start, end)| start < end) else {
            return definition.to_owned();
        };
        let escaped = |text: String| text.replace(['[', ']', '"', '\'', '`', '$', '\\'], "").replace(':', "\\:");
        let value = |value: &PossibleValue| match value.get_help() {
            Some(help) => format!(" \"{}[{}]\"", value.get_name(), escaped(help.to_string())),
            None => format!(" \"{}\"", value.get_name()),
        };
        let values: String = self.values.iter().map(value).collect();
        let ListFlag { flag, separator, .. } = self;
        format!("{}:_values -s {separator} \"{flag}\"{values}{}", &definition[..start], &definition[end + 1..])
    }
}

/// Returns a line by which fish completes the argument of a command, which the generator leaves out.
fn fish_arguments(command: &Command) -> Option<String> {
    let values = command.get_positionals().next()?.get_possible_values();
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let (command, names) = (command.get_name(), names.join(" "));
    let line = format!("complete -c rdblens -n \"__fish_rdblens_using_subcommand {command}\" -f -a \"{names}\"\n");
    (!names.is_empty()).then_some(line)
}

/// Returns the command line with the values of flags that take names.
fn with_values() -> Command {
    let program = Cli::command();
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.iter().fold(program, |program, name| {
        program.mut_subcommand(name, |command| {
            // A draft of a dictionary continues a file; no preset has a dictionary.
            let policies = (name != "dictionary").then(|| presets::names().collect());
            let rules = || registry::RULES.iter().map(|rule| rule.meta.id).collect();
            let command = with(command, "policy", policies);
            let command = with(command, "server", Some(servers()));
            let command = with(command, "what_if", Some(alternatives()));
            let command = with(command, "breaking", Some(rules()));
            if name == "rules" { with(command, "id", Some(rules())) } else { command }
        })
    })
}

/// Returns the names of servers, for the rest of the run: definitions of flags hold no other texts.
fn servers() -> Vec<&'static str> {
    Server::names().into_iter().map(|name| &*name.leak()).collect()
}

/// Returns the servers and allocators that `--what-if` takes; settings have values of their own.
fn alternatives() -> Vec<&'static str> {
    let allocators = Allocator::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let allocators = allocators.map(|allocator| &*allocator.get_name().to_owned().leak());
    ["newest"].into_iter().chain(servers()).chain(allocators).collect()
}

/// Gives a flag of a command its values, if the command has the flag.
fn with(command: Command, flag: &str, values: Option<Vec<&'static str>>) -> Command {
    match values {
        Some(values) if command.get_arguments().any(|argument| argument.get_id() == flag) => {
            command.mut_arg(flag, |argument| argument.value_parser(PossibleValuesParser::new(values)))
        }
        _ => command,
    }
}

/// Lets `--policy` complete files beside the presets.
fn beside_files(script: &str, shell: Shell) -> String {
    let names: Vec<&str> = presets::names().collect();
    let names = names.join(" ");
    match shell {
        Shell::Bash => script.replace(&format!("compgen -W \"{names}\""), &format!("compgen -f -W \"{names}\"")),
        Shell::Zsh => script.replace(
            &format!(":NAME|FILE.toml:({names})"),
            // A colon by itself would begin the next argument of the flag.
            &format!(":NAME|FILE.toml:{{_alternative \"presets\\:preset\\:({names})\" \"files\\:file\\:_files\"}}"),
        ),
        Shell::Fish => {
            let line = |line: &str| {
                if line.contains(" -l policy ") { line.replace(" -r -f ", " -r -F ") } else { line.to_owned() }
            };
            script.lines().map(|text| line(text) + "\n").collect()
        }
        _ => script.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the script as the generator writes it.
    fn generated(shell: Shell) -> String {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut with_values(), "rdblens", &mut script);
        beside_files(&String::from_utf8(script).unwrap(), shell)
    }

    /// Returns the definitions of flags for zsh, each with the values that follow on further lines.
    fn definitions(script: &str) -> Vec<&str> {
        script
            .split(" \\\n")
            .filter(|definition| definition.contains('[') && definition.starts_with(['\'', '(', '"']))
            .collect()
    }

    #[test]
    fn only_flags_that_take_lists_differ_from_those_of_the_generator() {
        let (own, generated) = (script(Shell::Zsh), generated(Shell::Zsh));
        let (own, generated) = (definitions(&own), definitions(&generated));
        assert_eq!(own.len(), generated.len());
        let differing: Vec<_> = own.iter().zip(&generated).filter(|(own, generated)| own != generated).collect();
        assert_eq!(differing.len(), with_values().get_subcommands().flat_map(lists).count());
        for (own, generated) in differing {
            let flag = generated.split('=').next().unwrap();
            assert!(own.starts_with(flag) && own.contains(":_values -s , \"") && own.ends_with("\"'"), "{own}");
        }
        for flag in ["'--lang=", "'--color="] {
            assert!(own.iter().filter(|own| own.starts_with(flag)).count() > 3, "{flag}");
            assert!(own.iter().filter(|own| own.starts_with(flag)).all(|own| own.contains(":((")), "{flag}");
        }
    }

    #[test]
    fn bash_completes_lists_of_those_flags_only() {
        let script = script(Shell::Bash);
        let lines: Vec<&str> = script.lines().collect();
        let flags = lines.windows(2).filter(|lines| lines[1].contains("compgen -P")).map(|lines| lines[0].trim());
        let flags: Vec<_> = flags.collect();
        assert_eq!(flags.len(), with_values().get_subcommands().flat_map(lists).count());
        assert!(flags.iter().all(|flag| ["--section)", "--breaking)"].contains(flag)), "{flags:?}");
    }
}
