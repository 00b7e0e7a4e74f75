//! A peer: a program that is asked line by line. The protocol is described at the top of `peers/cub/peer.cu`.
//!
//! Peers are programs of others' libraries, compilers and drivers, so nothing is taken for granted: one that ends, says
//! something else or nothing at all is lost, with a reason, and every later question to it has the same answer.

use super::Program;
use crate::measure::{Timed, WarmUp};
use bitonic::key::KeyType;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program that sorts the same keys with another library.
#[derive(Debug)]
pub struct Peer {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// Its libraries and its device, in its own words.
    pub description: String,
    child: Child,
    questions: ChildStdin,
    /// Every line that it says.
    answers: Receiver<String>,
    /// The same on standard error.
    complaints: Receiver<String>,
    /// How long it may take for an answer.
    patience: Duration,
    /// Where keys and results are exchanged.
    folder: TempDir,
    /// Where its program is, unless that is kept.
    _program_folder: Option<TempDir>,
    /// Why it is of no use any more.
    lost: Option<String>,
}

/// Keys that a peer is given, as bytes with the least significant one first.
#[derive(Clone, Copy, Debug)]
pub struct Exchanged<'a> {
    /// The type of the keys.
    pub key_type: KeyType,
    /// How many rows there are, each sorted for itself.
    pub rows: usize,
    /// How many keys a row has.
    pub row_length: usize,
    /// The keys.
    pub keys: &'a [u8],
    /// Values of 32 bits that travel with their keys; none where this is empty.
    pub values: &'a [u8],
}

/// What a sort has made of keys and values.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// The keys.
    pub keys: Vec<u8>,
    /// The values; empty where keys travel alone.
    pub values: Vec<u8>,
}

/// How long a peer has to end when it is told to.
const FAREWELL: Duration = Duration::from_millis(500);

