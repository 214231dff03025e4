"""The plan of a measurement and of its judgement, fixed before the start."""
