"""``benchctl bisect``: find the commit that made a configuration slower."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from bench_framework.cli import arguments as shared
from bench_framework.cli.benches import WITHOUT_FILE, text_of_benches
from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_DONE, EXIT_NOT_JUDGED, BenchError, UsageError
from bench_framework.extensions.bisect import Find
from bench_framework.model.metrics import COUNTED, CPU, WALL
from bench_framework.text.lines import wrap

EXAMPLES = """
benchctl bisect bench/parse.yaml --good v1.2
benchctl bisect bench/parse.yaml --good v1.2 --bad main -k io=mmap --metric cpu
benchctl bisect bench/parse.yaml --good v1.2 --find improvement
benchctl bisect --bench parse --id 'json/*' --good v1.2   # a benchmark
git bisect run benchctl bisect ../parse.yaml --step --good v1.2 --bad 3c1f9ab
Ctrl-C keeps the finished steps, and prints the command that resumes.
Exit codes: 0 found, 2 wrong input, 3 could not measure, 4 no answer or only a range of commits.
With --step: 0 good, 1 bad, 125 inconclusive or not measured, 128 error, which ends `git bisect run`.
"""
_NAME_COLUMNS = 15

if TYPE_CHECKING:
    SearchMetric = str
else:
    SearchMetric = Literal[(WALL, CPU, *COUNTED)]
"""A metric that a search can judge: elapsed time, CPU time, or one that valgrind counts."""


def bisect(
    context: typer.Context,
    file: Annotated[
        str | None,
        Argument(
            metavar="FILE",
            help="A scenario file, or the name of a bundled scenario. Not with --bench.",
            show_default=False,
        ),
    ] = None,
    *,
    good: Annotated[str, Option(metavar="REV", help="A commit before the change.")],
    bad: Annotated[str, Option(metavar="REV", help="A later commit, with the change.")] = "HEAD",
    bench: shared.BenchTargets = None,
    bench_id: shared.BenchIds = None,
    package: shared.BenchPackage = None,
    only: shared.Only = None,
    overrides: shared.Overrides = None,
    metric: Annotated[
        SearchMetric | None,
        Option(
            metavar="NAME",
            help="Metric: wall, cpu, or a count such as instructions; default: the headline metric of FILE.",
        ),
    ] = None,
    find: Annotated[
        Find,
        Option(metavar="CHANGE", help="What to search for: regression or improvement."),
    ] = "regression",
    budget: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="Measuring time of a step, such as 2m; default: from FILE, else 5m. An inconclusive step is "
            "repeated once with twice the time.",
        ),
    ] = None,
    into_merges: Annotated[
        bool,
        Option("--into-merges", help="If the commit is a merge, also search the merged branch."),
    ] = False,
    step: Annotated[
        bool,
        Option(
            "--step",
            help="Only judge the commit that is checked out in the current folder, for `git bisect run`.",
        ),
    ] = False,
    fresh: Annotated[
        bool, Option("--fresh", help="Repeat all steps; do not continue an earlier search.")
    ] = False,
    retry_skipped: Annotated[
        bool,
        Option(
            "--retry-skipped",
            help="Continue, and measure skipped commits again, for example those whose build had no network.",
        ),
    ] = False,
) -> None:
    """Find the commit that made a variant slower.

    Each commit is measured in the same rounds as the good and the bad end of
    the remaining range. The answer is confirmed in new rounds. Commits that do
    not build, fail or print another output are skipped. The search follows first
    parents, so a merge is one commit. Of several configurations or benchmarks,
    the one with the largest change between the ends is searched.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.extensions.bisect import sentences
    from bench_framework.extensions.bisect.model import BisectDocument, StepDocument
    from bench_framework.extensions.bisect.workflow import Search, document
    from bench_framework.model.documents.plan import fields_of
    from bench_framework.workflow.run_options import RunOptions

    if step and into_merges:
        raise typer.BadParameter(
            "`git bisect` searches merged branches", param_hint="--into-merges"
        )
    # The scenario must not change with the commit that is checked out.
    text = text_of_benches(bench, bench_id, package, others=(file, step))
    if not text and file is None:
        raise UsageError("BX100.no-file")
    console: Console = context.obj
    options = RunOptions(
        console.results,
        only,
        overrides or (),
        fresh,
        base=good,
        head=bad,
        command=shared.command_line(),
        text=text,
    )
    with display_for(console) as display:
        search = Search(
            file or WITHOUT_FILE, options, display, find, metric, budget, fixed_ends=step
        )
        branch = failure = None
        if retry_skipped:
            search.retry_skipped()
        if step:
            result, code = search.judge_head()
        else:
            search.run()
            code = EXIT_DONE if search.commit is not None else EXIT_NOT_JUDGED
        if into_merges:
            try:
                if (branch := search.branch()) is not None:
                    if retry_skipped:
                        branch.retry_skipped()
                    branch.run()
            except BenchError as error:  # the answer of the first search is printed before it
                branch, failure, code = None, error, error.exit_code
    if console.json:
        if step:
            console.emit_json(StepDocument(**fields_of(result), exit_code=code))
        else:
            of_branch = document(branch) if branch is not None else None
            whole = fields_of(document(search))
            console.emit_json(BisectDocument(**whole, exit_code=code, branch=of_branch))
    for part in () if step or console.json else filter(None, (search, branch)):
        console.emit("\n".join([*wrap(sentences.answer(part.state), console.width), ""]) + "\n")
        for name, text in sentences.facts(part.state, console.results):
            lines = wrap(text, console.width, f"{name:<{_NAME_COLUMNS}}", " " * _NAME_COLUMNS)
            console.emit("\n".join(lines))
    if failure is not None:
        raise failure
    raise typer.Exit(code)
