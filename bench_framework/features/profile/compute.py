"""Shares of samples by function and by bucket, with intervals over runs; claims and sentences.

A share states what was running when the sampler looked, not what could be saved. Only self shares
can be added up, because every sample has exactly one running function. Each sentence states the
kind of share (self or inclusive), never a time or a cause. All but the line of the summary state
the samples and the runs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.model import facts
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.facts.evidence import Scope
from bench_framework.model.facts.records import LargestShares
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.profile import OTHER
from bench_framework.model.record.profile import (
    BucketShare,
    Frame,
    FunctionShare,
    Profile,
    ProfileShares,
    ProfileSize,
    SampleShare,
)
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Share
from bench_framework.stats.portable_math import t_quantile
from bench_framework.text import write

LEAST_SAMPLES: Final = 100
"""The smallest number of samples for which shares are stated.

With fewer samples, the interval of a 10 % share is wider than 10 percentage points.
"""

DIFFERENCE: Final = "difference.svg"
"""The file with the flame graph of the difference from the baseline."""

Counts = defaultdict[Frame, Counter[int]]
"""Function → run → number of samples."""
MOST_FUNCTIONS: Final = 40
"""The largest number of functions in a judgement. folded.txt has every stack."""
CLAIMED: Final = 5
"""The number of functions of a profile that get a sentence."""
LEVEL: Final = 0.95
SUMMARISED: Final = 3
"""The number of largest buckets, or functions without buckets, of a profile in the summary."""


def attach(judgement: Judgement, plan: Plan, profiles: Sequence[Profile]) -> Judgement:
    """Return the judgement with the profiles of its record; no verdict depends on them."""
    shares = tuple(shares_of(profile) for profile in profiles)
    other_claims = tuple(
        claim for claim in judgement.claims if not claim.kind.startswith("profile")
    )
    start = 1 + max((int(c.id[1:]) for c in other_claims if c.id[1:].isdigit()), default=0)
    profile_claims = write.numbered(_claims(plan, profiles, shares), start)
    return replace(judgement, profiles=shares, claims=(*other_claims, *profile_claims))


def shares_of(profile: Profile) -> ProfileShares:
    """Return the shares of functions and buckets of a profile."""
    enough = profile.total >= LEAST_SAMPLES
    exclusive, inclusive = counts_of(profile)
    chosen = {frame: profile.bucket_of(frame) for frame in inclusive}
    functions = [
        FunctionShare(
            frame,
            share_of(profile, exclusive[frame]),
            share_of(profile, inclusive[frame]) if profile.unwinding is not None else None,
            chosen[frame] if profile.buckets else "",
        )
        for frame in ranked(exclusive, inclusive)[:MOST_FUNCTIONS]
    ]
    by_bucket: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for frame, count in exclusive.items():
        by_bucket[chosen[frame]].update(count)
    names = [*profile.buckets, OTHER] if profile.buckets else []
    buckets = [BucketShare(name, share_of(profile, by_bucket[name])) for name in names]
    return ProfileShares(
        profile.cell_id,
        profile.event,
        ProfileSize(
            total=profile.total,
            unit="samples" if profile.sampler == "perf" else "instructions",
            runs=len(profile.runs),
        ),
        enough,
        tuple(functions) if enough else (),
        tuple(buckets) if enough else (),
    )


def counts_of(profile: Profile) -> tuple[Counts, Counts]:
    """Return self and inclusive samples of functions; a recursive one counts once per stack."""
    exclusive, inclusive = Counts(Counter), Counts(Counter)
    for stack in profile.stacks:
        for place in set(stack.frames):
            inclusive[profile.frames[place]][stack.run] += stack.count
        exclusive[profile.frames[stack.frames[-1]]][stack.run] += stack.count
    return exclusive, inclusive


def ranked(exclusive: Counts, inclusive: Counts) -> list[Frame]:
    """Return the functions by decreasing self samples, then by name."""

    def rank(frame: Frame) -> tuple[int, int, str, str]:
        return -exclusive[frame].total(), -inclusive[frame].total(), frame.name, frame.module

    return sorted(inclusive, key=rank)


def share_of(profile: Profile, hits: Mapping[int, int]) -> SampleShare:
    """Return a share of all samples with its interval."""
    pairs = [(hits.get(run, 0), total) for run, total in enumerate(profile.runs, start=1)]
    count = sum(hit for hit, _ in pairs)
    share = count / profile.total if profile.total else 0.0
    if profile.sampler != "perf":
        return SampleShare(count, Share(value=share))
    lo, hi = interval(pairs)
    return SampleShare(count, Share(value=share, lo=lo, hi=hi))


def interval(pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return a 95 % interval of a share from (hits, samples) of each run.

    Each bound is the wider one of two intervals. The interval over runs is the ratio estimator of a
    cluster sample with the run as the cluster and Student's t with m − 1 degrees of freedom
    (Cochran, Sampling Techniques, 3rd ed., 2.11 and 9A), because samples of one run resemble each
    other. The interval over samples is Wilson's score interval (Wilson 1927), because a few runs
    that agree by chance must not give a narrower one.
    """
    hits, total = map(sum, zip(*pairs, strict=True))
    share = hits / total
    lo, hi = _wilson(hits, total)
    if (m := len(pairs)) > 1:
        distances = [h - share * n for h, n in pairs]
        spread = math.fsum(d * d for d in distances) * m / (m - 1)
        half = t_quantile(0.5 + LEVEL / 2, m - 1) * math.sqrt(spread) / total
        lo, hi = min(lo, share - half), max(hi, share + half)
    return max(0.0, lo), min(1.0, hi)


