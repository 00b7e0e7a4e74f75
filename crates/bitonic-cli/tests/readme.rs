//! The documents tell the truth: every command in the README and in `docs/` is executed, what they show of its output is
//! compared, every picture is drawn again, every link is followed.
//!
//! Commands stand in blocks of two languages: in `sh` every line is one, in `console` those after `$ `, with their output
//! below. In the output `...` stands for anything within a line, and alone on a line for any number of lines. A
//! command without output is only executed. All commands of a document run in one folder, one after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BITONIC: &str = env!("CARGO_BIN_EXE_bitonic");

#[test]
fn every_command_in_the_readme_works_and_prints_what_is_shown() {
    run_document(&Document::read("README.md")).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_command_in_the_documents_works_and_prints_what_is_shown() {
    for document in documents() {
        run_document(&document).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_pictures_are_what_the_command_draws_today() {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir_all(copy.path().join("docs/pictures")).unwrap();
    let script = "docs/pictures/draw";
    for document in documents().iter().chain([&Document::read("README.md"), &Document::read(script)]) {
        fs::write(copy.path().join(&document.path), &document.text).unwrap();
    }
    let drawn = Command::new("bash").arg(copy.path().join(script)).env("BITONIC", BITONIC).output().unwrap();
    assert!(drawn.status.success(), "{script} fails: {}", text_of(&drawn));

    let pictures = root().join("docs/pictures");
    let committed = names_in(&pictures);
    assert_eq!(
        committed,
        names_in(&copy.path().join("docs/pictures")),
        "run {script} and commit what it draws"
    );
    for name in committed.iter().filter(|name| name.ends_with(".svg")) {
        let [old, new] =
            [&pictures, &copy.path().join("docs/pictures")].map(|folder| fs::read(folder.join(name)));
        assert!(
            old.unwrap() == new.unwrap(),
            "{name} is no longer what is drawn: run {script} and look at it"
        );
    }
}

#[test]
fn every_link_leads_to_a_file_and_every_picture_is_shown() {
    let mut linked = Vec::new();
    let at_the_root = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(Document::read);
    for document in documents().iter().chain(&at_the_root) {
        let folder = document.path.parent().unwrap();
        for target in document.links().filter(|target| !target.contains("://")) {
            let path = root().join(folder).join(target.split('#').next().unwrap());
            assert!(path.exists(), "{}: the link to {target} leads nowhere", document.path.display());
            linked.push(path.canonicalize().unwrap());
        }
    }
    for name in names_in(&root().join("docs/pictures")).iter().filter(|name| name.ends_with(".svg")) {
        let picture = root().join("docs/pictures").join(name).canonicalize().unwrap();
        assert!(linked.contains(&picture), "no document shows docs/pictures/{name}");
    }
}

#[test]
fn rust_code_is_shown_only_where_doc_tests_compile_it() {
    let library = Document::read("crates/bitonic/src/lib.rs").text;
    assert!(library.contains("include_str!(\"../../../README.md\")"), "the README is no doc test");
    for document in documents() {
        let code = document.blocks().find(|block| block.language == "rust").map(|block| block.line);
        assert_eq!(
            code,
            None,
            "{}: nothing compiles this code: move it to the README",
            document.path.display()
        );
    }
}

/// A text file of the repository.
struct Document {
    /// Where it is, seen from the repository's root.
    path: PathBuf,
    text: String,
}

/// What stands between two fences.
struct Block<'text> {
    language: &'text str,
    /// The number of its first line in the document.
    line: usize,
    lines: Vec<&'text str>,
}

/// A command, and the output shown for it.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'text> {
    line: usize,
    command: &'text str,
    output: Vec<&'text str>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All documents in `docs/`.
fn documents() -> Vec<Document> {
    let names = names_in(&root().join("docs"));
    let documents = names.iter().filter(|name| name.ends_with(".md"));
    documents.map(|name| Document::read(&format!("docs/{name}"))).collect()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

impl Document {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.into(), text }
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let mut lines = self.text.lines().enumerate();
        std::iter::from_fn(move || {
            let (line, language) =
                lines.find_map(|(index, line)| Some((index + 2, line.strip_prefix("```")?)))?;
            let lines = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            Some(Block { language, line, lines })
        })
    }

    /// Blocks are found only by three backticks at the beginning of a line.
    fn has_plain_fences(&self) -> Result<(), String> {
        let is_hidden = |line: &str| {
            line.starts_with("~~~") || !line.starts_with("```") && line.trim_start().starts_with("```")
        };
        match self.text.lines().position(is_hidden) {
            Some(index) => Err(format!("line {}: begin a block with ``` at the line's start", index + 1)),
            None => Ok(()),
        }
    }

    /// The targets of links and pictures outside of blocks.
    fn links(&self) -> impl Iterator<Item = &str> {
        let mut in_block = false;
        let prose = self.text.lines().filter(move |line| {
            in_block ^= line.starts_with("```");
            !in_block
        });
        prose.flat_map(|line| line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)))
    }
}

