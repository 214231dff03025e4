"""Settings of every test."""

from __future__ import annotations

from hypothesis import settings

# A test must not fail because the machine is busy: examples may take as long as they need.
settings.register_profile("without-deadline", parent=settings.default, deadline=None)
settings.load_profile("without-deadline")
