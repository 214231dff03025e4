"""Words that are made for readers, and that no code compares: formats of numbers, phrases of reasons.

Computation passes values to this package; only this package turns them into text.
"""
