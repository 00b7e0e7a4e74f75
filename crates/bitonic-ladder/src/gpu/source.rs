//! A kernel's text: the prelude of a dialect, what all kernels share, and the kernel itself.

use std::fmt::Write;

/// The text of a file in `kernels/`.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
}

/// The languages that kernels are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    OpenCl,
    Cuda,
}

impl Source {
    /// The whole text. A device's compiler names the files in `kernels/` and their lines.
    pub(super) fn in_dialect(self, dialect: Dialect) -> String {
        let prelude = match dialect {
            Dialect::OpenCl => PRELUDE_OPENCL,
            Dialect::Cuda => PRELUDE_CUDA,
        };
        let mut whole = String::new();
        for Self { file, text } in [prelude, KEY, self] {
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

const PRELUDE_OPENCL: Source = source!("kernels", "prelude_opencl");
const PRELUDE_CUDA: Source = source!("kernels", "prelude_cuda");
const KEY: Source = source!("kernels", "key");
