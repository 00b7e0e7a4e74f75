//! This program uses every public function of the library: the list is what the library's documentation shows.
//!
//! `scripts/test-packages` makes the documentation and runs this test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_public_function_is_used() {
    let folder =
        std::env::var("BITONIC_DOC").expect("run ./scripts/test-packages, which makes the documentation");
    let mut documented = BTreeSet::new();
    collect(Path::new(&folder), "bitonic", &mut documented);
    // Pages that rustdoc writes in another way would make the list short, not long.
    for known in [
        "bitonic::sort",
        "bitonic::Sorter::sort_pairs",
        "bitonic::key::Key::to_raw_bits",
        "bitonic::with_key_type!",
    ] {
        assert!(
            documented.contains(known),
            "{known} is not found in {folder}: {} functions are",
            documented.len()
        );
    }

    let text: String = ["main", "cuda", "device", "external", "host", "keys", "opencl", "operations", "plan"]
        .iter()
        .map(|module| fs::read_to_string(format!("{}/src/{module}.rs", env!("CARGO_MANIFEST_DIR"))).unwrap())
        .collect();
    let used = paths(&text);
    let unused: Vec<_> = documented.difference(&used).collect();
    assert!(unused.is_empty(), "use these functions in tests/downstream/src, by these names: {unused:#?}");
}

/// The functions, methods and macros on the pages of a module and those below it.
fn collect(folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            collect(&path, &format!("{module}::{name}"), found);
            continue;
        }
        let mut parts = name.split('.');
        let (Some(kind), Some(item), Some("html"), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let page = fs::read_to_string(&path).unwrap();
        // Some pages only lead to others; some are about types of other crates.
        if page.contains("http-equiv=\"refresh\"") || !page.contains("src/bitonic/") {
            continue;
        }
        let item = format!("{module}::{item}");
        match kind {
            "fn" => drop(found.insert(item)),
            "macro" => drop(found.insert(format!("{item}!"))),
            "struct" | "enum" | "trait" | "union" => {
                found.extend(methods(&page).map(|method| format!("{item}::{method}")));
            }
            _ => {}
        }
    }
}

/// The item's own methods: those of the traits that it implements come after them on its page.
fn methods(page: &str) -> impl Iterator<Item = &str> {
    let others = [
        "trait-implementations",
        "synthetic-implementations",
        "blanket-implementations",
        "foreign-impls",
        "implementors",
    ];
    let end = others
        .iter()
        .filter_map(|section| page.find(&format!("id=\"{section}\"")))
        .min()
        .unwrap_or(page.len());
    let sections = page[..end].split("<section id=\"").skip(1);
    sections.filter_map(|section| {
        let name = section.strip_prefix("method.").or_else(|| section.strip_prefix("tymethod."))?;
        name.split('"').next()
    })
}

/// The paths from `bitonic::` on in a program's text, without type parameters: `<u8 as bitonic::key::Key>::TYPE` and
/// `bitonic::key::Key::<..>::TYPE` are both `bitonic::key::Key::TYPE`.
fn paths(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (start, _) in text.match_indices("bitonic::") {
        let mut path = String::new();
        let mut rest = &text[start..];
        loop {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            path.push_str(&rest[..end]);
            rest = &rest[end..];
            if let Some(parameters) = rest.strip_prefix("::<") {
                rest = after_parameters(parameters);
            }
            match rest.strip_prefix(">::").or_else(|| rest.strip_prefix("::")) {
                Some(next) => rest = next,
                None => break,
            }
            path.push_str("::");
        }
        if rest.starts_with('!') {
            path.push('!');
        }
        found.insert(path);
    }
    found
}

/// What follows the `>` that closes parameters which are open.
fn after_parameters(text: &str) -> &str {
    let mut open = 1;
    for (at, character) in text.char_indices() {
        match character {
            '<' => open += 1,
            '>' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

#[test]
fn paths_are_read_without_type_parameters() {
    let text = "bitonic::a(); <u8 as bitonic::key::Key>::b(1); bitonic::C::<Vec<u8>>::d(bitonic::e!())";
    let expected = ["bitonic::a", "bitonic::key::Key::b", "bitonic::C::d", "bitonic::e!"];
    assert_eq!(paths(text), expected.map(str::to_owned).into());
}
