//! What the library calls its options, in the words of this command.

use std::fmt::Display;

/// What the library's errors advise, and the flags that do it.
const WORDS: &[(&str, &str)] = &[
    ("with memory()", "with --memory"),
    ("with temp()", "with --temp"),
    (
        "leave out oblivious(true), or sort less at a time",
        "leave out --oblivious, or allow more with --memory",
    ),
    ("allow chunks() that are merged on the host", "leave out --no-chunks"),
    ("device_memory()", "--device-memory"),
    ("with threads()", "with --threads"),
    ("oblivious(true), stable(false)", "--oblivious, or none with --stable or --key"),
    ("without stable()", "without --stable"),
    ("give a row length that divides", "give --rows a length that divides"),
    ("leave the choice to bitonic, which takes", "leave out --instructions and BITONIC_INSTRUCTIONS to take"),
    ("sort obliviously on the cpu engine", "sort obliviously with --engine cpu"),
    ("needs none: the cpu engine", "needs none: --engine cpu"),
    ("choose the cpu engine", "choose --engine cpu"),
    ("or the cpu engine", "or --engine cpu"),
    ("choose the opencl engine", "choose --engine opencl"),
];

/// The library's message with flags in place of its calls.
pub(crate) fn in_flags(message: impl Display) -> String {
    WORDS.iter().fold(message.to_string(), |message, (call, flag)| message.replace(call, flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic::{Engine, Error};

    #[test]
    fn messages_name_flags_and_no_calls() {
        let text = |text: &str| text.to_owned();
        let advice = "allow chunks() that are merged on the host, choose the cpu engine, or raise device_memory() or \
                      BITONIC_DEVICE_MEMORY where they set the limit";
        let cases = [
            (Error::MemoryLimit { bytes: 7, runs: 9 }, "with 7 bytes of memory: allow more with --memory"),
            (Error::ObliviousMerge, "leave out --oblivious, or allow more with --memory"),
            (
                Error::Temporary {
                    folder: text("F"),
                    operation: "make",
                    reason: text("R"),
                    advice: "choose another folder with temp()",
                },
                "cannot make a temporary file in F: R: choose another folder with --temp",
            ),
            (Error::OutOfMemory { bytes: 7 }, "--engine cpu, --oblivious, or none with --stable or --key"),
            (Error::Threads { threads: 9, reason: text("R") }, "R; ask for fewer with --threads"),
            (Error::Rows { len: 3, row_length: 2 }, "give --rows a length that divides the number of keys"),
            (
                Error::LargerThanDevice { device: text("D"), bytes: 8, limit: 4, part: "in all", advice },
                "4: leave out --no-chunks, choose --engine cpu, or raise --device-memory or BITONIC_DEVICE_MEMORY where they \
                 set the limit",
            ),
            (
                Error::KernelBuild { kernel: text("K"), device: text("D"), log: text("L") },
                "choose another device or --engine cpu",
            ),
            (Error::DeviceMemory { device: text("D"), bytes: 8, available: 4 }, "or choose --engine cpu"),
            (
                Error::Device { device: text("D"), operation: "O", reason: text("R") },
                "choose another device or --engine cpu",
            ),
            (
                Error::WrongResult { device: text("D"), driver: text("V"), plan: text("P"), finding: "F" },
                "choose another device or --engine cpu",
            ),
            (
                Error::EngineUnavailable {
                    engine: Engine::Cpu,
                    reason: text("this processor has no avx512"),
                    advice: text("leave the choice to bitonic, which takes avx2 here"),
                },
                "leave out --instructions and BITONIC_INSTRUCTIONS to take avx2 here",
            ),
        ];
        for (error, end) in cases {
            let message = in_flags(&error);
            assert!(message.ends_with(end), "{message}");
            assert!(!message.contains("()") && !message.contains("(true)"), "{message}");
        }
    }
}
