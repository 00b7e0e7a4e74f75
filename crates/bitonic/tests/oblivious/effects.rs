//! What one instruction does: which registers, flags and places on the stack may depend on a key afterwards.

use crate::machine_code::{Instruction, Memory, Operand, STACK_POINTER};
use std::collections::BTreeMap;

/// What is wrong with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Time or memory accesses may depend on a key.
    Leak,
    /// The analysis has no rule for the instruction.
    NotUnderstood,
}

/// A result, or what is wrong and why.
pub(crate) type Checked<T = ()> = Result<T, (Kind, String)>;

pub(crate) fn leak<T>(reason: impl Into<String>) -> Checked<T> {
    Err((Kind::Leak, reason.into()))
}

pub(crate) fn not_understood<T>(reason: impl Into<String>) -> Checked<T> {
    Err((Kind::NotUnderstood, reason.into()))
}

/// Vector instructions whose result has nothing of what was in the destination before. One that is missing here is
/// taken to combine the two.
const OVERWRITING: [&str; 24] = [
    "vmov",
    "vpbroadcast",
    "vbroadcast",
    "vpadd",
    "vpsub",
    "vpsll",
    "vpsrl",
    "vpsra",
    "vpmul",
    "vextract",
    "vinsert",
    "vpinsr",
    "vpextr",
    "vpshuf",
    "vshuf",
    "vpunpck",
    "vpxor",
    "vpand",
    "vpor",
    "vpblend",
    "vpmin",
    "vpmax",
    "vpcmp",
    "vpmov",
];

/// What is known about the value in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Does not depend on a key.
    Public,
    /// The address of a constant; perhaps a table of jumps.
    Table(u64),
    /// The address of such a table plus one of its entries: where a jump leads.
    Target(u64),
    /// What lies at the address of a constant; perhaps the address of a function.
    Loaded(u64),
    /// May depend on a key.
    Secret,
}

impl Value {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Secret, _) | (_, Self::Secret) => Self::Secret,
            _ if self == other => self,
            _ => Self::Public,
        }
    }

    /// What a computation from values gives.
    fn combine(values: impl IntoIterator<Item = Self>) -> Self {
        if values.into_iter().any(|value| value == Self::Secret) { Self::Secret } else { Self::Public }
    }
}

/// What is known about all registers, and about some places in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) general: [Value; 16],
    pub(crate) vectors: [Value; 32],
    pub(crate) masks: [Value; 8],
    /// The carry flag, and the others; `inc` and `dec` change only the latter.
    carry: Value,
    flags: Value,
    /// Registers put aside on the stack: displacement from the stack pointer, bytes, value.
    stack: BTreeMap<i64, (i64, Value)>,
}

impl State {
    /// At the beginning of a function, whose arguments are public and in general-purpose registers.
    pub(crate) fn at_entry() -> Self {
        Self {
            general: [Value::Public; 16],
            vectors: [Value::Secret; 32],
            masks: [Value::Public; 8],
            carry: Value::Public,
            flags: Value::Public,
            stack: BTreeMap::new(),
        }
    }

