"""Words by which the statements of a page are recognised."""

import re
from typing import Final


def _any(words: str) -> re.Pattern[str]:
    """Return a pattern of whole words, in upper or lower case."""
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


ROUGHLY: Final = ("~", "≈", "about", "around", "roughly", "nearly", "almost", "approximately")
LEAST: Final = (">", "≥", "over", "at least", "more than")
MOST: Final = ("<", "≤", "up to", "at most", "less than", "under")
GENERIC: Final = frozenset(
    "time mean average avg result results total speed perf performance throughput memory runtime "  # noqa: SIM905 -- a list of words
    "baseline the a of in with and for by mode actual latency duration value cpu single run".split()
)
"""Words of names that distinguish no name from others."""
_METRIC: Final = (
    r"(?:performance|performs?|speed|time|memory|throughput|latency|runtimes?|overhead)"
)
# Statements.
DIRECTION: Final = _any(
    r"(?P<better>faster|quicker|as fast|speed-?ups?|improve\w*|better|gain\w*|outperform\w*)|(?P<worse>slower|worse"
    r"|overhead|regress\w*|degrad\w*|behind|los[tst]\w*|penalty|slowdown)|(?P<up>more|as much|higher|larger|longer"
    r"|increas\w+)|(?P<down>less|lower|fewer|smaller|shorter|reduc\w+|sav\w+)"
)
PERFORMANCE: Final = _any(
    r"perform\w*|fast\w*|slow\w*|speed\w*|time|runtimes?|latency|throughput|memory|overhead|efficien\w*|regress\w*"
    r"|improve\w*|benefits?|\w+ workloads?|impact\w*|optimi[sz]\w+|overall"
)
EQUAL: Final = _any(
    rf"(?:identical|equivalent|same|unchanged|equal)\W+(?:or \w+ )?(?:\w+\W+){{0,2}}{_METRIC}"
    rf"|{_METRIC}\b[^.;,]{{0,40}}\b(?:identical(?:ly)?|equivalent|same|unchanged|equal|matches"
    r"|consistent with)|performance matches|negligible|on par|as fast as"
    r"|no (?:\w+ ){0,2}(?:regressions?|difference|overhead|slowdown|penalty|degradation|downsides?)"
    r"|without (?:compromising|sacrificing|losing|hurting)|within|zero(?: \w+)? overhead"
)
FASTER: Final = _any(r"faster|slower|quicker|(?:less|more) time")
NEGATED: Final = _any(
    r"(?:not|never|neither|hardly|(?:is|was|does|did|are|were)n['’]t)\b[^.,;]{0,25}\b(?:faster|slower|better|worse"
    r"|quicker|as fast)"
)
ORDER: Final = _any(
    r"faster|slower|quicker|outperform\w*|worse|better|degrad\w+|hurts?|improvements?|improved|significant\w*|(?:added"
    r"|adds?|less|more|lower|additional|minimal|unnecessary) overhead|reduc(?:ed|es)|eliminat\w+|speed-?ups?"
)
BEST: Final = _any(
    r"fastest|slowest|(?<!at )best(?! practices?| effort)|(?<!at )worst|biggest|largest|highest|lowest|greatest"
    r"|most (?:impact\w*|eff\w+|important|significant)"
)
BEST_OF_ALL: Final = _text(
    r"\b(?:fastest|slowest|best|worst)\b(?: (?:overall|performance|performer|option|time|result|variant|mode|choice"
    r"|command|tool|implementation|one))*(?:\s+(?:of|in|among|for|here|on|at|with)\b(?! a)|[.,;)]|\s*$)"
)
EFFECT_OF_CHANGE: Final = _text(r"improve|impact|optimi[sz]ation|gain|win")
CAUSE: Final = _any(
    r"root cause|(?:primary|main|sole) (?:cause|reason)|caused by|due to|because of|thanks to|owing to|attributable to"
    r"|confirm\w* that|kills?"
)
WITHOUT: Final = _any(r"without|no|only|disabled|off|removed")
BEFORE: Final = _any(
    r"regressions?|unchanged|previous(?:ly)?|prior|before|pre-\w+|without compromising"
)
IS_BEFORE: Final = _any(
    r"original|baseline|before|previous|prior|old|older|pre-\w+|unoptimi[sz]ed|main|master|v?\d+\.\d+(?:\.\d+)?"
)
LINEAR: Final = _text(
    r"\b(?:(?:scal\w+|gr[eo]w\w*|increases?)\b[^.]{0,30}\blinear(?:ly)?\b|linear(?:ly)? (?:scal\w+|growth|in\b|with\b))"
)
NOT_LINEAR: Final = _text(r"(?:sub|super|non|not)[- ]?linear|“linear”|\bnot\b")
PREDICTION: Final = _any(
    r"will|would|expected|potential(?:ly)?|projected|anticipated|likely|future|proposed|planned|roadmap"
)
USE: Final = _text(r"^(?:\W*)(?:use|choose|prefer|pick|recommend\w*|switch to)\b")
CONDITION: Final = _text(
    r"\bfor (.{3,60}?)\s(?:workloads?|files?|inputs?|data|projects?|cases|loads?)\b"
)
THIS_WORKLOAD: Final = _any(r"(?:this|our|these|the) \S+ workloads?")
ACROSS_SESSIONS: Final = _any(
    r"became|becomes?|now|eliminat\w+|after|resolved|regression|achieved|restored|no longer"
)
# Factors, and the figures that they refer to.
DIFFERENCE: Final = _any(
    r"diff\w*|within|compared|versus|vs|ratio|relative|change|delta|parallelism|as \w+ as"
)
SHARE: Final = _text(r"\+?\s*(?:in|time spent|cpu)\b")
SHARE_OF_LIMIT: Final = _text(
    r"\s*of\b.{0,40}\b(?:limit|capability|bandwidth|speed|performance|throughput|time)\b"
)
PERCENT_OF: Final = _text(r"\s*%\s*of\b")
INTERVAL: Final = _text(
    r"[^.;\[\]()]{0,60}[\[(]\s*([+−-]?\d+(?:\.\d+)?)\s*%?\s*(?:,|–|to|\.\.)\s*([+−-]?\d+(?:\.\d+)?)\s*%?\s*[\])]"
)
CLAUSE: Final = _text(r"[,;:]\s|\b(?:and|but|while)\b")
CLAUSE_END: Final = _text(r"[,;()]|\band\b")
ARROW: Final = _text(r"\W*(?:→|->|=>|\bto\b|\bdown to\b|\bup to\b)\W*")
VERSUS: Final = _text(
    r"[^.;]{0,30}\b(?:vs\.?|versus|against|instead of|compared (?:to|with))\W*(?:\w+\W+){0,2}"
)
THAN: Final = _any(r"than|over|vs\.?|versus|compared (?:to|with)|relative to|against|of|as \w+ as")
BASELINE: Final = _text(
    r"^\W*(?:baseline|ref(?:erence)?|-+|–|—|(?:.*\()?1(?:\.0+)?\s?[x×]?(?:\s?±.*)?)\W*$"
)
STEP: Final = _any(r"step|previous|cumulative|each")
EFFECT_LABEL: Final = _text(
    r"\W*(?:\w+ )?(?:differences?|improvements?|speed-?up|change|reduction|overhead|ratio|delta)\b"
)
MEMORY: Final = _text(
    r"(?<!in-)(?<!in )\bmemory\b(?![- ]?map)|\brss\b|\bfootprint\b|\bbinary size\b"
)
RATE: Final = _any(r"throughput|bandwidth|[\w]+/s(?:ec)?|per second|rps|qps")
# Conditions of the measurements.
CPU_CLOCK: Final = _any(r"(?:cpu|user)[ -]time")
WALL_CLOCK: Final = _any(r"wall|elapsed|total|runtime|real")
OUTPUTS_CHECKED: Final = _text(
    r"(?:same|identical|equal|matching) (?:output|result|answer|hash)|checksum|sha-?256|\bdiff(?:ed)?\b|outputs? (?:was"
    r"|were|are|is) (?:compared|verified|checked|identical|equal)"
)
EVIDENCE: Final = _text(
    r"strace|\bperf\b|bpftrace|ebpf|ltrace|system calls? (?:count|trace)|io_uring_enter|/proc/|verified (?:that|with"
    r"|by)|--version|objdump|\bldd\b|lsof|receipts?"
)
MECHANISM: Final = _any(
    r"implementation|engine|backend|key optimi[sz]ations?|optimi[sz]ations?|technique"
)
UNCHANGED: Final = _any(r"basic|baseline|reference|control|unchanged|vanilla|stock|unmodified")
STAGE: Final = _any(r"pure|only|alone|standalone|raw|limit")
STAGE_LOSS: Final = _any(r"overhead|bottleneck|parallelism|lost")
THEN: Final = _text(r"\b(\w{4,})\b[^.]*?\bthen\b\s+(\w{4,})\b")
LIMIT: Final = _any(r"limit|maximum|peak|theoretical|ceiling|bandwidth")
LIMIT_NAMES: Final = "limit maximum peak theoretical ceiling bandwidth hard"
COUNTED: Final = _text(
    r"^(?:(?:number of )?(?:matches|hits|results|answers|outputs?)(?: found| printed)?|(?:line|match|result) count)$"
)
POWER_OF_1024: Final = re.compile(
    r"\b\d+\s*\*\s*1024\b.{0,200}?(?:#|//)[^\n]{0,200}?\b(?P<unit>\d+(?:\.\d+)?\s?[kKMGT]B)\b"
)
"""A product with 1024 and a comment that gives it a unit. The unit is case-sensitive."""
