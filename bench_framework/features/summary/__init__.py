"""The summary of a report: the answer to its question, its cost, its exceptions, its limits."""
