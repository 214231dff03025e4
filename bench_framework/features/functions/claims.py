"""Claims of the functions whose counted costs differ between two configurations."""

from collections.abc import Iterable, Iterator

from bench_framework.claims.factory import Names
from bench_framework.model.facts import Claim
from bench_framework.model.facts.functions import FunctionsOfPair
from bench_framework.model.metrics import INSTRUCTIONS


def function_claims(names: Names, pairs: Iterable[FunctionsOfPair]) -> Iterator[Claim]:
    """Yield a claim for each pair that was counted by function."""
    for pair in pairs:
        cells = pair.cell_id, pair.ref_cell_id
        subject, reference = map(names.label, cells)
        yield Claim(
            subject,
            reference,
            INSTRUCTIONS,
            names.scope(names.cells[pair.cell_id].input_id),
            runs=pair.changes.runs,
            cells=cells,
            fact=pair.changes,
        )
