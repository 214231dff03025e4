"""benchctl's package. Importing it loads nothing heavy; the notebook API is resolved on first use."""

from __future__ import annotations

__version__ = "0.1.0"
