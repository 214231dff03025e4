//! Searches JSONL sessions: the work of the worker `search`.
//!
//! A [`job::Job`] names one value of each axis. [`engine`] distributes the work, [`parser`] reads a
//! line, and [`query`] matches it. Every combination gives the same answer, which
//! `docs/reference/search-worker.md` defines. The tests compute it again with a slow program in
//! Python.

pub mod corpus;
pub mod engine;
pub mod fold;
pub mod job;
mod lines;
pub mod parser;
mod prefilter;
pub mod query;
pub mod record;
pub mod results;
mod scanner;
mod threads;
pub mod timestamp;
