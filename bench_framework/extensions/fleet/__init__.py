"""Measurement on other machines, which Dask connects, and the comparison of hosts."""

from bench_framework.registry import Registry


def register(registry: Registry) -> None:
    """Add the command with its documents, and the machines of ``--scheduler``."""
    registry.command("Machine", "fleet", f"{__name__}.command")
    registry.document("fleet", f"{__name__}.documents:AnyFleet")
    registry.hosts("fleet", f"{__name__}.hosts_command:DaskHosts")
    registry.cache_folder("fleet")
