"""Traps of a hostile repository: programs and settings that are added to it.

The programs note their names, so that an attack sees which of them ran.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kills import CrateBox

from tests.files import write_files
from tests.integration.processes import git

COMMITS = 4
HOOKS = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "reference-transaction",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
    "pre-auto-gc",
    "pre-receive",
    "update",
    "post-update",
]


@dataclass(frozen=True)
class Trap(CrateBox):
    """A box with a repository, to which a trap is added, and further variables of the environment."""

    variables: tuple[tuple[str, str], ...] = ()

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, **dict(self.variables)}

    @property
    def project(self) -> Path:
        return self.path / "project"

    @property
    def notes(self) -> Path:
        return self.path / "ran"

    def program(self, name: str, then: str = "") -> str:
        """Write a program that notes its name. Return its path."""
        path = self.path / "traps" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {name.partition('-')[0]} >> {self.notes}\n{then}\n")
        path.chmod(0o755)
        return str(path)

    def configure(self, *pairs: tuple[str, str]) -> None:
        for key, value in pairs:
            git(self.project, "config", key, value)

    def write(self, name: str, text: str) -> Path:
        return write_files(self.project, {name: text}) / name

    def commit(self) -> None:
        """Add new files to each of the commits c0 to c3."""
        listed = git(self.project, "ls-files", "--others", "--exclude-standard").splitlines()
        folder = self.path / "folder"
        for name in listed:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).rename(folder / name)
        git(self.project, "checkout", "-q", "--orphan", "trapped", "c0")
        for number in range(COMMITS):
            git(self.project, "checkout", "-q", f"c{number}", "--", ".")
            for name in listed:
                target = self.project / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                shutil.copy2(folder / name, target, follow_symlinks=False)
            git(self.project, "add", "-A")
            git(self.project, "commit", "-qm", f"trapped {number}")
            git(self.project, "tag", "-f", f"c{number}")


def hooks(box: Trap, repository: Path | None = None) -> None:
    folder = (repository or box.project) / ".git" / "hooks"
    for name in HOOKS:
        shutil.copy(box.program(f"hook-{name}"), folder / name)


def hooks_path(box: Trap) -> None:
    folder = box.path / "traps" / "all"
    folder.mkdir(parents=True)
    for name in HOOKS:
        shutil.copy(box.program(f"hook-{name}"), folder / name)
    box.configure(("core.hooksPath", str(folder)))


def programs(box: Trap) -> None:
    """Set every key of git that names a program, except for filters."""
    keys = [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "sequence.editor",
        "credential.helper",
        "gpg.program",
        "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand",
        "diff.external",
        "uploadpack.packObjectsHook",
        "pager.log",
        "pager.diff",
        "pager.status",
        "interactive.diffFilter",
        "trailer.x.command",
    ]
    box.configure(*((key, box.program(f"{key.replace('.', '_')}")) for key in keys))
    aliases = ("status", "rev-parse", "clone", "checkout", "log", "ls-files", "diff", "config")
    box.configure(*((f"alias.{name}", f"!{box.program('alias')}") for name in aliases))
    box.configure(("commit.gpgSign", "true"), ("log.showSignature", "true"))


def drivers(box: Trap) -> None:
    box.write(".gitattributes", "*.rs diff=x merge=x\n")
    box.configure(
        ("diff.x.command", box.program("diff")),
        ("diff.x.textconv", box.program("textconv")),
        ("merge.x.driver", box.program("merge")),
    )
    box.commit()


def filters(box: Trap) -> None:
    box.write(".gitattributes", "*.rs filter=x\n")
    box.commit()
    box.configure(
        ("filter.x.clean", box.program("filter", "exec cat")),
        ("filter.x.smudge", box.program("filter-s", "exec cat")),
    )


def unstable_filter(box: Trap) -> None:
    """Add a filter whose result is another one at each call, so that no checkout is clean."""
    box.write(".gitattributes", "*.rs filter=x\n")
    box.commit()
    box.configure(
        ("filter.x.clean", box.program("filter", "cat; date +%N")),
        ("filter.x.smudge", box.program("filter-s", "cat; date +%N")),
    )


def missing_filter(box: Trap) -> None:
    box.write(".gitattributes", "*.rs filter=lfs\n")
    box.commit()
    box.configure(("filter.lfs.smudge", "no-such-lfs"), ("filter.lfs.required", "true"))


def attributes(box: Trap) -> None:
    """Set attributes that change the bytes of a checkout."""
    box.write(".gitattributes", "*.rs eol=crlf ident\nscenario.yaml export-subst text eol=crlf\n")
    box.commit()


def submodule(box: Trap) -> None:
    box.write(".gitmodules", '[submodule "x"]\n path = sub\n url = ext::sh -c x\n update = !x\n')
    box.commit()
    program = box.program("submodule")
    box.configure(
        ("submodule.x.update", f"!{program}"),
        ("submodule.x.url", f"ext::{program}"),
        ("submodule.x.active", "true"),
        ("submodule.recurse", "true"),
        ("protocol.ext.allow", "always"),
    )


def missing_alternates(box: Trap) -> None:
    (box.project / ".git" / "objects" / "info" / "alternates").write_text("/no/such/objects\n")


def alternates(box: Trap) -> None:
    """Move all objects into another folder."""
    objects, other = box.project / ".git" / "objects", box.path / "others"
    objects.rename(other)
    (objects / "info").mkdir(parents=True)
    (objects / "pack").mkdir()
    (objects / "info" / "alternates").write_text(f"{other}\n")


def linked_crate(box: Trap) -> None:
    """Make the crate a symbolic link to a folder outside of the repository."""
    (box.project / "counter").rename(box.path / "outside")
    (box.project / "counter").symlink_to(box.path / "outside")


def links(box: Trap) -> None:
    """Commit links out of the repository, one of which has the name of a folder of another commit."""
    (box.path / "victim").mkdir()
    (box.path / "victim" / "file").write_text("untouched")
    (box.project / "counter" / "out").symlink_to(box.path / "victim" / "file")
    (box.project / "up").symlink_to("../../../../../../..")
    box.commit()
    folder = box.project / "where"
    folder.symlink_to(box.path / "victim")
    git(box.project, "add", "-A")
    git(box.project, "commit", "-qm", "a link")
    git(box.project, "tag", "-f", "c2")
    folder.unlink()
    box.write("where/file", "overwritten")
    git(box.project, "add", "-A")
    git(box.project, "commit", "-qm", "a folder")
    git(box.project, "tag", "-f", "c3")


def cargo_programs(box: Trap) -> None:
    """Set every key of cargo that names a program and is not used by a build of benchctl."""
    lines = (
        f"[target.'cfg(all())']\nrunner = \"{box.program('runner')}\"\n"
        f'[build]\nrustdoc = "{box.program("rustdoc")}"\n'
        f'[alias]\nbuild = "run"\nmetadata = "run"\ntree = "run"\n'
        f'[registry]\ncredential-provider = ["{box.program("credential")}"]\n'
        f'[doc]\nbrowser = "{box.program("browser")}"\n'
    )
    box.write(".cargo/config.toml", lines)
    box.commit()


def cargo_compilers(box: Trap) -> None:
    """Set a wrapper of the compiler and a linker, which belong to the build."""
    wrapper, linker = box.program("wrapper", 'exec "$@"'), box.program("linker", 'exec cc "$@"')
    lines = f'[build]\nrustc-wrapper = "{wrapper}"\n'
    lines += f'[target.x86_64-unknown-linux-gnu]\nlinker = "{linker}"\n'
    box.write(".cargo/config.toml", lines)
    box.commit()


def cargo_folders(box: Trap) -> None:
    """Let cargo write into the repository."""
    box.write(".cargo/config.toml", '[build]\ntarget-dir = "here"\nbuild-dir = "there"\n')
    box.commit()


def build_script(box: Trap) -> None:
    """Add a build script that calls git in its folder, as many do to find the version."""
    text = """
