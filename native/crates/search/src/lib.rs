//! Searches JSONL sessions: the work of the worker `search`.
//!
//! A [`job::Job`] names one value of each axis. [`engine`] says who does the work, [`parser`] who reads a line,
//! [`query`] what is looked for. Every combination gives the same answer: the definition stands in
//! `docs/reference/search-worker.md`, and a slow program in Python computes it again in the tests.

pub mod corpus;
pub mod engine;
pub mod filter;
pub mod fold;
pub mod found;
pub mod job;
mod lines;
pub mod parser;
mod prefilter;
pub mod query;
pub mod record;
mod scanner;
mod threads;
pub mod timestamp;
