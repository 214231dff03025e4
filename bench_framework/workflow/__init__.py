"""Plan → build → run → judge → report as functions: what the command line and a notebook call.

Importing it loads no heavy library; each function loads what it needs.
"""

from __future__ import annotations

from bench_framework.workflow.aa import NOISE_DEFAULT_S, NoiseFindings, examine_noise, noise_document
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
from bench_framework.workflow.running import Outcome, RunOptions, outcome_document, run
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
