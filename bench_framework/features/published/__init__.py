"""Published figures: figures of an earlier report, what was measured here, and how the two compare."""
