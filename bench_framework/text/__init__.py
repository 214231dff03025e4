"""The words of the program: number formats, names, reasons, errors and sentences.

Computation passes facts and numbers to this package; only this package turns them into text.
"""
