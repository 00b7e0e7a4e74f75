//! The AVX-512 kernels, which valgrind cannot run: keys are followed through their machine code.

use crate::build_probe;
use crate::effects::Kind;
use crate::flow::{Finding, findings};
use crate::machine_code::Program;

/// How many oblivious kernels there are at least for every width: for tiles of several shapes, merges and conversions.
const LEAST_KERNELS: usize = 8;

/// Kernels of the default sort and of `top_k` whose path depends on keys, and which no oblivious operation calls: the control.
const DEPENDENT: [&str; 5] =
    ["partition_keys", "order_and_partition", "is_ascending", "is_descending", "first_below"];

/// Kernels of the default sort that may be either, as the compiler likes.
const UNDECIDED: [&str; 1] = ["count_values"];

#[test]
fn no_jump_and_no_address_of_an_oblivious_avx512_kernel_depends_on_a_key() {
    let program = Program::disassemble(&build_probe(), is_kernel);
    let kernels = program.functions.values().filter(|function| is_oblivious(&function.name));
    for table in ["U16_KERNELS", "U32_KERNELS", "U64_KERNELS", "U128_KERNELS"] {
        let count = kernels.clone().filter(|function| has_part(&function.name, table)).count();
        assert!(count >= LEAST_KERNELS, "only {count} functions of {table} were found to be checked");
    }
    for function in kernels {
        let findings = findings(&program, function, is_oblivious);
        let list = findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n");
        assert!(findings.is_empty(), "{}, {} findings:\n{list}", function.name, findings.len());
    }
}

#[test]
fn the_same_check_catches_the_avx512_kernels_of_the_default_sort() {
    let program = Program::disassemble(&build_probe(), is_kernel);
    for kernel in DEPENDENT {
        let is_it = |name: &str| is_kernel(name) && has_part(name, kernel);
        let functions: Vec<_> = program.functions.values().filter(|function| is_it(&function.name)).collect();
        assert!(functions.len() >= 4, "{kernel} for keys of 16, 32, 64 and 128 bits");
        for function in functions {
            let findings = findings(&program, function, is_oblivious);
            let is_caught = findings.iter().any(|finding| finding.kind == Kind::Leak);
            assert!(is_caught, "{} depends on its keys, and the check does not see it", function.name);
        }
    }
}

/// Whether a function is compiled for AVX-512.
fn is_kernel(name: &str) -> bool {
    has_part(name, "avx512")
}

/// Every function compiled for AVX-512 has to be oblivious unless it is known as one that need not.
fn is_oblivious(name: &str) -> bool {
    is_kernel(name) && !DEPENDENT.iter().chain(&UNDECIDED).any(|kernel| has_part(name, kernel))
}

/// Whether a path has this part.
fn has_part(path: &str, part: &str) -> bool {
    path.split("::").any(|it| it == part)
}
