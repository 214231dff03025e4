"""The only layer that prints, reads argv and exits."""
