"""From claims to bytes: a document tree, its figures, and one renderer per format.

`features.document.build` makes the document; ``render.markdown``, ``render.html`` and ``render.terminal`` print it, and
``figures`` draws what it shows. Figures and templates are loaded only by those who need them.
"""

from __future__ import annotations

from bench_framework.report.blocks import Document
from bench_framework.report.context import ReportData

__all__ = ["Document", "ReportData"]
