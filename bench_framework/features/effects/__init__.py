"""Main effects and interactions of crossed axes."""
