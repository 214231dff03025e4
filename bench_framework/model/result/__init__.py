"""The conclusions from a record: comparisons, verdicts, effects and the gate."""