    /// Takes in another way to get here; returns whether that brought anything new.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        let general = self.general.iter_mut().zip(&other.general);
        let vectors = self.vectors.iter_mut().zip(&other.vectors);
        let masks = self.masks.iter_mut().zip(&other.masks);
        general.chain(vectors).chain(masks).for_each(|(value, other)| *value = value.join(*other));
        self.carry = self.carry.join(other.carry);
        self.flags = self.flags.join(other.flags);
        self.stack.retain(|place, (bytes, value)| match other.stack.get(place) {
            Some((other_bytes, other)) if other_bytes == bytes => {
                *value = value.join(*other);
                true
            }
            _ => false,
        });
        *self != before
    }

    /// Executes an instruction that is neither a jump nor a call.
    pub(crate) fn execute(&mut self, instruction: &Instruction) -> Checked {
        self.check_addresses(instruction)?;
        match instruction.mnemonic.as_bytes()[0] {
            b'v' => self.vector(instruction),
            b'k' => self.opmask(instruction),
            _ => return self.general(instruction),
        }
        Ok(())
    }

    pub(crate) fn set_flags(&mut self, value: Value) {
        (self.carry, self.flags) = (value, value);
    }

    /// The value of the flags that a condition such as `be` looks at.
    pub(crate) fn condition(&self, condition: &str) -> Value {
        match condition {
            "b" | "ae" | "c" | "nc" => self.carry,
            "a" | "be" => self.carry.join(self.flags),
            _ => self.flags,
        }
    }

    /// No address depends on a key, nor which lanes at an address are accessed. `lea` accesses nothing.
    fn check_addresses(&self, instruction: &Instruction) -> Checked {
        let memory = instruction.operands.iter().find_map(|operand| match operand {
            Operand::Memory(memory) if instruction.mnemonic != "lea" => Some(memory),
            _ => None,
        });
        let Some(memory) = memory else { return Ok(()) };
        if memory.is_vector {
            return leak("the addresses of a gather or scatter are in a vector register");
        }
        if memory.registers.iter().any(|&register| self.general[register] == Value::Secret) {
            return leak("an address depends on a key");
        }
        let is_secret_mask = instruction.mask != 0 && self.masks[instruction.mask] == Value::Secret;
        let is_secret_vector_mask =
            instruction.mnemonic.contains("maskmov") && self.read(&instruction.operands[1]) == Value::Secret;
        if is_secret_mask || is_secret_vector_mask {
            return leak("which lanes are read or written depends on a key");
        }
        Ok(())
    }

    /// Vector instructions. Addresses of rows are sometimes computed in vector registers, so these are followed too.
    fn vector(&mut self, instruction: &Instruction) {
        let mnemonic = instruction.mnemonic.as_str();
        let operands = &instruction.operands;
        let has_prefix = |prefixes: &[&str]| prefixes.iter().any(|prefix| mnemonic.starts_with(prefix));
        let has_mask_operand = operands.iter().any(|operand| matches!(operand, Operand::Mask(_)));
        let all = Value::combine(operands.iter().map(|operand| self.read(operand)));
        let Some(destination) = operands.first() else { return };
        if has_prefix(&["vptest", "vtestp", "vcomis", "vucomis"]) && !has_mask_operand {
            return self.set_flags(all);
        }
        let is_masked = instruction.mask != 0;
        let is_same = operands.len() > 2 && operands[1] == operands[2];
        let is_all_ones =
            mnemonic.starts_with("vpternlog") && operands.last() == Some(&Operand::Immediate(0xff));
        let is_fixed = is_all_ones || is_same && has_prefix(&["vpxor", "vxorp", "vpsub", "vpcmpeq"]);
        let value = if is_fixed && !is_masked {
            Value::Public
        } else if has_prefix(&OVERWRITING) && !is_masked {
            Value::combine(operands.iter().skip(1).map(|operand| self.read(operand)))
        } else {
            // A mask of 0 stands for none.
            Value::combine([all, if is_masked { self.masks[instruction.mask] } else { Value::Public }])
        };
        // Whole vectors on the stack may be parts of arrays, which pointers reach as well.
        let value = if matches!(destination, Operand::Memory(_)) { Value::Secret } else { value };
        self.write(destination, value);
    }

    fn opmask(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands;
        let sources = if instruction.mnemonic.contains("test") { &operands[..] } else { &operands[1..] };
        let value = Value::combine(sources.iter().map(|source| self.read(source)));
        if instruction.mnemonic.contains("test") {
            self.set_flags(value);
        } else {
            self.write(&operands[0], value);
        }
    }

    fn general(&mut self, instruction: &Instruction) -> Checked {
        let operands = &instruction.operands[..];
        let values: Vec<Value> = operands.iter().map(|operand| self.read(operand)).collect();
        let all = Value::combine(values.iter().copied());
        let sources = Value::combine(values.iter().skip(1).copied());
        let mnemonic = instruction.mnemonic.as_str();
        match mnemonic {
            "mov" | "movabs" => {
                let value = match (&operands[1], instruction.constant) {
                    (Operand::Memory(_), Some(address)) => Value::Loaded(address),
                    _ => values[1],
                };
                self.write(&operands[0], value);
            }
            "movzx" | "movsx" | "movsxd" => self.write(&operands[0], sources),
            "lea" => {
                let value = self.address(instruction, &operands[1]);
                self.write(&operands[0], value);
            }
            "xor" | "sub" if operands[0] == operands[1] => {
                self.write(&operands[0], Value::Public);
                self.set_flags(Value::Public);
            }
            "add" => {
                let value = match (values[0], values[1]) {
                    (Value::Table(table), Value::Public) | (Value::Public, Value::Table(table)) => {
                        Value::Target(table)
                    }
                    _ => all,
                };
                self.write(&operands[0], value);
                self.set_flags(all);
            }
            "sub" | "and" | "or" | "xor" | "neg" => {
                self.write(&operands[0], all);
                self.set_flags(all);
            }
            "adc" | "sbb" => {
                let value = all.join(self.carry);
                self.write(&operands[0], value);
                self.set_flags(value);
            }
            "inc" | "dec" => {
                self.write(&operands[0], all);
                self.flags = all;
            }
            "not" | "bswap" => self.write(&operands[0], all),
            "shl" | "shr" | "sar" if !matches!(operands.get(1), Some(Operand::General(..))) => {
                self.write(&operands[0], all);
                self.set_flags(all);
            }
            "shl" | "shr" | "sar" | "rol" | "ror" => {
                self.write(&operands[0], all);
                // Rotations set the carry alone, and what is shifted by no bits sets nothing.
                self.set_flags(all.join(self.carry).join(self.flags));
            }
            "cmp" | "test" => self.set_flags(all),
            "bt" => self.set_flags(all.join(self.flags)),
            "popcnt" | "lzcnt" | "tzcnt" | "andn" | "bextr" | "bzhi" | "blsi" | "blsr" | "blsmsk" => {
                self.write(&operands[0], sources);
                self.set_flags(sources);
            }
            "bsr" | "bsf" => {
                self.write(&operands[0], all);
                self.set_flags(all);
            }
            "shlx" | "shrx" | "sarx" | "rorx" | "pdep" | "pext" => self.write(&operands[0], sources),
            "imul" if operands.len() > 1 => {
                let value = if operands.len() == 3 { sources } else { all };
                self.write(&operands[0], value);
                self.set_flags(value);
            }
            "mul" | "imul" => {
                let value = all.join(self.general[0]);
                self.general[0] = value;
                self.general[2] = value;
                self.set_flags(value);
            }
            "mulx" => {
                let value = Value::combine([values[2], self.general[2]]);
                self.write(&operands[0], value);
                self.write(&operands[1], value);
            }
            "div" | "idiv" => {
                if Value::combine([all, self.general[0], self.general[2]]) == Value::Secret {
                    return leak("the time of a division depends on a key");
                }
            }
            "xchg" => {
                self.write(&operands[0], values[1]);
                self.write(&operands[1], values[0]);
            }
            "push" if all != Value::Secret => self.stack.clear(),
            // What is popped was pushed, and nothing secret is.
            "pop" => {
                self.write(&operands[0], Value::Public);
                self.stack.clear();
            }
            _ => return self.conditional(instruction, all),
        }
        if operands.first() == Some(&Operand::General(STACK_POINTER, 8))
            && !matches!(mnemonic, "cmp" | "test")
        {
            self.stack.clear();
        }
        Ok(())
    }

    /// Selections, which may depend on anything.
    fn conditional(&mut self, instruction: &Instruction, all: Value) -> Checked {
        let mnemonic = instruction.mnemonic.as_str();
        let Some(condition) = mnemonic.strip_prefix("cmov").or_else(|| mnemonic.strip_prefix("set")) else {
            return not_understood("there is no rule for this instruction");
        };
        let value = all.join(self.condition(condition));
        self.write(&instruction.operands[0], value);
        Ok(())
    }

    fn read(&self, operand: &Operand) -> Value {
        match operand {
            Operand::General(register, _) => self.general[*register],
            Operand::Mask(register) => self.masks[*register],
            Operand::Vector(register) => self.vectors[*register],
            Operand::Immediate(_) => Value::Public,
            Operand::Memory(memory) => self.load(memory),
        }
    }

    fn load(&self, memory: &Memory) -> Value {
        let is_table = |&register: &usize| matches!(self.general[register], Value::Table(_));
        if memory.is_constant || memory.registers.iter().any(is_table) {
            return Value::Public;
        }
        let Some(place) = memory.place_on_stack() else { return Value::Secret };
        let put_aside = self.stack.range(..=place).next_back();
        match put_aside {
            Some((start, (bytes, value))) if place + memory.bytes <= start + bytes => *value,
            _ => Value::Secret,
        }
    }

    fn write(&mut self, operand: &Operand, value: Value) {
        match operand {
            // Four bytes clear the rest of a register, fewer leave it.
            Operand::General(register, 4..) => self.general[*register] = value,
            Operand::General(register, _) => {
                self.general[*register] = Value::combine([self.general[*register], value]);
            }
            Operand::Mask(register) => self.masks[*register] = value,
            Operand::Memory(memory) => self.store(memory, value),
            Operand::Vector(register) => self.vectors[*register] = value,
            Operand::Immediate(_) => {}
        }
    }

    fn store(&mut self, memory: &Memory, value: Value) {
        let Some(place) = memory.place_on_stack() else { return };
        let end = place + memory.bytes;
        self.stack.retain(|&start, (bytes, _)| start + *bytes <= place || start >= end);
        self.stack.insert(place, (memory.bytes, value));
    }

    /// The value of an address that is computed but not accessed.
    fn address(&self, instruction: &Instruction, operand: &Operand) -> Value {
        match operand {
            Operand::Memory(memory) if memory.is_constant => {
                instruction.constant.map_or(Value::Public, Value::Table)
            }
            Operand::Memory(memory) => {
                Value::combine(memory.registers.iter().map(|&register| self.general[register]))
            }
            _ => Value::Secret,
        }
    }
}

impl Memory {
    /// The displacement from the stack pointer, if that is all that the address consists of.
    fn place_on_stack(&self) -> Option<i64> {
        (self.registers == [STACK_POINTER]).then_some(self.displacement)
    }
}
