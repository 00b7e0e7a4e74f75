//! The report in a real browser, without a window: Chromium, which `scripts/test` installs.

use crate::made_up;
use bitonic_lab::report;
use std::path::Path;
use std::process::{Command, Output};

/// Runs Chromium on a page.
fn chromium(folder: &Path, page: &Path, arguments: &[String]) -> Output {
    let profile = folder.join("profile");
    let mut command = Command::new("chromium");
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ]);
    command.args(["--enable-logging=stderr", "--window-size=1200,900", "--virtual-time-budget=10000"]);
    command.arg(format!("--user-data-dir={}", profile.display())).args(arguments);
    command.arg(format!("file://{}", page.display()));
    let output = command.output();
    output.unwrap_or_else(|error| panic!("chromium does not start: {error}; ./scripts/test installs it"))
}

/// What a script says about a page, once it is drawn.
fn ask(folder: &Path, page: &Path, script: &str) -> String {
    let html = std::fs::read_to_string(page).unwrap();
    let asking = page.with_extension("asking.html");
    let script = format!(
        "<script>addEventListener('load', () => {{ const answer = (() => {{ {script} }})(); \
         document.body.innerHTML = '<pre id=answer>' + answer + '</pre>'; }});</script></body>"
    );
    std::fs::write(&asking, html.replace("</body>", &script)).unwrap();
    let output = chromium(folder, &asking, &["--dump-dom".to_owned()]);
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("CONSOLE"), "the console has something to say:\n{said}");
    let answer = text.split_once("<pre id=\"answer\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    answer.unwrap_or_else(|| panic!("no answer:\n{text}\n{said}")).0.to_owned()
}

fn written(folder: &Path) -> std::path::PathBuf {
    let run = folder.join("run");
    std::fs::create_dir(&run).unwrap();
    made_up::write(&run, 1.0);
    report::write(&run).unwrap()
}

#[test]
fn the_report_is_drawn_whole_without_a_word_on_the_console() {
    let folder = tempfile::tempdir().unwrap();
    let page = written(folder.path());
    let charts = std::fs::read_dir(page.with_file_name("plots")).unwrap().count() / 2;
    let answer = ask(
        folder.path(),
        &page,
        "const drawings = [...document.querySelectorAll('figure svg')]; \
         const small = drawings.filter(svg => svg.getBoundingClientRect().width < 700 || svg.getBoundingClientRect().height < 300); \
         const outside = drawings.flatMap(svg => [...svg.querySelectorAll('text')].filter(text => { \
             const t = text.getBoundingClientRect(), s = svg.getBoundingClientRect(); \
             return t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 || t.bottom > s.bottom + 1; }).map(text => text.textContent)); \
         const links = [...document.querySelectorAll('a')].filter(a => !document.querySelector(a.getAttribute('href'))); \
         return [drawings.length, small.length, outside.join(' '), links.length, document.scrollingElement.scrollWidth <= innerWidth, \
                 document.querySelectorAll('table').length > 8, performance.getEntriesByType('resource').length].join('|');",
    );
    assert_eq!(
        answer,
        format!("{charts}|0||0|true|true|0"),
        "drawings|small|outside|dead links|fits|tables|requests"
    );
}

#[test]
fn every_plot_is_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let page = written(folder.path());
    let plots = page.with_file_name("plots");
    let mut images = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&plots).unwrap() {
        count += 1;
        images += &format!("<img src=\"plots/{}\">", entry.unwrap().file_name().to_string_lossy());
    }
    let gallery = page.with_file_name("gallery.html");
    std::fs::write(
        &gallery,
        format!("<!DOCTYPE html><link rel=\"icon\" href=\"data:,\"><body>{images}</body>"),
    )
    .unwrap();
    let answer = ask(
        folder.path(),
        &gallery,
        "const images = [...document.images]; \
         const sizes = new Set(images.map(image => image.naturalWidth + 'x' + image.naturalHeight)); \
         return images.length + ' ' + [...sizes].sort().join(' ');",
    );
    assert_eq!(answer, format!("{count} 1920x1080 960x540"), "PNGs have twice the size of SVGs");
}

#[test]
fn the_report_can_be_printed_and_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let page = written(folder.path());
    let (paper, picture) = (folder.path().join("report.pdf"), folder.path().join("report.png"));
    chromium(folder.path(), &page, &[format!("--print-to-pdf={}", paper.display())]);
    let paper = std::fs::read(paper).unwrap();
    assert!(paper.starts_with(b"%PDF") && paper.len() > 50_000, "{} bytes", paper.len());
    chromium(folder.path(), &page, &[format!("--screenshot={}", picture.display())]);
    assert!(std::fs::read(picture).unwrap().starts_with(b"\x89PNG"));
}
