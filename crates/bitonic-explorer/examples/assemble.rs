//! Puts the explorer together: `cargo run -p bitonic-explorer --example assemble -- PROGRAM.wasm PAGE.html`. The script
//! `scripts/build-explorer` compiles the program and calls this.

use bitonic_explorer::assemble;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let [program, page] =
        env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| {
            io::Error::other("give two file names: the compiled program and the page to write")
        })?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = assemble::page(&root, &fs::read(program)?)?;
    fs::write(&page, &document)?;
    println!("{page}: {} bytes", document.len());
    Ok(())
}
