"""Settings of the machine that make times vary less, and the CPUs to pin programs to.

Everything here is read, nothing is changed: most settings need root, and they belong to the machine.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from bench_framework.errors import MachineError
from bench_framework.execution.machine import checks, host, pinning
from bench_framework.execution.machine.checks import Machine
from bench_framework.execution.machine.cpus import (
    allowed_cpus,
    available_cpus,
    format_cpus,
    parse_cpus,
    require_usable,
)
from bench_framework.execution.machine.pinning import PinnedCpus, choose, listed_cpus
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.process import Launcher
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.text.checks import texts_of
from bench_framework.text.reasons import phrase, phrase_of

State = Literal["quiet", "noisy", "unknown"]
"""``quiet``: nothing to do; ``noisy``: another value makes times vary less."""
THP: Final = "kernel/mm/transparent_hugepage/enabled"
NO_RANDOMIZE: Final = 0x0040000
"""``ADDR_NO_RANDOMIZE`` of personality(2)."""
SBIN: Final = ":/usr/sbin:/sbin"


@dataclass(frozen=True, slots=True)
class MachineSetting:
    """A setting of the machine."""

    name: str
    """Name of the setting."""
    state: State
    """`quiet`: nothing to do; `noisy`: another value makes times vary less."""
    value: str
    """Present value, in a few words."""
    meaning: str = ""
    """Effect on the results; empty if there is nothing to do."""
    set: tuple[str, ...] = ()
    """Shell commands that set it; empty if it need not or cannot be set."""
    restore: tuple[str, ...] = ()
    """Shell commands that restore the present value."""
    obstacle: str = ""
    """Reason why it cannot be set here, or empty."""


_NOT_REPORTED: Final = MachineSetting("", "unknown", texts_of("check.unknown")[0])


_quiet: Final = partial(MachineSetting, "", "quiet")


def _fixed(value: str, meaning: str, obstacle: str) -> MachineSetting:
    return MachineSetting("", "noisy", value, meaning, obstacle=obstacle)


@dataclass(frozen=True, slots=True)
class QuietMachine:
    """The result of `doctor --tune`: CPUs to use, and settings to change for times that vary less."""

    cpus: PinnedCpus
    """CPUs to pin programs to."""
    settings: tuple[MachineSetting, ...]
    """Settings of the machine."""


def examine_settings(results: Path, cpus: str | None = None) -> QuietMachine:
    """Read all settings. Nothing is changed.

    The CPUs are chosen if `cpus` is `None`.

    Raises `MachineError` (BX238): a CPU of `cpus` is not available; BC410, this is not Linux.
    """
    require_linux()
    available = available_cpus()
    if cpus is not None:
        require_usable(cpus, available)
    env, given = host.environment(), phrase_of(PhraseCode.CHOSEN_BY_OPTION)
    with Launcher() as launcher:
        machine = Machine(launcher, env, results, host.cache_root(env) / "data")
        # Processes start outside isolated CPUs, which may nevertheless be requested.
        usable = allowed_cpus() | (listed_cpus(machine, "isolated") & available)
        chosen = choose(machine, usable) if not cpus else PinnedCpus(cpus, cpus, given)
        one_thread = frozenset(parse_cpus(chosen.one_thread))
        return QuietMachine(chosen, tuple(read_settings(machine, one_thread)))


def read_settings(machine: Machine, cpus: frozenset[int]) -> Iterator[MachineSetting]:
    """Read every setting for programs on the given CPUs; one that raises an error is unknown."""
    for name, read in SETTINGS.items():
        try:
            yield replace(read(machine, cpus), name=name)
        except (OSError, ValueError) as error:
            yield MachineSetting(name, "unknown", texts_of("check.failed", error=error)[0])


def _governor(machine: Machine, cpus: frozenset[int]) -> MachineSetting:
    by_cpu = {number: checks.governor(machine, number) for number in sorted(cpus)}
    names = {number: checks.governor_of(machine, number) for number in by_cpu}
    values = {
        machine.sys / checks.GOVERNOR.format(number): names[number]
        for number, check in by_cpu.items()
        if check.state == "warn"
    }
    figures = ", ".join(dict.fromkeys(check.figure for check in by_cpu.values()))
    if not values:
        return _quiet(figures) if any(names.values()) else _no_frequency(figures)
    meaning = next(check.meaning for check in by_cpu.values() if check.state == "warn")
    offered = [machine.read(path.parent / "scaling_available_governors") for path in values]
    if any(text is not None and "performance" not in text.split() for text in offered):
        return _fixed(figures, meaning, phrase_of(PhraseCode.NO_PERFORMANCE))
    return _writable(figures, meaning, values, "performance")


def _turbo(machine: Machine, _cpus: frozenset[int]) -> MachineSetting:
    for name, off in (("intel_pstate/no_turbo", "1"), ("cpufreq/boost", "0")):
        path = machine.sys / pinning.CPU_FOLDER / name
        value = machine.read(path)
        if value == off:
            return _quiet(phrase_of(PhraseCode.TURBO_OFF, path.name, off))
        if value in {"0", "1"}:
            figure, meaning = (
                phrase_of(PhraseCode.TURBO_ON, path.name, value),
                phrase_of(PhraseCode.TURBO_VARIES),
            )
            return _writable(figure, meaning, {path: value}, off)
    return _no_frequency(_NOT_REPORTED.value)


def _no_frequency(value: str) -> MachineSetting:
    where = Phrase(PhraseCode.FIRMWARE_DECIDES)
    if guest := _guest():
        where = Phrase(PhraseCode.HOST_DECIDES, Phrase(guest))
    return MachineSetting("", "unknown", value, obstacle=phrase(where))


def _guest() -> PhraseCode | None:
    """Return the code of a container or a virtual machine, `None` on bare metal."""
    name = host.virtualisation()
    if name is None:
        return None
    return PhraseCode.CONTAINER if name == "container" else PhraseCode.VIRTUAL_MACHINE


def _smt(machine: Machine, cpus: frozenset[int]) -> MachineSetting:
    by_cpu = {number: pinning.siblings_of(machine, number) for number in sorted(cpus)}
    if not all(by_cpu.values()):
        return _NOT_REPORTED
    siblings = sorted(set().union(*by_cpu.values()) - cpus)
    if not siblings:
        if any(len(threads) > 1 for threads in by_cpu.values()):
            codes = PhraseCode.SHARE_CORES, PhraseCode.THREADS_SLOW, PhraseCode.ONE_PER_CORE
            return _fixed(*map(phrase_of, codes))
        guest = _guest()
        others = phrase_of(PhraseCode.HOST_SIBLINGS, Phrase(guest)) if guest else ""
        return _quiet(phrase_of(PhraseCode.NO_SIBLINGS), others)
    value = phrase_of(PhraseCode.SHARES_CORE, format_cpus(siblings), format_cpus(cpus))
    meaning = phrase_of(PhraseCode.SIBLING_SLOWS)
    paths = {machine.sys / pinning.CPU_FOLDER / f"cpu{number}/online": "1" for number in siblings}
    if not all(path.exists() for path in paths):
        return _fixed(value, meaning, phrase_of(PhraseCode.STAYS_ONLINE))
    if _has_cpuset_v1(machine):
        meaning = phrase_of(PhraseCode.LOSES_CPU, meaning)
    return _writable(value, meaning, paths, "0")


def _isolation(machine: Machine, cpus: frozenset[int]) -> MachineSetting:
    isolated = listed_cpus(machine, "isolated")
    words = (machine.read(machine.proc / "cmdline") or "").split()
    boot = [word for word in words if re.match(r"(isolcpus|nohz_full|rcu_nocbs)=", word)]
    ticking = listed_cpus(machine, "nohz_full")
    lists = (format_cpus(numbers) or "none" for numbers in (isolated, ticking))
    value = phrase_of(PhraseCode.ISOLATION, *lists)
    if boot:
        value = phrase_of(PhraseCode.COMMAND_LINE, value, " ".join(boot))
    if len(cpus) > 1:
        meaning = phrase_of(PhraseCode.ONE_OF_THEM) if cpus & isolated else ""
        return _fixed(value, meaning, phrase_of(PhraseCode.FOR_ONE_THREAD))
    if cpus <= isolated:
        return _quiet(value)
    chosen = format_cpus(cpus)
    meaning = phrase_of(PhraseCode.OTHERS_RUN, chosen)
    options = f"isolcpus=managed_irq,domain,{chosen} nohz_full={chosen} rcu_nocbs={chosen}"
    obstacle, sudo = "", _sudo()
    set_them = restore = ""
    if not listed_cpus(machine, "online") - cpus:
        obstacle = phrase_of(PhraseCode.NO_CPU_LEFT)
    elif 0 in cpus:
        obstacle = phrase_of(PhraseCode.NEEDS_CPU_0)
    elif boot:
        obstacle = phrase_of(PhraseCode.HAS_OPTIONS, options)
    elif _guest() is PhraseCode.CONTAINER:
        obstacle = phrase_of(PhraseCode.HOST_BOOTS, options)
    elif _tool(machine, "grubby"):
        edit = f"{sudo}grubby --update-kernel=ALL"
        set_them, restore = f'{edit} --args="{options}"', f'{edit} --remove-args="{options}"'
    elif _tool(machine, "update-grub"):
        file = "/etc/default/grub.d/benchctl.cfg"
        line = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {options}"'
        set_them = f"echo '{line}' | {sudo}tee {file} && {sudo}update-grub"
        restore = f"{sudo}rm {file} && {sudo}update-grub"
    else:
        obstacle = phrase_of(PhraseCode.NO_BOOT_TOOL, options)
    if obstacle:
        return _fixed(value, meaning, obstacle)
    reboot = f"{sudo}reboot"
    return MachineSetting("", "noisy", value, meaning, (set_them, reboot), (restore, reboot))


def _aslr(machine: Machine, _cpus: frozenset[int]) -> MachineSetting:
    path = machine.proc / "sys/kernel/randomize_va_space"
    value = machine.read(path)
    personality = machine.read(machine.proc / "self/personality") or ""
    if re.fullmatch(r"[0-9a-f]+", personality) and int(personality, 16) & NO_RANDOMIZE:
        return _quiet(phrase_of(PhraseCode.ASLR_OFF_HERE))
    if value not in {"0", "1", "2"}:
        return _NOT_REPORTED
    if value == "0":
        return _quiet(phrase_of(PhraseCode.ASLR_OFF))
    meaning, figure = phrase_of(PhraseCode.ASLR_ADDS_NOISE), phrase_of(PhraseCode.ASLR_ON, value)
    try:
        works = machine.launcher.capture(["setarch", "-R", "true"], machine.env, timeout_s=20).ok
    except MachineError:
        works = False
    if works:
        return MachineSetting("", "noisy", figure, meaning, ("setarch -R benchctl run SCENARIO",))
    return _writable(figure, meaning, {path: value}, "0")


def _interrupts(machine: Machine, cpus: frozenset[int]) -> MachineSetting:
    counts = pinning.interrupts_by_number(machine)
    if not counts:
        return _NOT_REPORTED
    fired = [number for number, by_cpu in counts.items() if sum(by_cpu.values())]
    files = {number: machine.proc / f"irq/{number}/smp_affinity_list" for number in fired}
    handled = {n: text for n, path in files.items() if (text := _handled(machine, path, cpus))}
    fixed = [number for number in handled if not files[number].stat().st_mode & 0o222]
    movable = {files[n]: text for n, text in handled.items() if n not in fixed}
    value = phrase_of(PhraseCode.INTERRUPTS, len(handled), len(fired), format_cpus(cpus))
    balancer = any(machine.read(p) == "irqbalance" for p in machine.proc.glob("[0-9]*/comm"))
    if balancer:
        value = phrase_of(PhraseCode.BALANCER_RUNS, value)
    if not handled and not balancer:
        return _quiet(value)
    meaning = phrase_of(PhraseCode.INTERRUPT_DELAYS)
    if fixed:
        meaning = phrase_of(PhraseCode.SOME_FIXED, meaning, len(fixed))
    others = listed_cpus(machine, "online") - cpus
    if handled and not movable:
        return _fixed(value, meaning, phrase_of(PhraseCode.KERNEL_FIXES))
    if not others:
        return _fixed(value, meaning, phrase_of(PhraseCode.NO_OTHER_CPU))
    setting = _writable(value, meaning, movable, format_cpus(others))
    if not balancer or setting.obstacle:
        return setting
    has_systemd = _tool(machine, "systemctl")
    service = _sudo() + ("systemctl {} irqbalance" if has_systemd else "service irqbalance {}")
    stop, start = service.format("stop"), service.format("start")
    return replace(setting, set=(stop, *setting.set), restore=(*setting.restore, start))


def _handled(machine: Machine, path: Path, cpus: frozenset[int]) -> str | None:
    """Return the allowed CPUs of an interrupt that the given CPUs handle, otherwise `None`.

    The effective list follows a change of the allowed one only with the next interrupt.
    """
    allowed = machine.read(path)
    effective = machine.read(path.with_name("effective_affinity_list")) or allowed
    return allowed if pinning.cpu_set(allowed) & pinning.cpu_set(effective) & cpus else None


def _huge_pages(machine: Machine, _cpus: frozenset[int]) -> MachineSetting:
    figure, setting = checks.huge_pages(machine).figure, checks.huge_pages_setting(machine)
    if setting != "always":
        known = setting in {"madvise", "never"}
        return MachineSetting("", "quiet" if known else "unknown", figure)
    meaning = phrase_of(PhraseCode.HUGE_PAGES_VARY)
    return _writable(figure, meaning, {machine.sys / THP: setting}, "madvise")


def _swap(machine: Machine, _cpus: frozenset[int]) -> MachineSetting:
    check = checks.swap(machine)
    if check.state == "ok":
        return _quiet(check.figure)
    off, on = [], []
    for line in (machine.read(machine.proc / "swaps") or "").splitlines()[1:]:
        name, *_, priority = line.split() or ("", "")
        path = shlex.quote(host.unescaped(name))
        if not name.startswith("/"):
            continue
        off.append(f"{_sudo()}swapoff {path}")
        fixed = f"-p {priority} " if priority.isdecimal() else ""
        on.append(f"{_sudo()}swapon {fixed}{path}")
    obstacle = "" if off else phrase_of(PhraseCode.SWAP_OF_HOST)
    return MachineSetting("", "noisy", check.figure, check.meaning, tuple(off), tuple(on), obstacle)


SETTINGS: Final[dict[str, Callable[[Machine, frozenset[int]], MachineSetting]]] = {
    "frequency governor": _governor,
    "turbo": _turbo,
    "SMT siblings": _smt,
    "isolated CPUs": _isolation,
    "ASLR": _aslr,
    "interrupts": _interrupts,
    "huge pages": _huge_pages,
    "swap": _swap,
}


def _writable(
    value: str, meaning: str, present: Mapping[Path, str], value_to_set: str
) -> MachineSetting:
    """Return a setting that is changed by writing `value_to_set` to files with their `present` values."""
    root = os.geteuid() == 0
    for path in present:
        # Root may be refused by a container; other users would use sudo.
        refused = not os.access(path, os.W_OK) if root else os.statvfs(path).f_flag & os.ST_RDONLY
        if refused or not path.stat().st_mode & 0o222:
            return _fixed(value, meaning, phrase_of(PhraseCode.NOT_WRITABLE, str(path)))
    groups: dict[str, list[Path]] = {}
    for path, text in present.items():
        groups.setdefault(text, []).append(path)
    change = (_write(value_to_set, present),) if present else ()
    restore = tuple(_write(text, paths) for text, paths in groups.items())
    return MachineSetting("", "noisy", value, meaning, change, restore)


def _write(text: str, paths: Iterable[Path]) -> str:
    """Return one command; a file that refuses the text does not keep it from the others."""
    return f"echo {shlex.quote(text)} | {_sudo()}tee {shlex.join(map(str, paths))}"


def _sudo() -> str:
    return "" if os.geteuid() == 0 else "sudo "


def _tool(machine: Machine, name: str) -> str | None:
    return shutil.which(name, path=machine.env.get("PATH", "") + SBIN)


def _has_cpuset_v1(machine: Machine) -> bool:
    lines = (machine.read(machine.proc / "self/cgroup") or "").splitlines()
    return any("cpuset" in line.split(":")[1].split(",") for line in lines if line.count(":") > 1)
