//! The door between the page and Rust: one buffer of text.
//!
//! The page asks for room in the buffer, writes a question there, and calls `ask`; then the buffer holds the answer. Rust never
//! follows an address that the page made up.
#![allow(
    unsafe_code,
    reason = "names of exports must not be mangled, and the compiler counts that as unsafe"
)]

use std::sync::Mutex;

static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Makes room for a question of this many bytes; the address is where they go.
// SAFETY: no other export has this name.
#[unsafe(no_mangle)]
extern "C" fn room(bytes: usize) -> *const u8 {
    let mut buffer = BUFFER.lock().expect("a panic ends the page's program");
    buffer.clear();
    buffer.resize(bytes, 0);
    buffer.as_ptr()
}

/// Answers the question in the buffer; the result is the number of bytes of the answer.
// SAFETY: no other export has this name.
#[unsafe(no_mangle)]
extern "C" fn ask() -> usize {
    let mut buffer = BUFFER.lock().expect("a panic ends the page's program");
    let answer = crate::answer(&String::from_utf8_lossy(&buffer));
    *buffer = answer.into_bytes();
    buffer.len()
}

/// Where the answer is.
// SAFETY: no other export has this name.
#[unsafe(no_mangle)]
extern "C" fn answer_address() -> *const u8 {
    BUFFER.lock().expect("a panic ends the page's program").as_ptr()
}
