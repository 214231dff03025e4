"""The machine: its facts, counters, file systems, lock and checks."""
