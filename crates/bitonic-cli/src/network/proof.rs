//! Proving a claim, with signs of life, and telling the verdict.

use crate::failure::Failure;
use crate::figures::time;
use crate::progress::Progress;
use bitonic_network::{Claim, Counterexample, Network, Proof, ProveError};
use std::fmt;
use std::time::{Duration, Instant};

/// How a proof ended.
pub(super) enum Verdict {
    /// The network does what was claimed.
    Proved { proof: Proof, elapsed: Duration },
    /// It does not, as this input shows.
    Refuted(Box<Counterexample>),
}

/// Proves the claim or refutes it. Fails where a proof is out of reach; the reason is the network's.
pub(super) fn prove(network: &Network, claim: Claim) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let progress = Progress::spinner("proving");
    let result = network.prove_claim(claim);
    drop(progress);
    match result {
        Ok(proof) => Ok(Verdict::Proved { proof, elapsed: started.elapsed() }),
        Err(ProveError::Refuted(counterexample)) => Ok(Verdict::Refuted(counterexample)),
        Err(other) => Err(Failure::new(other)),
    }
}

/// The permutations of wider networks fill more than a few lines, and nobody reads them.
const MOST_KEYS_SHOWN: usize = 128;

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved { proof, elapsed } => writeln!(f, "{proof} in {}", time(*elapsed)),
            Self::Refuted(counterexample) if counterexample.input().len() > MOST_KEYS_SHOWN => {
                writeln!(f, "{counterexample}")
            }
            Self::Refuted(counterexample) => {
                let bits =
                    |keys: &[bool]| keys.iter().map(|&key| if key { '1' } else { '0' }).collect::<String>();
                writeln!(f, "0-1 input    {}", bits(counterexample.input()))?;
                writeln!(f, "comes out    {}", bits(counterexample.output()))?;
                writeln!(f, "permutation  {}", spaced(counterexample.permutation()))?;
                writeln!(f, "comes out    {}", spaced(counterexample.permutation_output()))
            }
        }
    }
}

fn spaced(keys: &[usize]) -> String {
    keys.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}
