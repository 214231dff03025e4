"""Further baselines, and the gap to a faster reference."""
