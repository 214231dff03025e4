"""The packages whose units depend on the source folder, from Cargo.lock."""

from pathlib import Path

from bench_framework.execution.build.sharing import local_packages

LOCK = """
version = 4
[[package]]
name = "app"
version = "0.1.0"
dependencies = ["libc 0.2.1 (registry+https://x/index)", "user"]
[[package]]
name = "libc"
version = "0.2.1"
source = "registry+https://x/index"
[[package]]
name = "forked"
version = "1.0.0"
[[package]]
name = "direct"
version = "1.0.0"
source = "registry+https://x/index"
dependencies = ["forked"]
[[package]]
name = "user"
version = "1.0.0"
source = "git+https://x/user#0123"
dependencies = ["direct 1.0.0"]
"""


def test_packages_that_depend_on_a_local_one_are_local(tmp_path: Path) -> None:
    lock = tmp_path / "Cargo.lock"
    lock.write_text(LOCK)
    assert local_packages(lock) == {"app", "forked", "direct", "user"}
    lock.write_text("version = 4\n")
    assert local_packages(lock) == frozenset()
