//! The documents that rungs come from.

use std::fmt;

/// Where a rung comes from. `docs/sources.md` names the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Document {
    /// An article that improves the loops of bitonic sort on a CPU, counter by counter, and moves them to OpenCL.
    LoopsToOpenCl,
    /// A program for OpenCL that stages keys in local memory, with three kernels by size of biton and bucket.
    LocalMemory,
    /// A lecture on sorting networks, with bitonic sort for CPUs, OpenMP and CUDA.
    Lecture,
    /// A report on an application that measures bitonic and odd-even sort on CPU and GPU, before and after optimisation.
    Research,
    /// A series on an OpenCL sorting library in C++.
    Library,
    /// No document: a step between two of their programs, or beyond them.
    Own,
}

impl Document {
    /// All of them.
    pub const ALL: &[Self] =
        &[Self::LoopsToOpenCl, Self::LocalMemory, Self::Lecture, Self::Research, Self::Library, Self::Own];

    /// What the document is about.
    pub const fn subject(self) -> &'static str {
        match self {
            Self::LoopsToOpenCl => "bitonic sort from CPU loops to naive OpenCL kernels",
            Self::LocalMemory => "bitonic sort on OpenCL with local memory",
            Self::Lecture => "a lecture on sorting networks, OpenMP and CUDA",
            Self::Research => "a research application: bitonic and odd-even sort on CPU and GPU",
            Self::Library => "an OpenCL sorting library in C++",
            Self::Own => "none; a step that the ladder adds",
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.subject())
    }
}
