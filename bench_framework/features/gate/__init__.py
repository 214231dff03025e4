"""The CI gate: states of gated comparisons, budgets, accepted changes."""
