//! Where the values of keys can go in a function: an analysis of its machine code.
//!
//! The state at every instruction says which registers may hold something that depends on a key. It starts with the
//! arguments, which are pointers and lengths: public. Then, over all paths, until nothing changes:
//!
//! - whatever is loaded from memory is secret, except constants and what this function itself put aside on its stack;
//! - what is computed from something secret is secret, in general-purpose registers, vector registers, opmasks and flags.
//!
//! A leak is a conditional jump on secret flags, a secret register in an address, in the target of a jump, among the
//! arguments of a call or in a division (whose time depends on its operands), and a secret opmask that decides which
//! lanes of memory are read or written. Anything that the analysis has no rule for is reported as well, and so is code that
//! it found no way to: it may say too much, but what it lets pass is clean.
//!
//! One thing is taken from the compiler: a place on the stack into which it puts a register aside is its own, and not
//! written through a pointer before it is read back.

use crate::effects::{Checked, Kind, State, Value, leak, not_understood};
use crate::machine_code::{FRAME_POINTER, Function, Instruction, Operand, Program, STACK_POINTER};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something in a function that the check does not let pass.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    instruction: String,
    reason: String,
}

impl Finding {
    fn new(kind: Kind, address: u64, instruction: &Instruction, reason: String) -> Self {
        Self { kind, instruction: format!("{address:x}: {}", instruction.text), reason }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}: {}", self.instruction, self.kind, self.reason)
    }
}

/// Follows keys through a function. `is_checked` says of a function's name that it is checked itself, so that calling
/// it is no finding.
pub(crate) fn findings(
    program: &Program,
    function: &Function,
    is_checked: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let analysis = Analysis::new(program, function, &is_checked);
    analysis.run().into_values().collect()
}

/// Where control goes after an instruction.
enum Next {
    /// To the next instruction, and perhaps elsewhere.
    On(Vec<u64>),
    /// Elsewhere only; nowhere, if the function ends.
    To(Vec<u64>),
}

struct Analysis<'a> {
    program: &'a Program,
    function: &'a Function,
    is_checked: &'a dyn Fn(&str) -> bool,
    has_frame_pointer: bool,
}

impl<'a> Analysis<'a> {
    fn new(program: &'a Program, function: &'a Function, is_checked: &'a dyn Fn(&str) -> bool) -> Self {
        let sets_frame_pointer = [Operand::General(FRAME_POINTER, 8), Operand::General(STACK_POINTER, 8)];
        let is_setting = |instruction: &Instruction| {
            instruction.mnemonic == "mov" && instruction.operands == sets_frame_pointer
        };
        let has_frame_pointer = function.instructions.values().any(is_setting);
        Self { program, function, is_checked, has_frame_pointer }
    }

    /// The findings by address.
    fn run(&self) -> BTreeMap<u64, Finding> {
        let mut findings = BTreeMap::new();
        let mut reached = BTreeSet::new();
        let Some(&entry) = self.function.instructions.keys().next() else { return findings };
        let mut states = BTreeMap::from([(entry, State::at_entry())]);
        let mut pending = vec![entry];
        while let Some(start) = pending.pop() {
            let mut state = states[&start].clone();
            for (&address, instruction) in self.function.instructions.range(start..) {
                reached.insert(address);
                let next = self.execute(instruction, &mut state).unwrap_or_else(|(kind, reason)| {
                    findings.insert(address, Finding::new(kind, address, instruction, reason));
                    // It goes on all the same, and a jump goes where it leads.
                    Next::On(self.direct_target(instruction).into_iter().collect())
                });
                let (targets, falls_through) = match next {
                    Next::On(targets) => (targets, true),
                    Next::To(targets) => (targets, false),
                };
                for target in targets {
                    let is_new = match states.get_mut(&target) {
                        Some(known) => known.join(&state),
                        None => states.insert(target, state.clone()).is_none(),
                    };
                    if is_new && !pending.contains(&target) {
                        pending.push(target);
                    }
                }
                if !falls_through {
                    break;
                }
                let following =
                    self.function.instructions.range(address + 1..).next().map(|(&address, _)| address);
                if let Some(known) = following.and_then(|following| states.get_mut(&following)) {
                    // Another path begins there: go on only if this one brings anything new.
                    if !known.join(&state) {
                        break;
                    }
                    state = known.clone();
                }
            }
        }
        for (&address, instruction) in &self.function.instructions {
            if !reached.contains(&address) && !instruction.is_padding() {
                let reason = "no path was found that leads here".to_owned();
                findings.insert(address, Finding::new(Kind::NotUnderstood, address, instruction, reason));
            }
        }
        findings
    }

