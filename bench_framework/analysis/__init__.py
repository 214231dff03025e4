"""Numbers in, judgements out. Pure."""
