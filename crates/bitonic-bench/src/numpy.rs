//! numpy's sort, in one process that stays and answers over pipes, so that it takes its turn like every other contender.

use crate::error::Error;
use crate::peers::PeerKey;
use bitonic::key::{Bits, KeyForm};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The process that sorts with numpy. It ends when this is dropped.
#[derive(Debug)]
pub struct Numpy {
    process: Child,
    /// Closed to end the process.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    version: String,
}

const SCRIPT: &str = include_str!("numpy.py");

impl Numpy {
    /// Starts the interpreter. The error says why numpy cannot take part, and how it could.
    pub fn start(python: &Path) -> Result<Self, String> {
        let name = python.display();
        let advice = format!(
            "install it with `{name} -m pip install numpy`, or name an interpreter that has it with --python"
        );
        let mut process = Command::new(python)
            .args(["-c", SCRIPT])
            // Sorts are compared on one thread.
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What the interpreter says about a missing numpy, we say in one line.
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{name} cannot be started ({error}); {advice}"))?;
        let requests = process.stdin.take();
        let answers = process.stdout.take().map(BufReader::new).ok_or("its output is not connected")?;
        let mut numpy = Self { process, requests, answers, version: String::new() };
        numpy.version = numpy.line().map_err(|_| format!("{name} has no numpy; {advice}"))?;
        Ok(numpy)
    }

    /// numpy's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Sorts every row of `size` keys into `sorted`, and returns the time that numpy took for it.
    pub fn sort_rows<K: PeerKey>(
        &mut self,
        keys: &[K],
        size: usize,
        sorted: &mut [K],
    ) -> Result<Duration, Error> {
        self.exchange(keys, size, sorted).map_err(Error::Numpy)
    }

    fn exchange<K: PeerKey>(&mut self, keys: &[K], size: usize, sorted: &mut [K]) -> io::Result<Duration> {
        let requests = self.requests.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(requests, "{} {} {size}", type_name::<K>(), keys.len() / size)?;
        requests.write_all(&to_bytes(keys))?;
        requests.flush()?;
        let line = self.line()?;
        let nanoseconds =
            line.parse().map_err(|_| io::Error::other(format!("it answered '{line}' and no time")))?;
        let mut bytes = vec![0; size_of_val(sorted)];
        self.answers.read_exact(&mut bytes)?;
        from_bytes(&bytes, sorted);
        Ok(Duration::from_nanos(nanoseconds))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        drop(self.requests.take());
        // It ends with its input. If waiting fails there is nothing left to clean up.
        let _ = self.process.wait();
    }
}

/// The keys' bits, least significant byte first.
fn to_bytes<K: PeerKey>(keys: &[K]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(keys));
    for key in keys {
        bytes.extend_from_slice(&key.to_raw_bits().widen().to_le_bytes()[..size_of::<K>()]);
    }
    bytes
}

/// The inverse of [`to_bytes`].
fn from_bytes<K: PeerKey>(bytes: &[u8], keys: &mut [K]) {
    for (bytes, key) in bytes.chunks_exact(size_of::<K>()).zip(keys) {
        let mut wide = [0; size_of::<u128>()];
        wide[..size_of::<K>()].copy_from_slice(bytes);
        *key = K::from_raw_bits(Bits::truncate(u128::from_le_bytes(wide)));
    }
}

/// numpy's name of a type: least significant byte first, its kind and its bytes.
fn type_name<K: PeerKey>() -> String {
    let kind = match K::TYPE.form() {
        KeyForm::Unsigned => 'u',
        KeyForm::Signed => 'i',
        KeyForm::Float => 'f',
    };
    format!("<{kind}{}", size_of::<K>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_numpy_gives_them() {
        assert_eq!(type_name::<u8>(), "<u1");
        assert_eq!(type_name::<i32>(), "<i4");
        assert_eq!(type_name::<f64>(), "<f8");
    }

    #[test]
    fn keys_come_back_from_their_bytes_bit_for_bit() {
        let keys = [0.5_f32, -0.0, f32::NAN, -f32::NAN];
        let mut back = [0.0_f32; 4];
        from_bytes(&to_bytes(&keys), &mut back);
        assert_eq!(back.map(f32::to_bits), keys.map(f32::to_bits));
        assert_eq!(to_bytes(&[0x0102_u16]), [2, 1]);
    }

    #[test]
    fn an_interpreter_that_is_not_there_is_named_with_the_way_out() {
        let error = Numpy::start(Path::new("no-such-python")).unwrap_err();
        assert!(error.starts_with("no-such-python cannot be started"), "{error}");
        assert!(error.contains("-m pip install numpy"), "{error}");
    }

    /// `false` starts, and ends without a word, as an interpreter without numpy does.
    #[cfg(unix)]
    #[test]
    fn an_interpreter_without_numpy_is_named_with_the_way_out() {
        let error = Numpy::start(Path::new("false")).unwrap_err();
        assert!(error.starts_with("false has no numpy; install it with"), "{error}");
    }
}
