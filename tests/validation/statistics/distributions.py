"""Compare the distributions of `native/crates/distributions` with scipy, and print the digest of their results.

Usage: ``python tests/validation/statistics/distributions.py [COUNT]``, by default 100 000 random arguments of each
function. Seeded. With ``--digest``, it prints only the digest, and scipy is not loaded, so that it also
runs in an emulator of another processor, such as ``qemu-x86_64 -cpu core2duo``.

Rows of the closed form are for 1 and 2 degrees of freedom, for which Student's t has one. They show which side
the differences for t come from.
"""

# ruff: noqa: T201 -- a script that prints

import hashlib
import math
import random
import struct
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from bench_framework import _native

COUNT: Final = 100_000
SEED: Final = 34
MOST_FREEDOM: Final = 1e5


class Arguments(NamedTuple):
    """Random arguments of the functions."""

    p: float
    t: float
    z: float
    freedom: float
    a: int
    b: int


def arguments(count: int) -> Iterator[Arguments]:
    """Yield arguments: whole and other degrees of freedom, small ones more often, and far tails.

    They are the same on every machine, and therefore come from the functions of `_native`.
    """
    source = random.Random(SEED)

    def spread(low: float, high: float) -> float:
        return _native.exp(source.uniform(_native.log(low), _native.log(high)))

    for _ in range(count):
        yield Arguments(
            source.choice((source.uniform(1e-9, 1.0), spread(1e-15, 1.0), 1 - spread(1e-15, 1.0))),
            source.choice((-1, 1)) * spread(1e-6, 1e3),
            source.uniform(-37, 8),
            source.choice((float(source.randint(1, 5)), spread(1.0, MOST_FREEDOM))),
            int(spread(1, 1e5)),
            int(spread(1, 1e5)),
        )


def results(cases: list[Arguments]) -> dict[str, list[float]]:
    """Return the results of the four functions."""
    normal = _native.normal_cdf(np.array([case.z for case in cases]))
    return {
        "normal_cdf": np.frombuffer(normal).tolist(),
        "t_cdf": [_native.t_cdf(case.t, case.freedom) for case in cases],
        "t_quantile": [_native.t_quantile(case.p, case.freedom) for case in cases],
        "beta_quantile": [_native.beta_quantile(case.p, case.a, case.b) for case in cases],
    }


def digest(count: int) -> str:
    """Return the SHA-256 of the bits of all results."""
    whole = hashlib.sha256()
    for values in results([*arguments(count)]).values():
        whole.update(struct.pack(f"<{count}d", *values))
    return whole.hexdigest()


def closed_cdf(t: float, freedom: float) -> float:
    """Return the probability below `t` for 1 or 2 degrees of freedom."""
    if freedom == 1:
        tail = math.atan2(1.0, abs(t)) / math.pi
    else:
        root = math.sqrt(2 + t * t)
        tail = 1 / (root * (root + abs(t)))
    return tail if t < 0 else 1 - tail


def closed_quantile(p: float, freedom: float) -> float:
    """Return the quantile for 1 or 2 degrees of freedom."""
    if freedom == 2:
        return (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p)))
    if abs(p - 0.5) < 0.25:
        return math.tan(math.pi * (p - 0.5))
    return math.copysign(1 / math.tan(math.pi * min(p, 1 - p)), p - 0.5)


Pairs = list[tuple[float, float]]


def comparisons(cases: list[Arguments]) -> Iterator[tuple[str, str, Pairs]]:
    """Yield two names and the results of both."""
    from scipy import special  # noqa: PLC0415 -- not for the digest

    ours = results(cases)
    scipys = {
        "ndtr": [float(special.ndtr(c.z)) for c in cases],
        "stdtr": [float(special.stdtr(c.freedom, c.t)) for c in cases],
        "stdtrit": [float(special.stdtrit(c.freedom, c.p)) for c in cases],
        "betaincinv": [float(special.betaincinv(c.a, c.b, c.p)) for c in cases],
    }
    for (name, values), (of_scipy, others) in zip(ours.items(), scipys.items(), strict=True):
        yield name, of_scipy, list(zip(values, others, strict=True))
    few = [i for i, case in enumerate(cases) if case.freedom in {1, 2}]
    cdf = {i: closed_cdf(cases[i].t, cases[i].freedom) for i in few}
    quantile = {i: closed_quantile(cases[i].p, cases[i].freedom) for i in few}
    for name, values, exact in (
        ("t_cdf", ours["t_cdf"], cdf),
        ("stdtr", scipys["stdtr"], cdf),
        ("t_quantile", ours["t_quantile"], quantile),
        ("stdtrit", scipys["stdtrit"], quantile),
    ):
        yield name, "closed form", [(values[i], exact[i]) for i in few]


def main(words: list[str]) -> None:
    """Print the differences and the digest."""
    only_digest = "--digest" in words
    counts = [int(word) for word in words if word != "--digest"]
    count = counts[0] if counts else COUNT
    if not only_digest:
        print(f"{'function':14}{'reference':12}{'absolute':>10}{'relative':>10}{'10 digits':>12}")
        for name, reference, pairs in comparisons([*arguments(count)]):
            absolute = max(abs(x - y) for x, y in pairs)
            relative = max(abs(x / y - 1) for x, y in pairs if y)
            same = sum(f"{x:.10g}" == f"{y:.10g}" for x, y in pairs) / len(pairs)
            print(f"{name:14}{reference:12}{absolute:10.1e}{relative:10.1e}{same:12.3%}")
    print(f"SHA-256 of the results of {count} arguments: {digest(count)}")


if __name__ == "__main__":
    main(sys.argv[1:])
