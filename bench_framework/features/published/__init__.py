"""Published claims: statements of an earlier report, what was measured, and the verdict."""
