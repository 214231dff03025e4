"""Words by which statements of a page are recognised: equal, better, cause, growth, prediction."""

from __future__ import annotations

import re
from typing import Final


def any_of(words: str) -> re.Pattern[str]:
    """Return a pattern of whole words, in upper or lower case."""
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


PERFORMANCE: Final = any_of(
    r"perform\w*|fast\w*|slow\w*|speed\w*|time|runtimes?|latency|throughput|memory|overhead"
    r"|efficien\w*|regress\w*|improve\w*|benefits?|\w+ workloads?|impact\w*|optimi[sz]\w+|overall"
)
_METRIC: Final = (
    r"(?:performance|performs?|speed|time|memory|throughput|latency|runtimes?|overhead)"
)
EQUAL: Final = any_of(
    rf"(?:identical|equivalent|same|unchanged|equal)\W+(?:or \w+ )?(?:\w+\W+){{0,2}}{_METRIC}"
    rf"|{_METRIC}\b[^.;,]{{0,40}}\b(?:identical(?:ly)?|equivalent|same|unchanged|equal|matches"
    r"|consistent with)|performance matches|negligible|on par|as fast as"
    r"|no (?:\w+ ){0,2}(?:regressions?|difference|overhead|slowdown|penalty|degradation|downsides?)"
    r"|without (?:compromising|sacrificing|losing|hurting)|within|zero(?: \w+)? overhead"
)
FASTER: Final = any_of(r"faster|slower|quicker|(?:less|more) (?:time|memory)")
NEGATED: Final = any_of(
    r"(?:not|never|neither|hardly|(?:is|was|does|did|are|were)n['’]t)\b[^.,;]{0,25}\b(?:faster|slower|better"
    r"|worse|quicker|as fast)"
)
ORDER: Final = any_of(
    r"faster|slower|quicker|outperform\w*|worse|better|degrad\w+|hurts?|improvements?|improved"
    r"|significant\w*|(?:added|adds?|less|more|lower|additional|minimal|unnecessary) overhead"
    r"|reduc(?:ed|es)|eliminat\w+|speed-?ups?"
)
BEST: Final = any_of(
    r"fastest|slowest|best|worst|biggest|largest|highest|lowest|greatest|most (?:impact\w*|eff\w+"
    r"|important|significant)"
)
NOT_BEST: Final = any_of(r"best practices?|at best|at worst|best effort")
BEST_OF_ALL: Final = re.compile(
    r"\b(?:fastest|slowest|best|worst)\b(?: (?:overall|performance|performer|option|time|result|variant"
    r"|mode|choice|command|tool|implementation|one))*(?:\s+(?:of|in|among|for|here|on|at|with)\b(?! a)|[.,;)]|\s*$)",
    re.IGNORECASE,
)
CAUSE: Final = any_of(
    r"root cause|(?:primary|main|sole) (?:cause|reason)|caused by|due to|because of|thanks to"
    r"|owing to|attributable to|confirm\w* that|kills?"
)
BEFORE: Final = any_of(
    r"regressions?|unchanged|previous(?:ly)?|prior|before|pre-\w+|without compromising"
)
IS_BEFORE: Final = any_of(
    r"original|before|previous|prior|old|older|pre-\w+|unoptimi[sz]ed|main|master|v?\d+\.\d+(?:\.\d+)?"
)
LINEAR: Final = re.compile(
    r"\b(?:scal\w+|gr[eo]w\w*|increases?)\b[^.]{0,30}\blinear(?:ly)?\b|\blinear(?:ly)? (?:scal\w+|growth)"
    r"|\blinear(?:ly)? (?:in|with)\b",
    re.IGNORECASE,
)
NOT_LINEAR: Final = re.compile(r"(?:sub|super|non|not)[- ]?linear|“linear”|\bnot\b", re.IGNORECASE)
PREDICTION: Final = any_of(r"will|would|expected|potential(?:ly)?|projected|anticipated|likely")
PREDICTED_PART: Final = any_of(r"expected|future|proposed|projected|planned|todo|roadmap")
USE: Final = re.compile(
    r"^(?:\W*)(?:use|choose|prefer|pick|recommend\w*|switch to)\b", re.IGNORECASE
)
CONDITION: Final = re.compile(
    r"\bfor (.{3,60}?)\s(?:workloads?|files?|inputs?|data|projects?|cases|loads?)\b", re.IGNORECASE
)
THIS_WORKLOAD: Final = any_of(r"(?:this|our|these|the) \S+ workloads?")
DIFFERENCE: Final = any_of(
    r"differences?|within|compared|versus|vs|ratio|relative|parallelism|as \w+ as"
)
SHARE_OF_LIMIT: Final = re.compile(
    r"\s*of\b.{0,40}\b(?:limit|capability|bandwidth|speed|performance|throughput|time)\b",
    re.IGNORECASE,
)
DERIVED: Final = any_of(
    r"vs|relative|speed-?up|ratio|improvement|change|diff\w*|faster|slower|delta"
)
MEMORY: Final = re.compile(
    r"(?<!in-)(?<!in )\bmemory\b(?![- ]?map)|\brss\b|\bfootprint\b|\bbinary size\b", re.IGNORECASE
)
CLAUSE: Final = re.compile(r"[,;:]\s|\b(?:and|but|while)\b")
PERCENT_OF: Final = re.compile(r"\s*%\s*of\b")
STAGE_LOSS: Final = any_of(r"overhead|bottleneck|parallelism|lost")
RATE: Final = any_of(r"throughput|bandwidth|[\w]+/s(?:ec)?|per second|rps|qps")
OUTPUTS_CHECKED: Final = re.compile(
    r"(?:same|identical|equal|matching) (?:output|result|answer|hash)|checksum|sha-?256|\bdiff(?:ed)?\b"
    r"|outputs? (?:was|were|are|is) (?:compared|verified|checked|identical|equal)",
    re.IGNORECASE,
)
EVIDENCE: Final = re.compile(
    r"strace|\bperf\b|bpftrace|ebpf|ltrace|system calls? (?:count|trace)|io_uring_enter|/proc/"
    r"|verified (?:that|with|by)|--version|objdump|\bldd\b|lsof|receipts?",
    re.IGNORECASE,
)
MECHANISM: Final = re.compile(
    r"\b(?:implementation|engine|backend|key optimi[sz]ations?|optimi[sz]ations?|technique)\b",
    re.IGNORECASE,
)
UNCHANGED: Final = re.compile(
    r"\b(?:basic|baseline|reference|control|unchanged|vanilla|stock|unmodified)\b", re.IGNORECASE
)
ACROSS_SESSIONS: Final = re.compile(
    r"\b(?:became|becomes?|now|eliminat\w+|after|resolved|regression|achieved|restored"
    r"|no longer)\b",
    re.IGNORECASE,
)


def clause_range(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of the clause around a part of a text."""
    first = max((m.end() for m in CLAUSE.finditer(text, 0, start)), default=0)
    last = CLAUSE.search(text, end)
    return first, last.start() if last else len(text)
