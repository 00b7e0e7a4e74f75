//! A kernel's text: the prelude of a backend, what all kernels share, and the kernel itself.

use crate::Text;
use bitonic::device::Part;
use std::fmt::Write;

/// The text of a file in `kernels/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(super) file: &'static str,
    /// Where it is, under `crates/bitonic-ladder/src`.
    pub(super) path: &'static str,
    pub(super) text: &'static str,
}

impl Source {
    /// The text as people read it.
    pub(crate) const fn text(self) -> Text {
        Text { file: self.path, text: self.text }
    }

    /// The whole text, with a backend's prelude. A device's compiler names the files in `kernels/` and their lines.
    pub(super) fn with_prelude(self, prelude: Part) -> String {
        let prelude = Self { file: prelude.name, path: prelude.name, text: prelude.text };
        let mut whole = String::new();
        for Self { file, text, .. } in [prelude, WORDS, KEY, self] {
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
            path: concat!("gpu/kernels/", $file, ".c"),
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
