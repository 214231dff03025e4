"""Tests of `worker: {build: …}`: real git and a shell script as the build, times of a fake hyperfine."""

import csv
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.files import write_files
from tests.integration.processes import (
    Done,
    benchctl,
    commit,
    executable,
    fake_hyperfine_of_programs,
    git,
    isolated,
    start,
    wait_for,
)

pytestmark = pytest.mark.real
BUILD = """
test ! -e out || exit 9
mkdir out
{ echo '#!/bin/sh'; sed 's/^/# /' parts/*; echo "# $1 $FLAG $CFLAGS $GIT_DIR"; echo 'echo 42'; } > out/tool
chmod +x out/tool
"""
SCENARIO = """
version: 1
name: counting
question: Does it become slower?
worker: {build: [[sh, build.sh, "{mode}"]], program: out/tool}
axes: {mode: [plain]}
command: ["{bin}"]
measure: {rounds: 14, until: rounds, warmup: 0, seed: 5}
gate: {wall: 2%, accepted: accepted.yaml}
judge: [wall]
"""


class Project:
    """A repository whose build is a shell script, with a commit for each text of its source."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder, self.cache = path, path / "project", path / "cache"
        self.source = self.folder / "parts" / "first"
        write_files(self.folder, {"build.sh": BUILD, "scenario.yaml": SCENARIO})
        write_files(self.folder, {"accepted.yaml": "accepted: []\n", ".gitignore": "out/\n"})
        self.commit("start")
        fake_hyperfine_of_programs(path, 0.055)

    def commit(self, source: str, note: str = "") -> str:
        write_files(self.folder, {"parts/first": f"{source}\n", "notes.txt": note})
        return commit(self.folder, f"change {note}")

    def __call__(self, *words: str, code: int | None = 0, **env: str) -> Done:
        return benchctl(
            self.path, *words, env=isolated(self.path, **env), cwd=self.folder, code=code
        )

    def run(self, *words: str, code: int = 0, env: Mapping[str, str] = MappingProxyType({})) -> str:
        """Measure in a few rounds, and return what is printed on stderr."""
        few = ("-S", "measure={rounds: 2, until: rounds, warmup: 0}")
        return self("run", "scenario.yaml", *few, *words, code=code, **env).stderr

    def reasons(self, base: str) -> list[str]:
        """Compare the working tree with a commit, and return the reasons for the first result."""
        self("gate", "--base", base, "scenario.yaml", "--no-confirm", code=None)
        document = self.newest()[0] / "gate.json"
        first, *_ = json.loads(document.read_text(encoding="utf-8"))["pairs"]
        return [reason["code"] for reason in first["reasons"]]

    def newest(self) -> tuple[Path, dict[str, str]]:
        """Return the newest record, and the row of its build."""
        record = find_records(self.folder / "results")[-1]
        with (record / "builds.csv").open(encoding="utf-8") as file:
            return record, next(csv.DictReader(file))

    def program(self) -> str:
        """Return the text of the program that was measured last."""
        digest = self.newest()[1]["binary_sha256"]
        return (self.cache / "binaries" / digest / "tool").read_text()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.slow
def test_the_gate_compares_two_commits_and_the_record_has_the_build(project: Project) -> None:
    base = project.commit("fast", "one")
    project.commit("SLOWER", "two")
    done = project(
        "gate", "--base", base, "scenario.yaml", "-S", "worker.build-env={FLAG: -O3}", code=1
    )
    assert "regressions found" in done.stdout
    record, row = project.newest()
    assert row["commands"] == "FLAG=-O3 sh build.sh plain"
    assert row["source_tree"] == git(project.folder, "rev-parse", f"{base}^{{tree}}")
    assert (row["git_rev"], row["git_dirty"], row["bin"]) == (base, "false", "out/tool")
    assert "# plain -O3" in project.program()
    assert project("verify", str(record)).returncode == 0
    first = find_records(project.folder / "results")[0]
    assert "FLAG=-O3 sh build.sh plain" in (first / "appendix.md").read_text(encoding="utf-8")
    # The commands ran in a copy, which is removed.
    assert git(project.folder, "status", "--porcelain", "--ignored") == "?? results/"
    assert not [*project.cache.glob("trees/*/work")]


@pytest.mark.release
@pytest.mark.slow
def test_the_commit_of_a_regression_is_found_and_the_history_shows_it(project: Project) -> None:
    commits = [
        project.commit("SLOWER" if number >= 11 else f"fast {number // 3}", str(number))
        for number in range(17)
    ]
    ends = ("--good", commits[0], "--bad", commits[-1])
    answer = valid("bisect", project("bisect", "scenario.yaml", *ends, "--json").stdout)
    assert answer["commit"]["id"] == commits[11]
    texts = [step["text"] for step in answer["steps"]]
    assert "the same code" in texts
    words = ("--backfill", f"{commits[0]}..{commits[-1]}", "--every", "4")
    project("history", "scenario.yaml", *words)
    records = find_records(project.folder / "results", "counting")
    assert len(records) == 5


@pytest.mark.slow
def test_uncommitted_changes_are_built_and_equal_sources_once(project: Project) -> None:
    (project.folder / "parts" / "second").write_text("new\n")
    project.source.write_text("changed\n")
    (project.folder / "notes.txt").unlink()
    (project.folder / "out").mkdir()  # ignored: an output of the user's own build
    assert "out/tool: 0." in project.run()
    text = project.program()
    assert "# changed\n# new\n" in text
    assert project.newest()[1]["git_dirty"] == "true"
    # The record of the first run is an untracked file, but no source.
    assert "out/tool: unchanged" in project.run()
    project.source.unlink()
    project.run()
    assert "# changed" not in project.program()
    assert "# new" in project.program()
    # A committed state is that of its tree. A build of changed files depends on their order, too.
    commit(project.folder, "the same files")
    assert "out/tool: 0." in project.run()
    assert project.newest()[1]["git_dirty"] == "false"
    assert (project.folder / "out").is_dir()
    assert not [*(project.folder / "out").iterdir()]


@pytest.mark.slow
def test_a_program_is_built_again_after_a_change_that_may_change_it(project: Project) -> None:
    built, unchanged = "out/tool: 0.", "out/tool: unchanged"
    assert built in project.run()
    assert unchanged in project.run(env={"CFLAGS": "-O0", "GIT_DIR": "/nowhere", "TERM": "other"})
    assert "# plain   \n" in project.program()
    assert built in project.run("-S", "worker.build-env={FLAG: x}")
    assert built in project.run("-S", "worker.build=[[sh, build.sh, '{mode}'], ['true']]")
    tools = project.path / "tools"
    tools.mkdir()
    (tools / "cc").symlink_to("/bin/true")
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    assert built in project.run(env=path)
    assert unchanged in project.run(env=path)
    (tools / "cc").unlink()
    (tools / "cc").symlink_to("/bin/false")
    assert built in project.run(env=path)
    [digest] = {project.newest()[1]["binary_sha256"]}
    stored = project.cache / "binaries" / digest / "tool"
    stored.write_text("#!/bin/sh\necho damaged\n")
    assert built in project.run(env=path)
    assert "damaged" not in project.program()


@pytest.mark.slow
def test_commands_see_no_repository_of_the_user_and_run_no_hook(project: Project) -> None:
    hooks = project.path / "hooks"
    hooks.mkdir()
    executable(hooks / "post-checkout", f"#!/bin/sh\ntouch {project.path}/hooked\n")
    (project.path / "gitconfig").write_text(f"[core]\nhooksPath = {hooks}\n")
    commands = "[[git, checkout, -q, --detach, HEAD], [sh, build.sh, '{mode}']]"
    given = {"GIT_CONFIG_GLOBAL": str(project.path / "gitconfig"), "GIT_WORK_TREE": "/nowhere"}
    project.run("-S", f"worker.build={commands}", env=given)
    assert not (project.path / "hooked").exists()
    assert git(project.folder, "symbolic-ref", "HEAD") == "refs/heads/main"


@pytest.mark.parametrize(
    ("build", "program", "texts"),
    [
        ("[[sh, build.sh]]", "out/tol", ["but out/tol does not exist", "written: out/tool"]),
        ("[[sh, build.sh]]", "out", ["but out is a folder"]),
        ("[[mkae]]", "t", ["`mkae` cannot be started", "mkae is not on PATH"]),
        ("[[./nothing]]", "t", ["`./nothing` cannot be started"]),
        ("[[sh, -c, 'seq 10000; exit 3']]", "t", ["exit status 3", "output: 9981\n", "10000\n"]),
        ("[[ln, -s, /bin/true, t]]", "t", ["t is a link to ", "outside of the built sources"]),
        ("[[sh, -c, 'echo $PWD > t']]", "t", ["it contains the path of that folder"]),
        (
            "[[mkdir, -p, env/bin], [touch, env/pyvenv.cfg, env/bin/t]]",
            "env/bin/t",
            ["it belongs to the virtual environment env", "runtime: [.venv]"],
        ),
    ],
)
@pytest.mark.slow
def test_a_build_without_a_program_is_one_error(
    project: Project, build: str, program: str, texts: list[str]
) -> None:
    words = ("-S", f"worker.build={build}", "-S", f"worker.program={program}")
    printed = project.run(*words, "-S", "axes={}", "-S", "command=['{bin}']", code=3)
    assert printed.count("error[") == 1
    assert "error[BX220]: the baseline default cannot be built" in printed
    assert "code: BX249" in printed
    for text in texts:
        assert text in printed
    assert not [*project.cache.glob("trees/*/work")]
    assert not (project.folder / "results").exists()


@pytest.mark.slow
def test_ctrl_c_ends_a_build_and_leaves_nothing_behind(project: Project) -> None:
    project.run()
    [record] = find_records(project.folder / "results")
    begun = project.path / "begun"
    words = ("-S", f"worker.build=[[sh, -c, 'touch {begun}; sleep 600', '{{mode}}']]")
    env = isolated(project.path)
    process = start(project.path, "run", "scenario.yaml", *words, env=env, cwd=project.folder)
    wait_for(begun.exists, process, log=process.printed)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130, process.printed()
    assert not [*project.cache.glob("trees/*/work")]
    assert find_records(project.folder / "results") == [record]
    assert "out/tool: unchanged" in project.run()


@pytest.mark.slow
def test_a_program_with_other_files_runs_where_it_was_built(project: Project) -> None:
    build = (
        "mkdir -p lib bin && cp parts/first lib/data && date +%N > lib/__pycache__;"
        'printf "#!/bin/sh\\n# SLOWER\\nsed 1q %s/lib/data\\n" "$PWD" > bin/tool; chmod +x bin/tool'
    )
    commands = json.dumps([["sh", "-c", build]])
    text = SCENARIO.replace(
        '[[sh, build.sh, "{mode}"]], program: out/tool',
        f"{commands}, program: bin/tool, runtime: [lib]",
    )
    (project.folder / "scenario.yaml").write_text(text.replace("axes: {mode: [plain]}\n", ""))
    base = project.commit("one")
    project.commit("one", "another note")
    # Each has a path of its own, and the same files.
    assert project.reasons(base) == ["built-alike"]
    record = project.newest()[0]
    prepared = json.loads((record / "journal.jsonl").read_text().splitlines()[1])
    paths = [Path(build["path"]) for build in prepared["builds"]]
    assert len({*paths}) == 2
    assert all(path.is_relative_to(project.cache / "trees") for path in paths)
    assert "BX332" in (record / "events.csv").read_text()
    # A change in a file of `runtime` is another program, although the named file does not change.
    project.commit("two")
    assert "built-alike" not in project.reasons(base)


@pytest.mark.slow
def test_a_patch_is_applied_to_the_copy(project: Project) -> None:
    project.source.write_text("patched\n")
    (project.path / "fix.diff").write_text(git(project.folder, "diff") + "\n")
    git(project.folder, "checkout", "-q", "--", ".")
    axes = f"{{mode: {{plain: {{}}, fixed: {{patch: {project.path}/fix.diff}}}}}}"
    project.run("-S", f"axes={axes}", "-S", "baseline={mode: plain}")
    record = project.newest()[0]
    prepared = json.loads((record / "journal.jsonl").read_text().splitlines()[1])
    texts = [Path(build["path"]).read_text() for build in prepared["builds"]]
    assert sorted("# patched" in text for text in texts) == [False, True]
    assert project.source.read_text() == "start\n"
