"""Deceptions of a worker: what it returns in place of the record of its run, and what it says about its host.

A worker loads this module if `BENCHCTL_TEST_DECEPTIONS` names a folder.
The file ``lie`` there names the deception of the next run.
"""

import gzip
import io
import os
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench_framework import errors
from bench_framework.extensions.fleet import cluster, hosts, job as jobs
from bench_framework.extensions.fleet.job import Job, JobResult

FOLDER = Path(os.environ.get("BENCHCTL_TEST_DECEPTIONS", "."))
Member = tuple[tarfile.TarInfo, bytes]
run_job, describe_host = jobs.run_job, hosts.describe_host
measure: Any = cluster.measure
get_worker: Any = vars(cluster)["get_worker"]


def members(archive: bytes) -> list[Member]:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
        files = ((member, opened.extractfile(member)) for member in opened)
        return [(member, file.read() if file else b"") for member, file in files]


def packed(entries: Iterable[Member]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member, content in entries:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def with_file(name: str, content: bytes = b"x", **fields: Any) -> Callable[[bytes], bytes]:
    """Return the lie that adds an entry; ``RECORD`` in its name is the folder of the record."""

    def lie(archive: bytes) -> bytes:
        entries = members(archive)
        folder = "/".join(entries[1][0].name.split("/")[:2])
        entry = tarfile.TarInfo(name.replace("RECORD", folder))
        for field, value in fields.items():
            setattr(entry, field, value)
        return packed([*entries, (entry, b"" if fields.get("type") else content)])

    return lie


def changed(end: str, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Return the lie that changes each file whose name has an end."""
    return lambda archive: packed(
        (member, change(content) if member.name.endswith(end) else content)
        for member, content in members(archive)
    )


def huge(archive: bytes) -> bytes:
    """Return an archive with a header of a file of 5 GiB."""
    entry = tarfile.TarInfo("/".join(members(archive)[1][0].name.split("/")[:2]) + "/zeros")
    entry.size = 5 << 30
    end = gzip.decompress(archive).rstrip(b"\0")
    end += bytes(-len(end) % 512)
    return gzip.compress(end + entry.tobuf() + bytes(1 << 20))


ARCHIVES: dict[str, Callable[[bytes], bytes]] = {
    "a changed time": changed("journal.jsonl", lambda text: text.replace(b"0.05", b"0.04")),
    "a changed table": changed("comparisons.csv", lambda text: text + b"0"),
    "a changed manifest": changed("manifest.json", lambda text: text.replace(b"0", b"1")),
    "another baseline": changed("baseline.json", lambda text: text.replace(b"fleet", b"other")),
    "a changed digest": changed("baseline.json", lambda text: text.replace(b"a", b"b")),
    "a file is missing": lambda a: packed(
        m for m in members(a) if not m[0].name.endswith("runs.csv")
    ),
    "the manifest is missing": lambda a: packed(
        m for m in members(a) if not m[0].name.endswith("manifest.json")
    ),
    "the first file is missing": lambda a: packed(members(a)[1:]),
    "a file twice": lambda a: packed([*members(a), members(a)[-1]]),
    "an additional file": with_file("RECORD/more.txt"),
    "a file next to the record": with_file("fleet/20200101T0000Z/runs.csv"),
    "a file of another scenario": with_file("other/20200101T0000Z/runs.csv"),
    "an absolute path": with_file(str(FOLDER / "escaped-by-a-lie")),
    "a path with ..": with_file("RECORD/../../../escaped-by-a-lie"),
    "a path of .. only": with_file("../escaped-by-a-lie"),
    "a path with .": with_file("RECORD/./runs.csv"),
    "a draft": with_file("RECORD/runs.csv.part"),
    "a name of 5000 letters": with_file("RECORD/" + "x" * 5000),
    "a name with an escape sequence": with_file("RECORD/\x1b[2J\x1b]0;owned\x07"),
    "a symbolic link": with_file("RECORD/link", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
    "a symbolic link to a folder": with_file("RECORD/raw/up", type=tarfile.SYMTYPE, linkname=".."),
    "a hard link": with_file("RECORD/hard", type=tarfile.LNKTYPE, linkname="/etc/passwd"),
    "a pipe": with_file("RECORD/pipe", type=tarfile.FIFOTYPE),
    "a device": with_file("RECORD/device", type=tarfile.CHRTYPE),
    "a folder": with_file("RECORD/folder", type=tarfile.DIRTYPE),
    "an unknown type": with_file("RECORD/unknown", type=b"Z"),
    "a file of 5 GiB": huge,
    "a first file of 1 MiB": changed("baseline.json", lambda _: b" " * (1 << 20)),
    "a nested first file": changed("baseline.json", lambda _: b"[" * 60_000),
    "half of the archive": lambda archive: archive[: len(archive) // 2],
    "one changed bit": lambda a: (
        a[: len(a) // 2] + bytes([a[len(a) // 2] ^ 1]) + a[len(a) // 2 + 1 :]
    ),
    "no archive": lambda _: b"no archive",
    "an empty archive": lambda _: packed([]),
    "a text for the archive": lambda _: "x",  # type: ignore[return-value,dict-item]
}
"""Changes of the archive that is returned."""


class Broken:
    """An object that cannot be unpickled."""

    def __reduce__(self) -> Any:
        return int, ("lie",)


def replay(result: JobResult) -> JobResult:
    """Return the record of the run before."""
    earlier = FOLDER / "earlier"
    return replace(result, archive=earlier.read_bytes())


RESULTS: dict[str, Callable[[Any], Any]] = {
    "the record of an earlier run": replay,
    "no result": lambda _: None,
    "a result that cannot be unpickled": lambda _: Broken(),
    "a text for the result": lambda _: "done",
    "an error that is no error of benchctl": lambda r: replace(r, error=ValueError("lie")),
    "a text for the error": lambda r: replace(r, error="lie"),
    "a text for the exit code": lambda r: replace(r, exit_code="0"),
    "another exit code": lambda r: replace(r, exit_code=77),
    "an error with an escape sequence": lambda r: replace(
        r, error=errors.MachineError.from_texts("BX237", "\x1b[2J\x1b]0;owned\x07")
    ),
    "a number to resume": lambda r: replace(r, archive=b"", resume=7),
}


def other_text(before: bytes, after: bytes) -> Callable[[Job], Job]:
    """Return the lie that measures another scenario than that of the client."""

    def lie(job: Job) -> Job:
        files = dict(job.bundle.files)
        entry = files["fleet.yaml"]
        assert before in entry.content
        files["fleet.yaml"] = replace(entry, content=entry.content.replace(before, after))
        return replace(job, bundle=replace(job.bundle, files=files))

    return lie


JOBS: dict[str, Callable[[Job], Job]] = {
    "a scenario of another name": other_text(b"name: fleet", b"name: other"),
    "another question": other_text(b"an answer", b"a number"),
    "another command": other_text(b'"arm-{arm}"]', b'"arm-{arm}", more]'),
    "another warm-up": other_text(b"warmup: 1", b"warmup: 2"),
    "another name of the host": lambda job: replace(
        job, context=replace(job.context, host="other")
    ),
    "other overrides": lambda job: replace(
        job, options=replace(job.options, overrides=("measure.rounds=5",))
    ),
}
UPDATES: dict[str, list[Any]] = {
    "updates that are no base64": [b"\xff" * 40],
    "updates that are no pickle": [b"bm8gcGlja2xl"],
    "updates that are no updates": [b"gASVCAAAAAAAAACMBGxpZXOULg=="],
    "numbers for updates": [7],
}
CARDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another machine": lambda card: {**card, "host_id": "0" * 12},
    "no card": lambda _: None,
    "a text for the card": lambda _: "card",
    "a number of labels": lambda card: {**card, "labels": 7},
    "labels that are no texts": lambda card: {**card, "labels": [{}, 7]},
    "a target of five parts": lambda card: {**card, "target": list("abcde")},
    "a text for the facts": lambda card: {**card, "facts": "x", "versions": "y"},
    "an escape sequence": lambda card: {**card, "labels": ["\x1b[2J"], "kind": "\x1b]0;owned\x07"},
}
EVENTS: dict[str, list[tuple[str, Any]]] = {
    "events of no host": [(cluster.HOSTS, 7), (cluster.HOSTS, {}), (cluster.HOSTS, {"host": {}})],
    "an event of a host without an address": [(cluster.HOSTS, {"host": "x", "stopped": False})],
    "events of no run": [
        ("", 7),
        ("", ("unknown", [])),
        ("", ("unknown", 7, 8)),
        ("", {"token": 7}),
    ],
}
"""Events before a run: their topics, empty for that of the client, and contents."""
STATES: dict[str, Any] = {
    "a text for the state": "x",
    "an unknown part of the state": {"run": {"lie": 1}},
    "texts for numbers": {
        "run": {"scenario": 7, "done": "x", "total": [], "left_s": "x"},
        "load": "x",
    },
}


def lying(job: Job, send: jobs.Send) -> Any:
    name = (FOLDER / "lie").read_text() if (FOLDER / "lie").exists() else ""
    if name in UPDATES:
        send(UPDATES[name])
    for topic, content in EVENTS.get(name, ()):
        get_worker().log_event(topic or FOLDER.joinpath("topic").read_text(), content)
    change = JOBS.get(name)
    result: Any = run_job(change(job) if change else job, send)
    if not name and result.archive:
        (FOLDER / "earlier").write_bytes(result.archive)
    if name in ARCHIVES:
        return replace(result, archive=ARCHIVES[name](result.archive))
    return RESULTS[name](result) if name in RESULTS else result


def measured(request: bytes, topic: str) -> Any:
    (FOLDER / "topic").write_text(topic)
    return measure(request, topic)


def described(folder: Path, labels: Any) -> Any:
    card = describe_host(folder, labels)
    change = CARDS.get(os.environ.get("BENCHCTL_TEST_CARD", ""))
    return change(card) if change else card


def install() -> None:
    """Replace what a worker returns and says."""
    jobs.run_job, hosts.describe_host = lying, described
    vars(cluster)["measure"] = measured
    if (name := os.environ.get("BENCHCTL_TEST_STATE", "")) in STATES:
        jobs.state = lambda: STATES[name]
    if version := os.environ.get("BENCHCTL_TEST_CLAIM"):
        cluster.versions = lambda: version