impl<'text> Block<'text> {
    /// The commands in the block.
    fn commands(&self) -> Result<Vec<Shown<'text>>, String> {
        let lines = || self.lines.iter().enumerate().map(|(index, &line)| (self.line + index, line));
        match self.language {
            "sh" => {
                let commands = lines().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
                Ok(commands.map(|(line, command)| Shown { line, command, output: Vec::new() }).collect())
            }
            "console" => {
                let mut commands: Vec<Shown<'text>> = Vec::new();
                for (line, text) in lines() {
                    match (text.strip_prefix("$ "), commands.last_mut()) {
                        (Some(command), _) => commands.push(Shown { line, command, output: Vec::new() }),
                        (None, Some(last)) => last.output.push(text),
                        (None, None) => return Err(format!("line {line}: output before the first command")),
                    }
                }
                Ok(commands)
            }
            "rust" | "toml" | "text" => Ok(Vec::new()),
            other => Err(format!(
                "line {}: a block in '{other}': use sh or console for commands, rust, toml or text for the rest",
                self.line
            )),
        }
    }
}

/// Does everything the document shows, in a folder of its own that has the repository's folder for pictures.
fn run_document(document: &Document) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("docs/pictures")).unwrap();
    let place = |error| format!("{}: {error}", document.path.display());
    document.has_plain_fences().map_err(place)?;
    for block in document.blocks() {
        for shown in block.commands().map_err(place)? {
            shown.check(folder.path()).map_err(|error| place(format!("line {}: {error}", shown.line)))?;
        }
    }
    Ok(())
}

impl Shown<'_> {
    fn check(&self, folder: &Path) -> Result<(), String> {
        let command = self.command;
        if let Some(script) = command.strip_prefix("./") {
            return is_executable(&root().join(script)); // `./scripts/test` runs this very test.
        }
        if command.contains("cargo bench ") {
            let bench = format!(
                "crates/{}/benches/{}.rs",
                word_after(command, "-p")?,
                word_after(command, "--bench")?
            );
            return exists(&root().join(bench)); // A benchmark is no test.
        }
        if command.starts_with("cargo install ") {
            return exists(&root().join(word_after(command, "--path")?).join("src/main.rs"));
        }
        let run = command.replace("cargo run --release -- ", "bitonic ");
        if ["cargo", "git"].iter().any(|program| run.split_whitespace().any(|word| word == *program)) {
            return Err(format!("`{command}`: this test does not know how to check that"));
        }
        if ["bitonic bench ", "bitonic tune"].iter().any(|measurement| run.starts_with(measurement)) {
            // Measurements take minutes; whether their options are known can be asked.
            return Shown { output: Vec::new(), ..*self }.run(&format!("{run} --help"), folder);
        }
        self.run(&run, folder)
    }

    fn run(&self, command: &str, folder: &Path) -> Result<(), String> {
        let (command, shown) = with_fewer_keys(command, &self.output.join("\n"))?;
        let output = shell(&command, folder);
        let printed = text_of(&output);
        if !output.status.success() {
            return Err(format!("`{command}` fails:\n{printed}"));
        }
        if shown.trim().is_empty() || lines_match(&lines_of(&shown), &lines_of(&printed)) {
            return Ok(());
        }
        Err(format!("`{command}` does not print\n{shown}\nbut\n{printed}"))
    }
}

/// Sorts of more than a million random keys belong to an optimised build: here they are done with 64K, in the command and in
/// its output. That the number is one which the command understands is still checked.
fn with_fewer_keys(command: &str, shown: &str) -> Result<(String, String), String> {
    if !command.contains(" --random ") {
        return Ok((command.to_owned(), shown.to_owned()));
    }
    let written = word_after(command, "--random")?;
    let plan = Command::new(BITONIC).args(["explain", "--n", written]).output().unwrap();
    let plan = text_of(&plan);
    let keys = plan.split_whitespace().next().unwrap_or_default();
    match keys.parse::<usize>() {
        Ok(count) if count > 1 << 20 => {
            let command = command.replace(&format!("--random {written}"), "--random 64K");
            Ok((command, shown.replace(keys, "65536")))
        }
        Ok(_) => Ok((command.to_owned(), shown.to_owned())),
        Err(_) => Err(plan),
    }
}

