"""Command that writes ``docs/reference/scenario.schema.json``."""

from __future__ import annotations

import sys
from pathlib import Path

from bench_framework.scenario.schema import schema_text

if sys.argv[1:] != ["--write"]:
    sys.exit("usage: python -m bench_framework.scenario.schema --write")
target = Path(__file__).resolve().parents[3] / "docs" / "reference" / "scenario.schema.json"
target.write_text(schema_text(), encoding="utf-8")
