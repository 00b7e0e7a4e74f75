//! What a result was measured on and with.

use bitonic::Instructions;
use bitonic_lab::record::{self, Program};
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
    /// The version of bitonic, its commit, and the day.
    pub program: Program,
    /// numpy's version; empty if it did not take part.
    pub numpy: String,
}

impl Machine {
    /// Describes this machine; numpy by the words in which its program describes itself.
    pub fn describe(numpy: Option<&str>) -> Self {
        let numpy = numpy.unwrap_or_default();
        Self {
            processor: record::processor(),
            cores: record::cores(),
            instructions: Instructions::detected(),
            compiler: env!("BITONIC_BENCH_COMPILER"),
            program: Program::of_today(),
            numpy: numpy.strip_prefix("numpy ").unwrap_or(numpy).to_owned(),
        }
    }
}

/// A line for everything that is known.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cores, instructions) = (self.cores.to_string(), self.instructions.to_string());
        let fields = [
            ("processor", self.processor.as_str()),
            ("cores", &cores),
            ("instructions", &instructions),
            ("compiler", self.compiler),
            ("version", self.program.version),
            ("commit", &self.program.commit),
            ("date", &self.program.date),
            ("numpy", &self.numpy),
        ];
        let known = fields.iter().filter(|(_, value)| !value.is_empty());
        let lines: Vec<String> = known.map(|(name, value)| format!("{name:12}  {value}")).collect();
        f.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_has_no_line() {
        let machine = Machine::describe(None);
        let program = Program { commit: String::new(), ..machine.program.clone() };
        let text = Machine { program, ..machine }.to_string();
        assert!(text.contains("processor") && text.contains("compiler"), "{text}");
        assert!(!text.contains("commit") && !text.contains("numpy"), "{text}");
    }
}