/// Runs a line as a shell does, with the built binary as `bitonic`.
fn shell(command: &str, folder: &Path) -> Output {
    let mut path = vec![Path::new(BITONIC).parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    Command::new("bash")
        .args(["-o", "pipefail", "-c", &format!("exec 2>&1; {command}")])
        .env("PATH", std::env::join_paths(path).unwrap())
        // What the user has tuned does not count.
        .env("BITONIC_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
        .current_dir(folder)
        .output()
        .expect("bash runs: the project's scripts need it too")
}

/// Standard output, then standard error.
fn text_of(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

fn word_after<'text>(command: &'text str, option: &str) -> Result<&'text str, String> {
    let mut words = command.split_whitespace();
    words.find(|word| *word == option);
    words.next().ok_or_else(|| format!("`{command}`: nothing follows {option}"))
}

fn exists(path: &Path) -> Result<(), String> {
    if path.is_file() { Ok(()) } else { Err(format!("there is no {}", path.display())) }
}

fn is_executable(path: &Path) -> Result<(), String> {
    exists(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if path.metadata().unwrap().permissions().mode() & 0o111 == 0 {
            return Err(format!("{} is not executable", path.display()));
        }
    }
    Ok(())
}

fn lines_of(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..])),
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others)),
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((before, behind)) = shown.split_once("...") else { return shown == printed };
    let Some(rest) = printed.strip_prefix(before) else { return false };
    (0..=rest.len())
        .filter(|&end| rest.is_char_boundary(end))
        .any(|skipped| line_matches(behind, &rest[skipped..]))
}

/// What becomes of a document with this text.
fn verdict(text: &str) -> Result<(), String> {
    run_document(&Document { path: "test.md".into(), text: text.to_owned() })
}

#[test]
fn commands_share_a_folder_and_their_output_is_compared() {
    let two = "```sh\n# make a file\nprintf '3 1 2' > a.txt\n```\n```console\n$ bitonic sort a.txt\n1\n2\n3\n$ cat a.txt\n3 1 2\n```\n";
    assert_eq!(verdict(two), Ok(()));
    assert_eq!(
        verdict("```console\n$ printf '2 1' | bitonic sort\n2\n1\n```\n"),
        Err("test.md: line 2: `printf '2 1' | bitonic sort` does not print\n2\n1\nbut\n1\n2\n".to_owned())
    );
}

#[test]
fn a_document_is_wrong_if_a_command_fails_or_cannot_be_checked() {
    let wrong = [
        ("```sh\nbitonic network bitnoic 8\n```", "did you mean 'bitonic'"),
        ("```sh\nbitonic network bitnoic 8 | cat\n```", "did you mean 'bitonic'"),
        ("```sh\ncargo run --release -- sort --random many\n```", "'many' is not a valid count"),
        ("```sh\n./scripts/tset\n```", "there is no"),
        ("```sh\n./README.md\n```", "is not executable"),
        ("```sh\ncargo bench -p bitonic-bench --bench gpu\n```", "there is no"),
        ("```sh\ncargo install --path crates/bitonic\n```", "there is no"),
        ("```sh\nbitonic bench gpu --sizse 8\n```", "did you mean '--sizes'"),
        ("```sh\nbitonic bench gpu --sizes many\n```", "'many' is not a valid count"),
        ("```sh\ncargo publish\n```", "does not know how to check"),
        ("```bash\nls\n```", "a block in 'bash'"),
        ("```\nls\n```", "a block in ''"),
        ("```console\nls\n```", "output before the first command"),
        ("- a list\n  ```sh\n  ls\n  ```", "line 2: begin a block"),
    ];
    for (text, reason) in wrong {
        let verdict = verdict(text);
        assert!(verdict.as_ref().is_err_and(|error| error.contains(reason)), "{text}: {verdict:?}");
    }
}

#[test]
fn large_sorts_are_made_smaller_in_the_command_and_in_its_output() {
    let (command, shown) = with_fewer_keys("bitonic sort --random 16M -r", "keys 16777216, ...").unwrap();
    assert_eq!((command.as_str(), shown.as_str()), ("bitonic sort --random 64K -r", "keys 65536, ..."));
    let (command, _) = with_fewer_keys("bitonic sort --random 1000", "").unwrap();
    assert_eq!(command, "bitonic sort --random 1000");
}

#[test]
fn three_dots_stand_for_a_part_of_a_line_or_for_lines() {
    for (shown, printed, expected) in [
        ("a\nb", "a\nb", true),
        ("a\nb", "a", false),
        ("a", "a\nb", false),
        ("a ... c ...", "a b c 12 µs", true),
        ("a ... c", "a b d", false),
        ("...", "", true),
        ("a\n...\nd", "a\nb\nc\nd", true),
        ("a\n...\nd", "a\nb\nc", false),
        ("...\nd\n...", "d", true),
    ] {
        assert_eq!(lines_match(&lines_of(shown), &lines_of(printed)), expected, "{shown:?} and {printed:?}");
    }
}

#[test]
fn links_are_found_outside_of_blocks() {
    let text = "![a](b.svg) and [c](d.md#e)\n```text\n[no](link)\n```\n[f](https://g)".to_owned();
    let document = Document { path: "test.md".into(), text };
    assert_eq!(document.links().collect::<Vec<_>>(), ["b.svg", "d.md#e", "https://g"]);
}
