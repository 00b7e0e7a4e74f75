//! A kernel's text: the prelude of a backend, what all kernels share, and the kernel itself.

use bitonic::device::Part;
use std::fmt::Write;

/// The text of a file in `kernels/`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
}

impl Source {
    /// The whole text, with a backend's prelude. A device's compiler names the files in `kernels/` and their lines.
    pub(super) fn with_prelude(self, prelude: Part) -> String {
        let prelude = Self { file: prelude.name, text: prelude.text };
        let mut whole = String::new();
        for Self { file, text } in [prelude, WORDS, KEY, self] {
            // Writing to a string cannot fail.
            let _ = writeln!(whole, "#line 1 \"{file}\"\n{text}");
        }
        whole
    }
}

/// Reads `kernels/$file.c` when the ladder is compiled; `$folder` leads there from the file that says this.
macro_rules! source {
    ($folder:literal, $file:literal) => {
        $crate::gpu::source::Source {
            file: concat!($file, ".c"),
            text: include_str!(concat!($folder, "/", $file, ".c")),
        }
    };
    ($file:literal) => {
        $crate::gpu::source::source!("../kernels", $file)
    };
}
pub(super) use source;

const WORDS: Source = source!("kernels", "words");
const KEY: Source = source!("kernels", "key");
