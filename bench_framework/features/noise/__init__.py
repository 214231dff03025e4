"""The noise of this machine, measured by comparisons of equal programs (A/A)."""
