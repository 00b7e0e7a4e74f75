//! How the page is put together: one HTML document from the files in `web/` and the compiled program.

use crate::page::NOTHING_OPENED;
use crate::{measured, recorded};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the page is made of, seen from the root of the repository: files, and folders with everything in them.
const SOURCES: &[&str] = &[
    "crates/bitonic-explorer/src",
    "crates/bitonic-explorer/web",
    "crates/bitonic-ladder/src/cpu",
    "crates/bitonic-ladder/src/gpu/kernels",
    "crates/bitonic-network/networks",
    "crates/bitonic-network/src",
    "crates/bitonic/src/gpu/cut.rs",
    "crates/bitonic/src/gpu/element.rs",
    "crates/bitonic/src/gpu/facts.rs",
    "crates/bitonic/src/gpu/job.rs",
    "crates/bitonic/src/gpu/kernel.rs",
    "crates/bitonic/src/gpu/plan.rs",
    "crates/bitonic/src/gpu/strategy",
    "crates/bitonic/src/gpu/tuning/measured.rs",
    "crates/bitonic/src/plan",
    "crates/bitonic/src/request.rs",
    RECORDED,
    "scripts/build-explorer",
];

/// Times that the page shows when it was given none: a recorded run on an NVIDIA H200.
const RECORDED: &str = "docs/results/lab-documents-h200-cuda/summary.csv";

/// The document whose tables have the times of whole sorts. The page is older than it only when a time has changed.
const BENCHMARKS: &str = "docs/benchmarks.md";

/// The page from its sources under the repository's root and the compiled program.
///
/// # Errors
/// What cannot be read, or what the sources lack.
pub fn page(root: &Path, program: &[u8]) -> io::Result<String> {
    let web = root.join("crates/bitonic-explorer/web");
    let mut page = fs::read_to_string(web.join("index.html"))?;
    let fill = [
        ("SOURCES", fingerprint(root)?),
        ("STYLE", fs::read_to_string(web.join("style.css"))?),
        ("LADDER", ladder(root)?),
        ("MEASURED", of_ladder(root)?),
        ("RECORDED", of_sorts(root)?),
        ("PROGRAM", base64(&compressed(program)?)),
        ("WORKER", modules(&web, "worker.js")?),
        ("SCRIPT", modules(&web, "main.js")?),
    ];
    for (name, content) in fill {
        let place = format!("{{{{{name}}}}}");
        if page.matches(&place).count() != 1 {
            return Err(io::Error::other(format!("index.html must have {place} once")));
        }
        page = page.replace(&place, &content);
    }
    match page.contains(NOTHING_OPENED) {
        true => Ok(page),
        false => Err(io::Error::other(format!("index.html lacks {NOTHING_OPENED}"))),
    }
}

/// The texts of the ladder's rungs, by the names of their files, as JSON that may stand in a script element.
fn ladder(root: &Path) -> io::Result<String> {
    let folder = root.join("crates/bitonic-ladder/src");
    let texts = crate::ladder::files()
        .map(|file| Ok((file.to_owned(), fs::read_to_string(folder.join(file))?.into())))
        .collect::<io::Result<serde_json::Map<_, _>>>()?;
    Ok(serde_json::Value::Object(texts).to_string().replace("</", "<\\/"))
}

/// The recorded times of the ladder's rungs.
fn of_ladder(root: &Path) -> io::Result<String> {
    let summary = fs::read_to_string(root.join(RECORDED))?;
    let measured = measured::of_summary(
        &summary,
        "an NVIDIA H200 and 16 cores, recorded in docs/results/lab-documents-h200-cuda",
    );
    measured
        .map(|value| value.to_string())
        .ok_or_else(|| io::Error::other(format!("{RECORDED} has no times")))
}

/// The recorded times of whole sorts.
fn of_sorts(root: &Path) -> io::Result<String> {
    let document = fs::read_to_string(root.join(BENCHMARKS))?;
    let times = recorded::of_benchmarks(&document);
    let times = times.map_err(|reason| io::Error::other(format!("{BENCHMARKS}: {reason}")))?;
    Ok(times.to_string())
}

/// A number that changes with every change of the sources, as text. The page carries it.
///
/// # Errors
/// What cannot be read.
pub fn fingerprint(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&root.join(source), &mut files)?;
    }
    // FNV-1a: not for secrets, but any change of a source changes it.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for file in files {
        let name = file.strip_prefix(root).expect("sources are under the root").components();
        for part in name {
            add(part.as_os_str().as_encoded_bytes());
            add(b"/");
        }
        add(&fs::read(&file)?);
        add(b"\0");
    }
    add(of_sorts(root)?.as_bytes());
    Ok(format!("{hash:016x}"))
}

/// All files under a path, in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable();
    entries.iter().try_for_each(|entry| collect(entry, files))
}

/// A module with all it imports, as one script: imports go away, and what they name stands before.
///
/// Modules import each other in lines such as `import { a, b } from './file.js';`. All names share one scope then, and the browser
/// refuses a name that two modules give away.
fn modules(web: &Path, name: &str) -> io::Result<String> {
    let mut script = String::new();
    add_module(web, name, &mut Vec::new(), &mut script)?;
    Ok(script)
}

fn add_module(web: &Path, name: &str, seen: &mut Vec<String>, script: &mut String) -> io::Result<()> {
    if seen.iter().any(|other| other == name) {
        return Ok(());
    }
    seen.push(name.to_owned());
    let text = fs::read_to_string(web.join(name))
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    let mut body = String::new();
    for line in text.lines() {
        if line.starts_with("import ") {
            let imported = line.split_once(" from './").and_then(|(_, rest)| rest.strip_suffix("';"));
            let imported = imported
                .ok_or_else(|| io::Error::other(format!("{name}: write an import in one line: {line}")))?;
            add_module(web, imported, seen, script)?;
        } else {
            body.push_str(line.strip_prefix("export ").unwrap_or(line));
            body.push('\n');
        }
    }
    script.push_str(&body);
    Ok(())
}

/// Gzip, which browsers unpack themselves: a third of the size.
fn compressed(program: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(program)?;
    encoder.finish()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            match digit <= three.len() {
                true => text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize])),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_base64() {
        let pairs = [("", ""), ("M", "TQ=="), ("Ma", "TWE="), ("Man", "TWFu"), ("light w", "bGlnaHQgdw==")];
        for (bytes, text) in pairs {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
