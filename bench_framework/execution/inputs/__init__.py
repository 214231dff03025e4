"""The inputs of a scenario on disk and in the page cache."""