    /// The target of a jump to a place in this function.
    fn direct_target(&self, instruction: &Instruction) -> Option<u64> {
        match instruction.operands.first() {
            Some(&Operand::Immediate(target)) if instruction.mnemonic.starts_with('j') => {
                self.function.instructions.contains_key(&target).then_some(target)
            }
            _ => None,
        }
    }

    fn execute(&self, instruction: &Instruction, state: &mut State) -> Checked<Next> {
        let mnemonic = instruction.mnemonic.as_str();
        match mnemonic {
            "nop" => return Ok(Next::On(Vec::new())),
            "ret" | "ud2" | "int3" => return Ok(Next::To(Vec::new())),
            "jmp" => return self.jump(instruction, state),
            "call" => return self.call(instruction, state),
            _ => {}
        }
        if let Some(condition) = mnemonic.strip_prefix('j') {
            if state.condition(condition) == Value::Secret {
                return leak("a jump depends on a key");
            }
            let Some(target) = self.direct_target(instruction) else {
                return not_understood("a conditional jump out of the function");
            };
            return Ok(Next::On(vec![target]));
        }
        if self.has_frame_pointer && mnemonic != "lea" && instruction.accesses_memory_at(FRAME_POINTER) {
            return not_understood("places on the stack are known by the stack pointer only");
        }
        state.execute(instruction)?;
        Ok(Next::On(Vec::new()))
    }

    fn jump(&self, instruction: &Instruction, state: &State) -> Checked<Next> {
        if let Some(target) = self.direct_target(instruction) {
            return Ok(Next::To(vec![target]));
        }
        if let Operand::General(register, _) = instruction.operands[0]
            && let Value::Target(table) = state.general[register]
        {
            return Ok(Next::To(self.jump_table(table)));
        }
        // What is left is a call in the last place.
        self.call(instruction, &mut state.clone()).map(|_| Next::To(Vec::new()))
    }

    /// The targets in a table of distances from the table itself. It ends where an entry does not lead into the function,
    /// at the latest where another constant of the function begins.
    fn jump_table(&self, table: u64) -> Vec<u64> {
        let constants = self.function.instructions.values().filter_map(|instruction| instruction.constant);
        let end = constants.filter(|&constant| constant > table).min().unwrap_or(u64::MAX);
        let entries = (table..end).step_by(4).map_while(|address| self.program.word_at(address));
        let targets = entries.map(|distance| table.wrapping_add_signed(i64::from(distance)));
        targets.take_while(|target| self.function.instructions.contains_key(target)).collect()
    }

    fn call(&self, instruction: &Instruction, state: &mut State) -> Checked<Next> {
        const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];
        const NOT_PRESERVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
        let linked = |address: u64| self.program.linked.get(&address);
        let name = match &instruction.operands[0] {
            Operand::Immediate(target) => self.program.functions.get(target).map(|function| &function.name),
            Operand::Memory(memory) if memory.is_constant => instruction.constant.and_then(linked),
            Operand::General(register, _) => match state.general[*register] {
                Value::Loaded(address) => linked(address),
                Value::Secret => return leak("which function is called depends on a key"),
                _ => None,
            },
            _ => None,
        };
        let Some(name) = name else { return not_understood("a call of an unknown function") };
        if name.starts_with("core::") && name.contains("panic") {
            return Ok(Next::To(Vec::new()));
        }
        let arguments = match name.split('@').next() {
            Some("memcpy" | "memmove" | "memset") => &ARGUMENTS[..3],
            _ if (self.is_checked)(name) => &ARGUMENTS[..],
            _ => return not_understood(format!("calls {name}, which is not checked")),
        };
        if arguments.iter().any(|&register| state.general[register] == Value::Secret) {
            return leak(format!("an argument of {name} may depend on a key"));
        }
        NOT_PRESERVED.iter().for_each(|&register| state.general[register] = Value::Secret);
        state.vectors = [Value::Secret; 32];
        state.masks = [Value::Secret; 8];
        state.set_flags(Value::Secret);
        Ok(Next::On(Vec::new()))
    }
}
