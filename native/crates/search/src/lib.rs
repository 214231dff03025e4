//! Searches JSONL sessions.
