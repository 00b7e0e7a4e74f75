//! Command lines that ask for help, and those that cannot be understood.

use crate::failure::Failure;
use crate::output;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Prints the help or the version if that was asked for; else says in one line what is wrong with the command line, whose words
/// after the command's name these are.
pub(crate) fn answer<Cli: CommandFactory>(
    error: clap::Error,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::expect_open()?;
            error.print().map_err(|error| output::failure("standard output", &error))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::Nothing(error)),
        _ => Err(Failure::new(mistake::<Cli>(&error, arguments))),
    }
}

/// What is wrong, and the way out: the nearest word that is known, or where to read about all of them.
fn mistake<Cli: CommandFactory>(
    error: &clap::Error,
    arguments: impl IntoIterator<Item = OsString>,
) -> String {
    let reason = reason(&error.render().to_string());
    let is_our_own = error.context().next().is_none();
    match suggestion(error) {
        Some(known) => format!("{reason}: did you mean '{known}'?"),
        // Our own value parsers name the way out themselves.
        None if is_our_own => reason,
        None => format!("{reason}: see '{} --help'", command_path::<Cli>(arguments)),
    }
}

/// The first paragraph of what clap says; the tips and the usage follow after an empty line.
fn reason(rendered: &str) -> String {
    let mut lines = rendered.lines().map(str::trim).take_while(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let rest: Vec<&str> = lines.collect();
    format!("{first} {}", rest.join(", ")).trim_end().to_owned()
}

fn suggestion(error: &clap::Error) -> Option<&str> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    kinds.iter().find_map(|kind| match error.get(*kind)? {
        ContextValue::String(known) => Some(known.as_str()),
        // The best comes last.
        ContextValue::Strings(known) => known.last().map(String::as_str),
        _ => None,
    })
}

/// The command and its sub-commands as far as they were understood: `bitonic ladder run`.
fn command_path<Cli: CommandFactory>(arguments: impl IntoIterator<Item = OsString>) -> String {
    let mut command = &Cli::command();
    let mut path = command.get_name().to_owned();
    for argument in arguments {
        match command.find_subcommand(&argument) {
            Some(known) => command = known,
            None => break,
        }
        path.push(' ');
        path.push_str(command.get_name());
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::Parser;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match Cli::try_parse_from(&words) {
            Ok(_) => panic!("'{line}' is understood"),
            Err(error) => mistake::<Cli>(&error, words.into_iter().skip(1)),
        }
    }

    #[test]
    fn a_word_near_to_a_known_one_gets_it() {
        assert_eq!(said("bitonic sotr"), "unrecognized subcommand 'sotr': did you mean 'sort'?");
        assert_eq!(said("bitonic ladder runn"), "unrecognized subcommand 'runn': did you mean 'run'?");
        assert_eq!(
            said("bitonic sort --revers"),
            "unexpected argument '--revers' found: did you mean '--reverse'?"
        );
        assert_eq!(
            said("bitonic network --prov"),
            "unexpected argument '--prov' found: did you mean '--prove'?"
        );
    }

    #[test]
    fn another_mistake_gets_the_help_of_the_command_in_question() {
        assert_eq!(
            said("bitonic sort --random"),
            "a value is required for '--random <N>' but none was supplied: see 'bitonic sort --help'"
        );
        assert_eq!(
            said("bitonic ladder run"),
            "the following required arguments were not provided: <NAME>...: see 'bitonic ladder run --help'"
        );
        assert_eq!(said("bitonic --oops sort"), "unexpected argument '--oops' found: see 'bitonic --help'");
    }

    #[test]
    fn a_wrong_value_is_answered_by_its_own_parser_alone() {
        assert!(
            said("bitonic explain --type u31").starts_with("unknown key type 'u31': did you mean 'u32'?")
        );
        assert_eq!(
            said("bitonic sort --seed x"),
            format!("'x' is not a valid seed: use a number from 0 to {}", u64::MAX)
        );
    }
}
