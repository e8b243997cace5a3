//! `tabla blobs`: the signing key of a folder of blobs, and its sweep.

use std::path::Path;

use clap::Subcommand;
use tabla::s3::{Buckets, FileFolder};
use tabla::{Address, Error, Result};

use crate::output::print_line;

const EXAMPLES: &str = "\
Examples:
  tabla blobs key file:assets > keys            key of the folder, as a credentials file
  AWS_SHARED_CREDENTIALS_FILE=keys aws s3 ls    the AWS CLI with that key
  tabla blobs sweep file:assets                 delete what interrupted uploads have left";

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the access key of a folder in the format of ~/.aws/credentials
    Key {
        /// Address of the folder, such as file:assets
        address: String,
    },
    /// Delete files that no blob lists, and multipart uploads older than 7 days
    Sweep {
        /// Address of the folder, such as file:assets
        address: String,
    },
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Key { address } => {
            let folder = open(&address).await?;
            let key = folder.signing_key();
            print_line!("[default]");
            print_line!("aws_access_key_id = {}", key.id());
            print_line!("aws_secret_access_key = {}", key.secret());
        }
        Command::Sweep { address } => {
            let report = open(&address).await?.sweep().await?;
            print_line!(
                "deleted {} files without a blob, {} replaced files and {} uploads; skipped {} \
                 files of uploads in progress",
                report.unreferenced,
                report.garbage,
                report.uploads,
                report.in_progress
            );
        }
    }
    Ok(())
}

/// Opens an existing folder. Neither command creates one.
async fn open(address: &str) -> Result<FileFolder> {
    let refuse = |why: &str| {
        Error::config(format!(
            "cannot open `{address}`: {why}; name an existing folder of blobs, such as `file:assets`"
        ))
    };
    let parsed: Address = address.parse().map_err(|error: Error| refuse(error.message()))?;
    if parsed.scheme != "file" {
        return Err(refuse("it is no `file:` address"));
    }
    let path = Path::new(&parsed.path);
    if parsed.path.is_empty() || !path.exists() {
        return Err(refuse("there is no such folder"));
    }
    FileFolder::open(path).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn missing_folder_is_refused_and_not_created() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("assets");
        for (address, part) in [
            (format!("file:{}", path.display()), "there is no such folder"),
            ("memory:".to_owned(), "it is no `file:` address"),
            ("assets".to_owned(), "has no colon"),
            ("file:".to_owned(), "there is no such folder"),
        ] {
            let error = open(&address).await.expect_err(&address);
            assert!(error.message().contains(part), "{address}: {error}");
            assert!(error.message().contains("such as `file:assets`"), "{error}");
        }
        assert!(!path.exists());
    }
}
