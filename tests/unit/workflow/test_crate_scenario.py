"""The scenario of `benchctl init` for a crate. Packages are given; cargo is not run."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import UsageError
from bench_framework.execution.build.messages import Dependency, Package
from bench_framework.execution.build.platforms import Platform
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.workflow.scenarios import crate_axes, crate_scenario
from bench_framework.workflow.scenarios.crate_scenario import (
    Ask,
    CrateOptions,
    Draft,
    draft_scenario,
)
from tests.build import require
from tests.files import write_files

RELEASE = "[workspace]\n[profile.release]\nlto = true\ncodegen-units = 1\n"
FEATURES = {"default": ("gzip",), "gzip": (), "jemalloc": (), "simd": (), "tls": ("dep:tls",)}


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Make a workspace in the current folder. Its packages are the values, which tests change."""
    (tmp_path / "data.txt").write_text("a\n")
    (tmp_path / "Cargo.toml").write_text(RELEASE)
    monkeypatch.chdir(tmp_path)
    packages: dict[str, Any] = {}
    monkeypatch.setattr(crate_scenario, "read_packages", lambda _: tuple(packages.values()))
    return packages


def package(name: str = "tool", *bins: str, **keys: Any) -> Package:
    root = Path.cwd()
    folder = root / name
    (folder / "src" / "bin").mkdir(parents=True, exist_ok=True)
    for bin_name in bins:
        (folder / "src" / "bin" / f"{bin_name}.rs").write_text("fn main() {}\n")
    features = "".join(
        f"{key} = {list(value)}\n" for key, value in keys.get("features", {}).items()
    )
    (folder / "Cargo.toml").write_text(f'[package]\nname = "{name}"\n[features]\n{features}')
    given: dict[str, Any] = {
        "default": True,
        "bins": dict.fromkeys(bins, ()),
        "default_run": None,
        "features": {},
        "dependencies": (),
        "rust_version": None,
    }
    return Package(name, "1.2.3", folder, root, **(given | keys))


def drafted(ask: Ask | None = None, **keys: Any) -> tuple[Draft, dict[str, str]]:
    draft = draft_scenario(CrateOptions(folder=Path("bench"), **keys), ask)
    return draft, dict(draft.guesses)


def refused(ask: Ask | None = None, **keys: Any) -> str:
    with pytest.raises(UsageError) as raised:
        drafted(ask, **keys)
    assert raised.value.code == "BX124"
    assert raised.value.effect == "nothing was written"
    return f"{raised.value.message}; {raised.value.fix}"


def variants(text: str) -> list[str]:
    Path("bench").mkdir(exist_ok=True)
    plan = expand(load(Path("bench/tool.yaml"), text=text))
    assert not [cell for cell in plan.cells if "{" in str(cell.label)]
    return [variant.label for variant in plan.variants]


def test_the_scenario_measures_one_axis_and_proposes_others(packages: dict[str, Any]) -> None:
    packages["tool"] = package(
        "tool", "tool", features=FEATURES, dependencies=(Dependency("mimalloc"),)
    )
    draft, guesses = drafted(words=["--count", "data.txt"])
    assert draft.name == "tool"
    assert variants(draft.text)[:2] == ["system", "jemalloc"]
    assert guesses == {
        "package": "tool 1.2.3, the only one",
        "binary": "tool, the only one",
        "allocator": "mimalloc is a dependency, no feature",
        "profile": "release, with lto = true, codegen-units = 1",
        "axis": "allocator, with the values system (baseline), jemalloc",
        "more": "profile, features: axes that are commented out in the file",
        "input": "data.txt",
        "command": "tool --count data.txt",
    }
    assert ("allocator", "system, jemalloc are alternatives, by their names") in draft.guesses
    assert "input: {file: ../data.txt}" in draft.text
    assert 'command: ["{bin}", --count, "{input}"]' in draft.text
    assert '# profile: {lto: "off", codegen-units: 16}' in draft.text


@pytest.mark.parametrize("word", ["nofile.txt", "data/nofile"])
def test_an_argument_that_may_be_a_missing_file_is_named(
    packages: dict[str, Any], word: str
) -> None:
    packages["tool"] = package("tool", "tool")
    reason = f"none: there is no file `{word}`; it is passed on as text"
    assert drafted(words=["--scale=a/b", "1.5", word])[1]["input"] == reason
    reason = "none: several arguments are files"
    assert drafted(words=["--scale=a/b", "1.5", "data.txt", "data.txt"])[1]["input"] == reason
    assert drafted(words=["1.5"])[1]["input"] == "none: no argument is a file"


def test_the_proposal_for_several_files_makes_each_of_them_an_input(
    packages: dict[str, Any],
) -> None:
    packages["tool"] = package("tool", "tool")
    text = drafted(words=["data.txt"])[0].text
    axis, file = require(re.search("Several files.* `(data: .*)`, and `(file: .*)`", text)).groups()
    text = text.replace("file: ../data.txt", file).replace("\nbaseline", f"\n  {axis}\nbaseline")
    Path("bench").mkdir(exist_ok=True)
    write_files(Path(), {"a.txt": "a", "b.txt": "b"})
    plan = expand(load(Path("bench/tool.yaml"), text=text))
    assert [item.label for item in plan.inputs] == ["a.txt", "b.txt"]


