//! Proofs for the page.

use bitonic_network::{Claim, Network, ProveError};
use serde::Serialize;

/// How a proof ended.
#[derive(Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The network does what was claimed.
    Proved {
        /// The proof in words.
        text: String,
        /// How many cases were tried one by one.
        cases: f64,
    },
    /// It does not, as this input shows.
    Refuted {
        /// The counterexample in words.
        text: String,
        /// An input of zeros and ones with which it fails.
        input: Vec<u8>,
        /// A permutation with which it fails.
        permutation: Vec<usize>,
    },
    /// A proof is out of reach.
    Unknown {
        /// Why.
        text: String,
    },
}

/// Proves the claim or refutes it.
pub(crate) fn prove(network: &Network, claim: Claim) -> Verdict {
    match network.prove_claim(claim) {
        Ok(proof) => Verdict::Proved { text: proof.to_string(), cases: proof.cases() as f64 },
        Err(ProveError::Refuted(example)) => Verdict::Refuted {
            text: example.to_string(),
            input: example.input().iter().copied().map(u8::from).collect(),
            permutation: example.permutation().to_vec(),
        },
        Err(other) => Verdict::Unknown { text: other.to_string() },
    }
}
