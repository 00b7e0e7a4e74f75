#![forbid(unsafe_code)]
//! Sorting networks as data: generate them, prove them, measure them, run them, draw them, exchange them.
//!
//! A *comparator network* has n wires, and comparators between them. Keys enter on the left, one on each wire. A
//! comparator compares the keys on two wires and puts the smaller one on the one wire, the larger one on the
//! other. Comparators that touch different wires can work at the same time: they make a *stage*. A network that
//! sorts whatever enters is a *sorting network*. What it compares never depends on the keys, which is why networks
//! suit vector units, GPUs and secrets.
//!
//! ```text
//!   3 ──●─────●───── 1      Three wires, three comparators, three stages.
//!       │     │
//!   1 ──┼──●──●───── 2      Stage 1 compares wires 0 and 2, stage 2 wires 1 and 2,
//!       │  │                stage 3 wires 0 and 1.
//!   2 ──●──●──────── 3
//! ```
//!
//! How can one know that a network sorts *every* input? By the **0-1 principle**: a network that sorts all 2^n
//! inputs of zeros and ones sorts every input. [`Network::prove`] tries them all.
//!
//! ```
//! use bitonic_network::{Comparator, Kind, Network};
//!
//! // Generate: Batcher's bitonic sorter for 8 wires. Count: 6 stages of 4 comparators.
//! let network = Kind::Bitonic.generate(8)?;
//! assert_eq!((network.wires(), network.depth(), network.size()), (8, 6, 24));
//!
//! // Prove: it sorts.
//! let proof = network.prove()?;
//! assert_eq!(
//!     proof.to_string(),
//!     "proved: the network sorts every input (all 2^8 0-1 inputs, as 256 cases)"
//! );
//!
//! // Apply: so it sorts this.
//! let mut keys = [5, 2, 7, 7, 1, 8, 0, 3];
//! network.apply(&mut keys)?;
//! assert_eq!(keys, [0, 1, 2, 3, 5, 7, 7, 8]);
//!
//! // A network that does not sort is refuted by an example.
//! let wrong = Network::new(3, vec![vec![Comparator::new(0, 1)], vec![Comparator::new(1, 2)]])?;
//! assert!(wrong.prove().unwrap_err().counterexample().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - The types: [`Network`], [`Stage`], [`Comparator`], [`Block`].
//! - Generators: [`Kind`] names every family; [`Kind::generate`] makes a member, [`Kind::claim`] says what it is
//!   for. The best networks known for few wires are [`Kind::Smallest`] and [`Kind::Shallowest`]. [`Merging`] makes
//!   merges of two runs of any lengths and selections of the k largest keys.
//! - Counts and formulas: [`Network::size`] and [`Network::depth`] count; [`Kind::size`], [`Kind::depth`] and
//!   [`properties`] predict.
//! - Evaluation: [`Network::apply`] on any ordered keys, [`Network::trace`] with the state after every stage,
//!   [`Network::apply_zero_one`] on many 0-1 inputs at once.
//! - Proofs: [`Network::prove`] for sorting, [`Network::prove_top_k`] for selecting, [`Network::prove_merge`] and
//!   [`Network::prove_bitonic_merge`] for merges of up to 2^17 wires, [`Network::prove_half_cleaner`];
//!   [`Kind::prove`] chooses.
//! - Text: [`Network::parse`] reads the list form of published collections and JSON.
//! - Pictures: [`Drawing`], as text for the terminal and as SVG.

mod best;
mod draw;
mod evaluate;
mod generate;
mod interchange;
mod kind;
mod merging;
mod network;
pub mod properties;
mod prove;

pub use best::MAX_WIRES as BEST_KNOWN_MAX_WIRES;
pub use draw::Drawing;
pub use evaluate::LengthMismatch;
pub use interchange::{MAX_WIRES, ParseError};
pub use kind::{Claim, GenerateError, Kind, MAX_COMPARATORS, UnknownKind};
pub use merging::Merging;
pub use network::{Block, Comparator, Network, NetworkError, Stage};
pub use prove::{Counterexample, Proof, ProveError};