def test_the_proposals_in_comments_are_valid_too(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool", features=FEATURES)
    text = drafted(words=[])[0].text
    explored = text.replace("  # profile: {lto", "  profile: {lto")
    assert explored != text
    assert len(variants(explored)) == 2
    head, axes = text.split("axes:")
    axes = re.sub(r"^  # (?=profile|features|  )", "  ", axes, flags=re.MULTILINE)
    axes = axes.replace(": system}", ": system, profile: release, features: default}")
    assert len(variants(f"{head}axes:{axes}")) == 2 * 2 * 3


ONLY_MUSL = 'cfg(all(target_env = "musl", target_pointer_width = "64"))'


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("x86_64-unknown-linux-gnu", True),
        ("x86_64-unknown-linux-musl", False),
        ("cfg(unix)", True),
        ("cfg(not(windows))", True),
        (ONLY_MUSL, False),
        ('cfg(all(not(any(windows, target_env = "msvc")), target_pointer_width = "64"))', True),
        ('cfg(any(target_os = "macos", all()))', True),
        ("cfg(any())", False),
        ("cfg(unix", False),
    ],
)
def test_the_condition_of_a_dependency_is_that_of_rustc(condition: str, met: bool) -> None:
    settings = 'unix\ntarget_env="gnu"\ntarget_os="linux"\ntarget_pointer_width="64"'
    platform = Platform("x86_64-unknown-linux-gnu", frozenset(settings.splitlines()))
    assert platform.meets(condition) is met


