"""Allocators that are preloaded into C programs and crates; cc builds a small library as allocator."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_framework.model.record.run import Preload
from bench_framework.store.finding import find_records
from bench_framework.store.records import Record
from tests.files import write_files
from tests.integration import processes
from tests.integration.processes import Done

ALLOCATOR = """
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
"""
C_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) { char *p = malloc(100); usleep(30000); p[0] = '1'; p[1] = 0; puts(p); free(p); }
"""
PAUSE = "std::thread::sleep(std::time::Duration::from_millis(30));"
PEAK = 6 << 20
OWN_ALLOCATOR = """
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
static HEAP: [AtomicUsize; 1 << 16] = [const { AtomicUsize::new(0) }; 1 << 16];
static USED: AtomicUsize = AtomicUsize::new(0);
struct Own;
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = USED.fetch_add(layout.size() / 8 + 2, Ordering::Relaxed);
        if HEAP.len() < start + layout.size() / 8 + 2 || layout.align() > 16 {
            return unsafe { System.alloc(layout) };
        }
        let place = HEAP[start].as_ptr() as *mut u8;
        unsafe { place.add(place.align_offset(layout.align())) }
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
#[global_allocator]
static OWN: Own = Own;
"""
WORK = 'let v: Vec<u64> = (0..1000).collect(); println!("{}", v.len());'
LIBRARY = f"pub fn work() {{ {WORK} {PAUSE} }}"
SCENARIO = """
version: 1
name: allocators
question: Which allocator is fastest?
worker: WORKER
axes:
  allocator:
    system: {preload-allocator: system}
    other: {preload-allocator: LIBRARY}
baseline: {allocator: system}
measure: {rounds: 3, budget: 1m}
"""
Benchctl = Callable[..., Done]


def compile_c(path: Path, text: str, *options: str) -> Path:
    path.with_suffix(".c").write_text(text)
    subprocess.run(["cc", "-o", path, path.with_suffix(".c"), *options], check=True)
    return path


@pytest.fixture
def benchctl(tmp_path: Path) -> Benchctl:
    rules = [{"match": "", "wall_s": 0.05, "stdout": "1\n", "memory_bytes": PEAK}]
    processes.fake_hyperfine(tmp_path, rules)
    compile_c(tmp_path / "libother.so", ALLOCATOR, "-shared", "-fPIC")

    def call(
        *words: str, code: int, worker: str = "{command: [./prog]}", library: str = "./libother.so"
    ) -> Done:
        text = SCENARIO.replace("WORKER", worker).replace("LIBRARY", library)
        (tmp_path / "allocators.yaml").write_text(text)
        return processes.benchctl(tmp_path, *words, code=code)

    return call


def crate(folder: Path, *, library: bool) -> str:
    manifest = '[package]\nname = "prog"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
    main = "fn main() { prog::work() }" if library else f"fn main() {{ {WORK} {PAUSE} }}"
    files = {"Cargo.toml": manifest, "src/main.rs": main}
    write_files(folder / "prog", {**files, "src/lib.rs": LIBRARY} if library else files)
    return "{crate: prog}"


@pytest.mark.parametrize(
    "kind",
    [
        "C program",
        pytest.param("crate with a library", marks=pytest.mark.release),
        pytest.param("crate without a library", marks=pytest.mark.release),
    ],
)
@pytest.mark.slow
def test_the_library_is_used_and_the_record_proves_it(
    benchctl: Benchctl, tmp_path: Path, kind: str
) -> None:
    worker = "{command: [./prog]}"
    if kind == "C program":
        compile_c(tmp_path / "prog", C_PROGRAM)
    else:
        worker = crate(tmp_path, library=kind == "crate with a library")
    tried = benchctl("try", "allocators.yaml", worker=worker, code=0)
    proof = re.search(
        r"libother\.so by LD_PRELOAD: at least ([\d,]+) allocations? of the program reached it",
        " ".join(tried.stdout.split()),
    )
    assert proof is not None, tried.stdout
    # puts(3) of the C program allocates a buffer, but that is an allocation of libc.
    assert (proof[1] == "1") == (kind == "C program")
    benchctl("run", "allocators.yaml", "--out", str(tmp_path / "results"), worker=worker, code=0)
    (folder,) = find_records(tmp_path / "results")
    contents = Record.open(folder).contents
    system, other = (
        next(b for b in contents.builds if (b.preload is None) is plain) for plain in (True, False)
    )
    assert other.sha256 == system.sha256
    assert isinstance(other.preload, Preload)
    assert other.preload.path == str(tmp_path / "libother.so")
    assert other.preload.allocations == int(proof[1].replace(",", ""))
    # The fake reports the same peak for every call, also for the one that finds out hyperfine's.
    assert other.preload.least_peak_bytes == PEAK * 4 // 3
    plan = Record.open(folder).plan
    preloaded = {v.id for v in plan.variants if v.build_id == other.id}
    peaks = {
        plan.cell(b.cell_id).variant_id in preloaded: b.peak_rss_bytes for b in contents.blocks
    }
    assert peaks[False] is not None
    assert peaks[True] is None
    (note,) = [event for event in contents.events if event.code == "BX336"]
    assert note.message.startswith("other: libother.so replaces malloc in the unchanged program")
    page = (folder / "report.html").read_text()
    assert "LD_PRELOAD: libother.so" in page + (folder / "appendix.html").read_text(
        encoding="utf-8"
    )
    assert "is the same program" not in page
    benchctl("verify", str(folder), worker=worker, code=0)


