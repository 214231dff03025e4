"""Phrases, values and costs that the sentences of claims use."""
