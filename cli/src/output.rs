//! What a command says.

use std::fmt;
use std::io::{ErrorKind, Write};

/// Writes to the standard output. Whoever reads it may go before the end, as `head` does: then
/// there is nobody to say the rest to, and nothing is wrong.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    let mut output = std::io::stdout().lock();
    match output.write_fmt(text).and_then(|()| output.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("error: the output cannot be written: {error}");
            std::process::exit(1);
        }
    }
}

/// `println!`, to a reader who may go.
macro_rules! print_line {
    ($($text:tt)*) => {
        $crate::output::write(format_args!("{}\n", format_args!($($text)*)))
    };
}

pub(crate) use print_line;
