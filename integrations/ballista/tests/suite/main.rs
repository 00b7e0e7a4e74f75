//! Clusters of real processes on the loopback: results, lost executors, messages.

mod cluster;
mod lost;
mod messages;
mod queries;
mod sorts;
mod tables;
