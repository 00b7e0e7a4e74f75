//! Disassembled functions: what `objdump` prints, as data.

use crate::standard_output;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A program's code, and as much of the rest as is needed to see where jumps and calls lead.
pub(crate) struct Program {
    /// Functions by address.
    pub(crate) functions: BTreeMap<u64, Function>,
    /// What dynamic linking puts at an address: the name of a function.
    pub(crate) linked: BTreeMap<u64, String>,
    /// The pieces of the file that are loaded, by address.
    pub(crate) segments: Vec<(u64, Vec<u8>)>,
}

pub(crate) struct Function {
    pub(crate) name: String,
    /// Instructions by address.
    pub(crate) instructions: BTreeMap<u64, Instruction>,
}

#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) text: String,
    pub(crate) mnemonic: String,
    /// The destination first.
    pub(crate) operands: Vec<Operand>,
    /// The opmask register that selects lanes; 0 if there is none.
    pub(crate) mask: usize,
    /// The address that an operand relative to the instruction pointer comes to.
    pub(crate) constant: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A general-purpose register, and how many bytes of it.
    General(usize, usize),
    /// A vector register.
    Vector(usize),
    /// An opmask register.
    Mask(usize),
    Memory(Memory),
    /// A number, or the target of a jump.
    Immediate(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// The general-purpose registers in the address, base first.
    pub(crate) registers: Vec<usize>,
    /// Whether a vector register is in the address: a gather or a scatter.
    pub(crate) is_vector: bool,
    /// Whether the address is relative to the instruction pointer.
    pub(crate) is_constant: bool,
    pub(crate) displacement: i64,
    pub(crate) bytes: i64,
}

/// The stack pointer's number among the general-purpose registers.
pub(crate) const STACK_POINTER: usize = 4;

/// The frame pointer's.
pub(crate) const FRAME_POINTER: usize = 5;

const BINUTILS: &str = "install binutils, on Debian and Ubuntu with 'sudo apt-get install binutils'";

impl Program {
    /// Disassembles the functions whose names pass the filter; of the others only the names are kept.
    pub(crate) fn disassemble(path: &Path, wanted: impl Fn(&str) -> bool) -> Self {
        let objdump = |options: &[&str]| {
            standard_output(Command::new("objdump").args(options).arg("--demangle").arg(path), BINUTILS)
        };
        let functions = functions(
            &objdump(&["--disassemble", "--disassembler-options=intel", "--no-show-raw-insn"]),
            wanted,
        );
        let relocations = objdump(&["--dynamic-reloc"]);
        let linked = relocations.lines().filter_map(|line| linked_function(line, &functions)).collect();
        let file = std::fs::read(path).expect("the program can be read");
        Self { functions, linked, segments: loaded_segments(&file) }
    }

