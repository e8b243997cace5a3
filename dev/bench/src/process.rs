//! Commands that measurements run, and the memory of processes as reported by Linux.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::embedded::Failure;

/// Runs a command to its end; if its program is missing, the error says how to install it. Standard
/// error is shown.
pub(crate) fn output(command: &mut Command) -> Result<Output, Failure> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let name = command.get_program().to_string_lossy().into_owned();
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{name} is missing; install it, for example with: apt-get install {name}")
        }
        _ => format!("cannot run {name}: {error}"),
    })?;
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{command:?} failed: {}", output.status).into()),
    }
}

/// Runs a command and parses the JSON that it prints.
pub(crate) fn json_output(command: &mut Command) -> Result<Value, Failure> {
    Ok(serde_json::from_slice(&output(command)?.stdout)?)
}

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> Result<u64, Failure> {
    status("self", "VmRSS:")
}

/// Resident memory of another process in bytes.
pub(crate) fn resident_of(process: u32) -> Result<u64, Failure> {
    status(&process.to_string(), "VmRSS:")
}

/// Peak resident memory of this process in bytes.
pub(crate) fn peak() -> Result<u64, Failure> {
    status("self", "VmHWM:")
}

/// Peak resident memory of another process in bytes.
pub(crate) fn peak_of(process: u32) -> Result<u64, Failure> {
    status(&process.to_string(), "VmHWM:")
}

fn status(process: &str, name: &str) -> Result<u64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let size = line.ok_or_else(|| format!("/proc/{process}/status has no {name}"))?;
    Ok(size.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_is_named() {
        let error = output(&mut Command::new("no-such-program")).unwrap_err().to_string();
        assert!(error.contains("apt-get install no-such-program"), "{error}");
        let error = output(&mut Command::new("false")).unwrap_err().to_string();
        assert!(error.contains("failed"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn peak_includes_freed_memory() {
        let size = 32 << 20;
        drop(std::hint::black_box(vec![1_u8; size]));
        assert!(peak().unwrap() > size as u64);
        assert!(resident().unwrap() > 0);
        assert!(resident_of(std::process::id()).unwrap() > 0);
    }
}
