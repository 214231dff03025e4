"""Tests of the scenarios that `benchctl sweep` and `benchctl ablate` write."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import UsageError
from bench_framework.execution.build.messages import Package
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.workflow.scenarios import crate_scenario
from bench_framework.workflow.scenarios.command_lines import (
    Ablation,
    Sweep,
    plan_ablation,
    plan_sweep,
)
from bench_framework.workflow.scenarios.program_request import BIN
from tests.files import write_files

FEATURES = {"default": ("full",), "full": ("simd", "log"), "simd": (), "log": (), "mimalloc": ()}


@pytest.fixture(autouse=True)
def crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = (
        "[package]",
        'name = "toy"',
        "[features]",
        *(f"{k} = {[*v]}" for k, v in FEATURES.items()),
    )
    manifest = "\n".join(lines).replace("'", '"')
    write_files(tmp_path, {"Cargo.toml": manifest, "src/main.rs": "fn main() {}"})
    bins: dict[str, tuple[str, ...]] = {"toy": ()}
    toy = Package("toy", "1.0.0", tmp_path, tmp_path, True, bins, None, FEATURES, (), None)
    monkeypatch.setattr(crate_scenario, "read_packages", lambda _: (toy,))
    return tmp_path


def swept(*lists: str, command: str = "./prog {n}", **options: Any) -> Plan:
    return plan_sweep(Sweep(lists=lists, command=command.split(), **options))[0]


def ablated(features: str, **options: Any) -> Plan:
    return plan_ablation(Ablation(features=features, command=[BIN, "x"], **options))[0]


def labels(plan: Plan) -> list[str]:
    return [cell.label for cell in plan.cells]


def test_a_variable_is_set_to_each_value_and_the_first_is_the_baseline() -> None:
    plan = swept("ENV:RAYON_NUM_THREADS=4,1", command="./prog {x}")
    assert labels(plan) == [*[f"RAYON_NUM_THREADS={n}" for n in (4, 1)], "control"]
    assert [dict(cell.env)["RAYON_NUM_THREADS"] for cell in plan.cells] == ["4", "1", "4"]
    assert plan.baseline_id == plan.cells[0].variant_id
    assert plan.cells[0].command[1] == ("{x}",), "braces without values are text"


def test_the_command_before_each_run_has_the_values_of_placeholders() -> None:
    plan = swept("n=1,2", command="./a{b}/p {n}", prepare="touch f-{n} {other}")
    words = [[part for (part,) in cell.prepare[0][1:]] for cell in plan.cells[:2]]
    assert words == [["f-1", "{other}"], ["f-2", "{other}"]]
    assert plan.program is not None
    assert plan.program[0].endswith("/a{b}/p")


def test_every_combination_of_several_lists_is_measured() -> None:
    plan = swept("n=1,2", "ENV:MODE=a\\,b,c")
    assert labels(plan)[:-1] == ["n=1 + a,b", "n=1 + c", "n=2 + a,b", "n=2 + c"]
    assert [cell.command[1] for cell in plan.cells] == [("1",), ("1",), ("2",), ("2",), ("1",)]


@pytest.mark.parametrize("command", ["./p {mode} {n}", "./p {mode} {input}"])
def test_a_list_can_be_the_inputs_on_each_of_which_the_others_are_compared(command: str) -> None:
    plan = swept("mode=a,b", "n=10,20", command=command, input=Path("{n}"))
    assert [(item.label, item.dataset) for item in plan.inputs] == [
        ("n=10", None),
        ("n=20", None),
    ]
    assert labels(plan) == ["a", "b", "control"] * 2
    assert [cell.command[2] for cell in plan.cells][:4] == [("10",)] * 3 + [("20",)]


def test_a_list_of_files_can_be_the_inputs_and_the_stdin(crate: Path) -> None:
    write_files(crate, {"x.txt": "1", "y.txt": "2"})
    plan = swept("m=a,b", "f=x.txt,y.txt", command="./p {m}", input=Path("{f}"))
    assert [item.dataset and item.dataset.path for item in plan.inputs] == [
        str(crate / name) for name in ("x.txt", "y.txt")
    ]
    assert all(cell.stdin for cell in plan.cells)


def test_the_inputs_of_a_scenario_saved_elsewhere_are_the_same_files(crate: Path) -> None:
    write_files(crate, {"x.txt": "1", "y.txt": "2"})
    given: dict[str, Any] = {
        "command": "./p {m}",
        "input": Path("{f}"),
        "save": Path("bench/s.yaml"),
    }
    with pytest.raises(UsageError, match="`f` has relative and absolute paths"):
        swept("m=a,b", f"f=x.txt,{crate / 'y.txt'}", **given)
    plan = swept("m=a,b", "f=x.txt,y.txt", **given)
    paths = [Path((item.dataset and item.dataset.path) or "") for item in plan.inputs]
    assert [path.resolve() for path in paths] == [crate / name for name in ("x.txt", "y.txt")]


def test_build_settings_of_the_crate_are_varied() -> None:
    lists = ("PROFILE:lto=off,fat", "PROFILE:codegen-units=16,1", "FEATURES:set=none,simd+log")
    builds = [v.build for v in swept(*lists, command="{bin} x").variants if v.build is not None]
    assert len(builds) == 8
    assert dict(builds[0].profile_keys) == {"lto": "off", "codegen-units": "16"}
    assert {build.features for build in builds} == {(), ("log", "simd")}
    assert not any(build.default_features for build in builds)


def test_default_features_do_not_enable_the_features_that_vary() -> None:
    plan = swept("FEATURES:extra=none,simd,mimalloc,log/x", command="{bin} x")
    builds = {v.label: v.build for v in plan.variants if v.build is not None}
    assert {label: build.features for label, build in builds.items()} == {
        "none": ("log",),
        "simd": ("log", "simd"),
        "mimalloc": ("log", "mimalloc"),
        "log/x": ("log", "log/x"),
    }
    assert not any(build.default_features for build in builds.values())
    plan = swept("FEATURES:allocator=none,mimalloc", command="{bin} x")
    assert all(v.build.default_features for v in plan.variants if v.build)


@pytest.mark.parametrize(
    ("lists", "command", "options", "text"),
    [
        (("FEATURES:n=none,smid",), "{bin}", {}, "the package has no feature `smid`"),
        (("a\nb",), "./p", {}, "`a\\nb` is not a name with values"),
        (("FEATURES:x=none,+",), "{bin}", {}, "`FEATURES:x` has the value `+`, with an empty"),
        (("ENV:_X=1,2",), "./p", {"words": ["ENV:_X=1,2"]}, "ENV:_X=1,2: `_X` is not a valid name"),
    ],
)
def test_arguments_that_give_no_comparison_are_refused(
    lists: tuple[str, ...], command: str, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError) as error:
        swept(*lists, command=command, **options)
    assert text in error.value.message
    assert error.value.code == "BX122"


def test_an_ablation_builds_with_all_features_and_without_each() -> None:
    plan = ablated("mimalloc,simd")
    one, other = "without mimalloc", "without simd"
    assert sorted(labels(plan)) == ["control", "mimalloc + simd", one, other]
    builds = {v.label: v.build for v in plan.variants if v.build is not None}
    features = {label: build.features for label, build in builds.items()}
    # `simd` is a default feature, so the other default features are named one by one.
    assert features == {
        "mimalloc + simd": ("log", "mimalloc", "simd"),
        "without mimalloc": ("log", "simd"),
        "without simd": ("log", "mimalloc"),
    }
    assert not any(build.default_features for build in builds.values())
    assert all(v.build.default_features for v in ablated("mimalloc").variants if v.build)


def test_an_ablation_needs_known_features_of_one_package() -> None:
    for features, options, text in (
        ("", {}, "there are no features to compare"),
        ("simd,simd", {}, "the feature `simd` is given twice"),
        ("smid", {}, "the package has no feature `smid`"),
        ("simd", {"package": "other"}, "no package with a binary named `other`"),
        ("simd,full", {}, "no build with `full` is without `simd`, which it enables"),
        ("full,log", {}, "no build with `full` is without `log`, which it enables"),
    ):
        with pytest.raises(UsageError) as error:
            ablated(features, **options)
        assert text in error.value.message


def test_the_features_of_a_crate_are_listed_or_its_profiles_proposed(
    crate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError) as error:
        ablated("")
    assert str(error.value.fix).startswith("add --features, with one or more of ")
    with pytest.raises(UsageError) as error:
        ablated("smid")
    assert "did you mean `simd`?" in str(error.value.fix)
    plain = Package("toy", "1.0.0", crate, crate, True, {"toy": ()}, None, {}, (), None)
    monkeypatch.setattr(crate_scenario, "read_packages", lambda _: (plain,))
    proposed = "PROFILE:lto=off,fat"
    with pytest.raises(UsageError) as error:
        ablated("")
    assert str(error.value.fix).partition(" -- ")[0].endswith(f"benchctl sweep {proposed}")
    assert len(swept(proposed, command="{bin}").builds) == 2
    library = replace(plain, bins={})
    monkeypatch.setattr(crate_scenario, "read_packages", lambda _: (library,))
    with pytest.raises(UsageError, match="has no package with a binary") as error:
        ablated("simd")
    assert error.value.effect == "nothing was measured"


def test_the_package_of_a_workspace_is_chosen_as_for_a_new_scenario(
    crate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def package(name: str, *bins: str, default: bool) -> Package:
        folder = crate / name
        text = f'[package]\nname = "{name}"\n[features]\nsimd = []\n'
        write_files(folder, {"Cargo.toml": text, **{f"src/bin/{b}.rs": "" for b in bins}})
        targets, features = dict.fromkeys(bins, ()), {"simd": ()}
        return Package(name, "1.0.0", folder, crate, default, targets, None, features, (), None)

    (crate / "Cargo.toml").write_text('[workspace]\nmembers = ["*"]\n', encoding="utf-8")
    members = [package("lib", default=True), package("cli", "cli", "other", default=False)]
    monkeypatch.setattr(crate_scenario, "read_packages", lambda _: tuple(members))
    for plan in (ablated("simd"), swept("PROFILE:lto=off,fat", command="{bin} x")):
        builds = [variant.build for variant in plan.variants if variant.build is not None]
        assert {(b.crate, b.bin) for b in builds} == {(str(crate / "cli"), "cli")}
    with pytest.raises(UsageError, match="lib has no binary"):
        ablated("simd", crate=crate / "lib")
    members.append(package("more", "more", default=False))
    with pytest.raises(UsageError, match="several packages with a binary"):
        ablated("simd")


@pytest.mark.parametrize("name", ["weird-näme", "a+b", "1", "input"])
def test_a_feature_that_cannot_be_an_axis_is_named_with_the_option(name: str) -> None:
    with pytest.raises(UsageError) as error:
        ablated(f"simd,{name}")
    assert error.value.message == f"--features: `{name}` cannot be the name of an axis"


def test_a_saved_scenario_gives_the_same_plan(crate: Path) -> None:
    save = crate / "bench" / "simd.yaml"
    plan = ablated("simd", save=save, margin="3%")
    assert expand(load(save)) == plan
    assert plan.name == "simd"


def test_a_long_value_is_named_by_its_beginning(tmp_path: Path) -> None:
    long = "a" * 5000
    request = Sweep(command=["echo", "{x}"], lists=[f"x={long},b"], save=tmp_path / "long.yaml")
    plan, _ = plan_sweep(request)
    assert [variant.label for variant in plan.variants] == [f"{long[:60]}… (1)", "b"]
    assert plan.cells[0].command[-1] == (long,)
    assert expand(load(tmp_path / "long.yaml")) == plan
