//! Vector instructions are instructions, not calls: an intrinsic that the compiler could not inline, because the function around it
//! does not enable its instruction set, works and costs ten times as much.

use crate::build_probe;
use crate::machine_code::Program;

#[test]
fn no_vector_instruction_is_a_function_of_its_own() {
    let program = Program::disassemble(&build_probe(), |_| false);
    let intrinsics: Vec<&str> = program
        .functions
        .values()
        .map(|function| function.name.as_str())
        .filter(|name| name.contains("core_arch::x86::avx"))
        .collect();
    assert!(program.functions.len() > 100, "the program has functions");
    assert!(intrinsics.is_empty(), "not inlined: {intrinsics:?}");
}
