//! The compiled part of the Python package `bitonic`: see its README.

mod array;
mod command;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
mod error;
mod machine;
mod networks;
mod operations;
mod order;
mod sorter;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::machine::{Device, Plan, devices, tune};
    #[pymodule_export]
    use crate::sorter::Sorter;

    /// Networks as Python objects.
    #[pyo3::pymodule]
    mod networks {
        #[pymodule_export]
        use crate::networks::{Network, Proof, generate, kinds, merge, parse, top_k};
    }
}
