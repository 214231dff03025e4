"""Plan → build → run → judge → report as functions: what the command line and a notebook call.

Each name is loaded when it is first used, with the one module that holds it: ``benchctl plan`` loads nothing of gates.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_framework.workflow.aa import NOISE_DEFAULT_S, NoiseFindings, examine_noise, noise_document
    from bench_framework.workflow.asking import RunOptions
    from bench_framework.workflow.bridging import BRIDGED_METRICS, BridgedRecords, compare_records
    from bench_framework.workflow.comparing import (
        ComparedTable,
        compare_axis,
        compare_record,
        require_one_comparison,
    )
    from bench_framework.workflow.forecasting import Forecast, forecast, forecast_document
    from bench_framework.workflow.gating import GATE_FILES, Gated, gate_page, gate_record, require_decidable
    from bench_framework.workflow.importing import ImportOptions, import_files
    from bench_framework.workflow.keeping import Kept, list_kept, remove_kept
    from bench_framework.workflow.machine import examine_machine
    from bench_framework.workflow.pages import Pages, parse_formats, report_record, terminal_page
    from bench_framework.workflow.planning import (
        codes,
        find_scenario,
        plan_scenario,
        scenario_schema,
        start_folder,
    )
    from bench_framework.workflow.profile_text import profile_document, profile_page
    from bench_framework.workflow.profiling import Profiled, ProfileOptions, profile_record
    from bench_framework.workflow.running import Outcome, outcome_document, run
    from bench_framework.workflow.verifying import Verification, verify, verify_record
    from bench_framework.workflow.verifying_page import PageVerification, verify_page
    from bench_framework.workflow.watching import Nobody, Watcher

__all__ = [
    "BRIDGED_METRICS",
    "GATE_FILES",
    "NOISE_DEFAULT_S",
    "BridgedRecords",
    "ComparedTable",
    "Forecast",
    "Gated",
    "ImportOptions",
    "Kept",
    "Nobody",
    "NoiseFindings",
    "Outcome",
    "PageVerification",
    "Pages",
    "ProfileOptions",
    "Profiled",
    "RunOptions",
    "Verification",
    "Watcher",
    "codes",
    "compare_axis",
    "compare_record",
    "compare_records",
    "examine_machine",
    "examine_noise",
    "find_scenario",
    "forecast",
    "forecast_document",
    "gate_page",
    "gate_record",
    "import_files",
    "list_kept",
    "noise_document",
    "outcome_document",
    "parse_formats",
    "plan_scenario",
    "profile_document",
    "profile_page",
    "profile_record",
    "remove_kept",
    "report_record",
    "require_decidable",
    "require_one_comparison",
    "run",
    "scenario_schema",
    "start_folder",
    "terminal_page",
    "verify",
    "verify_page",
    "verify_record",
]

_HOMES = {
    "asking": ("RunOptions",),
    "aa": (
        "NOISE_DEFAULT_S",
        "NoiseFindings",
        "examine_noise",
        "noise_document",
    ),
    "bridging": (
        "BRIDGED_METRICS",
        "BridgedRecords",
        "compare_records",
    ),
    "comparing": (
        "ComparedTable",
        "compare_axis",
        "compare_record",
        "require_one_comparison",
    ),
    "forecasting": (
        "Forecast",
        "forecast",
        "forecast_document",
    ),
    "gating": (
        "GATE_FILES",
        "Gated",
        "gate_page",
        "gate_record",
        "require_decidable",
    ),
    "importing": (
        "ImportOptions",
        "import_files",
    ),
    "keeping": (
        "Kept",
        "list_kept",
        "remove_kept",
    ),
    "machine": ("examine_machine",),
    "pages": (
        "Pages",
        "parse_formats",
        "report_record",
        "terminal_page",
    ),
    "planning": (
        "codes",
        "find_scenario",
        "plan_scenario",
        "scenario_schema",
        "start_folder",
    ),
    "profile_text": (
        "profile_document",
        "profile_page",
    ),
    "profiling": (
        "ProfileOptions",
        "Profiled",
        "profile_record",
    ),
    "running": (
        "Outcome",
        "outcome_document",
        "run",
    ),
    "verifying": (
        "Verification",
        "verify",
        "verify_record",
    ),
    "verifying_page": (
        "PageVerification",
        "verify_page",
    ),
    "watching": (
        "Nobody",
        "Watcher",
    ),
}
"""Module to the names that it holds."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # a type checker has the imports above, and sees names that are none

    def __getattr__(name: str) -> Any:
        """A name of `__all__`, from its module (PEP 562)."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
