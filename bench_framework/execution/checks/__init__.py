"""Is this machine fit to measure? One file per group of checks, one line each in `registry`."""
