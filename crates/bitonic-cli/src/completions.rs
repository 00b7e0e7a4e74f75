//! `bitonic completions`: the script with which a shell completes the words of this command.

use crate::failure::Failure;
use crate::output;
use crate::word::Word;
use clap_complete::Shell;

/// What `bitonic completions` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell that will read the script
    #[arg(value_name = "SHELL", value_parser = Word::one_of("shell", SHELLS, shell_name))]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  bash   bitonic completions bash > ~/.local/share/bash-completion/completions/bitonic
  zsh    bitonic completions zsh > _bitonic     in a folder that $fpath names
  fish   bitonic completions fish > ~/.config/fish/completions/bitonic.fish";

const SHELLS: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell];

fn shell_name(shell: Shell) -> &'static str {
    match shell {
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Elvish => "elvish",
        Shell::PowerShell => "powershell",
        // The enum may grow; only the shells above are offered.
        _ => "bash",
    }
}

/// Prints the script for a shell.
pub(crate) fn run<Cli: clap::CommandFactory>(arguments: Arguments) -> Result<(), Failure> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "bitonic", &mut script);
    output::print(|out| out.write_all(&script))
}