def _wilson(hits: int, total: int) -> tuple[float, float]:
    z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
    share, weight = hits / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    return middle - half, middle + half


def _claims(
    plan: Plan, profiles: Sequence[Profile], all_shares: Sequence[ProfileShares]
) -> Iterator[Claim]:
    for shares in all_shares:
        if not shares.enough:
            few = facts.ProfileTooSmall(samples=shares.size, needed=LEAST_SAMPLES)
            yield _claim(plan, shares, few)
        for function in shares.functions[:CLAIMED]:
            if function.own.count:
                yield _share(plan, shares, "profile-function", function.frame.name, function.own)
        for bucket in shares.buckets:
            yield _share(plan, shares, "profile-bucket", bucket.name, bucket.own)
    yield from _before_after(plan, profiles, all_shares)
    yield from _summary(plan, all_shares)


def _summary(plan: Plan, all_shares: Sequence[ProfileShares]) -> Iterator[Claim]:
    """Yield the line of the summary: the largest shares of each profile of the first profiled input."""
    enough = [shares for shares in all_shares if shares.enough]
    if not enough:
        return
    input_of = {cell.id: cell.input_id for cell in plan.cells}
    here = input_of[enough[0].cell_id]
    stated = []
    for shares in (s for s in enough if input_of[s.cell_id] == here):
        owned = [(b.name, b.own.share) for b in shares.buckets if b.name != OTHER]
        owned = owned or [(f.frame.name, f.own.share) for f in shares.functions]
        ranked = sorted(owned, key=lambda item: -item[1].value)
        rest = math.fsum(part.value for _, part in ranked[SUMMARISED:])
        other = [b.own.share for b in shares.buckets if b.name == OTHER and b.own.count]
        largest = LargestShares(
            label=plan.variant(plan.cell(shares.cell_id).variant_id).label,
            unit=shares.size.unit,
            by_group=bool(shares.buckets),
            largest=tuple(ranked[:SUMMARISED]),
            rest=rest if shares.buckets else 0.0,
            unclassified=tuple(other),
        )
        stated.append(largest)
    summary = facts.ProfileSummary(profiles=tuple(stated))
    yield _claim(plan, enough[0], summary)


def _claim(plan: Plan, shares: ProfileShares, fact: Fact, share: Share | None = None) -> Claim:
    """Return a claim about a profile, with the figures of one of its shares."""
    cell = plan.cell(shares.cell_id)
    scope: Scope = (("input", plan.input(cell.input_id).label),) if len(plan.inputs) > 1 else ()
    label = plan.variant(cell.variant_id).label
    claim = Claim(label, scope=scope, cells=(cell.id,), runs=shares.size.runs, fact=fact)
    if share is None:
        return claim
    level = LEVEL if share.lo is not None else None
    return replace(claim, estimate=share.value, lo=share.lo, hi=share.hi, level=level)


def _share(
    plan: Plan,
    shares: ProfileShares,
    kind: facts.ProfileShareKind,
    name: str,
    part: SampleShare,
) -> Claim:
    fact = facts.ProfileShare(kind=kind, name=name, samples=shares.size)
    return _claim(plan, shares, fact, part.share)


def _before_after(
    plan: Plan, profiles: Sequence[Profile], all_shares: Sequence[ProfileShares]
) -> Iterator[Claim]:
    """Yield buckets of a variant and the baseline, profiled in one way on one input."""
    by_cell = {shares.cell_id: shares for shares in all_shares if shares.enough}
    cells = {profile.cell_id: profile for profile in profiles}
    for cell in (c for item in plan.inputs for c in plan.cells_of(item.id) if c.id in by_cell):
        reference = reference_of(plan, profiles, cells[cell.id])
        if reference is None or reference.buckets != cells[cell.id].buckets:
            continue
        base = by_cell[reference.cell_id]
        before = {bucket.name: bucket.own.share for bucket in base.buckets}
        for bucket in by_cell[cell.id].buckets:
            fact = facts.ProfileChange(
                name=bucket.name,
                before=before[bucket.name],
                before_samples=base.size,
                samples=by_cell[cell.id].size,
            )
            claim = _claim(plan, by_cell[cell.id], fact, bucket.own.share)
            label = plan.variant(plan.cell(base.cell_id).variant_id).label
            yield replace(claim, reference=label, cells=(cell.id, base.cell_id))


def reference_of(plan: Plan, profiles: Sequence[Profile], profile: Profile) -> Profile | None:
    """Return the baseline's profile on the same input, if both have enough samples and were made in the same way."""
    base = plan.baseline_cell(plan.cell(profile.cell_id).input_id)
    reference = next((p for p in profiles if base is not None and p.cell_id == base.id), None)
    if reference is None or reference is profile or _how(reference) != _how(profile):
        return None
    return reference if min(reference.total, profile.total) >= LEAST_SAMPLES else None


def _how(profile: Profile) -> tuple[object, ...]:
    return profile.sampler, profile.event, profile.frequency_hz, profile.unwinding
