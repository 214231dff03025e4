"""The content of a plan for each form of a scenario."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.features.gate.outcome import narrowed
from bench_framework.model.looks import comparisons_planned
from bench_framework.model.plan import BIN, INPUT, TUNING, Plan, Role
from bench_framework.model.policies import HostPolicy
from bench_framework.text.answers import how_compared
from tests.unit.scenario.conftest import Loads, Plans

TALLY = (
    "version: 1\nname: n\nquestion: q\nworker: {crate: builtin, bin: tally, features: [mimalloc]}\n"
)
TWO = 'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'


def labels(plan: Plan) -> list[str]:
    return [cell.label for cell in plan.cells]


def words(plan: Plan, label: str) -> list[str]:
    cell = next(cell for cell in plan.cells if cell.label == label)
    return [
        "".join(piece if isinstance(piece, str) else f"<{piece.slot}>" for piece in word)
        for word in cell.command
    ]


class TestBuilds:
    def test_a_value_may_set_everything_that_cargo_is_asked_for(self, plans: Plans) -> None:
        plan = plans(
            """
            axes:
              how:
                plain: {}
                tuned:
                  features: [jemalloc]
                  no-default-features: true
                  profile: {lto: fat, codegen-units: 1}
                  rustflags: -C target-cpu=native
                  toolchain: nightly
            baseline: {how: plain}
            """,
            head=TALLY,
        )
        plain, tuned = plan.builds
        assert (plain.features, plain.default_features, plain.toolchain) == (
            ("mimalloc",),
            True,
            None,
        )
        assert tuned.features == ("jemalloc", "mimalloc")
        assert not tuned.default_features
        assert (tuned.profile, tuned.profile_keys) == (
            "release",
            (("codegen-units", "1"), ("lto", "fat")),
        )
        assert tuned.rustflags == ("-C", "target-cpu=native")
        assert tuned.toolchain == "nightly"

    def test_run_axes_share_their_build(self, plans: Plans) -> None:
        plan = plans("axes: {io: [read, slurp]}\nbaseline: {io: read}", head=TALLY)
        assert len(plan.builds) == 1
        assert len(plan.variants) == 2

    def test_a_revision_is_part_of_the_build(self, plans: Plans, crate: Path) -> None:
        plan = plans(
            "axes: {rev: {old: {revision: v1.0}, new: {}}}\nbaseline: {rev: old}",
            head=f"version: 1\nname: n\nquestion: q\nworker: {{crate: {crate.name}}}\n",
        )
        assert [(build.revision, build.crate, build.bin) for build in plan.builds] == [
            ("v1.0", str(crate), "demo"),
            (None, str(crate), "demo"),
        ]

    def test_a_repository_is_built_at_its_revision(self, plans: Plans) -> None:
        head = "version: 1\nname: n\nquestion: q\nworker: {git: 'https://example.org/x.git', rev: v2, bin: x}\n"
        (build,) = plans("", head=head).builds
        assert (build.git, build.revision, build.crate, build.bin) == (
            "https://example.org/x.git",
            "v2",
            "",
            "x",
        )

    def test_a_program_is_searched_next_to_the_scenario(self, plans: Plans, tmp_path: Path) -> None:
        plan = plans("", head="version: 1\nname: n\nquestion: q\nworker: {command: [./prog, -x]}\n")
        assert plan.program == (str(tmp_path / "prog"), "-x")
        assert words(plan, "default") == ["<bin>", "-x"]

    def test_a_bare_name_is_left_for_the_path(self, plans: Plans) -> None:
        assert plans(
            "", head="version: 1\nname: n\nquestion: q\nworker: {command: [wc]}\n"
        ).program == ("wc",)

    @pytest.fixture
    def crate(self, tmp_path: Path) -> Path:
        folder = tmp_path / "demo"
        (folder / "src").mkdir(parents=True)
        (folder / "Cargo.toml").write_text('[package]\nname = "demo"\n')
        (folder / "src" / "main.rs").write_text("fn main() {}\n")
        return folder


class TestCommands:
    def test_a_bundled_worker_is_given_a_flag_for_each_axis_that_it_knows(
        self, plans: Plans
    ) -> None:
        plan = plans(
            "axes: {io: [read, mmap]}\nfixed: {runtime: rayon}\nbaseline: {io: read}\n"
            "input: {dataset: prose, size: 1MiB}",
            head=TALLY,
        )
        assert words(plan, "mmap") == [
            "<bin>",
            "run",
            "--io",
            "mmap",
            "--runtime",
            "rayon",
            "<input>",
        ]

    def test_arguments_of_a_value_go_to_the_end_or_where_the_command_says(
        self, plans: Plans
    ) -> None:
        axes = "axes: {arm: {a: {}, b: {args: [-x, '{arm}']}}}\nbaseline: {arm: a}\n"
        assert words(plans(axes + 'command: ["{bin}", z]'), "b") == ["<bin>", "z", "-x", "b"]
        plan = plans(axes + 'command: ["{bin}", "{args}", z]')
        assert words(plan, "b") == ["<bin>", "-x", "b", "z"]
        assert words(plan, "a") == ["<bin>", "z"]

    def test_what_is_filled_in_is_not_read_again(self, plans: Plans) -> None:
        plan = plans(
            "axes: {arm: ['{bin}', '{{x}}', '{', b]}\ncommand: ['{bin}', '<{arm}>']\nbaseline: {arm: b}"
        )
        assert [cell.command[1] for cell in plan.cells[:3]] == [
            ("<{bin}>",),
            ("<{{x}}>",),
            ("<{>",),
        ]

    def test_doubled_braces_are_braces(self, plans: Plans) -> None:
        plan = plans("axes: {arm: [a]}\ncommand: ['{bin}', '{{\"k\": \"{arm}\"}}']")
        assert words(plan, "default") == ["<bin>", '{"k": "a"}']

    def test_numbers_and_truth_values_reach_the_command_as_they_are_written(
        self, plans: Plans
    ) -> None:
        written = ["010", "1e3", "0x1F", "no", "true", "2026-01-01", "1_000", ".5"]
        plan = plans(
            f"axes: {{arm: [{', '.join(written)}]}}\ncommand: ['{{bin}}', '{{arm}}']\nbaseline: {{arm: no}}"
        )
        assert [words(plan, variant.label)[1] for variant in plan.variants] == written

    def test_a_shell_line_is_one_word_in_which_values_are_quoted(self, plans: Plans) -> None:
        plan = plans(
            "axes: {arm: ['a b', '$(x)']}\nshell: true\ncommand: '{bin} {arm} | sort'\nbaseline: {arm: a b}"
        )
        assert [cell.command for cell in plan.cells[:2]] == [
            ((BIN, " 'a b' | sort"),),
            ((BIN, " '$(x)' | sort"),),
        ]
        assert plan.cells[0].shell

    def test_surroundings_reach_the_cell(self, plans: Plans, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("x")
        cell = plans(
            """
            axes:
              arm: {a: {env: {T: "1"}}, b: {env: {T: "2"}, cpus: 0-1, cache: unknown}}
            input: {file: in.txt}
            command: ["{bin}"]
            stdin: "{input}"
            env: {A: "{arm}", T: "0"}
            cwd: sub
            data-dir: data
            prepare: [cp, "{input}", x]
            cleanup: [[rm, x], [rm, y]]
            baseline: {arm: a}
            """
        ).cells[1]
        assert cell.env == (("A", "b"), ("T", "2"))
        assert (cell.cwd, cell.cpus, cell.cache) == (str(tmp_path / "sub"), "0-1", "unknown")
        assert cell.stdin == (INPUT,)
        assert cell.prepare == ((("cp",), (INPUT,), ("x",)),)
        assert cell.cleanup == ((("rm",), ("x",)), (("rm",), ("y",)))

    def test_tuning_is_filled_with_what_all_variants_share(self, plans: Plans) -> None:
        tuned = 'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}", "{tuning}"]\nbaseline: {arm: a}\n'
        plan = plans(tuned + 'fixed: {where: /disk}\ntuning: ["{bin}", try, "{where}"]', head=TALLY)
        assert plan.tuning == ((BIN,), ("try",), ("/disk",))
        assert plan.cells[0].command[2] == (TUNING,)

    def test_stdin_may_be_a_file_next_to_the_scenario(self, plans: Plans, tmp_path: Path) -> None:
        assert plans(TWO + "stdin: data.txt").cells[0].stdin == (str(tmp_path / "data.txt"),)


class TestInputs:
    def test_an_axis_may_choose_the_data_set_and_its_seed(self, plans: Plans) -> None:
        plan = plans(
            'axes: {kind: [prose, cjk], n: [1, 2]}\ninput: {dataset: "{kind}", size: 1MB, seed: "{n}"}\n'
            'command: ["{bin}", "{input}", "{size}"]'
        )
        assert [given.label for given in plan.inputs] == [
            "prose, n=1",
            "prose, n=2",
            "cjk, n=1",
            "cjk, n=2",
        ]
        assert [(g.dataset.family, g.dataset.seed) for g in plan.inputs if g.dataset] == [
            ("prose", 1),
            ("prose", 2),
            ("cjk", 1),
            ("cjk", 2),
        ]
        assert words(plan, "default") == ["<bin>", "<input>", "1MB"]
        assert plan.unit_family == "si"

    def test_a_file_is_searched_next_to_the_scenario(self, plans: Plans, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("x")
        (given,) = plans(
            'axes: {f: [a.txt]}\ninput: {file: "{f}"}\ncommand: ["{bin}", "{input}"]'
        ).inputs
        assert given.dataset is not None
        assert (given.dataset.kind, given.dataset.path) == ("file", str(tmp_path / "a.txt"))

    def test_iec_unless_every_size_is_si(self, plans: Plans) -> None:
        text = 'input: {dataset: prose, size: "{s}"}\ncommand: ["{bin}", "{input}"]\n'
        assert plans(text + "axes: {s: [1MB, 1MiB]}").unit_family == "iec"
        assert plans(text + "axes: {s: [1MB, 2GB]}").unit_family == "si"


class TestDesigns:
    AXES = 'axes: {x: [a, b, c], y: [d, e], z: [f, g]}\ncommand: ["{bin}", "{x}{y}{z}"]\nbaseline: {x: a, y: d, z: f}\n'

    def short(self, plan: Plan) -> list[str]:
        return [variant.label.replace(" + ", "") for variant in plan.variants]

    def test_full(self, plans: Plans) -> None:
        assert len(self.short(plans(self.AXES))) == 12

    def test_one_at_a_time(self, plans: Plans) -> None:
        plan = plans(self.AXES + "design: one-at-a-time")
        assert self.short(plan) == ["adf", "z=g", "y=e", "x=b", "x=c"]
        assert len(plan.holes) == 7

    def test_ladder(self, plans: Plans) -> None:
        assert self.short(plans(self.AXES + "design: ladder")) == ["adf", "b", "c", "ce", "ceg"]

    def test_pairs_advance_together(self, plans: Plans) -> None:
        assert self.short(plans(self.AXES + "pairs: [y, z]")) == [
            "adf",
            "aeg",
            "bdf",
            "beg",
            "cdf",
            "ceg",
        ]
        assert self.short(plans(self.AXES + "pairs: [[y, z]]")) == [
            "adf",
            "aeg",
            "bdf",
            "beg",
            "cdf",
            "ceg",
        ]

    def test_a_pair_departs_from_the_baseline_as_one(self, plans: Plans) -> None:
        plan = plans(self.AXES + "pairs: [y, z]\ndesign: one-at-a-time")
        assert self.short(plan) == ["adf", "y=ez=g", "x=b", "x=c"]

    def test_an_excluded_baseline_leaves_its_input_without_one(self, plans: Plans) -> None:
        plan = plans(
            'axes: {arm: [a, b], s: [1MiB, 2MiB]}\ninput: {dataset: prose, size: "{s}"}\n'
            'command: ["{bin}", "{arm}", "{input}"]\nbaseline: {arm: a}\nexclude: [{arm: a, s: 2MiB}]'
        )
        assert labels(plan) == ["a", "b", "control", "b"]
        assert plan.baseline_cell(plan.inputs[1].id) is None
        assert comparisons_planned(plan) == 2


class TestNames:
    def test_labels_contain_the_axes_that_vary(self, plans: Plans) -> None:
        plan = plans(
            "axes: {one: [x], two: {values: {a: {label: Alpha}, b: {}}, label: Second, note: why}}\n"
            'command: ["{bin}", "{one}{two}"]\nbaseline: {two: a}'
        )
        assert labels(plan) == ["Alpha", "b", "control"]
        assert (plan.axes[1].label, plan.axes[1].note) == ("Second", "why")
        assert [value.label for value in plan.axes[1].values] == ["Alpha", "b"]

    def test_a_number_or_a_yes_is_labelled_with_its_axis(self, plans: Plans) -> None:
        plan = plans(
            'axes: {least: [1, 0.5], lazy: ["true", "false"], arm: [a]}\n'
            'command: ["{bin}", "{least}", "{lazy}", "{arm}"]\nbaseline: {least: 1, lazy: "true"}'
        )
        assert labels(plan)[:2] == ["least=1 + lazy=true", "least=1 + lazy=false"]

    def test_all_values_of_an_axis_with_a_number_are_labelled_with_it(self, plans: Plans) -> None:
        plan = plans('axes: {opt: ["3", s]}\nbaseline: {opt: "3"}\ncommand: ["{bin}", "{opt}"]\n')
        assert labels(plan)[:2] == ["opt=3", "opt=s"]

    def test_labels_are_never_equal(self, plans: Plans) -> None:
        plan = plans(
            "axes: {arm: {a: {label: same}, b: {label: same}, control: {}}}\n"
            'command: ["{bin}", "{arm}"]\nbaseline: {arm: a}\nfixed: {k: v}\nenv: {K: "{k}"}\n'
            "experiments: [{name: same, change: {k: w}}]"
        )
        assert labels(plan) == ["same", "arm=b", "arm=control", "same (experiment)", "control"]

    def test_a_variant_is_described_by_its_values_and_by_the_scenario(self, plans: Plans) -> None:
        plan = plans(
            "axes: {arm: {a: {about: first}, b: {}}}\ncommand: ['{bin}', '{arm}']\nbaseline: {arm: a}\n"
            "describe: [{variant: {arm: b}, text: the other}, {variant: {}, text: any}]"
        )
        assert [variant.describe for variant in plan.variants] == ["first; any", "the other; any"]

    def test_what_departs_in_one_thing_is_described_by_that_thing(self, plans: Plans) -> None:
        plan = plans(
            "axes:\n  x: {a: {about: base x}, b: {about: other x}}\n  y: {c: {about: base y}, d: {about: other y}}\n"
            'command: ["{bin}", "{x}{y}{z}"]\nbaseline: {x: a, y: c}\ndesign: one-at-a-time\n'
            "experiments: [{name: fast, change: {z: e}, why: w, decision: open}]\nfixed: {z: f}"
        )
        assert {v.label: v.describe for v in plan.variants} == {
            "a + c": "base x; base y",
            "x=b": "other x",
            "y=d": "other y",
            "fast": "",
        }

    def test_notes_are_kept_with_what_the_scenario_is_about(self, plans: Plans) -> None:
        plan = plans(TWO + "about: more\nnotes: [{title: T, text: words}]")
        assert [(note.title, note.text) for note in plan.notes] == [
            ("About", "more"),
            ("T", "words"),
        ]


class TestExperiments:
    def test_an_experiment_that_is_a_variant_already_is_not_measured_twice(
        self, plans: Plans
    ) -> None:
        plan = plans(TWO + "experiments: [{name: try b, change: {arm: b}}]")
        assert labels(plan) == ["a", "b", "control"]
        assert plan.variant(plan.experiments[0].variant_id).label == "b"

    def test_an_experiment_is_measured_even_if_a_rule_leaves_its_combination_out(
        self, plans: Plans
    ) -> None:
        plan = plans(
            "axes: {arm: [a, b, c]}\ncommand: ['{bin}', '{arm}']\nbaseline: {arm: a}\n"
            "exclude: [{arm: b}]\nexperiments: [{name: try b, change: {arm: b}}]"
        )
        assert labels(plan) == ["a", "c", "try b", "control"]
        assert words(plan, "try b") == ["<bin>", "b"]


class TestPolicies:
    def test_several_baselines(self, plans: Plans) -> None:
        plan = plans(TWO.replace("{arm: a}", "[{arm: a}, {arm: b}]"))
        assert plan.variant(plan.baseline_id).label == "a"
        assert [plan.variant(i).label for i in plan.further_baselines] == ["b"]
        assert [cell.role for cell in plan.cells] == [Role.BASELINE, Role.CANDIDATE, Role.CONTROL]

    def test_the_control_can_be_switched_off(self, plans: Plans) -> None:
        assert labels(plans(TWO + "measure: {control: false}")) == ["a", "b"]

    @pytest.mark.parametrize(
        ("rounds", "expected"),
        [
            ("{max: 3}", (3, 3, False, None)),
            ("{min: 60}", (60, 1000, True, 300.0)),
            ("7", (7, 7, False, None)),
            ("{min: 9, max: 11}", (9, 11, False, None)),
            ("{}", (12, 1000, True, 300.0)),
            ("{}, budget: 90s", (12, 1000, True, 90.0)),
            ("{max: 30}, budget: 90s", (12, 30, False, 90.0)),
        ],
    )
    def test_rounds_and_budget(
        self, rounds: str, expected: tuple[int, int, bool, float | None], plans: Plans
    ) -> None:
        measure = plans(TWO + f"measure: {{rounds: {rounds}}}").measure
        limits = (measure.rounds_min, measure.rounds_max, measure.by_budget, measure.budget_s)
        assert limits == expected

    def test_until_a_precision(self, plans: Plans) -> None:
        measure = plans(TWO + "measure: {until: {precision: 1%}}").measure
        assert (measure.until, measure.precision) == ("precision", 0.01)
        assert plans(TWO + "measure: {until: rounds, rounds: 9}").measure.until == "rounds"

    def test_margins_are_one_value_or_one_per_metric(self, plans: Plans) -> None:
        judge = plans(TWO + "margin: 3%\njudge: [cpu]").judge
        assert (judge.margin_of("wall"), judge.margin_of("peak_rss")) == (0.03, 0.05)
        assert (judge.epsilon_of("wall"), judge.epsilon_of("cpu")) == (0.01, 0.01)
        assert (judge.level, judge.metrics) == (0.05, ("cpu",))

    def test_answers(self, plans: Plans, tmp_path: Path) -> None:
        answer = plans(
            TWO + "answer: {compare: sorted-lines, file: out, stdout: null}\nexit-codes: [0, 1]"
        ).answer
        assert (answer.compare, answer.file, answer.stdout) == (
            "sorted-lines",
            str(tmp_path / "out"),
            "null",
        )
        assert answer.exit_codes == (0, 1)
        assert plans(TWO + "answer: none").answer.compare == "none"
        assert plans(TWO + "answer: {stdout: 'null'}").answer.compare == "none"

    def test_forms_of_answers(self, plans: Plans, tmp_path: Path) -> None:
        answer = plans(
            TWO + "answer: {filter: jq .rows, extract: 'a+', ignore: 'b+', json: {ignore: [t]}, "
            "tolerance: 1e-6}"
        ).answer
        assert (answer.filter, answer.extract, answer.ignore) == (("jq", ".rows"), "a+", ("b+",))
        assert (answer.compare, answer.json_ignore, answer.tolerance) == ("json", ("t",), 1e-6)
        assert how_compared(answer) == (
            "json, after the filter `jq .rows`, only matches of `a+`, without matches of `b+`, "
            "without the JSON keys `t`, numbers within 1e-06 (relative)"
        )
        checked = plans(TWO + "answer: {check: [./check.sh, -q]}").answer
        assert checked.check == (str(tmp_path / "check.sh"), "-q")
        some = plans(TWO + 'answer: {compare: sorted-lines, differs: "<0.1%"}').answer
        assert (some.differs, some.tolerated_share) == ("refuse", 0.001)
        assert how_compared(some).endswith("less than 0.1\u202f% of the lines may differ")

    def test_gate(self, plans: Plans) -> None:
        gate = plans(
            TWO
            + "gate: {peak_rss: 5%, wall: 1%, detect: 4%, on-inconclusive: fail, require: [wall]}"
        ).judge.gate
        assert gate.margins == (("wall", 0.01), ("peak_rss", 0.05))
        assert (gate.detect, gate.on_inconclusive, gate.require) == (0.04, "fail", ("wall",))
        assert (gate.chosen, gate.budgets, gate.min_compared, gate.accepted) == (None, (), 0, "")

    def test_cells_and_budgets_of_the_gate_are_cells_of_the_plan(
        self, plans: Plans, tmp_path: Path
    ) -> None:
        plan = plans(
            TWO + "gate: {cells: arm=b, min-compared: 2, accepted: bench/accepted.yaml, budgets: ["
            "{cell: arm=a, metric: wall, max: 1.2s}, {cell: arm=a|b, metric: peak_rss, max: 2MiB}]}"
        )
        gate, ids = plan.judge.gate, {cell.label: cell.id for cell in plan.cells}
        assert gate.chosen == (ids["b"],)
        assert gate.min_compared == 2
        assert gate.accepted == str(tmp_path / "bench" / "accepted.yaml")
        assert [(b.most, b.text, b.cell_ids) for b in gate.budgets] == [
            (1.2, "1.2s", (ids["a"],)),
            (2 << 20, "2MiB", (ids["a"], ids["b"])),
        ]

    def test_instructions_that_only_the_gate_asks_for_may_be_missing(self, plans: Plans) -> None:
        gated = plans(TWO + "gate: {instructions: 1%}").instructions
        assert gated is not None
        assert (gated.runs, gated.optional) == (2, True)
        judged = plans(TWO + "judge: [wall, instructions]\ngate: {instructions: 1%}").instructions
        assert judged is not None
        assert not judged.optional
        assert plans(TWO).instructions is None


class TestIdentity:
    def test_the_seed_follows_from_what_the_scenario_says(self, plans: Plans) -> None:
        one, two = (
            plans(TWO),
            plans(
                "# a comment\n" + TWO.replace("axes: {arm: [a, b]}", "axes:\n  arm:\n  - a\n  - b")
            ),
        )
        assert one.scenario_sha256 == two.scenario_sha256
        assert one.measure.seed == two.measure.seed
        assert plans(TWO + "margin: 3%").measure.seed != one.measure.seed
        assert plans(TWO + "measure: {seed: 7}").measure.seed == 7
        most = 9223372036854775807
        assert plans(TWO + f"measure: {{seed: {most}}}").measure.seed == most

    def test_what_is_written_out_and_what_is_left_to_the_default_is_the_same(
        self, loads: Loads
    ) -> None:
        assert loads(TWO).sha256 == loads(TWO + "design: full\nmeasure: {warmup: 2}").sha256

    def test_renaming_a_label_changes_no_identity(self, plans: Plans) -> None:
        text = (
            "axes: {arm: {a: {label: %s}, b: {}}}\ncommand: ['{bin}', '{arm}']\nbaseline: {arm: a}"
        )
        assert [c.id for c in plans(text % "x").cells] == [c.id for c in plans(text % "y").cells]


class TestAnchors:
    def test_aliases_and_merges_work_within_a_file(self, plans: Plans) -> None:
        plan = plans(
            """
            axes:
              arm:
                a: &base {args: [-x], env: {K: one}}
                b: {<<: *base, args: [-y]}
            command: ["{bin}"]
            baseline: {arm: a}
            """
        )
        assert [(words(plan, label)[1], plan.cells[i].env) for i, label in enumerate("ab")] == [
            ("-x", (("K", "one"),)),
            ("-y", (("K", "one"),)),
        ]


class TestAxesOfTheBuild:
    def test_settings_of_the_build_reach_its_specification(
        self, plans: Plans, tmp_path: Path
    ) -> None:
        (tmp_path / "fix.diff").write_text("--- a\n")
        plan = plans(
            """
            axes:
              how:
                plain: {preload-allocator: system}
                tuned:
                  target-cpu: x86-64-v3
                  linker: mold
                  preload-allocator: ./libfast.so
                  dependencies: {memchr: "=2.7.4"}
                  patch: fix.diff
            baseline: {how: plain}
            """,
            head=TALLY,
        )
        plain, tuned = plan.builds
        assert plain == plain.program
        assert tuned.rustflags == ("-Ctarget-cpu=x86-64-v3", "-Clink-arg=-fuse-ld=mold")
        assert tuned.preload == str(tmp_path / "libfast.so")
        assert tuned.dependencies == (("memchr", "2.7.4"),)
        assert tuned.patches == (str(tmp_path / "fix.diff"),)

    def test_pgo_reaches_the_build_with_its_training(self, plans: Plans) -> None:
        plan = plans(
            """
            axes:
              how:
                plain: {pgo: false}
                same: {pgo: true}
                other: {pgo: {train: ["{bin}", "--io={{x}}", "{input}"]}}
            input: {dataset: prose, size: 1MiB}
            baseline: {how: plain}
            """,
            head=TALLY,
        )
        plain, same, other = plan.builds
        assert (plain.pgo, same.pgo, other.pgo) == (False, True, True)
        assert (plain.train, same.train) == ((), ())
        assert other.train == ((BIN,), ("--io={x}",), (INPUT,))
        assert plain == replace(same, pgo=False)
        assert len({plain.id, same.id, other.id}) == 3

    def test_a_later_axis_switches_pgo_off(self, plans: Plans) -> None:
        with pytest.raises(ScenarioError) as error:
            plans(
                """
                axes:
                  how: {plain: {}, trained: {pgo: true}}
                  then: {same: {}, without: {pgo: false}}
                baseline: {how: plain, then: same}
                """,
                head=TALLY,
            )
        assert [problem.message for problem in error.value.problems] == [
            "two variants are the same program: plain + same, plain + without",
            "two variants are the same program: plain + same, trained + without",
        ]

    def test_a_selection_and_the_gate_keep_the_training_of_the_scenario(self, plans: Plans) -> None:
        text = """
            axes:
              size: [1MiB, 2MiB]
              how: {plain: {}, trained: {pgo: true}}
            input: {dataset: prose, size: "{size}"}
            baseline: {how: plain}
            """
        whole = plans(text, head=TALLY)
        assert [run.input for run in whole.training] == list(whole.inputs)
        (spec,) = {run.build for run in whole.training}
        assert spec.pgo
        part = plans(text, head=TALLY, only="size=1MiB")
        assert len(part.inputs) == 1
        assert part.training == whole.training
        (candidate, *_) = (cell for cell in whole.cells if cell.role is Role.CANDIDATE)
        assert narrowed(whole, frozenset({candidate.id})).training == whole.training

    def test_an_existing_program_gets_a_build_for_each_allocator(self, plans: Plans) -> None:
        plan = plans(
            """
            axes: {allocator: {none: {}, fast: {preload-allocator: jemalloc}}}
            baseline: {allocator: none}
            """
        )
        assert [(spec.installed, spec.preload) for spec in plan.builds] == [
            (True, ""),
            (True, "jemalloc"),
        ]


@pytest.mark.parametrize(
    ("hosts", "policy"),
    [
        ("", None),
        ("hosts: all", HostPolicy(everyone=True)),
        ("hosts: {any: 1}", HostPolicy(any=1)),
        ("hosts: {label: [arm64, x86]}", HostPolicy(labels=("arm64", "x86"))),
        ("hosts: {label: nvme}", HostPolicy(labels=("nvme",))),
        ("hosts: {per-kind: 3}", HostPolicy(per_kind=3)),
    ],
)
def test_hosts_of_a_plan(plans: Plans, hosts: str, policy: HostPolicy | None) -> None:
    assert plans(f"{TWO}{hosts}\n").hosts == policy
