"""The nouns: frozen dataclasses without I/O."""
