//! Standard output of the commands. Errors and progress bars go to standard error.

use std::fmt;
use std::io::{ErrorKind, Write};

/// Writes to standard output, and flushes it.
///
/// If the reader has closed the pipe, as `head` does, the program exits with code 0. After another
/// failure it exits with code 1.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    let mut output = std::io::stdout().lock();
    match output.write_fmt(text).and_then(|()| output.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("error: cannot write to standard output: {error}");
            std::process::exit(1);
        }
    }
}

/// `println!` through [`write()`], which handles a closed pipe.
macro_rules! print_line {
    ($($text:tt)*) => {
        $crate::output::write(format_args!("{}\n", format_args!($($text)*)))
    };
}

pub(crate) use print_line;