impl Peer {
    /// Starts a program, and waits until it is ready. Otherwise, why it is of no use.
    pub(super) fn start(
        name: &'static str,
        Program { mut command, folder: program_folder }: Program,
        patience: Duration,
    ) -> Result<Self, String> {
        let folder =
            TempDir::new().map_err(|error| format!("no folder can be made to exchange keys in: {error}"))?;
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program} cannot be started: {error}"))?;
        let (Some(questions), Some(said), Some(complained)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(format!("{program} cannot be talked to"));
        };
        let mut peer = Self {
            name,
            description: String::new(),
            child,
            questions,
            answers: lines_of(said),
            complaints: lines_of(complained),
            patience,
            folder,
            _program_folder: program_folder,
            lost: None,
        };
        peer.description = peer.answer("ready")?.to_owned();
        Ok(peer)
    }

    /// Gives it keys. Returns the names of the sorts that it has for them.
    ///
    /// # Errors
    ///
    /// Why it cannot sort them.
    pub fn offer(&mut self, offered: Exchanged<'_>) -> Result<Vec<String>, String> {
        let Exchanged { key_type, rows, row_length, keys, values } = offered;
        let write = |name: &str, bytes: &[u8]| {
            fs::write(self.folder.path().join(name), bytes).map_err(|error| {
                format!("its keys cannot be written to the folder of temporary files: {error}")
            })
        };
        write("keys", keys)?;
        let mut question = format!("keys {key_type} {rows} {row_length} keys");
        if !values.is_empty() {
            write("values", values)?;
            question += " values";
        }
        let sorts = self.ask(&question, "sorts")?;
        Ok(sorts.split_whitespace().map(str::to_owned).collect())
    }

    /// Lets it warm up and sort the keys. Returns what the last sort took.
    ///
    /// # Errors
    ///
    /// Why it did not sort.
    pub fn run(&mut self, sort: &str, warm_up: WarmUp) -> Result<Timed, String> {
        let answer = self.ask(&format!("run {sort} {}", warm_up.time.as_micros()), "time")?;
        let (time, note) = answer.split_once(' ').unwrap_or((&answer, ""));
        match time.parse::<u64>() {
            Ok(nanoseconds) => Ok(Timed {
                seconds: nanoseconds as f64 * 1e-9,
                note: note.trim().to_owned(),
                ..Timed::default()
            }),
            Err(_) => Err(self.lose(format!("it says 'time {answer}', which is not a time"))),
        }
    }

    /// Fetches what the last sort has made of keys and, if there are some, values.
    ///
    /// # Errors
    ///
    /// Why there is no result.
    pub fn fetch(&mut self, has_values: bool) -> Result<Fetched, String> {
        let question = if has_values { "result sorted-keys sorted-values" } else { "result sorted-keys" };
        self.ask(question, "written")?;
        let read = |name: &str| {
            let path = self.folder.path().join(name);
            let bytes = fs::read(&path);
            // What a later run does not write must not be found.
            bytes.and_then(|bytes| fs::remove_file(&path).map(|()| bytes))
        };
        let keys = read("sorted-keys");
        let values = if has_values { read("sorted-values") } else { Ok(Vec::new()) };
        match keys.and_then(|keys| Ok(Fetched { keys, values: values? })) {
            Ok(fetched) => Ok(fetched),
            Err(error) => Err(self.lose(format!("its result cannot be read: {error}"))),
        }
    }

    /// Asks, and waits for an answer that begins with this word. The rest of it.
    fn ask(&mut self, question: &str, word: &str) -> Result<String, String> {
        if let Some(reason) = &self.lost {
            return Err(reason.clone());
        }
        // A program that has ended cannot be asked; why it has is found when the answer does not come.
        let _ = writeln!(self.questions, "{question}").and_then(|()| self.questions.flush());
        self.answer(word)
    }

    fn answer(&mut self, word: &str) -> Result<String, String> {
        let line = match self.answers.recv_timeout(self.patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.patience.as_secs_f64();
                return Err(self.lose(format!("it gives no answer for {seconds} seconds: see --patience")));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ending = self.ending();
                return Err(self.lose(ending));
            }
        };
        let (first, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match first {
            _ if first == word => Ok(rest.trim().to_owned()),
            "error" => Err(rest.trim().to_owned()),
            _ => Err(self.lose(format!("it says '{line}' where it should say '{word}'"))),
        }
    }

    /// How a program ended that says nothing any more.
    fn ending(&mut self) -> String {
        let status = match wait(&mut self.child, FAREWELL) {
            Some(status) => format!("it has ended ({status})"),
            None => "it says nothing any more".to_owned(),
        };
        // The last words say why; what a program of its own left running might say later is not waited for.
        let complaints = std::iter::from_fn(|| self.complaints.recv_timeout(FAREWELL / 10).ok());
        match complaints.filter(|line| !line.is_empty()).last() {
            Some(last) => format!("{status}: {last}"),
            None => status,
        }
    }

    /// Gives it up.
    fn lose(&mut self, reason: String) -> String {
        // It may have ended already.
        let _ = self.child.kill();
        self.lost = Some(reason.clone());
        reason
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = writeln!(self.questions, "end").and_then(|()| self.questions.flush());
        if wait(&mut self.child, FAREWELL).is_none() {
            // What cannot be ended has ended; then there is a status to be fetched, too.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The status of a program, if it ends in time.
fn wait(child: &mut Child, patience: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}

/// Every line, as it comes. The thread ends with the program, or when nobody listens.
fn lines_of(said: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(said);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if send.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    const KEYS: &[u8] = &[3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];

    const OFFERED: Exchanged<'_> =
        Exchanged { key_type: KeyType::U32, rows: 1, row_length: 3, keys: KEYS, values: &[] };

    const COLD: WarmUp = WarmUp { time: Duration::ZERO, ..WarmUp::DEFAULT };

    /// A peer that is this script.
    fn start(script: &str) -> Result<Peer, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Peer::start("fake", Program { command, folder: None }, Duration::from_secs(10))
    }

    /// One that is ready, and has these answers to whatever it is asked.
    fn ready(answers: &str) -> Peer {
        start(&format!("echo ready; for answer in {answers}; do read question; echo \"$answer\"; done"))
            .unwrap()
    }

    fn offered(peer: &mut Peer) -> Result<Vec<String>, String> {
        peer.offer(OFFERED)
    }

    #[test]
    fn questions_and_answers_are_those_of_the_protocol() {
        let mut peer = start(
            "echo 'ready one, two'
            read question; echo \"$question\" > log; cp keys copy; echo 'sorts a b'
            read question; echo \"$question\" >> log; echo 'time 12345 64 threads x 8 keys'
            read question; echo \"$question\" >> log; cp copy sorted-keys; echo written",
        )
        .unwrap();
        assert_eq!(peer.description, "one, two");
        assert_eq!(offered(&mut peer).unwrap(), ["a", "b"]);
        let timed = peer.run("a", WarmUp { time: Duration::from_millis(5), ..COLD }).unwrap();
        assert_eq!(((timed.seconds * 1e9).round(), timed.note.as_str()), (12_345.0, "64 threads x 8 keys"));
        let fetched = peer.fetch(false).unwrap();
        assert_eq!(fetched.keys, KEYS);
        let log = fs::read_to_string(peer.folder.path().join("log")).unwrap();
        assert_eq!(log, "keys u32 1 3 keys\nrun a 5000\nresult sorted-keys\n");
    }

    #[test]
    fn values_are_exchanged_where_there_are_some() {
        let mut peer = start(
            "echo ready; read question; [ \"$question\" = 'keys u32 1 3 keys values' ] && echo 'sorts a'
            read question; cp keys sorted-keys; cp values sorted-values; echo written",
        )
        .unwrap();
        assert_eq!(peer.offer(Exchanged { values: b"values", ..OFFERED }).unwrap(), ["a"]);
        assert_eq!(peer.fetch(true).unwrap().values, b"values");
    }

    #[test]
    fn an_error_is_an_answer_and_the_peer_goes_on() {
        let mut peer = ready("'error no room' 'sorts a' 'error no b'");
        assert_eq!(offered(&mut peer).unwrap_err(), "no room");
        assert_eq!(offered(&mut peer).unwrap(), ["a"]);
        assert_eq!(peer.run("b", COLD).unwrap_err(), "no b");
    }

    #[test]
    fn a_peer_that_ends_is_lost_with_its_last_words() {
        let mut peer =
            start("echo ready; read question; echo first >&2; echo 'last words' >&2; exit 3").unwrap();
        let reason = offered(&mut peer).unwrap_err();
        assert!(reason.starts_with("it has ended (") && reason.ends_with("3): last words"), "{reason}");
        assert_eq!(offered(&mut peer).unwrap_err(), reason, "it stays lost");
        let reason = start("exit 4").err().unwrap();
        assert!(reason.starts_with("it has ended (") && reason.ends_with("4)"), "{reason}");
    }

    #[test]
    fn a_peer_that_says_nothing_is_not_waited_for_for_ever() {
        let mut peer = start("echo ready; exec sleep 1000").unwrap();
        peer.patience = Duration::from_millis(20);
        assert_eq!(offered(&mut peer).unwrap_err(), "it gives no answer for 0.02 seconds: see --patience");
        assert!(wait(&mut peer.child, Duration::from_secs(10)).is_some(), "it was ended");
    }

    #[test]
    fn what_is_no_answer_is_quoted() {
        let mut peer = ready("'shorts a' 'sorts a'");
        let reason = "it says 'shorts a' where it should say 'sorts'";
        assert_eq!(offered(&mut peer).unwrap_err(), reason);
        assert_eq!(offered(&mut peer).unwrap_err(), reason, "who is lost is asked no more");
        for time in ["time", "time fast", "time -1", "time 1.5"] {
            let reason = ready(&format!("'{time}'")).run("a", COLD).unwrap_err();
            assert!(reason.ends_with("which is not a time"), "{reason}");
        }
        assert!(start("echo hello").err().unwrap().contains("'hello'"));
    }

    #[test]
    fn a_result_that_was_not_written_is_not_that_of_the_run_before() {
        let mut peer = start(
            "echo ready; read question; echo old > sorted-keys; echo written; read question; echo written",
        )
        .unwrap();
        assert_eq!(peer.fetch(false).unwrap().keys, b"old\n");
        assert!(peer.fetch(false).err().unwrap().starts_with("its result cannot be read: "));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let program = Program { command: Command::new("/nonexistent/peer"), folder: None };
        let reason = Peer::start("fake", program, Duration::from_secs(1)).err().unwrap();
        assert!(reason.starts_with("/nonexistent/peer cannot be started: "), "{reason}");
    }
}