@pytest.mark.parametrize(
    ("options", "extra", "reason"),
    [
        (["-static"], "", "it is statically linked"),
        ([], "void mi_malloc(void) {}", "it contains its own allocator, mimalloc"),
        (
            [],
            "void *malloc(size_t n) { static char b[200]; return b; }",
            "none of its allocations reach the library",
        ),
    ],
)
@pytest.mark.slow
def test_a_program_that_the_library_does_not_reach_is_refused(
    benchctl: Benchctl, tmp_path: Path, options: list[str], extra: str, reason: str
) -> None:
    program = C_PROGRAM.replace(" free(p);", "") + extra
    compile_c(tmp_path / "prog", program, "-fno-builtin", "-rdynamic", *options)
    done = benchctl("run", "allocators.yaml", "--out", str(tmp_path / "results"), code=3)
    assert f"error[BX227]: libother.so cannot be preloaded into prog: {reason}" in done.stderr
    assert "nothing was measured" in done.stderr
    assert find_records(tmp_path / "results") == []


@pytest.mark.parametrize("stripped", [False, True])
@pytest.mark.slow
def test_a_crate_with_its_own_allocator_is_refused(
    benchctl: Benchctl, tmp_path: Path, *, stripped: bool
) -> None:
    worker = crate(tmp_path, library=False)
    main = tmp_path / "prog" / "src" / "main.rs"
    main.write_text(OWN_ALLOCATOR + main.read_text())
    if stripped:
        with (tmp_path / "prog" / "Cargo.toml").open("a") as file:
            file.write("[profile.release]\nstrip = true\n")
    done = benchctl(
        "run", "allocators.yaml", "--out", str(tmp_path / "results"), worker=worker, code=3
    )
    words = "libother.so cannot be preloaded into prog: none of its allocations reach the library"
    assert f"error[BX227]: {words}" in done.stderr
    assert find_records(tmp_path / "results") == []


def test_a_library_that_the_loader_cannot_load_is_refused(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    compile_c(tmp_path / "prog", C_PROGRAM)
    (tmp_path / "libtext.so").write_text("no library")
    done = benchctl("try", "allocators.yaml", library="./libtext.so", code=3)
    assert "none of its allocations reach the library" in done.stderr


def test_a_missing_library_is_an_error(benchctl: Benchctl, tmp_path: Path) -> None:
    compile_c(tmp_path / "prog", C_PROGRAM)
    done = benchctl("try", "allocators.yaml", library="./libnone.so", code=3)
    assert f"error[BX245]: the library {tmp_path / 'libnone.so'} does not exist" in done.stderr


def test_a_library_that_cannot_be_built_names_the_cause(
    benchctl: Benchctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_c(tmp_path / "prog", C_PROGRAM)
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    processes.executable(cargo, "#!/bin/sh\necho 'error: no network' >&2\nexit 101\n")
    monkeypatch.setenv("PATH", f"{cargo.parent}:{os.environ['PATH']}")
    done = benchctl("try", "allocators.yaml", library="mimalloc", code=3)
    assert "the library libmimalloc.so cannot be built from libmimalloc-sys" in done.stderr
    assert "error: no network" in done.stderr
