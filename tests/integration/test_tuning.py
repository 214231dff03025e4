"""Tests of the tuning command, which runs once before the measurement."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.files import write_files
from tests.integration import processes
from tests.integration.processes import Done

MAIN = """
use std::{env, fs, process};
fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    match words[0].as_str() {
        "probe" => {
            let calls = fs::read_to_string("calls").unwrap_or_default() + "probe\\n";
            fs::write("calls", calls).unwrap();
            match words[1].as_str() {
                "good" => println!(
                    "{}",
                    r#"{"rows": [
                        {"block_bytes": 4096, "bytes_per_s": 1048576.0, "seconds": [1.0, 2.0]},
                        {"block_bytes": 8192, "bytes_per_s": null, "seconds": []}
                    ], "choice": {"block_bytes": 4096}, "effective": {"calls": "pwrite"}, "basis": "a trial each"}"#
                ),
                "text" => println!("no json"),
                _ => { println!("tried {}", words[1]); eprintln!("no disk to try"); process::exit(7) }
            }
        }
        way => {
            let tuned = fs::read_to_string(&words[1]).expect("what was printed before");
            assert!(tuned.contains("4096") && (way == "one" || way == "two"));
            println!("done");
        }
    }
}
"""
SCENARIO = """\
version: 1
name: tuned
question: Which way is faster?
worker: {{crate: ., bin: tuned}}
axes: {{way: [one, two]}}
fixed: {{kind: {kind}}}
tuning: ["{{bin}}", probe, "{{kind}}"]
command: ["{{bin}}", "{{way}}", "{{tuning}}"]
cwd: work
baseline: {{way: one}}
measure: {{rounds: 1, until: rounds, warmup: 1}}
"""
IN_INPUT_FOLDER = SCENARIO.replace("cwd: work\n", "input: {{file: work/data.txt}}\n")
NOT_MEASURED = 3


@pytest.fixture
def benchctl(tmp_path: Path) -> Callable[..., Done]:
    manifest = '[package]\nname = "tuned"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
    files = {"Cargo.toml": manifest, "src/main.rs": MAIN, "work/data.txt": "a b"}
    write_files(tmp_path, files)

    def call(*words: str, kind: str, scenario: str = SCENARIO, code: int | None = None) -> Done:
        (tmp_path / "tuned.yaml").write_text(scenario.format(kind=kind), encoding="utf-8")
        return processes.benchctl(tmp_path, *words, env=processes.real(), code=code)

    return call


@pytest.mark.real
@pytest.mark.slow
def test_it_runs_once_and_the_record_contains_its_table(
    benchctl: Callable[..., Done], tmp_path: Path
) -> None:
    assert "Tune     {bin} probe good" in benchctl("plan", "tuned.yaml", kind="good").stdout
    benchctl("run", "tuned.yaml", kind="good", code=0)
    (record,) = (tmp_path / "results" / "tuned").glob("2*")
    assert (tmp_path / "work" / "calls").read_text(encoding="utf-8") == "probe\n"
    assert json.loads((record / "tuning.json").read_text(encoding="utf-8"))["choice"] == {
        "block_bytes": 4096
    }
    page = (record / "appendix.md").read_text(encoding="utf-8")
    assert "| **4.00\u202fKiB** | 1.00 | 2 |" in page
    assert "Reported by the command: a trial each." in page
    assert "Actual modes: calls pwrite." in page
    assert f"one results/tuned/{record.name}/tuning.json" in page
    assert benchctl("verify", str(record), kind="good").returncode == 0
    (record / "tuning.json").write_text('{"rows": []}', encoding="utf-8")
    spoilt = benchctl("verify", str(record), kind="good", code=1)
    assert "tuning.json" in spoilt.stdout + spoilt.stderr


@pytest.mark.real
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("text", "error[BX204]: the command under `tuning` printed no JSON object"),
        ("broken", "error[BX204]: the command under `tuning` failed: exit status 7"),
    ],
)
@pytest.mark.slow
def test_its_failure_prevents_the_measurement(
    benchctl: Callable[..., Done], tmp_path: Path, kind: str, message: str
) -> None:
    done = benchctl("run", "tuned.yaml", kind=kind, code=NOT_MEASURED)
    assert message in done.stderr
    assert ("no disk to try" in done.stderr) is (kind == "broken")
    assert ("stdout   tried broken\n" in done.stderr) is (kind == "broken")
    (record,) = (tmp_path / "results" / "tuned").glob("2*")
    assert '"kind":"block"' not in (record / "journal.jsonl").read_text(encoding="utf-8").replace(
        " ", ""
    )


@pytest.mark.real
@pytest.mark.slow
def test_it_runs_in_the_folder_of_the_runs(benchctl: Callable[..., Done], tmp_path: Path) -> None:
    benchctl("run", "tuned.yaml", kind="good", scenario=IN_INPUT_FOLDER, code=0)
    assert (tmp_path / "work" / "calls").read_text(encoding="utf-8") == "probe\n"
    assert not (tmp_path / "calls").exists()


@pytest.mark.real
def test_a_baseline_that_cannot_be_built_is_named(
    benchctl: Callable[..., Done], tmp_path: Path
) -> None:
    with (tmp_path / "Cargo.toml").open("a", encoding="utf-8") as manifest:
        manifest.write("[features]\nbroken = []\n")
    with (tmp_path / "src" / "main.rs").open("a", encoding="utf-8") as source:
        source.write('#[cfg(feature = "broken")]\ncompile_error!("as asked");\n')
    broken = SCENARIO.replace("[one, two]", "{{one: {{features: [broken]}}, two: {{}}}}")
    done = benchctl("run", "tuned.yaml", kind="good", scenario=broken, code=NOT_MEASURED)
    assert done.stderr.count("error[BX220]") == 1
    assert "nothing was measured, because every variant is compared with it" in done.stderr
