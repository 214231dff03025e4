"""Phrases that a file, an event, an error or a line contains as text. `text.reasons` has their words.

What code compares, and what records store as data, is a `Reason`.
"""

from dataclasses import dataclass
from enum import StrEnum

from bench_framework.model.reasons import Part, ReasonCode


class PhraseCode(StrEnum):
    """The code of a phrase."""

    # The end of a program.
    KILLED_BY = "killed-by"
    EXIT_STATUS = "exit-status"
    TIMED_OUT_AFTER = "timed-out-after"
    PRINTED_TOO_MUCH = "printed-too-much"
    BECAUSE = "because"

    # A run that failed. Records store the phrase, because `runs.csv` contains it.
    IN_RUN = "in-run"
    OUTPUT_TOO_LARGE = "output-too-large"
    DISK_FILLED = "disk-filled"
    HYPERFINE_ENDED = "hyperfine-ended"
    HYPERFINE_SILENT = "hyperfine-silent"
    ANSWERS_VARY = "answers-vary"
    OTHER_THAN_TIMED = "other-than-timed"
    STDERR_NOT_STORED = "stderr-not-stored"

    # A state of the page cache that was not verified.
    PAGES_NOT_REPORTED = "pages-not-reported"
    NOT_IN_MEMORY = "not-in-memory"
    STAYED_IN_MEMORY = "stayed-in-memory"
    KEEPS_FILES = "keeps-files"
    ANOTHER_READS = "another-reads"
    ANOTHER_READS_TOO = "another-reads-too"
    ONLY_ROOT_DROPS = "only-root-drops"
    NOTHING_READ = "nothing-read"

    # How to ignore what differs between two outputs.
    THEIR_ORDER = "their-order"
    LINES_DIFFER = "lines-differ"
    EQUAL_JSON = "equal-json"
    IN_KEYS = "in-keys"
    A_DATE = "a-date"
    A_TIME_OF_DAY = "a-time-of-day"
    A_TIME = "a-time"
    AN_ADDRESS = "an-address"
    A_PATH = "a-path"
    LAST_DIGITS = "last-digits"
    A_NUMBER = "a-number"
    ANSWER_KEY = "answer-key"
    ANSWER_FORM = "answer-form"
    ANSWER_OPTION = "answer-option"

    # A metric that could not be read.
    NOT_WRITTEN = "not-written"
    LARGER_THAN = "larger-than"
    UNREADABLE = "unreadable"
    SEARCH_TOO_LONG = "search-too-long"
    NO_MATCH = "no-match"
    SEVERAL_MATCHES = "several-matches"
    MATCH_NOT_NUMBER = "match-not-number"
    NOT_JSON = "not-json"
    DUPLICATE_KEY = "duplicate-key"
    NOT_NUMBER = "not-number"
    TOO_LARGE_NUMBER = "too-large-number"
    NOT_FINITE = "not-finite"
    OUT_OF_RANGE = "out-of-range"

    # A harness of benchmarks without a time.
    CRITERION_FILES = "criterion-files"
    CRITERION_UNREADABLE = "criterion-unreadable"
    CRITERION_OTHER = "criterion-other"
    CRITERION_NO_TIME = "criterion-no-time"
    DIVAN_RESULTS = "divan-results"
    SEVERAL_THREADS = "several-threads"
    NOTHING_MEASURED = "nothing-measured"
    DIVAN_ZERO = "divan-zero"
    LIBTEST_RESULTS = "libtest-results"
    LIBTEST_ZERO = "libtest-zero"

    # A count that cannot be used.
    COUNTING_LIMIT = "counting-limit"
    COUNTING_TOO_LONG = "counting-too-long"
    UNDER_TOOL = "under-tool"
    OTHER_MODE = "other-mode"
    INSTRUCTION_TOO_NEW = "instruction-too-new"
    VALGRIND_SILENT = "valgrind-silent"
    FORKS_WITHOUT_EXEC = "forks-without-exec"
    NO_HARDWARE_COUNTER = "no-hardware-counter"
    PERF_NO_NUMBER = "perf-no-number"
    PERF_SILENT = "perf-silent"

    # A profile that does not exist, or is not complete.
    NEVER_BUILT = "never-built"
    PROGRAM_CHANGED = "program-changed"
    SOURCES_CHANGED = "sources-changed"
    NO_SYMBOLS = "no-symbols"
    CARGO_FAILED = "cargo-failed"
    NO_RUN_SUCCEEDED = "no-run-succeeded"
    STOPPED_AFTER = "stopped-after"
    STOPPED_IN = "stopped-in"
    OF_RUN = "of-run"
    PERF_RECORDED_NOTHING = "perf-recorded-nothing"
    PERF_RECORDED_NO_SAMPLES = "perf-recorded-no-samples"
    PERF_SCRIPT = "perf-script"
    CALLGRIND_COUNTED_NOTHING = "callgrind-counted-nothing"
    WITH_OUTPUT = "with-output"

    # A program that is not copied, or cannot be moved.
    COPY_DIFFERS = "copy-differs"
    ON_PATH = "on-path"
    SYMBOLIC_LINK = "symbolic-link"
    VIRTUAL_ENVIRONMENT = "virtual-environment"
    IN_ENVIRONMENT = "in-environment"
    UNKNOWN_FORMAT = "unknown-format"
    USES_FOLDER = "uses-folder"
    LOADS_LIBRARY = "loads-library"
    CONTAINS_PATH = "contains-path"

    # The end of a server, or its output.
    BEFORE_READY = "before-ready"
    BETWEEN_SAMPLES = "between-samples"
    WITH_CLIENT = "with-client"
    STOP_COMMAND = "stop-command"

    # The choice of CPUs.
    LEAST_INTERRUPTS = "least-interrupts"
    FEWER_INTERRUPTS = "fewer-interrupts"
    UNKNOWN_INTERRUPTS = "unknown-interrupts"
    ISOLATED = "isolated"
    SPARE = "spare"

    # A key without effect, or that cannot be used.
    NO_EFFECT_WITH = "no-effect-with"
    NO_EFFECT_ALONE = "no-effect-alone"
    EFFECT_ONLY_FOR = "effect-only-for"
    NO_EFFECT_OF_SEED = "no-effect-of-seed"
    NO_EFFECT_OF_CHECK = "no-effect-of-check"
    NO_EFFECT_OF_REGISTRY = "no-effect-of-registry"
    NO_EFFECT_OF_BUILD = "no-effect-of-build"
    NO_EFFECT_UNBUILT = "no-effect-unbuilt"
    NEEDS_KEY = "needs-key"
    NEEDS_SOURCES = "needs-sources"
    NEEDS_PLAIN_COMMAND = "needs-plain-command"
    ONE_AXIS_ONLY = "one-axis-only"
    GIVEN_TWICE = "given-twice"
    NO_LABEL = "no-label"
    EMPTY_FILE = "empty-file"
    NOT_UTF_8 = "not-utf-8"
    FILE_UNREADABLE = "file-unreadable"

    # What a harness of benchmarks decides.
    BENCH_COMMAND = "bench-command"
    BENCH_INPUT = "bench-input"
    BENCH_OUTPUT = "bench-output"
    BENCH_BEFORE = "bench-before"
    BENCH_AFTER = "bench-after"
    BENCH_PROFILE = "bench-profile"
    BENCH_FIGURES = "bench-figures"
    BENCH_METRICS = "bench-metrics"

    # A placeholder that cannot be used.
    LACKS_KEY = "lacks-key"
    AXIS_OF_INPUT = "axis-of-input"
    ONLY_INPUT_COMMAND = "only-input-command"
    ONLY_COMMANDS = "only-commands"
    BEFORE_INPUTS = "before-inputs"
    AFTER_BUILDS = "after-builds"

    # A metric that cannot be judged.
    HARNESS_DECIDES = "harness-decides"
    NEEDS_BENCH = "needs-bench"
    NEEDS_DIRECTION = "needs-direction"
    REPORTS_NO_METRICS = "reports-no-metrics"
    BUILT_ONCE = "built-once"
    COMPUTED = "computed"
    INFORMATION_ONLY = "information-only"
    COUNTED_ONCE = "counted-once"
    NOTHING_BUILT = "nothing-built"

    # A crate that does not exist.
    NO_PACKAGE = "no-package"
    SEVERAL_PACKAGES = "several-packages"
    MANIFEST_DAMAGED = "manifest-damaged"
    NO_MANIFEST = "no-manifest"
    NO_FOLDER = "no-folder"

    # The origin of alternatives among features.
    BY_NAMES = "by-names"
    BY_CFG = "by-cfg"

    # A line while something is built or measured.
    ON_THIS_MACHINE = "on-this-machine"
    RESUMING = "resuming"
    FRESH_STARTS = "fresh-starts"
    GATE_NEEDS_MORE = "gate-needs-more"
    ONE_ROUND = "one-round"
    TUNING = "tuning"
    LEFT_OUT = "left-out"
    IS_CONFIRMATION = "is-confirmation"
    MEASURING_AGAIN = "measuring-again"
    EARLIER_UNUSABLE = "earlier-unusable"
    SECOND_UNUSABLE = "second-unusable"
    SESSION = "session"
    SESSION_AT_MOST = "session-at-most"
    SESSION_AT = "session-at"
    STOPPING = "stopping"
    KILLED = "killed"
    RESULT_DISCARDED = "result-discarded"
    PROFILES_REMAIN = "profiles-remain"
    RESULTS_REMAIN = "results-remain"
    SAME_PROFILE = "same-profile"
    TRAINING = "training"
    TRAINING_LEFT_OUT = "training-left-out"
    FETCHING = "fetching"
    PROFILING = "profiling"
    WAITING = "waiting"
    SEARCH_WAITS = "search-waits"
    SEARCH_CONTINUES = "search-continues"
    SEARCHING_BRANCH = "searching-branch"
    NOT_SEARCHED = "not-searched"

    # How an interrupted command goes on.
    INTERRUPTED_AFTER = "interrupted-after"
    INTERRUPTED = "interrupted"
    STARTS_AGAIN = "starts-again"
    RESUMES = "resumes"
    PROFILING_STOPPED = "profiling-stopped"

    # A difference that `verify` reports, or a note about it.
    EXPECTED = "expected"
    EXPECTED_ROWS = "expected-rows"
    EXPECTED_LINES = "expected-lines"
    ROW_AND_COLUMN = "row-and-column"
    OF_LINE = "of-line"
    MORE_FIELDS = "more-fields"
    MORE_LINES = "more-lines"
    UNKNOWN_COLUMNS = "unknown-columns"
    OTHER_ENCODING = "other-encoding"
    LINE_CHANGED = "line-changed"
    SAMPLES_DIFFER = "samples-differ"
    PLAN_DIFFERS = "plan-differs"
    RESULTS_DIFFER = "results-differ"
    DOES_NOT_FOLLOW = "does-not-follow"
    RECOMPUTED = "recomputed"
    ITS_PROFILE = "its-profile"
    NOT_SIGNED = "not-signed"
    NO_SIGNATURE = "no-signature"
    NOT_RENDERED = "not-rendered"
    CUSTOM_TEMPLATES = "custom-templates"
    COMPUTED_BY = "computed-by"
    RENDERED_BY = "rendered-by"
    VERSION = "version"
    UNKNOWN_VERSION = "unknown-version"
    OTHER_VERSIONS = "other-versions"

    # Hosts of a fleet.
    NO_WORKER = "no-worker"
    NO_WORKER_OF_HOST = "no-worker-of-host"
    NO_WORKER_WITH_LABEL = "no-worker-with-label"
    TOO_FEW_HOSTS = "too-few-hosts"
    TOO_FEW_OF_KIND = "too-few-of-kind"
    TOO_FEW_OF_ONE_KIND = "too-few-of-one-kind"
    SHORTAGES = "shortages"
    NOT_WITH_OTHERS = "not-with-others"
    NO_ANSWER = "no-answer"
    HAD_NOT_STARTED = "had-not-started"
    NO_HOST_FREE = "no-host-free"
    REPLACED_BY = "replaced-by"
    NO_CONTACT = "no-contact"
    CONTACT_AGAIN = "contact-again"
    ON_HOST_TOO = "on-host-too"
    PROFILES_MISSING = "profiles-missing"
    MEASURING_ON = "measuring-on"
    HOST_BUILDS = "host-builds"
    EACH_HOST_BUILDS = "each-host-builds"
    AGAIN_ON_HOST = "again-on-host"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: its code, and figures, names, foreign messages or other phrases."""

    code: PhraseCode | ReasonCode
    detail: "Part | Phrase | tuple[Part | Phrase, ...]" = ""
