"""Statistical tests and intervals on arrays of numbers. Nothing here knows plans, cells or metrics.

`docs/method.md#paired-test` describes the method as a whole.
"""