use std::process::Command;
fn main() {
    Command::new("TRAP").status().unwrap();
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    for words in [&["checkout", "-q", "--detach", "HEAD~1"][..], &["reset", "-q", "--hard", "c0"]] {
        let _ = Command::new("git").arg("-C").arg("/").args(words).status();
    }
    Command::new("git").arg("-C").arg(folder).args(["rev-parse", "HEAD"]).status().unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}
"""
    box.write("counter/build.rs", text.replace("TRAP", box.program("build")))
    box.commit()


def no_toolchain(box: Trap) -> None:
    box.write("rust-toolchain.toml", '[toolchain]\npath = "/no/such/toolchain"\n')
    box.commit()


def own_toolchain(box: Trap) -> None:
    """Name a toolchain in the repository, whose programs belong to the build."""
    folder = box.path / "tools" / "bin"
    folder.mkdir(parents=True)
    for name in ("cargo", "rustc"):
        shutil.copy(box.program(f"toolchain-{name}", "exit 1"), folder / name)
    box.write("rust-toolchain.toml", f'[toolchain]\npath = "{box.path / "tools"}"\n')
    box.commit()


def names(box: Trap) -> None:
    """Add references with the names of options and of other revisions."""
    head = git(box.project, "rev-parse", "c1")
    for name in (
        "refs/heads/HEAD",
        "refs/tags/HEAD",
        "refs/heads/c3",
        "refs/tags/-x",
        "refs/heads/c0",
    ):
        path = box.project / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{head}\n")


def replaced(box: Trap) -> None:
    """Replace a commit by another one, as `git replace` does."""
    git(box.project, "replace", "c0", "c1")


def other_worktree(box: Trap) -> None:
    (box.path / "elsewhere").mkdir()
    (box.path / "elsewhere" / "precious").write_text("untouched")
    box.configure(("core.worktree", str(box.path / "elsewhere")))


def bare(box: Trap) -> None:
    box.configure(("core.bare", "true"))


def locked(box: Trap) -> None:
    for name in ("index.lock", "HEAD.lock", "config.lock"):
        (box.project / ".git" / name).touch()


def unknown_extension(box: Trap) -> None:
    box.configure(("core.repositoryformatversion", "1"), ("extensions.unheard", "true"))


def damaged(box: Trap) -> None:
    """Damage an object of the newest commit."""
    name = git(box.project, "rev-parse", "c3:counter/src/main.rs")
    path = box.project / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")


def included(box: Trap) -> None:
    """Include configuration from a file that names programs."""
    lines = f"[core]\nfsmonitor = {box.program('fsmonitor')}\nhooksPath = {box.path / 'traps'}\n"
    (box.path / "more").write_text(lines)
    box.configure(("include.path", str(box.path / "more")))


@dataclass(frozen=True)
class Kind:
    """A trap, the programs that may run, and whether its measurement must succeed."""

    make: Callable[[Trap], None]
    may_run: frozenset[str] = frozenset()
    works: bool = True


KINDS = (
    Kind(hooks),
    Kind(hooks_path),
    Kind(programs),
    Kind(included),
    Kind(drivers),
    Kind(filters, frozenset({"filter"})),
    Kind(unstable_filter, frozenset({"filter"}), works=False),
    Kind(missing_filter, works=False),
    Kind(attributes),
    Kind(submodule),
    Kind(missing_alternates),
    Kind(alternates),
    Kind(linked_crate, works=False),
    Kind(links),
    Kind(cargo_programs),
    Kind(cargo_compilers, frozenset({"wrapper", "linker"})),
    Kind(cargo_folders),
    Kind(build_script, frozenset({"build"})),
    Kind(no_toolchain, works=False),
    Kind(own_toolchain, frozenset({"toolchain"}), works=False),
    Kind(names),
    Kind(replaced, works=False),
    Kind(other_worktree, works=False),
    Kind(bare, works=False),
    Kind(locked),
    Kind(unknown_extension, works=False),
    Kind(damaged, works=False),
)
