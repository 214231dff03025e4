"""Claims of changes that are offered as causes, although something else differs as well."""

from collections.abc import Iterable, Iterator

from bench_framework.claims.factory import Names
from bench_framework.model.facts import Claim
from bench_framework.model.facts.causes import Cause


def cause_claims(names: Names, causes: Iterable[Cause]) -> Iterator[Claim]:
    """Yield a claim for each pair and metric with two differences at once."""
    stated = set[object]()
    for cause in causes:
        cells = cause.evidence.cells
        pair = frozenset(cells), cause.evidence.metric
        if cause.second is None or pair in stated:
            continue
        stated.add(pair)
        subject, reference = map(names.label, cells)
        yield Claim(
            subject,
            reference,
            cause.evidence.metric,
            names.scope(cause.input_id),
            rounds=cause.evidence.rounds,
            cells=cells,
            fact=cause.second,
        )
