"""Records over time: baselines, history and the site."""

from bench_framework.registry import Registry


def register(registry: Registry) -> None:
    """Add the commands with their documents, the chart, and the function of the notebook API."""
    registry.command("Inspect", "site", f"{__name__}.site_command:site")
    registry.command("CI", "history", f"{__name__}.command:history")
    registry.command("CI", "baseline", f"{__name__}.baseline_command")
    registry.document("site", f"{__name__}.site:Site")
    registry.document("history", f"{__name__}.model:History")
    registry.document("baseline", f"{__name__}.baselines:AnyBaseline")
    registry.chart("history", f"{__name__}.page:draw")
    registry.notebook("history", f"{__name__}.notebook:history")
