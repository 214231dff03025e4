"""Time to judge a large generated record, and one interim analysis of it while measuring.

``python tests/validation/bench/judging.py [CELLS ROUNDS]`` prints the figures of one record.
"""

import sys
import time
from dataclasses import replace

import made_record

from bench_framework.compare.interim_analysis import Analysis, look
from bench_framework.model.plan.looks import looks_of

RECORDS = ((25, 78), (200, 100))
"""Cells without A/A controls, and rounds."""


def interim(cells: int, rounds: int) -> float:
    """Return the CPU seconds of the last interim analysis of one input, after all earlier ones."""
    plan = made_record.plan(cells, rounds)
    plan = replace(plan, measure=replace(plan.measure, until="conclusive", rounds_min=12))
    blocks = tuple(made_record.blocks(plan, rounds))
    seconds = 0.0
    for index, last in enumerate(looks_of(plan).rounds):
        so_far = [block for block in blocks if block.round <= last]
        start = time.process_time()
        look(Analysis(plan, so_far, plan.inputs[0].id, index, last))
        seconds = time.process_time() - start
    return seconds


def judgement(cells: int, rounds: int) -> float:
    """Return the CPU seconds of the judgement of a whole record."""
    plan = made_record.plan(cells, rounds)
    blocks = tuple(made_record.blocks(plan, rounds))
    start = time.process_time()
    made_record.judged(plan, blocks, rounds)
    return time.process_time() - start


def main() -> None:
    """Print both figures of each record."""
    given = tuple(int(argument) for argument in sys.argv[1:])
    for cells, rounds in [given] if given else RECORDS:
        controls = len(made_record.plan(cells, rounds).inputs)
        print(f"{cells + controls} configurations, {rounds} rounds, CPU seconds:")
        print(f"  judgement of the record  {judgement(cells, rounds):7.2f}")
        print(f"  last interim analysis    {interim(cells, rounds):7.2f}", flush=True)


if __name__ == "__main__":
    main()
