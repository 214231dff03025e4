//! Counts distinct words: the work of the worker `tally`.
//!
//! A [`job::Job`] names one value of each axis; [`runtime`] says who does it, [`tokenizer`] what a word is, the
//! `source` crate how the bytes are read. Every combination gives the same answer.

pub mod case;
pub mod cut;
pub mod hasher;
pub mod job;
mod memory;
pub mod order;
pub mod output;
#[cfg(test)]
mod properties;
pub mod runtime;
pub mod table;
pub mod tokenizer;
mod workers;
