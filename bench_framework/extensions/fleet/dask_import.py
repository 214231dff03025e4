"""Import of the module that uses Dask, which is an optional package."""

from types import ModuleType

from bench_framework.errors import UsageError


def load_cluster(words: str) -> ModuleType:
    """Return the module that uses Dask. Raises `UsageError` (BX132): the package is not installed."""
    try:
        from bench_framework.extensions.fleet import cluster
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("bench_framework"):
            raise
        details = (("missing", str(error.name)),)
        raise UsageError("BX132", details=details, words=words) from error
    return cluster