def test_an_allocator_of_other_platforms_is_no_alternative(
    packages: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = Platform("x86_64-unknown-linux-gnu", frozenset({"unix"}))
    monkeypatch.setattr(crate_axes, "platform_of", lambda _: platform)
    features = {"jemalloc": ("dep:jemallocator",), "simd": (), "full": ("jemalloc", "simd")}
    dependency = Dependency("jemallocator", optional=True, condition=ONLY_MUSL)
    packages["tool"] = package("tool", "tool", features=features, dependencies=(dependency,))
    draft, guesses = drafted(words=[])
    other = f"jemallocator is a dependency on other platforms only: {ONLY_MUSL}"
    assert guesses["allocator"] == other
    assert guesses["more"].startswith("features, allocator: ")
    assert "features: [full]" in draft.text
    assert "features: [jemalloc]" not in draft.text
    here = Dependency("jemallocator", optional=True, condition="cfg(unix)")
    packages["tool"] = package("tool", "tool", features=features, dependencies=(here,))
    assert variants(drafted(words=[])[0].text)[:2] == ["system", "jemalloc"]
    # On an unknown platform, the condition may hold.
    monkeypatch.setattr(crate_axes, "platform_of", lambda _: None)
    packages["tool"] = package("tool", "tool", features=features, dependencies=(dependency,))
    assert variants(drafted(words=[])[0].text)[:2] == ["system", "jemalloc"]


def test_features_may_enable_each_other(packages: dict[str, Any]) -> None:
    features = {"one": ("other",), "other": ("one",)}
    packages["tool"] = package("tool", "tool", features=features)
    assert len(variants(drafted(words=[])[0].text)) == 2


def test_allocators_are_preloaded_into_a_program_that_has_none(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    text = drafted(words=[])[0].text
    head, axes = text.split("axes:")
    axes = re.sub(r"^  # (?=allocator|  )", "  ", axes, flags=re.MULTILINE)
    axes = axes.replace("{profile: release}", "{profile: release, allocator: system}")
    assert len(variants(f"{head}axes:{axes}")) == 2 * 3
    has_one = (Dependency("mimalloc"),)
    packages["tool"] = package("tool", "tool", dependencies=has_one)
    assert "preload-allocator" not in drafted(words=[])[0].text


def test_a_feature_that_includes_others_is_proposed_in_their_place(
    packages: dict[str, Any],
) -> None:
    features = {"all": ("cbor", "yaml"), "cbor": (), "yaml": (), "base": ("jemalloc",)}
    packages["tool"] = package("tool", "tool", features={**features, "jemalloc": ()})
    assert (
        "features:\n  #   default: {}\n  #   all: {features: [all]}\nbase"
        in drafted(words=[])[0].text
    )


def test_without_alternatives_the_profile_is_varied(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    assert variants(drafted(words=[])[0].text)[:2] == ["release", "fast-build"]
    Path("Cargo.toml").write_text("[workspace]\n")
    draft, guesses = drafted(words=[])
    assert variants(draft.text)[:2] == ["release", "fat-lto"]
    assert guesses["profile"] == "release, with the default settings of cargo"


def test_required_features_of_the_binary_are_enabled(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool", features=FEATURES, bins={"tool": ("gzip", "simd")})
    assert "  features: [simd]  # the binary requires them" in drafted(words=[])[0].text


def test_words_that_yaml_or_placeholders_would_change_are_kept(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    words = ["no", "1e3", "{x}", "${input}", "a: b", "-", "#c", 'q"', "{input}"]
    text = drafted(words=["{bin}", *words], input=Path("data.txt"))[0].text
    Path("bench").mkdir()
    plan = expand(load(Path("bench/tool.yaml"), text=text))
    expected = ["no", "1e3", "{x}", "${input}", "a: b", "-", "#c", 'q"']
    assert plan.cells[0].command[1:-1] == tuple((word,) for word in expected)


def test_words_with_the_program_are_the_whole_command(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    draft, guesses = drafted(words=["sh", "-c", "{bin} data.txt | head"])
    assert 'command: [sh, -c, "{bin} data.txt | head"]' in draft.text
    assert guesses["command"] == "sh -c 'tool data.txt | head'"
    assert 'command: ["{bin}", -x]' in drafted(words=["tool", "-x"])[0].text


def test_a_manifest_that_only_cargo_reads_has_no_known_profile(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    Path("Cargo.toml").write_text("[profile]\nrelease = {lto = true,\n}\n")  # TOML 1.1
    assert "with the default settings of cargo" in drafted(words=[])[1]["profile"]


def test_an_input_that_no_argument_names_is_the_stdin(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    draft, guesses = drafted(words=["-c"], input=Path("data.txt"))
    assert 'stdin: "{input}"' in draft.text
    assert guesses["input"] == "data.txt, as stdin"
    draft, _ = drafted(input=Path("data.txt"))
    assert 'command: ["{bin}", "{input}"]' in draft.text


def test_the_package_and_binary_follow_from_options_folder_and_defaults(
    packages: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    packages["a"] = package("a", "a", "extra", default_run="extra")
    packages["b"] = package("b", "b", "b2")
    packages["lib"] = package("lib")
    assert "--package NAME, one of: a, b" in refused(words=[])
    assert "did you mean `b2`?" in refused(words=[], package="b", binary="b22")
    assert "no package with a binary named `lib`" in refused(words=[], package="lib")
    assert drafted(words=[], binary="b2")[1]["package"] == "b 1.2.3, the only one"
    assert drafted(words=[], package="a")[1]["binary"] == "extra, the default of a, extra"
    monkeypatch.chdir("b")
    assert drafted(words=[])[1]["binary"] == "b, the default of b, b2"
    monkeypatch.chdir("../lib")  # it has no binary, so the other members are the candidates
    assert "several packages with a binary" in refused(words=[])


def test_a_default_member_is_chosen_without_a_terminal(packages: dict[str, Any]) -> None:
    packages["a"] = package("a", "a", default=False)
    packages["b"] = package("b", "b")
    assert drafted(words=[])[1]["package"] == "b 1.2.3, the default of a, b"


def test_the_user_is_asked_for_what_is_missing(packages: dict[str, Any]) -> None:
    packages["a"] = package("a", "a", "a2")
    packages["b"] = package("b", "b")
    questions: list[tuple[Sequence[str], str]] = []

    def ask(_: str, names: Sequence[str], default: str) -> str:
        questions.append((names, default))
        return ["a", "a2", "--sum '{input}'", "data.txt"][len(questions) - 1]

    draft, guesses = drafted(ask)
    assert questions == [(["a", "b"], ""), (["a", "a2"], "a"), ((), ""), ((), "")]
    assert guesses["command"] == "a2 --sum data.txt"
    assert draft.name == "a2"
    assert "close the quotes" in refused(lambda *_: "a 'b", package="b")


def test_what_is_missing_or_wrong_is_refused(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool")
    assert "not known; write its arguments after `--`" in refused()
    assert "add --input FILE" in refused(words=["{input}"])
    assert "nope does not exist" in refused(input=Path("nope"))
    assert "tool is a folder" in refused(input=Path("tool"))
    assert "is not a crate" in refused(crate=Path("tool/src"))
    packages["tool"] = package("tool")
    assert "src/bin/measure.rs" in refused(words=[])
    assert "or a benchmark of criterion, divan or libtest in benches/" in refused(words=[])


def test_the_benchmarks_of_a_crate_without_a_binary_are_named(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool")
    write_files(Path(), {"Cargo.toml": '[workspace]\nmembers = ["*"]\n', "tool/benches/sum.rs": ""})
    of_member = "benchctl gate --bench all --package tool, or benchctl init --package tool without"
    assert of_member in refused(words=[])
    assert "benchctl gate --bench all, or benchctl init" in refused(words=[], crate=Path("tool"))


def test_the_toolchain_file_precedes_the_rust_version(packages: dict[str, Any]) -> None:
    packages["tool"] = package("tool", "tool", rust_version="1.80")
    assert drafted(words=[])[1]["rust"] == "1.80 or newer (rust-version)"
    Path("rust-toolchain.toml").write_text('[toolchain]\nchannel = "1.88"\n')
    assert drafted(words=[])[1]["rust"] == "the toolchain that rust-toolchain.toml names"
