"""Settings of builds that must reach the binary: features, linkers, processors, sources."""

import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.build.cargo import Builder
from bench_framework.execution.build.symbols import linker_of
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.record.run import Build
from tests.build import require
from tests.files import write_files
from tests.integration.processes import commit

Builds = Callable[..., Build]

MANIFEST = """[package]
name = "prog"
version = "0.1.0"
edition = "2021"
[features]
used = ["dep:helper"]
unused = ["dep:other"]
[dependencies]
helper = { path = "helper", optional = true }
other = { path = "other", optional = true }
[workspace]
members = ["helper", "other"]
"""
PART = '[package]\nname = "NAME"\nversion = "0.1.0"\nedition = "2021"\n'
MAIN = """fn main() {
    #[cfg(feature = "used")]
    println!("{}", helper::work(std::env::args().count()));
}
"""
WORK = "#[inline(never)] pub fn work(n: usize) -> usize { std::hint::black_box(n) + 1 }\n"


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "repository" / "prog"
    for name in ("helper", "other"):
        manifest = PART.replace("NAME", name)
        write_files(folder / name, {"Cargo.toml": manifest, "src/lib.rs": WORK})
    return write_files(folder, {"Cargo.toml": MANIFEST, "src/main.rs": MAIN})


@pytest.fixture
def builds(crate: Path, tmp_path: Path, launcher: Launcher) -> Builds:
    def run(**settings: object) -> Build:
        env = {**host.environment(), "BENCHCTL_CACHE": str(tmp_path / "cache")}
        spec = BuildSpec(str(crate), "prog", **settings)  # type: ignore[arg-type]
        observer = SilentObserver()
        builder = Builder(launcher, env, observer, contract=False, place=tmp_path)
        (build,) = builder.build_all([spec])
        return build

    return run


def test_a_feature_that_leaves_no_symbol_is_a_remark_in_every_build(builds: Builds) -> None:
    expected = "feature unused brings other; none of its symbols is in the binary"
    for _ in range(2):  # the second build is fresh
        build = builds(features=("unused", "used"))
        assert build.ok, build.message
        assert build.remarks == (expected,)
    assert builds(features=("used",)).remarks == ()
    assert builds().remarks == ()


def test_a_stripped_binary_shows_nothing_about_its_features(builds: Builds) -> None:
    assert builds(features=("unused",), profile_keys=(("strip", "true"),)).remarks == ()


def test_the_linker_of_a_binary_is_recorded(builds: Builds) -> None:
    build = builds(rustflags=("-Clink-arg=-fuse-ld=bfd",))
    assert build.ok, build.message
    assert build.linker == "GNU ld"


@pytest.mark.parametrize("table", ["build", "target.'cfg(unix)'"])
@pytest.mark.slow
def test_flags_of_a_variant_extend_those_of_the_configuration(
    builds: Builds, crate: Path, table: str
) -> None:
    config = crate.parent / ".cargo" / "config.toml"
    config.parent.mkdir()
    config.write_text(f"[{table}]\nrustflags = ['--cfg', 'configured=\"a b\"']\n")
    main = 'fn main() { println!("{:?}", (cfg!(configured = "a b"), cfg!(variant))); }\n'
    (crate / "src" / "main.rs").write_text(main)
    assert printed(builds()) == "(true, false)\n"
    for _ in range(2):  # the flags are read again
        assert printed(builds(rustflags=("--cfg", "variant"))) == "(true, true)\n"
    config.unlink()
    assert printed(builds(rustflags=("--cfg", "variant"))) == "(false, true)\n"
    config.write_text("[build]\nrustflags = 1\n")
    failed = builds(rustflags=("--cfg", "variant"))
    assert require(failed.message).startswith("cargo cannot read the flags of its configuration")


def test_another_linker_than_the_requested_one_is_an_error(
    tmp_path: Path, launcher: Launcher
) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    program = tmp_path / "a"
    subprocess.run(["cc", "-fuse-ld=bfd", "-o", program, tmp_path / "a.c"], check=True)
    env = host.environment()
    assert linker_of(program, ("-Clink-arg=-fuse-ld=bfd",), launcher, env) == "GNU ld"
    with pytest.raises(BuildError, match="mold was requested") as caught:
        linker_of(program, ("-Clink-arg=-fuse-ld=mold",), launcher, env)
    assert caught.value.message.endswith("but the binary was linked by GNU ld")
    assert caught.value.code == "BX229"


def test_a_missing_linker_is_refused_before_any_build(tmp_path: Path, launcher: Launcher) -> None:
    spec = BuildSpec(str(tmp_path / "none"), "prog", rustflags=("-Clink-arg=-fuse-ld=mold",))
    env = {**host.environment(), "PATH": str(tmp_path)}
    with pytest.raises(MachineError, match="the linker mold is not installed") as caught:
        Builder(launcher, env, SilentObserver(), False, tmp_path).build_all([spec])
    assert caught.value.code == "BX228"


PATCH = """--- a/prog/src/main.rs
+++ b/prog/src/main.rs
@@ -1 +1 @@
-fn main() { println!("{}", tiny::version()); }
+fn main() { println!("patched {}", tiny::version()); }
"""


