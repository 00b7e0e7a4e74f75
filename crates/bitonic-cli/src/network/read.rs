//! Reading a network that someone else wrote.

use crate::failure::Failure;
use bitonic_network::Network;
use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

/// The network in a file, or on standard input for `-`.
pub(super) fn network(path: &Path) -> Result<Network, Failure> {
    let fault = |reason: &dyn std::fmt::Display| Failure::new(format!("{}: {reason}", name(path)));
    let bytes = if is_standard_input(path) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| fault(&error))?;
    let text = str::from_utf8(&bytes).map_err(|error| {
        let end = error.valid_up_to();
        let (line, column) = position(&bytes[..end]);
        fault(&format!(
            "line {line}, column {column}: expected text in UTF-8, found the byte 0x{:02x}",
            bytes[end]
        ))
    })?;
    Network::parse(text).map_err(|error| fault(&error))
}

/// What the file is called in messages.
pub(super) fn name(path: &Path) -> Cow<'_, str> {
    if is_standard_input(path) { "standard input".into() } else { path.to_string_lossy() }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The line and the column, counted from 1, of what follows this text.
fn position(before: &[u8]) -> (usize, usize) {
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let last_line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    (line, 1 + String::from_utf8_lossy(last_line).chars().count())
}
