"""The settings that differ between two configurations, as text."""

from collections.abc import Sequence

from bench_framework.model.plan import BuildSpec, Cell, Plan, filled


def changed_settings(plan: Plan, before: Cell, after: Cell) -> str:
    """Return what the second configuration is built and run with and the first is not.

    An example is ``feature jemalloc; argument --parser sonic-rs``. The text is empty if nothing
    differs.
    """
    builds = plan.variant(before.variant_id).build, plan.variant(after.variant_id).build
    return "; ".join((*_build(*builds), *_run(before, after)))


def _build(before: BuildSpec | None, after: BuildSpec | None) -> list[str]:
    if before is None or after is None:
        return []
    old, new = ({f"{key}={value}" for key, value in spec.profile_keys} for spec in (before, after))
    dependencies = ([" ".join(d) for d in spec.dependencies] for spec in (before, after))
    groups = (
        ("feature", before.features, after.features),
        ("profile", sorted({*old, before.profile}), sorted({*new, after.profile})),
        ("rustflags", before.rustflags, after.rustflags),
        ("toolchain", (before.toolchain,), (after.toolchain,)),
        ("revision", (before.revision,), (after.revision,)),
        ("version", (before.version,), (after.version,)),
        ("dependency", *dependencies),
        ("patch", before.patches, after.patches),
        ("PGO", ("trained",) * before.pgo, ("trained",) * after.pgo),
        ("preloaded allocator", (before.preload,), (after.preload,)),
    )
    texts = []
    if before.default_features != after.default_features:
        texts.append("default features" if after.default_features else "without default features")
    for name, first, second in groups:
        added = [str(value) for value in second if value and value not in first]
        removed = [str(value) for value in first if value and value not in second]
        if added or removed:
            texts.append(f"{name if added else f'without {name}'} {' '.join(added or removed)}")
    return texts


def _run(before: Cell, after: Cell) -> list[str]:
    words, others = ([filled(w) for w in cell.command] for cell in (before, after))
    env = [f"{name}={value}" for name, value in after.env if (name, value) not in before.env]
    unset = [name for name, _ in before.env if name not in dict(after.env)]
    groups = (
        ("argument", _arguments(words, others)),
        ("without argument", _arguments(others, words) if len(words) != len(others) else []),
        ("environment", env),
        ("without environment", unset),
    )
    plural = {name: "s" * (len(values) > 1) for name, values in groups[:2]}
    return [f"{n}{plural.get(n, '')} {' '.join(values)}" for n, values in groups if values]


def _arguments(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the arguments that only the second command has, each with its option."""
    if len(before) != len(after):
        return [word for word in after if word not in before]
    arguments = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        option = after[number - 1] if number else ""
        if old != new:
            takes = option.startswith("-") and "=" not in option and not new.startswith("-")
            arguments.append(f"{option} {new}" if takes else new)
    return arguments
