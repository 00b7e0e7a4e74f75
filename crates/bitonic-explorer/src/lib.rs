#![deny(unsafe_code)]
//! The explorer: one page on which people watch, edit and prove sorting networks.
//!
//! ```text
//!   bitonic, bitonic-network ─┐
//!   src/  answers ────────────┴─ wasm32 ─┐
//!   web/  HTML, CSS, JavaScript ─────────┴─ scripts/build-explorer ── explorer.html
//! ```
//!
//! The page is one file: it opens from disk and asks no server for anything. Everything that is known about networks is in Rust.
//! The page's JavaScript sends a [question](Question) as JSON and gets an [`answer()`] as JSON; it draws, and it reacts to the
//! reader. So the page and the library cannot disagree.
//!
//! - [`answer()`]: the questions and their answers;
//! - `door`: how text gets into and out of the compiled page (wasm only);
//! - [`page`]: the committed page, for the command, which may open it with content of its own;
//! - [`machine`]: what sorts are planned for, the command's devices among it;
//! - [`measured`]: times from a run of the laboratory, for the page;
//! - [`assemble`]: how the page is put together from its sources.

mod answer;
#[cfg(target_family = "wasm")]
mod door;
mod edit;
mod ladder;
mod large;
pub mod machine;
mod network;
mod plan;
mod prove;
mod run;
mod runs;

#[cfg(not(target_family = "wasm"))]
pub mod assemble;
#[cfg(not(target_family = "wasm"))]
pub mod measured;
#[cfg(not(target_family = "wasm"))]
pub mod page;
#[cfg(not(target_family = "wasm"))]
mod recorded;

pub use answer::{Question, answer};
