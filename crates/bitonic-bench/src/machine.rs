//! What a result was measured on and with.

use bitonic::{Instructions, Sorter};
use bitonic_testkit::record;
use std::fmt;

/// What a result was measured on and with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// How many cores this process may use.
    pub cores: usize,
    /// The instruction set of our kernels.
    pub instructions: Instructions,
    /// The compiler that built the benchmark.
    pub compiler: &'static str,
    /// The version of bitonic.
    pub version: &'static str,
    /// The commit of the sources, with `-dirty` if they were changed since; empty if git does not know.
    pub commit: String,
    /// The day, in UTC.
    pub date: String,
    /// numpy's version; empty if it did not take part.
    pub numpy: String,
}

impl Machine {
    /// Describes this machine.
    pub fn describe(numpy: Option<&str>) -> Self {
        // A plan names the processor it is for.
        let plan = Sorter::new().plan::<u32>(0);
        Self {
            processor: plan
                .map_or_else(|_| std::env::consts::ARCH.to_owned(), |plan| plan.device.into_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            instructions: Instructions::detected(),
            compiler: env!("BITONIC_BENCH_COMPILER"),
            version: env!("CARGO_PKG_VERSION"),
            commit: record::commit(),
            date: record::today(),
            numpy: numpy.unwrap_or_default().to_owned(),
        }
    }

    /// Everything, by name.
    pub fn fields(&self) -> [(&'static str, String); 8] {
        [
            ("processor", self.processor.clone()),
            ("cores", self.cores.to_string()),
            ("instructions", self.instructions.to_string()),
            ("compiler", self.compiler.to_owned()),
            ("version", self.version.to_owned()),
            ("commit", self.commit.clone()),
            ("date", self.date.clone()),
            ("numpy", self.numpy.clone()),
        ]
    }
}

/// A line for everything that is known.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields();
        let known: Vec<String> = fields
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name:12}  {value}"))
            .collect();
        f.write_str(&known.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_has_no_line() {
        let machine = Machine { commit: String::new(), ..Machine::describe(None) };
        let text = machine.to_string();
        assert!(text.contains("processor") && text.contains("compiler"), "{text}");
        assert!(!text.contains("commit") && !text.contains("numpy"), "{text}");
    }
}
