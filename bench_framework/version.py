"""The version of benchctl."""

__version__ = "0.1.0"