    /// The four bytes at an address, as a signed number.
    pub(crate) fn word_at(&self, address: u64) -> Option<i32> {
        let (start, bytes) = self
            .segments
            .iter()
            .find(|(start, bytes)| (*start..start + bytes.len() as u64).contains(&address))?;
        let offset = (address - start) as usize;
        Some(i32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
    }
}

/// Reads a disassembly: a line `address <name>:`, then a line for every instruction.
pub(crate) fn functions(text: &str, wanted: impl Fn(&str) -> bool) -> BTreeMap<u64, Function> {
    let mut functions = BTreeMap::new();
    let mut current: Option<&mut Function> = None;
    for line in text.lines() {
        if let Some((address, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            let function = Function { name: name.to_owned(), instructions: BTreeMap::new() };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            current = Some(functions.entry(address).or_insert(function));
        } else if let Some(function) = &mut current
            && wanted(&function.name)
            && let Some((address, text)) = line.split_once(":\t")
        {
            let address = u64::from_str_radix(address.trim(), 16).expect("an address");
            function.instructions.insert(address, Instruction::parse(text));
        }
    }
    functions
}

/// `address type value`, where the value is a name or the address of a function in the program.
fn linked_function(line: &str, functions: &BTreeMap<u64, Function>) -> Option<(u64, String)> {
    let mut columns = line.split_whitespace();
    let address = u64::from_str_radix(columns.next()?, 16).ok()?;
    let value = columns.nth(1)?;
    let name = match value.strip_prefix("*ABS*+0x") {
        Some(target) => functions.get(&u64::from_str_radix(target, 16).ok()?)?.name.clone(),
        None => value.to_owned(),
    };
    Some((address, name))
}

/// The loaded segments of a 64-bit ELF file.
fn loaded_segments(file: &[u8]) -> Vec<(u64, Vec<u8>)> {
    const LOAD: u64 = 1;
    let number = |at: usize, bytes: usize| {
        file[at..at + bytes].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
    };
    assert!(file.starts_with(b"\x7fELF\x02"), "a 64-bit ELF file");
    let (table, entry_size, entries) = (number(32, 8), number(54, 2), number(56, 2));
    let headers = (0..entries).map(|index| (table + index * entry_size) as usize);
    let loaded = headers.filter(|&header| number(header, 4) == LOAD);
    loaded
        .map(|header| {
            let (offset, size) = (number(header + 8, 8) as usize, number(header + 32, 8) as usize);
            (number(header + 16, 8), file[offset..offset + size].to_vec())
        })
        .collect()
}

impl Instruction {
    /// Reads `mnemonic operand,operand # address <name>`, where the part from `#` on tells a constant's address.
    fn parse(text: &str) -> Self {
        let (code, comment) = text.split_once('#').unwrap_or((text, ""));
        let constant = comment.split_whitespace().next().and_then(|word| u64::from_str_radix(word, 16).ok());
        let mut rest = code.trim();
        // Prefixes that only make an instruction longer, or matter to other programs than this.
        while let Some(after) =
            ["data16 ", "cs ", "notrack "].iter().find_map(|prefix| rest.strip_prefix(prefix))
        {
            rest = after.trim_start();
        }
        let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        // The name of a jump's target may contain commas.
        let operands = operands.split_once('<').map_or(operands, |(operands, _)| operands).trim();
        let mask =
            operands.split_once("{k").map_or(0, |(_, rest)| rest[..1].parse().expect("an opmask register"));
        let operands =
            operands.split(',').filter(|operand| !operand.is_empty()).map(Operand::parse).collect();
        Self { text: code.trim().to_owned(), mnemonic: mnemonic.to_owned(), operands, mask, constant }
    }

    /// Whether it does nothing: what compilers put between pieces of code.
    pub(crate) fn is_padding(&self) -> bool {
        matches!(self.mnemonic.as_str(), "nop" | "int3" | "ud2") || self.text == "xchg   ax,ax"
    }

    /// Whether an address in it is relative to this register.
    pub(crate) fn accesses_memory_at(&self, register: usize) -> bool {
        let is_relative = |operand: &Operand| matches!(operand, Operand::Memory(memory) if memory.registers.contains(&register));
        self.operands.iter().any(is_relative)
    }
}

impl Operand {
    fn parse(text: &str) -> Self {
        let bare = text.split_once('{').map_or(text, |(bare, _)| bare).trim();
        if let Some((size, address)) = text.split_once('[') {
            let (address, _) = address.split_once(']').expect("a closed bracket");
            return Self::Memory(Memory::parse(size, address));
        }
        if let Some((register, bytes)) = general_register(bare) {
            return Self::General(register, bytes);
        }
        if let Some(register) = vector_register(bare) {
            return Self::Vector(register);
        }
        if let Some(number) = bare.strip_prefix('k').and_then(|number| number.parse().ok()) {
            return Self::Mask(number);
        }
        let digits = bare.strip_prefix("0x").unwrap_or(bare);
        Self::Immediate(
            u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("'{text}' is not understood")),
        )
    }
}

impl Memory {
    fn parse(size: &str, address: &str) -> Self {
        let bytes = match size.split_whitespace().next() {
            Some("BYTE") => 1,
            Some("WORD") => 2,
            Some("DWORD") => 4,
            Some("XMMWORD") => 16,
            Some("YMMWORD") => 32,
            Some("ZMMWORD") => 64,
            _ => 8,
        };
        let mut memory =
            Self { registers: Vec::new(), is_vector: false, is_constant: false, displacement: 0, bytes };
        // The displacement is the only part that can be negative.
        for part in address.replace('-', "+-").split('+').filter(|part| !part.is_empty()) {
            let name = part.split_once('*').map_or(part, |(name, _)| name);
            if let Some((register, _)) = general_register(name) {
                memory.registers.push(register);
            } else if vector_register(name).is_some() {
                memory.is_vector = true;
            } else if name == "rip" {
                memory.is_constant = true;
            } else if let Some(digits) = name.strip_prefix("0x") {
                memory.displacement = u64::from_str_radix(digits, 16).expect("a displacement").cast_signed();
            } else if let Some(digits) = name.strip_prefix("-0x") {
                memory.displacement = -i64::from_str_radix(digits, 16).expect("a displacement");
            } else {
                panic!("the address [{address}] is not understood");
            }
        }
        memory
    }
}

/// The number of a vector register by any of its names.
fn vector_register(name: &str) -> Option<usize> {
    ["xmm", "ymm", "zmm"].iter().find_map(|prefix| name.strip_prefix(prefix)?.parse().ok())
}

/// The number of a general-purpose register by any of its names, and how many of its bytes the name means.
fn general_register(name: &str) -> Option<(usize, usize)> {
    const WORDS: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];
    const HIGH_BYTES: [&str; 4] = ["ah", "ch", "dh", "bh"];
    if let Some(number) =
        name.strip_prefix('r').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    {
        let digits = number.trim_end_matches(['d', 'w', 'b']);
        let bytes = match &number[digits.len()..] {
            "" => 8,
            "d" => 4,
            "w" => 2,
            _ => 1,
        };
        return Some((digits.parse().ok()?, bytes));
    }
    let position = |word: &str| WORDS.iter().position(|&known| known == word);
    if let Some(word) = name.strip_prefix('r') {
        return Some((position(word)?, 8));
    }
    if let Some(register) = name.strip_prefix('e').and_then(position) {
        return Some((register, 4));
    }
    if let Some(register) = position(name) {
        return Some((register, 2));
    }
    if let Some(register) = HIGH_BYTES.iter().position(|&known| known == name) {
        return Some((register, 1));
    }
    let word = name.strip_suffix('l')?;
    let register = WORDS.iter().position(|&known| known == word || known.strip_suffix('x') == Some(word))?;
    Some((register, 1))
}
