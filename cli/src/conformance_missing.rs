//! `tabla conformance` in a build without the suite: fails, and names the build that has it.

use std::process::ExitCode;

use tabla::{Error, Registry, Result};

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Options and case names, as in a build with the suite
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) async fn run(arguments: Arguments, _: Registry) -> Result<ExitCode> {
    let arguments = arguments.arguments.join(" ");
    Err(Error::config(format!(
        "cannot run the conformance suite: this program was built without it; run `cargo run \
         --release --features full -- conformance {arguments}`"
    )))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[tokio::test]
    async fn missing_suite_error_repeats_the_command_with_the_feature() {
        let asked = "conformance --store memory: --json transactions:: --help";
        let command = Command::parse_from(asked.split(' '));
        let error = run(command.arguments, Registry::new()).await.expect_err("no suite");
        let message = "cannot run the conformance suite: this program was built without it; run \
                       `cargo run --release --features full -- conformance --store memory: --json \
                       transactions:: --help`";
        assert_eq!(error.message(), message);
    }
}
