"""What follows from a record: comparisons, verdicts, effects and the gate."""
