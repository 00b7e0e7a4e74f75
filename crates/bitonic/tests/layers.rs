//! The picture of the layers in docs/architecture.md is true: every module imports only from its own layer or from those below it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of the library, the lowest first. Modules of one layer may use each other.
const LAYERS: &[&[&str]] = &[
    &["error", "engine", "instructions"],
    &["key"],
    &["request"],
    &["plan"],
    &["report"],
    &["cpu"],
    &["gpu"],
    &["device", "sorter", "permutation", "sorted"],
    &["external"],
    &["functions"],
    &["extension", "axes"],
    &["lib"],
];

/// The rooms of `gpu/`, the lowest first.
const ROOMS: &[&[&str]] = &[
    &["lock", "choice", "cache", "no_cache", "opened", "budget"],
    &["facts", "element", "job", "strided"],
    &["kernel"],
    &["tuning"],
    &["strategy"],
    &["cut", "plan"],
    &["driver", "memory", "state", "execute", "bandwidth", "programs"],
    &["trial", "search", "against_cpu", "tuned"],
    &["engine", "opencl", "cuda"],
    &["backends"],
    &["auto"],
    &["mod"],
];

/// Names that the crate's root exports, and the module of each.
const EXPORTED: &[(&str, &str)] = &[
    ("Error", "error"),
    ("Engine", "engine"),
    ("Instructions", "instructions"),
    ("Key", "key"),
    ("Order", "key"),
    ("Request", "request"),
    ("Segments", "request"),
    ("Index", "request"),
    ("Report", "report"),
    ("DeviceTimes", "report"),
    ("Sorter", "sorter"),
    ("TopK", "sorter"),
    ("SortKey", "permutation"),
    ("DeviceChoice", "device"),
];

/// Names that `gpu/mod.rs` exports, and the room of each.
const EXPORTED_ROOMS: &[(&str, &str)] =
    &[("DeviceState", "state"), ("cache_folder", "cache"), ("is_trusted", "cache")];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text without its tests: those may use anything.
fn without_tests(path: &Path) -> String {
    if path.file_stem().is_some_and(|stem| stem == "tests" || stem == "testing") {
        return String::new();
    }
    let text = fs::read_to_string(path).expect("the file can be read");
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.take_while(|line| !line.starts_with("#[cfg(test)]\nmod") && *line != "mod tests {").fold(
        String::new(),
        |mut code, line| {
            code.push_str(line);
            code.push('\n');
            code
        },
    )
}

/// The names that directly follow `prefix`, those in braces included.
fn names_after(text: &str, prefix: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    for (place, _) in text.match_indices(prefix) {
        let rest = &text[place + prefix.len()..];
        match rest.strip_prefix('{') {
            // The names at the first level of `use crate::{a::b, C, d::{e, f}}`.
            Some(list) => {
                let (mut depth, mut starts_name) = (0, true);
                for (offset, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => starts_name = true,
                        _ if starts_name && is_name(c) => {
                            let name: String = list[offset..].chars().take_while(|&c| is_name(c)).collect();
                            names.push(name);
                            starts_name = false;
                        }
                        _ => {}
                    }
                }
            }
            None => names.push(rest.chars().take_while(|&c| is_name(c)).collect()),
        }
    }
    names.retain(|name| !name.is_empty() && name != "self");
    names
}

fn ranks(layers: &[&[&'static str]]) -> BTreeMap<&'static str, usize> {
    let ranked =
        layers.iter().enumerate().flat_map(|(rank, names)| names.iter().map(move |&name| (name, rank)));
    ranked.collect()
}

/// The layer that a file belongs to: the first part of its path below a folder.
fn module_of(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).expect("the file is in the folder");
    let first = below.components().next().expect("a file has a name");
    Path::new(first.as_os_str()).file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

/// What imports upwards, in words.
fn upward_imports(
    folder: &Path,
    prefix: &str,
    layers: &[&[&'static str]],
    exported: &[(&str, &str)],
) -> Vec<String> {
    let ranks = ranks(layers);
    let mut files = Vec::new();
    sources(folder, &mut files);
    let mut wrong = Vec::new();
    for path in files {
        let module = module_of(&path, folder);
        let mut text = without_tests(&path);
        if text.is_empty() {
            continue;
        }
        // In the folder itself, `super` is the folder; in a module inside a file, which is indented, it is the file.
        if path.parent() == Some(folder) {
            text = text.replace("\nuse super::", &format!("\nuse {prefix}"));
        }
        let &rank =
            ranks.get(module.as_str()).unwrap_or_else(|| panic!("{module} has no layer in this test"));
        for name in names_after(&text, prefix) {
            let target =
                exported.iter().find(|(export, _)| *export == name).map_or(name.as_str(), |row| row.1);
            match ranks.get(target) {
                Some(&of_target) if of_target <= rank => {}
                Some(_) => wrong.push(format!("{} imports {prefix}{name}", path.display())),
                // Macros and functions of the root are used by tests and documentation only.
                None if name.starts_with(char::is_lowercase)
                    && text.contains(&format!("{prefix}{name}!")) => {}
                None => panic!("{} imports {prefix}{name}, which has no layer in this test", path.display()),
            }
        }
    }
    wrong
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn modules_import_only_downward() {
    let wrong = upward_imports(&source(), "crate::", LAYERS, EXPORTED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_of_the_gpu_folder_import_only_downward() {
    let wrong = upward_imports(&source().join("gpu"), "crate::gpu::", ROOMS, EXPORTED_ROOMS);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Backends are named in their own folders, in the list of backends, and where the crate exports them; nowhere else.
#[test]
fn backends_are_named_in_their_folders_and_one_list() {
    let mut files = Vec::new();
    sources(&source(), &mut files);
    let mut named = Vec::new();
    for path in files {
        let below = path.strip_prefix(source()).expect("a source").to_string_lossy().replace('\\', "/");
        let may = below.starts_with("gpu/opencl/")
            || below.starts_with("gpu/cuda/")
            || matches!(below.as_str(), "lib.rs" | "engine.rs" | "gpu/backends.rs" | "gpu/facts.rs");
        let text = without_tests(&path);
        let names = ["opencl::", "cuda::", "Engine::OpenCl", "Engine::Cuda", "opencl3", "cudarc"];
        if !may && names.iter().any(|name| text.contains(name)) {
            named.push(below);
        }
    }
    assert!(named.is_empty(), "{named:?} name a backend");
}

#[test]
fn the_picture_shows_the_layers_of_this_test() {
    let picture =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md"))
            .expect("the documentation is there");
    for names in LAYERS.iter().chain(ROOMS).flat_map(|layer| layer.iter()) {
        assert!(picture.contains(names), "docs/architecture.md does not show {names}");
    }
}

#[test]
fn names_are_found_in_lists_and_alone() {
    let text = "use crate::{Error, gpu::driver::{A, B}, key};\ncrate::plan::Plan";
    assert_eq!(names_after(text, "crate::"), ["Error", "gpu", "key", "plan"]);
}