@pytest.fixture
def vendored(crate: Path, tmp_path: Path) -> Path:
    """The crate in a repository, with two versions of a dependency in a local registry."""
    index = tmp_path / "registry" / "index" / "ti" / "ny" / "tiny"
    index.parent.mkdir(parents=True)
    for version in ("1.0.1", "1.0.2"):
        files = {
            "Cargo.toml": PART.replace("NAME", "tiny").replace("0.1.0", version),
            "src/lib.rs": f'pub fn version() -> &\'static str {{ "{version}" }}',
        }
        packed = tmp_path / "registry" / f"tiny-{version}.crate"
        with tarfile.open(packed, "w:gz") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(f"tiny-{version}/{name}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        entry: dict[str, Any] = {"name": "tiny", "vers": version, "deps": [], "features": {}}
        entry["yanked"] = False
        entry["cksum"] = hashlib.sha256(packed.read_bytes()).hexdigest()
        with index.open("a") as file:
            file.write(json.dumps(entry) + "\n")
    files = {
        ".cargo/config.toml": '[source.crates-io]\nreplace-with = "local"\n'
        f'[source.local]\nlocal-registry = "{tmp_path / "registry"}"\n',
        "Cargo.toml": PART.replace("NAME", "prog") + '[dependencies]\ntiny = "1"\n[workspace]\n',
        "src/main.rs": 'fn main() { println!("{}", tiny::version()); }\n',
    }
    write_files(crate, files)
    (tmp_path / "fix.diff").write_text(PATCH)
    subprocess.run(["cargo", "generate-lockfile", "--offline"], cwd=crate, check=True)
    commit(crate.parent)
    return crate


def printed(build: Build) -> str:
    assert build.ok, build.message
    return subprocess.run([str(build.path)], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_configuration_outside_of_commits_reaches_every_copy(
    builds: Builds, vendored: Path, tmp_path: Path
) -> None:
    main = 'fn main() { println!("{:?}", (cfg!(ignored), cfg!(above))); }\n'
    (vendored / "src" / "main.rs").write_text(main)
    (vendored / ".gitignore").write_text("/.cargo/config\n")
    commit(vendored.parent)
    (vendored / ".cargo" / "config").write_text(
        (vendored / ".cargo" / "config.toml").read_text()
        + "[build]\nrustflags = ['--cfg', 'ignored']\n"
    )
    above = vendored.parents[1] / ".cargo" / "config.toml"
    above.parent.mkdir()
    above.write_text("[build]\nrustflags = ['--cfg', 'above']\n")
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"revision": "HEAD"},
        {"dependencies": (("tiny", "1.0.1"),)},
    )
    both = {**kinds[1], **kinds[2]}
    for settings in (*kinds, both):
        assert printed(builds(**settings)) == "(true, true)\n"
    above.unlink()
    for settings in (*kinds, both):
        assert printed(builds(**settings)) == "(true, false)\n"


def state(folder: Path) -> dict[Path, bytes]:
    """Return the files of a folder outside ``.git``."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if ".git" not in path.parts}


@pytest.mark.slow
def test_versions_and_patches_reach_the_binary_and_not_the_users_files(
    builds: Builds, vendored: Path, tmp_path: Path
) -> None:
    before = state(vendored)
    assert printed(builds()) == "1.0.2\n"
    older = builds(dependencies=(("tiny", "1.0.1"),))
    assert printed(older) == "1.0.1\n"
    assert older.versions == older.direct_dependencies == (("tiny", "1.0.1"),)
    assert older.remarks == ()
    patched = builds(patches=(str(tmp_path / "fix.diff"),))
    assert printed(patched) == "patched 1.0.2\n"
    assert len(patched.patches_sha256) == 1
    both = {"dependencies": (("tiny", "1.0.1"),), "patches": (str(tmp_path / "fix.diff"),)}
    assert printed(builds(**both)) == "patched 1.0.1\n"
    assert builds(**both).cached
    assert state(vendored) == before
    # A change that is not committed is part of the copy.
    main = vendored / "src" / "main.rs"
    main.write_text('mod more;\nfn main() { println!("{} {}", more::WORD, tiny::version()); }\n')
    for word in ("edited", "again"):
        (vendored / "src" / "more.rs").write_text(f'pub const WORD: &str = "{word}";\n')
        assert printed(builds(dependencies=(("tiny", "1.0.1"),))) == f"{word} 1.0.1\n"
    failed = builds(patches=(str(tmp_path / "fix.diff"),))
    assert not failed.ok
    assert require(failed.message).startswith(f"the patch {tmp_path / 'fix.diff'} does not apply")


def test_a_version_that_cannot_be_used_names_the_cause(
    builds: Builds, vendored: Path, tmp_path: Path
) -> None:
    failed = builds(dependencies=(("tiny", "2.0.0"),))
    assert not failed.ok
    assert require(failed.message).startswith("tiny 2.0.0 cannot be used\ncargo: error: ")
    missing = builds(dependencies=(("none", "1.0.0"),))
    assert "did not match any packages" in require(missing.message)
    config = vendored / ".cargo" / "config.toml"
    config.write_text(config.read_text().replace("local-registry", "directory"))
    folder = tmp_path / "registry" / "tiny-1.0.2"
    manifest = PART.replace("NAME", "tiny").replace("0.1.0", "1.0.2")
    checksum = '{"files": {}, "package": null}'
    files = {"src/lib.rs": "", "Cargo.toml": manifest, ".cargo-checksum.json": checksum}
    write_files(folder, files)
    selected = builds(dependencies=(("tiny", "1.0.1"),))
    assert require(selected.message).startswith("tiny 1.0.1 cannot be used")


def test_a_crate_without_a_repository_is_copied(builds: Builds, crate: Path) -> None:
    (crate / "target").mkdir()
    patch = crate.parent / "p.diff"
    patch.write_text(PATCH.replace("prog/", "").replace("tiny::version()", "1"))
    (crate / "src" / "main.rs").write_text('fn main() { println!("{}", 1); }\n')
    assert printed(builds(patches=(str(patch),))) == "patched 1\n"
    assert (crate / "src" / "main.rs").read_text() == 'fn main() { println!("{}", 1); }\n'
